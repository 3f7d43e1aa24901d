"""Reading what a server sends: the part of a chat completion that matters, and the JSON object inside an
answer.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from gnrs_ppl.errors import one_line
from gnrs_ppl.llm.costs import Usage

SCRIPTED = "gnrs-scripted"
"""The system fingerprint by which the scripted server marks all it says."""


class Reply(BaseModel):
    """What the cache keeps of an answer."""

    text: str
    refusal: str
    finish_reason: str
    model: str
    scripted: bool
    usage: Usage | None


class _Details(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    prompt_tokens_details: _Details | None = None


class _Content(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Content
    finish_reason: str | None = None


class Completion(BaseModel):
    """The part of a chat completion that is read; compatible servers leave out much of the rest."""

    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None
    system_fingerprint: str | None = None
    usage: Any = None

    def reply(self) -> Reply:
        """The first choice."""
        choice, model = self.choices[0], self.model or ""
        return Reply(
            text=choice.message.content or "",
            refusal=choice.message.refusal or "",
            finish_reason=choice.finish_reason or "",
            model=model,
            scripted=self.system_fingerprint == SCRIPTED or model.startswith("scripted/"),
            usage=_usage(self.usage),
        )


def _usage(stated: Any) -> Usage | None:
    """Tokens as the server states them, None where it does not: an answer is good without."""
    try:
        usage = _Usage.model_validate(stated)
    except ValidationError:
        return None
    details = usage.prompt_tokens_details
    counted = Usage(
        usage.prompt_tokens, usage.completion_tokens, (details.cached_tokens if details else 0) or 0
    )
    return counted if min(counted) >= 0 else None


THOUGHTS = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def json_object(text: str) -> str:
    """The JSON object that begins at the first brace; fences and words around it are tolerated, a broken one
    is not searched for parts.

    Raises
    ------
    ValueError, RecursionError
        There is none, or it is not JSON.
    """
    start = text.find("{")
    if start < 0:
        raise ValueError("there is no brace")
    return text[start : _DECODER.raw_decode(text, start)[1]]


def first_problem(error: ValidationError) -> str:
    """The first thing a model found wrong, in a line, without the input."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return one_line(f"{place}: {first['msg']}" if place else first["msg"], 200)
