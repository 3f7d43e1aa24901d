"""Times as sources write them, as ISO 8601: orders of day and month, names of months and zones, numbers that
count since 1970 or 1900, and the offsets of a named zone. A column is judged as a whole.

Kept guessers (dateutil, dateparser) judge cell by cell, which reads 13/02 and 03/04 of one column in two orders,
pass over zones they do not know, and fill what is lacking from today's date; so the ways to write a time stand
here as a closed list, and what is none of them is no time.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from gnrs_ppl.context.limits import YEARS
from gnrs_ppl.context.zone import zone_of
from gnrs_ppl.errors import InputError, one_line

Order = Literal["day-first", "month-first", "year-first"]

LONGEST = 100
"""Characters of a time."""
PIVOT = 69
"""The first year of two digits that is taken for one of the 1900s, as in POSIX."""
READY = (
    r"(?:1\d{3}|[2-8]\d{3})-\d{2}-\d{2}(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?"
    r"\s*(?:Z|[+-](?:(?:0\d|1[0-3]):?[0-5]\d|14:?00))?)?"
)
"""A time that the event table takes as it stands, if its day is one."""

_NAMES_OF_MONTHS = """
jan january januar janner janvier janv enero ene gennaio gen januari janeiro
feb february februar feber fevrier fevr fev febrero febbraio februari fevereiro
mar march marz mrz mars marzo maart mrt marco maerz
apr april avril avr abril abr aprile
may mai mayo maggio mag mei maio
jun june juni juin junio giugno giu junho
jul july juli juillet juill juil julio luglio lug julho
aug august aout agosto ago augustus
sep sept september septembre septiembre setiembre set settembre setembro
oct october okt oktober octobre octubre ottobre ott outubro out
nov november novembre noviembre novembro
dec december dez dezember decembre diciembre dic dicembre dezembro
"""
_NAMES_OF_DAYS = """
mon monday montag mo lundi lun lunes lunedi maandag ma segunda segunda-feira seg
tue tues tuesday dienstag di mardi mar martes martedi dinsdag terca terca-feira ter
wed wednesday mittwoch mi mercredi mer miercoles mie mercoledi woensdag wo quarta quarta-feira qua
thu thur thurs thursday donnerstag do jeudi jeu jueves jue giovedi gio donderdag quinta quinta-feira qui
fri friday freitag fr vendredi ven viernes vie venerdi vrijdag vr sexta sexta-feira sex
sat saturday samstag sonnabend sa samedi sam sabado sab sabato zaterdag za
sun sunday sonntag so dimanche dim domingo dom domenica zondag zo
"""
_MONTHS, _DAYS = (
    {name: i for i, line in enumerate(names.strip().splitlines(), 1) for name in line.split()}
    for names in (_NAMES_OF_MONTHS, _NAMES_OF_DAYS)
)
_NAMES_OF_ZONES = """
z:0 utc:0 gmt:0 ut:0 wet:0 west:1 cet:1 cest:2 mez:1 mesz:2 eet:2 eest:3 msk:3 est:-5 edt:-4 mdt:-6 pdt:-7 akst:-9 akdt:-8
hst:-10 brt:-3 sast:2 wat:1 eat:3 pkt:5 wib:7 sgt:8 hkt:8 awst:8 jst:9 kst:9 aest:10 aedt:11 nzst:12 nzdt:13
"""
_ZONES = {name: int(hours) for name, _, hours in (pair.partition(":") for pair in _NAMES_OF_ZONES.split())}
"""Names of offsets that stand for one; CST, PST, IST or BST stand for several."""

_WORD = r"[^\W\d_]+"
_WEEKDAY = rf"(?:(?P<weekday>{_WORD}(?:-feira)?)(?:\.,|[.,])? )?"
_YEAR, _SHORT = r"(?P<year>\d{4})", r"(?P<year>\d{4}|'?\d{2})"
_SIGN = r"(?P<sign>[-/.]|\. )"
_ONE = r"(?P<day>\d{1,2})(?:(?:st|nd|rd|th|er|o)(?![^\W\d_])|\.)?"
_HALF = r"(?P<half>[ap]\.? ?m\.?)"
_FRACTION = r"(?:[.,:](?P<part>\d+))?"
_CLOCK = (
    rf"(?P<hour>\d{{1,2}})(?:(?P<by>[:.]| ?h ?)(?P<minute>\d{{2}})(?:(?P=by)(?P<second>\d{{2}}){_FRACTION})?)?"
    rf"(?: ?{_HALF})?(?P<hours> ?(?:uhr|hrs?|h))?"
)
_OFFSET_OR_NAME = (
    r"(?:utc|gmt)[+-]\d{1,2}(?::?\d{2})?|[+-]\d{2}(?::?\d{2})?|[a-z]{1,5}|[a-z]+(?:/[a-z0-9_+-]+){1,2}"
)
_ZONE = (
    rf"(?: ?(?P<zone>{_OFFSET_OR_NAME}))?"
    r"(?: ?\[(?P<place>[a-z]+(?:/[a-z0-9_+-]+){0,2})\])?(?P<remark> ?\([^()]*\))?"
)
_BETWEEN = r"(?:t|[_:]|,|,? (?:(?:at|um|om|a|à|às|as|alle|alle ore|a las|kl\.?|-) )?)"
_DATES = (
    rf"{_YEAR}{_SIGN}(?P<month>\d{{1,2}})(?P=sign)(?P<day>\d{{1,2}})\.?",
    rf"(?P<one>\d{{1,2}}){_SIGN}(?P<two>\d{{1,2}})(?P=sign){_SHORT}",
    rf"{_ONE}(?: ?[-/.,] ?| )?(?:of |de |d')?(?P<name>{_WORD})\.?(?:,? ?[-/.,] ?| )?(?:de |del )?{_SHORT}",
    rf"(?P<name>{_WORD})\.?[-/ ]?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:(?:,? |[-/]){_YEAR}|, ?(?P<short>'?\d{{2}}))",
    rf"{_YEAR}[-/. ](?P<name>{_WORD})\.?[-/. ](?P<day>\d{{1,2}})",
    rf"{_YEAR}-?w(?P<week>\d{{2}})-?(?P<day>[1-7])",
    rf"{_YEAR}-(?P<yearday>\d{{3}})",
)
_COMPACT = r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
_PATTERNS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        *(rf"{_WEEKDAY}{day}(?:{_BETWEEN}{_CLOCK}{_ZONE})?" for day in _DATES),
        rf"{_COMPACT}(?:[t_ -]?(?P<hour>\d{{2}})(?P<minute>\d{{2}})(?:(?P<second>\d{{2}}){_FRACTION})?{_ZONE})?",
        rf"{_COMPACT}[t_ -]{_CLOCK}{_ZONE}",
        rf"{_YEAR}-(?P<month>\d{{2}})-(?P<day>\d{{2}})t(?P<hour>\d{{2}})(?P<minute>\d{{2}})(?:(?P<second>\d{{2}}){_FRACTION})?{_ZONE}",
        rf"{_WEEKDAY}(?P<name>{_WORD})\.? (?P<day>\d{{1,2}}),? {_CLOCK}{_ZONE} {_YEAR}",
        *(rf"{_CLOCK}{_ZONE},? {_WEEKDAY}{day}" for day in _DATES[:5]),
    )
]
_MINUTES = re.compile(r"(?:utc|gmt)?([+-])(\d{1,2}):?(\d{2})?", re.IGNORECASE)
_NUMBER = re.compile(r"(-?\d{1,19})(?:[.,](\d{1,18}))?")
_EPOCHS = {"epoch-s": 0, "epoch-ms": 3, "epoch-us": 6, "epoch-ns": 9}
_UNITS = {
    "epoch-s": "seconds",
    "epoch-ms": "milliseconds",
    "epoch-us": "microseconds",
    "epoch-ns": "nanoseconds",
}
_DIGITS = {
    **dict.fromkeys((9, 10), "epoch-s"),
    **dict.fromkeys((12, 13), "epoch-ms"),
    **dict.fromkeys((15, 16), "epoch-us"),
    **dict.fromkeys((18, 19), "epoch-ns"),
}
"""Digits of a number that counts since 1970 -> its unit: seconds of 1973 to 2286."""
SERIALS = (25569, 73050)
"""Days that Excel counts for the years 1970 to 2099."""
ENOUGH_SERIALS = 0.9
"""Share of a column's cells that must be such days for one of them to be taken so."""


