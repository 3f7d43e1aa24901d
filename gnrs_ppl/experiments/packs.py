"""Packs for people: rules to judge without knowing who wrote them, instructions, a key kept apart, and filled
files read back. What is asked of whom is a :class:`Survey`.

pack/rows.csv          one line per item, answers left blank
pack/instructions.md   what to do; given out with the rows
key.json               which item is which; stays here
filled/NAME.csv        one file per person, put there by hand
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.context.files import read_data, read_text
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.output import write_all
from gnrs_ppl.context.types import Kind
from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.judging import text_id
from gnrs_ppl.experiments.rows import Cell, Row, cell_of, of
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import ResultTable
from gnrs_ppl.experiments.writers import WRITERS
from gnrs_ppl.llm.material import material
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.safe_text import to_csv, to_json

KEY, ROWS, INSTRUCTIONS, FILLED = "key.json", "rows.csv", "instructions.md", "filled"
HERE = Path(__file__).parent / "instructions"
NUMBERS = {2: "both", 5: "all five"}
"""How many methods a survey has, in words."""
DRAWN = 0
"""Seed of the sample and of the order."""
BLANK = "(nothing was written)"
SCRIPTED = "**Scripted, no result: a scripted server played the model. Do not hand this pack out.**"


class Question(NamedTuple):
    """A column to fill in, and the answers it takes."""

    column: str
    answers: tuple[str, ...]


class PackItem(NamedTuple):
    """What a person sees of an item, and what stays in the key."""

    shown: dict[str, str]
    key: dict[str, Any]


Answers = dict[str, dict[str, str]]
"""Item -> column -> answer, of one person."""


class Survey(NamedTuple):
    """What people are asked about texts of ``main``.

    Attributes
    ----------
    name : str
        Of the experiment, and of its instructions.
    methods : tuple of str
        Whose texts are shown.
    goals : int
        How many goals are drawn, of those that have texts of all methods.
    questions : tuple of Question
    items : callable
        ``items(texts, card, generator)``: the items of a goal, from its row of each method and its task card.
    told : callable
        What a pack holds, from its key.
    tables : callable
        ``tables(people, key, rows)``: what came out, from people's answers, the key, and the judged rows.
    """

    name: str
    methods: tuple[str, ...]
    goals: int
    questions: tuple[Question, ...]
    items: Callable[[Mapping[str, Row], str, random.Random], list[PackItem]]
    told: Callable[[Mapping[str, Any]], str]
    tables: Callable[[dict[str, Answers], dict[str, Any], dict[Cell, Row]], Sequence[ResultTable]]

    def experiment(self, asks: str) -> Experiment:
        """The survey as an experiment."""
        return Experiment(self.name, asks, self.report, needs=("main",), make=self.make)

    def make(self, request: ExperimentRequest, folder: Path) -> Sequence[str]:
        """Write the pack, unless there is one.

        Raises
        ------
        InputError
            No goal has rows of all methods.
        """
        rows, drawn = Run(request, folder.parent).judged("main"), random.Random(DRAWN)
        items = []
        for by_method in self.sample(rows, request):
            context = load_context(next(iter(by_method.values()))["goal"])
            items += self.items(by_method, task_card(context), drawn)
        instructions = (HERE / f"{self.name}.txt").read_text(encoding="utf-8")
        write_pack(folder, items, self.questions, instructions, any(row["scripted"] for row in rows))
        return ()

    def sample(self, rows: Sequence[Row], request: ExperimentRequest) -> list[dict[str, Row]]:
        """Goals drawn from those that have texts of all methods, in order of their ids, each with its row of
        every method: the first seed, the fewest chains.

        Raises
        ------
        InputError
            No goal has rows of all methods.
        """
        found: dict[str, dict[str, Row]] = {}
        for name in self.methods:
            chains = min(request.chains) if WRITERS[name].runs_chains else None
            for row in of(rows, name, chains).rows:
                if row["seed"] == request.seeds[0]:
                    found.setdefault(row["goal"], {})[name] = row
        whole = sorted(goal for goal, some in found.items() if len(some) == len(self.methods))
        if not whole:
            raise InputError(
                f"no goal has rows of {NUMBERS[len(self.methods)]} methods",
                "run gnrs experiment main --llm first",
                source=self.name,
            )
        drawn = sorted(random.Random(DRAWN).sample(whole, min(self.goals, len(whole))))
        return [found[goal] for goal in drawn]

    def report(self, run: Run) -> Report:
        """What people said, and how it agrees with the judge or the gate; how to go on where nobody has said
        anything.
        """
        folder = run.out / self.name
        rows = {cell_of(row): row for row in run.judged("main")}
        key = read_key(folder, rows)
        people, pack = read_filled(folder, key, self.questions), self.told(key)
        if people:
            tables = self.tables(people, key, rows)
            return Report(tables, notes=[f"{pack}; {len(people)} people filled it in"])
        how = f"put each person's filled rows.csv into {FILLED}/ under a name of its own and run this again"
        return Report([], notes=[f"{pack}; {how}"])


def mark_of(row: Row) -> dict[str, Any]:
    """How the key names a row."""
    return {
        "method": row["method"],
        "goal": row["goal"],
        "seed": row["seed"],
        "chains": row["chains"],
        "text": text_id(row),
    }


def clause(row: Row) -> str:
    """The rule as people see it."""
    return row["text"].strip() or BLANK


def task_card(context: Context) -> str:
    """Goal and records in words: what the methods were given, without names of columns."""
    goal, lexicon = context.goal, Lexicon.of_context(context)

    def said(kind: Kind, names: Sequence[str]) -> str:
        return ", ".join(lexicon.form(kind, name) for name in names)

    parts = {
        "Task": goal.intent,
        "For": said("role", goal.roles),
        "Where": said("location", goal.locations),
        "About": said("object", goal.objects),
        "Has to be required": said("action", goal.required),
        "Has to be ruled out": said("action", goal.forbidden),
        "May stay permitted": said("action", goal.permitted),
    }
    logs = []
    for channel in json.loads(material(context)["records"])["channels"]:
        kept = said("action", list(channel.get("rows") or channel.get("activities") or ()))
        logs.append(f"{lexicon.form('channel', channel['name'])} ({kept})")
    return "\n".join(
        [f"{name}: {value}" for name, value in parts.items() if value]
        + [f"Logs that exist, and what they record: {'; '.join(logs)}"]
    )


def write_pack(
    folder: Path, items: Sequence[PackItem], questions: Sequence[Question], instructions: str, scripted: bool
) -> None:
    """Write rows, instructions and key, unless there is a key: a pack that was given out is not changed.

    Parameters
    ----------
    folder : Path
    items : sequence of PackItem
        Shuffled here.
    questions : sequence of Question
    instructions : str
        Markdown.
    scripted : bool
        Whether the scripted server had a part in a text.
    """
    if (folder / KEY).is_file():
        return
    order = list(items)
    random.Random(DRAWN).shuffle(order)
    names = [f"item-{number:03d}" for number in range(1, len(order) + 1)]
    head = [
        "item",
        *(order[0].shown if order else ()),
        *(question.column for question in questions),
        "remarks",
    ]
    table = [
        [name, *item.shown.values(), *[""] * (len(questions) + 1)]
        for name, item in zip(names, order, strict=True)
    ]
    page = instructions.replace("# ", f"# {'(scripted, no result) ' if scripted else ''}", 1) + (
        f"\n{SCRIPTED}\n" if scripted else ""
    )
    # spreadsheets read UTF-8 only behind a mark
    rows = ROWS.replace(".", "_scripted.") if scripted else ROWS
    write_all(
        folder / "pack",
        [(rows, to_csv([head, *table], "\r\n").encode("utf-8-sig")), (INSTRUCTIONS, page.encode())],
    )
    key = {name: item.key for name, item in zip(names, order, strict=True)}
    write_all(folder, [(KEY, (to_json(key) + "\n").encode())])


def read_key(folder: Path, known: Mapping[Cell, Row]) -> dict[str, dict[str, Any]]:
    """The key: item -> what it was.

    Parameters
    ----------
    folder : Path
    known : mapping of Cell to Row

    Raises
    ------
    InputError
        The pack holds texts that the rows have not.
    """
    path = folder / KEY
    key: dict[str, dict[str, Any]] = read_data(path)
    for name, what in key.items():
        marks = [what] if "text" in what else [*what.values()]
        if any(cell_of(mark) not in known or text_id(known[cell_of(mark)]) != mark["text"] for mark in marks):
            remedy = "name another folder with --out: the rows were made anew since"
            raise InputError("is a text of other rows", remedy, source=str(path), field=name)
    return key


def read_filled(folder: Path, key: Mapping[str, Any], questions: Sequence[Question]) -> dict[str, Answers]:
    """Answers by person, from every file in ``filled``.

    Raises
    ------
    InputError
        A file without one of the columns; an item that is missing, there twice, unknown, not filled in or out
        of range.
    """
    return {path.stem: _answers(path, key, questions) for path in sorted((folder / FILLED).glob("*.csv"))}


def _answers(path: Path, key: Mapping[str, Any], questions: Sequence[Question]) -> Answers:
    text = read_text(path, form="CSV")
    head = text.split("\n", 1)[0]
    # spreadsheets of some countries write semicolons
    reader = csv.DictReader(
        io.StringIO(text, newline=""), delimiter=";" if head.count(";") > head.count(",") else ","
    )
    try:
        lines = list(reader)
    except csv.Error as error:
        raise InputError(f"is not readable CSV ({error})", "save it as CSV UTF-8", source=str(path)) from None
    columns = ["item", *(question.column for question in questions)]
    if lost := [column for column in columns if column not in (reader.fieldnames or ())]:
        raise InputError(
            f"has no column {lost[0]!r}", "leave the head of the pack's rows.csv as it is", source=str(path)
        )
    found: Answers = {}
    for line in lines:
        name = (line["item"] or "").strip()
        if name not in key or name in found:
            problem = "is there twice" if name in found else "is no item of this pack"
            raise InputError(
                problem,
                "take the items of the pack's rows.csv, each once",
                source=str(path),
                field=name or "item",
            )
        found[name] = {
            question.column: _answer(line[question.column], question, name, path) for question in questions
        }
    if lost := [name for name in key if name not in found]:
        raise InputError(
            f"lacks {len(lost)} of {len(key)} items, {lost[0]} first", "fill in every item", source=str(path)
        )
    return found


def _answer(said: str | None, question: Question, name: str, path: Path) -> str:
    answer = (said or "").strip()
    if answer not in question.answers:
        problem = f"is {answer!r}" if answer else "is not filled in"
        raise InputError(
            problem,
            f"write {', '.join(question.answers[:-1])} or {question.answers[-1]}",
            source=str(path),
            field=f"{name}, {question.column}",
        )
    return answer
