"""Source two: what schema and record layer declare, and the goal's acts as exact as they are recorded.

Paper, Candidate construction.
"""

from __future__ import annotations

from gnrs_ppl.candidates.source import Material, ProposedCandidate, ProposedCandidates, shown_by


def primitives(material: Material) -> ProposedCandidates:
    """Roles, an action, channels, the procedure that is prescribed, and the goal's acts at its places."""
    schema, goal = material.context.schema, material.goal
    for role in schema.roles:
        if role.name not in goal.roles:
            yield ProposedCandidate("scope", {"roles": [role.name]}, f"role {role.name} of the schema")
    for action in () if goal.triggers else schema.actions:
        if action.name in material.traces.homes and action.name not in (
            *material.regulated,
            *material.openers,
        ):
            yield ProposedCandidate(
                "trigger", material.trigger(action.name), f"action {action.name} of the schema"
            )
            break
    for act in material.required[:2] or goal.forbidden[:1]:
        channels = [
            c.name for c in material.context.records.channels if c.durable and act in (c.activities or ())
        ]
        yield from shown_by(channels, "any", f"every log declared to record {act}")
    yield from _prescribed(material)
    if not material.required and not goal.forbidden:
        return
    exact = [{"template": "existence", "target": material.exact(a)} for a in material.required]
    exact += [
        {"template": "absence", "target": material.exact(a), "correlate": "same_case"} for a in goal.forbidden
    ]
    yield ProposedCandidate(
        "norm", {"constraints": exact}, "the goal's acts at its places and with its objects"
    )


def _prescribed(material: Material) -> ProposedCandidates:
    """The procedure the institution prescribes, whole and in part, with its logs; where there is no log,
    what else is declared.
    """
    schema, goal, records = material.context.schema, material.goal, material.context.records
    steps = [step.model_dump(exclude_none=True) for step in schema.procedure]
    looking = [step for step in steps if "inspects" in step]
    if steps:
        yield ProposedCandidate("procedure", {"steps": steps}, "the procedure the institution prescribes")
    if looking:
        yield ProposedCandidate("procedure", {"steps": looking}, "those of its steps that look into a record")
        channels = list(dict.fromkeys(step["inspects"] for step in looking))
        yield from shown_by(channels, "any", "every log its steps look into")
    if not records.prospective:
        return
    yield from shown_by([c.name for c in records.channels if c.durable], "any", "every log declared")
    if goal.objects:
        told = "matters of the goal's objects, whoever sets the rule to work"
        yield ProposedCandidate("scope", {"concerns": list(goal.objects)}, told)
