"""Whether two rules mean the same: by canonical form, on every short trace, and on the cases of a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gnrs_ppl.audit.names import unrecorded
from gnrs_ppl.audit.run import evaluate
from gnrs_ppl.audit.types import ROLL_UP, InstanceVerdict, Verdict
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import GnrsError, InputError, Refused, one_line
from gnrs_ppl.realize.english import capitalised
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.sentence import explain
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import SLOTS, Structure, durations_of
from gnrs_ppl.rulebook.imagined import NEVER, Imagined, Said, Trace, by_case
from gnrs_ppl.rulebook.traces import Space, at_most, blocks
from gnrs_ppl.rulebook.vocabulary import FIELDS, Vocabulary, vocabulary

EVENTS = 4
"""Events of the longest traces that are searched, unless something else is said."""
MOST_TRACES = 30_000
"""Traces that are judged at most; lengths whose traces would be more are left out, which the answer says."""
QUICK = 2
"""Lengths up to this are judged first: most differences show there."""

_PLAINEST = (
    {"violated", "satisfied"},
    {"violated", "not_activated"},
    {"violated", "excused"},
    {"satisfied", "not_activated"},
)


class Difference(NamedTuple):
    """A trace on which two rules differ, and what each says of it, judged on that trace alone."""

    trace: Trace
    said: tuple[Said, Said]
    sentences: tuple[tuple[str, ...], tuple[str, ...]]


class DifferentCase(NamedTuple):
    """A case of which two rules say different things, and why each does."""

    case_id: str
    said: tuple[Said, Said]
    sentences: tuple[tuple[str, ...], tuple[str, ...]]


class Searched(NamedTuple):
    """What was searched: traces of up to ``events`` events, so many of them, over a vocabulary.

    ``difference`` is the smallest on which the rules differ; ``differing`` how many of the traces do.
    """

    events: int
    traces: int
    words: Vocabulary
    difference: Difference | None
    differing: int


class OnLog(NamedTuple):
    """Two rules on the cases of a log.

    ``counts`` maps the two verdicts of a case to the number of cases; ``refused`` holds why a rule cannot be
    checked on it, where one cannot.
    """

    cases: int
    counts: Mapping[tuple[Verdict, Verdict], int]
    differing: tuple[DifferentCase, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Two rules side by side.

    Attributes
    ----------
    rules : tuple of Structure
        A and B.
    texts : tuple of str
        Each as a rule text.
    slots : tuple of str
        The slots in which their canonical forms differ.
    searched : Searched or None
        None where the canonical forms of all that a check reads are equal.
    on_log : OnLog or None
        None where no log was given.
    """

    rules: tuple[Structure, Structure]
    texts: tuple[str, str]
    lexicon: Lexicon
    imagined: Imagined
    slots: tuple[str, ...]
    searched: Searched | None
    on_log: OnLog | None

    @property
    def other_force(self) -> bool:
        """Whether one binds where the other advises or permits."""
        return self.rules[0].norm.force != self.rules[1].norm.force

    @property
    def beyond_verdicts(self) -> tuple[str, ...]:
        """In what else than verdicts they differ: force, what follows a breach, what the text alone says."""
        one, other = (canonical(rule) for rule in self.rules)
        found = ["force"] if self.other_force else []
        permissions = {one.norm.force, other.norm.force} == {"may"}
        found += ["permission"] if permissions and _norm_part(one) != _norm_part(other) else []
        found += ["procedure"] if one.procedure != other.procedure else []
        found += ["concerns"] if one.scope.concerns != other.scope.concerns else []
        return tuple(found)

    @property
    def differ(self) -> bool:
        """Whether a difference was found: in a trace, in a case of the log, in force or in procedure."""
        return bool(
            (self.searched and self.searched.difference)
            or (self.on_log and self.on_log.differing)
            or set(self.beyond_verdicts) - {"concerns"}
        )

    @property
    def answer(self) -> str:
        """``same`` where the forms are equal, ``different``, else ``no difference found``."""
        return "different" if self.differ else "no difference found" if self.searched else "same"

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs compare``."""
        return {
            "answer": self.answer,
            "called": self.lexicon.called,
            "rules": [
                {"text": text, "structure": rule.model_dump(mode="json", exclude_defaults=True)}
                for text, rule in zip(self.texts, self.rules, strict=True)
            ],
            "slots_that_differ": list(self.slots),
            "beyond_verdicts": list(self.beyond_verdicts),
            "searched": self._searched(),
            "on_log": self._on_log(),
        }

    def _searched(self) -> dict[str, Any] | None:
        if self.searched is None:
            return None
        words, found = self.searched.words, self.searched.difference
        return {
            "events": self.searched.events,
            "traces": self.searched.traces,
            "differing": self.searched.differing,
            "acts": words.acts,
            **{f"{field}s": words.values(field) for field in FIELDS},
            "people": len(words.people),
            "durations": [str(duration) for duration in words.durations],
            "difference": found
            and {
                "trace": [
                    {f: v for f, v in row._asdict().items() if f != "cells"} | {"at": row.at.isoformat()}
                    for row in found.trace
                ],
                "verdicts": [said.verdict for said in found.said],
                "reasons": [said.instance and said.instance.reason for said in found.said],
                "sentences": list(map(list, found.sentences)),
            },
        }

    def _on_log(self) -> dict[str, Any] | None:
        if self.on_log is None:
            return None
        return {
            "cases": self.on_log.cases,
            "counts": [{"a": a, "b": b, "cases": n} for (a, b), n in self.on_log.counts.items()],
            "differing": [
                {
                    "case_id": case.case_id,
                    **{letter: said.verdict for letter, said in zip("ab", case.said, strict=True)},
                    "sentences": list(map(list, case.sentences)),
                }
                for case in self.on_log.differing
            ],
            "refused": list(self.on_log.refused),
        }


def compare(
    a: Structure,
    b: Structure,
    records: RecordLayer,
    schema: Schema | None = None,
    log: EventLog | None = None,
    *,
    events: int = EVENTS,
) -> Comparison:
    """Compare what two rules mean.

    Canonical forms first. Where they differ in anything a check reads, every trace of up to ``events`` events
    over the rules' own vocabulary is judged by both, each rule as one query over all traces, on records that
    are complete. Then the cases of the log, on the records as they are.

    Parameters
    ----------
    a, b : Structure
    records : RecordLayer
        What each channel can record, at which grain, and how cases end.
    schema : Schema, optional
        Words for the names.
    log : EventLog, optional
        Cases to compare the rules on.
    events : int
        Length of the longest traces.

    Raises
    ------
    Refused, InputError
        A rule contradicts itself or cannot be checked though records be complete; the line says which.
    """
    working = [duration for rule in (a, b) for duration in durations_of(rule) if duration.working]
    if working and records.calendar is None:
        raise InputError(
            f"{working[0]} is working time, and the records declare no calendar",
            "declare records.calendar",
            field="deadline, window or response_time",
        )
    imagined = Imagined.of((a, b), records)
    lexicon = Lexicon.of(schema or Schema(), records).including(a).including(b)
    texts = (render(a, lexicon, records.dates_only), render(b, lexicon, records.dates_only))
    one, other = canonical(a), canonical(b)
    slots = tuple(slot for slot in SLOTS if getattr(one, slot) != getattr(other, slot))
    searched = None
    if _checked(one) != _checked(other):
        searched = _search(a, b, imagined, lexicon, events)
    on_log = _on_log(a, b, records, schema or Schema(), lexicon, log) if log is not None else None
    return Comparison((a, b), texts, lexicon, imagined, slots, searched, on_log)


def _norm_part(structure: Structure) -> tuple[Any, ...]:
    """A canonical form without its force, procedure and the objects that only the text names."""
    norm = structure.norm.model_copy(update={"force": "must"})
    scope = structure.scope.model_copy(update={"concerns": ()})
    return scope, structure.trigger, norm, structure.evidence


def _checked(structure: Structure) -> tuple[Any, ...]:
    """What of a canonical form a verdict may depend on; a permission gives none."""
    return () if structure.norm.force == "may" else _norm_part(structure)


def _search(a: Structure, b: Structure, imagined: Imagined, lexicon: Lexicon, events: int) -> Searched:
    """The smallest trace on which two rules differ, of all up to a length."""
    words = vocabulary((a, b), imagined)
    spaces, longest, total = [Space(words, ())], 0, 0
    for length in range(1, events + 1):
        if at_most(words, length) > 100 * MOST_TRACES:
            break
        added = blocks(words, length, imagined)
        total += sum(block.traces for block in added)
        if total > MOST_TRACES and length > 1:
            break
        longest = length
        if length > QUICK:
            spaces.append(Space(words, (*spaces[-1].blocks, *added)))
        else:
            spaces = [Space(words, (*spaces[-1].blocks, *added))]
    # what is short is judged first and alone; what is longer only where that shows nothing
    for space in dict.fromkeys((spaces[0], spaces[-1])):
        log = space.log(imagined)
        said = [_named(name, rule, imagined, log) for name, rule in (("A", a), ("B", b))]
        cases = [case for case in said[0].keys() | said[1].keys() if _of(said[0], case) != _of(said[1], case)]
        if cases:
            smallest = min(cases, key=lambda case: _plainness(space.trace(case), said, case))
            return Searched(
                max(len(block.times[0]) for block in space.blocks),
                space.traces,
                words,
                _confirmed(a, b, imagined, lexicon, space, smallest),
                len(cases),
            )
    return Searched(longest, spaces[-1].traces, words, None, 0)


def _named(name: str, rule: Structure, imagined: Imagined, log: EventLog) -> dict[str, Verdict]:
    """Verdicts of a rule; an error says which rule it is."""
    try:
        return imagined.verdicts(rule, log)
    except Refused as error:
        raise Refused(f"rule {name}: {error.problem}", error.remedy, reason=error.reason) from None
    except InputError as error:
        raise InputError(error.problem, error.remedy, source=f"rule {name}", field=error.field) from None


def _of(said: Mapping[str, Verdict], case: str) -> Verdict:
    return said.get(case, "not_activated")


def _plainness(trace: Trace, said: list[dict[str, Verdict]], case: str) -> tuple[Any, ...]:
    """Fewest events first, then the starkest contrast, then without ties, by few people, in a short time."""
    pair = {_of(one, case) for one in said}
    contrast = _PLAINEST.index(pair) if pair in _PLAINEST else len(_PLAINEST)
    times = [row.at for row in trace]
    ties = len(times) - len(set(times))
    others = sum("another" in str(value) for row in trace for value in row)
    return len(trace), contrast, ties, len({row.who for row in trace}), others, times[-1] - times[0], case


def _confirmed(
    a: Structure, b: Structure, imagined: Imagined, lexicon: Lexicon, space: Space, case: str
) -> Difference:
    """The trace with what both rules say of it, judged anew on a log that holds no other."""
    trace = space.trace(case)
    log = imagined.log({"the trace": trace}, space.everything())
    one, other = (imagined.judged(rule, log).get("the trace", Said()) for rule in (a, b))
    if one.verdict == other.verdict:
        raise AssertionError(f"both rules say {one.verdict} of the trace by itself")
    return Difference(trace, (one, other), _why((a, b), (one, other), lexicon))


def _why(
    rules: tuple[Structure, Structure], said: tuple[Said, Said], lexicon: Lexicon
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What each rule says that the other does not, in sentences; its gravest verdict where that is
    nothing.
    """

    def keyed(rule: Structure, one: InstanceVerdict) -> tuple[str, ...]:
        constraint = rule.norm.constraints[one.constraint]
        return one.instance, one.verdict, constraint.template, constraint.target.activity

    def sentences(number: int) -> tuple[str, ...]:
        rule, mine, theirs = rules[number], said[number], said[1 - number]
        known = {keyed(rules[1 - number], one) for one in theirs.instances}
        own = [one for one in mine.instances if keyed(rule, one) not in known]
        chosen = own or [one for one in mine.instances if one is mine.instance]
        told = (
            explain(one, rule, lexicon).removeprefix(f"In case {one_line(one.case_id, 80)}, ")
            for one in chosen
        )
        return tuple(dict.fromkeys(capitalised(text) for text in told)) or (NEVER,)

    return sentences(0), sentences(1)


def _on_log(
    a: Structure, b: Structure, records: RecordLayer, schema: Schema, lexicon: Lexicon, log: EventLog
) -> OnLog:
    """Both rules on the cases of a log, on the records as they are."""
    found, refused = [], []
    for name, rule in (("A", a), ("B", b)):
        try:
            unrecorded(rule, records, schema, log, allow=False)
            found.append(by_case(evaluate(rule, records, log)))
        except GnrsError as error:
            refused.append(f"rule {name}: {error}")
    if refused:
        return OnLog(log.cases, {}, (), tuple(refused))
    pairs = [(case, (found[0].get(case, Said()), found[1].get(case, Said()))) for case in log.case_ids]
    counted = Counter((one.verdict, other.verdict) for _, (one, other) in pairs)
    order = sorted(counted, key=lambda pair: (pair[0] == pair[1], *map(ROLL_UP.index, pair)))
    return OnLog(
        log.cases,
        {pair: counted[pair] for pair in order},
        tuple(
            DifferentCase(case, said, _why((a, b), said, lexicon))
            for case, said in pairs
            if said[0].verdict != said[1].verdict
        ),
    )
