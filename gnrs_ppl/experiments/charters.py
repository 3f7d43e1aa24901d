"""RealCharter-Bench on the runner: rows of ``realcharter`` kept one by one, its table beside the paper's two (Tables realcharter)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gnrs_ppl.benchmarks.realcharter import card, cards
from gnrs_ppl.calibration.weights import UNIFORM_WEIGHTS
from gnrs_ppl.experiments import realcharter
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.rows import Cell, Row, Rows
from gnrs_ppl.experiments.runner import Experiment, Report, Request, Run
from gnrs_ppl.experiments.tables import Column, Entry, Table, ends

Write = Callable[[int, int], list[realcharter.Row]]
METHODS: dict[str, Write] = {
    "No LLM candidates": lambda chains, seed: realcharter.searched("No LLM candidates", chains=chains, seed=seed),
    "No search": lambda chains, seed: realcharter.unsearched(),
    "Uniform weights": lambda chains, seed: realcharter.searched("Uniform weights", chains=chains, seed=seed, weights=UNIFORM_WEIGHTS),
    "CP-SAT": lambda chains, seed: realcharter.searched("CP-SAT", kernel="cpsat", chains=1, seed=seed),
    "Exact": lambda chains, seed: realcharter.exact(),
}
"""What ``realcharter`` runs without a model."""
CHAINED = ("No LLM candidates", "Uniform weights")
MEASURES = ("hard_ok", "rho", "slot_precision", "slot_recall", "force_kept", "steps_covered")
NAMES = dict(zip(MEASURES, realcharter.MEASURES, strict=True))


def wanted(request: Request) -> list[Cell]:
    """Every method on every card; cards are no split of the goals, and have no labels to reveal."""
    found = []
    for method in METHODS:
        for chains in request.chains if method in CHAINED else [None]:
            for seed in request.seeds if method in CHAINED else request.seeds[:1]:
                found += [Cell(method, chains, one.id, seed) for one in cards()]
    return found


def measure(method: str, cells: Sequence[Cell], request: Request) -> Iterator[Row]:
    """Rows of one method, all cards of a seed in one program."""
    for chains, seed in dict.fromkeys((cell.chains, cell.seed) for cell in cells):
        asked = {cell.goal for cell in cells if (cell.chains, cell.seed) == (chains, seed)}
        for row in METHODS[method](chains or 1, seed):
            if row.card in asked:
                yield Cell(method, chains, row.card, seed)._asdict() | _measured(row)


def _measured(row: realcharter.Row) -> Row:
    values = {name: of(row.score) for name, of in zip(MEASURES, realcharter.MEASURES.values(), strict=True)}
    counts = {name.replace(" ", "_"): count(row.score) for name, count in realcharter.COUNTS.items()}
    return {"family": card(row.card).document.title, "text": row.text, "failures": list(row.score.gate.failures), **values, **counts}


def report(run: Run) -> Report:
    """Ours beside the paper's columns; intervals over cards and over documents."""
    rows = run.rows("realcharter")
    paper = {row["method"]: row for row in published("realcharter-full-app")}
    printed = ("specificity", "executability", "fluency", "readability", "faithfulness", "HARD-OK", "OVERALL")
    entries: list[tuple[Entry, ...]] = []
    for method in [m for m in paper if m not in METHODS] + list(METHODS):
        cited = tuple(float(paper[method][c]) if method in paper else None for c in printed)
        if method not in METHODS:
            entries.append((method, "needs a model", *[None] * (len(MEASURES) + 2), *cited))
        for chains in (None, *run.request.chains):
            own = Rows([row for row in rows if row["method"] == method and row["chains"] == chains])
            if own.rows:
                found = own.estimate("hard_ok")
                entries.append(
                    (method, chains, found.mean if found else None, *ends(found, 1), *(own.mean(m) for m in MEASURES[1:]), *cited)
                )
    columns = (
        Column("method"), Column("chains", 0), Column("HARD-OK, %", 1), Column("95 % over cards"), Column("95 % over documents"),
        *(Column(NAMES[m], 1 if NAMES[m].endswith("%") else 3) for m in MEASURES[1:]), *(Column(c, 2, paper=True) for c in printed),
    )  # fmt: skip
    says = (
        "53 cards of ours: no figure is the paper's measured again. HARD-OK of No LLM candidates and No search is the same kind of "
        "quantity on other cards; rubric dimensions and OVERALL need a model. More in docs/realcharter-bench.md."
    )
    return Report([Table("realcharter", "RealCharter-Bench without a model", says, columns, entries)])


EXPERIMENT = Experiment("realcharter", "Does the search carry over to cards of real policies?", report, wanted, measure, unit="method")
