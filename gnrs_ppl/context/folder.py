"""A log in a folder of Parquet files, of any size: read where it lies, cleaned and kept in a private database on disk.

Memory is limited, and what does not fit goes to disk: into the folder for temporary files that ``TMPDIR`` names.
Folders in it named ``column=value`` are partitions, and give a column.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from gnrs_ppl.context.files import literally, open_regular
from gnrs_ppl.context.log import ALONE, EventLog, make_events, read_into
from gnrs_ppl.context.output import folder_of_copies
from gnrs_ppl.errors import InputError, one_line

if TYPE_CHECKING:
    import duckdb

    from gnrs_ppl.context.types import RecordLayer

MEMORY: Final = "4GiB"
"""What DuckDB may hold in memory; libraries and the rest of Python come on top."""
NUMBERED: Final = "file_row_number"
"""What DuckDB calls a row's place in its Parquet file, from 0."""
_LAKES: Final = {"_delta_log": "Delta Lake", ".hoodie": "Hudi"}
_DEFAULT_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
_CHUNK: Final = 1 << 24


@contextmanager
def large_log(folder: Path, records: RecordLayer) -> Iterator[tuple[EventLog, Path]]:
    """The event table of a folder of Parquet files, on disk for as long as the context lasts, and the one file that
    its connection may write.

    Parameters
    ----------
    folder : Path
    records : RecordLayer
        As for :func:`gnrs_ppl.context.log.read_log`.

    Raises
    ------
    InputError
        As :func:`gnrs_ppl.context.log.read_log`; no Parquet file, files whose columns differ, a file that changed
        while it was read.
    """
    import duckdb

    with folder_of_copies("gnrs-") as place:
        output = place / "output"
        with duckdb.connect(
            place / "log.duckdb",
            config={
                **ALONE,
                "memory_limit": MEMORY,
                "temp_directory": str(place / "spilled"),
            },
        ) as connection:
            make_events(connection, records.attributes)
            try:
                connection.execute(f"SET allowed_paths = [{_quoted(output)}]")
                table = ParquetFolder(folder, place, connection)
                # in the order of cases, so that a part of them is found without reading the others
                yield read_into(connection, table, folder, records, order="case_id"), output
            except duckdb.OutOfMemoryException as error:
                raise InputError(
                    f"there is no room for it ({one_line(str(error), 120)})",
                    "make room on the disk of temporary files, or name another by TMPDIR",
                    source=str(folder),
                ) from None


