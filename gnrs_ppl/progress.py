"""Where a verb stands, for whoever watches it from another process: lines of JSON in the file that
``GNRS_PROGRESS`` names, and nothing without that variable.

A line is added in one write at the file's end, so that a reader never sees half of a line between two whole
ones; its number says where to go on reading.
"""

from __future__ import annotations

import os
import time
from typing import Any

from gnrs_ppl.errors import InputError
from gnrs_ppl.safe_text import to_json

VARIABLE = "GNRS_PROGRESS"


def is_watched() -> bool:
    """Whether anybody asked to be told."""
    return bool(os.environ.get(VARIABLE))


def tell(kind: str, **said: Any) -> None:
    """Add a line; nothing where nobody watches.

    Parameters
    ----------
    kind : {"stage", "options", "chains"}
        What the line is about.
    **said
        What JSON can hold; ``at`` (seconds since 1970, UTC) and ``kind`` are put before it.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return
    line = to_json({"at": round(time.time(), 3), "kind": kind, **said}, indent=None, allow_nan=False) + "\n"
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror})",
            "name a file in a folder of yours, or unset the variable",
            source=VARIABLE,
        ) from None


def stage(words: str) -> None:
    """Say what the verb does from now on."""
    tell("stage", words=words)
