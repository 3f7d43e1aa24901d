"""Options and arguments that several verbs take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class CacheMode(StrEnum):
    """What is done with answers of language models on disk."""

    rw = "rw"
    read_only = "read-only"
    refresh = "refresh"
    off = "off"


class Split(StrEnum):
    """Splits of GNRS-Bench."""

    dev = "dev"
    test = "test"
    ood = "ood"


class SqlDialect(StrEnum):
    """Dialects of SQL in which a check is printed."""

    duckdb = "duckdb"
    postgres = "postgres"
    spark = "spark"
    snowflake = "snowflake"
    bigquery = "bigquery"
    trino = "trino"


class VerdictForm(StrEnum):
    """Forms in which the verdicts of an audit are handed over."""

    csv = "csv"
    json = "json"
    jsonl = "jsonl"
    parquet = "parquet"
    sarif = "sarif"
    junit = "junit"
    oscal = "oscal"


def _place(text: str) -> Path:
    """A path to write to; an empty one would be the current folder."""
    if not text:
        raise typer.BadParameter("is empty; name a place to write to")
    return Path(text)


def written(says: str) -> Any:
    """An option that names a place to write to."""
    return typer.Option(help=says, parser=_place, metavar="<path>", show_default=False)


ContextPath = Annotated[
    Path,
    typer.Argument(
        metavar="CONTEXT",
        help="Benchmark goal (GNRS-001), or context file (YAML or JSON): goal, schema, records, pools.",
        show_default=False,
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(help="Event log (CSV, CSV.gz or Parquet) in place of the context's.", show_default=False),
]
Seed = Annotated[int, typer.Option(help="Random seed.")]
WeightsOption = Annotated[
    str, typer.Option(help="Weights of the score: fitted, uniform, default, posterior, or a file.")
]
MaxCost = Annotated[
    float | None, typer.Option(help="With --llm: US dollars never to exceed.", show_default=False)
]
Price = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODEL=IN,OUT",
        help="With --llm: price in US dollars for a million tokens.",
        show_default=False,
    ),
]
CacheOption = Annotated[
    CacheMode | None,
    typer.Option(help="With --llm: what to do with stored answers; rw unless given.", show_default=False),
]
ModelRoles = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="ROLE=MODEL[@BASE_URL]",
        help="With --llm: who plays a role, and where; its server's key is GNRS_API_KEY_<ROLE>.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Fix = Annotated[
    list[str] | None,
    typer.Option(
        "--fix",
        metavar="SLOT.FIELD=VALUE",
        help="What the rule must say, such as norm.deadline=P5D; may be repeated.",
        show_default=False,
    ),
]
Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="KIND:NAME",
        help="A name the rule must not use, such as channel:erp_log or role:clerk; may be repeated.",
        show_default=False,
    ),
]
