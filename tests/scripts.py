"""What the scripted server says, by role: answers pieced together from the prompt's own words. They exercise
the plumbing, no more.

Each takes messages, the JSON schema asked for and a generator seeded by the request, and returns an answer's
text, or None where it has nothing to say to such a request.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

Data = dict[str, Any]
Messages = Sequence[Mapping[str, str]]

INVENTED = 0.25
"""Chance that a scripted rule cites a log that nobody keeps."""
HALLUCINATED = 0.08
"""Chance that a scripted fragment says a name that is nowhere in the request."""
LOSES = 0.25
"""Chance that a scripted polish loses a time or the last part, or adds a word."""
_FENCE = re.compile(r"^<data-([0-9a-f]{16})>\n(.*?)\n</data-\1>$", re.DOTALL | re.MULTILINE)


def parser(messages: Messages, schema: Data | None, rng: random.Random) -> str | None:
    """Role parser: slots filled with the listed names whose words stand in the rule, in the order of the
    text, and with systems.

    The first act opens, the last is the target; two acts, a log, a step and a role are needed for all five
    slots.
    """
    if not _asks_for(schema, "left_over"):
        return None
    institution, records, clause = _fenced(messages)
    listed = json.loads(institution)
    roles, places, things, acts, steps = (
        _mentioned(listed.get(part, []), clause)
        for part in ("roles", "locations", "objects", "actions", "steps")
    )
    logs = _mentioned(json.loads(records)["channels"], clause) + re.findall(r"\b[a-z_]+_system\b", clause)
    force = next((word for word in ("must", "should", "may") if re.search(rf"\b{word}\b", clause)), "must")
    minutes = re.search(r"\b(\d+) minutes\b", clause)
    absent: Data = {
        "after": None,
        "correlate": None,
        "deadline": f"PT{minutes[1]}M" if minutes else None,
        "unless": None,
    }
    template = "not_response" if " not " in clause else "response"
    constraints = [
        {"template": template, "target": _act(activity), "count": 1} | absent for activity in acts[-1:]
    ]
    taken = [
        {"stage": "review", "name": name, "role": role, "inspects": None, "activity": None}
        for name in steps
        for role in roles[-1:]
    ]
    slots: Data = {
        "scope": {"roles": roles[:1], "locations": places, "objects": [], "concerns": things},
        "trigger": {"act": _act(acts[0]), "channel": None, "once": "each", "window": None}
        if len(acts) > 1
        else None,
        "norm": {"force": force, "bearer": "trigger", "constraints": constraints} if acts else None,
        "evidence": {"channels": logs, "operator": "any", "k": None} if logs else None,
        "procedure": {"steps": taken, "response_time": None} if taken else None,
    }
    return json.dumps(slots | {"left_over": []})


def judge(messages: Messages, schema: Data | None, rng: random.Random) -> str | None:
    """Roles judge and second judge: marks around a level that a hash of the text sets; the repeat moves
    them."""
    if not _asks_for(schema, "faithfulness"):
        return None
    level = hashlib.sha256(_fenced(messages)[-1].encode()).digest()[0] % 3 + 2
    dimensions = ("specificity", "executability", "fluency", "readability", "faithfulness")
    marks: Data = {dimension: level + rng.choice((-1, 0, 1)) for dimension in dimensions}
    return json.dumps(
        ({"generic_evidence": []} if _asks_for(schema, "generic_evidence") else {})
        | {"reason": "scripted"}
        | marks
    )


def rule_writer(messages: Messages, schema: Data | None, rng: random.Random) -> str | None:
    """Role generator, where a baseline asks for a rule: acts of the goal behind some other act, with the
    logs that record them."""
    values = _fenced(messages)
    if len(values) < 3 or not (schema is None or _asks_for(schema, "clause")):
        return None
    goal, institution, records = (json.loads(value) for value in values[:3])
    structure, clause = _rule(goal, institution, records, rng)
    if schema is None:
        return clause
    answer: Data = {"clause": clause}
    if _asks_for(schema, "structure"):
        answer = {"structure": structure} | answer
    if _asks_for(schema, "critique"):
        answer = {
            "critique": [{"slot": "trigger", "problem": "Another act might open it."}][: rng.randint(0, 1)]
        } | answer
    if _asks_for(schema, "norms"):
        subject = structure["scope"]["roles"][0]
        answer = {
            "norms": [{"content": clause, "kind": "injunctive", "subject": subject, "importance": 5}]
        } | answer
    return json.dumps(answer)


def _rule(goal: Data, institution: Data, records: Data, rng: random.Random) -> tuple[Data, str]:
    wanted = (
        goal.get("required")
        or goal.get("forbidden")
        or goal.get("permitted")
        or [institution["actions"][0]["name"]]
    )
    ruled_out = wanted == goal.get("forbidden")
    keeps = [
        (channel["name"], name)
        for channel in records["channels"]
        for name in channel.get("rows") or channel["activities"]
    ]
    opening_log, opener = rng.choice([(log, activity) for log, activity in keeps if activity not in wanted])
    logs = sorted({log for log, activity in keeps if activity in wanted}) + ["attendance_system"] * (
        rng.random() < INVENTED
    )
    role = (goal.get("roles") or [institution["roles"][0]["name"]])[0]
    reviewer, step = institution["roles"][-1]["name"], institution["steps"][0]["name"]
    minutes = rng.choice((10, 30, 60))
    absent: Data = {"after": None, "correlate": None, "count": 1, "unless": None}
    constraint = {
        "template": "not_response" if ruled_out else "response",
        "deadline": f"PT{minutes}M",
    } | absent
    structure = {
        "scope": {
            "roles": [role],
            "locations": goal.get("locations", []),
            "objects": [],
            "concerns": goal.get("objects", []),
        },
        "trigger": {"act": _act(opener), "channel": opening_log, "once": "each", "window": None},
        "norm": {
            "force": "must",
            "bearer": "trigger",
            "constraints": [constraint | {"target": _act(name)} for name in wanted],
        },
        "evidence": {"channels": logs, "operator": "any", "k": None},
        "procedure": {
            "steps": [
                {"stage": "review", "name": step, "role": reviewer, "inspects": logs[0], "activity": None}
            ],
            "response_time": "P7D",
        },
    }
    parts = ("roles", "locations", "objects", "actions", "steps")
    words = {
        entry["name"]: entry.get("phrase", entry["name"])
        for part in parts
        for entry in institution.get(part, [])
    }
    words |= {channel["name"]: channel.get("phrase", channel["name"]) for channel in records["channels"]}
    said = [words.get(name, name) for name in (opener, role, *wanted, *logs, step, reviewer)]
    duty = f"must {'not ' if ruled_out else ''}{' and '.join(said[2 : 2 + len(wanted)])}"
    shown = " or the ".join(said[2 + len(wanted) : -2])
    clause = (
        f"Whoever is seen to {said[0]} as {said[1]} {duty} within {minutes} minutes; the {shown} shows it. "
    )
    return structure, clause + f"Otherwise there is a {said[-2]} by the {said[-1]} within seven days."


def generator(messages: Messages, schema: Data | None, rng: random.Random) -> str | None:
    """Role generator, where fragments are asked for: three a slot out of the listed names, some with a name
    that is not listed."""
    if not (_asks_for(schema, "scope") and _asks_for(schema, "procedure")) or _asks_for(schema, "left_over"):
        return None
    goal, institution, records = (json.loads(value) for value in _fenced(messages)[:3])
    makers = {
        "scope": _scope,
        "trigger": _trigger,
        "norm": _norm,
        "evidence": _evidence,
        "procedure": _procedure,
    }
    slots: Data = {}
    for slot, make in makers.items():
        contents = [make(goal, institution, records, rng) for _ in range(3)]
        slots[slot] = [
            {"because": "scripted", "content": _with_invention(content, rng)} for content in contents
        ]
    return json.dumps(slots)


def polisher(messages: Messages, schema: Data | None, rng: random.Random) -> str | None:
    """Role polisher: the rule with tokens elsewhere; now and then with one lost, a word too many or a time
    with another duty."""
    fenced = _fenced(messages)
    if not _asks_for(schema, "clause") or not fenced:
        return None
    clause = fenced[0]
    for plain, other in ARRANGED:
        if rng.random() < 0.6:
            clause = re.sub(plain, other, clause)
    if rng.random() < LOSES:
        plain, other = rng.choice(_LOSSES)
        clause = re.sub(plain, other, clause, count=1)
    return json.dumps({"clause": clause})


ARRANGED = (
    (r"(\[[AF]\])\. (\[[FC]\])", r"\1; \2"),
    (r"\] and (?=\[S\d+\])", "], then "),
    (r"(?<=\]), (?=\[S\d+\])", " and "),
    (r"\. (\[Q1\])", r", and \1"),
    (r"\. (\[R\])", r"; \1"),
)
"""Where tokens may stand as well."""
_LOSSES = (
    (r" \[T\d+\]", ""),
    (r"(?<=\.) [^.]*\.$", ""),
    (r"\[M1\]", "[M1] soon"),
)


def _scope(goal: Data, institution: Data, records: Data, rng: random.Random) -> Data:
    places, things = institution.get("locations", []), institution.get("objects", [])
    return {
        "roles": _some(institution["roles"], rng, 2),
        "locations": _some(places, rng, 1) if rng.random() < 0.3 else [],
        "objects": [],
        "concerns": _some(things, rng, 2) if rng.random() < 0.5 else [],
    }


def _trigger(goal: Data, institution: Data, records: Data, rng: random.Random) -> Data:
    log, activity = rng.choice(_keeps(records))
    window = _time(goal, records, rng, (None, "PT1H", "PT4H"))
    return {"act": _act(activity), "channel": log, "once": rng.choice(("first", "each")), "window": window}


def _norm(goal: Data, institution: Data, records: Data, rng: random.Random) -> Data:
    deadline = _time(goal, records, rng, ("PT15M", "PT30M", "PT1H"))
    absent: Data = {"after": None, "correlate": rng.choice((None, "same_case")), "count": 1, "unless": None}
    required = [("response", name, deadline) for name in goal.get("required", [])]
    forbidden = [(rng.choice(("absence", "not_response")), name, None) for name in goal.get("forbidden", [])]
    wanted = required + forbidden or [("response", name, deadline) for name in goal.get("permitted", [])]
    bearer = rng.choice(("trigger", {"role": rng.choice(_names(institution["roles"]))}))
    constraints = [
        absent | {"template": template, "target": _act(name), "deadline": due}
        for template, name, due in wanted
    ]
    return {"force": goal.get("force", "must"), "bearer": bearer, "constraints": constraints}


def _evidence(goal: Data, institution: Data, records: Data, rng: random.Random) -> Data:
    logs = _some(records["channels"], rng, 3)
    operator = rng.choice(("all", "any", "at_least")) if len(logs) > 2 else rng.choice(("all", "any"))
    return {"channels": logs, "operator": operator, "k": 2 if operator == "at_least" else None}


def _procedure(goal: Data, institution: Data, records: Data, rng: random.Random) -> Data:
    role, log = rng.choice(_names(institution["roles"])), rng.choice(_names(records["channels"]))
    steps = _some(institution.get("steps", [{"name": "review"}]), rng, 3)
    stages = ("review", "decision", "remedy")
    taken: list[Data] = [
        {"stage": stage, "name": name, "role": role, "inspects": None, "activity": None}
        for stage, name in zip(stages, steps, strict=False)
    ]
    taken[0]["inspects"] = log
    return {"steps": taken, "response_time": _time(goal, records, rng, ("P1D", "P7D"))}


def _time(goal: Data, records: Data, rng: random.Random, usual: Sequence[str | None]) -> str | None:
    """One of some usual times; where no log counts anything, mostly the goal's own or none."""
    logged = any("rows" in channel for channel in records["channels"])
    return rng.choice(usual) if logged or rng.random() < HALLUCINATED else goal.get("within")


