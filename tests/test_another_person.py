"""Another person, as a sentence asks for it: in the rule that is drafted, in its text and in its audit; refused
where the records name nobody to tell apart.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_drafting_data import CONTEXT, drafted, scene

import gnrs_ppl as gnrs
from gnrs_ppl.candidates.refusals import _persons_apart
from gnrs_ppl.candidates.source import Material
from gnrs_ppl.context.load import Context, load_context
from gnrs_ppl.draft import Draft
from gnrs_ppl.errors import Refused
from gnrs_ppl.experiments import reading as experiment
from gnrs_ppl.models.features import Facts
from gnrs_ppl.models.flags import raised
from gnrs_ppl.reading import ActRead, Reading, Readings, Span, Statement, Unread
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.rule.canonical import canonical

pytestmark = pytest.mark.usefixtures("rules_alone")

__all__ = ["scene"]
ROOT = Path(__file__).resolve().parent.parent
TEXTBOOK = ROOT.parent / "shared" / "eventlogs" / "textbook" / "running-example.csv"
Said = list[tuple[str, str]]


@pytest.fixture(scope="module")
def requests() -> Context:
    """The textbook log of requests for compensation: 6 cases."""
    if not TEXTBOOK.exists():
        pytest.skip("the textbook log is not shipped and not at hand")
    contexts = Path(experiment.__file__).parent / "sentences" / "real_logs"
    return load_context(contexts / "running-example.context.yaml", TEXTBOOK)


def _agrees(draft: Draft, context: Context, said: Said, words: str, sql: str) -> None:
    norm = draft.structure.norm
    assert [(c.template, norm.correlation(c)) for c in norm.constraints] == said
    assert all(draft.said)
    assert words in draft.text
    lexicon = Lexicon.of_context(context).including(draft.structure)
    assert canonical(parse(draft.text, lexicon)) == canonical(draft.structure)
    by_hand = Counter(dict(context.log.connection.execute(sql).fetchall()))
    found = Counter({v: n for v, n in gnrs.audit(draft.structure, context).counts.items() if n})
    assert found == by_hand
    assert len(by_hand) > 1


APART = "both by different people"
INVOICES: list[tuple[str, Said, str, str]] = [
    (
        "After an invoice was posted, another person must approve it within ten days.",
        [("response", "different_resource")],
        APART,
        """SELECT CASE WHEN EXISTS (FROM events a WHERE a.case_id = p.case_id AND a.activity = 'Approve'
            AND a.resource <> p.resource AND a.timestamp BETWEEN p.timestamp AND p.timestamp + INTERVAL 10 DAY)
            THEN 'satisfied' ELSE 'violated' END AS v, count(*) FROM events p WHERE activity = 'Post' GROUP BY v""",
    ),
    (
        "An invoice may only be paid after somebody else has checked it.",
        [("precedence", "different_resource")],
        APART,
        """SELECT CASE WHEN EXISTS (FROM events c WHERE c.case_id = p.case_id AND c.activity = 'Check'
            AND c.resource <> p.resource AND c.timestamp < p.timestamp)
            THEN 'satisfied' ELSE 'violated' END AS v, count(*) FROM events p WHERE activity = 'Pay' GROUP BY v""",
    ),
    (
        "A second person must check every posted invoice above 100 euros within four days.",
        [("response", "different_resource")],
        APART,
        """SELECT CASE WHEN EXISTS (FROM events c WHERE c.case_id = p.case_id AND c.activity = 'Check'
            AND c.resource <> p.resource AND c.timestamp BETWEEN p.timestamp AND p.timestamp + INTERVAL 4 DAY)
            THEN 'satisfied' ELSE 'violated' END AS v, count(*)
            FROM events p WHERE activity = 'Post' AND attribute_1 > 100 GROUP BY v""",
    ),
]
REQUESTS: list[tuple[str, Said, str, str]] = [
    (
        "Within ten days after registration a different employee must check the ticket.",
        [("response", "different_resource")],
        APART,
        """SELECT CASE WHEN EXISTS (FROM events a WHERE a.case_id = p.case_id AND a.activity = 'check ticket'
            AND a.resource <> p.resource AND a.timestamp BETWEEN p.timestamp AND p.timestamp + INTERVAL 10 DAY)
            THEN 'satisfied' ELSE 'violated' END AS v, count(*)
            FROM events p WHERE activity = 'register request' GROUP BY v""",
    ),
    (
        "Whoever registers a request does not check the ticket.",
        [("not_response", "same_resource")],
        "A person must not check the ticket",
        """SELECT CASE WHEN EXISTS (FROM events a WHERE a.case_id = p.case_id AND a.activity = 'check ticket'
            AND a.resource = p.resource) THEN 'violated' ELSE 'satisfied' END AS v, count(*)
            FROM events p WHERE activity = 'register request' GROUP BY v""",
    ),
    (
        "The compensation may be paid only after somebody else has checked the ticket.",
        [("precedence", "different_resource")],
        APART,
        """SELECT CASE WHEN EXISTS (FROM events a WHERE a.case_id = p.case_id AND a.activity = 'check ticket'
            AND a.resource <> p.resource AND a.timestamp < p.timestamp)
            THEN 'satisfied' ELSE 'violated' END AS v, count(*)
            FROM events p WHERE activity = 'pay compensation' GROUP BY v""",
    ),
]


@pytest.mark.parametrize(("sentence", "said", "words", "sql"), INVOICES)
def test_another_person_is_drafted_and_counted_as_by_hand(
    scene: Context,
    sentence: str,
    said: Said,
    words: str,
    sql: str,
) -> None:
    _agrees(drafted(scene, sentence), scene, said, words, sql)


@pytest.mark.parametrize(("sentence", "said", "words", "sql"), REQUESTS)
def test_another_person_on_the_textbook_log(
    requests: Context, sentence: str, said: Said, words: str, sql: str
) -> None:
    _agrees(drafted(requests, sentence), requests, said, words, sql)


def test_directly_and_by_another_person_is_asked_beside_each_other(scene: Context) -> None:
    draft = drafted(scene, "An invoice must be approved directly after it was posted, by a different person.")
    norm = draft.structure.norm
    assert [(c.template, norm.correlation(c)) for c in norm.constraints] == [
        ("chain_response", "same_case"),
        ("not_coexistence", "same_resource"),
    ]
    assert all(draft.said)


def test_whoever_did_the_act_that_must_come_first_is_compared_with(scene: Context) -> None:
    text = "An invoice may only be paid after it was approved, and by another person than the one who approved it."
    (constraint,) = drafted(scene, text).structure.norm.constraints
    assert (constraint.template, constraint.correlate) == ("precedence", "different_resource")


def test_what_only_says_of_whom_another_person_is_meant_is_not_asked_for(scene: Context) -> None:
    text = "An invoice must be approved within five days, by another person than the one who posted it."
    with pytest.raises(Refused, match="state the duty, and in a sentence of its own who may not do both"):
        drafted(scene, text)


def test_another_person_is_refused_by_the_likeliest_way_to_read_it(scene: Context) -> None:
    """A less likely way, of whose opener the sentence says nothing, refuses no sentence."""
    text = "An invoice must be paid after it was approved, by another person than the one who approved it."
    goal = scene.goal.model_copy(update=experiment.EMPTY | {"intent": text})
    material = Material(replace(scene, goal=goal, scene=scene))
    did = text.rindex("approved")

    def opened(activity: str, words: str, probability: float) -> Reading:
        opener, target = (ActRead(a, Span(text.index(w), text.index(w) + len(w)), 1.0)
                          for a, w in ((activity, words), ("Pay", "paid")))  # fmt: skip
        return Reading(probability, "must", "response", (target,), "act", opener, who="another_person")

    likely, other = opened("Approve", "approved", 0.7), opened("Post", "invoice", 0.3)
    for ways, is_refused in (((likely, other), False), ((replace(other, probability=0.7), likely), True)):
        unread = (Unread(Span(did, did + len("approved"))),)
        material.__dict__["readings"] = Readings(text, (Statement(Span(0, len(text)), ways),), unread=unread)
        assert (_persons_apart(material) is not None) is is_refused


def test_a_person_whom_the_rule_does_not_start_from_is_refused(scene: Context) -> None:
    with pytest.raises(Refused, match="compares persons only with the act that opens the rule") as refused:
        drafted(scene, "Invoices above 100 euros may be paid only after another person has approved them.")
    assert refused.value.reason == "names_no_individuals"


@pytest.mark.parametrize(
    ("who", "told"),
    [
        ("", "0 of 8 rows of 'Approve' say who acted|0 of 8 rows of 'Post' say who acted"),
        ("erp", "'erp' stands in all rows of Post, Approve"),
    ],
)
def test_a_log_that_names_nobody_is_refused_and_the_condition_raised(
    tmp_path: Path,
    who: str,
    told: str,
    scene: Context,
) -> None:
    lines = ["case_id,activity,timestamp,role,resource,amount,paid,vendor,is_rush,ledger,discount"]
    for case in range(8):
        lines += [
            f"c{case},{a},2024-01-0{d}T09:00:00,clerk,{who},,,,,," for d, a in ((1, "Post"), (2, "Approve"))
        ]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    records: dict[str, Any] = CONTEXT["records"]
    data = CONTEXT | {"records": {k: v for k, v in records.items() if k != "attributes"}}
    data["goal"] = {"id": "any", "intent": "To be stated.", "required": ["Approve"]}
    (tmp_path / "context.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    context = load_context(tmp_path / "context.yaml")
    sentence = INVOICES[0][0]
    with pytest.raises(Refused, match=told) as refused:
        drafted(context, sentence)
    assert refused.value.reason == "names_no_individuals"
    rule = drafted(scene, sentence).structure
    broken = {flag.name for flag in raised(rule, Facts.of(replace(context, goal=scene.goal)))}
    assert "trigger_key_recorded" in broken
    assert ("correlation_key_recorded" in broken) == (who == "")
    assert "trigger_key_recorded" not in {flag.name for flag in raised(rule, Facts.of(scene))}
