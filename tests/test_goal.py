"""``gnrs goal``: a goal from a sentence, written into a context file whose other lines stay as they are."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from tiers import few

from gnrs_ppl.cli import run
from gnrs_ppl.context.load import load_context
from gnrs_ppl.context.types import Goal, Schema
from gnrs_ppl.goals.questions import reworded, settled
from gnrs_ppl.goals.text import with_fields, with_goal
from gnrs_ppl.goals.write import edit_goal, name_of, new_goal
from gnrs_ppl.reading import read

ROOT = Path(__file__).resolve().parent.parent
SENTENCE = "After an order was received, the packer must ship it."
CONTEXT = """\
# Orders of a shop. Made by hand.

# who does what
schema:
  roles: [clerk, packer]   # two
  actions:
    - {name: ReceiveOrder, phrase: receive the order, noun: receipt of the order}
    - {name: CheckStock, phrase: check the stock, noun: stock check}
    - {name: ShipOrder, phrase: ship the order, noun: shipping of the order}

records:
  log: log.csv  # of May
  channels: [{name: shop_log, closed_world: true}]
"""
GOAL = """\
goal:  # for the board
  id: old_one  # as filed
  # the wording of 2019
  intent: >-
    Once an order was received,
    it must be shipped.
  required: [ShipOrder]  # and nothing else

  within: P3D

