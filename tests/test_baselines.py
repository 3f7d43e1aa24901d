"""The baselines through the real client: same context, right prompts, a selector that is no evaluator, and
runs that repeat."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import loopback
import pytest
from scripted import SCRIPTS, Schema, ScriptedServer
from test_layout import PACKAGE, imports

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.calibration.weights import DEFAULT_WEIGHTS, UNIFORM_WEIGHTS
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate.model_parser import Parsed, parse_texts
from gnrs_ppl.experiments.baselines import (
    CASES,
    METHODS,
    ROUNDS,
    ROWS,
    SAMPLES,
    SHOWN,
    BaselineResult,
    Task,
    excerpts,
    write_rules,
)
from gnrs_ppl.experiments.bench import GoalBench
from gnrs_ppl.llm import Cache, OpenAIModel
from gnrs_ppl.llm.answers import StructuredRule
from gnrs_ppl.llm.material import material
from gnrs_ppl.models.energy import hard_penalty, slow_score
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.models.worth import worth
from gnrs_ppl.rule.types import SLOTS

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

GOALS = ("GNRS-005", "GNRS-022")
CALLS = {
    "Direct Prompting": {1},
    "Structured Outputs": {1},
    "Best-of-N": {8},
    "Self-Refine": {2, 3},
    "In-Context Grounding": {1},
    "Norm Synthesis": {1},
    "Constrained Decoding": {1},
}
"""Calls a method may take where every answer is good; the names are those of the paper's table, but for the
last."""


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")


@pytest.fixture(scope="module")
def contexts() -> list[Context]:
    return [load_context(goal) for goal in GOALS]


def tasks(contexts: list[Context], names: list[str] | None = None, seeds: range = range(1)) -> list[Task]:
    return [
        Task(METHODS[name], context, seed)
        for context in contexts
        for name in names or METHODS
        for seed in seeds
    ]


def write(
    name: str, context: Context, seed: int = 0, **given: Any
) -> tuple[BaselineResult, loopback.Received]:
    """One rule by one method, and what the server received for it."""
    received = loopback.Received()
    with received.server(**given) as server:
        (result,) = write_rules(tasks([context], [name], range(seed, seed + 1)), loopback.model(server))
    return result, received


def content(results: list[BaselineResult]) -> list[Any]:
    return [
        (result.text, result.structure, [(call.text, call.error, call.refusal) for call in result.calls])
        for result in results
    ]


def broken_refinement(*said: Any) -> str:
    schema: Schema = said[1]
    return "no JSON" if "critique" in schema["properties"] else SCRIPTS["generator"](*said)


def no_objection(*said: Any) -> str:
    answer = json.loads(SCRIPTS["generator"](*said))
    return json.dumps(answer | ({"critique": []} if "critique" in answer else {}))


# Every method


def test_the_table_has_the_papers_methods() -> None:
    assert list(METHODS) == list(CALLS)
    assert SAMPLES == 8


@pytest.mark.parametrize("name", METHODS)
def test_a_method_writes_rules_for_two_goals(name: str, contexts: list[Context]) -> None:
    received = loopback.Received()
    with received.server() as server:
        results = write_rules(tasks(contexts, [name]), loopback.model(server))
        parsed = parse_texts(
            [(result.text, context) for result, context in zip(results, contexts, strict=True)],
            loopback.model(server),
        )
    assert {role for role, _ in received} <= {"generator", "parser"}
    for result, context, found in zip(results, contexts, parsed, strict=True):
        assert "Whoever is seen to" in result.text
        assert len(result.calls) in CALLS[name]
        assert all(call.scripted and call.error is None for call in result.calls)
        assert (result.structure is None) is (name in ("Direct Prompting", "Norm Synthesis"))
        row = GoalBench(context.goal.id).read_back(result.text, found)
        assert 0 < row["rho"] <= 1
        assert (row["s_search"] is None) is (found.structure is None)
    generated = received.of("generator")
    assert len(generated) == sum(len(result.calls) for result in results)


def test_all_methods_get_the_same_context(contexts: list[Context]) -> None:
    received = loopback.Received()
    with received.server() as server:
        write_rules(tasks(contexts), loopback.model(server))
    seen = Counter(tuple(loopback.values(message)[:3]) for message in received.of("generator"))
    given = [material(context) for context in contexts]
    assert set(seen) == {(values["goal"], values["schema"], values["records"]) for values in given}
    for context, values in zip(contexts, given, strict=True):
        assert context.goal.id not in "".join(values.values())
        assert json.loads(values["goal"])["intent"] == context.goal.intent
        assert not any(term.name in values["records"] for term in context.records.observables)


def test_where_there_is_no_log_nothing_is_counted(contexts: list[Context]) -> None:
    records = contexts[0].records
    planned = replace(
        contexts[0], records=records.model_copy(update={"log": None, "prospective": True}), scene=None
    )
    shown = json.loads(material(planned)["records"])
    assert "cases" not in shown
    assert [(c["name"], tuple(c["activities"])) for c in shown["channels"]] == [
        (c.name, c.activities) for c in records.channels
    ]
    assert not any("rows" in channel for channel in shown["channels"])
    counted = json.loads(material(contexts[0])["records"])
    assert counted["cases"] == contexts[0].profile.cases
    assert sum(sum(channel["rows"].values()) for channel in counted["channels"]) == contexts[0].profile.events


def test_each_method_asks_with_its_own_prompt(contexts: list[Context]) -> None:
    first_words = {
        "Direct Prompting": "You write rules for an institution. Write the rule",
        "Structured Outputs": "You write rules for an institution. Fill the five slots",
        "Best-of-N": "You write rules for an institution. Fill the five slots",
        "Self-Refine": "You improve a draft of a rule.",
        "In-Context Grounding": "You write rules for an institution. Below are a goal",
        "Norm Synthesis": "You found the norms of an institution.",
        "Constrained Decoding": "You fill in a form",
    }
    for name, words in first_words.items():
        _, received = write(name, contexts[0])
        assert received.of("generator")[-1].startswith(words), name


def test_seeds_give_other_rules_and_are_repeatable(contexts: list[Context]) -> None:
    with ScriptedServer() as server:
        results = write_rules(tasks(contexts[:1], ["Direct Prompting"], range(6)), loopback.model(server))
        again = write_rules(tasks(contexts[:1], ["Direct Prompting"], range(6)), loopback.model(server))
    assert len({result.text for result in results}) > 1
    assert content(results) == content(again)


# Best-of-N


def test_the_best_of_eight_is_the_greatest_s_search(contexts: list[Context]) -> None:
    for context in contexts:
        result, received = write("Best-of-N", context)
        rules = [call.parsed for call in result.calls]
        scores = [
            GoalBench(context.goal.id).worth(rule.structure.structure()).s_search
            for rule in rules
            if isinstance(rule, StructuredRule)
        ]
        assert len(scores) == len({call.text for call in result.calls}) == SAMPLES
        assert len(set(scores)) > 1
        chosen = rules[scores.index(max(scores))]
        assert (result.text, result.structure) == (chosen.clause, chosen.structure.structure())
        assert {role for role, _ in received} == {"generator"}


def test_the_first_sample_is_the_structured_output_and_costs_nothing_more(contexts: list[Context]) -> None:
    with ScriptedServer() as server:
        single, best, refined = write_rules(
            tasks(contexts[:1], ["Structured Outputs", "Best-of-N", "Self-Refine"], range(3, 4)),
            loopback.model(server),
        )
        assert single.calls[0] == best.calls[0] == refined.calls[0]
        assert sum(server.asked.values()) == SAMPLES + len(refined.calls) - 1


def test_a_sample_without_a_structure_is_taken_only_where_none_has_one(contexts: list[Context]) -> None:
    def unreadable(answer: str) -> str:
        rule = json.loads(answer)
        rule["structure"]["evidence"]["channels"] = []
        return json.dumps(rule)

    def but_one(*said: Any) -> str:
        answer = SCRIPTS["generator"](*said)
        if next(numbers) != SAMPLES - 1:
            return unreadable(answer)
        readable.append(answer)
        return answer

    numbers, readable = itertools.count(), list[str]()
    result, _ = write("Best-of-N", contexts[0], scripts={"generator": but_one})
    assert result.text == json.loads(readable[0])["clause"]
    assert result.structure is not None
    none, _ = write(
        "Best-of-N", contexts[0], scripts={"generator": lambda *said: unreadable(SCRIPTS["generator"](*said))}
    )
    assert none.structure is None
    assert none.text == json.loads(none.calls[0].text)["clause"]


def test_writing_a_rule_does_not_reach_the_evaluator() -> None:
    found = imports(PACKAGE / "experiments" / "baselines.py")
    assert "llm" in found
    assert not {"evaluate", "experiments"} & found


# Self-Refine


def test_refinement_ends_without_objections_or_after_its_rounds(contexts: list[Context]) -> None:
    stopped, _ = write("Self-Refine", contexts[0], scripts={"generator": no_objection})
    assert len(stopped.calls) == 2
    assert stopped.text == json.loads(stopped.calls[0].text)["clause"]
    with ScriptedServer() as server:
        results = write_rules(tasks(contexts[:1], ["Self-Refine"], range(8)), loopback.model(server))
    assert {len(result.calls) for result in results} == {2, ROUNDS + 1}


def test_a_refinement_sees_the_last_rule(contexts: list[Context]) -> None:
    result, received = write("Self-Refine", contexts[0])
    for call, message in zip(result.calls, received.of("generator")[1:], strict=False):
        structure, clause = loopback.values(message)[3:]
        rule = json.loads(call.text)
        assert (json.loads(structure), clause) == (rule["structure"], rule["clause"])


def test_a_refinement_that_fails_leaves_the_draft(contexts: list[Context]) -> None:
    result, _ = write("Self-Refine", contexts[0], scripts={"generator": broken_refinement})
    assert result.text == json.loads(result.calls[0].text)["clause"]
    assert result.calls[1].error is not None
    assert result.structure is not None


# In-Context Grounding


def test_excerpts_are_rows_of_the_contexts_own_log_about_the_goal(contexts: list[Context]) -> None:
    for context in contexts:
        lines = excerpts(context).split("\n")
        assert lines[0].split(" | ") == list(SHOWN)
        rows = [dict(zip(SHOWN, line.split(" | "), strict=True)) for line in lines[1:]]
        assert 0 < len(rows) <= ROWS
        assert len({row["case_id"] for row in rows}) <= CASES
        wanted = {*context.goal.required, *context.goal.forbidden}
        assert wanted & {row["activity"] for row in rows}
        for row in rows:
            kept = context.log.connection.execute(
                "SELECT count(*) FROM events WHERE case_id = ? AND activity = ? AND channel = ? AND coalesce(\"role\", '') = ?",
                [row["case_id"], row["activity"], row["channel"], row["role"]],
            ).fetchone()
            assert kept is not None
            assert kept[0]
        assert excerpts(context) == "\n".join(lines)
        _, received = write("In-Context Grounding", context)
        assert loopback.values(received.of("generator")[0])[3] == excerpts(context)


# s_search of a structure in no pool


@pytest.mark.parametrize("weights", [DEFAULT_WEIGHTS, UNIFORM_WEIGHTS], ids=["default", "uniform"])
def test_s_search_is_that_of_the_tables_for_structures_of_the_pools(
    contexts: list[Context], weights: Any
) -> None:
    for context in contexts:
        graph = compile_graph(context, pools_of(context).pools)
        dice = random.Random(5)
        for _ in range(25):
            position = [dice.randrange(len(options)) for options in graph.options]
            tables = slow_score(graph.space, weights.array(), hard_penalty(weights.array()), position)
            assert worth(graph.structure(position), graph.facts, weights.array()).s_search == pytest.approx(
                tables, abs=1e-12
            )


# Failures


@pytest.mark.parametrize("fault", ["refusal", "length", "truncated"])
@pytest.mark.parametrize("name", METHODS)
def test_a_method_without_a_usable_answer_writes_nothing(
    name: str, fault: str, contexts: list[Context]
) -> None:
    result, received = write(name, contexts[0], faults={fault: 1.0})
    if fault == "truncated" and name == "Direct Prompting":  # half a text that claims to be whole is a text
        assert result.text
        return
    assert (result.text, result.structure) == ("", None)
    assert len(result.calls) == len(received) == (SAMPLES if name == "Best-of-N" else 1)


def test_bad_configuration_stops_the_run_in_one_line(
    contexts: list[Context], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with ScriptedServer() as server, pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
        write_rules(tasks(contexts), loopback.model(server))


# Measuring


def changed(structure: Any, **slots: Any) -> Parsed:
    rule = structure.model_validate(structure.model_dump() | slots)
    return Parsed(rule, {slot: getattr(rule, slot) for slot in SLOTS}, {}, (), "model")


def test_rules_no_audit_can_run_recall_nothing(contexts: list[Context]) -> None:
    context = contexts[0]
    result, _ = write("Structured Outputs", context)
    structure = result.structure
    assert structure is not None
    trigger, norm = structure.trigger.model_dump(), structure.norm.model_dump()
    of_one = norm | {"constraints": [norm["constraints"][0] | {"correlate": "same_resource"}]}
    cases: list[tuple[Parsed, str]] = [
        (changed(structure, trigger=trigger | {"window": "PT1M"}), "can end after the window"),  # bad input
        (changed(structure, trigger=trigger | {"channel": "attendance_system"}), "not checkable"),  # refused
        (changed(structure, trigger={}, norm=of_one), "it is case start"),
        (Parsed(None, {}, {}, (), "model"), "no whole structure was read"),
    ]
    for parsed, reason in cases:
        row = GoalBench(context.goal.id).read_back("", parsed)
        assert reason in row["refused"]
        assert row["audit_f1"] == 0.0


def test_a_test_goal_is_not_looked_at_unasked() -> None:
    with pytest.raises(InputError, match="reveal"):
        GoalBench("GNRS-001").read_back("", Parsed(None, {}, {}, (), "model"))


# Runs


def test_concurrency_changes_nothing_and_a_second_run_asks_nothing(
    contexts: list[Context], tmp_path: Path
) -> None:
    work = tasks(contexts)
    results = []
    for concurrency in (1, 32):
        with ScriptedServer() as server, Cache(tmp_path / f"{concurrency}") as cache:
            first = write_rules(work, loopback.model(server, cache), concurrency)
            asked = sum(server.asked.values())
            again = write_rules(work, loopback.model(server, cache), concurrency)
            assert asked == len(server.asked) == sum(server.asked.values())
            assert all(call.cached for result in again for call in result.calls)
            assert not any(call.cached for result in first for call in result.calls)
            assert content(first) == content(again)
            results.append(content(first))
    assert results[0] == results[1]


def test_no_more_requests_than_allowed_are_in_flight(contexts: list[Context]) -> None:
    flying, most = 0, 0

    class Counting:
        def __init__(self, real: OpenAIModel) -> None:
            self.real = real

        async def complete(self, request: Any) -> Any:
            nonlocal flying, most
            flying, most = flying + 1, max(most, flying + 1)
            await asyncio.sleep(0.001)
            answer = await self.real.complete(request)
            flying -= 1
            return answer

        async def close(self) -> None:
            await self.real.close()

    with ScriptedServer() as server:
        write_rules(tasks(contexts), Counting(loopback.model(server)), 3)
    assert most == 3
