"""The pages of ``gnrs serve`` up to the goal: import, correct, write a goal; two tabs; hostile names and values."""

from __future__ import annotations

import asyncio
import io
import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnrs_ppl.context.load import load_context
from gnrs_ppl.serve import reader
from tests.served import Browser, context, hidden, served

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
HOSTILE = "<script>alert(1)</script>"
TURNED = "\u202egnp.exe"
SENTENCE = "After the receipt of the invoice, the invoice must be paid."
PLAIN = "Once an invoice has been posted, the budget holder must approve the invoice."


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with served(tmp_path) as opened:
        yield opened


def test_from_a_log_to_a_goal_with_forms_alone(browser: Browser, tmp_path: Path) -> None:
    with (Path(__file__).parent.parent / "examples" / "invoices" / "events.csv").open("rb") as log:
        chosen = browser.post("/import/upload", {}, files={"file": ("events.csv", log)})
    assert chosen.url.path == "/import"
    form = {"sha": hidden(chosen, "sha"), "log": hidden(chosen, "log"), "out": "mine"}
    begun = browser.post("/import/run", form)
    assert "gnrs import events.csv --out mine" in begun.text
    job = browser.finished(browser.site.jobs.find("1"))
    assert job.state == "done", job.line
    guessed = browser.get(job.then)
    assert re.search(
        r'id="is-activity">what was done.*?<td class="n" data-head="confidence">59%</td>',
        guessed.text,
        re.DOTALL,
    )

    corrected = {"sha": hidden(guessed, "sha"), "context": "mine/context.yaml", "log": "events.csv"}
    browser.post("/import/again", corrected | {"column-value": "none", "column-role": "is:role"})
    again = browser.finished(browser.site.jobs.find("2"))
    assert again.arguments == ("import", "events.csv", "--out", "mine", "--update", "--column", "value=")
    assert again.state == "done", again.line
    assert "value" not in load_context(tmp_path / "mine" / "context.yaml").records.columns

    page = browser.get("/goal?context=mine/context.yaml")
    form = {"sha": hidden(page, "sha"), "context": "mine/context.yaml", "sentence": SENTENCE}
    bound = browser.post("/goal/answer", form)
    assert "Nobody is named who is bound." in bound.text
    form |= {"asked": hidden(bound, "asked")}
    timed = browser.post("/goal/answer", form | {"chosen": "1"})
    assert "The sentence states no time." in timed.text
    form |= {"answer": [hidden(timed, "answer")]}
    whole = browser.post("/goal/answer", form | {"own": "P9D"})
    assert "Write it into the context" in whole.text
    form["answer"] = re.findall(r'name="answer" value="([^"]*)"', whole.text)
    saved = browser.post("/goal/answer", form | {"save": "yes"})
    assert saved.url.path == "/goal"
    goal = load_context(tmp_path / "mine" / "context.yaml").goal
    assert goal.intent == SENTENCE.replace(".", ", within nine days.")
    assert goal.roles == ("accounts_clerk",)

    home = browser.get("/").text
    assert "gnrs goal new mine/context.yaml" in home
    archive = zipfile.ZipFile(io.BytesIO(browser.get("/download/all.zip").content))
    assert archive.testzip() is None
    assert archive.read("mine/context.yaml") == (tmp_path / "mine" / "context.yaml").read_bytes()
    assert set(archive.namelist()) == {entry.name for entry in browser.site.files.entries()}


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A folder with the example, whose reader is begun once."""
    folder = tmp_path_factory.mktemp("served")
    context(folder)
    with served(folder) as opened:
        yield opened


def test_a_sentence_is_read_as_it_is_typed(reading: Browser) -> None:
    browser, form = reading, {"context": "c/context.yaml", "tab": "1"}
    part = browser.post("/goal/read", form | {"sentence": PLAIN.replace(".", " frobnicated.")})
    assert "<html" not in part.text
    assert re.search(r"<mark>[^<]*posted[^<]*</mark><sup>opener</sup>", part.text)
    assert '<mark class="unread">frobnicated</mark>' in part.text
    assert "must approve the invoice after each posting of the invoice" in part.text
    assert "PostInvoice" not in part.text
    assert browser.post("/goal/read", form | {"sentence": " "}).status_code == 204
    long = browser.post("/goal/read", form | {"sentence": "must " * 10_000})
    assert (long.status_code, "2,000 characters" in long.text) == (400, True)
    hostile = browser.post("/goal/read", form | {"sentence": f"{HOSTILE} must pay the invoice {TURNED}."})
    assert HOSTILE not in hostile.text
    assert "\u202e" not in hostile.text


def test_the_newest_sentence_of_a_tab_wins(reading: Browser) -> None:
    browser = reading
    asked = {"do": "read", "context": str(browser.site.files.folder / "c" / "context.yaml")}

    async def typed() -> list[object]:
        def read(tab: str, sentence: str) -> object:
            return browser.site.reader.newest(tab, asked | {"sentence": sentence})

        return await asyncio.gather(
            read("1", "Somebody must"), read("2", PLAIN), read("1", "Somebody must pay"), read("1", PLAIN)
        )

    first, other, middle, last = browser.client.portal.call(typed)
    assert middle is None
    assert "must approve" in other["reading"]["statements"][0]["best"]["clause"]  # type: ignore[index]
    assert last["reading"]["marked"] == other["reading"]["marked"]  # type: ignore[index]
    assert first is None or "reading" in first  # type: ignore[operator]


def test_reading_that_takes_too_long_or_dies_is_begun_anew(
    reading: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, form = reading, {"context": "c/context.yaml", "tab": "1", "sentence": PLAIN}
    assert browser.post("/goal/read", form).status_code == 200
    with monkeypatch.context() as hurried:
        hurried.setattr(reader, "READ_SECONDS", 0.0)
        assert browser.post("/goal/read", form).status_code == 503
    process = browser.site.reader._process
    assert process is None
    assert browser.post("/goal/read", form).status_code == 200
    assert browser.site.reader._process is not None
    browser.site.reader._process.kill()
    assert browser.post("/goal/read", form).status_code in (200, 503)
    assert browser.post("/goal/read", form).status_code == 200


def test_what_cannot_be_held_is_said_and_nothing_is_written(reading: Browser) -> None:
    browser, folder = reading, reading.site.files.folder
    path = folder / "c" / "context.yaml"
    before = path.read_bytes()
    form = {"sha": "", "context": "c/context.yaml", "sentence": "The moon must be full.", "save": "yes"}
    said = browser.post("/goal/answer", form)
    assert said.status_code == 422
    assert "not checkable" in said.text
    broken = folder / "broken.yaml"
    broken.write_text("schema: [\nrecords: {}\n")
    assert browser.get("/goal?context=broken.yaml").status_code == 400
    assert path.read_bytes() == before


def test_two_tabs_do_not_destroy_each_others_goals(reading: Browser) -> None:
    browser, path = reading, context(reading.site.files.folder, "t")
    path.write_text(re.sub(r"^pools:.*", "", path.read_text(), flags=re.MULTILINE | re.DOTALL))
    page = browser.get("/goal?context=t/context.yaml")
    one = {"sha": hidden(page, "sha"), "context": "t/context.yaml", "save": "yes"}
    two = one | {
        "sentence": "After the registration of the invoice, the accounts clerk must pay it within 9 days."
    }
    one |= {
        "sentence": "After the registration of the invoice, the accounts clerk must pay it within 8 days."
    }

    asked = browser.post("/goal/answer", one)
    assert asked.status_code == 422  # a person wrote the goal that stands there
    assert browser.post("/goal/answer", one | {"replace": "yes"}).url.path == "/goal"
    written = path.read_bytes()
    conflict = browser.post("/goal/answer", two | {"replace": "yes"})
    assert conflict.status_code == 409
    assert path.read_bytes() == written
    assert re.search(r"<del>[^<]*8[^<]*</del>", conflict.text)
    assert re.search(r"<ins>[^<]*9[^<]*</ins>", conflict.text)
    again = dict(re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', conflict.text))
    assert browser.post("/goal/answer", again | {"replace": "yes"}).url.path == "/goal"
    assert load_context(path).goal.intent == two["sentence"]


def test_a_log_that_changed_is_not_imported(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("case_id,activity,timestamp\n1,A,2024-01-01\n")
    page = browser.get("/import?log=log.csv")
    (tmp_path / "log.csv").write_text("case_id,activity,timestamp\n1,B,2024-01-01\n")
    form = {"sha": hidden(page, "sha"), "log": "log.csv"}
    assert browser.post("/import/run", form).status_code == 409
    assert not browser.site.jobs.all()


def test_hostile_names_and_values_stay_text(reading: Browser) -> None:
    browser, tmp_path = reading, reading.site.files.folder
    name = f"{HOSTILE.replace('/', '')}\"'{TURNED} javascript:alert(1).csv"
    column, value = f'"{HOSTILE}"', "x" * 100_000
    rows = "".join(f"{case},{HOSTILE},2024-01-0{case},{TURNED},{value}\n" for case in range(1, 4))
    (tmp_path / name).write_text(f"case_id,activity,timestamp,role,{column}\n{rows}", encoding="utf-8")
    (tmp_path / "new\nline.csv").write_text("case_id\n")
    home = browser.get("/")
    assert "line.csv" not in home.text
    chosen = browser.get(f"/import?log={name}")
    assert chosen.status_code == 200
    form = {"sha": hidden(chosen, "sha"), "log": hidden(chosen, "log"), "out": "mine"}
    assert form["log"] == name
    begun = browser.post("/import/run", form)
    job = browser.finished(browser.site.jobs.find("1"))
    assert job.state == "done", job.line
    guessed, goal = browser.get(job.then), browser.get("/goal?context=mine/context.yaml")
    pages = [home, chosen, begun, guessed, goal, browser.get("/jobs/1"), browser.get("/download")]
    for page in pages:
        assert page.status_code == 200
        assert HOSTILE.replace("/", "") not in page.text
        assert HOSTILE not in page.text
        assert 'href="javascript:' not in page.text
        assert len(page.text) < 60_000
    for page in (home, guessed, goal):
        assert "\u202e" not in re.sub(r'value="[^"]*"', "", page.text)
    kept = browser.get(f"/download?file={name}")
    assert "\n" not in kept.headers["content-disposition"]
    assert "<" not in kept.headers["content-disposition"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"columns": {}}',
        '{"source": 1, "text": "", "columns": {"role": "x"}, "source_columns": [2]}',
        "[" * 10_000,
    ],
)
def test_what_an_import_did_not_write_is_no_import(browser: Browser, tmp_path: Path, text: str) -> None:
    context(tmp_path)
    (tmp_path / "c" / "import.json").write_text(text)
    assert "Imported before" not in browser.get("/import").text
    assert browser.get("/import?context=c/context.yaml").status_code == 404


def test_a_file_is_looked_at_in_no_time(browser: Browser, tmp_path: Path) -> None:
    for number, text in enumerate(("\n" * 4_000_000, " " * 4_000_000, "schema" * 600_000, '"\n' * 2_000_000)):
        (tmp_path / f"{number}.yaml").write_text(text)
    begun = time.process_time()
    assert browser.get("/").status_code == 200
    assert time.process_time() - begun < 5


def test_a_name_like_an_option_is_none(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "--help.csv").write_text("case_id,activity,timestamp\n1,A,2024-01-01\n")
    page = browser.get("/import?log=--help.csv")
    browser.post("/import/run", {"sha": hidden(page, "sha"), "log": "--help.csv", "case": "--help"})
    job = browser.finished(browser.site.jobs.find("1"))
    assert job.arguments == ("import", "./--help.csv", "--out", "help", "--case=--help")
    assert job.state == "refused"  # there is no column --help
