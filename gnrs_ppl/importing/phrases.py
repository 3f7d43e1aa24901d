"""Verb and noun phrases for an activity out of its name, with how sure they are."""

from __future__ import annotations

import re
from typing import NamedTuple

from gnrs_ppl.context.limits import LONGEST_NAME
from gnrs_ppl.reading.words import lemmas, past_forms, senses_of, word
from gnrs_ppl.realize.english import (
    _DETERMINERS,
    _EVENT_NOUNS,
    TRANSITIVE,
    event_noun,
    words_of,
)
from gnrs_ppl.realize.phrases import misused
from gnrs_ppl.words import PARTICLES, PREPOSITIONS

_CODE = re.compile(r"^(?:[A-Za-z]{1,3}[-_.]?)?\d+(?:[-_.]\d+)*[-_:.) ]+|^[A-Z]_(?=[A-Za-z])")
_JOINED = re.compile(r"\s*(?:\b(and|or)\b|[&+])\s*")
_ACT_ENDINGS = ("tion", "sion", "ment", "ance", "ence", "al", "age", "ing", "ure")
_THINGS = frozenset("order report request appeal visit call return invoice ticket fine notice permit".split())
"""Verbs that are mostly things where another word for an act follows: order confirmation."""

MEANINGS = 3
"""Senses from which a word that may be a verb or a thing is taken for the verb: place the order, but a blood
test."""


class Phrase(NamedTuple):
    """What an activity is called; empty where no plain words were found.

    ``why`` says what the guess rests on, ``confidence`` how sure that usually is, ``aliases`` what else it
    may be called.
    """

    verb: str
    noun: str
    confidence: float
    why: str
    aliases: tuple[str, ...] = ()


def phrase_of(name: str) -> Phrase:
    """Phrases for an activity's name.

    Examples
    --------
    >>> phrase_of("check ticket")[:2]
    ('check the ticket', 'check of the ticket')
    >>> phrase_of("Order Shipped").verb
    'ship the order'
    >>> phrase_of("Triage and Assessment").aliases
    ('triage', 'assessment')
    """
    words = re.sub(r"[^\w '’&+-]+", " ", words_of(_CODE.sub("", name.strip()) or name))
    said = re.sub(r"\s+", " ", words).strip(" -'’_")
    parts = [part.split() for part in _JOINED.split(said)[::2] if part.strip(" -'’_")]
    if not parts:
        return Phrase("", "", 0.0, "no words; quoted as it stands")
    shouted = {w.lower() for w in re.findall(r"[A-Z]{2,4}", name)}
    parts = [[_as_written(word_, shouted) for word_ in part] for part in parts]
    joint = "or" if "or" in _JOINED.findall(said) else "and"
    if len(parts) > 1 and all(_is_base(part[0]) for part in parts):
        found = _several(parts, joint)
    else:
        found = _read(_named_together(parts, joint))
        if len(parts) > 1 and all(len(part) == 1 for part in parts):
            found = found._replace(aliases=tuple(_read(part).noun for part in parts))  # each by itself
    found = found._replace(aliases=tuple(dict.fromkeys(found.aliases)))  # close and closed: one word
    if not (speakable(found.verb) and speakable(found.noun)):
        return Phrase("", "", 0.0, "no plain words; quoted as it stands")
    return found if len(parts) == 1 else found._replace(confidence=min(found.confidence, 0.4))


def _several(parts: list[list[str]], joint: str) -> Phrase:
    """Several verbs: as one where they share what they are done to (print and send the letter), else the
    first, and the others as aliases.
    """
    shared = all(len(part) == 1 for part in parts[:-1])
    read = [_read([part[0], *(parts[-1] if shared else part)[1:]]) for part in parts]
    found = read[0]._replace(aliases=tuple(other.verb for other in read[1:]))
    firsts = [one.verb.partition(" ") for one in read]
    if not shared or len({rest for _, _, rest in firsts}) > 1:
        return found
    nouns = [event_noun(verb) for verb, _, _ in firsts]
    return found._replace(
        verb=f"-{joint}-".join(verb for verb, _, _ in firsts) + "".join(firsts[0][1:]),
        noun=f"-{joint}-".join(nouns) + found.noun.removeprefix(nouns[0]),
        aliases=tuple(one.verb for one in read),
    )


def _named_together(parts: list[list[str]], joint: str) -> list[str]:
    """Words of several things as one name: triage-and-assessment."""
    words = list(parts[0])
    for part in parts[1:]:
        words[-1:] = [f"{words[-1]}-{joint}-{part[0]}", *part[1:]]
    return words


def _as_written(word_: str, shouted: set[str]) -> str:
    """Single letters, and what a name shouts and no dictionary has, in capitals: report Y, the ECG."""
    letter = len(word_) == 1 and word_.isalpha()
    return word_.upper() if letter or (word_ in shouted and not word(word_).senses) else word_


def speakable(phrase: str) -> bool:
    """Whether rule texts can use a phrase: plain words, not too many."""
    return len(phrase) <= LONGEST_NAME and not misused(phrase)


