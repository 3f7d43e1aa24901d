"""Frozen labels of the held-out worlds, and the guard before those of test and OOD goals."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gnrs_ppl.audit.types import Verdict
from gnrs_ppl.benchmarks.gnrs_bench import Family, benchmark_goal
from gnrs_ppl.context.files import validated
from gnrs_ppl.context.log import EventLog, read_log
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError

HERE = Path(__file__).parent
LETTERS: dict[Verdict, str] = {
    "satisfied": "s",
    "violated": "v",
    "indeterminate": "i",
    "pending": "p",
    "excused": "e",
    "not_activated": "n",
}
"""How the frozen files write a verdict."""
GREY = "?"
"""How they write that the goal leaves it open; such a case is not scored."""
_VERDICTS = {letter: verdict for verdict, letter in LETTERS.items()}

Labels = dict[str, Verdict | None]
"""Case id -> verdict, None in the grey band."""


class HeldOut(NamedTuple):
    """One held-out log with a goal's labels: what really was, and what the records entitle one to say."""

    seed: int
    log: EventLog
    truth: Labels
    entitled: Labels


class HiddenNorm(NamedTuple):
    """What a goal's hidden norm says, and whether five slots can say it."""

    says: str
    expressible: bool


def held_out(goal_id: str, *, revealed: bool = False) -> tuple[HeldOut, ...]:
    """Held-out logs and labels of a goal.

    Raises
    ------
    InputError
        A test or OOD goal without ``revealed``.
    """
    family = _guarded(goal_id, revealed)
    logs = []
    for world in _file(family)["worlds"]:
        truth, entitled = (
            _spelled(world["cases"], world["labels"][goal_id][kind]) for kind in ("truth", "entitled")
        )
        logs.append(HeldOut(world["seed"], _log(family, world["seed"]), truth, entitled))
    return tuple(logs)


def reference(goal_id: str, *, revealed: bool = False) -> HiddenNorm:
    """What a goal's hidden norm says; guarded as :func:`held_out`."""
    return HiddenNorm(**_file(_guarded(goal_id, revealed))["norms"][goal_id])


def _guarded(goal_id: str, revealed: bool) -> Family:
    goal = benchmark_goal(goal_id)
    if goal.split != "dev" and not revealed:
        raise InputError(
            f"is a {goal.split} goal, whose truth is held out",
            "develop on dev goals; --reveal shows it and enters the run in the ledger",
            source=goal_id,
        )
    return goal.family


@cache
def _file(family: Family) -> dict[str, Any]:
    return dict(json.loads((HERE / f"{family}.json").read_text()))


@cache
def _log(family: Family, seed: int) -> EventLog:
    world = next(w for w in _file(family)["worlds"] if w["seed"] == seed)
    records = validated(RecordLayer, world["records"], source=f"{family}, held out")
    return read_log(HERE / str(records.log), records)


def _spelled(cases: list[str], letters: str) -> Labels:
    return {case: _VERDICTS.get(letter) for case, letter in zip(cases, letters, strict=True)}
