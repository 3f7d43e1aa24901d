"""The steps that a passage on a breach tells: stage, who takes each, in which log it looks, within which time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from gnrs_ppl.context.types import Action, Schema, Term
from gnrs_ppl.reading.breaches import EITHER_WAY, Passage
from gnrs_ppl.reading.logs import Logs
from gnrs_ppl.reading.quantities import durations
from gnrs_ppl.reading.types import Named, ProcedureRead, Span, StepRead, Timed
from gnrs_ppl.reading.vocabulary import Token, Vocabulary, tokens_of
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.reading.words import lemmas
from gnrs_ppl.rule.types import Stage

_VERBS: dict[Stage, str] = {
    "review": "review check examine inspect investigate audit compare hear study assess read question interview report escalate "
    "refer analyse analyze consider revisit notify inform explain talk clarify inquire enquire",
    "decision": "decide rule adjudicate conclude determine",
    "remedy": "correct remedy repair rectify remind chase refund repay recover compensate redress mend restore amend warn "
    "reimburse renew retrieve undo",
    "appeal": "appeal object complain challenge contest",
}
_NOUNS: dict[Stage, str] = {
    "review": "review check examination inspection investigation audit comparison hearing inquiry enquiry reading",
    "decision": "decision ruling verdict",
    "remedy": "correction remedy reminder refund repayment recovery compensation claim making",
    "appeal": "appeal objection complaint",
}
_BROUGHT = AsWritten(r"\b(?:goes|go|brought|sent|passed|taken) to\b")
_SAYINGS: tuple[tuple[Stage, AsWritten], ...] = (
    (
        "review",
        AsWritten(
            r"\blook(?:s|ed|ing)?\s+(?:again\s+)?(?:into|at)\b|\btak(?:es?|en) (?:it |this |the matter )?up\b",
        ),
    ),
    ("review", _BROUGHT),
    (
        "remedy",
        AsWritten(
            r"\b(?:put|puts|set|sets)\s+(?:(?:it|this|that|the [\w-]+|things|matters)\s+)?right\b|\b(?:make|makes|made|making) (?:it |this )?(?:good|up)\b|\bpa(?:y|ys|id) back\b",
        ),
    ),
)
"""Words of several tokens by which a stage is told."""
_STAGE_OF = {
    (part, word): stage
    for part, listed in (("v", _VERBS), ("n", _NOUNS))
    for stage, words in listed.items()
    for word in words.split()
}
_ADDRESSEE = frozenset({"report", "escalate", "refer", "notify", "inform", "explain"})
"""Verbs whose step is taken by whom it is brought to."""
_LEADS_ON = AsWritten(
    r"(?:[\s,]*\(?(?:who|which)\s[^,]{1,40}?,)?(?:[\s,]*(?:then|first|also|again|must|shall|should|may|will|can|have to|is to|are to|does|be|in turn|himself|herself|"
    r"to|sends?|takes?|holds?|gives?|makes?|gets?|issues?|provides?|sees? to it that (?:it|this) is|has|a|an|the|out|\w+ly|who)\b)*\s*(?:(?<=\ba )[\w-]+ (?:[\w-]+ )?|(?<=\ban )[\w-]+ )?",
)
"""What may stand between somebody and what they do."""
_PASSIVE = AsWritten(
    r"\b(?:is|are|be|been|being|was|were|gets?|get|has \w+ \w+|has the \w+)\s+(?:\w+ly\s+|then\s+|also\s+)*$",
)
_BY = AsWritten(r"\bby\s+(?:(?:the|an?|another|one of the|our|their)\s+)?(?:different\s+|second\s+)?$")
_TO = AsWritten(r"\b(?:to|from|before|with)\s+(?:(?:the|an?|another|our|their)\s+)?$")
_SOMEBODY = r"(?:somebody|someone|anybody|a person|people|an officer|a colleague|those|staff|one)"
_INDEPENDENT = AsWritten(
    rf"\b{_SOMEBODY}\s+(?:else|other than [^,.;]{{2,60}}?(?=,|\s(?:looks?|reviews?|checks?|examines?|decides?|must|shall|should|has|is|will|hears?)\b|$|[.;])"
    r"|(?:who|that) (?:had|has|have|was|is|were|did|took)\s+(?:no(?:t)?|never)\b[^,.;]*?(?=,|$|[.;]|\sand\b)|not involved[^,.;]*?|"
    r"(?:un)?involved|independent|impartial)"
    r"|\b(?:an? )?(?:independent|impartial|uninvolved|disinterested|neutral) (?:person|reviewer|colleague|officer|party)\b",
)
_MATTER = AsWritten(
    r"\s+(?:(?:the|this|that|its|their|each|every|any)\s+)?(?:whole\s+)?"
    r"(?:files?|cases?|matters?|facts|circumstances|breach(?:es)?|incidents?|causes?|reasons?|papers|it|them)\b(?!\s+(?:log|record|register))",
)
"""What any step is about, which tells nothing of it."""
_GENERIC = frozenset(
    """
    it this that they he she who we somebody someone anybody matter file case breach decision everybody
    nobody records record person result outcome appeal appeals affected those concerned
    """.split()
)
"""Nouns and pronouns before a verb that are nobody unknown."""
_NAMED_ON = AsWritten(r"\s+(?P<noun>[a-z]+)(?=\s*(?:[,.;]|$|\b(?:and|within|in|who)\b))")
"""A noun that a name goes on with."""
_NO_APPEAL = AsWritten(
    r"\b(?:there is |with )?(?:no|without(?: an?)?) (?:right of )?(?P<stage>appeal|objection)s?\b|\bcannot be appealed\b|\bis final\b",
)
_DUE = AsWritten(
    r"\b(?:within|in|inside|no later than|not later than|at the latest|at most|not more than)\s+(?:the (?:next|following) )?$",
)
NAME_FITS, ACT_FITS = 0.6, 0.75
"""Least scores of a step of the schema, and of an act of the log that shows a step."""


class _Place(NamedTuple):
    """A word that tells a stage."""

    stage: Stage
    start: int
    end: int
    verb: str


class _Doer(NamedTuple):
    role: Named | None = None
    independent: Span | None = None
    nobody: Span | None = None


def procedure_of(
    text: str, told: Sequence[Passage], schema: Schema, logs: Logs, words: Vocabulary
) -> ProcedureRead | None:
    """The steps of a text's passages on a breach; None where they tell none.

    Parameters
    ----------
    text : str
    told : sequence of Passage
    schema : Schema
        Its roles, steps and actions may be named.
    logs : Logs
        The channels a step may look into.
    words : Vocabulary
        Of the schema.
    """
    steps: list[StepRead] = []
    used: list[Passage] = []
    without: list[Stage] = []
    time: Timed | None = None
    doer = _Doer()
    for passage in told:
        start, end = passage.told
        found, doer = _steps(text, start, end, schema, logs, words, doer, steps)
        if passage.otherwise and all(s.activity and s.span == s.activity.span for s in found):
            continue  # "returned, or else written off" are two ways to keep it
        denied = list(_NO_APPEAL.finditer(text, start, end))
        if denied:
            without.append("appeal")
            found = [s for s in found if s.stage != "appeal"]
        due = next((t for t in _times(text, start, end)), None)
        if found or denied or (due and used):
            used.append(passage)
            steps += found
            time = time or due
    if not steps:
        return None
    sure = min(p.sure for p in used)
    if any(s.activity and s.stage == "remedy" for s in steps) and len(steps) == 1:
        sure = min(sure, 0.6) if sure > EITHER_WAY else sure
    opener = next((p.opened for p in used if p.opened), None)
    why = f"'{' '.join(text[slice(*opener)].split())}': what follows a breach" if opener else "an appeal"
    return ProcedureRead(tuple(p.span for p in used), tuple(steps), time, tuple(without), sure, opener, why)


def _times(text: str, start: int, end: int) -> Iterator[Timed]:
    for length in durations(text[start:end]):
        at = start + length.start
        if _DUE.search(text[start:at]):
            yield Timed(Span(at, start + length.end), length.duration, working_days=length.working)


def _places(text: str, start: int, end: int, roles: Sequence[Named]) -> list[_Place]:
    """Words that tell a stage, in order, one for each step."""
    found = [
        _Place(stage, m.start(), m.end(), "")
        for stage, pattern in _SAYINGS
        for m in pattern.finditer(text, start, end)
    ]
    tokens = tokens_of(text[start:end])
    for i, token in enumerate(tokens):
        at = start + token.start
        if any(p.start <= at < p.end for p in found) or any(r.span.start <= at < r.span.end for r in roles):
            continue
        before = tokens[i - 1].text if i else ""
        stage, verb = _stage(token.text, before)
        if stage:
            found.append(_Place(stage, at, start + token.end, verb))
    found.sort(key=lambda p: p.start)
    kept: list[_Place] = []
    for place in found:
        if kept and _one_step(text, kept[-1], place):
            # hears the appeal, reviews the complaint: an appeal by its object
            if place.stage == "appeal" and kept[-1].verb in ("hear", "consider", "review", "decide", "take"):
                kept[-1] = kept[-1]._replace(stage="appeal")
            continue
        kept.append(place)
    return kept


_DETERMINERS = frozenset(
    {"a", "an", "the", "this", "that", "its", "his", "her", "their", "written", "whose", "no", "any", "of"}
)


def _stage(text: str, before: str) -> tuple[Stage | None, str]:
    """The stage that a word tells, and the verb it is, if any."""
    noun = before in _DETERMINERS
    for part in ("n",) if noun else ("v", "n"):
        for lemma in (*lemmas(text, part), text):
            if stage := _STAGE_OF.get((part, lemma)):
                return stage, lemma if part == "v" else ""
    return None, ""


def _one_step(text: str, before: _Place, place: _Place) -> bool:
    """Whether a second word tells the step that was told already."""
    between = text[before.end : place.start]
    if before.stage == "appeal" and _BROUGHT.fullmatch(text, place.start, place.end):
        return True  # an appeal, which goes to …
    if re.search(r"[,;.]|\b(?:and|then|who|whose|may|can)\b", between):
        return False
    return not (place.verb and not re.search(r"\b(?:to|can be)\s*$", between) and place.stage != before.stage)


def _steps(
    text: str,
    start: int,
    end: int,
    schema: Schema,
    logs: Logs,
    words: Vocabulary,
    doer: _Doer,
    earlier: Sequence[StepRead],
) -> tuple[list[StepRead], _Doer]:
    tokens = tokens_of(text)
    at = [i for i, t in enumerate(tokens) if start <= t.start < end]
    roles = [named for _, named in words.name_in("roles", tokens, at)]
    apart = [Span(*m.span()) for m in _INDEPENDENT.finditer(text, start, end)]
    places = _places(text, start, end, roles)
    acts = _acts(tokens, at, words, schema)
    if not places:  # nothing tells a stage, but an act of the log is done: it puts things right
        place = next((_Place("remedy", n.span.start, n.span.end, "act") for n in acts), None)
        places = [place] if place else []
    found: list[StepRead] = []
    for k, place in enumerate(places):
        stop = places[k + 1].start if k + 1 < len(places) else end
        since = places[k - 1].end if k else start
        doer = _doer(text, since, place, stop, roles, apart, doer, first=not k and not earlier)
        who = doer
        if (
            place.stage != "appeal"
            and not doer.nobody
            and _passive(text, since, place)
            and not _by(text, place, stop, roles, apart)
        ):
            who = _Doer() if place.verb not in _ADDRESSEE else doer
        looked = [log for log in logs.lists(text[place.end : stop]) if log.channels]
        inspects = next((log.channels[0] for log in looked), None)
        inspects = inspects and inspects._replace(
            span=Span(inspects.span.start + place.end, inspects.span.end + place.end)
        )
        matter = _MATTER.match(text, place.end)
        told = Span(place.start, matter.end() if matter else place.end)
        step = StepRead(place.stage, told, who.role, who.independent, who.nobody, inspects)
        mine = [i for i in at if place.start <= tokens[i].start < stop]
        name = _name(tokens, mine, schema, place.stage)
        activity = next((n for n in acts if n.span.start < stop and place.start < n.span.end), None)
        role = who.role
        if activity and (
            (role and _others(activity.name, schema, role.name)) or (name and _tells(name, activity))
        ):
            activity = None  # another's act, or words of the step itself: making good makes nothing
        found.append(replace(step, name=name, activity=activity))
    return found, doer


def _tells(name: Named, activity: Named) -> bool:
    """Whether words that tell a step of the schema tell an act no better."""
    return (
        name.span.start < activity.span.end
        and activity.span.start < name.span.end
        and name.score >= activity.score
    )


def _others(activity: str, schema: Schema, role: str) -> bool:
    """Whether only others may perform an act."""
    performers = next((a.roles for a in schema.actions if a.name == activity), ())
    return bool(performers) and role not in performers


def _acts(tokens: Sequence[Token], at: Sequence[int], words: Vocabulary, schema: Schema) -> list[Named]:
    """Acts of the schema that a stretch of a passage tells in their own words."""
    found = []
    for match in words.match_acts(tokens, at):
        if match.score >= ACT_FITS and match.positions and match.head and match.exact:
            span = Span(tokens[match.positions[0]].start, tokens[match.positions[-1]].end)
            found.append(Named(match.name, span, min(1.0, round(match.score, 2))))
    return found


def _passive(text: str, since: int, place: _Place) -> bool:
    return bool(_PASSIVE.search(text[since : place.start])) or bool(
        re.search(r"\bhas\s+(?:the|a|an|this|it)\s+(?:\w+\s+)?$", text[since : place.start], re.IGNORECASE)
    )


def _by(text: str, place: _Place, stop: int, roles: Sequence[Named], apart: Sequence[Span]) -> _Doer | None:
    """Who is named behind a verb as the one who takes the step: after "by", or, where it is brought to them, "to"."""
    to = place.stage == "appeal" or place.verb in _ADDRESSEE or (not place.verb and place.stage != "decision")
    for role in roles:
        before = text[place.end : role.span.start]
        longer = _NAMED_ON.match(text, role.span.end)
        if longer and not lemmas(longer["noun"].lower(), "v") and lemmas(longer["noun"].lower(), "n"):
            continue  # the warehouse union is no warehouse
        if place.end <= role.span.start < stop and (_BY.search(before) or (to and _TO.search(before))):
            return _Doer(role=role)
    for span in apart:
        before = text[place.end : span.start]
        if place.end <= span.start < stop and (_BY.search(before) or (to and _TO.search(before))):
            return _Doer(independent=span)
    return None


def _doer(
    text: str,
    since: int,
    place: _Place,
    stop: int,
    roles: Sequence[Named],
    apart: Sequence[Span],
    last: _Doer,
    first: bool,
) -> _Doer:
    """Who takes a step: the one behind "by" or "to", else the one who stands right before it, else whoever took the
    step before.
    """
    if named := _by(text, place, stop, roles, apart):
        return named
    if (
        place.stage == "appeal"
        and _passive(text, since, place)
        and not re.match(r"\s+to\b", text[place.end :])
    ):
        return _Doer()
    if (
        place.stage == "appeal"
        and not _passive(text, since, place)
        and place.verb in ("appeal", "object", "complain", "challenge", "contest", "")
    ):
        heard = re.search(
            r"\b(?:hears?|handles?|decides?|takes?|considers?|receives?)\s+(?:the |any |an )?$",
            text[since : place.start],
        )
        if not heard:
            return _Doer()
    before = [r for r in roles if since <= r.span.start < place.start]
    others = [s for s in apart if since <= s.start < place.start]
    nearest = max([*(r.span for r in before), *others], default=None)
    if nearest is not None and (
        first
        or _LEADS_ON.fullmatch(text, nearest.end, place.start)
        or (len(before) + len(others) == 1 and not last.role)
    ):
        role = next((r for r in before if r.span == nearest), None)
        return _Doer(role=role) if role else _Doer(independent=nearest)
    if nearest is None and (unknown := _nobody(text, since, place)):
        return _Doer(nobody=unknown)
    return last


def _nobody(text: str, since: int, place: _Place) -> Span | None:
    """Somebody named right before a verb who is no role."""
    if not place.verb or place.verb == "act" or _passive(text, since, place):
        behind = re.match(
            r"[^,.;]{0,40}?\bby\s+(?:the|an?|our)\s+(?P<who>[a-z][\w-]*(?: [a-z][\w-]*){0,2}?)(?=\s*(?:[,.;]|$|\b(?:and|within|in|who)\b))",
            text[place.end :],
            re.IGNORECASE,
        )
        if behind and place.verb and behind["who"].split()[-1].lower() not in _GENERIC:
            return Span(place.end + behind.start("who"), place.end + behind.end("who"))
        return None
    m = re.search(
        r"(?:^|[,;:]|\b(?:and|but|then|that))\s*(?:the|our|an?)\s+(?P<who>[a-z][\w-]*(?: (?!(?:to|must|will|shall|should|may|can|then|and|or|who|of|on|in|for)\b)[a-z][\w-]*){0,2})\s+(?:must |will |shall |should |may |can |has to |then |first )*$",
        text[since : place.start],
        re.IGNORECASE,
    )
    if m is None or m["who"].split()[-1].lower() in _GENERIC:
        return None
    return Span(since + m.start("who"), since + m.end("who"))


@lru_cache(maxsize=64)
def _step_words(steps: tuple[Term, ...]) -> Vocabulary:
    """The schema's steps as things that are done, so that they are found as acts are."""
    named = tuple(Action(name=t.name, phrase=t.phrase, aliases=t.aliases) for t in steps)
    return Vocabulary(Schema(actions=named))


def _name(tokens: Sequence[Token], at: Sequence[int], schema: Schema, stage: Stage) -> Named | None:
    """The step of the schema that words tell, of those that are of the stage by their own words."""
    if not schema.steps:
        return None
    for match in _step_words(schema.steps).match_acts(tokens, at):
        if match.score >= NAME_FITS and match.positions and stage_of(schema, match.name) in (stage, None):
            span = Span(tokens[match.positions[0]].start, tokens[match.positions[-1]].end)
            return Named(match.name, span, min(1.0, round(match.score, 2)))
    return None


def stage_of(schema: Schema, step: str) -> Stage | None:
    """The stage of a schema's step by the words of its phrase."""
    term = next(t for t in schema.steps if t.name == step)
    words = (term.phrase or term.name.replace("_", " ")).lower().split()
    stages = [s for w in words if (s := _stage(w, "a")[0] or _stage(w, "")[0])]
    return "appeal" if "appeal" in stages else stages[0] if stages else None
