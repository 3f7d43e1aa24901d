"""The traffic-fines log of docs/traffic-fines.md: draft, audit, and the counts of the hand-written query."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml

import gnrs_ppl as gnrs
from gnrs_ppl.context.log import read_log
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.importing.run import import_source
from gnrs_ppl.rule.files import read_rule
from gnrs_ppl.rule.types import Structure

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


ATTRIBUTES = """
constants: {channel: fines}
channels: [{name: fines, closed_world: true}]
attributes:
  - {name: amount, type: number, unit: EUR}
  - {name: paid, type: number, unit: EUR, column: paymentamount}
  - {name: vehicle class, type: text, of: case, column: vehicleclass}
"""
HIGH = """
trigger: {act: {activity: Create Fine, where: [{attribute: amount, test: more, value: 35, unit: EUR}]}, channel: fines}
norm: {constraints: [{template: response, target: Send Fine, deadline: P90D}]}
"""
OVERPAID = """
trigger: {act: Create Fine, channel: fines}
scope: {where: [{attribute: vehicle class, test: one_of, value: [A, C]}]}
norm:
  constraints:
    - template: not_response
      correlate: same_case
      deadline: P1Y
      target:
        activity: Payment
        where: [{attribute: paid, test: more, other: {attribute: amount, of: activation}}]
"""
REST = """
evidence: {channels: [fines]}
procedure: {steps: [{stage: review, name: review, role: auditor}]}
"""
ROWS = """
WITH e AS (SELECT case_id AS c, activity AS a, timestamp::DATE AS d, amount::DECIMAL(18, 2) AS amount,
                  paymentamount::DECIMAL(18, 2) AS paid, vehicleclass AS k FROM read_csv(?, all_varchar = true)),
     o AS (SELECT max(d) AS m FROM e)
"""
HIGH_BY_HAND = """
SELECT CASE WHEN n > 0 THEN 'satisfied' WHEN due > m THEN 'pending' ELSE 'violated' END AS v, count(*)
FROM (SELECT x.c, x.d + 90 AS due, count(y.d) AS n
      FROM e AS x LEFT JOIN e AS y ON y.c = x.c AND y.a = 'Send Fine' AND y.d BETWEEN x.d AND x.d + 90
      WHERE x.a = 'Create Fine' AND x.amount > 35 GROUP BY ALL), o
GROUP BY v
"""
OVERPAID_BY_HAND = """
SELECT CASE WHEN later > 0 THEN 'violated' WHEN due > m THEN 'pending' WHEN tied > 0 THEN 'indeterminate'
            ELSE 'satisfied' END AS v, count(*)
FROM (SELECT x.c, x.d + INTERVAL 1 YEAR AS due,
             count(*) FILTER (y.d > x.d AND y.d <= x.d + INTERVAL 1 YEAR AND y.paid > x.amount) AS later,
             count(*) FILTER (y.d = x.d AND y.paid > x.amount) AS tied
      FROM e AS x JOIN (SELECT c FROM e GROUP BY c HAVING count(DISTINCT k) = 1 AND min(k) IN ('A', 'C')) USING (c)
      LEFT JOIN e AS y ON y.c = x.c AND y.a = 'Payment'
      WHERE x.a = 'Create Fine' GROUP BY x.c, x.d), o
GROUP BY v
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "query", "violated"), [(HIGH, HIGH_BY_HAND, 5734), (OVERPAID, OVERPAID_BY_HAND, 3675)]
)
def test_rules_about_amounts_count_as_plain_queries_do(rule: str, query: str, violated: int) -> None:
    log = read_log(FINES, RecordLayer.model_validate(yaml.safe_load(ATTRIBUTES)))
    found = gnrs.audit(Structure.model_validate(yaml.safe_load(rule + REST)), log)
    by_hand = dict(duckdb.connect().execute(ROWS + query, [str(FINES)]).fetchall())
    assert {verdict: n for verdict, n in found.counts.items() if n} == by_hand
    assert by_hand["violated"] == violated


