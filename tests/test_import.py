"""Every importer against counts made another way, the context it makes, and what a second import keeps."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections import Counter
from pathlib import Path

import duckdb
import pytest
import yaml

import gnrs_ppl as gnrs
from gnrs_ppl.cli import run
from gnrs_ppl.errors import InputError
from gnrs_ppl.importing import import_source
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
    path.write_text("".join(json.dumps({key: value for key, value in row.items() if value}) + "\n" for row in rows))
    return path


def write_parquet(path: Path, rows: list[dict[str, str]]) -> Path:
    source = write_csv(path.with_suffix(".for-parquet.csv"), rows)
    duckdb.sql(f"COPY (SELECT * FROM read_csv('{source}', all_varchar = true)) TO '{path}' (FORMAT parquet)")
    source.unlink()
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
    assert done.counts == {"cases": 12, "actions": 4, "roles": 3, "locations": 0, "objects": 0, "channels": 1}
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
    assert Counter(event[3] for event in events_of(tmp_path / "out")) == {"Ann": 24, "Bob": 12, "Sue": 8, None: 4}
    text = (tmp_path / "out" / "context.yaml").read_text()
    assert text.count("guessed 0") + text.count("guessed 1") == sum(done.guesses.values())


def test_the_same_log_in_three_formats_gives_the_same_context(tmp_path: Path) -> None:
    contexts, events = [], []
    for name, write in (
        ("desk.csv", write_csv),
        ("desk.csv.gz", write_csv),
        ("desk.parquet", write_parquet),
        ("desk.jsonl", write_json_lines),
    ):
        import_source(write(tmp_path / name, ROWS), tmp_path / f"{name}-out")
        contexts.append((tmp_path / f"{name}-out" / "context.yaml").read_text().partition("\n")[2])
        events.append(events_of(tmp_path / f"{name}-out"))
    assert len(set(contexts)) == 1
    assert all(found == events[0] for found in events)


def test_rows_that_cannot_be_used_are_listed(tmp_path: Path) -> None:
    source = write_csv(
        tmp_path / "desk.csv", [*ROWS, ROWS[0] | {"case_id": ""}, ROWS[0] | {"timestamp": "soon"}, ROWS[0] | {"activity": ""}]
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
    assert [a.get("phrase") for a in made["schema"]["actions"] if a["name"] in ("Order Shipped", "close file")] == [
        "close the file",
        "hand over the parcel",
    ]
    assert made["records"]["channels"][0]["closed_world"] is False
    assert "# read twice\nschema:" in place.read_text()
    assert done.rows == 49
    again = import_source(source, tmp_path / "out", update=True)
    assert set(again.kept) == set(done.kept)


def test_times_of_other_countries(tmp_path: Path) -> None:
    assert read_times(["03/04/2024 10:00", "25/04/2024 11:30"]).written["03/04/2024 10:00"] == "2024-04-03T10:00:00"
    assert read_times(["03/04/2024 1:05 PM", "04/25/2024 11:30 AM"]).written["03/04/2024 1:05 PM"] == "2024-03-04T13:05:00"
    assert not read_times(["03/04/2024"]).sure
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
        ("T02 Check confirmation of receipt", "check the confirmation of receipt", "check of the confirmation of receipt"),
        ("package delivered", "deliver the package", "delivery of the package"),
        ("Blood test", "carry out the blood test", "blood test"),
        ("Payment", "pay", "payment"),
        ("unless, within", "", ""),
        ("???", "", ""),
    ],
)
def test_phrases(name: str, verb: str, noun: str) -> None:
    assert phrase_of(name)[:2] == (verb, noun)


def test_names_that_cannot_be_told_apart_still_give_a_context_that_can_be_spoken(tmp_path: Path) -> None:
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
    assert "gnrs draft desk/context.yaml --sentence" in out
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
    "no_rows.jsonl": b'{"a": \n[1]\n{{{\n',
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_nothing_written(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_bytes(BAD[name])
    assert run(["import", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "out").exists()
