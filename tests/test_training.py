"""What the network is fitted on says what the labels say, and packed weights are those that were fitted."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from gnrs_ppl.reading.network import (
    COUNTS,
    HEADS,
    HIDDEN,
    LAYERS,
    REFUSED,
    RELATIONS,
    UNARY,
    WIDTH,
    unpacked,
)
from training import agreement, corpus, labels, pack

ROOT = Path(__file__).resolve().parent.parent
BLOCK = """
= 9-001 returns of a shop
a = RET_Received | receive the return | 5,120
b = Check date || 4890
c = Return REJECTED by LEAD | reject the return | 310
d = Refund || 12
roles: clerk, lead
- manual
[Packs=a] are [looked at=b] or [refunded=d] within two days, unless a lead has [turned them down=c].
> response a -> b | d; within P2D; unless c
- audit
Only a lead may [reject=c], and not who [took it in=a]; [the date=b] comes first.
> ban c; who not lead
> not_response a -> c; person same
> precedence b -> c
- note
[It=a] came.
> none no_duty
"""


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> corpus.Block:
    path = tmp_path_factory.mktemp("corpus") / "part.txt"
    path.write_text(BLOCK)
    (block,) = corpus.blocks([path])
    return block


def test_an_example_holds_what_its_labels_say(block: corpus.Block) -> None:
    one, two, three = (labels.of_corpus(block, sentence) for sentence in block.sentences)
    response, precedence, ban = RELATIONS.index("response"), RELATIONS.index("precedence"), UNARY.index("ban")
    assert one.relations == {(0, 1): response, (0, 3): response}
    assert sorted(one.ways) == [(1, 3), (3, 1)]
    assert sorted(one.excused) == [(2, 1, 1), (2, 3, 1)]
    assert sorted(one.deadlines) == [(0, 1), (0, 3)]
    assert [one.text[s:e] for s, e, _ in one.mentions] == [
        "Packs",
        "looked at",
        "refunded",
        "turned them down",
    ]
    assert (two.unary, two.by) == ({2: (ban, 1)}, [(2, 1, 2)])
    assert two.relations == {(0, 2): RELATIONS.index("not_response"), (1, 2): precedence}
    assert two.persons == [(0, 2, 1)]
    assert (three.refused, three.relations) == ("no_duty", {})


def test_what_is_fitted_has_the_classes_of_what_runs() -> None:
    """fit.py, which runs where this package is not installed, states them itself."""
    stated = (ROOT / "training" / "fit.py").read_text(encoding="utf-8")
    sizes = (len(UNARY), len(RELATIONS), len(REFUSED), COUNTS)
    assert f"UNARY, RELATIONS, REFUSED, COUNTS = {', '.join(map(str, sizes))}\n" in stated
    assert f"WIDTH, LAYERS, HEADS, HIDDEN = {WIDTH}, {LAYERS}, {HEADS}, {HIDDEN}\n" in stated
    (reasons,) = re.findall(r"^REASONS = (\(.*\))$", stated, re.MULTILINE)
    assert ast.literal_eval(reasons) == REFUSED


def test_two_labellers_are_compared(block: corpus.Block, tmp_path: Path) -> None:
    second = tmp_path / "second.txt"
    second.write_text(
        "9-001.1\n> response a -> b | d; unless c\n9-001.2\n> none no_act\n9-001.3\n> nonsense\n"
    )
    found = {name: (first, other) for name, _, first, other in agreement.compared([second], [block])}
    assert list(found) == ["9-001.1", "9-001.2", "9-001.3"]
    first, other = found["9-001.1"]
    assert other is not None
    assert agreement.templates(first) == agreement.templates(other)
    assert first.meaning != other.meaning
    first, other = found["9-001.2"]
    assert other is not None
    assert agreement.templates(first) != agreement.templates(other)
    assert found["9-001.3"][1] is None


def test_packed_weights_differ_by_half_a_step_at_most() -> None:
    rng = np.random.default_rng(0)
    lines = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tax", "##es", "税"]
    weights = {
        "words.weight": rng.normal(size=(len(lines), 1024)).astype(np.float32),
        "layer.weight": rng.normal(size=(96, 64)).astype(np.float32),
        "layer.bias": rng.normal(size=96).astype(np.float32),
    }
    arrays, kept = pack.packed(weights, lines)
    assert kept == ["[UNK]", "[CLS]", "[SEP]", "tax", "##es"]
    network = unpacked(arrays, kept)
    assert network.numbers["tax"] == 3
    step = np.abs(weights["layer.weight"]).max(1) / 127
    difference = np.abs(network.weights["layer.weight"].T - weights["layer.weight"])
    assert (difference <= 0.52 * step[:, None] + 1e-3).all()
    np.testing.assert_allclose(network.weights["layer.bias"], weights["layer.bias"], atol=2e-3)
    words = network.words[3] * network.scales[3]
    np.testing.assert_allclose(
        words, weights["words.weight"][4], atol=np.abs(weights["words.weight"][4]).max() / 200
    )
