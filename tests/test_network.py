"""The learned reader: pieces of words, the network against BERT written out in JAX, the decoder against enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading import Readings
from gnrs_ppl.reading.decoder import (
    BOTH,
    Alone,
    Meaning,
    Related,
    Weighed,
    _choices,
    meaning_of,
    meanings,
    split_mentions,
)
from gnrs_ppl.reading.equivalence import Duty, duties
from gnrs_ppl.reading.learned import MOST, Typed, learned
from gnrs_ppl.reading.network import (
    COUNTS,
    HEADS,
    LAYERS,
    REFUSED,
    RELATIONS,
    UNARY,
    WIDTH,
    Logits,
    _encoded,
    logits,
    shipped,
)
from gnrs_ppl.reading.quantities import durations
from gnrs_ppl.reading.wordpiece import act_text, literal, pieces, spaced

SCHEMA = Schema.model_validate(
    {
        "actions": [
            {"name": "REQ_Received", "phrase": "receive the request"},
            {"name": "Check stock", "phrase": "check the stock"},
            {"name": "Ship goods", "phrase": "ship the goods"},
            {"name": "Claim SIGNED_OFF by MANAGER"},
        ],
        "roles": [{"name": "clerk"}, {"name": "manager"}],
    }
)


@given(st.text(max_size=60))
def test_pieces_stand_for_characters_of_the_text_in_order(text: str) -> None:
    found = pieces(text, shipped().numbers)
    assert all(0 <= p.start < p.end <= len(text) for p in found)
    assert all(a.start <= b.start for a, b in itertools.pairwise(found))
    told = {i for p in found for i in range(p.start, p.end)}
    assert all(i in told for i, c in enumerate(text) if c.isalnum() and c.isascii())


def test_labels_are_read_as_words() -> None:
    assert spaced("Claim SIGNED_OFF by MANAGER") == "Claim SIGNED OFF by MANAGER"
    assert spaced("CheckExpiryDate") == "Check Expiry Date"
    assert act_text("Check stock", "check stock") == "Check stock"
    assert act_text("CHK", "check the stock") == "CHK: check the stock"


@pytest.mark.parametrize(
    ("text", "label", "found"),
    [
        ('"REQ_Received" must be followed by it', "REQ_Received", ["REQ_Received"]),
        ("once req received is there", "REQ_Received", ["req received"]),
        ("after CheckExpiry, wait", "CheckExpiry", ["CheckExpiry"]),
        ("after check expiry, wait", "CheckExpiry", ["check expiry"]),
        ("REQ_ReceivedLate", "REQ_Received", []),
        ("nothing", "...", []),
    ],
)
def test_a_label_is_found_where_it_is_written(text: str, label: str, found: list[str]) -> None:
    assert [text[a:b] for a, b in literal(text, label)] == found


def test_the_encoder_is_bert() -> None:
    """The encoder in numpy gives what its layers give in JAX, written out head by head."""
    network = shipped()
    w = {name: jnp.asarray(array) for name, array in network.weights.items()}
    ids = np.array(
        [p.id for p in pieces("After the goods are shipped nobody may check the stock.", network.numbers)]
    )
    kinds = np.array([0] * 6 + [1] * (len(ids) - 6))

    def linear(name: str, x: Any) -> Any:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"][None]

    def normed(name: str, x: Any) -> Any:
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / jnp.sqrt(variance + 1e-12) * w[f"{name}.weight"][None] + w[f"{name}.bias"][None]

    words = jnp.asarray(network.words[ids] * network.scales[ids, None], jnp.float32)
    x = normed("norm", words + w["places.weight"].T[: len(ids)] + w["kinds.weight"].T[kinds])
    size = WIDTH // HEADS
    for k in range(LAYERS):
        q, key, value = jnp.split(linear(f"layers.{k}.qkv", x), 3, -1)
        heads = []
        for h in range(HEADS):
            part = slice(h * size, (h + 1) * size)
            heads.append(jax.nn.softmax(q[:, part] @ key[:, part].T / math.sqrt(size), -1) @ value[:, part])
        x = normed(f"layers.{k}.norm1", x + linear(f"layers.{k}.out", jnp.concatenate(heads, -1)))
        inner = jax.nn.gelu(linear(f"layers.{k}.up", x), approximate=False)
        x = normed(f"layers.{k}.norm2", x + linear(f"layers.{k}.down", inner))
    np.testing.assert_allclose(_encoded(network, ids, kinds), np.asarray(x), atol=2e-4)


def _random(seed: int, acts: int, sharp: float) -> Logits:
    rng = np.random.default_rng(seed)

    def values(*shape: int) -> Any:
        return np.asarray(rng.normal(0, sharp, shape), np.float32)

    return Logits(
        values(acts, 3),
        values(acts, acts, len(RELATIONS)),
        values(acts, acts),
        values(acts, acts, 3),
        values(acts, acts, 3),
        values(acts, len(UNARY)),
        values(acts, COUNTS),
        values(acts),
        values(acts, 1, 3),
        values(1, acts),
        values(len(REFUSED)),
        0.0,
        (),
    )


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_the_decoder_lists_what_enumeration_lists(seed: int) -> None:
    """On two acts, sharp logits: each meaning as probable as the sum over all joint choices that have it."""
    found = _random(seed, 2, 9.0)
    every, second = _choices(found, 1.0)
    every += [choice for choices in second.acts.values() for choice in choices]
    every += [*second.pairs.values(), *(c for c in second.ways.values() if c.name[1] < c.name[2])]
    if math.prod(len(c.values) for c in every) > 30_000:
        return
    sums: dict[Meaning, float] = {}
    for joint in itertools.product(*(c.values for c in every)):
        chosen = {c.name: value for c, (value, _) in zip(every, joint, strict=True) if value}
        meaning = meaning_of(chosen)
        if meaning is not None:
            sums[meaning] = sums.get(meaning, 0.0) + math.exp(sum(weight for _, weight in joint))
    if not sums:
        return
    total = sum(sums.values())
    listed = {one.meaning: one.probability for one in meanings(found)}
    assert sum(listed.values()) == pytest.approx(1)
    for meaning, weight in sums.items():
        assert listed.get(meaning, 0.0) == pytest.approx(weight / total, abs=0.02)


@pytest.mark.parametrize("sharp", [1.0, 4.0])
def test_meanings_are_what_a_language_allows(sharp: float) -> None:
    for seed in range(8):
        for one in meanings(_random(seed, 3, sharp)):
            assert bool(one.meaning.refused) != bool(one.meaning.related or one.meaning.alone)


def _said(*stated: Related | Alone) -> frozenset[Duty]:
    text = "The stock is checked and the goods are shipped when the request has come."
    acts = [(a.name, a.phrase or "") for a in SCHEMA.actions]
    found = logits(shipped(), text, acts, ["clerk", "manager"])
    meaning = Meaning(
        frozenset(s for s in stated if isinstance(s, Related)),
        frozenset(s for s in stated if isinstance(s, Alone)),
    )
    typed = Typed(text, SCHEMA, [a for a, _ in acts], SCHEMA.roles, durations(text), found)
    return duties(Readings(text, typed.statements(Weighed(meaning, 1.0), [])))


def test_what_two_acts_share_is_split_between_them() -> None:
    both = Meaning(frozenset({Related("response", 0, (1,)), Related("response", 0, (2,))}))
    mentions = np.array([[5, 0, 0], [0, 0, 5], [0, 0, 4]], np.float32)
    shares = {one.meaning: one.probability for one in split_mentions([Weighed(both, 1.0)], mentions)}
    alone = [Meaning(frozenset({Related("response", 0, (k,))})) for k in (1, 2)]
    assert shares == pytest.approx({both: BOTH, alone[0]: (1 - BOTH) / 2, alone[1]: (1 - BOTH) / 2})
    mentions[2] = [0, 5, 0]  # words of its own
    assert split_mentions([Weighed(both, 1.0)], mentions) == [Weighed(both, 1.0)]


def test_a_succession_is_its_two_halves() -> None:
    both = _said(Related("response", 0, (1,)), Related("precedence", 1, (0,)))
    assert both == _said(Related("response", 0, (1,))) | _said(Related("precedence", 1, (0,)))


def test_what_excludes_each_other_has_no_order() -> None:
    assert _said(Related("not_together", 0, (1,))) == _said(Related("not_together", 1, (0,)))
    assert _said(Related("response", 0, (1,))) != _said(Related("response", 1, (0,)))
    assert _said(Related("response", 0, (1, 2))) != _said(
        Related("response", 0, (1,)), Related("response", 0, (2,))
    )
    assert _said(Alone("at_most", (1,), 1)) != _said(Alone("ban", (1,)))


def test_the_same_sentence_is_read_the_same() -> None:
    text = "After the request is received, the stock must be checked within two days."
    first = learned(text, SCHEMA, MOST, shipped())
    assert learned(text, SCHEMA, MOST, shipped()) == first
    assert first[0].probability == max(way.probability for way in first)
    assert sum(way.probability for way in first) <= 1 + 1e-9


@pytest.mark.parametrize("kind", ["first", "last"])
def test_of_two_acts_that_a_case_begins_or_ends_with_either_will_do(kind: str) -> None:
    place = UNARY.index(kind)
    meaning = meaning_of({("unary", 0, 0): place, ("unary", 2, 0): place})
    assert meaning is not None
    assert {(one.kind, one.acts) for one in meaning.alone} == {(kind, (0, 2))}


def test_many_acts_and_roles_and_a_long_text_fit_into_one_pass() -> None:
    """Of positions there are 512; acts and roles that the text names least are left out, then its end."""
    acts = [{"name": f"W_Validate_Completed_Intermediate_Request_{k}_FINALISED"} for k in range(40)]
    roles = [f"deputy_assistant_registrar_of_district_{k}" for k in range(30)]
    schema = Schema.model_validate({"actions": acts, "roles": roles})
    text = ("The reconciliation must be countersigned, " * 60)[:2000]
    assert learned(text, schema, MOST, shipped())
