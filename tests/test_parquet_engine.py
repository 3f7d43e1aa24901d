"""Parquet files that a check reads where they lie: what their columns and folders are called, and whose they are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gnrs_ppl.audit import files
from gnrs_ppl.audit.engines import connected, log_on
from gnrs_ppl.audit.files import Asked, audit_on
from gnrs_ppl.context.folder import large_log
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.types import Structure


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


RULE = Structure.model_validate(
    {
        "trigger": {"act": "a", "channel": "desk"},
        "norm": {"constraints": [{"template": "response", "target": "b", "deadline": "P1D"}]},
        "evidence": {"channels": ["desk"]},
    }
)
DESK = RecordLayer.model_validate(
    {"channels": [{"name": "desk", "activities": ["a", "b"], "closed_world": True}]}
)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: lake(folder, "'desk' AS channel, 'late' AS role"), "changed while it was read"),
        (lambda folder: lake(folder / "more", "'desk' AS channel"), "changed while it was read"),
        (lambda folder: (folder / "a.parquet").unlink(), "cannot be read any more"),
        (lambda folder: (folder / "a.parquet").write_text("torn"), "cannot be read any more"),
    ],
    ids=["rewritten", "added", "deleted", "torn"],
)
def test_files_that_change_while_they_are_read_are_refused(
    change: Callable[[Path], object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between what is counted of them and what is checked: each SELECT reads them anew."""
    folder = lake(tmp_path / "lake", "'desk' AS channel")
    asked = Asked(RULE, None, DESK, None, ())
    read = files.log_on

    def then_changed(*given: Any) -> Any:
        log = read(*given)
        change(folder)
        return log

    monkeypatch.setattr(files, "log_on", then_changed)
    with pytest.raises(InputError) as error, connected(f"parquet://{folder}") as engine:
        audit_on(asked, engine, True)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_what_may_not_be_read_is_one_line() -> None:
    """Of a file and of its folder; files of root's are read as nobody, whom rights bind."""
    with tempfile.TemporaryDirectory() as place:
        folder, as_root = lake(Path(place) / "lake", "'desk' AS channel"), os.geteuid() == 0
        with duckdb.connect(str(folder / "log.duckdb")) as connection:
            connection.execute("CREATE TABLE events AS SELECT 1 AS case_id")
        Path(place).chmod(0o755)
        for closed in (folder / "a.parquet", folder / "log.duckdb", folder):
            closed.chmod(0)
            if as_root:
                os.seteuid(65534)
            try:
                for url in (f"parquet://{folder}/a.parquet", f"duckdb://{folder}/log.duckdb"):
                    if closed in (folder, Path(url.partition("://")[2])):
                        with pytest.raises(InputError) as error, connected(url):
                            raise AssertionError("it was opened")
                        assert "\n" not in str(error.value)
            finally:
                if as_root:
                    os.seteuid(0)
            closed.chmod(0o755)
