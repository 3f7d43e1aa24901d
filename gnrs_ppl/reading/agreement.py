"""Whether a rule's evidence and procedure are what a sentence says of them; where it is silent, anything agrees."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from decimal import Decimal

from gnrs_ppl.reading.types import EvidenceRead, ProcedureRead, Reading, StepRead
from gnrs_ppl.rule.canonical import conditions_in
from gnrs_ppl.rule.types import Condition, EvidencePolicy, Office, Procedure, Step, Structure


def evidence_said(policy: EvidencePolicy, read: EvidenceRead, opening: Collection[str] = ()) -> bool:
    """Whether a policy lists the logs that were read, and asks as many of them as the sentence does.

    Parameters
    ----------
    policy : EvidencePolicy
    read : EvidenceRead
    opening : collection of str
        Logs that show what opens the rule. A policy must list one of them; beside a log that was read it does not
        speak in its place, so all must agree.
    """
    named = {n.name for n in read.channels}
    more = set(policy.channels) - named if named else set()
    if read.unkept or not named <= set(policy.channels) or not more <= set(opening):
        return False
    many = len(policy.channels)
    if more:
        return policy.needed(many) == many
    if read.k is not None and policy.needed(many) != read.k:
        return False
    if read.k is None and read.operator is not None and many > 1:
        wanted = many if read.operator == "all" else 1
        if policy.needed(many) != wanted:
            return False
    weak = {n.name for n in read.insufficient}
    return not weak or (
        set(policy.channels) != weak and (not weak & set(policy.channels) or policy.needed(many) > len(weak))
    )


def data_said(rule: Structure, read: Reading) -> bool:
    """Whether a rule states every condition on data that was read, of the case where it is said of the case."""
    stated = {
        place: _tests(c for at, c in conditions_in(rule) if (at == "scope.where") == (place == "case"))
        for place in ("case", "act")
    }
    return all(_tests([d.condition]) <= stated["case" if d.of == "case" else "act"] for d in read.data)


def _tests(conditions: Iterable[Condition]) -> set[tuple[str, str, tuple[Decimal | str, ...]]]:
    return {(c.attribute, c.test, (c.other.attribute,) if c.other else c.value) for c in conditions}


def procedure_said(procedure: Procedure, read: ProcedureRead, bound: Collection[str]) -> bool:
    """Whether a procedure takes the steps that were read, in their order, by those who were named.

    Parameters
    ----------
    procedure : Procedure
    read : ProcedureRead
    bound : collection of str
        The roles the rule binds, who have no part in a step that asks for somebody else.
    """
    due = read.time.duration if read.time and not read.time.working_days else None
    if due is not None and procedure.response_time != due:
        return False
    if any(step.stage in read.without for step in procedure.steps):
        return False
    left = iter(procedure.steps)
    return all(any(_step_said(step, one, bound) for step in left) for one in read.steps)


def _step_said(step: Step, read: StepRead, bound: Collection[str]) -> bool:
    return (
        step.stage == read.stage
        and read.nobody is None
        and (read.role is None or step.role == read.role.name)
        and (read.independent is None or step.role not in bound)
        and (read.inspects is None or step.inspects == read.inspects.name)
        and (read.activity is None or read.stage != "remedy" or step.activity == read.activity.name)
    )


def bound_by(rule: Structure) -> tuple[str, ...]:
    """The roles that a rule binds."""
    bearer = rule.norm.bearer
    return (bearer.role,) if isinstance(bearer, Office) else rule.scope.roles


def left_unbound(rule: Structure, read: Iterable[Reading]) -> tuple[str, ...]:
    """Roles that a sentence binds and a rule does not name: no row shows what they do."""
    named = _named_by(rule)
    return tuple(dict.fromkeys(n.name for r in read for n in r.bearers if n.name not in named))


def left_unheeded(rule: Structure, read: Iterable[Reading]) -> tuple[tuple[str, str], ...]:
    """Acts that open or excuse, each with the role that a sentence names as who does it and that a rule does not name."""
    named, told = _named_by(rule), list[tuple[str, str]]()
    for reading in read:
        acts = (reading.activation, reading.after, reading.exception)
        told += [(a.activity, a.role.name) for a in acts if a is not None and a.role is not None]
        named |= {n.name for n in reading.bearers}
    return tuple(dict.fromkeys((activity, role) for activity, role in told if role not in named))


def _named_by(rule: Structure) -> set[str | None]:
    """The roles that a rule names anywhere in its scope and its norm."""
    targets = (c.target for c in rule.norm.constraints)
    asked = (act.role for target in targets for act in (target, *target.alternatives))
    return {*bound_by(rule), *rule.scope.roles, *asked}
