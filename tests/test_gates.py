"""HARD-OK and ρ: the paper's audit numbers, each condition by itself, and its independence from the search's
h."""

from __future__ import annotations

from pathlib import Path

import pytest
import small

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.context import load_context
from gnrs_ppl.context.log import resolved
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.evaluate import grounding, hard_ok, rho
from gnrs_ppl.models.features import Facts
from gnrs_ppl.models.flags import raised
from gnrs_ppl.rule.types import BESIDE, MUTUAL, Structure


def supports(direct: int, inferred: int, derivable: int, missing: int) -> list[str]:
    return ["direct"] * direct + ["inferred"] * inferred + ["derivable"] * derivable + ["missing"] * missing


def test_rho_of_the_papers_example() -> None:
    # The paper prints 4 direct, 7 inferred, 6 missing and 0.479: that takes 5 inferred and 2 derivable.
    assert round(rho(supports(4, 5, 2, 6)), 3) == 0.479
    assert rho(supports(4, 5, 2, 6)) < 0.50
    assert round(rho(supports(4, 7, 0, 6)), 3) == 0.503
    assert rho(supports(4, 7, 0, 6)) >= 0.50
    assert rho(supports(2, 4, 8, 2)) == 0.5125, "whatever the Python: sum() gives 0.5125000000000001 on 3.11"
    assert rho([]) == 0.0


GOOD = {
    "scope": {"roles": ["waiter", "cook"]},
    "trigger": {"act": "StartShift", "channel": "roster_log", "window": "PT2H"},
    "norm": {"constraints": [{"template": "response", "target": "CheckIn", "deadline": "PT30M"}]},
    "evidence": {"channels": ["checkin_log", "roster_log"], "operator": "any"},
    "procedure": {
        "steps": [
            {
                "stage": "review",
                "name": "look_into_it",
                "role": "manager",
                "inspects": "checkin_log",
                "activity": "Review",
            }
        ]
    },
}
EMPTY_SCOPE = ("scope", {})
MANY_MISSING = (
    "procedure.steps",
    [
        *GOOD["procedure"]["steps"],
        *({"stage": "remedy", "name": n, "role": "owner"} for n in ("decide", "make_up_time", "hear_appeal")),
    ],
)


@pytest.mark.parametrize(
    ("edits", "failure", "flags"),
    [
        ([], "", []),
        ([EMPTY_SCOPE], "the scope slot is empty", []),  # h has nothing against it
        ([("norm.constraints.0.template", "not_response")], "required action 'CheckIn' is no target of a positive constraint", ["required_actions_targeted"]),
        ([("evidence.channels", ["roster_log"])], "no selected channel records 'CheckIn'", ["acts_recorded_by_evidence", "procedure_inspects_evidence"]),
        ([("procedure.steps.0.inspects", "badge_log")], "the procedure inspects 'badge_log', which holds no row", ["procedure_inspects_evidence"]),
        ([("trigger.window", "PT15M")], "", ["deadline_fits_window"]),  # HARD-OK knows no deadlines
        # the trigger's own log is selected too
        ([("evidence.channels", ["checkin_log"])], "", ["trigger_recorded_by_evidence"]),
    ],
)  # fmt: skip
def test_each_condition(tmp_path: Path, edits: list, failure: str, flags: list[str]) -> None:
    context = load_context(small.write(tmp_path))
    structure = Structure.model_validate(small.changed(GOOD, *edits))
    gate = hard_ok(structure, context)
    assert gate.failures == ((failure,) if failure else ())
    assert gate.passed == (not failure)
    assert [f.name for f in raised(structure, Facts.of(context))] == flags


@pytest.mark.parametrize("template", [*BESIDE, *MUTUAL])
def test_what_joins_two_acts_is_flagged_at_case_start_and_refused(tmp_path: Path, template: str) -> None:
    context = load_context(small.write(tmp_path))
    joined = {"template": template, "target": {"activity": "CheckIn"}, "correlate": "same_case"}
    structure = Structure.model_validate(
        small.changed(GOOD, ("trigger", {}), ("scope", {}), ("norm.constraints.0", joined))
    )
    assert "neighbours_have_an_opener" in [f.name for f in raised(structure, Facts.of(context))]
    with pytest.raises((Refused, InputError)):
        check(structure, resolved(context.records, context.log), context.log)


def test_a_forbidden_action_is_not_demanded(tmp_path: Path) -> None:
    context = load_context(
        small.write(
            tmp_path, small.changed(small.CONTEXT, ("goal.required", []), ("goal.forbidden", ["CheckIn"]))
        )
    )
    structure = Structure.model_validate(GOOD)
    assert hard_ok(structure, context).failures == ("forbidden action 'CheckIn' is demanded",)
    assert [f.name for f in raised(structure, Facts.of(context))] == ["forbidden_actions_not_demanded"]


def test_rho_gates_alone(tmp_path: Path) -> None:
    """A structure with h whose payloads the records mostly lack."""
    context = load_context(
        small.write(tmp_path, small.changed(small.CONTEXT, ("schema.objects", [f"o{i}" for i in range(9)])))
    )
    structure = Structure.model_validate(small.changed(GOOD, ("scope.concerns", [f"o{i}" for i in range(9)])))
    gate = hard_ok(structure, context)
    assert gate.supports == {"direct": 9, "inferred": 0, "derivable": 0, "missing": 9}
    assert gate.rho == 0.5
    assert gate.passed  # 0.50 is enough
    poorer = hard_ok(
        Structure.model_validate(
            small.changed(GOOD, ("scope.concerns", [f"o{i}" for i in range(9)]), MANY_MISSING)
        ),
        context,
    )
    assert poorer.failures == (f"rho {9 / 22:.3f} is below 0.50",)
    assert (
        raised(
            Structure.model_validate(
                small.changed(GOOD, ("scope.concerns", [f"o{i}" for i in range(9)]), MANY_MISSING)
            ),
            Facts.of(context),
        )
        == []
    )


def test_declared_support_counts_only_where_no_row_shows_it(tmp_path: Path) -> None:
    declared = [
        {
            "kind": "step",
            "name": "decide",
            "support": "inferred",
            "because": "a review is followed by a decision",
        },
        {"kind": "role", "name": "waiter", "support": "derivable", "because": "from the roster"},
    ]
    context = load_context(small.write(tmp_path, small.changed(small.CONTEXT, ("records.support", declared))))
    structure = Structure.model_validate(
        small.changed(GOOD, ("procedure.steps.0.name", "decide"), ("procedure.steps.0.activity", ...))
    )
    found = {(q.question, q.support): q.count for q in grounding(structure, context).queries}
    assert found["rows with step decide", "inferred"] == 0
    assert found["rows with role waiter", "direct"] == 7
    assert found["cases in scope", None] == 4
    assert found["cases in scope with CheckIn in checkin_log", None] == 2
