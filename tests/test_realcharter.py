"""RealCharter cards go through the same search without a log, keep force and numbers, and are scored by
hand-checked rules."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scripted import ScriptedServer
from tiers import tier

import gnrs_ppl as gnrs
from gnrs_ppl.audit.needs import Needed, rows_needed
from gnrs_ppl.benchmarks.realcharter import Card, adapter, card, cards
from gnrs_ppl.candidates import proposed
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.candidates.grounding import beyond, ground
from gnrs_ppl.cli import run
from gnrs_ppl.context.load import to_json
from gnrs_ppl.context.log import read_log
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Goal, RecordLayer, Schema
from gnrs_ppl.draft import Draft, draft_many
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate import realcharter as evaluation
from gnrs_ppl.evaluate.hard_ok import SUPPORT_WEIGHTS, hard_ok, support_of
from gnrs_ppl.evaluate.realcharter import score as scoring
from gnrs_ppl.evaluate.realcharter.score import Numbers, SlotScore, score
from gnrs_ppl.experiments import cards as experiment
from gnrs_ppl.experiments import realcharter as pages
from gnrs_ppl.experiments.rows import Cell, Row, RowWithAnswers, cell_of
from gnrs_ppl.experiments.runner import ExperimentRequest, Run
from gnrs_ppl.experiments.writers import WRITERS
from gnrs_ppl.llm.adapter import OpenAIModel
from gnrs_ppl.llm.answers import ProposedFragments
from gnrs_ppl.llm.client import Answer
from gnrs_ppl.llm.material import material
from gnrs_ppl.llm.prompts import load as load_prompt
from gnrs_ppl.llm.roles import Settings
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.rule.canonical import canonical, dumps, payloads
from gnrs_ppl.rule.pools import options
from gnrs_ppl.rule.types import SLOTS, Structure

ROOT = Path(__file__).resolve().parent.parent
MAY = ("RC-AP-1", "RC-DB-1", "RC-LF-2")
every_card = pytest.mark.parametrize("one", cards(), ids=lambda c: c.id)


@cache
def drafts() -> dict[str, Draft]:
    """Every card, drafted exactly."""
    found = draft_many(
        [gnrs.load_context(c.id) for c in cards()], kernel="exact", chains=1, steps=1, alternatives=0
    )
    return {draft.goal.id: draft for draft in found}


def durations(structure: Structure) -> list[Duration]:
    lengths = [
        structure.trigger.window,
        structure.procedure.response_time,
        *(c.deadline for c in structure.norm.constraints),
    ]
    return [length for length in lengths if length is not None]


# Drafts


@every_card
def test_every_card_drafts_and_stays_on_the_card(one: Card) -> None:
    draft = drafts()[one.id]
    assert draft.search.visited.feasible
    assert draft.certificate.epsilon_search == 0
    assert parse(draft.text, Lexicon.of(draft.context.schema, draft.records)) == canonical(draft.structure)
    assert score(draft.structure, one.id).off_card == ()
    assert adapter.CLOSING.name not in {p.name for p in payloads(draft.structure)}
    assert draft.sql.lstrip().upper().startswith("WITH")
    assert draft.needs
    assert draft.context.log.events == 0


@every_card
def test_pools_hold_the_goals_force_only_and_bind_no_permission(one: Card) -> None:
    context = gnrs.load_context(one.id)
    force = "must" if one.force == "must_not" else one.force
    free = {act.name for act in one.permitted}
    roles = {act.name: act.role for act in one.conduct}
    for option in options(pools_of(context).pools.norm):
        norm = option.content
        assert norm.force == force
        if force != "may":
            assert not free & {c.target.activity for c in norm.constraints}
        for constraint in norm.constraints:
            assert norm.target(constraint).role == roles[constraint.target.activity]


@pytest.mark.parametrize("card_id", MAY)
def test_a_permission_never_becomes_a_duty(card_id: str) -> None:
    draft, one = drafts()[card_id], card(card_id)
    assert one.force == draft.structure.norm.force == "may"
    assert {c.target.activity for c in draft.structure.norm.constraints} == {
        act.name for act in one.permitted
    }
    assert " may " in draft.text.split(" If ")[0]
    assert not re.search(r"\b(must|should|need not)\b", draft.text)
    for force in ("must", "should"):
        duty = draft.structure.norm.model_copy(update={"force": force})
        assert beyond(duty, draft.context) == f"the norm says {force} where the goal says may"
        strengthened = draft.structure.model_copy(update={"norm": duty})
        failures = hard_ok(strengthened, draft.context).failures
        assert [f for f in failures if "has become a duty" in f] == [
            f"permitted action {act.name!r} has become a duty or a ban" for act in one.permitted
        ]
        assert score(strengthened, card_id).permissions_bound == len(one.permitted)


def test_pools_by_hand_lose_what_binds_a_permission() -> None:
    context = gnrs.load_context("RC-PSF-3")
    pools = pools_of(context).pools
    duty = {"template": "response", "target": "NotifyBoard", "correlate": "same_case"}
    bad = pools.norm[0].model_copy(
        update={"id": "bad", "content": pools.norm[0].content.model_validate({"constraints": [duty]})}
    )
    kept, dropped = ground(pools.model_copy(update={"norm": (*pools.norm, bad)}), context)
    assert kept.norm == pools.norm
    assert [d.reason for d in dropped if d.candidate == "bad"] == [
        "the goal permits 'NotifyBoard', which the norm would make a duty or a ban"
    ]


@every_card
def test_numbers_in_drafts_come_from_the_card(one: Card) -> None:
    draft = drafts()[one.id]
    on_card = {adapter.length(n.value, n.unit) for n in one.stated_numbers}
    assert set(durations(draft.structure)) <= on_card
    found = score(draft.structure, one.id).numbers
    assert found.invented == ()
    assert all(c.count == 1 for c in draft.structure.norm.constraints)
    told = re.findall(r"\b(\w+) (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b", draft.text)
    times = [word for word in told if word.isdigit() or word in ("one", "two", "three", "seven")]
    assert (
        len(set(durations(draft.structure))) <= len(times) <= len(durations(draft.structure))
    )  # "within that time" says one again


def test_a_time_stands_on_the_acts_it_limits() -> None:
    assert {c.target.activity: str(c.deadline) for c in drafts()["RC-DJ-1"].structure.norm.constraints} == {
        "ProtectPeople": "None",
        "ReportOwnAction": "PT24H",
    }
    goal = gnrs.load_context("RC-PSF-1").goal
    assert (str(goal.within), goal.timed) == ("P7D", ("AcknowledgeReport", "SendOutcome", "SendStatus"))
    assert gnrs.load_context("RC-PSF-3").goal.within is None  # the week there is advice, the rule a duty


# The adapter


def test_a_card_becomes_a_context() -> None:
    context = gnrs.load_context("RC-PSF-3")
    assert context.goal.required == ("DecideByVote", "RecommendResponse", "AnswerRecommendation")
    assert (context.goal.force, context.goal.permitted, context.goal.forbidden) == (
        "must",
        ("NotifyBoard",),
        (),
    )
    assert context.goal.triggers == ("ProposePlan", "ProposeConsequence")
    assert context.goal.roles == ("conduct_work_group", "space_moderator")
    assert [step.name for step in context.schema.procedure] == [
        step.name for step in card("RC-PSF-3").procedure
    ]
    where = {
        activity: channel.name
        for channel in context.records.channels
        for activity in channel.activities or ()
        if activity != "CloseCase"
    }
    assert where["DecideByVote"] == "vote_result"
    assert where["AnswerRecommendation"] == "moderators_reply"
    assert set(where) == {act.name for act in (*card("RC-PSF-3").triggers, *card("RC-PSF-3").conduct)}


@every_card
def test_support_is_declared_and_direct_only_where_the_clause_names_the_record(one: Card) -> None:
    draft = drafts()[one.id]
    implied = {channel.name: channel.inferred for channel in one.channels}
    for payload in payloads(draft.structure):
        support, rows = support_of(payload, draft.structure, draft.context)
        assert rows == 0
        assert (support == "direct") == (payload.kind == "channel" and not implied[payload.name])
    assert all(query.count == query.of == 0 for query in draft.grounding.queries)


def test_hard_ok_by_hand() -> None:
    gate = drafts()["RC-DB-1"].grounding.gate
    by_hand = {
        "inferred": ("list_archive",),  # implied by the clause
        "derivable": ("reply", "BreachCode", "participant", "PointAtCode"),
        "missing": ("reminder",),  # a step, and it looks into an implied record
    }
    assert {support: count for support, count in gate.supports.items() if count} == {
        s: len(names) for s, names in by_hand.items()
    }
    assert {p.name for p in payloads(drafts()["RC-DB-1"].structure)} == {
        name for names in by_hand.values() for name in names
    }
    assert gate.rho == pytest.approx((0.65 + 4 * 0.45) / 6)
    assert gate.failures == ("rho 0.408 is below 0.50",)
    assert set(SUPPORT_WEIGHTS) >= set(by_hand)


@pytest.mark.slow
def test_drafting_loads_no_expected_slots() -> None:
    probe = (
        "import sys, gnrs_ppl as gnrs; gnrs.draft('RC-ND-2', kernel='exact', chains=1, steps=1); "
        "assert not [m for m in sys.modules if m.startswith('gnrs_ppl.evaluate.realcharter')]"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def spoilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Expected files that say nothing, and no context left from before."""
    for path in evaluation.HERE.glob("*.yaml"):
        (tmp_path / path.name).write_text("expected: []\n")
    monkeypatch.setattr(evaluation, "HERE", tmp_path)
    for kept in (evaluation._document, adapter._context):
        kept.cache_clear()
    yield
    for kept in (evaluation._document, adapter._context):
        kept.cache_clear()


