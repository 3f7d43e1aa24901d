"""Held-out labels of goals with floors and ceilings, as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from gnrs_ppl.audit.types import Verdict
from gnrs_ppl.evaluate.audit_f1 import F1, AuditScore, ceiling, floors
from gnrs_ppl.evaluate.held_out.labels import HiddenNorm, held_out, reference


class GoalSummary(NamedTuple):
    """Labels of one goal (None: grey band), scores of what needs no rule, and that of the hidden norm."""

    goal: str
    reference: HiddenNorm
    truth: Counter[Verdict | None]
    entitled: Counter[Verdict | None]
    floors: dict[str, AuditScore]
    ceiling: F1

    def as_dict(self) -> dict[str, Any]:
        """JSON of ``gnrs goals --labels``."""

        def counts(labels: Counter[Verdict | None]) -> dict[str, int]:
            return {verdict or "grey": n for verdict, n in labels.items()}

        return {
            "goal": self.goal,
            "reference": self.reference._asdict(),
            "truth": counts(self.truth),
            "entitled": counts(self.entitled),
            "floors": {
                name: {"record": score.record._asdict(), "truth": score.truth._asdict()}
                for name, score in self.floors.items()
            },
            "ceiling": self.ceiling._asdict(),
        }


def summaries(goal_ids: Iterable[str], *, revealed: bool = False) -> list[GoalSummary]:
    """Rows for some goals; test and OOD goals need ``revealed``."""
    lines = []
    for goal in goal_ids:
        worlds = held_out(goal, revealed=revealed)
        lines.append(
            GoalSummary(
                goal,
                reference(goal, revealed=revealed),
                Counter(label for world in worlds for label in world.truth.values()),
                Counter(label for world in worlds for label in world.entitled.values()),
                floors(goal, revealed=revealed),
                ceiling(goal, revealed=revealed),
            )
        )
    return lines
