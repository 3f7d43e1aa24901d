"""A goal read, asked about, checked on the records and written into its context file; nothing is written
where it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gnrs_ppl.candidates.refusals import refusal
from gnrs_ppl.context.files import parse_json, parse_yaml, read_any, read_bytes, read_text, validated
from gnrs_ppl.context.load import Context, _ContextFile, check_names, load_context
from gnrs_ppl.context.output import check_file, write_all
from gnrs_ppl.context.types import Goal
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.goals.questions import Asker, of_goal, plain, settled
from gnrs_ppl.goals.text import GUESSED, with_fields, with_goal
from gnrs_ppl.reading import Readings, read
from gnrs_ppl.reading.goal import readings_of, rules_of
from gnrs_ppl.reading.plain import as_data, why_nothing
from gnrs_ppl.reading.vocabulary import STOP

LISTS = ("required", "forbidden", "permitted", "triggers", "timed", "roles", "locations", "objects", "values")
"""Fields of a goal that hold several names."""
WORDS = 4
"""Words of a sentence that name its goal."""


@dataclass(frozen=True)
class Written:
    """A goal that was written.

    Attributes
    ----------
    path : Path
        The context file.
    goal : Goal
    readings : Readings
        Of its sentence.
    replaced : str
        Id of the goal that stood there; empty where there was none.
    """

    path: Path
    goal: Goal
    readings: Readings
    replaced: str = ""

    @property
    def rules(self) -> int:
        """How many rules the sentence states, at least one."""
        return max(len(rules_of(self.readings)), 1)

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        told = {
            "context": str(self.path),
            "goal": plain(self.goal),
            "replaced": self.replaced or None,
            "rules": self.rules,
        }
        return told | {"reading": as_data(self.readings)}


def new_goal(
    path: Path,
    sentence: str,
    stated: Mapping[str, Any],
    *,
    ask: Asker | None = None,
    replace_goal: bool = False,
) -> Written:
    """Write a goal of a sentence into a context file.

    Parameters
    ----------
    path : Path
        A context file, with or without a goal. What ``gnrs import`` guessed gives way; what a person wrote
        stays unless told.
    sentence : str
    stated : mapping
        Fields that go before what is read.
    ask : Asker, optional
        Who answers what the sentence leaves open; the best reading is taken where there is nobody.
    replace_goal : bool
        Whether a goal that a person wrote may be replaced.

    Raises
    ------
    InputError
        No context file, a goal or pools that would be lost, a field that will not do, a place that cannot be
        written.
    Refused
        The sentence asks nothing, or what these records cannot hold; nothing is written.
    """
    context, text = _opened(path)
    standing = _standing(context, text)
    if standing and context.pools is not None:
        raise InputError(
            f"they are listed for the goal {standing!r}",
            "take them out, or use gnrs goal edit",
            source=str(path),
            field="pools",
        )
    stays = standing and not replace_goal and not _guessed(text)
    if stays and (
        ask is None or ask.choose(f"The goal {standing!r} stands there.", ("leave it", "replace it")) != 1
    ):
        raise InputError(
            f"{standing!r} stands there",
            "add --yes to replace it, or change it with gnrs goal edit",
            source=str(path),
            field="goal",
        )
    while True:
        try:
            found = goal_of(context, sentence, stated, ask)
        except Refused as error:
            sentence = ask.line(f"{error}. In other words (nothing to stop)") if ask is not None else ""
            if not sentence.strip():
                raise
            continue
        if not isinstance(found, str):
            goal, readings = found
            break
        sentence = found or sentence
    text = with_goal(text, plain(goal), json_file=path.suffix == ".json", source=str(path))
    _write(path, text, goal)
    return Written(path, goal, readings, standing)


def goal_of(
    context: Context, sentence: str, stated: Mapping[str, Any], ask: Asker | None = None
) -> tuple[Goal, Readings] | str:
    """The goal of a sentence, with what it leaves open answered, and its readings; another sentence to begin
    anew with, where that is the answer.

    Parameters
    ----------
    context : Context
    sentence : str
    stated : mapping
        Fields that go before what is read.
    ask : Asker, optional
        Who answers; the best reading is taken where there is nobody.

    Raises
    ------
    InputError
        A field that will not do.
    Refused
        The sentence asks nothing, or what these records cannot hold.
    """
    goal = _goal(
        {"id": stated.get("id") or name_of(sentence), "intent": sentence.strip()} | dict(stated), context
    )
    readings = _read(goal, context)
    if ask is None:
        return goal, readings
    answered = settled(goal, readings, context, ask)
    if isinstance(answered, str):
        return answered
    changed = answered.intent != readings.sentence or answered.read_as
    return answered, _read(answered, context) if changed else readings


def standing_goal(path: Path) -> tuple[Goal | None, bool]:
    """The goal that a context file states, if any, and whether a person wrote it.

    Raises
    ------
    InputError
        No context file.
    """
    context, text = _opened(path)
    return (context.goal, not _guessed(text)) if _standing(context, text) else (None, False)


def edit_goal(path: Path, stated: Mapping[str, Any], clear: Sequence[str] = ()) -> Written:
    """Change fields of a context's goal.

    Parameters
    ----------
    path : Path
    stated : mapping
        Fields and what they are to hold.
    clear : sequence of str
        Fields to leave empty.

    Raises
    ------
    InputError, Refused
        As :func:`new_goal`, or the file states no goal.
    """
    context, text = _opened(path)
    if not _standing(context, text):
        load_context(path)  # says that there is none, and what writes one
    for name in clear:
        if name not in Goal.model_fields or name in ("id", "intent"):
            fields = ", ".join(n for n in Goal.model_fields if n not in ("id", "intent"))
            raise InputError(
                f"{name!r} cannot be left empty", f"choose of {fields}", source="arguments", field="--clear"
            )
    old = plain(context.goal)
    changed = dict.fromkeys(clear) | {name: value for name, value in stated.items() if value is not None}
    goal = _goal({name: value for name, value in (old | changed).items() if value is not None}, context)
    readings = _read(goal, context)
    new = plain(goal)
    changes = {name: new.get(name) for name in changed if new.get(name) != old.get(name)}
    text = with_fields(text, new, changes, json_file=path.suffix == ".json", source=str(path))
    _write(path, text, goal)
    return Written(path, goal, readings, context.goal.id)


def name_of(sentence: str) -> str:
    """A name for the goal of a sentence: its first words that say something."""
    words = [
        word
        for word in re.findall(r"[a-z]+", sentence.lower())
        if word not in STOP and word not in ("must", "may", "should")
    ]
    return "_".join(words[:WORDS])[:60] or "goal"


def _opened(path: Path) -> tuple[Context, str]:
    """A context with or without a goal, and its text; refused before any work where it could not be
    written.
    """
    context = load_context(path, goalless=True)
    check_file(path)
    return context, read_text(path)


def _standing(context: Context, text: str) -> str:
    data = read_any(Path(context.source))
    return context.goal.id if data.get("goal") is not None else ""


def _guessed(text: str) -> bool:
    """Whether the goal that stands there is a guess of ``gnrs import``."""
    return bool(re.search(rf"^goal:\s*{GUESSED[0]}", text, re.MULTILINE))


def _goal(fields: Mapping[str, Any], context: Context) -> Goal:
    try:
        "".join(str(value) for value in fields.values()).encode()
    except UnicodeEncodeError:
        raise InputError("is no text", "write it in UTF-8", source="arguments", field="--sentence") from None
    goal = validated(Goal, dict(fields), source="arguments", field="goal")
    check_names(replace(context, goal=goal, source="arguments"))
    return goal


def _read(goal: Goal, context: Context) -> Readings:
    """The goal's sentence as read; raises what speaks against it on these records, as a draft would."""
    if context.records.log is None and not context.records.prospective:  # no rows to ask
        readings = read(goal.intent, context.schema, context.records.channels, context.records.attributes)
        if readings.nothing and not (goal.required or goal.forbidden or goal.permitted):
            raise Refused(why_nothing(readings), reason=readings.nothing)
        return readings
    context = of_goal(context, goal)
    readings = readings_of(context)
    found = refusal(context, readings)
    if found is not None:
        raise found
    return readings


def _write(path: Path, text: str, goal: Goal) -> None:
    """Put the file in place once it reads back as it was, but for the goal."""
    before = {key: value for key, value in read_any(path).items() if key != "goal"}
    after = parse_json(text, str(path)) if path.suffix == ".json" else parse_yaml(text, str(path))
    same = isinstance(after, dict) and {key: value for key, value in after.items() if key != "goal"} == before
    if not same or validated(_ContextFile, after, source=str(path)).goal != goal:
        raise InputError(
            "cannot be changed in place", "write the goal into it by hand", source=str(path), field="goal"
        )
    mark = b"\xef\xbb\xbf" if read_bytes(path).startswith(b"\xef\xbb\xbf") else b""
    write_all(path.parent, [(path.name, mark + text.encode())])
