"""Many checks on one log, remembered on disk by what they rest on.

Checks of one context share most of their constraints, and the verdict on a case is the gravest of theirs: so
each distinct constraint is compiled once and run once.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import tempfile
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import duckdb
import numpy as np
from jaxtyping import Int
from numpy.typing import NDArray

from gnrs_ppl.audit.checkable import CheckPlan, check
from gnrs_ppl.audit.compile import Query, compile_rule
from gnrs_ppl.audit.types import ROLL_UP
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.inference.cache import cache_folder
from gnrs_ppl.rule.types import Structure

Codes = Int[NDArray[np.int8], "n cases"]

NEVER = ROLL_UP.index("not_activated")
VIOLATED = ROLL_UP.index("violated")
REFUSED = -1
"""Code of a check that these records cannot carry."""
WORKERS = 4


class Checked(NamedTuple):
    """Verdicts of n checks on every case of a log.

    Attributes
    ----------
    cases : tuple of str
        In order.
    codes : (n, cases) int8
        Index into ``ROLL_UP``; ``REFUSED`` throughout where the records cannot carry a check.
    run : int
        How many checks were run now; the others were remembered.
    """

    cases: tuple[str, ...]
    codes: Codes
    run: int


def run_checks(
    checks: Mapping[str, Structure],
    records: RecordLayer,
    log: EventLog,
    report: Callable[[str], None] = lambda said: None,
) -> Checked:
    """Verdicts of checks on every case, each the gravest of its instances.

    Parameters
    ----------
    checks : {canonical text: Structure}
        The text is what a check is remembered by.
    records : RecordLayer
    log : EventLog
    report : callable
        Told how far it is.
    """
    cases = tuple(
        row[0]
        for row in log.connection.execute("SELECT DISTINCT case_id FROM events ORDER BY case_id").fetchall()
    )
    number = {case: n for n, case in enumerate(cases)}
    path = cache_folder() / "verdicts" / f"{_ground(records, log)}.npz"
    known = _remembered(path, len(cases))
    signatures = {key: hashlib.sha256(key.encode()).hexdigest() for key in checks}
    missing = [key for key in checks if signatures[key] not in known]

    grades = " ".join(f"WHEN '{verdict}' THEN {code}" for code, verdict in enumerate(ROLL_UP))

    def executed(query: Query) -> NDArray[np.int8]:
        found = np.full(len(cases), NEVER, np.int8)
        with log.connection.cursor() as cursor:
            for case, code in cursor.execute(
                f"SELECT case_id, min(CASE verdict {grades} END) FROM ({query.sql}) GROUP BY case_id",
                query.parameters,
            ).fetchall():
                found[number[case]] = code
        return found

    running: dict[Hashable, Future[NDArray[np.int8]]] = {}
    waiting: dict[str, list[Hashable]] = {}
    with ThreadPoolExecutor(min(WORKERS, os.cpu_count() or 1)) as pool:
        for done, key in enumerate(missing, 1):  # compiled here, as that asks the log's one connection
            report(f"compiling rule {done} of {len(missing)}")
            try:
                parts = _by_constraint(check(checks[key], records, log))
                for said, part in parts.items():
                    if said not in running:
                        running[said] = pool.submit(executed, compile_rule(part))
            except GnrsError:
                known[signatures[key]] = np.full(len(cases), REFUSED, np.int8)
                continue
            waiting[key] = [*parts]
        found = {}
        for done, (said, future) in enumerate(running.items(), 1):
            report(f"checking the log by constraint {done} of {len(running)}")
            found[said] = future.result()
        known |= {
            signatures[key]: np.min([found[said] for said in parts], axis=0) for key, parts in waiting.items()
        }
    if missing:
        _remember(path, known)
    codes = np.stack([known[signatures[key]] for key in checks]) if checks else np.zeros((0, len(cases)))
    return Checked(cases, codes.astype(np.int8), len(missing))


def _by_constraint(plan: CheckPlan) -> dict[Hashable, CheckPlan]:
    """The plan of each constraint alone, by all that it says of instances and of itself."""
    rule = plan.structure
    opened = rule.trigger, rule.scope, rule.norm.force
    return {
        (*opened, one): replace(plan, constraints=(one,), steps=())
        for one in (replace(constraint, index=0) for constraint in plan.constraints)
    }


def _ground(records: RecordLayer, log: EventLog) -> str:
    """What verdicts rest on besides the check: the log, the record layer, and the code that compiles."""
    digest = hashlib.sha256(f"{log.fingerprint}\n{duckdb.__version__}\n{_code()}\n".encode())
    digest.update(records.model_dump_json(exclude={"log"}).encode())
    digest.update(log.records.model_dump_json(exclude={"log"}).encode())
    return digest.hexdigest()


@cache
def _code() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(inspect.getfile(check)).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _remembered(path: Path, cases: int) -> dict[str, NDArray[np.int8]]:
    """What a file holds; nothing where it is missing, broken or of other cases."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            names, codes = held["names"], held["codes"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return {}
    if codes.ndim != 2 or codes.shape != (len(names), cases) or codes.dtype != np.int8:
        return {}
    return dict(zip(names.tolist(), codes, strict=True))


def _remember(path: Path, known: Mapping[str, NDArray[np.int8]]) -> None:
    """Write the file whole or not at all; a folder that cannot be written costs time, no more."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
            np.savez_compressed(file, names=np.array([*known]), codes=np.stack([*known.values()]))
        os.replace(file.name, path)
