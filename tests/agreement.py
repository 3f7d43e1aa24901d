"""Compiler against oracle on random pairs: the shared part of the agreement and mutation tests, and a script
that prints the cells.

Run ``python tests/agreement.py`` for the table of hits per template × operator × verdict × reason.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence

import cells
import oracle
import tiers
from aside_pairs import put_aside
from asked_pairs import WAYS
from cells import Outcome
from data_pairs import data_pair
from directed_pairs import Pair, directed_pair
from pairs import random_pair
from tiers import tier
from twice_pairs import twice_pair
from working_pairs import working_pair

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_procedure, compile_rule
from gnrs_ppl.audit.run import execute
from gnrs_ppl.audit.types import VERDICTS, InstanceVerdict, Verdict
from gnrs_ppl.context.log import Event, EventLog, resolved
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.rule.types import IMPLEMENTED, Structure

HITS = tier(1, 50)
"""Hits each verdict of a template and operator must have."""
CASES = 96
"""Cases per log: each is a log of its own but for coverage and the end of observation."""
MOST_SEEDS = 120
FEW: dict[tuple[str, str], tuple[int, ...]] = {
    ("existence", "any"): (0, 5), ("existence", "all"): (5,), ("existence", "at_least"): (1, 4),
    ("exactly", "any"): (5, 6), ("exactly", "at_least"): (2, 11), ("response", "any"): (5,),
    ("response", "all"): (0, 2), ("response", "at_least"): (0, 4), ("precedence", "any"): (1, 4),
    ("precedence", "all"): (5,), ("precedence", "at_least"): (1,), ("responded_existence", "any"): (2, 3),
    ("responded_existence", "all"): (0, 6), ("responded_existence", "at_least"): (0, 11),
    ("init", "any"): (5,), ("init", "at_least"): (0, 13), ("end", "any"): (0, 1),
    ("end", "at_least"): (0, 6), ("chain_response", "any"): (2, 15), ("chain_response", "at_least"): (0, 5),
    ("chain_precedence", "any"): (1, 10), ("chain_precedence", "at_least"): (9,),
    ("coexistence", "any"): (1,), ("succession", "any"): (3,), ("absence", "any"): (3, 6),
    ("absence", "all"): (3, 21), ("absence", "at_least"): (3, 4), ("not_response", "any"): (0, 6),
    ("not_response", "all"): (1, 10), ("not_response", "at_least"): (0, 1),
    ("not_precedence", "any"): (1, 8), ("not_precedence", "all"): (3,),
    ("not_precedence", "at_least"): (1,), ("not_coexistence", "any"): (11,),
    ("not_coexistence", "all"): (11, 12), ("not_coexistence", "at_least"): (0, 2),
    ("not_chain_response", "any"): (3, 5), ("not_chain_response", "at_least"): (0, 5),
    ("not_chain_precedence", "any"): (3, 8), ("not_chain_precedence", "at_least"): (2, 5),
    ("not_succession", "any"): (0, 1), ("chain_succession", "any"): (3,), ("not_chain_succession", "any"): (1,),
    ("alternate_response", "any"): (1, 4), ("alternate_response", "at_least"): (1,),
    ("alternate_precedence", "any"): (0, 8), ("alternate_precedence", "at_least"): (1,), ("alternate_succession", "any"): (0, 2),
    ("exclusive_choice", "any"): (0, 1, 2), ("exclusive_choice", "at_least"): (2, 12),
}  # fmt: skip
"""Seeds of the fast tier, by template and operator: the first that hit every cell. After a change of pairs.py
look for others in what ``python tests/agreement.py`` prints."""


def reachable(template: str, operator: str) -> list[Verdict]:
    """Verdicts that undirected pairs of a template have under an operator. That a first event is excused takes a
    row that may be it and is its exception for certain (X2): directed pairs alone show one."""
    had = {outcome.verdict for outcome in cells.reachable(template, operator)}
    return [v for v in VERDICTS if v in had and (template, v) != ("init", "excused")]


def differences(
    structure: Structure,
    records: RecordLayer,
    events: list[Event],
    procedure: bool,
    aside: Sequence[Event] = (),
) -> tuple[list[InstanceVerdict], list[str]]:
    """The oracle's verdicts of a pair, and where the compiled check (and the procedure's) says otherwise;
    raises Refused like the compiler."""
    log = EventLog.from_events(events, records, [("no time", row) for row in aside])
    filled = resolved(records, log)
    plan = check(structure, filled, log)
    want = oracle.evaluate(structure, filled, events, aside=aside)
    found = _unlike("norm", want, execute(compile_rule(plan), log))
    follow_up = compile_procedure(plan) if procedure else None
    if follow_up is not None:
        steps = oracle.evaluate_procedure(structure, filled, events, want, aside=aside)
        found += _unlike("procedure", steps, execute(follow_up, log))
    return want, found


def procedure_verdicts(
    structure: Structure, records: RecordLayer, log: EventLog
) -> list[InstanceVerdict] | None:
    """Verdicts of a rule's procedure, by whichever compiler is loaded when this is called; None where it is
    prospective."""
    from gnrs_ppl.audit.checkable import check
    from gnrs_ppl.audit.compile import compile_procedure
    from gnrs_ppl.audit.run import execute

    query = compile_procedure(check(structure, records, log))
    if query is None:
        return None
    return [] if structure.norm.force == "may" else execute(query, log)


def _unlike(what: str, want: list[InstanceVerdict], got: list[InstanceVerdict]) -> list[str]:
    by_key = {v[:3]: v for v in want}, {v[:3]: v for v in got}
    keys = sorted(by_key[0].keys() | by_key[1].keys())
    unlike = [
        f"{what}: oracle {by_key[0].get(k)}\n      SQL    {by_key[1].get(k)}"
        for k in keys
        if by_key[0].get(k) != by_key[1].get(k)
    ]
    return unlike or ([f"{what}: order or number of rows"] if want != got else [])


class Tally:
    """Of one template or of one kind of asking: how many pairs were compared and how many refused, and the hits per
    column of its table and outcome."""

    def __init__(self, name: str, wanted: Mapping[str, frozenset[Outcome]]) -> None:
        self.name, self.wanted = name, wanted
        self.hits: Counter[tuple[str, Outcome]] = Counter()
        self.pairs = self.refused = 0

    def compare(
        self, pair: Pair, column: str, *, procedure: bool = False, aside: Sequence[Event] = ()
    ) -> None:
        """Count what compiler and oracle agree on; raises AssertionError where they do not, and at a cell that is
        not reachable."""
        try:
            want, found = differences(*pair, procedure, aside)
        except GnrsError:
            self.refused += 1
            return
        rule = f"{self.name} {column}\n{pair[0].model_dump_json(exclude_defaults=True)}\n"
        assert not found, rule + "\n".join(found[:4])
        self.pairs += 1
        hits = Counter(Outcome(v.verdict, v.reason) for v in want)
        beyond = hits.keys() - self.wanted[column]
        assert not beyond, f"{rule}{beyond} is not reachable, by what is written"
        self.hits.update({(column, outcome): number for outcome, number in hits.items()})

    def verdicts(self, column: str) -> Counter[Verdict]:
        found: Counter[Verdict] = Counter()
        for (asked, outcome), number in self.hits.items():
            found[outcome.verdict] += number * (asked == column)
        return found

    def missing(self, operator: str) -> list[Verdict]:
        had = self.verdicts(operator)
        return [v for v in reachable(self.name, operator) if had[v] < HITS]

    def short(self, column: str) -> list[Outcome]:
        """The reachable cells with fewer than fifty hits."""
        return sorted(outcome for outcome in self.wanted[column] if self.hits[column, outcome] < 50)

    def rows(self) -> list[str]:
        counts = {operator: self.verdicts(operator) for operator in self.wanted}
        return [
            f"{self.name:<20}{operator:<10}" + "".join(f"{had[v]:>15,}" for v in VERDICTS)
            for operator, had in counts.items()
        ]

    def table(self) -> list[str]:
        """Hits per outcome and column; a dash where it is not reachable."""
        every = sorted(frozenset[Outcome]().union(*self.wanted.values()))
        return [f"{self.name:<35}" + "".join(f"{column:>14}" for column in self.wanted)] + [
            f"  {outcome.verdict:<14}{outcome.reason:<19}"
            + "".join(
                f"{self.hits[column, outcome] if outcome in outcomes else '–':>14}"
                for column, outcomes in self.wanted.items()
            )
            for outcome in every
        ]


def of_template(template: str) -> Tally:
    return Tally(template, {o: cells.reachable(template, o) for o in cells.OPERATORS[template]})


HEADER = f"{'template':<20}{'operator':<10}" + "".join(f"{v:>15}" for v in VERDICTS)


def run_template(template: str) -> Tally:
    """Random pairs of a template until every verdict it can have has its hits, in the fast tier those of FEW."""
    tally = of_template(template)
    for operator in tally.wanted:
        for seed in FEW.get((template, operator), ()) if tiers.fast else range(MOST_SEEDS):
            if not tally.missing(operator):
                break
            tally.compare(random_pair(seed, template, operator, CASES), operator, procedure=seed % 3 == 1)
    return tally


def run_cells(template: str) -> Tally:
    """Random pairs of every family, then pairs that are directed to the cells that are short of hits."""
    tally = of_template(template)
    for operator in tally.wanted:
        for seed in range(2):
            for family in (random_pair, data_pair, working_pair, twice_pair):
                pair = family(seed, template, operator, CASES)
                tally.compare(pair, operator, procedure=seed == 1)
                rule, records, events = pair
                rows, aside = put_aside(seed, events)
                tally.compare((rule, records, rows), operator, procedure=seed == 1, aside=aside)
        for seed in range(MOST_SEEDS):
            for outcome in tally.short(operator):
                tally.compare(directed_pair(seed, template, operator, outcome, CASES), operator)
    return tally


def run_ways(about: str) -> Tally:
    """Pairs that ask in each way of a kind, directed to the cells that are short of hits."""
    tally = Tally(about, {name: way.reachable() for name, way in WAYS[about].items()})
    for name, way in WAYS[about].items():
        for seed in range(MOST_SEEDS):
            for outcome in tally.short(name):
                tally.compare(way.pair(seed, outcome, CASES), name)
    return tally


def main() -> None:
    hits, pairs, refused, verdicts = list[int](), 0, 0, 0
    for name in sys.argv[1:] or (*IMPLEMENTED, *WAYS):
        tally = run_ways(name) if name in WAYS else run_cells(name)
        print("\n".join(tally.table()), flush=True)
        hits += [tally.hits[column, outcome] for column, found in tally.wanted.items() for outcome in found]
        pairs, refused = pairs + tally.pairs, refused + tally.refused
        verdicts += tally.hits.total()
    print(
        f"{len(hits):,} reachable cells, each hit {min(hits):,} times or more, and none beside them; "
        f"{verdicts:,} verdicts of {pairs:,} pairs, SQL equal to the oracle in each; {refused:,} further pairs refused"
    )


if __name__ == "__main__":
    main()
