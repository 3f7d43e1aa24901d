"""In-Context Grounding: Structured Outputs that sees excerpts of the records, retrieved for the goal (paper; Lewis et al. 2020)."""

from __future__ import annotations

from gnrs_ppl.context.load import Context
from gnrs_ppl.experiments.baselines.common import Ask, BaselineResult, structured, written

CASES, ROWS = 3, 60
"""Most cases, and rows of all of them, that are shown."""
SHOWN = ("case_id", "time", "activity", "resource", "role", "object", "location", "channel")


async def in_context_grounding(context: Context, ask: Ask, *, seed: int) -> BaselineResult:
    """One call for structure and text, with the excerpts in the prompt."""
    (answer,) = await ask([structured("b2_grounding.v1.txt", context, seed, {"traces": excerpts(context)})])
    return written(answer)


def excerpts(context: Context) -> str:
    """Rows of the cases that hold most different names of the goal, the shortest of equals, then by case id; one row a line.

    Only the log the context itself carries is read. Times are local; a blank is a value that is not recorded.
    """
    goal = context.goal
    names = [*goal.required, *goal.forbidden, *goal.roles, *goal.locations, *goal.objects]
    rows = context.log.connection.execute(
        """WITH best AS (
               SELECT case_id, count(*) AS length,
                      len(list_intersect(flatten(list([activity, role, object, location])), $names::VARCHAR[])) AS said
               FROM events GROUP BY case_id ORDER BY said DESC, length, case_id LIMIT $cases
           )
           SELECT case_id, strftime("timestamp" + to_minutes(coalesce("offset", 0)), '%Y-%m-%d %H:%M:%S'),
                  activity, resource, role, object, location, channel
           FROM events JOIN best USING (case_id) ORDER BY said DESC, length, case_id, "timestamp", event_id LIMIT $rows""",
        {"names": names, "cases": CASES, "rows": ROWS},
    ).fetchall()
    return "\n".join(" | ".join(str(value or "") for value in row) for row in [SHOWN, *rows])
