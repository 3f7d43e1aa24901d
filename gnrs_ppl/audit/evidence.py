"""Rows of an act, and what they prove about an interval, as SQL (SEMANTICS lines 1, 3, 5 and 22).

Rows are sorted once into *series*: one case, key, channel, grain and offset, definite or not. Inside a series
every order of line 19 agrees, so a running number and one as-of join per bound say how many rows an interval
holds, and an equality join on the running number fetches the i-th of them. Nothing here joins on a range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from gnrs_ppl.audit.checkable import Key, RolePlan, Tie
from gnrs_ppl.audit.corroboration import corroborate
from gnrs_ppl.audit.sql import SqlStatement, struct
from gnrs_ppl.context.time import Duration, Grain
from gnrs_ppl.rule.types import Act

Nearest = Literal["first", "last", "closest"]

_BEGIN, _END = "CAST('-infinity' AS TIMESTAMP)", "CAST('infinity' AS TIMESTAMP)"


@dataclass(frozen=True)
class SortedRows:
    """Rows sorted for searching.

    Attributes
    ----------
    name : str
        Prefix of their common table expressions ``_series``, ``_ranked`` and ``_steps``.
    keyed : bool
        Whether the activation's key must be known, and agree or differ.
    threaded : bool
        Whether the rows are sorted once for each thread of activations that they are compared with; a thread
        then stands in the place of case and key (D5).
    common : Grain or None
        The grain that ``ts`` and ``grain`` were coarsened to; ``row_ts`` and ``row_grain`` are then the row's
        own (E4).
    """

    name: str
    keyed: bool = False
    common: Grain | None = None
    threaded: bool = False

    @property
    def by_key(self) -> bool:
        """Whether a series holds one key."""
        return self.keyed and not self.threaded

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of a row that later parts read."""
        return ("event_id", "ts", "off", "grain", *(("row_ts", "row_grain") if self.common else ()))


@dataclass(frozen=True)
class ActSearch:
    """An act looked for in the intervals of some probes.

    Attributes
    ----------
    name : str
        Prefix of its common table expressions.
    rows : SortedRows
        Where to look.
    channels : tuple of str
        The channels that count.
    probes : str
        Rows (inst, case_id, key?, lower_*, upper_*); a null bound is open. With ``nearest`` closest also
        at_end, the end-of-grain of the activation; with ``from_start`` also empty; with ``skips_own_row``
        also event_id.
    lower, upper : Tie
        What a tie at the bound is (I3, T1).
    nearest : str
        Which row of a channel is its witness (V7).
    from_start : bool
        Whether the lower bound may be the start of the case, which the upper bound may precede (E7).
    skips_own_row : bool
        Whether the probe's own row must be left out (M4).
    """

    name: str
    rows: SortedRows
    channels: tuple[str, ...]
    probes: str
    lower: Tie = "in"
    upper: Tie = "in"
    nearest: Nearest = "first"
    from_start: bool = False
    skips_own_row: bool = False


class Threads(NamedTuple):
    """Activations of one case between which the rows of an act need not be told apart: a table of theirs with
    the columns thread, case_id, the values that rows are compared with (its_…), and its_key (D5).

    ``differ`` where the rows' key must be another than theirs.
    """

    name: str
    differ: bool


# Rows


def matches(st: SqlStatement, name: str, act: Act) -> str:
    """Whether a row matches an act, three-valued: any of its patterns, each field of which is equal where
    stated (line 1, A1).
    """
    patterns = []
    for i, one in enumerate(act.patterns, 1):
        stated = {
            field: value
            for field in ("activity", "location", "object", "role")
            if (value := getattr(one, field)) is not None
        }
        mark = f"_{i}" if i > 1 else ""
        terms = [f'"{field}" = {st.bind(f"{name}_{field}{mark}", value)}' for field, value in stated.items()]
        terms += [
            f"({st.condition(f'{name}_where{mark}_{j}', condition)})"
            for j, condition in enumerate(one.where, 1)
        ]
        patterns.append(" AND ".join(terms))
    return f"({' OR '.join(f'({pattern})' for pattern in patterns)})" if len(patterns) > 1 else patterns[0]


