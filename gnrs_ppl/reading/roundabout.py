"""Rules told the long way round, in the words of rules: "hands off it until …; only then …", "I won't have people doing …", "both
of them or neither", "is excluded where … has previously been …", "never do this: … and … straight away".

The words of a rule stand in place of those; what is read goes back to where it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gnrs_ppl.reading.anew import Anew, Part, tells_act
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.quantities import NUMBER, PLAIN_DURATION
from gnrs_ppl.reading.types import Span
from gnrs_ppl.reading.vocabulary import Vocabulary, tokens_of
from gnrs_ppl.reading.wording import Wording
from gnrs_ppl.reading.words import lemmas

_HARDLY = 0.45
"""How well a verb without its thing tells an act at least."""
_BEGINS = r"(?:(?<=[.;!?:])\s+|^\s*)"
_TO_END = r"[^.;:!?]+"

# what comes later
_SUBSEQUENT = Wording(r"\b(?:subsequent(?:ly)?|posterior) to\b")

# in the time before
_LOOKS_BACK = Wording(
    r"\b(?P<opens>(?:only |solely |exclusively )?(?:where|if|when|once|provided(?: that)?)|unless)\b(?P<comma>\s*,)?\s+"
    rf"(?P<within>(?:in|within|during|over)\s+(?:the\s+)?(?:(?:last|previous|preceding|prior|past)\s+)?)(?P<time>{PLAIN_DURATION})"
    r"(?P<before>\s+(?:before(?:hand)?|preceding|prior|previously|earlier)(?:\s+(?:that|this|then|it))?)?\s*,?\s+(?=(?:an?|the|any|some|it|they|he|she|that|this|its?|their|no|[a-z]+)\b)"
    rf"(?P<what>{_TO_END})"
)
_SHOULD_THERE_BE = Wording(rf"{_BEGINS}(?P<should>should\s+there\s+(?:ever\s+)?be)\s+(?=[^.;:!?]*,)")
_TURNED = Wording(
    r"\s(?=(?:may|can|must|shall|should|is|are|will)\s+(?:an?|the|any|no|it|they|we|he|she|nobody|anybody)\b)"
)
"""Where a main clause begins that stands behind its condition, its verb first."""
_COMMA = re.compile(r"\s*,\s")

# how many
_NOT_WANTED = (
    r"(?:(?:do|does|will|would|can|could|shall|may)(?:\s+not|n['’]t)|won['’]t|can['’]t|cannot|never)\s+(?:ever\s+)?"
    r"(?:allow|accept|tolerate|permit|want|like|have|stand for|put up with|approve of|wish)"
)
_MORE_WE_DO_NOT = Wording(
    rf"(?:{_BEGINS}|,?\s+(?P<joint>but|yet|though|and|however)\s*,?\s+)(?P<more>more\s+than\s+)(?P<n>(?!(?:the)\b){NUMBER})(?P<what>\s+[^.;:!?,]{{3,60}}?)\s+"
    rf"(?P<who>(?:i|we|you|they|the\s+\w+(?:\s+\w+)?|nobody|no one)\s+(?:{_NOT_WANTED})(?:\s+(?:to\s+be\s+)?(?P<done>[a-z]+(?:ed|nt|de|en|ld|ne)))?)(?=\s*[.;!?,]|\s*$)"
)
"""What there may not be more of, told first: more than two payments we do not allow."""
_SO_MANY_ARE_FINE = Wording(
    rf"{_BEGINS}(?P<n>{NUMBER})(?P<what>\s+[^.;:!?,]{{3,60}}?)\s+(?P<fine>(?:is|are)\s+(?:all right|alright|fine|ok(?:ay)?|allowed|permitted|accepted|acceptable|enough|plenty|welcome|tolerated)\s*[,;–—]?\s*"
    rf"(?:but\s+|yet\s+|and\s+)?(?:more\s+than\s+(?:that|this|those|these)|any\s+more(?:\s+than\s+that)?|more(?:\s+of\s+them)?)\s+(?:(?:(?:i|we|you|they|the\s+\w+)\s+{_NOT_WANTED})|(?:is|are)\s+not(?:\s+\w+)?))(?=\s*[.;!?,]|\s*$)"
)

# both or neither
_BOTH_OR_NEITHER = Wording(
    rf"{_BEGINS}(?P<two>[^.;:!?]+?\sand\s[^.;:!?,]+?)(?P<frame>\s*[:,–—]\s*[^.;:!?]*?|\s+(?:(?:{MODAL})\s+(?:be\s+|have\s+)?)?|\s+)(?:either\s+)?\bboth\b(?:\s+of\s+(?:them|the\s+two|these))?\s*,?\s+or\s+(?:neither|none)\b(?:\s+of\s+(?:them|the\s+two|these))?[^.;!?]*"
)
_TO_BE_BOTH = Wording(
    rf"{_BEGINS}(?P<who>[^.;:!?,]+?)\s+(?P<be>(?:(?:{MODAL})\s+(?:be\s+)?|is\s+|are\s+|gets?\s+)(?:either\s+)?both\s+)(?P<one>[^.;:!?,]+?)\s+and\s+(?P<other>[^.;:!?,]+?)\s*,?\s+or\s+(?:neither|none)\b(?:\s+of\s+(?:them|the\s+two|these))?"
)
_NOR_WITHOUT = Wording(
    rf"(?:\b(?:there\s+(?:(?:{MODAL}|may)\s+)?(?:be|is|are)\s+)?|^)no\s+(?P<one>[^.;:!?,]{{3,50}}?)\s+without\s+(?P<other>[^.;:!?,]{{3,50}}?)\s*,?\s+(?:nor|or|and(?:\s+also)?(?:\s+there\s+(?:(?:{MODAL}|may)\s+)?(?:be|is|are))?\s+no)\s+"
    r"(?P<other2>[^.;:!?,]{3,50}?)\s+without\s+(?P<one2>[^.;:!?,]{3,50})(?P<rest>,?\s+(?:in\s+(?:whichever|whatever|any|either)\s+order|whichever[^.;:!?]*))?"
)
_ARTICLE = re.compile(r"(?:an?|any|the|every|each)\s+", re.IGNORECASE)
_FORMER = Wording(
    rf"{_BEGINS}(?P<lead>(?:as\s+(?:to|for|regards)|regarding|concerning|of|between|with|in the case of)\s+)?(?P<one>[^.;:!?,]+?)\s+and\s+(?P<other>[^.;:!?,]+?)\s*[:,–—;]\s*(?=(?:[\w'’-]+\s+){{0,3}}?the\s+(?:former|latter)\b)(?P<rest>{_TO_END})"
)
_POINTS = Wording(r"\bthe\s+(?P<which>former|latter)\b")
_FOLLOWS = Wording(
    rf"the\s+(?P<which>former|latter)\s+(?P<follow>(?:{MODAL})\s+(?:be\s+done|come|happen|follow|take\s+place)(?:\s+after)?\s+)the\s+(?:former|latter)\b(?P<rest>[^.;:!?]*)"
)
_EXCLUDES = Wording(
    r"\b(?:the\s+)?one\s+(?:always\s+)?(?:excludes|rules\s+out|precludes|bars)\s+the\s+other\b"
)

_NOT_BOTH = Wording(
    r"\b(?:not|never|neither|no|nobody|cannot)\b[^.;!?]*?\bboth\b[^.;!?]*?(?P<order>\s*,?\s+(?:in\s+(?:either|whichever|whatever|any)\s+order|(?:no\s+matter|regardless\s+of)\s+which\s+(?:\w+\s+){1,3}first|whichever\s+(?:\w+\s+){1,3}first))(?=\s*[.;!?,]|\s*$)"
)
"""Bars two acts in one case, with the words that say once more that their order does not matter."""

# what somebody will not have
_WHO = r"(?P<who>(?:any\s+|an?\s+|the\s+|our\s+|your\s+|some\s+)?(?!(?:to|it|that|this|more|less|an?|the|any)\b)[a-z][\w'’-]*(?:\s+of\s+staff)?)"
_WILL_NOT_HAVE = Wording(
    rf"\b(?P<i>(?:i|we)\s+(?:(?:do|will|would|can|could|shall)(?:\s+not|n['’]t)|won['’]t|can['’]t|cannot|never)\s+(?:ever\s+)?(?:have|accept|want|tolerate|allow|permit|like|stand\s+for|put\s+up\s+with|wish)(?:\s+to\s+(?:see|have|find|catch))?)\s+"
    rf"{_WHO}\s+(?P<to>to\s+)?(?P<verb>[a-z]+)\b(?P<rest>[^.;:!?]*)"
)
_ORDERED = Wording(r"\b(?:without|before|unless|until|after|once|who|whose|that|which|they|he|she|first)\b")
_FIRST = Wording(r"\b(?:first|before\w*|earlier|already|previously|in advance)\b")
_THEY_DID_NOT = Wording(
    r"\s+(?:(?:that|which)\s+)?(?P<they>they|he|she|he or she)\s+(?P<not>(?:did|have|had|has)(?:\s+not|n['’]t)|never)\s+"
)
"""Begins what those who do something did not do to the thing before."""

_WITHOUT_HAVING = Wording(
    r"\bwithout\s+(?P<who>(?:(?:an?|the|any|his|her|their|its|our)\s+)?[a-z][\w'’-]*)\s+(?P<having>(?:first\s+)?having\s+(?:first\s+)?)(?!been\b)(?=[a-z]+(?:ed|en|nt|id|ne)\b)"
)

_AS_NOBODY = Wording(
    r"\s*,?\s+(?:as|since|because|for)\s+(?:nobody|no one|no-one|none of them|hardly anybody)(?:\s+else)?\s+(?=[a-z])[^.;:!?]*(?=[.;:!?]|$)"
)
"""Gives a reason, and bans nothing."""

# barred afterwards
_LATER = r"(?:at\s+(?:any|some)\s+(?:later\s+)?(?:time|point|moment|stage)(?:\s+(?:after(?:wards)?|later|thereafter))?|ever\s+(?:after(?:wards)?|again)|after(?:wards)?|later(?:\s+on)?|thereafter|subsequently)"
_NO_ONE_WHO = Wording(
    rf"{_BEGINS}(?P<no>no\s+)(?P<who>[a-z][\w'’-]*(?:\s+of\s+staff|\s+[a-z][\w'’-]*)?)\s+who\s+(?!(?:has|have|had|did|was|were|is|are)\s+(?:not|never|been)\b|(?:is|are|was|were)\b)(?P<did>[^.;:!?,]+?)\s+"
    rf"(?P<modal>may|must|shall|should|can|will|is\s+to|is\s+allowed\s+to|is\s+permitted\s+to)\s+(?:(?P<later>{_LATER})\s+(?P<then>[^.;:!?]+)|(?P<then2>[^.;:!?,]+?)\s+(?P<later2>{_LATER}))(?=\s*[.;:!?,]|\s*$)"
)
_EXCLUDED = Wording(
    r"\b(?P<is>(?:(?:shall|must|will|is to|are to)\s+be|is|are|be)\s+(?:then\s+|therefore\s+|thereby\s+)?(?:excluded|ruled\s+out|precluded|barred|inadmissible|out\s+of\s+the\s+question|no\s+longer\s+(?:possible|available|open|admissible)))\s+"
    r"(?P<where>(?:in\s+(?:all\s+)?cases\s+)?(?:where|in which|wherever|if|when|once|as soon as|after))\s+(?=[^.;:!?]*?\b(?:ha(?:s|ve|d)|was|were|previously|already|earlier|before(?=\s*[.;:!?,]|\s*$))\b)"
)

# not the next
_STEP = r"(?:step|thing|entry|act|action|event|stage|activity|move)"
_NOT_NEXT = Wording(
    rf"\b(?P<modal>(?:may|must|shall|should|can|is|are|do|does|will)\s+(?:not|never)(?:\s+to)?|never)\s+(?P<come>(?:(?:come|happen|occur|follow|take\s+place|stand)\s+(?:as\s+)?|be\s+the\s+step\s+that\s+comes\s+as\s+)the\s+(?:very\s+)?(?:next|first)\s+{_STEP}\s+"
    rf"(?:that\s+comes\s+|to\s+come\s+)?(?:(?:directly|right|immediately|straight)\s+)?(?:after|following|behind))\b"
)
_STRAIGHT_AFTER = Wording(
    r"\b(?P<modal>(?:may|must|shall|should|can|is|are)\s+(?:not|never)(?:\s+to)?|never)\s+(?P<come>(?:come|happen|occur|follow|take\s+place|be\s+done)\s+(?:directly|right|immediately|straight|at\s+once)\s+(?:after|upon|on))\b"
)
_BETWEEN_THEM = Wording(
    r"\s*[,;.–—]?\s*(?:(?:and|but|since|because|as)\s+)?(?:at\s+least\s+)?(?:(?:some|any|an|one)\s*(?:other|more)\s+(?:step|thing|entry|act|action|event|stage|activity)|another\s+(?:step|thing|entry|act|action|event|stage|activity)|something\s+else|something)\s+"
    rf"(?:(?:{MODAL}|always)\s+)?(?:always\s+)?(?:lie|lies|come|comes|be|is|happen|happens|occur|occurs|stand|stands|take\s+place)\s+(?:in\s+)?between(?:\s+(?:them|the\s+two|these\s+two))?(?=\s*[.;!?,]|\s*$)"
)
"""Says once more that the one may not come right after the other."""
_ANOTHER_BETWEEN = Wording(
    rf"{_BEGINS}between\s+(?P<one>[^.;:!?,]+?)\s+and\s+(?P<other>[^.;:!?,]+?)\s*,?\s+(?:(?P<there>there\s+(?:(?:{MODAL})\s+)?(?:always\s+)?(?:lie|come|be|is|happen|occur|stand)\s+))?(?:at\s+least\s+)?(?:one|some|any|an)?\s*(?:other|another|further|more)\s+(?:{_STEP})"
    rf"(?(there)|\s+(?:{MODAL})\s+(?:always\s+)?(?:lie|come|be|happen|occur|stand|take\s+place))(?=\s*[.;!?,]|\s*$)"
)
_AT_ONCE = r"(?:straight\s*away|right\s+away|at\s+once|immediately(?:\s+after(?:wards)?)?|directly(?:\s+after(?:wards)?)?|right\s+after(?:wards)?|straight\s+after(?:wards)?|without\s+anything\s+in\s+between)"
_NEVER_DO = Wording(
    rf"{_BEGINS}(?P<never>(?:please\s+)?(?:never|do\s+not|don['’]t|nobody\s+may|you\s+must\s+(?:not|never))\s+(?:ever\s+)?(?:do\s+(?:this|the\s+following|as\s+follows)\s*[:–—]\s*)?)(?P<first>[a-z]+\b[^.;:!?,]*?)\s*,?\s+and\s+(?:then\s+)?(?P<then>[a-z]+\b[^.;:!?,]*?)\s+"
    rf"(?P<once>{_AT_ONCE})(?=\s*[.;:!?,]|\s*$)"
)
_RIGHT_AFTER_IS_ANY_OTHER = Wording(
    rf"{_BEGINS}the\s+(?:{_STEP}\s+)?(?:(?:right|directly|immediately|straight|next)\s+)?(?:{_STEP}\s+)?(?:right\s+|directly\s+|immediately\s+)?after\s+(?P<one>[^.;:!?,]+?)\s+(?P<be>(?:{MODAL})\s+be|is|has\s+to\s+be)\s+(?:any(?:thing)?|some(?:thing)?|an?)\s*(?:{_STEP}\s+)?(?:other|else|another|different)\s*(?:{_STEP}\s+)?(?:than|but|from)\s+(?P<other>[^.;:!?,]+)"
)
_RIGHT_AFTER_BARRED = Wording(
    rf"{_BEGINS}(?P<what>(?:an?|the|any)\s+[^.;:!?,]+?)\s+(?P<after>(?:right|straight|directly|immediately)\s+after)\s+(?P<one>[^.;:!?,]+?)\s+(?P<bar>(?:is|are)\s+(?:not\s+(?:allowed|permitted|acceptable|tolerated|accepted|admissible)|forbidden|prohibited|banned|ruled\s+out|out\s+of\s+the\s+question))\b"
)

# whichever of two
_WHICHEVER = Wording(
    rf"{_BEGINS}(?P<opens>(?:whichever|whatever|no\s+matter\s+(?:which|what)|regardless\s+of\s+(?:which|what))\b(?:(?!\s+first\b)\s+[\w'’-]+){{1,5}}?\s*[,:–—(]\s*(?:be\s+it\s+|whether\s+|either\s+)?)(?P<ways>[^.;:!?,]+?\sor\s[^.;:!?,–—)]+?)(?P<comma>\s*[,:–—)]\s*)(?P<due>{_TO_END})"
)
_WHETHER_THEN = Wording(
    rf"{_BEGINS}(?P<opens>(?:no\s+matter\s+|regardless\s+of\s+|irrespective\s+of\s+)?whether\s+)(?P<ways>(?!it\s+\w+\s+or\s+not)[^.;:!?,]+?\sor\s(?!not\b)[^.;:!?,]+?)(?P<comma>\s*,\s*)(?P<due>[^.;:!?]*?\b(?:then|afterwards?|thereafter|subsequently)\b[^.;:!?]*)"
)

_BE_IT = Wording(
    r"(?P<it>\s*,\s*(?:be\s+(?:it|they)|whether|either)\s+)(?=(?:to|by|with|from|in|on|at|through|via|for|[a-z]+ly)\b[^.;:!?,]*?\sor\s(?!not\b)[^.;:!?,]+?\s*(?:[,.;:!?]|$))"
)
"""Before the two ways in which something was done."""

# hands off
_HANDS_OFF = Wording(
    rf"{_BEGINS}(?P<off>(?:please\s+)?(?:(?:keep\s+(?:your\s+)?)?(?:hands|fingers|paws)\s+off|leave\s+(?P<left>[^.;:!?,]{{2,40}}?)\s+(?:alone|be|untouched|as\s+it\s+is|where\s+it\s+is)|(?:do\s+not|don['’]t|never)\s+touch|(?:keep|stay)\s+(?:well\s+)?(?:(?:away|clear|out)\s+(?:from|of)|off)|"
    rf"hold\s+off(?:\s+on|\s+from)?|wait(?:\s+with)?|hold\s+back(?:\s+with)?|hold\s+your\s+horses)\b(?P<thing>[^.;:!?]*?)),?\s+(?P<until>(?:until|till)\s+)(?P<done>[^.;:!?]+)(?P<mark>\s*[.;!?:]\s*)(?P<next>{_TO_END})"
)
_ONLY_THEN = Wording(
    r"\s*(?:and\s+)?(?P<only>(?:only|not)\s+(?:then|after\s+(?:that|this)|until\s+then|before\s+(?:that|then)|thereafter|afterwards|from\s+then\s+on)|from\s+then\s+on|then(?:\s+and\s+only\s+then)?)\s+(?P<modal>may|can|must|shall|should|is|are|will|do|does)\s+(?P<rest>[^.;:!?]+)"
)
_NO_EARLIER = Wording(
    r"\s*,?\s+(?P<earlier>(?:any\s+|a\s+\w+\s+)?(?:earlier|sooner)(?:\s+than\s+(?:that|then|this))?|before(?:\s+(?:that|then|this)|hand)?|until\s+then|till\s+then|up\s+to\s+then)(?=\s*[.;!?,]|\s*$)"
)
_BARS = Wording(
    r"\b(?:not|never|no|nobody|no one|none|nothing|forbidden|prohibited|banned|barred|excluded|ruled out|inadmissible|out of the question)\b|n['’]t\b"
)
_DENIES = Wording(r"\b(?:no|not|nothing|nobody|none|never|neither|no one)\b|n['’]t\b")


_WILL_NOT = re.compile(r"\b(?:i|we)\s+(?:\w+\s+)?(?:\w+n['’]t|not|never|cannot)\b")
_CLOSE_BY = ("next ", "first ", "between", "right", "straight", "direct", "immediate", "at once")
"""One of these says that something is right behind or before something else."""
_FRAMES = ("sure", "certain", "see to it", "take care")
"""One of these frames what is to be made sure."""
_IT = Wording(r"\b(?:it|them)\b")


# make sure that
_SEE_TO_IT = Wording(
    r"(?:(?<=[.;!?])\s+|^\s*(?:[-*•]\s+)?|(?<=, )|(?<=please )|(?<=must )|(?<=always ))(?P<see>(?:please,?\s+|always\s+|kindly\s+){0,2}(?:make\s+(?:absolutely\s+|very\s+)?(?:sure|certain)|be\s+(?:sure|certain)|ensure|assure|see\s+to\s+it|take\s+care)\s+"
    r"(?:that\s+|(?<!see to it )(?=(?:[\w'’-]+\s+){1,5}?(?:is|are|has|have|gets?|must)\b)))(?P<main>[^.;:!?]+)"
)
"""Frames a duty, and tells no act where what it frames does."""
_ORDER = Wording(
    r"\b(?:before|after|within|until|till|unless|once|when|if|without|prior|following|as soon as|where|since)\b"
)


def _seen_to(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What is to be made sure, as what is required, whose own words could be taken for an act."""
    for m in _SEE_TO_IT.finditer(text):
        see, main = Span(*m.span("see")), Span(*m.span("main"))
        order = _ORDER.search(text, *main)
        if not tells_act(text, Span(main.start, order.start() if order else main.end), words):
            continue
        yield Anew(see, ((" It is required that ", see),))