@pytest.mark.slow
def test_four_eyes_count_as_a_plain_query_does(tmp_path: Path) -> None:
    source = FINES.parent / "receipt.xes.gz"
    if not source.exists():
        pytest.skip("the receipt log is not at hand")
    events = import_source(source, tmp_path / "receipt").folder / "events.parquet"
    columns = {"case_id": "case:concept:name", "activity": "concept:name", "timestamp": "time:timestamp"}
    records = RecordLayer.model_validate(
        {
            "columns": columns | {"resource": "org:resource"},
            "constants": {"channel": "receipt"},
            "channels": [{"name": "receipt", "closed_world": True}],
        }
    )
    duty = {"template": "response", "target": "T02 Check confirmation of receipt", "deadline": "P30D"}
    rule = {
        "trigger": {"act": "Confirmation of receipt", "channel": "receipt"},
        "norm": {"constraints": [duty | {"correlate": "different_resource"}]},
    } | yaml.safe_load(REST.replace("fines", "receipt"))
    found = gnrs.audit(Structure.model_validate(rule), read_log(events, records))
    query = """
        WITH e AS (SELECT "case:concept:name" AS c, "concept:name" AS a, "org:resource" AS r,
                          CAST("time:timestamp" AS TIMESTAMPTZ) AS t FROM read_parquet(?)),
             s AS (SELECT x.t + INTERVAL 720 HOUR AS due, (SELECT max(t) FROM e) AS m,
                          count(*) FILTER (y.t BETWEEN x.t AND x.t + INTERVAL 720 HOUR AND y.r <> x.r) AS n
                   FROM e AS x LEFT JOIN e AS y ON y.c = x.c AND y.a = 'T02 Check confirmation of receipt'
                   WHERE x.a = 'Confirmation of receipt' GROUP BY x.c, x.t)
        SELECT CASE WHEN n > 0 THEN 'satisfied' WHEN due > m THEN 'pending' ELSE 'violated' END AS v, count(*)
        FROM s GROUP BY v"""
    by_hand = dict(duckdb.connect().execute(query, [str(events)]).fetchall())
    assert {verdict: n for verdict, n in found.counts.items() if n} == by_hand
    assert by_hand == {"satisfied": 223, "violated": 1154, "pending": 57}


DUTCH_HOLIDAYS = (
    "2010-12-25", "2010-12-26", "2011-01-01", "2011-04-22", "2011-04-24", "2011-04-25", "2011-04-30", "2011-06-02",
    "2011-06-12", "2011-06-13", "2011-12-25", "2011-12-26", "2012-01-01",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deadline", "wanted"),
    [
        ("5WD", {"satisfied": 1253, "violated": 178, "pending": 3}),
        ("P7D", {"satisfied": 1250, "violated": 181, "pending": 3}),
    ],
)
def test_working_days_count_as_numpy_does(tmp_path: Path, deadline: str, wanted: dict[str, int]) -> None:
    """Five working days or seven days from a confirmed receipt to its check, of the same log."""
    source = FINES.parent / "receipt.xes.gz"
    if not source.exists():
        pytest.skip("the receipt log is not at hand")
    events = import_source(source, tmp_path / "receipt").folder / "events.parquet"
    columns = {"case_id": "case:concept:name", "activity": "concept:name", "timestamp": "time:timestamp"}
    records = RecordLayer.model_validate(
        {
            "columns": columns,
            "constants": {"channel": "receipt"},
            "channels": [{"name": "receipt", "closed_world": True}],
            "calendar": {"zone": "Europe/Amsterdam", "holidays": {"country": "NL"}},
        }
    )
    duty = {"template": "response", "target": "T02 Check confirmation of receipt", "deadline": deadline}
    rule = {
        "trigger": {"act": "Confirmation of receipt", "channel": "receipt"},
        "norm": {"constraints": [duty]},
    } | yaml.safe_load(REST.replace("fines", "receipt"))
    found = gnrs.audit(Structure.model_validate(rule), read_log(events, records))
    query = (
        'SELECT "case:concept:name", "concept:name", CAST("time:timestamp" AS VARCHAR) FROM read_parquet(?)'
    )
    rows = pd.DataFrame(
        duckdb.connect().execute(query, [str(events)]).fetchall(), columns=["case", "act", "at"]
    )
    rows["at"] = pd.to_datetime(rows["at"], utc=True, format="ISO8601").dt.tz_convert("Europe/Amsterdam")
    last, counts = rows["at"].max(), Counter[str]()
    checked = rows[rows["act"] == "T02 Check confirmation of receipt"].groupby("case")["at"].apply(list)
    for case, at in rows.loc[rows["act"] == "Confirmation of receipt", ["case", "at"]].itertuples(
        index=False
    ):
        if deadline == "P7D":
            due = at + pd.Timedelta(days=7)
        else:
            day = np.busday_offset(
                np.datetime64(at.date(), "D"), 5, roll="backward", holidays=list(DUTCH_HOLIDAYS)
            )
            due = (pd.Timestamp(day) + pd.DateOffset(days=1)).tz_localize("Europe/Amsterdam")
            due -= pd.Timedelta(microseconds=1)
        done = any(at <= one <= due for one in checked.get(case, []))
        counts["satisfied" if done else "pending" if due > last else "violated"] += 1
    assert {verdict: n for verdict, n in found.counts.items() if n} == counts
    assert counts == wanted
