"""The process behind ``/goal``: it holds the words of the language and a context in memory, and reads
sentences that come line by line as JSON. It ends with its standard input.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from gnrs_ppl.context.limits import SENTENCE
from gnrs_ppl.context.load import Context, load_context
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Schema
from gnrs_ppl.errors import GnrsError, InputError
from gnrs_ppl.goals.questions import plain
from gnrs_ppl.goals.write import goal_of, new_goal, standing_goal
from gnrs_ppl.reading import Readings, read
from gnrs_ppl.reading.plain import why_nothing
from gnrs_ppl.realize.english import duration, series
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.phrases import Form, Worded
from gnrs_ppl.report.data import reading_data
from gnrs_ppl.report.reading import guessed
from gnrs_ppl.report.reading_clause import worded
from gnrs_ppl.report.rule_page import marked_words, statements_of

SMALL: Final = Schema.model_validate({"actions": ["Close"]})
FIELDS: Final[dict[str, tuple[str, Worded | None]]] = {
    "id": ("its name", None),
    "intent": ("the sentence", None),
    "required": ("has to be done", "action"),
    "forbidden": ("must not be done", "action"),
    "permitted": ("may be done", "action"),
    "triggers": ("what calls it up", "action"),
    "timed": ("what the time is for", "action"),
    "roles": ("who is bound", "role"),
    "locations": ("where", "location"),
    "objects": ("on what", "object"),
    "values": ("what it is for", None),
    "within": ("within", None),
    "force": ("how strongly", None),
}
"""What a goal's fields are called, and what they name."""


class Open(Exception):
    """A question that no answer was given to yet."""

    def __init__(self, question: str, choices: Sequence[str], own: str) -> None:
        self.question = {"question": question, "choices": list(choices), "own": own}


class Anew(Exception):
    """The answer is another sentence, which is written where the first one was."""


class Given:
    """Somebody whose answers were given before, in the order of the questions."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = iter(answers)

    def choose(self, question: str, choices: Sequence[str], own: str = "") -> int | str:
        """The next answer; one that is none of the choices is as if it had not been given."""
        answer = next(self._answers, "")
        if answer.isascii() and answer.isdecimal() and int(answer) < len(choices):
            return int(answer)
        if own and answer.startswith("own:"):
            return answer.removeprefix("own:")
        raise Open(question, choices, own)

    def line(self, question: str) -> str:
        """A sentence is not asked for: there is a place for it on the page."""
        raise Anew(question)


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What is said to a request: ``open`` a context, ``read`` a sentence, ``ask`` what it leaves open,
    ``save`` its goal.
    """
    path = Path(request["context"])
    if request["do"] == "open":
        standing, own = standing_goal(path)
        schema = _context(path).schema
        return {
            "standing": plain(standing) if standing else {},
            "own": own,
            "acts": [a.phrase or a.name for a in schema.actions],
        }
    sentence, given = request["sentence"], Given(request.get("answers", ()))
    if not sentence.strip() or len(sentence) > SENTENCE:
        raise InputError(
            f"is empty or longer than {SENTENCE:,} characters", "write a sentence", source="sentence"
        )
    told: dict[str, Any] = {"goal": None, "open": None, "anew": False}
    known = _context(path)
    readings = read(sentence, known.schema, known.records.channels, known.records.attributes)
    try:
        if request["do"] == "save":
            told["goal"] = plain(new_goal(path, sentence, {}, ask=given, replace_goal=True).goal)
        elif request["do"] == "ask":
            found = goal_of(_context(path), sentence, {}, given)
            assert not isinstance(found, str)  # a sentence comes of a line, which is never asked for
            told["goal"], readings = plain(found[0]), found[1]
    except Open as left:
        told["open"] = left.question
    except Anew:
        told["anew"] = True
    lexicon = Lexicon.of(known.schema, known.records)
    return told | {
        "reading": _shown(readings, lexicon),
        "fields": _fields(told["goal"], lexicon) if told["goal"] else [],
    }


def _fields(goal: dict[str, Any], lexicon: Lexicon) -> list[tuple[str, str]]:
    """What a goal's fields say, in words: the field and its value."""
    found = []
    for field, value in goal.items():
        said, kind = FIELDS.get(field, (field, None))
        if field == "within":
            value = duration(Duration.parse(value))
        elif kind:
            form: Form = "noun" if kind == "action" else "one"
            value = series([lexicon.form(kind, name, form) for name in value], "and")
        found.append((said, ", ".join(value) if isinstance(value, list) else value))
    return found


def _shown(readings: Readings, lexicon: Lexicon) -> dict[str, Any]:
    """A reading as pages show it."""
    data = reading_data(readings, 0, [True] * len(readings.statements), {}, lexicon)
    plain = worded(readings, lexicon)
    return {
        "marked": marked_words(data),
        "statements": statements_of(data),
        "beside": list(data["beside_in_clauses"].values()),
        "guessed": guessed(plain),
        "unread": [item["words"] for item in data["unread"]],
        "nothing": why_nothing(plain),
    }


def _context(path: Path) -> Context:
    about = path.stat()
    return _loaded(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=4)
def _loaded(path: Path, _changed: int, _size: int) -> Context:
    return load_context(path, goalless=True)


def main() -> None:
    """Answer until nobody asks any more."""
    out = sys.stdout
    sys.stdout = sys.stderr  # what a library prints is no answer
    read("The case must be closed.", SMALL)  # loads words and weights, for which nobody waits then
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        try:
            told = answer(json.loads(line))
        except GnrsError as error:
            told = {"error": str(error), "status": 400 if error.exit_code == 2 else 422}
        except Exception as error:
            from gnrs_ppl.crash import complaint

            told = {"error": complaint(error), "status": 500}
        print(json.dumps(told), file=out, flush=True)


if __name__ == "__main__":
    main()
