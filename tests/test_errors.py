"""Bad input: one clear line on standard error, its exit code, no traceback, nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from small import CONTEXT, LOG, RULE, changed, write
from spaces import ragged, weights

from gnrs_ppl.cli import run
from gnrs_ppl.errors import InputError


class Case(NamedTuple):
    """A broken input and the line a person gets; ``{}`` stands for the folder."""

    name: str
    line: str
    code: int = 2
    context: dict[str, Any] | str | bytes = CONTEXT
    log: str | bytes = LOG
    rule: dict[str, Any] = RULE
    arguments: str = "draft {}/context.json"


BOMB = "a: &a [x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n"
AUDIT = "audit {}/context.json --rule {}/rule.json"


def edited(*edits: tuple[str, Any]) -> dict[str, Any]:
    return changed(CONTEXT, *edits)


CASES = [
    Case("empty", "gnrs: {}/c.yaml: is empty; start with keys such as goal:", context="", arguments="draft {}/c.yaml"),
    Case("binary", "gnrs: {}/context.json: is not UTF-8 text (byte 0); save it as UTF-8 YAML or JSON", context=b"\xff\xfe\x00\x01"),
    Case("yaml bomb", "gnrs: {}/c.yaml: is not readable YAML: line 2: aliases are not read; write the value out; mend the syntax there", context=BOMB, arguments="draft {}/c.yaml"),
    Case(
        "yaml tag",
        "gnrs: {}/c.yaml: is not readable YAML: line 1: tags such as 'tag:yaml.org,2002:python/object/apply:os.system' are not read; write the value plainly; mend the syntax there",
        context="goal: !!python/object/apply:os.system ['true']\n",
        arguments="draft {}/c.yaml",
    ),
    Case("yaml doubled key", "gnrs: {}/c.yaml: is not readable YAML: line 2: 'goal' stands there twice; mend the syntax there", context="goal: 1\ngoal: 2\n", arguments="draft {}/c.yaml"),
    Case("deep nesting", "gnrs: {}/c.yaml: is not readable YAML: nested deeper than 40 levels; mend the syntax there", context="a: " + "[" * 200 + "]" * 200, arguments="draft {}/c.yaml"),
    Case("json syntax", "gnrs: {}/context.json: is not readable JSON: Expecting value: line 1 column 10 (char 9); mend the syntax there", context='{"goal": ,}'),
    Case("json NaN", "gnrs: {}/context.json: is not readable JSON: NaN is not a number JSON allows; mend the syntax there", context='{"goal": NaN}'),
    Case("not a mapping", "gnrs: {}/context.json: holds a list, not a mapping; start with keys such as goal:", context="[1, 2]"),
    Case("missing file", "gnrs: {}/none.yaml: no such file; check the path", arguments="draft {}/none.yaml"),
    Case("folder for a file", "gnrs: {}: is a folder; name the file itself", arguments="draft {}"),
    Case("missing goal", "gnrs: {}/context.json: goal: states no goal; gnrs goal new {}/context.json --sentence TEXT writes one", context=edited(("goal", ...))),
    Case("unknown field", "gnrs: {}/context.json: goal.intend: unknown field; remove it or check its spelling", context=edited(("goal.intend", "x"))),
    Case("wrong type", "gnrs: {}/context.json: goal.intent: Input should be a valid string, got 7; write text (put it in quotes)", context=edited(("goal.intent", 7))),
    Case("unknown role", "gnrs: {}/context.json: goal.roles: 'waitor' is not in the schema's roles; did you mean 'waiter'?", context=edited(("goal.roles", ["waitor"]))),
    Case("unknown role in a pool", "gnrs: {}/context.json: pools.scope.S1: 'chef' is not in the schema's roles; add it there, or correct it", context=edited(("pools.scope.0.content.roles", ["chef"]))),
    Case(
        "action without channel",
        "gnrs: {}/context.json: goal.required: no durable channel can record 'Sing'; add it to a channel's activities, or take it out of the goal",
        context=edited(("goal.required", ["Sing"]), ("schema.actions", [*CONTEXT["schema"]["actions"], "Sing"])),
    ),
    Case("required and forbidden", "gnrs: {}/context.json: goal: 'CheckIn' is both required and forbidden; correct it", context=edited(("goal.forbidden", ["CheckIn"]))),
    Case("doubled name", "gnrs: {}/context.json: schema.roles: 'waiter' stands there twice; correct it", context=edited(("schema.roles", ["waiter", "cook", "manager", "owner", "waiter"]))),
    Case("duplicate candidate id", "gnrs: {}/context.json: pools: norm: candidate id 'N1' stands there twice; correct it", context=edited(("pools.norm.1.id", "N1"))),
    Case("duplicate event id", "gnrs: {}/log.csv: event_id: event id '2' stands on 2 rows; make event ids unique, or leave the column out to number the rows", log=LOG.replace("\n3,", "\n2,")),
    Case("negative deadline", "gnrs: {}/context.json: pools.norm.0.vary.deadline.0: '-PT15M' is not a positive ISO 8601 duration such as PT15M, P3D or P2M; correct it", context=edited(("pools.norm.0.vary.deadline", ["-PT15M"]))),
    Case("number for a deadline", "gnrs: {}/context.json: pools.norm.0.vary.deadline.0: 15 is not an ISO 8601 duration; write text such as PT15M, P3D or P2M; correct it", context=edited(("pools.norm.0.vary.deadline", [15]))),
    Case("stray parameter", "gnrs: {}/context.json: pools.scope.0: vary.deadline is no parameter of the scope slot; correct it", context=edited(("pools.scope.0.vary", {"deadline": ["P1D"]}))),
    Case("unknown template", "gnrs: {}/context.json: pools.norm.2.content.constraints.0.template: Input should be 'existence', 'exactly', ", context=edited(("pools.norm.2.content.constraints.0.template", "alternating"))),
    Case("k beyond the channels", "gnrs: {}/context.json: pools.evidence.0.content: k is 3 but only 2 channel(s) are listed; correct it", context=edited(("pools.evidence.0.content", {"channels": ["roster_log", "checkin_log"], "operator": "at_least", "k": 3}))),
    Case("no pools and no aim", "gnrs: not checkable: the sentence states no duty or ban that acts show; ", code=3, context=edited(("pools", ...), ("goal.required", ...), ("goal.intent", "Bananas are yellow."))),
    Case("empty pool", "gnrs: {}/context.json: pools.norm: holds 0 of the at least 1 it needs; add it", context=edited(("pools.norm", []))),
    Case(
        "pool without records",
        "gnrs: {}/context.json: pools.evidence: every candidate rests on something never recorded (0 of 11 rows carry channel 'badge_log'; nearest recorded: 'roster_log'); add a candidate that rests on recorded names",
        context=edited(("pools.evidence", [{"id": "E", "content": {"channels": ["badge_log"]}}])),
    ),
    Case("offset", "gnrs: {}/context.json: records.offset: '1 hour' is not an offset such as +01:00 or Z; a named zone goes under records.zone; correct it", context=edited(("records.offset", "1 hour"))),
    Case("unknown column", "gnrs: {}/log.csv: records.columns.resource: no column 'resourse' in the log; did you mean 'resource'?", context=edited(("records.columns", {"resource": "resourse"}))),
    Case("missing column", "gnrs: {}/log.csv: has no column 'timestamp'; map one under records.columns.timestamp (columns: event_id, case_id, activity, when, resource, role, location, channel)", log=LOG.replace("timestamp", "when", 1)),
    Case("timestamps as text", "gnrs: {}/log.csv: timestamp: row 1: timestamp '4 March 2024, 8:00' is not ISO 8601; write times as 2024-05-31 or 2024-05-31T09:15:00+02:00, or read others with: gnrs import {}/log.csv", log=LOG.replace("2024-03-04T08:00:00+01:00", '"4 March 2024, 8:00"', 1)),
    Case("impossible date", "gnrs: {}/log.csv: timestamp: row 2: timestamp '2024-02-30T08:05:00+01:00' is not ISO 8601; write times as 2024-05-31 or 2024-05-31T09:15:00+02:00, or read others with: gnrs import {}/log.csv", log=LOG.replace("2024-03-04T08:05", "2024-02-30T08:05", 1)),
    Case("time without offset", "gnrs: {}/log.csv: timestamp: 1 rows carry a time without offset (first: row 1); state records.zone, such as Europe/Amsterdam, or records.offset, such as +01:00", log=LOG.replace("08:00:00+01:00", "08:00:00", 1), context=edited(("records.offset", ...))),
    Case("empty log", "gnrs: {}/log.csv: has no rows; give a log with events in it", log=LOG.splitlines()[0] + "\n"),
    Case("binary log", "gnrs: {}/log.csv: is not UTF-8 text (byte 3); save it as CSV in UTF-8 with a header line, plain or gzipped, or as Parquet", log=b"\x00\x01\x02\xff" * 64),
    Case("missing log", "gnrs: {}/none.csv: no such file; check records.log or --log", context=edited(("records.log", "none.csv"))),
    Case("no log named", "gnrs: {}/context.json: records.log: names no log; state records.log or pass --log", context=edited(("records.log", ...))),
    Case("0 chains", "gnrs: arguments: chains: 0 asked for; ask for at least 1", arguments="draft {}/context.json --chains 0"),
    Case("negative steps", "gnrs: arguments: steps: -1 asked for; ask for at least 1", arguments="draft {}/context.json --steps -1"),
    Case("10⁹ chains", "gnrs: arguments: chains: 1000000000 chains of 200 steps need", arguments="draft {}/context.json --chains 1000000000"),
    Case("negative seed", "gnrs: arguments: seed: -1 is no seed; give a whole number from 0 to 4294967295", arguments="draft {}/context.json --seed -1"),
    Case("unknown kernel", "gnrs: arguments: Invalid value for '--kernel'", arguments="draft {}/context.json --kernel gibs"),
    Case("unwritable folder", "gnrs: {}/log.csv/out: cannot be written (Not a directory); name a folder you may write to", arguments="draft {}/context.json --out {}/log.csv/out"),
    Case("unwritable sample", "gnrs: {}/log.csv: is a file, not a folder; name a folder you may write to", arguments="sample {}/context.json --out {}/log.csv/x.nc"),
    Case("empty folder", "gnrs: arguments: Invalid value for '--out': is empty; name a place to write to", arguments="draft {}/context.json --out="),
    Case("empty file", "gnrs: arguments: Invalid value for '--out': is empty; name a place to write to", arguments="sample {}/context.json --out="),
    Case("empty folder of runs", "gnrs: arguments: Invalid value for '--out': is empty; name a place to write to", arguments="experiment main --out="),
    Case("empty folder of plots", "gnrs: arguments: Invalid value for '--plots': is empty; name a place to write to", arguments="diagnose {}/none.nc --plots="),
    Case("reveal without labels", "gnrs: arguments: --reveal: goes with --labels; add it", arguments="goals --reveal"),
    Case("held-out labels", "gnrs: arguments: these goals are held out; add --reveal; the run enters the ledger", arguments="goals --labels --split test"),
    Case("unknown family", "gnrs: arguments: --family: 'Crisis' is no scene family; choose one of service_coordination, ", arguments="goals --family Crisis"),
    Case("two forms at once", "gnrs: arguments: --csv: contradicts --json; give one of the two", arguments=AUDIT + " --json --csv"),
    Case("audit without rule", "gnrs: arguments: --rule is missing; name a rule file; gnrs draft CONTEXT --out DIR writes one", arguments="audit {}/context.json"),
    Case("audit without log", "gnrs: arguments: no log to audit; pass --log, or a context that names one", arguments="audit --rule {}/rule.json"),
    Case("rule with count on response", "gnrs: {}/rule.json: rule.norm.constraints.0: count 2 goes with existence, exactly, absence only, not with response; correct it", rule=changed(RULE, ("rule.norm.constraints.0.count", 2)), arguments=AUDIT),
    Case("rule without evidence", "gnrs: {}/rule.json: rule.evidence: is missing; add it", rule=changed(RULE, ("rule.evidence", ...)), arguments=AUDIT),
    Case("rule with an unknown template", "rule.norm.constraints.0.template: Input should be 'existence', ", rule=changed(RULE, ("rule.norm.constraints.0.template", "alternating")), arguments=AUDIT),
    Case("rule without a capable channel", "gnrs: not checkable:", code=3, rule=changed(RULE, ("rule.evidence.channels", ["roster_log"])), arguments=AUDIT),
    Case("rule on a log nobody keeps", "gnrs: not checkable:", code=3, rule=changed(RULE, ("rule.trigger.channel", "checkin_log")), arguments=AUDIT),
    Case(
        "no feasible structure",
        "gnrs: no feasible structure: the nearest (",
        code=1,
        context=edited(("pools.norm", [CONTEXT["pools"]["norm"][2]])),
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_one_line_and_nothing_written(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, case.context, case.log, case.rule)
    if "{}/c.yaml" in case.arguments:
        (tmp_path / "context.json").rename(tmp_path / "c.yaml")
    before = sorted(tmp_path.iterdir())
    code = run(case.arguments.replace("{}", str(tmp_path)).split())
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert case.line.replace("{}", str(tmp_path)) in said.err
    assert said.out == ""
    assert code == case.code
    assert sorted(tmp_path.iterdir()) == before


def test_the_process_prints_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gnrs_ppl", "draft", str(tmp_path / "none.yaml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        f"gnrs: {tmp_path}/none.yaml: no such file; check the path\n",
    )


def test_ctrl_c_while_a_query_runs() -> None:
    program = """
