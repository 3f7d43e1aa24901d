"""Benchmarks that ship with the package, and contexts by benchmark id or file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from gnrs_ppl.benchmarks import gnrs_bench
from gnrs_ppl.benchmarks.realcharter import adapter
from gnrs_ppl.context import load as files
from gnrs_ppl.context.load import Context


def load_context(reference: str | Path, log: Path | None = None, *, goalless: bool = False) -> Context:
    """The context of a benchmark goal or policy card, or the one in a YAML or JSON file.

    Parameters
    ----------
    reference : str or Path
        ``GNRS-001`` to ``GNRS-116``, a card such as ``RC-PSF-3``, or the path of a file.
    log : Path, optional
        The event log, in place of the one the context names.
    goalless : bool
        Whether a file without a goal will do.

    Raises
    ------
    InputError
        With file or goal, field, problem and remedy.
    """
    if re.fullmatch(r"GNRS-\d+", str(reference)):
        context = gnrs_bench.load(str(reference))
    elif re.fullmatch(r"RC-[A-Z]+-\d+", str(reference)):
        context = adapter.load(str(reference))
    else:
        return files.load_context(reference, log, goalless=goalless)
    return (
        context if log is None else replace(context, records=files.with_log(context.records, log), scene=None)
    )
