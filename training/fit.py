"""Fit the reader's model on build/reader/examples.jsonl: a MiniLM encoder, tuned whole, with heads over acts.

``python -m training.fit --base FOLDER [--sentences 150000] [--start FILE] [--out FILE]``, with PyTorch.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "gnrs_ppl" / "reading"))
from wordpiece import act_text, literal, pieces, vocabulary  # noqa: E402  (no package: torch's environment has none)

EXAMPLES = ROOT / "build" / "reader" / "examples.jsonl"
WIDTH, LAYERS, HEADS, HIDDEN = 384, 6, 12, 256
UNARY, RELATIONS, REFUSED, COUNTS = 7, 19, 7, 6
TOKENS = 2200
"""Of a batch, padding included."""
LONGEST = 320


@dataclass
class Row:
    """An example as numbers: pieces, and what each belongs to (0 the text, 1… acts then roles, -1 none)."""

    ids: list[int]
    owner: list[int]
    acts: int
    roles: int
    literal: list[tuple[int, int]]
    durations: list[list[int]]
    target: dict[str, Any]


class Preparer:
    """Turns examples into rows, in training with acts shuffled, added, taken away, sentences joined."""

    def __init__(self, numbers: dict[str, int], seed: int) -> None:
        self.numbers = numbers
        self.random = random.Random(seed)
        self.cache: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """Numbers of the pieces of a text, kept."""
        if text not in self.cache:
            self.cache[text] = [p.id for p in pieces(text, self.numbers)]
        return self.cache[text]

    def row(self, e: dict[str, Any], order: Sequence[int], extra: Sequence[Any], drop: bool = False) -> Row:
        """An example with its acts in some order, and further acts that it does not speak of."""
        r = self.random
        place = {act: k for k, act in enumerate(order)}
        names = [e["acts"][a] if a is not None else None for a in order]
        more = iter(extra)
        names = [n if n is not None else next(more) for n in names]
        text = pieces(e["text"], self.numbers)
        ids, owner = [self.numbers["[CLS]"], *(p.id for p in text)], [-1] + [0] * len(text)
        for k, (label, phrase) in enumerate(names):
            shared = set(label.lower().replace("_", " ").split()) & set(phrase.lower().split())
            words = self.ids(act_text(label, "" if drop and shared and r.random() < 0.3 else phrase))[:14]
            ids += [self.numbers["[SEP]"], *words]
            owner += [-1] + [k + 1] * len(words)
        for k, role in enumerate(e["roles"]):
            words = self.ids(role.replace("_", " "))[:6]
            ids += [self.numbers["[SEP]"], *words]
            owner += [-1] + [len(names) + k + 1] * len(words)
        ids.append(self.numbers["[SEP]"])
        owner.append(-1)

        def inside(start: int, end: int) -> list[int]:
            return [i + 1 for i, p in enumerate(text) if p.start < end and p.end > start]

        marks = [
            (k, i)
            for k, (label, _) in enumerate(names)
            for a, b in literal(e["text"], label)
            for i in inside(a, b)
        ]
        spans = [inside(*d) for d in e["durations"]]

        def pair(values: list[list[int]]) -> list[tuple[int, ...]]:
            return [(place[v[0]], place[v[1]], *v[2:]) for v in values if v[0] in place and v[1] in place]

        target = {
            "refused": e["refused"],
            "source": e["source"],
            "labelled": e["labelled"],
            "condition": e["condition"],
            "relations": pair(e["relations"]),
            "ways": pair(e["ways"]),
            "excused": pair(e["excused"]),
            "persons": pair(e["persons"]),
            "unary": [(place[a], kind, count) for a, kind, count in e["unary"] if a in place],
            "by": [(place[a], role, way) for a, role, way in e["by"] if a in place],
            "deadlines": [(d, place[a]) for d, a in e["deadlines"] if a in place],
            "should": [place[a] for a in e["should"] if a in place],
            "mentions": [(place[a], i) for s, t, a in e["mentions"] if a in place for i in inside(s, t)],
        }
        return Row(ids, owner, len(names), len(e["roles"]), marks, spans, target)

    def plain(self, e: dict[str, Any]) -> Row:
        """An example as it is."""
        return self.row(e, range(len(e["acts"])), ())

    def varied(self, e: dict[str, Any], others: list[Any], mates: list[dict[str, Any]]) -> Row:
        """An example changed in what does not change its meaning, or in a way that makes it one to refuse."""
        r = self.random
        if mates and e["refused"] == "" and len(e["text"]) < 260 and r.random() < 0.15:
            mate = r.choice(mates)
            if mate["refused"] == "" and mate is not e and len(mate["text"]) < 260:
                e = joined(e, mate) or e
        if e["mentions"] and r.random() < 0.15:
            e = as_labels(e, r)
        stated = acts_of(e)
        acts = [a for a in range(len(e["acts"])) if a in stated]
        rest = [a for a in range(len(e["acts"])) if a not in stated]
        r.shuffle(rest)
        acts += rest[: max(0, r.randint(6, 12) - len(acts))] if len(rest) > 8 and r.random() < 0.7 else rest
        if stated and e["refused"] in ("", None) and r.random() < 0.06:
            lost = r.choice(sorted(stated))
            acts.remove(lost)
            if acts:
                e = e | {"refused": "no_act"}
            else:
                acts = [lost]
        order: list[int | None] = [*acts]
        extra = r.sample(others, r.randint(1, 4)) if r.random() < 0.3 else []
        extra = r.sample(others, r.randint(8, 20)) if r.random() < 0.08 else extra
        extra += siblings(e, acts, r) if r.random() < 0.35 else []
        order += [None] * len(extra)
        r.shuffle(order)
        return self.row(e, order, extra, drop=True)


def acts_of(e: dict[str, Any]) -> set[int]:
    """The acts that an example says something of."""
    return (
        {v[0] for v in e["unary"]}
        | {a for v in e["relations"] for a in v[:2]}
        | {a for v in e["excused"] for a in v[:2]}
        | {m[2] for m in e["mentions"]}
    )


def siblings(e: dict[str, Any], acts: Sequence[int], r: random.Random) -> list[tuple[str, str]]:
    """Acts that share words with those of an example and are none of them: one's beginning, another's end."""
    words = [(e["acts"][a][1] or e["acts"][a][0]).replace("_", " ").split() for a in acts]
    words = [w for w in words if len(w) > 1]
    known = {" ".join(w).lower() for w in words}
    made = list[tuple[str, str]]()
    for _ in range(r.randint(1, 5) if len(words) > 1 else 0):
        one, other = r.sample(words, 2)
        mixed = " ".join([one[0], *other[1:]])
        if mixed.lower() not in known:
            known.add(mixed.lower())
            made.append((mixed[:1].upper() + mixed[1:], r.choice(["", mixed])))
    return made


def joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any] | None:
    """Two sentences of one schema as one text; None where they speak of the same acts or differ in labels."""
    if one["acts"] != other["acts"] or one["labelled"] != other["labelled"] or one["refused"] is None:
        return None
    first, second = acts_of(one), acts_of(other)
    pairs = {tuple(v[:2]) for v in one["relations"]} & {tuple(v[:2]) for v in other["relations"]}
    alone = {v[0] for v in one["unary"]} & {v[0] for v in other["unary"]}
    if pairs or alone or len(first & second) > 1:
        return None
    shift, number = len(one["text"]) + 1, len(one["durations"])
    both = {
        name: one[name] + other[name]
        for name in ("unary", "relations", "ways", "excused", "persons", "by", "should")
    }
    moved = [[s + shift, t + shift, *rest] for s, t, *rest in other["mentions"]]
    return (
        one
        | both
        | {
            "text": one["text"] + " " + other["text"],
            "mentions": one["mentions"] + moved,
            "durations": one["durations"] + [[s + shift, t + shift] for s, t in other["durations"]],
            "deadlines": one["deadlines"] + [[d + number, a] for d, a in other["deadlines"]],
            "condition": one["condition"] or other["condition"],
        }
    )


def as_labels(e: dict[str, Any], r: random.Random) -> dict[str, Any]:
    """An example that names some acts by their labels, letter for letter or in quotation marks."""
    chosen = {a for a in acts_of(e) if r.random() < 0.7}
    mentions = sorted(e["mentions"])
    if any(a[1] > b[0] for a, b in pairwise(mentions)):
        return e
    quote = r.choice(["", "", '"', "'", "“"])
    change = r.choice([str, str, str.lower, lambda t: t.replace("_", " ")])
    spans = sorted(
        [(s, t, a, True) for s, t, a in mentions]
        + [(s, t, k, False) for k, (s, t) in enumerate(e["durations"])]
    )
    if any(a[1] > b[0] for a, b in pairwise(spans)):
        return e
    text, last, found, times = "", 0, [], [None] * len(e["durations"])
    for start, end, number, mention in spans:
        text += e["text"][last:start]
        words = e["text"][start:end]
        if mention and number in chosen:
            words = quote + change(e["acts"][number][0]) + {"“": "”"}.get(quote, quote)
        if mention:
            found.append([len(text), len(text) + len(words), number])
        else:
            times[number] = [len(text), len(text) + len(words)]
        text, last = text + words, end
    return e | {"text": text + e["text"][last:], "mentions": found, "durations": times}


class Dropout(nn.Module):
    """Dropout by masks that are cut from one long random row: drawing each anew is slow."""

    def __init__(self, share: float = 0.1) -> None:
        super().__init__()
        self.register_buffer("row", (torch.rand(1 << 23) >= share).float() / (1 - share), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Its input, a share of it zero while training."""
        if not self.training:
            return x
        start = random.randrange(self.row.numel() - x.numel())
        return x * self.row[start : start + x.numel()].view(x.shape).to(x.dtype)


