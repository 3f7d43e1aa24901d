"""Experiments with a model: the scripted server drives every one of them from calls to tables, killed and
resumed, at reduced size.

Only dev goals, five methods, one seed. Marks of people are made up here and exist nowhere else.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import loopback
import numpy as np
import pytest
from scipy import stats
from scripted import SCRIPTS, ScriptedServer, request_key

from gnrs_ppl import cli
from gnrs_ppl.draft import draft
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate.rubrics import DIMENSIONS
from gnrs_ppl.experiments import (
    baselines,
    cards,
    cross_model,
    executability,
    human_calibration,
    judging,
    packs,
    plan,
    schema_noise,
    second_evaluator,
    slots,
    writers,
)
from gnrs_ppl.experiments.aog import chosen_goal
from gnrs_ppl.experiments.command import compared, listing
from gnrs_ppl.experiments.human_calibration import METHODS as SAMPLED
from gnrs_ppl.experiments.judge_error import Marked, bounded, of_marks
from gnrs_ppl.experiments.judging import joined, judge_rows, read_marks, text_id
from gnrs_ppl.experiments.methods import OURS, SEARCHED, UNSEARCHED, SearchMethod, cells
from gnrs_ppl.experiments.metric_sensitivity import judged_points
from gnrs_ppl.experiments.packs import PackItem, Question, read_filled, read_key, write_pack
from gnrs_ppl.experiments.published import index
from gnrs_ppl.experiments.registry import MODULES, NEEDS_MODEL, WITH_MODEL, experiment, experiments
from gnrs_ppl.experiments.rows import Row, cell_of, read_rows
from gnrs_ppl.experiments.runner import SCRIPTED, Experiment, ExperimentRequest, Outcome, Run, run
from gnrs_ppl.experiments.statistics import correlation, kappa, pairwise_spearman, within_one
from gnrs_ppl.experiments.tables import ResultTable
from gnrs_ppl.experiments.writers import MAIN_TABLE, WRITERS, generate, making, write_rows
from gnrs_ppl.llm import Cache, Costs, OpenAIModel, Price, Settings
from gnrs_ppl.llm.prompts import load, names
from gnrs_ppl.llm.roles import ROLES
from gnrs_ppl.rule.types import SLOTS

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

KEY = "sk-MARKED-0123456789abcdefghijklmnopqrstuvwxyz"
GOALS = ("GNRS-005", "GNRS-022")
REQUEST = ExperimentRequest(goals=GOALS, chains=(1,), seeds=(0,), workers=1)
ONE_GOAL = REQUEST._replace(goals=GOALS[:1])
CARDS = ("RC-PSF-3", "RC-ND-2")
GENERATORS = ("model-a", "vendor/model-b")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "GNRS_STRUCTURED", "GNRS_MODEL_SECOND_JUDGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def reduced() -> dict[str, Experiment]:
    """Every experiment with few methods; the held-out family's on dev goals."""
    found = experiments(llm=True)
    found["main"] = found["main"]._replace(make=making(SAMPLED))
    found["ablations"] = found["ablations"]._replace(make=making(("Uniform weights", "CP-SAT control")))
    found["realcharter"] = found["realcharter"]._replace(
        make=making(("Direct Prompting", OURS), write=cards.written)
    )
    found["ood"] = found["ood"]._replace(split=None, make=making(("No search", OURS)))
    found["schema_noise"] = found["schema_noise"]._replace(make=moderate)
    return found


def moderate(request: ExperimentRequest, folder: Path) -> Sequence[str]:
    """The clean context and one strength of noise."""
    asked = [cell for cell in schema_noise.wanted(request) if cell.method in (schema_noise.CLEAN, *NOISY)]
    return generate(asked, request, folder, write=schema_noise.written)


NOISY = [f"{kind}, moderate" for kind in schema_noise.KINDS]


class Everything(NamedTuple):
    out: Path
    outcomes: dict[str, Outcome]
    received: loopback.Received
    asked: Counter[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everything]:
    """Every experiment run once against one server."""
    out, received, known = tmp_path_factory.mktemp("made"), loopback.Received(), reduced()
    with (
        pytest.MonkeyPatch.context() as patch,
        received.server() as server,
        Cache(out / "cache.sqlite") as cache,
    ):
        patch.setenv("OPENAI_API_KEY", KEY)
        request = REQUEST._replace(model=loopback.model(server, cache))
        outcomes = {}
        for name in WITH_MODEL:
            given = (
                request._replace(generators=GENERATORS, goals=ONE_GOAL.goals)
                if name == "cross_model"
                else request
            )
            if name == "realcharter":
                given = request._replace(goals=CARDS)
            outcomes[name] = run(known[name], known, given, out)
        yield Everything(out, outcomes, received, Counter(server.asked))


def table(outcome: Outcome, name: str) -> list[dict[str, Any]]:
    """Rows of a table by heading."""
    found: ResultTable = next(one for one in outcome.report.tables if one.name in (name, f"{name}_scripted"))
    return [dict(zip([column.heading for column in found.columns], row, strict=True)) for row in found.rows]


def copied(made: Everything, to: Path, change: Callable[[dict[str, Any]], Any] = lambda row: None) -> Path:
    """The folders again, every row and every line of marks changed."""
    shutil.copytree(made.out, to, ignore=shutil.ignore_patterns("cache.sqlite*"))
    for path in [*to.rglob("rows.jsonl"), *to.rglob("marks.jsonl")]:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for line in lines:
            change(line)
        path.write_text(
            "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
        )
    return to


def not_scripted(row: dict[str, Any]) -> None:
    row["scripted"] = False


# Every experiment, end to end


def test_every_experiment_makes_its_tables(made: Everything) -> None:
    for name, outcome in made.outcomes.items():
        assert outcome.folder == made.out / name
        assert all(one.rows for one in outcome.report.tables), name
        assert bool(outcome.report.tables) is (name not in ("human_calibration", "executability")), name
        assert (outcome.folder / "report.md").is_file()
    roles = {role for role, _ in made.received}
    assert roles == set(ROLES)


def test_rows_are_the_cells_and_hold_text_structure_and_calls(made: Everything) -> None:
    rows = read_rows(made.out / "main")
    assert sorted(map(repr, map(cell_of, rows))) == sorted(map(repr, cells(SAMPLED, REQUEST, WRITERS)))
    for row in rows:
        writer = WRITERS[row["method"]]
        assert bool(row["calls"]) is row["scripted"] is writer.asks, row["method"]
        assert all("text" not in call and call["model"].startswith("scripted/") for call in row["calls"])
        assert row["text"]
        assert {"hard_ok", "rho", "s_search", "audit_f1", "structure", "family"} <= set(row)
        assert ("kept" in row) is writer.candidates
        assert ("polish" in row) is bool(writer.polish)


def test_the_method_is_what_draft_does(made: Everything) -> None:
    row = next(
        row for row in read_rows(made.out / "main") if (row["method"], row["goal"]) == (OURS, GOALS[0])
    )
    with ScriptedServer() as server:
        drafted = draft(GOALS[0], chains=1, seed=0, alternatives=0, model=loopback.model(server), polish="v1")
    assert drafted.polished is not None
    assert drafted.proposed is not None
    assert (row["text"], row["polish"]) == (drafted.text, drafted.polished.outcome)
    assert (row["kept"], row["dropped"]) == (len(drafted.proposed.proposals), len(drafted.proposed.dropped))
    assert row["hard_ok"] == drafted.grounding.gate.passed
    assert row["s_search"] == pytest.approx(drafted.search.s_search, abs=1e-9)


