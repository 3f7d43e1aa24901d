"""Charters: terms by hand, the joint choice against plain enumeration, and the rules read back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape
from pairs import EVIDENCE, TRIGGER_LOG, random_pair
from test_charter_pairs import RECORDS, rule
from tiers import tier
from typer.testing import CliRunner

from gnrs_ppl.audit import audit, shared
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.result import AuditResult
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.charter import choose as choosing
from gnrs_ppl.charter.audit import audit_together
from gnrs_ppl.charter.choose import Choice, choose
from gnrs_ppl.charter.draft import draft_charter
from gnrs_ppl.charter.institution import together
from gnrs_ppl.charter.pairs import relation
from gnrs_ppl.charter.pins import read_rule_pins
from gnrs_ppl.charter.relations import Relations, apart, turned
from gnrs_ppl.charter.space import RulePool
from gnrs_ppl.charter.terms import REDUNDANCY, TERMS, Member, burden, coverage, vocabulary
from gnrs_ppl.charter.written import Rules, read_rules
from gnrs_ppl.cli.verbs import app
from gnrs_ppl.context.log import EventLog, resolved
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.report.charter import charter_text
from gnrs_ppl.rule.files import rule_json
from gnrs_ppl.rule.types import IMPLEMENTED, Structure

TEMPERATURE = 0.1
PAY_SOON = rule("response", deadline="P3D")
PAY_LATER = rule("response", deadline="P9D")
PAY_NOT_YET = rule("not_response", deadline="P5D")
FILE = rule("existence", "File", opener=None)
FILE_TOO = rule("existence", {"any_of": ["File", "Store"]}, opener=None)


def pool(name: str, *scored: tuple[Structure, float]) -> RulePool:
    members = tuple(Member(structure, frozenset(), frozenset()) for structure, _ in scored)
    score = np.array([s for _, s in scored])
    return RulePool(name, members, score, np.full(len(scored), -np.log(len(scored))))


POOLS = (
    pool("pay", (PAY_SOON, 0.9), (PAY_LATER, 0.8)),
    pool("wait", (PAY_NOT_YET, 0.9), (rule("not_response", deadline="P2D"), 0.5)),
    pool("file", (FILE_TOO, 0.9), (FILE, 0.85)),
)


def chosen(pools: tuple[RulePool, ...] = POOLS) -> Choice:
    return choose(
        pools, Relations(RECORDS), temperature=TEMPERATURE, chains=16, steps=50, seed=0, kernel="gibbs"
    )


def by_hand(pools: tuple[RulePool, ...], position: tuple[int, ...]) -> float:
    """s of a charter, term by term; minus infinity where two of its rules conflict."""
    members = [own.members[o] for own, o in zip(pools, position, strict=True)]
    total = sum(own.score[o] for own, o in zip(pools, position, strict=True))
    for one, other in combinations(members, 2):
        for term in TERMS:
            share = 2 / (len(pools) - 1) if term.shared_out else 1
            total += term.weight * share * term.of(one, other)
        kind = relation(one.structure, other.structure, RECORDS).kind
        total += REDUNDANCY * (kind in ("independent", "undecided", "conflict"))
        total = -np.inf if kind == "conflict" else total
    return float(total)


def test_no_other_charter_scores_higher() -> None:
    found = chosen()
    best = max(product(range(2), repeat=3), key=lambda position: by_hand(POOLS, position))
    assert by_hand(POOLS, (0, 0, 0)) == -np.inf  # each alone would be chosen, and two of them conflict
    assert found.position == best
    assert found.feasible
    assert found.score == pytest.approx(by_hand(POOLS, best))
    assert found.bound == found.score
    assert not [pair for pair in found.pairs.values() if pair.kind == "conflict"]


def test_chains_and_the_solver_choose_what_enumeration_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = chosen()
    monkeypatch.setattr(choosing, "STATE_LIMIT", 1)
    solved = chosen()
    assert solved.method == "CP-SAT"
    assert solved.position == exact.position
    assert solved.bound == pytest.approx(exact.score, abs=1e-6)


def test_given_the_others_each_rule_is_drawn_from_its_conditional() -> None:
    found = chosen()
    for v, probabilities in enumerate(found.given_others):
        scores = []
        for o in range(2):
            position = [*found.position]
            position[v] = o
            scores.append(by_hand(POOLS, (*position,)))
        expected = np.exp((np.array(scores) - max(scores)) / TEMPERATURE)
        assert probabilities == pytest.approx(expected / expected.sum(), abs=1e-6)


def test_rules_that_cannot_both_be_kept_are_said_to_conflict() -> None:
    found = chosen((pool("pay", (PAY_SOON, 0.9)), pool("wait", (PAY_NOT_YET, 0.9))))
    assert not found.feasible
    assert found.pairs[0, 1].kind == "conflict"


def test_coverage_counts_statements_that_one_rule_says() -> None:
    mine, yours = frozenset({0, 1}), frozenset({2})
    assert coverage((mine, mine), (yours, yours)) == 1
    assert coverage((mine, mine), (yours, yours | {1})) == pytest.approx(2 / 3)  # 1 is said twice
    assert coverage((mine, frozenset({0})), (yours, yours)) == pytest.approx(2 / 3)  # 1 is not said
    assert coverage((frozenset(), frozenset()), (frozenset(), frozenset())) == 1


def test_vocabulary_is_shared_acts_logs_and_deadlines() -> None:
    (spoken,) = (term.part for term in TERMS if term.name == "shared vocabulary")

    def said(structure: Structure):  # type: ignore[no-untyped-def]
        return spoken(Member(structure, frozenset(), frozenset()))

    assert vocabulary(said(PAY_SOON), said(PAY_SOON)) == 1
    assert vocabulary(said(PAY_SOON), said(PAY_LATER)) == pytest.approx(2 / 3)  # acts, log; not the deadline
    elsewhere = rule("response", {"activity": "Pay", "role": "clerk"}, deadline="P3D")
    assert vocabulary(said(PAY_SOON), said(elsewhere)) == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert vocabulary(said(PAY_SOON), said(FILE)) == 1  # nothing is common, so nothing is said in two ways


def test_burden_is_what_both_use() -> None:
    assert burden(frozenset("ab"), frozenset("ab")) == 1
    assert burden(frozenset("ab"), frozenset("bc")) == 1 / 2
    assert burden(frozenset("a"), frozenset("c")) == 0


def test_a_table_is_its_term_cell_by_cell() -> None:
    members = [member for own in POOLS for member in own.members]
    for term in TERMS:
        expected = [[term.of(one, other) for other in members] for one in members]
        assert term.table(members, members) == pytest.approx(np.array(expected))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (PAY_SOON, FILE),
        (PAY_SOON, rule("response", "Book", deadline="P1D")),
        (PAY_NOT_YET, rule("response", "Book")),
    ],
)
def test_rules_of_other_acts_are_apart_by_search_too(first: Structure, second: Structure) -> None:
    assert apart(first, second)
    assert relation(first, second, RECORDS).kind in ("independent", "undecided")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (PAY_SOON, PAY_NOT_YET),
        (PAY_SOON, rule("absence", "Invoice", opener=None)),
        (rule("precedence", "Approve", opener="Pay"), rule("absence", "Approve", opener=None)),
        (rule("response", unless="Waive"), rule("absence", "Waive", opener=None)),
        (FILE, rule("chain_response", "Book")),
    ],
)
def test_rules_that_one_act_moves_both_of_are_searched(first: Structure, second: Structure) -> None:
    assert not apart(first, second)


def test_a_relation_is_known_from_either_side() -> None:
    relations = Relations(RECORDS)
    found = relations.between(PAY_SOON, PAY_LATER)
    assert found.kind == "first_implies_second"
    back = relations.between(PAY_LATER, PAY_SOON)
    assert back == turned(found) == relation(PAY_LATER, PAY_SOON, RECORDS)
    assert len(relations) == 1
    assert relations.between(PAY_SOON, PAY_SOON).kind == "equivalent"


def written(folder: Path, **rules: Structure) -> list[str]:
    files = [folder / f"rule{number}.json" for number in range(len(rules))]
    for file, (name, structure) in zip(files, rules.items(), strict=True):
        file.write_text(rule_json(structure, Schema(), RECORDS, name))
    return [*map(str, files)]


def test_check_says_what_conflicts_and_exits_1(tmp_path: Path) -> None:
    files = written(tmp_path, soon=PAY_SOON, later=PAY_LATER, wait=PAY_NOT_YET)
    told = CliRunner().invoke(app, ["charter", "--check", *files])
    assert told.exit_code == 1
    assert "soon and wait conflict: no case keeps both." in told.output
    assert "soon implies later" in told.output
    as_json = CliRunner().invoke(app, ["charter", "--check", "--json", str(tmp_path)])
    pairs = {tuple(pair["rules"]): pair["relation"] for pair in json.loads(as_json.output)["pairs"]}
    assert pairs["soon", "wait"] == "conflict"


def test_check_of_rules_that_stand_together_exits_0(tmp_path: Path) -> None:
    files = written(tmp_path, soon=PAY_SOON, file=FILE)
    told = CliRunner().invoke(app, ["charter", "--check", *files])
    assert told.exit_code == 0
    assert "Independent: 1 of 1 pairs." in told.output


def on_one_log(templates: Iterable[str], cases: int = 12) -> tuple[Rules, list[AuditResult]]:
    """Rules of some templates, two of each, on one random log, and the audit of each alone."""
    _, records, rows = random_pair(4, "response", "any", cases)
    structures = [random_pair(seed, template, "any", 1)[0] for template in templates for seed in (0, 1)]
    log = EventLog.from_events(rows, records)
    alone = {}
    for number, structure in enumerate(structures):
        with suppress(Refused):
            alone[str(number)] = audit(structure, log, records=records)
    names = tuple(map(str, range(len(structures))))
    rules = Rules(names, tuple(structures), Schema(), resolved(records, log), log)
    found = audit_together(rules)
    assert [one.name for one in found.audits] == list(alone)
    assert {one.name for one in found.refused} == {*names} - {*alone}
    for one in found.audits:
        assert one.verdicts() == list(alone[one.name].verdicts), one.text
        assert one.counts == alone[one.name].counts
        assert one.case_counts == alone[one.name].case_counts
        assert one.failed == alone[one.name].failed
    assert found.failed == any(one.failed for one in alone.values())
    return rules, list(alone.values())


def test_rules_audited_together_have_the_verdicts_of_each_alone() -> None:
    _, alone = on_one_log(tier(("response", "precedence"), IMPLEMENTED))
    assert len({verdict for one in alone for verdict, n in one.counts.items() if n}) >= 4


def test_what_two_checks_ask_of_the_log_is_one_part() -> None:
    _, records, rows = random_pair(4, "response", "any", 4)
    log = EventLog.from_events(rows, records)
    rules = [rule("response", "Visit", deadline, opener="Open") for deadline in ("PT1H", "PT2H")]
    structures = [
        r.model_copy(
            update={
                "trigger": r.trigger.model_copy(update={"channel": TRIGGER_LOG}),
                "evidence": r.evidence.model_copy(update={"channels": EVIDENCE[:1]}),
            }
        )
        for r in rules
    ]
    numbered: dict[Any, Any] = {}
    one, other = (
        {
            part.name
            for part in shared._taken_apart(
                compile_rule(check(s, resolved(records, log), log)), numbered
            ).parts
        }
        for s in structures
    )
    about = {part.name: part.text for part in numbered.values()}
    both = [about[name] for name in one & other]
    assert any('FROM "events"' in text for text in both)  # the openings, and the rows of the act
    assert one - other  # what reads the deadline
    assert other - one


def test_pages_of_check_and_audit_escape_what_they_show(tmp_path: Path) -> None:
    files = written(tmp_path, **{"soon": PAY_SOON, "<b>wait</b>": PAY_NOT_YET})
    rows = "case_id,activity,timestamp,channel\n<i>1</i>,Invoice,2024-01-01T09:00:00Z,log\n"
    rows += "<i>1</i>,Pay,2024-01-02T09:00:00Z,log\n"
    (tmp_path / "log.csv").write_text(rows)
    pages = tmp_path / "check.html", tmp_path / "audit.html"
    told = CliRunner().invoke(app, ["charter", "--check", *files, "--page", str(pages[0])])
    assert told.exit_code == 1, told.output
    log = ["--log", str(tmp_path / "log.csv"), "--page", str(pages[1])]
    told = CliRunner().invoke(app, ["charter", "--audit", *files, *log])
    assert told.exit_code == 1, told.output  # paid on the next day
    assert "1 of 1" in told.output
    for page in pages:
        html = page.read_text()
        assert "&lt;b&gt;wait&lt;/b&gt;" in html
        assert "<b>" not in html
        assert "<i>" not in html
    assert "conflict: no case keeps both" in pages[0].read_text()
    assert "<h1>Two rules side by side</h1>" in pages[0].read_text()
    assert "<li>log: log <code>log</code></li>" in pages[0].read_text()
    assert "&lt;i&gt;1&lt;/i&gt;" in pages[1].read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--check", "nothing-there.yaml"],
        ["GNRS-005", "--context", "GNRS-005"],
        ["--check", "GNRS-005", "--fix", "norm.deadline=P5D"],
        ["GNRS-005", "GNRS-005"],
        ["GNRS-005", "--chains", "0"],
        ["GNRS-005", "--steps", "0"],
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: list[str]) -> None:
    told = CliRunner().invoke(app, ["charter", *arguments])
    assert isinstance(told.exception, InputError)


def test_the_page_shows_what_the_check_prints() -> None:
    docs = Path(__file__).parent.parent / "docs"
    files = [str(docs / "contexts" / f"{name}.yaml") for name in ("pay_within_3_days", "hold_5_days")]
    told = CliRunner().invoke(app, ["charter", "--check", *files])
    assert told.exit_code == 1
    page = [line.strip() for line in (docs / "charters.md").read_text(encoding="utf-8").splitlines()]
    assert [line.strip() for line in told.output.splitlines() if line.strip() not in page] == []


HOUSE = """
goal: {{id: {name}, intent: "{intent}"}}
schema:
  roles: [{{name: clerk}}, {{name: manager}}]
  actions:
    - {{name: ReceiveInvoice, phrase: receive the invoice, roles: [clerk]}}
    - {{name: PayInvoice, phrase: pay the invoice, roles: [clerk]}}
    - {{name: FileInvoice, phrase: file the invoice, roles: [clerk]}}
