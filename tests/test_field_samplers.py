"""What samplers are given is refused by name where it will not do, and what they draw rests on the seed alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference import datatree, run_chains
from gnrs_ppl.inference.diagnostics import diagnose
from gnrs_ppl.models import from_factors

NAN, INF = math.nan, math.inf
FACTORS: list[tuple[dict[Any, Any], dict[Any, Any], bool, str]] = [
    ({0: [1, NAN]}, {}, False, "unary[0]: an entry is nan"),
    ({1: [1, INF]}, {}, False, "unary[1]: an entry is inf"),
    ({0: [1, -1]}, {}, False, "unary[0]: an entry is -1"),
    ({0: [0, 0]}, {}, False, "unary[0]: every entry is zero"),
    ({0: [1j, 1]}, {}, False, "unary[0]: float() argument must be"),
    ({}, {(0, 1): [[1, NAN], [1, 1]]}, False, "pairwise[0, 1]: an entry is nan"),
    ({}, {(0, 1): [[INF, 1], [1, 1]]}, False, "pairwise[0, 1]: an entry is inf"),
    ({}, {(1, 0): [[1, 1], [-0.5, 1]]}, False, "pairwise[1, 0]: an entry is -0.5"),
    ({}, {(0, 1): [[0, 0], [0, 0]]}, False, "pairwise[0, 1]: every entry is zero"),
    ({0: [-INF, -INF]}, {}, True, "unary[0]: every entry is zero"),
    ({0: [0, INF]}, {}, True, "unary[0]: an entry is inf"),
    ({}, {(0, 1): [[0, NAN], [0, 0]]}, True, "pairwise[0, 1]: an entry is nan"),
]
NETWORK = from_factors([2, 3, 4], {0: [1, 2.0]}, {(0, 1): [[1, 2, 3], [3, 2, 1.0]]})
REQUEST: dict[str, Any] = {"chains": 2, "steps": 3, "temperature": 1.0, "seed": 0}


@pytest.mark.parametrize("unary, pairwise, logarithms, problem", FACTORS)
def test_a_factor_that_will_not_do_is_refused_by_its_name(
    unary: Any, pairwise: Any, logarithms: bool, problem: str
) -> None:
    with pytest.raises(InputError) as refused:
        from_factors([2, 2], unary, pairwise, logarithms=logarithms)
    assert str(refused.value).startswith(f"arguments: {problem}")


@pytest.mark.parametrize("sizes", [[2.5, 2], [0, 2], ["2", 2], []])
def test_sizes_that_will_not_do_are_refused(sizes: Any) -> None:
    with pytest.raises(InputError, match="^arguments: sizes: "):
        from_factors(sizes, {}, {})


@pytest.mark.parametrize(
    "name, values",
    [
        ("seed", [-1, 2**32, 2**63, 2**64, 1.5, True, "3", None, NAN]),
        ("temperature", [0.0, -1, INF, NAN, 1e300, 1e-300, True, "1"]),
        ("chains", [0, -1, 1.5, True]),
        ("steps", [0, -1, 1.5, True]),
    ],
)
@pytest.mark.parametrize("kernel", ["metropolis", "exact"])
def test_a_number_that_will_not_do_is_refused_by_its_name(name: str, values: list[Any], kernel: str) -> None:
    for value in values:
        with pytest.raises(InputError, match=f"^arguments: {name}: "):
            run_chains(NETWORK, **REQUEST | {name: value}, kernel=kernel)


@pytest.mark.parametrize("seed", ["-1", "4294967296", "1.5", "true", ""])
def test_the_command_line_refuses_a_bad_seed_in_one_line(
    seed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from gnrs_ppl.cli import run

    code = run(["sample", "GNRS-001", "--seed", seed, "--out", "never.nc"])
    told = capsys.readouterr()
    assert (code, told.out, told.err.count("\n")) == (2, "", 1)
    assert "seed" in told.err


def test_a_longer_run_begins_as_the_shorter_one() -> None:
    short = run_chains(NETWORK, chains=8, steps=50, temperature=1.0, seed=7)
    long = run_chains(NETWORK, chains=8, steps=120, temperature=1.0, seed=7)
    assert np.array_equal(short.positions, long.positions[:, :50])


def test_chains_that_never_vary_are_told_so_and_never_as_nan() -> None:
    drawn = run_chains(NETWORK, chains=16, steps=100, temperature=1.0, seed=0, kernel="exact")
    still, flat = np.zeros_like(drawn.positions), np.zeros_like(drawn.score)
    apart = still + (np.arange(16) % 2)[:, None, None]  # each chain its own constant
    names = {f"x{v}": [f"o{i}" for i in range(size)] for v, size in enumerate((2, 3, 4))}
    for chains, verdict in [
        (drawn._replace(positions=still, starts=still[:, 0], score=flat), "unknown"),
        (drawn._replace(positions=apart, starts=apart[:, 0], score=flat), "not mixed"),
        (drawn._replace(score=flat), "unknown"),
    ]:
        found = diagnose(datatree(chains._replace(kernel="metropolis"), names))
        assert (found.verdict, "nan" in repr(found.as_dict()).lower()) == (verdict, False), found
