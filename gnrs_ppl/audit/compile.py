"""A checkable rule becomes one SELECT over ``events`` (SEMANTICS lines 6 to 23): instances, intervals,
evidence, outcomes, each a module of its own.
"""

from __future__ import annotations

from gnrs_ppl.audit.checkable import CheckPlan, ConstraintPlan
from gnrs_ppl.audit.compilation import Compilation, Grid
from gnrs_ppl.audit.evidence import ActSearch, Nearest, Threads, act_rows, earliest, evidence
from gnrs_ppl.audit.instances import add_instances, add_openers, add_records
from gnrs_ppl.audit.intervals import add_activation, add_between, add_interval, add_threads
from gnrs_ppl.audit.outcomes import add_breach, add_exception, add_judged, add_verdict
from gnrs_ppl.audit.sql import Query
from gnrs_ppl.audit.twice import add_readings, add_settled
from gnrs_ppl.rule.types import NEIGHBOURS, POSITIVE

__all__ = ["Grid", "Query", "compile_grid", "compile_procedure", "compile_rule"]

_COLUMNS = (
    'case_id, instance, "constraint", verdict, reason, witnesses, bearer, due, due_offset, '
    "due_grain, slack_seconds"
)


def compile_rule(plan: CheckPlan) -> Query:
    """Compile the norm of a rule.

    Parameters
    ----------
    plan : CheckPlan
        What ``check`` found.

    Returns
    -------
    Query
        One SELECT with a row per instance and constraint: verdict, reason, witnesses, bearer, due and slack
        (line 22); without rows where the force is may (line 12).
    """
    check = Compilation(plan)
    _norm(check, with_breach=False)
    columns = f"{_COLUMNS}, of_target" if check.mutual else _COLUMNS
    return check.st.query(
        f"SELECT {columns} FROM verdicts {'WHERE FALSE' if plan.structure.norm.force == 'may' else ''} "
        'ORDER BY case_id, instance, "constraint"'
    )


def compile_grid(plan: CheckPlan, grid: Grid | None, tail: str) -> Query:
    """Compile the norm of a rule for many values of one of its durations at once.

    Every instance is opened once for each value, so the rows of each act are sorted only once.

    Parameters
    ----------
    plan : CheckPlan
        What ``check`` found with any of the values.
    grid : Grid, optional
        The values; the rule states one of them, and could be checked with each. What the rule states alone
        where there is none.
    tail : str
        A SELECT over ``verdicts``: the columns of :func:`compile_rule` and, of a grid, point, the place of
        the value.
    """
    check = Compilation(plan, grid)
    _norm(check, with_breach=False)
    return check.st.query(tail)


def compile_procedure(plan: CheckPlan) -> Query | None:
    """Compile the procedure: what had to follow each violation of the norm (line 23).

    Parameters
    ----------
    plan : CheckPlan
        What ``check`` found.

    Returns
    -------
    Query or None
        One SELECT over the norm's, with a row per violated instance and step; None where the procedure is
        prospective.
    """
    if not plan.steps:
        return None
    check = Compilation(plan)
    _norm(check, with_breach=True)
    _procedure(check)
    return check.st.query(f'SELECT {_COLUMNS} FROM step_verdicts ORDER BY case_id, instance, "constraint"')


def _norm(check: Compilation, *, with_breach: bool) -> None:
    """Add ``verdicts``: the norm's row per instance and constraint; with a breach those of each reading (G8)."""
    if check.plan.twice:
        add_readings(check.st, check.plan.twice, check.rows)
    add_records(check)
    add_instances(check)
    names = [
        _constraint(
            check,
            f"c{c.index}{'_back' if c.opener else ''}",
            c,
            add_openers(check, c),
            with_breach=with_breach,
        )
        for c in check.plan.constraints
    ]
    read = "verdicts" if with_breach or not check.plan.twice else "verdicts_as_read"
    check.st.add(read, "Line 22: a row per instance and constraint", _union(names))
    if read != "verdicts":
        kept = ("of_target",) if check.mutual else ()
        add_settled(check.st, "verdicts", read, ("point",) if check.grid else (), kept=kept, everywhere=False)


def _procedure(check: Compilation) -> None:
    """Add ``step_verdicts``: each violation opens an instance of every step."""
    check.st.add(
        "violations",
        "Line 23: each violated instance and constraint opens an instance of the procedure, at the "
        "instant of the breach",
        """SELECT row_number() OVER () AS inst, case_id, instance || '#' || "constraint" AS instance, TRUE AS definite,
                  CAST(NULL AS VARCHAR) AS event_id, breach_ts AS ts, breach_off AS off, breach_grain AS grain
           FROM verdicts WHERE verdict = 'violated'""",
        keep=True,
    )
    names = [_constraint(check, f"s{c.index}", c, "violations", with_breach=False) for c in check.plan.steps]
    read = "step_verdicts_as_read" if check.plan.twice else "step_verdicts"
    check.st.add(read, "Line 23: a row per violation and step", _union(names))
    if check.plan.twice:
        add_settled(check.st, "step_verdicts", read, everywhere=True)


