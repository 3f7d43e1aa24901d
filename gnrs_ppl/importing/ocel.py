"""OCEL 2.0 (JSON, XML, SQLite): events of many objects become the rows of cases of one type of object."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from gnrs_ppl.importing.columns import NAMES, letters
from gnrs_ppl.importing.database import rows_of, tables_of
from gnrs_ppl.importing.staging import Found, Staging, bytes_of, text_of
from gnrs_ppl.importing.times import read_times
from gnrs_ppl.importing.xml import Growing, local

MAX_EVENTS = 5_000_000
"""Events, and objects, of an OCEL log, which are held in memory."""
SHARED = 50.0
"""Objects of the case's type that one of another type is tied to on average, from which it says no longer
which case is meant."""
HOPS = 3
"""Ties from an object to the case it belongs to, at most."""
LONG = 50
"""Events of a case on average, beyond which an object is rather somebody or something with many cases."""


@dataclass
class Object:
    """An object: its type, the objects it is tied to, and for each attribute its values with their times."""

    kind: str
    ties: list[str] = field(default_factory=list)
    values: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


@dataclass
class Event:
    """An event: type, time as written, attributes, and the objects it names with their qualifiers."""

    id: str
    kind: str
    time: str
    attributes: dict[str, str]
    objects: list[tuple[str, str]]


class Ocel:
    """A log as it is read; what does not fit together is counted."""

    def __init__(self, staging: Staging) -> None:
        self.staging = staging
        self.event_types: dict[str, int] = {}
        self.object_types: dict[str, int] = {}
        self.events: dict[str, Event] = {}
        self.objects: dict[str, Object] = {}
        self.faults: Counter[str] = Counter()
        self.changes = 0

    def add_event(self, event: Event) -> None:
        """Keep an event; a second one of the same id is set aside."""
        if not event.id or event.id in self.events:
            repeated = event == self.events.get(event.id)
            self.staging.skip(
                "an event without id" if not event.id else "a second event of the same id",
                vars(event),
                None if repeated else {"ocel:type": event.kind},
            )
            return
        if event.kind not in self.event_types:
            self.faults["types of events that are used and not declared"] += 1
        self.event_types[event.kind] = self.event_types.get(event.kind, 0) + 1
        self.events[event.id] = event
        self._check(len(self.events))

    def add_object(self, name: str, thing: Object) -> None:
        """Keep an object; of two with one id the first."""
        if not name or name in self.objects:
            self.faults["objects without id, or with the id of another, left out"] += 1
            return
        if thing.kind not in self.object_types:
            self.faults["types of objects that are used and not declared"] += 1
        self.object_types[thing.kind] = self.object_types.get(thing.kind, 0) + 1
        self.objects[name] = thing
        self.changes += sum(len(values) for values in thing.values.values())
        self._check(len(self.objects))

    def _check(self, count: int) -> None:
        if count > MAX_EVENTS:
            raise self.staging.error(
                f"holds more than {MAX_EVENTS:,} events or objects", "give the log in parts"
            )

    def stage(self, form: str, case: str | None) -> Found:
        """Rows of the cases of one type: an event stands once in each case it belongs to."""
        if not self.events:
            raise self.staging.error(
                "holds no event that can be read", "give an OCEL 2.0 log with events in it"
            )
        self._drop_dangling()
        owners, kind, sure, why = self._cases(case)
        moments = self._moments()
        people = self._people(kind)
        types = sorted(self.object_types)
        several = 0
        lone = all(len(event.attributes) == 1 for event in self.events.values()) and not people
        for event in self.events.values():
            named = [name for name, _ in event.objects if self.objects[name].kind == kind]
            cases = dict.fromkeys(
                named or [case for name, _ in event.objects for case in owners.get(name, ())]
            )
            row = {"ocel:id": event.id, "ocel:type": event.kind, "ocel:time": event.time}
            row |= {f"event:{name}": value for name, value in event.attributes.items()}
            if lone:
                row["event:who"] = next(iter(event.attributes.values()))
            for type_ in types:
                things = list(
                    dict.fromkeys(name for name, _ in event.objects if self.objects[name].kind == type_)
                )
                if things and type_ != kind:
                    row[f"object:{type_}"] = (
                        things[0] if len(things) == 1 else json.dumps(things, ensure_ascii=False)
                    )
            row |= self._who(event, people)
            several += len(cases) > 1
            if not cases:
                # of an event with objects it is known that it is in no such case
                self.staging.skip(f"its objects lead to no {kind!r}", row, None if event.objects else row)
            for name in cases:
                self.staging.add(row | {"case:id": name} | self._values(name, event.time, moments))
        self.staging.finish()
        found = Found(
            form, activities=dict(self.event_types), objects={t: n for t, n in self.object_types.items() if n}
        )
        found.hints = {
            "activity": ("ocel:type", "its type in OCEL"),
            "timestamp": ("ocel:time", "its time in OCEL"),
            "case_id": ("case:id", why),
        }
        if several == 0:
            found.hints["event_id"] = ("ocel:id", "its id in OCEL")
        if lone:
            found.hints["resource"] = ("event:who", "the one attribute of each event")
        for column in ("resource", "role"):
            if f"person:{column}" in self.staging.columns:
                found.hints[column] = (f"person:{column}", f"an object of type {people!r}")
        found.sure["case_id"] = sure
        found.said.append(
            f"a case is an object of type {kind!r} ({why}); --case takes "
            f"{', '.join(repr(name) for name in types if self.object_types[name])[:400]}"
        )
        found.said.append(
            f"{len(self.events):,} events, {len(self.objects):,} objects, {self.changes:,} values of "
            "objects' attributes"
        )
        if several:
            found.said.append(f"{several:,} events belong to several cases and stand once in each")
        for what, counts in (("event", self.event_types), ("object", self.object_types)):
            unused = [name for name, count in counts.items() if not count]
            if unused:
                found.said.append(f"declared, and of no {what}: {', '.join(map(repr, unused[:12]))}")
        found.said += [f"{count:,} {what}" for what, count in sorted(self.faults.items())]
        return found

    def _drop_dangling(self) -> None:
        for event in self.events.values():
            known = [tie for tie in event.objects if tie[0] in self.objects]
            self.faults["references of events to objects that are not there, left out"] += len(
                event.objects
            ) - len(known)
            event.objects = known
        for thing in self.objects.values():
            known_ties = [name for name in thing.ties if name in self.objects]
            self.faults["references of objects to objects that are not there, left out"] += len(
                thing.ties
            ) - len(known_ties)
            thing.ties = known_ties
        self.faults = +self.faults  # without zeros

    def _owners(self, kind: str) -> dict[str, tuple[str, ...]]:
        """Object -> the cases it belongs to, over ties in either direction; ties may run in circles."""
        near: dict[str, set[str]] = defaultdict(set)
        for name, thing in self.objects.items():
            for other in thing.ties:
                near[name].add(other)
                near[other].add(name)
        owners: dict[str, tuple[str, ...]] = {
            name: (name,) for name, thing in self.objects.items() if thing.kind == kind
        }
        for _ in range(HOPS):
            found: dict[str, dict[str, None]] = {}
            for name in sorted(near):
                if name not in owners:
                    cases = dict.fromkeys(
                        case for other in sorted(near[name]) for case in owners.get(other, ())
                    )
                    if cases:
                        found[name] = cases
            sizes: dict[str, list[int]] = defaultdict(list)
            for name, cases in found.items():
                sizes[self.objects[name].kind].append(len(cases))
            shared = {type_ for type_, counts in sizes.items() if sum(counts) / len(counts) > SHARED}
            new = {
                name: tuple(cases) for name, cases in found.items() if self.objects[name].kind not in shared
            }
            if not new:
                break
            owners |= new
        return owners

    def _cases(self, case: str | None) -> tuple[dict[str, tuple[str, ...]], str, float, str]:
        """Which cases objects belong to, the type of object a case is, how sure that is and why."""
        if case is not None:
            if case not in self.object_types:
                near = get_close_matches(case, list(self.object_types), 1)
                remedy = (
                    f"did you mean {near[0]!r}?"
                    if near
                    else f"it has {', '.join(map(repr, list(self.object_types)[:12]))}"
                )
                raise self.staging.error(f"no type of object {case!r}", remedy, "--case")
            return self._owners(case), case, 1.0, "told"
        best: tuple[float, str, dict[str, tuple[str, ...]], float] | None = None
        for kind in sorted(self.object_types):
            if not self.object_types[kind]:
                continue
            owners = self._owners(kind)
            acts: dict[str, set[str]] = defaultdict(set)
            reached = rows = direct = 0
            for event in self.events.values():
                named = [name for name, _ in event.objects if self.objects[name].kind == kind]
                cases = set(named) or {c for name, _ in event.objects for c in owners.get(name, ())}
                reached += bool(cases)
                direct += bool(named)
                rows += len(cases)
                for name in cases:
                    acts[name].add(event.kind)
            share = reached / len(self.events)
            variety = (
                sum(map(len, acts.values()))
                / max(len(acts), 1)
                / max(len([n for n in self.event_types.values() if n]), 1)
            )
            once = reached / max(rows, 1)
            brief = min(1.0, LONG * len(acts) / max(rows, 1))
            score = (0.8 * share + 0.2 * direct / len(self.events)) * variety**0.5 * once**0.5 * brief
            score *= 0.3 if self._is_person(kind) else 1.0
            if best is None or score > best[0]:
                best = (score, kind, owners, share)
        if best is None:
            raise self.staging.error(
                "holds no object, so nothing can be a case", "give a log whose events name objects"
            )
        return (
            best[2],
            best[1],
            round(best[0], 2),
            f"guessed {best[0]:.2f}: {best[3]:.0%} of the events lead to one",
        )

    def _is_person(self, kind: str) -> bool:
        plain = letters(kind)
        return plain.removesuffix("s") in NAMES["resource"] or plain in NAMES["resource"]

    def _people(self, kind: str) -> str | None:
        """The type of object that acts, by its name."""
        return next(
            (type_ for type_ in sorted(self.object_types) if type_ != kind and self._is_person(type_)), None
        )

    def _who(self, event: Event, people: str | None) -> dict[str, str]:
        """The one who acts, and the role, where an event names just one such object."""
        who = list(
            dict.fromkeys(name for name, _ in event.objects if people and self.objects[name].kind == people)
        )
        if len(who) != 1:
            return {}
        roles = [
            values for name, values in self.objects[who[0]].values.items() if letters(name) in NAMES["role"]
        ]
        return {"person:resource": who[0]} | ({"person:role": roles[0][0][1]} if roles and roles[0] else {})

    def _moments(self) -> dict[str, float]:
        """The times of events and of objects' values -> seconds since 1970; without those that cannot be read."""
        texts = dict.fromkeys(event.time for event in self.events.values())
        texts |= dict.fromkeys(
            at for thing in self.objects.values() for values in thing.values.values() for at, _ in values
        )
        found = {text: _instant(text) for text in texts}
        others = read_times(text for text, moment in found.items() if moment is None).written
        found |= {text: _instant(written) for text, written in others.items() if written}
        return {text: moment for text, moment in found.items() if moment is not None}

    def _values(self, name: str, time: str, moments: dict[str, float]) -> dict[str, str]:
        """Attributes of a case's object as of a time."""
        found = {}
        for attribute, values in self.objects[name].values.items():
            if time not in moments or any(at not in moments for at, _ in values):
                self.faults["values of objects whose time, or the event's, cannot be read, left out"] += 1
                continue
            timed = sorted(((moments[at], value) for at, value in values), key=itemgetter(0))
            place = bisect_right([at for at, _ in timed], moments[time]) - 1
            if place >= 0:
                found[f"case:{attribute}"] = timed[place][1]
        return found


