"""XES as people have it: traces of one name or none, nested lists, events outside traces, encodings, large pieces."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from gnrs_ppl.errors import InputError
from gnrs_ppl.importing import Imported, import_source

PLAIN = "<container key='box'><string key='concept:name' value='trap'/><int key='n' value='2'/></container>"
"""What is nested: none of it names an act or a case."""


def event(name: str, day: int = 5, more: str = "") -> str:
    stated = f"<string key='concept:name' value='{name}'/>" if name else ""
    return f"<event>{stated}<date key='time:timestamp' value='2026-01-{day:02d}T09:00:00Z'/>{more}</event>"


def trace(name: str | None, *events: str, more: str = "") -> str:
    stated = "" if name is None else f"<string key='concept:name' value='{name}'/>"
    return f"<trace>{stated}{''.join(events)}{more}</trace>"


def xes(*parts: str) -> str:
    return f"<log xes.version='1.0'>{''.join(parts)}</log>"


def imported(tmp_path: Path, log: str | bytes) -> Imported:
    path = tmp_path / "log.xes"
    path.write_bytes(log if isinstance(log, bytes) else log.encode())
    return import_source(path, tmp_path / "out")


def rows(done: Imported) -> list[tuple[str, str]]:
    """Case and act of each row."""
    case, act = (done.columns[column][0] for column in ("case_id", "activity"))
    return duckdb.sql(
        f"""SELECT "{case}", "{act}" FROM read_parquet('{done.folder / "events.parquet"}')"""
    ).fetchall()


A, B = event("open order"), event("ship order", 6)
LOGS: dict[str, tuple[str, list[tuple[str, str]], str]] = {
    "one name twice": (
        xes(trace("c1", A, B), trace("c1", A), trace("c2", A), trace(" c1 ", B)),
        [("c1", "open order"), ("c1", "ship order"), ("c1 (2)", "open order"), ("c2", "open order"), ("c1 (3)", "ship order")],
        "2 traces with the name of an earlier one, kept apart as cases of their own ('c1 (2)')",
    ),
    "a name that another took": (
        xes(trace("c1", A), trace("c1", B), trace("c1 (2)", A)),
        [("c1", "open order"), ("c1 (3)", "ship order"), ("c1 (2)", "open order")],
        "1 traces with the name of an earlier one",
    ),
    "no name, and one that looks like its number": (
        xes(trace(None, A), trace("trace 1", B), trace("", A), trace("  ", B)),
        [("trace 1 (2)", "open order"), ("trace 1", "ship order"), ("trace 3", "open order"), ("trace 4", "ship order")],
        "3 traces without a name, numbered as they come",
    ),
    "a name behind the events": (
        xes(trace(None, A, B, more="<string key='concept:name' value='V1'/>"), trace("V2", A)),
        [("V1", "open order"), ("V1", "ship order"), ("V2", "open order")],
        "",
    ),
    "no events": (
        xes("<trace/>", trace("c1"), trace("c1", A, B)),
        [("c1", "open order"), ("c1", "ship order")],
        "2 traces without events",
    ),
    "events outside": (
        xes(A, trace("c1", A, B), B),
        [("c1", "open order"), ("c1", "ship order")],
        "",
    ),
    "events alone": (
        xes(*(event(act, day, f"<string key='case' value='{case}'/>") for case, act, day in [("c1", "open order", 5), ("c1", "ship order", 6), ("c2", "open order", 7)])),
        [("c1", "open order"), ("c1", "ship order"), ("c2", "open order")],
        "",
    ),
    "events that name a case": (
        xes(trace("c1", event("open order", 5, "<string key='case:concept:name' value='ZZ'/>"), B)),
        [("c1", "open order"), ("c1", "ship order")],
        "1 events with an attribute that their trace has too, which is taken",
    ),
    "nested": (
        xes(PLAIN, trace("c1", event("open order", 5, PLAIN), B, more=PLAIN), trace("c2", A)),
        [("c1", "open order"), ("c1", "ship order"), ("c2", "open order")],
        "",
    ),
    "acts under another name": (
        xes("<classifier name='Act' keys='Act'/>", trace("c1", *(event("", day, f"<string key='Act' value='{act}'/>") for act, day in [("open order", 5), ("ship order", 6)]))),
        [("c1", "open order"), ("c1", "ship order")],
        "classifier 'Act': Act",
    ),
}  # fmt: skip


@pytest.mark.parametrize("log", LOGS)
def test_each_trace_is_a_case_of_its_own(tmp_path: Path, log: str) -> None:
    text, expected, says = LOGS[log]
    done = imported(tmp_path, text)
    assert rows(done) == expected
    assert not says or any(line.startswith(says) for line in done.said)
    assert dict(done.reasons) == ({"an event outside any trace": 2} if log == "events outside" else {})


def test_case_names_stay_with_another_import(tmp_path: Path) -> None:
    before = rows(imported(tmp_path, LOGS["one name twice"][0]))
    done = import_source(tmp_path / "log.xes", tmp_path / "out", update=True)
    assert rows(done) == before


UMLAUT = xes(trace("c1", event("Prüfung öffnen"), B))


@pytest.mark.parametrize(
    "log",
    [
        b'<?xml version="1.0" encoding="ISO-8859-1"?>' + UMLAUT.encode("latin-1"),
        b'<?xml version="1.0" encoding="windows-1252"?>' + UMLAUT.encode("cp1252"),
        ('<?xml version="1.0" encoding="UTF-16"?>' + UMLAUT).encode("utf-16"),
        UMLAUT.encode("utf-8-sig"),
        xes(
            trace("c1", event("Prüfung öffnen", 5, f"<string key='mail' value='{'x' * 300_000}'/>"), B)
        ).encode(),
    ],
    ids=["latin-1", "windows-1252", "utf-16", "mark", "300 kB"],
)
def test_encodings_are_read(tmp_path: Path, log: bytes) -> None:
    assert rows(imported(tmp_path, log)) == [("c1", "Prüfung öffnen"), ("c1", "ship order")]


@pytest.mark.parametrize("head", ["", '<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-8"?>'])
def test_another_encoding_than_stated_is_refused_and_the_remedy_mends_it(tmp_path: Path, head: str) -> None:
    with pytest.raises(InputError) as refused:
        imported(tmp_path, head.encode() + UMLAUT.encode("latin-1"))
    assert "is not UTF-8" in refused.value.problem
    remedy = refused.value.remedy.removeprefix("let it begin with the one it has: ")
    done = imported(tmp_path, remedy.encode() + UMLAUT.encode("latin-1"))
    assert rows(done)[0] == ("c1", "Prüfung öffnen")


def test_a_document_type_is_refused(tmp_path: Path) -> None:
    for declared in (
        "<!DOCTYPE log>",
        '<!DOCTYPE log [<!ENTITY a "b">]>',
        '<!DOCTYPE log SYSTEM "file:///x">',
    ):
        with pytest.raises(InputError, match="holds a document type"):
            imported(tmp_path, f"<!-- a log -->{declared}{UMLAUT}")


@pytest.mark.parametrize("place", ["before", "within", "attribute"])
def test_one_huge_piece_is_parsed_a_few_times_and_not_once_a_chunk(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gnrs_ppl.importing import xml

    read: list[int] = []
    one = xml.Growing._check

    def counted(self: xml.Growing) -> None:
        read.append(1)
        one(self)

    monkeypatch.setattr(xml.Growing, "_check", counted)
    much = "x" * (9 << 20)
    log = {
        "before": f"<!--{much}-->{UMLAUT}",
        "within": xes(f"<!--{much}-->", trace("c1", event("Prüfung öffnen"), B)),
        "attribute": xes(trace("c1", event("Prüfung öffnen"), B), trace("c2", event("pay", 5, f"<string key='a' value='{much}'/>"))),
    }[place]  # fmt: skip
    done = imported(tmp_path, log)
    assert rows(done) == [("c1", "Prüfung öffnen"), ("c1", "ship order")]
    assert len(read) < 12


@pytest.mark.parametrize(
    "place", ["<!--{}--><log/>", "<log><!--{}--></log>", "<log a='{}'/>", "<log><?a {}?></log>"]
)
def test_a_piece_beyond_the_limit_is_refused(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnrs_ppl.importing.xml.MAX_HELD", 1 << 20)
    with pytest.raises(InputError, match="in one piece"):
        imported(tmp_path, place.format("x" * (9 << 20)))
