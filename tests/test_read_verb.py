"""gnrs read: one sentence, a context's, or a batch; and what gnrs draft says of the sentence it drafts
from.
"""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import small
from fuzz import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_hostile_text import EVIL, RAW

from gnrs_ppl.cli import run
from gnrs_ppl.context.types import Schema
from gnrs_ppl.models.statements import says
from gnrs_ppl.reading import read
from gnrs_ppl.reading.batch import Row, read_rows
from gnrs_ppl.reading.plain import declare_name
from gnrs_ppl.rule.types import IMPLEMENTED, Structure
from gnrs_ppl.safe_text import to_json

ROOT = Path(__file__).resolve().parent.parent
SENTENCE = (
    "Once a fine has been sent, the fined person must pay it within 60 days, unless an appeal was filed."
)
SCHEMA = [
    {"name": "SendFine", "phrase": "send the fine"},
    {"name": "PayFine", "phrase": "pay the fine"},
    {"name": "FileAppeal", "phrase": "file an appeal"},
]
PIECES = ["the fine", "must", "not", "be paid", "sent", "an appeal", "is filed", "before", "after", "unless", "within 3 days", "and", "or", "it",
          "at most twice", "by another person", ",", ".", "if", "only", "may", "who", "without"]  # fmt: skip
"""What a fuzzer builds sentences of."""
TWO_RULES = "After a shift starts, staff must check in within 30 minutes. Once a service is done, the shift must be reviewed within 3 days."
DRAFT = ["--weights", "uniform", "--kernel", "exact"]


