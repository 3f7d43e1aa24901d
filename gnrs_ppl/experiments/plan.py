"""What an experiment with a model would ask: ``gnrs experiment NAME --llm --dry-run``.

Prompts are rendered as they will be sent, for every goal or card; no label is read. What depends on answers
that nobody has yet is counted at its most: later rounds, second polishes, texts to read back and to judge,
whose length is assumed. Nothing is sent, and neither rows nor stored answers are deducted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.candidates.proposed import asked
from gnrs_ppl.context.load import Context
from gnrs_ppl.evaluate.rubrics import RUBRICS
from gnrs_ppl.experiments import baselines, cards, schema_noise, slots
from gnrs_ppl.experiments.methods import cells, without_log
from gnrs_ppl.experiments.rows import Cell
from gnrs_ppl.experiments.runner import CARDS, Experiment, ExperimentRequest, on_split
from gnrs_ppl.experiments.tables import CellValue, ResultTable, heads
from gnrs_ppl.experiments.writers import WRITERS, model_of
from gnrs_ppl.llm.answers import ParsedStructure, RubricScores, StrictRubricScores
from gnrs_ppl.llm.client import Answer, CallError, Message, Request, T
from gnrs_ppl.llm.costs import Usage
from gnrs_ppl.llm.material import MAX_TOKENS, request
from gnrs_ppl.llm.prompts import load
from gnrs_ppl.llm.roles import Role

BYTES_A_TOKEN = 4
USUAL_ANSWER = 500
"""Tokens of an answer in the estimate; the most is what it is cut off at."""
CLAUSE = "A rule of usual length. " * 40
"""In the place of a text that is not written yet."""
ROUNDS = {"Self-Refine": 1 + baselines.ROUNDS}
"""Calls of a method that asks again when it has an answer, at most."""
CARD_ROUNDS = {"Self-Refine": 2}
POLISHES = 2
"""Of a text, at most."""
OWN_CELLS = {"slots": slots.wanted, "schema_noise": schema_noise.wanted}
"""Experiments whose rows are not of methods."""
SECOND_JUDGED = 100
"""Texts of the pack that the second judge marks."""


class Ask(NamedTuple):
    """Equal calls of a role to a model: tokens sent and most tokens of the answer, of each."""

    role: Role
    model: str
    calls: int
    tokens: int
    most: int


def planned(experiment: Experiment, given: ExperimentRequest) -> list[Ask]:
    """Everything an experiment would ask at most, without what it needs.

    Parameters
    ----------
    experiment : Experiment
    given : ExperimentRequest
        Its model names the models of roles and is asked nothing.

    Raises
    ------
    InputError
        A split that was not revealed; a role without a model.
    """
    given = on_split(given, experiment.split)
    settings = model_of(given).settings
    found: list[Ask] = []
    for generator in given.generators or (None,):
        models = {role: settings.model(role) for role in experiment.roles}
        if generator:
            models |= {"generator": generator, "polisher": generator}
        for calls, one in _calls(experiment, given):
            tokens = sum(len(message.content.encode()) for message in one.messages) // BYTES_A_TOKEN
            found.append(Ask(one.role, models[one.role], calls, tokens, one.max_tokens))
    return found


def _calls(experiment: Experiment, given: ExperimentRequest) -> Iterator[tuple[int, Request[Any]]]:
    """Calls and what each of them sends."""
    if experiment.name == "second_evaluator":
        yield SECOND_JUDGED, _judged(load_context(given.goal_ids[0]), "v1", "second_judge")
        return
    noisy = experiment.name == "schema_noise"
    wanted = OWN_CELLS.get(experiment.name, partial(cells, experiment.methods, methods=WRITERS))(given)
    by_goal: dict[str, list[Cell]] = {}
    for cell in wanted:
        by_goal.setdefault(cell.goal, []).append(cell)
    for goal, own in by_goal.items():
        context = load_context(goal)
        for rubric in RUBRICS:
            yield len(own) * given.repeats, _judged(context, rubric, "judge")
        if noisy:  # what it is shown of the noisy context is about as long
            yield len(own), asked(context)
            yield len(own) * POLISHES, _polish()
        elif experiment.methods:
            yield from _written(context, own, experiment.split == CARDS)


def _written(context: Context, own: Sequence[Cell], of_cards: bool) -> Iterator[tuple[int, Request[Any]]]:
    """What writing one goal's rows asks."""
    prompted = Counter(cell.method for cell in own if WRITERS[cell.method].baseline)
    for name, rows in prompted.items():
        heard = _heard(name, context, of_cards)
        rounds = (CARD_ROUNDS if of_cards else ROUNDS).get(name, len(heard))
        yield rows * rounds, heard[0]
        yield rows, request("reverse_parser.v1.txt", "parser", context, ParsedStructure, {"clause": CLAUSE})
    searched = [(cell, WRITERS[cell.method]) for cell in own if WRITERS[cell.method].method]
    keys = {(cell.seed, w.method.log) for cell, w in searched if w.candidates and w.method}
    for _, log in sorted(keys):
        yield 1, asked(context if log else without_log(context))
    if polished := sum(writer.polish is not None for _, writer in searched):
        yield polished * POLISHES, _polish()


