"""Whether the records still are what a rule was grounded in: silences, new names, empty cells, and a violated
share that moved more than chance.

Every test gets an equal share of one false-alarm rate (Bonferroni), so that a log which goes on as it was
raises any alarm at all at most so often.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, timedelta
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from gnrs_ppl.errors import InputError
from gnrs_ppl.history.changes import latest_pairs
from gnrs_ppl.history.grounding import Recorded, recorded
from gnrs_ppl.history.store import Run, opened, runs_of

if TYPE_CHECKING:
    import duckdb

FALSE_ALARMS: Final = 0.01
"""How often a log that goes on as it was raises an alarm, at most."""
WEEK: Final = 7
FEWEST_WEEKS: Final = 4
"""Weeks of an earlier log below which nothing is known of how unevenly its rows come."""

Kind = Literal["channel_silent", "activity_silent", "activity_renamed", "empty_cells", "violated_share"]


class Alarm(NamedTuple):
    """Something that is not as it was.

    Attributes
    ----------
    kind : str
    name : str
        The channel, activity or column; the rule for its violated share.
    says : str
        One sentence with the counts.
    p : float
        How probable such a change, or a greater one, is by chance.
    """

    kind: Kind
    name: str
    says: str
    p: float


class Decided(NamedTuple):
    """Cases that a rule decided, and those of them that it found violated."""

    cases: int
    violated: int


class Drift(NamedTuple):
    """What drifted between two runs.

    Attributes
    ----------
    since, until : Run
    tests : int
        How many were made; each has the false-alarm rate over this number.
    alarms : tuple of Alarm
        Those beyond chance, least probable first.
    notes : tuple of str
        What was compared, and what could not be.
    """

    since: Run
    until: Run
    tests: int
    alarms: tuple[Alarm, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON of the drift of one rule."""
        return {
            "rule": self.until.rule,
            "since": self.since.run,
            "until": self.until.run,
            "false_alarm_rate": FALSE_ALARMS,
            "tests": self.tests,
            "alarms": [alarm._asdict() for alarm in self.alarms],
            "notes": list(self.notes),
        }


def drift(path: Path, since: int | None = None) -> list[Drift]:
    """What drifted in the records of each rule of a store.

    Parameters
    ----------
    path : Path
        The store.
    since : int, optional
        Run to compare the latest of the same rule with; each rule's last run but one where left out.

    Raises
    ------
    InputError
        No store, no such run, no rule with two runs, or a run without a dated row.
    """
    with opened(path) as connection:
        pairs = latest_pairs(runs_of(connection), since, str(path))
        if not pairs:
            raise InputError("no rule has two runs yet", "audit a later log with --store", source=str(path))
        return [_drift(connection, a, b, str(path)) for a, b in pairs]


def _drift(connection: duckdb.DuckDBPyConnection, since: Run, until: Run, source: str) -> Drift:
    before, now = recorded(connection, since.run), recorded(connection, until.run)
    if before is None or now is None:
        run = since.run if before is None else until.run
        raise InputError(f"no row of run {run} is dated", "compare other runs with --since", source=source)
    tests, notes = compare(before, now)
    if since.version == until.version:
        further = now.last > before.last
        tests += share_test(until.rule, *_decided(connection, since.run, until.run, only_new=further))
    else:
        notes.append("the rule itself is another one than in the earlier run, so its shares are not compared")
    return Drift(since, until, len(tests), alarms_of(tests), tuple(notes))


def alarms_of(tests: list[Alarm]) -> tuple[Alarm, ...]:
    """The tests whose change is beyond chance; in a silent channel the channel alone."""
    found = sorted((test for test in tests if test.p <= FALSE_ALARMS / len(tests)), key=lambda t: t.p)
    silent = tuple(f"{alarm.name}: " for alarm in found if alarm.kind == "channel_silent")
    return tuple(a for a in found if a.kind == "channel_silent" or not a.name.startswith(silent or "\0"))


def compare(before: Recorded, now: Recorded) -> tuple[list[Alarm], list[str]]:
    """A test of each channel, activity and column, and what is to be known of them.

    Parameters
    ----------
    before, now : Recorded
        The earlier log and the later one. Where the later goes further, only its days after the earlier one
        are held against that, else all of them.
    """
    start = before.last + timedelta(days=1) if now.last > before.last else now.first
    notes = [f"{start} to {now.last} held against {before.first} to {before.last}"]
    length = (before.last - before.first).days + 1
    tests = []
    if length < FEWEST_WEEKS * WEEK:
        notes.append(f"{length} days are too few to tell a silence: {FEWEST_WEEKS} weeks are needed")
    else:
        for channel in sorted({channel for channel, _ in before.rows}):
            tests += _silence(
                "channel_silent",
                channel,
                _of_channel(before, channel),
                _of_channel(now, channel),
                before,
                now,
            )
        for channel, activity in sorted(before.rows):
            pair = channel, activity
            found = _silence(
                "activity_silent",
                f"{channel}: {activity}",
                before.rows[pair],
                now.rows.get(pair, {}),
                before,
                now,
            )
            tests += [_renamed(alarm, pair, before, now, start) for alarm in found]
    for pair in sorted(now.rows.keys() - before.rows.keys()):
        notes.append(f"{pair[1]!r} in {pair[0]!r} is new: {sum(now.rows[pair].values()):,} rows")
    for name in sorted(before.cells):
        later = {day: cell for day, cell in now.cells.get(name, _all_empty(now)).items() if day >= start}
        tests += _empty_cells(name, before.cells[name], later)
    return tests, notes


def _of_channel(log: Recorded, channel: str) -> dict[date, int]:
    total: dict[date, int] = {}
    for (name, _), days in log.rows.items():
        if name == channel:
            for day, rows in days.items():
                total[day] = total.get(day, 0) + rows
    return total


