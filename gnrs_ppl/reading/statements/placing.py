"""What a text says of the place of an act among all others: right behind another, the first or last of its case."""

from __future__ import annotations

import re
from itertools import pairwise

from gnrs_ppl.reading import patterns
from gnrs_ppl.reading.relations import Option
from gnrs_ppl.reading.statements.pending import Pending

_NOTHING_BEFORE = re.compile(
    r"\bnothing(?: else| other| at all)*(?: (?:may|must|shall|can|should|is to))?(?: ever)? "
    r"(?:happens?|occurs?|comes?|takes? place|is done|be done)"
    r"(?: (?:on|in|to|with|for) (?:an?|the|any|that|this) \w+)?\s+before\b",
    re.IGNORECASE,
)
"""Before the act that comes first of all."""


class Placing(Pending):
    """A text and the places that it gives its acts."""

    def _settle_places(self) -> None:
        """The act told before "that has to be the last entry" is the last of its case, and what nothing else happens
        before is the first; what is done "only straight after" another has that right before it.
        """
        for before, sentence in pairwise(self.text.said.sentences):
            takes = patterns.TAKES_PLACE.search(sentence.text)
            told = self._told_in(before)
            if takes is not None and len(told) == 1 and not self._told_in(sentence):
                self._decide(told[0], "end" if takes["last"] else "init", None)
                self._leave_out(before, [told[0], told[0]])
        for sentence in self.text.said.sentences:
            told = self._told_in(sentence)
            if len(told) == 1 and _NOTHING_BEFORE.search(sentence.text):
                self._decide(told[0], "init", None)
            first = [k for k in told if self._clause(k).kind == "only_after" and self._clause(k).direct]
            then = [k for k in told if self._clause(k).kind == "main"]
            if len(told) == 2 and len(first) == len(then) == 1:
                self._leave_out(sentence, [then[0], first[0]])
                self._decide(first[0], "chain_precedence", then[0])
                self.options[then[0]] = [Option("none", None, 1.0)]
