"""The paper's twenty prompts and one of ours as checked files, and values put into them as data.

A prompt file opens with a comment (``purpose``, ``role``, ``placeholders``, ``answer``, ``status``) that
never reaches a model. Its only expressions are ``{{ name | fenced }}`` and ``{% if name %}``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gnrs_ppl.context.types import Frozen
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.llm.answers import RESPONSES
from gnrs_ppl.llm.roles import ROLES, Role

FOLDER = Path(__file__).resolve().parent.parent / "prompts"
FROZEN_LIST = "frozen.json"
"""File name -> SHA-256 of every frozen prompt."""

PLACEHOLDERS: Mapping[str, str] = {
    "sentence": "what somebody asks for, in their words; of a goal its intent and nothing else",
    "goal": "normative goal g as JSON: intent, acts required and forbidden, names it mentions",
    "schema": "institutional schema C as JSON: roles, locations, objects, actions and procedure steps with "
    "their phrases",
    "records": "record layer D as JSON: durable channels, the activities each records, and counts",
    "traces": "excerpts of D retrieved for the goal",
    "pools": "candidates there already are, by slot, as JSON",
    "structure": "a structure a as JSON",
    "clause": "a rule's text y",
    "payloads": "names and numbers the text has to keep, one a line",
    "missing": "those of them that an earlier attempt lost, one a line; may be blank",
    "card": "a policy card as JSON, without what is expected of an answer",
    "method": "name of the method that wrote the clause",
}
"""Everything a prompt may be given; a name means the same in every prompt."""
MAY_BE_BLANK = ("missing",)


class Prompt(NamedTuple):
    """A prompt file.

    Attributes
    ----------
    name : str
        File name, the paper's.
    text : str
        The file as it stands.
    hash : str
        SHA-256 of the text, in hex digits.
    placeholders : tuple of str
        Names that :func:`render` wants values for.
    roles : tuple of Role
        Who may be asked.
    response : type of pydantic model or None
        What the answer is parsed into; None for plain text.
    frozen : bool
        Whether its text is fixed by ``frozen.json``.
    """

    name: str
    text: str
    hash: str
    placeholders: tuple[str, ...]
    roles: tuple[Role, ...]
    response: type[Frozen] | None
    frozen: bool


def prompt_hash(text: str) -> str:
    """SHA-256 of a prompt's text, in hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def names() -> tuple[str, ...]:
    """File names of all prompts, in order."""
    return tuple(sorted(path.name for path in FOLDER.glob("*.txt")))


@cache
def load(name: str) -> Prompt:
    """The prompt of a file name, checked.

    Raises
    ------
    InputError
        No such prompt; a header that is incomplete or does not fit the text; a frozen prompt that is not what
        was frozen.
    """
    if name not in names():
        near = get_close_matches(name, names(), 1)
        raise InputError(
            "is no prompt",
            f"did you mean {near[0]!r}?" if near else f"they are in {FOLDER.name}/",
            source=name,
        )
    return read_prompt(name, (FOLDER / name).read_bytes().decode(), _frozen_hashes())


def read_prompt(name: str, text: str, frozen_hashes: Mapping[str, str]) -> Prompt:
    """A prompt from its text.

    Parameters
    ----------
    frozen_hashes : mapping
        File name -> SHA-256 of frozen prompts.

    Raises
    ------
    InputError
        As :func:`load`.
    """
    header = _header(name, text)
    placeholders, used = _listed(header["placeholders"]), _used(name, text)
    if unknown := sorted(set(placeholders) - set(PLACEHOLDERS)):
        raise InputError(
            f"no prompt is given {unknown[0]!r}",
            f"use some of {', '.join(PLACEHOLDERS)}",
            source=name,
            field="placeholders",
        )
    if differing := sorted(set(placeholders) ^ used):
        problem = (
            f"{differing[0]!r} is "
            f"{'used but not declared' if differing[0] in used else 'declared but not used'}"
        )
        raise InputError(problem, "declare what is used", source=name, field="placeholders")
    if unfenced := sorted(used - set(_FENCED.findall(text))):
        raise InputError(
            f"{unfenced[0]!r} is put in without a fence",
            f"write {{{{ {unfenced[0]} | fenced }}}}",
            source=name,
        )
    roles = _listed(header["role"])
    if not roles or not set(roles) <= set(ROLES):
        raise InputError(
            f"{header['role']!r} is no role", f"use some of {', '.join(ROLES)}", source=name, field="role"
        )
    if header["answer"] not in ("text", *RESPONSES):
        raise InputError(
            f"{header['answer']!r} is no kind of answer",
            f"use text, {', '.join(RESPONSES)}",
            source=name,
            field="answer",
        )
    frozen = header["status"] == "FROZEN"
    if (
        frozen is not (".FROZEN." in name)
        or frozen is not (name in frozen_hashes)
        or header["status"] not in ("FROZEN", "working")
    ):
        remedy = (
            f"status FROZEN, .FROZEN. in the file name and a line in {FROZEN_LIST} go together; else "
            "status is working"
        )
        raise InputError(f"status {header['status']!r} does not fit", remedy, source=name, field="status")
    digest = prompt_hash(text)
    if frozen and frozen_hashes[name] != digest:
        raise InputError(
            "is frozen, and its text has changed",
            "restore it, or put the new text into a new version",
            source=name,
        )
    return Prompt(
        name,
        text,
        digest,
        placeholders,
        cast(tuple[Role, ...], roles),
        RESPONSES.get(header["answer"]),
        frozen,
    )


