"""Times as sources write them, as ISO 8601: other orders of day and month, epochs, and the offsets of a
named zone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from gnrs_ppl.context.limits import YEARS
from gnrs_ppl.context.zone import zone_of
from gnrs_ppl.errors import InputError

Order = Literal["day-first", "month-first"]

_CLOCK = (
    r"(?:[T ,]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?"
)
_YEAR_FIRST = re.compile(
    rf"(?P<year>\d{{4}})(?P<sign>[-/.]?)(?P<one>\d{{1,2}})(?P=sign)(?P<two>\d{{1,2}}){_CLOCK}"
)
_YEAR_LAST = re.compile(
    rf"(?P<one>\d{{1,2}})(?P<sign>[-/.])(?P<two>\d{{1,2}})(?P=sign)(?P<year>\d{{4}}){_CLOCK}"
)
_NAMED = re.compile(
    rf"(?:[A-Za-z]{{3}},? )?(?P<one>\d{{1,2}})[ -](?P<name>[A-Za-z]{{3}})[a-z]*[ -](?P<year>\d{{4}}){_CLOCK}"
)
_EPOCH = re.compile(r"(\d{9,10})(\.\d{1,9})?|(\d{12,13})")
_MONTHS = {
    name: i
    for i, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_READY = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?"
)


class Times(NamedTuple):
    """Texts as ISO 8601, None where one cannot be read, and how they were read."""

    written: dict[str, str | None]
    order: Order | None
    sure: bool
    offsets: Counter[str]


def read_times(texts: Iterable[str], zone: ZoneInfo | None = None, order: Order | None = None) -> Times:
    """Read the different texts of a column together: what one leaves open about day and month another may
    tell.

    Parameters
    ----------
    texts : iterable of str
    zone : ZoneInfo, optional
        Times without offset are read in it, the others shown in it.
    order : "day-first" or "month-first", optional
        Where the year stands last; seen from the texts, else day first, where it is not told.
    """
    distinct = list(dict.fromkeys(texts))
    sure = True
    if order is None:
        slashed = [found for text in distinct if (found := _YEAR_LAST.fullmatch(text.strip()))]
        days = sum(int(found["one"]) > 12 for found in slashed)
        months = sum(int(found["two"]) > 12 for found in slashed)
        if slashed:
            order = "month-first" if months > days else "day-first"
            sure = (days == 0) != (months == 0)
    written = {text: _written(text.strip(), zone, order or "day-first") for text in distinct}
    offsets = Counter(_suffix(text) for text in written.values() if text is not None)
    return Times(written, order, sure, offsets)


def _suffix(text: str) -> str:
    """The offset of an ISO text, ``date`` where it is none but a date, nothing where it has a clock and no
    offset.
    """
    if len(text) <= 10:
        return "date"
    found = re.search(r"(Z|[+-]\d{2}:?\d{2})$", text[10:])
    return found[0] if found else ""


def _written(text: str, zone: ZoneInfo | None, order: Order) -> str | None:
    try:
        if zone is None and _READY.fullmatch(text):
            return text if _fits(datetime.fromisoformat(text.replace(",", "."))) else None
        moment, date_only = _moment(text, order)
    except (ValueError, OverflowError):
        return None
    if moment is None or not _fits(moment):
        return None
    if date_only:
        return moment.date().isoformat()
    if zone is not None:
        moment = moment.astimezone(zone) if moment.tzinfo else moment.replace(tzinfo=zone)
        if not _fits(moment):
            return None
    return moment.isoformat()


def _fits(moment: datetime) -> bool:
    ahead = moment.utcoffset() or timedelta()
    return (
        YEARS[0] < moment.year < YEARS[1]
        and abs(ahead) <= timedelta(hours=14)
        and not ahead.total_seconds() % 60
    )


def _moment(text: str, order: Order) -> tuple[datetime | None, bool]:
    """The moment a text says, and whether it is a day."""
    if epoch := _EPOCH.fullmatch(text):
        seconds = int(epoch[3]) / 1000 if epoch[3] else float(text)
        return datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds), False
    found = _YEAR_FIRST.fullmatch(text) or _YEAR_LAST.fullmatch(text) or _NAMED.fullmatch(text)
    if not found:
        return None, False
    parts = found.groupdict()
    if parts.get("name"):
        day, month = int(parts["one"]), _MONTHS.get(parts["name"].lower(), 0)
    elif found.re is _YEAR_FIRST:
        month, day = int(parts["one"]), int(parts["two"])
    else:
        day, month = (
            (int(parts["one"]), int(parts["two"]))
            if order == "day-first"
            else (int(parts["two"]), int(parts["one"]))
        )
    moment = datetime(int(parts["year"]), month, day)
    if parts["hour"] is None:
        return moment, True
    hour = int(parts["hour"])
    if parts["half"]:
        if not 1 <= hour <= 12:
            return None, False
        hour = hour % 12 + (12 if parts["half"][0] in "Pp" else 0)
    micro = int((parts["part"] or "0")[:6].ljust(6, "0"))
    moment = moment.replace(
        hour=hour, minute=int(parts["minute"]), second=int(parts["second"] or 0), microsecond=micro
    )
    suffix = parts["zone"]
    if suffix:
        suffix = "+00:00" if suffix in ("Z", "UTC", "GMT") else suffix if len(suffix) > 3 else f"{suffix}:00"
        moment = datetime.fromisoformat(moment.isoformat() + suffix)
    return moment, False


def zone_named(name: str) -> ZoneInfo:
    """The time zone of a name such as Europe/Amsterdam; raises InputError where there is none."""
    try:
        return zone_of(name)
    except ValueError:
        raise InputError(
            f"{name!r} is no time zone",
            "give one such as Europe/Amsterdam",
            source="arguments",
            field="--zone",
        ) from None
