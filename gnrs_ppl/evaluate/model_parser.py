"""Rules that our renderer did not write, read back as structures: by the deterministic parser where it can,
else by a language model.

What a model says is only data. Rules for it:

- A name stands for the listed name it spells, or whose words it is (``check_in_log`` for a check-in log).
  Nothing is matched by nearness: any other name stays as it is, is *missing*, and counts in ρ and HARD-OK.
- An act that opens an instance and comes without a log gets the only durable log that can record it; where
  there are several, or none, the slot is empty.
- A step that nobody takes stays out; a number k stays out where the operator is not "at least".
- A slot that still cannot be read is empty, with the reason, and an empty slot fails HARD-OK. The others
  are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gnrs_ppl.context.files import validated
from gnrs_ppl.context.load import Context
from gnrs_ppl.context.types import Kind
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate.hard_ok import support_of, with_gaps
from gnrs_ppl.llm.answers import LONGEST, SOURCE, ParsedStructure
from gnrs_ppl.llm.client import CONCURRENCY, Answer, Model, ask
from gnrs_ppl.llm.material import request
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.realize.phrases import Worded
from gnrs_ppl.realize.scanner import ParseError
from gnrs_ppl.rule.canonical import Payload, SlotContent, canonical_slot, payloads
from gnrs_ppl.rule.types import SLOTS, Scope, Structure

PROMPT = "reverse_parser.v1.txt"
NOT_STATED = "the text states nothing of it"

Data = dict[str, Any]


class Parsed(NamedTuple):
    """What a text says, slot by slot.

    Attributes
    ----------
    structure : Structure or None
        The canonical structure; None where trigger, norm, evidence or procedure is empty. A scope that is not
        stated is blank.
    slots : mapping of slot name to content
        The filled slots, for :func:`~gnrs_ppl.evaluate.hard_ok.hard_ok_partial`.
    empty : mapping of slot name to reason
    missing : tuple of Payload
        Names that neither schema nor records have.
    how : {"deterministic", "model"}
    answer : Answer or None
        What the model said; None where it was not asked.
    notes : tuple of str
        What was filled in or left out.
    """

    structure: Structure | None
    slots: dict[str, SlotContent]
    empty: dict[str, str]
    missing: tuple[Payload, ...]
    how: Literal["deterministic", "model"]
    answer: Answer[ParsedStructure] | None = None
    notes: tuple[str, ...] = ()


def parse_texts(
    texts: Sequence[tuple[str, Context]], model: Model, concurrency: int = CONCURRENCY
) -> list[Parsed]:
    """Read rules written for contexts; the model is asked only for those that the deterministic parser does
    not read.

    Parameters
    ----------
    texts : sequence of (text, context)
    model : Model
        Its role is *parser*.
    concurrency : int
        Most requests in flight.

    Returns
    -------
    list of Parsed
        In the order of the texts. An answer that failed leaves every slot empty and says why.

    Raises
    ------
    InputError
        Bad configuration of the model, or a context whose names cannot be put into words.
    """
    readers = [_Reader(context) for _, context in texts]
    parsed = [reader.without_a_model(text) for reader, (text, _) in zip(readers, texts, strict=True)]
    open_ones = [number for number, one in enumerate(parsed) if one is None]
    requests = [
        request(PROMPT, "parser", texts[number][1], ParsedStructure, {"clause": texts[number][0]})
        for number in open_ones
    ]
    for number, answer in zip(open_ones, ask(model, requests, concurrency), strict=True):
        parsed[number] = readers[number].from_answer(answer)
    return [one for one in parsed if one is not None]


class _Reader:
    """Texts of one context."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.records = context.resolved
        self.lexicon = Lexicon.of_context(context)
        self.names = _names_by_words(self.lexicon)

    def without_a_model(self, text: str) -> Parsed | None:
        """What the deterministic parser reads; None where a model has to."""
        if not text.strip() or len(text) > LONGEST:
            reason = (
                f"the text is longer than {LONGEST:,} characters" if text.strip() else "the text is blank"
            )
            return self._parsed({}, dict.fromkeys(SLOTS, reason), "deterministic")
        try:
            structure = parse(text, self.lexicon)
        except ParseError:
            return None
        return self._parsed({slot: getattr(structure, slot) for slot in SLOTS}, {}, "deterministic")

    def from_answer(self, answer: Answer[ParsedStructure]) -> Parsed:
        """What the model read."""
        if answer.parsed is None:
            problem = (
                f"{answer.error.kind}: {answer.error.message}"
                if answer.error
                else f"refused: {answer.refusal}"
            )
            return self._parsed({}, dict.fromkeys(SLOTS, f"not read ({problem})"), "model", answer)
        slots: dict[str, SlotContent] = {}
        empty: dict[str, str] = {}
        notes: list[str] = []
        for slot in SLOTS:
            stated = getattr(answer.parsed, slot)
            if stated is None:
                empty[slot] = NOT_STATED
                continue
            try:
                data = getattr(self, f"_{slot}")(stated.model_dump(), notes)
                if slot == "procedure" and not data["steps"]:
                    raise InputError("has no steps", "name one", source=SOURCE, field="procedure.steps")
                slots[slot] = canonical_slot(validated(stated.kind, data, source=SOURCE, field=slot))
            except InputError as error:
                empty[slot] = str(error)
        return self._parsed(slots, empty, "model", answer, notes)

    def _parsed(
        self,
        slots: dict[str, SlotContent],
        empty: dict[str, str],
        how: Literal["deterministic", "model"],
        answer: Answer[ParsedStructure] | None = None,
        notes: Iterable[str] = (),
    ) -> Parsed:
        if slots.get("scope") == Scope():
            del slots["scope"]
            empty["scope"] = NOT_STATED
        whole = set(SLOTS) <= {*slots, "scope"}
        structure = Structure.model_validate(slots) if whole else None
        return Parsed(structure, slots, empty, self._missing(slots), how, answer, tuple(notes))

    def _missing(self, slots: Mapping[str, SlotContent]) -> tuple[Payload, ...]:
        rule = with_gaps(slots)
        return tuple(
            payload
            for payload in payloads(rule)
            if (payload.kind, payload.name) not in self.lexicon.words
            and support_of(payload, rule, self.context)[0] == "missing"
        )

    # One slot as the model states it, as data for the slot's type

    def _scope(self, data: Data, notes: list[str]) -> Data:
        kinds: dict[str, Kind] = {
            "roles": "role",
            "locations": "location",
            "objects": "object",
            "concerns": "object",
        }
        return {field: self._listed(kind, data[field]) for field, kind in kinds.items()}

    def _trigger(self, data: Data, notes: list[str]) -> Data:
        return data | self._opening(data, "trigger", notes)

    def _norm(self, data: Data, notes: list[str]) -> Data:
        bearer = (
            data["bearer"]
            if data["bearer"] == "trigger"
            else {"role": self._name("role", data["bearer"]["role"])}
        )
        constraints = [
            constraint
            | {"target": self._act(constraint["target"]), "unless": self._act(constraint["unless"])}
            | {"after": constraint["after"] and self._opening(constraint["after"], "a second act", notes)}
            for constraint in data["constraints"]
        ]
        return data | {"bearer": bearer, "constraints": constraints}

    def _evidence(self, data: Data, notes: list[str]) -> Data:
        k = data["k"] if data["operator"] == "at_least" else None
        return data | {"channels": self._listed("channel", data["channels"]), "k": k}

    def _procedure(self, data: Data, notes: list[str]) -> Data:
        notes += [
            f"procedure: nobody takes step {step['name']!r}, so it stays out"
            for step in data["steps"]
            if not step["role"]
        ]
        kinds: dict[str, Kind] = {"name": "step", "role": "role", "inspects": "channel", "activity": "action"}
        steps = [
            step | {field: self._name(kind, step[field]) for field, kind in kinds.items()}
            for step in data["steps"]
            if step["role"]
        ]
        return data | {"steps": steps}

    def _opening(self, data: Data, place: str, notes: list[str]) -> Data:
        """An act and the log it is read from; the log is filled in where only one can record the act."""
        act, channel = self._act(data["act"]), self._name("channel", data["channel"])
        if act is not None and channel is None:
            able = [
                c.name for c in self.records.channels if c.durable and act["activity"] in (c.activities or ())
            ]
            if len(able) != 1:
                problem = (
                    f"{place} {act['activity']!r} is stated without a log, and {len(able)} durable "
                    "logs can record it"
                )
                raise InputError(problem, "name the log in the rule", source=SOURCE)
            channel = able[0]
            notes.append(f"{place}: no log is stated for {act['activity']!r}; only {channel!r} can record it")
        return {"act": act, "channel": channel}

    def _act(self, data: Data | None) -> Data | None:
        kinds: dict[str, Kind] = {
            "activity": "action",
            "location": "location",
            "object": "object",
            "role": "role",
        }
        return data and {field: self._name(kind, data[field]) for field, kind in kinds.items()}

    def _listed(self, kind: Kind, names: Sequence[str]) -> list[str | None]:
        return list(dict.fromkeys(self._name(kind, name) for name in names))

    def _name(self, kind: Kind, name: str | None) -> str | None:
        """The listed name that was said, or what was said where it is none; nothing said is None."""
        if not name or (kind, name) in self.lexicon.words:
            return name or None
        return self.names.get((kind, _letters(name)), name)


def _names_by_words(lexicon: Lexicon) -> dict[tuple[Worded, str], str]:
    """(kind, letters of a name or of its words) -> name; what two names share leads to neither."""
    names_by_word: dict[tuple[Worded, str], set[str]] = {}
    for (kind, name), words in lexicon.words.items():
        for word in (name, *words):
            if _letters(word):
                names_by_word.setdefault((kind, _letters(word)), set()).add(name)
    return {key: next(iter(names)) for key, names in names_by_word.items() if len(names) == 1}


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
