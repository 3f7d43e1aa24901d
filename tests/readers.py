"""Independent readers of what is handed over, each in an environment that ``make readers`` makes.

``write FOLDER`` runs here and writes an audit and a rule in every form, with what it found; ``read FOLDER`` runs
beside sarif-tools, junitparser, compliance-trestle and dbt, ``declare FOLDER`` beside Declare4Py, and both hold
what is read against that.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

DECLARED = {
    "response": ("Response", ["Order", "Deliver"]),
    "precedence": ("Precedence", ["Deliver", "Order"]),
    "succession": ("Succession", ["Order", "Deliver"]),
    "coexistence": ("Co-Existence", ["Order", "Deliver"]),
    "chain_precedence": ("Chain Precedence", ["Deliver", "Order"]),
    "not_coexistence": ("Not Responded Existence", ["Order", "Deliver"]),
    "absence": ("Absence", ["Deliver"]),
    "init": ("Init", ["Deliver"]),
}
"""Templates, and the name and acts that a reader finds."""


def write(folder: Path) -> None:
    import duckdb
    from stored import RECORDS, RULE, delivered
    from test_handover import rule

    from gnrs_ppl.audit.checkable import check
    from gnrs_ppl.audit.compile import compile_rule
    from gnrs_ppl.audit.literal import dbt_test
    from gnrs_ppl.context.log import TYPES
    from gnrs_ppl.context.types import COLUMNS
    from gnrs_ppl.report.formats import FORMATS, formatted
    from gnrs_ppl.rule.declare import declare
    from gnrs_ppl.rule.types import Structure

    cases = ["=1+1", "a]]><x>&\"'", "b\x1b[2J", "c,d|e", "é\n\tz", "plain"]
    result = delivered(dict(zip(cases, (5, 1, None, 0, 5, None), strict=True)))
    folder.mkdir(parents=True, exist_ok=True)
    for kind in FORMATS:
        name = "oscal.json" if kind == "oscal" else f"verdicts.{kind}"
        (folder / name).write_bytes(formatted(result, kind, "Deliveries <on time>"))
    (folder / "counts.json").write_text(json.dumps(result.counts))
    query = compile_rule(check(RULE, RECORDS, result.events))
    project = {
        "dbt_project.yml": "{name: handed_over, version: 1.0.0, profile: here, model-paths: [models], test-paths: [tests]}",
        "profiles.yml": "here: {target: dev, outputs: {dev: {type: duckdb, path: db.duckdb}}}",
        "models/events.sql": "SELECT * FROM read_parquet('events.parquet')",
        "tests/on_time.sql": dbt_test(query, binding=True),
    }
    for name, text in project.items():
        place = folder / "dbt" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    with duckdb.connect() as connection:
        rows = result.events.connection.execute("SELECT * FROM events").fetchall()
        body = ", ".join(f'"{column}" {TYPES[column]}' for column in COLUMNS)
        connection.execute(f"CREATE TABLE events ({body})")
        connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * len(COLUMNS))})", rows)
        connection.table("events").write_parquet(str(folder / "dbt" / "events.parquet"))
    for template in DECLARED:
        opener = None if template in ("absence", "init") else "Order"
        text = declare(Structure.model_validate(rule(opener, template=template))).text
        (folder / f"{template}.decl").write_text(text)


def read(folder: Path) -> None:
    from junitparser import JUnitXml
    from sarif import loader
    from trestle.oscal.assessment_results import AssessmentResults

    counts: dict[str, Any] = json.loads((folder / "counts.json").read_text())
    assert counts["violated"] > 1
    assert counts["indeterminate"] > 0
    sarif = loader.load_sarif_file(str(folder / "verdicts.sarif"))
    severities = sarif.get_report().get_issue_count_for_severity
    assert (severities("error"), severities("warning")) == (counts["violated"], 0)
    print("sarif-tools:", severities("error"), "errors")
    suites = JUnitXml.fromfile(str(folder / "verdicts.junit"))
    said = suites.tests, suites.failures, suites.errors
    assert said == (sum(counts.values()), counts["violated"], 0), said
    print("junitparser:", *said)
    document = AssessmentResults.oscal_read(folder / "oscal.json")
    assert document is not None
    (result,) = document.results
    assert result.findings[0].target.status.state.value == "not-satisfied"
    assert len(result.observations) == counts["violated"]
    print("compliance-trestle:", len(result.observations), "observations")
    read_dbt(folder / "dbt", counts["violated"])


def read_dbt(folder: Path, violated: int) -> None:
    from dbt.cli.main import dbtRunner

    os.chdir(folder)
    runner = dbtRunner()
    parsed = runner.invoke(["--quiet", "parse"])
    assert parsed.success, parsed.exception
    assert runner.invoke(["--quiet", "run"]).success
    (tested,) = runner.invoke(["--quiet", "test"]).result
    assert (str(tested.status), tested.failures) == ("fail", violated), tested
    print("dbt:", tested.failures, "failures")


def read_declare(folder: Path) -> None:
    from Declare4Py.ProcessModels.DeclareModel import DeclareModel

    for template, name in DECLARED.items():
        model = DeclareModel().parse_from_file(str(folder / f"{template}.decl"))
        (constraint,) = model.constraints
        said = constraint["template"].templ_str, constraint["activities"]
        assert said == name, said
    print("Declare4Py:", len(DECLARED), "constraints")


if __name__ == "__main__":
    {"write": write, "read": read, "declare": read_declare}[sys.argv[1]](Path(sys.argv[2]))
