"""XES logs (IEEE 1849), streamed: an event is a row, attributes of its trace stand beside its own behind
``case:``.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.etree.ElementTree import Element

from gnrs_ppl.context.table import MAX_ROWS
from gnrs_ppl.errors import one_line
from gnrs_ppl.importing.events import fill
from gnrs_ppl.importing.staging import Found, Staging, bytes_of
from gnrs_ppl.importing.xml import Growing, local

NAME = "case:concept:name"
VALUES = frozenset({"string", "date", "int", "float", "boolean", "id"})
HOLDERS = frozenset({"list", "container", "values"})


def read_xes(path: Path, staging: Staging) -> Found:
    """Stage the events of a XES log, plain or gzipped.

    Raises
    ------
    InputError
        Not well-formed, with a document type, beyond a limit, or no log at its root.
    """
    log = _Log(staging)
    with bytes_of(path) as stream:
        document = Growing(stream, str(path))
        for root in document:
            log.grow(root, document)
        log.finish()
        found = log.found()
        found.fingerprint = stream.digest.hexdigest()
        if stream.zipped:
            found.form += ", gzipped"
        return found


class _Log:
    """What was read so far of a log."""

    def __init__(self, staging: Staging) -> None:
        self.staging = staging
        self.events: list[dict[str, str]] = []
        self.number = 0
        self.loose: list[dict[str, str]] = []
        self.names: set[str] = set()
        self.unnamed: list[tuple[int, str]] = []
        self.extensions: list[str] = []
        self.classifiers: list[tuple[str, str]] = []
        self.globals: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.kinds: dict[str, str] = {}

    def grow(self, root: Element, document: Growing) -> None:
        """Take what is complete: traces with their events, and the events of the trace that still grows."""
        if self._kind(root.tag) != "log":
            raise self.staging.error(
                f"its root is {one_line(local(root.tag), 60)!r}, not a log", "give an XES log"
            )
        for element in document.take(root):
            kind = self._kind(element.tag)
            if kind == "trace":
                self._end(element)
            elif kind == "event":
                self.loose.append(self._attributes(element))
                if self.number:
                    self._set_loose_aside()
            else:
                self._header(element, kind)
        if len(root) and self._kind(root[-1].tag) == "trace":
            self._take_events(root[-1], document)

    def _take_events(self, trace: Element, document: Growing) -> None:
        """Events of a trace whose end has not come; its attributes are put back."""
        complete = document.take(trace)
        kept = [element for element in complete if not self._event(element)]
        trace[:0] = kept
        if len(self.events) + len(self.loose) > MAX_ROWS:
            raise self.staging.error(f"holds more than {MAX_ROWS:,} events", "give the log in parts")

    def _event(self, element: Element) -> bool:
        if self._kind(element.tag) != "event":
            return False
        self.events.append(self._attributes(element))
        return True

    def _end(self, trace: Element) -> None:
        for element in trace:
            self._event(element)
        self.number += 1
        self._set_loose_aside()
        own = {f"case:{key}": value for key, value in self._attributes(trace).items()}
        name = own.get(NAME, "").strip()
        if not name:
            self.faults["traces without a name, numbered as they come"] += 1
        if not self.events:
            self.faults["traces without events"] += 1
        elif not name or name in self.names:
            self.unnamed.append((self.number, name))
            own[NAME] = f"\x01{self.number}"  # no text of XML holds that sign
        else:
            self.names.add(name)
        for event in self.events:
            if not own.keys().isdisjoint(event):
                self.faults["events with an attribute that their trace has too, which is taken"] += 1
            self.staging.add(event | own)
        self.events = []

    def _set_loose_aside(self) -> None:
        """Where there are traces, what stands outside belongs to a case that is not known."""
        for event in self.loose:
            self.staging.skip("an event outside any trace", event, event)
        self.loose = []

    def finish(self) -> None:
        """Make the rows: a trace without a name of its own gets one that no other has."""
        for event in self.loose:
            self.staging.add(event)
        self.staging.finish()
        names: list[tuple[str, ...]] = []
        tried: Counter[str] = Counter()
        for number, name in self.unnamed:
            base = name or f"trace {number}"
            tried[base] = max(tried[base], 1)
            new = base
            while new in self.names:
                tried[base] += 1
                new = f"{base} ({tried[base]})"
            self.names.add(new)
            names.append((f"\x01{number}", new))
        repeated = [new for (_, name), (_, new) in zip(self.unnamed, names, strict=True) if name]
        if repeated:
            what = (
                f"traces with the name of an earlier one, kept apart as cases of their own ({repeated[0]!r})"
            )
            self.faults[what] = len(repeated)
        if names:
            cell = self.staging.cell(NAME)
            self.staging.connection.execute("CREATE TABLE named (placed VARCHAR, name VARCHAR)")
            fill(self.staging, "named", names)
            for table in ("raw", "doubted"):
                self.staging.connection.execute(
                    f"UPDATE {table} SET {cell} = name FROM named WHERE {cell} = placed"
                )

    def _kind(self, tag: str) -> str:
        """Name of a tag without its namespace, looked up once."""
        kind = self.kinds.get(tag)
        if kind is None:
            kind = local(tag)
            if len(self.kinds) < 1000:
                self.kinds[tag] = kind
        return kind

    def _attributes(self, element: Element, before: str = "") -> dict[str, str]:
        found: dict[str, str] = {}
        kinds = self.kinds
        for child in element:
            tag = kinds.get(child.tag) or self._kind(child.tag)
            if tag == "event":
                continue
            key, value = child.get("key"), child.get("value")
            if tag in HOLDERS:
                found |= self._attributes(child, f"{before}{key}." if key else before)
                continue
            if key is None or value is None or tag not in VALUES:
                self.faults["attributes without key, value or a type of XES, left out"] += 1
                continue
            name = before + key
            if name in found:
                self.faults["attributes that stand twice in one place, the last of which is kept"] += 1
            found[name] = value
            if len(child):
                found |= self._attributes(child, f"{name}.")
        return found

    def _header(self, element: Element, tag: str) -> None:
        if tag == "extension":
            self.extensions.append(element.get("prefix") or element.get("name") or "?")
        elif tag == "classifier":
            self.classifiers.append((element.get("name") or "?", element.get("keys") or ""))
        elif tag == "global":
            self.globals[element.get("scope") or "event"] += len(element)

    def found(self) -> Found:
        found = Found("XES")
        if self.extensions:
            found.said.append(f"extensions: {', '.join(self.extensions[:20])}")
        for scope, count in sorted(self.globals.items()):
            found.said.append(
                f"{count} attributes are declared for every {scope}; the values given there are no data"
            )
        for name, keys in self.classifiers[:10]:
            found.said.append(f"classifier {name!r}: {keys}")
        found.said += [f"{count:,} {what}" for what, count in sorted(self.faults.items())]
        columns = self.staging.columns
        if "concept:name" not in columns:
            first = next(
                (
                    keys.split()[0]
                    for _, keys in self.classifiers
                    if keys.split() and keys.split()[0] in columns
                ),
                None,
            )
            if first is not None:
                found.hints["activity"] = (first, "first key of the log's classifier")
        return found
