"""What people really do in a scene, as a seeded discrete-event simulation; nothing here knows of logs, goals
or norms.

A scene is a module with ``CAST`` (role -> head count), ``PER_DAY`` (mean number of cases a day), ``HOURS``
(first and last hour in which a case starts) and ``episode(case)``, a SimPy process. How long people take and
how often they do a thing is drawn from smooth families (lognormal delays, logistic-normal tendencies) whose
parameters are drawn anew for every world and person, so that no threshold stands anywhere in a scene.
"""

from __future__ import annotations

import importlib
import math
import zlib
from collections.abc import Generator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import simpy

DAY = 86_400.0
"""Seconds in a day; instants of a world are seconds since the local midnight it starts at."""

Process = Generator[simpy.Event, Any, None]


class Person(NamedTuple):
    """Somebody in a scene."""

    name: str
    role: str


class Act(NamedTuple):
    """One thing that really happened, with what no log shows in ``facts``."""

    number: int
    case: str
    action: str
    at: float
    by: str
    role: str
    where: str | None
    object: str | None
    item: str | None
    facts: Mapping[str, Any]


class World(NamedTuple):
    """One run of a scene: every act in order of time, and per case its start and its latent facts."""

    family: str
    seed: int
    days: int
    acts: tuple[Act, ...]
    starts: Mapping[str, float]
    facts: Mapping[str, Mapping[str, Any]]
    people: tuple[Person, ...]


class Scene(Protocol):
    """What a scene module holds."""

    CAST: Mapping[str, int]
    PER_DAY: float
    HOURS: tuple[float, float]

    def episode(self, case: Case) -> Process:
        """The course of one case."""


class Stage:
    """People, habits and the clock of one world.

    Parameters
    ----------
    seed : int
        Everything random follows from it.
    cast : mapping
        Role -> number of people.
    shift : float
        How far behaviour has moved from the ordinary: 0 for grounding worlds; held-out worlds are slower and
        less careful.
    """

    def __init__(self, seed: int, cast: Mapping[str, int], shift: float) -> None:
        self.env = simpy.Environment()
        self.seed, self.shift = seed, shift
        self.people = {
            role: [Person(f"{role}_{i:02d}", role) for i in range(1, n + 1)] for role, n in cast.items()
        }
        self.acts: list[
            tuple[str, str, float, Person, str | None, str | None, str | None, dict[str, Any]]
        ] = []
        self._rooms: dict[str, simpy.Resource] = {}

    def draw(self, *key: str) -> np.random.Generator:
        """A generator that depends on the seed and a name only, not on what was drawn before."""
        return np.random.default_rng([self.seed, *(zlib.crc32(k.encode()) for k in key)])

    def tendency(self, habit: str, around: float, person: Person | None) -> float:
        """Probability that somebody does something: logistic-normal about ``around``, for the world and for
        the person.
        """
        centre = (
            math.log(around / (1 - around))
            + 0.4 * self.draw("does", habit).standard_normal()
            + 0.35 * self.shift
        )
        own = 0.6 * self.draw("does", habit, person.name).standard_normal() if person else 0.0
        return 1 / (1 + math.exp(-centre - own))

    def median(self, habit: str, minutes: float, person: Person | None) -> float:
        """Median of a delay in seconds: lognormal about the given order of magnitude, for the world and for
        the person.
        """
        own = 0.3 * self.draw("takes", habit, person.name).standard_normal() if person else 0.0
        return (
            60
            * minutes
            * math.exp(0.35 * self.draw("takes", habit).standard_normal() + own + 0.3 * self.shift)
        )

    def room(self, name: str, capacity: int) -> simpy.Resource:
        """Something only so many people can use at a time."""
        return self._rooms.setdefault(name, simpy.Resource(self.env, capacity))


