"""Rows of an act, and what they prove about an interval, as SQL (SEMANTICS lines 1, 3, 5 and 22).

Rows are sorted once into *series*: one case, key, channel, grain and offset. Inside a series every order of line 19
agrees, so a running count and one as-of join per bound say how many rows an interval holds, and an equality join on the
running count fetches the i-th of them. Nothing here joins on a range.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from gnrs_ppl.audit.checkable import Key, RolePlan
from gnrs_ppl.audit.sql import Statement, struct
from gnrs_ppl.context.time import GRAIN_LENGTH, Duration, Grain
from gnrs_ppl.rule.types import Act

Nearest = Literal["first", "last", "closest"]

_BEGIN, _END = "CAST('-infinity' AS TIMESTAMP)", "CAST('infinity' AS TIMESTAMP)"


@dataclass(frozen=True)
class Rows:
    """Rows sorted for searching.

    Attributes
    ----------
    name : str
        Prefix of their common table expressions ``_series``, ``_ranked`` and ``_steps``.
    keyed : bool
        Whether a key must agree.
    common : Grain or None
        The grain that ``ts`` and ``grain`` were coarsened to; ``row_ts`` and ``row_grain`` are then the row's own (E4).
    """

    name: str
    keyed: bool = False
    common: Grain | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of a row that later parts read."""
        return ("event_id", "ts", "off", "grain", *(("row_ts", "row_grain") if self.common else ()))


@dataclass(frozen=True)
class Search:
    """An act looked for in the intervals of some probes.

    Attributes
    ----------
    name : str
        Prefix of its common table expressions.
    rows : Rows
        Where to look.
    probes : str
        Rows (inst, case_id, key?, lower_*, upper_*); a null bound is open. With ``nearest`` closest also at_end, the
        end-of-grain of the activation; with ``from_start`` also empty.
    lower_in, upper_in : bool
        Whether a tie at the bound is inside; else it is an unknown match (I3).
    nearest : str
        Which row of a channel is its witness (V7).
    marked : bool
        Whether a tie at the lower bound is marked (line 19).
    from_start : bool
        Whether the lower bound may be the start of the case, which the upper bound may precede (E7).
    own : bool
        Whether the probe's own row, column event_id, must be left out (M4).
    """

    name: str
    rows: Rows
    probes: str
    lower_in: bool = True
    upper_in: bool = True
    nearest: Nearest = "first"
    marked: bool = False
    from_start: bool = False
    own: bool = False


# Rows


def act_rows(
    st: Statement, name: str, act: Act, channels: tuple[str, ...], key: Key | None, *, common: Grain | None = None, back: bool = False
) -> Rows:
    """Sort the rows that match an act or may match it, with ``common`` all at that grain; ``back`` also from the end."""
    stated = {field: value for field in ("activity", "location", "object", "role") if (value := getattr(act, field)) is not None}
    terms = [f'"{field}" = {st.bind(f"{name}_{field}", value)}' for field, value in stated.items()]
    terms.append(f"channel IN ({st.bind_all(f'{name}_channel', channels)})")
    terms += [f'("{column}" IS NOT NULL OR NULL)' for column in ("timestamp", key) if column]
    ts, grain, own = "row_ts", "row_grain", ""
    if common is not None:
        ts = "date_trunc('day', row_ts + to_minutes(off)) - to_minutes(off)" if common == "day" else f"date_trunc('{common}', row_ts)"
        grain, own = f"CASE WHEN row_ts IS NOT NULL THEN '{common}' END", "row_ts, row_grain,"
    st.add(
        f"{name}_rows",
        f"Lines 1 and 13: rows that match the act, or may match it where a field is null{f'; all to the {common} (E4)' if common else ''}",
        f"""SELECT case_id, {"key," if key else ""} channel, event_id, coalesce({ts}, {_BEGIN}) AS ts, off, {grain} AS grain, {own}
                   {"CASE WHEN row_ts IS NOT NULL THEN off END AS zone," if st.dates else ""} coalesce(matched, FALSE) AS definite
            FROM (
                SELECT case_id, {f'"{key}" AS key,' if key else ""} channel, event_id, "timestamp" AS row_ts, coalesce("offset", 0) AS off,
                       CASE WHEN "timestamp" IS NOT NULL THEN "grain" END AS row_grain, {" AND ".join(terms)} AS matched
                FROM events
            ) AS e
            WHERE matched IS NOT FALSE""",
    )
    return _sorted(st, Rows(name, key is not None, common), back)


