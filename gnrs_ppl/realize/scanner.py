"""Reading a rule text from left to right: literals, names in their words, numbers and durations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeVar

from gnrs_ppl.context.time import Duration
from gnrs_ppl.errors import one_line
from gnrs_ppl.realize.english import UNITS
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.phrases import PLAIN_UNIT, Form, Worded, follows
from gnrs_ppl.words import NUMBERS, OFTEN, SMALL_NUMBERS, WORKING_UNITS, scaled

_NUMBER = re.compile(rf"(?:{'|'.join(SMALL_NUMBERS)}|[1-9]\d{{1,8}})(?= )")
_AMOUNT = re.compile(r"-?\d+(?:\.\d+)?")
_TEXT = re.compile(r"“((?:[^”]|””)+)”")
_QUOTED = re.compile(r"[^“”,;.]*?“((?:[^”]|””)+)”")


Item = TypeVar("Item")


class ParseError(ValueError):
    """A text that is no rule text of this lexicon.

    Attributes
    ----------
    position : int
        Index of the first character that does not fit.
    expected : tuple of str
        What could have stood there.
    """

    def __init__(self, position: int, expected: Iterable[str], found: str) -> None:
        self.position, self.expected = position, tuple(dict.fromkeys(expected))
        super().__init__(
            f"at character {position}: expected {' or '.join(self.expected)}, found "
            f"{one_line(found, 40) or 'the end'!r}"
        )


class Scanner:
    """A text, a place in it, and the words of a lexicon."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self.text, self.lexicon, self.at = text, lexicon, 0
        self.furthest = 0
        self.expected: list[str] = []

    # Characters

    def note(self, *expected: str) -> None:
        """Remember what could have stood here, if nothing was read beyond."""
        if self.at > self.furthest:
            self.furthest, self.expected = self.at, []
        if self.at == self.furthest:
            self.expected.extend(expected)

    def fail(self, *expected: str) -> ParseError:
        """The error to raise here."""
        self.note(*expected)
        return ParseError(self.at, expected, self.text[self.at : self.at + 60])

    def take(self, literal: str) -> bool:
        """Move past a literal if it stands here; the first letter of a sentence is a capital."""
        starts = self.at == 0 or self.text[self.at - 2 : self.at] == ". "
        wanted = literal[:1].upper() + literal[1:] if starts else literal
        if self.text.startswith(wanted, self.at):
            self.at += len(wanted)
            return True
        self.note(repr(literal))
        return False

    def need(self, *literals: str) -> str:
        """Move past the first of some literals that stands here."""
        for literal in literals:
            if self.take(literal):
                return literal
        raise self.fail()

    def attempt(self, read: Callable[[], Any]) -> Any:
        """What ``read`` gives, or None with nothing read where it fails."""
        start = self.at
        try:
            return read()
        except ParseError:
            self.at = start
            return None

    # Words and numbers

    def name(self, kind: Worded, form: Form = "one") -> str:
        """A name in one of its forms: quoted, or the longest known words that something grammatical
        follows.
        """
        quoted = _QUOTED.match(self.text, self.at)
        if quoted:
            exact = quoted[1].replace("””", "”")
            shown = self.lexicon.form(kind, exact, form)
            if (
                "“" in shown
                and self.text.startswith(shown, self.at)
                and self.joins(self.at + len(shown), shown, kind, form)
            ):
                self.at += len(shown)
                return exact
        for words, name in self.lexicon.known(kind, form).items():
            if self.text.startswith(words, self.at) and self.joins(self.at + len(words), words, kind, form):
                self.at += len(words)
                return name
        raise self.fail(f"the words of {'an' if kind[0] in 'ao' else 'a'} {kind}")

    def joins(self, at: int, words: str, kind: Worded, form: Form) -> bool:
        """Whether what stands at ``at`` may follow a name; behind a role also what is done in a step."""
        done = tuple(f" {verb}" for verb in self.lexicon.known("step", "doing")) if kind == "role" else ()
        if kind == "step" and words.endswith(" review") and self.text.startswith(" of the ", at):
            return True
        return follows(self.text, at, words, form) or self.text.startswith(done, at)

    def listed(self, item: Callable[[], Item], *conjunctions: str) -> tuple[list[Item], str]:
        """``x``, ``x and y`` or ``x, y and z`` with the conjunction used ("" for one item)."""

        def rest() -> tuple[list[Item], str]:
            more = []
            while self.take(", "):
                more.append(item())
            used = self.need(*(f" {c} " for c in conjunctions)).strip()
            return [*more, item()], used

        first = item()
        more: tuple[list[Item], str] | None = self.attempt(rest)
        return ([first, *more[0]], more[1]) if more else ([first], "")

    def number(self) -> int:
        """A number in words below ten, in numerals from ten."""
        match = _NUMBER.match(self.text, self.at)
        if not match:
            raise self.fail("a number")
        self.at = match.end()
        return NUMBERS.get(match[0]) or int(match[0])

    def value(self) -> tuple[Decimal | str, str | None]:
        """A text in quotation marks, or a number in numerals with its unit, if any."""
        text = _TEXT.match(self.text, self.at)
        if text:
            self.at = text.end()
            return text[1].replace("””", "”"), None
        amount = _AMOUNT.match(self.text, self.at)
        if not amount:
            raise self.fail("a value")
        self.at = amount.end()
        if self.text[self.at : self.at + 1] != " ":
            return Decimal(amount[0]), None
        word, quoted = PLAIN_UNIT.match(self.text, self.at + 1), _TEXT.match(self.text, self.at + 1)
        if word or quoted:
            unit = word[0] if word else quoted[1].replace("””", "”") if quoted else None
            self.at = (word or quoted).end()  # type: ignore[union-attr]
            return Decimal(amount[0]), unit
        return Decimal(amount[0]), None

    def times(self) -> int:
        """How often: once, twice, three times."""
        for word, n in OFTEN.items():
            if self.take(word):
                return n
        n = self.number()
        self.need(" times")
        return n

    def working_time(self) -> Duration:
        """A number of working days or hours."""
        n = self.number()
        unit = self.need(*(f" {unit}{'' if n == 1 else 's'}" for unit in WORKING_UNITS)).strip()
        return scaled(WORKING_UNITS[unit if n == 1 else unit[:-1]], n)

    def duration(self) -> Duration:
        """Working time in one unit, or parts from months to seconds, each unit at most once and in that
        order.
        """
        working: Duration | None = self.attempt(self.working_time)
        if working is not None:
            return working
        amounts = dict.fromkeys(UNITS, 0)

        def part() -> str:
            n = self.number()
            units = [unit for unit in UNITS if not any(amounts[u] for u in UNITS[UNITS.index(unit) :])]
            unit = self.need(*(f" {unit}{'' if n == 1 else 's'}" for unit in units)).strip()
            amounts[unit if n == 1 else unit[:-1]] = n
            return unit

        part()
        while self.attempt(lambda: (self.need(" and ", ", "), part())):
            pass
        return Duration(
            amounts["month"],
            amounts["day"],
            3600 * amounts["hour"] + 60 * amounts["minute"] + amounts["second"],
        )
