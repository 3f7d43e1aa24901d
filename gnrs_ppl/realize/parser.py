"""Text -> structure: a deterministic recursive-descent reader of rule texts, independent of the writer but for the tables it shares."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pydantic import ValidationError

from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Kind
from gnrs_ppl.realize.english import takes_object
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.phrases import MODALS, RELATIONS, SAME, STAGE_VERBS, Form, Relation
from gnrs_ppl.realize.scanner import ParseError, Scanner
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import POSITIVE, Force, Stage, Structure, Template

Data = dict[str, Any]

_SIDES: dict[str, Relation] = {"before or after": "around", "before": "before", "after": "after"}
_TAKEN: tuple[Stage, ...] = ("review", "decision", "remedy")
_CORRELATIONS = {text: key for key, text in SAME.items()}
_MODALS = {text: key for key, text in MODALS.items()}


class _Front(NamedTuple):
    """What a sentence says before its bearer: where constraints look, and whether it said so for all of them."""

    relation: Relation | None = None
    positive: bool | None = None
    deadline: Duration | None = None


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


class _Reader(Scanner):
    """Reads one rule text; every method reads from ``at`` and moves it."""

    # The rule

    def rule(self) -> Data:
        """The whole text as data for a structure; scope, trigger, window and force are kept on the way."""
        self.scope: Data = {}
        self.window: Duration | None = None
        self.force: Force | None = None
        self.opening()
        front = self.front()
        self.need(", ")
        bearer = self.bearer()
        constraints = self.clauses(front)
        evidence = self.evidence(constraints)
        self.need(". ")
        procedure = self.procedure()
        if self.at != len(self.text):
            raise self.fail("the end")
        trigger = self.opener | {"window": self.window}
        norm = {"force": self.force, "bearer": bearer, "constraints": tuple(constraints)}
        return {"scope": self.scope, "trigger": trigger, "norm": norm, "evidence": evidence, "procedure": procedure}

    def opening(self) -> None:
        """Scope in a sentence of its own or in front of the norm."""
        if self.take("this rule applies "):
            self.need_scope_part()
            while self.take(", "):
                self.need_scope_part()
            self.need(". ")
        elif self.scope_part("as regards "):
            self.need(", ")

    def need_scope_part(self) -> None:
        if not self.scope_part("to "):
            raise self.fail("what the rule applies to")

    def scope_part(self, people: str) -> bool:
        if self.take(people):
            field, names = "roles", self.listed(lambda: self.name("role", "many"), "and")[0]
        elif self.take("at "):
            field, names = "locations", self.listed(lambda: self.the("location"), "or")[0]
        elif self.take("where "):
            field, names = "objects", self.listed(lambda: self.an("object"), "or")[0]
            self.need(" is involved")
        elif self.take("in matters of "):
            field, names = "concerns", self.listed(lambda: self.name("object", "many"), "and")[0]
        else:
            return False
        if field in self.scope:
            raise self.fail(f"no second list of {field}")
        self.scope[field] = tuple(names)
        return True

    def the(self, kind: Kind) -> str:
        self.need("the ")
        return self.name(kind)

    def an(self, kind: Kind, form: Form = "one") -> str:
        self.need("an ", "a ")
        return self.name(kind, form)

    # Trigger and time

    def act(self, form: Form) -> Data:
        """An act as a noun phrase ("noun", behind its article) or an infinitive ("one")."""
        start = self.at
        found: Data = {"activity": self.name("action", form)}
        direct = takes_object(self.text[start : self.at], form == "noun")
        if direct and re.compile(" of an? " if form == "noun" else " an? ").match(self.text, self.at):
            self.need(" of " if form == "noun" else " ")
            found["object"] = self.an("object")
        if self.take(" as " if form == "one" else " by "):
            found["role"] = self.an("role")
        if self.take(" at the "):
            found["location"] = self.name("location")
        if "object" not in found and self.take(" in respect of "):
            found["object"] = self.an("object")
        return found

    def recorded(self) -> Data:
        """An act as a noun phrase and the log that records it."""
        act = self.act("noun")
        self.need(" recorded in ")
        return {"act": act, "channel": self.the("channel")}

    def trigger(self, case: str) -> None:
        """The trigger; sets ``opener``, ``pronoun`` and, for a first occurrence, per whom it is the first."""
        self.per: str | None = None
        self.opener: Data = {}
        self.pronoun = "its start"
        if re.compile(f"{case}(?=, | and | until )").match(self.text, self.at) and self.take(case):
            return
        self.pronoun = "it"
        once = self.need("every ", "the first ")
        self.opener = self.recorded() | {"once": "each" if once == "every " else "first"}
        if once == "the first ":
            self.per = self.need(" for each person and case", " for each case")

    def front(self) -> _Front:
        """Everything before the bearer: time and trigger, or the trigger alone."""
        start = "the start of every case"
        for words, relation in _SIDES.items():
            if self.take(f"{words} "):
                self.trigger(start)
                if relation != "after":
                    return _Front(relation)
                return _Front("after", self.need(" and before the case closes", " and until the case closes").startswith(" and before"))
        if self.take("from "):
            self.trigger(start)
            self.need(" until ")
            return _Front("from", None, self.end("the case closes", "the end of a period of "))
        positive = self.need("within ", "for ") == "within "
        if not positive and self.text.startswith(("every ", "the first "), self.at):
            self.trigger("every case")
            if self.take(" and the period of "):
                self.window = self.duration()
                self.need(f" after {self.pronoun}")
            return _Front()
        if self.take("a period of "):
            self.window = self.duration()
            self.need(" after ")
            self.trigger(start)
            return _Front("after", positive)
        deadline = self.duration()
        relation = _SIDES[self.need(*(f" {side} " for side in (_SIDES if positive else ("after",)))).strip()]
        self.trigger(start)
        return _Front(relation, positive if relation == "after" else None, deadline)

    def end(self, close: str, period: str | None = None) -> Duration | None:
        """The end of an interval that begins with its activation: a length, the window or the closing of the case."""
        if self.take(close):
            return None
        if period and self.take(period):
            self.window = self.duration()
            return None
        deadline = self.duration()
        self.need(" later")
        return deadline

    def when(self, positive: bool) -> Data:
        """Time behind the act: relation, deadline and second activation."""
        close = "the period ends" if self.window else "the case closes"
        if self.take(" from "):
            after = None if self.take("then" if self.pronoun == "it" else self.pronoun) else self.reference()
            self.need(" until ")
            return {"relation": "from", "deadline": self.end(close), "after": after}
        if self.take(" afterwards"):
            self.need(f" and before {close}" if positive else f" until {close}")
            return {"relation": "after"}
        measured = self.take(" within ") or (not positive and self.take(" for "))
        deadline = self.duration() if measured else None
        relation = _SIDES[self.need(*(f" {side} " for side in _SIDES)).strip()]
        after = self.reference()
        if relation == "after" and not deadline:
            if after is None:
                raise self.fail("a second activation")
            self.need(f" and before {close}" if positive else f" until {close}")
        return {"relation": relation, "deadline": deadline, "after": after}

    def reference(self) -> Data | None:
        """The trigger (None), or the act that is the second activation."""
        if self.take("the next "):
            return self.recorded()
        self.need(self.pronoun)
        return None

    # Norm

    def bearer(self) -> Any:
        """Who bears the norm; roles named before ``concerned`` are the scope's."""
        office = None
        if "roles" in self.scope or self.text.startswith(("a ", "an "), self.at):
            office = {"role": self.an("role")}
            self.need(" ")
        elif not self.take(f"{self.lexicon.anyone} concerned "):
            self.need("the ")
            self.scope["roles"] = tuple(self.listed(lambda: self.name("role"), "or")[0])
            self.need(" concerned ")
        if self.per is not None and (self.per == " for each case") != (office is not None):
            raise self.fail("a first occurrence counted for this bearer")
        return office or "trigger"

    def clauses(self, front: _Front) -> list[Data]:
        """One clause, two joined by ``and``, or a lettered list."""
        if not self.take("(a) "):
            found = [self.clause(front)]
            if self.take(", and "):
                found.append(self.clause(front))
            return found
        found = [self.clause(front)]
        while True:
            letter = chr(ord("a") + len(found))
            last = self.need(f"; ({letter}) ", f"; and ({letter}) ").startswith("; and")
            found.append(self.clause(front))
            if last:
                return found

    def clause(self, front: _Front) -> Data:
        force, positive = _MODALS[self.need(*(f"{modal} " for modal in sorted(_MODALS, key=len, reverse=True))).strip()]
        if self.force not in (None, force):
            raise self.fail(f"the force said before ({self.force})")
        if front.positive not in (None, positive):
            raise self.fail("a prohibition" if positive else "a duty")
        self.force = force
        found: Data = {"target": self.act("one")}
        counting, found["count"] = self.how_often(positive)
        time = {"relation": front.relation, "deadline": front.deadline} if front.relation else self.when(positive)
        relation = time.pop("relation")
        if (relation == "from") != (counting is not None):
            raise self.fail("how often" if relation == "from" else "no count")
        found["template"] = counting or next(t for t, r in RELATIONS.items() if r == relation and (t in POSITIVE) == positive)
        if self.take(" ("):
            found["correlate"] = _CORRELATIONS[self.need(*_CORRELATIONS)]
            self.need(")")
        if self.take(", unless "):
            self.need("an ", "a ")
            found["unless"] = self.act("noun")
            self.need(" is recorded beforehand")
        return found | time

    def how_often(self, positive: bool) -> tuple[Template | None, int]:
        if positive:
            if self.take(" at least "):
                return "existence", self.times()
            return ("exactly", self.times()) if self.take(" exactly ") else (None, 1)
        if self.take(" even once"):
            return "absence", 1

        def repeated() -> int:
            self.need(" ")
            n = self.times()
            self.need(" or more")
            return n

        n: int | None = self.attempt(repeated)
        return ("absence", n) if n else (None, 1)

    # Evidence

    def evidence(self, constraints: list[Data]) -> Data:
        """The logs, the operator and, where the clauses leave it out, the correlation."""
        self.need("; ", ". ")
        plain = len(constraints) == 1 and constraints[0]["template"] in POSITIVE and "unless" not in constraints[0] and self.force != "may"
        if plain:
            k, channels, conjunction = self.logs()
            self.need(f" {self.force} ")
            self.need("show it" if k or conjunction != "and" else "both show it" if len(channels) == 2 else "all show it")
        else:
            self.need("an act counts as done when ")
            k, channels, conjunction = self.logs()
            several = conjunction == "and" and not k
            self.need((" both show it" if len(channels) == 2 else " all show it") if several else " show it" if k else " shows it")
        stated = sum("correlate" in c for c in constraints)
        if stated not in (0, len(constraints)):
            raise self.fail("a correlation in every clause")
        if not stated:
            self.need(" ")
            correlate = _CORRELATIONS[self.need(*_CORRELATIONS)]
            for constraint in constraints:
                constraint["correlate"] = correlate
        if not plain and conjunction == "and" and not k:
            self.need(", as far as they can record it")
        if self.take("; dates are compared, so "):
            self.dates({c["target"]["activity"] for c in constraints})
        return {"channels": tuple(channels), "operator": "at_least" if k else "any" if conjunction == "or" else "all", "k": k}

    def logs(self) -> tuple[int | None, list[str], str]:
        k = None
        if self.take("at least "):
            k = self.number()
            self.need(" of ")
        channels, conjunction = self.listed(lambda: self.the("channel"), *(("and",) if k else ("and", "or")))
        return k, channels, conjunction

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
        self.need("if a question arises, " if self.force == "may" else "if the records show otherwise, ")
        found: Data = {}
        timed = self.take("each of these steps is taken within ")
        if timed:
            found["response_time"] = self.duration()
            self.need(": ")
        steps = [self.step(None)]
        while True:
            if self.take(", then "):
                steps.append(self.step(steps[-1]))
            elif self.text.startswith("; those concerned ", self.at) and self.take("; "):
                steps.append(self.appeal())
            else:
                break
        if timed and len(steps) == 1:
            raise self.fail("another step")
        if not timed and len(steps) == 1 and self.take(" within "):
            found["response_time"] = self.duration()
        self.need(".")
        return found | {"steps": tuple(steps)}

    def step(self, previous: Data | None) -> Data:
        """A step that somebody takes; whoever took the one before need not be named again."""
        if previous is None and self.text.startswith("those concerned ", self.at):
            return self.appeal()
        if previous and previous["stage"] != "appeal" and not self.text.startswith("the ", self.at):
            role = previous["role"]
        else:
            role = self.the("role")
            self.need(" ")
        said = self.need(*(verb for stage in _TAKEN for verb in STAGE_VERBS[stage]))
        stage = next(stage for stage in _TAKEN if said in STAGE_VERBS[stage])
        found: Data = {"stage": stage, "role": role}
        if said == STAGE_VERBS[stage][1]:
            self.need(" ")
            return found | {"name": self.special(stage)} | self.basis()
        if stage != "review":
            return found | {"name": self.through(stage)} | self.basis()
        if not self.take(" the matter"):
            self.need(" ")
            found["inspects"] = self.the("channel")
        return found | {"name": self.through(stage)} | self.basis(inspected=True)

    def appeal(self) -> Data:
        self.need("those concerned ")
        plain, special = STAGE_VERBS["appeal"]
        found: Data = {"stage": "appeal"}
        if self.need(f"{plain} ", f"{special} ").strip() == special:
            found["name"] = self.special("appeal")
            self.need(", heard by ")
            found["role"] = self.the("role")
        else:
            found["role"] = self.the("role")
            found["name"] = self.through("appeal")
        return found | self.basis()

    def special(self, stage: Stage) -> str:
        """A step whose words end in the stage's own."""
        name = self.an("step")
        if not self.lexicon.form("step", name).endswith(f" {stage}"):
            raise self.fail(f"a step called … {stage}")
        return name

    def through(self, stage: Stage) -> str:
        """The step named behind its stage, or the step that goes by the stage's own name."""
        if self.take(" through "):
            return self.an("step")
        name = self.lexicon.known("step", "one").get(stage)
        if name is None:
            raise self.fail("' through '")
        return name

    def basis(self, inspected: bool = False) -> Data:
        """The log looked into, unless said already, and the recorded activity."""
        found: Data = {}
        if not inspected and self.take(" on the basis of "):
            found["inspects"] = self.the("channel")
        if self.take(" (recorded as "):
            found["activity"] = self.an("action", "noun")
            self.need(")")
        return found