def test_changing_the_expected_files_changes_no_draft(spoilt: None) -> None:
    with pytest.raises(InputError):
        evaluation.expected("RC-PSF-3")
    again = draft_many(
        [gnrs.load_context(c.id) for c in cards()[:8]], kernel="exact", chains=1, steps=1, alternatives=0
    )
    for draft in again:
        assert (draft.structure, draft.text) == (
            drafts()[draft.goal.id].structure,
            drafts()[draft.goal.id].text,
        )


# Without a log


def test_what_the_audit_can_say() -> None:
    draft = drafts()["RC-DB-1"]
    assert draft.needs == (Needed("list_archive", ("BreachCode", "PointAtCode", "CloseCase"), ("role",)),)
    assert (
        str(draft.needs[0])
        == "list_archive: rows of BreachCode, PointAtCode, CloseCase, with case_id, activity, timestamp, role"
    )
    told = drafts()["RC-ND-2"].as_dict()["check"]
    assert told["status"] == "prospective"
    assert [need["channel"] for need in told["needs"]] == [
        "moderation_repository",
        "activity_report",
        "vote_record",
    ]
    assert any("closed-world" in line for line in told["assumptions"])


def test_needs_name_keys_scope_and_fields() -> None:
    from gnrs_ppl.audit.checkable import check
    from gnrs_ppl.context.log import resolved

    context = gnrs.load_context("RC-PSF-3")
    structure = drafts()["RC-PSF-3"].structure
    rule = Structure.model_validate(
        structure.model_dump()
        | {
            "scope": {"roles": ["conduct_work_group"]},
            "norm": {
                "constraints": [
                    {
                        "template": "response",
                        "target": "RecommendResponse",
                        "correlate": "same_resource",
                        "deadline": "P7D",
                    }
                ]
            },
        }
    )
    needs = rows_needed(check(rule, resolved(context.records, context.log), context.log))
    assert needs == (
        Needed("recommendation_mail", ("ProposePlan", "RecommendResponse"), ("resource", "role")),
    )


