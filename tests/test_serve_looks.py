"""Every page of ``gnrs serve`` and the report, in light and dark and as wide as a phone: axe finds nothing grave, and
nothing is wider than the window.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from served import entrance, in_process, on_a_port
from starlette.routing import Route
from walk import (
    LOOKS,
    NO_PAGES,
    PAGES,
    Page,
    at_work,
    axe_finds_nothing,
    everything,
    overflow,
    poisoned,
    to_page,
)

import gnrs_ppl.serve
from gnrs_ppl.report.rule_page import write_report
from gnrs_ppl.serve.app import PAGES as MODULES

TEMPLATES = Path(gnrs_ppl.serve.__file__).parent / "pages"
OURS = """[...document.querySelectorAll('*')].filter(one => one.matches('main script, main img, iframe, base')
  || [...one.attributes].some(of => of.name.startsWith('on') || /^(href|src|action)$/.test(of.name)
     && /^\\s*javascript:/i.test(of.value))).map(one => one.outerHTML.slice(0, 200))"""
"""What stands in a page that none of our templates put there."""
WHOLE = {path.stem for path in TEMPLATES.glob("*.html") if '{% extends "live.html" %}' in path.read_text()}
"""Templates of whole pages."""


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything was done, with its report beside it."""
    folder = everything(tmp_path_factory.mktemp("looks") / "served")
    write_report(folder / "rule", folder.parent / "report.html")
    return folder


@pytest.fixture(scope="module")
def hostile(worked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with hostile names and values everywhere."""
    folder = poisoned(shutil.copytree(worked, tmp_path_factory.mktemp("hostile") / "served"))
    write_report(folder / "rule", folder.parent / "report.html")
    return folder


@pytest.fixture
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a folder of its own, with two jobs at work."""
    folder: Path = request.getfixturevalue(request.param)
    with on_a_port(shutil.copytree(folder, tmp_path / "served")) as (address, site):
        at_work(site)
        yield address


@pytest.fixture
def tab_of(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a tab with some look on an address; what runs or asks in a page fails the test."""
    contexts: list[Any] = []
    said: list[str] = []

    def opened(address: str, look: str) -> Any:
        contexts.append(browser.new_context(**LOOKS[look]))
        tab = contexts[-1].new_page()
        tab.set_default_timeout(25_000)
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        tab.goto(entrance(address))
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def test_every_page_with_an_address_is_walked(tmp_path: Path) -> None:
    """A page that is added is walked too, or says here that it is none."""
    walked = {page.path.partition("?")[0] for page in PAGES.values()}
    routes = [route for module in MODULES for route in module.ROUTES if isinstance(route, Route)]
    gets = [route for route in routes if route.methods and "GET" in route.methods]
    unwalked = {route.path for route in gets if not any(route.path_regex.fullmatch(path) for path in walked)}
    assert unwalked <= set(NO_PAGES)
    (tmp_path / "served").mkdir()
    with in_process(tmp_path / "served") as (client, _):
        for path in walked & {"/", "/import", "/goal", "/draft", "/ask", "/audit", "/compare", "/download"}:
            assert '<body data-page="' in client.get(path).text


@pytest.mark.slow
@pytest.mark.parametrize("served", ["worked"], indirect=True)
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_grave_on_any_page(
    look: str, served: str, tab_of: Callable[..., Any], worked: Path
) -> None:
    tab, seen = tab_of(served, look), set()
    for name, page in PAGES.items():
        to_page(tab, served, page)
        seen.add(tab.locator("body").get_attribute("data-page"))
        assert overflow(tab) == 0, name
        axe_finds_nothing(tab)
    assert seen == WHOLE
    tab.goto((worked.parent / "report.html").as_uri())
    assert overflow(tab) == 0
    axe_finds_nothing(tab)


@pytest.mark.slow
@pytest.mark.parametrize("served", ["hostile"], indirect=True)
@pytest.mark.parametrize("look", ["light", "phone"])
def test_hostile_names_and_values_neither_run_nor_break_a_page(
    look: str, served: str, tab_of: Callable[..., Any], hostile: Path
) -> None:
    """Script tags, ``javascript:``, a mark that turns the line round, and 100,000 characters."""
    tab, shown = tab_of(served, look), set()
    pages = PAGES | {"report": Page((hostile.parent / "report.html").as_uri())}
    for name, page in pages.items():
        to_page(tab, served, page)
        tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert overflow(tab) == 0, name
        assert tab.title() != "ran", name
        assert tab.evaluate(OURS) == [], name
        text = tab.locator("body").inner_text()
        assert "\u202e" not in text, name
        shown |= {name} if "javascript:alert(2)" in text else set()
    assert shown >= {
        "home",
        "import",
        "job",
        "job-done",
        "jobs",
        "rule",
        "asked",
        "verdicts",
        "compared",
        "report",
    }