def _instant(text: str) -> float | None:
    """Seconds since 1970; a value without a time was there from the beginning."""
    if not text:
        return -inf
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def read_json(data: dict[str, Any], staging: Staging, case: str | None) -> Found:
    """Stage an OCEL 2.0 log in JSON; what has not its shape counts as empty."""
    log = Ocel(staging)
    for what, declared in (("eventTypes", log.event_types), ("objectTypes", log.object_types)):
        declared |= dict.fromkeys((_text(entry, "name") for entry in _list(data, what)), 0)
    for entry in _list(data, "objects"):
        thing = Object(
            _text(entry, "type"), [_text(tie, "objectId") for tie in _list(entry, "relationships")]
        )
        for value in _list(entry, "attributes"):
            thing.values.setdefault(_text(value, "name"), []).append(
                (_text(value, "time"), _text(value, "value"))
            )
        log.add_object(_text(entry, "id"), thing)
    for entry in _list(data, "events"):
        attributes = {_text(value, "name"): _text(value, "value") for value in _list(entry, "attributes")}
        ties = [(_text(tie, "objectId"), _text(tie, "qualifier")) for tie in _list(entry, "relationships")]
        log.add_event(Event(_text(entry, "id"), _text(entry, "type"), _text(entry, "time"), attributes, ties))
    return log.stage("OCEL 2.0, JSON", case)