def test_an_audit_without_a_log_is_refused_and_runs_with_one(tmp_path: Path) -> None:
    draft = drafts()["RC-DB-1"]
    with pytest.raises(InputError, match="names no log"):
        gnrs.audit(draft.structure, draft.context)
    (tmp_path / "log.csv").write_text(
        "case_id,activity,timestamp,channel,resource,role\n"
        "1,BreachCode,2024-05-01T08:00:00Z,list_archive,a,lapsing_participant\n"
        "1,PointAtCode,2024-05-01T09:00:00Z,list_archive,b,participant\n"
        "1,CloseCase,2024-05-02T09:00:00Z,list_archive,c,\n"
    )
    with_log = gnrs.load_context("RC-DB-1", tmp_path / "log.csv")
    assert not with_log.records.prospective
    duty = draft.structure.model_copy(
        update={"norm": draft.structure.norm.model_copy(update={"force": "should"})}
    )
    result = gnrs.audit(
        duty,
        read_log(tmp_path / "log.csv", with_log.records),
        records=with_log.records,
        schema=with_log.schema,
    )
    assert [v.verdict for v in result.verdicts] == ["satisfied"]
    assert support_of(payloads(duty)[1], duty, with_log) == ("direct", 1)


def test_a_context_file_may_be_prospective(tmp_path: Path) -> None:
    (tmp_path / "context.json").write_text(to_json(gnrs.load_context("RC-MZ-1")))
    again = gnrs.draft(tmp_path / "context.json", kernel="exact", chains=1, steps=1)
    assert again.structure == drafts()["RC-MZ-1"].structure


