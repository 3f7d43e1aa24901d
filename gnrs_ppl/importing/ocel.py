"""OCEL 2.0 (JSON, XML, SQLite): events of many objects become the rows of cases of one type of object."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.importing.columns import NAMES, letters
from gnrs_ppl.importing.staging import Found, Staging, bytes_of, text_of
from gnrs_ppl.importing.xml import Growing, local

MAX_JSON = 1 << 29
"""Bytes of an OCEL file in JSON, which is read whole."""
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
            self.staging.skip(
                "an event without id" if not event.id else "a second event of the same id", vars(event)
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
                self.staging.skip(f"its objects lead to no {kind!r}", row)
            for name in cases:
                self.staging.add(row | {"case:id": name} | self._values(name, event.time))
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
            f"a case is an object of type {kind!r} ({why}); --case takes {', '.join(map(repr, types[:12]))}"
        )
        found.said.append(
            f"{len(self.events):,} events, {len(self.objects):,} objects, {self.changes:,} values of "
            "objects' attributes"
        )
        if several:
            found.said.append(f"{several:,} events belong to several cases and stand once in each")
        unused = [name for name, count in self.event_types.items() if not count]
        if unused:
            found.said.append(f"declared, and on no event: {', '.join(map(repr, unused[:12]))}")
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

    def _values(self, name: str, time: str) -> dict[str, str]:
        """Attributes of a case's object as of a time."""
        found = {}
        for attribute, values in self.objects[name].values.items():
            if len(values) == 1:
                found[f"case:{attribute}"] = values[0][1]
            else:
                timed = sorted((_instant(at), value) for at, value in values)
                place = bisect_right([at for at, _ in timed], _instant(time)) - 1
                found[f"case:{attribute}"] = timed[max(place, 0)][1]
        return found


def _instant(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def read_json(path: Path, staging: Staging, case: str | None) -> Found:
    """Stage an OCEL 2.0 log in JSON.

    Raises
    ------
    InputError
        Larger than ``MAX_JSON`` bytes, not readable JSON, or not the shape of OCEL 2.0.
    """
    with bytes_of(path) as stream:
        content = stream.read(MAX_JSON + 1)
        if len(content) > MAX_JSON:
            raise staging.error(f"holds more than {MAX_JSON:,} bytes of JSON", "give it as SQLite or XML")
        stream.read(1)
        fingerprint = stream.digest.hexdigest()
    try:
        data = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise staging.error(
            f"is not readable JSON: {one_line(str(error), 120)}", "export or fetch it again"
        ) from None
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
    found = log.stage("OCEL 2.0, JSON", case)
    found.fingerprint = fingerprint
    return found


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
    """Stage an OCEL 2.0 log in an open SQLite database."""
    from gnrs_ppl.importing.database import rows_of, tables_of

    log = Ocel(staging)
    tables = tables_of(connection)
    maps = {}
    for what, declared in (("event", log.event_types), ("object", log.object_types)):
        if f"{what}_map_type" not in tables or what not in tables:
            raise InputError(
                f"lacks the table {what} or {what}_map_type of OCEL 2.0", "export it again", source=str(path)
            )
        maps[what] = {
            text_of(row[0]): f"{what}_{text_of(row[1])}"
            for row in rows_of(connection, f"{what}_map_type", path)
            if len(row) > 1
        }
        declared |= dict.fromkeys(maps[what], 0)
        for table in maps[what].values():
            if table not in tables:
                log.faults["types whose table is not there"] += 1
    ties: dict[str, list[str]] = defaultdict(list)
    if "object_object" in tables:
        for row in rows_of(connection, "object_object", path):
            ties[text_of(row[0])].append(text_of(row[1]))
    values: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(dict)
    for table in maps["object"].values():
        if table in tables:
            names = tables[table]
            for row in rows_of(connection, table, path):
                cells = dict(zip(names, row, strict=True))
                changed = cells.get("ocel_changed_field")
                for name, value in cells.items():
                    if not name.startswith("ocel_") and value is not None and changed in (None, "", name):
                        held = values[text_of(cells.get("ocel_id"))]
                        held.setdefault(name, []).append((text_of(cells.get("ocel_time")), text_of(value)))
    for row in rows_of(connection, "object", path):
        log.add_object(
            text_of(row[0]),
            Object(text_of(row[1]), ties.get(text_of(row[0]), []), values.get(text_of(row[0]), {})),
        )
    named: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in rows_of(connection, "event_object", path) if "event_object" in tables else []:
        named[text_of(row[0])].append((text_of(row[1]), text_of(row[2]) if len(row) > 2 else ""))
    told: dict[str, tuple[str, dict[str, str]]] = {}
    for table in maps["event"].values():
        if table in tables:
            for row in rows_of(connection, table, path):
                texts = dict(zip(tables[table], map(text_of, row), strict=True))
                attributes = {
                    name: value for name, value in texts.items() if not name.startswith("ocel_") and value
                }
                told[texts.get("ocel_id", "")] = (texts.get("ocel_time", ""), attributes)
    for row in rows_of(connection, "event", path):
        time, held_by = told.get(text_of(row[0]), ("", {}))
        log.add_event(Event(text_of(row[0]), text_of(row[1]), time, held_by, named.get(text_of(row[0]), [])))
    found = log.stage("OCEL 2.0, SQLite", case)
    found.fingerprint = fingerprint
    return found
