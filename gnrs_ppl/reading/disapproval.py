"""Words that say of a state of affairs that it is a fault, or is not to be."""

from __future__ import annotations

from gnrs_ppl.reading.wording import Wording

_FAULT = (
    r"(?:breach|violation|infringement|offen[cs]e|irregularity|infraction|transgression|misconduct|no-go|mistake|error|"
    r"fault|wrong|finding|non-conformity|non-compliance|non-compliant|taboo)"
)
_BAD = (
    r"(?:(?:un|in)(?:acceptable|admissible|permissible|tolerable|excusable)|out of (?:the question|order|bounds)|"
    r"not (?:\w+ )?(?:acceptable|admissible|permissible|tolerable|allowed|permitted|on(?= to\b)|okay|ok|fine|right|in order|"
    r"an option|accepted|tolerated))"
)
_OUT = r"(?:wrong|improper|incomplete|deficient|forbidden|prohibited|banned|barred|precluded|ruled out)"
"""What may be said of things too ("the wrong customer"), and disapproves where it is a predicate."""
_IS_A = (
    r"(?:is|are|be|being|counts?|counted|constitutes?|constituting|amounts?|regarded|treated|considered|recorded|reported|"
    r"deemed|makes?|up)(?: as| to be| to)?"
)
_NOT = r"(?: not|n't| never)"
_TOLERATE = r"(?:tolerate|accept|allow|permit|have|want|stand for|put up with)"
_THAT = r"(?:in|for|on|of|with) which|where|that|which|who|whose|with|without"
_MODAL = r"(?:(?:is|are|has|have) to|must|may|shall|should|can|will)"
_NO_SUCH = (
    rf"there {_MODAL} (?:ever )?be no (?:single )?[\w-]+ (?={_THAT})|"
    rf"there (?:{_MODAL}{_NOT}|cannot|can't|mustn't) (?:ever )?be (?:an?|any) (?:single )?[\w-]+ (?={_THAT})|"
    rf"(?:i|we) (?:do(?:{_NOT}|n't)|never|won't|will{_NOT}) (?:want|wish|like) to (?:see|have|find) (?:an?|any) (?:single )?[\w-]+ (?={_THAT})"
)
"""No case is to be such as what follows tells: "there is to be no visit in which …"."""
_WAYS = (
    rf"{_IS_A} (?:(?:an?|the|clear|serious|grave|plain|severe) ){{0,3}}{_FAULT}s?",
    _BAD,
    rf"(?:is|are|be|being|been|remains?) (?:\w+ )?{_OUT}",
    rf"(?:{_FAULT}s?|{_OUT})(?=\s*[:–])",
    rf"(?:i|we) (?:will|would|do|shall|can)?(?:{_NOT}|not|won't|cannot|can't) {_TOLERATE}",
    rf"(?:will|would|shall|can|must|may|should){_NOT} be (?:tolerated|accepted|allowed|permitted)",
    rf"(?:may|must|should|shall|can){_NOT} (?:happen|occur|come about)|never to (?:happen|occur)|does{_NOT} do to|looks? bad",
    _NO_SUCH,
)
DISAPPROVES = Wording(rf"\b(?:{'|'.join(_WAYS)})\b")
"""Says of what is told that it is a fault, or is not to be."""
DISAPPROVED_HEADING = Wording(
    rf"\W*(?:(?:an?|the|clear|serious|grave|strictly|absolutely) ){{0,3}}(?:{_FAULT}s?(?: \d+)?|{_BAD}|{_OUT}|never|not so|no)\s*"
)
"""Before the colon of a sentence that tells what is disapproved of: "Not acceptable: …"."""
JUDGES = Wording(
    rf"\W*(?:it|this|that|we|i)?(?: really| also)? ?{DISAPPROVES.pattern}(?: (?:to|that|if|when))?\W*"
)
"""Only says that what follows is disapproved of: it is a breach when …"""
