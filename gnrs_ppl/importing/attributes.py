"""Columns beside those that every log has, proposed as attributes on which rules may state conditions."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from gnrs_ppl.context.types import AttributeType
from gnrs_ppl.importing.derive import Derived, make_speakable
from gnrs_ppl.importing.events import NOTHING, Attribute, Events, is_name
from gnrs_ppl.importing.phrases import speakable
from gnrs_ppl.reading.figures import unit_of
from gnrs_ppl.reading.vocabulary import name_words
from gnrs_ppl.words import UNIT_LENGTHS

MOST_VALUES = 32
"""Different texts from which a column holds names or remarks, and no kinds of things."""
MOST_PROPOSED = 32
FROM_THE_START = 0.95
"""Share of the cases that have a value from which it is known with their first row, and is one of the case."""
_PERSONS = re.compile(
    "user|person|employee|resource|staff|name|surname|email|mail|phone|owner|clerk|agent|officer|handler|creator|author|"
    "customer|client|patient|applicant|member|contact|address|assignee|signee|manager|supervisor|birth"
)
_NUMBERS_OF_THINGS = re.compile("ids?|uuid|guid|key|no|nr|number|num|index|row|order|zip|postcode|hash|url")
_KINDS = re.compile("article|class|type|category|kind|level|grade|status|code|group|priority")
"""Numbers of these are names of kinds, which nobody adds up."""
_UNIT = frozenset({"EUR", "USD", "GBP", "CHF", "SEK", "percent", "kg", "km", *UNIT_LENGTHS})
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?")


class _Column(NamedTuple):
    """A column as an attribute: its type, with what speaks for it."""

    type: AttributeType
    why: str
    confidence: float
    values: tuple[str, ...] = ()


def propose_attributes(events: Events, derived: Derived) -> None:
    """State as attributes what rules can compare: numbers, dates, true and false, texts of few values.

    Left out are what the columns of every log hold already, one value throughout, numbers that only name things, texts of
    many values, and persons.
    """
    taken = {guess.value for column, guess in events.columns.items() if column != "value"} | set(events.made)
    found: list[dict[str, Any]] = []
    for attribute in events.attributes:
        started = events.lifecycle.rows and (
            attribute.name == "started" or attribute.name.startswith("start:")
        )
        if attribute.name in taken or started or len(found) == MOST_PROPOSED:
            continue
        column = _column(attribute, events)
        if column is not None:
            found.append(_stated(attribute, column, events, derived, {a["name"] for a in found}))
    if found:
        derived.data["records"]["attributes"] = found
        told = {f"column {a.get('column', a['name'])!r}:" for a in found}
        derived.below["records",] = [
            line for line in derived.below["records",] if not any(line.startswith(t) for t in told)
        ]
        make_speakable(derived)


def _column(attribute: Attribute, events: Events) -> _Column | None:
    words = _words(attribute.name)
    if attribute.kind == "empty" or attribute.distinct < 2 or _any(_PERSONS, words):
        return None
    if _same_cells(attribute, events):
        return None
    rows = events.rows - attribute.nulls
    kinds = _any(_KINDS, words)
    named = attribute.kind == "integer" and kinds and attribute.distinct <= MOST_VALUES
    if attribute.kind in ("integer", "number") and not named:
        if _any(_NUMBERS_OF_THINGS, words):
            return None
        if attribute.kind == "integer" and attribute.distinct == rows > 1:
            return None  # each row its own: a number of the row
        return _Column("number", f"numbers, {attribute.low} to {attribute.high}", 0.8)
    values = _values(attribute, events)
    if values and {v.lower() for v in values} == {"true", "false"}:
        return _Column("boolean", "true and false", 0.9)
    if attribute.kind == "text" and _all_dates(attribute, events):
        return _Column("date", f"dates, {attribute.low[:10]} to {attribute.high[:10]}", 0.8)
    if not values or _any(_NUMBERS_OF_THINGS, words) or len(values) * 2 > rows:
        return None
    return _Column("text", f"{len(values)} different texts", 0.7, values)


def _any(named: re.Pattern[str], words: tuple[str, ...]) -> bool:
    return any(map(named.fullmatch, words))


def _words(name: str) -> tuple[str, ...]:
    return name_words(name.removeprefix("case:"))


def _values(attribute: Attribute, events: Events) -> tuple[str, ...]:
    """The texts of a column in the order of how often they stand, none where they are many or no names."""
    if attribute.distinct > MOST_VALUES:
        return ()
    cell = events.staging.cell(attribute.name)
    rows = events.staging.connection.execute(
        f"SELECT {cell}, count(*) AS n FROM raw WHERE {cell} IS NOT NULL GROUP BY ALL ORDER BY n DESC, 1"
    ).fetchall()
    values = tuple(value for value, _ in rows if value.strip().lower() not in NOTHING)
    return values if len(values) > 1 and all(map(is_name, values)) else ()


def _same_cells(attribute: Attribute, events: Events) -> bool:
    """Whether a column holds the activities once more."""
    cell, activity = events.staging.cell(attribute.name), events.cell("activity")
    others = events.staging.one(f"SELECT count(*) FROM raw WHERE {cell} IS DISTINCT FROM {activity}")
    return bool(others[0] == 0)


def _all_dates(attribute: Attribute, events: Events) -> bool:
    cell = events.staging.cell(attribute.name)
    others = events.staging.one(
        f"SELECT count(*) FROM raw WHERE {cell} IS NOT NULL AND NOT regexp_full_match({cell}, $form)",
        {"form": _TIME.pattern},
    )
    return bool(others[0] == 0)


def _stated(
    attribute: Attribute, column: _Column, events: Events, derived: Derived, taken: set[str]
) -> dict[str, Any]:
    """An attribute as a context file states it."""
    where = events.renamed(attribute.name)
    short = attribute.name.removeprefix("case:")
    name = short if is_name(short) and short not in taken else where
    words = " ".join(_words(attribute.name))
    unit = (
        attribute.unit or next((u for w in _words(attribute.name) if (u := unit_of(w)) in _UNIT), None)
        if column.type == "number"
        else None
    )
    of, why = _of(attribute, events)
    derived.note(
        ("records", "attributes", name),
        "attribute",
        column.confidence,
        f"{column.why}, {attribute.nulls:,} empty; {why}",
    )
    stated: dict[str, Any] = {"name": name}
    stated |= {"phrase": words} if words and words != name and speakable(words) else {}
    stated |= {"type": column.type}
    stated |= {"unit": unit} if unit else {}
    stated |= {"of": "case"} if of == "case" else {}
    stated |= {"column": where} if where != name else {}
    return stated | ({"values": list(column.values)} if column.values else {})


def _of(attribute: Attribute, events: Events) -> tuple[Literal["event", "case"], str]:
    """Whether it is one of the case: the same wherever it stands in a case, and known from the start."""
    cell, case = events.staging.cell(attribute.name), events.cell("case_id")
    changing, having, first = events.staging.one(
        f"""SELECT count(*) FILTER (n > 1), count(*), count(*) FILTER (at_start) FROM (
              SELECT count(DISTINCT value) AS n, min(moment) FILTER (value IS NOT NULL) = min(moment) AS at_start
              FROM (SELECT {case} AS c, {cell} AS value, coalesce(seen.instant, 0) AS moment
                    FROM raw JOIN seen USING (row)) GROUP BY c HAVING count(value) > 0)"""
    )
    if changing:
        return "event", f"differs within {changing:,} of {having:,} cases"
    if attribute.name.startswith("case:") or first >= FROM_THE_START * having:
        return "case", f"one value in each of {having:,} cases"
    return "event", f"first recorded later in {having - first:,} of {having:,} cases"