def render(prompt: Prompt, **values: str) -> str:
    """The prompt's text with the values put in as data, each inside a fence it cannot close.

    Raises
    ------
    InputError
        A value that is missing, unknown, not text, or blank where something has to stand.
    """
    if missing := sorted(set(prompt.placeholders) - set(values)):
        raise InputError("has no value", "give it one", source=prompt.name, field=missing[0])
    if unknown := sorted(set(values) - set(prompt.placeholders)):
        raise InputError(
            "is no placeholder",
            f"it takes {', '.join(prompt.placeholders)}",
            source=prompt.name,
            field=unknown[0],
        )
    for name, value in values.items():
        if not isinstance(value, str):
            raise InputError(
                f"is a {type(value).__name__}, not text",
                "give it as text, data as JSON",
                source=prompt.name,
                field=name,
            )
        if not value.strip() and name not in MAY_BE_BLANK:
            raise InputError("is blank", "give it a value", source=prompt.name, field=name)
    return _ENVIRONMENT.from_string(prompt.text).render(values).strip()


def fenced(value: str) -> str:
    """``value`` between two lines whose mark is made from the value, so that nothing inside can be the
    closing line.
    """
    mark = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"<data-{mark}>\n{value}\n</data-{mark}>"


def _environment() -> ImmutableSandboxedEnvironment:
    # no HTML is made: escaping would change the data a model sees
    environment = ImmutableSandboxedEnvironment(
        autoescape=False, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals.clear()
    environment.filters = {"fenced": fenced}
    return environment


_ENVIRONMENT = _environment()
_HEADER = re.compile(r"\A\{#\n(.*?)\n#\}\n", re.DOTALL)
_LINE = re.compile(r"^(purpose|role|placeholders|answer|status): (\S.*)$", re.MULTILINE)
_FIELDS = ("purpose", "role", "placeholders", "answer", "status")
_EXPRESSION = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_FENCED = re.compile(r"\{\{ (\w+) \| fenced \}\}")
_ALLOWED = re.compile(r"\{\{ \w+ \| fenced \}\}|\{% if \w+ %\}|\{% endif %\}")


def _header(name: str, text: str) -> dict[str, str]:
    found = _HEADER.match(text)
    lines = _LINE.findall(found[1]) if found else []
    if [field for field, _ in lines] != list(_FIELDS):
        raise InputError(
            "does not open with its header",
            f"state {', '.join(_FIELDS)}, each once, in a comment",
            source=name,
        )
    return dict(lines)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _used(name: str, text: str) -> set[str]:
    other = next((found for found in _EXPRESSION.findall(text) if not _ALLOWED.fullmatch(found)), None)
    if other is not None:
        raise InputError(
            f"holds {one_line(other, 60)!r}", "use {{ name | fenced }} and {% if name %} only", source=name
        )
    try:
        return set(meta.find_undeclared_variables(_ENVIRONMENT.parse(text)))
    except TemplateError as error:
        raise InputError(f"is no template ({one_line(str(error), 120)})", "mend it", source=name) from None


@cache
def _frozen_hashes() -> Mapping[str, str]:
    hashes: dict[str, Any] = json.loads((FOLDER / FROZEN_LIST).read_bytes())
    return hashes
