"""A rule as a file: the structure, and where it travels alone, the words and the record layer it was
compiled for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from gnrs_ppl.context.files import read_data, validated
from gnrs_ppl.context.types import Frozen, RecordLayer, Schema
from gnrs_ppl.rule.types import SLOTS, Structure


class RuleFile(Frozen):
    """Shape of a rule file; the five slots may also stand in it themselves, without ``rule``.

    ``records`` holds the capability the rule was compiled with, so that a pair first seen in a later log is a
    finding and not a change of n (SEMANTICS line 2).
    """

    model_config = ConfigDict(populate_by_name=True)

    title: str = ""
    """A heading for the rule."""
    rule: Structure
    """The rule in its five slots."""
    institution: Schema = Field(default=Schema(), alias="schema")
    """The names the rule uses, with their words."""
    records: RecordLayer | None = None
    """The record layer the rule was drafted with; that of the context or of the log where left out."""


def read_rule(path: Path) -> RuleFile:
    """The rule in a YAML or JSON file.

    Parameters
    ----------
    path : Path

    Raises
    ------
    InputError
        With file, field, problem and remedy.
    """
    data = read_data(path)
    if "rule" not in data and "norm" in data:  # the five slots themselves
        data = {"rule": {key: data.pop(key) for key in SLOTS if key in data}, **data}
    return validated(RuleFile, data, source=str(path))


def rule_json(structure: Structure, schema: Schema, records: RecordLayer, title: str = "") -> str:
    """A rule file's JSON text that :func:`read_rule` reads back; ``records.log`` stays out, a rule outlives
    its log.

    Parameters
    ----------
    structure : Structure
        The rule.
    schema : Schema
        Words for the names it states.
    records : RecordLayer
        What it was compiled with.
    title : str, optional
    """
    parts: dict[str, Any] = {
        "rule": structure,
        "schema": schema,
        "records": records.model_copy(update={"log": None, "set_aside": None}),
    }
    data = {k: v.model_dump(mode="json", exclude_defaults=True) for k, v in parts.items()}
    return json.dumps(({"title": title} if title else {}) | data, indent=2)
