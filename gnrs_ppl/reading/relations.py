"""What each mention of an act is in its text: asked of every case, asked because of another mention, or
nothing of the kind.

A conditional log-linear model, fitted on sentences with gold constraints (``tools/fit_reader.py``). Each
mention chooses one option: a label and, for labels of two acts, the other mention; p(option) is proportional
to exp of the summed weights of its features. Features are words beside and between the mentions, never the
mentions' own, so that nothing is learned about any schema; the kinds of the clauses they stand in; and what
the constructions of :mod:`gnrs_ppl.reading.constructions` say. Then one step of belief propagation: what the
other mention probably is itself speaks for or against each label (an act that is banned outright opens
nothing).
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnrs_ppl.reading.clauses import Clause
from gnrs_ppl.reading.constructions import Constructions, functional
from gnrs_ppl.reading.mentions import Mention, mentions
from gnrs_ppl.reading.patterns import CUES
from gnrs_ppl.reading.quantities import count_of, durations
from gnrs_ppl.reading.types import Reading, Span
from gnrs_ppl.reading.vocabulary import STOP
from gnrs_ppl.reading.words import lemmas

UNARY = ("none", "existence", "existence_n", "exactly", "absence", "at_most", "init", "end")
"""What a mention may be by itself; ``existence_n`` and ``at_most`` (absence of n > 1) state a number."""
BINARY = (
    "response",
    "chain_response",
    "responded_existence",
    "precedence",
    "chain_precedence",
    "coexistence",
    "succession",
    "not_coexistence",
    "not_response",
    "not_precedence",
    "not_chain_response",
    "choice",
    "exclusive_choice",
    "exception",
    "or",
)
"""What a mention may be to another: the target of a constraint that it opens, what excuses it, another way
to meet it."""
ASKED = ("existence", "existence_n", "exactly", "init", "end")
DENIED = 8.0
"""What is taken off the score of a duty where its act is denied: the one error that must not happen."""
KINDS = ("nothing", "banned", "asked", "beside", "related")
"""What the other mention of a pair may be itself, as far as that speaks for or against the pair's label."""
SYMMETRIC = ("coexistence", "not_coexistence", "choice", "exclusive_choice")
WEIGHTS = Path(__file__).parent / "relations.tsv.gz"
MOST_MENTIONS = 10
NEIGHBOURS = 4
"""Mentions are something to each other where at most three stand between."""
FARTHEST = 80
"""Tokens of its sentence further off than this say nothing of a mention."""
REACH, BESIDE = 6, 3
"""Words so many tokens from a mention may be about its act, and so many are beside it."""
_FUNCTION = STOP.union(
    re.findall(
        r"\S+",
        """
        after afterwards again already always another any anyone anything aren't before beforehand begins being both
        can can't cannot come comes did didn't directly does doesn't don't earlier either ending ends ever every
        everyone except expect first followed following from get gets go goes got hasn't haven't immediately instead
        isn't keep last later least let make may might moment most must mustn't need needs neither never next no
        nobody none nor not nothing off on once one only ordinary other otherwise out over precede preceded prior
        right same save second see shall should shouldn't somebody someone something soon starting starts still
        straight straightaway sure take takes there time times together too twice two unless until up want wasn't when
        whenever where while whoever will with without won't would yet
        """,
    )
)
"""Words that make constructions; all others are told apart from each other by nothing but their place."""


ORDER = frozenset({"at once", "later", "earlier", "then", "exclusive", "together", "right before", "perfect"})
"""Kinds of cue words that relate two acts."""


class Option(NamedTuple):
    """What a mention may be: a label, the other mention where there is one, and how probable that is."""

    label: str
    other: int | None
    probability: float


