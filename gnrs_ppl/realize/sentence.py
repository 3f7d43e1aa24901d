"""One sentence per instance verdict: what the record shows, in words a person can check (SEMANTICS lines 5,
15 to 20).
"""

from __future__ import annotations

from gnrs_ppl.audit.types import Due, InstanceVerdict, Reason
from gnrs_ppl.audit.uncounted import Records, Uncounted, Why
from gnrs_ppl.context.time import Duration, Grain
from gnrs_ppl.errors import one_line
from gnrs_ppl.realize.english import article, capitalised, duration, series, times
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.phrases import EXCUSED
from gnrs_ppl.realize.text import occurrence
from gnrs_ppl.rule.types import HALVES, LOOK_BACK, POSITIVE, TWO_SIDED, Act, Constraint, Structure

_SENTENCES: dict[Reason, str] = {
    "proven": "the record shows {an_act} {as_asked}in {logs}{proven}{margin}",
    "tie": "the record shows {an_act} in {logs} {tied} what called for it, which counts as in time",
    "refuted": "the record shows {too_little} in {logs}{span}; {complete}",
    "late": "the record shows {an_act} in {logs}, but {margin}{due_at}",
    "absent": "{nothing_recorded} in {logs}{span}; {complete}{nearest}",
    "too_few": "{nothing_recorded} in {logs}{span}, where the rule asks for it exactly {times}; "
    "{complete}{later}{nearest}",
    "too_many": "{an_act} is recorded more than {times} in {logs}{time}, where the rule asks for it exactly "
    "{times}",
    "seen_forbidden": "the record shows {an_act} {too_often}in {logs}, in the time for which the rule "
    "{objects}{time_span}",
    "not_preceded": "no {act} is recorded in {logs} {ahead} what called for it{time_span}; "
    "{complete}{nearest}",
    "open": "the time for {an_act} is still running{until}, so there is no verdict yet",
    "seen": "{an_act} is recorded, but not as often or in as many logs as the rule counts, and the time is "
    "still running{until}",
    "unseen": "no {act} is recorded so far{after}, and the time is still running{until}",
    "scope": "the record that would open the matter leaves out what decides whether the rule applies",
    "uncounted": "the calendar of the records cannot count the working time that the rule asks for, so there "
    "is no verdict",
    "twice": "a time was recorded in the hour that comes twice when clocks are put back, and the verdict "
    "hangs on which of the two was meant",
    "after_unknown": "the records do not settle whether {second} took place, on which the rule waits",
    "unknown_key": "the record that opens the matter does not name the {key}, so no {act} can be matched to "
    "it",
    "unknown_match": "a record in {logs} may be {an_act} in time, but a missing entry leaves that open",
    "unknown_tie": "the record shows {an_act} in {logs} {tied} what called for it, which leaves open which "
    "of the two came first",
    "open_world": "the logs that could show {an_act} are not declared complete, so their silence settles "
    "nothing",
    "uncovered": "the logs that could show {an_act} do not cover the whole time in question, so their "
    "silence settles nothing",
    "uncorroborated": "{an_act} is recorded, but in fewer logs than the rule asks for",
    "split": "records of {an_act} in {logs} do not add up: they lie too far apart, or are enough only when "
    "the logs are counted together",
    "unknown_order": "the record shows {an_act} in {logs}, but not whether something else came in between",
    "exception_unknown": "the records do not meet the rule, nor do they settle whether {exception} came "
    "{in_time}, which would excuse it",
    "no_after": "no {second_noun} is recorded, so the rule asked for nothing",
    "exception": "{exception} is recorded {excused}, which the rule accepts as an exception",
}

_BOTH: dict[Reason, str] = {
    "too_many": "the record shows both acts in {logs}{time}, where the rule asks for only one of them"
}
"""Of an exclusive choice."""
_AHEAD: dict[Reason, str] = {
    "late": "no {act} is recorded in {logs}{within} before {moment}, only {then}after it; {complete}",
    "absent": "no {act} is recorded in {logs}{within} before {moment}, nor after it; {complete}{nearest}",
}
"""Of a precedence, which asks for what came before."""


