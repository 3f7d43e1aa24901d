"""``gnrs ask`` as a person meets it: a terminal that is asked until the rule is found, answers in a file that a
second run and a draft go on from, the error rate, and why it stops."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import small
import yaml

from gnrs_ppl.cli import run
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import Structure


class Terminal(io.StringIO):
    """Text that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Desk:
    """Somebody at a terminal, with the context of ``small`` and a folder of their own."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.context, self.patch, self.answers = str(folder / "context.json"), patch, folder / "answers.yaml"

    def types(self, keys: str, *options: str) -> tuple[int, str]:
        """Exit code and screen of ``gnrs ask`` where these lines are typed."""
        screen = Terminal()
        with self.patch.context() as patch:
            patch.setattr(sys, "stdin", Terminal(keys))
            patch.setattr(sys, "stdout", screen)
            code = run(["ask", self.context, "--answers", str(self.answers), *options])
        return code, screen.getvalue()

    def file(self) -> dict:
        """The answers as they stand in the file."""
        return yaml.safe_load(self.answers.read_text())


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def desk(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    small.write(tmp_path)
    monkeypatch.setenv(
        "GNRS_CACHE_DIR", str(cache)
    )  # verdicts of the one log are remembered from test to test
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    return Desk(tmp_path, monkeypatch)


def machine(desk: Desk, capsys: pytest.CaptureFixture[str], *options: str) -> dict:
    """The JSON of ``gnrs ask`` with the answers of the file."""
    assert run(["ask", desk.context, "--answers", str(desk.answers), *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_terminal_is_asked_until_the_rule_is_found_and_each_answer_is_kept(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    code, screen = desk.types("1\n" * 20)  # of a part what is most probable, of a case nothing but nonsense
    assert code == 0
    first = desk.file()["answers"]
    assert screen.count("In the sentence, ") >= len(first) >= 1
    assert all(set(answer) == {"part", "answer"} for answer in first)  # 1 is no answer of a case
    if "Was the rule broken here" in screen:
        assert "Please answer b broken, k kept, s not spoken of, ? do not know, q stop." in screen
    code, screen = desk.types("k\nb\ns\n" + "?\n" * 20)
    assert code == 0
    assert desk.file()["answers"][: len(first)] == first  # a second run goes on where the first stopped
    said = machine(desk, capsys)
    assert said["answers"] == desk.file()["answers"]
    assert said["stopped"] in ("settled", "nothing tells")
    assert said["question"] is None
    assert ("Settled: the first rule holds" in screen) == (said["stopped"] == "settled")
    assert ("Nothing left in this log can tell" in screen) == (said["stopped"] == "nothing tells")


@pytest.mark.parametrize("end", ["q\n", "QUIT\n", ""], ids=["q", "quit", "end of input"])
def test_who_stops_keeps_what_was_said_and_can_go_on(
    desk: Desk, capsys: pytest.CaptureFixture[str], end: str
) -> None:
    asked = machine(desk, capsys)["question"]
    answer = next(iter(asked["answers"]))
    code, screen = desk.types(f"perhaps\n{answer}\n{end}")  # a value may be typed as it is spelt
    assert code == 0
    assert "Please answer" in screen
    assert "Stopped: the first rule holds" in screen
    assert [given["answer"] for given in desk.file()["answers"]] == [answer]
    after = machine(desk, capsys)["question"]
    assert after is not None
    assert after["about"] != asked["about"]


def test_what_is_not_known_says_nothing_and_is_not_asked_again(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    before = machine(desk, capsys)
    desk.types("?\nq\n")
    after = machine(desk, capsys)
    assert desk.file()["answers"][0]["answer"] == "unknown"
    assert after["rules"] == before["rules"]
    assert after["question"]["about"] != before["question"]["about"]


def test_the_error_rate_is_kept_with_the_answers_and_weighs_them(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = machine(desk, capsys)["question"]
    answer = f"{asked['about']}={next(iter(asked['answers']))}"
    sure = machine(desk, capsys, "--answer", answer, "--error", "0.01")
    assert desk.file()["error"] == 0.01
    assert machine(desk, capsys)["rules"] == sure["rules"]  # the file's rate holds where none is given
    unsure = machine(desk, capsys, "--error", "0.4")
    assert (sure["error"], unsure["error"]) == (0.01, 0.4)
    assert sure["rules"][0]["probability"] > unsure["rules"][0]["probability"]
    for rate in ("0", "0.5", "often"):
        assert run(["ask", desk.context, "--error", rate]) == 2
        capsys.readouterr()


def test_settled_and_nothing_tells_are_said_as_what_they_are(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    pinned = ["--fix", "norm=N1", "--fix", "norm.deadline=PT15M", "--fix", "trigger=T1", "--fix", "trigger.window=PT30M"]  # fmt: skip
    settled = machine(desk, capsys, *pinned, "--fix", "scope=S1", "--fix", "evidence=E1")
    assert (settled["stopped"], settled["groups"], settled["question"]) == ("settled", 1, None)
    for case in ("s1", "s2", "s3", "s4"):
        machine(desk, capsys, "--answer", f"{case}=unknown")
    left = machine(desk, capsys)  # no case is left to ask about, and parts alone are no reason to go on
    assert (left["stopped"], left["question"]) == ("nothing tells", None)
    assert left["groups"] > 1
    _, screen = desk.types("")
    assert f"{left['groups']} rules remain" in screen
    assert "no case that was not asked splits them" in screen


def test_a_draft_replays_the_answers_and_chooses_the_rule_they_lead_to(
    desk: Desk, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = machine(
        desk, capsys, "--answer", "norm.deadline=PT1H", "--answer", "s2=broken", "--answer", "s1=kept"
    )
    drafted = ["draft", desk.context, "--kernel", "exact", "--answers", str(desk.answers), "--json"]
    assert run([*drafted, "--out", str(tmp_path / "rule")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["request"]["answers"] == {"error": said["error"], "answers": said["answers"]}
    assert told["certificate"]["method"] == "answers of people"
    rule = json.loads((tmp_path / "rule" / "rule.json").read_text())["rule"]
    asked = Structure.model_validate(rule | said["best"])
    assert canonical(Structure.model_validate(rule)) == canonical(asked)


@pytest.mark.slow
def test_a_real_terminal_is_asked(desk: Desk) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "gnrs_ppl", "ask", desk.context, "--answers", str(desk.answers)]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        os.write(ours, b"1\nq\n")
        screen = b""
        try:
            while chunk := os.read(ours, 4096):
                screen += chunk
        except OSError:  # the other end is closed
            pass
        os.close(ours)
    assert process.returncode == 0
    assert b"q stop: " in screen
    assert b"Stopped: the first rule holds" in screen
    assert len(desk.file()["answers"]) == 1
