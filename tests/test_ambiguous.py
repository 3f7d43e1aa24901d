"""A sentence that may mean several things is asked about: listed, chosen by number, kept with the goal; never guessed."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import gnrs_ppl as gnrs
from gnrs_ppl.candidates.model_reader import ReadAlong
from gnrs_ppl.cli import run
from gnrs_ppl.context.load import load_context, with_sentence
from gnrs_ppl.context.types import Schema
from gnrs_ppl.draft import of_reading, of_sources
from gnrs_ppl.errors import AmbiguousSentence, InputError, Refused
from gnrs_ppl.goals.write import new_goal
from gnrs_ppl.reading import goal, opinions, read
from gnrs_ppl.reading.counts import as_written
from gnrs_ppl.reading.goal import readings_of

ROOT = Path(__file__).resolve().parent.parent
PLAIN = "After an order was received, it must be shipped within three days."
UNCLEAR = (
    "The packer ships, and the clerk looks at the stock, either way round, the order being in.",
    "Shipping, unless the stock was looked at, waits for the order or follows it at once.",
    "Stock first or order first, shipping is for the packer when both or one of them is done.",
    "No shipping without stock, no stock without order, or the other way about if the packer says so.",
)
"""Some of which no two readers read alike."""
CONTEXT = """\
schema:
  roles: [clerk, packer]
  actions:
    - {name: ReceiveOrder, phrase: receive the order, noun: receipt of the order}
    - {name: CheckStock, phrase: check the stock, noun: stock check}
    - {name: ShipOrder, phrase: ship the order, noun: shipping of the order}
records:
  log: log.csv
  channels: [{name: shop_log, closed_world: true}]
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    rows = ["case_id,activity,timestamp,resource,role,channel"]
    acts = (("ReceiveOrder", "clerk"), ("CheckStock", "clerk"), ("ShipOrder", "packer"))
    for case in range(20):
        for hour, (act, role) in enumerate(acts, 9):
            rows.append(
                f"{case},{act},2024-05-{1 + case:02d}T{hour:02d}:{case:02d}:00Z,{role}_1,{role},shop_log"
            )
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    (folder / "context.yaml").write_text(CONTEXT)
    return folder / "context.yaml"


@pytest.fixture(scope="module")
def unclear(path: Path) -> str:
    """A sentence that is asked about."""
    context = load_context(path, goalless=True)
    for text in UNCLEAR:
        try:
            gnrs.draft(with_sentence(context, text), kernel="exact", chains=1, steps=1)
        except AmbiguousSentence:
            return text
        except gnrs.GnrsError:
            continue
    raise AssertionError("none of these is asked about")


def test_what_both_read_alike_is_drafted(path: Path) -> None:
    context = with_sentence(load_context(path, goalless=True), PLAIN)
    assert not readings_of(context).unsure
    (constraint,) = gnrs.draft(context, kernel="exact", chains=1, steps=1).structure.norm.constraints
    assert constraint.template == "response"


def test_a_question_lists_different_meanings(path: Path, unclear: str) -> None:
    context = load_context(path, goalless=True)
    readings = read(unclear, context.schema, context.records.channels)
    assert readings.unsure
    ways = [opinions.duty_lines(way) for way in readings.ways]
    assert 1 <= len(ways) <= opinions.MOST_WAYS
    assert len(set(ways)) == len(ways)


def test_python_raises_with_the_readings_and_draws_up_the_one_that_is_chosen(
    path: Path, unclear: str
) -> None:
    context = with_sentence(load_context(path, goalless=True), unclear)
    with pytest.raises(AmbiguousSentence) as asked:
        gnrs.draft(context)
    assert len(asked.value.readings) == len(asked.value.probabilities) == len(readings_of(context).ways)
    chosen = of_reading(context, 1)
    assert opinions.duty_lines(readings_of(chosen)) == opinions.duty_lines(readings_of(context))
    assert not readings_of(chosen).unsure
    with pytest.raises(InputError, match="name one of 1 to"):
        of_reading(context, 99)


def test_the_command_asks_with_exit_4_and_takes_a_number(
    path: Path, unclear: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = ["draft", str(path), "--sentence", unclear, "--kernel", "exact"]
    assert run([*command, "--out", str(tmp_path / "out")]) == 4
    printed = capsys.readouterr()
    assert "1. " in printed.out
    assert "--reading" in printed.err
    assert not (tmp_path / "out").exists()
    assert run([*command, "--json"]) == 4
    ways = json.loads(capsys.readouterr().out)["readings"]
    assert [way["reading"] for way in ways] == list(range(1, len(ways) + 1))
    assert all(way["says"] and 0 <= way["probability"] <= 1 for way in ways)
    assert run([*command, "--reading", "1"]) in (0, 3)  # drafted, or these records cannot hold it
    assert run([*command, "--reading", "99"]) == 2


def test_a_terminal_asks_for_a_number(path: Path, unclear: str) -> None:
    here, there = pty.openpty()
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("gnrs")), "draft", str(path), "--sentence", unclear],
        stdin=there,
        stdout=there,
        stderr=there,
        cwd=ROOT,
    )
    os.close(there)
    seen = b""
    while b"Which" not in seen:
        seen += os.read(here, 4096)
    os.write(here, b"1\n")
    try:
        while more := os.read(here, 4096):
            seen += more
    except OSError:  # the terminal is gone with the process
        pass
    assert process.wait(120) in (0, 3)
    os.close(here)


