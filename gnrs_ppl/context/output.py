"""Writing files: refused before any work where the place will not do, put in place all or nothing, one writer
at a time.

Files are written into a folder beside their places and renamed. Several that belong together have a manifest
with their SHA-256: it says "half" while they are put in place and "whole" afterwards, so that what a kill
leaves half done is refused by its readers.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from gnrs_ppl import stops
from gnrs_ppl.context.limits import DRAWS_BYTES
from gnrs_ppl.errors import InputError

MANIFEST = "gnrs-manifest.json"
STAGING = ".gnrs-"
"""How the folders begin in which files wait; what a kill leaves of them goes with the next writing after
``STALE`` seconds."""
STALE = 3600.0
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ELSEWHERE = "name another place to write to"
_FOLDER = "name a folder you may write to"
_held: set[tuple[int, int]] = set()


# Before any work


def check_file(path: Path) -> None:
    """Refuse a place where no file may be written.

    Raises
    ------
    InputError
        A folder, a link, a device, a pipe or a socket stands there; its folder is none or may not be written.
    """
    _check_folder(path.parent)
    _check_target(path)


def check_folder(folder: Path, names: Iterable[str] = ()) -> None:
    """Refuse a place where no folder of ours may be written.

    Parameters
    ----------
    folder : Path
    names : iterable of str, optional
        The files to be written there. A folder with files in it has to have a manifest, and that has to name
        those of them that would be replaced. Without names whatever lies there may stay.

    Raises
    ------
    InputError
        No folder, a link, not writable, or files in it that are not ours.
    """
    if folder.is_symlink():
        raise InputError("is a link", "name the folder itself", source=str(folder))
    _check_folder(folder)
    if not names or not folder.is_dir():
        return
    standing = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith(STAGING))
    if MANIFEST in standing:
        written = _manifest(folder)["files"]
        standing = [name for name in names if name in standing and name not in written]
    if standing:
        raise InputError(
            f"holds {standing[0]!r}, which was not written here", "name a new folder", source=str(folder)
        )


def check_apart(written: Iterable[Path], read: Iterable[Path]) -> None:
    """Refuse to write over what is read.

    Raises
    ------
    InputError
        A file of ``written`` is one of ``read``, by whatever name.
    """
    standing = [path for path in read if path.exists()]
    for target in written:
        if target.exists() and any(target.samefile(path) for path in standing):
            raise InputError("is read by this command", _ELSEWHERE, source=str(target))


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, not a folder", _FOLDER, source=str(folder))
    above = next((place for place in (folder, *folder.parents) if place.exists()), None)
    if above is None or not above.is_dir():
        raise _unwritten(folder, NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)))
    if not os.access(above, os.W_OK | os.X_OK):
        raise _unwritten(folder, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def _check_target(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return  # nothing there, or writing says why
    if stat.S_ISDIR(mode):
        raise InputError("is a folder, not a file", _ELSEWHERE, source=str(path))
    if stat.S_ISLNK(mode):
        raise InputError("is a link", "name the file itself", source=str(path))
    if not stat.S_ISREG(mode):
        raise InputError("is a device, pipe or socket, not a file", _ELSEWHERE, source=str(path))


def _unwritten(folder: Path, error: OSError) -> InputError:
    remedy = "make room, or name another place" if error.errno in FULL else _FOLDER
    return InputError(f"cannot be written ({error.strerror})", remedy, source=str(folder))


# Writing


def write_all(folder: Path, files: Sequence[tuple[str, bytes]], *, manifest: bool = False) -> list[Path]:
    """Write every file into ``folder`` or none; one that fails half way puts the old ones back.

    Parameters
    ----------
    folder : Path
        Made where it does not stand.
    files : sequence of (name, content)
    manifest : bool
        Whether to write a manifest beside them, which readers ask (:func:`as_written`): then a kill half way
        is found out, and of two writers at the same time one is refused. Without it a kill may leave some
        files old and some new.

    Returns
    -------
    list of Path
        Where the files lie, in their order.

    Raises
    ------
    InputError
        The folder cannot be made or written, something that is no file stands where a file should go, another
        process is writing there.
    """
    targets = [folder / name for name, _ in files]
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, not a folder", _FOLDER, source=str(folder))
    for target in [*targets, *([folder / MANIFEST] if manifest else [])]:
        _check_target(target)
    try:
        with (
            stops.writing,
            _made(folder),
            locked(folder) if manifest else nullcontext(),
            staging_folder(folder) as staging,
        ):
            for name, content in files:
                (staging / name).write_bytes(content)
            if manifest:
                _write_manifests(folder, staging, files)
            stops.leftovers.discard(str(staging))  # from here on it holds the old files
            _put(folder, staging, [name for name, _ in files], manifest)
    except OSError as error:
        raise _unwritten(folder, error) from None
    return targets


def _write_manifests(folder: Path, staging: Path, files: Sequence[tuple[str, bytes]]) -> None:
    """What stands there during and after: other files that a manifest speaks of keep their lines."""
    standing = _manifest(folder)["files"] if (folder / MANIFEST).is_file() else {}
    new = {name: hashlib.sha256(content).hexdigest() for name, content in files}
    for place, state in (("half", "half"), (MANIFEST, "whole")):
        said = {"state": state, "files": standing | new, "writing": [] if state == "whole" else sorted(new)}
        (staging / place).write_bytes((json.dumps(said, indent=2) + "\n").encode())


def _put(folder: Path, staging: Path, names: Sequence[str], manifest: bool) -> None:
    """Rename into place. A staged file that is gone has been put in place, whatever interrupted."""
    kept = staging / "kept"
    kept.mkdir()
    steps = [(name, name) for name in names]
    if manifest:
        steps = [("half", MANIFEST), *steps, (MANIFEST, MANIFEST)]
    for name in {name for _, name in steps if len(steps) > 1 and (folder / name).exists()}:
        try:
            os.link(folder / name, kept / name)
        except OSError:  # not every file system has hard links
            shutil.copy2(folder / name, kept / name)
    try:
        for staged, name in steps:
            os.replace(staging / staged, folder / name)
    except BaseException:
        done = [name for staged, name in steps if not (staging / staged).exists()]
        if len(done) < len(steps):
            for name in reversed(done):
                if (kept / name).exists():
                    os.replace(kept / name, folder / name)
                else:
                    (folder / name).unlink()
        raise


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """A folder, with those above it; what is empty afterwards and was not there before goes."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritten(folder, error) from None
    try:
        yield
    finally:
        with suppress(OSError):
            for place in missing:
                place.rmdir()


