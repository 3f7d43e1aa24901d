"""Plain spoken ways to say a rule, told in the words of rules: "there are ten minutes, no more, in which they must …", "has two
ways to go: … or …", "the gate is where a courier delivers", "what a nurse must do is …".

What says nothing by itself is set aside. The rest is told anew; what is read goes back to where it was said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.anew import Anew, Part, Piece, apart, composed, moved, retold, tells_act
from gnrs_ppl.reading.asides import said_beside
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.meanwhile import apart_in_time
from gnrs_ppl.reading.quantities import ANY_UNIT, NUMBER, PLAIN_DURATION, durations
from gnrs_ppl.reading.roundabout import roundabout, without_having
from gnrs_ppl.reading.tallies import and_no_more, latest, tallies, with_its_own
from gnrs_ppl.reading.types import Span
from gnrs_ppl.reading.vocabulary import ENOUGH, Vocabulary, tokens_of
from gnrs_ppl.reading.wording import Wording
from gnrs_ppl.reading.words import lemmas

_UNIT = r"(?:second|minute|hour|day|week|fortnight|month|year)"
_BINDS = Wording(rf"\b(?:{MODAL})\b")
_FROM = r"(?:after|from|following|of)\b"

# limits of time
_NO_MORE_THAN = Wording(
    rf"\b(?:(?:no|not|never|nothing) (?:(?:an?|one|even an?|a single) {_UNIT} )?(?:more|longer|later) than|at (?:the )?most|in no more than|in at most)\s+"
    rf"(?P<time>{PLAIN_DURATION})(?P<later>,? later(?: on)?\b|(?=\s+{_FROM} (?:that|this|then|which)\b))"
)
"""A time that is not to be exceeded, with what it runs from: no more than an hour later."""
_NOT_A_UNIT_MORE = Wording(
    rf"\b(?:no|not|never) (?:an?|one|even an?|a single) (?P<unit>{_UNIT}) (?:more|longer|later) than\s+"
    rf"(?P<number>{NUMBER})(?!\s*{_UNIT})(?P<units>\b)(?:,? later\b)?"
)
"""The same, of a number of the unit that is told before it: not a minute more than ten."""
_AND_NO_MORE = (
    rf"(?:\s*[,–—-]?\s*(?:and |but )?(?:no|not|never|nothing) (?:(?:an?|one|even an?|a single)(?: single)?(?: {_UNIT})? )?(?:more|longer|over)(?=\s*[,;.–—]|\s+(?:to|in|within|for|from|after)\b)(?:\s*,)?|"
    r"\s*,?\s*or (?:less|fewer|under|sooner)\b|\s*,?\s*(?:tops|max(?:imum)?\b\.?(?!\s+of)))"
)
_IN_AT_MOST = Wording(
    rf"(?P<before>\b(?:in|inside(?: of)?|in under|in less than|under|for)\s+)?(?P<time>{PLAIN_DURATION})(?P<spare>{_AND_NO_MORE})(?=(?P<to>\s*(?:to|in which|within which|for)\b)?)"
)
"""A time with words behind it that say that it is the longest: two hours and no more, half an hour or less."""
_INSIDE = Wording(rf"\b(?:inside of|in under|in less than)\s+(?={PLAIN_DURATION})")
_HAS = Wording(
    r"\b(?:ha(?:s|ve|d)|gets?|got|given|allowed|granted|there (?:is|are)|with)\s+(?:only |just |exactly )?$"
)
"""Before a time that somebody has for something."""
_FROM_THAT = Wording(
    rf"(?:(?<=[.;!?])\s+|^\s*)(?P<time>(?:(?:no|not) (?:more|later|longer) than\s+|at (?:the )?(?:most|latest),?\s+|within\s+)?{PLAIN_DURATION}\s+"
    r"(?:(?:after|from|of) (?:that|this|then|it|which)|later|afterwards?|thereafter)(?P<limit>,?\s+at (?:the )?(?:very )?(?:latest|most|outside))?)\s*,?\s+"
    r"(?P<rest>[^.;!?]+)"
)
"""At the beginning of a sentence, by when it is due after what was told before."""
_NEXT_MAIN = Wording(
    rf",?\s+(?:and|but)\s+(?=(?:[\w'’-]+\s+){{1,8}}?(?:(?:is|are)\s+(?:\w+ly\s+)?(?:forbidden|prohibited|banned|barred|off[- ]limits|not allowed|not permitted)|{MODAL})\b|"
    r"(?:nobody|no one|none|nothing|no \w+)\b)"
)
"""Before a main clause that bans or binds by words of its own."""
_STATE = Wording(
    r"\b(?:(?P<have>ha(?:s|ve)|['’]s)(?!\s+to\b)|(?P<be>is|are))\s+(?=(?:\w+ly |been |then |already |all )*\w+)"
)

# alternatives behind a colon
_MANY = r"(?:two|three|four|five|several|\d)"
_CHOICE = rf"(?:an?(?: simple| clear)? (?:choice|alternative)|(?:exactly |just |only )?{_MANY} (?:\w+ )?(?:ways?|options|choices|possibilities|alternatives|courses|routes|roads|things))\b"
_TO_CHOOSE = Wording(
    rf"\b(?:(?P<has>(?:ha(?:s|ve)|gets?|faces?|(?:is|are) left with|(?:is|are) given)\s+{_CHOICE}(?P<more>[^.;:!?]{{0,50}}))|"
    rf"(?P<one>(?P<modal>{MODAL}|can|may)\s+(?:do|choose|pick|take)\s+(?:exactly )?one of (?:the |these )?(?:following )?(?:{_MANY} )?(?:things|ways|steps|options|courses)?(?: only)?))"
    r"\s*(?::|[–—]|(?<=\w),(?=\s*(?:either|to)\b))\s*(?P<either>either\s+)?(?P<to>to\s+)?(?P<ways>(?=[^.;!?]*\bor\b)[^.;!?]+)"
)
"""Before the ways of which somebody has to choose one."""
_WAY = Wording(r"(?:(?!,?\s+or\b).)+")
"""One of the ways that "or" joins."""
_OR_TO = Wording(r"\bor\s+(?:else\s+)?(?P<to>to\s+)")
_ONE_MUST = Wording(
    rf"\s*[,;–—-]?\s*\b(?:but|and|though|yet)\s+(?:at least |exactly )?(?:one(?: or the other)?|either(?: one)?)(?:\s+of\s+(?:them|the (?:two|three)|these|those))?\s+(?:{MODAL})\s+(?:be\s+)?"
    r"(?:done|chosen|taken|picked|happen|made|carried out)\b"
)

# a place or a doer told first
_SUBJECT = r"(?:(?:an?|the|any|every|each|all|our|no)\s+)?[\w'’-]+(?:\s+[\w'’-]+){0,3}?"
_WHERE = Wording(
    r"(?:(?<=[.;!?,:])\s+|^\s*|\s+(?:and|but)\s+)(?P<place>(?:the|an?|our|this|that|every|each)\s+[\w'’-]+(?:\s+(?!is\b|are\b|and\b)[\w'’-]+){0,4})\s+"
    r"(?P<is>(?:is|are)\s+(?P<not>not\s+|never\s+)?(?:also\s+)?(?:the (?:only )?(?:place|spot|room|point)\s+)?where)\s+(?P<rest>[^.;!?:]+)"
)
"""A place, and what is done there: the gate is where couriers deliver."""
_AND_IT_IS = Wording(r",?\s+and\s+(?:it|this|that)\s+(?:is|['’]s)\s+(?:also\s+)?(?:the place\s+)?where\s+")
_SOMETHING = Wording(
    r"(?:(?<=[.;!?:])\s+|^\s*)(?P<doing>[a-z-]+ing\b[^.;!?,]*?),?\s+(?P<is>(?:is|are)\s+(?P<not>not\s+|never\s+)?(?:something|an? (?:job|task|thing)|work)\s+(?:(?:that|which)\s+)?)"
    rf"(?P<who>(?!to\b|for\b){_SUBJECT})\s+(?P<how>(?:always\s+|only\s+)?(?P<never>never\s+)?(?:{MODAL}\s+(?:always\s+)?)?(?:do|does|don['’]t do|doesn['’]t do|do not do|does not do))\b(?P<rest>[^.;!?]*)"
)
"""A doing, and who does it: stamping the card is something librarians do."""
_FEW = Wording(r"(?:only|just)\s+")
"""Before those who alone may do something, of whom it is not asked."""
_NOBODY = Wording(r"(?:nobody|no one|no-one|none)\b")
_IT_IS_WHO = Wording(
    rf"(?P<it>(?:,?\s+and\s+)?\bit(?:\s+is|['’]s)\s+)(?P<who>(?:up to )?(?:the|an?|our)\s+[\w'’-]+(?:\s+[\w'’-]+){{0,3}}?)\s+(?P<rel>who|that)\s+(?=(?:{MODAL})\b)"
)
_WHAT_IS = Wording(
    rf"(?:(?<=[.;!?:,])\s+|^\s*)(?P<what>what\s+)(?P<who>(?!(?:must|may|can|should|shall|has|have|is|are)\b){_SUBJECT})\s+(?P<modal>{MODAL})\s+(?P<do>do\b)"
    r"(?P<between>[^.;!?]*?),?\s+(?P<is>is\s+(?:to\s+)?)(?P<rest>[a-z][^.;!?]*)"
)
"""What somebody must do, and what that is."""
_THERE_IS = Wording(
    r"\b(?P<opens>unless|until|if|when|where|as long as|so long as|while)\s+there\s+(?P<is>(?:is|are|has been|have been)\s+(?P<no>no\s+|not\s+(?:yet\s+)?(?:an?\s+|any\s+)?)?(?:an?\s+|some\s+|any\s+)?)"
    r"(?P<done>[a-z]+(?:ed|en|nt|id))\s+(?P<thing>[a-z][\w-]*)(?=\s+(?:for|of|on|in|to)\b|\s*,)"
)
"""A condition that something done to a thing is there: unless there is a published task."""
_ONLY_AFTER = Wording(
    r"(?:(?<=[.;!?])\s+|^\s*)(?P<only>only|not|never)\s+(?P<opens>after|once|when|if|as soon as|before|until)\s+(?P<first>[^.;:!?]+?),?\s+"
    r"(?P<modal>may|can|must|shall|should|might|could)\s+(?P<rest>[^.;:!?,]+)"
)
"""What has to come first told first, and the rest turned round: only after the notification may a penalty be added."""
_OBJECT_OF = Wording(
    r"(?:(?<=[.;!?])\s+|^\s*)(?P<asked>[^.;:!?,]*?)\s+(?P<each>every|each|any|all|all the|whatever)\s+(?P<thing>[a-z'’-]+(?:\s+[a-z'’-]+)?)\s+"
    r"(?:(?:that|which)\s+)?(?P<doing>(?:they|we|you|he|she|it|i)\s+(?:(?:have|has|had|just|themselves)\s+){0,2}(?P<verb>[a-z]+))(?=\s*[.;,!?]|\s*$|\s+(?:within|in|no later|at the latest|by|before|to|for|after|the same)\b)"
)
"""What is asked of each thing that somebody did something to: send every fine they issue."""
_PRONOUNS = frozenset(
    {"we", "they", "you", "he", "she", "it", "i", "anybody", "anyone", "somebody", "someone"}
)
_OPENS = Wording(r"\b(?:if|when|whenever|once|after|before|until|unless|where|provided|because|without)\b")
_ANY = Wording(
    r"(?:(?<=[.;!?])\s+|^\s*)(?P<any>any)\s+(?=[\w'’-]+(?:\s+[\w'’-]+)?\s+(?:who|that|[a-z]+ing)\b(?P<rest>[^.;!?]*))"
)

_NOT_DONE_YET = Wording(
    r"\b(?P<as>(?:as|so) long as)\s+(?!(?:that|this|it)\b)(?P<state>[^.;:!?,]*?(?:n['’]t|\bnot|\bnever)\b[^.;:!?,]*),"
)
"""What bars something while it has not come about."""


_SHORT = 12
"""No more letters than this say nothing that is told as set aside."""
_MARKS = Wording(
    r"more than|ends? up|fewer than|less than|number of|no (?:second|third|fourth|fifth)|exceed|latest|next |following |tomorrow|immediately|at once|promptly|delay|directly|longer than|later than|no more|not more|one more|no longer|or less|or fewer|or under|or sooner|tops|\bmax|inside|in under|in less|at most|at the (?:most|latest|outside)|after that|later|afterward|"
    r"thereafter|: |\b(?:only|not|never) (?:after|once|when|if|as soon as|before|until)\b|(?:every|each|any|all) .* (?:they|we|you|he|she|it|i) |[–—]|one of |where|something|an? (?:job|task|thing)|what |\bit is |\bit['’]s |there (?:is|are|ha)|\bany |count\b|excuse|reason|justification|ground|against|blame|"
    r"complain|mind|long as|twice|thrice|once|again|repeatedly|often|times|occasions|used to|ha(?:s|ve|d) "
)
"""One of these stands in all that is told anew here, and is found sooner."""


Way = Callable[[str, Vocabulary], Iterable[Anew]]
"""Finds the passages that say something in one way, and tells them anew."""


class Told(NamedTuple):
    """A text in the words of rules, and what of it says nothing."""

    piece: Piece | None
    aside: tuple[Span, ...]
    missed: tuple[Span, ...] = ()
    """Ways to keep a rule, and limits of who may, that no act and no rule of the language shows."""


def told_plainly(text: str, words: Vocabulary) -> Told | None:
    """The text with the words of rules in place of spoken ways to say them; None where it has none."""
    told = _told_by((roundabout, apart_in_time, _by_itself, without_having), Told(None, (), ()), text, words)
    if _MARKS.search(told.piece.text if told.piece else text):
        told = _told_by(_WAYS, told, text, words)
    return told if told.piece else None


def _told_by(ways: Sequence[Way], told: Told, text: str, words: Vocabulary) -> Told:
    """The text in the words of rules so far, with what some more ways to say them are told anew as."""
    aside, missed, piece = list(told.aside), list(told.missed), told.piece
    for way in ways:
        now = piece.text if piece else text
        found = apart(way(now, words))
        if not found:
            continue
        for one in found:
            if not one.parts and way in (said_beside, _clefts) and one.span.end - one.span.start > _SHORT:
                aside.append(_stripped(now, one.span))
            missed += [moved(span, piece) if piece else span for span in one.missed]
        new = retold(now, found)
        piece = new if piece is None else composed(piece, new)
    return Told(piece, tuple(aside), tuple(missed))


def _stripped(text: str, span: Span) -> Span:
    words = text[span.start : span.end]
    return Span(
        span.start + len(words) - len(words.lstrip(" ,;\n")), span.end - len(words) + len(words.rstrip())
    )


def _binds(text: str) -> bool:
    """Whether words bind, forbid or allow."""
    return any(p.search(text) for p in (patterns.DUTY, patterns.NEGATIVE, patterns.PERMISSION))


# a place, a doer or a deed told first


def _clefts(text: str, words: Vocabulary) -> Iterator[Anew]:
    small = text.lower()
    if "where" in small:
        yield from _places(text, words)
    if "something" in small or " job " in small or " task " in small or " thing " in small:
        for m in _SOMETHING.finditer(text):
            yield _done_by(m)
    if "it is " in small or "it's " in small or "it’s " in small:
        for m in _IT_IS_WHO.finditer(text):
            it = Span(*m.span("it"))
            yield Anew(it, ((". ", it),) if re.search(r"\band\b", m["it"]) else ())
            yield Anew(Span(*m.span("rel")), ())
    if "what " in small:
        for m in _WHAT_IS.finditer(text):
            yield from _what_is(text, m, words)
    if "there " in small:
        for m in _THERE_IS.finditer(text):
            if tells_act(text, Span(m.start("done"), m.end("thing")), words):
                place = Span(*m.span("done"))
                verb = "was not" if m["no"] else "was"
                yield Anew(
                    Span(m.end("opens"), m.end("thing")),
                    ((" a ", Span(*m.span("is"))), Span(*m.span("thing")), (f" {verb} ", place), place),
                )
    if "long as" in small:
        for m in _NOT_DONE_YET.finditer(text):
            if not tells_act(text, Span(*m.span("state")), words):
                yield Anew(Span(*m.span("as")), (("If", Span(*m.span("as"))),))
    if "any " in small:
        for m in _ANY.finditer(text):
            if not _binds(re.split(r",?\s+(?:and|but)\s", m["rest"])[0]):
                yield Anew(Span(*m.span("any")), (("Every", Span(*m.span("any"))),))


def _places(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What is done at a place, with the place before it."""
    for m in _WHERE.finditer(text):
        place, rest = Span(*m.span("place")), Span(*m.span("rest"))
        tokens = words.tokens_of(m["place"])
        if not words.name_in("locations", tokens, range(len(tokens))):
            continue
        joint = _AND_IT_IS.search(text, *rest)
        end = joint.start() if joint else rest.end
        told = " it is forbidden that " if m["not"] else " "
        parts: list[Part] = [("At ", place), place, (told, Span(*m.span("is"))), Span(rest.start, end)]
        if joint:
            parts += [
                (". At ", Span(*joint.span())),
                place,
                (" ", Span(*joint.span())),
                Span(joint.end(), rest.end),
            ]
        yield Anew(Span(place.start, rest.end), tuple(parts))


