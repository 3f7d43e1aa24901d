"""The five slots of a rule as typed data, never free text (DESIGN §2, SEMANTICS lines 1 to 13)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    field_serializer,
    model_serializer,
    model_validator,
)

from gnrs_ppl.context.limits import CONSTANT, LONGEST_NAME
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Frozen, Name, Names, _listed, _unset

Drafted = Literal[
    "existence",
    "exactly",
    "response",
    "precedence",
    "responded_existence",
    "absence",
    "not_response",
    "not_precedence",
    "not_coexistence",
]
"""Templates that models are asked for and that rules are drawn from at random."""
Positive = Literal[
    "existence",
    "exactly",
    "response",
    "precedence",
    "responded_existence",
    "init",
    "end",
    "chain_response",
    "chain_precedence",
    "coexistence",
    "succession",
    "chain_succession",
    "alternate_response",
    "alternate_precedence",
    "alternate_succession",
    "exclusive_choice",
]
Negative = Literal[
    "absence",
    "not_response",
    "not_precedence",
    "not_coexistence",
    "not_chain_response",
    "not_chain_precedence",
    "not_succession",
    "not_chain_succession",
]
Template = Literal[Positive, Negative]
"""DECLARE template names; polarity lives here only (line 11)."""

DRAFTED: tuple[str, ...] = get_args(Drafted)
POSITIVE: tuple[str, ...] = get_args(Positive)
NEGATIVE: tuple[str, ...] = get_args(Negative)
IMPLEMENTED: tuple[str, ...] = POSITIVE + NEGATIVE
COUNTING: tuple[str, ...] = ("existence", "exactly", "absence")
"""Templates whose n is ``count``; every other template asks for one act."""
LOOK_BACK: tuple[str, ...] = (
    "precedence",
    "not_precedence",
    "chain_precedence",
    "not_chain_precedence",
    "alternate_precedence",
)
TWO_SIDED: tuple[str, ...] = ("responded_existence", "not_coexistence")
ALTERNATE: tuple[str, ...] = ("alternate_response", "alternate_precedence")
"""Templates that ask for the target anew at each activation: no other one may lie between (N8)."""
BESIDE: tuple[str, ...] = (
    "chain_response",
    "chain_precedence",
    "not_chain_response",
    "not_chain_precedence",
    *ALTERNATE,
)
"""Templates about what comes directly beside an act, or with no other such act between."""
NEIGHBOURS: tuple[str, ...] = ("init", "end", *BESIDE)
"""Templates about what comes directly beside: nothing else may lie between (N entries)."""
HALVES: dict[str, tuple[Template, Template]] = {
    "coexistence": ("responded_existence", "responded_existence"),
    "succession": ("response", "precedence"),
    "chain_succession": ("chain_response", "chain_precedence"),
    "alternate_succession": ("alternate_response", "alternate_precedence"),
    "not_succession": ("not_response", "not_precedence"),
    "not_chain_succession": ("not_chain_response", "not_chain_precedence"),
}
"""What a mutual template asks at the trigger's rows, and what at the target's (P entries)."""
MUTUAL: tuple[str, ...] = tuple(HALVES)
"""Templates that bind both acts: the target's rows open instances too."""
IN_THE_MEANTIME: tuple[str, ...] = tuple(t for t in IMPLEMENTED if t not in (*LOOK_BACK, *MUTUAL, "init"))
"""Templates that look ahead alone, and whose exception may count only from the activation to the due (X1)."""
ORDERED: tuple[str, ...] = (
    "response",
    "not_response",
    "precedence",
    "not_precedence",
    "succession",
    "not_succession",
)
"""Templates for which it matters which of two rows of one recorded instant came first."""

