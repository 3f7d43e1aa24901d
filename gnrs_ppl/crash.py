"""What is left of an exception nobody expected: a report file with the traceback, without values of
variables or of the environment.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from urllib.parse import quote

from gnrs_ppl.errors import one_line

SHORTEST = 6
"""Characters below which a value of the environment is no secret but a word such as C or xterm."""


def complaint(error: BaseException) -> str:
    """One line on an unexpected exception, and where its report is."""
    hint = (
        "ask for fewer chains or steps, or give it more memory"
        if isinstance(error, MemoryError)
        else "this is a fault of the program"
    )
    written = _written(error)
    return f"unexpected {one_line(scrubbed(f'{type(error).__name__}: {error}'), 160)}; {hint}" + (
        f"; the report is {written}" if written else "; no report could be written"
    )


def scrubbed(text: str) -> str:
    """Text with every value of the environment replaced by its name, also where it stands escaped."""
    for name, value in sorted(os.environ.items(), key=lambda item: -len(item[1])):
        if len(value) >= SHORTEST:
            for form in {
                value,
                repr(value)[1:-1],
                json.dumps(value)[1:-1],
                quote(value),
                quote(value, safe=""),
            }:
                text = text.replace(form, f"[{name}]")
    return text


def _written(error: BaseException) -> str | None:
    """The path of the report in the folder for temporary files; None where there is none that can be
    written.
    """
    try:
        from gnrs_ppl.versions import versions

        of = [f"{name} {number}" for name, number in {**versions(), "platform": sys.platform}.items()]
        text = "\n".join(
            ["gnrs came upon an error it does not know.", *of, "", *traceback.format_exception(error)]
        )
        handle, path = tempfile.mkstemp(prefix="gnrs-report-", suffix=".txt")
        with os.fdopen(handle, "wb") as file:
            file.write(scrubbed(text).encode(errors="backslashreplace"))
    except (OSError, MemoryError):
        return None
    return path
