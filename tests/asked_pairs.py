"""Random (rule, log) pairs that ask in one way: by one test of data, one correlation, one kind of working time or one
kind of exception. Each is a pair of ``directed_pairs.py`` of a template that can ask so, with the way put on it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import cells
from cells import Outcome
from data_pairs import ATTRIBUTES
from directed_pairs import Direction, Pair, directed
from working_pairs import random_calendar

from gnrs_ppl.rule.types import IMPLEMENTED, IN_THE_MEANTIME, LOOK_BACK, MUTUAL, NEIGHBOURS

NAMES = [attribute["name"] for attribute in ATTRIBUTES]
TESTS: dict[str, tuple[Any, str, str]] = {
    "equal": (20, "20.00", "30"), "not_equal": (20, "30", "20"), "less": (20, "10", "20"),
    "at_most": (20, "20", "30"), "more": (20, "30", "20"), "at_least": (20, "20", "10"),
    "one_of": ([20, 30], "30", "10"), "between": ([10, 20], "20", "30"), "recorded": ((), "10", ""),
}  # fmt: skip
"""Per test what is compared with, a cell that meets it and one that does not."""
COMPARING = ("equal", "not_equal", "less", "at_most", "more", "at_least")
"""Tests that take another attribute, which holds 20 here."""
ONE_WAY = tuple(t for t in IMPLEMENTED if t not in (*NEIGHBOURS, *MUTUAL))
"""Templates whose act may be compared with the activation (D5)."""
APART = (*ONE_WAY, "coexistence", "succession", "not_succession")
"""Templates whose act may be by another person than the activation (D7)."""
TIMED = tuple(t for t in IMPLEMENTED if t not in ("init", "end"))
WINDOWED = tuple(t for t in TIMED if t not in LOOK_BACK)
"""Templates that a window ends where there is no deadline (I1)."""


@dataclass(frozen=True)
class Way:
    """A way of asking: the templates that can, what is put on a pair, and the reasons that it rules out."""

    put: Callable[[Direction], None]
    templates: tuple[str, ...] = IMPLEMENTED
    never: tuple[str, ...] = ()

    def reachable(self) -> frozenset[Outcome]:
        """What any of its templates can come to, but for what it rules out."""
        every = (cells.reachable(t, operator) for t in self.templates for operator in cells.OPERATORS[t])
        found = frozenset[Outcome]().union(*every)
        return frozenset(outcome for outcome in found if outcome.reason not in self.never)

    def pair(self, seed: int, outcome: Outcome, cases: int) -> Pair:
        """The pair of a seed, turned towards an outcome."""
        choices = [
            (template, operator)
            for template in self.templates
            for operator in cells.OPERATORS[template]
            if outcome in cells.reachable(template, operator)
        ]
        template, operator = random.Random(f"{seed} {outcome}").choice(choices)
        direction = directed(seed, template, operator, outcome, cases)
        if "no_after" in self.never:
            direction.constraint["after"] = None
        self.put(direction)
        return direction.pair


def _by_value(test: str, against: str, d: Direction) -> None:
    """Cells on every row, and the test of them on the target."""
    value, meets, fails = TESTS[test]
    condition: dict[str, Any] = {"attribute": "amount", "test": test}
    if against == "constant":
        condition["value"] = value
    else:
        condition["other"] = {"attribute": "limit", "of": against}
    if against == "activation" and d.rule["trigger"]["act"] is None and d.constraint["after"] is None:
        d.plain()
        d.constraint["correlate"] = "same_case"
    target = d.constraint["target"]
    for pattern in target.get("any_of") or [target]:
        pattern["where"] = [condition]
    d.layer["attributes"] = ATTRIBUTES
    d.rows = [
        row._replace(attributes=_cells(d.rng, amount=(meets, fails), limit=("20", "20"))) for row in d.rows
    ]


def _cells(rng: random.Random, **held: tuple[str, str]) -> tuple[str | None, ...]:
    """A cell for each attribute; of those that are held mostly the first, now and then the other, nothing, or what
    cannot be read."""
    drawn = {
        name: rng.choice((*[usual] * 17, *[odd] * 4, None, "n/a")) or None
        for name, (usual, odd) in held.items()
    }
    return tuple(drawn.get(name) for name in NAMES)


def _in_region(d: Direction) -> None:
    """A condition on the case, which most cases meet, some do not and a few leave open (D6)."""
    d.rule["scope"]["where"] = [{"attribute": "region", "test": "equal", "value": "north"}]
    d.layer["attributes"] = ATTRIBUTES
    place = NAMES.index("region")
    regions = {row.case_id: d.rng.choice((*["north"] * 8, "south", None)) for row in d.rows}
    d.rows = [
        row._replace(
            attributes=tuple(regions[row.case_id] if at == place else None for at in range(len(NAMES)))
        )
        for row in d.rows
    ]


def _by(correlation: str, d: Direction) -> None:
    if correlation != "same_case" and d.rule["trigger"]["act"] is None:
        d.plain()
    d.constraint["correlate"] = correlation
    if correlation == "different_resource":
        d.rows = [
            row._replace(resource="cas")
            if row.channel in d.logs and row.resource and d.rng.random() < 0.75
            else row
            for row in d.rows
        ]


def _within(field: str, kind: str, d: Direction) -> None:
    """The deadline or the window in working time, of a calendar that works always or of any kind."""
    d.rule["trigger"]["window"] = d.constraint["deadline"] = None
    length = f"{d.rng.choice((2, 3))}{kind}"
    if field == "deadline":
        d.constraint["deadline"] = length
    else:
        d.rule["trigger"]["window"] = length
    if "calendar" not in d.layer:
        days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        always = {"weekdays": days, "hours": ["00:00-24:00"]}
        d.layer["calendar"] = always if d.rng.random() < 0.7 else random_calendar(d.rng).model_dump()


def _unless(in_the_meantime: bool, d: Direction) -> None:
    """The exception at any time before, or from the activation on alone."""
    d.constraint |= {"in_the_meantime": in_the_meantime, "unless": d.constraint["unless"] or "Waive"}
    if in_the_meantime:
        opened = {row.case_id: row for row in d.rows if row.activity == "Open" and row.timestamp}
        d.rows = [
            row._replace(
                timestamp=opened[row.case_id].timestamp, offset=opened[row.case_id].offset, grain=opened[row.case_id].grain
            )
            if row.activity == "Waive" and row.timestamp and row.case_id in opened
            else row
            for row in d.rows
        ]  # fmt: skip


WAYS: dict[str, dict[str, Way]] = {
    "a value against a constant": {t: Way(partial(_by_value, t, "constant")) for t in TESTS},
    "against another of the row": {t: Way(partial(_by_value, t, "row")) for t in COMPARING},
    "against the activation's": {
        t: Way(partial(_by_value, t, "activation"), templates=ONE_WAY) for t in COMPARING
    },
    "the scope": {"case": Way(_in_region, templates=tuple(t for t in IMPLEMENTED if t not in MUTUAL))},
    "correlation": {
        "same_case": Way(partial(_by, "same_case"), never=("unknown_key",)),  # no key to be unknown (M3)
        "same_resource": Way(partial(_by, "same_resource")),
        "same_object": Way(partial(_by, "same_object")),
        "different": Way(  # not with `after` (D7)
            partial(_by, "different_resource"), templates=APART, never=("no_after", "after_unknown")
        ),
    },
    "working time": {
        "deadline WD": Way(partial(_within, "deadline", "WD"), templates=TIMED),
        "deadline WH": Way(partial(_within, "deadline", "WH"), templates=TIMED),
        "window WD": Way(partial(_within, "window", "WD"), templates=WINDOWED),
        "window WH": Way(partial(_within, "window", "WH"), templates=WINDOWED),
    },
    "exception": {
        "before": Way(partial(_unless, False)),
        "meanwhile": Way(partial(_unless, True), templates=IN_THE_MEANTIME),
    },
}
"""The ways of asking, by what they are about."""
