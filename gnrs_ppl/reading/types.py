"""What a sentence was read as: typed parts, each with the span of the sentence it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from gnrs_ppl.context.time import Duration
from gnrs_ppl.rule.types import LOOK_BACK, Condition, Force, Operator, Stage, Template


class Span(NamedTuple):
    """Characters ``start`` to ``end`` (exclusive) of the sentence."""

    start: int
    end: int


class Named(NamedTuple):
    """A name of the schema and the words it was read from; ``score`` in (0, 1], 1 where the words are the
    name's own.
    """

    name: str
    span: Span
    score: float = 1.0


@dataclass(frozen=True)
class ActRead:
    """An act some words were read as.

    Attributes
    ----------
    activity : str
        Name of the schema's action.
    span : Span
        From the first to the last word that told it.
    score : float
        How well the words fit the action's own, in (0, 1].
    role : Named or None
        Who acts.
    object, location : Named or None
        On what and where, where the sentence says.
    alternatives : tuple of ActRead
        Further acts any of which opens likewise ("once it was granted or refused").
    """

    activity: str
    span: Span
    score: float
    role: Named | None = None
    object: Named | None = None
    location: Named | None = None
    alternatives: tuple[ActRead, ...] = ()

    @property
    def each(self) -> tuple[ActRead, ...]:
        """The act and those any of which will do in its place."""
        return (self, *self.alternatives)


@dataclass(frozen=True)
class Timed:
    """A time the sentence states.

    Attributes
    ----------
    duration : Duration or None
        None where the end is an event ("before the case closes").
    earlier_counts : bool
        "at the latest": what was done before the activation counts too.
    working_days : bool
        Stated in working months or the like, which the duration does not say.
    """

    span: Span
    duration: Duration | None = None
    earlier_counts: bool = False
    working_days: bool = False


DataOf = Literal["case", "opener", "act", "exception"]
"""What a condition on data is stated of: the case, the act that opens, the act asked or banned, the act that excuses."""


@dataclass(frozen=True)
class DataRead:
    """A condition on data that the sentence states.

    Attributes
    ----------
    condition : Condition
        As the rule language has it.
    span : Span
        All words that tell it.
    attribute : Named
        The attribute and the words it was read from, with a score below 1 where it is only the one that can be
        meant.
    of : DataOf
        What it is stated of.
    """

    condition: Condition
    span: Span
    attribute: Named
    of: DataOf = "case"


class Unheld(NamedTuple):
    """Words on data that no attribute of the log can hold, and why."""

    span: Span
    why: str


Opens = Literal["act", "case_start", "case_end"]
"""What activates a statement: an act, or the start or end of the case."""
Who = Literal["same_person", "another_person"]
Joint = Literal["all", "any"]


@dataclass(frozen=True)
class Reading:
    """One way to read one statement: a DECLARE constraint with everything the sentence says of it.

    Attributes
    ----------
    probability : float
        Among the ways this statement may be read, in (0, 1].
    template : Template
        Polarity lives here, as in a rule.
    activation : ActRead or None
        The act that opens it; None where ``opens`` is no act.
    targets : tuple of ActRead
        The acts required or forbidden; ``joint`` says whether all of them or any.
    after : ActRead or None
        Second activation: the statement starts anew from this act.
    exception : ActRead or None
        The act that excuses.
    meanwhile : bool
        Whether it excuses only between the activation and the due ("unless it was paid in the meantime").
    count : int
        n of existence, exactly and absence.
    bearers : tuple of Named
        The roles that answer for the target.
    only : tuple of Named
        The roles to whom alone the act is left: the targets name every other role, whose act is banned.
    who : Who or None
        Whether the one who acts is the activation's person, or must be another.
    condition : Span or None
        Words on data or circumstances no act shows ("of more than 500 euros").
    data : tuple of DataRead
        Conditions on attributes of the log.
    one_subject : bool
        Whether the opener leaves out who acts, as it is who is bound ("within an hour of arriving, visitors
        must …").
    used : tuple of Span
        Words that some part was read from.
    why : str
        The construction that was recognised, in words.
    """

    probability: float
    force: Force
    template: Template
    targets: tuple[ActRead, ...]
    opens: Opens = "case_start"
    activation: ActRead | None = None
    joint: Joint = "all"
    after: ActRead | None = None
    exception: ActRead | None = None
    meanwhile: bool = False
    count: int = 1
    time: Timed | None = None
    bearers: tuple[Named, ...] = ()
    only: tuple[Named, ...] = ()
    who: Who | None = None
    condition: Span | None = None
    data: tuple[DataRead, ...] = ()
    one_subject: bool = False
    used: tuple[Span, ...] = ()
    why: str = ""

    @property
    def acts(self) -> tuple[ActRead, ...]:
        """Every act it names, each alternative too."""
        named = (self.activation, *self.targets, self.after, self.exception)
        return tuple(act for one in named if one is not None for act in one.each)

    @property
    def by_another(self) -> bool:
        """Whether its act is told of another person than who did the activation; "by different people" of two
        acts that exclude each other says that nobody does both.
        """
        return self.who == "another_person" and self.template != "not_coexistence"

    @property
    def activities(self) -> tuple[str, ...]:
        """Activities in DECLARE order: the earlier act first for precedences, the activation first
        otherwise.
        """
        targets = tuple(dict.fromkeys(act.activity for act in self.targets))
        if self.activation is None:
            return targets
        return (
            (*targets, self.activation.activity)
            if self.template in LOOK_BACK
            else (self.activation.activity, *targets)
        )


@dataclass(frozen=True)
class Statement:
    """One duty, ban or permission of the sentence, with the ways to read it, most probable first."""

    span: Span
    readings: tuple[Reading, ...]

    @property
    def best(self) -> Reading:
        """The most probable reading."""
        return self.readings[0]


@dataclass(frozen=True)
class EvidenceRead:
    """What a text says of the logs that show what was done.

    Attributes
    ----------
    spans : tuple of Span
        The phrases that say it.
    channels : tuple of Named
        The logs that show it; empty where it says only how many.
    operator : Operator or None
        How many of them must show it; None where it names one, or does not say.
    k : int or None
        With at_least.
    insufficient : tuple of Named
        Logs that do not do by themselves ("the ERP log alone is not enough").
    opener : Named or None
        The log that shows what opens the rule.
    unkept : tuple of Unread
        Logs that nobody keeps, with the channel that comes nearest.
    why : str
        What was recognised, in words.
    """

    spans: tuple[Span, ...]
    channels: tuple[Named, ...] = ()
    operator: Operator | None = None
    k: int | None = None
    insufficient: tuple[Named, ...] = ()
    opener: Named | None = None
    unkept: tuple[Unread, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class StepRead:
    """One step of what follows a breach.

    Attributes
    ----------
    stage : Stage
    span : Span
        The words that tell the step.
    role : Named or None
        Who takes it; an appeal, who hears it.
    independent : Span or None
        Words that ask for somebody with no part in the matter.
    nobody : Span or None
        Words for somebody who is no role of the schema.
    inspects : Named or None
        The log looked into.
    name, activity : Named or None
        A step of the schema, and an act of the log, that the words tell.
    """

    stage: Stage
    span: Span
    role: Named | None = None
    independent: Span | None = None
    nobody: Span | None = None
    inspects: Named | None = None
    name: Named | None = None
    activity: Named | None = None


@dataclass(frozen=True)
class ProcedureRead:
    """What a text says follows a breach.

    Attributes
    ----------
    spans : tuple of Span
        The passages that tell it.
    steps : tuple of StepRead
        In the order told.
    time : Timed or None
        Within which each step is due.
    without : tuple of Stage
        Stages it rules out ("there is no appeal").
    probability : float
        That the passage tells what follows a breach; where it is less than one half, the passage is read as a duty
        of every case.
    opener : Span or None
        The words for the breach.
    why : str
        What was recognised, in words.
    """

    spans: tuple[Span, ...]
    steps: tuple[StepRead, ...]
    time: Timed | None = None
    without: tuple[Stage, ...] = ()
    probability: float = 1.0
    opener: Span | None = None
    why: str = ""

    @property
    def used(self) -> tuple[Span, ...]:
        """Words that some part was read from."""
        named = [n.span for s in self.steps for n in (s.role, s.inspects, s.name, s.activity) if n]
        others = [x for s in self.steps for x in (s.span, s.independent, s.nobody) if x]
        return (
            *named,
            *others,
            *([self.time.span] if self.time else ()),
            *([self.opener] if self.opener else ()),
        )

    @property
    def follows_breach(self) -> bool:
        """Whether it is read so, and not as a duty of every case."""
        return self.probability >= LIKELY_BREACH


class Unread(NamedTuple):
    """Words with content that no part used, or an act that no record holds, with what comes nearest and how near."""

    span: Span
    nearest: str = ""
    score: float = 0.0


LIKELY_BREACH = 0.5
"""A passage that more probably follows a breach than not is no duty."""
Nothing = Literal["", "no_duty", "no_such_act", "no_such_field", "no_such_role", "time_not_read"]
"""Why nothing was read: no duty is stated, its act is not in the schema, it depends on what no field shows, who alone
may do it is none that a rule can name, or its time is none that a rule can hold."""


@dataclass(frozen=True)
class Readings:
    """A sentence and everything that was read from it.

    Attributes
    ----------
    sentence : str
    statements : tuple of Statement
    background : tuple of Span
        Purposes, reasons and circumstances, which bind nobody.
    unread : tuple of Unread
        Words with content that no statement used.
    nothing : Nothing
        Why there is no statement, else empty.
    otherwise : tuple of Statement
        What the constructions say of the whole, where that differs from the statements.
    evidence : EvidenceRead or None
        Which logs show it, where the sentence says so.
    procedure : ProcedureRead or None
        What follows a breach, where the sentence says so.
    unheld : tuple of Unheld
        Words on data that no attribute can hold.
    unread_condition : bool
        Whether a duty depends on data or a circumstance that was not read.
    probability : float
        That the sentence means just this.
    unsure : bool
        Whether a person has to say that this is meant.
    others : tuple of Readings
        What else the sentence may mean.
    """

    sentence: str
    statements: tuple[Statement, ...]
    background: tuple[Span, ...] = ()
    unread: tuple[Unread, ...] = ()
    nothing: Nothing = ""
    otherwise: tuple[Statement, ...] = ()
    evidence: EvidenceRead | None = None
    procedure: ProcedureRead | None = None
    unheld: tuple[Unheld, ...] = ()
    unread_condition: bool = False
    probability: float = 1.0
    unsure: bool = False
    others: tuple[Readings, ...] = ()

    @property
    def ways(self) -> tuple[Readings, ...]:
        """All that it may mean, the most probable first."""
        return (self, *self.others)

    def words(self, span: Span) -> str:
        """The words of a span."""
        return self.sentence[span.start : span.end]