def out(arguments: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> tuple[str, str]:
    """Both streams of a verb."""
    assert run(arguments) == code, capsys.readouterr()
    printed = capsys.readouterr()
    return printed.out, printed.err


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "acts.json"
    path.write_text(json.dumps(SCHEMA))
    return path


def batch(folder: Path, rows: Any, lines: bool = False) -> str:
    path = folder / "rows.json"
    path.write_text(
        "\n".join(map(json.dumps, rows)) if lines else rows if isinstance(rows, str) else json.dumps(rows)
    )
    return str(path)


def test_a_sentence_is_shown_with_its_parts_and_what_they_were_read_as(
    schema: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed, _ = out(["read", "--sentence", SENTENCE, "--schema", str(schema)], capsys)
    assert "must Response(SendFine, PayFine), within 60 days, unless FileAppeal: 1.00" in printed
    assert "[60 days]" in printed
    rows = {tuple(line.split()[-2:]) for line in printed.splitlines()}
    assert {("opener", "SendFine"), ("act", "PayFine"), ("exception", "FileAppeal"), ("60", "days")} <= rows


def test_on_a_terminal_parts_have_styles_and_no_brackets(
    schema: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    import gnrs_ppl.report.reading as report

    shown = io.StringIO()
    monkeypatch.setattr(
        report,
        "_console",
        lambda: Console(file=shown, force_terminal=True, width=110, color_system="truecolor"),
    )
    out(["read", "--sentence", SENTENCE, "--schema", str(schema)], capsys)
    first = shown.getvalue().split("\n\n")[0]
    assert "\x1b[1;34m60 days\x1b[0m" in first
    assert "[60 days]" not in first


def test_json_holds_each_part_with_its_span_and_words(
    schema: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(out(["read", "--sentence", SENTENCE, "--schema", str(schema), "--json"], capsys)[0])
    best = found["statements"][0]["readings"][0]
    assert (best["declare"], best["template"], best["activities"]) == (
        "Response",
        "response",
        ["SendFine", "PayFine"],
    )
    assert best["time"]["duration"] == "P60D"
    for part in (best["time"], best["targets"][0], best["activation"], best["exception"]):
        start, end = part["span"]
        assert SENTENCE[start:end] == part["words"]
    assert (found["nothing"], found["reason"]) == ("", "")


def test_words_that_are_not_the_names_own_are_said_with_their_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.write(
        tmp_path,
        small.changed(
            small.CONTEXT, ("goal.intent", "After a shift starts, staff must check in within 30 minutes.")
        ),
    )
    printed, _ = out(["draft", str(tmp_path / "context.json"), *DRAFT], capsys)
    above, _, _ = printed.partition("Slots")
    assert "[check in]" in above
    assert "read as 1. must Response(StartShift, CheckIn), within 30 minutes" in above
    assert "says 1 of 1 read statements" in printed
    assert "not said" not in printed
    assert "chosen, as the sentence does not say: what shows it; what follows a breach" in printed


def test_a_statement_the_rule_does_not_say_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.write(
        tmp_path, small.changed(small.CONTEXT, ("goal.intent", "Staff must serve before they check in."))
    )
    printed, _ = out(["draft", str(tmp_path / "context.json"), *DRAFT], capsys)
    assert "says 0 of 1 read statements" in printed
    assert "not said by this rule: must Precedence(Serve, CheckIn)" in printed


@pytest.mark.parametrize("schema_file", ["context.json", "schema.json", "schema.yaml", "acts.json"])
def test_a_schema_is_read_from_a_context_alone_or_as_a_list(
    tmp_path: Path, schema_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    small.write(tmp_path, small.CONTEXT)
    alone = json.dumps(small.CONTEXT["schema"])
    (tmp_path / "schema.json").write_text(alone)
    (tmp_path / "schema.yaml").write_text(alone)
    (tmp_path / "acts.json").write_text(json.dumps([{"name": "CheckIn", "phrase": "check in"}]))
    arguments = [
        "read",
        "--sentence",
        "Everyone must check in.",
        "--schema",
        str(tmp_path / schema_file),
        "--json",
    ]
    found = json.loads(out(arguments, capsys)[0])
    assert found["statements"][0]["readings"][0]["activities"] == ["CheckIn"]


def test_a_context_is_read_without_its_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sentence = "Staff must check in within an hour after their shift starts."
    small.write(tmp_path, small.changed(small.CONTEXT, ("goal.intent", sentence)))
    (tmp_path / "log.csv").unlink()
    assert "Response(StartShift, CheckIn)" in out(["read", str(tmp_path / "context.json")], capsys)[0]
    found = json.loads(out(["read", str(tmp_path / "context.json"), "--json"], capsys)[0])
    assert found["sentence"] == sentence
    assert "CheckIn" in found["statements"][0]["readings"][0]["activities"]


@pytest.mark.parametrize(
    "sentence, reason",
    [
        ("Bananas are yellow.", "states no duty or ban"),
        ("Claims must be contested.", "is in the schema, nearest FileAppeal (0."),
        ("All contracts must be countersigned.", "no act like 'contracts … countersigned' is in the schema"),
    ],
)
def test_where_nothing_was_read_the_reason_is_told_with_code_3(
    sentence: str, reason: str, schema: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed, complaint = out(["read", "--sentence", sentence, "--schema", str(schema)], capsys, 3)
    assert reason in complaint
    assert complaint.count("\n") == 1
    assert "not read:" in printed
    assert (
        json.loads(out(["read", "--sentence", sentence, "--schema", str(schema), "--json"], capsys, 3)[0])[
            "statements"
        ]
        == []
    )


@pytest.mark.parametrize("lines", [False, True])
def test_a_batch_gives_a_row_for_each_row_in_order(
    tmp_path: Path, lines: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [
        "The fine must be paid at most once.",
        "Bananas are yellow.",
        "Before the fine is paid, it must be sent.",
    ]
    rows = [
        {"id": f"r{i}", "text": text, "schema": SCHEMA, "template": "ignored"} for i, text in enumerate(texts)
    ]
    found = json.loads(out(["read", "--batch", batch(tmp_path, rows, lines), "--json"], capsys)[0])
    assert [row["id"] for row in found] == ["r0", "r1", "r2"]
    once, nothing, before = found
    assert (once["template"], once["constraint"], once["count"], once["activities"]) == (
        "AtMostOne",
        "absence",
        2,
        ["PayFine"],
    )
    assert (nothing["template"], nothing["activities"], nothing["probability"], nothing["reason"]) == (
        None,
        [],
        None,
        "no_duty",
    )
    assert (before["template"], before["activities"], before["reason"]) == (
        "Precedence",
        ["SendFine", "PayFine"],
        None,
    )
    assert before["statements"][0]["readings"][0]["probability"] == before["probability"]


def test_a_row_with_attributes_is_read_with_its_conditions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    amount = {"name": "amount", "type": "number", "unit": "EUR", "of": "case"}
    text = "A fine above 200 euros must be sent before it is paid."
    rows = [
        {"id": name, "text": text, "schema": SCHEMA} | ({"attributes": attributes} if attributes else {})
        for name, attributes in (("with", [amount]), ("without", []))
    ]
    found = json.loads(out(["read", "--batch", batch(tmp_path, rows, False), "--json"], capsys)[0])
    data = [row["statements"][0]["readings"][0]["data"] for row in found]
    assert [(d["condition"]["attribute"], d["condition"]["test"]) for d in data[0]] == [("amount", "more")]
    assert data[1] == []
    twice = [{"id": "r", "text": text, "schema": SCHEMA, "attributes": [amount, amount]}]
    assert run(["read", "--batch", batch(tmp_path, twice, False)]) == 2
    assert "amount" in capsys.readouterr().err


@settings(derandomize=True, max_examples=examples(60), deadline=None)
@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), min_size=1, max_size=14)
    .map(" ".join)
    .filter(bool)
)
def test_whatever_is_written_gives_a_row_that_adds_up(text: str) -> None:
    (row,) = read_rows([Row.model_validate({"id": 1, "text": text, "schema": SCHEMA})])
    assert (row["template"] is None) == (row["activities"] == []) == (row["reason"] is not None)
    assert set(row["activities"]) <= {action["name"] for action in SCHEMA}
    for statement in row["statements"]:
        assert 0 < sum(reading["probability"] for reading in statement["readings"]) <= 1 + 1e-3
        for reading in statement["readings"]:
            for act in reading["targets"]:
                assert text[slice(*act["span"])] == act["words"]
    assert json.loads(to_json(row)) == row


def test_a_batch_is_a_table_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"id": 1, "text": "The fine must be paid.", "schema": SCHEMA},
        {"id": 2, "text": "Bananas.", "schema": SCHEMA},
    ]
    printed, _ = out(["read", "--batch", batch(tmp_path, rows)], capsys)
    assert "AtLeastOne" in printed
    assert "1 of 2 sentences read" in printed


@pytest.mark.parametrize(
    "rows, says_",
    [
        (
            [{"id": "a", "text": "x", "schema": SCHEMA}, {"id": "b", "schema": SCHEMA}],
            "row 2.text: is missing; add it",
        ),
        (
            [{"id": "a", "text": 7, "schema": SCHEMA}],
            "row 1.text: Input should be a valid string, got 7; write text (put it in quotes)",
        ),
        ([{"id": "a", "text": "", "schema": SCHEMA}], "row 1.text: "),
        (
            [{"id": "a", "text": "x", "schema": [{"phrase": "pay"}]}],
            "row 1.schema.0.name: is missing; add it",
        ),
        (
            [{"id": "a", "text": "x", "schema": [{"name": "A"}, {"name": "A"}]}],
            "row 1.schema: 'A' stands there twice; correct it",
        ),
        (["text"], "row 1: "),
        ('[{"id": 1},', "is not readable JSON: "),
        ("text,schema\n", "line 1: is not readable JSON: "),
    ],
)
def test_a_malformed_row_is_named_in_one_line(
    tmp_path: Path, rows: Any, says_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = batch(tmp_path, rows)
    printed, complaint = out(["read", "--batch", path, "--json"], capsys, 2)
    assert printed == ""
    assert complaint.startswith(f"gnrs: {path}: {says_}")
    assert complaint.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [["read"], ["read", "GNRS-005", "--sentence", "x", "--schema", "y"], ["read", "--sentence", "x"], ["read", "--schema", "x"],
     ["read", "GNRS-005", "--batch", "x"]],
)  # fmt: skip
def test_one_of_the_three_forms_is_asked_for(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "name a context, --sentence with --schema, or --batch" in out(arguments, capsys, 2)[1]


def test_nothing_in_a_sentence_steers_a_terminal(
    tmp_path: Path, schema: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = f"The fine must be paid {EVIL} within 3 days."
    for form in ([], ["--json"]):
        printed, complaint = out(["read", "--sentence", sentence, "--schema", str(schema), *form], capsys)
        assert not RAW.search(printed + complaint)
    rows = [{"id": EVIL, "text": sentence, "schema": SCHEMA}]
    for form in ([], ["--json"]):
        printed, complaint = out(["read", "--batch", batch(tmp_path, rows), *form], capsys)
        assert not RAW.search(printed + complaint)


def test_every_template_has_a_declare_name_of_its_own() -> None:
    names = {declare_name(template): template for template in IMPLEMENTED}
    assert len(names) == len(IMPLEMENTED)
    gold = {"Init", "End", "AtLeastOne", "Response", "Precedence", "ChainResponse", "ChainPrecedence", "RespondedExistence", "CoExistence",
            "NotCoExistence"}  # fmt: skip
    assert gold <= set(names)
    assert [declare_name("absence", n) for n in (1, 2, 3)] == ["Absence", "AtMostOne", "Absence"]
    assert [declare_name("existence", n) for n in (1, 2)] == ["AtLeastOne", "Existence"]


def rule(**norm: Any) -> Structure:
    stated = {"trigger": {"act": "SendFine", "channel": "log"}, "evidence": {"channels": ["log"]}}
    steps = {"steps": [{"stage": "review", "name": "look", "role": "clerk"}]}
    return Structure.model_validate({**stated, "procedure": steps, "norm": {"constraints": [norm]}})


DUTY: dict[str, Any] = {
    "template": "response",
    "target": "PayFine",
    "deadline": "P60D",
    "unless": "FileAppeal",
}


@pytest.mark.parametrize(
    "edit, expected",
    [({}, True), ({"deadline": "P6M"}, False), ({"deadline": None}, False), ({"unless": None}, False), ({"target": "FileAppeal"}, False),
     ({"template": "precedence"}, False), ({"after": {"act": "FileAppeal", "channel": "log"}}, True)],
)  # fmt: skip
def test_a_rule_says_a_statement_with_all_that_the_statement_says(
    edit: dict[str, Any], expected: bool
) -> None:
    best = read(SENTENCE, Schema.model_validate({"actions": SCHEMA})).statements[0].best
    found = rule(**(DUTY | edit))
    assert says(found.trigger, found.norm, best) is expected


def test_a_rule_that_another_act_opens_does_not_say_it() -> None:
    best = read(SENTENCE, Schema.model_validate({"actions": SCHEMA})).statements[0].best
    other = rule(**DUTY).model_copy(
        update={
            "trigger": rule(**DUTY).trigger.model_copy(
                update={"act": rule(**DUTY).norm.constraints[0].unless}
            )
        }
    )
    assert not says(other.trigger, other.norm, best)


@pytest.fixture
def two_rules(tmp_path: Path) -> Path:
    edits = [
        ("goal", {"id": "SHIFT-1", "intent": TWO_RULES}),
        ("pools", None),
        ("records.case_end", ["Serve"]),
    ]
    small.write(tmp_path, small.changed(small.CONTEXT, *edits))
    return tmp_path / "context.json"


def test_every_rule_of_a_sentence_is_drafted_into_a_folder_of_its_own(
    two_rules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = two_rules.parent / "out"
    found = json.loads(
        out(
            ["draft", str(two_rules), "--reading", "1", "--every", "--out", str(folder), "--json", *DRAFT],
            capsys,
        )[0]
    )
    assert [one["rule"] for one in found] == [1, 2]
    assert found[0]["reading"]["rules"] == [[1], [2]]
    targets = [[c["target"]["activity"] for c in one["structure"]["norm"]["constraints"]] for one in found]
    assert "CheckIn" in targets[0]
    assert "Review" in targets[1]
    for number in (1, 2):
        assert (folder / f"rule-{number}" / "rule.json").exists()
    second = json.loads(
        out(["draft", str(two_rules), "--reading", "1", "--statement", "2", "--json", *DRAFT], capsys)[0]
    )
    assert second["text"] == found[1]["text"]
    assert second["reading"]["rule"] == 2


def test_a_rule_the_sentence_does_not_state_is_bad_input(
    two_rules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    complaint = out(["draft", str(two_rules), "--statement", "3", *DRAFT], capsys, 2)[1]
    assert (
        complaint
        == "gnrs: arguments: --statement: the goal's sentence states 2 rules; name one of 1 to 2; gnrs read shows them\n"
    )
    assert "contradict" in out(["draft", str(two_rules), "--statement", "1", "--every"], capsys, 2)[1]


def test_the_page_quotes_what_the_verb_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(
        r"```console\n\$ gnrs (.*?)\n(.*?)```", (ROOT / "docs" / "reading.md").read_text(), re.DOTALL
    )
    assert len(blocks) == 4
    for line, quoted in blocks:
        code = run(shlex.split(line))
        printed = capsys.readouterr()
        assert bare(printed.out + printed.err) == bare(quoted), line
        assert code == (3 if printed.err else 0)


def bare(text: str) -> str:
    """Lines without the spaces that tables pad them with."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines() if line.strip())
