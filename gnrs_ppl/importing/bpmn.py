"""BPMN models: tasks, who performs them, and what leads to what, as a schema without a log."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

from gnrs_ppl.importing.events import plain_name
from gnrs_ppl.importing.staging import Found, Staging, bytes_of
from gnrs_ppl.importing.xml import Growing, local

MAX_BPMN = 32 << 20
"""Bytes of a model, which is read whole."""
TASKS = frozenset(
    "task userTask serviceTask sendTask receiveTask manualTask businessRuleTask scriptTask callActivity".split()
)
MOST_TASKS = 2000


def read_bpmn(path: Path, staging: Staging) -> Found:
    """Read a model; raises InputError as :class:`gnrs_ppl.importing.xml.Growing`, or where it holds no named
    task.
    """
    with bytes_of(path) as stream:
        document = Growing(stream, str(path))
        root: Element | None = None
        for grown in document:
            root = grown
            if stream.given > MAX_BPMN:
                raise staging.error(f"holds more than {MAX_BPMN:,} bytes", "is this the right file?")
        fingerprint = stream.digest.hexdigest()
    model = _Model(root) if root is not None else None
    if model is None or not model.tasks:
        raise staging.error("holds no task with a name", "give a BPMN model with named tasks")
    if len(model.tasks) > MOST_TASKS:
        raise staging.error(f"holds more than {MOST_TASKS:,} tasks", "give it in parts")
    found = Found("BPMN", has_log=False, fingerprint=fingerprint)
    found.activities = dict.fromkeys(model.tasks.values(), 0)
    found.roles = {
        model.tasks[task]: role for task, role in model.roles.items() if task in model.tasks and role
    }
    found.order = model.order()
    lanes = len(set(found.roles.values()))
    found.said.append(
        f"{len(model.tasks):,} tasks, {lanes:,} lanes or participants with a name, {len(found.order):,} flows"
    )
    return found


def _name(element: Element) -> str:
    text = plain_name(element.get("name") or "")
    return text[:200].strip() if text.isprintable() else ""


class _Model:
    """Tasks by id, roles by task, and flows."""

    def __init__(self, root: Element) -> None:
        self.tasks: dict[str, str] = {}
        self.roles: dict[str, str] = {}
        self.flows: dict[str, list[str]] = {}
        participants = {
            e.get("processRef"): _name(e) for e in root.iter() if local(e.tag) == "participant" and _name(e)
        }
        for process in (element for element in root if local(element.tag) == "process"):
            own = participants.get(process.get("id"), "")
            for element in process.iter():
                tag, name = local(element.tag), _name(element)
                if tag in TASKS and name:
                    self.tasks[element.get("id") or name] = name
                    self.roles.setdefault(element.get("id") or name, own)
                elif tag in ("sequenceFlow", "messageFlow"):
                    self._flow(element)
            for lane_set in (element for element in process if local(element.tag) == "laneSet"):
                self._lanes(lane_set, own)
        for element in root.iter():
            if local(element.tag) == "messageFlow":
                self._flow(element)

    def _flow(self, element: Element) -> None:
        source, target = element.get("sourceRef") or "", element.get("targetRef") or ""
        if target not in self.flows.setdefault(source, []):
            self.flows[source].append(target)

    def _lanes(self, lane_set: Element, above: str) -> None:
        """Who performs what stands in a lane: the innermost that has a name."""
        for lane in lane_set:
            if local(lane.tag) != "lane":
                continue
            name = _name(lane) or above
            for child in lane:
                tag = local(child.tag)
                if tag == "flowNodeRef" and child.text:
                    self.roles[child.text.strip()] = name
                elif tag == "childLaneSet":
                    self._lanes(child, name)

    def order(self) -> list[tuple[str, str]]:
        """Tasks that lead to one another over gateways and events alone, in the order of the model; flows
        may run in circles.
        """
        found: dict[tuple[str, str], None] = {}
        for task, name in self.tasks.items():
            seen, waiting = {task}, list(self.flows.get(task, ()))
            while waiting:
                place = waiting.pop(0)
                if place in seen:
                    continue
                seen.add(place)
                if place in self.tasks:
                    found[name, self.tasks[place]] = None
                else:
                    waiting += self.flows.get(place, ())
        return [pair for pair in found if pair[0] != pair[1]]
