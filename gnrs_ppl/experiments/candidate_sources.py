"""Where candidates and selected payloads come from (paper, Table candidate-source)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnrs_ppl.candidates.build import SOURCES as DETERMINISTIC
from gnrs_ppl.experiments.judging import of_main
from gnrs_ppl.experiments.methods import BASE, METHODS, OURS, SOURCES
from gnrs_ppl.experiments.parts import METHOD, mean
from gnrs_ppl.experiments.plots import COLOURS, blank
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Line, Row, Rows, lines
from gnrs_ppl.experiments.rubric_scores import candidates
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import CellValue, Column, ColumnGroup, ResultTable, part, specified

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROPOSED, NO_LLM = "Candidates generated per test goal", "Selected payloads/run, No LLM candidates"
FULL = f"Selected payloads/run, {OURS}"
ABSENT = f"{OURS} (needs a model)"
IN_THE_PAPER = {"template": "template", "schema": "schema", "record": "record", "llm": "LLM"}
"""Our sources -> the paper's; it reads no sentences."""


def report(run: Run) -> Report:
    """Proposed per goal, and selected per run by method."""
    rows, pools = run.rows("main") + run.rows("ablations"), run.rows("pools")
    return Report(
        [proposed(pools), selected(rows, run.request)], {"payload_sources": lambda: draw(rows, run.request)}
    )


def proposed(pools: Sequence[Row]) -> ResultTable:
    """Candidates per goal by source."""
    paper = _paper(PROPOSED)
    mean = {source: sum(row[f"proposed_{source}"] for row in pools) / len(pools) for source in DETERMINISTIC}
    entries: list[tuple[CellValue, ...]] = [(name, mean[name], paper.get(name)) for name in DETERMINISTIC]
    entries.append(("LLM (needs a model)", None, paper["LLM"]))
    entries.append(
        ("dropped by the grounding filter", sum(row["dropped"] for row in pools) / len(pools), None)
    )
    says = (
        "Means per goal before candidates are merged by content. The three sources without a model can be "
        "compared; the paper counts over its 88 test goals. Its 1.3 dropped are of the LLM source; ours are "
        "of all three, each content once."
    )
    return ResultTable(
        "proposed",
        "Candidates proposed",
        says,
        (Column("source"), Column("per goal", 1), Column("per goal", 1, paper=True)),
        entries,
    )


def selected(rows: Sequence[Row], request: ExperimentRequest, full: str = ABSENT) -> ResultTable:
    """Payloads of the drafted rules by source; ``full`` is what the full method is called."""
    paper = {BASE: _paper(NO_LLM), full: _paper(FULL)}

    def printed(source: str) -> ColumnGroup[Line]:
        return part(
            source, 1, lambda line: paper[line.method][source] if line.method in paper else None, paper=True
        )

    says = (
        "Payloads per run by the sources of their candidate; a candidate that two sources proposed counts "
        "for both, and one read from the goal's sentence counts as reading. Comparable: No LLM candidates"
        f"{'' if full == ABSENT else f' and {full}'}. How the paper counts candidates of several sources is "
        "not said."
    )
    parts = [
        METHOD,
        *(mean(f"from_{source}", source, 2) for source in SOURCES),
        *(printed(source) for source in IN_THE_PAPER.values()),
    ]
    searched = [row for row in rows if "from_template" in row]
    found = lines(searched, dict.fromkeys([*METHODS, full, *(row["method"] for row in rows)]), request.chains)
    found += [Line(full, None, Rows([]))] if full == ABSENT else []
    return specified("selected", "Payloads selected", says, found, parts)


def _paper(quantity: str) -> dict[str, float | None]:
    row = next(row for row in published("candidate-source-app") if row["quantity"] == quantity)
    return {name: None if row[name] == "–" else float(row[name]) for name in IN_THE_PAPER.values()}


def with_model(run: Run) -> Report:
    """Selected payloads by source, a model's among them, and what was kept and dropped of its proposals."""
    rows = of_main(run)
    return Report([selected(rows, run.request, OURS), candidates(rows, run.request)])


def draw(rows: Sequence[Row], request: ExperimentRequest) -> Figure:
    """Payloads by source for every method."""
    chains = max(request.chains)
    found = [(name, own) for name, c, own, _ in lines(rows, METHODS, request.chains) if c in (None, chains)]
    figure = blank(7.5, 0.6 * len(found) + 1.2)
    axes = figure.add_subplot()
    for i, source in enumerate(SOURCES):
        places = [place + 0.17 * (i - 2) for place in range(len(found))]
        axes.barh(
            places,
            [own.mean(f"from_{source}") or 0.0 for _, own in found],
            height=0.17,
            color=COLOURS[i],
            label=source,
        )
    axes.set_yticks(range(len(found)), [name for name, _ in found])
    axes.invert_yaxis()
    axes.set_xlabel(f"payloads per rule by source of their candidate (chains: {chains})")
    axes.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
    return figure


EXPERIMENT = Experiment(
    "candidate_sources",
    "Which sources do candidates and chosen payloads come from?",
    report,
    needs=("main", "ablations", "pools"),
)
WITH_MODEL = EXPERIMENT._replace(report=with_model, needs=())
