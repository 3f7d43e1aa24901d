"""Fixed phrases that the writer of rule texts and their reader agree on, and the words no name may use."""

from __future__ import annotations

import re
from typing import Literal, get_args

from gnrs_ppl.context.types import Kind
from gnrs_ppl.realize.english import UNITS, takes_object
from gnrs_ppl.rule.types import Correlation, Force, Stage, Template, Test, Ties
from gnrs_ppl.words import SMALL_NUMBERS

Form = Literal["one", "many", "noun", "doing"]
"""Forms of a name: ``one`` (singular; of an action the bare infinitive), ``many`` (plural), ``noun`` (one
occurrence of an action), ``doing`` (of an action the gerund; of a step what somebody does who takes it)."""
FORMS: tuple[Form, ...] = get_args(Form)

Worded = Literal[Kind, "attribute"]
"""What has words: the kinds of payload, and the attributes that conditions are about."""

Relation = Literal[
    "after",
    "from",
    "before",
    "around",
    "start",
    "close",
    "next",
    "previous",
    "both",
    "only after",
    "only next",
    "again",
    "anew",
    "only again",
]
"""Where a constraint looks, seen from its activation."""

RELATIONS: dict[Template, Relation] = {
    "response": "after",
    "not_response": "after",
    "existence": "from",
    "exactly": "from",
    "exclusive_choice": "from",
    "absence": "from",
    "precedence": "before",
    "not_precedence": "before",
    "responded_existence": "around",
    "not_coexistence": "around",
    "init": "start",
    "end": "close",
    "chain_response": "next",
    "chain_precedence": "previous",
    "coexistence": "both",
    "succession": "only after",
    "chain_succession": "only next",
    "not_chain_response": "next",
    "not_chain_precedence": "previous",
    "not_succession": "only after",
    "not_chain_succession": "only next",
    "alternate_response": "again",
    "alternate_precedence": "anew",
    "alternate_succession": "only again",
}

_AT_BOTH = ", checked at each of the two acts"
SUFFIXES: dict[tuple[Relation, bool], tuple[Relation, str]] = {
    ("both", True): ("around", ", with neither happening without the other"),
    ("only after", True): ("after", ", and only then"),
    ("only after", False): ("after", _AT_BOTH),
    ("only next", True): ("next", ", and only then"),
    ("only next", False): ("next", _AT_BOTH),
    ("only again", True): ("after", ", before it happens again, and only then"),
    ("again", True): ("after", ", before it happens again"),
    ("anew", True): ("before", ", anew each time"),
}
"""Which plainer relation one is told as, and what is said behind it, where the act is asked for (True) or
not."""

MODALS: dict[tuple[Force, bool], str] = {
    ("must", True): "must",
    ("must", False): "must not",
    ("should", True): "should",
    ("should", False): "should not",
    ("may", True): "may",
    ("may", False): "need not",
}
"""Force and polarity (True where the act is asked for) in words: six different ones."""

NOBODY: dict[Force, str] = {"must": "may", "should": "should", "may": "need"}
"""Force of what is asked of nobody, behind that word."""

SHARED: dict[Correlation, str] = {
    "same_resource": "by the same person",
    "different_resource": "by different people",
    "same_object": "for the same object",
}
"""What the act and the one it is measured from must have in common, where that is more than the case."""

ACTING = "acting as"
"""What leads to the role that an act itself states, behind somebody or nobody."""

FIRST_TIME = "the first time in a case that they"
"""What leads to the opening act of whoever is bound, where only their first in a case counts."""

ANY_ONE = "any one person"
"""Whose first act it is, where it is that of each person."""

IN_CASE = " in the same case"
"""What stands behind an opening act after which the act of somebody else may be asked for, once in a rule."""

WINDOW_UNUSED = "but no time above depends on that"
"""What is said of a period that no constraint uses."""

FILTERS_NOTHING = "but nothing above depends on that"
"""What is said of a scope by which nothing is filtered."""

BOTH: dict[bool, str] = {True: ", both ", False: ", if both are "}
"""What leads to it: asked for along with the act (True), or what makes the act forbidden."""

EXCUSED = {False: "beforehand", True: "in the meantime"}
"""When an exception is recorded, and whether it counts in the meantime alone."""

NOT_BOTH = ", but not both,"
"""What stands behind two acts of which one excludes the other."""

TIES: dict[Ties, str] = {
    "unknown": "if both are recorded at the same time, that leaves it open",
    "fulfil": "if both are recorded at the same time, that counts as kept",
    "violate": "if both are recorded at the same time, that counts as broken",
}
"""What an act at the same recorded time as what it is measured from counts as, where the rule declares it."""

TESTS: dict[tuple[Test, bool], str] = {
    ("equal", False): "is ",
    ("not_equal", False): "is not ",
    ("less", False): "is less than ",
    ("at_most", False): "is at most ",
    ("more", False): "is more than ",
    ("at_least", False): "is at least ",
    ("less", True): "is before ",
    ("at_most", True): "is no later than ",
    ("more", True): "is after ",
    ("at_least", True): "is no earlier than ",
}
"""What a condition asks of a value, and whether the value is a date."""

ONE_OF, BETWEEN, RECORDED = "is one of ", "is between ", "is recorded"
"""What it asks where it names several values, or none."""

OTHERS_OF: dict[Literal["row", "activation"], str] = {
    "row": "its own ",
    "activation": "the activating act's ",
}
"""Whose attribute a value is compared with."""

WHERE, IN_CASES = " (where ", "in cases where "
"""What leads to the conditions of an act, in brackets, and to those of the scope."""

