"""An audit's verdicts in the forms that other tools read."""

from __future__ import annotations

import uuid
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gnrs_ppl.audit.result import due_text
from gnrs_ppl.context.output import folder_of_copies
from gnrs_ppl.errors import one_line
from gnrs_ppl.rule.canonical import signature
from gnrs_ppl.safe_text import to_json, visible

if TYPE_CHECKING:
    from gnrs_ppl.audit.result import AuditResult, Sentence
    from gnrs_ppl.audit.types import InstanceVerdict

COLUMNS: Final = {
    "case_id": "VARCHAR",
    "instance": "VARCHAR",
    "constraint": "INTEGER",
    "of_target": "BOOLEAN",
    "verdict": "VARCHAR",
    "reason": "VARCHAR",
    "witnesses": "VARCHAR[]",
    "bearer": "VARCHAR",
    "due": "VARCHAR",
    "slack_seconds": "DOUBLE",
    "sentence": "VARCHAR",
}
"""What a row of the tables holds, by its type in Parquet."""
_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_OSCAL: Final = "1.1.2"
_OURS: Final = uuid.uuid5(uuid.NAMESPACE_URL, "https://pypi.org/project/gnrs-ppl")


def formatted(result: AuditResult, kind: str, title: str) -> bytes:
    """The verdicts of an audit in one of :data:`FORMATS`.

    Parameters
    ----------
    result : AuditResult
    kind : str
        A key of :data:`FORMATS`.
    title : str
        What the rule is called.
    """
    return FORMATS[kind](result, title)


def row_as_dict(verdict: InstanceVerdict, sentence: Sentence) -> dict[str, Any]:
    """A row of the tables."""
    given = {
        "witnesses": list(verdict.witnesses),
        "due": due_text(verdict.due),
        "sentence": sentence(verdict),
    }
    return verdict._asdict() | given


def _rows(result: AuditResult) -> list[dict[str, Any]]:
    return [row_as_dict(v, result.sentence) for v in result.verdicts]


def _csv(result: AuditResult, title: str) -> bytes:
    return result.to_csv().encode()


def _json(result: AuditResult, title: str) -> bytes:
    return (result.to_json() + "\n").encode()


def _jsonl(result: AuditResult, title: str) -> bytes:
    return "".join(to_json(row, indent=None) + "\n" for row in _rows(result)).encode()


def _parquet(result: AuditResult, title: str) -> bytes:
    import duckdb

    rows = _rows(result)
    unnested = ", ".join(f'unnest(?::{kind}[]) AS "{name}"' for name, kind in COLUMNS.items())
    with folder_of_copies("gnrs-") as folder, duckdb.connect() as connection:
        path = Path(folder) / "verdicts.parquet"
        connection.execute(
            f"CREATE TABLE verdicts AS SELECT {unnested}", [[r[name] for r in rows] for name in COLUMNS]
        )
        connection.table("verdicts").write_parquet(str(path))
        return path.read_bytes()


def _place(verdict: InstanceVerdict) -> str:
    """What tells an instance and constraint in every run."""
    half = "/of_target" if verdict.of_target else ""
    return f"{verdict.case_id}/{verdict.instance}/{verdict.constraint}{half}"


def _sarif(result: AuditResult, title: str) -> bytes:
    """SARIF 2.1.0: violations as failures, what is undecided for review; the rest is counted."""
    rule = signature(result.structure)
    level = "error" if result.force == "must" else "warning"
    found = [
        {
            "ruleId": rule,
            "ruleIndex": 0,
            "kind": "fail" if v.verdict == "violated" else "review",
            "level": level if v.verdict == "violated" else "none",
            "message": {"text": result.sentence(v)},
            "locations": [{"logicalLocations": [{"name": v.case_id, "fullyQualifiedName": _place(v)}]}],
            "partialFingerprints": {"instance/v1": _place(v)},
            "properties": {"reason": v.reason, "witnesses": list(v.witnesses), "due": due_text(v.due)},
        }
        for v in result.verdicts
        if v.verdict in ("violated", "indeterminate")
    ]
    described = {"id": rule, "shortDescription": {"text": title}, "fullDescription": {"text": result.text}}
    run = {
        "tool": {"driver": {"name": "gnrs", "version": result.versions["gnrs-ppl"], "rules": [described]}},
        "artifacts": [{"roles": ["analysisTarget"], "hashes": {"sha-256": result.events.fingerprint}}],
        "results": found,
        "columnKind": "unicodeCodePoints",
        "properties": {"counts": result.counts},
    }
    return (to_json({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}) + "\n").encode()


