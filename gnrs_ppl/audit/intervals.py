"""When an act is asked for, as SQL: the activation of an instance, and the interval that begins or ends with
it (SEMANTICS lines 9, 10, 14 and 16; N and D entries).
"""

from __future__ import annotations

from typing import Literal

from gnrs_ppl.audit.checkable import ConstraintPlan, RolePlan
from gnrs_ppl.audit.compilation import PARTS, Compilation
from gnrs_ppl.audit.evidence import (
    ActSearch,
    SortedRows,
    Threads,
    act_rows,
    closing_rows,
    count,
    earliest,
    latest,
    other_rows,
)
from gnrs_ppl.context.time import Duration
from gnrs_ppl.rule.types import ALTERNATE, BESIDE, NEIGHBOURS, Act


def add_activation(check: Compilation, p: str, c: ConstraintPlan, instances: str) -> None:
    """Add ``_active``: the instances that are activated, with the activation at_* and, for a window, t0
    as start_*.
    """
    st = check.st
    key = f'"{c.key}" AS key,' if c.key else ""
    if c.key == "resource" and not c.differ and st.automatic:
        nobody = st.bind_all("automatic", st.automatic)
        key = f'CASE WHEN "resource" NOT IN ({nobody}) THEN "resource" END AS key,'  # D7
    active = f"{p}_{'activated' if c.threaded else 'active'}"
    windowed = c.until == "window"
    if c.after is None:
        start = ", ts AS start_ts, off AS start_off, grain AS start_grain" if windowed else ""
        st.add(
            active,
            "Line 7: the activation is the trigger's row",
            f"""SELECT inst, case_id, {key} event_id AS at_id, ts AS at_ts, off AS at_off, grain AS at_grain{start}{check.carried}
                FROM {instances} WHERE definite""",
        )
        return
    window = check.plan.structure.trigger.window
    ends, join = ("CAST(NULL AS TIMESTAMP)", "0", "CAST(NULL AS VARCHAR)"), ""
    if window is not None:
        ends, join = _bound(check, f"{p}_episode_end", "window", window, instances, "", "+")
    upper = ", ".join(
        f"{value} AS upper_{part}" for value, part in zip(ends, ("ts", "off", "grain"), strict=True)
    )
    st.add(
        f"{p}_episode",
        "Line 9: the episode in which the second activation is looked for",
        f"""SELECT inst, case_id, {key} event_id, ts AS lower_ts, off AS lower_off, grain AS lower_grain, {upper}{check.carried}
            FROM {instances}{join} WHERE definite""",
    )
    rows = act_rows(st, f"{p}_after", c.after.act, c.after.rel, c.key)
    trigger = check.plan.structure.trigger.act
    own_row = trigger is not None and any(
        activity in c.after.act.activities for activity in trigger.activities
    )
    count(st, ActSearch(f"{p}_after", rows, c.after.rel, f"{p}_episode", skips_own_row=own_row))
    unknown = ("e.key IS NULL OR " if c.key else "") + "f.most_possible > 0"
    st.add(
        f"{p}_activation",
        "Line 10: the activation is the earliest definite row of the second act; without one, why it is "
        "missing",
        f"""SELECT e.inst, e.case_id, {"e.key," if c.key else ""} r.event_id AS at_id, r.ts AS at_ts, r.off AS at_off,
                   r.grain AS at_grain, e.lower_ts AS start_ts, e.lower_off AS start_off, e.lower_grain AS start_grain,
                   {check.carried.replace(", ", "e.", 1).replace(", ", ", e.") + "," if check.carried else ""}
                   CASE WHEN r.nr IS NOT NULL THEN NULL WHEN {unknown} THEN 'after_unknown' ELSE 'no_after' END AS missing
            FROM {p}_episode AS e LEFT JOIN {p}_after_counted AS f ON f.inst = e.inst
            LEFT JOIN {p}_after_ranked AS r ON r.nr = f.first""",
    )
    st.add(
        active,
        "Line 10: instances with a second activation",
        f"SELECT * FROM {p}_activation WHERE missing IS NULL",
    )


