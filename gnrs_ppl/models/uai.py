"""Any graph of categorical variables with factors over one or two as :class:`~gnrs_ppl.models.energy.Tables`;
the UAI text format.

For those who have no rule: every sampler runs on these tables as on a goal's. A Markov network with
non-negative factors f has

    Z = sum_a prod_f f(a),    p(a) = prod_f f(a) / Z.

The tables hold log f as scores and a uniform p0, so that at temperature 1 their density log p0 + s_search is
that of the network. As p0 is normalised, the log normaliser of the tables is smaller than the network's by
the log of the number of structures:

    log Z = log_normalizer(tables, temperature 1) + sum_v log(size_v) = log_normalizer + log_states(tables).

Each option is a candidate of its own, so the single-slot replacement reaches every structure, the
parameter-only edit stays, and so do swaps and joint edits unless they are given.

Zeros. An entry of zero is a hard flag, and in its place stands the least positive entry of its factor; a
structure that meets a zero keeps a density, exp(-lambda) times what it would have, not none. The rule for
lambda: with range = the sum over factors of log (greatest entry / least positive entry) and N structures,

    lambda = range + log N + log(1 / ZERO_MASS).

If any structure has positive probability, Z is too great by at most the share ``ZERO_MASS`` = 1e-9, every
probability of a possible structure too small by at most that share, and all impossible ones have at most that
probability together. (One possible structure weighs at least the product of least entries, at most N
impossible ones weigh exp(-lambda) times the product of greatest entries.) If none has, Z = 0 and the tables
mean nothing: ``enumerate_space(tables).any_feasible`` tells. lambda is subtracted once, so between structures
that all meet a zero there is no slope: local moves are no way to satisfy many constraints.

The format (UAI inference competitions, 2008 to 2022): ``MARKOV``; the number of variables; their sizes; the
number of factors; for each its number of variables and their indices from 0; then for each the number of
entries and the entries, the last variable fastest. White space is free. A factor over no variable is a
constant and goes into the first variable's scores.

Examples
--------
>>> import numpy as np
>>> tables = from_factors([2, 3], {0: [1.0, 2.0]}, {(0, 1): [[1, 0, 1], [1, 1, 1]]})
>>> tables.pair_flags[0, :2].tolist()
[[False, True, False], [False, False, False]]
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnrs_ppl.context.files import read_text
from gnrs_ppl.context.limits import UAI_BYTES
from gnrs_ppl.errors import InputError
from gnrs_ppl.models.energy import Tables, contract
from gnrs_ppl.models.space import LARGEST_VARIABLE, build_space

ZERO_MASS = 1e-9
"""Most probability that all structures of zero probability together are given."""
LARGEST_TABLES = 4 * 2**30
"""Bytes of padded pair tables that are made; making them takes about three times as much for a moment."""


def from_factors(
    sizes: Sequence[int],
    unary: Mapping[int, ArrayLike] | None = None,
    pairwise: Mapping[tuple[int, int], ArrayLike] | None = None,
    *,
    logarithms: bool = False,
    swaps: Mapping[int, Sequence[int]] | None = None,
    joints: Mapping[tuple[int, int], ArrayLike] | None = None,
) -> Tables:
    """Tables whose density at temperature 1 is the product of non-negative factors.

    Parameters
    ----------
    sizes : sequence of int
        Number of options of each variable.
    unary : {variable: (n,) float}
        Factor of each option; 1 where absent.
    pairwise : {(left, right): (n_left, n_right) float}
        Factor of each two options, in either order of the variables; the factors of (i, j) and (j, i)
        multiply. Absent pairs have 1.
    logarithms : bool
        Whether the entries are logarithms of factors, -inf for zero.
    swaps, joints
        As for :func:`~gnrs_ppl.models.build_space`, for the edits that use them.

    Returns
    -------
    Tables
        NumPy, float64; zeros are flags, and the penalty follows the rule above.

    Raises
    ------
    InputError
        Naming the table: wrong shape, a negative or infinite entry, no positive entry, no such variable, and
        tables that would not fit (with the bytes).
    """
    try:
        counts = [operator.index(size) for size in sizes]
    except TypeError as error:
        raise InputError(
            str(error), "give a whole number for each variable", source="arguments", field="sizes"
        ) from None
    if not counts or min(counts) < 1 or max(counts) > LARGEST_VARIABLE or len(counts) > LARGEST_VARIABLE:
        problem = f"{len(counts)} variables of {min(counts, default=0)} to {max(counts, default=0)} options"
        raise InputError(problem, f"give 1 to {LARGEST_VARIABLE} of each", source="arguments", field="sizes")
    logs: dict[int, NDArray[np.float64]] = {}
    for v, table in (unary or {}).items():
        if not 0 <= v < len(counts):
            raise InputError(
                f"there are {len(counts)} variables",
                "number them from 0",
                source="arguments",
                field=f"unary[{v}]",
            )
        logs[v] = _log(table, (counts[v],), "arguments", f"unary[{v}]", logarithms)
    pair_logs: dict[tuple[int, int], NDArray[np.float64]] = {}
    for (left, right), table in (pairwise or {}).items():
        field = f"pairwise[{left}, {right}]"
        if left == right or not (0 <= left < len(counts) and 0 <= right < len(counts)):
            raise InputError(
                f"no two of {len(counts)} variables", "number them from 0", source="arguments", field=field
            )
        shape = counts[left], counts[right]
        _add_pair(pair_logs, (left, right), _log(table, shape, "arguments", field, logarithms))
    return _tables(counts, logs, pair_logs, swaps, joints, "arguments", 0.0)


def read_uai(path: str | Path) -> Tables:
    """Tables of a Markov network in the UAI text format, with factors over at most two variables.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    InputError
        With file and field: not readable, not a MARKOV network, cut short, counts that do not fit, three
        variables in a factor, negative entries.
    """
    reader = _Reader(Path(path))
    kind = reader.token("type")
    if kind.upper() != "MARKOV":
        raise reader.error(
            "type",
            f"{kind!r} is not MARKOV",
            "write the network as MARKOV; a BAYES network's tables can stay as they are",
        )
    variables = reader.count("variables", 1, LARGEST_VARIABLE)
    sizes = [reader.count(f"sizes[{v}]", 1, LARGEST_VARIABLE) for v in range(variables)]
    factors = reader.count("factors", 0, reader.left)
    scopes = [reader.scope(f"scopes[{f}]", variables) for f in range(factors)]
    unary: dict[int, NDArray[np.float64]] = {}
    pairwise: dict[tuple[int, int], NDArray[np.float64]] = {}
    constant = 0.0
    for f, scope in enumerate(scopes):
        table = reader.table(f"tables[{f}]", tuple(sizes[v] for v in scope))
        if not scope:
            constant += float(table)
        elif len(scope) == 1:
            unary[scope[0]] = unary.get(scope[0], 0.0) + table
        else:
            _add_pair(pairwise, (scope[0], scope[1]), table)
    if constant == -math.inf:
        raise reader.error("tables", "a factor over no variable is zero", "no structure is possible (Z = 0)")
    if reader.left:
        raise reader.error(
            "tables", f"{reader.left} numbers are left over", "check the counts before the tables"
        )
    return _tables(sizes, unary, pairwise, None, None, reader.source, constant)


def log_states(tables: Tables) -> float:
    """Log of the number of structures: what the log normaliser of uniform p0 lacks of the network's log Z.

    Parameters
    ----------
    tables : Tables
    """
    return float(np.log(np.asarray(tables.sizes, np.float64)).sum())


class _Reader:
    """The tokens of a file, in order, with errors that name file and field."""

    def __init__(self, path: Path) -> None:
        self.source = str(path)
        self._tokens = read_text(path, UAI_BYTES).split()
        self._next = 0

    @property
    def left(self) -> int:
        return len(self._tokens) - self._next

    def error(self, field: str, problem: str, remedy: str) -> InputError:
        return InputError(problem, remedy, source=self.source, field=field)

    def token(self, field: str) -> str:
        if not self.left:
            raise self.error(field, "the file ends here", "it is cut short, or a count before is too great")
        self._next += 1
        return self._tokens[self._next - 1]

    def count(self, field: str, least: int, greatest: int) -> int:
        token = self.token(field)
        whole = token.isascii() and token.isdigit() and len(token) <= 19
        if not whole or not least <= int(token) <= greatest:
            raise self.error(
                field,
                f"{token!r} is no whole number from {least} to {greatest}",
                "check the count and those before it",
            )
        return int(token)

    def scope(self, field: str, variables: int) -> tuple[int, ...]:
        members = self.count(field, 0, variables)
        if members > 2:
            raise self.error(
                field,
                f"a factor over {members} variables",
                "factors may have one or two: join variables, or add one",
            )
        scope = tuple(self.count(field, 0, variables - 1) for _ in range(members))
        if len({*scope}) < members:
            raise self.error(field, f"variable {scope[0]} stands there twice", "name two different variables")
        return scope

    def table(self, field: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Log of the next table."""
        entries = math.prod(shape)
        given = self.count(field, 0, 2**62)
        if given != entries:
            raise self.error(
                field,
                f"{given} entries, where the sizes of its variables make {entries}",
                "check sizes and scopes",
            )
        if self.left < entries:
            raise self.error(
                field, f"the file ends after {self.left} of {entries} entries", "it is cut short"
            )
        tokens = self._tokens[self._next : self._next + entries]
        self._next += entries
        try:
            numbers = np.array(tokens, np.float64)
        except ValueError as problem:
            raise self.error(field, str(problem), "write every entry as a number") from None
        return _log(numbers.reshape(shape), shape, self.source, field)