class Taken(NamedTuple):
    """One way in which cells of a column were read.

    Attributes
    ----------
    what : str
        How, as words that follow "taken as".
    why : str
        What it rests on.
    cells : int
        How many cells.
    example, read : str
        One of them as it stands, and as ISO 8601.
    guess : bool
        Whether nothing in the column decides it.
    remedy : str
        What says otherwise; empty where nothing needs to.
    """

    what: str
    why: str
    cells: int
    example: str
    read: str
    guess: bool
    remedy: str = ""

    def sentence(self, column: str) -> str:
        """The line that a person reads."""
        cells = "1 cell" if self.cells == 1 else f"{self.cells:,} cells"
        verb = "is" if self.cells == 1 else "are"
        example = f"{one_line(self.example, 60)!r} as {self.read}"
        return (
            f"{cells} of {column!r} {verb} taken as {self.what}, such as {example}"
            + (f": {self.why}" if self.why else "")
            + (" (a guess)" if self.guess else "")
            + (f"; {self.remedy}" if self.remedy else "")
        )


class Times(NamedTuple):
    """Texts as ISO 8601, None where one cannot be read; why not, where that is known; and how they were read."""

    written: dict[str, str | None]
    unread: dict[str, str]
    taken: list[Taken]


class _Unread(Exception):
    """Why a text that looks like a time is none."""


