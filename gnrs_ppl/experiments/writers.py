"""The methods that need a model, beside those of the main table that do not, one line each (paper, tables
main and ablation).

Rows of all of them hold the same: the text as people see it, what it is worth, and which calls it took. The
gate is computed from the structure that a search chose, or from the structure that the text of a baseline is
read back as.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from gnrs_ppl.candidates.proposed import Proposed, asked, kept
from gnrs_ppl.context.load import Context
from gnrs_ppl.evaluate.model_parser import Parsed, parse_texts
from gnrs_ppl.evaluate.rubrics import refuse_unanswered
from gnrs_ppl.experiments import baselines
from gnrs_ppl.experiments.baselines import Baseline, Task, write_rules
from gnrs_ppl.experiments.bench import GoalBench
from gnrs_ppl.experiments.judging import judge_rows
from gnrs_ppl.experiments.methods import (
    BASE,
    MAIN,
    METHODS,
    OURS,
    SEARCHED,
    UNSEARCHED,
    Drafter,
    SearchMethod,
    cells,
    without_log,
)
from gnrs_ppl.experiments.rows import Cell, Row, RowWithAnswers, read_rows
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run, complete, configuration
from gnrs_ppl.llm.client import Answer, ask
from gnrs_ppl.llm.roles import Role
from gnrs_ppl.realize.polish import RenderedRule, Version, polish
from gnrs_ppl.rule.types import Structure

if TYPE_CHECKING:
    from pathlib import Path

    from gnrs_ppl.llm import Model, OpenAIModel

GOALS = 2
"""Goals whose rows are made, and are on disk, together."""
ROLES: tuple[Role, ...] = ("generator", "polisher", "parser", "judge")
"""Who makes and marks rows."""
POLISH: Version = "v1"
ABLATED = (
    "Uniform weights",
    SEARCHED,
    UNSEARCHED,
    "No hard penalty",
    "100 search steps",
    "AND-only evidence",
    "CP-SAT control",
)
"""The variants of the paper's ablation table, its random candidates in both readings."""
NO_POLISH, PLAIN = "No polish", "Polish v2"
POLISHES = (NO_POLISH, PLAIN)
"""The full method with another polish, or none."""


class Writer(NamedTuple):
    """A method.

    Attributes
    ----------
    name : str
    says : str
        What is switched off, or what a baseline does.
    method : SearchMethod or None
        How structures are searched; None for a baseline.
    baseline : Baseline or None
    candidates : bool
        Whether a model proposes candidates.
    polish : {"v1", "v2"} or None
        How a model polishes the text.
    """

    name: str
    says: str
    method: SearchMethod | None = None
    baseline: Baseline | None = None
    candidates: bool = False
    polish: Version | None = None

    @property
    def asks(self) -> bool:
        """Whether a model has a part in it."""
        return self.baseline is not None or self.candidates or self.polish is not None

    @property
    def runs_chains(self) -> bool:
        """Whether a number of chains means anything to it."""
        return self.method is not None and self.method.runs_chains

    @property
    def seeded(self) -> bool:
        """Whether another seed may give another rule."""
        return self.method is None or self.asks or self.method.seeded

    @property
    def least(self) -> int:
        """Fewest chains that its kernel runs with."""
        return self.method.least if self.method else 1


_BASELINES = {
    "Direct Prompting": "one call, text only",
    "Structured Outputs": "one call, five slots as JSON, then the text",
    "Best-of-N": "eight Structured Outputs, the one with the greatest s_search",
    "Self-Refine": "a Structured Output and at most two refinements",
    "In-Context Grounding": "a Structured Output that sees excerpts of the log",
    "Norm Synthesis": "CRSEC's creation and representation of norms in one call",
    "Constrained Decoding": "a Structured Output with names from closed lists; the paper has no row of it",
}
WRITERS: dict[str, Writer] = {
    one.name: one
    for one in (
        *(Writer(name, says, baseline=baselines.METHODS[name]) for name, says in _BASELINES.items()),
        Writer(OURS, "nothing", METHODS[BASE], None, True, POLISH),
        Writer(BASE, "the model's candidates", METHODS[BASE], None, False, POLISH),
        *(
            Writer(name, METHODS[name].off, METHODS[name], None, True, POLISH)
            for name in (*MAIN[1:], *ABLATED)
        ),
        Writer(NO_POLISH, "polish: the text is the renderer's", METHODS[BASE], None, True, None),
        Writer(PLAIN, "polish v1: v2, plain language", METHODS[BASE], None, True, "v2"),
    )
}
"""By name. Every variant of GNRS-Search has its candidates and its polish, and differs in what it says alone.
"""
VARIANTS = (
    f"{OURS} searches 200 steps over candidates of all sources, a model's among them, and its text is "
    f"polished ({POLISH}). Every variant has all of that but what its line says; baselines have none of it."
)
MAIN_TABLE = (*_BASELINES, *MAIN[1:], BASE, OURS)
"""In the order of the paper's main table."""