def _add_pair(
    logs: dict[tuple[int, int], NDArray[np.float64]], pair: tuple[int, int], table: NDArray[np.float64]
) -> None:
    """Multiply a factor over two variables into that of the same variables in order."""
    ordered = (min(pair), max(pair))
    logs[ordered] = logs.get(ordered, 0.0) + (table if pair == ordered else table.T)


def _log(
    table: ArrayLike, shape: tuple[int, ...], source: str, field: str, logarithms: bool = False
) -> NDArray[np.float64]:
    """Log of a factor, -inf for zero; the entries where they are logarithms already."""
    try:
        entries = np.asarray(table, np.float64)
    except (TypeError, ValueError) as error:  # ragged, or no number
        raise InputError(str(error), "give one number for each option", source=source, field=field) from None
    if entries.shape != shape:
        raise InputError(
            f"shape {entries.shape}, expected {shape}",
            "give one entry for each option",
            source=source,
            field=field,
        )
    if logarithms:
        if not (entries < np.inf).all():
            problem = f"an entry is {entries[~(entries < np.inf)].flat[0]:g}"
            raise InputError(problem, "logarithms are finite, or -inf for zero", source=source, field=field)
        return entries
    refused = ~(np.isfinite(entries) & (entries >= 0))
    if refused.any():
        problem = f"an entry is {entries[refused].flat[0]:g}"
        raise InputError(
            problem,
            "factors are finite and not negative; give logarithms=True where they are logarithms",
            source=source,
            field=field,
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(entries))