Force = Literal["must", "should", "may"]
DraftedCorrelation = Literal["same_resource", "same_object", "same_case"]
"""Correlations that models are asked for and that drafts consist of."""
Correlation = Literal[DraftedCorrelation, "different_resource"]
KEY_OF: dict[Correlation, str] = {
    "same_resource": "resource",
    "different_resource": "resource",
    "same_object": "object",
}
"""The column that a correlation compares, where it compares one."""
Test = Literal["equal", "not_equal", "less", "at_most", "more", "at_least", "one_of", "between", "recorded"]
"""What a condition asks of a value."""
ORDERING: tuple[Test, ...] = ("less", "at_most", "more", "at_least", "between")
"""Tests that need an order: of numbers, or of dates."""
Operator = Literal["all", "any", "at_least"]
Ties = Literal["unknown", "fulfil", "violate"]
"""What a row at the same recorded instant as the activation counts as, where order matters (T entries)."""
Stage = Literal["review", "decision", "remedy", "appeal"]

SLOTS = ("scope", "trigger", "norm", "evidence", "procedure")
"""The slots K in the paper's order."""


def _constant(value: Any) -> Decimal | str:
    """A number as a decimal, anything else as text: files know no decimals, and JSON no dates."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if not value.strip() or len(value) > LONGEST_NAME or not value.isprintable():
            raise ValueError(f"a text to compare with is 1 to {LONGEST_NAME} printable characters")
        return value
    if not isinstance(value, int | float | Decimal):
        raise ValueError("a value to compare with is a number, a text, a date, true or false")
    number = Decimal(str(value))  # of a float its shortest decimals, those the file has
    if not number.is_finite():
        raise ValueError(f"{value} is no number to compare with")
    number = number.normalize() + 0
    _, digits, exponent = number.as_tuple()
    most, decimals = CONSTANT
    if len(digits) > most or not -decimals <= int(exponent) <= most - len(digits):
        raise ValueError(f"a number has at most {most} digits, at most {decimals} of them decimals")
    return number.quantize(Decimal(1)) if int(exponent) > 0 else number


def _constants(value: Any) -> Any:
    return tuple(map(_constant, value if isinstance(value, list | tuple) else (value,)))


def _other(value: Any) -> Any:
    return {"attribute": value} if isinstance(value, str) else value


Scalar = str | int | float | bool


_VALUES = {
    "recorded": (0, 0, "no value"),
    "between": (2, 2, "two values"),
    "one_of": (2, 64, "two values or more"),
}
"""Least and greatest number of constants of a test, where it is not one."""


class Other(Frozen):
    """Another attribute to compare with; a plain string in a file is one of the same record."""

    attribute: Name
    """An attribute of the record layer, of the same type and unit."""
    of: Literal["row", "activation"] = "row"
    """Of the same record, or of the record from which the constraint starts."""


class Condition(Frozen):
    """A condition on an attribute of the record layer (D entries)."""

    attribute: Name
    """An attribute of the record layer."""
    test: Test
    """What its value must be."""
    value: Annotated[
        tuple[Decimal | str, ...],
        BeforeValidator(_constants, json_schema_input_type=Scalar | list[Scalar]),
        Field(max_length=64),
    ] = ()
    """What to compare with: one value, two for between, two or more for one_of; none for recorded, or where
    other is stated. Dates as 2024-05-31."""
    other: Annotated[Other | None, BeforeValidator(_other, json_schema_input_type=str | Other | None)] = None
    """Another attribute to compare with, in place of value."""
    unit: Name | None = None
    """The unit of the numbers; that of the attribute where left out."""

    @model_validator(mode="after")
    def _compares_with_something(self) -> Condition:
        least, most, words = _VALUES.get(self.test, (1, 1, "one value"))
        if self.other is not None:
            if self.value:
                raise ValueError("state value or other, not both")
            if self.test in _VALUES:
                raise ValueError(f"{self.test} takes no other attribute")
            if self.unit is not None:
                raise ValueError("unit goes with numbers, not with another attribute")
            if self.other == Other(attribute=self.attribute):
                raise ValueError(f"compares {self.attribute!r} with itself")
        elif not least <= len(self.value) <= most:
            raise ValueError(f"{self.test} takes {words}, not {len(self.value)}")
        if len(set(self.value)) < len(self.value) or len({type(v) for v in self.value}) > 1:
            raise ValueError("values differ from one another, and are all numbers or all text")
        numbers = [v for v in self.value if isinstance(v, Decimal)]
        if self.unit is not None and not numbers:
            raise ValueError("unit goes with numbers")
        if self.test == "between" and sorted(self.value) != list(self.value):
            raise ValueError("between names the lower value first")
        return self

    def __str__(self) -> str:
        compared = f"{self.other.of}.{self.other.attribute}" if self.other else ",".join(map(str, self.value))
        return " ".join(filter(None, (self.attribute, self.test, compared, self.unit)))

    @field_serializer("value", when_used="json")
    def _plain_values(self, value: tuple[Decimal | str, ...]) -> list[Scalar]:
        return [
            v if isinstance(v, str) else int(v) if v == v.to_integral_value() else float(v) for v in value
        ]


def _activation_compared(*conditions: Condition) -> bool:
    return any(c.other is not None and c.other.of == "activation" for c in conditions)


Conditions = Annotated[
    tuple[Condition, ...], BeforeValidator(_listed), Field(max_length=12, exclude_if=_unset)
]
"""Conditions that all hold; left out of dumps where there are none, so that rules are written as before."""


def _act(value: Any) -> Any:
    return {"activity": value} if isinstance(value, str) else value


def _acts(value: Any) -> Any:
    return tuple(_act(v) for v in value) if isinstance(value, list | tuple) else value


class Act(Frozen):
    """An (activity, location?, object?, role?) pattern: an event matches when every stated field is equal
    (line 1).

    ``alternatives`` are further patterns, any of which will do; in a file such an act is written ``any_of:
    [...]`` (A entries).
    """

    activity: Name
    """The act: an action of the schema, as the log's activity column has it."""
    location: Name | None = None
    """Where; anywhere where left out."""
    object: Name | None = None
    """On what; anything where left out."""
    role: Name | None = None
    """Who acts; anyone where left out."""
    where: Conditions = ()
    """Conditions on what else its row, or its case, records; all of them (D entries)."""
    alternatives: Annotated[tuple[Act, ...], BeforeValidator(_acts), Field(max_length=7)] = ()
    """Further patterns, any of which will do; in a file written any_of."""

    @model_validator(mode="before")
    @classmethod
    def _from_any_of(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "any_of" not in value:
            return value
        patterns = _acts(value["any_of"])
        if len(value) > 1 or not isinstance(patterns, tuple) or len(patterns) < 2:
            raise ValueError("any_of stands by itself and lists two acts or more")
        first = patterns[0].model_dump() if isinstance(patterns[0], Act) else patterns[0]
        if not isinstance(first, dict) or "any_of" in first:
            raise ValueError("any_of lists acts, and no further any_of")
        return {**first, "alternatives": patterns[1:]}

    @model_validator(mode="after")
    def _plain_alternatives(self) -> Act:
        if any(a.alternatives for a in self.alternatives):
            raise ValueError("any_of lists acts, and no further any_of")
        if len(set(self.patterns)) < len(self.patterns):
            raise ValueError("any_of lists an act twice")
        return self

    @model_serializer(mode="wrap")
    def _to_any_of(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        others = data.pop("alternatives", ())
        return {"any_of": [data, *others]} if others else data

    @property
    def patterns(self) -> tuple[Act, ...]:
        """The act's patterns, each without alternatives."""
        return (
            (self.model_copy(update={"alternatives": ()}), *self.alternatives)
            if self.alternatives
            else (self,)
        )

    @property
    def activities(self) -> tuple[str, ...]:
        """The distinct activities of its patterns."""
        return tuple(dict.fromkeys(pattern.activity for pattern in self.patterns))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of all its patterns."""
        return tuple(condition for pattern in self.patterns for condition in pattern.where)

    def carried_by(self, role: str | None) -> Act:
        """The act with this role in every pattern."""
        others = tuple(a.model_copy(update={"role": role}) for a in self.alternatives)
        return self.model_copy(update={"role": role, "alternatives": others})


class AnyOf(Frozen):
    """Acts of which any will do, as a file writes them."""

    any_of: Annotated[list[str | Act], Field(min_length=2, max_length=8)]
    """Two acts or more."""


ActField = Annotated[Act, BeforeValidator(_act, json_schema_input_type=str | Act | AnyOf)]
"""An act; a plain string in a file is its activity."""


class Scope(Frozen):
    """Who, where and what is covered; what is stated filters the row that opens an instance (line 6)."""

    roles: Names = ()
    """Whoever opens an instance acts in one of these roles."""
    locations: Names = ()
    """It is opened at one of these locations."""
    objects: Names = ()
    """It is opened on one of these objects."""
    concerns: Names = ()
    """Objects that only the text names."""
    where: Conditions = ()
    """Conditions on attributes of the case, at its start too (D6)."""

    @model_validator(mode="after")
    def _conditions_of_the_case(self) -> Scope:
        if _activation_compared(*self.where):
            raise ValueError("where: a scope has no activation to compare with")
        return self


class Trigger(Frozen):
    """The one opener of instances: an act in one durable channel, or the start of a case (line 7).

    ``act`` and ``channel`` are both stated, or both left out for case start.
    """

    act: ActField | None = None
    """The act that opens an instance; the start of the case where left out."""
    channel: Name | None = None
    """The log in which it stands; stated together with act."""
    once: Literal["first", "each"] = "each"
    """Whether the first such act of a case opens, or each."""
    window: Duration | None = None
    """How long an instance stays open; until the case closes where left out."""

    @model_validator(mode="after")
    def _act_with_channel(self) -> Trigger:
        if (self.act is None) != (self.channel is None):
            raise ValueError("state act and channel together, or neither of them for case start")
        if self.act is None and self.once == "first":
            raise ValueError("once: first needs an act; case start happens once anyway")
        if self.act is not None and _activation_compared(*self.act.conditions):
            raise ValueError("act: compares with the activation, which is the trigger itself")
        return self


class After(Frozen):
    """A second activation: the earliest such row in one named channel inside the episode (line 10)."""

    act: ActField
    """The act from which the constraint starts anew."""
    channel: Name
    """The log in which it stands."""

    @model_validator(mode="after")
    def _activates_by_itself(self) -> After:
        if _activation_compared(*self.act.conditions):
            raise ValueError("act: compares with the activation, which is this act itself")
        return self


_NUMBERED = r"(existence|absence|exactly)([1-9]\d?|100)"
UsualName = Literal["choice", "not_responded_existence"] | Annotated[str, Field(pattern=f"^{_NUMBERED}$")]
"""Names that DECLARE has for what another template says already (C entries)."""


def _by_its_usual_name(value: Any) -> Any:
    """A constraint whose template goes by a further name of DECLARE, as the template that says it."""
    name = value.get("template") if isinstance(value, dict) else None
    if not isinstance(name, str):
        return value
    if name == "not_responded_existence":
        return value | {"template": "not_coexistence"}
    if name == "choice":
        target = value.get("target")
        listed = isinstance(target, dict) and "any_of" in target
        if not (listed or (isinstance(target, Act) and target.alternatives)):
            raise ValueError("choice names its target as any_of two acts or more")
        if value.get("count", 1) != 1:
            raise ValueError("choice asks for one of them once; write existence where it is more")
        return value | {"template": "existence"}
    if numbered := re.fullmatch(_NUMBERED, name):
        if "count" in value:
            raise ValueError(f"{name} says its number itself; leave count out")
        return value | {"template": numbered[1], "count": int(numbered[2])}
    return value


class Constraint(Frozen):
    """One DECLARE constraint of a norm (lines 10 to 18)."""

    template: Annotated[
        Template, BeforeValidator(lambda name: name, json_schema_input_type=Template | UsualName)
    ]
    """The DECLARE template; absence2 and choice and other usual names are read as what they say."""
    target: ActField
    """The act required or forbidden."""
    after: After | None = None
    """A second activation; the trigger where left out."""
    correlate: Correlation | None = None
    """What target and trigger share; same_case where left out."""
    deadline: Duration | None = None
    """The time within which; until the instance ends where left out."""
    count: Annotated[int, Field(ge=1, le=100)] = 1
    """How many times, for existence, exactly and absence."""
    unless: ActField | None = None
    """The act that excuses."""
    # left out of dumps where unset, so that rules that have none of them are written as before
    ties: Annotated[Ties | None, Field(exclude_if=_unset)] = None
    """What a row at the activation's own recorded instant counts as; fulfil for response, else unknown,
    where left out (line 19)."""
    earlier_counts: Annotated[bool, Field(exclude_if=_unset)] = False
    """Whether a response may also have happened before its activation: at the latest (L entries)."""
    in_the_meantime: Annotated[bool, Field(exclude_if=_unset)] = False
    """Whether the exception counts only from the activation on; at any time before where left out (X
    entries)."""

    @model_validator(mode="before")
    @classmethod
    def _usual_name(cls, value: Any) -> Any:
        return _by_its_usual_name(value)

    @model_validator(mode="after")
    def _fields_of_the_template(self) -> Constraint:
        if self.count != 1 and self.template not in COUNTING:
            raise ValueError(
                f"count {self.count} goes with {', '.join(COUNTING)} only, not with {self.template}"
            )
        if self.ties is not None and (self.template not in ORDERED or self.earlier_counts):
            raise ValueError(f"ties goes with {', '.join(ORDERED)} only, and not with earlier_counts")
        if self.earlier_counts and self.template != "response":
            raise ValueError(f"earlier_counts goes with response only, not with {self.template}")
        if self.in_the_meantime and self.unless is None:
            raise ValueError("in_the_meantime goes with unless")
        if self.in_the_meantime and self.template not in IN_THE_MEANTIME:
            raise ValueError(
                f"in_the_meantime does not go with {self.template}: it does not look ahead alone"
            )
        if self.deadline is not None and self.template in ("init", "end"):
            raise ValueError(
                f"{self.template} has no deadline: it is about the first or the last event of a case"
            )
        if self.template == "exclusive_choice" and not (
            len(self.target.patterns) == len(self.target.activities) == 2
        ):
            raise ValueError("exclusive_choice names its target as any_of two acts of different activities")
        if self.after is not None and self.template in MUTUAL:
            raise ValueError(f"{self.template} binds two acts and takes no after")
        return self

    @property
    def acts(self) -> tuple[Act, ...]:
        """The acts it names: target, second activation, exception."""
        after = self.after.act if self.after else None
        return tuple(act for act in (self.target, after, self.unless) if act is not None)

    @property
    def compared(self) -> tuple[str, ...]:
        """Attributes of the activation that its conditions compare with, once each."""
        others = (condition.other for act in self.acts for condition in act.conditions)
        return tuple(dict.fromkeys(o.attribute for o in others if o is not None and o.of == "activation"))

    @property
    def positive(self) -> bool:
        """Whether the template demands its target (line 11)."""
        return self.template in POSITIVE


class Office(Frozen):
    """Bearer of a duty of the office: the target must carry this role (line 8)."""

    role: Name
    """The role that bears the duty."""


class Norm(Frozen):
    """NormBody: force, bearer and a conjunction of constraints."""

    force: Force = "must"
    """How strongly the rule speaks."""
    bearer: Literal["trigger"] | Office = "trigger"
    """Who answers for it: trigger (whoever opened the instance) or an office."""
    constraints: Annotated[
        tuple[Constraint, ...], BeforeValidator(_listed), Field(min_length=1, max_length=12)
    ]
    """What must or must not happen, all of it."""

    @model_validator(mode="after")
    def _office_performs_target(self) -> Norm:
        for constraint in self.constraints:
            for role in (pattern.role for pattern in constraint.target.patterns):
                if isinstance(self.bearer, Office) and role not in (None, self.bearer.role):
                    raise ValueError(
                        f"the bearer is the office {self.bearer.role!r} but a target asks for role {role!r}"
                    )
        return self

    def correlation(self, constraint: Constraint) -> Correlation:
        """The constraint's correlation with line 13's default filled in."""
        return constraint.correlate or "same_case"

    def target(self, constraint: Constraint) -> Act:
        """The target act, carrying the office's role where the bearer is an office (line 8)."""
        if isinstance(self.bearer, Office):
            return constraint.target.carried_by(self.bearer.role)
        return constraint.target


class EvidencePolicy(Frozen):
    """Channels an auditor may use, and how many of those that can record an act must agree (line 3)."""

    channels: Annotated[Names, Field(min_length=1, max_length=16)]
    """The logs an auditor may use."""
    operator: Operator = "all"
    """How many of those that can record an act must show it."""
    k: Annotated[int, Field(ge=1, le=16)] | None = None
    """The number of logs, with operator at_least."""

    @model_validator(mode="after")
    def _k_with_at_least(self) -> EvidencePolicy:
        if (self.operator == "at_least") != (self.k is not None):
            raise ValueError("k is stated with operator at_least, and only there")
        if self.k is not None and self.k > len(self.channels):
            raise ValueError(f"k is {self.k} but only {len(self.channels)} channel(s) are listed")
        return self

    def needed(self, n: int) -> int:
        """K for an act that ``n`` of the channels can record: any 1, all n, at least k (line 3)."""
        return {"any": 1, "all": n, "at_least": self.k or 1}[self.operator]


class Step(Frozen):
    """One step of the procedure."""

    stage: Stage
    """What the step is for."""
    name: Name
    """A step of the schema."""
    role: Name
    """Who takes it."""
    inspects: Name | None = None
    """The log looked into."""
    activity: Name | None = None
    """The recorded act that shows it was taken, where there is one (line 23)."""


MOST_STEPS = 12
"""Steps a procedure may have."""


class Procedure(Frozen):
    """What follows a violation: steps in order, and the time for each of them to be taken (line 23)."""

    steps: Annotated[tuple[Step, ...], BeforeValidator(_listed), Field(max_length=MOST_STEPS)] = ()
    """What follows a violation, in order; drafts have at least one, a rule by hand may say nothing of it."""
    response_time: Duration | None = None
    """The time for each step, from the breach; prospective where left out."""

    @model_validator(mode="after")
    def _time_of_a_step(self) -> Procedure:
        if self.response_time is not None and not self.steps:
            raise ValueError("response_time is that of steps, and there are none")
        return self


class Structure(Frozen):
    """A five-slot structure a = (scope, trigger, norm, evidence, procedure)."""

    scope: Scope = Scope()
    """Who, where and what is covered."""
    trigger: Trigger
    """What opens an instance."""
    norm: Norm
    """What must or must not happen."""
    evidence: EvidencePolicy
    """Which logs show it."""
    procedure: Procedure = Procedure()
    """What follows a violation."""


def durations_of(structure: Structure) -> tuple[Duration, ...]:
    """Every length of time that a rule states."""
    stated = (
        structure.trigger.window,
        structure.procedure.response_time,
        *(constraint.deadline for constraint in structure.norm.constraints),
    )
    return tuple(duration for duration in stated if duration is not None)
