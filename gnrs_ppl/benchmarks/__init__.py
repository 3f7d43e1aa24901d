"""Benchmarks that ship with the package, and contexts by benchmark id or file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from gnrs_ppl.benchmarks import gnrs_bench
from gnrs_ppl.context import load as files
from gnrs_ppl.context.load import Context


def load_context(reference: str | Path, log: Path | None = None) -> Context:
    """The context of a benchmark goal, or the one in a YAML or JSON file.

    Parameters
    ----------
    reference : str or Path
        ``GNRS-001`` to ``GNRS-116``, or the path of a file.
    log : Path, optional
        The event log, in place of the one the context names.

    Raises
    ------
    InputError
        With file or goal, field, problem and remedy.
    """
    if not re.fullmatch(r"GNRS-\d+", str(reference)):
        return files.load_context(reference, log)
    context = gnrs_bench.load(str(reference))
    if log is None:
        return context
    return replace(context, records=context.records.model_copy(update={"log": str(log.absolute())}), scene=None)