def explain(
    verdict: InstanceVerdict, structure: Structure, lexicon: Lexicon, records: Records | None = None
) -> str:
    """What the record shows for one instance and constraint, in one neutral sentence.

    Parameters
    ----------
    verdict : InstanceVerdict
        A row of the audit; its ``constraint`` counts in ``structure.norm.constraints``.
    structure : Structure
        The rule as it was audited.
    lexicon : Lexicon
        Words for its names.
    records : Records, optional
        The records that the verdict comes from: what is recorded nearest, and why it does not count.
    """
    norm = structure.norm
    constraint = norm.constraints[verdict.constraint]
    template = _half(verdict, constraint)
    target, n = norm.target(constraint), constraint.count
    if verdict.of_target and structure.trigger.act is not None:
        target = structure.trigger.act
    act = occurrence(target, lexicon) + _whose(verdict, structure, target)
    before = "by" if constraint.positive else "until"
    if template in LOOK_BACK:
        tied = constraint.ties == ("fulfil" if template in POSITIVE else "violate")
        before = "before or at" if tied else "before"
    due = _moment(verdict.due) if verdict.due else ""
    time = f" {before} {due}" if due else ""
    nearest = records.nearest(verdict, target, back=template in LOOK_BACK) if records else None
    # whatever lies before what called for it, or before the case, is left out of the claim
    opener = constraint.after or structure.trigger.act
    beyond = records is None or constraint.after is not None or (nearest is not None and nearest.earlier)
    within = f" within {duration(constraint.deadline)}" if constraint.deadline else ""
    after = span = ""
    if template in LOOK_BACK:
        within = within or (" since the case started," if beyond else "")
        span = within + (time or " before what called for it")
    elif template in TWO_SIDED:
        span = f"{within} before or after what called for it" if within else time
    elif template not in ("init", "end") and not constraint.earlier_counts:
        after = f" after {'what called for it' if opener else 'the case started'}" if beyond else ""
        span = f"{after}{',' if after and time else ''}{time}"
    else:
        span = time
    parts = {
        "act": act,
        "an_act": f"{article(act)} {act}",
        **_logs(structure, verdict, lexicon),
        "within": within,
        "moment": due or "what called for it",
        "then": "at that very time or " if constraint.ties == "violate" else "",
        "as_asked": f"exactly {times(n)} "
        if constraint.template == "exactly"
        else f"at least {times(n)} "
        if n > 1
        else "",
        "times": times(n),
        "too_little": f"no {act}" if n == 1 else f"{article(act)} {act} fewer than {times(n)}",
        "nothing_recorded": f"no {act} is recorded"
        if n == 1
        else f"{article(act)} {act} is recorded fewer than {times(n)}",
        "too_often": f"{times(n)} or more " if n > 1 else "",
        "objects": "advises against it" if norm.force == "should" else "excludes it",
        "time": time,
        "span": span,
        "proven": span if constraint.template == "exactly" else time,
        "after": after,
        "ahead": _DIRECTLY.get(template, "ahead of"),
        "tied": _tied(verdict, target, records),
        "nearest": _nearest(nearest, lexicon) if nearest and not constraint.after else "",
        "time_span": f" ({before} {due})" if due else "",
        "until": f" until {due}" if due else "",
        "due_at": f" ({due})" if due else "",
        "margin": _margin(verdict),
        "later": f"; one is recorded {_margin(verdict)}" if verdict.slack_seconds is not None else "",
        "key": "object" if norm.correlation(constraint) == "same_object" else "person",
        "second": _named(constraint.after.act if constraint.after else None, lexicon),
        "second_noun": occurrence(constraint.after.act, lexicon) if constraint.after else "further act",
        "exception": _named(constraint.unless, lexicon),
        "excused": EXCUSED[constraint.in_the_meantime],
        "in_time": "in the meantime" if constraint.in_the_meantime else "first",
    }
    sentences = _SENTENCES | {"precedence": _AHEAD, "exclusive_choice": _BOTH}.get(template, {})
    text = f"in case {one_line(verdict.case_id, 80)}, {sentences[verdict.reason].format(**parts)}"
    return f"{capitalised(text)}."


_DIRECTLY = {
    "chain_precedence": "directly before",
    "alternate_precedence": "between the last such record and",
}
"""Where templates look that ask what came right before."""
_WHY: dict[Why, str] = {
    "before": ", {apart} before what called for it",
    "same_time": ", {tied} what called for it",
    "after": ", {apart} after it was due",
    "unstarted": ", before the case started",
    "follows": ", {apart} after what called for it",
    "channel": " in the {channel}, which the rule does not take as evidence",
    "role": " in another role",
    "place": " at another place",
    "object": " for another object",
    "resource": ", not by the person whom the rule asks for",
    "other_object": " for another object",
    "condition": ", which does not meet the rule's condition",
    "": "",
}