@dataclass(slots=True)
class _Local:
    """A local time: its day or, where the column has to tell, its day in each order; and its clock.

    Attributes
    ----------
    clock : (hour, minute, second, fraction), optional
    later : timedelta
        What 24:00 and a leap second are later than their clock.
    ahead : int, optional
        Minutes east of UTC.
    place, called : str
        A zone, and a name that clocks have in the zone in which the column is read.
    sign : str
        What parts the numbers of a date whose order is open.
    short, american : bool
        Whether the year has two digits; whether the clock is one of twelve hours with a capital AM or PM.
    said : str
        What else is to be told of it.
    """

    days: dict[Order, date]
    clock: tuple[int, int, int, str] | None = None
    later: timedelta = timedelta()
    ahead: int | None = None
    place: str = ""
    called: str = ""
    sign: str = ""
    short: bool = False
    american: bool = False
    said: str = ""

    def moment(self, day: date) -> datetime:
        """The local time on a day."""
        hour, minute, second, _ = self.clock or (0, 0, 0, "")
        return datetime(day.year, day.month, day.day, hour, minute, second) + self.later


def read_times(
    texts: Iterable[str] | Mapping[str, int],
    zone: ZoneInfo | None = None,
    order: Order | None = None,
    form: TimeFormat | None = None,
    others: int = 0,
) -> Times:
    """Read the different texts of a column together: what one leaves open about day and month another may
    tell.

    Parameters
    ----------
    texts : iterable of str, or mapping
        The cells, or how many of them there are of each text.
    zone : ZoneInfo, optional
        Times without offset are read in it, the others shown in it.
    order : Order, optional
        Where a text leaves it open; else what the column shows, else a guess.
    form : TimeFormat, optional
        How all of them are written; nothing is guessed then.
    others : int, optional
        Cells of the column that are not among the texts, as they are ISO 8601.
    """
    cells = Counter(texts)
    read: dict[str, _Local] = {}
    unread: dict[str, str] = {}
    counted: dict[str, re.Match[str]] = {}
    for text in cells:
        plain = _plain(text)
        try:
            if form is not None:
                found = form.read(plain)
            elif number := _NUMBER.fullmatch(plain):
                counted[text] = number
                continue
            else:
                found = _local(plain)
        except _Unread as why:
            unread[text] = str(why)
        else:
            if found is not None:
                read[text] = found
    units = _numbers(counted, cells, others)
    for text, unit in units.items():
        found = _of_unit(unit, counted[text])
        if found is not None:
            read[text] = found
    serials = [read[text] for text in read if units.get(text) == "excel" or (form and form.text == "excel")]
    if any(one.clock for one in serials):  # a whole number among times is a midnight
        for one in serials:
            one.clock = one.clock or (0, 0, 0, "")
    taken: list[Taken] = []
    chosen = _orders(read, cells, order, taken)
    written: dict[str, str | None] = dict.fromkeys(cells)
    for text, one in read.items():
        try:
            written[text] = _written(one, chosen.get(text), zone)
        except _Unread as why:
            unread[text] = str(why)
        except (ValueError, OverflowError):
            pass
    if form is None:
        taken += _told(read, units, cells)
    else:
        taken = [one for one in taken if one.guess]
    taken = [one._replace(read=written[one.example] or "none") for one in taken]
    return Times(written, unread, taken)


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


