"""The paper's baselines (Evaluation Setup). All get the same context, and none sees evaluator, gate or label.

Each asks the *generator* with a prompt of its own; `write_rules` runs many at a time.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from gnrs_ppl.calibration.weights import frozen_weights
from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import InputError
from gnrs_ppl.llm.answers import NormSynthesis, RefinedRule, StructuredRule
from gnrs_ppl.llm.client import CONCURRENCY, Answer, Model, Request, T
from gnrs_ppl.llm.material import request
from gnrs_ppl.models.features import Facts
from gnrs_ppl.models.worth import worth
from gnrs_ppl.rule.types import Structure

SAMPLES = 8
"""N of the paper's Best-of-N."""
SEED_STEP = 1000
"""Sample i is asked for with seed + 1000 i, lest a server that honours seeds says the same N times; sample 0
is Structured Outputs' own."""
ROUNDS = 2
"""Most refinements; the paper does not say how many it made."""
CASES, ROWS = 3, 60
"""Most cases, and rows of all of them, that are shown to In-Context Grounding."""
SHOWN = ("case_id", "time", "activity", "resource", "role", "object", "location", "channel")


class BaselineResult(NamedTuple):
    """What a method wrote.

    Attributes
    ----------
    text : str
        The rule; blank where the model gave no usable answer.
    structure : Structure or None
        What the method itself states beside its text, where that is a whole structure. It is not what HARD-OK
        is computed from.
    calls : tuple of Answer
        Every answer it took, in the order of asking.
    """

    text: str
    structure: Structure | None
    calls: tuple[Answer[Any], ...]


class Ask(Protocol):
    """Asks several things at a time; answers come in the order of the requests."""

    async def __call__(self, requests: Sequence[Request[T]]) -> list[Answer[T]]:
        """Answer the requests."""
        ...


class Baseline(Protocol):
    """A method that writes a rule for a context."""

    async def __call__(self, context: Context, ask: Ask, *, seed: int) -> BaselineResult:
        """Write it."""
        ...


