"""GNRS-Bench is what the paper's tables say, its frozen data is what its generator gives, and its truth
stays held out."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from tiers import few, mostly_slow

import gnrs_ppl as gnrs
from bench_maker import card
from bench_maker import grounding as generate
from bench_maker import held_out as held_out_generate
from gnrs_ppl.benchmarks import gnrs_bench
from gnrs_ppl.benchmarks.gnrs_bench import CATEGORIES, FAMILIES, HERE, goals
from gnrs_ppl.cli import run
from gnrs_ppl.evaluate import ledger
from gnrs_ppl.evaluate.audit_f1 import F1, audit_score, ceiling, f1, floors, random_structures
from gnrs_ppl.evaluate.held_out.labels import held_out, reference

PACKAGE = Path(gnrs.__file__).parent
DEV = [g.id for g in goals() if g.split == "dev"]

# Paper, Table "Per-family goal counts": attendance, property, task execution, mixed, scene tags.
COMPOSITION = {
    "service_coordination": (4, 4, 4, 4, ("restaurant",)),
    "public_order_and_patrol": (4, 4, 4, 4, ("public_square", "territory_border")),
    "commerce_and_exchange": (4, 3, 4, 3, ("shop", "public_square")),
    "residence_and_rest": (3, 4, 3, 4, ("territory_border", "public_square")),
    "labor_and_production": (4, 3, 4, 3, ("farm",)),
    "education_and_play": (3, 3, 3, 3, ("public_square",)),
    "crisis_response": (4, 5, 5, 4, ("public_square", "restaurant", "farm")),
    "open_space_navigation": (3, 3, 2, 4, ("public_square", "territory_border")),
}
# Paper, Table "Operational primitives exposed to generators".
VOCABULARY = {
    "actions": "MoveTo Interact Speak Trade Craft Deliver Patrol CheckIn CheckOut Harvest SignContract PublishTask",
    "observables": "position room_presence object_possession object_state need_state_delta resource_affordance social_interaction_event",
    "channels": "movement_log room_presence_log state_log object_interaction_log social_graph_log task_log contract_log owner_log "
    "checkin_log checkout_log patrol_report",
    "room_families": "delivery_station learning_and_public_activity food_service private_living storage_and_utility movement_boundary "
    "health_and_sport",
    "resource_families": "consumable_food hydration_source rest_resource play_learning_resource exchange_delivery_object "
    "boundary_access_object tool_equipment hygiene_health_resource",
}


def test_composition_is_the_papers() -> None:
    counts = Counter((g.family, g.category) for g in goals())
    order = ("attendance", "property", "task_execution", "mixed")
    for family, (*expected, scenes) in COMPOSITION.items():
        assert [counts[family, c] for c in order] == expected
        assert {g.scenes for g in goals() if g.family == family} == {scenes}
    assert all(sum(counts[f, c] for f in COMPOSITION) == 29 for c in order)
    assert [g.id for g in goals()] == [f"GNRS-{i:03d}" for i in range(1, 117)]
    assert list(dict.fromkeys(g.family for g in goals())) == list(COMPOSITION)


def test_splits() -> None:
    split = {s: [g for g in goals() if g.split == s] for s in ("dev", "test", "ood")}
    assert [len(split[s]) for s in ("dev", "test", "ood")] == [16, 88, 12]
    assert {g.family for g in split["ood"]} == {"open_space_navigation"}
    assert Counter(g.category for g in split["dev"]) == dict.fromkeys(CATEGORIES, 4)
    assert {g.family for g in split["dev"]} == set(FAMILIES) - {"open_space_navigation"}
    assert [
        Counter(g.category for g in split["test"])[c]
        for c in ("attendance", "property", "task_execution", "mixed")
    ] == [
        22,
        22,
        23,
        21,
    ]
    assert gnrs_bench.benchmark_goal("GNRS-001").split == "test"


@pytest.mark.parametrize(
    ("goal", "family", "category", "required", "forbidden"),
    [
        ("GNRS-001", "service_coordination", "attendance", ("CheckIn", "CheckOut"), ()),
        ("GNRS-002", "service_coordination", "task_execution", ("CheckOut", "Deliver"), ()),
        ("GNRS-059", "residence_and_rest", "property", ("Speak",), ("Interact",)),
        ("GNRS-099", "crisis_response", "mixed", ("Speak",), ("Trade",)),
        ("GNRS-098", "crisis_response", "mixed", ("Patrol",), ("Trade",)),
    ],
)
def test_printed_goals(
    goal: str, family: str, category: str, required: tuple[str, ...], forbidden: tuple[str, ...]
) -> None:
    found = gnrs_bench.benchmark_goal(goal)
    assert (found.family, found.category, found.goal.required, found.goal.forbidden) == (
        family,
        category,
        required,
        forbidden,
    )


def test_printed_stems() -> None:
    stems = {g.family: g.stem for g in goals()}
    assert (
        stems["service_coordination"] == "coordinate shared service shifts with auditable arrival and closure"
    )
    assert (
        stems["residence_and_rest"] == "protect rest and personal boundaries while allowing justified access"
    )
    assert (
        stems["crisis_response"]
        == "make emergency response fast, auditable, and fair under resource pressure"
    )
    assert len(set(stems.values())) == 8


def test_vocabulary_is_the_papers() -> None:
    from bench_maker.sheets import families, vocabulary

    words = vocabulary()
    assert [a["name"] for a in words["actions"]] == VOCABULARY["actions"].split()
    assert words["observables"] == VOCABULARY["observables"].split()
    assert [c["name"] for c in words["channels"]] == VOCABULARY["channels"].split()
    assert [r["name"] for r in words["locations"]["room_families"]] == VOCABULARY["room_families"].split()
    assert [r["name"] for r in words["objects"]["resource_families"]] == VOCABULARY[
        "resource_families"
    ].split()
    used = [a for sheet in families().values() for a in sheet["actions"]]
    assert set(used) == set(VOCABULARY["actions"].split())
    for sheet in families().values():  # no channel writes what it could not see
        able = {c["name"]: set(c["activities"]) for c in words["channels"]}
        assert all(set(spec["activities"]) <= able[name] for name, spec in sheet["channels"].items())


def test_sentences_are_written_not_filled_in() -> None:
    seen: dict[tuple[str, ...], str] = {}
    for g in goals():
        words = re.findall(r"[a-z']+", g.sentence.lower())
        assert 15 <= len(words) <= 42, g.id
        for i in range(len(words) - 6):
            assert seen.setdefault(tuple(words[i : i + 7]), g.id) == g.id
        assert not any(
            action in g.sentence
            for action in VOCABULARY["actions"].split()
            if action not in ("Trade", "Speak", "Patrol")
        )
    assert len(seen) > 1500


def test_a_blind_reader_finds_the_required_and_forbidden_actions() -> None:
    blind = card.blind_check()
    assert (blind.exact, blind.goals) == (114, 116)
    assert blind.missed == ("GNRS-024", "GNRS-074")


@pytest.mark.parametrize("family", few(FAMILIES, 2))
def test_scenes_regenerate(family: str, tmp_path: Path) -> None:
    assert generate.scene_file(family) == (HERE / "scenes" / f"{family}.json").read_text()
    rows = generate.record(generate.world(family), generate.START)
    generate.write_log(tmp_path / "log.parquet", rows, generate.START)
    same(tmp_path / "log.parquet", HERE / "logs" / f"{family}.parquet")


@pytest.mark.parametrize("family", mostly_slow(FAMILIES, but=["public_order_and_patrol"]))
def test_labels_regenerate(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fourth case of every norm and world; all of them come from python -m bench_maker.held_out."""
    from gnrs_ppl.evaluate.held_out import labels

    judged = held_out_generate.judged
    monkeypatch.setattr(
        held_out_generate, "judged", lambda norm, sight, cases: judged(norm, sight, list(cases)[::4])
    )
    again = json.loads(json.dumps(held_out_generate.labels(family)))
    frozen = json.loads((labels.HERE / f"{family}.json").read_text())
    for world in frozen["worlds"]:
        world["labels"] = {
            goal: {what: letters[::4] for what, letters in both.items()}
            for goal, both in world["labels"].items()
        }
    assert again == frozen
    seed, start, shift = held_out_generate.WORLDS[0]
    rows = held_out_generate.record(
        held_out_generate.simulate(family, seed, held_out_generate.DAYS, shift), start
    )
    held_out_generate.write_log(tmp_path / "log.parquet", rows, start)
    same(tmp_path / "log.parquet", labels.HERE / "logs" / f"{family}-{seed}.parquet")


