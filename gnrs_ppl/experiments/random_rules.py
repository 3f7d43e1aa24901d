"""Random rules over a schema and their texts: what the renderer writes, for the reader to learn from and to
be tested on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Channel, RecordLayer, Schema, Term
from gnrs_ppl.errors import InputError
from gnrs_ppl.reading.plain import declare_name
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import render
from gnrs_ppl.rule.types import LOOK_BACK, Structure

OF_A_CASE = ("existence", "absence", "init", "end")
OF_TWO_ACTS = (
    "response",
    "precedence",
    "responded_existence",
    "chain_response",
    "chain_precedence",
    "not_response",
    "not_precedence",
    "not_coexistence",
    "coexistence",
    "succession",
)
_LOGS = RecordLayer(
    log="events.csv",
    channels=(Channel(name="case_log", phrase="case log"), Channel(name="desk_log", phrase="desk log")),
)
_STEPS = (Term(name="review", phrase="review"), Term(name="decision", phrase="decision"))
_DEADLINES = (None, None, Duration(seconds=600), Duration(seconds=7200), Duration(days=1), Duration(days=14))


def random_rules(schemas: Sequence[Schema], count: int, seed: int) -> Iterator[tuple[Structure, str, Schema]]:
    """So many rules with their texts, each over one of the schemas."""
    rng = random.Random(seed)
    while count:
        schema = rng.choice(schemas)
        if made := _random_rule(schema, rng):
            count -= 1
            yield *made, schema


def _random_rule(schema: Schema, rng: random.Random) -> tuple[Structure, str] | None:
    """A rule of one constraint on acts of a schema, and its text; None where the schema's words do not go
    together in rule texts.
    """
    target, opener = rng.sample([a.name for a in schema.actions if a.phrase], 2)
    template = rng.choice(OF_A_CASE + 2 * OF_TWO_ACTS)
    constraint: dict[str, Any] = {"template": template, "target": {"activity": target}}
    if template in ("existence", "absence"):
        constraint["count"] = rng.choice((1, 1, 2))
    if template not in ("init", "end", "chain_response", "chain_precedence", "coexistence", "succession"):
        constraint["deadline"] = rng.choice(_DEADLINES) if template in OF_TWO_ACTS else None
    trigger: dict[str, Any] = {}
    if template in OF_TWO_ACTS:
        trigger = {"act": {"activity": opener}, "channel": "case_log", "once": rng.choice(("first", "each"))}
    bound = [r.name for r in rng.sample(schema.roles, rng.randint(0, min(2, len(schema.roles))))]
    office = {"bearer": {"role": rng.choice(schema.roles).name}} if rng.random() < 0.3 else {}
    content = {
        "scope": {"roles": bound},
        "trigger": trigger,
        "norm": {"force": rng.choice(("must", "must", "should")), "constraints": [constraint]} | office,
        "evidence": {"channels": rng.choice((["case_log"], ["case_log", "desk_log"]))},
        "procedure": {
            "steps": [
                {
                    "stage": "review",
                    "name": "review",
                    "role": rng.choice(schema.roles).name,
                    "inspects": "case_log",
                },
                {"stage": "decision", "name": "decision", "role": rng.choice(schema.roles).name},
            ],
            "response_time": Duration(days=3),
        },
    }
    structure = Structure.model_validate(content)
    try:
        return structure, render(structure, Lexicon.of(schema.model_copy(update={"steps": _STEPS}), _LOGS))
    except InputError:
        return None


def stated_by(structure: Structure) -> list[Mapping[str, Any]]:
    """The constraints of a rule as sentences with gold constraints list them: template in DECLARE's
    spelling, acts in its order.
    """
    opener = list(structure.trigger.act.activities) if structure.trigger.act else []
    stated: list[Mapping[str, Any]] = []
    for c in structure.norm.constraints:
        target = list(c.target.activities)
        acts = [*target, *opener] if c.template in LOOK_BACK else [*opener, *target]
        stated.append({"template": declare_name(c.template, c.count), "activities": acts, "count": c.count})
    return stated
