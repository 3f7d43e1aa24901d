"""Values of the attributes that rules state conditions on: one for each way the conditions come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise, product
from typing import Any

from gnrs_ppl.context.types import Attribute
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.canonical import conditions_in
from gnrs_ppl.rule.types import Condition, Structure
from gnrs_ppl.rulebook.imagined import Cells, acts_of


def named(structures: Sequence[Structure], attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
    """The attributes that rules state conditions on.

    Raises
    ------
    InputError
        A condition that compares two values of the records.
    """
    conditions = [found for structure in structures for found in conditions_in(structure)]
    for place, condition in conditions:
        if condition.other is not None:
            raise InputError(
                f"compares {condition.attribute!r} with another value of the records, and pairs of rules are "
                "decided where conditions compare with constants",
                "compare with a constant, or audit the rule on a log",
                field=place,
            )
    asked = {condition.attribute for _, condition in conditions}
    return tuple(attribute for attribute in attributes if attribute.name in asked)


def of_events(
    structures: Sequence[Structure], attributes: Sequence[Attribute]
) -> dict[str, tuple[Cells, ...]]:
    """What rows of each act may record of their own."""
    patterns = [p for structure in structures for act in acts_of(structure) for p in act.patterns]
    found = {}
    for activity in dict.fromkeys(pattern.activity for pattern in patterns):
        asked = [c for pattern in patterns if pattern.activity == activity for c in pattern.where]
        found[activity] = _combined([a for a in attributes if a.of == "event"], asked)
    return found


def of_cases(structures: Sequence[Structure], attributes: Sequence[Attribute]) -> tuple[Cells, ...]:
    """What may be recorded of a case."""
    asked = [condition for structure in structures for _, condition in conditions_in(structure)]
    return _combined([a for a in attributes if a.of == "case"], asked)


def met(condition: Condition, cells: Cells) -> bool:
    """Whether a row with these cells may meet a condition: not where its cell says that it does not."""
    if condition.attribute not in dict(cells):
        return True  # recorded of the case
    cell = dict(cells)[condition.attribute]
    if cell is None or condition.test == "recorded":
        return cell is not None
    numbers = isinstance(condition.value[0], Decimal)
    value: Any = Decimal(cell) if numbers else cell  # days as text lie in the order of the days
    first: Any = condition.value[0]
    last: Any = condition.value[-1]
    outcomes: dict[str, bool] = {
        "equal": value == first,
        "not_equal": value != first,
        "one_of": value in condition.value,
        "between": first <= value <= last,
        "less": value < first,
        "at_most": value <= first,
        "more": value > first,
        "at_least": value >= first,
    }
    return outcomes[condition.test]


def _combined(attributes: Sequence[Attribute], conditions: Sequence[Condition]) -> tuple[Cells, ...]:
    """Every combination of one cell of each attribute that a condition is on."""
    columns = []
    for attribute in attributes:
        asked = [condition for condition in conditions if condition.attribute == attribute.name]
        if asked:
            columns.append([(attribute.name, cell) for cell in _cells(attribute, asked)])
    return tuple(product(*columns))


def _cells(attribute: Attribute, conditions: Sequence[Condition]) -> Iterator[str | None]:
    """Each constant, one value between each two, one below and one above; an empty cell where it is asked
    whether there is one.
    """
    constants = dict.fromkeys(value for condition in conditions for value in condition.value)
    if attribute.type == "boolean":
        yield from ("true", "false")
    elif attribute.type == "number":
        yield from map(_plain, _around(sorted(Decimal(value) for value in constants)))
    elif attribute.type == "date":
        yield from _days(sorted(date.fromisoformat(str(value)) for value in constants))
    else:
        yield from map(str, constants)
        yield next(name for name in _others() if name not in constants)
    if any(condition.test == "recorded" for condition in conditions):
        yield None


def _around(numbers: Sequence[Decimal]) -> list[Decimal]:
    if not numbers:
        return [Decimal(1)]
    between = [(low + high) / 2 for low, high in pairwise(numbers)]
    return sorted({numbers[0] - 1, *numbers, *between, numbers[-1] + 1})


def _days(days: Sequence[date]) -> Iterator[str]:
    """Each day, the one before and the one after, as far as there are such."""
    first, last = date.min.toordinal(), date.max.toordinal()
    near = {day.toordinal() + step for day in days for step in (-1, 0, 1)} or {date(2024, 1, 1).toordinal()}
    yield from (date.fromordinal(day).isoformat() for day in sorted(near) if first <= day <= last)


def _others() -> Iterator[str]:
    name = "something else"
    while True:
        yield name
        name += " still"


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"
