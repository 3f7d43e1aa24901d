"""What a sentence says beside its duties: which logs show them, and what follows a breach."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from tiers import tier

import gnrs_ppl as gnrs
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.candidates.build import build_pools
from gnrs_ppl.cli import run
from gnrs_ppl.context.load import Context, read_records, read_schema, with_sentence
from gnrs_ppl.context.types import Channel, Schema
from gnrs_ppl.errors import Refused
from gnrs_ppl.experiments.random_rules import random_rules
from gnrs_ppl.reading import Readings
from gnrs_ppl.reading.agreement import evidence_said, procedure_said
from gnrs_ppl.reading.plain import declare_name
from gnrs_ppl.reading.procedure import stage_of
from gnrs_ppl.reading.reader import read
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.types import EvidencePolicy, Procedure, Structure

ROOT = Path(__file__).parent.parent
SENTENCES = yaml.safe_load((Path(__file__).parent / "evidence_and_breach.yaml").read_text())
INVOICES = ROOT / "examples" / "invoices" / "context.yaml"
DUTY = "The budget holder must approve every invoice within ten days of posting"
RULES = tier(24, 300)
LEAST_RIGHT = 0.95


@cache
def names(schema: str) -> tuple[Schema, tuple[Channel, ...]]:
    """The schema and the logs that a sentence is about."""
    if schema.startswith("GNRS"):
        context = load_context(schema)
        return context.schema, context.records.channels
    real = ROOT / "gnrs_ppl" / "experiments" / "sentences" / "real_logs" / f"{schema}.context.yaml"
    own = {"invoices": INVOICES, "traffic_fines": ROOT / "docs" / "contexts" / "traffic_fines.yaml"}
    path = own.get(schema, real)
    return read_schema(path), read_records(path)[0]


def of_invoices(sentence: str) -> Readings:
    return read(sentence, *names("invoices"))


def invoices(sentence: str) -> Context:
    """The invoices with a sentence for the whole goal."""
    return with_sentence(load_context(str(INVOICES)), sentence)


def shown_by(readings: Readings) -> dict[str, Any] | None:
    if (found := readings.evidence) is None:
        return None
    told = {
        "channels": sorted(n.name for n in found.channels),
        "operator": found.operator,
        "k": found.k,
        "insufficient": [n.name for n in found.insufficient],
        "unheld": bool(found.unkept) or None,
    }
    return {name: value for name, value in told.items() if value or name == "channels"}


def followed_by(readings: Readings) -> dict[str, Any] | None:
    found = readings.procedure
    if found is None or not found.follows_breach:
        return None
    steps: list[dict[str, Any]] = []
    for step in found.steps:
        told = {
            "stage": step.stage,
            "role": step.role and step.role.name,
            "independent": bool(step.independent),
            "unheld": bool(step.nobody),
        }
        steps.append({name: value for name, value in told.items() if value})
    due = {"response_time": found.time.duration.isoformat()} if found.time and found.time.duration else {}
    return {"steps": steps} | due | ({"without": list(found.without)} if found.without else {})


@pytest.mark.parametrize("row", SENTENCES, ids=[row["text"][:60] for row in SENTENCES])
def test_what_people_say_of_evidence_and_breaches(row: dict[str, Any]) -> None:
    readings = read(row["text"], *names(row["schema"]))
    wanted = row.get("evidence")
    assert shown_by(readings) == (wanted and wanted | {"channels": sorted(wanted["channels"])})
    if procedure := row.get("procedure"):
        held = ("stage", "role", "independent", "unheld")
        steps = [{name: step[name] for name in held if name in step} for step in procedure["steps"]]
        assert followed_by(readings) == procedure | {"steps": steps}
    else:
        assert followed_by(readings) is None
    if "duties" in row:
        assert [declare_name(s.best.template, s.best.count) for s in readings.statements] == row["duties"]


def _with_evidence_and_procedure(rule: Structure, context: Context, rng: random.Random) -> Structure:
    """A random rule with evidence from the logs of a context and with one to four of its schema's steps."""
    logs = [channel.name for channel in context.records.channels]
    channels = rng.sample(logs, rng.randint(1, 3))
    operator = rng.choice(("any", "all", "at_least")) if len(channels) > 1 else "all"
    counted = {"k": rng.randint(1, len(channels))} if operator == "at_least" else {}
    trigger = {"channel": rng.choice(logs)} if rule.trigger.act else {}
    return Structure.model_validate(
        rule.model_dump()
        | {
            "trigger": rule.trigger.model_dump() | trigger,
            "evidence": {"channels": channels, "operator": operator} | counted,
            "procedure": {
                "steps": [_random_step(context.schema, channels, rng) for _ in range(rng.randint(1, 4))],
                "response_time": rng.choice((None, "P2D", "PT1H")),
            },
        }
    )


