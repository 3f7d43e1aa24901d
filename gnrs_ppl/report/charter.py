"""A charter as a document, as JSON, and as a person sees it in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnrs_ppl.audit.types import VERDICTS
from gnrs_ppl.charter.pairs import PairRelation, Witness
from gnrs_ppl.context.output import write_all
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import one_line
from gnrs_ppl.realize.english import capitalised, number, series
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import occurrence, sentences
from gnrs_ppl.rule.types import Act, Structure
from gnrs_ppl.rulebook.imagined import acts_of
from gnrs_ppl.safe_text import to_json, visible
from gnrs_ppl.terminal import console, row, shown, table

if TYPE_CHECKING:
    from gnrs_ppl.charter.audit import HandbookAudit
    from gnrs_ppl.charter.draft import Charter
    from gnrs_ppl.charter.written import CheckedRules

FILES = ("charter.md", "charter.json")
"""What a charter is saved as."""
ALIKE = 5e-5
"""Scores this near are shown as the same."""
PROCEDURE = frozenset("BGSQR")
"""Pieces of a rule's text that say what follows a breach."""


class Section(NamedTuple):
    """One clause of the document: whose it is, what it says, and which procedure follows a breach."""

    names: tuple[str, ...]
    text: str
    procedure: int | None


class Document(NamedTuple):
    """A charter's text by its parts: clauses that say the same are one, and so are equal procedures."""

    definitions: tuple[tuple[str, str, str], ...]
    sections: tuple[Section, ...]
    procedures: tuple[str, ...]


def document(
    names: Sequence[str], structures: Sequence[Structure], lexicon: Lexicon, *, dates_only: bool = False
) -> Document:
    """The clauses of some rules, what each follows a breach of them, and the words they use."""
    procedures: dict[str, int] = {}
    clauses: dict[tuple[str, int | None], list[str]] = {}
    for name, structure in zip(names, structures, strict=True):
        said = sentences(structure, lexicon, dates_only)
        norm = [s for s in said if not {piece.kind for piece in s} <= PROCEDURE]
        after = [s for s in said if {piece.kind for piece in s} <= PROCEDURE]
        text, follows = (_text(part) for part in (norm, after))
        procedure = procedures.setdefault(follows, len(procedures)) if follows else None
        clauses.setdefault((text, procedure), []).append(name)
    return Document(
        _definitions(structures, lexicon),
        tuple(Section(tuple(by), text, procedure) for (text, procedure), by in clauses.items()),
        tuple(procedures),
    )


def _text(said: Sequence[Sequence[Any]]) -> str:
    return " ".join(
        f"{capitalised(''.join(piece.joint + piece.words for piece in sentence))}." for sentence in said
    )


def _definitions(structures: Sequence[Structure], lexicon: Lexicon) -> tuple[tuple[str, str, str], ...]:
    """Each log, office and act that a rule names: its kind, the words for it, and its name in the records."""
    logs, offices, acts = dict[str, None](), dict[str, None](), dict[str, None]()
    for rule in structures:
        named = (rule.trigger.channel, *(c.after.channel for c in rule.norm.constraints if c.after))
        logs |= dict.fromkeys(name for name in (*named, *rule.evidence.channels) if name)
        offices |= dict.fromkeys((*rule.scope.roles, *(step.role for step in rule.procedure.steps)))
        acts |= dict.fromkeys(name for act in acts_of(rule) for name in act.activities)
    return (
        *(("log", lexicon.form("channel", name), name) for name in logs),
        *(("office", lexicon.form("role", name), name) for name in offices),
        *(("act", occurrence(Act(activity=name), lexicon), name) for name in acts),
    )


def charter_text(charter: Charter) -> str:
    """The document: definitions, numbered clauses, procedures, and how the rules stand together."""
    names = [clause.name for clause in charter.clauses]
    found = document(names, charter.structures, charter.lexicon, dates_only=charter.records.dates_only)
    lines = [f"# A charter of {counted(len(found.sections), 'rule')}", "", "## Words", ""]
    lines += [f"- {words}: {kind} `{name}`" for kind, words, name in found.definitions]
    lines += ["", "## Rules", ""]
    for place, section in enumerate(found.sections, 1):
        follows = (
            ""
            if section.procedure is None
            else f" A breach is followed by procedure {letter(section.procedure)}."
        )
        lines += [f"{place}. {section.text}{follows} ({series(list(section.names), 'and')})"]
    lines += ["", "## Procedures", ""]
    for place, text in enumerate(found.procedures):
        of = [str(n) for n, section in enumerate(found.sections, 1) if section.procedure == place]
        lines += [
            f"{letter(place)}. {text} (after {'clause' if len(of) == 1 else 'clauses'} {series(of, 'and')})"
        ]
    lines += ["", "## How they stand together", ""]
    lines += [f"- {line}" for line in together_lines(names, charter.pairs)]
    lines += [f"- {line}" for line in chosen_lines(charter)]
    lines += [f"- Not drafted: {stopped.name} ({stopped.error})" for stopped in charter.stopped]
    return visible("\n".join(lines) + "\n", keep="\n")