def act_rows(
    st: SqlStatement,
    name: str,
    act: Act,
    channels: tuple[str, ...],
    key: Key | None,
    *,
    common: Grain | None = None,
    back: bool = False,
    threads: Threads | None = None,
) -> SortedRows:
    """Sort the rows that match an act or may match it, with ``common`` all at that grain; ``back`` also from
    the end; with ``threads`` once for each of them.
    """
    about = (
        "Lines 1 and 13: rows that match the act, or may match it where a field is "
        f"null{f'; all to the {common} (E4)' if common else ''}"
    )
    terms = [matches(st, name, act)]
    table, shown = st.events, ""
    if threads is not None or st.of_any_case:
        shown = f"activity IS NULL OR activity IN ({st.bind_all(f'{name}_acts', act.activities)})"
    if threads is not None:  # no other row is compared with each activation
        table = f"(SELECT * FROM {st.events} WHERE {shown})"
    table = _with_any_case(st, table, shown)
    return _rows(st, name, about, terms, channels, key, table, common=common, back=back, threads=threads)


def other_rows(
    st: SqlStatement,
    name: str,
    act: Act,
    channels: tuple[str, ...],
    key: Key | None,
    unlike: Sequence[str] = (),
    *,
    back: bool = False,
) -> SortedRows:
    """Sort the rows that are, or may be, another event than an act; ``unlike`` are further conditions of it
    (N1).
    """
    about = "N1: rows that are another event than the act, or may be one where a field is null"
    terms = [f"NOT ({matches(st, name, act)})", *unlike]
    return _rows(
        st,
        name,
        about,
        terms,
        channels,
        key,
        _with_any_case(st, st.events, f"({' AND '.join(terms)}) IS NOT FALSE"),
        common=None,
        back=back,
    )


def add_set_aside(st: SqlStatement) -> str:
    """Add the rows of D with those that were set aside in their cases, and give the table's name (line 1)."""
    return st.add(
        "events_and_set_aside",
        "Line 1: a row that was set aside is a row of its case, unknown in what was not understood of it",
        "SELECT * FROM events UNION ALL BY NAME SELECT * EXCLUDE (reason) FROM set_aside WHERE case_id IS NOT NULL",
    )


def _with_any_case(st: SqlStatement, table: str, shown: str) -> str:
    """A table of rows, with those set aside that may be of any case, and of which ``shown`` holds, in each case:
    as many of them as a count can ask for.
    """
    if not st.of_any_case:
        return table
    some = f"SELECT activity FROM set_aside WHERE case_id IS NULL AND ({shown}) LIMIT {st.of_any_case}"
    return (
        f"(SELECT * FROM {table} UNION ALL BY NAME SELECT c.case_id, o.activity "
        f"FROM ({some}) AS o CROSS JOIN (SELECT DISTINCT case_id FROM {st.events}) AS c)"
    )


def _rows(
    st: SqlStatement,
    name: str,
    about: str,
    terms: list[str],
    channels: tuple[str, ...],
    key: Key | None,
    table: str,
    *,
    common: Grain | None,
    back: bool,
    threads: Threads | None = None,
) -> SortedRows:
    terms.append(f"channel IN ({', '.join(_channels(st, name, channels))})")
    own_key = None if threads else key
    terms += [f'("{column}" IS NOT NULL OR NULL)' for column in ("timestamp", own_key) if column]
    case = "case_id"
    if threads is not None:
        case, table = "thread", f"{threads.name} AS w JOIN {table} AS e ON e.case_id = w.case_id"
        if key is not None:
            terms.append(f'"{key}" {"<>" if threads.differ else "="} its_key')
        if threads.differ and st.automatic:
            terms.append(f'"{key}" NOT IN ({st.bind_all("automatic", st.automatic)})')
    ts, grain, row_columns = "row_ts", "row_grain", ""
    if common is not None:
        ts = (
            "date_trunc('day', row_ts + to_minutes(off)) - to_minutes(off)"
            if common == "day"
            else f"date_trunc('{common}', row_ts)"
        )
        grain, row_columns = f"CASE WHEN row_ts IS NOT NULL THEN '{common}' END", "row_ts, row_grain,"
    st.add(
        f"{name}_rows",
        about,
        f"""SELECT case_id, {"key," if own_key else ""} channel, event_id, coalesce({ts}, {_BEGIN}) AS ts, off, {grain} AS grain, {row_columns}
                   coalesce(matched, FALSE) AS definite
            FROM (
                SELECT {case}{" AS case_id" if threads else ""}, {f'"{own_key}" AS key,' if own_key else ""} channel, event_id, "timestamp" AS row_ts,
                       CASE WHEN "timestamp" IS NOT NULL THEN coalesce("offset", 0) END AS off,
                       CASE WHEN "timestamp" IS NOT NULL THEN "grain" END AS row_grain, {" AND ".join(terms)} AS matched
                FROM {table}
            ) AS e
            WHERE matched IS NOT FALSE""",
    )
    return _sorted(st, SortedRows(name, key is not None, common, threads is not None), back)