records:
  prospective: true
  case_end: [FileInvoice]
  channels: [{{name: ledger, activities: [ReceiveInvoice, PayInvoice, FileInvoice]}}]
"""
GOALS = {
    "pay": "A clerk must pay the invoice within three days after receiving the invoice.",
    "file": "A clerk must file the invoice after paying the invoice.",
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    for name, intent in GOALS.items():
        (folder / f"{name}.yaml").write_text(HOUSE.format(name=name, intent=intent))
    return folder


def test_a_folder_of_goals_becomes_a_charter_that_check_reads(house: Path, tmp_path: Path) -> None:
    out = tmp_path / "charter"
    told = CliRunner().invoke(app, ["charter", str(house), "--pool", "8", "--out", str(out)])
    assert told.exit_code == 0, told.output
    said = json.loads((out / "charter.json").read_text())
    assert [one["name"] for one in said["rules"]] == ["file", "pay"]
    assert said["score"] == said["bound"]
    text = (out / "charter.md").read_text()
    assert "must pay the invoice within three days after each receipt of the invoice" in text.replace(
        "\n", " "
    )
    assert text.count("ledger: log `ledger`") == 1
    checked = CliRunner().invoke(app, ["charter", "--check", str(out), "--json"])
    assert checked.exit_code == 0
    assert json.loads(checked.output)["pairs"] == said["pairs"]


def test_a_pin_is_of_one_rule_or_of_every_rule_that_knows_it(house: Path) -> None:
    contexts = sorted(house.glob("*.yaml"))

    def times(*fix: str) -> list[str]:
        charter = draft_charter(contexts, pool=8, pins=read_rule_pins(fix, []))
        return [str(structure.procedure.response_time) for structure in charter.structures]

    assert times() == ["P1D", "P1D"]
    assert times("procedure.response_time=P3D") == ["P3D", "P3D"]
    assert times("pay/procedure.response_time=P3D")[1] == "P3D"
    with pytest.raises(InputError, match="no procedure candidate"):
        times("procedure.response_time=P99D")
    with pytest.raises(InputError, match="no rule is called 'hold'"):
        times("hold/procedure.response_time=P3D")


@pytest.mark.parametrize(
    ("field", "records"),
    [
        ("quiet_after", {"quiet_after": "P9D"}),
        ("case_end", {"case_end": ["PayInvoice"]}),
        ("columns", {"columns": {"resource": "clerk"}}),
        ("channels.ledger.closed_world", {"channels": [{"name": "ledger", "closed_world": True}]}),
        ("channels.ledger.phrase", {"channels": [{"name": "ledger", "phrase": "cash book"}]}),
        ("attributes.amount.type", {"attributes": [{"name": "amount", "type": "text"}]}),
    ],
)
def test_contexts_that_state_one_thing_otherwise_make_no_charter(
    house: Path, field: str, records: dict[str, Any]
) -> None:
    first, second = (load_context(path) for path in sorted(house.glob("*.yaml")))
    ledger = {"name": "ledger", "phrase": "ledger", "activities": ["PayInvoice"]}
    stated = first.records.model_dump() | {"attributes": [{"name": "amount", "type": "number"}]}
    one = replace(first, records=RecordLayer.model_validate(stated | {"channels": [ledger]}))
    for channel in records.get("channels", ()):
        channel.setdefault("activities", ["FileInvoice"])
    same = replace(one, goal=second.goal, source=second.source)
    other = replace(same, records=RecordLayer.model_validate(stated | {"channels": [ledger]} | records))
    for pair in ([one, other], [other, one]):
        with pytest.raises(InputError, match=f"records.{field}: differs from") as told:
            together(pair)
        assert pair[1].source in str(told.value)
        assert f"differs from {pair[0].source}," in str(told.value)
    together([one, same])


def test_what_one_context_leaves_out_of_a_log_another_may_state(house: Path) -> None:
    first, second = (load_context(path) for path in sorted(house.glob("*.yaml")))
    stated = first.records.model_dump()
    (ledger,) = stated["channels"]
    contexts = [
        replace(context, records=RecordLayer.model_validate(stated | {"channels": channels}))
        for context, channels in (
            (first, [ledger | {"activities": ["PayInvoice"]}]),
            (
                second,
                [
                    ledger | {"grain": "minute", "phrase": "cash book"},
                    {"name": "bank", "activities": ["Pay"]},
                ],
            ),
        )
    ]
    for both in (contexts, contexts[::-1]):
        _, records = together(both)
        joined = records.channel("ledger")
        assert joined is not None
        assert (joined.grain, joined.phrase) == ("minute", "cash book")
        assert set(joined.activities or ()) == {"PayInvoice", "ReceiveInvoice", "FileInvoice"}
        assert {channel.name for channel in records.channels} == {"ledger", "bank"}


def test_rules_of_one_name_are_duty_lines(tmp_path: Path) -> None:
    names = ("A", "A (1)", "A", "B")
    for number, name in enumerate(names):
        (tmp_path / f"{number}.json").write_text(rule_json(PAY_SOON, Schema(), RECORDS, name))
    assert read_rules([tmp_path]).names == ("A (2)", "A (1)", "A (3)", "B")


STRICT = "records: {case_end: [Close], channels: [{name: shop, closed_world: true, activities: [Order, Pay, Close]}]}"
OPEN = "records: {channels: [{name: shop, activities: [Order, Pay, Close]}]}"
PAYS = """
rule:
  trigger: {act: Order, channel: shop}
  norm: {force: FORCE, constraints: [{template: response, target: Pay, correlate: same_case}]}
  evidence: {channels: [shop]}
