"""What the weights are fitted to: features of every feasible structure of the dev goals, and which structures
are references.

Structures that agree in all features and in every slot's verdict are one row, with the sum of their p0: the
exact Gibbs distribution needs no more of them, and a goal has fewer such rows than structures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.calibration.references import HERE, Reference, references
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.errors import InputError
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.features import FEATURES
from gnrs_ppl.models.graph import AndOrGraph, compile_graph
from gnrs_ppl.rule.types import SLOTS

Floats = NDArray[np.float64]
VERDICTS = ("acceptable", "neither", "unacceptable")
SAME = 9
"""Features that agree to so many decimals are the same: sums of the same terms in another order."""


class GoalData(NamedTuple):
    """The feasible structures of one dev goal, n rows of equal features and verdicts.

    Attributes
    ----------
    goal : str
    features : (n, F) float64
        phi of a row, in [0, 1].
    log_mass : (n,) float64
        log of the row's share of p0 on the feasible set.
    structures : (n,) int64
        Structures of the row.
    cell : (n,) int64
        Verdicts of the five slots as a number to the base three; 0 where all are acceptable.
    states : int
        Structures of the goal, infeasible ones too.
    verdicts : {slot: (acceptable, neither, unacceptable)}
        How many options of each slot have which verdict.
    second_best : tuple of str
        Slots whose pools hold nothing acceptable but second best, and the one, if any, where neither counts
        as acceptable.
    """

    goal: str
    features: Float[Floats, "n F"]
    log_mass: Float[Floats, " n"]
    structures: Int[NDArray[np.int64], " n"]
    cell: Int[NDArray[np.int64], " n"]
    states: int
    verdicts: dict[str, tuple[int, int, int]]
    second_best: tuple[str, ...]

    @property
    def reference(self) -> Float[Floats, " n"]:
        """Share of each row in the reference set, every structure of the set counting the same."""
        share: Floats = np.where(self.cell == 0, self.structures, 0).astype(np.float64)
        return np.asarray(share / share.sum())

    @property
    def references(self) -> int:
        """Structures of the reference set."""
        return int(self.structures[self.cell == 0].sum())

    @property
    def uniform_mass(self) -> float:
        """Share of p0 on the feasible set that the reference set has."""
        return float(np.exp(self.log_mass[self.cell == 0]).sum())


def dev_goals() -> list[str]:
    """Ids of the dev goals."""
    return [g.id for g in goals() if g.split == "dev"]


def dev_data(goal_ids: Sequence[str] | None = None) -> list[GoalData]:
    """Features and references of dev goals.

    Parameters
    ----------
    goal_ids : sequence of str, optional
        All sixteen unless named.

    Returns
    -------
    list of GoalData

    Raises
    ------
    InputError
        For a goal that is not dev, and for references that no feasible structure meets.
    """
    annotated = references()
    found = []
    for goal in dev_goals() if goal_ids is None else goal_ids:
        if goal not in annotated:
            raise InputError(
                "has no annotated reference", "weights are fitted on the dev goals only", source=goal
            )
        context = load_context(goal)
        found.append(goal_data(goal, compile_graph(context, pools_of(context).pools), annotated[goal]))
    return found


def goal_data(goal: str, graph: AndOrGraph, reference: Reference) -> GoalData:
    """The rows of one goal.

    Raises
    ------
    InputError
        When a slot's pool holds nothing acceptable, or no feasible structure is acceptable in all slots.
    """
    pools = {slot: [option.content for option in graph.options[v]] for v, slot in enumerate(SLOTS)}
    verdicts = {
        slot: [VERDICTS.index(verdict) for verdict in reference.slot(slot).verdicts(pool)]
        for slot, pool in pools.items()
    }
    source = f"{goal}.yaml"
    for slot, found in verdicts.items():
        if 0 not in found:
            raise InputError(
                f"no candidate of the pool is an acceptable {slot}",
                "widen the predicate",
                source=source,
                field=f"slots.{slot}",
            )
    each = [enumerate_space(contract(graph.space, weight, penalty=0.0)) for weight in np.eye(len(FEATURES))]
    feasible = each[0].feasible
    cell, lenient = _cells(verdicts, each[0].sizes)[feasible], ""
    for slot in (
        SLOTS if 0 not in cell else ()
    ):  # nothing refused in one slot, all else signed, is the nearest an annotator comes
        milder = _cells(verdicts | {slot: [0 if v == 1 else v for v in verdicts[slot]]}, each[0].sizes)[
            feasible
        ]
        if 0 in milder:
            cell, lenient = milder, slot
            break
    if 0 not in cell:
        remedy = "every acceptable combination breaks a hard condition; widen a predicate"
        raise InputError("no feasible structure is acceptable in all slots", remedy, source=source)
    table = np.column_stack([np.round(e.score[feasible], SAME) for e in each] + [cell])
    rows, where, count = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    mass = np.bincount(where.ravel(), np.exp(each[0].log_prior[feasible]))
    return GoalData(
        goal=goal,
        features=np.asarray(rows[:, :-1], np.float64),
        log_mass=np.log(mass / mass.sum()),
        structures=count.astype(np.int64),
        cell=rows[:, -1].astype(np.int64),
        states=len(feasible),
        verdicts={slot: (found.count(0), found.count(1), found.count(2)) for slot, found in verdicts.items()},
        second_best=tuple(
            slot
            for slot, pool in pools.items()
            if slot == lenient or all(reference.slot(slot).verdict(c) != "acceptable" for c in pool)
        ),
    )


def _cells(verdicts: dict[str, list[int]], sizes: Sequence[int]) -> Int[NDArray[np.int64], " n"]:
    """Verdicts of the five slots of every structure as a number to the base three, in the order of the
    enumeration.
    """
    cell = np.zeros(tuple(sizes), np.int64)
    for v, slot in enumerate(SLOTS):
        axis = [1] * len(SLOTS)
        axis[v] = -1
        cell += np.array(verdicts[slot]).reshape(axis) * 3**v
    return cell.ravel()


def data_hash() -> str:
    """SHA-256 of what the fit reads: the dev goals with the tables of their spaces, and the references."""
    digest = hashlib.sha256()
    for goal in dev_goals():
        context = load_context(goal)
        digest.update(context.goal.model_dump_json(exclude_defaults=True).encode())
        space = compile_graph(context, pools_of(context).pools).space
        for table in (
            space.unary.round(SAME),
            space.pairwise.round(SAME),
            space.unary_flags,
            space.pair_flags,
            space.log_prior.round(SAME),
        ):
            digest.update(np.ascontiguousarray(table).tobytes())
    for path in sorted(HERE.glob("*.yaml")):
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()
