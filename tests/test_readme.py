"""The README's Python block runs as printed, and its command lines name verbs that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gnrs_ppl.cli import run

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def test_the_python_block_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(block, names)
    draft, result = names["draft"], names["result"]
    assert draft.certificate.epsilon_search == 0
    assert draft.text.split(",")[0] in " ".join(README.split())
    assert f"Violated, of those decided: {result.headline}" in README


@pytest.mark.parametrize("verb", ["draft", "audit", "sample"])
def test_every_verb_of_the_readme_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"`gnrs {verb} " in README
    assert run([verb, "--help"]) == 0
    assert "--json" in capsys.readouterr().out
