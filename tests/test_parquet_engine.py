"""Parquet files that a check reads where they lie: what their columns and folders are called, and whose they are."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from gnrs_ppl.audit.engines import connected, log_on
from gnrs_ppl.context.folder import large_log
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError


def lake(folder: Path, select: str) -> Path:
    """A Parquet file of an event with more columns."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.sql(
            f"SELECT 'e1' AS event_id, 'c' AS case_id, 'a' AS activity, TIMESTAMPTZ '2024-05-31 10:00:00Z' AS timestamp, {select}"
        ).write_parquet(str(folder / "a.parquet"))
    return folder


def test_columns_may_have_the_names_that_reading_gives(tmp_path: Path) -> None:
    folder = lake(
        tmp_path / "lake", "'in' AS path, 'first' AS gnrs_file, 'x' AS before, 7 AS file_row_number"
    )
    records = RecordLayer(columns={"role": "path", "resource": "gnrs_file", "object": "file_row_number"})
    with connected(f"parquet://{folder}") as engine:
        read = log_on(engine, records).one("SELECT event_id, role, resource, object FROM events")
    assert read == ("e1", "in", "first", "7")
    with (
        pytest.raises(InputError, match="'file_row_number' has a name that DuckDB keeps"),
        large_log(folder, records),
    ):
        raise AssertionError("it was read")
    other = lake(tmp_path / "other", "'in' AS path, 'first' AS gnrs_file, 'x' AS before")
    records = RecordLayer(columns={"role": "path", "resource": "gnrs_file", "object": "before"})
    with large_log(other, records) as (log, _):
        assert log.one("SELECT event_id, role, resource, object FROM events") == ("e1", "in", "first", "x")


def test_a_folder_s_name_hides_no_column(tmp_path: Path) -> None:
    folder = lake(tmp_path / "lake" / "role=clerk", "'manager' AS Role")
    for way, said in (
        (
            connected(f"parquet://{folder.parent}"),
            "column 'Role' stands in the files and in the names of their folders",
        ),
        (large_log(folder.parent, RecordLayer()), "columns 'role' and 'Role' are hardly told apart"),
    ):
        with pytest.raises(InputError) as error, way:
            raise AssertionError("it was opened")
        assert said in str(error.value)


@pytest.mark.parametrize("mark", ["_delta_log", ".hoodie", "metadata/v1.metadata.json"])
def test_a_table_of_a_lake_is_not_taken_for_its_files(mark: str, tmp_path: Path) -> None:
    folder = lake(tmp_path / "table" / "day=1", "'manager' AS role")
    (tmp_path / "table" / mark).mkdir(parents=True)
    for way in (connected(f"parquet://{tmp_path}/*/*/*.parquet"), large_log(folder, RecordLayer())):
        with pytest.raises(InputError, match="whose files still hold rows that were deleted"), way:
            raise AssertionError("it was opened")


def test_files_whose_columns_have_two_types_are_refused(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        for kind in ("DATE", "TIMESTAMP"):
            connection.sql(f"SELECT 'c' AS case_id, 'a' AS activity, {kind} '2024-05-31' AS timestamp").write_parquet(
                str(tmp_path / f"{kind}.parquet")
            )  # fmt: skip
    with pytest.raises(InputError) as error, connected(f"parquet://{tmp_path}"):
        raise AssertionError("it was opened")
    assert "column 'timestamp' has another type in some of the files" in str(error.value)