def closing_rows(st: SqlStatement, name: str, activities: tuple[str, ...]) -> SortedRows:
    """Sort the rows that close a case (I1)."""
    st.add(
        f"{name}_rows",
        "Line 9: rows of an end activity, in any channel",
        f"""SELECT case_id, CAST(NULL AS VARCHAR) AS channel, event_id, "timestamp" AS ts, coalesce("offset", 0) AS off, "grain" AS grain,
                   TRUE AS definite
            FROM {st.events}
            WHERE activity IN ({st.bind_all(f"{name}_activity", activities)}) AND "timestamp" IS NOT NULL""",
    )
    return _sorted(st, SortedRows(name), False)


def _channels(st: SqlStatement, name: str, channels: tuple[str, ...]) -> list[str]:
    return [st.bind(f"{name}_channel_{i}", channel) for i, channel in enumerate(channels, 1)]


def _sorted(st: SqlStatement, rows: SortedRows, back: bool) -> SortedRows:
    name = rows.name
    parts = [
        "case_id",
        *(["key"] if rows.by_key else []),
        "channel",
        "grain",
        *(["off"] if st.dates else []),
        "definite",
    ]
    end = st.end_of("r.ts", "r.grain")
    st.add(
        f"{name}_series",
        "Line 22: a number for each case, key, channel, grain, offset and definiteness; null grain: rows "
        "without a timestamp",
        f"SELECT row_number() OVER () AS series, * FROM (SELECT DISTINCT {', '.join(parts)} FROM "
        f"{name}_rows) AS d",
        keep=True,
    )
    st.add(
        f"{name}_ordered",
        "Line 19: the order of rows by (end-of-grain, event_id)"
        + (", and by (latest end-of-grain, event_id)" if back else ""),
        f"""SELECT s.series, {", ".join(f"r.{c}" for c in rows.columns)}, row_number() OVER (ORDER BY {end}, r.event_id) AS nr
                   {f", row_number() OVER (ORDER BY {end} DESC, r.event_id) AS back_nr" if back else ""}
            FROM {name}_rows AS r JOIN {name}_series AS s ON {" AND ".join(f"r.{c} IS NOT DISTINCT FROM s.{c}" for c in parts)}""",
    )
    st.add(
        f"{name}_ranked",
        "Line 22: rows numbered in their series" + (", and from its end" if back else ""),
        f"""SELECT *, row_number() OVER (PARTITION BY series ORDER BY nr) AS place
                   {", row_number() OVER (PARTITION BY series ORDER BY back_nr DESC) AS back_place" if back else ""}
            FROM {name}_ordered""",
        keep=True,
    )
    st.add(
        f"{name}_steps",
        "Line 22: how many rows a series holds up to each instant, so that a tie is never split",
        f"SELECT series, ts, max(place) AS places FROM {name}_ranked GROUP BY series, ts",
        keep=True,
    )
    return rows


def _reachable(rows: SortedRows, probes: str, condition: str) -> str:
    """Probes with every series that may hold rows for them: those of their key, and those without a key
    (M3).
    """
    if rows.threaded:
        known = "p.key IS NOT NULL AND " if rows.keyed else ""
        return f"FROM {probes} AS p JOIN {rows.name}_series AS s ON s.case_id = p.thread WHERE {known}{condition}"
    if not rows.keyed:
        return f"FROM {probes} AS p JOIN {rows.name}_series AS s ON s.case_id = p.case_id WHERE {condition}"
    return f"""FROM (
                   SELECT *, key AS wanted FROM {probes} WHERE key IS NOT NULL
                   UNION ALL SELECT *, CAST(NULL AS VARCHAR) AS wanted FROM {probes} WHERE key IS NOT NULL
               ) AS p
               JOIN {rows.name}_series AS s ON s.case_id = p.case_id AND s.key IS NOT DISTINCT FROM p.wanted WHERE {condition}"""


