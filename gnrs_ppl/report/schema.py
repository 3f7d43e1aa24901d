"""The fields of context files, rule files, logs and examples, out of the types that read them: tables, JSON
Schema, a page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from gnrs_ppl.context.load import _ContextFile
from gnrs_ppl.context.types import EventRow, Frozen
from gnrs_ppl.rule.files import RuleFile
from gnrs_ppl.rule.pools import Candidate, Pools
from gnrs_ppl.rulebook.examples import Examples
from gnrs_ppl.terminal import console, row, shown, table

Kind = Literal["context", "rule", "log", "cases"]


class _Context(_ContextFile):
    """A context file: what a rule is for, the institution it is for, and the records it is checked on."""

    pools: Pools | None = None  # type: ignore[assignment]  # the loader keeps them unread
    """Candidates for each slot of the rule, listed by hand; the context's own where left out."""


class _Rule(RuleFile):
    """A rule file, by hand or from gnrs draft --out."""


TYPES: dict[Kind, type[Frozen]] = {"context": _Context, "rule": _Rule, "log": EventRow, "cases": Examples}
TITLES: dict[Kind, str] = {
    "context": "Context file",
    "rule": "Rule file",
    "log": "Event log",
    "cases": "Examples",
}


class Described(NamedTuple):
    """A field: its name, what it holds, what it is where left out, and what it means."""

    name: str
    holds: str
    default: str
    meaning: str


class Part(NamedTuple):
    """The fields of one mapping, by where it stands in the file."""

    place: str
    says: str
    fields: tuple[Described, ...]


def json_schema(kind: Kind) -> dict[str, Any]:
    """JSON Schema of a file, as editors use it."""
    found = TYPES[kind].model_json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | found | {"title": TITLES[kind]}


def parts(kind: Kind) -> list[Part]:
    """Every mapping of a file with its fields, from the outside in; what stands in several places is told at
    the first.
    """
    schema = json_schema(kind)
    definitions: dict[str, Any] = schema.get("$defs", {})
    found: list[Part] = []
    told = set[str]()
    waiting: list[tuple[str, dict[str, Any]]] = [("", schema)]
    while waiting:
        place, model = waiting.pop(0)
        needed = model.get("required", ())
        fields = []
        inner = []
        for name, field in model.get("properties", {}).items():
            default = "needed" if name in needed else _default(field.get("default"))
            fields.append(
                Described(
                    name, _holds(field, definitions), default, " ".join(field.get("description", "").split())
                )
            )
            for reference, many in _models(field):
                if reference not in told and definitions[reference].get("properties"):
                    told.add(reference)
                    inner.append(
                        (f"{place}.{name}".lstrip(".") + ("[]" if many else ""), definitions[reference])
                    )
        found.append(
            Part(place, _first_line(model.get("description") or Candidate.__doc__ or ""), tuple(fields))
        )
        waiting = [*inner, *waiting]
    return found


def _first_line(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


def _models(field: dict[str, Any], many: bool = False) -> Iterator[tuple[str, bool]]:
    """Names of the mappings a field holds, and whether it lists them."""
    if "$ref" in field:
        yield field["$ref"].rpartition("/")[2], many
    for option in field.get("anyOf", ()):
        yield from _models(option, many)
    if isinstance(field.get("items"), dict):
        yield from _models(field["items"], True)


def _default(value: Any) -> str:
    if value is None or value in ([], {}, ""):
        return ""
    return str(value).lower() if isinstance(value, bool) else "" if isinstance(value, dict) else str(value)


def _holds(field: dict[str, Any], definitions: dict[str, Any], many: bool = False) -> str:
    """What a field holds, in words."""
    s = "s" if many else ""
    if "anyOf" in field:
        options = [option for option in field["anyOf"] if option.get("type") != "null"]
        return " or ".join(dict.fromkeys(_holds(option, definitions, many) for option in options))
    if "$ref" in field:
        named = definitions[field["$ref"].rpartition("/")[2]]
        return f"mapping{s}" if named.get("properties") else _holds(named, definitions, many)
    if "enum" in field:
        return " | ".join(map(str, field["enum"]))
    if "const" in field:
        return str(field["const"])
    kind, form = field.get("type"), field.get("format")
    if kind == "array":
        return f"list of {_holds(field.get('items', {}), definitions, True)}"
    if kind == "string":
        plain = {
            "duration": f"duration{s} (P3D, PT15M)",
            "working-time": "working time (5WD, 8WH)",
            "date-time": f"instant{s}",
            "date": f"day{s}",
        }
        if "existence" in field.get("pattern", ""):
            return "absence2, existence3, exactly2 and so on"
        return plain.get(form or "", f"offset{s} (+01:00)" if "pattern" in field else f"text{s}")
    return {
        "boolean": "true or false",
        "integer": f"whole number{s}",
        "number": f"number{s}",
        "object": f"mapping{s} of text",
    }.get(kind or "", "anything")


def print_schema(kind: Kind) -> None:
    """A table for each mapping of a file."""
    out = console()
    for part in parts(kind):
        out.print(shown(part.place or TITLES[kind], style="bold"))
        out.print(shown(part.says))
        drawn = table("", "field", "holds", "where left out", "meaning")
        for field in part.fields:
            row(drawn, *field)
        out.print(drawn)


def page() -> str:
    """The page docs/context-fields.md."""
    lines = [
        "# Fields of contexts, rules, logs and examples",
        "",
        "Written from the types by `python tools/context_fields.py`; `gnrs schema [context|rule|log|cases]` "
        "prints the same.",
        "",
        "With `gnrs schema context --json > context.schema.json`, and `# yaml-language-server: "
        "$schema=context.schema.json` as",
        "the first line of a context, editors complete and check its fields.",
        "",
    ]
    for kind in TYPES:
        lines += [f"## {TITLES[kind]}", ""]
        for part in parts(kind):
            lines += [f"### {kind}: `{part.place}`" if part.place else "", "", part.says, ""][
                0 if part.place else 2 :
            ]
            lines += ["| field | holds | where left out | meaning |", "|---|---|---|---|"]
            lines += [
                "| " + " | ".join([f"`{f.name}`", *(_cell(text) for text in f[1:])]) + " |"
                for f in part.fields
            ]
            lines.append("")
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
