"""A checkable rule becomes one SELECT over ``events`` (SEMANTICS lines 6 to 23; the parts are in sql.py and
evidence.py).
"""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from typing import Literal, NamedTuple

from gnrs_ppl.audit.calendar import WorkingTime
from gnrs_ppl.audit.checkable import CheckPlan, ConstraintPlan, RolePlan
from gnrs_ppl.audit.evidence import (
    ActSearch,
    Nearest,
    SortedRows,
    Threads,
    act_rows,
    closing_rows,
    count,
    earliest,
    evidence,
    latest,
    matches,
    other_rows,
)
from gnrs_ppl.audit.sql import Query, SqlStatement
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Interval
from gnrs_ppl.context.zone import span
from gnrs_ppl.rule.types import ALTERNATE, BESIDE, NEGATIVE, NEIGHBOURS, POSITIVE, Act

__all__ = ["Grid", "Query", "compile_grid", "compile_procedure", "compile_rule"]

_MICROSECOND = timedelta(microseconds=1)
_PARTS = ("months", "days", "seconds")
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
    compiler = _Compiler(plan)
    compiler.norm(with_breach=False)
    columns = f"{_COLUMNS}, of_target" if compiler.mutual else _COLUMNS
    return compiler.st.query(
        f"SELECT {columns} FROM verdicts {'WHERE FALSE' if plan.structure.norm.force == 'may' else ''} "
        'ORDER BY case_id, instance, "constraint"'
    )


class Grid(NamedTuple):
    """Lengths of time to try in place of one: of the window, or of a constraint's deadline."""

    values: tuple[Duration, ...]
    constraint: int | None = None
    """Place of the constraint in the norm; None for the window."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the duration is bound as where there is only one, in both halves of a mutual constraint."""
        if self.constraint is None:
            return ("window",)
        return f"c{self.constraint}_deadline", f"c{self.constraint}_back_deadline"


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
    compiler = _Compiler(plan, grid)
    compiler.norm(with_breach=False)
    return compiler.st.query(tail)


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
    compiler = _Compiler(plan)
    compiler.norm(with_breach=True)
    compiler.procedure()
    return compiler.st.query(f'SELECT {_COLUMNS} FROM step_verdicts ORDER BY case_id, instance, "constraint"')


