"""``gnrs report``: the page says what the files of its folder say, stands alone, and holds in a real browser."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tiers import mostly_slow

from gnrs_ppl.audit.files import audit_files
from gnrs_ppl.cli import run
from gnrs_ppl.context.output import write_all
from gnrs_ppl.report.audited import ROWS, SHOWN, audit_data, save_audit
from gnrs_ppl.report.page import LONGEST
from gnrs_ppl.report.rule_page import REASONS, _every, differing, marked_words, moment, write_report

ROOT = Path(__file__).resolve().parent.parent
INVOICES = ROOT / "examples" / "invoices" / "context.yaml"
HOSTILE = "<script>document.title='ran'</script><img src=x onerror=alert(1)> javascript:alert(2) \u202eevil\u2066 'x\" {{ 7 * 7 }}"
RULE = """\
rule:
  trigger: {act: open, channel: desk}
  norm: {constraints: [{template: response, target: close, deadline: P2D}]}
  evidence: {channels: [desk]}
  procedure: {steps: [{stage: review, name: review, role: boss}]}
records: {log: log.csv, channels: [{name: desk, activities: [open, close], closed_world: true, coverage: [{start: 2024-01-01, end: 2024-12-31}]}]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A draft of the invoices and its audit, in one folder."""
    place = tmp_path_factory.mktemp("report") / "rule"
    with redirect_stdout(io.StringIO()):
        assert run(["draft", str(INVOICES), "--kernel", "exact", "--chains", "4", "--out", str(place)]) == 0
        rule = str(place / "rule.json")
        assert run(["audit", str(INVOICES), "--rule", rule, "--out", str(place)]) == 1
    return place


@pytest.fixture(scope="module")
def page(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(folder, tmp_path_factory.mktemp("page") / "report.html")


def desk(folder: Path, cases: int, value: str = "desk clerk", *, late: bool = True) -> Path:
    """A log of short cases, in every one of which nothing is closed in time, and a rule for it."""
    with (folder / "log.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["case_id", "activity", "timestamp", "channel", "role", "resource"])
        for n in range(cases):
            day = f"2024-{n % 10 + 1:02}-{n % 20 + 1:02}"
            rows.writerow([f"c{n:06}" + value[:150], "open", f"{day}T09:30:00Z", "desk", value, value])
            if late:
                rows.writerow(
                    [f"c{n:06}" + value[:150], "close", f"{day[:8]}25T10:00:00Z", "desk", value, value]
                )
    (folder / "rule.yaml").write_text(RULE)
    return folder / "rule.yaml"


class Seen(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


# What it says


def test_the_page_says_what_draft_and_audit_say(folder: Path, page: Path) -> None:
    draft, audit = (json.loads((folder / f"{kind}.json").read_text()) for kind in ("draft", "audit"))
    said = " ".join(Seen(page).text.split())
    for text in draft["text"].split(" Evidence: "):
        assert text in said
    assert audit["headline"] in said
    assert all(clauses[0] in said for clauses in draft["reading"]["clauses"])
    for slot in ("scope", "trigger", "norm", "evidence", "procedure"):
        for option in draft["candidates"][slot]:
            assert option["phrase"] in said
    for item in draft["candidates"]["dropped"]:
        assert item["reason"] in said
    for other in draft["alternatives"]:
        assert f"another {' and '.join(other['changes'])}" in said
        for slot, labels in other["changes"].items():
            phrases = {o["option"]: o["phrase"] for o in draft["candidates"][slot]}
            assert f"{slot.capitalize()}: {phrases[labels[1]]} in place of {phrases[labels[0]]}" in said
    for query in draft["grounding"]["queries"]:
        assert f"{query['question']}" in said
        assert f"{query['count']:,}" in said
    for line in (*draft["certificate"]["statement"], *audit["assumptions"], *audit["findings"]):
        assert line in said
    for violation in audit["violations"]:
        assert violation["sentence"] in said
    for reasons in audit["reasons"].values():
        assert all(REASONS[reason] in said for reason in reasons)
    assert "".join(audit["sql"].split()) in "".join(Seen(page).text.split())
    assert "must not conclude" in said


def test_shares_of_the_options_are_those_of_the_slots(folder: Path) -> None:
    draft = json.loads((folder / "draft.json").read_text())
    for slot, share in draft["search"]["probability"]["slots"].items():
        options = draft["candidates"][slot]
        assert sum(o["probability"] for o in options) == pytest.approx(1)
        assert [o["probability"] for o in options if o["chosen"]] == [share]
    first = draft["alternatives"][0]
    weighted = sum(
        value * weight
        for value, weight in zip(first["features"].values(), draft["score"]["weights"]["values"], strict=True)
    )
    assert weighted == pytest.approx(first["s_search"], abs=1e-6)


def test_the_counts_are_those_of_every_verdict(folder: Path) -> None:
    """By time, by role and in the table: the same verdicts, counted from ``verdicts.csv`` anew."""
    audit = json.loads((folder / "audit.json").read_text())
    with (folder / "verdicts.csv").open(newline="") as file:
        verdicts = list(csv.DictReader(file))
    counted = Counter(row["verdict"] for row in verdicts)
    assert {v: n for v, n in audit["counts"].items() if n} == counted
    for parts in (audit["over_time"]["periods"], audit["by_role"]):
        total: Counter[str] = Counter()
        for part in parts:
            total.update(part["counts"])
        assert +total == counted
    with (INVOICES.parent / "events.csv").open(newline="") as file:
        role = {row["event_id"]: row["role"] or None for row in csv.DictReader(file)}
    broken = Counter(role[row["instance"]] for row in verdicts if row["verdict"] == "violated")
    assert {row["role"]: row["counts"]["violated"] for row in audit["by_role"]} == broken


def test_a_case_shows_the_rows_that_count(folder: Path) -> None:
    for violation in json.loads((folder / "audit.json").read_text())["violations"]:
        rows = {row["event"]: row for row in violation["rows"]}
        assert rows[violation["instance"]]["at"] == violation["opened"]
        assert any(row["witness"] for row in violation["rows"]) == (violation["reason"] != "absent")
        times = [row["at"] for row in violation["rows"]]
        assert len(times) <= ROWS
        assert len(times) == min(violation["rows_of_case"], ROWS)


def test_many_violations_are_shown_in_part_and_told(tmp_path: Path) -> None:
    rule = desk(tmp_path, SHOWN + 50)
    save_audit(audit_files(rule), tmp_path / "audit")
    write_report(tmp_path / "audit", tmp_path / "page.html")
    seen = Seen(tmp_path / "page.html")
    assert ("details", "class", "case") in seen.attributes
    assert Counter(seen.attributes)["details", "class", "case"] == SHOWN
    assert f"The first {SHOWN} of {SHOWN + 50} violations" in seen.text
    assert "holds no draft" not in seen.text
    assert "how it was chosen is not told in this folder" in seen.text


def test_a_large_case_is_shown_in_part(tmp_path: Path) -> None:
    rule = desk(tmp_path, 1)
    with (tmp_path / "log.csv").open("a") as file:
        file.writelines(
            f"c000000desk clerk,open,2024-01-0{1 + n % 9}T0{n % 9}:00:00Z,desk,,\n" for n in range(60)
        )
    data = audit_data(audit_files(rule))
    for violation in data["violations"]:
        assert len(violation["rows"]) == ROWS
        assert violation["rows_of_case"] == 62
        assert violation["instance"] in {row["event"] for row in violation["rows"]}


def test_a_rule_that_nothing_called_up_is_no_clean_bill(tmp_path: Path) -> None:
    rule = desk(tmp_path, 3)
    (tmp_path / "log.csv").write_text(
        "case_id,activity,timestamp,channel,role,resource\n1,close,2024-01-01T00:00:00Z,desk,,\n"
        "2,open,,desk,,\n"
    )
    assert run(["audit", "--rule", str(rule), "--out", str(tmp_path / "audit")]) == 0
    write_report(tmp_path / "audit", tmp_path / "page.html")
    text = Seen(tmp_path / "page.html").text
    assert "nothing decided" in text
    assert "no clean bill" in text


def test_a_rule_without_a_procedure_has_a_page(tmp_path: Path) -> None:
    rule = desk(tmp_path, 3)
    text = rule.read_text()
    for kept in (True, False):
        lines = [line for line in text.splitlines(keepends=True) if kept or "procedure:" not in line]
        rule.write_text("".join(lines))
        assert run(["audit", "--rule", str(rule), "--out", str(tmp_path / "audit")]) == 1
        write_report(tmp_path / "audit", tmp_path / "page.html")
        assert ("That the procedure after a breach was followed" in Seen(tmp_path / "page.html").text) == kept


def test_a_draft_that_was_not_audited_says_how(folder: Path, tmp_path: Path) -> None:
    drafted = tmp_path / "drafted"
    shutil.copytree(folder, drafted)
    (drafted / "audit.json").unlink()
    (drafted / "posterior.nc").unlink()
    write_report(drafted, tmp_path / "page.html")
    text = Seen(tmp_path / "page.html").text
    assert "it has not been run in this folder" in text
    assert f"gnrs audit {INVOICES} --rule {drafted}/rule.json --out {drafted}" in text
    assert "whether they mixed is not told" in text


KINDS = {
    "a card without a log": ["draft", "RC-GL-1"],
    "solved, nothing drawn": ["draft", str(INVOICES), "--kernel", "cpsat"],
    "pinned, no runner-up": ["draft", str(INVOICES), "--fix", "norm.deadline=P5D", "--alternatives", "0"],
    "averaged weights": ["draft", str(INVOICES), "--kernel", "exact", "--weights", "posterior"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_draft_has_a_page(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*KINDS[kind], "--out", "rule"]) == 0
    assert run(["report", "rule", "--out", "page.html"]) == 0, capsys.readouterr().err
    assert (
        json.loads((tmp_path / "rule" / "draft.json").read_text())["text"][:40]
        in Seen(tmp_path / "page.html").text
    )


# Bad input


def changed(folder: Path, kind: str, change: Callable[[dict[str, Any]], object]) -> None:
    """A folder whose manifest agrees with a file that was changed: of another version, or forged."""
    data = json.loads((folder / f"{kind}.json").read_text())
    change(data)
    write_all(folder, [(f"{kind}.json", json.dumps(data).encode())], manifest=True)


def test_a_draft_of_an_earlier_version_is_shown_in_the_spelling_it_holds(
    folder: Path, tmp_path: Path
) -> None:
    def earlier(draft: dict[str, Any]) -> None:
        reading = draft["reading"]
        del reading["clauses"], reading["beside_in_clauses"]
        for part in (*(part for parts in reading["parts"] for part in parts), *reading["parts_beside"]):
            del part["called"]

    place = shutil.copytree(folder, tmp_path / "rule")
    (place / "posterior.nc").unlink()
    changed(place, "draft", earlier)
    said = Seen(write_report(place, tmp_path / "report.html")).text
    assert "Response(PostInvoice, ApproveInvoice)" in said
    assert "internal_auditor" in said
    assert (
        "internal_auditor"
        not in Seen(write_report(folder, tmp_path / "now.html"))
        .text.partition("How the sentence was read")[2]
        .partition("Grounding, name by name")[0]
    )


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda f: [path.unlink() for path in f.iterdir()], "holds neither a draft nor an audit"),
    "edited": (
        lambda f: (f / "draft.json").write_text((f / "draft.json").read_text() + " "),
        "draft.json: is not as it was written",
    ),
    "unsigned": (lambda f: (f / "gnrs-manifest.json").unlink(), "draft.json: is not as it was written"),
    "older": (
        lambda f: changed(f, "draft", lambda d: d["reading"].pop("parts")),
        "does not hold what this version writes there",
    ),
    "without counts": (
        lambda f: changed(f, "audit", lambda d: d.pop("counts")),
        "does not hold what this version writes there",
    ),
    "other types": (
        lambda f: changed(f, "audit", lambda d: d.update(violations=[3])),
        "does not hold what this version writes there",
    ),
    "another rule": (
        lambda f: changed(f, "audit", lambda d: d["rule"]["structure"]["trigger"].update(window="P3D")),
        "audit.json: is of another rule than draft.json",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_folder_that_will_not_do_is_refused_in_a_line(
    what: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, out = tmp_path / "rule", tmp_path / "page.html"
    shutil.copytree(folder, place)
    (place / "posterior.nc").unlink()
    BAD[what][0](place)
    assert run(["report", str(place), "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert BAD[what][1] in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_places_are_refused_before_work(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert run(["audit", "--rule", str(folder / "rule.json"), "--out", str(tmp_path)]) == 2
    assert "notes.txt" in capsys.readouterr().err
    assert run(["report", str(folder), "--out", str(folder / "draft.json")]) == 2
    assert "is read by this command" in capsys.readouterr().err
    assert run(["audit", "--posterior", str(folder), "--out", str(tmp_path / "new")]) == 2
    assert "--out: contradicts --posterior" in capsys.readouterr().err


# Small parts


@pytest.mark.parametrize(
    ("recorded", "shown"),
    [
        ("2024-05-13", "13 May 2024"),
        ("2024-05-13T09:03:00+02:00", "13 May 2024, 09:03"),
        ("2024-05-13T09:03:33+02:00", "13 May 2024, 09:03:33"),
        ("2024-05-13T09:03:33.123456", "13 May 2024, 09:03:33"),
        (None, "no time recorded"),
    ],
)
def test_times_stand_in_their_own_grain(recorded: str | None, shown: str) -> None:
    assert moment(recorded) == shown


def test_the_sentence_is_marked_whole() -> None:
    sentence = "As you know, pay it soon."
    reading = {
        "sentence": sentence,
        "parts": [[{"span": [13, 16], "kind": "act"}, {"span": [14, 16], "kind": "object"}]],
        "background": [{"span": [0, 12]}],
        "unread": [{"span": [20, 24]}],
    }
    pieces = marked_words(reading)
    assert "".join(piece["words"] for piece in pieces) == sentence
    assert [(p["words"], p["kind"]) for p in pieces if p["kind"]] == [
        ("As you know,", "background"),
        ("pay", "act"),
        ("soon", "not read"),
    ]


def test_words_that_differ_give_both_texts_back() -> None:
    left, right = "pay within two days and tell us", "pay within three whole days and tell them"
    pieces = differing(left, right)
    assert " ".join(words for kind, words in pieces if kind != "new") == left
    assert " ".join(words for kind, words in pieces if kind != "gone") == right
    assert ("gone", "two") in pieces


@pytest.mark.parametrize(
    ("unit", "first", "last", "count"),
    [
        ("day", "2024-02-28", "2024-03-01", 3),
        ("week", "2024-01-01", "2024-01-15", 3),
        ("month", "2023-11-01", "2024-02-01", 4),
        ("year", "2020-01-01", "2024-01-01", 5),
    ],
)
def test_empty_periods_are_kept(unit: str, first: str, last: str, count: int) -> None:
    found = _every(first, last, unit)
    assert (found[0], found[-1], len(found)) == (first, last, count)


def test_every_reason_has_words() -> None:
    from typing import get_args

    from gnrs_ppl.audit.types import Reason

    assert set(REASONS) == set(get_args(Reason))


# It stands alone


def test_nothing_is_loaded_and_nothing_runs(page: Path) -> None:
    text, seen = page.read_text(encoding="utf-8"), Seen(page)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style
    policy = next(value for _, name, value in seen.attributes if name == "content" and "default-src" in value)
    hashed = b64encode(sha256(style[1].encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{hashed}';")
    assert "unsafe" not in policy
    assert seen.tags["style"] == 1
    assert not {"script", "link", "iframe", "object", "embed", "form", "base", "img"} & set(seen.tags)
    for tag, name, value in seen.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("style", "src", "srcset", "data"), (tag, name)
        assert name != "href" or value.startswith("#"), (tag, value)
    targets = {value for _, name, value in seen.attributes if name == "id"}
    assert {value[1:] for tag, name, value in seen.attributes if name == "href"} <= targets
    assert len(targets) == sum(name == "id" for _, name, _ in seen.attributes)


LOGIC = {
    "at", "opened", "due", "start", "unit", "reason", "verdict", "slot", "status", "method", "fingerprint", "log",
    "end_of_observation",
}  # fmt: skip
"""Fields whose texts the page reads; every other text may be anything."""


def poisoned(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {
            name: value[name] if name in LOGIC | {"structure"} else poisoned(value[name], name)
            for name in value
        }
    if isinstance(value, list):
        return [poisoned(item, key) for item in value]
    return (HOSTILE if len(value) % 5 else "y" * 100_000) if isinstance(value, str) else value


@pytest.fixture(scope="module")
def hostile(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a folder in which every text is hostile."""
    place = tmp_path_factory.mktemp("hostile") / "rule"
    place.mkdir()
    made = []
    for kind in ("draft", "audit"):
        data = poisoned(json.loads((folder / f"{kind}.json").read_text()))
        for violation in data.get("violations", [])[20:]:
            violation["rows"] = violation["rows"][:1]
        made.append((f"{kind}.json", json.dumps(data).encode()))
    shorter = [(name, content.replace(b"y" * 100_000, b"y" * 3_000)) for name, content in made]
    write_all(place, shorter, manifest=True)
    return write_report(place, place.parent / "report.html")


def test_hostile_texts_are_texts(hostile: Path) -> None:
    seen = Seen(hostile)
    assert not {"script", "img"} & set(seen.tags)
    assert "<script>document.title='ran'</script>" in seen.text
    assert r"\u202eevil" in seen.text
    assert "\u202e" not in seen.text
    assert "{{ 7 * 7 }}" in seen.text
    assert "… (3,000 characters)" in seen.text
    assert seen.text.count("y" * (LONGEST + 1)) <= 1  # the SQL alone is never cut


def test_hostile_records_are_texts(tmp_path: Path) -> None:
    """The same from a log: what people wrote into cells, and cells of a hundred thousand characters."""
    for number, value in enumerate((HOSTILE, "z" * 100_000)):
        place = tmp_path / str(number)
        place.mkdir()
        assert run(["audit", "--rule", str(desk(place, 3, value)), "--out", str(place / "audit")]) == 1
        seen = Seen(write_report(place / "audit", place / "page.html"))
        assert not {"script", "img"} & set(seen.tags)
        assert len(seen.text) < 200_000
    assert "z" * 1_000 in seen.text


# In a browser


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page; whatever it loads, says on the console or asks fails the test."""
    contexts, said = [], []

    def opened(path: Path, **settings: Any) -> Any:
        contexts.append(browser.new_context(**settings))
        tab = contexts[-1].new_page()
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: request.url == path.as_uri() or said.append(request.url))
        tab.goto(path.as_uri())
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def overflow(tab: Any) -> int:
    return int(tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


DESKTOP, PHONE = {"width": 1100, "height": 900}, {"width": 360, "height": 740}


def test_the_policy_stops_what_escaping_would_miss(page: Path, browser: Any, tmp_path: Path) -> None:
    forged = tmp_path / "forged.html"
    bad = "<script>document.title='ran'</script><img src='x.png' onerror=\"document.title='ran'\"><p id='p' style='color: red'>"
    forged.write_text(
        page.read_text(encoding="utf-8").replace('<main id="main">', f'<main id="main">{bad}'),
        encoding="utf-8",
    )
    said: list[str] = []
    tab = browser.new_page()
    tab.on("console", lambda message: said.append(message.text))
    tab.goto(forged.as_uri())
    assert tab.title() != "ran"
    assert tab.evaluate("getComputedStyle(document.getElementById('p')).color") != "rgb(255, 0, 0)"
    assert {word for word in ("script", "image", "style") if any(f"{word}" in line.lower() for line in said)} == {
        "script", "image", "style",
    }  # fmt: skip
    tab.close()


def test_axe_finds_nothing(page: Path, look: Callable[..., Any]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    tab = look(page, viewport=DESKTOP, color_scheme="light")
    # rows and cases are of one template: a few of them, open, stand for all
    tab.evaluate("document.querySelectorAll('details.case').forEach((one, n) => n < 3 || one.remove())")
    tab.evaluate(
        "document.querySelectorAll('tbody').forEach(one => [...one.rows].slice(4).forEach(row => row.remove()))"
    )
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        tab.emulate_media(color_scheme=scheme)
        white = tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert white == (scheme == "light")
        found = axe.Axe().run(tab, options={"resultTypes": ["violations"], **rules}).response
        assert found["passes"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []


def test_the_keyboard_opens_a_case(page: Path, look: Callable[..., Any]) -> None:
    tab = look(page, viewport=DESKTOP)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "To the report"
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Violated cases"
    tab.keyboard.press("Enter")
    for _ in range(3):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    case = tab.locator("details.case").first
    assert not case.locator("table").is_visible()
    tab.keyboard.press("Enter")
    assert case.locator("table").is_visible()
    assert case.locator("tr.due").count() == 1


def test_paper_shows_what_a_screen_folds(page: Path, look: Callable[..., Any]) -> None:
    tab = look(page, viewport=DESKTOP, color_scheme="dark")
    folded = tab.locator("details.case").nth(1).locator("table")
    assert not folded.is_visible()
    tab.emulate_media(media="print")
    assert folded.bounding_box()["height"] > 50
    assert not tab.locator("nav").is_visible()
    assert tab.locator(".sign").is_visible()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_hostile_texts_neither_run_nor_break_the_layout(
    size: dict[str, int], page: Path, hostile: Path, look: Callable[..., Any]
) -> None:
    for path in (page, hostile):
        tab = look(path, viewport=size)
        tab.evaluate("document.querySelectorAll('details').forEach((one, n) => { one.open = n < 20 })")
        assert overflow(tab) == 0
        wide = "[...document.querySelectorAll('details[open] .scroll:has(.stack)')].filter(one => one.scrollWidth > one.clientWidth)"
        assert size == DESKTOP or tab.evaluate(f"{wide}.length") == 0
        assert tab.title() != "ran"
        assert (
            tab.evaluate("document.querySelectorAll('script, img, [onerror], a:not([href^=\"#\"])').length")
            == 0
        )


@pytest.mark.parametrize("cases", mostly_slow([2_000, 100_000], but=[2_000]))
def test_a_large_audit_opens_quickly(cases: int, tmp_path: Path, look: Callable[..., Any]) -> None:
    rule = desk(tmp_path, cases)
    save_audit(audit_files(rule), tmp_path / "audit")
    path = write_report(tmp_path / "audit", tmp_path / "page.html")
    assert path.stat().st_size < 2_000_000
    tab = look(path, viewport=DESKTOP)
    timing = "(e => e.loadEventEnd - e.startTime)(performance.getEntriesByType('navigation')[0])"
    assert tab.evaluate(timing) < 3_000
    assert tab.locator("details.case").count() == SHOWN
