"""The corpus of rule sentences as typed blocks, read from its text form (corpus/FORMAT.md).

python -m training.corpus [FILE …]    # what is malformed, and counts by split, genre, template and option
"""

from __future__ import annotations

import gzip
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

CORPUS = Path(__file__).parent / "corpus"
GENRES = ("manual", "contract", "audit", "mail", "form", "process", "law", "spoken", "note")
ORDERED = (
    "response",
    "precedence",
    "responded",
    "not_response",
    "not_before",
    "chain_response",
    "chain_precedence",
    "not_chain",
    "alternate_response",
    "alternate_precedence",
)
"""Templates of a left and a right side."""
COUNTED = ("at_least", "at_most", "exactly")
ALONE = ("ban", "first", "last")
LISTED = ("together", "not_together", "choice", "xor")
REASONS = ("no_duty", "no_act", "no_field", "no_role", "no_time", "unclear")
Split = Literal["fit", "calibration", "held_out"]

_DURATION = re.compile(r"P(?=.)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+S)?)?|\d+W[DH]")
_MENTION = re.compile(r"\[([^\[\]]*)=([a-z])\]")
_HEAD = re.compile(r"= *(\S+) +(.+)")
_ACT = re.compile(r"([a-z]) = (.+?) \|(.*?)\|\s*([\d,]+)\s*")
_TEST = re.compile(r"(?:(case|[a-z]) )?(\S.*?) (<=|>=|!=|<|>|=|in|recorded)(?: (.+))?")


class Act(NamedTuple):
    """An activity of a log: its label, a verb phrase or nothing, and how many rows show it."""

    label: str
    phrase: str
    rows: int


class Mention(NamedTuple):
    """Where a text names an act: its first character, the one after its last, and the act's letter."""

    start: int
    end: int
    act: str


class Statement(NamedTuple):
    """One labelled duty or ban.

    Attributes
    ----------
    template : str
    left, right : tuple of str
        Letters of acts, in order of the alphabet; ``right`` is empty where the template names one side.
    left_all, right_all : bool
        Whether all acts of a side are meant; any one of them else.
    times : int
    options : tuple of (str, str)
        In order of the alphabet, such as ``("within", "P3D")``.
    """

    template: str
    left: tuple[str, ...]
    right: tuple[str, ...] = ()
    left_all: bool = False
    right_all: bool = False
    times: int = 1
    options: tuple[tuple[str, str], ...] = ()


class Sentence(NamedTuple):
    """A text without marks, its mentions, what it states, and why nothing is to be drafted of it, if so."""

    text: str
    genre: str
    mentions: tuple[Mention, ...]
    statements: frozenset[Statement]
    refused: str = ""
    twin: bool = False

    @property
    def meaning(self) -> tuple[frozenset[Statement], str]:
        """What a reader is to find: the statements, or the reason for none."""
        return self.statements, self.refused


@dataclass
class Block:
    """One domain: its acts by letter, its names, its sentences."""

    number: str
    domain: str
    acts: dict[str, Act] = field(default_factory=dict)
    roles: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    sentences: list[Sentence] = field(default_factory=list)

    @property
    def split(self) -> Split:
        """Its part, by its name alone: of twenty blocks 14 are fitted on, 3 calibrate, 3 are held out."""
        share = int(hashlib.sha256(self.domain.encode()).hexdigest()[:8], 16) / 2**32
        return "fit" if share < 0.7 else "calibration" if share < 0.85 else "held_out"

    def side(self, text: str) -> tuple[tuple[str, ...], bool]:
        """Letters of one side of a label, and whether all are meant; raises ValueError on others."""
        letters = [part.strip() for part in re.split(r"[|&,]", text)]
        if ("|" in text and "&" in text) or not set(letters) <= set(self.acts):
            raise ValueError(f"{text.strip()!r} names no acts of the block, or mixes | and &")
        return tuple(sorted(letters)), "&" in text

    def option(self, text: str) -> tuple[str, str]:
        """An option of a label as a pair; raises ValueError where it is none."""
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        if text in ("should", "each", "once"):
            return text, ""
        if word == "unless":
            letters, _ = self.side(rest.removesuffix(" since"))
            return "unless_since" if rest.endswith(" since") else word, "|".join(letters)
        valid = {
            "within": bool(_DURATION.fullmatch(rest)),
            "who": self._names_roles(rest),
            "opener": self._names_roles(rest),
            "person": rest in ("same", "other"),
            "count": rest.isdigit(),
            "where": all(map(self._is_condition, rest.split(" and "))),
            "log": bool(rest),
        }
        if not valid.get(word):
            raise ValueError(f"no option {text!r}")
        return word, rest

    def statement(self, line: str) -> Statement:
        """A label line as a statement; raises ValueError where it is none."""
        head, *stated = (part.strip() for part in line.split(";"))
        template, _, rest = head.partition(" ")
        options = tuple(sorted(map(self.option, stated)))
        if template in ORDERED and rest.count("->") == 1:
            (left, left_all), (right, right_all) = map(self.side, rest.split("->"))
            return Statement(template, left, right, left_all, right_all, options=options)
        if template in COUNTED:
            number, _, names = rest.partition(" ")
            letters, joined = self.side(names)
            return Statement(template, letters, left_all=joined, times=int(number), options=options)
        if template in (*ALONE, *LISTED):
            letters, joined = self.side(rest)
            if template in LISTED and len(letters) < 2:
                raise ValueError(f"{template} takes two acts")
            return Statement(template, letters, left_all=joined or template in LISTED, options=options)
        raise ValueError(f"no template in {line!r}")

    def sentence(self, marked: str, labels: Sequence[str], genre: str, twin: bool) -> Sentence:
        """A marked text with its labels; raises ValueError where they do not agree."""
        mentions, text, last = [], "", 0
        for mark in _MENTION.finditer(marked):
            text += marked[last : mark.start()]
            mentions.append(Mention(len(text), len(text) + len(mark[1]), mark[2]))
            text, last = text + mark[1], mark.end()
        text += marked[last:]
        if "[" in text or "]" in text:
            raise ValueError("a bracket that marks no act")
        if lost := {m.act for m in mentions} - set(self.acts):
            raise ValueError(f"no act {min(lost)!r}")
        refused = [label.removeprefix("none").strip() for label in labels if label.startswith("none")]
        if not labels or len(refused) > 1 or not set(refused) <= set(REASONS):
            raise ValueError(f"no label, or no reason: {refused}")
        stated = frozenset(self.statement(label) for label in labels if not label.startswith("none"))
        named = {m.act for m in mentions}
        if lost := {act for one in stated for act in (*one.left, *one.right)} - named:
            raise ValueError(f"act {min(lost)!r} is labelled and not marked in the text")
        return Sentence(text, genre, tuple(mentions), stated, "".join(refused), twin)

    def _names_roles(self, text: str) -> bool:
        names = re.split(r"[|,]| or ", text.removeprefix("not "))
        return all(name.strip() in self.roles for name in names)

    def _is_condition(self, text: str) -> bool:
        test = _TEST.fullmatch(text.strip())
        names = [re.sub(r"^(case|[a-z]) ", "", entry) for entry in self.data]
        return test is not None and any(name.startswith(f"{test[2]} ") for name in names)


