"""Tables of databases: what their times, references and rows become, in SQLite and over SQLAlchemy."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from test_import import context_of, events_of, shared, shop

from gnrs_ppl.cli import run
from gnrs_ppl.errors import InputError
from gnrs_ppl.importing import import_source
from gnrs_ppl.importing.phrases import singular

POSTGRES = os.environ.get("GNRS_POSTGRES")
"""Address of an empty PostgreSQL database the tests may fill."""

TRADE = [
    "CREATE TABLE employees (employee_id INTEGER PRIMARY KEY, last_name VARCHAR(40), title VARCHAR(40), birth_date TIMESTAMP)",
    "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, city VARCHAR(40), last_update TIMESTAMP)",
    "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(customer_id), "
    "employee_id INTEGER REFERENCES employees(employee_id), order_date TIMESTAMP, required_date TIMESTAMP, shipped_date TIMESTAMP)",
    "CREATE TABLE payments (payment_id INTEGER PRIMARY KEY, order_id INTEGER, amount NUMERIC(8,2), paid_at TIMESTAMP, approval_date TIMESTAMP)",
    "INSERT INTO employees VALUES (1, 'Ann', 'sales agent', '1980-01-01'), (2, 'Bob', 'sales manager', '1970-01-01')",
    *(f"INSERT INTO customers VALUES ({i}, 'City {i % 2}', '2024-06-01 00:00:00')" for i in range(1, 5)),
    *(
        f"INSERT INTO orders VALUES ({i}, {i % 4 + 1}, {i % 2 + 1}, '2024-03-{i:02d} 09:00:00', '2024-04-01 00:00:00', "
        + (f"'2024-03-{i + 2:02d} 10:00:00')" if i % 3 else "NULL)")
        for i in range(1, 21)
    ),
    *(
        f"INSERT INTO payments VALUES ({i + 100}, {i}, {i}.25, '2024-03-{i + 5:02d} 11:00:00', NULL)"
        for i in range(1, 16)
    ),
]  # fmt: skip
"""A small trade: orders ordered and shipped, payments that refer to orders by name only."""


def trade(path: Path) -> Path:
    db = sqlite3.connect(path)
    for statement in TRADE:
        db.execute(statement)
    db.commit()
    db.close()
    return path


def body(folder: Path) -> str:
    return (folder / "context.yaml").read_text().partition("\n")[2]


def test_each_time_of_a_table_is_an_act_and_what_a_row_refers_to_stands_beside_it(tmp_path: Path) -> None:
    done = import_source(trade(tmp_path / "trade.sqlite"), tmp_path / "out")
    found = events_of(tmp_path / "out")
    assert Counter(event[1] for event in found) == {"orders": 20, "orders shipped_date": 14, "payments": 15}
    assert Counter(event[5] for event in found) == {"orders": 34, "payments": 15}
    assert len({event[0] for event in found}) == 20 == done.counts["cases"]
    who = {event[0]: (event[3], event[4]) for event in found if event[1] == "orders"}
    assert who == {str(i): (str(i % 2 + 1), ("sales agent", "sales manager")[i % 2]) for i in range(1, 21)}
    actions = {
        action["name"]: action["phrase"] for action in context_of(tmp_path / "out")["schema"]["actions"]
    }
    assert actions == {
        "orders": "record the order",
        "orders shipped_date": "ship the order",
        "payments": "record the payment",
    }
    said = " ".join(done.said)
    assert "no times of acts: required_date" in said
    assert "customers" in said.partition("changed last")[2]


def test_a_case_may_be_told_as_table_or_column(tmp_path: Path) -> None:
    source = trade(tmp_path / "trade.sqlite")
    for case in ("customers", "customer_id"):
        done = import_source(source, tmp_path / case, case=case)
        assert done.counts["cases"] == 4
    with pytest.raises(InputError, match="no column or table 'customer'"):
        import_source(source, tmp_path / "other", case="customer")


@pytest.mark.parametrize("make", [trade, shop])
def test_a_database_behind_an_address_gives_what_its_file_gives(make, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="the sql extra is not installed")
    source = make(tmp_path / "source.sqlite")
    import_source(source, tmp_path / "file")
    done = import_source(f"sqlite:///{source}", tmp_path / "address")
    assert done.form == "sqlite tables"
    assert body(tmp_path / "file") == body(tmp_path / "address")
    assert events_of(tmp_path / "file") == events_of(tmp_path / "address")


@pytest.mark.skipif(POSTGRES is None, reason="GNRS_POSTGRES names no database")
def test_postgresql_gives_what_sqlite_gives(tmp_path: Path) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="the sql extra is not installed")
    engine = sqlalchemy.create_engine(str(POSTGRES).replace("postgresql:", "postgresql+pg8000:"))
    with engine.begin() as connection:
        for statement in ["DROP TABLE IF EXISTS payments, orders, customers, employees", *TRADE]:
            connection.execute(sqlalchemy.text(statement))
    engine.dispose()
    import_source(trade(tmp_path / "trade.sqlite"), tmp_path / "file")
    import_source(str(POSTGRES), tmp_path / "address")
    one, other = context_of(tmp_path / "file"), context_of(tmp_path / "address")
    assert one == other
    assert events_of(tmp_path / "file") == events_of(tmp_path / "address")


def test_addresses_that_lead_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sqlalchemy", reason="the sql extra is not installed")
    (tmp_path / "not.sqlite").write_text("nothing" * 400)
    for address, said in (
        (f"sqlite:///{tmp_path}/none.sqlite", "no such file"),
        (f"sqlite:///{tmp_path}/not.sqlite", "cannot be read"),
        ("klingon://u:secret@host/db", "has no driver here"),
        ("postgresql://u:secret@[::bad/db", "is no address"),
        ("postgresql://u:secret@127.0.0.1:1/db", "cannot be read"),
    ):
        assert run(["import", address, "--out", str(tmp_path / "out")]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert "secret" not in told
        assert len(told.splitlines()) == 1
        assert not (tmp_path / "out").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"not.sqlite"}


def test_chinook(tmp_path: Path) -> None:
    """One table has a time; who looks after a customer is read over two references."""
    path = shared("sqlschema/Chinook_Sqlite.sqlite")
    done = import_source(path, tmp_path / "out")
    assert (done.read, done.rows, done.counts["channels"], done.counts["cases"]) == (412, 412, 1, 59)
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    by_hand = db.execute(
        "SELECT CAST(i.CustomerId AS TEXT), CAST(c.SupportRepId AS TEXT), e.Title, i.Total FROM Invoice i "
        "JOIN Customer c USING (CustomerId) JOIN Employee e ON e.EmployeeId = c.SupportRepId"
    ).fetchall()
    db.close()
    found = [
        (case, who, role, float(value)) for case, _, _, who, role, _, value in events_of(tmp_path / "out")
    ]
    assert Counter(found) == Counter((c, w, r, float(v)) for c, w, r, v in by_hand)


@pytest.mark.parametrize(
    "name, one", [("Orders", "Order"), ("order_items", "order_item"), ("Addresses", "Address"), ("staff", "staff"), ("InvoiceLine", "InvoiceLine")]
)  # fmt: skip
def test_a_table_of_many_things(name: str, one: str) -> None:
    assert singular(name) == one


def test_the_record_of_an_import_holds_no_password(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy", reason="the sql extra is not installed")
    source = trade(tmp_path / "trade.sqlite")
    import_source(f"sqlite:///{source}?timeout=5", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "import.json").read_text())["source"] == "trade"
