"""What a goal's sentence asks and the records cannot hold is refused for that reason, before anything is
searched."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import small

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.candidates.refusals import refusal
from gnrs_ppl.cli import run
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.types import Goal
from gnrs_ppl.draft import draft, of_rule
from gnrs_ppl.errors import NoFeasibleStructure, Refused
from gnrs_ppl.models.features import Facts
from gnrs_ppl.models.flags import raised
from gnrs_ppl.reading import opinions
from gnrs_ppl.reading.goal import readings_of
from gnrs_ppl.rule.types import Structure

pytestmark = pytest.mark.usefixtures("rules_alone")

SCENES = Path(__file__).parent.parent / "gnrs_ppl" / "experiments" / "sentences" / "real_logs"
CHECK_IN = "After a shift starts, staff must check in within 30 minutes."
REVIEWED = "After a shift starts, the shift must be reviewed by another person within 30 hours."
WITH_NETWORK = opinions.by_network
NAP = {"name": "Nap", "phrase": "take a nap", "noun": "nap"}
Row = dict[str, str]


def log(change: Callable[[Row], Row] = lambda row: row, without: str = "") -> str:
    """The small log with its rows changed and a column left out."""
    rows = [change(row) for row in csv.DictReader(io.StringIO(small.LOG))]
    text = io.StringIO()
    writer = csv.DictWriter(
        text, [name for name in rows[0] if name != without], extrasaction="ignore", lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def context(folder: Path, sentence: str, *edits: tuple[str, Any], rows: str = small.LOG) -> Context:
    """The small context with a sentence and nothing else for a goal; Nap is an act that no row shows."""
    actions = [*small.CONTEXT["schema"]["actions"], NAP]
    own = (
        ("goal", {"id": "SHIFT-1", "intent": sentence}),
        ("pools", None),
        ("schema.actions", actions),
        ("records.case_end", ["Serve"]),
    )
    small.write(folder, small.changed(small.CONTEXT, *own, *edits), log=rows)
    return load_context(folder / "context.json")


def refused(given: Context) -> Refused | None:
    return refusal(given, readings_of(given))


def nobody(activity: str) -> Callable[[Row], Row]:
    return lambda row: row | ({"resource": ""} if row["activity"] == activity else {})


CONSTANT = log(lambda row: row | {"resource": "erp"})
DATES = log(lambda row: row | {"timestamp": row["timestamp"][:10]})
NO_PLACE = log(without="location")


@pytest.mark.parametrize(
    "sentence, rows, reason, told",
    [
        ("Bananas are yellow.", small.LOG, "no_duty", "the sentence states no duty or ban that acts show"),
        ("After a shift starts, staff may check in only if ten minutes have passed without an excuse.", small.LOG, "time_not_read", "the time 'ten minutes' is stated and could not be read as the time of anything"),
        ("All contracts must be countersigned.", small.LOG, "no_such_act", "no act like 'contracts … countersigned' is in the schema"),
        ("The one who starts the shift must also be the one to review it.", log(nobody("Review")), "names_no_individuals", "0 of 1 rows of 'Review'"),
        ("After a shift starts, another employee than the one who drew up the plan must review it.", small.LOG, "no_such_act", "another person than who 'drew' is asked for, and no act like that was read"),
        ("After a shift starts, staff must take a nap within 30 minutes.", small.LOG, "no_such_act", "no act like 'take a nap' is recorded (Nap: 0 of 11 rows)"),
        ("After a nap, staff must check in within 30 minutes.", small.LOG, "no_such_act", "no act like 'nap' is recorded (Nap: 0 of 11 rows)"),
        ("After a shift starts, staff must check in, unless they took a nap.", small.LOG, "no_such_act", "is recorded (Nap: 0 of 11 rows)"),
        (REVIEWED, log(nobody("Review")), "names_no_individuals", "the log names no individuals: 0 of 1 rows of 'Review' say who acted"),
        (REVIEWED, CONSTANT, "names_no_individuals", "the log names no individuals: 'erp' stands in all rows of StartShift, Review"),
        (CHECK_IN, DATES, "too_coarse", "the log keeps dates only for 'StartShift', the sentence asks for 30 minutes"),
        ("After a shift starts, staff must check in at the restaurant.", NO_PLACE, "no_such_field", "the log keeps no places, the sentence asks for 'restaurant'"),
        ("If the weather is bad, staff must check in.", NO_PLACE, "no_such_field", "no act and no field of the log shows 'If the weather is bad'"),
        ("After a shift starts, waiters that weigh more than ninety kilos must check in.", small.LOG, "no_such_field", "weigh more than ninety kilos"),
        ("The cash register must show that staff checked in after the shift started.", small.LOG, "no_such_log", "no log like 'cash register' is kept"),
        (f"{CHECK_IN} Any breach is reviewed by the waiter union.", small.LOG, "no_such_role", "nobody is called 'waiter union'"),
        ("Staff may not check in later than ten minutes after a shift starts.", small.LOG, "time_not_read", "to bar what comes later than 'ten minutes' may ask for it within that time, or allow it within that time only"),
        ("After a shift starts, staff must check in by the end of the week.", small.LOG, "time_not_read", "the time 'by the end of the week' is stated and could not be read as the time of anything"),
        ("Staff must check in on the very day the shift starts.", small.LOG, "time_not_read", "the time 'on the very day' is stated and could not be read as the time of anything"),
        ("After a shift starts, staff must check in on the same day.", small.LOG, "time_not_read", "the time 'on the same day' is stated and could not be read as the time of anything"),
        ("The tax office's ledger is required to evidence that staff checked in after the shift started.", small.LOG, "no_such_log", "no log like 'ledger' is kept"),
        ("The outgoing-mail register has to establish that staff checked in after the shift started.", small.LOG, "no_such_log", "no log like 'outgoing-mail register' is kept"),
        ("What do we need to find in the bank's own records? That staff checked in within ten minutes after the shift started.", small.LOG, "no_such_log", "no log like 'records' is kept"),
        ("I want the waiter who starts the shift to be the very one who reviews it.", log(nobody("Review")), "names_no_individuals", "0 of 1 rows of 'Review'"),
        ("The member of staff starting a shift shall be the very person who reviewed it.", log(nobody("Review")), "names_no_individuals", "0 of 1 rows of 'Review'"),
        ("After a shift starts, staff must check in before 9 a.m.", small.LOG, "time_not_read", "the time 'before 9 a.m' is stated and could not be read as the time of anything"),
    ],
)  # fmt: skip
def test_a_sentence_is_refused_for_its_reason(
    tmp_path: Path, sentence: str, rows: str, reason: str, told: str
) -> None:
    found = refused(context(tmp_path, sentence, rows=rows))
    assert found is not None
    assert found.reason == reason
    assert told in str(found)


@pytest.mark.parametrize(
    "sentence",
    [
        "A reviewed shift must be archived within 3 days.",
        "No shift may be reviewed before the bank has sold the gold.",
        "Our aim is that people feel heard, whoever is excused from a shift.",
        "After a shift starts, staff must check in, until the moon is full.",
        "After a shift starts, pregnant waiters must check in.",
        "After a shift starts, waiters who own a dog must check in.",
        "After a shift starts, waiters hired through an agency must check in.",
        "During the summer holidays, staff must check in after a shift starts.",
        "On Mondays, staff must check in after a shift starts.",
        "Last winter we served every guest within an hour of the shift's start, our best season ever.",
        "Last spring the reviews took longer than the services, and nobody was amused.",
        "Most waiters who check in late are neither lazy nor rude.",
        "Those who wait to be served should feel at home with us.",
        "Whoever checks in is supposed to do so with a smile.",
        "The shift shall be reviewed with the loyalty of an honest merchant.",
        "Waiters serving guests have to behave like gentlemen.",
        "After a shift starts, dishwashers who live abroad are to check in.",
        "After a shift starts, people who smoke have to check in.",
    ],
)
def test_what_nothing_records_is_never_drafted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sentence: str
) -> None:
    """With the network: refused or asked about."""
    monkeypatch.setattr(opinions, "by_network", WITH_NETWORK)
    given = context(tmp_path, sentence)
    readings = readings_of(given)
    assert readings.unsure or refusal(given, readings) is not None


@pytest.mark.parametrize(
    "sentence, rows",
    [
        (CHECK_IN, small.LOG),
        (CHECK_IN, CONSTANT),
        (REVIEWED, small.LOG),
        ("After a shift starts, staff must check in within 3 days.", DATES),
        ("After a shift starts, staff must check in at the restaurant.", small.LOG),
        ("If the weather is bad, staff must check in.", small.LOG),
        ("The check-in log must show that staff checked in after the shift started.", small.LOG),
        (f"{CHECK_IN} Any breach is reviewed by the manager.", small.LOG),
        ("Whenever a new shift starts, the competent staff must check in.", small.LOG),
        ("Since 1 March, staff must check in after a shift starts.", small.LOG),
        ("In our restaurant, staff must check in after a shift starts.", small.LOG),
        ("Staff must not serve.", small.LOG),
        (
            "Last winter the reviews took longer; from now on staff must check in within 30 minutes after a shift starts.",
            small.LOG,
        ),
        ("Since last winter, staff must check in after a shift starts.", small.LOG),
        ("Last week we agreed that staff check in within 30 minutes after a shift starts.", small.LOG),
        ("Most waiters mean well, but after a shift starts, staff must check in.", small.LOG),
        ("Those who start a shift must check in within ten minutes.", small.LOG),
        ("Before they check in, staff should feel at home and start the shift.", small.LOG),
        ("After a shift starts, the colleague who takes over must check in.", small.LOG),
        (
            "What do we need to find in the check-in log? That staff checked in within ten minutes after the shift started.",
            small.LOG,
        ),
        ("I want the waiter who starts the shift to be the very one who reviews it.", small.LOG),
    ],
)
def test_a_sentence_the_records_hold_is_not_refused(tmp_path: Path, sentence: str, rows: str) -> None:
    assert refused(context(tmp_path, sentence, rows=rows)) is None


def test_the_nearest_recorded_act_is_named(tmp_path: Path) -> None:
    end = {"name": "EndShift", "phrase": "end the shift", "noun": "end of the shift"}
    found = refused(
        context(
            tmp_path,
            "Once a service is done, staff must end the shift within 3 hours.",
            ("schema.actions.5", end),
        )
    )
    assert found is not None
    assert "is recorded (EndShift: 0 of 11 rows), nearest " in str(found)
    assert "nearest EndShift" not in str(found)


def test_the_fields_of_a_goal_and_listed_pools_override_its_sentence(tmp_path: Path) -> None:
    bananas = {"id": "SHIFT-1", "intent": "Bananas are yellow."}
    assert refused(context(tmp_path, "", ("goal", bananas | {"required": ["CheckIn"]}))) is None
    assert refused(context(tmp_path, "", ("goal", bananas), ("pools", small.CONTEXT["pools"]))) is None


def test_a_clock_that_is_declared_counts(tmp_path: Path) -> None:
    coarse = [channel | {"grain": "day"} for channel in small.CONTEXT["records"]["channels"]]
    found = refused(context(tmp_path, CHECK_IN, ("records.channels", coarse)))
    assert found is not None
    assert found.reason == "too_coarse"


def test_a_draft_is_refused_with_code_3_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context(tmp_path, CHECK_IN, rows=DATES)
    assert (
        run(["draft", str(tmp_path / "context.json"), "--weights", "uniform", "--out", str(tmp_path / "out")])
        == 3
    )
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(
        "gnrs: not checkable: the log keeps dates only for 'StartShift', the sentence asks for 30 minutes; "
    )
    assert printed.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_of_every_rule_the_one_that_cannot_be_held_is_told_and_the_others_are_drafted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context(tmp_path, f"{CHECK_IN} Once a service is done, staff must take a nap within 3 hours.")
    arguments = [
        "draft",
        str(tmp_path / "context.json"),
        "--every",
        "--out",
        str(tmp_path / "out"),
        "--weights",
        "uniform",
    ]
    assert run([*arguments, "--chains", "4", "--steps", "20", "--json"]) == 3
    assert capsys.readouterr().err.startswith(
        "gnrs: rule 2: not checkable: no act like 'take a nap' is recorded"
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["rule-1"]


def test_no_dev_goal_is_refused_on_its_sentence_alone() -> None:
    for goal in (g for g in goals() if g.split == "dev"):
        given = of_rule(load_context(goal.id), 1)
        assert refused(given) is None, goal.id


def test_a_rule_that_says_nothing_of_what_was_read_is_none() -> None:
    given = of_rule(load_context("GNRS-024"), 1)
    with pytest.raises(
        NoFeasibleStructure, match="says none of the statements that were read.*--kernel exact"
    ):
        draft(given, chains=4, steps=40)
    assert any(draft(given, chains=1, steps=1, kernel="exact").said)


# before the search, never after it, and never a traceback


def test_a_trigger_that_no_row_shows_is_refused(tmp_path: Path) -> None:
    given = context(tmp_path, CHECK_IN, ("goal.required", ["CheckIn"]), ("goal.triggers", ["Nap"]))
    with pytest.raises(Refused, match="goal.triggers: 0 of 11 rows carry action 'Nap'; nearest recorded: '"):
        pools_of(given)


def test_required_acts_that_no_row_shows_make_no_chain(tmp_path: Path) -> None:
    pools = pools_of(
        context(tmp_path, CHECK_IN, ("goal.required", ["Nap", "CheckIn"]), ("records.channels", []))
    ).pools
    assert pools.norm


def test_a_permission_has_pools_on_a_log(tmp_path: Path) -> None:
    pools = pools_of(
        context(tmp_path, CHECK_IN, ("goal.permitted", ["CheckIn"]), ("goal.force", "may"))
    ).pools
    assert {candidate.content.force for candidate in pools.norm} == {"may"}


def test_a_key_that_is_the_same_everywhere_correlates_nothing(tmp_path: Path) -> None:
    built = pools_of(context(tmp_path, CHECK_IN, rows=CONSTANT))
    assert all(c.correlate != "same_resource" for n in built.pools.norm for c in n.content.constraints)
    reasons = {item.reason for item in built.dropped if item.slot == "norm"}
    assert "resource is 'erp' in all 11 rows that carry one, so same_resource correlates nothing" in reasons


def test_a_key_that_no_row_of_an_act_carries_correlates_nothing(tmp_path: Path) -> None:
    built = pools_of(context(tmp_path, CHECK_IN, rows=log(nobody("CheckIn"))))
    assert all(c.correlate != "same_resource" for n in built.pools.norm for c in n.content.constraints)
    assert "0 of 2 rows of 'CheckIn' carry the resource that same_resource asks for" in {
        item.reason for item in built.dropped
    }


def test_a_key_that_is_the_same_in_trigger_and_target_is_a_hard_condition(tmp_path: Path) -> None:
    """Others act elsewhere in the log, so only trigger and norm together show that the key tells nothing."""
    shifts = log(
        lambda row: row | ({"resource": "erp"} if row["activity"] in ("StartShift", "CheckIn") else {})
    )
    rule = {
        "trigger": {"act": "StartShift", "channel": "roster_log"},
        "norm": {
            "constraints": [
                {
                    "template": "response",
                    "target": "CheckIn",
                    "deadline": "PT30M",
                    "correlate": "same_resource",
                }
            ]
        },
        "evidence": {"channels": ["checkin_log", "roster_log"], "operator": "any"},
        "procedure": {"steps": [{"stage": "review", "name": "decide", "role": "manager"}]},
    }
    flags = [
        {
            f.name
            for f in raised(Structure.model_validate(rule), Facts.of(context(tmp_path, CHECK_IN, rows=rows)))
        }
        for rows in (shifts, small.LOG)
    ]
    assert "trigger_key_recorded" in flags[0]
    assert "trigger_key_recorded" not in flags[1]


def test_a_time_stated_for_an_act_holds_in_every_norm(tmp_path: Path) -> None:
    given = context(
        tmp_path,
        CHECK_IN,
        (
            "goal",
            {
                "id": "S",
                "intent": "Check in.",
                "required": ["CheckIn", "Serve"],
                "within": "PT20M",
                "timed": ["CheckIn"],
            },
        ),
    )
    found = {
        str(c.deadline)
        for n in pools_of(given).pools.norm
        for c in n.content.constraints
        if c.target.activity == "CheckIn" and c.template in ("response", "existence")
    }
    assert found == {"PT20M"}


def test_a_context_of_one_rule_is_what_the_sentence_alone_says() -> None:
    given = load_context("GNRS-038")
    assert of_rule(given, 1).goal == Goal(
        id=given.goal.id, intent=given.goal.intent, values=given.goal.values
    )
    assert of_rule(given, 1).log is given.log
