"""Which column is what, guessed from names and values; each guess with its count, its confidence and its
reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from gnrs_ppl.context.types import COLUMNS, Column
from gnrs_ppl.errors import one_line
from gnrs_ppl.importing.staging import Found, Staging
from gnrs_ppl.importing.times import LONGEST, TimeFormat, are_times
from gnrs_ppl.reading.words import word
from gnrs_ppl.realize.english import words_of

NAMES: dict[Column, tuple[str, ...]] = {
    "timestamp": (
        "timetimestamp",
        "timestamp",
        "eventtime",
        "ocltime",
        "oceltime",
        "completetimestamp",
        "completetime",
        "datetime",
        "eventdate",
        "time",
        "date",
        "end",
        "endtime",
        "finished",
        "when",
        "starttimestamp",
        "starttime",
        "start",
        "createdat",
        "updatedat",
    ),
    "activity": (
        "conceptname",
        "activity",
        "activityname",
        "eventname",
        "event",
        "eventtype",
        "ocelactivity",
        "action",
        "task",
        "taskname",
        "step",
        "operation",
        "handling",
        "status",
        "message",
        "type",
    ),
    "case_id": (
        "caseconceptname",
        "caseid",
        "case",
        "caseidentifier",
        "casenumber",
        "caseno",
        "traceid",
        "trace",
        "processinstance",
        "instanceid",
    ),
    "event_id": ("eventid", "ocelid", "identityid", "id", "eid", "eventidentifier"),
    "resource": (
        "orgresource",
        "resource",
        "resourceid",
        "user",
        "userid",
        "username",
        "employee",
        "employeeid",
        "agent",
        "originator",
        "performer",
        "performedby",
        "actor",
        "officer",
        "worker",
        "assignee",
        "assignedto",
        "operator",
        "handler",
        "person",
        "staff",
        "nurse",
        "doctor",
        "clerk",
    ),
    "role": (
        "orgrole",
        "role",
        "rolename",
        "orggroup",
        "group",
        "department",
        "team",
        "unit",
        "position",
        "jobtitle",
        "function",
    ),
    "location": (
        "location",
        "orglocation",
        "place",
        "site",
        "city",
        "office",
        "branch",
        "plant",
        "region",
        "ward",
        "station",
        "store",
    ),
    "object": (
        "object",
        "objecttype",
        "objectid",
        "item",
        "product",
        "producttype",
        "document",
        "documenttype",
        "asset",
    ),
    "channel": ("channel", "sourcesystem", "system", "logname"),
    "value": ("value", "amount", "cost", "costs", "price", "total", "sum"),
    "offset": ("offset", "utcoffset"),
    "grain": ("grain",),
}
"""Names of a column, without case and signs, the surest first. The case of an event comes before its own
attributes."""

XES: dict[Column, str] = {
    "case_id": "case:concept:name",
    "activity": "concept:name",
    "timestamp": "time:timestamp",
    "resource": "org:resource",
    "role": "org:role",
}
"""What the standard calls them, in whatever format such names stand."""
Step = Literal["start", "complete", "ignore", "own"]
"""What a word of a lifecycle says: an act is begun, or done, or neither; or the row is an act of its own."""
_STEPS: dict[Step, str] = {
    "start": "start started starting begin begins began begun inprogress running beginn begonnen gestartet "
    "angefangen inbearbeitung gestart inuitvoering début debut débuté commencé démarré encours",
    "complete": "complete completed end ended finish finished done success successful succeeded ende beendet "
    "fertig fertiggestellt abgeschlossen erledigt einde beëindigd klaar voltooid afgerond gereed fin fini "
    "terminé achevé",
    "ignore": "schedule scheduled assign assigned reassign reassigned suspend suspended resume resumed abort "
    "aborted ateabort piabort withdraw withdrawn autoskip manualskip skip skipped cancel canceled cancelled",
}
LIFECYCLE = {word_: step for step, words in _STEPS.items() for word_ in words.split()}
"""Words, without case and signs, of a column that says how far an act was, and not which: those of XES, and
plain ones in four languages."""
SAMPLE = 200
"""Filled cells of a column that are looked at to see whether it holds times."""
TIMED = frozenset(
    {
        "date", "time", "timestamp", "at", "on", "datetime", "when", "ts", "epoch", "datum", "zeit", "zeitpunkt",
        "zeitstempel", "uhrzeit", "fecha", "heure", "horodatage", "tijd", "tijdstip",
    }
)  # fmt: skip
"""Last words of a column that holds times."""
ENOUGH_TIMES = 0.6
MOST_ACTIVITIES = 2000
ENOUGH_ROWS = 20
"""Rows from which a role that never changes is taken for none."""


class Seen(NamedTuple):
    """A column's cells: how many are filled, how many differ, how many are times, numbers, and times where bare
    numbers may be.
    """

    name: str
    filled: int
    distinct: int
    times: int
    numbers: int
    counted: int


class Guess(NamedTuple):
    """A guessed thing with what speaks for it: ``rows`` of ``of`` rows, a confidence in [0, 1], and why."""

    value: str
    rows: int
    of: int
    confidence: float
    why: str


Chooser = Callable[[Staging, "dict[str, Seen]", "dict[Column, Guess]", int], Guess | None]


def letters(name: str) -> str:
    """A name without case, spaces and signs."""
    return "".join(c for c in name.casefold() if c.isalnum())


def says_time(name: str) -> bool:
    """Whether a column's name says that it holds times."""
    return (
        bool({*words_of(name).split()[-1:]} & TIMED)
        or letters(name).endswith(("date", "time", "timestamp"))
        or letters(name) in NAMES["timestamp"]
    )


