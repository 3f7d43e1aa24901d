"""Annotated references of the dev goals: what a careful rule writer accepts and refuses, slot by slot (DESIGN
section 5).

A reference holds predicates over slot contents. A content is *acceptable* when it matches one of the slot's
acceptable predicates and none of its unacceptable ones. Where a goal's pool holds nothing acceptable in a
slot, what its annotator would sign of what is there, the *second best*, takes that place; it was added with
sight of the pools, still without features or scores. The reference set R of a goal is made of the feasible
structures whose five slots are all acceptable; where there is none, neither counts as acceptable in one slot,
the first that gives some. The verdicts of the five slots (acceptable, unacceptable, neither) divide the
structures of a goal into cells.

References exist for dev goals only. They were written from the goals' sentences and vocabulary, without sight
of features or scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import BeforeValidator, Field, model_validator

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import benchmark_goal
from gnrs_ppl.context.files import read_data, validated
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Frozen, Name, _listed
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.canonical import SlotContent
from gnrs_ppl.rule.types import (
    DRAFTED,
    SLOTS,
    Constraint,
    EvidencePolicy,
    Norm,
    Office,
    Scope,
    Stage,
    Trigger,
)

HERE = Path(__file__).parent / "references"

Verdict = Literal["acceptable", "unacceptable", "neither"]
Bound: TypeAlias = int | float | None
Values: TypeAlias = tuple[str | None, ...]

SETS = {
    "scope": ("roles", "locations", "objects", "concerns"),
    "evidence": ("channels",),
    "procedure": ("stages", "steps", "roles", "decides", "inspects", "activities"),
}
VALUES = {
    "trigger": ("activity", "location", "object", "role", "channel", "once"),
    "norm": ("force", "bearer"),
    "evidence": ("operator",),
}
NUMBERS = {
    "trigger": ("window",),
    "norm": ("length",),
    "evidence": ("k",),
    "procedure": ("length", "response_time"),
}
CONSTRAINT_VALUES = ("template", "activity", "location", "object", "role", "after", "correlate", "unless")
CONSTRAINT_NUMBERS = ("deadline", "count")


class Test(Frozen):
    """Conditions on one field; all that are stated must hold.

    Sets: ``includes``, ``within``, ``excludes``, ``empty``. Values: ``in``, ``not_in`` (null may be listed).
    Numbers, durations in minutes: ``between`` (a bound of null is open; an absent number fails unless
    ``or_none``), ``none``.
    """

    includes: Annotated[tuple[Name, ...] | None, BeforeValidator(_listed)] = None
    within: Annotated[tuple[Name, ...] | None, BeforeValidator(_listed)] = None
    excludes: Annotated[tuple[Name, ...] | None, BeforeValidator(_listed)] = None
    empty: bool | None = None
    in_: Annotated[Values | None, Field(alias="in"), BeforeValidator(_listed)] = None
    not_in: Annotated[Values | None, BeforeValidator(_listed)] = None
    between: Annotated[tuple[Bound, Bound] | None, BeforeValidator(_listed)] = None
    or_none: bool = False
    none: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Test:
        if not self.stated:
            raise ValueError("states no condition")
        if self.or_none and self.between is None:
            raise ValueError("or_none goes with between")
        return self

    @property
    def stated(self) -> frozenset[str]:
        """Names of the conditions that are stated."""
        given = {
            name
            for name in ("includes", "within", "excludes", "empty", "not_in", "between", "none")
            if getattr(self, name) is not None
        }
        return frozenset(given | ({"in"} if self.in_ is not None else set()))

    def holds(self, value: Any) -> bool:
        """Whether a field's value (frozenset, str, number or None) meets every condition."""
        if isinstance(value, frozenset):
            return (
                (self.includes is None or value >= {*self.includes})
                and (self.within is None or value <= {*self.within})
                and (self.excludes is None or not value & {*self.excludes})
                and (self.empty is None or self.empty == (not value))
            )
        if self.between is not None:
            low, high = self.between
            if value is None:
                return self.or_none
            if (low is not None and value < low) or (high is not None and value > high):
                return False
        return (
            (self.in_ is None or value in self.in_)
            and (self.not_in is None or value not in self.not_in)
            and (self.none is None or self.none == (value is None))
        )


SET_TESTS, VALUE_TESTS, NUMBER_TESTS = (
    {"includes", "within", "excludes", "empty"},
    {"in", "not_in"},
    {"between", "none"},
)


