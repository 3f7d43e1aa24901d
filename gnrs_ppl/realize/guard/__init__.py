"""The payload guard: whether a text that the renderer did not write says a structure, all of it and nothing
else.

It is built to be wrong in one direction only. A text is kept if every word of it is part of a phrase that is
understood and what is understood is the structure; a synonym it does not know, a sentence too many or a
pronoun that may stand for two things is a refusal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from gnrs_ppl.context.time import Duration
from gnrs_ppl.errors import one_line
from gnrs_ppl.realize.english import duration
from gnrs_ppl.realize.guard.evidence import EvidenceReader
from gnrs_ppl.realize.guard.mentions import MarkedText, Unreadable, mark
from gnrs_ppl.realize.guard.norm import NormReader
from gnrs_ppl.realize.guard.stated import Names, StatedClause, StatedRule, Time, Unread
from gnrs_ppl.realize.guard.steps import StepReader, is_procedure
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.realize.phrases import RELATIONS, Relation
from gnrs_ppl.realize.recover import recovered
from gnrs_ppl.realize.scanner import ParseError
from gnrs_ppl.rule.canonical import canonical, payloads
from gnrs_ppl.rule.types import Act, Constraint, Norm, Office, Structure

LONGEST = 4000
"""Most characters of a text that is read."""
_DATES = "dates are compared"
_STUTTER = re.compile(
    r"(?:\A|(?<= )[,;:.] )[,;:.] |\b(?:and|or|but) (?:[.;] |\Z)|\b(\w+(?: \w+)?) (?:[,:] )?\1 |\) \( "
    r"|(?:(?:[,:]|and|but|also|in addition|\( [a-h] \)) ){6,}"
)
"""Marks and words of a marked text that join nothing: readers pass over one, and would over a thousand."""
_OPENING_ACT = ("it", "its start", "from then")
"""Words the renderer has for the opening act; behind a second duty they may mean the first, unless that was
said to follow them too."""


def not_kept(structure: Structure, text: str, lexicon: Lexicon, dates_only: bool = False) -> list[str]:
    """What of a structure a text loses, and what it says besides; empty where it says the structure and
    nothing else.

    A text in the renderer's own language is judged by the parser, any other by what it can be read to say.

    Parameters
    ----------
    structure : Structure
    text : str
        Untrusted.
    lexicon : Lexicon
        Words for the vocabulary; names of it that the structure does not have may not be in the text.
    dates_only : bool
        Whether the text has to say, in the renderer's words, how dates are compared; where it need not, it
        must not.
    """
    if len(text) > LONGEST:
        return [f"not in the rule: more than {LONGEST:,} characters"]
    if (_DATES in text.lower()) != dates_only:
        return ["how dates are compared" if dates_only else "not in the rule: how dates are compared"]
    try:
        parse(text, lexicon)
    except ParseError:
        pass
    else:
        return recovered(structure, text, lexicon)
    rule = canonical(structure)
    try:
        marked = mark(text, lexicon, [(payload.kind, payload.name) for payload in payloads(rule)])
    except Unreadable as error:
        return [f"not understood: {error}"]
    try:
        said = _read(marked, rule)
    except Unread as error:
        unmentioned = {(p.kind, p.name) for p in payloads(rule)} - {
            (m.kind, name) for m in marked.names.values() for name in m.names
        }
        lost = [f"{kind} {name!r}" for kind, name in sorted(unmentioned)]
        return [*lost, f"not understood: {_shown(str(error), marked, lexicon)}"]
    return _compared(rule, said)


class _RuleReader(NormReader, EvidenceReader):
    """Reads sentences about scope, trigger, norm and evidence."""

    def sentence(self, units: list[str]) -> None:
        """Read one sentence, in parts as semicolons part it.

        Raises
        ------
        Unread
            Words no phrase fits, or an opening act without the duty it opens.
        """
        self.said.front.clear()
        self.said.pending.clear()
        self.start, self.owned = len(self.said.clauses), len(self.said.personal)
        phrases = (
            self.evidence,
            self.dates,
            self.scope,
            self.excepted,
            self.duty,
            self.free_time,
            self.adjunct,
            self.opener,
        )
        for unit in units:
            self.text, self.at = unit, 0
            while self.at < len(unit):
                joint = self.take(r"[,:]|and|but|also|in addition|\( [a-h] \)")
                if not joint and not any(self.attempt(read) for read in phrases):
                    raise Unread(unit[self.at :])
        if (self.said.front or self.said.pending) and len(self.said.clauses) == self.start:
            raise Unread(units[0])


def _read(marked: MarkedText, rule: Structure) -> StatedRule:
    if stutter := _STUTTER.search(marked.text):
        raise Unread(marked.text[stutter.start() :])
    said = StatedRule()
    reader, steps = _RuleReader(marked, said), StepReader(marked, said, rule.procedure)
    for sentence in re.split(r"(?<= )\. ", marked.text):
        units = [f"{unit.strip()} " for unit in sentence.split(" ; ") if unit.strip()]
        first = next((number for number, unit in enumerate(units) if is_procedure(unit)), len(units))
        if units[:first]:
            reader.sentence(units[:first])
        if units[first:]:
            steps.sentence(units[first:])
    return said


def _shown(text: str, marked: MarkedText, lexicon: Lexicon) -> str:
    """Marked text with words in place of marks."""

    def words(match: re.Match[str]) -> str:
        key = match[1]
        if key in marked.names:
            found = marked.names[key]
            return f" {found.joint or 'and'} ".join(lexicon.form(found.kind, name) for name in found.names)
        return (
            duration(marked.durations[key])
            if key in marked.durations
            else str(marked.numbers.get(key, "a word with two meanings"))
        )

    return one_line(re.sub(r"\b([A-Z]\d+)[a-z]?\b", words, text), 90)


class _Facts(NamedTuple):
    """What a rule states, or what a text does, in lines that are equal where they say the same."""

    lines: Counter[str]
    problems: list[str]


def _compared(rule: Structure, said: StatedRule) -> list[str]:
    wanted, told = _wanted(rule), _told(rule, said)
    return [
        *(wanted - told.lines).elements(),
        *(f"not in the rule: {line}" for line in (told.lines - wanted).elements()),
        *told.problems,
    ]


def _wanted(rule: Structure) -> Counter[str]:
    trigger, norm, evidence = rule.trigger, rule.norm, rule.evidence
    lines = [*_listed("role", rule.scope.roles), *_listed("concern", rule.scope.concerns), *_opening(rule)]
    lines.append(
        f"norm: bearer {norm.bearer.role!r}"
        if isinstance(norm.bearer, Office)
        else "norm: bearer of the trigger"
    )
    lines += [_constraint(norm, constraint, trigger.window) for constraint in norm.constraints]
    lines += [f"evidence: log {name!r}" for name in evidence.channels]
    lines.append(_operator(evidence.operator, evidence.k, len(evidence.channels)))
    lines += [_step(n, s.name, s.role, s.inspects, s.activity) for n, s in enumerate(rule.procedure.steps, 1)]
    lines += (
        [f"procedure: each step within {rule.procedure.response_time}"]
        if rule.procedure.response_time
        else []
    )
    lines.append(f"procedure: after a {'question' if norm.force == 'may' else 'violation'}")
    return Counter(lines)


def _opening(rule: Structure) -> list[str]:
    act, trigger = rule.trigger.act, rule.trigger
    places = rule.scope.locations + ((act.location,) if act and act.location else ())
    things = rule.scope.objects + ((act.object,) if act and act.object else ())
    lines = [*_listed("place", dict.fromkeys(places)), *_listed("object", dict.fromkeys(things))]
    if act is None:
        return [*lines, "trigger: start of a case"]
    lines += [
        f"trigger: or {_act(other)}" for other in act.alternatives
    ]  # no phrase is read as that, so it is never found kept
    lines += [
        f"trigger: act {act.activity!r}",
        f"trigger: log {trigger.channel!r}",
        f"trigger: {trigger.once}",
    ]
    return [*lines, *([f"trigger: by {act.role!r}"] if act.role else [])]


def _listed(what: str, names: Iterable[str]) -> list[str]:
    return [f"scope: {what} {name!r}" for name in names]


def _step(number: int, name: str, role: str, inspects: str | None, activity: str | None) -> str:
    told = f", on {inspects!r}" if inspects else ""
    return f"procedure: step {number}: {name!r} by {role!r}{told}" + (
        f", recorded as {activity!r}" if activity else ""
    )


def _constraint(norm: Norm, constraint: Constraint, window: Duration | None) -> str:
    relation = "after" if RELATIONS[constraint.template] == "from" else RELATIONS[constraint.template]
    length: Duration | str | None = constraint.deadline
    if relation == "after" and length is None:
        length = window or "case"
    counted = {"existence": "at least", "exactly": "exactly", "absence": "fewer"}.get(constraint.template)
    after = (constraint.after.act, constraint.after.channel) if constraint.after else None
    line = _duty(
        norm.force,
        constraint.positive,
        constraint.target,
        (counted, constraint.count) if counted else None,
        relation,
        length,
        after,
        constraint.unless,
        norm.correlation(constraint),
    )
    line += f", ties {constraint.ties}" if constraint.ties else ""
    return f"{line}, earlier acts count" if constraint.earlier_counts else line


def _duty(
    force: str,
    positive: bool,
    act: Act,
    counted: tuple[str, int] | None,
    relation: Relation,
    length: Duration | str | None,
    after: tuple[Act, str | None] | None,
    unless: Act | None,
    correlate: str,
) -> str:
    often = (
        f" {counted[0]} {counted[1]}" if counted and counted not in (("at least", 1), ("fewer", 1)) else ""
    )
    line = f"norm: {force}{'' if positive else ' not'} {_act(act)}{often} {relation}"
    line += f", within {length}" if length else ""
    line += f", of {_act(after[0])} in {after[1]!r}" if after else ""
    line += f", unless {_act(unless)}" if unless else ""
    return f"{line}, {correlate}"


def _act(act: Act) -> str:
    parts = [
        f"{field} {value!r}" for field in ("location", "object", "role") if (value := getattr(act, field))
    ]
    return " or ".join([" ".join([repr(act.activity), *parts]), *map(_act, act.alternatives)])


def _told(rule: Structure, said: StatedRule) -> _Facts:
    lines: list[str] = []
    problems: list[str] = []
    _tell_people(rule, said, lines, problems)
    _tell_opening(rule, said, lines, problems)
    for clause in said.clauses:
        _tell_clause(rule, said, clause, lines, problems)
    _tell_window(rule, said, lines, problems)
    _tell_evidence(rule, said, lines, problems)
    lines += [_step(n, s.name, s.role, s.inspects, s.activity) for n, s in enumerate(said.steps, 1)]
    lines += [f"procedure: each step within {length}" for length in dict.fromkeys(said.response_times)]
    lines += [f"procedure: after a {kind}" for kind in dict.fromkeys(said.openings)]
    return _Facts(Counter(lines), problems)


def _tell_people(rule: Structure, said: StatedRule, lines: list[str], problems: list[str]) -> None:
    """Roles of the scope, and who bears the norm."""
    scope, bearer, opener = rule.scope.roles, rule.norm.bearer, rule.trigger.act
    openers = list(said.trigger_roles)
    if opener and opener.role and (opener.role,) in openers:
        lines.append(f"trigger: by {opener.role!r}")
        openers = [
            names
            for names in openers
            if names != (opener.role,) or (isinstance(bearer, str) and set(names) == set(scope))
        ]
    said_lists = list(said.scope_roles)
    if isinstance(bearer, Office):
        problems += [f"not in the rule: only {_series(names)} open it" for names in openers]
        covered = set(scope) <= {bearer.role}
        said_lists += [scope] if covered else []
        for clause in said.clauses:
            _tell_office(bearer.role, said, clause, lines, problems)
    else:
        said_lists += openers + [c.bearer for c in said.clauses if isinstance(c.bearer, tuple)]
        problems += ["not in the rule: anyone opens it"] if said.anyone and scope else []
        personal = bool(said.personal)
        for clause in said.clauses:
            somebody = clause.bearer != "act" and not clause.denied
            told = personal or "same_resource" in said.correlations
            known = clause.identified or clause.correlate == "same_resource" or (somebody and told)
            if opener is None:
                known = clause.bearer == "act"  # nobody opens a case
            elif clause.bearer == "act":
                known = clause.identified or not scope
            lines += ["norm: bearer of the trigger"] if known else []
            who = (
                "whose act opens it for" if clause.bearer == "act" else "that it is the same person who must"
            )
            problems += [] if known else [f"norm: {who} {clause.act.activity!r}"]
    lines += _listed("role", scope if any(set(names) == set(scope) for names in said_lists) else ())
    problems += [
        f"not in the rule: it binds {_series(names)}" for names in said_lists if set(names) != set(scope)
    ]
    opened = opener is not None
    filters = {"role": opened and not isinstance(bearer, Office), "location": opened, "object": opened}
    problems += [
        f"not in the rule: no {kind} is left out" for kind in dict.fromkeys(said.unfiltered) if filters[kind]
    ]
    lines[:] = list(dict.fromkeys(lines))


def _tell_office(
    office: str, said: StatedRule, clause: StatedClause, lines: list[str], problems: list[str]
) -> None:
    named = [c.bearer for c in said.clauses[: said.clauses.index(clause)] if isinstance(c.bearer, tuple)]
    bearer = named[-1] if clause.bearer == "person" and named else clause.bearer
    if bearer == (office,) and not clause.universal:
        lines.append(f"norm: bearer {office!r}")
    else:
        what = f"every {_series(bearer)}" if isinstance(bearer, tuple) else "somebody not named"
        problems.append(f"norm: {office!r} bears {clause.act.activity!r}; the text says {what}")


def _series(names: Names) -> str:
    return " and ".join(map(repr, names)) or "anyone"


def _tell_opening(rule: Structure, said: StatedRule, lines: list[str], problems: list[str]) -> None:
    """The act that opens an instance, where and on what."""
    act = rule.trigger.act
    for what, found, wanted in (
        ("place", said.locations, rule.scope.locations + ((act.location,) if act and act.location else ())),
        ("object", said.objects, rule.scope.objects + ((act.object,) if act and act.object else ())),
    ):
        # a scope and an opener that both name places would have to be told apart
        if len(wanted) > 1 and act and (act.location if what == "place" else act.object):
            problems.append(f"scope: {what}s of scope and opener together are not read")
        lines += _listed(what, dict.fromkeys(name for names in found for name in names))
        problems += [
            f"not in the rule: {what} {_series(names)} alone" for names in found if set(names) < set(wanted)
        ]
    lines += _listed("concern", dict.fromkeys(name for names in said.concerns for name in names))
    if said.case_start or (not said.trigger and "case" in said.per):
        lines.append("trigger: start of a case")
    lines += [f"trigger: act {name!r}" for name in dict.fromkeys(said.trigger)]
    only = dict.fromkeys(name for names in said.evidence for name in names)
    logs = said.logs or (
        [*only] if act and len(only) == 1 else []
    )  # where one log shows everything, it need not be said twice
    lines += [f"trigger: log {name!r}" for name in dict.fromkeys(logs)]
    if act:
        lines += [f"trigger: {once}" for once in dict.fromkeys(said.once or ["each"])]
    personal = not isinstance(rule.norm.bearer, Office)
    if "person" in said.per and not personal and rule.trigger.once == "first":
        problems.append("not in the rule: for each person")
    if "case alone" in said.per and "person" not in said.per and personal and rule.trigger.once == "first":
        problems.append("trigger: for each person")


def _tell_clause(
    rule: Structure, said: StatedRule, clause: StatedClause, lines: list[str], problems: list[str]
) -> None:
    """One act the text asks for or forbids."""
    earlier = [c for c in said.clauses if c.group < clause.group]
    parallel = all(any(time.pronoun in _OPENING_ACT for time in c.times) for c in earlier)
    for time in clause.times:
        if time.pronoun and earlier and not (parallel and time.pronoun in _OPENING_ACT):
            problems.append(
                f"norm: whether {time.pronoun!r} behind {clause.act.activity!r} is the opening act"
            )
    relation, length, ambiguous = _where(clause, said)
    problems += [f"norm: when {clause.act.activity!r} counts"] if ambiguous else []
    anchors = dict.fromkeys(t.anchor for t in clause.times if t.anchor)
    correlations = {c for c in (clause.correlate, *said.correlations) if c}
    problems += (
        [f"norm: for whom {clause.act.activity!r} counts"]
        if len(correlations) > 1 or len(anchors) > 1
        else []
    )
    default = (
        "same_case" if isinstance(rule.norm.bearer, Office) or clause.bearer == "act" else "same_resource"
    )
    anchor = next(iter(anchors), None)
    after = (anchor.act, anchor.channel) if anchor else None
    line = _duty(
        clause.force,
        clause.positive,
        clause.act,
        clause.counted,
        relation,
        length,
        after,
        clause.unless,
        next(iter(correlations), default),
    )
    lines += [line] if line not in lines else []


def _where(clause: StatedClause, said: StatedRule) -> tuple[Relation, Duration | str | None, bool]:
    """Relation and length of a clause, and whether they may be read in two ways; its own times go before
    those in front of it.
    """
    own = {t.relation for t in clause.times}
    due = {t.length for t in (*clause.times, *clause.front) if t.firm and isinstance(t.length, Duration)}
    ahead = {t.relation for t in clause.front if t.relation != "after"}
    after: Relation = "after"
    relations = own or ahead or {after}
    relation = next(iter(relations))
    lengths = _lengths(clause.times, said)
    if not lengths:
        # what holds for a while is no deadline: "for an hour after it, a cook must check in" does not say by
        # when
        fitting = [t for t in clause.front if t.relation == relation and not (t.lasting and clause.positive)]
        lengths = _lengths([t for t in fitting if t.firm], said) or (
            _lengths(fitting, said) if relation == "after" else []
        )
    ambiguous = (
        len(relations) > 1
        or len(lengths) > 1
        or len(due) > 1
        or None in lengths
        or (bool(own) and bool(ahead) and own != ahead)
    )
    length = next(iter(lengths), None)
    return relation, length or ("case" if relation == "after" else None), ambiguous


def _lengths(times: Iterable[Time], said: StatedRule) -> list[Duration | str | None]:
    """Distinct lengths; None for a period that could be any of several."""
    found: list[Duration | str | None] = []
    for time in times:
        if time.length == "period":
            known = dict.fromkeys(said.windows) or dict.fromkeys(
                t.length for c in said.clauses for t in (*c.times, *c.front) if isinstance(t.length, Duration)
            )
            found.append(next(iter(known)) if len(known) == 1 else None)
        elif time.length is not None:
            found.append(time.length)
    return list(dict.fromkeys(found))


def _tell_window(rule: Structure, said: StatedRule, lines: list[str], problems: list[str]) -> None:
    """The time for which an instance stays open: said as a period, or as the time in which something is
    due.
    """
    window = rule.trigger.window
    lengths = {_where(clause, said)[1] for clause in said.clauses}
    if window and window not in said.windows and window not in lengths:
        problems.append(f"trigger: window {window}")
    if said.unused and (window in (None, *lengths) or any(c.after for c in rule.norm.constraints)):
        problems.append(f"not in the rule: no time depends on {window}")
    known = {window, *(c.deadline for c in rule.norm.constraints)}
    told = [*said.windows, *(t.length for c in said.clauses for t in (*c.times, *c.front))]
    strange = dict.fromkeys(length for length in told if isinstance(length, Duration) and length not in known)
    problems += [f"not in the rule: a period of {length}" for length in strange]


def _tell_evidence(rule: Structure, said: StatedRule, lines: list[str], problems: list[str]) -> None:
    """Logs, operator, and the acts they show."""
    targets = {c.target.activity for c in rule.norm.constraints}
    plain = rule.norm.force != "may" and all(c.positive for c in rule.norm.constraints)
    lines += [
        f"evidence: log {name!r}" for name in dict.fromkeys(name for names in said.evidence for name in names)
    ]
    problems += [
        f"evidence: the text counts {_series(names)} alone"
        for names in said.evidence
        if set(names) != set(rule.evidence.channels)
    ]
    operators = said.operators or ([("all", None)] if len(rule.evidence.channels) == 1 else [])
    lines += [_operator(*found, len(rule.evidence.channels)) for found in dict.fromkeys(operators)]
    for force in dict.fromkeys(said.evidence_forces):
        if not plain or force != rule.norm.force:
            problems.append(f"evidence: the text says that the logs {force} show it")
    if said.evidence_acts and set(said.evidence_acts) != targets:
        problems.append(
            f"evidence: the text speaks of {_series(tuple(dict.fromkeys(said.evidence_acts)))} alone"
        )


def _operator(operator: str, k: int | None, logs: int) -> str:
    if logs == 1:
        operator, k = "all", None
    elif k == 1:
        operator, k = "any", None
    return f"evidence: {operator} {k or ''}".strip()
