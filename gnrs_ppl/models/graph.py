"""The And-Or Graph of one context as a factor graph: OR nodes as variables, horizontal relations as pair
tables (DESIGN §3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnrs_ppl.context.load import Context
from gnrs_ppl.models.features import DEFINITIONS, FEATURES, Facts
from gnrs_ppl.models.flags import Flag, flags
from gnrs_ppl.models.space import RuleSpace, build_space
from gnrs_ppl.rule.pools import Option, Pools, assemble, options
from gnrs_ppl.rule.types import SLOTS, EvidencePolicy, Structure, Trigger

Table = NDArray[np.float64]
Position = Sequence[int] | NDArray[np.int32]
"""One option index per variable."""
COMPATIBLE_FAVOUR = 9.0
"""How much likelier the trigger-evidence edit proposes a policy that can record the trigger than one that
cannot."""


@dataclass(frozen=True)
class AndOrGraph:
    """A context's options per slot, its rule space, and the hard conditions by name.

    Attributes
    ----------
    options : tuple of tuples of Option
        One tuple per slot, in the order of ``SLOTS``; positions index these.
    space : RuleSpace
        Feature and flag tables; variable v is slot ``SLOTS[v]``.
    flags : tuple of (Flag, table)
        Each condition's boolean table over the options of its slots, shape (n,) or (n, m).
    """

    facts: Facts
    options: tuple[tuple[Option, ...], ...]
    space: RuleSpace
    flags: tuple[tuple[Flag, NDArray[np.bool_]], ...]

    def structure(self, position: Position) -> Structure:
        """The structure at a position (one option index per slot)."""
        return assemble(tuple(self.options[v][int(o)] for v, o in enumerate(position)))

    def labels(self) -> dict[str, list[str]]:
        """Per slot, a readable name of each option: candidate id and levels."""
        return {slot: [option_label(o) for o in self.options[v]] for v, slot in enumerate(SLOTS)}

    def blockers(self) -> list[tuple[Flag, float]]:
        """Hard conditions with the share of the product space each alone excludes, largest first, zeros left
        out.
        """
        shares = [(flag, float(table.mean())) for flag, table in self.flags]
        return sorted([(f, s) for f, s in shares if s > 0], key=lambda pair: -pair[1])

    def raised(self, position: Position) -> list[Flag]:
        """The hard conditions that fail at a position."""
        return [f for f, table in self.flags if table[tuple(int(position[SLOTS.index(s)]) for s in f.slots)]]


def option_label(option: Option) -> str:
    """Candidate id with its levels, such as ``N2[deadline=P5D]``."""
    levels = ",".join(f"{name}={value}" for name, value in option.levels.items())
    return f"{option.candidate}[{levels}]" if levels else option.candidate


def compile_graph(context: Context, pools: Pools) -> AndOrGraph:
    """The factor graph of a context's grounded pools (paper, Candidate construction and Structured search).

    Parameters
    ----------
    context : Context
        Goal, schema and records, which features and hard conditions read.
    pools : Pools
        Candidates of each slot.

    Raises
    ------
    InputError
        As :func:`~gnrs_ppl.models.build_space`.
    """
    facts = Facts.of(context)
    chosen = tuple(options(getattr(pools, slot)) for slot in SLOTS)
    contents = {slot: [o.content for o in chosen[v]] for v, slot in enumerate(SLOTS)}
    unary, pairwise = _feature_tables(facts, contents)
    named = tuple((flag, _flag_table(flag, contents)) for flag in flags(facts))
    unary_flags, pair_flags = _merged(named, contents)
    policies = [c for c in contents["evidence"] if isinstance(c, EvidencePolicy)]
    triggers = [c for c in contents["trigger"] if isinstance(c, Trigger)]
    evidence, trigger = SLOTS.index("evidence"), SLOTS.index("trigger")
    space = build_space(
        candidates=[[o.candidate_index for o in slot] for slot in chosen],
        unary=unary,
        pairwise=pairwise,
        unary_flags=unary_flags,
        pair_flags=pair_flags,
        swaps={evidence: _operator_groups(policies)},
        joints={(trigger, evidence): _trigger_evidence(facts, triggers, policies)},
    )
    return AndOrGraph(facts, chosen, space, named)


def _feature_tables(
    facts: Facts, contents: dict[str, list[Any]]
) -> tuple[list[Table], dict[tuple[int, int], Table]]:
    """φ split exactly: each feature is the mean of its terms, each term a unary or a pair table."""
    unary = [np.zeros((len(contents[slot]), len(FEATURES))) for slot in SLOTS]
    pairwise: dict[tuple[int, int], Table] = {}
    for f, name in enumerate(FEATURES):
        terms = DEFINITIONS[name](facts)
        for term in terms:
            where = tuple(SLOTS.index(s) for s in term.slots)
            if len(where) == 1:
                unary[where[0]][:, f] += np.array([term.value(c) for c in contents[term.slots[0]]]) / len(
                    terms
                )
                continue
            first, second = term.slots
            table = pairwise.setdefault(
                (where[0], where[1]), np.zeros((len(contents[first]), len(contents[second]), len(FEATURES)))
            )
            table[:, :, f] += np.array(
                [[term.value(a, b) for b in contents[second]] for a in contents[first]]
            ) / len(terms)
    return unary, pairwise


def _flag_table(flag: Flag, contents: dict[str, list[Any]]) -> NDArray[np.bool_]:
    if len(flag.slots) == 1:
        return np.array([flag.raised(c) for c in contents[flag.slots[0]]], dtype=bool)
    first, second = flag.slots
    return np.array([[flag.raised(a, b) for b in contents[second]] for a in contents[first]], dtype=bool)


def _merged(
    named: Sequence[tuple[Flag, NDArray[np.bool_]]], contents: dict[str, list[Any]]
) -> tuple[dict[int, NDArray[np.bool_]], dict[tuple[int, int], NDArray[np.bool_]]]:
    """Flags of the same slots OR-ed together: ¬h is subtracted once."""
    unary = {v: np.zeros(len(contents[slot]), dtype=bool) for v, slot in enumerate(SLOTS)}
    pairs: dict[tuple[int, int], NDArray[np.bool_]] = {}
    for flag, table in named:
        where = tuple(SLOTS.index(s) for s in flag.slots)
        if len(where) == 1:
            unary[where[0]] |= table
        else:
            key = (where[0], where[1])
            pairs[key] = pairs[key] | table if key in pairs else table
    return unary, pairs


def _operator_groups(policies: list[EvidencePolicy]) -> list[int]:
    """Group number per option: an evidence-policy swap keeps operator and k (DESIGN §4)."""
    numbers: dict[tuple[str, int | None], int] = {}
    return [numbers.setdefault((p.operator, p.k), len(numbers)) for p in policies]


def _trigger_evidence(facts: Facts, triggers: list[Trigger], policies: list[EvidencePolicy]) -> Table:
    """Row-stochastic table R[t, e]: every policy has mass, those that can record the trigger act more."""
    capable = np.array(
        [[t.act is None or bool(facts.capable(t.act, p.channels)) for p in policies] for t in triggers]
    )
    weights = 1.0 + COMPATIBLE_FAVOUR * capable
    rows: Table = weights / weights.sum(axis=1, keepdims=True)
    return rows