def add_threads(check: Compilation, p: str, c: ConstraintPlan) -> Threads | None:
    """Add ``_active`` with a thread for each activation, and ``_threads``: those of one case whose key and
    values are alike share one, so that rows are compared once with each (D5).
    """
    if not c.threaded:
        return None
    st = check.st
    columns = [st.attribute(name) for name in c.compared]
    values = "".join(f", v.{column} AS its_{column}" for column in columns)
    alike = ["a.case_id", *(["a.key"] if c.key else []), *(f"v.{column}" for column in columns)]
    st.add(
        f"{p}_active",
        "D5: the activation's values, and a number for those of one case that are alike",
        f"""SELECT a.*{values}, dense_rank() OVER (ORDER BY {", ".join(alike)}) AS thread
            FROM {p}_activated AS a JOIN {st.events} AS v ON v.event_id = a.at_id""",
    )
    key = "key AS its_key, " if c.key else ""
    its = "".join(f", its_{column}" for column in columns)
    st.add(
        f"{p}_threads",
        "D5: what the rows of a case are compared with",
        f"SELECT DISTINCT {key}thread, case_id{its} FROM {p}_active",
        keep=True,
    )
    return Threads(f"{p}_threads", c.differ)


def _moved(check: Compilation, name: str, duration: Duration, bound: str, sign: str) -> str:
    """A bound moved by a duration on its local wall clock, at its own offset and grain (G4)."""
    st, local = check.st, f"{bound}ts + to_minutes({bound}off)"
    if check.grid is not None and name in check.grid.names:
        table = bound.rpartition(".")[0]
        for part in PARTS:
            column = f"{table}.grid_{part}" if table else f"grid_{part}"
            local = f"({local} {sign} to_{part}({column}))"
    else:
        local = st.moved(name, duration, local, sign)
    return f"{st.truncated(local, f'{bound}grain')} - to_minutes({bound}off)"


def _bound(
    check: Compilation,
    table: str,
    name: str,
    duration: Duration,
    source: str,
    at: str,
    sign: Literal["+", "-"],
) -> tuple[tuple[str, str, str], str]:
    """An instant of a source moved by a duration, and the join it needs where a calendar or a zone counts it.

    Instances whose bound cannot be counted fall out by the join, and are uncounted (W6).
    """
    prefix = at.rpartition(".")[2]
    if duration.working:
        check.working.bound(check.st, table, source, prefix, duration, sign)
    elif check.zone is not None:
        gridded = check.grid is not None and name in check.grid.names
        check.zone.bound(check.st, table, source, "inst", prefix, None if gridded else duration, sign)
    else:
        return (_moved(check, name, duration, at, sign), f"{at}off", f"{at}grain"), ""
    ts, off, grain = (f"{table}.bound_{part}" for part in ("ts", "off", "grain"))
    return (ts, off, grain), f" JOIN {table} USING (inst)"


def add_interval(check: Compilation, p: str, c: ConstraintPlan) -> None:
    """Add ``_interval``: the activated instances with both bounds, and whether the interval is over
    (lines 9 and 14).
    """
    st = check.st
    joins = ""
    if c.since in ("case_start", "first") or c.until == "closure":
        joins += " LEFT JOIN cases AS f ON f.case_id = a.case_id"
    match c.since:
        case "activation":
            lower = ("a.at_ts", "a.at_off", "a.at_grain")
        case "deadline":
            assert c.deadline is not None
            lower, join = _bound(
                check, f"{p}_since", f"{p}_deadline", c.deadline, f"{p}_active", "a.at_", "-"
            )
            joins += join
        case "case_start":
            joins += add_horizon(check, f"{p}_target", c.target)
            lower = case_start(check, "a.at_")
        case "first":
            joins += add_horizon(check, f"{p}_target", c.target)
            lower = _first(check)
    match c.until:
        case "activation":
            upper = ("a.at_ts", "a.at_off", "a.at_grain")
        case "deadline":
            assert c.deadline is not None
            upper, join = _bound(
                check, f"{p}_until", f"{p}_deadline", c.deadline, f"{p}_active", "a.at_", "+"
            )
            joins += join
        case "window":
            window = check.plan.structure.trigger.window
            assert window is not None
            upper, join = _bound(check, f"{p}_until", "window", window, f"{p}_active", "a.start_", "+")
            joins += join
        case "closure":
            joins += _closure(check, p)
            upper = _closed(check)
        case "open":
            upper = ("CAST(NULL AS TIMESTAMP)", "0", "CAST(NULL AS VARCHAR)")
    nearer = _nearer_side(c) if c.template in NEIGHBOURS else None
    columns = ", ".join(
        f"{value} AS {'far_' if side == nearer else ''}{side}_{part}"
        for side, values in (("lower", lower), ("upper", upper))
        for value, part in zip(values, ("ts", "off", "grain"), strict=True)
    )
    over = "TRUE" if c.look_back else f"coalesce({st.passed('b.upper_ts', 'b.upper_grain')} <= o.ends, FALSE)"
    at_end = f", {st.end_of('b.at_ts', 'b.at_grain')} AS at_end" if c.both_ways else ""
    empty = (
        f", coalesce({st.earlier('b.upper_', 'b.lower_')}, FALSE) AS empty" if c.since == "case_start" else ""
    )
    bounded = f"SELECT a.*, {columns} FROM {p}_active AS a {joins}"
    if c.template in NEIGHBOURS:
        bounded = _beside(check, p, c, bounded)
    st.add(
        f"{p}_interval",
        "Line 14: the interval of each instance, its end is due; over when the end of observation has "
        "passed it (line 15)",
        f"""SELECT b.*, {over} AS over{at_end}{empty}
            FROM ({bounded}) AS b CROSS JOIN observation AS o""",
        keep=True,
    )


