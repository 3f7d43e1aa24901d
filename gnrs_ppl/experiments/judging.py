"""The second stage: marks for texts, blinded, a line for every text, rubric, judge and repeat.

marks.jsonl   knows texts by a hash of goal and text and nothing of methods; equal texts of a goal are judged
once

Marks are joined with rows only when a report is made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.context.files import parse_json, read_bytes, read_data
from gnrs_ppl.context.limits import ROWS_BYTES
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate.rubrics import (
    DIMENSIONS,
    RUBRICS,
    BlindedText,
    Judge,
    Marks,
    Rubric,
    Scores,
    blinded,
    judge,
    percents,
    refuse_unanswered,
    unanswered,
)
from gnrs_ppl.experiments.methods import OURS
from gnrs_ppl.experiments.rows import Row, append, drop_half_line, progress
from gnrs_ppl.llm.client import Answer

if TYPE_CHECKING:
    from gnrs_ppl.experiments.runner import Run
    from gnrs_ppl.llm import OpenAIModel

MARKS, GENERATORS = "marks.jsonl", "generators.json"
"""Marks of a folder; and in that of the cross-model grid, the folder of each generator -> its name."""
CONTEXTS = {"main": "Main benchmark", "ood": "Held-out OOD", "realcharter": "RealCharter"}
"""Experiment -> the paper's name of what its goals are."""
ORDER = 0
"""Seed of the order in which texts are judged."""
BATCH = 32
"""Texts whose marks are on disk together."""

Mark = dict[str, Any]
"""A line of the file; scores are null where the answer held none."""
FIELDS = ("text", "rubric", "role", "sample", "model", "scores", "scripted", "call")
"""Of a line."""


def text_id(row: Row) -> str:
    """What marks know a text by."""
    return hashlib.sha256(json.dumps([row["goal"], row["text"]]).encode()).hexdigest()[:20]


