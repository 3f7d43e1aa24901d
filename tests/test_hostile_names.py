"""Names in a hand-written rule that no row has: slips of the pen are refused, declared names without rows
are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import small
from tiers import few

import gnrs_ppl as gnrs
from gnrs_ppl.cli import run
from gnrs_ppl.rule.files import read_rule

LOG = """\
event_id,case_id,activity,timestamp,resource,role,object,location,channel
1,s1,StartShift,2024-03-04T08:00:00+01:00,ann,waiter,early,restaurant,roster_log
2,s1,CheckIn,2024-03-04T08:05:00+01:00,ann,waiter,early,restaurant,checkin_log
3,s2,StartShift,2024-03-04T09:00:00+01:00,bob,cook,late,kitchen,roster_log
4,s2,Excuse,2024-03-04T09:01:00+01:00,mia,manager,late,office,roster_log
5,s2,Review,2024-03-04T09:30:00+01:00,mia,manager,late,office,roster_log
"""
SLIPS: dict[str, tuple[tuple[str, Any], str]] = {
    "scope role": (("rule.scope", {"roles": ["waiter", "waitor"]}), "scope.roles: 0 of 5 rows carry role 'waitor'; nearest: 'waiter' (2 rows)"),
    "scope location": (("rule.scope", {"locations": ["resturant"]}), "scope.locations: 0 of 5 rows carry location 'resturant'; nearest: 'restaurant' (2 rows)"),
    "scope object": (("rule.scope", {"objects": ["erly"]}), "scope.objects: 0 of 5 rows carry object 'erly'; nearest: 'early' (2 rows)"),
    "trigger role": (("rule.trigger.act", {"activity": "StartShift", "role": "coook"}), "trigger.act.role: 0 of 5 rows carry role 'coook'; nearest: 'cook' (1 rows)"),
    "trigger location": (("rule.trigger.act", {"activity": "StartShift", "location": "kichen"}), "trigger.act.location: 0 of 5 rows carry location 'kichen'; nearest: 'kitchen' (1 rows)"),
    "trigger object": (("rule.trigger.act", {"activity": "StartShift", "object": "lat"}), "trigger.act.object: 0 of 5 rows carry object 'lat'; nearest: 'late' (3 rows)"),
    "target object": (
        ("rule.norm.constraints.0.target", {"activity": "CheckIn", "object": "earlier"}),
        "norm.constraints[0].target.object: 0 of 5 rows carry object 'earlier'; nearest: 'early' (2 rows)",
    ),
    "after role": (
        ("rule.norm.constraints.0.after", {"act": {"activity": "Review", "role": "manger"}, "channel": "roster_log"}),
        "norm.constraints[0].after.role: 0 of 5 rows carry role 'manger'; nearest: 'manager' (2 rows)",
    ),
    "unless location": (
        ("rule.norm.constraints.0.unless", {"activity": "Excuse", "location": "ofice"}),
        "norm.constraints[0].unless.location: 0 of 5 rows carry location 'ofice'; nearest: 'office' (2 rows)",
    ),
    "bearer": (("rule.norm.bearer", {"role": "zzz"}), "norm.bearer.role: 0 of 5 rows carry role 'zzz'; nearest: 'cook' (1 rows)"),
    "channel": (
        ("rule.evidence.channels", ["checkin_log", "roster_log", "chekin_log"]),
        "evidence.channels: 0 of 5 rows carry channel 'chekin_log'; nearest: 'checkin_log' (1 rows)",
    ),
    "step activity": (("rule.procedure.steps.0.activity", "Reviw"), "procedure.steps[0].activity: 0 of 5 rows carry activity 'Reviw'; nearest: 'Review' (1 rows)"),
    "step role": (("rule.procedure.steps.0.role", "menager"), "procedure.steps[0].role: 0 of 5 rows carry role 'menager'; nearest: 'manager' (2 rows)"),
}  # fmt: skip
"""What stands wrong in the rule, and what is said of it; the log alone decides, no schema is there."""


def audit(
    folder: Path,
    *edits: tuple[str, Any],
    context: dict[str, Any] | None = None,
    options: tuple[str, ...] = (),
) -> int:
    small.write(folder, context or small.CONTEXT, LOG, small.changed(small.RULE, *edits))
    records = [str(folder / "context.json")] if context else ["--log", str(folder / "log.csv")]
    return run(["audit", *records, "--rule", str(folder / "rule.json"), *options])


@pytest.mark.parametrize("slip", few(SLIPS, 6))
def test_a_name_that_no_row_has_is_refused(
    slip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, says = SLIPS[slip]
    assert audit(tmp_path, edit) == 3
    assert capsys.readouterr() == ("", f"gnrs: not checkable: {says}; --allow-unrecorded insists\n")


@pytest.mark.parametrize("slip", few(SLIPS, 3))
def test_whoever_insists_gets_a_finding(
    slip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, says = SLIPS[slip]
    assert audit(tmp_path, edit, options=("--allow-unrecorded", "--json")) in (0, 1)
    assert f"{says.split(';')[0]}; nothing declares it" in json.loads(capsys.readouterr().out)["findings"]


@pytest.mark.parametrize(
    ("edit", "says"),
    few(
        [
            (("rule.trigger.act", "StartShft"), "trigger: channel 'roster_log' cannot record 'StartShft'"),
            (
                ("rule.trigger.channel", "roster_lgo"),
                "trigger: 'roster_lgo' is none of the 2 durable channels; nearest: 'roster_log'",
            ),
            (
                ("rule.norm.constraints.0.target", "ChekIn"),
                "norm.constraints[0].target: 0 of 2 evidence channels can record 'ChekIn'; nearest",
            ),
            (
                ("rule.norm.constraints.0.unless", "Excuze"),
                "norm.constraints[0].unless: 0 of 2 evidence channels can record 'Excuze'; nearest",
            ),
            (
                ("rule.norm.constraints.0.after", {"act": "Reviev", "channel": "roster_log"}),
                "norm.constraints[0].after: channel 'roster_log' cannot record 'Reviev'",
            ),
        ],
        2,
    ),
)
def test_an_act_that_no_channel_can_record_stays_refused(
    edit: tuple[str, Any], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for options in ((), ("--allow-unrecorded",)):
        assert audit(tmp_path, edit, options=options) == 3
        assert says in capsys.readouterr().err


def test_a_correlation_key_that_no_row_has_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.write(
        tmp_path,
        log=small.LOG,
        rule=small.changed(small.RULE, ("rule.norm.constraints.0.correlate", "same_object")),
    )
    assert (
        run(
            [
                "audit",
                "--log",
                str(tmp_path / "log.csv"),
                "--rule",
                str(tmp_path / "rule.json"),
                "--allow-unrecorded",
            ]
        )
        == 3
    )
    assert (
        "(same_object): 0 of 4 rows of 'StartShift' in roster_log carry an object" in capsys.readouterr().err
    )


DECLARED = small.changed(
    small.CONTEXT,
    ("schema.locations", ["restaurant", "kitchen", "office", "cellar"]),
    ("schema.objects", ["early", "late", "night"]),
    ("records.channels.1.activities", ["CheckIn", "Serve", "SignIn"]),
    ("schema.actions", [*small.CONTEXT["schema"]["actions"], "SignIn"]),
)


@pytest.mark.parametrize(
    ("edit", "says"),
    few(
        [
            (
                ("rule.scope", {"roles": ["waiter", "owner"]}),
                "scope.roles: 0 of 5 rows carry role 'owner'; it is declared",
            ),
            (
                ("rule.scope", {"locations": ["cellar"]}),
                "scope.locations: 0 of 5 rows carry location 'cellar'; it is declared",
            ),
            (
                ("rule.scope", {"objects": ["night"]}),
                "scope.objects: 0 of 5 rows carry object 'night'; it is declared",
            ),
            (
                ("rule.scope", {"roles": ["manager"]}),
                "scope.roles: 0 of 2 rows of 'StartShift' in roster_log carry role 'manager'; 2 of all 5 rows do",
            ),
            (
                ("rule.norm.bearer", {"role": "owner"}),
                "norm.bearer.role: 0 of 5 rows carry role 'owner'; it is declared",
            ),
            (
                ("rule.norm.constraints.0.target", "SignIn"),
                "norm.constraints[0].target.activity: 0 of 5 rows carry activity 'SignIn'; it is declared",
            ),
            (
                ("rule.evidence.channels", ["checkin_log", "roster_log", "badge_log"]),
                "evidence.channels: 0 of 5 rows carry channel 'badge_log'; it is declared",
            ),
        ],
        3,
    ),
)
def test_a_declared_name_without_rows_is_a_finding(
    edit: tuple[str, Any], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit(tmp_path, edit, context=DECLARED, options=("--json",)) in (0, 1)
    assert says in json.loads(capsys.readouterr().out)["findings"]


def test_scope_of_a_rule_that_starts_with_the_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No trigger row is filtered, and the text would name the place all the same."""
    edits = (
        ("rule.trigger", {}),
        ("rule.norm.bearer", {"role": "waiter"}),
        ("rule.scope", {"locations": ["cellar"]}),
    )
    small.write(tmp_path, log="\n".join(line.replace("location", "value", 1) for line in LOG.splitlines()))
    (tmp_path / "rule.json").write_text(json.dumps(small.changed(small.RULE, *edits)))
    assert run(["audit", "--log", str(tmp_path / "log.csv"), "--rule", str(tmp_path / "rule.json")]) == 3
    assert (
        "scope.locations: 0 of 5 rows carry location 'cellar'; no location is recorded or declared"
        in capsys.readouterr().err
    )


