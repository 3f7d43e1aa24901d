"""The And-Or Graph of one goal and what a single chain did on it (paper, Figure aog-case-study and Table
qual-aog-trace).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.benchmarks.gnrs_bench import goals
from gnrs_ppl.experiments.bench import GoalBench
from gnrs_ppl.experiments.methods import STEPS
from gnrs_ppl.experiments.plots import COLOURS, MARKERS, blank
from gnrs_ppl.experiments.published import published
from gnrs_ppl.experiments.runner import Experiment, ExperimentRequest, Report, Run
from gnrs_ppl.experiments.tables import CellValue, ResultTable, heads
from gnrs_ppl.inference.exact import number_of_states
from gnrs_ppl.inference.moves import MOVES
from gnrs_ppl.realize.text import phrase
from gnrs_ppl.rule.types import SLOTS
from gnrs_ppl.search import Search, search

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 4
"""Candidates drawn per slot; the others are counted."""


class Edit(NamedTuple):
    """An accepted step that led to another structure: its number, the move, what changed, and s_search
    before and after.
    """

    step: int
    move: str
    change: str
    before: float
    after: float
    feasible: bool


class RecordedChain(NamedTuple):
    """A goal, the chain of one seed on it, and the edits it accepted."""

    goal: str
    found: Search
    edits: tuple[Edit, ...]


def chosen_goal(request: ExperimentRequest) -> str:
    """The first attendance goal of the service family among those asked for, as in the paper; else the first
    goal.
    """
    asked = set(request.goal_ids)
    same = [
        g.id
        for g in goals()
        if g.id in asked and g.family == "service_coordination" and g.category == "attendance"
    ]
    return same[0] if same else request.goal_ids[0]


@cache
def case(goal: str, seed: int) -> RecordedChain:
    """One chain of the paper's length on a goal."""
    found = search(load_context(goal), chains=1, steps=STEPS, seed=seed)
    chains, labels = found.chains, found.graph.labels()
    positions = np.concatenate([chains.starts[0][None], chains.positions[0]])
    scores = np.concatenate([chains.start_score[:1], chains.score[0]])
    edits = []
    for step in range(1, len(positions)):
        before, after = positions[step - 1], positions[step]
        changes = [
            f"{slot} {labels[slot][int(a)]} → {labels[slot][int(b)]}"
            for slot, a, b in zip(SLOTS, before, after, strict=True)
            if a != b
        ]
        if changes:
            move = tuple(MOVES)[int(chains.move[0, step - 1])]
            worth = float(scores[step - 1]), float(scores[step])
            edits.append(Edit(step, move, "; ".join(changes), *worth, bool(chains.feasible[0, step - 1])))
    return RecordedChain(goal, found, tuple(edits))


def report(run: Run) -> Report:
    """Candidates, edits and stages of one goal, with both figures."""
    one = case(chosen_goal(run.request), run.request.seeds[0])
    figures = {"aog": lambda: draw_graph(one), "trace": lambda: draw_trace(one)}
    return Report([candidates(one), edits(one), stages(one)], figures)


def candidates(one: RecordedChain) -> ResultTable:
    """Every candidate of every slot in words, with the chosen and the first one marked."""
    graph, entries = one.found.graph, list[tuple[CellValue, ...]]()
    lexicon = GoalBench(one.goal).lexicon
    start, best = one.found.chains.starts[0], one.found.best
    for v, slot in enumerate(SLOTS):
        for name in dict.fromkeys(option.candidate for option in graph.options[v]):
            own = [i for i, option in enumerate(graph.options[v]) if option.candidate == name]
            first = graph.options[v][best[v] if best[v] in own else own[0]]
            state = "chosen" if best[v] in own else "start" if int(start[v]) in own else ""
            entries.append(
                (slot, name, phrase(first.content, lexicon), len(own), ", ".join(first.sources), state)
            )
    says = (
        f"The graph of {one.goal}: an AND over five slots, each an OR over its candidates. The paper's "
        "figure has three per slot of another goal and says that its heights are drawn."
    )
    columns = heads("slot | candidate | in words | options:0 | sources | state")
    return ResultTable("candidates", f"Candidates of {one.goal}", says, columns, entries)


def edits(one: RecordedChain) -> ResultTable:
    """Accepted edits up to the best structure."""
    best = float(one.found.visited.score)
    kept = []
    for edit in one.edits:
        kept.append(edit)
        if edit.after >= best - 1e-9:
            break
    optimum = one.found.optimum
    says = (
        f"One chain of {STEPS} steps: accepted edits that changed the structure, until the best it met "
        f"({best:.4f}; the optimum by "
        f"enumeration is {optimum if optimum is None else format(optimum, '.4f')}). Edits may lower the "
        "score: the chain samples."
    )
    columns = heads("step:0 | move | change | s_search before:4 | s_search after:4 | passes h")
    return ResultTable("edits", "Accepted edits", says, columns, [tuple(edit) for edit in kept])


