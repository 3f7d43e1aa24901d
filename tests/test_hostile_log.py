"""Event logs that used to be misread without a word: each is read as it stands, refused in one line, or
counted aloud."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
import small
from tiers import few

from gnrs_ppl.cli import run
from gnrs_ppl.context import EventLog, RecordLayer, read_log, table
from gnrs_ppl.errors import InputError

HEADER = "case_id,activity,timestamp,channel\n"
ROW = "a,A,2024-01-01,x\n"


def read(folder: Path, content: str | bytes, name: str = "log.csv", **records: Any) -> EventLog:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return read_log(folder / name, RecordLayer.model_validate(records))


def column(log: EventLog, name: str = "activity") -> list[Any]:
    return [
        row[0] for row in log.connection.execute(f'SELECT "{name}" FROM events ORDER BY event_id').fetchall()
    ]


def parquet(path: Path, select: str) -> Path:
    with tempfile.TemporaryDirectory() as folder:  # because COPY reads paths as loosely as scans do
        duckdb.connect().execute(f"COPY ({select}) TO '{folder}/written' (FORMAT parquet)")
        path.write_bytes((Path(folder) / "written").read_bytes())
    return path


class TestRows:
    """What stands in the file is what is read; every row is accounted for."""

    def test_an_apostrophe_is_no_quote(self, tmp_path: Path) -> None:
        rows = [f"a,'tis {i},2024-01-01,x\n" for i in range(40)] + [
            f"a,boys {i}',2024-01-01,x\n" for i in range(46)
        ]
        log = read(tmp_path, HEADER + "".join(rows))
        assert log.events == 86
        assert column(log)[0] == "'tis 0"
        assert log.findings == (
            "the file's 86 rows: 86 events; its cells are parted by commas, its text is UTF-8",
        )

    def test_nothing_is_a_comment(self, tmp_path: Path) -> None:
        assert read(tmp_path, HEADER + ROW + "#7,A,2024-01-01,x\n").events == 2
        with pytest.raises(InputError, match="row 2 holds 1 cells, the header 4"):
            read(tmp_path, HEADER + ROW + "# page 2\n" + ROW)

    def test_two_exports_joined(self, tmp_path: Path) -> None:
        assert read(tmp_path, HEADER + ROW * 30 + ROW.replace("\n", "\r\n") * 4).events == 34
        with pytest.raises(
            InputError, match="row 31 holds 5 cells, the header 4; mend the row; a cell with commas, quotes"
        ):
            read(tmp_path, HEADER + ROW * 30 + "a,A,2024-01-01,x,clerk\n" * 4)

    def test_blank_lines_are_counted(self, tmp_path: Path) -> None:
        log = read(tmp_path, HEADER + ROW + "\n\n" + ROW + ",A,2024-01-01,x\n\n")
        assert log.findings[0].startswith("the file's 6 rows: 2 events, 3 blank lines, 1 without a case id;")

    @pytest.mark.parametrize("lost", ["row <> 2", "row % 2 = 0"])
    def test_a_reader_that_loses_rows_is_found_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
    ) -> None:
        scan = table._Csv.scan

        def losing(self: Any, positions: Any) -> tuple[str, dict[str, str]]:
            relation, parameters = scan(self, positions)
            return f"(SELECT * FROM {relation} WHERE {lost})", parameters

        monkeypatch.setattr(table._Csv, "scan", losing)
        with pytest.raises(InputError, match="its 5 rows are not the [24] events that were read"):
            read(tmp_path, HEADER + ROW * 5)

    @pytest.mark.parametrize(
        ("delimiter", "name"), [(",", "commas"), (";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")]
    )
    def test_the_delimiter_is_that_of_the_header(self, tmp_path: Path, delimiter: str, name: str) -> None:
        rest = ("," if delimiter == ";" else ";") * 9
        log = read(tmp_path, (HEADER + ROW.replace("A", "A@")).replace(",", delimiter).replace("@", rest))
        assert column(log) == ["A" + rest]
        assert f"its cells are parted by {name}" in log.findings[0]

    def test_a_header_that_could_be_parted_in_two_ways(self, tmp_path: Path) -> None:
        with pytest.raises(
            InputError,
            match="its header line holds commas and semicolons, so what parts the cells is unclear; put column names",
        ):
            read(tmp_path, "case_id;activity;timestamp;channel;amount, EUR\n")
        assert (
            read(tmp_path, 'case_id;activity;timestamp;channel;"amount, EUR"\na;A;2024-01-01;x;1\n').events
            == 1
        )

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_every_line_end(self, tmp_path: Path, end: str) -> None:
        log = read(tmp_path, (HEADER + 'a,"A\nB",2024-01-01,x\n' + ROW).replace("\n", end))
        assert column(log) == [f"A{end}B", "A"]
        assert "1 line ends stand inside quoted cells" in log.findings[0]

    def test_a_bare_carriage_return_in_a_bare_cell(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="row 1 holds 2 cells, the header 4"):
            read(tmp_path, HEADER + "a,A\rB,2024-01-01,x\n")

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_encodings(self, tmp_path: Path, encoding: str) -> None:
        assert column(read(tmp_path, (HEADER + ROW.replace("A", "Prüfen 中🙂")).encode(encoding))) == [
            "Prüfen 中🙂"
        ]

    @pytest.mark.parametrize(
        ("content", "line"),
        [
            ((HEADER + "é,A,2024-01-01,x\n").encode("latin-1"), "is not UTF-8 text (byte 35)"),
            ((HEADER + ROW).encode("utf-16") + b"\x00", "is not UTF-16-LE text (byte 106)"),
            ((HEADER + ROW).encode("utf-16-le"), "holds a NUL character (byte 1)"),
            (HEADER + ROW + "a,\0,2024-01-01,x\n", "holds a NUL character (byte 54)"),
            (HEADER + 'a,"A" B,2024-01-01,x\n', "is not readable CSV: line 2: ',' expected after '\"'"),
            (HEADER + 'a,"A,2024-01-01,x\n', "is not readable CSV: line 2: unexpected end of data"),
            (HEADER + f"a,{'A' * 200_000},2024-01-01,x\n", "is not readable CSV: line 2: field larger than field limit (131072)"),
            ("", "has no header line"),
            ("\n" + HEADER + ROW, "has no header line"),
            (HEADER, "has no rows"),
        ],
    )  # fmt: skip
    def test_what_is_refused(self, tmp_path: Path, content: str | bytes, line: str) -> None:
        with pytest.raises(InputError) as error:
            read(tmp_path, content)
        assert f"log.csv: {line}; " in str(error.value)

    def test_limits(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(InputError, match="holds a line longer than 8,388,608 characters"):
            read(tmp_path, gzip.compress(HEADER.encode() + b"A" * 10_000_000, 1))
        monkeypatch.setattr(table, "MAX_BYTES", 2_000_000)
        with pytest.raises(
            InputError, match="holds more than 2,000,000 bytes of text; give the log in parts"
        ):
            read(tmp_path, gzip.compress(HEADER.encode() + ROW.encode() * 1_000_000, 1))
        monkeypatch.setattr(table, "MAX_ROWS", 9)
        with pytest.raises(InputError, match="holds more than 9 rows"):
            read(tmp_path, HEADER + ROW * 10)
        with pytest.raises(InputError, match="holds more than 9 rows"):
            read_log(parquet(tmp_path / "l.parquet", "SELECT 'a' AS case_id FROM range(10)"), RecordLayer())


class TestPaths:
    """The named file and nothing else."""

    @pytest.mark.parametrize(
        "name", few(["[ab]", "*", "?", "role=admin", "~", "file:", "http:", "a'b", "$path", "a;b"], 6)
    )
    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_a_folder_is_read_as_it_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, suffix: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for folder, role in (("a", "wrong"), (name, "clerk")):
            Path(folder).mkdir()
            parquet(
                Path(folder) / "l.parquet",
                f"SELECT 'a' AS case_id, 'A' AS activity, '2024-01-01' AS timestamp, 'x' AS channel, '{role}' AS role",
            )
            (Path(folder) / "l.csv").write_text(
                f"case_id,activity,timestamp,channel,role\na,A,2024-01-01,x,{role}\n"
            )
        log = read_log(Path(name) / f"l{suffix}", RecordLayer())
        assert column(log, "role") == ["clerk"]
        assert log.fingerprint == hashlib.sha256((Path(name) / f"l{suffix}").read_bytes()).hexdigest()

    @pytest.mark.parametrize("name", ["l[1].csv", "*.csv", "l?.csv"])
    def test_a_file_is_read_as_it_is_named(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "l1.csv").write_text(HEADER + ROW.replace("A", "wrong"))
        assert column(read(tmp_path, HEADER + ROW, name)) == ["A"]

    def test_a_role_out_of_a_folder_name_changes_no_verdict(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        context = small.write(tmp_path, rule=small.changed(small.RULE, ("rule.scope", {"roles": ["waiter"]})))
        told = []
        for folder in ("plain", "role=admin"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "log.csv").write_text(small.LOG)
            assert (
                run(
                    [
                        "audit",
                        str(context),
                        "--rule",
                        str(tmp_path / "rule.json"),
                        "--log",
                        str(tmp_path / folder / "log.csv"),
                        "--csv",
                    ]
                )
                == 1
            )
            told.append(capsys.readouterr().out)
        assert told[0] == told[1]

    def test_what_is_no_file_is_not_opened(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.csv")
        for path in (tmp_path / "pipe.csv", Path("/dev/zero"), tmp_path):
            with pytest.raises(
                InputError, match="is no regular file but a device, pipe or socket|is a folder"
            ):
                read_log(path, RecordLayer())
        with pytest.raises(InputError, match="cannot be read"):
            read_log(tmp_path / ("x" * 300), RecordLayer())

    @pytest.mark.parametrize(
        "damage",
        [
            lambda b: b[:-6] + bytes([b[-6] ^ 1]) + b[-5:],
            lambda b: b[:-9],
            lambda b: b[:40] + b"\xff" * 9 + b[49:],
            lambda b: b + b"x",
        ],
    )
    def test_a_damaged_gzip(self, tmp_path: Path, damage: Any) -> None:
        whole = gzip.compress((HEADER + "".join(f"a,A{i},2024-01-01,x\n" for i in range(500))).encode())
        assert read(tmp_path, whole, "l.csv.gz").events == 500
        assert read(tmp_path, whole + gzip.compress(ROW.encode()), "l.csv.gz").events == 501
        with pytest.raises(InputError, match="is not a whole gzip file .*; fetch or export it again"):
            read(tmp_path, damage(whole), "l.csv.gz")

    def test_a_damaged_parquet_names_the_file_that_was_given(self, tmp_path: Path) -> None:
        path = parquet(
            tmp_path / "l.parquet",
            "SELECT 'a' AS case_id, 'A' AS activity, '2024-01-01' AS timestamp, 'x' AS channel",
        )
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(InputError, match="l.parquet: is not readable Parquet") as error:
            read_log(path, RecordLayer())
        assert "gnrs-" not in str(error.value)


class TestHeaders:
    """Exact names; what is nearly one is not passed over."""

    @pytest.mark.parametrize(
        ("header", "line"),
        [
            ("case_id,activity,timestamp,channel,Object,object", "columns 'object' and 'Object' are hardly told apart; rename one, or map the one meant under records.columns.object"),
            ("Case ID,case_id,activity,timestamp,channel", "columns 'case_id' and 'Case ID' are hardly told apart"),
            ("case_id,activity,timestamp,channel,Role", "has no column 'role' but 'Role'; map it under records.columns.role, or rename it"),
            ("case_id,activty,timestamp,channel", "has no column 'activity' but 'activty'"),
            ("case_id,activity,timestamp,channel,objects", "has no column 'object' but 'objects'"),
            ("case_id,activity,timestamp,channel,event id", "has no column 'event_id' but 'event id'"),
            ("case_id,activity,timestamp,channel,OFFSET", "has no column 'offset' but 'OFFSET'"),
            ("case_id,activity,timestamp,channel,\u200brole", "has no column 'role' but '\\u200brole'"),
            ("case_id,activity,timestamp,Channel", "has no column 'channel' but 'Channel'"),
            ("case_id,activity,timestamp,channel,role,role", "two columns are named 'role'"),
            ("case_id,activity,timestamp,channel,x, x", "two columns are named 'x'"),
        ],
    )  # fmt: skip
    def test_near_names_and_twins(self, tmp_path: Path, header: str, line: str) -> None:
        cells = ["a", "A", "2024-01-01", "x", "y", "z"][: header.count(",") + 1]
        with pytest.raises(InputError) as error:
            read(tmp_path, f"{header}\n{','.join(cells)}\n", channels=["x"])
        assert f"log.csv: {line}" in str(error.value)

    def test_mapping_settles_it(self, tmp_path: Path) -> None:
        text = "case_id,activity,timestamp,channel,Object,object,Role\na,A,2024-01-01,x,1,2,3\n"
        log = read(tmp_path, text, columns={"object": "Object", "role": "Role"})
        assert (column(log, "object"), column(log, "role")) == (["1"], ["3"])
        assert "1 column is not read: object" in log.findings

    def test_other_columns_are_named_as_not_read(self, tmp_path: Path) -> None:
        log = read(tmp_path, ",case_id , activity,timestamp,channel,source,rule,\n0,a,A,2024-01-01,x,s,r,\n")
        assert log.findings[1:] == ("4 columns are not read: (unnamed), source, rule, (unnamed)",)

    def test_of_many_columns_whole_names_are_listed(self, tmp_path: Path) -> None:
        more = [f"further_column_{n}" for n in range(20)]
        log = read(
            tmp_path, f"case_id,activity,timestamp,channel,{','.join(more)}\na,A,2024-01-01,x" + ",1" * 20
        )
        assert log.findings[1:] == (f"20 columns are not read: {', '.join(more[:8])} and 12 more",)

    def test_parquet_has_the_names_it_was_written_with(self, tmp_path: Path) -> None:
        base = "SELECT 'a' AS case_id, 'A' AS activity, '2024-01-01' AS timestamp, 'x' AS channel"
        with pytest.raises(InputError, match="has no column 'role' but 'Role'"):
            read_log(parquet(tmp_path / "l.parquet", f"{base}, 'r' AS \"Role\""), RecordLayer())
        with pytest.raises(InputError, match="resource: holds STRUCT.* where text is needed"):
            read_log(parquet(tmp_path / "l.parquet", f"{base}, {{'a': 1}} AS resource"), RecordLayer())
        log = read_log(
            parquet(
                tmp_path / "l.parquet", f"SELECT {{'b': 1}} AS kinds, {base[7:]}, 7 AS value, [1] AS note"
            ),
            RecordLayer(),
        )
        assert column(log, "value") == ["7"]


class TestValues:
    """Times, offsets and names that contradict or hide something."""

    @pytest.mark.parametrize("cell", ["+99:99", "CET", "+14:30", "-15:00", "+01:60", "1"])
    def test_an_offset_that_is_none(self, tmp_path: Path, cell: str) -> None:
        line = rf"offset: row 1: offset '{cell.replace('+', '[+]')}' is not like \+01:00; write offsets as \+01:00 or Z, at most 14 hours"
        with pytest.raises(InputError, match=line):
            read(
                tmp_path,
                f"case_id,activity,timestamp,channel,offset\na,A,2024-01-01T10:00:00,x,{cell}\n",
                offset="+01:00",
            )
        with pytest.raises(InputError, match="row 1: (offset|timestamp) .* is not"):
            read(tmp_path, f"{HEADER}a,A,2024-01-01T10:00:00{cell},x\n", offset="+01:00")

    def test_two_offsets_that_differ(self, tmp_path: Path) -> None:
        header = "case_id,activity,timestamp,channel,offset\n"
        with pytest.raises(
            InputError,
            match=r"row 2: offset '\+02:00' contradicts timestamp '2024-01-01T10:00:00\+01:00'; correct one of the two",
        ):
            read(
                tmp_path,
                f"{header}a,A,2024-01-01T10:00:00Z,x,+00:00\na,A,2024-01-01T10:00:00+01:00,x,+02:00\n",
            )

    def test_names_that_differ_in_what_nobody_sees(self, tmp_path: Path) -> None:
        cells = ["Open", "Open\t", "\u00a0Open ", "open", "Op\u200ben", "Close"]
        log = read(tmp_path, HEADER + "".join(f"a,{cell},2024-01-01,x\n" for cell in cells))
        assert column(log) == ["Open", "Open", "Open", "open", "Op\u200ben", "Close"]
        assert log.findings[1:] == (
            "white space around 2 cells was taken off",
            r"activity: 1 cells hold control or invisible characters (first: row 5, 'Op\u200ben')",
            r"activity: 'Open' (3 rows) and 'Op\u200ben' (1 rows) and 'open' (1 rows) differ only in case, white space or signs nobody sees; "
            "they count as different",
        )

    @pytest.mark.parametrize(
        "kind", few(["TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "DATE"], 4)
    )
    @pytest.mark.parametrize("sign", ["", "-"])
    def test_infinity_is_no_instant(self, tmp_path: Path, kind: str, sign: str) -> None:
        rows = f"SELECT unnest([{kind} '2024-01-01', {kind} '{sign}infinity']) AS timestamp, 'a' AS case_id, 'A' AS activity, 'x' AS channel"
        log = read_log(parquet(tmp_path / "l.parquet", rows), RecordLayer(offset=0))
        assert log.one('SELECT count(*), count("timestamp") FROM events') == (2, 1)
        assert f"{sign}infinity on 1 row (first: row 2)" in " ".join(log.findings)

    @pytest.mark.parametrize(
        ("start", "end"),
        [
            ("2024-02-01", "2024-01-01"),
            ("2024-01-01T10:00:00+01:00", "2024-01-01T09:30:00+01:00"),
            ("2024-01-01T23:30:00-02:00", "2024-01-01"),
            ("2024-01-02T00:00:00", "2024-01-01"),
        ],
    )
    def test_coverage_that_ends_before_it_starts(
        self, tmp_path: Path, start: str, end: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "log.csv").write_text(HEADER + ROW)
        channel = {"name": "roster_log", "coverage": [{"start": start, "end": end}]}
        context = small.write(tmp_path, small.changed(small.CONTEXT, ("records.channels.0", channel)))
        assert run(["draft", str(context)]) == 2
        assert "records: channel 'roster_log': coverage ends, " in (said := capsys.readouterr().err)
        assert said.count("\n") == 1

    def test_coverage_of_a_day_is_no_reversal(self) -> None:
        RecordLayer.model_validate(
            {"channels": [{"name": "x", "coverage": [{"start": "2024-01-01", "end": "2024-01-01"}]}]}
        )

    @pytest.mark.parametrize("year", ["0001", "9999"])
    def test_moments_at_the_ends_of_time(self, year: str) -> None:
        with pytest.raises(ValueError, match="outside 1000 to 9000"):
            RecordLayer.model_validate({"end_of_observation": f"{year}-01-01", "offset": "+14:00"})

    def test_the_end_of_observation(self, tmp_path: Path) -> None:
        text = HEADER + "".join(f"a,A,2024-01-0{day}T23:30:00+01:00,x\n" for day in (1, 2, 3))
        with pytest.raises(
            InputError,
            match="records.end_of_observation: 2023-12-31 lies before the first event, at 2024-01-01 22:30:00 UTC",
        ):
            read(tmp_path, text, end_of_observation="2023-12-31", offset="+01:00")
        log = read(tmp_path, text, end_of_observation="2024-01-02", offset="+01:00")
        assert log.findings[-1] == "1 events stand after the end of observation, 2024-01-02"
        assert len(read(tmp_path, text, end_of_observation="2024-01-03", offset="+01:00").findings) == 1


def test_a_log_that_csv_wrote_with_everything_in_it(tmp_path: Path) -> None:
    rows = [[str(i), "'A", "2024-01-01", "x", f'#{i}, "{i}"\n|;\t'] for i in range(9)]
    target = io.StringIO(newline="")
    csv.writer(target).writerows([["case_id", "activity", "timestamp", "channel", "value"], *rows])
    log = read(tmp_path, target.getvalue())
    assert column(log, "value") == [row[4].strip() for row in rows]
    assert column(log, "timestamp") == [datetime(2024, 1, 1)] * 9
