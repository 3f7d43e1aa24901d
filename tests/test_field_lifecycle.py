"""Words that say how far an act was: what is known is joined, the rest stays apart, and every word is told."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from test_import import write_csv

import gnrs_ppl as gnrs
from gnrs_ppl.cli import run
from gnrs_ppl.importing import Imported, import_source
from gnrs_ppl.rule.types import Structure

Row = tuple[str, str, str]
"""Case, act, word."""


def imported(tmp_path: Path, rows: list[Row], column: str = "lifecycle:transition", **told: str) -> Imported:
    """The rows, an hour apart, with their words in a column."""
    written = [
        {
            "case_id": case,
            "activity": act,
            "timestamp": f"2026-01-{1 + i // 24:02d}T{i % 24:02d}:00:00Z",
            column: word,
        }
        for i, (case, act, word) in enumerate(rows)
    ]
    path = write_csv(tmp_path / "work.csv", written)
    return import_source(path, tmp_path / "out", lifecycle=told or None, update=bool(told))  # type: ignore[arg-type]


def acts(done: Imported) -> list[tuple[str, str, bool]]:
    """Case, act, whether its start is known."""
    path = done.folder / "events.parquet"
    started = "started IS NOT NULL" if done.joined else "FALSE"
    return duckdb.sql(f"SELECT case_id, activity, {started} FROM read_parquet('{path}')").fetchall()


def ordinary(start: str, end: str, *others: str) -> list[Row]:
    """Two cases in which a check and a shipment begin and end, and in one the check is what the other words say."""
    rows = [(case, act, word) for case in ("c1", "c2") for act in ("check", "ship") for word in (start, end)]
    return rows + [("c2", "check", word) for word in others]


DONE = [(case, act, True) for case in ("c1", "c2") for act in ("check", "ship")]


@pytest.mark.parametrize("column", ["lifecycle:transition", "state"])
@pytest.mark.parametrize(
    "start, end, own, aside",
    [
        ("start", "complete", ["failed"], []),
        ("start", "complete", ["error", "unknown", "Waiting for customer"], ["suspend", "resume"]),
        ("START", "COMPLETE", [], ["schedule", "assign", "ate_abort", "PI_ABORT", "withdraw", "autoskip", "manualskip", "reassign"]),
        ("Start", "Finish", ["retry"], []),
        ("In Progress", "Done", ["In Review"], ["Cancelled"]),
        ("in-progress", "done", [], []),
        ("Beginn", "Ende", ["Störung"], []),
        ("gestartet", "abgeschlossen", [], []),
        ("gestart", "voltooid", ["geweigerd"], []),
        ("Démarré", "Terminé", [], []),
        ("begin", "end", ["x" * 100], []),
    ],
)  # fmt: skip
def test_known_words_are_joined_and_the_rest_stays_apart(
    tmp_path: Path, column: str, start: str, end: str, own: list[str], aside: list[str]
) -> None:
    done = imported(tmp_path, ordinary(start, end, *own, *aside), column)
    assert acts(done) == DONE + [("c2", f"check ({word[:60]})", False) for word in own]
    assert done.joined == 4
    assert dict(done.reasons) == {f"{word}, which is not the act done": 1 for word in aside}
    taken = {word.word: (word.rows, word.taken_as) for word in done.lifecycle.words}
    assert taken == {start: (4, "start"), end: (4, "complete")} | dict.fromkeys(
        own, (1, "own")
    ) | dict.fromkeys(aside, (1, "ignore"))
    said = next(line for line in done.said if line.startswith(f"{column!r} says how far acts were: "))
    assert f"{start} 4 (begun)" in said
    assert all(f"{word} 1 (an act of its own)" in said for word in own)
    assert ("--lifecycle WORD=complete" in said) == bool(own)


def test_each_start_and_end_is_one_act_in_an_audit(tmp_path: Path) -> None:
    done = imported(tmp_path, ordinary("start", "complete", "failed"))
    rule = {
        "trigger": {"act": "ship", "channel": "work", "window": "P30D"},
        "norm": {"constraints": [{"template": "precedence", "target": "check", "correlate": "same_case"}]},
        "evidence": {"channels": ["work"]},
    }
    counts = gnrs.audit(
        Structure.model_validate_json(json.dumps(rule)), gnrs.load_context(str(done.files[0]))
    ).counts
    assert counts["satisfied"] == 2
    assert sum(counts.values()) == 2  # one instance a shipment, not one for its start and one for its end


@pytest.mark.parametrize(
    "rows, expected, reasons, says",
    [
        (
            [("c1", "check", word) for word in ("start", "start", "complete", "complete", "start")],
            [("c1", "check", True)] * 2,
            {"start, which is not the act done": 1},
            "2 starts are joined to their ends as they come",
        ),
        (
            [("c1", "check", "complete"), ("c1", "check", "start"), ("c1", "ship", "complete")],
            [("c1", "check", False), ("c1", "ship", False)],
            {"start, which is not the act done": 1},
            "1 rows 'start' of acts that others carry to their end are set aside",
        ),
        (
            [("c1", "check", "start"), ("c1", "ship", "start"), ("c2", "check", "start")],
            [("c1", "check", False), ("c1", "ship", False), ("c2", "check", False)],
            {},
            "3 starts of acts whose end is never recorded count as the act: 'check', 'ship'",
        ),
        (
            [("c1", "check", "start"), ("c1", "check", "complete"), ("c1", "ship", "schedule"), ("c1", "ship", "ate_abort")],
            [("c1", "check", True), ("c1", "ship (schedule)", False), ("c1", "ship (ate_abort)", False)],
            {},
            "1 rows 'schedule' stand as acts of their own, named with it: (schedule)",
        ),
        (
            [("c1", "check", "complete"), ("c1", "ship", "complete"), ("c1", "ship", "complete")],
            [("c1", "check", False), ("c1", "ship", False), ("c1", "ship", False)],
            {},
            "",
        ),
        (
            [("c1", "check", "alpha"), ("c1", "check", "omega"), ("c1", "ship", "omega")],
            [("c1", "check", False), ("c1", "check", False), ("c1", "ship", False)],
            {},
            "the words of 'lifecycle:transition' are not known (omega 2, alpha 1), so that each row counts as an act",
        ),
        (
            [("c1", "y" * 200, "start"), ("c1", "y" * 200, "complete"), ("c1", "y" * 200, "odd\x7fword")],
            [("c1", "y" * 200, True), ("c1", "y" * 186 + " (odd\\x7fword)", False)],
            {},
            "1 rows 'odd\\x7fword' stand as acts of their own",
        ),
    ],
    ids=["overlapping", "end before start", "starts alone", "never ended", "ends alone", "no known word", "long"],
)  # fmt: skip
def test_what_has_no_partner(
    tmp_path: Path, rows: list[Row], expected: list[tuple[str, str, bool]], reasons: dict[str, int], says: str
) -> None:
    done = imported(tmp_path, rows)
    assert acts(done) == expected
    assert dict(done.reasons) == reasons
    assert not says or any(line.startswith(says) for line in done.said)


@pytest.mark.parametrize(
    "words", [("done", "cancelled"), ("passed", "failed"), ("start", "middle"), ("low", "high")]
)
def test_a_column_of_outcomes_is_none_of_steps(tmp_path: Path, words: tuple[str, str]) -> None:
    rows = [
        (case, act, words[i % 2]) for i, case in enumerate(("c1", "c2", "c3")) for act in ("check", "ship")
    ]
    done = imported(tmp_path, rows, "outcome")
    assert acts(done) == [(case, act, False) for case, act, _ in rows]
    assert not done.reasons


def test_a_status_that_is_the_only_column_of_acts_stays_one(tmp_path: Path) -> None:
    rows = [
        {"case": f"T-{i}", "status": status, "time": f"2026-01-0{1 + i}T0{hour}:00:00Z"}
        for i in range(3)
        for hour, status in enumerate(("In Progress", "Done"), 1)
    ]
    done = import_source(write_csv(tmp_path / "tickets.csv", rows), tmp_path / "out")
    assert done.columns["activity"][0] == "status"
    assert done.rows == 6


def test_a_word_is_told_and_told_again_by_update(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ordinary("alpha", "omega", "failed")
    imported(tmp_path, rows)
    command = ["import", str(tmp_path / "work.csv"), "--out", str(tmp_path / "out"), "--update", "--json"]
    told = ["--lifecycle", "Alpha=start", "--lifecycle", "OMEGA=complete", "--lifecycle", "failed=ignore"]
    capsys.readouterr()
    for options in (told, []):
        assert run([*command, *options]) == 0
        said = json.loads(capsys.readouterr().out)
        assert (said["imported"], said["joined"], said["set_aside"]) == (4, 4, 1)
        assert said["lifecycle"] == {
            "column": "lifecycle:transition",
            "words": [
                {"word": "alpha", "rows": 4, "taken_as": "start"},
                {"word": "omega", "rows": 4, "taken_as": "complete"},
                {"word": "failed", "rows": 1, "taken_as": "ignore"},
            ],
        }
    assert run([*command, "--lifecycle", "failed=own"]) == 0
    assert json.loads(capsys.readouterr().out)["imported"] == 5


@pytest.mark.parametrize(
    "told, problem, mended",
    [
        ("omgea=complete", "no column says with 'omgea' how far an act was; name a word of 'lifecycle:transition': 'alpha', 'omega'", "omega=complete"),
        ("omega", "'omega' is not WORD=STEP; write Ende=complete; a step is one of start, complete, ignore, own", "omega=complete"),
        ("omega=finished", "'omega=finished' is not WORD=STEP; write Ende=complete", "omega=complete"),
        ("=complete", "'=complete' is not WORD=STEP", "omega=complete"),
    ],
)  # fmt: skip
def test_a_word_that_is_not_there_is_refused_and_one_that_is_there_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], told: str, problem: str, mended: str
) -> None:
    imported(tmp_path, ordinary("alpha", "omega"))
    command = ["import", str(tmp_path / "work.csv"), "--out", str(tmp_path / "again"), "--lifecycle"]
    assert run([*command, told]) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "again").exists()
    assert run([*command, mended]) == 0
