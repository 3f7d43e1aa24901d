"""Rules that are written already, side by side: conflicts, what is said twice, and what no rule or record
covers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, count
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field

from gnrs_ppl import progress
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.charter.institution import one_layer, one_schema, words_of
from gnrs_ppl.charter.pairs import PairRelation
from gnrs_ppl.charter.relations import Relations, conflicting
from gnrs_ppl.context.files import read_data, validated
from gnrs_ppl.context.log import EventLog, read_log, resolved
from gnrs_ppl.context.types import Frozen, RecordLayer, Schema, _listed
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.rule.files import RuleFile, read_rule
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.rulebook.imagined import acts_of

CHARTER_FILE = "charter.json"
MOST_RULES = 1_000
"""Rules that one file may hold."""


class CharterRule(Frozen):
    """A rule in a charter's file."""

    model_config = ConfigDict(extra="ignore")

    name: str
    """What the rule is called."""
    rule: Structure
    """The rule in its five slots."""


class CharterFile(Frozen):
    """What is read of ``charter.json``: rules, and the words and records they share."""

    model_config = ConfigDict(populate_by_name=True, extra="ignore")

    rules: Annotated[
        tuple[CharterRule, ...], BeforeValidator(_listed), Field(min_length=1, max_length=MOST_RULES)
    ]
    """The rules, in the order of their clauses."""
    institution: Schema = Field(default=Schema(), alias="schema")
    """The names the rules use, with their words."""
    records: RecordLayer | None = None
    """The record layer they were drafted with."""


@dataclass(frozen=True)
class Rules:
    """Rules with the words and records they are about.

    Attributes
    ----------
    names : tuple of str
    structures : tuple of Structure
    schema : Schema
    records : RecordLayer
        With what the log shows of each channel, where there is one.
    log : EventLog or None
    """

    names: tuple[str, ...]
    structures: tuple[Structure, ...]
    schema: Schema
    records: RecordLayer
    log: EventLog | None

    @cached_property
    def lexicon(self) -> Lexicon:
        """Words for every name of the rules."""
        return words_of(self.structures, self.schema, self.records)


class Uncheckable(NamedTuple):
    """A rule that these records cannot show kept or broken, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class CheckedRules:
    """How written rules stand together.

    Attributes
    ----------
    rules : Rules
    pairs : {(rule, rule): PairRelation}
    uncheckable : tuple of Uncheckable
    unnamed : tuple of str
        Acts of the institution that no rule names.
    """

    rules: Rules
    pairs: Mapping[tuple[int, int], PairRelation]
    uncheckable: tuple[Uncheckable, ...]
    unnamed: tuple[str, ...]

    @property
    def conflicts(self) -> list[tuple[int, int]]:
        """The rules that no case can keep both of."""
        return conflicting(self.pairs)


def read_rules(paths: Sequence[Path], context: Path | None = None, log: Path | None = None) -> Rules:
    """The rules of rule files, of ``charter.json`` files, and of folders of either.

    Words and record layer are those of the context where one is named, else those of all files together;
    ``log`` goes before the context's log.

    Raises
    ------
    InputError
        A file is missing or malformed, there is no rule, or two files state different records.
    """
    files = [file for path in paths for file in _files(path)]
    names, structures = list[str](), list[Structure]()
    schemas, layers = list[Schema](), dict[str, RecordLayer]()
    for file in files:
        read = _read(file)
        if isinstance(read, CharterFile):
            names += [rule.name for rule in read.rules]
            structures += [rule.rule for rule in read.rules]
        else:
            names.append(read.title or (file.parent.name if file.name == "rule.json" else file.stem))
            structures.append(read.rule)
        schemas.append(read.institution)
        layers |= {str(file): read.records} if read.records else {}
    if not structures:
        raise InputError("holds no rule", "name rule files, or a folder of them", source=str(paths[0]))
    loaded = load_context(context, log, goalless=True) if context is not None else None
    if loaded is not None:
        events = None if loaded.records.prospective or loaded.records.log is None else loaded.log
        return Rules(
            _apart(names),
            tuple(structures),
            loaded.schema,
            loaded.resolved if events else loaded.records,
            events,
        )
    records = one_layer([*layers.values()], [*layers]) if layers else RecordLayer()
    events = read_log(log, records) if log is not None else None
    filled = resolved(records, events) if events else records
    return Rules(_apart(names), tuple(structures), one_schema(schemas), filled, events)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    if (path / CHARTER_FILE).is_file():
        return [path / CHARTER_FILE]
    return sorted(
        file
        for file in (
            *path.glob("*.yaml"),
            *path.glob("*.yml"),
            *path.glob("*.json"),
            *path.glob("*/rule.json"),
        )
        if not file.name.startswith("gnrs-") and file.name not in ("draft.json", "audit.json")
    )


def _read(file: Path) -> CharterFile | RuleFile:
    if file.suffix == ".json":
        data = read_data(file)
        if "rules" in data:
            return validated(CharterFile, data, source=str(file))
    return read_rule(file)


def _apart(names: Sequence[str]) -> tuple[str, ...]:
    """The names, those that stand twice with a number that makes them names of their own."""
    taken = {name for name in names if names.count(name) == 1}
    found = []
    for name in names:
        numbered = (f"{name} ({number})" for number in count(1))
        own = name if names.count(name) == 1 else next(one for one in numbered if one not in taken)
        taken.add(own)
        found.append(own)
    return tuple(found)


def check_rules(rules: Rules) -> CheckedRules:
    """How every two rules relate, which rules the records cannot show, and which acts no rule names."""
    relations, pairs = Relations(rules.records), dict[tuple[int, int], PairRelation]()
    for left, right in combinations(range(len(rules.structures)), 2):
        progress.stage(f"comparing {rules.names[left]} and {rules.names[right]}")
        pairs[left, right] = relations.between(rules.structures[left], rules.structures[right])
    log = rules.log if rules.log is not None else EventLog.from_events((), rules.records)
    uncheckable = []
    for name, structure in zip(rules.names, rules.structures, strict=True):
        try:
            check(structure, rules.records, log)
        except Refused as error:
            uncheckable.append(Uncheckable(name, str(error)))
    named = {name for s in rules.structures for act in acts_of(s) for name in act.activities}
    unnamed = tuple(action.name for action in rules.schema.actions if action.name not in named)
    return CheckedRules(rules, pairs, tuple(uncheckable), unnamed)
