"""What is written and how the program ends: places refused before any work, folders whole or known to be
half, one writer at a time, one line and a code of its own for whatever goes wrong.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from small import CONTEXT, LOG, RULE, changed, write
from tiers import few, tier

from gnrs_ppl.cli import run
from gnrs_ppl.context.output import MANIFEST, as_written, write_all
from gnrs_ppl.errors import InputError

WRITERS = Path(__file__).with_name("writers.py")
FILES = [("rule.txt", b"new"), ("rule.json", b"{}"), ("draft.json", b"{}")]


def trials(work: str, folder: Path, *numbers: int) -> Any:
    done = subprocess.run(
        [sys.executable, WRITERS, work, folder, *map(str, numbers)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def never(*_: Any, **__: Any) -> None:
    raise AssertionError("work was done before the place was refused")


# ---- places


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def link(path: Path) -> None:
    path.with_name("real").write_text("kept")
    path.symlink_to(path.with_name("real"))


def link_to_folder(path: Path) -> None:
    path.with_name("real").mkdir()
    path.symlink_to(path.with_name("real"))


def foreign(path: Path) -> None:
    path.mkdir()
    (path / "rule.json").write_text("by hand")


def ours_and_more(path: Path) -> None:
    write_all(path, [("weights.json", b"{}"), ("posterior.json", b"{}")], manifest=True)
    (path / "rule.json").write_text("by hand")
    (path / "trace.png").write_text("by hand")


PLACES: list[tuple[Callable[[Path], Any], tuple[str, ...], str]] = [
    (fifo, ("sample", "draft", "fit", "plots", "experiment"), "is a"),
    (listening, ("sample", "draft", "fit"), "is a"),
    (link, ("sample", "draft", "fit"), "is a link"),
    (link_to_folder, ("sample", "draft", "plots", "experiment"), "is a link"),
    (Path.mkdir, ("sample", "fit"), "is a folder, not a file"),
    (foreign, ("draft", "plots"), "holds 'rule.json', which was not written here; name a new folder"),
    (ours_and_more, ("draft",), "holds 'rule.json', which was not written here; name a new folder"),
    (ours_and_more, ("plots",), "holds 'trace.png', which was not written here; name a new folder"),
]
VERBS = {
    "sample": ("gnrs_ppl.benchmarks.load_context", "sample {}/context.json --out"),
    "draft": ("gnrs_ppl.benchmarks.load_context", "draft {}/context.json --out"),
    "fit": ("gnrs_ppl.calibration.fit.fit", "fit --out"),
    "plots": ("gnrs_ppl.inference.trace.load", "diagnose {}/x.nc --plots"),
    "experiment": ("gnrs_ppl.experiments.command.run_named", "experiment main --out"),
}


@pytest.mark.parametrize(
    ("made", "verb", "line"), [(made, verb, line) for made, verbs, line in PLACES for verb in verbs]
)
def test_other_places_are_refused_before_any_work(
    made: Callable[[Path], Any],
    verb: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tmp_path)
    out = tmp_path / "o"
    made(out)
    before, kind = content(tmp_path), (out.lstat().st_ino, out.lstat().st_mode)
    work, arguments = VERBS[verb]
    import_module("gnrs_ppl.draft")  # imported later, it would keep what stands here instead for good
    monkeypatch.setattr(work, never)
    assert run([*arguments.replace("{}", str(tmp_path)).split(), str(out)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"gnrs: {out}: {line}")
    assert said.count("\n") == 1
    assert (content(tmp_path), (out.lstat().st_ino, out.lstat().st_mode)) == (before, kind)


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full", "/dev/zero"])
def test_devices_are_refused(device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = os.lstat(device)
    for arguments in (["sample", str(write(tmp_path)), "--out", device], ["fit", "--out", device]):
        assert run(arguments) == 2
        assert (
            capsys.readouterr().err
            == f"gnrs: {device}: is a device, pipe or socket, not a file; name another place to write to\n"
        )
    with pytest.raises(InputError, match="is a device"):
        write_all(Path("/dev"), [(Path(device).name, b"")])
    assert (os.lstat(device).st_ino, os.lstat(device).st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.parametrize("out", ["log.csv", "context.json", "linked.csv"])
def test_what_is_read_is_not_written_over(
    out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = write(tmp_path)
    os.link(tmp_path / "log.csv", tmp_path / "linked.csv")
    before = content(tmp_path)
    assert run(["sample", str(context), "--out", str(tmp_path / out)]) == 2
    assert (
        capsys.readouterr().err
        == f"gnrs: {tmp_path / out}: is read by this command; name another place to write to\n"
    )
    assert content(tmp_path) == before


def test_weights_do_not_take_the_name_of_their_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fit", "--out", str(tmp_path / "posterior.json")]) == 2
    assert "is the name of the draws that go beside the weights; choose another" in capsys.readouterr().err


def test_an_experiment_does_not_settle_among_other_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main").mkdir()
    (tmp_path / "main" / "main.c").write_text("int main")
    assert run(["experiment", "main", "--out", str(tmp_path)]) == 2
    assert (
        f"{tmp_path}/main: holds 'main.c', which no experiment wrote; name a new folder with --out"
        in capsys.readouterr().err
    )
    assert content(tmp_path) == {"main/main.c": b"int main"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    context, out = write(tmp_path), tmp_path / "locked"
    out.mkdir(0o500)
    assert run(["draft", str(context), "--out", str(out / "x")]) == 2
    assert (
        capsys.readouterr().err
        == f"gnrs: {out}/x: cannot be written (Permission denied); name a folder you may write to\n"
    )


# ---- all or nothing


def test_a_kill_leaves_a_folder_whole_or_known_to_be_half(tmp_path: Path) -> None:
    found = trials("killed", tmp_path, 60)
    assert len(found) == 60
    assert "mixed" not in found
    assert sum(isinstance(state, int) for state in found) >= 5, "some were whole"


def test_a_kill_at_each_renaming(tmp_path: Path) -> None:
    found = trials("killed_at", tmp_path)
    assert found[0] == [1, 3], "nothing was renamed yet: the old files"
    assert found[1:-1] == [["half", 3]] * (len(found) - 2), "refused until it is written again"
    assert found[-1] == [2, 3]


def test_of_two_writers_one_wins_whole_and_the_other_says_so(tmp_path: Path) -> None:
    found = trials("raced", tmp_path, 40)
    for turn, (codes, state) in enumerate(found):
        assert codes in ([0, 2], [2, 0], [0, 0])
        assert state in [2 * turn + k for k in (0, 1) if codes[k] == 0]
        assert turn % 2 == 0 or (codes, state) == ([0, 2], 2 * turn), (
            "the second came while the first was half way"
        )


def test_what_fails_half_way_puts_the_old_files_back(tmp_path: Path) -> None:
    """The last file cannot be replaced: it is immutable where the system lets us, else its folder is full."""
    write_all(tmp_path, [(name, b"old") for name, _ in FILES], manifest=True)
    before, last = content(tmp_path), tmp_path / FILES[-1][0]
    if (
        shutil.which("chattr") is None
        or subprocess.run(["chattr", "+i", last], capture_output=True, check=False).returncode
    ):
        pytest.skip("no file can be made immutable here")
    try:
        for manifest in (True, False):
            with pytest.raises(InputError, match=r"cannot be written \(Operation not permitted\)"):
                write_all(tmp_path, FILES, manifest=manifest)
            assert content(tmp_path) == before
            with pytest.raises(InputError, match=r"cannot be written \(Operation not permitted\)"):
                write_all(tmp_path, [("first.txt", b"new"), *FILES], manifest=manifest)
            assert content(tmp_path) == before
    finally:
        subprocess.run(["chattr", "-i", last], check=True)
    write_all(tmp_path, FILES, manifest=True)
    assert all(as_written(tmp_path / name) for name, _ in FILES)


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    standing = resource.getrlimit(resource.RLIMIT_FSIZE)
    write_all(tmp_path / "old", FILES, manifest=True)
    before = content(tmp_path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, standing[1]))
    try:
        for folder in ("old", "new/er"):
            with pytest.raises(InputError, match=r"cannot be written \(File too large\); make room"):
                write_all(tmp_path / folder, [("rule.txt", b"x"), ("rule.json", b"x" * 2000)], manifest=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, standing)
    assert content(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_leftovers_of_kills_go_when_they_are_old(tmp_path: Path) -> None:
    for name, age in ((".gnrs-old", 7200), (".gnrs-new", 60)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("x")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    write_all(tmp_path, FILES)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".gnrs-new",
        *sorted(name for name, _ in FILES),
    ]


# ---- readers


@pytest.fixture
def drafted(tmp_path: Path) -> Path:
    """A rule with its manifest, as a draft leaves it."""
    write(tmp_path)
    out = tmp_path / "out"
    write_all(out, [("rule.json", json.dumps(RULE).encode()), ("rule.txt", b"text")], manifest=True)
    return out


def audited(rule: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = run(["audit", str(rule.parent.parent / "context.json"), "--rule", str(rule), "--json"])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_rule_edited_by_hand_is_audited_with_a_finding(
    drafted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = audited(drafted / "rule.json", capsys)
    plain = json.loads(out)
    assert (code, [f for f in plain["findings"] if "changed" in f]) == (1, [])
    (drafted / "rule.json").write_text(json.dumps(RULE) + "\n")
    code, out, _ = audited(drafted / "rule.json", capsys)
    assert code == 1
    assert json.loads(out) == plain | {
        "findings": ["rule.json was changed after it was drafted", *plain["findings"]]
    }
    (drafted / MANIFEST).unlink()
    assert json.loads(audited(drafted / "rule.json", capsys)[1]) == plain


DOUBLED = b'{"files": {}, "writing": ["rule.json"], "writing": []}'


@pytest.mark.parametrize("said", [b"", b"{", b"[]", b'{"files": 1}', b"\xff", b"[" * 100_000, DOUBLED])
def test_a_manifest_that_is_none_is_refused(
    said: bytes, drafted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (drafted / MANIFEST).write_bytes(said)
    code, out, error = audited(drafted / "rule.json", capsys)
    assert (code, out) == (2, "")
    assert (
        error
        == f"gnrs: {drafted / MANIFEST}: is no manifest of files written here; delete it, or name another folder\n"
    )


def test_a_pipe_in_the_place_of_a_rule_is_not_opened(
    drafted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (drafted / "rule.json").unlink()
    os.mkfifo(drafted / "rule.json")
    code, out, error = audited(drafted / "rule.json", capsys)
    assert (code, out) == (2, "")
    assert error.startswith(f"gnrs: {drafted / 'rule.json'}: is no regular file but a device, pipe or socket")


@pytest.mark.parametrize("name", ["rule.json", "x.nc", "weights.json"])
def test_readers_refuse_what_is_half_written(
    name: str, drafted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (drafted / MANIFEST).write_text(json.dumps({"state": "half", "files": {name: ""}, "writing": [name]}))
    (drafted / name).touch()
    context = str(drafted.parent / "context.json")
    arguments = {
        "rule.json": ["audit", context, "--rule", str(drafted / name)],
        "x.nc": ["diagnose", str(drafted / name)],
        "weights.json": ["draft", context, "--weights", str(drafted / name)],
    }
    assert run(arguments[name]) == 2
    line = f"gnrs: {drafted}: is half written: the run that wrote it was stopped; write the folder again\n"
    assert capsys.readouterr() == ("", line)


# ---- what nobody expected


def fails(error: BaseException) -> Callable[..., None]:
    def asked_for(*_: Any, **__: Any) -> None:
        secret = os.environ["OPENAI_API_KEY"]
        assert secret
        raise error

    return asked_for


SECRET = 'sk-"märked"\\and/long'
ERRORS = [
    ValueError(f"{SECRET} {SECRET!r}"),
    MemoryError(),
    RecursionError("deep"),
    EOFError("cut"),
    OSError(5, "I/O"),
    KeyError("\x1b[2J\n"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_unexpected_error_is_70_with_a_report(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(import_module("gnrs_ppl.audit.files"), "asked_for", fails(error))
    assert run(["audit", "--rule", "x"]) == 70
    said = capsys.readouterr()
    (report,) = tmp_path.iterdir()
    line = said.err.strip("\n")  # Typer ends the line of an EOFError
    assert said.out == ""
    assert line.startswith(f"gnrs: unexpected {type(error).__name__}")
    assert line.endswith(f"; the report is {report}")
    assert line.isprintable()
    text = report.read_text()
    assert "Traceback" in text
    assert "in asked_for" in text
    assert report.stat().st_mode & 0o777 == 0o600
    for form in (SECRET, repr(SECRET)[1:-1], json.dumps(SECRET)[1:-1], "märked"):
        assert form not in text + line


def test_without_a_folder_for_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    monkeypatch.setattr(import_module("gnrs_ppl.audit.files"), "asked_for", fails(ValueError("x")))
    assert run(["audit", "--rule", "x"]) == 70
    assert (
        capsys.readouterr().err
        == "gnrs: unexpected ValueError: x; this is a fault of the program; no report could be written\n"
    )


# ---- streams and surroundings


def gnrs(
    *arguments: object, under: str = "", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """The command as a shell starts it, with redirections."""
    command = f'exec "$0" -m gnrs_ppl "$@" {under}'
    return subprocess.run(
        ["sh", "-c", command, sys.executable, *map(str, arguments)],
        capture_output=True,
        check=False,
        cwd=cwd,
        env=os.environ | environment,
    )


@pytest.fixture
def audit(tmp_path: Path) -> list[object]:
    """An audit that finds violations, by somebody whose name no ASCII has."""
    log = LOG.replace("bob", "Zoé😀")
    return [
        "audit",
        write(tmp_path, changed(CONTEXT, ("goal.intent", "–")), log),
        "--rule",
        tmp_path / "rule.json",
    ]


@pytest.mark.parametrize("form", few(["--limit=3", "--json"], 1))
def test_a_full_standard_output(form: str, audit: list[object]) -> None:
    done = gnrs(*audit, form, under=">/dev/full")
    assert done.returncode == 2
    assert (
        done.stderr
        == b"gnrs: output: cannot be written (No space left on device); make room, then run it again\n"
    )


def test_closed_standard_output(audit: list[object]) -> None:
    done = gnrs(*audit, under=">&-")
    assert (done.returncode, done.stderr) == (
        2,
        b"gnrs: standard output: is closed; direct it to a file or /dev/null\n",
    )


def test_closed_standard_error(audit: list[object]) -> None:
    done = gnrs(*audit, "--json", under="2>&- <&-")
    assert done.returncode == 1
    assert json.loads(done.stdout)["headline"]
    done = gnrs("audit", "--rule", "none.json", under="2>&-")
    assert (done.returncode, done.stdout) == (2, b""), "no complaint goes astray"


def test_a_reader_that_goes_away_is_no_violation(audit: list[object]) -> None:
    for form in tier(("--json",), ("--limit=3", "--json")):
        reader, writer = os.pipe()
        os.close(reader)
        with subprocess.Popen(
            [sys.executable, "-m", "gnrs_ppl", *map(str, audit), form], stdout=writer, stderr=subprocess.PIPE
        ) as child:
            os.close(writer)
            assert child.communicate()[1] == b""
        assert child.returncode == 141


def test_an_output_that_knows_only_ascii(audit: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    narrow = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    for form in tier(("--json",), ("--limit=3", "--json")):
        done = gnrs(*audit, form, **narrow)
        assert (done.returncode, done.stderr) == (1, b"")
        assert done.stdout.isascii()
    assert run([*map(str, audit), "--json"]) == 1
    wide = capsys.readouterr().out
    assert json.loads(done.stdout) == json.loads(wide)
    assert "Zoé😀" in wide


def test_a_current_folder_that_is_gone(audit: list[object], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = tmp_path / "gnrs"  # with -c Python itself looks for modules in that folder, and 3.13 fails
    script.write_text("from gnrs_ppl.cli import main\nmain()\n")
    command = f'cd {gone}; rmdir {gone}; exec "$0" "$@"'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, script, *map(str, audit)],
        capture_output=True,
        text=True,
        check=False,
    )
    line = (
        "gnrs: the current folder: cannot be found (No such file or directory); change to one that exists\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


def test_a_folder_for_temporary_files_that_is_not_there(audit: list[object]) -> None:
    done = gnrs(*audit, "--json", TMPDIR="none")
    assert (done.returncode, done.stderr) == (1, b"")


def test_the_codes_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for code in ("70 an unexpected error", "130 interrupted", "141 nobody read on", "143 terminated"):
        assert code in said


def test_signals_are_left_alone_in_a_library() -> None:
    probe = "import signal, gnrs_ppl; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler; assert signal.set_wakeup_fd(-1) == -1"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
