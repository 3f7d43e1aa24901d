"""What comes in: goal, schema, record layer and context, as frozen validated types (paper, Preliminaries)."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections import Counter
from contextlib import suppress
from datetime import date, datetime, tzinfo
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema

from gnrs_ppl.context.limits import GOAL_NAMES, LONGEST_NAME, NAMES, SENTENCE, YEARS
from gnrs_ppl.context.time import ISO_DURATION, Duration, Grain
from gnrs_ppl.context.zone import clock_of, span, zone_of

Kind = Literal["role", "location", "object", "action", "observable", "channel", "step"]
"""Kinds of payload (DESIGN §2)."""

Support = Literal["direct", "inferred", "derivable", "missing"]
"""How the record layer backs a payload; weights 1.00, 0.65, 0.45 and 0 (paper, Hard-OK audit)."""

Column = Literal[
    "event_id",
    "case_id",
    "activity",
    "timestamp",
    "offset",
    "grain",
    "resource",
    "role",
    "object",
    "location",
    "channel",
    "value",
]
"""Columns of the event table, XES terms (SEMANTICS, Table)."""

COLUMNS: tuple[Column, ...] = get_args(Column)

Stage = Literal["review", "decision", "remedy", "appeal"]
"""Stages of a procedure."""

ValueTag = Literal[
    "accountability", "fairness", "leniency", "privacy", "safety", "timeliness", "transparency"
]
"""Values a goal may ask for; each has a stated structural meaning in the value-consistency feature."""


AttributeType = Literal["number", "text", "boolean", "date"]
"""What the cells of an attribute hold."""


class Frozen(BaseModel):
    """Immutable, hashable, closed to unknown fields and to silent type coercion.

    The text below a field is what ``gnrs schema``, docs/context-fields.md and editors say of it.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        defer_build=True,
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        schema = handler(core_schema)
        fields = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in field_texts(cls).items():
            if (field := fields.get(cls.model_fields[name].alias or name)) is not None:
                field.setdefault("description", text)
        return schema


def field_texts(model: type[BaseModel]) -> dict[str, str]:
    """What stands below each field of a model, where its source is at hand.

    Read when a schema is asked for: pydantic's ``use_attribute_docstrings`` parses every module as it is
    imported.
    """
    found: dict[str, str] = {}
    for one in reversed(model.mro()):
        if issubclass(one, Frozen):
            found |= {name: text for name, text in _texts_below(one) if name in model.model_fields}
    return found


@cache
def _texts_below(model: type[Frozen]) -> list[tuple[str, str]]:
    """Each attribute of the class's own with the text below it."""
    found: list[tuple[str, str]] = []
    with suppress(OSError, TypeError):
        body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, below in pairwise(body.body):
            match field, below:
                case (
                    ast.AnnAssign(target=ast.Name(name)),
                    ast.Expr(value=ast.Constant(value=str() as text)),
                ):
                    found.append((name, inspect.cleandoc(text)))
    return found