def letter(place: int) -> str:
    """What a procedure is called."""
    return chr(ord("A") + place) if place < 26 else f"A{place}"


def counted(many: int, what: str) -> str:
    """So many things, in words."""
    return f"{number(many)} {what}{'' if many == 1 else 's'}"


def chosen_lines(charter: Charter) -> list[str]:
    """What the rules gave up for one another, and how good the choice is."""
    lines = [
        f"{clause.name} is not what it would be alone: it scores "
        + (f"{clause.given_up:.4f} less by itself." if clause.given_up > ALIKE else "the same by itself.")
        for clause in charter.clauses
        if clause.structure != clause.alone
    ]
    for goal, words in charter.not_read.items():
        lines.append(f"Not read in {goal}: {series([f'“{word}”' for word in words], 'and')}.")
    return [*lines, charter.choice.certificate]


SAYS = {
    "conflict": "{0} and {1} conflict: no case keeps both.",
    "equivalent": "{0} and {1} say the same of every case.",
    "first_implies_second": "{0} implies {1}: who keeps {0} keeps {1}.",
    "second_implies_first": "{1} implies {0}: who keeps {1} keeps {0}.",
    "undecided": "{0} and {1}: undecided.",
    "independent": "{0} and {1} are independent.",
}


def together_lines(names: Sequence[str], pairs: Mapping[tuple[int, int], PairRelation]) -> list[str]:
    """What is to be said of pairs: conflicts first, then what is said twice, then what is open."""
    lines = []
    for kind in ("conflict", "equivalent", "first_implies_second", "second_implies_first", "undecided"):
        for (left, right), found in pairs.items():
            if found.kind == kind:
                lines.append(SAYS[kind].format(names[left], names[right]) + _bound(found))
    apart = sum(found.kind == "independent" for found in pairs.values())
    if apart:
        lines.append(f"Independent: {apart} of {len(pairs)} pairs.")
    return lines


def _bound(found: PairRelation) -> str:
    if found.kind == "undecided" and found.why:
        return f" {found.why}"
    if not found.events:
        return ""
    return f" Searched: {found.cases:,} cases of up to {counted(found.events, 'event')}."


def pair_data(names: Sequence[str], pair: tuple[int, int], found: PairRelation) -> dict[str, Any]:
    """One pair in JSON."""
    witnesses = (
        "both_kept",
        "first_kept",
        "second_kept",
        "against_first_implies_second",
        "against_second_implies_first",
    )
    return {
        "rules": [names[place] for place in pair],
        "relation": found.kind,
        "events": found.events,
        "cases": found.cases,
        "why": found.why,
        "witnesses": {name: _witness(getattr(found, name)) for name in witnesses if getattr(found, name)},
    }


def _witness(witness: Witness) -> dict[str, Any]:
    return {
        "verdicts": list(witness.verdicts),
        "events": [event._asdict() | {"at": event.at.isoformat()} for event in witness.trace],
    }


def charter_data(charter: Charter) -> dict[str, Any]:
    """``charter.json``: rules that ``gnrs charter --check`` and ``--audit`` read back, and how they stand."""
    names = [clause.name for clause in charter.clauses]
    words = {
        "schema": charter.schema,
        "records": charter.records.model_copy(update={"log": None, "set_aside": None}),
    }
    return {
        "rules": [
            {
                "name": clause.name,
                "rule": clause.structure.model_dump(mode="json", exclude_defaults=True),
                "text": clause.text,
                "s_search": clause.s_search,
                "given_up": clause.given_up,
                "probability": clause.probability,
                "given_others": clause.given_others,
            }
            for clause in charter.clauses
        ],
        **{name: part.model_dump(mode="json", exclude_defaults=True) for name, part in words.items()},
        "pairs": [pair_data(names, pair, found) for pair, found in charter.pairs.items()],
        "score": charter.choice.score,
        "bound": charter.choice.bound,
        "method": charter.choice.method,
        "certificate": charter.choice.certificate,
        "temperature": charter.temperature,
        "pins": [str(pin) for pin in charter.pins],
        "stopped": [{"name": one.name, "error": str(one.error)} for one in charter.stopped],
        "not_read": {goal: [*words] for goal, words in charter.not_read.items()},
    }


