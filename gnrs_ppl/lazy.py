"""Names of a package that are imported when somebody asks for them, so that reading the package loads neither jax nor DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def exports(package: str, **homes: tuple[str, ...]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package: modules by their own name, and of each the names it gives to the package.

    Examples
    --------
    >>> exports("os", path=("join",))("join") is __import__("os").path.join
    True
    """

    def find(name: str) -> Any:
        for module, names in homes.items():
            if name == module or name in names:
                found = import_module(f"{package}.{module}")
                return found if name == module else getattr(found, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