def closing_rows(st: Statement, name: str, activities: tuple[str, ...]) -> Rows:
    """Sort the rows that close a case (I1)."""
    st.add(
        f"{name}_rows",
        "Line 9: rows of an end activity, in any channel",
        f"""SELECT case_id, CAST(NULL AS VARCHAR) AS channel, event_id, "timestamp" AS ts, coalesce("offset", 0) AS off, "grain" AS grain,
                   {'coalesce("offset", 0) AS zone,' if st.dates else ""} TRUE AS definite
            FROM events
            WHERE activity IN ({st.bind_all(f"{name}_activity", activities)}) AND "timestamp" IS NOT NULL""",
    )
    return _sorted(st, Rows(name), False)


def _sorted(st: Statement, rows: Rows, back: bool) -> Rows:
    name = rows.name
    parts = ["case_id", *(["key"] if rows.keyed else []), "channel", "grain", *(["zone"] if st.dates else [])]
    order = "OVER (PARTITION BY s.series ORDER BY r.ts, r.event_id {} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    st.add(
        f"{name}_series",
        "Line 22: a number for each case, key, channel, grain and offset; null grain: rows without a timestamp",
        f"SELECT row_number() OVER () AS series, * FROM (SELECT DISTINCT {', '.join(parts)} FROM {name}_rows) AS d",
        keep=True,
    )
    st.add(
        f"{name}_ranked",
        "Line 22: rows by (instant, event_id) in their series; place counts the definite ones so far, possible all of them",
        f"""SELECT s.series, {", ".join(f"r.{c}" for c in rows.columns)}, r.definite,
                   count(CASE WHEN r.definite THEN 1 END) {order.format("")} AS place,
                   {f"count(CASE WHEN r.definite THEN 1 END) {order.format('DESC')} AS back_place," if back else ""}
                   row_number() {order.format("")} AS possible
            FROM {name}_rows AS r JOIN {name}_series AS s ON {" AND ".join(f"r.{c} IS NOT DISTINCT FROM s.{c}" for c in parts)}""",
        keep=True,
    )
    st.add(
        f"{name}_steps",
        "Line 22: the running counts after each instant, so that a tie is never split",
        f"SELECT series, ts, max(place) AS definite, max(possible) AS possible FROM {name}_ranked GROUP BY series, ts",
        keep=True,
    )
    return rows


def _reachable(rows: Rows, probes: str, condition: str) -> str:
    """Probes with every series that may hold rows for them: those of their key, and those without a key (M3)."""
    if not rows.keyed:
        return f"FROM {probes} AS p JOIN {rows.name}_series AS s ON s.case_id = p.case_id WHERE {condition}"
    return f"""FROM {probes} AS p CROSS JOIN (VALUES (TRUE), (FALSE)) AS w(known)
               JOIN {rows.name}_series AS s ON s.case_id = p.case_id AND s.key IS NOT DISTINCT FROM CASE WHEN w.known THEN p.key END
               WHERE p.key IS NOT NULL AND {condition}"""


def _as_of(rows: Rows, edge: str) -> str:
    """The running counts just before an edge of an interval."""
    return f"ASOF LEFT JOIN {rows.name}_steps AS at_{edge} ON at_{edge}.series = e.series AND at_{edge}.ts < e.{edge}"


def _packed(st: Statement, rows: Rows, row: str, **more: str) -> str:
    """A row as one value that is ordered by (end-of-grain, event_id) (G3)."""
    fields = {"end": st.end_of(f"{row}.ts", f"{row}.grain")} | {c: f"{row}.{c}" for c in rows.columns} | more
    return f"CASE WHEN {row}.event_id IS NOT NULL THEN {struct(fields)} END"


