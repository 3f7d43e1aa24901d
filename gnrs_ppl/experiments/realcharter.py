"""The method on RealCharter-Bench (paper, Table RealCharter): ``python -m gnrs_ppl.experiments.realcharter``.

Without a model: the search, the same without search, with uniform weights, with CP-SAT, and the exact optimum. With one (``--llm``): the
full method, whose candidates a model adds to and whose text it polishes; the paper's two prompting methods, whose clauses are read back by
the model-based parser; and rubric marks for the clauses of every method. ``--pages docs`` writes both pages again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.realcharter import Card, card, cards
from gnrs_ppl.calibration.weights import UNIFORM_WEIGHTS, frozen_weights
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.draft import draft_many
from gnrs_ppl.errors import GnrsError, InputError
from gnrs_ppl.evaluate import rubrics
from gnrs_ppl.evaluate.hard_ok import hard_ok
from gnrs_ppl.evaluate.model_parser import parse_texts
from gnrs_ppl.evaluate.realcharter.score import CardScore, score
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.llm.adapter import model_from_environment
from gnrs_ppl.llm.answers import CharterDraft, CharterRevision
from gnrs_ppl.llm.client import Answer, Message, Model, Request, T, ask, refuse_scripted
from gnrs_ppl.llm.prompts import load, render
from gnrs_ppl.llm.roles import require_key
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import render as clause_of
from gnrs_ppl.rule.pools import assemble, options
from gnrs_ppl.rule.types import SLOTS
from gnrs_ppl.safe_text import to_json

SAMPLES = 4000
"""Bootstrap samples of an interval."""
WITHHELD: dict[str, Any] = {
    **dict.fromkeys(("id", "document", "section", "basis", "verified", "near_duplicate_of"), True),
    **{acts: {"__all__": {"modal"}} for acts in ("required", "permitted", "forbidden")},
}
"""What no prompt shows of a card: where the clause can be read, its own verbs, and how the card was made."""
MAX_TOKENS = 4096

Clause = tuple[str, tuple[Answer[Any], ...]]
"""A model's clause and the answers behind it."""