def _with_invention(content: Data, rng: random.Random) -> Data:
    """The content, now and then with one of its names replaced by one that is nowhere."""
    text, names = (
        json.dumps(content),
        re.findall(r'"(?:activity|channel|role|name|inspects)": "([^"]+)"', json.dumps(content)),
    )
    names += content.get("channels", []) + content.get("roles", [])
    if not names or rng.random() >= HALLUCINATED:
        return content
    invented: Data = json.loads(
        text.replace(f'"{rng.choice(names)}"', f'"invented_{rng.randrange(16**4):04x}"')
    )
    return invented


def _keeps(records: Data) -> list[tuple[str, str]]:
    return [
        (channel["name"], name)
        for channel in records["channels"]
        for name in channel.get("rows") or channel["activities"]
    ]


def _names(entries: Sequence[Data]) -> list[str]:
    return [entry["name"] for entry in entries]


def _some(entries: Sequence[Data], rng: random.Random, most: int) -> list[str]:
    """One to so many of the names, without doubles."""
    names = _names(entries)
    return rng.sample(names, min(len(names), rng.randint(1, most)))


def _asks_for(schema: Data | None, field: str) -> bool:
    return schema is not None and field in schema.get("properties", {})


def _fenced(messages: Messages) -> list[str]:
    """The values of the prompt's placeholders, in the order of the prompt."""
    return [value for _, value in _FENCE.findall(messages[-1]["content"])]


def _mentioned(entries: Sequence[Data], text: str) -> list[str]:
    """Names whose words stand in a text, in the order in which they first do."""
    found: list[tuple[int, str]] = []
    for entry in entries:
        places = [
            text.lower().find(str(entry[field]).lower().replace("_", " "))
            for field in ("phrase", "noun", "name")
            if field in entry
        ]
        if any(place >= 0 for place in places):
            found.append((min(place for place in places if place >= 0), entry["name"]))
    return [name for _, name in sorted(found)]


def _act(activity: str) -> Data:
    return {"activity": activity, "location": None, "object": None, "role": None}
