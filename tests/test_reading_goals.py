"""Sentences on the scenes of the dev goals and on real logs, each read for what one general mend was made for."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import pytest

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.candidates.source import Material
from gnrs_ppl.candidates.stated import openers, stated
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.time import Duration
from gnrs_ppl.experiments.reading import EMPTY, HERE
from gnrs_ppl.reading import Reading
from gnrs_ppl.reading.clauses import clauses
from gnrs_ppl.reading.goal import ways
from gnrs_ppl.reading.reader import read

pytestmark = pytest.mark.usefixtures("rules_alone")

TEN_MINUTES, HALF_AN_HOUR, TWO_HOURS = Duration(seconds=600), Duration(seconds=1800), Duration(seconds=7200)


@lru_cache
def scene(name: str) -> Context:
    log = HERE / "real_logs" / f"{name}.context.yaml"
    return load_context(str(log) if log.is_file() else name)


def said(name: str, sentence: str) -> list[Reading]:
    """The likeliest reading of each statement."""
    return [s.best for s in read(sentence, scene(name).schema).statements]


def told(readings: list[Reading]) -> set[tuple[str, ...]]:
    """Templates with their acts."""
    return {(r.template, *r.activities) for r in readings}


@pytest.mark.parametrize(
    ("name", "sentence", "first"),
    [
        (
            "GNRS-066",
            "A farm worker harvests lettuce and checks out within two hours of that, and must not trade.",
            "Harvest",
        ),
        (
            "GNRS-052",
            "A visitor signs the contract at the boundary gate, checks in within ten minutes of that, and must not "
            "trade parcels.",
            "SignContract",
        ),
    ],
)
def test_a_time_from_one_act_to_the_next_is_none_for_the_first(name, sentence, first):
    timed = {r.activities[-1] for r in said(name, sentence) if r.time is not None}
    assert timed
    assert first not in timed


@pytest.mark.parametrize(
    ("name", "sentence", "others"),
    [
        ("GNRS-092", "Within an hour of the siren, the square must be patrolled by patrol members.", True),
        ("GNRS-092", "The square must be patrolled by patrol members.", False),
        ("GNRS-052", "Within an hour of the bell, couriers must deliver parcels at the boundary gate.", True),
        ("GNRS-052", "Couriers must deliver parcels at the boundary gate.", False),
    ],
)
def test_a_signal_that_no_log_shows_is_sooner_given_by_others(name, sentence, others):
    """Of the acts that stand in for what is said to open, those of others come first after a signal, and else those
    of the ones who are bound.
    """
    context = scene(name)
    goal = context.goal.model_copy(update=EMPTY | {"intent": sentence})
    material = Material(replace(context, goal=goal, scene=context))
    _, readings = next(ways(material.readings))
    likely = material.openers_of_others if others else material.usual_openers
    usual = [o for o in openers(material, readings) if not o.said and o.activity]
    fits = {kind: [o.fits for o in usual if (o.activity in likely) is kind] for kind in (True, False)}
    assert fits[True]
    assert min(fits[True]) > max(fits[False], default=0.0) + 0.2


@pytest.mark.parametrize(
    ("name", "sentence", "role"),
    [
        (
            "GNRS-052",
            "The caretaker must publish a task for every delivery, and a courier without such a task must not "
            "deliver.",
            "caretaker",
        ),
        (
            "GNRS-037",
            "A courier must not deliver anything before the sale. The shopkeeper has to trade first.",
            "shopkeeper",
        ),
        (
            "GNRS-052",
            "Every courier must check in. No courier may deliver before having checked in.",
            "courier",
        ),
    ],
)
def test_what_comes_first_is_asked_of_whoever_must_do_it(name, sentence, role):
    """A ban on some may wait for an act that others are asked to do."""
    reading = next(r for r in said(name, sentence) if r.template == "precedence")
    assert {n.name for n in reading.bearers} == {"courier"}
    (target,) = reading.targets
    assert target.role is not None
    assert target.role.name == role


def test_a_rule_states_who_must_have_done_what_comes_first():
    context = scene("GNRS-038")
    sentence = "The duty manager must publish a task for each run, and a courier without such a task must not deliver."
    goal = context.goal.model_copy(update=EMPTY | {"intent": sentence})
    proposed = stated(Material(replace(context, goal=goal, scene=context)))
    likeliest = next(p.content for p in proposed if p.slot == "norm")
    (constraint,) = likeliest["constraints"]
    assert constraint["template"] == "precedence"
    assert constraint["target"] == {"activity": "PublishTask", "role": "duty_manager"}
    assert constraint["correlate"] == "same_case"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "GNRS-052",
            "Please drop the parcels off at the boundary gate, and sign out within ten minutes of that.",
        ),
        ("GNRS-037", "A courier must deliver the parcels at the shop, and then check out."),
    ],
)
def test_a_place_behind_one_act_is_none_of_the_next(name, sentence):
    acts = [a for r in said(name, sentence) for a in (*r.targets, *([r.activation] if r.activation else []))]
    assert {a.activity for a in acts} == {"Deliver", "CheckOut"}
    for act in acts:
        assert (act.location is not None) == (act.activity == "Deliver")


@pytest.mark.parametrize(
    ("sentence", "kinds"),
    [
        ("Workers must check out, so the foreman also hears of it.", ["main", "purpose"]),
        ("It must be told aloud, so the deaf follow it too.", ["main", "purpose"]),
        ("Parcels went missing, so the courier arrives within an hour.", ["main", "main"]),
    ],
)
def test_what_a_duty_leads_to_is_its_purpose(sentence, kinds):
    assert [c.kind for c in clauses(sentence, 0, len(sentence)) if c.kind in ("main", "purpose")] == kinds
