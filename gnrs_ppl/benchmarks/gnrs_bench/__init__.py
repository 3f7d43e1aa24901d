"""GNRS-Bench, reconstructed: 116 goals in eight scene families (docs/gnrs-bench.md is its data card).

Goals and scenes are read from JSON beside this file; a family's log is Parquet, read when first asked for.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from gnrs_ppl.context.files import validated
from gnrs_ppl.context.load import Context, context_of
from gnrs_ppl.context.types import Frozen, Goal, Name, Names
from gnrs_ppl.errors import InputError

HERE = Path(__file__).parent

Family = Literal[
    "service_coordination",
    "public_order_and_patrol",
    "commerce_and_exchange",
    "residence_and_rest",
    "labor_and_production",
    "education_and_play",
    "crisis_response",
    "open_space_navigation",
]
FAMILIES: tuple[Family, ...] = get_args(Family)
"""Scene families in the paper's order."""
Category = Literal["attendance", "property", "task_execution", "mixed"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
Split = Literal["dev", "test", "ood"]
SPLITS: tuple[Split, ...] = get_args(Split)


class BenchmarkGoal(Frozen):
    """A goal of the benchmark with its place in it.

    ``stem`` is the objective its family shares, ``sentence`` what this goal's institution writes under it;
    the intent of ``goal`` is both.
    """

    family: Family
    scenes: Names
    category: Category
    split: Split
    stem: Name
    sentence: str
    goal: Goal

    @property
    def id(self) -> str:
        """GNRS-001 to GNRS-116."""
        return self.goal.id


@cache
def goals() -> tuple[BenchmarkGoal, ...]:
    """All 116 goals, by id."""
    found = []
    for family in FAMILIES:
        scene = _scene_file(family)
        for row in json.loads((HERE / "goals" / f"{family}.json").read_text()):
            place = {key: row.pop(key) for key in ("category", "split", "sentence")}
            stem = scene["stem"]
            goal = row | {"intent": f"{stem[0].upper()}{stem[1:]}. {place['sentence']}"}
            data = place | {"family": family, "scenes": scene["scenes"], "stem": stem, "goal": goal}
            found.append(validated(BenchmarkGoal, data, source=row["id"]))
    return tuple(sorted(found, key=lambda g: g.id))


def benchmark_goal(goal_id: str) -> BenchmarkGoal:
    """The goal of an id.

    Raises
    ------
    InputError
        No such id; the line names the nearest.
    """
    found = {g.id: g for g in goals()}
    if goal_id not in found:
        near = get_close_matches(goal_id, found, 1)
        raise InputError(
            "is no benchmark goal", f"did you mean {near[0]!r}?" if near else "see gnrs goals", source=goal_id
        )
    return found[goal_id]


def load(goal_id: str) -> Context:
    """The context of a benchmark goal; goals of a family share schema, record layer and log."""
    found = benchmark_goal(goal_id)
    return context_of(_scene(found.family), found.goal, found.id)


@cache
def _scene_file(family: Family) -> dict[str, Any]:
    return dict(json.loads((HERE / "scenes" / f"{family}.json").read_text()))


@cache
def _scene(family: Family) -> Context:
    """A family's schema and record layer, without a goal of its own."""
    from gnrs_ppl.context.types import RecordLayer, Schema

    data = _scene_file(family)
    return Context(
        Goal(id=family, intent=data["stem"]),
        validated(Schema, data["schema"], source=family),
        validated(RecordLayer, data["records"], source=family),
        source=family,
        folder=HERE / "scenes",
    )
