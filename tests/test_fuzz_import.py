"""Damaged sources: imported whole, or refused in one line with nothing written."""

from __future__ import annotations

import faulthandler
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz import examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_import import (
    MODEL,
    ROWS,
    XES_NAMES,
    shop,
    write_csv,
    write_json_lines,
    write_ocel_json,
    write_ocel_sqlite,
    write_ocel_xml,
    write_parquet,
    write_xes,
)

import gnrs_ppl as gnrs
from gnrs_ppl.context.output import as_written
from gnrs_ppl.errors import InputError
from gnrs_ppl.importing import import_source
from gnrs_ppl.importing.run import FILES

pytestmark = pytest.mark.fuzz
FEW = ROWS[:8]
TOKENS = [
    b"<", b">", b"/>", b"&", b"&lt;", b'"', b"'", b"\0", b"\xff", b"\xef\xbb\xbf", b"\n", b",", b";", b"{", b"}", b"[", b"]", b":", b"null", b"1e999", b"NaN",
    b"<!DOCTYPE log [<!ENTITY a 'b'>]>", b"&a;", b"<trace>", b"</trace>", b"<event>", b"</log>", b"<list>", b"time:timestamp", b"9999-12-31T23:59:59+14:00",
    b"0001-01-01", b"2024-02-30T00:00:00", b"2024-01-01T10:00:00+99:99", b"\xe2\x80\xae", b"\x1b[31m", b"=cmd()", b"' OR 1=1 --", b"\\ud800", b"-0", b"case_id",
    b"must not", b"x" * 300, b"\xe2\x80\xa8", b"true", b"ocel_id", b"\x85", b"\x1f\x8b", b"PAR1", b"SQLite format 3\0",
]  # fmt: skip


def sources() -> dict[str, bytes]:
    """A small whole source of each format."""
    named = [{XES_NAMES.get(key, key): value for key, value in row.items()} for row in FEW]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = [
            write_csv(folder / "log.csv", FEW), write_csv(folder / "log.csv.gz", FEW), write_json_lines(folder / "log.jsonl", FEW),
            write_parquet(folder / "log.parquet", FEW), write_xes(folder / "log.xes", named), write_xes(folder / "log.xes.gz", named),
            write_ocel_json(folder / "log.json"), write_ocel_xml(folder / "log.xml"), write_ocel_sqlite(folder / "log.sqlite"), shop(folder / "shop.sqlite"),
        ]  # fmt: skip
        (folder / "log.bpmn").write_text(MODEL)
        return {path.name: path.read_bytes() for path in [*made, folder / "log.bpmn"]}


SOURCES = sources()


def damaged(content: bytes, chance: random.Random, cuts: int) -> bytes:
    """Some places of the bytes cut, doubled, swapped, or with something else in them."""
    for _ in range(cuts):
        at = chance.randrange(len(content) + 1)
        reach = min(len(content), at + chance.choice([1, 1, 2, 5, 20, 200]))
        what = chance.randrange(6)
        if what == 0:
            content = content[:at] + content[reach:]
        elif what == 1:
            content = content[:at] + content[at:reach] * 2 + content[reach:]
        elif what == 2:
            content = content[:at] + chance.choice(TOKENS) + content[at:]
        elif what == 3:
            content = content[:at] + chance.choice(TOKENS) + content[reach:]
        elif what == 4:
            content = content[:at] + chance.randbytes(reach - at) + content[reach:]
        else:
            content = (
                content[:reach]
                if chance.random() < 0.2
                else content[reach:] + content[:reach]
                if chance.random() < 0.1
                else content
            )
    return content


SLOWEST = 30.0
"""Seconds after which a source hangs; small ones take a fraction of one."""


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_a_damaged_source_is_imported_whole_or_refused(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    became: Counter[str] = Counter()
    slowest = 0.0

    @given(seed=st.integers(0, 2**32), cuts=st.integers(1, 6))
    @example(seed=75453, cuts=2)  # a name in the shop's SQLite schema that is no UTF-8
    @settings(max_examples=examples(23), deadline=None, suppress_health_check=list(HealthCheck))
    def one(seed: int, cuts: int) -> None:
        nonlocal slowest
        faulthandler.dump_traceback_later(10 * SLOWEST, exit=True)  # of this mutant alone
        begun = time.monotonic()
        mutant = damaged(SOURCES[name], random.Random(seed), cuts)
        became[outcome(name, mutant, again=seed % 8 == 0)] += 1
        slowest = max(slowest, time.monotonic() - begun)
        assert slowest < SLOWEST

    try:
        one()
    finally:
        faulthandler.cancel_dump_traceback_later()
    told = ", ".join(f"{count:,} {what}" for what, count in sorted(became.items()))
    record_property(
        "mutants", f"{name}: {became.total():,} mutants, {told}; the slowest took {slowest:.1f} s"
    )


def outcome(name: str, content: bytes, again: bool) -> str:
    """What became of a mutant: imported whole, or refused in one line with nothing written.

    An import loads its context and reads its log before it puts them in place; that they stand there as they
    were put is checked each time, that they load from there where ``again`` says so.
    """
    folder = Path(tempfile.mkdtemp(prefix="gnrs-fuzz-"))
    try:
        (folder / name).write_bytes(content)
        try:
            done = import_source(folder / name, folder / "out")
        except InputError as error:
            told = str(error)
        else:
            told = ""
        if told:
            assert "\n" not in told
            assert [path.name for path in folder.iterdir()] == [name]
            return "refused in one line"
        assert done.rows + done.joined + done.aside == done.read
        written = {path.name for path in (folder / "out").iterdir()} - {
            "gnrs-manifest.json",
            "set-aside.parquet",
        }
        assert written == {*FILES} - {
            "set-aside.parquet",
            *(["events.parquet"] if name.endswith("bpmn") else []),
        }
        assert all(as_written(path) for path in done.files)
        if again:
            loaded = gnrs.load_context(str(folder / "out" / "context.yaml"))
            assert loaded.records.prospective or loaded.log.events == done.rows
        return "imported with rows set aside" if done.aside else "imported whole"
    finally:
        shutil.rmtree(folder)
