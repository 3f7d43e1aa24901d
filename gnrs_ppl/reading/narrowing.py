"""Words that narrow what a sentence is about and that no part of its readings took: "pregnant patients", "orders from
abroad", "in the children's ward". A rule without them would bind in cases of which the sentence says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise, product

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.clauses import MODAL, SENTENCE_END, Clause, clauses
from gnrs_ppl.reading.constructions import functional
from gnrs_ppl.reading.manner import manner_of
from gnrs_ppl.reading.types import Reading, Readings, Span
from gnrs_ppl.reading.vocabulary import ENOUGH, STOP, Token, Vocabulary, tokens_of
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.reading.words import lemmas
from gnrs_ppl.words import PARTICLES


def _words(listed: str) -> frozenset[str]:
    return frozenset(re.findall(r"\S+", listed))


_BEFORE_A_THING = frozenset(
    {
        "",
        "a",
        "an",
        "the",
        "any",
        "each",
        "every",
        "all",
        "no",
        "of",
        "for",
        "to",
        "from",
        "with",
        "by",
        "in",
        "on",
    }
    | {"at", "and", "or", "that", "whenever", "when", "if", "once", "after", "before", ",", ":", "–"}
)
"""What may stand before a thing with a word on it; an empty one is the beginning of a sentence."""
_NARROWS_NOTHING = _words(
    """
    new incoming received individual single whole entire complete full relevant respective corresponding competent
    responsible assigned said given particular certain specific actual original own other another next last first second
    third final resulting pending current present ongoing concerned affected related same very dear poor proper due
    duly further additional subsequent following previous preceding prior earlier later initial such whichever mere
    simple normal usual regular ordinary valid necessary required requested underlying remaining overall general
    aforementioned abovementioned applicable named mentioned identical different separate two three four five six
    seven eight nine ten both either several many few most some member members staff colleague colleagues
    """
)
_NOBODY_IN_PARTICULAR = _words(
    """
    i we us me you someone somebody anyone anybody everyone everybody nobody people person persons whoever whatever
    something anything everything nothing our my your their his her its hi hello hey dear thanks please
    """
)
_OF_A_THING = AsWritten(
    r"\s+(?:(?:from|of|for|about|concerning|regarding|involving|with|without)\b|"
    r"(?:who|that|which|whose)\b(?! (?:may|must|shall|can)\b)(?:\s+(?:is|are|was|were|has|have|had|been|being|not|never)\b)*|(?=\w+(?:ed|en|wn)\b))",
)
"""Opens what narrows the thing named before it."""
_WHO_ACTS = AsWritten(
    r"\s+who (?:is|are) (?:(?:in charge|on duty|responsible|competent|concerned|available)\b)"
)
"""Says only that somebody is the one to act."""
_ENDS = AsWritten(
    rf"[,;:.()–]|\b(?:{MODAL}|is|are|has|have|was|were|unless|after|before|within|until|once|when|if)\b",
)
_WHO = ("who", "whose")
"""Behind people, open which of them are meant."""
_STATES_IF = ("unless", "provided", "only_after", "until")
"""Clauses that say in which case something binds, whatever they tell."""
_AS_NEEDED = AsWritten(
    r"\b(?:if|where|when|as|whenever|wherever) (?:necessary|needed|required|appropriate|applicable|possible|desired|relevant)\b",
)
"""Leaves to whoever acts whether a thing is asked."""
_EXCEPTED = AsWritten(r"[^,.;]*\b(?:excepted|exempt(?:ed)?|excluded)\b")
"""Tells behind them those that a rule does not hold for."""
_OTHERWISE = AsWritten(r"\W*(?:and |or )?(?:otherwise|else|failing|if not|or)\b(?:\W+\w+){2}")
"""Begins another way to keep a rule, or what follows where it is not kept."""
_BOTH = AsWritten(r"\bboth (?:(?:an?|the) )?(?P<one>[\w-]+) and\b")
"""The first of two things that are asked for together."""
_OF_SO_MANY = AsWritten(
    r"\b(?:from|by|to|for|with|of|at|in) (?:at least|at most|exactly|no more than|no fewer than) \w+ (?P<what>[a-z]+)",
)
"""A number of things, and not of times."""
_COUNTS = frozenset({"number", "count", "total"})
"""What a text says of something by counting it."""
_HOW_OFTEN = ("twice", "thrice", "times")
_STATES_WHEN = ("without", "before", "after")
"""Clauses that say after or before what something binds, where they tell an act."""
_JOINTS, _BEFORE_A_VERB = (
    ("and", "or", "nor"),
    ("to", "be", "been", "either", "must", "then", "also", "is", "are"),
)
_BINDS = AsWritten(MODAL)
_SAME_GOES = AsWritten(
    r"\b(?:the same|likewise|this|that) (?:also |equally )?(?:applies|goes|holds) (?:for|to|of)\b",
)
"""Begins a rule that takes up the one before."""
_THING_FOR = AsWritten(
    r"\s*(?:(?:the|an?|any|every|each|all|no|at least|at most)\s+)*(?P<head>\w+)\s+(?:for|of|on|about|concerning|regarding)\b"
    rf"[^.;:]*?\b(?:(?:{MODAL})(?: not| only)? be|are|is|go(?:es)?)\b",
)
"""Begins a clause with a thing and what it is for or of, to which something is done."""
_FRONTED = AsWritten(
    r"\s*(?:during|for|in|inside|outside|at|on|near|among|amongst|throughout)\s+(?P<words>[^,.;:]{3,60}),",
)
"""Begins a sentence with when or where it holds."""
_ABOUT = AsWritten(r"\s*(?:for|with|in|of|on|in the case of)\s+(?:(?:an?|the|all|any|every|each|those)\s+)?")
"""Begins a sentence with those it is about: for applications that …,"""
_IN_GENERAL = AsWritten(
    r"\b(?:our|my|this|these|which|that|order|principle|view|rule|law|policy|general|fact|addition|doubt|opinion|practice|"
    r"case|cases|event|events|light|short|future|turn|line|accordance|compliance|keeping|interests?|contrast|time|times|"
    r"return|file|files|record|records|log|past|week|month|year|end|meantime|any|every|all|other|hand|behalf|whole|paragraph|section|article|clause|particular|words|request|summary|reasons?|sake|instance|example|purposes?|information|safety|benefit|everyone)\b",
)
"""What such words say where they narrow nothing."""


def narrowed_by(readings: Readings, words: Vocabulary, rule: Sequence[int]) -> str:
    """The first words that narrow what some statements are about and that no part of their readings took.

    Parameters
    ----------
    readings : Readings
    words : Vocabulary
        Of the schema.
    rule : sequence of int
        The statements, by number.

    Returns
    -------
    str
        Empty where there are none.
    """
    sentences = _sentences(readings.sentence)
    for number in rule:
        if readings.statements[number].best.force == "may":
            continue  # what is left free binds nobody
        place = readings.statements[number].best.targets[0].span.start
        start, end = next((s for s in sentences if s[0] <= place < s[1]), sentences[-1])
        narrows = (
            *_narrowing(readings, words, start, end),
            *_how(readings, words, readings.statements[number].best),
        )
        found = min(narrows, key=lambda s: s.start, default=None)
        if found is not None:
            return readings.words(found).strip()
    return ""


def lost_clause(readings: Readings, words: Vocabulary, rule: Sequence[int]) -> str:
    """The first clause beside what some statements bind to of which no part of their readings took a word: "unless it was
    waived". Without it a rule would say something else.

    Parameters
    ----------
    readings, words, rule
        As for :func:`narrowed_by`.

    Returns
    -------
    str
        Empty where there is none.
    """
    text, tokens = readings.sentence, tokens_of(readings.sentence)
    stated = [readings.statements[n].best for n in rule]
    places = [reading.targets[0].span.start for reading in stated]
    known = {w for action in words.actions for w in words.words_of(action)}
    between = set(_within_acts(readings, words, tokens, known))
    acts = {name for reading in stated for name in reading.activities}
    acts |= {act.activity for reading in stated for act in (reading.after, reading.exception) if act}
    for start, end in _sentences(text):
        at = [i for i, t in enumerate(tokens) if start <= t.start < end]
        lost = {i for u in readings.unread for i in at if u.span.start <= tokens[i].start < u.span.end}
        lost = {i for i in lost if tokens[i].text not in ("least", "most")}
        if not any(start <= place < end for place in places):
            goes_on = patterns.TAKES_LONGER.search(text, start, end) or _SAME_GOES.search(text, start, end)
            if goes_on and _all_lost(tokens, Span(start, end), lost):
                return text[start:end].strip(" ,.;")
            continue
        named = [span for _, (_, span, _) in words.name_in("roles", tokens, at)]
        counted = any(reading.count > 1 or reading.template in ("absence", "exactly") for reading in stated)
        waits = patterns.WHILE_PENDING.search(text, start, end)
        if waits and any(tokens[i].start == waits.start("state") for i in lost | between):
            return waits[0]
        if beside := _told_beside(readings, tokens, Span(start, end), lost, counted):
            return beside
        for clause in clauses(text, start, end):
            missed = [tokens[i] for i in sorted(lost) if clause.start <= tokens[i].start < clause.end]
            often = next((t.text for t in missed if t.text in _HOW_OFTEN), "")
            if often and not counted and any(clause.start <= place < clause.end for place in places):
                return often
            people = patterns.SEVERAL_PEOPLE.search(text, clause.start, clause.end)
            several = people or _several_of_a_role(text, clause, named)
            each = several and patterns.DUTY.match(text, several.end() + 1)
            if clause.kind == "main" and several and any(_one_act_in(clause, r, bool(each)) for r in stated):
                return several[0]
            inside = [i for i in at if clause.start <= tokens[i].start < clause.end]
            mine = {w for act in acts for w in words.words_of(act)}
            other = _of_another_thing(
                text, tokens, clause, [i for i in lost | between if mine.isdisjoint(_forms(tokens[i].text))]
            )
            if other and any(clause.start <= place < clause.end for place in places):
                return other
            added = _joined_on(text, tokens, (lost | between) & set(inside))
            if added and (clause.kind == "after" or any(clause.start <= p < clause.end for p in places)):
                return added
            told = [m.name for m in words.match_acts(tokens, inside) if m.score >= ENOUGH][:1]
            states = clause.kind in _STATES_IF or (clause.kind in _STATES_WHEN and told)
            if states and acts.isdisjoint(told) and _all_lost(tokens, clause, lost, named):
                return text[clause.opened : clause.end].strip(" ,.;")
    return ""


def _told_beside(
    readings: Readings, tokens: Sequence[Token], within: Span, lost: Collection[int], counted: bool
) -> str:
    """What leaves a duty open ("if necessary"), those it does not hold for ("rejected ones excepted"), another way to keep
    it ("or the claimant is told why"), or a number of things ("from at least two parties"), in a sentence.
    """
    text = readings.sentence
    if optional := _AS_NEEDED.search(text, within.start, within.end):
        return optional[0]
    spans = (u.span for u in readings.unread if within.start <= u.span.start < within.end)
    if other := next((span for span in spans if _OTHERWISE.match(text, *span)), None):
        return readings.words(other).strip(" ,.;")
    excepted = _EXCEPTED.search(text, within.start, within.end)
    if excepted and any(excepted.start() <= tokens[i].start < excepted.end() for i in lost):
        return excepted[0].strip()
    both = _BOTH.search(text, within.start, within.end)
    if both and any(tokens[i].start == both.start("one") for i in lost) and lemmas(both["one"].lower(), "n"):
        return both["one"]
    things = _OF_SO_MANY.search(text, within.start, within.end)
    if counted and things and any(tokens[i].start == things.start("what") for i in lost):
        return things[0]
    return ""


def _joined_on(text: str, tokens: Sequence[Token], lost: Collection[int]) -> str:
    """The first of some words that "and" or "or" joins to what is asked: "must be *weighed* and shipped"."""
    for i in sorted(lost):
        first, joint = tokens[i - 1].text if i else "", i - 1
        while joint > 0 and tokens[joint].text in _BEFORE_A_VERB:
            joint -= 1
        behind = tokens[i + 1].text if i + 1 < len(tokens) else ""
        joined = tokens[joint].text in _JOINTS or (behind in _JOINTS and first in _BEFORE_A_VERB)
        if joined and lemmas(tokens[i].text, "v") and _BINDS.search(text, 0, tokens[i].start):
            return tokens[i].text
    return ""


def _of_another_thing(text: str, tokens: Sequence[Token], clause: Clause, lost: Collection[int]) -> str:
    """What a clause begins with that no part took, where its act is only of what that is for: "*reminders for* unpaid
    orders".
    """
    opens = _THING_FOR.match(text, clause.start, clause.end) if clause.kind == "main" else None
    if opens is None or opens["head"].lower() in _NARROWS_NOTHING | _NOBODY_IN_PARTICULAR | _COUNTS:
        return ""
    missed = any(tokens[i].start == opens.start("head") for i in lost)
    return opens["head"] if missed and lemmas(opens["head"].lower(), "n") else ""


def _several_of_a_role(text: str, clause: Clause, roles: Sequence[Span]) -> re.Match[str] | None:
    """A number and the role behind it in a clause: "two clerks"."""
    inside = [r for r in roles if clause.start <= r.start < clause.end]
    found = (
        re.compile(rf"\b(?:two|three|four|several) {re.escape(text[r.start : r.end])}s?\b", re.IGNORECASE)
        for r in inside
    )
    return next(filter(None, (p.search(text, clause.start, clause.end) for p in found)), None)


def _one_act_in(clause: Clause, reading: Reading, each: bool) -> bool:
    """Whether a clause tells one act of a reading, and asks it of each of several people or tells persons apart."""
    acts = [a for a in (*reading.targets, reading.activation) if a is not None]
    apart = each or reading.who == "another_person"
    return apart and sum(clause.start <= a.span.start < clause.end for a in acts) == 1


def _sentences(text: str) -> list[tuple[int, int]]:
    ends = [0, *(m.end() for m in SENTENCE_END.finditer(text)), len(text)]
    return [(a, b) for a, b in pairwise(ends) if text[a:b].strip()] or [(0, len(text))]


def _narrowing(readings: Readings, words: Vocabulary, start: int, end: int) -> Iterator[Span]:
    text, tokens = readings.sentence, tokens_of(readings.sentence)
    at = [i for i, t in enumerate(tokens) if start <= t.start < end]
    lost = {i for u in readings.unread for i in at if u.span.start <= tokens[i].start < u.span.end}
    named = [span for kind in ("objects", "roles") for _, (_, span, _) in words.name_in(kind, tokens, at)]
    known = {w for action in words.actions for w in words.words_of(action)}
    lost = {i for i in lost if tokens[i].text not in _NOBODY_IN_PARTICULAR}
    own = {i for i in lost if known.isdisjoint(_forms(tokens[i].text))}
    data = [d.span for s in readings.statements for d in s.best.data]
    own |= set(_within_acts(readings, words, tokens, known))
    own = {
        i
        for i in own
        if tokens[i].text not in _NARROWS_NOTHING
        and not any(d.start <= tokens[i].start < d.end for d in data)
    }
    beside = [
        *(readings.evidence.spans if readings.evidence else ()),
        *(readings.procedure.spans if readings.procedure else ()),
    ]
    for thing in (n for n in named if not any(b.start <= n.start < b.end for b in beside)):
        first = next(i for i in at if tokens[i].start >= thing.start)
        yield from _adjective(text, tokens, first, lost)
        yield from _behind(text, tokens, thing, own, start, end)
    for i in at:  # those of whom the schema knows nothing: "people who smoke"
        if tokens[i].text in _WHO and i - 1 in at and _are_some(tokens, i - 1):
            yield from _behind(text, tokens, Span(tokens[i - 1].start, tokens[i - 1].end), own, start, end)
    for clause in clauses(text, start, end):
        if (
            clause.first
            and patterns.SUPPOSITION.match(clause.opener)
            and _all_lost(tokens, clause, own, named)
        ):
            yield Span(clause.opened, clause.end)
    if fronted := _FRONTED.match(text, start, end):
        place = Span(*fronted.span("words"))
        if _all_lost(tokens, place, lost) and not _IN_GENERAL.search(fronted["words"]):
            yield place


def _how(readings: Readings, words: Vocabulary, reading: Reading) -> Iterator[Span]:
    """What says how the acts of a reading are to be done, in their main clause, and no part took."""
    text, tokens = readings.sentence, tokens_of(readings.sentence)
    lost = {i for u in readings.unread for i, t in enumerate(tokens) if u.span.start <= t.start < u.span.end}
    known = {w for action in words.actions for w in words.words_of(action)}
    lost |= set(_within_acts(readings, words, tokens, known))
    acts = [a.span for a in (*reading.targets, reading.activation) if a is not None]
    for place, (start, end) in product(acts, _sentences(text)):
        for clause in clauses(text, start, end):
            if clause.kind == "main" and clause.start <= place.start < clause.end:
                told = [
                    i for i, t in enumerate(tokens) if place.start <= t.start < place.end and i not in lost
                ]
                how = manner_of(text, tokens, Span(clause.start, clause.end), told, lost)
                asked = any(a.span == place for a in reading.targets)
                yield from (span for span in how if asked or " " not in text[span.start : span.end])


def _adjective(text: str, tokens: Sequence[Token], first: int, lost: Collection[int]) -> Iterator[Span]:
    """The words right before a thing, where they are its own and no part took them."""
    begin = first
    while begin and begin - 1 in lost and tokens[begin - 1].text not in _NARROWS_NOTHING:
        begin -= 1
    before = tokens[begin - 1].text if begin else ""
    opens = before in _BEFORE_A_THING or not before[0].isalpha()
    own = Span(tokens[begin].start, tokens[first - 1].end)
    if begin < first and opens and ((before and text[own.start].isupper()) or _describes(tokens[begin].text)):
        yield own


def _are_some(tokens: Sequence[Token], i: int) -> bool:
    """Whether a word names people, and not one who acts whatever is said of them: the colleague who takes over."""
    text = tokens[i].text
    one = i > 0 and tokens[i - 1].text == "the" and not text.endswith("s")
    some = text in ("people", "persons") or text not in STOP | _NOBODY_IN_PARTICULAR
    return text.isalpha() and some and not one


def _describes(text: str) -> bool:
    """Whether a word says how a thing is, and is no verb or noun of the lexicon: of a traffic fine every fine is one."""
    return text not in (*lemmas(text, "n"), *lemmas(text, "v"))


def _behind(
    text: str, tokens: Sequence[Token], thing: Span, lost: Collection[int], start: int, end: int
) -> Iterator[Span]:
    """What is said of a thing right behind it, where no part took any of its words: before what binds, or before the comma
    of a sentence that begins with those it is about.
    """
    opened = _OF_A_THING.match(text, thing.end, end)
    if opened is None or _WHO_ACTS.match(text, thing.end, end):
        return
    closed = _ENDS.search(text, opened.end(), end)
    span = Span(opened.start(), closed.start() if closed else end)
    binds = closed and _BINDS.match(closed[0]) and not patterns.PERMISSION.match(closed[0])
    fronted = closed and closed[0] == "," and _ABOUT.fullmatch(text, start, thing.start)
    if (binds or fronted) and _all_lost(tokens, span, lost):
        yield span


def _within_acts(
    readings: Readings, words: Vocabulary, tokens: Sequence[Token], known: set[str]
) -> Iterator[int]:
    """Tokens between those that tell an act, which tell nothing of it: "packages *that weigh too much* must be shipped"."""
    acts = [a for s in readings.statements for a in (*s.best.targets, s.best.activation) if a]
    for act in acts:
        at = [i for i, t in enumerate(tokens) if act.span.start <= t.start < act.span.end]
        told = next((m.positions for m in words.match_acts(tokens, at) if m.name == act.activity), at)
        yield from (i for i in at if i not in told and known.isdisjoint(_forms(tokens[i].text)))


def _forms(text: str) -> set[str]:
    return {text, *lemmas(text, "n"), *lemmas(text, "v")}


def _all_lost(
    tokens: Sequence[Token], span: Span | Clause, lost: Collection[int], named: Sequence[Span] = ()
) -> bool:
    """Whether a stretch has words with content, beside names, and no part took any of them."""
    inside = [
        i
        for i, t in enumerate(tokens)
        if span.start <= t.start < span.end
        and t.text[0].isalpha()
        and t.text not in STOP | PARTICLES
        and not functional(t.text)
        and not any(n.start <= t.start < n.end for n in named)
    ]
    return bool(inside) and all(i in lost for i in inside)
