#!/usr/bin/env python3
"""Ten rules in plain English, audited and counted by hand: ten_rules.py LOGS prints docs/ten-rules.md.

Exits 1 where an audit and the query written by hand do not count alike.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import duckdb
import yaml

from gnrs_ppl.audit import VERDICTS, audit
from gnrs_ppl.context.log import read_log
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.rule.types import Structure

RULES = Path(__file__).with_suffix(".yaml")
DECIDED = [verdict for verdict in VERDICTS if verdict != "not_activated"]
HEAD = """# Ten rules, and the same counts by hand

Rules in plain English that a structure could not say before, or said without a part: a threshold, an amount
compared with another, another person, an exception in the meantime, what came late. Each stands with its
rule file, the text made of it, and a query written by hand that counts the verdicts without the compiler.
`columns` and `attributes` are those of the record layer; the one log is complete (`closed_world`). Made by
`python tools/ten_rules.py LOGS`, a folder with the public logs named here.

| rule | satisfied | violated | undecided | pending | excused | by hand |
|---|---|---|---|---|---|---|
"""


def audited(entry: dict[str, Any], logs: Path) -> tuple[str, dict[str, int]]:
    """The rule's text and its verdicts by the compiled check."""
    layer: dict[str, Any] = {
        "columns": entry.get("columns", {}),
        "channels": [{"name": "log", "closed_world": True}],
        "attributes": entry.get("attributes", []),
    }
    if "patients" in entry["log"]:
        layer["offset"] = "+00:00"
    records = RecordLayer.model_validate(layer)
    found = audit(
        Structure.model_validate(entry["rule"]), read_log(logs / entry["log"], records), records=records
    )
    return found.text, {verdict: n for verdict, n in found.counts.items() if n}


def counted(entry: dict[str, Any], logs: Path) -> dict[str, int]:
    """The verdicts by the query written by hand."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.read_csv(str(logs / entry["log"]), all_varchar=True).create_view("e")
        if "running-example" in entry["log"]:
            connection.execute(
                'CREATE VIEW s AS SELECT "case:concept:name" AS c, "concept:name" AS a, "org:resource" AS r, '
                '"time:timestamp"::TIMESTAMPTZ AS t FROM e'
            )
        return dict(connection.execute(entry["query"]).fetchall())


def page(logs: Path) -> tuple[str, bool]:
    """The page, and whether all counts agree."""
    entries, parts, rows, agree = yaml.safe_load(RULES.read_text()), [], [], True
    for number, entry in enumerate(entries, 1):
        text, found = audited(entry, logs)
        by_hand = counted(entry, logs)
        agree &= found == by_hand
        counts = " | ".join(f"{found.get(verdict, 0):,}" for verdict in DECIDED)
        rows.append(f"| {number} | {counts} | {'the same' if found == by_hand else f'differs: {by_hand}'} |")
        shown = {key: entry[key] for key in ("rule", "columns", "attributes") if key in entry}
        written = yaml.safe_dump(shown, sort_keys=False, default_flow_style=None, width=100)
        quoted = textwrap.fill(text, 108, initial_indent="> ", subsequent_indent="> ", break_on_hyphens=False)
        parts.append(
            f"## {number}. {entry['english']}\n\nOn `{entry['log']}`.\n\n"
            f"```yaml\n{written}```\n\n{quoted}\n\n"
            f"```sql\n{entry['query'].rstrip()}\n```\n"
        )
    return HEAD + "\n".join(rows) + "\n\n" + "\n".join(parts), agree


if __name__ == "__main__":
    made, agree = page(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/eventlogs"))
    print(made, end="")
    sys.exit(0 if agree else 1)