class Marked:
    """A text with its mentions marked, and everything the features are made of."""

    def __init__(self, text: Constructions) -> None:
        self.text, self.tokens = text, text.tokens
        every = mentions(text.words, text.tokens, text.named, text.things)
        stated = tuple(m for m in every if not text.is_aim(m.at))
        self.mentions: tuple[Mention, ...] = stated[:MOST_MENTIONS]
        self.acts = [m.activity for m in self.mentions]
        self.rules = [statement.best for statement in text.said.statements]
        self.ruled = {label_of(rule) for rule in self.rules}
        self.sentence, number = list[int](), 0
        for token in self.tokens:
            self.sentence.append(number)
            number += token.text in ".;:!?"
        self._around = dict[tuple[int, int], list[str]]()

    @cached_property
    def marks(self) -> dict[int, int]:
        """Tokens that tell a mention."""
        found: dict[int, int] = {}
        for k, mention in enumerate(self.mentions):
            for i in mention.best.used:
                if i not in found or i == mention.at:
                    found[i] = k
        return found

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """First and last token of each mention, those near its verb or noun."""
        spans = []
        for k, mention in enumerate(self.mentions):
            near = [i for i in mention.best.used if abs(i - mention.at) <= 5 and self.marks.get(i) == k]
            spans.append((min([*near, mention.at]), max([*near, mention.at])))
        return spans

    @cached_property
    def words(self) -> list[str]:
        """The tokens with numbers, durations and names of the schema replaced by their kind; empty where a
        word is part of one.
        """
        words = [t.text for t in self.tokens]
        spans = [(length.start, length.end, "<time>") for length in durations(self.text.sentence)]
        spans += [
            (n.span.start, n.span.end, f"<{kind}>") for kind, found in self.text.names.items() for n in found
        ]
        for start, end, kind in spans:
            inside = [
                i
                for i, t in enumerate(self.tokens)
                if start <= t.start < end and words[i] and words[i][0] != "<"
            ]
            for i in inside:
                words[i] = kind if i == inside[-1] else ""
        return ["<number>" if w and w[0].isdigit() else w for w in words]

    def between(self, start: int, stop: int) -> list[str]:
        """The words of a stretch of tokens, a mention as one mark."""
        found: list[str] = []
        last = -1
        for i in range(max(start, 0), min(stop, len(self.tokens))):
            k = self.marks.get(i, -1)
            if k >= 0 and k != last:
                found.append("<act>")
            elif k < 0 and self.words[i]:
                found.append(self.words[i])
            last = k if k >= 0 or self.words[i] else last
        return found

    @cached_property
    def clauses(self) -> list[tuple[Clause, bool, bool, bool] | None]:
        """The innermost clause of each mention, and whether it forbids, permits, or binds by its words."""
        found: list[tuple[Clause, bool, bool, bool] | None] = []
        for mention in self.mentions:
            place = self.tokens[mention.at].start
            inside = [(c, b) for c, b in self.text.bound_clauses if c.opened <= place < c.end]
            clause, bound = min(inside, key=lambda cb: cb[0].end - cb[0].opened, default=(None, None))
            found.append(
                (clause, bound.negative, bound.permitted, bound.stated) if clause and bound else None
            )
        return found

    @cached_property
    def cues(self) -> list[tuple[str, ...]]:
        """The kinds of cue words in the clause of each mention, its opener included."""
        told = self.text.sentence
        of_clause = {c: _kinds(told[c.opened : c.end].lower()) for c, *_ in filter(None, self.clauses)}
        return [of_clause[clause[0]] if clause else () for clause in self.clauses]

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """First token and end of the sentence of each mention, as far as it matters."""
        found = []
        for first, _ in self.spans:
            near = range(max(0, first - FARTHEST), min(len(self.tokens), first + FARTHEST))
            inside = [i for i in near if self.sentence[i] == self.sentence[first]]
            found.append((inside[0], inside[-1] + 1))
        return found

    @cached_property
    def beside(self) -> list[list[str]]:
        """Features of each mention by itself: the words beside it, its form, how well it is told, its
        clause.
        """
        return [self._beside(k) for k in range(len(self.mentions))]

    def _beside(self, k: int) -> list[str]:
        (first, last), (start, stop), told = self.spans[k], self.sentences[k], self.mentions[k].best
        left, right = self.between(max(start, first - 3), first), self.between(last + 1, min(stop, last + 4))
        found = [f"L{n}:" + "_".join((["^"] * 3 + left)[-n:]) for n in (1, 2, 3)]
        found += [f"R{n}:" + "_".join((right + ["$"] * 3)[:n]) for n in (1, 2)]
        found += [f"l:{w}" for w in left]
        place = self.tokens[told.at].start
        found += ["background"] if any(s.start <= place < s.end for s in self.text.said.background) else []
        form = self.tokens[told.at].text
        ending = next((e for e in ("ing", "ed", "s") if form.endswith(e)), "")
        found.append(f"form:{ending}{'v' * bool(lemmas(form, 'v'))}{'n' * bool(lemmas(form, 'n'))}")
        found += [f"score:{int(told.score * 10)}", f"told:{told.head:d}{told.exact:d}{told.lent:d}"]
        if clause := self.clauses[k]:
            c, negative, permitted, stated = clause
            found += [
                f"clause:{c.kind}{'<' * c.first}",
                f"binds:{c.kind}{negative:d}{permitted:d}{stated:d}",
                f"opener:{c.opener.strip()}",
            ]
        return found

    def around(self, k: int) -> Span:
        """The words of a mention and those beside it that no mention takes."""
        first, last = self.spans[k]
        places = [first, last, *(i for i in self._left(k) if first - BESIDE <= i <= last + BESIDE)]
        return Span(self.tokens[min(places)].start, self.tokens[max(places)].end)

    def _left(self, k: int) -> Iterator[int]:
        """Tokens near a mention, in the same clause, that no part of the sentence takes."""
        (first, last), clause = self.spans[k], self.clauses[k]
        for i in range(max(0, first - REACH), min(len(self.tokens), last + REACH + 1)):
            token, told = self.tokens[i], self.words[i]
            if i in self.marks or not told or told[0] == "<" or self.sentence[i] != self.sentence[first]:
                continue
            if not token.text[0].isalpha() or token.text in STOP or functional(token.text):
                continue
            if clause is None or clause[0].opened <= token.start < clause[0].end:
                yield i

    def denied(self, t: int) -> bool:
        """Whether "not" or "never" stands directly before a mention, at most one word between."""
        at = self.mentions[t].at
        return any(
            w.text in ("not", "never", "cannot") or w.text.endswith("n't")
            for w in self.tokens[max(at - 2, 0) : at]
        )

    def alone(self, t: int) -> list[str]:
        """Features of what a mention is by itself."""
        (first, last), (start, stop) = self.spans[t], self.sentences[t]
        before, behind = self.between(start, first), self.between(last + 1, stop)
        found = ["", *self.beside[t], *_bag("before", before[-10:]), *_bag("behind", behind[:10])]
        found += [*_cues("before", before), *_cues("behind", behind)]
        together = sum(start <= other < stop for other, _ in self.spans)
        found += [f"own#{name}" for name in self.cues[t]]
        found += [f"mentions:{min(len(self.mentions), 4)}", f"in sentence:{min(together, 3)}"]
        if count := count_of(self.text.sentence[self.tokens[start].start : self.tokens[stop - 1].end]):
            found.append(f"count:{count.limit}")
        mine = [r for r in self.rules if self.acts[t] in (a.activity for a in r.targets)]
        opens = any(r.activation and r.activation.activity == self.acts[t] for r in self.rules)
        found += [f"target:{bool(mine):d}", f"opens:{opens:d}", f"rules:{len(self.rules)}"]
        return found + [f"as:{label_of(r)}{'+' * bool(r.activation)}" for r in mine]

    def pair(self, t: int, a: int) -> list[str]:
        """Features of what a mention is to another one."""
        first, second = (a, t) if a < t else (t, a)
        if (first, second) not in self._around:
            self._around[first, second] = self._around_pair(first, second)
        found = ["", *(f"t{f}" for f in self.beside[t]), *(f"a{f}" for f in self.beside[a])]
        found += self._around[first, second]
        mine, theirs = self.clauses[t], self.clauses[a]
        if mine and theirs:
            kinds = f"{mine[0].kind}/{theirs[0].kind}"
            ordered = "".join("01"[not ORDER.isdisjoint(self.cues[k])] for k in (t, a))
            found += [
                f"order:{kinds}/{mine[0] == theirs[0]:d}/{ordered}",
                *(f"t#{c}" for c in self.cues[t]),
                *(f"a#{c}" for c in self.cues[a]),
            ]
            found += [f"kinds:{kinds}/{mine[0] == theirs[0]:d}", f"negative:{kinds}/{mine[1]:d}{theirs[1]:d}"]
            found += [
                f"binds:{kinds}/{mine[2]:d}{mine[3]:d}",
                *(["direct"] if mine[0].direct or theirs[0].direct else []),
            ]
        both = [
            r
            for r in self.rules
            if r.activation and {self.acts[t], self.acts[a]} <= {r.activation.activity, *_names(r)}
        ]
        found += [f"read:{bool(self.rules):d}", f"pair:{bool(both):d}"]
        found += [
            f"pair:{label_of(r)}{'=' if r.activation and r.activation.activity == self.acts[a] else 'x'}"
            for r in both
        ]
        found += [
            f"as:{label_of(r)}{'+' * bool(r.activation)}" for r in self.rules if self.acts[t] in _names(r)
        ]
        near = min(4, (self.spans[second][0] - self.spans[first][1]) // 4)
        return [(">" if a < t else "<") + f for f in found] + [
            f"apart:{second - first}",
            f"near:{near}",
            "any",
        ]

    def _around_pair(self, first: int, second: int) -> list[str]:
        """Features of the words before, between and behind two mentions."""
        before = self.between(self.sentences[first][0], self.spans[first][0])
        middle = self.between(self.spans[first][1] + 1, self.spans[second][0])
        behind = self.between(self.spans[second][1] + 1, self.sentences[second][1])
        found = list[str]()
        for place, told in (("before", before[-8:]), ("middle", middle[-14:]), ("behind", behind[:8])):
            found += [*_bag(place, told), *_cues(place, told)]
        found += [f"anywhere#{name}" for name in _kinds(" ".join([*before, *middle, *behind]))]
        found.append("middle=" + ("_".join(middle) if len(middle) <= 4 else "long"))
        return [
            *found,
            f"together:{self.sentence[self.spans[first][0]] == self.sentence[self.spans[second][0]]:d}",
            f"apart:{second - first}",
        ]

    def agrees(self, label: str, t: int, a: int | None) -> list[str]:
        """Features of an option that a construction says too: which construction."""
        found = []
        for rule in self.rules:
            opener = rule.activation.activity if rule.activation else None
            if label_of(rule) != label or self.acts[t] not in {
                *_names(rule),
                *([opener] if label in SYMMETRIC else []),
            }:
                continue
            if (a is None and opener is None) or (
                a is not None
                and self.acts[a] in ({opener, *_names(rule)} if label in SYMMETRIC else {opener})
            ):
                found += [
                    "agrees",
                    "agrees:" + re.sub(r"'[^']*'", "'", rule.why)[:60] + "?" * (rule.probability < 0.7),
                ]
        return list(dict.fromkeys(found))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Mentions that may be something to each other: those of different acts."""
        for t, target in enumerate(self.acts):
            for a, other in enumerate(self.acts):
                if target != other and abs(t - a) <= NEIGHBOURS:
                    yield t, a


def label_of(reading: Reading) -> str:
    """The label that says what a reading says."""
    if reading.template in ("existence", "absence") and reading.count > 1:
        return "existence_n" if reading.template == "existence" else "at_most"
    return reading.template


def _names(reading: Reading) -> list[str]:
    return [a.activity for a in reading.targets]


def _bag(place: str, words: Sequence[str]) -> list[str]:
    """Single words, pairs and triples."""
    return [f"{place}:{'_'.join(words[i : i + n])}" for n in (1, 2, 3) for i in range(len(words) - n + 1)]


def _cues(place: str, words: Sequence[str]) -> list[str]:
    """The words that make constructions with all others blotted out, and which kinds of cue words there
    are.
    """
    told: list[str] = []
    for w in words:
        kept = w if w in _FUNCTION or w[0] == "<" or not w.isalpha() else "_"
        if kept != "_" or told[-1:] != ["_"]:
            told.append(kept)
    found = [f"{place}~{'_'.join(told[i : i + n])}" for n in (2, 3, 4) for i in range(len(told) - n + 1)]
    found += [f"{place}={'_'.join(told)}"] if len(told) <= 8 else []
    return found + [f"{place}#{name}" for name in _kinds(" ".join(words))]


@lru_cache(maxsize=4096)
def _kinds(words: str) -> tuple[str, ...]:
    """The kinds of cue words among words in small letters."""
    return tuple(name for name, pattern in CUES.items() if pattern.search(words))


class Table(NamedTuple):
    """Weights of features for each of some labels: a row for each feature, and where each has it."""

    at: dict[str, int]
    rows: NDArray[np.float64]

    def total(self, features: Iterable[str]) -> NDArray[np.float64]:
        """The weights of some features together; those that no fit knows have none."""
        rows = set(map(self.at.get, features, repeat(-1))) - {-1}
        total: NDArray[np.float64] = np.add.reduce(self.rows.take(sorted(rows), axis=0), axis=0)
        return total


class Weights(NamedTuple):
    """Weights of features: for labels of one act, for those of two, of agreement with a construction.

    ``other`` has for each label of two acts a row: by kind, how much oftener than elsewhere its other act is
    of that kind.
    """

    alone: Table
    pair: Table
    agrees: dict[str, float]
    other: NDArray[np.float64]


def read_weights(path: Path) -> Weights:
    """The weights a fit wrote."""
    tables: dict[str, dict[str, str]] = defaultdict(dict)
    for line in gzip.decompress(path.read_bytes()).decode("utf-8").rstrip("\n").split("\n"):
        kind, feature, told = line.split("\t")
        tables[kind][feature] = told
    agrees = {feature: float(weight) for feature, weight in tables["agrees"].items()}
    other = np.array([tables["other"][label].split() for label in BINARY], dtype=float)
    alone, pair = (_table(tables[kind], len(labels)) for kind, labels in (("alone", UNARY), ("pair", BINARY)))
    return Weights(alone, pair, agrees, other)


def _table(told: Mapping[str, str], labels: int) -> Table:
    """The rows of ``label:weight`` that a fit wrote."""
    counts = [cells.count(":") for cells in told.values()]
    cells = np.fromstring(" ".join(told.values()).replace(":", " "), sep=" ")
    rows = np.zeros((len(told), labels))
    rows[np.repeat(np.arange(len(told)), counts), cells[::2].astype(int)] = cells[1::2]
    return Table({f: row for row, f in enumerate(told)}, rows)


@cache
def frozen() -> Weights:
    """The fitted weights that came with the package."""
    return read_weights(WEIGHTS)


def options(text: Marked, weights: Weights) -> list[list[Option]]:
    """What each mention may be, with probabilities that sum to one for each."""
    scored: list[list[tuple[float, str, int | None]]] = []
    for t in range(len(text.mentions)):
        row = weights.alone.total(text.alone(t)).tolist()
        alone = [
            (weight + _agreement(text, weights, label, t, None), label)
            for weight, label in zip(row, UNARY, strict=True)
        ]
        barred = ASKED if text.denied(t) else ()
        scored.append([(score - DENIED * (label in barred), label, None) for score, label in alone])
    for t, a in text.pairs():
        row = weights.pair.total(text.pair(t, a)).tolist()
        scored[t] += [
            (weight + _agreement(text, weights, label, t, a), label, a)
            for weight, label in zip(row, BINARY, strict=True)
        ]
    shares = [_softmax([score for score, _, _ in of_mention]) for of_mention in scored]
    pairs = [(len(share) - len(UNARY)) // len(BINARY) for share in shares]
    kinds = [
        np.bincount([*_OF_UNARY, *_OF_BINARY * n], share, len(KINDS))
        for n, share in zip(pairs, shares, strict=True)
    ]
    others = [weights.other @ of_kind for of_kind in kinds]
    by_itself = np.ones(len(UNARY))
    found = []
    for share, of_mention in zip(shares, scored, strict=True):
        related = [a for _, _, a in of_mention[len(UNARY) :: len(BINARY)] if a is not None]
        spoken_for = np.concatenate([by_itself, *(others[a] for a in related)])
        fitting = share * spoken_for
        told = zip((fitting / fitting.sum()).tolist(), of_mention, strict=True)
        found.append([Option(label, other, p) for p, (_, label, other) in told])
    return found


def kind_of(label: str) -> str:
    """Which of the kinds a label is."""
    if label in BINARY:
        return "beside" if label in ("or", "exception") else "related"
    return {"none": "nothing", "absence": "banned"}.get(label, "asked")


_OF_UNARY, _OF_BINARY = ([KINDS.index(kind_of(label)) for label in labels] for labels in (UNARY, BINARY))


def _softmax(scores: Sequence[float]) -> NDArray[np.float64]:
    shares = np.exp(np.array(scores) - max(scores))
    return np.asarray(shares / shares.sum())


def _agreement(text: Marked, weights: Weights, label: str, t: int, a: int | None) -> float:
    if label not in text.ruled:
        return 0.0
    return sum(weights.agrees.get(f, 0.0) for f in text.agrees(label, t, a))
