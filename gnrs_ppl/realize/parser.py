"""Text -> structure: a deterministic recursive-descent reader of rule texts, independent of the writer but
for the tables it shares.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import partial
from typing import Any, Literal

from pydantic import ValidationError

from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Kind
from gnrs_ppl.realize.english import series, takes_object, what_is_done
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.phrases import (
    ACTING,
    ANY_ONE,
    BETWEEN,
    BOTH,
    EVERY,
    EXCUSED,
    FILTERS_NOTHING,
    FIRST_TIME,
    HOLDS,
    IN_CASE,
    IN_CASES,
    MODALS,
    NOBODY,
    NOT_BOTH,
    ONE_OF,
    OTHERS,
    OTHERS_OF,
    PLACES,
    RECORDED,
    RELATIONS,
    SHARED,
    STAGE_VERBS,
    SUFFIXES,
    TESTS,
    TIES,
    WHERE,
    WINDOW_UNUSED,
    Form,
    Relation,
)
from gnrs_ppl.realize.scanner import ParseError, Scanner
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import ORDERING, POSITIVE, Force, Structure, Template

Data = dict[str, Any]

_BESIDE: dict[str, Relation] = {"as the next act after ": "next", "as the last act before ": "previous"}
_EDGES: dict[str, Relation] = {"as the first act of ": "start", "as the last act of ": "close"}
_TESTS = {text: key for key, text in TESTS.items()}
_EXCUSED = {words: meanwhile for meanwhile, words in EXCUSED.items()}
_TIES = {text: key for key, text in TIES.items()}
# force, whether the act is asked for, and whether it is forbidden once and for all
_MODALS: dict[str, tuple[Force, bool, bool]] = {f"{text} ": (*key, False) for key, text in MODALS.items()} | {
    f"{text.replace(' not', ' never')} ": (force, False, True)
    for (force, positive), text in MODALS.items()
    if not positive
}
_HAPPENS = re.compile(rf" (?:{'|'.join(MODALS.values())}) happen ")
_WHETHER = ", whether before or after "


def parse(text: str, lexicon: Lexicon) -> Structure:
    """The canonical structure a rule text states.

    Raises
    ------
    ParseError
        At the furthest character up to which the text is a rule text, with what could have followed.
    """
    reader = _Reader(text.strip(), lexicon)
    try:
        return canonical(Structure.model_validate(reader.rule()))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ParseError(len(reader.text), [f"a consistent rule ({first['msg']})"], "") from None
    except ParseError:
        raise ParseError(reader.furthest, reader.expected, reader.text[reader.furthest :]) from None


def _acting(act: Data, role: str) -> Data:
    """An act with a role in all of its patterns."""
    patterns = [pattern | {"role": role} for pattern in act.get("any_of", [act])]
    return {"any_of": patterns} if len(patterns) > 1 else patterns[0]


class _Reader(Scanner):
    """Reads one rule text; every method reads from ``at`` and moves it."""

    # The rule

    def rule(self) -> Data:
        """The whole text as data for a structure; scope, trigger, window and force are kept on the way."""
        self.scope: Data = {}
        self.window: Duration | None = None
        self.force: Force | None = None
        self.opener: Data = {}
        self.opened = self.continued = self.case_told = False
        self.ends: bool | None = None
        self.whose: Literal["person", "office", "anybody"] | None = None
        self.office: str | None = None
        constraints: list[Data] = []
        while not self.text.startswith(
            ("Exception: ", "This applies ", "This is ", "The matter stays open ", "Evidence: "), self.at
        ):
            constraints.append(self.duty(constraints[-1] if constraints else None))
            self.need(". ")
        bearer: Any = {"role": self.office} if self.office else "trigger"
        constraints = [
            {key: value for key, value in constraint.items() if key != "time"} for constraint in constraints
        ]
        self.exception(constraints)
        self.applies(bearer)
        evidence = self.evidence(constraints)
        procedure = self.procedure()
        if self.at != len(self.text):
            raise self.fail("the end")
        norm = {"force": self.force, "bearer": bearer, "constraints": tuple(constraints)}
        trigger = self.opener | {"window": self.window}
        return {
            "scope": self.scope,
            "trigger": trigger,
            "norm": norm,
            "evidence": evidence,
            "procedure": procedure,
        }

    def applies(self, bearer: Any) -> None:
        """What the rule filters, is meant for and about, and its period, each in a sentence of its own."""
        if self.take("this applies "):
            self.filtered()
            while self.take(", "):
                self.filtered()
            self.need(". ")
        if self.take("this is meant for "):
            self.meant(bearer)
            while self.take(", for "):
                self.meant(bearer)
            self.need(f", {FILTERS_NOTHING}. ")
        if self.take("this is about "):
            self.keep("concerns", self.listed(lambda: self.name("object", "many"), "and")[0])
            self.need(". ")
        if self.window is None and self.take("the matter stays open for "):
            self.open_period()
            self.need(f", {WINDOW_UNUSED}. ")
        if self.ends not in (None, self.window is not None):
            raise self.fail("a period" if self.ends else "no period")

    def filtered(self) -> None:
        """Places and objects of the opening act, or the rule's period."""
        if self.opener and self.take("at "):
            self.keep("locations", self.listed(lambda: self.the("location"), "or")[0])
        elif self.opener and self.take("where "):
            self.keep("objects", self.listed(lambda: self.an("object"), "or")[0])
            self.need(" is involved")
        elif "where" not in self.scope and self.take(IN_CASES):
            self.scope["where"] = self.conditions()
        elif self.window is None and self.take("for "):
            self.open_period()
        else:
            raise self.fail("what the rule applies to")

    def meant(self, bearer: Any) -> None:
        """Names of a scope that filters nothing: any at the start of a case, roles where an office is
        bound.
        """
        if not self.opener and self.text.startswith("the ", self.at):
            self.keep("locations", self.listed(lambda: self.the("location"), "or")[0])
        elif not self.opener and re.compile("an? ").match(self.text, self.at):
            self.keep("objects", self.listed(lambda: self.an("object"), "or")[0])
        elif bearer != "trigger" or not self.opener:
            self.keep("roles", self.listed(lambda: self.name("role", "many"), "and")[0])
        else:
            raise self.fail("what the rule is meant for")

    def keep(self, field: str, names: list[str]) -> None:
        """Names of the scope, stated once."""
        if field in self.scope:
            raise self.fail(f"no second list of {field}")
        self.scope[field] = tuple(names)

    def open_period(self) -> None:
        """The rule's own period, where no clause looks that far."""
        self.window = self.duration()
        self.need(" after ")
        self.again()

    def the(self, kind: Kind) -> str:
        self.need("the ")
        return self.name(kind)

    def an(self, kind: Kind, form: Form = "one") -> str:
        self.need("an ", "a ")
        return self.name(kind, form)

    # Acts

    def act(self, form: Form, by: str = "") -> Data:
        """An act and whatever else will do as well, as a noun phrase ("noun") or an infinitive ("one")."""
        by = by or ("by" if form == "noun" else "as")
        found = self.patterns(form, by)
        while more := self.attempt(lambda: (self.need(" or "), self.patterns(form, by))[1]):
            found += more
        return found[0] if len(found) == 1 else {"any_of": found}

    def patterns(self, form: Form, by: str) -> list[Data]:
        """One pattern, or several that differ in the role alone."""
        start = self.at
        found: Data = {"activity": self.name("action", form)}
        direct = takes_object(self.text[start : self.at], form)
        if direct and re.compile(" of an? " if form == "noun" else " an? ").match(self.text, self.at):
            self.need(" of " if form == "noun" else " ")
            found["object"] = self.an("object")
        roles: list[str | None] = [None]
        # "as the first act" is a time
        if re.compile(f" {by} an? ").match(self.text, self.at):
            self.need(f" {by} ")
            roles = [self.an("role")]
            while more := self.attempt(lambda: (self.need(" or "), self.an("role"))[1]):
                roles.append(more)
        # "at the latest" is one too
        if not self.text.startswith(" at the latest ", self.at) and self.take(" at the "):
            found["location"] = self.name("location")
        if "object" not in found and self.take(" in respect of "):
            found["object"] = self.an("object")
        if self.take(WHERE):
            found["where"] = self.conditions()
            self.need(")")
        return [found | ({"role": role} if role else {}) for role in roles]

    def conditions(self) -> tuple[Data, ...]:
        """What data must be."""
        found = [self.condition()]
        while self.text.startswith(" and the ", self.at):
            self.need(" and ")
            found.append(self.condition())
        return tuple(found)

    def condition(self) -> Data:
        """An attribute and what is asked of it."""
        self.need("the ")
        found: Data = {"attribute": self.name("attribute")}
        self.need(" ")
        if self.take(RECORDED):
            return found | {"test": "recorded"}
        if self.take(ONE_OF):
            return found | {"test": "one_of"} | self.values(self.listed(self.value, "or")[0])
        if self.take(BETWEEN):
            lower = self.value()
            self.need(" and ")
            return found | {"test": "between"} | self.values([lower, self.value()])
        words = self.need(*sorted(_TESTS, key=len, reverse=True))
        test, dated = _TESTS[words]
        for of, owner in OTHERS_OF.items():
            if not dated and self.take(owner):
                other = {"attribute": self.name("attribute"), "of": of}
                return found | {"test": test, "other": other}
        value = self.value()
        if test in ORDERING and isinstance(value[0], str) != dated:
            raise self.fail("a date" if dated else "a number")
        return found | {"test": test} | self.values([value])

    def values(self, said: list[tuple[Decimal | str, str | None]]) -> Data:
        """Values of one unit."""
        units = {unit for _, unit in said}
        if len(units) > 1:
            raise self.fail("values of one unit")
        return {"value": tuple(value for value, _ in said), "unit": units.pop()}

    # Trigger and time

    def occasion(self, in_case: bool = False) -> Data | None:
        """What a time is measured from: the opening act (None), or a second activation."""
        after: Data | None = None
        if self.take("the next "):
            act = self.act("noun")
            self.need(" recorded in ")
            after = {"act": act, "channel": self.the("channel")}
            self.need(" after ")
        self.open(in_case)
        return after

    def open(self, in_case: bool = False) -> None:
        """The opening act: in full where it comes first and for whoever did it and is bound; ``in_case``
        where that was said.
        """
        if self.whose == "person" and not self.continued:
            self.own()
        elif self.opened:
            self.again()
        else:
            self.first_told()
        if self.opener and self.whose != "person" and not self.case_told:
            self.case_told = True
            if not in_case:
                self.need(IN_CASE)

    def first_told(self) -> None:
        """The opening act where nothing was said of it before."""
        which = "each" if self.positive else "any"
        if self.take(f"the start of {which} case"):
            self.opened, self.whose = True, self.whose or "office"
            return
        if not self.whose and self.text.startswith((f"{FIRST_TIME} ", f"{which} time they "), self.at):
            self.whose = "person"
            return self.own()
        self.opened, self.whose = True, self.whose or "office"
        anybody, first = self.whose == "anybody", self.need("the first ", f"{which} ") == "the first "
        act = self.act("noun", f"by somebody {ACTING}" if anybody else "by")
        self.opener = {"act": act, "once": "first" if first else "each"}
        joint = ", by " if "any_of" in act else " by "
        if anybody and first:
            self.need(joint)
            if not self.take(ANY_ONE):
                self.need("each ")
                self.scope["roles"] = tuple(self.listed(lambda: self.name("role"), "or")[0])
        elif anybody and self.take(joint):
            self.scope["roles"] = tuple(self.roles())

    def own(self) -> None:
        """The opening act of whoever is bound by it."""
        first = self.need(f"{FIRST_TIME} ", f"{'each' if self.positive else 'any'} time they ").startswith(
            FIRST_TIME
        )
        opener = {"act": self.act("one"), "once": "first" if first else "each"}
        if self.opened and opener != self.opener:
            raise self.fail("the act named before")
        self.opened, self.opener = True, opener

    def again(self) -> None:
        """The opening act once it was spoken of."""
        self.need("that ")
        if self.opener:
            self.nouns()
        else:
            self.need("start")

    def nouns(self) -> None:
        """The activities of the opening act."""
        act = self.opener["act"]
        for number, activity in enumerate(dict.fromkeys(one["activity"] for one in act.get("any_of", [act]))):
            if number:
                self.need(" or ")
            if self.name("action", "noun") != activity:
                raise self.fail("the act named before")

    def when(self, before: Data | None) -> Data:
        """Where a clause looks, behind its act: relation, deadline, second activation, and whether earlier
        acts count.
        """
        said = self.continued or (self.whose != "person" and (self.case_told or not self.opener))
        if (
            said
            and before is not None
            and before["relation"] in ("after", "before", "around")
            and (before.get("deadline") or not self.window)
            and self.take("within that time")
        ):
            return dict(before)
        if self.take("at the latest "):
            found = self.latest() | {"relation": "after", "earlier_counts": True}
        elif self.take("during that period"):
            if self.window is None:
                raise self.fail("a period told before")
            found = {"relation": "after"}
        else:
            found = self.measured() or self.placed() or self.beside()
        plain = found["relation"] if not found.get("earlier_counts") else None
        for (relation, positive), (told, words) in SUFFIXES.items():
            if (told, positive) == (plain, self.positive) and self.take(words):
                found["relation"] = relation
        return found

    def period(self, in_case: bool = False) -> Duration:
        """The rule's own period, counted from the opening act."""
        window = self.duration()
        if self.window not in (None, window):
            raise self.fail("the period told before")
        self.window = window
        self.need(" after ")
        self.open(in_case)
        return window

    def latest(self) -> Data:
        """By when, where earlier acts count."""
        if self.take("by the end of the "):
            self.period()
            return {}
        if self.take("by the close of the case"):
            self.need(_WHETHER)
            return {"after": self.occasion()}
        deadline = self.duration()
        self.need(" after ")
        return {"deadline": deadline, "after": self.occasion()}

    def measured(self) -> Data | None:
        """A length of time, on one side or on both; the rule's own period where it is that."""
        if self.take("during the "):
            self.period()
            return {"relation": "after"}
        if self.take("within the "):
            return {"relation": "after", "deadline": self.period()}
        if not self.take("within "):
            return None
        deadline = self.duration()
        sides: dict[str, Relation] = {" after ": "after", " before ": "before", _WHETHER: "around"}
        return {"relation": sides[self.need(*sides)], "deadline": deadline, "after": self.occasion()}

    def placed(self) -> Data | None:
        """A place among the acts of the case."""
        for words, relation in _BESIDE.items():
            if self.take(words):
                after = self.occasion()
                if self.take(", within "):
                    return {"relation": relation, "after": after, "deadline": self.duration()}
                if relation == "next" and after is None:
                    self.end(self.period_told())
                return {"relation": relation, "after": after}
        for words, relation in _EDGES.items():
            if self.take(words):
                if not self.opened and self.take("each case"):
                    self.opened, self.whose = True, self.whose or "office"
                    return {"relation": relation}
                self.need("the case for " if relation == "start" else "the case after ")
                return {"relation": relation, "after": self.occasion(in_case=True)}
        return None

    def period_told(self) -> bool:
        """Whether a place next to the opening act is waited for during the rule's period."""
        if self.window or not self.take(", during the "):
            return self.window is not None and self.take(", during that period")
        self.window = self.duration()
        self.need(" after ")
        self.again()
        return True

    def end(self, up: bool) -> None:
        """What ends a time without a length: the rule's period, or the case."""
        if self.ends not in (None, up):
            raise self.fail("the end told before")
        self.ends = up

    def beside(self) -> Data:
        """A side without a length."""
        if self.take(f"at {'some' if self.positive else 'any'} point in the case"):
            if self.take(" up to the end of the "):
                self.period(in_case=True)
                return {"relation": "around"}
            self.need(_WHETHER)
            return {"relation": "around", "after": self.occasion(in_case=True)}
        if self.take("before "):
            return {"relation": "before", "after": self.occasion()}
        self.need("after ")
        after = self.occasion()
        if self.positive:
            up = self.need(" and before the case closes", " and before the time is up").endswith("up")
            if up and after is None:
                raise self.fail("the end told before")
            self.end(up)
        elif after is None:
            self.end(False)
        return {"relation": "after", "after": after}

    # Norm

    def duty(self, before: Data | None) -> Data:
        """One sentence; who bears the duty is kept."""
        self.continued = self.whose == "person" and self.take("the same person ")
        if self.continued:
            return self.clause(before)
        subject = next((words for words in ("somebody", "nobody") if self.take(words)), "")
        target = None if subject else self.attempt(self.counted)
        if subject or target:
            if self.office:
                raise self.fail("one office")
            self.whose = "anybody"
            role = self.an("role") if self.take(f" {ACTING} ") else None
            self.need(" " if subject else "")
            found = self.clause(before, subject, target)
            return found | {"target": _acting(found["target"], role)} if role else found
        if self.whose == "anybody":
            self.whose = "person"
        elif self.whose == "person":
            raise self.fail("the same person")
        roles = self.subject()
        self.need(" ")
        found = self.clause(before)
        if self.whose == "person":
            if before and self.scope.get("roles", ()) != tuple(roles):
                raise self.fail("the people named before")
            self.scope |= {"roles": tuple(roles)} if roles else {}
        elif len(roles) != 1 or self.office not in (None, *roles):
            raise self.fail("one office")
        else:
            (self.office,) = roles
        return found

    def subject(self) -> list[str]:
        """Roles in front of the modal; none for nobody in particular."""
        anyone = re.compile(rf"{re.escape(self.lexicon.anyone)}(?= (?:must|should|may|need) )", re.IGNORECASE)
        if anyone.match(self.text, self.at) and self.take(self.lexicon.anyone):
            return []
        return self.roles()

    def roles(self) -> list[str]:
        """``a cook or waiter``."""
        self.need("an ", "a ")
        return self.listed(lambda: self.name("role"), "or")[0]

    def counted(self) -> Data:
        """An act whose number is asked about, whoever does it."""
        target = self.an_act()
        if not _HAPPENS.match(self.text, self.at):
            raise self.fail("what must happen")
        self.need(" ")
        return target

    def an_act(self) -> Data:
        """``a payment``."""
        self.need("an ", "a ")
        return self.act("noun")

    def clause(self, before: Data | None, subject: str = "", target: Data | None = None) -> Data:
        """A constraint from its modal on; an act that must happen was read before it."""
        force, self.positive, never = self.modal(subject)
        if self.force not in (None, force):
            raise self.fail(f"the force said before ({self.force})")
        self.force = force
        if target:
            self.need("happen")
        found: Data = {"target": target or self.act("one")}
        counting, found["count"] = ("absence", 1) if never else self.how_often()
        self.need(" ")
        time = self.when(before["time"] if before else None)
        relation = time["relation"]
        fitting = [t for t, r in RELATIONS.items() if r == relation and (t in POSITIVE) == self.positive]
        if not (relation == "after" if counting else fitting):
            raise self.fail("another time")
        found["template"] = counting or fitting[0]
        shared = (key for key, words in SHARED.items() if self.take(BOTH[self.positive] + words))
        found["correlate"] = "same_resource" if self.whose == "person" else next(shared, "same_case")
        if self.take(" ("):
            found["ties"] = _TIES[self.need(*_TIES)]
            self.need(")")
        if self.take(", unless "):
            found["unless"] = self.an_act()
            self.need(" is recorded ")
            found["in_the_meantime"] = _EXCUSED[self.need(*_EXCUSED)]
        return (
            found
            | {key: value for key, value in time.items() if key != "relation" and value}
            | {"time": time}
        )

    def modal(self, subject: str) -> tuple[Force, bool, bool]:
        """Force, polarity, and whether something is forbidden once and for all."""
        if subject == "nobody":
            forces: dict[str, Force] = {f"{word} ": force for force, word in NOBODY.items()}
            return forces[self.need(*forces)], False, self.take("ever ")
        found = _MODALS[self.need(*sorted(_MODALS, key=len, reverse=True))]
        if subject and not found[1]:
            raise self.fail("what somebody has to do")
        return found

    def how_often(self) -> tuple[Template | None, int]:
        if self.positive:
            if self.take(" at least "):
                return "existence", self.times()
            if self.take(NOT_BOTH):
                return "exclusive_choice", 1
            return ("exactly", self.times()) if self.take(" exactly ") else (None, 1)
        return ("absence", self.times() + 1) if self.take(" more than ") else (None, 1)

    def exception(self, constraints: list[Data]) -> None:
        """What none of the clauses holds for."""
        if not self.take("exception: "):
            return
        if any("unless" in constraint for constraint in constraints):
            raise self.fail("no second exception")
        unless = self.an_act()
        self.need(" recorded ")
        meanwhile = _EXCUSED[self.need(*_EXCUSED)]
        self.need(". ")
        for constraint in constraints:
            constraint |= {"unless": unless, "in_the_meantime": meanwhile}

    # Evidence

    def evidence(self, constraints: list[Data]) -> Data:
        """The logs, how many of them, and the one that shows the opening act."""
        self.need("evidence: ")
        quant = next((words for words in (f"{EVERY[0]} ", "at least ") if self.take(words)), "")
        k = self.number() if quant == "at least " else None
        if k:
            self.need(" of ")
        channels, joint = self.listed(lambda: self.the("channel"), "and" if quant else "or")
        if bool(quant) != (joint == "and"):
            raise self.fail("logs that go with how many of them are asked for")
        if quant and not k:
            self.need(f" {EVERY[1]}")
        if self.opener:
            if not self.take("; for the "):
                if len(channels) > 1:
                    raise self.fail()
                self.opener["channel"] = channels[0]
            else:
                self.opener["channel"] = self.opening_log()
        self.stop()
        self.others(constraints, channels)
        if self.take("dates are compared, so "):
            self.dates({a["activity"] for c in constraints for a in c["target"].get("any_of", [c["target"]])})
            self.stop()
        return {
            "channels": tuple(channels),
            "operator": "at_least" if k else "any" if joint == "or" else "all",
            "k": k,
        }

    def others(self, constraints: list[Data], channels: list[str]) -> None:
        """Which acts come in between, first or last: nothing of the structure, but it must speak of the
        rule's own logs and places.
        """
        told = {(c["correlate"], PLACES.get(RELATIONS[c["template"]])) for c in constraints}
        for correlation, acts in OTHERS.items():
            places = [place for place in dict.fromkeys(PLACES.values()) if (correlation, place) in told]
            if places:
                self.need(f"only {acts} recorded in ")
                if self.listed(lambda: self.the("channel"), "or")[0] != channels:
                    raise self.fail("the logs of the evidence")
                self.need(f" count as coming {series(places, 'or')}")
                self.stop()

    def stop(self) -> None:
        """The end of a sentence, and of the text where no procedure follows."""
        self.need("." if self.at == len(self.text) - 1 else ". ")

    def opening_log(self) -> str:
        """The log of the opening act, behind that act."""
        self.nouns()
        self.need(", ")
        return self.the("channel")

    def dates(self, targets: set[str]) -> None:
        """How dates are compared: nothing of the structure, but it must speak of the rule's own acts."""
        order = "two acts on the same day are not put in order"
        if self.take(order):
            return
        if not self.take("an act on the last day counts"):
            if self.an("action", "noun") not in targets:
                raise self.fail("an act the rule asks for or forbids")
            self.need(" on the last day counts")
        if self.take(" and "):
            self.need(order)

    # Procedure

    def procedure(self) -> Data:
        """Steps and appeals, sentence by sentence, and the time for each; none where the text ends."""
        if self.at == len(self.text):
            return {}
        event = "question" if self.force == "may" else "breach"
        self.need("if a question arises, " if event == "question" else "if the records show a breach, ")
        found: list[Data] = self.sentence("")
        due: Duration | None = None
        if len(found) == 1 and self.take(" within "):
            due = self.duration()
            self.need(f" of the {event}")
        while due is None and self.take(". "):
            if len(found) > 1 and self.take("each step is due within "):
                due = self.duration()
                self.need(f" of the {event}")
            else:
                found += self.sentence("then ")
        self.need(".")
        return {"steps": tuple(found), "response_time": due}

    def sentence(self, then: str) -> list[Data]:
        """An appeal, or steps behind the word for what follows."""
        appeal = self.appeal()
        if appeal:
            return [appeal]
        if then:
            self.need(then)
        return self.steps()

    def steps(self) -> list[Data]:
        """What offices do, one after the other."""
        found: list[Data] = []
        while True:
            role = self.the("role")
            self.need(" ")
            found.append(self.step(role))
            while more := self.attempt(partial(self.further, role)):
                found.append(more)
            if not self.take(", then "):
                return found

    def further(self, role: str) -> Data:
        """A further step of the same office."""
        self.need(", ", " and ")
        return self.step(role)

    def step(self, role: str) -> Data:
        """One step: a verb of its own, the verb of its stage, or what is taken or provided."""
        found: Data = {"role": role}
        name = self.attempt(lambda: self.name("step", "doing"))
        if name:
            done = what_is_done(self.lexicon.form("step", name))
            if done is None:
                raise self.fail("a step that says what is done")
            return found | {"name": name, "stage": done[0]} | self.basis()
        for stage, verb in HOLDS.items():
            if self.take(f"{verb} "):
                name = self.an("step")
                if not self.lexicon.form("step", name).endswith(f" {stage}"):
                    raise self.fail(f"a step called … {stage}")
                looks = {"inspects": self.the("channel")} if stage == "review" and self.take(" of ") else {}
                return (
                    found
                    | {"name": name, "stage": stage}
                    | looks
                    | self.basis("" if stage == "review" else " on the basis of ")
                )
        if self.take("reviews "):
            inspects = None if self.take("the matter") else self.the("channel")
            found |= {"stage": "review", "name": self.through("review", " in ")} | (
                {"inspects": inspects} if inspects else {}
            )
            return found | self.basis("")
        stage = (
            "decision"
            if self.need(STAGE_VERBS["decision"][0], STAGE_VERBS["remedy"][0]).startswith("decides")
            else "remedy"
        )
        return found | {"stage": stage, "name": self.through(stage, " through ")} | self.basis()

    def appeal(self) -> Data | None:
        """Who may appeal to whom, if that is said here."""
        if not self.take("those affected may "):
            return None
        if self.take("appeal to "):
            found = {"role": self.the("role"), "name": self.through("appeal", " through ")}
        else:
            self.need("make ")
            name = self.an("step")
            if not self.lexicon.form("step", name).endswith(" appeal"):
                raise self.fail("a step called … appeal")
            self.need(", which goes to ")
            found = {"role": self.the("role"), "name": name}
        return {"stage": "appeal"} | found | self.basis(", heard on the basis of ")

    def through(self, stage: str, joint: str) -> str:
        """The step named behind its stage, or the step that goes by the stage's own name."""
        if self.take(joint):
            return self.an("step")
        name = self.lexicon.known("step", "one").get(stage)
        if name is None:
            raise self.fail(repr(joint))
        return name

    def basis(self, words: str = " on the basis of ") -> Data:
        """The log looked into, unless said already, and the recorded activity."""
        found: Data = {}
        if words and self.take(words):
            found["inspects"] = self.the("channel")
        if self.take(" (recorded as "):
            found["activity"] = self.an("action", "noun")
            self.need(")")
        return found
