"""SQL equals the oracle on verdict, reason, witnesses, bearer, due and slack, with hits in every reachable
cell (SEMANTICS line 25)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from agreement import HITS, differences, run_cells, run_template, run_ways
from asked_pairs import WAYS
from pairs import random_pair
from tiers import few, tier

from gnrs_ppl.rule.types import BESIDE, IMPLEMENTED, LOOK_BACK, MUTUAL, NEGATIVE


@pytest.mark.parametrize("template", IMPLEMENTED)
def test_sql_equals_the_oracle(template: str, record_property: Callable[[str, object], None]) -> None:
    tally = run_template(template)
    record_property("cells", tally.rows())
    short = {operator: tally.missing(operator) for operator in tally.wanted}
    assert not any(short.values()), f"fewer than {HITS} hits: {short}"
    assert tally.refused <= 0.25 * (tally.pairs + tally.refused)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*IMPLEMENTED, *WAYS])
def test_every_reason_is_hit_that_can_be_and_no_other(name: str) -> None:
    """The cells that cells.py and asked_pairs.py say can be had, fifty hits in each; `compare` refuses one beside
    them."""
    tally = run_ways(name) if name in WAYS else run_cells(name)
    short = {column: tally.short(column) for column in tally.wanted}
    assert not any(short.values()), f"fewer than fifty hits: {short}"


@pytest.mark.parametrize("template", few([t for t in IMPLEMENTED if t != "end"], 4))
def test_sql_equals_the_oracle_where_nothing_ends_a_case(template: str) -> None:
    """I6: without end activities, silence, deadline and window."""
    verdicts = set[str]()
    for seed in range(tier(1, 6)):
        structure, records, events = random_pair(seed, template, "any", 48)
        endless = [c.model_copy(update={"deadline": None}) for c in structure.norm.constraints]
        structure = structure.model_copy(
            update={
                "trigger": structure.trigger.model_copy(update={"window": None}),
                "norm": structure.norm.model_copy(update={"constraints": tuple(endless)}),
            }
        )
        records = records.model_copy(update={"case_end": (), "quiet_after": None})
        want, found = differences(structure, records, events, procedure=False)
        assert not found, f"seed {seed}\n" + "\n".join(found[:4])
        verdicts |= {v.verdict for v in want}
    assert verdicts - {"indeterminate", "not_activated"}
    if template in ("existence", "response", "responded_existence", "coexistence"):
        assert "violated" not in verdicts
    looks_back = (*LOOK_BACK, *BESIDE, *MUTUAL)  # a ban before an act, or until the next event, is over
    if template in NEGATIVE and template not in looks_back:
        assert "satisfied" not in verdicts