def _all_empty(log: Recorded) -> dict[date, tuple[int, int]]:
    """The cells of a column that a log no longer fills at all."""
    total: dict[date, int] = {}
    for days in log.rows.values():
        for day, rows in days.items():
            total[day] = total.get(day, 0) + rows
    return {day: (rows, rows) for day, rows in total.items()}


def _silence(
    kind: Kind, name: str, then: Mapping[date, int], days: Mapping[date, int], before: Recorded, now: Recorded
) -> list[Alarm]:
    """Whether the silence at the end is longer than any before, and improbable for rows that come as unevenly
    as they did: negative binomial counts, with the variance of whole weeks over their mean.
    """
    silent = (now.last - max(days, default=now.first - timedelta(days=1))).days
    known = [before.first - timedelta(days=1), *sorted(then), before.last + timedelta(days=1)]
    longest = max((b - a).days - 1 for a, b in pairwise(known))
    length = (before.last - before.first).days + 1
    weeks = np.zeros(length // WEEK)
    for day, rows in then.items():
        place = (day - before.first).days // WEEK
        if place < len(weeks):
            weeks[place] += rows
    mean = sum(then.values()) / length * silent
    spread = float(weeks.var(ddof=1) / weeks.mean()) if weeks.any() else 1.0
    p = _none_of(mean, spread) if silent > longest else 1.0
    says = f"no row for {silent:,} days, never more than {longest:,} before, when {mean:,.1f} were to be expected"
    return [Alarm(kind, name, says, p)]


def _none_of(mean: float, spread: float) -> float:
    """Probability of no row at all, where counts have a mean and a variance over mean."""
    return math.exp(-mean) if spread <= 1 else spread ** (-mean / (spread - 1))


def _renamed(alarm: Alarm, pair: tuple[str, str], before: Recorded, now: Recorded, start: date) -> Alarm:
    """The same alarm as a change of name, where the channel has an act that it did not have before."""
    appeared = [
        other
        for other, days in now.rows.items()
        if other[0] == pair[0] and other not in before.rows and max(days) >= start
    ]
    if not appeared or alarm.p > FALSE_ALARMS:
        return alarm
    _, new = max(appeared, key=lambda other: (SequenceMatcher(None, pair[1], other[1]).ratio(), other))
    return alarm._replace(kind="activity_renamed", says=f"{alarm.says}; {new!r} has come instead")


def _empty_cells(
    name: str, then: Mapping[date, tuple[int, int]], later: Mapping[date, tuple[int, int]]
) -> list[Alarm]:
    """Whether more cells are empty than before: Fisher's exact test, one-sided, with counts divided by how
    unevenly the earlier days share the empty cells (Pearson's dispersion).
    """
    rows, empty = (sum(day[i] for day in then.values()) for i in (0, 1))
    more, lacking = (sum(day[i] for day in later.values()) for i in (0, 1))
    if not more:
        return []
    share = empty / rows
    spread = 1.0
    if 0 < share < 1 and len(then) > 1:
        days = np.array(list(then.values()), dtype=float)
        parts = (days[:, 1] - days[:, 0] * share) ** 2 / (days[:, 0] * share * (1 - share))
        spread = max(1.0, float(parts.sum()) / (len(then) - 1))
    p = _fisher(lacking / spread, more / spread, empty / spread, rows / spread, "greater")
    says = f"{lacking:,} of {more:,} cells are empty ({lacking / more:.1%}), before {empty:,} of {rows:,} ({share:.1%})"
    return [Alarm("empty_cells", name, says, p)]


def share_test(rule: str, then: Decided, later: Decided) -> list[Alarm]:
    """Whether the violated share of the cases decided since is another one than before: Fisher's exact test,
    two-sided.
    """
    if not then.cases or not later.cases:
        return []
    p = _fisher(later.violated, later.cases, then.violated, then.cases, "two-sided")
    says = (
        f"{later.violated:,} of {later.cases:,} cases decided since are violated ({later.violated / later.cases:.1%}), "
        f"before {then.violated:,} of {then.cases:,} ({then.violated / then.cases:.1%})"
    )
    return [Alarm("violated_share", rule, says, p)]


def _fisher(
    hits: float, of: float, before: float, of_before: float, side: Literal["greater", "two-sided"]
) -> float:
    from scipy.stats import fisher_exact

    table = np.array(
        [[math.floor(hits), math.floor(of - hits)], [math.ceil(before), math.ceil(of_before - before)]]
    )
    return float(fisher_exact(table, alternative=side).pvalue)


def _decided(
    connection: duckdb.DuckDBPyConnection, since: int, until: int, *, only_new: bool
) -> tuple[Decided, Decided]:
    """Cases decided in the earlier run; and in the later one, those alone that the earlier had not decided
    where ``only_new``.
    """
    rows = connection.execute(
        """WITH by_case AS (
               SELECT run, case_id, bool_or(verdict = 'violated') AS violated FROM verdicts
               WHERE part = 'norm' AND run IN ($since, $until) AND verdict IN ('satisfied', 'violated') GROUP BY ALL)
           SELECT run = $until AS later, count(*), count(*) FILTER (violated) FROM by_case AS c
           WHERE run = $since OR NOT $only_new OR NOT EXISTS (
               SELECT 1 FROM by_case AS b WHERE b.run = $since AND b.case_id = c.case_id)
           GROUP BY ALL""",
        {"since": since, "until": until, "only_new": only_new},
    ).fetchall()
    held = {later: Decided(cases, violated) for later, cases, violated in rows}
    return held.get(False, Decided(0, 0)), held.get(True, Decided(0, 0))
