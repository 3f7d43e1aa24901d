"""Acts told by nouns, where the verb is empty: "any delivery by the courier is prohibited", "completion of the check by a
nurse is mandatory", "payment is to be followed, not more than two days thereafter, by dispatch".

Each is told anew by the noun's verb, with whoever does it before ("the courier must not deliver"), and what is read goes back
to where it was said. Where the noun tells no act of the schema nothing is told anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gnrs_ppl.reading import anew, patterns
from gnrs_ppl.reading.anew import Part, Piece
from gnrs_ppl.reading.quantities import PLAIN_DURATION
from gnrs_ppl.reading.types import Readings, Span, Statement
from gnrs_ppl.reading.vocabulary import ENOUGH, STOP, Token, Vocabulary, tokens_of
from gnrs_ppl.reading.wording import AsWritten, Wording
from gnrs_ppl.reading.words import lemmas, word
from gnrs_ppl.rule.types import NEGATIVE

_ADVERBS = r"(?:(?:always|also|then|therefore|thus|again|first|[a-z]+ly)\s+)*"
_BE = (
    rf"(?:(?:is|are|remains?|stays?)\s+{_ADVERBS}|"
    rf"(?:must|shall|should|will|ought to|needs? to|ha(?:s|ve) to|(?:is|are) to)\s+{_ADVERBS}be\s+{_ADVERBS})"
)
_MODAL = r"(?:must|shall|should|will|may|can|ought to|needs? to|ha(?:s|ve) to|(?:is|are) to)"
_DONE = r"(?:effected|carried out|made|performed|undertaken|conducted|executed|completed|accomplished|held|concluded|done)"
_HAPPEN = rf"(?:take place|occur|happen|ensue|be\s+{_ADVERBS}{_DONE})"
_PREDICATE = Wording(
    r"\b(?:"
    rf"(?P<ban>{_BE}(?:prohibited|forbidden|excluded|ruled out|barred|banned|precluded|disallowed|impermissible|inadmissible|"
    r"unlawful|out of the question|not\s+(?:[a-z]+ly\s+)?(?:to be )?(?:permitted|allowed|permissible|admissible|lawful|acceptable|tolerated))|"
    rf"(?:{_MODAL}\s+(?:not|never|under no circumstances|in no case|on no account)|cannot)\s+{_ADVERBS}(?:{_HAPPEN}|be\s+(?:permitted|allowed|tolerated)))|"
    rf"(?P<duty>{_BE}(?:required|mandatory|compulsory|obligatory|necessary|essential|imperative|indispensable|prescribed)|"
    rf"(?:must|shall|should|ought to|needs? to|ha(?:s|ve) to|(?:is|are) to)\s+{_ADVERBS}{_HAPPEN})|"
    rf"(?P<may>{_BE}(?:permitted|allowed|permissible|admissible|lawful)|(?:may|can)\s+(?:only\s+)?{_HAPPEN})"
    r")(?![\w-])"
)
"""What is said of an act that a noun tells: that it is banned, asked for, or allowed only then."""
_HAPPENS = Wording(rf"\b{_HAPPEN}$")
_COUNTS = Wording(
    r"\b(?:\d+|two|three|four|five|six|second|third|fourth|repeated|renewed|another|further|more|multiple|several)\b"
)
"""Says how often an act is done, or which time."""
_LACK = Wording(r"\s*(?:the |any |an? )?(?:absence|lack|omission|neglect|non-performance) of ")
"""Of an act that is asked for where this is banned."""
_BY_WHICH = Wording(
    r"\s+by (?:an?other|(?:the )?same|different|one|two|both|more|some(?:body|one) else|separate|distinct)\b|"
    r"\s+by (?:whoever|(?:(?:an?|any|the|those|every) )?\w+ (?:who|that|whom|by whom)\b)"
)
"""Says whether one person does two acts."""
_BARE = Wording(
    r"\s+(?P<unless>unless|until|before)\s+(?=(?:(?:first|previously|already|duly)\s+)?[a-z]+ed\b)"
)
"""Behind what is banned, opens a clause without its subject."""
_ONLY_THEN = Wording(
    r"\s*(?:to \w[\w ]*)?\b(?:only|solely|exclusively)\s+(?:if|when|where|once|after|upon|following|provided)\b"
)
"""Behind what is allowed, says that it is so only then."""
_RELATES = Wording(
    rf"\b(?P<modal>(?:must|shall|should|ought to|needs? to|ha(?:s|ve) to|(?:is|are) to)\s+{_ADVERBS}be|(?:is|are)\s+always)\s+{_ADVERBS}"
    rf"(?P<how>followed|succeeded|preceded)(?P<time>\s*,[^,.;]*{PLAIN_DURATION}[^,.;]*,|\s+(?:with)?in\s+{PLAIN_DURATION})?\s+by\s+"
)
"""What is said of an act that another follows or precedes."""
_WITHOUT = Wording(
    r"(?:(?<=[.;!?]\s)|^)\s*(?P<opens>without|in the absence of|absent|failing|lacking)\s+"
    r"(?P<first>[^,.;!?]+?)(?:,\s+|\s+(?=(?:no|nobody|no[- ]one|none|nothing)\b))(?P<rest>[^.;!?,]+)"
)
"""What is banned where something else is lacking."""
_BANS = Wording(
    r"\b(?:(?:must|may|shall|can|should|is to|are to|is|are)\s+(?:not|never)|cannot|mustn['’]t|can['’]t|prohibited|forbidden|barred|ruled out|"
    r"(?:no|nobody|no[- ]one|none|nothing)\b[^,;]*?\b(?:may|must|shall|can|is|are))\b"
)
_YET = Wording(r"\b(?P<have>has|have) yet to be\b")
_NOTWITHSTANDING = Wording(
    r"(?:,|(?<=[.;!?])|^)\s*(?P<what>[^,.;!?]+?)\s+(?P<with>notwithstanding)(?=\s*[,.;!?]|$)"
)
_ONLY_IF = Wording(
    r"(?:(?<=[.;!?]\s)|^)\s*(?P<only>only (?:if|when|where|once|after))\s+(?P<first>[^.;!?]+?)\s*(?P<be>\b(?:is|are))\s+"
    rf"(?P<then>(?!to\b|not\b)[^.;!?,]+?)\s+(?P<may>{_ADVERBS}(?:permitted|allowed|permissible|admissible))\b(?P<to>\s+(?:to|for)\s+(?=\w))?"
)
"""An act that is allowed only if another was done, told first."""
_BEFOREHAND = Wording(r"\s+(?:beforehand|first|in advance)\s*$")
_WHO = Wording(r"\s+who\b[^,.;!?]*")
_AND_THEN = Wording(
    r",?\s+and\s+(?P<then>[^,.;]+?)\s+(?:then\s+)?(?P<follows>follows?|ensues?)\b(?P<time>[^,.;]*),?\s*$"
)
"""A second condition: what comes after the first."""
_WHOM = Wording(r",\s*(?P<whom>(?:to|for|on|upon) (?:whom|which))\s+(?P<rest>[^,.;!?]+)")
"""A clause on somebody named before, that binds by itself."""
_STARTS = re.compile(r"[.;:!?,](?=\s)|\n")
_DETERMINER = Wording(
    r"\s*(?:(?:and|but|or|so|while|whereas)\s+)?(?P<det>(?:(?:any|the|each|every|all|such|an?|this|that|these|those|no|its|his|her|their|our|your|both|"
    r"either)\s+)*)"
)
_PREPOSITION = frozenset(
    [
        "of",
        "by",
        "to",
        "at",
        "from",
        "in",
        "into",
        "onto",
        "with",
        "between",
        "among",
        "for",
        "on",
        "through",
        "within",
        "after",
        "before",
        "without",
        "upon",
        "during",
        "under",
        "via",
        "against",
        "over",
        "towards",
        "about",
        "per",
    ]
)
_OPENS_MORE = frozenset({"having", "being", "been", "that", "who", "which", "whose"})
_POINTS = frozenset({"such", "this", "that", "these", "those"})
_PRONOUNS = {
    "them": "they",
    "him": "he",
    "her": "she",
    "us": "we",
    "you": "you",
    "me": "I",
    "anyone": "anyone",
}
_PRONOUNS |= {"anybody": "anybody", "somebody": "somebody", "someone": "someone", "both": "both"}
_WHO_TOO = AsWritten(r"\s*(?:,|,?\s*\b(?:and|or|nor)\b)\s*(?:(?:the|an?|any|each|every|all)\s+)?$")
_MORE_OF_WHO = Wording(
    r"\s+(?:so \w+(?:ed|en)|concerned|in question|in charge|on duty|responsible|involved|present)\b"
)
_OWN = frozenset(
    [
        "arrival",
        "departure",
        "attendance",
        "entry",
        "entrance",
        "exit",
        "appearance",
        "signature",
        "consent",
        "presence",
    ]
)
"""Acts that nobody does to anybody: the one they are said to be of does them."""
_EITHER = (
    "precedence",
    "chain_precedence",
    "succession",
    "chain_succession",
    "coexistence",
    "not_coexistence",
)
"""Templates that ban one act, or ask for another."""
_ANYBODY = "People"
_OF_WHOM = Wording(r"\s+(?:of|on|upon|from|for|by)\s+(?=\w)")


class _Noun(NamedTuple):
    """An act that a noun tells: its verb, who does it, what it is done to and how."""

    verb: str
    head: Span
    who: tuple[Part, ...]
    rest: tuple[Part, ...]
    none: bool
    """Whether it is none: "no delivery"."""


class Anew(NamedTuple):
    """A passage, and what it is told anew as; ``doubtful`` where it may be read well enough as it stands."""

    span: Span
    parts: tuple[Part, ...]
    bans: bool = False
    doubtful: bool = False
    relates: bool = False
    """Whether it says that one act follows or precedes another."""
    empty: Span = Span(0, 0)
    """The words that say nothing but how the noun's act is bound: "must be carried out"."""


