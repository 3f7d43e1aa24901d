"""Two runs of one experiment side by side: paired differences per goal, flipped goals first."""

from __future__ import annotations

from pathlib import Path

from gnrs_ppl.context.files import read_data
from gnrs_ppl.errors import InputError
from gnrs_ppl.experiments.bootstrap import MEASURES
from gnrs_ppl.experiments.rows import ROWS, Row, of, read_rows
from gnrs_ppl.experiments.runner import CONFIG
from gnrs_ppl.experiments.statistics import paired
from gnrs_ppl.experiments.tables import CellValue, ResultTable, ends, heads


def compare(first: Path, second: Path) -> list[ResultTable]:
    """What the second run has and the first has not, method by method.

    Parameters
    ----------
    first, second : Path
        Folders of runs, such as ``out/dev/main``.

    Raises
    ------
    InputError
        A folder without rows, or no method on a goal that both have.
    """
    a, b = _rows(first), _rows(second)
    common = [key for key in _methods(a) if key in _methods(b)]
    if not any(paired(of(a, *key).by_goal("hard_ok"), of(b, *key).by_goal("hard_ok")) for key in common):
        raise InputError(
            "the runs share no method on a goal",
            "compare runs of one experiment",
            source=f"{first}, {second}",
        )
    says = (
        f"{second} less {first}: {_difference(first, second)}. Paired by goal, seeds averaged within a "
        "goal. Nothing here is the paper's."
    )
    return [_means(a, b, common, says), _goals(a, b, common, says)]


def _rows(folder: Path) -> list[Row]:
    rows = read_rows(folder)
    if not rows:
        raise InputError(
            "holds no rows", "name the folder of a run, such as out/dev/main", source=str(folder / ROWS)
        )
    return rows


def _methods(rows: list[Row]) -> list[tuple[str, int | None]]:
    return list(dict.fromkeys((row["method"], row["chains"]) for row in rows))


def _difference(first: Path, second: Path) -> str:
    """What their configurations differ in."""
    a, b = (read_data(folder / CONFIG) for folder in (first, second))
    names = [key for key in a if a[key] != b.get(key)]
    return f"they differ in {', '.join(names)}" if names else "their configurations are the same"


def _means(a: list[Row], b: list[Row], common: list[tuple[str, int | None]], says: str) -> ResultTable:
    entries: list[tuple[CellValue, ...]] = []
    for method, chains in common:
        for measure, (name, scale, digits) in MEASURES.items():
            before, after = of(a, method, chains), of(b, method, chains)
            if found := before.change(after, measure, scale):
                each = paired(before.by_goal(measure), after.by_goal(measure))
                moved = sum(abs(scale * value) > 1e-12 for value in each.values())
                entries.append((method, chains, name, found.goals, moved, found.mean, *ends(found, digits)))
    columns = heads(
        "method | chains:0 | measure | goals:0 | of them changed:0 | difference:3 | 95 % over goals | "
        "95 % over families"
    )
    return ResultTable("differences", "Differences of two runs", says, columns, entries)


def _goals(a: list[Row], b: list[Row], common: list[tuple[str, int | None]], says: str) -> ResultTable:
    """Goals whose HARD-OK changed first, then by the change of audit F1; goals where nothing changed are
    left out.
    """
    found = []
    for method, chains in common:
        before, after = of(a, method, chains), of(b, method, chains)
        gates, f1s = (paired(before.by_goal(m), after.by_goal(m)) for m in ("hard_ok", "audit_f1"))
        for goal in gates | f1s:  # cards have no audit F1
            gate, f1 = abs(gates.get(goal, 0.0)), abs(f1s.get(goal, 0.0))
            if gate or f1:
                entry = (
                    goal,
                    method,
                    chains,
                    *(rows.by_goal(m).get(goal) for m in ("hard_ok", "audit_f1") for rows in (before, after)),
                )
                found.append((-gate, -f1, goal, method, chains or 0, entry))
    columns = heads(
        "goal | method | chains:0 | HARD-OK, first:2 | HARD-OK, second:2 | audit F1, first:3 | "
        "audit F1, second:3"
    )
    return ResultTable(
        "goals",
        "Goals that changed, flips of HARD-OK first",
        says,
        columns,
        [entry for *_, entry in sorted(found, key=lambda f: f[:5])],
    )
