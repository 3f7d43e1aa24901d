"""The optimum of s_search, or a bound on it, by OR-Tools' CP-SAT (Perron and Furnon, OR-Tools,
developers.google.com/optimization).

The model, in integers of 1 / ``SCALE``:

- one Boolean per option, exactly one of a variable. Of options that are alike in every pair table and flag
  only the one of greatest unary score is kept: some optimum uses no other.
- A pair table's rows that are equal share one Boolean, and so do its columns; real tables have few distinct
  ones. What a row or a column alone contributes moves into the unary scores, which leaves zeros.
- What is left of a pair table has one of two forms. *Rows*, in spaces of at most ``ROWS_LIMIT`` structures,
  which a search by propagation exhausts: an integer t and, for each row, t <= the row's entry of the chosen
  column, enforced where the row is chosen. *Local polytope*, in larger ones, where only a good linear
  relaxation gives a bound: a Boolean for each row and column, one of them in every chosen row and in every
  chosen column.
- One Boolean for "some flag is up", forced by flagged options and, for each row of a flag table, unless one
  of the row's free columns is chosen; it costs lambda once.

Error of the scaling. The integers are rounded, so the scaled score of a structure differs from s_search by at
most the sum over all tables of the largest rounding error in each, below (V + P + 1) / (2 SCALE).
``Solved.bound`` has that sum added and is a bound on s_search itself; "optimal" means that no structure is
better by more than twice that sum.

Measured on two cores with two workers: the five slots of a benchmark goal 0.05 s, five slots of 24 options
with dense random tables 0.2 s (2 s with the local polytope), 32 coupled rules of 64 options 5 to 15 s. The
subsolvers matter most: OR-Tools' own choice for two workers leaves 8 % between score and bound after 30 s on
16 coupled rules, which these prove in 2 s.

Examples
--------
>>> import numpy as np
>>> from gnrs_ppl.models.energy import contract
>>> from gnrs_ppl.models.space import build_space
>>> tables = contract(build_space([[0, 1], [0, 0]], unary=[[[0.5], [0.0]], [[0.5], [0.25]]]), np.array([1.0]))
>>> found = solve(tables)
>>> found.position.tolist(), found.score, found.status
([0, 0], 1.0, 'optimal')
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.typing import NDArray

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.result import NO_MOVE, Chains, check_request
from gnrs_ppl.models.energy import Tables

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

SCALE = 1e6
"""Integer units per unit of score."""
LARGEST_SUM = 2.0**50
"""Greatest scaled score: float64, in which the solver reports bounds, holds it exactly. Larger tables get a
smaller scale."""
ROWS_LIMIT = 10**8
"""Most structures of a space whose pair tables are modelled by rows."""
SUBSOLVERS = ("max_lp", "reduced_costs")
"""The full searches of the portfolio, first come first served; workers left over look for solutions (see the
measurements above)."""

Status = Literal["optimal", "feasible", "unknown"]


class Incumbent(NamedTuple):
    """A solution better than those before: seconds since the solver was started, score within the scaling
    error.
    """

    seconds: float
    score: float


class Solved(NamedTuple):
    """What the solver found.

    Attributes
    ----------
    position : (V,) int32
        The best structure found; where none was found in time, the option of greatest unary score of each
        variable.
    score : float
        Its s_search, added up in float64 from the tables.
    feasible : bool
    bound : float
        No structure has a greater s_search.
    status : {"optimal", "feasible", "unknown"}
        Optimal: no structure is better by more than twice the scaling error. Unknown: the time was over
        before a structure was found.
    build_seconds, solve_seconds : float
        Making the model (not under the time limit), and solving it.
    incumbents : tuple of Incumbent
        When the solver found what.
    """

    position: Int[NDArray[np.int32], " V"]
    score: float
    feasible: bool
    bound: float
    status: Status
    build_seconds: float
    solve_seconds: float
    incumbents: tuple[Incumbent, ...]


class _Factor(NamedTuple):
    """A pair of variables and its table; scores in integer units, or flags."""

    left: int
    right: int
    table: NDArray[Any]


class _Scaled(NamedTuple):
    """The tables without padding in integer units of 1 / scale, and how far a scaled score can be from
    s_search.
    """

    scale: float
    error: float
    unary: list[NDArray[np.int64]]
    unary_flags: list[NDArray[np.bool_]]
    scores: list[_Factor]
    flags: list[_Factor]
    penalty: int


def solve(tables: Tables, *, seconds: float = 10.0, workers: int = 2, seed: int = 0) -> Solved:
    """Find a structure of greatest s_search, and prove it where time allows.

    Parameters
    ----------
    tables : Tables
    seconds : float
        Time limit of the solver; building the model comes on top.
    workers : int
        Threads. With one the result repeats unless the time limit ends it; with more it need not.
    seed : int
        0 to 2^31 - 1.

    Raises
    ------
    InputError
        When OR-Tools is not installed, for numbers out of range, and for scores that are not finite.
    """
    if not (math.isfinite(seconds) and seconds > 0):
        raise InputError(
            f"{seconds} seconds are no time limit",
            "give a positive number",
            source="arguments",
            field="seconds",
        )
    if workers < 1:
        raise InputError(f"{workers} workers", "give at least 1", source="arguments", field="workers")
    if not 0 <= seed < 2**31:
        raise InputError(
            f"{seed} is no seed",
            f"give a whole number from 0 to {2**31 - 1}",
            source="arguments",
            field="seed",
        )
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        remedy = "pip install 'gnrs-ppl[solver]', or use --kernel exact or metropolis"
        raise InputError("cpsat needs OR-Tools, which is not installed", remedy) from None

    began = time.perf_counter()
    scaled = _scale(tables)
    kept = _without_twins(scaled)
    model = _Model(cp_model.CpModel(), _restrict(scaled, kept))
    built = time.perf_counter()

    class Watch(cp_model.CpSolverSolutionCallback):
        def __init__(self) -> None:
            super().__init__()
            self.found: list[Incumbent] = []

        def on_solution_callback(self) -> None:
            self.found.append(Incumbent(time.perf_counter() - built, self.objective_value / scaled.scale))

    solver, watch = cp_model.CpSolver(), Watch()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    solver.parameters.catch_sigint_signal = (
        False  # it would take Ctrl-C for a time limit, and the handler away
    )
    solver.parameters.linearization_level = (
        2  # what max_lp has, for a single worker, which runs no subsolvers
    )
    solver.parameters.subsolvers.extend(SUBSOLVERS)
    code = solver.solve(model.model, watch)
    ended = time.perf_counter()

    bound = _trivial_bound(scaled)
    position = np.array([table.argmax() for table in scaled.unary], np.int32)
    status: Status = "unknown"
    if code in (
        cp_model.OPTIMAL,
        cp_model.FEASIBLE,
    ):  # otherwise the solver's bound may be a 0 that bounds nothing
        status = "optimal" if code == cp_model.OPTIMAL else "feasible"
        bound = min(bound, solver.best_objective_bound / scaled.scale)
        chosen = [
            next(o for o, literal in enumerate(literals) if solver.boolean_value(literal))
            for literals in model.options
        ]
        position = np.array([options[o] for options, o in zip(kept, chosen, strict=True)], np.int32)
    elif code != cp_model.UNKNOWN:
        raise RuntimeError(f"CP-SAT: {solver.status_name(code)} {model.model.validate()}")
    score, feasible = _evaluate(tables, position)
    return Solved(
        position,
        score,
        feasible,
        max(bound + scaled.error, score),
        status,
        built - began,
        ended - built,
        tuple(watch.found),
    )


def solver_chains(
    tables: Tables,
    *,
    chains: int,
    steps: int,
    temperature: float,
    seed: int,
    superchains: int | None = None,
    stream: int = 0,
    seconds: float = 10.0,
    workers: int = 1,
) -> Chains:
    """Give the solver's structure as one chain of one draw, with its bound; how many chains and steps were
    asked for has no meaning here.

    One worker unless more are asked for, so that a seed gives the same structure again.

    Raises
    ------
    InputError
        As :func:`solve`.
    """
    check_request(
        tables, chains=chains, steps=steps, temperature=temperature, seed=seed, superchains=superchains
    )
    found = solve(tables, seconds=seconds, workers=workers, seed=seed % 2**31)
    position, score, feasible = found.position[None], np.array([found.score]), np.array([found.feasible])
    return Chains(
        positions=position[:, None],
        score=score[:, None],
        feasible=feasible[:, None],
        move=np.full((1, 1), NO_MOVE, np.int8),
        accepted=np.ones((1, 1), bool),
        starts=position,
        start_score=score,
        start_feasible=feasible,
        superchain=np.zeros(1, np.int32),
        kernel="cpsat",
        temperature=temperature,
        seed=seed,
        energy_evaluations=1,
        wall_seconds=found.build_seconds + found.solve_seconds,
        compile_seconds=0.0,
        bound=found.bound,
    )


class _Model:
    """The CP-SAT model and the Booleans of its options."""

    def __init__(self, model: cp_model.CpModel, scaled: _Scaled) -> None:
        from ortools.sat.python.cp_model import LinearExpr

        self.model, self._weighted_sum = model, LinearExpr.weighted_sum
        self.options = [[model.new_bool_var("") for _ in table] for table in scaled.unary]
        for literals in self.options:
            model.add_exactly_one(literals)
        self._classes: dict[tuple[int, bytes], list[Any]] = {}
        self._terms: list[Any] = []
        self._coefficients: list[int] = []
        self._add_flags(scaled)
        unary, constant = [table.copy() for table in scaled.unary], 0
        by_rows = math.prod(len(table) for table in unary) <= ROWS_LIMIT
        for left, right, table in scaled.scores:
            rows, columns = _classes(table), _classes(table.T)
            rest = table[_first(rows)][:, _first(columns)]
            # A row's least entry belongs to the row alone, then a column's to the column: no score changes
            # and zeros appear.
            alone = rest.min(1)
            rest = rest - alone[:, None]
            unary[left] += alone[rows]
            alone = rest.min(0)
            rest = rest - alone
            unary[right] += alone[columns]
            if rest.any():
                add = self._add_rows if by_rows else self._add_polytope
                add(self._literals(left, rows), self._literals(right, columns), rest)
        for literals, table in zip(self.options, unary, strict=True):
            constant += int(table.min())
            self._terms += literals
            self._coefficients += (table - table.min()).tolist()
        model.maximize(self._weighted_sum(self._terms, self._coefficients) + constant)

    def _literals(self, variable: int, classes: NDArray[np.int64]) -> list[Any]:
        """A Boolean per class of a variable's options; shared by tables that divide the variable alike."""
        key = (variable, classes.tobytes())
        if key not in self._classes:
            literals: list[Any] = []
            for members in (np.flatnonzero(classes == c).tolist() for c in range(classes.max() + 1)):
                options = [self.options[variable][o] for o in members]
                literals.append(options[0] if len(options) == 1 else self.model.new_bool_var(""))
                if len(options) > 1:
                    self.model.add_exactly_one([*options, ~literals[-1]])
            self._classes[key] = literals
        return self._classes[key]

    def _add_flags(self, scaled: _Scaled) -> None:
        raised = self.model.new_bool_var("")
        self._terms.append(raised)
        self._coefficients.append(-scaled.penalty)
        for literals, flagged in zip(self.options, scaled.unary_flags, strict=True):
            for o in np.flatnonzero(flagged).tolist():
                self.model.add_implication(literals[o], raised)
        for left, right, table in scaled.flags:
            rows, columns = _classes(table), _classes(table.T)
            row_literals, column_literals = self._literals(left, rows), self._literals(right, columns)
            for literal, flagged in zip(row_literals, table[_first(rows)][:, _first(columns)], strict=True):
                if flagged.any():
                    free = [column_literals[c] for c in np.flatnonzero(~flagged).tolist()]
                    self.model.add_bool_or([~literal, raised, *free])

    def _add_rows(self, rows: list[Any], columns: list[Any], table: NDArray[np.int64]) -> None:
        worth = self.model.new_int_var(0, int(table.max()), "")
        for literal, row in zip(rows, table, strict=True):
            self.model.add(worth <= self._weighted_sum(columns, row.tolist())).only_enforce_if(literal)
        self._terms.append(worth)
        self._coefficients.append(1)

    def _add_polytope(self, rows: list[Any], columns: list[Any], table: NDArray[np.int64]) -> None:
        both = [[self.model.new_bool_var("") for _ in columns] for _ in rows]
        for literal, cells in zip(rows, both, strict=True):
            self.model.add_exactly_one([*cells, ~literal])
        for j, literal in enumerate(columns):
            self.model.add_exactly_one([*(cells[j] for cells in both), ~literal])
        for i, j in np.argwhere(table).tolist():
            self._terms.append(both[i][j])
            self._coefficients.append(int(table[i, j]))