def look(staging: Staging, zone: ZoneInfo | None = None, form: TimeFormat | None = None) -> dict[str, Seen]:
    """What stands in each column of the rows that were read."""
    seen = {}
    for name in staging.columns:
        cell = staging.cell(name)
        filled, distinct, numbers = staging.one(
            f"SELECT count({cell}), count(DISTINCT {cell}), count(TRY_CAST({cell} AS DOUBLE)) FROM raw"
        )
        shown = staging.rows_of(
            f"SELECT left({cell}, {LONGEST + 1}) FROM raw WHERE {cell} IS NOT NULL ORDER BY row LIMIT {SAMPLE}"
        )
        times, counted = are_times((text for (text,) in shown), zone, form)
        of = max(len(shown), 1)
        seen[name] = Seen(name, filled, distinct, filled * times // of, numbers, filled * counted // of)
    return seen


def guess_columns(
    staging: Staging,
    found: Found,
    told: Mapping[str, str],
    zone: ZoneInfo | None = None,
    form: TimeFormat | None = None,
) -> dict[Column, Guess]:
    """The column of the source behind each column of the event table.

    Parameters
    ----------
    staging : Staging
    found : Found
        What the format says of its columns.
    told : mapping
        Event-table column -> column of the source, as a person says; an empty one says that there is none.
    zone : ZoneInfo, optional
    form : TimeFormat, optional
        How times are written, as a person says.

    Raises
    ------
    InputError
        A person names a column that is not there, or nothing can be case, activity or time.
    """
    rows = staging.one("SELECT count(*) FROM raw")[0]
    seen = look(staging, zone, form)
    guesses: dict[Column, Guess] = {}
    for column, name in told.items():
        if column not in COLUMNS:
            raise staging.error(
                f"{column!r} is no column of the event table", f"use one of {', '.join(COLUMNS)}", "--column"
            )
        if not name:
            continue
        near = get_close_matches(name, staging.columns, 1)
        if name not in seen:
            remedy = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(staging.columns[:12])}"
            raise staging.error(f"no column {name!r}", remedy, f"--column {column}")
        guesses[column] = Guess(name, seen[name].filled, rows, 1.0, "told")
    standard = {
        column: (name, "its name in XES")
        for column, name in XES.items()
        if name in seen and seen[name].filled
    }
    if column_says_nothing(seen.get(XES["role"]), rows):
        standard.pop("role", None)
    for column, (name, why) in (standard | found.hints).items():
        if name in seen and column in COLUMNS and column not in told:
            guesses[column] = Guess(name, seen[name].filled, rows, found.sure.get(column, 1.0), why)
    choosers: dict[Column, Chooser] = {"timestamp": _time, "activity": _activity, "case_id": _case}
    for column, choose in choosers.items():
        if column not in told and column not in guesses:
            choice = choose(staging, seen, guesses, rows)
            if choice is None:
                has = f"(it has {', '.join(staging.columns[:12])})"
                remedy = f"say which: --column {column}=NAME {has}"
                problem = f"no column looks like {'an' if column == 'activity' else 'a'} {column}"
                if column == "timestamp" and form is None:
                    remedy += ", and how it is written: --time-format FORMAT"
                    named = next((s.name for s in seen.values() if s.filled and says_time(s.name)), None)
                    if named is not None:
                        (example,) = staging.one(f"SELECT arg_min({staging.cell(named)}, row) FROM raw")
                        problem += f" ({named!r} holds {one_line(example, 60)!r})"
                raise staging.error(problem, remedy)
            guesses[column] = choice
    for column, names in NAMES.items():
        if column not in told and column not in guesses:
            taken = {guess.value for guess in guesses.values()}
            choice = _by_name(
                column, names, [s for s in seen.values() if s.name not in taken and s.filled], rows
            )
            if choice is not None:
                guesses[column] = choice
    return {column: guesses[column] for column in COLUMNS if column in guesses}