def told_by_nouns(text: str, words: Vocabulary) -> list[Anew]:
    """The passages where nouns tell what is banned, asked for or allowed, each told anew by a verb."""
    found = list[Anew]()
    nouns = _Nouns(text, words)
    for several in (_said_late(text), _without(nouns), _only_if(nouns), _related(nouns), _said_of(nouns)):
        for one in several:
            if not any(a.span.start < one.span.end and one.span.start < a.span.end for a in found):
                found.append(one)
    return sorted(found, key=lambda a: a.span)


def with_verbs(text: str, found: Sequence[Anew]) -> Piece:
    """The text with passages told anew."""

    def begins(one: Anew) -> bool:
        return text[: one.span.start].rstrip()[-1:] in ("", *".!?")

    return anew.retold(
        text, [anew.Anew(one.span, _capital(text, one.parts) if begins(one) else one.parts) for one in found]
    )


def by_empty_words(anew: Sequence[Anew], readings: Readings) -> list[Statement]:
    """The statements that were read from words that say nothing but how a noun's act is bound."""
    return [
        s
        for s in readings.statements
        if any(a.empty.start <= t.span.start < a.empty.end for a in anew for t in s.best.targets)
    ]


def tells(one: Anew, readings: Readings) -> bool:
    """Whether what was read as it stood says of the act that a passage tells that it is banned, or asked for."""
    if by_empty_words([one], readings):
        return False
    for statement in readings.statements:
        best = statement.best
        acts = [*best.targets, *([best.activation] if best.activation and best.template in _EITHER else [])]
        inside = any(one.span.start <= a.span.start < one.span.end for a in acts)
        if one.relates and best.activation is None:
            continue
        if inside and (best.template in _EITHER or (best.template in NEGATIVE) == one.bans):
            return True
    return False


