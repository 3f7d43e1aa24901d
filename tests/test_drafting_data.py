"""A condition on data that a sentence states stands in the rule that is drafted, in its text and in its audit; what
the records cannot hold is refused for that reason.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

import gnrs_ppl as gnrs
from gnrs_ppl.context.load import Context, load_context
from gnrs_ppl.draft import Draft
from gnrs_ppl.errors import Refused
from gnrs_ppl.evaluate.audit_f1 import verdicts
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.rule.canonical import canonical, conditions_in

pytestmark = pytest.mark.usefixtures("rules_alone")

CONTEXT: dict[str, Any] = {
    "goal": {"id": "any", "intent": "To be stated.", "required": ["Pay"]},
    "schema": {
        "roles": [{"name": "clerk"}, {"name": "manager"}],
        "objects": [{"name": "invoice"}],
        "actions": [
            {"name": "Post", "phrase": "post the invoice"},
            {"name": "Approve", "phrase": "approve the invoice"},
            {"name": "Check", "phrase": "check the invoice"},
            {"name": "Pay", "phrase": "pay the invoice"},
        ],
    },
    "records": {
        "log": "log.csv",
        "channels": [
            {"name": "erp", "closed_world": True, "coverage": [{"start": "2023-12-01", "end": "2025-12-31"}]}
        ],
        "constants": {"channel": "erp"},
        "offset": "+00:00",
        "end_of_observation": "2025-12-31",
        "attributes": [
            {"name": "amount", "type": "number", "unit": "EUR"},
            {"name": "paid", "phrase": "paid amount", "type": "number", "unit": "EUR"},
            {"name": "vendor", "type": "text", "of": "case", "values": ["Acme", "Blue Ltd", "Coal Inc"]},
            {"name": "is_rush", "type": "boolean", "of": "case"},
            {"name": "ledger", "type": "text", "of": "case", "values": ["main"]},
            {"name": "discount", "type": "number", "unit": "percent"},
        ],
    },
}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Context:
    """Two hundred invoices, drawn at random."""
    folder: Path = tmp_path_factory.mktemp("data")
    rng = random.Random(4)
    lines = ["case_id,activity,timestamp,role,resource,amount,paid,vendor,is_rush,ledger,discount"]
    for case in range(200):
        at = datetime(2024, 1, 1) + timedelta(hours=case)
        amount, vendor, rush = (
            rng.choice((50, 500, 5000)),
            rng.choice(("Acme", "Blue Ltd", "Coal Inc")),
            rng.random() < 0.3,
        )
        acts = ["Post", *rng.sample(["Approve", "Check", "Pay"], rng.randrange(4))]
        for act in acts:
            at += timedelta(hours=rng.randrange(1, 100))
            own = (
                f"{amount},"
                if act == "Post"
                else f",{amount + rng.choice((0, 0, 10))}"
                if act == "Pay"
                else ","
            )
            of_case = f"{vendor},{str(rush).lower()},main" if act == "Post" else ",,"
            lines.append(f"c{case},{act},{at.isoformat()},clerk,r{rng.randrange(5)},{own},{of_case},")
    (folder / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "context.yaml").write_text(yaml.safe_dump(CONTEXT), encoding="utf-8")
    return load_context(folder / "context.yaml")


def drafted(scene: Context, sentence: str) -> Draft:
    goal = scene.goal.model_copy(update={"intent": sentence, "required": ()})
    return gnrs.draft(replace(scene, goal=goal, scene=scene), kernel="exact", chains=1, steps=1)


def _by_hand(scene: Context, sql: str) -> Counter[str]:
    return Counter(dict(scene.log.connection.execute(sql).fetchall()))


POSTED = 'SELECT case_id, min(timestamp) AS t, max("attribute_1") AS amount, max("attribute_3") AS vendor FROM events WHERE activity = \'Post\' GROUP BY ALL'

CASES: list[tuple[str, list[tuple[str, str, tuple[Any, ...]]], str, str]] = [
    (
        "Invoices above 100 euros must be approved within five days after they were posted.",
        [("trigger.act", "more", (100,))],
        "(where the amount is more than 100)",
        f"""SELECT CASE WHEN amount <= 100 THEN 'not_activated' WHEN EXISTS (FROM events a WHERE a.case_id = p.case_id
            AND a.activity = 'Approve' AND a.timestamp BETWEEN p.t AND p.t + INTERVAL 5 DAY) THEN 'satisfied' ELSE 'violated' END AS v,
            count(*) FROM ({POSTED}) p GROUP BY v""",
    ),
    (
        "Invoices whose vendor is Acme must be approved within five days after they were posted.",
        [("scope.where", "equal", ("Acme",))],
        "in cases where the vendor is “Acme”",
        f"""SELECT CASE WHEN vendor <> 'Acme' THEN 'not_activated' WHEN EXISTS (FROM events a WHERE a.case_id = p.case_id
            AND a.activity = 'Approve' AND a.timestamp BETWEEN p.t AND p.t + INTERVAL 5 DAY) THEN 'satisfied' ELSE 'violated' END AS v,
            count(*) FROM ({POSTED}) p GROUP BY v""",
    ),
    (
        "If the amount exceeds 100 euros, the invoice must be approved within five days after it was checked.",
        [("trigger.act", "more", (100,))],
        "(where the amount is more than 100)",
        f"""SELECT CASE WHEN amount <= 100 OR c.t IS NULL THEN 'not_activated' WHEN EXISTS (FROM events a WHERE a.case_id = p.case_id
            AND a.activity = 'Approve' AND a.timestamp BETWEEN c.t AND c.t + INTERVAL 5 DAY) THEN 'satisfied' ELSE 'violated' END AS v,
            count(*) FROM ({POSTED}) p LEFT JOIN
            (SELECT case_id, min(timestamp) AS t FROM events WHERE activity = 'Check' GROUP BY ALL) c USING (case_id) GROUP BY v""",
    ),
    (
        "After an invoice was posted, nobody may pay more than the amount.",
        [("norm.constraints[0].target", "more", ())],
        "(where the paid amount is more than the activating act's amount)",
        f"""SELECT CASE WHEN EXISTS (FROM events a WHERE a.case_id = p.case_id AND a.activity = 'Pay' AND a.attribute_2 > p.amount)
            THEN 'violated' ELSE 'pending' END AS v, count(*) FROM ({POSTED}) p GROUP BY v""",  # no case ends here
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "wanted", "words", "sql"), CASES, ids=lambda x: x[:24] if isinstance(x, str) else ""
)
def test_a_condition_stands_in_rule_text_and_audit(
    scene: Context, sentence: str, wanted: list[tuple[str, str, tuple[Any, ...]]], words: str, sql: str
) -> None:
    found = drafted(scene, sentence)
    stated = conditions_in(found.structure)
    assert [(place, c.test, c.value) for place, c in stated] == wanted
    assert words in found.text
    lexicon = Lexicon.of_context(scene).including(found.structure)
    assert parse(found.text, lexicon) == canonical(found.structure)
    assert not any("condition" in failure for failure in found.grounding.gate.failures)
    assert any(q.question.startswith("rows with a value of") and q.count for q in found.grounding.queries)
    assert all(found.said)
    assert Counter(verdicts(found.structure, scene.log).values()) == _by_hand(scene, sql)


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        (
            "Invoices above 40 kilos must be approved after they were posted.",
            "no attribute of the log holds '40 kilos'",
        ),
        ("Where the discount is above 5 percent, the invoice must be approved after it was posted.", "0 of "),
        ("Invoices whose ledger is main must be approved after they were posted.", "tells nothing apart"),
        ("Invoices whose vendor is Acne must be approved after they were posted.", "nearest 'Acme'"),
        (
            "Where the vendor is not recorded, the invoice must be approved after it was posted.",
            "is not recorded",
        ),
    ],
)
def test_what_the_records_cannot_hold_is_refused_for_that_reason(
    scene: Context, sentence: str, why: str
) -> None:
    with pytest.raises(Refused, match=why) as refused:
        drafted(scene, sentence)
    assert refused.value.reason == "no_such_field"


@pytest.mark.parametrize(
    ("sentence", "template"),
    [
        ("Nobody may pay an invoice with a paid amount above the amount.", "absence"),
        (
            "Immediately before it is paid, an invoice whose amount is less than the paid amount must be posted.",
            "precedence",
        ),
    ],
)
def test_what_no_audit_compares_is_not_drafted(scene: Context, sentence: str, template: str) -> None:
    (constraint,) = drafted(scene, sentence).structure.norm.constraints
    assert (constraint.template, len(constraint.compared)) == (template, 1)


POOLS: dict[str, Any] = {
    "scope": [{"id": "S1", "content": {"roles": ["clerk"]}}],
    "trigger": [{"id": "T1", "content": {}}, {"id": "T2", "content": {"act": "Post", "channel": "erp"}}],
    "evidence": [{"id": "E1", "content": {"channels": ["erp"], "operator": "any"}}],
    "procedure": [{"id": "P1", "content": {"steps": []}}],
}
COMPARED = {"activity": "Pay", "where": [{"attribute": "paid", "test": "more", "other": {"attribute": "amount", "of": "activation"}}]}  # fmt: skip


@pytest.mark.parametrize(
    ("constraint", "told"),
    [
        ({"template": "absence", "target": COMPARED}, "states a condition on 'paid', which the search does not"),
        ({"template": "succession", "target": "Pay"}, "pools.norm.N1: succession binds the target's rows too, which scope 'S1'"),
    ],
)  # fmt: skip
def test_pools_by_hand_that_no_audit_takes_are_refused_before_the_search(
    scene: Context, constraint: dict[str, Any], told: str
) -> None:
    from gnrs_ppl.candidates.build import pools_of
    from gnrs_ppl.errors import InputError

    norm = {"id": "N1", "content": {"constraints": [constraint | {"correlate": "same_case"}]}}
    with pytest.raises(InputError, match=re.escape(told)):
        pools_of(replace(scene, pools=POOLS | {"norm": [norm]}))


def test_a_reading_that_no_audit_compares_is_held_against_it(scene: Context) -> None:
    from gnrs_ppl.candidates.refusals import held_against
    from gnrs_ppl.reading import read

    readings = read(
        "Immediately before it is paid, an invoice whose amount is less than the paid amount must be posted.",
        scene.schema,
        (),
        scene.records.attributes,
    )
    why = [held_against(scene, readings, reading) for reading in readings.statements[0].readings]
    assert [str(w).partition(": no check")[2] if w else "" for w in why] == [
        " of ChainPrecedence compares two records; say what follows at any time",
        "",
    ]


def test_who_never_opens_a_rule_does_not_narrow_it(scene: Context) -> None:
    """Every row is a clerk's: a rule on what follows a manager's posting would find nothing to check, and none on
    managers could be met; what is left out is told.
    """
    draft = drafted(scene, "After an invoice was posted, a manager must approve it within two days.")
    assert (draft.structure.scope.roles, draft.structure.norm.bearer) == ((), "trigger")
    (line,) = draft.left_out
    assert line.startswith("the sentence binds 'manager', the rule does not: 0 of ")


def test_who_is_asked_is_not_who_opened_it(scene: Context) -> None:
    """Clerks post and clerks approve, each what another clerk has posted: it is the approval that asks for one."""
    draft = drafted(scene, "After an invoice was posted, a clerk must approve it within two days.")
    assert getattr(draft.structure.norm.bearer, "role", None) == "clerk"
    assert draft.left_out == ()


def test_working_time_that_no_calendar_counts_is_told_below_the_rule(
    scene: Context, capsys: pytest.CaptureFixture[str]
) -> None:
    from gnrs_ppl.context.types import Calendar
    from gnrs_ppl.report.draft import print_draft

    sentence = "Invoices must be paid within five working days after they were posted."
    told = "working time is left uncounted: the records declare no calendar"
    print_draft(drafted(scene, sentence), [])
    said = " ".join(capsys.readouterr().out.split())
    assert said.count(told) == 1
    assert said.index("within five working days after") < said.index(told) < said.index("Slots")
    works = scene.records.model_copy(update={"calendar": Calendar()})
    assert not any(told in line for line in drafted(replace(scene, records=works), sentence).assumptions)


def test_statements_under_different_conditions_are_different_rules(scene: Context) -> None:
    from gnrs_ppl.reading import read
    from gnrs_ppl.reading.goal import rules_of

    readings = read(
        "Invoices above 100 euros must be approved after they were posted. Invoices below 20 euros must be checked after they were posted.",
        scene.schema,
        scene.records.channels,
        scene.records.attributes,
    )
    assert [[d.condition.test for d in s.best.data] for s in readings.statements] == [["more"], ["less"]]
    assert rules_of(readings) == [(0,), (1,)]


def test_a_reading_with_conditions_is_not_reworded_without_them(scene: Context) -> None:
    from gnrs_ppl.goals.questions import reworded
    from gnrs_ppl.reading import read

    sentence = "{} must be approved within five days after they were posted."
    plain, above = (
        read(sentence.format(things), scene.schema, (), scene.records.attributes).statements[0].best
        for things in ("Invoices", "Invoices above 100 euros")
    )
    assert reworded(plain, scene.schema)
    assert reworded(above, scene.schema) == ""
