"""Evidence and procedure as the goal's sentence says them, completed where it is silent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gnrs_ppl.candidates.source import Material, ProposedCandidate, ProposedCandidates, shown_by
from gnrs_ppl.candidates.templates import step_names
from gnrs_ppl.errors import Refused
from gnrs_ppl.reading import Readings
from gnrs_ppl.reading.agreement import evidence_said, procedure_said
from gnrs_ppl.reading.types import EvidenceRead, ProcedureRead, StepRead
from gnrs_ppl.rule.canonical import SlotContent
from gnrs_ppl.rule.types import MOST_STEPS, EvidencePolicy, Procedure, Structure

_SINGLE = "any"
"""Of one log every operator asks the same."""
OPENERS_TRIED = 2
"""Acts tried as openers where the sentence names none, of those bound and of others."""
_LOOKS = ("review", "decision")
"""Stages that a sentence leaves open where it tells of remedy or appeal alone."""


def said_beside(material: Material) -> ProposedCandidates:
    """Candidates for the evidence and the procedure of a sentence that says something of them."""
    evidence, procedure = evidence_of(material.readings), procedure_of(material.readings)
    if evidence is not None and not unheld_evidence(material, evidence):
        yield from _policies(material, evidence)
    if procedure is not None and not unheld_procedure(material, procedure):
        yield from _procedures(material, procedure)
        looked = _looked_into(material)
        if looked and evidence is None:  # a log that is looked into must be evidence
            openers = [material.traces.homes[a] for a in _openers(material)[:1] if a in material.traces.homes]
            logs = list(dict.fromkeys([*openers, *_recording(material), *looked]))
            yield from shown_by(
                logs, "any", "the logs of its acts, and those that are looked into after a breach"
            )


def evidence_of(readings: Readings) -> EvidenceRead | None:
    """What a sentence says of the logs of a rule's evidence; None where it says nothing of them."""
    read = readings.evidence
    says = read is not None and (read.channels or read.operator or read.insufficient or read.unkept)
    return read if says else None


def procedure_of(readings: Readings) -> ProcedureRead | None:
    """What a sentence more probably than not says follows a breach."""
    read = readings.procedure
    return read if read is not None and read.follows_breach else None


def agrees(content: SlotContent, material: Material) -> bool:
    """Whether a policy or a procedure says what the sentence says of it; none does where it says nothing."""
    evidence, procedure = evidence_of(material.readings), procedure_of(material.readings)
    if isinstance(content, EvidencePolicy):
        return evidence is not None and evidence_said(content, evidence, _shown_elsewhere(material))
    if isinstance(content, Procedure):
        return procedure is not None and procedure_said(content, procedure, material.bound)
    return False


def _shown_elsewhere(material: Material) -> set[str]:
    """The logs of the acts that may open the rule or excuse from it, and those looked into after a breach."""
    homes = material.traces.homes
    acts = (*_openers(material), *_exceptions(material))
    return {homes[a] for a in acts if a in homes} | set(_looked_into(material))


def _looked_into(material: Material) -> list[str]:
    """The logs that the sentence has somebody look into after a breach."""
    read = procedure_of(material.readings)
    return [s.inspects.name for s in read.steps if s.inspects] if read else []


def _recording(material: Material) -> list[str]:
    """The durable logs that record one of the rule's acts, best first."""
    homes = [material.traces.homes[a] for a in material.regulated if a in material.traces.homes]
    seen = sorted(c for c, a in material.context.profile.pairs if a in material.regulated)
    declared = [
        c.name
        for c in material.context.records.channels
        if c.durable and set(material.regulated) & set(c.activities or ())
    ]
    found = dict.fromkeys([*homes, *seen, *declared])
    return [c for c in found if not _lost(material, c)]


def _lost(material: Material, channel: str) -> bool:
    """Whether a channel keeps nothing, or has not a single row."""
    declared = material.context.records.channel(channel)
    rows = material.context.profile.counts.get(("channel", channel))
    return (declared is not None and not declared.durable) or not rows


