"""Working days and working hours: a hand-made case for every W line, SQL against the oracle on random rules and
logs, bounds against numpy and pandas, and their words."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import oracle
import pandas as pd
import pytest
from agreement import differences, reachable
from pairs import OPERATORS
from pydantic import ValidationError
from tiers import few, tier
from working_pairs import random_calendar, working_pair

from gnrs_ppl.audit.calendar import WorkingTime
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import Grid, compile_grid
from gnrs_ppl.audit.run import evaluate
from gnrs_ppl.audit.sql import SqlStatement
from gnrs_ppl.audit.types import ROLL_UP
from gnrs_ppl.benchmarks.realcharter.adapter import length as card_length
from gnrs_ppl.candidates.build import build_pools
from gnrs_ppl.context.load import load_context
from gnrs_ppl.context.log import Event, EventLog, open_connection
from gnrs_ppl.context.time import Duration, Grain
from gnrs_ppl.context.types import WEEKDAYS, Calendar, Goal, PublicHolidays, RecordLayer
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.posterior.verdicts import run_checks
from gnrs_ppl.reading.goal import filled
from gnrs_ppl.reading.reader import read
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.realize.scanner import ParseError
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import IMPLEMENTED, Norm, Procedure, Structure
from gnrs_ppl.rulebook.compare import compare
from gnrs_ppl.rulebook.imagined import START
from gnrs_ppl.rulebook.impact import impact

OFFICE = {"hours": ["09:00-17:00"], "zone": "Europe/Amsterdam", "holidays": {"country": "NL"}}
"""Working time in the Netherlands: clocks are put forward on 31 March 2024, Easter Sunday."""


def rule(deadline: str, template: str = "response", **more: Any) -> Structure:
    constraint = {"template": template, "target": "Pay", "deadline": deadline, "correlate": "same_case"}
    trigger = {"act": "Fine", "channel": "desk", **more.pop("trigger", {})}
    return Structure.model_validate(
        {
            "trigger": trigger,
            "norm": {"constraints": [constraint | more]},
            "evidence": {"channels": ["desk"]},
        }
    )


def records(calendar: dict[str, Any] | None = OFFICE, **more: Any) -> RecordLayer:
    channel = {"name": "desk", "activities": ["Fine", "Pay", "Call"], "closed_world": True}
    channel["coverage"] = [{"start": "2000-01-01", "end": "2035-01-01"}]
    layer = {"channels": [channel], "end_of_observation": "2034-12-31T00:00:00Z", "calendar": calendar}
    return RecordLayer.model_validate(layer | more)


def row(event: str, activity: str, local: str, zone: str = "Europe/Amsterdam", fold: int = 0) -> Event:
    """A row of case c at a local time; of grain day where only a date is given."""
    grain: Grain = "second" if "T" in local else "day"
    at = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone), fold=fold)
    ahead = at.utcoffset()
    assert ahead is not None
    utc = at.astimezone(UTC).replace(tzinfo=None)
    return Event(
        event, "c", activity, utc, int(ahead.total_seconds()) // 60, grain, "ann", "clerk", None, None, "desk"
    )


def said(structure: Structure, layer: RecordLayer, *events: Event) -> list[tuple[str, str, str | None]]:
    """Verdict, reason and due of each instance, by the compiler and, alike, by the oracle."""
    got = evaluate(structure, layer, EventLog.from_events(list(events), layer))
    assert got == oracle.evaluate(structure, layer, list(events))
    return [
        (v.verdict, v.reason, f"{v.due.local.isoformat()}{v.due.offset:+d}" if v.due else None) for v in got
    ]


def test_w1_a_working_day_is_a_weekday_and_no_holiday() -> None:
    # Thursday before Easter: Good Friday and Easter Monday are holidays there
    assert said(rule("2WD"), records(), row("f", "Fine", "2024-03-28T10:00:00")) == [
        ("violated", "absent", "2024-04-03T23:59:59+120")
    ]
    plain = {"zone": "Europe/Amsterdam"}
    assert said(rule("2WD"), records(plain), row("f", "Fine", "2024-03-28T10:00:00")) == [
        ("violated", "absent", "2024-04-01T23:59:59+120")
    ]
    weekend = plain | {"weekdays": ["saturday", "sunday"]}
    assert said(rule("2WD"), records(weekend), row("f", "Fine", "2024-03-28T10:00:00")) == [
        ("violated", "absent", "2024-03-31T23:59:59+120")
    ]


def test_w2_listed_holidays_are_known_for_their_years_only() -> None:
    listed = records({"zone": "Europe/Amsterdam", "holidays": ["2024-12-25", "2024-12-26"]})
    kept = ("violated", "absent", "2024-12-31T23:59:59+60")
    assert said(rule("4WD"), listed, row("f", "Fine", "2024-12-23T10:00:00")) == [kept]
    unknown = [("indeterminate", "uncounted", None)]
    assert said(rule("5WD"), listed, row("f", "Fine", "2024-12-23T10:00:00")) == unknown
    assert said(rule("1WD"), listed, row("f", "Fine", "2023-12-29T10:00:00")) == unknown


@pytest.mark.parametrize(
    ("paid", "verdict"),
    [
        ("2024-03-29T00:00:01", "satisfied"),
        ("2024-04-02T23:59:59", "satisfied"),
        ("2024-04-03T00:00:00", "violated"),
    ],
)
def test_w3_the_own_day_does_not_count_and_the_last_counts_whole(paid: str, verdict: str) -> None:
    calendar = {"zone": "Europe/Amsterdam", "holidays": ["2024-03-29", "2024-04-01"]}
    fine, pay = row("f", "Fine", "2024-03-28T23:30:00"), row("p", "Pay", paid)
    assert [v[0] for v in said(rule("1WD"), records(calendar), fine, pay)] == [verdict]


def test_w3_back_from_the_first_instant_of_the_day() -> None:
    # Tuesday after Easter: Thursday and Wednesday went before, Good Friday and Easter Monday do not count
    back, fine = rule("2WD", "precedence"), row("f", "Fine", "2024-04-02T10:00:00")
    for paid, verdict in (("2024-03-27T00:00:00", "satisfied"), ("2024-03-26T23:59:59", "violated")):
        assert [v[0] for v in said(back, records(), row("p", "Pay", paid), fine)] == [verdict]


def test_w3_days_of_the_calendar_and_not_of_the_log() -> None:
    # 23:30 in Amsterdam is still that day there, whatever the log's own clock says
    early = row("f", "Fine", "2024-05-14T06:00:00", "Asia/Tokyo")  # Monday 13th, 23:00 in Amsterdam
    assert said(rule("1WD"), records(), early)[0][2] == "2024-05-14T23:59:59+120"
    as_a_date = row("f", "Fine", "2024-05-14", "Asia/Tokyo")
    assert said(rule("2WD"), records(), as_a_date)[0][2] == "2024-05-16T00:00:00+540"


def test_w4_due_has_the_offset_of_the_day_it_falls_on() -> None:
    assert (
        said(rule("1WD"), records(), row("f", "Fine", "2024-03-29T10:00:00"))[0][2]
        == "2024-04-02T23:59:59+120"
    )
    assert (
        said(rule("1WD"), records(), row("f", "Fine", "2024-10-25T10:00:00"))[0][2]
        == "2024-10-28T23:59:59+60"
    )


@pytest.mark.parametrize(
    ("started", "duration", "due"),
    [
        ("2024-05-13T10:00:00", "7WH", "2024-05-13T17:00:00+120"),  # the close, not the next morning
        ("2024-05-13T10:00:00", "8WH", "2024-05-14T10:00:00+120"),
        ("2024-05-13T18:00:00", "8WH", "2024-05-14T17:00:00+120"),
        ("2024-05-17T16:30:00", "1WH", "2024-05-21T09:30:00+120"),  # Whit Monday between
        ("2024-03-29T16:00:00", "2WH", "2024-04-02T11:00:00+120"),
    ],
)
def test_w5_hours_pass_while_the_office_is_open(started: str, duration: str, due: str) -> None:
    assert said(rule(duration), records(), row("f", "Fine", started))[0][2] == due


def test_w5_days_of_23_and_of_25_hours() -> None:
    always = records({"weekdays": list(WEEKDAYS), "hours": ["00:00-24:00"], "zone": "Europe/Amsterdam"})
    assert (
        said(rule("24WH"), always, row("f", "Fine", "2024-03-31T00:00:00"))[0][2] == "2024-04-01T01:00:00+120"
    )
    assert (
        said(rule("24WH"), always, row("f", "Fine", "2024-10-27T00:00:00"))[0][2] == "2024-10-27T23:00:00+60"
    )


def test_w5_back_to_the_latest_opening() -> None:
    fine = row("f", "Fine", "2024-05-14T09:00:00")
    back = rule("8WH", "precedence")
    assert [v[0] for v in said(back, records(), row("p", "Pay", "2024-05-13T09:00:00"), fine)] == [
        "satisfied"
    ]
    assert [v[0] for v in said(back, records(), row("p", "Pay", "2024-05-13T08:59:59"), fine)] == ["violated"]


@pytest.mark.parametrize(
    ("calendar", "deadline", "started"),
    [
        (None, "2WD", "2024-05-13T10:00:00"),
        ({"zone": "Europe/Amsterdam"}, "8WH", "2024-05-13T10:00:00"),
        (OFFICE | {"holidays": ["2025-01-01"]}, "2WD", "2024-05-13T10:00:00"),
        (OFFICE, "100WH", "2024-05-13"),
    ],
)
def test_w6_what_cannot_be_counted_has_no_verdict(
    calendar: dict[str, Any] | None, deadline: str, started: str
) -> None:
    fine, pay = row("f", "Fine", started), row("p", "Pay", "2024-05-13T11:00:00")
    assert said(rule(deadline), records(calendar), fine, pay) == [("indeterminate", "uncounted", None)]


def test_w6_before_every_reason_but_scope() -> None:
    call = {"act": "Call", "channel": "desk"}
    waiting = rule("1WD", after=call, trigger={"window": "2WD"})
    fine = row("f", "Fine", "2024-05-13T10:00:00")
    assert said(waiting, records(), fine) == [("not_activated", "no_after", None)]
    assert said(waiting, records(None), fine) == [("indeterminate", "uncounted", None)]
    nameless = fine._replace(activity=None)
    assert said(waiting, records(None), nameless) == [("indeterminate", "scope", None)]
    without_use = rule("P1D", trigger={"window": "2WD"})
    assert said(without_use, records(None), fine)[0][:2] == ("violated", "absent")


def test_w7_a_time_that_comes_twice_starts_no_working_hours() -> None:
    always = {"hours": ["00:00-24:00"], "weekdays": list(WEEKDAYS), "zone": "Europe/Amsterdam"}
    local = records(always, zone="Europe/Amsterdam")
    for fold in (0, 1):
        twice = row("f", "Fine", "2024-10-27T02:30:00", fold=fold)
        assert said(rule("8WH"), local, twice) == [("indeterminate", "uncounted", None)]
        assert said(rule("8WH"), records(always), twice)[0][1] == "absent", "a log with offsets says which"
        assert said(rule("2WD"), local, twice)[0][2] == "2024-10-29T23:59:59+60"
    for outside in ("2024-10-27T01:59:59", "2024-10-27T03:00:00"):
        assert said(rule("8WH"), local, row("f", "Fine", outside))[0][1] == "absent"


@pytest.mark.parametrize(
    ("deadline", "window", "fits"),
    [
        ("5WD", "5WD", True),
        ("6WD", "5WD", False),
        ("8WH", "5WD", False),
        ("1WD", "P12M", False),
        ("P4D", "5WD", True),
        ("P5D", "5WD", False),
        ("PT2H", "3WH", True),
    ],
)
def test_w8_a_deadline_fits_the_window_on_every_calendar(deadline: str, window: str, fits: bool) -> None:
    assert Duration.parse(deadline).fits_within(Duration.parse(window)) is fits
    structure = rule(deadline, trigger={"window": window})
    log = EventLog.from_events([row("f", "Fine", "2024-05-13T10:00:00")], records())
    if fits:
        assert check(structure, records(), log)
    else:
        with pytest.raises(InputError, match=f"deadline {deadline} can end after the window {window}"):
            check(structure, records(), log)


def test_w9_dates_are_too_coarse_for_a_working_day() -> None:
    events = [row("f", "Fine", "2024-05-13"), row("p", "Pay", "2024-05-14")]
    with pytest.raises(Refused, match="coarser than half of 1WD"):
        said(rule("1WD"), records(), *events)
    assert said(rule("2WD"), records(), *events)[0][0] == "satisfied"


def test_w10_where_working_time_does_not_go() -> None:
    for field in ("quiet_after", "match_within"):
        with pytest.raises(ValidationError, match="2WD is working time, which goes with deadlines"):
            records(**{field: "2WD"})
    log = EventLog.from_events([row("f", "Fine", "2024-05-13T10:00:00")], records(None))
    with pytest.raises(InputError, match="2WD is working time, and the records declare no calendar"):
        compare(rule("2WD"), rule("P2D"), records(None))
    with pytest.raises(InputError, match="2WD is working time, and the records declare no calendar"):
        impact(rule("2WD"), records(None), log)


@pytest.mark.parametrize(
    ("other", "last"),
    [
        ("2WD", None),
        ("3WD", timedelta(days=2)),  # begun on a Monday: Wednesday has gone by, and Thursday has not
        ("P7D", timedelta(days=2)),
        ("16WH", timedelta(days=1, hours=8)),  # Tuesday at five, and not its midnight
    ],
)
def test_w10_rules_in_working_time_are_compared_by_the_calendar(other: str, last: timedelta | None) -> None:
    found = compare(rule("2WD"), rule(other), records())
    assert found.differ == (last is not None)
    if last is not None:
        assert found.searched is not None
        assert found.searched.difference is not None
        first, second = (happening.at for happening in found.searched.difference.trace[:2])
        assert first + last < second


def test_w10_a_start_is_tried_on_which_hours_are_no_working_hours() -> None:
    """From nine on a Monday eight working hours are eight hours."""
    of_case, of_case_in_hours = (
        Structure.model_validate(rule(deadline, "existence").model_dump() | {"trigger": {}})
        for deadline in ("PT8H", "8WH")
    )
    found = compare(of_case, of_case_in_hours, records(OFFICE | {"zone": "UTC"}))
    assert found.searched is not None
    assert found.searched.difference is not None
    assert found.searched.difference.trace[0].at == START + timedelta(days=5)
    always = records({"hours": ["00:00-24:00"], "zone": "UTC", "weekdays": list(WEEKDAYS)}, zone="UTC")
    assert compare(rule("24WH"), rule("P1D"), always).answer == "no difference found"


def test_w10_other_lengths_of_working_time_are_tried() -> None:
    events = [
        event
        for n in range(12)
        for event in (
            row(f"f{n}", "Fine", "2024-05-13T10:00:00")._replace(case_id=f"c{n}"),
            row(f"p{n}", "Pay", f"2024-05-{14 + n:02d}T10:00:00")._replace(case_id=f"c{n}"),
        )
    ]
    found = impact(rule("4WD"), records(), EventLog.from_events(events, records()))
    shown = {str(point.value): point.violated for point in found.points}
    for value, violated in shown.items():
        assert violated == Counter(v for v, _, _ in said(rule(value), records(), *events))["violated"]
    assert [shown[v] for v in ("1WD", "2WD", "4WD", "5WD", "8WD")] == [11, 10, 8, 4, 1]


@pytest.mark.parametrize(
    ("calendar", "message"),
    [
        ({"holidays": {"country": "XX"}}, "no holidays of a country 'XX' are known"),
        ({"holidays": {"country": "DE", "subdivision": "ZZ"}}, "no holidays of a part 'ZZ' of DE"),
        ({"hours": ["17:00-09:00"]}, "'17:00-09:00' are no hours of a day"),
        ({"hours": ["9-17"]}, "'9-17' are no hours of a day"),
        ({"hours": ["13:00-17:00", "09:00-12:00"]}, "does not begin after"),
        ({"weekdays": []}, "weekdays"),
        ({"weekdays": ["Monday"]}, "monday"),
        ({"zone": "Mars/Olympus"}, "no time zone"),
    ],
)
def test_calendars_that_say_nothing_are_malformed(calendar: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Calendar.model_validate(calendar)


@pytest.mark.parametrize(
    "text", ["0WD", "-1WD", "5wd", "1WD2WH", "P5WD", "5 WD", "2001WD", "20001WH", "1.5WH"]
)
def test_what_is_no_working_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|longer"):
        Duration.parse(text)


def test_the_audit_says_how_it_counted() -> None:
    log = EventLog.from_events([row("f", "Fine", "2024-05-13T10:00:00")], records())
    told = check(rule("8WH"), records(), log).assumptions
    assert (
        "working time is counted on monday, tuesday, wednesday, thursday, friday, 09:00-17:00 by the clocks of "
        "Europe/Amsterdam, with the holidays of NL"
    ) in told
    assert any("declare no calendar" in text for text in check(rule("8WH"), records(None), log).assumptions)
    assert not any("working" in text for text in check(rule("P1D"), records(), log).assumptions)


WORDS = {
    "1WD": "one working day",
    "5WD": "five working days",
    "12WD": "12 working days",
    "1WH": "one working hour",
    "8WH": "eight working hours",
    "40WH": "40 working hours",
}


@pytest.mark.parametrize(("written", "words"), WORDS.items())
@pytest.mark.parametrize("template", ["response", "precedence", "responded_existence", "absence"])
def test_texts_say_working_time_and_read_back(written: str, words: str, template: str) -> None:
    plain = rule(written, template, trigger={"window": written})
    steps = [{"stage": "review", "name": "look", "role": "clerk"}]
    procedure = Procedure.model_validate({"steps": steps, "response_time": written})
    structure = plain.model_copy(update={"procedure": procedure})
    lexicon = Lexicon({}).including(structure)
    text = render(structure, lexicon)
    assert words in text
    assert parse(text, lexicon) == canonical(structure)
    for mutant in (*(other for other in WORDS.values() if other != words), words.replace("working ", "")):
        try:
            assert parse(text.replace(words, mutant), lexicon) != canonical(structure)
        except ParseError:
            continue


@pytest.mark.parametrize("template", few(IMPLEMENTED, 2))
def test_sql_and_oracle_agree_on_working_time(
    template: str, record_property: Callable[[str, object], None]
) -> None:
    """In the full tier until each verdict that a template can have, and `uncounted`, was hit fifty times by rules
    whose norm counts working time."""
    hits: Counter[str] = Counter()
    counted = template not in ("init", "end")  # these have no deadline
    wanted = [*reachable(template, "any"), "uncounted"] if counted else []
    for seed in range(tier(1, 60)):
        for operator in OPERATORS:
            structure, layer, events = working_pair(seed, template, operator, tier(16, 64))
            try:
                want, found = differences(structure, layer, events, procedure=seed % 3 == 1)
            except Refused:
                continue
            assert not found, f"seed {seed} {operator}\n" + "\n".join(found[:3])
            (constraint,) = structure.norm.constraints
            if any(d.working for d in (constraint.deadline, structure.trigger.window) if d):
                hits.update(v.verdict for v in want)
                hits.update(v.reason for v in want if v.reason == "uncounted")
        if all(hits[name] >= 50 for name in wanted) and seed >= 2:
            break
    record_property("working time", f"{template}: {dict(sorted(hits.items()))}")
    assert tier(True, all(hits[name] >= 50 for name in wanted)), hits


# ---- bounds against other libraries


def bounds(
    calendar: Calendar, starts: Sequence[datetime], duration: Duration, sign: Any
) -> list[datetime | None]:
    """Where SQL has working time from some instants (naive UTC) end or begin, in naive UTC."""
    layer = RecordLayer(calendar=calendar)
    working = WorkingTime(layer, (min(starts), max(starts)), (duration,))
    st = SqlStatement({"microsecond"}, (0,))
    st.add("starts", "Instants", "SELECT inst, at_ts, at_off, at_grain FROM given")
    name = working.bound(st, "ended", "starts", "at_", duration, sign)
    query = st.query(
        f"SELECT g.inst, w.bound_ts FROM given AS g LEFT JOIN {name} AS w USING (inst) ORDER BY 1"
    )
    connection = open_connection()
    connection.execute(
        "CREATE TABLE given AS SELECT unnest(range(len($starts))) AS inst, unnest($starts::TIMESTAMP[]) AS at_ts, "
        "0 AS at_off, 'microsecond' AS at_grain",
        {"starts": list(starts)},
    )
    return [bound for _, bound in connection.execute(query.sql, query.parameters).fetchall()]


def holidays_of(calendar: Calendar) -> list[date]:
    if isinstance(calendar.holidays, PublicHolidays):
        import holidays

        known = holidays.country_holidays(
            calendar.holidays.country, subdiv=calendar.holidays.subdivision, years=range(2022, 2027)
        )
        return sorted(known)
    return list(calendar.holidays)


def random_starts(rng: random.Random, many: int) -> list[datetime]:
    """Instants of 2024, half of them within three days of a change of clocks."""
    changes = (datetime(2024, 3, 10), datetime(2024, 3, 31), datetime(2024, 10, 27), datetime(2024, 11, 3))
    return [
        (
            rng.choice(changes) + timedelta(minutes=15 * rng.randrange(-288, 288))
            if rng.random() < 0.5
            else datetime(2024, 2, 1) + timedelta(minutes=15 * rng.randrange(96 * 270))
        )
        for _ in range(many)
    ]


def settings(seed: int) -> tuple[random.Random, Calendar, list[datetime]]:
    rng = random.Random(f"calendar {seed}")
    calendar = random_calendar(rng)
    stated = calendar.holidays
    if isinstance(stated, tuple) and stated:  # known far enough on both sides
        calendar = calendar.model_copy(update={"holidays": (*stated, date(2023, 6, 1), date(2025, 6, 2))})
    return rng, calendar.model_copy(update={"zone": calendar.zone or "UTC"}), random_starts(rng, 50)


def test_working_days_are_those_of_numpy() -> None:
    """Random (start, duration, zone, holiday set), on and back: 300, in the full tier 20,000."""
    compared = 0
    for seed in range(tier(3, 200)):
        rng, calendar, starts = settings(seed)
        clock, n = ZoneInfo(calendar.zone or "UTC"), rng.choice((1, 2, 3, 5, 10, 30))
        mask = "".join(str(int(day in calendar.weekdays)) for day in WEEKDAYS)
        for sign, roll, step in (("+", "backward", n), ("-", "forward", -n)):
            got = bounds(calendar, starts, Duration(working_days=n), sign)
            days = [start.replace(tzinfo=UTC).astimezone(clock).date() for start in starts]
            wanted = np.busday_offset(
                np.array(days, "datetime64[D]"),
                step,
                roll=roll,
                weekmask=mask,
                holidays=holidays_of(calendar),
            ).astype(object)
            for bound, day in zip(got, wanted, strict=True):
                assert bound is not None
                edge = bound + timedelta(microseconds=1 if sign == "+" else 0)
                midnight = pd.Timestamp(day).tz_localize(clock, nonexistent="shift_forward", ambiguous=True)
                after = pd.Timestamp(day + timedelta(days=1)).tz_localize(
                    clock, nonexistent="shift_forward", ambiguous=True
                )
                assert edge == (after if sign == "+" else midnight).tz_convert("UTC").tz_localize(None)
                compared += 1
    assert compared == tier(300, 20_000)


def test_working_hours_are_those_of_pandas() -> None:
    """Every quarter of an hour whose local time lies in the hours, counted; 300, in the full tier 10,000."""
    compared = 0
    for seed in range(tier(6, 200)):
        rng, calendar, starts = settings(seed)
        hours = calendar.hours or ("09:00-17:00",)
        calendar = calendar.model_copy(update={"hours": hours})
        n = rng.choice((1, 2, 7, 8, 20, 40))
        cells = pd.date_range("2023-11-01", "2025-03-01", freq="15min", tz="UTC").tz_convert(calendar.zone)
        clock_time = cells.strftime("%H:%M").to_numpy().astype(str)
        opened = np.zeros(len(cells), bool)
        for span in hours:
            opened |= (clock_time >= span[:5]) & (clock_time < span[6:])
        opened &= np.isin(cells.day_of_week, [WEEKDAYS.index(day) for day in calendar.weekdays])
        opened &= ~np.isin(cells.date, holidays_of(calendar))
        ends = cells.tz_convert("UTC").tz_localize(None)[opened] + pd.Timedelta(minutes=15)
        forward = bounds(calendar, starts, Duration(working_hours=n), "+")
        back = bounds(calendar, starts, Duration(working_hours=n), "-")
        for start, bound, before in zip(starts, forward, back, strict=True):
            passed = int(ends.searchsorted(pd.Timestamp(start), side="right"))
            assert bound == ends[passed + 4 * n - 1]
            assert before == ends[passed - 4 * n] - pd.Timedelta(minutes=15)
            compared += 1
    assert compared == tier(300, 10_000)


def test_working_hours_are_those_of_custom_business_hours() -> None:
    """Hours of one span a day, by the offset that pandas has for them; it goes on to the next opening where
    ours ends with the close."""
    for seed in range(tier(3, 60)):
        rng, calendar, starts = settings(seed)
        calendar = calendar.model_copy(update={"hours": ("09:00-17:00",)})
        n = rng.choice((1, 7, 8, 20))
        mask = " ".join(day[:3].capitalize() for day in calendar.weekdays)
        off = pd.offsets.CustomBusinessHour(n, weekmask=mask, holidays=holidays_of(calendar))
        for start, bound in zip(
            starts, bounds(calendar, starts, Duration(working_hours=n), "+"), strict=True
        ):
            local = pd.Timestamp(start, tz="UTC").tz_convert(calendar.zone).tz_localize(None)
            got = pd.Timestamp(bound, tz="UTC").tz_convert(calendar.zone).tz_localize(None)
            assert local + off in (got, off.rollforward(got + pd.Timedelta(microseconds=1)))


def test_rules_that_differ_in_working_time_are_checked_each_by_itself() -> None:
    """What questions rest on: many rules on one log, those alike but for a length of time by one query."""
    layer = records()
    events = [row("f", "Fine", "2024-03-28T10:00:00"), row("p", "Pay", "2024-04-02T10:00:00")]
    events += [
        one._replace(event_id=f"{one.event_id}2", case_id="d", timestamp=one.timestamp)
        for one in (row("f", "Fine", "2024-05-13T10:00:00"), row("p", "Pay", "2024-05-15T10:00:00"))
    ]
    log = EventLog.from_events(events, layer)
    rules = {text: rule(text) for text in ("P1D", "1WD", "P4D", "2WD", "P5D", "8WH", "20WH")}
    rules |= {f"{text} window": rule("PT2H", trigger={"window": text}) for text in ("P1D", "1WD", "3WH")}
    checked = run_checks(rules, layer, log)
    for codes, (text, one) in zip(checked.codes, rules.items(), strict=True):
        alone = {v.case_id: v.verdict for v in evaluate(one, layer, log)}
        assert {case: ROLL_UP[code] for case, code in zip(checked.cases, codes, strict=True)} == alone, text
    with pytest.raises(ValueError, match="a grid holds no working time"):
        compile_grid(check(rule("1WD"), layer, log), Grid((Duration(working_days=1),), 0), "SELECT 1")


# ---- goals, sentences and cards


@pytest.mark.parametrize(
    ("told", "written"),
    [
        ("five working days", "5WD"),
        ("ten (10) business days", "10WD"),
        ("eight working hours", "8WH"),
        ("one working day", "1WD"),
    ],
)
def test_a_sentence_keeps_its_working_time(told: str, written: str) -> None:
    context = load_context(Path(__file__).parent.parent / "examples" / "invoices" / "context.yaml")
    sentence = f"After an invoice is posted, the budget holder must approve it within {told}."
    goal = Goal(id="approval", intent=sentence)
    stated = read(sentence, context.schema)
    assert [str(s.best.time.duration) for s in stated.statements if s.best.time] == [written]
    found = filled(goal, stated)
    assert found.within == Duration.parse(written)
    built = build_pools(replace(context, goal=goal, pools=None))
    norms = [candidate.content for candidate in built.pools.norm]
    deadlines = {str(c.deadline) for norm in norms if isinstance(norm, Norm) for c in norm.constraints}
    assert written in deadlines


def test_a_card_keeps_its_working_time() -> None:
    assert card_length(5, "working days") == Duration(working_days=5)
    assert card_length(8, "working hours") == Duration(working_hours=8)