def earliest(st: Statement, name: str, rows: Rows, probes: str, bound: str, about: str, *, tie_in: bool) -> None:
    """Add ``name`` (inst, found): the first definite row from a bound on, or with ``tie_in`` false strictly after it."""
    st.add(
        f"{name}_edges",
        f"{about}: the bound on the clock of each series",
        f"SELECT p.inst, s.series, {st.tie(f'p.{bound}_', 's', after=not tie_in)} AS opens "
        + _reachable(rows, probes, f"s.grain IS NOT NULL AND p.{bound}_ts IS NOT NULL"),
    )
    st.add(
        name,
        about,
        f"""SELECT h.inst, min({_packed(st, rows, "r")}) AS found
            FROM (SELECT e.inst, e.series, coalesce(at_opens.definite, 0) AS before FROM {name}_edges AS e {_as_of(rows, "opens")}) AS h
            JOIN {rows.name}_ranked AS r ON r.series = h.series AND r.place = h.before + 1 AND r.definite
            GROUP BY h.inst""",
    )


# Counts


def count(st: Statement, search: Search) -> None:
    """Add ``_found``, per probe and channel, and ``_counted``, per probe: definite and possible rows, and the witnesses."""
    name, rows = search.name, search.rows
    witness = "first" if search.nearest == "first" else "witness"
    _hits(st, search)
    first = _packed(st, rows, "a", **({"tie": "a.ts < h.later"} if search.marked else {}))
    match search.nearest:
        case "first":
            joins, values = _fetch(rows, "a", "place", "first_place"), f"min({first}) AS first"
        case "last":
            joins = _fetch(rows, "a", "back_place", "last_place")
            values = f"min({_near(st, 'a', '-epoch_us({})')}) AS witness"
        case "closest":
            joins = " ".join(
                _fetch(rows, row, place, wanted)
                for row, place, wanted in (("a", "place", "first_place"), ("b", "back_place", "last_before"), ("c", "place", "first_after"))
            )
            away = "abs(epoch_us({}) - epoch_us(h.at_end))"
            values = f"min({first}) AS first, least(min({_near(st, 'b', away)}), min({_near(st, 'c', away)})) AS witness"
    st.add(
        f"{name}_found",
        "Line 5: definite and possible rows in the interval, per channel; line 20: the row of the channel that bears witness",
        f"""SELECT h.inst, h.channel, sum(h.held) AS definite, sum(h.possible) AS possible, {values}
            FROM {name}_hits AS h {joins} GROUP BY h.inst, h.channel""",
        keep=True,
    )
    st.add(
        f"{name}_counted",
        "Line 5: the same per instance; a row without a channel (blank) may be a row of any channel",
        f"""SELECT inst, sum(definite) AS total, max(definite) AS most, count(*) FILTER (WHERE definite > 0) AS holding,
                   coalesce(max(possible) FILTER (WHERE channel IS NOT NULL), 0) AS most_possible,
                   coalesce(max(possible) FILTER (WHERE channel IS NULL), 0) AS blank,
                   {"" if search.nearest == "last" else "min(first) AS first,"}
                   list({witness}.event_id) FILTER (WHERE {witness} IS NOT NULL) AS witnesses
            FROM {name}_found GROUP BY inst""",
        keep=True,
    )


