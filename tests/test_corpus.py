"""The corpus that the reader is to learn from is well-formed, and its labels agree with its texts."""

from __future__ import annotations

import textwrap
from collections import Counter
from pathlib import Path

import pytest

from training.corpus import CORPUS, Block, Statement, blocks

EXAMPLE = """
= 9-001 returns of a shop
a = RET_Received | receive the return | 5,120
b = Check date || 4890
c = Return REJECTED by LEAD | reject the return | 310
roles: clerk, lead
data: case amount number EUR; c reason text late, broken
- manual
[Packs sent back=a] are [looked at=b] within two working days, unless a lead has [turned them down=c].
> response a -> b; within 2WD; unless c
~ twin
[Packs sent back=a] are never [looked at=b] within two working days, unless a lead has [turned them down=c].
> not_response a -> b; within 2WD; unless c
- audit
Above 500 EUR only a lead may [reject=c]; [the date=b] or [the receipt=a] comes first.
> ban c; who not lead; where case amount > 500 EUR
> precedence a | b -> c
- note
Nobody was there.
> none no_duty
"""


def written(folder: Path, text: str) -> Path:
    (folder / "part.txt").write_text(text)
    return folder / "part.txt"


def test_a_block_is_read(tmp_path: Path) -> None:
    (block,) = blocks([written(tmp_path, EXAMPLE)])
    assert (block.number, block.domain, block.roles) == ("9-001", "returns of a shop", ("clerk", "lead"))
    assert block.acts["c"] == ("Return REJECTED by LEAD", "reject the return", 310)
    first, twin, third, last = block.sentences
    assert first.text.startswith("Packs sent back are looked at within")
    assert [first.text[m.start : m.end] for m in first.mentions] == [
        "Packs sent back",
        "looked at",
        "turned them down",
    ]
    within = (("unless", "c"), ("within", "2WD"))
    assert first.statements == {Statement("response", ("a",), ("b",), options=within)}
    assert (twin.twin, twin.statements) == (True, {Statement("not_response", ("a",), ("b",), options=within)})
    assert third.statements == {
        Statement("ban", ("c",), options=(("where", "case amount > 500 EUR"), ("who", "not lead"))),
        Statement("precedence", ("a", "b"), ("c",)),
    }
    assert last.meaning == (frozenset(), "no_duty")


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("> response a -> z", "names no acts of the block"),
        ("> response a & b | c -> b", "mixes | and &"),
        ("> respond a -> b", "no template"),
        ("> response a -> b; within two days", "no option"),
        ("> response a -> b; who janitor", "no option"),
        ("> response a -> b; where weight > 3", "no option"),
        ("> together a", "takes two acts"),
        ("> none bored", "no reason"),
        ("", "no label"),
    ],
)
def test_a_label_that_says_nothing_is_a_fault(tmp_path: Path, line: str, fault: str) -> None:
    head = textwrap.dedent(EXAMPLE).partition("> response")[0]
    with pytest.raises(ValueError, match=fault.replace("|", r"\|")):
        list(blocks([written(tmp_path, f"{head}{line}\n")]))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[Packs=a] are [looked at=d].\n> response a -> b", "no act 'd'"),
        ("[Packs=a] are looked at.\n> response a -> b", "act 'b' is labelled and not marked"),
        ("[Packs] are [looked at=b].\n> at_least 1 b", "a bracket that marks no act"),
    ],
)
def test_marks_and_labels_agree(tmp_path: Path, text: str, fault: str) -> None:
    head = EXAMPLE.partition("- manual")[0]
    with pytest.raises(ValueError, match=fault):
        list(blocks([written(tmp_path, f"{head}- manual\n{text}\n")]))


def test_a_twin_means_something_else(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a twin with the meaning of its sentence"):
        list(blocks([written(tmp_path, EXAMPLE.replace("> not_response", "> response"))]))


def test_the_corpus_is_whole() -> None:
    assert (CORPUS / "README.md").exists()
    read = list(blocks())
    assert len({block.number for block in read}) == len({block.domain for block in read}) == len(read)
    assert all(block.sentences and len(block.acts) >= 3 for block in read)
    shares = Counter(block.split for block in read)
    assert shares["fit"] > 2 * shares["calibration"] > 0
    assert shares["held_out"] > 0


def test_the_part_of_a_block_hangs_on_its_name_alone() -> None:
    parts = [Block("1", name).split for name in ("returns of a shop", "night shifts", "returns of a shop")]
    assert parts[0] == parts[2]