def _junit(result: AuditResult, title: str) -> bytes:
    """JUnit's XML: a test for each instance and constraint. Only a binding rule fails; what is not decided,
    and what an advisory rule finds, is skipped with its sentence.
    """
    name = visible(one_line(title))
    failed = [v for v in result.verdicts if v.verdict == "violated" and result.force == "must"]
    passed = [v for v in result.verdicts if v.verdict in ("satisfied", "excused")]
    skipped = len(result.verdicts) - len(failed) - len(passed)
    counted = {"tests": len(result.verdicts), "failures": len(failed), "skipped": skipped, "errors": 0}
    counts = {key: str(number) for key, number in counted.items()}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": name} | counts)
    for v in result.verdicts:
        case = ElementTree.SubElement(suite, "testcase", {"classname": name, "name": visible(_place(v))})
        says = visible(result.sentence(v))
        if v.verdict == "violated" and result.force == "must":
            ElementTree.SubElement(case, "failure", {"type": v.reason, "message": says})
        elif v.verdict not in ("satisfied", "excused"):
            ElementTree.SubElement(case, "skipped", {"message": f"{v.verdict}: {says}"})
    ElementTree.indent(suites)
    return bytes(ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def _oscal(result: AuditResult, title: str) -> bytes:
    """OSCAL assessment results: one finding on the rule, an observation for each violation."""

    def identity(*parts: str) -> str:
        return str(uuid.uuid5(_OURS, "\n".join((result.events.fingerprint, rule, *parts))))

    rule, now = signature(result.structure), datetime.now(UTC).isoformat(timespec="seconds")
    name = visible(one_line(title))
    resource = identity("rule")
    observations = [
        {
            "uuid": identity("observation", _place(v)),
            "title": one_line(f"case {v.case_id}"),
            "description": visible(result.sentence(v)),
            "methods": ["TEST"],
            "types": ["finding"],
            "collected": now,
            "remarks": one_line(f"{v.reason}; records {', '.join(v.witnesses) or 'none'}"),
        }
        for v in result.of("violated")
    ]
    counted = ", ".join(
        f"{number:,} {verdict.replace('_', ' ')}" for verdict, number in result.counts.items()
    )
    finding: dict[str, Any] = {
        "uuid": identity("finding"),
        "title": name,
        "description": f"Instances: {counted}.",
        "target": {
            "type": "objective-id",
            "target-id": f"rule-{rule}",
            "status": {"state": "not-satisfied" if observations else "satisfied"},
        },
    }
    checked: dict[str, Any] = {
        "uuid": identity("result"),
        "title": name,
        "description": visible(result.text),
        "start": now,
        "end": now,
        "reviewed-controls": {"control-selections": [{"include-all": {}}]},
        "findings": [finding],
    }
    if observations:
        finding["related-observations"] = [{"observation-uuid": o["uuid"]} for o in observations]
        checked["observations"] = observations
    described = {
        "uuid": resource,
        "title": name,
        "description": f"{visible(result.text)} Checked on a log with SHA-256 {result.events.fingerprint}.",
    }
    document = {
        "uuid": identity("document"),
        "metadata": {"title": name, "last-modified": now, "version": rule, "oscal-version": _OSCAL},
        "import-ap": {"href": f"#{resource}"},
        "results": [checked],
        "back-matter": {"resources": [described]},
    }
    return (to_json({"assessment-results": document}) + "\n").encode()


FORMATS: Final[Mapping[str, Callable[[AuditResult, str], bytes]]] = {
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "sarif": _sarif,
    "junit": _junit,
    "oscal": _oscal,
}
"""Writers by the name of the form."""
