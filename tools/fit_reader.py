"""Fit the model of relations and write gnrs_ppl/reading/relations.tsv.gz.

    python tools/fit_reader.py fit [TEXT2DECLARE]     # text2declare_dev.json, of which two thirds are used
    python tools/fit_reader.py check [TEXT2DECLARE]   # five-fold, whole domains left out

The sentences under tools/sentences are in the words of many kinds of speakers, each with its schema and the
constraints it states, or the reason why it states none. They were written for this purpose by a language
model that knew nothing of the reader.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from gnrs_ppl.context.types import Schema
from gnrs_ppl.experiments.random_rules import random_rules, stated_by
from gnrs_ppl.experiments.reading import (
    LabelledSentence,
    all_right,
    by_constructions,
    constraints,
    kept_from_fit,
    sentences_of,
    stating_scores,
)
from gnrs_ppl.reading import Readings
from gnrs_ppl.reading.constructions import Constructions
from gnrs_ppl.reading.reader import vocabulary
from gnrs_ppl.reading.relations import (
    BINARY,
    KINDS,
    SYMMETRIC,
    UNARY,
    WEIGHTS,
    Marked,
    Weights,
    kind_of,
    read_weights,
)
from gnrs_ppl.reading.statements import Statements
from gnrs_ppl.rule.types import LOOK_BACK

SENTENCES = Path(__file__).parent / "sentences"
RENDERED = 320
"""Texts of random rules to learn from."""
LEAST_SEEN = 2
"""A feature counts where at least so many gold options have it."""
LEAST_OFFERED = 100
TELLING = re.compile(
    r"#|\t[<>]?[ta]?(?:L1|R1|l|form|score|told|clause|binds|background|opener):|\t[<>]?(?:kinds|negative|binds|order|pair|as|count):"
)
"""Features that also speak against options they were never seen with, where these were offered often enough.
"""
RIDGE = 1.0
SMALLEST = 0.02
"""Weights nearer to zero are not kept."""
FOLDS = 5
LABELS = {
    "AtLeastOne": "existence",
    "Existence": "existence_n",
    "Exactly": "exactly",
    "Absence": "absence",
    "AtMostOne": "at_most",
    "Init": "init",
    "End": "end",
    "Response": "response",
    "ChainResponse": "chain_response",
    "RespondedExistence": "responded_existence",
    "Precedence": "precedence",
    "ChainPrecedence": "chain_precedence",
    "CoExistence": "coexistence",
    "Succession": "succession",
    "NotCoExistence": "not_coexistence",
    "NotResponse": "not_response",
    "NotPrecedence": "not_precedence",
    "NotChainResponse": "not_chain_response",
    "Choice": "choice",
    "ExclusiveChoice": "exclusive_choice",
}


Choice = tuple[str, int | None]
"""A label and the other mention."""


class Features(dict[str, int]):
    """Names of features, numbered as they come."""

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number


class Example(NamedTuple):
    """Numbers of the features of every option of every mention, and the options that are right."""

    options: list[list[tuple[Choice, array[int]]]]
    right: list[set[Choice]]


def sentences(text2declare: Path | None) -> Iterator[tuple[str, LabelledSentence]]:
    """Every sentence there is to learn from, with its source.

    A duty under a circumstance that no act shows is read as a duty with a condition; what the records cannot
    hold is said later.
    """
    for path in sorted(SENTENCES.glob("*.yaml")):
        yield from ((path.stem, s) for s in sentences_of(path) if s.refuse != "no_condition")
    every = dict.fromkeys(s.schema for path in sorted(SENTENCES.glob("*.yaml")) for s in sentences_of(path))
    schemas = [s for s in every if s.roles and sum(bool(a.phrase) for a in s.actions) > 5]
    for n, (structure, text, schema) in enumerate(random_rules(schemas, RENDERED, 7), 1):
        yield (
            "rendered",
            LabelledSentence(f"rendered {(RENDERED - n) % 50}", text, schema, stated_by(structure)),
        )
    for row in json.loads(text2declare.read_text(encoding="utf-8")) if text2declare else []:
        if not kept_from_fit(row["activities"]):
            schema = Schema.model_validate({"actions": row["schema"]})
            yield "Text2Declare", LabelledSentence(row["activities"][0], row["text"], schema, [row])


def example(sentence: LabelledSentence, features: Features) -> Example:
    """A sentence as features and right options; where an act told several times is concerned, any of its
    mentions is right."""
    marked = Marked(Constructions(sentence.text, vocabulary(sentence.schema)))
    right = _right(marked, sentence.statements)
    options: list[list[tuple[Choice, array[int]]]] = []
    for t in range(len(marked.mentions)):
        alone = [f"alone\t{f}" for f in marked.alone(t)]
        of_mention: list[tuple[Choice, array[int]]] = [
            ((label, None), _numbers(features, label, alone, marked.agrees(label, t, None)))
            for label in UNARY
        ]
        for a in (a for target, a in marked.pairs() if target == t):
            pair = [f"pair\t{f}" for f in marked.pair(t, a)]
            of_mention += [
                ((label, a), _numbers(features, label, pair, marked.agrees(label, t, a))) for label in BINARY
            ]
        options.append(of_mention)
    return Example(options, right)


def _numbers(features: Features, label: str, names: Sequence[str], agrees: Sequence[str]) -> array[int]:
    return array(
        "I", {*(features[f"{label}\t{f}"] for f in names), *(features[f"\tagrees\t{f}"] for f in agrees)}
    )


def _right(marked: Marked, statements: Sequence[dict[str, Any]]) -> list[set[Choice]]:
    """The right options of each mention."""
    place = {}

    def find(activity: str, taken: Sequence[int | None] = ()) -> int | None:
        told = [
            (t.score, k)
            for k, m in enumerate(marked.mentions)
            for t in m.matches
            if t.activity == activity and k not in taken
        ]
        if not told:
            return None
        k = max(told)[1]
        marked.acts[k] = activity
        return k

    for statement in statements:
        label, k = LABELS[statement["template"]], list[int | None]()
        if label == "absence" and (statement.get("count") or 1) > 1:
            label = "at_most"
        for activity in statement["activities"]:
            k.append(find(activity, k))
        known = [x for x in k if x is not None]
        if len(known) < len(
            k
        ):  # an act is told in words that no mention has: nothing is to be learned from what the others are
            return [set() for _ in marked.mentions]
        either = bool(statement.get("alternatives"))
        if label in UNARY:
            first, others, head = known[0], known[1:], None
        elif label in SYMMETRIC:
            head, first = sorted(known[:2])
            others = []
        elif label in LOOK_BACK:
            first, *others, head = known
        else:
            head, first, *others = known
        place[first] = (label, head)
        place.update(dict.fromkeys(others, ("or", first) if either else (label, head)))
        if statement.get("exception") and (x := find(statement["exception"], known)) is not None:
            place.setdefault(x, ("exception", first))
    found: list[set[Choice]] = []
    for k in range(len(marked.mentions)):
        same = [own for x, own in place.items() if marked.acts[x] == marked.acts[k]]
        options: set[Choice] = set() if k in place else {("none", None)}
        for label, other in [place[k]] if k in place else same:
            heads = (
                [None]
                if other is None
                else [x for x, act in enumerate(marked.acts) if act == marked.acts[other] and x != k]
            )
            options |= {(label, x) for x in heads}
        found.append(options)
    return found


def fit(examples: Sequence[Example], features: Features) -> dict[str, float]:
    """Weights that maximise the likelihood of the right options, less a ridge."""
    known = [
        (options, right)
        for e in examples
        for options, right in zip(e.options, e.right, strict=True)
        if any(o in right for o, _ in options)
    ]
    seen = np.zeros(len(features), dtype=int)
    for options, right in known:
        for option, at in options:
            if option in right:
                seen[list(at)] += 1
    offered = np.zeros(len(features), dtype=int)
    for options, _ in known:
        for _, at in options:
            offered[list(at)] += 1
    telling = np.array([bool(TELLING.search(name)) for name in features])
    kept = np.flatnonzero((seen >= LEAST_SEEN) | (telling & (offered >= LEAST_OFFERED)))
    column = np.full(len(features), -1)
    column[kept] = np.arange(len(kept))
    every = [(option in right, column[list(at)]) for options, right in known for option, at in options]
    cells = [at[at >= 0] for _, at in every]
    starts = np.cumsum([0, *(len(options) for options, _ in known)])
    ends = np.cumsum([0, *map(len, cells)])
    x = csr_matrix((np.ones(ends[-1]), np.concatenate(cells), ends), shape=(len(every), len(kept)))
    y, first = np.array([right for right, _ in every], dtype=float), starts[:-1]
    owner = np.repeat(np.arange(len(first)), np.diff(starts))
    transposed = x.T.tocsr()

    def objective(w: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        score = x @ w
        score -= np.maximum.reduceat(score, first)[owner]
        share = np.exp(score)
        right = share * y
        total, of_right = np.add.reduceat(share, first), np.add.reduceat(right, first) + 1e-300
        slope = transposed @ (right / of_right[owner] - share / total[owner])
        return float(-(np.log(of_right) - np.log(total)).sum() + 0.5 * RIDGE * w @ w), -slope + RIDGE * w

    w = minimize(objective, np.zeros(len(kept)), jac=True, method="L-BFGS-B", options={"maxiter": 150}).x
    names = list(features)
    return {names[f]: float(value) for f, value in zip(kept, w, strict=True)}


def others(examples: Sequence[Example]) -> dict[str, np.ndarray[Any, Any]]:
    """For each label of two acts, how much oftener than elsewhere its other act is of each kind, with one of
    each added."""
    of_label, anywhere = {label: np.ones(len(KINDS)) for label in BINARY}, np.ones(len(KINDS))
    for example in examples:
        labels = [
            min(right, key=lambda choice: (choice[0] != "none", choice[0])) if right else None
            for right in example.right
        ]
        for choice in (c for c in labels if c):
            anywhere[KINDS.index(kind_of(choice[0]))] += 1
            if choice[1] is not None and (other := labels[choice[1]]):
                of_label[choice[0]][KINDS.index(kind_of(other[0]))] += 1
    return {label: (seen / seen.sum()) / (anywhere / anywhere.sum()) for label, seen in of_label.items()}


def _write_lines(lines: Sequence[str], path: Path) -> None:
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def write(examples: Sequence[Example], features: Features, path: Path = WEIGHTS) -> None:
    """Fit, and write one line a feature, with the labels it speaks for."""
    weights = fit(examples, features)
    into: dict[tuple[str, str], list[str]] = defaultdict(list)
    into |= {("other", label): [f"{x:.2f}" for x in kinds] for label, kinds in others(examples).items()}
    for name, value in sorted(weights.items()):
        label, kind, feature = name.split("\t")
        if abs(value) >= SMALLEST:
            number = (UNARY if kind == "alone" else BINARY).index(label) if label else ""
            into[kind, feature].append(f"{number}:{value:.2f}" if label else f"{value:.3f}")
    lines = ["\t".join((kind, feature, " ".join(cells))) for (kind, feature), cells in sorted(into.items())]
    _write_lines(lines, path)
    print(f"{len(weights)} weights, {len(lines)} features, {path.stat().st_size / 1024:.0f} KiB")


def _read_with(weights: Weights, text: str, schema: Schema) -> Readings:
    """What other weights than the package's read."""
    return Statements(Constructions(text, vocabulary(schema)), weights).read()


