"""Acts that several channels must show together, as SQL (SEMANTICS line 5; k > 1, E4).

A row *completes* an act when it and the latest rows of k - 1 other channels before it lie close together. The
earliest of these rows is how far the act *reaches* back: it must lie in the interval too. The latest rows
only move forward, so in one series only the first row of every reach can be the earliest completion, and one
as-of join on the reach finds it.

Where bounds are dates and rows are not, reach is counted in local days. Where offsets differ besides, a row
may be earlier than another and still carry the later date; then completions on the last local day of an
interval are looked for apart, with the rows up to that day alone.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from gnrs_ppl.audit.checkable import RolePlan
from gnrs_ppl.audit.sql import SqlStatement
from gnrs_ppl.context.time import GRAIN_LENGTH, Duration, Grain

Axis = Literal["instant", "day"]

_ALWAYS = "CAST('infinity' AS TIMESTAMP)"


def corroborate(
    st: SqlStatement, name: str, rows: str, keyed: bool, role: RolePlan, match_within: Duration | None
) -> None:
    """Add ``<name>_proof`` (inst, nr): the last row of the act that k channels complete first in the interval
    of a probe.

    Parameters
    ----------
    name : str
        Prefix of the search; its ``_edges`` hold the intervals on the clock of each series.
    rows : str
        Prefix of the rows, all at the common grain.
    keyed : bool
        Whether a key must agree.
    role : RolePlan
        Channels, k and the common grain.
    match_within : Duration or None
        How far apart the rows of one act may lie.
    """
    parts = _Corroboration(st, name, rows, keyed, role, match_within)
    parts.latest()
    parts.completions()
    parts.proof()


class _Corroboration:
    def __init__(
        self,
        st: SqlStatement,
        name: str,
        rows: str,
        keyed: bool,
        role: RolePlan,
        match_within: Duration | None,
    ) -> None:
        self.st, self.name, self.rows, self.role = st, name, rows, role
        self.thread = "b.case_id, b.key" if keyed else "b.case_id"
        self.dated = role.grain == "day"
        self.axes: list[Axis] = ["day"] if self.dated else ["instant", "day"] if st.dates else ["instant"]
        self.apart = len(self.axes) == 2 and len(st.offsets) > 1
        self.within = (
            f"to_microseconds({st.bind(f'{name}_match_within', _microseconds(match_within, role.grain))})"
        )
        self.channels = {i: st.bind(f"{name}_rel_{i}", c) for i, c in enumerate(role.rel, 1)}
        offsets = st.offsets if self.apart else ()
        self.offsets = {
            f"_{j}": st.bind(f"{name}_offset_{j}", offset) for j, offset in enumerate(offsets, 1)
        } or {"": "off"}
        self.marks = (["axis"] if len(self.axes) == 2 else []) + (["only_day"] if self.apart else [])

    def latest(self) -> None:
        """Add ``_latest``: with every definite row, the latest row so far of each channel, and of each
        offset where they differ.
        """
        rows = self.rows
        so_far = (
            f"OVER (PARTITION BY {self.thread} ORDER BY b.nr ROWS BETWEEN UNBOUNDED PRECEDING AND "
            "CURRENT ROW)"
        )
        by_day = (
            f"OVER (PARTITION BY {self.thread} ORDER BY b.day RANGE BETWEEN UNBOUNDED PRECEDING AND "
            "CURRENT ROW)"
        )
        columns = []
        for i, channel in self.channels.items():
            for j, offset in self.offsets.items():
                where = (
                    f"FILTER (WHERE b.channel = {channel}{f' AND b.off = {offset}' if self.apart else ''})"
                )
                columns.append(f"max({'b.day' if self.dated else 'b.ts'}) {where} {so_far} AS seen_{i}{j}")
                if self.apart:
                    columns.append(f"max(b.ts) {where} {by_day} AS by_day_{i}{j}")
        day = "date_trunc('day', r.ts + to_minutes(s.off)) AS day, s.off," if self.st.dates else ""
        self.st.add(
            f"{self.name}_latest",
            "Line 5: with every row the latest row so far of each channel"
            + (" and offset, and the latest up to the end of its local day" if self.apart else ""),
            f"""SELECT b.*, {", ".join(columns)}
                FROM (
                    SELECT r.series, r.nr, r.ts, {day} {self.thread.replace("b.", "s.")}, s.channel
                    FROM {rows}_ranked AS r JOIN {rows}_series AS s ON s.series = r.series
                    WHERE s.definite
                ) AS b""",
        )

    def completions(self) -> None:
        """Add ``_acts``: in each series the first row that completes an act of each reach."""
        self.st.add(
            f"{self.name}_completions",
            "Line 5: rows that complete an act, and how far it reaches back",
            " UNION ALL ".join(
                self._completions(axis, one_day)
                for axis in self.axes
                for one_day in ([False, True] if self.apart else [False])
            ),
        )
        self.st.add(
            f"{self.name}_acts",
            "Line 5: of these in each series the first of every reach",
            f"""SELECT * FROM {self.name}_completions
                QUALIFY coalesce(reach > max(reach) OVER (PARTITION BY {", ".join(["series", *self.marks])} ORDER BY nr
                                                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), TRUE)""",
            keep=True,
        )

    def _completions(self, axis: Axis, one_day: bool) -> str:
        instant = "ts" if axis == "instant" else "day"
        values = []
        for i, channel in self.channels.items():
            latest = [self._latest(f"{i}{j}", offset, axis, one_day) for j, offset in self.offsets.items()]
            values.append(
                f"CASE WHEN channel = {channel} THEN {instant} ELSE greatest({', '.join(latest)}) END"
            )
        kth = (
            f"list_sort([{', '.join(values)}], 'DESC', 'NULLS "
            f"LAST')[{self.st.bind(f'{self.name}_k', self.role.k)}]"
        )
        close = "TRUE" if axis == "day" and not self.dated else f"reach >= {instant} - {self.within}"
        marks = {"axis": f"'{axis}'", "only_day": "day" if one_day else _ALWAYS}
        return f"""SELECT series, nr, ts, least(reach, {instant}) AS reach{"".join(f", {marks[m]} AS {m}" for m in self.marks)}
                   FROM (SELECT *, {kth} AS reach FROM {self.name}_latest) AS l
                   WHERE reach IS NOT NULL AND {close}"""

    def _latest(self, which: str, offset: str, axis: Axis, one_day: bool) -> str:
        """The latest row of a channel and offset: its instant, or its local day where it is close enough to
        count.
        """
        seen = f"seen_{which}"
        if one_day:
            seen = (
                f"CASE WHEN {seen} <= by_day_{which} THEN {seen} WHEN by_day_{which} < {seen} THEN "
                f"by_day_{which} END"
            )
        if axis == "day" and not self.dated:
            return (
                f"CASE WHEN {seen} >= ts - {self.within} THEN date_trunc('day', {seen} + "
                f"to_minutes({offset})) END"
            )
        return seen

    def proof(self) -> None:
        """Add ``_proof``: the earliest completion of an act that lies in the interval."""
        local = "CASE WHEN e.lower_grain IS NULL THEN e.opens ELSE e.opens + to_minutes(e.off) END"
        columns = {"reach": "e.opens" if self.axes == ["instant"] else local}
        if len(self.axes) == 2:
            columns = {
                "reach": f"CASE WHEN e.lower_grain = 'day' THEN {local} ELSE e.opens END",
                "axis": "CASE WHEN e.lower_grain = 'day' THEN 'day' ELSE 'instant' END",
            }
        looks = [(columns | {"closes": "e.closes"}, "TRUE")]
        if self.apart:
            before = "CASE WHEN e.upper_grain = 'day' THEN e.closes - to_days(1) ELSE e.closes END"
            last = "e.closes + to_minutes(e.off) - to_days(1)"
            looks = [
                (columns | {"only_day": _ALWAYS, "closes": before}, "TRUE"),
                (columns | {"only_day": last, "closes": "e.closes"}, "e.upper_grain = 'day'"),
            ]
        self.st.add(
            f"{self.name}_sought",
            "Line 5: how far back an act may reach to lie in the interval"
            + ("; apart for completions on the last local day" if self.apart else ""),
            " UNION ALL ".join(
                f"SELECT e.inst, e.series, {', '.join(f'{v} AS {c}' for c, v in values.items())} FROM "
                f"{self.name}_edges AS e WHERE {where}"
                for values, where in looks
            ),
        )
        self.st.add(
            f"{self.name}_proof",
            "Line 5: the act that is completed first; its completion is its last row",
            f"""SELECT e.inst, min(a.nr) AS nr
                FROM {self.name}_sought AS e
                ASOF JOIN {self.name}_acts AS a ON {" AND ".join(f"a.{c} = e.{c}" for c in ["series", *self.marks])} AND e.reach <= a.reach
                WHERE a.ts < e.closes
                GROUP BY e.inst""",
        )


def _microseconds(match_within: Duration | None, grain: Grain) -> int:
    """The distance of line 5 (months count 30 days), by default the length of the common grain (E4)."""
    length = GRAIN_LENGTH[grain]
    if match_within is not None:
        length = timedelta(days=30 * match_within.months + match_within.days, seconds=match_within.seconds)
    return length // timedelta(microseconds=1)