def _capital(text: str, parts: Sequence[Part]) -> tuple[Part, ...]:
    """The beginning of a sentence with a capital letter."""
    if isinstance(parts[0], Span):
        span = Span(
            parts[0].start + len(text[parts[0].start :]) - len(text[parts[0].start :].lstrip()), parts[0].end
        )
        if span.start >= span.end:
            return _capital(text, parts[1:])
        letter = text[span.start].upper()
        return ((letter, Span(span.start, span.start + 1)), Span(span.start + 1, span.end), *parts[1:])
    said, span = parts[0]
    return ((said[:1].upper() + said[1:], span), *parts[1:])


class _Nouns:
    """A text, and the acts that its nouns tell."""

    def __init__(self, text: str, words: Vocabulary) -> None:
        self.text, self.words = text, words
        self._tokens: tuple[Token, ...] | None = None
        self._people: list[Span] = []

    def tokens(self, start: int, end: int) -> list[Token]:
        """The tokens from one place to another."""
        return [t for t in self._all() if start <= t.start and t.end <= end]

    def _all(self) -> tuple[Token, ...]:
        if self._tokens is None:
            self._tokens = tokens_of(self.text)
            at = range(len(self._tokens))
            self._people = [n.span for _, n in self.words.name_in("roles", self._tokens, at)]
        return self._tokens

    def is_done(self, start: int, end: int) -> bool:
        """Whether words that something is lacking of name an act: "a consent of the owner", "such a task"."""
        tokens = self.tokens(start, end)
        split = next((i for i, t in enumerate(tokens) if t.text in _PREPOSITION | _OPENS_MORE), len(tokens))
        nouns = [t for t in tokens[:split] if word(t.text).nouns or t.text.endswith("ing")]
        if not nouns:
            return False
        head = nouns[-1].text
        if tokens[0].text in _POINTS:
            return re.search(rf"\b{re.escape(head)}\b", self.text[:start].lower()) is not None
        behind = _OF_WHOM.match(self.text, nouns[-1].end, end)
        given = "'s" in {t.text for t in tokens[:split]} or (
            behind is not None and self.somebody_at(behind.end(), end) is not None
        )
        own = head in lemmas(head, "v") and not self._is_own(head) and not given
        return (bool(word(head).verbs) and not own) or self._tells(self.text[start:end], head) >= ENOUGH

    def subject_before(self, at: int) -> int:
        """Where the subject of a predicate begins."""
        return max((m.end() for m in _STARTS.finditer(self.text, 0, at)), default=0)

    def somebody_at(self, start: int, end: int) -> tuple[tuple[Part, ...], int] | None:
        """Who is named at a place, with where that ends; none where it is nobody."""
        self._all()
        tokens = self.tokens(start, end)
        if not tokens:
            return None
        if tokens[0].text in _PRONOUNS:
            span = Span(tokens[0].start, tokens[0].end)
            return ((_PRONOUNS[tokens[0].text], span),), span.end
        last = self._person(tokens)
        if last is None:
            return None
        for one in self._people:
            if last <= one.start and one.end <= end and _WHO_TOO.match(self.text[last : one.start]):
                last = one.end
        if more := _MORE_OF_WHO.match(self.text, last, end):
            last = more.end()
        return (Span(start, last),), last

    def _person(self, tokens: Sequence[Token]) -> int | None:
        for one in self._people:
            if tokens[0].start <= one.start and one.end <= tokens[-1].end:
                before = [t.text for t in tokens if t.start < one.start]
                if len(before) <= 7 and not {"by", "to", "in", "at", "with"}.intersection(before):
                    return one.end
        for i, t in enumerate(tokens[:5]):
            if t.text in _PREPOSITION or not t.text[0].isalpha():
                break
            if word(t.text).person:
                return tokens[i].end
        return None

    def told(self, start: int, end: int, by: tuple[tuple[Part, ...], int] | None = None) -> _Noun | None:
        """The act that a noun and what belongs to it tell from one place to another; none where they tell none."""
        det = _DETERMINER.match(self.text, start, end)
        if det is None:
            return None
        first = det.end()
        tokens = self.tokens(first, end)
        split = next(
            (i for i, t in enumerate(tokens) if t.text in _PREPOSITION or not t.text[0].isalnum()),
            len(tokens),
        )
        owner = tuple[Part, ...]()
        genitive = next((i for i, t in enumerate(tokens) if t.text in ("'s", "’s") or t.text == "'"), None)
        if genitive is not None and genitive <= 4:
            owner = (Span(det.start("det"), tokens[genitive].start),)
            tokens = tokens[genitive + 1 :]
            split = next(
                (i for i, t in enumerate(tokens) if t.text in _PREPOSITION or not t.text[0].isalnum()),
                len(tokens),
            )
        np, behind = tokens[:split], tokens[split:]
        heads = [i for i, t in enumerate(np) if self._names_act(t)]
        if (
            not heads
            or heads[-1] != len(np) - 1
            or len(np) > 5
            or any(t.text in STOP - {"and", "or"} for t in np)
        ):
            return None
        head = np[-1]
        joined = [i for i, t in enumerate(np) if t.text in ("and", "or")]
        if joined and not (joined[0] >= 1 and self._names_act(np[joined[0] - 1])):
            return None
        who, rest = self._behind(head, behind, end, owner)
        if owner and who is None:
            return None
        if by is not None and who == ():
            who = by[0]
        premodifiers = np[: joined[0] - 1] if joined else np[:-1]
        verb = self._verb(np, joined, premodifiers, rest)
        if verb is None:
            return None
        modified: tuple[Part, ...] = (
            ((" ", Span(head.start, head.end)), Span(premodifiers[0].start, premodifiers[-1].end))
            if premodifiers
            else ()
        )
        none = "no " in self.text[det.start("det") : det.end()].lower() + " "
        heads_at = Span(np[joined[0] - 1].start if joined else head.start, head.end)
        return _Noun(verb, heads_at, who or (), (*modified, *rest), none)

    def _names_act(self, token: Token) -> bool:
        known = word(token.text)
        return bool(known.verbs) and not known.person and token.text not in _PREPOSITION

    def _behind(
        self, head: Token, behind: Sequence[Token], end: int, owner: tuple[Part, ...]
    ) -> tuple[tuple[Part, ...] | None, tuple[Part, ...]]:
        """Who does what a noun tells, and what else stands behind it; None for who where that is not clear."""
        if not behind:
            if not owner:
                return (), ()
            whose = self.text[owner[0].start : owner[0].end] if isinstance(owner[0], Span) else ""
            return (owner, ()) if head.text in _OWN or not self._people_in(whose) else (None, ())
        who, parts, at = tuple[Part, ...](), list[Part](), head.end
        for i, t in enumerate(behind):
            if t.start < at:
                continue
            if t.text == "by" and not who and (found := self.somebody_at(t.end, end)):
                parts.append(Span(at, t.start))
                who, at = found
            elif t.text == "of" and i == 0:
                own = head.text in _OWN and self.somebody_at(t.end, end)
                if own:
                    who, at = own
                else:
                    at = t.end
        parts.append(Span(at, end))
        if owner:
            who = who or owner
        return who, tuple(p for p in parts if not isinstance(p, Span) or p.start < p.end)

    def _people_in(self, words: str) -> bool:
        tokens = tokens_of(words)
        return bool(self.words.name_in("roles", tokens, range(len(tokens))))

    def _verb(
        self, np: Sequence[Token], joined: Sequence[int], modifiers: Sequence[Token], rest: Sequence[Part]
    ) -> str | None:
        """The verbs of nouns that tell an act of the schema; none where they tell none."""
        heads = [np[joined[0] - 1], np[-1]] if joined else [np[-1]]
        about = " ".join(
            [*(t.text for t in modifiers), *(self.text[p.start : p.end] for p in rest if isinstance(p, Span))]
        )
        said, known = list[str](), False
        for head in heads:
            if head.text in lemmas(head.text, "v") and not self._is_own(head.text):
                tried = [(0.0, head.text)]
            else:
                tried = [
                    (self._tells(f"{verb} {about}", verb), verb) for verb in sorted(word(head.text).verbs)
                ]
            score, verb = max(tried)
            if score < ENOUGH and (phrase := self._phrase(head.text)):
                score, verb = 1.0, phrase
            known = known or score >= ENOUGH
            said.append(verb)
        if not known:
            return None
        between = f" {np[joined[0]].text} " if joined else ""
        return between.join(said)

    def _is_own(self, noun: str) -> bool:
        """Whether a noun that is a verb too is an act's own verb or noun, and names no thing."""
        own = any(noun in self.words.heads_of(name) for name in self.words.actions)
        tokens = tokens_of(noun)
        return own and not self.words.name_in("objects", tokens, range(len(tokens)))

    def _tells(self, said: str, verb: str) -> float:
        tokens = tokens_of(said)
        found = self.words.match_acts(tokens, range(len(tokens)))
        told = verb.split()[0]
        return next((m.score for m in found if any(tokens[i].text == told for i in m.positions)), 0.0)

    def _phrase(self, noun: str) -> str | None:
        """The only word that an act's phrase is, where its noun is this."""
        for action in self.words.actions.values():
            if action.noun and action.noun.split()[0] == noun and action.phrase and " " not in action.phrase:
                return action.phrase
        return None


