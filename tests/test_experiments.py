"""Experiments without a model: kill and resume, every table at reduced size, what methods switch off, noise,
slots, statistics.

Only dev goals. The small experiment of the kill stands in this module, so that a child process and its
workers can import it.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap as scipy_bootstrap
from scipy.stats import norm
from tiers import tier

from gnrs_ppl import cli
from gnrs_ppl.benchmarks.gnrs_bench import benchmark_goal, goals, load
from gnrs_ppl.calibration.weights import weights_named
from gnrs_ppl.candidates.build import Built, pools_of
from gnrs_ppl.context.load import Context
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate.audit_f1 import execute, verdicts
from gnrs_ppl.evaluate.hard_ok import hard_ok
from gnrs_ppl.experiments import ablations, cards, main, methods, runner, schema_noise, slots
from gnrs_ppl.experiments.bench import GoalBench
from gnrs_ppl.experiments.command import listing
from gnrs_ppl.experiments.compare import compare
from gnrs_ppl.experiments.hard_ok_audit import worked_example
from gnrs_ppl.experiments.methods import BASE, METHODS, SEARCHED, UNSEARCHED, Drafter, without_log
from gnrs_ppl.experiments.metric_sensitivity import Point, crossover, standing
from gnrs_ppl.experiments.plane import front
from gnrs_ppl.experiments.published import index, published
from gnrs_ppl.experiments.registry import MODULES, NEEDS_MODEL, experiment, experiments, labels_of
from gnrs_ppl.experiments.rows import Cell, Row, drop_half_line, means, of, read_rows
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Outcome, Report, Run, generate, run
from gnrs_ppl.experiments.statistics import DRAWS, LEVEL, bca, estimate, paired, percentile
from gnrs_ppl.experiments.tables import LATEX, Column, ResultTable, between, files, shown
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.features import FEATURES, feature_vector
from gnrs_ppl.models.flags import raised
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.rule.canonical import canonical, dumps
from gnrs_ppl.rule.types import SLOTS, Structure

ROOT = Path(__file__).resolve().parent.parent
GOAL = "GNRS-005"
"""A dev goal of the service family, the one that examples and the graph are drawn of."""


# --- a run that is killed -----------------------------------------------------------------------------------

FEW = (BASE, "No search", UNSEARCHED)
STALL, PIDS = "TEST_EXPERIMENTS_STALL", "TEST_EXPERIMENTS_PIDS"
SMALL_REQUEST = ExperimentRequest(
    goals=tier(("GNRS-005", "GNRS-022"), ("GNRS-005", "GNRS-022", "GNRS-037", "GNRS-051")),
    chains=(1,),
    seeds=(0, 1),
    workers=1,
)


def few_cells(request: ExperimentRequest) -> list[Cell]:
    return methods.cells(FEW, request)


def few_rows(goal: str, asked: Sequence[Cell], request: ExperimentRequest) -> Iterator[Row]:
    """Rows of one goal; a child that is to be killed never comes back from the goal it stalls on."""
    if PIDS in os.environ:
        (Path(os.environ[PIDS]) / str(os.getpid())).touch()
    if goal == os.environ.get(STALL):
        time.sleep(600)
    yield from methods.measure(goal, asked, request)


def few_tables(run: Run) -> Report:
    rows, request = run.rows("main"), run.request
    tables = [main.main_table("main", "A few methods", rows, request), main.by_family(rows, request)]
    return Report(tables, {"few": lambda: ablations.draw(rows, request)})


SMALL = Experiment("main", "Does a small run survive?", few_tables, few_cells, few_rows)


def run_small(out: str, workers: int = 1) -> Outcome:
    return run(SMALL, {"main": SMALL}, SMALL_REQUEST._replace(workers=workers), Path(out))


def without_seconds(rows: Iterable[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def artefacts(folder: Path) -> dict[str, bytes]:
    """Tables, figures and the page."""
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for part in ("tables", "figures")
        for path in (folder / part).iterdir()
    }
    return found | {"report.md": (folder / "report.md").read_bytes()}


def until(true: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


COMMIT: Any = runner._commit


@pytest.fixture(scope="module", autouse=True)
def same_commit() -> Iterator[None]:
    """Somebody may commit while the tests run, and rows of another commit are refused."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "_commit", lambda: None)
        yield


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_small(str(tmp_path_factory.mktemp("undisturbed"))).folder


def killed_in_the_middle(folder: Path, pids: Path) -> int:
    """Run the small experiment in a process of its own, kill it when half of its goals are done; gives the
    rows it left."""
    pids.mkdir()
    rows = folder / "main" / "rows.jsonl"
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tests')!r}); import test_experiments as t; "
        f"t.runner._commit = lambda: None; t.run_small({str(folder)!r}, 2)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=os.environ | {STALL: SMALL_REQUEST.goals[2], PIDS: str(pids)}
    )
    per_goal = len(few_cells(SMALL_REQUEST)) // 4
    try:
        until(
            lambda: (
                child.poll() is not None
                or (rows.is_file() and rows.read_bytes().count(b"\n") >= 2 * per_goal)
            ),
            240,
        )
        until(lambda: child.poll() is not None or len(list(pids.iterdir())) == 2, 240)
        assert child.poll() is None
    finally:
        child.kill()
        assert child.wait() == -signal.SIGKILL
    workers = [int(path.name) for path in pids.iterdir()]
    assert child.pid not in workers
    until(lambda: not any(map(alive, workers)), 30)
    return rows.read_bytes().count(b"\n")


@pytest.mark.slow
def test_a_killed_run_resumed_gives_the_tables_of_an_undisturbed_one(
    undisturbed: Path, tmp_path: Path
) -> None:
    left = killed_in_the_middle(tmp_path, tmp_path / "pids")
    wanted = few_cells(SMALL_REQUEST)
    assert 0 < left < len(wanted)
    with (tmp_path / "main" / "rows.jsonl").open("ab") as file:
        file.write(b'{"method": "No sea')
    assert generate(SMALL, SMALL_REQUEST, tmp_path / "main") == len(wanted) - left
    assert generate(SMALL, SMALL_REQUEST, tmp_path / "main") == 0
    resumed = run_small(str(tmp_path)).folder
    rows = read_rows(resumed)
    assert Counter(Cell(r["method"], r["chains"], r["goal"], r["seed"]) for r in rows) == Counter(wanted)
    assert without_seconds(rows) == without_seconds(read_rows(undisturbed))
    assert artefacts(resumed) == artefacts(undisturbed)
    assert {
        "tables/main.csv",
        "tables/main.md",
        "tables/main.tex",
        "figures/few.png",
        "figures/few.svg",
    } < set(artefacts(resumed))
    ours, theirs = (json.loads((folder / "summary.json").read_text()) for folder in (resumed, undisturbed))
    assert without_seconds(ours.pop("means")) == without_seconds(theirs.pop("means"))
    assert ours == theirs


