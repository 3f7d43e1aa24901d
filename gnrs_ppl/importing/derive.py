"""What a context needs, out of the events: goal to begin with, schema and record layer, every guess with
count and confidence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from gnrs_ppl.context.clocks import Clock, clocks_of
from gnrs_ppl.context.reach import reach_of
from gnrs_ppl.context.types import RecordLayer, Schema
from gnrs_ppl.errors import InputError
from gnrs_ppl.importing.events import Attribute, Events, is_name
from gnrs_ppl.importing.lifecycle import instant
from gnrs_ppl.importing.phrases import Phrase, phrase_of, singular, speakable
from gnrs_ppl.importing.staging import Found
from gnrs_ppl.importing.weekdays import calendar_suggested
from gnrs_ppl.reading.words import word
from gnrs_ppl.realize.english import event_noun, words_of
from gnrs_ppl.realize.lexicon import Lexicon

Path = tuple[str, ...]

MOST_TERMS = 200
"""Different roles, places or objects from which they are numbers of things and no names for a schema."""
FEW = 6
"""Roles, places or objects of an activity that are listed with it."""
OFTEN = 0.95
"""Share of cases from which an activity is taken to open or close them."""
_NICE = (
    (60, "PT1M", "one minute"),
    (300, "PT5M", "five minutes"),
    (900, "PT15M", "15 minutes"),
    (3600, "PT1H", "one hour"),
    (4 * 3600, "PT4H", "four hours"),
    (86400, "P1D", "one day"),
    (3 * 86400, "P3D", "three days"),
    (7 * 86400, "P7D", "seven days"),
    (14 * 86400, "P14D", "14 days"),
    (30 * 86400, "P30D", "30 days"),
    (90 * 86400, "P90D", "90 days"),
    (180 * 86400, "P180D", "180 days"),
    (365 * 86400, "P365D", "365 days"),
    (3650 * 86400, "P3650D", "3650 days"),
)


@dataclass
class Derived:
    """A context as plain data, with the comment that goes with each part of it.

    Attributes
    ----------
    data : dict
        Goal, schema and records as a context file holds them.
    notes : mapping
        Path of a part -> what is said of it; named parts of a list go by their name.
    below : mapping
        Path of a part -> lines of comment that stand under it.
    """

    data: dict[str, Any]
    notes: dict[Path, str] = field(default_factory=dict)
    below: dict[Path, list[str]] = field(default_factory=dict)
    guesses: Counter[str] = field(default_factory=Counter)

    def note(self, path: Path, kind: str, confidence: float, why: str) -> None:
        """Mark a part as guessed."""
        self.notes[path] = f"guessed {confidence:.2f}: {why}"
        self.guesses[kind] += 1


def derive(events: Events, found: Found, channel: str) -> Derived:
    """The context that a table of events makes.

    Parameters
    ----------
    events : Events
    found : Found
    channel : str
        Name of the log where no column holds one.
    """
    _view(events)
    derived = Derived({"goal": {}, "schema": {}, "records": {"log": "events.parquet"}})
    if events.doubted:
        derived.data["records"]["set_aside"] = "set-aside.parquet"
    schema, records = derived.data["schema"], derived.data["records"]
    for kind, column in (("roles", "role"), ("locations", "location"), ("objects", "object")):
        _terms(events, derived, kind, column)
    for name, count in found.objects.items():
        if not is_name(name):
            continue
        listed = schema.setdefault("objects", [])
        if name not in {term["name"] for term in listed}:
            listed.append({"name": name, **_one_of(name)})
            derived.note(
                ("schema", "objects", name), "object", 0.9, f"a type of the source, {count:,} objects"
            )
    _actions(events, derived, found)
    _columns(events, derived, channel)
    _offset(events, derived)
    _channels(events, derived, channel)
    _ends(events, derived)
    if found.objects:
        records["support"] = [
            {
                "kind": "object",
                "name": name,
                "support": "inferred",
                "because": "The source ties events to objects of this type.",
            }
            for name in found.objects
            if is_name(name)
        ]
    derived.below[("records",)] = [*(_described(a) for a in events.attributes), *calendar_suggested(events)]
    make_speakable(derived)
    _goal(events, derived)
    return derived


def derive_model(found: Found, channel: str) -> Derived:
    """The context that a model without a log makes: what could be recorded, in the order the model draws."""
    derived = Derived({"goal": {}, "schema": {}, "records": {"prospective": True}})
    schema, records = derived.data["schema"], derived.data["records"]
    roles = list(dict.fromkeys(found.roles.values()))
    if roles:
        schema["roles"] = [{"name": name, **role_phrase(name)} for name in roles]
    for role in roles:
        count = sum(name == role for name in found.roles.values())
        why = f"a lane or participant of the model, {count:,} tasks"
        derived.note(("schema", "roles", role), "role", 0.8, why)
    schema["actions"] = []
    for name in found.activities:
        phrase = phrase_of(name)
        schema["actions"].append(
            {"name": name, **_spoken(phrase)}
            | ({"roles": [found.roles[name]]} if name in found.roles else {})
        )
        derived.note(
            ("schema", "actions", name), "phrase", phrase.confidence, f"{phrase.why}; a task of the model"
        )
    records["channels"] = [{"name": channel, "closed_world": True, "activities": list(found.activities)}]
    derived.note(
        ("records", "channels", channel),
        "channel",
        0.3,
        "no log yet: a log to come that shows each task, and in which what is missing did not happen",
    )
    derived.below[("records",)] = [f"order: {one} → {other}" for one, other in found.order]
    make_speakable(derived)
    actions = {action["name"]: action for action in schema["actions"]}
    first, then = found.order[0] if found.order else (None, next(iter(actions)))
    goal: dict[str, Any] = {
        "id": "first_goal",
        "intent": f"Somebody must {said(actions[then])}.",
        "required": [then],
    }
    if first is not None:
        goal |= {
            "intent": f"After the {told(actions[first])}, somebody must {said(actions[then])} within seven "
            "days.",
            "triggers": [first],
            "within": "P7D",
        }
    derived.data["goal"] = goal | {"force": "must"}
    derived.note(
        ("goal",), "goal", 0.2, "the first flow of the model, its time made up; write your own sentence"
    )
    return derived


def _view(events: Events) -> None:
    """Table ``seen``: event-table columns and the instant in UTC, in file order."""
    columns = {
        c: events.cell(c)
        for c in ("case_id", "activity", "timestamp", "role", "location", "object", "resource", "channel")
    }
    parts = [f'{sql or "NULL::VARCHAR"} AS "{name}"' for name, sql in columns.items()]
    text = columns["timestamp"]
    events.staging.connection.execute("SET TimeZone = 'UTC'")
    events.staging.connection.execute(
        f"CREATE OR REPLACE TABLE seen AS SELECT row, {', '.join(parts)}, {instant(str(text))} AS instant FROM raw"
    )


def _term_phrase(name: str) -> dict[str, str]:
    words = words_of(name)
    return {"phrase": words} if words != name and speakable(words) else {}


def _one_of(name: str) -> dict[str, str]:
    """What one thing of a type is called: types are mostly named for many (orders)."""
    words = words_of(name)
    one = singular(words)
    return {"phrase": one, "plural": words} if one != words and speakable(one) else _term_phrase(name)


BODIES = frozenset("team group department dept unit desk office line division section squad board".split())
"""Words for several people, of whom a rule binds one."""
WORK = r"(?:tion|sion|ment|ance|ing|\b(?:sales|support|logistics))$"
"""What people do and not who does it: sales, shipment, purchasing."""


def role_phrase(name: str) -> dict[str, str]:
    """Words for one of those who have a role: of a team, its member; of sales or shipment, its employee."""
    words = words_of(name)
    first, last = words.split()[:1], words.split()[-1:]
    if {*first, *last} & BODIES:
        words += " member"
    elif re.fullmatch("[A-Z]{2,3}", name):
        words = f"{name} employee"
    elif re.search(WORK, words) and not word(*last).person:
        words += " employee"
    return {"phrase": words} if words != name and speakable(words) else {}


def _terms(events: Events, derived: Derived, kind: str, column: str) -> None:
    """Roles, locations or objects from their column, where those are few enough to be names."""
    guess = events.columns.get(column)  # type: ignore[call-overload]
    if guess is None:
        return
    found = events.staging.rows_of(
        f'SELECT "{column}", count(*) FROM seen WHERE "{column}" IS NOT NULL GROUP BY ALL ORDER BY count(*) '
        "DESC, 1"
    )
    if not found or len(found) > MOST_TERMS or not any(c.isalpha() for name, _ in found for c in name):
        return  # numbers of things, which rules may correlate by but not name
    phrase = role_phrase if kind == "roles" else _term_phrase
    derived.data["schema"][kind] = [{"name": name, **phrase(name)} for name, _ in found]
    for name, count in found:
        derived.note(
            ("schema", kind, name), kind[:-1], guess.confidence, f"{count:,} rows in {guess.value!r}"
        )


def _actions(events: Events, derived: Derived, found: Found) -> None:
    schema = derived.data["schema"]
    schema["actions"] = []
    doers: dict[str, dict[str, list[str]]] = {}
    for kind, column in (("roles", "role"), ("locations", "location"), ("objects", "object")):
        listed = {term["name"] for term in schema.get(kind, [])}
        for activity, name in events.staging.rows_of(
            f'SELECT activity, "{column}" FROM seen WHERE "{column}" IS NOT NULL GROUP BY ALL ORDER BY ALL'
        ):
            if name in listed:
                doers.setdefault(activity, {}).setdefault(kind, []).append(name)
    counts = dict(
        events.staging.rows_of(
            "SELECT activity, count(*) FROM seen GROUP BY ALL ORDER BY min(instant), min(row), 1"
        )
    )
    counts |= {name: 0 for name in found.activities if name not in counts and is_name(name)}
    for name, count in counts.items():
        phrase = phrase_of(name)
        if name in found.told_activity:
            verb = found.told_activity[name]
            phrase = Phrase(verb, event_noun(verb), 0.4, "a row of this table") if speakable(verb) else phrase
        action: dict[str, Any] = {"name": name, **_spoken(phrase)}
        action |= {kind: names for kind, names in doers.get(name, {}).items() if len(names) <= FEW}
        schema["actions"].append(action)
        said = (
            f"{phrase.why}; {count:,} rows" if count else f"{phrase.why}; declared by the source, on no row"
        )
        derived.note(("schema", "actions", name), "phrase", phrase.confidence, said)


def _spoken(phrase: Phrase) -> dict[str, Any]:
    named = {"phrase": phrase.verb, "noun": phrase.noun} if phrase.verb else {}
    return named | ({"aliases": list(phrase.aliases)} if named and phrase.aliases else {})


def _columns(events: Events, derived: Derived, channel: str) -> None:
    columns: dict[str, str] = {}
    for column, guess in events.columns.items():
        columns[column] = events.where(column)
        made = f"made from {guess.value!r}; " if column in events.made else ""
        derived.note(
            ("records", "columns", column),
            "column",
            guess.confidence,
            f"{made}{guess.why}; {guess.rows:,} of {guess.of:,} rows",
        )
    derived.data["records"]["columns"] = columns
    if "channel" not in events.columns:
        derived.data["records"]["constants"] = {"channel": channel}


def _offset(events: Events, derived: Derived) -> None:
    """The zone that was named; else the offset of times that carry none; others carry their own."""
    if events.zone is not None:
        derived.data["records"]["zone"] = events.zone
    naive = events.offsets.get("", 0)
    told = {offset: count for offset, count in events.offsets.items() if offset not in ("", "date")}
    if naive and events.zone is None and "offset" not in events.columns:
        offset = max(told, key=lambda o: told[o], default="Z")
        derived.data["records"]["offset"] = (
            offset if ":" in offset or offset == "Z" else f"{offset[:3]}:{offset[3:]}"
        )
        why = (
            "as most other rows have it"
            if told
            else "no time carries one; --zone NAME reads them in a zone with its summer time"
        )
        derived.note(("records", "offset"), "offset", 0.6 if told else 0.2, f"{why}; {naive:,} rows")
    parts = [f"{count:,} at {offset}" for offset, count in sorted(told.items())]
    parts += [
        f"{count:,} {what}"
        for key, what in (("date", "dates alone"), ("", "without offset"))
        if (count := events.offsets.get(key, 0))
    ]
    derived.below.setdefault(("records", "columns"), []).append(f"times: {', '.join(parts)}")


def _channels(events: Events, derived: Derived, channel: str) -> None:
    records = derived.data["records"]
    records["channels"] = []
    at = "make_timestamp(CAST(instant * 1000000 AS BIGINT))"
    reach = reach_of(
        events.staging.connection,
        datetime.now(UTC).replace(tzinfo=None),
        f'(SELECT row AS event_id, case_id, activity, {at} AS "timestamp", 0 AS "offset" FROM seen)',
    )
    events.said += reach.findings
    counts = reach.holds(at)
    reaching = f"count(*), min(instant) FILTER ({counts}), max(instant) FILTER ({counts})"
    if "channel" in events.columns:
        names = events.staging.rows_of(
            f"SELECT channel, {reaching} FROM seen WHERE channel IS NOT NULL "
            "GROUP BY ALL ORDER BY count(*) DESC, 1"
        )
    else:
        names = [(channel, *events.staging.one(f"SELECT {reaching} FROM seen"))]
    clocks = _clocks(events)
    for name, count, least, most in names:
        where, parameters = (
            ("channel = $name", {"name": name}) if "channel" in events.columns else ("true", {})
        )
        gap = events.staging.one(
            "SELECT max(instant - before) FROM (SELECT instant, lag(instant) OVER (ORDER BY instant) AS "
            f"before FROM seen WHERE {where} AND {counts})",
            parameters,
        )[0]
        days = (most - least) / 86400 if most is not None and least is not None else 0.0
        entry: dict[str, Any] = {"name": name, "closed_world": True}
        clock, dated = _grain(clocks[name if "channel" in events.columns else None])
        if clock:
            entry["grain"] = "day"
        records["channels"].append(entry)
        path = ("records", "channels", name)
        steady = max(0.0, min(1.0, 1 - (gap or 0) / 86400 / days)) if days else 0.5
        derived.note(
            path,
            "channel",
            round(0.4 + 0.4 * steady, 2),
            f"{count:,} rows, {_day(least)} to {_day(most)}, longest silence {(gap or 0) / 86400:.1f} "
            f"days{clock}",
        )
        events.said += [f"{name}: {line}" for line in dated]
        derived.below[path] = [
            "closed_world: what is not in it is taken not to have happened; set it to false if acts may go "
            "unrecorded",
            f"coverage: [{{start: {_day(least)}, end: {_day(most)}}}]  (taken so: first to last event)",
            *dated,
        ]
    records["channels"].sort(key=lambda entry: entry["name"])


_CLOCK = r"(:00([.,]0+)?)?\s*([Zz]|[+-]\d{2}(:?\d{2})?)?$"
_WHOLE = (
    rf"^.{{8,10}}[Tt ]00:?00{_CLOCK}",
    rf"^.{{8,10}}[Tt ]\d\d:?00{_CLOCK}",
    rf"^.{{8,10}}[Tt ]\d\d:?\d\d{_CLOCK}",
    r"^[^.,]*([.,]0+\D.*|[.,]0+)?$",
)
"""ISO 8601 times at midnight on their own clock, on a whole hour, minute and second."""


def _clocks(events: Events) -> dict[str | None, list[Clock]]:
    """What the clocks of each channel show, by activity; no midnight counts where rows state their grain."""
    timed = "length(timestamp) > 10"
    stated = "grain" in events.columns
    whole = ", ".join(
        f"count(*) FILTER ({timed} AND {not stated} AND regexp_matches(timestamp, '{pattern}'))"
        for pattern in _WHOLE
    )
    found: dict[str | None, list[Clock]] = {}
    for row in events.staging.rows_of(
        f"SELECT channel, activity, count(*) FILTER ({timed}), count(*) FILTER (NOT {timed}), {whole} FROM seen "
        "GROUP BY channel, activity ORDER BY ALL"
    ):
        found.setdefault(row[0], []).append(Clock(*row))
    return found


def _grain(clocks: list[Clock]) -> tuple[str, list[str]]:
    """What is said of a channel that shows days alone, and lines on those of its acts that do."""
    times, dates = sum(c.times for c in clocks), sum(c.dates for c in clocks)
    if not times:
        return "; all times are dates", []
    read = clocks_of((c._replace(channel="") for c in clocks), {})
    if read.grains[""] == "day":
        others = f", the other {dates:,} dates" if dates else ""
        return f"; {times:,} of {times + dates:,} times are midnight{others}: dates written as times", []
    return "", [
        f"{c.activity}: {'all ' if c.midnights == c.times else f'{c.midnights:,} of '}{c.times:,} times are midnight, "
        "which are taken as dates"
        for c in read.dated
    ]


def _day(instant: float | None) -> str:
    try:
        return datetime.fromtimestamp(instant or 0).date().isoformat() if instant is not None else "?"
    except (OverflowError, OSError, ValueError):
        return "?"


def _ends(events: Events, derived: Derived) -> None:
    """Activities that open and close cases, where nearly every time they stand first or last."""
    cases = events.staging.one("SELECT count(DISTINCT case_id) FROM seen")[0]
    events.staging.connection.execute(
        "CREATE OR REPLACE TABLE placed AS SELECT case_id, activity, "
        "row_number() OVER (PARTITION BY case_id ORDER BY instant, row) AS place, "
        "row_number() OVER (PARTITION BY case_id ORDER BY instant DESC, row DESC) AS back FROM seen"
    )
    for field_, column, place in (("case_start", "place", "first"), ("case_end", "back", "last")):
        found = events.staging.rows_of(
            f"SELECT activity, count(*) FILTER ({column} = 1) AS ends, count(*) FROM placed GROUP BY "
            "activity "
            f"HAVING ends >= {OFTEN} * count(*) AND ends >= 2 ORDER BY ends DESC, activity LIMIT 5"
        )
        covered = sum(row[1] for row in found)
        if not found or covered < 0.5 * cases or (field_ == "case_start" and covered < OFTEN * cases):
            continue
        derived.data["records"][field_] = [row[0] for row in found]
        share = covered / cases
        derived.note(
            ("records", field_),
            "case end",
            round(0.9 * share, 2),
            f"{place} in {covered:,} of {cases:,} cases",
        )
    if "case_end" not in derived.data["records"]:
        _quiet(events, derived, cases)


QUIET = (
    ("P1D", 1),
    ("P7D", 7),
    ("P1M", 31),
    ("P3M", 92),
    ("P6M", 184),
    ("P1Y", 366),
    ("P2Y", 731),
    ("P5Y", 1827),
)
"""Silences after which a case may be taken as closed, with their longest days."""
SILENT = 0.99
"""Share of cases that must know no longer silence while they run."""


def _quiet(events: Events, derived: Derived, cases: int) -> None:
    """A silence after which a case is taken as closed, where no activity closes cases: without one no ban
    could ever be kept.
    """
    longest = [
        row[0] or 0.0
        for row in events.staging.rows_of(
            "SELECT max(gap) FROM (SELECT case_id, instant - lag(instant) OVER (PARTITION BY case_id ORDER "
            "BY instant, row) AS gap "
            "FROM seen) GROUP BY case_id ORDER BY 1 NULLS FIRST"
        )
    ]
    for text, days in QUIET:
        within = sum(gap <= days * 86400 for gap in longest)
        if longest and within >= SILENT * len(longest):
            derived.data["records"]["quiet_after"] = text
            told = (
                f"no act closes cases; in {within:,} of {cases:,} no silence is longer: a case silent "
                "for that long is taken as closed"
            )
            derived.note(("records", "quiet_after"), "case end", 0.5, told)
            return


def _described(attribute: Attribute) -> str:
    reach = (
        f"{attribute.low} to {attribute.high}"
        if attribute.kind in ("integer", "number")
        else f"{attribute.distinct:,} different"
    )
    return f"column {attribute.name!r}: {attribute.kind}, {reach}, {attribute.nulls:,} empty"


def make_speakable(derived: Derived) -> None:
    """Take back phrases that rule texts cannot use or that two names would share, until every name can be
    told apart.
    """
    schema, records = derived.data["schema"], derived.data["records"]
    kinds = ("actions", "roles", "locations", "objects")
    for _ in range(400):
        try:
            Lexicon.of(Schema.model_validate(schema), RecordLayer.model_validate(records))
            return
        except InputError as error:
            kind, _, rest = error.field.removeprefix("schema.").removeprefix("records.").partition(".")
            kind = {
                "action": "actions",
                "role": "roles",
                "location": "locations",
                "object": "objects",
                "channel": "channels",
                "attribute": "attributes",
            }.get(kind, kind)
            place = records if kind in ("channels", "attributes") else schema
            name = next(
                (
                    t["name"]
                    for t in place.get(kind, [])
                    if rest in (t["name"], f"{t['name']}.phrase", f"{t['name']}.noun")
                ),
                None,
            )
            if name is None:
                break
            _respell(next(t for t in place[kind] if t["name"] == name), kind, place[kind])
    for kind in kinds:  # so many clash that every name is quoted
        for number, term in enumerate(schema.get(kind, []), 1):
            _number(term, kind, number)


def _respell(term: dict[str, Any], kind: str, terms: list[dict[str, Any]]) -> None:
    if "phrase" in term and not term["phrase"].startswith(("entry number", "carry out entry number")):
        term.pop("phrase")
        term.pop("noun", None)
    else:
        _number(term, kind, terms.index(term) + 1)


def _number(term: dict[str, Any], kind: str, number: int) -> None:
    """Words that no other name of its kind has."""
    word = {
        "actions": "activity",
        "roles": "role",
        "locations": "place",
        "objects": "object",
        "channels": "log",
        "attributes": "attribute",
    }[kind]
    if kind == "actions":
        term |= {"phrase": f"carry out {word} No-{number}", "noun": f"{word} No-{number}"}
    else:
        term["phrase"] = f"{word} No-{number}"


def _goal(events: Events, derived: Derived) -> None:
    """A habit of the records to begin with: what nearly every case goes on to after its start, and how
    fast.
    """
    goal = derived.data["goal"]
    goal |= {"id": "first_goal"}
    pair = events.staging.rows_of(
        """WITH common AS (SELECT activity FROM seen GROUP BY ALL ORDER BY count(*) DESC, 1 LIMIT 30),
           firsts AS (SELECT case_id, activity, min(instant) AS first, max(instant) AS last FROM seen SEMI JOIN common USING (activity)
                      GROUP BY ALL),
           opened AS (SELECT activity AS opens, count(*) AS cases FROM firsts GROUP BY ALL),
           pairs AS (SELECT a.activity AS opens, b.activity AS follows, count(*) FILTER (b.last > a.first) AS later,
                            quantile_cont(b.last - a.first, 0.9) FILTER (b.last > a.first) AS delay
                     FROM firsts a JOIN firsts b ON a.case_id = b.case_id AND a.activity <> b.activity GROUP BY ALL)
           SELECT opens, follows, later, delay, cases FROM pairs JOIN opened USING (opens)
           WHERE later > 0 ORDER BY later * later / cases DESC, opens, follows LIMIT 1"""
    )
    actions = {action["name"]: action for action in derived.data["schema"]["actions"]}
    if not pair:
        name = events.staging.one("SELECT activity FROM seen GROUP BY ALL ORDER BY count(*) DESC, 1 LIMIT 1")[
            0
        ]
        goal |= {"intent": f"Somebody must {said(actions[name])}.", "required": [name]}
        derived.note(("goal",), "goal", 0.1, "the most frequent act; write a sentence of your own")
        return
    opens, follows, later, delay, opened = pair[0]
    within = next((nice for nice in _NICE if nice[0] >= (delay or 0)), _NICE[-1])
    if events.offsets.get("date", 0) or any("grain" in c for c in derived.data["records"]["channels"]):
        within = next(nice for nice in _NICE if nice[0] >= max(delay or 0, 7 * 86400) or nice is _NICE[-1])
    goal |= {
        "intent": f"After the {told(actions[opens])}, somebody must {said(actions[follows])} within "
        f"{within[2]}.",
        "required": [follows],
        "triggers": [opens],
        "within": within[1],
    }
    derived.note(
        ("goal",),
        "goal",
        round(0.5 * later / opened, 2),
        f"a habit, not a rule: in {later:,} of {opened:,} cases; write your own sentence",
    )


def said(action: dict[str, Any]) -> str:
    """An act as what somebody must do."""
    return str(action.get("phrase") or f"carry out {action['name']}")


def told(action: dict[str, Any]) -> str:
    """An act as something that happened."""
    return str(action.get("noun") or action["name"])


def names_of(terms: Iterable[Any]) -> list[str]:
    """Names of a list of terms, plain ones too."""
    return [term if isinstance(term, str) else term["name"] for term in terms]
