"""The fields of contexts, rules and logs are told by their types; errors name them; text fits and is not
padded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from stored import delivered
from tiers import mostly_slow, tier

from gnrs_ppl.cli import app, goal_app, run
from gnrs_ppl.context.types import COLUMNS, EventRow
from gnrs_ppl.history.store import append
from gnrs_ppl.report.schema import TYPES, json_schema, page, parts

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "context-fields.md"
CONTEXTS = [
    ROOT / "examples" / "invoices" / "context.yaml",
    ROOT / "docs" / "contexts" / "traffic_fines.yaml",
]


def test_the_page_is_what_the_types_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tools/context_fields.py"


@pytest.mark.parametrize("kind", TYPES)
def test_every_field_has_a_meaning(kind: Any) -> None:
    for part in parts(kind):
        assert part.says, part.place
        for field in part.fields:
            assert field.meaning.endswith("."), (part.place, field)
            assert field.holds != "anything", (part.place, field)


def test_a_row_has_the_columns_of_the_event_table() -> None:
    assert tuple(EventRow.model_fields) == COLUMNS


def fits(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> bool:
    """Whether a value fits the part of JSON Schema that ours use."""
    if "$ref" in schema:
        return fits(value, definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return any(fits(value, option, definitions) for option in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    kinds: dict[str, Any] = {
        "string": str,
        "boolean": bool,
        "integer": int,
        "array": list,
        "object": dict,
        "null": type(None),
    }
    if not isinstance(value, kinds[schema["type"]]) or (
        schema["type"] == "integer" and isinstance(value, bool)
    ):
        return False
    if schema["type"] == "string":
        return re.search(schema.get("pattern", ""), value) is not None and len(value) >= schema.get(
            "minLength", 0
        )
    if schema["type"] == "array":
        return all(fits(item, schema.get("items", {}), definitions) for item in value)
    if schema["type"] == "object" and "properties" in schema:
        inner = schema["properties"]
        known = schema.get("additionalProperties") is not False or set(value) <= set(inner)
        return (
            known
            and set(schema.get("required", ())) <= set(value)
            and all(fits(value[k], inner[k], definitions) for k in value if k in inner)
        )
    return True


@pytest.mark.parametrize("path", CONTEXTS, ids=lambda path: path.parent.name + "/" + path.name)
def test_contexts_fit_the_json_schema(path: Path) -> None:
    schema = json_schema("context")
    data = json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")), default=str))
    assert fits(data, schema, schema["$defs"])
    data["records"]["chanels"] = []
    assert not fits(data, schema, schema["$defs"])
    del data["records"]
    assert not fits(data, schema, schema["$defs"])


def test_rules_fit_the_json_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["draft", str(CONTEXTS[0]), "--kernel", "exact", "--out", str(tmp_path / "rule")]) == 0
    capsys.readouterr()
    schema = json_schema("rule")
    for path in (tmp_path / "rule" / "rule.json", ROOT / "docs" / "contexts" / "fines_60_days.yaml"):
        assert fits(yaml.safe_load(path.read_text()), schema, schema["$defs"]), path


@pytest.mark.parametrize("kind", TYPES)
def test_the_verb_prints_json_schema(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", kind, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


# Errors name the field that cures

LOG = "case_id,activity,timestamp,channel\n" + "".join(
    f"{n},{a},2024-05-0{n}T1{h}:00:00Z,desk\n" for n in range(1, 7) for h, a in enumerate("AB")
)
GOOD: dict[str, Any] = {
    "goal": {"id": "g", "intent": "After A, B must happen.", "required": ["B"]},
    "schema": {"actions": ["A", "B", "Never"]},
    "records": {"log": "log.csv", "channels": ["desk"]},
}
WRONG: list[tuple[str, Any, str]] = [
    ("goal", None, "goal: states no goal; gnrs goal new"),
    ("goal.intent", None, "goal.intent: is missing"),
    ("goal.required", ["Bee"], "goal.required: 'Bee' is not in the schema's actions"),
    ("goal.required", ["Never"], "goal.required: no row shows 'Never'"),
    ("goal.roles", ["clerk"], "goal.roles: 'clerk' is not in the schema's roles"),
    ("goal.within", "PT60D", "goal.within: 'PT60D' is not a positive ISO 8601 duration"),
    ("goal.force", "shall", "goal.force: "),
    ("schema", None, "schema: is missing"),
    ("schema.actions", [], "goal.required: 'B' is not in the schema's actions"),
    ("records", None, "records: is missing"),
    ("records.log", None, "records.log: names no log; state records.log or pass --log"),
    ("records.log", "nowhere.csv", "nowhere.csv: no such file"),
    ("records.channels", ["till"], "records.channels"),
    ("records.channels", ["desk", "desk"], "records.channels: 'desk' stands there twice"),
    ("records.columns", {"activity": "act"}, "records.columns.activity: no column 'act' in the log"),
    ("records.zone", "Mars/Olympus", "records.zone: 'Mars/Olympus' is no time zone"),
    ("records.offset", "+1", "records.offset: '+1' is not an offset"),
    ("records.case_end", ["End"], "records.case_end: 'End' is not in the schema's actions"),
    (
        "records.end_of_observation",
        "2020-01-01",
        "records.end_of_observation: 2020-01-01 lies before the first event",
    ),
    ("pools", {}, "pools.scope: is missing"),
]


@pytest.mark.parametrize(
    ("field", "value", "says"), WRONG, ids=[f"{field}-{value}" for field, value, _ in WRONG]
)
def test_an_error_names_the_field_that_cures_it(
    field: str, value: Any, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    data = json.loads(json.dumps(GOOD))
    *above, last = field.split(".")
    place = data
    for key in above:
        place = place[key]
    place.pop(last, None)
    if value is not None:
        place[last] = value
    path = tmp_path / "context.json"
    path.write_text(json.dumps(data))
    assert run(["draft", str(path), "--chains", "2"]) in (1, 2, 3)
    error = capsys.readouterr().err
    assert says in error, error


# Text that fits

APPROVAL, OR_HOLD, EXAMPLES = (
    Path(__file__).parent.parent / "docs" / "contexts" / f"{name}.yaml"
    for name in ("approval", "approval_or_hold", "approval_cases")
)
QUICK = ["--kernel", "exact", "--chains", "2", "--steps", "20"]


def verbs(folder: Path) -> dict[str, list[str]]:
    """A call of every verb that prints text."""
    context = folder / "c.json"
    (folder / "log.csv").write_text(LOG)
    context.write_text(json.dumps({"schema": {"actions": ["A", "B"]}, "records": GOOD["records"]}))
    invoices, rule, draws = str(CONTEXTS[0]), folder / "rule", folder / "x.nc"
    store = str(folder / "store.duckdb")
    (folder / "after.yaml").write_text(
        "{trigger: {act: A, channel: desk}, norm: {constraints: [{template: response, target: B}]}, "
        "evidence: {channels: [desk]}}"
    )
    for cases in ("ab", "abc"):
        append(folder / "two_runs.duckdb", delivered(dict.fromkeys(cases, 1)), "deliveries")
    found = {
        "goals": ["goals", "--split", "dev"],
        "import": ["import", str(folder / "log.csv"), "--out", str(folder / "imported")],
        "profile": ["profile", invoices],
        "lint": ["lint", invoices],
        "schema": ["schema"],
        "goal new": ["goal", "new", str(context), "--sentence", "After A, B must happen.", "--required", "B"],
        "goal edit": ["goal", "edit", str(context), "--within", "P3D"],
        "read": ["read", invoices],
        "draft": ["draft", invoices, *QUICK, "--out", str(rule)],
        "charter": ["charter", "--check", str(APPROVAL), str(OR_HOLD), "--context", invoices],
        "audit": ["audit", invoices, "--rule", str(rule / "rule.json"), "--out", str(rule), "--store", store],
        "export": ["export", str(folder / "after.yaml"), "--to", "declare"],
        "history": ["history", store],
        "drift": ["drift", str(folder / "two_runs.duckdb")],
        "report": ["report", str(rule), "--out", str(folder / "report.html")],
        "ask": ["ask", invoices],
        "compare": ["compare", str(APPROVAL), str(OR_HOLD), "--context", invoices],
        "test": ["test", str(APPROVAL), str(EXAMPLES), "--context", invoices],
        "impact": ["impact", str(APPROVAL), "--context", invoices, "--values", "P5D"],
        "gaps": ["gaps", invoices, "--rule", str(APPROVAL)],
        "sample": ["sample", invoices, *QUICK, "--out", str(draws)],
        "diagnose": ["diagnose", str(draws)],
        "experiment": ["experiment", "list"],
        "fit": ["fit", "--goal", "GNRS-005", "--goal", "GNRS-052"],
    }
    named = {
        command.name or command.callback.__name__ for command in app.registered_commands if command.callback
    }
    named |= {f"goal {command.name}" for command in goal_app.registered_commands}
    named.remove("serve")  # which comes to no end: tests/test_serve_server.py
    assert named == set(found), "a new verb prints text too"
    return {name: call for name, call in found.items() if name not in tier({"ask", "fit"}, set())}


@pytest.mark.parametrize("columns", mostly_slow(["", "72"], but=["72"]))
def test_text_in_a_pipe_fits_and_has_no_padding(
    columns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    else:
        monkeypatch.delenv("COLUMNS", raising=False)
    for name, call in verbs(tmp_path).items():
        assert run(call) in (0, 1), (name, capsys.readouterr().err)
        text = capsys.readouterr().out
        assert text, name
        assert not re.search(r"[ \t]+$", text, re.MULTILINE), name
        widest = max(text.splitlines(), key=len)
        # a path or a command is one piece, which whoever reads must be able to copy
        if columns and len(widest) > int(columns):
            assert re.match(r"\s*(gnrs |wrote |\S+$)", widest) or str(tmp_path) in widest, (name, widest)


@pytest.mark.parametrize(
    "call", [[], ["--help"], ["goal", "--help"], ["draft", "--help"], ["schema", "--help"]]
)
def test_help_in_a_pipe_has_no_padding(call: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run(call)
    assert not re.search(r"[ \t]+$", capsys.readouterr().out, re.MULTILINE)