class Case:
    """One case of a scene, as its process sees it."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.stage, self.name = stage, name
        self.rng = stage.draw("case", name)
        self.facts: dict[str, Any] = {}
        self._items = 0

    @property
    def now(self) -> float:
        """Seconds since the world's first midnight."""
        return float(self.stage.env.now)

    @property
    def hour(self) -> float:
        """Local hour of the day, 0 to 24."""
        return self.now % DAY / 3600

    def person(self, *roles: str, but: Person | None = None) -> Person:
        """Somebody of one of the roles, other than ``but``."""
        found = [p for role in roles for p in self.stage.people[role] if p != but]
        return found[int(self.rng.integers(len(found)))]

    def one_of(self, *choices: Any) -> Any:
        """One of some things, evenly."""
        return choices[int(self.rng.integers(len(choices)))]

    def item(self, kind: str) -> str:
        """A new individual thing of this case."""
        self._items += 1
        return f"{kind}/{self.name}.{self._items}"

    def know(self, **facts: Any) -> None:
        """Note something true of the case that no log shows."""
        self.facts.update(facts)

    def does(self, habit: str, around: float, by: Person | None = None) -> bool:
        """Whether somebody does something, by a tendency of about that size."""
        return bool(self.rng.random() < self.stage.tendency(habit, around, by))

    def act(
        self,
        by: Person,
        action: str,
        where: str | None = None,
        object: str | None = None,
        item: str | None = None,
        **facts: Any,
    ) -> None:
        """Somebody does something now; ``facts`` are what no log shows of it."""
        self.stage.acts.append((self.name, action, self.now, by, where, object, item, facts))

    def pause(self, habit: str, minutes: float, by: Person | None = None) -> simpy.Event:
        """Time passes: a lognormal delay of that order of magnitude."""
        median = self.stage.median(habit, minutes, by)
        return self.stage.env.timeout(median * math.exp(0.6 * self.rng.standard_normal()))

    def until(self, instant: float) -> simpy.Event:
        """Time passes to an instant; none where it lies in the past."""
        return self.stage.env.timeout(max(0.0, instant - self.now))

    def meanwhile(self, process: Process) -> simpy.Event:
        """Something else of the case goes on beside; yield the result to wait for it."""
        return self.stage.env.process(process)

    def turn(self, room: str, capacity: int) -> simpy.resources.resource.Request:
        """A request for a place in something scarce: ``with case.turn("stove", 2) as turn: yield turn``."""
        return self.stage.room(room, capacity).request()


def scene(family: str) -> Scene:
    """The scene module of a family."""
    return importlib.import_module(f"bench_maker.scenes.{family}")


def simulate(family: str, seed: int, days: int, shift: float = 0.0) -> World:
    """Run a scene.

    Parameters
    ----------
    family : str
        Scene family.
    seed, days : int
        Random seed, and number of days on which cases start (each runs to its end).
    shift : float
        How far behaviour has moved from the ordinary (0: not at all).

    Returns
    -------
    World
        Every act of every case.
    """
    play = scene(family)
    stage = Stage(seed, play.CAST, shift)
    calendar = stage.draw("calendar")
    counts = calendar.poisson([play.PER_DAY * (0.7 if day % 7 >= 5 else 1.1) for day in range(days)])
    first, last = play.HOURS
    starts = sorted(
        float(day * DAY + 3600 * calendar.uniform(first, last))
        for day, n in enumerate(counts)
        for _ in range(n)
    )
    cases = [Case(stage, f"{_initials(family)}-{seed}-{i:04d}") for i in range(1, len(starts) + 1)]

    def opening(case: Case, start: float) -> Process:
        yield stage.env.timeout(start)
        yield from play.episode(case)

    for case, start in zip(cases, starts, strict=True):
        stage.env.process(opening(case, start))
    stage.env.run()
    acts = tuple(
        Act(number, case, action, at, by.name, by.role, where, thing, item, facts)
        for number, (case, action, at, by, where, thing, item, facts) in enumerate(stage.acts)
    )
    return World(
        family,
        seed,
        days,
        acts,
        {c.name: s for c, s in zip(cases, starts, strict=True)},
        {c.name: c.facts for c in cases},
        tuple(p for group in stage.people.values() for p in group),
    )


def _initials(family: str) -> str:
    return "".join(word[0] for word in family.split("_") if word != "and").upper()
