"""Chains dealt out over several devices are the chains of one device; the number of devices is set before JAX starts, hence the processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROBE = """
import jax, json, sys
jax.config.update("jax_num_cpu_devices", int(sys.argv[1]))
import spaces
from gnrs_ppl.inference.chains import run_many
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.space import build_space
tables = [contract(build_space(**spaces.ragged(seed)), spaces.weights(seed)) for seed in (1, 2)]
found = run_many(tables, chains=12, steps=50, temperature=0.08, seed=3, names=["one", "two"])
print(json.dumps([jax.device_count(), [c.positions.tolist() for c in found], [c.score.tolist() for c in found]]))
"""


def drawn(devices: int) -> list[Any]:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", PROBE, str(devices)], capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


@pytest.mark.parametrize("devices", [2, 4, 5])
def test_draws_do_not_depend_on_the_number_of_devices(devices: int) -> None:
    count, positions, scores = drawn(devices)
    assert count == devices  # 5 does not divide 12 chains: one device is used
    _, alone, alone_scores = drawn(1)
    assert positions == alone
    assert scores == alone_scores
    assert len({tuple(p) for p in positions[0][0]}) > 3
