"""Many checks on one log, remembered on disk by what they rest on.

Checks of one context share most of their constraints, and the verdict on a case is the gravest of theirs: so
each distinct constraint is run once, together with those that differ from it in one length of time.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args
from zipfile import BadZipFile

import duckdb
import numpy as np
from jaxtyping import Int
from numpy.typing import NDArray

from gnrs_ppl.audit.checkable import CheckPlan, ConstraintPlan, check
from gnrs_ppl.audit.compile import Grid, Query, compile_grid
from gnrs_ppl.audit.types import ROLL_UP
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.inference.cache import cache_folder
from gnrs_ppl.rule.types import Force, Scope, Structure, Trigger

Codes = Int[np.ndarray, "n cases"]
Length = Literal["window", "deadline"]

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
    cases = log.case_ids
    number = {case: n for n, case in enumerate(cases)}
    path = cache_folder() / "verdicts" / f"{_ground(records, log)}.npz"
    known = _remembered(path, len(cases))
    signatures = {key: hashlib.sha256(key.encode()).hexdigest() for key in checks}
    missing = [key for key in checks if signatures[key] not in known]

    def executed(query: Query, many: int) -> Codes:
        found = np.full((many, len(cases)), NEVER, np.int8)
        with log.connection.cursor() as cursor:
            for point, case, code in cursor.execute(query.sql, query.parameters).fetchall():
                found[point, number[case]] = code
        return found

    parts: dict[Said, CheckPlan] = {}
    waiting: dict[str, list[Said]] = {}
    for done, key in enumerate(missing, 1):
        report(f"looking at rule {done} of {len(missing)}")
        try:
            own = _by_constraint(check(checks[key], records, log))
        except GnrsError:
            known[signatures[key]] = np.full(len(cases), REFUSED, np.int8)
            continue
        waiting[key] = [*own]
        parts |= own
    groups: dict[Length, list[list[Said]]] = {length: _alike(parts, length) for length in get_args(Length)}
    length = min(groups, key=lambda length: len(groups[length]))
    found: dict[Said, NDArray[np.int8]] = {}
    with ThreadPoolExecutor(min(WORKERS, os.cpu_count() or 1)) as pool:
        running = [
            (group, pool.submit(executed, _query(parts[group[0]], length, group), len(group)))
            for group in groups[length]
        ]
        for done, (group, future) in enumerate(running, 1):
            report(f"checking the log {done} of {len(running)}")
            found |= zip(group, future.result(), strict=True)
    known |= {signatures[key]: np.min([found[said] for said in own], axis=0) for key, own in waiting.items()}
    if missing:
        _remember(path, known)
    codes = np.stack([known[signatures[key]] for key in checks]) if checks else np.zeros((0, len(cases)))
    return Checked(cases, codes.astype(np.int8), len(missing))


class Said(NamedTuple):
    """All that a constraint says of instances and of itself."""

    trigger: Trigger
    scope: Scope
    force: Force
    constraint: ConstraintPlan

    def but(self, length: Length) -> Said:
        """The same without one of its lengths of time."""
        if length == "window":
            return self._replace(trigger=self.trigger.model_copy(update={"window": None}))
        return self._replace(constraint=replace(self.constraint, deadline=None))

    def length(self, length: Length) -> Duration | None:
        """The window, or the deadline."""
        return self.trigger.window if length == "window" else self.constraint.deadline


def _by_constraint(plan: CheckPlan) -> dict[Said, CheckPlan]:
    """The plan of each constraint alone."""
    rule = plan.structure
    return {
        Said(rule.trigger, rule.scope, rule.norm.force, one): replace(plan, constraints=(one,), steps=())
        for one in (replace(constraint, index=0) for constraint in plan.constraints)
    }


def _alike(parts: Iterable[Said], length: Length) -> list[list[Said]]:
    """The constraints in groups of which one query holds all, as they differ in that length of time alone;
    working time is counted by itself.
    """
    found: dict[tuple[Said, bool | Duration], list[Said]] = {}
    for said in parts:
        value = said.length(length)
        found.setdefault((said.but(length), value if value and value.working else value is None), []).append(
            said
        )
    return [*found.values()]


def _query(plan: CheckPlan, length: Length, group: Sequence[Said]) -> Query:
    """The gravest verdict on each case, by the place of the constraint in its group."""
    values = tuple(value for said in group if (value := said.length(length)) is not None)
    grid = Grid(values, None if length == "window" else 0) if len(group) > 1 else None
    grades = " ".join(f"WHEN '{verdict}' THEN {code}" for code, verdict in enumerate(ROLL_UP))
    never = "WHERE FALSE" if group[0].force == "may" else ""
    return compile_grid(
        plan,
        grid,
        f"SELECT {'point' if grid else '0'} AS point, case_id, min(CASE verdict {grades} END) AS code "
        f"FROM verdicts {never} GROUP BY ALL",
    )


def _ground(records: RecordLayer, log: EventLog) -> str:
    """What verdicts rest on besides the check: the log, the record layer, and the code that compiles."""
    digest = hashlib.sha256(f"{log.fingerprint}\n{duckdb.__version__}\n{_code()}\n".encode())
    for layer in (records, log.records):
        digest.update(layer.model_dump_json(exclude={"log", "set_aside"}).encode())
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
