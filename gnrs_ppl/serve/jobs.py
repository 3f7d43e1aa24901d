"""Work that takes longer than an answer may: each job is the verb itself as a child process, with its output
in ``jobs/N`` of the folder. One runs, some wait; what it does wrong hurts no page.
"""

from __future__ import annotations

import asyncio
import os
import re
import resource
import shlex
import signal
import sys
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from gnrs_ppl import progress, stops
from gnrs_ppl.context.files import open_regular, parse_json, read_bytes
from gnrs_ppl.context.limits import DRAWS_BYTES
from gnrs_ppl.context.output import check_folder, write_all
from gnrs_ppl.errors import GnrsError, InputError, one_line
from gnrs_ppl.safe_text import to_json
from gnrs_ppl.serve.files import JOBS, Gone

WAITING = 8
SECONDS = 3600.0
"""Wall clock of a job."""
GRACE = 5.0
"""Seconds between the request to end and the end."""
TOLD = 20_000
"""Bytes of what a job printed that a page shows."""
State = Literal["waiting", "running", "done", "refused", "crashed", "cancelled", "late", "stopped"]
_TRACE = re.compile(r"^Traceback \(most recent call last\):", re.MULTILINE)
ANSWERS: dict[int, State] = {0: "done", 1: "done", 2: "refused", 3: "refused", 4: "refused"}
"""Exit codes of a verb that came to its end: 1 is "no" for an answer, unless it says why there is none."""


class Full(Exception):
    """As many jobs wait as may."""


