"""Hypothesis strategies over rule structures, on a small vocabulary that includes awkward names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

from hypothesis import strategies as st

from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Action, Channel, RecordLayer, Schema, Term
from gnrs_ppl.rule.types import (
    COUNTING,
    DRAFTED,
    Act,
    After,
    Constraint,
    DraftedCorrelation,
    EvidencePolicy,
    Force,
    Norm,
    Office,
    Procedure,
    Scope,
    Stage,
    Step,
    Structure,
    Trigger,
)  # fmt: skip


@dataclass(frozen=True)
class Vocabulary:
    """Names a structure is drawn from; the schema and records may hold only some of them."""

    roles: tuple[str, ...]
    locations: tuple[str, ...]
    objects: tuple[str, ...]
    actions: tuple[str, ...]
    channels: tuple[str, ...]
    steps: tuple[str, ...]


SCHEMA = Schema(
    roles=(
        Term(name="waiter"),
        Term(name="duty_manager"),
        Term(name="Cook", phrase="kitchen cook", plural="kitchen cooks"),
        Term(name="Dr. “No”"),
    ),
    locations=(
        Term(name="restaurant"),
        Term(name="PublicSquare"),
        Term(name="Room 4/B"),
        Term(name="desk", phrase="returns desk"),
    ),
    objects=(
        Term(name="shift"),
        Term(name="checkin_record"),
        Term(name="Bill", phrase="bill of lading"),
        Term(name="Book(s)"),
    ),
    actions=(
        Action(name="CheckIn"),
        Action(name="Check", phrase="check"),
        Action(name="Send Fine"),
        Action(name="Payment"),
        Action(name="Speak", phrase="speak to the owner"),
        Action(name="T05 Print and send"),
    ),
    steps=(
        Term(name="manager_review"),
        Term(name="Review", phrase="review"),
        Term(name="hearing"),
        Term(name="shift_correction"),
        Term(name="WrittenAppeal"),
        Term(name="note; file"),
    ),
)
RECORDS = RecordLayer(
    channels=(
        Channel(name="checkin_log"),
        Channel(name="movement_log"),
        Channel(name="Roster", phrase="roster system"),
        Channel(name="email"),
        Channel(name="sensor/7"),
    )
)
VOCABULARY = Vocabulary(
    roles=(*(t.name for t in SCHEMA.roles), "night_porter", "guest", "”"),
    locations=(*(t.name for t in SCHEMA.locations), "Pantry East", "roof"),
    objects=(*(t.name for t in SCHEMA.objects), "spare_key", "hat"),
    actions=(*(a.name for a in SCHEMA.actions), "Teleport_home", "say ”hi” (twice)", "check_in", "greet"),
    channels=(*(c.name for c in RECORDS.channels), "visitor_book", "badges"),
    steps=(*(t.name for t in SCHEMA.steps), "second_look", "decision"),
)

DURATIONS = tuple(
    map(
        Duration.parse,
        (
            "PT15M",
            "PT1H",
            "PT24H",
            "PT36H",
            "P1D",
            "P2D",
            "P30D",
            "P1M",
            "P2M",
            "P1Y",
            "PT45S",
            "PT1H30M",
            "P1M2DT3H",
            "P1DT1S",
        ),
    )
)

CORRELATIONS: tuple[Any, ...] = get_args(DraftedCorrelation)
FORCES: tuple[Any, ...] = get_args(Force)
STAGES: tuple[Any, ...] = get_args(Stage)


def _some(names: tuple[str, ...], most: int = 2) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(names), max_size=most, unique=True).map(tuple)


def _maybe(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    """One of the values or, as often as all of them together, None."""
    return st.sampled_from((None,) * len(values) + values)


@lru_cache(maxsize=64)
def _acts(words: Vocabulary, roles: tuple[str, ...]) -> st.SearchStrategy[Act]:
    parts = (st.sampled_from(words.actions), _maybe(words.locations), _maybe(words.objects), _maybe(roles))
    return st.tuples(*parts).map(lambda a: Act(activity=a[0], location=a[1], object=a[2], role=a[3]))


@lru_cache(maxsize=64)
def _constraints(
    words: Vocabulary, roles: tuple[str, ...], templates: tuple[str, ...], most: int
) -> st.SearchStrategy[Any]:
    def build(drawn: Any) -> Constraint:
        template, target, after, correlate, deadline, count, unless = drawn
        return Constraint(
            template=template, target=target, after=after, correlate=correlate, deadline=deadline,
            count=count if template in COUNTING else 1, unless=unless,
        )  # fmt: skip

    after = st.tuples(_acts(words, words.roles), st.sampled_from(words.channels)).map(
        lambda a: After(act=a[0], channel=a[1])
    )
    one = st.tuples(
        st.sampled_from(templates),
        _acts(words, roles),
        st.none() | st.none() | after,
        _maybe(CORRELATIONS),
        _maybe(DURATIONS),
        st.integers(1, 12),
        st.none() | st.none() | _acts(words, words.roles),
    ).map(build)
    return st.lists(one, min_size=1, max_size=most).map(tuple)


@lru_cache(maxsize=64)
def _norms(words: Vocabulary, templates: tuple[str, ...], most: int) -> st.SearchStrategy[Norm]:
    def carried(office: str | None) -> st.SearchStrategy[Norm]:
        constraints = _constraints(words, (office,) if office else words.roles, templates, most)
        bearer: Any = Office(role=office) if office else "trigger"
        return st.tuples(st.sampled_from(FORCES), constraints).map(
            lambda n: Norm(force=n[0], bearer=bearer, constraints=n[1])
        )

    return _maybe(words.roles).flatmap(carried)


@lru_cache(maxsize=64)
def _triggers(words: Vocabulary) -> st.SearchStrategy[Trigger]:
    by_act = st.tuples(
        _acts(words, words.roles),
        st.sampled_from(words.channels),
        st.sampled_from(("each", "first")),
        _maybe(DURATIONS),
    ).map(lambda t: Trigger(act=t[0], channel=t[1], once=t[2], window=t[3]))
    return by_act | by_act | _maybe(DURATIONS).map(lambda window: Trigger(window=window))


@lru_cache(maxsize=64)
def _policies(words: Vocabulary) -> st.SearchStrategy[EvidencePolicy]:
    def build(drawn: tuple[Any, Any, int]) -> EvidencePolicy:
        channels, operator, k = drawn
        return EvidencePolicy(
            channels=channels, operator=operator, k=min(k, len(channels)) if operator == "at_least" else None
        )

    logs = st.lists(st.sampled_from(words.channels), min_size=1, max_size=4, unique=True).map(tuple)
    return st.tuples(logs, st.sampled_from(("all", "any", "at_least")), st.integers(1, 4)).map(build)


@lru_cache(maxsize=64)
def _procedures(words: Vocabulary) -> st.SearchStrategy[Procedure]:
    parts = (
        st.sampled_from(STAGES),
        st.sampled_from(words.steps),
        st.sampled_from(words.roles),
        _maybe(words.channels),
        _maybe(words.actions),
    )
    step = st.tuples(*parts).map(
        lambda s: Step(stage=s[0], name=s[1], role=s[2], inspects=s[3], activity=s[4])
    )
    steps = st.lists(step, min_size=1, max_size=4).map(tuple)
    return st.tuples(steps, _maybe(DURATIONS)).map(lambda p: Procedure(steps=p[0], response_time=p[1]))


def structures(
    vocabulary: Vocabulary = VOCABULARY, templates: tuple[str, ...] = DRAFTED, max_constraints: int = 3
) -> st.SearchStrategy[Structure]:
    """Structures of any shape the types allow, not only those that can be checked."""
    scope = st.tuples(
        _some(vocabulary.roles, 3),
        _some(vocabulary.locations),
        _some(vocabulary.objects),
        _some(vocabulary.objects, 3),
    ).map(lambda s: Scope(roles=s[0], locations=s[1], objects=s[2], concerns=s[3]))
    return st.tuples(
        scope,
        _triggers(vocabulary),
        _norms(vocabulary, templates, max_constraints),
        _policies(vocabulary),
        _procedures(vocabulary),
    ).map(lambda s: Structure(scope=s[0], trigger=s[1], norm=s[2], evidence=s[3], procedure=s[4]))
