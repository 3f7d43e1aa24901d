"""Independent readers of what is handed over, each in an environment that ``make readers`` makes.

``write FOLDER`` runs here and writes an audit in every form, with what it found; ``read FOLDER`` runs beside
sarif-tools, junitparser and compliance-trestle, and holds what they read against that.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def write(folder: Path) -> None:
    from stored import delivered

    from gnrs_ppl.report.formats import FORMATS, formatted

    cases = ["=1+1", "a]]><x>&\"'", "b\x1b[2J", "c,d|e", "é\n\tz", "plain"]
    result = delivered(dict(zip(cases, (5, 1, None, 0, 5, None), strict=True)))
    folder.mkdir(parents=True, exist_ok=True)
    for kind in FORMATS:
        name = "oscal.json" if kind == "oscal" else f"verdicts.{kind}"
        (folder / name).write_bytes(formatted(result, kind, "Deliveries <on time>"))
    (folder / "counts.json").write_text(json.dumps(result.counts))


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


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](Path(sys.argv[2]))
