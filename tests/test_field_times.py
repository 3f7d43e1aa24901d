"""Times as files in the field write them: what an audit reads of a log as it stands, and what an import reads."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from gnrs_ppl.cli import run
from gnrs_ppl.context.log import read_log
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError
from gnrs_ppl.importing import import_source
from gnrs_ppl.importing.times import read_times, time_format, zone_named


@pytest.mark.parametrize(
    "cell, utc, offset, grain",
    [
        ("2026-03-05T09:00:00z", "2026-03-05T09:00", 0, "second"),
        ("2026-03-05t09:00:00Z", "2026-03-05T09:00", 0, "second"),
        ("20260305T090000Z", "2026-03-05T09:00", 0, "second"),
        ("20260305T090000.25+0130", "2026-03-05T07:30:00.25", 90, "microsecond"),
        ("20260305T0900+02", "2026-03-05T07:00", 120, "second"),
        ("20260305", "2026-03-05T00:00", None, "day"),
        ("2026-03-05T24:00:00Z", "2026-03-06T00:00", 0, "second"),
        ("20260305T240000Z", "2026-03-06T00:00", 0, "second"),
        ("2026-03-05T09:00 -02:30", "2026-03-05T11:30", -150, "second"),
        ("2026-03-05T09:00:00.1234567891Z", "2026-03-05T09:00:00.123456", 0, "microsecond"),
    ],
)  # fmt: skip
def test_an_audit_reads_iso_8601_in_every_spelling(
    tmp_path: Path, cell: str, utc: str, offset: int | None, grain: str
) -> None:
    (tmp_path / "log.csv").write_text(f"case_id,activity,timestamp\na,open,{cell}\n")
    log = read_log(tmp_path / "log.csv", RecordLayer.model_validate({"constants": {"channel": "desk"}}))
    assert log.one('SELECT "timestamp", "offset", "grain" FROM "events"') == (
        datetime.fromisoformat(utc),
        offset,
        grain,
    )


@pytest.mark.parametrize("cell", ["20260305090000", "31/10/2026 09:00", "5 Mar 2026", "1772701200"])
def test_what_an_audit_does_not_read_the_import_it_names_does(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"case_id,activity,timestamp\na,open,{cell}\na,close,{cell}\n")
    with pytest.raises(InputError, match=f"gnrs import {path}"):
        read_log(path, RecordLayer.model_validate({"constants": {"channel": "desk"}}))
    assert import_source(path, tmp_path / "out").rows == 2


READ = [
    # a clock of twelve hours
    ("1/14/2023, 12:33 PM", "2023-01-14T12:33:00"),
    ("1/14/2023, 12:33\u202fPM", "2023-01-14T12:33:00"),
    ("1/14/2023\u00a012:05\u00a0a.m.", "2023-01-14T00:05:00"),
    ("14/1/2023 11.57 p. m.", "2023-01-14T23:57:00"),
    ("2023-01-14 1:05pm", "2023-01-14T13:05:00"),
    ("2023-01-14 5 PM", "2023-01-14T17:00:00"),
    ("14/1/2023 13:33 PM", "2023-01-14T13:33:00"),
    ("14/1/2023 0:05 AM", "2023-01-14T00:05:00"),
    ("14/1/2023 13:33 AM", None),
    ("14/1/2023 0:05 PM", "2023-01-14T12:05:00"),
    # months by name
    ("Dec 8, 2022", "2022-12-08"),
    ("December 8th, 2022 3:04 PM", "2022-12-08T15:04:00"),
    ("Sept. 30, 2022", "2022-09-30"),
    ("31-OCT-23", "2023-10-31"),
    ("31-OCT-2023 10:15", "2023-10-31T10:15:00"),
    ("31OCT2023:10:15:00.25", "2023-10-31T10:15:00.25"),
    ("2023-Oct-31", "2023-10-31"),
    ("3. Oktober 2023", "2023-10-03"),
    ("Di., 3. Okt. 2023, 14:05 Uhr", "2023-10-03T14:05:00"),
    ("14. März 2024", "2024-03-14"),
    ("14. Ma\u0308rz 2024", "2024-03-14"),
    ("1er août 2023 à 10h15", "2023-08-01T10:15:00"),
    ("3 févr. 2023", "2023-02-03"),
    ("14 juill. 2023, 14 h 05", "2023-07-14T14:05:00"),
    ("lunes, 2 de octubre de 2023", "2023-10-02"),
    ("1º de março de 2023", "2023-03-01"),
    ("3 gennaio 2023", "2023-01-03"),
    ("3 mrt. 2023 om 14:05", "2023-03-03T14:05:00"),
    ("Oct 31 12:00:15", None),
    ("about 12 Oct 2021", None),
    ("12 Octopus 2021", None),
    # days in figures
    ("30-12-2010:11.02", "2010-12-30T11:02:00"),
    ("31.12.99", "1999-12-31"),
    ("31/12/'68 10:15", "2068-12-31T10:15:00"),
    ("99-12-31", "1999-12-31"),
    ("3. 14. 2023", "2023-03-14"),
    ("2022.03.08 10.15.30", "2022-03-08T10:15:30"),
    ("2023/3/8 7:05", "2023-03-08T07:05:00"),
    ("10:15 31/12/2022", "2022-12-31T10:15:00"),
    ("31/Oct/2023:10:15:00 +0200", "2023-10-31T10:15:00+02:00"),
    ("1-1-1", None),
    ("31.02.2024", None),
    ("2024-13-01", None),
    # ISO 8601, compact and not
    ("2021-10-11T19:55+0200", "2021-10-11T19:55:00+02:00"),
    ("2021-10-11t19:55:00z", "2021-10-11T19:55:00+00:00"),
    ("20211012T080030Z", "2021-10-12T08:00:30+00:00"),
    ("20240531", "2024-05-31"),
    ("20240531091500", "2024-05-31T09:15:00"),
    ("20240531091500123", "2024-05-31T09:15:00.123"),
    ("202405310915", "2024-05-31T09:15:00"),
    ("20241331091500", None),
    ("2021-10-12T24:00:00Z", "2021-10-13T00:00:00+00:00"),
    ("2021-10-12T24:01:00Z", None),
    ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00+00:00"),
    ("2024-W22-5T10:00", "2024-05-31T10:00:00"),
    ("2024-152", "2024-05-31"),
    ("2022-03-08 10:15:30,1234567", "2022-03-08T10:15:30.1234567"),
    ("2022-03-08 10:15:30.12345678912", "2022-03-08T10:15:30.123456789"),
    ("2024-05-31T09:15:00\u221202:00", "2024-05-31T09:15:00-02:00"),
    # zones by name
    ("Tue, 08 Mar 2022 10:00:00 +0100", "2022-03-08T10:00:00+01:00"),
    ("Wed, 08 Mar 2022 10:00:00 +0100", None),
    ("Sun Dec 12 10:00:00 CET 2021", "2021-12-12T10:00:00+01:00"),
    ("Tue Oct 12 2021 08:00:00 GMT+0200 (Central European Summer Time)", "2021-10-12T08:00:00+02:00"),
    ("2021-10-12 08:00:00 UTC", "2021-10-12T08:00:00+00:00"),
    ("2021-10-12 08:00:00 EST", "2021-10-12T08:00:00-05:00"),
    ("2021-12-12 08:00:00 Europe/Amsterdam", "2021-12-12T08:00:00+01:00"),
    ("2021-10-12T08:00:00+02:00[Europe/Amsterdam]", "2021-10-12T08:00:00+02:00"),
    ("2021-10-12T08:00:00+05:00[Europe/Amsterdam]", None),
    ("2021-10-12 08:00:00 IST", None),
    ("2021-10-12 08:00:00 Nowhere/Such", None),
    ("2021-10-12 08:00:00 +15:00", None),
    # numbers
    ("1714000000", "2024-04-24T23:06:40+00:00"),
    ("1714000000.5", "2024-04-24T23:06:40.5+00:00"),
    ("1714000000123", "2024-04-24T23:06:40.123+00:00"),
    ("1714000000123456", "2024-04-24T23:06:40.123456+00:00"),
    ("1714000000123456789", "2024-04-24T23:06:40.123456789+00:00"),
    ("45000", "2023-03-15"),
    ("45000.5", "2023-03-15T12:00:00"),
    ("45000,4270833333", "2023-03-15T10:15:00"),
    ("12345", None),
    ("2023", None),
    # what is none
    ("soon", None), ("n/a", None), ("", None), ("9999-12-31", None), ("\u0662\u0660\u0662\u0664-05-31", None), ("1" * 200, None),
]  # fmt: skip


@pytest.mark.parametrize("cell, written", READ)
def test_a_cell_is_read_as_what_it_says(cell: str, written: str | None) -> None:
    assert read_times([cell]).written == {cell: written}


@pytest.mark.parametrize(
    "cells, read, guesses",
    [
        # a cell that shows it, in whichever order
        (["3/4/2024", "13/4/2024"], "2024-04-03", []),
        (["3/4/2024", "4/13/2024"], "2024-03-04", []),
        # nothing shows it: told, with the way to say otherwise
        (["3/4/2024", "5/5/2024"], "2024-04-03", ["--dates month-first"]),
        (["3/4/2024, 1:00 PM"], "2024-03-04T13:00:00", ["--dates day-first"]),
        (["3/4/2024", "13/4/2024", "4/13/2024"], "2024-04-03", ["--dates month-first"]),
        # each sign for itself
        (["3.4.2024", "4/13/2024"], "2024-04-03", ["--dates month-first"]),
        # a day of the week
        (["Wed 3/4/2024"], "2024-04-03", []),
        (["Mon 3/4/2024"], "2024-03-04", []),
        # the same day either way
        (["5/5/2024"], "2024-05-05", []),
        # two digits: a guess of its own
        (["13/4/24"], "2024-04-13", ["write others with four"]),
        (["23-10-31", "23-11-01", "23-11-02"], "2023-10-31", ["--dates day-first", "write others with four"]),
        # Excel's days only where nearly all cells are such
        (["45000.5", "45001"], "2023-03-15T12:00:00", ["--time-format"]),
        (["45000", "2024-01-01T10:00"], None, []),
        (["1714000000", "1714000000123"], "2024-04-24T23:06:40+00:00", ["--time-format", "--time-format"]),
    ],
)  # fmt: skip
def test_a_column_tells_what_a_cell_leaves_open(
    cells: list[str], read: str | None, guesses: list[str]
) -> None:
    times = read_times(cells)
    assert times.written[cells[0]] == read
    told = [taken.sentence("at") for taken in times.taken if taken.guess]
    assert len(told) == len(guesses)
    assert all(words in line for words, line in zip(guesses, told, strict=True))
    assert all("(a guess)" in line for line in told)


def test_a_whole_number_of_excel_among_times_is_a_midnight() -> None:
    assert read_times(["45000", "45000.5"]).written["45000"] == "2023-03-15T00:00:00"


def test_a_zone_tells_what_its_clocks_are_called() -> None:
    kolkata, amsterdam = zone_named("Asia/Kolkata"), zone_named("Europe/Amsterdam")
    assert (
        read_times(["2021-10-12 08:00 IST"], kolkata).written["2021-10-12 08:00 IST"]
        == "2021-10-12T08:00:00+05:30"
    )
    assert "several" in read_times(["2021-10-12 08:00 IST"], amsterdam).unread["2021-10-12 08:00 IST"]
    chicago = zone_named("America/Chicago")
    for name, hours in (("CST", "-06:00"), ("CDT", "-05:00")):
        month = "01" if name == "CST" else "07"
        cell = f"2021-{month}-12 08:00 {name}"
        assert read_times([cell], chicago).written[cell] == f"2021-{month}-12T08:00:00{hours}"


@pytest.mark.parametrize(
    "form, cell, written",
    [
        ("%d-%m-%Y:%H.%M", "03-04-2010:11.02", "2010-04-03T11:02:00"),
        ("%m-%d-%Y:%H.%M", "03-04-2010:11.02", "2010-03-04T11:02:00"),
        ("%Y%m%d", "20100304", "2010-03-04"),
        ("%d%m%Y %I:%M %p", "04032010 1:05 p.m.", "2010-03-04T13:05:00"),
        ("%A, %d. %B %Y", "Dienstag, 3. Oktober 2023", "2023-10-03"),
        ("%FT%T.%f%z", "2010-03-04T10:15:00.1234567+01:00", "2010-03-04T10:15:00.1234567+01:00"),
        ("%Y-%j", "2024-152", "2024-05-31"),
        ("epoch-s", "12345", "1970-01-01T03:25:45+00:00"),
        ("epoch-ms", "1714000000", "1970-01-20T20:06:40+00:00"),
        ("epoch-ns", "-1000000000", "1969-12-31T23:59:59+00:00"),
        ("excel", "12345.25", "1933-10-18T06:00:00"),
        ("%d.%m.%Y", "2010-03-04", None),
        ("%d[.%m(.%Y", "04[.03(.2010", "2010-03-04"),
    ],
)  # fmt: skip
def test_a_format_names_how_times_are_written(form: str, cell: str, written: str | None) -> None:
    times = read_times([cell], form=time_format(form))
    assert times.written == {cell: written}
    assert not times.taken


@pytest.mark.parametrize(
    "form", ["%Q", "%Y-%m", "%H:%M", "%Y %Y-%m-%d", "%Y-%m-%d %M", "", "epoch", "%", "%Y-%b-%m-%d"]
)
def test_a_format_that_tells_no_day_is_refused(form: str) -> None:
    with pytest.raises(InputError, match="--time-format") as told:
        time_format(form)
    assert "epoch-ms" in told.value.remedy


def events(folder: Path) -> list[str]:
    """The times of an imported log, as they are written."""
    context = json.loads((folder / "import.json").read_text())
    assert context["columns"]["timestamp"]
    import duckdb

    names = [row[0] for row in duckdb.sql(f"DESCRIBE SELECT * FROM '{folder}/events.parquet'").fetchall()]
    column = "timestamp" if "timestamp" in names else context["columns"]["timestamp"]["from"]
    return [row[0] for row in duckdb.sql(f"SELECT \"{column}\" FROM '{folder}/events.parquet'").fetchall()]


def test_guesses_and_formats_stand_in_the_output_and_in_an_update(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "log.csv", tmp_path / "out"
    path.write_text("no,step,at\na,open,03-04-2010:11.02\na,close,04-04-2010:11.02\n")
    assert run(["import", str(path), "--out", str(out), "--case", "no"]) == 0
    assert "note: 1 cell of 'at' is taken as day-first" in (said := " ".join(capsys.readouterr().out.split()))
    assert "nothing in the column decides" in said
    assert "--dates month-first reads them the other way" in said
    assert run(["import", str(path), "--out", str(out), "--case", "no", "--json"]) == 0
    (taken,) = json.loads(capsys.readouterr().out)["times"]
    assert (taken["what"], taken["cells"], taken["example"], taken["read"], taken["guess"]) == (
        "day-first", 1, "03-04-2010:11.02", "2010-04-03T11:02:00", True,
    )  # fmt: skip
    form = ["--time-format", "%m-%d-%Y:%H.%M"]
    assert run(["import", str(path), "--out", str(out), "--case", "no", *form]) == 0
    assert events(out) == ["2010-03-04T11:02:00", "2010-04-04T11:02:00"]
    capsys.readouterr()
    assert run(["import", str(path), "--out", str(out), "--update", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["times"] == []
    assert events(out) == ["2010-03-04T11:02:00", "2010-04-04T11:02:00"]


def test_a_column_that_is_no_time_is_refused_with_its_cells_and_what_mends_it(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("no,step,at\na,open,0304 1102\na,close,0404 1102\n")
    with pytest.raises(
        InputError, match=r"no column looks like a timestamp \('at' holds '0304 1102'\)"
    ) as told:
        import_source(path, tmp_path / "out", case="no")
    assert "--column timestamp=NAME" in told.value.remedy
    assert "--time-format" in told.value.remedy
    with pytest.raises(InputError, match="no cell of 'at' is a time, such as '0304 1102'") as told:
        import_source(path, tmp_path / "out", case="no", columns={"timestamp": "at"})
    assert told.value.remedy.startswith("say how they are written, as in --time-format '%d-%m-%Y %H:%M'")
    path.write_text("no,step,at\na,open,2021-10-12 08:00 BST\na,close,2021-10-12 09:00 BST\n")
    with pytest.raises(InputError, match="'BST' behind it .* stands for several: .* or give --zone"):
        import_source(path, tmp_path / "out", case="no")
    import_source(path, tmp_path / "bst", case="no", zone="Europe/London")
    assert events(tmp_path / "bst") == ["2021-10-12T08:00:00+01:00", "2021-10-12T09:00:00+01:00"]
    path.write_text("no,step,at\na,open,2010 0304 1102\na,close,2010 0404 1102\n")
    done = import_source(path, tmp_path / "out", case="no", form="%Y %m%d %H%M")
    assert (done.rows, events(tmp_path / "out")[0]) == (2, "2010-03-04T11:02:00")
    with pytest.raises(InputError, match="is written as %d, such as|does not tell the day"):
        import_source(path, tmp_path / "other", case="no", form="%d")


@pytest.mark.parametrize(
    "header, rows, case, time",
    [
        # numbers are times where the column says so
        ("order,action,created_at", ["1714000001,open,1714000000", "1714000001,close,1714000100"], "order", "created_at"),
        ("order,action,ts", ["7,open,45000.5", "7,close,45001.25"], "order", "ts"),
        # a plot number is none, whatever it looks like
        ("plot,action,filed", ["1-1-12A,open,31-OCT-23", "1-1-12,close,01-NOV-23"], "plot", "filed"),
    ],
)  # fmt: skip
def test_the_column_of_times_is_found(
    tmp_path: Path, header: str, rows: list[str], case: str, time: str
) -> None:
    path = tmp_path / "log.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    done = import_source(path, tmp_path / "out", columns={"case_id": case})
    assert done.columns["timestamp"][0] == time
    assert done.rows == 2


HEADED = (
    "case,activity,at\nc1,open,2024-01-01\nc1,close,2024-01-02\nc2,open,2024-01-03\nc2,close,2024-01-04\n"
)


@pytest.mark.parametrize(
    "text, said",
    [
        ("sep=;\n" + HEADED.replace(",", ";"), "lines above the header, 1, are no rows: 'sep=;'"),
        ('"sep=,"\r\n' + HEADED, "lines above the header, 1, are no rows: '\"sep=,\"'"),
        ("# exported by ann, 2024\n#\n" + HEADED, "lines above the header, 2, are no rows: '# exported by ann, 2024', '#'"),
        ("# a, b, c\n" + HEADED, "lines above the header, 1, are no rows: '# a, b, c'"),
        ("Report of May\n\nExported,2024-05-31\n" + HEADED, "lines above the header, 3, are no rows: 'Report of May'"),
        ("Report;;\n;;\n" + HEADED.replace(",", ";"), "lines above the header, 2, are no rows: 'Report;;', ';;'"),
        ("\n" + HEADED, "lines above the header, 1, are no rows: "),
        (HEADED + "# end, of it\n", "lines that begin with #, 1, are no rows: '# end, of it'"),
        ("sep=;\n# titles, too\nReport\n" + HEADED.replace(",", ";") + "# 4 rows\n", "lines above the header, 3, are no rows: "),
    ],
)  # fmt: skip
def test_what_stands_above_the_header_and_comments_are_no_rows(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode())
    done = import_source(path, tmp_path / "out")
    assert (done.read, done.rows, done.aside) == (4, 4, 0)
    assert done.columns["timestamp"][0] == "at"
    assert any(line.startswith(said) for line in done.said)


@pytest.mark.parametrize(
    "text, header",
    [
        (HEADED, "case"),
        ("#" + HEADED, "#case"),
        (HEADED.replace("at\n", "2024-01-01\n", 1), "case"),
        (HEADED + "c3,open,\n", "case"),
    ],
)
def test_a_header_is_not_skipped(tmp_path: Path, text: str, header: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    done = import_source(path, tmp_path / "out", columns={"case_id": header, "activity": "activity"})
    assert not any("above the header" in line for line in done.said)


def test_a_row_is_no_comment_where_rows_begin_so(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        HEADED.replace("c", "#c").replace("#case,a#ctivity", "case,activity").replace("#close", "close")
        + "#c3,open\n"
    )
    assert import_source(path, tmp_path / "out").reasons == {"2 cells where the header has 3": 1}


@pytest.mark.parametrize("line", ["sep=;", "# exported"])
def test_an_audit_names_a_first_line_that_is_no_header(tmp_path: Path, line: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{line}\n{HEADED}")
    with pytest.raises(InputError, match=f"its first line is '{line}', not the names.*gnrs import"):
        read_log(path, RecordLayer())
