"""What could make a difference to some rules: kinds of rows, people, and the lengths of time they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from gnrs_ppl.context.time import Duration
from gnrs_ppl.rule.canonical import refuse_data
from gnrs_ppl.rule.types import HALVES, KEY_OF, LOOK_BACK, MUTUAL, NEIGHBOURS, Act, Constraint, Structure
from gnrs_ppl.rulebook.imagined import Cells, Imagined

Field = Literal["role", "object", "location"]
FIELDS: tuple[Field, ...] = ("role", "object", "location")
SOMEBODY, SOMEBODY_ELSE = "person 1", "person 2"


class Kind(NamedTuple):
    """A kind of row: an act in a log, with what the rules may look at; None where they do not look."""

    activity: str
    channel: str
    role: str | None = None
    object: str | None = None
    location: str | None = None
    cells: Cells = ()


class Vocabulary(NamedTuple):
    """What traces are made of.

    Attributes
    ----------
    kinds : tuple of Kind
        Values that all rules treat alike stand for one another.
    openers : frozenset of Kind
        Those that may call a rule up; empty where any row does.
    people : tuple of str
        Two where it matters who acts.
    durations : tuple of Duration
        Shortest first.
    """

    kinds: tuple[Kind, ...]
    openers: frozenset[Kind]
    people: tuple[str, ...]
    durations: tuple[Duration, ...]

    @property
    def acts(self) -> list[str]:
        """The acts, once each."""
        return list(dict.fromkeys(kind.activity for kind in self.kinds))

    def values(self, field: Field) -> list[str]:
        """The values of a field, once each."""
        return list(dict.fromkeys(v for kind in self.kinds if (v := getattr(kind, field)) is not None))


class _Use(NamedTuple):
    """A place of a rule that looks for an act: where, which patterns, and in which logs."""

    place: str
    act: Act
    channels: tuple[str, ...]


def vocabulary(
    structures: Sequence[Structure],
    imagined: Imagined,
    cells: Mapping[str, Sequence[Cells]] | None = None,
) -> Vocabulary:
    """What may make a difference to one of the rules.

    Acts in every log in which a rule looks for them; roles, objects and places that a rule names for an act,
    and one other of each; another act where a rule counts any event of a case; two people, or two objects,
    where a rule asks for the same.

    Parameters
    ----------
    structures : sequence of Structure
    imagined : Imagined
    cells : mapping, optional
        What rows of an act may record for conditions on data.

    Raises
    ------
    InputError
        A rule states a condition on data, for which no values are imagined.
    """
    for structure in structures if cells is None else ():
        refuse_data(structure, "imagined cases hold no data")
    uses = [use for number, s in enumerate(structures) for use in _uses(number, s, imagined)]
    same_object = any(s.norm.correlation(c) == "same_object" for s in structures for c in s.norm.constraints)
    looked_at = _looked_at(structures, uses)
    kinds: dict[Kind, None] = {}
    for activity, channel in dict.fromkeys(
        (a, c) for u in uses for a in u.act.activities for c in imagined.recorders(a, u.channels)
    ):
        options: list[list[str | None]] = []
        for field in FIELDS:
            named = looked_at.get((activity, field), {})
            values: list[str | None] = [*_one_of_each(named)]
            if named or (field == "object" and same_object):
                values.append(_other(field, named))
            if field == "object" and same_object:
                values.append(f"{_other(field, named)} still")
            options.append(values or [None])
        for role in options[0]:
            for thing in options[1]:
                for location in options[2]:
                    kinds[Kind(activity, channel, role, thing, location)] = None
    for kind in _closing(structures, imagined):
        if (kind.activity, kind.channel) not in {(k.activity, k.channel) for k in kinds}:
            kinds[kind] = None
    if other := _another(structures, imagined, {kind.activity for kind in kinds}):
        kinds[other] = None
    held = cells or {}
    kinds = {kind._replace(cells=one): None for kind in kinds for one in held.get(kind.activity, ((),))}
    opening = {
        (a, c)
        for u in uses
        if u.place.endswith(("trigger", "mutual"))
        for a in u.act.activities
        for c in u.channels
    }
    by_start = any(s.trigger.act is None for s in structures)
    openers = frozenset(k for k in kinds if (k.activity, k.channel) in opening)
    return Vocabulary(
        tuple(kinds),
        frozenset() if by_start else openers,
        (SOMEBODY, SOMEBODY_ELSE) if any(map(_personal, structures)) else (SOMEBODY,),
        _durations(structures, imagined),
    )


def _uses(number: int, structure: Structure, imagined: Imagined) -> Iterator[_Use]:
    trigger, norm, policy = structure.trigger, structure.norm, structure.evidence.channels
    if trigger.act is not None and trigger.channel is not None:
        yield _Use(f"{number}.trigger", trigger.act, (trigger.channel,))
    for index, constraint in enumerate(norm.constraints):
        place = f"{number}.{index}"
        yield _Use(
            f"{place}.mutual" if constraint.template in MUTUAL else f"{place}.target",
            norm.target(constraint),
            policy,
        )
        if constraint.after is not None:
            yield _Use(f"{place}.after", constraint.after.act, (constraint.after.channel,))
        if constraint.unless is not None:
            yield _Use(f"{place}.unless", constraint.unless, policy)


def _looked_at(
    structures: Sequence[Structure], uses: Sequence[_Use]
) -> dict[tuple[str, Field], dict[str, frozenset[str]]]:
    """(activity, field) -> value -> the places that name it."""
    found: dict[tuple[str, Field], dict[str, set[str]]] = {}

    def name(activity: str, field: Field, value: str, place: str) -> None:
        found.setdefault((activity, field), {}).setdefault(value, set()).add(place)

    for use in uses:
        for number, pattern in enumerate(use.act.patterns):
            for field in FIELDS:
                if (value := getattr(pattern, field)) is not None:
                    name(pattern.activity, field, value, f"{use.place}.{number}")
    for number, structure in enumerate(structures):
        if structure.trigger.act is None:
            continue
        scope = structure.scope
        filters: dict[Field, tuple[str, ...]] = {
            "role": scope.roles if structure.norm.bearer == "trigger" else (),
            "object": scope.objects,
            "location": scope.locations,
        }
        for activity in structure.trigger.act.activities:
            for field, values in filters.items():
                for value in values:
                    name(activity, field, value, f"{number}.scope")
    return {key: {v: frozenset(places) for v, places in named.items()} for key, named in found.items()}


def _one_of_each(named: Mapping[str, frozenset[str]]) -> list[str]:
    """One of the values that stand in the same places: no rule tells them apart."""
    first: dict[frozenset[str], str] = {}
    for value, places in named.items():
        first.setdefault(places, value)
    return list(first.values())


def _other(field: Field, named: Mapping[str, object]) -> str:
    name = f"another {'place' if field == 'location' else field}"
    while name in named:
        name += " yet"
    return name


def _personal(structure: Structure) -> bool:
    """Whether it matters who acts."""
    norm = structure.norm
    first = structure.trigger.once == "first" and norm.bearer == "trigger"
    return first or any(KEY_OF.get(norm.correlation(c)) == "resource" for c in norm.constraints)


def _runs_to_closure(structure: Structure, constraint: Constraint) -> bool:
    """Whether the interval of a constraint may end with its case (SEMANTICS line 9)."""
    if constraint.template == "end":
        return True
    unlimited = constraint.deadline is None and structure.trigger.window is None
    return unlimited and constraint.template not in (*LOOK_BACK, "init")


def _any_closure(structures: Sequence[Structure]) -> bool:
    return any(_runs_to_closure(s, c) for s in structures for c in s.norm.constraints)


def _closing(structures: Sequence[Structure], imagined: Imagined) -> list[Kind]:
    """A row that closes a case, where one may end an interval."""
    if not _any_closure(structures):
        return []
    durable = [c.name for c in imagined.records.channels if c.durable]
    found = (
        Kind(activity, channel)
        for activity in imagined.records.case_end
        for channel in imagined.recorders(activity, durable)
    )
    return [kind for kind in [next(found, None)] if kind]


def _another(structures: Sequence[Structure], imagined: Imagined, known: set[str]) -> Kind | None:
    """A row of another act, where any event of a case counts."""
    quiet = imagined.records.quiet_after is not None and _any_closure(structures)
    beside = any(
        half in NEIGHBOURS
        for s in structures
        for c in s.norm.constraints
        for half in HALVES.get(c.template, (c.template,))
    )
    by_start = any(s.trigger.act is None for s in structures)
    if not (quiet or beside or by_start):
        return None
    cited = dict.fromkeys(name for s in structures for name in s.evidence.channels)
    for name in cited:
        channel = imagined.records.channel(name)
        if channel is not None and channel.durable:
            act = next((a for a in channel.activities or () if a not in known), "something else")
            return Kind(act, name)
    return None


def _durations(structures: Sequence[Structure], imagined: Imagined) -> tuple[Duration, ...]:
    """Every length of time that bounds an interval, once each."""
    found: dict[Duration, None] = {}
    for structure in structures:
        for constraint in structure.norm.constraints:
            found |= dict.fromkeys([constraint.deadline] if constraint.deadline else [])
        found |= dict.fromkeys([structure.trigger.window] if structure.trigger.window else [])
        several = structure.evidence.operator != "any" and len(structure.evidence.channels) > 1
        if several and imagined.records.match_within is not None:
            found[imagined.records.match_within] = None
    if imagined.records.quiet_after is not None and _any_closure(structures):
        found[imagined.records.quiet_after] = None
    return tuple(sorted(found, key=lambda d: (d.shortest_seconds(), d.isoformat())))