def _tables(
    sizes: list[int],
    unary: Mapping[int, NDArray[np.float64]],
    pairwise: Mapping[tuple[int, int], NDArray[np.float64]],
    swaps: Mapping[int, Sequence[int]] | None,
    joints: Mapping[tuple[int, int], ArrayLike] | None,
    source: str,
    constant: float,
) -> Tables:
    """Tables from the logs of factors, one per variable and per pair at most, pairs with the smaller
    variable first.
    """
    pairs = sorted(pairwise)
    options = max(sizes)
    needed = 9 * len(pairs) * options**2
    if needed > LARGEST_TABLES:
        problem = (
            f"{len(pairs)} pair tables, padded to {options} options, need {needed} bytes, more than "
            f"the {LARGEST_TABLES} allowed"
        )
        raise InputError(
            problem, "split the variable with the most options, or leave out factors", source=source
        )
    for name, table in [(f"unary[{v}]", unary[v]) for v in unary] + [
        (f"pairwise[{i}, {j}]", pairwise[i, j]) for i, j in pairs
    ]:
        if np.isneginf(table).all():
            raise InputError(
                "every entry is zero", "no structure is possible (Z = 0)", source=source, field=name
            )
    finite = {
        key: np.where(np.isneginf(table), np.inf, table) for key, table in (*unary.items(), *pairwise.items())
    }
    least = {key: float(table.min()) for key, table in finite.items()}
    spread = sum(float(table.max()) - least[key] for key, table in (*unary.items(), *pairwise.items()))
    penalty = spread + sum(math.log(size) for size in sizes) - math.log(ZERO_MASS)

    space = build_space(
        candidates=[list(range(size)) for size in sizes],
        unary=[np.zeros((size, 1)) for size in sizes],
        unary_flags={v: np.isneginf(table) for v, table in unary.items()},
        pair_flags={pair: np.isneginf(pairwise[pair]) for pair in pairs},
        swaps=swaps,
        joints=joints,
    )
    tables = contract(space, np.ones(1), penalty)
    scores, pair_scores = np.asarray(tables.unary), np.asarray(tables.pairwise)
    scores[0, : sizes[0]] = constant
    for v, table in unary.items():
        scores[v, : sizes[v]] += np.maximum(table, least[v])
    for p, pair in enumerate(pairs):
        pair_scores[p, : sizes[pair[0]], : sizes[pair[1]]] = np.maximum(pairwise[pair], least[pair])
    return tables._replace(unary=scores, pairwise=pair_scores)