def are_times(
    texts: Iterable[str], zone: ZoneInfo | None = None, form: TimeFormat | None = None
) -> tuple[int, int]:
    """How many of some cells look like times, and how many do where bare numbers and ``form`` may be."""
    cells = list(texts)
    numbers = {text for text in cells if _NUMBER.fullmatch(text.strip())}
    plain = read_times(cells, zone)
    told = plain if form is None else read_times(cells, zone, form=form)
    times = sum((plain.written[t] is not None or t in plain.unread) and t not in numbers for t in cells)
    return times, sum(told.written[t] is not None or t in told.unread for t in cells)


# One text


@lru_cache(maxsize=4096)
def _letters(word: str) -> str:
    """A word without case and accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(c))


def _plain(text: str) -> str:
    """A text with plain spaces and signs; empty where it can be no time."""
    if len(text) > LONGEST:
        return ""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = re.sub("[\u200b-\u200f\u202a-\u202e\u2060\ufeff]", "", text)
        text = re.sub("[\u2010-\u2013\u2212]", "-", text).replace("\u2019", "'")
        if any(c.isdecimal() and not c.isascii() for c in text):
            return ""
    return " ".join(text.split())


def _local(text: str) -> _Local | None:
    """What a text says, None where it is no time; raises ``_Unread`` where it is known why not."""
    why = None
    for pattern in _PATTERNS:
        if found := pattern.fullmatch(text):
            try:
                return _assembled(found.groupdict())
            except _Unread as error:
                why = why or error
            except (ValueError, OverflowError):
                continue
    if why is not None:
        raise why
    return None


def _assembled(parts: Mapping[str, str | None]) -> _Local:
    """What the parts of a time say together; raises ValueError where that is no time."""
    text = (parts.get("year") or parts.get("short") or "").lstrip("'")
    short = len(text) < 4
    year = _century(int(text)) if short else int(text)
    days: dict[Order, date] = {}
    if one := parts.get("one"):
        first, second = int(one), int(parts["two"] or 0)
        options: list[tuple[Order, int, int, int]] = [
            ("day-first", year, second, first),
            ("month-first", year, first, second),
        ]
        if short and len(one) == 2:
            options.append(("year-first", _century(first), second, year % 100))
        for order, *numbers in options:
            with suppress(ValueError):
                days[order] = date(*numbers)
    elif in_year := parts.get("yearday"):
        day = date(year, 1, 1) + timedelta(days=int(in_year) - 1)
        days = {"day-first": day} if day.year == year else {}
    elif week := parts.get("week"):
        days["day-first"] = date.fromisocalendar(year, int(week), int(parts["day"] or 0))
    else:
        name = parts.get("name")
        month = int(parts.get("month") or 0) if name is None else _MONTHS.get(_letters(name), 0)
        days["day-first"] = date(year, month, int(parts["day"] or 0))
    if weekday := parts.get("weekday"):
        number = _DAYS.get(_letters(weekday), 0)
        if days and number and all(day.isoweekday() != number for day in days.values()):
            raise _Unread("its day of the week is not that of its date")
        days = {order: day for order, day in days.items() if day.isoweekday() == number}
    if not days:
        raise ValueError
    found = _Local(days, sign=(parts["sign"] or "").strip() if one else "", short=short)
    if parts.get("hour") is not None:
        _set_clock(found, parts)
        _set_offset(found, parts)
    return found


def _century(year: int) -> int:
    return year + (1900 if year >= PIVOT else 2000)


def _set_clock(found: _Local, parts: Mapping[str, str | None]) -> None:
    hour, minute, second = (int(parts.get(part) or 0) for part in ("hour", "minute", "second"))
    half, fraction = parts.get("half"), (parts.get("part") or "")[:9].rstrip("0")
    if "by" in parts and parts["minute"] is None and not half and not parts["hours"]:
        raise ValueError
    if half:
        late = half[0] in "Pp"
        if hour > 12 and not late:
            raise ValueError
        if hour > 12 or (hour == 0 and not late):
            found.said = "times of 24 hours whose AM or PM is passed over"
        else:
            hour = hour % 12 + (12 if late else 0)
        found.american = half.isupper() and found.sign == "/"
    if hour == 24 and not minute and not second and not fraction:
        hour, found.later = 0, timedelta(days=1)
    if second == 60 and minute == 59:  # a leap second, which ends where the next minute begins
        second, fraction, found.later = 59, "", timedelta(seconds=1)
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError
    found.clock = hour, minute, second, fraction


def _set_offset(found: _Local, parts: Mapping[str, str | None]) -> None:
    text, found.place = parts.get("zone") or "", parts.get("place") or ""
    if parts.get("remark") and not text[-1:].isdigit():
        raise ValueError
    if not text:
        return
    if number := _MINUTES.fullmatch(text):
        minutes = 60 * int(number[2]) + int(number[3] or 0)
        if minutes > 14 * 60 or int(number[3] or 0) > 59:
            raise _Unread(f"its offset {text!r} is none")
        found.ahead = minutes if number[1] == "+" else -minutes
    elif "/" in text:
        found.place = text
    elif (hours := _ZONES.get(text.lower())) is not None:
        found.ahead = 60 * hours
        if hours:
            found.said = f"times of {text.upper()}, {_offset_text(found.ahead)}"
    else:
        found.called = text


@lru_cache(maxsize=4096)
def _place(name: str) -> ZoneInfo | None:
    with suppress(ValueError):
        return zone_of(name)
    return None


def _ahead(one: _Local, moment: datetime, zone: ZoneInfo | None) -> int | None:
    """Minutes east of UTC at a local time; None where nothing says so."""
    if one.place:
        place = _place(one.place)
        if place is None:
            raise _Unread(f"{one.place!r} is no time zone: write an offset such as +01:00")
        both = _both(moment, place)
        if one.ahead is not None and one.ahead not in both:
            raise _Unread(f"its offset is not that of {one.place}")
        return both[0] if one.ahead is None else one.ahead
    if one.called:
        for fold, ahead in enumerate(_both(moment, zone) if zone else ()):
            if moment.replace(tzinfo=zone, fold=fold).tzname() == one.called.upper():
                return ahead
        raise _Unread(
            f"{one.called!r} behind it is no offset that is known, or stands for several: write +01:00, or give "
            "--zone a place whose clocks are called so"
        )
    return _both(moment, zone)[0] if one.ahead is None and zone is not None else one.ahead


def _both(moment: datetime, zone: ZoneInfo) -> tuple[int, int]:
    """Minutes east of UTC of a zone's clocks at a local time, as it comes first and as it comes again."""
    ahead = (moment.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
    first, again = (round(one.total_seconds() / 60) for one in ahead)
    return first, again


def _offset_text(minutes: int) -> str:
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def _written(one: _Local, order: Order | None, zone: ZoneInfo | None) -> str | None:
    """A time as ISO 8601; None where it lies beyond the years that are read."""
    day = one.days[order] if order in one.days else next(iter(one.days.values()))
    if not YEARS[0] < day.year < YEARS[1]:
        return None
    if one.clock is None:
        return day.isoformat()
    moment = one.moment(day)
    ahead = _ahead(one, moment, zone)
    if zone is not None and ahead is not None and (one.ahead is not None or one.place or one.called):
        # the first of what clocks show twice at the offset of the second: at its own it may be either (G8)
        utc = moment - timedelta(minutes=ahead)
        ahead = _both(utc.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None), zone)[1]
        moment = utc + timedelta(minutes=ahead)
    fraction = f".{one.clock[3]}" if one.clock[3] else ""
    return f"{moment.isoformat()}{fraction}{'' if ahead is None else _offset_text(ahead)}"