def _as_of(rows: SortedRows, edge: str) -> str:
    """The number of rows just before an edge of an interval."""
    return (
        f"ASOF LEFT JOIN {rows.name}_steps AS at_{edge} ON at_{edge}.series = e.series AND at_{edge}.ts "
        f"< e.{edge}"
    )


def _row(rows: SortedRows, prefix: str = "") -> str:
    """The columns of row t."""
    return ", ".join(f"t.{c} AS {prefix}{c}" for c in rows.columns)


def earliest(
    st: SqlStatement, name: str, rows: SortedRows, probes: str, bound: str, about: str, *, tie_in: bool
) -> None:
    """Add ``name`` (inst and the columns of a row): the first definite row from a bound on, or not
    ``tie_in`` after it.
    """
    st.add(
        f"{name}_edges",
        f"{about}: the bound on the clock of each series",
        f"SELECT p.inst, s.series, {st.tie(f'p.{bound}_', 's', after=not tie_in)} AS opens "
        + _reachable(rows, probes, f"s.definite AND p.{bound}_ts IS NOT NULL"),
    )
    st.add(
        name,
        about,
        f"""SELECT m.inst, {_row(rows)}
            FROM (
                SELECT h.inst, min(r.nr) AS nr
                FROM (SELECT e.inst, e.series, coalesce(at_opens.places, 0) AS before FROM {name}_edges AS e {_as_of(rows, "opens")}) AS h
                JOIN {rows.name}_ranked AS r ON r.series = h.series AND r.place = h.before + 1
                GROUP BY h.inst
            ) AS m
            JOIN {rows.name}_ranked AS t ON t.nr = m.nr""",
    )


def latest(st: SqlStatement, name: str, rows: SortedRows, probes: str, bound: str, about: str) -> None:
    """Add ``name`` (inst and the columns of a row): the last definite row before a bound, of rows sorted
    from the end too.
    """
    st.add(
        f"{name}_edges",
        f"{about}: the bound on the clock of each series",
        f"SELECT p.inst, s.series, {st.tie(f'p.{bound}_', 's')} AS closes "
        + _reachable(rows, probes, f"s.definite AND p.{bound}_ts IS NOT NULL"),
    )
    st.add(
        name,
        about,
        f"""SELECT m.inst, {_row(rows)}
            FROM (
                SELECT e.inst, arg_min(r.nr, r.back_nr) AS nr
                FROM {name}_edges AS e {_as_of(rows, "closes")}
                JOIN {rows.name}_ranked AS r ON r.series = e.series AND r.back_place = at_closes.places
                GROUP BY e.inst
            ) AS m
            JOIN {rows.name}_ranked AS t ON t.nr = m.nr""",
    )


# Counts


def count(st: SqlStatement, search: ActSearch) -> None:
    """Add ``_counted``: per probe that any series serves, definite and possible rows, the first row and the
    witnesses.
    """
    name, rows = search.name, search.rows
    _hits(st, search)
    columns = ["coalesce(sum(h.possible) FILTER (WHERE h.channel IS NULL), 0) AS blank"]
    columns += ["arg_min(b.nr, b.back_nr) AS last"] if search.nearest == "last" else ["min(a.nr) AS first"]
    each = range(1, len(search.channels) + 1)
    for i, channel in zip(each, _channels(st, rows.name, search.channels), strict=True):
        where = f"FILTER (WHERE h.channel = {channel})"
        columns += [
            f"coalesce(sum(h.held) {where}, 0) AS held_{i}",
            f"coalesce(sum(h.possible) {where}, 0) AS possible_{i}",
            f"coalesce(sum(h.possible - h.tied) {where}, 0) AS apart_{i}",
            f"{_witness(st, search.nearest, where)} AS witness_{i}",
        ]
    places = {
        "first": [("a", "place", "first_place")],
        "last": [("b", "back_place", "last_place")],
        "closest": [
            ("a", "place", "first_place"),
            ("b", "back_place", "last_before"),
            ("c", "place", "first_after"),
        ],
    }[search.nearest]
    joins = " ".join(
        f"LEFT JOIN {rows.name}_ranked AS {r} ON {r}.series = h.series AND {r}.{place} = h.{n}"
        for r, place, n in places
    )
    st.add(
        f"{name}_channels",
        "Line 5: definite rows (held) and possible ones in the interval per channel; line 20: the row that "
        "bears witness in it",
        f"SELECT h.inst, {', '.join(columns)} FROM {name}_hits AS h {joins} GROUP BY h.inst",
    )
    st.add(
        f"{name}_counted",
        "Line 5: the channels together; a row without a channel (blank) may be a row of any of them",
        f"""SELECT *, {" + ".join(f"held_{i}" for i in each)} AS total, greatest({", ".join(f"held_{i}" for i in each)}) AS most,
                   greatest({", ".join(f"possible_{i}" for i in each)}) + blank AS most_possible,
                   greatest({", ".join(f"apart_{i}" for i in each)}) + blank AS most_apart,
                   {" + ".join(f"CAST(held_{i} > 0 AS INTEGER)" for i in each)} AS holding,
                   [{", ".join(f"witness_{i}" for i in each)}] AS witnesses
            FROM {name}_channels""",
    )


