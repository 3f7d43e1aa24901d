"""``gnrs serve`` in a real browser: the whole way from a log to a download, by mouse and by keyboard alone."""

from __future__ import annotations

import resource
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hands import Keyboard, Mouse
from served import context, entrance, on_a_port, running, worked_in
from test_report_page import desk
from tiers import mostly_slow
from walk import SENTENCE, axe_finds_nothing, orders, overflow

from gnrs_ppl.audit.files import audit_files
from gnrs_ppl.report.audited import save_audit

HOSTILE = "<script>document.title='ran'</script> javascript:alert(2) \u202eevil"
PHONE = {"width": 360, "height": 740}


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a tab; what it says on the console, asks, or loads from elsewhere fails the test."""
    contexts: list[Any] = []
    said: list[str] = []

    def opened(address: str, **settings: Any) -> Any:
        contexts.append(browser.new_context(**settings))
        tab = contexts[-1].new_page()
        tab.set_default_timeout(25_000)
        tab.on("console", lambda message: said.append(f"{tab.url}: {message.text}"))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        tab.on(
            "request",
            lambda request: request.url.startswith((address, entrance(address))) or said.append(request.url),
        )
        tab.goto(entrance(address))
        return tab

    yield opened
    for one in contexts:
        one.close()
    assert said == []


def done(tab: Any, hand: Mouse | None = None) -> None:
    """A job's page: wait for its end, which the page shows by itself, and go on."""
    tab.wait_for_selector(".state.done, .state.refused, .state.crashed")
    assert tab.locator(".state").first.text_content() == "done", tab.locator("main").text_content()
    with tab.expect_navigation():
        (hand or Mouse(tab)).press(tab.get_by_role("link", name="Go on"))


