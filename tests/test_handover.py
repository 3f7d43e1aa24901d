"""A rule handed over finds what the audit finds, and what a form cannot hold is refused."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
import pytest
from pairs import random_pair
from stored import RULE, delivered
from tiers import tier

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.literal import dbt_test, view
from gnrs_ppl.audit.sql import Query
from gnrs_ppl.cli import run
from gnrs_ppl.context.log import Event, EventLog
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.report.handover import exported
from gnrs_ppl.rule.declare import declare
from gnrs_ppl.rule.types import IMPLEMENTED, Structure

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = "Deliver'; DROP TABLE events; -- {{ 1/0 }} {% raw %} {# $target \\"


def rows(log: EventLog, query: Query) -> list[tuple[Any, ...]]:
    return log.connection.execute(query.sql, query.parameters).fetchall()


def checked(structure: Structure, records: RecordLayer, events: list[Event]) -> tuple[EventLog, Query]:
    log = EventLog.from_events(events, records)
    return log, compile_rule(check(structure, records, log))


def hostile() -> tuple[EventLog, Query]:
    norm = RULE.norm.model_dump()
    norm["constraints"][0]["target"] = {"activity": HOSTILE}
    rule = Structure.model_validate(RULE.model_dump() | {"norm": norm})
    log = delivered({"a": 1, "b": 5, "c": None}).events
    log.connection.execute("UPDATE events SET activity = ? WHERE activity = 'Deliver'", [HOSTILE])
    desk = log.records.channels[0].model_copy(update={"activities": ("Order", HOSTILE)})
    return log, compile_rule(check(rule, log.records.model_copy(update={"channels": (desk,)}), log))


def pairs() -> list[tuple[EventLog, Query]]:
    drawn = [(2, "response", "any"), (1, "absence", "all"), (2, "chain_response", "any")]
    drawn += [(seed, template, "any") for template in tier([], IMPLEMENTED) for seed in range(6)]
    found = [hostile()]
    for seed, template, operator in drawn:
        with suppress(Refused):
            found.append(checked(*random_pair(seed, template, operator, 60)))
    return found


def test_views_and_tests_of_dbt_find_what_the_audit_finds() -> None:
    seen = 0
    given = pairs()
    for log, query in given:
        want = rows(log, query)
        log.connection.execute(view(query, 'a "view"'))
        assert log.connection.execute('SELECT * FROM "a ""view"""').fetchall() == want
        template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(
            dbt_test(query, binding=True)
        )
        asked = template.render(config=lambda **_: "", ref=lambda model: f'"{model}"')
        assert log.connection.execute(asked).fetchall() == [r for r in want if r[3] == "violated"]
        seen += sum(r[3] == "violated" for r in want)
    assert seen > 50
    assert len(given) > 3


def rule(opener: str | None = "Order", **constraint: Any) -> dict[str, Any]:
    trigger = {"act": opener, "channel": "desk"} if opener else {}
    return {
        "trigger": trigger,
        "norm": {"constraints": [{"target": "Deliver", "correlate": "same_case"} | constraint]},
        "evidence": {"channels": ["desk"]},
    }


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (rule(template="response", deadline="P2D"), "Response[Order, Deliver] | | | 0,2,d"),
        (rule(template="response", deadline="PT90M"), "Response[Order, Deliver] | | | 0,90,m"),
        (rule(template="precedence"), "Precedence[Deliver, Order] | | |"),
        (rule(template="succession"), "Succession[Order, Deliver] | | |"),
        (rule(template="chain_succession"), "Chain Succession[Order, Deliver] | | |"),
        (rule(template="alternate_response"), "Alternate Response[Order, Deliver] | | |"),
        (rule(template="alternate_precedence"), "Alternate Precedence[Deliver, Order] | | |"),
        (rule(template="not_chain_precedence"), "Not Chain Precedence[Deliver, Order] | | |"),
        (rule(template="not_coexistence"), "Not Responded Existence[Order, Deliver] | | |"),
        (rule(None, template="absence", count=3), "Absence3[Deliver] | |"),
        (rule(None, template="init"), "Init[Deliver] | |"),
    ],
)
def test_a_rule_in_declare(given: dict[str, Any], line: str) -> None:
    text = declare(Structure.model_validate(given)).text.splitlines()
    assert text[-1] == line
    assert text[:-1] == [f"activity {a}" for a in ("Order", "Deliver") if a in line]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (RULE.model_dump(), "an office that must act"),
        (rule(template="response") | {"scope": {"locations": ["here"]}}, "a scope"),
        (rule(template="response", correlate="same_resource"), "correlation same_resource"),
        (rule(template="response", unless="Cancel"), "an exception"),
        (rule(template="response", deadline="P1M"), "a deadline in months"),
        (rule(template="response", deadline="5WD"), "working time"),
        (rule(template="response", deadline="8WH"), "working time"),
        (rule(template="response", target={"any_of": ["A", "B"]}), "alternatives"),
        (rule(template="existence"), "existence after an act"),
        (rule(None, template="absence", deadline="P1D"), "a deadline of absence"),
        (rule(template="response", target="a|b"), "brackets, bars, commas or colons"),
    ],
)
def test_what_declare_cannot_say_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match="DECLARE has no words for") as refused:
        declare(Structure.model_validate(given))
    assert says in str(refused.value)


def test_how_far_working_time_is_counted_is_said(tmp_path: Path) -> None:
    log, stated, context = (tmp_path / name for name in ("log.csv", "rule.json", "context.json"))
    log.write_text("case_id,activity,timestamp\na,Order,2024-01-05T09:00:00Z\n")
    stated.write_text(json.dumps(rule(template="response", deadline="5WD")))
    desk = {"name": "desk", "activities": ["Order", "Deliver"]}
    records = {"log": "log.csv", "channels": [desk], "constants": {"channel": "desk"}, "calendar": {}}
    acts = [{"name": "Order"}, {"name": "Deliver"}]
    context.write_text(json.dumps({"schema": {"actions": acts}, "records": records}))
    found = exported(stated, "view", context)
    (line,) = (note for note in found.notes if note.startswith("its calendar ends on"))
    assert line.startswith("its calendar ends on 2024-01-17, ")
    grown = [
        Event(day, day, "Order", datetime(2024, 1, int(day), 9), 0, "second", channel="desk")
        for day in ("05", "31")
    ]
    connection = EventLog.from_events(grown, RecordLayer.model_validate(records)).connection
    connection.execute(found.text)
    (name,) = re.findall('VIEW ("[^"]+")', found.text)
    told = connection.execute(f"SELECT case_id, reason FROM {name} ORDER BY ALL").fetchall()
    assert told[1] == ("31", "uncounted")
    assert told[0][1] != "uncounted"


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    approval = str(ROOT / "docs" / "contexts" / "approval.yaml")
    context = str(ROOT / "examples" / "invoices" / "context.yaml")
    assert run(["export", approval, "--to", "dbt", "--context", context, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert '{{ ref("events") }}' in said["text"]
    assert "export it again when" in said["notes"][-1]
    assert run(["export", approval, "--to", "view"]) == 2
    assert "no log is named" in capsys.readouterr().err
    assert run(["export", approval, "--to", "declare"]) == 2
    assert "DECLARE has no words for an office that must act" in capsys.readouterr().err