schema: {actions: [{name: Order}, {name: ACT}]}
"""


def _rule_file(path: Path, records: str, force: str = "must", act: str = "Pay") -> str:
    path.write_text(PAYS.replace("FORCE", force).replace("ACT", act) + records)
    return str(path)


def test_rule_files_that_state_other_records_are_not_judged_by_the_first(tmp_path: Path) -> None:
    strict, loose = (
        _rule_file(tmp_path / f"{name}.yaml", records) for name, records in (("a", STRICT), ("b", OPEN))
    )
    for files in ([strict, loose], [loose, strict]):
        told = CliRunner().invoke(app, ["charter", "--check", *files])
        assert isinstance(told.exception, InputError)
        assert str(told.exception).startswith(files[1])
        assert "records.case_end: differs from" in str(told.exception)
        assert files[0] in str(told.exception)


def test_words_and_logs_of_all_rule_files_count(tmp_path: Path) -> None:
    one = _rule_file(tmp_path / "a.yaml", OPEN, act="Refund")
    bank = "records: {channels: [{name: bank, activities: [Pay]}]}"
    rules = read_rules([Path(one), Path(_rule_file(tmp_path / "b.yaml", bank, act="Ship"))])
    assert [channel.name for channel in rules.records.channels] == ["shop", "bank"]
    assert [action.name for action in rules.schema.actions] == ["Order", "Refund", "Ship"]


def test_an_audit_together_says_what_its_counts_take_for_granted(tmp_path: Path) -> None:
    files = [_rule_file(tmp_path / f"{force}.yaml", OPEN, force) for force in ("must", "should", "may")]
    log, page = tmp_path / "log.csv", tmp_path / "page.html"
    log.write_text("case_id,activity,timestamp,channel\n1,Order,2024-01-01T10:00:00Z,shop\n")
    asked = ["charter", "--audit", *files, "--log", str(log)]
    printed = " ".join(CliRunner().invoke(app, [*asked, "--page", str(page)]).output.split())
    notes = json.loads(CliRunner().invoke(app, [*asked, "--json"]).output)["notes"]
    assert "a permission is not checked against records (may)" in notes
    assert "advisory: a should-rule fails no audit (should)" in notes
    assert any("taken as complete" in note for note in notes)
    for note in notes:
        assert f"note: {note}" in printed
        assert str(escape(note)) in page.read_text(encoding="utf-8")
    assert "not checked</td>" in page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("rules_alone")
def test_what_was_not_read_is_told_and_two_goals_of_one_name_are_refused(house: Path) -> None:
    context = load_context(house / f"{next(iter(GOALS))}.yaml")
    said = "When a wizard frobnicates the ledger, a wizard must not pay within one day."
    goal = context.goal.model_copy(update={"intent": f"{context.goal.intent} {said}"})
    charter = draft_charter([replace(context, goal=goal)], pool=2)
    (words,) = charter.not_read.values()
    assert "wizard" in words
    assert charter.as_dict()["not_read"] == {context.goal.id: [*words]}
    assert f"Not read in {context.goal.id}" in charter_text(charter)
    card = load_context("RC-PSF-2")  # states two rules
    one = card.goal.model_copy(update={"id": "RC-PSF-2/2", "intent": "Nothing is asked."})
    with pytest.raises(InputError, match="two rules are called 'RC-PSF-2/2'"):
        draft_charter([card, replace(card, goal=one)], pool=2)