def _hits(st: Statement, search: Search) -> None:
    name, rows = search.name, search.rows

    def clock(bound: str, open_end: str, *, after: bool) -> str:
        return f"coalesce(CASE WHEN s.grain IS NOT NULL THEN {st.tie(f'p.{bound}_', 's', after=after)} END, {open_end})"

    edges = {
        "opens": clock("lower", _BEGIN, after=not search.lower_in),
        "closes": clock("upper", _END, after=search.upper_in),
    }
    if not search.lower_in:
        edges["opens_maybe"] = clock("lower", _BEGIN, after=False)
    if not search.upper_in:
        edges["closes_maybe"] = clock("upper", _END, after=True)
    if search.nearest == "closest":
        edges["middle"] = f"least(greatest(p.at_end - {st.unit('s.grain')} + to_microseconds(2), opens), closes)"
    carried = {"at_end": "p.at_end"} if search.nearest == "closest" else {}
    if search.marked:
        carried["later"] = clock("lower", _BEGIN, after=True)
    if rows.common:
        carried |= {"lower_grain": "p.lower_grain", "upper_grain": "p.upper_grain"} | ({"zone": "s.zone"} if st.dates else {})
    columns = "".join(f", {value} AS {column}" for column, value in (edges | carried).items())
    st.add(
        f"{name}_edges",
        "Line 19: the bounds on the clock of each series; a row is inside from opens to just before closes"
        + ("" if search.lower_in and search.upper_in else ", perhaps inside up to the bounds marked maybe"),
        f"SELECT p.inst, s.series, s.channel{columns} " + _reachable(rows, search.probes, "NOT p.empty" if search.from_start else "TRUE"),
        keep=True,
    )
    low, high = ("opens" if search.lower_in else "opens_maybe"), ("closes" if search.upper_in else "closes_maybe")
    held = {"possible": "g.possible", "held": "g.until - g.before"}
    own = ""
    if search.own:
        st.add(
            f"{name}_own",
            "Line 10: the trigger's own row, which is not looked for",
            f"SELECT p.inst, r.series, r.place, r.definite FROM {search.probes} AS p JOIN {rows.name}_ranked AS r ON r.event_id = p.event_id",
        )
        held = {
            "possible": "g.possible - CAST(g.own IS NOT NULL AS INTEGER)",
            "held": "g.until - g.before - CAST(coalesce(g.own_definite, FALSE) AS INTEGER)",
        }
        own = f"LEFT JOIN {name}_own AS o ON o.inst = e.inst AND o.series = e.series"
    places = {
        "first": {"first_place": f"CASE WHEN held > 0 THEN g.before + 1{' + CAST(coalesce(g.own_definite AND g.own = g.before + 1, FALSE) AS INTEGER)' if own else ''} END"},
        "last": {"last_place": "CASE WHEN held > 0 THEN g.until END"},
        "closest": {
            "first_place": "CASE WHEN held > 0 THEN g.before + 1 END",
            "last_before": "CASE WHEN g.halfway > g.before THEN g.halfway END",
            "first_after": "CASE WHEN g.until > g.halfway THEN g.halfway + 1 END",
        },
    }[search.nearest]
    shown = {c: f"g.{c}" for c in ("at_end", "later") if c in carried}
    st.add(
        f"{name}_hits",
        "Line 22: running counts at the bounds: how many rows each series holds in the interval, and where the first of them stands",
        f"""SELECT g.inst, g.series, g.channel, g.before, {", ".join(f"{value} AS {column}" for column, value in (held | places | shown).items())}
            FROM (
                SELECT e.*, coalesce(at_opens.definite, 0) AS before, greatest(coalesce(at_closes.definite, 0), before) AS until,
                       {"greatest(coalesce(at_middle.definite, 0), before) AS halfway," if "middle" in edges else ""}
                       {"o.place AS own, o.definite AS own_definite," if own else ""}
                       greatest(coalesce(at_{high}.possible, 0) - coalesce(at_{low}.possible, 0), 0) AS possible
                FROM {name}_edges AS e {" ".join(_as_of(rows, edge) for edge in edges)} {own}
            ) AS g""",
        keep=True,
    )


def _near(st: Statement, row: str, rank: str) -> str:
    """A row as one value that is ordered by its rank, end-of-grain and event_id (V7)."""
    end = st.end_of(f"{row}.ts", f"{row}.grain")
    return f"CASE WHEN {row}.event_id IS NOT NULL THEN {{'rank': {rank.format(end)}, 'end': {end}, 'event_id': {row}.event_id}} END"


def _fetch(rows: Rows, row: str, place: str, wanted: str) -> str:
    return f"LEFT JOIN {rows.name}_ranked AS {row} ON {row}.series = h.series AND {row}.{place} = h.{wanted} AND {row}.definite"


# Proof, refutation, doubt