import os, signal, threading
import duckdb
from gnrs_ppl.cli import process

def query(**_):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    duckdb.connect(config={"threads": 1}).execute("SELECT sum(sin(a.range * b.range)) FROM range(3000000) a, range(100000) b")

process.app = query
process.main([])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "gnrs: interrupted\n")


@pytest.mark.parametrize(
    ("spaces", "request_", "line"),
    [
        (0, {}, "spaces: no space to run on; give at least one"),
        (2, {"names": ("a",)}, "names: 1 for 2 spaces; give one per space, or none"),
        (1, {"names": ("a", "b"), "kernel": "exact"}, "names: 2 for 1 spaces; give one per space, or none"),
        (1, {"chains": "8"}, "chains: '8' will not do; give a whole number"),
        (1, {"steps": 2.5}, "steps: 2.5 will not do; give a whole number"),
        (1, {"seed": None}, "seed: None will not do; give a whole number"),
        (1, {"superchains": True}, "superchains: True will not do; give a whole number"),
        (1, {"temperature": "hot", "kernel": "tempering"}, "temperature: 'hot' will not do; give a number"),
    ],
)
def test_a_request_for_chains_that_will_not_do(spaces: int, request_: dict[str, Any], line: str) -> None:
    from gnrs_ppl.inference.chains import run_many
    from gnrs_ppl.models.energy import contract
    from gnrs_ppl.models.space import build_space

    tables = contract(build_space(**ragged(0)), weights(0))
    with pytest.raises(InputError) as error:
        run_many([tables] * spaces, **{"chains": 8, "steps": 2, "temperature": 1.0, "seed": 0} | request_)
    assert str(error.value) == f"arguments: {line}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path)
    path.chmod(0)
    assert run(["draft", str(path)]) == 2
    assert "cannot be read (Permission denied); check its permissions" in capsys.readouterr().err
