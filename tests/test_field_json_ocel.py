"""JSON that is no line each, and object-centric logs as exporters write them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gnrs_ppl.errors import InputError
from gnrs_ppl.importing import Imported, import_source

ROWS: list[dict[str, Any]] = [
    {
        "case": "c1",
        "activity": "open order",
        "time": "2024-01-01T09:00:00Z",
        "who": {"name": "Ann"},
        "sum": 1.50,
    },
    {
        "case": "c1",
        "activity": "ship order",
        "time": "2024-01-02T09:00:00Z",
        "who": {"name": "Bob"},
        "sum": 2,
    },
]
ACTS = [("c1", "open order"), ("c1", "ship order")]
LONG = ROWS[0] | {"mail": "x" * 1_500_000}


def imported(tmp_path: Path, name: str, text: str, encoding: str = "utf-8") -> Imported:
    (tmp_path / name).write_text(text, encoding=encoding)
    return import_source(tmp_path / name, tmp_path / "out")


def cells(done: Imported, *names: str) -> list[tuple[Any, ...]]:
    wanted = ", ".join(f'"{name}"' for name in names)
    return duckdb.sql(f"SELECT {wanted} FROM read_parquet('{done.folder / 'events.parquet'}')").fetchall()


def lines(*rows: Any) -> str:
    return "\n".join(json.dumps(row) for row in rows)


DOCUMENTS: dict[str, tuple[str, list[tuple[str, str]], dict[str, int]]] = {
    "a list": (json.dumps(ROWS), ACTS, {}),
    "a list over lines": (json.dumps(ROWS, indent=2), ACTS, {}),
    "a list with other things in it": (json.dumps([*ROWS, 5, None, [1]]), ACTS, {"no JSON object": 3}),
    "an object with one list": (json.dumps({"made": {"by": "us"}, "n": [1, 2], "rows": ROWS}), ACTS, {}),
    "the same over lines": (json.dumps({"version": 1, "events": ROWS}, indent=1), ACTS, {}),
    "lines": (lines(*ROWS), ACTS, {}),
    "lines, the first of 1.5 MB": (lines(LONG, *ROWS), [ACTS[0], *ACTS], {}),
    "lines, the first too long": (lines(LONG | {"mail": "x" * 2_500_000}, *ROWS), ACTS, {"longer than 2,097,152 characters": 1}),
    "lines, the first torn": ('{"case": "c1",\n' + lines(*ROWS), ACTS, {"is not readable JSON": 1}),
    "one line": (lines(ROWS[0]), ACTS[:1], {}),
    "a mark first": ("\ufeff" + json.dumps(ROWS), ACTS, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_json_is_read_as_rows(tmp_path: Path, name: str) -> None:
    text, acts, aside = DOCUMENTS[name]
    done = imported(tmp_path, "log.json", text)
    assert cells(done, "case", "activity") == acts
    assert {reason.partition(":")[0]: count for reason, count in done.reasons.items()} == aside
    assert cells(done, "who.name")[0] == ("Ann",)


def test_json_in_utf_16_and_a_key_that_stands_twice(tmp_path: Path) -> None:
    assert cells(imported(tmp_path, "log.json", json.dumps(ROWS), "utf-16"), "case", "activity") == ACTS
    twice = json.dumps(ROWS).replace('"case"', '"case": "c0", "case"')
    done = imported(tmp_path, "twice.json", twice)
    assert "2 keys that stand twice in an object, the last value of which is taken" in done.said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            json.dumps({"a": ROWS, "b": ROWS}),
            "holds 2 lists of objects ('a', 'b'); give the one with the events",
        ),
        (json.dumps(ROWS)[:-9], "is not readable JSON"),
        ("[]", "has no rows that could be read"),
        ("[[1], 2]", "has no rows that could be read (no JSON object: 2)"),
        ('[{"a":' + '{"a":' * 5000 + "1" + "}" * 5001 + "]", "is not readable JSON"),
        (
            lines(ROWS[0] | {"mail": "x" * 9_000_000}, *ROWS),
            "give JSON Lines of at most 8,388,608 bytes each",
        ),
    ],
    ids=["two lists", "torn", "empty", "numbers", "deep", "a line of 9 MB"],
)
def test_json_without_rows_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        imported(tmp_path, "log.json", text)
    assert says in str(refused.value)


def test_a_heading_in_brackets_is_csv(tmp_path: Path) -> None:
    done = imported(
        tmp_path, "log.csv", "[case],activity,time\nc1,open order,2024-01-01\nc1,ship order,2024-01-02\n"
    )
    assert cells(done, "[case]", "activity") == ACTS


# OCEL


def ocel(path: Path, *edits: str) -> Path:
    """An object-centric log of three orders in SQLite, then changed by SQL."""
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(
            """CREATE TABLE event (ocel_id TEXT, ocel_type TEXT);
               CREATE TABLE object (ocel_id TEXT, ocel_type TEXT);
               CREATE TABLE event_object (ocel_event_id TEXT, ocel_object_id TEXT, ocel_qualifier TEXT);
               CREATE TABLE object_object (ocel_source_id TEXT, ocel_target_id TEXT, ocel_qualifier TEXT);
               CREATE TABLE event_map_type (ocel_type TEXT, ocel_type_map TEXT);
               CREATE TABLE object_map_type (ocel_type TEXT, ocel_type_map TEXT);
               INSERT INTO event_map_type VALUES ('place order', 'Place'), ('pay order', 'Pay');
               INSERT INTO object_map_type VALUES ('order', 'Order');
               CREATE TABLE event_Place (ocel_id TEXT, ocel_time TIMESTAMP, desk TEXT);
               CREATE TABLE event_Pay (ocel_id TEXT, ocel_time TIMESTAMP);
               CREATE TABLE object_Order (ocel_id TEXT, ocel_time TIMESTAMP, ocel_changed_field TEXT, price INTEGER);"""
        )
        for i in range(1, 4):
            base.execute("INSERT INTO object VALUES (?, 'order')", (f"o{i}",))
            base.execute("INSERT INTO object_Order VALUES (?, '1970-01-01 00:00:00', '', 50)", (f"o{i}",))
            base.execute(
                "INSERT INTO object_Order VALUES (?, '2026-01-15 00:00:00', 'price', ?)", (f"o{i}", 500 + i)
            )
            for kind, table, day in (("place", "Place", i), ("pay", "Pay", 20 + i)):
                base.execute("INSERT INTO event VALUES (?, ?)", (f"{kind}{i}", f"{kind} order"))
                base.execute("INSERT INTO event_object VALUES (?, ?, '')", (f"{kind}{i}", f"o{i}"))
                at = f"2026-01-{day:02d} 09:00:00"
                base.execute(
                    f"INSERT INTO event_{table} (ocel_id, ocel_time) VALUES (?, ?)", (f"{kind}{i}", at)
                )
        for edit in edits:
            base.executescript(edit)
    return path


NUMBERED = "UPDATE event SET ocel_type = CASE ocel_type WHEN 'place order' THEN '{0}1' ELSE '{0}2' END; UPDATE object SET ocel_type = '{0}7'"
WHOLE = [(f"o{i}", act) for i in range(1, 4) for act in ("place order", "pay order")]
TYPES: dict[str, tuple[list[str], tuple[str, str], str]] = {
    "names": ([], ("place order", "pay order"), ""),
    "numbers": ([NUMBERED.format("")], ("place order", "pay order"), "6 events that state no listed type, which their table tells"),
    "other signs": ([NUMBERED.format("ET_")], ("place order", "pay order"), "6 events that state no listed type"),
    "names of tables": (["UPDATE event SET ocel_type = CASE ocel_type WHEN 'place order' THEN 'Place' ELSE 'Pay' END"], ("place order", "pay order"), ""),
    "numbers that are listed": ([NUMBERED.format(""), "DELETE FROM event_map_type; INSERT INTO event_map_type VALUES ('1', 'Place'), ('2', 'Pay'); UPDATE object_map_type SET ocel_type = '7'"], ("Place", "Pay"), ""),
    "nothing listed": (["DELETE FROM event_map_type; DELETE FROM object_map_type"], ("place order", "pay order"), "2 tables of events that event_map_type does not list, which name their type: event_Place, event_Pay"),
    "numbers and no list": ([NUMBERED.format(""), "DROP TABLE event_map_type; DROP TABLE object_map_type"], ("Place", "Pay"), "2 tables of events that event_map_type does not list"),
    "no type stated": (["UPDATE event SET ocel_type = NULL"], ("place order", "pay order"), "6 events that state no listed type"),
    "a type without objects": (["INSERT INTO object_map_type VALUES ('user', 'User'); CREATE TABLE object_User (ocel_id TEXT, ocel_time TIMESTAMP)"], ("place order", "pay order"), "declared, and of no object: 'user'"),
    "columns in another order": (["DROP TABLE event_map_type; CREATE TABLE event_map_type (ocel_type_map TEXT, ocel_type TEXT); INSERT INTO event_map_type VALUES ('Place', 'place order'), ('Pay', 'pay order')"], ("place order", "pay order"), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_the_table_of_an_event_names_its_type(tmp_path: Path, name: str) -> None:
    edits, (placed, paid), says = TYPES[name]
    done = import_source(ocel(tmp_path / "log.sqlite", *edits), tmp_path / "out")
    named = {"place order": placed, "pay order": paid}
    assert sorted(cells(done, "case:id", "ocel:type")) == sorted((case, named[act]) for case, act in WHOLE)
    assert not done.reasons
    assert any(line.startswith(says) for line in done.said)
    assert "name: order" in (tmp_path / "out" / "context.yaml").read_text().lower()


@pytest.mark.parametrize("edit", ["DROP TABLE event_Pay", "DELETE FROM event_Pay"])
def test_a_table_of_a_type_that_is_missing_or_empty_is_told(tmp_path: Path, edit: str) -> None:
    done = import_source(ocel(tmp_path / "log.sqlite", edit), tmp_path / "out")
    assert cells(done, "ocel:type") == [("place order",)] * 3
    assert list(done.reasons.values()) == [3]
    assert "3 events that stand in no table of a type, which would say their time" in done.said
    assert any("'pay order' (event_Pay)" in line for line in done.said) == edit.startswith("DROP")


AS_OF: dict[str, tuple[list[tuple[str, Any]], str, tuple[Any, Any]]] = {
    "changed between": ([("1970-01-01T00:00:00Z", 50), ("2026-03-02T00:00:00Z", 501)], "2026-03-01T09:00:00Z", (50, 501)),
    "listed backwards": ([("2026-03-02T00:00:00Z", 501), ("1970-01-01T00:00:00Z", 50)], "2026-03-01T09:00:00Z", (50, 501)),
    "set later": ([("2026-03-02T00:00:00Z", 501)], "2026-03-01T09:00:00Z", (None, 501)),
    "at the same instant": ([("1970-01-01T00:00:00Z", 50), ("2026-03-01T10:00:00+01:00", 501)], "2026-03-01T09:00:00Z", (501, 501)),
    "twice at one instant": ([("1970-01-01T00:00:00Z", 500), ("1970-01-01T00:00:00Z", 50)], "2026-03-01T09:00:00Z", (50, 50)),
    "without a time": ([("", 50), ("2026-03-02T00:00:00Z", 501)], "2026-03-01T09:00:00Z", (50, 501)),
    "days first": ([("1970-01-01T00:00:00Z", 50), ("02/03/2026 00:00", 501), ("25/03/2026 00:00", 9)], "01/03/2026 09:00", (50, 501)),
}  # fmt: skip


@pytest.mark.parametrize("name", AS_OF)
def test_a_value_is_that_as_of_the_event(tmp_path: Path, name: str) -> None:
    values, placed, expected = AS_OF[name]
    approved = placed.replace("01/03", "21/03").replace("-03-01", "-03-21")
    ties = [{"objectId": "o1", "qualifier": ""}]
    log = {
        "objectTypes": [{"name": "order"}],
        "eventTypes": [{"name": "place order"}, {"name": "approve order"}],
        "objects": [{"id": "o1", "type": "order", "attributes": [{"name": "price", "time": at, "value": value} for at, value in values]}],
        "events": [
            {"id": "1", "type": "place order", "time": placed, "relationships": ties},
            {"id": "2", "type": "approve order", "time": approved, "relationships": ties},
        ],
    }  # fmt: skip
    assert (
        tuple(price for (price,) in cells(imported(tmp_path, "log.json", json.dumps(log)), "case:price"))
        == expected
    )
