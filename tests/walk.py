"""Every page of ``gnrs serve`` and how a browser comes to it, what axe says of each, and whether it fits."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from served import running, said, stood, worked_in

from gnrs_ppl.context.output import write_all
from gnrs_ppl.serve.jobs import Job
from gnrs_ppl.serve.web import Site

HOSTILE = "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\"> javascript:alert(2) \u202eevil"
LONG = "y" * 100_000
SENTENCE = "Every order must be approved by a manager within five days after it is placed."
OPEN = "Shipping an order demands that it is approved."
"""A sentence that leaves something open."""
DESKTOP = {"width": 1000, "height": 720}
PHONE = {"width": 375, "height": 740}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": DESKTOP, "color_scheme": "light"},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "color_scheme": "light"},
    "dark phone": {"viewport": PHONE, "color_scheme": "dark"},
}


class Page(NamedTuple):
    """A page in one of its states.

    Attributes
    ----------
    path : str
    shown : str
        What is there once the page is whole.
    then : callable, optional
        What is done on it.
    head : str
        What a picture begins with.
    """

    path: str
    shown: str = "body"
    then: Callable[[Any], None] = lambda tab: None
    head: str = "body"


def type_sentence(tab: Any) -> None:
    tab.locator("#sentence").fill(SENTENCE)
    tab.locator("#reading strong", has_text="manager").wait_for()


def leave_open(tab: Any) -> None:
    tab.locator("#sentence").fill(OPEN)
    tab.get_by_role("button", name="Read it").first.click()
    tab.locator("legend").wait_for()


def answer_all(tab: Any) -> None:
    leave_open(tab)
    while not tab.locator("button[name=save]").count():
        with tab.expect_navigation():
            tab.get_by_role("button", name="Answer").click()


def send_an_old_form(tab: Any) -> None:
    tab.locator("input[name=sha]").evaluate("one => { one.value = 'x'.repeat(64) }")
    tab.get_by_role("button", name="Draft", exact=True).click()
    tab.locator("[role=alert]").wait_for()


def unfold(tab: Any) -> None:
    tab.locator(".graph details").first.evaluate("one => { one.open = true }")


def open_case(tab: Any) -> None:
    late = tab.locator("details.case", has_text="late")
    (late if late.count() else tab.locator("details.case")).first.evaluate("one => { one.open = true }")


RULE, VERDICTS = "/rule?of=rule/draft.json", "/verdicts?of=rule/audit.json"
PAGES: dict[str, Page] = {
    "home": Page("/"),
    "import": Page("/import"),
    "import-how": Page("/import?log=orders.csv"),
    "guesses": Page("/import?context=orders/context.yaml"),
    "goals": Page("/goal"),
    "goal": Page("/goal?context=orders/context.yaml", then=type_sentence),
    "goal-question": Page("/goal?context=orders/context.yaml", then=leave_open),
    "goal-answered": Page("/goal?context=orders/context.yaml", then=answer_all),
    "draft": Page("/draft?context=invoices/context.yaml"),
    "job": Page("/jobs/9", "#chains .shares", head="#job"),
    "job-done": Page("/jobs/1"),
    "jobs": Page("/jobs"),
    "rule": Page(RULE),
    "rule-graph": Page(RULE, then=unfold, head="#graph"),
    "rule-verdicts": Page(RULE, head="#verdicts"),
    "rule-cases": Page(RULE, then=open_case, head="#cases"),
    "ask": Page("/ask"),
    "sought": Page("/asked?job=8", "#stages"),
    "asked": Page("/asked?job=1"),
    "asked-case": Page("/asked?job=1", head="#question-1"),
    "audit": Page("/audit?rule=rule/rule.json"),
    "verdicts": Page(VERDICTS),
    "compare": Page("/compare"),
    "compared": Page("/compared?job=2"),
    "download": Page("/download"),
    "conflict": Page("/draft?context=invoices/context.yaml", then=send_an_old_form),
    "problem": Page("/no-such-page"),
}
"""A page that is shown in several states stands here once for each."""
REPORT = {
    "report": Page(""),
    "report-graph": Page("", then=unfold, head="#graph"),
    "report-verdicts": Page("", head="#verdicts"),
    "report-cases": Page("", then=open_case, head="#cases"),
}
"""Parts of the report, a file that its address is put before."""
TAKEN = ("light", "dark", "phone")
"""Looks of which pictures are taken."""
PICTURES = [
    f"{name}-{look}.png" for name in (*(f"serve-{page}" for page in PAGES), *REPORT) for look in TAKEN
]
NO_PAGES = ("/static/{name}", "/jobs/{number}/events", "/download/all.zip")
"""Addresses that give a file or a stream."""


def orders(path: Path, cases: int = 60, odd: str = "", long: str = "") -> Path:
    """A log of orders, most of them approved in time; of the first the names are others, and one person's name may
    be long.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["case_id", "activity", "timestamp", "role", "resource"])
        for n in range(cases):
            case, who = (odd, odd) if odd and not n else (f"order {n}", "Ada")
            day, late = 1 + n % 12, 3 + n % 5
            rows.writerow([case, "place order", f"2024-03-{day:02}T09:00:00Z", "clerk", who])
            ben = long or "Ben" if n == 1 else "Ben"
            rows.writerow([case, "approve order", f"2024-03-{day + late:02}T10:00:00Z", "manager", ben])
            rows.writerow([case, "ship order", f"2024-03-{day + late:02}T15:00:00Z", "clerk", "Ada"])
    return path


