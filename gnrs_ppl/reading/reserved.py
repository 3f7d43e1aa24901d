"""Acts left to some roles alone: "only managers may approve it", "nobody but a judge may decide", "may be sent only by the
police". Told anew as bans, and read as bans on everybody of another role.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading.anew import Anew, Part, apart
from gnrs_ppl.reading.clauses import SENTENCE_END
from gnrs_ppl.reading.types import Named, Readings, Span, Statement, Unheld
from gnrs_ppl.reading.vocabulary import STOP, Vocabulary, tokens_of
from gnrs_ppl.reading.wording import Wording
from gnrs_ppl.reading.words import lemmas, word

_DET = r"(?:(?:the|an?|any|our|your|their|one of (?:the|our))\s+)?"
_EXCEPT = (
    r"(?:other than|but|except(?:ing)?(?:\s+for|\s+by)?|besides|save(?:\s+for)?|apart from|aside from|excluding|who (?:is|are) not|who isn['’]t|if not|"
    r"(?:from\s+)?outside(?:\s+of)?|not\s+(?:in|from|of|being|belonging to|working (?:in|for)))"
)
_SOME = r"(?:person|persons|people|member|members|employee|employees|staff|colleague|colleagues|role|roles|department|user|users)"
_ALONE_BEFORE = Wording(
    rf"\b(?:it\s+is\s+)?(?:only|solely|exclusively|(?:nobody|no\s?one|none|no (?:other )?{_SOME}|no others?)\s+(?:else\s+)?{_EXCEPT})\s+{_DET}$"
)
"""Right before those to whom alone an act is left."""
_ALONE_AFTER = Wording(r"\s+(?:alone|only|solely|exclusively)\b|,?\s+and\s+(?:nobody|no\s?one)\s+else\b")
_OTHERS_BEFORE = Wording(
    rf"\b(?:any\s?one|anybody|every\s?one|everybody|(?:all|any|every)(?:\s+other)?\s+{_SOME}|all(?:\s+others)?|others?|staff|people|employees)\s+(?:else\s+)?,?\s*{_EXCEPT}\s+{_DET}$"
)
"""Right before those whom alone a ban on everybody spares."""
_BANNED = Wording(
    r",?\s+(?:(?:must|may|shall|should|can|will)\s+(?:not|never)\b(?:\s+ever\b)?|cannot\b|can['’]t\b|mustn['’]t\b|(?:is|are)\s+(?:\w+ly\s+)?(?:(?:not|never)\s+"
    r"(?:allowed|permitted|entitled|authori[sz]ed|supposed)|forbidden|prohibited|barred|banned)\s+(?:to\b|(?P<from>from)\s+(?P<gerund>\w+ing)\b))"
)
_ALLOWED = Wording(
    r",?(?:\s+(?:who|that))?\s+(?:(?:may|can|could|shall|should|must|will)\b(?!\s+(?:not|never)\b)|(?:is|are)\s+(?:\w+ly\s+)?(?:allowed|permitted|entitled|"
    r"authori[sz]ed|empowered|supposed|eligible|to)\b(?:\s+to\b)?|ha(?:s|ve)\s+(?:the\s+(?:right|power|authority)\s+)?to\b)(?:\s+ever\b)?"
)
_BY = Wording(
    rf"\b(?P<modal>may|can|shall|should|must|will|(?:has|have|is|are|needs?)\s+to|is|are|gets?)\s+(?P<first>(?:only|solely|exclusively)\s+)?(?P<act>(?:ever\s+)?"
    rf"(?:(?P<be>be|get)\s+)?[\w-]+(?:\s+[\w-]+){{0,4}}?)\s+(?P<last>(?:only|solely|exclusively)\s+)?by\s+{_DET}$"
)
_BY_NO_OTHER = Wording(
    rf"\s+by\s+(?:any\s?one|anybody|any person|some(?:one|body)|others?|persons?|people|staff)\s+(?:else\s+)?{_EXCEPT}\s+{_DET}$"
)
_RESERVED = Wording(
    rf"\b(?:is|are|be|remains?)\s+(?:strictly\s+|exclusively\s+)?(?:reserved|restricted|limited|confined|left)\s+(?:exclusively\s+|solely\s+)?(?:for|to)\s+{_DET}$"
)
_FOR = Wording(rf"\b(?:is|are)\s+for\s+{_DET}$")
_ONLY_ONE = Wording(
    r"\bthe\s+only\s+(?:person|persons|people|ones?|role|staff)\s+(?:(?:who|that)\s+(?:may|can|is allowed to|are allowed to)|(?:allowed|permitted|"
    rf"entitled|authori[sz]ed)\s+to)\s+(?P<act>[^.;]+?)\s+(?:is|are)\s+{_DET}$"
)
_QUALIFIED = Wording(r",?\s+(?:who|whose|that|which|having|with|other)\b")
"""Behind those of an office who are meant: no other office is left out."""
_LIST = Wording(rf"\s*(?:,|,?\s+(?:or|and))\s+{_DET}")
_UNKNOWN = Wording(
    rf"\b(?:only|solely|exclusively|{_EXCEPT})\s+{_DET}(?P<who>(?:[\w-]+\s+){{0,2}}[\w-]+)\s+(?:may|can|(?:is|are)\s+(?:allowed|permitted|entitled|"
    r"authori[sz]ed|empowered)\s+to)\s+(?!be\b|not\b|never\b|the\b|an?\b|any\b|i\b|we\b|you\b|he\b|she\b|it\b|they\b)"
)
"""Something that alone may act, and so is somebody, whatever it is called."""
UNDER_A_CONDITION = "who alone may do it under a condition, no rule says"
NOT_READ = "what they alone may do was not read"
NO_OTHER = "the schema names no other role"
UNKNOWN = "the schema names no such role"


class Reserved(NamedTuple):
    """A passage told anew as a ban, the roles it leaves out of the ban, and where these are named."""

    anew: Anew
    roles: tuple[Named, ...]
    named: Span


def left_to_some(text: str, words: Vocabulary) -> list[Reserved]:
    """Passages that leave an act to some roles alone, in their order; of a schema without roles none."""
    if not words.roles:
        return []
    tokens = tokens_of(text)
    known = [n for _, n in words.name_in("roles", tokens, range(len(tokens)))]
    known = [n for n in known if not any(_within(n.span, other.span) for other in known)]
    found = [one for n in known for one in _at(text, n.span, _listed(text, n, known))]
    people = [*(Span(t.start, t.end) for t in tokens if word(t.text).person), *_somebody(text, words)]
    unknown = [s for s in people if not any(n.span.start < s.end and s.start < n.span.end for n in known)]
    found += [one for span in unknown for one in _at(text, span, ())]
    kept = apart(one.anew for one in found)
    return sorted((one for one in found if one.anew in kept), key=lambda one: one.anew.span)


def _somebody(text: str, words: Vocabulary) -> Iterator[Span]:
    """Those who alone may act and whom neither the schema nor their name shows to be somebody: "only finance may pay"."""
    for found in _UNKNOWN.finditer(text):
        who = tokens_of(found["who"])
        things = [n for _, n in words.name_in("objects", who, range(len(who))) if n.score == 1.0]
        if (
            who
            and lemmas(who[-1].text, "n")
            and not things
            and not any(t.text in STOP or t.text.isdigit() for t in who)
        ):
            yield Span(*found.span("who"))


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end and inner != outer


def _listed(text: str, first: Named, known: Sequence[Named]) -> tuple[Named, ...]:
    """A role and those that "or" and commas join to it."""
    listed = [first]
    for n in known:
        if n.span.start >= listed[-1].span.end and _LIST.fullmatch(text, listed[-1].span.end, n.span.start):
            listed.append(n)
    return tuple(listed)


def _at(text: str, first: Span, roles: tuple[Named, ...]) -> Iterator[Reserved]:
    start, end = first.start, roles[-1].span.end if roles else first.end
    named = Span(start, end)

    def one(span: Span, *parts: Part) -> Iterator[Reserved]:
        yield Reserved(Anew(span, parts), roles, named)

    alone = _ALONE_AFTER.match(text, end)
    before = _ALONE_BEFORE.search(text, 0, start)
    if before or alone:
        begins = before.start() if before else _with_article(text, start)
        ends = alone.end() if alone else end
        if allowed := _ALLOWED.match(text, ends):
            yield from one(Span(begins, allowed.end()), ("nobody may", Span(begins, allowed.end())))
            return
        verb = next(iter(tokens_of(text[ends:])), None)
        if (
            before
            and verb
            and (base := lemmas(verb.text, "v")[:1])
            and not text[ends : ends + verb.start].strip()
        ):
            told = Span(begins, ends + verb.end)
            yield from one(told, (f"nobody may {base[0]}", told))
            return
    if _QUALIFIED.match(text, end):
        return
    others = _OTHERS_BEFORE.search(text, 0, start)
    if others and (banned := _BANNED.match(text, end)):
        told = Span(others.start(), banned.end())
        verbs = lemmas(banned["gerund"], "v")[:1] if banned["gerund"] else ("",)
        if verbs:
            yield from one(told, (f"nobody may {verbs[0]}".rstrip(), told))
        return
    if by := _BY.search(text, 0, start):
        if by["first"] or by["last"] or alone:
            be, act = "" if by["be"] else "be ", Span(*by.span("act"))
            ends = alone.end() if alone else end
            yield from one(Span(by.start(), ends), (f"must not {be}", Span(by.start(), act.start)), act)
    elif other := _BY_NO_OTHER.search(text, 0, start):
        yield from one(Span(other.start(), end))
    elif single := _ONLY_ONE.search(text, 0, start):
        act = Span(*single.span("act"))
        yield from one(Span(single.start(), end), ("nobody may ", Span(single.start(), act.start)), act)
    elif held := _RESERVED.search(text, 0, start) or (alone and _FOR.search(text, 0, start)):
        told = Span(held.start(), alone.end() if alone else end)
        yield from one(told, ("is forbidden", told))


def _with_article(text: str, at: int) -> int:
    """Where an article right before a place begins; the place itself where there is none."""
    word_before = text[:at].rstrip().rpartition(" ")[2]
    return text.rindex(word_before, 0, at) if word_before.lower() in ("the", "a", "an") else at


def as_left_to_some(found: Readings, reserved: Sequence[Reserved], schema: Schema) -> Readings:
    """The readings, with each ban that stands for such a passage laid on the other roles; nothing where a passage was read
    as anything but a plain ban, or names nobody of the schema.
    """
    statements = list(found.statements)
    for one, begins, ends in _with_ends(found.sentence, reserved):
        near = [s for s in statements if begins <= s.best.targets[0].span.start < ends]
        near.sort(key=partial(_gap, one.anew.span))
        mine = near[:1] + [s for s in near[1:] if _is_plain(s)]
        others = [r for r in schema.roles if r.name not in {n.name for n in one.roles}]
        if not one.roles or not others or not mine or not all(map(_is_plain, mine)):
            why = (
                UNKNOWN
                if not one.roles
                else NO_OTHER
                if not others
                else UNDER_A_CONDITION
                if mine
                else NOT_READ
            )
            told = Unheld(one.named, why)
            return replace(found, statements=(), nothing="no_such_role", unheld=(told, *found.unheld))
        for statement in mine:
            best = statement.best
            by = (replace(a, role=Named(r.name, one.named, 1.0)) for a in best.targets for r in others)
            spans = tuple(dict.fromkeys((*best.used, *(n.span for n in one.roles))))
            best = replace(
                best, targets=tuple(by), joint="any", bearers=(), only=one.roles, who=None, used=spans
            )
            statements[statements.index(statement)] = replace(statement, readings=(best,))
    left = tuple(
        u
        for u in found.unread
        if not any(one.anew.span.start <= u.span.start < one.anew.span.end for one in reserved)
    )
    return replace(found, statements=tuple(statements), unread=left)


def _with_ends(text: str, reserved: Sequence[Reserved]) -> Iterator[tuple[Reserved, int, int]]:
    """Each passage with where its part of its sentence begins and ends."""
    at = 0
    for k, one in enumerate(reserved):
        span = one.anew.span
        begins = max((m.end() for m in SENTENCE_END.finditer(text, at, span.start)), default=at)
        stop = SENTENCE_END.search(text, span.end)
        ends = stop.start() if stop else len(text)
        at = min(ends, reserved[k + 1].anew.span.start) if k + 1 < len(reserved) else ends
        yield one, begins, at


def _gap(passage: Span, statement: Statement) -> int:
    """Characters between a passage and the act of a statement."""
    act = statement.best.targets[0].span
    return max(passage.start - act.end, act.start - passage.end, 0)


def _is_plain(statement: Statement) -> bool:
    """Whether acts are banned in any number, at any time or once another was done."""
    read = statement.best
    return (
        read.template in ("absence", "not_response")
        and (read.activation is None) == (read.template == "absence")
        and read.count == 1
        and not (read.after or read.exception or read.time or read.condition or read.data)
    )
