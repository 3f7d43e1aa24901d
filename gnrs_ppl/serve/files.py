"""The folder that is served: what is in it, looked up by name and never by path.

A name that comes from a page is compared with those of a listing; nothing is joined to a path, so there is
nothing to climb out by. Links are neither listed nor followed, and names that begin with a dot are not shown.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Literal

from gnrs_ppl.context.files import read_bytes
from gnrs_ppl.context.limits import TEXT_BYTES
from gnrs_ppl.context.output import check_folder
from gnrs_ppl.errors import InputError

JOBS = "jobs"
"""Folder of what jobs printed, which is not listed and nobody else's."""
DEPTH = 4
"""Folders below the one that is served, to which it is looked into."""
ENTRIES = 5_000
"""Files that are listed at most."""
LONGEST = 80
"""Characters of a name that a person gives."""
FORMATS = [
    "xes",
    "csv",
    "parquet",
    "jsonl",
    "ndjson",
    "jsonocel",
    "xmlocel",
    "json",
    "xml",
    "sqlite",
    "db",
    "bpmn",
]
LOGS = tuple(f".{ending}{gzipped}" for ending in FORMATS for gzipped in ("", ".gz"))
"""How the names of files end that may be logs."""
UNSPOKEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What no listed name holds, for it would not come back from a form as it went out."""
Kind = Literal["context", "log", "rule", "audit", "page", "other"]
NAMED: dict[str, Kind] = {"rule.json": "rule", "audit.json": "audit"}
"""Files that are what they are called."""
FIELDS = [re.compile(rf'^[ \t]*"?{name}"?[ \t]*:', re.MULTILINE) for name in ("schema", "records")]
"""What lines of a context begin with."""
OURS = (
    "set-aside.csv",
    "set-aside.parquet",
    "verdicts.csv",
    "events.parquet",
    "import.json",
    "draft.json",
    "answers.yaml",
    "gnrs-manifest.json",
)
"""What verbs write beside the files that a page offers."""


@dataclass(frozen=True)
class Entry:
    """A file of the folder.

    Attributes
    ----------
    name : str
        Its path from the folder, with slashes.
    size : int
        Bytes.
    changed : float
        Seconds since 1970.
    kind : str
        What it is to the verbs.
    """

    name: str
    size: int
    changed: float
    kind: Kind

    @property
    def folder(self) -> str:
        """The folder it lies in, empty where that is the one served."""
        return self.name.rpartition("/")[0]

    @property
    def stem(self) -> str:
        """Its last name without what says its format."""
        return self.name.rpartition("/")[2].partition(".")[0]

    @property
    def argument(self) -> str:
        """Its name as a verb takes it, which takes what begins with a dash for an option."""
        return argument(self.name)

    @property
    def typed(self) -> str:
        """The same as a shell takes it."""
        return shlex.quote(self.argument)

    @property
    def typed_folder(self) -> str:
        """The folder it lies in as a shell takes it."""
        return shlex.quote(argument(self.folder) or ".")


class Gone(Exception):
    """The folder has no such file, or not any more."""


def argument(name: str) -> str:
    """A file's name as an argument of a verb."""
    return f"./{name}" if name.startswith("-") else name


class Workspace:
    """The folder that is served.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    InputError
        It is not there, is no folder, is a link, or may not be written.
    """

    def __init__(self, folder: Path) -> None:
        check_folder(folder)
        if not folder.is_dir():
            raise InputError("is not there", "make it, or name a folder that is", source=str(folder))
        self.folder = folder.resolve()

    def entries(self) -> list[Entry]:
        """All files, folder by folder in the order of their names; ``ENTRIES`` of them at most."""
        found = []
        for entry in self._walk(self.folder, "", DEPTH):
            found.append(entry)
            if len(found) == ENTRIES:
                break
        return found

    def of_kind(self, *kinds: Kind) -> list[Entry]:
        """The files of some kinds."""
        return [entry for entry in self.entries() if entry.kind in kinds]

    def find(self, name: str) -> Entry:
        """The file of a name.

        Raises
        ------
        Gone
            None is listed under it.
        """
        for entry in self.entries():
            if entry.name == name:
                return entry
        raise Gone(name)

    def open(self, entry: Entry) -> BinaryIO:
        """A file to read, reached without following a link that was put in its way meanwhile.

        Raises
        ------
        Gone
            It is gone, or is no file any more.
        """
        *folders, name = entry.name.split("/")
        at = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in folders:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                os.close(at)
                at = below
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        except OSError:
            raise Gone(entry.name) from None
        finally:
            os.close(at)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise Gone(entry.name)
        return os.fdopen(handle, "rb")

    def text(self, entry: Entry) -> str:
        """A file's text, as far as a context's may go; what is no UTF-8 stands as signs of doubt."""
        with self.open(entry) as file:
            return file.read(TEXT_BYTES).decode("utf-8", "replace")

    def state(self, entry: Entry) -> str:
        """What tells one state of a file from another: its SHA-256, or of one too long to be read while a
        page waits, SHA-256 of its number, size and times.
        """
        with self.open(entry) as file:
            about = os.fstat(file.fileno())
            if about.st_size <= TEXT_BYTES:
                return sha256(file.read()).hexdigest()
            times = about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
            return sha256(repr(times).encode()).hexdigest()

    def path(self, entry: Entry) -> Path:
        """Where a listed file lies."""
        return self.folder / entry.name

    def free(self, wanted: str) -> str:
        """A name for something new, like the one wanted, that nothing has: letters, digits, ``.``, ``_``
        and ``-``.
        """
        clean = re.sub(r"[^A-Za-z0-9._-]+", "-", wanted)[-LONGEST:].strip(".-") or "new"
        stem, dot, ending = clean.partition(".")
        name, number = clean, 1
        while name == JOBS or os.path.lexists(self.folder / name):
            number += 1
            name = f"{stem}-{number}{dot}{ending}"
        return name

    def _walk(self, folder: Path, before: str, depth: int) -> Iterator[Entry]:
        with suppress(OSError), os.scandir(folder) as scan:
            for item in sorted(scan, key=lambda item: item.name):
                if item.name.startswith("."):
                    continue
                name = before + item.name
                if UNSPOKEN.search(name):
                    continue
                if item.is_dir(follow_symlinks=False):
                    if depth and name != JOBS:
                        yield from self._walk(Path(item.path), f"{name}/", depth - 1)
                elif item.is_file(follow_symlinks=False):
                    about = item.stat(follow_symlinks=False)
                    yield Entry(
                        name,
                        about.st_size,
                        about.st_mtime,
                        _kind(item.path, about.st_size, about.st_mtime_ns),
                    )


@lru_cache(maxsize=ENTRIES)
def _kind(path: str, size: int, _changed: int) -> Kind:
    """What a file is by its name, and a context by the fields it begins lines with."""
    name = os.path.basename(path).lower()
    if name in NAMED:
        return NAMED[name]
    if name in OURS:
        return "other"
    if name.endswith((".yaml", ".yml", ".json")) and size <= TEXT_BYTES:
        with suppress(InputError):
            text = read_bytes(Path(path)).decode("utf-8", "replace")
            if all(field.search(text) for field in FIELDS):
                return "context"
    if name.endswith(".html"):
        return "page"
    return "log" if name.endswith(LOGS) else "other"
