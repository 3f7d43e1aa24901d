"""How well sentences are read that the weights were not fitted on: by the network, by rules, by both.

``python -m training.evaluate SET [SET …] [--weights FOLDER] [--first N]``; sets are named as labels.py
names them, such as ``"corpus calibration"``.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading import reader
from gnrs_ppl.reading.decoder import Weighed, meaning_of
from gnrs_ppl.reading.equivalence import Duty, duties
from gnrs_ppl.reading.learned import MOST, TEMPERATURE, Typed, typed_of
from gnrs_ppl.reading.network import Network, logits, shipped, stored_in
from gnrs_ppl.reading.opinions import AGREEMENT, SILENCE, SURE, SURE_OF_PART, weighed
from gnrs_ppl.reading.quantities import durations
from gnrs_ppl.reading.types import Readings
from training.labels import OUT

HEADS = {"relations": "relation", "excused": "excused", "persons": "person", "by": "by"}


def gold(e: dict[str, Any]) -> dict[tuple[str, int, int], int]:
    """An example's labels as the choices of the decoder."""
    chosen = {(HEADS[name], i, j): v for name in HEADS for i, j, v in e[name]}
    chosen |= {("unary", i, 0): kind for i, kind, _ in e["unary"] if kind}
    chosen |= {("count", i, 0): min(count, 6) - 1 for i, _, count in e["unary"] if count > 1}
    chosen |= {("ways", i, j): 1 for i, j in e["ways"] if i < j}
    chosen |= {("deadline", d, j): 1 for d, j in e["deadlines"]}
    return chosen | {("should", i, 0): 1 for i in e["should"]}


class Example(NamedTuple):
    """A labelled sentence with what both readers make of it.

    Attributes
    ----------
    labels : dict
    typed : Typed
        What the network's heads say.
    by_rules : Readings
    wanted : frozenset of Duty
        What its labels state.
    """

    labels: dict[str, Any]
    typed: Typed
    by_rules: Readings
    wanted: frozenset[Duty]

    def stated(self, readings: Readings) -> frozenset[Duty]:
        """What readings ask, as far as the source of the example labels it."""
        timed, roles = "deadlines" in self.labels["labelled"], "by" in self.labels["labelled"]
        return frozenset(
            d._replace(time=d.time if timed else "", only=d.only if roles else frozenset())
            for d in duties(readings)
        )

    def core(self, readings: Readings) -> frozenset[Duty]:
        """The same without times, roles, persons and exceptions."""
        return _core(duties(readings))

    def options(self, temperature: float) -> list[Option]:
        """What it may mean as the network alone has it, most probable first."""
        ways = self.typed.ways(MOST, temperature)
        options: dict[frozenset[Duty], Option] = {}
        by_rules = self.stated(self.by_rules)
        for readings in weighed(self.by_rules, ways, self.typed.schema, agreement=1.0, silence=1.0):
            meaning = self.stated(readings)
            same = options.get(meaning)
            options[meaning] = Option(
                readings.probability + (same.probability if same else 0.0),
                meaning == self.wanted,
                self.core(readings) == self.wanted_core,
                bool(meaning),
                meaning == by_rules,
            )
        return sorted(options.values(), key=lambda option: -option.probability)

    @property
    def wanted_core(self) -> frozenset[Duty]:
        """What its labels state, without times, roles, persons and exceptions."""
        return _core(self.wanted)


def _core(stated: frozenset[Duty]) -> frozenset[Duty]:
    none = frozenset[str]()
    return frozenset(d._replace(time="", only=none, who="", excuses=none) for d in stated)


class Option(NamedTuple):
    """A meaning.

    Attributes
    ----------
    probability : float
    right : bool
    core : bool
        Right in acts and templates at least.
    drafts : bool
        Whether it asks anything.
    by_rules : bool
        Whether the rules read the same.
    """

    probability: float
    right: bool
    core: bool
    drafts: bool
    by_rules: bool


def reweighed(options: Sequence[Option], agreement: float, silence: float) -> list[Option]:
    """The options with those that the rules read as well made likelier, as :func:`weighed` does."""
    factors = [(agreement if o.drafts else silence) if o.by_rules else 1.0 for o in options]
    weights = [o.probability * factor for o, factor in zip(options, factors, strict=True)]
    changed = [o._replace(probability=w / sum(weights)) for o, w in zip(options, weights, strict=True)]
    return sorted(changed, key=lambda option: -option.probability)


