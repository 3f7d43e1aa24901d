"""A drafted rule asks of those whom its sentence names, and of nobody else; whom it leaves out is told, and where
nothing but who acts is asked and no row shows it, nothing is drafted.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

import gnrs_ppl as gnrs
from gnrs_ppl.context.load import Context, load_context
from gnrs_ppl.draft import Draft
from gnrs_ppl.errors import Refused
from gnrs_ppl.reading import opinions

pytestmark = pytest.mark.usefixtures("rules_alone")
WITH_NETWORK = opinions.by_network

CONTEXT: dict[str, Any] = {
    "goal": {"id": "any", "intent": "To be stated.", "required": ["Mix"]},
    "schema": {
        "roles": [
            {"name": "pharmacist"},
            {"name": "assistant"},
            {"name": "courier"},
            {"name": "guest"},
        ],
        "objects": [{"name": "medicine"}],
        "actions": [
            {"name": "Order", "phrase": "order the medicine", "roles": ["guest"]},
            {"name": "Mix", "phrase": "mix the medicine", "roles": ["pharmacist"]},
            {"name": "Label", "phrase": "label the medicine", "roles": ["assistant", "pharmacist"]},
            {"name": "Deliver", "phrase": "deliver the medicine", "roles": ["courier"]},
        ],
    },
    "records": {
        "log": "log.csv",
        "channels": [{"name": "till", "closed_world": True}],
        "constants": {"channel": "till"},
        "offset": "+00:00",
        "case_start": ["Order"],
    },
}
ROWS = (
    ("Order", "", "w"),
    ("Mix", "pharmacist", "x"),
    ("Label", "assistant", "y"),
    ("Deliver", "courier", "z"),
)


def _scene(folder: Path, roles: bool) -> Context:
    lines = ["case_id,activity,timestamp,resource" + (",role" if roles else "")]
    for case in range(12):
        for hour, (activity, role, person) in enumerate(ROWS):
            who = "assistant" if activity == "Mix" and case > 9 else role
            labels = "pharmacist" if activity == "Label" and case < 8 else who
            end = f",{labels}" if roles else ""
            lines.append(
                f"c{case},{activity},2024-03-{case + 1:02d} {8 + hour:02d}:00:00,{person}{case % 3}{end}"
            )
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    (folder / "context.yaml").write_text(yaml.safe_dump(CONTEXT))
    return load_context(folder / "context.yaml")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Context:
    """Rows carry roles; no order does."""
    return _scene(tmp_path_factory.mktemp("shown"), True)


@pytest.fixture(scope="module")
def unshown(tmp_path_factory: pytest.TempPathFactory) -> Context:
    """No row carries a role."""
    return _scene(tmp_path_factory.mktemp("unshown"), False)


def _drafted(scene: Context, sentence: str) -> Draft:
    goal = scene.goal.model_copy(update={"intent": sentence, "required": ()})
    return gnrs.draft(replace(scene, goal=goal, scene=scene), kernel="exact", chains=1, steps=1)


@pytest.mark.parametrize(
    ("sentence", "begins"),
    [
        (
            "The medicine must be mixed by a pharmacist before it is labelled.",
            "A pharmacist must mix the medicine before each label",
        ),
        (
            "Once the medicine was mixed, an assistant must label it within a day.",
            "An assistant must label the medicine within one day after each mix",
        ),
        (
            "Once a courier delivered the medicine, an assistant must label it.",
            "An assistant must label the medicine after each deliver",
        ),
        (
            "A courier must never mix the medicine.",
            "A courier must never mix the medicine after the start of any case",
        ),
        (
            "An assistant must label the medicine.",
            "An assistant must label the medicine at least once after the start of each case",
        ),
        (
            "The medicine must be labelled by a pharmacist or an assistant.",
            "Somebody must label the medicine as an assistant or a pharmacist at least once after the start of",
        ),
        (
            "A pharmacist or an assistant must label the medicine before it is delivered.",
            "Somebody must label the medicine as an assistant or a pharmacist before each deliver",
        ),
    ],
)
def test_the_rule_asks_those_who_are_asked(shown: Context, sentence: str, begins: str) -> None:
    draft = _drafted(shown, sentence)
    assert draft.text.startswith(begins), draft.text
    assert draft.left_out == ()


def test_each_of_several_is_asked_in_every_case(shown: Context) -> None:
    draft = _drafted(shown, "A pharmacist must mix the medicine and a courier must deliver the medicine.")
    assert {(c.target.activity, c.target.role) for c in draft.structure.norm.constraints} == {
        ("Mix", "pharmacist"),
        ("Deliver", "courier"),
    }
    assert draft.structure.trigger.act is None


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        (
            "Once the medicine was mixed by a pharmacist, a courier must deliver it.",
            ["binds 'courier'", "names 'pharmacist'"],
        ),
        ("The inspector must label the medicine after it was mixed.", ["binds 'inspector'"]),
        (
            "After the medicine was mixed, the quality department must label it.",
            ["binds 'quality department'"],
        ),
        (
            "A pharmacist, not an assistant, must label the medicine after it was mixed.",
            ["binds 'pharmacist'", "names 'assistant'"],
        ),
        ("Everybody must label the medicine before delivering it.", []),
    ],
)
def test_who_is_left_out_is_told(unshown: Context, sentence: str, told: list[str]) -> None:
    lines = _drafted(unshown, sentence).left_out
    assert len(lines) == len(told)
    assert all(words in line for words, line in zip(told, lines, strict=True))


@pytest.mark.parametrize(
    "sentence",
    [
        "No courier may mix the medicine.",
        "A guest must never label the medicine.",
        "Couriers are not allowed to label medicine.",
        "The inspector must never mix the medicine.",
    ],
)
def test_a_ban_on_some_whom_no_row_shows_is_no_ban_on_everybody(unshown: Context, sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        _drafted(unshown, sentence)
    assert refused.value.reason == "no_such_role"


def test_rows_of_the_act_must_show_who_acted(shown: Context) -> None:
    with pytest.raises(Refused) as refused:
        _drafted(shown, "No guest may mix the medicine.")
    assert refused.value.reason == "no_such_role"


def test_an_act_left_to_some_is_banned_for_the_others(
    shown: Context, unshown: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the network: the rules know no such construction."""
    monkeypatch.setattr(opinions, "by_network", WITH_NETWORK)
    draft = _drafted(shown, "Only a pharmacist may mix the medicine.")
    assert draft.text.startswith("Nobody may ever mix the medicine as an assistant or a courier")
    for scene, sentence in (
        (unshown, "Only a pharmacist may mix the medicine."),
        (shown, "Only an assistant may order the medicine."),
    ):
        with pytest.raises(Refused) as refused:
            _drafted(scene, sentence)
        assert refused.value.reason == "no_such_role"


def test_a_ban_on_those_who_do_it_anyway_is_one_on_everybody(unshown: Context) -> None:
    draft = _drafted(unshown, "A courier must not deliver the medicine after it was labelled.")
    assert draft.text.startswith("Nobody may deliver the medicine after any")
    (line,) = draft.left_out
    assert "binds 'courier'" in line
