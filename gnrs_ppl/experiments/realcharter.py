"""RealCharter-Bench without a model as pages: ``python -m gnrs_ppl.experiments.realcharter [--pages docs]
[--json]``.

Results in the data card, and three worked cards. With a model: ``gnrs experiment realcharter --llm``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from gnrs_ppl.benchmarks.realcharter import Card, Number, card, cards
from gnrs_ppl.benchmarks.realcharter.adapter import length
from gnrs_ppl.calibration.weights import frozen_weights
from gnrs_ppl.context.output import write_all
from gnrs_ppl.draft import Draft, draft
from gnrs_ppl.errors import GnrsError, InputError
from gnrs_ppl.evaluate.realcharter.score import CardScore, forces, score
from gnrs_ppl.experiments.cards import (
    CHAINED,
    COUNTS,
    MEASURES,
    METHODS,
    independent,
    reach,
    rows_of,
    verified,
)
from gnrs_ppl.experiments.published import by_method
from gnrs_ppl.experiments.rows import Row, Rows
from gnrs_ppl.rule.types import SLOTS, Structure
from gnrs_ppl.safe_text import to_json

CHAINS = 64
EVERY = [one.id for one in cards()]
WORKED = ("RC-PSF-3", "RC-ND-2", "RC-GL-4")
PAGE, WORKED_PAGE = "realcharter-bench.md", "realcharter-worked-cards.md"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
PREAMBLE = """\
What is comparable. The cards are ours, so no figure is one of the paper's measured again. HARD-OK of *No LLM candidates* and *No search*
is of the same kind as the paper's, on other cards and with supports by rules of ours. Faithfulness and OVERALL need a rubric, hence a
model: they stand in the paper's columns only.
*Uniform weights*, *CP-SAT* and *Exact* are other ways to search the same space.

Weights: {weights}. Nothing was tuned on the expected slots; three times the candidate sources were mended when drafted clauses showed a
fault of meaning (a time on the wrong act, a duty without its bearer, a ban on the wrong office). Means stand with two 95 % bootstrap
intervals: over cards, then over the 15 documents. Written by `python -m gnrs_ppl.experiments.realcharter --pages docs`."""
HARD_OK_NOTE = """\
{of_rho} of the {failed} failures above are of ρ alone, which follows from how many records a clause names, by rules laid down before
anything was scored. On {all_pass} cards every feasible structure passes and on {none_pass} none does: the search can matter to this
gate on {open_to_search} of 53. *No search* does not fall to the paper's 0, since what it picks from is the card's own."""
SLOT_NOTE = """\
Slot precision and recall are means over the five slots, precision 0 where a slot names nothing. A name of the card that a faithful rule
could do without counts against precision. Recall of the norm stays below 1 because a rule has one force and a card several."""
COUNT_NOTE = """\
*Lost* are numbers that do not stand where they belong. A slot can hold a time within which something happens; most numbers of the cards
are none (thirds, people, money, terms, "per month"), or belong to advice on a card whose rule is a duty. The misplaced week stands on
SendStatus of PSF-1, for which the card has it too. Where ε_S is 0, what differs from *Exact* under the same weights differs by ties
alone."""
WORKED_HEAD = f"""\
# Three worked cards