def _policies(material: Material, read: EvidenceRead) -> ProposedCandidates:
    told = "read from the sentence: the logs that show it"
    named = [n.name for n in read.channels]
    choices = list(_with_others(material, named)) if named else list(_choices(_recording(material), read))
    for choice in choices:
        operator, more = _operator(read, len(choice))
        if named and len(choice) > len(named):  # what shows the opening does not speak in their place
            operator, more = "all", {}
        for candidate in shown_by(choice, operator, told):
            yield candidate._replace(content=candidate.content | more)


def _with_others(material: Material, named: list[str]) -> Iterator[list[str]]:
    """The logs a sentence names, with those that a rule's evidence must hold beside them: of what excuses, of
    what is looked into after a breach, and of what opens the rule.
    """
    excused = [a for a in _exceptions(material) if not any(_records(material, c, a) for c in named)]
    homes = material.traces.homes
    also = [*(homes[a] for a in excused if a in homes), *_looked_into(material)]
    choices = [[*named, *also]]
    for act in _openers(material):
        if act in homes and not any(_records(material, c, act) for c in named):
            choices.append([*named, homes[act], *also])
    yield from (list(dict.fromkeys(choice)) for choice in choices)


def _openers(material: Material) -> tuple[str, ...]:
    """The acts that may open the rule: those that are said, else those that usually do."""
    said = [s.best.activation.activity for s in material.readings.statements if s.best.activation]
    usual = (*material.usual_openers[:OPENERS_TRIED], *material.openers_of_others[:OPENERS_TRIED])
    return (*material.goal.triggers, *(said or usual))


def _exceptions(material: Material) -> list[str]:
    return [s.best.exception.activity for s in material.readings.statements if s.best.exception]


def beside_those_named(rule: Structure, material: Material) -> set[str]:
    """Logs a policy may list beside those a sentence names: of its opening and excuses, or looked into."""
    excused = {a for c in rule.norm.constraints if c.unless for a in c.unless.activities}
    homes = material.traces.homes
    looked = (step.inspects for step in rule.procedure.steps)
    return {homes[a] for a in excused if a in homes} | {c for c in (rule.trigger.channel, *looked) if c}


def _choices(channels: Sequence[str], read: EvidenceRead) -> Iterator[list[str]]:
    """Lists of logs where the sentence names none: all, and all but those that do not do by themselves."""
    weak = {n.name for n in read.insufficient}
    yield list(channels)
    if weak and (rest := [c for c in channels if c not in weak]):
        yield rest
    if weak:
        yield list(dict.fromkeys([*channels, *weak]))


def _operator(read: EvidenceRead, many: int) -> tuple[str, dict[str, Any]]:
    if many == 1:
        return _SINGLE, {}
    if read.k is not None and read.k < many:
        return "at_least", {"k": read.k}
    if read.operator == "at_least" or (read.operator is None and read.insufficient):
        return "all", {}
    return read.operator or "any", {}


def _procedures(material: Material, read: ProcedureRead) -> ProposedCandidates:
    """The steps that were read, completed; remedy or appeal alone come after a review and a decision."""
    offices = [r for r in (*material.overseers, *material.goal.roles) if r]
    steps = list(_completed(read.steps))
    if material.context.schema.procedure or not offices or len(steps) > MOST_STEPS:
        return
    for first in dict.fromkeys(offices[:2]):
        second = next((o for o in offices if o != first), first)
        content: list[dict[str, Any]] = []
        taken: str | None = None
        for stage, one in steps:
            other = second if stage == "appeal" else first
            role = (
                one.role.name if one and one.role else other if (one and one.independent) else taken or first
            )
            if stage == "appeal" and not (one and one.role):
                role = next((o for o in (second, first, *offices) if o != taken), second)
            content.append(_step(material, stage, one, role))
            taken = role if stage in _LOOKS else taken
        times = read.time and not read.time.working_days and read.time.duration
        yield ProposedCandidate(
            "procedure",
            {"steps": content} | ({"response_time": times} if times else {}),
            f"read from the sentence ({read.probability:.0%}): what follows a breach",
        )


def _completed(steps: Sequence[StepRead]) -> Iterator[tuple[str, StepRead | None]]:
    if not any(s.stage in _LOOKS for s in steps):
        yield from ((stage, None) for stage in _LOOKS)
    yield from ((s.stage, s) for s in steps)


