"""Sentences read as they are typed: one warm process, the newest sentence of a tab first, and an end to what
takes too long.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import OrderedDict
from contextlib import suppress
from typing import Any

from starlette.exceptions import HTTPException

from gnrs_ppl import stops

READ_SECONDS = 5.0
"""Time to read a sentence while it is typed, the context it belongs to opened first."""
ASK_SECONDS = 30.0
"""Time to open a context, to ask its records, or to write it."""
START_SECONDS = 60.0
LINE_BYTES = 32_000_000
TABS = 64
"""Tabs whose newest sentence is remembered."""


class Reader:
    """The process that reads, begun when first asked and again after each that had to be ended."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._newest: OrderedDict[str, object] = OrderedDict()

    async def ask(self, request: dict[str, Any], seconds: float = ASK_SECONDS) -> dict[str, Any]:
        """The answer to a request, as :func:`gnrs_ppl.serve.reading_worker.answer` gives it.

        Raises
        ------
        HTTPException
            The request was refused, or took longer than it may (503).
        """
        async with self._lock:
            told = await self._answer(request, seconds)
        if "error" in told:
            raise HTTPException(told["status"], told["error"])
        return told

    async def newest(self, tab: str, request: dict[str, Any]) -> dict[str, Any] | None:
        """The same for a sentence that is being typed in a tab; None where a newer one came meanwhile."""
        mine = object()
        self._newest[tab] = mine
        self._newest.move_to_end(tab)
        if len(self._newest) > TABS:
            self._newest.popitem(last=False)
        async with self._lock:
            if self._newest.get(tab) is not mine:
                return None
            told = await self._answer(request, READ_SECONDS)
        if "error" in told:
            raise HTTPException(told["status"], told["error"])
        return told

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if process is not None:
            stops.groups.discard(process.pid)

    async def _answer(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        try:
            process = await self._begun()
            assert process.stdin is not None
            assert process.stdout is not None
            async with asyncio.timeout(seconds):
                process.stdin.write(json.dumps(request).encode() + b"\n")
                await process.stdin.drain()
                line = await process.stdout.readline()
            told: dict[str, Any] = json.loads(line)
        except TimeoutError:
            await self.close()
            return {"error": f"Reading took longer than {seconds:g} seconds and was ended.", "status": 503}
        except (OSError, ValueError):  # it ended, or said something else than an answer
            await self.close()
            return {"error": "The process that reads ended unexpectedly. Try again.", "status": 503}
        except asyncio.CancelledError:  # its answer would be taken for the next one's
            await self.close()
            raise
        return told

    async def _begun(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        await self.close()
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "gnrs_ppl.serve.reading_worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            limit=LINE_BYTES,
        )
        stops.groups.add(process.pid)
        assert process.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            if "ready" not in json.loads(await process.stdout.readline()):
                raise ValueError
        return process
