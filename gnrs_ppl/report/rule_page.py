"""``gnrs report``: a draft and its audit as one page to hand in, made of the files of their folder alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path
from typing import Any

from gnrs_ppl.audit.types import LEFT_UNCOUNTED, VERDICTS
from gnrs_ppl.context.files import digest_of, read_data
from gnrs_ppl.context.output import as_written
from gnrs_ppl.context.time import Duration
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.realize.english import duration
from gnrs_ppl.report.page import write_page
from gnrs_ppl.rule.types import SLOTS

FILES_READ = ("draft.json", "audit.json", "posterior.nc")
AGAIN = "write it again with gnrs draft --out and gnrs audit --out"
WIDE = 1000
"""Units across a case's timeline."""
MEANINGS = {
    "satisfied": "the record shows what the rule asks for",
    "violated": "the record shows otherwise",
    "indeterminate": "the record leaves it open; silence settles nothing here",
    "pending": "the time was still running when the records end",
    "not_activated": "nothing in the case calls the rule up",
    "excused": "an exception that the rule names is recorded",
}
REASONS = {
    "proven": "recorded in time",
    "tie": "recorded at the same instant, which counts as in time",
    "refuted": "what is forbidden is not recorded",
    "late": "recorded, but too late",
    "absent": "not recorded",
    "too_few": "recorded too few times",
    "too_many": "recorded too many times",
    "seen_forbidden": "what is forbidden is recorded",
    "not_preceded": "not recorded beforehand",
    "open": "time still running",
    "seen": "recorded, time still running",
    "unseen": "not recorded yet, time still running",
    "scope": "unclear whether the rule applies",
    "uncounted": "the calendar cannot count the working time",
    "twice": "hangs on a local time that comes twice",
    "after_unknown": "unclear whether the second event came",
    "unknown_key": "the opening row names nobody to match",
    "unknown_match": "unclear whether a row is the act",
    "unknown_tie": "recorded at the same instant, in unclear order",
    "open_world": "the logs are not declared complete",
    "uncovered": "the logs do not cover the time",
    "uncorroborated": "recorded in too few logs",
    "split": "rows of several logs do not add up",
    "unknown_order": "the order of rows is unclear",
    "exception_unknown": "unclear whether an exception came first",
    "no_after": "the second event did not come",
    "exception": "an exception is recorded",
}
FEATURES = {
    "intent_alignment": "says what the sentence asks for",
    "schema_grounding": "uses the institution's own names",
    "record_compatibility": "can be seen in the records",
    "procedural_closure": "says what follows a breach",
    "value_consistency": "fits the values the goal names",
    "language": "reads plainly",
}
SLOT_QUESTIONS = {
    "scope": "who and what is covered",
    "trigger": "what sets it to work",
    "norm": "what must or must not happen",
    "evidence": "which logs show it",
    "procedure": "what follows a breach",
}
SOURCES = {
    "hand": "listed by hand",
    "reading": "read from the sentence",
    "schema": "the institution's names",
    "record": "seen in the records",
    "template": "a template",
    "model": "a language model",
}


def write_report(folder: Path, path: Path) -> Path:
    """Write the page of a folder.

    Parameters
    ----------
    folder : Path
        What ``gnrs draft --out`` or ``gnrs audit --out`` wrote; a folder that both wrote to gives the whole
        page.
    path : Path

    Raises
    ------
    InputError
        The folder holds neither, or half of one; a file was changed since it was written or is of another
        version; draft and audit are of different rules; the page cannot be written.
    """
    with understood(folder):
        write_page("report.html", path, **values_of(folder))
    return path


@contextmanager
def understood(folder: Path) -> Iterator[None]:
    """What comes of files that do not hold what this version writes there, as an InputError."""
    from jinja2 import UndefinedError

    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, UndefinedError) as error:
        raise InputError(
            f"does not hold what this version writes there ({one_line(str(error), 160)})",
            AGAIN,
            source=str(folder),
        ) from None


def values_of(folder: Path) -> dict[str, Any]:
    """What the sections of the page show of a folder; under :func:`understood`.

    Raises
    ------
    InputError
        As :func:`write_report`.
    """
    draft, audit = _read(folder, "draft"), _read(folder, "audit")
    if draft is None and audit is None:
        raise InputError(
            "holds neither a draft nor an audit",
            "name a folder that gnrs draft --out or gnrs audit --out wrote",
            source=str(folder),
        )
    if draft and audit and draft["structure"] != _whole(audit):
        raise InputError(
            "is of another rule than draft.json",
            f"audit {folder / 'rule.json'} again, or with --out in a folder of its own",
            source=str(folder / "audit.json"),
        )
    return _view(folder, draft, audit)


