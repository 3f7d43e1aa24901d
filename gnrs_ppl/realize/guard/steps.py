"""Reading what a marked text says of the procedure: who takes which step in which order, with which log, how
soon.
"""

from __future__ import annotations

import re

from gnrs_ppl.realize.guard.mentions import MarkedText
from gnrs_ppl.realize.guard.stated import THE, Cursor, StatedRule, Unread
from gnrs_ppl.rule.types import Procedure, Step

_RECORDS = r"(?:the |these |those )?(?:records?|logs?|evidence)"
_BREACH = r"(?:an?|any|the) (?:violation|breach)(?: of (?:this|the) rule)?"
_OTHERWISE = rf"(?:otherwise|something else|differently|{_BREACH})"
_IF = r"(?:if|where|when|whenever)"
_VIOLATION = (
    rf"(?:{_IF}|should|in case) {_RECORDS} (?:shows?|says?|indicates?|tells?) {_OTHERWISE}",
    rf"{_IF} (?:it|they) shows? (?:otherwise|{_BREACH})",
    rf"{_IF} {_RECORDS} (?:does|do) not (?:show|confirm|prove|support|document) (?:it|this|that|so|them)",
    rf"{_IF} {_RECORDS} shows? that (?:this|the) rule (?:was|is|has been) (?:broken|violated|not kept|not "
    r"followed)",
    rf"{_IF} (?:this|that|it) is not (?:shown|so|the case|confirmed|recorded|proven)",
    rf"(?:after|on|upon|following|in case of|in the event of) {_BREACH}",
    rf"{_IF} there is {_BREACH}",
    rf"{_IF} (?:the rule|this rule|it) is (?:violated|broken|breached)",
    rf"what follows {_BREACH}|{_BREACH} (?:is followed by|leads to|has (?:N\d+ )?consequences)",
    r"if not|failing (?:this|that|which)",
)
_QUESTION = (rf"(?:{_IF}|should) (?:a|any) questions? arises?", rf"{_IF} there is (?:a|any) question")
_SINCE = r"(?: (?:of|after|from|following) (?:the|that) (?:violation|breach|question))?"
_EACH = r"(?:each|every)(?: one)?(?: of (?:these|the|those|them))?(?: following)?(?: (N\d+))?(?: steps?)?"
_TAKEN = r"(?:taken|completed|done|carried out|finished|made|due)"
_IS = r"(?:is|are|must be|has to be|is to be|will be|being|to be)"
_GIVEN = r"(?:(?:is|are|being) )?(?:allowed|set|given|granted|allotted)"
_RESPONSE = (
    rf"{_EACH} (?:{_IS} )?(?:{_TAKEN} )?(?:within|in no more than|no later than) (D\d+){_SINCE}",
    rf"{_EACH} (?:may take|takes|can take|must take|taking) (?:at most|no more than|up to|no longer than) "
    r"(D\d+)",
    rf"{_EACH} has (D\d+)",
    rf"for {_EACH} (?:the time is )?(D\d+)(?: {_GIVEN})?",
    r"(?:(?:with|within|at|allowing|taking|there are|there is) )?(?:at most |no more than |up to )?(D\d+) "
    rf"(?:{_GIVEN} )?for {_EACH}",
    r"(?:(?:with|within|at) )?(D\d+) (?:per|a) step",
    r"the response time is (D\d+) (?:for (?:each|every)|per) step|the response time (?:for "
    r"(?:each|every)|per) step is (D\d+)",
    r"(?:these|the|all|all these|all the)(?: (N\d+))? steps (?:are|must be|have to be|are to be) each "
    rf"{_TAKEN} within (D\d+)",
)
_AFFECTED = (
    r"(?:(?:those|anyone|anybody|everyone|people|persons|a person|any person|the (?:person|people|persons))"
    r" (?:who (?:is|are) )?(?:concerned|affected)|whoever is (?:concerned|affected))"
)
_MAY = (
    r"(?:may|can|(?:is|are) entitled to|(?:has|have) the right to|(?:is|are) free to)(?: "
    r"(?:then|also|still))?"
)
_LODGE = r"(?:make|lodge|file|bring|request|seek|ask for|submit|raise|launch|have)"
_LODGED = r"(?:made|lodged|filed|brought|requested|sought|submitted|raised|launched)"
_HEARD = (
    r"(?:, )?(?:(?:(?:which|that|and) )?(?:(?:is|are|will be|to be) "
    r")?(?:heard|decided|handled|considered|determined|taken|dealt with) by"
    rf"|(?:(?:which |that )?(?:goes|lies) )?(?:to|before|with)) {THE}(?P<role>R\d+)"
)
_APPEAL = r"(?:an? |any |the |their )?(?P<step>S\d+)n"
_APPEALS = (
    rf"{_AFFECTED} {_MAY} (?:{_LODGE}|appeal (?:through|by way of|by means of|in)) {_APPEAL} {_HEARD}",
    rf"{_AFFECTED} {_MAY} appeal to {THE}(?P<role>R\d+) (?:through|by way of|by means of|in|with) {_APPEAL}",
    rf"{_APPEAL} {_MAY} be {_LODGED}(?: by {_AFFECTED})? {_HEARD}(?: by {_AFFECTED})?",
    rf"{_APPEAL} {_HEARD} (?:is|remains) (?:open|available)(?: to {_AFFECTED})?",
    rf"{_APPEAL} (?:is|remains) (?:open|available) to {_AFFECTED} {_HEARD}",
    rf"{THE}(?P<role>R\d+) (?:hears|takes|handles|decides|considers|deals with|rules on) {_APPEAL}(?: "
    rf"(?:by|of|from) {_AFFECTED})?",
    rf"{_APPEAL} {_HEARD}",
    rf"(?:{_AFFECTED} {_MAY} )?(?P<step>S\d+)v {THE}(?P<role>R\d+)",
    rf"appeals go to {THE}(?P<role>R\d+) through {_APPEAL}",
)
_THEN = (
    r"then|next|after (?:that|this|which)|afterwards|thereafter|subsequently|finally|lastly|in "
    r"turn|first|and|followed by"
)
_FOLLOW = (
    r"(?:the |these )?(?:following )?steps (?:are taken|are followed|follow|apply)|there follow|in "
    r"this order|what follows"
)
_DOES = (
    r"(?:carr(?:y|ies|ying) "
    r"out|conduct(?:s|ing)?|perform(?:s|ing)?|do(?:es|ing)?|undertak(?:e|es|ing)|hold(?:s|ing)?|mak(?:e|es|ing)"
    r"|tak(?:e|es|ing)|issu(?:e|es|ing)|giv(?:e|es|ing)|provid(?:e|es|ing)|reach(?:es|ing)?|complet(?:e|es|ing)|arrang(?:e|es|ing)"
    r"|see(?:s|ing)? to|attends? to|hands? down)"
)
_DONE = (
    r"(?:carried out|conducted|performed|done|undertaken|held|made|taken|issued|given|provided|reached"
    r"|completed|arranged)"
)
_PLAIN = (
    r"reviews the matter|decides the matter|puts the matter right|through|by way of|by means of|in the form "
    r"of"
    r"|(?:with|in|for)(?= (?:an? |the )?S)"
)
_LOOKING = r"(?:checking|inspecting|looking at|looking into|consulting|reviewing|examining)"
_LOOKS = r"(?:inspects?|checks?|examines?|consults?|reviews?|looks? (?:at|into))"
_CONSULTING = (
    rf"(?:(?:(?:who|and) )?{_LOOKS}|(?:by )?(?:{_LOOKING}|using)|with (?:an )?inspection of|(?:heard )?on "
    r"the basis of|based on"
    r"|with the help of|drawing on|against|from|of)"
)
_CONSULTED = r"(?:inspected|checked|consulted|examined|reviewed)"