def _done_by(m: re.Match[str]) -> Anew:
    """A doing that somebody does or never does, as what must or must not be done; that somebody may do it asks nothing,
    and that they alone do it is not read.
    """
    how, who = m["how"], Span(*m.span("who"))
    whole = Span(m.start("doing"), m.end())
    if _FEW.match(m["who"]):
        return Anew(whole, ((" ", whole),), (whole,))
    nobody = _NOBODY.fullmatch(m["who"])
    denied = m["not"] or m["never"] or nobody or "n't" in how or "n’t" in how or " not" in how
    if patterns.PERMISSION.search(how) and not denied:
        return Anew(whole, ())
    told = " must never be done by " if denied else " must be done by "
    doer: Part = ("anybody", who) if nobody else who
    return Anew(whole, (Span(*m.span("doing")), (told, Span(*m.span("is"))), doer, Span(*m.span("rest"))))


def _what_is(text: str, m: re.Match[str], words: Vocabulary) -> Iterator[Anew]:
    """What somebody must do, told as that they must do it."""
    if not tells_act(text, Span(*m.span("rest")), words):
        return
    between = Span(*m.span("between"))
    parts: list[Part] = []
    if text[between.start : between.end].strip(" ,"):
        first = text[between.start : between.end].strip(" ,")
        at = text.index(first, between.start)
        parts += [Span(at, at + len(first)), (", ", between)]
    parts += [
        Span(*m.span("who")),
        (" ", Span(*m.span("modal"))),
        Span(*m.span("modal")),
        (" ", Span(*m.span("is"))),
        Span(*m.span("rest")),
    ]
    yield Anew(Span(m.start("what"), m.end()), tuple(parts))