@dataclass
class Job:
    """A verb that runs, ran or will run.

    Attributes
    ----------
    number : int
    title : str
        What it does, for people.
    arguments : tuple of str
        Of ``gnrs``, as a person would type them in the folder.
    then : str
        Path of the page that goes on with what it writes.
    folder : Path
        Where ``job.json``, ``out.txt``, ``err.txt`` and ``progress.jsonl`` lie.
    state : str
        ``stopped`` is a job whose server ended before it.
    code : int or None
        The process's exit code, negative where a signal ended it.
    line : str
        What it said last on standard error, where it was refused or crashed.
    begun, ended : str
        Instants, ISO 8601; empty where it has not.
    """

    number: int
    title: str
    arguments: tuple[str, ...]
    then: str
    folder: Path
    state: State = "waiting"
    code: int | None = None
    line: str = ""
    begun: str = ""
    ended: str = ""
    process: asyncio.subprocess.Process | None = field(default=None, repr=False)
    changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set once it is over."""

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state not in ("waiting", "running")

    @property
    def progress(self) -> Path:
        """The file to which the verb says how far it is; it may not be there."""
        return self.folder / "progress.jsonl"

    @property
    def command(self) -> str:
        """What a person would type in the folder."""
        return shlex.join(("gnrs", *self.arguments))

    def output(self, name: Literal["out.txt", "err.txt"]) -> str:
        """The end of what it printed."""
        try:
            with open_regular(self.folder / name) as file:
                file.seek(max(file.seek(0, os.SEEK_END) - TOLD, 0))
                return file.read().decode("utf-8", "replace")
        except (OSError, InputError):
            return ""


class Jobs:
    """The jobs of a folder.

    Parameters
    ----------
    folder : Path
        The one that is served; jobs run in it and have theirs under ``jobs/``.
    seconds : float
        Wall clock of a job.
    """

    def __init__(self, folder: Path, seconds: float = SECONDS) -> None:
        self._folder, self._seconds = folder, seconds
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._worker: asyncio.Task[None] | None = None
        self._jobs = {job.number: job for job in _standing(folder / JOBS)}

    def all(self) -> list[Job]:
        """Every job, the newest first."""
        return [self._jobs[number] for number in sorted(self._jobs, reverse=True)]

    def find(self, number: str) -> Job:
        """The job of a number as it stands in an address.

        Raises
        ------
        Gone
        """
        for job in self._jobs.values():
            if str(job.number) == number:
                return job
        raise Gone(number)

    def submit(self, title: str, arguments: Sequence[str], then: str = "/") -> Job:
        """A new job, which runs as soon as those before it are over.

        Parameters
        ----------
        title : str
        arguments : sequence of str
            Of ``gnrs``; names of files by :func:`gnrs_ppl.serve.files.argument`.
        then : str
            Path of the page that goes on with what it writes.

        Raises
        ------
        Full
        InputError
            Its folder cannot be written.
        """
        if len(self._waiting) >= WAITING:
            raise Full
        number, place = self._place()
        job = Job(number, title, tuple(arguments), then, place)
        _keep(job)
        self._jobs[number] = job
        self._waiting.append(job)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return job

    async def cancel(self, job: Job) -> None:
        """End a job that waits or runs; others are left as they are."""
        if job.over:
            return
        running, job.state = job.state == "running", "cancelled"
        if not running:
            self._waiting.remove(job)
            _end(job)
        elif job.process is not None:
            await _stop(job.process)
        await job.changed.wait()

    async def close(self) -> None:
        """End every job, for the server ends."""
        for job in [*self._waiting, *([self._running] if self._running else [])]:
            await self.cancel(job)

    def _place(self) -> tuple[int, Path]:
        """A number and a folder that no other job has, one of another server on this folder included."""
        jobs, number = self._folder / JOBS, max(self._jobs, default=0) + 1
        check_folder(jobs)
        while True:
            place = jobs / str(number)
            try:
                place.mkdir(parents=True)
            except FileExistsError:
                number += 1
            except OSError as error:
                raise InputError(
                    f"cannot be written ({error.strerror})",
                    "make room, or see whose it is",
                    source=str(place),
                ) from None
            else:
                return number, place

    async def _work(self) -> None:
        while self._waiting:
            job = self._running = self._waiting.popleft()
            job.state = "running"
            try:
                await self._run(job)
            except (OSError, ValueError, GnrsError) as error:  # no process, no place for its output
                why = error.strerror if isinstance(error, OSError) else str(error)
                job.state, job.line = "crashed", one_line(f"could not be run ({why})")
            finally:
                self._running = None
                _end(job)

    async def _run(self, job: Job) -> None:
        job.begun = _now()
        _keep(job)
        with (job.folder / "out.txt").open("wb") as out, (job.folder / "err.txt").open("wb") as err:
            process = job.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # modules are never taken from the folder
                "-m",
                "gnrs_ppl",
                *job.arguments,
                cwd=self._folder,
                stdin=asyncio.subprocess.PIPE,
                stdout=out,
                stderr=err,
                env=os.environ | {progress.VARIABLE: str(job.progress), stops.PARENT: "1"},
                start_new_session=True,
            )
        stops.groups.add(process.pid)
        try:
            _limit(process.pid, self._seconds)
            if job.over:  # cancelled while it was being started
                await _stop(process)
            try:
                async with asyncio.timeout(self._seconds):
                    job.code = await process.wait()
            except TimeoutError:
                job.state = "late"
                await _stop(process)
                job.code = process.returncode
        finally:
            _signal(process.pid, signal.SIGKILL)  # what it began and left
            stops.groups.discard(process.pid)
        if job.state == "running":
            told = not _TRACE.search(job.output("err.txt"))  # Python's own exit code is 1 as well
            job.state = ANSWERS.get(job.code or 0, "crashed") if told else "crashed"
        said = [line for line in job.output("err.txt").splitlines() if line.startswith("gnrs: ")]
        if job.state == "done" and job.code == 1 and said:  # no answer, but a reason why there is none
            job.state = "refused"
        if job.state == "late":
            job.line = f"took longer than {self._seconds:,g} seconds"
        elif job.state in ("refused", "crashed"):
            job.line = one_line(said[-1].removeprefix("gnrs: ")) if said else _ending(job.code or 0)


def _ending(code: int) -> str:
    return f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _end(job: Job) -> None:
    job.ended = _now()
    job.process = None
    job.changed.set()
    with suppress(GnrsError):  # a full disk: the page says what this one cannot keep
        _keep(job)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Ask a process and those it began to end, and end them where they do not."""
    _signal(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(GRACE):
            await process.wait()
    except TimeoutError:
        _signal(process.pid, signal.SIGKILL)
        await process.wait()


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _limit(process: int, seconds: float) -> None:
    """Keep a process within its processor time, its greatest file and the machine's memory; on a system other
    than Linux, which sets no limits of other processes, the wall clock is what is left.
    """
    if not hasattr(resource, "prlimit"):
        return
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    processor = int(seconds * (os.cpu_count() or 1)) + 1
    with suppress(ProcessLookupError):
        for what, most in (
            (resource.RLIMIT_CPU, processor),
            (resource.RLIMIT_FSIZE, DRAWS_BYTES),
            (resource.RLIMIT_DATA, memory),
            (resource.RLIMIT_CORE, 0),
        ):
            _, hard = resource.prlimit(process, what)
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(process, what, (least, least))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


KEPT = ("number", "title", "arguments", "then", "state", "code", "line", "begun", "ended")


def _keep(job: Job) -> None:
    told: Mapping[str, Any] = {name: getattr(job, name) for name in KEPT}
    write_all(job.folder, [("job.json", to_json(told).encode())])


def _standing(folder: Path) -> Iterable[Job]:
    """What earlier servers left; a file that is no job of ours is passed over."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for place in folder.iterdir():
        with suppress(GnrsError, TypeError, KeyError, ValueError):
            if place.is_symlink() or place.name != str(int(place.name)):
                continue
            told = parse_json(read_bytes(place / "job.json"), str(place))
            job = Job(**{name: told[name] for name in KEPT}, folder=place)
            job.number, job.arguments = int(place.name), tuple(map(str, told["arguments"]))
            job.title, job.then, job.line = str(job.title), _local(job.then), str(job.line)
            job.state = "stopped" if not job.over else job.state
            job.changed.set()
            yield job


def _local(path: object) -> str:
    """A path of this server; what a file says otherwise leads to the first page."""
    return path if isinstance(path, str) and re.fullmatch(r"/([A-Za-z][!-~]*)?", path) else "/"
