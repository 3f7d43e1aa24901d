"""Reading what a marked text asks for: who must do what, when, how often, except when."""

from __future__ import annotations

import re
from typing import Literal

from gnrs_ppl.context.time import Duration
from gnrs_ppl.realize.guard.opening import OpeningReader
from gnrs_ppl.realize.guard.stated import ANYONE, NOUN, PERSON, THE, Anchor, Names, StatedClause, Time
from gnrs_ppl.realize.phrases import Relation
from gnrs_ppl.rule.types import Act, Force
from gnrs_ppl.words import OFTEN

_MODALS: tuple[tuple[str, Force, bool], ...] = (
    (r"(?:must|shall|may|can|will) (?:not|never)(?: ever)?|cannot", "must", False),
    (
        r"(?:is|are) (?:(?:not|never) (?:(?:allowed|permitted) )?to|(?:forbidden|prohibited) (?:from|to))",
        "must",
        False,
    ),
    (
        r"(?:must|shall|has to|have to) (?:refrain|abstain) from|(?:must|shall) (?:neither|avoid)",
        "must",
        False,
    ),
    (
        r"need (?:not|never)|(?:does|do) not (?:have|need) to|(?:is|are) not (?:required|obliged) to",
        "may",
        False,
    ),
    (r"should (?:not|never)(?: ever)?|ought not to|(?:is|are) advised (?:not to|against)", "should", False),
    (r"should (?:(?:refrain|abstain) from|neither|avoid)", "should", False),
    (
        r"must|shall|(?:has|have) to|(?:is|are) (?:required|obliged|bound) to|needs? to|(?:is|are) to",
        "must",
        True,
    ),
    (r"should|ought to|(?:is|are) (?:advised|encouraged|recommended) to", "should", True),
    (r"may|can|(?:is|are) (?:allowed|permitted|entitled|free) to", "may", True),
)
"""Modals with force and polarity, the longer before what begins them; ``may not`` is read as a prohibition.
"""
_DENIED_NEED = r"needs?(?: to)?|(?:has|have) to|(?:is|are) (?:required|obliged|bound) to"
_TIMES = rf"({'|'.join(OFTEN)}|(N\d+) times)"

_SAME = r"(?:the |those |these |that |this )?(?:same )?"
_WITHIN = (
    r"(?:and )?(?:at the latest |at most )?(?:within|no later than|not later than|by no later than|no more "
    r"than|not more than|at most"
    r"|at the latest|inside|in no more than|in at most)(?: the)?(?: (?:same|next|following|first))?(?: "
    r"(?:a|the) period of)?"
    rf" {_SAME}(D\d+)(?: at (?:the )?(?:most|latest))?",
    rf"before {_SAME}(D\d+) (?:is|are|have|has) (?:over|up|passed|gone by)",
)
_PERIOD = (
    r"(?:and )?(?:(?:for|during|in|over|throughout|in the course of|until the end of) )?"
    r"(?:the |an? |that |this |those |these |the whole of the )?(?:period of "
    r"|(?:same|next|following|first|whole|entire) )*"
    r"(D\d+)(?: (?:period|window))?"
)
_OF_PERIOD = re.compile(r"(?:and )?(?:for|during|in|over|throughout|until|the period|a period|and)")
_THAT_PERIOD = r"(?:that|this|the|the same|that same|the whole|the entire) (?:period|time|window|interval)"
_UNTIL_LENGTH = rf"until {_SAME}(D\d+) (?:later|afterwards|(?:have|has) passed|(?:is|are) (?:over|up))"
_UNTIL_CASE = (
    r"(?:and )?(?:until|before|by the time) (?:the|that|this|their|each|every) case (?:closes|ends|is "
    r"closed|is over|has closed|has ended)"
    r"|(?:for|during|in) the (?:rest|remainder) of (?:the|a|that) case|(?:while|as long as) the case is open"
)
_UNTIL_PERIOD = (
    rf"(?:until|before) {_THAT_PERIOD} (?:ends|is over|has ended|is up|expires|closes|runs "
    rf"out|has passed)|until the end of {_THAT_PERIOD}"
)
_MEANWHILE = (
    r"(?:at any (?:time|point|moment) )?(?:during|in|within|throughout|over|for) "
    rf"{_THAT_PERIOD}|meanwhile|in the meantime"
    r"|(?:in|during|within) which(?: time| period)?"
)
_AFTER = (
    r"(?:after|of|from|following|since|counted from|counting from|(?:that|which) (?:begins?|starts?) "
    r"(?:with|when)|(?:that|which) follow)"
)
_PRONOUN = (
    r"(?!(?:that|this) (?:A\d|start))(it|this|that|then|doing so|having done so|that moment|this "
    r"moment|that point|its start|that act"
    r"|this act)"
)
_HAPPEN = r"(?:follow|happen|occur|take place|be (?:made|done|carried out|completed|performed))"


