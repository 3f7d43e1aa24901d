"""One bit of a store is turned: what reads it says so in one line, or gives what it gave before."""

from __future__ import annotations

import csv
import random
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from served import ROOT

from gnrs_ppl.calibration.weights import FROZEN, read_weights
from gnrs_ppl.cli import run
from gnrs_ppl.context.output import MANIFEST, write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.history.store import opened
from gnrs_ppl.inference.trace import load

RULE = """
rule:
  trigger: {act: place order, channel: orders, once: first}
  norm:
    bearer: {role: manager}
    constraints:
      - {template: response, target: approve order, deadline: P3D}
  evidence: {channels: [orders], operator: any}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log as CSV, SQLite and imported, a rule, its audit and a store of two runs."""
    folder = tmp_path_factory.mktemp("stores")
    rows = [("case_id", "activity", "timestamp", "role", "resource")]
    for n in range(40):
        day, late = 1 + n % 12, 3 + n % 5
        rows.append((f"order {n}", "place order", f"2024-03-{day:02}T09:00:00Z", "clerk", "Ada"))
        rows.append((f"order {n}", "approve order", f"2024-03-{day + late:02}T10:00:00Z", "manager", "Ben"))
    with (folder / "orders.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with sqlite3.connect(folder / "orders.sqlite") as database:
        database.execute("CREATE TABLE orders (case_id, activity, timestamp, role, resource)")
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", rows[1:])
    database.close()
    (folder / "rule.yaml").write_text(RULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(["import", "orders.csv", "--out", "orders"]) == 0
        audit = ["audit", "orders/context.yaml", "--rule", "rule.yaml"]
        assert run([*audit, "--out", "audited"]) == 1
        for _ in range(2):
            assert run([*audit, "--store", "store.duckdb"]) == 1
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One's own copy of it, to work in."""
    shutil.copytree(made, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    return tmp_path / "own"


def places(size: int, count: int) -> Iterator[int]:
    """Bits of a file: some of its first bytes, some of its last, some of all of it."""
    rng = random.Random(size)
    for n in range(count):
        first, last = ((0, min(size, 4096)), (max(size - 1024, 0), size), (0, size))[n % 3]
        yield rng.randrange(8 * first, 8 * last)


@contextmanager
def turned(path: Path, bit: int) -> Iterator[None]:
    """A file with one bit turned."""
    whole = path.read_bytes()
    changed = bytearray(whole)
    changed[bit // 8] ^= 1 << bit % 8
    path.write_bytes(changed)
    try:
        yield
    finally:
        path.write_bytes(whole)


AUDIT = ("audit", "orders/context.yaml", "--rule", "rule.yaml")
READERS: list[tuple[str, list[Sequence[str]], bool, int]] = [
    ("store.duckdb", [("history", "store.duckdb", "--json"), ("drift", "store.duckdb", "--json")], True, 18),
    ("store.duckdb", [(*AUDIT, "--store", "store.duckdb")], False, 9),
    ("orders/events.parquet", [(*AUDIT, "--json"), ("profile", "orders/context.yaml")], True, 9),
    ("orders/import.json", [("import", "orders.csv", "--out", "orders", "--update")], True, 6),
    ("orders/context.yaml", [AUDIT, ("lint", "orders/context.yaml")], False, 6),
    ("audited/audit.json", [("report", "audited", "--out", "page.html")], True, 9),
    ("audited/verdicts.csv", [("report", "audited", "--out", "page.html")], False, 6),
    ("rule.yaml", [AUDIT, ("compare", "rule.yaml", "rule.yaml")], False, 9),
    ("orders.sqlite", [("import", "orders.sqlite", "--out", "from-sqlite")], False, 6),
    ("orders.csv", [("import", "orders.csv", "--out", "from-csv")], False, 6),
]
"""A store, the verbs that read it, whether a checksum covers what they read, and how many bits are turned."""


@pytest.mark.parametrize(
    ("name", "verbs", "checked", "count"), READERS, ids=[f"{n}-{v[0][0]}" for n, v, _, _ in READERS]
)
def test_a_turned_bit_is_one_line_or_nothing(
    name: str, verbs: list[Sequence[str]], checked: bool, count: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    """No verb ends as by a fault of the program; where there is a checksum, none gives another table."""
    before = {}
    for verb in verbs:
        code = run([*verb])
        assert code in (0, 1), capsys.readouterr().err
        before[tuple(verb)] = code, capsys.readouterr().out
    refused = 0
    for bit in places((folder / name).stat().st_size, count):
        with turned(folder / name, bit):
            for verb in verbs:
                code = run([*verb])
                told = capsys.readouterr()
                assert code in (0, 1, 2, 3), (bit, verb, told.err)
                if code in (0, 1):
                    assert not checked or (code, told.out) == before[tuple(verb)], (bit, verb)
                else:
                    refused += 1
                    assert told.err.count("\n") == 1, (bit, verb, told.err)
                    assert "fault of the program" not in told.err
    assert refused or not checked


def test_every_block_of_a_store_is_checked_as_it_is_read(folder: Path) -> None:
    """A bit of a value that would still decode is found as well as any other."""
    path = folder / "store.duckdb"
    with opened(path) as connection:
        before = connection.execute("SELECT * FROM verdicts ORDER BY ALL").fetchall()
    content = path.read_bytes()
    words = [b"satisfied", b"violated", b"order 1", b"e000", b"proven", b"late"]
    bits = [8 * at for word in words if (at := content.find(word)) > 0]
    found = 0
    for bit in bits:
        with turned(path, bit):
            try:
                with opened(path) as connection:  # a block that no table uses any more is not read
                    assert connection.execute("SELECT * FROM verdicts ORDER BY ALL").fetchall() == before
            except InputError as error:
                found += "checksum" in str(error)
    assert found >= 2


def test_what_history_cannot_notice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who writes into a store by DuckDB leaves a whole store; the help and the page say so."""
    with duckdb.connect(folder / "store.duckdb") as connection:
        connection.execute("UPDATE verdicts SET verdict = 'satisfied'")
    assert run(["history", "store.duckdb"]) == 0
    said = "what somebody wrote into it by other means"
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "400")
        run(["history", "--help"])
    assert said in " ".join(capsys.readouterr().out.split())
    assert said in " ".join((ROOT / "docs" / "history.md").read_text().split())


def test_weights_and_draws_are_as_they_were_written(tmp_path: Path) -> None:
    """Also where they would still sum to one, at another temperature of the fit."""
    write_all(tmp_path, [("posterior.nc", b"draws" * 20)], manifest=True)
    with turned(tmp_path / "posterior.nc", 9), pytest.raises(InputError, match="not as it was written"):
        load(tmp_path / "posterior.nc")
    content = FROZEN.read_bytes()
    write_all(tmp_path, [("weights.json", content)], manifest=True)
    read_weights(tmp_path / "weights.json")
    for bit in places(len(content), 12):
        with turned(tmp_path / "weights.json", bit), pytest.raises(InputError, match="not as it was written"):
            read_weights(tmp_path / "weights.json")
    (tmp_path / MANIFEST).unlink()
    read_weights(tmp_path / "weights.json")
