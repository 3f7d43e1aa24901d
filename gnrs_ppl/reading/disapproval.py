"""Words that say of a state of affairs that it is a fault, or is not to be."""

from __future__ import annotations

import re

_FAULT = (
    r"(?:breach|violation|infringement|offen[cs]e|irregularity|infraction|transgression|misconduct|no-go|mistake|error|fault|"
    r"wrong|finding|non-conformity|non-compliance|non-compliant|taboo)"
)
_FAULTY = (
    r"(?:un|in)(?:acceptable|admissible|permissible|tolerable|excusable)|wrong|improper|out of (?:the question|order|bounds)|"
    r"forbidden|prohibited|banned|not (?:\w+ )?(?:acceptable|admissible|permissible|tolerable|allowed|permitted|on(?= to\b)|okay|ok|"
    r"fine|right|in order|an option|accepted|tolerated)"
)
DISAPPROVES = re.compile(
    rf"\b(?:(?:is|are|be|being|counts?|counted|constitutes?|constituting|amounts?|regarded|treated|considered|recorded|reported|"
    rf"deemed|makes?|up)(?: as| to be| to)? (?:(?:an?|the|clear|serious|grave|plain|severe) ){{0,3}}{_FAULT}s?|"
    rf"{_FAULTY}|(?:will|would|do|does|can|shall|must)(?: not|n't) (?:be )?(?:tolerate|accept|allow|permit|have|want|stand for|put up "
    rf"with|do to|happen|occur)(?:d|ed)?|(?:won't|cannot|can't) (?:be )?(?:tolerate|accept|allow|have|do|happen|occur)(?:d|ed)?|"
    rf"(?:may|should|must) (?:not|never) (?:happen|occur|come about)|never to (?:happen|occur)|looks? bad|"
    rf"{_FAULT}s?(?=\s*[:–])"
    rf")\b",
    re.IGNORECASE,
)
"""Says of what is told that it is a fault, or is not to be."""

DISAPPROVED_HEADING = re.compile(
    rf"\W*(?:(?:an?|the|clear|serious|grave|strictly|absolutely) ){{0,3}}(?:{_FAULT}s?(?: \d+)?|{_FAULTY}|never|not so|no)\s*",
    re.IGNORECASE,
)
"""Before the colon of a sentence that tells what is disapproved of: "Not acceptable: …"."""
JUDGES = re.compile(
    rf"\W*(?:it|this|that|we|i)?(?: really| also)? ?{DISAPPROVES.pattern}(?: (?:to|that|if|when))?\W*",
    re.IGNORECASE,
)
"""Only says that what follows is disapproved of: it is a breach when …"""
