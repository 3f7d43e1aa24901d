"""docs/ten-rules.md is what tools/ten_rules.py prints, and a count that differs is seen."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT.parent / "shared" / "eventlogs"


@pytest.fixture(scope="module")
def ten_rules() -> ModuleType:
    spec = spec_from_file_location("ten_rules", ROOT / "tools" / "ten_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.skipif(not LOGS.exists(), reason="the logs are not shipped and not at hand")
def test_ten_rules_count_as_the_queries_by_hand_do(ten_rules: ModuleType) -> None:
    made, agree = ten_rules.page(LOGS)
    assert agree
    assert made == (ROOT / "docs" / "ten-rules.md").read_text()


@pytest.mark.slow
@pytest.mark.skipif(not LOGS.exists(), reason="the logs are not shipped and not at hand")
def test_another_count_is_seen(
    ten_rules: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "ten_rules.yaml"
    other.write_text(ten_rules.RULES.read_text().replace("::DATE + 90", "::DATE + 91"))
    monkeypatch.setattr(ten_rules, "RULES", other)
    made, agree = ten_rules.page(LOGS)
    assert not agree
    assert made.count("differs") == 2
