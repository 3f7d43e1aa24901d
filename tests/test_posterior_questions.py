"""P(violated) as a forecast, and questions to the best rule: from rows to tables, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gnrs_ppl.audit.types import ROLL_UP
from gnrs_ppl.experiments.posterior_questions import (
    AUDITORS,
    QUESTIONS,
    REPEATS,
    SIMULATED,
    Goal,
    agree_most,
    asked,
    audit_f1,
    fared,
    greatest_f1,
    means,
    needed,
    questions,
    reach,
    reached,
    reliability,
    scored,
)
from gnrs_ppl.posterior.verdicts import VIOLATED, Checked

KEPT = ROLL_UP.index("satisfied")


def row(goal: str, said: list[float], best: list[float], was: list[float]) -> dict[str, Any]:
    return {
        "goal": goal,
        "family": "f",
        "said": said,
        "best_rule": best,
        "was": was,
        "violated": sum(was) / len(was),
        "questions": [{"needed": None, "leads": [0.0] * (QUESTIONS + 1)} for _ in SIMULATED],
    }


ROWS = [row("a", [0.8, 0.2], [1.0, 0.0], [1.0, 0.0]), row("b", [0.9, 0.1], [1.0, 1.0], [0.0, 0.0])]


def test_measures_by_hand() -> None:
    """The base rate is the other goal's; so is the chance that no rule is right."""
    a, b = scored(ROWS)
    assert a["Brier score, posterior"] == pytest.approx(0.04)
    assert (a["Brier score, best rule"], b["Brier score, best rule"]) == (0.0, 1.0)
    assert (a["Brier score, base rate"], b["Brier score, base rate"]) == (0.5, 0.25)
    assert a["calibration error, posterior"] == pytest.approx((0.2 + 0.2) / 2)
    # on b nothing was violated and a's rate is a half: for a all is left to the base rate 0 that fits b
    assert a["Brier score, posterior or base rate"] == pytest.approx(0.5)
    # a is forecast best by its own P, so b keeps its own
    assert b["Brier score, posterior or base rate"] == pytest.approx((0.81 + 0.01) / 2)
    lines = {line[:2]: line[2:] for line in means([a, b]).rows}
    mean, _, difference, _, better = lines["Brier score", "best rule"]
    assert (mean, better) == (0.5, 1)
    assert difference == pytest.approx((0.04 - 0.0 + 0.41 - 1.0) / 2)
    assert {way for _, way, *_ in means(scored(ROWS[:1])).rows} == {
        "posterior",
        "best rule",
    }, "one goal has no others"


def test_said_and_seen_counts_every_case() -> None:
    entries = reliability(ROWS).rows
    assert sum(entry[1] for entry in entries if isinstance(entry[1], int)) == 4
    assert entries[-1] == ("0.75 to 0.95", 2, pytest.approx(0.85), 0.5)


def test_an_auditor_who_judges_by_a_rule_finds_it() -> None:
    """Two rules that differ in every case: one answer without error settles it, whatever is asked first."""
    codes = np.array([[VIOLATED] * 4, [KEPT] * 4], np.int8)
    checks = Checked(("p", "q", "r", "s"), codes, 0)
    one = Goal("made up", np.array([0.6, 0.4]), 1.0, checks, np.array([KEPT] * 4))
    for auditor, error, order in SIMULATED:
        if not error and "agrees most" in auditor.name:
            found = fared(one, auditor, error, order)
            assert (found["needed"], found["leads"][:2]) == (1.0, [0.0, 1.0]), order
    told = questions([row("a", [], [], [1.0])]).rows
    assert {line[3] for line in told} == {f"more than {QUESTIONS}"}
    assert {line[5] for line in told} == {0}
    assert REPEATS > 1


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
    (told,) = reach([{"goal": "GNRS-005", **reached(SPLIT)}]).rows
    assert told[0] == "GNRS-005"
    assert told[1:5] == pytest.approx((0.8, 0.6, *audit_f1(SPLIT, SPLIT.labels)[[1, 0]]))
    assert told[5:] == ("no", 2)


@pytest.mark.parametrize("order", ["most telling", "most contested", "random"])
def test_truthful_answers_lead_to_what_agrees_most_and_away_from_the_other(order: str) -> None:
    agrees, f1 = AUDITORS[:2]
    assert np.isfinite(needed(asked(SPLIT, agrees, order, 0.0, 0)))
    assert needed(asked(SPLIT, f1, order, 0.0, 0)) == float("inf")


def test_a_lead_counts_from_when_it_is_kept() -> None:
    assert needed([False, True, False, True, True]) == 3
    assert needed([True, True]) == 0
    assert needed([True, False]) == float("inf")
