"""RealCharter-Bench: every method on the 53 cards, a row each (paper, Tables realcharter).

Without a model: the search, the same without search, with uniform weights, with CP-SAT, and the exact
optimum; pages that show them: :mod:`gnrs_ppl.experiments.realcharter`. With one: the paper's five methods,
marked by a judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.realcharter import Card, card, cards
from gnrs_ppl.calibration.weights import UNIFORM_WEIGHTS, frozen_weights
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.candidates.proposed import Proposed, propose
from gnrs_ppl.context.load import Context
from gnrs_ppl.draft import draft_many
from gnrs_ppl.evaluate.hard_ok import hard_ok
from gnrs_ppl.evaluate.realcharter.score import CardScore, score
from gnrs_ppl.evaluate.rubrics import DIMENSIONS, percent
from gnrs_ppl.experiments.baselines import Ask, Baseline, BaselineResult
from gnrs_ppl.experiments.judging import read_marks
from gnrs_ppl.experiments.methods import BASE, OURS, STEPS
from gnrs_ppl.experiments.parts import METHOD, cited, estimated, mean
from gnrs_ppl.experiments.published import by_method
from gnrs_ppl.experiments.rows import Cell, Line, Row, Rows, RowWithAnswers, lines
from gnrs_ppl.experiments.rubric_scores import JUDGED, OFF, calls, candidates
from gnrs_ppl.experiments.runner import CARDS, Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import ColumnGroup, ResultTable, specified
from gnrs_ppl.experiments.writers import POLISH, VARIANTS, WRITERS, polished, prompted, study, with_calls
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.llm.answers import CharterDraft, CharterRevision
from gnrs_ppl.llm.client import Model, Request, T
from gnrs_ppl.llm.material import request
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.polish import RenderedRule
from gnrs_ppl.realize.text import render as clause_of
from gnrs_ppl.rule.pools import assemble, options
from gnrs_ppl.rule.types import SLOTS, Structure

WITHHELD: dict[str, Any] = {
    **dict.fromkeys(("id", "document", "section", "basis", "verified", "near_duplicate_of"), True),
    **{acts: {"__all__": {"modal"}} for acts in ("required", "permitted", "forbidden")},
}
"""What no prompt shows of a card: where the clause can be read, its own verbs, and how the card was made."""
MEASURES: dict[str, tuple[str, Callable[[CardScore], float]]] = {
    "hard_ok": ("HARD-OK, %", lambda s: 100.0 * s.gate.passed),
    "rho": ("ρ", lambda s: s.gate.rho),
    "slot_precision": (
        "slot precision",
        lambda s: float(np.mean([found.precision or 0.0 for found in s.slots.values()])),
    ),
    "slot_recall": ("slot recall", lambda s: float(np.mean([found.recall for found in s.slots.values()]))),
    "force_kept": ("force kept, %", lambda s: 100.0 * s.force_kept),
    "steps_covered": ("steps covered, %", lambda s: 100.0 * s.steps_covered),
}
"""What is averaged over cards, and its heading; a slot's precision is 0 where the rule names nothing."""
COUNTS: dict[str, Callable[[CardScore], int]] = {
    "permissions_bound": lambda s: s.permissions_bound,
    "numbers_stated": lambda s: s.numbers.stated,
    "numbers_lost": lambda s: s.numbers.lost,
    "numbers_misplaced": lambda s: len(s.numbers.misplaced),
    "numbers_invented": lambda s: len(s.numbers.invented),
    "names_off_the_card": lambda s: len(s.off_card),
}
"""What is summed over cards."""


def row_of(cell: Cell, text: str, worth: CardScore, epsilon: float | None = None) -> Row:
    """One method's clause for one card, and what it is worth; ``epsilon`` is what the search left to the
    greatest s_search.
    """
    slots = {slot: (found.precision or 0.0, found.recall) for slot, found in worth.slots.items()}
    return {
        **cell._asdict(),
        "family": card(cell.goal).document.title,
        "text": text,
        "failures": list(worth.gate.failures),
        **{name: of(worth) for name, (_, of) in MEASURES.items()},
        **{name: of(worth) for name, of in COUNTS.items()},
        **{f"precision_{slot}": precision for slot, (precision, _) in slots.items()},
        **{f"recall_{slot}": recall for slot, (_, recall) in slots.items()},
        "epsilon": epsilon,
    }


class Reach(NamedTuple):
    """How many structures of a card's pools keep every hard condition, and how many of those pass HARD-OK."""

    card: str
    feasible: int
    passing: int


def reach() -> list[Reach]:
    """What any search could make of the cards, by enumeration."""
    found = []
    for one in cards():
        context = load_context(one.id)
        graph = compile_graph(context, pools_of(context).pools)
        every = enumerate_space(contract(graph.space, frozen_weights().array()))
        feasible = np.flatnonzero(every.feasible)
        passing = sum(
            hard_ok(graph.structure(every.position(int(number))), context).passed for number in feasible
        )
        found.append(Reach(one.id, len(feasible), passing))
    return found