def _list(entry: Any, key: str) -> list[Any]:
    """A list of mappings in a mapping; what is no such thing counts as empty."""
    value = entry.get(key) if isinstance(entry, dict) else None
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(entry: dict[str, Any], key: str) -> str:
    return text_of(entry.get(key))


def read_xml(path: Path, staging: Staging, case: str | None) -> Found:
    """Stage an OCEL 2.0 log in XML; raises InputError as :class:`gnrs_ppl.importing.xml.Growing`."""
    log = Ocel(staging)
    with bytes_of(path) as stream:
        document = Growing(stream, str(path))
        for root in document:
            for holder in document.take(root):
                _take(local(holder.tag), document.take(holder, ended=True), log)
            if len(root):
                _take(local(root[-1].tag), document.take(root[-1]), log)
        fingerprint = stream.digest.hexdigest()
    found = log.stage("OCEL 2.0, XML", case)
    found.fingerprint = fingerprint
    return found


def _take(what: str, entries: Iterable[Element], log: Ocel) -> None:
    for entry in entries:
        if what == "object-types":
            log.object_types.setdefault(entry.get("name") or "", 0)
        elif what == "event-types":
            log.event_types.setdefault(entry.get("name") or "", 0)
        elif what == "objects":
            thing = Object(entry.get("type") or "", [name for name, _ in _ties(entry)])
            for value in _attributes(entry):
                thing.values.setdefault(value.get("name") or "", []).append(
                    (value.get("time") or "", value.text or "")
                )
            log.add_object(entry.get("id") or "", thing)
        elif what == "events":
            attributes = {value.get("name") or "": value.text or "" for value in _attributes(entry)}
            event = Event(
                entry.get("id") or "",
                entry.get("type") or "",
                entry.get("time") or "",
                attributes,
                list(_ties(entry)),
            )
            log.add_event(event)