def _scale(tables: Tables) -> _Scaled:
    """Round the tables, without their padding, to integers."""
    sizes = [int(size) for size in tables.sizes]
    unary = [np.asarray(tables.unary, np.float64)[v, :size] for v, size in enumerate(sizes)]
    pairs = [
        (p, left, right) for p, (left, right) in enumerate(np.asarray(tables.pairs).tolist()) if left != right
    ]  # padding is (0, 0)
    pairwise = [
        np.asarray(tables.pairwise, np.float64)[p, : sizes[left], : sizes[right]] for p, left, right in pairs
    ]
    flags = [np.asarray(tables.pair_flags)[p, : sizes[left], : sizes[right]] for p, left, right in pairs]
    penalty = np.asarray(tables.penalty, np.float64)
    every = [*unary, *pairwise, penalty]
    total = sum(float(np.abs(table).max()) for table in every)
    if not math.isfinite(total):
        raise InputError(
            "the scores are not finite",
            "look for NaN or infinite weights and features",
            source="tables",
            field="unary",
        )
    scale = SCALE if total * SCALE <= LARGEST_SUM else LARGEST_SUM / total
    rounded = [np.rint(table * scale).astype(np.int64) for table in every]
    error = sum(
        float(np.abs(whole / scale - table).max()) for whole, table in zip(rounded, every, strict=True)
    )
    return _Scaled(
        scale=scale,
        error=error,
        unary=rounded[: len(sizes)],
        unary_flags=[np.asarray(tables.unary_flags)[v, :size] for v, size in enumerate(sizes)],
        scores=[
            _Factor(left, right, table)
            for (_, left, right), table in zip(pairs, rounded[len(sizes) : -1], strict=True)
        ],
        flags=[
            _Factor(left, right, table)
            for (_, left, right), table in zip(pairs, flags, strict=True)
            if table.any()
        ],
        penalty=int(rounded[-1]),
    )


