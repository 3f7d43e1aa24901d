"""Chains and spaces dealt out over several devices, of one process or two, are those of one device.

The number of devices and processes is set before JAX starts, hence the subprocesses; all of them run the
requests here.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spaces
from tiers import tier

from gnrs_ppl.inference.chains import run_many
from gnrs_ppl.inference.result import Chains
from gnrs_ppl.models.energy import Tables, contract
from gnrs_ppl.models.space import build_space

ARRAYS = (
    "positions",
    "score",
    "feasible",
    "move",
    "accepted",
    "starts",
    "start_score",
    "start_feasible",
    "superchain",
)


@cache
def tables(seed: int) -> Tables:
    return contract(build_space(**spaces.ragged(seed, variables=3)), spaces.weights(seed))


def draw(chains: int, ladders: bool) -> list[Chains]:
    """Two named spaces of three variables, by a kernel of plain chains and, if asked, by one of ladders."""
    request: dict[str, Any] = {
        "chains": chains,
        "steps": 30,
        "temperature": 0.08,
        "seed": 3,
        "names": ["one", "two"],
    }
    found = run_many([tables(1), tables(2)], **request)
    if ladders:
        found += run_many([tables(1), tables(2)], **request, kernel="tempering", replicas=3)
    return found


def content(found: Sequence[Chains]) -> list[dict[str, Any]]:
    """What has to agree, arrays by shape and digest; few enough bytes for a pipe that nobody empties yet."""

    def digest(array: Any) -> str:
        return (
            f"{array.dtype}{array.shape} {hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()}"
        )

    return [
        {name: digest(getattr(one, name)) for name in ARRAYS} | {"evaluations": one.energy_evaluations}
        for one in found
    ]


PROBE = """
import json, os, sys
import jax
devices, processes, number, port, ladders, *chains = map(int, sys.argv[1:])
jax.config.update("jax_num_cpu_devices", devices)
if processes > 1:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", processes, number)
from gnrs_ppl.inference.chains import _mesh
from test_devices import content, draw
sys.stdout.write(json.dumps([jax.device_count(), [[_mesh(2, c).devices.shape, content(draw(c, bool(ladders)))] for c in chains]]) + os.linesep)
"""


def start(
    devices: int, chains: Sequence[int], processes: int = 1, number: int = 0, port: int = 0
) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "JAX_PLATFORMS": "cpu"}
    arguments = [devices, processes, number, port, int(LADDERS), *chains]
    return subprocess.Popen(
        [sys.executable, "-c", PROBE, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def answer(process: subprocess.Popen[str]) -> list[Any]:
    try:
        out, error = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, error
    found: list[Any] = json.loads(out.splitlines()[-1])  # Gloo greets first
    return found


@cache
def alone(chains: int) -> list[dict[str, Any]]:
    """In this process, which has one device."""
    found = draw(chains, LADDERS)
    assert len({tuple(a) for a in found[0].positions[0].tolist()}) > 3
    return content(found)


LADDERS = tier(False, True)
GRIDS = tier({6: (2, 2)}, {12: (1, 4), 6: (2, 2), 5: (2, 1)})
"""Spaces and chains per device of four: 12 chains over all, 6 over two and spaces over two, 5 over none."""


def test_draws_do_not_depend_on_the_number_of_devices():
    count, runs = answer(start(4, [*GRIDS]))
    assert count == 4
    for (chains, grid), (shape, found) in zip(GRIDS.items(), runs, strict=True):
        assert tuple(shape) == grid
        assert found == alone(chains), chains


@pytest.mark.slow
def test_two_processes_both_have_the_draws_of_one():
    """Two devices each. 12 and 6 chains are dealt out over the four of them; 5 cannot be, and each process
    draws them all by itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    both = [start(2, [*GRIDS], 2, number, port) for number in range(2)]
    try:
        answers = [answer(process) for process in both]
    finally:
        for process in both:
            process.kill()
    for count, runs in answers:
        assert count == 4
        for (chains, grid), (shape, found) in zip(GRIDS.items(), runs, strict=True):
            assert tuple(shape) == grid
            assert found == alone(chains), chains


CORES = """
import json, os, sys
import gnrs_ppl as gnrs
first = gnrs.use_all_cores()
import jax
print(json.dumps([first, jax.device_count(), gnrs.use_all_cores(), "gnrs_ppl.audit" in sys.modules]))
"""


@pytest.mark.parametrize("said", [None, "3"])
def test_all_cores_are_devices_unless_the_environment_says_otherwise(said: str | None):
    environment = {name: value for name, value in os.environ.items() if name != "JAX_NUM_CPU_DEVICES"}
    environment |= {"JAX_PLATFORMS": "cpu"} | ({"JAX_NUM_CPU_DEVICES": said} if said else {})
    done = subprocess.run([sys.executable, "-c", CORES], capture_output=True, check=True, env=environment)
    first, devices, again, loaded = json.loads(done.stdout)
    assert first == devices == again
    assert devices == (int(said) if said else 1 << len(os.sched_getaffinity(0)).bit_length() - 1)
    assert not loaded
