"""The whole path through the command line and from Python: keys, files, determinism, exit codes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import small

import gnrs_ppl as gnrs
from gnrs_ppl.cli import run
from gnrs_ppl.context.load import to_json
from gnrs_ppl.inference.trace import load
from gnrs_ppl.models.features import FEATURES
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.files import read_rule


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    small.write(folder)
    return folder


@pytest.fixture(scope="module")
def drafted(folder: Path) -> gnrs.Draft:
    return gnrs.draft(folder / "context.json", chains=16, steps=100, seed=3)


def without_times(data: dict[str, Any]) -> dict[str, Any]:
    data["search"].pop("seconds")
    return data


def test_json_keys(drafted: gnrs.Draft) -> None:
    data = json.loads(json.dumps(drafted.as_dict()))
    assert {
        "goal",
        "text",
        "structure",
        "score",
        "grounding",
        "certificate",
        "search",
        "alternatives",
        "candidates",
        "versions",
    } <= set(data)
    assert set(data["structure"]) == {"scope", "trigger", "norm", "evidence", "procedure"}
    assert {"s_search", "features", "feasible"} <= set(data["score"])
    assert {"rho", "hard_ok", "direct", "inferred", "derivable", "missing", "queries"} <= set(
        data["grounding"]
    )
    assert {"method", "optimum", "epsilon_search", "epsilon_realization"} <= set(data["certificate"])
    assert {"kernel", "chains", "steps", "temperature", "seed", "states", "acceptance", "seconds"} <= set(
        data["search"]
    )
    assert all({"probability", "temperature", "s_search", "text"} <= set(a) for a in data["alternatives"])
    assert [*data["score"]["features"]] == [*FEATURES]


def test_score_is_the_weighted_sum_and_the_optimum_is_found(drafted: gnrs.Draft) -> None:
    data = drafted.as_dict()
    weighted = sum(
        w * v
        for w, v in zip(data["score"]["weights"]["values"], data["score"]["features"].values(), strict=True)
    )
    assert data["score"]["s_search"] == pytest.approx(weighted, abs=1e-12)
    assert data["certificate"]["epsilon_search"] == 0
    assert data["certificate"]["optimum"] == pytest.approx(weighted, abs=1e-9)
    assert [a["s_search"] for a in data["alternatives"]] == sorted(
        (a["s_search"] for a in data["alternatives"]), reverse=True
    )
    assert data["alternatives"][0]["s_search"] <= data["certificate"]["optimum"] + 1e-9
    assert data["grounding"]["hard_ok"]


def test_text_gives_the_structure_back(drafted: gnrs.Draft) -> None:
    lexicon = Lexicon.of(drafted.context.schema, drafted.records)
    assert parse(drafted.text, lexicon) == canonical(drafted.structure)
    texts = [drafted.text, *(a.text for a in drafted.alternatives)]
    assert len(set(texts)) == len(texts)


def test_same_seed_same_content(folder: Path, drafted: gnrs.Draft) -> None:
    again = gnrs.draft(folder / "context.json", chains=16, steps=100, seed=3)
    assert without_times(again.as_dict()) == without_times(drafted.as_dict())
    other = gnrs.draft(folder / "context.json", chains=16, steps=100, seed=4)
    assert not np.array_equal(other.search.chains.positions, drafted.search.chains.positions)


def test_exact_is_a_kernel_like_the_others(folder: Path) -> None:
    exact = gnrs.draft(folder / "context.json", chains=16, steps=100, kernel="exact")
    assert exact.certificate.epsilon_search == 0
    assert exact.as_dict()["search"]["acceptance"]["parameter-only edit"] is None


def test_out_writes_everything_and_the_rule_audits(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "folder"
    assert (
        run(["draft", str(folder / "context.json"), "--out", str(out), "--kernel", "exact", "--chains", "16"])
        == 0
    )
    said = capsys.readouterr().out
    assert sorted(p.name for p in out.iterdir()) == [
        "draft.json",
        "gnrs-manifest.json",
        "posterior.nc",
        "rule.json",
        "rule.txt",
    ]
    assert (out / "rule.txt").read_text().strip() in " ".join(said.split()).replace("  ", " ")
    tree = load(out / "posterior.nc")
    assert tree["posterior"]["s_search"].shape == (16, 200)
    assert read_rule(out / "rule.json").rule == gnrs.draft(folder / "context.json", kernel="exact").structure

    assert run(["audit", "--rule", str(out / "rule.json"), "--log", str(folder / "log.csv"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert set(found["counts"]) == {
        "satisfied",
        "violated",
        "indeterminate",
        "pending",
        "not_activated",
        "excused",
    }
    assert sum(found["counts"].values()) == found["instances"] == 4
    keys = {"case_id", "verdict", "reason", "witnesses", "bearer", "due", "slack_seconds", "sentence"}
    assert all(keys <= set(case) for case in found["cases"])
    assert (found["log"]["events"], found["log"]["cases"]) == (11, 4)
    assert {"sql", "versions", "rule"} <= set(found)


def test_a_named_context_goes_before_the_rule_files_own_records(
    drafted: gnrs.Draft, folder: Path, tmp_path: Path
) -> None:
    """A log whose silence means nothing any more leaves open what a rule drafted before would have called
    violated."""
    from gnrs_ppl.audit.files import audit_files

    rule = next(path for path in drafted.save(tmp_path / "out") if path.name == "rule.json")
    open_world = json.loads(json.dumps(small.CONTEXT))
    for channel in open_world["records"]["channels"]:
        channel.pop("closed_world", None)
    small.write(tmp_path, open_world)
    before = audit_files(rule, folder / "log.csv")
    after = audit_files(rule, None, tmp_path / "context.json")
    assert before.reasons["violated"].get("absent")
    assert not after.reasons.get("violated", {}).get("absent")


def test_rows_that_are_no_evidence_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = small.LOG.decode() if isinstance(small.LOG, bytes) else small.LOG
    channel = small.CONTEXT["records"]["channels"][0]["name"]
    small.write(tmp_path, log=log.replace(channel, f"{channel}x", 1))
    assert run(["draft", str(tmp_path / "context.json"), "--kernel", "exact"]) == 0
    assert f"1 rows stand in '{channel}x'" in " ".join(capsys.readouterr().out.split())


def test_audit_of_a_hand_written_rule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["audit", str(folder / "context.json"), "--rule", str(folder / "rule.json")]
    assert run([*arguments, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    verdicts = {
        case["case_id"]: (case["verdict"], case["reason"], case["slack_seconds"]) for case in found["cases"]
    }
    assert verdicts == {
        "s1": ("satisfied", "proven", 600.0),
        "s2": ("violated", "late", -1500.0),
        "s3": ("violated", "absent", None),
        "s4": ("excused", "exception", None),
    }
    assert found["headline"] == "2 of 3 (66.7%)"
    assert next(c for c in found["cases"] if c["case_id"] == "s2")["witnesses"] == ["4"]
    assert run([*arguments, "--csv"]) == 1
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(r["case_id"], r["verdict"]) for r in rows] == [(c, v[0]) for c, v in verdicts.items()]
    assert run(arguments) == 1
    text = capsys.readouterr().out
    assert "Case s2" in text
    assert "2 of 3 (66.7%)" in text


def test_the_shown_sql_gives_the_verdicts_again(folder: Path) -> None:
    context = gnrs.load_context(folder / "context.json")
    found = gnrs.audit(read_rule(folder / "rule.json").rule, context)
    rows = context.log.connection.execute(found.sql, found.parameters).fetchall()
    assert len(rows) == len(found.verdicts)
    assert duckdb.extract_statements(found.sql)[0].type == duckdb.StatementType.SELECT


@pytest.mark.parametrize(("force", "code"), [("must", 1), ("should", 0), ("may", 0)])
def test_only_must_fails_an_audit(
    folder: Path, tmp_path: Path, force: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    small.write(tmp_path, rule=small.changed(small.RULE, ("rule.norm.force", force)))
    assert (
        run(["audit", str(folder / "context.json"), "--rule", str(tmp_path / "rule.json"), "--json"]) == code
    )
    found = json.loads(capsys.readouterr().out)
    assert found["rule"]["class"] == ("advisory" if force == "should" else "binding")
    assert found["instances"] == (0 if force == "may" else 4)


def test_sample_writes_netcdf_and_json(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "x.nc"
    assert (
        run(
            [
                "sample",
                str(folder / "context.json"),
                "--out",
                str(out),
                "--chains",
                "8",
                "--steps",
                "50",
                "--json",
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert {
        "kernel",
        "chains",
        "steps",
        "seed",
        "best",
        "optimum",
        "energy_evaluations",
        "seconds",
        "out",
    } <= set(found)
    tree = load(out)
    assert {"scope", "trigger", "norm", "evidence", "procedure", "s_search"} == set(
        tree["posterior"].data_vars
    )
    assert tree.attrs["kernel"] == "metropolis"


def test_a_context_travels_as_yaml_or_json(folder: Path, drafted: gnrs.Draft) -> None:
    (folder / "copy.json").write_text(to_json(gnrs.load_context(folder / "context.json")))
    assert gnrs.draft(folder / "copy.json", chains=16, steps=100, seed=3).text == drafted.text


def test_markup_and_formulas_in_a_log_stay_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = small.LOG.replace(",s2,", ",\"=[red]cmd|' /C calc'!A0[/red]\",")
    context = small.write(tmp_path, log=hostile)
    assert run(["audit", str(context), "--rule", str(tmp_path / "rule.json")]) == 1
    assert "Case =[red]cmd|' /C calc'!A0[/red]" in capsys.readouterr().out
    assert run(["audit", str(context), "--rule", str(tmp_path / "rule.json"), "--csv"]) == 1
    assert "\n'=[red]cmd" in capsys.readouterr().out


def test_a_step_that_no_schema_lists_is_worded_as_in_an_audit(tmp_path: Path) -> None:
    context = small.write(tmp_path, small.changed(small.CONTEXT, ("schema.steps", []), ("pools", ...)))
    drafted = gnrs.draft(context, chains=4, steps=20, kernel="exact")
    assert drafted.text == gnrs.audit(drafted.structure, drafted.context).text
    assert "“" not in drafted.text
    assert drafted.certificate.epsilon_realization == 0