def example(labels: dict[str, Any], network: Network) -> Example | None:
    """A labelled sentence, read by both; None where its names make no schema or its labels no meaning."""
    acts = [{"name": label, **({"phrase": phrase} if phrase else {})} for label, phrase in labels["acts"]]
    roles = [{"name": role.replace(" ", "_"), "phrase": role} for role in labels["roles"]]
    try:
        schema = Schema.model_validate({"actions": acts, "roles": roles})
    except ValidationError:
        return None
    text = labels["text"]
    typed = typed_of(text, schema, network)
    if typed is None:
        return None
    one = Example(labels, typed, reader.read(text, schema), frozenset())
    if labels["refused"]:
        return one
    meaning = meaning_of(gold(labels))
    if meaning is None:
        return None
    names = [label for label, _ in labels["acts"]]
    spans = [(x.start, x.end) for x in durations(text)]
    every = typed
    if typed.acts != names:  # a long schema, of which the network looked at a part
        output = logits(network, text, labels["acts"], (), spans)
        every = Typed(text, schema, names, schema.roles, typed.lengths, output)
    return one._replace(wanted=one.stated(Readings(text, every.statements(Weighed(meaning, 1.0), []))))


def calibration_error(options: Sequence[Sequence[Option]]) -> float:
    """Expected calibration error over ten bins of the most probable meaning's probability."""
    bins: dict[int, list[Option]] = defaultdict(list)
    for best, *_ in options:
        bins[min(9, int(best.probability * 10))].append(best)
    gaps = (
        len(b) * abs(np.mean([o.probability for o in b]) - np.mean([o.right for o in b]))
        for b in bins.values()
    )
    return float(sum(gaps)) / len(options)


def line(name: str, examples: Sequence[Example], temperature: float) -> str:
    """A set in a few lines: rules alone, the network alone, both."""
    none = [k for k, x in enumerate(examples) if x.labels["refused"]]
    rules = np.mean([x.stated(x.by_rules) == x.wanted for x in examples])
    lines = [f"{name}: {len(examples)} sentences, {len(none)} of which state nothing to draft"]
    lines.append(f"  rules: right {rules:.3f}")
    alone = [x.options(temperature) for x in examples]
    both = [reweighed(options, AGREEMENT, SILENCE) for options in alone]
    for who, options in (("network", alone), ("both", both)):
        best = [o[0] for o in options]
        needed = [
            SURE_OF_PART if x.by_rules.unread and o.by_rules else SURE
            for o, x in zip(best, examples, strict=True)
        ]
        sure = [o for o, least in zip(best, needed, strict=True) if o.drafts and o.probability >= least]
        pairs = [
            (a, b)
            for a, (b, x) in zip(best, zip(best[1:], examples[1:], strict=True), strict=False)
            if x.labels["twin"]
        ]
        parts = [
            f"  {who}: right {np.mean([o.right for o in best]):.3f}",
            f"acts and templates {np.mean([o.core for o in best]):.3f}",
            f"within four {np.mean([any(way.right for way in o[:4]) for o in options]):.3f}",
            f"sure {len(sure) / len(best):.3f} at {np.mean([o.right for o in sure]):.3f}" if sure else "",
            f"left undrafted {sum(not best[k].drafts for k in none)} of {len(none)}" if none else "",
            f"calibration error {calibration_error(options):.3f}",
            f"twins both right {np.mean([a.right and b.right for a, b in pairs]):.3f} of {len(pairs)}"
            if pairs
            else "",
        ]
        lines.append(", ".join(filter(None, parts)))
    return "\n".join(lines)


def examples_of(names: Sequence[str], network: Network, first: int) -> dict[str, list[Example]]:
    """The first sentences of some sets, read."""
    sets: dict[str, list[Example]] = {name: [] for name in names}
    for text in OUT.read_text(encoding="utf-8").splitlines():
        labels = json.loads(text)
        name = f"{labels['source']} {labels['split']}"
        if name not in sets or len(sets[name]) >= first or labels["refused"] is None:
            continue
        if (one := example(labels, network)) is not None:
            sets[name].append(one)
    return sets


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--first", type=int, default=10**9)
    parser.add_argument("--temperature", type=float, default=TEMPERATURE)
    options = parser.parse_args()
    sets = examples_of(
        options.sets, stored_in(options.weights) if options.weights else shipped(), options.first
    )
    for name, examples in sets.items():
        print(line(name, examples, options.temperature), flush=True)


if __name__ == "__main__":
    main()