def _name(text: str) -> str:
    if not text.strip() or text != text.strip() or len(text) > LONGEST_NAME or not text.isprintable():
        raise ValueError(f"a name is 1 to {LONGEST_NAME} printable characters without spaces around it")
    return text


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _distinct(value: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(value) > NAMES:
        raise ValueError(f"holds {len(value):,} names, more than the {NAMES:,} that are taken")
    names = [getattr(v, "name", v) for v in value]
    if len({*names}) < len(names):
        raise ValueError(
            f"{next(name for name, count in Counter(names).items() if count > 1)!r} stands there twice"
        )
    return value


def _few(value: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(value) > GOAL_NAMES:
        raise ValueError(f"holds {len(value):,} names, more than the {GOAL_NAMES} of a goal")
    return value


Name = Annotated[str, AfterValidator(_name)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_listed), AfterValidator(_distinct)]
GoalNames = Annotated[Names, AfterValidator(_few)]


def _instant(value: Any) -> Any:
    if isinstance(value, datetime | date) or not isinstance(value, str):
        return value
    return (
        date.fromisoformat(value)
        if re.fullmatch(r"\d{4}-\d\d-\d\d", value)
        else datetime.fromisoformat(value)
    )


def _unset(value: Any) -> bool:
    return not value


def _within_years(value: datetime | date) -> datetime | date:
    if not YEARS[0] <= value.year <= YEARS[1]:
        raise ValueError(f"year {value.year} lies outside {YEARS[0]} to {YEARS[1]}")
    return value


Moment = Annotated[datetime | date, BeforeValidator(_instant), AfterValidator(_within_years)]
"""An instant (with offset, or local at the log's declared offset) or a whole local day, of a year in
``YEARS``."""


OffsetText = Annotated[str, Field(pattern=r"^(Z|[+-][0-9]{2}:[0-9]{2})$")]


def _offset_minutes(value: Any) -> Any:
    if isinstance(value, str):
        match = re.fullmatch(r"([+-])(\d\d):(\d\d)", value)
        if value == "Z":
            return 0
        if not match or int(match[2]) > 14 or int(match[3]) > 59:
            raise ValueError(
                f"{value!r} is not an offset such as +01:00 or Z; a named zone goes under records.zone"
            )
        return (1 if match[1] == "+" else -1) * (60 * int(match[2]) + int(match[3]))
    return value


Offset = Annotated[
    int,
    BeforeValidator(_offset_minutes, json_schema_input_type=OffsetText | int),
    Field(ge=-14 * 60, le=14 * 60),
]
"""Minutes east of UTC; written ``+01:00``."""


def _zone(name: str) -> str:
    zone_of(name)
    return name


Zone = Annotated[str, AfterValidator(_zone)]
"""A time zone by its IANA name, such as ``Europe/Amsterdam``."""


def _clock_duration(value: Duration) -> Duration:
    if value.working:
        raise ValueError(
            f"{value} is working time, which goes with deadlines, windows and response times only"
        )
    return value


ClockDuration = Annotated[Duration, AfterValidator(_clock_duration), WithJsonSchema(ISO_DURATION)]
"""A duration that no calendar is needed for."""


class Goal(Frozen):
    """Normative goal g: what the rule is for, and the conduct it requires or forbids."""

    id: Name
    """A name for the goal; files and reports go by it."""
    intent: Annotated[str, Field(min_length=1, max_length=SENTENCE)]
    """The sentence: who must or must not do what, when, after what. It is read; the fields below only add to
    it or correct it."""
    required: GoalNames = ()
    """Actions of the schema that the rule must demand; read from the sentence where left out."""
    forbidden: GoalNames = ()
    """Actions of the schema that the rule must ban; read from the sentence where left out."""
    roles: GoalNames = ()
    """Roles of the schema that the rule binds; read from the sentence where left out."""
    locations: GoalNames = ()
    """Locations of the schema that the rule is about."""
    objects: GoalNames = ()
    """Objects of the schema that the rule is about."""
    read_as: Annotated[
        tuple[str, ...], BeforeValidator(_listed), Field(max_length=32, exclude_if=_unset)
    ] = ()
    """Which of the sentence's meanings was chosen, a duty each, as ``gnrs draft --reading`` writes it."""
    values: Annotated[tuple[ValueTag, ...], BeforeValidator(_listed), AfterValidator(_distinct)] = ()
    """What the institution cares for; it weighs in the choice between rules."""
    within: Duration | None = None
    """The time the goal itself asks for, where it names one."""
    # left out of dumps where unset, so that the record of what weights were fitted on holds for goals that
    # have none of them
    force: Annotated[Literal["must", "should", "may"] | None, Field(exclude_if=_unset)] = None
    """How strongly the rule may speak; left to the search where left out. A goal of force may only permits.
    """
    permitted: Annotated[GoalNames, Field(exclude_if=_unset)] = ()
    """Actions the goal leaves free: no rule for it may demand them."""
    triggers: Annotated[GoalNames, Field(exclude_if=_unset)] = ()
    """Actions that set the rule to work, where the goal names them."""
    timed: Annotated[GoalNames, Field(exclude_if=_unset)] = ()
    """The required actions that within is for; it is for all of them where none is named."""

    @model_validator(mode="after")
    def _no_contradiction(self) -> Goal:
        both = sorted(set(self.required) & set(self.forbidden))
        if both:
            raise ValueError(f"{both[0]!r} is both required and forbidden")
        free = sorted(set(self.permitted) & {*self.required, *self.forbidden})
        if free:
            raise ValueError(f"{free[0]!r} is permitted and also required or forbidden")
        if self.timed and (self.within is None or not set(self.timed) <= set(self.required)):
            raise ValueError("timed names required actions, of a goal that states a time within which")
        if self.force == "may" and (self.required or self.forbidden or not self.permitted):
            raise ValueError("a goal of force may permits something, and neither requires nor forbids")
        return self


class Term(Frozen):
    """A name of the schema with the words people use for it; a plain string in a file is a term without a
    phrase of its own.
    """

    name: Name
    """The name as the log has it."""
    phrase: Name | None = None
    """A singular noun phrase without article, such as duty manager; made from the name where left out."""
    plural: Name | None = None
    """Its plural, only where adding s is wrong."""
    aliases: Annotated[Names, Field(exclude_if=_unset)] = ()
    """Further words people use for it."""


class Action(Frozen):
    """An activity of the institution, with the words people use for it; a plain string in a file is its
    name.
    """

    name: Name
    """The name as the log's activity column has it."""
    phrase: Name | None = None
    """A bare infinitive, such as check in or pay the fine; made from the name where left out."""
    noun: Name | None = None
    """One occurrence of it without article, such as check-in or payment of the fine."""
    aliases: Annotated[Names, Field(exclude_if=_unset)] = ()
    """Further words for it, verbs or nouns."""
    roles: Names = ()
    """Who may perform it; anyone where left out."""
    locations: Names = ()
    """Where; anywhere where left out."""
    objects: Names = ()
    """On what; anything where left out."""


def _terms(value: Any) -> Any:
    return (
        tuple({"name": v} if isinstance(v, str) else v for v in value) if isinstance(value, list) else value
    )


Terms = Annotated[
    tuple[Term, ...],
    BeforeValidator(_terms, json_schema_input_type=list[str | Term]),
    AfterValidator(_distinct),
]
Actions = Annotated[
    tuple[Action, ...],
    BeforeValidator(_terms, json_schema_input_type=list[str | Action]),
    AfterValidator(_distinct),
]


class PrescribedStep(Frozen):
    """One step of a procedure the institution prescribes."""

    stage: Stage
    """What the step is for."""
    name: Name
    """A step of the schema."""
    role: Name
    """The role of the schema that takes it."""
    inspects: Name | None = None
    """The channel looked into."""


class Schema(Frozen):
    """Institutional schema C: the names that goal and rules may use."""

    roles: Terms = ()
    """Who acts. Where none is named, rules bind whoever acts, and the person in charge looks into breaches.
    """
    locations: Terms = ()
    """Where people act."""
    objects: Terms = ()
    """On what they act."""
    actions: Actions = ()
    """What they do: the activities of the log, and those no log shows yet."""
    steps: Terms = ()
    """Steps that a procedure after a breach may name."""
    procedure: Annotated[tuple[PrescribedStep, ...], BeforeValidator(_listed)] = ()
    """The steps in order, where the institution prescribes its procedure."""

    @model_validator(mode="after")
    def _known_names(self) -> Schema:
        parts = ("roles", "locations", "objects", "steps")
        known = {part: {term.name for term in getattr(self, part)} for part in parts}
        for step in self.procedure:
            for field, name in (("roles", step.role), ("steps", step.name)):
                if name not in known[field]:
                    raise ValueError(f"procedure step {step.name!r}: {name!r} is not in the schema's {field}")
        for action in self.actions:
            for field in parts[:3]:
                for name in getattr(action, field):
                    if name not in known[field]:
                        raise ValueError(
                            f"action {action.name!r}: {field}: {name!r} is not in the schema's {field}"
                        )
        return self


class Interval(Frozen):
    """Closed interval in which a channel is complete; a date means the whole local day (SEMANTICS line 4)."""

    start: Moment
    """First instant or day."""
    end: Moment
    """Last instant or day, included."""


class Channel(Frozen):
    """A log of the institution."""

    name: Name
    """The name as the log's channel column has it."""
    phrase: Name | None = None
    """A singular noun phrase without article, such as attendance log; made from the name where left out."""
    durable: bool = True
    """False for an observable that nothing keeps: its rows are not evidence."""
    activities: Names | None = None
    """What it can record; those seen in the log where left out (line 2)."""
    coverage: Annotated[tuple[Interval, ...], BeforeValidator(_listed)] | None = None
    """When it is complete; first to last event where left out, printed as an assumption (line 4)."""
    closed_world: bool = False
    """Whether its silence means absence (line 4)."""
    grain: Grain | None = None
    """Resolution of its clock; as read from the rows where left out."""


class EventRow(Frozen):
    """A row of the event table: one recorded event. Every cell is text; an empty one says nothing."""

    event_id: str | None = None
    """A name for the row, of its own; rows are numbered where left out."""
    case_id: str
    """The case it belongs to: an order, a patient, a visit."""
    activity: str
    """What was done: an action of the schema."""
    timestamp: Moment
    """When: an instant with or without offset, or a day."""
    offset: OffsetText | None = None
    """How far local time was ahead of UTC, where the timestamp does not say; that of the record layer where
    left out."""
    grain: Grain | None = None
    """Resolution of the timestamp; that of its channel where left out."""
    resource: str | None = None
    """Who acted: a person or a machine."""
    role: str | None = None
    """In which role of the schema."""
    object: str | None = None
    """On which object of the schema, or which thing of that kind."""
    location: str | None = None
    """Where, of the schema's locations."""
    channel: str | None = None
    """The log it stands in; needed where the record layer declares several."""
    value: str | None = None
    """Anything else that was recorded; no rule reads it."""


Channels = Annotated[
    tuple[Channel, ...],
    BeforeValidator(_terms, json_schema_input_type=list[str | Channel]),
    AfterValidator(_distinct),
]


class DeclaredSupport(Frozen):
    """Support the institution declares for a payload the log does not show by itself, with the reason."""

    kind: Kind
    """What it is."""
    name: Name
    """Its name in the schema."""
    support: Literal["inferred", "derivable"]
    """How the records back it though no row names it."""
    because: Annotated[str, Field(min_length=1, max_length=400)]
    """Why, in a sentence."""


class Attribute(Frozen):
    """Something the log records beside the columns every log has, on which rules may state conditions."""

    name: Name
    """The name rules use."""
    phrase: Name | None = None
    """A singular noun phrase without article, such as total price; made from the name where left out."""
    type: AttributeType
    """What its cells hold: numbers (kept as decimals, never floats), text, true or false, or dates."""
    unit: Name | None = None
    """What the numbers count, such as EUR or hours; rules that state another are refused."""
    of: Literal["event", "case"] = "event"
    """Whether each row holds its own, or the case has one, on whichever of its rows it stands (D2)."""
    column: Name | None = None
    """The column of the log; the one that has its name where left out."""
    decimal: Annotated[Literal[".", ","] | None, Field(exclude_if=_unset)] = None
    """The sign before the decimals of its numbers; as the column shows where left out."""
    values: Annotated[Names, Field(max_length=64, exclude_if=_unset)] = ()
    """The texts it is known to hold, by which sentences may name it; any others stay allowed."""

    @model_validator(mode="after")
    def _numbers_have_units(self) -> Attribute:
        if self.unit is not None and self.type != "number":
            raise ValueError(f"unit goes with type number only, not with {self.type}")
        if self.decimal is not None and self.type != "number":
            raise ValueError(f"decimal goes with type number only, not with {self.type}")
        if self.values and self.type != "text":
            raise ValueError(f"values goes with type text only, not with {self.type}")
        return self


Attributes = Annotated[
    tuple[Attribute, ...], BeforeValidator(_listed), AfterValidator(_distinct), Field(max_length=64)
]


Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)


