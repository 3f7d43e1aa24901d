"""What another number in a rule would do: its violations at every value of a grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from gnrs_ppl.audit.checkable import CheckPlan, check
from gnrs_ppl.audit.compile import Grid, compile_grid, compile_rule
from gnrs_ppl.audit.result import tally
from gnrs_ppl.audit.run import evaluate
from gnrs_ppl.audit.types import Verdict
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import GnrsError, InputError
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.types import COUNTING, LOOK_BACK, NEGATIVE, Constraint, EvidencePolicy, Structure

Number = Literal["deadline", "window", "count", "logs"]
"""What may be varied: the time within which, how long an instance stays open, how often, how many logs
agree."""
NUMBERS: tuple[Number, ...] = get_args(Number)
Value = Duration | int
Field = Literal["role", "object", "location", "month"]
FIELDS: tuple[Field, ...] = ("role", "object", "location", "month")
SMALLEST = 10
"""Groups of fewer matters than this are not shown, unless something else is said."""
MOST_VALUES = 60
UNSAID = "(not recorded)"
"""What groups are called whose rows leave the field out."""
QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95)
_UNLIMITED = Duration(days=36500)
_DAYS = (1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60, 75, 90, 120, 150, 180, 270, 365, 545, 730, 1095, 1460, 1825)
_SECONDS = (60, 120, 300, 600, 900, 1200, 1800, 2700, 3600, 7200, 10800, 14400, 21600, 28800, 43200)
_WORKING = (
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    10,
    12,
    15,
    20,
    25,
    30,
    40,
    50,
    60,
    80,
    100,
    120,
    160,
    200,
    250,
    300,
    400,
    500,
)
_LADDER = tuple(Duration(seconds=n) for n in _SECONDS) + tuple(Duration(days=n) for n in _DAYS)


class Group(NamedTuple):
    """Matters of one kind: how many were called up, and how many of them are violations."""

    name: str
    matters: int
    violated: int


class Groups(NamedTuple):
    """Matters by a field of the row that opened them; ``hidden`` counts the groups too small to show."""

    field: Field
    shown: tuple[Group, ...]
    hidden: int


class Point(NamedTuple):
    """A value, and the verdicts with it; ``refused`` says why there are none."""

    value: Value
    counts: Mapping[Verdict, int]
    cases: int
    refused: str = ""

    @property
    def violated(self) -> int:
        """Instances and constraints that are violated."""
        return self.counts["violated"]

    @property
    def share(self) -> float | None:
        """Violated, of those decided."""
        decided = self.violated + self.counts["satisfied"]
        return self.violated / decided if decided else None


class Custom(NamedTuple):
    """How long the act took where it was done: how many times it was, and the time within which a share of
    them was.
    """

    times: int
    quantiles: Mapping[float, Duration]


@dataclass(frozen=True)
class Impact:
    """What other numbers would do.

    Attributes
    ----------
    number : str
        What is varied, of constraint ``constraint``.
    today : Duration, int or None
        The rule's own value; None where it states none.
    points : tuple of Point
        In the order of the values.
    knee : Duration, int or None
        Where further change begins to matter less; None where the curve has no such place.
    custom : Custom or None
        Today's customary time; None where there is none to measure.
    groups : mapping
        Value -> whom and what it hits; of the rule's own value and the knee.
    smallest : int
        Groups of fewer matters are not shown.
    """

    text: str
    number: Number
    constraint: int
    today: Value | None
    points: tuple[Point, ...]
    knee: Value | None
    custom: Custom | None
    groups: Mapping[Value, tuple[Groups, ...]]
    smallest: int
    log: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs impact``."""
        return {
            "rule": self.text,
            "number": self.number,
            "constraint": self.constraint + 1,
            "today": _plain(self.today),
            "knee": _plain(self.knee),
            "customary": self.custom
            and {
                "times": self.custom.times,
                "quantiles": {f"{q:.0%}": str(length) for q, length in self.custom.quantiles.items()},
            },
            "points": [
                {
                    "value": _plain(p.value),
                    "counts": dict(p.counts),
                    "violated_cases": p.cases,
                    "share": p.share,
                }
                | ({"refused": p.refused} if p.refused else {})
                for p in self.points
            ],
            "hit": [
                {
                    "value": _plain(value),
                    "by": group.field,
                    "groups": [one._asdict() for one in group.shown],
                    "groups_not_shown": group.hidden,
                }
                for value, groups in self.groups.items()
                for group in groups
            ],
            "smallest_group": self.smallest,
            "log": dict(self.log),
        }


def _plain(value: Value | None) -> str | int | None:
    return str(value) if isinstance(value, Duration) else value