def _read(folder: Path, kind: str) -> dict[str, Any] | None:
    path = folder / f"{kind}.json"
    return read_data(path) if _stands(path, f"write it again with gnrs {kind} --out") else None


def _stands(path: Path, remedy: str) -> bool:
    """Whether a file is there; refused where its manifest does not say that it was written so."""
    if path.exists() and not as_written(path):
        raise InputError("is not as it was written", remedy, source=str(path))
    return path.exists()


def _whole(audit: dict[str, Any]) -> Any:
    """The audited rule with every field, as a draft has it."""
    from gnrs_ppl.context.files import validated
    from gnrs_ppl.rule.types import Structure

    return validated(Structure, audit["rule"]["structure"], source="audit.json").model_dump(mode="json")


def _view(folder: Path, draft: dict[str, Any] | None, audit: dict[str, Any] | None) -> dict[str, Any]:
    """Everything the template shows."""
    text = draft["text"] if draft else audit["rule"]["text"] if audit else ""
    # what the rule asks, and from its evidence on the rest: the renderer's own order
    clause, evidence, rest = text.partition(" Evidence: ")
    return {
        "name": draft["goal"]["id"] if draft else folder.resolve().name,
        "folder": str(folder),
        "clause": clause,
        "clause_rest": evidence + rest,
        "uncounted": _uncounted(draft, audit),
        "draft": draft,
        "audit": audit,
        "statements": statements_of(draft["reading"]) if draft else [],
        "beside": _beside(draft["reading"]) if draft else [],
        "marked": marked_words(draft["reading"]) if draft else [],
        "slots": [_slot(slot, draft) for slot in SLOTS] if draft else [],
        "score": _score(draft) if draft else [],
        "runners": [_runner(other, draft) for other in draft["alternatives"]] if draft else [],
        "diagnosis": _diagnosis(folder) if draft else None,
        "cases": [_case(found) for found in audit["violations"]] if audit else [],
        "periods": _periods(audit["over_time"]) if audit else [],
        "tallest": max((sum(p["counts"].values()) for p in audit["over_time"]["periods"]), default=0)
        if audit
        else 0,
        "called": ((draft or {}).get("called") or (audit or {}).get("called") or {}),
        "verdicts": VERDICTS,
        "meanings": MEANINGS,
        "reasons": REASONS,
        "source_words": SOURCES,
        "hashes": {
            name: digest_of(folder / name)
            for name in ("rule.json", "draft.json", "audit.json", "verdicts.csv")
            if (folder / name).exists()
        },
        "written": f"{datetime.now(UTC):%-d %B %Y, %H:%M} UTC",
        "moment": moment,
        "again": None,  # a live page has a form by that name, with which options are pinned
    }


def _uncounted(draft: dict[str, Any] | None, audit: dict[str, Any] | None) -> str | None:
    """The assumption that no calendar counts the working time that the rule asks for, where it is made."""
    made = audit["assumptions"] if audit else draft["check"]["assumptions"] if draft else ()
    return next((line for line in made if LEFT_UNCOUNTED in line), None)


def moment(text: str | None) -> str:
    """A recorded time or a due bound, ISO 8601 at its own grain, for readers: seconds at the finest."""
    if not text:
        return "no time recorded"
    at = datetime.fromisoformat(text)
    day = f"{at.day} {at:%b %Y}"
    if len(text) == len("2024-05-13"):
        return day
    to_minutes = re.search(r"[T ]\d\d:\d\d(:00)?([+-]|$)", text)
    return f"{day}, {at:%H:%M}" if to_minutes else f"{day}, {at:%H:%M:%S}"


# The sentence


def marked_words(reading: dict[str, Any]) -> list[dict[str, str]]:
    """The sentence in pieces: words, and what part they are."""
    parts = [*(part for parts in reading["parts"] for part in parts), *reading.get("parts_beside", ())]
    parts += [item | {"kind": "background"} for item in reading["background"]]
    parts += [item | {"kind": "not read"} for item in reading["unread"]]
    sentence, at, pieces = reading["sentence"], 0, []
    for part in sorted(parts, key=lambda p: (p["span"][0], -p["span"][1])):
        start, end = part["span"]
        if start < at:
            continue
        pieces.append({"words": sentence[at:start], "kind": ""})
        pieces.append({"words": sentence[start:end], "kind": part["kind"]})
        at = end
    return [piece for piece in [*pieces, {"words": sentence[at:], "kind": ""}] if piece["words"]]


