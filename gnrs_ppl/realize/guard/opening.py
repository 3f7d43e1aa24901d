"""Reading what a marked text says of scope and trigger."""

from __future__ import annotations

import re

from gnrs_ppl.realize.guard.stated import ANYONE, NOUN, PERSON, RECORDED, THE, Cursor, Names, Unread
from gnrs_ppl.realize.phrases import ANY_ONE, FILTERS_NOTHING, WINDOW_UNUSED
from gnrs_ppl.rule.types import Act, Correlation

_RULE = r"(?:this rule|the rule|this|it)"
_COVERS = (
    r"(?:also )?(?:applies to|covers|binds|is for|is about|governs|holds for|addresses|concerns|deals "
    r"with|relates to)"
)
_CONCERNING = (
    r"(?:(?:in|for|on) (?:all )?matters (?:of|concerning|involving|about|regarding)|concerning|regarding|as "
    r"regards|as to"
    r"|with (?:regard|respect) to|in relation to|in connection with|relating to|about|when it comes "
    r"to|for|on)"
)
_COVERED = (
    r"for (?:the |all )?(?P<names>R\d+)(?= (?:[,:]|on O|,? ?and (?:as|concerning)|$))",
    r"(?:the )?(?P<names>R\d+) are (?:covered|addressed|bound)",
    r"(?:the )?(?P<names>O\d+) (?:is|are|being) (?:covered|concerned|the subject|the matter|what "
    r"(?:this|the) rule is about)",
    r"the (?:subject|matter) is (?:the )?(?P<names>O\d+)",
    r"(?:the )?(?P<names>L\d+) (?:is|are) (?:covered|the places? covered)",
)
_PER_PERSON = (
    r"(?:for|of|per|by|to) (?:each|every|any|a) (?:person|individual)"
    r"(?:,? (?:and (?:for |in |per )?(?:(?:each|every|a|the) )?|in (?:each|every|a|the|any) )case)?",
    r"per (?:person and case|case and person)|in (?:each|a|every|any) case for (?:each|every|a|any) person",
)
_WHEN = (
    r"(?:when|whenever|once|if|as soon as|after|where|every time|each time|any time|from the "
    r"moment|from the time)"
)
_AT = r"(?:for|upon|on|at|with|as of|in the (?:event|case) of|from|starting (?:from|with)|beginning with)"
_RECORDS = r"(?:records|shows|logs|registers|notes|documents|has recorded|has logged)"
_ASIDE = r"(?: ,(?! (?:and|or|but)))?"
_IN_LOG = (
    r"(?:, )?(?:(?:as|that is|which is|if|when|and|is|are|being|has been|that has been|as it is|if it "
    r"is|and it is|and this is|and is"
    rf"|provided it is|provided that it is) )*{RECORDED} (?:in|by|on|with) {THE}(C\d+){_ASIDE}",
    rf"(?:, )?(?:according to|as per|per|going by|as (?:shown|seen) in|in) {THE}(C\d+){_ASIDE}",
    rf"(?:, )?(?:as|and|that|which) {THE}(C\d+) {_RECORDS}(?: (?:it|this|that))?{_ASIDE}",
)
_OCCASION = (
    r"(?:(?P<det>the case's|the|every|each|any|an?|that|this|their own|their|his or her|(?:a|each|every) "
    r"person's"
    r"|(?:the |an? |each |every |any )?(?P<own>R\d+) 's) )?(?P<first>(?:very )?first )?(?P<act>A\d+[nxg])"
)
_EVERY, _THEIR = ("every", "each", "any"), ("their", "their own", "his or her")


