"""Processes that write into one folder and are killed, stopped or raced: run as a command, it prints what
became of them as JSON.

It loads little, so that each of many trials is a fork of some milliseconds.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gnrs_ppl import stops
from gnrs_ppl.context import output
from gnrs_ppl.errors import InputError

NAMES = ("rule.txt", "rule.json", "draft.json", "posterior.nc")


def generation(number: int) -> list[tuple[str, bytes]]:
    return [(name, f"{number} {name} ".encode() * 2000) for name in NAMES]


def state(folder: Path) -> Any:
    """The generation that a folder holds, "half" where its readers refuse it, "nothing", or "mixed", which
    must not be."""
    if not (folder / NAMES[0]).exists() and not (folder / output.MANIFEST).exists():
        return "nothing"
    try:
        whole = {output.as_written(folder / name) for name in NAMES}
    except InputError:
        return "half"
    found = {(folder / name).read_bytes().split(b" ", 1)[0] for name in NAMES}
    return int(found.pop()) if whole == {True} and len(found) == 1 else "mixed"


def forked(work: Callable[[], int | None]) -> int:
    child = os.fork()
    if not child:
        try:
            os._exit(work() or 0)
        except InputError as error:
            os._exit(2 if "another run is writing there" in str(error) else 3)
        except BaseException:
            os._exit(99)
    return child


def writing(folder: Path, first: int) -> None:
    number = first
    while True:
        output.write_all(folder, generation(number), manifest=True)
        number += 1


def killed(folder: Path, trials: int) -> list[Any]:
    """What is left after a kill at some moment of endless writing, each on what the one before left."""
    chance, found = random.Random(0), []
    for trial in range(trials):
        child = forked(lambda trial=trial: writing(folder, 1000 * trial + 1000))
        time.sleep(chance.uniform(0.0005, 0.01))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found.append(state(folder))
    return found


def killed_at(folder: Path) -> list[Any]:
    """What is left after a kill before each renaming of a second writing; the last is not killed."""
    found: list[Any] = []
    for point in range(len(NAMES) + 3):
        place = folder / str(point)
        output.write_all(place, generation(1), manifest=True)

        def work(place: Path = place, point: int = point) -> None:
            replace, renamed = os.replace, 0

            def counted(source: Any, target: Any) -> None:
                nonlocal renamed
                if renamed == point:
                    os.kill(os.getpid(), signal.SIGKILL)
                renamed += 1
                replace(source, target)

            os.replace = counted  # type: ignore[assignment]
            output.write_all(place, generation(2), manifest=True)

        os.waitpid(forked(work), 0)
        before = state(place)
        output.write_all(place, generation(3), manifest=True)
        found.append([before, state(place)])
    return found


def raced(folder: Path, rounds: int) -> list[Any]:
    """Of two writers at once: their codes, and what the folder holds; the second begins while the first is
    half way in every other round."""
    found = []
    for turn in range(rounds):
        heard, told = os.pipe()

        def first(turn: int = turn, told: int = told) -> None:
            if turn % 2:
                replace = os.replace

                def slow(source: Any, target: Any) -> None:
                    replace(source, target)
                    if Path(target).name == NAMES[1]:
                        os.write(told, b"x")
                        time.sleep(0.05)

                os.replace = slow  # type: ignore[assignment]
            else:
                os.write(told, b"x")
            output.write_all(folder, generation(2 * turn), manifest=True)

        one = forked(first)
        os.read(heard, 1)
        two = forked(
            lambda turn=turn: output.write_all(folder, generation(2 * turn + 1), manifest=True) and None
        )
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in (one, two)]
        found.append([codes, state(folder)])
        os.close(heard)
        os.close(told)
    return found


def stopped(folder: Path, trials: int) -> list[Any]:
    """Code, state and what else lies there after a stop at some moment of endless writing."""
    chance, found = random.Random(1), []
    for trial in range(trials):
        heard, told = os.pipe()

        def work(trial: int = trial, told: int = told) -> None:
            stops.begin()
            os.write(told, b"x")
            writing(folder, 1000 * trial + 1000)

        child = forked(work)
        os.read(heard, 1)
        time.sleep(chance.uniform(0.0005, 0.01))
        os.kill(child, signal.SIGINT if trial % 2 else signal.SIGTERM)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        others = sorted({entry.name for entry in folder.iterdir()} - {*NAMES, output.MANIFEST})
        found.append([code, state(folder), others])
        os.close(heard)
        os.close(told)
    return found


def stuck(folder: Path) -> list[Any]:
    """Code, state, rest and seconds after a stop of a writer that does not come on."""

    def work() -> None:
        stops.begin()
        Path.write_bytes = lambda self, content: time.sleep(600) or 0  # type: ignore[method-assign]
        writing(folder, 1)

    child = forked(work)
    while not any(folder.glob(".gnrs-*")):
        time.sleep(0.005)
    began = time.monotonic()
    os.kill(child, signal.SIGINT)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return [code, state(folder), [entry.name for entry in folder.iterdir()], time.monotonic() - began]


if __name__ == "__main__":
    work, where, *numbers = sys.argv[1:]
    print(json.dumps(globals()[work](Path(where), *map(int, numbers))))