# Numbers


def _numbers(counted: Mapping[str, re.Match[str]], cells: Counter[str], others: int) -> dict[str, str]:
    """What the numbers of a column count, for those that may be times."""
    units: dict[str, str] = {}
    serials = [text for text, number in counted.items() if SERIALS[0] <= int(number[1]) < SERIALS[1]]
    if sum(cells[text] for text in serials) >= ENOUGH_SERIALS * (cells.total() + others):
        units = dict.fromkeys(serials, "excel")
    twelve = [text for text, number in counted.items() if len(number[1]) == 12 and not number[2]]
    compact = all(_of_unit("digits", counted[text]) for text in twelve)
    for text, number in counted.items():
        digits = len(number[1])
        if digits in (8, 14, 17) or (digits == 12 and compact and not number[2]):
            units[text] = "digits"
        elif digits in _DIGITS and number[1][0] != "-":
            units[text] = _DIGITS[digits]
    return units


def _of_unit(unit: str, number: re.Match[str]) -> _Local | None:
    """The time that a number counts in a unit; None where it counts none."""
    whole, part = number[1], number[2] or ""
    try:
        if unit == "digits":  # year, month, day, and what there is of the clock
            if part or not 1900 <= int(whole[:4]) <= 2100:
                return None
            return _local(f"{whole[:14]}.{whole[14:]}" if whole[14:] else whole)
        if unit == "excel":
            day_part = Decimal(f"0.{part or 0}")
            moment = datetime(1899, 12, 30) + timedelta(int(whole), milliseconds=round(day_part * 86_400_000))
            fraction = f"{moment.microsecond:06}".rstrip("0")
            clock = (moment.hour, moment.minute, moment.second, fraction) if day_part else None
            return _Local({"day-first": moment.date()}, clock)
        nanoseconds = int(Decimal(f"{whole}.{part or 0}").scaleb(9 - _EPOCHS[unit]))
        seconds, rest = divmod(nanoseconds, 10**9)
        moment = datetime(1970, 1, 1) + timedelta(seconds=seconds)
        clock = (moment.hour, moment.minute, moment.second, f"{rest:09}".rstrip("0"))
        return _Local({"day-first": moment.date()}, clock, ahead=0)
    except OverflowError:
        return None