def _constraint(check: Compilation, p: str, c: ConstraintPlan, instances: str, *, with_breach: bool) -> str:
    """Add the parts of a constraint and give the name of the last one, its verdicts."""
    st = check.st
    add_activation(check, p, c, instances)
    threads = add_threads(check, p, c)
    add_interval(check, p, c)
    wants_breach = with_breach or c.unless is not None
    beside = c.template in NEIGHBOURS
    slack = c.template in POSITIVE and not c.look_back and not beside
    late = slack or c.template == "precedence"
    timed = [c.count] if slack or beside or (wants_breach and not c.look_back) else []
    timed += [c.count + 1] if c.template == "exactly" and wants_breach else []
    nearest: Nearest = "last" if c.look_back or c.template == "end" else "closest" if c.both_ways else "first"
    common = c.target.grain if c.target.k > 1 else None
    rows = act_rows(
        st,
        f"{p}_target",
        c.target.act,
        c.target.rel,
        c.key,
        common=common,
        back=nearest != "first",
        threads=threads,
    )
    target = ActSearch(
        f"{p}_target",
        rows,
        c.target.rel,
        f"{p}_interval",
        lower=c.tie if c.since == "activation" else "in",
        upper=c.tie if c.look_back else "in",
        nearest=nearest,
        from_start=c.since == "case_start",
    )
    if c.choices:
        _chosen(check, p, c, threads)
    else:
        evidence(
            st,
            target,
            c.target,
            number=c.count,
            timed=tuple(timed),
            more=c.template == "exactly",
            marked=c.marks_ties,
            match_within=check.records.match_within,
        )
    if beside:
        add_between(check, p, c)
    add_judged(check, p, c)
    if late:
        native = rows
        if common is not None and check.plan.grains != (common,):
            native = act_rows(st, f"{p}_late_target", c.target.act, c.target.rel, c.key, threads=threads)
        st.add(
            f"{p}_missed",
            "Line 15: instances whose act is refuted",
            f"SELECT * FROM {p}_judged WHERE reason IN ('absent', 'too_few')",
        )
        earliest(
            st,
            f"{p}_late",
            native,
            f"{p}_missed",
            "upper",
            "Line 15: the first row after due",
            tie_in=c.look_back and c.tie == "out",
        )
    if wants_breach:
        add_breach(check, p, c, common is not None)
    if c.unless is not None:
        add_exception(check, p, c, c.unless, threads)
    return add_verdict(check, p, c, instances, slack=slack, late=late, with_breach=with_breach)


def _chosen(check: Compilation, p: str, c: ConstraintPlan, threads: Threads | None) -> None:
    """Add ``_target_evidence`` of an exclusive choice: what its two acts, each looked for by itself, come
    to (C2).
    """
    st, names = check.st, (f"{p}_first", f"{p}_second")
    for name, role in zip(names, c.choices, strict=True):
        rows = act_rows(st, name, role.act, role.rel, c.key, threads=threads)
        evidence(st, ActSearch(name, rows, role.rel, f"{p}_interval"), role, timed=(1,))
    ends = [st.end_of(f"{side}.proof_ts", f"{side}.proof_grain") for side in "ab"]
    later = f"({ends[1]} > {ends[0]} OR {ends[1]} = {ends[0]} AND b.proof_event_id > a.proof_event_id)"
    second = f"b.proven AND (NOT a.proven OR {later})"
    proof = [f"proof_{column}" for column in rows.columns]
    completed = ", ".join(f"CASE WHEN {second} THEN b.{x} ELSE a.{x} END AS {x}" for x in proof)
    doubts = "['unknown_key', 'split', 'unknown_match', 'open_world', 'uncovered']"
    first = f"list_position({doubts}, a.doubt) <= list_position({doubts}, b.doubt)"
    decided = "({0}.proven OR {0}.refuted)"
    st.add(
        f"{p}_target_evidence",
        "C2: one of two acts and not the other, both, or neither; the row that completed it",
        f"""SELECT p.*, {completed}, a.proven AND b.refuted OR b.proven AND a.refuted AS proven, a.refuted AND b.refuted AS refuted,
                   a.proven AND b.proven AS proven_both,
                   CASE WHEN {decided.format("a")} OR NOT {decided.format("b")} AND NOT {first} THEN b.doubt ELSE a.doubt END AS doubt,
                   a.seen, list_concat(a.witnesses, b.witnesses) AS witnesses
            FROM {p}_interval AS p JOIN {names[0]}_evidence AS a ON a.inst = p.inst JOIN {names[1]}_evidence AS b ON b.inst = p.inst""",
    )


def _union(names: list[str]) -> str:
    return " UNION ALL ".join(f"SELECT * FROM {name}" for name in names)