def _nearer_side(c: ConstraintPlan) -> Literal["lower", "upper"]:
    """The bound that another event may bring nearer (N2 to N5)."""
    return "lower" if c.look_back or c.template == "end" else "upper"


def _beside(check: Compilation, p: str, c: ConstraintPlan, bounded: str) -> str:
    """Add ``_beside``, the other event that comes next, and give the intervals that end, or begin, with
    it (N2 to N5).
    """
    st = check.st
    st.add(
        f"{p}_bounded",
        "Line 14: the interval of each instance, whatever else happens",
        bounded,
        keep=True,
    )
    side = _nearer_side(c)
    forward = side == "upper"
    if c.template in ALTERNATE:
        act, channel = _activating(check, c)
        rows = act_rows(st, f"{p}_other", act, (channel,), c.key, back=not forward)
    else:
        rows = other_rows(
            st, f"{p}_other", c.target.act, c.beside, c.key, _unlike(check, p, c), back=not forward
        )
    name, about = f"{p}_beside", "N1: the other event that comes " + ("first" if forward else "last")
    if c.template == "init":
        earliest(st, name, rows, f"{p}_bounded", "lower", about, tie_in=True)
    elif forward:
        earliest(st, name, rows, f"{p}_bounded", "at", about, tie_in=False)
    else:
        latest(st, name, rows, f"{p}_bounded", "upper", about)
    far = f"a.far_{side}_"
    nearer = st.earlier("n.", far) if forward else st.earlier(far, "n.")
    taken = f"n.inst IS NOT NULL AND ({far}ts IS NULL OR {nearer})"
    bound = ", ".join(
        f"CASE WHEN {taken} THEN n.{part} ELSE {far}{part} END AS {side}_{part}"
        for part in ("ts", "off", "grain")
    )
    return f"""SELECT a.*, {bound}, CASE WHEN {taken} THEN n.event_id END AS beside_id
               FROM {p}_bounded AS a LEFT JOIN {name} AS n ON n.inst = a.inst"""


def _unlike(check: Compilation, p: str, c: ConstraintPlan) -> list[str]:
    """What else a row must be to come between: no closing row (N5), no second record of the activation
    (N1).
    """
    st = check.st
    if c.template == "end" and check.records.case_end:
        return [f"activity NOT IN ({st.bind_all(f'{p}_closing', check.records.case_end)})"]
    if c.template not in BESIDE:
        return []
    act, channel = _activating(check, c)
    here = f"channel = {st.bind(f'{p}_here', channel)}"
    return [f"(activity NOT IN ({st.bind_all(f'{p}_again', act.activities)}) OR {here} OR NULL)"]


def _activating(check: Compilation, c: ConstraintPlan) -> tuple[Act, str]:
    """The act from which a constraint starts, and its channel."""
    opener, trigger = c.after or c.opener, check.plan.structure.trigger
    act, channel = (opener.act, opener.rel[0]) if opener else (trigger.act, trigger.channel)
    assert act is not None
    assert channel is not None
    return act, channel


