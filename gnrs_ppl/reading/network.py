"""The learned part of the reader: a small encoder over sentence and acts, and heads over acts and pairs of acts.

One pass over ``[CLS] sentence [SEP] act 1 [SEP] act 2 … [SEP] role 1 …``. Heads give logits: what is stated of an act
alone, how an ordered pair of acts is related, which acts are ways of one duty, which act excuses, who must act, which
duration is whose deadline, and why nothing is to be drafted. ``training/fit.py`` fits the weights; here they only
run, in numpy: a sentence takes tens of milliseconds, where compiling the same for each length would take seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnrs_ppl.reading.wordpiece import BEGIN, SEPARATOR, Piece, act_text, literal, pieces, vocabulary

Array = NDArray[np.float32]
LAYERS, HEADS, WIDTH, HIDDEN = 6, 12, 384, 256
UNARY = ("none", "at_least", "at_most", "exactly", "ban", "first", "last")
"""What a sentence states of an act alone."""
COUNTS = 6
"""How often: once to six times."""
RELATIONS = (
    "none",
    "response",
    "precedence",
    "responded",
    "not_response",
    "chain_response",
    "chain_precedence",
    "not_chain",
    "alternate_response",
    "alternate_precedence",
    "together",
    "not_together",
    "choice",
    "xor",
    "response+precedence",
    "chain_response+chain_precedence",
    "alternate_response+alternate_precedence",
    "not_response+precedence",
    "not_response+response",
)
"""What it states of an ordered pair of acts; of two duties between the same two, both."""
SYMMETRIC = ("together", "not_together", "choice", "xor")
REFUSED = ("", "no_duty", "no_act", "no_field", "no_role", "no_time", "unclear")
"""Why nothing is to be drafted."""
LONGEST_ACT, LONGEST_ROLE, LONGEST = 14, 6, 500
"""Pieces of an act, of a role, and of all."""


class Logits(NamedTuple):
    """What the heads say of a sentence with n acts, r roles, d durations and t pieces.

    Attributes
    ----------
    mention : array (n, t)
        That a piece of the text names an act.
    relation : array (n, n, 19)
        Of an ordered pair, over RELATIONS.
    ways : array (n, n)
        That either act will do.
    excused : array (n, n, 3)
        Whether the first excuses the duty of the second: not, at any time, only since the duty was opened.
    person : array (n, n, 3)
        Anybody, the same, another.
    unary, counts, should
        (n, 7) over UNARY, (n, 6) over 1 to 6, (n,).
    by : array (n, r, 3)
        Anybody, by this role, by everybody else.
    deadline : array (d, n)
        That a duration limits the duty of an act.
    refused, condition
        (7,) over REFUSED; that a duty depends on data or a circumstance.
    text : tuple of Piece
        The pieces of the text.
    """

    mention: Array
    relation: Array
    ways: Array
    excused: Array
    person: Array
    unary: Array
    counts: Array
    should: Array
    by: Array
    deadline: Array
    refused: Array
    condition: float
    text: tuple[Piece, ...]


class Network(NamedTuple):
    """Weights by name, in float32 but for the words', which stay int8 with a scale a row; numbers of pieces."""

    weights: dict[str, Array]
    words: NDArray[np.int8]
    scales: Array
    numbers: dict[str, int]


@lru_cache(maxsize=1)
def shipped() -> Network:
    """The weights of this version."""
    return stored_in(files("gnrs_ppl.reading") / "weights")


