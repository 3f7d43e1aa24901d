"""The README's blocks are what the commands print, its Python block runs, and its command lines name verbs
that exist."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from gnrs_ppl.cli import run

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
CUT = "…"
"""A line of its own where a block leaves something out."""


def words(text: str) -> str:
    """Text without line breaks, rules of tables and seconds, which are another at each run."""
    text = re.sub(r"\d[\d.]* running, \d[\d.]* compiling", "running, compiling", text)
    return " ".join(word for word in text.split() if set(word) != {"─"})


def lacking(block: str, printed: str) -> str:
    """The first part of a block, from cut to cut, that does not stand in what was printed after the part
    before it; empty where all do."""
    rest = words(printed)
    for part in re.split(rf"^ *{CUT}$", block, flags=re.MULTILINE):
        _, found, rest = rest.partition(words(part))
        if not found:
            return part
    return ""


def demo_block() -> str:
    (block,) = re.findall(r"`make demo` prints, .*?:\n\n(.*?)\n## ", README, re.DOTALL)
    return str(block)


def test_the_demo_prints_what_the_readme_shows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The two commands of `make demo`."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples" / "invoices", "invoices")
    recipe = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].partition("\n\n")[0]
    assert "gnrs draft $(DEMO)/context.yaml --out build/demo" in recipe
    assert "gnrs audit --rule build/demo/rule.json --log $(DEMO)/events.csv" in recipe
    assert run(["draft", "invoices/context.yaml", "--out", "demo"]) == 0
    assert run(["audit", "--rule", "demo/rule.json", "--log", "invoices/events.csv"]) == 1
    printed, block = capsys.readouterr().out, demo_block()
    assert not lacking(block, printed)
    # a figure that is another, a line that is gone and parts the other way round are seen
    assert lacking(block.replace("ε_C = 0.", "ε_C = 0.1"), printed)
    assert lacking(block, printed.replace("Violated, of those decided", "Violated"))
    assert lacking("\n".join(reversed(block.split(f"\n    {CUT}\n"))), printed)


def test_the_python_block_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(block, names)
    draft, result = names["draft"], names["result"]
    assert draft.certificate.epsilon_search == 0
    assert draft.text.split(",")[0] in " ".join(README.split())
    assert f"Violated, of those decided, all constraints together: {result.headline}" in README


@pytest.mark.parametrize("verb", ["draft", "audit", "sample"])
def test_every_verb_of_the_readme_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"`gnrs {verb} " in README
    assert run([verb, "--help"]) == 0
    assert "--json" in capsys.readouterr().out
