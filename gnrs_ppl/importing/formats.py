"""Which format a source has, told by how it begins, and the reader for it."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from gnrs_ppl.context.files import open_regular
from gnrs_ppl.context.table import MAX_BYTES
from gnrs_ppl.errors import InputError
from gnrs_ppl.importing.staging import GZIP, Found, Staging, unpacking

HEAD = 1 << 16
SQLITE = b"SQLite format 3\0"


def read_source(path: Path, staging: Staging, case: str | None) -> Found:
    """Stage the rows of a source.

    Raises
    ------
    InputError
        Not readable, no format that is known, malformed, or beyond a limit.
    """
    head = _head(path)
    zipped = head.startswith(GZIP)
    if zipped:
        head = _unzipped(path)
    if head.startswith(b"PAR1"):
        from gnrs_ppl.importing.table import read_table

        if path.suffix != ".parquet" or zipped:
            raise InputError(
                "is Parquet under another name", "name it so that it ends in .parquet", source=str(path)
            )
        return read_table(path, staging)
    if head.startswith(SQLITE):
        from gnrs_ppl.importing.database import read_sqlite

        return read_sqlite(path, staging, case)
    text = _text(head).lstrip()
    if text.startswith("<"):
        return _read_xml(path, staging, head, case)
    if re.match(r"\{|\[\s*[\[{\]]", text):
        from gnrs_ppl.importing.table import read_json

        return read_json(path, staging, case)
    if not text:
        raise InputError("is empty", "give a log with events in it", source=str(path))
    from gnrs_ppl.importing.table import read_table

    return read_table(path, staging)


def _read_xml(path: Path, staging: Staging, head: bytes, case: str | None) -> Found:
    from gnrs_ppl.importing.xml import first_tags

    tags = first_tags(head)
    if tags[:1] == ["definitions"]:
        from gnrs_ppl.importing.bpmn import read_bpmn

        return read_bpmn(path, staging)
    if tags[1:] and tags[1] in ("object-types", "event-types", "objects", "events"):
        from gnrs_ppl.importing.ocel import read_xml

        return read_xml(path, staging, case)
    from gnrs_ppl.importing.xes import read_xes

    return read_xes(path, staging)


def _head(path: Path) -> bytes:
    with unpacking(path), open_regular(path, MAX_BYTES) as file:
        return file.read(HEAD)


def _unzipped(path: Path) -> bytes:
    with unpacking(path), open_regular(path) as raw, gzip.GzipFile(fileobj=raw) as file:
        return file.read(HEAD)


def _text(head: bytes) -> str:
    """The beginning as text, for a look at it."""
    for mark, encoding in (
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"\xef\xbb\xbf", "utf-8"),
    ):
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, "replace")
    return head.decode("utf-8", "replace")
