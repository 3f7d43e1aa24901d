"""Mutated contexts, rules, weights, rows and netCDF files: read, or refused in one line; never another
exception."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
import spaces
import yaml
from fuzz import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gnrs_ppl.calibration.weights import FROZEN, read_weights
from gnrs_ppl.candidates.grounding import read_pools
from gnrs_ppl.context import load_context
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.experiments.rows import read_rows
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.diagnostics import diagnose
from gnrs_ppl.inference.trace import Marginals, datatree, exact_marginals, load, to_bytes
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, contract
from gnrs_ppl.models.space import build_space
from gnrs_ppl.rule.files import read_rule

pytestmark = pytest.mark.fuzz
ROWS = [
    {"method": "x", "chains": c, "goal": f"GNRS-00{g}", "seed": 0, "rho": 0.5, "text": "a"}
    for c in (None, 64)
    for g in (1, 2)
]
ODD = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2**63,
        10**400,
        0.5,
        -0.0,
        1e308,
        float("nan"),
        float("inf"),
        "",
        " ",
        "a",
        "0001-01-01",
        "9999-12-31",
    ),
    *(
        "PT0S",
        "P1M",
        "P200Y",
        "+14:00",
        "\ud800",
        "\x00",
        "\u202e",
        "x" * 10_000,
        "../../etc/passwd",
        "!!bool maybe",
        "StartShift",
        "N1",
    ),
    *([], {}, [[]], [None], {"": 1}, {"name": "a"}, [{"name": "a"}] * 3, {"a": {"a": {"a": []}}}),
]


def read_context(path: Path) -> None:
    context = load_context(path)
    if context.pools is not None:
        read_pools(context)


READERS: dict[str, tuple[Any, Callable[[Path], Any]]] = {
    "context": (small.CONTEXT, read_context),
    "rule": (small.RULE, read_rule),
    "weights": (json.loads(FROZEN.read_text()), read_weights),
    "rows": (ROWS, lambda path: read_rows(path.parent)),
}


def mutated(data: Any, chance: random.Random) -> Any:
    """A copy in which one value is odd, gone, doubled or moved."""
    places: list[tuple[Any, Any]] = []

    def copy(value: Any) -> Any:
        found = (
            {k: copy(v) for k, v in value.items()}
            if isinstance(value, dict)
            else [*map(copy, value)]
            if isinstance(value, list)
            else value
        )
        if isinstance(found, dict | list):
            places.extend((found, key) for key in (found if isinstance(found, dict) else range(len(found))))
        return found

    whole = copy(data)
    holder, key = chance.choice(places)
    what = chance.randrange(5)
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, dict):
        holder[chance.choice(["", "a", "\ud800", key.upper(), key + " ", "x" * 5000])] = holder.pop(key)
    elif what == 2 and isinstance(holder, list):
        holder.extend([holder[key]] * chance.choice([1, 2, 50]))
    elif what == 3:
        other, place = chance.choice(places)
        holder[key] = (
            json.loads(json.dumps(other[place]))
            if place in (other if isinstance(other, dict) else range(len(other)))
            else None
        )
    else:
        holder[key] = chance.choice(ODD)
    return whole


def bytes_mutated(content: bytes, chance: random.Random) -> bytes:
    """Bytes changed, cut, repeated or put in."""
    at, until = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    what = chance.randrange(5)
    if what == 0:
        return content[:at]
    if what == 1:
        return content[:at] + content[at:until][:2000] * chance.choice([0, 2, 3]) + content[until:]
    if what == 2:
        return (
            content[:at]
            + chance.choice(
                [b"{", b"]", b'"', b"\x00", b"\xff", b"&a ", b"*a", b"!!int ", b"- ", b": ", b"\\u"]
            )
            + content[at:]
        )
    damaged = bytearray(content)
    for _ in range(chance.choice([1, 8, 64])):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged)


def read_or_refused(read: Callable[[Path], Any], path: Path) -> bool:
    try:
        read(path)
    except GnrsError as error:
        line = str(error)
    else:
        return True
    assert line.isprintable()  # and so one line
    return False


FORMS = [
    (what, form)
    for what in READERS
    for form in ("json", "bytes", "yaml")
    if form != "yaml" or what in ("context", "rule")
]


@pytest.mark.parametrize(("what", "form"), FORMS)
def test_data(what: str, form: str, tmp_path: Path) -> None:
    whole, read = READERS[what]
    path = tmp_path / ("rows.jsonl" if what == "rows" else "x.yaml" if form == "yaml" else "x.json")
    codes = []

    @settings(max_examples=examples(30), derandomize=True, deadline=None, database=None)
    @given(st.integers(0, 2**64 - 1))
    def check(seed: int) -> None:
        chance = random.Random(seed)
        data = whole if form == "bytes" else mutated(whole, chance)
        if what == "rows":
            text = "".join(json.dumps(row) + "\n" for row in data)
        else:
            text = yaml.safe_dump(data) if path.suffix == ".yaml" else json.dumps(data)
        content = text.encode("utf-8", "surrogatepass")
        path.write_bytes(bytes_mutated(content, chance) if form == "bytes" else content)
        codes.append(read_or_refused(read, path))

    check()
    assert not all(codes)


@pytest.fixture(scope="module")
def draws() -> bytes:
    """A small file of draws with all that one may hold."""
    raw, weights = spaces.ragged(2), spaces.weights(2)
    tables = contract(build_space(**raw), weights)
    labels = {f"slot{v}": [f"o{n}" for n in range(len(owners))] for v, owners in enumerate(raw["candidates"])}
    found = run_chains(tables, chains=4, steps=5, temperature=SEARCH_TEMPERATURE, seed=0, kernel="exact")
    exact = Marginals(tuple(np.full(len(names), 1 / len(names)) for names in labels.values()))
    return to_bytes(datatree(found, labels, weights, "GNRS-000", exact=exact))


def test_draws(draws: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.nc"

    def read(path: Path) -> None:
        tree = load(path)
        diagnose(tree, exact_marginals(tree))

    @settings(max_examples=examples(60), derandomize=True, deadline=None, database=None)
    @given(st.integers(0, 2**64 - 1))
    def check(seed: int) -> None:
        path.write_bytes(bytes_mutated(draws, random.Random(seed)))
        read_or_refused(read, path)

    check()
    assert capfd.readouterr().err == ""
