"""What a log makes likely beyond who does what when: a number from which on an act follows, and two acts that
no person does in one case.

Both are told with their counts and drafted only where a person asks for them: they say what is customary, and
not that anybody wants it, and no annotated goal has them, so nothing says how much they should weigh.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from gnrs_ppl.candidates.persons import COMPARE_NONE
from gnrs_ppl.candidates.source import Material
from gnrs_ppl.context.log import attribute_column
from gnrs_ppl.rule.canonical import SlotContent
from gnrs_ppl.rule.types import Condition, Norm, Test, Trigger

BY_CHANCE = 0.001
"""Probability below which what is seen is not taken for chance, over all that was tried."""
PURE = 0.9
"""Least share of the cases that a threshold must place on the right side."""
LEAST = 10
"""Fewest cases on either side of a threshold, and fewest in which two acts name their persons."""


class Suggestion(NamedTuple):
    """What a log makes likely of an act after an opener.

    Attributes
    ----------
    opener, act : str
    condition : Condition or None
        On the opener's rows; None for another person.
    because : str
        The counts.
    """

    opener: str
    act: str
    condition: Condition | None
    because: str

    @property
    def slot(self) -> str:
        """The slot that would say it."""
        return "norm" if self.condition is None else "trigger"

    @property
    def pin(self) -> str:
        """What asks for it, as ``--fix`` takes it."""
        if self.condition is None:
            return "norm.correlate=different_resource"
        return f"trigger.where={self.condition}"

    def said_in(self, content: SlotContent) -> SlotContent | None:
        """A trigger or norm that says it too; None where it is about other acts, or says it already."""
        if isinstance(content, Trigger) and self.condition is not None:
            act = content.act
            if act is None or act.activities != (self.opener,) or self.condition in act.conditions:
                return None
            narrowed = act.model_copy(update={"where": (*act.where, self.condition)})
            return content.model_copy(update={"act": narrowed})
        if not isinstance(content, Norm) or self.condition is not None:
            return None
        constraints = tuple(
            c.model_copy(update={"correlate": "different_resource"})
            if c.positive
            and c.target.activities == (self.act,)
            and c.after is None
            and c.template not in COMPARE_NONE
            else c
            for c in content.constraints
        )
        return (
            content.model_copy(update={"constraints": constraints})
            if constraints != content.constraints
            else None
        )


def suggestions(material: Material) -> Iterator[Suggestion]:
    """Thresholds and pairs of persons, for the likeliest openers and the acts that the goal requires; none
    where there is no log.
    """
    if material.context.records.prospective:
        return
    for opener in material.openers[:2]:
        for act in material.required:
            if act != opener and {act, opener} <= material.traces.homes.keys():
                yield from _separated(material, opener, act)
                yield from _apart(material, opener, act)


class _Split(NamedTuple):
    """A threshold: up to it, and above it, in how many cases the act follows, and does not."""

    threshold: Decimal
    up_to: tuple[int, int]
    above: tuple[int, int]

    @property
    def cases(self) -> int:
        return sum(self.up_to) + sum(self.above)

    @property
    def follows_above(self) -> bool:
        return self.above[0] * sum(self.up_to) > self.up_to[0] * sum(self.above)

    @property
    def right(self) -> int:
        """Cases that are on the right side."""
        return self.above[0] + self.up_to[1] if self.follows_above else self.up_to[0] + self.above[1]


def _separated(material: Material, opener: str, act: str) -> Iterator[Suggestion]:
    """The best threshold of each number on the opener's rows that parts the cases in which the act follows
    from the others.
    """
    for position, attribute in enumerate(material.context.records.attributes):
        if attribute.type != "number":
            continue
        splits = _splits(material, opener, act, attribute_column(position))
        fitting = [s for s in splits if min(sum(s.up_to), sum(s.above)) >= LEAST]
        best = max(fitting, key=lambda s: s.right, default=None)
        if best is None or best.right < PURE * best.cases:
            continue
        from scipy.stats import fisher_exact  # half a second

        table = np.array([best.up_to, best.above])
        if len(splits) * fisher_exact(table).pvalue >= BY_CHANCE:
            continue
        unit = f" {attribute.unit}" if attribute.unit else ""
        side, other = (best.above, best.up_to) if best.follows_above else (best.up_to, best.above)
        told = f"{'above' if best.follows_above else 'up to'} {_plain(best.threshold)}{unit}"
        test: Test = "more" if best.follows_above else "at_most"
        yield Suggestion(
            opener,
            act,
            Condition(attribute=attribute.name, test=test, value=(best.threshold,)),
            f"with {attribute.name} {told} {act} follows {opener} in {side[0]:,} of {sum(side):,} cases, "
            f"else in {other[0]:,} of {sum(other):,}",
        )


def _splits(material: Material, opener: str, act: str, column: str) -> list[_Split]:
    """A split at every value that an opening row shows, but the last."""
    homes = material.traces.homes
    rows = material.traces.log.connection.execute(
        f"""WITH opened AS (
                SELECT case_id, min("timestamp") AS since, arg_min({column}, "timestamp") AS number
                FROM events WHERE activity = $opener AND channel = $opened AND "timestamp" IS NOT NULL
                GROUP BY case_id
            ), done AS (
                SELECT case_id, max("timestamp") AS latest FROM events
                WHERE activity = $act AND channel = $shown AND "timestamp" IS NOT NULL GROUP BY case_id
            )
            SELECT number, count(*) FILTER (WHERE latest >= since),
                   count(*) FILTER (WHERE latest IS NULL OR latest < since)
            FROM opened LEFT JOIN done USING (case_id)
            WHERE number IS NOT NULL GROUP BY number ORDER BY number""",
        {"opener": opener, "opened": homes[opener], "act": act, "shown": homes[act]},
    ).fetchall()
    follows, fails = (sum(row[i] for row in rows) for i in (1, 2))
    found, so_far = list[_Split](), (0, 0)
    for value, yes, no in rows[:-1]:
        so_far = so_far[0] + yes, so_far[1] + no
        found.append(_Split(value, so_far, (follows - so_far[0], fails - so_far[1])))
    return found


def _plain(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)


def _apart(material: Material, opener: str, act: str) -> Iterator[Suggestion]:
    """Another person for an act, where no case shows one person with both though persons do both, and chance
    would have shown it.
    """
    homes, automatic = material.traces.homes, material.context.records.automatic
    cases, same, both, chance = material.traces.log.connection.execute(
        """WITH named AS (
               SELECT DISTINCT case_id, activity = $act AS acts, resource FROM events
               WHERE resource IS NOT NULL AND NOT list_contains($automatic::VARCHAR[], resource)
               AND (activity = $opener AND channel = $opened OR activity = $act AND channel = $shown)
           ), known AS (
               SELECT case_id FROM named GROUP BY case_id HAVING bool_or(acts) AND NOT bool_and(acts)
           ), counts AS (
               SELECT count(*) FILTER (WHERE acts) AS acted, count(*) FILTER (WHERE NOT acts) AS opened
               FROM named SEMI JOIN known USING (case_id) GROUP BY resource
           ), shares AS (
               SELECT acted / sum(acted) OVER () AS acting, opened / sum(opened) OVER () AS opening
               FROM counts
           )
           SELECT (SELECT count(*) FROM known),
                  (SELECT count(*) FROM (
                      SELECT case_id FROM named GROUP BY case_id, resource HAVING count(*) > 1)),
                  (SELECT count(*) FROM shares WHERE acting > 0 AND opening > 0),
                  (SELECT coalesce(sum(acting * opening), 0) FROM shares)""",
        {
            "opener": opener,
            "opened": homes[opener],
            "act": act,
            "shown": homes[act],
            "automatic": list(automatic),
        },
    ).fetchone() or (0, 0, 0, 0.0)
    if cases >= LEAST and not same and both and (1 - chance) ** cases < BY_CHANCE:
        yield Suggestion(
            opener,
            act,
            None,
            f"in none of {cases:,} cases one person did both {opener} and {act}, though {both:,} do both in "
            f"different cases; by chance it would be about {chance * cases:,.0f}",
        )
