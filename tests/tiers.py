"""How much a test does: a little in the fast tier (``-m "not slow"``, ``make test``), everything elsewhere (``make test-all``)."""

from __future__ import annotations

from typing import TypeVar

Amount = TypeVar("Amount")

fast = False
"""Whether this run leaves out what is marked slow; conftest.py sets it before it imports a test."""


def tier(fast_amount: Amount, full_amount: Amount) -> Amount:
    """The amount of this run's tier."""
    return fast_amount if fast else full_amount