"""


@pytest.fixture
def context(tmp_path: Path) -> Path:
    rows = ["case_id,activity,timestamp,resource,role,channel"]
    for case in range(20):
        for hour, (act, role) in enumerate(
            (("ReceiveOrder", "clerk"), ("CheckStock", "clerk"), ("ShipOrder", "packer")), 9
        ):
            rows.append(
                f"{case},{act},2024-05-{1 + case:02d}T{hour:02d}:{case:02d}:00Z,{role}_1,{role},shop_log"
            )
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    path = tmp_path / "context.yaml"
    path.write_text(CONTEXT)
    return path


class Scripted:
    """Answers in order, and the questions that were asked."""

    def __init__(self, *answers: int | str) -> None:
        self.answers, self.asked = list(answers), list[str]()

    def choose(self, question: str, choices: Sequence[str], own: str = "") -> int | str:
        self.asked.append(question + " | " + " | ".join(choices))
        return self.answers.pop(0)

    def line(self, question: str) -> str:
        self.asked.append(question)
        return str(self.answers.pop(0))


# From no goal to a rule


def test_a_context_without_a_goal_says_what_writes_one(
    context: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in (
        ["draft"],
        ["read"],
        ["sample", "--out", str(tmp_path / "x.nc")],
        ["goal", "edit", "--within", "P3D"],
    ):
        assert run([*verb, str(context)]) == 2
        assert (
            capsys.readouterr().err
            == f"gnrs: {context}: goal: states no goal; gnrs goal new {context} --sentence TEXT writes one\n"
        )


def test_what_needs_no_goal_does_without(
    context: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = tmp_path / "rule"
    assert run(["draft", str(context), "--sentence", SENTENCE, "--kernel", "exact", "--out", str(rule)]) == 0
    assert run(["audit", str(context), "--rule", str(rule / "rule.json")]) in (0, 1)
    assert run(["profile", str(context)]) == 0
    assert run(["read", "--sentence", SENTENCE, "--schema", str(context)]) == 0
    capsys.readouterr()


def test_new_then_draft_then_audit(context: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timed = SENTENCE.replace(" it.", " it within 90 minutes.")
    assert run(["goal", "new", str(context), "--sentence", timed, "--required", "ShipOrder"]) == 0
    out = capsys.readouterr().out
    assert f"gnrs draft {context} --out rule" in out
    assert "read as 1. must Response(ReceiveOrder, ShipOrder), within one hour and 30 minutes" in out
    goal = load_context(context).goal
    assert (goal.id, goal.intent, goal.within, goal.required) == (
        "order_received_packer_ship",
        timed,
        None,
        ("ShipOrder",),
    )
    rule = tmp_path / "rule"
    assert run(["draft", str(context), "--kernel", "exact", "--out", str(rule)]) == 0
    assert (
        run(["audit", str(context), "--rule", str(rule / "rule.json")]) == 1
    )  # all are shipped after two hours
    capsys.readouterr()


def test_json_and_every_field(context: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stated = [
        "--id",
        "mine",
        "--required",
        "ShipOrder",
        "--forbidden",
        "CheckStock",
        "--triggers",
        "ReceiveOrder",
        "--within",
        "P3D",
    ]
    stated += [
        "--timed",
        "ShipOrder",
        "--roles",
        "packer",
        "--roles",
        "clerk",
        "--values",
        "timeliness",
        "--force",
        "should",
    ]
    assert run(["goal", "new", str(context), "--sentence", SENTENCE, "--json", *stated]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["goal"]["roles"] == ["packer", "clerk"]
    assert (told["replaced"], told["rules"], told["reading"]["statements"][0]["readings"][0]["declare"]) == (
        None,
        1,
        "Response",
    )
    assert load_context(context).goal == Goal.model_validate(told["goal"])


# Refused: nothing is written


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (
            ["--sentence", "All contracts must be countersigned."],
            3,
            "no act like 'contracts … countersigned' is in the schema",
        ),
        (["--sentence", "Have a nice day."], 3, "not checkable"),
        (["--sentence", "The order must be shipped by another person than checks the stock."], None, ""),
        (["--sentence", " "], 2, "--sentence: is empty"),
        ([], 2, "--sentence: is empty"),
        (
            ["--sentence", SENTENCE, "--required", "ShipOrders"],
            2,
            "goal.required: 'ShipOrders' is not in the schema's actions; did you mean",
        ),
        (
            ["--sentence", SENTENCE, "--roles", "pakcer"],
            2,
            "goal.roles: 'pakcer' is not in the schema's roles; did you mean 'packer'?",
        ),
        (
            ["--sentence", SENTENCE, "--within", "PT60D"],
            2,
            "goal.within: 'PT60D' is not a positive ISO 8601 duration such as PT15M",
        ),
        (["--sentence", SENTENCE, "--force", "shall"], 2, "goal.force: "),
    ],
)
def test_what_is_refused_is_not_written(
    arguments: list[str], code: int | None, says: str, context: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(["goal", "new", str(context), *arguments])
    assert found == code or (code is None and found in (0, 3))
    assert says in capsys.readouterr().err
    assert found == 0 or context.read_text() == CONTEXT


def test_a_persons_goal_stays_unless_told(context: Path, capsys: pytest.CaptureFixture[str]) -> None:
    context.write_text(GOAL + CONTEXT)
    assert run(["goal", "new", str(context), "--sentence", SENTENCE]) == 2
    assert (
        "'old_one' stands there; add --yes to replace it, or change it with gnrs goal edit"
        in capsys.readouterr().err
    )
    assert run(["goal", "new", str(context), "--sentence", SENTENCE, "--yes"]) == 0
    assert "in place of 'old_one'" in " ".join(capsys.readouterr().out.split())  # wherever the path wraps it


def test_pools_are_not_left_to_another_goal(context: Path, capsys: pytest.CaptureFixture[str]) -> None:
    context.write_text(GOAL + CONTEXT + "pools: {}\n")
    assert run(["goal", "new", str(context), "--sentence", SENTENCE, "--yes"]) == 2
    assert "pools: they are listed for the goal 'old_one'" in capsys.readouterr().err


def test_what_import_guessed_gives_way(context: Path) -> None:
    context.write_text(
        "# Imported\n\ngoal:  # guessed 0.30: a habit\n  id: first_goal\n  intent: Somebody must ship the order.\n\n"
        + CONTEXT
    )
    assert new_goal(context, SENTENCE, {}).replaced == "first_goal"
    assert "guessed" not in context.read_text()


# The file's other lines


def test_new_changes_no_other_line(context: Path) -> None:
    context.write_text(GOAL + CONTEXT)
    new_goal(context, SENTENCE, {}, replace_goal=True)
    expected = f'goal:  # for the board\n  id: order_received_packer_ship\n  intent: "{SENTENCE}"\n  # the wording of 2019\n\n{CONTEXT}'
    assert context.read_text() == expected


def test_new_stands_above_the_rest_and_below_the_files_own_comment(context: Path) -> None:
    new_goal(context, SENTENCE, {})
    head, goal, rest = (
        CONTEXT.partition("# who")[0],
        f'goal:\n  id: order_received_packer_ship\n  intent: "{SENTENCE}"\n\n',
        CONTEXT,
    )
    assert context.read_text() == head + goal + rest.removeprefix(head)


def test_edit_changes_its_lines_alone(context: Path) -> None:
    context.write_text(GOAL + CONTEXT)
    edit_goal(context, {"required": ["ShipOrder", "CheckStock"], "roles": ["packer"]}, ["within"])
    expected = GOAL.replace("[ShipOrder]", "[ShipOrder, CheckStock]").replace(
        "  within: P3D\n", "  roles: [packer]\n"
    )
    assert context.read_text() == expected + CONTEXT
    edit_goal(context, {"intent": SENTENCE})
    expected = expected.replace(
        ">-\n    Once an order was received,\n    it must be shipped.\n", f'"{SENTENCE}"\n'
    )
    assert context.read_text() == expected + CONTEXT


@pytest.mark.parametrize("ending", few(["\n", "\r\n"], 4))
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("place", ["first", "last", "flow"])
def test_any_layout_reads_back(ending: str, mark: str, place: str, context: Path) -> None:
    goal = (
        "goal: {id: old_one,\n  intent: Somebody must ship the order.}  # short\n"
        if place == "flow"
        else GOAL
    )
    text = CONTEXT + "\n" + goal.rstrip() if place == "last" else goal + CONTEXT
    context.write_bytes((mark + text.replace("\n", ending)).encode())
    edit_goal(context, {"within": "P5D"})
    new_goal(context, SENTENCE, {"within": "P7D"}, replace_goal=True)
    edit_goal(context, {"required": ["ShipOrder"]}, ["within"])
    written = context.read_bytes().decode()
    assert written.startswith(mark)
    assert written.count("\n") == written.count(ending)
    assert "# two" in written
    assert "# of May" in written
    assert load_context(context).goal == Goal.model_validate(
        {"id": "order_received_packer_ship", "intent": SENTENCE, "required": ["ShipOrder"]}
    )


@pytest.mark.parametrize(
    "odd",
    [
        "yes",
        "a: b",
        "#no",
        "Ümlaut “quoted”",
        'say "must"',
        "line\u2028break",
        "tab\there",
        "- dash",
        "1e3",
        "~",
    ],
)
def test_sentences_of_any_signs_read_back(odd: str) -> None:
    text = with_goal(CONTEXT, {"id": "g", "intent": odd}, json_file=False, source="c.yaml")
    assert yaml.safe_load(text)["goal"]["intent"] == odd
    text = with_fields(
        text, {"id": "g", "intent": odd, "roles": [odd]}, {"roles": [odd]}, json_file=False, source="c.yaml"
    )
    assert yaml.safe_load(text)["goal"]["roles"] == [odd]


def test_json_is_written_as_json(context: Path) -> None:
    path = context.with_suffix(".json")
    data = yaml.safe_load(CONTEXT)
    path.write_text(json.dumps(data))
    new_goal(path, SENTENCE, {})
    edit_goal(path, {"within": "P3D"})
    assert json.loads(path.read_text()) == {
        "goal": {"id": "order_received_packer_ship", "intent": SENTENCE, "within": "P3D"},
        **data,
    }


def test_braces_and_links_are_left_alone(
    context: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    braces = tmp_path / "braces.yaml"
    braces.write_text(json.dumps(yaml.safe_load(CONTEXT)))
    assert run(["goal", "new", str(braces), "--sentence", SENTENCE]) == 2
    assert "stands in braces; write its keys one below the other, or name it .json" in capsys.readouterr().err
    link = tmp_path / "link.yaml"
    link.symlink_to(context)
    assert run(["goal", "new", str(link), "--sentence", SENTENCE]) == 2
    assert "is a link" in capsys.readouterr().err
    assert context.read_text() == CONTEXT


@pytest.mark.parametrize(
    ("arguments", "says"),
    [([], "nothing is to be changed"), (["--clear", "intent"], "'intent' cannot be left empty")],
)
def test_edit_says_what_it_needs(
    arguments: list[str], says: str, context: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context.write_text(GOAL + CONTEXT)
    assert run(["goal", "edit", str(context), *arguments]) == 2
    assert says in capsys.readouterr().err


def test_names_of_goals_are_names() -> None:
    assert name_of(SENTENCE) == "order_received_packer_ship"
    assert name_of("!!!") == "goal"


# Questions


def test_who_and_when_are_asked_where_the_sentence_leaves_them_open(context: Path) -> None:
    ask = Scripted(2, 1)
    done = new_goal(context, "After an order was received, it must be shipped.", {}, ask=ask)
    assert [question.partition(" | ")[0] for question in ask.asked] == [
        "Nobody is named who is bound. Who is?",
        "The sentence states no time. Within which?",
    ]
    assert "within two hours: half of the cases keep it" in ask.asked[1]
    assert (done.goal.roles, done.goal.within) == (("packer",), None)
    assert done.goal.intent == "After an order was received, it must be shipped, within two hours."
    assert load_context(context).goal == done.goal


def test_a_time_of_ones_own_is_asked_for_until_it_is_one(context: Path) -> None:
    done = new_goal(context, SENTENCE, {}, ask=Scripted("soon", "P5D"))
    assert done.goal.intent == "After an order was received, the packer must ship it, within five days."
    assert str(done.readings.statements[0].best.time.duration) == "P5D"


def test_nothing_is_asked_where_nothing_is_open(context: Path) -> None:
    ask = Scripted()
    new_goal(context, "After an order was received, the packer must ship it within three hours.", {}, ask=ask)
    assert ask.asked == []


@pytest.mark.usefixtures("rules_alone")
def test_another_reading_is_said_in_words_that_are_read_so(context: Path) -> None:
    sentence = "Shipping an order demands that the stock is checked."
    schema = load_context(context, goalless=True).schema
    first, second = read(sentence, schema).statements[0].readings[:2]
    assert {first.template, second.template} == {"precedence", "response"}
    done = new_goal(context, sentence, {}, ask=Scripted(1, 0, 0, 0))
    best = done.readings.statements[0].best
    assert (best.template, best.activities) == (second.template, second.activities)
    assert done.goal.intent == reworded(second, schema)


@pytest.mark.parametrize(
    ("sentence", "one_person"),
    [
        ("No case may have both the check of the stock and the shipment of the order.", False),
        ("Whoever checks the stock may not ship the order.", True),
    ],
)
def test_two_acts_that_exclude_each_other_are_said_in_words_that_are_read_so(
    context: Path, sentence: str, one_person: bool
) -> None:
    schema = load_context(context, goalless=True).schema
    reading = read(sentence, schema).statements[0].best
    assert reading.template == "not_coexistence"
    assert (reading.who is not None) is one_person
    again = read(reworded(reading, schema), schema)
    assert [s.best.template for s in again.statements] == ["not_coexistence"]
    assert set(again.statements[0].best.activities) == set(reading.activities)
    assert (again.statements[0].best.who is not None) is one_person


def test_none_of_the_readings_asks_for_another_sentence(context: Path) -> None:
    schema = load_context(context, goalless=True).schema
    sentence = "Shipping an order demands that the stock is checked."
    readings = read(sentence, schema)
    none = len([r for r in readings.statements[0].readings if r.probability >= 0.15])
    ask = Scripted(none, SENTENCE)
    assert (
        settled(Goal(id="g", intent=sentence), readings, load_context(context, goalless=True), ask)
        == SENTENCE
    )


def test_a_refused_sentence_may_be_said_again(context: Path) -> None:
    ask = Scripted("After an order was received, the packer must ship it within three hours.")
    assert new_goal(context, "Contracts must be countersigned.", {}, ask=ask).goal.intent.startswith(
        "After an order"
    )
    assert ask.asked[0].startswith("not checkable: no act like")


@pytest.mark.usefixtures("rules_alone")
def test_words_not_read_are_asked_about(context: Path) -> None:
    sentence = "After an order was received, the packer must ship it within three hours to the customer."
    schema: Schema = load_context(context, goalless=True).schema
    assert read(sentence, schema).unread
    assert new_goal(context, sentence, {}, ask=(ask := Scripted(1, SENTENCE, 0))).goal.intent == SENTENCE
    assert ask.asked[0].startswith("Not read: ")


def in_terminal(arguments: list[str], typed: str) -> tuple[int, str]:
    """Run gnrs at a terminal of 80 columns, with everything typed beforehand."""
    ours, theirs = pty.openpty()
    os.write(ours, typed.encode())
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "80",
        "TERM": "dumb",
        "JAX_PLATFORMS": "cpu",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "gnrs_ppl", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
        except OSError:  # how a terminal ends
            pass
        code = process.wait(60)
    os.close(ours)
    return code, said.decode(errors="replace")


def test_a_terminal_is_asked(context: Path) -> None:
    code, said = in_terminal(
        ["goal", "new", str(context), "--sentence", "After an order was received, it must be shipped."],
        "9\n3\n\n",
    )
    assert code == 0, said
    assert "Who is?" in said
    assert "A number of 1 to 3" in said
    goal = load_context(context).goal
    assert (goal.roles, goal.within) == (("packer",), None)


def test_a_terminal_that_ends_writes_nothing(context: Path) -> None:
    code, said = in_terminal(["goal", "new", str(context)], "\x04")
    assert code == 2, said
    assert "the answers ended too early, nothing was written" in said
    assert context.read_text() == CONTEXT
