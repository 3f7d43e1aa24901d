"""Experiments with a model, in three stages over files.

*Generate* writes rows.jsonl (a row per method, chains, goal and seed), *judge* writes marks.jsonl (a line per text, rubric, judge and
repeat), *report* reads both. Each appends what is missing, so that a run that was killed goes on where it stopped. What the scripted
server had a part in is no result: its tables say so in title and file name and stand beside nothing of the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnrs_ppl.evaluate.rubrics import refuse_unanswered
from gnrs_ppl.experiments.judging import joined, judge_rows, read_marks
from gnrs_ppl.experiments.rows import ROWS, Row, append, cell_of, drop_half_line, progress, read_rows
from gnrs_ppl.experiments.runner import Outcome, Report, Request, all_locked, configuration, drawable, on_split, settle, write
from gnrs_ppl.experiments.tables import Table
from gnrs_ppl.experiments.writers import cells, write_rows
from gnrs_ppl.llm.roles import Role

if TYPE_CHECKING:
    from gnrs_ppl.llm import OpenAIModel

GOALS = 2
"""Goals whose rows are made, and are on disk, together."""
ROLES: tuple[Role, ...] = ("generator", "polisher", "parser", "judge")
"""Who makes and marks rows."""
SCRIPTED = "scripted, no result"
SAYS = "Made with the scripted server in the place of a model: it shows that the figures can be computed, and nothing else."


class Order(NamedTuple):
    """What to run, and on which model.

    Attributes
    ----------
    request : Request
    model : OpenAIModel
    generators : tuple of str
        Models of the cross-model grid; the generator of the settings unless given.
    repeats : int
        How often each text is judged.
    """

    request: Request
    model: OpenAIModel
    generators: tuple[str, ...] = ()
    repeats: int = 1


class Study(NamedTuple):
    """One experiment with a model.

    Attributes
    ----------
    name : str
    asks : str
        The question it answers.
    report : callable
        Rows with their marks to tables.
    make : callable, optional
        Generates and judges into the study's folder, and gives sentences for its page; None where it lives on the rows of others.
    needs : tuple of str
        Studies that are made first.
    roles : tuple of Role
        Who is asked.
    split : str, optional
        The only split it is about.
    """

    name: str
    asks: str
    report: Callable[[Made], Report]
    make: Callable[[Order, Path], Sequence[str]] | None = None
    needs: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ROLES
    split: str | None = None


@dataclass(frozen=True)
class Made:
    """What lies in the folders, as reports read it."""

    request: Request
    out: Path
    read: dict[tuple[str, ...], list[Row]] = field(default_factory=dict)

    def rows(self, name: str, *marks: str) -> list[Row]:
        """Rows of a study with its marks, and with those in the folders of others; none where there are none."""
        if (name, *marks) not in self.read:
            lines = [line for one in (name, *marks) for line in read_marks(self.out / one)]
            self.read[name, *marks] = joined(read_rows(self.out / name), lines)
        return self.read[name, *marks]

    @property
    def scripted(self) -> bool:
        """Whether the scripted server had a part in anything that was read."""
        return any(row["scripted"] for rows in self.read.values() for row in rows)


def run(study: Study, others: Mapping[str, Study], order: Order, out: Path) -> Outcome:
    """Make what a study and its needs lack, then report.

    Parameters
    ----------
    study : Study
    others : mapping
        Studies by name, for its needs.
    order : Order
    out : Path
        Folder of folders, one per study.

    Raises
    ------
    InputError
        No key, no model for a role, the cost limit, requests that were never answered; a folder that holds rows of another
        configuration; a split that was not revealed.
    """
    request = on_split(order.request, study.split)
    order = order._replace(request=request)
    wanted = [*(others[name] for name in study.needs), study]
    for role in dict.fromkeys(role for one in wanted if one.make for role in one.roles):
        order.model.settings.model(role)
    with all_locked(out / one.name for one in wanted):
        notes = [note for one in wanted if one.make for note in one.make(order, out / one.name)]
        made = Made(request, out)
        report = study.report(made)
        report = report._replace(notes=[*report.notes, *notes])
        if made.scripted:
            report = marked(report)
        report = drawable(report)
        folder = out / study.name
        return Outcome(folder, report, write(folder, settings(study.name, order, study.roles), report, study.asks))


def marked(report: Report) -> Report:
    """The report of what the scripted server made: marked, without figures and without anything of the paper's."""
    tables = [_marked(table) for table in report.tables if not all(column.paper for column in table.columns)]
    return Report(tables, {}, [SAYS, *report.notes], True)


def _marked(table: Table) -> Table:
    own = [i for i, column in enumerate(table.columns) if not column.paper]
    return Table(
        f"{table.name}_scripted",
        f"{table.title} ({SCRIPTED})",
        SAYS,
        tuple(table.columns[i] for i in own),
        [tuple(row[i] for i in own) for row in table.rows],
    )


def settings(name: str, order: Order, roles: Sequence[Role]) -> dict[str, Any]:
    """What rows depend on; the server's address holds no secret."""
    asked = order.model.settings
    return configuration(name, order.request) | {
        "server": asked.base_url,
        "models": {role: asked.models.get(role) for role in roles},
        "structured": list(asked.structured),
        "cache": order.model.cache.mode if order.model.cache else "off",
    }


def making(names: Sequence[str], study: str = "") -> Callable[[Order, Path], Sequence[str]]:
    """Stages one and two for some methods; the study is named where its folder has another name."""

    def make(order: Order, folder: Path) -> Sequence[str]:
        generate(names, order, folder, study)
        judge_rows(read_rows(folder), order.model, folder, repeats=order.repeats)
        return ()

    return make


def generate(names: Sequence[str], order: Order, folder: Path, study: str = "") -> None:
    """Append the rows that are missing.

    Raises
    ------
    InputError
        As :func:`run`; rows whose requests were all answered are on disk.
    """
    request = order.request
    path, config = folder / ROWS, settings(study or folder.name, order, ROLES)
    drop_half_line(path)
    done = {cell_of(row) for row in read_rows(folder)}
    wanted = cells(names, request)
    missing = [cell for cell in wanted if cell not in done]
    settle(folder, config, whole=not missing)
    failed = []
    with path.open("ab") as file, progress(folder.name, len(wanted), len(wanted) - len(missing)) as advance:
        for goals in _batches(list(dict.fromkeys(cell.goal for cell in missing))):
            written = write_rows([cell for cell in missing if cell.goal in goals], request, order.model)
            whole = [one.row for one in written if not one.unanswered]
            append(file, whole)
            advance(len(whole))
            failed += [answer for one in written for answer in one.unanswered]
            if order.model.costs.stopped:
                break
    refuse_unanswered(failed)


def _batches(goals: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(goals), GOALS):
        yield goals[start : start + GOALS]
