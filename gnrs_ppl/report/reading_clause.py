"""A reading in the words that the text of a rule would use for it: what a person sees in place of templates
and recorded names.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar, cast

from pydantic import ValidationError

from gnrs_ppl.reading.types import ActRead, DataOf, Named, Reading, Readings, Unread
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.phrases import Worded
from gnrs_ppl.realize.text import render
from gnrs_ppl.report.reading import reading_in_words
from gnrs_ppl.rule.types import Structure

Read = TypeVar("Read")
KINDS: Final[dict[str, Worded]] = {
    "role": "role",
    "bearers": "role",
    "object": "object",
    "location": "location",
    "evidence": "channel",
    "inspects": "channel",
    "name": "step",
    "activity": "action",
}
"""Of what kind the names are that stand in a field of a reading, where they are no acts."""
LOG = "log"
"""In place of the logs, which a sentence seldom names and the clause leaves out."""


def clause_of(reading: Reading, lexicon: Lexicon) -> str:
    """What a reading asks, as the first sentences of a rule's text; where no one rule asks it, in DECLARE's
    spelling with the words of its acts.

    Parameters
    ----------
    reading : Reading
    lexicon : Lexicon
        Words for its names.
    """
    try:
        rule = rule_of(reading, lexicon)
    except ValidationError:
        return reading_in_words(worded(reading, lexicon))
    clause = render(rule, lexicon.including(rule)).partition(" Evidence: ")[0].removesuffix(".")
    return clause + (". It is working time" if reading.time and reading.time.working_days else "")


def in_words(readings: Readings, lexicon: Lexicon) -> str:
    """All that a sentence asks as it is read, each duty as a sentence of a rule's text."""
    clauses = [clause_of(statement.best, lexicon) for statement in readings.statements]
    return " ".join(f"{clause.removesuffix('.')}." for clause in clauses)


def rule_of(reading: Reading, lexicon: Lexicon) -> Structure:
    """The rule that asks what a reading asks and nothing else; raises ValidationError where there is none.

    An object whose words stand in those of its act is not said twice.
    """
    bearers = [named.name for named in reading.bearers]
    personal = reading.activation is not None and reading.who == "same_person"
    office = len(bearers) == 1 and not personal
    opened = _where(reading, "opener")
    opener = {"act": _act(reading.activation, lexicon) | opened, "channel": LOG} if reading.activation else {}
    cases = [d.condition for d in reading.data if d.of == "case" or (d.of == "opener" and not opener)]
    constraint = {"template": reading.template, "correlate": _correlation(reading)} | _limits(
        reading, lexicon
    )
    roles = bearers if len(bearers) > 1 and not personal else []
    targets = [_carried(_act(act, lexicon) | _where(reading, "act"), roles) for act in reading.targets]
    if reading.joint == "any" and len(targets) > 1:
        targets = [{"any_of": [one for target in targets for one in target.get("any_of", [target])]}]
    return Structure.model_validate(
        {
            "scope": {"roles": bearers if personal else [], "where": cases},
            "trigger": opener,
            "norm": {
                "force": reading.force,
                "constraints": [constraint | {"target": target} for target in targets],
                **({"bearer": {"role": bearers[0]}} if office else {}),
            },
            "evidence": {"channels": [LOG]},
        }
    )


def _limits(reading: Reading, lexicon: Lexicon) -> dict[str, Any]:
    """How often, within what time, from when and with what exception."""
    found: dict[str, Any] = {"count": reading.count}
    if reading.time and reading.time.duration and reading.template not in ("init", "end"):
        found["deadline"] = reading.time.duration
        if reading.template == "response":
            found["earlier_counts"] = reading.time.earlier_counts
    if reading.after:
        found["after"] = {"act": _act(reading.after, lexicon), "channel": LOG}
    if reading.exception:
        found["unless"] = _act(reading.exception, lexicon) | _where(reading, "exception")
        found["in_the_meantime"] = reading.meanwhile
    return found


def _where(reading: Reading, of: DataOf) -> dict[str, Any]:
    """The conditions on data that a reading states of one of its acts."""
    conditions = [d.condition for d in reading.data if d.of == of]
    return {"where": conditions} if conditions else {}


def _correlation(reading: Reading) -> str:
    if reading.activation is None or reading.who is None:
        return "same_case"
    return "different_resource" if reading.by_another else "same_resource"


def _act(act: ActRead, lexicon: Lexicon) -> dict[str, Any]:
    named = {"role": act.role, "location": act.location}
    if act.object:
        told = lexicon.form("action", act.activity).split()
        if not set(told) & set(lexicon.form("object", act.object.name).split()):
            named["object"] = act.object
    others = (
        {"alternatives": tuple(_act(one, lexicon) for one in act.alternatives)} if act.alternatives else {}
    )
    return {"activity": act.activity} | {field: one.name for field, one in named.items() if one} | others


def _carried(act: dict[str, Any], roles: list[str]) -> dict[str, Any]:
    """An act by whichever of some roles, where they are stated."""
    return {"any_of": [act | {"role": role} for role in roles]} if roles else act


def worded(read: Read, lexicon: Lexicon) -> Read:
    """What was read, with the words of a rule's text in place of recorded names: of an act its noun.

    Parameters
    ----------
    read : Readings, Reading, or a part of one
    lexicon : Lexicon
    """
    return cast(Read, _worded(read, lexicon, "action"))


def _worded(value: Any, lexicon: Lexicon, kind: Worded) -> Any:
    if isinstance(value, Named):
        return value._replace(name=_form(kind, value.name, lexicon))
    if isinstance(value, Unread):
        return value._replace(nearest=value.nearest and _form(kind, value.nearest, lexicon))
    if type(value) is tuple:
        return tuple(_worded(item, lexicon, kind) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    found = {f.name: _worded(getattr(value, f.name), lexicon, KINDS.get(f.name, kind)) for f in fields(value)}
    if isinstance(value, ActRead):
        found["activity"] = _form("action", value.activity, lexicon)
    return replace(value, **found)


def _form(kind: Worded, name: str, lexicon: Lexicon) -> str:
    return lexicon.form(kind, name, "noun" if kind == "action" else "one")
