"""Candidate construction: what is mined, that every candidate is grounded, that pool-mates differ, and that
names carry no weight."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
import small
import spaces
import yaml
from fuzz import examples
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tiers import mostly_slow, tier

import gnrs_ppl as gnrs
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.candidates.build import POOL_LIMIT, SOURCES, TYPES, Built, build_pools
from gnrs_ppl.candidates.grounding import Dropped, unrecorded
from gnrs_ppl.candidates.source import Material
from gnrs_ppl.candidates.templates import CONVENTIONAL_SYSTEMS, DEFAULT_STEPS, RESPONSE_TIMES
from gnrs_ppl.candidates.units import LADDER, near, snapped, spoken
from gnrs_ppl.context.log import Event
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.traces import STEPS, Delays, Traces
from gnrs_ppl.context.types import COLUMNS, Goal, RecordLayer, Schema
from gnrs_ppl.inference.chains import Chains
from gnrs_ppl.models.energy import contract, padded
from gnrs_ppl.models.space import build_space
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.canonical import canonical_slot, dumps
from gnrs_ppl.rule.pools import Candidate, Levelled, options
from gnrs_ppl.rule.types import SLOTS, Structure

DEV = tuple(goal.id for goal in goals() if goal.split == "dev")
GOALS = tier(goals()[::3], goals())
"""Whose pools are looked at: every goal's, in the fast tier every third's."""
THREE = ("GNRS-005", "GNRS-051", "GNRS-092")
EXAMPLE = "GNRS-001"
"""The goal of the paper's worked example: a test goal, of which only the pools are looked at."""
INVOICES = Path(__file__).parent.parent / "examples" / "invoices"


@cache
def context_for(goal: str) -> gnrs.Context:
    return gnrs.load_context(goal)


@cache
def built_for(goal: str) -> Built:
    return build_pools(context_for(goal))


@cache
def drafts() -> dict[str, gnrs.Draft]:
    """The drafts of three dev goals, searched in one program; in the fast tier of the one whose cases run."""
    found = tier(THREE[1:2], THREE)
    return dict(zip(found, gnrs.draft_many([context_for(goal) for goal in found], seed=3), strict=True))


class Place(NamedTuple):
    """A candidate and the pool it stands in."""

    goal: str
    slot: str
    candidate: Candidate[Any]

    @property
    def context(self) -> gnrs.Context:
        return context_for(self.goal)

    @property
    def told(self) -> str:
        return f"{self.goal} {self.slot} {self.candidate.id}: {dumps(self.candidate.content)}"


def pool(goal: str, slot: str) -> tuple[Candidate[Any], ...]:
    return getattr(built_for(goal).pools, slot)


@cache
def places() -> tuple[Place, ...]:
    """Every candidate of these goals."""
    return tuple(
        Place(g.id, slot, candidate) for g in GOALS for slot in SLOTS for candidate in pool(g.id, slot)
    )


# ---- what is mined


class Row(NamedTuple):
    """A row of a log; ``minute`` is None where the row carries no time. Its event id is its place in the
    log."""

    case: str
    activity: str
    minute: int | None
    resource: str | None
    channel: str | None

    @property
    def at(self) -> datetime | None:
        return None if self.minute is None else datetime(2024, 3, 4) + timedelta(minutes=self.minute)


def rows(people: st.SearchStrategy[str | None]) -> st.SearchStrategy[list[Row]]:
    """Logs in which no act of a kind happens twice in one case in the same minute, so that one of them is
    the first."""
    minutes, channels = (
        st.sampled_from([None, *range(0, 3000, 97)]),
        st.sampled_from(["left", "left", "left", "right", None]),
    )
    row = st.builds(Row, st.sampled_from("pq"), st.sampled_from("ABC"), minutes, people, channels)
    return st.lists(row, min_size=5, max_size=30, unique_by=lambda r: (r.case, r.activity, r.minute))


def events(found: list[Row]) -> list[Event]:
    return [
        Event(f"{n:03}", r.case, r.activity, r.at, 0, "minute", r.resource, channel=r.channel)
        for n, r in enumerate(found)
    ]


