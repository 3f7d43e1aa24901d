"""A check in the SQL of another database: DuckDB's text, with what the other lacks said in its own words.

sqlglot knows types, names and most functions. What it leaves as it stands is put here, one construct at a time:
as-of joins, the value of the row that comes first, lengths of time, lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Literal, get_args

import sqlglot
from sqlglot import exp

Dialect = Literal["duckdb", "postgres", "spark", "snowflake", "bigquery", "trino"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
UNTESTED: tuple[Dialect, ...] = ("snowflake", "bigquery", "trino")
"""Dialects in which a check is printed and no engine has run it, but for some templates on Spark."""

_UNITS = ("microseconds", "seconds", "minutes", "days", "months")


def translated(
    sql: str, parameters: Mapping[str, object], dialect: Dialect, *, comments: bool = False
) -> str:
    """A SELECT of DuckDB in another dialect, its parameters named ``:name`` (BigQuery: ``@name``).

    Parameters
    ----------
    sql : str
        In DuckDB's dialect, its parameters named ``$name``.
    parameters : mapping
        What they are bound to; only the types are looked at.
    dialect : str
    comments : bool, optional
        Whether to keep what is said of each part.
    """
    return (
        sql
        if dialect == "duckdb"
        else written(in_dialect(sql, parameters, dialect), dialect, comments=comments)
    )


def in_dialect(sql: str, parameters: Mapping[str, object], dialect: Dialect) -> exp.Query:
    """A SELECT of DuckDB as the tree of one in another dialect."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    if not isinstance(tree, exp.Query):
        raise ValueError("only a SELECT is asked")
    for kind, rule in _RULES.get(dialect, _ELSEWHERE).items():
        for node in reversed(list(tree.find_all(kind))):  # the inner ones first
            rule(node)
    _type_parameters(tree, parameters, dialect)
    if dialect != "postgres":
        _number_in_order(tree)
    return tree


def written(tree: exp.Expr, dialect: Dialect, *, comments: bool = False) -> str:
    """The text of a tree in its dialect."""
    return tree.sql(
        dialect,
        pretty=comments,
        identify=True,
        comments=comments,
        unsupported_level=sqlglot.ErrorLevel.IGNORE,
    )


def _put(node: exp.Expr, template: str, dialect: Dialect = "postgres", **parts: exp.Expr) -> None:
    """Put a text in the place of a node, with some nodes in the place of its ``:names``."""
    made = sqlglot.parse_one(template, dialect=dialect)
    for place in list(made.find_all(exp.Placeholder)):
        place.replace(parts[place.name].copy())
    node.replace(made)


# Joins


def _as_of(join: exp.Join) -> None:
    """An as-of join as one on the row before and the row after: each row knows the next of its group."""
    if join.args.get("method") != "ASOF":
        return
    right = join.this
    alias = right.alias_or_name
    keys: list[exp.Expr] = []
    bounds: list[exp.Expr] = []
    for condition in join.args["on"].flatten() if isinstance(join.args["on"], exp.And) else [join.args["on"]]:
        (keys if isinstance(condition, exp.EQ | exp.NullSafeEQ) else bounds).append(condition)
    (bound,) = bounds
    before = isinstance(bound, exp.LT | exp.LTE)
    column, probe = bound.this, bound.expression
    if not (isinstance(column, exp.Column) and column.table == alias):
        column, probe, before = probe, column, not before
    strict = isinstance(bound, exp.LT | exp.GT)
    select = join.parent_select
    read = {c.name for c in select.find_all(exp.Column) if c.table == alias} if select else set()
    if strict and before and read == {"series", column.name, "places"}:
        _rows_before(join, column.name, probe)
        return
    other = exp.column("beside_it", alias)
    if before:
        beyond = other >= probe.copy() if strict else other > probe.copy()
    else:
        beyond = other <= probe.copy() if strict else other < probe.copy()
    grouped = [
        side
        for key in keys
        for side in (key.this, key.expression)
        if isinstance(side, exp.Column) and side.table == alias
    ]
    window = exp.Window(
        this=exp.Lead(this=exp.column(column.name)) if before else exp.Lag(this=exp.column(column.name)),
        partition_by=[exp.column(key.name) for key in grouped],
        order=exp.Order(expressions=[exp.Ordered(this=exp.column(column.name))]),
    )
    table = right.copy()
    table.set("alias", exp.TableAlias(this=exp.to_identifier("sorted_rows", quoted=True)))
    known = exp.select("*", exp.alias_(window, "beside_it")).from_(table)
    join.set("this", known.subquery(alias))
    join.set("method", None)
    join.set("on", exp.and_(*keys, bound, exp.or_(other.is_(exp.null()), beyond)))