def _whoever(who: Sequence[Part], at: Span, first: bool) -> tuple[Part, ...]:
    if who:
        return tuple(who)
    return ((_ANYBODY if first else _ANYBODY.lower(), at),)


def _clause(noun: _Noun, modal: str, at: Span, lead: str = "") -> tuple[Part, ...]:
    """An act that a noun tells, as a clause: "the courier must not deliver"."""
    parts: list[Part] = [(lead, at)] if lead else []
    return (
        *parts,
        *_whoever(noun.who, noun.head, False),
        (f" {modal} ", at),
        (noun.verb, noun.head),
        (" ", noun.head),
        *noun.rest,
    )


def _said_of(nouns: _Nouns) -> Iterator[Anew]:
    """What is banned, asked for or allowed."""
    text = nouns.text
    for m in _PREDICATE.finditer(text):
        start = nouns.subject_before(m.start())
        whom = _WHOM.match(text, start - 1, m.end()) if start else None
        if whom:
            start = whom.start("rest")
        if (one := _of_noun(nouns, m, start)) is None:
            continue
        if whom:
            one = _with_whom(nouns, one, whom)
        if one is not None:
            yield one


def _of_noun(nouns: _Nouns, m: re.Match[str], start: int) -> Anew | None:
    text, tail = nouns.text, nouns.text[m.end() :]
    kind = m.lastgroup or ""
    end = m.end()
    by = None
    if m[kind].split()[-1] != "place" and (of := _OF_WHOM.match(text, end)):
        by = nouns.somebody_at(of.end(), _clause_end(text, of.end()))
    if kind == "duty" and by is None and re.match(r"\s+(?:for|to)\b(?!\s+(?:each|every|all|any)\b)", tail):
        return None
    lack = _LACK.match(text, start, m.start()) if kind == "ban" else None
    noun = nouns.told(lack.end() if lack else start, m.start(), by)
    if noun is None or _COUNTS.search(text, start, m.start()) or _BY_WHICH.match(text, end):
        return None
    if by is not None:
        end = by[1] if noun.who == by[0] or not noun.who else end
    weak = "should" if "should" in m[kind] or "ought" in m[kind] else "must"
    modal = {"ban": f"{weak} not", "may": "may"}.get(kind, weak)
    if lack:
        modal = weak
    elif noun.none:
        if kind == "ban" or (kind == "duty" and not _HAPPENS.search(m[kind])):
            return None
        modal = f"{weak} not"
    elif kind == "may" and not (" only " in m[kind] or _ONLY_THEN.match(text, end)):
        return None
    det = _DETERMINER.match(text, start)
    begin = det.start("det") if det else start
    predicate = Span(m.start(), m.end())
    parts = _clause(noun, modal, predicate)
    if bare := _BARE.match(text, end):
        parts, end = (*parts, (f" {bare['unless']} it has been ", Span(*bare.span("unless")))), bare.end()
    elif text[end : end + 1] not in " ,.;!?":
        parts = (*parts, (" ", predicate))
    return Anew(Span(begin, end), parts, bans=modal.endswith("not"), doubtful=True, empty=predicate)