def stored_in(folder: Traversable) -> Network:
    """The weights of a folder, as ``training/pack.py`` writes it."""
    with (folder / "reader.npz").open("rb") as file, np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    lines = (folder / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
    return unpacked(arrays, lines)


def unpacked(arrays: dict[str, NDArray[Any]], lines: Sequence[str]) -> Network:
    """Weights from their stored form: int8 matrices ``NAME`` with a scale a row in ``NAME.scale``, or float16."""
    weights = dict[str, Array]()
    for name, array in arrays.items():
        if name.endswith(".scale") or name == "words.weight":
            continue
        scale = arrays.get(f"{name}.scale")
        full = array.astype(np.float32)
        full = full if scale is None else full * scale.astype(np.float32)[:, None]
        weights[name] = np.ascontiguousarray(full.T) if full.ndim == 2 else full
    scales = arrays["words.weight.scale"].astype(np.float32)
    return Network(weights, arrays["words.weight"], scales, vocabulary(lines))


def logits(
    network: Network,
    sentence: str,
    acts: Sequence[tuple[str, str]],
    roles: Sequence[str] = (),
    durations: Sequence[tuple[int, int]] = (),
) -> Logits:
    """What the heads say of a sentence.

    Parameters
    ----------
    network : Network
    sentence : str
    acts : sequence of (str, str)
        Labels and verb phrases (or empty ones), at least one.
    roles : sequence of str
    durations : sequence of (int, int)
        Characters of each duration of the sentence.
    """
    w, numbers = network.weights, network.numbers
    named = [pieces(act_text(*act), numbers)[:LONGEST_ACT] for act in acts]
    named += [pieces(role, numbers)[:LONGEST_ROLE] for role in roles]
    text = pieces(sentence, numbers)[: LONGEST - sum(1 + len(name) for name in named)]
    ids, owner = [numbers[BEGIN], *(p.id for p in text)], [-1] + [0] * len(text)
    for k, name in enumerate(named):
        ids += [numbers[SEPARATOR], *(p.id for p in name)]
        owner += [-1] + [k + 1] * len(name)
    ids.append(numbers[SEPARATOR])
    owner.append(-1)
    owners = np.array(owner)
    x = _encoded(network, np.array(ids), (owners > 0).astype(np.int64))
    means = [x[owners == k + 1].mean(0) if (owners == k + 1).any() else x[0] * 0 for k in range(len(named))]
    a, r = np.stack(means[: len(acts)]), np.array(means[len(acts) :], np.float32).reshape(len(roles), WIDTH)
    inside = x[1 : len(text) + 1]
    mention = _linear(w, "mention_act", a) @ _linear(w, "mention_text", inside).T / np.sqrt(HIDDEN)
    written = np.zeros((len(acts), len(text)), np.float32)
    for k, (label, _) in enumerate(acts):
        for start, end in literal(sentence, label):
            written[k, [i for i, p in enumerate(text) if p.start < end and p.end > start]] = 1
    mention = mention * w["mention"][2] + w["mention"][0] * written + w["mention"][1]
    pooled = _softmax(mention) @ inside
    e = _gelu(_linear(w, "entity", np.concatenate([a, pooled, np.broadcast_to(x[0], a.shape)], 1)))
    both = e[:, None] * e[None]
    pair = _linear(w, "left", e)[:, None] + _linear(w, "right", e)[None] + _linear(w, "both", both)
    pair = _linear(w, "pair", _gelu(_linear(w, "pair_hidden", _gelu(pair))))
    alone = _linear(w, "alone", _gelu(_linear(w, "alone_hidden", e)))
    whole = _linear(w, "whole", _gelu(_linear(w, "whole_hidden", np.concatenate([x[0], inside.mean(0)]))))
    n, kinds = len(RELATIONS), len(UNARY)
    return Logits(
        mention,
        pair[..., :n],
        pair[..., n],
        pair[..., n + 1 : n + 4],
        pair[..., n + 4 :],
        alone[:, :kinds],
        alone[:, kinds : kinds + COUNTS],
        alone[:, -1],
        _by(w, e, r, x[0]),
        _deadline(w, e, x, text, durations),
        whole[: len(REFUSED)],
        float(whole[-1]),
        tuple(text),
    )


def _by(w: dict[str, Array], e: Array, roles: Array, first: Array) -> Array:
    r = _gelu(_linear(w, "entity", np.concatenate([roles, roles, np.broadcast_to(first, roles.shape)], 1)))
    both = _linear(w, "role_both", e[:, None] * r[None])
    return _linear(
        w, "role_out", _gelu(_linear(w, "role_act", e)[:, None] + _linear(w, "role", r)[None] + both)
    )


def _deadline(
    w: dict[str, Array], e: Array, x: Array, text: Sequence[Piece], durations: Sequence[tuple[int, int]]
) -> Array:
    if not durations:
        return np.zeros((0, len(e)), np.float32)
    inside = [
        [i + 1 for i, p in enumerate(text) if p.start < end and p.end > start] for start, end in durations
    ]
    d = _linear(w, "time", np.stack([x[where or [0]].mean(0) for where in inside]))
    both = _linear(w, "time_both", d[:, None] * e[None])
    return _linear(w, "time_out", _gelu(d[:, None] + _linear(w, "time_act", e)[None] + both))[..., 0]


def _encoded(network: Network, ids: NDArray[np.int64], kinds: NDArray[np.int64]) -> Array:
    """A vector for each piece: BERT's encoder, post-norm."""
    w = network.weights
    words = network.words[ids].astype(np.float32) * network.scales[ids, None]
    x = _normed(w, "norm", words + w["places.weight"].T[: len(ids)] + w["kinds.weight"].T[kinds])
    for layer in (f"layers.{k}." for k in range(LAYERS)):
        q, k, v = _linear(w, layer + "qkv", x).reshape(len(ids), 3, HEADS, -1).transpose(1, 2, 0, 3)
        seen = _softmax(q @ k.transpose(0, 2, 1) / np.sqrt(WIDTH / HEADS)) @ v
        x = _normed(
            w, layer + "norm1", x + _linear(w, layer + "out", seen.transpose(1, 0, 2).reshape(len(ids), -1))
        )
        x = _normed(w, layer + "norm2", x + _linear(w, layer + "down", _gelu(_linear(w, layer + "up", x))))
    return x


def _linear(w: dict[str, Array], name: str, x: Array) -> Array:
    shape = x.shape[:-1]
    flat = x.reshape(-1, x.shape[-1]) @ w[f"{name}.weight"] + w[f"{name}.bias"]
    return flat.reshape(*shape, flat.shape[-1])


def _normed(w: dict[str, Array], name: str, x: Array) -> Array:
    x = x - x.mean(-1, keepdims=True)
    scaled: Array = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
    return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]


def _softmax(x: Array) -> Array:
    raised: Array = np.exp(x - x.max(-1, keepdims=True))
    shares: Array = raised / raised.sum(-1, keepdims=True)
    return shares


def _gelu(x: Array) -> Array:
    from scipy.special import erf  # half a second to import, which nothing needs that reads no sentence

    return np.asarray(0.5 * x * (1 + erf(x * np.float32(np.sqrt(0.5)))), np.float32)