class NormReader(OpeningReader):
    """Reads times and duties."""

    start = 0
    """Clauses read before the sentence that is being read."""
    owned = 0
    """How often it was said before it that the opening act is that of whoever is bound."""

    # Time

    def free_time(self) -> bool:
        """A time in front of a duty, for the duties of the sentence."""
        time = self.time()
        opened = self.said.trigger or self.said.case_start or "case" in self.said.per
        if time is None or (time.pronoun and (self.said.clauses or not opened)):
            return False
        self.said.front.append(time)
        return True

    def time(self) -> Time | None:
        """Where an act is looked for, if that is said here."""
        for read in (self.within, self.period, self.until, self.beside):
            at, before = self.at, self.said.lengths()
            if (time := read()) is not None:
                return time
            self.at = at
            self.said.cut(before)
        return None

    def within(self) -> Time | None:
        """``within 10 minutes after it``, ``no later than an hour before the trade``."""
        found = next((match for pattern in _WITHIN if (match := self.take(pattern))), None)
        return self.anchored(self.marked.durations[found[1]], firm=True) if found else None

    def period(self) -> Time | None:
        """``and the period of 10 minutes after it``, ``in the hour that follows``; ``during that period``."""
        if self.take(_MEANWHILE):
            return Time(length="period")
        found = self.take(_PERIOD)
        if not found or not _OF_PERIOD.match(found[0]):
            return None
        length = self.marked.durations[found[1]]
        if self.take(r"(?:that|which) follows?(?: (?:it|this|that))?(?! (?:the |an? |their )?A\d)"):
            time: Time | None = Time(length=length, firm=False, pronoun="it")
        else:
            time = self.anchored(length, firm=False)
        if time is not None and time.relation == "after":
            self.said.windows.append(length)
        return time and time._replace(lasting=not re.match(r"(?:and )?(?:during|in) ", found[0]))

    def until(self) -> Time | None:
        """``until the case closes``, ``from then until an hour later``, ``afterwards``."""
        if self.take(r"(?:at any (?:time|point) )?(?:afterwards|thereafter|later)"):
            return Time(pronoun="afterwards")
        start = self.take(r"from (?:then|that (?:point|moment)|its start|it)(?: on(?:wards?)?)?|from now on")
        pronoun = "from then" if start else ""
        if found := self.take(_UNTIL_LENGTH):
            return Time(length=self.marked.durations[found[1]], pronoun=pronoun)
        if self.take(_UNTIL_CASE):
            return Time(length="case", pronoun=pronoun)
        if self.take(_UNTIL_PERIOD):
            return Time(length="period", pronoun=pronoun)
        if found := self.take(r"until the end of a period of (D\d+)"):
            self.said.windows.append(self.marked.durations[found[1]])
            return Time(length=self.marked.durations[found[1]], pronoun=pronoun)
        return Time(pronoun=pronoun) if start else None

    def beside(self) -> Time | None:
        """``before it``, ``before or after the trade``, ``after arriving``."""
        if self.take(r"at (?:any|some) (?:time|point) in the case(?= (?:up|,))"):
            if not (found := self.take(r"up to the end of the (D\d+)")):
                return self.anchored(None, firm=True)
            self.said.windows.append(self.marked.durations[found[1]])
            time = self.anchored(None, firm=True)
            return time._replace(relation="around") if time and time.relation == "after" else None
        if not re.compile(r"(?:at any (?:time|point) )?(?:before|after|following|prior to)\b").match(
            self.text, self.at
        ):
            return None
        self.take(r"at any (?:time|point)")
        return self.anchored(None, firm=True)

    def anchored(self, length: Duration | None, firm: bool) -> Time | None:
        """The side of the activation and the words for it, behind a length."""
        if length is not None and self.take(r"(?:later|afterwards|thereafter)"):
            return Time(length=length, firm=firm, pronoun="afterwards")
        side: Relation
        if self.take(r"(?:(?:, )?whether |either )?before or after|on either side of"):
            side = "around"
        elif self.take(r"before|ahead of|prior to"):
            side = "before"
        elif self.take(_AFTER):
            side = "after"
        else:
            return Time(length=length, firm=firm) if length is not None else None
        if found := self.take(_PRONOUN):
            return Time(side, length, firm=firm, pronoun=found[1])
        if found := self.take(rf"the next {NOUN}"):
            return Time(side, length, Anchor(*self.second(found[1])), firm)
        if (
            self.time_they()
            or self.attempt(self.occasion)
            or self.somebody()
            or (side == "after" and self.attempt(self.happening))
        ):
            return Time(side, length, firm=firm)
        return None

    # Duties

    def duty(self) -> bool:
        """Somebody must do something, or it must not happen."""
        return any(self.attempt(read) for read in (self.personal, self.continued, self.impersonal))

    def personal(self) -> bool:
        """``the cook or waiter who arrives must check in``, ``no courier may arrive``."""
        bearer: Names | Literal["person", "act"] = "person"
        denied, acting = self.take(r"(?:no|none of the)(?= R\d)|nobody") is not None, None
        universal = needs_act = False
        identified = not denied
        nobody = denied and self.text[: self.at].endswith("nobody ")
        if nobody or (
            not denied and self.take(r"(?:somebody|someone)(?= (?:must|should|may|acting as an? R\d+) )")
        ):
            bearer, acting = "act", self.take(r"acting as an? (R\d+)")
        else:
            who = self.take(
                r"(?P<det>the same |the |that |an? |any |every |each |all |all the "
                r")?(?P<role>R\d+)(?P<known> concerned| in question)?"
                rf"|(?:{PERSON}(?: concerned)?|whoever is concerned)|(?P<anyone>{ANYONE})"
            )
            if not who:
                return False
            needs_act = bool(who["anyone"])
            if needs_act:
                bearer = ()
            elif who["role"]:
                bearer = self.names(who["role"])
                universal = not denied and who["det"] in ("any ", "every ", "each ", "all ", "all the ")
                definite = who["det"] in ("the ", "that ", "the same ")
                identified = bool(definite and (self.said.trigger_roles or who["known"]))
        relative = self.attempt(self.relative)
        if relative and bearer == "act":
            bearer = ()
        if needs_act and not relative:
            return False
        if relative and bearer and isinstance(bearer, tuple):
            self.said.trigger_roles.append(bearer)
        while self.take(r",|in that case|in the case|\( a \)|both|:(?= \( a \))") or self.attempt(
            self.free_time
        ):
            pass
        if bearer == "act" and denied and self.take(r"must|shall"):
            return False  # that nobody has to, or that nobody may?
        found = self.modal(denied)
        first = len(self.said.clauses)
        if bearer == "act" and (found is None or found[1] == denied):
            return False
        if found is None or not self.group(
            bearer, *found, universal=universal, identified=relative or identified
        ):
            return False
        for clause in self.said.clauses[first:]:
            clause.denied = denied
            if bearer == "act":
                if not clause.times and not clause.front:
                    return False  # whatever happens, and not only after the opening act
                if len(self.said.personal) > self.owned:
                    return False  # "somebody must … after each time they …" says that it is the same person
                if acting:
                    if clause.act.role or (role := self.single(acting[1])) is None:
                        return False
                    clause.act = clause.act.model_copy(update={"role": role})
                people = [
                    *self.said.trigger_roles,
                    *(c.bearer for c in self.said.clauses[:first] if isinstance(c.bearer, tuple)),
                ]
                clause.identified = any(people)
        return True

    def relative(self) -> bool:
        """``who first arrives, as recorded in the movement log,``; ``whose arrival``; ``arriving``."""
        self.take(r",")
        if done := self.take(r"whose (first )?(A\d+[nx])"):
            self.said.trigger.append(self.name(done[2]))
            self.said.once.append("first" if done[1] else "each")
            self.details(nominal=False)
            return True
        done = self.take(r"(?:who|that) (?:(?:has|have) )?(first )?(A\d+[vxp])(?: first)?") or self.take(
            r"(first )?(A\d+[vg])"
        )
        return done is not None and self.done(done[2], "first" in done[0], fresh=True)

    def continued(self) -> bool:
        """``and must not deliver``: the subject of the clause before, in the same sentence."""
        if len(self.said.clauses) == self.start:
            return False
        found, before = self.modal(denied=False), self.said.clauses[-1]
        return found is not None and self.group(
            before.bearer, *found, universal=before.universal, identified=before.identified
        )

    def impersonal(self) -> bool:
        """``a check-in must follow``, ``no delivery may be made by a courier``."""
        found = self.take(rf"(no |an? |the |their |his or her ){NOUN}(?: by (?:an? |the )?(R\d+))?")
        modal = self.modal(denied=found[1] == "no ") if found else None
        if not found or modal is None or not self.take(_HAPPEN):
            return False
        later = None if found[3] else self.take(r"by (?:an? |the )?(R\d+)")
        doer = later[1] if later else found[3]
        bearer: Names | Literal["person", "act"] = (
            self.names(doer) if doer else "person" if found[1] in ("their ", "his or her ") else "act"
        )
        clause = StatedClause(
            bearer, *modal, Act(activity=self.name(found[2])), self.next_group(), front=tuple(self.said.front)
        )
        self.said.clauses.append(clause)
        self.tails(clause, [])
        return True

    def modal(self, denied: bool) -> tuple[Force, bool] | None:
        """Force and polarity of the modal that stands here; ``denied`` where its subject is nobody."""
        if denied and self.take(_DENIED_NEED):
            return "may", False
        for pattern, force, positive in _MODALS:
            if self.take(pattern):
                if not denied:
                    return force, positive
                self.take("ever")
                return ("must" if force == "may" else force, False) if positive else None
        return None

    def next_group(self) -> int:
        """Number of the modal that comes next."""
        return self.said.clauses[-1].group + 1 if self.said.clauses else 0

    def group(
        self,
        bearer: Names | Literal["person", "act"],
        force: Force,
        positive: bool,
        *,
        universal: bool,
        identified: bool,
    ) -> bool:
        """The acts under one modal; a time behind the last of them holds for those before it that state
        none.
        """
        number, clauses, joint = self.next_group(), list[StatedClause](), ""
        while True:
            self.take(r"also|both|each")
            times = self.times_first()
            turned = joint == "and" and positive and self.take("not") is not None
            act = self.target()
            if act is None:
                return False
            clause = StatedClause(
                bearer, force, positive and not turned, act, number, universal, identified, times=times
            )
            clause.front = tuple(self.said.front)
            self.said.clauses.append(clause)
            self.tails(clause, clauses)
            clauses.append(clause)
            more = self.take(r"(?:, )?(and|or|nor)(?= (?:also )?(?:not )?A\d+[vxg] )") or self.take(
                r",(?= A\d+[vxg] )"
            )
            if more is None:
                break
            joint = more[1] if more.lastindex else joint
            if joint == ("or" if positive else "and") or (joint == "nor" and positive):
                return False  # a choice, or a ban on doing both
        for earlier in clauses[:-1]:
            if earlier.positive == clauses[-1].positive:
                earlier.times = earlier.times or clauses[-1].times
            earlier.correlate = earlier.correlate or clauses[-1].correlate
        return len(clauses) == 1 or bool(joint)

    def times_first(self) -> tuple[Time, ...]:
        """Times between a modal and its verb."""
        found: list[Time] = []
        while True:
            at = self.at
            self.take(",")
            if self.take(r"in (?:that|this|the|the same|a) case(?: ,)?"):
                continue
            time = self.time()
            if time is None:
                self.at = at
                break
            found.append(time)
        if found:
            self.take(",")
        return tuple(found)

    def target(self) -> Act | None:
        """The act a modal governs, with its object, place and role."""
        found = self.take(
            r"(?:carry out|make|complete|perform) (?:an? |the |their |his or her )?(A\d+[nx])"
        ) or self.take(r"(A\d+[vxg])")
        if not found:
            return None
        told: dict[str, str | None] = {}
        while True:
            if more := self.take(rf"(?:in respect of |with respect to |of )?{THE}(O\d+)"):
                part = "object"
            elif more := self.take(rf"(?:at|in|on|inside) {THE}(L\d+)"):
                part = "location"
            elif more := self.take(r"as an? (R\d+)"):
                part = "role"
            else:
                return Act.model_validate({"activity": self.name(found[1]), **told})
            if part in told or self.single(more[1]) is None:
                return None
            told[part] = self.single(more[1])

    # What stands behind an act

    def tails(self, clause: StatedClause, before: list[StatedClause]) -> None:
        """How often, when, for whom, except."""
        while self.at < len(self.text):
            if clause.counted is None and (counted := self.counted(clause.positive)):
                clause.counted = counted
            elif not self.attempt(lambda: self.tail(clause, before)):
                return

    def tail(self, clause: StatedClause, before: list[StatedClause]) -> bool:
        """One of them, with the comma before it."""
        self.take(",")
        if self.take(r"(?:(?:and|all|both|each) )?(?:with)?in (?:that|this|the) case"):
            return True
        earlier = self.said.clauses[: self.said.clauses.index(clause)]
        if earlier and earlier[-1].times and not clause.times and self.take("within that time"):
            clause.times = earlier[-1].times
            return True
        bracketed = self.take(r"\((?= (?:for )?(?:the )?same )") or self.take(
            r"and(?= (?:all |both )?(?:in|for|within) the same )"
        )
        if not clause.positive:
            self.take(r"if both are(?= (?:by|for) the same )")
        if (same := self.same()) is not None:
            if clause.correlate in (None, "same_case"):
                clause.correlate = same
            elif same not in ("same_case", clause.correlate):
                return False
            return "(" not in (bracketed[0] if bracketed else "") or self.take(r"\)") is not None
        if bracketed:
            return False
        if self.take(r"unless|except (?:where|when|if)|save where"):
            exception, free = self.exception(), clause.unless is None
            clause.unless = clause.unless or exception
            return exception is not None and free
        self.take(r"and to do so(?= (?:within|in|no later|before|after|during) )")
        shared = self.take(r"(?:both|each)(?= within)")
        lasting = re.compile(r"(?:for|over|throughout) ").match(self.text, self.at)
        time = self.time()
        if time is None or (lasting and clause.positive):
            return False
        clause.times += (time,)
        for other in before if shared else ():
            other.times = other.times or (time,)
        return True

    def excepted(self) -> bool:
        """``exception: a waiver recorded beforehand``, for every duty."""
        if not self.take(r"exception :"):
            return False
        exception, free = self.exception(), all(clause.unless is None for clause in self.said.clauses)
        for clause in self.said.clauses:
            clause.unless = exception
        return exception is not None and free and bool(self.said.clauses)

    def counted(self, positive: bool) -> tuple[str, int] | None:
        """How often."""
        if positive:
            found = self.take(rf"(at least|exactly) {_TIMES}")
            return (found[1], self.times(found[2], found[3])) if found else None
        if self.take(r"(?:not )?even once|at all|a single time|ever"):
            return "fewer", 1
        if found := self.take(rf"{_TIMES} or more(?: often)?"):
            return "fewer", self.times(found[1], found[2])
        if found := self.take(rf"more than {_TIMES}"):
            return "fewer", self.times(found[1], found[2]) + 1
        found = self.take(r"(N\d+) or more times")
        return ("fewer", self.marked.numbers[found[1]]) if found else None

    def times(self, word: str, number: str | None) -> int:
        """The number in once, twice, three times."""
        return self.marked.numbers[number] if number else OFTEN[word]
