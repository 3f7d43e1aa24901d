"""What comes in: goal, schema, record layer and context, as frozen validated types (paper, Preliminaries)."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from gnrs_ppl.context.time import Duration, Grain

Kind = Literal["role", "location", "object", "action", "observable", "channel", "step"]
"""Kinds of payload (DESIGN §2)."""

Support = Literal["direct", "inferred", "derivable", "missing"]
"""How the record layer backs a payload; weights 1.00, 0.65, 0.45 and 0 (paper, Hard-OK audit)."""

Column = Literal[
    "event_id", "case_id", "activity", "timestamp", "offset", "grain",
    "resource", "role", "object", "location", "channel", "value",
]  # fmt: skip
"""Columns of the event table, XES terms (SEMANTICS, Table)."""

COLUMNS: tuple[Column, ...] = get_args(Column)

Stage = Literal["review", "decision", "remedy", "appeal"]
"""Stages of a procedure."""

ValueTag = Literal["accountability", "fairness", "leniency", "privacy", "safety", "timeliness", "transparency"]
"""Values a goal may ask for; each has a stated structural meaning in the value-consistency feature."""


class Frozen(BaseModel):
    """Immutable, hashable, closed to unknown fields and to silent type coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


def _name(text: str) -> str:
    if not text.strip() or text != text.strip() or len(text) > 200 or not text.isprintable():
        raise ValueError("a name is 1 to 200 printable characters without spaces around it")
    return text


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _distinct(value: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [getattr(v, "name", v) for v in value]
    doubled = next((n for i, n in enumerate(names) if n in names[:i]), None)
    if doubled is not None:
        raise ValueError(f"{doubled!r} stands there twice")
    return value


Name = Annotated[str, AfterValidator(_name)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_listed), AfterValidator(_distinct)]


def _instant(value: Any) -> Any:
    if isinstance(value, datetime | date) or not isinstance(value, str):
        return value
    return date.fromisoformat(value) if re.fullmatch(r"\d{4}-\d\d-\d\d", value) else datetime.fromisoformat(value)


def _unset(value: Any) -> bool:
    return not value


Moment = Annotated[datetime | date, BeforeValidator(_instant)]
"""An instant (with offset, or local at the log's declared offset) or a whole local day."""


def _offset_minutes(value: Any) -> Any:
    if isinstance(value, str):
        match = re.fullmatch(r"([+-])(\d\d):(\d\d)", value)
        if value == "Z":
            return 0
        if not match or int(match[2]) > 14 or int(match[3]) > 59:
            raise ValueError(f"{value!r} is not an offset such as +01:00 or Z")
        return (1 if match[1] == "+" else -1) * (60 * int(match[2]) + int(match[3]))
    return value


Offset = Annotated[int, BeforeValidator(_offset_minutes), Field(ge=-14 * 60, le=14 * 60)]
"""Minutes east of UTC; written ``+01:00``."""


class Goal(Frozen):
    """Normative goal g: what the rule is for, and the conduct it requires or forbids.

    Attributes
    ----------
    within : Duration or None
        The time the goal itself asks for, where it names one.
    force : "must", "should", "may" or None
        How strongly the rule may speak; None leaves that to the search. A goal of force ``may`` only permits.
    permitted : names
        Actions the goal leaves free: no rule for it may demand them.
    triggers : names
        Actions that set the rule to work, where the goal names them.
    timed : names
        The required actions that ``within`` is for; it is for all of them where none is named.
    """

    id: Name
    intent: Annotated[str, Field(min_length=1, max_length=2000)]
    required: Names = ()
    forbidden: Names = ()
    roles: Names = ()
    locations: Names = ()
    objects: Names = ()
    values: Annotated[tuple[ValueTag, ...], BeforeValidator(_listed), AfterValidator(_distinct)] = ()
    within: Duration | None = None
    # left out of dumps where unset, so that the record of what weights were fitted on holds for goals that have none of them
    force: Annotated[Literal["must", "should", "may"] | None, Field(exclude_if=_unset)] = None
    permitted: Annotated[Names, Field(exclude_if=_unset)] = ()
    triggers: Annotated[Names, Field(exclude_if=_unset)] = ()
    timed: Annotated[Names, Field(exclude_if=_unset)] = ()

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
    """A name of the schema with the words people use for it.

    ``phrase`` is a singular noun phrase without article ("duty manager", "returns desk"); ``plural`` only
    where adding s is wrong; ``aliases`` are further words people use. A plain string in a file is a term without a phrase of its own.
    """

    name: Name
    phrase: Name | None = None
    plural: Name | None = None
    aliases: Annotated[Names, Field(exclude_if=_unset)] = ()


class Action(Frozen):
    """An activity of the institution.

    ``phrase`` is a bare infinitive ("check in", "pay the fine"); ``noun`` names one occurrence without
    article ("check-in", "payment of the fine"); ``aliases`` are further words for it, verbs or nouns. ``roles``, ``locations``
    and ``objects`` say who may perform it, where and on what; empty means anyone, anywhere, anything.
    """

    name: Name
    phrase: Name | None = None
    noun: Name | None = None
    aliases: Annotated[Names, Field(exclude_if=_unset)] = ()
    roles: Names = ()
    locations: Names = ()
    objects: Names = ()


