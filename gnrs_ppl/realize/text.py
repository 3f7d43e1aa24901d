"""Structure -> a few sentences of plain institutional English (DESIGN §2; SEMANTICS lines 6 to 19 in words).

First the duty, subject first and its time once; then what it does not hold for, where it applies, how it is
shown, and what follows where the records show a breach. What a reader takes for granted is not said.

Each duty is a sentence, and whose act counts stands in its subject: whoever did the opening act (afterwards
the same person), an office, or, where anybody's act will do, somebody or nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Kind
from gnrs_ppl.realize.english import (
    article,
    capitalised,
    duration,
    number,
    series,
    takes_object,
    times,
    what_is_done,
)
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
    quote,
    unit_words,
)
from gnrs_ppl.rule.canonical import SlotContent, canonical, dumps
from gnrs_ppl.rule.pools import slot_of
from gnrs_ppl.rule.types import (
    COUNTING,
    LOOK_BACK,
    ORDERING,
    Act,
    Condition,
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

PieceKind = Literal["W", "M", "T", "X", "A", "F", "C", "Z", "E", "N", "Y", "B", "G", "S", "Q", "R"]
"""What a piece of a rule text says: who, must do what, and when, of a duty; the exception, where the rule
applies, whom it is meant for, what it is about, how long the matter stays open; the evidence, what comes in
between, how dates are compared; the breach, an office, its step, an appeal, the time for each step."""


class Piece(NamedTuple):
    """A phrase that is said whole, and what stands before it in its sentence."""

    kind: PieceKind
    words: str
    joint: str = ""


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
    return " ".join(
        f"{capitalised(_said(sentence))}." for sentence in sentences(structure, lexicon, dates_only)
    )


def sentences(structure: Structure, lexicon: Lexicon, dates_only: bool = False) -> list[list[Piece]]:
    """The sentences of :func:`render`, piece by piece; raises as it does."""
    return _Writer(canonical(structure), lexicon).sentences(dates_only)


def occurrence(act: Act, lexicon: Lexicon) -> str:
    """An act as a noun phrase without article."""
    return _act(act, lexicon, "noun")


def phrase(content: SlotContent, lexicon: Lexicon) -> str:
    """One slot's content in the words a rule would use for it, for lists of candidates; no sentence, and not
    parsed back.

    Parameters
    ----------
    content : Scope, Trigger, Norm, EvidencePolicy or Procedure
        Of implemented templates.
    lexicon : Lexicon
        Words for its names.
    """
    act = Act(activity="act")
    blank: dict[str, Any] = {
        "trigger": Trigger() if isinstance(content, EvidencePolicy) else Trigger(act=act, channel="log"),
        "norm": Norm(constraints=(Constraint(template="existence", target=act),)),
        "evidence": EvidencePolicy(channels=("log",)),
        "procedure": Procedure(steps=(Step(stage="review", name="review", role="role"),)),
    }
    rule = Structure.model_validate(blank | {slot_of(content): content})
    writer = _Writer(canonical(rule), lexicon.including(rule))
    if isinstance(content, Scope):
        return ", ".join([writer.person(), *writer.applies(), *writer.about()])
    if isinstance(content, Trigger):
        return writer.opening()
    if isinstance(content, Norm):
        writer.activation = "it"
        return "; ".join(map(_said, writer.duties()))
    if isinstance(content, EvidencePolicy):
        return writer.evidence()
    return "; ".join(map(_said, writer.procedure()))


def _said(sentence: Sequence[Piece]) -> str:
    return "".join(piece.joint + piece.words for piece in sentence)


def _act(act: Act, lexicon: Lexicon, form: Form, by: str = "") -> str:
    """The patterns of an act behind each other; those that differ in the role alone share their other
    words.
    """
    by = by or ("by" if form == "noun" else "as")
    said = []
    for _, group in groupby(
        act.patterns, key=lambda p: (p.activity, p.location, p.object, p.role is None, p.where)
    ):
        first, *others = group
        said.append(_pattern(first, [other.role for other in others if other.role], lexicon, form, by))
    return " or ".join(said)


def _pattern(act: Act, other_roles: list[str], lexicon: Lexicon, form: Form, by: str) -> str:
    words = lexicon.form("action", act.activity, form)
    thing = lexicon.a("object", act.object) if act.object else None
    direct = thing is not None and takes_object(words, form)
    text = f"{words}{' of' if form == 'noun' else ''} {thing}" if direct else words
    if act.role:
        people = [lexicon.a("role", role) for role in (act.role, *other_roles)]
        text += f" {by} {' or '.join(people)}"
    text += f" at the {lexicon.form('location', act.location)}" if act.location else ""
    text += "" if thing is None or direct else f" in respect of {thing}"
    return f"{text}{WHERE}{_conditions(act.where, lexicon)})" if act.where else text


def _conditions(conditions: Sequence[Condition], lexicon: Lexicon) -> str:
    """What data must be, behind the word where."""
    return " and ".join(
        f"the {lexicon.form('attribute', c.attribute)} {_condition(c, lexicon)}" for c in conditions
    )


def _condition(condition: Condition, lexicon: Lexicon) -> str:
    if condition.other is not None:
        other = lexicon.form("attribute", condition.other.attribute)
        return f"{TESTS[condition.test, False]}{OTHERS_OF[condition.other.of]}{other}"
    unit = f" {unit_words(condition.unit)}" if condition.unit else ""
    values = [quote(v) if isinstance(v, str) else f"{v:f}{unit}" for v in condition.value]
    if condition.test == "recorded":
        return RECORDED
    if condition.test == "one_of":
        return ONE_OF + series(values, "or")
    if condition.test == "between":
        return f"{BETWEEN}{values[0]} and {values[1]}"
    dated = isinstance(condition.value[0], str) and condition.test in ORDERING
    return f"{TESTS[condition.test, dated]}{values[0]}"


class _Writer:
    """Writes one canonical structure."""

    activation = ""
    """Words for the opening act wherever it is spoken of; empty where the rule says them itself."""

    def __init__(self, rule: Structure, lexicon: Lexicon) -> None:
        self.rule, self.lexicon = rule, lexicon
        self.office = isinstance(rule.norm.bearer, Office)
        self.constraints = sorted(rule.norm.constraints, key=self.reading_order)
        self.window = rule.trigger.window
        self.mentioned = self.window_told = self.case_told = False
        self.before: Constraint | None = None

    def sentences(self, dates_only: bool) -> list[list[Piece]]:
        """The whole text."""
        duties = [*self.duties()]
        return [*duties, *([piece] for piece in self.rest(dates_only)), *self.procedure()]

    def rest(self, dates_only: bool) -> Iterator[Piece]:
        """What is said between the duties and what follows a breach, a sentence each."""
        exceptions = {(c.unless, c.in_the_meantime) for c in self.constraints}
        (shared, meanwhile), *others = exceptions
        if shared and not others:
            yield Piece("X", f"exception: {self.an(shared)} recorded {EXCUSED[meanwhile]}")
        if applies := self.applies():
            yield Piece("A", f"this applies {', '.join(applies)}")
        if meant := self.meant():
            yield Piece("F", f"this is meant {', '.join(meant)}, {FILTERS_NOTHING}")
        yield from (Piece("C", f"this is {topic}") for topic in self.about())
        if self.window and not self.window_told:
            yield Piece(
                "Z",
                f"the matter stays open for {duration(self.window)} after {self.again()}, {WINDOW_UNUSED}",
            )
        yield Piece("E", self.evidence())
        yield from (Piece("N", others) for others in self.others())
        if dates_only:
            yield Piece("Y", self.dates())

    def names(self, kind: Kind, names: Iterable[str]) -> list[str]:
        """Names behind the definite article."""
        return [f"the {self.lexicon.form(kind, name)}" for name in names]

    def an(self, act: Act) -> str:
        """An act as a noun phrase behind ``a`` or ``an``."""
        words = occurrence(act, self.lexicon)
        return f"{article(words)} {words}"

    def nouns(self, act: Act) -> str:
        """An act by its activities alone, where all of it was said before."""
        return " or ".join(self.lexicon.form("action", name, "noun") for name in act.activities)

    # Scope

    def person(self) -> str:
        """Whoever does the opening act."""
        if not self.rule.scope.roles:
            return self.lexicon.anyone
        words = series([self.lexicon.form("role", name) for name in self.rule.scope.roles], "or")
        return f"{article(words)} {words}"

    def applies(self) -> list[str]:
        """By what else the scope filters openings, and for how long a second activation counts, unless a
        clause said so.
        """
        scope, found = self.rule.scope, []
        if self.rule.trigger.act and scope.locations:
            found.append(f"at {series(self.names('location', scope.locations), 'or')}")
        if self.rule.trigger.act and scope.objects:
            found.append(f"where {self.any_of('object', scope.objects)} is involved")
        if scope.where:
            found.append(f"{IN_CASES}{_conditions(scope.where, self.lexicon)}")
        if self.window and not self.window_told and any(c.after for c in self.constraints):
            self.window_told = True
            found.append(f"for {duration(self.window)} after {self.again()}")
        return found

    def meant(self) -> list[str]:
        """What of the scope filters nothing: all of it at the start of a case, the roles where an office is
        bound (M5).
        """
        scope, lexicon, found = self.rule.scope, self.lexicon, []
        if scope.roles and (self.office or not self.rule.trigger.act):
            found.append(f"for {series([lexicon.form('role', name, 'many') for name in scope.roles], 'and')}")
        if scope.locations and not self.rule.trigger.act:
            found.append(f"for {series(self.names('location', scope.locations), 'or')}")
        if scope.objects and not self.rule.trigger.act:
            found.append(f"for {self.any_of('object', scope.objects)}")
        return found

    def about(self) -> list[str]:
        """What the rule is about, where only the text names it."""
        names = [self.lexicon.form("object", name, "many") for name in self.rule.scope.concerns]
        return [f"about {series(names, 'and')}"] if names else []

    def any_of(self, kind: Kind, names: Iterable[str]) -> str:
        """Names behind ``a`` or ``an``."""
        return series([self.lexicon.a(kind, name) for name in names], "or")

    # Trigger

    def opening(self) -> str:
        """The trigger by itself."""
        trigger, lexicon = self.rule.trigger, self.lexicon
        words = "each case"
        if trigger.act and trigger.channel:
            which = "the case's first" if trigger.once == "first" else "each"
            words = (
                f"{which} {occurrence(trigger.act, lexicon)} recorded in the "
                f"{lexicon.form('channel', trigger.channel)}"
            )
        return f"{words}, for {duration(trigger.window)}" if trigger.window else words

    def occasion(self, constraint: Constraint) -> str:
        """What a time is measured from: the opening act, or the next act of another kind after it."""
        words = self.opener(constraint)
        if constraint.after is None:
            return words
        log = self.lexicon.form("channel", constraint.after.channel)
        return (
            f"the next {occurrence(constraint.after.act, self.lexicon)} recorded in the {log} after {words}"
        )

    def opener(self, constraint: Constraint) -> str:
        """The opening act: in full where it comes first, and for whoever did it and is bound; asked about at
        each, forbidden at any.
        """
        trigger, again, self.mentioned = self.rule.trigger, self.mentioned, True
        if self.activation:
            return self.activation
        which = "each" if constraint.positive else "any"
        if trigger.act and self.personal(constraint):
            times = FIRST_TIME if trigger.once == "first" else f"{which} time they"
            return (
                self.again()
                if self.continued(constraint)
                else f"{times} {_act(trigger.act, self.lexicon, 'one')}"
            )
        if trigger.act is None:
            return self.again() if again else f"the start of {which} case"
        told, self.case_told = self.case_told, True
        words = self.again() if again else self.occurrence(which)
        return words if told or _tells_case(constraint) else words + IN_CASE

    def occurrence(self, which: str) -> str:
        """The opening act as a noun, with whose it is unless an office is bound."""
        act, roles, first = self.rule.trigger.act, self.rule.scope.roles, self.rule.trigger.once == "first"
        assert act is not None
        words = (
            f"{'the first' if first else which} "
            f"{_act(act, self.lexicon, 'noun', 'by' if self.office else f'by somebody {ACTING}')}"
        )
        if self.office or not (first or roles):
            return words
        # behind a comma where it must not seem to be said of the last alternative alone
        return words + (", by " if act.alternatives else " by ") + self.whose(first)

    def whose(self, first: bool) -> str:
        """Whose acts open the matter; a first act is the first of each of them."""
        if not self.rule.scope.roles:
            return ANY_ONE
        people = self.person()
        return f"each {people.partition(' ')[2]}" if first else people

    def again(self) -> str:
        """The opening act once it was spoken of."""
        return f"that {self.nouns(self.rule.trigger.act)}" if self.rule.trigger.act else "that start"

    # Norm

    def personal(self, constraint: Constraint) -> bool:
        """Whether the duty is that of the very person who did the opening act."""
        same = self.rule.norm.correlation(constraint) == "same_resource"
        return same and not self.office and self.rule.trigger.act is not None

    def reading_order(self, constraint: Constraint) -> tuple[int, bool, float, str]:
        """What one person has to do stays together; duties before prohibitions, short deadlines first."""
        bound = any(self.personal(c) and c.positive for c in self.rule.norm.constraints)
        place = (0 if bound else 2) if self.personal(constraint) else 1 if constraint.positive else 3
        length = constraint.deadline.shortest_seconds() if constraint.deadline else float("inf")
        return place, not constraint.positive, length, dumps(constraint)

    def duties(self) -> Iterator[list[Piece]]:
        """Every constraint as a sentence: whose duty it is where it is somebody's own, what, and when."""
        for constraint in self.constraints:
            who, asked = self.asked(constraint)
            text = self.when(constraint)
            self.before = constraint
            if shared := self.shared(constraint):
                text += BOTH[constraint.positive] + shared
            text += f" ({TIES[constraint.ties]})" if constraint.ties else ""
            exceptions = {(c.unless, c.in_the_meantime) for c in self.constraints}
            if constraint.unless and len(exceptions) > 1:
                when = EXCUSED[constraint.in_the_meantime]
                text += f", unless {self.an(constraint.unless)} is recorded {when}"
            bearer = [Piece("W", who)] if who else []
            yield [*bearer, Piece("M", asked, " " if who else ""), Piece("T", text, " ")]

    def owes_case(self, constraint: Constraint) -> bool:
        """Whether it was not yet said that the acts of others count in the same case alone."""
        return not (self.personal(constraint) or self.case_told) and self.rule.trigger.act is not None

    def continued(self, constraint: Constraint) -> bool:
        """Whether the duty before was that of the same person."""
        return self.personal(constraint) and self.before is not None and self.personal(self.before)

    def asked(self, constraint: Constraint) -> tuple[str, str]:
        """Who is bound, apart where that is an office or whoever did the opening act, and what is asked of
        them, and how often.
        """
        c, target, bearer, force = constraint, constraint.target, self.rule.norm.bearer, self.rule.norm.force
        modal = MODALS[force, c.positive]
        never = c.template == "absence" and c.count == 1
        often = "" if never else _how_often(c)
        if never:
            modal = modal.replace(" not", " never")
        who = ""
        if isinstance(bearer, Office):
            who = self.lexicon.a("role", bearer.role)
        elif self.personal(c):
            who = "the same person" if self.continued(c) else self.person()
        else:
            if c.template in COUNTING and (c.count > 1 or c.template == "exactly"):
                # how often all of them do it together, so that it is said of the act and of no subject
                return "", f"{self.an(target)} {modal} happen{often}"
            acting = ""
            if target.role and target == target.carried_by(target.role):
                acting, target = f" {ACTING} {self.lexicon.a('role', target.role)}", target.carried_by(None)
            modal = (
                f"somebody{acting} {modal}"
                if c.positive
                else f"nobody{acting} {NOBODY[force]}{' ever' if never else ''}"
            )
        return who, f"{modal} {_act(target, self.lexicon, 'one')}{often}"

    def shared(self, constraint: Constraint) -> str:
        """What the acts must have in common, where neither the subject nor the case says so."""
        return "" if self.personal(constraint) else SHARED.get(self.rule.norm.correlation(constraint), "")

    def when(self, constraint: Constraint) -> str:
        """Where the constraint looks, behind the act."""
        told, length = RELATIONS[constraint.template], constraint.deadline
        relation, suffix = SUFFIXES.get((told, constraint.positive), (told, ""))
        ahead = relation in ("after", "from")
        # said anew where the sentence needs both acts: they have something in common, or show who is bound
        brief = self.continued(constraint) or not (
            self.personal(constraint) or self.shared(constraint) or self.owes_case(constraint)
        )
        if brief and self.before and _same_time(constraint, self.before, self.window):
            return "within that time"
        rest = not length and not constraint.after and not constraint.earlier_counts
        if brief and ahead and self.window and rest and self.window_told:
            text = "during that period"
        elif ahead:
            text = self.ahead(constraint)
        elif relation in ("start", "close"):
            text = self.edge(constraint, "first" if relation == "start" else "last")
        elif relation in ("next", "previous"):
            text = self.beside(constraint)
        elif relation == "before":
            text = f"{f'within {duration(length)} ' if length else ''}before {self.occasion(constraint)}"
        elif length:
            text = f"within {duration(length)}, whether before or after {self.occasion(constraint)}"
        else:
            text = f"at {'some' if constraint.positive else 'any'} point in the case{self.around(constraint)}"
        return text + suffix

    def ahead(self, constraint: Constraint) -> str:
        """Time that follows: a deadline, the rule's own period, or the rest of the case."""
        length, window, occasion = constraint.deadline, self.window, self.occasion(constraint)
        latest = constraint.earlier_counts
        if length and length == window and not constraint.after and not latest and not self.window_told:
            self.window_told = True
            return f"within the {duration(length)} after {occasion}"
        if length:
            return f"{'at the latest' if latest else 'within'} {duration(length)} after {occasion}"
        if window and not constraint.after:
            self.window_told = True
            return (
                f"{'at the latest by the end of' if latest else 'during'} the {duration(window)} after "
                f"{occasion}"
            )
        if latest:
            return f"at the latest by the close of the case, whether before or after {occasion}"
        end = "the time is up" if window else "the case closes"
        return f"after {occasion} and before {end}" if constraint.positive else f"after {occasion}"

    def around(self, constraint: Constraint) -> str:
        """How far the search goes that begins with the case."""
        occasion = self.occasion(constraint)
        if self.window is None or constraint.after:
            return f", whether before or after {occasion}"
        self.window_told = True
        return f" up to the end of the {duration(self.window)} after {occasion}"

    def beside(self, constraint: Constraint) -> str:
        """The place next to what a time is measured from, and for how long that act is waited for."""
        follows, length = RELATIONS[constraint.template] != "previous", constraint.deadline
        text = f"as the {'next act after' if follows else 'last act before'} {self.occasion(constraint)}"
        if length:
            return f"{text}, within {duration(length)}"
        if not follows or not self.window or constraint.after:
            return text
        told, self.window_told = self.window_told, True
        return (
            f"{text}, during that period"
            if told
            else f"{text}, during the {duration(self.window)} after {self.again()}"
        )

    def edge(self, constraint: Constraint, which: str) -> str:
        """The first or the last place in a case."""
        if self.rule.trigger.act or constraint.after or self.mentioned:
            side = "for" if which == "first" else "after"
            return f"as the {which} act of the case {side} {self.occasion(constraint)}"
        self.mentioned = True
        return f"as the {which} act of each case"

    # Evidence

    def evidence(self) -> str:
        """Which logs must show the act, and which one shows what opens the matter."""
        policy, trigger = self.rule.evidence, self.rule.trigger
        logs = self.names("channel", policy.channels)
        text = series(logs, "or" if policy.operator == "any" else "and")
        if policy.k:
            text = f"at least {number(policy.k)} of {text}"
        elif policy.operator == "all" and len(logs) > 1:
            text = f"{EVERY[0]} {text} {EVERY[1]}"
        if trigger.act and policy.channels != (trigger.channel,):
            text += (
                f"; for the {self.nouns(trigger.act)}, {self.names('channel', [trigger.channel or ''])[0]}"
            )
        return f"evidence: {text}"

    def others(self) -> Iterator[str]:
        """Which acts come in between, first or last, where a constraint asks that none does."""
        norm, logs = self.rule.norm, series(self.names("channel", self.rule.evidence.channels), "or")
        told = {(norm.correlation(c), PLACES.get(RELATIONS[c.template])) for c in self.constraints}
        for correlation, acts in OTHERS.items():
            places = [place for place in dict.fromkeys(PLACES.values()) if (correlation, place) in told]
            if places:
                yield f"only {acts} recorded in {logs} count as coming {series(places, 'or')}"

    def dates(self) -> str:
        """How dates are compared, for the constraints there are."""
        back = (
            *LOOK_BACK,
            "not_response",
            "not_chain_response",
            "not_succession",
            "not_chain_succession",
        )
        forward = [c for c in self.constraints if c.template not in back]
        notes = []
        if forward:
            acts = {c.target for c in forward}
            noun = (
                "an act"
                if len(acts) > 1 or forward[0].target.alternatives
                else self.an(Act(activity=forward[0].target.activity))
            )
            notes.append(f"{noun} on the last day counts")
        if len(forward) < len(self.constraints):
            notes.append("two acts on the same day are not put in order")
        return f"dates are compared, so {' and '.join(notes)}"

    # Procedure

    def procedure(self) -> Iterator[list[Piece]]:
        """What follows: the steps of an office as one sentence, each appeal as one of its own."""
        procedure, asked = self.rule.procedure, self.rule.norm.force != "may"
        runs: list[list[Step]] = []
        for step in procedure.steps:
            if step.stage == "appeal" or not runs or runs[-1][-1].stage == "appeal":
                runs.append([])
            runs[-1].append(step)
        told = "if the records show a breach" if asked else "if a question arises"
        due = (
            f"within {duration(procedure.response_time)} of the {'breach' if asked else 'question'}"
            if procedure.response_time
            else ""
        )
        own = f" {due}" if due and len(procedure.steps) == 1 else ""
        for run in runs:
            if run[0].stage == "appeal":
                pieces = [Piece("Q", self.appeal(run[0]) + own)]
            else:
                pieces = self.steps(run, own)
            if run is runs[0]:
                pieces = [Piece("B", told), pieces[0]._replace(joint=", "), *pieces[1:]]
            elif run[0].stage != "appeal":
                pieces[0] = pieces[0]._replace(joint="then ")
            yield pieces
        if due and not own:
            yield [Piece("R", f"each step is due {due}")]

    def steps(self, run: list[Step], due: str) -> list[Piece]:
        """Steps in order, those of one office under one subject."""
        pieces: list[Piece] = []
        for role, group in groupby(run, key=lambda step: step.role):
            office = f"the {self.lexicon.form('role', role)}"
            pieces.append(Piece("G", office, ", then " if pieces else ""))
            first, *others = [self.step(step) + due for step in group]
            pieces.append(Piece("S", first, " "))
            pieces += [Piece("S", step, ", ") for step in others[:-1]]
            pieces += [Piece("S", step, " and ") for step in others[-1:]]
        return pieces

    def step(self, step: Step) -> str:
        """What is done, with which log, and how it is recorded."""
        lexicon, log = (
            self.lexicon,
            f"the {self.lexicon.form('channel', step.inspects)}" if step.inspects else "",
        )
        words, known = lexicon.form("step", step.name), lexicon.words.get(("step", step.name))
        verb, joint = STAGE_VERBS[step.stage]
        basis = f" on the basis of {log}" if log else ""
        natural = what_is_done(words) if known and known.doing else None
        if natural and natural[0] == step.stage:
            text = lexicon.form("step", step.name, "doing")
        elif words.endswith(f" {step.stage}"):
            text = f"{HOLDS[step.stage]} {lexicon.a('step', step.name)}"
            if step.stage == "review" and log:
                text, basis = f"{text} of {log}", ""
        else:
            text = verb
            if step.stage == "review":
                text, basis = f"{verb} {log or 'the matter'}", ""
            text += "" if words == step.stage else f" {joint} {lexicon.a('step', step.name)}"
        return text + basis + self.recorded(step)

    def appeal(self, step: Step) -> str:
        """Who may appeal, and to whom."""
        words, what = self.lexicon.form("step", step.name), self.lexicon.a("step", step.name)
        office = f"the {self.lexicon.form('role', step.role)}"
        if words.endswith(" appeal"):
            text = f"those affected may make {what}, which goes to {office}"
        else:
            text = f"those affected may appeal to {office}" + (
                "" if words == "appeal" else f" through {what}"
            )
        heard = (
            f", heard on the basis of {self.names('channel', [step.inspects])[0]}" if step.inspects else ""
        )
        return text + heard + self.recorded(step)

    def recorded(self, step: Step) -> str:
        """The recorded activity that shows a step."""
        return f" (recorded as {self.lexicon.a('action', step.activity, 'noun')})" if step.activity else ""


def _same_time(one: Constraint, other: Constraint, window: Duration | None) -> bool:
    """Whether ``within that time`` would mean the time of the other: one with an end, the same relation,
    length and activation.
    """

    def place(c: Constraint) -> tuple[object, ...]:
        relation = RELATIONS[c.template]
        return ("after" if relation == "from" else relation), c.deadline, c.after, c.earlier_counts

    relation, *_ = place(one)
    ends = one.deadline is not None or (relation == "after" and other.positive and not window)
    return relation in ("after", "before", "around") and ends and place(one) == place(other)


def _tells_case(constraint: Constraint) -> bool:
    """Whether the place itself is one in the case."""
    relation = RELATIONS[constraint.template]
    return relation in ("start", "close") or (relation in ("around", "both") and not constraint.deadline)


def _how_often(constraint: Constraint) -> str:
    n = constraint.count
    if constraint.template == "existence":
        return f" at least {times(n)}"
    if constraint.template == "exactly":
        return f" exactly {times(n)}"
    if constraint.template == "exclusive_choice":
        return NOT_BOTH
    if constraint.template == "absence":
        return f" more than {times(n - 1)}"
    return ""