def _nearest(found: Uncounted, lexicon: Lexicon) -> str:
    """What is recorded nearest, and why it does not count."""
    row = found.row
    why = _WHY[found.why].format(
        apart=_length(found.apart.total_seconds()),
        tied=_TIED[row.grain],
        channel=lexicon.form("channel", row.channel) if row.channel else "log",
    )
    return f"; the nearest is recorded {_at(row.due)}{why}, and does not count"


_TIED: dict[Grain, str] = {
    "day": "on the same recorded day as",
    "minute": "in the same recorded minute as",
    "second": "in the same recorded second as",
    "microsecond": "at the same time, as recorded to the microsecond, as",
}


def _tied(verdict: InstanceVerdict, target: Act, records: Records | None) -> str:
    """How the time of a record and of what called for it tie: at the coarser of their grains."""
    grain = records.tied_at(verdict, target) if records else None
    if grain is None and verdict.due is not None and verdict.due.grain == "day":
        grain = "day"
    return _TIED[grain] if grain else "at a recorded time that cannot be told from that of"


def _half(verdict: InstanceVerdict, constraint: Constraint) -> str:
    """The template that an instance is judged by: of a mutual one the half that it opens (P1)."""
    if constraint.template not in HALVES:
        return constraint.template
    of_trigger, of_target = HALVES[constraint.template]
    return of_target if verdict.of_target else of_trigger


def _logs(structure: Structure, verdict: InstanceVerdict, lexicon: Lexicon) -> dict[str, str]:
    """The logs of the evidence, and how far their silence counts."""
    policy = structure.evidence
    channels = policy.channels
    if verdict.of_target and structure.trigger.channel is not None:
        channels = (structure.trigger.channel,)
    names = [f"the {lexicon.form('channel', name)}" for name in channels]
    both = policy.operator == "all" and verdict.reason in ("proven", "tie", "seen_forbidden", "too_many")
    if len(names) == 1:
        complete = "that log is complete for that time"
    else:
        complete = (
            f"{'these' if policy.operator == 'any' else 'enough of these'} logs are complete for that time"
        )
    return {"logs": series(names, "and" if both else "or"), "complete": complete}


def _whose(verdict: InstanceVerdict, structure: Structure, target: Act) -> str:
    """Whose act it is, where the constraint asks for the same person or object."""
    correlation = structure.norm.correlation(structure.norm.constraints[verdict.constraint])
    if correlation == "same_case":
        return ""
    if correlation == "same_object":
        return " for the same object"
    if correlation == "different_resource":
        return " by another person" if target.role is None else " (another person)"
    if structure.norm.bearer != "trigger" or verdict.bearer is None:
        return " by the same person" if target.role is None else " (the same person)"
    bearer = one_line(verdict.bearer, 80)
    return f" by {bearer}" if target.role is None else f" ({bearer})"


def _named(act: Act | None, lexicon: Lexicon) -> str:
    if act is None:
        return "the act named"
    words = occurrence(act, lexicon)
    return f"{article(words)} {words}"


def _moment(due: Due) -> str:
    """An instant at its own grain, on the wall clock of the record that set it."""
    day = f"{due.local.day} {due.local:%B %Y}"
    if due.grain == "day":
        return day
    if due.grain == "minute":
        return f"{due.local:%H:%M} on {day}"
    fine = due.grain == "microsecond" and due.local.microsecond > 0
    fraction = f"{due.local:.%f}".rstrip("0") if fine else ""
    return f"{due.local:%H:%M:%S}{fraction} on {day}"


def _at(moment: Due) -> str:
    """A moment with its preposition."""
    return f"{'on' if moment.grain == 'day' else 'at'} {_moment(moment)}"


def _length(seconds: float) -> str:
    days, rest = divmod(round(seconds), 86400)
    return duration(Duration(days=days, seconds=rest)) if days or rest else "less than a second"


def _margin(verdict: InstanceVerdict) -> str:
    """How early or late, from the slack; the slack counts whole days where a date is compared."""
    if verdict.slack_seconds is None:
        return "only after it was due" if verdict.reason == "late" else ""
    length = _length(abs(verdict.slack_seconds))
    if verdict.slack_seconds < 0:
        return f"{length} after it was due"
    return f", with {length} to spare" if round(verdict.slack_seconds) else ", at the last moment"