def _witness(st: SqlStatement, nearest: Nearest, where: str) -> str:
    """The event id of the row that bears witness for a channel (V7)."""
    if nearest == "first":
        return f"arg_min(a.event_id, a.nr) {where}"
    if nearest == "last":
        return f"arg_min(b.event_id, b.back_nr) {where}"
    before, after = (
        f"abs(epoch_us({st.end_of(f'{r}.ts', f'{r}.grain')}) - epoch_us(h.at_end))" for r in "bc"
    )
    earlier = (
        f"b.nr IS NOT NULL AND (c.nr IS NULL OR {before} < {after} OR {before} = {after} AND b.nr < c.nr)"
    )
    event, away, nr = (
        f"CASE WHEN {earlier} THEN {of_before} ELSE {of_after} END"
        for of_before, of_after in (("b.event_id", "c.event_id"), (before, after), ("b.nr", "c.nr"))
    )
    return f"arg_min({event}, {struct({'away': away, 'nr': nr})}) {where}"


def _hits(st: SqlStatement, search: ActSearch) -> None:
    """Add ``_hits``: per probe and series, how many rows the interval holds and where they stand."""
    name, rows = search.name, search.rows

    def clock(bound: str, open_end: str, *, after: bool) -> str:
        return (
            f"coalesce(CASE WHEN s.grain IS NOT NULL THEN {st.tie(f'p.{bound}_', 's', after=after)} END, "
            f"{open_end})"
        )

    edges = {
        "opens": clock("lower", _BEGIN, after=search.lower != "in"),
        "closes": clock("upper", _END, after=search.upper == "in"),
    }
    if search.lower == "unknown":
        edges["may_open"] = clock("lower", _BEGIN, after=False)
    if search.upper == "unknown":
        edges["may_close"] = clock("upper", _END, after=True)
    carried = {}
    if search.nearest == "closest":
        half = f"p.at_end - {st.unit('s.grain')} + to_microseconds(2)"
        edges["middle"] = f"least(greatest({half}, {edges['opens']}), {edges['closes']})"
        carried["at_end"] = "p.at_end"
    if rows.common:
        carried |= {"lower_grain": "p.lower_grain", "upper_grain": "p.upper_grain"} | (
            {"off": "s.off"} if st.dates else {}
        )
    st.add(
        f"{name}_edges",
        "Line 19: the bounds on the clock of each series: rows from opens to just before closes are inside"
        + (
            ""
            if "unknown" not in (search.lower, search.upper)
            else ", rows between a bound and its may_ twin tie with it, perhaps inside"
        ),
        "SELECT p.inst, s.series, s.channel, s.definite, "
        f"{', '.join(f'{v} AS {c}' for c, v in (edges | carried).items())} "
        + _reachable(rows, search.probes, "NOT p.empty" if search.from_start else "TRUE"),
    )
    counts = {
        "before": "coalesce(at_opens.places, 0)",
        "until": "greatest(coalesce(at_closes.places, 0), coalesce(at_opens.places, 0))",
    }
    low, high = (
        bound if bound in edges else edge for bound, edge in (("may_open", "opens"), ("may_close", "closes"))
    )
    counts["possible"] = f"greatest(coalesce(at_{high}.places, 0) - coalesce(at_{low}.places, 0), 0)"
    held, first, own_join = "CASE WHEN g.definite THEN g.until - g.before ELSE 0 END", "g.before + 1", ""
    possible = "g.possible"
    if search.skips_own_row:
        st.add(
            f"{name}_own",
            "Line 10: the trigger's own row, which is not looked for",
            f"SELECT p.inst, r.series, r.place FROM {search.probes} AS p JOIN {rows.name}_ranked AS r ON "
            "r.event_id = p.event_id",
        )
        own_join = f"LEFT JOIN {name}_own AS o ON o.inst = e.inst AND o.series = e.series"
        counts["own"] = "o.place"
        mine = "CAST(g.own IS NOT NULL AS INTEGER)"
        held, possible = (
            f"CASE WHEN g.definite THEN g.until - g.before - {mine} ELSE 0 END",
            f"g.possible - {mine}",
        )
        first += " + CAST(coalesce(g.own = g.before + 1, FALSE) AS INTEGER)"
    places = {
        "held": held,
        "possible": possible,
        "tied": f"CASE WHEN g.definite THEN {possible} - ({held}) ELSE 0 END",
    }
    if search.nearest == "last":
        places["last_place"] = f"CASE WHEN {held} > 0 THEN g.until END"
    else:
        places["first_place"] = f"CASE WHEN {held} > 0 THEN {first} END"
    if search.nearest == "closest":
        counts["halfway"] = "greatest(coalesce(at_middle.places, 0), coalesce(at_opens.places, 0))"
        places["last_before"] = "CASE WHEN g.definite AND g.halfway > g.before THEN g.halfway END"
        places["first_after"] = "CASE WHEN g.definite AND g.until > g.halfway THEN g.halfway + 1 END"
        places["at_end"] = "g.at_end"
    inner = ", ".join(
        ["e.inst, e.series, e.channel, e.definite", *(f"{v} AS {c}" for c, v in counts.items())]
    )
    inner += ", e.at_end" if search.nearest == "closest" else ""
    st.add(
        f"{name}_hits",
        "Line 22: the rows of each series inside the interval, and the places of those that are wanted",
        f"""SELECT g.inst, g.series, g.channel, g.before, {", ".join(f"{v} AS {c}" for c, v in places.items())}
            FROM (SELECT {inner} FROM {name}_edges AS e {" ".join(_as_of(rows, edge) for edge in edges)} {own_join}) AS g""",
    )