class Predicate(Frozen):
    """Conditions on a slot's content, with the reason for them."""

    because: Annotated[str, Field(min_length=1)]
    tests: dict[str, Test] = Field(default_factory=dict)
    constraints: Annotated[tuple[dict[str, Test], ...], BeforeValidator(_listed)] = ()
    only: Annotated[tuple[dict[str, Test], ...], BeforeValidator(_listed)] = ()

    @model_validator(mode="before")
    @classmethod
    def _fields_as_tests(cls, data: Any) -> Any:
        """In a file the tests stand beside ``because``, under the names of the fields."""
        if not isinstance(data, dict) or "tests" in data:
            return data
        own = {"because", "constraints", "only"}
        return {key: value for key, value in data.items() if key in own} | {
            "tests": {k: v for k, v in data.items() if k not in own}
        }

    def matches(self, content: SlotContent) -> bool:
        """Whether every condition holds."""
        fields = fields_of(content)
        if not all(test.holds(fields[name]) for name, test in self.tests.items()):
            return False
        if not isinstance(content, Norm):
            return True
        rows = [_fields_of_constraint(content, c) for c in content.constraints]

        def fits(row: dict[str, Any], pattern: dict[str, Test]) -> bool:
            return all(test.holds(row[name]) for name, test in pattern.items())

        return all(any(fits(row, p) for row in rows) for p in self.constraints) and (
            not self.only or all(any(fits(row, p) for p in self.only) for row in rows)
        )


class SlotReference(Frozen):
    """What is acceptable in a slot, and what is not."""

    acceptable: Annotated[tuple[Predicate, ...], BeforeValidator(_listed), Field(min_length=1)]
    unacceptable: Annotated[tuple[Predicate, ...], BeforeValidator(_listed), Field(min_length=1)]
    second_best: Annotated[tuple[Predicate, ...], BeforeValidator(_listed)] = ()

    def verdicts(self, pool: Sequence[SlotContent]) -> list[Verdict]:
        """Of every content of a pool; the second best is acceptable where nothing else is."""
        found = [self.verdict(content) for content in pool]
        if "acceptable" in found:
            return found
        seconds = [any(p.matches(content) for p in self.second_best) for content in pool]
        return ["acceptable" if second else verdict for second, verdict in zip(seconds, found, strict=True)]

    def verdict(self, content: SlotContent) -> Verdict:
        """Unacceptable wins over acceptable."""
        if any(p.matches(content) for p in self.unacceptable):
            return "unacceptable"
        return "acceptable" if any(p.matches(content) for p in self.acceptable) else "neither"


class Slots(Frozen):
    """A reference for each slot."""

    scope: SlotReference
    trigger: SlotReference
    norm: SlotReference
    evidence: SlotReference
    procedure: SlotReference


class Reference(Frozen):
    """The annotation of one dev goal: how its sentence is read, and what each slot may hold."""

    goal: Name
    reading: Annotated[str, Field(min_length=1)]
    slots: Slots

    def slot(self, name: str) -> SlotReference:
        """The reference of a slot."""
        found: SlotReference = getattr(self.slots, name)
        return found


def fields_of(content: SlotContent) -> dict[str, Any]:
    """A slot's content as the named sets, values and numbers (durations in minutes) that predicates read."""
    if isinstance(content, Scope):
        return {name: frozenset(getattr(content, name)) for name in SETS["scope"]}
    if isinstance(content, Trigger):
        act = content.act
        parts = {
            name: getattr(act, name) if act else None for name in ("activity", "location", "object", "role")
        }
        return {**parts, "channel": content.channel, "once": content.once, "window": _minutes(content.window)}
    if isinstance(content, Norm):
        bearer = content.bearer.role if isinstance(content.bearer, Office) else content.bearer
        return {"force": content.force, "bearer": bearer, "length": len(content.constraints)}
    if isinstance(content, EvidencePolicy):
        return {"channels": frozenset(content.channels), "operator": content.operator, "k": content.k}
    steps = content.steps
    return {
        "stages": frozenset(s.stage for s in steps),
        "steps": frozenset(s.name for s in steps),
        "roles": frozenset(s.role for s in steps),
        "decides": frozenset(s.role for s in steps if s.stage == "decision"),
        "inspects": frozenset(s.inspects for s in steps if s.inspects),
        "activities": frozenset(s.activity for s in steps if s.activity),
        "length": len(steps),
        "response_time": _minutes(content.response_time),
    }