def impact(
    structure: Structure,
    records: RecordLayer,
    log: EventLog,
    schema: Schema | None = None,
    *,
    number: Number | None = None,
    constraint: int | None = None,
    values: Sequence[Value] | None = None,
    smallest: int = SMALLEST,
) -> Impact:
    """Violations of a rule at every value of one of its numbers.

    Parameters
    ----------
    structure : Structure
    records : RecordLayer
    log : EventLog
    schema : Schema, optional
        Words for the names.
    number : {"deadline", "window", "count", "logs"}, optional
        What is varied; the first that the rule states where left out.
    constraint : int, optional
        The constraint of the norm whose deadline or count it is, from 0; the first that states one where left
        out.
    values : sequence of Duration or int, optional
        The values; round ones about the rule's own and about what is customary where left out.
    smallest : int
        Groups of fewer matters are not shown.

    Raises
    ------
    InputError
        The rule has no such number or no such constraint, is a permission, or takes more values than that.
    Refused
        The rule can be checked at none of the values.
    """
    if structure.norm.force == "may":
        raise InputError("a permission has no violations", "name a rule that binds or advises")
    number, constraint = _chosen(structure, number, constraint)
    today = _value(structure, number, constraint)
    timed = number in ("deadline", "window")
    strays = [v for v in values or () if isinstance(v, Duration) != timed or v == 0]
    if strays:
        kind = "a length of time such as P30D" if timed else "a number from 1 on"
        problem = f"{strays[0]} is not {kind}, as {number} asks"
        raise InputError(problem, f"write {kind}", source="arguments", field="--values")
    working = [v for v in (today, *(values or ())) if isinstance(v, Duration) and v.working]
    if working and records.calendar is None:
        raise InputError(
            f"{working[0]} is working time, and the records declare no calendar",
            "declare records.calendar",
            source="arguments",
            field=number,
        )
    custom = _custom(structure, constraint, records, log, smallest) if number == "deadline" else None
    grid = sorted(
        {
            *(values or _grid(structure, number, constraint, today, custom, records)),
            *([today] if today else []),
        },
        key=_size,
    )
    if len(grid) > MOST_VALUES:
        raise InputError(
            f"are {len(grid)}", f"name at most {MOST_VALUES}", source="arguments", field="--values"
        )
    plans: dict[Value, CheckPlan] = {}
    refused: dict[Value, GnrsError] = {}
    for value in grid:
        try:
            plans[value] = check(with_value(structure, number, constraint, value), records, log)
        except GnrsError as error:
            refused[value] = error
        except ValueError:  # more logs than the rule cites, a count beyond the greatest
            refused[value] = InputError(f"{_plain(value)} is too many", "name fewer", field=number)
    if not plans:
        raise next(iter(refused.values()))
    lengths = tuple(value for value in plans if isinstance(value, Duration))
    at_once = bool(lengths) and not any(length.working for length in lengths)
    tried = Grid(lengths, constraint if number == "deadline" else None) if at_once else None
    counts, cases, hits = _counted(plans, tried, log)
    places = {value: place for place, value in enumerate(plans)}
    points = tuple(
        Point(value, tally(()), 0, str(refused[value]))
        if value in refused
        else Point(value, counts[places[value]], cases[places[value]])
        for value in grid
    )
    knee = _knee([point for point in points if not point.refused])
    lexicon = Lexicon.of(schema or Schema(), records).including(structure)
    return Impact(
        render(structure, lexicon, records.dates_only),
        number,
        constraint,
        today,
        points,
        knee,
        custom,
        {
            value: tuple(_groups(field, hits.get((places[value], field), {}), smallest) for field in FIELDS)
            for value in dict.fromkeys((today, knee))
            if value is not None and value in places
        },
        smallest,
        log.described,
    )


def read_values(text: str) -> list[Value]:
    """Values out of a line, such as ``P30D,P60D`` or ``1,2,3``; raises InputError."""
    values: list[Value] = []
    for part in text.split(","):
        try:
            values.append(int(part) if part.strip().isdecimal() and len(part) < 6 else Duration.parse(part))
        except ValueError as error:
            raise InputError(
                str(error), "write values as P30D,P60D or 1,2,3", source="arguments", field="--values"
            ) from None
    return values