def _step(material: Material, stage: str, read: StepRead | None, role: str) -> dict[str, Any]:
    names = step_names(material)
    step = {"stage": stage, "name": read.name.name if read and read.name else names[stage], "role": role}
    if read and read.activity and not _lacks(material, read.activity.name):
        step["activity"] = read.activity.name
    if read and read.inspects:
        step["inspects"] = read.inspects.name
    elif stage == "review" and (log := _to_look_into(material)):
        step["inspects"] = log
    return step


def _lacks(material: Material, activity: str) -> bool:
    return activity not in material.traces.homes or activity in material.regulated


def _to_look_into(material: Material) -> str | None:
    """The log a review reads where the sentence names none: that of the rule's first act, if evidence."""
    evidence = evidence_of(material.readings)
    home = material.traces.homes.get(material.regulated[0])
    if evidence is None or not evidence.channels or home in {n.name for n in evidence.channels}:
        return home
    return evidence.channels[0].name


def unkept_log(readings: Readings) -> Refused | None:
    """That a log which is to show it is not kept."""
    if readings.evidence is None or not readings.evidence.unkept:
        return None
    lost = readings.evidence.unkept[0]
    near = f", nearest {lost.nearest}" if lost.score else ""
    return Refused(
        f"no log like '{readings.words(lost.span)}' is kept{near}",
        "name a log that is kept, or leave the evidence open",
        reason="no_such_log",
    )


def unheld_evidence(material: Material, read: EvidenceRead) -> Refused | None:
    """Why no policy of these records is the evidence that a sentence asks for."""
    context = material.context
    if refused := unkept_log(material.readings):
        return refused
    for named in (*read.channels, *([read.opener] if read.opener else ())):
        if _lost(material, named.name) and not context.records.prospective:
            return Refused(
                f"the {named.name} shows nothing: 0 of {context.profile.events:,} rows are its",
                "name a log that is kept, or leave the evidence open",
                reason="no_such_log",
            )
    weak = {n.name for n in read.insufficient}
    least, recording = max(read.k or 1, len(weak) + 1 if weak else 1), _recording(material)
    if not read.channels and len(recording) < least and (not recording or weak & set(recording) or read.k):
        acts = " or ".join(map(repr, material.regulated))
        return Refused(
            f"{', '.join(recording) or 'no log'} alone records {acts}, and the sentence asks for more",
            "ask for fewer logs, or keep another",
            reason="no_such_log",
        )
    named_logs = [n.name for n in read.channels]
    for activity in material.regulated if named_logs else ():
        if not any(_records(material, channel, activity) for channel in named_logs):
            return Refused(
                f"{' and '.join(named_logs)} cannot record {activity!r}, which the rule is about",
                "name a log that records it, or state its duty apart",
                reason="no_such_log",
            )
    return None


def _records(material: Material, channel: str, activity: str) -> bool:
    declared = material.context.records.channel(channel)
    listed = declared.activities if declared else None
    seen = (channel, activity) in material.context.profile.pairs
    return seen if listed is None else activity in listed


def unheld_procedure(material: Material, read: ProcedureRead) -> Refused | None:
    """Why no procedure of this schema is what a sentence says follows a breach."""
    words = material.readings.words
    if len(list(_completed(read.steps))) > MOST_STEPS:
        return Refused(
            f"the sentence tells more than the {MOST_STEPS} steps after a breach that a rule holds",
            "tell fewer",
            reason="too_many_steps",
        )
    nobody = next((s.nobody for s in read.steps if s.nobody), None)
    if nobody is not None:
        return Refused(
            f"nobody is called '{words(nobody)}' in the schema, who has a step after a breach",
            "name a role of the schema, or add this one to it",
            reason="no_such_role",
        )
    if any(s.independent for s in read.steps) and not {t.name for t in material.context.schema.roles} - set(
        material.bound
    ):
        return Refused(
            "the schema names nobody but those who are bound, and the sentence asks for somebody else",
            "add the role that looks into breaches to the schema",
            reason="no_such_role",
        )
    return None