# what has to come first told first


def _turned_back(text: str, words: Vocabulary) -> Iterator[Anew]:
    """Sentences that begin with what has to come first, in the usual order of words."""
    for m in _ONLY_AFTER.finditer(text):
        before = m["opens"] in ("before", "until")
        if before == (m["only"] == "only"):
            continue
        rest = Span(*m.span("rest"))
        end = rest.start + _subject_of(text[rest.start : rest.end])
        if end == rest.start:
            continue
        modal, opens = Span(*m.span("modal")), Span(*m.span("opens"))
        only = Span(*m.span("only"))
        parts: list[Part] = [
            (" ", Span(rest.start, rest.start + 1)),
            Span(rest.start, end),
            (" ", modal),
            modal,
        ]
        parts += [(" not", only)] if before else []
        parts += [Span(end, rest.end), (" ", only), *(() if before else (only, (" ", only))), opens]
        parts += [(" ", opens), Span(*m.span("first"))]
        yield Anew(Span(only.start, rest.end), tuple(parts))


def _subject_of(text: str) -> int:
    """Where the subject ends that a sentence turned round begins with; 0 where no verb in its plain form follows."""
    tokens = tokens_of(text)
    passive = next((t for t in tokens[1:7] if t.text == "be"), None)
    if passive is not None:
        return len(text[: passive.start].rstrip())
    first = 1 if tokens and tokens[0].text in _PRONOUNS else 2
    for before, token in zip(tokens[first - 1 : 5], tokens[first:6], strict=False):
        if token.text.isalpha() and token.text in lemmas(token.text, "v"):
            return before.end
    return 0