def _clause_end(text: str, at: int) -> int:
    return next((m.start() for m in re.finditer(r"[.;:!?,](?=\s|$)", text[at:])), len(text) - at) + at


def _with_whom(nouns: _Nouns, one: Anew, whom: re.Match[str]) -> Anew | None:
    """A clause on somebody named right before, as a sentence of its own."""
    last = nouns.subject_before(whom.start())
    found = None
    for m in re.finditer(r"\b(?:the|an?|any|each|every|all|by)\s+", nouns.text[last : whom.start()]):
        found = nouns.somebody_at(last + m.end(), whom.start()) or found
    if found is None:
        return None
    at = Span(*whom.span("whom"))
    behind = [p for p in one.parts if p != (_ANYBODY.lower(), p[1])]
    return Anew(Span(whom.start(), one.span.end), ((". The ", at), *found[0], *behind), bans=one.bans)


def _related(nouns: _Nouns) -> Iterator[Anew]:
    """What must follow or precede another act."""
    text = nouns.text
    for m in _RELATES.finditer(text):
        if not m["time"] and patterns.AT_ONCE.search(m[0]):
            continue
        start, stop = nouns.subject_before(m.start()), _clause_end(text, m.end())
        det = _DETERMINER.match(text, start)
        begin = det.start("det") if det else start
        subject = nouns.tokens(begin, m.start())
        if not any(nouns._names_act(t) for t in subject[:5]):
            continue
        noun = nouns.told(m.end(), stop)
        if noun is None:
            continue
        how = Span(*m.span("how"))
        order = "Before " if m["how"].lower() == "preceded" else "After "
        modal = "should" if "should" in m["modal"] or "ought" in m["modal"] else "must"
        parts: list[Part] = [(order, how), Span(begin, m.start()), (", ", how), *_clause(noun, modal, how)]
        if m["time"]:
            length = re.search(PLAIN_DURATION, m["time"], re.IGNORECASE)
            if length is None:
                continue
            at = Span(m.start("time") + length.start(), m.start("time") + length.end())
            parts += [(" within ", at), at]
        yield Anew(Span(begin, stop), tuple(parts), doubtful=not m["time"], relates=True)