def judge_rows(
    rows: Sequence[Row],
    model: OpenAIModel,
    folder: Path,
    *,
    role: Judge = "judge",
    rubrics: Sequence[Rubric] = RUBRICS,
    repeats: int = 1,
) -> None:
    """Append the marks that are missing.

    Parameters
    ----------
    rows : sequence of Row
    model : OpenAIModel
    folder : Path
        Where the marks stand.
    role : {"judge", "second_judge"}
    rubrics : sequence of {"v1", "v2"}
    repeats : int
        How often each text is judged.

    Raises
    ------
    InputError
        The folder holds marks of another judge; some request was never answered: what was is on disk and in
        the cache.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, name = folder / MARKS, model.settings.model(role)
    drop_half_line(path)
    own = [line for line in read_marks(folder) if line["role"] == role]
    if other := next((line["model"] for line in own if line["model"] != name), None):
        raise InputError(
            f"holds marks of {other!r} as {role}, not of {name!r}",
            "name another folder with --out",
            source=str(path),
        )
    done = {(line["text"], line["rubric"], line["sample"]) for line in own}
    texts = {text_id(row): row for row in rows}
    wanted = [(text, rubric, sample) for text in texts for rubric in rubrics for sample in range(repeats)]
    lacking = sorted({text for text, rubric, sample in wanted if (text, rubric, sample) not in done})
    contexts = cache(load_context)
    items, key = blinded([(contexts(texts[text]["goal"]), texts[text]["text"]) for text in lacking], ORDER)
    names = {item.id: lacking[place] for item, place in zip(items, key, strict=True)}
    left = sum((text, rubric, sample) not in done for text, rubric, sample in wanted)
    failed: list[Answer[Any]] = []
    with path.open("ab") as file, progress(f"marks by {role}", len(wanted), len(wanted) - left) as advance:
        for start in range(0, len(items), BATCH):
            for rubric in rubrics:
                lines = []
                for marks in _marks(items[start : start + BATCH], rubric, names, done, model, role, repeats):
                    if lost := unanswered([marks.answer]):
                        failed += lost
                    elif (names[marks.item], rubric, marks.sample) not in done:
                        lines.append(_line(names[marks.item], rubric, role, name, marks))
                append(file, lines)
                advance(len(lines))
            if model.costs.stopped:
                break
    refuse_unanswered(failed)


def _marks(
    items: Sequence[BlindedText],
    rubric: Rubric,
    names: Mapping[str, str],
    done: set[tuple[str, str, int]],
    model: OpenAIModel,
    role: Judge,
    repeats: int,
) -> list[Marks]:
    """Marks of the texts that lack some of this rubric."""
    lacking = [
        item
        for item in items
        if any((names[item.id], rubric, sample) not in done for sample in range(repeats))
    ]
    return judge(lacking, model, rubric, role=role, repeats=repeats)


def _line(text: str, rubric: Rubric, role: Judge, name: str, marks: Marks) -> Mark:
    answer = marks.answer
    return {
        "text": text,
        "rubric": rubric,
        "role": role,
        "sample": marks.sample,
        "model": name,
        "scores": None if marks.scores is None else list(marks.scores),
        "scripted": bool(answer and answer.scripted),
        "call": answer.record() if answer else None,
    }


def read_marks(folder: Path) -> list[Mark]:
    """Lines of a marks file, none where there is no file.

    Raises
    ------
    InputError
        A line that holds no marks.
    """
    path, found = folder / MARKS, []
    for number, text in enumerate(read_bytes(path, ROWS_BYTES).split(b"\n")[:-1] if path.exists() else [], 1):
        line = parse_json(text, f"{path}, line {number}", "delete that line; it will be asked again")
        try:
            scores = line["scores"]
            if scores is not None and [type(mark) for mark in scores] != [int] * len(DIMENSIONS):
                raise ValueError
            found.append({name: line[name] for name in FIELDS})
        except (ValueError, KeyError, TypeError):
            raise InputError(
                "holds no marks", "delete that line; it will be asked again", source=f"{path}, line {number}"
            ) from None
    return found


def joined(rows: Iterable[Row], marks: Iterable[Mark]) -> list[Row]:
    """Rows with what their texts were marked, in percent.

    A row gets the five dimensions and ``avg`` of rubric v1, ``v2_avg``, ``overall``, and ``second_avg`` and
    ``second_overall`` of the second judge: None where its text has no marks. ``unmarked`` counts answers
    without marks; ``scripted`` holds for rule and marks.
    """
    each: dict[str, list[Mark]] = {}
    for line in marks:
        each.setdefault(line["text"], []).append(line)
    return [
        row | _scored(row, sorted(each.get(text_id(row), ()), key=lambda line: int(line["sample"])))
        for row in rows
    ]


def _scored(row: Row, lines: Sequence[Mark]) -> Row:
    def held(role: Judge, rubric: Rubric) -> list[Scores | None]:
        return [line["scores"] for line in lines if (line["role"], line["rubric"]) == (role, rubric)]

    hard_ok = bool(row.get("hard_ok"))
    second = percents(held("second_judge", "v1"), (), hard_ok)
    return {
        **percents(held("judge", "v1"), held("judge", "v2"), hard_ok),
        "second_avg": second["avg"],
        "second_overall": second["overall"],
        "unmarked": sum(line["scores"] is None for line in lines),
        "blank": not row["text"].strip(),
        "scripted": bool(row.get("scripted")) or any(line["scripted"] for line in lines),
    }


def generators(out: Path) -> dict[str, str]:
    """Folder below ``out`` -> generator of the cross-model grid, of all that lie there."""
    path = out / "cross_model" / GENERATORS
    return {
        f"cross_model/{place}": name for place, name in (read_data(path) if path.is_file() else {}).items()
    }


def by_context(run: Run) -> dict[str, list[Row]]:
    """Rows with marks by context: main benchmark, held-out family, cards, and each generator of the grid.

    Raises
    ------
    InputError
        There are none.
    """
    folders = {told: name for name, told in CONTEXTS.items()}
    folders |= {name: folder for folder, name in generators(run.out).items()}
    found = {told: run.judged(name) for told, name in folders.items()}
    found = {
        told: rows
        for told, rows in found.items()
        if any(row["method"] == OURS and row["avg"] is not None for row in rows)
    }
    if not found:
        raise InputError(
            "no judged rows lie there", "run gnrs experiment main --llm first", source=str(run.out)
        )
    return found


def of_main(run: Run) -> list[Row]:
    """Judged rows of ``main`` and ``ablations``.

    Raises
    ------
    InputError
        No judged rows lie there.
    """
    by_context(run)
    return run.judged("main") + run.judged("ablations")