class Row(NamedTuple):
    """One method's clause for one card, and what it is worth.

    ``epsilon`` is what the search left to the greatest s_search, where it was measured; ``calls`` are the answers of models.
    """

    method: str
    card: str
    text: str
    score: CardScore
    epsilon: float | None = None
    calls: tuple[Answer[Any], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """JSON of a row."""
        worth = self.score._asdict()
        worth |= {"gate": self.score.gate._asdict(), "numbers": self.score.numbers._asdict()}
        worth["slots"] = {slot: found._asdict() for slot, found in self.score.slots.items()}
        scripted = any(answer.scripted for answer in self.calls)
        told = {"method": self.method, "card": self.card, "text": self.text, "epsilon_search": self.epsilon}
        return told | {"score": worth, "calls": [answer.record() for answer in self.calls], "scripted": scripted}


class Estimate(NamedTuple):
    """Mean over cards with 95 % bootstrap intervals over cards and over documents."""

    mean: float
    by_card: tuple[float, float]
    by_document: tuple[float, float]


class Line(NamedTuple):
    """One method over some cards: means of what is measured per card, and sums of what is counted."""

    method: str
    cards: int
    means: dict[str, Estimate]
    counts: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """JSON of a line."""
        return self._asdict() | {"means": {name: found._asdict() for name, found in self.means.items()}}


MEASURES: dict[str, Callable[[CardScore], float]] = {
    "HARD-OK, %": lambda s: 100.0 * s.gate.passed,
    "ρ": lambda s: s.gate.rho,
    "slot precision": lambda s: float(np.mean([found.precision or 0.0 for found in s.slots.values()])),
    "slot recall": lambda s: float(np.mean([found.recall for found in s.slots.values()])),
    "force kept, %": lambda s: 100.0 * s.force_kept,
    "steps covered, %": lambda s: 100.0 * s.steps_covered,
}
"""What is averaged over cards; a slot's precision is 0 where the rule names nothing."""
COUNTS: dict[str, Callable[[CardScore], int]] = {
    "permissions bound": lambda s: s.permissions_bound,
    "numbers stated": lambda s: s.numbers.stated,
    "numbers lost": lambda s: s.numbers.lost,
    "numbers misplaced": lambda s: len(s.numbers.misplaced),
    "numbers invented": lambda s: len(s.numbers.invented),
    "names off the card": lambda s: len(s.off_card),
}


def run(model: Model | None = None, *, chains: int = 64, steps: int = 200, seed: int = 0) -> list[Row]:
    """Every method on every card; those that need a model only where there is one.

    Parameters
    ----------
    model : Model, optional
        Its roles are *generator*, *polisher* and *parser*.
    chains, steps, seed : int
        As for :func:`~gnrs_ppl.draft.draft`.
    """
    budget: dict[str, Any] = {"chains": chains, "steps": steps, "seed": seed}
    rows = searched("No LLM candidates", **budget) + unsearched()
    rows += searched("Uniform weights", weights=UNIFORM_WEIGHTS, **budget) + searched("CP-SAT", kernel="cpsat", **budget) + exact()
    return rows + (full_method(model, cards(), **budget) + prompted(model, cards()) if model else [])


def exact() -> list[Row]:
    """The structures of greatest s_search, by enumeration; of equals the first."""
    return searched("Exact", kernel="exact", chains=1, steps=1)


def full_method(model: Model, ones: Sequence[Card], **budget: Any) -> list[Row]:
    """The search with a model's candidates in its pools and its polish on the text."""
    return searched("GNRS-Search", ones, model=model, polish="v1", **budget)


def searched(method: str, ones: Sequence[Card] = (), **request: Any) -> list[Row]:
    """The search as :func:`~gnrs_ppl.draft.draft_many` runs it with some request, on some cards or all."""
    drafts = draft_many([load_context(one.id) for one in ones or cards()], **request, alternatives=0)
    return [Row(method, d.goal.id, d.text, score(d.structure, d.goal.id), d.certificate.epsilon_search, d.answers) for d in drafts]


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
        passing = sum(hard_ok(graph.structure(every.position(int(number))), context).passed for number in feasible)
        found.append(Reach(one.id, len(feasible), passing))
    return found


def unsearched() -> list[Row]:
    """The first candidate of every pool, at its first levels: inventory and renderer, without score, hard conditions or search."""
    return [Row("No search", one.id, *_first(one)) for one in cards()]


def _first(one: Card) -> tuple[str, CardScore]:
    context = load_context(one.id)
    pools = pools_of(context).pools
    structure = assemble(tuple(options(getattr(pools, slot))[0] for slot in SLOTS))
    return clause_of(structure, Lexicon.of_context(context)), score(structure, one.id)


def prompted(model: Model, ones: Sequence[Card]) -> list[Row]:
    """The paper's two prompting methods on some cards; a clause that is missing fills no slot."""
    return _read("Direct Prompting", ones, _direct(ones, model), model) + _read("Self-Refine", ones, _self_refine(ones, model), model)


def _read(method: str, ones: Sequence[Card], clauses: Sequence[Clause], model: Model) -> list[Row]:
    there = [number for number, (text, _) in enumerate(clauses) if text.strip()]
    read = parse_texts([(clauses[number][0], load_context(ones[number].id)) for number in there], model)
    parsed = dict(zip(there, read, strict=True))
    rows = []
    for number, (one, (text, calls)) in enumerate(zip(ones, clauses, strict=True)):
        slots = parsed[number].slots if number in parsed else {}
        answer = parsed[number].answer if number in parsed else None
        rows.append(Row(method, one.id, text, score(slots, one.id), calls=(*calls, *([answer] if answer else []))))
    return rows


def shown(one: Card) -> str:
    """A card as prompts show it."""
    return json.dumps(one.model_dump(mode="json", exclude_defaults=True, exclude=WITHHELD), indent=1, ensure_ascii=False)


def _direct(ones: Sequence[Card], model: Model) -> list[Clause]:
    answers = ask(model, [_request("real_charter_b1.v1.txt", None, card=shown(one)) for one in ones])
    return [(answer.text if answer.error is None else "", (answer,)) for answer in answers]


def _self_refine(ones: Sequence[Card], model: Model) -> list[Clause]:
    """A draft and one refinement; a refinement that fails leaves the draft."""
    firsts = ask(model, [_request("real_charter_b2r_draft.v1.txt", CharterDraft, card=shown(one)) for one in ones])
    drafted = [(number, answer.parsed.clause) for number, answer in enumerate(firsts) if answer.parsed and answer.parsed.clause.strip()]
    refine = [_request("real_charter_b2r_refine.v1.txt", CharterRevision, card=shown(ones[n]), clause=clause) for n, clause in drafted]
    found: list[Clause] = [("", (answer,)) for answer in firsts]
    for (number, clause), second in zip(drafted, ask(model, refine), strict=True):
        found[number] = (second.parsed.clause if second.parsed else clause, (firsts[number], second))
    return found


def _request(name: str, response: type[T] | None, **values: str) -> Request[T]:
    prompt = load(name)
    return Request("generator", (Message("user", render(prompt, **values)),), response, max_tokens=MAX_TOKENS, prompt=prompt.hash)


def judged(rows: Sequence[Row], model: Model, seed: int = 0) -> list[rubrics.Row]:
    """Rubric marks of every clause, shuffled together, by role *judge*, which sees context and text and neither method nor structure."""
    rules = [rubrics.Written(r.method, load_context(r.card), seed, r.text, r.score.gate.passed, r.calls) for r in rows]
    return rubrics.score(rules, model, seed=seed)


def table(rows: Sequence[Row], seed: int = 0) -> list[Line]:
    """A line per method, in the order of the rows.

    Raises
    ------
    InputError
        Some row rests on answers of the scripted server, or on a request that was never answered.
    """
    refuse_scripted(answer for row in rows for answer in row.calls)
    rubrics.refuse_unanswered(answer for row in rows for answer in row.calls)
    lines = []
    for method in dict.fromkeys(row.method for row in rows):
        own = [row for row in rows if row.method == method]
        documents = [card(row.card).document.title for row in own]
        means = {name: _estimate(np.array([measure(r.score) for r in own], float), documents, seed) for name, measure in MEASURES.items()}
        lines.append(Line(method, len(own), means, {name: sum(count(row.score) for row in own) for name, count in COUNTS.items()}))
    return lines


def _estimate(values: NDArray[np.float64], documents: Sequence[str], seed: int) -> Estimate:
    generator = np.random.default_rng(seed)
    by_card = values[generator.integers(0, len(values), (SAMPLES, len(values)))].mean(1)
    groups = [values[[title == document for title in documents]] for document in dict.fromkeys(documents)]
    sums, sizes = np.array([group.sum() for group in groups]), np.array([len(group) for group in groups])
    picks = generator.integers(0, len(groups), (SAMPLES, len(groups)))
    return Estimate(float(values.mean()), _interval(by_card), _interval(sums[picks].sum(1) / sizes[picks].sum(1)))


def _interval(drawn: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def independent(rows: Sequence[Row]) -> list[Row]:
    """Rows without the later card of each pair of near duplicates."""
    order = [one.id for one in cards()]
    return [row for row in rows if all(order.index(row.card) < order.index(other) for other in card(row.card).near_duplicate_of)]


def verified(rows: Sequence[Row]) -> list[Row]:
    """Rows of cards whose every fact was read in a stored text."""
    return [row for row in rows if card(row.card).verified]


def main(
    llm: Annotated[bool, typer.Option("--llm", help="Methods with a model too, and rubric marks; needs OPENAI_API_KEY.")] = False,
    max_cost: Annotated[float | None, typer.Option(help="With --llm: US dollars never to exceed.", show_default=False)] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL=IN,OUT", help="With --llm: price in US dollars for a million tokens.", show_default=False),
    ] = None,
    pages: Annotated[Path | None, typer.Option(help="Folder of the data card whose results to write again.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Score every method on the 53 cards."""
    try:
        with _model(max_cost, price or []) if llm else nullcontext() as model:
            rows = run(model)
            marks = judged(rows, model) if model else []
        _report(rows, marks, pages, as_json)
    except GnrsError as error:
        typer.echo(f"gnrs: {error}", err=True)
        raise typer.Exit(error.exit_code) from None


@contextmanager
def _model(max_cost: float | None = None, prices: Sequence[str] = ()) -> Iterator[Model | None]:
    """The model that the environment names; without a key None, and a line that says so."""
    try:
        require_key()
    except InputError as error:
        typer.echo(f"skipped the methods with a model: {error}", err=True)
        yield None
        return
    with model_from_environment(max_cost, prices) as model:
        yield model


def _report(rows: Sequence[Row], marks: Sequence[rubrics.Row], pages: Path | None, as_json: bool) -> None:
    from gnrs_ppl.experiments.realcharter_pages import results, write_pages

    if pages is not None:
        for path in write_pages(pages, rows, marks):
            typer.echo(f"wrote {path}", err=True)
    if not as_json:
        typer.echo(results(rows, marks))
        return
    found = {"rows": [row.as_dict() for row in rows], "table": [line.as_dict() for line in table(rows)]}
    found |= {"marks": [row.as_dict() for row in marks], "rubrics": [line._asdict() for line in rubrics.result_table(marks)]}
    typer.echo(to_json(found))


if __name__ == "__main__":
    typer.run(main)
