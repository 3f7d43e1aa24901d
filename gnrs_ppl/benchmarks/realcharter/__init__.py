"""RealCharter-Bench: 53 policy cards from 15 public documents, in our own words (docs/realcharter-bench.md is
its data card).

Cards are YAML beside this file, one file per document; a file is read when a card of it is first asked for.
What a good rule for a card holds is kept apart, under ``gnrs_ppl/evaluate``.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from gnrs_ppl.context.files import read_data, validated
from gnrs_ppl.context.types import Frozen, Name, Names, Stage, Terms
from gnrs_ppl.errors import InputError

HERE = Path(__file__).parent

DOCUMENTS = {
    "PSF": "python_psf",
    "DJ": "django",
    "AP": "apache",
    "DR": "drupal",
    "ND": "nodejs",
    "CN": "cncf",
    "DB": "debian",
    "CC": "contributor_covenant",
    "SO": "stack_overflow",
    "WM": "wikimedia",
    "UB": "ubuntu",
    "MZ": "mozilla",
    "LF": "lf_events",
    "NF": "numfocus",
    "GL": "gitlab",
}
"""Letters in a card's id -> the file of its document."""

Family = Literal["oss_governance", "community_rules", "event_platform_safety", "public_handbook"]
FAMILIES: tuple[Family, ...] = get_args(Family)
"""Source families in the paper's order."""
Domain = Literal["software", "community", "event", "workplace"]
Basis = Literal["T", "C", "P", "K"]
"""How the clause is known: text, third-party copy, read in part, general knowledge."""
Force = Literal["must", "should", "may", "must_not"]
ActForce = Literal["must", "should", "may", "must_not", "should_not"]
Bound = Literal["at most", "at least", "more than", "exactly"]
Unit = Literal[
    "hours",
    "days",
    "working hours",
    "working days",
    "weeks",
    "months",
    "per month",
    "per quarter",
    "per year",
    "thirds",
    "percent",
    "people",
    "USD",
]

FORCES: dict[str, tuple[ActForce, ...]] = {
    "required": ("must", "should"),
    "permitted": ("may",),
    "forbidden": ("must_not", "should_not"),
}
"""Forces an act may have in each list of a card."""

_Text = Annotated[str, Field(min_length=1, max_length=800)]


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Document(Frozen):
    """The source document of a card; ``version`` is the version, date or commit that was read."""

    title: Name
    publisher: Name
    version: Name
    licence: Name
    address: Name


class TriggerAct(Frozen):
    """An act that sets the clause to work; ``phrase`` is a bare infinitive, ``role`` who does it where the
    clause says so.
    """

    name: Name
    phrase: Name
    role: Name | None = None


class Conduct(Frozen):
    """An act the clause regulates.

    ``modal`` is the source's own verb or turn behind ``force`` ("shall", "encouraged", "imperative"); None
    where it was not read.
    """

    name: Name
    phrase: Name
    role: Name | None = None
    force: ActForce
    modal: Name | None = None


class EvidenceChannel(Frozen):
    """A record that can show the conduct; ``inferred`` where the clause implies such a record but names
    none.
    """

    name: Name
    phrase: Name
    inferred: bool = False


class CardStep(Frozen):
    """One step of the procedure, in order; ``inspects`` is the channel looked into."""

    stage: Stage
    name: Name
    phrase: Name
    role: Name
    inspects: Name | None = None


class Number(Frozen):
    """A number the clause states: what it limits, on which side, and how strictly."""

    value: int
    unit: Unit
    bound: Bound
    force: Literal["must", "should"]
    limits: Name


