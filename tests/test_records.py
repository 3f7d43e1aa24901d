"""``gnrs profile`` against counts made in Python, and ``gnrs lint``: for every finding a log that raises it
and one that does not."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from tiers import few

import gnrs_ppl as gnrs
from gnrs_ppl.audit.files import audit_files
from gnrs_ppl.cli import run
from gnrs_ppl.records.lint import CHECKS, lint
from gnrs_ppl.records.profile import overview

ROOT = Path(__file__).resolve().parent.parent
INVOICES = ROOT / "examples" / "invoices"

CONTEXT = """# Complaints of a made-up town hall.
goal:
  id: answer
  intent: After the complaint, a clerk must answer it within three days.
  required: [AnswerComplaint]
  triggers: [FileComplaint]
  within: P3D
schema:
  roles:  # who works there
    - {name: clerk}
    - {name: citizen}  # may be anyone
  objects: [complaint]
  actions:
    - {name: FileComplaint, phrase: file the complaint, noun: complaint, roles: [citizen]}
    # the answer goes out by letter
    - name: AnswerComplaint
      phrase: answer the complaint
      noun: answer to the complaint
      roles: [clerk]
      # and only by letter
records:
  log: log.csv
  offset: "+01:00"
  channels:
    # since 2020
    - name: desk_log
      activities: [FileComplaint, AnswerComplaint]
      coverage: [{start: 2024-01-01, end: 2024-03-31}]
    - {name: post_log, activities: [AnswerComplaint], coverage: [{start: 2024-01-01, end: 2024-03-31}]}
  case_start: [FileComplaint]
  case_end: [AnswerComplaint]
