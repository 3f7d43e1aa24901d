"""``gnrs serve`` in a real browser: the whole way from a log to a download, by mouse and by keyboard alone."""

from __future__ import annotations

import csv
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from served import KEY, on_a_port, stood

from gnrs_ppl.serve.web import Site

HOSTILE = "<script>document.title='ran'</script> javascript:alert(2) \u202eevil"
PHONE = {"width": 360, "height": 740}
SENTENCE = "Every order must be approved by a manager within five days after it is placed."


def log(path: Path, cases: int = 60) -> Path:
    """Orders, most of them approved in time, and one whose names would run."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["case_id", "activity", "timestamp", "role", "resource"])
        for n in range(cases):
            case = f"order {n}" if n else HOSTILE
            day = 1 + n % 12
            rows.writerow(
                [case, "place order", f"2024-03-{day:02}T09:00:00Z", "clerk", HOSTILE if not n else "Ada"]
            )
            late = 3 + n % 5
            rows.writerow([case, "approve order", f"2024-03-{day + late:02}T10:00:00Z", "manager", "Ben"])
            rows.writerow([case, "ship order", f"2024-03-{day + late:02}T15:00:00Z", "clerk", "Ada"])
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium on this machine")
    driver = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with driver.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a tab; what it says on the console, asks, or loads from elsewhere fails the test."""
    contexts: list[Any] = []
    said: list[str] = []

    def opened(address: str, **settings: Any) -> Any:
        contexts.append(browser.new_context(**settings))
        tab = contexts[-1].new_page()
        tab.set_default_timeout(25_000)
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: request.url.startswith(address) or said.append(request.url))
        tab.goto(f"{address}/?key={KEY}")
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def axe_finds_nothing(tab: Any) -> None:
    """Rows are of one template, so a few of each table stand for all."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    tab.evaluate(
        "document.querySelectorAll('tbody').forEach(one => [...one.rows].slice(3).forEach(row => row.remove()))"
    )
    tab.evaluate("document.querySelectorAll('details.case').forEach((one, n) => n < 2 || one.remove())")
    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    found = axe.Axe().run(tab, options={"resultTypes": ["violations"]}).response
    grave = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert [(tab.url, one["id"], one["nodes"][0]["html"]) for one in grave] == []
    assert tab.title() != "ran"


def overflow(tab: Any) -> int:
    return int(tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def done(tab: Any) -> None:
    """A job's page: wait for its end, which the page shows by itself, and go on."""
    tab.wait_for_selector(".state.done, .state.refused, .state.crashed")
    assert tab.locator(".state").first.text_content() == "done", tab.locator("main").text_content()
    tab.get_by_role("link", name="Go on").click()


def test_the_whole_way(browser: Any, look: Callable[..., Any], tmp_path: Path) -> None:
    """Import, goal, draft, pin, ask, audit, compare, download."""
    folder = tmp_path / "served"
    folder.mkdir()
    source = log(tmp_path / "orders.csv")
    with on_a_port(folder) as (address, _):
        tab = look(address, viewport={"width": 1100, "height": 900}, accept_downloads=True)
        steps = tab.get_by_role("navigation", name="Steps")
        steps.get_by_role("link", name="Import").click()
        tab.get_by_label("file").set_input_files(str(source))
        tab.get_by_role("button", name="Upload").click()
        tab.get_by_role("button", name="Import", exact=True).click()
        done(tab)
        tab.get_by_role("link", name="Go on to the goal").click()
        tab.get_by_label("Who must").fill(SENTENCE)
        tab.wait_for_selector("#reading mark")
        tab.get_by_role("button", name="Read it").first.click()
        while not tab.get_by_role("button", name="Write it into the context").count():
            tab.get_by_role("button", name="Answer").click()
        tab.get_by_role("button", name="Write it into the context").click()
        tab.get_by_role("link", name="Go on to the draft").click()
        tab.get_by_text("How it is drafted").click()
        tab.get_by_label("Chains").fill("8")
        tab.get_by_role("button", name="Draft", exact=True).click()
        tab.wait_for_selector("#chains .shares")
        assert tab.locator("#stages li").first.text_content().startswith("drafting")
        done(tab)
        first = tab.locator("h1").text_content()
        tab.locator(".graph details").nth(2).locator("summary").click()
        tab.locator(".graph > li").nth(2).get_by_role("button", name="Pin").nth(1).click()
        done(tab)
        assert "Fixed or left out by hand: norm=" in tab.locator("main").text_content()
        assert tab.locator("h1").text_content() != first
        tab.get_by_role("link", name="Audit it").click()
        tab.get_by_role("button", name="Audit").click()
        done(tab)
        tab.get_by_label("Case has").fill("script")
        tab.get_by_role("button", name="Look").click()
        assert "<script>document.title='ran'</script>" in tab.locator("tbody th").first.text_content()
        steps.get_by_role("link", name="Compare").click()
        tab.get_by_role("button", name="Compare").click()
        done(tab)
        assert "They differ on" in tab.locator("main").text_content()
        steps.get_by_role("link", name="Ask").click()
        tab.get_by_label("Share of what").fill("0.2")
        tab.get_by_role("button", name="Ask").click()
        done(tab)
        tab.locator(".answers button").first.click()
        done(tab)
        (answers,) = folder.glob("*/answers.yaml")
        assert "answer:" in answers.read_text()
        steps.get_by_role("link", name="Download").click()
        with tab.expect_download() as archive:
            tab.get_by_role("link", name="as one archive").click()
        archive.value.save_as(tmp_path / "all.zip")
    names = zipfile.ZipFile(tmp_path / "all.zip").namelist()
    assert {name.rpartition("/")[2] for name in names} >= {
        "orders.csv", "context.yaml", "rule.json", "draft.json", "audit.json", "verdicts.csv", "answers.yaml",
    }  # fmt: skip


def test_something(tmp_path: Path) -> None:
    pass
