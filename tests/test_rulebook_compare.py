"""Whether two rules mean the same: the smallest trace on which they differ, held against the oracle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import oracle
import pytest
from small import CONTEXT, RULE, changed, write
from tiers import mostly_slow

from gnrs_ppl.audit.result import roll_up
from gnrs_ppl.audit.types import ROLL_UP, Verdict
from gnrs_ppl.cli import run
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.rulebook import compare as module
from gnrs_ppl.rulebook.compare import compare
from gnrs_ppl.rulebook.examples import read_examples
from gnrs_ppl.rulebook.imagined import Imagined, Trace
from gnrs_ppl.rulebook.traces import Space, at_most, blocks, starts
from gnrs_ppl.rulebook.vocabulary import vocabulary

RECORDS = RecordLayer.model_validate(CONTEXT["records"])
BASE = changed(RULE["rule"], ("procedure.response_time", ...))
CONSTRAINT = "norm.constraints.0"
OFFICE = changed(
    BASE,
    ("norm.bearer", {"role": "waiter"}),
    ("scope", {"locations": ["restaurant"]}),
    (CONSTRAINT, {"template": "response", "target": "CheckIn", "deadline": "PT15M"}),
)
BAN = changed(BASE, (CONSTRAINT, {"template": "not_response", "target": "Serve", "deadline": "PT1H"}))
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "deadline": (BASE, changed(BASE, (f"{CONSTRAINT}.deadline", "PT30M")), 2),
    "exception": (BASE, changed(BASE, (f"{CONSTRAINT}.unless", ...)), 2),
    "target": (BASE, changed(BASE, (f"{CONSTRAINT}.target", "Serve")), 2),
    "trigger": (BASE, changed(BASE, ("trigger.act", "Serve")), 1),
    "scope": (BASE, changed(BASE, ("scope", {"roles": ["waiter"]})), 1),
    "place": (OFFICE, changed(OFFICE, ("scope", ...)), 1),
    "office": (OFFICE, changed(OFFICE, ("norm.bearer", {"role": "cook"})), 2),
    "evidence": (
        changed(BASE, (f"{CONSTRAINT}.target", "Serve")),
        changed(BASE, (f"{CONSTRAINT}.target", "Serve"), ("evidence", {"channels": ["roster_log"]})),
        2,
    ),
    "correlation": (BAN, changed(BAN, (f"{CONSTRAINT}.correlate", "same_resource")), 2),
    "tie": (BAN, changed(BAN, (f"{CONSTRAINT}.ties", "violate")), 2),
    "direction": (
        changed(BASE, (f"{CONSTRAINT}.unless", ...)),
        changed(BASE, (f"{CONSTRAINT}.unless", ...), (f"{CONSTRAINT}.template", "precedence")),
        2,
    ),
    "count": (
        changed(BAN, (f"{CONSTRAINT}.template", "absence")),
        changed(BAN, (f"{CONSTRAINT}.template", "absence"), (f"{CONSTRAINT}.count", 2)),
        2,
    ),
    "first": (
        BASE,
        changed(BASE, ("trigger.once", "first")),
        3,
    ),
}


def rule(data: dict[str, Any]) -> Structure:
    return Structure.model_validate(data)


def by_oracle(structure: Structure, imagined: Imagined, trace: Trace) -> Verdict:
    """The gravest verdict of a trace by itself, from the other implementation."""
    found = oracle.evaluate(structure, imagined.records, imagined.rows("case", trace))
    return min((v.verdict for v in found), key=ROLL_UP.index, default="not_activated")


@pytest.mark.parametrize("name", mostly_slow(PAIRS, ("deadline", "correlation", "first")))
def test_the_smallest_trace_is_one_and_the_oracle_says_so(name: str) -> None:
    a, b = map(rule, PAIRS[name][:2])
    found = compare(a, b, RECORDS)
    assert found.searched is not None
    assert found.searched.difference is not None
    trace, said, _ = found.searched.difference
    assert len(trace) == PAIRS[name][2]
    assert tuple(by_oracle(r, found.imagined, trace) for r in (a, b)) == tuple(s.verdict for s in said)
    assert said[0].verdict != said[1].verdict
    words = vocabulary((a, b), found.imagined)
    shorter = [b for n in range(1, min(len(trace), 3)) for b in blocks(words, n, found.imagined)]
    space = Space(words, tuple(shorter))
    for case in cases(space):
        shown = space.trace(case)
        assert by_oracle(a, found.imagined, shown) == by_oracle(b, found.imagined, shown)


def cases(space: Space) -> list[str]:
    return [
        f"{n}.{t}.{k}.{p}"
        for n, block in enumerate(space.blocks)
        for t in range(len(block.times))
        for k in range(len(block.kinds))
        for p in range(len(block.people))
    ]


def test_the_log_of_a_space_holds_its_traces() -> None:
    a, b = map(rule, PAIRS["correlation"][:2])
    imagined = Imagined.of((a, b), RECORDS)
    words = vocabulary((a, b), imagined)
    space = Space(words, tuple(b for n in (1, 2) for b in blocks(words, n, imagined)))
    rows = space.log(imagined).connection.execute("SELECT * FROM events ORDER BY event_id").fetchall()
    wanted = [row for case in cases(space) for row in imagined.rows(case, space.trace(case))]
    wanted += imagined.rows("every act once", space.everything())
    assert sorted(row[:-1] for row in wanted) == sorted(rows)  # no record layer here declares attributes
    assert space.traces == len(cases(space)) <= sum(at_most(words, n) for n in (1, 2))


def test_one_rule_in_two_spellings_is_the_same() -> None:
    other = changed(
        BASE, (f"{CONSTRAINT}.correlate", "same_case"), ("evidence.channels", ["roster_log", "checkin_log"])
    )
    found = compare(rule(BASE), rule(other), RECORDS)
    assert (found.answer, found.searched, found.differ) == ("same", None, False)


def test_two_templates_that_ask_the_same_differ_on_no_trace() -> None:
    existence = changed(BASE, (f"{CONSTRAINT}.template", "existence"))
    found = compare(rule(BASE), rule(existence), RECORDS, events=3)
    assert found.answer == "no difference found"
    assert found.searched is not None
    assert found.searched.events == 3
    assert found.searched.traces == 287


def test_a_month_is_not_as_many_days_on_every_start() -> None:
    """From the first start, the fourth of March, a month has 31 days; from another it has not."""
    month = changed(BASE, (f"{CONSTRAINT}.deadline", "P1M"))
    found = compare(rule(month), rule(changed(month, (f"{CONSTRAINT}.deadline", "P31D"))), RECORDS)
    assert found.searched is not None
    assert found.searched.difference is not None
    durations = vocabulary((found.rules), found.imagined).durations
    assert len(starts(durations, found.imagined.ends)) == 2


def test_what_no_verdict_shows_is_told_too() -> None:
    should = compare(rule(BASE), rule(changed(BASE, ("norm.force", "should"))), RECORDS)
    assert (should.differ, should.beyond_verdicts, should.searched) == (True, ("force",), None)
    may = changed(BASE, ("norm.force", "may"))
    free = compare(rule(may), rule(changed(may, (f"{CONSTRAINT}.target", "Serve"))), RECORDS)
    assert (free.differ, free.beyond_verdicts, free.searched) == (True, ("permission",), None)
    words = compare(rule(BASE), rule(changed(BASE, ("scope", {"concerns": ["shift"]}))), RECORDS)
    assert (words.differ, words.beyond_verdicts) == (False, ("concerns",))


def test_lengths_that_would_be_too_many_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TRACES", 60)
    found = compare(rule(BASE), rule(changed(BASE, (f"{CONSTRAINT}.template", "existence"))), RECORDS)
    assert found.searched is not None
    assert (found.searched.events, found.searched.traces) == (2, 19)


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The cases of the log are those of two audits; the trace is kept, green for A and red for B."""
    context = write(tmp_path)
    a, b, kept = tmp_path / "rule.json", tmp_path / "b.json", tmp_path / "cases.yaml"
    b.write_text(json.dumps(changed(RULE, ("rule.norm.constraints.0.deadline", "PT1H"))))
    place = ["--context", str(context)]
    assert run(["compare", str(a), str(b), *place, "--save", str(kept), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["searched"]["difference"]["verdicts"] == ["violated", "satisfied"]
    assert told["on_log"]["differing"][0]["case_id"] == "s2"
    audits = []
    for path in (a, b):
        run(["audit", str(context), "--rule", str(path), "--json"])
        audits.append({c["case_id"]: c["verdict"] for c in json.loads(capsys.readouterr().out)["cases"]})
    assert [c["case_id"] for c in told["on_log"]["differing"]] == [
        case for case in audits[0] if audits[0][case] != audits[1][case]
    ]
    assert sum(c["cases"] for c in told["on_log"]["counts"]) == told["on_log"]["cases"] == 4
    assert len(read_examples(kept).cases) == 1
    assert run(["test", str(a), str(kept), *place]) == 0
    assert run(["test", str(b), str(kept), *place]) == 1
    assert "expected broken, the rule says kept" in capsys.readouterr().out
    assert run(["compare", str(a), str(a), *place]) == 0
    assert "They mean the same" in capsys.readouterr().out
    assert run(["compare", str(a), str(b), *place, "--save", str(b)]) == 2
    assert "is read by this command" in capsys.readouterr().err


def test_roll_up_is_that_of_an_audit() -> None:
    """What SQL and what Python roll up are one, on a log of imagined traces."""
    a, b = map(rule, PAIRS["first"][:2])
    imagined = Imagined.of((a, b), RECORDS)
    words = vocabulary((a, b), imagined)
    log = Space(words, tuple(blocks(words, 2, imagined))).log(imagined)
    quick = imagined.verdicts(a, log)
    from gnrs_ppl.audit.run import evaluate

    slow = {c.case_id: c.verdict for c in roll_up(evaluate(a, imagined.records, log), log)}
    assert {case: slow[case] for case in quick} == quick
    assert {case for case, verdict in slow.items() if verdict != "not_activated"} >= set(quick)


def test_rule_files_bring_their_own_records_and_it_is_said_where_these_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path)
    records = changed(CONTEXT["records"], ("columns", {"resource": "resource"}), ("log", ...))
    own = RULE | {"institution": CONTEXT["schema"], "records": records}
    files = {"a": own, "b": own, "c": changed(own, ("records.offset", "+02:00"))}
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    for other, told in (("b", False), ("c", True)):
        paths = [str(tmp_path / f"{name}.json") for name in ("a", other)]
        assert run(["compare", *paths, "--log", str(tmp_path / "log.csv")]) == 0
        assert ("drafted on different records; those of a.json are used" in capsys.readouterr().out) == told