def statements_of(reading: dict[str, Any]) -> list[dict[str, Any]]:
    """The statements of a sentence, each with its best reading, the others, and its parts; of a draft of an
    earlier version that holds no clauses, in DECLARE's spelling.
    """
    sentence = reading["sentence"]
    spelled = [
        [f"{way['declare']}({', '.join(way['activities'])})" for way in statement["readings"]]
        for statement in reading["statements"]
    ]
    return [
        {
            "said": said,
            "best": statement["readings"][0] | {"clause": clauses[0]},
            "others": [
                other | {"clause": clause}
                for other, clause in zip(statement["readings"][1:], clauses[1:], strict=True)
            ],
            "parts": [part | {"words": sentence[slice(*part["span"])]} for part in parts],
        }
        for statement, clauses, said, parts in zip(
            reading["statements"],
            reading.get("clauses", spelled),
            reading["said"],
            reading["parts"],
            strict=True,
        )
    ]


def _beside(reading: dict[str, Any]) -> list[dict[str, Any]]:
    """What the sentence says of evidence and of what follows a breach, as far as the rule could say it."""
    sentence = reading["sentence"]
    return [
        {
            "slot": slot,
            "in_words": reading.get("beside_in_clauses", reading["beside_in_words"])[slot],
            "said": said,
            "why": reading[slot]["why"],
            "parts": [
                part | {"words": sentence[slice(*part["span"])]}
                for part in reading["parts_beside"]
                if part["slot"] == slot
            ],
        }
        for slot, said in reading.get("said_beside", {}).items()
    ]


# The And-Or graph and the choice


def _slot(slot: str, draft: dict[str, Any]) -> dict[str, Any]:
    """A slot's options, the more probable first, each with its place in the bar, and what was refused."""
    found = draft["candidates"]
    pool = {c["id"]: c for c in found["pools"][slot]}
    options = sorted(found[slot], key=lambda option: -(option["probability"] or 0))
    at, placed = 0.0, []
    for option in options:
        width = 100 * (option["probability"] or 0)
        placed.append(
            option | {"at": at, "width": width, "provenance": pool[option["candidate"]]["provenance"]}
        )
        at += width
    chosen = next(option for option in placed if option["chosen"])
    from_pool = pool[chosen["candidate"]]
    return {
        "name": slot,
        "question": SLOT_QUESTIONS[slot],
        "options": placed,
        "weighed": any(option["probability"] is not None for option in options),
        "chosen": chosen,
        "names": [*dict.fromkeys([*from_pool["load_bearing"], *from_pool["descriptive"]])],
        "dropped": [item for item in draft["candidates"]["dropped"] if item["slot"] == slot],
    }


def _score(draft: dict[str, Any]) -> list[dict[str, Any]]:
    """Each feature's part in the score, of this rule and of the runner-up."""
    values = draft["score"]["features"]
    return [
        {
            "name": name.replace("_", " "),
            "says": FEATURES.get(name, ""),
            "value": value,
            "weight": weight,
            "part": value * weight,
            "next": draft["alternatives"][0]["features"][name] * weight if draft["alternatives"] else None,
        }
        for (name, value), weight in zip(values.items(), draft["score"]["weights"]["values"], strict=True)
    ]


def _runner(other: dict[str, Any], draft: dict[str, Any]) -> dict[str, Any]:
    weights = draft["score"]["weights"]["values"]
    parts = {
        name.replace("_", " "): (value - draft["score"]["features"][name]) * weight
        for (name, value), weight in zip(other["features"].items(), weights, strict=True)
    }
    return other | {
        "words": differing(draft["text"], other["text"]),
        "parts": {name: part for name, part in parts.items() if abs(part) >= 0.00005},
        "slots": {slot: _phrases(slot, pair, draft) for slot, pair in other["changes"].items()},
    }


def _phrases(slot: str, labels: list[str], draft: dict[str, Any]) -> list[str]:
    """What two options of a slot say; with their labels where the words do not tell them apart."""
    phrases = {option["option"]: option["phrase"] for option in draft["candidates"][slot]}
    said = [phrases[label] for label in labels]
    return said if said[0] != said[1] else [f"{phrases[label]} ({label})" for label in labels]


def differing(text: str, other: str) -> list[tuple[str, str]]:
    """The words of both texts in order: each ``same``, ``gone`` (the first's alone) or ``new`` (the
    second's).
    """
    left, right = text.split(), other.split()
    pieces: list[tuple[str, str]] = []
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(("same", " ".join(left[a:b])))
            continue
        pieces += [("gone", " ".join(left[a:b]))] if b > a else []
        pieces += [("new", " ".join(right[c:d]))] if d > c else []
    return pieces


