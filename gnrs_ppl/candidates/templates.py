"""Source one: a small grammar of rule patterns, filled from goal, schema and traces.

Patterns are what rule books hold again and again: duties with a deadline, duties by the end, duties
beforehand, a ban with or without exception; the logs that show them; review, decision, remedy and appeal
(paper, Candidate construction).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnrs_ppl.candidates.source import Material, ProposedCandidate, ProposedCandidates, shown_by

CONVENTIONAL_SYSTEMS = {
    "CheckIn": "attendance_system",
    "CheckOut": "attendance_system",
    "Deliver": "delivery_system",
    "Trade": "sales_system",
}
"""Systems that rule writers take for granted; the grounding filter drops them where no such log exists."""
STAGE_WORDS = {
    "review": ("review", "check", "compar", "inspect"),
    "hearing": ("hear",),
    "decision": ("decision", "decide"),
    "remedy": ("correct", "make_good", "make good", "remedy", "recover", "claim", "renew"),
    "reminder": ("remind", "chase"),
    "appeal": ("appeal", "object"),
}
"""Words by which a step of the schema is recognised."""
DEFAULT_STEPS = {
    "review": "review",
    "hearing": "hearing",
    "decision": "decision",
    "remedy": "correction",
    "reminder": "reminder",
    "appeal": "appeal",
}
RESPONSE_TIMES = ("P1D", "P3D", "P7D")


def templates(material: Material) -> ProposedCandidates:
    """Proposals of the grammar, for every slot."""
    yield from _scopes(material)
    yield from _triggers(material)
    yield from _norms(material)
    yield from _evidence(material)
    yield from _procedures(material)


def _scopes(material: Material) -> ProposedCandidates:
    goal = material.goal
    roles, places, things = list(goal.roles), list(goal.locations), list(goal.objects)
    if roles:
        yield ProposedCandidate("scope", {"roles": roles}, "the roles the goal names")
    if roles and places:
        yield ProposedCandidate(
            "scope", {"roles": roles, "locations": places}, "the roles and places the goal names"
        )
    if things:
        yield ProposedCandidate(
            "scope",
            {"roles": roles, "concerns": things},
            "the roles the goal names, in matters of its objects",
        )
    if places:
        yield ProposedCandidate("scope", {"locations": places}, "whoever acts at the places the goal names")


def _triggers(material: Material) -> ProposedCandidates:
    """T1 within a bounded episode, T2 unbounded; a forbidden act that asks what came before it; the start of
    the case.

    Where the goal names what sets the rule to work, that and nothing else.
    """
    for opener in material.goal.triggers:
        yield ProposedCandidate("trigger", material.trigger(opener), f"the goal names {opener}")
    if material.goal.triggers:
        return
    for opener in material.openers[:1]:
        target = material.regulated[0]
        levels, told = material.levels(opener, target)
        trigger = material.trigger(opener) | {"once": "first"}
        yield ProposedCandidate(
            "trigger",
            trigger,
            f"the first {opener} of a person opens a bounded episode; {told}",
            {"window": levels},
        )
        yield ProposedCandidate(
            "trigger", trigger, f"the first {opener} of a person opens an instance, without bound"
        )
    for act in material.goal.forbidden:
        if act in material.traces.homes:
            yield ProposedCandidate(
                "trigger", material.trigger(act), f"every {act}, to ask what came before it"
            )
    yield ProposedCandidate("trigger", {}, "the start of the case")


def _norms(material: Material) -> ProposedCandidates:
    goal, required = material.goal, material.required
    opener = material.openers[0] if material.openers else None
    bans = [_ban(act) for act in goal.forbidden]  # on whoever opened the instance
    if not required and not bans:
        levels, told = material.levels(opener, goal.permitted[0])
        free: dict[str, Any] = {"force": "may", "constraints": [_duty(act) for act in goal.permitted]}
        yield ProposedCandidate("norm", free, f"what the goal permits; {told}", {"deadline": levels})
        late = {"constraints": [_duty(act, "existence") for act in goal.permitted]}
        yield ProposedCandidate("norm", free | late, "what the goal permits, until the case closes")
        office = _office(material, goal.permitted)
        if office:
            yield ProposedCandidate(
                "norm",
                free | {"bearer": {"role": office}},
                f"left to the office {office}; {told}",
                {"deadline": levels},
            )
        return
    if not required:
        yield ProposedCandidate("norm", {"constraints": bans}, "the forbidden acts never happen in the case")
        yield ProposedCandidate(
            "norm",
            {"constraints": [_ban(a, correlate="same_case") for a in goal.forbidden]},
            "nobody in the case does them",
        )
        if opener:
            levels, told = material.levels(opener, goal.forbidden[0])
            yield ProposedCandidate(
                "norm",
                {"constraints": [_ban(a, "not_response") for a in goal.forbidden]},
                f"not for some time; {told}",
                {"deadline": levels},
            )
        yield ProposedCandidate("norm", {"force": "should", "constraints": bans}, "as advice")
        return
    levels, told = material.levels(opener, required[0])
    timely = [_duty(act) for act in required]
    yield ProposedCandidate(
        "norm", {"constraints": timely + bans}, f"every required act in time; {told}", {"deadline": levels}
    )
    if not all(material.nobody_does_both(opener, act) for act in required):
        yield ProposedCandidate(
            "norm",
            {"constraints": [_duty(act, correlate="same_resource") for act in required] + bans},
            f"every required act in time, by the same person; {told}",
            {"deadline": levels},
        )
    ended = [_duty(act, "existence") for act in required]
    who = [material.correlate(opener, act) for act in required]
    rest = list(zip(required[1:], who[1:], strict=True))
    if len(required) > 1:
        yield ProposedCandidate(
            "norm",
            {
                "constraints": [
                    _duty(required[0], correlate=who[0]),
                    *[_duty(a, "existence", correlate=w) for a, w in rest],
                    *bans,
                ]
            },
            f"{required[0]} in time, the rest before the case closes; {told}",
            {"deadline": levels},
        )
    yield ProposedCandidate(
        "norm", {"constraints": ended + bans}, "every required act before the case closes"
    )
    yield ProposedCandidate(
        "norm",
        {"force": "should", "constraints": timely + bans},
        f"as advice; {told}",
        {"deadline": levels[-1:]},
    )
    if goal.forbidden:
        before = [_duty(act, "precedence") for act in required]
        yield ProposedCandidate(
            "norm", {"constraints": before}, f"{', '.join(required)} before any {goal.forbidden[0]}"
        )
        excused = [_ban(act) | {"unless": material.act(required[0])} for act in goal.forbidden]
        yield ProposedCandidate(
            "norm",
            {"constraints": timely + excused},
            f"no {', '.join(goal.forbidden)} unless {required[0]} came first; {told}",
            {"deadline": levels},
        )
    # without a log an act is known to be another role's only by the schema, so a ban of theirs must not
    # become the office's
    office = _office(material, material.regulated if material.context.records.prospective else required)
    if office:
        duty = {
            "bearer": {"role": office},
            "constraints": [_duty(a) for a in required]
            + [_ban(a, correlate="same_case") for a in goal.forbidden],
        }
        yield ProposedCandidate("norm", duty, f"a duty of the office {office}; {told}", {"deadline": levels})


def _office(material: Material, acts: Sequence[str]) -> str | None:
    """The role of the goal that performs all of the acts."""
    return next(
        (r for r in material.goal.roles if all(r in material.traces.performers(a, 0.05) for a in acts)), None
    )


def _duty(activity: str, template: str = "response", **stated: Any) -> dict[str, Any]:
    return {"template": template, "target": activity} | stated


def _ban(activity: str, template: str = "absence", correlate: str = "same_resource") -> dict[str, Any]:
    return {"template": template, "target": activity, "correlate": correlate}


def _evidence(material: Material) -> ProposedCandidates:
    homes = material.traces.homes
    acts = [a for a in (*material.openers[:1], *material.regulated) if a in homes]
    logs = list(dict.fromkeys(homes[a] for a in acts))
    yield from shown_by(logs, "any", f"the log that shows each of {', '.join(acts)} best")
    yield from shown_by(logs, "all", f"the log that shows each of {', '.join(acts)} best, all that can")
    systems = list(
        dict.fromkeys(CONVENTIONAL_SYSTEMS[a] for a in material.regulated if a in CONVENTIONAL_SYSTEMS)
    )
    for system in systems:
        yield ProposedCandidate(
            "evidence", {"channels": [system]}, "the system rule writers take for granted"
        )


def _procedures(material: Material) -> ProposedCandidates:
    """P1 review with a correction path, P2 no appeal, P3 informal reminder; then a hearing, and another
    reviewer.

    None of these where the institution prescribes its procedure.
    """
    if material.context.schema.procedure:
        return
    reviewers = material.overseers or material.goal.roles
    if not reviewers:
        return
    second, first = (reviewers[0], reviewers[1]) if len(reviewers) > 1 else (reviewers[0], reviewers[0])
    log = material.traces.homes.get(material.regulated[0])
    steps = step_names(material)

    def step(stage: str, kind: str, role: str, **stated: Any) -> dict[str, Any]:
        return {"stage": stage, "name": steps[kind], "role": role} | stated

    for who, appeal in ((first, second), (second, first)):
        review = step("review", "review", who, **({"inspects": log} if log else {}))
        decided, remedied = step("decision", "decision", who), step("remedy", "remedy", who)
        heard = step("appeal", "appeal", appeal)
        yield ProposedCandidate(
            "procedure",
            {"steps": [review, decided, remedied, heard]},
            f"{who} reviews, decides and corrects; {appeal} hears the appeal",
            {"response_time": RESPONSE_TIMES},
        )
        if who != first:
            break
        yield ProposedCandidate(
            "procedure",
            {"steps": [review, decided, remedied]},
            f"{who} reviews, decides and corrects; no appeal",
            {"response_time": RESPONSE_TIMES},
        )
        yield ProposedCandidate(
            "procedure",
            {"steps": [step("remedy", "reminder", who)]},
            "an informal reminder",
            {"response_time": RESPONSE_TIMES[:1]},
        )
        hearing = step("review", "hearing", who)
        yield ProposedCandidate(
            "procedure",
            {"steps": [review, hearing, decided, heard]},
            f"{who} hears the person before deciding",
            {"response_time": RESPONSE_TIMES[1:2]},
        )


def step_names(material: Material) -> dict[str, str]:
    """A step of the schema for every kind of step, by its words; a plain name where the schema has none."""
    names = [t.name for t in material.context.schema.steps]
    found: dict[str, str] = {}
    for kind, words in STAGE_WORDS.items():
        found[kind] = next(
            (n for n in names if any(w in n for w in words) and n not in found.values()), DEFAULT_STEPS[kind]
        )
    return found
