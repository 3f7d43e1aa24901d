"""What the best charter of real pools costs: CP-SAT beside the samplers, to within 1 % of CP-SAT's bound.

Run ``python perf/charter_search.py [RULES×POOL …]``. The pools are those of the dev goals of one scene of
GNRS-Bench, the public square (eleven); where more rules are asked for, a goal gives further ones, of the
structures that come next by score. Of the pairs only those are known to relate that say the same. What every
choice gets is taken off first, so that the 1 % is of what can be gained by choosing. Seconds are
processor time, those of the solver's two workers divided by two, and building the model or compiling is apart.
"""

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs without an installation too
sys.path.insert(0, str(Path(__file__).resolve().parent))

from inference.common import FULL, clock
from inference.coupled_rules import OURS, one_set

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.calibration.weights import frozen_weights
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.charter.draft import Stated, rules_of_goal
from gnrs_ppl.charter.relations import Relations
from gnrs_ppl.charter.space import RulePool, best_structures, charter_tables
from gnrs_ppl.charter.terms import member
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.models.energy import Tables, contract
from gnrs_ppl.models.graph import compile_graph

SCENE = "public_square"
SHAPES = ("8×64", "16×64", "32×64", "8×256", "16×256", "32×256")
LIMIT = 60.0


def pools(rules: int, size: int) -> tuple[RulePool, ...]:
    """The pools of the scene's dev goals, goal after goal, then those that come next."""
    stated: list[Stated] = []
    for goal in goals():
        if goal.split == "dev" and SCENE in goal.scenes:
            stated += rules_of_goal(load_context(goal.id))
    statements = [reading for one in stated for reading in one.statements]
    rounds = -(-rules // len(stated))
    of_goal, first = [], 0
    for one in stated:
        own = frozenset(range(first, first + len(one.statements)))
        first += len(one.statements)
        graph = compile_graph(one.context, pools_of(one.context).pools)
        tables = contract(graph.space, frozen_weights().array())
        found, score, prior = best_structures(graph, tables, rounds * size)
        of_goal.append(([member(structure, own, statements) for structure in found], score, prior, one.name))
    return tuple(
        RulePool(f"{name} {turn}", (*members[part],), score[part], prior[part])
        for turn, part in enumerate(slice(n * size, (n + 1) * size) for n in range(rounds))
        for members, score, prior, name in of_goal
    )[:rules]


def tables_of(rules: int, size: int) -> Tables:
    """The charter's tables less what every choice gets: 1 % is of what can be gained by choosing."""
    tables = charter_tables(pools(rules, size), Relations(RecordLayer()))
    for v, options in enumerate(tables.sizes):
        tables.unary[v, :options] -= tables.unary[v, :options].min()
    for p, (left, right) in enumerate(tables.pairs):
        cells = tables.pairwise[p, : tables.sizes[left], : tables.sizes[right]]
        cells -= cells.min()
    return tables


def main() -> None:
    """A line for each set and method; then the medians."""
    ratios, ours, theirs = [], [], []
    for shape in sys.argv[1:] or SHAPES:
        rules, size = map(int, shape.split("×"))
        began = clock()
        tables = tables_of(rules, size)
        print(f"{shape}: pools and tables {clock() - began:.1f} s", flush=True)
        seconds: dict[str, float | None] = {}
        for row in one_set(FULL, tables, [tables], False, LIMIT):
            seconds[row["method"]] = row["seconds"]
            reached = "not reached" if row["seconds"] is None else f"{row['seconds']:.3f} s"
            more = row.get("status", "")
            print(
                f"  {row['method']:20}{reached:>14}  best {row['best']:.4f} of {row['bound']:.4f}  {more}",
                flush=True,
            )
        best = min(seconds[method] or float("inf") for method in OURS)
        solver = seconds["cpsat"] or float("inf")
        ours.append(best)
        theirs.append(solver)
        ratios.append(best / solver)
    print(f"median of times: ours {statistics.median(ours):.3f} s, CP-SAT {statistics.median(theirs):.3f} s")
    print(
        f"ours sooner on {sum(r < 1 for r in ratios)} of {len(ratios)}; median ratio {statistics.median(ratios):.2f}"
    )


if __name__ == "__main__":
    main()