async def direct_prompting(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """The rule in one step, as text."""
    (answer,) = await ask([request("b1_vanilla.v1.txt", "generator", context, seed=seed)])
    good = answer.error is None and not answer.refusal
    return BaselineResult(answer.text.strip() if good else "", None, (answer,))


async def structured_outputs(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """The five slots as JSON of a fixed schema, then the text (Willard and Louf 2023)."""
    (answer,) = await ask([_structured(context, seed)])
    return _written(answer)


async def best_of_n(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """Several Structured Outputs; the text whose structure has the greatest s_search, the first of equals
    (Nakano et al. 2021).

    The selector sees neither rubric nor gate nor label. A sample that states no whole structure is taken only
    where none does.
    """
    answers = await ask([_structured(context, seed + SEED_STEP * i) for i in range(SAMPLES)])
    samples = [_written(answer) for answer in answers]
    facts, weights = Facts.of(context), frozen_weights().array()

    def merit(sample: BaselineResult) -> tuple[float, bool]:
        return worth(sample.structure, facts, weights).s_search if sample.structure else -math.inf, bool(
            sample.text
        )

    return max(samples, key=merit)._replace(calls=tuple(answers))


async def self_refine(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """A Structured Output, then objections to it and a rule that meets them, until there are none (Madaan et
    al. 2023).

    A refinement that fails leaves the last rule.
    """
    (first,) = await ask([_structured(context, seed)])
    result = _written(first)
    rule: StructuredRule | RefinedRule | None = first.parsed
    for _ in range(ROUNDS):
        if rule is None:
            break
        shown = {"structure": rule.structure.model_dump_json(), "clause": rule.clause}
        (answer,) = await ask(
            [request("b2_refine.v1.txt", "generator", context, RefinedRule, shown, seed=seed)]
        )
        result, rule = result._replace(calls=(*result.calls, answer)), answer.parsed
        if rule is None or not rule.critique:
            break
        result = BaselineResult(rule.clause, _stated(rule), result.calls)
    return result


async def in_context_grounding(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """Structured Outputs that sees excerpts of the records, retrieved for the goal (Lewis et al. 2020)."""
    (answer,) = await ask([_structured(context, seed, "b2_grounding.v1.txt", {"traces": excerpts(context)})])
    return _written(answer)


async def norm_synthesis(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """CRSEC's creation and representation of norms in a single shot; the rule they come to is text only (Ren
    et al. 2024).

    Their spreading, checking and long-term synthesis of norms among agents have no counterpart here.
    """
    (answer,) = await ask([request("b7_crsec.v1.txt", "generator", context, NormSynthesis, seed=seed)])
    return BaselineResult(answer.parsed.clause if answer.parsed else "", None, (answer,))


async def constrained_decoding(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """Structured Outputs whose names come from closed lists; the paper has the prompt and no row.

    The lists are closed by the prompt. The schema that a server enforces fixes fields and closed lists of
    words, not a context's names.
    """
    (answer,) = await ask([_structured(context, seed, "b6_constrained.v1.txt")])
    return _written(answer)


METHODS: dict[str, Baseline] = {
    "Direct Prompting": direct_prompting,
    "Structured Outputs": structured_outputs,
    "Best-of-N": best_of_n,
    "Self-Refine": self_refine,
    "In-Context Grounding": in_context_grounding,
    "Norm Synthesis": norm_synthesis,
    "Constrained Decoding": constrained_decoding,
}
"""Names as in the paper's main table, in its order; the last has a prompt there and no row."""


def excerpts(context: Context) -> str:
    """Rows of the cases that hold most different names of the goal, the shortest of equals, then by case id;
    one row a line.

    Only the log the context itself carries is read. Times are local; a blank is a value that is not recorded.
    """
    goal = context.goal
    names = [*goal.required, *goal.forbidden, *goal.roles, *goal.locations, *goal.objects]
    rows = context.log.connection.execute(
        """WITH best AS (
               SELECT case_id, count(*) AS length,
                      len(list_intersect(flatten(list([activity, role, object, location])), $names::VARCHAR[])) AS said
               FROM events GROUP BY case_id ORDER BY said DESC, length, case_id LIMIT $cases
           )
           SELECT case_id, strftime("timestamp" + to_minutes(coalesce("offset", 0)), '%Y-%m-%d %H:%M:%S'),
                  activity, resource, role, object, location, channel
           FROM events JOIN best USING (case_id) ORDER BY said DESC, length, case_id, "timestamp", event_id LIMIT $rows""",
        {"names": names, "cases": CASES, "rows": ROWS},
    ).fetchall()
    return "\n".join(" | ".join(str(value or "") for value in row) for row in [SHOWN, *rows])


def _structured(
    context: Context, seed: int, prompt: str = "b2_schema.v1.txt", values: Mapping[str, str] | None = None
) -> Request[StructuredRule]:
    """Ask for a structure and its text."""
    return request(prompt, "generator", context, StructuredRule, values, seed=seed)


def _written(answer: Answer[StructuredRule]) -> BaselineResult:
    """A rule stated as data and as text."""
    rule = answer.parsed
    return (
        BaselineResult(rule.clause, _stated(rule), (answer,)) if rule else BaselineResult("", None, (answer,))
    )


def _stated(rule: StructuredRule | RefinedRule) -> Structure | None:
    """The structure of an answer that has one, None where a slot of it cannot be read."""
    try:
        return rule.structure.structure()
    except InputError:
        return None


class Task(NamedTuple):
    """One rule to write."""

    method: Baseline
    context: Context
    seed: int


def write_rules(tasks: Sequence[Task], model: Model, concurrency: int = CONCURRENCY) -> list[BaselineResult]:
    """Rules in the order of the tasks; the model is closed afterwards.

    Equal requests are asked once: Structured Outputs, Best-of-N and Self-Refine of one goal and seed start
    from the same answer, at any concurrency.

    Parameters
    ----------
    tasks : sequence of Task
    model : Model
        Its role is *generator*.
    concurrency : int
        Most requests in flight.

    Raises
    ------
    InputError
        Bad configuration of the model; what was answered is in its cache.
    """

    async def run() -> list[BaselineResult]:
        asker = _SharedAsk(model, concurrency)
        running = [asyncio.ensure_future(task.method(task.context, asker, seed=task.seed)) for task in tasks]
        try:
            return await asyncio.gather(*running)
        finally:
            await _stopped(running)
            await asker.close()

    return asyncio.run(run())


class _SharedAsk:
    """One semaphore, and one answer to each request, for all tasks."""

    def __init__(self, model: Model, concurrency: int) -> None:
        self.model, self.free = model, asyncio.Semaphore(concurrency)
        self.asked: dict[Request[Any], asyncio.Future[Answer[Any]]] = {}

    async def __call__(self, requests: Sequence[Request[T]]) -> list[Answer[T]]:
        for one in requests:
            if one not in self.asked:
                self.asked[one] = asyncio.ensure_future(self._one(one))
        return [await self.asked[one] for one in requests]

    async def close(self) -> None:
        await _stopped(self.asked.values())
        await self.model.close()

    async def _one(self, one: Request[T]) -> Answer[T]:
        async with self.free:
            return await self.model.complete(one)


async def _stopped(running: Any) -> None:
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
