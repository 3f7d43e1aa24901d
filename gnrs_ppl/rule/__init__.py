"""The rule: five typed slots, canonical form, candidates and their pools."""

from gnrs_ppl.rule.canonical import Payload, payloads, signature
from gnrs_ppl.rule.files import RuleFile, read_rule, rule_json
from gnrs_ppl.rule.pools import Candidate, Pools
from gnrs_ppl.rule.types import (
    Act,
    After,
    Constraint,
    EvidencePolicy,
    Norm,
    Office,
    Procedure,
    Scope,
    Step,
    Structure,
    Trigger,
)

__all__ = [
    "Act",
    "After",
    "Candidate",
    "Constraint",
    "EvidencePolicy",
    "Norm",
    "Office",
    "Payload",
    "Pools",
    "Procedure",
    "RuleFile",
    "Scope",
    "Step",
    "Structure",
    "Trigger",
    "payloads",
    "read_rule",
    "rule_json",
    "signature",
]
