"""What it would take: each addition makes the part checkable, and no smaller set does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from small import CONTEXT, LOG, RULE, changed, write

import gnrs_ppl as gnrs
from gnrs_ppl.audit.run import evaluate
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.cli import run
from gnrs_ppl.context.log import resolved
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.rulebook.additions import VARIANTS, Addition, Close, Cover, Fill, Finer, Keep, Records
from gnrs_ppl.rulebook.gaps import Gap, additions_for, gaps, smallest_sets

CONSTRAINT = "norm.constraints.0"
NO_EXCUSE = changed(RULE["rule"], (f"{CONSTRAINT}.unless", ...))
OPEN = changed(
    CONTEXT,
    ("records.channels.1.closed_world", ...),
    ("records.channels.1.coverage", [{"start": "2024-03-04", "end": "2024-03-04"}]),
)
ROLELESS = LOG.replace(",ann,waiter,", ",ann,,")
DATES = "\n".join(
    line if i == 0 else ",".join(cell[:10] if j == 3 else cell for j, cell in enumerate(line.split(",")))
    for i, line in enumerate(LOG.strip().split("\n"))
)


def one_gap(folder: Path, rule: dict[str, Any], context: dict[str, Any] = CONTEXT, log: str = LOG) -> Gap:
    found = gaps(load_context(write(folder, context, log)), Structure.model_validate(rule))
    (gap,) = found.gaps
    return gap


def decided(rule: dict[str, Any], records: Records) -> int:
    """Instances with a verdict that settles something; none where the rule is refused."""
    try:
        found = evaluate(Structure.model_validate(rule), records.layer, records.log)
    except GnrsError:
        return -1
    return sum(v.verdict in ("satisfied", "violated", "excused", "not_activated") for v in found)


def records_of(folder: Path) -> Records:
    context = load_context(folder / "context.json")
    return Records(resolved(context.records, context.log), context.log).pinned()


def test_silence_that_says_nothing_wants_a_closed_world(tmp_path: Path) -> None:
    rule = changed(NO_EXCUSE, ("evidence", {"channels": ["checkin_log"]}))
    gap = one_gap(tmp_path, rule, changed(CONTEXT, ("records.channels.1.closed_world", ...)))
    assert (gap.refused, gap.undecided) == ("", {"open_world": 3})
    assert [(remedy.additions, remedy.settles) for remedy in gap.remedies] == [((Close("checkin_log"),), 3)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rule", "context", "log"),
    [
        (
            "two declarations",
            changed(NO_EXCUSE, ("evidence", {"channels": ["checkin_log"]})),
            OPEN,
            LOG.replace("2024-03-04T10", "2024-03-05T10"),
        ),
        ("roles", changed(NO_EXCUSE, ("scope", {"roles": ["waiter"]})), CONTEXT, ROLELESS),
        (
            "a second log",
            changed(NO_EXCUSE, ("evidence", {"channels": ["badge_log", "checkin_log"]})),
            CONTEXT,
            LOG,
        ),
    ],
)
def test_no_smaller_set_settles_what_a_remedy_settles(
    tmp_path: Path, name: str, rule: dict[str, Any], context: dict[str, Any], log: str
) -> None:
    """By brute force: every remedy decides more than all its parts do together, on both contents."""
    gap = one_gap(tmp_path, rule, context, log)
    records = records_of(tmp_path)
    assert gap.remedies, name
    for remedy in gap.remedies:
        for variant in VARIANTS:
            now = decided(rule, records.with_additions(remedy.additions, variant))
            assert now > decided(rule, records) or gap.refused
            for size in range(len(remedy.additions)):
                for part in combinations(remedy.additions, size):
                    assert decided(rule, records.with_additions(part, variant)) < now or gap.refused


def test_two_declarations_together(tmp_path: Path) -> None:
    """Where the log is neither complete nor its silence absence, both are needed for the matter of the day
    that it does not cover.
    """
    rule = changed(NO_EXCUSE, ("evidence", {"channels": ["checkin_log"]}))
    gap = one_gap(tmp_path, rule, OPEN, LOG.replace("2024-03-04T10", "2024-03-05T10"))
    assert [(remedy.additions, remedy.settles) for remedy in gap.remedies] == [
        ((Close("checkin_log"),), 2),
        ((Close("checkin_log"), Cover("checkin_log")), 1),
    ]


def test_a_refused_rule_wants_its_log_kept(tmp_path: Path) -> None:
    rule = changed(NO_EXCUSE, ("evidence", {"channels": ["roster_log"]}))
    gap = one_gap(tmp_path, rule)
    assert "0 of 1 evidence channels can record 'CheckIn'" in gap.refused
    assert [remedy.additions for remedy in gap.remedies] == [(Keep("roster_log", "CheckIn"),)]
    assert gap.remedies[0].settles == 4


def test_dates_want_times_for_a_deadline_of_minutes(tmp_path: Path) -> None:
    gap = one_gap(
        tmp_path, NO_EXCUSE, changed(CONTEXT, ("records.channels", CONTEXT["records"]["channels"][:2])), DATES
    )
    assert "to the day" in gap.refused
    assert [remedy.additions for remedy in gap.remedies] == [(Finer("roster_log"), Finer("checkin_log"))]
    records = records_of(tmp_path)
    for variant in VARIANTS:  # either alone, and the rule is refused still
        for part in gap.remedies[0].additions:
            assert decided(NO_EXCUSE, records.with_additions((part,), variant)) == -1
        assert decided(NO_EXCUSE, records.with_additions(gap.remedies[0].additions, variant)) > 0


def test_a_field_that_is_empty_wants_filling(tmp_path: Path) -> None:
    gap = one_gap(tmp_path, changed(NO_EXCUSE, ("scope", {"roles": ["waiter"]})), log=ROLELESS)
    assert gap.undecided == {"scope": 2}
    assert [remedy.additions for remedy in gap.remedies] == [
        (Fill("role", "StartShift", "roster_log", "waiter"),)
    ]


def test_the_smallest_sets_are_those_of_brute_force() -> None:
    """On every monotone condition over four additions that has one of some shapes."""
    offered = [Close(name) for name in "abcd"]
    shapes: list[list[set[str]]] = [
        [{"a"}],
        [{"a", "b"}],
        [{"a", "b"}, {"c"}],
        [{"a", "b"}, {"a", "c"}],
        [{"a", "b"}, {"c", "d"}],
        [{"a", "b", "c"}, {"d", "a", "b"}],
        [set()],
        [],
    ]
    for shape in shapes:

        def works(chosen: Sequence[Addition], shape: list[set[str]] = shape) -> bool:
            return any(need <= {one.channel for one in chosen if isinstance(one, Close)} for need in shape)

        every = [c for size in range(5) for c in combinations(offered, size) if works(c)]
        least = min(map(len, every), default=0)
        assert smallest_sets(offered, works) == [c for c in every if len(c) == least]


def test_what_stands_there_stays(tmp_path: Path) -> None:
    write(tmp_path, log=ROLELESS)
    records = records_of(tmp_path)
    rule = Structure.model_validate(changed(NO_EXCUSE, ("scope", {"roles": ["waiter"]})))
    before = records.log.connection.execute("SELECT * FROM events ORDER BY event_id").fetchall()
    offered = additions_for(rule, records)
    assert len(offered) == len({repr(one) for one in offered})
    for variant in VARIANTS:
        records.with_additions(offered, variant)
    assert records.log.connection.execute("SELECT * FROM events ORDER BY event_id").fetchall() == before


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    context = write(tmp_path)
    assert run(["gaps", str(context), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (gap,) = [gap for gap in told["gaps"] if gap["part"] == "evidence E3"]
    assert "badge_log" in gap["refused"]
    assert [one["channel"] for one in gap["remedies"][0]["additions"]] == ["badge_log"]
    assert run(["gaps", str(context)]) == 0
    assert "keep a record of 'CheckIn' in 'badge_log'" in " ".join(capsys.readouterr().out.split())
    assert run(["gaps", str(context), "--rule", str(tmp_path / "rule.json")]) == 0
    capsys.readouterr()
    (tmp_path / "same.json").write_text(
        json.dumps(changed(RULE, ("rule.norm.constraints.0.target", "StartShift")))
    )
    assert run(["gaps", str(context), "--rule", str(tmp_path / "same.json")]) == 3
    assert "1 activity instead of 2" in capsys.readouterr().err


def test_without_pools_it_is_the_drafted_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_log = ("records.channels.1.closed_world", ...)
    context = write(tmp_path, changed(CONTEXT, ("pools", ...), open_log, ("records.case_end", ["Serve"])))
    drafted = gnrs.draft(context, kernel="exact")
    (gap,) = gaps(load_context(context), drafted.structure).gaps
    assert run(["gaps", str(context), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["text"] for one in told["gaps"]] == [gap.text]
    assert "what gnrs draft writes" in told["notes"][0]
    assert drafted.text in told["notes"][1]
    bare = write(tmp_path, changed(CONTEXT, ("pools", ...), ("goal", ...)))
    assert run(["gaps", str(bare)]) == 2
    assert "gnrs goal new" in capsys.readouterr().err
