"""Starts joined to their ends, against a queue in plain Python."""

from __future__ import annotations

import csv
import gzip
import random
from collections import Counter, deque
from pathlib import Path

import duckdb
import pytest
from test_import import columns_of, shared, write_csv

from gnrs_ppl.importing import import_source
from gnrs_ppl.importing.run import accounted


def pairs_by_hand(rows: list[dict[str, str]], keys: list[tuple[str, ...]]) -> dict[int, int]:
    """End -> start by row number: first come, first ended, pass after pass with less to agree in."""
    found: dict[int, int] = {}
    taken: set[int] = set()
    order = sorted(range(len(rows)), key=lambda i: (rows[i]["timestamp"], rows[i]["lifecycle"] != "start", i))
    for key in keys:
        waiting: dict[tuple[str, ...], deque[int]] = {}
        for i in order:
            row = rows[i]
            if i in taken or row["lifecycle"] not in ("start", "complete"):
                continue
            place = (row["case_id"], row["activity"], *(row[name] for name in key))
            if row["lifecycle"] == "start":
                waiting.setdefault(place, deque()).append(i)
            elif waiting.get(place):
                found[i] = waiting[place].popleft()
                taken |= {i, found[i]}
    return found


def work(chance: random.Random, count: int) -> list[dict[str, str]]:
    """Rows in which starts are missing, ends are missing, and acts overlap."""
    return [
        {
            "case_id": f"C{chance.randrange(6)}",
            "activity": chance.choice(["check ticket", "decide", "send letter"]),
            "timestamp": f"2024-03-{chance.randrange(1, 9):02d}T{chance.randrange(8, 18):02d}:00:00+01:00",
            "lifecycle": chance.choice(["start", "complete", "start", "complete", "suspend"]),
            "resource": chance.choice(["Ann", "Bob", ""]),
            "note": str(i),
        }
        for i in range(count)
    ]


@pytest.mark.parametrize("seed", range(6))
def test_starts_and_ends_are_joined_as_a_queue_would(seed: int, tmp_path: Path) -> None:
    rows = work(random.Random(seed), 300)
    by_hand = pairs_by_hand(rows, [("resource",), ()])
    done = import_source(
        write_csv(tmp_path / "work.csv", rows), tmp_path / "out", columns={"value": "", "event_id": ""}
    )
    kept = [row for row in rows if row["lifecycle"] == "complete"]
    assert (done.rows, done.joined) == (len(kept), len(by_hand))
    assert done.aside == 300 - len(kept) - len(by_hand)
    assert Counter(done.reasons) == Counter(
        f"{row['lifecycle']}, which is not the act done"
        for i, row in enumerate(rows)
        if row["lifecycle"] != "complete" and i not in by_hand.values()
    )
    made = duckdb.sql(
        f"""SELECT note, started, "start:note" FROM read_parquet('{tmp_path / "out" / "events.parquet"}')"""
    ).fetchall()
    assert {(int(end), begun) for end, _, begun in made if begun is not None} == {
        (end, begun) for end, begun in by_hand.items()
    }
    assert {int(end): began for end, began, _ in made if began} == {
        end: rows[begun]["timestamp"] for end, begun in by_hand.items()
    }
    assert (
        accounted(300, done.rows, done.joined, done.aside) in (tmp_path / "out" / "context.yaml").read_text()
    )


def test_a_number_of_the_act_goes_before_the_order_of_rows(tmp_path: Path) -> None:
    rows = [
        {"case_id": "C1", "activity": "check ticket", "timestamp": f"2024-03-0{day}", "lifecycle": state, "handling_id": number, "cost": cost}
        for day, state, number, cost in [(1, "Start", "7", "5"), (2, "Start", "8", ""), (3, "Complete", "8", ""), (4, "Complete", "7", "")]
    ]  # fmt: skip
    import_source(write_csv(tmp_path / "work.csv", rows), tmp_path / "out")
    made = duckdb.sql(
        f"SELECT handling_id, started, cost FROM read_parquet('{tmp_path / 'out' / 'events.parquet'}') ORDER BY 1"
    ).fetchall()
    assert made == [(7, "2024-03-01", "5"), (8, "2024-03-02", None)]


def test_a_log_that_knows_only_starts_keeps_them(tmp_path: Path) -> None:
    rows = work(random.Random(1), 60)
    rows = [row for row in rows if row["lifecycle"] != "complete"]
    done = import_source(write_csv(tmp_path / "work.csv", rows), tmp_path / "out")
    assert (done.rows, done.joined, done.aside) == (len(rows), 0, 0)


def test_patients_have_one_row_an_act(tmp_path: Path) -> None:
    path = shared("textbook/patients.csv.gz")
    rows = list(csv.DictReader(gzip.decompress(path.read_bytes()).decode().splitlines()))
    ends = [row for row in rows if row["registration_type"] == "complete"]
    starts = {row["handling_id"]: row["time"] for row in rows if row["registration_type"] == "start"}
    done = import_source(path, tmp_path / "out")
    assert (done.read, done.rows, done.joined, done.aside) == (len(rows), len(ends), len(starts), 0)
    assert columns_of(tmp_path / "out")[1]["started"] == 0
    made = duckdb.sql(
        f"SELECT handling_id::VARCHAR, time, started FROM read_parquet('{tmp_path / 'out' / 'events.parquet'}')"
    ).fetchall()
    assert set(made) == {(row["handling_id"], row["time"], starts[row["handling_id"]]) for row in ends}
