"""Every page of ``gnrs serve`` and the report, in light and dark and as wide as a phone: axe finds nothing grave, and
nothing is wider than the window.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import KEY, in_process, on_a_port
from starlette.routing import Route
from walk import LOOKS, NO_PAGES, PAGES, at_work, axe_finds_nothing, everything, overflow, to_page

import gnrs_ppl.serve
from gnrs_ppl.report.rule_page import write_report
from gnrs_ppl.serve.app import PAGES as MODULES

TEMPLATES = Path(gnrs_ppl.serve.__file__).parent / "pages"
WHOLE = {path.stem for path in TEMPLATES.glob("*.html") if '{% extends "live.html" %}' in path.read_text()}
"""Templates of whole pages."""


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything was done, with its report beside it."""
    folder = everything(tmp_path_factory.mktemp("looks") / "served")
    write_report(folder / "rule", folder.parent / "report.html")
    return folder


@pytest.fixture
def opened(browser: Any, worked: Path, tmp_path: Path) -> Iterator[Any]:
    """Opens a tab with some look on the served folder; what runs or asks in a page fails the test."""
    contexts: list[Any] = []
    said: list[str] = []
    with on_a_port(shutil.copytree(worked, tmp_path / "served")) as (address, site):
        at_work(site)

        def tab(look: str) -> tuple[Any, str]:
            contexts.append(browser.new_context(**LOOKS[look]))
            one = contexts[-1].new_page()
            one.set_default_timeout(25_000)
            one.on("pageerror", lambda error: said.append(str(error)))
            one.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
            one.goto(f"{address}/?key={KEY}")
            return one, address

        yield tab
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
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_grave_on_any_page(look: str, opened: Any, worked: Path) -> None:
    tab, address = opened(look)
    seen = set()
    for name, page in PAGES.items():
        to_page(tab, address, page)
        seen.add(tab.locator("body").get_attribute("data-page"))
        assert overflow(tab) == 0, name
        axe_finds_nothing(tab)
    assert seen == WHOLE
    tab.goto((worked.parent / "report.html").as_uri())
    assert overflow(tab) == 0
    axe_finds_nothing(tab)
