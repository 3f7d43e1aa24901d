"""The words of a context: what every role, location, object, action, step and log is called in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from gnrs_ppl.context.load import Context
from gnrs_ppl.context.types import Action, Attribute, Channel, RecordLayer, Schema, Term
from gnrs_ppl.errors import InputError
from gnrs_ppl.realize.english import (
    article,
    doing,
    event_noun,
    reads_as_noun,
    what_is_done,
    with_article,
    words_of,
)
from gnrs_ppl.realize.phrases import FORMS, QUOTED, Form, Worded, misused, openings, quote
from gnrs_ppl.rule.canonical import conditions_in, payloads
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.words import plural

_LOG_WORDS = frozenset(
    """
    log logs register record records system book ledger journal database list file feed history roster
    archive sheet
    """.split()
)


class Words(NamedTuple):
    """Forms of one name; empty where the kind has no such form, all empty where the name can only be
    quoted.
    """

    one: str = ""
    many: str = ""
    noun: str = ""
    doing: str = ""


@dataclass(frozen=True)
class Lexicon:
    """Words for the names of a schema and a record layer.

    A name without a phrase is read as words (``duty_manager`` as duty manager). A name that gives no plain
    words (punctuation, or a word that rule texts use as grammar) is quoted as it stands. A name the schema
    lacks is put into words in the same way and followed by the name itself in quotation marks, so that the
    text still leads back to it.

    Attributes
    ----------
    words : mapping
        (kind, name) -> forms.
    """

    words: Mapping[tuple[Worded, str], Words]

    @classmethod
    def of(cls, schema: Schema, records: RecordLayer) -> Lexicon:
        """Words for a schema and the logs of a record layer.

        Raises
        ------
        InputError
            Where a phrase would be read as grammar, or two names of a kind would share words.
        """
        terms: list[tuple[Worded, str, Term | Channel | Attribute]] = [
            ("role", "schema.roles", t) for t in schema.roles
        ]
        terms += [("location", "schema.locations", t) for t in schema.locations]
        terms += [("object", "schema.objects", t) for t in schema.objects]
        terms += [("step", "schema.steps", t) for t in schema.steps]
        terms += [("channel", "records.channels", c) for c in records.channels]
        terms += [("attribute", "records.attributes", a) for a in records.attributes]
        words: dict[tuple[Worded, str], Words] = {}
        taken: _Taken = {}
        for action in schema.actions:
            _add(words, taken, "action", action.name, _action_words(action), f"schema.actions.{action.name}")
        for kind, field, term in terms:
            _add(
                words,
                taken,
                kind,
                term.name,
                _term_words(kind, term, f"{field}.{term.name}"),
                f"{field}.{term.name}",
            )
        lexicon = cls(words)
        for kind, form in lexicon._known:
            known = lexicon.known(kind, form)
            clash = next(((text, head) for text in known for head in openings(text) if head in known), None)
            if clash:
                problem = (
                    f"{clash[0]!r} of {known[clash[0]]!r} could be read as {clash[1]!r} of "
                    f"{known[clash[1]]!r} with more said about it"
                )
                raise InputError(
                    problem, "give one of them another phrase", field=f"{kind}.{known[clash[0]]}"
                )
        return lexicon

    @classmethod
    def of_context(cls, context: Context) -> Lexicon:
        """Words for the names of a context, the channels that only its log shows among them; raises
        InputError as :meth:`of`.
        """
        return cls.of(context.schema, context.resolved)

    def including(self, structure: Structure) -> Lexicon:
        """A lexicon with words too for the names of a structure this one lacks, where those words are free.

        Texts written with it hold such names without quotation marks; only that lexicon leads back to them.
        """
        words = dict(self.words)
        taken = {(kind, text.lower()) for (kind, _), forms in words.items() for text in forms}
        named: list[tuple[Worded, str]] = [(found.kind, found.name) for found in payloads(structure)]
        for _, condition in conditions_in(structure):
            other = [condition.other.attribute] if condition.other else []
            named += [("attribute", name) for name in (condition.attribute, *other)]
        for kind, name in named:
            forms = _derived(kind, name)
            clear = not any(openings(text) or (kind, text.lower()) in taken for text in forms if text)
            if (kind, name) not in words and clear:
                words[kind, name] = forms
                taken.update((kind, text.lower()) for text in forms)
        return Lexicon(words)

    def form(self, kind: Worded, name: str, form: Form = "one") -> str:
        """A name in a sentence, without article."""
        known = self.words.get((kind, name))
        words = known or _derived(kind, name)
        text: str = getattr(words, form)
        if not text or (known is None and text == name):
            before, after = QUOTED.get((kind, form), ("", ""))
            return before + quote(name) + after
        return text if known else f"{text} ({quote(name)})"

    def a(self, kind: Worded, name: str, form: Form = "one") -> str:
        """A name in a sentence behind ``a`` or ``an``."""
        text = self.form(kind, name, form)
        return f"{article(text)} {text}"

    def known(self, kind: Worded, form: Form) -> Mapping[str, str]:
        """Plain words -> name for the names of a kind, longest words first."""
        return self._known.get((kind, form), {})

    @cached_property
    def _known(self) -> dict[tuple[Worded, Form], dict[str, str]]:
        found: dict[tuple[Worded, Form], dict[str, str]] = {}
        for kind, name in self.words:
            for form, text in zip(FORMS, self.words[kind, name], strict=True):
                if text:
                    found.setdefault((kind, form), {})[text] = name
        return {
            key: dict(sorted(texts.items(), key=lambda item: -len(item[0]))) for key, texts in found.items()
        }

    @cached_property
    def called(self) -> dict[Worded, dict[str, str]]:
        """Of each kind the names that have words, and these: of an action its noun."""
        found: dict[Worded, dict[str, str]] = {}
        for (kind, name), words in self.words.items():
            if text := words.noun if kind == "action" else words.one:
                found.setdefault(kind, {})[name] = text
        return found

    @cached_property
    def anyone(self) -> str:
        """Who bears a rule that names no role: a person, unless a role goes by that word."""
        return "anyone" if "person" in self.known("role", "one") else "a person"


_Taken = dict[tuple[Worded, bool, str], str]
"""Kind, whether a form of its own that says what is done, words -> name."""


def _add(
    words: dict[tuple[Worded, str], Words], taken: _Taken, kind: Worded, name: str, forms: Words, field: str
) -> None:
    for form, text in zip(FORMS, forms, strict=True):
        other = taken.setdefault((kind, form == "doing", text.lower()), name) if text else name
        if other != name:
            problem = f"{kind}s {other!r} and {name!r} would both be called {text!r}"
            raise InputError(problem, "give one of them a phrase of its own", field=field)
    words[kind, name] = forms


def _action_words(action: Action) -> Words:
    field = f"schema.actions.{action.name}"
    derived = _derived("action", action.name)
    one = _checked(action.phrase, f"{field}.phrase") or derived.one
    noun = _checked(action.noun, f"{field}.noun")
    if not noun:
        noun = derived.noun if action.phrase is None else event_noun(action.phrase)
    return Words(one=one, noun=_plain(noun) if noun else "", doing=_plain(doing(one)) if one else "")


def _plain(text: str) -> str:
    """The text, or nothing where it would be read as grammar."""
    return "" if misused(text) else text


def _term_words(kind: Worded, term: Term | Channel | Attribute, field: str) -> Words:
    derived = _derived(kind, term.name)
    one = _checked(term.phrase, f"{field}.phrase") or derived.one
    if kind == "step":
        return Words(one=one, doing=_step_verb(one))
    if kind not in ("role", "object") or not isinstance(term, Term):
        return Words(one=one)
    many = _checked(term.plural, f"{field}.plural") or (plural(one) if one else "")
    return Words(one=one, many=_plain(many) if many else "")


def _step_verb(words: str) -> str:
    """A step as what somebody does, where it is plain what that is."""
    found = what_is_done(words)
    return _plain(found[1]) if found else ""


def _checked(phrase: str | None, field: str) -> str:
    if phrase is None:
        return ""
    piece = misused(phrase)
    if piece:
        raise InputError(
            f"{phrase!r} holds {piece!r}, which rule texts use as grammar",
            "write plain words without it, joined by spaces or hyphens, and without article",
            field=field,
        )
    return phrase


@lru_cache(maxsize=4096)
def _derived(kind: Worded, name: str) -> Words:
    words = words_of(name)
    if misused(words):
        return Words()
    if kind == "action":
        if not words.split()[0].isalpha():
            return Words()
        if reads_as_noun(words):
            return Words(one=f"carry out the {words}", noun=words, doing=f"carrying out the {words}")
        one = with_article(words)
        return Words(one=one, noun=_plain(event_noun(words)), doing=_plain(doing(one)))
    if kind == "channel":
        return Words(one=words if words.split()[-1].lower() in _LOG_WORDS else f"{words} log")
    if kind == "step":
        return Words(one=words, doing=_step_verb(words))
    return Words(one=words, many=_plain(plural(words)) if kind in ("role", "object") else "")
