"""Names of a package that are imported when somebody asks for them, so that reading the package loads
neither jax nor DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def exports(package: str, **homes: tuple[str, ...]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of a package: modules by their own name, and of each the names
    it gives to the package.

    Examples
    --------
    >>> find, _ = exports("os", path=("join",))
    >>> find("join") is __import__("os").path.join
    True
    """
    home = {name: module for module, names in homes.items() for name in (module, *names)}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home[name]}")
        return module if name == home[name] else getattr(module, name)

    return find, lambda: sorted(home)