def _diagnosis(folder: Path) -> dict[str, Any] | None:
    """Whether the draft's chains mixed; None where the draws are not in the folder."""
    path = folder / "posterior.nc"
    if not _stands(path, AGAIN):
        return None
    about = path.stat()
    return _diagnosed(path, about.st_ino, about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=8)
def _diagnosed(path: Path, *_same_file: int) -> dict[str, Any]:
    """The diagnosis of a file, kept as long as the file is the same, since a live page asks for it often."""
    from gnrs_ppl.inference.diagnostics import diagnose
    from gnrs_ppl.inference.trace import exact_marginals, load

    tree = load(path)
    return diagnose(tree, exact_marginals(tree)).as_dict()


# The audit


def _periods(over_time: dict[str, Any]) -> list[dict[str, Any]]:
    """Bars over time: verdicts stacked, the violated ones at the foot, empty periods kept."""
    counted = {p["start"]: p["counts"] for p in over_time["periods"]}
    if not counted:
        return []
    starts = _every(min(counted), max(counted), over_time["unit"])
    most = max(sum(counts.values()) for counts in counted.values())
    order = ("violated", "indeterminate", "pending", "satisfied", "excused", "not_activated")
    bars = []
    for place, start in enumerate(starts):
        counts, top, parts = counted.get(start, dict.fromkeys(VERDICTS, 0)), 100.0, []
        for verdict in order:
            height = 100 * counts[verdict] / most
            top -= height
            parts += [{"verdict": verdict, "y": top, "height": height}] if height else []
        bars.append({"start": start, "place": place, "parts": parts, "counts": counts})
    return bars


def _every(first: str, last: str, unit: str) -> list[str]:
    """The starts of all periods from the first to the last."""
    day, end, starts = date.fromisoformat(first), date.fromisoformat(last), []
    while day <= end:
        starts.append(day.isoformat())
        if unit in ("day", "week"):
            day += timedelta(days=7 if unit == "week" else 1)
        elif unit == "month":
            day = (day + timedelta(days=32)).replace(day=1)
        else:
            day = day.replace(year=day.year + 1)
    return starts


def _case(found: dict[str, Any]) -> dict[str, Any]:
    """A violation with its rows, the bound among them, and where each stands on a line."""
    due = found["due"]
    rows = [
        row
        | {
            "mark": "opens" if row["event"] == found["instance"] else "witness" if row["witness"] else "",
            "seconds": _seconds(row["at"]),
        }
        for row in found["rows"]
    ]
    bound = _seconds(due, end=True)
    moments = [row["seconds"] for row in rows if row["seconds"] is not None]
    moments += [bound] if bound is not None else []
    low, high = min(moments, default=0.0), max(moments, default=0.0)

    def place(seconds: float | None) -> float | None:
        if seconds is None:
            return None
        return 12 + (WIDE - 24) * ((seconds - low) / (high - low) if high > low else 0.5)

    line = [row | {"x": place(row["seconds"])} for row in rows]
    lines: list[dict[str, Any]] = [*line]
    if bound is not None:
        before = sum(1 for row in line if row["seconds"] is not None and row["seconds"] <= bound)
        lines.insert(before, {"mark": "due", "at": due})
    late = [row["x"] for row in line if row["mark"] == "witness" and row["x"] is not None]
    return found | {
        "line": line,
        "lines": lines,
        "opened_x": place(_seconds(found["opened"])),
        "due_x": place(bound),
        "last_x": max(late, default=None),
        "margin": _margin(found["slack_seconds"]),
        "left_out": found["rows_of_case"] - len(rows),
    }


def _seconds(at: str | None, end: bool = False) -> float | None:
    """Where an instant lies on the line of time; a date lies at its first moment, as a bound at its last."""
    if at is None:
        return None
    instant = datetime.fromisoformat(at)
    whole_day = timedelta(days=1 if end and "T" not in at else 0)
    return (instant.replace(tzinfo=instant.tzinfo or UTC) + whole_day).timestamp()


def _margin(slack: float | None) -> str:
    """How late or early, in words, to the two largest units."""
    if slack is None:
        return ""
    days, seconds = divmod(round(abs(slack)), 86400)
    if days:
        seconds -= seconds % 3600
    elif seconds >= 3600:
        seconds -= seconds % 60
    length = duration(Duration(days=days, seconds=seconds)) if days or seconds else "less than a second"
    return f"{length} {'late' if slack < 0 else 'to spare'}"
