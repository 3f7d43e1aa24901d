"""What other tools read of an audit is what the audit said; ``tests/readers.py`` has those tools read it."""

from __future__ import annotations

import csv
import io
import json
import uuid
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import duckdb
import pytest
from stored import RULE, delivered

from gnrs_ppl.audit.result import AuditResult
from gnrs_ppl.cli import run
from gnrs_ppl.cli.options import VerdictForm
from gnrs_ppl.report.formats import FORMATS, formatted

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = ["=1+1", "a]]><x>&\"'", "b\x1b[2J‮", "c,d|e", "é\n\tz", "plain"]


@pytest.fixture(scope="module")
def audited() -> AuditResult:
    return delivered(dict(zip(HOSTILE, (5, 1, None, 0, 5, None), strict=True)))


def violated(result: AuditResult) -> list[str]:
    return [v.instance for v in result.of("violated")]


def test_tables_hold_every_verdict(audited: AuditResult, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in formatted(audited, "jsonl", "r").decode().splitlines()]
    assert [(r["case_id"], r["instance"], r["verdict"], tuple(r["witnesses"])) for r in lines] == [
        (v.case_id, v.instance, v.verdict, v.witnesses) for v in audited.verdicts
    ]
    path = tmp_path / "v.parquet"
    path.write_bytes(formatted(audited, "parquet", "r"))
    with duckdb.connect() as connection:
        table = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
        names = [column[0] for column in table.description or ()]
        assert [dict(zip(names, row, strict=True)) for row in table.fetchall()] == lines
    rows = list(csv.DictReader(io.StringIO(formatted(audited, "csv", "r").decode())))
    assert [r["verdict"] for r in rows] == [r["verdict"] for r in lines]
    assert json.loads(formatted(audited, "json", "r"))["counts"] == audited.counts


def test_sarif_names_each_violation_once(audited: AuditResult) -> None:
    (told,) = json.loads(formatted(audited, "sarif", "A rule"))["runs"]
    failed = [r for r in told["results"] if r["kind"] == "fail"]
    places = [r["locations"][0]["logicalLocations"][0] for r in failed]
    assert [p["fullyQualifiedName"].split("/")[-2] for p in places] == violated(audited)
    assert {r["level"] for r in failed} == {"error"}
    assert {r["level"] for r in told["results"] if r["kind"] == "review"} == {"none"}
    prints = [r["partialFingerprints"]["instance/v1"] for r in told["results"]]
    assert len(set(prints)) == len(prints) == len(violated(audited)) + audited.counts["indeterminate"]
    assert told["tool"]["driver"]["rules"][0]["id"] == failed[0]["ruleId"]


def test_junit_fails_where_a_binding_rule_is_violated(audited: AuditResult) -> None:
    suites = ElementTree.fromstring(formatted(audited, "junit", "A <rule>"))
    cases = list(suites.iter("testcase"))
    assert len(cases) == int(suites.attrib["tests"]) == len(audited.verdicts)
    failed = [c.attrib["name"].split("/")[-2] for c in cases if c.find("failure") is not None]
    assert len(failed) == int(suites.attrib["failures"]) == len(violated(audited))
    assert len([c for c in cases if c.find("skipped") is not None]) == int(suites.attrib["skipped"])
    said = [c.attrib["name"] for c in cases]
    assert "\x1b" not in "".join(said)


def test_an_advisory_rule_fails_no_build() -> None:
    norm = RULE.norm.model_copy(update={"force": "should"})
    result = delivered({"a": None}, RULE.model_copy(update={"norm": norm}))
    suites = ElementTree.fromstring(formatted(result, "junit", "r"))
    assert (suites.attrib["failures"], suites.attrib["skipped"]) == ("0", "1")
    (told,) = json.loads(formatted(result, "sarif", "r"))["runs"]
    assert [r["level"] for r in told["results"]] == ["warning"]


def test_oscal_finds_the_rule_not_satisfied(audited: AuditResult) -> None:
    said = json.loads(formatted(audited, "oscal", "A rule"))["assessment-results"]
    (result,) = said["results"]
    (finding,) = result["findings"]
    assert finding["target"]["status"] == {"state": "not-satisfied"}
    related = [o["observation-uuid"] for o in finding["related-observations"]]
    assert related == [o["uuid"] for o in result["observations"]]
    assert len(set(related)) == len(violated(audited))
    assert said["import-ap"]["href"] == "#" + said["back-matter"]["resources"][0]["uuid"]
    assert all(uuid.UUID(one).version == 5 for one in related)
    kept = json.loads(formatted(delivered({"a": 1}), "oscal", "A rule"))["assessment-results"]
    assert kept["results"][0]["findings"][0]["target"]["status"] == {"state": "satisfied"}
    assert "observations" not in kept["results"][0]


def test_the_verb_prints_each_form(capfdbinary: Any) -> None:
    assert set(FORMATS) == {form.value for form in VerdictForm}
    audit = ["audit", str(ROOT / "examples" / "invoices" / "context.yaml")]
    audit += ["--rule", str(ROOT / "docs" / "contexts" / "approval.yaml")]
    assert run([*audit, "--format", "parquet"]) == 1
    out = capfdbinary.readouterr().out
    assert out[:4] == out[-4:] == b"PAR1"
    assert run([*audit, "--format", "sarif", "--csv"]) == 2
    assert b"contradicts --json and --csv" in capfdbinary.readouterr().err
