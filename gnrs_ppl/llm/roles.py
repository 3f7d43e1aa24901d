"""Which model plays which role, and where the server is: all from the environment.

``OPENAI_API_KEY`` (read by the SDK and kept nowhere else), ``OPENAI_BASE_URL``, ``GNRS_MODEL_<ROLE>``,
``GNRS_STRUCTURED``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args
from urllib.parse import urlsplit

from gnrs_ppl.errors import InputError
from gnrs_ppl.llm.redaction import KEY

Role = Literal["generator", "polisher", "parser", "judge", "second_judge"]
ROLES: tuple[Role, ...] = get_args(Role)

DEFAULT_MODELS: Mapping[Role, str] = {
    "generator": "gpt-4o-mini",
    "polisher": "gpt-4o-mini",
    "parser": "gpt-5.1",
    "judge": "gpt-5.1",
}
"""The paper's: GPT-4o-mini writes, GPT-5.1 scores, which we take to include reading rules back.

Of its second judge only the family, Gemini, is given."""

OPENAI = "https://api.openai.com/v1"

Structured = Literal["json_schema", "json_object", "prompt"]
"""How JSON is asked for: a schema the server enforces, any JSON object, or words alone."""


@dataclass(frozen=True)
class Settings:
    """Server and models.

    Attributes
    ----------
    base_url : str
        Of an OpenAI-compatible server, with its ``/v1``.
    models : mapping of role to model name
    structured : tuple of Structured
        Ways to ask for JSON, best first; the next is taken where the server rejects one.
    timeout : float
        Seconds after which an attempt is given up, whether nothing came or a little at a time.
    longest : int
        Most bytes of an answer, as it travels and as it is read: compressed ones are refused.
    retries : int
        Further attempts of the SDK at a call that was limited, failed or not answered.

    Raises
    ------
    InputError
        A base URL that is not http(s) or that carries a password or query, an unknown or missing way.
    """

    base_url: str = OPENAI
    models: Mapping[Role, str] = field(default_factory=lambda: dict(DEFAULT_MODELS))
    structured: tuple[Structured, ...] = get_args(Structured)
    timeout: float = 120.0
    longest: int = 2**20
    retries: int = 4

    def __post_init__(self) -> None:
        _check_url(self.base_url)
        if not self.structured or not set(self.structured) <= set(get_args(Structured)):
            remedy = f"list some of {', '.join(get_args(Structured))}, best first"
            raise InputError(
                "is no list of ways to ask for JSON", remedy, source="environment", field="GNRS_STRUCTURED"
            )

    def model(self, role: Role) -> str:
        """The model that plays ``role``.

        Raises
        ------
        InputError
            None is set.
        """
        if not self.models.get(role):
            raise InputError(
                f"no model is set for the {role.replace('_', ' ')}",
                f"set GNRS_MODEL_{role.upper()}",
                source="environment",
            )
        return self.models[role]

    @property
    def limit_field(self) -> str:
        """What the server calls the most tokens of an answer: OpenAI's newer models know one name, many
        compatible servers the other.
        """
        host = urlsplit(self.base_url).hostname or ""
        return (
            "max_completion_tokens" if host.endswith((".openai.com", ".openai.azure.com")) else "max_tokens"
        )


def settings_from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """Settings from the variables above; an empty variable is an unset one.

    Parameters
    ----------
    environment : mapping of str to str

    Raises
    ------
    InputError
        See Settings.
    """
    models = dict(DEFAULT_MODELS)
    for role in ROLES:
        if name := environment.get(f"GNRS_MODEL_{role.upper()}"):
            models[role] = name
    ways = environment.get("GNRS_STRUCTURED") or ",".join(get_args(Structured))
    # Settings checks the names
    structured: tuple[Structured, ...] = tuple(way.strip() for way in ways.split(","))  # type: ignore[misc]
    return Settings((environment.get("OPENAI_BASE_URL") or OPENAI).rstrip("/"), models, structured)


def require_key(environment: Mapping[str, str] = os.environ) -> None:
    """Check that there is a key to send; it is not returned, so that no frame of ours holds it.

    Raises
    ------
    InputError
        None is set, or it holds characters that no header can carry.
    """
    if not environment.get(KEY):
        remedy = f"set {KEY} (any word where OPENAI_BASE_URL names a server that asks for none)"
        raise InputError(f"a language model is needed and {KEY} is not set", remedy)
    if not all("!" <= character <= "~" for character in environment[KEY]):
        raise InputError(
            "holds blanks, line breaks or other characters no key has",
            "set it again",
            source="environment",
            field=KEY,
        )


def _check_url(url: str) -> None:
    # the URL is not shown: it may hold a password
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise InputError(
            "is not an http(s) address",
            "write it like http://127.0.0.1:8000/v1",
            source="environment",
            field="OPENAI_BASE_URL",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "holds more than host and path",
            f"give the key as {KEY}",
            source="environment",
            field="OPENAI_BASE_URL",
        )
