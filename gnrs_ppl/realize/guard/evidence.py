"""Reading what a marked text says of the evidence: which logs, and how many of them."""

from __future__ import annotations

import re

from gnrs_ppl.realize.guard.mentions import Mark
from gnrs_ppl.realize.guard.opening import OpeningReader
from gnrs_ppl.realize.guard.stated import THE, Unread
from gnrs_ppl.rule.types import Operator

_LOGS = (
    r"(?:(?P<quant>both|(?:all|each|every one|any|any one|either|at least one|one|at least N\d+|N\d+|all "
    r"N\d+) of|all|all N\d+|either) )?"
    r"(?:the |these )?(?:(?:following )?logs?(?: ,| :)? )?(?:the )?(?P<logs>C\d+)"
    r"(?: ,(?= (?:must|should|shall|ha(?:s|ve)|needs?|show|record|confirm|prove|document)))?"
)
_ABLE = (
    r"(?:(?:that|which|if|where|wherever|provided|as long as|so long as|(?:as|so|in so) far as)"
    r"(?: (?:they|it|each|each of them|each log|these logs|the logs|a log))? (?:can|is able to|are able "
    r"to)|able to)"
    r" (?:record|show|hold) (?:it|this|them|that|the act|an act)"
)
_ACTS = rf"{THE}A\d+[nxg](?:(?: ,)?(?: and| or| ,) (?:the |an? |that )?A\d+[nxg])*"
_IT = (
    r"(?:it|this|that|so|them|each of them|the acts?|an act|any act|each act|every act|each of these "
    r"acts|these acts|both acts"
    rf"|both of them|{_ACTS})"
)
_COUNTS = (
    r"counts?(?: as (?:done|performed|shown|proven|completed|established))?(?: only)? (?:when|if|once|where)"
)
_MUST = r"(?P<modal>must|should|shall|has to|have to|needs? to)"
_SHOW = r"(?P<every>both |all |each )?(?:shows?|records?|confirms?|proves?|documents?|contains?)"
_SHOWN = r"(?:shown|recorded|confirmed|proven|documented|logged|registered|evidenced)"
_FOR_IT = r"(?:evidence|proof)(?: (?:for|of) (?:this|it|that))?"
_EVIDENCE = (
    rf"(?P<open>evidence :) {_LOGS}",
    rf"(?:as )?(?:(?P<acts>{_IT}) {_COUNTS} )?{_LOGS} (?:{_MUST} )?{_SHOW} (?P<things>{_IT})",
    rf"(?:(?P<things>{_IT}) )?(?:{_MUST} (?P<every>both |all |each )?be |(?:is|are) (?:to be )?|(?:as|to "
    rf"be) )?{_SHOWN} (?:by|in|on)"
    rf" {_LOGS}",
    rf"(?P<open>(?:the )?(?:only )?{_FOR_IT}) (?:is|are|comes from|must come from|lies in|is "
    rf"(?:taken|drawn) from) {_LOGS}",
    rf"{_LOGS} (?P<open>(?:is|are|serves? as|counts? as|provides?) (?:the )?(?:only |sole )?{_FOR_IT})",
    rf"(?P<open>(?:the )?auditors? (?:may )?uses?) {_LOGS}",
)
_QUANT = (
    r"(?P<quant>all|each|every|every one|all N\d+|each one|each log|every log|all logs|all the logs|any|any "
    r"one|either|either one|one"
    r"|one log|a single log|a single one|at least N\d+|both)"
)
_OF_THEM = rf"(?: of (?:the N\d+|them|which|these(?: logs)?|{THE}(?P<logs>C\d+)))?"
_AGREE = (
    r"(?P<agree>(?:(?:must|has to|have to|needs? to) )?(?:all )?(?:agrees?|bears? it out|show it|shows "
    r"it|show the act)(?: on it)?)"
)
_ENOUGH = (
    r"(?P<enough>(?:is|are) (?:enough|sufficient)|suffices?|will do)(?: evidence)?"
    r"(?: (?:as|for) (?:evidence|proof)| to show it| by itself| on its own)*"
)
_AGREEMENT = (
    rf"(?:of {THE}(?P<ahead>C\d+) , )?{_QUANT}{_OF_THEM}(?: (?:listed|named) here)?(?: {_ABLE})? "
    rf"(?:{_AGREE}|{_ENOUGH})(?: {_ABLE})?",
    rf"(?P<quant>either) {THE}(?P<logs>C\d+) {_ENOUGH}(?:(?: ,)? {_ABLE})?",
    r"(?:(?:requires?|needs?|wants?|with) )?(?P<agree>agreement) (?:of|from) (?P<quant>all|each|every "
    rf"one|every log){_OF_THEM}"
    rf"(?: {_ABLE})?",
)
_DATES = (
    r"dates are compared (?:, )?so (?:(?:an act|an? A\d+[nx]) on the last day counts(?: and two acts on the "
    r"same day are not put in order)?"
    r"|two acts on the same day are not put in order)"
)


