"""A log that has grown, checked again where it changed, gives what a whole check gives."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from functools import partial
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from pairs import random_pair
from stored import RULE, delivered
from tiers import tier

from gnrs_ppl.audit.again import Checked, check_again, ground, surroundings_of, surroundings_text
from gnrs_ppl.audit.checkable import CheckPlan, check
from gnrs_ppl.audit.compile import compile_procedure, compile_rule
from gnrs_ppl.audit.run import execute
from gnrs_ppl.context.log import Event, EventLog
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import Refused
from gnrs_ppl.history.store import append, checked
from gnrs_ppl.rule.types import IMPLEMENTED, Structure

CASES = 18


def whole(structure: Structure, records: RecordLayer, log: EventLog) -> tuple[CheckPlan, Checked]:
    plan = check(structure, records, log)
    follow_up = compile_procedure(plan)
    steps = tuple(execute(follow_up, log)) if follow_up else ()
    verdicts = tuple(execute(compile_rule(plan), log))
    return plan, ground(plan, log)._replace(verdicts=verdicts, steps=steps)


def grown(rows: list[Event], how: str, chance: random.Random) -> list[Event]:
    """The log before it grew: without its latest rows, without some cases, or without any rows."""
    if how == "later":
        dated = sorted(row.timestamp for row in rows if row.timestamp is not None)
        since = dated[int(len(dated) * chance.uniform(0.5, 0.95))]
        return [row for row in rows if row.timestamp is None or row.timestamp < since]
    if how == "cases":
        return [row for row in rows if int(row.case_id[-2:]) % 3]
    return [row for row in rows if chance.random() < 0.97]


@settings(max_examples=tier(1, 600))
@example("absence", "any", 311, "later", False)
@example("precedence", "any", 5, "cases", False)
@given(
    st.sampled_from(IMPLEMENTED),
    st.sampled_from(["any", "any", "all"]),
    st.integers(0, 500),
    st.sampled_from(["later", "cases", "any"]),
    st.booleans(),
)
def test_changed_cases_alone_give_the_whole(
    template: str, operator: str, seed: int, how: str, pin: bool
) -> None:
    try:
        structure, records, rows = random_pair(seed, template, operator, CASES)
        if pin:
            ends = max(r.timestamp for r in rows if r.timestamp) + timedelta(days=2)
            records = records.model_copy(update={"end_of_observation": ends})
        before = EventLog.from_events(grown(rows, how, random.Random(seed)), records)
        log = EventLog.from_events(rows, records)
        _, then = whole(structure, records, before)
        plan, now = whole(structure, records, log)
    except Refused:
        return
    if then.basis != now.basis:
        return
    found = check_again(plan, log, ground(plan, log), then)
    if found is None:
        REACHED[how, False] = REACHED.get((how, False), 0) + 1
        return
    assert found.verdicts == now.verdicts
    assert found.steps == now.steps
    REACHED[how, found.checked < found.cases] = REACHED.get((how, found.checked < found.cases), 0) + 1


REACHED: dict[tuple[str, bool], int] = {}


def test_some_cases_were_spared() -> None:
    assert all(REACHED.get((how, True), 0) for how in ("later", "cases")), REACHED


def test_a_store_spares_what_it_has_seen(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    earlier = partial(checked, store)
    days = {f"c{n}": (None, 1, 5, 0)[n % 4] for n in range(20)}
    append(store, delivered(days, earlier=earlier), "deliveries")
    days |= {"c1": 5, "new": None}
    result = delivered(days, earlier=earlier)
    assert result.verdicts == delivered(days).verdicts
    assert result.findings[-1].startswith("2 of 22 cases have changed")
    append(store, result, "deliveries")
    assert delivered(days, earlier=earlier).findings[-1].startswith("0 of 22 cases")
    norm = RULE.norm.model_dump(mode="json")
    norm["constraints"][0]["deadline"] = "P3D"
    another = Structure.model_validate(RULE.model_dump(mode="json") | {"norm": norm})
    assert "cases have changed" not in "".join(delivered(days, another, earlier).findings)


def test_surroundings_are_read_back() -> None:
    plan = delivered({"a": 1}, earlier=lambda _: None).standing
    assert plan is not None
    assert surroundings_of(json.loads(surroundings_text(plan.surroundings))) == plan.surroundings
