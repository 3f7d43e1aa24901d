"""Names as they stand in logs: every one is imported, and a rule about it is written, read back and audited."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

import gnrs_ppl as gnrs
from gnrs_ppl.importing import Imported, import_source
from gnrs_ppl.importing.phrases import phrase_of
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import Structure

TWICE = """Confirm and confirmation|R&R|=1+1|Close and closed|Payment and pay|Test+Test|Send or sent|Begin and begun
pay and pay and pay|Create and create and created|O'Brien and O'Brien|goods and goods|Check + checked""".replace(
    "\n", "|"
)
WORDS = """null|yes|~|1e3|0x1F|True|nan|2024-01-01|12:30|P1D|007|-1|½|No-1|activity No-1|Check|check|CHECK|check  it|check it
and|or|unless|must|must not|nobody|somebody must pay within five days|within five days|after the order|unless paid
A and B|A or B|notify or pay unless paid before|check and/or pay|Q&A|C++|Pay, pay|R & D|by the same person|each payment
two payments|case|role|log|the first time in a case""".replace("\n", "|")
SIGNS = """...|---|!!!|?|'|"|“curly”|it's|[x]|{x}|<b>x</b>|a: b|# c|@foo|*|&a|%s|${x}|../x|C:\\x|; drop table|-- x|=cmd('x')|a→b
😀|👍🏽 done|שלום עולם|مرحبا|日本語|Straße|STRASSE|İstanbul|ﬁ|é|e\u0301|②""".replace("\n", "|")
READ = {
    "Prüfung\N{NO-BREAK SPACE}öffnen": "Prüfung öffnen",
    "ship\n the order": "ship the order",
    "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{ROCKET} launch": "\N{WOMAN}\N{ROCKET} launch",
    "pay \N{RIGHT-TO-LEFT OVERRIDE}fine": "pay fine",
    "soft\N{SOFT HYPHEN}hyphen": "softhyphen",
}


def imported(tmp_path: Path, names: Sequence[str]) -> Imported:
    """Two cases in which each act stands once."""
    with (tmp_path / "log.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["case_id", "activity", "timestamp"])
        for case in ("c1", "c2"):
            out.writerows(
                [case, name, f"2024-01-01T{i // 60:02d}:{i % 60:02d}:00Z"] for i, name in enumerate(names)
            )
    return import_source(tmp_path / "log.csv", tmp_path / "out")


def rule(first: str, then: str) -> Structure:
    return Structure.model_validate_json(
        Structure.model_validate(
            {
                "trigger": {"act": first, "channel": "log", "window": "P30D"},
                "norm": {"constraints": [{"template": "response", "target": then, "deadline": "P5D"}]},
                "evidence": {"channels": ["log"]},
            }
        ).model_dump_json()
    )


@pytest.mark.parametrize("names", [TWICE, WORDS, SIGNS], ids=["said twice", "words", "signs"])
def test_every_name_is_imported_and_read_back(tmp_path: Path, names: str) -> None:
    acts = ["open order", *names.split("|")]
    done = imported(tmp_path, acts)
    assert (done.rows, done.aside) == (2 * len(acts), 0)
    context = gnrs.load_context(str(done.files[0]))
    assert [action.name for action in context.schema.actions] == acts
    words = Lexicon.of_context(context)
    for first, then in zip(acts, [*acts[1:], acts[0]], strict=True):
        assert parse(render(rule(first, then), words), words) == canonical(rule(first, then))
    assert gnrs.audit(rule(acts[0], acts[1]), context).counts["satisfied"] == 2


@pytest.mark.parametrize("name", TWICE.split("|"))
def test_what_a_name_says_twice_is_one_alias(name: str) -> None:
    aliases = phrase_of(name).aliases
    assert len(set(aliases)) == len(aliases)


def test_white_space_is_a_space_and_joiners_are_left_out_and_that_is_counted(tmp_path: Path) -> None:
    done = imported(tmp_path, ["open order", *READ, "paid\x7f"])
    context = gnrs.load_context(str(done.files[0]))
    assert [action.name for action in context.schema.actions] == ["open order", *READ.values()]
    assert any(
        line.startswith("10 cells of 'activity' hold signs or spaces that do not print") for line in done.said
    )
    assert dict(done.reasons) == {"activity is no name: over 200 characters, or some that do not print": 2}