@pytest.mark.parametrize(
    "records",
    [{"log": "x.csv"}, {"channels": []}, {"channels": ["a"]}],
    ids=["with a log", "without channels", "without activities"],
)
def test_a_prospective_record_layer_declares_everything(records: dict[str, object]) -> None:
    whole = {"prospective": True, "channels": [{"name": "a", "activities": []}]}
    RecordLayer.model_validate(whole)
    with pytest.raises(ValueError, match="a prospective record layer names no log"):
        RecordLayer.model_validate(whole | records)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"required": ["A"], "permitted": ["A"]}, "'A' is permitted and also required or forbidden"),
        ({"force": "may", "required": ["A"]}, "a goal of force may permits something"),
        ({"force": "may"}, "a goal of force may permits something"),
        ({"required": ["A"], "timed": ["A"]}, "timed names required actions"),
        ({"required": ["A"], "timed": ["B"], "within": "P1D"}, "timed names required actions"),
    ],
)
def test_a_goal_does_not_contradict_itself(fields: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Goal.model_validate({"id": "G", "intent": "i"} | fields)


def test_goals_without_the_new_fields_are_dumped_as_before() -> None:
    assert Goal(id="G", intent="i").model_dump_json() == (
        '{"id":"G","intent":"i","required":[],"forbidden":[],"roles":[],"locations":[],"objects":[],"values":[],"within":null}'
    )


def test_a_prescribed_step_uses_names_of_the_schema() -> None:
    step = {"stage": "review", "name": "check", "role": "clerk"}
    with pytest.raises(ValueError, match="'clerk' is not in the schema's roles"):
        Schema.model_validate({"steps": ["check"], "procedure": [step]})


# Scores by hand: RC-PSF-3 expects roles conduct_work_group and space_moderator, objects behaviour_plan and
# consequence; ProposePlan or ProposeConsequence; DecideByVote and AnswerRecommendation (must), NameReporter
# (should_not), NotifyBoard (may); vote_result and moderators_reply; work_group_vote, recommendation,
# moderator_answer; two thirds on DecideByVote, a week on AnswerRecommendation.

BY_HAND = Structure.model_validate(
    {
        "scope": {"roles": ["reporter"], "concerns": ["behaviour_plan"]},
        "trigger": {"act": "ProposePlan", "channel": "vote_result"},
        "norm": {
            "force": "must",
            "constraints": [
                {
                    "template": "response",
                    "target": {"activity": "DecideByVote", "role": "conduct_work_group"},
                    "deadline": "P3D",
                },
                {"template": "response", "target": "AnswerRecommendation", "deadline": "P7D"},
                {"template": "response", "target": "NotifyBoard", "deadline": "P7D"},
                {"template": "absence", "target": "NameReporter", "count": 2},
            ],
        },
        "evidence": {
            "channels": ["vote_result", "board_notice", "badge_log"],
            "operator": "at_least",
            "k": 2,
        },
        "procedure": {
            "steps": [
                {"stage": "review", "name": "moderator_answer", "role": "space_moderator"},
                {"stage": "decision", "name": "work_group_vote", "role": "conduct_work_group"},
                {"stage": "remedy", "name": "recommendation", "role": "conduct_work_group"},
            ]
        },
    }
)


def test_scores_by_hand() -> None:
    found = score(BY_HAND, "RC-PSF-3")
    assert found.slots == {
        "scope": SlotScore(
            2 / 3, 2 / 4
        ),  # of reporter, conduct_work_group, behaviour_plan the first is not expected
        "trigger": SlotScore(1.0, 1.0),
        "norm": SlotScore(2 / 4, 2 / 4),  # NotifyBoard and NameReporter have the wrong force
        "evidence": SlotScore(1 / 3, 1 / 2),
        "procedure": SlotScore(1.0, 1.0),
    }
    assert found.off_card == ("channel badge_log",)
    assert not found.force_kept
    assert found.turned == {"NotifyBoard": ("may", "must"), "NameReporter": ("should_not", "must_not")}
    assert found.permissions_bound == 1
    assert found.numbers == Numbers(
        2, 1, ("P7D on NotifyBoard",), ("P3D on DecideByVote", "2 times NameReporter", "at least 2 logs")
    )
    assert found.numbers.lost == 1
    assert found.steps_covered == 2 / 3  # vote and recommendation in order, the answer before them out of it
    assert "permitted action 'NotifyBoard' has become a duty or a ban" in found.gate.failures


def test_scores_of_a_rule_with_gaps() -> None:
    found = score({"norm": BY_HAND.norm}, "RC-PSF-3")
    assert (
        found.slots["trigger"] == found.slots["evidence"] == found.slots["procedure"] == SlotScore(None, 0.0)
    )
    assert found.slots["scope"] == SlotScore(1.0, 1 / 4)  # the role of a target
    assert not found.gate.passed
    nothing = score({}, "RC-PSF-3")
    assert all(slot == SlotScore(None, 0.0) for slot in nothing.slots.values())
    assert (nothing.force_kept, nothing.numbers.lost, nothing.steps_covered) == (False, 2, 0.0)


def test_a_case_start_hits_no_trigger_and_an_office_covers_its_role() -> None:
    rule = BY_HAND.model_copy(
        update={"trigger": BY_HAND.trigger.model_validate({}), "norm": drafts()["RC-DB-1"].structure.norm}
    )
    found = score(rule, "RC-DB-1")
    assert found.slots["trigger"] == SlotScore(None, 0.0)
    assert found.slots["norm"] == SlotScore(1.0, 1 / 3)
    assert found.slots["scope"].recall == pytest.approx(
        1 / 2
    )  # the participant by the office; the reply is not named


@pytest.mark.parametrize(
    ("asked", "taken", "length"),
    [("abc", "abc", 3), ("abc", "xaybzc", 3), ("abc", "cba", 1), ("abc", "bca", 2), ("abc", "", 0)],
)
def test_steps_in_order(asked: str, taken: str, length: int) -> None:
    assert scoring._common_run(asked, taken) == length


def test_whoever_says_all_that_is_expected_scores_one() -> None:
    for one, wanted in zip(cards(), evaluation.expectations(), strict=True):
        if len(set(wanted.norm.acts.values())) > 1:
            continue  # several forces do not fit one rule
        (force,) = set(wanted.norm.acts.values())
        positive = not force.endswith("_not")
        rule = Structure.model_validate(
            {
                "scope": {"roles": list(wanted.scope.roles), "concerns": list(wanted.scope.objects)},
                "trigger": {"act": wanted.trigger.any_of[-1], "channel": wanted.evidence.decisive[0]},
                "norm": {
                    "force": force.removesuffix("_not"),
                    "constraints": [
                        {"template": "response" if positive else "absence", "target": name}
                        for name in wanted.norm.acts
                    ],
                },
                "evidence": {"channels": list(wanted.evidence.decisive)},
                "procedure": {
                    "steps": [
                        {"stage": "review", "name": n, "role": one.roles[0].name}
                        for n in wanted.procedure.steps
                    ]
                },
            }
        )
        found = score(rule, one.id)
        assert set(found.slots.values()) == {SlotScore(1.0, 1.0)}, one.id
        assert (found.force_kept, found.steps_covered, found.off_card) == (True, 1.0, ())


# The table and the pages


@cache
def exact_rows() -> tuple[Row, ...]:
    found = drafts().items()
    return tuple(
        experiment.row_of(Cell("Exact", None, name, 0), d.text, score(d.structure, name), 0.0)
        for name, d in found
    )


def test_a_line_of_the_table() -> None:
    (own,) = pages.by(exact_rows()).values()
    assert len(own.rows) == 53
    assert [row["goal"] for row in own.rows] == sorted(one.id for one in cards())
    found, kept = own.estimate("hard_ok"), own.estimate("force_kept")
    assert found is not None
    assert found.families is not None
    assert kept is not None
    assert found.mean == pytest.approx(np.mean([row["hard_ok"] for row in exact_rows()]))
    for low, high in (found.percentile, found.families):
        assert low < found.mean < high
    assert kept.families == (100.0, 100.0)
    assert (
        sum(row["numbers_stated"] for row in own.rows)
        == sum(len(want.numbers) for want in evaluation.expectations())
        == 23
    )
    assert sum(row["numbers_lost"] for row in own.rows) == 20
    assert (len(experiment.independent(exact_rows())), len(experiment.verified(exact_rows()))) == (50, 40)


def test_one_cell_is_published_with_one_interval(tmp_path: Path) -> None:
    """The page and the experiment's table say the same of the same rows."""
    folder = tmp_path / "realcharter"
    folder.mkdir()
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in exact_rows()))
    table, _ = experiment.report(Run(ExperimentRequest(), tmp_path, frozenset({"realcharter"}))).tables
    line = next(entry for entry in table.rows if entry[0] == "Exact")
    told = pages._estimate("HARD-OK, %", pages.by(exact_rows())["Exact"], "hard_ok")
    spans = [str(said).replace(" to ", ", ") for said in line[3:5]]
    assert told == f"{line[2]:.1f} [{spans[0]}] [{spans[1]}]"


