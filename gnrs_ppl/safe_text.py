"""The way out for text of people, logs and models: nothing in it steers a terminal, a spreadsheet or JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the start of a formula, full width too."""
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def visible(text: str, keep: str = "") -> str:
    r"""Text whose control and invisible characters stand as escapes.

    Parameters
    ----------
    text : str
    keep : str, optional
        Control characters to let through, such as a line end.

    Returns
    -------
    str
        With ``\x1b``, ``\u202e`` and the like for control characters (C0, DEL, C1), directions, zero widths,
        line separators and all else that shows nothing by itself; letters, marks, signs and spaces of any
        script stay.
    """
    return text if text.isprintable() else "".join(c if c in keep or _shows(c) else _escape(c) for c in text)


def to_json(data: Any, indent: int | None = 2, *, allow_nan: bool = True) -> str:
    r"""JSON in readable Unicode, with ``\u`` escapes for what :func:`visible` escapes; it reads back as it
    was.
    """
    text = json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=allow_nan)
    return re.sub(r"[^ -~\n]", _json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    return found[0] if _shows(found[0]) else json.dumps(found[0])[1:-1]


def to_csv(rows: Iterable[Sequence[object]], line_end: str = "\n") -> str:
    """CSV that gives as many rows back as went in, and none that a spreadsheet would run.

    Parameters
    ----------
    rows : iterable of rows
        A text that begins like a formula (=, +, -, @, tab or line end, full width too) and is no plain number
        gets an apostrophe before it. Texts are as in :func:`visible` but for line feeds, which are quoted.
        Numbers stay as they are; None is an empty cell.
    line_end : str, optional

    Returns
    -------
    str
    """
    text = io.StringIO()
    csv.writer(text, lineterminator=line_end).writerows([_inert(cell) for cell in row] for row in rows)
    return text.getvalue()


def _inert(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    runs = cell.startswith(FORMULA) and not NUMBER.fullmatch(cell)
    return ("'" if runs else "") + visible(cell, keep="\n")


def _shows(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
