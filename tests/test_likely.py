"""What a log makes likely: a threshold that parts cases, a pair of acts never done by one person; nothing where
chance would do.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

import yaml
from test_drafting_data import CONTEXT

from gnrs_ppl.candidates.build import build_pools
from gnrs_ppl.candidates.likely import likely
from gnrs_ppl.candidates.source import Material, ProposedCandidate
from gnrs_ppl.context.load import load_context

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


def found(folder: Path, **how: bool | int) -> list[ProposedCandidate]:
    return list(likely(material(folder, **how)))  # type: ignore[arg-type]


def test_a_threshold_that_parts_the_cases_is_offered(tmp_path: Path) -> None:
    (offered,) = found(tmp_path, decided=True, apart=False)
    assert offered.slot == "trigger"
    assert offered.content["act"]["where"] == [{"attribute": "amount", "test": "more", "value": 500}]
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
    assert offered.content["constraints"][0]["correlate"] == "different_resource"
    lines = (tmp_path / "log.csv").read_text().splitlines()
    paid = sum(",Pay," in line for line in lines)
    assert offered.because.startswith(
        f"in none of {paid} cases one person did both Post and Pay, though 5 do both in different cases; by chance"
    )


def test_what_chance_would_do_is_not_offered(tmp_path: Path) -> None:
    assert found(tmp_path, decided=False, apart=False) == []
    assert found(tmp_path, decided=True, apart=True, cases=8) == []


def test_what_is_offered_is_told_and_not_drafted(tmp_path: Path) -> None:
    built = build_pools(material(tmp_path, decided=True, apart=True).context)
    dropped = {item.slot: item for item in built.dropped if "does not weigh" in item.reason}
    assert "with amount above 500" in dropped["trigger"].candidate
    assert "in none of" in dropped["norm"].candidate
