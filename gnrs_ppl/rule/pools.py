"""Candidate pools: per slot, alternatives and their parameter levels, flattened to options (paper, Candidate
construction).
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, product
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from gnrs_ppl.context.limits import OPTIONS, PAIRS_OF_OPTIONS
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Frozen, Name, Names, _listed
from gnrs_ppl.rule.canonical import SlotContent, canonical_slot, dumps
from gnrs_ppl.rule.types import COUNTING, SLOTS, EvidencePolicy, Norm, Procedure, Scope, Structure, Trigger

Content = TypeVar("Content", Scope, Trigger, Norm, EvidencePolicy, Procedure)

PARAMETERS: dict[str, tuple[str, ...]] = {
    "scope": (),
    "trigger": ("window",),
    "norm": ("deadline", "count"),
    "evidence": ("k",),
    "procedure": ("response_time",),
}
"""Numeric parameters of each slot (DESIGN §2)."""

FORWARD_DUTIES = ("response", "existence", "exactly", "responded_existence")
"""Templates a varied deadline is meant for where a norm holds several constraints."""

Levels = Annotated[tuple[Duration, ...], BeforeValidator(_listed), Field(min_length=1, max_length=64)]
Counts = Annotated[
    tuple[Annotated[int, Field(ge=1, le=100)], ...],
    BeforeValidator(_listed),
    Field(min_length=1, max_length=64),
]


class Levelled(Frozen):
    """Levels of a candidate's parameters; a level fills the field it names.

    ``deadline`` fills the forward duties that state none (in a norm of one constraint: that one), ``count``
    the counting constraints that state none; ``window``, ``k`` and ``response_time`` replace what the content
    says.
    """

    window: Levels | None = None
    """Windows of the trigger to try."""
    deadline: Levels | None = None
    """Deadlines to try, for forward duties that state none."""
    count: Counts | None = None
    """Counts to try, for counting constraints that state none."""
    k: Counts | None = None
    """Numbers of logs to try."""
    response_time: Levels | None = None
    """Response times to try."""


class Candidate(Frozen, Generic[Content]):
    """One alternative of an OR node: content, parameter levels, and where it comes from."""

    id: Name
    """A name for the candidate, of its own in its slot."""
    content: Content
    """The slot, as a rule writes it."""
    vary: Levelled = Levelled()
    """Levels of its parameters to try."""
    sources: Names = ("hand",)
    """Which source proposed it."""
    provenance: str = ""
    """Where it comes from, in a sentence."""

    @model_validator(mode="after")
    def _levels_belong(self) -> Candidate[Content]:
        allowed = PARAMETERS[slot_of(self.content)]
        stray = next(
            (p for p in Levelled.model_fields if getattr(self.vary, p) is not None and p not in allowed), None
        )
        if stray is not None:
            raise ValueError(f"vary.{stray} is no parameter of the {slot_of(self.content)} slot")
        for levels in self.level_tuples():
            self.at(levels)
        return self

    def level_tuples(self) -> list[dict[str, Any]]:
        """Every combination of levels, first parameter slowest; one empty combination where nothing
        varies.
        """
        named = [
            (p, getattr(self.vary, p))
            for p in PARAMETERS[slot_of(self.content)]
            if getattr(self.vary, p) is not None
        ]
        return [
            dict(zip([p for p, _ in named], values, strict=True))
            for values in product(*[levels for _, levels in named])
        ]

    def at(self, levels: dict[str, Any]) -> SlotContent:
        """The content with these levels filled in; raises ValueError where a level does not fit."""
        content: SlotContent = self.content
        if isinstance(content, Norm):
            alone = len(content.constraints) == 1
            filled = [
                _fill(c.model_dump(), levels, alone or c.template in FORWARD_DUTIES)
                for c in content.constraints
            ]
            return content.model_validate(content.model_dump() | {"constraints": filled})
        return content.model_validate(content.model_dump() | levels) if levels else content


def _fill(constraint: dict[str, Any], levels: dict[str, Any], takes_deadline: bool) -> dict[str, Any]:
    if "deadline" in levels and takes_deadline and constraint["deadline"] is None:
        constraint["deadline"] = levels["deadline"]
    if "count" in levels and constraint["template"] in COUNTING and constraint["count"] == 1:
        constraint["count"] = levels["count"]
    return constraint


def _combinations(candidate: Any) -> int:
    """How many combinations of levels a candidate has, as data or as a :class:`Candidate`."""
    vary = candidate.get("vary") if isinstance(candidate, dict) else getattr(candidate, "vary", None)
    levels = vary if isinstance(vary, dict) else dict(vary) if isinstance(vary, Levelled) else {}
    return math.prod(len(values) for values in levels.values() if isinstance(values, list | tuple))


class Pools(Frozen):
    """Candidate repositories C_k, one per slot."""

    scope: Annotated[tuple[Candidate[Scope], ...], BeforeValidator(_listed), Field(min_length=1)]
    """Candidates for the scope of the rule."""
    trigger: Annotated[tuple[Candidate[Trigger], ...], BeforeValidator(_listed), Field(min_length=1)]
    """Candidates for the trigger of the rule."""
    norm: Annotated[tuple[Candidate[Norm], ...], BeforeValidator(_listed), Field(min_length=1)]
    """Candidates for the norm of the rule."""
    evidence: Annotated[tuple[Candidate[EvidencePolicy], ...], BeforeValidator(_listed), Field(min_length=1)]
    """Candidates for the evidence of the rule."""
    procedure: Annotated[tuple[Candidate[Procedure], ...], BeforeValidator(_listed), Field(min_length=1)]
    """Candidates for the procedure of the rule."""

    @model_validator(mode="after")
    def _distinct_ids(self) -> Pools:
        for slot in SLOTS:
            name, times = Counter(candidate.id for candidate in getattr(self, slot)).most_common(1)[0]
            if times > 1:
                raise ValueError(f"{slot}: candidate id {name!r} stands there twice")
        return self

    @model_validator(mode="before")
    @classmethod
    def _few_enough(cls, data: Any) -> Any:
        """Count what is given, before any level is filled in."""
        pools = [data.get(slot) for slot in SLOTS] if isinstance(data, dict) else []
        counts = [sum(map(_combinations, pool)) if isinstance(pool, list | tuple) else 0 for pool in pools]
        most = max(counts, default=0)
        if most > OPTIONS:
            raise ValueError(
                f"{SLOTS[counts.index(most)]}: {most:,} options (candidates times levels), more than the "
                f"{OPTIONS} of a slot"
            )
        pairs = sum(left * right for left, right in combinations(counts, 2))
        if pairs > PAIRS_OF_OPTIONS:
            raise ValueError(
                f"{pairs:,} pairs of options of two slots, more than the {PAIRS_OF_OPTIONS:,} that are scored"
            )
        return data


class Option(NamedTuple):
    """One (candidate, parameter tuple) pair of a slot (DESIGN §3)."""

    candidate: str
    candidate_index: int
    levels: dict[str, Any]
    content: SlotContent
    sources: tuple[str, ...]


def slot_of(content: SlotContent) -> Literal["scope", "trigger", "norm", "evidence", "procedure"]:
    """Name of the slot a content belongs to."""
    names: dict[type, Literal["scope", "trigger", "norm", "evidence", "procedure"]] = {
        Scope: "scope",
        Trigger: "trigger",
        Norm: "norm",
        EvidencePolicy: "evidence",
        Procedure: "procedure",
    }
    return names[type(content)]


def options(candidates: tuple[Candidate[Any], ...]) -> tuple[Option, ...]:
    """Options of one slot, merged by canonical content: the first to say a thing keeps it, later ones add
    their sources.

    Candidate indices are dense over the candidates that kept at least one option.
    """
    merged: dict[str, Option] = {}
    dense: dict[str, int] = {}
    for candidate in candidates:
        for levels in candidate.level_tuples():
            content = canonical_slot(candidate.at(levels))
            key = dumps(content)
            if key in merged:
                kept = merged[key]
                merged[key] = kept._replace(sources=tuple(sorted({*kept.sources, *candidate.sources})))
            else:
                index = dense.setdefault(candidate.id, len(dense))
                merged[key] = Option(candidate.id, index, levels, content, candidate.sources)
    return tuple(merged.values())


def assemble(chosen: tuple[Option, ...]) -> Structure:
    """The structure made of one option per slot, in the order of ``SLOTS``."""
    return Structure.model_validate(
        {slot: option.content for slot, option in zip(SLOTS, chosen, strict=True)}
    )