def same(first: Path, second: Path) -> None:
    with duckdb.connect() as connection:
        tables = [
            connection.execute("SELECT * FROM read_parquet(?) ORDER BY event_id", [str(p)]).fetchall()
            for p in (first, second)
        ]
    assert tables[0] == tables[1]
    assert len(tables[0]) > 500


def test_goals_of_a_family_share_one_log() -> None:
    first, second = gnrs.load_context("GNRS-061"), gnrs.load_context("GNRS-062")
    assert first.log is second.log
    assert first.goal.id == "GNRS-061"


def test_support_follows_from_the_channels() -> None:
    for family in FAMILIES:
        context = gnrs.load_context(next(g.id for g in goals() if g.family == family))
        for declared in context.records.support:
            assert not context.profile.counts.get((declared.kind, declared.name)), (family, declared)
        recorded = {a for c in context.records.channels for a in c.activities or ()}
        for action in context.schema.actions:
            named = ("action", action.name) in {(d.kind, d.name) for d in context.records.support}
            assert bool(context.profile.counts.get(("action", action.name))) == (action.name in recorded)
            assert not (named and action.name in recorded)


def names_held_out(path: Path) -> bool:
    """Whether a module imports, looks up or spells out anything of the held-out truth; what it calls its own
    functions is its affair."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                named = [getattr(node, "module", None) or "", *(alias.name for alias in names)]
            case ast.Attribute(attr=named_once) | ast.Constant(value=str(named_once)):
                named = [named_once]
            case _:
                continue
        if any("held_out" in name for name in named):
            return True
    return False


def test_only_evaluate_reads_held_out_truth(tmp_path: Path) -> None:
    assert {p.relative_to(PACKAGE).parts[0] for p in PACKAGE.rglob("*.py") if names_held_out(p)} == {
        "evaluate"
    }
    readers = (
        "from gnrs_ppl.evaluate.held_out import labels",
        "import gnrs_ppl.evaluate.held_out",
        "open('held_out/x.json')",
        "evaluate.held_out",
    )
    for number, (reader, reads) in enumerate(
        [*((one, True) for one in readers), ("def held_out(run): ...", False)]
    ):
        module = tmp_path / f"{number}.py"
        module.write_text(reader)
        assert names_held_out(module) is reads, reader


@pytest.mark.parametrize("goal", ["GNRS-001", "GNRS-105"])
def test_test_and_ood_truth_needs_a_reveal(goal: str) -> None:
    for ask in (held_out, reference, floors, ceiling):
        with pytest.raises(gnrs.InputError, match="held out"):
            ask(goal)
    with pytest.raises(gnrs.InputError, match="held out"):
        audit_score(random_structures(goal, 1)[0], goal)


def test_a_reveal_enters_the_ledger(tmp_path: Path) -> None:
    with pytest.raises(gnrs.InputError, match="git checkout"):
        ledger.enter(["gnrs", "goals", "--labels", "--reveal"], tmp_path / "reveals.csv")
    subprocess.run(
        "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x",
        cwd=tmp_path,
        shell=True,
        check=True,
    )
    ledger.enter(["/usr/bin/gnrs", "goals", "--reveal"], tmp_path / "reveals.csv")
    ledger.enter(["/usr/bin/gnrs", "goals", "--labels"], tmp_path / "reveals.csv")
    header, first, second = (tmp_path / "reveals.csv").read_text().splitlines()
    assert header == "commit,date,command"
    assert re.fullmatch(r"[0-9a-f]{7,}(-dirty)?,\d{4}-\d\d-\d\d,gnrs goals --reveal", first)
    assert second.endswith("gnrs goals --labels")


def test_hidden_norms_cover_every_goal_and_bite() -> None:
    expressible = degenerate = 0
    for goal in goals():
        worlds = held_out(goal.id, revealed=True)
        truth = Counter(v for w in worlds for v in w.truth.values())
        assert not {"pending"} & set(truth), goal.id
        assert truth["satisfied"] + truth["violated"] + truth["excused"] >= 20, (goal.id, truth)
        expressible += reference(goal.id, revealed=True).expressible
        degenerate += not (truth["violated"] and truth["satisfied"])
    assert 116 - expressible == 34  # asked for: about one in five; the sentences came out subtler
    assert degenerate == 11  # listed in the data card


def test_f1_by_hand() -> None:
    labels = {"a": "violated", "b": "violated", "c": "satisfied", "d": None, "e": "not_activated"}
    perfect = {"a": "violated", "b": "violated", "c": "satisfied", "d": "violated"}
    assert f1([(perfect, labels)]) == F1(1.0, 1.0, 4)  # the grey case d does not count against it
    half = {"a": "violated", "b": "satisfied", "c": "satisfied", "e": "violated"}
    # violated: 1 hit, 2 predicted, 2 labelled; satisfied: 1 hit, 2 predicted, 1 labelled
    assert f1([(half, labels)]) == F1(pytest.approx((0.5 + 2 / 3) / 2), 0.5, 4)
    assert f1([({}, labels)]) == F1(0.0, 0.0, 4)
    assert f1([(perfect, labels), ({}, labels)]).violation == pytest.approx(2 * 2 / (2 + 4))


@pytest.mark.parametrize("goal", few(DEV[:4], 1))
def test_floors_stand_under_the_hidden_norm(goal: str) -> None:
    under = floors(goal)
    assert set(under) == {"all violated", "none violated", "required acts exist", "random rule"}
    worlds = held_out(goal)
    seeing_the_record = f1(({c: v for c, v in w.entitled.items() if v}, w.entitled) for w in worlds)
    assert seeing_the_record.macro == 1.0
    assert all(floor.record.macro < 0.6 for floor in under.values())


@pytest.mark.parametrize(("goal", "shown"), [("GNRS-092", True), ("GNRS-008", False)])
def test_the_ceiling_is_what_the_records_show(goal: str, shown: bool) -> None:
    """The records of the one goal show all that its norm asks, those of the other leave open every case
    where it applies."""
    worlds = held_out(goal)
    applies = [
        (label, w.entitled[case])
        for w in worlds
        for case, label in w.truth.items()
        if label != "not_activated"
    ]
    assert {entitled == (label if shown else "indeterminate") for label, entitled in applies} == {True}
    assert ceiling(goal).macro == float(shown)
    assert ceiling(goal).cases == sum(len(w.truth) for w in worlds)


def test_goals_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["goals", "--split", "dev", "--json"]) == 0
    assert [g["goal"]["id"] for g in json.loads(capsys.readouterr().out)] == DEV
    assert run(["goals", "--family", "crisis_response"]) == 0
    assert "GNRS-099" in capsys.readouterr().out
    assert run(["goals", "--family", "crisis_respons"]) == 2
    assert "choose one of service_coordination" in capsys.readouterr().err
    assert run(["draft", "GNRS-117"]) == 2
    assert "GNRS-117: is no benchmark goal" in capsys.readouterr().err
