"""Mutations of what the compiler makes of working time (W entries) are caught, as test_audit_mutations.py catches
those of the rest: by a verdict that the oracle does not give.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from test_audit_mutations import CAUGHT, Mutation, answered, caught, compiler
from working_pairs import working_pair

from gnrs_ppl.audit.run import execute

KEYS = (
    (0, "existence"), (0, "response"), (0, "succession"), (0, "alternate_response"),
    (0, "alternate_succession"), (1, "response"), (1, "responded_existence"), (1, "alternate_succession"),
    (1, "not_coexistence"), (2, "existence"), (2, "chain_precedence"), (3, "not_coexistence"),
    (4, "responded_existence"), (4, "alternate_succession"), (4, "not_chain_succession"),
    (6, "not_succession"), (9, "chain_precedence"), (11, "response"),
)  # fmt: skip
"""Seed and template of the pairs; together they show every mutation."""

MUTATIONS = [
    # W1 and W2: the calendar
    Mutation("every day of the week is worked", "calendar", "WEEKDAYS[day.weekday()] in calendar.weekdays and", ""),
    Mutation("holidays are worked", "calendar", " and day not in _free(calendar, day.year)", ""),
    Mutation("the part of a country does not matter", "calendar", "calendar.holidays.subdivision, year)", "None, year)"),
    Mutation("the calendar has the log's clock", "calendar", "return zone_of(zone) if zone is not None else records.clock", "return records.clock"),
    Mutation("listed holidays are known for ever", "calendar", "first, last = min(calendar.holidays).year, max(calendar.holidays).year", "first, last = YEARS"),
    Mutation("of the last known year one day is known", "calendar", "return date(first, 1, 1), date(last, 12, 31)", "return date(first, 1, 1), date(last, 1, 1)"),
    # W3: working days
    Mutation("a worked own day counts", "calendar", 'f"d.before + d.worked + {amount}"', 'f"d.before + {amount}"'),
    Mutation("a worked own day counts back", "calendar", 'f"d.before - {amount} + 1"', 'f"d.before + d.worked - {amount} + 1"'),
    Mutation("the last day does not count whole", "calendar", '"w.ends - to_microseconds(1)" if sign', '"w.begins" if sign'),
    Mutation("back to the end of the first day", "calendar", 'else "w.begins"', 'else "w.ends"'),
    Mutation("dates are instants", "calendar", "WHEN 'day' THEN 'date' ELSE 'instant' END AS scale", "WHEN 'day' THEN 'instant' ELSE 'instant' END AS scale"),
    Mutation("dates are dates in UTC", "calendar", "WHEN 'day' THEN {prefix}ts + to_minutes({prefix}off) ELSE", "WHEN 'day' THEN {prefix}ts ELSE"),
    Mutation("a date's bound is a date in UTC", "calendar", "THEN w.day - to_minutes(s.off) ELSE", "THEN w.day ELSE"),
    Mutation("any day of that number", "calendar", "w.worked = 1 AND w.before + 1 = s.number", "w.before + 1 = s.number"),
    # W4: offset and grain
    Mutation("the bound has the activation's offset", "calendar", "WHEN u.grain = 'day' THEN u.off ELSE k.ahead END", "WHEN u.grain = 'day' THEN u.off ELSE u.off END"),
    Mutation("a date's bound has the calendar's offset", "calendar", "WHEN u.grain = 'day' THEN u.off ELSE k.ahead END", "WHEN u.grain = 'day' THEN k.ahead ELSE k.ahead END"),
    Mutation("clocks never change", "calendar", "for c in found if c.at > begins]", "for c in found if c.at > begins][:0]"),
    Mutation("the bound is not cut", "calendar", "CASE b.grain {cut} END - to_minutes(b.off) AS bound_ts", "b.ts AS bound_ts"),
    # W5: working hours
    Mutation("the end is the next morning", "calendar", '(">", "<=") if sign', '(">=", "<=") if sign'),
    Mutation("back to the close before", "calendar", 'else (">=", "<")', 'else (">", "<=")'),
    Mutation("the evening counts", "calendar", "least(epoch_us(a.ts) - epoch_us(s.begins), s.length)", "epoch_us(a.ts) - epoch_us(s.begins)"),
    Mutation("hours are counted on", "calendar", "{sign} {amount} AS target", "+ {amount} AS target"),
    Mutation("hours of days that are not worked", "calendar", "while worked and pieces[at][0] < ends", "while pieces[at][0] < ends"),
    Mutation("only the first hours of a day", "calendar", "found += [span] if span[0] < span[1] else []", "found += [span] if span[0] < span[1] and span[0] - begins < _DAY / 2 else []"),
    # W6 and W7: what cannot be counted
    Mutation("a date has hours", "calendar", "WHERE a.grain <> 'day' AND", "WHERE"),
    Mutation("a time that comes twice has working hours", "calendar", 'join, certain = unclear if self.twice else ("", "")', 'join, certain = "", ""'),
    Mutation("only the second hour is in doubt", "calendar", "(at - (before - after), at + (before - after))", "(at, at + (before - after))"),
    Mutation("only the first hour is in doubt", "calendar", "(at - (before - after), at + (before - after))", "(at - (before - after), at)"),
    Mutation("what is not counted is out of scope", "outcomes", "WHEN j.inst IS NULL THEN 'uncounted'", "WHEN j.inst IS NULL THEN 'scope'"),
    Mutation("what is not counted is not activated", "outcomes", "WHEN j.inst IS NULL THEN 'indeterminate'", "WHEN j.inst IS NULL THEN 'not_activated'"),
    # the joins
    Mutation("the window runs from the activation", "intervals", '"window", window, f"{p}_active", "a.start_", "+"', '"window", window, f"{p}_active", "a.at_", "+"'),
    Mutation("the episode ends before it begins", "intervals", '"window", window, instances, "", "+"', '"window", window, instances, "", "-"'),
    Mutation("a look-back looks ahead", "intervals", 'c.deadline, f"{p}_active", "a.at_", "-")', 'c.deadline, f"{p}_active", "a.at_", "+")'),
    Mutation("a deadline lies behind", "intervals", 'c.deadline, f"{p}_active", "a.at_", "+")', 'c.deadline, f"{p}_active", "a.at_", "-")'),
]  # fmt: skip


@pytest.mark.slow
def test_mutations_of_working_time_are_caught(record_property: Callable[[str, object], None]) -> None:
    pairs = [pair for seed, template in KEYS if (pair := answered(*working_pair(seed, template, "any", 24)))]
    assert len(pairs) == len(KEYS)
    for pair in pairs:
        assert execute(pair.query, pair.log) == pair.norm, "the unchanged compiler must agree with the oracle"
    found = {}
    for mutation in MUTATIONS:
        with compiler(mutation) as run:
            found[mutation.what] = caught(run, mutation, pairs)
    rest = {what: kind for what, kind in found.items() if kind != "wrong verdict"}
    record_property("mutations", f"{len(found) - len(rest)} of {len(found)} mutations of working time caught")
    assert len(found) == len(MUTATIONS)
    assert 1 - len(rest) / len(found) >= CAUGHT, rest
