"""Times as files in the field write them: what an audit reads of a log as it stands, and what an import reads."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from gnrs_ppl.context.log import read_log
from gnrs_ppl.context.types import RecordLayer


@pytest.mark.parametrize(
    "cell, utc, offset, grain",
    [
        ("2026-03-05T09:00:00z", "2026-03-05T09:00", 0, "second"),
        ("2026-03-05t09:00:00Z", "2026-03-05T09:00", 0, "second"),
        ("20260305T090000Z", "2026-03-05T09:00", 0, "second"),
        ("20260305T090000.25+0130", "2026-03-05T07:30:00.25", 90, "microsecond"),
        ("20260305T0900+02", "2026-03-05T07:00", 120, "second"),
        ("20260305", "2026-03-05T00:00", None, "day"),
        ("2026-03-05T24:00:00Z", "2026-03-06T00:00", 0, "second"),
        ("20260305T240000Z", "2026-03-06T00:00", 0, "second"),
        ("2026-03-05T09:00 -02:30", "2026-03-05T11:30", -150, "second"),
        ("2026-03-05T09:00:00.1234567891Z", "2026-03-05T09:00:00.123456", 0, "microsecond"),
    ],
)  # fmt: skip
def test_an_audit_reads_iso_8601_in_every_spelling(
    tmp_path: Path, cell: str, utc: str, offset: int | None, grain: str
) -> None:
    (tmp_path / "log.csv").write_text(f"case_id,activity,timestamp\na,open,{cell}\n")
    log = read_log(tmp_path / "log.csv", RecordLayer.model_validate({"constants": {"channel": "desk"}}))
    assert log.one('SELECT "timestamp", "offset", "grain" FROM "events"') == (
        datetime.fromisoformat(utc),
        offset,
        grain,
    )
