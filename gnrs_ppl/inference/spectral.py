"""How fast the Metropolis kernel forgets its start, exactly, on a small space: its transition matrix and the
gap of its spectrum.

The matrix is built in NumPy float64 from what the moves are defined to do, and shares no code with the
kernel. A step chooses a move, and the move an *entry*: a set of variables and a proposal matrix Q over their
options, whatever the other variables hold. Each entry is accepted or refused by itself, so that from
structure i it leads to j with probability

    min(Q_ij, Q_ji p(j) / p(i)),   p(a) proportional to p0(a) exp(s_search(a) / tau),

and what is refused stays. P, the mixture of the entries, is reversible, so that pi^(1/2) P pi^(-1/2) is
symmetric and its eigenvalues 1 = l_1 >= l_2 >= ... >= l_n are real. The gap is 1 - max(l_2, |l_n|). Its
inverse, the relaxation time, is the number of steps in which what is left of a start shrinks by a factor of
e, in the long run (Levin and Peres, Markov Chains and Mixing Times, chapter 12).

Examples
--------
>>> from gnrs_ppl.models.energy import contract
>>> from gnrs_ppl.models.space import build_space
>>> two = contract(build_space([[0, 1]], unary=[[[0.5], [0.5]]]), np.array([1.0]))
>>> round(spectral_gap(two, temperature=0.08, move_probabilities=(0.25, 0.75, 0.0, 0.0)), 9)
0.5
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.exact import enumerate_space, number_of_states
from gnrs_ppl.inference.moves import acting_shares, require_probabilities
from gnrs_ppl.models.energy import Tables

LARGEST_SPACE = 2_000
"""Most structures: the matrix then takes 32 MB, and its eigenvalues a second of one core."""
RESOLUTION = 1e-12
"""A gap below this is rounding of the eigenvalues, and is given as 0."""

Floats = NDArray[np.float64]


def spectral_gap(
    tables: Tables,
    temperature: float,
    move_probabilities: tuple[float, float, float, float] | None = None,
) -> float:
    """1 less the second greatest absolute eigenvalue of the Metropolis kernel; 0 where it is below
    ``RESOLUTION``.

    Parameters
    ----------
    tables : Tables
        Of at most ``LARGEST_SPACE`` structures.
    temperature : float
        tau.
    move_probabilities : tuple of four float, optional
        How often each of the paper's moves is tried, in the order of ``MOVES``; as the kernel has it unless
        given.

    Raises
    ------
    InputError
        When the space is larger, for a temperature that is not positive, and for what are no probabilities.
    """
    matrix = transition_matrix(tables, temperature, move_probabilities)
    # pi_i P_ij = pi_j P_ji: the symmetric matrix's entries are these means, which need no ratio of
    # probabilities
    eigenvalues = np.linalg.eigvalsh(np.sqrt(matrix * matrix.T))
    gap = 1 - float(np.abs(eigenvalues[:-1]).max(initial=0.0))
    return gap if gap > RESOLUTION else 0.0


def relaxation_time(gap: float) -> float:
    """1 / gap, in steps; infinite where there is none.

    Parameters
    ----------
    gap : float
        As :func:`spectral_gap` gives it.
    """
    return 1 / gap if gap else math.inf


def transition_matrix(
    tables: Tables,
    temperature: float,
    move_probabilities: tuple[float, float, float, float] | None = None,
) -> Float[Floats, "N N"]:
    """Probability of going from each structure to each in one step; structures are numbered with the last
    variable fastest.

    Parameters and errors are those of :func:`spectral_gap`.
    """
    if not temperature > 0:
        raise InputError(
            f"{temperature} is no temperature",
            "give a positive number such as 0.08",
            source="arguments",
            field="temperature",
        )
    shares = (
        np.asarray(acting_shares(tables.edits), np.float64)
        if move_probabilities is None
        else move_probabilities
    )
    if move_probabilities is not None:
        require_probabilities(move_probabilities)
    if (states := number_of_states(tables)) > LARGEST_SPACE:
        problem = f"{states} structures, more than the {LARGEST_SPACE} whose transition matrix is made"
        raise InputError(
            problem,
            "take a smaller space, or see how long runs are correlated",
            source="arguments",
            field="tables",
        )
    enumeration = enumerate_space(tables)
    log_density = enumeration.log_prior + enumeration.score / temperature
    numbers = np.arange(states).reshape(enumeration.sizes)
    matrix = np.zeros((states, states))
    for chance, entries in zip(shares, (_replacements, _parameter_edits, _swaps, _joint_edits), strict=True):
        found = list(entries(tables))
        for variables, proposal in found:
            # structures that differ in these variables alone stand in a row, in the order of the proposal
            # matrix
            rows = np.moveaxis(numbers, variables, range(-len(variables), 0)).reshape(-1, len(proposal))
            matrix[rows[:, :, None], rows[:, None]] += (
                chance / len(found) * _accepted(proposal, log_density[rows])
            )
    diagonal = np.diag_indices(states)
    matrix[diagonal] = 0.0
    matrix[diagonal] = 1 - matrix.sum(1)
    return matrix


def _accepted(proposal: Float[Floats, "n n"], log_density: Float[Floats, "R n"]) -> Float[Floats, "R n n"]:
    """min(Q_ij, Q_ji p(j) / p(i)) for every row of structures; the diagonal means nothing."""
    with np.errstate(divide="ignore"):
        log_proposal = np.log(proposal)
    ratio = log_density[:, None] - log_density[:, :, None]
    return np.asarray(np.exp(np.minimum(log_proposal, log_proposal.T + ratio)))


Entry = tuple[
    tuple[int, ...], "Float[Floats, 'n n']"
]  # in quotes: from NumPy 2.5 on, NDArray is no class to jaxtyping


def _shared(allowed: NDArray[np.bool_]) -> Floats:
    """Rows that share probability 1 evenly among what is allowed; rows of zeros where nothing is."""
    return np.asarray(allowed / np.maximum(allowed.sum(1, keepdims=True), 1))


def _candidates(tables: Tables) -> Iterator[tuple[int, Int[NDArray[np.int64], " n"]]]:
    """Each variable and the candidate of each of its options."""
    for v, size in enumerate(tables.sizes):
        yield v, np.asarray(tables.candidate)[v, : int(size)]


def _replacements(tables: Tables) -> Iterator[Entry]:
    """Single-slot replacement: another candidate of a variable, then one of its parameter tuples."""
    for v, owner in _candidates(tables):
        others = owner[:, None] != owner
        tuples = (owner[:, None] == owner).sum(0)
        yield (v,), others / np.maximum(len(set(owner.tolist())) - 1, 1) / tuples


def _parameter_edits(tables: Tables) -> Iterator[Entry]:
    """Parameter-only edit: another parameter tuple of the same candidate."""
    for v, owner in _candidates(tables):
        yield (v,), _shared((owner[:, None] == owner) & ~np.eye(len(owner), dtype=bool))


def _swaps(tables: Tables) -> Iterator[Entry]:
    """Evidence-policy swap: an option of the same group that belongs to another candidate."""
    owners = dict(_candidates(tables))
    for v, groups in zip(
        np.asarray(tables.swaps.variables).tolist(), np.asarray(tables.swaps.group), strict=True
    ):
        owner, group = owners[v], groups[: len(owners[v])]
        yield (v,), _shared((group[:, None] == group) & (owner[:, None] != owner))


def _joint_edits(tables: Tables) -> Iterator[Entry]:
    """Trigger-evidence edit: t from p0, then e from row t of the joint table, whatever stood there."""
    sizes, prior = np.asarray(tables.sizes), np.exp(np.asarray(tables.log_prior, np.float64))
    for (t, e), rows in zip(
        np.asarray(tables.joints.variables).tolist(), np.asarray(tables.joints.table), strict=True
    ):
        drawn = (prior[t, : sizes[t], None] * rows[: sizes[t], : sizes[e]]).ravel()
        yield (t, e), np.tile(drawn, (len(drawn), 1))