def blocks(paths: Sequence[Path] = (), faults: list[str] | None = None) -> Iterator[Block]:
    """The blocks of some files, by default of the whole corpus.

    Parameters
    ----------
    paths : sequence of Path
        Text, plain or gzipped.
    faults : list of str, optional
        Takes what is malformed, which is left out; without it the first fault raises ValueError.
    """
    for path in paths or sorted(CORPUS.glob("written-*.txt.gz")):
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
        yield from _Parser(path.name, faults).blocks(text)


class _Parser:
    def __init__(self, name: str, faults: list[str] | None) -> None:
        self.name, self.faults = name, faults
        self.block: Block | None = None
        self.genre, self.twin = "", False
        self.marked, self.number = "", 0
        self.labels: list[str] = []

    def blocks(self, text: str) -> Iterator[Block]:
        for number, line in enumerate(map(str.strip, text.splitlines()), 1):
            if head := _HEAD.fullmatch(line):
                self._end_sentence()
                if self.block is not None:
                    yield self.block
                self.block, self.genre = Block(head[1], head[2]), ""
            elif line and self.block is None:
                self._fault(number, "text before the first block", line)
            elif line and self.block is not None:
                self._line(self.block, number, line)
        self._end_sentence()
        if self.block is not None:
            yield self.block

    def _line(self, block: Block, number: int, line: str) -> None:
        name, _, rest = line.partition(":")
        if line.startswith("> "):
            self.labels.append(line[2:].strip())
        elif line.startswith("- ") and line[2:].strip() in GENRES:
            self._end_sentence()
            self.genre, self.twin = line[2:].strip(), False
        elif line.startswith("~ twin"):
            self._end_sentence()
            self.twin = True
        elif self.genre:
            self._end_sentence()
            self.marked, self.number = line, number
        elif act := _ACT.fullmatch(line):
            block.acts[act[1]] = Act(act[2].strip(), act[3].strip(), int(act[4].replace(",", "")))
        elif name in ("roles", "data", "logs"):
            parts = (part.strip() for part in rest.split(";" if name == "data" else ","))
            setattr(block, name, tuple(filter(None, parts)))
        else:
            self._fault(number, "neither act nor sentence", line)

    def _end_sentence(self) -> None:
        marked, labels = self.marked, list(self.labels)
        self.marked = ""
        self.labels.clear()
        if not marked or self.block is None:
            return
        try:
            sentence = self.block.sentence(marked, labels, self.genre, self.twin)
            before = self.block.sentences[-1] if self.block.sentences else None
            if self.twin and before is not None and sentence.meaning == before.meaning:
                raise ValueError("a twin with the meaning of its sentence")
            self.block.sentences.append(sentence)
        except ValueError as error:
            self._fault(self.number, str(error), marked)

    def _fault(self, number: int, what: str, line: str) -> None:
        fault = f"{self.name}:{number}: {what}: {line[:80]}"
        if self.faults is None:
            raise ValueError(fault)
        self.faults.append(fault)


def main(paths: Sequence[str]) -> int:
    """Print faults and counts of some files; 1 where there are faults."""
    faults: list[str] = []
    counts: Counter[str] = Counter()
    for block in blocks([Path(path) for path in paths], faults):
        counts.update(["blocks", f"split {block.split}"])
        for one in block.sentences:
            counts.update(["sentences", f"genre {one.genre}", f"sentences {block.split}"])
            counts.update(["twins"] * one.twin + ["several duties"] * (len(one.statements) > 1))
            counts.update([f"none {one.refused}", "refused"] if one.refused else [])
            counts.update(f"template {s.template}" for s in one.statements)
            counts.update(f"option {name}" for s in one.statements for name, _ in s.options)
    print("\n".join(faults))
    print("\n".join(f"{count:7,} {name}" for name, count in sorted(counts.items())))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