def roundabout(text: str, words: Vocabulary) -> Iterator[Anew]:
    """Passages that say a rule in a roundabout way, told in the words of rules."""
    small = text.lower()
    if " until " in small or " till " in small:
        yield from _hands_off(text, words)
    if "nobody" in small or "no one" in small or "no-one" in small:
        for m in _AS_NOBODY.finditer(text):
            if not tells_act(text, Span(*m.span()), words) and text[: m.start()].strip():
                yield Anew(Span(*m.span()), ())
    if "subsequent" in small or "posterior" in small:
        for m in _SUBSEQUENT.finditer(text):
            yield Anew(Span(*m.span()), (("after", Span(*m.span())),))
    if "should there" in small:
        for m in _SHOULD_THERE_BE.finditer(text):
            yield Anew(Span(*m.span("should")), (("After", Span(*m.span("should"))),))
    if re.search(r"\b(?:in|within|during|over) ", small):
        yield from _looking_back(text, words)
    if "more" in small:
        yield from _counted_first(text, words)
    if "neither" in small or "none" in small or "without" in small:
        yield from _together(text, words)
    if "the former" in small or "the latter" in small:
        yield from _former_and_latter(text)
    if "both" in small:
        for m in _NOT_BOTH.finditer(text):
            yield Anew(Span(*m.span("order")), ())
    if "the other" in small:
        for m in _EXCLUDES.finditer(text):
            yield Anew(Span(*m.span()), (("never both", Span(*m.span())),))
    if _WILL_NOT.search(small):
        yield from _not_had(text, words)
    if any(w in small for w in ("whichever", "whether", "whatever", "be it", "be they", "either")):
        yield from _whichever(text, words)
    if " who " in small or " where" in small or "exclu" in small or "rul" in small or "question" in small:
        yield from _barred_later(text, words)
    if any(w in small for w in _CLOSE_BY):
        yield from _not_next(text, words)
    if any(w in small for w in _FRAMES):
        yield from _seen_to(text, words)


