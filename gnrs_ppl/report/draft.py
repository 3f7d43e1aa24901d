"""A draft and its search, as a person sees them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from rich.padding import Padding

from gnrs_ppl.audit.calendar import WorkingTime
from gnrs_ppl.report.data import search_data
from gnrs_ppl.report.reading import (
    beside_in_words,
    print_account,
    print_short,
    reading_in_words,
    rows_in_words,
)
from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from rich.console import Console

    from gnrs_ppl.draft import Draft
    from gnrs_ppl.errors import AmbiguousSentence
    from gnrs_ppl.search import Search


def print_ways(error: AmbiguousSentence) -> None:
    """What a sentence may mean, numbered, the words in bold that another way has not."""
    console = _console()
    many = len(error.readings) > 1
    console.print(
        shown("The sentence may mean several things. Which of these?" if many else "Is this meant?")
    )
    common = set[str].intersection(*(set(words.split()) for words in error.readings))
    for number, sentence in enumerate(error.readings, 1):
        line = shown(f"{number}. ")
        for word in sentence.split(" "):
            line.append_text(shown(f"{word} ", "bold" if word not in common else ""))
        console.print(Padding(line, (0, 0, 0, 2)))
        console.print(Padding(shown("; ".join(error.acts[number - 1]), style="dim"), (0, 0, 0, 5)))


def print_draft(draft: Draft, written: list[Path]) -> None:
    """Clause, slots, score by feature, grounding, certificate, chains, runner-ups and what was dropped."""
    console = _console()
    console.print(shown(f"Rule for {draft.goal.id}", style="bold"))
    print_short(console, draft.readings, draft.context.rule, rows_in_words(draft.readings, draft.context))
    if draft.pins:
        said = ", ".join(f"{'without ' if p.kind == 'without' else ''}{p}" for p in draft.pins)
        console.print(shown(f"pinned: {said}; all below is conditioned on it"))
    if draft.search.answered is not None:
        told = draft.search.answered
        console.print(
            shown(
                f"chosen by {len(told.answers.given)} answers, each taken to err {told.answers.error:.0%} of "
                f"the time; rules outside the kept mass could hold {told.cut:.0%} by now"
            )
        )
    console.print(Padding(shown(draft.text, keep="\n"), (1, 2)))
    uncounted = WorkingTime.of(draft.structure, draft.records, None).uncounted
    if uncounted:
        console.print(shown(f"undecided on these records: {uncounted}", style="yellow"))
    for statement, is_said in zip(draft.readings.statements, draft.said, strict=True):
        if not is_said:
            console.print(shown(f"not said by this rule: {reading_in_words(statement.best)}", style="yellow"))
    for slot, is_said in draft.said_beside.items():
        if not is_said:
            line = beside_in_words(draft.readings)[slot]
            console.print(shown(f"not said by this rule: {line}", style="yellow"))
    for line in draft.left_out:
        console.print(shown(line, style="yellow"))
    if chosen := _chosen(draft):
        console.print(shown(f"chosen, as the sentence does not say: {chosen}"))
    _print_language_model(console, draft)
    if draft.context.records.prospective:
        _print_prospects(console, draft)

    slots = _table("Slots", "slot", "option", "content")
    for slot, option, content in draft.slots():
        _row(slots, slot, option, content)
    console.print(slots)

    score = _table(
        f"Score  s_search = {draft.search.s_search:.4f}",
        "feature",
        "φ",
        "weight",
        "w·φ",
        right=("φ", "weight", "w·φ"),
    )
    weights = draft.search.weights
    for (name, value), weight in zip(draft.search.features().items(), weights.values, strict=True):
        _row(score, name.replace("_", " "), f"{value:.3f}", f"{weight:.2f}", f"{value * weight:.4f}")
    console.print(score)
    console.print(shown(f"weights: {weights.origin}; all hard conditions hold", style="dim"))

    gate = draft.grounding.gate
    grounding = _table(
        f"Grounding  ρ = {gate.rho:.3f}, HARD-OK {'passed' if gate.passed else 'failed'}; "
        f"{_statements(draft)}",
        "question",
        "count",
        "of",
        "support",
        right=("count", "of"),
    )
    for query in draft.grounding.queries:
        _row(
            grounding,
            query.question,
            f"{query.count:,}",
            f"{query.of:,}" if query.of else "",
            query.support or "",
        )
    console.print(grounding)
    for failure in gate.failures:
        console.print(shown(f"HARD-OK: {failure}", style="yellow"))
    for line in (*(() if draft.needs else draft.assumptions), *draft.findings):
        if line != uncounted:
            console.print(shown(f"note: {line}", style="dim"))

    console.print(shown("Certificate", style="bold"))
    for line in draft.certificate.lines():
        console.print(Padding(shown(line), (0, 2)))
    console.print()
    _print_search_table(console, draft.search)

    if draft.alternatives:
        runners = _table(
            f"Runner-ups, probability {draft.search.at_temperature}",
            "#",
            "probability",
            "s_search",
            "what differs",
            right=("#", "probability", "s_search"),
        )
        for number, other in enumerate(draft.alternatives, 2):
            _row(runners, number, f"{other.probability:.4f}", f"{other.s_search:.4f}", other.differs)
        console.print(runners)
    if draft.dropped:
        dropped = _table("Refused candidates", "slot", "candidate", "why")
        for item in draft.dropped:
            _row(dropped, *item)
        console.print(dropped)
    for suggestion in draft.built.suggested:
        add = f"add it with --fix {shlex.quote(suggestion.pin)}"
        console.print(shown(f"the log suggests: {suggestion.because}; {add}", style="dim"))
    for path in written:
        console.print(shown(f"wrote {path}", style="dim"))


def _chosen(draft: Draft) -> str:
    """What the search chose of a rule whose sentence was read and says nothing of it."""
    readings, prescribed = draft.readings, draft.context.schema.procedure
    unsaid = {
        "what shows it": readings.evidence is None,
        "what follows a breach": readings.procedure is None and not prescribed,
    }
    return "; ".join(what for what, left_open in unsaid.items() if left_open and readings.statements)


def _statements(draft: Draft) -> str:
    """How many of the statements that were read the rule says."""
    said = (*draft.said, *draft.said_beside.values())
    return f"says {sum(said)} of {len(said)} read statements"


def _print_language_model(console: Console, draft: Draft) -> None:
    """What a language model had to do with it, where one was asked."""
    data = draft.language_model()
    if data is None:
        return
    print_account(console, data)
    if draft.polished:
        lost = "; ".join(draft.polished.lost)
        console.print(
            shown(
                f"polish {draft.polished.version}: {draft.polished.outcome}{f' ({lost})' if lost else ''}",
                style="dim",
            )
        )
    console.print()


def _print_prospects(console: Console, draft: Draft) -> None:
    """What the audit can say of a rule for which there is no log yet."""
    console.print(
        shown("Audit: compiled; prospective: no log yet, so nothing has been run. It needs", style="bold")
    )
    for need in draft.needs:
        console.print(Padding(shown(str(need)), (0, 2)))
    for line in draft.assumptions:
        console.print(Padding(shown(f"note: {line}", style="dim"), (0, 2)))
    if draft.structure.norm.force == "may":
        console.print(
            Padding(
                shown("A permission is not checked against records; the rows would only show its use."),
                (0, 2),
            )
        )
    console.print(
        shown(
            "Counts below are zero for want of a log; support is what the record layer declares.", style="dim"
        )
    )
    console.print()


def print_search(search: Search, out: Path) -> None:
    """How the chains did."""
    console = _console()
    _print_search_table(console, search)
    console.print(shown(f"wrote {out}", style="dim"))


def _print_search_table(console: Console, search: Search) -> None:
    table = _table("Search", "what", "value")
    for what, value in search_rows(search):
        _row(table, what, value)
    console.print(table)


def search_rows(search: Search) -> list[tuple[str, str]]:
    """What a person is told of the search."""
    data = search_data(search)
    hits = data["chains_at_best"]
    reached = f"reached by {hits} of {data['chains']} chains" if hits else "where a chain started"
    rows = [
        ("kernel", f"{data['kernel']}, {_amount(search)} at τ = {data['temperature']}, seed {data['seed']}"),
        (
            "space",
            f"{data['states']:,} structures"
            + (f", {data['feasible_states']:,} feasible" if search.posterior else ", not enumerated"),
        ),
        ("best found", f"{search.s_search:.4f}, {reached if search.answered is None else 'by the answers'}"),
        (
            "led elsewhere, of those tried",
            "; ".join(f"{m} {rate:.0%}" for m, rate in data["changed"].items() if rate is not None)
            or f"{search.moved:.0%} of steps",
        ),
        ("seconds", f"{data['seconds']['run']:.3f} running, {data['seconds']['compile']:.2f} compiling"),
    ]
    if search.chains.bound is not None:
        rows.append(("bound by CP-SAT", f"no structure scores above {search.chains.bound:.4f}"))
    if search.posterior:
        rows.insert(3, ("probability of the best", f"{search.probability():.4f} {search.at_temperature}"))
        if found := search.slot_probabilities():
            slots = ", ".join(f"{slot} {p:.2f}" for slot, p in found.items())
            rows.insert(4, ("of each slot's choice", f"{slots}, {search.at_temperature}"))
        if search.averaged is not None:
            rows.append(
                (
                    "over weight draws",
                    f"the winner changes in {search.averaged.changes:.0%} of {len(search.weights.draws)} "
                    "draws",
                )
            )
        if data["optimal_states"] > 1:
            shared = (
                f"{data['optimal_states']} structures share the greatest score; nothing in goal or "
                "records tells them apart"
            )
            rows.insert(5, ("ties", shared))
    return rows


def _amount(search: Search) -> str:
    """How much was drawn, in the kernel's own terms."""
    from gnrs_ppl.inference.kernels import traits

    chains, steps = search.chains.score.shape
    kernel = traits(search.chains.kernel)
    if kernel.solves:
        return "one solution"
    return f"{chains:,} particles" if kernel.particles else f"{chains:,} chains × {steps:,} steps"