class _Compiler:
    def __init__(self, plan: CheckPlan, grid: Grid | None = None) -> None:
        if grid is not None and any(value.working for value in grid.values):
            raise ValueError("a grid holds no working time: a calendar counts each length by itself")
        self.plan, self.records, self.grid = plan, plan.records, grid
        self.carried = "".join(f", grid_{part}" for part in _PARTS) if grid else ""
        used = [*plan.constraints, *plan.steps]
        roles = [role for c in used for role in (c.target, c.unless) if role is not None]
        grains = set(plan.grains) | {role.grain for role in roles if role.k > 1}
        if self.records.quiet_after is not None or not grains:
            grains.add("microsecond")
        self.working = WorkingTime.of(plan.structure, plan.records, plan.extent)
        offsets = tuple(sorted({*plan.offsets, *self.working.shifts}))
        self.st = SqlStatement(grains, offsets, plan.attributes, plan.records.automatic)
        self.rel = tuple(sorted({channel for role in roles for channel in role.rel}))
        self.closing: SortedRows | None = None
        self.mutual = any(c.opener for c in plan.constraints)

    def norm(self, *, with_breach: bool) -> None:
        """Add ``verdicts``: the norm's row per instance and constraint."""
        self._records()
        self._instances()
        names = [
            self._constraint(
                f"c{c.index}{'_back' if c.opener else ''}", c, self._openers(c), with_breach=with_breach
            )
            for c in self.plan.constraints
        ]
        self.st.add("verdicts", "Line 22: a row per instance and constraint", _union(names))

    def procedure(self) -> None:
        """Add ``step_verdicts``: each violation opens an instance of every step."""
        self.st.add(
            "violations",
            "Line 23: each violated instance and constraint opens an instance of the procedure, at the "
            "instant of the breach",
            """SELECT row_number() OVER () AS inst, case_id, instance || '#' || "constraint" AS instance, TRUE AS definite,
                      CAST(NULL AS VARCHAR) AS event_id, breach_ts AS ts, breach_off AS off, breach_grain AS grain
               FROM verdicts WHERE verdict = 'violated'""",
            keep=True,
        )
        names = [self._constraint(f"s{c.index}", c, "violations", with_breach=False) for c in self.plan.steps]
        self.st.add("step_verdicts", "Line 23: a row per violation and step", _union(names))

    # What the records say by themselves

    def _records(self) -> None:
        st, records = self.st, self.records
        end = st.end_of('"timestamp"', '"grain"')
        declared = records.end_of_observation
        st.add(
            "observation",
            "Line 4: the end of observation, as declared"
            if declared
            else "Line 4: the end of observation, the last end-of-grain of any row",
            f"SELECT CAST({st.bind('end_of_observation', span(declared, records.clock)[1])} AS TIMESTAMP) "
            "AS ends"
            if declared
            else f'SELECT max({end}) AS ends FROM events WHERE "timestamp" IS NOT NULL',
        )
        given = [
            (name, begins, ends)
            for name in self.rel
            if (channel := records.channel(name)) and channel.coverage is not None
            for begins, ends in _merged(channel.coverage, records.clock)
        ]
        by_default = tuple(n for n in self.rel if (c := records.channel(n)) and c.coverage is None)
        parts = []
        if by_default:
            parts.append(
                f"""SELECT channel, min("timestamp") AS begins, max({end}) AS ends FROM events
                    WHERE "timestamp" IS NOT NULL AND channel IN ({st.bind_all("coverage_default", by_default)}) GROUP BY channel"""
            )
        if given or not parts:
            columns = zip(
                ("channel", "begins", "ends"), ("VARCHAR", "TIMESTAMP", "TIMESTAMP"), range(3), strict=True
            )
            unnested = (
                f"unnest(CAST({st.bind(f'coverage_{c}', [g[i] for g in given])} AS {kind}[])) AS {c}"
                for c, kind, i in columns
            )
            parts.append(f"SELECT {', '.join(unnested)}")
        st.add(
            "coverage",
            "Line 4: when each channel is complete, clipped to the end of observation",
            f"""SELECT g.channel, g.begins, least(g.ends, o.ends) AS ends
                FROM ({" UNION ALL ".join(parts)}) AS g CROSS JOIN observation AS o WHERE g.begins <= o.ends""",
            keep=True,
        )
        if self._asks_for_cases():
            row = f"""{{'end': {end}, 'event_id': event_id, 'ts': "timestamp", 'off': coalesce("offset", 0), 'grain': "grain"}}"""
            starts = records.case_start
            opening = (
                f", min({row}) FILTER (WHERE activity IN ({st.bind_all('case_start', starts)})) AS opening"
                if starts
                else ""
            )
            st.add(
                "cases",
                "Lines 9 and 16: the first and the last dated row of each case, and its start activity",
                f"""SELECT case_id, min({row}) AS first, max({end}) AS last_end{opening}
                    FROM events WHERE "timestamp" IS NOT NULL GROUP BY case_id""",
                keep=True,
            )

    def _asks_for_cases(self) -> bool:
        return self.plan.structure.trigger.act is None or any(
            c.since in ("case_start", "first") or c.until == "closure" or c.unless
            for c in self.plan.constraints
        )

    def _instances(self) -> None:
        st, structure = self.st, self.plan.structure
        trigger, office = structure.trigger, self.plan.constraints[0].bearer
        if trigger.act is None or trigger.channel is None:
            cases = "SELECT DISTINCT case_id FROM events"
            definite = "f.first IS NOT NULL"
            if structure.scope.where:
                cases = (
                    f"SELECT * FROM (SELECT DISTINCT case_id, {self._in_scope()} AS matched FROM events) AS e "
                    "WHERE matched IS NOT FALSE"
                )
                definite += " AND coalesce(c.matched, FALSE)"
            self._each_value(
                "instances",
                "Line 7: one instance per case, at its first dated row",
                f"""SELECT row_number() OVER () AS inst, c.case_id, c.case_id AS instance,
                           {st.bind("bearer", office) if office else "CAST(NULL AS VARCHAR)"} AS bearer,
                           {definite} AS definite, CAST(NULL AS VARCHAR) AS event_id, f.first.ts AS ts, f.first.off AS off,
                           f.first.grain AS grain
                    FROM ({cases}) AS c LEFT JOIN cases AS f ON f.case_id = c.case_id""",
            )
            return
        terms = [
            matches(st, "trigger", trigger.act),
            f"channel = {st.bind('trigger_channel', trigger.channel)}",
        ]
        scope = {
            "role": () if office else structure.scope.roles,
            "location": structure.scope.locations,
            "object": structure.scope.objects,
        }
        terms += [
            f'"{field}" IN ({st.bind_all(f"scope_{field}", names)})'
            for field, names in scope.items()
            if names
        ]
        terms += [self._in_scope()] if structure.scope.where else []
        terms.append('("timestamp" IS NOT NULL OR NULL)')
        first = ""
        if trigger.once == "first":
            whom = "case_id, definite" if office else "case_id, bearer, definite"
            first = f"""QUALIFY NOT definite OR row_number() OVER (PARTITION BY {whom} ORDER BY {st.end_of("ts", "grain")}, event_id) = 1"""
        self._opened(
            "instances",
            "Lines 6 to 8: rows that open an instance, or may open one (not definite)"
            + (", the first of each bearer" if first else ""),
            terms,
            office,
            first,
        )

    def _in_scope(self) -> str:
        """Whether a row's case meets the scope's conditions, three-valued (D6)."""
        conditions = enumerate(self.plan.structure.scope.where, 1)
        return " AND ".join(f"({self.st.condition(f'scope_where_{i}', c)})" for i, c in conditions)

    def _openers(self, c: ConstraintPlan) -> str:
        """The instances of a constraint; those of a second half are the target's rows (P1)."""
        if c.opener is None:
            return "instances"
        st, name = self.st, f"c{c.index}_openers"
        terms = [matches(st, name, c.opener.act), f"channel = {st.bind(f'{name}_channel', c.opener.rel[0])}"]
        terms += ['("timestamp" IS NOT NULL OR NULL)', "event_id NOT IN (SELECT event_id FROM instances)"]
        self._opened(
            name,
            "P1: rows of the target, each opens an instance of the second half, or may open one",
            terms,
            c.bearer,
        )
        return name

    def _opened(self, name: str, about: str, terms: list[str], office: str | None, first: str = "") -> None:
        """Add a table of the rows that open instances, or may open one."""
        st = self.st
        self._each_value(
            name,
            about,
            f"""SELECT row_number() OVER () AS inst, t.*
                FROM (
                    SELECT case_id, event_id AS instance, {st.bind("bearer", office) if office else '"resource"'} AS bearer,
                           coalesce(matched, FALSE) AS definite, event_id, "timestamp" AS ts, coalesce("offset", 0) AS off, "grain",
                           "resource", "object"
                    FROM (SELECT *, {" AND ".join(terms)} AS matched FROM events) AS e
                    WHERE matched IS NOT FALSE {first}
                ) AS t""",
        )

    def _each_value(self, name: str, about: str, select: str) -> None:
        """Add a table of instances; with a grid each of them once for every value."""
        if self.grid is None:
            self.st.add(name, about, select, keep=True)
            return
        if "grid" not in self.st:
            values = [("point", list(range(len(self.grid.values))))]
            values += [(f"grid_{part}", [getattr(v, part) for v in self.grid.values]) for part in _PARTS]
            columns = (f"unnest(CAST({self.st.bind(c, v)} AS INTEGER[])) AS {c}" for c, v in values)
            self.st.add("grid", "The values to try", f"SELECT {', '.join(columns)}", keep=True)
        self.st.add(f"{name}_once", about, select, keep=True)
        self.st.add(
            name,
            "Each of them once for every value",
            f"""SELECT row_number() OVER () AS inst, t.* EXCLUDE (inst), g.*
                FROM {name}_once AS t CROSS JOIN grid AS g""",
            keep=True,
        )

    # One constraint

    def _constraint(self, p: str, c: ConstraintPlan, instances: str, *, with_breach: bool) -> str:
        """Add the parts of a constraint and give the name of the last one, its verdicts."""
        st = self.st
        self._activation(p, c, instances)
        threads = self._threads(p, c)
        self._interval(p, c)
        wants_breach = with_breach or c.unless is not None
        beside = c.template in NEIGHBOURS
        slack = c.template in POSITIVE and not c.look_back and not beside
        late = slack or c.template == "precedence"
        timed = [c.count] if slack or beside or (wants_breach and not c.look_back) else []
        timed += [c.count + 1] if c.template == "exactly" and wants_breach else []
        nearest: Nearest = (
            "last" if c.look_back or c.template == "end" else "closest" if c.both_ways else "first"
        )
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
            self._chosen(p, c, threads)
        else:
            evidence(
                st,
                target,
                c.target,
                number=c.count,
                timed=tuple(timed),
                more=c.template == "exactly",
                marked=c.marks_ties,
                match_within=self.records.match_within,
            )
        if beside:
            self._between(p, c)
        self._judged(p, c)
        if late:
            native = rows
            if common is not None and self.plan.grains != (common,):
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
            self._breach(p, c, common is not None)
        if c.unless is not None:
            self._exception(p, c, c.unless, threads)
        return self._verdict(p, c, instances, slack=slack, late=late, with_breach=with_breach)

    def _chosen(self, p: str, c: ConstraintPlan, threads: Threads | None) -> None:
        """Add ``_target_evidence`` of an exclusive choice: what its two acts, each looked for by itself, come
        to (C2).
        """
        st, names = self.st, (f"{p}_first", f"{p}_second")
        for name, role in zip(names, c.choices, strict=True):
            rows = act_rows(st, name, role.act, role.rel, c.key, threads=threads)
            evidence(st, ActSearch(name, rows, role.rel, f"{p}_interval"), role, timed=(1,))
        ends = [st.end_of(f"{side}.proof_ts", f"{side}.proof_grain") for side in "ab"]
        later = f"({ends[1]} > {ends[0]} OR {ends[1]} = {ends[0]} AND b.proof_event_id > a.proof_event_id)"
        second = f"b.proven AND (NOT a.proven OR {later})"
        proof = [f"proof_{column}" for column in rows.columns]
        replaced = ", ".join(f"CASE WHEN {second} THEN b.{x} ELSE a.{x} END AS {x}" for x in proof)
        doubts = "['unknown_key', 'split', 'unknown_match', 'open_world', 'uncovered']"
        first = f"list_position({doubts}, a.doubt) <= list_position({doubts}, b.doubt)"
        decided = "({0}.proven OR {0}.refuted)"
        st.add(
            f"{p}_target_evidence",
            "C2: one of two acts and not the other, both, or neither; the row that completed it",
            f"""SELECT a.* REPLACE (
                       {replaced}, a.proven AND b.refuted OR b.proven AND a.refuted AS proven, a.refuted AND b.refuted AS refuted,
                       CASE WHEN {decided.format("a")} OR NOT {decided.format("b")} AND NOT {first} THEN b.doubt ELSE a.doubt END AS doubt,
                       list_concat(a.witnesses, b.witnesses) AS witnesses
                   ), a.proven AND b.proven AS proven_both
                FROM {names[0]}_evidence AS a JOIN {names[1]}_evidence AS b ON b.inst = a.inst""",
        )

    def _activation(self, p: str, c: ConstraintPlan, instances: str) -> None:
        """Add ``_active``: the instances that are activated, with the activation at_* and, for a window, t0
        as start_*.
        """
        st = self.st
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
                f"""SELECT inst, case_id, {key} event_id AS at_id, ts AS at_ts, off AS at_off, grain AS at_grain{start}{self.carried}
                    FROM {instances} WHERE definite""",
            )
            return
        window = self.plan.structure.trigger.window
        ends, join = ("CAST(NULL AS TIMESTAMP)", "0", "CAST(NULL AS VARCHAR)"), ""
        if window is not None:
            ends, join = self._bound(f"{p}_episode_end", "window", window, instances, "", "+")
        upper = ", ".join(
            f"{value} AS upper_{part}" for value, part in zip(ends, ("ts", "off", "grain"), strict=True)
        )
        st.add(
            f"{p}_episode",
            "Line 9: the episode in which the second activation is looked for",
            f"""SELECT inst, case_id, {key} event_id, ts AS lower_ts, off AS lower_off, grain AS lower_grain, {upper}{self.carried}
                FROM {instances}{join} WHERE definite""",
        )
        rows = act_rows(st, f"{p}_after", c.after.act, c.after.rel, c.key)
        trigger = self.plan.structure.trigger.act
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
                       {self.carried.replace(", ", "e.", 1).replace(", ", ", e.") + "," if self.carried else ""}
                       CASE WHEN r.nr IS NOT NULL THEN NULL WHEN {unknown} THEN 'after_unknown' ELSE 'no_after' END AS missing
                FROM {p}_episode AS e LEFT JOIN {p}_after_counted AS f ON f.inst = e.inst
                LEFT JOIN {p}_after_ranked AS r ON r.nr = f.first""",
        )
        st.add(
            active,
            "Line 10: instances with a second activation",
            f"SELECT * FROM {p}_activation WHERE missing IS NULL",
        )

    def _threads(self, p: str, c: ConstraintPlan) -> Threads | None:
        """Add ``_active`` with a thread for each activation, and ``_threads``: those of one case whose key and
        values are alike share one, so that rows are compared once with each (D5).
        """
        if not c.threaded:
            return None
        st = self.st
        columns = [st.attribute(name) for name in c.compared]
        values = "".join(f", v.{column} AS its_{column}" for column in columns)
        alike = ["a.case_id", *(["a.key"] if c.key else []), *(f"v.{column}" for column in columns)]
        st.add(
            f"{p}_active",
            "D5: the activation's values, and a number for those of one case that are alike",
            f"""SELECT a.*{values}, dense_rank() OVER (ORDER BY {", ".join(alike)}) AS thread
                FROM {p}_activated AS a JOIN events AS v ON v.event_id = a.at_id""",
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

    def _moved(self, name: str, duration: Duration, bound: str, sign: str) -> str:
        """A bound moved by a duration on its local wall clock, at its own offset and grain (G4)."""
        st, local = self.st, f"{bound}ts + to_minutes({bound}off)"
        if self.grid is not None and name in self.grid.names:
            table = bound.rpartition(".")[0]
            for part in _PARTS:
                column = f"{table}.grid_{part}" if table else f"grid_{part}"
                local = f"({local} {sign} to_{part}({column}))"
        else:
            local = st.moved(name, duration, local, sign)
        return f"{st.truncated(local, f'{bound}grain')} - to_minutes({bound}off)"

    def _bound(
        self, table: str, name: str, duration: Duration, source: str, at: str, sign: Literal["+", "-"]
    ) -> tuple[tuple[str, str, str], str]:
        """An instant of a source moved by a duration, and the join it needs where a calendar counts it.

        Instances whose bound cannot be counted fall out by the join, and are uncounted (W6).
        """
        if not duration.working:
            return (self._moved(name, duration, at, sign), f"{at}off", f"{at}grain"), ""
        self.working.bound(self.st, table, source, at.rpartition(".")[2], duration, sign)
        ts, off, grain = (f"{table}.bound_{part}" for part in ("ts", "off", "grain"))
        return (ts, off, grain), f" JOIN {table} USING (inst)"

    def _interval(self, p: str, c: ConstraintPlan) -> None:
        """Add ``_interval``: the activated instances with both bounds, and whether the interval is over
        (lines 9 and 14).
        """
        st = self.st
        joins = ""
        if c.since in ("case_start", "first") or c.until == "closure":
            joins += " LEFT JOIN cases AS f ON f.case_id = a.case_id"
        match c.since:
            case "activation":
                lower = ("a.at_ts", "a.at_off", "a.at_grain")
            case "deadline":
                assert c.deadline is not None
                lower, join = self._bound(
                    f"{p}_since", f"{p}_deadline", c.deadline, f"{p}_active", "a.at_", "-"
                )
                joins += join
            case "case_start":
                joins += self._horizon(f"{p}_target", c.target)
                lower = self._case_start("a.at_")
            case "first":
                joins += self._horizon(f"{p}_target", c.target)
                lower = self._first()
        match c.until:
            case "activation":
                upper = ("a.at_ts", "a.at_off", "a.at_grain")
            case "deadline":
                assert c.deadline is not None
                upper, join = self._bound(
                    f"{p}_until", f"{p}_deadline", c.deadline, f"{p}_active", "a.at_", "+"
                )
                joins += join
            case "window":
                window = self.plan.structure.trigger.window
                assert window is not None
                upper, join = self._bound(f"{p}_until", "window", window, f"{p}_active", "a.start_", "+")
                joins += join
            case "closure":
                joins += self._closure(p)
                upper = self._closed()
            case "open":
                upper = ("CAST(NULL AS TIMESTAMP)", "0", "CAST(NULL AS VARCHAR)")
        columns = ", ".join(
            f"{value} AS {side}_{part}"
            for side, values in (("lower", lower), ("upper", upper))
            for value, part in zip(values, ("ts", "off", "grain"), strict=True)
        )
        over = (
            "TRUE"
            if c.look_back
            else f"coalesce({st.end_of('b.upper_ts', 'b.upper_grain')} <= o.ends, FALSE)"
        )
        at_end = f", {st.end_of('b.at_ts', 'b.at_grain')} AS at_end" if c.both_ways else ""
        empty = (
            f", coalesce({st.earlier('b.upper_', 'b.lower_')}, FALSE) AS empty"
            if c.since == "case_start"
            else ""
        )
        bounded = f"SELECT a.*, {columns} FROM {p}_active AS a {joins}"
        if c.template in NEIGHBOURS:
            bounded = self._beside(p, c, bounded)
        st.add(
            f"{p}_interval",
            "Line 14: the interval of each instance, its end is due; over when the end of observation has "
            "passed it (line 15)",
            f"""SELECT b.*, {over} AS over{at_end}{empty}
                FROM ({bounded}) AS b CROSS JOIN observation AS o""",
            keep=True,
        )

    def _beside(self, p: str, c: ConstraintPlan, bounded: str) -> str:
        """Add ``_beside``, the other event that comes next, and give the intervals that end, or begin, with
        it (N2 to N5).
        """
        st = self.st
        st.add(
            f"{p}_bounded",
            "Line 14: the interval of each instance, whatever else happens",
            bounded,
            keep=True,
        )
        forward = not (c.look_back or c.template == "end")
        if c.template in ALTERNATE:
            act, channel = self._activating(c)
            rows = act_rows(st, f"{p}_other", act, (channel,), c.key, back=not forward)
        else:
            rows = other_rows(
                st, f"{p}_other", c.target.act, c.beside, c.key, self._unlike(p, c), back=not forward
            )
        name, about = f"{p}_beside", "N1: the other event that comes " + ("first" if forward else "last")
        if c.template == "init":
            earliest(st, name, rows, f"{p}_bounded", "lower", about, tie_in=True)
        elif forward:
            earliest(st, name, rows, f"{p}_bounded", "at", about, tie_in=False)
        else:
            latest(st, name, rows, f"{p}_bounded", "upper", about)
        side, nearer = (
            ("upper", st.earlier("n.", "a.upper_")) if forward else ("lower", st.earlier("a.lower_", "n."))
        )
        taken = f"n.inst IS NOT NULL AND (a.{side}_ts IS NULL OR {nearer})"
        bound = ", ".join(
            f"CASE WHEN {taken} THEN n.{part} ELSE a.{side}_{part} END AS {side}_{part}"
            for part in ("ts", "off", "grain")
        )
        return f"""SELECT a.* EXCLUDE ({side}_ts, {side}_off, {side}_grain), {bound}, CASE WHEN {taken} THEN n.event_id END AS beside_id
                   FROM {p}_bounded AS a LEFT JOIN {name} AS n ON n.inst = a.inst"""

    def _unlike(self, p: str, c: ConstraintPlan) -> list[str]:
        """What else a row must be to come between: no closing row (N5), no second record of the activation
        (N1).
        """
        st = self.st
        if c.template == "end" and self.records.case_end:
            return [f"activity NOT IN ({st.bind_all(f'{p}_closing', self.records.case_end)})"]
        if c.template not in BESIDE:
            return []
        act, channel = self._activating(c)
        here = f"channel = {st.bind(f'{p}_here', channel)}"
        return [f"(activity NOT IN ({st.bind_all(f'{p}_again', act.activities)}) OR {here} OR NULL)"]

    def _activating(self, c: ConstraintPlan) -> tuple[Act, str]:
        """The act from which a constraint starts, and its channel."""
        opener, trigger = c.after or c.opener, self.plan.structure.trigger
        act, channel = (opener.act, opener.rel[0]) if opener else (trigger.act, trigger.channel)
        assert act is not None
        assert channel is not None
        return act, channel

    def _between(self, p: str, c: ConstraintPlan) -> None:
        """Add ``_other_counted``: the other events that lie, or may lie, between the act and what it must be
        beside (N1).
        """
        st = self.st
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
        channels = self._activating(c)[1:] if c.template in ALTERNATE else c.beside
        count(
            st,
            ActSearch(f"{p}_other", rows, channels, f"{p}_between", skips_own_row=c.template in BESIDE),
        )

    def _horizon(self, p: str, role: RolePlan) -> str:
        st = self.st
        name = st.add(
            f"{p}_horizon",
            "Line 16: from here on every channel that can record the act is complete",
            f"""SELECT CASE WHEN count(*) = {st.bind(f"{p}_channels", role.n)} THEN max(begins) END AS begins
                FROM (SELECT channel, min(begins) AS begins FROM coverage
                      WHERE channel IN ({st.bind_all(f"{p}_rel", role.rel)}) GROUP BY channel) AS r""",
        )
        return f" CROSS JOIN {name} AS h"

    def _case_start(self, before: str) -> tuple[str, str, str]:
        """The start of the case where it is known, and not later than ``before`` (I4).

        It is the start activity, else the first row where that lies after the start of coverage.
        """
        start = "CASE WHEN f.first.ts > h.begins THEN f.first END"
        if self.records.case_start:
            start = f"coalesce(f.opening, {start})"
        end = self.st.end_of(f"({start}).ts", f"({start}).grain")
        not_later = f"{end} <= {self.st.end_of(f'{before}ts', f'{before}grain')}"
        start = f"CASE WHEN {before}ts IS NULL OR {not_later} THEN {start} END"
        return f"({start}).ts", f"({start}).off", f"({start}).grain"

    def _first(self) -> tuple[str, str, str]:
        """The first row of the case where it is known to be the first: a start activity, or after the start
        of coverage (N4).
        """
        known = "f.first.ts > h.begins"
        if self.records.case_start:
            known += (
                f" OR {self.st.end_of('f.opening.ts', 'f.opening.grain')} = "
                f"{self.st.end_of('f.first.ts', 'f.first.grain')}"
            )
        return f"CASE WHEN {known} THEN f.first.ts END", "f.first.off", "f.first.grain"

    def _closure(self, p: str) -> str:
        if not self.records.case_end:
            return ""
        if self.closing is None:
            self.closing = closing_rows(self.st, "closing", self.records.case_end)
        earliest(
            self.st,
            f"{p}_closing",
            self.closing,
            f"{p}_active",
            "at",
            "Line 9: the row that closes the case",
            tie_in=True,
        )
        return f" LEFT JOIN {p}_closing AS z ON z.inst = a.inst"

    def _closed(self) -> tuple[str, str, str]:
        """The closing row, else the instant at which the case has been quiet for long enough (I1)."""
        row = ("z.ts", "z.off", "z.grain")
        quiet = self.records.quiet_after
        if quiet is None:
            return row
        local = self.st.moved("quiet_after", quiet, "f.last_end + to_minutes(a.at_off)", "+")
        silence = (f"{local} - to_minutes(a.at_off)", "a.at_off", "'microsecond'")
        if not self.records.case_end:
            return silence
        ts, off, grain = (
            f"CASE WHEN z.inst IS NOT NULL THEN {r} ELSE {q} END" for r, q in zip(row, silence, strict=True)
        )
        return ts, off, grain

    def _judged(self, p: str, c: ConstraintPlan) -> None:
        """Add ``_judged``: the verdict before any exception (V1 to V3)."""
        absent = "not_preceded" if c.look_back and c.template in NEIGHBOURS else "absent"
        proven = "CASE WHEN e.proof_tie THEN 'tie' ELSE 'proven' END" if c.marks_ties else "'proven'"
        if c.template == "exactly":
            cases = [
                ("e.proven_more", "violated", "'too_many'"),
                ("NOT e.over", "pending", "'open'"),
                ("e.refuted", "violated", "'too_few'"),
                ("e.proven AND e.refuted_more", "satisfied", "'proven'"),
            ]
            doubt = "CASE WHEN e.proven THEN e.doubt_more ELSE e.doubt END"
        elif c.choices:
            cases = [
                ("e.proven_both", "violated", "'too_many'"),
                ("NOT e.over", "pending", "'open'"),
                ("e.refuted", "violated", "'absent'"),
                ("e.proven", "satisfied", "'proven'"),
            ]
            doubt = "e.doubt"
        elif c.template in POSITIVE:
            cases = [
                ("e.proven", "satisfied", proven),
                ("NOT e.over", "pending", "'open'"),
                ("e.refuted", "violated", f"'{absent}'"),
            ]
            doubt = "e.doubt"
        else:
            cases = [
                ("e.proven", "violated", "'seen_forbidden'"),
                ("NOT e.over", "pending", "CASE WHEN e.seen THEN 'seen' ELSE 'unseen' END"),
                ("e.refuted", "satisfied", "'refuted'"),
            ]
            doubt = "e.doubt"
        if c.look_back:
            cases = [case for case in cases if case[1] != "pending"]
        joins = ""
        if c.template in NEIGHBOURS:
            joins = f" LEFT JOIN {p}_other_counted AS b ON b.inst = e.inst"
            between = "coalesce(b.most_possible, 0) > 0"
            cases = [("e.proven AND " + between, "indeterminate", "'unknown_order'"), *cases]
            if c.template == "end":
                cases = [("NOT e.over", "pending", "'open'"), *cases]
            if c.template == "init":
                unkeyed = (
                    "CASE WHEN e.key IS NULL THEN 'unknown_key' ELSE 'uncovered' END"
                    if c.key
                    else "'uncovered'"
                )
                cases = [("e.lower_ts IS NULL", "indeterminate", unkeyed), *cases]
        verdict = " ".join(f"WHEN {condition} THEN '{verdict}'" for condition, verdict, _ in cases)
        reason = " ".join(f"WHEN {condition} THEN {reason}" for condition, _, reason in cases)
        self.st.add(
            f"{p}_judged",
            f"Line {'15' if c.template in POSITIVE else '17'}: the verdict of {c.template} before any "
            "exception",
            f"""SELECT e.*, CASE {verdict} ELSE 'indeterminate' END AS verdict, CASE {reason} ELSE {doubt} END AS reason
                FROM {p}_target_evidence AS e{joins}""",
        )

    def _breach(self, p: str, c: ConstraintPlan, coarsened: bool) -> None:
        """Add ``_breach``: the violated instances and the instant upper_* of their violation (V4); those still
        pending with their due, as an exception on record decides them (X2).
        """
        st = self.st
        due = {part: f"j.upper_{part}" for part in ("ts", "off", "grain")}
        proof = "j.proof_more_" if c.template == "exactly" else "j.proof_"
        ts, grain = (f"{proof}row_ts", f"{proof}row_grain") if coarsened else (f"{proof}ts", f"{proof}grain")
        proof_end, at_end = st.end_of(ts, grain), st.end_of("j.at_ts", "j.at_grain")
        later = (
            f"({proof_end} > {at_end} OR {proof_end} = {at_end} AND coalesce({proof}event_id > j.at_id, "
            "TRUE))"
        )
        seen = {
            part: f"CASE WHEN {later} THEN {value} ELSE j.at_{part} END"
            for part, value in (("ts", ts), ("off", f"{proof}off"), ("grain", grain))
        }
        if c.template == "exactly" or c.choices:
            values = {
                part: f"CASE WHEN j.reason = 'too_many' THEN {seen[part]} ELSE {due[part]} END"
                for part in due
            }
        elif c.template in NEGATIVE and not c.look_back:
            values = seen
        else:
            values = due
        which, pending = "j.verdict = 'violated'", ""
        if c.unless is not None:
            which = "j.verdict IN ('violated', 'pending')"
            values = {
                part: f"CASE WHEN j.verdict = 'pending' THEN {due[part]} ELSE {value} END"
                for part, value in values.items()
            }
            pending = " or the bound of what is pending"
        columns = [f"{value} AS upper_{part}" for part, value in values.items()]
        columns += [f"j.at_{part} AS lower_{part}" for part in due] if c.in_the_meantime else []
        st.add(
            f"{p}_breach",
            f"Line 18: the instant of each violation{pending}",
            f"""SELECT j.inst, j.case_id, {"j.key," if c.key else ""} {"j.thread," if c.threaded else ""} {", ".join(columns)}
                FROM {p}_judged AS j WHERE {which}""",
        )

    def _exception(self, p: str, c: ConstraintPlan, unless: RolePlan, threads: Threads | None) -> None:
        """Add ``_unless_evidence``: whether the exception was there before the violation (line 18)."""
        st = self.st
        common = unless.grain if unless.k > 1 else None
        rows = act_rows(st, f"{p}_unless", unless.act, unless.rel, c.key, common=common, threads=threads)
        if c.in_the_meantime:
            since, begun = "the activation", f"{p}_breach"
        else:
            ts, off, grain = self._case_start("a.upper_")
            horizon = self._horizon(f"{p}_unless", unless)
            since = "the start of the case"
            begun = f"""(SELECT a.*, {ts} AS lower_ts, {off} AS lower_off, {grain} AS lower_grain
                      FROM {p}_breach AS a LEFT JOIN cases AS f ON f.case_id = a.case_id {horizon})"""
        st.add(
            f"{p}_unless_interval",
            f"Line 18: from {since} to the violation",
            f"""SELECT b.*, coalesce({st.earlier("b.upper_", "b.lower_")}, FALSE) AS empty FROM {begun} AS b""",
            keep=True,
        )
        evidence(
            st,
            ActSearch(
                f"{p}_unless", rows, unless.rel, f"{p}_unless_interval", upper="unknown", from_start=True
            ),
            unless,
            match_within=self.records.match_within,
        )

    def _verdict(
        self, p: str, c: ConstraintPlan, instances: str, *, slack: bool, late: bool, with_breach: bool
    ) -> str:
        """Add ``_verdict``: the row of each instance as it is reported."""
        st = self.st
        joins = f"LEFT JOIN {p}_judged AS j ON j.inst = i.inst"
        verdict, reason = ["WHEN NOT i.definite THEN 'indeterminate'"], ["WHEN NOT i.definite THEN 'scope'"]
        witnesses = ["coalesce(j.witnesses, [])"]
        violated = "j.verdict = 'violated'"
        if c.after is not None:
            joins += f" LEFT JOIN {p}_activation AS a ON a.inst = i.inst"
            verdict.append(
                "WHEN a.missing IS NOT NULL THEN CASE a.missing WHEN 'no_after' THEN 'not_activated' ELSE "
                "'indeterminate' END"
            )
            reason.append("WHEN a.missing IS NOT NULL THEN a.missing")
        if self.working.durations:
            verdict.append("WHEN j.inst IS NULL THEN 'indeterminate'")
            reason.append("WHEN j.inst IS NULL THEN 'uncounted'")
        if c.unless is not None:
            joins += f" LEFT JOIN {p}_unless_evidence AS x ON x.inst = i.inst"
            unknown = f"WHEN {violated} AND NOT x.refuted THEN"
            verdict += ["WHEN x.proven THEN 'excused'", f"{unknown} 'indeterminate'"]
            reason += ["WHEN x.proven THEN 'exception'", f"{unknown} 'exception_unknown'"]
            witnesses.append("CASE WHEN x.proven THEN x.witnesses ELSE [] END")
            violated += " AND x.refuted AND NOT x.proven"
        if c.template in NEIGHBOURS and c.template in POSITIVE:
            witnesses.append(
                f"CASE WHEN {violated} AND j.beside_id IS NOT NULL THEN [j.beside_id] ELSE [] END"
            )
        seconds = "CAST(NULL AS DOUBLE)"
        if late:
            joins += f" LEFT JOIN {p}_late AS l ON l.inst = i.inst"
            if c.template != "exactly":
                reason.append("WHEN j.reason = 'absent' AND l.inst IS NOT NULL THEN 'late'")
            witnesses.append(f"CASE WHEN {violated} AND l.inst IS NOT NULL THEN [l.event_id] ELSE [] END")
        if slack:
            seconds = f"""CASE WHEN j.verdict = 'satisfied' THEN {st.seconds_between("j.upper_", "j.proof_")}
                               WHEN {violated} THEN {st.seconds_between("j.upper_", "l.")} END"""
        breach = ""
        if with_breach:
            joins += f" LEFT JOIN {p}_breach AS w ON w.inst = i.inst"
            breach = ", w.upper_ts AS breach_ts, w.upper_off AS breach_off, w.upper_grain AS breach_grain"
        if self.mutual and instances != "violations":
            breach += f", {'TRUE' if c.opener else 'FALSE'} AS of_target"
        breach += ", i.point" if self.grid is not None else ""
        bearer = "i.bearer" if instances != "violations" else st.bind(f"{p}_bearer", c.bearer or "")
        return st.add(
            f"{p}_verdict",
            f"Lines 18 to 20: {'step' if instances == 'violations' else 'constraint'} {c.index}, "
            f"{c.template}: "
            "the verdict with exceptions, and the row that is reported",
            f"""SELECT i.case_id, i.instance, {c.index} AS "constraint", CASE {" ".join(verdict)} ELSE j.verdict END AS verdict,
                       CASE {" ".join(reason)} ELSE j.reason END AS reason,
                       list_sort(list_distinct({_concatenated(witnesses)})) AS witnesses, {bearer} AS bearer,
                       j.upper_ts + to_minutes(j.upper_off) AS due, j.upper_off AS due_offset, j.upper_grain AS due_grain,
                       {seconds} AS slack_seconds{breach}
                FROM {instances} AS i {joins}""",
        )


def _union(names: list[str]) -> str:
    return " UNION ALL ".join(f"SELECT * FROM {name}" for name in names)


def _concatenated(lists: list[str]) -> str:
    joined = lists[0]
    for other in lists[1:]:
        joined = f"list_concat({joined}, {other})"
    return joined


def _merged(intervals: tuple[Interval, ...], clock: tzinfo) -> list[tuple[datetime, datetime]]:
    """Declared coverage with overlapping or adjacent intervals merged (line 4)."""
    merged: list[tuple[datetime, datetime]] = []
    for begins, ends in sorted((span(i.start, clock)[0], span(i.end, clock)[1]) for i in intervals):
        if merged and begins <= merged[-1][1] + _MICROSECOND:
            merged[-1] = (merged[-1][0], max(merged[-1][1], ends))
        else:
            merged.append((begins, ends))
    return merged
