"""A rule file in another form: the check with its values written out, or DECLARE."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gnrs_ppl.audit.calendar import WorkingTime
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.literal import dbt_test, view
from gnrs_ppl.errors import one_line
from gnrs_ppl.rule.canonical import signature
from gnrs_ppl.rule.declare import Declared, declare
from gnrs_ppl.rule.files import read_rule
from gnrs_ppl.rulebook.given import given


def exported(rule: Path, to: str, context: Path | None = None, log: Path | None = None) -> Declared:
    """A rule as ``view``, ``dbt`` or ``declare``, with notes for its reader.

    A view and a test of dbt are compiled for one log: its channels, clocks and time zones are in them.

    Raises
    ------
    InputError
        A file is missing or malformed, or the form has no words for what the rule says.
    Refused
        The rule cannot be checked on the log.
    """
    if to == "declare":
        return declare(read_rule(rule).rule)
    asked = given([rule], context, log, needs_log=True)
    structure = asked.rules[0]
    assert asked.log is not None
    plan = check(structure, asked.records, asked.log)
    years = range(max(plan.years) + 1, max(plan.years) + 11) if plan.years else ()
    # elsewhere there is no table of rows set aside
    plan = replace(plan, years=(*plan.years, *years), set_aside=False, of_any_case=False)
    query = compile_rule(plan)
    name = f"verdicts_{signature(structure)}"
    text = view(query, name) if to == "view" else dbt_test(query, binding=structure.norm.force == "must")
    counted = WorkingTime.of(structure, asked.records, plan.extent).days
    notes = (
        *asked.notes,
        *plan.assumptions,
        *(
            ["rows that were set aside are not in it: it takes what they may show as absent"]
            if asked.log.set_aside
            else []
        ),
        *(
            f"its calendar ends on {day}, and working time past that is left uncounted; export it again as "
            "the log grows"
            for day, _ in counted[-1:]
        ),
        *(
            f"the changes of clocks in {asked.records.zone} are written out up to {year}; export it again by "
            "then"
            for year in years[-1:]
        ),
        f"compiled for a log of {asked.log.events:,} events; export it again when channels, clocks or zones "
        "change",
    )
    return Declared(text, tuple(one_line(note) for note in notes))
