"""Public holidays by country, from the library ``holidays``; imported only where a calendar names a country."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

import holidays as library


def check_known(country: str, subdivision: str | None) -> None:
    """Raise ValueError where the library knows no holidays of a country, or of a part of it."""
    known = library.list_supported_countries(include_aliases=False)
    if country not in known:
        raise ValueError(f"no holidays of a country {country!r} are known; list the days one by one")
    if subdivision is not None and subdivision not in known[country]:
        parts = ", ".join(known[country][:8]) + (", …" if len(known[country]) > 8 else "")
        raise ValueError(
            f"no holidays of a part {subdivision!r} of {country} are known"
            + (f"; known are {parts}" if parts else "")
        )


def known_years(country: str) -> tuple[int, int]:
    """First and last year for which the holidays of a country are known."""
    found = library.country_holidays(country)
    return found.start_year, found.end_year


@lru_cache(maxsize=4096)
def holidays_of(country: str, subdivision: str | None, year: int) -> frozenset[date]:
    """The holidays of a year."""
    return frozenset(library.country_holidays(country, subdiv=subdivision, years=year))