class Unpolished(NamedTuple):
    """A rule before its polish, and what a model proposed for it."""

    context: Context
    structure: Structure
    text: str
    epsilon: float | None = None
    proposed: Proposed | None = None


METHODS: dict[str, dict[str, Any] | None] = {
    BASE: {},
    "No search": None,
    "Uniform weights": {"weights": UNIFORM_WEIGHTS},
    "CP-SAT": {"kernel": "cpsat"},
    "Exact": {"kernel": "exact", "steps": 1},
}
"""What runs without a model, by what it asks of the search; None: it searches nothing."""
CHAINED = (BASE, "Uniform weights")


def chosen(
    method: str, names: Sequence[str], chains: int | None, seed: int, model: Model | None = None
) -> list[Unpolished]:
    """What a method chooses for some cards, all in one program; a model proposes where there is one."""
    contexts = [load_context(name) for name in names]
    asked = METHODS.get(method, {})
    if asked is not None:
        request = {"chains": chains or 1, "steps": STEPS, "seed": seed} | asked
        drafts = draft_many(contexts, model=model, **request, alternatives=0)
        return [
            Unpolished(d.context, d.structure, d.text, d.certificate.epsilon_search, d.proposed)
            for d in drafts
        ]
    said = propose(contexts, model, seed=seed) if model else [None] * len(contexts)
    return [_first(context, one) for context, one in zip(contexts, said, strict=True)]


def _first(context: Context, proposed: Proposed | None) -> Unpolished:
    """The first candidate of every pool, at its first levels: inventory and renderer, without score, hard
    conditions or search.
    """
    pools = pools_of(context, proposed.proposals if proposed else ()).pools
    structure = assemble(tuple(options(getattr(pools, slot))[0] for slot in SLOTS))
    return Unpolished(context, structure, clause_of(structure, Lexicon.of_context(context)), None, proposed)


def rows_of(method: str, chains: int | None, seed: int, names: Sequence[str]) -> list[Row]:
    """Rows of a method that needs no model, on some cards."""
    found = chosen(method, names, chains, seed)
    cells = [Cell(method, chains, name, seed) for name in names]
    return [
        row_of(cell, one.text, score(one.structure, cell.goal), one.epsilon)
        for cell, one in zip(cells, found, strict=True)
    ]


# With a model


def written(wanted: Sequence[Cell], request: ExperimentRequest, model: Model) -> list[RowWithAnswers]:
    """Rows of some cells in their order; those of a method and seed are made together.

    Raises
    ------
    InputError
        Bad configuration of the model; what was answered is in its cache.
    """
    found = prompted(
        [cell for cell in wanted if cell.method in PROMPTED],
        PROMPTED,
        load_context,
        lambda cell, text, parsed: _gated(row_of(cell, text, score(parsed.slots, cell.goal))),
        model,
    )
    searched = [cell for cell in wanted if cell not in found]
    for method, chains, seed in dict.fromkeys((cell.method, cell.chains, cell.seed) for cell in searched):
        own = [cell for cell in searched if (cell.method, cell.chains, cell.seed) == (method, chains, seed)]
        asked, names = model if WRITERS[method].candidates else None, [cell.goal for cell in own]
        found |= _searched(dict(zip(own, chosen(method, names, chains, seed, asked), strict=True)), model)
    return [found[cell] for cell in wanted]


def _searched(drafted: Mapping[Cell, Unpolished], model: Model) -> dict[Cell, RowWithAnswers]:
    """Rows of rules that were searched, polished."""
    found, rules = {}, {}
    for cell, one in drafted.items():
        said = one.proposed
        row = _gated(row_of(cell, one.text, score(one.structure, cell.goal), one.epsilon))
        found[cell] = with_calls(cell, row | (said.counted() if said else {}), (said.answer,) if said else ())
        rules[cell] = RenderedRule(one.structure, one.text, Lexicon.of_context(one.context))
    return found | polished(found, dict.fromkeys(found, POLISH), lambda cell, _: rules[cell], model)


def _gated(row: Row) -> Row:
    """The row with HARD-OK as a truth value, as rows with a model hold it."""
    return row | {"hard_ok": row["hard_ok"] > 0}


def shown(one: Card) -> str:
    """A card as prompts show it."""
    return json.dumps(
        one.model_dump(mode="json", exclude_defaults=True, exclude=WITHHELD), indent=1, ensure_ascii=False
    )