class EvidenceReader(OpeningReader):
    """Reads phrases about the evidence."""

    def evidence(self) -> bool:
        """Which logs must show the act, and how many of them: ``both must show it``, ``the evidence is the
        task log``.

        Raises
        ------
        Unread
            Words about how many logs that do not go together.
        """
        if self.attempt(self.agreement) or self.attempt(self.opening_log):
            return True
        found = next((match for pattern in _EVIDENCE if (match := self.take(pattern))), None)
        if found is None:
            return False
        told = {name: value or "" for name, value in found.groupdict().items()}
        mark, modal = self.mark(told["logs"]), told.get("modal", "")
        operator = _operator(
            told["quant"], told.get("every", "").strip(), mark, "open" in told, self._number(told["quant"])
        )
        self.said.evidence.append(mark.names)
        self.said.operators += [operator] if operator else []
        self.said.evidence_forces += ["should" if modal == "should" else "must"] if modal else []
        self.said.evidence_acts += [
            self.name(key) for key in re.findall(r"A\d+[nxg]", f"{told.get('acts')} {told.get('things')}")
        ]
        if (same := self.same()) is not None:
            self.said.correlations.append(same)
        self.take(rf"(?:, )?{_ABLE}")
        return True

    def agreement(self) -> bool:
        """How many of the logs: ``all of the movement log and the task log that can record it must agree``,
        ``any of which is enough``.
        """
        found = next((match for pattern in _AGREEMENT if (match := self.take(pattern))), None)
        if found is None:
            return False
        told = {name: value or "" for name, value in found.groupdict().items()}
        key = told.get("ahead") or told["logs"]
        if key:
            self.said.evidence.append(self.names(key))
        elif not self.said.evidence:
            return False
        quant, number, n = told["quant"], self._number(told["quant"]), len(self.said.evidence[-1])
        if quant.startswith("at least"):
            self.said.operators.append(("at_least", number))
        elif quant.startswith(("all", "each", "every", "both")):
            self.said.operators.append(("all", None))
            if number not in (None, n) or (quant == "both" and n != 2):
                return False
        else:
            self.said.operators.append(("any", None))
            return bool(told.get("enough"))
        return bool(told.get("agree"))

    def opening_log(self) -> bool:
        """Which log shows the opening act: ``for the arrival, the movement log``."""
        found = self.take(r"for the (A\d+[nx](?: or A\d+[nx])*) , (?:the )?(C\d+)")
        channel = self.single(found[2]) if found else None
        if not found or channel is None:
            return False
        self.said.trigger += [self.name(key) for key in re.findall(r"A\d+[nx]", found[1])]
        self.said.logs.append(channel)
        return True

    def dates(self) -> bool:
        """The renderer's note on how dates are compared, word for word."""
        return self.take(_DATES) is not None

    def _number(self, words: str) -> int | None:
        return next((self.marked.numbers[key] for key in re.findall(r"N\d+", words)), None)


def _operator(
    quant: str, every: str, mark: Mark, listed_only: bool, number: int | None
) -> tuple[Operator, int | None] | None:
    """What the words around a list of logs ask of them; None where they leave it open."""
    n, joint, said = len(mark.names), mark.joint, f"{quant} {every} {mark.joint}"
    wants_all = quant.startswith(("both", "all", "each", "every")) or bool(every)
    wants_any = quant.startswith(("any", "either", "one", "at least one")) or number == 1
    if n == 1:
        if quant or every:
            raise Unread(said)
        return "all", None
    if wants_all:
        if wants_any or joint == "or" or ("both" in (quant, every) and n != 2) or number not in (None, n):
            raise Unread(said)
        return "all", None
    if wants_any:
        return "any", None
    if number is not None:
        if not quant.startswith("at least"):
            raise Unread(said)  # two of three: exactly, or at least?
        return "at_least", number
    return ("any", None) if joint == "or" else None if listed_only else ("all", None)