def making(
    names: Sequence[str], experiment: str = "", write: Write | None = None
) -> Callable[[ExperimentRequest, Path], Sequence[str]]:
    """Rows and marks of some methods; the experiment is named where its folder has another name, ``write``
    where it is not :func:`write_rows`.
    """

    def make(request: ExperimentRequest, folder: Path) -> Sequence[str]:
        return generate(cells(names, request, WRITERS), request, folder, experiment, write)

    return make


def study(
    name: str,
    asks: str,
    report: Callable[[Run], Report],
    names: Sequence[str],
    write: Write | None = None,
    needs: tuple[str, ...] = (),
    split: str | None = None,
) -> Experiment:
    """An experiment of some methods; arguments as for :class:`~gnrs_ppl.experiments.runner.Experiment` and
    :func:`making`.
    """
    make = making(names, write=write)
    return Experiment(
        name, asks, report, needs=needs, split=split, make=make, roles=ROLES, methods=tuple(names)
    )


Write = Callable[[Sequence[Cell], ExperimentRequest, "Model"], list[RowWithAnswers]]
"""Rows of some cells in their order."""


def model_of(request: ExperimentRequest) -> OpenAIModel:
    """The model of a request that has one."""
    assert request.model is not None
    return request.model


def generate(
    wanted: Sequence[Cell],
    request: ExperimentRequest,
    folder: Path,
    experiment: str = "",
    write: Write | None = None,
) -> Sequence[str]:
    """Append the rows and the marks that are missing; no sentence for the page.

    Raises
    ------
    InputError
        As :func:`~gnrs_ppl.experiments.runner.run`; rows whose requests were all answered are on disk.
    """
    model, failed = model_of(request), list[Answer[Any]]()

    def made(missing: Sequence[Cell]) -> Iterator[list[Row]]:
        goals = list(dict.fromkeys(cell.goal for cell in missing))
        for start in range(0, len(goals), GOALS):
            written = (write or write_rows)(
                [cell for cell in missing if cell.goal in goals[start : start + GOALS]], request, model
            )
            failed.extend(answer for one in written for answer in one.unanswered)
            yield [one.row for one in written if not one.unanswered]
            if model.costs.stopped:
                return

    complete(folder, folder.name, wanted, configuration(experiment or folder.name, request, ROLES), made)
    refuse_unanswered(failed)
    judge_rows(read_rows(folder), model, folder, repeats=request.repeats)
    return ()


def write_rows(wanted: Sequence[Cell], request: ExperimentRequest, model: Model) -> list[RowWithAnswers]:
    """Rows of some cells in their order; the calls of a kind are made at once, as many at a time as the
    client allows.

    Raises
    ------
    InputError
        Bad configuration of the model; what was answered is in its cache.
    """
    benches = {
        goal: GoalBench(goal, revealed=request.revealed)
        for goal in dict.fromkeys(cell.goal for cell in wanted)
    }
    proposed = _proposed([cell for cell in wanted if WRITERS[cell.method].candidates], benches, model)
    found = prompted(
        [cell for cell in wanted if WRITERS[cell.method].baseline],
        baselines.METHODS,
        lambda goal: benches[goal].context,
        lambda cell, text, parsed: benches[cell.goal].read_back(text, parsed),
        model,
    )
    found |= _searched([cell for cell in wanted if WRITERS[cell.method].method], benches, proposed, model)
    return [found[cell] for cell in wanted]


# Baselines


