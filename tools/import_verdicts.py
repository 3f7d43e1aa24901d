#!/usr/bin/env python3
"""Verdicts on a log imported from several formats, beside those on a CSV made by hand: import_verdicts.py [SOURCE].

Prints a table for docs/import.md; tests/test_import_verdicts.py asks for equality on the same files. The CSV by hand
is what tools/convert_logs.py writes of receipt, and traffic fines as they are, under a record layer of a few lines.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import duckdb

import gnrs_ppl as gnrs
from gnrs_ppl.context import RecordLayer, Schema
from gnrs_ppl.importing import import_source
from gnrs_ppl.rule import Structure

Row = dict[str, str]
XES = {"case_id": "case:concept:name", "activity": "concept:name", "timestamp": "time:timestamp", "resource": "org:resource", "role": "org:group"}  # fmt: skip
RULES: dict[str, dict[str, dict[str, Any]]] = {
    "receipt": {
        "check within a day": {"trigger": "Confirmation of receipt", "template": "response", "target": "T02 Check confirmation of receipt", "deadline": "P1D"},
        "by the same person": {"trigger": "Confirmation of receipt", "template": "response", "target": "T02 Check confirmation of receipt", "deadline": "P1D", "correlate": "same_resource"},
        "no print before the check": {"trigger": "T05 Print and send confirmation of receipt", "template": "precedence", "target": "T04 Determine confirmation of receipt"},
    },
    "traffic_fines": {
        "paid within 60 days": {"trigger": "Create Fine", "template": "response", "target": "Payment", "deadline": "P60D", "unless": "Insert Date Appeal to Prefecture"},
        "sent within 90 days": {"trigger": "Create Fine", "template": "response", "target": "Send Fine", "deadline": "P90D"},
        "a penalty only after notification": {"trigger": "Add penalty", "template": "precedence", "target": "Insert Fine Notification"},
    },
}  # fmt: skip
"""Rules by log and name; all of them correlate by case unless they say otherwise."""


def receipt(path: Path) -> list[Row]:
    """Receipt's rows by a plain pass over the elements; ``EMPTY`` is nobody."""
    rows = []
    for trace in ElementTree.fromstring(gzip.decompress(path.read_bytes())):
        if trace.tag.endswith("trace"):
            case = next(child.get("value") or "" for child in trace if child.get("key") == "concept:name")
            for event in trace:
                if event.tag.endswith("event"):
                    cells = {child.get("key"): child.get("value") or "" for child in event}
                    group = cells.get("org:group", "")
                    rows.append(
                        {"case_id": case, "activity": cells["concept:name"], "timestamp": cells["time:timestamp"],
                         "resource": cells.get("org:resource", ""), "role": "" if group == "EMPTY" else group}
                    )  # fmt: skip
    return rows


def fines(path: Path) -> list[Row]:
    """The columns of traffic fines that an event table has."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return [
            {name: row[name] for name in ("case_id", "activity", "timestamp", "resource")}
            for row in csv.DictReader(file)
        ]


def write(path: Path, rows: list[Row]) -> Path:
    """Rows as CSV, Parquet or XES, by the ending of the name."""
    names = list(rows[0])
    if path.suffix == ".xes":
        traces: dict[str, list[Row]] = {}
        for row in rows:
            traces.setdefault(row["case:concept:name"], []).append(row)
        text = io.StringIO()
        text.write("<log>")
        for case, events in traces.items():
            text.write(f"<trace><string key='concept:name' value={quoteattr(case)}/>")
            for event in events:
                cells = (
                    f"<{'date' if name == 'time:timestamp' else 'string'} key='{name}' value={quoteattr(value)}/>"
                    for name, value in event.items()
                    if value and name != "case:concept:name"
                )
                text.write(f"<event>{''.join(cells)}</event>")
            text.write("</trace>")
        path.write_text(text.getvalue() + "</log>", encoding="utf-8")
        return path
    table = path.with_suffix(".csv")
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    if path.suffix == ".parquet":
        duckdb.sql(
            f"COPY (SELECT * FROM read_csv('{table}', all_varchar = true, parallel = false)) TO '{path}' (FORMAT parquet)"
        )
        table.unlink()
    return path


def rule_of(stated: dict[str, Any], channel: str) -> Structure:
    """A rule on one channel."""
    constraint = {key: value for key, value in stated.items() if key != "trigger"} | {
        "correlate": stated.get("correlate", "same_case")
    }
    return Structure.model_validate(
        {
            "trigger": {"act": stated["trigger"], "channel": channel},
            "norm": {"constraints": [constraint]},
            "evidence": {"channels": [channel]},
            "procedure": {"steps": [{"stage": "review", "name": "review", "role": "reviewer"}]},
        }
    )


Verdicts = list[tuple[Any, ...]]


def verdicts(rule: Structure, context: Any, **layers: Any) -> tuple[Verdicts, dict[str, int]]:
    """Every instance's verdict with reason, bearer and slack, and the counts."""
    found = gnrs.audit(rule, context, allow_unrecorded=True, **layers)
    told = [(v.case_id, v.verdict, v.reason, v.bearer, v.slack_seconds) for v in found.verdicts]
    return sorted(told, key=str), dict(found.counts)


