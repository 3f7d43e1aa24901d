"""The experiment on P(violated) and questions, on made goals whose answers are known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gnrs_ppl.audit.types import ROLL_UP
from gnrs_ppl.experiments.posterior_questions import (
    AUDITORS,
    Goal,
    agree_most,
    asked,
    audit_f1,
    forecasts,
    greatest_f1,
    needed,
    reach_table,
    reliability,
)
from gnrs_ppl.posterior.verdicts import Checked

V, S, N = (ROLL_UP.index(verdict) for verdict in ("violated", "satisfied", "not_activated"))


def goal(codes: list[list[int]], labels: list[int], share: list[float]) -> Goal:
    """A goal whose checks give these verdicts."""
    cases = tuple(f"c{n}" for n in range(len(labels)))
    return Goal("GNRS-005", np.array(share), 1.0, Checked(cases, np.array(codes), 0), np.array(labels))


AGREES, SCORES = [N] * 8 + [S, S], [V] * 4 + [N] * 4 + [V, V]
LABELS = [N] * 8 + [V, V]
"""Eight cases of which the rule does not speak, and two that are broken."""
SPLIT = goal([AGREES, SCORES], LABELS, [0.5, 0.5])
"""One check agrees in eight cases and misses what is broken, the other finds that and agrees in six."""


def test_what_agrees_most_need_not_be_the_rule_of_greatest_audit_f1() -> None:
    assert (agree_most(SPLIT, SPLIT.labels).tolist(), greatest_f1(SPLIT, SPLIT.labels).tolist()) == ([0], [1])
    assert audit_f1(SPLIT, SPLIT.labels)[1] > audit_f1(SPLIT, SPLIT.labels)[0]
    (row,) = reach_table([SPLIT]).rows
    assert row[0] == "GNRS-005"
    assert row[1:5] == pytest.approx((0.8, 0.6, *audit_f1(SPLIT, SPLIT.labels)[[1, 0]]))
    assert row[5:] == ("no", 2)


@pytest.mark.parametrize("order", ["most telling", "most contested", "random"])
def test_truthful_answers_lead_to_what_agrees_most_and_away_from_the_other(order: str) -> None:
    agrees, f1 = AUDITORS[:2]
    assert np.isfinite(needed(asked(SPLIT, agrees, order, 0.0, 0)))
    assert needed(asked(SPLIT, f1, order, 0.0, 0)) == float("inf")


def test_a_lead_counts_from_when_it_is_kept() -> None:
    assert needed([False, True, False, True, True]) == 3
    assert needed([True, True]) == 0
    assert needed([True, False]) == float("inf")


def test_each_way_says_what_it_is() -> None:
    sure = goal([[V, N], [V, V]], [V, N], [0.75, 0.25])
    said = forecasts(sure, [goal([[V, N]], [V, V], [1.0])])
    assert said["posterior"].tolist() == [1.0, 0.25]
    assert said["best rule"].tolist() == [1.0, 0.0]
    assert said["base rate"].tolist() == [1.0, 1.0]
    assert said["posterior or base rate"].tolist() == [1.0, 1.0]  # of the other goal the base rate is right


def test_what_was_said_is_held_against_what_was_seen_over_goals_of_different_size() -> None:
    one = goal([[V, N]], [V, V], [1.0])
    rows = {row[0]: row[1:] for row in reliability([SPLIT, one]).rows}
    assert rows["0 to 0.05"] == (5, 0.0, 0.2)  # one of the five is what the second goal's check misses
    assert rows["0.5 to 0.75"] == (6, 0.5, pytest.approx(2 / 6))
    assert rows["0.95 to 1"] == (1, 1.0, 1.0)
