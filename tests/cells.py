"""Which verdicts a template can have, and for which reasons: the reachable cells of template × operator × verdict ×
reason (SEMANTICS line 25), written down from docs/semantics.md. What a run hits is no source of this page: a cell
that stands here and is not hit, or is hit and does not stand here, fails.
"""

from __future__ import annotations

from typing import NamedTuple, cast, get_args

from gnrs_ppl.audit.types import VERDICTS, Reason, Verdict
from gnrs_ppl.rule.types import HALVES, IMPLEMENTED, LOOK_BACK, MUTUAL, NEGATIVE, NEIGHBOURS


class Outcome(NamedTuple):
    """A verdict and its reason."""

    verdict: Verdict
    reason: Reason


EVERY = """indeterminate scope uncounted twice unknown_key unknown_match open_world uncovered exception_unknown
           excused exception"""
"""What any constraint may come to: an opener that is not known (M5); a bound that cannot be counted, if only that of
the episode of `after` (W6); readings that differ (G8); an act neither proven nor refuted, in one log, asked for once
(E6); an exception that is proven, or cannot be ruled out (V4, X2)."""
AFTER = """not_activated no_after
           indeterminate after_unknown"""
"""A second activation that is not there, or perhaps is (I2)."""
OWN = {
    # V1: a response may be fulfilled at its activation's own instant; a late row needs a due that is shown
    "existence": "satisfied proven        violated absent late          pending open",
    "response": "satisfied proven tie     violated absent late          pending open    indeterminate unknown_tie",
    "responded_existence": "satisfied proven    violated absent late    pending open",
    "precedence": "satisfied proven       violated absent late                          indeterminate unknown_tie",
    "exactly": "satisfied proven          violated too_few too_many     pending open",  # V2
    "exclusive_choice": "satisfied proven violated absent late too_many pending open",  # C2
    # V3: a ban; until its end it was not seen to be broken
    "absence": "satisfied refuted         violated seen_forbidden       pending unseen",
    "not_response": "satisfied refuted    violated seen_forbidden       pending unseen  indeterminate unknown_tie",
    "not_coexistence": "satisfied refuted violated seen_forbidden       pending unseen",
    "not_precedence": "satisfied refuted  violated seen_forbidden                       indeterminate unknown_tie",
    # N6 and N7: never late; what may lie between leaves the order open
    "init": "satisfied proven             violated absent               pending open    indeterminate unknown_order",
    "end": "satisfied proven              violated absent               pending open    indeterminate unknown_order",
    "chain_response": "satisfied proven tie   violated absent           pending open    indeterminate unknown_order",
    "chain_precedence": "satisfied proven violated not_preceded    indeterminate unknown_order unknown_tie",
    "alternate_response": "satisfied proven tie violated absent         pending open    indeterminate unknown_order",
    "alternate_precedence": "satisfied proven violated not_preceded     indeterminate unknown_order unknown_tie",
    "not_chain_response": "satisfied refuted  violated seen_forbidden   pending unseen  "
    "indeterminate unknown_order unknown_tie",
    "not_chain_precedence": "satisfied refuted violated seen_forbidden  indeterminate unknown_order unknown_tie",
}
"""What a template says of its own. `unknown_tie` stands where a tie with the activation may be unknown: at the strict
bound of I3, or at that of N3 and N7, or where the rule may say so (T1, T2)."""


def reachable(template: str, operator: str) -> frozenset[Outcome]:
    """The outcomes that a template can have under an operator, with more logs than one where it takes them."""
    if operator not in OPERATORS[template]:
        return frozenset()
    if template in MUTUAL:  # P1, P2: those of its halves, each in one log; and no second activation
        return frozenset[Outcome]().union(*(_listed(f"{EVERY} {OWN[half]}") for half in HALVES[template]))
    counts = template in ("existence", "absence")  # `exactly` counts as well, and waits with `open`
    agree = operator != "any" and template not in ("exactly", "exclusive_choice", *NEIGHBOURS)
    found = _listed(f"{EVERY} {AFTER} {OWN[template]}")
    if counts or agree or template == "exactly":
        found |= _listed(
            "indeterminate split"
        )  # as many rows as are asked for, but not as one act, or in no log (E6)
    if agree:
        found |= _listed("indeterminate uncorroborated")  # in too few logs (E6)
    if template in NEGATIVE and template not in LOOK_BACK and (counts or agree):
        found |= _listed("pending seen")  # a row, but not yet as many, or in too few logs (V3)
    return found


OPERATORS: dict[str, tuple[str, ...]] = {
    # k = n > 1 is refused where more than one act is asked for (E2, A3) and beside others (N1); a mutual template
    # takes one log, where the operators are one (P1)
    template: ("any",)
    if template in MUTUAL
    else ("any", "at_least")
    if template in ("exactly", "exclusive_choice", *NEIGHBOURS)
    else ("any", "all", "at_least")
    for template in IMPLEMENTED
}
"""The operators of each template, with more logs than one but for mutual ones."""


def _listed(words: str) -> frozenset[Outcome]:
    """The outcomes of a line: each verdict before its reasons."""
    found, verdict = set[Outcome](), VERDICTS[0]
    for word in words.split():
        if word in VERDICTS:
            verdict = cast(Verdict, word)
        else:
            assert word in get_args(Reason)
            found.add(Outcome(verdict, cast(Reason, word)))
    return frozenset(found)
