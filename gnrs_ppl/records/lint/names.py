"""Findings about the names of a context: G101 to G106."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator

from gnrs_ppl.context.load import nearest
from gnrs_ppl.context.log import LISTED, resolved, spelt
from gnrs_ppl.errors import InputError
from gnrs_ppl.reading.vocabulary import LIGHT, STOP, name_words, tokens_of
from gnrs_ppl.reading.ways import classes_of
from gnrs_ppl.reading.words import word
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.records.lint.findings import Found, Material, counted, some_of
from gnrs_ppl.records.mend import Append, Rename
from gnrs_ppl.records.names import PARTS, spelling, told
from gnrs_ppl.words import PARTICLES

MOST_NAMES = 200
"""Different values from which a column holds numbers of things, and no names for a schema."""
_QUALITIES = (
    "ly",
    "al",
    "ial",
    "ic",
    "ous",
    "ive",
    "able",
    "ible",
    "ful",
    "less",
    "ern",
    "ary",
    "ant",
    "ent",
)
"""Endings of adjectives and adverbs, of which the dictionary has none: it is of verbs and nouns."""


def dangling(m: Material) -> Iterator[Found]:
    """Names that the schema or the record layer lacks; one that is only spelt otherwise is renamed."""
    for use in m.uses:
        known = m.declared.get(use.kind, [])
        if use.name in known or (use.kind == "channel" and use.name in m.declared["observable"]):
            continue
        part = f"the schema's {PARTS[use.kind]}" if use.kind in PARTS else "records.channels"
        alike = [name for name in known if spelling(name) == spelling(use.name)]
        near = alike[0] if len(alike) == 1 else nearest(use.name, dict.fromkeys(known))
        yield Found(
            told(use.path, m.data),
            f"{use.name!r} is not in {part}",
            1,
            use.name,
            f"write {near!r}, or add it there" if near else "add it there, or correct it",
            frozenset({(use.kind, use.name)}),
            (Rename(use.path, alike[0]),) if len(alike) == 1 else (),
        )


def never_recorded(m: Material) -> Iterator[Found]:
    """Declared names that no row carries and no declared support speaks for."""
    supported = {(support.kind, support.name) for support in m.records.support}
    for kind in ("action", "role", "location", "object"):
        names = [n for n in m.declared[kind] if n not in m.recorded[kind] and (kind, n) not in supported]
        if names and m.log is not None:
            yield Found(
                f"schema.{PARTS[kind]}",
                f"{counted(len(names), kind)} declared, on no row: {some_of(names)}",
                len(names),
                names[0],
                "take them out, correct their spelling, or say under records.support how the records show "
                "them",
                frozenset((kind, name) for name in names),
            )


def undeclared(m: Material) -> Iterator[Found]:
    """Names on rows that the schema lacks; of roles, locations and objects only where it lists some."""
    for kind in ("action", "role", "location", "object"):
        rows = m.recorded[kind]
        names = sorted((n for n in rows if n not in m.declared[kind]), key=lambda n: (-rows[n], n))
        if not names or len(rows) > MOST_NAMES or (kind != "action" and not m.declared[kind]):
            continue
        spelt = {spelling(name) for name in m.declared[kind]}
        new = tuple(name for name in names if spelling(name) not in spelt and _may_be_a_name(name))
        yield Found(
            f"schema.{PARTS[kind]}",
            f"{counted(len(names), kind)} recorded but not declared: {some_of(names)}",
            len(names),
            f"{names[0]} on {rows[names[0]]:,} rows",
            f"add them to schema.{PARTS[kind]}",
            frozenset((kind, name) for name in names),
            (Append(("schema", PARTS[kind]), new),) if new else (),
        )
    channels = dict(m.recorded["channel"])
    if m.cells is not None and not m.cells.of("channel").startswith("NULL"):
        cell = m.cells.of("channel")
        channels = dict(
            m.cells.rows(
                f"SELECT {cell}, count(*) FROM raw WHERE {cell} IS NOT NULL GROUP BY ALL ORDER BY ALL"
            )
        )
    missing = [n for n in channels if n not in {*m.declared["channel"], *m.declared["observable"]}]
    if missing and m.records.channels:
        yield Found(
            "records.channels",
            f"{counted(len(missing), 'channel')} recorded but not declared, so that no row of them is "
            f"evidence: {some_of(missing)}",
            len(missing),
            f"{missing[0]} on {channels[missing[0]]:,} rows",
            "add them to records.channels, or to records.observables where nothing keeps them",
            frozenset(("channel", name) for name in missing),
        )


def nearly_alike(m: Material) -> Iterator[Found]:
    """Names of a kind that differ only in case, signs or plural."""
    for kind in ("action", "role", "location", "object", "channel"):
        names = dict.fromkeys([*m.declared[kind], *m.recorded[kind]])
        if len(m.recorded[kind]) > MOST_NAMES and kind != "action":
            names = dict.fromkeys(m.declared[kind])
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(spelling(name) or name, []).append(name)
        for group in groups.values():
            if len(group) > 1:
                seen = Counter(_seen(name) for name in group)
                shown = " and ".join(
                    f"{spelt(name) if seen[_seen(name)] > 1 else repr(name)} ({m.recorded[kind].get(name, 0):,} rows)"
                    for name in group[:LISTED]
                )
                yield Found(
                    "records.channels" if kind == "channel" else f"schema.{PARTS[kind]}",
                    f"names of {kind}s that differ only in case, signs or plural: {shown}",
                    len(group),
                    group[0],
                    "they count as different: give them one name in the log, or aliases that tell them apart",
                    frozenset((kind, name) for name in group),
                )


def _seen(name: str) -> str:
    """What a person sees of a name."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def same_words(m: Material) -> Iterator[Found]:
    """Names that rule texts could not tell apart, or not use: drafting stops there."""
    try:
        Lexicon.of(m.schema, resolved(m.records, m.log) if m.log is not None else m.records)
    except InputError as error:
        yield Found(error.field, error.problem, 1, error.field.rpartition(".")[2], error.remedy)


