"""Files that no honest program wrote: refused at once, in one line that names the place, before anything is
allocated."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import small
import spaces
import xarray as xr
from tiers import few, mostly_slow

from gnrs_ppl.calibration.weights import FROZEN, read_weights
from gnrs_ppl.cli import run
from gnrs_ppl.context import load_context
from gnrs_ppl.context.files import parse_json, read_bytes, read_data
from gnrs_ppl.context.limits import DIGITS, GOAL_NAMES, NAMES, OPTIONS, PAIRS_OF_OPTIONS, TEXT_BYTES, VALUES
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.experiments.rows import of, read_rows
from gnrs_ppl.inference.chains import run_chains
from gnrs_ppl.inference.trace import datatree, load, save
from gnrs_ppl.models.energy import SEARCH_TEMPERATURE, contract
from gnrs_ppl.models.space import build_space
from gnrs_ppl.models.uai import read_uai
from gnrs_ppl.rule.files import read_rule

SECONDS = 20
"""A refusal that is not one of patterns of growth takes far less; what it replaces took minutes, or never
ended."""
READERS: dict[str, Callable[[Path], Any]] = {
    "context": load_context,
    "rule": read_rule,
    "weights": read_weights,
    "netCDF": load,
    "rows": lambda path: read_rows(path.parent),
    "network": read_uai,
}
every_reader = pytest.mark.parametrize("what", READERS)


def refused(call: Callable[[], Any]) -> str:
    """The one line that a call is refused with."""
    began = time.monotonic()
    with pytest.raises(GnrsError) as error:
        call()
    assert time.monotonic() - began < SECONDS
    assert "\n" not in str(error.value)
    return str(error.value)


def said(tmp_path: Path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return refused(lambda: read_data(path)).removeprefix(f"{path}: ")


# ---- keys


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            '{"rule": {"norm": {"force": "must", "force": "may"}}}',
            "rule.norm: 'force' stands there twice; keep one of the two",
        ),
        (
            '{"rule": {"force": "must"}, "rule": {"force": "may"}}',
            "'rule' stands there twice; keep one of the two",
        ),
        ('{"a": [0, {"b": 1, "c": 2, "\\u0062": 3}]}', "a.1: 'b' stands there twice; keep one of the two"),
    ],
)
def test_a_key_that_stands_twice_in_json_is_refused_with_its_place(text: str, line: str, tmp_path: Path):
    assert said(tmp_path, "x.json", text) == line


def test_a_second_rule_does_not_turn_violations_into_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    small.write(tmp_path)
    first, second = (
        json.dumps(small.RULE["rule"]),
        json.dumps(small.changed(small.RULE["rule"], ("norm.force", "may"))),
    )
    (tmp_path / "rule.json").write_text(f'{{"rule": {first}, "rule": {second}}}')
    assert run(["audit", str(tmp_path / "context.json"), "--rule", str(tmp_path / "rule.json")]) == 2
    assert (
        capsys.readouterr().err
        == f"gnrs: {tmp_path}/rule.json: 'rule' stands there twice; keep one of the two\n"
    )


def test_doubled_keys_of_weights_and_rows(tmp_path: Path):
    doubled = FROZEN.read_text().replace('"temperature"', '"temperature": 1.0, "temperature"', 1)
    (tmp_path / "w.json").write_text(doubled)
    assert "w.json: 'temperature' stands there twice" in refused(lambda: read_weights(tmp_path / "w.json"))
    (tmp_path / "rows.jsonl").write_text('{"method": "x", "chains": 1, "goal": "g", "seed": 0, "seed": 1}\n')
    assert "rows.jsonl, line 1: 'seed' stands there twice" in refused(lambda: read_rows(tmp_path))


# ---- oddities of YAML and JSON


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("x.yaml", "a: !!bool maybe\n", "line 1: tags such as 'tag:yaml.org,2002:bool' are not read"),
        ("x.yaml", "a: !!timestamp 0001-01-01\n", "line 1: tags such as"),
        ("x.yaml", "? [a]\n: 1\n", "line 1: a key is a name, not a mapping or a list"),
        ("x.yaml", "1: x\n", "the key 1 is no text; write it as text, in quotes"),
        ("x.yaml", "a: [.nan]\n", "a.0: nan is no number; write a finite number"),
        ("x.yaml", "a: 1.0e400\n", "a: inf is no number"),
        ("x.yaml", 'a: "\\ud800"\n', "a: half of a surrogate pair is no character"),
        ("x.yaml", "a: " + "{b: " * 60 + "1" + "}" * 60, "nested deeper than 40 levels"),
        (
            "x.json",
            '{"a": ' + "9" * 5000 + "}",
            f"has 5,000 digits, more than the {DIGITS} of a whole number",
        ),
        ("x.json", '{"a": -1' + "0" * 400 + "}", "has 401 digits"),
        ("x.json", '{"a": {"b": 1e400}}', "a.b: inf is no number; write a finite number"),
        ("x.json", '{"a": -Infinity}', "-Infinity is not a number JSON allows"),
        ("x.json", '{"a": ["\\udc00"]}', "a.0: half of a surrogate pair is no character"),
        ("x.json", '{"a": {"\\ud800": 1}}', "a: the key '\\ud800' is no text"),
        ("x.json", '{"a": ' + "[" * 60 + "]" * 60 + "}", "nested deeper than 40 levels"),
        (
            "x.json",
            '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
            "is not readable JSON: it is nested too deep",
        ),
    ],
)
def test_oddities(name: str, text: str, line: str, tmp_path: Path):
    assert line in said(tmp_path, name, text)


def test_whole_numbers_pairs_and_the_deepest_that_is_read():
    assert parse_json('{"n": -' + "9" * DIGITS + ', "s": "\\ud83d\\ude00"}', "x") == {
        "n": 1 - 10**DIGITS,
        "s": "😀",
    }
    assert parse_json("[" * 40 + "]" * 40, "x")


# ---- what is no file, and what is too large


@every_reader
@pytest.mark.parametrize("kind", ["pipe", "device", "socket", "folder", "missing", "too large"])
def test_what_is_no_regular_file_is_refused_at_once(what: str, kind: str, tmp_path: Path):
    path = tmp_path / ("rows.jsonl" if what == "rows" else "x.json")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            os.chdir(tmp_path)  # names of sockets are short
            bound.bind(path.name)
    elif kind == "folder":
        path.mkdir()
    elif kind == "too large":
        with path.open("wb") as file:
            file.truncate(2**33)
    if what == "rows" and kind == "missing":
        assert read_rows(tmp_path) == []
        return
    line = refused(lambda: READERS[what](path))
    told = {"folder": "is a folder", "missing": "no such file", "too large": "is larger than"}
    assert f"{path}: {told.get(kind, 'is no regular file but a device, pipe or socket')}" in line


def test_a_file_that_knows_no_size_is_read_as_empty(tmp_path: Path):
    """Files of /proc say 0 bytes, and some of them never end."""
    assert read_bytes(Path("/proc/self/maps"), 3) == b""
    (tmp_path / "x").write_bytes(b"abc")
    assert read_bytes(tmp_path / "x", 3) == b"abc"
    assert "is no path" in refused(lambda: read_bytes(Path("a\0b")))


# ---- weights


@pytest.mark.parametrize(
    ("edit", "field"),
    [({"temperature": value}, "temperature") for value in (0, -1, 1e308, 1e-308, True, "0.02", None, [0.02])]
    + [
        ({"temperature": ...}, "temperature"),
        ({"goals": ...}, "goals"),
        ({"goals": 7}, "goals"),
        ({"beta": ...}, "beta"),
    ]
    + [({"weights.intent_alignment": value}, "weights") for value in ("0.16", True, -0.1, 2, None)]
    + [
        ({"beta.language": 1.0}, "weights.intent_alignment"),
        ({"beta.language": ...}, "beta"),
        ({"temperature": 0.02}, "weights."),
    ],
)
def test_weights_of_wrong_types_and_ranges(edit: dict[str, Any], field: str, tmp_path: Path):
    path = tmp_path / "w.json"
    path.write_text(json.dumps(small.changed(json.loads(FROZEN.read_text()), *edit.items())))
    if edit == {"beta.language": 1.0}:
        field = "weights.language"
    assert refused(lambda: read_weights(path)).startswith(f"{path}: {field}")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400", "1" + "0" * 400])
def test_weights_that_are_no_numbers(number: str, tmp_path: Path):
    path = tmp_path / "w.json"
    path.write_text(FROZEN.read_text().replace('"temperature": 0', f'"temperature": {number}, "was": 0', 1))
    assert refused(lambda: read_weights(path)).startswith(f"{path}: ")


# ---- years


@pytest.mark.parametrize(
    "moment", ["0001-01-01", "9999-12-31", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
)
@pytest.mark.parametrize(
    "field", ["channels.0.coverage.0.start", "channels.0.coverage.0.end", "end_of_observation"]
)
def test_years_to_which_no_offset_can_be_added(moment: str, field: str, tmp_path: Path):
    path = small.write(tmp_path, small.changed(small.CONTEXT, (f"records.{field}", moment)))
    line = refused(lambda: load_context(path))
    assert line == f"{path}: records.{field}: year {int(moment[:4])} lies outside 1000 to 9000; correct it"


@pytest.mark.parametrize("year", ["1000", "9000"])
def test_the_years_at_the_ends_are_audited(year: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    edits = (
        ("records.channels.0.coverage.0.start", "1000-01-01"),
        ("records.end_of_observation", f"{year}-12-31"),
    )
    context = small.write(
        tmp_path, small.changed(small.CONTEXT, *edits), small.LOG.replace("2024-", f"{year}-")
    )
    assert run(["audit", str(context), "--rule", str(tmp_path / "rule.json")]) in (0, 1)


# ---- rows


ROW = {"method": "x", "chains": None, "goal": "g", "seed": 0}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (json.dumps(ROW | {"seed": 1, "rho": "abc"}), "rho: is text here and a number in rows before"),
        (json.dumps(ROW | {"seed": 1, "rho": [1]}), "rho: is a list here and a number in rows before"),
        (json.dumps(ROW | {"seed": 1.5}), "is no row"),
        (json.dumps(ROW | {"seed": True}), "is no row"),
        (json.dumps(ROW | {"chains": "64"}), "is no row"),
        (json.dumps(ROW).replace('"seed": 0', '"seed": 1, "rho": 1' + "0" * 400), "has 401 digits"),
        (json.dumps(ROW).replace('"seed": 0', '"seed": 1, "rho": 1e400'), "rho: inf is no number"),
        ("[" * 5000, "line 2: "),
    ],
)
def test_rows_with_text_or_no_numbers_where_numbers_stand(line: str, told: str, tmp_path: Path):
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW | {"rho": 0.5}) + "\n" + line + "\n")
    found = refused(lambda: read_rows(tmp_path))
    assert found.startswith(f"{tmp_path}/rows.jsonl, line 2: ")
    assert told in found


def test_a_measure_that_is_text_in_every_row():
    assert "rho: is text, no number" in refused(lambda: of([ROW | {"rho": "high"}], "x").mean("rho"))


# ---- gates before allocation


def durations(count: int) -> list[str]:
    return [f"PT{n + 1}M" for n in range(count)]


def norms(count: int) -> list[dict[str, Any]]:
    constraint = {"template": "response", "target": "CheckIn"}
    return [
        {"id": f"N{n}", "content": {"constraints": [constraint | {"deadline": d}]}}
        for n, d in enumerate(durations(count))
    ]


LEVELS = (
    "pools.norm.0",
    {"id": "N1", "content": {"constraints": [{"template": "existence", "target": "CheckIn"}]}},
)
VARIED = ("pools.norm.0.vary", {"deadline": durations(64), "count": list(range(1, 65))})
STEPPED = [("id", "P"), ("content", small.CONTEXT["pools"]["procedure"][1]["content"])]


@pytest.mark.parametrize(
    ("edits", "line"),
    [
        (
            [LEVELS, VARIED],
            f"pools: norm: 4,098 options (candidates times levels), more than the {OPTIONS} of a slot",
        ),
        (
            [("pools.norm", norms(3000))],
            f"pools: norm: 3,000 options (candidates times levels), more than the {OPTIONS} of a slot",
        ),
        (
            [
                ("pools.norm", norms(550)),
                ("pools.trigger", [dict(STEPPED) | {"id": f"T{n}"} for n in range(500)]),
            ],
            f"pairs of options of two slots, more than the {PAIRS_OF_OPTIONS:,} that are scored",
        ),
        ([("schema.roles", [f"r{n}" for n in range(VALUES)])], f"holds more than {VALUES:,} keys and values"),
        (
            [("schema.roles", [f"r{n}" for n in range(NAMES + 1)])],
            f"schema.roles: holds {NAMES + 1:,} names, more than the {NAMES:,}",
        ),
        (
            [("goal.roles", [f"r{n}" for n in range(GOAL_NAMES + 1)])],
            f"goal.roles: holds 201 names, more than the {GOAL_NAMES} of a goal",
        ),
    ],
    ids=["levels", "norms", "pairs", "values", "names", "goal"],
)
def test_what_would_not_fit_is_refused_before_it_is_made(
    edits: list[tuple[str, Any]], line: str, tmp_path: Path
):
    path = small.write(tmp_path, small.changed(small.CONTEXT, *edits))

    def read() -> None:
        from gnrs_ppl.candidates.grounding import read_pools

        read_pools(load_context(path))

    assert line in refused(read)


def test_many_yaml_keys_and_values_are_counted_not_compared(tmp_path: Path):
    assert f"more than {VALUES:,} keys and values" in said(
        tmp_path, "x.yaml", "".join(f"k{n}: 1\n" for n in range(VALUES // 2))
    )
    assert f"is larger than {TEXT_BYTES:,} bytes" in said(tmp_path, "y.yaml", "a" * (TEXT_BYTES + 1))


def test_an_unknown_name_among_as_many_as_are_taken(tmp_path: Path):
    roles = [*small.CONTEXT["schema"]["roles"], *(f"somebody{n}" for n in range(NAMES - 4))]
    path = small.write(
        tmp_path, small.changed(small.CONTEXT, ("schema.roles", roles), ("goal.roles", ["waitor"]))
    )
    assert "goal.roles: 'waitor' is not in the schema's roles; did you mean 'waiter'?" in refused(
        lambda: load_context(path)
    )


# ---- traces


SLOTS = ("scope", "trigger", "norm", "evidence")
Data = dict[str, xr.Dataset]


def traced(kernel: str = "metropolis") -> xr.DataTree:
    raw, weights = spaces.ragged(2), spaces.weights(2)
    tables = contract(build_space(**raw), weights)
    labels = {
        slot: [f"{slot}{n}" for n in range(len(owners))]
        for slot, owners in zip(SLOTS, raw["candidates"], strict=True)
    }
    found = run_chains(tables, chains=16, steps=12, temperature=SEARCH_TEMPERATURE, seed=0, kernel=kernel)
    return datatree(found, labels, weights, "GNRS-000")


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    return traced()


def assigned(group: str, name: str, value: Callable[[np.ndarray], np.ndarray]) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        variable = data[group][name]
        data[group] = data[group].assign({name: (variable.dims, value(variable.to_numpy().copy()))})

    return change


def put(index: Any, value: Any) -> Callable[[np.ndarray], np.ndarray]:
    def change(values: np.ndarray) -> np.ndarray:
        values[index] = value
        return values

    return change


def gone(group: str, *names: str) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        data[group] = data[group].drop_vars(names)

    return change


@pytest.mark.parametrize(
    ("change", "line"),
    few(
        [
            (assigned("sample_stats", "move", put((0, 0), 99)), "move: a number other than -1 to 3"),
            (assigned("sample_stats", "move", put((0, 0), -7)), "move: a number other than -1 to 3"),
            (
                assigned("sample_stats", "move", put((0, 0), -1)),
                "move: no kernel metropolis makes such moves",
            ),
            (
                assigned("constant_data", "norm_start", put(3, 99)),
                "norm_start: an option outside its pool of 3",
            ),
            (
                assigned("constant_data", "norm_start", put(3, -1)),
                "norm_start: an option outside its pool of 3",
            ),
            (
                assigned("constant_data", "norm_start", lambda v: (v + np.arange(16)) % 3),
                "superchain: chains of one superchain that start apart",
            ),
            (assigned("posterior", "norm", put((2, 3), 77)), "norm: an option outside its pool of 3"),
            (
                assigned("sample_stats", "accepted", lambda v: v.astype(np.int8) * 2),
                "sample_stats/accepted: holds other numbers than 0 and 1",
            ),
            (
                assigned("sample_stats", "feasible", lambda v: v.astype(np.int8) - 1),
                "sample_stats/feasible: holds other numbers than 0 and 1",
            ),
            (
                assigned("sample_stats", "accepted", lambda v: v & False),
                "accepted: a step that was refused leads elsewhere",
            ),
            (
                assigned("sample_stats", "feasible", lambda v: v ^ (np.arange(v.shape[1]) % 2 == 0)),
                "feasible: differs between draws",
            ),
            (gone("posterior", "norm"), "holds no posterior/norm"),
            (gone("constant_data", "weights"), "holds no constant_data/weights"),
            (
                assigned("posterior", "s_search", lambda v: v + np.linspace(0, 1, v.size).reshape(v.shape)),
                "s_search: differs between draws",
            ),
            (
                assigned("constant_data", "weights", lambda v: v * 2),
                "weights: are not numbers of at least 0 that sum to one",
            ),
            (assigned("constant_data", "weights", lambda v: v * np.nan), "weights: are not numbers"),
            (
                assigned("posterior", "draw", lambda v: v[::-1].copy()),
                "draw: draws that are not numbered upwards from 0",
            ),
            (
                assigned("constant_data", "superchain", lambda v: v * 0),
                "superchain: chains of one superchain that start apart",
            ),
            (lambda data: data.update(posterior=data["posterior"].isel(chain=slice(8))), "has shape"),
        ],
        4,
    ),
)
def test_a_trace_that_does_not_hold_together(
    change: Callable[[Data], None],
    line: str,
    tree: xr.DataTree,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    data = {group: tree[group].to_dataset() for group in tree.children}
    change(data)
    other = xr.DataTree.from_dict(data)
    other.attrs = dict(tree.attrs)
    save(other, tmp_path / "x.nc")
    assert run(["diagnose", str(tmp_path / "x.nc"), "--json"]) == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert line in error


@pytest.mark.parametrize(
    ("name", "value"),
    few(
        [
            ("chains", 3),
            ("steps", 2),
            ("temperature", -1.0),
            ("temperature", float("nan")),
            ("temperature", "hot"),
            ("moves", '[["a"], 1]'),
        ],
        2,
    ),
)
def test_attributes_that_do_not_match(name: str, value: Any, tree: xr.DataTree, tmp_path: Path):
    other = tree.copy()
    other.attrs = tree.attrs | {name: value}
    save(other, tmp_path / "x.nc")
    assert f"attribute {name}" in refused(lambda: load(tmp_path / "x.nc"))


def test_scores_that_the_weights_cannot_give(tree: xr.DataTree, tmp_path: Path):
    from gnrs_ppl.models.features import FEATURES

    data = {group: tree[group].to_dataset() for group in tree.children}
    constant = data["constant_data"].drop_vars(["feature", "weights"])
    data["constant_data"] = constant.assign_coords(feature=list(FEATURES)).assign(
        weights=("feature", np.full(6, 1 / 6))
    )
    save(xr.DataTree.from_dict(data), tmp_path / "x.nc")
    load(tmp_path / "x.nc")
    data["posterior"] = data["posterior"].assign(s_search=data["posterior"]["s_search"] + 1)
    save(xr.DataTree.from_dict(data), tmp_path / "x.nc")
    assert "s_search: is no score that these weights can give" in refused(lambda: load(tmp_path / "x.nc"))


@pytest.mark.parametrize("kernel", mostly_slow(["gibbs", "informed", "exact"], but=["exact"]))
def test_traces_of_every_kernel_hold_together(kernel: str, tmp_path: Path):
    save(traced(kernel), tmp_path / "x.nc")
    load(tmp_path / "x.nc")


def soft(file: h5py.File) -> None:
    file["posterior/again"] = h5py.SoftLink("/posterior")


def outside(file: h5py.File) -> None:
    file["posterior/other"] = h5py.ExternalLink("/etc/passwd", "/")


def cycle(file: h5py.File) -> None:
    file["posterior/again"] = file["posterior"]


def to_root(file: h5py.File) -> None:
    file["posterior/again"] = file["/"]


def raw_elsewhere(file: h5py.File) -> None:
    file.create_dataset("posterior/raw", (4,), "u1", external=[("/etc/passwd", 0, 4)])


def virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout((4,), "u1")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", (4,))
    file.create_virtual_dataset("posterior/raw", layout)


def declared(file: h5py.File) -> None:
    file.create_dataset("posterior/raw", (2**40,), "f8", chunks=(2**16,), compression="gzip")


def nested(file: h5py.File) -> None:
    file.create_group("posterior/" + "/".join("a" * 300))


def repeated_text(file: h5py.File) -> None:
    file.create_dataset("posterior/text", data=["x" * 100_000] * 60, dtype=h5py.string_dtype())


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (soft, "'again' is a link to elsewhere"),
        (outside, "'other' is a link to elsewhere"),
        (cycle, "'again' is a second link to the same thing"),
        (to_root, "'again' is a second link to the same thing"),
        (raw_elsewhere, "'raw' stands in another file"),
        (virtual, "'raw' stands in another file"),
        (declared, "declares more than"),
        (nested, "holds more than 100 groups"),
        (repeated_text, "bytes of text"),
    ],
)
def test_hdf5_that_leads_elsewhere_or_nowhere(
    change: Callable[[h5py.File], None], line: str, tree: xr.DataTree, tmp_path: Path
):
    path = tmp_path / "x.nc"
    save(tree, path)
    with h5py.File(path, "r+") as file:
        change(file)
    assert line in refused(lambda: load(path))


def test_a_heap_that_hdf5_would_walk_for_ever(tree: xr.DataTree, tmp_path: Path):
    """The last entry of a heap is its free space; with no size it leads nowhere."""
    save(tree, tmp_path / "x.nc")
    content = bytearray((tmp_path / "x.nc").read_bytes())
    at = content.index(b"GCOL") + 16
    while int.from_bytes(content[at : at + 2], "little"):
        at += 16 + -(-int.from_bytes(content[at + 8 : at + 16], "little") // 8) * 8
    content[at + 8 : at + 16] = bytes(8)
    (tmp_path / "x.nc").write_bytes(content)
    assert "a heap that does not end" in refused(lambda: load(tmp_path / "x.nc"))


# ---- chains that reach nothing


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["gibbs", "informed"])
def test_chains_that_miss_the_feasible_structures_say_so(
    kernel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """One chain of one step, from seeds of which one misses."""
    request = [
        "sample",
        str(small.write(tmp_path)),
        "--out",
        str(tmp_path / "x.nc"),
        "--chains",
        "1",
        "--steps",
        "1",
    ]
    codes = (run([*request, "--kernel", kernel, "--seed", str(seed)]) for seed in range(12))
    assert 1 in codes
    line = capsys.readouterr().err
    assert "no chain reached a structure that passes every hard condition; there is one (S" in line
    assert line.endswith("try more --steps or --chains, or --kernel exact\n")


def test_the_slots_alone_are_a_rule_and_it_may_say_nothing_of_a_breach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Auditing asks for no goal and no procedure."""
    small.write(tmp_path, small.CONTEXT)
    whole = small.RULE["rule"] | {"procedure": {}}
    counts = []
    for name, data in (("whole", {"rule": whole}), ("bare", {k: v for k, v in whole.items() if v})):
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
        run(["audit", str(tmp_path / "context.json"), "--rule", str(tmp_path / f"{name}.json"), "--json"])
        counts.append(json.loads(capsys.readouterr().out))
    assert counts[0]["counts"] == counts[1]["counts"]
    assert sum(counts[0]["counts"].values()) > 0
    assert "breach" not in counts[0]["rule"]["text"]