@pytest.mark.parametrize("cut", ["line break of the last row", "middle of a row in the middle of a goal"])
def test_a_run_cut_anywhere_goes_on_there(undisturbed: Path, tmp_path: Path, cut: str) -> None:
    content = (undisturbed / "rows.jsonl").read_bytes()
    lines = content.splitlines(keepends=True)
    kept = content[:-1] if cut.startswith("line break") else content[: -len(lines[-1]) - len(lines[-2]) // 2]
    tmp_path.joinpath("rows.jsonl").write_bytes(kept)
    tmp_path.joinpath("config.json").write_bytes((undisturbed / "config.json").read_bytes())
    assert generate(SMALL, SMALL_REQUEST, tmp_path) == (1 if cut.startswith("line break") else 2)
    assert without_seconds(read_rows(tmp_path)) == without_seconds(read_rows(undisturbed))
    assert tmp_path.joinpath("rows.jsonl").read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])


def test_only_the_half_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for content, left in ((b"", b""), (b"{}\n", b"{}\n"), (b'{}\n{"a"', b"{}\n"), (b'{"a"', b"")):
        path.write_bytes(content)
        drop_half_line(path)
        assert path.read_bytes() == left
    drop_half_line(tmp_path / "none.jsonl")
    assert not (tmp_path / "none.jsonl").exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [({"seeds": (0,)}, "seeds"), ({"chains": (1, 64)}, "chains"), ({"goals": ("GNRS-005",)}, "goals")],
)
def test_rows_of_another_configuration_are_refused(
    undisturbed: Path, change: dict[str, Any], field: str
) -> None:
    before = (undisturbed / "rows.jsonl").read_bytes()
    with pytest.raises(InputError, match="holds rows of another configuration") as refused:
        generate(SMALL, SMALL_REQUEST._replace(**change), undisturbed)
    assert field in str(refused.value)
    assert "\n" not in str(refused.value)
    assert (undisturbed / "rows.jsonl").read_bytes() == before


def test_whole_rows_outlive_the_program_that_made_them(
    undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / undisturbed.name
    shutil.copytree(undisturbed, folder)
    monkeypatch.setattr(runner, "_commit", lambda: "another")
    assert generate(SMALL, SMALL_REQUEST, folder) == 0
    assert json.loads((folder / "config.json").read_text())["commit"] != "another"
    rows = (folder / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "rows.jsonl").write_bytes(b"".join(rows[:-1]))
    with pytest.raises(InputError, match="commit: holds rows of another configuration"):
        generate(SMALL, SMALL_REQUEST, folder)


def test_a_broken_configuration_is_named(undisturbed: Path, tmp_path: Path) -> None:
    folder = tmp_path / undisturbed.name
    shutil.copytree(undisturbed, folder)
    (folder / "config.json").write_text('{"experiment": ')
    config = runner.configuration("main", SMALL_REQUEST)
    for attempt in (
        lambda: runner.settle(folder, config, whole=True),
        lambda: runner.write(folder, config, Report([]), ""),
        lambda: run(SMALL._replace(name="other", cells=None), {"main": SMALL}, SMALL_REQUEST, tmp_path),
    ):
        with pytest.raises(
            InputError, match=r"config\.json: is not readable JSON: .*; mend the syntax there"
        ) as error:
            attempt()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "split", "read"),
    [
        ({}, None, True),
        ({"goals": ["GNRS-001"]}, None, False),
        ({"goals": ["GNRS-001"], "split": "ood"}, "ood", True),
        ({"chains": [64]}, "ood", False),
        ({"seeds": [0]}, "ood", False),
        ({"weights": {}}, "ood", False),
        ({"features": "x"}, "ood", False),
        ({"commit": "another"}, None, True),
    ],
)
def test_rows_of_others_are_read_where_they_are_comparable(
    tmp_path: Path, change: dict[str, Any], split: str | None, read: bool
) -> None:
    config = json.loads(json.dumps(runner.configuration("ood", SMALL_REQUEST))) | change
    written(tmp_path / "ood", [row("a")], config)
    written(tmp_path / "slots", [row("a")])
    seen: list[Run] = []
    others = {"ood": SMALL._replace(name="ood", split=split), "slots": SMALL._replace(name="slots")}
    report = Experiment("reads", "?", lambda given: (seen.append(given), Report([]))[1])
    run(report, others, SMALL_REQUEST, tmp_path)
    assert bool(seen[0].rows("ood")) is read
    assert seen[0].rows("slots") == [], "rows that nobody can tell the configuration of"