def checked_data(checked: CheckedRules) -> dict[str, Any]:
    """The JSON of ``gnrs charter --check``."""
    return {
        "rules": list(checked.rules.names),
        "pairs": [pair_data(checked.rules.names, pair, found) for pair, found in checked.pairs.items()],
        "uncheckable": [one._asdict() for one in checked.uncheckable],
        "unnamed_acts": list(checked.unnamed),
    }


def save_charter(charter: Charter, folder: Path) -> list[Path]:
    """Write :data:`FILES` and a manifest, all or nothing; gives the files' paths."""
    contents = (charter_text(charter), to_json(charter_data(charter)))
    return write_all(
        folder, [(name, text.encode()) for name, text in zip(FILES, contents, strict=True)], manifest=True
    )


def print_charter(charter: Charter, written: Sequence[Path]) -> None:
    """The document, and the witnesses of its pairs."""
    out = console()
    out.print(shown(charter_text(charter), keep="\n"))
    _print_witnesses([c.name for c in charter.clauses], charter.pairs, charter.records, charter.lexicon)
    for path in written:
        out.print(shown(f"wrote {path}", style="dim"))


def print_checked(checked: CheckedRules, written: Sequence[Path] = ()) -> None:
    """How every two rules stand, with a case for each conflict and implication, and what is not covered."""
    out, rules = console(), checked.rules
    for line in together_lines(rules.names, checked.pairs):
        out.print(shown(line))
    for one in checked.uncheckable:
        out.print(shown(f"Not checkable on these records: {one.name} ({one.why})"))
    if checked.unnamed:
        out.print(shown(f"Acts that no rule names: {', '.join(checked.unnamed)}."))
    _print_witnesses(rules.names, checked.pairs, rules.records, rules.lexicon)
    for path in written:
        out.print(shown(f"wrote {path}", style="dim"))


def print_audited(audited: HandbookAudit, written: Sequence[Path] = ()) -> None:
    """A line for each rule, its first violation, and what the counts take for granted."""
    out, log = console(), audited.rules.log
    assert log is not None
    out.print(
        shown(
            f"Log: {log.events:,} events in {log.cases:,} cases, sha256 {log.fingerprint[:16]}…", style="dim"
        )
    )
    verdicts = table(
        "Verdicts of instances", "rule", *[v.replace("_", " ") for v in VERDICTS], "violated of decided"
    )
    for audit in audited.audits:
        row(verdicts, audit.name, *[f"{audit.counts[v]:,}" for v in VERDICTS], audit.headline)
    out.print(verdicts)
    for audit in audited.audits:
        for one in audit.verdicts("violated", 1):
            out.print(shown(f"{audit.name}, case {one_line(one.case_id)}: {audited.sentence(audit, one)}"))
    for note in audited.notes:
        out.print(shown(f"note: {note}", style="dim"))
    out.print(
        shown("A violation means the record shows otherwise, not that a person did wrong.", style="italic")
    )
    for path in written:
        out.print(shown(f"wrote {path}", style="dim"))


WITNESSES_SHOWN = {
    "conflict": ("first_kept", "second_kept"),
    "first_implies_second": ("against_second_implies_first",),
    "second_implies_first": ("against_first_implies_second",),
}
"""The witnesses that are shown of a pair: how far each can be kept, and why the two are not one."""


def _print_witnesses(
    names: Sequence[str],
    pairs: Mapping[tuple[int, int], PairRelation],
    records: RecordLayer,
    lexicon: Lexicon,
) -> None:
    from gnrs_ppl.report.timeline import print_timeline
    from gnrs_ppl.rulebook.imagined import Imagined

    out, imagined = console(), Imagined(records)
    for pair, found in pairs.items():
        for kind in WITNESSES_SHOWN.get(found.kind, ()):
            witness = getattr(found, kind)
            if witness is None:
                continue
            out.print()
            out.print(shown(f"A case: {witnessed(names, pair, witness)}", style="bold"))
            print_timeline(out, witness.trace, imagined, lexicon)


def witnessed(names: Sequence[str], pair: tuple[int, int], witness: Witness) -> str:
    """What each rule says of a case."""
    return " and ".join(
        f"{names[place]} {verdict.replace('_', ' ')}"
        for place, verdict in zip(pair, witness.verdicts, strict=True)
    )
