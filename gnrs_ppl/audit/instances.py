"""Who is asked, as SQL: what the records say by themselves, and the rows that open an instance (SEMANTICS
lines 4, 6 to 9 and 16; P1).
"""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from gnrs_ppl.audit.checkable import ConstraintPlan
from gnrs_ppl.audit.compilation import PARTS, Compilation
from gnrs_ppl.audit.evidence import matches
from gnrs_ppl.audit.sql import struct
from gnrs_ppl.context.types import Interval
from gnrs_ppl.context.zone import span

_MICROSECOND = timedelta(microseconds=1)


def add_records(check: Compilation) -> None:
    """Add ``observation``, ``coverage`` and, where they are asked for, ``cases``."""
    st, records = check.st, check.records
    end, passed = (side('"timestamp"', '"grain"') for side in (st.end_of, st.passed))
    declared = records.end_of_observation
    by_default = tuple(n for n in check.rel if (c := records.channel(n)) and c.coverage is None)
    counts = '"timestamp" IS NOT NULL'
    for sign, name in ((">=", "since"), ("<", "until")):  # far-off rows tell nothing of what is observed (G9)
        bound = getattr(check.plan.reach, name)
        if bound is not None and (declared is None or by_default):
            counts += f' AND "timestamp" {sign} CAST({st.bind(f"observed_{name}", bound)} AS TIMESTAMP)'
    st.add(
        "observation",
        "Line 4: the end of observation, as declared"
        if declared
        else "Line 4: the end of observation, the last end-of-grain of any row",
        f"SELECT CAST({st.bind('end_of_observation', span(declared, records.clock)[1])} AS TIMESTAMP) AS ends"
        if declared
        else f"SELECT max({passed}) AS ends FROM events WHERE {counts}",
    )
    given = [
        (name, begins, ends)
        for name in check.rel
        if (channel := records.channel(name)) and channel.coverage is not None
        for begins, ends in _merged(channel.coverage, records.clock)
    ]
    parts = []
    if by_default:
        parts.append(
            f"""SELECT channel, min("timestamp") AS begins, max({passed}) AS ends FROM events
                WHERE {counts} AND channel IN ({st.bind_all("coverage_default", by_default)}) GROUP BY channel"""
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
    if _asks_for_cases(check):
        order = struct({"end": end, "event_id": "event_id"})
        row = {"ts": '"timestamp"', "off": 'coalesce("offset", 0)', "grain": '"grain"'}
        rows = {"first": ""}
        if records.case_start:
            starts = st.bind_all("case_start", records.case_start)
            rows["opening"] = f" FILTER (WHERE activity IN ({starts}))"
        both = ", ".join(
            f"arg_min({value}, {order}){where} AS {which}_{part}"
            for which, where in rows.items()
            for part, value in row.items()
        )
        st.add(
            "cases",
            "Lines 9 and 16: the first and the last dated row of each case, and its start activity",
            f"""SELECT case_id, max({passed}) AS last_end, {both}
                FROM {st.events} WHERE "timestamp" IS NOT NULL GROUP BY case_id""",
            keep=True,
        )


def _asks_for_cases(check: Compilation) -> bool:
    return check.plan.structure.trigger.act is None or any(
        c.since in ("case_start", "first") or c.until == "closure" or c.unless for c in check.plan.constraints
    )


def add_instances(check: Compilation) -> None:
    """Add ``instances``: the rows, or cases, that open one, or may open one."""
    st, structure = check.st, check.plan.structure
    trigger, office = structure.trigger, check.plan.constraints[0].bearer
    if trigger.act is None or trigger.channel is None:
        cases = f"SELECT DISTINCT case_id, {check.case} AS instance FROM {st.events}"
        definite = "f.first_ts IS NOT NULL"
        if structure.scope.where:
            cases = (
                f"SELECT * FROM (SELECT DISTINCT case_id, {check.case} AS instance, {_in_scope(check)} AS matched "
                f"FROM {st.events}) AS e "
                "WHERE matched IS NOT FALSE"
            )
            definite += " AND coalesce(c.matched, FALSE)"
        _each_value(
            check,
            "instances",
            "Line 7: one instance per case, at its first dated row",
            f"""SELECT row_number() OVER () AS inst, c.case_id, c.instance,
                       {st.bind("bearer", office) if office else "CAST(NULL AS VARCHAR)"} AS bearer,
                       {definite} AS definite, CAST(NULL AS VARCHAR) AS event_id, f.first_ts AS ts, f.first_off AS off,
                       f.first_grain AS grain
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
        f'"{field}" IN ({st.bind_all(f"scope_{field}", names)})' for field, names in scope.items() if names
    ]
    terms += [_in_scope(check)] if structure.scope.where else []
    terms.append('("timestamp" IS NOT NULL OR NULL)')
    first = ""
    if trigger.once == "first":
        whom = "case_id, definite" if office else "case_id, bearer, definite"
        first = f"""QUALIFY NOT definite OR row_number() OVER (PARTITION BY {whom} ORDER BY {st.end_of("ts", "grain")}, event_id) = 1"""
    _opened(
        check,
        "instances",
        "Lines 6 to 8: rows that open an instance, or may open one (not definite)"
        + (", the first of each bearer" if first else ""),
        terms,
        office,
        first,
    )


def _in_scope(check: Compilation) -> str:
    """Whether a row's case meets the scope's conditions, three-valued (D6)."""
    conditions = enumerate(check.plan.structure.scope.where, 1)
    return " AND ".join(f"({check.st.condition(f'scope_where_{i}', c)})" for i, c in conditions)


def add_openers(check: Compilation, c: ConstraintPlan) -> str:
    """The instances of a constraint; those of a second half are the target's rows (P1)."""
    if c.opener is None:
        return "instances"
    st, name = check.st, f"c{c.index}_openers"
    terms = [matches(st, name, c.opener.act), f"channel = {st.bind(f'{name}_channel', c.opener.rel[0])}"]
    terms += ['("timestamp" IS NOT NULL OR NULL)', "event_id NOT IN (SELECT event_id FROM instances)"]
    _opened(
        check,
        name,
        "P1: rows of the target, each opens an instance of the second half, or may open one",
        terms,
        c.bearer,
    )
    return name


def _opened(
    check: Compilation, name: str, about: str, terms: list[str], office: str | None, first: str = ""
) -> None:
    """Add a table of the rows that open instances, or may open one."""
    st = check.st
    _each_value(
        check,
        name,
        about,
        f"""SELECT row_number() OVER () AS inst, t.*
            FROM (
                SELECT case_id, {check.event} AS instance, {st.bind("bearer", office) if office else '"resource"'} AS bearer,
                       coalesce(matched, FALSE) AS definite, event_id, "timestamp" AS ts, coalesce("offset", 0) AS off, "grain",
                       "resource", "object"
                FROM (SELECT *, {" AND ".join(terms)} AS matched FROM {st.events}) AS e
                WHERE matched IS NOT FALSE {first}
            ) AS t""",
    )


def _each_value(check: Compilation, name: str, about: str, select: str) -> None:
    """Add a table of instances; with a grid each of them once for every value."""
    if check.grid is None:
        check.st.add(name, about, select, keep=True)
        return
    if "grid" not in check.st:
        values = [("point", list(range(len(check.grid.values))))]
        values += [(f"grid_{part}", [getattr(v, part) for v in check.grid.values]) for part in PARTS]
        columns = (f"unnest(CAST({check.st.bind(c, v)} AS INTEGER[])) AS {c}" for c, v in values)
        check.st.add("grid", "The values to try", f"SELECT {', '.join(columns)}", keep=True)
    check.st.add(f"{name}_once", about, select, keep=True)
    check.st.add(
        name,
        "Each of them once for every value",
        f"""SELECT row_number() OVER () AS inst, t.* EXCLUDE (inst), g.*
            FROM {name}_once AS t CROSS JOIN grid AS g""",
        keep=True,
    )


def _merged(intervals: tuple[Interval, ...], clock: tzinfo) -> list[tuple[datetime, datetime]]:
    """Declared coverage with overlapping or adjacent intervals merged (line 4)."""
    merged: list[tuple[datetime, datetime]] = []
    for begins, ends in sorted((span(i.start, clock)[0], span(i.end, clock)[1]) for i in intervals):
        if merged and begins <= merged[-1][1] + _MICROSECOND:
            merged[-1] = (merged[-1][0], max(merged[-1][1], ends))
        else:
            merged.append((begins, ends))
    return merged
