"""How often right code may fail the statistical tests of a file: one budget for all its cases, on however
many workers they run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping

import pytest


class Budget:
    """The chance that right code would have failed anything in a file, split evenly over its checks.

    A worker runs some of the cases and cannot know what the others spend. So the file says beforehand what
    every test may spend: ``spend`` holds each case to its own part, and ``assert_covers`` the cases that were
    collected, of which every worker knows all. Seeds are fixed, so the chance was taken once, when they were
    chosen.

    Parameters
    ----------
    rate : float
        The chance, for the whole file.
    checks : mapping of test to (cases, checks of a case)
        Upper bounds; each check passes with chance 1 - ``level`` if all is right.
    """

    def __init__(self, rate: float, checks: Mapping[str, tuple[int, int]]) -> None:
        self.checks = checks
        self.level = rate / sum(cases * each for cases, each in checks.values())
        self._spent = Counter[str]()

    def spend(self, checks: int = 1) -> None:
        """Count checks of the running case."""
        case = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        test = case.partition("[")[0].rpartition("::")[2]
        self._spent[case] += checks
        assert self._spent[case] <= self.checks.get(test, (0, 0))[1], (
            f"{test} makes more checks than the false-alarm budget says"
        )

    def assert_covers(self, cases: Iterable[pytest.Item]) -> None:
        """Fail where a test of the file has more cases than the budget says."""
        found = Counter(case.name.partition("[")[0] for case in cases)
        over = [test for test, (most, _) in self.checks.items() if found[test] > most]
        assert not over, f"more cases than the false-alarm budget says: {', '.join(over)}"
