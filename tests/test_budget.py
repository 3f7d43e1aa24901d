"""A false-alarm budget sees what is spent beyond it, by a case and by cases more than were said."""

from __future__ import annotations

import pytest
from budget import Budget


def test_a_case_that_spends_too_much_fails() -> None:
    budget = Budget(0.1, {"test_a_case_that_spends_too_much_fails": (2, 3), "test_other": (4, 1)})
    assert budget.level == pytest.approx(0.01)
    budget.spend(2)
    budget.spend()
    with pytest.raises(AssertionError, match="test_a_case_that_spends_too_much_fails makes more checks"):
        budget.spend()


def test_a_test_the_budget_does_not_name_may_spend_nothing() -> None:
    with pytest.raises(AssertionError, match="makes more checks"):
        Budget(0.1, {"test_other": (1, 1)}).spend()


@pytest.mark.parametrize("case", ["a", "b"])
def test_more_cases_than_were_said_are_seen_in_every_worker(
    case: str, request: pytest.FixtureRequest
) -> None:
    mine = [
        other for other in request.session.items if other.path == request.path and f"[{case}]" in other.name
    ]
    name = "test_more_cases_than_were_said_are_seen_in_every_worker"
    Budget(0.1, {name: (1, 1)}).assert_covers(mine)
    with pytest.raises(AssertionError, match=f"more cases than the false-alarm budget says: {name}"):
        Budget(0.1, {name: (1, 1)}).assert_covers([*mine, *mine])
