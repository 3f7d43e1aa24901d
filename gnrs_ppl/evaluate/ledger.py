"""Every look at test or OOD truth is written down: commit, date and command, in a committed file."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from gnrs_ppl.context.output import write_all
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.safe_text import to_csv

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ROOT / "docs" / "reveals.csv"
HEADER = ("commit", "date", "command")


def enter(command: Sequence[str], ledger: Path = LEDGER) -> None:
    """Append this run to the ledger.

    Raises
    ------
    InputError
        Outside a checkout, where nothing could be committed.
    """
    done = subprocess.run(
        ["git", "-C", str(ledger.parent), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not ledger.parent.is_dir():
        raise InputError(
            "--reveal needs a git checkout, where the ledger is kept",
            "clone the repository and run it there",
            source="arguments",
        )
    line = (
        done.stdout.strip(),
        datetime.now(UTC).date().isoformat(),
        one_line(" ".join(["gnrs", *command[1:]])),
    )
    old = ledger.read_bytes() if ledger.exists() else (",".join(HEADER) + "\n").encode()
    write_all(ledger.parent, [(ledger.name, old + to_csv([line]).encode())])