def mined(listed: list[Event], records: RecordLayer | None = None) -> Traces:
    context = gnrs.Context(Goal(id="MINE", intent="Mine."), Schema(), records or RecordLayer())
    vars(context)["log"] = gnrs.EventLog.from_events(
        listed, context.records
    )  # the cached property, filled without a file
    return context.traces


def plain_delays(found: list[Row], homes: dict[str, str]) -> dict[tuple[str, str], Delays]:
    """Delays from each case's first act of a kind at its home to the first of another, one case after
    another."""
    firsts: dict[str, dict[str, Row]] = {}
    for row in sorted((r for r in found if r.minute is not None), key=lambda r: r.minute):
        if row.activity in homes and row.channel == homes[row.activity]:
            firsts.setdefault(row.case, {}).setdefault(row.activity, row)
    pairs = [
        (a, b)
        for acts in firsts.values()
        for a in acts.values()
        for b in acts.values()
        if a is not b and b.minute >= a.minute
    ]
    delays = {}
    for key in {(a.activity, b.activity) for a, b in pairs}:
        both = [(a, b) for a, b in pairs if (a.activity, b.activity) == key]
        same = [a.resource == b.resource for a, b in both if a.resource and b.resource]
        quantiles = np.quantile([60 * (b.minute - a.minute) for a, b in both], np.linspace(0, 1, STEPS + 1))
        delays[key] = Delays(len(both), tuple(quantiles), np.mean(same) if same else 0)
    return delays


def flat(delays: Delays) -> tuple[float, ...]:
    return delays.cases, *delays.quantiles, delays.personal


def assert_same_delays(found: list[Row]) -> None:
    traces = mined(events(found))
    expected = plain_delays(found, dict(traces.homes))
    assert traces.delays.keys() == expected.keys()
    for key, delays in expected.items():
        assert flat(traces.delays[key]) == pytest.approx(flat(delays), rel=1e-9), key


@given(rows(st.sampled_from(["ann", "bob"])))
@settings(max_examples=examples(60))
def test_delays_are_those_of_plain_loops(found: list[Row]) -> None:
    assert_same_delays(found)


@given(rows(st.sampled_from(["ann", "bob", None])))
@settings(max_examples=examples(30), phases=[Phase.explicit, Phase.generate])
def test_the_first_act_keeps_its_own_person_even_where_nobody_is_named(found: list[Row]) -> None:
    assert_same_delays(found)


def in_one_case(*acts: tuple[str, int, str | None]) -> list[Event]:
    return events([Row("p", activity, minute, person, "left") for activity, minute, person in acts])


def test_a_first_act_of_nobody_is_not_the_next_persons() -> None:
    delays = mined(in_one_case(("A", 0, None), ("A", 1, "bob"), ("B", 2, "bob"))).delays["A", "B"]
    assert delays.quantile(0.5) == 120  # from the act of nobody
    assert delays.personal == 0


def test_the_order_of_the_rows_does_not_matter() -> None:
    """Of two acts in the same minute, the first is the one whose event id comes first (G3)."""
    listed = in_one_case(("A", 0, "ann"), ("A", 0, "bob"), ("B", 2, "bob"))
    assert [mined(order).delays["A", "B"].personal for order in (listed, listed[::-1])] == [0, 0]


def told(delays: Delays) -> tuple[float, ...]:
    """Cases, median, third quartile, ninetieth percentile, share of the same person."""
    return (
        delays.cases,
        *(pytest.approx(delays.quantile(share)) for share in (0.5, 0.75, 0.9)),
        pytest.approx(delays.personal),
    )


def test_delays_of_the_shop_floor_by_hand(tmp_path: Path) -> None:
    traces = gnrs.load_context(small.write(tmp_path)).traces
    assert traces.homes == {
        "CheckIn": "checkin_log", "Excuse": "roster_log", "Review": "roster_log", "Serve": "roster_log", "StartShift": "roster_log",
    }  # fmt: skip
    assert told(traces.delays["StartShift", "CheckIn"]) == (2, 1350, 1875, 2190, 1)
    assert told(traces.delays["Excuse", "StartShift"]) == (1, 1800, 1800, 1800, 0)
    assert told(traces.delays["StartShift", "Serve"]) == (2, 63_000, 89_100, 104_760, 1)
    assert (
        "CheckIn",
        "Serve",
    ) not in traces.delays  # s1 is served in the check-in log, which is not the home of Serve
    assert ("StartShift", "Excuse") not in traces.delays  # the excuse came first


