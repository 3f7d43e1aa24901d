"""Every importer against counts made another way, the context it makes, and what a second import keeps."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sqlite3
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import duckdb
import pytest
import yaml

import gnrs_ppl as gnrs
from gnrs_ppl.cli import run
from gnrs_ppl.context.types import Calendar, PublicHolidays
from gnrs_ppl.errors import InputError
from gnrs_ppl.importing import import_source
from gnrs_ppl.importing.derive import role_phrase
from gnrs_ppl.importing.phrases import phrase_of
from gnrs_ppl.importing.times import read_times, zone_named

SHARED = Path(os.environ.get("GNRS_EVENTLOGS", Path(__file__).parents[2] / "shared" / "eventlogs"))

ROWS = [
    {"case_id": f"C{case}", "activity": act, "timestamp": f"2024-03-{day + case % 9:02d}T{9 + hour:02d}:30:00+01:00", "org:resource": who, "org:role": role, "cost": cost}
    for case in range(12)
    for act, day, hour, who, role, cost in [
        ("register request", 1, 0, "Ann", "clerk", "10"),
        ("check ticket", 2, 1, "Bob", "checker", "20.5"),
        ("decide", 4, 2, "Sue" if case % 3 else "UNKNOWN", "manager", ""),
        ("Order Shipped", 5, 3, "Ann", "clerk", "7"),
    ]
]  # fmt: skip
"""Twelve cases of four acts; four of the resources stand for nobody."""


def write_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    target = io.StringIO(newline="")
    writer = csv.DictWriter(target, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    data = target.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def write_json_lines(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text(
        "".join(json.dumps({key: value for key, value in row.items() if value}) + "\n" for row in rows)
    )
    return path


def write_parquet(path: Path, rows: list[dict[str, str]]) -> Path:
    source = write_csv(path.with_suffix(".for-parquet.csv"), rows)
    duckdb.sql(f"COPY (SELECT * FROM read_csv('{source}', all_varchar = true)) TO '{path}' (FORMAT parquet)")
    source.unlink()
    return path


XES_NAMES = {"case_id": "case:concept:name", "activity": "concept:name", "timestamp": "time:timestamp"}


def write_xes(path: Path, rows: list[dict[str, str]]) -> Path:
    kinds = {"time:timestamp": "date", "cost": "float"}
    traces: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        traces.setdefault(row["case:concept:name"], []).append(row)
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<log xes.version="1.0" xmlns="http://www.xes-standard.org/">\n'
    text += '<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>\n'
    text += '<global scope="event"><string key="concept:name" value="name"/></global>\n'
    for case, events in traces.items():
        text += f"<trace><string key='concept:name' value='{case}'/>\n"
        for event in events:
            text += "<event>" + "".join(
                f"<{kinds.get(key, 'string')} key={quoteattr(key)} value={quoteattr(value)}/>"
                for key, value in event.items()
                if value and not key.startswith("case:")
            )
            text += "</event>\n"
        text += "</trace>\n"
    data = (text + "</log>\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def context_of(folder: Path) -> dict:
    return yaml.safe_load((folder / "context.yaml").read_text())


def events_of(folder: Path) -> list[tuple]:
    log = gnrs.load_context(str(folder / "context.yaml")).log
    return log.connection.execute(
        'SELECT case_id, activity, "timestamp", resource, role, channel, value FROM events ORDER BY ALL'
    ).fetchall()


def test_a_csv_file_becomes_a_context_that_works_at_once(tmp_path: Path) -> None:
    done = import_source(write_csv(tmp_path / "desk.csv", ROWS), tmp_path / "out")
    assert (done.read, done.rows, done.aside) == (48, 48, 0)
    assert {c: name for c, (name, _, _) in done.columns.items()} == {
        "case_id": "case_id", "activity": "activity", "timestamp": "timestamp", "resource": "org:resource", "role": "org:role", "value": "cost",
    }  # fmt: skip
    assert done.counts == {
        "cases": 12,
        "actions": 4,
        "roles": 3,
        "locations": 0,
        "objects": 0,
        "channels": 1,
        "attributes": 1,
    }
    made = context_of(tmp_path / "out")
    assert made["records"]["case_start"] == ["register request"]
    assert made["records"]["case_end"] == ["Order Shipped"]
    actions = {action["name"]: action for action in made["schema"]["actions"]}
    assert actions["Order Shipped"] == {
        "name": "Order Shipped",
        "phrase": "ship the order",
        "noun": "shipping of the order",
        "roles": ["clerk"],
    }
    assert Counter(event[3] for event in events_of(tmp_path / "out")) == {
        "Ann": 24,
        "Bob": 12,
        "Sue": 8,
        None: 4,
    }
    text = (tmp_path / "out" / "context.yaml").read_text()
    assert text.count("guessed 0") + text.count("guessed 1") == sum(done.guesses.values())


def test_the_same_log_in_any_format_gives_the_same_context(tmp_path: Path) -> None:
    order = ["concept:name", "time:timestamp", "org:resource", "org:role", "cost", "case:concept:name"]
    named = [{XES_NAMES.get(key, key): value for key, value in row.items()} for row in ROWS]
    rows = [{key: row[key] for key in order} for row in named]
    contexts, events = [], []
    for name, write in (
        ("desk.csv", write_csv), ("desk.csv.gz", write_csv), ("desk.parquet", write_parquet), ("desk.jsonl", write_json_lines),
        ("desk.xes", write_xes), ("desk.xes.gz", write_xes),
    ):  # fmt: skip
        import_source(write(tmp_path / name, rows), tmp_path / f"{name}-out")
        contexts.append((tmp_path / f"{name}-out" / "context.yaml").read_text().partition("\n")[2])
        events.append(events_of(tmp_path / f"{name}-out"))
    assert all(text == contexts[0] for text in contexts)
    assert all(found == events[0] for found in events)


def test_rows_that_cannot_be_used_are_listed(tmp_path: Path) -> None:
    source = write_csv(
        tmp_path / "desk.csv",
        [*ROWS, ROWS[0] | {"case_id": ""}, ROWS[0] | {"timestamp": "soon"}, ROWS[0] | {"activity": ""}],
    )
    with source.open("a") as file:
        file.write("C1,decide\n\n")
    done = import_source(source, tmp_path / "out")
    assert (done.read, done.rows, done.aside) == (53, 48, 5)
    listed = list(csv.DictReader((tmp_path / "out" / "set-aside.csv").read_text().splitlines()))
    assert len(listed) == 5
    assert Counter(row["reason"] for row in listed) == done.reasons
    assert {row["row"] for row in listed} == {"49", "50", "51", "52", ""}


def test_a_second_import_keeps_what_was_changed(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "desk.csv", ROWS)
    import_source(source, tmp_path / "out")
    place = tmp_path / "out" / "context.yaml"
    text = (
        place.read_text()
        .replace("phrase: ship the order", "phrase: hand over the parcel")
        .replace("closed_world: true", "closed_world: false")
    )
    place.write_text(text.replace("schema:", "# read twice\nschema:"))
    with pytest.raises(InputError, match="was changed by hand"):
        import_source(source, tmp_path / "out")
    write_csv(source, [*ROWS, ROWS[0] | {"activity": "close file"}])
    done = import_source(source, tmp_path / "out", update=True)
    assert set(done.kept) == {"schema.actions.Order Shipped.phrase", "records.channels.desk.closed_world"}
    made = context_of(tmp_path / "out")
    assert [
        a.get("phrase") for a in made["schema"]["actions"] if a["name"] in ("Order Shipped", "close file")
    ] == [
        "close the file",
        "hand over the parcel",
    ]
    assert made["records"]["channels"][0]["closed_world"] is False
    assert "# read twice\nschema:" in place.read_text()
    assert done.rows == 49
    again = import_source(source, tmp_path / "out", update=True)
    assert set(again.kept) == set(done.kept)


def test_a_log_of_an_office_suggests_its_calendar(tmp_path: Path) -> None:
    def logged(name: str, weekend: bool) -> list[str]:
        at, rows = datetime(2024, 3, 4, 9), list[dict[str, str]]()
        for n in range(400):
            at += timedelta(hours=1 if weekend or at.hour < 16 else 17)
            if at.weekday() > 4 and not weekend:
                at += timedelta(days=7 - at.weekday())
            rows.append({"case_id": f"c{n // 4}", "activity": "ABCD"[n % 4], "timestamp": at.isoformat()})
        import_source(write_csv(tmp_path / f"{name}.csv", rows), tmp_path / name)
        text = (tmp_path / name / "context.yaml").read_text()
        return [line.strip("# ") for line in text.splitlines() if line.strip().startswith("# calendar:")]

    assert logged("always", True) == []
    (line,) = logged("office", False)
    suggested = yaml.safe_load(line.partition("  (")[0].replace("??", "NL"))["calendar"]
    assert Calendar.model_validate(suggested) == Calendar(
        hours=("09:00-17:00",), holidays=PublicHolidays(country="NL")
    )


def test_times_of_other_countries(tmp_path: Path) -> None:
    assert (
        read_times(["03/04/2024 10:00", "25/04/2024 11:30"]).written["03/04/2024 10:00"]
        == "2024-04-03T10:00:00"
    )
    assert (
        read_times(["03/04/2024 1:05 PM", "04/25/2024 11:30 AM"]).written["03/04/2024 1:05 PM"]
        == "2024-03-04T13:05:00"
    )
    assert [taken.guess for taken in read_times(["03/04/2024"]).taken] == [True]
    assert read_times(["1714000000", "2019/11/03 01:11:19.000", "24 Mar 2024", "soon", "31.02.2024"]).written == {
        "1714000000": "2024-04-24T23:06:40+00:00", "2019/11/03 01:11:19.000": "2019-11-03T01:11:19", "24 Mar 2024": "2024-03-24", "soon": None, "31.02.2024": None,
    }  # fmt: skip
    amsterdam = zone_named("Europe/Amsterdam")
    assert read_times(["2024-01-05 10:00", "2024-07-05T08:00:00Z"], amsterdam).written == {
        "2024-01-05 10:00": "2024-01-05T10:00:00+01:00",
        "2024-07-05T08:00:00Z": "2024-07-05T10:00:00+02:00",
    }
    for name in ("Nowhere/Such", "../../etc/passwd", ""):
        with pytest.raises(InputError, match="is no time zone"):
            zone_named(name)


@pytest.mark.parametrize(
    "name, verb, noun",
    [
        ("check ticket", "check the ticket", "check of the ticket"),
        ("Confirmation of receipt", "confirm the receipt", "confirmation of the receipt"),
        (
            "T02 Check confirmation of receipt",
            "check the confirmation of receipt",
            "check of the confirmation of receipt",
        ),
        ("package delivered", "deliver the package", "delivery of the package"),
        ("Blood test", "carry out the blood test", "blood test"),
        ("reinitiate request", "reinitiate the request", "reinitiating of the request"),
        ("Assigned to specialist", "assign to the specialist", "assignment to the specialist"),
        ("Payment", "pay", "payment"),
        ("failed delivery", "record the failed delivery", "failed delivery"),
        ("item out of stock", "record the item out of stock", "item out of stock"),
        ("MRI SCAN", "carry out the MRI scan", "MRI scan"),
        (
            "Declaration SUBMITTED by EMPLOYEE",
            "submit the declaration as employee",
            "submission of the declaration by employee",
        ),
        ("Vendor creates invoice", "create the invoice as vendor", "creation of the invoice by vendor"),
        ("ä" * 200, "", ""),
        ("unless, within", "", ""),
        ("???", "", ""),
    ],
)
def test_phrases(name: str, verb: str, noun: str) -> None:
    assert phrase_of(name)[:2] == (verb, noun)


def test_things_done_together_are_known_by_each_name() -> None:
    assert phrase_of("Triage and Assessment").aliases == ("triage", "assessment")
    assert phrase_of("Print and send letter").aliases == ("print the letter", "send the letter")


@pytest.mark.parametrize(
    "role, words",
    [
        ("Sales", "sales employee"), ("Shipment", "shipment employee"), ("Group 7", "group 7 member"), ("HR", "HR employee"),
        ("Manager", "manager"), ("clerk", None), ("nursing assistant", None), ("Aa" * 100, None),
    ],
)  # fmt: skip
def test_a_department_is_spoken_of_by_one_who_works_there(role: str, words: str | None) -> None:
    assert role_phrase(role).get("phrase") == words


def test_names_that_cannot_be_duty_lines_still_give_a_context_that_can_be_spoken(tmp_path: Path) -> None:
    acts = [
        "send fine",
        "Send Fine",
        "send_fine",
        "SEND FINE",
        "a",
        "A",
        "must not",
        "”",
        "no. 1: it's",
        "Pay the fine",
        "pay fine",
        "日本語",
        "-" * 200,
    ]
    rows = [ROWS[i % 4] | {"activity": act, "case_id": f"C{i % 3}"} for i, act in enumerate(acts * 3)]
    done = import_source(write_csv(tmp_path / "desk.csv", rows), tmp_path / "out")
    assert done.counts["actions"] == len(acts)
    from gnrs_ppl.realize.lexicon import Lexicon

    loaded = gnrs.load_context(str(tmp_path / "out" / "context.yaml"))
    Lexicon.of(loaded.schema, loaded.records)


def test_the_verb_says_what_it_did_and_what_to_type_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "desk.csv", ROWS)
    assert run(["import", "desk.csv", "--column", "value="]) == 0
    out = capsys.readouterr().out
    assert "48 rows read = 48 imported + 0 set aside" in out
    assert "gnrs draft desk/context.yaml --out rule" in out
    assert run(["import", "desk.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["imported"] == 48
    for arguments, said in (
        (["--column", "role"], "is not NAME=COLUMN"),
        (["--column", "rôle=org:role"], "is no column of the event table"),
        (["--column", "role=org:rol"], "did you mean 'org:role'"),
        (["--case", "nothing"], "no column 'nothing'"),
        (["--zone", "Mars/Olympus"], "is no time zone"),
    ):
        assert run(["import", "desk.csv", "--out", "other", *arguments]) == 2
        assert said in capsys.readouterr().err
        assert not (tmp_path / "other").exists()


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    return path


def columns_of(folder: Path) -> tuple[int, dict[str, int]]:
    """Rows of the Parquet file, and the empty cells of each column."""
    connection = duckdb.connect()
    source = f"read_parquet('{folder / 'events.parquet'}')"
    names = [row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]
    rows, *nulls = connection.execute(
        "SELECT count(*), " + ", ".join(f'count(*) - count("{name}")' for name in names) + f" FROM {source}"
    ).fetchall()[0]
    return rows, dict(zip(names, nulls, strict=True))


@pytest.mark.parametrize(
    "name",
    [
        "textbook/running-example.xes",
        "real/receipt.xes.gz",
        "real/roadtraffic100traces.xes",
        "messy/10_orders.xes.gz",
    ],
)
def test_xes_against_a_plain_pass_over_the_elements(name: str, tmp_path: Path) -> None:
    path = shared(name)
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    filled: Counter[str] = Counter()
    events = cases = 0
    for trace in ElementTree.fromstring(data).iter():
        if trace.tag.endswith("trace"):
            own = [
                child.get("key") for child in trace if not child.tag.endswith("event") and child.get("value")
            ]
            found = [event for event in trace if event.tag.endswith("event")]
            cases += bool(found)
            events += len(found)
            filled.update({f"case:{key}": len(found) for key in own})
            filled.update(child.get("key") for event in found for child in event if child.get("value"))
    done = import_source(path, tmp_path / "out")
    assert (done.read, done.rows, done.counts["cases"]) == (events, events, cases)
    rows, nulls = columns_of(tmp_path / "out")
    assert rows == events
    assert {key: events - nulls[key] for key in filled} == dict(filled)


@pytest.mark.parametrize("name", ["textbook/running-example.csv", "real/traffic_fines.csv.gz"])
def test_csv_against_a_count_with_the_csv_module(name: str, tmp_path: Path) -> None:
    path = shared(name)
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    done = import_source(path, tmp_path / "out")
    assert (done.read, done.rows) == (len(rows), len(rows))
    assert done.counts["cases"] == len({row[done.columns["case_id"][0]] for row in rows})
    count, nulls = columns_of(tmp_path / "out")
    assert count == len(rows)
    for column in rows[0]:
        assert nulls[column or "column 1"] == sum(not row[column] for row in rows), column


def test_an_imported_log_is_the_one_made_by_hand(tmp_path: Path) -> None:
    """Receipt as tools/convert_logs.py writes it, and as it is imported: the same event table, so the same
    verdict of any rule."""
    path = shared("real/receipt.xes.gz")
    import_source(path, tmp_path / "receipt")
    rows = []
    for trace in ElementTree.fromstring(gzip.decompress(path.read_bytes())):
        if trace.tag.endswith("trace"):
            case = next(child.get("value") for child in trace if child.get("key") == "concept:name")
            for event in trace:
                if event.tag.endswith("event"):
                    cells = {child.get("key"): child.get("value") or "" for child in event}
                    group = cells.get("org:group", "")
                    rows.append(
                        {
                            "case_id": case or "",
                            "activity": cells["concept:name"],
                            "timestamp": cells["time:timestamp"],
                            "resource": cells.get("org:resource", ""),
                            "role": "" if group == "EMPTY" else group,
                        }
                    )
    write_csv(tmp_path / "by-hand.csv", rows)
    context = str(tmp_path / "receipt" / "context.yaml")
    made = gnrs.load_context(context)
    by_hand = gnrs.context.RecordLayer(constants={"channel": "receipt"}, channels=made.records.channels)
    logs = [made.log, gnrs.read_log(tmp_path / "by-hand.csv", by_hand)]
    columns = 'case_id, activity, "timestamp", resource, role, channel'
    tables = [
        log.connection.execute(f"SELECT {columns} FROM events ORDER BY event_id").fetchall() for log in logs
    ]
    assert tables[0] == tables[1]


XES = '<?xml version="1.0"?>{}<log><trace><event>{}</event></trace></log>'
EVENT = '<string key="concept:name" value="pay"/><date key="time:timestamp" value="2024-01-01T00:00:00Z"/>'
BOMB = "<!DOCTYPE log [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>"


def test_what_xes_leaves_out_is_told(tmp_path: Path) -> None:
    text = XES.format(
        "",
        EVENT
        + '<list key="many"><values><string key="one" value="1"><int key="in" value="2"/></string></values></list><string/>',
    )
    text = text.replace("</log>", f"<event>{EVENT}</event><trace/></log>")
    (tmp_path / "log.xes").write_text(text)
    done = import_source(tmp_path / "log.xes", tmp_path / "out")
    assert (done.read, done.rows, done.aside) == (2, 1, 1)
    _, nulls = columns_of(tmp_path / "out")
    assert {"many.one", "many.one.in"} <= set(nulls)
    assert any("without key, value or a type" in line for line in done.said)
    assert any("traces without events" in line for line in done.said)


MODEL = """<?xml version="1.0"?><definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">
<collaboration id="c"><participant id="p" name="Shop" processRef="main"/></collaboration>
<process id="main"><laneSet id="l"><lane id="l1" name="Clerk"><flowNodeRef>t1</flowNodeRef>
<childLaneSet id="l2"><lane id="l3" name="Chief"><flowNodeRef>t2</flowNodeRef></lane></childLaneSet></lane></laneSet>
<startEvent id="s"/><task id="t1" name="register&#10;order"/><userTask id="t2" name="check order"/><sendTask id="t3" name="send parcel"/><task id="t4"/>
<exclusiveGateway id="g"/><sequenceFlow id="f0" sourceRef="s" targetRef="t1"/><sequenceFlow id="f1" sourceRef="t1" targetRef="g"/>
<sequenceFlow id="f2" sourceRef="g" targetRef="t2"/><sequenceFlow id="f3" sourceRef="g" targetRef="g"/><sequenceFlow id="f4" sourceRef="t2" targetRef="t3"/>
<sequenceFlow id="f5" sourceRef="t3" targetRef="nowhere"/></process></definitions>"""

BAD = {
    "empty.csv": b"",
    "header.csv": b"case_id,activity,timestamp\n",
    "latin.csv": "case_id,activity,timestamp\n1,dépôt,2024-01-01\n".encode("latin-1"),
    "nul.csv": b"case_id,activity,timestamp\n1,a\0b,2024-01-01\n",
    "twice.csv": b"case_id,case_id,activity,timestamp\n1,1,a,2024-01-01\n",
    "no_time.csv": b"case_id,activity\n1,a\n",
    "torn.csv.gz": gzip.compress(b"case_id,activity,timestamp\n1,pay,2024-01-01\n" * 100)[:-9],
    "not.csv.gz": b"\x1f\x8bnothing",
    "not.parquet": b"PAR1 nothing PAR1",
    "bomb.xes": XES.format(BOMB, EVENT.replace("pay", "&b;")).encode(),
    "bomb16.xes": XES.format(BOMB, EVENT).replace("1.0", "1.0").encode("utf-16"),
    "outside.xes": XES.format(
        '<!DOCTYPE log [<!ENTITY a SYSTEM "file:///etc/hostname">]>', EVENT.replace("pay", "&a;")
    ).encode(),
    "dtd.xes": XES.format('<!DOCTYPE log SYSTEM "http://example.org/log.dtd">', EVENT).encode(),
    "undeclared.xes": XES.format("", EVENT.replace("pay", "&nbsp;")).encode(),
    "torn.xes": XES.format("", EVENT).encode()[:-30],
    "torn.xes.gz": gzip.compress(XES.format("", EVENT * 500).encode())[:-20],
    "encoding.xes": XES.format("", EVENT).replace('"1.0"', '"1.0" encoding="klingon"').encode(),
    "bytes.xes": XES.format("", EVENT).encode().replace(b"pay", b"p\xe4y"),
    "deep.xes": (b"<log>" + b"<trace>" * 300 + b"</trace>" * 300 + b"</log>"),
    "other.xml": b"<html><body/></html>",
    "zeros.xes.gz": gzip.compress(b"<log>" + b"\0" * 10_000_000),
    "spaces.xes.gz": gzip.compress(b"<log><trace>" + b" " * 80_000_000),
    "zip.zip": b"PK\x03\x04" + bytes(40),
    "deep.json": b'{"events": [' + b"[" * 100_000,
    "ocel1.json": b'{"ocel:events": {"1": {}}, "ocel:objects": {}}',
    "no_events.json": b'{"objectTypes": [], "eventTypes": [],\n "objects": [], "events": []}',
    "torn.sqlite": b"SQLite format 3\0" + bytes(80),
    "no_tasks.bpmn": MODEL.replace("ask", "usk").encode(),
    "no_rows.jsonl": b'{"a": \n[1]\n{{{\n',
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_nothing_written(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(BAD[name])
    assert run(["import", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


OCEL = {
    "objectTypes": [{"name": "orders", "attributes": [{"name": "price", "type": "float"}]}, {"name": "items", "attributes": []}, {"name": "employees", "attributes": []}],
    "eventTypes": [{"name": name, "attributes": []} for name in ("place order", "pick item", "send order", "pay order")],
    "objects": [
        {"id": f"o{i}", "type": "orders", "attributes": [{"name": "price", "time": "1970-01-01T00:00:00Z", "value": 5}, {"name": "price", "time": "2024-02-01T00:00:00Z", "value": 7}],
         "relationships": [{"objectId": f"i{i}", "qualifier": "comprises"}]}
        for i in range(6)
    ] + [{"id": f"i{i}", "type": "items", "relationships": [{"objectId": f"o{i}", "qualifier": "in"}, {"objectId": "gone", "qualifier": "?"}]} for i in range(6)]
      + [{"id": "Ann", "type": "employees", "attributes": [{"name": "role", "time": "1970-01-01T00:00:00Z", "value": "packer"}]}],
    "events": [
        event
        for i in range(6)
        for event in (
            {"id": f"a{i}", "type": "place order", "time": f"2024-01-0{i + 1}T09:00:00Z", "relationships": [{"objectId": f"o{i}", "qualifier": "order"}]},
            {"id": f"b{i}", "type": "pick item", "time": f"2024-01-1{i}T09:00:00Z", "attributes": [{"name": "shelf", "value": "A"}],
             "relationships": [{"objectId": f"i{i}", "qualifier": "item"}, {"objectId": "Ann", "qualifier": "packer"}]},
            {"id": f"c{i}", "type": "send order", "time": f"2024-02-1{i}T09:00:00Z", "relationships": [{"objectId": f"o{i}", "qualifier": "order"}, {"objectId": "Ann", "qualifier": "sender"}]},
        )
    ] + [{"id": "x", "type": "send order", "time": "2024-03-01T00:00:00Z", "relationships": []}, {"id": "a0", "type": "place order", "time": "2024-03-01T00:00:00Z"}],
}  # fmt: skip


def write_ocel_json(path: Path) -> Path:
    path.write_text(json.dumps(OCEL, indent=1))
    return path


def write_ocel_xml(path: Path) -> Path:
    root = ElementTree.Element("log")
    for what in ("object", "event"):
        types = ElementTree.SubElement(root, f"{what}-types")
        for entry in OCEL[f"{what}Types"]:
            ElementTree.SubElement(types, f"{what}-type", name=entry["name"])
    for what in ("object", "event"):
        holder = ElementTree.SubElement(root, f"{what}s")
        for entry in OCEL[f"{what}s"]:
            one = ElementTree.SubElement(
                holder, what, {key: entry[key] for key in ("id", "type", "time") if key in entry}
            )
            attributes = ElementTree.SubElement(one, "attributes")
            for value in entry.get("attributes", []):
                ElementTree.SubElement(
                    attributes, "attribute", {key: value[key] for key in ("name", "time") if key in value}
                ).text = str(value["value"])
            ties = ElementTree.SubElement(one, "objects")
            for tie in entry.get("relationships", []):
                ElementTree.SubElement(
                    ties, "relationship", {"object-id": tie["objectId"], "qualifier": tie["qualifier"]}
                )
    path.write_bytes(ElementTree.tostring(root))
    return path


def write_ocel_sqlite(path: Path) -> Path:
    db = sqlite3.connect(path)
    db.executescript(
        "CREATE TABLE event (ocel_id TEXT, ocel_type TEXT); CREATE TABLE object (ocel_id TEXT, ocel_type TEXT);"
        "CREATE TABLE event_map_type (ocel_type TEXT, ocel_type_map TEXT); CREATE TABLE object_map_type (ocel_type TEXT, ocel_type_map TEXT);"
        "CREATE TABLE event_object (ocel_event_id TEXT, ocel_object_id TEXT, ocel_qualifier TEXT);"
        "CREATE TABLE object_object (ocel_source_id TEXT, ocel_target_id TEXT, ocel_qualifier TEXT);"
    )
    for what in ("event", "object"):
        for entry in OCEL[f"{what}Types"]:
            name = entry["name"].replace(" ", "")
            db.execute(f"INSERT INTO {what}_map_type VALUES (?, ?)", (entry["name"], name))
            db.execute(
                f'CREATE TABLE "{what}_{name}" (ocel_id TEXT, ocel_time TEXT, ocel_changed_field TEXT, price TEXT, role TEXT, shelf TEXT)'
            )
        for entry in OCEL[f"{what}s"]:
            db.execute(f"INSERT INTO {what} VALUES (?, ?)", (entry["id"], entry["type"]))
            table = f'"{what}_{entry["type"].replace(" ", "")}"'
            values = entry.get("attributes") or [{"name": "role", "value": None}]
            for value in values:
                if entry["id"] != "a0" or entry["time"] < "2024-02":
                    at = entry.get("time") or value.get("time")
                    db.execute(
                        f'INSERT INTO {table} (ocel_id, ocel_time, "{value["name"]}") VALUES (?, ?, ?)',
                        (entry["id"], at, value["value"]),
                    )
            for tie in entry.get("relationships", []):
                db.execute(
                    f"INSERT INTO {'event_object' if what == 'event' else 'object_object'} VALUES (?, ?, ?)",
                    (entry["id"], tie["objectId"], tie["qualifier"]),
                )
    db.commit()
    db.close()
    return path


def test_ocel_in_three_formats_gives_the_same_context(tmp_path: Path) -> None:
    contexts, events = [], []
    for name, write in (
        ("log.json", write_ocel_json),
        ("log.xml", write_ocel_xml),
        ("log.sqlite", write_ocel_sqlite),
    ):
        done = import_source(write(tmp_path / name), tmp_path / f"{name}-out")
        assert (done.read, done.rows, done.reasons) == (
            20,
            18,
            {"a second event of the same id": 1, "its objects lead to no 'orders'": 1},
        )
        assert any("6 references of objects to objects that are not there" in line for line in done.said)
        assert any("'pay order'" in line for line in done.said)
        text = (tmp_path / f"{name}-out" / "context.yaml").read_text().partition("\n")[2]
        contexts.append([line for line in text.splitlines() if not line.strip().startswith("# column")])
        events.append(events_of(tmp_path / f"{name}-out"))
    assert contexts[0] == contexts[1] == contexts[2]
    assert events[0] == events[1] == events[2]
    assert Counter(event[0] for event in events[0]) == {f"o{i}": 3 for i in range(6)}
    assert Counter((event[3], event[4]) for event in events[0]) == {("Ann", "packer"): 12, (None, None): 6}


def test_attributes_of_the_case_stand_as_of_the_event(tmp_path: Path) -> None:
    import_source(write_ocel_json(tmp_path / "log.json"), tmp_path / "out", case="orders")
    rows = duckdb.sql(
        f"""SELECT "ocel:type", "case:price", count(*) FROM read_parquet('{tmp_path / "out" / "events.parquet"}') GROUP BY ALL ORDER BY ALL"""
    ).fetchall()
    assert rows == [("pick item", 5, 6), ("place order", 5, 6), ("send order", 7, 6)]
    with pytest.raises(InputError, match="did you mean 'orders'"):
        import_source(tmp_path / "log.json", tmp_path / "other", case="order")


def test_order_management_has_the_rows_of_the_converter(tmp_path: Path) -> None:
    """The cases of orders, worked out with SQL and without the importer."""
    path = shared("ocel/order_management_ocpa.sqlite.gz")
    plain = tmp_path / "plain.sqlite"
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    db = sqlite3.connect(plain)
    expected = set(
        db.execute(
            """WITH part AS (SELECT ocel_source_id AS whole, ocel_target_id AS part FROM object_object WHERE ocel_qualifier IN ('comprises', 'contains')),
               owner AS (SELECT o.ocel_id AS thing, o.ocel_id AS orders FROM object o WHERE o.ocel_type = 'orders'
                         UNION SELECT part, whole FROM part JOIN object o ON o.ocel_id = whole AND o.ocel_type = 'orders'
                         UNION SELECT box.whole, inside.whole FROM part box JOIN part inside ON inside.part = box.part
                               JOIN object o ON o.ocel_id = inside.whole AND o.ocel_type = 'orders' AND box.whole <> inside.whole)
               SELECT DISTINCT CAST(orders AS TEXT), ocel_event_id FROM event_object JOIN owner ON thing = ocel_object_id"""
        )
    )
    db.close()
    done = import_source(path, tmp_path / "out", case="orders")
    rows = duckdb.sql(
        f"""SELECT "case:id"::VARCHAR, "ocel:id" FROM read_parquet('{tmp_path / "out" / "events.parquet"}')"""
    ).fetchall()
    assert done.aside == 0
    assert len(rows) == len(expected) == done.rows
    assert set(rows) == expected


@pytest.mark.parametrize(
    "name", ["ocel20_example.jsonocel", "ocel20_example.xmlocel", "ocel20_example.sqlite"]
)
def test_the_example_of_the_standard(name: str, tmp_path: Path) -> None:
    done = import_source(shared(f"ocel/{name}"), tmp_path / "out", case="Purchase Order")
    assert (done.read, done.rows, done.counts["cases"], done.counts["actions"], done.counts["objects"]) == (
        13,
        13,
        2,
        8,
        4,
    )


def shop(path: Path) -> Path:
    db = sqlite3.connect(path)
    db.executescript(
        'CREATE TABLE "Orders; DROP TABLE x" (OrderId INTEGER PRIMARY KEY, OrderDate DATETIME, Note TEXT);'
        'CREATE TABLE Shipment (ShipmentId INTEGER PRIMARY KEY, OrderId INTEGER REFERENCES "Orders; DROP TABLE x"(OrderId), ShippedAt TEXT);'
        "CREATE TABLE Person (PersonId INTEGER PRIMARY KEY, Name TEXT, BirthDate DATETIME);"
        "CREATE VIEW Trap AS SELECT load_extension('x') AS at;"
    )
    for i in range(1, 9):
        db.execute('INSERT INTO "Orders; DROP TABLE x" VALUES (?, ?, ?)', (i, f"2024-01-0{i} 10:00:00", None))
        db.execute(
            "INSERT INTO Shipment VALUES (?, ?, ?)", (i, i, f"2024-01-1{i} 12:00:00" if i < 8 else None)
        )
    db.execute("INSERT INTO Person VALUES (1, 'Ann', '1980-01-01')")
    db.commit()
    db.close()
    return path


def test_tables_with_a_time_become_channels(tmp_path: Path) -> None:
    done = import_source(shop(tmp_path / "shop?mode=rw&x=%2e.sqlite"), tmp_path / "out")
    assert (done.read, done.rows, done.aside) == (16, 15, 1)
    assert done.columns["case_id"][2].startswith("a row of 'Orders; DROP TABLE x'")
    made = context_of(tmp_path / "out")
    assert [channel["name"] for channel in made["records"]["channels"]] == [
        "Orders; DROP TABLE x",
        "Shipment",
    ]
    assert any("Person" in line for line in done.said)
    assert Counter(event[5] for event in events_of(tmp_path / "out")) == {
        "Orders; DROP TABLE x": 8,
        "Shipment": 7,
    }


def test_a_model_is_a_schema_without_a_log(tmp_path: Path) -> None:
    (tmp_path / "shop.bpmn").write_text(MODEL)
    done = import_source(tmp_path / "shop.bpmn", tmp_path / "out")
    made = context_of(tmp_path / "out")
    assert {action["name"]: action["roles"] for action in made["schema"]["actions"]} == {
        "register order": ["Clerk"], "check order": ["Chief"], "send parcel": ["Shop"],
    }  # fmt: skip
    assert made["records"]["prospective"] is True
    text = (tmp_path / "out" / "context.yaml").read_text()
    assert "# order: register order → check order" in text
    assert "# order: check order → send parcel" in text
    assert done.rows == 0
    assert gnrs.load_context(str(tmp_path / "out" / "context.yaml")).profile.events


@pytest.mark.parametrize("name, tasks", [("bpmn/running-example.bpmn", 8), ("bpmn/nested_lanes.bpmn.xml", 4)])
def test_models_found_elsewhere(name: str, tasks: int, tmp_path: Path) -> None:
    assert import_source(shared(name), tmp_path / "out").counts["actions"] == tasks


def test_places_that_are_no_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place, said in (
        (tmp_path, "is a folder"),
        (tmp_path / "pipe", "is no regular file"),
        (tmp_path / "none", "no such file"),
        (Path("/dev/zero"), "is no regular file"),
    ):
        assert run(["import", str(place), "--out", str(tmp_path / "out")]) == 2
        assert said in capsys.readouterr().err
        assert not (tmp_path / "out").exists()


def test_a_folder_of_others_is_not_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(tmp_path / "desk.csv", ROWS)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "context.yaml").write_text("mine")
    for arguments in ([], ["--update"]):
        assert run(["import", str(tmp_path / "desk.csv"), "--out", str(tmp_path / "out"), *arguments]) == 2
        assert (tmp_path / "out" / "context.yaml").read_text() == "mine"
    assert "was not written" in capsys.readouterr().err


def test_columns_called_like_those_of_the_event_table(tmp_path: Path) -> None:
    rows = [
        row | {"Activity": "x", "Object": "", "object": "7", "Time Stamp": "never", "rôle": "y"}
        for row in ROWS
    ]
    done = import_source(
        write_csv(tmp_path / "desk.csv", rows), tmp_path / "out", columns={"object": "", "value": ""}
    )
    assert done.rows == len(events_of(tmp_path / "out")) == 48
    assert {event[6] for event in events_of(tmp_path / "out")} == {None}


def test_columns_whose_names_do_not_print(tmp_path: Path) -> None:
    rows = [
        {"\x1b[31mactivity" if key == "activity" else key: value for key, value in row.items()}
        | {"x" * 300: "1"}
        for row in ROWS
    ]
    done = import_source(write_csv(tmp_path / "desk.csv", rows), tmp_path / "out")
    assert done.columns["activity"][0].isprintable()
    assert len(events_of(tmp_path / "out")) == 48


def test_a_log_without_roles_gives_a_schema_and_a_rule_without(tmp_path: Path) -> None:
    """Nobody stands in; the same person is not asked to do what no person is on record doing both of."""
    rows = [{key: value for key, value in row.items() if key != "org:role"} for row in ROWS]
    import_source(write_csv(tmp_path / "desk.csv", rows), tmp_path / "out")
    context = tmp_path / "out" / "context.yaml"
    assert "roles" not in context_of(tmp_path / "out")["schema"]
    sentence = "The ticket must be checked within one day after the request was registered."
    arguments = [
        "draft",
        str(context),
        "--sentence",
        sentence,
        "--chains",
        "4",
        "--out",
        str(tmp_path / "rule"),
    ]
    assert run(arguments) == 0
    text = (tmp_path / "rule" / "rule.txt").read_text()
    assert "Somebody must check the ticket within one day after each registration of the request" in " ".join(
        text.split()
    )
    assert "the person in charge reviews the matter" in " ".join(text.split())
    assert run(["audit", str(context), "--rule", str(tmp_path / "rule" / "rule.json")]) == 1


def test_a_model_without_lanes_gives_a_schema_without_roles(tmp_path: Path) -> None:
    text = MODEL.replace('name="Shop" ', "").replace('name="Clerk"', "").replace('name="Chief"', "")
    (tmp_path / "shop.bpmn").write_text(text)
    import_source(tmp_path / "shop.bpmn", tmp_path / "out")
    made = context_of(tmp_path / "out")
    assert "roles" not in made["schema"]
    assert (
        run(
            [
                "draft",
                str(tmp_path / "out" / "context.yaml"),
                "--chains",
                "4",
                "--out",
                str(tmp_path / "rule"),
            ]
        )
        == 0
    )
    assert "Somebody must check the order" in (tmp_path / "rule" / "rule.txt").read_text()


def dated_rows(clocks: dict[str, str]) -> list[dict[str, str]]:
    """Thirty cases whose acts stand at the clock given for each, with the offset of the season."""
    return [
        {
            "case_id": f"C{case:02}",
            "activity": act,
            "timestamp": f"2024-{1 + case // 4:02}-{day:02}{clock}"
            + ("" if not clock else "+02:00" if 12 <= case < 28 else "+01:00"),
        }
        for case in range(30)
        for day, (act, clock) in enumerate(clocks.items(), 3)
    ]


@pytest.mark.parametrize(
    "clocks, grain, said",
    [
        ({"fine": "T00:00:00", "pay": "T00:00:00.000"}, "day", "60 of 60 times are midnight: dates written as times"),
        ({"fine": "T00:00:00", "pay": ""}, "day", "30 of 60 times are midnight, the other 30 dates: dates written as times"),
        ({"fine": "", "pay": ""}, "day", "all times are dates"),
        ({"fine": "T00:00:00", "pay": "T14:05:09"}, None, "fine: all 30 times are midnight, which are taken as dates"),
        ({"fine": "T07:00:00", "pay": "T00:00:01"}, None, "records:"),
    ],
    ids=["midnight", "midnight and dates", "dates", "one act", "times"],
)  # fmt: skip
def test_a_clock_that_shows_midnight_alone_is_one_of_days_and_that_is_said(
    tmp_path: Path, clocks: dict[str, str], grain: str | None, said: str
) -> None:
    import_source(write_csv(tmp_path / "fines.csv", dated_rows(clocks)), tmp_path / "out")
    assert context_of(tmp_path / "out")["records"]["channels"][0].get("grain") == grain
    assert said in (tmp_path / "out" / "context.yaml").read_text()
    log = gnrs.load_context(str(tmp_path / "out" / "context.yaml")).log
    assert not any("clock is taken" in finding for finding in log.findings)  # nothing left to infer
    assert (log.clocks["fines", "fine"] == {"day"}) == (clocks["fine"] in ("", "T00:00:00"))


def test_days_are_guessed_from_enough_rows_and_not_where_rows_say_their_grain(tmp_path: Path) -> None:
    rows = dated_rows({"fine": "T00:00:00"})
    for name, given in (("few", rows[:1]), ("told", [row | {"grain": "minute"} for row in rows])):
        import_source(write_csv(tmp_path / f"{name}.csv", given), tmp_path / name)
        assert "grain" not in context_of(tmp_path / name)["records"]["channels"][0]


@pytest.mark.parametrize(
    "name, kept",
    [("ä" * 200, True), ("ä" * 201, False), ("pay \N{RIGHT-TO-LEFT OVERRIDE}fine", True), ("pay\x7ffine", False)],
    ids=["200", "201", "direction", "control"],
)  # fmt: skip
def test_what_cannot_be_a_name_is_set_aside_as_an_act_and_not_recorded_as_a_person(
    tmp_path: Path, name: str, kept: bool
) -> None:
    odd = [ROWS[0] | {"activity": name}, ROWS[1] | {"org:resource": name}]
    done = import_source(write_csv(tmp_path / "desk.csv", [*odd, *ROWS[2:]]), tmp_path / "out")
    assert (done.rows, done.aside) == (48 - (not kept), int(not kept))
    assert any("no names and are read as resource not recorded" in line for line in done.said) != kept
