"""Shapes of the answers models are asked for, and the way from an answer to the typed slots.

A shape only says what a server can enforce as a JSON schema: fields, kinds and closed lists of words.
Everything else (names, durations, what goes with what) is checked where a part is read into its slot, so that
one bad part costs that part and not the answer. What a shape leaves out when nothing is stated is null.
Docstrings here travel with the schema to the server.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import AfterValidator, Field

from gnrs_ppl.context.files import validated
from gnrs_ppl.context.types import Frozen
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.canonical import SlotContent
from gnrs_ppl.rule.types import (
    Drafted,
    DraftedCorrelation,
    EvidencePolicy,
    Force,
    Norm,
    Operator,
    Procedure,
    Scope,
    Stage,
    Structure,
    Template,
    Trigger,
)

LONGEST = 6000
"""Most characters of a text in an answer."""
SOURCE = "the model's answer"


def _said(text: str) -> str:
    clean = "".join(c if c.isprintable() or c == "\n" else " " for c in text).strip()
    if not clean:
        raise ValueError("is blank")
    if len(clean) > LONGEST:
        raise ValueError(f"is longer than {LONGEST:,} characters")
    return clean


Text = Annotated[str, AfterValidator(_said)]
"""Words for people: not blank; what cannot be printed becomes a blank."""
Points = Annotated[int, Field(ge=1, le=5)]
"""1 (worst) to 5 (best)."""


class ActAnswer(Frozen):
    """An act; location, object and role narrow it down."""

    activity: str
    location: str | None = None
    object: str | None = None
    role: str | None = None


class AfterAnswer(Frozen):
    """A second act that starts a constraint, and the log it is read from."""

    act: ActAnswer
    channel: str | None = None


class ConstraintAnswer(Frozen):
    """One constraint of a norm."""

    template: Drafted
    target: ActAnswer
    after: AfterAnswer | None = None
    correlate: DraftedCorrelation | None = None
    deadline: str | None = None
    count: int
    unless: ActAnswer | None = None


class OfficeAnswer(Frozen):
    """The office whose duty it is."""

    role: str


class StepAnswer(Frozen):
    """One step of a procedure."""

    stage: Stage
    name: str
    role: str | None = None
    inspects: str | None = None
    activity: str | None = None


class SlotAnswer(Frozen):
    """Fields of one slot, named as in :mod:`gnrs_ppl.rule.types`."""

    slot: ClassVar[str]
    kind: ClassVar[type[Any]]

    def content(self) -> SlotContent:
        """The slot's typed content.

        Raises
        ------
        InputError
            A name, duration or number that no rule can hold, or fields that do not go together; the line
            names slot and field.
        """
        content: SlotContent = validated(self.kind, self.model_dump(), source=SOURCE, field=self.slot)
        return content


class ScopeAnswer(SlotAnswer):
    """Who, where and what is covered."""

    slot, kind = "scope", Scope
    roles: tuple[str, ...]
    locations: tuple[str, ...]
    objects: tuple[str, ...]
    concerns: tuple[str, ...]


class TriggerAnswer(SlotAnswer):
    """The one act that opens an instance, and the log it is read from; neither where the start of a case
    opens it.
    """

    slot, kind = "trigger", Trigger
    act: ActAnswer | None = None
    channel: str | None = None
    once: Literal["first", "each"]
    window: str | None = None


class NormAnswer(SlotAnswer):
    """What has to happen or must not."""

    slot, kind = "norm", Norm
    force: Force
    bearer: Literal["trigger"] | OfficeAnswer
    constraints: tuple[ConstraintAnswer, ...]


class EvidenceAnswer(SlotAnswer):
    """Logs that count as evidence, and how many of them must agree."""

    slot, kind = "evidence", EvidencePolicy
    channels: tuple[str, ...]
    operator: Operator
    k: int | None = None


class ProcedureAnswer(SlotAnswer):
    """What follows when the records show otherwise."""

    slot, kind = "procedure", Procedure
    steps: tuple[StepAnswer, ...]
    response_time: str | None = None

    def content(self) -> SlotContent:
        """As of any slot; a draft says what follows a breach, so at least one step is needed."""
        if not self.steps:
            raise InputError("has no steps", "name one", source=SOURCE, field="procedure.steps")
        return super().content()


S = TypeVar("S", bound=SlotAnswer)


class Fragment(Frozen, Generic[S]):
    """One proposal for a slot, and why."""

    because: Text
    content: S


class ProposedFragments(Frozen):
    """Proposals for each slot."""

    scope: tuple[Fragment[ScopeAnswer], ...]
    trigger: tuple[Fragment[TriggerAnswer], ...]
    norm: tuple[Fragment[NormAnswer], ...]
    evidence: tuple[Fragment[EvidenceAnswer], ...]
    procedure: tuple[Fragment[ProcedureAnswer], ...]


class Quoted(Frozen):
    """Exact words of the sentence."""

    words: str


class ForceRead(Quoted):
    """How strongly it binds, and the words that say so."""

    force: Force


class TemplateRead(Quoted):
    """The kind of constraint, and the words that say so."""

    template: Template


class NameRead(Quoted):
    """A name of the institution, and the words it was read from."""

    name: str


class ActionRead(Quoted):
    """An action, and the words that say it; with what they say of who does it, to what and where."""

    activity: str
    role: NameRead | None = None
    object: NameRead | None = None
    location: NameRead | None = None


class TimeRead(Quoted):
    """A time limit, and the words that state it."""

    duration: str


class CountRead(Quoted):
    """How often, and the words that say so."""

    times: int


class PersonRead(Quoted):
    """Whether the same person acts or must not, and the words that say so."""

    who: Literal["same_person", "another_person"]


class StatementRead(Quoted):
    """One duty, ban or permission; its words are those of the whole clause."""

    force: ForceRead
    template: TemplateRead
    activation: ActionRead | None = None
    targets: tuple[ActionRead, ...]
    joint: Literal["all", "any"]
    after: ActionRead | None = None
    exception: ActionRead | None = None
    time: TimeRead | None = None
    count: CountRead | None = None
    who: PersonRead | None = None
    bearers: tuple[NameRead, ...]
    condition: Quoted | None = None


class SentenceReading(Frozen):
    """What a sentence asks for."""

    statements: tuple[StatementRead, ...]


class StructureAnswer(Frozen):
    """A rule as data: all five slots."""

    scope: ScopeAnswer
    trigger: TriggerAnswer
    norm: NormAnswer
    evidence: EvidenceAnswer
    procedure: ProcedureAnswer

    def structure(self) -> Structure:
        """The typed structure.

        Raises
        ------
        InputError
            The first slot that cannot be read.
        """
        return Structure.model_validate(
            {slot: getattr(self, slot).content() for slot in type(self).model_fields}
        )


class ParsedStructure(Frozen):
    """A rule read back from its text: the slots it fills, and what it says that no slot can hold."""

    scope: ScopeAnswer | None = None
    trigger: TriggerAnswer | None = None
    norm: NormAnswer | None = None
    evidence: EvidenceAnswer | None = None
    procedure: ProcedureAnswer | None = None
    left_over: tuple[Text, ...]


class StructuredRule(Frozen):
    """A rule as data and as text."""

    structure: StructureAnswer
    clause: Text


class Objection(Frozen):
    """What is wrong with a rule, and in which slot."""

    slot: Literal["scope", "trigger", "norm", "evidence", "procedure", "wording"]
    problem: Text


class RefinedRule(Frozen):
    """Objections to a draft, then the rule that meets them."""

    critique: tuple[Objection, ...]
    structure: StructureAnswer
    clause: Text


class CreatedNorm(Frozen):
    """A norm on its way to a rule."""

    content: Text
    kind: Literal["injunctive", "descriptive"]
    subject: str
    importance: Points


class NormSynthesis(Frozen):
    """Norms made for a goal, and the rule they come to."""

    norms: tuple[CreatedNorm, ...]
    clause: Text


class CharterDraft(Frozen):
    """A clause, and the names of the card it rests on."""

    clause: Text
    rests_on: tuple[str, ...]


class CharterRevision(Frozen):
    """Objections to a clause, then the clause that meets them."""

    critique: tuple[Objection, ...]
    clause: Text
    rests_on: tuple[str, ...]


class PolishedClause(Frozen):
    """The clause in better words."""

    clause: Text


class DevelopmentJudgement(Frozen):
    """Objections to a rule, then one overall mark."""

    objections: tuple[Objection, ...]
    overall: Points


class RubricScores(Frozen):
    """Why, then five marks from 1 (worst) to 5 (best)."""

    reason: Text
    specificity: Points
    executability: Points
    fluency: Points
    readability: Points
    faithfulness: Points


class StrictRubricScores(Frozen):
    """Generic references to evidence, why, then five marks from 1 (worst) to 5 (best)."""

    generic_evidence: tuple[Text, ...]
    reason: Text
    specificity: Points
    executability: Points
    fluency: Points
    readability: Points
    faithfulness: Points


RESPONSES: dict[str, type[Frozen]] = {
    model.__name__: model
    for model in (
        SentenceReading,
        ProposedFragments,
        ParsedStructure,
        StructuredRule,
        RefinedRule,
        NormSynthesis,
        CharterDraft,
        CharterRevision,
        PolishedClause,
        DevelopmentJudgement,
        RubricScores,
        StrictRubricScores,
    )
}
"""What a prompt may ask for, by the name its header gives."""
