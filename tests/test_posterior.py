"""The mass of a posterior, P(violated) per case, questions and answers: each against its definition by plain
loops, and the verbs through the command line."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import small
import yaml
from tiers import tier

import gnrs_ppl as gnrs
from gnrs_ppl.audit.checkable import CheckPlan, check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.result import roll_up
from gnrs_ppl.audit.run import evaluate
from gnrs_ppl.audit.types import ROLL_UP
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.calibration.weights import Weights, frozen_weights, weights_named
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.cli import run
from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.exact import enumerate_space, exact_posterior
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.graph import AndOrGraph, compile_graph
from gnrs_ppl.posterior import verdicts
from gnrs_ppl.posterior.answers import (
    ANSWERS,
    Answers,
    CaseAnswer,
    PartAnswer,
    likelihoods,
    merged,
    read_answers,
    together,
    write_answers,
)
from gnrs_ppl.posterior.ask import ask, case_bits, grouped, part_bits
from gnrs_ppl.posterior.fields import SLOT_FIELDS, said
from gnrs_ppl.posterior.mass import Mass, fewest, mass, probabilities
from gnrs_ppl.posterior.uncertain import SETTLED, checked, field_choices, forecast, slot_choices
from gnrs_ppl.posterior.verdicts import VIOLATED, Checked
from gnrs_ppl.report.ask import timeline
from gnrs_ppl.rule.types import SLOTS

SAME = 1e-9


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("posterior")
    small.write(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNRS_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield folder


@pytest.fixture(scope="module")
def context(folder: Path) -> Context:
    return load_context(folder / "context.json")


@pytest.fixture(scope="module")
def graph(context: Context) -> AndOrGraph:
    return compile_graph(context, pools_of(context).pools)


@pytest.fixture(scope="module")
def held(graph: AndOrGraph) -> Mass:
    return mass(graph, frozen_weights(), 0.97)


@pytest.fixture(scope="module")
def found(held: Mass, context: Context) -> Checked:
    return checked(held, context.resolved, context.log)


def test_no_fewer_items_hold_the_share() -> None:
    rng = np.random.default_rng(0)
    for share in (0.3, 0.8, 0.95, 1.0):
        p = rng.dirichlet(np.full(9, 0.4))
        count = len(fewest(p, share))
        assert p[fewest(p, share)].sum() >= share - SAME
        assert all(sum(some) < share for some in itertools.combinations(p.tolist(), count - 1))


def test_a_mass_is_the_enumeration_summed_over_what_no_check_reads(graph: AndOrGraph, held: Mass) -> None:
    weights = frozen_weights()
    assert weights.temperature is not None
    every = enumerate_space(contract(graph.space, weights.array()))
    p = exact_posterior(every, weights.temperature).probability
    by_check: dict[str, float] = {}
    for index in range(len(p)):
        rule = graph.structure(every.position(index))
        norm = rule.norm.model_copy(update={"force": "must"})
        scope = rule.scope.model_copy(update={"concerns": ()})
        key = "|".join(m.model_dump_json() for m in (scope, rule.trigger, norm, rule.evidence))
        by_check[key] = by_check.get(key, 0.0) + float(p[index])
    best = sorted(by_check.values(), reverse=True)
    np.testing.assert_allclose(held.probability, best[: len(held.key)], atol=SAME)
    assert held.cut == pytest.approx(1 - sum(best[: len(held.key)]), abs=SAME)
    assert sum(best[: len(held.key) - 1]) < 0.97 <= sum(best[: len(held.key)]) + SAME


def test_weights_are_averaged_over(graph: AndOrGraph) -> None:
    whole = weights_named("posterior")
    some = Weights(whole.values, whole.origin, whole.temperature, whole.draws[:5])
    each = []
    for draw in some.draws:
        beta = np.array(draw)
        every = enumerate_space(contract(graph.space, beta / beta.sum()))
        p = exact_posterior(every, 1 / float(beta.sum())).probability
        each.append(np.where(every.feasible, p, 0) / p[every.feasible].sum())
    np.testing.assert_allclose(probabilities(graph, some), np.mean(each, axis=0), atol=SAME)


def test_every_check_says_what_its_audit_says(held: Mass, found: Checked, context: Context) -> None:
    for n in range(0, len(held.key), tier(6, 1)):
        cases = roll_up(tuple(evaluate(held.structure(n), context.records, context.log)), context.log)
        assert [case.case_id for case in cases] == list(found.cases)
        assert [ROLL_UP.index(case.verdict) for case in cases] == found.codes[n].tolist()


@pytest.mark.parametrize("length", get_args(verdicts.Length))
def test_one_query_holds_what_differs_in_one_length(
    length: verdicts.Length, held: Mass, context: Context
) -> None:
    """Whichever length it is; constraint by constraint it is what the audit says."""
    parts: dict[verdicts.Said, CheckPlan] = {}
    for n in range(len(held.key)):
        parts |= verdicts._by_constraint(check(held.structure(n), context.resolved, context.log))
    groups = verdicts._alike(parts, length)
    assert sorted(map(repr, (said for group in groups for said in group))) == sorted(map(repr, parts))
    group = max(groups, key=len)
    assert len(group) > 1
    query = verdicts._query(parts[group[0]], length, group)
    rows = context.log.connection.execute(query.sql, query.parameters).fetchall()
    for place, one in enumerate(group):
        alone = compile_rule(parts[one])
        gravest: dict[str, int] = {}
        for case, _, _, verdict, *_ in context.log.connection.execute(alone.sql, alone.parameters).fetchall():
            gravest[case] = min(gravest.get(case, len(ROLL_UP)), ROLL_UP.index(verdict))
        assert {case: code for point, case, code in rows if point == place} == gravest


def test_verdicts_are_remembered_and_a_broken_memory_is_not_trusted(
    held: Mass, found: Checked, context: Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GNRS_CACHE_DIR", str(tmp_path))
    first = checked(held, context.resolved, context.log)
    again = checked(held, context.resolved, context.log)
    assert (first.run, again.run) == (len(held.key), 0)
    np.testing.assert_array_equal(again.codes, found.codes)
    for file in (tmp_path / "verdicts").iterdir():
        file.write_bytes(file.read_bytes()[:40])
    assert checked(held, context.resolved, context.log).run == len(held.key)


def test_p_violated_is_the_mass_of_those_that_say_so(held: Mass, found: Checked) -> None:
    result = forecast(held, found)
    assert [c.violated for c in result.cases] == sorted((c.violated for c in result.cases), reverse=True)
    for case in result.cases:
        n = found.cases.index(case.case_id)
        says = [k for k in range(len(held.key)) if found.codes[k, n] == VIOLATED]
        kept = sum(float(held.probability[k]) for k in says)
        assert case.violated == pytest.approx(kept / (1 - held.cut), abs=SAME)
        assert case.low == pytest.approx(kept, abs=SAME)
        assert case.high == pytest.approx(min(1, kept + held.cut), abs=SAME)
        assert sum(case.verdicts.values()) == pytest.approx(1)
        expected = "broken" if case.violated >= SETTLED else "kept" if case.violated <= 0.05 else "contested"
        assert case.status == expected
    assert result.of("contested")


def test_what_a_slot_explains_is_the_variance_of_its_means(held: Mass, found: Checked) -> None:
    share, hit = held.share, found.codes == VIOLATED
    for choice in (*slot_choices(held), *field_choices(held)):
        explained = choice.explained(share, hit)
        for n in range(len(found.cases)):
            p = float(share @ hit[:, n])
            if p * (1 - p) < 1e-6:
                continue
            between = 0.0
            for value in range(len(choice.values)):
                own = choice.of == value
                mean = float(share[own] @ hit[own, n]) / float(share[own].sum())
                between += float(share[own].sum()) * (mean - p) ** 2
            assert explained[n] == pytest.approx(between / (p * (1 - p)), abs=1e-7)
            assert -SAME <= explained[n] <= 1 + SAME


def test_answers_are_likelihoods() -> None:
    table = likelihoods(0.1)
    np.testing.assert_allclose(table.sum(1), 1)
    assert table[ROLL_UP.index("violated"), ANSWERS.index("broken")] == pytest.approx(0.9)
    assert table[ROLL_UP.index("indeterminate"), ANSWERS.index("kept")] == pytest.approx(0.45)
    assert table[ROLL_UP.index("not_activated"), ANSWERS.index("kept")] == pytest.approx(0.05)
    assert set(table[-1].tolist()) == {1 / 3}


def test_bits_are_the_mutual_information_by_enumeration(held: Mass, found: Checked) -> None:
    error, share, number = 0.05, held.share, grouped(found)
    table = likelihoods(error)
    bits, _ = case_bits(share, found, error)
    for n in range(len(found.cases)):
        joint = np.zeros((int(number.max()) + 1, len(ANSWERS)))
        for k in range(len(share)):
            joint[number[k]] += share[k] * table[found.codes[k, n]]
        assert bits[n] == pytest.approx(information(joint), abs=1e-9)
    for choice in field_choices(held):
        m = len(choice.values)
        joint = np.zeros((int(number.max()) + 1, m))
        for k in range(len(share)):
            for a in range(m):
                joint[number[k], a] += share[k] * (1 - error if choice.of[k] == a else error / (m - 1))
        assert part_bits(share, number, choice, error)[0] == pytest.approx(information(joint), abs=1e-9)


def information(joint: np.ndarray) -> float:
    rows, columns = joint.sum(1), joint.sum(0)
    return sum(p * math.log2(p / (rows[i] * columns[j])) for (i, j), p in np.ndenumerate(joint) if p > 0)


def test_answers_update_exactly_and_in_any_order(held: Mass, found: Checked) -> None:
    given = (CaseAnswer(case="s1", answer="kept"), CaseAnswer(case="s2", answer="broken"))
    for order in (given, given[::-1]):
        state = ask(held, found, Answers(order, 0.1))
        table = likelihoods(0.1)
        weighed = held.probability.copy()
        for answer in order:
            weighed *= table[found.codes[:, found.cases.index(answer.case)], ANSWERS.index(answer.answer)]
        greatest = 0.9 * 0.9
        total = weighed.sum() + held.cut * greatest
        np.testing.assert_allclose(state.mass.probability, np.sort(weighed / total)[::-1], atol=SAME)
        assert state.mass.cut == pytest.approx(held.cut * greatest / total, abs=SAME)
    unknown = together(Answers((CaseAnswer(case="s1", answer="unknown"),)), held, found)
    assert unknown[1] == pytest.approx(held.cut, abs=SAME)


def test_what_a_part_says_of_the_mass_that_was_cut_is_exact(graph: AndOrGraph, context: Context) -> None:
    weights = frozen_weights()
    kept = mass(graph, weights, 0.8)
    ran = checked(kept, context.resolved, context.log)
    values = next(c.values for c in field_choices(kept) if c.name == "norm.deadline")
    answers = Answers((PartAnswer(part="norm.deadline", answer=values[0]),), 0.1)
    after = ask(kept, ran, answers).mass
    whole = mass(graph, weights, 1.0)
    says = [said(whole.structure(n).norm)["deadline"] == (values[0],) for n in range(len(whole.key))]
    weighed = whole.probability * np.where(says, 0.9, 0.1 / (len(values) - 1))
    inside = [key in kept.key for key in whole.key]
    assert after.cut == pytest.approx(weighed[~np.array(inside)].sum() / weighed.sum(), abs=SAME)


def test_asking_finds_each_rule_that_the_log_can_show(held: Mass, found: Checked) -> None:
    """Whoever judges by a rule of the pool is led to it, or to rules that no case tells from it."""
    number = grouped(found)
    for truth in range(len(held.key)):
        answers = Answers((), 0.02)
        for _ in range(len(found.cases)):
            state = ask(held, found, answers, parts=False)
            if state.stopped:
                break
            case = state.questions[0].about
            row = likelihoods(0.02)[found.codes[truth, found.cases.index(case)]]
            answers = merged(answers, [CaseAnswer(case=case, answer=ANSWERS[int(row.argmax())])], None)
        top = {held.key.index(state.mass.key[k]) for k in state.groups[0].checks}
        # no question is left, so what leads agrees with every answer that was given as well as the truth does
        likelihood, _ = together(answers, held, found)
        assert truth in top or max(likelihood[k] for k in top) >= likelihood[truth]
        assert all(number[k] == number[next(iter(top))] for k in top)


def test_nothing_is_asked_where_nothing_is_told(held: Mass, found: Checked) -> None:
    same = found._replace(codes=np.repeat(found.codes[:1], len(held.key), axis=0))
    state = ask(held, same)
    assert state.stopped == "settled"
    assert len(state.groups) == 1
    assert {choice.name for choice in state.open_fields()} == {c.name for c in field_choices(held)}


def test_answers_are_a_file(tmp_path: Path, held: Mass, found: Checked) -> None:
    answers = Answers(
        (CaseAnswer(case="s1", answer="kept"), PartAnswer(part="norm.deadline", answer="PT1H")), 0.1
    )
    write_answers(tmp_path / "a.yaml", "SHIFT-1", answers)
    assert read_answers(tmp_path / "a.yaml", "SHIFT-1") == answers
    with pytest.raises(InputError, match="are about"):
        read_answers(tmp_path / "a.yaml", "another")
    (tmp_path / "a.yaml").write_text("goal: SHIFT-1\nanswers: [{case: s1, answer: perhaps}]\n")
    with pytest.raises(InputError, match="answer"):
        read_answers(tmp_path / "a.yaml", "SHIFT-1")
    (tmp_path / "a.yaml").write_text(
        "goal: SHIFT-1\nanswers: [{case: s1, answer: kept}, {case: s1, answer: kept}]\n"
    )
    with pytest.raises(InputError, match="twice"):
        read_answers(tmp_path / "a.yaml", "SHIFT-1")
    with pytest.raises(InputError, match="no case"):
        ask(held, found, Answers((CaseAnswer(case="s9", answer="kept"),)))
    with pytest.raises(InputError, match="cannot mean"):
        ask(held, found, Answers((PartAnswer(part="norm.deadline", answer="P9D"),)))
    with pytest.raises(InputError, match="no part"):
        ask(held, found, Answers((PartAnswer(part="norm.dedline", answer="P9D"),)))


def test_fields_cover_what_options_say(graph: AndOrGraph) -> None:
    for slot, options in zip(SLOTS, graph.options, strict=True):
        for option in options:
            assert tuple(sorted(said(option.content))) == tuple(sorted(SLOT_FIELDS[slot]))


def test_a_case_is_shown_in_order(context: Context) -> None:
    rows, left_out = timeline(context, "s1", ["CheckIn"])
    assert left_out == 0
    assert [row.what for row in rows] == ["start a shift", "check in", "serve"]
    assert [row.since for row in rows] == ["start", "+5 min", "+1 d 10 h"]
    few, left_out = timeline(context, "s1", ["Serve"], count=1)
    assert ([row.what for row in few], left_out) == (["serve"], 2)


@pytest.mark.slow
def test_the_verbs(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, drafted, answers = str(folder / "context.json"), str(tmp_path / "draft"), str(tmp_path / "a.yaml")
    quick = ["--chains", "4", "--steps", "20", "--kernel", "exact"]
    assert run(["draft", place, *quick, "--out", drafted, "--fix", "evidence.operator=any"]) == 0
    capsys.readouterr()

    code = run(["audit", "--posterior", drafted, "--json"])
    data = json.loads(capsys.readouterr().out)
    assert code == (1 if data["counts"]["broken"] else 0)
    assert sum(data["counts"].values()) == 4
    assert data["mass"]["kept"] + data["mass"]["cut"] == pytest.approx(1)
    run(["audit", "--posterior", drafted])
    assert "Verdicts under uncertainty" in capsys.readouterr().out
    run(["audit", place, "--posterior", drafted, "--weights", "posterior", "--csv"])
    assert len(capsys.readouterr().out.splitlines()) == 5
    assert run(["audit", place, "--mass", "0.8"]) == 2
    assert run(["audit", "--posterior", drafted, "--rule", str(folder / "rule.json")]) == 2

    assert (
        run(["ask", place, "--answers", answers, "--json", "--answer", "s1=kept", "--answer", "s2=broken"])
        == 0
    )
    asked = json.loads(capsys.readouterr().out)
    assert [answer["case"] for answer in asked["answers"]] == ["s1", "s2"]
    assert asked["stopped"] or asked["question"]["bits"] > 0
    assert yaml.safe_load(Path(answers).read_text())["answers"][0] == {"case": "s1", "answer": "kept"}
    assert run(["ask", place, "--answers", answers]) == 0
    assert "Which rule is meant by SHIFT-1?" in capsys.readouterr().out
    assert run(["ask", place, "--answer", "s1=maybe"]) == 2
    assert "is no answer" in capsys.readouterr().err

    assert run(["draft", place, *quick, "--answers", answers, "--out", drafted, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["request"]["answers"]["answers"][1] == {"case": "s2", "answer": "broken"}
    assert told["certificate"]["method"] == "answers of people"
    assert run(["audit", "--posterior", drafted, "--json"]) in (0, 1)


def test_a_draft_of_another_context_is_not_replayed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gnrs.draft(folder / "context.json", chains=4, steps=20, kernel="exact").save(tmp_path / "draft")
    other = tmp_path / "other"
    other.mkdir()
    small.write(
        other, log=small.LOG + "12,s5,StartShift,2024-03-04T08:00:00+01:00,ann,waiter,restaurant,roster_log\n"
    )
    assert run(["audit", str(other / "context.json"), "--posterior", str(tmp_path / "draft")]) == 2
    assert "another log" in capsys.readouterr().err
    assert run(["audit", "--posterior", str(tmp_path / "nothing")]) == 2
