"""``gnrs import``: a source of any format becomes a folder with a context, its events and what had to be set
aside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, get_args

from gnrs_ppl.context.files import parse_json, read_bytes, read_data, validated
from gnrs_ppl.context.limits import ROWS_BYTES, TEXT_BYTES
from gnrs_ppl.context.load import _ContextFile, load_context
from gnrs_ppl.context.output import (
    as_written,
    check_apart,
    check_folder,
    check_written,
    folder_of_copies,
    write_all,
)
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.importing.attributes import propose_attributes
from gnrs_ppl.importing.columns import Step
from gnrs_ppl.importing.derive import Derived, derive, derive_model, names_of
from gnrs_ppl.importing.events import Events, Reading, events_of
from gnrs_ppl.importing.formats import read_source
from gnrs_ppl.importing.lifecycle import NOT_JOINED, Joined, check_words
from gnrs_ppl.importing.sql import database_of, is_url, read_url, shown
from gnrs_ppl.importing.staging import Found, Staging
from gnrs_ppl.importing.times import Order, Taken, time_format, zone_named
from gnrs_ppl.importing.write import changed, merged, remarks, with_remarks, yaml_of

FILES = ("context.yaml", "events.parquet", "set-aside.parquet", "set-aside.csv", "import.json")


@dataclass(frozen=True)
class Imported:
    """What an import wrote and counted.

    Attributes
    ----------
    folder : Path
    form : str
        The source's format.
    read, rows, joined, aside : int
        Rows of the source, imported, joined as starts to the rows of their ends, set aside; the last three
        add up to the first.
    reasons : mapping
        Reason -> rows set aside for it.
    columns : mapping
        Event-table column -> (column of the source, confidence, why).
    guesses : mapping
        Kind of guess -> how many there are.
    counts : mapping
        Cases, activities, roles and so on.
    attributes : tuple of mapping
        What rules can state conditions on, as the context file states it.
    sentence : str
        The guessed goal's; empty where a person has put a goal in its place.
    kept : tuple of str
        What a person had changed and was kept.
    said : tuple of str
        What a person should know.
    times : tuple of Taken
        How cells of the column of times were read, guesses among them.
    lifecycle : Joined
        The column that says how far acts were, and what each of its words was taken as.
    """

    folder: Path
    form: str
    read: int
    rows: int
    joined: int
    aside: int
    reasons: Mapping[str, int]
    columns: Mapping[str, tuple[str, float, str]]
    guesses: Mapping[str, int]
    counts: Mapping[str, int]
    attributes: tuple[Mapping[str, Any], ...]
    sentence: str
    kept: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    files: tuple[Path, ...] = field(default=())
    times: tuple[Taken, ...] = ()
    lifecycle: Joined = NOT_JOINED

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return {
            "folder": str(self.folder),
            "format": self.form,
            "read": self.read,
            "imported": self.rows,
            "joined": self.joined,
            "set_aside": self.aside,
            "reasons": dict(self.reasons),
            "columns": _plain(self.columns),
            "guesses": dict(self.guesses),
            "counts": dict(self.counts),
            "attributes": [dict(attribute) for attribute in self.attributes],
            "first_goal": self.sentence,
            "kept": list(self.kept),
            "said": list(self.said),
            "times": [taken._asdict() for taken in self.times],
            "lifecycle": {
                "column": self.lifecycle.column,
                "words": [word._asdict() for word in self.lifecycle.words],
            },
            "files": [str(path) for path in self.files],
        }


def _plain(columns: Mapping[Any, tuple[str, float, str]]) -> dict[str, Any]:
    return {c: {"from": name, "confidence": sure, "why": why} for c, (name, sure, why) in columns.items()}


def accounted(read: int, rows: int, joined: int, aside: int) -> str:
    """What became of every row that was read."""
    starts = f"{joined:,} starts joined to their ends + " if joined else ""
    return f"{read:,} rows read = {rows:,} imported + {starts}{aside:,} set aside"


def import_source(
    source: str | Path,
    out: Path | None = None,
    *,
    case: str | None = None,
    columns: Mapping[str, str] | None = None,
    zone: str | None = None,
    order: Order | None = None,
    form: str | None = None,
    lifecycle: Mapping[str, Step] | None = None,
    update: bool = False,
) -> Imported:
    """Make a context of records: all files of the folder are written, or none.

    Parameters
    ----------
    source : str or Path
        XES, OCEL 2.0 (JSON, XML, SQLite), CSV, Parquet, JSON Lines, a SQLite database, BPMN; gzipped where
        text is. Or the address of a database: postgresql://user@host/name.
    out : Path, optional
        Folder to write; named after the source where it is left out.
    case : str, optional
        What a case is: a column, or a type of object in OCEL.
    columns : mapping, optional
        Event-table column -> column of the source; an empty one says that there is none.
    zone : str, optional
        Time zone of times without offset, and the one to show others in.
    order : "day-first", "month-first" or "year-first", optional
        Of day and month, where the source does not show it.
    form : str, optional
        How times are written: directives of ``strptime``, or ``epoch-s``, ``epoch-ms``, ``epoch-us``,
        ``epoch-ns``, ``excel``.
    lifecycle : mapping, optional
        Word of a column that says how far acts were -> ``start``, ``complete``, ``ignore`` (not the act done) or
        ``own`` (an act of its own).
    update : bool
        Import again into a folder written before; what a person changed there stays.

    Raises
    ------
    InputError
        Not readable, beyond a limit, nothing in it that could be used, or a folder that may not be written.
    """
    url = str(source) if is_url(str(source)) else None
    path = Path(database_of(url) if url else source)
    folder = out or Path(_stem(path))
    check_folder(folder, () if update else FILES)
    if url is None:
        check_apart([folder / name for name in FILES], [path])
    standing = _standing(folder, update)
    told = dict(columns or {})
    if standing is not None:
        told = standing.options.get("columns", {}) | _edited_columns(standing) | told
        case, zone = case or standing.options.get("case"), zone or standing.options.get("zone")
        order = order or next((o for o in get_args(Order) if o == standing.options.get("order")), None)
        form = form or standing.options.get("time_format")
    steps = (standing.options.get("lifecycle", {}) if standing else {}) | dict(lifecycle or {})
    options = {"case": case, "columns": dict(told), "zone": zone, "order": order, "time_format": form}
    options["lifecycle"] = steps
    reading = Reading(
        zone_named(zone) if zone else None, order, time_format(str(form)) if form else None, steps
    )
    with folder_of_copies("gnrs-import-") as place:
        staging = Staging(shown(url) if url else path, place)
        try:
            found = read_url(url, staging, case) if url else read_source(path, staging, case)
            if case is not None and "case_id" not in found.hints:
                told["case_id"] = case
            name = _channel(path)
            if found.has_log:
                events = events_of(staging, found, told, reading)
                check_words(staging, events.lifecycle, lifecycle or {})
                derived = derive(events, found, name)
                propose_attributes(events, derived)
                events.write(str(place / "events.parquet"))
                content = {"events.parquet": (place / "events.parquet").read_bytes()}
                if events.doubted:
                    events.write_doubted(str(place / "set-aside.parquet"))
                    content["set-aside.parquet"] = (place / "set-aside.parquet").read_bytes()
            else:
                events, content, derived = None, {}, derive_model(found, name)
            return _written(path, folder, found, staging, events, derived, content, standing, options)
        finally:
            staging.close()


def _written(
    path: Path,
    folder: Path,
    found: Found,
    staging: Staging,
    events: Events | None,
    derived: Derived,
    content: dict[str, bytes],
    standing: _Standing | None,
    options: dict[str, Any],
) -> Imported:
    rows = events.rows if events else 0
    head = [
        f"Imported from {path.name} ({found.form})"
        + (f", sha256 {found.fingerprint[:16]}" if found.fingerprint else ""),
        accounted(staging.read, rows, events.lifecycle.rows if events else 0, staging.aside.rows),
        "'guessed' marks what nobody told, with a confidence between 0 and 1 and what it rests on. Correct "
        "it here;",
        "gnrs import --update keeps what you changed.",
    ]
    base = json.loads(json.dumps(derived.data))
    fresh = yaml_of(derived, head)
    kept: list[str] = []
    text = fresh
    if standing is not None:
        edits = list(changed(standing.guessed, standing.mine))
        derived.data = _pruned(merged(standing.guessed, standing.mine, derived.data))
        for edit in edits:
            for known in [
                note for note in derived.notes if note[: len(edit)] == edit or edit[: len(note)] == note
            ]:
                if known != ("goal",) or edit[0] == "goal":
                    derived.notes[known] = "changed by hand"
        kept = [".".join(edit) for edit in edits]
        text = with_remarks(
            yaml_of(derived, head),
            remarks(standing.text, (folder / "context.yaml").read_text(encoding="utf-8-sig")),
        )
    validated(_ContextFile, json.loads(json.dumps(derived.data)), source=str(folder / "context.yaml"))
    if len(text.encode()) > TEXT_BYTES:
        raise staging.error(
            f"its context would be larger than {TEXT_BYTES:,} bytes",
            "say another activity column: --column activity=NAME",
        )
    columns: dict[str, tuple[str, float, str]] = {}
    if events:
        columns = {c: (g.value, g.confidence, g.why) for c, g in events.columns.items()}
    record = {
        "source": path.name,
        "format": found.form,
        "sha256": found.fingerprint,
        "options": options,
        "columns": _plain(columns),
        "source_columns": list(staging.columns) if events else [],
        "guessed": base,
        "text": fresh,
    }
    files = [
        ("context.yaml", text.encode()),
        ("set-aside.csv", staging.aside.content()),
        ("import.json", json.dumps(record).encode()),
    ]
    files[1:1] = content.items()
    with folder_of_copies("gnrs-import-") as place:  # what would be refused is never written
        for name, data in files:
            (place / name).write_bytes(data)
        try:
            context = load_context(place / "context.yaml")
            if events:
                context.log  # noqa: B018
        except InputError as error:
            raise InputError(
                f"the context made of it would be refused ({one_line(error.problem, 160)})",
                error.remedy,
                source=str(path),
                field=error.field,
            ) from None
    paths = write_all(folder, files, manifest=True)
    schema = derived.data["schema"]
    counts = {"cases": events.staging.one("SELECT count(DISTINCT case_id) FROM seen")[0]} if events else {}
    counts |= {part: len(schema.get(part, ())) for part in ("actions", "roles", "locations", "objects")}
    counts |= {part: len(derived.data["records"].get(part, ())) for part in ("channels", "attributes")}
    return Imported(
        folder,
        found.form,
        staging.read,
        rows,
        events.lifecycle.rows if events else 0,
        staging.aside.rows,
        dict(staging.aside.reasons.most_common()),
        columns,
        dict(derived.guesses),
        counts,
        tuple(derived.data["records"].get("attributes", ())),
        "" if any(edit.startswith("goal") for edit in kept) else str(derived.data["goal"]["intent"]),
        tuple(kept),
        tuple(events.said if events else found.said),
        tuple(paths),
        tuple(events.times if events else ()),
        events.lifecycle if events else NOT_JOINED,
    )


class _Standing(NamedTuple):
    """What was told and guessed last, as data and as text, and what stands there now."""

    options: dict[str, Any]
    guessed: dict[str, Any]
    text: str
    mine: dict[str, Any]


def _standing(folder: Path, update: bool) -> _Standing | None:
    """What an earlier import left in the folder; None where nothing is to be kept."""
    place = folder / "context.yaml"
    if not place.exists():
        return None
    if not update:
        if as_written(place) is False:
            raise InputError(
                "was changed by hand", "add --update to keep that, or name a new folder", source=str(place)
            )
        return None
    record = folder / "import.json"
    if not record.exists():
        raise InputError("was not written by gnrs import", "name a new folder", source=str(place))
    check_written(record, "name a new folder")
    said = parse_json(read_bytes(record, ROWS_BYTES), str(record))
    mine = read_data(place)
    validated(_ContextFile, mine, source=str(place))
    for part in ("roles", "locations", "objects", "actions", "steps"):
        if isinstance(mine.get("schema", {}).get(part), list):
            mine["schema"][part] = [
                {"name": term} if isinstance(term, str) else term for term in mine["schema"][part]
            ]
    if (
        not isinstance(said, dict)
        or not isinstance(said.get("guessed"), dict)
        or not isinstance(said.get("text"), str)
    ):
        raise InputError("is not what gnrs import writes", "name a new folder", source=str(record))
    options = said.get("options")
    return _Standing(options if isinstance(options, dict) else {}, said["guessed"], said["text"], mine)


def _edited_columns(standing: _Standing) -> dict[str, str]:
    """Columns that a person put in place of those guessed: they hold for the new import too."""
    old, own = standing.guessed["records"].get("columns", {}), standing.mine["records"].get("columns", {})
    return {column: name for column, name in own.items() if old.get(column) != name} | {
        column: "" for column in old if column not in own
    }


def _pruned(data: dict[str, Any]) -> dict[str, Any]:
    """A context without names in its lists that the person took out of the schema."""
    schema, records = data.get("schema", {}), data.get("records", {})
    known = {
        part: set(names_of(schema.get(part) or [])) for part in ("roles", "locations", "objects", "actions")
    }
    for action in schema.get("actions") or []:
        for part in ("roles", "locations", "objects"):
            if isinstance(action, dict) and part in action:
                action[part] = [name for name in action[part] if name in known[part]]
    for part in ("case_start", "case_end"):
        if part in records:
            records[part] = [name for name in records[part] if name in known["actions"]]
    return data


def _stem(path: Path) -> str:
    name = re.sub(r"\.gz$", "", path.name, flags=re.IGNORECASE)
    return re.sub(r"\.(?:bpmn\.xml|[A-Za-z0-9]{2,9})$", "", name) or "imported"


def _channel(path: Path) -> str:
    """Name of the log of a source without one of its own."""
    words = re.sub(r"[^\w]+", "_", _stem(path)).strip("_")[:60]
    return words if words and words[0].isalpha() else "log"
