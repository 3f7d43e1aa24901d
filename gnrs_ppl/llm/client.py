"""Asking language models: one small protocol of ours, requests and answers, many at a time or one after
another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, Protocol

from pydantic import BaseModel
from typing_extensions import (
    TypeVar,
)  # pydantic's; defaults of type variables are in typing from Python 3.13 on

from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.llm.costs import Usage
from gnrs_ppl.llm.roles import Role

CONCURRENCY = 16

T = TypeVar("T", bound=BaseModel, default=BaseModel)

Way = Literal["json_schema", "json_object", "prompt", "text", ""]
"""How an answer was asked for; ``text`` where no JSON was wanted, empty where nothing was asked."""

Failure = Literal[
    "rate_limit",
    "server",
    "timeout",
    "connection",
    "rejected",
    "malformed",
    "truncated",
    "filtered",
    "invalid",
    "max_cost",
    "cache_miss",
]


class Message(NamedTuple):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Request(Generic[T]):
    """One thing to ask.

    Attributes
    ----------
    role : Role
        Who is asked; settings say which model that is.
    messages : tuple of Message
    response : type of pydantic model, optional
        What the answer is parsed into.
    temperature : float, optional
        Left to the server where None.
    seed : int, optional
    max_tokens : int
        Most tokens of the answer, reasoning included.
    sample : int
        Number of the repeat: requests that differ in nothing else are asked, and cached, apart.
    prompt : str
        Hash of the prompt it was made from; goes into the answer's record and to no server.
    """

    role: Role
    messages: tuple[Message, ...]
    response: type[T] | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int = 2048
    sample: int = 0
    prompt: str = ""


class CallError(NamedTuple):
    """Why there is no usable answer."""

    kind: Failure
    message: str


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What came back. Exactly one of these holds: ``error`` is set, ``refusal`` is set, or the answer is
    good.

    Attributes
    ----------
    text : str
        As the model wrote it, without a leading block of thoughts; of a failed call, what there is of it.
    parsed : pydantic model or None
        The validated answer where the request named a model.
    refusal : str
        What the model said when it declined: an answer, so cached, lest asking again until it complies passes
        for compliance.
    way : Way
    usage : Usage or None
        As the server counts; None where it does not, or not credibly.
    cost : float or None
        US dollars when it was made (also of a cached answer); None if unknown.
    cached : bool
    model : str
        As the server reports it.
    scripted : bool
        Made by the scripted server: no result.
    tries : int
        Requests sent for it in this run.
    prompt : str
        Hash of the prompt that was asked.
    error : CallError or None
    """

    text: str = ""
    parsed: T | None = None
    finish_reason: str = ""
    refusal: str = ""
    way: Way = ""
    usage: Usage | None = None
    cost: float | None = None
    cached: bool = False
    model: str = ""
    scripted: bool = False
    tries: int = 0
    prompt: str = ""
    error: CallError | None = None

    @property
    def problem(self) -> str:
        """Why there is no usable answer, in a line; empty where there is one."""
        if self.error:
            return one_line(f"{self.error.kind}: {self.error.message}", 200)
        return "the model declined" if self.refusal else ""

    def record(self) -> dict[str, Any]:
        """Everything but ``parsed``, as JSON data; ``scripted`` and the prompt's hash are always in it."""
        names = (
            "text",
            "finish_reason",
            "refusal",
            "way",
            "cost",
            "cached",
            "model",
            "scripted",
            "tries",
            "prompt",
        )
        usage, error = self.usage and self.usage._asdict(), self.error and self.error._asdict()
        return {name: getattr(self, name) for name in names} | {"usage": usage, "error": error}


class Model(Protocol):
    """Whatever answers requests."""

    async def complete(self, request: Request[T]) -> Answer[T]:
        """Answer one request; what goes wrong with this call alone is in the answer, bad configuration is
        raised.
        """
        ...

    async def close(self) -> None:
        """Let go of connections; the model may be used again, also from another event loop."""
        ...


async def ask_all(
    model: Model,
    requests: Sequence[Request[T]],
    concurrency: int = CONCURRENCY,
    on_answer: Callable[[Answer[T]], None] | None = None,
) -> list[Answer[T]]:
    """Answers in the order of the requests; equal requests are asked once.

    Parameters
    ----------
    model : Model
    requests : sequence of Request
    concurrency : int
        Most requests in flight.
    on_answer : callable, optional
        Called with each answer as it arrives, for progress.

    Raises
    ------
    InputError
        Bad configuration; requests in flight are abandoned, what was answered is in the cache.
    """
    free = asyncio.Semaphore(concurrency)

    async def one(request: Request[T]) -> Answer[T]:
        async with free:
            answer = await model.complete(request)
        if on_answer:
            on_answer(answer)
        return answer

    tasks = {request: asyncio.create_task(one(request)) for request in dict.fromkeys(requests)}
    try:
        await asyncio.gather(*tasks.values())
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
    return [tasks[request].result() for request in requests]


def ask(
    model: Model,
    requests: Sequence[Request[T]],
    concurrency: int = CONCURRENCY,
    on_answer: Callable[[Answer[T]], None] | None = None,
) -> list[Answer[T]]:
    """``ask_all`` for callers without an event loop, and for notebooks, which run one already; closes the
    model.

    Parameters
    ----------
    model, requests, concurrency, on_answer
        As for :func:`ask_all`.

    Raises
    ------
    GnrsError
        As :func:`ask_all`.
    """

    async def run() -> list[Answer[T]]:
        try:
            return await ask_all(model, requests, concurrency, on_answer)
        finally:
            await model.close()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, run()).result()


def account(answers: Iterable[Answer[Any]]) -> dict[str, Any]:
    """What some answers took: calls made, answers from the cache, US dollars (None where a price is
    unknown), whether any is scripted.
    """
    found = list(answers)
    made = [answer for answer in found if answer.tries]
    return {
        "calls": len(made),
        "cached": sum(answer.cached for answer in found),
        "cost": None
        if any(answer.cost is None for answer in made)
        else float(sum(answer.cost or 0.0 for answer in made)),
        "scripted": any(answer.scripted for answer in found),
    }


def refuse_scripted(answers: Iterable[Answer[Any]]) -> None:
    """Keep what the scripted server made out of a result.

    Parameters
    ----------
    answers : iterable of Answer

    Raises
    ------
    InputError
        Some answer is scripted.
    """
    marks = [answer.scripted for answer in answers]
    if any(marks):
        problem = (
            f"{sum(marks):,} of {len(marks):,} answers were made by the scripted server, which is no model"
        )
        raise InputError(problem, "results need a real one: set OPENAI_BASE_URL and ask again")