def _attributes(entry: Element) -> Iterator[Element]:
    for holder in entry:
        if local(holder.tag) == "attributes":
            yield from holder


def _ties(entry: Element) -> Iterator[tuple[str, str]]:
    for holder in entry:
        if local(holder.tag) == "objects":
            for tie in holder:
                yield tie.get("object-id") or "", tie.get("qualifier") or ""


def read_sqlite(path: Path, staging: Staging, case: str | None, connection: Any, fingerprint: str) -> Found:
    """Stage an OCEL 2.0 log in an open SQLite database.

    The table ``event_Open`` holds the events of one type; ``event_map_type`` says of which. Where an event has
    a type that is not listed there (its number), or none, the table it stands in says its type.
    """
    log = Ocel(staging)
    tables = _Tables(connection, path)
    types = {"event": tables.types("event", log), "object": tables.types("object", log)}
    log.event_types = dict.fromkeys(types["event"].values(), 0)
    log.object_types = dict.fromkeys(types["object"].values(), 0)
    ties: dict[str, list[str]] = defaultdict(list)
    for one, other in tables.rows("object_object", "ocel_source_id", "ocel_target_id"):
        ties[one].append(other)
    kinds: dict[str, str] = {}
    values: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(dict)
    for table, kind in types["object"].items():
        for cells in tables.records(table):
            kinds[cells.get("ocel_id", "")] = kind
            changed = cells.get("ocel_changed_field")
            for name, value in cells.items():
                if not name.startswith("ocel_") and value and changed in ("", None, name):
                    held = values[cells.get("ocel_id", "")]
                    held.setdefault(name, []).append((cells.get("ocel_time", ""), value))
    for name, kind in tables.rows("object", "ocel_id", "ocel_type"):
        known = tables.known("object", kind, kinds.get(name), log)
        log.add_object(name, Object(known, ties.get(name, []), values.get(name, {})))
    named: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for event, name, qualifier in tables.rows(
        "event_object", "ocel_event_id", "ocel_object_id", "ocel_qualifier"
    ):
        named[event].append((name, qualifier))
    told: dict[str, tuple[str, str, dict[str, str]]] = {}
    for table, kind in types["event"].items():
        for cells in tables.records(table):
            attributes = {n: value for n, value in cells.items() if not n.startswith("ocel_") and value}
            told[cells.get("ocel_id", "")] = (kind, cells.get("ocel_time", ""), attributes)
    for event, stated in tables.rows("event", "ocel_id", "ocel_type"):
        kind, time, attributes = told.get(event, ("", "", {}))
        if event not in told:
            log.faults["events that stand in no table of a type, which would say their time"] += 1
        known = tables.known("event", stated, kind, log)
        log.add_event(Event(event, known, time, attributes, named.get(event, [])))
    found = log.stage("OCEL 2.0, SQLite", case)
    found.fingerprint = fingerprint
    return found