def _chosen(structure: Structure, number: Number | None, constraint: int | None) -> tuple[Number, int]:
    """What is varied, of which constraint."""
    constraints = structure.norm.constraints
    if constraint is not None and not 0 <= constraint < len(constraints):
        raise InputError(
            f"the rule has {len(constraints)} constraints",
            f"name 1 to {len(constraints)}",
            source="arguments",
            field="--constraint",
        )
    places = range(len(constraints)) if constraint is None else [constraint]
    timed = [i for i in places if constraints[i].deadline is not None]
    counted = [i for i in places if constraints[i].template in COUNTING]
    if number is None:
        several = len(structure.evidence.channels) > 1
        number = (
            "deadline"
            if timed
            else "window"
            if structure.trigger.window is not None
            else "count"
            if counted
            else "logs"
            if several
            else "deadline"
        )
    if number == "count" and not counted:
        raise InputError(
            f"count goes with {', '.join(COUNTING)}, and the rule has none of them",
            f"name one of {', '.join(n for n in NUMBERS if n != 'count')}",
            source="arguments",
            field="--vary",
        )
    first = counted if number == "count" else timed if number == "deadline" else []
    return number, (first or list(places))[0]


def _value(structure: Structure, number: Number, constraint: int) -> Value | None:
    """The rule's own value."""
    chosen = structure.norm.constraints[constraint]
    if number == "logs":
        return structure.evidence.needed(len(structure.evidence.channels))
    return {"deadline": chosen.deadline, "window": structure.trigger.window, "count": chosen.count}[number]


def with_value(structure: Structure, number: Number, constraint: int, value: Value) -> Structure:
    """The rule with another number."""
    if number == "window":
        return structure.model_copy(
            update={"trigger": structure.trigger.model_copy(update={"window": value})}
        )
    if number == "logs":
        channels = structure.evidence.channels
        policy = EvidencePolicy.model_validate({"channels": channels, "operator": "at_least", "k": value})
        return structure.model_copy(update={"evidence": policy})
    return _with_constraint(structure, constraint, {number: value})


def _with_constraint(structure: Structure, constraint: int, update: Mapping[str, Any]) -> Structure:
    constraints = list(structure.norm.constraints)
    data = constraints[constraint].model_dump() | dict(update)
    constraints[constraint] = Constraint.model_validate(data)
    norm = structure.norm.model_copy(update={"constraints": tuple(constraints)})
    return structure.model_copy(update={"norm": norm})


def _custom(
    structure: Structure, constraint: int, records: RecordLayer, log: EventLog, smallest: int
) -> Custom | None:
    """How long the act takes where it is done at all, from a check of it alone without a limit; None where it
    is done fewer times than a group must have.
    """
    chosen = structure.norm.constraints[constraint]
    negative = chosen.template in NEGATIVE and chosen.template not in LOOK_BACK and chosen.count == 1
    if not negative and chosen.template not in ("response", "existence"):
        return None
    update: dict[str, Any] = {"deadline": _UNLIMITED, "unless": None, "ties": None}
    update |= {"template": "response", "correlate": structure.norm.correlation(chosen)} if negative else {}
    alone = _with_constraint(structure, constraint, update)
    norm = alone.norm.model_copy(
        update={"constraints": (alone.norm.constraints[constraint],), "force": "must"}
    )
    trigger = structure.trigger if chosen.after else structure.trigger.model_copy(update={"window": None})
    try:
        found = evaluate(alone.model_copy(update={"norm": norm, "trigger": trigger}), records, log)
    except GnrsError:
        return None
    limit = _UNLIMITED.days * 86400
    delays = sorted(limit - v.slack_seconds for v in found if v.verdict == "satisfied" and v.slack_seconds)
    if not delays or len(delays) < smallest:
        return None
    reached = {q: delays[max(0, math.ceil(q * len(delays)) - 1)] for q in QUANTILES}
    return Custom(len(delays), {q: _rounded(seconds) for q, seconds in reached.items()})


def _rounded(seconds: float) -> Duration:
    """A length of time, up to the next whole day, hour, minute or second: the longest it holds two of."""
    unit = next((unit for unit in (86400, 3600, 60) if seconds > 2 * unit), 1)
    whole = max(1, math.ceil(seconds / unit)) * unit
    days, rest = divmod(whole, 86400)
    return Duration(days=days, seconds=rest)


def _size(value: Value) -> float:
    return value.shortest_seconds() if isinstance(value, Duration) else float(value)


def _grid(
    structure: Structure,
    number: Number,
    constraint: int,
    today: Value | None,
    custom: Custom | None,
    records: RecordLayer,
) -> list[Value]:
    """Round values about the rule's own and what is customary."""
    if number == "logs":
        return list(range(1, len(structure.evidence.channels) + 1))
    if not isinstance(today, Duration) and number == "count":
        return list(range(1, max(10, 2 * int(today or 1)) + 1))
    if isinstance(today, Duration) and today.working:
        amount = today.working_days or today.working_hours
        near = [n for n in _WORKING if amount / 4 <= n <= 4 * amount]
        return [Duration(**{"working_days" if today.working_days else "working_hours": n}) for n in near]
    marks = [length.shortest_seconds() for length in custom.quantiles.values()] if custom else []
    own = [_size(today)] if today else []
    low = min([*(m / 2 for m in own), *marks[:2]], default=0)
    high = max([*(2 * m for m in own), *marks[-2:]], default=math.inf)
    ladder = [value for value in _LADDER if low / 2 <= _size(value) <= high]
    return [*ladder, *(custom.quantiles.values() if custom else ())] or list(_LADDER)


