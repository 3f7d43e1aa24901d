"""Local times that come twice are read both ways (G8): a hand-made case for every sentence of the entry, and SQL
against the oracle on random rules and logs in the night when clocks are put back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import oracle
import pytest
from agreement import MOST_SEEDS, differences
from pairs import OPERATORS
from test_audit_mutations import CAUGHT, Mutation, answered, caught, compiler
from tiers import tier
from twice_pairs import AMSTERDAM, minutes, twice_pair

from gnrs_ppl.audit.again import check_again, ground
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import Grid, compile_grid, compile_rule
from gnrs_ppl.audit.literal import literal
from gnrs_ppl.audit.run import evaluate, verdicts_of
from gnrs_ppl.context.log import Event, EventLog, read_log
from gnrs_ppl.context.time import Duration, Grain
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import Refused
from gnrs_ppl.rule.types import IMPLEMENTED, Structure


def rule(template: str = "response", **more: Any) -> Structure:
    constraint = {"template": template, "target": "Pay", "deadline": "PT2H", "correlate": "same_case"} | more
    return Structure.model_validate(
        {
            "trigger": {"act": "Fine", "channel": "desk"},
            "norm": {"constraints": [constraint]},
            "evidence": {"channels": ["desk"]},
        }
    )


def records(**more: Any) -> RecordLayer:
    channel = {"name": "desk", "activities": ["Fine", "Pay", "Call"], "closed_world": True}
    channel["coverage"] = [{"start": "2000-01-01", "end": "2035-01-01"}]
    layer = {"channels": [channel], "end_of_observation": "2034-12-31", "zone": "Europe/Amsterdam"}
    return RecordLayer.model_validate(layer | more)


def row(event: str, activity: str, clock: str, offset: int | None = None, case: str = "c") -> Event:
    """A row of 27 October 2024 at a local time, which is the earlier where it comes twice; or at an offset."""
    local = datetime.fromisoformat(f"2024-10-27T{clock}:00")
    ahead = offset if offset is not None else minutes(local.replace(tzinfo=AMSTERDAM))
    utc = local - timedelta(minutes=ahead)
    return Event(event, case, activity, utc, ahead, "second", "ann", "clerk", None, None, "desk")


def said(structure: Structure, layer: RecordLayer, *events: Event) -> list[tuple[str, str]]:
    """Verdict and reason of each instance, by the compiler and, alike, by the oracle."""
    got = evaluate(structure, layer, EventLog.from_events(list(events), layer))
    assert got == oracle.evaluate(structure, layer, list(events))
    return [(v.verdict, v.reason) for v in got]


@pytest.mark.parametrize(
    ("paid", "wanted"),
    [
        (
            "02:30",
            ("satisfied", "proven"),
        ),  # half past two comes an hour and a half or two and a half after one
        ("02:59", ("indeterminate", "twice")),
        ("02:00", ("satisfied", "proven")),
        ("03:00", ("violated", "late")),  # comes once: three hours on
    ],
)
def test_a_verdict_stands_where_both_readings_give_it(paid: str, wanted: tuple[str, str]) -> None:
    at_one = rule(deadline="PT2H30M")
    assert said(at_one, records(), row("f", "Fine", "01:00"), row("p", "Pay", paid)) == [wanted]


def test_what_is_written_with_the_other_offset_or_as_a_date_is_certain() -> None:
    fine = row("f", "Fine", "01:00")
    assert said(rule(), records(), fine, row("p", "Pay", "02:30")) == [("indeterminate", "twice")]
    assert said(rule(), records(), fine, row("p", "Pay", "02:30", offset=60)) == [("violated", "late")]
    always = records(zone=None, offset="+02:00")
    assert said(rule(), always, fine, row("p", "Pay", "02:30")) == [("satisfied", "proven")]
    dated = row("p", "Pay", "00:00")._replace(grain="day")
    assert said(rule(deadline="P3D"), records(), fine, dated)[0][1] != "twice"


def test_an_activation_is_read_both_ways_too() -> None:
    fine = row("f", "Fine", "02:30")
    assert said(rule(deadline="PT1H"), records(), fine, row("p", "Pay", "04:00")) == [("violated", "late")]
    # due at half past four, by clocks that stand two hours or one hour east of UTC
    assert said(rule(), records(), fine, row("p", "Pay", "04:00")) == [("indeterminate", "twice")]


def test_two_such_rows_may_have_come_in_either_order() -> None:
    early, late = row("p", "Pay", "02:10"), row("f", "Fine", "02:50")
    assert said(rule("precedence", deadline=None), records(), early, late) == [("indeterminate", "twice")]
    before = row("p", "Pay", "01:50")
    assert said(rule("precedence", deadline=None), records(), before, late) == [("satisfied", "proven")]


def test_of_more_than_four_such_rows_nothing_is_said() -> None:
    fine = row("f", "Fine", "01:00")
    calls = [row(f"p{i}", "Call", "02:30") for i in range(5)]
    paid = row("p", "Pay", "01:10")
    assert said(rule(), records(), fine, paid, *calls[:4]) == [("satisfied", "proven")]
    assert said(rule(), records(), fine, paid, *calls) == [("indeterminate", "twice")]
    other = [row("g", "Fine", "01:00", case="d"), row("q", "Pay", "01:10", case="d")]
    assert said(rule(), records(), fine, paid, *calls, *other)[1] == ("satisfied", "proven")


def dated(event: str, activity: str, at: datetime, offset: int, grain: Grain = "second") -> Event:
    utc = at - timedelta(minutes=offset)
    return Event(event, "c", activity, utc, offset, grain, "ann", "clerk", None, None, "desk")


SAO_PAULO = (
    rule(deadline="P2D"),
    records(zone="America/Sao_Paulo"),
    [
        dated("f", "Fine", datetime(2018, 2, 15), 0, "day"),
        dated("p", "Pay", datetime(2018, 2, 17, 23, 30), -120),
        dated("q", "Pay", datetime(2018, 2, 25), 0, "day"),
    ],
)
"""Clocks there were put back at midnight, so that the hour before it came twice on the due day."""
AZORES = (
    rule(deadline="P3D"),
    records(zone="Atlantic/Azores"),
    [
        dated("f", "Fine", datetime(2024, 10, 27), 0, "day"),
        *(dated(f"p{day}", "Pay", datetime(2024, 10, 27), 0, "day") for day in range(5)),
    ],
)
"""There midnight comes twice."""


def test_what_comes_twice_before_midnight_comes_on_the_same_day() -> None:
    structure, layer, events = SAO_PAULO
    assert said(structure, layer, *events) == [("satisfied", "proven")]


def test_a_date_is_a_date_where_midnight_comes_twice() -> None:
    structure, layer, events = AZORES
    assert said(structure, layer, *events) == [("satisfied", "tie")]


def test_the_earlier_reading_tells_what_both_say() -> None:
    events = [row("f", "Fine", "01:00"), row("p", "Pay", "02:30")]
    (found,) = evaluate(rule(deadline="PT4H"), records(), EventLog.from_events(events, records()))
    assert (found.verdict, found.slack_seconds, found.witnesses) == ("satisfied", 2.5 * 3600, ("p",))


def test_an_instance_that_only_one_reading_has_is_undecided() -> None:
    first = Structure.model_validate(
        rule().model_dump() | {"trigger": {"act": "Fine", "channel": "desk", "once": "first"}}
    )
    events = [row("f", "Fine", "02:50"), row("g", "Fine", "02:55")]
    assert said(first, records(), *events) == [("indeterminate", "twice")] * 2


def test_a_log_in_local_time_says_so(tmp_path: Path) -> None:
    place = tmp_path / "log.csv"
    place.write_text(
        "case_id,activity,timestamp\nc,Fine,2024-10-27T01:00:00\nc,Pay,2024-10-27T02:30:00\nc,Call,2024-10-28T02:30:00\n"
    )
    layer = records(constants={"channel": "desk"})
    log = read_log(place, layer)
    assert any("read both ways by an audit" in finding for finding in log.findings)
    assert "1 rows stand at a local time that comes twice" in " ".join(check(rule(), layer, log).assumptions)
    assert [v.reason for v in evaluate(rule(), layer, log)] == ["twice"]


FAST = (
    (1, "precedence", "any"),
    (2, "exactly", "at_least"),
    (1, "succession", "any"),
    (2, "not_response", "at_least"),
    (1, "response", "at_least"),
)
HITS = tier(1, 50)


def _agree(seed: int, template: str, operator: str, cases: int = 16) -> Counter[str]:
    try:
        want, found = differences(*twice_pair(seed, template, operator, cases), procedure=True)
    except Refused:
        return Counter()
    assert not found, f"seed {seed}, {template}, {operator}\n" + "\n".join(found[:3])
    return Counter("twice" if v.reason == "twice" else "settled" for v in want)


def test_some_random_rules_in_the_night_mean_what_the_oracle_says() -> None:
    hits = sum((_agree(*key) for key in tier(FAST[-3:], FAST)), Counter[str]())
    assert hits["twice"] >= 10
    assert hits["settled"] >= 10


@pytest.mark.slow
@pytest.mark.parametrize("template", IMPLEMENTED)
def test_random_rules_in_the_night_mean_what_the_oracle_says(
    template: str, record_property: Callable[[str, object], None]
) -> None:
    hits = Counter[str]()
    for seed in range(MOST_SEEDS):
        hits += sum((_agree(seed, template, operator) for operator in OPERATORS), Counter[str]())
        if min(hits["twice"], hits["settled"]) >= HITS:
            break
    record_property("twice", f"{template}: {hits['twice']} of {hits.total()} verdicts undecided")
    assert min(hits["twice"], hits["settled"]) >= HITS


def test_activations_are_compared_with_in_each_reading() -> None:
    others = rule(correlate="different_resource", deadline="PT4H")
    fine, early = row("f", "Fine", "02:30"), row("p", "Pay", "03:45")
    assert said(others, records(), fine, early) == [("violated", "absent")]
    assert said(others, records(), fine, early._replace(resource="bob")) == [("satisfied", "proven")]
    assert said(rule(correlate="different_resource"), records(), fine, early._replace(resource="bob")) == [
        ("indeterminate", "twice")
    ]


def test_a_view_and_a_log_that_has_grown_say_the_same() -> None:
    events = [row("f", "Fine", "01:00"), row("p", "Pay", "02:30"), row("g", "Fine", "02:20", case="d")]
    events += [row("q", "Pay", "03:10", case="d"), row("h", "Fine", "01:00", case="e")]
    log = EventLog.from_events(events, records())
    plan = check(rule(), records(), log)
    query, wanted = compile_rule(plan), evaluate(rule(), records(), log)
    assert {v.reason for v in wanted} == {"twice", "proven", "absent"}
    assert verdicts_of(log.connection.execute(literal(query)).fetchall()) == wanted
    now = ground(plan, log)
    again = check_again(
        plan, log, now, now._replace(cases={"e": now.cases["e"]}, verdicts=tuple(wanted[-1:]))
    )
    assert again is not None
    assert (again.checked, list(again.verdicts)) == (2, wanted)


def test_many_lengths_at_once_are_read_both_ways() -> None:
    lengths = (Duration.parse("PT1H"), Duration.parse("PT2H"), Duration.parse("PT3H"))
    events = [row("f", "Fine", "01:00"), row("p", "Pay", "02:30")]
    log = EventLog.from_events(events, records())
    query = compile_grid(
        check(rule(), records(), log), Grid(lengths, 0), "SELECT point, reason FROM verdicts ORDER BY point"
    )
    told = log.connection.execute(query.sql, query.parameters).fetchall()
    assert told == [(0, "late"), (1, "twice"), (2, "proven")]


KEYS = (
    (1, "precedence", "any"), (2, "exactly", "at_least"), (1, "succession", "any"), (2, "not_response", "at_least"),
    (1, "response", "at_least"), (0, "coexistence", "any"), (2, "init", "at_least"), (1, "exclusive_choice", "at_least"),
)  # fmt: skip
MUTATIONS = [
    Mutation("the earlier is meant", "twice", "CASE WHEN {later} THEN e.\"timestamp\" + to_minutes(w.back) ELSE", "CASE WHEN FALSE THEN e.\"timestamp\" ELSE"),
    Mutation("the offset stays", "twice", 'THEN e."offset" - w.back ELSE', 'THEN e."offset" ELSE'),
    Mutation("all rows of a case are read alike", "twice", "row_number() OVER (PARTITION BY case_id ORDER BY event_id) - 1 AS place", "CAST(0 AS BIGINT) AS place"),
    Mutation("any offset may be meant", "twice", ' AND e."offset" = t.ahead', ""),
    Mutation("dates are in doubt", "twice", """ AND e."grain" <> 'day'""", ""),
    Mutation("the first reading decides", "twice", " AND min(verdict) OVER one = max(verdict) OVER one", ""),
    Mutation("an instance of one reading is settled", "twice", "told AND found = readings AND min", "told AND min"),
    Mutation("many rows are read as written", "twice", "told AND found", "found"),
    Mutation("five rows are read both ways", "twice", "MOST = 4", "MOST = 5"),
    Mutation("the last reading tells", "twice", "ORDER BY number) AS nr", "ORDER BY number DESC) AS nr"),
    Mutation("an undecided verdict keeps its due", "twice", '"due": "NULL"', '"due": "due"'),
    Mutation("an undecided verdict keeps its slack", "twice", '"slack_seconds": "NULL"', '"slack_seconds": "slack_seconds"'),
    Mutation("an undecided verdict keeps its witnesses", "twice", '"witnesses": "[]"', '"witnesses": "witnesses"'),
    Mutation("cases begin as written", "instances", "FROM {st.events} WHERE \"timestamp\" IS NOT NULL GROUP BY case_id", "FROM events WHERE \"timestamp\" IS NOT NULL GROUP BY case_id"),
    Mutation("a case is read once", "evidence", "table, shown = st.events", 'table, shown = "events"'),
    Mutation("violations of one reading open a procedure", "twice", "AND told AND found = readings", "", procedure=True),
]  # fmt: skip


@pytest.mark.slow
def test_mutations_of_the_readings_are_caught(record_property: Callable[[str, object], None]) -> None:
    drawn = [twice_pair(*key, 40) for key in KEYS]
    pairs = [pair for one in (*drawn, SAO_PAULO, AZORES) if (pair := answered(*one))]
    assert len(pairs) == len(KEYS) + 2
    found = {}
    for mutation in MUTATIONS:
        with compiler(mutation) as run:
            found[mutation.what] = caught(run, mutation, pairs)
    rest = {what: kind for what, kind in found.items() if kind != "wrong verdict"}
    record_property("mutations", f"{len(found) - len(rest)} of {len(found)} mutations of the readings caught")
    assert 1 - len(rest) / len(found) >= CAUGHT, rest