class _Tables:
    """The tables of an OCEL 2.0 log in SQLite, their cells as text."""

    def __init__(self, connection: Any, path: Path) -> None:
        self.connection, self.path = connection, path
        self.columns = tables_of(connection)
        self.listed: dict[str, dict[str, str]] = {}

    def records(self, table: str) -> Iterator[dict[str, str]]:
        """The rows of a table, none where it is not there."""
        if table in self.columns:
            for row in rows_of(self.connection, table, self.path):
                yield dict(zip(self.columns[table], map(text_of, row), strict=True))

    def rows(self, table: str, *columns: str) -> Iterator[tuple[str, ...]]:
        """Some columns of a table, by their names or else by where they stand; empty where there is none."""
        there = self.columns.get(table, [])
        names = columns if set(columns[:2]) <= set(there) else there[: len(columns)]
        for cells in self.records(table):
            yield (*(cells.get(name, "") for name in names), *[""] * (len(columns) - len(names)))

    def types(self, what: str, log: Ocel) -> dict[str, str]:
        """Table -> the type of which it holds the events, or objects."""
        listed = {}
        for kind, mapped in self.rows(f"{what}_map_type", "ocel_type", "ocel_type_map"):
            # a number names nothing that a rule could speak of, its table does
            listed[f"{what}_{mapped}"] = mapped if kind.isdigit() and not mapped.isdigit() else kind
        lost = [f"{kind!r} ({table})" for table, kind in listed.items() if table not in self.columns]
        extra = [
            table
            for table, columns in self.columns.items()
            if table.startswith(f"{what}_") and table not in listed and "ocel_id" in columns
        ]
        self.listed[what] = {table.removeprefix(f"{what}_"): kind for table, kind in listed.items()}
        for faulty, fault in (
            (lost, f"types of {what}s whose table is not there"),
            (extra, f"tables of {what}s that {what}_map_type does not list, which name their type"),
        ):
            if faulty:
                log.faults[f"{fault}: {', '.join(faulty[:12])}"] = len(faulty)
        return listed | {table: table.removeprefix(f"{what}_") for table in extra}

    def known(self, what: str, stated: str, by_table: str | None, log: Ocel) -> str:
        """The name of a stated type: itself, or what its table is listed for where that is another sign."""
        listed = self.listed[what]
        names = set(listed.values())
        if stated in names:
            return stated
        if stated in listed:
            return listed[stated]
        if by_table and (by_table in names or not stated or stated.isdigit()):
            log.faults[f"{what}s that state no listed type, which their table tells"] += 1
            return by_table
        return stated