def _act(text: str, span: Span, words: Vocabulary) -> str:
    """The act that some words tell best; none where they hardly tell any."""
    tokens = tokens_of(text[span.start : span.end])
    found = words.match_acts(tokens, range(len(tokens)))[:1]
    return found[0].name if found and found[0].score >= _HARDLY else ""


def _base(verb: str) -> str:
    """The plain form of a verb that is told in its "-ing"; nothing where it is none."""
    found = lemmas(verb, "v") if verb.endswith("ing") else ()
    return next((w for w in found if w != verb), "")


def _looking_back(text: str, words: Vocabulary) -> Iterator[Anew]:
    """The time in which something was done before, behind what was done."""
    for m in _LOOKS_BACK.finditer(text):
        if not m["before"] and not re.search(r"last|previous|preceding|prior|past", m["within"].lower()):
            continue
        what = Span(*m.span("what"))
        comma = _COMMA.search(text, *what)
        cut = comma or _TURNED.search(text, *what)
        end = cut.start() if cut else what.end
        own = Span(what.start, end)
        if not tells_act(text, own, words):
            continue
        within = Span(m.start("within"), m.end("before") if m["before"] else m.end("time"))
        opens, time = Span(*m.span("opens")), Span(*m.span("time"))
        told: list[Part] = [opens, (" ", within), own]
        if _DENIES.search(text, *own) or comma:
            told += [(" in the preceding ", within), *_counted(text, time)]
        else:
            told += [(" in the ", within), time, (" before that", within)]
        rest = Span(comma.end(), what.end) if comma else None
        if rest and not text[: m.start()].strip() and _BARS.search(text, *rest):
            yield Anew(Span(m.start(), rest.end), (rest, (" ", opens), *told))
        elif rest is None or opens.end - opens.start > len("where"):
            yield Anew(Span(m.start(), end), tuple(told))


