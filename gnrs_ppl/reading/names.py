"""Names of roles, objects and places in other words than their own: turned round (the manager on duty, members of the
patrol), and a member of a group by another word for one (patrol people, those on the patrol, a patroller).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from gnrs_ppl.reading.words import DERIVED, is_verb, similarity, word

TURNED = 0.9
"""How well a name that is turned round, or another word for a member of its group, says it."""
_LINKS = frozenset({"of", "on", "for", "at", "by", "in", "from", "to", "with"})
_ARTICLES = frozenset({"the", "a", "an", "our", "your", "their", "its", "this", "that"})
_PEOPLE = frozenset(
    {"member", "worker", "person", "people", "folk", "hand", "staff", "crew", "team", "squad", "labourer"}
    | {"laborer", "man", "woman", "guy", "lad", "personnel", "employee", "operative", "officer", "colleague"}
)
"""Words for anyone of a group: a patrol member, patrol people."""
_THOSE = frozenset(
    {"you", "those", "anyone", "anybody", "everyone", "everybody", "someone", "somebody", "whoever"}
)
_BEING = frozenset({"who", "are", "is"})
_GREETINGS = frozenset({"hi", "hello", "hey", "dear"})
_NO_AGENT = frozenset({"worker", "labourer", "laborer", "hand", "employee"})
"""A farm worker is no farmer."""
_AGENT = ("ers", "er", "ors", "or")


def other_words(
    words: Sequence[str], tokens: Sequence[str], at: Sequence[int], of_people: bool
) -> Iterator[tuple[int, int]]:
    """Places, first and last, at which a name of two words or more stands in other words.

    Parameters
    ----------
    words : sequence of str
        The name's own words, the head last.
    tokens : sequence of str
        The text in lower case.
    at : sequence of int
        Where to look.
    of_people : bool
        Whether it names people, of whom any word for a member of a group may stand for another.
    """
    *described, head = words
    if not described or not all(w.isalpha() for w in words):
        return
    here, group = frozenset(at), of_people and _is_member(head)
    for i in at:
        said = tokens[i]
        if said == "person" and tokens[i - 1 : i] == ["in"]:
            continue
        if similarity(head, said) == 1.0 or (group and (said in _THOSE or _is_member(said))):
            last = _behind(described, tokens, i, here)
            if last is not None:
                yield i, last
        first = i - len(described)
        if group and first >= 0 and _is_member(said) and tuple(tokens[first:i]) == tuple(described):
            yield first, i
        if group and tuple(described) == (said,) and _are_called(tokens, i):
            yield i, i
        if group and head not in _NO_AGENT and len(described) == 1 and _does(said, described[0]):
            yield i, i


@lru_cache(maxsize=4096)
def _is_member(form: str) -> bool:
    return bool({form, *word(form).nouns} & _PEOPLE)


def _behind(described: Sequence[str], tokens: Sequence[str], i: int, here: frozenset[int]) -> int | None:
    """The last place of what describes a head, linked behind it; none where something else stands there."""
    k = i + 1
    while k in here and tokens[i] in _THOSE and tokens[k] in _BEING:
        k += 1
    if k not in here or tokens[k] not in _LINKS:
        return None
    k += 1
    if k in here and tokens[k] in _ARTICLES:
        k += 1
    last = k + len(described) - 1
    told = all(
        j in here and similarity(w, tokens[j]) >= DERIVED
        for j, w in zip(range(k, last + 1), described, strict=True)
    )
    return last if told else None


def _are_called(tokens: Sequence[str], i: int) -> bool:
    """Whether a group stands for its members: "Hi patrol, …", "I belong to the patrol"."""
    before = list(tokens[max(0, i - 3) : i])
    greeted = before[-1:] and before[-1] in _GREETINGS and tokens[i + 1 : i + 2] in ([","], ["!"], [":"])
    belongs = before[-1:] and before[-1] in _ARTICLES and before[:-1] in (["belong", "to"], ["belongs", "to"])
    return bool(greeted or belongs)


def _does(form: str, act: str) -> bool:
    """Whether a word names who does an act: patroller, of patrol."""
    stems = {form.removesuffix(e) for e in _AGENT if form.endswith(e)}
    doubled = act + act[-1]
    return is_verb(act) and bool(stems & {act, doubled, act.removesuffix("e")})
