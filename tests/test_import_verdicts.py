"""One log in several formats, and as a CSV made by hand: the same context and the same verdicts, instance by
instance."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from test_import import ROWS, shared

TOOL = Path(__file__).parents[1] / "tools" / "import_verdicts.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("import_verdicts", TOOL)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    sys.modules["import_verdicts"] = module
    spec.loader.exec_module(module)
    return module


def test_a_small_log(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = {
        "checked in time": {"trigger": "register request", "template": "response", "target": "check ticket", "deadline": "P1D"},
        "decided in time": {"trigger": "check ticket", "template": "response", "target": "decide", "deadline": "PT40H"},
        "never without a decision": {"trigger": "Order Shipped", "template": "precedence", "target": "decide"},
    }  # fmt: skip
    monkeypatch.setitem(tool.RULES, "desk", rules)
    rows = [
        {"case_id": row["case_id"], "activity": row["activity"], "timestamp": row["timestamp"], "resource": row["org:resource"], "role": row["org:role"]}
        for i, row in enumerate(ROWS) if i != 6
    ]  # fmt: skip
    rows = [row | {"resource": "" if row["resource"] == "UNKNOWN" else row["resource"]} for row in rows]
    told = {rule: counts for rule, counts, same in tool.compare("desk", rows, None, tmp_path) if same}
    assert set(told) == set(rules)
    assert told["never without a decision"]["violated"] == 1
    assert told["checked in time"]["violated"] == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, file, counts",
    [("receipt", "receipt.xes.gz", (1163, 1059, 1299)), ("traffic_fines", "traffic_fines.csv.gz", (3368, 2600, 4635))],
)  # fmt: skip
def test_real_logs(name: str, file: str, counts: tuple[int, ...], tool: ModuleType, tmp_path: Path) -> None:
    """The first count of the fines is that of the query by hand, docs/contexts/traffic_fines.sql."""
    path = shared(f"real/{file}")
    read = tool.receipt if name == "receipt" else tool.fines
    told = tool.compare(name, read(path), path, tmp_path)
    assert all(same for _, _, same in told)
    assert tuple(found["satisfied"] for _, found, _ in told) == counts
