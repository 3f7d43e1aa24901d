"""Another person than did something else: what a rule can say of it (D7)."""

from __future__ import annotations

from typing import Any

from gnrs_ppl.reading import Reading
from gnrs_ppl.rule.types import HALVES, IMPLEMENTED, NEGATIVE, NEIGHBOURS

COMPARE_NONE = tuple(t for t in IMPLEMENTED if HALVES.get(t, (t,))[0] in NEIGHBOURS)
"""Templates that compare no persons."""


def can_compare(reading: Reading, opener: str | None) -> bool:
    """Whether a rule that this act opens can say that another person does what a reading asks or bans, where
    it says so: who opened it is whom the rule compares with.
    """
    if not reading.by_another:
        return True
    read = reading.activation.activity if reading.activation else opener
    bans_beside = reading.template in COMPARE_NONE and reading.template in NEGATIVE
    return opener is not None and read == opener and reading.after is None and not bans_beside


def by_another(constraint: dict[str, Any]) -> list[dict[str, Any]]:
    """A constraint, as a context file writes it, asked of another person than opened the rule; where its
    template compares no persons, with a ban on that person beside it.
    """
    if constraint["template"] not in COMPARE_NONE:
        return [constraint | {"correlate": "different_resource"}]
    ban = {"template": "not_coexistence", "target": constraint["target"], "correlate": "same_resource"}
    return [constraint | {"correlate": "same_case"}, ban]
