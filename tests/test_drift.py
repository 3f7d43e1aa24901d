"""Drift is found where a log was changed, and no more often than stated where it goes on as it was."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from stored import delivered
from tiers import tier

from gnrs_ppl.cli import run
from gnrs_ppl.history.drift import FALSE_ALARMS, Alarm, Decided, alarms_of, compare, share_test
from gnrs_ppl.history.grounding import Recorded, daily_cells, daily_rows, days_of
from gnrs_ppl.history.store import append

START = date(2024, 1, 1)
RATES = {("desk", "Open"): 8.0, ("desk", "Close"): 5.0, ("till", "Pay"): 2.0, ("till", "Refund"): 0.3}
EMPTY = {"role": 0.1, "object": 0.0, "location": 0.4}
TRIALS = tier(60, 3000)


def log(random: np.random.Generator, days: int, uneven: float = 0.0) -> Recorded:
    """A log that goes on as it began: fewer rows at weekends, and from week to week more or fewer."""
    rows: dict[tuple[str, str], dict[date, int]] = {pair: {} for pair in RATES}
    cells: dict[str, dict[date, tuple[int, int]]] = {name: {} for name in EMPTY}
    busy = random.gamma(1 / uneven, uneven, days // 7 + 1) if uneven else np.ones(days // 7 + 1)
    for n in range(days):
        day, total = START + timedelta(days=n), 0
        for pair, rate in RATES.items():
            count = int(random.poisson(rate * busy[n // 7] * (0.1 if day.weekday() > 4 else 1)))
            if count:
                rows[pair][day] = count
            total += count
        for name, share in EMPTY.items():
            if total:
                cells[name][day] = total, int(random.binomial(total, share))
    return Recorded(START, START + timedelta(days=days - 1), rows, cells)


def until(given: Recorded, days: int) -> Recorded:
    """The first days of a log, as an earlier run saw it."""
    last = START + timedelta(days=days - 1)
    rows = {pair: {d: n for d, n in held.items() if d <= last} for pair, held in given.rows.items()}
    cells = {name: {d: c for d, c in held.items() if d <= last} for name, held in given.cells.items()}
    return Recorded(START, last, {p: held for p, held in rows.items() if held}, cells)


def alarms(before: Recorded, now: Recorded, *more: Alarm) -> list[tuple[str, str]]:
    return [(a.kind, a.name) for a in alarms_of([*compare(before, now)[0], *more])]


@pytest.mark.parametrize("uneven", [0.0, 0.3])
def test_a_log_that_goes_on_raises_few_alarms(uneven: float) -> None:
    random = np.random.default_rng(7)
    raised = 0
    for _ in range(TRIALS):
        now = log(random, 240, uneven)
        share = [Decided(n, int(random.binomial(n, 0.2))) for n in (400, 150)]
        raised += bool(alarms(until(now, 180), now, *share_test("rule", *share)))
    assert raised <= binom.ppf(1 - 1e-6, TRIALS, FALSE_ALARMS)


def test_what_was_changed_is_found() -> None:
    random = np.random.default_rng(3)
    now = log(random, 240)
    before, last = until(now, 180), START + timedelta(days=200)

    def cut(names: set[str]) -> dict[tuple[str, str], dict[date, int]]:
        return {
            pair: {d: n for d, n in held.items() if d < last or not names & {*pair}}
            for pair, held in now.rows.items()
        }  # fmt: skip

    assert alarms(before, now) == []
    assert alarms(before, now._replace(rows=cut({"till"}))) == [("channel_silent", "till")]
    assert alarms(before, now._replace(rows=cut({"Pay"}))) == [("activity_silent", "till: Pay")]
    new = {("till", "Payment"): {d: n for d, n in now.rows["till", "Pay"].items() if d >= last}}
    assert alarms(before, now._replace(rows=cut({"Pay"}) | new)) == [("activity_renamed", "till: Pay")]
    lost = {d: (n, n // 2 if d > before.last else e) for d, (n, e) in now.cells["object"].items()}
    assert alarms(before, now._replace(cells={**now.cells, "object": lost})) == [("empty_cells", "object")]
    moved = share_test("rule", Decided(400, 80), Decided(150, 75))
    assert alarms(before, now, *moved) == [("violated_share", "rule")]
    (same,) = share_test("rule", Decided(400, 80), Decided(150, 31))
    assert same.p > 0.5


def test_a_silence_in_too_short_a_log_is_not_called() -> None:
    now = log(np.random.default_rng(3), 60)
    tests, notes = compare(until(now, 20), now)
    assert {t.kind for t in tests} == {"empty_cells"}
    assert "20 days are too few to tell a silence: 4 weeks are needed" in notes


def test_days_are_counted_as_they_stand_in_the_log() -> None:
    events = delivered({"a": 1, "b": None, "c": 5}).events
    assert days_of(events) == (START, date(2024, 3, 1))
    assert sum(rows for *_, rows in daily_rows(events)) == events.events
    assert {name for name, *_ in daily_cells(events)} == {"resource", "role", "channel"}
    assert all(empty == 0 for *_, empty in daily_cells(events))


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "s.duckdb"
    append(store, delivered({f"{n}": 1 if n % 5 else None for n in range(60)}), "deliveries")
    assert run(["drift", str(store)]) == 2
    assert "no rule has two runs yet" in capsys.readouterr().err
    append(store, delivered({f"{n}": 1 if n % 5 else None for n in range(70)}), "deliveries")
    assert run(["drift", str(store)]) == 0
    capsys.readouterr()
    append(store, delivered({f"{n}": 1 if n % 3 == 0 else None for n in range(90)}), "deliveries")
    assert run(["drift", str(store), "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["drift"]
    assert [(a["kind"], a["name"]) for a in found["alarms"]] == [("violated_share", "deliveries")]
    assert found["false_alarm_rate"] == FALSE_ALARMS
    assert run(["drift", str(store)]) == 1
    assert "60 of 90 cases decided since are violated" in " ".join(capsys.readouterr().out.split())