def compare(
    name: str, rows: list[Row], source: Path | None, folder: Path
) -> list[tuple[str, dict[str, int], bool]]:
    """Rule -> counts on the CSV by hand, and whether every import gives these verdicts, instance by instance."""
    made = write(folder / f"{name}-by-hand.csv", rows)
    xes = [{XES[key]: value for key, value in row.items()} for row in rows]
    order = [*(key for key in xes[0] if not key.startswith("case:")), "case:concept:name"]
    xes = [{key: row[key] for key in order} for row in xes]
    contexts, texts = {}, []
    for ending in ("csv", "parquet", "xes"):
        (folder / ending).mkdir()
        out = folder / ending / "out"
        import_source(write(folder / ending / f"{name}.{ending}", xes), out)
        texts.append((out / "context.yaml").read_text().partition("\n")[2])
        contexts[ending] = gnrs.load_context(str(out / "context.yaml"))
    if texts[0] != texts[1] or texts[0] != texts[2]:
        raise SystemExit(f"{name}: the contexts of three formats differ")
    if source is not None:
        import_source(source, folder / "source")
        contexts["source"] = gnrs.load_context(str(folder / "source" / "context.yaml"))
    layer = RecordLayer.model_validate(
        {
            "constants": {"channel": name},
            "channels": [{"name": name, "closed_world": True} | ({"grain": "day"} if len(rows[0]["timestamp"]) == 10 else {})],
            "offset": "Z" if len(rows[0]["timestamp"]) == 10 else None,
            "quiet_after": "P2Y" if name == "traffic_fines" else None,
            "case_start": ["Create Fine"] if name == "traffic_fines" else [],
        }
    )  # fmt: skip
    by_hand = gnrs.read_log(made, layer)
    told = []
    for rule_name, stated in RULES[name].items():
        rule = rule_of(stated, name)
        expected, counts = verdicts(rule, by_hand, records=layer, schema=Schema())
        same = all(verdicts(rule, context)[0] == expected for context in contexts.values())
        told.append((rule_name, counts, same))
    return told


def main() -> None:
    """Both logs, all rules."""
    shared = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/eventlogs") / "real"
    print(
        "| log | rule | satisfied | violated | indeterminate | pending | excused | the same on every import |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---|")
    for name, file, read in (
        ("receipt", "receipt.xes.gz", receipt),
        ("traffic_fines", "traffic_fines.csv.gz", fines),
    ):
        with tempfile.TemporaryDirectory() as place:
            for rule, counts, same in compare(name, read(shared / file), shared / file, Path(place)):
                cells = " | ".join(
                    f"{counts[kind]:,}"
                    for kind in ("satisfied", "violated", "indeterminate", "pending", "excused")
                )
                print(f"| {name} | {rule} | {cells} | {'yes' if same else 'NO'} |", flush=True)


if __name__ == "__main__":
    main()
