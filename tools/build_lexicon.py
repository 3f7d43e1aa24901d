"""Write gnrs_ppl/reading/lexicon.tsv.gz from the database files of WordNet 3.0 (Debian package wordnet-base).

    python tools/build_lexicon.py /usr/share/wordnet

One line a word: its part of speech, its senses (most frequent first), the verbs it is derived from, the bases
of an irregular form. Kept are every verb, with its particle if it has one ("turn down"), and single nouns
that people use (counted in the sense-tagged corpus), that name an act of some verb, or that share a sense
with such a noun. What is kept of a sense is a number, its near senses, and whether it names a person.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from gnrs_ppl.reading.words import PHRASAL_PARTICLES

SENSES = {"v": 6, "n": 4}
"""Most senses kept of a word: rarer ones make everything a synonym of everything."""
PERSON = 18
"""Lexicographer file of nouns for people: a waiter is no waiting."""
WORD = re.compile(r"[a-z]+")
PHRASAL = re.compile(rf"[a-z]+_(?:{'|'.join(sorted(PHRASAL_PARTICLES))})")
"""A verb and its particle: turn down. They are kept for verbs only."""
TARGET = Path(__file__).parent.parent / "gnrs_ppl" / "reading" / "lexicon.tsv.gz"


def _synsets(
    folder: Path, pos: str
) -> dict[int, tuple[int, list[str], list[int], list[tuple[str, str, int, int]]]]:
    """Offset -> lexicographer file, words, hypernyms of the same part of speech, derivations (word, other
    pos, offset, word there)."""
    found = {}
    for line in (
        (folder / f"data.{'verb' if pos == 'v' else 'noun'}").read_text(encoding="latin-1").splitlines()
    ):
        if line.startswith("  "):
            continue
        cells = line.split(" | ")[0].split()
        count = int(cells[3], 16)
        words = [cells[4 + 2 * i].lower() for i in range(count)]
        at = 4 + 2 * count
        pointers = [cells[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(int(cells[at]))]
        up = [int(p[1]) for p in pointers if p[0] in ("@", "@i") and p[2] == pos]
        derived = [
            (words[int(p[3][:2], 16) - 1], p[2], int(p[1]), int(p[3][2:], 16) - 1)
            for p in pointers
            if p[0] == "+" and p[3] != "0000"
        ]
        found[int(cells[0])] = (int(cells[1]), words, up, derived)
    return found


def _index(folder: Path, pos: str) -> Iterator[tuple[str, list[int], int]]:
    """Word, offsets of its senses by frequency, and how many of them the tagged corpus shows."""
    for line in (
        (folder / f"index.{'verb' if pos == 'v' else 'noun'}").read_text(encoding="latin-1").splitlines()
    ):
        if line.startswith("  "):
            continue
        cells = line.split()
        senses = int(cells[2])
        yield cells[0].lower(), [int(c) for c in cells[-senses:]], int(cells[-senses - 1])


def _kept(word: str, pos: str) -> bool:
    return bool(WORD.fullmatch(word) or (pos == "v" and PHRASAL.fullmatch(word)))


def main() -> None:
    """Read the database, keep what the reader asks for, write it."""
    folder = Path(sys.argv[1])
    synsets = {pos: _synsets(folder, pos) for pos in SENSES}
    index = {
        pos: {word: (senses, tagged) for word, senses, tagged in _index(folder, pos) if _kept(word, pos)}
        for pos in SENSES
    }
    acts: dict[str, set[str]] = {}
    for person, _, _, derived in synsets["n"].values():
        if person != PERSON:
            for word, pos, offset, there in derived:
                verb = synsets["v"][offset][1][there] if pos == "v" else ""
                if verb and WORD.fullmatch(verb) and WORD.fullmatch(word):
                    acts.setdefault(word, set()).add(verb)
    common = {word for word, (_, tagged) in index["n"].items() if tagged or word in acts}
    shared = {
        w for word in common for s in index["n"][word][0][:2] for w in synsets["n"][s][1] if w in index["n"]
    }
    kept = {"v": set(index["v"]), "n": common | shared}
    numbers: dict[tuple[str, int], int] = {}
    lines = []
    for pos in SENSES:
        for word in sorted(kept[pos]):
            senses = index[pos][word][0][: SENSES[pos]]
            told = " ".join(str(numbers.setdefault((pos, s), len(numbers))) for s in senses)
            lines.append(
                "\t".join(
                    (
                        pos,
                        word.replace("_", " "),
                        told,
                        " ".join(sorted(acts.get(word, ()))) if pos == "n" else "",
                    )
                )
            )
    for (pos, offset), number in list(numbers.items()):
        person, _, up, _ = synsets[pos][offset]
        near = [str(numbers[pos, u]) for u in up if (pos, u) in numbers]
        if near or (pos == "n" and person == PERSON):
            lines.append(
                "\t".join(("p" if pos == "n" and person == PERSON else "s", str(number), " ".join(near), ""))
            )
    for pos, name in (("v", "verb"), ("n", "noun")):
        for line in (folder / f"{name}.exc").read_text(encoding="latin-1").splitlines():
            form, *bases = line.split()
            bases = [b for b in bases if b in kept[pos]]
            if WORD.fullmatch(form) and bases:
                lines.append("\t".join(("i" + pos, form, " ".join(bases), "")))
    with (
        TARGET.open("wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, 0) as stream,
    ):  # no name, no time: the same bytes every time
        stream.write(("\n".join(lines) + "\n").encode())
    print(f"{len(lines)} lines, {TARGET.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
