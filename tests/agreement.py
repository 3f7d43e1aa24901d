"""Compiler against oracle on random pairs: the shared part of the agreement and mutation tests, and a script
that prints the cells.

Run ``python tests/agreement.py`` for the table of hits per template × operator × verdict.
"""

from __future__ import annotations

import sys
from collections import Counter

import oracle
import tiers
from pairs import OPERATORS, random_pair
from tiers import tier

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_procedure, compile_rule
from gnrs_ppl.audit.run import execute
from gnrs_ppl.audit.types import VERDICTS, InstanceVerdict, Verdict
from gnrs_ppl.context.log import Event, EventLog, resolved
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import Refused
from gnrs_ppl.rule.types import IMPLEMENTED, LOOK_BACK, MUTUAL, NEIGHBOURS, Structure

HITS = tier(1, 50)
"""Hits each reachable cell must have."""
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

Cell = tuple[str, str, Verdict]


def reachable(template: str, operator: str) -> list[Verdict]:
    """Verdicts a template can have under an operator with n ≥ 2."""
    if template in ("exactly", "exclusive_choice") and operator == "all":
        return []  # k = n > 1: both ask for more than one act and are refused by name (E2, A3)
    if (template in NEIGHBOURS and operator == "all") or (template in MUTUAL and operator != "any"):
        return []  # neighbours ask for k = 1 (N1), mutual templates for one channel (P1)
    never = {"pending"} if template in LOOK_BACK else set[str]()  # line 25
    never |= {"excused"} if template == "init" else set()  # nothing is recorded before the first event
    never |= {"not_activated"} if template in MUTUAL else set()  # no after (P1)
    return [v for v in VERDICTS if v not in never]


def differences(
    structure: Structure,
    records: RecordLayer,
    events: list[Event],
    procedure: bool,
) -> tuple[list[InstanceVerdict], list[str]]:
    """The oracle's verdicts of a pair, and where the compiled check (and the procedure's) says otherwise;
    raises Refused like the compiler."""
    log = EventLog.from_events(events, records)
    filled = resolved(records, log)
    plan = check(structure, filled, log)
    want = oracle.evaluate(structure, filled, events)
    found = _unlike("norm", want, execute(compile_rule(plan), log))
    follow_up = compile_procedure(plan) if procedure else None
    if follow_up is not None:
        found += _unlike(
            "procedure", oracle.evaluate_procedure(structure, filled, events, want), execute(follow_up, log)
        )
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
    """Of one template: how many pairs were compared and how many refused; hits per cell, and reasons."""

    def __init__(self) -> None:
        self.hits: Counter[Cell] = Counter()
        self.reasons: Counter[tuple[str, Verdict, str]] = Counter()
        self.pairs = self.refused = 0

    def missing(self, template: str, operator: str) -> list[Verdict]:
        return [v for v in reachable(template, operator) if self.hits[template, operator, v] < HITS]

    def rows(self) -> list[str]:
        pairs = sorted(
            {(t, o) for t, o, _ in self.hits}, key=lambda pair: (IMPLEMENTED.index(pair[0]), pair[1])
        )
        return [f"{t:<20}{o:<10}" + "".join(f"{self.hits[t, o, v]:>15,}" for v in VERDICTS) for t, o in pairs]


HEADER = f"{'template':<20}{'operator':<10}" + "".join(f"{v:>15}" for v in VERDICTS)


def run_template(template: str) -> Tally:
    """Random pairs of a template until every reachable cell has its hits, in the fast tier those of FEW;
    raises AssertionError at the first difference."""
    tally = Tally()
    for operator in OPERATORS:
        for seed in FEW.get((template, operator), ()) if tiers.fast else range(MOST_SEEDS):
            if not tally.missing(template, operator):
                break
            structure, records, events = random_pair(seed, template, operator, CASES)
            try:
                want, found = differences(structure, records, events, seed % 3 == 1)
            except Refused:
                tally.refused += 1
                continue
            tally.pairs += 1
            assert not found, (
                f"seed {seed} {template} {operator}\n{structure.model_dump_json(exclude_defaults=True)}\n"
                + "\n".join(found[:4])
            )
            for verdict in want:
                tally.hits[template, operator, verdict.verdict] += 1
                tally.reasons[template, verdict.verdict, verdict.reason] += 1
    return tally


def main() -> None:
    print(HEADER)
    for template in sys.argv[1:] or IMPLEMENTED:
        tally = run_template(template)
        print(
            "\n".join(tally.rows()),
            f"\n  {tally.pairs} pairs, {tally.refused} refused",
            flush=True,
        )


if __name__ == "__main__":
    main()