def evidence(
    st: Statement,
    search: Search,
    role: RolePlan,
    *,
    number: int = 1,
    more: bool = False,
    timed: tuple[int, ...] = (),
    match_within: Duration | None = None,
) -> None:
    """Add ``_evidence``: per probe whether the act is proven or refuted, else why it is unknown (line 5).

    Parameters
    ----------
    number : int
        n of line 5; with ``more`` the columns with the suffix _more say the same of n + 1 (exactly).
    timed : tuple of int
        The numbers, n or n + 1, whose proof is to be timed: columns completion and completion_more.
    match_within : Duration or None
        How far apart the rows of one act may lie where several channels must agree.
    """
    name = search.name
    count(st, search)
    numbers = {"": number} | ({"_more": number + 1} if more else {})
    bound = {suffix: st.bind(f"{name}_count{suffix}", n) for suffix, n in numbers.items()}
    joins = f"LEFT JOIN {name}_counted AS c ON c.inst = p.inst"
    refutable = len(role.closed_world) >= role.silent
    if refutable:
        _silence(st, search, role, bound)
        joins += f" LEFT JOIN {name}_silence AS q ON q.inst = p.inst"
    if role.k > 1:
        _acts(st, search, role, match_within)
        joins += f" LEFT JOIN {name}_proof AS f ON f.inst = p.inst"
    unkeyed = "WHEN p.key IS NULL THEN 'unknown_key'" if search.rows.keyed else ""
    split = f"CASE WHEN c.holding >= {st.bind(f'{name}_k', role.k)} THEN 'split' ELSE 'uncorroborated' END" if role.k > 1 else "'split'"
    columns = []
    for suffix, n in numbers.items():
        b = bound[suffix]
        refuted = "FALSE"
        if refutable:
            refuted = f"coalesce(c.total, 0) < {b} AND coalesce(q.silent{suffix}, 0) >= {st.bind(f'{name}_silent', role.silent)}"
        columns += [
            f"{'f.inst IS NOT NULL' if role.k > 1 else f'coalesce(c.most, 0) >= {b}'} AS proven{suffix}",
            f"{refuted} AS refuted{suffix}",
            f"""CASE {unkeyed} WHEN coalesce(c.total, 0) >= {b} THEN {split}
                     WHEN coalesce(c.most_possible, 0) + coalesce(c.blank, 0) >= {b} THEN 'unknown_match'
                     ELSE '{"uncovered" if refutable else "open_world"}' END AS doubt{suffix}""",
        ]
        if n in timed:
            if role.k > 1:
                columns.append(f"f.completion AS completion{suffix}")
            elif n == 1:
                columns.append(f"c.first AS completion{suffix}")
            else:
                _nth(st, search, n, f"{name}_nth{suffix}", b)
                joins += f" LEFT JOIN {name}_nth{suffix} AS n{suffix} ON n{suffix}.inst = p.inst"
                columns.append(f"n{suffix}.completion AS completion{suffix}")
    st.add(
        f"{name}_evidence",
        "Line 5: proven, refuted, or in doubt and why",
        f"""SELECT p.inst, {", ".join(columns)}, coalesce(c.total, 0) > 0 AS seen, coalesce(c.witnesses, []) AS witnesses
            FROM {search.probes} AS p {joins}""",
    )


def _silence(st: Statement, search: Search, role: RolePlan, bound: dict[str, str]) -> None:
    name = search.name
    closed = ", ".join(f"({st.bind(f'{name}_closed_{i}', c)})" for i, c in enumerate(role.closed_world, 1))
    conditions = [f"coalesce(c.total, 0) < {list(bound.values())[-1]}"] + (["p.key IS NOT NULL"] if search.rows.keyed else [])
    st.add(
        f"{name}_covered",
        "Line 4: closed-world channels that are complete over the whole interval",
        f"""SELECT u.inst, u.channel
            FROM (
                SELECT p.*, w.channel
                FROM {search.probes} AS p LEFT JOIN {name}_counted AS c ON c.inst = p.inst CROSS JOIN (VALUES {closed}) AS w(channel)
                WHERE {" AND ".join(conditions)}
            ) AS u
            ASOF LEFT JOIN coverage AS v ON v.channel = u.channel AND v.begins <= u.lower_ts
            WHERE v.ends >= {st.end_of("u.upper_ts", "u.upper_grain")} {"OR u.empty" if search.from_start else ""}""",
    )
    silent = ", ".join(
        f"count(*) FILTER (WHERE coalesce(f.possible, 0) + coalesce(c.blank, 0) < {b}) AS silent{suffix}" for suffix, b in bound.items()
    )
    st.add(
        f"{name}_silence",
        "Line 5: how many of them hold too few rows, definite and unknown ones together",
        f"""SELECT v.inst, {silent}
            FROM {name}_covered AS v
            LEFT JOIN {name}_counted AS c ON c.inst = v.inst
            LEFT JOIN {name}_found AS f ON f.inst = v.inst AND f.channel = v.channel
            GROUP BY v.inst""",
    )