def _rows_before(join: exp.Join, moment: str, probe: exp.Expr) -> None:
    """How many rows of a series lie before an edge, one sort for all edges: what the steps say so far, however
    long a series is.
    """
    assert join.parent_select is not None
    edges, steps, name = join.parent_select.args["from_"].this, join.this, join.this.alias_or_name
    counted = sqlglot.parse_one(
        f"""SELECT inst, series, places FROM (
                SELECT inst, series, max(places) OVER (PARTITION BY series ORDER BY moment, side ROWS UNBOUNDED PRECEDING) AS places
                FROM (SELECT CAST(NULL AS BIGINT) AS inst, series, "{moment}" AS moment, 1 AS side, places FROM "{steps.name}"
                      UNION ALL SELECT inst, series, "{probe.name}", 0, CAST(NULL AS BIGINT) FROM "{edges.name}") AS both_kinds
            ) AS so_far WHERE inst IS NOT NULL""",
        dialect="postgres",
    )
    assert isinstance(counted, exp.Query)
    join.set("this", counted.subquery(name))
    join.set("method", None)
    same = (exp.column(key, name).eq(exp.column(key, edges.alias_or_name)) for key in ("inst", "series"))
    join.set("on", exp.and_(*same))


def _same(node: exp.NullSafeEQ) -> None:
    """Equal, or both null, as PostgreSQL can hash it; no text of a log is empty."""
    _put(
        node,
        "coalesce(CAST(:a AS TEXT), '') = coalesce(CAST(:b AS TEXT), '')",
        a=node.this,
        b=node.expression,
    )


# The row that comes first, lists


def _first_by(node: exp.ArgMin) -> None:
    by = node.expression
    keys = [field.expression for field in by.expressions] if isinstance(by, exp.Struct) else [by]
    order = ", ".join(f":by_{i}" for i in range(len(keys)))
    parts = {f"by_{i}": key for i, key in enumerate(keys)} | {"value": node.this}
    where = node.parent.expression.this if isinstance(node.parent, exp.Filter) else exp.true()
    _put(
        node.parent if isinstance(node.parent, exp.Filter) else node,
        f"(array_agg(:value ORDER BY {order}) FILTER (WHERE :value IS NOT NULL AND (:wanted)))[1]",
        **parts,
        wanted=where,
    )


def _sorted_list(node: exp.ArraySort) -> None:
    inner = node.this
    if isinstance(inner, exp.ArrayDistinct):
        _put(
            node,
            'ARRAY(SELECT DISTINCT item COLLATE "C" FROM unnest(:all) AS listed(item) WHERE item IS NOT NULL ORDER BY 1)',
            all=inner.this,
        )
        return
    if isinstance(node.parent, exp.Bracket):  # the k-th greatest of some values
        (k,) = node.parent.expressions
        _put(
            node.parent,
            "(SELECT item FROM unnest(:all) AS listed(item) ORDER BY item DESC NULLS LAST OFFSET :k - 1 LIMIT 1)",
            all=inner,
            k=k,
        )


def _no_list(node: exp.Array) -> None:
    if not node.expressions:
        node.replace(exp.cast(node.copy(), "TEXT[]", dialect="postgres"))


def _contains(node: exp.ArrayContains) -> None:
    _put(node, ":item = ANY(:all)", item=node.expression, all=node.this)


def _counted_out(node: exp.Explode) -> None:
    series = node.this
    if isinstance(series, exp.GenerateSeries):
        _put(node, "generate_series(:first, :last)", first=series.args["start"], last=series.args["end"] - 1)


def _bytewise(node: exp.Cast) -> None:
    """Texts in the order of their bytes, as DuckDB has them."""
    if node.to.this in (exp.DType.TEXT, exp.DType.VARCHAR):
        node.replace(exp.Collate(this=exp.paren(node.copy()), expression=exp.to_identifier("C", quoted=True)))


# Lengths of time, and what sqlglot knows no other name of


def _days(node: exp.ToDays) -> None:
    _put(node, "(:n) * INTERVAL '1 day'", n=node.this)


def _in_utc(node: exp.UnixToTime) -> None:
    """What clocks in UTC show at an instant."""
    _put(node, "(:at) AT TIME ZONE 'UTC'", at=node.this.expressions[0])