async def direct_prompting(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """The clause in one step."""
    (answer,) = await ask([_request("real_charter_b1.v1.txt", context, None, seed)])
    return BaselineResult(answer.text if answer.error is None else "", None, (answer,))


async def self_refine(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """A draft and one refinement; a refinement that fails leaves the draft."""
    (first,) = await ask([_request("real_charter_b2r_draft.v1.txt", context, CharterDraft, seed)])
    clause = first.parsed.clause if first.parsed else ""
    if not clause.strip():
        return BaselineResult("", None, (first,))
    refine = _request("real_charter_b2r_refine.v1.txt", context, CharterRevision, seed, clause=clause)
    (second,) = await ask([refine])
    return BaselineResult(second.parsed.clause if second.parsed else clause, None, (first, second))


PROMPTED: dict[str, Baseline] = {"Direct Prompting": direct_prompting, "Self-Refine": self_refine}


def _request(name: str, context: Context, response: type[T] | None, seed: int, **values: str) -> Request[T]:
    """A prompt that shows the card."""
    given = {"card": shown(card(context.goal.id)), **values}
    return request(name, "generator", context, response, given, seed=seed)


def independent(rows: Sequence[Row]) -> list[Row]:
    """Rows without the later card of each pair of near duplicates."""
    order = {one.id: number for number, one in enumerate(cards())}
    return [
        row
        for row in rows
        if all(order[row["goal"]] < order[other] for other in card(row["goal"]).near_duplicate_of)
    ]


def verified(rows: Sequence[Row]) -> list[Row]:
    """Rows of cards whose every fact was read in a stored text."""
    return [row for row in rows if card(row["goal"]).verified]


# On the runner

PAPERS = (*PROMPTED, "No LLM candidates", "No search", OURS)
"""Methods of the paper's table."""

PRINTED = ("specificity", "executability", "fluency", "readability", "faithfulness", "HARD-OK", "OVERALL")


def wanted(request: ExperimentRequest) -> list[Cell]:
    """Every method on every card."""
    found = []
    for method in METHODS:
        for chains in request.chains if method in CHAINED else [None]:
            for seed in request.seeds if method in CHAINED else request.seeds[:1]:
                found += [Cell(method, chains, one, seed) for one in request.goal_ids]
    return found


def measure(method: str, cells: Sequence[Cell], request: ExperimentRequest) -> Iterator[Row]:
    """Rows of one method, all cards of a seed in one program."""
    for chains, seed in dict.fromkeys((cell.chains, cell.seed) for cell in cells):
        names = [cell.goal for cell in cells if (cell.chains, cell.seed) == (chains, seed)]
        yield from rows_of(method, chains, seed, names)


def _on_cards(found: ColumnGroup[Line]) -> ColumnGroup[Line]:
    """The columns with cards and documents in their headings."""
    told = [c.name.replace("goals", "cards").replace("families", "documents") for c in found.columns]
    return found._replace(
        columns=tuple(c._replace(name=name) for c, name in zip(found.columns, told, strict=True))
    )


def _measured(found: Sequence[Line]) -> ResultTable:
    """How clauses keep to their cards, without a judge."""
    means = [
        mean(name, heading, 1 if heading.endswith("%") else 3)
        for name, (heading, _) in [*MEASURES.items()][1:]
    ]
    says = "What a clause's slots hold of what the card asks for: docs/realcharter-bench.md."
    return specified("kept_to_the_card", "Kept to the card", says, found, [METHOD, *means])


def report(run: Run) -> Report:
    """Ours beside the paper's columns; intervals over cards and over documents."""
    paper = by_method("realcharter-full-app")
    absent = [Line(method, None, Rows([]), "needs a model") for method in paper if method not in METHODS]
    says = (
        "53 cards of ours: no figure is the paper's measured again. HARD-OK of No LLM candidates and No "
        "search is the same kind of quantity on other cards; rubric dimensions and OVERALL need a model. "
        "More in docs/realcharter-bench.md."
    )
    found = absent + lines(run.rows("realcharter"), METHODS, run.request.chains)
    parts = [METHOD, _on_cards(estimated("hard_ok", "HARD-OK, %", 1)), *_printed(paper)]
    table = specified("realcharter", "RealCharter-Bench without a model", says, found, parts)
    return Report([table, _measured(found)])


def judged_report(run: Run) -> Report:
    """The paper's columns of the paper's methods, from rows that have been marked."""
    rows, chains = run.judged("realcharter"), run.request.chains
    paper = by_method("realcharter-full-app")
    marks = [mean(dimension, dimension, 2, 1 / percent(1)) for dimension in DIMENSIONS]
    says = (
        f"{VARIANTS} Dimensions are marks from 1 to 5, the rest percent; the judge sees the context made of "
        "the card, and the text. 53 cards of ours: no figure is the paper's measured again, and it ran one "
        "seed. Avg is of rubric v1."
    )
    rest = map(_on_cards, JUDGED[2 + len(marks) :])
    found = lines(rows, PAPERS, chains)
    table = specified(
        "realcharter",
        "RealCharter-Bench with a model",
        says,
        found,
        [*JUDGED[:2], *marks, *rest, OFF, *_printed(paper)],
    )
    made = [candidates(rows, run.request), calls(rows, read_marks(run.out / "realcharter"), run.request)]
    return Report([table, _measured(found), *made])


def _printed(paper: Mapping[str, Mapping[str, str]]) -> list[ColumnGroup[Line]]:
    return cited(paper, [(column, column, 2) for column in PRINTED])


ASKS = "Does the search carry over to cards of real policies?"
EXPERIMENT = Experiment("realcharter", ASKS, report, wanted, measure, split=CARDS, unit="method")
WITH_MODEL = study("realcharter", ASKS, judged_report, PAPERS, written, split=CARDS)