# Proof, refutation, doubt


def evidence(
    st: SqlStatement,
    search: ActSearch,
    role: RolePlan,
    *,
    number: int = 1,
    timed: tuple[int, ...] = (),
    more: bool = False,
    marked: bool = False,
    match_within: Duration | None = None,
) -> None:
    """Add ``_evidence``: the probes with proven, refuted, doubt (why neither), seen and witnesses (line 5).

    Parameters
    ----------
    number : int
        n of line 5.
    timed : tuple of int
        The numbers, n or n + 1, whose proof is to be timed, in the columns proof_* and proof_more_* of its
        last row; with ``nearest`` last of the last row in the interval.
    more : bool
        Whether proven_more, refuted_more and doubt_more are to say the same of n + 1 (exactly).
    marked : bool
        Whether proof_tie is to say that the proof ties with the lower bound (line 19).
    match_within : Duration or None
        How far apart the rows of one act may lie where several channels must agree.
    """
    name, rows = search.name, search.rows
    count(st, search)
    numbers = {"": number} | ({"_more": number + 1} if more else {})
    bound = {suffix: st.bind(f"{name}_count{suffix}", n) for suffix, n in numbers.items()}
    joins = f"LEFT JOIN {name}_counted AS c ON c.inst = p.inst"
    refutable = len(role.closed_world) >= role.silent
    if refutable:
        _silence(st, search, role, bound)
        joins += f" LEFT JOIN {name}_silence AS q ON q.inst = p.inst"
    if role.k > 1:
        corroborate(st, name, rows.name, rows.by_key, role, match_within)
        joins += f" LEFT JOIN {name}_proof AS f ON f.inst = p.inst"
    unkeyed = "WHEN p.key IS NULL THEN 'unknown_key'" if rows.keyed else ""
    split = (
        f"CASE WHEN c.holding >= {st.bind(f'{name}_k', role.k)} THEN 'split' ELSE 'uncorroborated' END"
        if role.k > 1
        else "'split'"
    )
    columns = []
    for suffix, n in numbers.items():
        b = bound[suffix]
        refuted = "FALSE"
        if refutable:
            refuted = (
                f"coalesce(c.total, 0) < {b} AND coalesce(q.silent{suffix}, 0) >= "
                f"{st.bind(f'{name}_silent', role.silent)}"
            )
        columns += [
            f"{'f.inst IS NOT NULL' if role.k > 1 else f'coalesce(c.most, 0) >= {b}'} AS proven{suffix}",
            f"{refuted} AS refuted{suffix}",
            f"""CASE {unkeyed} WHEN coalesce(c.total, 0) >= {b} THEN {split} WHEN c.most_apart >= {b} THEN 'unknown_match'
                     WHEN c.most_possible >= {b} THEN 'unknown_tie'
                     ELSE '{"uncovered" if refutable else "open_world"}' END AS doubt{suffix}""",
        ]
        if n in timed:
            last = "f.nr" if role.k > 1 else "c.last" if search.nearest == "last" else "c.first"
            if n > 1:
                _nth(st, search, n, f"{name}_nth{suffix}", b)
                joins += f" LEFT JOIN {name}_nth{suffix} AS n{suffix} ON n{suffix}.inst = p.inst"
                last = f"n{suffix}.nr"
            joins += f" LEFT JOIN {rows.name}_ranked AS t{suffix} ON t{suffix}.nr = {last}"
            columns += [f"t{suffix}.{column} AS proof{suffix}_{column}" for column in rows.columns]
            if marked:
                columns.append(
                    f"t{suffix}.ts < {st.tie('p.lower_', f't{suffix}', after=True)} AS proof{suffix}_tie"
                )
    st.add(
        f"{name}_evidence",
        "Line 5: proven, refuted, or in doubt and why" + ("; the last row of the proof" if timed else ""),
        f"""SELECT p.*, {", ".join(columns)}, coalesce(c.total, 0) > 0 AS seen, coalesce(c.witnesses, []) AS witnesses
            FROM {search.probes} AS p {joins}""",
    )