def stages(one: RecordedChain) -> ResultTable:
    """The paper's five stages, told of our goal."""
    graph, goal = one.found.graph, one.found.graph.facts.context.goal
    bench = GoalBench(one.goal)
    sizes = ", ".join(
        f"{slot} {len({o.candidate for o in options})}"
        for slot, options in zip(SLOTS, graph.options, strict=True)
    )
    refusal = bench.refusal(graph.structure(one.found.chains.starts[0]))
    checkable = f"It cannot be checked ({refusal})." if refusal else "It can be checked."
    raised = [flag.name.replace("_", " ") for flag in graph.raised(one.found.chains.starts[0])]
    wins = sum(edit.after > edit.before for edit in one.edits)
    told = {
        "Goal and records": f"{goal.intent} Required: {_listed(goal.required)}; forbidden: "
        f"{_listed(goal.forbidden)}.",
        "Candidate pools": f"{sizes}; {number_of_states(one.found.tables):,} structures.",
        "Initial AOG state": f"{checkable} s_search {float(one.found.chains.start_score[0]):.4f}; "
        f"conditions broken: {_listed(raised)}.",
        "Accepted MCMC edits": f"{len(one.edits)} of {STEPS} steps led elsewhere, {wins} of them upwards.",
        "Selected AOG and rendering": bench.text(graph.structure(one.found.best)),
    }
    paper = {row["stage"]: row["what is shown (our words)"] for row in published("qual-aog-trace")}
    rows = [(stage, told[stage], shown) for stage, shown in paper.items()]
    says = (
        "Stages of our own draft, without LLM candidates; the paper's, of its shift goal, in our words. "
        "Its edits cannot be compared."
    )
    return ResultTable("stages", "From goal to rule", says, heads("stage | here", "what is shown"), rows)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def draw_graph(one: RecordedChain) -> Figure:
    """AND node, OR nodes and candidates; the chosen ones filled."""
    import textwrap

    graph, best, start = one.found.graph, one.found.best, one.found.chains.starts[0]
    lexicon = GoalBench(one.goal).lexicon
    figure = blank(13, 7.6)
    axes = figure.add_subplot()
    box: dict[str, Any] = {"boxstyle": "round,pad=0.35", "edgecolor": "black", "linewidth": 0.8}

    def boxed(x: float, y: float, words: str, size: int, weight: str = "normal", **look: str) -> None:
        axes.text(x, y, words, ha="center", va="center", fontsize=size, fontweight=weight, bbox=box | look)

    def line(ends: tuple[float, float], heights: tuple[float, float], width: float = 0.8) -> None:
        axes.plot(ends, heights, color="black", linewidth=width, zorder=0)

    middle = (len(SLOTS) - 1) / 2
    intent = textwrap.fill(graph.facts.context.goal.intent, 95)
    boxed(middle, 5.55, f"{one.goal}: {intent}", 9, facecolor="#eeeeee")
    boxed(middle, 4.75, "AND", 10, facecolor=COLOURS[4], boxstyle="circle,pad=0.3")
    line((middle, middle), (5.3, 4.95))
    for v, slot in enumerate(SLOTS):
        line((middle, v), (4.6, 4.15))
        boxed(v, 4.0, f"OR\n{slot}", 9, facecolor=COLOURS[5])
        chosen, first = graph.options[v][best[v]], graph.options[v][int(start[v])]
        names = list(dict.fromkeys(o.candidate for o in (chosen, first, *graph.options[v])))
        for place, name in enumerate(names[:SHOWN]):
            y = 3.15 - 0.92 * place
            picked = name == chosen.candidate
            option = chosen if picked else next(o for o in graph.options[v] if o.candidate == name)
            words = textwrap.fill(phrase(option.content, lexicon), 30, max_lines=5, placeholder=" …")
            if picked:
                boxed(v, y, f"{name}: {words}", 7, "bold", facecolor="#cfe8dd", linestyle="-")
            else:
                boxed(v, y, f"{name}: {words}", 7, facecolor="white", linestyle="--")
            line((v, v), (3.8 if place == 0 else y + 0.9, y), 0.8 if picked else 0.4)
        if len(names) > SHOWN:
            more = f"and {len(names) - SHOWN} more"
            axes.text(v, 3.15 - 0.92 * SHOWN + 0.3, more, ha="center", fontsize=8, color="#444444")
    axes.set(xlim=(-0.55, len(SLOTS) - 0.45), ylim=(-0.6, 5.95))
    axes.axis("off")
    axes.set_title("Bold on green: chosen; dashed: other candidates", loc="left", fontsize=9)
    return figure


def draw_trace(one: RecordedChain) -> Figure:
    """s_search by step, accepted edits by move, and the optimum."""
    chains = one.found.chains
    scores = np.concatenate([chains.start_score[:1], chains.score[0]])
    feasible = np.concatenate([chains.start_feasible[:1], chains.feasible[0]])
    shown = np.where(feasible, scores, np.nan)
    figure = blank(8.5, 4)
    axes = figure.add_subplot()
    axes.step(range(len(shown)), shown, where="post", color="#999999", linewidth=1)
    for i, move in enumerate(dict.fromkeys(edit.move for edit in one.edits)):
        own = [edit for edit in one.edits if edit.move == move and edit.feasible]
        steps, scores_after = [e.step for e in own], [e.after for e in own]
        axes.plot(steps, scores_after, MARKERS[i], color=COLOURS[i], markersize=4, label=move)
    if one.found.optimum is not None:
        axes.axhline(one.found.optimum, color="black", linestyle="--", linewidth=1, label="optimum")
    broken = int((~feasible).sum())
    axes.set(xlabel="step", ylabel="s_search")
    title = f"{one.goal}, one chain, accepted edits by move; {broken} infeasible states are not drawn"
    axes.set_title(title, loc="left", fontsize=9)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


EXPERIMENT = Experiment(
    "aog", "What does the graph of a goal look like, and how does a chain walk on it?", report
)