class Layer(nn.Module):
    """A layer of BERT, normed behind attention and behind the network within."""

    def __init__(self, drop: Dropout) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.drop = drop

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Vectors of pieces, a mask added to their attention."""
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-1, -2) / math.sqrt(WIDTH / HEADS) + mask.to(q.dtype)).softmax(-1)
        x = self.norm1(x + self.drop(self.out((weights @ v).transpose(1, 2).reshape(batch, length, WIDTH))))
        return self.norm2(x + self.drop(self.down(F.gelu(self.up(x)))))


class Reader(nn.Module):
    """The encoder, and heads over acts, pairs of acts, acts with roles or durations, and the whole."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, WIDTH)
        self.words.weight.requires_grad = False
        self.places, self.kinds = nn.Embedding(512, WIDTH), nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        drop = Dropout()
        self.layers = nn.ModuleList(Layer(drop) for _ in range(LAYERS))
        self.mention_act, self.mention_text = nn.Linear(WIDTH, HIDDEN), nn.Linear(WIDTH, HIDDEN)
        self.mention = nn.Parameter(
            torch.tensor([4.0, -3.0, 1.0])
        )  # of a literal label, of every token, and scale
        self.entity = nn.Linear(3 * WIDTH, HIDDEN)
        self.left, self.right, self.both = (nn.Linear(HIDDEN, HIDDEN) for _ in range(3))
        self.pair_hidden = nn.Linear(HIDDEN, HIDDEN)
        self.pair = nn.Linear(HIDDEN, RELATIONS + 1 + 3 + 3)
        self.alone_hidden, self.alone = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, UNARY + COUNTS + 1)
        self.role_act, self.role = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.role_both, self.role_out = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 3)
        self.time, self.time_act = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.time_both, self.time_out = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1)
        self.whole_hidden, self.whole = nn.Linear(2 * WIDTH, HIDDEN), nn.Linear(HIDDEN, REFUSED + 1)
        self.drop = drop

    def forward(self, b: dict[str, Tensor]) -> dict[str, Tensor]:
        """Logits of every head for a batch."""
        ids, text = b["ids"], b["text"]
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        x = self.words(ids) + self.places(places) + self.kinds(b["kinds"])
        x = self.drop(self.norm(x))
        mask = (1 - b["filled"])[:, None, None] * -1e4
        for layer in self.layers:
            x = layer(x, mask)
        acts = b["acts"].to(x.dtype) @ x  # means over the pieces of each act
        logits = self.mention_act(acts) @ self.mention_text(x).transpose(1, 2) / math.sqrt(HIDDEN)
        logits = logits.float() * self.mention[2] + self.mention[0] * b["literal"] + self.mention[1]
        weights = (logits + (1 - text)[:, None] * -1e4).softmax(-1)
        pooled = weights.to(x.dtype) @ x
        first = x[:, :1].expand(-1, acts.shape[1], -1)
        e = self.drop(F.gelu(self.entity(torch.cat([acts, pooled, first], -1))))
        pair = self.left(e)[:, :, None] + self.right(e)[:, None] + self.both(e[:, :, None] * e[:, None])
        pair = self.pair(F.gelu(self.pair_hidden(F.gelu(pair))))
        alone = self.alone(F.gelu(self.alone_hidden(e)))
        whole_text = (text.to(x.dtype)[:, None] @ x)[:, 0] / text.sum(1, keepdim=True).clamp(min=1).to(
            x.dtype
        )
        whole = self.whole(F.gelu(self.whole_hidden(torch.cat([x[:, 0], whole_text], -1))))
        out = {"mention": logits, "pair": pair.float(), "alone": alone.float(), "whole": whole.float()}
        roles = b["roles"].to(x.dtype) @ x
        # a role's vector is that of an act without words of its own
        r = F.gelu(self.entity(torch.cat([roles, roles, x[:, :1].expand(-1, roles.shape[1], -1)], -1)))
        r_pair = (
            self.role_act(e)[:, :, None] + self.role(r)[:, None] + self.role_both(e[:, :, None] * r[:, None])
        )
        out["by"] = self.role_out(F.gelu(r_pair)).float()
        d = self.time(b["durations"].to(x.dtype) @ x)
        d_pair = d[:, :, None] + self.time_act(e)[:, None] + self.time_both(d[:, :, None] * e[:, None])
        out["deadline"] = self.time_out(F.gelu(d_pair))[..., 0].float()
        return out