def _nth(st: Statement, search: Search, number: int, name: str, bound: str) -> None:
    rows = search.rows
    st.add(
        name,
        f"Line 5: the time of the proof: the {'n-th' if not name.endswith('more') else '(n + 1)-th'} row of the channel that holds it first (E3)",
        f"""SELECT inst, min(row) AS completion
            FROM (
                SELECT h.inst, {_packed(st, rows, "r")} AS row,
                       row_number() OVER (PARTITION BY h.inst, h.channel ORDER BY {st.end_of("r.ts", "r.grain")}, r.event_id) AS nth
                FROM (
                    SELECT h.inst, h.series, h.channel, h.before + unnest(range(1, least(h.held, {bound}) + 1)) AS place
                    FROM {search.name}_hits AS h JOIN {search.name}_counted AS c ON c.inst = h.inst
                    WHERE c.most >= {bound}
                ) AS h
                JOIN {rows.name}_ranked AS r ON r.series = h.series AND r.place = h.place AND r.definite
            ) AS t
            WHERE nth = {bound} GROUP BY inst""",
    )


# Corroboration: k > 1 channels (E4)


def _acts(st: Statement, search: Search, role: RolePlan, match_within: Duration | None) -> None:
    """Add ``_proof``: per probe the completion of the first act that k channels corroborate.

    A row completes an act when it and the latest rows of k - 1 other channels before it lie close together. The earliest
    of these rows, the act's *reach*, must lie in the interval too. In one series only the first row of each reach can be
    the earliest completion, so one as-of join on the reach finds it. Where a bound is a date and the rows are not, reach
    is a local date; and where offsets differ besides, rows that are over on a local day are looked for once more without
    rows of the next day (a row may be earlier than another and still carry the later date).
    """
    name, rows, grain = search.name, search.rows, role.grain
    axes = ["date"] if grain == "day" else ["instant", "date"] if st.dates else ["instant"]
    zones = st.offsets if len(axes) == 2 and len(st.offsets) > 1 else ()
    within = st.bind(f"{name}_match_within", _microseconds(match_within, grain))
    k = st.bind(f"{name}_k", role.k)
    who = {i: st.bind(f"{name}_rel_{i}", c) for i, c in enumerate(role.rel, 1)}
    where = {j: st.bind(f"{name}_offset_{j}", z) for j, z in enumerate(zones, 1)} or {0: "zone"}
    key = ", b.key" if rows.keyed else ""
    before = f"OVER (PARTITION BY b.case_id{key} ORDER BY b.ts, b.event_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    by_day = f"OVER (PARTITION BY b.case_id{key} ORDER BY b.day RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    what = "b.day" if grain == "day" else "b.ts"
    columns = []
    for i, channel in who.items():
        for j, zone in where.items():
            lane = f"b.channel = {channel}" + (f" AND b.zone = {zone}" if zones else "")
            columns.append(f"max({what}) FILTER (WHERE {lane}) {before} AS seen_{i}_{j}")
            if zones:
                columns.append(f"max({what}) FILTER (WHERE {lane}) {by_day} AS by_day_{i}_{j}")
    day = "date_trunc('day', r.ts + to_minutes(s.zone)) AS day, s.zone," if st.dates else ""
    st.add(
        f"{name}_latest",
        "Line 5: with every row, the latest row so far of each channel"
        + (" and offset, and the latest up to the end of the row's local day" if zones else ""),
        f"""SELECT b.*, {", ".join(columns)}
            FROM (
                SELECT r.series, r.place, r.event_id, r.ts, {day} s.case_id, {"s.key," if key else ""} s.channel
                FROM {rows.name}_ranked AS r JOIN {rows.name}_series AS s ON s.series = r.series
                WHERE r.definite
            ) AS b""",
    )

    def reach(axis: str, own_day: bool) -> str:
        values = []
        for i, channel in who.items():
            lanes = []
            for j, zone in where.items():
                seen = f"seen_{i}_{j}"
                if own_day:
                    seen = f"CASE WHEN seen_{i}_{j} <= by_day_{i}_{j} THEN seen_{i}_{j} WHEN by_day_{i}_{j} < seen_{i}_{j} THEN by_day_{i}_{j} END"
                if axis == "date" and grain != "day":
                    seen = f"CASE WHEN {seen} >= ts - to_microseconds({within}) THEN date_trunc('day', {seen} + to_minutes({zone})) END"
                lanes.append(seen)
            value = f"greatest({', '.join(lanes)})" if len(lanes) > 1 else lanes[0]
            values.append(f"CASE WHEN channel = {channel} THEN {'ts' if axis == 'instant' else 'day'} ELSE {value} END")
        from_ = "day" if axis == "date" else "ts"
        held = "TRUE" if axis == "date" and grain != "day" else f"reach >= {from_} - to_microseconds({within})"
        marks = (f", '{axis}' AS axis" if len(axes) > 1 else "") + (f", {'day' if own_day else _END} AS only_day" if zones else "")
        return f"""SELECT series, place, event_id, ts, least(reach, {from_}) AS reach{marks}
                   FROM (SELECT *, list_sort([{", ".join(values)}], 'DESC', 'NULLS LAST')[{k}] AS reach FROM {name}_latest) AS l
                   WHERE reach IS NOT NULL AND {held}"""

    st.add(
        f"{name}_reach",
        "Line 5: rows that complete an act, and the earliest row the act reaches back to",
        " UNION ALL ".join(reach(axis, own_day) for axis in axes for own_day in ([False, True] if zones else [False])),
    )
    marks = (["axis"] if len(axes) > 1 else []) + (["only_day"] if zones else [])
    st.add(
        f"{name}_acts",
        "Line 5: of these in each series the first of every reach",
        f"""SELECT * FROM {name}_reach
            QUALIFY coalesce(reach > max(reach) OVER (PARTITION BY {", ".join(["series", *marks])} ORDER BY ts, event_id
                                                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), TRUE)""",
        keep=True,
    )
    local = "CASE WHEN e.lower_grain IS NULL THEN e.opens ELSE e.opens + to_minutes(e.zone) END"
    dated = "e.lower_grain = 'day'" if len(axes) > 1 else "TRUE"
    sought = f"e.inst, e.series{', e.later' if search.marked else ''}, " + (
        "e.opens AS reach" if axes == ["instant"] else f"CASE WHEN {dated} THEN {local} ELSE e.opens END AS reach"
    )
    sought += f", CASE WHEN {dated} THEN 'date' ELSE 'instant' END AS axis" if len(axes) > 1 else ""
    looks = [f"SELECT {sought}, e.closes FROM {name}_edges AS e"]
    if zones:
        last_day = "e.upper_grain = 'day'"
        looks = [
            f"SELECT {sought}, {_END} AS only_day, CASE WHEN {last_day} THEN e.closes - to_days(1) ELSE e.closes END AS closes FROM {name}_edges AS e",
            f"SELECT {sought}, e.closes + to_minutes(e.zone) - to_days(1) AS only_day, e.closes FROM {name}_edges AS e WHERE {last_day}",
        ]
    st.add(f"{name}_sought", "Line 5: the reach that an act needs to lie in the interval", " UNION ALL ".join(looks))
    st.add(
        f"{name}_proof",
        "Line 5: the act that is completed first; its completion is its last row",
        f"""SELECT e.inst, min({_packed(st, rows, "r", **({"tie": "r.ts < e.later"} if search.marked else {}))}) AS completion
            FROM {name}_sought AS e
            ASOF JOIN {name}_acts AS a ON {" AND ".join(f"a.{c} = e.{c}" for c in ["series", *marks])} AND e.reach <= a.reach
            JOIN {rows.name}_ranked AS r ON r.series = a.series AND r.place = a.place AND r.definite
            WHERE a.ts < e.closes
            GROUP BY e.inst""",
    )


def _microseconds(match_within: Duration | None, grain: Grain) -> int:
    """The distance of line 5 (months count 30 days), by default the length of the common grain (E4)."""
    length = GRAIN_LENGTH[grain]
    if match_within is not None:
        length = timedelta(days=30 * match_within.months + match_within.days, seconds=match_within.seconds)
    return length // timedelta(microseconds=1)
