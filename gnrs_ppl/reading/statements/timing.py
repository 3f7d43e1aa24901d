"""What a text says of the time of an act in other words than a deadline: who has how long, when the clock starts."""

from __future__ import annotations

from itertools import pairwise

from gnrs_ppl.reading.constructions import Sentence, how_bound
from gnrs_ppl.reading.quantities import PLAIN_DURATION, durations
from gnrs_ppl.reading.relations import Option
from gnrs_ppl.reading.statements.placing import Placing
from gnrs_ppl.reading.wording import Wording

_HAS_TIME = Wording(
    r"\b(?:ha(?:s|ve)|gets?|(?:is|are) (?:given|allowed|granted)|(?:may|can|must|will|shall|should) (?:have|take|be given))\s+"
    rf"(?:(?:only|just|up to|at most|no more than|a maximum of)\s+)?{PLAIN_DURATION}\s+(?:(?:in|within) which\s+)?to\s+(?=[a-z])"
)
"""Before what somebody has so much time for."""
_WHICH = Wording(r"\b(?:that|which|who|whose|whom)\b")
_CLOCK = Wording(
    r"\b(?:clock|countdown|time(?: limit)?|period|deadline|term)\s+(?:starts?|begins?|runs?|is counted|counts|is reckoned)"
    r"(?: to (?:run|tick)| running| ticking)?,?\s+(?:when|once|from|at|with|on|upon|as soon as|after)\b"
)
"""Before the act from which the time of a duty runs."""


class Timing(Placing):
    """A text and the times that it gives to its acts."""

    def _settle_given_time(self) -> None:
        """What somebody has so much time for is due within it, after what was done to the thing: "the clerk has one day to
        examine a request that was registered".
        """
        for sentence in self.text.said.sentences:
            given = _HAS_TIME.search(sentence.text) if durations(sentence.text) else None
            told = self._told_in(sentence) if given else ()
            if given is None or len(told) != 2 or how_bound(sentence.text).negative:
                continue
            due, opener = told
            between = self.text.sentence[self._starts(due) : self._starts(opener)]
            behind = self._starts(due) >= sentence.start + given.end()
            if (
                behind
                and _WHICH.search(between)
                and self._clause(opener).kind not in ("before", "unless", "until")
            ):
                self._leave_out(sentence, [opener, due])
                self._decide(due, "response", opener)
                self.options[opener] = [Option("none", None, 1.0)]

    def _settle_clock(self) -> None:
        """What makes the clock start opens the duty told right before or behind: "the clock starts when it is filed"."""
        for one, other in pairwise(self.text.said.sentences):
            for sentence, duty in ((one, other), (other, one)):
                clock, told = _CLOCK.search(sentence.text), self._told_in(duty)
                if clock is None or len(told) != 1 or len(self._told_in(sentence)) != 1:
                    continue
                opener = self._best_in(sentence.start + clock.end(), sentence.end)
                if (
                    opener is not None
                    and self.marked.acts[opener] != self.marked.acts[told[0]]
                    and self._asks(duty)
                ):
                    self._relate(sentence, opener, "none", None)
                    self._relate(duty, told[0], "response", opener)

    def _asks(self, sentence: Sentence) -> bool:
        bound = how_bound(sentence.text)
        return bound.stated and not (bound.negative or bound.permitted)