def _without_twins(scaled: _Scaled) -> list[NDArray[np.int64]]:
    """Options of each variable, one for each way of acting on the other variables: that of greatest unary
    score.
    """
    acts: list[list[NDArray[Any]]] = [[flagged] for flagged in scaled.unary_flags]
    for left, right, table in (*scaled.scores, *scaled.flags):
        acts[left].append(_classes(table))
        acts[right].append(_classes(table.T))
    kept = []
    for columns, unary in zip(acts, scaled.unary, strict=True):
        alike = _classes(np.stack(columns, axis=1).astype(np.int64))
        best_first = np.lexsort((-unary, alike))
        kept.append(np.sort(best_first[_first(alike[best_first])]))
    return kept


def _restrict(scaled: _Scaled, kept: list[NDArray[np.int64]]) -> _Scaled:
    def cut(factor: _Factor) -> _Factor:
        return factor._replace(table=factor.table[np.ix_(kept[factor.left], kept[factor.right])])

    return scaled._replace(
        unary=[table[options] for table, options in zip(scaled.unary, kept, strict=True)],
        unary_flags=[flagged[options] for flagged, options in zip(scaled.unary_flags, kept, strict=True)],
        scores=[cut(factor) for factor in scaled.scores],
        flags=[cut(factor) for factor in scaled.flags],
    )