def _silence(st: SqlStatement, search: ActSearch, role: RolePlan, bound: dict[str, str]) -> None:
    """Add ``_silence``: per probe, how many closed-world channels cover its interval and hold too few
    rows.
    """
    name, rows = search.name, search.rows
    names = _channels(st, rows.name, search.channels)
    closed = [(i, names[i - 1]) for i, channel in enumerate(role.rel, 1) if channel in role.closed_world]
    conditions = [f"coalesce(c.total, 0) < {list(bound.values())[-1]}"] + (
        ["p.key IS NOT NULL"] if rows.keyed else []
    )
    possible = (
        "CASE w.channel " + " ".join(f"WHEN {channel} THEN c.possible_{i}" for i, channel in closed) + " END"
    )
    st.add(
        f"{name}_covered",
        "Line 4: closed-world channels that are complete over the whole interval, with the rows they may "
        "hold in it",
        f"""SELECT u.inst, u.possible
            FROM (
                SELECT p.*, w.channel, coalesce({possible} + c.blank, 0) AS possible
                FROM {search.probes} AS p LEFT JOIN {name}_counted AS c ON c.inst = p.inst
                CROSS JOIN (VALUES {", ".join(f"({channel})" for _, channel in closed)}) AS w(channel)
                WHERE {" AND ".join(conditions)}
            ) AS u
            ASOF LEFT JOIN coverage AS v ON v.channel = u.channel AND v.begins <= u.lower_ts
            WHERE v.ends >= {st.passed("u.upper_ts", "u.upper_grain")} {"OR u.empty" if search.from_start else ""}""",
    )
    silent = ", ".join(
        f"count(*) FILTER (WHERE possible < {b}) AS silent{suffix}" for suffix, b in bound.items()
    )
    st.add(
        f"{name}_silence",
        "Line 5: how many of them hold too few",
        f"SELECT inst, {silent} FROM {name}_covered GROUP BY inst",
    )


def _nth(st: SqlStatement, search: ActSearch, number: int, name: str, bound: str) -> None:
    rows = search.rows
    st.add(
        name,
        f"Line 5: the time of the proof: row {number} of the channel that holds so many first (E3)",
        f"""SELECT inst, min(nr) AS nr
            FROM (
                SELECT w.inst, r.nr, row_number() OVER (PARTITION BY w.inst, w.channel ORDER BY r.nr) AS nth
                FROM (
                    SELECT h.inst, h.series, h.channel, h.before + unnest(range(1, least(h.held, {bound}) + 1)) AS place
                    FROM {search.name}_hits AS h JOIN {search.name}_counted AS c ON c.inst = h.inst
                    WHERE c.most >= {bound} AND h.held > 0
                ) AS w
                JOIN {rows.name}_ranked AS r ON r.series = w.series AND r.place = w.place
            ) AS t
            WHERE nth = {bound} GROUP BY inst""",
    )
