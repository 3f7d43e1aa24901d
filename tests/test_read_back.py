"""What the renderer writes, the reader reads back: random rules on schemas that the model of relations was
not fitted on."""

from __future__ import annotations

from statistics import median

import pytest
from tiers import tier

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.experiments.random_rules import OF_A_CASE, OF_TWO_ACTS, random_rules, stated_by
from gnrs_ppl.experiments.reading import LabelledSentence, stating_scores
from gnrs_ppl.reading import read

pytestmark = pytest.mark.usefixtures("rules_alone")

GOALS = ("GNRS-005", "GNRS-022", "GNRS-037", "GNRS-051", "GNRS-065", "GNRS-079")
RULES = tier(40, 120)
MOST_MISREAD = tier(2, 6)
"""Of 200 with another seed 5 were: with that rate more than 6 of 120 have a chance of 4 %, and the seed is
fixed."""


def test_rule_texts_are_read_back() -> None:
    found = list(random_rules([load_context(goal).schema for goal in GOALS], RULES, 23))
    assert {structure.norm.constraints[0].template for structure, _, _ in found} == {*OF_A_CASE, *OF_TWO_ACTS}
    scores = stating_scores(
        "rendered",
        (
            LabelledSentence("rendered", text, schema, stated_by(structure))
            for structure, text, schema in found
        ),
    )
    assert scores.statements == RULES
    assert scores.right >= RULES - MOST_MISREAD
    assert scores.beside <= MOST_MISREAD
    certain = [s.best.probability for _, text, schema in found for s in read(text, schema).statements]
    assert median(certain) >= 0.99
