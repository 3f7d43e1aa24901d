"""What the rules of a charter must or must not say: pins of one rule, or of every rule that knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gnrs_ppl.errors import InputError
from gnrs_ppl.posterior.condition import Pin, condition, read_pins, resolved

if TYPE_CHECKING:
    from gnrs_ppl.calibration.weights import Weights
    from gnrs_ppl.models.graph import AndOrGraph


class RulePin(NamedTuple):
    """A pin, and the rule it is of; of every rule whose candidates know it where ``rule`` is None."""

    rule: str | None
    pin: Pin

    def __str__(self) -> str:
        return f"{self.rule}/{self.pin}" if self.rule else str(self.pin)


def read_rule_pins(fix: Sequence[str], without: Sequence[str]) -> tuple[RulePin, ...]:
    """Pins as a command takes them: ``[RULE/]slot.field=value`` and ``[RULE/]kind:name``.

    Raises
    ------
    InputError
        As :func:`~gnrs_ppl.posterior.condition.read_pins`.
    """
    found = []
    for text in fix:
        rule, rest = _split(text, "=")
        found += [RulePin(rule, pin) for pin in read_pins([rest], ())]
    for text in without:
        rule, rest = _split(text, ":")
        found += [RulePin(rule, pin) for pin in read_pins((), [rest])]
    return tuple(found)


def _split(text: str, sign: str) -> tuple[str | None, str]:
    """The rule that a pin names, and the pin."""
    place, equals, value = text.partition(sign)
    rule, slash, rest = place.rpartition("/")
    return (rule.strip() if slash else None), f"{rest}{equals}{value}"


def pinned(
    graphs: Mapping[str, AndOrGraph], pins: Sequence[RulePin], weights: Weights
) -> dict[str, AndOrGraph]:
    """Each rule's graph on what its pins leave of it.

    Raises
    ------
    InputError
        A rule that there is not, or a pin that no candidate knows.
    NoFeasibleStructure
        No rule meets the pins.
    """
    used: dict[str, list[Pin]] = {name: [] for name in graphs}
    for one in pins:
        if one.rule is not None:
            if one.rule not in graphs:
                raise InputError(
                    f"no rule is called {one.rule!r}",
                    f"choose one of {', '.join(graphs)}",
                    source="arguments",
                    field=f"--{one.pin.kind} {one}",
                )
            used[one.rule].append(one.pin)
            continue
        problem = None
        for name, graph in graphs.items():
            try:
                resolved(one.pin, graph)
            except InputError as error:
                problem = problem or error
            else:
                used[name].append(one.pin)
        if problem is not None and not any(one.pin in known for known in used.values()):
            raise problem
    return {name: condition(graph, used[name], weights) for name, graph in graphs.items()}