class OpeningReader(Cursor):
    """Reads phrases of the scope and of the trigger."""

    # Scope

    def scope(self) -> bool:
        """Who and what is covered: ``this rule applies to cooks``, ``it concerns check-in records``, ``for
        cooks and waiters:``.
        """
        if self.take(r"this is meant(?= for)"):
            return self.meant()
        if self.take(rf"{_RULE} {_COVERS}") or (
            (self.said.scope_roles or self.said.concerns) and self.take(_COVERS)
        ):
            return self.covered(r"(?:matters of )?(?:the |all )?(?P<names>[RO]\d+)")
        if self.take(rf"{_RULE} (?:applies|holds)"):
            return self.lasting() or self.adjunct()
        if re.match(rf"{_RULE} (?:applies|holds) ", self.text) and self.lasting():
            return True
        if self.take(r"the matter stays open(?= for)"):
            return self.lasting()
        if self.take(
            r"(?:in )?(?:a|this|the) rule(?= (?:on|about|concerning|for) [RO]\d)|the rule is(?: ,)? that"
        ):
            return True
        return any(self.covered(pattern) for pattern in _COVERED)

    def lasting(self) -> bool:
        """How long the rule holds, behind ``this rule applies``: ``for eight hours after that arrival``."""
        found = self.take(r"for (D\d+)")
        self.said.windows += [self.marked.durations[found[1]]] if found else []
        told = found is not None and (self.take("after(?= that)") is None or self.occasion())
        self.said.unused += [True] if self.take(f", {WINDOW_UNUSED}") else []
        return told

    def meant(self) -> bool:
        """Names of a scope that filters nothing: ``for cooks, for the restaurant, but leaves nothing
        out``.
        """
        lists = {"role": self.said.scope_roles, "object": self.said.objects, "location": self.said.locations}
        while found := self.take(rf"for {THE}([RLO]\d+)"):
            mark = self.mark(found[1])
            lists[mark.kind].append(mark.names)
            self.said.unfiltered.append(mark.kind)
            if self.take(rf", {FILTERS_NOTHING}"):
                return True
            self.take(",")
        return False

    def covered(self, pattern: str) -> bool:
        """Names of the scope behind or before what says so."""
        found = self.take(pattern)
        if found:
            mark = self.mark(found["names"])
            lists = {
                "role": self.said.scope_roles,
                "object": self.said.concerns,
                "location": self.said.locations,
            }
            lists[mark.kind].append(mark.names)
        return found is not None

    def adjunct(self) -> bool:
        """Places, objects, concerns, per whom, correlation: phrases that may stand anywhere."""
        if found := self.take(
            rf"{_CONCERNING} (?:the |an? |any |all )?(O\d+)|where (?:the |an? )?(O\d+) (?:is|are) concerned"
        ):
            self.said.concerns.append(self.names(found[1] or found[2]))
        elif found := self.take(
            rf"(?:where|when|whenever|if) {THE}(O\d+) (?:is|are) involved|involving {THE}(O\d+)"
        ):
            self.said.objects.append(self.names(found[1] or found[2]))
        elif found := self.take(rf"(?:at|in|on|inside) (?:either )?{THE}(L\d+)"):
            self.said.locations.append(self.names(found[1]))
        elif (same := self.same()) is not None:
            self.said.correlations.append(same)
        else:
            return self.per(nominal=False)
        return True

    def same(self) -> Correlation | None:
        """``for the same person and case``."""
        at = self.at
        found = self.take(
            r"(?:(?:all|both|each) )?(?:(?:for|by|in|of|about|within) )?(?:the )?same (person|object|case)"
            r"(?:(?:(?: ,)? and(?: for| in| within)?| in| within) (?:the )?(?:same )?(person|object|case))?"
        )
        said = {found[1], found[2]} if found else set()
        if not found or {"person", "object"} <= said:
            self.at = at
            return None
        return "same_resource" if "person" in said else "same_object" if "object" in said else "same_case"

    def per(self, nominal: bool) -> bool:
        """``for each person and case``; ``the first arrival in each case`` may be anybody's."""
        if any(self.take(pattern) for pattern in _PER_PERSON):
            self.said.per.append("person")
        elif self.take(r"(?:for|in|of|within|per) (?:each|every|a|any|the|that|this|one) case|per case"):
            self.said.per.append("case alone" if nominal else "case")
        else:
            return False
        return True

    # Trigger

    def opener(self) -> bool:
        """The trigger in a clause of its own: ``when a cook first arrives``, ``for the first arrival``."""
        self.said.pending.append(True)
        if first := self.take(
            rf"the first time(?: in (?:a|each|every|any) case)?(?: that)?|{_WHEN}(?: that)?"
        ):
            return self.happening("first time" in first[0])
        return self.take(_AT) is not None and self.occasion()

    def happening(self, first: bool = False) -> bool:
        """What follows ``when``: somebody does the act, a log records it, the case starts."""
        if self.take(r"(?:the|an?|any|every|each) case (?:starts|begins|opens|is opened)"):
            self.said.case_start.append(True)
            return True
        if log := self.take(rf"{THE}(C\d+) (first )?{_RECORDS}(?: that)?(?: for the first time)?"):
            channel = self.single(log[1])
            self.said.logs += [channel] if channel else []
            first = first or "first" in log[0]
            return channel is not None and (
                self.somebody(first) or self.attempt(lambda: self.doing(first)) or self.occasion(first)
            )
        return (
            self.somebody(first)
            or (self.take(r"there is") is not None and self.occasion(first))
            or self.occasion(first)
        )

    def somebody(self, first: bool = False) -> bool:
        """``a cook or waiter first arrives``, ``things are handled``."""

        def read() -> bool:
            if passive := self.take(r"(A\d+c)"):
                return self.done(passive[1], first, fresh=True)
            who = self.take(
                r"(?:the |an? |any |every |each |one of the )?(R\d+)(?: "
                rf"concerned)?|{PERSON}|({ANYONE})|(?:one|any) of them"
            )
            done = who and self.take(r"(?:(?:has|have) )?(first )?(A\d+[vxp])(?: first)?")
            if not who or not done:
                return False
            self.said.trigger_roles += [self.names(who[1])] if who[1] else []
            self.said.anyone += [True] if who[2] else []
            return self.done(
                done[2], first or "first" in done[0], fresh=bool(who[1]) or not re.match(PERSON, who[0])
            )

        return self.attempt(read)

    def doing(self, first: bool) -> bool:
        """``a cook or waiter arriving``, behind a log that shows it."""
        found = self.take(r"(?:the |an? |any |every |each )?(R\d+) (A\d+g)")
        if not found:
            return False
        self.said.trigger_roles.append(self.names(found[1]))
        return self.done(found[2], first, fresh=True)

    def done(self, act: str, first: bool, fresh: bool) -> bool:
        """An act of the trigger as a verb, with what is said about it; ``fresh`` where its subject is no
        pronoun.
        """
        self.said.trigger.append(self.name(act))
        self.details(nominal=False)
        if self.take(r"for the first time"):
            first = True
            self.details(nominal=False)
        if first or fresh:
            self.said.once.append("first" if first else "each")
        return True

    def time_they(self) -> bool:
        """The trigger as the act of whoever is bound: ``each time they arrive``, ``the first time in a case
        that they arrive``.
        """
        found = self.take(
            r"(the first|each|every|any) time (?:in (?:a|each|every|any) case )?(?:that )?they (A\d+[vx])"
        )
        if not found:
            return False
        self.said.trigger.append(self.name(found[2]))
        self.said.personal.append(True)
        self.said.once.append("first" if found[1] == "the first" else "each")
        self.details(nominal=False)
        return True

    def occasion(self, first: bool = False) -> bool:
        """The trigger as a noun: ``the first arrival recorded in the movement log``; or the start of a
        case.
        """
        start = r"(?:the )?(?:start|opening|beginning) of (?:the|an?|any|every|each) case|that start"
        if self.take(rf"{start}|(?:every|each|any) case(?= (?:and|,|:))"):
            self.said.case_start.append(True)
            return True

        def read() -> bool:
            found = self.take(_OCCASION)
            if not found or (not found["det"] and found["act"][-1] != "g"):
                return False
            det = found["det"] or ""
            theirs = bool(found["own"]) or not det or det in _THEIR  # whose arriving it is, the duty says
            self.said.trigger_roles += [self.names(found["own"])] if found["own"] else []
            self.said.trigger.append(self.name(found["act"]))
            self.said.per += ["person"] if "person" in det else ["case alone"] if "case" in det else []
            self.said.personal += [True] if theirs else []
            self.details(nominal=not theirs and "person" not in det)
            if first or found["first"]:
                self.said.once.append("first")
                return det not in _EVERY
            self.said.once += (
                ["each"] if det in (*_EVERY, "a", "an") or found["own"] or "person" in det else []
            )
            return True

        return self.attempt(read)

    def details(self, nominal: bool) -> None:
        """Who, where, on what, in which log, per whom."""
        while True:
            if found := self.take(
                rf"(?:by|of) (?:one of |somebody acting as )?(?:{THE}|(each |every ))(R\d+)(?: concerned)?"
            ):
                self.said.trigger_roles.append(self.names(found[2]))
                self.said.per += ["person"] if found[1] else []
            elif found := self.take(rf"(?:at|in|on|inside) (?:either )?{THE}(L\d+)"):
                self.said.locations.append(self.names(found[1]))
            elif found := self.take(rf"(?:in respect of|involving|of) {THE}(O\d+)"):
                self.said.objects.append(self.names(found[1]))
            elif self.take(f"by {ANY_ONE}"):
                self.said.per.append("person")
            elif self.take(r"by (?:anyone|anybody|someone|somebody|a person)"):
                self.said.anyone.append(True)
            elif not (self.take("there") or self.recorded() or self.per(nominal)):
                return

    def recorded(self) -> bool:
        """``, as recorded in the movement log,``."""
        found = next((match for pattern in _IN_LOG if (match := self.take(pattern))), None)
        if found is None:
            return False
        channel = self.single(found[1])
        if channel is None:
            raise Unread(found[0])
        self.said.logs.append(channel)
        return True

    def second(self, key: str) -> tuple[Act, str | None]:
        """An act that is not the trigger, with its own place, object, role and log."""
        said, before = self.said, self.said.lengths()
        places, things, people, logs = (
            len(said.locations),
            len(said.objects),
            len(said.trigger_roles),
            len(said.logs),
        )
        self.details(nominal=True)
        told: dict[str, str | None] = {
            "location": _only(said.locations[places:]),
            "object": _only(said.objects[things:]),
            "role": _only(said.trigger_roles[people:]),
        }
        channel = next(iter(said.logs[logs:]), None)
        said.cut(before)
        return Act.model_validate({"activity": self.name(key), **told}), channel

    def exception(self) -> Act | None:
        """``a waiver is recorded beforehand``, behind ``unless``."""
        first = r"(?:beforehand|first|earlier|before(?:hand)? (?:that|then)|before)"
        if found := self.take(rf"(?:an?|the|their) {NOUN}"):
            act, channel = self.second(found[1])
            was = r"(?:(?:is|was|has been|had been) )?"
            made = (
                rf"{was}(?:{RECORDED}|made|done|completed) {first}|(?:comes|came|takes place|took place) "
                rf"{first}"
            )
            return act if self.take(made) and channel is None else None
        if found := self.take(rf"(?:{PERSON}|someone|somebody) (?:has |have )?(first )?(A\d+[vxp])"):
            act, channel = self.second(found[2])
            return act if channel is None and (self.take(first) or found[1]) else None
        return None


def _only(lists: list[Names]) -> str | None:
    names = [name for names in lists for name in names]
    if len(names) > 1:
        raise Unread(" and ".join(names))
    return names[0] if names else None