class Card(Frozen):
    """One normative clause of a public document as typed fields, none of them in the source's wording.

    Attributes
    ----------
    verified : bool
        Whether every fact was read in a stored text of the document; otherwise no number stands on the card.
    force : Force
        Force of the decisive conduct.
    required, permitted, forbidden : tuples of Conduct
        Duties (must, should), permissions (may) and bans (must_not, should_not).
    numbers : tuple of Number, or words
        "none stated" where a verified clause has none, "not checked" where the clause is unverified.
    near_duplicate_of : names
        Cards that ask nearly the same and so are not independent of this one; stated both ways.
    """

    id: Annotated[str, Field(pattern=r"^RC-[A-Z]{2,3}-[1-9]$")]
    family: Family
    domain: Domain
    document: Document
    section: _Text
    basis: Basis
    verified: bool
    context: _Text
    roles: Annotated[Terms, Field(min_length=1)]
    triggers: Annotated[tuple[TriggerAct, ...], BeforeValidator(_tuple), Field(min_length=1)]
    summary: _Text
    force: Force
    required: Annotated[tuple[Conduct, ...], BeforeValidator(_tuple)]
    permitted: Annotated[tuple[Conduct, ...], BeforeValidator(_tuple)]
    forbidden: Annotated[tuple[Conduct, ...], BeforeValidator(_tuple)]
    channels: Annotated[tuple[EvidenceChannel, ...], BeforeValidator(_tuple), Field(min_length=1)]
    objects: Terms
    procedure: Annotated[tuple[CardStep, ...], BeforeValidator(_tuple), Field(min_length=1)]
    numbers: Annotated[tuple[Number, ...] | Literal["none stated", "not checked"], BeforeValidator(_tuple)]
    near_duplicate_of: Names = ()

    @property
    def conduct(self) -> tuple[Conduct, ...]:
        """Duties, permissions and bans, in this order."""
        return self.required + self.permitted + self.forbidden

    @property
    def stated_numbers(self) -> tuple[Number, ...]:
        """The numbers; none where the card says so in words."""
        return () if isinstance(self.numbers, str) else self.numbers

    @model_validator(mode="after")
    def _forces_fit(self) -> Card:
        for field, forces in FORCES.items():
            wrong = next((act for act in getattr(self, field) if act.force not in forces), None)
            if wrong:
                raise ValueError(f"{field} act {wrong.name!r} has force {wrong.force!r}")
        borne = {act.force for act in self.conduct}
        if self.force not in borne and not (self.force == "should" and "should_not" in borne):
            raise ValueError(f"no act of the card has its force {self.force!r}")
        return self

    @model_validator(mode="after")
    def _names_known_once(self) -> Card:
        roles, channels = {role.name for role in self.roles}, {channel.name for channel in self.channels}
        acts: tuple[TriggerAct | Conduct, ...] = (*self.triggers, *self.conduct)
        bearers = [(act.name, act.role) for act in acts] + [(step.name, step.role) for step in self.procedure]
        for name, role in bearers:
            if role is not None and role not in roles:
                raise ValueError(f"{name!r}: role {role!r} is not on the card")
        for step in self.procedure:
            if step.inspects is not None and step.inspects not in channels:
                raise ValueError(f"step {step.name!r}: channel {step.inspects!r} is not on the card")
        listed = {
            "act": [a.name for a in acts],
            "channel": [c.name for c in self.channels],
            "step": [s.name for s in self.procedure],
        }
        for kind, names in listed.items():
            doubled = next((name for name in names if names.count(name) > 1), None)
            if doubled:
                raise ValueError(f"{kind} {doubled!r} stands there twice")
        return self

    @model_validator(mode="after")
    def _only_what_was_read(self) -> Card:
        if self.verified == (self.numbers == "not checked"):
            raise ValueError("numbers are 'not checked' on an unverified card, and only there")
        if self.numbers == ():
            raise ValueError("write 'none stated' where the clause has no number")
        unread = next((act for act in self.conduct if self.verified == (act.modal is None)), None)
        if unread:
            raise ValueError(f"act {unread.name!r}: a modal is stated on verified cards, and only there")
        return self


def cards() -> tuple[Card, ...]:
    """All 53 cards, by document in the paper's order."""
    return tuple(card for stem in DOCUMENTS.values() for card in _document(stem))


def card(card_id: str) -> Card:
    """The card of an id.

    Raises
    ------
    InputError
        No such id; the line names the nearest.
    """
    letters = card_id.split("-")[1] if card_id.count("-") == 2 else ""
    for found in _document(DOCUMENTS[letters]) if letters in DOCUMENTS else ():
        if found.id == card_id:
            return found
    near = get_close_matches(card_id, [c.id for c in cards()], 1)
    raise InputError(
        "is no card",
        f"did you mean {near[0]!r}?" if near else "ids run from RC-PSF-1 to RC-GL-4",
        source=card_id,
    )


@cache
def _document(stem: str) -> tuple[Card, ...]:
    path = HERE / "cards" / f"{stem}.yaml"
    data = read_data(path)
    common = {key: data[key] for key in ("document", "family", "domain")}
    return tuple(
        validated(Card, row | common, source=path.name, field=row.get("id", "cards")) for row in data["cards"]
    )