# A column


def _orders(
    read: Mapping[str, _Local], cells: Counter[str], told: Order | None, taken: list[Taken]
) -> dict[str, Order]:
    """The order of day and month of each text that leaves it open, by the sign between them."""
    chosen: dict[str, Order] = {}
    signs = dict.fromkeys(one.sign for one in read.values() if one.sign)
    for sign in signs:
        group = {text: one for text, one in read.items() if one.sign == sign}
        order = told or _order(group, cells)
        rival: Order = "month-first" if order == "day-first" else "day-first"
        open_, shown, contrary = [], [], []
        for text, one in group.items():
            chosen[text] = next((o for o in (order, rival) if o in one.days), next(iter(one.days)))
            if order not in one.days:
                contrary.append(text)
            elif rival not in one.days:
                shown.append(text)
            elif one.days[order] != one.days[rival]:
                open_.append(text)
        remedy = f"--dates {rival} reads them the other way"
        if contrary and (told or shown or open_):
            taken.append(_of(f"{chosen[contrary[0]]}", "no other order gives a day", contrary, cells, False))
        if not open_:
            continue
        if told:
            taken.append(_of(order, "as --dates says", open_, cells, False))
        elif shown and not contrary:
            why = f"{one_line(shown[0], 60)!r} can be nothing else"
            taken.append(_of(order, why, open_, cells, False))
        elif contrary:
            why = f"{one_line(contrary[0], 60)!r} can only be {chosen[contrary[0]]}, so either is possible"
            taken.append(_of(order, why, open_, cells, True, remedy))
        else:
            why = f"nothing in the column decides between {order} and {rival}"
            if any(group[text].american for text in open_):
                why += ", and the United States write AM and PM so"
            taken.append(_of(order, why, open_, cells, True, remedy))
    return chosen


def _of(
    what: str, why: str, texts: Sequence[str], cells: Counter[str], guess: bool, remedy: str = ""
) -> Taken:
    return Taken(what, why, sum(cells[text] for text in texts), texts[0], "", guess, remedy)


def _order(group: Mapping[str, _Local], cells: Counter[str]) -> Order:
    """The order in which most dates of one sign can be read; where two can be, the likelier."""
    fits = {
        order: sum(cells[t] for t, one in group.items() if order in one.days) for order in get_args(Order)
    }
    best: list[Order] = [order for order in fits if fits[order] == max(fits.values())]
    if "year-first" in best:  # only years of two digits can be: those that lie closest together
        spans = {
            order: max(days) - min(days)
            for order in best
            if (days := [one.days[order] for one in group.values() if order in one.days])
        }
        if spans and all(spans["year-first"] < spans[order] for order in spans if order != "year-first"):
            return "year-first"
        best.remove("year-first")
    if best[:2] == ["day-first", "month-first"] and any(one.american for one in group.values()):
        return "month-first"  # as computers set to US English write it
    return best[0]


