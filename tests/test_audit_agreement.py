"""SQL equals the oracle on verdict, reason, witnesses, bearer, due and slack, with hits in every reachable
cell (SEMANTICS line 25)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from agreement import HITS, run_template

from gnrs_ppl.rule.types import IMPLEMENTED


@pytest.mark.parametrize("template", IMPLEMENTED)
def test_sql_equals_the_oracle(template: str, record_property: Callable[[str, object], None]) -> None:
    tally = run_template(template)
    record_property("cells", tally.rows())
    short = {operator: tally.missing(template, operator) for operator in ("any", "all", "at_least")}
    assert not any(short.values()), f"fewer than {HITS} hits: {short}"
    assert tally.refused <= 0.25 * (tally.pairs + tally.refused)
