"""Mutations of what the compiler makes of data and persons (D entries) are caught, as test_audit_mutations.py
catches those of the rest: by a verdict that the oracle does not give.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from data_pairs import data_pair
from test_audit_mutations import CAUGHT, Mutation, answered, caught, compiler

from gnrs_ppl.audit.run import execute

KEYS = (
    (1, "existence", "any"), (1, "absence", "all"), (1, "not_response", "all"), (2, "precedence", "any"),
    (0, "existence", "any"), (0, "not_response", "any"), (2, "existence", "any"),
)  # fmt: skip
"""Seed, template and operator of the pairs; together they show every mutation."""

MUTATIONS = [
    # D3: conditions
    Mutation("conditions are not looked at", "evidence", "enumerate(one.where, 1)", "enumerate(one.where[:0], 1)"),
    Mutation("one condition is enough", "evidence", "enumerate(one.where, 1)", "enumerate(one.where[:1], 1)", by=1),
    Mutation("less takes the bound in", "sql", '"less": "<",', '"less": "<=",', by=3),
    Mutation("at most leaves the bound out", "sql", '"at_most": "<=",', '"at_most": "<",'),
    Mutation("more takes the bound in", "sql", '"more": ">",', '"more": ">=",', by=1),
    Mutation("at least leaves the bound out", "sql", '"at_least": ">="', '"at_least": ">"'),
    Mutation("equal is different", "sql", '"equal": "=",', '"equal": "<>",'),
    Mutation("what is unknown is different", "sql", '"not_equal": "<>"', '"not_equal": "IS DISTINCT FROM"', by=3),
    Mutation("what is unknown is not equal", "sql", '"equal": "=",', '"equal": "IS NOT DISTINCT FROM",'),
    Mutation("one of is none of", "sql", "{column} IN (", "{column} NOT IN ("),
    Mutation("between leaves its ends out", "sql", "{column} BETWEEN {values[0]} AND {values[1]}", "{column} > {values[0]} AND {column} < {values[1]}", by=5),
    Mutation("an unreadable cell is an empty one", "sql", "WHEN NOT {column}_unclear THEN FALSE END", "ELSE FALSE END", by=4),
    Mutation("an empty cell is unknown", "sql", "WHEN NOT {column}_unclear THEN FALSE END", "END", by=1),
    # D5: the activation
    Mutation("the row is compared with itself", "sql", "{'its_' if condition.other.of == 'activation' else ''}", ""),
    Mutation("activations of other values share a thread", "intervals", '*(f"v.{column}" for column in columns)]', "]"),
    Mutation("activations of other cases share a thread", "intervals", 'alike = ["a.case_id", ', "alike = ["),
    Mutation("activations of other people share a thread", "intervals", '*(["a.key"] if c.key else []), *(f"v.', '*(f"v.', by=2),
    Mutation("a compared row needs no key", "evidence", "if key is not None:\n            terms.append", "if threads.differ:\n            terms.append", by=3),
    # D6: scope
    Mutation("the scope's data do not filter triggers", "instances", "terms += [_in_scope(check)] if structure.scope.where else []", "pass"),
    Mutation("the scope's data do not filter cases", "instances", "        if structure.scope.where:\n            cases =", "        if False:\n            cases =", by=1),
    Mutation("an unknown case is in scope", "instances", 'definite += " AND coalesce(c.matched, FALSE)"', "pass", by=1),
    # D7: persons
    Mutation("another person is the same", "evidence", '"<>" if threads.differ else "="', '"=" if threads.differ else "<>"', by=2),
    Mutation("another person is nobody special", "checkable", 'differ=correlation == "different_resource"', "differ=False", by=2),
    Mutation("a program is another person", "evidence", "if threads.differ and st.automatic:", "if False:", by=2),
    Mutation("a program is a person", "intervals", 'if c.key == "resource" and not c.differ and st.automatic:', "if False:", by=6),
    Mutation("nobody has no other person", "intervals", 'if c.key == "resource" and not c.differ and st.automatic:', 'if c.key == "resource" and st.automatic:', by=2),
]  # fmt: skip


@pytest.mark.slow
def test_mutations_of_data_and_persons_are_caught(record_property: Callable[[str, object], None]) -> None:
    pairs = [pair for key in KEYS if (pair := answered(*data_pair(*key, 40)))]
    assert len(pairs) == len(KEYS)
    for pair in pairs:
        assert execute(pair.query, pair.log) == pair.norm, "the unchanged compiler must agree with the oracle"
    found = {}
    for mutation in MUTATIONS:
        with compiler(mutation) as run:
            found[mutation.what] = caught(run, mutation, [pairs[mutation.by], *pairs])
    rest = {what: kind for what, kind in found.items() if kind != "wrong verdict"}
    record_property(
        "mutations", f"{len(found) - len(rest)} of {len(found)} mutations of data and persons caught"
    )
    assert len(found) == len(MUTATIONS)
    assert 1 - len(rest) / len(found) >= CAUGHT, rest
