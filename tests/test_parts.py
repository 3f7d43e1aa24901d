"""A log checked part by part gives the verdicts of the whole, in their order, and the same counts."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import random_pair
from tiers import tier

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_procedure, compile_rule
from gnrs_ppl.audit.in_place import counted
from gnrs_ppl.audit.parts import EXAMPLES, Tally, checked_in_parts
from gnrs_ppl.audit.result import roll_up
from gnrs_ppl.audit.run import execute, verdicts_of
from gnrs_ppl.audit.types import InstanceVerdict
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.errors import Refused
from gnrs_ppl.rule.types import IMPLEMENTED

CASES = 12
PARTS: Counter[int] = Counter()


def counts_are(tally: Tally, verdicts: list[InstanceVerdict], log: EventLog) -> None:
    """Counts and examples are those of a list of verdicts."""
    assert tally.instances == Counter((v.constraint, v.verdict, v.reason) for v in verdicts)
    assert {verdict: n for (number, verdict), n in tally.cases.items() if number is None} == Counter(
        case.verdict for case in roll_up(verdicts, log) if case.instance is not None
    )
    assert tally.examples.keys() == {
        key for key in tally.instances if key[1] in ("violated", "indeterminate")
    }
    for key, kept in tally.examples.items():
        alike = [v for v in verdicts if (v.constraint, v.verdict, v.reason) == key]
        assert kept == alike[:EXAMPLES]


@settings(deadline=None, max_examples=tier(3, 200))
@given(
    st.sampled_from(IMPLEMENTED),
    st.sampled_from(["any", "any", "all"]),
    st.integers(0, 500),
    st.sampled_from([4, 12, 30]),
)
def test_parts_give_the_whole(template: str, operator: str, seed: int, at_once: int) -> None:
    try:
        structure, records, rows = random_pair(seed, template, operator, CASES)
        log = EventLog.from_events(rows, records)
        plan = check(structure, records, log)
    except Refused:
        return
    follow_up = compile_procedure(plan)
    verdicts = execute(compile_rule(plan), log)
    steps = execute(follow_up, log) if follow_up else []
    found: list[InstanceVerdict] = []
    found_steps: list[InstanceVerdict] = []
    tally, cases = Tally(), list[str]()
    for part in checked_in_parts(plan, log, rows_at_once=at_once):
        PARTS[part.of] += 1
        tally.add(part)
        cases += [c for (c,) in part.connection.execute("SELECT DISTINCT case_id FROM events").fetchall()]
        found += verdicts_of(part.connection.execute("SELECT * FROM verdicts").fetchall())
        if follow_up:
            found_steps += verdicts_of(part.connection.execute("SELECT * FROM steps").fetchall())
    assert found == verdicts
    assert found_steps == steps
    assert sorted(cases) == sorted({row.case_id for row in rows})
    counts_are(tally, verdicts, log)
    counts_are(counted(compile_rule(plan), log), verdicts, log)


def test_logs_were_divided() -> None:
    assert any(of > 2 for of in PARTS), PARTS