def seen(channel: str, cases: int) -> list[Row]:
    return [Row(f"{channel}{n}", "A", n, "ann", channel) for n in range(cases)]


@pytest.mark.parametrize(
    ("left", "right", "closed", "home"),
    [
        (20, 19, ["right"], "right"),  # near equals: the closed world
        (19, 20, ["left"], "left"),
        (20, 19, [], "left"),  # neither is closed: the more cases
        (20, 19, ["left", "right"], "left"),
        (20, 15, ["right"], "left"),  # not near
        (20, 0, ["right"], "left"),
    ],
)
def test_homes_prefer_a_closed_world_among_near_equals(
    left: int, right: int, closed: list[str], home: str
) -> None:
    channels = [{"name": name, "closed_world": name in closed} for name in ("left", "right")]
    records = RecordLayer.model_validate({"channels": channels})
    assert mined(events([*seen("left", left), *seen("right", right)]), records).homes == {"A": home}


DAY = 86_400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "PT5M"), (299.9, "PT5M"), (300, "PT5M"), (300.1, "PT10M"), (900, "PT15M"), (3_150, "PT1H"), (3_601, "PT90M"),
        (12 * 3_600 + 1, "P1D"), (DAY, "P1D"), (DAY + 1, "P2D"), (14 * DAY + 1, "P1M"), (28 * DAY, "P1M"), (28 * DAY + 1, "P2M"),
        (365 * DAY, "P1Y"), (500 * DAY, "P1Y"),
    ],
)  # fmt: skip
def test_snapped_is_the_shortest_rung_that_is_not_shorter(seconds: float, text: str) -> None:
    assert snapped(seconds) == Duration.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT15M", ["PT10M", "PT15M", "PT20M"]),
        ("PT25M", ["PT20M", "PT25M", "PT30M"]),
        ("PT60M", ["PT45M", "PT1H", "PT90M"]),
        ("P1D", ["PT12H", "P1D", "P2D"]),
        ("P10D", ["P7D", "P10D", "P14D"]),
        ("PT5M", ["PT5M", "PT10M"]),
        ("PT1M", ["PT1M", "PT5M"]),
        ("P1Y", ["P6M", "P1Y"]),
        ("P2Y", ["P1Y", "P2Y"]),
    ],
)
def test_near_gives_the_neighbours_ascending(text: str, expected: list[str]) -> None:
    assert near(Duration.parse(text)) == tuple(map(Duration.parse, expected))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (45, "45 s"),
        (60, "1.0 min"),
        (3_150, "52.5 min"),
        (3_600, "1.0 h"),
        (8_280, "2.3 h"),
        (DAY, "1.0 d"),
        (3.25 * DAY, "3.2 d"),
    ],
)
def test_spoken(seconds: float, text: str) -> None:
    assert spoken(seconds) == text


def test_the_ladder_ascends() -> None:
    lengths = [rung.shortest_seconds() for rung in LADDER]
    assert lengths == sorted(set(lengths))


# ---- every candidate of every goal

KINDS = {
    "roles": "role", "role": "role", "locations": "location", "location": "location", "objects": "object", "concerns": "object",
    "object": "object", "activity": "action", "channel": "channel", "channels": "channel", "inspects": "channel", "name": "step",
}  # fmt: skip
"""Field of a dumped content -> kind of the names in it."""
TIMES = ("window", "deadline", "response_time")