def _told(read: Mapping[str, _Local], units: Mapping[str, str], cells: Counter[str]) -> Iterator[Taken]:
    """What else a person should know of how the texts were read."""
    short = [text for text, one in read.items() if one.short]
    if short:
        what = f"years of {1900 + PIVOT} to {1999 + PIVOT}"
        yield _of(what, "they have two digits", short, cells, True, "write others with four")
    for unit in dict.fromkeys(units.values()):
        of_unit = [text for text in read if units.get(text) == unit]
        if unit == "excel" and of_unit:
            why = "bare numbers of a size that Excel gives to days of 1970 to 2099"
            yield _of("days since 30 December 1899", why, of_unit, cells, True, _OTHERWISE)
        elif unit != "digits" and of_unit:
            why = f"bare numbers of {len(of_unit[0].partition('.')[0])} digits"
            yield _of(f"{_UNITS[unit]} since 1970", why, of_unit, cells, True, _OTHERWISE)
    for said in dict.fromkeys(one.said for one in read.values() if one.said):
        yield _of(said, "", [t for t, one in read.items() if one.said == said], cells, False)


_OTHERWISE = "--time-format names another meaning"


# A format that a person names


class TimeFormat(NamedTuple):
    """How the times of a column are written, as a person says."""

    text: str
    pattern: re.Pattern[str] | None

    def read(self, plain: str) -> _Local | None:
        """What a text says, None where it is not written so."""
        if self.pattern is None:
            number = _NUMBER.fullmatch(plain)
            return _of_unit(self.text, number) if number else None
        found = self.pattern.fullmatch(plain)
        try:
            return _assembled(found.groupdict()) if found else None
        except (ValueError, OverflowError):
            return None


_DIRECTIVES = {
    "Y": _YEAR, "y": r"(?P<year>\d{2})", "m": r"(?P<month>\d{1,2})", "d": r"(?P<day>\d{1,2})", "e": r"(?P<day>\d{1,2})",
    "b": rf"(?P<name>{_WORD})\.?", "B": rf"(?P<name>{_WORD})\.?", "a": rf"(?P<weekday>{_WORD})\.?",
    "A": rf"(?P<weekday>{_WORD}(?:-feira)?)\.?", "j": r"(?P<yearday>\d{1,3})", "H": r"(?P<hour>\d{1,2})",
    "I": r"(?P<hour>\d{1,2})", "M": r"(?P<minute>\d{1,2})", "S": r"(?P<second>\d{1,2})", "f": r"(?P<part>\d+)",
    "p": _HALF, "z": rf"(?P<zone>{_OFFSET_OR_NAME})", "Z": rf"(?P<zone>{_OFFSET_OR_NAME})", "%": "%",
}  # fmt: skip
_SEVERAL = {"%F": "%Y-%m-%d", "%D": "%m/%d/%y", "%T": "%H:%M:%S", "%R": "%H:%M"}


def time_format(text: str) -> TimeFormat:
    """The format that a text names: directives as ``strptime`` has them, or what a bare number counts.

    Raises
    ------
    InputError
        A directive that is not known or stands twice, or none that tells the day.
    """
    if text in _EPOCHS or text == "excel":
        return TimeFormat(text, None)
    known = f"use {', '.join(f'%{d}' for d in _DIRECTIVES)} and other characters as they stand"
    known += f", or one of {', '.join(_EPOCHS)}, excel"

    def refused(problem: str) -> InputError:
        return InputError(
            f"{one_line(text, 60)!r} {problem}", known, source="arguments", field="--time-format"
        )

    plain = _plain(text)
    for short, long in _SEVERAL.items():
        plain = plain.replace(short, long)
    pattern, seen = "", set[str]()
    for part in re.findall(r"%.?| |[^% ]+", plain):
        if part == " ":
            pattern += " ?"
        elif part[0] != "%":
            pattern += re.escape(part)
        elif (fragment := _DIRECTIVES.get(part[1:])) is None:
            raise refused(f"holds {part!r}, which is no directive")
        else:
            names = set(re.findall(r"\(\?P<(\w+)>", fragment))
            if names & seen:
                raise refused(f"says the {names.pop()} twice")
            seen |= names
            pattern += fragment
    if not ("year" in seen and ("yearday" in seen or ("day" in seen and seen & {"month", "name"}))):
        raise refused("does not tell the day: it needs year, month and day")
    if {"month", "name"} <= seen or (seen & {"minute", "half", "zone"} and "hour" not in seen):
        raise refused("tells a part without what it is a part of, or the month twice")
    return TimeFormat(text, re.compile(pattern, re.IGNORECASE))