def _read(words: list[str]) -> Phrase:
    first, last = words[0], words[-1]
    if len(words) == 1:
        return _alone(first)
    passive = None if _is_base(last) else _participle(last)
    if _leads(first, words[1], last) and not (passive and (last.endswith("ed") or first in _THINGS)):
        return _verb_first(words)
    if passive:
        things = [w for w in words[:-1] if w not in ("is", "was", "are", "were", "been", "has", "have", "be")]
        if things and not any(w in PREPOSITIONS for w in things):
            rest = " ".join(things)
            return Phrase(
                f"{passive} the {rest}",
                f"{event_noun(passive)} of the {rest}",
                0.8,
                "its last word is a verb's past",
            )
    if told := _with_doer(words):
        return told
    if words[1] in PREPOSITIONS - {"of"} and len(words) > 2 and (first_done := _participle(first)):
        rest = " ".join([words[1], *([] if words[2] in _DETERMINERS else ["the"]), *words[2:]])
        return Phrase(
            f"{first_done} {rest}", f"{event_noun(first_done)} {rest}", 0.4, "its first word is a verb's past"
        )
    if words[1] == "of" and len(words) > 2 and (verb := _verb_of(first)):
        rest = " ".join(words[2:]).removeprefix("the ")
        return Phrase(f"{verb} the {rest}", f"{first} of the {rest}", 0.8, "its noun names what a verb does")
    rest = " ".join(words)
    inner = next((i for i, w in enumerate(words) if i and w in PREPOSITIONS - {"with"}), len(words))
    if _participle(first) or (inner < len(words) and not _names_act(words[inner - 1])):
        return Phrase(f"record the {rest}", rest, 0.4, "taken as a thing that happens")
    pieces = [piece for w in words for piece in w.split("-")]
    known = any(word(piece).senses for piece in pieces)
    return Phrase(
        f"carry out the {rest}",
        rest,
        0.5 if known and _names_act(pieces[-1]) else 0.3 if known else 0.1,
        "taken as a thing that is done",
    )


def _with_doer(words: list[str]) -> Phrase | None:
    """Words that say who did it: declaration submitted by employee, vendor creates invoice."""
    low = [w.lower() for w in words]
    at = low.index("by") if "by" in low[2:-1] else 0
    if at and (verb := _participle(low[at - 1])) and not any(w in PREPOSITIONS for w in low[: at - 1]):
        act, doer = f"the {' '.join(words[: at - 1])}", " ".join(low[at + 1 :])
    elif len(words) > 2 and low[1].endswith("s") and not lemmas(low[1], "n") and lemmas(low[1], "v"):
        verb, act, doer = lemmas(low[1], "v")[0], f"the {' '.join(words[2:])}", low[0]
    else:
        return None
    return Phrase(
        f"{verb} {act} as {doer}", f"{event_noun(verb)} of {act} by {doer}", 0.6, "it says who did what"
    )


def _leads(first: str, second: str, last: str) -> bool:
    """Whether the first of several words is the verb that the others go with."""
    if first in PREPOSITIONS or not _is_base(first):
        return False
    if second in PREPOSITIONS | PARTICLES - {"of"}:
        return True
    if first in _THINGS:
        return not _names_act(last)
    return (
        first in _EVENT_NOUNS
        or not lemmas(first, "n")
        or not _names_act(last)
        or len(senses_of(first, "v")) >= MEANINGS
    )


def _alone(word_: str) -> Phrase:
    verb = _verb_of(word_) if _names_act(word_) else None
    if verb and not _is_base(word_):
        return Phrase(verb, word_, 0.7, "the noun of a verb")
    if _is_base(word_):
        return Phrase(word_, event_noun(word_), 0.7, "a verb")
    if passive := _participle(word_):
        return Phrase(passive, event_noun(passive), 0.6, "a verb's past")
    return Phrase(
        f"carry out the {word_}", word_, 0.4 if word(word_).senses else 0.1, "taken as a thing that is done"
    )


def _verb_first(words: list[str]) -> Phrase:
    verb, rest = words[0], words[1:]
    adverb = len(rest) == 1 and rest[0].endswith("ly")
    article = not adverb and rest[0] not in PREPOSITIONS | PARTICLES | _DETERMINERS and len(rest[0]) > 1
    phrase = " ".join([verb, *(["the"] if article else []), *rest])
    sure = verb in _EVENT_NOUNS or verb in TRANSITIVE or not lemmas(verb, "n")
    if adverb:
        return Phrase(phrase, f"{rest[0].removesuffix('ly')} {event_noun(verb)}", 0.6, "a verb and how")
    return Phrase(phrase, event_noun(phrase), 0.9 if sure else 0.6, "its first word is a verb")


def _is_base(form: str) -> bool:
    """Whether a form is a verb as the dictionary has it, or says that one is done again (reinitiate)."""
    if form.startswith("re") and not word(form).senses:
        return form[2:] in lemmas(form[2:], "v")
    return form in lemmas(form, "v") and not (form.endswith(_ACT_ENDINGS[:5]) and bool(lemmas(form, "n")))


def _participle(form: str) -> str | None:
    """The verb of which a form is the past."""
    bases = lemmas(form, "v")
    if form.endswith("ed"):
        return next((base for base in bases if base != form), None)
    return next((base for base in bases if form in past_forms(base)), None)


def _names_act(form: str) -> bool:
    return bool(word(form).verbs) and bool(lemmas(form, "n"))


def _verb_of(noun: str) -> str | None:
    """The verb whose act a noun names; the one most like it where there are several."""
    verbs = word(noun).verbs - set(lemmas(noun, "v"))
    return max(verbs, key=lambda verb: (_alike(verb, noun), -len(verb), verb), default=None)


def _alike(one: str, other: str) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def singular(name: str) -> str:
    """A name of many things as that of one: its last word without its plural, where the dictionary has it."""
    head, last = re.fullmatch(r"(.*?)([A-Za-z]?[a-z]*|[A-Z]+)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    found = [lemma for lemma in lemmas(last.lower(), "n") if lemma != last.lower()]
    if not last.lower().endswith("s") or not found:
        return name
    one = min(found, key=len)
    return head + (one.capitalize() if last[:1].isupper() else one)
