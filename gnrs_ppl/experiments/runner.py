"""A run is a folder: what was asked, a row for every cell, and the tables made of the rows.

config.json    what the rows depend on; a folder holds rows of one configuration only
rows.jsonl     one row per method, chains, goal and seed
marks.jsonl    with a model: a line per text, rubric, judge and repeat
summary.json   means by DuckDB, and what was written
tables/        Markdown, CSV and LaTeX
figures/       PNG and SVG

*Generate* appends what is missing (with a model *judge* too), *report* reads the rows. A run that was killed
goes on where it stopped. What the scripted server had a part in is no result: its tables say so in title and
file name and stand beside nothing of the paper's.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.benchmarks.realcharter import cards
from gnrs_ppl.context.files import read_data
from gnrs_ppl.context.output import STAGING, locked, write_all
from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments import plots, tables
from gnrs_ppl.experiments.rows import (
    ROWS,
    Cell,
    Row,
    append,
    cell_of,
    drop_half_line,
    means,
    progress,
    read_rows,
)
from gnrs_ppl.experiments.tables import ResultTable
from gnrs_ppl.safe_text import to_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gnrs_ppl.llm import OpenAIModel
    from gnrs_ppl.llm.roles import Role

CONFIG, SUMMARY = "config.json", "summary.json"
MADE_WITH = ("commit", "versions", "prompts")
"""Of the configuration: the program that made the rows."""
SHARED = ("chains", "seeds", "weights", "features")
"""Of the configuration: what rows of another experiment have to share to stand beside one's own."""
CARDS = "cards"
"""In the place of a split: RealCharter-Bench, which has none and no labels to reveal."""
SCRIPTED = "scripted, no result"
SAYS = (
    "Made with the scripted server in the place of a model: it shows that the figures can be computed, "
    "and nothing else."
)
ROOT = Path(__file__).resolve().parents[2]


class ExperimentRequest(NamedTuple):
    """What to run.

    Attributes
    ----------
    split : str
        dev, test or ood, of which labels of the last two need ``revealed``; or cards.
    goals : tuple of str
        All of the split unless given.
    sample : int, optional
        So many of them, drawn, the same each time.
    chains, seeds : tuples of int
    revealed : bool
    workers : int
        Processes; 1 measures in this one.
    model : OpenAIModel, optional
        Who writes and judges; stays in this process.
    generators : tuple of str
        Models of the cross-model grid; the generator of the settings unless given.
    repeats : int
        How often each text is judged.
    """

    split: str = "dev"
    goals: tuple[str, ...] = ()
    sample: int | None = None
    chains: tuple[int, ...] = (1, 64)
    seeds: tuple[int, ...] = (0, 1, 2)
    revealed: bool = False
    workers: int = 2
    model: OpenAIModel | None = None
    generators: tuple[str, ...] = ()
    repeats: int = 1

    @property
    def goal_ids(self) -> tuple[str, ...]:
        """The goals asked for, or cards."""
        found = self.goals or all_of(self.split)
        if self.sample is None or self.sample >= len(found):
            return found
        return tuple(sorted(random.Random(0).sample(found, self.sample), key=found.index))


def all_of(split: str) -> tuple[str, ...]:
    """Ids of a split's goals, or of the cards of RealCharter-Bench."""
    if split == CARDS:
        return tuple(card.id for card in cards())
    return tuple(goal.id for goal in goals() if goal.split == split)


class Report(NamedTuple):
    """Tables, figures that are drawn when they are written, and sentences on what came out; ``scripted``: no
    result.
    """

    tables: Sequence[ResultTable]
    figures: Mapping[str, Callable[[], Figure]] = {}
    notes: Sequence[str] = ()
    scripted: bool = False


@dataclass(frozen=True)
class Run:
    """What lies in the folders, as reports read it; ``names`` are the experiments whose rows may stand
    beside one's own.
    """

    request: ExperimentRequest
    out: Path
    names: frozenset[str] = frozenset()
    read: dict[tuple[str, ...], list[Row]] = field(default_factory=dict)

    def rows(self, name: str) -> list[Row]:
        """Rows of an experiment, by cell; none where it was not run."""
        return read_rows(self.out / name) if name in self.names else []

    def judged(self, name: str, *marks: str) -> list[Row]:
        """Rows of an experiment with its marks, and with those in the folders of others; none where there
        are none.
        """
        from gnrs_ppl.experiments.judging import joined, read_marks

        if (name, *marks) not in self.read:
            lines = [line for one in (name, *marks) for line in read_marks(self.out / one)]
            self.read[name, *marks] = joined(read_rows(self.out / name), lines)
        return self.read[name, *marks]

    @property
    def scripted(self) -> bool:
        """Whether the scripted server had a part in anything judged that was read."""
        return any(row["scripted"] for rows in self.read.values() for row in rows)