class ParquetFolder:
    """The Parquet files of a folder and of the folders in it, by name, as one table.

    DuckDB is given links under fixed names, because it reads patterns out of paths.
    """

    def __init__(self, folder: Path, place: Path, connection: duckdb.DuckDBPyConnection) -> None:
        import duckdb

        self.folder, self.blank, self.set_aside, self.said = folder, 0, 0, list[str]()
        self.files = sorted(file for file in folder.rglob("*.parquet") if file.is_file())
        if not self.files:
            raise self._error("holds no Parquet file", "name a folder of files that end in .parquet")
        check_plain(self.files, str(folder))
        self.found = [self._state(file) for file in self.files]
        links = place / "files"
        links.mkdir()
        self.links = [links / f"{number:09}.parquet" for number in range(len(self.files))]
        for link, file in zip(self.links, self.files, strict=True):
            link.symlink_to(file.resolve())
        self.partitions = self._partitions()
        paths = [str(link) for link in self.links]

        def rows_of(sql: str) -> list[tuple[Any, ...]]:
            return connection.execute(sql, {"paths": [*map(literally, self.links)]}).fetchall()

        try:
            shapes = dict(
                rows_of(
                    "SELECT file_name, list(DISTINCT concat(name, ' (', concat_ws(', ', type, logical_type), ')')) "
                    "FROM parquet_schema($paths) WHERE num_children IS NULL GROUP BY ALL"
                )
            )
            rows = dict(rows_of("SELECT file_name, num_rows FROM parquet_file_metadata($paths)"))
            described = rows_of("DESCRIBE SELECT * FROM read_parquet($paths, hive_partitioning = false)")
        except (duckdb.Error, UnicodeDecodeError) as error:
            raise self._error(
                f"holds what is not readable Parquet ({self._named(str(error))})", "give whole Parquet files"
            ) from None
        for path, file in zip(paths, self.files, strict=True):
            other = set(shapes[path]) ^ set(shapes[paths[0]])
            if other:
                raise self._error(
                    f"{file.name} and {self.files[0].name} differ in column {one_line(min(other), 60)!r}",
                    "give files that all have the same columns, of the same types",
                )
        self.counts = [rows[path] for path in paths]
        self.rows = sum(self.counts)
        self.columns = [row[0] for row in described]
        if NUMBERED in map(str.lower, self.columns):
            raise self._error(f"column {NUMBERED!r} has a name that DuckDB keeps for itself", "rename it")
        self.header = [name.strip() for name in (*self.columns, *self.partitions)]
        self.types = [row[1] for row in described] + ["VARCHAR"] * len(self.partitions)

    def scan(self, positions: Sequence[int]) -> tuple[str, dict[str, Any]]:
        """The files' rows, numbered through."""
        names = [*self.columns, *self.partitions]
        cells = [
            f"file.{_name(names[i])}"
            if i < len(self.columns)
            else f"parts.{_name(f'p{i - len(self.columns)}')}"
            for i in positions
        ]
        given: dict[str, Any] = {
            "path": [*map(literally, self.links)],
            "link": [*map(str, self.links)],
            "before": [0, *accumulate(self.counts)][:-1],
        }
        unnested = ["unnest($link) AS link", "unnest($before) AS before"]
        for i, values in enumerate(self.partitions.values()):
            given[f"p{i}"] = values
            unnested.append(f"unnest($p{i}::VARCHAR[]) AS p{i}")
        listed = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(cells))
        source = free_name(self.columns)
        return (
            f"(SELECT parts.before + file.{NUMBERED} + 1 AS row, {listed} FROM read_parquet($path, "
            f"hive_partitioning = false, {NUMBERED} = true, filename = '{source}') AS file "
            f"JOIN (SELECT {', '.join(unnested)}) AS parts ON parts.link = file.{source})"
        ), given

    def fingerprint(self) -> str:
        """Sha256 of the files' names and bytes, in the order of names."""
        digest = hashlib.sha256()
        for file, found in zip(self.files, self.found, strict=True):
            digest.update(f"{file.relative_to(self.folder)}\n{found[0]}\n".encode())
            with open_regular(file) as stream:
                while chunk := stream.read(_CHUNK):
                    digest.update(chunk)
            if self._state(file) != found:
                raise self._error(f"{file.name} changed while it was read", "run this again when it rests")
        return digest.hexdigest()

    def _partitions(self) -> dict[str, list[str | None]]:
        """Columns that the folders' names give, with the value of each file."""
        told = [
            dict(part.split("=", 1) for part in file.relative_to(self.folder).parts[:-1] if "=" in part)
            for file in self.files
        ]
        if any(one.keys() != told[0].keys() for one in told):
            raise self._error(
                "has files in folders of different partitions", "give each file the same column=value folders"
            )
        return {
            name: [None if one[name] == _DEFAULT_PARTITION else unquote(one[name]) for one in told]
            for name in told[0]
        }

    @staticmethod
    def _state(file: Path) -> tuple[int, int, int]:
        state = file.stat()
        return state.st_size, state.st_mtime_ns, state.st_ino

    def _named(self, text: str) -> str:
        """An error's text with the files' own names."""
        for link, file in zip(self.links, self.files, strict=True):
            text = text.replace(str(link), file.name)
        return one_line(text, 160)

    def _error(self, problem: str, remedy: str) -> InputError:
        return InputError(problem, remedy, source=str(self.folder))


def check_plain(files: Iterable[Path], source: str) -> None:
    """Refuse files that belong to a table of a lake: rows that were deleted from it still stand in them."""
    for folder in sorted({folder for file in files for folder in file.absolute().parents}):
        lake = next((lake for mark, lake in _LAKES.items() if os.path.isdir(folder / mark)), None)
        if lake is None and any(folder.glob("metadata/*.metadata.json")):
            lake = "Iceberg"
        if lake is not None:
            raise InputError(
                f"belongs to a table of {lake} in {folder}, whose files still hold rows that were deleted",
                "write the table's rows to plain Parquet files, by an engine that reads its log",
                source=source,
            )


def free_name(columns: Iterable[str]) -> str:
    """A name that no column has."""
    taken, name = set(map(str.lower, columns)), "gnrs_file"
    while name in taken:
        name += "_"
    return name


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