def leaves(value: Any, field: str = "") -> Iterator[tuple[str, Any]]:
    """(field, value) of everything a dumped content says."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, field)
    elif value is not None:
        yield field, value


def said(content: Any) -> list[tuple[str, Any]]:
    return list(leaves(content.model_dump(mode="json", exclude_defaults=True)))


@cache
def known_names(goal: str) -> frozenset[tuple[str, str]]:
    """(kind, name) of the schema, the declared channels, and the steps that need no schema."""
    context = context_for(goal)
    schema = context.schema
    terms = {
        "role": schema.roles,
        "location": schema.locations,
        "object": schema.objects,
        "action": schema.actions,
        "step": schema.steps,
    }
    found = {(kind, term.name) for kind, listed in terms.items() for term in listed}
    found |= {("channel", channel.name) for channel in context.records.channels}
    return frozenset(found | {("step", name) for name in DEFAULT_STEPS.values()})


def offered_times(place: Place) -> list[Any]:
    """Every level of a candidate, and every time its content states."""
    return [level for _, level in said(place.candidate.vary)] + [
        time for field, time in said(place.candidate.content) if field in TIMES
    ]


def allowed_times(place: Place) -> set[str]:
    within = place.context.goal.within
    return (
        {rung.isoformat() for rung in LADDER}
        | set(RESPONSE_TIMES)
        | ({within.isoformat()} if within else set())
    )


def test_there_are_pools_for_every_goal() -> None:
    assert len(goals()) == 116
    assert len(DEV) == 16
    assert {(place.goal, place.slot) for place in places()} == {
        (goal.id, slot) for goal in GOALS for slot in SLOTS
    }


def test_provenance_starts_with_a_source() -> None:
    for place in places():
        sources = place.candidate.sources
        assert set(sources) <= SOURCES.keys(), place.told
        source, _, because = place.candidate.provenance.partition(": ")
        assert source in sources, place.told
        assert because, place.told


def test_ids_are_unique_and_start_with_the_letter_of_the_slot() -> None:
    for goal in GOALS:
        for slot in SLOTS:
            ids = [candidate.id for candidate in pool(goal.id, slot)]
            read = sum("reading" in candidate.sources for candidate in pool(goal.id, slot))
            assert len(set(ids)) == len(ids) <= max(POOL_LIMIT, read), goal.id  # what was read is never cut
            assert all(re.fullmatch(rf"{slot[0].upper()}\d+", i) for i in ids), goal.id


def test_a_pool_is_cut_at_the_limit_and_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = built_for("GNRS-005").pools
    monkeypatch.setattr("gnrs_ppl.candidates.build.POOL_LIMIT", 3)
    cut = build_pools(context_for("GNRS-005")).pools
    for slot in SLOTS:
        every = [dumps(c.content) + dumps(c.vary) for c in getattr(whole, slot)]
        left = [dumps(c.content) + dumps(c.vary) for c in getattr(cut, slot)]
        read = sum("reading" in c.sources for c in pool("GNRS-005", slot))
        assert len(left) == min(max(3, read), len(every)) < len(every)  # what was read is never cut
        assert [key for key in every if key in left] == left


def test_every_name_is_known() -> None:
    for place in places():
        names = {(KINDS[field], name) for field, name in said(place.candidate.content) if field in KINDS}
        assert names <= known_names(place.goal), place.told


def test_every_level_is_a_rung_or_the_time_of_the_goal() -> None:
    assert any(offered_times(place) for place in places())
    for place in places():
        assert set(offered_times(place)) <= allowed_times(place), place.told


def test_nothing_kept_rests_on_a_zero() -> None:
    for place in places():
        assert unrecorded(place.candidate.content, place.context) == "", place.told
        channels = {name for field, name in said(place.candidate.content) if KINDS.get(field) == "channel"}
        assert all(place.context.profile.counts["channel", name] for name in channels), place.told


def test_everything_dropped_has_a_count() -> None:
    dropped = [(goal.id, item) for goal in GOALS for item in built_for(goal.id).dropped]
    assert dropped
    for goal, item in dropped:
        assert item.slot in SLOTS, goal
        if item.reason.startswith("leaves out "):
            continue  # what a person's fields require, and no row
        found = re.match(r"0 of ([\d,]+) rows carry (\w+) '(.+?)'", item.reason)
        assert found, (goal, item)
        assert int(found[1].replace(",", "")) == context_for(goal).log.events, (goal, item)
        assert (found[2], found[3]) not in context_for(goal).profile.counts, (goal, item)


def test_every_norm_demands_what_the_fields_require() -> None:
    dropped = [d for goal in DEV for d in built_for(goal).dropped if "goal.required" in d.reason]
    assert dropped  # the sentence of some goal reads an act as an opener that its fields require
    assert {d.slot for d in dropped} == {"norm"}
    for goal in DEV:
        required = set(context_for(goal).goal.required)
        for norm in (candidate.content for candidate in pool(goal, "norm")):
            assert required <= {a for c in norm.constraints if c.positive for a in c.target.activities}, goal


def test_a_norm_read_without_a_required_act_is_completed() -> None:
    context = context_for("GNRS-005")
    goal = context.goal.model_copy(update={"required": (*context.goal.required, "Deliver")})
    read = [
        candidate.content
        for candidate in build_pools(replace(context, goal=goal)).pools.norm
        if "reading" in candidate.sources
    ]
    assert read
    for norm in read:
        assert ("existence", ("Deliver",)) in [(c.template, c.target.activities) for c in norm.constraints]


# ---- pool-mates differ


def test_no_two_options_of_a_slot_say_the_same() -> None:
    for goal in GOALS:
        for slot in SLOTS:
            contents = [dumps(canonical_slot(option.content)) for option in options(pool(goal.id, slot))]
            assert len(set(contents)) == len(contents), (goal.id, slot)


def result_of(structure: Structure, draft: gnrs.Draft) -> str | None:
    """The check and the text of a rule; None where the audit refuses it."""
    context = draft.context
    try:
        query = compile_rule(check(structure, context.records, context.log))
    except (gnrs.InputError, gnrs.Refused):
        return None
    text = render(structure, Lexicon.of(context.schema, draft.records), dates_only=draft.records.dates_only)
    return repr((query.sql, sorted(query.parameters.items()), text))


@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("goal", mostly_slow(THREE, but=["GNRS-051"]))
def test_every_other_option_changes_check_or_text(goal: str, slot: str) -> None:
    draft, found = drafts()[goal], {}
    chosen = options(pool(goal, slot))
    assert getattr(draft.structure, slot) in [option.content for option in chosen]
    for option in chosen:
        result = result_of(draft.structure.model_copy(update={slot: option.content}), draft)
        if result is not None:
            assert result not in found, f"{dumps(option.content)} gives what {found[result]} gives"
            found[result] = dumps(option.content)
    assert result_of(draft.structure, draft) in found
    assert len(found) > 1


# ---- merging


def proposed_by(goal: str) -> dict[tuple[str, str], set[str]]:
    """(slot, canonical content and levels) -> the sources that propose it."""
    context = context_for(goal)
    material, found = Material(context), {}
    for source, propose in SOURCES.items():
        for proposal in propose(material):
            content = canonical_slot(TYPES[proposal.slot].model_validate(proposal.content))
            vary = Levelled.model_validate({name: tuple(levels) for name, levels in proposal.vary.items()})
            found.setdefault((proposal.slot, dumps(content) + dumps(vary)), set()).add(source)
    return found


def test_a_candidate_of_two_sources_stands_once_with_both() -> None:
    shared = 0
    for goal in DEV:
        proposed = proposed_by(goal)
        kept = [
            (slot, dumps(c.content) + dumps(c.vary), set(c.sources))
            for slot in SLOTS
            for c in pool(goal, slot)
        ]
        assert len({(slot, key) for slot, key, _ in kept}) == len(kept), goal
        for slot, key, sources in kept:
            assert sources == proposed[slot, key], (goal, key)
            shared += len(sources) > 1
    assert shared >= 1


# ---- the paper's worked example, pools only


@pytest.mark.parametrize("roles", [{"waiter", "cook"}, {"organization_member"}, {"patrol_member"}])
def test_the_example_offers_a_scope_of(roles: set[str]) -> None:
    assert roles in [set(candidate.content.roles) for candidate in pool(EXAMPLE, "scope")]
    assert set(context_for(EXAMPLE).goal.roles) == {"waiter", "cook"}


def test_the_example_offers_a_trigger_with_a_window_of_fifteen_minutes_and_without() -> None:
    levels = {dumps(c.content): c.vary.window for c in pool(EXAMPLE, "trigger") if c.vary.window}
    unbounded = [
        dumps(c.content)
        for c in pool(EXAMPLE, "trigger")
        if c.vary.window is None and c.content.window is None
    ]
    assert any(content in unbounded for content in levels), levels
    offered = {content: list(map(str, window)) for content, window in levels.items()}
    assert any(content in unbounded and "PT15M" in window for content, window in offered.items()), offered


def test_the_example_offers_a_norm_that_demands_arrival_and_departure() -> None:
    demanded = [
        {c.target.activity for c in candidate.content.constraints if c.positive}
        for candidate in pool(EXAMPLE, "norm")
    ]
    assert {"CheckIn", "CheckOut"} in demanded


def test_the_example_offers_the_three_logs_as_evidence() -> None:
    assert {"movement_log", "checkin_log", "checkout_log"} in [
        set(c.content.channels) for c in pool(EXAMPLE, "evidence")
    ]


@pytest.mark.parametrize(
    "steps",
    [
        [("review", None), ("decision", None), ("remedy", "correct_record"), ("appeal", None)],
        [("review", None), ("decision", None), ("remedy", "correct_record")],
        [("remedy", "informal_reminder")],
    ],
)
def test_the_example_offers_a_procedure_of(steps: list[tuple[str, str | None]]) -> None:
    wanted = [(stage, name) for stage, name in steps if name]
    offered = [
        [(step.stage, step.name) for step in candidate.content.steps]
        for candidate in pool(EXAMPLE, "procedure")
    ]
    same_stages = [
        found for found in offered if [stage for stage, _ in found] == [stage for stage, _ in steps]
    ]
    assert any(set(wanted) <= set(found) for found in same_stages), offered


@pytest.mark.parametrize("kept", [{"waiter", "duty_manager", "visitor"}, {"waiter", "owner", "visitor"}])
def test_with_fewer_offices_than_two_nobody_hears_an_appeal_against_themselves(kept: set[str]) -> None:
    context = context_for(EXAMPLE)
    roles = tuple(role for role in context.schema.roles if role.name in kept)
    goal = context.goal.model_copy(update={"roles": ("waiter",)})
    alone = replace(context, schema=context.schema.model_copy(update={"roles": roles}), goal=goal)
    material = Material(alone)
    assert set(material.overseers) == kept - {"waiter"}
    assert material.overseers[0] != "visitor"
    offered = [c.content for c in build_pools(alone).pools.procedure]
    heard = [
        (step.role, {other.role for other in content.steps if other.stage == "decision"})
        for content in offered
        for step in content.steps
        if step.stage == "appeal"
    ]
    assert heard
    assert all(role not in decided for role, decided in heard)


def test_the_example_drops_the_attendance_system_with_the_count_of_rows() -> None:
    events = context_for(EXAMPLE).log.events
    reasons = [
        item.reason
        for item in built_for(EXAMPLE).dropped
        if item.slot == "evidence" and "attendance_system" in item.candidate
    ]
    assert len(reasons) == 1
    assert f"0 of {events:,} rows carry channel 'attendance_system'" in reasons[0]


# ---- a context file without pools


def without_pools(folder: Path) -> Path:
    data = yaml.safe_load((INVOICES / "context.yaml").read_text())
    del data["pools"]
    (folder / "context.yaml").write_text(yaml.safe_dump(data))
    shutil.copy(INVOICES / data["records"]["log"], folder)
    return folder / "context.yaml"


def test_a_file_without_pools_is_drafted_from_its_own(tmp_path: Path) -> None:
    draft = gnrs.draft(without_pools(tmp_path), kernel="exact")
    data = draft.as_dict()
    assert draft.text.strip()
    assert isinstance(data["grounding"]["failures"], list)
    assert data["grounding"]["hard_ok"] == (not data["grounding"]["failures"])
    for slot in SLOTS:
        assert data["candidates"][slot]
        assert all(
            found["sources"] and set(found["sources"]) <= SOURCES.keys() for found in data["candidates"][slot]
        )
    assert {source for source, _ in draft.built.proposed} == SOURCES.keys()


def test_a_goal_that_asks_nothing_is_refused_by_name(tmp_path: Path) -> None:
    asks_nothing = (("pools", ...), ("goal.required", []), ("goal.intent", "Bananas are yellow."))
    path = small.write(tmp_path, small.changed(small.CONTEXT, *asks_nothing))
    with pytest.raises(gnrs.InputError, match=r"goal: requires and forbids nothing") as raised:
        build_pools(gnrs.load_context(path))
    assert raised.value.field == "goal"
    with pytest.raises(gnrs.Refused, match="the sentence states no duty or ban"):
        gnrs.draft(path)


# ---- names carry no weight

MARK = "x_"
WORDS = ("phrase", "plural", "noun", "intent", "because")
"""Fields with words for readers, which stay."""
NAMED = ("activity", "role", "object", "location", "channel")
"""Columns that hold names."""


def names_in(context: gnrs.Context) -> frozenset[str]:
    schema = context.schema
    terms = [*schema.actions, *schema.roles, *schema.locations, *schema.objects, *context.records.channels]
    return frozenset(term.name for term in terms)


def marked(value: Any, names: frozenset[str]) -> Any:
    """Dumped data with a mark before every name, which keeps their alphabetical order."""
    if isinstance(value, dict):
        return {key: item if key in WORDS else marked(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [marked(item, names) for item in value]
    return MARK + value if isinstance(value, str) and value in names else value


def marked_event(row: tuple[Any, ...]) -> Event:
    event = Event(*row)
    return event._replace(
        **{column: MARK + getattr(event, column) for column in NAMED if getattr(event, column) is not None}
    )


@cache
def marked_context(goal: str) -> gnrs.Context:
    context = context_for(goal)
    kinds, parts = (Goal, Schema, RecordLayer), (context.goal, context.schema, context.records)
    renamed = [
        kind.model_validate(marked(part.model_dump(), names_in(context)))
        for kind, part in zip(kinds, parts, strict=True)
    ]
    copy = gnrs.Context(*renamed, source="marked")
    columns = ", ".join(f'"{column}"' for column in COLUMNS)
    table = context.log.connection.execute(f"SELECT {columns} FROM events ORDER BY event_id").fetchall()
    vars(copy)["log"] = gnrs.EventLog.from_events(map(marked_event, table), renamed[-1])
    return copy


def without_systems(dropped: tuple[Dropped, ...]) -> list[Dropped]:
    """What was dropped for another reason than a system that writers take for granted."""
    return [
        item
        for item in dropped
        if not any(system in item.candidate for system in CONVENTIONAL_SYSTEMS.values())
    ]


def unmarked(text: str) -> str:
    return text.replace(MARK, "")


def test_the_marks_are_one_to_one_and_leave_the_steps_alone() -> None:
    context, other = context_for("GNRS-051"), marked_context("GNRS-051")
    assert {MARK + name for name in names_in(context)} == names_in(other)
    assert not any(MARK in candidate.provenance for slot in SLOTS for candidate in pool("GNRS-051", slot))
    assert other.schema.steps == context.schema.steps
    assert (other.log.events, other.log.cases) == (context.log.events, context.log.cases)


@pytest.mark.usefixtures("rules_alone")
def test_renaming_changes_only_names_in_the_pools() -> None:
    names, built, other = (
        names_in(context_for("GNRS-051")),
        built_for("GNRS-051"),
        build_pools(marked_context("GNRS-051")),
    )
    for slot in SLOTS:
        expected = [marked(candidate.model_dump(), names) for candidate in getattr(built.pools, slot)]
        found = [marked(candidate.model_dump(), frozenset()) for candidate in getattr(other.pools, slot)]
        assert [c | {"provenance": unmarked(c["provenance"])} for c in found] == expected, slot
    same = [
        Dropped(slot, unmarked(candidate), unmarked(reason))
        for slot, candidate, reason in without_systems(other.dropped)
    ]
    assert same == without_systems(built.dropped)


# ---- several at once


def assert_same_draws(found: Chains, other: Chains) -> None:
    for name in ("positions", "score", "feasible", "move", "accepted", "starts"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))


@pytest.mark.slow
@pytest.mark.parametrize("goal", mostly_slow(THREE, but=["GNRS-051"]))
def test_a_draft_in_company_is_the_draft_alone(goal: str) -> None:
    together, alone = drafts()[goal], gnrs.draft(context_for(goal), seed=3)
    assert_same_draws(together.search.chains, alone.search.chains)
    assert together.search.s_search == alone.search.s_search
    assert together.structure == alone.structure
    assert together.text == alone.text


def assert_same_leaves(found: Any, expected: Any) -> None:
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for leaf, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(leaf, other, strict=True)


@given(st.integers(0, 10_000), st.integers(0, 5), st.integers(0, 4))
@settings(max_examples=examples(40))
def test_padding_later_is_padding_at_once(seed: int, more_options: int, more_pairs: int) -> None:
    tables, weights = spaces.ragged(seed), spaces.weights(seed)
    bare = contract(build_space(**tables), weights)
    room = bare.unary.shape[1] + more_options, bare.pairs.shape[0] + more_pairs
    assert_same_leaves(
        padded(bare, *room), contract(build_space(**tables, pad_options=room[0], pad_pairs=room[1]), weights)
    )


@pytest.mark.parametrize("goal", mostly_slow(["GNRS-005", "GNRS-051", "GNRS-094"], but=["GNRS-051"]))
def test_candidates_are_phrased_and_marked(goal: str) -> None:
    pools = gnrs.draft(goal, kernel="exact").as_dict()["candidates"]["pools"]
    assert list(pools) == list(SLOTS)
    for candidates in pools.values():
        phrases = [c["phrase"] for c in candidates]
        assert len(set(phrases)) == len(phrases)
        assert all(c["load_bearing"] or c["descriptive"] or c["phrase"] == "each case" for c in candidates)
        assert not any(re.search(r"[a-z][A-Z]|_", phrase) for phrase in phrases)


def test_a_goal_whose_act_is_never_recorded_is_one_line() -> None:
    """No log to name is no candidate, not a broken one."""
    from gnrs_ppl.errors import InputError
    from gnrs_ppl.experiments.schema_noise import noisy

    with pytest.raises(
        InputError,
        match=r"goal\.forbidden: no duty or ban on Craft, Interact can be checked \(0 of [\d,]+ rows carry action 'Craft'",
    ):
        build_pools(noisy("GNRS-015", "missing", "strong", 0))


def _said_instead(goal_id: str, sentence: str) -> gnrs.Context:
    """A dev goal's context with another sentence and nothing else stated."""
    from gnrs_ppl.experiments.reading import EMPTY

    context = gnrs.load_context(goal_id)
    goal = context.goal.model_copy(update=EMPTY | {"intent": sentence})
    return replace(context, goal=goal, scene=context)


@pytest.mark.usefixtures("rules_alone")
def test_of_two_acts_that_words_tell_alike_the_recorded_one_is_meant() -> None:
    from gnrs_ppl.reading import read
    from gnrs_ppl.reading.goal import readings_of

    sentence = "Once any has been cut, a farm worker must get it over to the delivery station."
    context = _said_instead("GNRS-066", sentence)
    assert [s.best.targets[0].activity for s in read(sentence, context.schema).statements] == ["MoveTo"]
    assert [s.best.targets[0].activity for s in readings_of(context).statements] == ["Deliver"]


def test_what_comes_before_the_opener_anyway_is_not_demanded_after_it() -> None:
    sentence = (
        "Access keys must not be used by visitors until the lodging contract has been signed, and every visitor who "
        "stays on has to sign it."
    )
    material = Material(_said_instead("GNRS-051", sentence))
    norms = [p.content["constraints"] for p in SOURCES["reading"](material) if p.slot == "norm"]
    asked = [sorted({c["template"] for c in norm}) for norm in norms]
    assert ["precedence"] in asked
    assert ["existence", "precedence"] not in asked