class Experiment(NamedTuple):
    """One table or figure of the paper, or several.

    Attributes
    ----------
    name : str
        Also of its module.
    asks : str
        The question it answers.
    report : callable
        Rows to tables and figures.
    cells : callable, optional
        The rows it wants; None where it lives on the rows of others.
    measure : callable, optional
        Rows of some cells of one unit, in any order.
    needs : tuple of str
        Experiments whose rows it reads, run first.
    split : str, optional
        The only split it is about.
    unit : "goal" or "method"
        Cells that share it are measured in one go.
    make : callable, optional
        With a model, in place of cells and measure: generates and judges into a folder, and gives sentences
        for the page.
    roles : tuple of Role
        With a model: who is asked.
    methods : tuple of str
        With a model: whose rows are made.
    """

    name: str
    asks: str
    report: Callable[[Run], Report]
    cells: Callable[[ExperimentRequest], Iterable[Cell]] | None = None
    measure: Callable[[str, Sequence[Cell], ExperimentRequest], Iterable[Row]] | None = None
    needs: tuple[str, ...] = ()
    split: str | None = None
    unit: str = "goal"
    make: Callable[[ExperimentRequest, Path], Sequence[str]] | None = None
    roles: tuple[Role, ...] = ()
    methods: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """What a run left behind."""

    folder: Path
    report: Report
    summary: dict[str, Any]


def run(
    experiment: Experiment, others: Mapping[str, Experiment], request: ExperimentRequest, out: Path
) -> Outcome:
    """Generate what an experiment and its needs lack, then report.

    Parameters
    ----------
    experiment : Experiment
    others : mapping
        Experiments by name, for its needs.
    request : ExperimentRequest
    out : Path
        Folder of folders, one per experiment.

    Raises
    ------
    InputError
        A folder holds rows of another configuration; another process is running there; a split that was not
        revealed. With a model: no key, no model for a role, the cost limit, requests that were never
        answered.
    """
    request = on_split(request, experiment.split)
    wanted = closure(experiment, others)
    if request.model is not None:
        for role in dict.fromkeys(role for one in wanted if one.make for role in one.roles):
            request.model.settings.model(role)
    with all_locked(out / one.name for one in wanted):
        notes = [note for one in wanted for note in _made(one, request, out / one.name)]
        config = configuration(experiment.name, request, experiment.roles)
        names = {one.name for one in wanted if one.cells is not None}
        if request.model is None:  # results of others that lie there are read, never made
            names |= {
                name
                for name, one in others.items()
                if name not in names and _comparable(out / name, one, config)
            }
        folder, found = out / experiment.name, Run(request, out, frozenset(names))
        report = experiment.report(found)
        report = report._replace(notes=[*report.notes, *notes])
        report = drawable(marked(report) if found.scripted else report)
        return Outcome(folder, report, write(folder, config, report, experiment.asks))


def _made(experiment: Experiment, request: ExperimentRequest, folder: Path) -> Sequence[str]:
    """What an experiment lacks, and sentences on how that went."""
    if experiment.make is not None:
        return experiment.make(request, folder)
    generate(experiment, request, folder)
    return ()


@contextmanager
def all_locked(folders: Iterable[Path]) -> Iterator[None]:
    """No other process runs an experiment in these folders meanwhile.

    Raises
    ------
    InputError
        Another does.
    """
    with ExitStack() as stack:
        for folder in folders:
            stack.enter_context(locked(folder))
        yield


def on_split(request: ExperimentRequest, only: str | None) -> ExperimentRequest:
    """The request on the only split an experiment is about.

    Raises
    ------
    InputError
        A split that was not revealed.
    """
    if only is not None:
        request = request._replace(split=only)
    if request.split not in ("dev", CARDS) and not request.revealed:
        raise InputError(
            f"{request.split} goals are held out",
            "add --reveal; the run enters the ledger",
            source="arguments",
        )
    return request


def closure(experiment: Experiment, others: Mapping[str, Experiment]) -> list[Experiment]:
    """The experiment after everything it needs."""
    found: dict[str, Experiment] = {}
    for name in experiment.needs:
        found |= {one.name: one for one in closure(others[name], others)}
    return [*found.values(), experiment]


def _comparable(folder: Path, experiment: Experiment, config: Mapping[str, Any]) -> bool:
    """Whether a folder holds rows that may stand beside those of a configuration; an experiment with a split
    of its own keeps it.
    """
    if not (folder / ROWS).is_file():
        return False
    return _differing(folder, config, SHARED if experiment.split else ("split", "goals", *SHARED)) is None