# the thing that somebody did something to


def _done_to_it(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What is asked of each thing that somebody did something to, as what is asked after that: "send every fine they issue"."""
    for m in _OBJECT_OF.finditer(text):
        doing, asked = Span(*m.span("doing")), Span(*m.span("asked"))
        first = next((w for w in lemmas(m["verb"].lower(), "v")), "")
        if not first or not tells_act(text, asked, words) or _OPENS.search(text, *asked):
            continue
        if not (patterns.DUTY.search(text, *asked) or _imperative(m["asked"])):
            continue
        thing, each = Span(*m.span("thing")), Span(*m.span("each"))
        if not _tells_by(text, (doing, thing), words):
            continue
        parts: list[Part] = [("After ", Span(doing.start, doing.start + 1)), doing, (" the ", each), thing]
        parts += [(", ", Span(thing.end, thing.end + 1)), asked, (" the ", each), thing]
        yield Anew(Span(asked.start, doing.end), tuple(parts))


def _imperative(text: str) -> bool:
    """Whether a sentence begins with a verb in its plain form."""
    first = re.match(r"\s*(?:please,?\s+|always\s+)?([a-z]+)", text, re.IGNORECASE)
    return first is not None and first[1].lower() in lemmas(first[1].lower(), "v")


def _tells_by(text: str, spans: tuple[Span, Span], words: Vocabulary) -> bool:
    """Whether a verb with its thing tells an act by its verb."""
    tokens = tokens_of(" ".join(text[s.start : s.end] for s in spans))
    verbs = len(tokens_of(text[spans[0].start : spans[0].end]))
    found = words.match_acts(tokens, range(len(tokens)))[:1]
    return any(m.score >= ENOUGH and m.head and m.positions[0] < verbs for m in found)


# ways of which one is due


def _choices(text: str, words: Vocabulary) -> Iterator[Anew]:
    small = text.lower()
    if " or " not in small:
        return
    for m in _TO_CHOOSE.finditer(text):
        ways = Span(*m.span("ways"))
        each = [
            Span(m.start("ways") + w.start(), m.start("ways") + w.end()) for w in _WAY.finditer(m["ways"])
        ]
        said = _ONE_MUST.search(text, m.start(), len(text))
        if not tells_act(text, ways, words):
            continue
        free = m["one"] and re.fullmatch(r"can|may|could|might", m["modal"], re.IGNORECASE)
        if free and not (said and said.start() <= ways.end):
            continue
        opening = Span(m.start(), ways.start)
        parts: list[Part] = [("must either ", opening)]
        at, end = ways.start, ways.end
        if said and said.start() < end:
            end = said.start()
        for joint in _OR_TO.finditer(text, at, end):
            parts.append(Span(at, joint.start("to")))
            at = joint.end("to")
        parts.append(Span(at, end))
        untold = tuple(way for way in each if way.start < end and not tells_act(text, way, words))
        stop = max(ways.end, said.end() if said and said.start() <= ways.end else 0)
        yield Anew(Span(m.start(), stop), tuple(parts), untold)


# times


def _times_from(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What is due so long after what was told before, with the words for that where rules have them."""
    if not durations(text):
        return
    for m in _FROM_THAT.finditer(text):
        limits = m["limit"] or re.match(r"no|at|within", m["time"], re.IGNORECASE)
        if not limits or not text[: m.start()].strip():
            continue
        time, rest = Span(*m.span("time")), Span(*m.span("rest"))
        joint = _NEXT_MAIN.search(text, *rest)
        own = Span(rest.start, joint.start() if joint else rest.end)
        parts: list[Part] = [("After that, ", time), *_made_due(text, own)]
        length = durations(m["time"])[0]
        at = Span(time.start + length.start, time.start + length.end)
        parts += [(" within ", at), at]
        if joint:
            parts += [(". ", Span(*joint.span())), Span(joint.end(), rest.end)]
        yield Anew(Span(time.start, rest.end), tuple(parts))


def _made_due(text: str, own: Span) -> list[Part]:
    """Words that tell what is the case by then, as what must be."""
    said = text[own.start : own.end]
    state = None if _binds(said) else _STATE.search(text, *own)
    if state is None:
        return [own]
    verb = Span(*state.span())
    return [
        Span(own.start, verb.start),
        ("must have " if state["have"] else "must be ", verb),
        Span(verb.end, own.end),
    ]


def _and_no_more(text: str, words: Vocabulary) -> Iterator[Anew]:
    """How many there may be of what the rest of a sentence is about."""
    return and_no_more(text, lambda span: tells_act(text, span, words))


def _counted(text: str, words: Vocabulary) -> Iterator[Anew]:
    """How many there may be, and by when at the latest."""
    yield from tallies(text, lambda span: tells_act(text, span, words))
    yield from latest(text)


def _by_itself(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What a heading or a list says shortly."""
    return with_its_own(text, lambda span: tells_act(text, span, words))


def _limits(text: str, words: Vocabulary) -> Iterator[Anew]:
    """Times that words beside them make limits, as times within which something is due."""
    if not ANY_UNIT.search(text):
        return
    small = text.lower()
    if "than" in small:
        for m in _NOT_A_UNIT_MORE.finditer(text):
            span = Span(*m.span())
            plural = "" if m["number"] in ("a", "an", "one", "1") else "s"
            opens = "" if _HAS.search(text[: m.start()]) else "within "
            yield Anew(
                span,
                ((opens, span), Span(*m.span("number")), (f" {m['unit']}{plural}", Span(*m.span("unit")))),
            )
    if "than" in small or "at most" in small or "at the most" in small:
        for m in _NO_MORE_THAN.finditer(text):
            before = re.search(r"(?:\bin|\bwithin)\s+$", text[: m.start()], re.IGNORECASE)
            than = Span(before.start() if before else m.start(), m.start("time"))
            yield Anew(Span(than.start, m.end()), (("within ", than), Span(*m.span("time"))))
    if "inside" in small or "in under" in small or "in less" in small:
        for m in _INSIDE.finditer(text):
            yield Anew(Span(*m.span()), (("within ", Span(*m.span())),))
    if any(
        word in small
        for word in ("more", "longer", "less", "fewer", "under", "sooner", "tops", "max", "over")
    ):
        for m in _IN_AT_MOST.finditer(text):
            yield from _in_at_most(text, m)


def _in_at_most(text: str, m: re.Match[str]) -> Iterator[Anew]:
    time, spare = Span(*m.span("time")), Span(*m.span("spare"))
    before = text[: m.start()]
    has = _HAS.search(before) or m["to"]
    if (
        re.search(r"\b(?:after|than|every|at least|per|within|last)\s+$", before, re.IGNORECASE)
        and not m["before"]
    ):
        if re.search(r"\bwithin\s+$", before, re.IGNORECASE):
            yield Anew(spare, ((" ", spare),))
        return
    opens: tuple[Part, ...] = (
        () if has and not m["before"] else (("within ", Span(m.start(), max(time.start, m.start() + 1))),)
    )
    if m["before"] == "for ":
        return
    yield Anew(Span(m.start(), spare.end), (*opens, time))


_WAYS: tuple[Way, ...] = (
    said_beside,
    _turned_back,
    _done_to_it,
    _clefts,
    _choices,
    _times_from,
    _limits,
    _and_no_more,
    _counted,
)