def _without(nouns: _Nouns) -> Iterator[Anew]:
    """What is banned without something else, which is told behind it."""
    text = nouns.text
    for m in _WITHOUT.finditer(text):
        if not _BANS.search(text, *m.span("rest")) or not nouns.is_done(*m.span("first")):
            continue
        start, stop = m.span("rest")
        rest: tuple[Part, ...] = (Span(start, stop),)
        predicate = _PREDICATE.search(text, start, stop)
        if (
            predicate
            and (one := _of_noun(nouns, predicate, start))
            and text[start : one.span.start].strip() == ""
        ):
            rest = (*one.parts, Span(one.span.end, stop))
        opens = Span(*m.span("opens"))
        yield Anew(
            Span(m.start("opens"), stop), (*rest, (" without ", opens), Span(*m.span("first"))), bans=True
        )


def _said_late(text: str) -> Iterator[Anew]:
    """What was not yet done, and circumstances that change nothing, where the word for that stands behind them."""
    for m in _YET.finditer(text):
        at = Span(*m.span())
        yield Anew(at, ((f"{m['have']} not yet been", at),))
    for m in _NOTWITHSTANDING.finditer(text):
        at, what = Span(*m.span("with")), Span(*m.span("what"))
        yield Anew(Span(what.start, at.end), (("despite ", at), what))


