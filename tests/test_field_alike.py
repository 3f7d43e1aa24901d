"""Names that look alike: told by the import, by lint and by an audit, with what nobody sees spelt out."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnrs_ppl.context.log import read_log
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.importing import import_source
from gnrs_ppl.records.lint import lint


@pytest.mark.parametrize(
    "one, other, spelt",
    [
        ("settle claim", "Settle Claim", "'Settle Claim' (1 rows) and 'settle claim' (1 rows)"),
        ("settle claim", "settle  claim", r"'settle \x20claim' (1 rows) and 'settle claim' (1 rows)"),
        ("Pr\u00fcfung", "Pru\u0308fung", r"'Pru\u0308fung' (1 rows) and 'Pr\xfcfung' (1 rows)"),
        ("settle claim", "settle\u00a0claim", None),
        ("settle claim", "settle claim\u200b", None),
    ],
)
def test_names_that_look_alike_are_told(tmp_path: Path, one: str, other: str, spelt: str | None) -> None:
    path = tmp_path / "log.csv"
    rows = [f"c{i},{name},2024-01-0{i}T10:00:00Z" for i, name in enumerate((one, other, "open", "file"), 1)]
    path.write_text("\n".join(["case_id,activity,timestamp", *rows]) + "\n", encoding="utf-8")
    log = read_log(path, RecordLayer.model_validate({"constants": {"channel": "desk"}}))
    assert any("differ only in case" in line for line in log.findings)
    done = import_source(path, tmp_path / "out")
    if spelt is None:  # the import writes it as it is seen, and says so
        assert any("do not print and are read without" in line for line in done.said)
        return
    assert any(f"activity: {spelt} differ only in case" in line for line in done.said)
    (told,) = (one.problem for one in lint(tmp_path / "out" / "context.yaml").findings if one.code == "G104")
    assert all(name in told for name in spelt.split(" and "))
