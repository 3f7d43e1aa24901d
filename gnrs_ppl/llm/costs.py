"""What calls cost: dated prices, running totals, and a limit that is kept by asking before each call."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gnrs_ppl.context.files import read_data
from gnrs_ppl.errors import InputError, one_line

MILLION = 1_000_000


class Usage(NamedTuple):
    """Tokens of one answer as the server counts them; ``cached`` is the part of ``input`` that it had seen
    before, and bills for less.
    """

    input: int
    output: int
    cached: int = 0


LETTERS_PER_TOKEN = 16
"""More than any tokenizer gets out of a text; prose and JSON have four or five."""


def credible(usage: Usage, sent: str, input_bytes: int, text: str, max_tokens: int) -> bool:
    """Whether a server's count can be true of what was sent and what came back.

    Parameters
    ----------
    usage : Usage
    sent : str
        Words of the messages.
    input_bytes : int
        Of the whole request; a token is at least a byte.
    text : str
        Of the answer.
    max_tokens : int
        Most tokens the answer may have; a longer one may have a token for each of its bytes.
    """
    least = [len(" ".join(words.split())) // LETTERS_PER_TOKEN for words in (sent, text)]
    most_output = max(max_tokens, len(text.encode()))
    input_fits = least[0] <= usage.input <= input_bytes and usage.cached <= usage.input
    return input_fits and least[1] <= usage.output <= most_output


class Price(NamedTuple):
    """US dollars for a million tokens, the month in which they were looked up, where, and whether that was
    the provider's own page.

    Reasoning tokens are output tokens. Batch, priority and regional tariffs are not known here.
    """

    input: float
    cached_input: float
    output: float
    as_of: str
    source: str
    verified: bool = True

    @property
    def dated(self) -> str:
        """The month, for people; what nobody dated is stated by the user."""
        return f"{self.as_of or 'stated'}{'' if self.verified else ', not verified'}"

    def cost(self, usage: Usage) -> float:
        """US dollars for these tokens."""
        cached = min(usage.cached, usage.input)
        return (
            (usage.input - cached) * self.input + cached * self.cached_input + usage.output * self.output
        ) / MILLION


def read_prices(path: Path) -> dict[str, Price]:
    """Prices from a YAML or JSON file: model -> ``input``, ``output``, ``as_of``, and if there are any
    ``cached_input``, ``source`` and ``verified``.

    Raises
    ------
    InputError
        A file that cannot be read, or that holds something else.
    """
    found, remedy = {}, "write MODEL: {input: 1.25, output: 10, as_of: 2026-11}, dollars for a million tokens"
    for model, stated in read_data(path).items():
        fields = stated if isinstance(stated, dict) else {}
        asked = (fields.get("input"), fields.get("cached_input", fields.get("input")), fields.get("output"))
        numbers = [
            float(n)
            for n in asked
            if isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) and n >= 0
        ]
        known = {"input", "output", "cached_input", "as_of", "source", "verified"}
        verified = fields.get("verified", True)
        dated = fields.get("as_of") and isinstance(verified, bool)
        if len(numbers) < len(asked) or not set(fields) <= known or not dated:
            raise InputError("is no dated price", remedy, source=str(path), field=one_line(str(model), 60))
        as_of, source = (one_line(str(fields.get(name, "")), 200) for name in ("as_of", "source"))
        found[str(model)] = Price(numbers[0], numbers[1], numbers[2], as_of, source, verified)
    return found


PRICES: Mapping[str, Price] = read_prices(Path(__file__).with_name("prices.yaml"))
"""Prices of the main providers. They change, and most were not read on the provider's own page: ``verified``
says which were. State your own where it matters.
"""


def parse_price(text: str) -> tuple[str, Price]:
    """``MODEL=IN,OUT`` or ``MODEL=IN,CACHED,OUT`` in US dollars for a million tokens.

    Parameters
    ----------
    text : str

    Returns
    -------
    model : str
    price : Price

    Raises
    ------
    InputError
        Not of that form, or a number that is negative or not finite.
    """
    model, _, numbers = text.rpartition("=")
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        values = []
    if (
        not model
        or len(values) not in (2, 3)
        or not all(math.isfinite(value) and value >= 0 for value in values)
    ):
        raise InputError(
            f"{text!r} is not a price",
            "write MODEL=IN,OUT in US dollars for a million tokens",
            source="arguments",
            field="price",
        )
    return model, Price(values[0], values[-2], values[-1], "", "stated by the user")


class Costs:
    """Totals of one run, and its limit.

    The limit holds for what may have been billed, not only for what is known: before a call is made its upper
    bound is set aside, and attempts that got no answer (a time-out, a broken connection) stay counted at that
    bound. Cached answers cost nothing.

    Parameters
    ----------
    limit : float, optional
        US dollars that must not be exceeded (``--max-cost``).
    prices : mapping of model name to Price

    Attributes
    ----------
    known : float
        US dollars for the answers received.
    possible : float
        US dollars that may have been billed besides, at most.
    calls, hits, unpriced : int
        Calls made, answers out of the cache, answers whose cost is unknown.
    tokens : Usage
        Sums over the calls made.
    stopped : bool
        Whether the limit kept a call from being made.

    Raises
    ------
    InputError
        A limit that is negative or not finite.
    """

    def __init__(self, limit: float | None = None, prices: Mapping[str, Price] = PRICES) -> None:
        if limit is not None and not (math.isfinite(limit) and limit >= 0):
            raise InputError(
                f"{limit} is not an amount",
                "state US dollars, such as 2.50",
                source="arguments",
                field="max-cost",
            )
        self.limit, self.prices = limit, prices
        self.known = self.possible = 0.0
        self.calls = self.hits = self.unpriced = 0
        self.tokens = Usage(0, 0)
        self.stopped = False
        self._reserved = 0.0
        self._pending = 0
        self._settled = asyncio.Event()

    def cost(self, model: str, usage: Usage | None) -> float | None:
        """US dollars, or None where the price or the tokens are unknown."""
        price = self.prices.get(model)
        return price.cost(usage) if price and usage else None

    def bound(self, model: str, input_bytes: int, max_tokens: int) -> float:
        """Upper bound of one attempt in US dollars: a token is at least a byte, and the server stops at
        ``max_tokens``; 0 without a price.

        Raises
        ------
        InputError
            There is a limit, and the price is unknown.
        """
        price = self.prices.get(model)
        if price:
            return price.cost(Usage(input_bytes, max_tokens))
        if self.limit is not None:
            raise InputError(
                f"the price of {model!r} is not known, so the limit cannot be kept",
                f"state it: --price {model}=IN,OUT in US dollars for a million tokens",
                source="arguments",
                field="max-cost",
            )
        return 0.0

    async def reserve(self, amount: float) -> bool:
        """Set ``amount`` aside, once enough calls in flight have settled; False, from now on, where it does
        not fit under the limit.
        """
        while (
            not self.stopped
            and self.limit is not None
            and self.known + self.possible + self._reserved + amount > self.limit
        ):
            if self._pending:
                await self._settled.wait()
            else:
                self.stopped = True
        if self.stopped:
            return False
        self._reserved += amount
        self._pending += 1
        return True

    def settle(self, reserved: float, known: float, possible: float) -> None:
        """Replace what was set aside by what it came to."""
        self._pending -= 1
        self._reserved = self._reserved - reserved if self._pending else 0.0
        self.known += known
        self.possible += possible
        self._settled.set()
        self._settled = asyncio.Event()

    def count(self, usage: Usage | None, cost: float | None) -> None:
        """Count one answer of the server."""
        self.calls += 1
        self.unpriced += cost is None
        if usage:
            self.tokens = Usage(*(total + more for total, more in zip(self.tokens, usage, strict=True)))
