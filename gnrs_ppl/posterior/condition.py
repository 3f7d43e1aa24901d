"""Exact conditioning of a factor graph on what is pinned: options that contradict a pin leave the space.

Evidence on options by content is a factor of zeros and ones on one slot, so p(a | x, pins) is p(a | x) on the
product of what is left, normalised; every sampler runs on that space as on any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from gnrs_ppl.context.load import nearest
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Kind
from gnrs_ppl.errors import InputError, NoFeasibleStructure
from gnrs_ppl.inference.exact import STATE_LIMIT, enumerate_space, fewest_flags, number_of_states
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.graph import AndOrGraph, option_label
from gnrs_ppl.models.space import restricted
from gnrs_ppl.posterior.fields import NOTHING, SLOT_FIELDS, TIMES, said
from gnrs_ppl.rule.canonical import names_in
from gnrs_ppl.rule.pools import Option
from gnrs_ppl.rule.types import SLOTS

if TYPE_CHECKING:
    from gnrs_ppl.calibration.weights import Weights

KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)} | {"activity": "action"}
"""What ``--without`` may name, and the kind of name it is."""
SHOWN = 8
"""Values that an error line lists."""


class Pin(NamedTuple):
    """One piece of evidence on options.

    Attributes
    ----------
    kind : {"fix", "without"}
    place : str
        fix: ``slot.field``, or a slot alone for an option by its label; without: a kind of name.
    value : str
    """

    kind: Literal["fix", "without"]
    place: str
    value: str

    def __str__(self) -> str:
        return f"{self.place}{'=' if self.kind == 'fix' else ':'}{self.value}"

    def as_dict(self) -> dict[str, str]:
        """As ``draft.json`` has it."""
        return self._asdict()


def read_pins(fix: Sequence[str], without: Sequence[str]) -> tuple[Pin, ...]:
    """Pins as a command takes them: ``slot.field=value`` and ``kind:name``.

    Raises
    ------
    InputError
        Not of that shape, or no such field or kind; the line says which there are.
    """
    pins = []
    for text in fix:
        place, _, value = (part.strip() for part in text.partition("="))
        slot, dot, field = place.partition(".")
        if not value or slot not in SLOTS or (dot and field not in SLOT_FIELDS[slot]):
            known = [f"{s}.{f}" for s in SLOTS for f in SLOT_FIELDS[s]]
            near = nearest(place, [*known, *SLOTS])
            if slot in SLOTS and value:
                remedy = f"choose one of {', '.join(SLOT_FIELDS[slot])}"
                problem = f"{slot} has no field {field!r}"
            else:
                problem = f"{text!r} is no pin"
                remedy = "write SLOT.FIELD=VALUE, such as norm.deadline=P5D" + (
                    f"; did you mean {near}={value or 'VALUE'}?" if near and slot not in SLOTS else ""
                )
            raise InputError(problem, remedy, source="arguments", field="--fix")
        pins.append(Pin("fix", place, value))
    for text in without:
        kind, _, name = (part.strip() for part in text.partition(":"))
        if kind not in KINDS or not name:
            raise InputError(
                f"{text!r} is not KIND:NAME",
                f"write channel:erp_log; kinds are {', '.join(KINDS)}",
                source="arguments",
                field="--without",
            )
        pins.append(Pin("without", kind, name))
    return tuple(dict.fromkeys(pins))


def condition(graph: AndOrGraph, pins: Sequence[Pin], weights: Weights) -> AndOrGraph:
    """The graph with the options that meet every pin; labels and tables of the rest stay.

    Parameters
    ----------
    graph : AndOrGraph
    pins : sequence of Pin
    weights : Weights
        What ranks the rules that come nearest where the pins cannot be met.

    Raises
    ------
    InputError
        A value, or a name, that no option of the pools has; the line says which there are.
    NoFeasibleStructure
        No rule meets all pins; the line says which hard condition or which pins stand in the way, and the
        nearest rule that there is.
    """
    if not pins:
        return graph
    pins = [resolved(pin, graph) for pin in pins]
    kept = [
        [o for o, option in enumerate(options) if all(meets(pin, slot, option) for pin in pins)]
        for slot, options in zip(SLOTS, graph.options, strict=True)
    ]
    empty = [slot for slot, options in zip(SLOTS, kept, strict=True) if not options]
    if empty:
        concerned = [pin for pin in pins if _excludes(pin, empty[0], graph)]
        told = " and ".join(map(str, concerned))
        if len(concerned) == 1:  # a value that no option says was refused before
            why = f"every {empty[0]} candidate names the {concerned[0].place} {concerned[0].value!r}"
        else:
            why = f"no {empty[0]} candidate meets {told} at once"
        raise NoFeasibleStructure(f"{why}{_nearest(graph, pins, weights)}")
    conditioned = restrict(graph, kept)
    tables = contract(conditioned.space, weights.array())
    if number_of_states(tables) <= STATE_LIMIT:
        near = fewest_flags(tables).position
        broken = conditioned.raised(near)
        if broken:
            why = " and ".join(f"{flag.name} ({flag.remedy})" for flag in broken)
            told = " and ".join(map(str, pins))
            raise NoFeasibleStructure(
                f"no rule of these pools meets {told}: every one breaks a hard condition, at the least "
                f"{why}{_nearest(graph, pins, weights)}"
            )
    return conditioned


def restrict(graph: AndOrGraph, kept: Sequence[Sequence[int]]) -> AndOrGraph:
    """The graph of some options of each slot; candidates are numbered anew."""
    space = restricted(graph.space, kept)
    chosen = tuple(
        tuple(options[o]._replace(candidate_index=int(space.candidate[v, n])) for n, o in enumerate(kept[v]))
        for v, options in enumerate(graph.options)
    )
    flags = tuple((flag, table[_cells(flag.slots, kept)]) for flag, table in graph.flags)
    return replace(graph, options=chosen, space=space, flags=flags)


def _cells(slots: tuple[str, ...], kept: Sequence[Sequence[int]]) -> Any:
    return np.ix_(*(np.asarray(kept[SLOTS.index(slot)], np.int64) for slot in slots))


def meets(pin: Pin, slot: str, option: Option) -> bool:
    """Whether an option of a slot leaves a resolved pin standing."""
    if pin.kind == "without":
        kind = KINDS[pin.place]
        return all((p.kind, p.name) != (kind, pin.value) for p in names_in(option.content))
    where, _, field = pin.place.partition(".")
    if where != slot:
        return True
    if not field:
        return pin.value in (option.candidate, option_label(option))
    stated = said(option.content)[field]
    return not stated if pin.value == NOTHING else pin.value in stated


def resolved(pin: Pin, graph: AndOrGraph) -> Pin:
    """The pin with its value as the pools spell it.

    Raises
    ------
    InputError
        No option has it; the line says which values there are, the nearest first among times.
    """
    if pin.kind == "without":
        kind = KINDS[pin.place]
        known = {
            payload.name
            for options in graph.options
            for option in options
            for payload in names_in(option.content)
            if payload.kind == kind
        }
        where = f"no candidate names the {pin.place}"
    else:
        slot, _, field = pin.place.partition(".")
        options = graph.options[SLOTS.index(slot)]
        if field:
            stated = [said(option.content)[field] for option in options]
            known = {value for values in stated for value in values}
            known |= {NOTHING} if not all(stated) else set()
        else:
            known = {name for option in options for name in (option.candidate, option_label(option))}
        where = f"no {slot} candidate says"
    spelt = _spelt(pin.value, known, time=pin.place in TIMES)
    if spelt is not None:
        return pin._replace(value=spelt)
    listed = _listed(pin.value, known, time=pin.place in TIMES)
    near = nearest(_loose(pin.value), {_loose(k): k for k in known})
    meant = next((k for k in sorted(known) if near is not None and _loose(k) == near), None)
    within = [k for k in sorted(known) if _loose(pin.value) in _loose(k)]
    guess = meant or (within[0] if within else None)
    remedy = f"there are {listed}" if known else "leave it out"
    raise InputError(
        f"{where} {pin.value!r}",
        f"did you mean {guess!r}? {remedy}" if guess and pin.place not in TIMES else remedy,
        source="arguments",
        field=f"--{pin.kind} {pin}",
    )


def _spelt(value: str, known: set[str], *, time: bool) -> str | None:
    """The known value that is meant: as written, as the same time, or but for case and signs."""
    if value in known:
        return value
    if time:
        length = _length(value)
        alike = (k for k in sorted(known) if length is not None and _length(k) == length)
        return next((k for k in alike if Duration.parse(k).working == Duration.parse(value).working), None)
    same = [k for k in sorted(known) if _loose(k) == _loose(value)]
    return same[0] if len(same) == 1 else None


def _listed(value: str, known: set[str], *, time: bool) -> str:
    """Values in the order of their nearness where they are times, else by name."""
    length = _length(value) if time else None
    if length is not None:
        wanted = length
        order = sorted(known, key=lambda k: (abs((_length(k) or 0.0) - wanted), k))
    else:
        order = sorted(known)
    more = f" and {len(order) - SHOWN} more" if len(order) > SHOWN else ""
    nearest_first = " (nearest first)" if length is not None else ""
    return f"{', '.join(order[:SHOWN])}{more}{nearest_first}"


def _length(text: str) -> float | None:
    try:
        return Duration.parse(text).shortest_seconds()
    except ValueError:
        return None


def _loose(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _excludes(pin: Pin, slot: str, graph: AndOrGraph) -> bool:
    return not all(meets(pin, slot, option) for option in graph.options[SLOTS.index(slot)])


class Nearest(NamedTuple):
    """The feasible rule that gives up the fewest pins, the best-scoring among those.

    Attributes
    ----------
    position : (V,) int
    score : float
        s_search.
    given_up : tuple of Pin
    """

    position: NDArray[np.int32]
    score: float
    given_up: tuple[Pin, ...]


def nearest_rule(graph: AndOrGraph, pins: Sequence[Pin], weights: Weights) -> Nearest | None:
    """The feasible rule that gives up the fewest of some resolved pins; None where no rule is feasible or the
    space is too large to enumerate.
    """
    tables = contract(graph.space, weights.array())
    if number_of_states(tables) > STATE_LIMIT:
        return None
    found = enumerate_space(tables)
    if not found.any_feasible:
        return None
    broken = np.zeros((len(pins), *found.sizes), bool)
    for p, pin in enumerate(pins):
        for v, slot in enumerate(SLOTS):
            fails = np.array([not meets(pin, slot, option) for option in graph.options[v]])
            broken[p] |= fails.reshape([-1 if u == v else 1 for u in range(len(SLOTS))])
    count = broken.sum(0).reshape(-1)
    fewest = found.feasible & (count == count[found.feasible].min())
    best = int(np.where(fewest, found.score, -np.inf).argmax())
    position = found.position(best)
    given_up = tuple(pin for p, pin in enumerate(pins) if broken[(p, *position.tolist())])
    return Nearest(position, float(found.score[best]), given_up)


def _nearest(graph: AndOrGraph, pins: Sequence[Pin], weights: Weights) -> str:
    """The nearest rule in words, as the end of a line."""
    found = nearest_rule(graph, pins, weights)
    if found is None:
        return "; no rule of these pools is feasible even without pins"
    labels = graph.labels()
    chosen = ", ".join(labels[slot][int(o)] for slot, o in zip(SLOTS, found.position, strict=True))
    gives = " and ".join(_instead(pin, graph, found.position) for pin in found.given_up)
    return f"; the nearest rule that works gives up {gives}: {chosen}, score {found.score:.4f}"


def _instead(pin: Pin, graph: AndOrGraph, position: NDArray[np.int32]) -> str:
    slot, _, field = pin.place.partition(".")
    if pin.kind == "without" or not field:
        return str(pin)
    has = said(graph.options[SLOTS.index(slot)][int(position[SLOTS.index(slot)])].content)[field]
    return f"{pin} (it says {' and '.join(has) or NOTHING})"
