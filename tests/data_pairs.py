"""Random (rule, log) pairs with conditions on data and persons: the pairs of ``pairs.py`` with attributes on the
rows, a few of them empty, unreadable or contradicted, and conditions on every act of the rule (D entries).
"""

from __future__ import annotations

import random
from typing import Any

from pairs import random_pair

from gnrs_ppl.context.log import Event
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.rule.types import MUTUAL, NEIGHBOURS, Structure

ATTRIBUTES: list[dict[str, str]] = [
    {"name": "amount", "type": "number", "unit": "EUR"},
    {"name": "limit", "type": "number", "unit": "EUR"},
    {"name": "sort", "type": "text"},
    {"name": "checked", "type": "boolean"},
    {"name": "valid", "type": "date"},
    {"name": "region", "type": "text", "of": "case"},
    {"name": "budget", "type": "number", "unit": "EUR", "of": "case"},
]
CELLS: dict[str, tuple[str, ...]] = {
    "amount": ("10", "20", "20.00", "20.5", "30", "1e2"),
    "limit": ("10", "20", "30.0", "n/a"),
    "sort": ("red", "blue", "red"),
    "checked": ("true", "FALSE", "yes"),
    "valid": ("2024-01-30", "2024-01-31T10:00:00Z", "2024-02-01", "soon"),
    "region": ("north", "south"),
    "budget": ("20", "20.0", "30"),
}
PLAIN: list[dict[str, Any]] = [
    {"attribute": "amount", "test": "more", "value": 10},
    {"attribute": "amount", "test": "at_most", "value": 20.5, "unit": "EUR"},
    {"attribute": "amount", "test": "equal", "value": 20},
    {"attribute": "amount", "test": "not_equal", "value": 20},
    {"attribute": "amount", "test": "between", "value": [10, 20]},
    {"attribute": "amount", "test": "recorded"},
    {"attribute": "amount", "test": "less", "other": "limit"},
    {"attribute": "amount", "test": "at_least", "other": "budget"},
    {"attribute": "sort", "test": "one_of", "value": ["red", "green"]},
    {"attribute": "checked", "test": "equal", "value": True},
    {"attribute": "checked", "test": "recorded"},
    {"attribute": "valid", "test": "at_least", "value": "2024-01-31"},
    {"attribute": "valid", "test": "less", "value": "2024-02-01"},
    {"attribute": "region", "test": "equal", "value": "north"},
    {"attribute": "budget", "test": "recorded"},
]
AGAINST: list[dict[str, Any]] = [
    {"attribute": "amount", "test": test, "other": {"attribute": other, "of": "activation"}}
    for test, other in (
        ("at_most", "amount"),
        ("more", "amount"),
        ("equal", "amount"),
        ("not_equal", "limit"),
        ("less", "limit"),
    )
] + [{"attribute": "sort", "test": "equal", "other": {"attribute": "sort", "of": "activation"}}]
OF_CASE: list[dict[str, Any]] = [
    {"attribute": "region", "test": "equal", "value": "north"},
    {"attribute": "budget", "test": "more", "value": 20},
    {"attribute": "budget", "test": "recorded"},
]


def data_pair(
    seed: int, template: str, operator: str, cases: int = 16
) -> tuple[Structure, RecordLayer, list[Event]]:
    """The pair of a seed for one template and operator."""
    structure, records, events = random_pair(seed, template, operator, cases)
    rng = random.Random(f"data {seed} {template} {operator}")
    layer = records.model_dump() | {"attributes": ATTRIBUTES}
    if rng.random() < 0.5:
        layer["automatic"] = ["bot"]
    return (
        _conditioned(rng, structure),
        RecordLayer.model_validate(layer),
        _with_cells(rng, [_by_bot(rng, row) for row in events]),
    )


def _conditioned(rng: random.Random, structure: Structure) -> Structure:
    """The rule with conditions on some of its acts, at least one, and now and then about another person."""
    rule = structure.model_dump()
    (constraint,) = rule["norm"]["constraints"]
    template, case_start = constraint["template"], rule["trigger"]["act"] is None
    plain = template in (*NEIGHBOURS, *MUTUAL)
    if (
        not (case_start or template in NEIGHBOURS or "chain" in template or constraint["after"])
        and rng.random() < 0.4
    ):
        constraint["correlate"] = "different_resource"
    choices = PLAIN if plain or (case_start and not constraint["after"]) else [*PLAIN, *AGAINST, *AGAINST]

    def put(act: dict[str, Any] | None, among: list[dict[str, Any]], chance: float) -> None:
        for pattern in [] if act is None else act.get("any_of", [act]):
            if rng.random() < chance:
                pattern["where"] = rng.sample(among, rng.choice((1, 1, 2)))

    put(constraint["target"], choices, 0.7)
    put(constraint["unless"], choices, 0.4)
    put(rule["trigger"]["act"], PLAIN, 0.25)
    put(constraint["after"] and constraint["after"]["act"], PLAIN, 0.3)
    if template not in MUTUAL and rng.random() < 0.25:
        rule["scope"]["where"] = [rng.choice(OF_CASE)]
    return Structure.model_validate(rule)


def _by_bot(rng: random.Random, row: Event) -> Event:
    return row._replace(resource="bot") if row.resource and rng.random() < 0.12 else row


def _with_cells(rng: random.Random, events: list[Event]) -> list[Event]:
    """The rows with a cell for each attribute; what is of a case stands on few of its rows, and mostly alike."""
    of_case = {
        (row.case_id, a["name"]): rng.choice(CELLS[a["name"]])
        for row in events
        for a in ATTRIBUTES
        if a.get("of")
    }
    rows = []
    for row in events:
        cells: list[str | None] = []
        for attribute in ATTRIBUTES:
            name = attribute["name"]
            usual, *odd = rng.sample(CELLS[name], 2)
            if attribute.get("of"):
                usual = of_case[row.case_id, name] if rng.random() < 0.98 else odd[0]
                cells.append(usual if rng.random() < 0.3 else None)
            else:
                cells.append(usual if rng.random() < 0.93 else None)
        rows.append(row._replace(attributes=tuple(cells)))
    return rows
