"""``gnrs profile --page``: the records as one page of HTML that loads nothing and runs nothing."""

from __future__ import annotations

from pathlib import Path

from gnrs_ppl.context.output import write_all
from gnrs_ppl.records.plots import drawings
from gnrs_ppl.records.profile import Coverage, Overview
from gnrs_ppl.report.profile import length
from gnrs_ppl.safe_text import visible

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may load for the page: nothing."""
TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Records of {{ source }}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0 1.5rem; font-size: 0.9em }
th, td { text-align: left; padding: 0.2rem 0.6rem; border-bottom: 1px solid #ddd; vertical-align: top }
th.n, td.n { text-align: right; white-space: nowrap }
h2 { margin: 2rem 0 0.3rem; font-size: 1.15rem }
svg { max-width: 100%; height: auto }
p.note { color: #666 }
</style>
</head>
<body>
<h1>Records of {{ source }}</h1>
<p>{{ "{:,}".format(found.events) }} events in {{ "{:,}".format(found.cases) }} cases
{%- if found.first %}, {{ day(found.first) }} to {{ day(found.last) }}{% endif %}</p>
{% for drawing in drawings %}<div>{{ drawing }}</div>
{% endfor %}
{% for name, heads, rows in tables if rows %}<h2>{{ name }}</h2>
<table>
<tr>{% for head, number in heads %}<th{% if number %} class="n"{% endif %}>{{ head }}</th>{% endfor %}</tr>
{% for cells in rows %}<tr>{% for cell in cells %}<td{% if heads[loop.index0][1] %} class="n"{% endif %}>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</table>
{% endfor %}
{% for note in found.said %}<p class="note">note: {{ seen(note) }}</p>
{% endfor %}
</body>
</html>
"""  # noqa: E501


def write_page(found: Overview, source: str, path: Path) -> Path:
    """Write the page; every text of the records is escaped, what does not print is shown as what it is.

    Raises
    ------
    InputError
        When matplotlib is missing, or the file cannot be written.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    text = environment.from_string(TEMPLATE).render(
        found=found,
        source=visible(source),
        policy=POLICY,
        # shapes of matplotlib's own, in which names of the records are outlines of letters
        drawings=[Markup(drawing) for drawing in drawings(found)],
        tables=_tables(found),
        seen=visible,
        day=lambda moment: f"{moment:%Y-%m-%d}",
    )
    return write_all(path.parent, [(path.name, text.encode())])[0]


def _tables(found: Overview) -> list[tuple[str, list[tuple[str, bool]], list[list[str]]]]:
    """Name, heads with whether their cells are numbers, and rows of each table."""
    acts = [
        [visible(a.name), f"{a.rows:,}", f"{a.cases:,}", f"{a.people:,}", _shares(a.by, a.rows)]
        for a in found.acts
    ]
    variants = [
        [f"{v.cases:,}", f"{v.cases / max(found.cases, 1):.0%}", visible(" → ".join(v.acts))[:600]]
        for v in found.variants
    ]
    steps = [
        [visible(s.before), visible(s.after), f"{s.rows:,}", *map(length, s.seconds)] for s in found.steps
    ]
    columns = [[c.column, f"{c.empty:,}", f"{c.distinct:,}"] for c in found.columns]
    channels = [
        [visible(c.channel), f"{c.rows:,}", _day(c.first), _day(c.last), _silences(c)] for c in found.coverage
    ]
    twins = [
        [visible(t.activity), visible(" and ".join(t.channels)), f"{t.pairs:,} of {t.of:,}", length(t.median)]
        for t in found.twins
    ]
    delays = [(name, True) for name in ("rows", "5%", "25%", "half", "75%", "95%")]
    return [
        (
            "Acts",
            [
                ("activity", False), ("rows", True), ("cases", True), ("people", True),
                (f"by {found.by}", False),
            ],
            acts,
        ),
        (
            f"Variants: the most frequent of {found.all_variants:,}",
            [("cases", True), ("share", True), ("acts in order", False)],
            variants,
        ),
        (
            f"Delays: {len(steps):,} of {found.all_steps:,} pairs of acts",
            [("from", False), ("to", False), *delays],
            steps,
        ),
        ("Columns", [("column", False), ("empty", True), ("different", True)], columns),
        (
            "Channels",
            [
                ("channel", False), ("rows", True), ("first", False), ("last", False),
                ("longest silences", False),
            ],
            channels,
        ),
        (
            "Twins: one act in two logs",
            [("activity", False), ("logs", False), ("rows", True), ("half within", True)],
            twins,
        ),
    ]  # fmt: skip


def _shares(by: object, rows: int) -> str:
    named = dict(by)  # type: ignore[call-overload]
    return ", ".join(f"{visible(name)} {count / max(rows, 1):.0%}" for name, count in list(named.items())[:6])


def _day(moment: object) -> str:
    return f"{moment:%Y-%m-%d}" if moment is not None else "–"


def _silences(channel: Coverage) -> str:
    told = (f"{s.days:.1f} days from {s.start:%Y-%m-%d}" for s in channel.silences)
    return ", ".join(told) or "–"