def _only_if(nouns: _Nouns) -> Iterator[Anew]:
    """What is allowed only if another act was done, told before it."""
    text = nouns.text
    for m in _ONLY_IF.finditer(text):
        by = nouns.somebody_at(m.end(), _clause_end(text, m.end())) if m["to"] else None
        if by and (who := _WHO.match(text, by[1])):
            by = ((*by[0], Span(*who.span())), who.end())
        noun = nouns.told(*m.span("then"), by)
        may, only = Span(*m.span("may")), Span(*m.span("only"))
        first = Span(*m.span("first"))
        then = _AND_THEN.search(text, *first)
        if then:
            first = Span(first.start, then.start())
        end = by[1] if by else m.end("may")
        if beforehand := _BEFOREHAND.search(text, *first):
            first = Span(first.start, beforehand.start())
        parts = list[Part]()
        if noun is not None:
            parts = [*_clause(noun, "may", may), (f" {text[only.start : only.end].lower()} ", only), first]
        after = nouns.told(*then.span("then")) if then else None
        if then and after is not None:
            time = Span(*then.span("time"))
            if by and noun is None and not after.who:
                after = after._replace(who=by[0])
            parts += [
                (". After " if parts else "After ", only),
                first,
                (", ", only),
                *_clause(after, "must", only),
                time,
            ]
        if not parts:
            continue
        yield Anew(Span(m.start("only"), end), tuple(parts))