def everything(folder: Path, *how: str) -> Path:
    """A folder in which everything was done, with a log that was imported and one job that finds a question."""
    worked_in(folder, *how)
    orders(folder / "orders.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        said("import", "orders.csv", "--out", "orders")
    return folder


def poisoned(folder: Path) -> Path:
    """A folder in which everything was done, where files, folders, cells, words and jobs have names that would run,
    turn the line round or break it.
    """
    named = folder / HOSTILE.replace("/", "\u2215")
    named.mkdir()
    for place in ("invoices/context.yaml", "rule/rule.json", "rule/draft.json", "rule/audit.json"):
        shutil.copy(folder / place, named)
    for name in (named.name, "y" * 240):
        shutil.copy(folder / "orders.csv", folder / f"{name}.csv")
    shutil.rmtree(folder / "orders")
    orders(folder / "orders.csv", odd=HOSTILE, long=LONG)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        said("import", "orders.csv", "--out", "orders")
    for kind in ("draft", "audit"):
        text = _with_hostile((folder / "rule" / f"{kind}.json").read_text())
        write_all(folder / "rule", [(f"{kind}.json", text.encode())], manifest=True)
    with (folder / "rule" / "verdicts.csv").open(newline="", encoding="utf-8") as file:
        heads, first, *rest = csv.reader(file)
    written = io.StringIO(newline="")
    csv.writer(written).writerows([heads, [HOSTILE, *first[1:-1], LONG], [LONG, *first[1:]], *rest])
    write_all(folder / "rule", [("verdicts.csv", written.getvalue().encode())], manifest=True)
    for job in (folder / "jobs").iterdir():
        for path in job.iterdir():
            path.write_text(_with_hostile(path.read_text()))
    return folder


def _with_hostile(text: str) -> str:
    """A JSON text whose words for people, things and logs, and whose cases, are hostile; some are long."""
    inside = json.dumps(HOSTILE)[1:-1]
    for words in ("budget holder", "credit note", "ERP log", "Ask about"):
        text = text.replace(words, f"{inside} {LONG}", 2).replace(words, inside)
    return text.replace("inv_0", f"{inside}_0")


def at_work(site: Site) -> None:
    """A draft and a search for a question, both in the midst of it."""
    running(site)
    place = stood(site.files.folder, 8)
    arguments = ("ask", "invoices/context.yaml", "--answers=invoices/answers.yaml", "--json")
    stages = ("finding the rules that the goal could mean", "running 41 of them on the log")
    lines = [json.dumps({"at": n * 1.4, "kind": "stage", "words": words}) for n, words in enumerate(stages)]
    (place / "progress.jsonl").write_text("".join(f"{line}\n" for line in lines))
    site.jobs._jobs[8] = Job(8, "Ask about invoices/context.yaml", arguments, "/", place, state="running")


def to_page(tab: Any, address: str, page: Page) -> None:
    """Bring a tab to a page, in the state that is meant."""
    tab.goto(page.path if page.path.startswith("file:") else address + quote(page.path, safe="/?=&-."))
    tab.wait_for_load_state("load")
    page.then(tab)
    tab.locator(page.shown).first.wait_for()


def axe_finds_nothing(tab: Any) -> None:
    """Rows are of one template, so a few of each table stand for all; the page is not usable afterwards."""
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
    """By how many pixels a page is wider than its window, once it is laid out."""
    tab.evaluate("new Promise(laid => requestAnimationFrame(() => requestAnimationFrame(laid)))")
    return int(tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
