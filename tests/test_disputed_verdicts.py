"""What people dispute about an audit: a rule and a log are enough for one, and it says for itself where a
rule is likely misread.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gnrs_ppl.cli import run

RULE = """
trigger: {act: Admission, channel: log}
norm:
  constraints:
    - {template: response, target: Discharge, deadline: P7D}
evidence: {channels: [log]}
records: {channels: [{name: log, closed_world: true}]}
"""
VISITS = """patient,handling,time
1,Admission,2024-01-02 11:41
1,Discharge,2024-01-05 09:00
2,Admission,2024-03-01 08:00
2,Discharge,2024-03-20 08:00
3,Admission,2024-03-30 23:30
3,Discharge,2024-04-06 23:30
4,Admission,2024-06-01 08:00
"""
TOLD = ["--column", "case_id=patient", "--column", "activity=handling", "--column", "timestamp=time"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "rule.yaml").write_text(RULE)
    (tmp_path / "visits.csv").write_text(VISITS)
    return tmp_path


def audited(place: Path, *options: str) -> list[str]:
    return ["audit", "--rule", str(place / "rule.yaml"), "--log", str(place / "visits.csv"), *options]


def test_a_rule_and_a_log_whose_columns_are_told_are_enough(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(audited(place, *TOLD, "--zone", "Europe/Brussels", "--json")) == 1
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert (counts["satisfied"], counts["violated"], counts["pending"]) == (2, 1, 1)
    # on Belgian clocks a week with the missing hour of 31 March is seven days still


@pytest.mark.parametrize(
    "options, problem",
    [
        ([], "has no column 'case_id'"),
        (TOLD, "carry a time without offset"),
        (["--column", "case_id"], "'case_id' is not NAME=COLUMN"),
        (["--column", "case_id=patient", "--column", "case_id=time"], "is not NAME=COLUMN, once"),
        (["--column", "cas=patient"], "got 'cas'"),
        (["--column", "case_id="], "a name is 1 to 200 printable characters"),
        ([*TOLD, "--zone", "Mars"], "'Mars' is no time zone"),
        (["--column", "case_id=ward"], "no column 'ward' in the log"),
    ],
)
def test_what_is_told_wrongly_is_one_line(
    place: Path, capsys: pytest.CaptureFixture[str], options: list[str], problem: str
) -> None:
    assert run(audited(place, *options)) == 2
    said = capsys.readouterr().err
    assert problem in said
    assert said.count("\n") == 1


def test_columns_go_with_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--posterior", "draft", "--column", "case_id=patient"]) == 2
    assert "--column" in capsys.readouterr().err


def many(place: Path, *, paid: int, rule: str) -> list[str]:
    """Thirty admissions, of which some are discharged within a week, and a rule about them."""
    rows = ["case_id,activity,timestamp,role"]
    for case in range(30):
        rows.append(f"{case},Admission,2024-01-{1 + case % 20:02},nurse")
        if case < paid:
            rows.append(f"{case},Discharge,2024-01-{2 + case % 20:02},nurse")
    rows.append("30,Closing,2024-12-31,nurse")
    (place / "many.csv").write_text("\n".join(rows) + "\n")
    (place / "many.yaml").write_text(rule)
    return ["audit", "--rule", str(place / "many.yaml"), "--log", str(place / "many.csv"), "--json"]


CONSTRAINTS = """
trigger: {{act: Admission, channel: log}}
norm:
  constraints: [{}]
evidence: {{channels: [log]}}
schema: {{roles: [nurse, porter]}}
records: {{channels: [{{name: log, closed_world: true}}]}}
"""
WEEK = "{template: response, target: Discharge, deadline: P7D}"


def findings(said: str) -> list[str]:
    found: list[str] = json.loads(said)["findings"]
    return [line for line in found if "likely misread" in line or "can never" in line]


@pytest.mark.parametrize("paid, told", [(0, True), (1, True), (2, False), (29, False)])
def test_what_nearly_all_break_is_likely_misread(
    place: Path, capsys: pytest.CaptureFixture[str], paid: int, told: bool
) -> None:
    command = many(place, paid=paid, rule=CONSTRAINTS.format(WEEK))
    if not paid:  # nobody is discharged: the name would be refused, were it not declared
        text = (place / "many.yaml").read_text()
        (place / "many.yaml").write_text(
            text.replace("closed_world", "activities: [Admission, Discharge], closed_world")
        )
    assert run(command) == 1
    shares = {0: "30 of 30 decided instances (100.0%)", 1: "29 of 30 decided instances (96.7%)"}
    found = findings(capsys.readouterr().out)
    assert [shares[paid] in line for line in found] == [True] * told


def test_of_a_handful_no_share_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = many(place, paid=1, rule=CONSTRAINTS.format(WEEK))
    kept = (place / "many.csv").read_text().splitlines()
    (place / "many.csv").write_text("\n".join(kept[:3] + kept[3:18] + kept[-1:]) + "\n")
    assert run(command) == 1
    assert findings(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    "constraint, told",
    [
        (
            "{template: not_response, target: {activity: Discharge, role: porter}, deadline: P7D, correlate: same_case}",
            "0 rows are",
        ),
        (
            "{template: not_response, target: {activity: Discharge, role: nurse}, deadline: P7D, correlate: same_case}",
            None,
        ),
        (
            "{template: response, target: Discharge, after: {act: {activity: Closing}, channel: log}}",
            "can never bite on this log: 0 activations",
        ),
    ],
)
def test_a_rule_that_can_never_bite_says_so(
    place: Path, capsys: pytest.CaptureFixture[str], constraint: str, told: str | None
) -> None:
    run(many(place, paid=10, rule=CONSTRAINTS.format(constraint)))
    found = findings(capsys.readouterr().out)
    assert [told in line for line in found] == [True] if told else found == []


def test_each_constraint_has_its_own_table(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ban = "{template: not_response, target: Closing, correlate: same_case, deadline: P7D}"
    command = many(place, paid=10, rule=CONSTRAINTS.format(f"{WEEK}, {ban}"))
    run(command)
    first, second = json.loads(capsys.readouterr().out)["constraints"]
    assert (first["name"], second["name"]) == ("1. response: Discharge", "2. not_response: Closing")
    assert (first["counts"]["violated"], first["case_counts"]["satisfied"]) == (20, 10)
    assert (second["counts"]["satisfied"], second["case_counts"]["not_activated"]) == (30, 1)
    run(command[:-1])
    printed = capsys.readouterr().out
    assert printed.index("1. response: Discharge") < printed.index("2. not_response: Closing")
    assert "Violated, of those decided: 20 of 30 (66.7%)" in printed
    assert "all constraints together: 20 of 60 (33.3%)" in printed
