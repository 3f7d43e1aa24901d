"""Structure -> one to four sentences of plain institutional English (DESIGN §2; SEMANTICS lines 6 to 19 in words)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Kind
from gnrs_ppl.errors import Refused
from gnrs_ppl.realize.english import article, capitalised, duration, number, series, takes_object, times
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.phrases import MODALS, RELATIONS, SAME, STAGE_VERBS
from gnrs_ppl.rule.canonical import SlotContent, canonical, dumps
from gnrs_ppl.rule.pools import slot_of
from gnrs_ppl.rule.types import (
    Act,
    Constraint,
    EvidencePolicy,
    Norm,
    Office,
    Procedure,
    Scope,
    Step,
    Structure,
    Trigger,
)

LONG = 36
"""Words beyond which the evidence gets a sentence of its own."""


def render(structure: Structure, lexicon: Lexicon, dates_only: bool = False) -> str:
    """The rule as text that :func:`gnrs_ppl.realize.parser.parse` reads back.

    Parameters
    ----------
    structure : Structure
        Any structure of implemented templates; equal canonical forms give equal texts.
    lexicon : Lexicon
        Words for its names; a name it lacks is put into words and quoted.
    dates_only : bool
        Say how dates are compared, for logs that record no time of day.

    Raises
    ------
    Refused
        Where a constraint's template is not implemented; the message names it.
    """
    for constraint in structure.norm.constraints:
        if constraint.template not in RELATIONS:
            raise Refused(f"template {constraint.template!r} has no text yet", f"use one of {', '.join(RELATIONS)}")
        acts = (structure.trigger.act, constraint.target, constraint.unless, constraint.after and constraint.after.act)
        if constraint.ties or constraint.earlier_counts or any(act.alternatives for act in acts if act):
            raise Refused("alternatives, ties and earlier_counts have no text yet", "leave them out of a rule that is to be written out")
    return _Writer(canonical(structure), lexicon).text(dates_only)


def occurrence(act: Act, lexicon: Lexicon) -> str:
    """An act as a noun phrase without article."""
    return _act(act, lexicon, lexicon.form("action", act.activity, "noun"), noun=True)


def conduct(act: Act, lexicon: Lexicon) -> str:
    """An act as a bare infinitive."""
    return _act(act, lexicon, lexicon.form("action", act.activity), noun=False)


def phrase(content: SlotContent, lexicon: Lexicon) -> str:
    """One slot's content in the words a rule would use for it, for lists of candidates; no sentence, and not parsed back.

    Parameters
    ----------
    content : Scope, Trigger, Norm, EvidencePolicy or Procedure
        Of implemented templates.
    lexicon : Lexicon
        Words for its names.
    """
    act = Act(activity="act")
    blank: dict[str, Any] = {
        "trigger": Trigger(),
        "norm": Norm(constraints=(Constraint(template="existence", target=act),)),
        "evidence": EvidencePolicy(channels=("log",)),
        "procedure": Procedure(steps=(Step(stage="review", name="review", role="role"),)),
    }
    rule = Structure.model_validate(blank | {slot_of(content): content})
    writer = _Writer(canonical(rule), lexicon.including(rule))
    if isinstance(content, Scope):
        return ", ".join([*writer.openers(), writer.bearer()])
    if isinstance(content, Trigger):
        return writer.trigger("every case") + writer.episode()
    if isinstance(content, Norm):
        writer.shared = None  # a rule says with its evidence for whom an act counts; alone, every clause says it
        return f"{writer.bearer()} {'; '.join(writer.clause(c, timed=True) for c in writer.constraints)}"
    return writer.evidence() if isinstance(content, EvidencePolicy) else writer.procedure()


def _act(act: Act, lexicon: Lexicon, words: str, noun: bool) -> str:
    thing = lexicon.a("object", act.object) if act.object else None
    direct = thing is not None and takes_object(words, noun)
    text = f"{words}{' of' if noun else ''} {thing}" if direct else words
    text += f" {'by' if noun else 'as'} {lexicon.a('role', act.role)}" if act.role else ""
    text += f" at the {lexicon.form('location', act.location)}" if act.location else ""
    return text if thing is None or direct else f"{text} in respect of {thing}"


class _Writer:
    """Writes one canonical structure."""

    def __init__(self, rule: Structure, lexicon: Lexicon) -> None:
        self.rule, self.lexicon = rule, lexicon
        self.constraints = sorted(rule.norm.constraints, key=_reading_order)
        correlations = {c.correlate for c in self.constraints}
        self.shared = next(iter(correlations)) if len(correlations) == 1 else None

    def text(self, dates_only: bool) -> str:
        openers, lead = self.openers(), self.lead()
        sentences = [f"This rule applies {', '.join(openers)}"] if len(openers) > 1 else []
        norm = lead
        if len(openers) == 1:
            alone = f"as regards {openers[0][3:]}" if openers[0].startswith("to ") else openers[0]
            norm = f"{alone}, {lead}"
        evidence = self.evidence() + (f"; {self.dates()}" if dates_only else "")
        if len(self.constraints) == 1 and not self.constraints[0].unless and not dates_only and len(norm.split()) <= LONG:
            sentences.append(f"{norm}; {evidence}")
        else:
            sentences += [norm, evidence]
        return " ".join(f"{capitalised(sentence)}." for sentence in [*sentences, self.procedure()])

    def names(self, kind: Kind, names: Iterable[str]) -> list[str]:
        """Names behind the definite article."""
        return [f"the {self.lexicon.form(kind, name)}" for name in names]

    # Scope

    def openers(self) -> list[str]:
        """What of the scope does not stand with the bearer."""
        scope, lexicon = self.rule.scope, self.lexicon
        found = []
        if scope.roles and isinstance(self.rule.norm.bearer, Office):
            found.append(f"to {series([lexicon.form('role', name, 'many') for name in scope.roles], 'and')}")
        if scope.locations:
            found.append(f"at {series(self.names('location', scope.locations), 'or')}")
        if scope.objects:
            found.append(f"where {series([lexicon.a('object', name) for name in scope.objects], 'or')} is involved")
        if scope.concerns:
            found.append(f"in matters of {series([lexicon.form('object', name, 'many') for name in scope.concerns], 'and')}")
        return found

    def bearer(self) -> str:
        bearer, roles = self.rule.norm.bearer, self.rule.scope.roles
        if isinstance(bearer, Office):
            return self.lexicon.a("role", bearer.role)
        if not roles:
            return f"{self.lexicon.anyone} concerned"
        return f"the {series([self.lexicon.form('role', name) for name in roles], 'or')} concerned"

    # Trigger and norm

    def trigger(self, case: str) -> str:
        trigger = self.rule.trigger
        if trigger.act is None or trigger.channel is None:
            return case
        which, per = "every", ""
        if trigger.once == "first":
            which, per = "the first", " for each case" if isinstance(self.rule.norm.bearer, Office) else " for each person and case"
        return f"{which} {occurrence(trigger.act, self.lexicon)} recorded in the {self.lexicon.form('channel', trigger.channel)}{per}"

    def lead(self) -> str:
        """The norm: its time in front where every constraint shares it, else behind each of them."""
        fronts = {self.front(c) for c in self.constraints}
        front = next(iter(fronts)) if len(fronts) == 1 else None
        opening = front or f"for {self.trigger('every case')}{self.episode()}"
        clauses = [self.clause(c, timed=front is None) for c in self.constraints]
        if len(clauses) < 3:
            return f"{opening}, {self.bearer()} {', and '.join(clauses)}"
        lettered = [f"({chr(ord('a') + i)}) {clause}" for i, clause in enumerate(clauses)]
        return f"{opening}, {self.bearer()} {'; '.join(lettered[:-1])}; and {lettered[-1]}"

    def episode(self) -> str:
        window = self.rule.trigger.window
        return f" and the period of {duration(window)} after {self.pronoun()}" if window else ""

    def pronoun(self) -> str:
        return "it" if self.rule.trigger.act else "its start"

    def front(self, constraint: Constraint) -> str | None:
        """Time and trigger in front of the sentence; None where they do not fit there together."""
        relation, length, window = RELATIONS[constraint.template], constraint.deadline, self.rule.trigger.window
        if constraint.after or (window and (length or relation in ("before", "around"))):
            return None
        opener = self.trigger("the start of every case")
        if relation == "before":
            return f"within {duration(length)} before {opener}" if length else f"before {opener}"
        if relation == "around":
            return f"within {duration(length)} before or after {opener}" if length else f"before or after {opener}"
        if relation == "from":
            return f"from {opener} until {_end(length, window)}"
        stretch = duration(length) if length else f"a period of {duration(window)}" if window else None
        if stretch is None:
            return f"after {opener} and {'before' if constraint.positive else 'until'} the case closes"
        return f"{'within' if constraint.positive else 'for'} {stretch} after {opener}"

    def when(self, constraint: Constraint) -> str:
        """Time behind the act, relative to the activation."""
        after, length, relation = constraint.after, constraint.deadline, RELATIONS[constraint.template]
        reference = self.pronoun()
        if after:
            reference = f"the next {occurrence(after.act, self.lexicon)} recorded in the {self.lexicon.form('channel', after.channel)}"
        if relation == "before":
            return f"within {duration(length)} before {reference}" if length else f"before {reference}"
        if relation == "around":
            return f"within {duration(length)} before or after {reference}" if length else f"before or after {reference}"
        close = "the period ends" if self.rule.trigger.window else "the case closes"
        if relation == "from":
            start = "then" if reference == "it" else reference
            return f"from {start} until {f'{duration(length)} later' if length else close}"
        if length:
            return f"{'within' if constraint.positive else 'for'} {duration(length)} after {reference}"
        start = f"after {reference}" if after else "afterwards"
        return f"{start} and before {close}" if constraint.positive else f"{start} until {close}"

    def clause(self, constraint: Constraint, timed: bool) -> str:
        text = f"{MODALS[self.rule.norm.force, constraint.positive]} {conduct(constraint.target, self.lexicon)}{_how_often(constraint)}"
        text += f" {self.when(constraint)}" if timed else ""
        text += f" ({SAME[self.rule.norm.correlation(constraint)]})" if self.shared is None else ""
        if constraint.unless:
            exception = occurrence(constraint.unless, self.lexicon)
            text += f", unless {article(exception)} {exception} is recorded beforehand"
        return text

    # Evidence

    def evidence(self) -> str:
        """Which logs must show the act; "an act counts" wherever more than one act may be meant."""
        policy, force = self.rule.evidence, self.rule.norm.force
        logs = self.names("channel", policy.channels)
        same = f" {SAME[self.shared]}" if self.shared else ""
        only = self.constraints[0]
        listed = series(logs, "or" if policy.operator == "any" else "and")
        listed = f"at least {number(policy.k)} of {listed}" if policy.k else listed
        every = "" if policy.operator != "all" or len(logs) == 1 else "both " if len(logs) == 2 else "all "
        if len(self.constraints) == 1 and only.positive and only.unless is None and force != "may":
            return f"{listed} {force} {every}show it{same}"
        text = f"an act counts as done when {listed} {f'{every}show' if policy.k or every else 'shows'} it{same}"
        return f"{text}, as far as they can record it" if every else text

    def dates(self) -> str:
        """How dates are compared, for the constraints there are."""
        forward = [c for c in self.constraints if RELATIONS[c.template] != "before" and c.template != "not_response"]
        notes = []
        if forward:
            activities = {c.target.activity for c in forward}
            noun = self.lexicon.a("action", forward[0].target.activity, "noun") if len(activities) == 1 else "an act"
            notes.append(f"{noun} on the last day counts")
        if len(forward) < len(self.constraints):
            notes.append("two acts on the same day are not put in order")
        return f"dates are compared, so {' and '.join(notes)}"

    # Procedure

    def procedure(self) -> str:
        procedure = self.rule.procedure
        text = "if a question arises, " if self.rule.norm.force == "may" else "if the records show otherwise, "
        if procedure.response_time and len(procedure.steps) > 1:
            text += f"each of these steps is taken within {duration(procedure.response_time)}: "
        previous: Step | None = None
        for step in procedure.steps:
            if previous:
                text += "; " if step.stage == "appeal" else ", then "
            told = previous is not None and previous.stage != "appeal" and previous.role == step.role
            text += self.step(step, told)
            previous = step
        return f"{text} within {duration(procedure.response_time)}" if procedure.response_time and len(procedure.steps) == 1 else text

    def step(self, step: Step, told: bool) -> str:
        """One step; ``told`` where the step before names who takes it."""
        lexicon, log = self.lexicon, f"the {self.lexicon.form('channel', step.inspects)}" if step.inspects else ""
        plain, special = STAGE_VERBS[step.stage]
        words = lexicon.form("step", step.name)
        exact, ends = words == step.stage, words.endswith(f" {step.stage}")
        what, who = lexicon.a("step", step.name), f"the {lexicon.form('role', step.role)}"
        basis = f" on the basis of {log}" if log else ""
        if step.stage == "appeal":
            text = f"those concerned {special} {what}, heard by {who}" if ends else f"those concerned {plain} {who}"
        else:
            text = "" if told else f"{who} "
            text += f"{special} {what}" if ends else plain
            if step.stage == "review" and not ends:
                text, basis = f"{text} {log or 'the matter'}", ""
        text += "" if ends or exact else f" through {what}"
        return text + basis + (f" (recorded as {lexicon.a('action', step.activity, 'noun')})" if step.activity else "")


def _end(length: Duration | None, window: Duration | None) -> str:
    if length:
        return f"{duration(length)} later"
    return f"the end of a period of {duration(window)}" if window else "the case closes"


def _how_often(constraint: Constraint) -> str:
    n = constraint.count
    if constraint.template == "existence":
        return f" at least {times(n)}"
    if constraint.template == "exactly":
        return f" exactly {times(n)}"
    if constraint.template == "absence":
        return " even once" if n == 1 else f" {times(n)} or more"
    return ""


def _reading_order(constraint: Constraint) -> tuple[bool, float, str]:
    """Duties before prohibitions, short deadlines first."""
    return not constraint.positive, constraint.deadline.shortest_seconds() if constraint.deadline else float("inf"), dumps(constraint)
