"""Source three: what the traces show of who acts, what opens, what follows at which delay, and where (paper,
Candidate construction).
"""

from __future__ import annotations

from typing import Any

from gnrs_ppl.candidates.source import Material, ProposedCandidate, ProposedCandidates, shown_by
from gnrs_ppl.candidates.templates import step_names
from gnrs_ppl.candidates.units import snapped, spoken


def observed(material: Material) -> ProposedCandidates:
    """Proposals mined from the log; an observed quantile is evidence of custom, not a norm. None where there
    is no log.
    """
    if material.context.records.prospective:
        return
    traces = material.traces
    yield from _scopes(material)
    for opener in material.openers[1:]:
        seen = traces.cases(opener)
        yield ProposedCandidate(
            "trigger",
            material.trigger(opener),
            f"{opener} opens {seen} of {material.context.profile.cases} cases in {traces.homes[opener]}",
        )
    for opener in material.openers[:1]:
        if (place := material.place(opener)) is not None:
            yield ProposedCandidate(
                "trigger", material.trigger(opener, location=place), f"{opener} recorded at {place}"
            )
    yield from _norms(material)
    yield from _evidence(material)
    yield from _procedures(material)


def _scopes(material: Material) -> ProposedCandidates:
    for act in material.regulated[:1]:
        performers = material.traces.performers(act)
        if performers:
            told = ", ".join(f"{role} {n}" for role, n in performers.items())
            yield ProposedCandidate(
                "scope", {"roles": list(performers)}, f"who is recorded with {act}: {told}"
            )
    for opener in material.openers[:1]:
        performers = material.traces.performers(opener)
        if performers:
            yield ProposedCandidate("scope", {"roles": list(performers)}, f"who is recorded with {opener}")


def _norms(material: Material) -> ProposedCandidates:
    """Deadlines of their own for every act, as seen after the two likeliest openers; the chain of required
    acts.
    """
    bans = [
        {"template": "absence", "target": a, "correlate": "same_resource"} for a in material.goal.forbidden
    ]
    for opener in material.openers[:2]:
        duties, told = [], []
        for act in material.required:
            found = material.delays(opener, act)
            if found is None:
                break
            p90 = found.quantile(0.9)
            duties.append(
                {
                    "template": "response",
                    "target": act,
                    "deadline": snapped(p90),
                    "correlate": material.correlate(opener, act),
                }
            )
            told.append(f"{act} {spoken(p90)}, snapped to {snapped(p90)}")
        if duties and len(duties) == len(material.required):
            yield ProposedCandidate(
                "norm",
                {"constraints": duties + bans},
                f"p90 of observed delays after {opener}: {'; '.join(told)}",
            )
    homes = material.traces.homes
    if len(material.required) > 1 and all(act in homes for act in material.required):
        first, *rest = material.required
        chain: list[dict[str, Any]] = [{"template": "response", "target": first}]
        for before, act in zip(material.required, rest, strict=False):
            chain.append(
                {"template": "response", "target": act, "after": {"act": before, "channel": homes[before]}}
            )
        levels, told_levels = material.levels(material.openers[0] if material.openers else None, first)
        yield ProposedCandidate(
            "norm",
            {"constraints": chain + bans},
            f"in the order in which they mostly come; {told_levels}",
            {"deadline": levels},
        )


def _evidence(material: Material) -> ProposedCandidates:
    homes, profile = material.traces.homes, material.context.profile
    for opener in (*material.openers[1:], *material.goal.forbidden):
        acts = [a for a in (opener, *material.regulated) if a in homes]
        logs = list(dict.fromkeys(homes[a] for a in acts))
        yield from shown_by(logs, "any", f"the logs that hold {', '.join(acts)}")
    shown = {*material.openers[:1], *material.regulated}
    every = sorted({channel for channel, activity in profile.pairs if activity in shown})
    yield from shown_by(every, "any", "every log in which one of these acts was ever seen")
    closed = [c for c in every if (declared := material.context.records.channel(c)) and declared.closed_world]
    yield from shown_by(closed, "any", "the logs among them whose silence means absence")


def _procedures(material: Material) -> ProposedCandidates:
    """Steps the records can show: what an overseer is recorded to do."""
    steps, traces = step_names(material), material.traces
    counts = {
        (role, activity): pair.values.get("role", {}).get(role, 0)
        for (channel, activity), pair in material.context.profile.pairs.items()
        if traces.homes[activity] == channel
        for role in material.overseers[:2]
    }
    log = traces.homes.get(material.regulated[0])
    for role in material.overseers[:2]:
        done = sorted(
            ((n, a) for (r, a), n in counts.items() if r == role and n and a not in material.regulated),
            reverse=True,
        )
        if done:
            n, activity = done[0]
            review = {"stage": "review", "name": steps["hearing"], "role": role, "activity": activity} | (
                {"inspects": log} if log else {}
            )
            yield ProposedCandidate(
                "procedure",
                {"steps": [review]},
                f"{role} is recorded with {activity} {n} times",
                {"response_time": ["P1D", "P3D"]},
            )
    if len(material.regulated) > 1 and material.overseers:
        second, first = material.overseers[0], material.overseers[min(1, len(material.overseers) - 1)]
        logs = list(dict.fromkeys(traces.homes[a] for a in material.regulated if a in traces.homes))
        checks = [
            {"stage": "review", "name": steps["review"], "role": first, "inspects": channel}
            for channel in logs[:2]
        ]
        rest = [
            {"stage": "decision", "name": steps["decision"], "role": first},
            {"stage": "remedy", "name": steps["remedy"], "role": first},
            {"stage": "appeal", "name": steps["appeal"], "role": second},
        ]
        yield ProposedCandidate(
            "procedure",
            {"steps": checks + rest},
            f"{first} compares {', '.join(logs[:2])}",
            {"response_time": ["P3D"]},
        )
