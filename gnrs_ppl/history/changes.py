"""What became of each violation between two runs of one rule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from gnrs_ppl.audit.types import Reason, Verdict
from gnrs_ppl.errors import InputError
from gnrs_ppl.history.store import Run, opened, runs_of

if TYPE_CHECKING:
    import duckdb

Change = Literal["new", "reopened", "still_open", "fixed", "undecided", "gone"]
"""What became of a violation: see :class:`Matter`."""
CHANGES: Final[tuple[Change, ...]] = get_args(Change)


class Matter(NamedTuple):
    """An instance and constraint that is violated in one of two runs.

    Attributes
    ----------
    change : Change
        new: violated now, and never before. reopened: violated now, and in an earlier run after which it was
        not. still_open: violated in both. fixed: was violated, now satisfied, excused or not activated.
        undecided: was violated, now pending or indeterminate. gone: was violated, and the log no longer holds
        such an instance.
    verdict, reason
        Of the later run; None where it is gone.
    """

    change: Change
    case_id: str
    instance: str
    constraint: int
    of_target: bool
    verdict: Verdict | None
    reason: Reason | None


class CasesChanged(NamedTuple):
    """How many cases a later log has more, shows with other rows, and lacks."""

    new: int
    other: int
    gone: int


class Changes(NamedTuple):
    """What became of the violations of a rule from one run to another, and of the cases they were found in."""

    since: Run
    until: Run
    matters: tuple[Matter, ...]
    cases: CasesChanged

    @property
    def counts(self) -> dict[Change, int]:
        """Matters by what became of them, zeros kept."""
        return {c: sum(m.change == c for m in self.matters) for c in CHANGES}

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader must know before the counts."""
        notes = []
        if self.since.version != self.until.version:
            notes.append("the rule itself is another one than in the earlier run")
        if self.since.log == self.until.log:
            notes.append("both runs audited the same log")
        else:
            new, other, gone = self.cases
            notes.append(
                f"the log is another one: {new:,} cases are new, {other:,} have other rows, {gone:,} are gone"
            )
        return tuple(notes)

    def as_dict(self) -> dict[str, Any]:
        """JSON of the changes."""
        return {
            "rule": self.until.rule,
            "since": self.since.run,
            "until": self.until.run,
            "counts": self.counts,
            "cases": self.cases._asdict(),
            "notes": list(self.notes),
            "matters": [m._asdict() for m in self.matters],
        }


class History(NamedTuple):
    """The runs of a store, and what changed in each rule since an earlier run."""

    runs: tuple[Run, ...]
    changes: tuple[Changes, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs history``."""
        return {
            "runs": [run.as_dict() for run in self.runs],
            "changes": [changes.as_dict() for changes in self.changes],
        }


def history(path: Path, since: int | None = None) -> History:
    """What a store holds.

    Parameters
    ----------
    path : Path
        The store.
    since : int, optional
        Run to compare the latest of the same rule with; each rule's last run but one where left out.

    Raises
    ------
    InputError
        No store, no such run, or no later one of its rule.
    """
    with opened(path) as connection:
        runs = runs_of(connection)
        pairs = latest_pairs(runs, since, str(path))
        return History(tuple(runs), tuple(_changes(connection, a, b, runs) for a, b in pairs))


def latest_pairs(runs: list[Run], since: int | None, source: str) -> list[tuple[Run, Run]]:
    """An earlier run and the latest of each rule, or of the rule of one run; refuses a run that is none."""
    by_rule: dict[str, list[Run]] = {}
    for run in runs:
        by_rule.setdefault(run.rule, []).append(run)
    if since is None:
        return [(of_rule[-2], of_rule[-1]) for of_rule in by_rule.values() if len(of_rule) > 1]
    base = next((run for run in runs if run.run == since), None)
    if base is None:
        last = f"name one of 1 to {runs[-1].run}" if runs else "it holds no run"
        raise InputError(f"holds no run {since}", last, source=source, field="--since")
    latest = by_rule[base.rule][-1]
    if latest is base:
        raise InputError(
            f"run {since} is the last of {base.rule!r}", "name an earlier one", source=source, field="--since"
        )
    return [(base, latest)]


def _changes(connection: duckdb.DuckDBPyConnection, since: Run, until: Run, runs: list[Run]) -> Changes:
    """Matters violated in either run; a matter is told by its case, instance, constraint and half."""
    of_rule = [run.run for run in runs if run.rule == until.rule and run.run < until.run]
    found = connection.execute(
        """WITH of_rule AS (
               SELECT v.* FROM verdicts AS v
               WHERE part = 'norm' AND (run = $until OR list_contains($earlier::INTEGER[], run))),
           keys AS (
               SELECT case_id, instance, "constraint", of_target,
                      min(run) FILTER (verdict = 'violated' AND run < $until) AS first_broken
               FROM of_rule WHERE verdict = 'violated' GROUP BY ALL),
           spells AS (  -- how many earlier runs from the first violation on found it violated
               SELECT case_id, instance, "constraint", of_target, first_broken,
                      count(*) FILTER (verdict = 'violated' AND run >= first_broken AND run < $until) AS broken
               FROM keys JOIN of_rule USING (case_id, instance, "constraint", of_target) GROUP BY ALL),
           both_runs AS (
               SELECT s.*, base.verdict IS NOT DISTINCT FROM 'violated' AS was, now.verdict, now.reason,
                      len(list_filter($earlier::INTEGER[], lambda r: r >= s.first_broken)) AS runs_since
               FROM spells AS s
               LEFT JOIN of_rule AS base ON base.run = $since AND base.case_id = s.case_id AND base.instance = s.instance
                    AND base."constraint" = s."constraint" AND base.of_target = s.of_target
               LEFT JOIN of_rule AS now ON now.run = $until AND now.case_id = s.case_id AND now.instance = s.instance
                    AND now."constraint" = s."constraint" AND now.of_target = s.of_target)
           SELECT CASE WHEN verdict = 'violated' AND was THEN 'still_open'
                       WHEN verdict = 'violated' AND first_broken IS NOT NULL AND broken < runs_since THEN 'reopened'
                       WHEN verdict = 'violated' THEN 'new'
                       WHEN verdict IS NULL THEN 'gone'
                       WHEN verdict IN ('pending', 'indeterminate') THEN 'undecided'
                       ELSE 'fixed' END AS change,
                  case_id, instance, "constraint", of_target, verdict, reason
           FROM both_runs WHERE was OR verdict = 'violated'
           ORDER BY case_id, instance, "constraint", of_target""",
        {"until": until.run, "since": since.run, "earlier": of_rule},
    ).fetchall()
    (cases,) = connection.execute(
        """SELECT count(*) FILTER (was.digest IS NULL), count(*) FILTER (was.digest <> now.digest),
                  count(*) FILTER (now.digest IS NULL)
           FROM (SELECT case_id, digest FROM cases WHERE run = $since) AS was
           FULL JOIN (SELECT case_id, digest FROM cases WHERE run = $until) AS now USING (case_id)""",
        {"since": since.run, "until": until.run},
    ).fetchall()
    return Changes(since, until, tuple(Matter(*row) for row in found), CasesChanged(*cases))
