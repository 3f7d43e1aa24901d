"""Text of people, logs and files that would steer a terminal, a spreadsheet or a reader of JSON, through
every verb and every form."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
import small
from hypothesis import example, given
from hypothesis import strategies as st

from gnrs_ppl.cli import run
from gnrs_ppl.errors import one_line
from gnrs_ppl.experiments import tables
from gnrs_ppl.safe_text import to_csv, to_json, visible

PACKAGE = Path(__file__).resolve().parent.parent / "gnrs_ppl"
RAW = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
"""What no output may hold: control characters but the line feed, directions, zero widths, line separators, tags, surrogates."""  # fmt: skip
EVIL = "=1+1\x1b[2J\x1b]0;owned\x07\x9b31m\r=cmd|' /C calc'!A0\n@x\t\x7f\u202e\u2066\u200b\u2028[bold]b[/bold] :smile: $\\frac$ <b>é\xa0日"
NAME = "=[bold]1+1[/bold] :smile: $\\frac$ {x} <b>"
"""What a name may be: printable, and all the same a formula, markup, mathematics and a field."""


def renamed(data: Any) -> Any:
    """The same data with one of each kind of name in hostile form."""
    text = json.dumps(data) if not isinstance(data, str) else data
    for plain in ("cook", "restaurant", "Serve", "roster_log", "hear_appeal", "SHIFT-1"):
        name = f"{NAME} {plain}"
        text = re.sub(rf'"{plain}"', lambda _, name=name: json.dumps(name), text)
    return json.loads(text)


CONTEXT = renamed(
    small.changed(
        small.CONTEXT,
        ("goal.intent", f"Staff check in.\n{EVIL}"),
        ("records.log", "log.parquet"),
        ("pools.scope.0.id", NAME),
        ("records.support", [{"kind": "role", "name": "owner", "support": "derivable", "because": EVIL}]),
    )
)
RULE = renamed(small.RULE) | {"title": EVIL}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A context, a rule and a log whose every free cell is hostile; the log also has a channel that nobody
    declared."""
    folder = tmp_path_factory.mktemp("hostile")
    small.write(folder, CONTEXT, rule=RULE)
    head, *rows = list(csv.reader(io.StringIO(small.LOG)))
    places = {name: place for place, name in enumerate(head)}
    for row in rows:
        for column in ("event_id", "case_id", "resource"):
            row[places[column]] += EVIL
        for column in ("activity", "role", "location", "channel"):
            if row[places[column]] in ("cook", "restaurant", "Serve", "roster_log"):
                row[places[column]] = f"{NAME} {row[places[column]]}"
    rows.append([f"stray{EVIL}", "s9", EVIL, "2024-03-04T08:00:00+01:00", EVIL, EVIL, EVIL, EVIL])
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE log ({', '.join(f'{name} VARCHAR' for name in head)})")
    connection.executemany(f"INSERT INTO log VALUES ({', '.join('?' * len(head))})", rows)
    connection.execute(f"COPY log TO '{folder / 'log.parquet'}' (FORMAT parquet)")
    return folder


def out(arguments: list[str], capsys: pytest.CaptureFixture[str], codes: tuple[int, ...] = (0,)) -> str:
    """Standard output of a verb; neither stream holds what could steer a terminal."""
    assert run(arguments) in codes
    printed = capsys.readouterr()
    assert not RAW.search(printed.out + printed.err)
    printed.out.encode()
    return printed.out


def audited(folder: Path, *options: str) -> list[str]:
    return ["audit", str(folder / "context.json"), "--rule", str(folder / "rule.json"), *options]


# ---- the verbs


def test_an_audit_as_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = " ".join(out(audited(folder, "--limit", "9"), capsys, (1,)).split())
    assert "Case s2=1+1\\x1b[2J" in told
    assert "[bold]b[/bold] :smile:" in told
    assert "\\u202e\\u2066\\u200b" in told
    assert '1 rows stand in "=1+1\\x1b[2J' in told


def test_an_audit_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(out(audited(folder, "--json"), capsys, (1,)))
    assert [case["case_id"] for case in found["cases"]] == [f"s{n}{EVIL}" for n in (1, 2, 3, 4)]
    assert found["cases"][0]["witnesses"] == [f"2{EVIL}"]