EVERY = ("every one of", "that can record the act")
"""What stands before and behind several logs that must all show an act: one that cannot hold it is not
asked."""

PLACES: dict[Relation, str] = {
    "next": "in between",
    "previous": "in between",
    "only next": "in between",
    "start": "first",
    "close": "last",
}
"""Where another act would stand in the way of one that must be next, last before, first or last."""

OTHERS: dict[Correlation, str] = {
    "same_case": "acts of the case",
    "same_resource": "acts of the same person",
    "different_resource": "acts of other people",
    "same_object": "acts for the same object",
}
"""Which other acts those are, of what the logs of the evidence record."""

STAGE_VERBS: dict[Stage, tuple[str, str]] = {
    "review": ("reviews", "in"),
    "decision": ("decides the matter", "through"),
    "remedy": ("puts the matter right", "through"),
}
"""What is done at a stage, and what leads to the name of the step."""

HOLDS: dict[Stage, str] = {"review": "holds", "decision": "takes", "remedy": "provides"}
"""The verb that goes with a step whose words end in the stage's own (a management review)."""

QUOTED: dict[tuple[Worded, Form], tuple[str, str]] = {
    ("action", "one"): ("carry out ", ""),
    ("action", "doing"): ("carrying out ", ""),
    ("action", "noun"): ("", " entry"),
    ("channel", "one"): ("", " log"),
    ("step", "one"): ("", " step"),
}
"""What stands around a quoted name so that the sentence stays one."""

FOLLOWING_WORDS = (
    "within",
    "before",
    "after",
    "and",
    "or",
    "recorded",
    "is",
    "concerned",
    "must",
    "should",
    "may",
    "need",
    "exactly",
)
"""Single words that may stand right after a name."""

FOLLOWING_RUNS = (
    "as a",
    "as an",
    "as the",
    "during the",
    "during that",
    "by a",
    "by an",
    "by somebody",
    "by each",
    "by any one",
    "in the same",
    "at the",
    "at least",
    "at some point",
    "at any point",
    "that can",
    "count as",
    "in respect of",
    "in a",
    "in an",
    "more than",
    "on the last day",
    "on the basis of",
    "through a",
    "through an",
    "reviews the",
    "decides the",
    "puts the",
    "takes a",
    "takes an",
    "holds a",
    "holds an",
    "provides a",
    "provides an",
)
"""Runs of words that may stand right after a name."""

RESERVED_WORDS = frozenset(FOLLOWING_WORDS) | frozenset(
    """
    shall might can cannot not no never ever they none neither nor unless except if when whether then
    every each any either once twice times matter until afterwards both all show shows
    """.split()
)
"""Words no phrase may use: they carry force, polarity, time or the joints of a sentence."""

FORBIDDEN_STARTS = frozenset({"a", "an", "the", "this", "those", "for", "from", "at", "in", "as"})
"""Words no phrase may begin with."""

_NUMBER = rf"(?:{'|'.join(SMALL_NUMBERS)}|\d+)"
_MEASURED = re.compile(rf"\b{_NUMBER} (?:{'|'.join(UNITS)})s?\b", re.IGNORECASE)
_PLAIN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*(?: [^\W_]+(?:['’-][^\W_]+)*)*")
FOLLOW = re.compile(
    rf"$|[,;.)]| (?:\(|(?:{'|'.join([*FOLLOWING_WORDS, *FOLLOWING_RUNS])})\b)",
)
"""What may come right after a name; where one phrase begins another, this tells which of them was meant."""

_OBJECT = {"one": re.compile(" an? "), "doing": re.compile(" an? "), "noun": re.compile(" of an? ")}
_RUNS = re.compile(rf" (?:{'|'.join(FOLLOWING_RUNS)})\b")


def misused(phrase: str) -> str | None:
    """The part of a phrase that would be read as grammar, or None where the phrase is plain words."""
    if not _PLAIN.fullmatch(phrase):
        return next(
            (c for c in phrase if not (c.isalnum() or c in " '’-")), "spaces or punctuation at its edges"
        )
    words = phrase.lower().split()
    if words[0] in FORBIDDEN_STARTS:
        return f"{words[0]} … at its start"
    reserved = next((word for word in words if word in RESERVED_WORDS), None)
    measured = _MEASURED.search(phrase)
    return reserved or (measured.group() if measured else None)


def openings(phrase: str) -> list[str]:
    """What a phrase begins with before words that may also follow a name (look, in look at the records)."""
    found = [phrase[: run.start()] for run in _RUNS.finditer(phrase)]
    first, _, rest = phrase.partition(" ")
    direct = any(takes_object(first, form) and pattern.match(f" {rest}") for form, pattern in _OBJECT.items())
    head, review, _ = phrase.partition(" review of the ")
    found += [f"{head} review"] if review else []
    return [*found, first] if direct else found


def follows(text: str, at: int, words: str, form: Form) -> bool:
    """Whether what stands at ``at`` may follow a name in these words."""
    if FOLLOW.match(text, at):
        return True
    return takes_object(words, form) and _OBJECT[form].match(text, at) is not None


def quote(name: str) -> str:
    """A name in quotation marks, closing ones inside it doubled."""
    return f"“{name.replace('”', '””')}”"


PLAIN_UNIT = re.compile(r"(?!(?:and|or)\b)[^\W\d_]+")
"""A unit that needs no quotation marks."""


def unit_words(unit: str) -> str:
    """A unit behind a number: as it is where it is a word, else in quotation marks."""
    return unit if PLAIN_UNIT.fullmatch(unit) else quote(unit)