What `gnrs draft {WORKED[0]} --kernel exact`, and the same for the other two, gives beside the card, with what an auditor would ask for.
The page is made by `python -m gnrs_ppl.experiments.realcharter --pages docs`, like the results of the [data card]({PAGE}), and a
test holds it against a fresh draft. What a card becomes where there is no log: [architecture](architecture.md#cards-without-a-log)."""


def results(rows: Sequence[Row]) -> str:
    """Results as Markdown."""
    methods = by(rows)
    measures = {head: partial(_estimate, head, measure=name) for name, (head, _) in MEASURES.items()}
    gate = measures.pop("HARD-OK, %")
    paper = by_method("realcharter")
    beside = {
        method: [
            gate(methods[method]) if method in methods else "needs a model",
            *_printed(paper.get(method, {})),
        ]
        for method in dict.fromkeys([*methods, *paper])
    }
    parts = {
        "all 53": rows,
        "the 40 verified": verified(rows),
        "50, without the later of near duplicates": independent(rows),
    }
    shares = {
        name: [f"{own.mean('hard_ok'):.1f}" for own in by(some).values()] for name, some in parts.items()
    }
    slots = {f"{slot}, P / R": partial(_slot, slot=slot) for slot in SLOTS}
    counts = {name.replace("_", " "): partial(_count, name=name) for name in COUNTS}
    return "\n\n".join(
        [
            _markdown(["HARD-OK, %", "paper: HARD-OK", "paper: Faith", "paper: OVERALL"], beside),
            _gate_note(rows),
            _markdown([f"HARD-OK, %: {method}" for method in methods], shares, "cards"),
            _of_methods(measures, methods),
            SLOT_NOTE,
            _of_methods(slots, methods),
            _of_methods({"ε_S = 0, cards": _best, **counts}, methods),
            COUNT_NOTE,
        ]
    )


def _gate_note(rows: Sequence[Row]) -> str:
    """Why the gate fails, and on how many cards the search can matter to it."""
    reached, failed = reach(), [row["failures"] for row in rows if not row["hard_ok"]]
    return HARD_OK_NOTE.format(
        failed=len(failed),
        of_rho=sum(len(found) == 1 and found[0].startswith("rho") for found in failed),
        all_pass=sum(found.passing == found.feasible for found in reached),
        none_pass=sum(not found.passing for found in reached),
        open_to_search=sum(0 < found.passing < found.feasible for found in reached),
    )


def _of_methods(columns: Mapping[str, Callable[[Rows], str]], methods: Mapping[str, Rows]) -> str:
    """A table of methods: each column's heading, and what it says of a method's rows."""
    rows = {method: [cell(own) for cell in columns.values()] for method, own in methods.items()}
    return _markdown([*columns], rows)


def _markdown(
    columns: Sequence[str], rows: Mapping[str, list[str]], first: str = "method", rule: str = "---:"
) -> str:
    lines = [[first, *columns], ["---", *[rule] * len(columns)]]
    lines += [[name, *cells] for name, cells in rows.items()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _printed(row: dict[str, str]) -> list[str]:
    return [row.get(column, "–") for column in ("HARD-OK", "faithfulness", "OVERALL")]


def by(rows: Iterable[Row]) -> dict[str, Rows]:
    """Rows by method, as the runner reads them back: the draws of an interval depend on the order."""
    of_method: dict[str, list[Row]] = {}
    for row in rows:
        of_method.setdefault(row["method"], []).append(row)
    return {method: Rows(sorted(own, key=lambda row: str(row["goal"]))) for method, own in of_method.items()}


def _estimate(heading: str, own: Rows, measure: str) -> str:
    found, digits = own.estimate(measure), 1 if heading.endswith("%") else 2
    assert found is not None
    spans = [
        f"[{low:.{digits}f}, {high:.{digits}f}]"
        for low, high in filter(None, (found.percentile, found.families))
    ]
    return " ".join([f"{found.mean:.{digits}f}", *spans])


def _count(own: Rows, name: str) -> str:
    return str(sum(row[name] for row in own.rows))


def _best(own: Rows) -> str:
    """On how many cards nothing was left to the greatest s_search."""
    left = [row["epsilon"] for row in own.rows if row["epsilon"] is not None]
    return str(left.count(0)) if left else "–"


def _slot(own: Rows, slot: str) -> str:
    return f"{own.mean(f'precision_{slot}'):.2f} / {own.mean(f'recall_{slot}'):.2f}"


def worked_cards() -> str:
    """The page of worked cards as Markdown."""
    drafts = [draft(name, kernel="exact", chains=1, steps=1, alternatives=0) for name in WORKED]
    return (
        "\n\n".join(
            [WORKED_HEAD, *(_worked(card(name), found) for name, found in zip(WORKED, drafts, strict=True))]
        )
        + "\n"
    )


def _worked(one: Card, drafted: Draft) -> str:
    slots = ((slot, content) for slot, _, content in drafted.slots())
    parts = [
        f"## {one.id}: {one.document.title}",
        one.summary,
        _markdown([""], {name: [text] for name, text in _fields(one)}, "card", "---"),
        _markdown(["content"], {slot: [content] for slot, content in slots}, "structure", "---"),
        f"**Clause**\n\n> {drafted.text}",
        "**What became of the "
        f"card**\n\n{_listed(_kept(one, drafted.structure, score(drafted.structure, one.id)))}",
        "**What an auditor would ask for.** The check is compiled and prospective: no log yet, so nothing "
        f"has been run.\n\n{_listed(_asked(one, drafted))}",
    ]
    return "\n\n".join(parts)


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _fields(one: Card) -> list[tuple[str, str]]:
    steps = ", ".join(
        f"{step.name} ({step.stage}, {step.role}, {step.inspects or 'no record'})" for step in one.procedure
    )
    return [
        ("sets it to work", ", ".join(act.name for act in one.triggers)),
        ("conduct", ", ".join(f"{act.name} ({act.force}, {act.role or 'anybody'})" for act in one.conduct)),
        (
            "records",
            ", ".join(channel.name + (" (implied)" if channel.inferred else "") for channel in one.channels),
        ),
        ("objects", ", ".join(thing.name for thing in one.objects)),
        ("procedure", steps),
        ("numbers", "; ".join(_told(number) for number in one.stated_numbers) or "none stated"),
    ]


def _told(number: Number) -> str:
    return f"{number.bound} {number.value:,} {number.unit} ({number.force}): {number.limits}"


def _kept(one: Card, structure: Structure, found: CardScore) -> list[str]:
    said, gate = dict(forces(structure.norm)), found.gate
    left = [f"{act.name} ({act.force})" for act in one.conduct if act.name not in said]
    supports = ", ".join(f"{count} {support}" for support, count in gate.supports.items() if count)
    told = [f"Force: {one.force} on the card, {structure.norm.force} in the rule, which has one force."]
    told += [f"Left out: {', '.join(left)}."] if left else []
    if found.numbers.stated:
        told.append(
            f"Numbers where they belong: {found.numbers.kept} of {found.numbers.stated}; invented: "
            f"{len(found.numbers.invented)}."
        )
    return [
        *told,
        f"HARD-OK {'passed' if gate.passed else 'failed'}, ρ = {gate.rho:.3f} ({supports}): kept to the "
        "card, and no more than that.",
    ]


def _asked(one: Card, drafted: Draft) -> list[str]:
    norm, trigger = drafted.structure.norm, drafted.structure.trigger
    used = [
        act.activity for act in (trigger.act, *(constraint.target for constraint in norm.constraints)) if act
    ]
    weak = {
        s.name: s.because
        for s in drafted.context.records.support
        if s.kind == "action" and s.support == "derivable"
    }
    implied = [
        channel.name
        for channel in one.channels
        if channel.inferred and channel.name in drafted.structure.evidence.channels
    ]
    held = {constraint.deadline for constraint in norm.constraints if constraint.deadline}
    unheld = [number for number in one.stated_numbers if length(number.value, number.unit) not in held]
    return [
        *(f"Rows. {need}." for need in drafted.needs),
        "Whether these records show these acts: the card lists both, and not which shows which.",
        "When a case is over (CloseCase): a duty without a date runs until then, and the card does not say.",
        "Which of these records are complete: until they are declared so, a duty can be found kept and "
        "never broken.",
        *(
            f"Whether there is a {name.replace('_', ' ')}: the clause implies it and names none."
            for name in implied
        ),
        *(f"Above all {name}: {weak[name]}." for name in used if name in weak),
        *(
            f"{_told(number)[0].upper()}{_told(number)[1:]}: no slot of this rule holds it."
            for number in unheld
        ),
    ]


def write_pages(folder: Path, rows: Sequence[Row]) -> list[Path]:
    """Write the results into the data card of a folder, and the page of worked cards beside it; both or
    neither.

    Raises
    ------
    InputError
        No data card there, or no markers in it.
    """
    path = folder / PAGE
    page = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InputError("holds no place for results", f"mark it with {BEGIN} and {END}", source=str(path))
    told = f"{PREAMBLE.format(weights=frozen_weights().origin)}\n\n{results(rows)}"
    files = [(PAGE, f"{before}{BEGIN}\n{told}\n{END}{after}"), (WORKED_PAGE, worked_cards())]
    return write_all(folder, [(name, text.encode()) for name, text in files])


def main(
    pages: Annotated[
        Path | None,
        typer.Option(help="Folder of the data card whose results to write again.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Score every method that needs no model on the 53 cards."""
    try:
        rows = [
            row for name in METHODS for row in rows_of(name, CHAINS if name in CHAINED else None, 0, EVERY)
        ]
        for path in write_pages(pages, rows) if pages is not None else ():
            typer.echo(f"wrote {path}", err=True)
    except GnrsError as error:
        typer.echo(f"gnrs: {error}", err=True)
        raise typer.Exit(error.exit_code) from None
    typer.echo(to_json({"rows": rows}) if as_json else results(rows))


if __name__ == "__main__":
    typer.run(main)