def test_an_audit_as_csv(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = out(audited(folder, "--csv"), capsys, (1,))
    found = json.loads(out(audited(folder, "--json"), capsys, (1,)))
    rows = list(csv.reader(io.StringIO(told, newline=""), strict=True))
    assert len(rows) == 1 + found["instances"] == 1 + 4
    assert {len(row) for row in rows} == {len(rows[0])}
    late = dict(zip(rows[0], rows[2], strict=True))
    assert late["slack_seconds"] == "-1500.0"
    assert late["case_id"].startswith("s2=1+1\\x1b[2J")
    assert "\\r=cmd|' /C calc'!A0\n@x\\t" in late["case_id"]
    assert not [cell for row in rows for cell in row if cell[:1] in tuple("=+-@\t\r\n") and cell != "-1500.0"]


def test_a_draft(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = ["draft", str(folder / "context.json"), "--chains", "8", "--steps", "50"]
    told = " ".join(out([*request, "--out", str(folder / "drafted")], capsys).split())
    assert f"Rule for {NAME} SHIFT-1 Staff [check in]. =1+1\\x1b[2J\\x1b]0;owned" in told
    found = json.loads(out([*request, "--json"], capsys))
    assert found["goal"]["intent"] == CONTEXT["goal"]["intent"]
    for name in ("rule.txt", "rule.json", "draft.json"):
        assert not RAW.search((folder / "drafted" / name).read_text(encoding="utf-8")), name
    assert (
        json.loads((folder / "drafted" / "draft.json").read_text())["goal"]["intent"]
        == CONTEXT["goal"]["intent"]
    )
    out(
        ["audit", "--rule", str(folder / "drafted" / "rule.json"), "--log", str(folder / "log.parquet")],
        capsys,
        (0, 1),
    )


def test_a_run_and_its_diagnosis(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    from gnrs_ppl.inference.trace import load, save

    trace = folder / "x.nc"
    request = ["sample", str(folder / "context.json"), "--out", str(trace), "--chains", "8", "--steps", "50"]
    assert json.loads(out([*request, "--json"], capsys))["out"] == str(trace)
    out(request, capsys)
    tree = load(trace)
    # no glyph of any font shows a control character: drawn raw, it would be a warning
    tree.attrs |= {
        "moves": json.dumps([f"{EVIL[1:30]}$\\frac$ {move}" for move in json.loads(tree.attrs["moves"])]),
        "goal": EVIL,
    }
    save(tree, trace)
    told = out(["diagnose", str(trace), "--plots", str(folder / "plots")], capsys, (0, 1))
    assert "\\x1b[2J" in told
    assert next(
        iter(json.loads(out(["diagnose", str(trace), "--json"], capsys, (0, 1)))["acceptance"])
    ).startswith(EVIL[1:30])


def test_goals(capsys: pytest.CaptureFixture[str]) -> None:
    out(["goals", "--split", "dev", "--json"], capsys)
    out(["goals", "--split", "dev"], capsys)


@pytest.mark.parametrize(
    "line",
    [
        "draft {}",
        "audit {} --rule {}",
        "audit --rule {} --log {}",
        "diagnose {}",
        "experiment {}",
        "draft --kernel {}",
    ],
)
def test_error_lines(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([part.replace("{}", EVIL) for part in line.split()]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert not RAW.search(printed.err)


# ---- tables of experiments


def test_a_table_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    from gnrs_ppl.terminal import console

    table = tables.ResultTable(
        "t", EVIL, EVIL, (tables.Column(EVIL), tables.Column("value", 2)), [(EVIL, -9.5), ("+5.74", None)]
    )
    tables.show(table, console(200))
    told = capsys.readouterr().out
    assert "[bold]b[/bold] :smile:" in told
    for text in (told, *(content.decode() for _, content in tables.files(table))):
        assert not RAW.search(text)
    assert "<" not in tables.markdown(table)
    rows = list(csv.reader(io.StringIO(tables.comma_separated(table), newline=""), strict=True))
    assert [row[1] for row in rows] == ["value", "-9.5", ""]
    assert rows[1][0].startswith("'=1+1")
    assert rows[2][0] == "+5.74"
    assert len(tables.markdown(table).split("\n\n", 2)[2].strip().split("\n")) == 4


def test_a_figure_takes_no_name_for_mathematics() -> None:
    pytest.importorskip("matplotlib")
    from gnrs_ppl.experiments import plots

    figure = plots.blank(2, 2)
    axes = figure.subplots()
    axes.set(title=f"$\\frac$ {NAME}")
    axes.set_yticks([0, 1], ["$\\frac$", "$x"])
    axes.plot([0, 1], label="$\\frac$")
    axes.legend()
    assert [name for name, _ in plots.files("f", figure)] == ["f.png", "f.svg"]


# ---- the way out itself

TEXT = st.text(st.characters(), max_size=20)
CELL = st.one_of(TEXT, st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.none())


@given(TEXT)
@example(EVIL)
def test_nothing_raw_is_visible_and_nothing_readable_is_lost(text: str) -> None:
    assert not RAW.search(visible(text))
    assert "\n" not in visible(text)
    assert not RAW.search(one_line(text))
    if text.isprintable():
        assert visible(text) == text


@given(
    st.recursive(
        st.one_of(TEXT, st.integers(), st.booleans(), st.none()),
        lambda inner: st.dictionaries(TEXT, inner, max_size=4),
    )
)
@example({EVIL: EVIL})
@example("\ud800\U000e0041")
def test_json_reads_back(data: Any) -> None:
    for text in (to_json(data), to_json(data, None)):
        assert json.loads(text) == data
        assert not RAW.search(text)
        text.encode()


@given(st.lists(st.lists(CELL, min_size=2, max_size=3), max_size=4))
@example([[EVIL, -9], ["-5", -9.5], ["\n=1", "\r=1"]])
def test_csv_gives_every_row_back(rows: list[list[Any]]) -> None:
    told = to_csv(rows)
    assert not RAW.search(told)
    read = list(csv.reader(io.StringIO(told, newline=""), strict=True))
    assert [len(row) for row in read] == [len(row) for row in rows]
    for was, cells in zip(rows, read, strict=True):
        for before, cell in zip(was, cells, strict=True):
            if not isinstance(before, str):
                assert cell == ("" if before is None else str(before))
            else:
                assert re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", cell) or cell[:1] not in (
                    "=",
                    "+",
                    "-",
                    "@",
                    "＝",
                    "＋",
                    "－",
                    "＠",
                    "\n",
                )


def test_terminals_are_written_to_in_one_place() -> None:
    """No part makes a console, a text or JSON in Unicode of its own (progress bars and spinners say only our
    words)."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("Text", "Console")
            ):
                stderr = any(keyword.arg == "stderr" for keyword in node.keywords)
                assert stderr or path.name == "terminal.py", f"{path}:{node.lineno}"
            if (
                isinstance(node, ast.Attribute)
                and node.attr == "writer"
                and getattr(node.value, "id", "") == "csv"
            ):
                # table.py and staging.py write copies of a log that DuckDB alone reads
                assert path.name in ("safe_text.py", "table.py", "staging.py"), f"{path}:{node.lineno}"