def batch_of(rows: Sequence[Row], device: str) -> dict[str, Any]:
    """Rows as padded arrays."""
    n, length = len(rows), max(len(r.ids) for r in rows)
    acts, roles = max(r.acts for r in rows), max(1, *(r.roles for r in rows), 1)
    times = max(1, *(len(r.durations) for r in rows), 1)
    b = {
        "ids": np.zeros((n, length), np.int64),
        "kinds": np.zeros((n, length), np.int64),
        "filled": np.zeros((n, length), np.float32),
        "text": np.zeros((n, length), np.float32),
        "acts": np.zeros((n, acts, length), np.float32),
        "roles": np.zeros((n, roles, length), np.float32),
        "durations": np.zeros((n, times, length), np.float32),
        "literal": np.zeros((n, acts, length), np.float32),
        "is_act": np.zeros((n, acts), np.float32),
        "is_role": np.zeros((n, roles), np.float32),
        "is_time": np.zeros((n, times), np.float32),
    }
    for k, row in enumerate(rows):
        size = len(row.ids)
        owner = np.array(row.owner)
        b["ids"][k, :size], b["filled"][k, :size] = row.ids, 1
        b["kinds"][k, :size], b["text"][k, :size] = owner > 0, owner == 0
        for i in range(row.acts + row.roles):
            where = np.flatnonzero(owner == i + 1)
            home = b["acts"][k, i] if i < row.acts else b["roles"][k, i - row.acts]
            home[where] = 1 / max(1, len(where))
        for i, spans in enumerate(row.durations):
            b["durations"][k, i, spans] = 1 / max(1, len(spans))
        for i, token in row.literal:
            b["literal"][k, i, token] = 1
        b["is_act"][k, : row.acts], b["is_role"][k, : row.roles] = 1, 1
        b["is_time"][k, : len(row.durations)] = 1
    return {name: torch.from_numpy(value).to(device) for name, value in b.items()}