def test_every_variant_differs_in_what_its_name_says() -> None:
    """In one thing: its candidates, its polish, or one property of the search."""
    full = WRITERS[OURS]
    assert full.method is not None
    for name in {*MAIN_TABLE, *writers.ABLATED, *writers.POLISHES} - {OURS, *baselines.METHODS}:
        other = WRITERS[name]
        assert other.method is not None
        differs = {
            field for field in ("candidates", "polish") if getattr(other, field) != getattr(full, field)
        }
        differs |= {
            field
            for field in SearchMethod._fields
            if field not in ("name", "off") and getattr(other.method, field) != getattr(full.method, field)
        }
        assert differs == {DIFFERS[name]}, name
    assert writers.VARIANTS in table_says("main")


DIFFERS = {
    "No LLM candidates": "candidates",
    "No record grounding": "log",
    "No search": "pick",
    "Uniform weights": "uniform",
    SEARCHED: "drawn",
    UNSEARCHED: "pick",
    "No hard penalty": "penalty",
    "100 search steps": "steps",
    "AND-only evidence": "operator",
    "CP-SAT control": "kernel",
    "No polish": "polish",
    "Polish v2": "polish",
}


def table_says(name: str) -> str:
    """What stands above the first table of an experiment without rows."""
    return experiment(name, True).report(Run(REQUEST, Path("nowhere"))).tables[0].says


def test_the_other_methods_have_a_row() -> None:
    """Each writes something usable on one goal; variants share one request for candidates. Left out: 100
    steps, the same but shorter."""
    names = [
        name
        for name in WRITERS
        if name not in (*SAMPLED, "Uniform weights", "CP-SAT control", "100 search steps")
    ]
    assert len(names) == 12
    assert set(MAIN_TABLE) <= {*names, *SAMPLED}
    received = loopback.Received()
    with received.server() as server:
        found = write_rows(cells(names, ONE_GOAL, WRITERS), ONE_GOAL, loopback.model(server))
        assert max(server.asked.values()) == 1
    assert sorted(one.row["method"] for one in found) == sorted(names)
    assert all(one.row["text"] and not one.unanswered for one in found)
    asked = [text for text in received.of("generator") if text.startswith("You propose building blocks")]
    assert len(asked) == 2, "one request for all variants, and one without what the log shows"
    evidence = next(one.row for one in found if one.row["method"] == "AND-only evidence")["structure"][
        "evidence"
    ]
    assert evidence.get("operator", "all") == "all"


