"""Where a refusal is raised: the calls in the source, and those that a block of tests came by."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import gnrs_ppl
from gnrs_ppl.errors import GnrsError

PACKAGE = Path(gnrs_ppl.__file__).parent
ERRORS = ("InputError", "Refused", "NoFeasibleStructure")
MAKERS = ("error", "_error", "_refused")
"""Methods that make an error for their caller."""

Site = tuple[str, str]
"""A file below the package, and the source of the problem's first words."""


def _name(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _calls(path: Path) -> Iterator[tuple[ast.Call, str]]:
    """Calls that make an error, but for those inside a method that makes one for its caller."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(node)
        for maker in ast.walk(tree)
        if isinstance(maker, ast.FunctionDef) and maker.name in MAKERS
        for node in ast.walk(maker)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node) in (*ERRORS, *MAKERS) and id(node) not in inside:
            yield node, ast.unparse(node.args[0])[:70] if node.args else ""


def sites(*places: str) -> set[Site]:
    """Every call in some files or folders of the package that makes an error."""
    paths = [
        path
        for place in places
        for path in ([PACKAGE / place] if place.endswith(".py") else sorted((PACKAGE / place).glob("*.py")))
    ]
    return {(str(path.relative_to(PACKAGE)), words) for path in paths for _, words in _calls(path)}


@contextmanager
def recorded(patch: pytest.MonkeyPatch) -> Iterator[set[Site]]:
    """The calls that make an error while the block runs."""
    hits: set[Site] = set()
    calls: dict[str, list[tuple[ast.Call, str]]] = {}
    make = GnrsError.__init__

    def note() -> None:
        frame = sys._getframe(2)
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(str(PACKAGE)) and frame.f_code.co_name not in ("__init__", *MAKERS):
                for call, words in calls.setdefault(file, list(_calls(Path(file)))):
                    if call.lineno <= frame.f_lineno <= (call.end_lineno or call.lineno):
                        hits.add((str(Path(file).relative_to(PACKAGE)), words))
                return
            frame = frame.f_back  # type: ignore[assignment]

    def init(self: GnrsError, *given: Any, **named: Any) -> None:
        note()
        make(self, *given, **named)

    with patch.context() as within:
        within.setattr(GnrsError, "__init__", init)
        yield hits


def lines(missing: Iterable[Site]) -> str:
    """Some calls, one a line."""
    return "\n".join(f"{file}: {words}" for file, words in sorted(missing))
