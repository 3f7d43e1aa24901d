"""A context as prompts show it: the same goal, schema and records for every method, for the parser and for
the judges.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gnrs_ppl.context.load import Context
from gnrs_ppl.context.types import Channel, Schema
from gnrs_ppl.llm.client import Message, Request, T
from gnrs_ppl.llm.prompts import load, render
from gnrs_ppl.llm.roles import Role

MAX_TOKENS = 4096
"""Most tokens of an answer; a structure with its clause needs about 800, the rest is for models that think
aloud."""


def material(context: Context) -> dict[str, str]:
    """Values of the placeholders ``goal``, ``schema`` and ``records``.

    The goal's id stays out, and so does whatever nothing keeps: channels that are not durable, and
    observables. Where there is no log yet, nothing is counted.
    """
    return {
        "goal": _json(context.goal.model_dump(mode="json", exclude_defaults=True, exclude={"id"})),
        "schema": schema_shown(context.schema),
        "records": _json(_records(context)),
    }


def schema_shown(schema: Schema) -> str:
    """The value of the placeholder ``schema``."""
    return _json(schema.model_dump(mode="json", exclude_defaults=True))


def request(
    name: str,
    role: Role,
    context: Context,
    response: type[T] | None = None,
    values: Mapping[str, str] | None = None,
    *,
    seed: int | None = None,
    sample: int = 0,
) -> Request[T]:
    """A prompt of ours filled from a context, ready to be asked.

    Parameters
    ----------
    name : str
        File name of the prompt.
    role : Role
        Who is asked.
    context : Context
        Gives those of goal, schema and records that the prompt takes.
    response : type of pydantic model, optional
        What the answer is parsed into, as the prompt's header says; None for plain text.
    values : mapping of str to str, optional
        The prompt's other placeholders.
    seed, sample : int
        As for :class:`~gnrs_ppl.llm.client.Request`. Temperature is left to the server.

    Raises
    ------
    InputError
        As :func:`~gnrs_ppl.llm.prompts.render`.
    """
    prompt = load(name)
    given = {key: value for key, value in material(context).items() if key in prompt.placeholders}
    message = Message("user", render(prompt, **given, **values or {}))
    return Request(
        role, (message,), response, seed=seed, max_tokens=MAX_TOKENS, sample=sample, prompt=prompt.hash
    )


def _records(context: Context) -> dict[str, Any]:
    records, profile = context.records, context.profile
    seen: dict[str, list[str]] = {}
    for name, activity in sorted(profile.pairs):
        seen.setdefault(name, []).append(activity)
    channels = []
    for channel in [c for c in records.channels if c.durable] or [
        Channel.model_construct(name=name) for name in seen
    ]:
        stated = channel.model_dump(
            mode="json", exclude_defaults=True, include={"name", "phrase", "closed_world", "grain"}
        )
        able = seen.get(channel.name, ()) if channel.activities is None else channel.activities
        shown = (
            {"activities": able}
            if records.prospective
            else {"rows": {name: profile.rows(channel.name, name) for name in able}}
        )
        channels.append(stated | shown)
    support = [found.model_dump(mode="json") for found in records.support]
    counted = {} if records.prospective else {"cases": profile.cases}
    return counted | {"channels": channels} | ({"support": support} if support else {})


def _json(data: dict[str, Any]) -> str:
    """JSON with a line for each field, and one for each entry of a list of objects: short, and still easy to
    read.
    """
    lines = []
    for name, value in data.items():
        entries = (
            [json.dumps(entry, ensure_ascii=False) for entry in value] if isinstance(value, list) else []
        )
        several = entries and isinstance(value[0], dict)
        text = "[\n  " + ",\n  ".join(entries) + "\n ]" if several else json.dumps(value, ensure_ascii=False)
        lines.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}"