def _classes(table: NDArray[Any]) -> NDArray[np.int64]:
    """Number of each row's class, in order of appearance; equal rows are of one class."""
    numbers: dict[bytes, int] = {}
    return np.array(
        [numbers.setdefault(row.tobytes(), len(numbers)) for row in np.ascontiguousarray(table)], np.int64
    )


def _first(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """First member of each class."""
    return np.asarray(np.unique(classes, return_index=True)[1], np.int64)


def _trivial_bound(scaled: _Scaled) -> float:
    """Every table at its greatest entry, no flag."""
    tables = [*scaled.unary, *(factor.table for factor in scaled.scores)]
    return sum(int(table.max()) for table in tables) / scaled.scale


def _evaluate(tables: Tables, position: NDArray[np.int32]) -> tuple[float, bool]:
    """s_search and h, in float64 without JAX, whose default is float32."""
    variables, pairs = np.arange(len(position)), np.asarray(tables.pairs)
    places = np.arange(len(pairs)), position[pairs[:, 0]], position[pairs[:, 1]]
    total = (
        np.asarray(tables.unary, np.float64)[variables, position].sum()
        + np.asarray(tables.pairwise, np.float64)[places].sum()
    )
    raised = (
        np.asarray(tables.unary_flags)[variables, position].any()
        or np.asarray(tables.pair_flags)[places].any()
    )
    return float(total - np.asarray(tables.penalty, np.float64) * raised), not raised
