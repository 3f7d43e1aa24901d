"""The traffic-fines log of docs/traffic-fines.md: draft, audit, and the counts of the hand-written query."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import gnrs_ppl as gnrs
from gnrs_ppl.rule.files import read_rule

ROOT = Path(__file__).resolve().parent.parent
FINES = ROOT.parent / "shared" / "eventlogs" / "real" / "traffic_fines.csv.gz"
pytestmark = pytest.mark.skipif(
    not FINES.exists(), reason="the traffic-fines log is not shipped and not at hand"
)


@pytest.fixture(scope="module")
def context() -> gnrs.Context:
    return gnrs.load_context(ROOT / "docs" / "contexts" / "traffic_fines.yaml", FINES)


@pytest.fixture(scope="module")
def by_hand() -> dict[str, int]:
    query = (
        (ROOT / "docs" / "contexts" / "traffic_fines.sql")
        .read_text()
        .replace("traffic_fines.csv.gz", str(FINES))
    )
    return {what: n for _, what, n in duckdb.connect().execute(query).fetchall()}


def test_dates_only_counts_equal_the_plain_query(context: gnrs.Context, by_hand: dict[str, int]) -> None:
    rule = read_rule(ROOT / "docs" / "contexts" / "fines_60_days.yaml").rule
    found = gnrs.audit(rule, context)
    assert found.counts["satisfied"] == by_hand["paid in time"] == 3368
    assert found.reasons["satisfied"]["tie"] == by_hand["payers who paid on the day of the fine"] == 405
    assert found.reasons["violated"] == {
        "absent": by_hand["unpaid, 60 days over"],
        "late": by_hand["paid late"],
    }
    assert found.counts["pending"] == by_hand["pending"]
    assert found.counts["excused"] == by_hand["not paid in time, appeal on record before the 60th day"]
    assert "Dates are compared" in found.text


def test_a_duty_of_somebody_the_log_never_names_is_refused(context: gnrs.Context) -> None:
    drafted = gnrs.draft(context, chains=16, steps=100)
    assert ("norm", "N4", "0 of 34,724 rows carry role 'offender'") in drafted.built.dropped
    assert drafted.certificate.epsilon_search == 0
