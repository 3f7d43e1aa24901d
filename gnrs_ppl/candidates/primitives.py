"""Source two: what the schema offers by itself, goal or no goal (paper, Candidate construction)."""

from __future__ import annotations

from gnrs_ppl.candidates.source import Material, Proposal, Proposals


def primitives(material: Material) -> Proposals:
    """Roles, actions, channels and steps of the schema and the declared record layer."""
    schema, goal = material.context.schema, material.goal
    for role in schema.roles:
        if role.name not in goal.roles:
            yield Proposal("scope", {"roles": [role.name]}, f"role {role.name} of the schema")
    for action in schema.actions:
        if action.name in material.traces.homes and action.name not in (*material.regulated, *material.openers):
            yield Proposal("trigger", material.trigger(action.name), f"action {action.name} of the schema")
            break
    for act in material.required[:2] or goal.forbidden[:1]:
        channels = [c.name for c in material.context.records.channels if c.durable and act in (c.activities or ())]
        if channels:
            yield Proposal("evidence", {"channels": channels, "operator": "any"}, f"every log declared to record {act}")
    exact = [{"template": "existence", "target": material.exact(a)} for a in material.required]
    exact += [{"template": "absence", "target": material.exact(a), "correlate": "same_case"} for a in goal.forbidden]
    yield Proposal("norm", {"constraints": exact}, "the goal's acts at its places and with its objects")