def test_without_matplotlib_the_page_says_so_and_links_nothing(
    undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / undisturbed.name
    shutil.copytree(undisturbed, folder, ignore=shutil.ignore_patterns("figures"))
    monkeypatch.setattr(runner, "find_spec", lambda name: None)
    outcome = run_small(str(tmp_path))
    page = (folder / "report.md").read_text()
    assert "figures/" not in page
    assert "- no figures: matplotlib is not installed" in page
    assert (outcome.summary["figures"], outcome.summary["notes"]) == (
        [],
        ["no figures: matplotlib is not installed"],
    )
    assert not outcome.report.figures
    assert not (folder / "figures").exists()


def test_the_commit_is_of_this_package_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = tmp_path / "git"
    git.write_text("#!/bin/sh\necho a-commit\n")
    git.chmod(0o755)
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert COMMIT.__wrapped__() is None, "no project there"
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\nname = "somebody-elses"\n')
    assert COMMIT.__wrapped__() is None, "in somebody else's repository"
    project.write_text('[project]\nname = "gnrs-ppl"\n')
    assert COMMIT.__wrapped__() == "a-commit"
    git.unlink()
    assert COMMIT.__wrapped__() is None, "no git"


def test_the_command_line_refuses_in_one_line(undisturbed: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["experiment", "main", "--chains", "1", "--out", str(undisturbed.parent)]) == 2
    said = capfd.readouterr().err.strip()
    assert len(said.splitlines()) == 1
    assert said.startswith("gnrs: ")
    assert "config.json" in said
    assert "holds rows of another configuration" in said


@pytest.mark.parametrize(
    "line", [b'{"method": "x"', b'{"method": "x", "chains": 1, "goal": "g"}', b"[1]", b"\xff\xfe", b""]
)
def test_a_broken_line_is_named(tmp_path: Path, line: bytes) -> None:
    good = b'{"method": "x", "chains": null, "goal": "g", "seed": 0}\n'
    tmp_path.joinpath("rows.jsonl").write_bytes(good + line + b"\n" + good)
    with pytest.raises(InputError, match=r"rows\.jsonl, line 2: is (no row|not readable JSON)"):
        read_rows(tmp_path)


def test_rows_come_by_cell_whatever_their_order(undisturbed: Path, tmp_path: Path) -> None:
    lines = (undisturbed / "rows.jsonl").read_bytes().splitlines(keepends=True)
    tmp_path.joinpath("rows.jsonl").write_bytes(b"".join(reversed(lines)))
    assert read_rows(tmp_path) == read_rows(undisturbed)


def forgetful_rows(goal: str, asked: Sequence[Cell], request: ExperimentRequest) -> Iterator[Row]:
    yield from (cell._asdict() for cell in asked[1:])


def test_a_measure_that_forgets_a_cell_is_found_out(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="not the cells that were asked for"):
        generate(SMALL._replace(measure=forgetful_rows), SMALL_REQUEST, tmp_path)
    assert read_rows(tmp_path) == []


@pytest.mark.parametrize("name", ["main", "ood"])
def test_held_out_goals_need_a_word(tmp_path: Path, name: str) -> None:
    request = ExperimentRequest(split="dev" if name == "ood" else "test")
    with pytest.raises(InputError, match="goals are held out; add --reveal"):
        run(experiment(name), experiments(), request, tmp_path)
    assert not any(tmp_path.iterdir())


# --- every label, every experiment --------------------------------------------------------------------------


@pytest.mark.parametrize("entry", index(), ids=lambda entry: entry.label)
def test_every_label_has_an_experiment_a_document_or_a_reason(entry: Any) -> None:
    if entry.covered_by in MODULES:
        assert experiment(entry.covered_by).name == entry.covered_by
        assert entry.label in labels_of(entry.covered_by)
        return
    if entry.covered_by in NEEDS_MODEL:
        with pytest.raises(InputError, match="needs a model"):
            experiment(entry.covered_by)
        assert experiment(entry.covered_by, llm=True)
        assert entry.label in labels_of(entry.covered_by)
        return
    if entry.kind == "text":
        assert set(re.findall(r"\w+_\w+", entry.covered_by)) <= {*MODULES, *NEEDS_MODEL}
        return
    assert entry.covered_by.startswith("No module, because")
    named = re.findall(r"[\w/.-]+\.(?:md|py)", entry.covered_by)
    assert named
    assert all((ROOT / path).is_file() for path in named)


def test_every_experiment_covers_a_label_and_is_listed() -> None:
    rows = {row[0]: row for row in listing().rows}
    assert set(rows) == {*MODULES, *NEEDS_MODEL}
    assert all(row[2] for row in rows.values())
    assert [one.name for one in experiments().values()] == list(experiments())


@pytest.mark.parametrize(
    ("name", "said"), [("mian", "did you mean 'main'?"), ("../x", "see gnrs experiment list")]
)
def test_an_unknown_experiment_is_one_line(name: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        experiment(name)


REDUCED = ExperimentRequest(goals=(GOAL,), chains=(1,), seeds=(0,), workers=1)
CARDS = ("RC-AP-1", "RC-DB-1", "RC-LF-2")
"""Policy cards, which the experiment on cards takes in place of goals."""
CHARTERS = ("No search",)
"""What is written for the 53 cards here; search on cards has tests of its own."""
LATER = ("Gibbs", "Informed", "Tempering", "SMC")
"""Kernels that run in a test of their own, further down."""


def reduced(name: str) -> Experiment:
    """An experiment on dev goals; those with many methods with fewer, the held-out one on rows that are
    there."""
    found = experiment(name)._replace(split=None)
    if name == "ablations":
        return found._replace(
            cells=lambda request: [cell for cell in ablations.wanted(request) if cell.method not in LATER]
        )
    if name == "realcharter":
        return found._replace(
            cells=lambda request: [cell for cell in cards.wanted(request) if cell.method in CHARTERS]
        )
    return found._replace(cells=None) if name == "ood" else found


@pytest.mark.slow
def test_every_experiment_runs_and_its_tables_agree(tmp_path: Path) -> None:
    known = {name: reduced(name) for name in experiments()}
    for name, one in known.items():
        if name == "ood":
            (tmp_path / "ood").mkdir()
            for part in ("rows.jsonl", "config.json"):
                (tmp_path / "ood" / part).write_bytes((tmp_path / "main" / part).read_bytes())
        request = REDUCED._replace(goals=CARDS) if name == "realcharter" else REDUCED
        done = run(one, known, request, tmp_path)
        assert done.folder == tmp_path / name
        if one.cells is not None:
            wanted = list(one.cells(request))
            assert Counter(
                Cell(r["method"], r["chains"], r["goal"], r["seed"]) for r in read_rows(done.folder)
            ) == Counter(wanted)
            assert len(set(wanted)) == len(wanted)
            config = json.loads((done.folder / "config.json").read_text())
            assert (config["experiment"], config["goals"], config["chains"]) == (name, [*request.goals], [1])
        whole(name, one, done)


def whole(name: str, one: Experiment, done: Outcome) -> None:
    """Tables with rows in three forms, figures in two, and a page that holds them all."""
    names = [table.name for table in done.report.tables]
    assert names
    assert len(set(names)) == len(names)
    assert done.summary["tables"] == names
    assert {path.name for path in (done.folder / "tables").iterdir()} == {
        f"{n}.{end}" for n in names for end in ("md", "csv", "tex")
    }
    for table in done.report.tables:
        assert table.rows, (name, table.name)
        agree(done.folder / "tables", table.name)
    for figure in done.report.figures:
        assert (done.folder / "figures" / f"{figure}.png").read_bytes().startswith(b"\x89PNG"), (name, figure)
        assert b"<svg" in (done.folder / "figures" / f"{figure}.svg").read_bytes(), (name, figure)
    page = (done.folder / "report.md").read_text()
    assert one.asks in page
    assert all(f"## {table.title}" in page for table in done.report.tables)
    assert all(f"](figures/{figure}.png)" in page for figure in done.report.figures)


def test_the_held_out_family_is_the_main_table_on_other_goals() -> None:
    ood, own = experiment("ood"), experiment("main")
    assert (ood.cells, ood.measure, ood.split) == (own.cells, own.measure, "ood")
    table = main.main_table("ood", "OOD", [], REDUCED._replace(split="ood"))
    assert [column.name for column in table.columns if column.paper] == [
        "HARD-OK",
        "average",
        "OVERALL",
        "search score",
    ]
    cited = {entry[0]: entry[-4:] for entry in table.rows}
    assert cited["Direct Prompting"] == tuple(
        float(next(r for r in published("ood") if r["method"] == "Direct")[c]) for c in PRINTED
    )


PRINTED = ("HARD-OK", "average", "OVERALL", "search score")
ESCAPED = re.compile("|".join(re.escape(said) for said in sorted(LATEX.values(), key=len, reverse=True)))
CHARACTER = {said: character for character, said in LATEX.items()}


def agree(folder: Path, name: str) -> None:
    """The three forms of a table say the same, cell by cell, up to the decimals that Markdown and LaTeX
    show."""
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        raw = list(csv.reader(file))
    lines = [line for line in (folder / f"{name}.md").read_text().splitlines() if line.startswith("| ")]
    markdown = [[cell.replace("\\|", "|") for cell in re.split(r" (?<!\\)\| ", line[2:-2])] for line in lines]
    head, _, *body = markdown
    assert len(head) == len(raw[0])
    body_of_latex = (
        (folder / f"{name}.tex").read_text().partition("\\toprule\n")[2].partition("\n\\bottomrule")[0]
    )
    latex = [
        [
            ESCAPED.sub(lambda found: CHARACTER[found.group()], cell)
            for cell in line.removesuffix(r" \\").split(" & ")
        ]
        for line in body_of_latex.splitlines()
        if line != r"\midrule"
    ]
    assert latex == [head, *body]
    assert head == raw[0]
    assert len(body) == len(raw) - 1
    for said, exact in zip(itertools.chain(*body), itertools.chain(*raw[1:]), strict=True):
        assert same(said, exact), (name, said, exact)


def same(said: str, exact: str) -> bool:
    """Whether a cell for people shows a cell of a CSV."""
    if exact == "":
        return said in ("–", "")
    if exact in ("True", "False"):
        return said == ("yes" if exact == "True" else "no")
    if said == exact or said == re.sub(r"\s+", " ", exact).strip():
        return True
    plain = said.replace(",", "").replace("−", "-")
    decimals = len(plain.partition(".")[2])
    return float(plain) == float(f"{float(exact):.{decimals}f}")


def test_a_table_keeps_what_would_break_its_forms(tmp_path: Path) -> None:
    """Separators, line breaks, figures that round to nothing, and the paper's columns, which stand last."""
    columns = (Column("a|b & c"), Column("printed_", 1, paper=True), Column("n", 2), Column("yes?"))
    rows = [
        ("x | y & z_{1}\\ 50 % $ # ~ ^", 0.25, -0.001, True),
        ('two\nlines, "said"', None, 1234.5, False),
        ("ρ ≥ λ − 1 → τ", -3.25, 7, None),
    ]
    table = ResultTable("hard", "Hard", "Says.", columns, rows)
    for file, content in files(table):
        (tmp_path / file).write_bytes(content)
    agree(tmp_path, "hard")
    with (tmp_path / "hard.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == ["a|b & c", "n", "yes?", "paper: printed_"]
    assert [shown(cell, 2) for cell in (-0.001, 1234.5, None, True, -1.0)] == [
        "0.00",
        "1,234.50",
        "–",
        "yes",
        "−1.00",
    ]
    assert "{lrl|r}" in (tmp_path / "hard.tex").read_text()


def written(folder: Path, rows: Sequence[Row], config: dict[str, Any] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return folder


def row(goal: str, seed: int = 0, method: str = "M", chains: int | None = 1, **measured: Any) -> Row:
    return {"method": method, "chains": chains, "goal": goal, "seed": seed, "family": goal[0], **measured}


def test_means_are_over_goals_of_means_over_seeds(tmp_path: Path) -> None:
    rows = [
        row("a", 0, x=1),
        row("a", 1, x=2),
        row("a", 2, x=6),
        row("b", 0, x=None, y=True),
        row("c", 0, x=10.5, y=False, s="1"),
    ]
    rows += [row("a", method="N", chains=None, x=-4)]
    assert means(written(tmp_path, rows)) == [
        {"method": "M", "chains": 1, "goals": 3, "x": 6.75, "y": 0.5},
        {"method": "N", "chains": None, "goals": 1, "x": -4.0, "y": None},
    ]
    own = of(rows, "M", 1)
    assert own.by_goal("x") == {"a": 3.0, "c": 10.5}
    assert own.mean("x") == 6.75
    assert own.mean("z") is None
    assert of(rows, "M").rows == []


# --- statistics ---------------------------------------------------------------------------------------------

VALUES = np.array([0.1, 0.25, 0.3, 0.3, 0.55, 0.9, 1.0, 1.6, 3.0])


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_intervals_are_scipys(method: Any) -> None:
    found = (percentile if method == "percentile" else bca)(VALUES, 3)
    theirs = scipy_bootstrap(
        (VALUES,),
        np.mean,
        n_resamples=DRAWS,
        confidence_level=LEVEL,
        method=method,
        rng=np.random.default_rng(3),
    ).confidence_interval
    assert found == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_bca_is_efrons_formula() -> None:
    """From own draws, with the bias of the draws and the acceleration of the jackknife; within the noise of
    two times 9,999 draws."""
    draws = VALUES[np.random.default_rng(11).integers(0, 9, (200_000, 9))].mean(1)
    bias = norm.ppf(((draws < VALUES.mean()).mean() + (draws <= VALUES.mean()).mean()) / 2)
    jackknife = np.array([np.delete(VALUES, i).mean() for i in range(9)])
    away = jackknife.mean() - jackknife
    acceleration = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    ends = [bias + norm.ppf(p) for p in (0.025, 0.975)]
    levels = [norm.cdf(bias + end / (1 - acceleration * end)) for end in ends]
    found = bca(VALUES)
    assert found is not None
    assert found == pytest.approx(tuple(np.quantile(draws, levels)), abs=0.04)
    assert found.low > percentile(VALUES).low
    assert found.high > percentile(VALUES).high + 0.05


def exact_ends(sums: Sequence[float], sizes: Sequence[int]) -> tuple[float, float]:
    """Quantiles of the bootstrap's own distribution, every way to draw as many groups; no tie near a level,
    so that draws agree."""
    picks = np.array(list(itertools.product(range(len(sums)), repeat=len(sums))))
    found = np.sort(np.asarray(sums)[picks].sum(1) / np.asarray(sizes)[picks].sum(1))
    near = [
        [found[int(np.ceil(p * len(found))) - 1] for p in (level - 0.008, level, level + 0.008)]
        for level in (0.025, 0.975)
    ]
    assert all(np.ptp(three) < 1e-12 for three in near), near
    return near[0][1], near[1][1]


@pytest.mark.parametrize(
    ("values", "ends"),
    [([0, 1], (0, 1)), ([0, 0, 1], (0, 1)), ([0, 0, 0, 1], (0, 0.75)), ([1, 1, 1, 1], (1, 1)), ([2], (2, 2))],
)
def test_percentiles_by_hand(values: list[float], ends: tuple[float, float]) -> None:
    """Four goals, one passed: three of four drawn has probability 12/256, four has 1/256, so that the upper
    end is 3/4."""
    assert percentile(np.array(values, float)) == pytest.approx(ends)
    if len(set(values)) > 1:
        assert exact_ends(values, [1] * len(values)) == pytest.approx(ends)


def test_families_are_resampled_whole() -> None:
    """Ten goals of one family and one of another: over goals the mean is narrow, over families it is
    anything."""
    values, families = [1.0] * 10 + [0.0], ["big"] * 10 + ["small"]
    found = estimate(values, families)
    assert found.mean == pytest.approx(10 / 11)
    assert found.goals == 11
    assert found.families == pytest.approx((0, 1))
    assert found.percentile.low > 0.6
    # the big family k times of four draws, k ~ B(4, 1/4), gives 3k / (3k + 4 - k): 9/10 at k = 3
    found = estimate([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], ["a", "b", "c", "d", "d", "d"])
    assert found.families == pytest.approx((0, 0.9))
    assert exact_ends([0, 0, 0, 3], [1, 1, 1, 3]) == pytest.approx((0, 0.9))
    assert estimate(values, families) == estimate(values, families)


def test_one_family_has_no_interval_over_families() -> None:
    found = estimate([0.0, 1.0, 0.5], ["only"] * 3)
    assert found.families is None
    assert between(found.families) is None
    assert found.percentile.low < found.percentile.high


def test_pairs_are_of_goals_that_both_have() -> None:
    assert paired({"b": 1.0, "a": 2.0, "x": 9.0}, {"a": 5.0, "b": 0.5, "y": 1.0}) == {"b": -0.5, "a": 3.0}
    assert list(paired({"b": 1.0, "a": 2.0}, {"a": 5.0, "b": 0.5})) == ["b", "a"]


# --- comparing two runs -------------------------------------------------------------------------------------


def two_folders(tmp_path: Path) -> tuple[Path, Path]:
    """Goal a loses the gate for every seed, b wins it for one of two, c only changes F1, d nothing; e and N
    stand in one run only."""
    values = {
        "a": ((1, 0.5), (1, 0.5), (0, 0.5), (0, 0.5)),
        "b": ((1, 0.2), (0, 0.4), (1, 0.6), (1, 0.6)),
        "c": ((1, 0.3), (1, 0.3), (1, 0.9), (1, 0.9)),
        "d": ((1, 0.7), (1, 0.7), (1, 0.7), (1, 0.7)),
    }
    runs: tuple[list[Row], list[Row]] = ([], [])
    for goal, measured in values.items():
        for i, (gate, f1) in enumerate(measured):
            runs[i // 2].append(row(goal, i % 2, hard_ok=bool(gate), rho=0.8, audit_f1=f1))
    runs[1].append(row("e", hard_ok=False, rho=0.1, audit_f1=0.0))
    runs[0].append(row("a", method="N", hard_ok=True, rho=0.9, audit_f1=1.0))
    first = written(tmp_path / "first", runs[0], {"commit": "x", "chains": [1]})
    return first, written(tmp_path / "second", runs[1], {"commit": "y", "chains": [1]})


def test_two_runs_are_paired_by_goal_with_flips_first(tmp_path: Path) -> None:
    first, second = two_folders(tmp_path)
    differences, changed = compare(first, second)
    rows = {row[2]: row for row in differences.rows}
    assert list(rows) == ["HARD-OK, points", "ρ", "audit F1"]
    assert rows["HARD-OK, points"][:5] == ("M", 1, "HARD-OK, points", 4, 2)
    assert [rows[name][5] for name in rows] == pytest.approx([100 * (-1 + 0.5) / 4, 0.0, (0.3 + 0.6) / 4])
    assert rows["ρ"][4] == 0
    # four families of one goal each: goals and families are resampled alike
    assert rows["audit F1"][6:] == tuple(
        between(percentile(np.array([0.0, 0.3, 0.6, 0.0]))) for _ in range(2)
    )
    assert [row[0] for row in changed.rows] == ["a", "b", "c"]
    assert changed.rows[1][3:] == pytest.approx((0.5, 1.0, 0.3, 0.6))
    assert "they differ in commit" in differences.says


def test_a_run_differs_from_itself_in_nothing(tmp_path: Path) -> None:
    first, _ = two_folders(tmp_path)
    differences, changed = compare(first, first)
    assert all(row[4] == 0 and row[5] == 0 for row in differences.rows)
    assert changed.rows == []
    assert "their configurations are the same" in differences.says


def test_flips_are_listed_where_no_audit_f1_was_measured(tmp_path: Path) -> None:
    """As on cards, which have no held-out logs."""
    first = written(tmp_path / "a", [row("g", hard_ok=True), row("h", hard_ok=True)], {})
    second = written(tmp_path / "b", [row("g", hard_ok=True), row("h", hard_ok=False)], {})
    _, changed = compare(first, second)
    assert [entry[0] for entry in changed.rows] == ["h"]
    assert changed.rows[0][3:] == (1.0, 0.0, None, None)


def test_what_cannot_be_compared_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    first, _ = two_folders(tmp_path)
    other = written(tmp_path / "other", [row("z", hard_ok=True)], {})
    bare = written(tmp_path / "bare", [row("a", hard_ok=True)])
    for second, said in (
        (tmp_path / "none", "holds no rows"),
        (other, "share no method on a goal"),
        (bare, "config.json"),
    ):
        assert cli.run(["experiment", "compare", str(first), str(second)]) == 2
        told = capfd.readouterr().err.strip()
        assert said in told
        assert len(told.splitlines()) == 1


# --- arithmetic on the paper's values -----------------------------------------------------------------------


def test_composites_cross_where_they_should() -> None:
    ours, other = Point(80.0, 60.0), Point(70.0, 100.0)
    at = crossover(ours, other)
    assert at == pytest.approx(0.2)
    assert ours.overall(0.2) == pytest.approx(other.overall(0.2)) == pytest.approx(76.0)
    assert crossover(ours, Point(70.0, 50.0)) is None
    ranked = standing({"GNRS-Search": ours, "x": other, "y": Point(0.0, 0.0)}, 0.4)
    assert (ranked.winner, ranked.rank) == ("x", 2)
    assert (ranked.score, ranked.margin) == pytest.approx((72.0, -10.0))


def test_the_front_holds_what_nothing_betters() -> None:
    found = {
        "a": Point(1, 5),
        "b": Point(5, 1),
        "c": Point(1, 4),
        "d": Point(3, 3),
        "e": Point(3, 3),
        "f": Point(3, 2),
    }
    assert front(found) == {"a", "b", "d", "e"}


def test_the_worked_example_is_the_papers_at_one_split() -> None:
    """Direct and missing payloads are told, seven are inferred or derivable; rho is their mean weight."""
    for *counts, value, passes, _ in worked_example().rows:
        weights = (1.0, 0.65, 0.45, 0.0)
        assert value == pytest.approx(
            sum(w * float(str(n)) for w, n in zip(weights, counts, strict=True))
            / sum(map(int, map(str, counts)))
        )
        assert passes is (float(str(value)) >= 0.5)


# --- what methods switch off --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drafter() -> Drafter:
    return Drafter(GoalBench(GOAL))


def built(drafter: Drafter, name: str) -> Built:
    return drafter.built(METHODS[name].log, METHODS[name].operator, None)[0]


def candidates(found: Built) -> list[Any]:
    return [candidate for slot in SLOTS for candidate in getattr(found.pools, slot)]


def scores(drafter: Drafter, name: str, weights: Sequence[float], penalty: float) -> None:
    """The objective of a method is a weighted sum of features less a penalty, on structures from all over
    its space."""
    graph, _ = drafter.space(METHODS[name].space())
    enumeration = drafter.enumerated(METHODS[name].space())
    feasible = set()
    for state in np.random.default_rng(0).integers(0, enumeration.score.size, 40):
        rule = canonical(graph.structure(enumeration.position(int(state))))
        phi, passes = feature_vector(rule, graph.facts), not raised(rule, graph.facts)
        value = sum(w * phi[feature] for w, feature in zip(weights, FEATURES, strict=True)) - (
            0 if passes else penalty
        )
        assert enumeration.score[state] == pytest.approx(value, abs=1e-6)
        feasible.add(passes)
    assert feasible == {True, False}


def test_no_record_grounding_sees_no_row(drafter: Drafter) -> None:
    own, base = built(drafter, "No record grounding"), built(drafter, BASE)
    assert any("record" in candidate.sources for candidate in candidates(base))
    assert any("rows" in dropped.reason for dropped in base.dropped)
    assert not any("record" in candidate.sources for candidate in candidates(own))
    assert not any(source == "record" for source, _ in own.proposed)
    assert not any("rows" in dropped.reason for dropped in own.dropped)
    blind = without_log(drafter.bench.context)
    assert blind.log.events == 0
    nowhere = without_log(replace(drafter.bench.context, scene=None, folder=Path("no such folder")))
    assert pools_of(nowhere).pools == own.pools
    assert [dumps(candidate.content) for candidate in own.pools.trigger] != [
        dumps(c.content) for c in base.pools.trigger
    ]


def test_no_record_grounding_is_scored_on_the_records(drafter: Drafter) -> None:
    measured = drafter.row(METHODS["No record grounding"], 1, 0)
    rule = Structure.model_validate(measured["structure"])
    gate = hard_ok(rule, load(GOAL))
    assert (measured["rho"], measured["hard_ok"]) == (gate.rho, gate.passed)
    assert measured["from_record"] == 0
    assert measured["audit_f1"] == drafter.bench.execute(rule).score.record.macro


def test_and_only_asks_for_every_log(drafter: Drafter) -> None:
    def operators(name: str) -> Counter[str]:
        graph, _ = drafter.space(METHODS[name].space())
        return Counter(option.content.operator for option in graph.options[SLOTS.index("evidence")])

    assert set(operators(BASE)) > {"all"}
    assert set(operators("AND-only evidence")) == {"all"}
    own, base = built(drafter, "AND-only evidence").pools, built(drafter, BASE).pools
    assert all(getattr(own, slot) == getattr(base, slot) for slot in SLOTS if slot != "evidence")
    graph, _ = drafter.space(METHODS["AND-only evidence"].space())
    channels = {tuple(sorted(option.content.channels)) for option in graph.options[SLOTS.index("evidence")]}
    assert channels == {tuple(sorted(candidate.content.channels)) for candidate in base.evidence}
    assert len(channels) == sum(operators("AND-only evidence").values())


def test_no_hard_penalty_scores_without_h(drafter: Drafter) -> None:
    (_, free), (_, base) = (drafter.space(METHODS[name].space()) for name in ("No hard penalty", BASE))
    assert float(free.penalty) == 0
    assert float(base.penalty) > 0
    np.testing.assert_array_equal(free.unary, base.unary)
    np.testing.assert_array_equal(free.pairwise, base.pairwise)
    weights = methods.frozen_weights().values
    scores(drafter, "No hard penalty", weights, 0.0)
    scores(drafter, BASE, weights, float(base.penalty))


def test_uniform_weights_weigh_alike(drafter: Drafter) -> None:
    _, tables = drafter.space(METHODS["Uniform weights"].space())
    assert len(set(methods.UNIFORM_WEIGHTS.values)) == 1
    assert len(methods.UNIFORM_WEIGHTS.values) == len(FEATURES)
    assert len(set(methods.frozen_weights().values)) > 1
    scores(drafter, "Uniform weights", [1 / len(FEATURES)] * len(FEATURES), float(tables.penalty))


def test_no_search_takes_the_first_checkable(drafter: Drafter) -> None:
    """Every structure in the order of how far it is from the first options, looked at one by one."""
    method = METHODS["No search"]
    graph, _ = drafter.space(method.space())
    order = sorted(
        itertools.product(*(range(len(options)) for options in graph.options)), key=lambda p: (sum(p), p)
    )
    first = next(position for position in order if not drafter.bench.refusal(graph.structure(position)))
    for refused, expected in ((set(), first), ({first}, None)):
        bench = _Choosy(drafter.bench, {graph.structure(position) for position in refused})
        other = Drafter(bench)
        chosen = other.choose(method, None, 0)
        assert chosen is not None
        assert chosen.energy_evaluations == 0
        assert chosen.epsilon is None
        if expected is None:
            expected = next(p for p in order if p != first and not drafter.bench.refusal(graph.structure(p)))
        assert tuple(chosen.position) == expected
    assert methods.cells(["No search"], ExperimentRequest(goals=(GOAL,))) == [
        Cell("No search", None, GOAL, 0)
    ]


class _Choosy(GoalBench):
    """A bench that refuses some structures more."""

    def __init__(self, bench: GoalBench, refused: set[Structure]) -> None:
        super().__init__(bench.goal.id)
        self.refused = {dumps(structure) for structure in refused}

    def refusal(self, structure: Structure) -> str:
        return "refused here" if dumps(structure) in self.refused else super().refusal(structure)


def test_random_candidates_do_not_know_the_score(drafter: Drafter) -> None:
    method = METHODS[UNSEARCHED]
    chosen = [drafter.choose(method, None, seed) for seed in range(8)]
    blind = [drafter.choose(method._replace(uniform=True, penalty=0.0), None, seed) for seed in range(8)]
    assert [tuple(one.position) for one in chosen if one] == [tuple(one.position) for one in blind if one]
    assert len({tuple(one.position) for one in chosen if one}) > 4
    assert not any(drafter.bench.refusal(one.structure) for one in chosen if one)


def test_drawn_pools_are_half_and_are_searched(drafter: Drafter) -> None:
    """Every slot keeps half of its candidates, others by seed, and the search ends within them."""
    method = METHODS[SEARCHED]
    whole, graphs = drafter.built(True, None, None)[0].pools, []
    for seed in range(3):
        found = drafter.choose(method, 1, seed)
        assert found
        for slot, options in zip(SLOTS, found.graph.options, strict=True):
            had = [candidate.id for candidate in getattr(whole, slot)]
            kept = {option.candidate for option in options}
            assert kept < set(had) or len(had) == 1, slot
            assert len(kept) <= (len(had) + 1) // 2
        graphs.append(tuple(len(options) for options in found.graph.options))
        assert found.epsilon is not None
    assert len(set(graphs)) > 1


@pytest.mark.slow
def test_100_steps_are_half(drafter: Drafter) -> None:
    long, short = (drafter.choose(METHODS[name], 1, 0) for name in (BASE, "100 search steps"))
    assert long
    assert short
    assert (long.energy_evaluations, short.energy_evaluations) == (201, 101)
    assert METHODS[BASE]._replace(name="", off="", steps=100) == METHODS["100 search steps"]._replace(
        name="", off=""
    )


def test_averaged_weights_take_the_most_probable_structure(drafter: Drafter) -> None:
    """By hand: the mean over draws of exp(beta . phi) p0 / Z on the feasible structures."""
    chosen = drafter.choose(METHODS["Averaged over weights"], None, 0)
    assert chosen
    graph, _ = drafter.space(METHODS[BASE].space())
    draws = np.array(weights_named("posterior").draws)
    each = [enumerate_space(contract(graph.space, one, penalty=0.0)) for one in np.eye(len(FEATURES))]
    features = np.column_stack([one.score for one in each])
    prior, feasible = np.exp(each[0].log_prior) * each[0].feasible, each[0].feasible
    mean = np.zeros(len(feasible))
    for beta in draws:
        weighed = prior * np.exp(features @ beta - (features[feasible] @ beta).max())
        mean += weighed / weighed.sum() / len(draws)
    place = np.ravel_multi_index(tuple(chosen.position), each[0].sizes)
    assert mean[place] == pytest.approx(mean.max(), rel=1e-9)
    assert not METHODS["Averaged over weights"].seeded


def test_best_by_execution_agrees_most_with_the_others(drafter: Drafter) -> None:
    """By hand: of the promising rules that can be checked, the one that shares most verdicts with the rest;
    no label is looked at."""
    method = METHODS[f"Best of {methods.BEST_OF} by execution"]
    chosen = drafter.choose(method, None, 0)
    assert chosen
    graph, tables = drafter.space(method.space())
    rules = [graph.structure(one) for one in methods.promising(tables, methods.BEST_OF)]
    assert len({dumps(rule.trigger) + dumps(rule.norm) for rule in rules}) == len(rules)
    said = {dumps(rule): verdicts(rule, drafter.bench.context.log) for rule in rules}
    shared = {
        key: sum(own[case] == other[case] for other in said.values() for case in own)
        for key, own in said.items()
    }
    assert shared[dumps(chosen.structure)] == max(shared.values())
    assert not method.seeded
    assert not method.runs_chains


def test_optimisers_share_one_objective(drafter: Drafter) -> None:
    """CP-SAT and enumeration end at one score, chains at or below it, each as far below as its epsilon
    says.
    """
    greatest = float(drafter.enumerated(METHODS[BASE].space()).score.max())
    for name in methods.KERNELS:
        assert METHODS[name].space() == METHODS[BASE].space()
    for name in (BASE, *tier(("Exact", "CP-SAT control"), methods.KERNELS)):
        chains = METHODS[name].least if METHODS[name].runs_chains else None
        chosen = drafter.choose(METHODS[name], chains, 0)
        assert chosen is not None
        value, feasible = drafter.bench.worth(chosen.structure)
        assert value == pytest.approx(greatest - (chosen.epsilon or 0.0), abs=1e-6)
        assert feasible
        if name in ("Exact", "CP-SAT control"):
            assert chosen.epsilon == 0
    counted, notes = ablations.same_objective(
        [
            row("g", method="Exact", chains=None, signature="s", s_search=1.0, audit_f1=0.5, rho=0.9),
            row(
                "g",
                method="CP-SAT control",
                chains=None,
                signature="t",
                s_search=1.0 + 1e-9,
                audit_f1=0.25,
                rho=0.9,
            ),
            row("g", 0, method=BASE, signature="s", s_search=1.0, audit_f1=0.5, rho=0.9),
            row("g", 1, method=BASE, signature="u", s_search=0.9, audit_f1=0.5, rho=0.9),
        ],
        ExperimentRequest(goals=("g",), chains=(1,)),
    )
    assert [entry[:1] + entry[2:] for entry in counted.rows] == [
        (BASE, 2, 1, 1, 1, 0),
        ("CP-SAT control", 1, 1, 1, 0, 1),
    ]
    assert len(notes) == 2


def test_a_method_that_finds_no_rule_recalls_nothing(
    drafter: Drafter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(methods, "TRIES", 0)
    failed = drafter.row(METHODS["No search"], None, 0)
    assert failed["failed"].startswith("none of 0 structures")
    assert (failed["hard_ok"], failed["rho"], failed["checkable"]) == (False, 0.0, False)
    assert failed["audit_f1"] == execute(None, GOAL).score.record.macro < 0.5


# --- noise --------------------------------------------------------------------------------------------------


def scene_of(context: Context) -> dict[str, tuple[Any, ...]]:
    found = {part: getattr(context.schema, part) for part in (*schema_noise.TERMS, "actions")}
    return found | {"channels": context.records.channels}


def names(items: Iterable[Any]) -> set[str]:
    return {item.name for item in items}


@pytest.mark.parametrize("strength", schema_noise.STRENGTHS)
@pytest.mark.parametrize("kind", schema_noise.KINDS)
def test_noise_touches_as_many_entries_as_it_says(kind: str, strength: str) -> None:
    share = schema_noise.STRENGTHS[strength]
    name = benchmark_goal(GOAL).family
    clean, noise = scene_of(load(GOAL)), scene_of(schema_noise._scene(name, kind, strength, 0))
    family = [g for g in goals() if g.family == name]
    others = [scene_of(load(g.id)) for g in {g.family: g for g in goals()}.values() if g.family != name]
    needed = {
        n
        for g in family
        for part in ("required", "forbidden", "roles", "locations", "objects")
        for n in getattr(g.goal, part)
    }
    for part, before in clean.items():
        after = noise[part]
        asked = round(share * len(before))
        if kind == "irrelevant":
            strange = names(item for scene in others for item in scene[part]) - names(before)
            assert after[: len(before)] == before
            assert len(after) - len(before) == min(max(asked, 1), len(strange))
            assert names(after[len(before) :]) <= strange
        elif kind == "missing":
            assert names(after) <= names(before)
            spare = len([item for item in before if item.name not in needed])
            expected = 0 if part == "actions" else min(max(asked, 1), spare, len(before) - 1)
            assert len(before) - len(after) == expected
            assert needed & names(before) <= names(after)
        else:
            assert [item.name for item in after] == [item.name for item in before]
            touched = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
            assert len(touched) <= (max(asked, 2) if part in ("actions", "channels") else 0)
    if kind == "missing":
        for action in noise["actions"]:
            for part in ("roles", "locations", "objects"):
                assert set(getattr(action, part)) <= names(noise[part])
    if kind == "incorrect":
        assert noise != clean
        for part, fields in (
            ("actions", ("roles", "locations", "objects")),
            ("channels", ("activities", "closed_world")),
        ):
            told = [
                Counter(repr([getattr(item, f) for f in fields]) for item in side[part])
                for side in (clean, noise)
            ]
            assert told[0] == told[1]


def test_exchange_moves_every_chosen_entry() -> None:
    """Entries that differ in every field, so that none stays as it was by chance."""

    class Item(schema_noise.Schema.__mro__[1]):  # type: ignore[misc, name-defined]
        name: str
        what: int

    items = tuple(Item(name=str(i), what=i) for i in range(10))
    for share, moved in ((0.1, 2), (0.3, 3), (0.6, 6), (1.0, 10)):
        after = schema_noise._exchanged(items, ("what",), share, np.random.default_rng(0))
        assert sum(a != b for a, b in zip(items, after, strict=True)) == moved
        assert sorted(item.what for item in after) == list(range(10))
        assert [item.name for item in after] == [item.name for item in items]


def test_noise_is_of_its_seed_and_shared_by_the_family() -> None:
    family = [g.id for g in goals() if g.family == benchmark_goal(GOAL).family and g.split == "dev"]
    assert len(family) > 1
    contexts = [schema_noise.noisy(goal, "incorrect", "strong", 0) for goal in family]
    assert all(scene_of(context) == scene_of(contexts[0]) for context in contexts)
    assert scene_of(schema_noise.noisy(GOAL, "incorrect", "strong", 1)) != scene_of(contexts[0])
    for goal, context in zip(family, contexts, strict=True):
        assert context.goal == load(goal).goal
        assert context.log.fingerprint == load(goal).log.fingerprint
        assert context.profile == load(goal).profile


def test_noise_is_scored_on_the_clean_context() -> None:
    cells = [Cell(schema_noise.CLEAN, None, GOAL, 0), Cell("missing, strong", None, GOAL, 0)]
    rows = list(schema_noise.measure(GOAL, cells, REDUCED))
    assert [row["method"] for row in rows] == [cell.method for cell in cells]
    for measured in rows:
        if not measured["failed"]:
            gate = hard_ok(Structure.model_validate(measured["structure"]), load(GOAL))
            assert (measured["hard_ok"], measured["rho"]) == (gate.passed, gate.rho)
    assert any(not measured["failed"] for measured in rows)


# --- slots --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slot", SLOTS)
def test_distractors_are_of_other_goals_and_never_the_goals_own(slot: str) -> None:
    family = benchmark_goal(GOAL).family
    own = {dumps(candidate.content) for candidate in getattr(pools_of(load(GOAL)).pools, slot)}
    others = [dumps(candidate.content) for candidate in slots.distractors(GOAL, slot)]
    theirs = {
        dumps(candidate.content)
        for g in goals()
        if g.family == family and g.id != GOAL
        for candidate in getattr(pools_of(load(g.id)).pools, slot)
    }
    assert set(others) == theirs - own
    assert len(others) == len(set(others))


def test_an_intervention_replaces_its_slot_and_nothing_else_of_the_pools() -> None:
    bench = GoalBench(GOAL)
    pools = pools_of(bench.context).pools
    graph = compile_graph(bench.context, pools)
    own = slots.best_of(graph)
    assert slots.best_of(graph) == own
    for slot in SLOTS:
        held = {dumps(option.content) for option in graph.options[SLOTS.index(slot)]}
        first = slots._degraded(bench, pools, graph, own, slot, slots.FIRST, 0)
        assert dumps(getattr(first.structure, slot)) == dumps(graph.options[SLOTS.index(slot)][0].content)
        assert first.structure.model_copy(update={slot: getattr(own, slot)}) == own
        assert first.distractors == 0
        for kind in (slots.SAME, slots.ALL):
            found = slots._degraded(bench, pools, graph, own, slot, kind, 0)
            assert found.distractors == len(slots.distractors(GOAL, slot)) > 0
            assert dumps(getattr(found.structure, slot)) not in held
            for other in set(SLOTS) - {slot}:
                contents = {dumps(option.content) for option in graph.options[SLOTS.index(other)]}
                assert dumps(getattr(found.structure, other)) in contents


def test_rows_of_an_intervention_tell_what_it_changed() -> None:
    wanted = [
        cell
        for cell in slots.wanted(REDUCED._replace(goals=(GOAL,)))
        if cell.method.startswith(("own", "norm"))
    ]
    own, *others = list(slots.measure(GOAL, wanted, REDUCED))
    bench = GoalBench(GOAL)
    before = bench.execute(Structure.model_validate(own["structure"]))
    for measured in others:
        rule = Structure.model_validate(measured["structure"])
        verdicts = [
            (a, b)
            for first, second in zip(before.predictions, bench.execute(rule).predictions, strict=True)
            for a, b in zip(first.values(), second.values(), strict=True)
        ]
        assert measured["changed"] == pytest.approx(sum(a != b for a, b in verdicts) / len(verdicts))
        both = [(a, b) for a, b in verdicts if "not_activated" not in (a, b)]
        expected = sum(a != b for a, b in both) / len(both) if both else None
        assert measured["changed_where_both_apply"] == (None if expected is None else pytest.approx(expected))
        assert measured["replaced"] is (measured["structure"]["norm"] != own["structure"]["norm"])
