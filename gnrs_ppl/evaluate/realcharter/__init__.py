"""What a faithful rule holds for each RealCharter card, slot by slot: evaluation data, which no search may
read.

Every name is one of the card's own vocabulary. The files hold what a checker can look for, not the card
again: which of its roles are bound, which acts decide, which records carry the proof, which steps the
procedure cannot lack, and where each number belongs.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from gnrs_ppl.benchmarks.realcharter import DOCUMENTS, ActForce, Bound, Force, Unit
from gnrs_ppl.context.files import read_data, validated
from gnrs_ppl.context.types import Frozen, Name, Names
from gnrs_ppl.errors import InputError

HERE = Path(__file__).parent

Some = Annotated[Names, Field(min_length=1)]


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class ExpectedScope(Frozen):
    """Roles the decisive duties and bans bind, and the objects they concern."""

    roles: Some
    objects: Names = ()


class ExpectedTrigger(Frozen):
    """Acts any of which may open an instance."""

    any_of: Some


class ExpectedNorm(Frozen):
    """Force of the norm, and the acts without which it is another norm, each with its force.

    An act at ``may`` is there because making it a duty would be the error to catch.
    """

    force: Force
    acts: Annotated[dict[Name, ActForce], Field(min_length=1)]


class ExpectedEvidence(Frozen):
    """Channels that carry the proof; others of the card may come along."""

    decisive: Some


class ExpectedProcedure(Frozen):
    """Steps the procedure cannot lack, in this order; others may stand between them."""

    steps: Some


class PlacedNumber(Frozen):
    """A number of the card, the slot it belongs in and the name it limits there."""

    value: int
    unit: Unit
    bound: Bound
    slot: Literal["scope", "trigger", "norm", "evidence", "procedure"]
    of: Name


class Expected(Frozen):
    """What a faithful rule for one card holds."""

    id: Name
    scope: ExpectedScope
    trigger: ExpectedTrigger
    norm: ExpectedNorm
    evidence: ExpectedEvidence
    procedure: ExpectedProcedure
    numbers: Annotated[tuple[PlacedNumber, ...], BeforeValidator(_tuple)] = ()


def expectations() -> tuple[Expected, ...]:
    """What is expected for all 53 cards, in the order of the cards."""
    return tuple(row for stem in DOCUMENTS.values() for row in _document(stem))


def expected(card_id: str) -> Expected:
    """What is expected for the card of an id.

    Raises
    ------
    InputError
        No such id; the line names the nearest.
    """
    by_id = {row.id: row for row in expectations()}
    if card_id not in by_id:
        near = get_close_matches(card_id, by_id, 1)
        raise InputError(
            "is no card",
            f"did you mean {near[0]!r}?" if near else "ids run from RC-PSF-1 to RC-GL-4",
            source=card_id,
        )
    return by_id[card_id]


@cache
def _document(stem: str) -> tuple[Expected, ...]:
    path = HERE / f"{stem}.yaml"
    return tuple(
        validated(Expected, row, source=path.name, field=row.get("id", "expected"))
        for row in read_data(path)["expected"]
    )
