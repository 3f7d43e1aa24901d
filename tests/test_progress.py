"""What is told of a verb while it runs: whole lines, the truth about the chains, and no other draws for it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spaces

from gnrs_ppl import progress
from gnrs_ppl.cli import run
from gnrs_ppl.inference.chains import run_chains, run_many
from gnrs_ppl.inference.course import POINTS, nested_r_hat
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, Tables, contract
from gnrs_ppl.models.space import build_space

INVOICES = Path(__file__).resolve().parent.parent / "examples" / "invoices" / "context.yaml"
RUN: dict[str, Any] = {"chains": 16, "steps": 130, "temperature": SEARCH_TEMPERATURE, "seed": 5}


def tables(number: int = 2) -> Tables:
    return contract(build_space(**spaces.ragged(number)), spaces.weights(number))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "progress.jsonl"))
    return tmp_path / "progress.jsonl"


@pytest.mark.parametrize("kernel", ["metropolis", "exact"])
def test_watching_changes_no_draw(kernel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unwatched = run_chains(tables(), kernel=kernel, **RUN)
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "progress.jsonl"))
    watched = run_chains(tables(), kernel=kernel, **RUN)
    for field in ("positions", "score", "feasible", "accepted", "starts"):
        np.testing.assert_array_equal(getattr(unwatched, field), getattr(watched, field))
    assert lines(tmp_path / "progress.jsonl")


def test_the_course_is_that_of_the_draws(told: Path) -> None:
    """Over two stretches of the compiled program, and for each of two spaces."""
    runs = run_many([tables(), tables()], names=["first", "second"], **RUN)
    courses = [line for line in lines(told) if line["kind"] == "chains"]
    assert len(courses) <= 2 * POINTS
    for name, chains in zip(("first", "second"), runs, strict=True):
        own = [line for line in courses if line["space"] == name]
        assert own[-1]["step"] == own[-1]["steps"] == RUN["steps"]
        for line in own:
            step = line["step"]
            late = slice(step // 2, step)
            assert line["best"] == pytest.approx(float(chains.score[:, :step].max()), rel=1e-7)
            if line["r_hat"] is not None:
                assert line["r_hat"] == pytest.approx(nested_r_hat(chains.score[:, late], chains.superchain))
            for v, shares in enumerate(line["marginals"]):
                drawn = chains.positions[:, late, v]
                assert shares == sorted(shares, key=lambda pair: -pair[1])
                for option, share in shares:
                    assert share == pytest.approx((drawn == option).mean(), abs=6e-5)


def test_nested_r_hat_is_that_of_its_definition() -> None:
    generator = np.random.default_rng(0)
    values, superchain = generator.normal(size=(12, 50)), np.repeat(np.arange(4), 3)
    means = values.mean(1).reshape(4, 3)
    within = np.mean(
        [means[k].var(ddof=1) + values[3 * k : 3 * k + 3].var(1, ddof=1).mean() for k in range(4)]
    )
    assert nested_r_hat(values, superchain) == pytest.approx(
        np.sqrt(1 + means.mean(1).var(ddof=1) / within), rel=1e-12
    )
    apart = nested_r_hat(values + 5 * superchain[:, None], superchain)
    assert apart is not None
    assert apart > 3
    assert nested_r_hat(np.repeat(superchain[:, None], 9, 1).astype(float), superchain) == np.inf
    assert nested_r_hat(values, np.zeros(12, int)) is None


def test_a_draft_says_its_stages(told: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(["draft", str(INVOICES), "--kernel", "exact", "--chains", "4", "--out", str(tmp_path / "d")]) == 0
    )
    said = lines(told)
    stages = [line["words"] for line in said if line["kind"] == "stage"]
    assert stages[0] == "drafting"
    assert stages[-1] == "writing the rule and its check"
    (options,) = [line for line in said if line["kind"] == "options"]
    found = json.loads((tmp_path / "d" / "draft.json").read_text())["candidates"]
    for slot, named in options["slots"].items():
        assert [(o["option"], o["phrase"]) for o in named] == [
            (o["option"], o["phrase"]) for o in found[slot]
        ]
    course = [line for line in said if line["kind"] == "chains"]
    assert all(len(line["marginals"]) == len(options["slots"]) for line in course)
    assert [line["at"] for line in said] == sorted(line["at"] for line in said)


def test_lines_of_many_writers_stay_whole(told: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: progress.tell("stage", words=f"{n}" * 700), range(200)))
    assert sorted(line["words"] for line in lines(told)) == sorted(f"{n}" * 700 for n in range(200))


def test_nobody_watches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    progress.stage("drafting")
    assert not progress.is_watched()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("place", ["no/such/folder", "a folder", "a link"])
def test_a_place_that_will_not_do_is_said_in_a_line(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a link").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / place))
    assert run(["draft", str(INVOICES), "--out", str(tmp_path / "rule")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("gnrs: GNRS_PROGRESS: ")
    assert error.count("\n") == 1
    assert not (tmp_path / "rule").exists()
    assert not (tmp_path / "elsewhere").exists()
