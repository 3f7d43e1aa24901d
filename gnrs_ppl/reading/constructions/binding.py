"""How words bind, and whom: force and polarity, the same person or another."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.disapproval import DISAPPROVES
from gnrs_ppl.reading.types import Who
from gnrs_ppl.reading.words import lemmas
from gnrs_ppl.rule.types import Force


class Bound(NamedTuple):
    """How a clause binds; ``stated`` where its words say so, not only their mood."""

    force: Force
    negative: bool
    permitted: bool
    stated: bool


@lru_cache(maxsize=1024)
def how_bound(text: str) -> Bound:
    """Force and polarity of a clause."""
    text = patterns.COULD_NOT.sub(" ", patterns.NO_LONGER.sub(" must ", text))
    if patterns.FREE.search(text):
        return Bound("may", False, True, True)
    told = patterns.NOT_NEGATIVE.sub(" ", text)
    negative = bool(patterns.NEGATIVE.search(told) or DISAPPROVES.search(told))
    permitted = bool(patterns.PERMISSION.search(text)) and not negative
    duty = bool(patterns.DUTY.search(text))
    force: Force = (
        "should"
        if patterns.SHOULD.search(text) and not patterns.HARD.search(text)
        else "may"
        if permitted and not duty and not patterns.ONLY_THEN.search(text)
        else "must"
    )
    return Bound(force, negative, permitted, duty or permitted or negative)


@lru_cache(maxsize=1024)
def who_acts(text: str) -> Who | None:
    """Whether words ask for the same person, or for another."""
    return (
        "another_person"
        if patterns.ELSE.search(text) or patterns.ANYBODY_ELSE.search(text)
        else "same_person"
        if patterns.SELF.search(text) or patterns.ONLY_BY_WHO_DID.search(text)
        else None
    )


def undergone(text: str) -> bool:
    """Whether a duty is told in the passive, which says nothing of who does it."""
    found = patterns.PASSIVE.search(text)
    if found is None:
        return False
    word, verbs = found[1].lower(), lemmas(found[1].lower(), "v")
    return word.endswith("ed") or (bool(verbs) and word not in verbs)


@lru_cache(maxsize=4096)
def functional(text: str) -> bool:
    """Whether a word only binds or orders."""
    return any(
        p.fullmatch(text)
        for p in (
            patterns.MODAL_VERB,
            patterns.NEGATIVE,
            patterns.LATER,
            patterns.EARLIER,
            patterns.DUTY,
            patterns.AT_ONCE,
        )
    )