def _fields_of_constraint(norm: Norm, constraint: Constraint) -> dict[str, Any]:
    target = norm.target(constraint)
    return {
        "template": constraint.template,
        "activity": target.activity,
        "location": target.location,
        "object": target.object,
        "role": target.role,
        "after": constraint.after.act.activity if constraint.after else None,
        "correlate": norm.correlation(constraint),
        "unless": constraint.unless.activity if constraint.unless else None,
        "deadline": _minutes(constraint.deadline),
        "count": constraint.count,
    }


def _minutes(duration: Duration | None) -> float | None:
    """A month counts as 30 days here, and working time as days and hours; no dev goal names either."""
    if duration is None:
        return None
    if duration.working:
        return duration.shortest_seconds() / 60
    return (30 * duration.months + duration.days) * 1440 + duration.seconds / 60


def read_reference(path: Path) -> Reference:
    """One annotation.

    Raises
    ------
    InputError
        File and field: bad form, a goal that is not dev, a condition that does not fit its field, a name its
        goal's vocabulary lacks.
    """
    source = path.name
    found = validated(Reference, read_data(path), source=source)
    goal = benchmark_goal(found.goal)
    if goal.split != "dev":
        raise InputError(
            f"{goal.id} is a {goal.split} goal",
            "references are for dev goals only",
            source=source,
            field="goal",
        )
    known = _vocabulary(goal.id)
    for slot in SLOTS:
        for kind in ("acceptable", "unacceptable", "second_best"):
            for number, predicate in enumerate(getattr(found.slot(slot), kind)):
                _check(predicate, slot, known, source, f"slots.{slot}.{kind}[{number}]")
    return found


@cache
def references() -> dict[str, Reference]:
    """The annotations of the dev goals, by goal."""
    found = [read_reference(path) for path in sorted(HERE.glob("*.yaml"))]
    return {reference.goal: reference for reference in found}


def _check(predicate: Predicate, slot: str, known: frozenset[str], source: str, field: str) -> None:
    allowed = dict.fromkeys(SETS.get(slot, ()), SET_TESTS)
    allowed |= dict.fromkeys(VALUES.get(slot, ()), VALUE_TESTS) | dict.fromkeys(
        NUMBERS.get(slot, ()), NUMBER_TESTS
    )
    of_constraint = dict.fromkeys(CONSTRAINT_VALUES, VALUE_TESTS) | dict.fromkeys(
        CONSTRAINT_NUMBERS, NUMBER_TESTS
    )
    if (predicate.constraints or predicate.only) and slot != "norm":
        raise InputError(
            "constraints are of the norm", f"leave them out of the {slot}", source=source, field=field
        )
    if not predicate.tests and not predicate.constraints and not predicate.only:
        raise InputError("states no condition", "name a field", source=source, field=field)
    for tests, fits in [
        (predicate.tests, allowed),
        *((p, of_constraint) for p in (*predicate.constraints, *predicate.only)),
    ]:
        for name, test in tests.items():
            if name not in fits:
                raise InputError(
                    f"{slot} has no field {name!r}",
                    f"choose one of {', '.join(fits)}",
                    source=source,
                    field=field,
                )
            if wrong := test.stated - fits[name]:
                remedy = f"it takes {', '.join(sorted(fits[name]))}"
                raise InputError(
                    f"{name} cannot be tested by {min(wrong)}", remedy, source=source, field=field
                )
            named = {
                *(test.includes or ()),
                *(test.within or ()),
                *(test.excludes or ()),
                *(test.in_ or ()),
                *(test.not_in or ()),
            }
            if unknown := sorted(str(n) for n in named - {None} - known):
                raise InputError(
                    f"{unknown[0]!r} is no name of this goal's scene",
                    "check its spelling",
                    source=source,
                    field=field,
                )


def _vocabulary(goal_id: str) -> frozenset[str]:
    """Names a predicate may use: the scene's, and the words of the slot types."""
    context = load_context(goal_id)
    schema, names = context.schema, set[str]()
    for terms in (
        schema.roles,
        schema.locations,
        schema.objects,
        schema.actions,
        schema.steps,
        context.records.channels,
    ):
        names |= {term.name for term in terms}
    words = (
        "first",
        "each",
        "must",
        "should",
        "may",
        "trigger",
        "all",
        "any",
        "at_least",
        "same_resource",
        "same_object",
        "same_case",
    )
    return frozenset({*names, *words, *DRAFTED, *get_args(Stage)})