def _named(node: exp.Anonymous) -> None:
    name = node.name.lower()
    if name.removeprefix("to_") in _UNITS:
        _put(node, f"(:n) * INTERVAL '1 {name.removeprefix('to_')[:-1]}'", n=node.expressions[0])
    elif name == "epoch_us":
        _put(node, "CAST(EXTRACT(EPOCH FROM :at) * 1000000 AS BIGINT)", at=node.expressions[0])
    elif name == "md5_number_lower":  # any number that tells texts apart
        _put(node, "hashtextextended(:text, 0)", text=node.expressions[0])
    elif name == "list_position":
        _put(node, "array_position(:all, :item)", all=node.expressions[0], item=node.expressions[1])


def _grouped(node: exp.Group) -> None:
    if node.args.get("all") and isinstance(node.parent, exp.Select):
        plain = [e for e in node.parent.selects if not e.find(exp.AggFunc)]
        node.set("all", None)
        node.set("expressions", [e.unalias().copy() for e in plain])


def _in_every_order(node: exp.Order) -> None:
    select = node.parent
    if isinstance(select, exp.Select) and node.sql("duckdb").strip().upper() == "ORDER BY ALL":
        places = range(1, len(select.selects) + 1)
        node.set("expressions", [exp.Ordered(this=exp.Literal.number(place)) for place in places])


# What Spark says otherwise


def _of_one(node: exp.Greatest | exp.Least) -> None:
    if not node.expressions:
        node.replace(node.this)


def _beside(node: exp.Explode) -> None:
    """The rows that a list gives, beside the row that has it; Spark takes no such list inside of a value."""
    select = node.find_ancestor(exp.Select)
    if select is None or isinstance(node.parent, exp.Alias | exp.Select):
        return
    made = exp.Lateral(
        this=exp.Explode(this=node.this.copy()),
        view=True,
        alias=exp.TableAlias(this=exp.to_identifier("listed"), columns=[exp.to_identifier("item")]),
    )
    select.append("laterals", made)
    node.replace(exp.column("item", "listed"))


def _by_its_name(node: exp.Anonymous) -> None:
    if node.name.lower() == "md5_number_lower":
        _put(node, "xxhash64(:text)", "spark", text=node.expressions[0])
    elif node.name.lower() == "epoch_us":
        _put(node, "unix_micros(CAST(:at AS TIMESTAMP_LTZ))", "spark", at=node.expressions[0])
    else:
        _named(node)


_ENDLESS = {"infinity": "9999-12-31 23:59:59.999999", "-infinity": "0001-01-01 00:00:00"}


def _ended(node: exp.Cast) -> None:
    """The last and the first instant there are in place of those that never come."""
    if isinstance(node.this, exp.Literal) and node.this.name in _ENDLESS:
        node.set("this", exp.Literal.string(_ENDLESS[node.this.name]))


def _counted_out_together(select: exp.Select) -> None:
    """The rows that some lists of one length give, side by side; Spark counts out one list in a SELECT."""
    lists = [e for e in select.selects if isinstance(e, exp.Alias) and isinstance(e.this, exp.Explode)]
    if len(lists) > 1:
        zipped = exp.func("inline", exp.func("arrays_zip", *(e.this.this for e in lists)))
        select.set("expressions", [exp.Aliases(this=zipped, expressions=[e.args["alias"] for e in lists])])


def _without_zone(node: exp.TimestampTrunc) -> None:
    """What clocks show stays that, as date_trunc gives an instant."""
    if not isinstance(node.parent, exp.Cast):
        node.replace(exp.cast(node.copy(), "TIMESTAMP_NTZ", dialect="spark"))


def _shown_in_utc(node: exp.UnixToTime) -> None:
    """What clocks in UTC show at an instant."""
    _put(node, "CAST(CAST(:at AS TIMESTAMP_LTZ) AS TIMESTAMP_NTZ)", "spark", at=node.this.expressions[0])


def _first_known(node: exp.ArgMin) -> None:
    """The row that comes first among those whose value is known."""
    known = node.this.copy().is_(exp.null()).not_()
    if isinstance(node.parent, exp.Filter):
        node.parent.set("expression", exp.Where(this=exp.and_(node.parent.expression.this, known)))
    else:
        node.replace(exp.Filter(this=node.copy(), expression=exp.Where(this=known)))


def _place_in_list(node: exp.Bracket) -> None:
    """A place in a list, from 1; nothing where the list is shorter."""
    (place,) = node.expressions
    if not isinstance(place, exp.Literal):
        _put(node, "try_element_at(:all, CAST(:place AS INT))", "spark", all=node.this, place=place)