"""
RULE = {
    "rule": {
        "trigger": {"act": "FileComplaint", "channel": "desk_log"},
        "norm": {
            "bearer": {"role": "clerk"},
            "constraints": [{"template": "response", "target": "AnswerComplaint", "deadline": "P3D"}],
        },
        "evidence": {"channels": ["desk_log", "post_log"], "operator": "any"},
        "procedure": {"steps": [{"stage": "review", "name": "look_into_it", "role": "clerk"}]},
    }
}
HEADER = ("event_id", "case_id", "activity", "timestamp", "resource", "role", "object", "channel")
Rows = list[dict[str, str]]
Data = dict[str, Any]


def clean_rows() -> Rows:
    """Thirty cases: filed and answered at the desk, some answered by post; two clerks."""
    rows = []
    for case in range(30):
        filed = datetime(2024, 1, 8, 9, 0, 7) + timedelta(days=case, minutes=case)
        for number, (act, hours, who, role, channel) in enumerate(
            [
                ("FileComplaint", 0, f"p{case}", "citizen", "desk_log"),
                ("AnswerComplaint", 20, f"c{case % 2}", "clerk", "post_log" if case % 3 == 0 else "desk_log"),
            ]
        ):
            time = (filed + timedelta(hours=hours)).isoformat() + "+01:00"
            values = (
                f"e{case:02d}{number}",
                f"k{case:02d}",
                act,
                time,
                who,
                role,
                f"complaint-{case:02d}" if case % 2 else "complaint",
                channel,
            )
            rows.append(dict(zip(HEADER, values, strict=True)))
    for row in rows:
        row["object"] = "complaint"
    rows[0]["object"] = ""
    rows[3]["object"] = "letter"
    return rows


def write(folder: Path, rows: Rows, data: Data | None = None, text: str = CONTEXT) -> Path:
    with (folder / "log.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)
    path = folder / "context.yaml"
    path.write_text(text if data is None else json.dumps(data))
    return path


def clean_context() -> Data:
    data: Data = yaml.load(CONTEXT, Loader=yaml.BaseLoader)
    data["schema"]["objects"] = ["complaint", "letter"]
    return data


CLEAN_TEXT = CONTEXT.replace("objects: [complaint]", "objects: [complaint, letter]")


def codes(path: Path) -> set[str]:
    return {finding.code for finding in lint(path).findings}


Change = Callable[[Rows, Data], None]


def each(rows: Rows, **cells: Any) -> None:
    """Set cells of all rows, to a text or to what a function makes of the row."""
    for row in rows:
        row.update({key: value(row) if callable(value) else value for key, value in cells.items()})


def on(act: str, **cells: Any) -> Change:
    return lambda rows, data: each([row for row in rows if row["activity"] == act], **cells)


def in_log(channel: str, **cells: Any) -> Change:
    return lambda rows, data: each([row for row in rows if row["channel"] == channel], **cells)


def put(path: str, value: Any) -> Change:
    def change(rows: Rows, data: Data) -> None:
        *above, last = path.split(".")
        place: Any = data
        for key in above:
            place = place[int(key) if key.isdigit() else key]
        if value is ...:
            del place[last]
        else:
            place[int(last) if last.isdigit() else last] = value

    return change


def twins(seconds: int) -> Change:
    """Every answer at the desk also in the post log, some seconds later."""

    def change(rows: Rows, data: Data) -> None:
        for row in [r for r in rows if r["activity"] == "AnswerComplaint" and r["channel"] == "desk_log"]:
            later = datetime.fromisoformat(row["timestamp"]) + timedelta(seconds=seconds)
            rows.append(
                row
                | {"event_id": row["event_id"] + "p", "channel": "post_log", "timestamp": later.isoformat()}
            )

    return change


def together(*changes: Change) -> Change:
    def change(rows: Rows, data: Data) -> None:
        for one in changes:
            one(rows, data)

    return change


def first_time(text: str) -> Change:
    return lambda rows, data: rows[0].update(timestamp=text)


def day(row: dict[str, str]) -> str:
    return row["timestamp"][:10]


AMOUNTS = put("records.attributes", [{"name": "price", "type": "number"}])
CASES: dict[str, tuple[Change, Change]] = {
    "G101": (put("goal.required.0", "AnswerComplant"), put("goal.required.0", "AnswerComplaint")),
    "G102": (
        lambda rows, data: data["schema"]["roles"].append("mayor"),
        put("records.support", [{"kind": "role", "name": "clerk", "support": "inferred", "because": "so"}]),
    ),
    "G103": (on("FileComplaint", role="visitor"), on("FileComplaint", role="")),
    "G104": (lambda rows, data: rows[0].update(role="Citizens"), lambda rows, data: rows[0].update(role="")),
    "G105": (put("schema.roles.0.phrase", "citizen"), put("schema.roles.0.phrase", "town clerk")),
    "G106": (
        put("schema.actions.1.phrase", "answer the cmplnt"),
        put("schema.actions.1.phrase", "answer the letter quickly"),
    ),
    "G201": (first_time("8 January, nine"), first_time("2024-01-08")),
    "G202": (
        together(put("records.offset", ...), first_time("2024-01-08T09:00:07")),
        together(
            put("records.offset", ...),
            put("records.zone", "Europe/Amsterdam"),
            first_time("2024-01-08T09:00:07"),
        ),
    ),
    "G203": (
        in_log("post_log", timestamp=lambda row: row["timestamp"].replace("+01:00", "Z")),
        lambda rows, data: rows[1].update(timestamp=rows[1]["timestamp"].replace("+01:00", "+02:00")),
    ),
    "G204": (first_time("2024-01-08T09:00:07"), in_log("desk_log", timestamp=lambda row: row["timestamp"])),
    "G205": (
        in_log("desk_log", timestamp=day),
        together(in_log("desk_log", timestamp=day), put("records.channels.0.grain", "day")),
    ),
    "G206": (on("FileComplaint", timestamp=day), in_log("desk_log", timestamp=day)),
    "G207": (
        lambda rows, data: each(rows, start_time=lambda row: row["timestamp"].replace("2024", "2025")),
        lambda rows, data: each(rows, start_time=lambda row: row["timestamp"]),
    ),
    "G208": (
        together(put("records.case_start", ["AnswerComplaint"]), put("records.case_end", ["FileComplaint"])),
        put("records.case_end", []),
    ),
    "G209": (
        put("records.end_of_observation", "2024-01-20"),
        put("records.end_of_observation", "2024-03-31"),
    ),
    "G210": (first_time("1950-01-08T09:00:07+01:00"), first_time("2023-01-08T09:00:07+01:00")),
    "G211": (
        lambda rows, data: each(rows, timestamp=lambda row: row["timestamp"].replace("2024", "3024")),
        lambda rows, data: each(rows, timestamp=lambda row: row["timestamp"]),
    ),
    "G212": (first_time("9999-12-31"), first_time("8999-12-31")),
    "G301": (
        lambda rows, data: rows[1].update(event_id="e000"),
        lambda rows, data: rows[1].update(event_id="e999"),
    ),
    "G302": (
        lambda rows, data: rows.append(rows[4] | {"event_id": "again"}),
        lambda rows, data: rows.append(rows[4] | {"event_id": "again", "object": "letter"}),
    ),
    "G303": (lambda rows, data: rows[5].update(case_id=""), lambda rows, data: rows[5].update(resource="")),
    "G305": (
        together(put("records.columns", {"value": "price"}), lambda rows, data: each(rows, price="")),
        together(
            put("records.columns", {"value": "price"}),
            lambda rows, data: each(rows, price=lambda row: row["event_id"]),
        ),
    ),
    "G306": (lambda rows, data: each(rows, resource="system"), lambda rows, data: each(rows, resource="")),
    "G307": (twins(240), together(twins(240), put("records.match_within", "PT5M"))),
    "G309": (
        together(AMOUNTS, lambda rows, data: each(rows, price="1,234")),
        together(AMOUNTS, lambda rows, data: each(rows, price="1,23")),
    ),
    "G401": (put("records.channels.1.name", "mail_log"), put("records.channels.1.durable", True)),
    "G402": (
        put("records.channels.1.coverage", ...),
        put("records.channels.1.coverage", [{"start": "2024-01-01", "end": "2024-04-30"}]),
    ),
    "G403": (
        put(
            "records.channels.0.coverage",
            [{"start": "2024-01-01", "end": "2024-01-15"}, {"start": "2024-01-17", "end": "2024-03-01"}],
        ),
        put(
            "records.channels.0.coverage",
            [{"start": "2024-01-01", "end": "2024-01-15"}, {"start": "2024-01-16", "end": "2024-03-01"}],
        ),
    ),
    "G404": (
        put("records.channels.0.activities", ["FileComplaint"]),
        put("records.channels.0.activities", ["FileComplaint", "AnswerComplaint"]),
    ),
    "G405": (
        put("records.channels.1.activities", ["FileComplaint", "AnswerComplaint"]),
        put("records.channels.1.activities", ["AnswerComplaint"]),
    ),
    "G900": (put("records.columns", {"value": "price"}), put("records.columns", {"value": "resource"})),
}
"""Code -> what is done to the clean context and log so that it is found, and what is much like it but is
not."""


@pytest.mark.parametrize("code", few(CASES, 9))
def test_a_finding_is_raised_and_is_not(code: str, tmp_path: Path) -> None:
    for wrong, change in zip((True, False), CASES[code], strict=True):
        rows, data = clean_rows(), clean_context()
        data["records"]["channels"][0]["durable"] = data["records"]["channels"][1]["durable"] = True
        change(rows, data)
        path = write(tmp_path, rows, data)
        path = path.rename(tmp_path / "context.json")
        assert (code in codes(path)) == wrong, lint(path).findings


def test_rows_with_a_cell_too_many_are_found(tmp_path: Path) -> None:
    path = write(tmp_path, clean_rows(), text=CLEAN_TEXT)
    assert "G304" not in codes(path)
    with (tmp_path / "log.csv").open("a") as file:
        file.write("e1,k1,FileComplaint\n")
    assert codes(path) == {"G304"}


def test_every_finding_has_a_case_and_its_own_number() -> None:
    assert {check.code for check in CHECKS} == {*CASES, "G304", "G308"}  # G308: test_field_set_aside.py
    assert len({check.code for check in CHECKS}) == len(CHECKS)


def test_a_clean_context_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, clean_rows(), text=CLEAN_TEXT)
    assert lint(path).findings == ()
    assert run(["lint", str(path)]) == 0
    assert "nothing to find fault with" in capsys.readouterr().out


def test_errors_alone_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warned = write(tmp_path, [*clean_rows(), clean_rows()[0] | {"event_id": "again"}], text=CLEAN_TEXT)
    assert run(["lint", str(warned), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [f["code"] for f in said["findings"]] == ["G302"]
    assert said["counts"] == {"error": 0, "warning": 1, "note": 0}
    warned.write_text(CLEAN_TEXT.replace("required: [AnswerComplaint]", "required: [Refuse]"))
    assert run(["lint", str(warned)]) == 1
    assert run(["lint", str(tmp_path / "none.yaml")]) == 2


def test_dangling_references_are_found_in_pools_too(tmp_path: Path) -> None:
    pool = "pools:\n  norm:\n    - {id: N1, content: {constraints: [{template: response, target: {activity: Shred}}]}}\n"
    (found,) = lint(write(tmp_path, clean_rows(), text=CLEAN_TEXT + pool)).findings
    assert (found.code, found.where) == ("G101", "pools.norm.N1.content.constraints.target.activity")


FIXED = (
    CONTEXT.replace("objects: [complaint]", "objects: [complaint, letter]")
    .replace(
        "    - {name: citizen}  # may be anyone\n", "    - {name: citizen}  # may be anyone\n    - visitor\n"
    )
    .replace("      # and only by letter\n", "      # and only by letter\n    - Close Case\n")
    .replace("name: post_log, activities", "name: post_log, grain: day, activities")
)


def test_safe_fixes_keep_comments_and_everything_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = clean_rows()
    rows[2]["role"], rows[7]["activity"] = "visitor", "Close Case"
    for case in range(30):  # enough dates in the post log
        rows.append(
            rows[1]
            | {
                "event_id": f"d{case}",
                "case_id": f"k{case:02d}",
                "channel": "post_log",
                "object": "complaint",
            }
        )
    each([row for row in rows if row["channel"] == "post_log"], timestamp=day)
    wrong = CONTEXT.replace("required: [AnswerComplaint]", "required: [answer_complaint]  # in writing")
    path = write(tmp_path, rows, text=wrong)
    before = lint(path)
    assert {"G101", "G103", "G205"} <= {finding.code for finding in before.findings}
    assert run(["lint", str(path), "--fix"]) == 0
    said = capsys.readouterr().out
    assert path.read_text() == FIXED.replace(
        "required: [AnswerComplaint]", "required: [AnswerComplaint]  # in writing"
    )
    assert len(re.findall("^fixed ", said, re.MULTILINE)) == 5
    assert not {"G101", "G103", "G205"} & codes(path)
    text = path.read_text()
    assert run(["lint", str(path), "--fix", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fixed"] == []
    assert path.read_text() == text
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["context.yaml", "log.csv"]


def test_a_fix_that_would_make_words_clash_is_not_made(tmp_path: Path) -> None:
    rows = clean_rows()
    rows[2]["role"] = "town clerk"
    text = CLEAN_TEXT.replace("{name: clerk}", "{name: clerk, phrase: town clerk}")
    path = write(tmp_path, rows, text=text)
    found = lint(path, fix=True)
    assert found.fixed == ()
    assert path.read_text() == text
    assert {finding.code for finding in found.findings} == {"G103"}


def test_json_files_stay_json(tmp_path: Path) -> None:
    rows, data = clean_rows(), clean_context()
    rows[2]["role"] = "no"
    path = write(tmp_path, rows, data).rename(tmp_path / "context.json")
    data["schema"]["roles"].append("no")
    assert lint(path, fix=True).fixed
    assert json.loads(path.read_text()) == data


def test_fixes_change_no_verdict(tmp_path: Path) -> None:
    rows = clean_rows()
    rows[2]["role"], rows[7]["activity"] = "visitor", "Close Case"
    path = write(tmp_path, rows, text=CLEAN_TEXT)
    (tmp_path / "rule.json").write_text(json.dumps(RULE))
    before = audit_files(tmp_path / "rule.json", None, path)
    assert lint(path, fix=True).fixed
    assert audit_files(tmp_path / "rule.json", None, path).verdicts == before.verdicts


def test_an_audit_says_which_findings_touch_its_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, data = clean_rows(), clean_context()
    twins(240)(rows, data)
    rows[2]["role"] = "visitor"  # of this the rule says nothing
    path = write(tmp_path, rows, text=CLEAN_TEXT)
    (tmp_path / "rule.json").write_text(json.dumps(RULE))
    run(["audit", str(path), "--rule", str(tmp_path / "rule.json"), "--json"])
    line = "1 finding of gnrs lint touches this rule: G307 (AnswerComplaint)"
    assert line in json.loads(capsys.readouterr().out)["findings"]
    write(tmp_path, clean_rows(), text=CLEAN_TEXT)
    run(["audit", str(path), "--rule", str(tmp_path / "rule.json"), "--json"])
    assert not [said for said in json.loads(capsys.readouterr().out)["findings"] if "lint" in said]


def test_a_draft_says_which_findings_touch_its_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, data = clean_rows(), clean_context()
    twins(240)(rows, data)
    path = write(tmp_path, rows, text=CLEAN_TEXT)
    assert run(["draft", str(path), "--kernel", "exact", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["check"]["findings"]
    assert [line for line in said if "lint" in line] == [
        "1 finding of gnrs lint touches this rule: G307 (AnswerComplaint)"
    ]


# Profile


def test_a_profile_counts_what_is_there(tmp_path: Path) -> None:
    rows, data = clean_rows(), clean_context()
    twins(240)(rows, data)
    rows.append(rows[5] | {"event_id": "again"})
    found = overview(gnrs.load_context(str(write(tmp_path, rows, text=CLEAN_TEXT))).log)
    assert (found.events, found.cases, found.doubled) == (len(rows), 30, 1)
    assert Counter({act.name: act.rows for act in found.acts}) == Counter(row["activity"] for row in rows)
    by_act = {act.name: act for act in found.acts}
    assert (by_act["AnswerComplaint"].people, dict(by_act["AnswerComplaint"].by)) == (
        2,
        {"clerk": len(rows) - 30},
    )
    by_case: dict[str, list[tuple[datetime, str]]] = {}
    for row in rows:
        by_case.setdefault(row["case_id"], []).append(
            (datetime.fromisoformat(row["timestamp"]), row["activity"])
        )
    sequences = Counter(
        tuple(act for _, act in sorted(case, key=lambda pair: pair[0])) for case in by_case.values()
    )
    assert {variant.acts: variant.cases for variant in found.variants} == dict(sequences)
    steps = Counter(pair for acts, n in sequences.items() for pair in [*pairwise(acts)] * n)
    assert {(step.before, step.after): step.rows for step in found.steps} == dict(steps)
    answered = next(step for step in found.steps if step.before == "FileComplaint")
    assert answered.seconds == (72000.0,) * 5
    assert {
        c.column: c.empty for c in found.columns if c.empty and c.column not in ("location", "value")
    } == {"object": 1}
    (pair,) = found.twins
    assert (pair.activity, pair.channels, pair.pairs, pair.median) == (
        "AnswerComplaint",
        ("desk_log", "post_log"),
        20,
        240.0,
    )
    assert sum(volume.rows for volume in found.volumes) == len(rows)
    assert {c.channel: c.rows for c in found.coverage} == Counter(row["channel"] for row in rows)


def test_a_silence_is_found(tmp_path: Path) -> None:
    rows = [row for row in clean_rows() if not "2024-01-15" <= row["timestamp"][:10] <= "2024-01-29"]
    found = overview(gnrs.load_context(str(write(tmp_path, rows, text=CLEAN_TEXT))).log)
    desk = next(channel for channel in found.coverage if channel.channel == "desk_log")
    assert desk.silences[0].days > max(14, desk.unusual) > 2 > desk.silences[1].days
    assert desk.declared is not None
    assert (desk.declared[0][0], desk.declared[0][1].date().isoformat()) == (
        datetime(2024, 1, 1),
        "2024-03-31",
    )


def test_a_profile_in_words_in_json_and_in_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    path = write(tmp_path, clean_rows(), text=CLEAN_TEXT)
    assert run(["profile", str(path), "--plots", str(tmp_path / "plots")]) == 0
    said = capsys.readouterr().out
    for word in (
        "60 events in 30 cases",
        "FileComplaint → AnswerComplaint",
        "desk_log",
        "20 h",
        "clerk 100%",
    ):
        assert word in said
    assert {f.name for f in (tmp_path / "plots").iterdir()} >= {"volumes.png", "delays.png", "doers.png"}
    assert run(["profile", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["variants"] == [
        {"acts": ["FileComplaint", "AnswerComplaint"], "cases": 30}
    ]


@pytest.mark.parametrize("rows", [0, 1])
def test_a_profile_of_hardly_anything(rows: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = clean_rows()[:1]
    if not rows:
        each(few, timestamp="", activity="", role="", resource="")
    path = write(tmp_path, few, text=CLEAN_TEXT)
    assert run(["profile", str(path)]) == 0
    assert "1 events in 1 cases" in capsys.readouterr().out
    run(["lint", str(path)])


def test_records_that_are_only_declared_have_no_profile(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profile", "RC-PSF-3"]) == 2
    assert "pass --log" in capsys.readouterr().err


# The page


@pytest.mark.parametrize("verb", ["profile", "lint"])
def test_the_page_shows_what_the_verbs_print(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    run([verb, "examples/invoices/context.yaml"])
    shown = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
    assert shown in (ROOT / "docs" / "records.md").read_text()


def test_the_page_lists_every_finding() -> None:
    page = (ROOT / "docs" / "records.md").read_text()
    assert re.findall(r"^\| (G\d+) \| (\w+) \|", page, re.MULTILINE) == [
        (check.code, check.severity) for check in CHECKS
    ]


def test_the_page_stands_alone_and_shows_names_as_text(tmp_path: Path) -> None:
    """Nothing runs, nothing is loaded from elsewhere, and no name of the records becomes markup."""
    pytest.importorskip("matplotlib")
    from html.parser import HTMLParser

    from gnrs_ppl.cli import run
    from gnrs_ppl.importing import import_source

    hostile = "<script>alert(1)</script> --> &amp; </svg>"
    lines = [f"C{i},{hostile if i % 2 else 'pay'},2024-03-0{i % 9 + 1},<b>Ann</b>" for i in range(40)]
    (tmp_path / "log.csv").write_text("\n".join(["case_id,activity,timestamp,resource", *lines]) + "\n")
    import_source(tmp_path / "log.csv", tmp_path / "out")
    page = tmp_path / "page.html"
    assert run(["profile", str(tmp_path / "out" / "context.yaml"), "--page", str(page), "--json"]) == 0

    tags: list[str] = []
    texts: list[str] = []
    outside: list[str] = []

    class Look(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append(tag)
            outside.extend(
                f"{name}={value}"
                for name, value in attrs
                if name in ("src", "href", "xlink:href") and not (value or "").startswith(("#", "data:"))
            )

        def handle_data(self, data: str) -> None:
            texts.append(data)

    Look().feed(page.read_text())
    assert {"img", "table"} <= set(tags)
    assert not {"script", "b", "iframe", "object", "link"} & set(tags)
    assert outside == []
    assert any(hostile in text for text in texts)
