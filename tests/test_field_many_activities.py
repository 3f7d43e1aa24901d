"""A log of many activities: what a sentence costs grows with their number, not with its square."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from gnrs_ppl.candidates.source import Material
from gnrs_ppl.context import files
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.log import Event, EventLog, resolved
from gnrs_ppl.context.types import Goal, RecordLayer, Schema
from gnrs_ppl.errors import InputError
from gnrs_ppl.reading import read
from gnrs_ppl.reading.mentions import mentions
from gnrs_ppl.reading.reader import vocabulary

VERBS = ["approve", "check", "confirm", "register", "send", "cancel", "review", "reject"]
KINDS = ["purchase", "sales", "service", "travel", "annual", "internal", "final", "urgent", "standard"]
THINGS = ["order", "invoice", "request", "claim", "contract", "ticket", "report", "payment"]
SENTENCE = "The clerk must approve the purchase order within 5 days after the sales invoice was registered."


def schema(count: int) -> Schema:
    """That many acts of verb and object."""
    told = itertools.islice(itertools.product(KINDS, THINGS, VERBS), count)
    acts = [f"{verb} {kind} {thing}" for kind, thing, verb in told]
    return Schema.model_validate(
        {"actions": [{"name": a.title().replace(" ", ""), "phrase": a} for a in acts]}
    )


def context(count: int) -> Context:
    """Each act four times, in cases of four."""
    known = schema(count)
    begin = datetime(2024, 1, 1)
    events = [
        Event(
            event_id=f"e{n:05d}",
            case_id=f"c{n // 4:05d}",
            activity=known.actions[n * 7 % count].name,
            timestamp=begin + timedelta(minutes=n),
            offset=0,
            grain="second",
            channel="log",
        )
        for n in range(4 * count)
    ]
    records = RecordLayer()
    log = EventLog.from_events(events, records)
    found = Context(goal=Goal(id="g", intent=SENTENCE), schema=known, records=records, source="test")
    found.__dict__["log"] = log
    return found


def steps(work: Callable[[], Any]) -> int:
    """Instructions of Python that some work takes, so that each round of a comprehension counts."""
    count = 0

    def each(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return each

    before = sys.gettrace()
    sys.settrace(each)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def mentioned(count: int) -> Callable[[], Any]:
    words = vocabulary(schema(count))
    tokens = words.tokens_of(SENTENCE)
    mentions(words, tokens)  # what is remembered of each word, once
    return lambda: mentions(words, tokens)


def channels(count: int) -> Callable[[], Any]:
    known = context(count)
    _ = known.log.seen, known.log.clocks
    return lambda: resolved(known.records, known.log)


def openers(count: int) -> Callable[[], Any]:
    material = Material(context(count))
    _ = material.traces.delays, material.regulated
    return lambda: (material.openers_of_others, material.usual_closers)


def words_of(count: int) -> Callable[[], Any]:
    words = vocabulary(schema(count))
    return lambda: [words.words_of(a) for a in words.actions]


@pytest.mark.parametrize("work", [mentioned, channels, openers, words_of])
def test_work_grows_with_the_number_of_acts_and_not_with_its_square(
    work: Callable[[int], Callable[[], Any]],
) -> None:
    few, many = (steps(work(count)) for count in (60, 240))
    assert many < 6 * few, (few, many)  # four times the acts; squares take sixteen times the work


def test_a_pair_of_acts_that_is_seen_once_has_its_one_delay_at_every_quantile() -> None:
    found = [d for d in context(60).traces.delays.values() if d.cases == 1]
    assert {(len(d.quantiles), len(set(d.quantiles))) for d in found} <= {(21, 1)}


def test_a_sentence_has_the_same_limit_from_python_as_from_the_command_line() -> None:
    known = schema(8)
    longest = SENTENCE + " " * (2000 - len(SENTENCE))
    assert read(longest, known).statements
    with pytest.raises(
        InputError, match="^arguments: sentence: is longer than 2,000 characters; write a sentence$"
    ):
        read(longest + " ", known)


@pytest.mark.parametrize(
    "text",
    [
        "a: [1, {b: 'x'}]\nc: |\n  two\n  lines\n",
        "a: \u00e9\n- b\n",
        "a: &x 1\nb: *x\n",
        "\ta: 1\n",
        "a: {b: 1\n",
        "",
    ],
)
def test_yaml_is_read_the_same_by_both_parsers(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome() -> Any:
        try:
            return files.parse_yaml(text, "file")
        except InputError as error:
            return str(error)

    quick = outcome()
    monkeypatch.setattr(files, "_Fast", files._Loader)
    assert quick == outcome()
