"""Readings as plain data and in plain words: DECLARE's spelling of templates, JSON, the reason why nothing
was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from gnrs_ppl.context.time import Duration
from gnrs_ppl.reading.types import Joint, Reading, Readings, Span
from gnrs_ppl.reading.vocabulary import ENOUGH
from gnrs_ppl.rule.types import Condition, Template

_SPELLED = {"coexistence": "CoExistence", "not_coexistence": "NotCoExistence"}
_WHY: dict[str, str] = {
    "no_duty": "the sentence states no duty or ban that acts show",
    "no_such_field": "what it asks depends on something that no act and no field of the log shows",
    "no_such_role": "it is about somebody whom the schema names no role for",
    "time_not_read": "its time is none that a rule can hold",
}
_COUNTED = {("existence", 1): "AtLeastOne", ("absence", 2): "AtMostOne"}


def declare_name(template: Template, count: int = 1, joint: Joint = "all") -> str:
    """A template as DECLARE spells it: one occurrence or more is AtLeastOne, no second one (absence of 2)
    AtMostOne, of any Choice.
    """
    if template == "existence" and joint == "any":
        return "Choice"
    camel = "".join(part.capitalize() for part in template.split("_"))
    return _COUNTED.get((template, count)) or _SPELLED.get(template) or camel


def as_data(readings: Readings) -> dict[str, Any]:
    """Readings as JSON holds them: a span is ``[start, end]`` with its words, a duration ISO 8601."""
    return _fields(readings, [f.name for f in fields(readings)], readings) | {"reason": why_nothing(readings)}


def _plain(value: Any, readings: Readings) -> Any:
    if isinstance(value, Span):
        return {"span": list(value), "words": readings.words(value)}
    if isinstance(value, Duration):
        return value.isoformat()
    if isinstance(value, Condition):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, Reading):
        spelled = {
            "declare": declare_name(value.template, value.count, value.joint),
            "activities": list(value.activities),
        }
        return spelled | _fields(value, [f.name for f in fields(value)], readings)
    if is_dataclass(value):
        return _fields(value, [f.name for f in fields(value)], readings)
    if hasattr(value, "_fields"):
        return _fields(value, value._fields, readings)
    return [_plain(item, readings) for item in value] if isinstance(value, tuple) else value


def _fields(value: Any, names: Sequence[str], readings: Readings) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for name in names:
        plain = _plain(getattr(value, name), readings)
        data |= plain if name == "span" else {name: plain}
    return data


def why_nothing(readings: Readings) -> str:
    """Why nothing was read, in one line; empty where something was."""
    if readings.nothing == "no_such_role" and readings.unheld:
        return f"'{readings.words(readings.unheld[0].span)}': {readings.unheld[0].why}"
    if readings.nothing == "no_such_act":
        missed = next((u for u in readings.unread if u.nearest), None)
        if missed is None:
            words = " … ".join(readings.words(u.span) for u in readings.unread[:4])
            return f"no act like '{words}' is in the schema"
        if missed.score >= ENOUGH:
            return f"the sentence names {missed.nearest}, but what it asks of it was not read"
        near = f"nearest {missed.nearest} ({missed.score:.2f})"
        return f"no act like '{readings.words(missed.span)}' is in the schema, {near}"
    return _WHY.get(readings.nothing, "")
