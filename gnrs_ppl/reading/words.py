"""Words and how near they are: inflections, acts and their verbs, synonyms; data derived from WordNet 3.0
(see lexicon.LICENSE).
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gnrs_ppl.words import PARTICLES

DATA = Path(__file__).parent / "lexicon.tsv.gz"
SAME, DERIVED, LOOKS_ALIKE, SYNONYM, RARE_SYNONYM, BROADER = 1.0, 0.95, 0.85, 0.8, 0.65, 0.5
"""How near two words are: one lemma, an act and its verb, unknown words of one stem, common senses, rare
senses, a broader sense."""
COMMON_SENSES = 2
BODIES = frozenset(
    {
        "judge",
        "court",
        "tribunal",
        "prefect",
        "board",
        "council",
        "committee",
        "commission",
        "panel",
        "magistrate",
    }
    | {"jury", "ombudsman", "assembly"}
)
"""Whom something is brought before."""
PHRASAL_PARTICLES = frozenset(
    re.findall(
        r"\S+",
        """
        about across after against ahead along apart around aside away back by down for forth forward in into off on out over past
        round through to together under up upon with
        """,
    )
)
"""Particles that make a verb of their own with another: turn down."""

# acts whose noun no longer looks like its verb, and which the lexicon does not link
_ACTS = {
    "receipt": ("receive",),
    "sale": ("sell",),
    "purchase": ("purchase", "buy"),
    "entry": ("enter",),
    "loss": ("lose",),
    "lost": ("lose",),
}
_PAST_AS_IT_IS = frozenset({"broadcast", "cast", "cost", "hurt", "read", "spread"})
"""Verbs whose past is the verb itself and that double no letter, so that the lexicon has no form of them."""
_VERB_ENDINGS = (
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("s", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
)
_NOUN_ENDINGS = (
    ("ies", "y"),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("s", ""),
)
_DOUBLED = re.compile(r"(.*([bdfgklmnprtvz]))\2(?:ed|ing)")


class _Data(NamedTuple):
    senses: dict[tuple[str, str], tuple[int, ...]]
    acts: dict[str, tuple[str, ...]]
    broader: dict[int, tuple[int, ...]]
    people: frozenset[int]
    irregular: dict[tuple[str, str], tuple[str, ...]]


@cache
def _data() -> _Data:
    senses: dict[tuple[str, str], tuple[int, ...]] = {}
    acts: dict[str, tuple[str, ...]] = {}
    broader: dict[int, tuple[int, ...]] = {}
    people: set[int] = set()
    irregular: dict[tuple[str, str], tuple[str, ...]] = {}
    for line in gzip.decompress(DATA.read_bytes()).decode("ascii").splitlines():
        kind, word, told, verbs = line.split("\t")
        if kind in "vn":
            senses[kind, word] = tuple(map(int, told.split()))
            if verbs:
                acts[word] = tuple(verbs.split())
        elif kind in "sp":
            broader[int(word)] = tuple(map(int, told.split()))
            if kind == "p":
                people.add(int(word))
        else:
            irregular[kind[1], word] = tuple(told.split())
    return _Data(senses, acts | _ACTS, broader, frozenset(people), irregular)


class Word(NamedTuple):
    """What is known of a form: its lemmas, the verbs it is or names an act of, its senses and what lies
    above them, whether it is first of all a person.
    """

    form: str
    lemmas: frozenset[str]
    verbs: frozenset[str]
    common: frozenset[int]
    senses: frozenset[int]
    broader: frozenset[int]
    nouns: frozenset[str]
    person: bool


@cache
def lemmas(form: str, pos: str) -> tuple[str, ...]:
    """Base forms of an inflected verb (``v``) or noun (``n``); none where no word of that kind has this
    form.
    """
    data = _data()
    verb, _, particle = form.partition(" ")
    if particle:  # turned down
        return tuple(both for v in lemmas(verb, pos) if (pos, both := f"{v} {particle}") in data.senses)
    if (pos, form) in data.irregular:
        return data.irregular[pos, form]
    found = [form] if (pos, form) in data.senses else []
    for ending, base in _VERB_ENDINGS if pos == "v" else _NOUN_ENDINGS:
        if (
            form.endswith(ending)
            and (pos, stem := form[: -len(ending)] + base) in data.senses
            and stem not in found
        ):
            found.append(stem)
    if (
        pos == "v"
        and (doubled := _DOUBLED.fullmatch(form))
        and (pos, doubled[1]) in data.senses
        and doubled[1] not in found
    ):
        found.append(doubled[1])
    return tuple(found)


def senses_of(lemma: str, pos: str) -> tuple[int, ...]:
    """Senses of a verb (``v``) or noun (``n``), the most common first."""
    return _data().senses.get((pos, lemma), ())


@cache
def past_forms(verb: str) -> tuple[str, ...]:
    """Irregular past and participle of a verb (gave, given; put); none where it is regular."""
    if verb in _PAST_AS_IT_IS:
        return (verb,)
    found = [form for (pos, form), bases in _data().irregular.items() if pos == "v" and verb in bases]
    return tuple(form for form in found if not form.endswith("ing")) or ((verb,) if found else ())


@cache
def word(form: str) -> Word:
    """Everything known of a form, in lower case."""
    data = _data()
    verbs, nouns = lemmas(form, "v"), lemmas(form, "n")
    senses = [data.senses.get(("v", v), ()) for v in verbs] + [data.senses.get(("n", n), ()) for n in nouns]
    every = frozenset(s for found in senses for s in found)
    person = bool(nouns) and any(s in data.people for n in nouns for s in data.senses.get(("n", n), ())[:1])
    acts = frozenset(v for n in nouns for v in data.acts.get(n, ())) if not person else frozenset()
    acts |= _compounded(form) if not senses else frozenset()
    return Word(
        form,
        frozenset((*verbs, *nouns)) or frozenset((form,)),
        frozenset(verbs) | acts,
        frozenset(s for found in senses for s in found[:COMMON_SENSES]),
        every,
        frozenset(b for s in every for b in data.broader.get(s, ())),
        frozenset(nouns),
        person,
    )


def _compounded(form: str) -> frozenset[str]:
    """The verb and particle that a noun the lexicon lacks is made of: handover."""
    both = (f"{form.removesuffix(p).rstrip('-')} {p}" for p in PARTICLES if form.endswith(p))
    return frozenset(verb for verb in both if ("v", verb) in _data().senses)


@cache
def similarity(one: str, other: str) -> float:
    """How near two forms are, in [0, 1]; see the constants above."""
    if one == other:
        return SAME
    a, b = word(one), word(other)
    if a.lemmas & b.lemmas:
        return SAME
    if a.verbs & b.verbs:
        return DERIVED
    unknown = not (a.senses or a.verbs) or not (b.senses or b.verbs)
    if unknown and max(one, other, key=len) in {f"{short}{s}" for short in (one, other) for s in ("s", "es")}:
        return SAME
    if (
        len(one) >= 5
        and len(other) >= 5
        and one[:4] == other[:4]
        and _alike(one, other) >= (4 if unknown else max(5, min(len(one), len(other)) - 2))
    ):
        return LOOKS_ALIKE
    if a.common & b.common:
        return SYNONYM
    if a.senses & b.senses:
        return RARE_SYNONYM
    if a.common & b.broader or b.common & a.broader:
        return BROADER
    return 0.0


def held_by(form: str) -> frozenset[str | int]:
    """What a form has that another must ask for (``asked_by``) to be similar to it at all."""
    known = word(form)
    return _own(known) | frozenset(~b for b in known.broader)


def asked_by(form: str) -> frozenset[str | int]:
    """What a form asks of another: ``similarity`` of forms that share none of it is 0."""
    known = word(form)
    return _own(known) | frozenset(~s for s in known.common) | known.broader


def _own(known: Word) -> frozenset[str | int]:
    form = known.form
    beginning = {f"{form[:4]}-"} if len(form) >= 5 else set()  # may look alike
    return frozenset(
        {
            form,
            form.removesuffix("s"),
            form.removesuffix("es"),
            *beginning,
            *known.lemmas,
            *known.verbs,
            *known.senses,
        }
    )


def _alike(one: str, other: str) -> int:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length


def is_verb(form: str) -> bool:
    """Whether a form can be a verb's."""
    return bool(lemmas(form, "v"))


def brought_before(words: Sequence[str]) -> bool:
    """Whether "before" is no time, but says whom something is brought before: the judge, an appeal board."""
    return words[:1] == ["before"] and not BODIES.isdisjoint(words[1:])