def _heard(name: str, context: Context, of_cards: bool) -> list[Request[Any]]:
    """First requests of a prompting method, which is never answered."""
    heard: list[Request[Any]] = []

    async def ask(requests: Sequence[Request[T]]) -> list[Answer[T]]:
        heard.extend(requests)
        return [Answer(error=CallError("cache_miss", "nothing is asked in a dry run")) for _ in requests]

    async def write() -> None:
        await (cards.PROMPTED if of_cards else baselines.METHODS)[name](context, ask, seed=0)

    asyncio.run(write())
    return heard


@cache
def _polish() -> Request[Any]:
    text = load("nl_polish.FROZEN.v1.txt").text + 2 * CLAUSE
    return Request("polisher", (Message("user", text),), max_tokens=MAX_TOKENS)


def _judged(context: Context, rubric: str, role: Role) -> Request[Any]:
    kinds: Mapping[str, type[Any]] = {"v1": RubricScores, "v2": StrictRubricScores}
    name = f"independent_rubric.FROZEN.{rubric}.txt"
    return request(name, role, context, kinds[rubric], {"clause": CLAUSE})


def table(plans: Mapping[str, Iterable[Ask]], given: ExperimentRequest) -> ResultTable:
    """Calls, tokens and US dollars by experiment, role and model, and their sum."""
    prices = model_of(given).costs.prices
    entries: list[tuple[CellValue, ...]] = []
    for name, asks in plans.items():
        sums: dict[tuple[Role, str], list[int]] = {}
        for role, model, calls, tokens, most in asks:
            own = sums.setdefault((role, model), [0, 0, 0])
            own[:] = [own[0] + calls, own[1] + calls * tokens, own[2] + calls * most]
        for (role, model), (calls, tokens, most) in sums.items():
            price = prices.get(model)
            usual, greatest = (
                price.cost(Usage(tokens, out)) if price else None for out in (calls * USUAL_ANSWER, most)
            )
            dated = price.dated if price else "no price: --price"
            entries.append((name, role, model, calls, tokens, usual, greatest, dated))
    if len(entries) > 1:
        totals = [_sum([entry[place] for entry in entries]) for place in range(3, 7)]
        entries.append(("in all", None, None, *totals, None))
    says = (
        f"Nothing was asked. Tokens are bytes of the prompts / {BYTES_A_TOKEN}; the estimate has "
        f"{USUAL_ANSWER} tokens an answer (more with models that reason), the most has every answer as "
        "long as it may be and every second round. Rows and answers that there are already are not deducted."
    )
    columns = heads(
        "experiment | role | model | calls at most:0 | tokens sent:0 | US dollars, estimate:2 | "
        "US dollars at most:2 | price of"
    )
    return ResultTable("plan", "What would be asked", says, columns, entries)


def _sum(values: Sequence[CellValue]) -> float | None:
    """The sum; None where something is not known."""
    known = [value for value in values if isinstance(value, int | float)]
    return sum(known) if len(known) == len(values) else None