def test_no_search_takes_the_first_of_every_pool() -> None:
    row = experiment.rows_of("No search", None, 0, ["RC-PSF-3"])[0]
    context = gnrs.load_context("RC-PSF-3")
    first = canonical(
        Structure(**{slot: options(getattr(pools_of(context).pools, slot))[0].content for slot in SLOTS})
    )
    assert dumps(parse(row["text"], Lexicon.of(context.schema, context.records))) == dumps(first)


def test_the_pages_are_what_the_command_writes() -> None:
    assert (ROOT / "docs" / pages.WORKED_PAGE).read_text() == pages.worked_cards()
    told = (ROOT / "docs" / pages.PAGE).read_text()
    assert (
        f"| Exact | {pages._estimate('HARD-OK, %', pages.by(exact_rows())['Exact'], 'hard_ok')} | – | – | – |"
        in told
    )
    assert "| Self-Refine | needs a model | 77.36 | 4.77 | 86.09 |" in told
    assert "| No search | " in told
    for row in (
        "47.17 | 4.50 | 76.07 |",
        "62.26 | 4.64 | 82.26 |",
        "0.00 | 2.68 | 50.56 |",
        "100.00 | 5.00 | 94.69 |",
    ):
        assert row in told


def test_worked_cards_quote_what_gnrs_draft_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / pages.WORKED_PAGE).read_text()
    for name in pages.WORKED:
        assert f"> {drafts()[name].text}\n" in page
    assert run(["draft", "RC-GL-4", "--kernel", "exact", "--json"]) == 0
    assert f"> {json.loads(capsys.readouterr().out)['text']}\n" in page


