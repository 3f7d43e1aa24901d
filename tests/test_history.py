"""The store holds whole runs whatever happens, and says rightly what became of each violation."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from stored import delivered
from tiers import few, tier

from gnrs_ppl.audit.result import AuditResult
from gnrs_ppl.cli import run
from gnrs_ppl.errors import InputError
from gnrs_ppl.history import store as stores
from gnrs_ppl.history.changes import CHANGES, history
from gnrs_ppl.history.store import append, opened, read_runs

ROOT = Path(__file__).resolve().parent.parent
CASES = 2500
"""Of a run that takes long enough to be killed in the middle."""


def said(result: AuditResult) -> dict[str, str]:
    return {v.case_id: v.verdict for v in result.verdicts}


def became(runs: list[dict[str, str]], base: int) -> dict[str, str]:
    """What became of each violation between one run and the last, run by run in plain Python."""
    *earlier, last = runs
    found = {}
    for case in {case for verdicts in runs for case in verdicts}:
        then, now = runs[base].get(case), last.get(case)
        if then == now == "violated":
            found[case] = "still_open"
        elif now == "violated":
            spells = [verdicts.get(case) == "violated" for verdicts in earlier]
            found[case] = "reopened" if True in spells and False in spells[spells.index(True) :] else "new"
        elif then == "violated":
            decided = "undecided" if now in ("pending", "indeterminate") else "fixed"
            found[case] = "gone" if now is None else decided
    return found


def test_what_became_of_each_violation(tmp_path: Path) -> None:
    random_ = random.Random(5)
    seen = set()
    for trial in range(tier(1, 6)):
        path = tmp_path / f"{trial}.duckdb"
        runs = []
        for _ in range(4):
            cases = [f"c{n}" for n in range(40) if random_.random() < 0.9]
            result = delivered({case: random_.choice([None, 0, 1, 5]) for case in cases})
            runs.append(said(result))
            append(path, result, "deliveries")
        assert [r.counts["violated"] for r in read_runs(path)] == [
            list(verdicts.values()).count("violated") for verdicts in runs
        ]
        for base in range(3):
            (changes,) = history(path, base + 1).changes
            found = {m.case_id: m.change for m in changes.matters}
            assert found == became(runs, base)
            assert sum(changes.counts.values()) == len(found)
            seen |= set(found.values())
    assert seen == set(CHANGES)


def test_a_store_holds_what_the_audit_said(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    result = delivered({"a": 1, "b": 5, "c": None})
    append(path, result, "deliveries")
    with opened(path) as connection:
        rows = connection.execute(
            'SELECT case_id, instance, "constraint", verdict, reason, witnesses, bearer, due, due_offset, '
            "due_grain, slack_seconds, of_target FROM verdicts ORDER BY ALL"
        ).fetchall()
    due = [tuple(v.due) if v.due else (None, None, None) for v in result.verdicts]
    assert rows == [
        (*v[:5], list(v.witnesses), v.bearer, *d, v.slack_seconds, v.of_target)
        for v, d in zip(result.verdicts, due, strict=True)
    ]


def child(path: Path, runs: int) -> subprocess.Popen[str]:
    """A process that stores runs, once it is about to."""
    call = [sys.executable, str(ROOT / "tests" / "stored.py"), str(path), str(runs), str(CASES)]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("moment", few(range(20), 2))
def test_a_killed_writer_leaves_whole_runs(moment: int, tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    process = child(path, 1000)
    time.sleep(random.Random(moment).uniform(0, 0.8))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = len(read_runs(path)) if path.exists() else 0
    append(path, delivered({"a": 1}), "deliveries")
    with opened(path) as connection:
        held = connection.execute("SELECT run, count(*) FROM verdicts GROUP BY run ORDER BY run").fetchall()
    assert [r.run for r in read_runs(path)] == list(range(1, before + 2))
    assert held == [*((run, CASES) for run in range(1, before + 1)), (before + 1, 1)]


@pytest.mark.parametrize("moment", few(range(20), 1))
def test_a_killed_command_leaves_whole_runs(moment: int, tmp_path: Path) -> None:
    """The command itself, at some moment between its start and its end."""
    path = tmp_path / "s.duckdb"
    audit = [sys.executable, "-m", "gnrs_ppl", "audit", "examples/invoices/context.yaml"]
    audit += ["--rule", "docs/contexts/approval.yaml", "--store", str(path)]
    start = time.monotonic()
    assert subprocess.run(audit, cwd=ROOT, capture_output=True).returncode == 1
    whole = time.monotonic() - start
    killed = subprocess.Popen(audit, cwd=ROOT, stdout=subprocess.DEVNULL)
    time.sleep(random.Random(moment).uniform(0.3, 1.0) * whole)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    kept = len(read_runs(path))
    assert kept in (1, 2)
    assert subprocess.run(audit, cwd=ROOT, capture_output=True).returncode == 1
    runs = read_runs(path)
    assert [r.run for r in runs] == list(range(1, kept + 2))
    assert len({(*r.counts.items(), r.log) for r in runs}) == 1


@pytest.mark.slow
def test_two_writers_both_land(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    writers = [child(path, 3), child(path, 3)]
    assert [writer.communicate()[1] for writer in writers] == ["", ""]
    assert [r.run for r in read_runs(path)] == [1, 2, 3, 4, 5, 6]
    assert {sum(r.counts.values()) for r in read_runs(path)} == {CASES}


def test_a_writer_that_waits_in_vain_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.duckdb"
    append(path, delivered({"a": 1}), "deliveries")
    monkeypatch.setattr(stores, "PATIENCE", 0.1)
    hold = f"import duckdb; c = duckdb.connect({str(path)!r}); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(InputError, match="another run is writing there"):
            append(path, delivered({"a": 1}), "deliveries")
        holder.communicate("\n")
    assert len(read_runs(path)) == 1


def test_the_verbs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, rule, log = (tmp_path / name for name in ("s.duckdb", "rule.yaml", "log.csv"))
    rule.write_text(
        "{title: A then B, trigger: {act: A, channel: desk}, evidence: {channels: [desk]}, records: {channels: "
        "[{name: desk, activities: [A, B], closed_world: true}]}, "
        "norm: {constraints: [{template: response, target: B, deadline: P3D}]}}"
    )
    log.write_text(
        "case_id,activity,timestamp,channel\n1,A,2024-01-01,desk\n2,A,2024-01-02,desk\n2,B,2024-01-19,desk\n"
    )
    audit = ["audit", "--rule", str(rule), "--log", str(log)]
    for _ in range(2):
        assert run([*audit, "--store", str(store), "--json"]) == 1
    counts = json.loads(capsys.readouterr().out.split("\n}\n")[0] + "}")["counts"]
    assert run(["history", str(store), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [r["counts"] for r in found["runs"]] == [counts, counts]
    assert {r["rule"] for r in found["runs"]} == {"A then B"}
    assert counts["violated"] == 2
    assert found["changes"][0]["counts"]["still_open"] == counts["violated"]
    assert "both runs audited the same log" in found["changes"][0]["notes"]
    log.write_text(
        "case_id,activity,timestamp,channel\n2,A,2024-01-02,desk\n2,B,2024-01-03,desk\n3,A,2024-01-02,desk\n"
    )
    run([*audit, "--store", str(store), "--json"])
    capsys.readouterr()
    assert run(["history", str(store)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the log is another one: 1 cases are new, 1 have other rows, 1 are gone" in said


def test_what_is_no_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other, text, store = tmp_path / "other.duckdb", tmp_path / "text.csv", tmp_path / "s.duckdb"
    duckdb.connect(other).execute("CREATE VIEW runs AS SELECT 1 AS run").close()
    text.write_text("case_id,activity\n")
    kind, newer = tmp_path / "kind.duckdb", tmp_path / "newer.duckdb"
    for place, change in (
        (kind, "ALTER TABLE runs ALTER events TYPE VARCHAR"),
        (newer, "UPDATE store SET format = 9"),
    ):
        append(place, delivered({"a": 1}), "deliveries")
        with duckdb.connect(place) as connection:
            connection.execute(change)
    append(store, delivered({"a": 1}), "deliveries")
    for given, says in [
        ([other], "is a DuckDB file, but no store of verdicts"),
        ([kind], "is a DuckDB file, but no store of verdicts"),
        ([newer], "is a store of another version of gnrs"),
        ([text], "is no store of verdicts"),
        ([tmp_path / "none"], "no such file; gnrs audit --store makes one"),
        ([tmp_path], "is a folder"),
        ([store, "--since", 4], "holds no run 4; name one of 1 to 1"),
        ([store, "--since", 1], "run 1 is the last of 'deliveries'"),
    ]:
        assert run(["history", *map(str, given)]) == 2
        error = capsys.readouterr().err
        assert says in error, error
        assert error.count("\n") == 1