def test_the_main_table_follows_from_rows_and_marks(made: Everything) -> None:
    """By hand from the files, without the code that makes the tables."""
    rows = [
        json.loads(line)
        for line in (made.out / "main" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    marks = [
        json.loads(line)
        for line in (made.out / "main" / "marks.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for line in table(made.outcomes["main"], "main"):
        own = [row for row in rows if row["method"] == line["method"]]
        means = {}
        for rubric in ("v1", "v2"):
            each = [
                [
                    mark["scores"]
                    for mark in marks
                    if mark["text"] == text_id(row) and mark["rubric"] == rubric
                ]
                for row in own
            ]
            assert all(len(scores) == 1 for scores in each)
            means[rubric] = np.mean([scores[0] for scores in each], axis=0) * 20
        gate = 100 * np.mean([row["hard_ok"] for row in own])
        assert [line[dimension] for dimension in DIMENSIONS] == pytest.approx(means["v1"])
        assert (line["Avg"], line["v2 Avg"]) == pytest.approx((means["v1"].mean(), means["v2"].mean()))
        assert line["HARD-OK, %"] == pytest.approx(gate)
        assert line["OVERALL"] == pytest.approx(0.8 * means["v1"].mean() + 0.2 * gate)
        assert line["rows"] == len(own) == 2


def test_cards_have_the_papers_columns(made: Everything) -> None:
    """Marks from 1 to 5, HARD-OK and OVERALL from rows and marks."""
    rows = joined(read_rows(made.out / "realcharter"), read_marks(made.out / "realcharter"))
    assert [(row["goal"], row["method"]) for row in rows] == [
        (goal, name) for name in ("Direct Prompting", OURS) for goal in sorted(CARDS)
    ]
    for line in table(made.outcomes["realcharter"], "realcharter"):
        own = [row for row in rows if row["method"] == line["method"]]
        means = {name: sum(row[name] for row in own) / len(own) for name in (*DIMENSIONS, "avg", "hard_ok")}
        assert [line[name] for name in DIMENSIONS] == pytest.approx([means[name] / 20 for name in DIMENSIONS])
        assert all(1 <= line[name] <= 5 for name in DIMENSIONS)
        assert line["HARD-OK, %"] == pytest.approx(100 * means["hard_ok"])
        assert line["OVERALL"] == pytest.approx(0.8 * means["avg"] + 20 * means["hard_ok"])
        assert "OVERALL, 95 % over cards" in line
    config = json.loads((made.out / "realcharter" / "config.json").read_text(encoding="utf-8"))
    assert (config["split"], config["goals"], config["chains"]) == ("cards", list(CARDS), [1])


def test_payloads_have_their_sources(made: Everything) -> None:
    """A model's candidates are counted in rows and in the table; no method without them has any."""
    rows = read_rows(made.out / "main")
    ours = [row["from_llm"] for row in rows if row["method"] == OURS]
    assert all("from_llm" in row for row in rows if WRITERS[row["method"]].method)
    assert not any(row["from_llm"] for row in rows if row["method"] == "No LLM candidates")
    lines = {line["method"]: line for line in table(made.outcomes["candidate_sources"], "selected")}
    assert lines[OURS]["llm"] == pytest.approx(sum(ours) / len(ours))
    assert "Direct Prompting" not in lines


def test_hard_ok_by_payloads_counts_every_run(made: Everything) -> None:
    for line in table(made.outcomes["hard_ok_audit"], "by_payloads"):
        runs = [value for name, value in line.items() if name.startswith("runs, ")]
        own = [row for row in made_rows(made) if row["method"] == line["method"] and "direct" in row]
        assert sum(runs) == len(own) > 0


def made_rows(made: Everything) -> list[Row]:
    return read_rows(made.out / "main") + read_rows(made.out / "ablations")


def test_margins_and_weights_follow_from_the_main_table(made: Everything) -> None:
    avg = {line["method"]: line for line in table(made.outcomes["main"], "main")}
    for line in table(made.outcomes["bootstrap"], "margins_1"):
        if line["measure"] in ("Avg, points", "OVERALL, points"):
            column = line["measure"].split(",")[0]
            assert line["margin"] == pytest.approx(avg[OURS][column] - avg[line["other method"]][column])
    for line in table(made.outcomes["metric_sensitivity"], "metric_sensitivity"):
        if line["context"] != "Main benchmark":
            continue
        alpha = line["HARD-OK weight"]
        scores = {name: (1 - alpha) * one["Avg"] + alpha * one["HARD-OK, %"] for name, one in avg.items()}
        assert scores[line["winner"]] == pytest.approx(max(scores.values()))
        assert line[f"score of {OURS}"] == pytest.approx(scores[OURS])
    contexts = {line["context"] for line in table(made.outcomes["metric_sensitivity"], "metric_sensitivity")}
    assert contexts == {"Main benchmark", "Held-out OOD", "RealCharter", *GENERATORS}


def test_slots_by_rubric_are_paired_with_the_goals_own_optimum(made: Everything, tmp_path: Path) -> None:
    out = copied(made, tmp_path / "real", not_scripted)
    request = REQUEST._replace(model=OpenAIModel(Settings(models=dict.fromkeys(ROLES, "m"))))
    one = reduced()["slots"]._replace(make=None)
    lines = table(run(one, reduced(), request, out), "slot_rubrics")
    rows = joined(read_rows(out / "slots"), read_marks(out / "slots"))
    assert [(line["slot"], line["replaced by"]) for line in lines] == list(
        itertools.product(SLOTS, slots.KINDS)
    )
    for line in lines:
        own = {row["goal"]: row["avg"] for row in rows if row["method"] == slots.OWN}
        each = {
            row["goal"]: row["avg"]
            for row in rows
            if row["method"] == slots.method(line["replaced by"], line["slot"])
        }
        assert set(own) == set(each) == set(GOALS)
        assert line["Avg, points"] == pytest.approx(
            sum(each[goal] - own[goal] for goal in GOALS) / len(GOALS)
        )
    assert (out / "slots" / "figures" / "slot_rubrics.png").is_file()
    assert any(row["refusal"] and row["text"] for row in rows), (
        "rules that no log can check are marked as well"
    )


def test_ablations_are_held_against_the_method(made: Everything) -> None:
    lines = table(made.outcomes["ablations"], "ablations")
    assert [line["method"] for line in lines] == [OURS, "Uniform weights", "CP-SAT control"]
    whole = {line["method"]: line["Avg"] for line in lines}
    for line in table(made.outcomes["ablations"], "ablation_differences"):
        if line["metric"] == "Avg":
            assert line["difference"] == pytest.approx(whole[line["variant"]] - whole[OURS])


def test_noise_is_paired_with_the_clean_context(made: Everything) -> None:
    """A model's candidates are asked for in every noisy context, and texts of both are judged."""
    rows = joined(read_rows(made.out / "schema_noise"), read_marks(made.out / "schema_noise"))
    assert Counter(row["method"] for row in rows) == dict.fromkeys((schema_noise.CLEAN, *NOISY), len(GOALS))
    for row in rows:  # a context that cannot state its goal is asked about nothing, and gets the lowest marks
        asked = (bool(row["text"]), len(row["calls"]) >= 2, "kept" in row, row["avg"] > 20)
        assert asked[:3] == (not row["refused_context"],) * 3
        assert asked[3] or row["refused_context"]
    clean = {row["goal"]: row["avg"] for row in rows if row["method"] == schema_noise.CLEAN}
    for line in table(made.outcomes["schema_noise"], "schema_noise_rubric"):
        own = [row for row in rows if row["method"] == f"{line['noise']}, {line['strength']}"]
        changes = [row["avg"] - clean[row["goal"]] for row in own]
        assert line["texts"] == len(own) == (len(GOALS) if line["strength"] == "moderate" else 0)
        assert line["Avg, points"] == (pytest.approx(np.mean(changes)) if changes else None)


def test_contrasts_are_the_papers_fifteen(made: Everything) -> None:
    avg = {line["method"]: line for line in table(made.outcomes["main"], "main")}
    lines = {(one["question"], one["contrast"], one["metric"]): one for one in contrasts_of(made)}
    assert len(lines) == 15
    main = lines["Main benchmark", f"{OURS} vs. No LLM candidates", "OVERALL"]
    assert (main["first"], main["second"]) == pytest.approx(
        (avg[OURS]["OVERALL"], avg["No LLM candidates"]["OVERALL"])
    )
    assert main["gap"] == pytest.approx(main["first"] - main["second"])
    second = lines["Second evaluator", f"{OURS} vs. best non-{OURS}", "Gemini Avg"]
    judged = {one["method"]: one["Avg of the second judge"] for one in second_judge_of(made)}
    assert second["second"] == pytest.approx(max(judged[name] for name in SAMPLED if name != OURS))
    people = lines["Human calibration", f"{OURS} vs. No search", "human mean"]
    assert (people["goals"], people["gap"]) == ("not run", None)
    left = {key for key, one in lines.items() if one["goals"] == "not run"}
    # few methods were run here, the one of the held-out family among them, and no generator is GPT-5.1
    assert {question for question, *_ in left} == {
        "Ablation study",
        "Held-out OOD",
        "GPT-5.1 robustness",
        "RealCharter-Bench",
        "Human calibration",
    }


def contrasts_of(made: Everything) -> list[dict[str, Any]]:
    return table(made.outcomes["contrasts"], "contrasts")


def second_judge_of(made: Everything) -> list[dict[str, Any]]:
    return table(made.outcomes["second_evaluator"], "second_evaluator")


def test_plane_examples_and_failures_follow_from_the_main_table(made: Everything) -> None:
    avg = {line["method"]: line for line in table(made.outcomes["main"], "main")}
    for line in table(made.outcomes["plane"], "plane"):
        if line["method"] in avg and line["method"] not in ("Uniform weights", "CP-SAT control"):
            own = avg[line["method"]]
            assert (line["Avg"], line["HARD-OK, %"]) == pytest.approx((own["Avg"], own["HARD-OK, %"]))
    margin = next(
        one for one in table(made.outcomes["plane"], "margins") if one["context"] == "Main benchmark"
    )
    best = max(line["OVERALL"] for name, line in avg.items() if name != OURS)
    assert margin["composite over the best other"] == pytest.approx(avg[OURS]["OVERALL"] - best)
    rows = {(row["method"], row["goal"]): row for row in Run(REQUEST, made.out).judged("main")}
    examples = {line["method"]: line for line in table(made.outcomes["examples"], "examples")}
    goal = chosen_goal(REQUEST)
    for name in SAMPLED:
        row = rows[name, goal]
        assert (examples[name]["clause"], examples[name]["Avg on 1 to 5"]) == (row["text"], row["avg"] / 20)
    failures = {line["method"]: line for line in table(made.outcomes["failure_modes"], "failures")}
    for name in SAMPLED:
        own = [rows[name, one] for one in GOALS]
        assert failures[name]["fails HARD-OK"] == sum(not row["hard_ok"] for row in own)
        assert failures[name]["Surface-only fluency"] == sum(
            row["fluency"] >= 80 and not row["hard_ok"] for row in own
        )


def test_error_of_the_judge_by_hand() -> None:
    """One feature that is the mark itself on two goals, and off by 0.3 on one rule of the third."""

    def goal(name: str, phi: list[float], worth: list[float], epsilon: float = 0.0) -> Marked:
        return Marked(name, np.array(phi)[:, None], np.array(worth), epsilon)

    goals = [
        goal("a", [0.6, 0.2, 0.9], [0.6, 0.2, 0.9]),
        goal("b", [0.9, 0.2], [0.9, 0.2]),
        goal("c", [0.6, 0.9], [0.6, 0.6], epsilon=0.3),
    ]
    a, b, c = bounded(goals, lambda others: np.ones(1))
    assert c.error == pytest.approx(0.3), "0.9 stands for 0.9 on the others"
    assert (a.regret, b.regret, c.regret) == pytest.approx((0.3, 0.0, 0.0))
    # what the search left of c: from 0.6 to 0.9 by the map of the others
    assert c.left == pytest.approx(0.3)
    # c pulls the map of the others down at 0.9, to the middle of its mark and theirs, each goal weighing 1
    weights = np.array([1 / 2, 1 / 2])
    assert a.error == pytest.approx(0.9 - np.average([0.9, 0.6], weights=weights))
    assert of_marks(goals[:2]) == pytest.approx([1.0])


def test_proposition_1_holds_over_the_judged_rules(made: Everything) -> None:
    lines = table(made.outcomes["judge_error"], "proposition")
    assert [line["goal"] for line in lines] == list(GOALS)
    rows = joined(made_rows(made), read_marks(made.out / "main") + read_marks(made.out / "ablations"))
    for line in lines:
        assert line["holds"] is True
        ours = next(row for row in rows if (row["method"], row["goal"]) == (OURS, line["goal"]))
        assert line["G of the drafted rule"] == pytest.approx(ours["avg"] / 100)
        assert line["regret"] == pytest.approx(line["greatest G"] - line["G of the drafted rule"])
        assert line["rules"] > 5, "slots' rules are among them"
    first = table(made.outcomes["judge_error"], "judge_error")[0]
    assert first["ε_C"] == pytest.approx(max(line["ε_C here"] for line in lines))
    assert first["vacuous"] is (2 * first["ε_C"] >= 1)


# Blinded


def test_judges_see_neither_method_nor_goal_id(made: Everything) -> None:
    """What the server received, and what stands in the file of marks."""
    judged = made.received.of("judge") + made.received.of("second_judge")
    for message in judged:
        assert not [name for name in WRITERS if name.lower() in message.lower()]
        assert not [goal for goal in GOALS if goal in message]
        assert '"structure"' not in message
    for path in made.out.rglob("marks.jsonl"):
        text = path.read_text(encoding="utf-8")
        assert not [name for name in (*WRITERS, *GOALS, *GENERATORS) if name in text]
    assert len(read_marks(made.out / "main")) == 2 * len(
        {text_id(row) for row in read_rows(made.out / "main")}
    )


def test_equal_texts_are_judged_once_and_blank_ones_by_rule(tmp_path: Path) -> None:
    rows: list[Row] = [
        {
            "method": name,
            "chains": None,
            "goal": goal,
            "seed": 0,
            "family": "f",
            "text": text,
            "hard_ok": False,
        }
        for name, goal, text in (
            ("A", GOALS[0], "One."),
            ("B", GOALS[0], "One."),
            ("C", GOALS[1], "One."),
            ("D", GOALS[0], " "),
        )
    ]
    with ScriptedServer({"500": 1.0}) as server:
        with pytest.raises(InputError, match=r"8 answers never came \(server 8\)"):
            judge_rows(rows, loopback.model(server, retries=0), tmp_path, repeats=2)
        assert len(read_marks(tmp_path)) == 2 * 2, "the blank one's"
    with ScriptedServer() as server:
        judge_rows(rows, loopback.model(server), tmp_path, repeats=2)
        assert sum(server.asked.values()) == 2 * 2 * 2
        judge_rows(rows, loopback.model(server), tmp_path, repeats=3)
        assert sum(server.asked.values()) == 2 * 2 * (2 + 3), (
            "with no cache a text that lacks a repeat is judged again"
        )
    marks = read_marks(tmp_path)
    assert len(marks) == 3 * 2 * 3
    a, b, _, blank = joined(rows, marks)
    assert (
        a["avg"]
        == b["avg"]
        == pytest.approx(
            np.mean([m["scores"] for m in marks if m["text"] == text_id(a) and m["rubric"] == "v1"]) * 20
        )
    )
    assert (blank["avg"], blank["blank"], blank["scripted"], a["scripted"]) == (20.0, True, False, True)


# Scripted is no result


def test_what_the_scripted_server_made_is_marked_everywhere(made: Everything) -> None:
    for name, outcome in made.outcomes.items():
        files = [path for folder in ("tables", "figures") for path in (outcome.folder / folder).glob("*")]
        assert all("_scripted." in path.name for path in files), name
        assert all(SCRIPTED in path.read_text(encoding="utf-8") for path in files if path.suffix != ".csv")
        assert not [column for one in outcome.report.tables for column in one.columns if column.paper]
        page = (outcome.folder / "report.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {name} ({SCRIPTED})")
        assert "paper" not in page
        assert page.count(SCRIPTED) == 1 + len(outcome.report.tables)
        summary = json.loads((outcome.folder / "summary.json").read_text(encoding="utf-8"))
        assert summary["scripted"] is True
    pack = made.out / "human_calibration" / "pack"
    assert {path.name for path in pack.iterdir()} == {"rows_scripted.csv", "instructions.md"}
    assert "no result" in (pack / "instructions.md").read_text(encoding="utf-8")


def test_a_generators_folder_names_its_experiment(made: Everything) -> None:
    configs = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in (made.out / "cross_model").glob("*/config.json")
    ]
    assert [config["experiment"] for config in configs] == ["cross_model"] * len(GENERATORS)


def test_one_scripted_mark_is_enough_and_none_is_none(made: Everything, tmp_path: Path) -> None:
    """The same files with the marks taken off give tables beside the paper's; one mark put back marks all."""
    out = copied(made, tmp_path / "a", not_scripted)
    known = reduced()
    with ScriptedServer() as server:
        request = REQUEST._replace(model=loopback.model(server))
        # nobody has filled a pack in, and of ε_C nothing is printed
        for name in set(WITH_MODEL) - {"human_calibration", "executability", "judge_error"}:
            clean = Run(ONE_GOAL if name == "cross_model" else REQUEST, out)
            report = known[name].report(clean)
            assert not clean.scripted
            assert any(column.paper for one in report.tables for column in one.columns), name
        lines = (out / "main" / "marks.jsonl").read_text(encoding="utf-8").splitlines()
        (out / "main" / "marks.jsonl").write_text(
            "\n".join([lines[0].replace('"scripted": false', '"scripted": true'), *lines[1:]]) + "\n"
        )
        outcome = run(known["bootstrap"], known, request, out)
    assert outcome.report.scripted
    assert not server.asked


def test_compared_runs_are_marked(made: Everything, tmp_path: Path) -> None:
    found = compared([made.out / "main", made.out / "main"])
    assert all(SCRIPTED in one.title for one in found)
    clean = copied(made, tmp_path / "a", not_scripted)
    assert not any(SCRIPTED in one.title for one in compared([clean / "main", clean / "main"]))


def test_no_file_holds_the_key(made: Everything) -> None:
    files = [path for path in made.out.rglob("*") if path.is_file()]
    assert len(files) > 60
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


# Killed and resumed


def child(base_url: str, folder: str) -> None:
    """An experiment in a process that will be killed: rows on disk goal by goal, marks two texts at a
    time.
    """
    writers.GOALS, judging.BATCH = 1, 2
    undisturbed(base_url, Path(folder))


def undisturbed(base_url: str, out: Path) -> Outcome:
    """Methods that run no chains: they need no compiler."""
    one = experiments(llm=True)["main"]._replace(make=making(("Direct Prompting", "No search", UNSEARCHED)))
    models = dict.fromkeys(ROLES, "a-model")
    with Cache(out / "cache.sqlite") as cache:
        return run(
            one,
            {},
            REQUEST._replace(model=OpenAIModel(Settings(base_url, models, timeout=20.0, retries=1), cache)),
            out,
        )


def lasting(row: Row) -> Row:
    """A row without what depends on when it was made."""
    calls = [
        {name: value for name, value in call.items() if name not in ("cached", "tries")}
        for call in row["calls"]
    ]
    return {name: value for name, value in row.items() if name != "seconds"} | {"calls": calls}


def stored(path: Path) -> list[str]:
    """What the server calls the requests whose answers are in the cache."""
    with sqlite3.connect(path) as connection:
        sent = [json.loads(text) for (text,) in connection.execute("SELECT request FROM answers")]
    connection.close()
    return [request_key(one["role"], str(one["sample"]), one["body"]) for one in sent]


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.is_file() else 0


@pytest.mark.slow
def test_killed_while_writing_and_while_judging(tmp_path: Path) -> None:
    out = tmp_path / "killed"
    rows, marks, cache = out / "main" / "rows.jsonl", out / "main" / "marks.jsonl", out / "cache.sqlite"
    # nothing of the first goal is to be made again, then nothing of the texts that were judged
    moments: list[Callable[[], bool]] = [
        lambda: first > 0 and len(stored(cache)) > first,
        lambda: lines_of(marks) >= 4,
    ]
    with ScriptedServer(delay=0.06) as server:
        command = [
            sys.executable,
            "-c",
            "import sys, test_experiments_model as t; t.child(*sys.argv[1:])",
            server.base_url,
            str(out),
        ]
        for moment in moments:
            first = 0
            with subprocess.Popen(
                command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as process:
                while not moment():
                    assert process.poll() is None, process.communicate()
                    if lines_of(rows) == 3 and not first:
                        first = len(stored(cache))
                    time.sleep(0.005)
                process.send_signal(signal.SIGKILL)
                process.communicate()
            time.sleep(0.2)  # what was in flight is answered to nobody
            had, asked, before = stored(cache), Counter(server.asked), (lines_of(rows), lines_of(marks))
        assert before[0] == 6
        assert 4 <= before[1] < 2 * 6
        server.delay = 0.0
        undisturbed(server.base_url, out)
        assert {key: server.asked[key] for key in had} == {key: asked[key] for key in had}, (
            "nothing that was stored was asked again"
        )
        assert sum(server.answered.values()) <= len(server.answered) + 2 * 16, (
            "only what was in flight was paid for twice"
        )
        whole = tmp_path / "whole"
        undisturbed(server.base_url, whole)
    assert list(map(lasting, read_rows(out / "main"))) == list(map(lasting, read_rows(whole / "main")))
    each = [(mark["text"], mark["rubric"], mark["role"], mark["sample"]) for mark in read_marks(out / "main")]
    assert len(each) == len(set(each)) == lines_of(whole / "main" / "marks.jsonl") == 2 * 6
    tables = sorted(path.name for path in (whole / "main" / "tables").iterdir())
    assert tables
    assert sorted(path.name for path in (out / "main" / "tables").iterdir()) == tables
    for name in tables:
        assert (out / "main" / "tables" / name).read_bytes() == (
            whole / "main" / "tables" / name
        ).read_bytes(), name


def test_a_second_run_asks_nothing_and_a_half_line_is_made_again(made: Everything, tmp_path: Path) -> None:
    out = copied(made, tmp_path / "a")
    for name in ("rows.jsonl", "marks.jsonl"):
        path = out / "main" / name
        path.write_bytes(path.read_bytes()[:-20])
    with ScriptedServer() as server, Cache(made.out / "cache.sqlite", "read-only") as cache:
        model = loopback.model(server, cache)
        config = json.loads((out / "main" / "config.json").read_text(encoding="utf-8"))
        model.settings = replace(model.settings, base_url=config["server"])
        outcome = run(reduced()["main"], reduced(), REQUEST._replace(model=model), out)
        assert not server.asked
    assert [one.rows for one in outcome.report.tables] == [
        one.rows for one in made.outcomes["main"].report.tables
    ]


# What goes wrong


def small(method: str) -> Experiment:
    return reduced()["main"]._replace(make=making((method, "No search")))


def test_a_row_whose_requests_were_never_answered_is_held_back(tmp_path: Path) -> None:
    one = small("Direct Prompting")
    with ScriptedServer({"500": 1.0}) as server:
        request = ONE_GOAL._replace(model=loopback.model(server))
        with pytest.raises(InputError, match=r"answers never came \(server 3\)"):
            run(one, {}, request, tmp_path)
        assert not read_rows(tmp_path / "main")
        server.faults = {}
        server.scripts["judge"] = lambda *_: "no JSON"
        outcome = run(one, {}, request, tmp_path)
        lines = table(outcome, "main")
        assert [(line["Avg"], line["unmarked"]) for line in lines] == [(None, 2), (None, 2)]
        asked = sum(server.asked.values())
        run(one, {}, request, tmp_path)
        assert sum(server.asked.values()) == asked, "an answer without marks is an answer"


def test_the_cost_limit_stops_and_more_goes_on(tmp_path: Path) -> None:
    one = small("Best-of-N")
    prices = {"a-model": Price(1.0, 1.0, 1.0, "", "")}
    with ScriptedServer() as server, Cache(tmp_path / "cache.sqlite") as cache:
        base = loopback.model(server, cache)
        tight = Costs(0.07, prices)
        with pytest.raises(InputError, match="max_cost"):
            run(one, {}, ONE_GOAL._replace(model=OpenAIModel(base.settings, cache, tight)), tmp_path)
        assert 0 < tight.known <= 0.07
        asked = Counter(server.asked)
        outcome = run(
            one, {}, ONE_GOAL._replace(model=OpenAIModel(base.settings, cache, Costs(50.0, prices))), tmp_path
        )
        assert all(server.asked[key] == count for key, count in asked.items())
    calls = {line["asked by"]: line for line in table(outcome, "calls")}
    assert calls["Best-of-N"]["calls"] >= 8
    assert calls["Best-of-N"]["US dollars"] > 0
    assert calls["Best-of-N"]["calls of unknown price"] == 0


def test_an_incomplete_generator_is_left_out_and_said_so(tmp_path: Path) -> None:
    def broken(messages: Any, schema: Any, rng: Any) -> str:
        raise ConnectionError

    known = reduced()
    with ScriptedServer() as server:
        request = ONE_GOAL._replace(model=loopback.model(server), generators=("good", "bad"))
        makers = {"good": SCRIPTS["generator"], "bad": broken}
        # the server does not tell its scripts which model is asked, so the generator's script changes with
        # its turn
        done = writers.making

        def in_turn(*names: Any) -> Any:
            make = done(*names)

            def one(given: ExperimentRequest, folder: Path) -> Any:
                server.scripts["generator"] = makers[given.model.settings.model("generator")]
                return make(given, folder)

            return one

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cross_model, "making", in_turn)
            outcome = run(known["cross_model"], known, request, tmp_path)
            with pytest.raises(InputError, match="answers never came"):
                run(known["cross_model"], known, request._replace(generators=("bad",)), tmp_path)
    assert [line["generator"] for line in table(outcome, "cross_model")] == ["good"]
    notes = " ".join(outcome.report.notes)
    assert "bad came to an end before it was complete" in notes
    assert re.search(r"bad is left out: \d of its rows", notes)
    again = known["cross_model"].report(Run(ONE_GOAL, tmp_path))
    assert [row[0] for row in again.tables[0].rows] == ["good"], "also when nothing is made"


def test_another_judge_and_broken_lines_are_refused(made: Everything, tmp_path: Path) -> None:
    out = copied(made, tmp_path / "a")
    rows = read_rows(out / "main")
    with ScriptedServer() as server:
        model = loopback.model(server)
        model.settings = replace(model.settings, models={**model.settings.models, "judge": "someone-else"})
        with pytest.raises(InputError, match="holds marks of 'a-model' as judge"):
            judge_rows(rows, model, out / "main")
        config = json.loads((out / "main" / "config.json").read_text(encoding="utf-8"))
        model.settings = replace(model.settings, base_url=config["server"])
        with pytest.raises(InputError, match="models: holds rows of another configuration"):
            generate(cells(SAMPLED, REQUEST, WRITERS), REQUEST._replace(model=model), out / "main")
    path = out / "main" / "marks.jsonl"
    path.write_text(path.read_text(encoding="utf-8") + '{"text": "x", "scores": [1, 2]}\n', encoding="utf-8")
    with pytest.raises(InputError, match=rf"line {lines_of(path)}: holds no marks"):
        read_marks(out / "main")


# Packs


def fill(pack: Path, to: Path, answer: Callable[[str, str], str], delimiter: str = ",") -> None:
    """A pack filled in by rule: item and column to answer."""
    with pack.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    to.parent.mkdir(exist_ok=True)
    with to.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        for row in rows:
            writer.writerow(
                row
                | {
                    name: answer(row["item"], name)
                    for name, value in row.items()
                    if not value and name != "remarks"
                }
            )


def test_a_pack_shows_the_task_and_the_rule_and_nothing_else(made: Everything) -> None:
    folder = made.out / "human_calibration"
    with (folder / "pack" / "rows_scripted.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    texts = {text_id(row): row["text"] for row in read_rows(made.out / "main")}
    assert [row["item"] for row in rows] == list(key) == [f"item-{n:03d}" for n in range(1, 11)]
    assert list(rows[0]) == ["item", "task card", "rule", *human_calibration.DIMENSIONS, "remarks"]
    for row in rows:
        what = key[row["item"]]
        assert row["rule"] == texts[what["text"]]
        shown = f"{row['task card']} {row['rule']}"
        assert not [name for name in (*WRITERS, *GOALS) if name in shown]
        assert "movement log" in row["task card"]
        assert not any(row[dimension] for dimension in human_calibration.DIMENSIONS)
    assert Counter((what["method"], what["goal"]) for what in key.values()) == Counter(
        (m, g) for m in SAMPLED for g in GOALS
    )
    order = [what["method"] for what in key.values()]
    assert order != sorted(order, key=SAMPLED.index)


def test_people_are_held_against_the_judge(made: Everything, tmp_path: Path) -> None:
    """Three made-up people: two of one mind, who follow the judge, and one a point lower where that is
    possible."""
    out = copied(made, tmp_path / "a")
    folder, known = out / "human_calibration", reduced()
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    rows = {cell_of(row): row for row in Run(REQUEST, out).judged("main")}
    judge = {item: rows[cell_of(what)]["avg"] / 20 for item, what in key.items()}
    mark = {item: max(1, min(5, round(value))) for item, value in judge.items()}
    pack = folder / "pack" / "rows_scripted.csv"
    fill(pack, folder / "filled" / "anna.csv", lambda item, _: str(mark[item]))
    fill(pack, folder / "filled" / "ben.csv", lambda item, _: str(mark[item]), ";")
    fill(pack, folder / "filled" / "cem.csv", lambda item, _: str(max(1, mark[item] - 1)))
    before = pack.read_bytes()
    with ScriptedServer() as server:
        report = known["human_calibration"].report(Run(REQUEST, out))
        outcome = Outcome(folder, report, {})
        again = known["human_calibration"].make
        assert again is not None
        again(REQUEST._replace(model=loopback.model(server)), folder)
    assert pack.read_bytes() == before
    assert any("3 people filled it in" in note for note in report.notes)
    human = {item: (2 * value + max(1, value - 1)) / 3 for item, value in mark.items()}
    for line in table(outcome, "human_calibration"):
        own = [human[item] for item, what in key.items() if what["method"] == line["method"]]
        assert (line["items"], line["mean"]) == (2, pytest.approx(np.mean(own)))
    found = {line["quantity"]: line["value"] for line in table(outcome, "human_agreement")}
    a, b = [human[item] for item in key], [judge[item] for item in key]
    assert found["Spearman's ρ with the judge"] == pytest.approx(stats.spearmanr(a, b).statistic)
    assert found["Kendall's τ-b with the judge"] == pytest.approx(stats.kendalltau(a, b).statistic)
    means = [
        [np.mean([values[i] for i, what in key.items() if what["method"] == m]) for m in SAMPLED]
        for values in (human, judge)
    ]
    assert found["Pearson's r with the judge"] == pytest.approx(np.corrcoef(means)[0, 1])
    assert found["labels within one point, %"] == 100.0
    assert [line["paper: value"] for line in table(outcome, "human_agreement")] == [
        0.77,
        0.62,
        0.91,
        0.65,
        85.6,
    ]


def test_executability_by_made_up_people(made: Everything, tmp_path: Path) -> None:
    """Two tasks, three people: everyone can run our rule on both, two of three the other one on the first;
    all prefer ours once."""
    out = copied(made, tmp_path / "a", not_scripted)
    folder = out / "executability"
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    items = sorted(key, key=lambda item: str(key[item]["A"]["goal"]))
    side = {item: next(s for s in ("A", "B") if key[item][s]["method"] == OURS) for item in items}

    def says(person: int) -> Callable[[str, str], str]:
        def answer(item: str, column: str) -> str:
            if column == "preferred":
                return side[item] if item == items[0] else ("A", "B", "equal")[person]
            return "yes" if column.startswith(side[item]) or (item == items[0] and person < 2) else "no"

        return answer

    for person in range(3):
        fill(folder / "pack" / "rows_scripted.csv", folder / "filled" / f"{person}.csv", says(person))
    outcome = Outcome(folder, reduced()["executability"].report(Run(REQUEST, out)), {})
    other, ours = table(outcome, "executability")
    assert (other["strict"], other["by most"], other["preferred"]) == (0.0, 50.0, 0.0)
    assert (ours["strict"], ours["by most"], ours["preferred"]) == (100.0, 100.0, 50.0)
    assert (
        other["paper: strict"],
        ours["paper: strict"],
        other["paper: preferred"],
        ours["paper: preferred"],
    ) == (81.3, 75.0, None, 68.8)
    rows = {cell_of(row): row for row in read_rows(out / "main")}
    gate = [rows[cell_of(key[item][s])]["hard_ok"] for item in items for s in ("A", "B")]
    said = [s == side[item] or item == items[0] for item in items for s in ("A", "B")]
    found = {line["between"]: line for line in table(outcome, "executability_agreement")}
    assert found["HARD-OK and most people"]["share"] == pytest.approx(
        np.mean([a == b for a, b in zip(gate, said, strict=True)])
    )
    # of four rules three are agreed on by all three pairs, one by one pair
    assert found["two people"]["share"] == pytest.approx((3 + 3 + 3 + 1) / 12)


QUESTIONS = (Question("clear", ("1", "2", "3")), Question("sound", ("yes", "no")))


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    items = [
        PackItem({"rule": text}, {"text": str(n)}) for n, text in enumerate(("=1+1", "plain", '-2 "q", ü'))
    ]
    write_pack(tmp_path, items, QUESTIONS, "# Do this\n", False)
    return tmp_path


def test_cells_that_a_spreadsheet_would_compute_are_text(pack: Path) -> None:
    text = (pack / "pack" / "rows.csv").read_bytes().decode("utf-8-sig")
    rules = [row["rule"] for row in csv.DictReader(text.splitlines())]
    assert sorted(rules) == ['\'-2 "q", ü', "'=1+1", "plain"]
    assert not [line for line in text.splitlines() if re.search(r'(^|,)"?[=+@-]', line)]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: text, "ok"),
        (lambda text: text.replace("item-002,", "item-009,"), "item-009: is no item of this pack"),
        (lambda text: text.replace("item-003,", "item-002,"), "item-002: is there twice"),
        (lambda text: "".join(text.splitlines(True)[:-1]), "lacks 1 of 3 items, item-003 first"),
        (lambda text: text.replace("clear", "clarity"), "has no column 'clear'"),
        (
            lambda text: text.replace("item-001,plain,2", "item-001,plain,7"),
            "item-001, clear: is '7'; write 1, 2 or 3",
        ),
        (
            lambda text: text.replace("item-001,plain,2", "item-001,plain, "),
            "item-001, clear: is not filled in; write 1, 2 or 3",
        ),
        (
            lambda text: text.replace("item-001,plain,2,yes", "item-001,plain,2"),
            "item-001, sound: is not filled in; write yes or no",
        ),
    ],
)
def test_what_is_not_filled_in_is_named(pack: Path, change: Callable[[str], str], line: str) -> None:
    key = read_key_plain(pack)
    text = "item,rule,clear,sound,remarks\n" + "".join(f"{name},plain,2,yes,\n" for name in sorted(key))
    (pack / "filled").mkdir()
    (pack / "filled" / "ada.csv").write_text(change(text), encoding="utf-8")
    if line == "ok":
        assert read_filled(pack, key, QUESTIONS) == {
            "ada": {name: {"clear": "2", "sound": "yes"} for name in key}
        }
        return
    with pytest.raises(InputError) as error:
        read_filled(pack, key, QUESTIONS)
    assert "ada.csv" in str(error.value)
    assert line in str(error.value)
    (pack / "filled" / "ada.csv").write_text(
        f"item,clear\n{'x' * (csv.field_size_limit() + 1)},1\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="ada.csv: is not readable CSV"):
        read_filled(pack, key, QUESTIONS)
    (pack / "filled" / "ada.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is not UTF-8"):
        read_filled(pack, key, QUESTIONS)


def read_key_plain(folder: Path) -> dict[str, Any]:
    key: dict[str, Any] = json.loads((folder / packs.KEY).read_text(encoding="utf-8"))
    return key


def test_a_pack_of_other_rows_is_refused(made: Everything, tmp_path: Path) -> None:
    out = copied(made, tmp_path / "a")
    rows = {cell_of(row): row | {"text": "another"} for row in read_rows(out / "main")}
    with pytest.raises(InputError, match=r"item-001: is a text of other rows"):
        read_key(out / "human_calibration", rows)


# Agreement


def test_correlations_by_hand() -> None:
    # ranks 1 to 5 against 2, 1, 4, 3, 5: sum of squared differences 4, so rho = 1 - 6 * 4 / (5 * 24)
    a, b = [1.0, 2.0, 3.0, 4.0, 5.0], [20.0, 10.0, 40.0, 30.0, 50.0]
    assert correlation("spearman", a, b) == pytest.approx(0.8)
    # two of ten pairs are discordant
    assert correlation("kendall", a, b) == pytest.approx(0.6)
    # covariance 80, variances 10 and 1000
    assert correlation("pearson", a, b) == pytest.approx(80 / (10 * 1000) ** 0.5)
    # ties: 5 pairs untied in both, 5 concordant, 1 tied in the first only: 5 / sqrt(5 * 6)
    assert correlation("kendall", [1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(5 / 30**0.5)
    assert correlation("spearman", [1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(
        np.corrcoef([1.5, 1.5, 3, 4], [1, 2, 3, 4])[0, 1]
    )
    assert correlation("pearson", [1.0], [1.0]) is None
    assert correlation("kendall", [2.0, 2.0], [1.0, 3.0]) is None


def test_agreement_of_people_by_hand() -> None:
    people = [[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [3.0, 2.0, 1.0]]
    # 0.5, -1 and -0.5
    assert pairwise_spearman(people) == pytest.approx(-1 / 3)
    assert pairwise_spearman([[1.0, 2.0], [2.0, 2.0]]) is None
    assert pairwise_spearman([[1.0, 2.0]]) is None
    # pairs: (1,3) (5,4) | (1,2) (5,5) | (3,2) (4,5): five of six
    assert within_one([[1, 5], [3, 4], [2, 5]]) == pytest.approx(500 / 6)
    assert within_one([[1, 5]]) is None
    # observed 0.75, chance 0.5 * 0.75 + 0.5 * 0.25
    assert kappa([True, True, False, False], [True, True, True, False]) == pytest.approx(0.5)
    assert kappa([True, True], [True, True]) is None
    assert kappa([], []) is None


def test_correlations_are_scipys() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        a, b = rng.integers(1, 6, 30).tolist(), rng.integers(1, 6, 30).tolist()
        assert correlation("pearson", a, b) == pytest.approx(stats.pearsonr(a, b).statistic)
        assert correlation("spearman", a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
        assert correlation("kendall", a, b) == pytest.approx(stats.kendalltau(a, b, variant="b").statistic)


def test_second_judge_by_hand() -> None:
    rows = [
        {
            "method": m,
            "chains": None,
            "goal": g,
            "seed": 0,
            "avg": first,
            "second_avg": second,
            "second_overall": 0.8 * second,
        }
        for m, g, first, second in (
            ("No search", "a", 20.0, 40.0),
            ("No search", "b", 40.0, 60.0),
            (OURS, "a", 60.0, 50.0),
        )
    ]
    lines = second_evaluator.agreement(rows).rows
    # ranks 1, 2, 3 against 1, 3, 2
    assert [line[2] for line in lines] == pytest.approx([0.5, 0.5, 1 / 3])
    assert [line[3] for line in lines] == [0.575, 0.611, 0.480]
    own = next(line for line in second_evaluator.means(rows).rows if line[0] == "No search")
    assert list(own[1:5]) == pytest.approx([2, 30.0, 50.0, 40.0])


def test_points_are_means_of_goals() -> None:
    rows = [
        {
            "method": "Best-of-N",
            "chains": None,
            "goal": goal,
            "seed": seed,
            "family": "f",
            "avg": avg,
            "hard_ok": ok,
        }
        for goal, seed, avg, ok in (
            ("a", 0, 40.0, True),
            ("a", 1, 60.0, False),
            ("b", 0, 80.0, True),
            ("b", 1, None, True),
        )
    ]
    found = judged_points(rows, WRITERS, REQUEST)["Best-of-N"]
    assert (found.average, found.hard_ok) == ((50 + 80) / 2, 100 * (0.5 + 1) / 2)


# Command line


def test_a_dry_run_counts_what_a_run_asks(
    made: Everything, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By role, of the methods the reduced experiment has: at least what was asked, and nothing is sent."""
    monkeypatch.setenv("GNRS_CACHE_DIR", str(tmp_path))
    one = reduced()["main"]._replace(methods=SAMPLED)
    given = REQUEST._replace(model=OpenAIModel(Settings(base_url="http://127.0.0.1:9/v1")))
    calls = Counter[str]()
    for ask in plan.planned(one, given):
        calls[ask.role] += ask.calls
        assert ask.tokens > 100
    rows, marks = read_rows(made.out / "main"), read_marks(made.out / "main")
    sent = Counter(call["prompt"] for row in rows for call in row["calls"])
    sent[load("llm_augmented_generator.v1.txt").hash] = len(GOALS)  # asked once for all methods
    role_of = {load(name).hash: load(name).roles[0] for name in names()}
    asked = Counter[str]({"judge": len(marks)})
    for prompt, number in sent.items():
        asked[role_of[prompt]] += number
    assert set(asked) == set(calls)
    assert all(asked[role] <= calls[role] for role in calls)
    assert calls["judge"] == 2 * len(rows)
    prices = tmp_path / "prices.yaml"
    prices.write_text("gpt-5.1: {input: 2, output: 20, as_of: 2027-01}\n")
    command = ["experiment", "realcharter", "--llm", "--dry-run", "--sample", "1", "--json"]
    assert cli.run([*command, "--role", "judge=nobodys-model"]) == 0
    unknown = json.loads(capsys.readouterr().out)["plan"]["rows"]
    assert [row[5:] for row in unknown if row[1] == "judge"] == [[None, None, "no price: --price"]]
    assert unknown[-1][5:] == [None, None, None], "no sum of what is not known"
    told = []
    for more in ([], ["--prices", str(prices)]):
        assert cli.run([*command, *more]) == 0
        told.append(json.loads(capsys.readouterr().out)["plan"]["rows"])
    judge = [next(row for row in rows if row[1] == "judge") for rows in told]
    assert [row[-1] for row in judge] == ["2026-11", "2027-01"]
    assert judge[1][6] > 1.5 * judge[0][6] > 0
    prices.write_text("gpt-5.1: {input: 2, output: 20}\n")
    assert cli.run([*command, "--prices", str(prices)]) == 2
    assert "prices.yaml: gpt-5.1: is no dated price; write MODEL:" in capsys.readouterr().err


def test_without_a_key_one_line_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("GNRS_CACHE_DIR", str(tmp_path))
    assert cli.run(["experiment", "main", "--llm", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "OPENAI_API_KEY is not set; set OPENAI_API_KEY" in said[0]
    monkeypatch.setenv("GNRS_MODEL_GENERATOR", "another")
    assert cli.run(["experiment", "main", "--llm", "--out", str(tmp_path / "out")]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err, "a folder without rows has no configuration to keep"
    assert cli.run(["experiment", "second_evaluator", "--llm", "--out", str(tmp_path / "out")]) == 2
    assert "set GNRS_MODEL_SECOND_JUDGE" in capsys.readouterr().err
    assert cli.run(["experiment", "bootstrap", "--llm", "--out", str(tmp_path / "none")]) == 2
    assert "run gnrs experiment main --llm first" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["cross_model"], "cross_model: needs a model; add --llm"),
        (["main", "--repeats", "2"], "--repeats: goes with --llm"),
        (["main", "--max-cost", "0"], "--max-cost: goes with --llm"),
        (["main", "--llm", "--no-llm"], "contradicts --no-llm"),
        (["main", "--llm", "--generator", "x"], "--generator: goes with cross_model"),
        (["aog", "--llm"], "aog: runs without a model here"),
        (["crossmodel", "--llm"], "did you mean 'cross_model'?"),
        (["ood", "--llm"], "ood goals are held out; add --reveal"),
        (
            ["all", "--llm", "--goals", "GNRS-005"],
            "all: --goals: takes goals where some experiments have cards",
        ),
        (["main", "--dry-run"], "--dry-run: goes with --llm"),
        (["main", "--llm", "--goals", "GNRS-061"], "--goals: GNRS-061: is none of the 16 dev goals"),
        (["all"], "add --no-llm"),
    ],
)
def test_options_that_do_not_fit(
    arguments: list[str],
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GNRS_CACHE_DIR", str(tmp_path))
    assert cli.run(["experiment", *arguments, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert line in said[0]
    assert not (tmp_path / "out").exists()


def test_tables_from_the_command_line(
    made: Everything, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GNRS_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY")
    out = copied(made, tmp_path / "a")
    assert cli.run(["experiment", "bootstrap", "--llm", "--chains", "1", "--out", str(out), "--json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)
    assert said["scripted"] is True
    assert set(said["tables"]) == {f"margins_{n}_scripted" for n in range(1, 6)}


def test_the_list_says_what_needs_a_model() -> None:
    told = {row[0]: row for row in listing().rows}
    assert [name for name, row in told.items() if row[2] == "needs --llm"] == list(NEEDS_MODEL)
    assert told["main"][2] == "with and without"
    assert told["aog"][2] == "without"
    assert set(NEEDS_MODEL) == {
        "cross_model",
        "human_calibration",
        "executability",
        "polish",
        "second_evaluator",
        "judge_error",
    }


def test_every_label_that_names_an_experiment_leads_to_one() -> None:
    for entry in index():
        if len(entry.covered_by.split()) == 1:
            assert (
                entry.covered_by in MODULES or experiment(entry.covered_by, llm=True).name == entry.covered_by
            )
    assert all(one.asks.endswith("?") for one in experiments(llm=True).values())
    assert os.environ["OPENAI_API_KEY"] == KEY
    assert executability.TASKS == 48
    assert human_calibration.GOALS * len(SAMPLED) == 100