def test_pages_are_written_both_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / pages.PAGE).write_text("no markers")
    with pytest.raises(InputError, match="holds no place for results"):
        pages.write_pages(tmp_path, exact_rows())
    assert [p.name for p in tmp_path.iterdir()] == [pages.PAGE]


# With a model


def test_no_prompt_shows_where_the_clause_is_or_its_own_verbs() -> None:
    for one in cards():
        told = experiment.shown(one)
        assert one.document.title not in told
        assert set(json.loads(told)) <= set(Card.model_fields) - {
            "id",
            "document",
            "section",
            "basis",
            "verified",
            "near_duplicate_of",
        }
        assert '"modal"' not in told
        assert f'"force": "{one.force}"' in told


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIModel]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-needed")
    with ScriptedServer() as server:
        yield OpenAIModel(Settings(base_url=server.base_url, timeout=20.0))


def rows_with(model: OpenAIModel, methods: Sequence[str], ones: Sequence[Card]) -> list[RowWithAnswers]:
    wanted = [
        Cell(name, 1 if WRITERS[name].runs_chains else None, one.id, 0) for name in methods for one in ones
    ]
    found = experiment.written(wanted, ExperimentRequest(), model)
    assert [cell_of(one.row) for one in found] == wanted
    assert all(one.row["text"] and one.scripted and one.row["scripted"] for one in found)
    return found