def column_says_nothing(seen: Seen | None, rows: int) -> bool:
    """Whether one and the same value stands in every row of many."""
    return seen is not None and seen.distinct == 1 and rows >= ENOUGH_ROWS


def _by_name(column: Column, names: tuple[str, ...], seen: list[Seen], rows: int) -> Guess | None:
    spelt = {letters(s.name): s for s in reversed(seen)}
    for place, name in enumerate(names):
        found = spelt.get(name)
        if found is None or not _may_be(column, found, rows):
            continue
        confidence = max(0.95 - 0.03 * place, 0.5) * (0.7 + 0.3 * found.filled / max(rows, 1))
        return Guess(found.name, found.filled, rows, round(confidence, 2), "by its name")
    return None


def _may_be(column: Column, seen: Seen, rows: int) -> bool:
    """Whether the cells of a column may be what its name says."""
    if column == "event_id":
        return seen.distinct == seen.filled == rows
    if column == "value":
        return seen.numbers == seen.filled
    if column == "timestamp":
        return seen.counted >= ENOUGH_TIMES * rows
    if column in ("role", "location", "channel"):
        return (
            seen.distinct <= max(20, rows // 20)
            and seen.times == 0
            and not (column == "role" and column_says_nothing(seen, rows))
        )
    if column in ("offset", "grain"):
        return seen.distinct <= 50
    return seen.times == 0


def _time(staging: Staging, seen: dict[str, Seen], guesses: dict[Column, Guess], rows: int) -> Guess | None:
    named = _by_name("timestamp", NAMES["timestamp"], list(seen.values()), rows)
    if named is not None:
        return named
    times = [s for s in seen.values() if s.times and s.times >= ENOUGH_TIMES * s.filled]
    if not times:  # bare numbers are times only where the column says so
        times = [s for s in seen.values() if s.counted >= ENOUGH_TIMES * s.filled > 0 and says_time(s.name)]
    best = max(times, key=lambda s: max(s.times, s.counted), default=None)
    if best is None:
        return None
    cells = max(best.times, best.counted)
    why = "most of its cells are times" if best.times else "its name, and its numbers may be times"
    return Guess(best.name, cells, rows, round((0.8 if best.times else 0.6) * cells / max(rows, 1), 2), why)


def _texts(seen: dict[str, Seen], guesses: dict[Column, Guess]) -> list[Seen]:
    taken = {guess.value for guess in guesses.values()}
    return [
        s for s in seen.values() if s.filled and s.name not in taken and s.times < ENOUGH_TIMES * s.filled
    ]


def _activity(
    staging: Staging, seen: dict[str, Seen], guesses: dict[Column, Guess], rows: int
) -> Guess | None:
    """The column whose values are words that name acts; what says how far an act was only where no other does."""
    best: Guess | None = None
    ranked = (False, 0.0)
    names = NAMES["activity"]
    for candidate in _texts(seen, guesses):
        if candidate.numbers == candidate.filled or candidate.distinct > MOST_ACTIVITIES:
            continue
        cell = staging.cell(candidate.name)
        values = [
            row[0]
            for row in staging.rows_of(
                f"SELECT {cell} FROM raw WHERE {cell} IS NOT NULL GROUP BY ALL ORDER BY count(*) DESC LIMIT "
                "50"
            )
        ]
        steps = {letters(value) for value in values} <= LIFECYCLE.keys()
        if steps and letters(candidate.name) not in names:
            continue
        acts = sum(any(word(part).verbs for part in _parts(value)) for value in values) / len(values)
        plain = letters(candidate.name)
        named = 0.6 - 0.01 * names.index(plain) if plain in names else 0.0
        score = min(0.97, named + 0.35 * acts * (candidate.distinct > 1) * candidate.filled / max(rows, 1))
        why = "by its name and words" if named else "its words name acts"
        if score >= 0.2 and (not steps, score) > ranked:
            best = Guess(candidate.name, candidate.filled, rows, round(score, 2), why)
            ranked = (not steps, score)
    return best


def _parts(value: str) -> list[str]:
    return ["".join(c for c in part if c.isalpha()) for part in value.replace("_", " ").lower().split()[:12]]


def _case(staging: Staging, seen: dict[str, Seen], guesses: dict[Column, Guess], rows: int) -> Guess | None:
    """The column whose values hold several different acts each; names that say case come first."""
    activity = staging.cell(guesses["activity"].value)
    best: Guess | None = None
    for candidate in _texts(seen, guesses):
        cell = staging.cell(candidate.name)
        plain = letters(candidate.name)
        of_each = staging.one(
            f"SELECT avg(acts), avg(n) FROM (SELECT count(DISTINCT {activity}) AS acts, count(*) AS n FROM "
            "raw "
            f"WHERE {cell} IS NOT NULL GROUP BY {cell})"
        )
        acts, each = float(of_each[0] or 0), float(of_each[1] or 0)
        score = 0.0
        if plain in NAMES["case_id"]:
            score = 0.97 - 0.02 * NAMES["case_id"].index(plain)
        elif acts > 1.2 and candidate.distinct > 1:
            spread = min(1.0, candidate.distinct / (2 * max(seen[guesses["activity"].value].distinct, 1)))
            person = plain in NAMES["resource"] or plain in NAMES["role"] or plain in NAMES["location"]
            number = 0.15 if plain.endswith(("id", "number", "nr", "no", "key")) else 0.0
            score = (0.2 if person else 0.6) * spread * min(1.0, acts / 2) * (
                1.0 if each <= 500 else 0.5
            ) + number
        score *= candidate.filled / max(rows, 1)
        why = (
            "by its name"
            if plain in NAMES["case_id"]
            else f"each of its {candidate.distinct:,} values holds {acts:.1f} different acts"
        )
        if score >= 0.1 and (best is None or score > best.confidence):
            best = Guess(candidate.name, candidate.filled, rows, round(min(score, 0.97), 2), why)
    return best