def main() -> None:
    """Fit, or check by leaving domains out."""
    verb, *paths = sys.argv[1:]
    every = list(sentences(Path(paths[0]) if paths else None))
    features = Features()
    examples = [example(s, features) for _, s in every]
    if verb == "fit":
        write(examples, features)
        return

    total: dict[str, list[int]] = {}
    differ: Counter[str] = Counter()
    for fold in range(FOLDS):
        out = [int(hashlib.sha256(s.domain.encode()).hexdigest(), 16) % FOLDS == fold for _, s in every]
        path = Path(f"build/fold{fold}.tsv.gz")
        path.parent.mkdir(exist_ok=True)
        write([e for e, left_out in zip(examples, out, strict=True) if not left_out], features, path)
        read_so = partial(_read_with, read_weights(path))
        left = [row for row, left_out in zip(every, out, strict=True) if left_out]
        for s in (s for source, s in left if source not in ("rendered", "Text2Declare")):
            relations_say, constructions_say = read_so(s.text, s.schema), by_constructions(s.text, s.schema)
            if constraints(relations_say) != constraints(constructions_say):
                differ.update(
                    texts=1,
                    relations=all_right(relations_say, s),
                    constructions=all_right(constructions_say, s),
                )
        for source in sorted({source for source, _ in left}):
            mine = stating_scores(source, (s for where, s in left if where == source), read_so)
            total[source] = [a + b for a, b in zip(total.get(source, [0] * 5), mine[1:], strict=True)]
    for source, (statements, right, beside, without, unread) in sorted(total.items()):
        share = f"right {right} of {statements} = {right / statements:.3f}, beside them {beside}"
        print(f"{source:14} {share}, nothing read in {unread} of {without} that state nothing")
    told = f"right in all: relations {differ['relations']}, constructions {differ['constructions']}"
    print(f"{differ['texts']} texts of domains left out are read differently; {told}")


if __name__ == "__main__":
    main()
