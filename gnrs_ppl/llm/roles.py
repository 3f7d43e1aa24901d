"""Which model plays which role, and where its server is: from the environment, or ``--role``.

``OPENAI_API_KEY`` (read by the SDK and kept nowhere else), ``OPENAI_BASE_URL``, ``GNRS_MODEL_<ROLE>``,
``GNRS_STRUCTURED``. A role may have a server of its own, ``GNRS_BASE_URL_<ROLE>``, which gets a key of its
own, ``GNRS_API_KEY_<ROLE>``, and never that of another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args
from urllib.parse import urlsplit

from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.llm.redaction import KEY, ROLE_KEYS

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
    servers : mapping of role to base URL
        Of the roles that have a server of their own.
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
    servers: Mapping[Role, str] = field(default_factory=dict)
    structured: tuple[Structured, ...] = get_args(Structured)
    timeout: float = 120.0
    longest: int = 2**20
    retries: int = 4

    def __post_init__(self) -> None:
        _check_url(self.base_url, "OPENAI_BASE_URL", KEY)
        for role, url in self.servers.items():
            _check_url(url, f"GNRS_BASE_URL_{role.upper()}", key_of(role))
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

    def server(self, role: Role) -> str:
        """Base URL of the server that plays ``role``."""
        return self.servers.get(role, self.base_url)

    def key(self, role: Role) -> str:
        """The variable that holds the key for ``role``."""
        return key_of(role) if role in self.servers else KEY

    def limit_field(self, role: Role) -> str:
        """What the role's server calls the most tokens of an answer: OpenAI's newer models know one name,
        many compatible servers the other.
        """
        host = urlsplit(self.server(role)).hostname or ""
        return (
            "max_completion_tokens" if host.endswith((".openai.com", ".openai.azure.com")) else "max_tokens"
        )


def key_of(role: Role) -> str:
    """The variable that holds the key of a role's own server."""
    return f"{ROLE_KEYS}{role.upper()}"


def parse_role(text: str) -> tuple[Role, str, str]:
    """``ROLE=MODEL`` or ``ROLE=MODEL@BASE_URL``: role, model, and base URL or nothing.

    Raises
    ------
    InputError
        Not of that form.
    """
    name, _, rest = text.partition("=")
    model, _, url = rest.partition("@http")
    role = next((role for role in ROLES if role == name.strip().replace("-", "_")), None)
    if role is None or not model.strip():
        raise InputError(
            f"{one_line(name, 40)!r} with {one_line(model, 40)!r} is no role with its model",
            f"write ROLE=MODEL or ROLE=MODEL@BASE_URL, ROLE one of {', '.join(ROLES)}",
            source="arguments",
            field="--role",
        )
    return role, model.strip(), f"http{url.strip()}" if url else ""


def settings_from_environment(
    environment: Mapping[str, str] = os.environ, roles: Sequence[str] = ()
) -> Settings:
    """Settings from the variables above; an empty variable is an unset one.

    Parameters
    ----------
    environment : mapping of str to str
    roles : sequence of str
        As :func:`~gnrs_ppl.llm.roles.parse_role` reads them; they go before the variables.

    Raises
    ------
    InputError
        See Settings.
    """
    models, servers = dict(DEFAULT_MODELS), dict[Role, str]()
    for role in ROLES:
        if name := environment.get(f"GNRS_MODEL_{role.upper()}"):
            models[role] = name
        if url := environment.get(f"GNRS_BASE_URL_{role.upper()}"):
            servers[role] = url.rstrip("/")
    for role, name, url in map(parse_role, roles):
        models[role] = name
        if url:
            servers[role] = url.rstrip("/")
    ways = environment.get("GNRS_STRUCTURED") or ",".join(get_args(Structured))
    # Settings checks the names
    structured: tuple[Structured, ...] = tuple(way.strip() for way in ways.split(","))  # type: ignore[misc]
    return Settings((environment.get("OPENAI_BASE_URL") or OPENAI).rstrip("/"), models, servers, structured)


def require_key(environment: Mapping[str, str] = os.environ, key: str = KEY) -> None:
    """Check that there is a key to send in a variable; it is not returned, so that no frame of ours holds it.

    Raises
    ------
    InputError
        None is set, or it holds characters that no header can carry.
    """
    if not environment.get(key):
        place = "OPENAI_BASE_URL" if key == KEY else key.replace("API_KEY", "BASE_URL")
        remedy = f"set {key} (any word where {place} names a server that asks for none)"
        raise InputError(f"a language model is needed and {key} is not set", remedy)
    if not all("!" <= character <= "~" for character in environment[key]):
        raise InputError(
            "holds blanks, line breaks or other characters no key has",
            "set it again",
            source="environment",
            field=key,
        )


def _check_url(url: str, name: str, key: str) -> None:
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
            field=name,
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "holds more than host and path",
            f"give the key as {key}",
            source="environment",
            field=name,
        )