def test_a_declared_act_that_never_happened_is_violated_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edits = (("rule.norm.constraints.0.target", "SignIn"), ("rule.norm.constraints.0.unless", ...))
    assert audit(tmp_path, *edits, context=DECLARED, options=("--json",)) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["counts"]["violated"] == found["instances"] == 2


def test_names_that_rows_have_are_no_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit = (
        "rule.scope",
        {"roles": ["waiter", "cook"], "locations": ["restaurant", "kitchen"], "objects": ["early", "late"]},
    )
    assert audit(tmp_path, edit, options=("--json",)) in (0, 1)
    found = json.loads(capsys.readouterr().out)["findings"]
    assert sum(f.startswith("the file's 5 rows: 5 events;") for f in found) == 1
    assert all(f.startswith("the file's 5 rows") or "gnrs lint" in f for f in found)


def test_the_function_refuses_and_insists_too(tmp_path: Path) -> None:
    context = gnrs.load_context(
        small.write(tmp_path, log=LOG, rule=small.changed(small.RULE, ("rule.scope", {"roles": ["clerc"]})))
    )
    rule = read_rule(tmp_path / "rule.json").rule
    with pytest.raises(gnrs.Refused, match=r"scope\.roles: 0 of 5 rows carry role 'clerc'"):
        gnrs.audit(rule, context)
    assert (
        "scope.roles: 0 of 5 rows carry role 'clerc'; nothing declares it"
        in gnrs.audit(rule, context, allow_unrecorded=True).findings
    )


def test_a_drafted_rule_travels_to_a_log_without_its_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a rule file declares is declared: a later log in which nobody checks in is violated, not
    refused.
    """
    small.write(tmp_path, small.CONTEXT, small.LOG)
    assert (
        run(
            [
                "draft",
                str(tmp_path / "context.json"),
                "--chains",
                "8",
                "--steps",
                "50",
                "--out",
                str(tmp_path / "out"),
            ]
        )
        == 0
    )
    rows = [line for line in small.LOG.splitlines() if ",CheckIn," not in line]
    (tmp_path / "later.csv").write_text("\n".join(rows) + "\n")
    capsys.readouterr()
    assert (
        run(
            [
                "audit",
                "--rule",
                str(tmp_path / "out" / "rule.json"),
                "--log",
                str(tmp_path / "later.csv"),
                "--json",
            ]
        )
        == 1
    )
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert any("carry activity 'CheckIn'; it is declared" in line for line in findings)
