"""What a log makes likely: a threshold that parts cases, a pair of acts never done by one person; nothing where
chance would do.
"""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import yaml
from test_drafting_data import CONTEXT

import gnrs_ppl as gnrs
from gnrs_ppl.candidates.build import build_pools
from gnrs_ppl.candidates.likely import Suggestion, suggestions
from gnrs_ppl.candidates.source import Material
from gnrs_ppl.context.load import load_context
from gnrs_ppl.posterior.condition import read_pins

PEOPLE = [f"r{n}" for n in range(5)]


def material(folder: Path, *, decided: bool, apart: bool, cases: int = 200, noise: float = 0.02) -> Material:
    """Invoices that are posted, and paid where the amount is above 500 (``decided``), by another person
    (``apart``); else as chance has it.
    """
    rng = random.Random(7)
    lines = ["case_id,activity,timestamp,role,resource,amount"]
    for case in range(cases):
        at, amount = datetime(2024, 1, 1) + timedelta(hours=case), rng.choice((50, 500, 500.5, 5000))
        who = rng.choice(PEOPLE)
        lines.append(f"c{case},Post,{at.isoformat()},clerk,{who},{amount}")
        wanted = amount > 500 if decided else rng.random() < 0.5
        if wanted is not (rng.random() < noise):
            other = rng.choice([p for p in PEOPLE if p != who] if apart else PEOPLE)
            lines.append(f"c{case},Pay,{(at + timedelta(hours=1)).isoformat()},clerk,{other},")
    (folder / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    data = CONTEXT | {"records": CONTEXT["records"] | {"attributes": [CONTEXT["records"]["attributes"][0]]}}
    (folder / "context.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return Material(load_context(folder / "context.yaml"))


def found(folder: Path, **how: bool | int) -> list[Suggestion]:
    return list(suggestions(material(folder, **how)))  # type: ignore[arg-type]


def test_a_threshold_that_parts_the_cases_is_offered(tmp_path: Path) -> None:
    (offered,) = found(tmp_path, decided=True, apart=False)
    assert offered.slot == "trigger"
    assert offered.pin == "trigger.where=amount more 500"
    lines = (tmp_path / "log.csv").read_text().splitlines()
    posted = {line.split(",")[0]: float(line.split(",")[5]) for line in lines if ",Post," in line}
    paid = {line.split(",")[0] for line in lines if ",Pay," in line}
    above = {case for case, amount in posted.items() if amount > 500}
    up_to = posted.keys() - above
    assert offered.because == (
        f"with amount above 500 EUR Pay follows Post in {len(above & paid)} of {len(above)} cases, "
        f"else in {len(up_to & paid)} of {len(up_to)}"
    )


def test_two_acts_that_nobody_does_in_one_case_are_offered(tmp_path: Path) -> None:
    (offered,) = found(tmp_path, decided=False, apart=True)
    assert offered.pin == "norm.correlate=different_resource"
    lines = (tmp_path / "log.csv").read_text().splitlines()
    paid = sum(",Pay," in line for line in lines)
    assert offered.because.startswith(
        f"in none of {paid} cases one person did both Post and Pay, though 5 do both in different cases; by chance"
    )


def test_what_chance_would_do_is_not_offered(tmp_path: Path) -> None:
    assert found(tmp_path, decided=False, apart=False) == []
    assert found(tmp_path, decided=True, apart=True, cases=8) == []


def test_what_is_offered_is_told_and_drafted_only_where_a_pin_asks_for_it(tmp_path: Path) -> None:
    context = material(tmp_path, decided=True, apart=True).context
    pools, _, _, suggested = build_pools(context)
    assert {s.slot for s in suggested} == {"trigger", "norm"}
    assert not any(c.content.act and c.content.act.where for c in pools.trigger)
    assert not any("different_resource" in c.model_dump_json() for c in pools.norm)

    pins = read_pins([s.pin for s in suggested], [])
    plain, asked = (gnrs.draft(context, kernel="exact", chains=1, steps=1, pins=p) for p in ((), pins))
    assert plain.built.suggested == suggested
    assert asked.built.suggested == ()
    assert "(where the amount is more than 500)" in asked.text
    assert "both by different people" in asked.text
    assert asked.grounding.gate == plain.grounding.gate

    lines = [line.split(",") for line in (tmp_path / "log.csv").read_text().splitlines()[1:]]
    paid = {line[0]: line[4] for line in lines if line[1] == "Pay"}
    posted = {line[0]: line[4] for line in lines if line[1] == "Post" and float(line[5]) > 500}
    kept = sum(paid.get(case, who) != who for case, who in posted.items())
    counts = gnrs.audit(asked.structure, context).counts
    assert (counts["satisfied"], sum(counts.values()) - counts.get("not_activated", 0)) == (kept, len(posted))


@pytest.mark.usefixtures("rules_alone")
@pytest.mark.parametrize(
    ("sentence", "slots"),
    [
        ("Invoices must be paid within five days after they were posted.", {"trigger", "norm"}),
        ("Invoices must be paid by another person within five days after they were posted.", {"trigger"}),
        ("Invoices above 100 euros must be paid within five days after they were posted.", {"norm"}),
    ],
)
def test_a_sentence_is_not_drawn_to_what_is_offered(tmp_path: Path, sentence: str, slots: set[str]) -> None:
    context = material(tmp_path, decided=True, apart=True).context
    goal = context.goal.model_copy(update={"intent": sentence, "required": ()})
    drafted = gnrs.draft(replace(context, goal=goal), kernel="exact", chains=1, steps=1)
    assert {s.slot for s in drafted.built.suggested} == slots
    assert all(drafted.said)
    assert "more than 500" not in drafted.text
    assert ("different people" in drafted.text) == ("another" in sentence)
