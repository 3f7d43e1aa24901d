"""Ctrl-C and termination of the command: the process ends there and then, with one line, whatever it is
doing.

Nothing unwinds. Every file is written so that a kill does not hurt it, and an exception thrown into compiled
code or a callback may be swallowed or crash it. A thread of its own waits for the signal, so that compiled
code which does not return holds up nothing.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from contextlib import suppress

ENDINGS = {signal.SIGINT: ("interrupted", 130), signal.SIGTERM: ("terminated", 143)}
"""What is said, and the exit code."""
PATIENCE = 1.5
"""Seconds that files which are just being put in place are given."""
PARENT = "GNRS_PARENT_HOLDS_STDIN"
"""The variable by which a parent says that standard input stays open as long as it lives, and that this
process is to end with it."""

writing = threading.RLock()
"""Held while files are put in place: a stop comes before or after that."""
leftovers: set[str] = set()
"""Folders to remove where a stop cannot wait."""
groups: set[int] = set()
"""Process groups that were begun for this process and end with it."""
copies: set[str] = set()
"""Folders with copies of what is read, which a stop removes."""
_begun = threading.Event()
_ending = threading.Lock()


def is_command() -> bool:
    """Whether this process is ``gnrs`` or ``python -m gnrs_ppl``, told before anything of either has run; a
    worker of theirs is not.
    """
    program, given = (getattr(sys, "argv", None) or [""])[0], sys.orig_argv
    if program == "-m":  # what stands there while the module is looked for
        return "-m" in given and given[given.index("-m") + 1] == "gnrs_ppl"
    return os.path.basename(program) == "gnrs" and program in given


def begin() -> None:
    """From now on SIGINT and SIGTERM end this process; one that whoever started it set to be ignored stays
    ignored.
    """
    if _begun.is_set() or threading.current_thread() is not threading.main_thread():
        return
    _begun.set()
    _fill_streams()
    heard, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    for number in ENDINGS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    threading.Thread(target=_watch, args=(heard,), name="stops", daemon=True).start()
    if os.environ.pop(PARENT, None):
        held, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)  # for whoever reads standard input
        os.close(nothing)
        threading.Thread(target=_watch_parent, args=(held,), name="parent", daemon=True).start()


def finish() -> None:
    """The program has come to its own end: a stop that comes now is too late, one that came before goes
    first.
    """
    if _begun.is_set():
        _ending.acquire()


def wait_if_stopping() -> None:
    """Where a stop has begun, wait for it: an error from then on may be of its making, and nobody's news."""
    if _begun.is_set():
        with _ending:
            pass


def _fill_streams() -> None:
    """Closed standard streams lead nowhere: else the next file that is opened takes their number, and their
    words.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (for as long as the process lasts)


def _watch(heard: int) -> None:
    while True:
        number = os.read(heard, 1)[0]
        if number in ENDINGS:
            _end(*ENDINGS[signal.Signals(number)])


def _watch_parent(pipe: int) -> None:
    """Once the parent is gone, however it ended, end this process and those of its group."""
    while os.read(pipe, 1):
        pass
    leads = os.getpgrp() == os.getpid()
    (os.killpg if leads else os.kill)(os.getpid(), signal.SIGTERM)


def _end(line: str, code: int) -> None:
    _ending.acquire()
    if not writing.acquire(timeout=PATIENCE):
        for folder in leftovers.copy():
            shutil.rmtree(folder, ignore_errors=True)
    for group in groups.copy():
        with suppress(OSError):
            os.killpg(group, signal.SIGTERM)
    # workers end with this process as soon as they listen; those that still load do not yet
    with suppress(Exception):
        for worker in sys.modules["multiprocessing"].active_children():
            worker.kill()
    for folder in copies.copy():
        end = time.monotonic() + PATIENCE
        while os.path.exists(folder) and time.monotonic() < end:  # whoever writes there may write on
            shutil.rmtree(folder, ignore_errors=True)
    # past sys.stderr, which may be in use
    text = f"gnrs: {line}\n"
    try:
        # a spinner's line goes, and the cursor it hid comes back
        os.write(2, (f"\r\x1b[2K\x1b[?25h{text}" if os.isatty(2) else text).encode())
    finally:
        os._exit(code)