def test_prompting_methods_are_read_back(model: OpenAIModel) -> None:
    for one in rows_with(model, experiment.PAPERS[:2], cards()[:3]):
        assert len(one.row["calls"]) == len(one.answers) >= 1
        assert type(one.row["hard_ok"]) is bool


def test_searched_methods_stay_on_the_card_whatever_is_proposed(model: OpenAIModel) -> None:
    """All are polished, and all but one see a model's candidates."""
    candidates, polished = (
        load_prompt(name).hash for name in ("llm_augmented_generator.v1.txt", "nl_polish.FROZEN.v1.txt")
    )
    found = rows_with(model, experiment.PAPERS[2:], cards()[: tier(3, 6)])
    for one in found:
        row, prompts = one.row, [answer.prompt for answer in one.answers]
        without = row["method"] == "No LLM candidates"
        assert prompts[: 2 - without] == [polished] if without else [candidates, polished]
        assert ("kept" in row) is not without
        assert row["force_kept"] == 100 or row["method"] == "No search"
        if row["method"] == "GNRS-Search":
            kept_to = ("names_off_the_card", "numbers_invented", "permissions_bound")
            assert [row[name] for name in kept_to] == [0, 0, 0]
    assert any(one.row["text"] != one.row["unpolished"] for one in found)


def test_no_proposal_brings_a_time_or_the_closing_of_cases_to_a_card() -> None:
    def reason(slot: str, content: Mapping[str, object]) -> str:
        fragments = {
            name: [{"because": "why not", "content": content}] if name == slot else [] for name in SLOTS
        }
        found = proposed.kept(
            Answer("", ProposedFragments.model_validate_json(json.dumps(fragments))),
            gnrs.load_context("RC-PSF-1"),
        )
        return found.dropped[0].reason if found.dropped else ""

    act = {"activity": "CloseCase", "location": None, "object": None, "role": None}
    trigger = {"act": act, "channel": "acknowledgement_message", "once": "each", "window": None}
    opener = card("RC-PSF-1").triggers[0].name
    context = gnrs.load_context("RC-PSF-1")
    channel = next(c.name for c in context.records.channels if opener in (c.activities or ()))
    assert (
        reason("trigger", trigger | {"channel": channel})
        == "action 'CloseCase' only says when a case is closed"
    )
    start = {"act": act | {"activity": opener}, "channel": channel, "once": "each"}
    assert (
        reason("trigger", start | {"window": "PT1H"}) == "there is no log, and the goal names no time of PT1H"
    )
    assert reason("trigger", start | {"window": "P7D"}) == reason("trigger", start | {"window": None}) == ""


def test_prompts_count_nothing_where_there_is_no_log() -> None:
    for one in cards():
        told = json.loads(material(gnrs.load_context(one.id))["records"])
        assert "cases" not in told
        assert all("rows" not in channel and channel["activities"] for channel in told["channels"])


# Command line


def test_goals_lists_the_cards(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["goals", "--bench", "realcharter", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == [c.id for c in cards()]
    assert run(["goals", "--bench", "realcharter"]) == 0
    assert "53 cards; a reconstruction" in capsys.readouterr().out
    assert run(["goals", "--bench", "realcharter", "--split", "dev"]) == 2
    assert capsys.readouterr().err.startswith(
        "gnrs: arguments: --bench: cards take no other option than --json"
    )


def test_draft_says_that_there_is_no_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["draft", "RC-PSF-3", "--kernel", "exact"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Audit: compiled; prospective: no log yet, so nothing has been run. It needs" in told
    assert (
        "moderators_reply: rows of AnswerRecommendation, CloseCase, with case_id, activity, timestamp, role"
        in told
    )
    assert run(["draft", "RC-AP-1", "--kernel", "exact"]) == 0
    assert "A permission is not checked against records" in capsys.readouterr().out


def test_an_unknown_card_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["draft", "RC-PSF-9"]) == 2
    assert capsys.readouterr().err == "gnrs: RC-PSF-9: is no card; did you mean 'RC-PSF-4'?\n"
