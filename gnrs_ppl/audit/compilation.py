"""What the parts of one check share while it is compiled: the plan, the SELECT under construction, and the
lengths of time that are tried in place of one.
"""

from __future__ import annotations

from typing import NamedTuple

from gnrs_ppl.audit.calendar import WorkingTime
from gnrs_ppl.audit.checkable import CheckPlan
from gnrs_ppl.audit.evidence import SortedRows, add_set_aside
from gnrs_ppl.audit.sql import SqlStatement
from gnrs_ppl.audit.twice import EVENTS
from gnrs_ppl.audit.zoned import ZoneTime
from gnrs_ppl.context.time import Duration
from gnrs_ppl.rule.types import durations_of

PARTS = ("months", "days", "seconds")


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


class Compilation:
    """A check under construction.

    Parameters
    ----------
    plan : CheckPlan
        What ``check`` found.
    grid : Grid, optional
        Lengths of time to try in place of one that the plan states.
    """

    def __init__(self, plan: CheckPlan, grid: Grid | None = None) -> None:
        if grid is not None and any(value.working for value in grid.values):
            raise ValueError("a grid holds no working time: a calendar counts each length by itself")
        self.plan, self.records, self.grid = plan, plan.records, grid
        self.carried = "".join(f", grid_{part}" for part in PARTS) if grid else ""
        used = [*plan.constraints, *plan.steps]
        roles = [role for c in used for role in (c.target, c.unless) if role is not None]
        grains = set(plan.grains) | {role.grain for role in roles if role.k > 1}
        if self.records.quiet_after is not None or not grains:
            grains.add("microsecond")
        self.working = WorkingTime.of(plan.structure, plan.records, plan.extent)
        self.zone = self._zone_time()
        again = (t.ahead - t.back for t in plan.twice)
        shifts = self.zone.shifts if self.zone else ()
        offsets = tuple(sorted({*plan.offsets, *again, *self.working.shifts, *shifts}))
        uneven = self.zone.uneven if self.zone else None
        self.st = SqlStatement(grains, offsets, plan.attributes, plan.records.automatic, uneven)
        self.case, self.event = "case_id", "event_id"  # the columns by which instances are named
        if plan.set_aside:
            self.st.events = add_set_aside(self.st)
        if plan.of_any_case:
            self.st.of_any_case = max((c.count for c in used), default=1) + 1
        self.rows = self.st.events
        if plan.twice:
            self.st.events, self.case, self.event = EVENTS, "written_case", "written_event"
        self.rel = tuple(sorted({channel for role in roles for channel in role.rel}))
        self.closing: SortedRows | None = None
        self.mutual = any(c.opener for c in plan.constraints)

    def _zone_time(self) -> ZoneTime | None:
        """The clocks of the zone that the records name, as far as the rule can reach."""
        if self.records.zone is None:
            return None
        days = self.working.days
        counted = range(days[0][0].year, days[-1][0].year + 1) if days else ()
        lengths = [*durations_of(self.plan.structure), *(self.grid.values if self.grid else ())]
        quiet = self.records.quiet_after
        return ZoneTime.of(
            self.records.zone, {*self.plan.years, *counted}, [*lengths, *([quiet] if quiet else [])]
        )