def _counted(text: str, time: Span) -> list[Part]:
    """A time with its number, where only its unit is told."""
    unit = re.fullmatch(r"(?:the\s+)?(?P<unit>\w+)", text[time.start : time.end], re.IGNORECASE)
    return [("one ", time), Span(time.start + unit.start("unit"), time.end)] if unit else [time]


def _counted_first(text: str, words: Vocabulary) -> Iterator[Anew]:
    """How many there may be of what is told first, as at most so many."""
    for m in (*_MORE_WE_DO_NOT.finditer(text), *_SO_MANY_ARE_FINE.finditer(text)):
        what = Span(*m.span("what"))
        if not tells_act(text, what, words):
            continue
        lead, behind = Span(m.start(), m.start("n")), Span(what.end, m.end())
        fresh = text[: m.start()].strip()[-1:] in ("", *".;:!?")
        done = m.groupdict().get("done") or "made"
        parts = (" " if fresh else ". ") + "More than ", f" must not be {done}"
        yield Anew(Span(*m.span()), ((parts[0], lead), Span(*m.span("n")), what, (parts[1], behind)))


def _together(text: str, words: Vocabulary) -> Iterator[Anew]:
    """Two acts of which a case is to have both or neither, as what belongs together."""
    for m in _TO_BE_BOTH.finditer(text):
        one, other, who = (Span(*m.span(g)) for g in ("one", "other", "who"))
        if tells_act(text, one, words) and tells_act(text, other, words):
            be = Span(*m.span("be"))
            parts: list[Part] = [(" ", who), who, (" must not be ", be), one, (" without being ", be), other]
            parts += [(" and must not be ", be), other, (" without being ", be), one]
            yield Anew(Span(*m.span()), (*parts, (", in whatever order", be)))
    for m in _BOTH_OR_NEITHER.finditer(text):
        two, frame = Span(*m.span("two")), Span(*m.span("frame"))
        joint = text.lower().rfind(" and ", two.start, two.end)
        acts = {_act(text, s, words) for s in (Span(two.start, joint), Span(joint, two.end))}
        if len(acts) == 2 and "" not in acts and not tells_act(text, frame, words):
            yield Anew(Span(*m.span()), ((" ", two), two, (" belong together", Span(two.end, m.end()))))
    for m in _NOR_WITHOUT.finditer(text):
        one, other = (_less_article(text, Span(*m.span(g))) for g in ("one", "other"))
        told = [_act(text, Span(*m.span(g)), words) for g in ("one", "other", "one2", "other2")]
        if "" not in told and told[:2] == told[2:] and told[0] != told[1]:
            whole = Span(*m.span())
            yield Anew(whole, ((" ", whole), one, (" and ", whole), other, (" belong together", whole)))