def _days_between(node: exp.Sub) -> None:
    """The number of days from one date to another, in place of a length of time."""
    if all(isinstance(side, exp.Cast) and side.is_type("date") for side in (node.this, node.expression)):
        _put(node, "datediff(:later, :earlier)", "spark", later=node.this, earlier=node.expression)


def _to_the_end(node: exp.RegexpLike) -> None:
    """Java lets a last line break stand behind the end of a pattern."""
    pattern = node.expression
    if isinstance(pattern, exp.Literal) and pattern.name.endswith("$"):
        node.set("expression", exp.Literal.string(f"{pattern.name}(?![^x]|x)"))


def _kept_list(node: exp.ArraySort) -> None:
    """The different values of a list, sorted, without what is unknown."""
    if isinstance(node.this, exp.ArrayDistinct):
        _put(node, "array_sort(array_compact(array_distinct(:all)))", "spark", all=node.this.this)


_POSTGRES: dict[type[exp.Expr], Callable[..., None]] = {
    exp.UnixToTime: _in_utc,
    exp.Cast: _bytewise,
    exp.Join: _as_of,
    exp.NullSafeEQ: _same,
    exp.ArgMin: _first_by,
    exp.ArraySort: _sorted_list,
    exp.Array: _no_list,
    exp.ArrayContains: _contains,
    exp.Explode: _counted_out,
    exp.ToDays: _days,
    exp.Anonymous: _named,
    exp.Group: _grouped,
    exp.Order: _in_every_order,
}
_ELSEWHERE: dict[type[exp.Expr], Callable[..., None]] = {
    exp.Join: _as_of,
    exp.ToDays: _days,
    exp.Anonymous: _named,
    exp.Group: _grouped,
    exp.Order: _in_every_order,
}
_SPARK: dict[type[exp.Expr], Callable[..., None]] = {
    exp.UnixToTime: _shown_in_utc,
    **_ELSEWHERE,
    exp.Anonymous: _by_its_name,
    exp.ArgMin: _first_known,
    exp.ArraySort: _kept_list,
    exp.Bracket: _place_in_list,
    exp.Cast: _ended,
    exp.Explode: _beside,
    exp.Greatest: _of_one,
    exp.Least: _of_one,
    exp.RegexpLike: _to_the_end,
    exp.Select: _counted_out_together,
    exp.Sub: _days_between,
    exp.TimestampTrunc: _without_zone,
}
_RULES: dict[Dialect, dict[type[exp.Expr], Callable[..., None]]] = {"postgres": _POSTGRES, "spark": _SPARK}


# Numbers and parameters


def _number_in_order(tree: exp.Expr) -> None:
    """Number rows in an order of their own where a part may be worked out more than once."""
    for part in tree.find_all(exp.CTE):
        part.set("materialized", None)
    for window in tree.find_all(exp.Window):
        select = window.find_ancestor(exp.Select)
        if isinstance(window.this, exp.RowNumber) and not window.args.get("order") and select:
            source = select.args["from_"].this
            columns: Iterable[exp.Expr]
            if isinstance(source, exp.Subquery):
                columns = [
                    exp.column(c, source.alias or None, quoted=True)
                    for c in source.this.named_selects
                    if c not in ("*", "inst")
                ]
            else:
                columns = [
                    e.unalias().copy()
                    for e in select.selects
                    if e.find(exp.Column) and not e.find(exp.Window)
                ]
            order = [exp.Ordered(this=column) for column in columns]
            window.set("order", exp.Order(expressions=order))


def _type_parameters(tree: exp.Expr, parameters: Mapping[str, object], dialect: Dialect) -> None:
    """Say of each parameter what it is, since a database cannot see it everywhere."""
    places = list(tree.find_all(exp.Placeholder))
    stated = {p.name: p.parent.to for p in places if isinstance(p.parent, exp.Cast)}
    mark = "@" if dialect == "bigquery" else ":"
    for place in places:
        named = exp.var(f"{mark}{place.name}")
        if isinstance(place.parent, exp.Cast):
            place.replace(named)
        else:
            kind = stated.get(place.name) or exp.DataType.build(
                _kind(parameters[place.name]), dialect="duckdb"
            )
            place.replace(exp.Cast(this=named, to=kind.copy()))


def _kind(value: object) -> str:
    if isinstance(value, list):
        return f"{_kind(value[0] if value else '')}[]"
    if isinstance(value, datetime):
        return "TIMESTAMP"
    return "BIGINT" if isinstance(value, int) else "VARCHAR"
