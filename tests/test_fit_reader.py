"""The tool that fits the model of relations: its sentences hold together, and it learns what it is given."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tiers import few

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

import fit_reader as tool

from gnrs_ppl.experiments.reading import sentences_of
from gnrs_ppl.reading.relations import frozen, read_weights

FILES = sorted(tool.SENTENCES.glob("*.yaml"))
REFUSED = ("no_duty", "no_such_act", "no_condition")


@pytest.mark.parametrize("path", few(FILES, 6), ids=[p.stem for p in FILES])
def test_every_sentence_names_acts_of_its_schema_and_a_known_template(path: Path) -> None:
    for sentence in sentences_of(path):
        acts = {a.name for a in sentence.schema.actions}
        assert bool(sentence.statements) != bool(sentence.refuse), sentence.text
        assert sentence.refuse in ("", *REFUSED), sentence.text
        for stated in sentence.statements:
            assert stated["template"] in tool.LABELS, sentence.text
            assert stated["activities"], sentence.text
            assert set(stated["activities"]) <= acts, sentence.text


def test_what_is_learned_is_what_was_given(tmp_path: Path) -> None:
    features = tool.Features()
    examples = [tool.example(s, features) for s in list(sentences_of(tool.SENTENCES / "train8.yaml"))[:80]]
    weights = tool.fit(examples, features)
    names = list(features)

    def right(learned: dict[str, float]) -> float:
        shares = []
        for example in examples:
            for options, of_mention in zip(example.options, example.right, strict=True):
                score = np.array([sum(learned.get(names[f], 0.0) for f in at) for _, at in options])
                share = np.exp(score - score.max())
                shares.append(
                    sum(share[i] for i, (o, _) in enumerate(options) if o in of_mention) / share.sum()
                )
        return float(np.mean([s for s in shares if s > 0]))

    assert right({}) < 0.1  # one of dozens of options
    assert right(weights) > 0.85
    tool.write(examples, features, tmp_path / "weights.tsv.gz")
    again = read_weights(tmp_path / "weights.tsv.gz")
    assert 0 < len(again.alone.at) < len(frozen().alone.at)
    assert len(again.pair.at) > 0
