"""A rule as a DECLARE model (.decl), as RuM, MINERful and Declare4Py read it; what the form cannot hold is
refused by name.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gnrs_ppl.context.time import Duration
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.types import COUNTING, Constraint, Norm, Structure

_OPENED_BY_AN_ACT: Final[dict[str, tuple[str, bool]]] = {
    "response": ("Response", False),
    "precedence": ("Precedence", True),
    "responded_existence": ("Responded Existence", False),
    "chain_response": ("Chain Response", False),
    "chain_precedence": ("Chain Precedence", True),
    "coexistence": ("Co-Existence", False),
    "succession": ("Succession", False),
    "chain_succession": ("Chain Succession", False),
    "alternate_response": ("Alternate Response", False),
    "alternate_precedence": ("Alternate Precedence", True),
    "alternate_succession": ("Alternate Succession", False),
    "not_response": ("Not Response", False),
    "not_precedence": ("Not Precedence", True),
    "not_chain_response": ("Not Chain Response", False),
    "not_chain_precedence": ("Not Chain Precedence", True),
    "not_coexistence": ("Not Responded Existence", False),
}
"""Templates after an act, by DECLARE's name, and whether that names the target first."""
_OF_THE_CASE: Final = {
    "existence": "Existence",
    "exactly": "Exactly",
    "absence": "Absence",
    "init": "Init",
    "end": "End",
}
"""Templates of a whole case."""
_NAME: Final = re.compile(r"[^\[\]|,:\r\n\t]+")
_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


class Declared(NamedTuple):
    """A DECLARE model, and what it leaves to its reader."""

    text: str
    notes: tuple[str, ...]


def declare(structure: Structure) -> Declared:
    """A rule as a DECLARE model.

    Parameters
    ----------
    structure : Structure
        The rule.

    Returns
    -------
    Declared

    Raises
    ------
    InputError
        The rule says something that DECLARE has no words for; the line names it.
    """
    norm = structure.norm
    _refuse_what_it_lacks(structure)
    opener = structure.trigger.act
    lines, names = [], [] if opener is None else [opener.activity]
    for constraint in norm.constraints:
        target = constraint.target.activity
        names.append(target)
        if opener is None:
            count = str(constraint.count) if constraint.template in COUNTING else ""
            lines.append(f"{_OF_THE_CASE[constraint.template]}{count}[{target}] | | ")
        else:
            template, target_first = _OPENED_BY_AN_ACT[constraint.template]
            acts = (target, opener.activity) if target_first else (opener.activity, target)
            lines.append(f"{template}[{', '.join(acts)}] | | | {_time(constraint.deadline)}".rstrip() + " ")
    for name in names:
        if not _NAME.fullmatch(name):
            _refuse(f"a name with brackets, bars, commas or colons ({name!r})")
    declared = [f"activity {name}" for name in dict.fromkeys(names)]
    return Declared("\n".join(line.rstrip() for line in (*declared, *lines)) + "\n", _notes(structure))


def _refuse(what: str) -> None:
    raise InputError(f"DECLARE has no words for {what}", "export it as view or dbt", source="rule")


def _refuse_what_it_lacks(structure: Structure) -> None:
    scope, trigger, norm = structure.scope, structure.trigger, structure.norm
    acts = [act for act in (trigger.act, *(c.target for c in norm.constraints)) if act is not None]
    named = {
        f"force {norm.force}": norm.force != "must",
        "an office that must act": norm.bearer != "trigger",
        "a scope": bool(scope.locations or scope.objects or scope.where or scope.roles),
        "a window": trigger.window is not None,
        "the first act alone (once: first)": trigger.once == "first",
        "evidence that several logs must show": structure.evidence.operator != "any"
        and len(structure.evidence.channels) > 1,
        "alternatives": any(act.alternatives for act in acts),
        "conditions": any(act.where for act in acts),
        "a role, place or object of an act": any(act.role or act.location or act.object for act in acts),
    }
    for constraint in norm.constraints:
        named |= _lacking(constraint, norm, opened=trigger.act is not None)
    for what, there in named.items():
        if there:
            _refuse(what)


def _lacking(constraint: Constraint, norm: Norm, *, opened: bool) -> dict[str, bool]:
    known = _OPENED_BY_AN_ACT if opened else _OF_THE_CASE
    correlation = norm.correlation(constraint)
    deadline = constraint.deadline
    timed = _OPENED_BY_AN_ACT if opened else {}
    return {
        f"{constraint.template} {'after an act' if opened else 'of a whole case'}": constraint.template
        not in known,
        f"correlation {correlation}": correlation != "same_case",
        "a second activation (after)": constraint.after is not None,
        "an exception (unless)": constraint.unless is not None,
        "ties": constraint.ties is not None,
        "an act that may come earlier (earlier_counts)": constraint.earlier_counts,
        "a deadline in months": deadline is not None and deadline.months > 0,
        "working time": deadline is not None and deadline.working,
        f"a deadline of {constraint.template}": deadline is not None and constraint.template not in timed,
    }


def _time(deadline: Duration | None) -> str:
    if deadline is None:
        return ""
    seconds = deadline.days * 86400 + deadline.seconds
    length, unit = next((length, unit) for length, unit in _UNITS if seconds % length == 0)
    return f"0,{seconds // length},{unit}"


def _notes(structure: Structure) -> tuple[str, ...]:
    logs = ", ".join(structure.evidence.channels)
    notes = [
        f"DECLARE knows one log; the rule's evidence is {logs}",
        "DECLARE says satisfied or violated of complete cases; what is pending or undecided here may come "
        "out as violated there",
    ]
    if structure.procedure.steps:
        notes.append("what is done about a breach (procedure) is left out")
    if any(c.deadline for c in structure.norm.constraints):
        notes.append(
            "a day is 24 hours there, here a calendar day where clocks change or only dates are recorded"
        )
    return tuple(notes)