_TAIL = """SELECT v.{point} AS at_point, v.verdict,
                  GROUPING_ID(o."role", o."object", o."location", o."month") AS level,
                  coalesce(o."role", o."object", o."location", o."month") AS name, count(*) AS rows,
                  count(DISTINCT v.case_id) AS cases
           FROM {verdicts} AS v LEFT JOIN (
               SELECT event_id AS instance, case_id, "role", "object", "location",
                      strftime("timestamp" + to_minutes(coalesce("offset", 0)), '%Y-%m') AS "month"
               FROM events
               UNION ALL SELECT case_id, case_id, NULL, NULL, NULL,
                      strftime(min("timestamp" + to_minutes(coalesce("offset", 0))), '%Y-%m')
               FROM events GROUP BY case_id
           ) AS o ON o.instance = v.instance AND o.case_id = v.case_id
           GROUP BY GROUPING SETS ((at_point, v.verdict), (at_point, v.verdict, o."role"),
               (at_point, v.verdict, o."object"), (at_point, v.verdict, o."location"),
               (at_point, v.verdict, o."month"))"""
_LEVELS: dict[int, Field] = {0b0111: "role", 0b1011: "object", 0b1101: "location", 0b1110: "month"}

Hits = dict[str | None, dict[Verdict, int]]


def _counted(
    plans: Mapping[Value, CheckPlan], grid: Grid | None, log: EventLog
) -> tuple[dict[int, dict[Verdict, int]], dict[int, int], dict[tuple[int, Field], Hits]]:
    """Verdicts and violated cases at each point, and verdicts by what the opening rows say.

    Lengths of time are all tried in one query; other numbers and working time have a query each.
    """
    counts = {place: tally(()) for place in range(len(plans))}
    cases = dict.fromkeys(counts, 0)
    hits: dict[tuple[int, Field], Hits] = {}
    rows: list[tuple[int, Verdict, int, str | None, int, int]] = []
    if grid is not None:
        plan = next(iter(plans.values()))
        query = compile_grid(plan, grid, _TAIL.format(point="point", verdicts="verdicts"))
        rows = log.connection.execute(query.sql, query.parameters).fetchall()
    for place, plan in enumerate(plans.values() if grid is None else ()):
        query = compile_rule(plan)
        tail = _TAIL.format(point="place", verdicts=f"(SELECT *, {place} AS place FROM ({query.sql}))")
        rows += log.connection.execute(tail, query.parameters).fetchall()
    for point, verdict, level, name, many, in_cases in rows:
        if level in _LEVELS:
            hits.setdefault((point, _LEVELS[level]), {}).setdefault(name, tally(()))[verdict] = many
        else:
            counts[point][verdict] = many
            cases[point] = in_cases if verdict == "violated" else cases[point]
    return counts, cases, hits


def _groups(field: Field, hits: Hits, smallest: int) -> Groups:
    """Groups large enough to be shown; one that is hidden alone could be had by subtraction, so the next
    smallest goes with it. Rows that leave the field out are no group of people, and the last to be hidden.
    """
    found = [
        Group(name if name is not None else UNSAID, sum(counts.values()), counts["violated"])
        for name, counts in hits.items()
    ]
    found.sort(key=lambda group: (group.name == UNSAID, group.matters, group.name))
    small = sum(group.matters < smallest and group.name != UNSAID for group in found)
    hidden = small + (1 if small == 1 and len(found) > 1 else 0)
    shown = sorted(found[hidden:], key=lambda g: g.name if field == "month" else (-g.violated, g.name))
    return Groups(field, tuple(shown), hidden)


def _knee(points: Sequence[Point]) -> Value | None:
    """The value at which violations lie furthest below, or above, the straight line between both ends.

    None of fewer than four points, and where the curve hardly bends.
    """
    if len(points) < 4:
        return None
    xs, ys = [_size(point.value) for point in points], [point.violated for point in points]
    if ys[0] == ys[-1] or xs[0] == xs[-1]:
        return None
    bends = [
        ((x - xs[0]) / (xs[-1] - xs[0])) - ((y - ys[0]) / (ys[-1] - ys[0]))
        for x, y in zip(xs, ys, strict=True)
    ]
    place = min(range(len(bends)), key=lambda i: (bends[i], i))
    return points[place].value if bends[place] < -0.05 else None
