r"""Keys out of what comes back: a server may echo what it was sent, plainly or coded.

Found are the values of the variables below, and any 12 characters in a row of one: plain, backwards, as hex
digits or as base64 (either alphabet, wherever it begins), in capitals or not; also where letters of these are
escaped (``\u0073``, ``\x73``, ``\163``, ``%73``, ``&#115;``, full width; one inside another, too), and where
blanks, characters that are not seen and backslashes stand between them.

Not found is what a server enciphers otherwise, shortens below 12 characters or spreads over several fields:
it knows the key, and no filter keeps it from telling. This is for servers that echo.
"""

from __future__ import annotations

import base64
import os
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

KEY = "OPENAI_API_KEY"
SECRETS = (
    KEY,
    "OPENAI_ADMIN_KEY",
    "OPENAI_ORG_ID",
    "OPENAI_ORGANIZATION",
    "OPENAI_PROJECT_ID",
    "OPENAI_WEBHOOK_SECRET",
)
"""Variables the SDK reads whose values are no one else's business; passwords of proxies are another."""
ROLE_KEYS = "GNRS_API_KEY_"
"""Begins the variables that hold keys of roles with a server of their own."""
PROXIES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")

SHOWN = 12
"""Characters of a key in a row that are too many to show."""
_LAYERS = 4
"""Escapes within escapes that are undone; backslashes and percent signs of a layer may be doubled at will."""
_SPECIAL = re.compile(
    r"\\+(?:u(?P<u>[0-9a-f]{4})|u\{0*(?P<brace>[0-9a-f]{1,5})\}|x(?P<x>[0-9a-f]{2})|(?P<octal>[01][0-7]{2})"
    r"|(?P<itself>[/\"]))"
    r"|%(?:25)*(?P<percent>[0-9a-f]{2})|&(?:amp;)*#(?:x0*(?P<hex>[0-9a-f]{1,5})|0*(?P<decimal>[0-9]{1,5}));?"
    r"|\\+[nrtfbv]|\\+"
    r"|[\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff]+"
)
_WIDE = {0xFF01 + n: ord(chr(0x21 + n).lower()) for n in range(94)}
_LETTERS = _WIDE | {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
"""Capitals and full-width letters -> the small letters they are compared as; one for one: places stay."""


def redacted(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """``text`` with each secret of the environment replaced by its variable's name; JSON stays JSON.

    Words too short to be a secret (below 16 characters, or 8 where there is a digit) are left alone.
    """
    secrets = list(_secrets(environment))
    if not secrets:
        return text
    undone = _undone(text)
    parts, at = [], 0
    places = sorted((*place, name) for name, secret in secrets for place in _places(undone, secret))
    for start, end, name in places:
        if start >= at:
            parts += [text[at:start], f"[{name}]"]
        at = max(at, end)
    return "".join([*parts, text[at:]])


def _secrets(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    roles = sorted(name for name in environment if name.startswith(ROLE_KEYS))
    named = [(name, environment.get(name, "")) for name in (*SECRETS, *roles)]
    for name in PROXIES:
        try:
            named.append((name, unquote(urlsplit(environment.get(name, "")).password or "")))
        except ValueError:  # no address, so no password that a proxy was told
            continue
    for name, value in named:
        if len(value) >= 16 or (len(value) >= 8 and any(character.isdigit() for character in value)):
            yield name, value


def _places(undone: _Undone, secret: str) -> Iterator[tuple[int, int]]:
    """Start and end of what gives the secret away, as they stand in the text; they overlap."""
    plain, starts, ends = undone
    for form, size in _forms(secret):
        # whatever is so long holds one of these whole; most texts hold none
        half = size // 2
        if any(form[i : i + half] in plain for i in range(0, len(form) - half + 1, half)):
            pieces = {form[i : i + size] for i in range(len(form) - size + 1)}
            for i in range(len(plain) - size + 1):
                if plain[i : i + size] in pieces:
                    yield starts[i], ends[i + size - 1]


def _forms(secret: str) -> set[tuple[str, int]]:
    """Ways to write a secret, in lower case, and how many characters of each are too many to show."""
    data = secret.encode()
    forms = {(secret, SHOWN), (secret[::-1], SHOWN), (data.hex(), 2 * SHOWN)}
    for before in range(3):
        # letters that hold nothing but bits of the secret, with so many bytes before it
        own = slice((0, 2, 3)[before], 8 * (before + len(data)) // 6)
        coded = base64.b64encode(bytes(before) + data).decode()[own]
        forms |= {(coded, 4 * SHOWN // 3), (coded.replace("+", "-").replace("/", "_"), 4 * SHOWN // 3)}
    return {(form.lower(), min(length, len(form))) for form, length in forms}


class _Undone(NamedTuple):
    """A text in small letters without escapes, blanks and the unseen, and where its characters stood."""

    plain: str
    starts: Sequence[int]
    ends: Sequence[int]


def _undone(text: str) -> _Undone:
    plain = text.translate(_LETTERS)
    starts, ends = array("q", range(len(text))), array("q", range(1, len(text) + 1))
    for _ in range(_LAYERS):
        parts: list[str] = []
        begins, stops, at, escaped = array("q"), array("q"), 0, False
        for found in _SPECIAL.finditer(plain):
            start, end = found.span()
            parts.append(plain[at:start])
            begins += starts[at:start]
            stops += ends[at:start]
            if kind := found.lastgroup:
                escaped = True
                base = {"decimal": 10, "octal": 8}.get(kind, 16)
                letter = found[kind] if kind == "itself" else chr(int(found[kind], base))
                parts.append(letter.translate(_LETTERS))
                begins.append(starts[start])
                stops.append(ends[end - 1])
            at = end
        plain, starts, ends = "".join([*parts, plain[at:]]), begins + starts[at:], stops + ends[at:]
        if not escaped:
            break
    return _Undone(plain, starts, ends)