class Chooses:
    """Somebody who takes the first of all choices and adds no time."""

    def __init__(self) -> None:
        self.questions: list[str] = []

    def choose(self, question: str, choices: object, own: str = "") -> int | str:
        self.questions.append(question)
        return 0

    def line(self, question: str) -> str:
        return ""


def test_the_answer_stays_with_the_goal(path: Path, unclear: str) -> None:
    person = Chooses()
    made = new_goal(path, unclear, {}, ask=person, replace_goal=True)
    assert "What is meant?" in person.questions
    kept = yaml.safe_load(path.read_text())["goal"]["read_as"]
    assert tuple(kept) == made.goal.read_as == opinions.duty_lines(made.readings)
    assert not readings_of(load_context(path)).unsure
    path.write_text(CONTEXT)


def test_what_was_chosen_of_another_sentence_chooses_nothing(path: Path, unclear: str) -> None:
    context = load_context(path, goalless=True)
    readings = read(unclear, context.schema, context.records.channels)
    for chosen in (("response(Nothing -> Like it)",), ()):
        assert read(unclear, context.schema, context.records.channels, chosen=chosen) == readings
        assert opinions.as_chosen(readings, chosen) == readings


def test_a_choice_holds_where_a_model_read_along(path: Path, unclear: str) -> None:
    context = with_sentence(load_context(path, goalless=True), unclear)
    context = replace(context, read_along=ReadAlong(readings_of(context), (), (), None))
    assert readings_of(context).unsure
    chosen = readings_of(of_reading(context, 1))
    assert not chosen.unsure
    assert opinions.duty_lines(chosen) == opinions.duty_lines(readings_of(context))


CLAIMS = Schema.model_validate(
    {
        "actions": [
            {"name": name}
            for name in ("Register claim", "Settle claim", "SETTLED", "X_CODE", "Y_Check request")
        ]
    }
)


def test_of_two_acts_that_the_same_words_name_the_frequent_one_is_likelier() -> None:
    text = "Once a claim is registered, it must be settled within 10 days."

    frequent = {"Register claim": 5000, "Settle claim": 4983, "SETTLED": 2}
    rare = frequent | {"Settle claim": 2, "SETTLED": 4983}

    def share(rows: dict[str, int] | None) -> float:
        ways = read(text, CLAIMS, rows=rows).ways
        return sum(w.probability for w in ways if opinions.duty_lines(w) == (line,))

    line = "response(Register claim -> Settle claim) P10D"
    assert share(frequent) > share(None) > share(rare)
    assert read(text, CLAIMS, rows=rare).unsure


@pytest.mark.parametrize(
    "text",
    [
        "X_CODE must be preceded by Y_Check request.",
        '"x code" must be preceded by "Y check request".',
        "x-code must be preceded by y_check_request",
    ],
)
def test_a_label_written_letter_for_letter_names_its_act(text: str) -> None:
    readings = read(text, CLAIMS, rows={"X_CODE": 1, "Y_Check request": 1, "SETTLED": 9000})
    assert not readings.unsure
    assert opinions.duty_lines(readings) == ("precedence(X_CODE -> Y_Check request)",)
    assert as_written(text, "X_CODE")


def test_an_ordinary_word_is_no_label() -> None:
    assert not as_written("It must be settled.", "SETTLED")
    assert as_written("It must be SETTLED.", "SETTLED")


def test_the_paper_s_sources_alone_do_not_read(
    path: Path, unclear: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence decides nothing where reading is no source: the goal's fields do, and where there are none, nobody."""
    context = with_sentence(load_context(path, goalless=True), unclear)
    goal = context.goal.model_copy(update={"required": ("ShipOrder",)})
    papers = of_sources(replace(context, goal=goal), ("template", "schema", "record"))
    drafted = gnrs.draft(papers, kernel="exact", chains=1, steps=1)
    assert not drafted.readings.statements
    assert {source for source, _ in drafted.built.proposed} <= {"template", "schema", "record"}
    with pytest.raises(InputError, match="requires and forbids nothing"):
        gnrs.draft(of_sources(context, ("template",)))
    assert run(["draft", str(path), "--sentence", unclear, "--sources", "records"]) == 2
    assert "--sources: 'records' is no source" in capsys.readouterr().err


def test_a_condition_that_nobody_read_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = with_sentence(load_context(path, goalless=True), PLAIN)
    ways = opinions.by_network(PLAIN, context.schema)
    monkeypatch.setattr(
        opinions, "by_network", lambda text, schema: tuple(way._replace(conditional=0.99) for way in ways)
    )
    goal._read.cache_clear()
    with pytest.raises(Refused, match="depends on something that no act and no field of the log shows"):
        gnrs.draft(context)
    goal._read.cache_clear()