# Generate


def generate(experiment: Experiment, request: ExperimentRequest, folder: Path) -> int:
    """Append the rows that are missing; gives back how many.

    Raises
    ------
    InputError
        The folder holds rows of another configuration.
    """
    if experiment.cells is None:
        return 0

    def measured(missing: Sequence[Cell]) -> Iterator[list[Row]]:
        units: dict[str, list[Cell]] = {}
        for cell in missing:
            units.setdefault(getattr(cell, experiment.unit), []).append(cell)
        return _measured(experiment, units, request)

    return complete(
        folder,
        experiment.name,
        list(experiment.cells(request)),
        configuration(experiment.name, request),
        measured,
    )


def complete(
    folder: Path,
    what: str,
    cells: Sequence[Cell],
    config: Mapping[str, Any],
    made: Callable[[Sequence[Cell]], Iterable[Sequence[Row]]],
) -> int:
    """Append the rows that a folder lacks as they are made, some at a time; gives back how many.

    Raises
    ------
    InputError
        The folder holds rows of another configuration.
    """
    path = folder / ROWS
    drop_half_line(path)
    done = {cell_of(row) for row in read_rows(folder)}
    missing = [cell for cell in cells if cell not in done]
    settle(folder, config, whole=not missing)
    written = 0
    with path.open("ab") as file, progress(what, len(cells), len(cells) - len(missing)) as advance:
        for rows in made(missing):
            append(file, rows)
            written += len(rows)
            advance(len(rows))
    return written


def _measured(
    experiment: Experiment, missing: Mapping[str, list[Cell]], request: ExperimentRequest
) -> Iterator[list[Row]]:
    """Rows of one unit after another, as they come."""
    if request.workers < 2 or len(missing) < 2:
        for unit, cells in missing.items():
            yield _unit(experiment, unit, cells, request)
        return
    with _quiet_children():
        pool = ProcessPoolExecutor(
            min(request.workers, len(missing)), get_context("spawn"), initializer=_begin_worker
        )
        # a function with its module goes to the other process by name
        jobs = [pool.submit(_unit, experiment, unit, cells, request) for unit, cells in missing.items()]
    try:
        for job in as_completed(jobs):
            yield job.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _quiet_children() -> Iterator[None]:
    """For processes begun here: Ctrl-C is for their parent, with whom they end, and who tidies up after it
    does not talk of it.
    """
    sys.warnoptions.append("ignore::UserWarning:multiprocessing.resource_tracker")
    resource_tracker.ensure_running()  # begun later it would let the signal through again
    sys.warnoptions.pop()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _unit(experiment: Experiment, unit: str, cells: Sequence[Cell], request: ExperimentRequest) -> list[Row]:
    assert experiment.measure is not None
    rows = list(experiment.measure(unit, cells, request))
    if sorted(map(repr, cells)) != sorted(repr(cell_of(row)) for row in rows):
        raise RuntimeError(f"{experiment.name}: rows of {unit} are not the cells that were asked for")
    return rows


def _begin_worker() -> None:
    """A worker ends with its parent, and without tidying up: DuckDB's binding complains of connections that
    outlive Python.
    """
    atexit.register(os._exit, 0)
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()


def settle(folder: Path, config: Mapping[str, Any], *, whole: bool) -> None:
    """Write the configuration, or see that it is the one that is there; what the cache may do changes no row.

    Where no row is missing, the program may have moved on (``MADE_WITH``): tables are made anew of rows that
    stay what they are.

    Raises
    ------
    InputError
        The folder holds rows of another configuration.
    """
    path, rows = folder / CONFIG, folder / ROWS
    if not rows.is_file() or not rows.stat().st_size:
        if folder.is_dir() and not path.is_file():
            standing = sorted(
                entry.name
                for entry in folder.iterdir()
                if entry != rows and not entry.name.startswith(STAGING)
            )
            if standing:
                raise InputError(
                    f"holds {standing[0]!r}, which no experiment wrote",
                    "name a new folder with --out",
                    source=str(folder),
                )
        write_all(folder, [(CONFIG, _json(config))])
        return
    free = ("cache", *(MADE_WITH if whole else ()))
    other = _differing(folder, config, [key for key in config if key not in free])
    if other is not None:
        raise InputError(
            "holds rows of another configuration",
            "name another folder with --out",
            source=str(path),
            field=other,
        )


