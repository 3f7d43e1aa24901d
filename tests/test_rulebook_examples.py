"""Examples beside a rule: green where the rule says so, red where not, and one line for a bad file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small import CONTEXT, RULE, changed, write

from gnrs_ppl.cli import run
from gnrs_ppl.context.files import validated
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import InputError
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.rulebook.examples import Examples, read_examples, run_examples, save_example

RECORDS = RecordLayer.model_validate(CONTEXT["records"])
STRUCTURE = Structure.model_validate(RULE["rule"])
CASES: list[dict[str, Any]] = [
    {"name": "in time", "events": ["StartShift", {"act": "CheckIn", "after": "PT15M"}], "expect": "kept"},
    {"name": "late", "events": ["StartShift", {"act": "CheckIn", "after": "PT15M1S"}], "expect": "broken"},
    {"name": "never", "events": ["StartShift"], "expect": "broken"},
    {"name": "let off", "events": ["Excuse", {"act": "StartShift", "after": "PT1H"}], "expect": "excused"},
    {"name": "no shift", "events": ["CheckIn"], "expect": "silent"},
    {"name": "not over", "events": ["StartShift"], "until": "PT5M", "expect": "undecided"},
    {
        "name": "on a day",
        "events": [
            {"act": "StartShift", "at": "2024-05-01T08:00:00"},
            {"act": "CheckIn", "at": "2024-05-02"},
        ],
        "expect": "broken",
    },
]


def examples(*cases: dict[str, Any]) -> Examples:
    return validated(Examples, {"cases": list(cases)}, source="cases.yaml")


def test_every_word_can_be_expected() -> None:
    found = run_examples(STRUCTURE, examples(*CASES), RECORDS)
    assert [outcome.says for outcome in found.outcomes] == [case["expect"] for case in CASES]
    assert not found.red


def test_what_a_record_leaves_out_is_left_open() -> None:
    scoped = Structure.model_validate(changed(RULE["rule"], ("scope", {"roles": ["waiter"]})))
    told = {"act": "StartShift", "role": "waiter"}
    found = run_examples(
        scoped,
        examples(
            {"name": "unsaid", "events": ["StartShift"], "expect": "broken"},
            {"name": "said", "events": [told], "expect": "broken"},
        ),
        RECORDS,
    )
    assert [outcome.says for outcome in found.outcomes] == ["undecided", "broken"]
    assert "leaves out" in found.red[0].sentences[0]


@pytest.mark.parametrize(
    ("case", "line"),
    [
        ({"name": "x", "events": ["Stroll"], "expect": "kept"}, "'Stroll' is no act of these records"),
        ({"name": "x", "events": [], "expect": "kept"}, "at least 1"),
        ({"name": "x", "events": ["Serve"], "expect": "green"}, "expect"),
        ({"name": "x", "events": [{"act": "Serve", "after": "P1D"}], "expect": "kept"}, "first event"),
        ({"name": "x", "events": [{"act": "Serve", "log": "diary"}], "expect": "kept"}, "'diary' is no log"),
        (
            {
                "name": "x",
                "events": ["Serve", {"act": "Serve", "after": "P1D", "at": "2024-01-01"}],
                "expect": "kept",
            },
            "contradict",
        ),
    ],
)
def test_a_bad_example_is_one_line(case: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line) as error:
        run_examples(STRUCTURE, examples(case), RECORDS)
    assert "\n" not in str(error.value)


def test_examples_are_added_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    one, other = examples(*CASES[:2]).cases
    path.write_text(
        "# kept beside the rule\ncases:\n  - name: by hand  # ours\n    events: [StartShift]\n    expect: broken\n"
    )
    save_example(path, one)
    save_example(path, other)
    assert [case.name for case in read_examples(path).cases] == ["by hand", "in time", "late"]
    assert path.read_text().startswith("# kept beside the rule\ncases:\n  - name: by hand  # ours\n")
    before = path.read_text()
    with pytest.raises(InputError, match="already"):
        save_example(path, one)
    path.write_text('{"cases": [{"name": "flow", "events": ["StartShift"], "expect": "broken"}]}')
    with pytest.raises(InputError, match="laid out"):
        save_example(path, one)
    assert before.count("name:") == 3


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    path = tmp_path / "cases.json"
    path.write_text(
        json.dumps({"cases": [*CASES, {"name": "wrong", "events": ["CheckIn"], "expect": "kept"}]})
    )
    command = ["test", str(tmp_path / "rule.json"), str(path), "--context", str(tmp_path / "context.json")]
    assert run([*command, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["green"], told["red"]) == (len(CASES), 1)
    assert told["cases"][-1] == {
        "name": "wrong",
        "passed": False,
        "expected": "kept",
        "says": "silent",
        "verdict": "not_activated",
        "reason": None,
        "sentences": ["Nothing in this case calls the rule up."],
    }
    assert run(command) == 1
    assert "7 of 8 green, 1 red" in capsys.readouterr().out