def targets_of(rows: Sequence[Row], b: dict[str, Tensor]) -> dict[str, Tensor]:
    """What each head should give, and where it is labelled."""
    n, acts = b["is_act"].shape
    zeros = lambda *shape, kind=np.int64: np.zeros(shape, kind)  # noqa: E731
    t = {
        "relation": zeros(n, acts, acts),
        "ways": zeros(n, acts, acts, kind=np.float32),
        "excused": zeros(n, acts, acts),
        "person": zeros(n, acts, acts),
        "unary": zeros(n, acts),
        "count": zeros(n, acts),
        "counted": zeros(n, acts, kind=np.float32),
        "should": zeros(n, acts, kind=np.float32),
        "should_known": zeros(n, acts, kind=np.float32),
        "by": zeros(n, acts, b["is_role"].shape[1]),
        "deadline": zeros(n, b["is_time"].shape[1], acts, kind=np.float32),
        "mention": zeros(n, acts, b["ids"].shape[1], kind=np.float32),
        "refused": zeros(n),
        "refused_known": zeros(n, kind=np.float32),
        "stated_known": zeros(n, kind=np.float32),
        "by_known": zeros(n, kind=np.float32),
        "deadline_known": zeros(n, kind=np.float32),
        "mention_known": zeros(n, kind=np.float32),
        "condition": zeros(n, kind=np.float32),
    }
    for k, row in enumerate(rows):
        x = row.target
        for i, j, value in x["relations"]:
            t["relation"][k, i, j] = value
        for i, j in x["ways"]:
            t["ways"][k, i, j] = 1
        for i, j, value in x["excused"]:
            t["excused"][k, i, j] = value
        for i, j, value in x["persons"]:
            t["person"][k, i, j] = value
        bound = {j for _, j, _ in x["relations"]} | {i for i, _, _ in x["unary"]}
        for i in bound:
            t["counted"][k, i], t["should_known"][k, i] = 1, "should" in x["labelled"]
        for i, kind, count in x["unary"]:
            t["unary"][k, i], t["count"][k, i] = kind, min(COUNTS, count) - 1 if count > 0 else 0
        t["should"][k, x["should"]] = 1
        for i, role, value in x["by"]:
            t["by"][k, i, role] = value
        for d, j in x["deadlines"]:
            t["deadline"][k, d, j] = 1
        for i, token in x["mentions"]:
            t["mention"][k, i, token] = 1
        t["refused_known"][k] = x["refused"] is not None
        t["refused"][k] = REASONS.index(x["refused"] or "")
        t["stated_known"][k] = x["refused"] in ("", None) or x["source"] == "corpus"
        t["by_known"][k], t["mention_known"][k] = "by" in x["labelled"], "mentions" in x["labelled"]
        t["deadline_known"][k], t["condition"][k] = "deadlines" in x["labelled"], x["condition"]
    return {name: torch.from_numpy(value).to(b["ids"].device) for name, value in t.items()}


