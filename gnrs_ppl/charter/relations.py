"""Relations of pairs of rules, decided once each: rules that only a procedure tells apart relate alike."""

from __future__ import annotations

from collections.abc import Mapping

from gnrs_ppl.charter.pairs import PairRelation, Relation, Witness, relation
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.rule.canonical import canonical, dumps
from gnrs_ppl.rule.types import HALVES, MUTUAL, NEIGHBOURS, Act, Procedure, Structure

APART = PairRelation("independent", why="neither names an act that the other asks for, bans or excuses with")
"""Two rules whose acts say it already: no case is searched."""


def meaning(structure: Structure) -> str:
    """What a rule says of cases, as one text: its canonical form without what follows a breach and without
    what only its words name.
    """
    scope = structure.scope.model_copy(update={"concerns": ()})
    return dumps(canonical(structure.model_copy(update={"procedure": Procedure(), "scope": scope})))


class Relations:
    """How rules relate on one record layer; each pair of meanings is searched once.

    Parameters
    ----------
    records : RecordLayer
        What each log can record, its clock, and how cases end.
    """

    def __init__(self, records: RecordLayer) -> None:
        self.records = records
        self._found: dict[tuple[str, str], PairRelation] = {}

    def __len__(self) -> int:
        """How many pairs were decided."""
        return len(self._found) // 2

    def known(self, first: str, second: str) -> PairRelation | None:
        """What is known of two meanings; of one that stands twice, that it implies itself."""
        if first == second:
            return PairRelation("equivalent", why="they say the same of every case")
        return self._found.get((first, second))

    def between(self, first: Structure, second: Structure) -> PairRelation:
        """How two rules relate, searched where it is not known yet."""
        one, other = meaning(first), meaning(second)
        found = self.known(one, other)
        if found is None:
            found = APART if apart(first, second) else relation(first, second, self.records)
            self._found[one, other] = found
            self._found[other, one] = turned(found)
        return found


def conflicting(pairs: Mapping[tuple[int, int], PairRelation]) -> list[tuple[int, int]]:
    """The pairs of rules that no case can keep both of."""
    return [pair for pair, found in pairs.items() if found.kind == "conflict"]


TURNED: dict[Relation, Relation] = {
    "first_implies_second": "second_implies_first",
    "second_implies_first": "first_implies_second",
}


def turned(found: PairRelation) -> PairRelation:
    """The same relation, the second rule named first."""
    return PairRelation(
        TURNED.get(found.kind, found.kind),
        found.events,
        found.cases,
        both_kept=_turned(found.both_kept),
        first_kept=_turned(found.second_kept),
        second_kept=_turned(found.first_kept),
        against_first_implies_second=_turned(found.against_second_implies_first),
        against_second_implies_first=_turned(found.against_first_implies_second),
        why=found.why,
    )


def _turned(witness: Witness | None) -> Witness | None:
    return witness and witness._replace(verdicts=(witness.verdicts[1], witness.verdicts[0]))


def apart(first: Structure, second: Structure) -> bool:
    """Whether the acts of two rules say already that neither conflicts with nor implies the other: what one
    asks for, bans or excuses with calls the other up nowhere and is no matter of it, and neither looks at
    what comes directly beside.
    """
    templates = (c.template for rule in (first, second) for c in rule.norm.constraints)
    beside = any(half in NEIGHBOURS for template in templates for half in HALVES.get(template, (template,)))
    return not beside and not (_moved(first) & _named(second) or _moved(second) & _named(first))


def _moved(rule: Structure) -> set[str]:
    """The activities by which a rule is kept, broken or excused, and those it waits for."""
    acts = [a for c in rule.norm.constraints for a in (c.target, c.unless, c.after.act if c.after else None)]
    mutual = any(c.template in MUTUAL for c in rule.norm.constraints)  # its second half asks for the trigger
    return _activities(*acts, rule.trigger.act if mutual else None)


def _named(rule: Structure) -> set[str]:
    return _moved(rule) | _activities(rule.trigger.act)


def _activities(*acts: Act | None) -> set[str]:
    return {name for act in acts if act is not None for name in act.activities}
