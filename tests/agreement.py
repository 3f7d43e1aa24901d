"""Compiler against oracle on random pairs: the shared part of the agreement and mutation tests, and a script that prints the cells.

Run ``python tests/agreement.py`` for the table of hits per template × operator × verdict.
"""

from __future__ import annotations

import sys
from collections import Counter

import oracle
from pairs import OPERATORS, random_pair

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_procedure, compile_rule
from gnrs_ppl.audit.run import execute
from gnrs_ppl.audit.types import VERDICTS, InstanceVerdict, Verdict
from gnrs_ppl.context.log import Event, EventLog, resolved
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import Refused
from gnrs_ppl.rule.types import IMPLEMENTED, LOOK_BACK, MUTUAL, NEIGHBOURS, Structure

HITS = 50
"""Hits each reachable cell must have."""
CASES = 96
"""Cases per log: each is a log of its own but for coverage and the end of observation."""
MOST_SEEDS = 120

Cell = tuple[str, str, Verdict]


def reachable(template: str, operator: str) -> list[Verdict]:
    """Verdicts a template can have under an operator with n ≥ 2."""
    if template == "exactly" and operator == "all":
        return []  # k = n > 1: exactly asks for n + 1 acts and is refused by name (E2)
    if (template in NEIGHBOURS and operator == "all") or (template in MUTUAL and operator != "any"):
        return []  # neighbours ask for k = 1 (N1), mutual templates for one channel (P1)
    never = {"pending"} if template in LOOK_BACK else set[str]()  # line 25
    never |= {"excused"} if template == "init" else set()  # nothing is recorded before the first event
    never |= {"not_activated"} if template in MUTUAL else set()  # no after (P1)
    return [v for v in VERDICTS if v not in never]


def differences(
    structure: Structure, records: RecordLayer, events: list[Event], procedure: bool
) -> tuple[list[InstanceVerdict], list[str]]:
    """The oracle's verdicts of a pair, and where the compiled check (and the procedure's) says otherwise; raises Refused like the compiler."""
    log = EventLog.from_events(events, records)
    filled = resolved(records, log)
    plan = check(structure, filled, log)
    want, got = oracle.evaluate(structure, filled, events), execute(compile_rule(plan), log)
    found = _unlike("norm", want, got)
    follow_up = compile_procedure(plan) if procedure else None
    if follow_up is not None:
        found += _unlike("procedure", oracle.evaluate_procedure(structure, filled, events, want), execute(follow_up, log))
    return want, found


def _unlike(what: str, want: list[InstanceVerdict], got: list[InstanceVerdict]) -> list[str]:
    by_key = {v[:3]: v for v in want}, {v[:3]: v for v in got}
    keys = sorted(by_key[0].keys() | by_key[1].keys())
    unlike = [f"{what}: oracle {by_key[0].get(k)}\n      SQL    {by_key[1].get(k)}" for k in keys if by_key[0].get(k) != by_key[1].get(k)]
    return unlike or ([f"{what}: order or number of rows"] if want != got else [])


class Tally:
    """Hits per cell, refusals and pairs of one template."""

    def __init__(self) -> None:
        self.hits: Counter[Cell] = Counter()
        self.reasons: Counter[tuple[str, Verdict, str]] = Counter()
        self.pairs = self.refused = 0

    def missing(self, template: str, operator: str) -> list[Verdict]:
        return [v for v in reachable(template, operator) if self.hits[template, operator, v] < HITS]

    def rows(self) -> list[str]:
        pairs = sorted({(t, o) for t, o, _ in self.hits}, key=lambda pair: (IMPLEMENTED.index(pair[0]), pair[1]))
        return [f"{t:<20}{o:<10}" + "".join(f"{self.hits[t, o, v]:>15,}" for v in VERDICTS) for t, o in pairs]


HEADER = f"{'template':<20}{'operator':<10}" + "".join(f"{v:>15}" for v in VERDICTS)


def run_template(template: str) -> Tally:
    """Random pairs of a template until every reachable cell has its hits; raises AssertionError at the first difference."""
    tally = Tally()
    for operator in OPERATORS:
        seed = 0
        while tally.missing(template, operator) and seed < MOST_SEEDS:
            structure, records, events = random_pair(seed, template, operator, CASES)
            seed += 1
            try:
                want, found = differences(structure, records, events, procedure=seed % 3 == 1)
            except Refused:
                tally.refused += 1
                continue
            assert not found, f"seed {seed - 1} {template} {operator}\n{structure.model_dump_json(exclude_defaults=True)}\n" + "\n".join(
                found[:4]
            )
            tally.pairs += 1
            for verdict in want:
                tally.hits[template, operator, verdict.verdict] += 1
                tally.reasons[template, verdict.verdict, verdict.reason] += 1
    return tally


def main() -> None:
    print(HEADER)
    for template in sys.argv[1:] or IMPLEMENTED:
        tally = run_template(template)
        print("\n".join(tally.rows()), f"\n  {tally.pairs} pairs, {tally.refused} refused", flush=True)


if __name__ == "__main__":
    main()