@pytest.mark.slow  # the whole way does both
def test_a_log_is_imported_and_a_rule_drafted(browser: Any, look: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "served"
    folder.mkdir()
    context(folder, "invoices")
    with on_a_port(folder) as (address, _):
        tab = look(address)
        axe_finds_nothing(tab)
        tab.goto(f"{address}/import")
        tab.get_by_label("file from elsewhere").set_input_files(
            str(orders(tmp_path / "orders.csv", 6, HOSTILE))
        )
        tab.get_by_role("button", name="Upload").click()
        tab.get_by_role("button", name="Import", exact=True).click()
        done(tab)
        tab.goto(f"{address}/draft?context=invoices/context.yaml")
        tab.get_by_text("How it is drafted").click()
        tab.get_by_label("Chains").fill("4")
        tab.get_by_label("Sampler").select_option("exact")
        tab.get_by_role("button", name="Draft", exact=True).click()
        done(tab)
        assert "budget holder" in tab.locator("h1").text_content()
        axe_finds_nothing(tab)


@pytest.mark.parametrize("hands", mostly_slow([Mouse, Keyboard], [Mouse]))
def test_the_whole_way(hands: type[Mouse], browser: Any, look: Callable[..., Any], tmp_path: Path) -> None:
    """Import, goal, draft, pin, audit, ask, download; by mouse, and by keyboard alone with the focus seen."""
    folder = tmp_path / "served"
    folder.mkdir()
    context(folder, "invoices")
    source = orders(tmp_path / "orders.csv", odd=HOSTILE)
    with on_a_port(folder) as (address, _):
        tab = look(address, viewport={"width": 1100, "height": 900}, accept_downloads=True)
        hand = hands(tab)
        steps = tab.get_by_role("navigation", name="Steps")

        def button(name: str) -> Any:
            return tab.get_by_role("button", name=name, exact=True).first

        hand.press(steps.get_by_role("link", name="Import"))
        hand.hand_in(tab.get_by_label("file from elsewhere"), source)
        hand.press(button("Upload"))
        hand.press(button("Import"))
        done(tab, hand)
        hand.press(tab.get_by_role("link", name="Go on to the goal"))
        with tab.expect_response(
            lambda answer: "/goal/read" in answer.url and "placed" in (answer.request.post_data or "")
        ):
            hand.write(tab.get_by_label("Who must"), SENTENCE)
        tab.wait_for_selector("#reading mark")
        tab.wait_for_load_state("networkidle")
        hand.press(button("Read it"))
        save = tab.locator("button[name=save]")
        save.or_(tab.locator("legend")).first.wait_for()
        while not save.count():
            with tab.expect_navigation():
                hand.press(button("Answer"))
        hand.press(save)
        go_on = tab.get_by_role("link", name="Go on to the draft")
        go_on.wait_for()
        tab.wait_for_load_state("networkidle")  # a reading that is left alone is said on the console
        hand.press(go_on)
        hand.press(tab.locator("summary", has_text="How it is drafted"))
        hand.write(tab.get_by_label("Chains"), "4")
        hand.choose(tab.get_by_label("Sampler"), "exact")
        hand.press(button("Draft"))
        tab.wait_for_selector("#chains .shares")
        assert tab.locator("#stages li").first.text_content().startswith("drafting")
        done(tab, hand)
        axe_finds_nothing(tab)
        tab.reload()
        hand.press(tab.locator(".graph details").nth(4).locator("summary"))
        hand.press(tab.locator(".graph > li").nth(4).get_by_role("button", name="Pin").nth(1))
        done(tab, hand)
        assert "Fixed or left out by hand: procedure=" in tab.locator("main").text_content()
        hand.press(tab.get_by_role("link", name="Audit it"))
        hand.choose(tab.get_by_label("Rule"), "rule-orders/rule.json")
        hand.press(button("Choose"))
        hand.choose(tab.get_by_label("On the log of"), "orders/context.yaml")
        hand.press(button("Audit"))
        done(tab, hand)
        hand.write(tab.get_by_label("Case has"), "script")
        hand.press(button("Look"))
        tab.get_by_text("page 1 of 1").wait_for()
        assert "<script>document.title='ran'</script>" in tab.locator("tbody th").first.text_content()
        axe_finds_nothing(tab)
        hand.press(steps.get_by_role("link", name="Ask"))
        hand.choose(tab.get_by_label("Context"), "invoices/context.yaml")
        hand.press(button("Choose"))
        hand.press(tab.locator("summary").first)
        hand.write(tab.get_by_label("Share of what"), "0.1")
        hand.press(button("Ask"))
        tab.locator(".answers").wait_for()
        axe_finds_nothing(tab)
        hand.press(tab.locator(".answers button").first)
        tab.get_by_text("after 1 answer").wait_for()
        (answers,) = folder.glob("*/answers.yaml")
        assert "answer:" in answers.read_text()
        hand.press(steps.get_by_role("link", name="Download"))
        with tab.expect_download() as archive:
            hand.press(tab.get_by_role("link", name="as one archive"))
        archive.value.save_as(tmp_path / "all.zip")
    names = zipfile.ZipFile(tmp_path / "all.zip").namelist()
    assert {name.rpartition("/")[2] for name in names} >= {
        "orders.csv", "context.yaml", "rule.json", "draft.json", "audit.json", "verdicts.csv", "answers.yaml",
    }  # fmt: skip


def of_processors() -> float:
    """Seconds that the jobs which ended so far have worked."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.slow
def test_a_case_is_clicked_until_the_rule_is_found(
    look: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is typed but clicked, each question follows its answer by itself, and no script is needed but
    htmx. What each takes with nothing remembered of the log is printed, and held against the seconds of
    processors, which other work on the machine changes least.
    """
    monkeypatch.setenv("GNRS_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "served"
    folder.mkdir()
    context(folder, "invoices")
    with on_a_port(folder) as (address, _):
        tab = look(address, viewport=PHONE)
        tab.set_default_timeout(90_000)
        tab.goto(f"{address}/ask")
        took, worked = [], []
        for click in ("Ask", "It keeps the rule", "This case breaks the rule", "Cannot say"):
            began, before = time.monotonic(), of_processors()
            tab.get_by_role("button", name=click, exact=True).first.click()
            told = f"after {len(took)} answer" if took else "Cases of this log tell"
            tab.locator("#question p", has_text=told).wait_for()
            took.append(time.monotonic() - began)
            worked.append(of_processors() - before)
            assert tab.locator("#question svg.line circle").count() > 1
            assert overflow(tab) == 0
        axe_finds_nothing(tab)
    for what, seconds in (("the clock", took), ("processors", worked)):
        print(
            "seconds of {}: first question {:.1f}, the next {:.1f}, {:.1f} and {:.1f}".format(what, *seconds)
        )
    assert worked[0] < 15
    assert max(worked[1:]) < 6
    said = (folder / "invoices" / "answers.yaml").read_text()
    assert [said.count(f"answer: {one}") for one in ("kept", "broken", "unknown")] == [1, 1, 1]


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything was done."""
    return worked_in(tmp_path_factory.mktemp("worked") / "served")


@pytest.mark.slow
def test_an_audit_of_a_hundred_thousand_cases_opens_quickly(tmp_path: Path, look: Callable[..., Any]) -> None:
    """The whole report, and the list of verdicts at its first, a late and a filtered page."""
    save_audit(audit_files(desk(tmp_path, 100_000)), tmp_path / "served" / "audit")
    loaded = "(e => e.loadEventEnd - e.startTime)(performance.getEntriesByType('navigation')[0])"
    with on_a_port(tmp_path / "served") as (address, _):
        tab = look(address)
        for path in ("/rule?of=", "/verdicts?of=", "/verdicts?page=1900&of=", "/verdicts?case=99&of="):
            tab.goto(f"{address}{path}audit/audit.json")
            assert tab.evaluate(loaded) < 3_000, path
            tab.locator("details.case, tbody tr").nth(49).wait_for(state="attached")


@pytest.mark.slow
def test_without_script_the_pages_are_links_and_forms(worked: Path, look: Callable[..., Any]) -> None:
    with on_a_port(worked) as (address, site):
        running(site)
        tab = look(address, java_script_enabled=False)
        tab.goto(f"{address}/jobs/9")
        assert tab.locator("noscript meta, meta[http-equiv=refresh]").count() == 1
        assert tab.locator("#chains .shares").count() > 0
        tab.goto(f"{address}/asked?job=1")
        assert tab.locator(".answers button").count() > 2