def _less_article(text: str, span: Span) -> Span:
    article = _ARTICLE.match(text, span.start, span.end)
    return Span(article.end(), span.end) if article else span


def _former_and_latter(text: str) -> Iterator[Anew]:
    """The former and the latter, as the two things that were told first."""
    for m in _FORMER.finditer(text):
        rest, parts = Span(*m.span("rest")), list[Part]()
        one, other = Span(*m.span("one")), Span(*m.span("other"))
        at = rest.start
        if (follows := _FOLLOWS.match(text, *rest)) and (
            follows["follow"].split()[-1] in ("after", "follow")
        ):
            first, then = (one, other) if follows["which"] == "latter" else (other, one)
            opens = Span(m.start(), rest.start)
            parts = [
                (" After ", opens),
                first,
                (", ", opens),
                then,
                (" must be done", Span(*follows.span("follow"))),
            ]
            yield Anew(Span(m.start(), rest.end), (*parts, Span(*follows.span("rest"))))
            continue
        for p in _POINTS.finditer(text, *rest):
            parts += [Span(at, p.start()), one if p["which"] == "former" else other]
            at = p.end()
        whole = Span(m.start(), rest.end)
        yield Anew(whole, ((" ", Span(m.start(), rest.start)), *parts, Span(at, rest.end)))


