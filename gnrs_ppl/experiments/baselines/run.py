"""Baselines on many contexts at a time, one bound on the requests of all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from gnrs_ppl.context.load import Context
from gnrs_ppl.experiments.baselines.common import Baseline, BaselineResult
from gnrs_ppl.llm.client import CONCURRENCY, Answer, Model, Request, T


class Task(NamedTuple):
    """One rule to write."""

    method: Baseline
    context: Context
    seed: int


def write_rules(tasks: Sequence[Task], model: Model, concurrency: int = CONCURRENCY) -> list[BaselineResult]:
    """Rules in the order of the tasks; the model is closed afterwards.

    Equal requests are asked once: Structured Outputs, Best-of-N and Self-Refine of one goal and seed start from the same answer, at any
    concurrency.

    Parameters
    ----------
    tasks : sequence of Task
    model : Model
        Its role is *generator*.
    concurrency : int
        Most requests in flight.

    Raises
    ------
    InputError
        Bad configuration of the model; what was answered is in its cache.
    """

    async def run() -> list[BaselineResult]:
        asker = _SharedAsk(model, concurrency)
        running = [asyncio.ensure_future(task.method(task.context, asker, seed=task.seed)) for task in tasks]
        try:
            return await asyncio.gather(*running)
        finally:
            await _stopped(running)
            await asker.close()

    return asyncio.run(run())


class _SharedAsk:
    """One semaphore, and one answer to each request, for all tasks."""

    def __init__(self, model: Model, concurrency: int) -> None:
        self.model, self.free = model, asyncio.Semaphore(concurrency)
        self.asked: dict[Request[Any], asyncio.Future[Answer[Any]]] = {}

    async def __call__(self, requests: Sequence[Request[T]]) -> list[Answer[T]]:
        for request in requests:
            if request not in self.asked:
                self.asked[request] = asyncio.ensure_future(self._one(request))
        return [await self.asked[request] for request in requests]

    async def close(self) -> None:
        await _stopped(self.asked.values())
        await self.model.close()

    async def _one(self, request: Request[T]) -> Answer[T]:
        async with self.free:
            return await self.model.complete(request)


async def _stopped(running: Any) -> None:
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
