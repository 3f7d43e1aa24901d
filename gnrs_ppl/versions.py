"""Versions that results carry."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "gnrs-ppl",
    "duckdb",
    "sqlglot",
    "pydantic",
    "numpy",
    "jax",
    "numpyro",
    "arviz-base",
    "arviz-stats",
)


def versions() -> dict[str, str]:
    """Python and the packages a result depends on, by name; packages that are absent are left out."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