def _terms(value: Any) -> Any:
    return tuple({"name": v} if isinstance(v, str) else v for v in value) if isinstance(value, list) else value


Terms = Annotated[tuple[Term, ...], BeforeValidator(_terms), AfterValidator(_distinct)]
Actions = Annotated[tuple[Action, ...], BeforeValidator(_terms), AfterValidator(_distinct)]


class PrescribedStep(Frozen):
    """One step of a procedure the institution prescribes; ``inspects`` is the channel looked into."""

    stage: Stage
    name: Name
    role: Name
    inspects: Name | None = None


class Schema(Frozen):
    """Institutional schema C: roles, locations, objects, actions, and the steps a procedure may name.

    ``procedure`` holds the steps in order where the institution prescribes one.
    """

    roles: Terms = ()
    locations: Terms = ()
    objects: Terms = ()
    actions: Actions = ()
    steps: Terms = ()
    procedure: Annotated[tuple[PrescribedStep, ...], BeforeValidator(_listed)] = ()

    @model_validator(mode="after")
    def _known_names(self) -> Schema:
        for step in self.procedure:
            for field, name in (("roles", step.role), ("steps", step.name)):
                if name not in {term.name for term in getattr(self, field)}:
                    raise ValueError(f"procedure step {step.name!r}: {name!r} is not in the schema's {field}")
        for action in self.actions:
            for field, terms in (("roles", self.roles), ("locations", self.locations), ("objects", self.objects)):
                known = {t.name for t in terms}
                for name in getattr(action, field):
                    if name not in known:
                        raise ValueError(f"action {action.name!r}: {field}: {name!r} is not in the schema's {field}")
        return self


class Interval(Frozen):
    """Closed interval in which a channel is complete; a date means the whole local day (SEMANTICS line 4)."""

    start: Moment
    end: Moment


class Channel(Frozen):
    """A log of the institution.

    Attributes
    ----------
    durable : bool
        False for an observable that nothing keeps: its rows are not evidence.
    activities : names or None
        What it can record; None means the pairs seen in the grounding log (line 2).
    coverage : intervals or None
        When it is complete; None means first to last event, printed as an assumption (line 4).
    closed_world : bool
        Whether its silence means absence (line 4).
    grain : Grain or None
        Resolution of its clock; None means as read from the rows.
    """

    name: Name
    phrase: Name | None = None
    durable: bool = True
    activities: Names | None = None
    coverage: Annotated[tuple[Interval, ...], BeforeValidator(_listed)] | None = None
    closed_world: bool = False
    grain: Grain | None = None


Channels = Annotated[tuple[Channel, ...], BeforeValidator(_terms), AfterValidator(_distinct)]


class DeclaredSupport(Frozen):
    """Support the institution declares for a payload the log does not show by itself, with the reason."""

    kind: Kind
    name: Name
    support: Literal["inferred", "derivable"]
    because: Annotated[str, Field(min_length=1, max_length=400)]


class RecordLayer(Frozen):
    """Record layer D: where the event table is, what its columns mean, and what each log can show.

    Attributes
    ----------
    log : str or None
        Path of a CSV (plain or gzipped) or Parquet file, relative to the file that names it.
    prospective : bool
        There is no log yet: what the channels could record is declared, and nothing can be counted.
    columns : mapping
        Event-table column -> column of the file; columns left out keep their own name where the file has it.
    constants : mapping
        Event-table column -> one value for every row.
    offset : int or None
        Minutes east of UTC for timestamps that carry none.
    case_start, case_end : names
        Activities that open and close a case (lines 9 and 16).
    quiet_after : Duration or None
        A case without a closing row is closed when nothing happened for that long (line 9).
    match_within : Duration or None
        How far apart rows of different channels may be and still be one act; None: the coarsest grain (line 5).
    end_of_observation : instant or None
        When the log was extracted; None: the last instant of any channel (line 4).
    """

    log: str | None = None
    prospective: bool = False
    columns: dict[Column, Name] = {}
    constants: dict[Column, Name] = {}
    offset: Offset | None = None
    channels: Channels = ()
    observables: Terms = ()
    case_start: Names = ()
    case_end: Names = ()
    quiet_after: Duration | None = None
    match_within: Duration | None = None
    end_of_observation: Moment | None = None
    support: Annotated[tuple[DeclaredSupport, ...], BeforeValidator(_listed)] = ()

    @model_validator(mode="after")
    def _declared_where_there_is_no_log(self) -> RecordLayer:
        if self.prospective and (self.log is not None or not self.channels or any(c.activities is None for c in self.channels)):
            raise ValueError("a prospective record layer names no log, and says of every channel which activities it records")
        return self

    @property
    def dates_only(self) -> bool:
        """Whether every durable channel whose clock is known shows dates without times of day."""
        return {c.grain for c in self.channels if c.durable and c.grain} == {"day"}

    def channel(self, name: str) -> Channel | None:
        """The channel of that name, or None."""
        return next((c for c in self.channels if c.name == name), None)
