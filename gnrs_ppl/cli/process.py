"""The command as a process: every error is one line on standard error and an exit code."""

from __future__ import annotations

import atexit
import codecs
import gc
import io
import json
import os
import sys
import threading
from contextlib import AbstractContextManager, nullcontext, redirect_stdout, suppress
from typing import Any

from typer.exceptions import Abort, TyperException

from gnrs_ppl import stops
from gnrs_ppl.cli.helpers import complain
from gnrs_ppl.cli.verbs import app
from gnrs_ppl.context.output import FULL
from gnrs_ppl.cores import use_all_cores
from gnrs_ppl.errors import GnrsError, one_line

NOBODY_READS = 141
"""Exit code of a command whose reader has gone, as the shell has it for SIGPIPE."""

FEW_COLLECTIONS = 100_000
"""New objects between two looks for cycles: what imports and files make stays, and Python's 700 looks through
all of it hundreds of times, a tenth of a short command."""


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What a terminal cannot show, as JSON would write it."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def main(arguments: list[str] | None = None) -> None:
    """Entry point: every error is one line on standard error and an exit code."""
    stops.begin()
    gc.set_threshold(FEW_COLLECTIONS)
    use_all_cores()
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("escaped", _escaped)
        sys.stdout.reconfigure(errors="escaped")  # what the terminal cannot show, in words as in JSON
    lacking = _lacking()
    code = complain(lacking, 2) if lacking else run(arguments)
    try:
        print(end="", file=sys.__stdout__, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # it was said; Python would try once more as it ends
    stops.finish()
    if stops.is_command():
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> None:
    """End without taking every object apart, a fifth of a short command; what asked to be done at the end is
    done.
    """
    if all(thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _lacking() -> str | None:
    """What every verb needs around it and does not find."""
    if sys.stdout is None:
        return "standard output: is closed; direct it to a file or /dev/null"
    try:
        os.getcwd()
    except OSError as error:
        return f"the current folder: cannot be found ({error.strerror}); change to one that exists"
    return None


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        with _help_unpadded(sys.argv[1:] if arguments is None else arguments):
            code = app(args=arguments, standalone_mode=False) or 0
        sys.stdout.flush()  # a full disk shows here at the latest
        return int(code)
    except GnrsError as error:
        return complain(str(error), error.exit_code)
    except TyperException as error:
        return complain(one_line(f"arguments: {error.format_message()}"), 2) if error.format_message() else 2
    except KeyboardInterrupt:
        return complain("interrupted", 130)
    except SystemExit as stop:  # what Typer and Rich make of a reader that went away
        return NOBODY_READS if isinstance(stop.__context__, BrokenPipeError) else int(stop.code or 0)
    except BrokenPipeError:
        return NOBODY_READS
    except Abort as stop:  # what Typer makes of EOFError
        return _unexpected(stop.__cause__ or stop)
    except Exception as error:
        if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
            return complain("interrupted", 130)
        if isinstance(error, OSError) and error.errno in FULL:
            return complain(
                one_line(
                    f"{error.filename or 'output'}: cannot be written ({error.strerror}); make room, then "
                    "run it again"
                ),
                2,
            )
        return _unexpected(error)


def _help_unpadded(arguments: list[str]) -> AbstractContextManager[Any]:
    """Typer's help goes into a pipe without the spaces that fill its lines, as our own text does."""
    if sys.stdout.isatty() or not ("--help" in arguments or arguments in ([], ["goal"])):
        return nullcontext()
    from gnrs_ppl.terminal import Unpadded

    stream: Any = Unpadded(sys.stdout)
    return redirect_stdout(stream)


def _unexpected(error: BaseException) -> int:
    stops.wait_if_stopping()
    from gnrs_ppl.crash import complaint

    return complain(complaint(error), 70)
