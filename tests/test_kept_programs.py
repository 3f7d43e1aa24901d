"""Whole programs on disk: found again without tracing, and only where they are what is asked for and ours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import spaces
from jax.experimental.compilation_cache.compilation_cache import reset_cache
from tiers import mostly_slow

from gnrs_ppl.inference import cache, chains
from gnrs_ppl.inference.chains import observe_chains, run_chains
from gnrs_ppl.inference.observe import option_counts
from gnrs_ppl.inference.result import Chains
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, contract
from gnrs_ppl.models.space import build_space

SPACE = contract(build_space(**spaces.ragged(2)), spaces.weights(2))
REQUEST: dict[str, Any] = {"chains": 4, "steps": 5, "temperature": SEARCH_TEMPERATURE}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """JAX's cache in a folder of its own."""
    config: Any = jax.config
    before = config.jax_compilation_cache_dir
    config.update("jax_compilation_cache_dir", str(tmp_path / "cache"))
    reset_cache()
    chains._compiled.cache_clear()
    yield tmp_path / "cache"
    config.update("jax_compilation_cache_dir", before)
    reset_cache()
    chains._compiled.cache_clear()


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*gnrs-*"))


class Lowered:
    """How often a program was traced and lowered."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        lowered = chains._lowered

        def count(*arguments: Any) -> Any:
            self.times += 1
            return lowered(*arguments)

        monkeypatch.setattr(chains, "_lowered", count)


def again(**changed: Any) -> Chains:
    """As another process would run it."""
    chains._compiled.cache_clear()
    return run_chains(SPACE, **REQUEST | {"seed": 3} | changed)


def assert_alike(one: Chains, other: Chains) -> None:
    for name in ("positions", "score", "feasible", "move", "accepted"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(
    "kernel", mostly_slow(["metropolis", "gibbs", "informed", "tempering"], ["metropolis"])
)
def test_a_second_process_traces_nothing_and_draws_the_same(
    kernel: str, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    lowered = Lowered(monkeypatch)
    first, second = again(kernel=kernel), again(kernel=kernel)
    assert lowered.times == len(kept(folder)) == 1
    assert_alike(first, second)
    other = again(kernel=kernel, seed=4)
    assert lowered.times == 1, "a seed is an argument"
    assert (other.positions != first.positions).any()


def test_a_file_that_is_not_whole_or_not_ours_alone_is_not_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    first = again()
    [file] = kept(folder)
    lowered = Lowered(monkeypatch)
    assert file.stat().st_mode & 0o777 == 0o600
    whole = file.read_bytes()
    for content, mode in (
        (b"", 0o600),
        (whole[:-1], 0o600),
        (whole[:900] + bytes([whole[900] ^ 1]) + whole[901:], 0o600),
        (whole, 0o620),
        (whole, 0o602),
    ):
        file.write_bytes(content)
        file.chmod(mode)
        assert cache._read(file, jax.devices()) is None
    assert_alike(first, again())
    assert (lowered.times, file.stat().st_mode & 0o777) == (1, 0o600), "it was compiled and kept anew"
    os.utime(file, (1, 1))
    assert cache._read(file, jax.devices()) is not None
    assert file.stat().st_mtime > 1, "a program that is read is not the longest unread"


def test_a_name_stands_for_what_the_program_is_made_of(folder: Path, monkeypatch: pytest.MonkeyPatch):
    devices = jax.devices()
    names = [cache._name(devices, ["metropolis", ()]), cache._name(devices, ["gibbs", ()])]
    config: Any = jax.config
    before = config.jax_default_matmul_precision
    config.update("jax_default_matmul_precision", "highest")
    names.append(cache._name(devices, ["metropolis", ()]))
    config.update("jax_default_matmul_precision", before)
    with jax.enable_x64():
        names.append(cache._name(devices, ["metropolis", ()]))
    monkeypatch.setenv("XLA_FLAGS", "--xla_something")
    names.append(cache._name(devices, ["metropolis", ()]))
    monkeypatch.delenv("XLA_FLAGS")
    monkeypatch.setattr(cache, "_code", lambda: "a line of moves.py changed")
    names.append(cache._name(devices, ["metropolis", ()]))
    assert len({*names}) == len(names)


def test_beyond_the_room_there_is_the_longest_unread_programs_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for when, name in enumerate(("gnrs-old", "gnrs-unread", "gnrs-read", "an entry of another's")):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (when, when))
    os.utime(tmp_path / "gnrs-old", (5, 5))  # as reading does
    monkeypatch.setattr(cache, "MOST_KEPT", 300)
    monkeypatch.setattr(cache.serialize_executable, "serialize", lambda program: program)
    cache._write(tmp_path / "gnrs-new", "a program")  # type: ignore[arg-type]
    assert {file.name for file in tmp_path.iterdir()} == {
        "gnrs-new",
        "gnrs-old",
        "gnrs-read",
        "an entry of another's",
    }


def test_what_others_watch_is_not_kept(folder: Path):
    observe_chains(SPACE, {"counts": option_counts()}, **REQUEST, seed=3)
    assert not kept(folder)


def test_what_cannot_be_put_in_place_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(cache.serialize_executable, "serialize", lambda program: program)
    cache._write(tmp_path / "kept", "a program")  # type: ignore[arg-type]
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]
    monkeypatch.setattr(cache.os, "replace", full)
    cache._write(tmp_path / "other", "a program")  # type: ignore[arg-type]
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    lowered = Lowered(monkeypatch)
    folder.write_text("a file stands in its place")
    assert again().positions.shape == (4, 5, len(SPACE.sizes))
    config: Any = jax.config
    assert (lowered.times, folder.read_text()) == (1, "a file stands in its place")
    assert config.jax_enable_compilation_cache, "JAX's cache is passed by once"