@contextmanager
def staging_folder(folder: Path) -> Iterator[Path]:
    """A folder inside ``folder`` where files wait; it goes afterwards, and what kills left of such goes
    first.
    """
    for entry in folder.glob(f"{STAGING}*"):
        with suppress(OSError):
            if entry.is_dir() and not entry.is_symlink() and entry.stat().st_mtime < time.time() - STALE:
                shutil.rmtree(entry)
    staging = tempfile.mkdtemp(dir=folder, prefix=STAGING)
    stops.leftovers.add(staging)
    try:
        yield Path(staging)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        stops.leftovers.discard(staging)


@contextmanager
def folder_of_copies(prefix: str) -> Iterator[Path]:
    """A folder for copies of records, which nobody is to find after the command, stopped or not."""
    with tempfile.TemporaryDirectory(prefix=prefix) as folder:
        stops.copies.add(folder)
        try:
            yield Path(folder)
        finally:
            stops.copies.discard(folder)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder and keep other processes from writing there; what this process holds already is held on.

    The lock is the system's and ends with the process; a file system without such locks gives none.

    Raises
    ------
    InputError
        Another process holds it, or the folder cannot be made.
    """
    with _made(folder):
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise _unwritten(folder, error) from None
        try:
            with _flocked(handle, folder):
                yield
        finally:
            os.close(handle)


@contextmanager
def _flocked(handle: int, folder: Path) -> Iterator[None]:
    place = (os.fstat(handle).st_dev, os.fstat(handle).st_ino)
    if place in _held:
        yield
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            "another run is writing there",
            "wait until it has ended, or name another folder with --out",
            source=str(folder),
        ) from None
    except OSError:  # this file system has no locks
        pass
    _held.add(place)
    try:
        yield
    finally:
        _held.discard(place)


# Reading


def as_written(path: Path, digest: str = "") -> bool | None:
    """Whether a file still is what was written there; None where no manifest beside it speaks of it.

    Parameters
    ----------
    path : Path
    digest : str, optional
        SHA-256 of the file, where it is known.

    Raises
    ------
    InputError
        Its set of files is half written: a run was stopped while it put them in place, or is doing so now. Or
        it cannot be read.
    """
    if not (path.parent / MANIFEST).is_file():
        return None
    said = _manifest(path.parent)
    if path.name in said["writing"]:
        raise InputError(
            "is half written: the run that wrote it was stopped",
            "write the folder again",
            source=str(path.parent),
        )
    if path.name not in said["files"]:
        return None
    from gnrs_ppl.context.files import digest_of  # with all it takes to read contexts

    return bool((digest or digest_of(path, DRAWS_BYTES)) == said["files"][path.name])


def check_written(path: Path, remedy: str, digest: str = "") -> None:
    """Refuse a file that nobody edits and that is not as it was written; as for :func:`as_written`.

    Raises
    ------
    InputError
    """
    if as_written(path, digest) is False:
        raise InputError(
            "is not as it was written, so it is damaged or was changed", remedy, source=str(path)
        )


def _manifest(folder: Path) -> dict[str, Any]:
    from gnrs_ppl.context.files import parse_json, read_bytes  # with all it takes to read contexts

    path = folder / MANIFEST
    with suppress(InputError, KeyError, TypeError):
        said = parse_json(read_bytes(path), str(path))
        if isinstance(said["files"], dict) and isinstance(said["writing"], list):
            return dict(said)
    raise InputError(
        "is no manifest of files written here", "delete it, or name another folder", source=str(path)
    )