def _hours(text: str) -> str:
    match = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)-(([01]\d|2[0-3]):([0-5]\d)|24:00)", text)
    if not match or not text[:5] < text[6:]:
        raise ValueError(f"{text!r} are no hours of a day, from earlier to later, such as 09:00-17:00")
    return text


def _in_turn(value: tuple[str, ...]) -> tuple[str, ...]:
    for one, other in pairwise(value):
        if not one[6:] < other[:5]:
            raise ValueError(
                f"{other} does not begin after {one} has ended; join the two or put them in order"
            )
    return value


class PublicHolidays(Frozen):
    """The public holidays of a country, or of a part of it."""

    country: Name
    """The country's ISO 3166 code, such as NL."""
    subdivision: Name | None = None
    """A part of the country with holidays of its own, by its ISO 3166-2 code, such as BY for Bavaria in DE."""

    @field_validator("country", "subdivision")
    @classmethod
    def _known(cls, name: str | None, others: ValidationInfo) -> str | None:
        from gnrs_ppl.context.holidays import check_known

        if others.field_name == "country":
            check_known(str(name), None)
        elif "country" in others.data:
            check_known(others.data["country"], name)
        return name


def _holidays(value: Any) -> Any:
    return tuple(map(_instant, value)) if isinstance(value, list) else value


