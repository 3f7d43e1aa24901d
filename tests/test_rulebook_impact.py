"""Violations at every value of a grid are those of separate audits; knee, custom, and groups that are hidden."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from pairs import random_pair
from small import RULE, changed, write
from tiers import tier

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import Grid, compile_grid
from gnrs_ppl.audit.result import tally
from gnrs_ppl.audit.run import evaluate
from gnrs_ppl.cli import run
from gnrs_ppl.context.log import Event, EventLog, resolved
from gnrs_ppl.context.time import Duration
from gnrs_ppl.errors import GnrsError, InputError
from gnrs_ppl.rule.types import IMPLEMENTED, Structure
from gnrs_ppl.rulebook.impact import (
    Hits,
    Number,
    Point,
    Value,
    _groups,
    _knee,
    impact,
    read_values,
    with_value,
)

SOME = ("response", "not_response", "coexistence")
LENGTHS = {
    "deadline": [Duration.parse(text) for text in ("PT40M", "P2D", "P1M")],
    "window": [Duration.parse(text) for text in ("PT3H", "P3D", "P2M")],
}


def test_one_query_for_all_values_gives_what_separate_audits_give() -> None:
    """Row by row, on random rules and logs of every template."""
    compared = Counter[str]()
    numbers: tuple[Number, ...] = ("deadline", "window")
    for seed in range(tier(1, 2)):
        for template in tier(SOME, IMPLEMENTED):
            rng = random.Random(f"{seed} {template}")
            structure, records, events = random_pair(seed, template, "any", 12)
            log = EventLog.from_events(events, records)
            number: Number = rng.choice(numbers)
            plans, rows = {}, []
            for value in LENGTHS[number]:
                try:
                    rule = with_value(structure, number, 0, value)
                    plans[value] = check(rule, records, log)
                except (GnrsError, ValueError):
                    continue
                rows += [
                    (len(plans) - 1, *v[:6], v.bearer, v.slack_seconds) for v in evaluate(rule, records, log)
                ]
            if not plans:
                continue
            query = compile_grid(
                next(iter(plans.values())),
                Grid(tuple(plans), 0 if number == "deadline" else None),
                'SELECT point, case_id, instance, "constraint", verdict, reason, witnesses, bearer, slack_seconds '
                "FROM verdicts",
            )
            found = log.connection.execute(query.sql, query.parameters).fetchall()
            assert sorted(map(repr, [(*r[:6], tuple(r[6]), *r[7:]) for r in found])) == sorted(
                map(repr, rows)
            )
            compared[template] += len(rows)
    assert len(compared) >= tier(len(SOME), len(IMPLEMENTED)) - 2
    assert sum(compared.values()) > tier(30, 1000)


@pytest.mark.parametrize(
    ("number", "values"),
    [
        ("deadline", read_values("PT5M,PT15M,PT40M,P1D")),
        ("window", read_values("PT20M,PT2H")),
        ("count", read_values("1,2,3")),
        ("logs", read_values("1,2")),
    ],
)
def test_every_number_equals_separate_audits(tmp_path: Path, number: Number, values: list[Value]) -> None:
    structure, log = shifts(tmp_path)
    if number == "count":
        structure = Structure.model_validate(
            changed(
                RULE["rule"],
                ("norm.constraints.0", {"template": "absence", "target": "Serve", "deadline": "P2D"}),
            )
        )
    if number == "logs":
        structure = Structure.model_validate(
            changed(
                RULE["rule"],
                ("norm.constraints.0", {"template": "response", "target": "Serve", "deadline": "P2D"}),
            )
        )
    records = resolved(log.records, log)
    found = impact(structure, records, log, number=number, values=values, smallest=1)
    assert {*values} <= {point.value for point in found.points}
    decided = 0
    for point in found.points:
        apart = evaluate(with_value(structure, number, 0, point.value), records, log)
        assert point.counts == tally(v.verdict for v in apart)
        assert point.cases == len({v.case_id for v in apart if v.verdict == "violated"})
        decided += point.violated + point.counts["satisfied"]
    assert decided > 0


def shifts(folder: Path) -> tuple[Structure, EventLog]:
    from gnrs_ppl.context import load_context

    return Structure.model_validate(RULE["rule"]), load_context(write(folder)).log


def test_custom_is_how_long_the_act_takes_where_it_is_done(tmp_path: Path) -> None:
    structure, log = shifts(tmp_path)
    found = impact(structure, resolved(log.records, log), log)
    assert found.custom is not None
    assert found.custom.times == 2  # after 5 and after 40 minutes
    assert {str(length) for length in found.custom.quantiles.values()} == {"PT5M", "PT40M"}
    assert str(found.today) == "PT15M"
    ban = changed(
        RULE["rule"], ("norm.constraints.0.template", "not_response"), ("norm.constraints.0.unless", ...)
    )
    banned = impact(Structure.model_validate(ban), resolved(log.records, log), log)
    assert banned.custom == found.custom


def test_the_knee_is_where_the_curve_bends() -> None:
    def points(*violated: int) -> list[Point]:
        return [Point(place, tally(["violated"] * n), n) for place, n in enumerate(violated)]

    assert _knee(points(100, 60, 20, 18, 16, 14)) == 2
    assert _knee(points(0, 2, 4, 6, 60, 100)) is None  # it bends the other way
    assert _knee(points(0, 60, 90, 94, 97, 100)) == 2
    assert _knee(points(50, 40, 30, 20, 10)) is None
    assert _knee(points(5, 5, 5, 5)) is None
    assert _knee(points(9, 1, 0)) is None


def hits(**groups: int) -> Hits:
    return {name: tally(["violated"] * n) for name, n in groups.items()}


def test_small_groups_are_hidden_and_cannot_be_had_by_subtraction() -> None:
    shown = _groups("role", hits(clerk=40, guard=12, cook=3, owner=30), 10)
    assert ([g.name for g in shown.shown], shown.hidden) == (["clerk", "owner"], 2)
    shown = _groups("role", hits(clerk=40, guard=2, cook=3), 10)
    assert ([g.name for g in shown.shown], shown.hidden) == (["clerk"], 2)
    shown = _groups("role", hits(clerk=40, guard=12), 10)
    assert (len(shown.shown), shown.hidden) == (2, 0)
    shown = _groups("role", hits(clerk=4), 10)
    assert (shown.shown, shown.hidden) == ((), 1)


def test_what_is_no_value_is_one_line(tmp_path: Path) -> None:
    structure, log = shifts(tmp_path)
    records = resolved(log.records, log)
    with pytest.raises(InputError, match="length of time"):
        impact(structure, records, log, number="deadline", values=[3])
    with pytest.raises(InputError, match="number from 1 on"):
        impact(structure, records, log, number="logs", values=[0])
    with pytest.raises(InputError, match="count goes with"):
        impact(structure, records, log, number="count")
    with pytest.raises(InputError, match="1 constraint"):
        impact(structure, records, log, constraint=4)
    with pytest.raises(InputError, match="ISO 8601"):
        read_values("P1D,soon")


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    context = write(tmp_path)
    command = ["impact", str(tmp_path / "rule.json"), "--context", str(context)]
    picture = tmp_path / "curve.svg"
    assert run([*command, "--values", "PT5M,PT40M", "--plot", str(picture), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(p["value"], p["counts"]["violated"]) for p in told["points"]] == [
        ("PT5M", 2),
        ("PT15M", 2),
        ("PT40M", 1),
    ]
    assert picture.read_text().startswith("<?xml")
    assert run([*command, "--values", "PT5M,PT40M"]) == 0
    out = capsys.readouterr().out
    assert "the rule" in out
    assert "ann" not in out  # nobody is named
    assert run([*command, "--plot", str(tmp_path / "curve.gif")]) == 2
    assert ".svg" in capsys.readouterr().err


def test_months_are_those_of_local_time() -> None:
    from datetime import datetime

    from gnrs_ppl.context.types import RecordLayer

    rows = [
        Event("1", "a", "Open", datetime(2024, 1, 31, 23, 30), 60, "second", "p", "clerk", None, None, "log"),
        Event("2", "b", "Close", datetime(2024, 3, 1), 60, "second", "p", "clerk", None, None, "log"),
    ]
    records = RecordLayer.model_validate({"channels": [{"name": "log", "closed_world": True}]})
    log = EventLog.from_events(rows, records)
    rule = Structure.model_validate(
        {
            "trigger": {"act": "Open", "channel": "log"},
            "norm": {"constraints": [{"template": "response", "target": "Close", "deadline": "P1D"}]},
            "evidence": {"channels": ["log"]},
            "procedure": {"steps": [{"stage": "review", "name": "look", "role": "clerk"}]},
        }
    )
    found = impact(rule, resolved(records, log), log, smallest=1)
    months = [group for group in found.groups[Duration(days=1)] if group.field == "month"]
    assert [(g.name, g.violated) for g in months[0].shown] == [("2024-02", 1)]