def _not_had(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What somebody will not have others do, as what those must not do."""
    for m in _WILL_NOT_HAVE.finditer(text):
        verb = m["verb"] if m["to"] else _base(m["verb"].lower())
        rest, who, opens = Span(*m.span("rest")), Span(*m.span("who")), Span(*m.span("i"))
        if not (verb and _ORDERED.search(text, *rest)):
            continue
        if not tells_act(text, Span(m.start("verb"), rest.end), words):
            continue
        parts: list[Part] = [who, (f" must not {verb}", Span(*m.span("verb")))]
        undone = _THEY_DID_NOT.search(text, *rest)
        if undone:
            did = "have " if undone["not"].lower().startswith(("ha", "never")) else "did "
            told = Span(*undone.span())
            first = "" if _FIRST.search(text, undone.end(), rest.end) else " beforehand"
            parts += [Span(rest.start, undone.start()), (f" unless they {did}", told)]
            parts += [Span(undone.end(), rest.end), (first, Span(rest.end - 1, rest.end))]
        else:
            parts.append(rest)
        yield Anew(Span(opens.start, rest.end), tuple(parts))


def without_having(text: str, words: Vocabulary) -> Iterator[Anew]:
    """Without somebody having done something, as unless they have."""
    if " having " not in text:
        return
    for m in _WITHOUT_HAVING.finditer(text):
        who, having = Span(*m.span("who")), Span(*m.span("having"))
        yield Anew(Span(*m.span()), (("unless ", Span(m.start(), who.start)), who, (" has ", having)))


def _barred_later(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What nobody who did one thing may do afterwards; and what is excluded where something has been done."""
    for m in _NO_ONE_WHO.finditer(text):
        then = Span(*m.span("then" if m["then"] else "then2"))
        no, who, did = (Span(*m.span(g)) for g in ("no", "who", "did"))
        later = Span(*m.span("later" if m["later"] else "later2"))
        if tells_act(text, did, words) and tells_act(text, then, words):
            parts = (
                (" A ", no),
                who,
                (" who ", did),
                did,
                (" must not ", later),
                then,
                (" afterwards", later),
            )
            yield Anew(Span(*m.span()), parts)
    for m in _EXCLUDED.finditer(text):
        is_so, where = Span(*m.span("is")), Span(*m.span("where"))
        yield Anew(Span(is_so.start, where.end), (("is forbidden", is_so), (" where", where)))


def _whichever(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What is due whichever of two acts was done, as due after either; two ways to do something, told right behind it."""
    for m in _BE_IT.finditer(text):
        yield Anew(Span(*m.span("it")), ((" ", Span(*m.span("it"))),))
    for m in (*_WHICHEVER.finditer(text), *_WHETHER_THEN.finditer(text)):
        ways, due = Span(*m.span("ways")), Span(*m.span("due"))
        joint = text.lower().rindex(" or ", ways.start, ways.end + 3)
        acts = {_act(text, s, words) for s in (Span(ways.start, joint), Span(joint, ways.end))}
        if len(acts) == 2 and "" not in acts and tells_act(text, due, words):
            opens, comma = Span(*m.span("opens")), Span(*m.span("comma"))
            yield Anew(Span(*m.span()), ((" After ", opens), ways, (", ", comma), due))


def _not_next(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What may not come right after something else."""
    small = text.lower()
    if "next" in small or "first" in small:
        for m in _NOT_NEXT.finditer(text):
            come = Span(*m.span("come"))
            yield Anew(come, (("come directly after", come),))
    if "between" in small:
        barred = (_STRAIGHT_AFTER, _NOT_NEXT, _NEVER_DO, _RIGHT_AFTER_BARRED)
        for m in _BETWEEN_THEM.finditer(text):
            if any(p.search(text, 0, m.start() + 1) for p in barred):
                yield Anew(Span(*m.span()), ())
        for m in _ANOTHER_BETWEEN.finditer(text):
            yield _not_right_after(text, m, Span(*m.span("other")), Span(*m.span("one")))
    if any(w in small for w in ("right", "straight", "direct", "immediate", "at once", "between")):
        for m in _RIGHT_AFTER_IS_ANY_OTHER.finditer(text):
            yield _not_right_after(text, m, Span(*m.span("other")), Span(*m.span("one")))
        for m in _RIGHT_AFTER_BARRED.finditer(text):
            yield _not_right_after(text, m, Span(*m.span("what")), Span(*m.span("one")))
        for m in _NEVER_DO.finditer(text):
            first, then, once = (Span(*m.span(g)) for g in ("first", "then", "once"))
            verb = text[first.start : first.end].split()[0].lower()
            if verb not in lemmas(verb, "v") or not all(_act(text, s, words) for s in (first, then)):
                continue
            never = Span(*m.span("never"))
            parts = ((" You must not ", never), then, (" directly after you ", once), first)
            yield Anew(Span(*m.span()), parts)


def _not_right_after(text: str, m: re.Match[str], what: Span, one: Span) -> Anew:
    """That something must not come directly after something else, in place of a match."""
    whole = Span(*m.span())
    return Anew(whole, ((" ", whole), what, (" must not come directly after ", whole), one))


def _hands_off(text: str, words: Vocabulary) -> Iterator[Anew]:
    """What is to wait for something, and may be done only then, as what may not be done before it."""
    for m in _HANDS_OFF.finditer(text):
        off, done, mark = (Span(*m.span(g)) for g in ("off", "done", "mark"))
        behind = Span(*m.span("next"))
        lead = Span(m.start(), done.start)
        if not tells_act(text, done, words):
            continue
        if then := _ONLY_THEN.match(text, *behind):
            rest, modal, only = (Span(*then.span(g)) for g in ("rest", "modal", "only"))
            parts: list[Part] = [(" Only after ", lead), done, (" ", mark), modal, (" ", only)]
            thing = Span(*m.span("left" if m["left"] else "thing"))
            it = _IT.search(text, *rest) if text[thing.start : thing.end].strip() else None
            if it and not tells_act(text, rest, words):
                parts += [Span(rest.start, it.start()), thing, Span(it.end(), rest.end)]
            else:
                parts.append(rest)
            yield Anew(Span(off.start, rest.end), tuple(parts))
        elif (early := _NO_EARLIER.search(text, *behind)) and _DENIES.search(
            text, behind.start, early.start()
        ):
            parts = [Span(behind.start, early.start()), (" before ", Span(*early.span("earlier"))), done]
            yield Anew(Span(off.start, early.end()), tuple(parts))