def add_between(check: Compilation, p: str, c: ConstraintPlan) -> None:
    """Add ``_other_counted``: the other events that lie, or may lie, between the act and what it must be
    beside (N1).
    """
    st = check.st
    sides = {"init": ("lower", "proof"), "end": ("proof", "upper")}
    lower, upper = sides.get(c.template, ("proof", "at") if c.look_back else ("at", "proof"))
    bounds = ", ".join(
        f"e.{bound}_{part} AS {side}_{part}"
        for side, bound in (("lower", lower), ("upper", upper))
        for part in ("ts", "off", "grain")
    )
    st.add(
        f"{p}_between",
        "N1: from the act to what it must be beside",
        f"""SELECT e.inst, e.case_id, {"e.key," if c.key else ""} e.at_id AS event_id, {bounds}
            FROM {p}_target_evidence AS e WHERE e.proven""",
    )
    rows = SortedRows(f"{p}_other", c.key is not None)
    channels = _activating(check, c)[1:] if c.template in ALTERNATE else c.beside
    count(
        st,
        ActSearch(f"{p}_other", rows, channels, f"{p}_between", skips_own_row=c.template in BESIDE),
    )


def add_horizon(check: Compilation, p: str, role: RolePlan) -> str:
    """Add ``_horizon`` and give the join with it."""
    st = check.st
    name = st.add(
        f"{p}_horizon",
        "Line 16: from here on every channel that can record the act is complete",
        f"""SELECT CASE WHEN count(*) = {st.bind(f"{p}_channels", role.n)} THEN max(begins) END AS begins
            FROM (SELECT channel, min(begins) AS begins FROM coverage
                  WHERE channel IN ({st.bind_all(f"{p}_rel", role.rel)}) GROUP BY channel) AS r""",
    )
    return f" CROSS JOIN {name} AS h"


def case_start(check: Compilation, before: str) -> tuple[str, str, str]:
    """The start of the case where it is known, and not later than ``before`` (I4).

    It is the start activity, else the first row where that lies after the start of coverage.
    """
    known = "WHEN f.first_ts > h.begins THEN f.first_{part}"
    if check.records.case_start:
        known = f"WHEN f.opening_ts IS NOT NULL THEN f.opening_{{part}} {known}"
    ts, off, grain = (f"CASE {known.format(part=part)} END" for part in ("ts", "off", "grain"))
    not_later = f"{check.st.end_of(ts, grain)} <= {check.st.end_of(f'{before}ts', f'{before}grain')}"
    ts, off, grain = (
        f"CASE WHEN {before}ts IS NULL OR {not_later} THEN {part} END" for part in (ts, off, grain)
    )
    return ts, off, grain


def _first(check: Compilation) -> tuple[str, str, str]:
    """The first row of the case where it is known to be the first: a start activity, or after the start
    of coverage (N4).
    """
    known = "f.first_ts > h.begins"
    if check.records.case_start:
        known += (
            f" OR {check.st.end_of('f.opening_ts', 'f.opening_grain')} = "
            f"{check.st.end_of('f.first_ts', 'f.first_grain')}"
        )
    return f"CASE WHEN {known} THEN f.first_ts END", "f.first_off", "f.first_grain"


def _closure(check: Compilation, p: str) -> str:
    quiet, join = check.records.quiet_after, ""
    if quiet is not None and check.zone is not None:
        join = " LEFT JOIN quiet AS q ON q.case_id = a.case_id"
        if "quiet" not in check.st:
            last = "(SELECT case_id, last_end AS ts, 0 AS off, 'microsecond' AS grain FROM cases) AS c"
            check.zone.bound(check.st, "quiet", last, "case_id", "", quiet, "+")
    if not check.records.case_end:
        return join
    if check.closing is None:
        check.closing = closing_rows(check.st, "closing", check.records.case_end)
    earliest(
        check.st,
        f"{p}_closing",
        check.closing,
        f"{p}_active",
        "at",
        "Line 9: the row that closes the case",
        tie_in=True,
    )
    return f"{join} LEFT JOIN {p}_closing AS z ON z.inst = a.inst"


def _closed(check: Compilation) -> tuple[str, str, str]:
    """The closing row, else the instant at which the case has been quiet for long enough (I1)."""
    row = ("z.ts", "z.off", "z.grain")
    quiet = check.records.quiet_after
    if quiet is None:
        return row
    if check.zone is not None:
        silence = ("q.bound_ts", "q.bound_off", "'microsecond'")
    else:
        local = check.st.moved("quiet_after", quiet, "f.last_end + to_minutes(a.at_off)", "+")
        silence = (f"{local} - to_minutes(a.at_off)", "a.at_off", "'microsecond'")
    if not check.records.case_end:
        return silence
    ts, off, grain = (
        f"CASE WHEN z.inst IS NOT NULL THEN {r} ELSE {q} END" for r, q in zip(row, silence, strict=True)
    )
    return ts, off, grain
