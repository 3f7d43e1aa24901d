"""How well sentences are read that the weights were not fitted on: by the network, by rules, by both.

``python -m training.evaluate SET [SET …] [--weights FOLDER] [--first N]``; sets are named as labels.py
names them, such as ``"corpus calibration"``. Prints a line a set; ``--rows FILE`` keeps each outcome.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading import reader
from gnrs_ppl.reading.decoder import Weighed, meaning_of
from gnrs_ppl.reading.equivalence import Duty, duties
from gnrs_ppl.reading.learned import MOST, TEMPERATURE, Typed, learned
from gnrs_ppl.reading.network import Network, logits, shipped, unpacked
from gnrs_ppl.reading.opinions import AGREEMENT, SURE, weighed
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


def outcome(
    e: dict[str, Any], network: Network, temperature: float, agreement: float
) -> dict[str, Any] | None:
    """What is read of an example: probabilities, and what is right; None where its names make no schema."""
    acts = [{"name": label, **({"phrase": phrase} if phrase else {})} for label, phrase in e["acts"]]
    roles = [{"name": role.replace(" ", "_"), "phrase": role} for role in e["roles"]]
    try:
        schema = Schema.model_validate({"actions": acts, "roles": roles})
    except ValidationError:
        return None
    text = e["text"]
    ways = learned(text, schema, MOST, network, temperature)
    wanted = frozenset[Duty]()
    if not e["refused"]:
        found = logits(network, text, e["acts"], e["roles"], [(x.start, x.end) for x in durations(text)])
        meaning = meaning_of(gold(e))
        if meaning is None:
            return None
        typed = Typed(text, schema, [a[0] for a in e["acts"]], durations(text), found)
        wanted = duties(Readings(text, typed.statements(Weighed(meaning, 1.0), [])))
    timed = "deadlines" in e["labelled"]

    def plain(duties: frozenset[Duty]) -> frozenset[Duty]:
        """What the labels of every source say."""
        roles = "by" in e["labelled"]
        return frozenset(
            d._replace(time=d.time if timed else "", only=d.only if roles else frozenset()) for d in duties
        )

    def core(duties: frozenset[Duty]) -> frozenset[Duty]:
        return frozenset(d._replace(time="", only=frozenset(), who="", excuses=frozenset()) for d in duties)

    wanted = plain(wanted)
    by_rules = reader.read(text, schema)
    row: dict[str, Any] = {
        "refused": bool(e["refused"]),
        "reason": e["refused"],
        "conditional": ways[0].conditional,
        "condition": e["condition"],
        "twin": e["twin"],
        "text": text,
        "rules": plain(duties(by_rules)) == wanted,
        "network_probability": ways[0].probability,
        "unread": len(by_rules.unread),
    }
    for name, factor in (("network", 0.0), ("both", agreement)):
        sums: dict[frozenset[Duty], float] = defaultdict(float)
        for way in weighed(by_rules, ways, schema, agreement=factor) if factor else ways:
            sums[plain(duties(Readings(text, way.statements)))] += way.probability
        read = sorted(sums, key=lambda duties: -sums[duties])
        row[name] = {
            "probability": sums[read[0]],
            "drafts": bool(read[0]),
            "right": read[0] == wanted,
            "core": core(read[0]) == core(wanted),
            "ways": [(sums[d], d == wanted, d == plain(duties(by_rules))) for d in read[:6]],
        }
    return row


def calibration_error(rows: Sequence[dict[str, Any]]) -> float:
    """Expected calibration error over ten bins of probability."""
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for row in rows:
        bins[min(9, int(row["probability"] * 10))].append((row["probability"], row["right"]))
    gaps = (len(b) * abs(np.mean([p for p, _ in b]) - np.mean([r for _, r in b])) for b in bins.values())
    return float(sum(gaps)) / len(rows)


def line(name: str, rows: Sequence[dict[str, Any]]) -> str:
    """A set in a few lines: rules alone, the network alone, both."""
    none = [r for r in rows if r["refused"]]
    lines = [
        f"{name}: {len(rows)} sentences, {len(none)} of which state nothing to draft",
        f"  rules: right {np.mean([r['rules'] for r in rows]):.3f}",
    ]
    for reader_ in ("network", "both"):
        parts = [r[reader_] for r in rows]
        sure = [p for p in parts if p["drafts"] and p["probability"] >= SURE]
        twins = [(a[reader_], b[reader_]) for a, b in pairwise(rows) if b["twin"]]
        left = sum(not r[reader_]["drafts"] for r in none)
        told = [
            f"  {reader_}: right {np.mean([p['right'] for p in parts]):.3f}",
            f"acts and templates {np.mean([p['core'] for p in parts]):.3f}",
            f"within four {np.mean([any(w[1] for w in p['ways'][:4]) for p in parts]):.3f}",
            f"sure {len(sure) / len(rows):.3f} at {np.mean([p['right'] for p in sure]):.3f}" if sure else "",
            f"left undrafted {left} of {len(none)}" if none else "",
            f"calibration error {calibration_error(parts):.3f}",
            f"twins both right {np.mean([a['right'] and b['right'] for a, b in twins]):.3f} of {len(twins)}"
            if twins
            else "",
        ]
        lines.append(", ".join(filter(None, told)))
    return "\n".join(lines)


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--first", type=int, default=10**9)
    parser.add_argument("--agreement", type=float, default=AGREEMENT)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--temperature", type=float, default=TEMPERATURE)
    options = parser.parse_args()
    network = shipped()
    if options.weights:
        with np.load(options.weights / "reader.npz") as stored:
            lines = (options.weights / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
            network = unpacked({name: stored[name] for name in stored.files}, lines)
    by_set: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for text in OUT.read_text(encoding="utf-8").splitlines():
        e = json.loads(text)
        name = f"{e['source']} {e['split']}"
        if name not in options.sets or len(by_set[name]) >= options.first or e["refused"] is None:
            continue
        if (row := outcome(e, network, options.temperature, options.agreement)) is not None:
            by_set[name].append(row)
    for name in options.sets:
        print(line(name, by_set[name]), flush=True)
    if options.rows:
        rows = [json.dumps({"set": name, **row}) for name in options.sets for row in by_set[name]]
        options.rows.write_text("\n".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
