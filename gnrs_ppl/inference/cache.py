"""What is compiled stays on disk, so that a second draft does not compile again: JAX's own cache, and whole
programs of the driver, which are found without being traced and lowered first.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import jax
from jax.experimental import serialize_executable
from jax.experimental.compilation_cache.compilation_cache import reset_cache
from jax.stages import Compiled, Lowered

from gnrs_ppl import models

DIGEST = hashlib.sha256().digest_size
MOST_KEPT = 2**28
"""Bytes of whole programs that stay; beyond them the longest unread go."""


def cache_folder() -> Path:
    """``$GNRS_CACHE_DIR``, else ours in the user's cache folder."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gnrs-ppl"
    return Path(os.environ.get("GNRS_CACHE_DIR", default))


def use_compilation_cache() -> None:
    """Keep compiled kernels in ``$GNRS_CACHE_DIR``, else in the user's cache folder; leaves a folder JAX
    already uses alone.
    """
    config: Any = jax.config
    if config.jax_compilation_cache_dir is not None:
        return
    config.update("jax_compilation_cache_dir", str(cache_folder()))
    config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def kept_program(
    lower: Callable[[], Lowered], devices: Sequence[jax.Device], made_of: Sequence[object]
) -> Compiled:
    """The compiled program from the folder of JAX's cache, else compiled and kept there; without that cache,
    and on anything but one process's processors, just compiled.

    Parameters
    ----------
    lower : callable
        Traces and lowers it.
    devices : sequence of Device
        Those it runs on.
    made_of : sequence
        What tells it from other programs of ours, by its ``repr``.
    """
    config: Any = jax.config
    folder = config.jax_compilation_cache_dir if config.jax_enable_compilation_cache else None
    if folder is None or devices[0].platform != "cpu" or jax.process_count() > 1:
        return lower().compile()
    file = Path(folder) / _name(devices, made_of)
    if (program := _read(file, devices)) is None:
        program = _compiled_anew(lower())
        _write(file, program)
    return program


def _name(devices: Sequence[jax.Device], made_of: Sequence[object]) -> str:
    """Stands for our code too, for JAX with its settings, and for the processor."""
    config: Any = jax.config
    settings = sorted((name, repr(value)) for name, value in config.values.items() if "cache" not in name)
    about = [*made_of, [device.id for device in devices], len(jax.devices()), settings]
    about += [config.jax_enable_x64, os.environ.get("XLA_FLAGS"), _code(), _processor()]
    return f"gnrs-{hashlib.sha256(repr(about).encode()).hexdigest()}"


@cache
def _code() -> str:
    """All that a program is traced from, and the versions of what compiles it."""
    found = hashlib.sha256(f"{jax.__version__} {version('jaxlib')}".encode())
    for folder in (Path(__file__).parent, Path(models.__file__).parent):
        for module in sorted(folder.glob("*.py")):
            found.update(module.read_bytes())
    return found.hexdigest()


def _processor() -> str:
    """What the processor can do, where the system says: unlike machines may share a home folder."""
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return ""


def _compiled_anew(lowered: Lowered) -> Compiled:
    """Past JAX's cache: a program that was read from there lacks its functions when it is written again."""
    config: Any = jax.config
    config.update("jax_enable_compilation_cache", False)
    reset_cache()
    try:
        return lowered.compile()
    finally:
        config.update("jax_enable_compilation_cache", True)
        reset_cache()


def _write(file: Path, program: Compiled) -> None:
    with suppress(Exception):  # a full disk, a program that cannot be written: it is compiled again
        content = pickle.dumps(serialize_executable.serialize(program))
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=file.parent, prefix=".gnrs-", delete=False) as written:  # mode 0600
            try:
                written.write(hashlib.sha256(content).digest() + content)
                written.close()
                os.replace(written.name, file)
            except BaseException:  # nobody would look for the half of it
                os.unlink(written.name)
                raise
        _drop_the_longest_unread(file.parent)


def _drop_the_longest_unread(folder: Path) -> None:
    """Each change of our code, of JAX or of a setting leaves programs that nothing asks for any more."""
    kept = sorted(((file.stat(), file) for file in folder.glob("gnrs-*")), key=lambda of: -of[0].st_mtime_ns)
    total = 0
    for about, file in kept:
        total += about.st_size
        if total > MOST_KEPT:
            file.unlink(missing_ok=True)


def _read(file: Path, devices: Sequence[jax.Device]) -> Compiled | None:
    """The program, unless there is none to trust: it is machine code, as JAX's own entries beside it are, so
    a file that another user owns or may write is not read.
    """
    with suppress(Exception):  # absent, cut short, of a library that has changed: it is compiled again
        with file.open("rb") as opened:
            about = os.fstat(opened.fileno())
            if hasattr(os, "geteuid") and (
                about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            ):
                return None
            whole = opened.read()
        os.utime(file)  # read just now
        digest, content = whole[:DIGEST], whole[DIGEST:]
        if hashlib.sha256(content).digest() == digest:
            code, takes, gives = pickle.loads(content)  # no more than the machine code can do
            program: Compiled = serialize_executable.deserialize_and_load(
                code, takes, gives, execution_devices=devices
            )
            return program
    return None
