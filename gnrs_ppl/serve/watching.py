"""A job as it goes: what its verb says of itself (:mod:`gnrs_ppl.progress`), whole for a page and line by
line for a stream of events.

An event's id is the number of its line, so a stream that broke off goes on exactly where it was.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from starlette.requests import Request

from gnrs_ppl.context.files import parse_json, read_bytes
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.serve.curves import curves
from gnrs_ppl.serve.jobs import Job
from gnrs_ppl.serve.web import rendered, site

LOOK = 0.25
"""Seconds between looks at the file."""
HEARTBEAT = 15.0
"""Seconds of silence after which a line says that the stream still stands."""
STREAMS = 4
"""Streams of one job at a time."""
COURSE = 200
"""Lines about the chains that are drawn; a run tells forty."""
STEPS = 10**9
"""Steps that a run has at most."""


class Event(NamedTuple):
    """A line that tells something new: its number and which part of the page it changes."""

    number: int
    part: str


class Told:
    """What a job's verb has said so far.

    Attributes
    ----------
    stages : list of dict
        ``words``, and ``after``: seconds since the first.
    course : sequence of dict
        Where the chains of one run stood, as it was told, options by name.
    """

    def __init__(self, path: Path) -> None:
        self.stages: list[dict[str, Any]] = []
        self.course: deque[dict[str, Any]] = deque(maxlen=COURSE)
        self._path, self._at, self._rest, self._number = path, 0, b"", 0
        self._options: dict[str, list[tuple[str, list[dict[str, str]]]]] = {}
        self._began: float | None = None
        self._space = ""

    @property
    def chains(self) -> dict[str, Any] | None:
        """Where the chains stood last, with the ``curves`` that led there; None before they were told of."""
        return self.course[-1] | {"curves": curves(self.course)} if self.course else None

    def read(self) -> Iterator[Event]:
        """Take in the lines that are new, one by one."""
        with suppress(OSError):
            file = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(file, "rb") as lines:
                lines.seek(self._at)
                new = lines.read()
            self._at += len(new)
            *whole, self._rest = (self._rest + new).split(b"\n")
            for line in whole:
                self._number += 1
                part = ""
                # a line that is none of ours counts, and tells nothing
                with suppress(GnrsError, LookupError, TypeError, ValueError, AttributeError, OverflowError):
                    part = self._take(parse_json(line, "progress"))
                if part:
                    yield Event(self._number, part)

    def _take(self, line: dict[str, Any]) -> str:
        """The part of the page that a line changes; none where it only names what others count."""
        at = float(line["at"])
        if self._began is None:
            self._began = at
        if line["kind"] == "stage":
            self.stages.append({"words": str(line["words"]), "after": at - self._began})
            return "stages"
        if line["kind"] == "options":
            self._options[str(line["space"])] = [
                (slot, [{"option": str(o["option"]), "phrase": str(o["phrase"])} for o in options])
                for slot, options in line["slots"].items()
            ]
            return ""
        now = self._stand(line)
        if line["space"] != self._space or (self.course and now["step"] <= self.course[-1]["step"]):
            self.course.clear()  # chains of another goal, or run anew
        self._space = line["space"]
        self.course.append(now)
        return "chains"

    def _stand(self, line: dict[str, Any]) -> dict[str, Any]:
        slots = self._options[str(line["space"])]
        step, steps, r_hat = int(line["step"]), int(line["steps"]), line["r_hat"]
        if not 0 <= step <= steps <= STEPS or steps == 0:
            raise ValueError
        return {
            "step": step,
            "steps": steps,
            "best": _finite(line["best"]),
            "r_hat": None if r_hat is None else _finite(r_hat),
            "slots": [
                {
                    "name": slot,
                    "options": [
                        options[int(o)] | {"share": min(max(_finite(share), 0.0), 1.0)} for o, share in shares
                    ],
                }
                for (slot, options), shares in zip(slots, line["marginals"], strict=True)
            ],
        }


def _finite(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]  # what is no number is none of ours
    if not isfinite(number):
        raise ValueError
    return number


def told(job: Job) -> Told:
    """All that a job's verb has said by now."""
    so_far = Told(job.progress)
    for _ in so_far.read():
        pass
    return so_far


async def pieces(request: Request, job: Job, last: str) -> AsyncIterator[str]:
    """What a stream of a job's events sends: ``state`` once it runs, ``stages``, ``chains``, and ``over`` at
    its end.

    Parameters
    ----------
    request : Request
    job : Job
    last : str
        The id of the last event that the client has; what is no number of a line begins anew.
    """
    watchers = site(request).watchers
    watchers[job.number] += 1
    try:
        async for piece in _pieces(request, job, _line(last, job.progress)):
            yield piece
    finally:
        watchers[job.number] -= 1


async def _pieces(request: Request, job: Job, after: int) -> AsyncIterator[str]:
    so_far, quiet, runs = Told(job.progress), 0.0, False
    yield "retry: 1000\n\n"
    while True:
        if job.state == "running" and not runs:
            runs = True
            yield _event("state", rendered(request, "_state.html", job=job))
        over = job.over  # asked before the file is read, so that no last line is lost
        for event in so_far.read():
            if event.number > after:
                quiet = 0.0
                yield _event(event.part, rendered(request, f"_{event.part}.html", told=so_far), event.number)
        if over:
            yield _event("over", job.state)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK):
                await job.changed.wait()
        quiet += LOOK
        if quiet >= HEARTBEAT:
            quiet = 0.0
            yield ": still here\n\n"


def _line(last: str, path: Path) -> int:
    """The line after which a stream goes on; 0 for what is no number of a line of the file."""
    if not (last.isascii() and last.isdecimal() and len(last) < 10):
        return 0
    with suppress(GnrsError):
        return int(last) if int(last) <= read_bytes(path).count(b"\n") else 0
    return 0


def _event(name: str, text: str, number: int | None = None) -> str:
    head = f"event: {name}\n" + (f"id: {number}\n" if number is not None else "")
    return head + "".join(f"data: {line}\n" for line in text.splitlines()) + "\n"
