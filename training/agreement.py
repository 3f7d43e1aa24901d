"""How often two labellers of the corpus say the same, the second of whom saw sentence and schema alone.

``python -m training.agreement [SECOND …]``; by default every ``corpus/second-*.txt.gz``. With ``--differ`` it
lists what the two say of each sentence on which they differ.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from training import corpus


def second_labels(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Block and place of each sentence, such as ``2-004.1``, and its label lines."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    name, lines = "", list[str]()
    for line in map(str.strip, text.splitlines()):
        if line.startswith(">"):
            lines.append(line.removeprefix(">").strip())
        elif line:
            if name:
                yield name, lines
            name, lines = line.split()[0], []
    if name:
        yield name, lines


def templates(sentence: corpus.Sentence) -> tuple[frozenset[tuple[object, ...]], bool]:
    """Templates and acts of the statements, or that there are none to draft."""
    stated = frozenset((s.template, s.left, s.right) for s in sentence.statements)
    return (frozenset(), True) if sentence.refused else (stated, False)


def compared(
    paths: Sequence[Path], blocks: Sequence[corpus.Block]
) -> Iterator[tuple[str, corpus.Block, corpus.Sentence, corpus.Sentence | None]]:
    """Sentences that were labelled twice, with both labels; None where the second are malformed."""
    by_number = {block.number: block for block in blocks}
    for path in paths:
        for name, lines in second_labels(path):
            number, _, place = name.rpartition(".")
            block = by_number.get(number)
            if block is None or not place.isdigit() or not 0 < int(place) <= len(block.sentences):
                continue
            first = block.sentences[int(place) - 1]
            marks = "".join(f"[{letter}={letter}]" for letter in block.acts)  # any act may be labelled
            try:
                yield name, block, first, block.sentence(marks, lines, first.genre, first.twin)
            except ValueError:
                yield name, block, first, None


def main(arguments: Sequence[str]) -> None:
    """Print the counts."""
    differ = "--differ" in arguments
    paths = [Path(a) for a in arguments if not a.startswith("--")] or sorted(
        corpus.CORPUS.glob("second-*.txt.gz")
    )
    parts = sorted(corpus.CORPUS.glob("written-*.txt.gz"))
    counts: Counter[str] = Counter()
    for name, _, first, second in compared(paths, list(corpus.blocks(parts, []))):
        counts["labelled twice"] += 1
        if second is None:
            counts["malformed"] += 1
            continue
        counts["all the same"] += first.meaning == second.meaning or bool(first.refused and second.refused)
        same = templates(first) == templates(second)
        counts["templates and acts the same"] += same
        counts["both or neither refused"] += bool(first.refused) == bool(second.refused)
        if first.refused and second.refused:
            counts["refused by both"] += 1
            counts["for the same reason"] += first.refused == second.refused
        if differ and not same:
            print(f"{name} {first.text}\n  1: {_said(first)}\n  2: {_said(second)}")
    for name, count in counts.items():
        print(f"{count:7,} {count / counts['labelled twice']:6.1%} {name}")


def _said(sentence: corpus.Sentence) -> str:
    stated = (
        f"{s.template} {'|'.join(s.left)} {'|'.join(s.right)} {dict(s.options)}"
        for s in sorted(sentence.statements)
    )
    return "; ".join(filter(None, [sentence.refused and f"none {sentence.refused}", *stated]))


if __name__ == "__main__":
    main(sys.argv[1:])
