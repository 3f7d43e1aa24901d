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