class StepReader(Cursor):
    """Reads sentences about the procedure; a step's stage is that of the rule's step of the same name."""

    def __init__(self, marked: MarkedText, said: StatedRule, procedure: Procedure) -> None:
        super().__init__(marked, said)
        self.stages = {step.name: step.stage for step in procedure.steps}
        self.count = len(procedure.steps)
        self._begin()

    def _begin(self) -> None:
        """Who takes the next step, whether that person has taken one, the log for it, steps that nobody
        takes yet, and the last step.
        """
        self.role: str | None = None
        self.idle = self.passive = self.attached = False
        self.log: str | None = None
        self.open: list[int] = []

    def sentence(self, units: list[str]) -> None:
        """Read one sentence, in parts as semicolons part it.

        Raises
        ------
        Unread
            Words no phrase fits, a step that nobody takes, or steps before it is said when they are taken.
        """
        self._begin()
        phrases = (
            self.opening,
            self.response,
            self.inspected,
            self.appeal,
            self.consulted,
            self.order,
            self.doer,
            self.step,
            self.filler,
        )
        for unit in units:
            self.text, self.at, self.attached = unit, 0, False
            if self.take("otherwise"):
                self.said.openings.append("violation")
            while self.at < len(unit):
                if not any(self.attempt(read) for read in phrases):
                    raise Unread(unit[self.at :])
            if self.log or self.idle:
                raise Unread(unit)
        if self.open or (self.said.steps and not self.said.openings):
            raise Unread(units[0])

    def opening(self) -> bool:
        """``if the records show a breach``."""
        if any(self.take(pattern) for pattern in _VIOLATION):
            self.said.openings.append("violation")
        elif any(self.take(pattern) for pattern in _QUESTION):
            self.said.openings.append("question")
        else:
            return False
        return True

    def response(self) -> bool:
        """``each of these steps is taken within seven days``; without ``each`` only where there is one
        step.
        """
        patterns = (*_RESPONSE, rf"within (D\d+){_SINCE}") if self.count == 1 else _RESPONSE
        found = next((match for pattern in patterns if (match := self.take(pattern))), None)
        if found is None:
            return False
        numbers = [self.marked.numbers[key] for key in found.groups() if key and key[0] == "N"]
        self.said.response_times += [
            self.marked.durations[key] for key in found.groups() if key and key[0] == "D"
        ]
        return all(number == self.count for number in numbers)

    def appeal(self) -> bool:
        """``those concerned may appeal``: the one step that others than its office begin."""
        found = next((match for pattern in _APPEALS if (match := self.take(pattern))), None)
        if found is None or self.idle:
            return False
        name, role = self.name(found["step"]), self.single(found["role"])
        if self.stages.get(name) != "appeal" or role is None:
            return False
        self.said.steps.append(Step(stage="appeal", name=name, role=role))
        self.role, self.attached = None, True
        return True

    def order(self) -> bool:
        """Words that only say that the next step follows."""
        if self.take(r",|:"):
            return True
        if number := self.take(r"\( (?:(N\d+)|[a-h]) \)"):
            return not number[1] or self.marked.numbers[number[1]] == len(self.said.steps) + 1
        if past := self.take(r"(?:after|following|once) (?:the|this|that) (S\d+)n(?: ,)?"):
            self.attached = False
            return bool(self.said.steps) and self.said.steps[-1].name == self.name(past[1])
        if self.take(_THEN):
            self.attached = False
            return True
        return self.take(_FOLLOW) is not None

    def doer(self) -> bool:
        """``the owner``, ``the owner's``, ``by the owner``."""
        if by := self.take(rf"(all )?by {THE}(R\d+)"):
            role = self.single(by[2])
            # "a review and a decision by the owner" leaves open whose the review is
            if role is None or not self.open or (len(self.open) > 1 and not by[1] and not self.passive):
                return False
            for place in self.open:
                self.said.steps[place] = self.said.steps[place].model_copy(update={"role": role})
            self.open, self.passive = [], False
            return True
        found = self.take(rf"{THE}(R\d+)(?: 's(?= S)| (?:must|will|shall|has to|is to)(?= ))?")
        if not found or self.idle:
            return False
        self.role, self.idle, self.attached = self.single(found[1]), True, False
        return self.role is not None

    def step(self) -> bool:
        """``a written decision``; whoever takes it was named before, or follows behind ``by``."""
        found = self.take(
            r"(?:an? |the |this |their )?(S\d+)([nv])(?: \( recorded as (?:an? )?(A\d+[nxg]) \))?"
        )
        if not found:
            return False
        name = self.name(found[1])
        stage = self.stages.get(name, "review")
        if (stage == "appeal" and name in self.stages) or (found[2] == "v" and self.role is None):
            return False
        if self.role is None:
            self.open.append(len(self.said.steps))
        activity = self.name(found[3]) if found[3] else None
        self.said.steps.append(
            Step(stage=stage, name=name, role=self.role or "nobody", inspects=self.log, activity=activity)
        )
        self.log, self.attached, self.idle = None, True, False
        return True

    def consulted(self) -> bool:
        """``on the basis of the check-in log``: of the step just named, else of the next."""
        found = (
            self.take(rf"(?:, )?\( (?:{_CONSULTING} )?{THE}(C\d+) \)")
            or self.take(rf"(?:, )?(?:in|for) which {THE}(C\d+) is {_CONSULTED}(?: ,(?! and))?")
            or self.take(rf"(?:, )?{_CONSULTING} {THE}(C\d+)")
        )
        log = self.single(found[1]) if found else None
        if log is None or (self.said.steps[-1].inspects if self.attached else self.log) is not None:
            return False
        if self.attached:
            self.said.steps[-1] = self.said.steps[-1].model_copy(update={"inspects": log})
        else:
            self.log = log
        return True

    def inspected(self) -> bool:
        """``the check-in log is inspected by the owner in a management review``."""
        found = self.take(rf"{THE}(C\d+) is {_CONSULTED} by {THE}(R\d+) in (?:an? |the )?(S\d+)n")
        if not found or self.idle:
            return False
        log, role, name = self.single(found[1]), self.single(found[2]), self.name(found[3])
        if log is None or role is None or self.stages.get(name) == "appeal":
            return False
        self.said.steps.append(
            Step(stage=self.stages.get(name, "review"), name=name, role=role, inspects=log)
        )
        self.role, self.attached = None, True
        return True

    def filler(self) -> bool:
        """Verbs that a step's name makes plain."""
        if self.take(rf"(?:is|are|must be|will be|has to be|have to be) {_DONE}(?= (?:all )?by )"):
            self.passive = True
            return True
        return self.take(rf"{_DOES}|(?:is|are|must be|will be|has to be) {_DONE}|is|{_PLAIN}") is not None


def is_procedure(unit: str) -> bool:
    """Whether a part of a sentence speaks of the procedure."""
    begins = (*_VIOLATION, *_QUESTION, "otherwise ")
    return bool(re.search(r"\bS\d+[nv]\b|\bsteps?\b|\bresponse time\b", unit)) or any(
        re.match(pattern, unit) for pattern in begins
    )
