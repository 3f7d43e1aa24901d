"""Fixed phrases that the writer of rule texts and their reader agree on, and the words no name may use."""

from __future__ import annotations

import re
from typing import Literal

from gnrs_ppl.context.types import Kind
from gnrs_ppl.realize.english import SMALL_NUMBERS, UNITS, takes_object
from gnrs_ppl.rule.types import Correlation, Force, Stage, Template

Form = Literal["one", "many", "noun"]
"""Forms of a name: ``one`` (singular; of an action the bare infinitive), ``many`` (plural), ``noun`` (one occurrence of an action)."""

Relation = Literal["after", "from", "before", "around"]
"""Where a constraint looks, seen from its activation."""

RELATIONS: dict[Template, Relation] = {
    "response": "after",
    "not_response": "after",
    "existence": "from",
    "exactly": "from",
    "absence": "from",
    "precedence": "before",
    "not_precedence": "before",
    "responded_existence": "around",
    "not_coexistence": "around",
}

MODALS: dict[tuple[Force, bool], str] = {
    ("must", True): "must",
    ("must", False): "must not",
    ("should", True): "should",
    ("should", False): "should not",
    ("may", True): "may",
    ("may", False): "need not",
}
"""Force and polarity (True where the act is asked for) in words: six different ones."""

SAME: dict[Correlation, str] = {
    "same_resource": "for the same person and case",
    "same_object": "for the same object and case",
    "same_case": "for the same case",
}

STAGE_VERBS: dict[Stage, tuple[str, str]] = {
    "review": ("reviews", "carries out"),
    "decision": ("decides the matter", "takes"),
    "remedy": ("puts the matter right", "provides"),
    "appeal": ("may appeal to", "may make"),
}
"""What is done at a stage; the second verb goes with a step whose words end in the stage's own (a manager review)."""

QUOTED: dict[tuple[Kind, Form], tuple[str, str]] = {
    ("action", "one"): ("carry out ", ""),
    ("action", "noun"): ("", " entry"),
    ("channel", "one"): ("", " log"),
    ("step", "one"): ("", " step"),
}
"""What stands around a quoted name so that the sentence stays one."""

FOLLOWING_WORDS = (
    "within", "before", "after", "afterwards", "until", "and", "or", "recorded", "is", "concerned", "must", "should", "may", "need",
    "exactly", "both", "all", "show", "shows",
)  # fmt: skip
"""Single words that may stand right after a name."""

FOLLOWING_RUNS = (
    "as a", "as an", "by a", "by an", "at the", "in respect of", "at least", "even once", "for a period", "for the same",
    "for each", "from then", "from its start", "from the next", "on the last day", "on the basis of",
    "through a", "through an", "reviews the", "decides the", "puts the", "carries out", "takes a", "takes an", "provides a",
    "provides an",
)  # fmt: skip
"""Runs of words that may stand right after a name."""

RESERVED_WORDS = frozenset(FOLLOWING_WORDS) | frozenset({
    "shall", "might", "can", "cannot", "not", "no", "never", "none", "neither", "nor", "unless", "except", "if", "when", "then",
    "every", "each", "any", "either", "once", "twice", "times", "matter",
})  # fmt: skip
"""Words no phrase may use: they carry force, polarity, time or the joints of a sentence."""

FORBIDDEN_STARTS = frozenset({"a", "an", "the", "this", "those", "for", "from", "at", "in", "as"})
"""Words no phrase may begin with."""

_NUMBER = rf"(?:{'|'.join(SMALL_NUMBERS)}|\d+)"
_MEASURED = re.compile(rf"\b{_NUMBER} (?:{'|'.join(UNITS)})s?\b", re.IGNORECASE)
_PLAIN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*(?: [^\W_]+(?:['’-][^\W_]+)*)*")
FOLLOW = re.compile(
    rf"$|[,;.)]| (?:\(|(?:{'|'.join([*FOLLOWING_WORDS, *FOLLOWING_RUNS])})\b|for {_NUMBER} |(?:twice|{_NUMBER} times) or more)",
)
"""What may come right after a name; where one phrase begins another, this tells which of them was meant."""

_OBJECT = {False: re.compile(" an? "), True: re.compile(" of an? ")}
_RUNS = re.compile(rf" (?:{'|'.join(FOLLOWING_RUNS)})\b")


def misused(phrase: str) -> str | None:
    """The part of a phrase that would be read as grammar, or None where the phrase is plain words."""
    if not _PLAIN.fullmatch(phrase):
        return next((c for c in phrase if not (c.isalnum() or c in " '’-")), "spaces or punctuation at its edges")
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
    direct = any(takes_object(first, noun) and re.match("of an? " if noun else "an? ", rest) for noun in (False, True))
    return [*found, first] if direct else found


def follows(text: str, at: int, words: str, form: Form) -> bool:
    """Whether what stands at ``at`` may follow a name in these words."""
    if FOLLOW.match(text, at):
        return True
    noun = form == "noun"
    return takes_object(words, noun) and _OBJECT[noun].match(text, at) is not None


def quote(name: str) -> str:
    """A name in quotation marks, closing ones inside it doubled."""
    return f"“{name.replace('”', '””')}”"