def _differing(folder: Path, config: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """The first of some keys in which a folder's configuration is another.

    Raises
    ------
    InputError
        The folder's configuration is not readable.
    """
    path = folder / CONFIG
    standing = read_data(path) if path.is_file() else {}
    return next((key for key in keys if standing.get(key) != json.loads(_json(config[key]))), None)


def configuration(name: str, request: ExperimentRequest, roles: Sequence[Role] = ()) -> dict[str, Any]:
    """What the rows depend on; the address of a model's server holds no secret."""
    from gnrs_ppl.calibration.weights import feature_hash, frozen_weights
    from gnrs_ppl.llm.prompts import FOLDER, names, prompt_hash
    from gnrs_ppl.versions import versions

    weights = frozen_weights()
    found: dict[str, Any] = {
        "experiment": name,
        "split": request.split,
        "goals": list(request.goal_ids),
        "chains": list(request.chains),
        "seeds": list(request.seeds),
        "commit": _commit(),
        "versions": versions(),
        "weights": {
            "origin": weights.origin,
            "values": list(weights.values),
            "hash": hashlib.sha256(json.dumps(weights.values).encode()).hexdigest(),
        },
        "features": feature_hash(),
        "prompts": {prompt: prompt_hash((FOLDER / prompt).read_bytes().decode()) for prompt in names()},
        "models": {},
        "cache": "off",
    }
    if request.model is None:
        return found
    asked, kept = request.model.settings, request.model.cache
    return found | {
        "server": {role: asked.server(role) for role in roles} if asked.servers else asked.base_url,
        "models": {role: asked.models.get(role) for role in roles},
        "structured": list(asked.structured),
        "cache": kept.mode if kept else "off",
    }


@cache
def _commit() -> str | None:
    """The commit, marked where the tree holds changes; None outside a checkout of this package, and without
    git.
    """
    try:
        if 'name = "gnrs-ppl"' not in (ROOT / "pyproject.toml").read_text(encoding="utf-8"):
            return None  # installed into somebody else's repository
        done = subprocess.run(
            ["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return done.stdout.strip() or None


# Report


def marked(report: Report) -> Report:
    """The report of what the scripted server made: marked, without figures and without anything of the
    paper's.
    """
    found = [_marked(table) for table in report.tables if not all(column.paper for column in table.columns)]
    return Report(found, {}, [SAYS, *report.notes], True)


def _marked(table: ResultTable) -> ResultTable:
    own = [i for i, column in enumerate(table.columns) if not column.paper]
    return ResultTable(
        f"{table.name}_scripted",
        f"{table.title} ({SCRIPTED})",
        SAYS,
        tuple(table.columns[i] for i in own),
        [tuple(row[i] for i in own) for row in table.rows],
    )


def drawable(report: Report) -> Report:
    """The report without its figures where they cannot be drawn."""
    if not report.figures or find_spec("matplotlib"):
        return report
    return report._replace(figures={}, notes=[*report.notes, "no figures: matplotlib is not installed"])


def write(folder: Path, config: Mapping[str, Any], report: Report, asks: str) -> dict[str, Any]:
    """Write tables, figures, page and summary into a run's folder; gives the summary."""
    has_rows = (folder / ROWS).is_file()
    config = read_data(folder / CONFIG) if has_rows else config
    summary = {
        "experiment": config["experiment"],
        "split": config["split"],
        "commit": config["commit"],
        "weights": config["weights"]["origin"],
        "notes": list(report.notes),
        "means": means(folder) if has_rows else [],
        "tables": [table.name for table in report.tables],
        "figures": list(report.figures),
    } | ({"scripted": True} if report.scripted else {})
    write_all(folder / "tables", [file for table in report.tables for file in tables.files(table)])
    if report.figures:
        write_all(
            folder / "figures",
            [file for name, draw in report.figures.items() for file in plots.files(name, draw())],
        )
    written = [(SUMMARY, _json(summary)), ("report.md", page(config, report, asks))]
    write_all(folder, [*([] if has_rows else [(CONFIG, _json(config))]), *written])
    return summary


def page(config: Mapping[str, Any], report: Report, asks: str) -> bytes:
    """Tables, notes and figures as one Markdown page, under the question that was asked."""
    parts = [f"# {config['experiment']}{f' ({SCRIPTED})' if report.scripted else ''}", asks]
    parts += [tables.markdown(table) for table in report.tables]
    parts += ["\n".join(f"- {note}" for note in report.notes)] if report.notes else []
    parts += [f"![{name.replace('_', ' ')}](figures/{name}.png)" for name in report.figures]
    parts.append(
        f"Split {config['split']}, {len(config['goals'])} goals, weights {config['weights']['origin']}, "
        f"commit {config['commit']}."
    )
    return (tables.on_page("\n\n".join(part.strip() for part in parts)) + "\n").encode()


def _json(data: Any) -> bytes:
    return (to_json(data) + "\n").encode()
