"""The page of a charter, of written rules that were checked, or of their audit: it loads nothing and runs
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnrs_ppl.charter.pairs import PairRelation
from gnrs_ppl.realize.english import capitalised
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import occurrence
from gnrs_ppl.report.charter import (
    WITNESSES_SHOWN,
    chosen_lines,
    counted,
    document,
    letter,
    together_lines,
    witnessed,
)
from gnrs_ppl.report.page import environment, write_page
from gnrs_ppl.report.timeline import beside
from gnrs_ppl.rule.types import Act
from gnrs_ppl.rulebook.imagined import Happening

if TYPE_CHECKING:
    from gnrs_ppl.charter.audit import HandbookAudit
    from gnrs_ppl.charter.draft import Charter
    from gnrs_ppl.charter.written import CheckedRules, Rules

TEMPLATE = "charter.html"


def charter_page(path: Path, charter: Charter) -> Path:
    """The page of a drafted charter."""
    names = [clause.name for clause in charter.clauses]
    found = document(names, charter.structures, charter.lexicon, dates_only=charter.records.dates_only)
    lines = together_lines(names, charter.pairs) + chosen_lines(charter)[:-1]
    lines += [f"Not drafted: {stopped.name} ({stopped.error})" for stopped in charter.stopped]
    return _write(
        path,
        title=f"A charter of {counted(len(found.sections), 'rule')}",
        document=found,
        together=lines,
        witnesses=_witnesses(names, charter.pairs, charter.lexicon),
        clauses=charter.clauses,
        certificate=charter.choice.certificate,
    )


def checked_page(path: Path, checked: CheckedRules) -> Path:
    """The page of written rules and how they stand together."""
    rules = checked.rules
    lines = together_lines(rules.names, checked.pairs)
    lines += [f"Not checkable on these records: {one.name} ({one.why})" for one in checked.uncheckable]
    lines += [f"Acts that no rule names: {', '.join(checked.unnamed)}."] if checked.unnamed else []
    return _write(
        path,
        title=capitalised(f"{counted(len(rules.names), 'rule')} side by side"),
        document=_document(rules),
        together=lines,
        witnesses=_witnesses(rules.names, checked.pairs, rules.lexicon),
    )


def audited_page(path: Path, audited: HandbookAudit) -> Path:
    """The page of rules that were audited together."""
    return _write(
        path,
        title=capitalised(f"{counted(len(audited.rules.names), 'rule')} audited together"),
        document=_document(audited.rules),
        audited=audited.as_dict(),
    )


def _document(rules: Rules) -> Any:
    return document(rules.names, rules.structures, rules.lexicon, dates_only=rules.records.dates_only)


def _write(path: Path, **values: Any) -> Path:
    environment().filters.setdefault("letter", letter)
    nothing: dict[str, Any] = {
        "together": [],
        "witnesses": [],
        "clauses": [],
        "certificate": "",
        "audited": None,
    }
    return write_page(TEMPLATE, path, **nothing | values)


def _witnesses(
    names: Sequence[str], pairs: Mapping[tuple[int, int], PairRelation], lexicon: Lexicon
) -> list[dict[str, Any]]:
    return [
        {
            "said": witnessed(names, pair, witness),
            "events": [_event(event, len([*alike]), lexicon) for event, alike in groupby(witness.trace)],
        }
        for pair, found in pairs.items()
        for kind in WITNESSES_SHOWN.get(found.kind, ())
        if (witness := getattr(found, kind)) is not None
    ]


def _event(event: Happening, times: int, lexicon: Lexicon) -> str:
    act = (
        occurrence(Act(activity=event.activity, object=event.object, location=event.location), lexicon)
        if event.activity
        else "no act"
    )
    who = ", ".join(part for part in (event.who, event.role and lexicon.form("role", event.role)) if part)
    by, log = f" ({who})" if who else "", lexicon.form("channel", event.channel)
    return f"{event.at:%d %B %Y %H:%M:%S}: {act}{by}{beside(event, times, lexicon)}, in the {log}"
