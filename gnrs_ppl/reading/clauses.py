"""A sentence as clauses: what opens each (after, before, unless …), how the main ones bind (must, must not,
may), what is background.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from gnrs_ppl.reading.disapproval import DISAPPROVED_HEADING
from gnrs_ppl.reading.quantities import ANY_UNIT, NUMBER, PLAIN_DURATION
from gnrs_ppl.reading.wording import Wording
from gnrs_ppl.reading.words import BODIES, lemmas, word

Kind = Literal[
    "main",
    "after",
    "only_after",
    "before",
    "until",
    "unless",
    "without",
    "provided",
    "purpose",
    "background",
    "who",
]


class Clause(NamedTuple):
    """Characters ``start`` to ``end`` of the sentence, without the words that open the clause, which begin at
    ``opened``.

    ``direct`` says that nothing may come between ("immediately after"); ``number`` counts main clauses, and
    is that of the main clause a subordinate one belongs to; ``first`` says that the clause stands before its
    main clause.
    """

    kind: Kind
    start: int
    end: int
    opened: int
    direct: bool = False
    number: int = 0
    first: bool = False
    opener: str = ""

    @property
    def mark(self) -> tuple[int, int]:
        """Characters of the words that open it."""
        return self.opened, self.start


_DIRECT = r"(?:(?P<direct{n}>immediately|directly|right|straight|promptly|instantly)\s+)?(?:shortly |soon |just |even )?"
_END = r"(?=\s*(?:[.,;:)]|$))"
_LIMIT = (
    r"(?:(?:at the latest|at latest|within|inside|no later than|not later than|no more than|not more than|at most|max(?:imum|\.)?|less than|in|"
    r"during|throughout)\s+)?"
    rf"(?:the (?:(?:next|first|following) )?)?{PLAIN_DURATION}\s*(?:at the latest |at most )?"
)
_HISTORY = (
    r"after (?:several|various|repeated|too many|a few|(?:an?|the) (?:number|series|string|couple) of)\b"
    r"(?! (?:minute|hour|day|week|month|year)s?\b)|"
    r"(?:after|following) (?:the |a )?(?:[a-z]+ )?(?:[a-z]+(?:ion|al|ance|ment|ing)|loss|theft) of (?:several|various|too many)\b"
)
HISTORY = Wording(_HISTORY)
"""What befell several is history, and opens no rule: a rule opens at each."""
_BODY = rf" (?:the |an? |any |our |its )?(?:[a-z]+ )?(?:{'|'.join(BODIES)})s?(?=\s*(?:[.,;:)]|$|(?:must|may|shall|should|can|cannot|will|and|or|within)\b))"
"""Whom something is brought before, and no event."""
_GONE_BY = rf" {PLAIN_DURATION} (?:(?:is|are) (?:over|up|out|gone)|(?:ha(?:s|ve) )?(?:gone by|pass(?:ed|es)?|elapse[ds]?))"
"""How long a time is that has not yet gone by, and no event."""
"""Behind "before": how long a time is that has not yet gone by, and no event."""
_POINTING = (
    r"(?<=preceding) (?:it|that|this|them)\b| (?:it|that|this|them)(?=\s*(?:[.,;:)]|$))|"
    r" (?:is|are|counts?|constitutes?|amounts?)\b"
)
"""Behind the time in which something came first: what it came before was told already ("in the week before that")."""
_OPENERS: tuple[tuple[Kind, str], ...] = (
    ("without", r"(?:who|that|which) (?:(?:has|have|had) not|hasn't|haven't)(?: yet)?\b"),
    ("who", r"(?:that|which|who) (?:has|have) (?:just |already |now )?(?:been )?[a-z]+(?=[ ,.;])"),
    (
        "who",
        r"(?:that|which) (?:is|are|was|were|gets?) [a-z]+(?= (?:must|shall|has to|have to|should|"
        r"needs? to|may|can)\b)",
    ),
    ("after", r"(?<!\w )(?<!\w, )having(?= [a-z]+)(?! (?:an?|the|any|his|her|their)\b)"),
    ("background", _HISTORY),
    (
        "after",
        rf"{_LIMIT}(?:of|after|from|following|upon|once|since|as of)\b(?! (?:case|age|notice|work|(?:that|this|then|the same) (?:day|date|moment|time|point))\b)",
    ),
    (
        "after",
        r"(?:for|at|on|with|upon|(?<!only )after) (?:each(?: and every)?|every)\b(?! (?:of|other|time))",
    ),
    (
        "before",
        rf"(?:(?:at least|no less than|within|not more than|no more than|at most|up to|"
        rf"in)\s+)?(?:the (?:last|previous|preceding) )?{PLAIN_DURATION}\s*(?:before|prior to|preceding|"
        rf"ahead of|in advance of)\b(?!{_POINTING})(?!{_END[3:-1]})",
    ),
    (
        "background",
        r"(?:even (?:with|if|though|when|after|before|where)|whether or not|whether(?=[^.,;]*\bor not\b)|be it that(?=[^.,;]*\bor not\b)|no matter|"
        r"never mind|regardless of|irrespective of|whatever|whichever|however|whoever was|"
        r"because(?: of)?|on account of|in view of|in light of|by reason of|thanks to|"
        r"as a result of|now that|due to|owing to|although|though|whereas|in spite of|"
        r"despite|rather than|instead of|since(?! (?:the )?(?:case|start|beginning)\b))\b",
    ),
    (
        "background",
        r"(?<!\w )(?<!\w, )(?:as|while) (?!soon|long|well|far|the (?:first|initial|last|final|"
        r"next)|an? (?:first|initial|last|final|result|rule)|part of|of\b)(?=[^,]+,)",
    ),
    ("background", r"(?<!\w )(?<!\w, )with (?:(?!you\b)[\w'-]+ ){1,5}?\w+ing\b"),
    ("background", r"(?<!\w )(?<!\w, )(?:[\w'-]+ ){1,7}or not(?=,)"),
    ("background", r"(?<!\w )(?<!\w, )(?:i|we) (?:know|understand|realise|realize|appreciate|see)\b"),
    ("without", r"(?<!\w )(?<!\w, )no(?= [\w'-]+(?: [\w'-]+)?, no\b)"),
    ("before", r"who (?:wants?|wish(?:es)?|intends?|plans?|would like|(?:is|are) about) to\b"),
    ("purpose", r"(?:tr(?:y|ies)|sees?|learns?|finds? out|wonders?) (?:if|whether)\b"),
    ("purpose", r"to (?:see|find out|check|test|verify|make sure|learn) (?:if|whether|that)\b"),
    (
        "purpose",
        r"(?:so that|in order (?:to|that)|so as to|such that|with a view to|for the (?:sake|"
        r"purposes?) of|to (?:ensure|prevent|avoid|help|protect|provide|"
        r"allow|enable|make sure|guarantee|facilitate|foster|keep track|track|discuss|understand|"
        r"better|enrich|maintain))\b",
    ),
    (
        "only_after",
        r"(?:only|not) (?:(?:immediately|directly|right|straight) )?"
        r"(?:after|once(?! (?:in|per|an?|every|during|for)\b)|when|if|"
        r"where|upon|following|as soon as)\b",
    ),
    (
        "unless",
        r"(?:provided|but|except|save)(?: that)? (?:no such|this|that|the|such an?)(?: (?:duty|obligation|requirement|rule|time limit))?"
        r"(?: (?:shall|does|do|will))?(?: not)? (?:exist|appl(?:y|ies)|arises?|exists|hold)s? (?:where|when|if|in case|once)\b",
    ),
    (
        "provided",
        r"(?:only provided|(?<=, )provided|(?:provided|providing) that|"
        r"on (?:the )?condition that|as long as|so long as|subject to|contingent (?:up)?on|conditional on"
        r"|dependent on|depends on)\b",
    ),
    (
        "unless",
        r"(?:unless|except(?:ing)?(?: (?:when|if|where|after|for|that|in case))?|save (?:when|if|"
        r"for|that|where)|(?<=, )save(?= (?:those|these|the ones|any|such|in)\b)|other than(?! (?:whoever|(?:the|that|those|any)(?: \w+){1,2} (?:who|that)\b))|apart from|with the exception of"
        r"|if not(?= already)|barring)\b",
    ),
    (
        "without",
        r"(?:without (?!delay|undue|hesitation|exception|fail|a doubt|further|reproach)(?:having |"
        r"first )*|in the absence of )",
    ),
    ("until", r"(?:not until|until|till|up to the (?:time|moment) (?:that|of))\b"),
    (
        "before",
        _DIRECT.format(n=1)
        + rf"(?:before(?!hand| (?:it|that|this|them|doing so)\s*(?:[.,;:)]|$)| (?:is|are)\b|{_BODY}|{_GONE_BY})|"
        rf"prior to|previous to|ahead of|in advance of|no later than(?=\s+(?!{PLAIN_DURATION})))\b"
        rf"(?!{_END[3:-1]})",
    ),
    (
        "after",
        _DIRECT.format(n=2) + r"(?:(?<!the )(?<!at least )(?:after(?!wards|\s+which)|following)|"
        r"upon|as soon as|whenever|when(?:ever)?(?! applicable)|(?:each|every|any) time"
        r"|from the (?:moment|time|day)(?: (?:when|that|on which))?|(?:in|for) (?:any |every |each |"
        r"the )?(?:case|event)s?(?: of| that| where| when)(?! doubt)|in case"
        r"|if(?! (?:possible|necessary|applicable|any|need be|appropriate))|(?<!\bto )(?<!\bfrom )(?<!\bnear )where(?= )(?!as)|"
        r"given that|on(?= (?:receipt|receiving|completion|arrival|arriving|"
        r"departure|departing|detection|discovery|notification|entering|entry|leaving|approval|"
        r"admission|discharge|creation|rejection|submission)\b)"
        r"|(?<!at least )(?<!at most )(?<!more than )(?<!only )(?<!exactly )(?<!no less than )"
        r"once(?! (?:per|an? (?:\w+ )?(?:hour|day|week|month|quarter|year|term|semester|case|shift)|"
        r"every|in|or|and only|and for all|more|only|again|during|throughout|for|at (?:the )?(?:very )?(?:most|least))\b))\b"
        rf"(?!{_END[3:-1]})",
    ),
    (
        "background",
        r"(?<!\w )(?:(?!(?:and|or|but|is|are|was|were|be|must|shall|may|can|will|"
        r"should)\b)[\w'-]+ ){1,9}?"
        r"(?:having (?!to\b|an?\b|the\b)|being|not (?=\w+ing\b))",
    ),
)
_COMPILED = tuple(
    (
        kind,
        Wording(rf"(?<![\w-]){pattern}"),
        PLAIN_DURATION in pattern and _GONE_BY not in pattern,
    )
    for kind, pattern in _OPENERS
)
"""With whether it is one with a time, which no text without a unit of time has."""

MODAL = (
    r"(?:must|shall|should|ought to|may|might|can(?:not|'t)?|could|will|won't|needs? to|need(?:n't| not)|"
    r"ha(?:s|ve) (?:got )?to|had to|(?:is|are|be) (?:to|not to|never to)|"
    r"(?:is|are|be|being|was|were)\s+(?:not\s+|also\s+|always\s+|strictly\s+|only\s+|never\s+|"
    r"therefore\s+|then\s+)*(?:required|obliged|obligated|obligatory|bound|mandatory|"
    r"necessary|needed|essential|imperative|requisite|compulsory|expected|supposed|recommended|advised|"
    r"allowed|permitted|possible|impossible|prohibited|forbidden|"
    r"barred|banned|entitled|free|enabled|disabled|critical|vital|crucial|important|due)|requires?|"
    r"necessitates?|never|mustn't|shouldn't|"
    r"(?:the |an? |whose |'s |’s )?(?:job|duty|task|obligation|responsibility) (?:it is )?to|falls? (?:up)?(?:on|to)|"
    r"(?:is|are) (?:something |an? (?:\w+ )?(?:matter|task|job|thing) )?for(?= (?:the |all |every |each |any )?[\w -]{1,40}? to [a-z])|"
    r"do(?:es)? not|don't|doesn't|no longer|\w+'ll|ha(?:s|ve) (?:got )?(?=(?:half an|[\w-]+) (?:minute|hour|day|week|"
    r"month)s? (?:to|after|from|of|since)\b)|(?:i|we) (?:also )?(?:need|want|expect|ask|insist)|(?:i|"
    r"we)'d like|please)"
)
_MODAL = Wording(rf"\b{MODAL}\b")
_CONJUNCTION = Wording(
    rf"(?:,\s*(?:and|but|yet|nor|then)?\s*|\s+(?:and|but|nor|then|yet)\s+|,\s*(?:and|but)\s+)(?=(?:then |"
    rf"also |in addition |afterwards |they |he |she |it |he or she )?(?:{MODAL})\b"
    rf"|(?:they |he |she |it |he or she )?(?:nor|neither|no(?! (?:more|later|longer|less|fewer) than)|never|nobody|no one)\b|"
    rf"no\s+(?:[\w'-]+\s+){{1,9}}?(?:{MODAL})\b|(?:\w+ing)\s+(?:[\w'-]+\s+){{0,7}}?(?:{MODAL})\b|"
    rf"(?:the|an?|any|every|each|no|all|its?|their|his|her|that|"
    rf"this)\s+(?:[\w'-]+\s+){{0,4}}?(?:{MODAL})\b)"
)
_COMMA_AND = Wording(
    rf",\s*(?=who\s+(?:instead|then|must|shall|should|ha(?:s|ve) to)\b)|,\s*(?:and|but|so|therefore|"
    rf"hence)\s+(?=(?:[\w'%-]+\s+){{1,16}}?(?:{MODAL})\b)|,\s*(?:so|which is why|therefore|"
    rf"hence)\s+(?=(?:the|an?|any|every|each|all|no)\b)"
)
_PLAIN_CLAUSE = Wording(
    r",\s*(?:and|but|while)\s+(?=(?:the|an?|any|every|each|all|its?|their|his|her|this|that|we|they)\s+"
    r"(?P<rest>(?:(?!(?:of|to|in|on|at|for|by|who|that|which|and|or)\b)[\w'-]+\s*){1,5}))"
)
"""Where a clause with a subject of its own begins that no modal binds: ", and the customer gets …"."""
_SPLICED = Wording(
    r",\s*(?=(?:(?:the|an?|each|every|all)\s+)?[\w-]+\s+(?:is|are)\s+(?:(?:not|never|also|only)\s+)*[a-z]+(?:ed|nt|en|id|ut)\b)"
)
"""Where one begins behind a comma alone: ", penalties are added once"."""
_COORDINATED = Wording(r"\s+and\s+(?:to\s+)?(?=([a-z]+)\b)")
_LIST_TO_COME = Wording(
    r"\b(?:things|steps|following|follows|conditions?|requirements?|acts|ways|"
    r"beforehand|first)\W*$"
)
_DETERMINER = Wording(
    r"\b(?:the|an?|any|every|each|all|no|his|her|their|its|this|that|these|those|they|he|she|it|we|you|i|"
    r"one|someone|nobody)\b"
)
_FULL_STOP = (
    r"[.!?](?<!\b[A-Z].)(?<!\be\.g.)(?<!\bi\.e.)(?!(?<=\b(?:[Mm]ax|[Mm]in)\.)\s+[a-z\d])(?=\s|$)|\n\s*\n"
)
FULL_STOP = re.compile(_FULL_STOP)
SENTENCE_END = re.compile(rf"{_FULL_STOP}|;|:(?=\s)")
_HEADING = Wording(
    rf"\s*(?:[–—•*·-]\s+)?(?!.*\b(?:{MODAL}|is|are|was|were|works?|goes|says?|i|we|you|they|he|she|it|this|that|these|purposes?|reasons?|"
    r"aims?|notes?|rules?|reminder|not|never|without|per|row)\b)[\w'’/-]+(?: [\w'’/-]+){0,5}\s*"
)
"""What a rule is about, before its colon: "Credit collection: only after …" is one sentence."""


def sentences(text: str) -> list[tuple[int, int]]:
    """Start and end of every sentence, or part of one between semicolons or colons."""
    found, at = [], 0
    ends = [
        m.end()
        for m in SENTENCE_END.finditer(text)
        if m[0] != ":" or not _LIST_TO_COME.search(text[: m.start()])
    ]
    ends = [
        end
        for before, end in pairwise([0, *ends])
        if text[end - 1] != ":"
        or not (
            _HEADING.fullmatch(text, before, end - 1) or DISAPPROVED_HEADING.fullmatch(text, before, end - 1)
        )
    ]
    for end in [*ends, len(text)]:
        if any(c.isalnum() for c in text[at:end]):
            found.append((at, end))
        at = end
    return found


class _Opening(NamedTuple):
    kind: Kind
    opened: int
    start: int
    direct: bool
    opener: str


def openings(text: str, start: int, end: int) -> list[_Opening]:
    """The words that open clauses, in order, none inside another."""
    found: list[_Opening] = []
    timed = ANY_UNIT.search(text, start, end)
    for kind, pattern, with_time in _COMPILED:
        if with_time and not timed:
            continue
        for m in pattern.finditer(text, start, end):
            if all(m.end() <= o.opened or m.start() >= o.start for o in found):
                direct = any(v for k, v in m.groupdict().items() if k.startswith("direct")) or bool(
                    re.match(r"(?:only |not )(?:immed|direct|right|straight)", m[0])
                )
                found.append(_Opening(kind, m.start(), m.end(), direct, m[0]))
    for m in _WHO.finditer(text, start, end):
        stop = _end_of_relative(text, m.end(), end)
        if stop and all(stop <= o.opened or m.start() >= o.start for o in found):
            found.append(_Opening("who", m.start(), stop, False, m[0].lower()))
    return sorted(found, key=lambda o: o.opened)


_WHO = Wording(rf"\b(?:who|whoever)\s+(?!(?:{MODAL})\b)(?=\w)")


def _end_of_relative(text: str, start: int, end: int) -> int | None:
    """Where "who …" ends: at the modal or the second verb in the third person that its subject has ("who
    hears of it | brings …").
    """
    comma = text.find(",", start, end)
    until = comma if comma > 0 else end
    if (other := _WHO.search(text, start, until)) and (
        joint := text.rfind(" and ", start, other.start())
    ) > 0:
        return joint
    return _before_verb(text, start, until, 2)


def clauses(text: str, start: int, end: int) -> list[Clause]:
    """The clauses of one sentence, in order."""
    every = openings(text, start, end)
    relative = [(m, _embedded(text, m, end)) for m in every]
    marks = [m for m, stop in relative if stop is None]
    if (
        re.match(r"\s*to\s+[a-z]+\s", text[start:end], re.IGNORECASE)
        and (comma := text.find(",", start, end)) > 0
        and _MODAL.search(text, comma, end)
    ):
        lead = len(text[start:end]) - len(text[start:end].lstrip())
        aims = [m for m in marks if m.kind == "purpose" and m.opened == start + lead]
        told = aims[0] if aims else _Opening("before", start + lead, start + lead + 2, False, "to")
        marks = [told, *(m for m in marks if m.opened > (comma if aims else told.start))]
    found: list[Clause] = []
    number = 0
    at = start

    def main(a: int, b: int) -> None:
        nonlocal number
        for x, y in _conjuncts(text, a, b):
            if any(c.isalnum() for c in text[x:y]):
                number += 1
                found.append(Clause("main", x, y, x, number=number))

    for i, mark in enumerate(marks):
        if mark.opened < at:
            continue
        if any(c.isalnum() for c in text[at : mark.opened]) and not _only_adverbs(text[at : mark.opened]):
            main(at, mark.opened)
        behind = [m.opened for m in marks[i + 1 :]]
        if mark.kind == "background":  # reaches to the end, unless an opener stands behind a comma
            behind = [
                m.opened
                for m in marks[i + 1 :]
                if m.kind != "background" and text[: m.opened].rstrip().endswith(",")
            ]
        limit = behind[0] if behind else end
        joined = _JOINED.search(text, at, mark.opened) or _TIME_TO.search(text, at, mark.opened)
        first = number == 0 or bool(at < mark.opened and joined)
        stop = _end_of_subordinate(text, mark, limit, end, first)
        clause = Clause(
            mark.kind,
            mark.start,
            stop,
            mark.opened,
            mark.direct,
            number + 1 if first else number,
            first,
            mark.opener,
        )
        found.append(clause)
        at = stop
    if any(c.isalnum() for c in text[at:end]):
        main(at, end)
    for mark, until in relative:
        owner = next((c for c in found if c.kind == "main" and c.start <= mark.opened < c.end), None)
        if owner and until is not None:
            found.append(
                Clause(mark.kind, mark.start, until, mark.opened, number=owner.number, opener=mark.opener)
            )
    if number == 0:  # only a subordinate clause: what it says is the main one
        return [c._replace(kind="main", number=1) if i == 0 else c for i, c in enumerate(found)]
    numbered = [c._replace(number=min(max(c.number, 1), number)) for c in found]
    return [_as_purpose(text, before, c) for before, c in pairwise([None, *numbered])]


_SO_THAT = Wording(r"\s*,\s*(?:and\s+)?so\s+(?=the|an?|it|they|we|no|everybody|everyone|people)")


def _as_purpose(text: str, before: Clause | None, clause: Clause | None) -> Clause:
    """A main clause as the purpose of one that binds: ", so the message also reaches them"."""
    assert clause is not None
    if clause.kind != "main" or before is None or before.kind != "main":
        return clause
    so = _SO_THAT.match(text, clause.start, clause.end)
    binds = _MODAL.search(text, before.start, before.end) and not _MODAL.search(
        text, clause.start, clause.end
    )
    if not so or not binds:
        return clause
    return clause._replace(kind="purpose", start=so.end(), number=before.number, opener="so")


def _embedded(text: str, mark: _Opening, end: int) -> int | None:
    """Where a clause ends that stands inside another, else None.

    "any that has been cut", "a courier without a task must", "handling prior to signature is forbidden",
    "shall, if asked, …", "a fine left unpaid 60 days after its notification gets …".
    """
    if mark.kind == "after" and _LEFT_UNDONE.search(text[: mark.opened]):
        return _before_verb(text, mark.start, end)
    if mark.kind == "who":
        return mark.start
    if mark.opener.startswith(("who ", "that ", "which ")):
        stop = comma if (comma := text.find(",", mark.start, end)) > 0 else end
        return modal.start() if (modal := _MODAL.search(text, mark.start, stop)) else stop
    comma = text.find(",", mark.start, end) if text[: mark.opened].rstrip().endswith(",") else -1
    if comma > 0 and (_OPEN_MODAL.search(text, 0, mark.opened) or _MODAL.match(text, comma + 2)):
        return comma
    if mark.kind in ("without", "before") and (told := _UP_TO_MODAL.match(text, mark.start, end)):
        before = text[: mark.opened]
        nominal = _DETERMINER.match(before[before.rfind(",") + 1 :].removeprefix(" and").strip())
        if mark.kind == "without" or (nominal and not _binds(before[before.rfind(",") + 1 :])):
            return told.end()
    return None


def _before_verb(text: str, start: int, end: int, least: int = 1) -> int | None:
    """Where a modal or another verb in the third person begins, behind so many words at least."""
    modal = _MODAL.search(text, start, end)
    words = list(re.finditer(r"[a-z]+", text[start : modal.start() if modal else end]))
    verb = next(
        (
            m
            for m in words[least:]
            if m[0].endswith("s") and (_finite(m[0]) or lemmas(m[0], "v")[:1] in _COMMON)
        ),
        None,
    )
    return start + verb.start() if verb else modal.start() if modal else None


_LEFT_UNDONE = Wording(
    r"\b(?:left|remain(?:s|ing)?|stay(?:s|ing)?|(?:that|which|who) (?:is|are|was|were|has|have)|still)\s+(?:still |yet )?"
    r"(?:un\w+(?:ed|id|en|nt)|not (?:been )?[a-z]+(?: (?:out|in|up|off|over))?)\s+\Z"
)
"""What was not done to the subject of a clause."""
_OPEN_MODAL = Wording(rf"\b{MODAL}\s*,\s*\Z")


_JOINED = Wording(r"\b(?:and|but|so|yet|therefore|hence)\s+\Z")
_UP_TO_MODAL = Wording(rf"(?:\s*(?!\w+ing\b)[\w'-]+){{1,4}}?(?=\s+{MODAL}\b)")


def _only_adverbs(text: str) -> bool:
    words = re.findall(r"[a-z']+", text.lower())
    return all(
        w
        in (
            "then",
            "and",
            "but",
            "also",
            "finally",
            "however",
            "therefore",
            "or",
            "so",
            "only",
            "that",
            "moreover",
            "afterwards",
            "again",
            "for",
        )
        for w in words
    )


_EACH = Wording(r"(?:for|at|on|with|upon|after) (?:each(?: and every)?|every)")
_FEW_WORDS = Wording(
    rf"(?:\s*(?!(?:at|the|an?|in|and|or|but|who|which|that|{MODAL}|{NUMBER}|"
    rf"\w+ (?:out )?of {NUMBER})\b)[\w'-]+){{0,4}}"
)
_THAT_DONE = Wording(
    r"\s*(?:that|this|it|they)(?:'s|\s+(?:is|are|has been|"
    r"have been))\s+[\w-]+\b(?=\s+(?!by\b)\w)"
)
"""A clause that only points back: "until that's done no visitor …"."""


def _end_of_subordinate(text: str, mark: _Opening, limit: int, end: int, first: bool) -> int:
    """Where a subordinate clause ends: at the comma before the main clause, or where a new binding clause
    begins.
    """
    if mark.kind == "background" and not first:
        return limit
    commas = [m.start() for m in re.finditer(r",", text[mark.start : limit])]
    commas = [mark.start + c for c in commas]
    if _EACH.fullmatch(mark.opener) and (not first or _MODAL.search(text, mark.start, (*commas, limit)[0])):
        return min(limit, _FEW_WORDS.match(text, mark.start).end())  # type: ignore[union-attr]
    if text[mark.start : mark.start + 1] == ",":
        return mark.start
    if _TIME_TO.search(text, 0, mark.opened) and (to := _TO.search(text, mark.start, limit)):
        return to.start()
    if first:
        if done := _THAT_DONE.match(text, mark.start, limit):
            return done.end()
        for comma in commas:
            if _MODAL.search(text, mark.start, comma) and (cut := _before_binding(text, mark.start, comma)):
                return cut
            listed = re.match(r"\s*(?:and|or)\s", text[comma + 1 : end])
            if not listed and any(
                word(w).verbs for w in re.findall(r"[a-z]{3,}", text[mark.start : comma].lower())
            ):
                return comma
        if commas:
            return commas[-1]
        if limit < end:
            return _before_binding(text, mark.start, limit) or limit
        if not commas and (then := re.search(r"\bthen\b", text[mark.start : end])):
            return mark.start + then.start()
        return _before_binding(text, mark.start, end) or _before_finite(text, mark.start, end) or limit
    broken = _CONJUNCTION.search(text, mark.start, limit) or _COMMA_AND.search(text, mark.start, limit)
    if broken:
        return broken.start()
    if begun := next(_plain_clauses(text, mark.start, limit), None):
        return begun.start()
    if mark.kind in ("before", "after", "until", "without"):
        for joint in _COORDINATED.finditer(text, mark.start, limit):
            between = re.findall(r"[a-z]+", text[mark.start : joint.start()].lower())
            plain = 0 < len(between) <= 3 and between[0] in ("the", "a", "an", "any", "every", "each")
            plain = plain or (len(between) == 1 and between[0].endswith("ing"))
            if joint[1].lower() in lemmas(joint[1].lower(), "v") and plain:
                return joint.start()
    for comma in commas:
        if _MODAL.search(text, comma, limit):
            return comma
    return limit


_TIME_TO = Wording(r"\bha(?:s|ve) (?:got )?\Z")
_TO = Wording(r"\sto (?=[a-z]+\b)(?!the\b|an?\b)")


def _before_binding(text: str, start: int, end: int) -> int | None:
    """Where the noun phrase begins that a modal follows, after a verb: "if it rains | the shop must
    close".
    """
    for modal in reversed(list(_MODAL.finditer(text, start, end))):
        for d in reversed(list(_DETERMINER.finditer(text, start, modal.start() + 1))):
            if d.start() > start + 3 and _has_act(text[start : d.start()]):
                return d.start()
    return None


def _before_finite(text: str, start: int, end: int) -> int | None:
    """Where the noun phrase begins that a plain verb follows: "within an hour of each sale | the courier
    arrives".
    """
    for d in _DETERMINER.finditer(text, start + 4, end):
        if _has_act(text[start : d.start()]) and _finds_verb(text[d.end() : end]):
            return d.start()
    return None


_SHORT_VERBS = frozenset(
    {"go", "pay", "end", "buy", "get", "add", "cut", "set", "put", "use", "see", "ask", "eat", "run"}
)


def _has_act(text: str) -> bool:
    return any(word(w).verbs for w in re.findall(r"[a-z]+", text.lower()) if len(w) > 3 or w in _SHORT_VERBS)


def _finds_verb(text: str) -> bool:
    """Whether a verb in the third person stands behind a noun phrase."""
    if any(lemmas(m[1].lower(), "v") for m in _VERB_AND_OBJECT.finditer(text)):
        return True
    return any(
        w.endswith("s") and (_finite(w) or lemmas(w, "v")[:1] in _COMMON)
        for w in re.findall(r"[a-z]+", text.lower())[1:7]
    )


_VERB_AND_OBJECT = Wording(
    r"\w\s+(\w+s) (?:the|an?|it|them|his|her|their|its|each|every|all|"
    r"any)\b"
)
_COMMON = tuple(
    (v,)
    for v in [
        "get",
        "take",
        "give",
        "make",
        "put",
        "go",
        "come",
        "run",
        "turn",
        "set",
        "keep",
        "bring",
        "leave",
        "have",
        "do",
        "let",
        "show",
        "call",
    ]
)


def _binds(text: str) -> bool:
    """Whether a stretch has a verb of its own, so that what follows is another clause."""
    return bool(_MODAL.search(text)) or any(_finite(w) for w in re.findall(r"[a-z]+", text.lower()))


_OWN_SUBJECT = Wording(r",\s*(?:and |but )?(?:they|he|she|who)\b")
_SO = Wording(r",\s*(?:so|which is why|therefore|hence)\b")
_NEW_BAN = Wording(r"(?:no|nobody|no one|neither|never)\b")


def _finite(form: str) -> bool:
    """Whether a word can only be a verb, in a form that makes a clause."""
    return bool(lemmas(form, "v")) and not lemmas(form, "n") and not form.endswith("ing")


_INVERTED = Wording(
    r"\s*(?:(?:so|and|then|now|please)[, ]+)*(?:could|would|will|can|may|must|shall|should)\s+"
    r"(?:every|each|all|any|the|an?|our|no|both)(?: [\w'-]+){1,3}\s*"
)
"""A modal and the first of those it binds: "could every waiter and every cook …"."""
_AUXILIARY = frozenset({"is", "are", "has", "have", "gets", "get", "goes", "go"})


def _plain_clauses(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Where clauses begin that state a duty in the indicative behind a comma: ", and a reminder goes out"."""
    for m in _PLAIN_CLAUSE.finditer(text, start, end):
        behind = m["rest"].lower().split()
        if any(w in _AUXILIARY or (w.endswith("s") and _finite(w)) for w in behind[1:]):
            yield m


def _conjuncts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A main clause cut where a new binding one begins: "must check out, and must not walk on"."""
    found = [
        *_CONJUNCTION.finditer(text, start, end),
        *_COMMA_AND.finditer(text, start, end),
        *_plain_clauses(text, start, end),
        *_SPLICED.finditer(text, start, end),
    ]
    cuts = sorted(
        {
            m.start()
            for m in found
            if (_binds(text[start : m.start()]) and not _INVERTED.fullmatch(text, start, m.start()))
            or _NEW_BAN.match(text, m.end())
            or _SO.match(m[0])
            or (_OWN_SUBJECT.match(text, m.start()) and _has_act(text[start : m.start()]))
        }
    )
    edges = [start, *cuts, end]
    return [(a, b) for a, b in pairwise(edges) if a < b]