REASONS = ("", "no_duty", "no_act", "no_field", "no_role", "no_time", "unclear")


def loss_of(out: dict[str, Tensor], t: dict[str, Tensor], b: dict[str, Tensor]) -> Tensor:
    """Mean over sentences of minus the log probability of all that is labelled, mentions weighed down."""
    act = b["is_act"]
    apart = act[:, :, None] * act[:, None] * (1 - torch.eye(act.shape[1], device=act.device))
    known = t["stated_known"][:, None, None]

    def chosen(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        entropy = F.cross_entropy(logits.flatten(0, -2), target.flatten(), reduction="none")
        return (entropy.view(target.shape) * weight).reshape(len(target), -1).sum(1)

    def flagged(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        entropy = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
        return (entropy * weight).reshape(len(target), -1).sum(1)

    pair, alone, whole = out["pair"], out["alone"], out["whole"]
    related = (t["relation"] > 0).float()
    text = b["text"][:, None]
    total = chosen(pair[..., :RELATIONS], t["relation"], apart * known)
    total = total + flagged(pair[..., RELATIONS], t["ways"], apart * known)
    total = total + chosen(pair[..., RELATIONS + 1 : RELATIONS + 4], t["excused"], apart * known)
    total = total + chosen(pair[..., RELATIONS + 4 :], t["person"], apart * known * related)
    total = total + chosen(alone[..., :UNARY], t["unary"], act * known[..., 0])
    total = total + chosen(alone[..., UNARY:-1], t["count"], act * known[..., 0] * t["counted"])
    total = total + flagged(alone[..., -1], t["should"], act * known[..., 0] * t["should_known"])
    role = act[:, :, None] * b["is_role"][:, None]
    total = total + chosen(out["by"], t["by"], role * known * t["by_known"][:, None, None])
    time_act = b["is_time"][:, :, None] * act[:, None] * known * t["deadline_known"][:, None, None]
    total = total + flagged(out["deadline"], t["deadline"], time_act)
    total = total + flagged(whole[:, -1], t["condition"], t["stated_known"])
    total = total + chosen(whole[:, :REFUSED], t["refused"], t["refused_known"])
    mention = act[:, :, None] * text * t["mention_known"][:, None, None]
    total = total + 0.1 * flagged(out["mention"], t["mention"], mention)
    return total.mean()


def sets_of(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Examples by source and split."""
    sets: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for line in file:
            e = json.loads(line)
            sets[f"{e['source']} {e['split']}"].append(e)
    return sets


def fitted(sets: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The examples of the parts that are fitted on."""
    return [e for name, rows in sets.items() if name.endswith(" fit") for e in rows]


def grouped(examples: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Examples by domain."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for e in examples:
        groups[e["domain"]].append(e)
    return groups


def batches(rows: list[Row], r: random.Random | None) -> Iterator[list[Row]]:
    """Rows of like length together, of at most so many tokens; in random order where trained."""
    ordered = sorted(rows, key=lambda row: len(row.ids) * (r.uniform(0.9, 1.1) if r else 1))
    groups, group, longest = [], [], 0
    for row in ordered:
        longest = max(longest, len(row.ids))
        if group and longest * (len(group) + 1) > TOKENS:
            groups.append(group)
            group, longest = [], len(row.ids)
        group.append(row)
    groups.append(group)
    if r:
        r.shuffle(groups)
    yield from groups


def stated(pair: np.ndarray, alone: np.ndarray, acts: int) -> dict[str, Any]:
    """What the heads say at their largest."""
    relation = pair[:acts, :acts, :RELATIONS]
    relation = relation + 0  # a relation without direction is read in both
    for kind in (10, 11, 12, 13):
        relation[..., kind] = (relation[..., kind] + relation[..., kind].T) / 2
    best = relation.argmax(-1)
    np.fill_diagonal(best, 0)
    found = {(int(i), int(j), int(best[i, j])) for i, j in np.argwhere(best)}
    bound = {a for i, j, _ in found for a in (i, j)}
    ways = (pair[:acts, :acts, RELATIONS] + pair[:acts, :acts, RELATIONS].T) / 2 > 0
    unary = alone[:acts, :UNARY].argmax(-1)
    counts = alone[:acts, UNARY:-1].argmax(-1) + 1
    kinds = {
        (int(i), int(unary[i]), int(counts[i]) if unary[i] in (1, 2, 3) else 1) for i in np.flatnonzero(unary)
    }
    bound |= {i for i, _, _ in kinds}
    excused = pair[:acts, :acts, RELATIONS + 1 : RELATIONS + 4].argmax(-1)
    np.fill_diagonal(excused, 0)
    persons = pair[:acts, :acts, RELATIONS + 4 :].argmax(-1)
    return {
        "relations": found,
        "unary": kinds,
        "ways": {(int(i), int(j)) for i, j in np.argwhere(ways) if i != j and {i, j} <= bound},
        "excused": {(int(i), int(j), int(excused[i, j])) for i, j in np.argwhere(excused)},
        "persons": {(i, j, int(persons[i, j])) for i, j, _ in found if persons[i, j]},
    }


def evaluate(model: Reader, rows: list[Row], device: str) -> list[tuple[bool, bool, bool]]:
    """Per row in order: whether acts and templates are right, whether all is, whether refusal is."""
    model.eval()
    place = {id(row): k for k, row in enumerate(rows)}
    results: list[Any] = [None] * len(rows)
    with torch.no_grad():
        for group in batches(rows, None):
            b = batch_of(group, device)
            with torch.autocast(device, dtype=torch.bfloat16):
                out = model(b)
            pair, alone, whole = (out[k].cpu().numpy() for k in ("pair", "alone", "whole"))
            for k, row in enumerate(group):
                x = row.target
                got = stated(pair[k], alone[k], row.acts)
                refused = int(whole[k, :REFUSED].argmax())
                counts = {(i, kind, c if kind in (1, 2, 3) else 1) for i, kind, c in x["unary"] if kind}
                core = (
                    got["relations"] == set(map(tuple, x["relations"]))
                    and got["unary"] == counts
                    and got["ways"] == set(map(tuple, x["ways"]))
                )
                nothing = refused > 0 or not (got["relations"] or got["unary"])
                if x["refused"]:
                    right = core = nothing
                else:
                    core = core and not nothing
                    right = (
                        core
                        and got["excused"] == set(map(tuple, x["excused"]))
                        and got["persons"] == set(map(tuple, x["persons"]))
                    )
                results[place[id(row)]] = core, right, nothing == bool(x["refused"])
    model.train()
    return results


def report(model: Reader, sets: dict[str, list[Row]], device: str) -> None:
    """Print what is right of each set that is no part of the fit."""
    for name, rows in sets.items():
        got = evaluate(model, rows, device)
        twins = [(a, b) for a, b, row in zip(got, got[1:], rows[1:], strict=False) if row.target.get("twin")]
        both = f", twins {np.mean([a[0] and b[0] for a, b in twins]):.3f} of {len(twins)}" if twins else ""
        core, right, refusal = np.mean(got, 0)
        none = [g[2] for g, row in zip(got, rows, strict=True) if row.target["refused"]]
        left = f", left {np.mean(none):.3f} of {len(none)}" if none else ""
        print(
            f"  {name:24} {len(rows):5} core {core:.3f} whole {right:.3f} refusal {refusal:.3f}{left}{both}",
            flush=True,
        )


def main() -> None:
    """Fit on so many sentences, each epoch anew varied, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=150_000, help="to be seen, epochs together")
    parser.add_argument("--base", type=Path, required=True, help="folder of model.safetensors and vocab.txt")
    parser.add_argument("--start", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "reader" / "weights.safetensors")
    parser.add_argument("--examples", type=Path, default=EXAMPLES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=2e-4)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(2)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    numbers = vocabulary((options.base / "vocab.txt").read_text(encoding="utf-8").splitlines())
    model = Reader(len(numbers))
    base = load_file(options.base / "model.safetensors")
    if options.start:
        model.load_state_dict(load_file(options.start))
    else:
        take(model, base)
    model.to(device)
    sets = sets_of(options.examples)
    fit = fitted(sets)
    preparer = Preparer(numbers, options.seed)
    held: dict[str, list[Row]] = {}
    for name in (
        "corpus calibration",
        "tools calibration",
        "text2declare held_out",
        *(n for n in sets if n.endswith(" dev")),
    ):
        held[name] = [preparer.plain(e) for e in sets[name]]
        for row, e in zip(held[name], sets[name], strict=True):
            row.target["twin"] = e["twin"]
    by_domain = grouped(fit)
    others = [act for e in fit[::7] for act in e["acts"]]
    encoder = [
        p
        for name, p in model.named_parameters()
        if p.requires_grad and name.startswith(("places", "kinds", "norm", "layers"))
    ]
    heads = [
        p
        for name, p in model.named_parameters()
        if p.requires_grad and not name.startswith(("places", "kinds", "norm", "layers"))
    ]
    optimizer = torch.optim.AdamW(
        [{"params": encoder, "lr": options.rate}, {"params": heads, "lr": 4 * options.rate}],
        weight_decay=0.01,
        fused=True,
    )
    scales = [group["lr"] for group in optimizer.param_groups]
    begun, seen, steps, epoch, tokens = time.time(), 0, 0, 0, 0
    shown, running = begun, 0.0
    print(f"{len(fit):,} sentences to fit on, device {device}", flush=True)
    read = options.examples.stat().st_mtime
    while seen < options.sentences:
        if options.examples.stat().st_mtime != read:
            fit, read = fitted(sets_of(options.examples)), options.examples.stat().st_mtime
            by_domain = grouped(fit)
            print(f"{len(fit):,} sentences to fit on", flush=True)
        rows = [
            row
            for e in fit
            if len((row := preparer.varied(e, others, by_domain[e["domain"]])).ids) <= LONGEST
        ]
        for group in batches(rows, preparer.random):
            done = seen / options.sentences
            if done >= 1:
                break
            factor = min(1, done / 0.05) * max(0.02, min(1, (1 - done) / 0.9))
            for g, scale in zip(optimizer.param_groups, scales, strict=True):
                g["lr"] = scale * factor
            b = batch_of(group, device)
            with torch.autocast(device, dtype=torch.bfloat16):
                out = model(b)
            loss = loss_of(out, targets_of(group, b), b)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(encoder + heads, 1.0)
            optimizer.step()
            seen, steps, tokens = seen + len(group), steps + 1, tokens + b["ids"].numel()
            running = loss.item() if steps == 1 else 0.98 * running + 0.02 * loss.item()
            if time.time() - shown > 60:
                shown = time.time()
                rate = tokens / (time.time() - begun)
                print(
                    f"{(shown - begun) / 60:5.1f} min, {seen:,} seen, {rate:,.0f} tokens/s, "
                    f"loss {running:.3f}",
                    flush=True,
                )
        epoch += 1
        if epoch % 2 == 0:
            report(model, {n: rows[:300] for n, rows in held.items()}, device)
            save_file(model.state_dict(), options.out)
    report(model, held, device)
    save_file(model.state_dict(), options.out)


def take(model: Reader, base: dict[str, Tensor]) -> None:
    """Put the weights of all-MiniLM-L6-v2 into the encoder."""
    state = model.state_dict()
    copied = {
        "words.weight": "embeddings.word_embeddings.weight",
        "places.weight": "embeddings.position_embeddings.weight",
        "kinds.weight": "embeddings.token_type_embeddings.weight",
        "norm.weight": "embeddings.LayerNorm.weight",
        "norm.bias": "embeddings.LayerNorm.bias",
    }
    for k in range(LAYERS):
        home = f"encoder.layer.{k}."
        for part, name in (
            ("out", "attention.output.dense"),
            ("norm1", "attention.output.LayerNorm"),
            ("up", "intermediate.dense"),
            ("down", "output.dense"),
            ("norm2", "output.LayerNorm"),
        ):
            for kind in ("weight", "bias"):
                copied[f"layers.{k}.{part}.{kind}"] = f"{home}{name}.{kind}"
        for kind in ("weight", "bias"):
            three = [base[f"{home}attention.self.{x}.{kind}"] for x in ("query", "key", "value")]
            state[f"layers.{k}.qkv.{kind}"] = torch.cat(three)
    state |= {name: base[source] for name, source in copied.items()}
    model.load_state_dict(state)


if __name__ == "__main__":
    main()