def _random_step(schema: Schema, channels: Sequence[str], rng: random.Random) -> dict[str, Any]:
    """A step of the schema at the stage that its words are of, or one without a name of its own."""
    stage = rng.choice(("review", "decision", "remedy", "appeal"))
    fitting = [term.name for term in schema.steps if stage_of(schema, term.name) == stage]
    step = {"stage": stage, "name": rng.choice([stage, *fitting]), "role": rng.choice(schema.roles).name}
    return step | ({"inspects": rng.choice((None, *channels))} if stage == "review" else {})


def test_what_the_renderer_writes_is_read_back() -> None:
    rng, right, of_rules = random.Random(31), 0, 0
    for goal in ("GNRS-005", "GNRS-037", "GNRS-065"):
        context = load_context(goal)
        for rule, _, schema in random_rules([context.schema], RULES // 3, 31):
            made = _with_evidence_and_procedure(rule, context, rng)
            text = render(made, Lexicon.of(schema, context.records))
            found = read(text, schema, context.records.channels)
            assert found.evidence is not None
            assert found.procedure is not None
            steps = [
                (s.stage, s.role and s.role.name, s.inspects and s.inspects.name)
                for s in found.procedure.steps
            ]
            due = found.procedure.time.duration if found.procedure.time else None
            opening = made.trigger.channel
            right += (
                {n.name for n in found.evidence.channels} == set(made.evidence.channels)
                and evidence_said(made.evidence, found.evidence)
                and (opening is None or made.evidence.channels == (opening,) or _opens(found, opening))
                and steps == [(s.stage, s.role, s.inspects) for s in made.procedure.steps]
                and due == made.procedure.response_time
            )
            of_rules += 1
            assert len(found.statements) == 1
    assert right >= LEAST_RIGHT * of_rules


def _opens(readings: Readings, channel: str) -> bool:
    return bool(readings.evidence and readings.evidence.opener and readings.evidence.opener.name == channel)


def test_a_condition_of_its_own_is_a_duty_and_the_other_reading_is_told() -> None:
    alone = "If an invoice is not approved within ten days of posting, the approval is chased by the accounts clerk."
    found = of_invoices(alone)
    assert [s.best.targets[0].activity for s in found.statements] == ["EscalateApproval"]
    assert found.procedure is not None
    assert not found.procedure.follows_breach
    after = of_invoices(f"{DUTY}. {alone}")
    assert after.procedure is not None
    assert after.procedure.follows_breach
    assert [s.best.targets[0].activity for s in after.statements] == ["ApproveInvoice"]


@pytest.mark.parametrize(
    "sentence",
    [
        "The book is returned, or else the approval is chased.",
        "If a delivery fails, the goods must be returned.",
        "Approve the invoice, not otherwise.",
    ],
)
def test_other_conditions_open_no_procedure(sentence: str) -> None:
    found = of_invoices(sentence)
    assert found.procedure is None or not found.procedure.follows_breach


def test_words_that_no_step_uses_are_not_read() -> None:
    found = of_invoices(f"{DUTY}. If it is late, the finance manager reviews the telescope.")
    assert [found.words(u.span) for u in found.unread] == ["telescope"]


def _contents(pool: Sequence[Any]) -> list[Any]:
    return [candidate.content for candidate in pool]


def test_pools_hold_only_what_the_sentence_says() -> None:
    context = invoices(
        f"{DUTY}. Both the ERP log and the workflow log must show it. If it is late, the purchasing officer reviews "
        "the file and the finance manager decides within two days."
    )
    pools = build_pools(context).pools
    assert [(set(e.channels), e.operator) for e in _contents(pools.evidence)] == [
        ({"approval_workflow_log", "erp_log"}, "all")
    ]
    assert {tuple((s.stage, s.role) for s in p.steps) for p in _contents(pools.procedure)} == {
        (("review", "purchasing_officer"), ("decision", "finance_manager"))
    }
    assert {p.response_time.isoformat() for p in _contents(pools.procedure)} == {"P2D"}


def test_a_log_that_shows_the_opening_joins_one_that_does_not() -> None:
    draft = gnrs.draft(invoices(f"{DUTY}, as the approval workflow log shows."), kernel="exact")
    assert set(draft.structure.evidence.channels) == {"approval_workflow_log", "erp_log"}
    assert draft.structure.evidence.operator == "all"
    assert draft.said_beside == {"evidence": True}


def test_who_is_bound_has_no_part_in_it() -> None:
    sentence = (
        f"{DUTY}. Where approval or payment went wrong, somebody other than the people concerned looks at the file, "
        "decides, and can be appealed to."
    )
    for procedure in _contents(build_pools(invoices(sentence)).pools.procedure):
        assert [s.stage for s in procedure.steps] == ["review", "decision", "appeal"]
        assert "budget_holder" not in {s.role for s in procedure.steps}
        assert procedure.steps[2].role != procedure.steps[1].role


@pytest.mark.parametrize(
    ("beside", "reason", "told"),
    [
        (", as the badge reader log shows", "no_such_log", "no log like 'badge reader log' is kept"),
        (
            ", as the archive of approval e-mails shows",
            "no_such_log",
            "email_archive shows nothing: 0 of 3,586 rows",
        ),
        (
            ", as the goods receipt log shows",
            "no_such_log",
            "goods_receipt_log cannot record 'ApproveInvoice'",
        ),
        (". At least three of our logs must show it", "no_such_log", "alone records"),
        (
            ". If it is late, the compliance board decides",
            "no_such_role",
            "nobody is called 'compliance board'",
        ),
    ],
)
def test_what_cannot_be_held_is_refused(beside: str, reason: str, told: str) -> None:
    with pytest.raises(Refused) as refused:
        gnrs.draft(invoices(f"{DUTY}{beside}."))
    assert refused.value.reason == reason
    assert told in str(refused.value)


def test_a_person_s_fields_and_pools_stay(capsys: pytest.CaptureFixture[str]) -> None:
    context = load_context(str(INVOICES))
    draft = gnrs.draft(context, kernel="exact")
    assert context.pools is not None
    assert draft.said_beside == {"procedure": True}
    from gnrs_ppl.report.draft import print_draft

    print_draft(draft, [])
    assert "says 3 of 3 read statements" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("rules_alone")
@pytest.mark.parametrize(
    ("goal", "sentence", "said"),
    [
        (
            "GNRS-005",
            "Waiters must check in, unless they spoke to the duty manager, verified by the check-in log.",
            {"evidence": True},
        ),
        (
            "GNRS-051",
            "A visitor must sign the contract within a day of checking in, as the contract log shows. If not, the "
            "caretaker reviews the owner log.",
            {"evidence": True, "procedure": True},
        ),
    ],
)
def test_what_opens_excuses_or_is_looked_into_joins_the_evidence(
    goal: str, sentence: str, said: dict[str, bool]
) -> None:
    assert gnrs.draft(with_sentence(load_context(goal), sentence), kernel="exact").said_beside == said


def test_agreement_can_fail() -> None:
    found = of_invoices(
        f"{DUTY}, as shown by the ERP log or the workflow log. If it is late, the finance manager decides."
    )
    assert found.evidence is not None
    assert found.procedure is not None
    both = ("erp_log", "approval_workflow_log")
    assert evidence_said(EvidencePolicy(channels=both, operator="any"), found.evidence)
    assert not evidence_said(EvidencePolicy(channels=both, operator="all"), found.evidence)
    assert not evidence_said(EvidencePolicy(channels=("erp_log",)), found.evidence)
    step = {"stage": "decision", "name": "decision", "role": "finance_manager"}
    assert procedure_said(Procedure.model_validate({"steps": [step]}), found.procedure, ())
    other = Procedure.model_validate({"steps": [step | {"role": "accounts_clerk"}]})
    assert not procedure_said(other, found.procedure, ())


def test_the_verb_tells_both(capsys: pytest.CaptureFixture[str]) -> None:
    sentence = (
        f"{DUTY}; verified by the approval workflow log. Any breach is reviewed by the finance manager."
    )
    assert run(["read", "--sentence", sentence, "--schema", str(INVOICES)]) == 0
    told = capsys.readouterr().out
    assert "evidence: approval_workflow_log" in told
    assert "after a breach: review by finance_manager" in told
    assert "not read" not in told