def unknown_words(m: Material) -> Iterator[Found]:
    """Words of acts that the reader of sentences knows only as they are spelt; roles, places and objects in
    no word of which it does.
    """
    for kind in ("action", "role", "location", "object"):
        strange: dict[str, str] = {}
        for term in getattr(m.schema, PARTS[kind]):
            phrases = [
                term.phrase or " ".join(name_words(term.name)),
                getattr(term, "noun", None) or "",
                *term.aliases,
            ]
            words = [form for phrase in phrases for form in _content(phrase)]
            unknown = [form for form in words if not _known(form)]
            if unknown and (kind == "action" or len(unknown) == len(words)):
                strange |= {form: term.name for form in unknown if form not in strange}
        if strange:
            first, name = next(iter(strange.items()))
            yield Found(
                f"schema.{PARTS[kind]}",
                f"gnrs read knows {counted(len(strange), 'word')} only as spelt: {some_of(list(strange))}",
                len(strange),
                f"{first!r} of {name!r}",
                "say it in common words as phrase, or add aliases with the words people use",
                frozenset((kind, name) for name in strange.values()),
            )


def _content(phrase: str) -> list[str]:
    """Words of a phrase that carry its meaning."""
    words = [token.text for token in tokens_of(phrase)]
    return [w for w in words if w.isalpha() and len(w) > 1 and w not in STOP | LIGHT | PARTICLES]


def _known(form: str) -> bool:
    """Whether dictionary or ways to say an act know a word; what looks like an adjective or adverb counts as
    known.
    """
    return bool(word(form).senses or classes_of(form)) or form.endswith(_QUALITIES)


def _may_be_a_name(name: str) -> bool:
    return bool(name.strip()) and name == name.strip() and len(name) <= 200 and name.isprintable()