def prompted(
    wanted: Sequence[Cell],
    methods: Mapping[str, Baseline],
    context: Callable[[str], Context],
    row: Callable[[Cell, str, Parsed], Row],
    model: Model,
) -> dict[Cell, RowWithAnswers]:
    """Rows of prompting methods, whose texts are read back; one that is missing fills no slot.

    ``context(goal)`` is what a method is shown, ``row(cell, text, parsed)`` what its text is worth.
    """
    tasks = [Task(methods[cell.method], context(cell.goal), cell.seed) for cell in wanted]
    results = write_rules(tasks, model)
    read = parse_texts([(one.text, task.context) for one, task in zip(results, tasks, strict=True)], model)
    found = {}
    for cell, result, parsed in zip(wanted, results, read, strict=True):
        answers = (*result.calls, *([parsed.answer] if parsed.answer else []))
        found[cell] = with_calls(cell, row(cell, result.text, parsed), answers)
    return found


# Search


class Key(NamedTuple):
    """What a model is asked for proposals by."""

    goal: str
    seed: int
    log: bool


def _key(cell: Cell) -> Key:
    method = WRITERS[cell.method].method
    assert method is not None
    return Key(cell.goal, cell.seed, method.log)


def _proposed(wanted: Iterable[Cell], benches: Mapping[str, GoalBench], model: Model) -> dict[Key, Proposed]:
    """A model's candidates; what a method does not see is not shown to its model either."""
    keys = list(dict.fromkeys(map(_key, wanted)))
    contexts = [
        benches[key.goal].context if key.log else without_log(benches[key.goal].context) for key in keys
    ]
    answers = ask(model, [asked(context, key.seed) for context, key in zip(contexts, keys, strict=True)])
    found = zip(keys, answers, contexts, strict=True)
    return {key: kept(answer, context) for key, answer, context in found}


def _searched(
    wanted: Sequence[Cell], benches: Mapping[str, GoalBench], proposed: Mapping[Key, Proposed], model: Model
) -> dict[Cell, RowWithAnswers]:
    plain = cache(lambda goal: Drafter(benches[goal]))
    drafters = {key: Drafter(benches[key.goal], said.proposals) for key, said in proposed.items()}
    found = {}
    for cell in wanted:
        writer = WRITERS[cell.method]
        assert writer.method is not None
        said = proposed[_key(cell)] if writer.candidates else None
        drafter = drafters[_key(cell)] if said else plain(cell.goal)
        row = drafter.row(writer.method, cell.chains, cell.seed)
        row.setdefault("text", "")
        found[cell] = with_calls(cell, row | (said.counted() if said else {}), (said.answer,) if said else ())
    versions = {cell: WRITERS[cell.method].polish for cell in found}
    asked = {cell: one for cell, one in versions.items() if one}
    return found | polished(found, asked, partial(rule_on, benches), model)


def polished(
    found: Mapping[Cell, RowWithAnswers],
    versions: Mapping[Cell, Version],
    rule: Callable[[Cell, Row], RenderedRule],
    model: Model,
) -> dict[Cell, RowWithAnswers]:
    """The rows of those cells that have a text, polished; those of a version and seed at once.

    ``rule(cell, row)`` is the rule that a row's text renders.
    """
    done = {}
    wanted = [cell for cell in versions if found[cell].row["text"]]
    for seed, version in dict.fromkeys((cell.seed, versions[cell]) for cell in wanted):
        some = [cell for cell in wanted if (cell.seed, versions[cell]) == (seed, version)]
        rules = [rule(cell, found[cell].row) for cell in some]
        for cell, outcome in zip(some, polish(rules, model, version, seed=seed), strict=True):
            row, answers = found[cell]
            told = {
                "text": outcome.text,
                "unpolished": row["text"],
                "polish": outcome.outcome,
                "lost": list(outcome.lost),
            }
            done[cell] = with_calls(cell, row | told, (*answers, *outcome.answers))
    return done


def rule_on(benches: Mapping[str, GoalBench], cell: Cell, row: Row) -> RenderedRule:
    """The rule of a row, in the words of its goal."""
    bench = benches[cell.goal]
    return RenderedRule(
        Structure.model_validate(row["structure"]),
        row["text"],
        bench.lexicon,
        bench.context.records.dates_only,
    )


def with_calls(cell: Cell, row: Row, answers: tuple[Answer[Any], ...]) -> RowWithAnswers:
    """The row with its calls; the words of an answer stay in the cache."""
    calls = [{name: value for name, value in answer.record().items() if name != "text"} for answer in answers]
    return RowWithAnswers(
        cell._asdict() | row | {"calls": calls, "scripted": any(answer.scripted for answer in answers)},
        answers,
    )