class Calendar(Frozen):
    """When the institution works, for durations in working days and working hours (W entries)."""

    weekdays: Annotated[
        tuple[Weekday, ...], BeforeValidator(_listed), AfterValidator(_distinct), Field(min_length=1)
    ] = WEEKDAYS[:5]
    """The days of the week that are worked; Monday to Friday where left out."""
    hours: Annotated[
        tuple[Annotated[str, AfterValidator(_hours)], ...],
        BeforeValidator(_listed),
        AfterValidator(_in_turn),
    ] = ()
    """The hours worked on each of them, in order, such as 09:00-12:30 and 13:00-17:00; none are counted where
    left out."""
    zone: Zone | None = None
    """The time zone (IANA name) of its days and hours; the clock of the record layer where left out."""
    holidays: Annotated[
        PublicHolidays | tuple[Annotated[date, AfterValidator(_within_years)], ...],
        BeforeValidator(_holidays, json_schema_input_type=PublicHolidays | list[date]),
    ] = ()
    """Days that are not worked: those of a country, or days listed one by one, which say something of the
    years from the first of them to the last."""


class RecordLayer(Frozen):
    """Record layer D: where the event table is, what its columns mean, and what each log can show."""

    log: str | None = None
    """Path of a CSV (plain or gzipped) or Parquet file, relative to the file that names it."""
    # left out of dumps where unset, as zone is
    set_aside: Annotated[str | None, Field(exclude_if=_unset)] = None
    """Path of a Parquet file of rows that import set aside, which may be what a rule looks for; beside log."""
    prospective: bool = False
    """There is no log yet: what the channels could record is declared, and nothing can be counted."""
    columns: dict[Column, Name] = {}
    """Event-table column to column of the file; columns left out keep their own name where the file has it.
    """
    constants: dict[Column, Name] = {}
    """Event-table column to one value for every row."""
    offset: Offset | None = None
    """How far local time is ahead of UTC, for times in the log that carry no offset and for days named here;
    a zone with summer time goes under zone instead."""
    # left out of dumps where unset, so that the records of rules drafted before there were zones are written
    # as before
    zone: Annotated[Zone | None, Field(exclude_if=_unset)] = None
    """The time zone (IANA name, such as Europe/Amsterdam) in place of a fixed offset, with its summer time.
    """
    channels: Channels = ()
    """The logs; those seen in the log's channel column where left out, or one for all rows where it has no
    such column."""
    observables: Terms = ()
    """What people see and nothing keeps."""
    case_start: Names = ()
    """Activities that open a case (lines 9 and 16)."""
    case_end: Names = ()
    """Activities that close a case (lines 9 and 16)."""
    quiet_after: ClockDuration | None = None
    """A case without a closing row is closed when nothing happened for that long (line 9)."""
    match_within: ClockDuration | None = None
    """How far apart rows of different channels may be and still be one act; the coarsest grain where left
    out (line 5)."""
    end_of_observation: Moment | None = None
    """When the log was extracted; the last instant of any channel where left out (line 4)."""
    support: Annotated[tuple[DeclaredSupport, ...], BeforeValidator(_listed)] = ()
    """What the log backs though no row names it."""
    # left out of dumps where unset, as zone is
    attributes: Annotated[Attributes, Field(exclude_if=_unset)] = ()
    """What else the log records, for conditions on data (D entries)."""
    calendar: Annotated[Calendar | None, Field(exclude_if=_unset)] = None
    """When the institution works, for durations in working days and hours."""
    automatic: Annotated[Names, Field(exclude_if=_unset)] = ()
    """Resources that are programs and no persons: to a rule about persons they are nobody (D7)."""

    @model_validator(mode="after")
    def _one_clock(self) -> RecordLayer:
        if self.offset is not None and self.zone is not None:
            raise ValueError("offset and zone contradict one another; keep one of the two")
        return self

    @model_validator(mode="after")
    def _set_aside_from_a_log(self) -> RecordLayer:
        if self.set_aside is not None and self.log is None:
            raise ValueError("set_aside names rows of a log, and no log is named")
        return self

    @model_validator(mode="after")
    def _declared_where_there_is_no_log(self) -> RecordLayer:
        if self.prospective and (
            self.log is not None or not self.channels or any(c.activities is None for c in self.channels)
        ):
            raise ValueError(
                "a prospective record layer names no log, and says of every channel which activities it "
                "records"
            )
        return self

    @model_validator(mode="after")
    def _coverage_runs_forward(self) -> RecordLayer:
        for channel in self.channels:
            for interval in channel.coverage or ():
                if span(interval.end, self.clock)[1] < span(interval.start, self.clock)[0]:
                    raise ValueError(
                        f"channel {channel.name!r}: coverage ends, {interval.end}, before it starts, "
                        f"{interval.start}"
                    )
        return self

    @property
    def clock(self) -> tzinfo:
        """The clock of times and days that carry no offset: the zone, else the offset, else UTC."""
        return clock_of(self.offset, self.zone)

    @property
    def dates_only(self) -> bool:
        """Whether every durable channel whose clock is known shows dates without times of day."""
        return {c.grain for c in self.channels if c.durable and c.grain} == {"day"}

    def channel(self, name: str) -> Channel | None:
        """The channel of that name, or None."""
        return next((c for c in self.channels if c.name == name), None)
