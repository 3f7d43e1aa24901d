"""What a verdict's sentence claims holds of the rows: nothing is said to be missing that is recorded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracle
import pytest
from pairs import random_pair

from gnrs_ppl import GnrsError, Structure, audit, read_log
from gnrs_ppl.audit.types import InstanceVerdict
from gnrs_ppl.context.log import Event, EventLog
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.rule.types import HALVES, LOOK_BACK, TWO_SIDED

NOTHING = re.compile(
    r"(no|fewer than \w+)\b.* is recorded|is recorded fewer than|the record shows (no|an? .* fewer than)"
)


def started(records: RecordLayer, case: list[Event], at: oracle.At) -> bool:
    """Whether a time lies before the first row that is declared to start its case."""
    opens = [oracle.at_of(r) for r in case if r.activity in records.case_start and oracle.at_of(r)]
    return bool(opens) and oracle.compare(at, min(opens, key=oracle.end_of_grain)) < 0


def spoken_of(
    structure: Structure, log: oracle.Log, verdict: InstanceVerdict, sentence: str
) -> Iterator[Event]:
    """The rows of the act that stand in the time for which a sentence says that there are none, or too few."""
    constraint = structure.norm.constraints[verdict.constraint]
    halves = HALVES.get(constraint.template)
    template = halves[verdict.of_target] if halves else constraint.template
    case = log.cases[verdict.case_id]
    opened = next((row for row in case if row.event_id == verdict.instance), None)
    act = structure.trigger.act if verdict.of_target else structure.norm.target(constraint)
    assert act is not None
    channels = [structure.trigger.channel] if verdict.of_target else structure.evidence.channels
    by = structure.norm.correlation(constraint)
    key = oracle.key_of(opened, by, log)
    due = verdict.due and oracle.at_local(verdict.due.local, verdict.due.offset, verdict.due.grain)
    for row in case:
        at = oracle.at_of(row)
        if at is None or row.channel not in channels or row.event_id == verdict.instance:
            continue
        if not oracle.matches(row, act, log, opened) or not oracle.key_agrees(row, key, by, log):
            continue
        start = opened and oracle.at_of(opened)
        if "after what called for it" in sentence and start and oracle.compare(at, start) <= 0:
            continue
        first = min((a for r in case if (a := oracle.at_of(r))), key=oracle.end_of_grain)
        if "after the case started" in sentence and oracle.compare(at, first) <= 0:
            continue
        if "since the case started" in sentence and started(log.records, case, at):
            continue
        if template in TWO_SIDED and constraint.deadline and start:
            if oracle.compare(at, oracle.minus(start, constraint.deadline, log)) < 0:
                continue
            if oracle.compare(at, oracle.plus(start, constraint.deadline, log)) > 0:
                continue
        elif due and (
            oracle.compare(at, due) > 0 or (template in LOOK_BACK and oracle.compare(at, due) == 0)
        ):
            continue
        if template in LOOK_BACK and constraint.deadline and due:
            assert " within " in sentence or "directly" in sentence or "between" in sentence
            if oracle.compare(at, oracle.minus(due, constraint.deadline, log)) < 0:
                continue
        yield row


TEMPLATES = (
    "existence", "exactly", "response", "precedence", "responded_existence", "succession", "coexistence",
    "absence", "not_response", "not_precedence", "not_coexistence",
)  # fmt: skip


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_is_said_to_be_missing_is_missing(template: str) -> None:
    """Random rules and logs: rows that match are fewer than the rule counts in the time that is spoken of."""
    checked = Counter[str]()
    for seed in range(24):
        if sum(checked.values()) >= 12:
            break
        structure, records, events = random_pair(seed, template, ("any", "all")[seed % 2], cases=12)
        try:
            result = audit(structure, EventLog.from_events(events, records), allow_unrecorded=True)
        except GnrsError:
            continue
        log = oracle.Log(records, events)
        for verdict in result.verdicts:
            constraint = structure.norm.constraints[verdict.constraint]
            if constraint.after is not None or verdict.reason not in (
                "absent",
                "too_few",
                "refuted",
                "unseen",
            ):
                continue
            sentence = result.sentence(verdict)
            assert NOTHING.search(sentence), sentence
            found = list(spoken_of(structure, log, verdict, sentence.partition("; the nearest")[0]))
            assert len(found) < constraint.count, (sentence, found)
            checked[verdict.reason] += 1
    assert checked


LAYER = RecordLayer.model_validate(
    {
        "constants": {"channel": "log"},
        "channels": [{"name": "log", "closed_world": True}],
        "attributes": [{"name": "amount", "type": "number"}],
    }
)
PAY = {"template": "response", "target": "Pay", "deadline": "P1D"}
TIED = {"template": "precedence", "target": "Pay", "deadline": "P9D"}


@pytest.mark.parametrize(
    "pay, constraint, claims",
    [  # the nearest record that does not count, and why; a claim of nothing only of the time that is meant
        ("", {}, ("no payment is recorded in the log by 09:00:00 on 2 March 2026; that log is complete for that time.",)),
        (
            "2026-02-27T09:00:00Z,ann,clerk,5",
            {},
            (
                "recorded in the log after what called for it, by 09:00:00 on 2 March 2026",
                "nearest is recorded at 09:00:00 on 27 February 2026, two days before what called for it, and does not",
            ),
        ),
        (
            "2026-03-01T12:00:00Z,bob,clerk,5",
            {"correlate": "same_resource"},
            ("no payment by ann is", "at 12:00:00 on 1 March 2026, not by the person whom the rule asks for"),
        ),
        (
            "2026-03-01T12:00:00Z,bob,clerk,5",
            {"target": {"activity": "Pay", "role": "chief"}},
            ("no payment by a chief is recorded", "at 12:00:00 on 1 March 2026 in another role, and does not count"),
        ),
        (
            "2026-03-01T12:00:00Z,bob,clerk,5",
            {"target": {"activity": "Pay", "where": [{"attribute": "amount", "test": "more", "value": 9}]}},
            ("which does not meet the rule's condition, and does not count",),
        ),
        ("2026-03-01,bob,clerk,5", TIED, ("on the same recorded day as what called for it",)),
        ("2026-03-01T09:00:00Z,bob,clerk,5", TIED, ("in the same recorded second as what called for it",)),
        (
            "2026-03-01T09:00:00.0000001Z,bob,clerk,5",
            TIED,
            ("in the same recorded second as what called for it",),
        ),
        (
            "2026-02-27T09:00:00Z,bob,clerk,5",
            TIED | {"deadline": "P1D"},
            ("within one day before 09:00:00 on 1 March 2026, nor after it", "two days before what called for it"),
        ),
    ],
)  # fmt: skip
def test_a_notice_names_what_is_recorded_nearest(
    tmp_path: Path, pay: str, constraint: dict[str, Any], claims: tuple[str, ...]
) -> None:
    lines = ["case_id,activity,timestamp,resource,role,amount", "c,Fine,2026-03-01T09:00:00Z,ann,clerk,"]
    lines += [f"c,Pay,{pay}"] if pay else []
    for month, role, amount in ((1, "chief", 10), (6, "clerk", 20)):
        lines += [f"z{month},Pay,2026-0{month}-01T09:00:00Z,zoe,{role},{amount}"]
        lines += [f"y{month},Fine,2026-0{month}-01T09:00:00Z,zoe,clerk,{amount}"]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    structure = Structure.model_validate(
        {
            "trigger": {"act": "Fine", "channel": "log"},
            "norm": {"constraints": [PAY | constraint]},
            "evidence": {"channels": ["log"]},
        }
    )
    result = audit(structure, read_log(tmp_path / "log.csv", LAYER))
    (verdict,) = (v for v in result.verdicts if v.case_id == "c")
    assert [claim for claim in claims if claim not in result.sentence(verdict)] == [], result.sentence(
        verdict
    )
    finer = [f for f in result.findings if "finer than a microsecond" in f]
    assert bool(finer) == (".0000001" in pay)


def test_existence_that_counts_only_after_its_trigger_is_a_finding(tmp_path: Path) -> None:
    lines = ["case_id,activity,timestamp"]
    lines += [f"c{i},{act},2026-03-0{day}T09:00:00Z" for i, acts in enumerate(("PF", "FP", "F")) for day, act in
              enumerate(({"P": "Pay", "F": "Fine"}[a] for a in acts), 1)]  # fmt: skip
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    log = read_log(tmp_path / "log.csv", LAYER)
    said = {}
    for template in ("existence", "responded_existence"):
        structure = Structure.model_validate(
            {
                "trigger": {"act": "Fine", "channel": "log", "window": "P9D"},
                "norm": {"constraints": [{"template": template, "target": "Pay"}]},
                "evidence": {"channels": ["log"]},
            }
        )
        said[template] = [f for f in audit(structure, log).findings if "comes after the trigger" in f]
    assert said["responded_existence"] == []
    assert "in 1 of 2 cases with both, 'Pay' is recorded before it" in said["existence"][0]
