"""The live pages of drafts, questions, audits and comparisons."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from html import unescape
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from crawl import Sent, crawl, parameters, put
from served import fields, in_process, running, worked_in
from starlette.routing import Route
from starlette.testclient import TestClient
from tiers import mostly_slow

from gnrs_ppl.context.output import write_all
from gnrs_ppl.errors import AmbiguousSentence
from gnrs_ppl.report.audited import FILES
from gnrs_ppl.report.draft import print_ways
from gnrs_ppl.report.rule_page import moment
from gnrs_ppl.serve import app
from gnrs_ppl.serve.auditing import COLUMNS, ROWS, Asked, look_up
from gnrs_ppl.serve.drafting import context_of
from gnrs_ppl.serve.jobs import Jobs
from gnrs_ppl.serve.web import Site

HOSTILE = "<script>document.title='ran'</script><img src=x onerror=alert(1)> javascript:alert(2) \u202eevil"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as somebody leaves it who drafted twice, audited, compared and asked."""
    return worked_in(tmp_path_factory.mktemp("served") / "folder")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """One's own copy of it."""
    shutil.copytree(made, tmp_path / "served")
    return tmp_path / "served"


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs wait, so that what they were asked can be looked at without the work."""

    async def nothing(self: Jobs) -> None:
        return

    monkeypatch.setattr(Jobs, "_work", nothing)


@pytest.fixture
def served(folder: Path, waiting: None) -> Iterator[tuple[TestClient, Site]]:
    with in_process(folder) as both:
        yield both


def text_of(page: str) -> str:
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", page).split()))


# Drafts


def test_a_draft_is_begun_with_what_was_chosen(served: tuple[TestClient, Site]) -> None:
    client, site = served
    form: dict[str, Any] = fields(client.get("/draft?context=invoices/context.yaml").text, "/draft")
    form |= {"seed": "7", "chains": "8", "steps": "50", "kernel": "gibbs", "statement": "2"}
    answer = client.post("/draft", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs/3")
    job = site.jobs.find("3")
    assert job.arguments == (
        "draft", "invoices/context.yaml", "--statement=2", "--seed=7", "--chains=8", "--steps=50",
        "--kernel=gibbs", "--out", "rule-invoices",
    )  # fmt: skip
    assert job.then == "/rule?of=rule-invoices%2Fdraft.json"
    client.post("/draft", data=form)
    assert site.jobs.find("4").arguments[-1] == "rule-invoices-2"  # the first has not written its folder yet


def test_the_page_of_a_rule_says_what_the_report_says(served: tuple[TestClient, Site], folder: Path) -> None:
    page = served[0].get("/rule?of=rule/draft.json").text
    shown = text_of(page)
    draft, audit = (json.loads((folder / "rule" / f"{kind}.json").read_text()) for kind in ("draft", "audit"))
    assert draft["text"].split(" Evidence: ")[0] in shown
    assert audit["violations"][0]["sentence"] in shown
    labels = {f"{slot}={o['option']}" for slot in ("scope", "norm") for o in draft["candidates"][slot]}
    assert labels <= set(map(unescape, re.findall(r'name="fix" value="([^"]*)"', page)))


def test_the_page_of_a_rule_says_that_no_calendar_counts_its_time(
    served: tuple[TestClient, Site], folder: Path
) -> None:
    uncounted = "working time is left uncounted: the records declare no calendar (records.calendar)"
    told = f"Undecided on these records: {uncounted}."
    assert told not in text_of(served[0].get("/rule?of=rule/draft.json").text)
    for kind in ("draft", "audit"):
        data = json.loads((folder / "rule" / f"{kind}.json").read_text())
        (data["check"] if kind == "draft" else data)["assumptions"].append(uncounted)
        write_all(folder / "rule", [(f"{kind}.json", json.dumps(data).encode())], manifest=True)
    assert told in text_of(served[0].get("/rule?of=rule/draft.json").text)


def test_a_pin_begins_a_draft_of_its_own(served: tuple[TestClient, Site]) -> None:
    client, site = served
    page = client.get("/rule?of=other/draft.json").text
    form = fields(page, "/draft")
    pins = [unescape(pin) for pin in re.findall(r'name="fix" value="(evidence=[^"]*)"', page)]
    left = [unescape(name) for name in re.findall(r'name="without" value="([^"]*)"', page)]
    assert "role:budget_holder" in left
    for kind, value in (("fix", pins[0]), ("without", "role:budget_holder")):
        answer = client.post("/draft", data=form | {kind: [*form.get(kind, []), value]})
        arguments = site.jobs.find(answer.headers["location"].rpartition("/")[2]).arguments
        assert f"--{kind}={value}" in arguments
        assert "--fix=norm.deadline=P5D" in arguments  # what was pinned before stays so
        assert "--kernel=exact" in arguments
        assert arguments[-1] not in ("rule", "other")


def test_what_is_pinned_says_what_the_verb_takes(made: Path) -> None:
    """Each value that a button sends is one that ``gnrs draft`` understands."""
    from gnrs_ppl.posterior.condition import read_pins

    with in_process(made) as (client, _):
        page = client.get("/rule?of=rule/draft.json").text
    sent = {
        kind: [unescape(v) for v in re.findall(f'name="{kind}" value="([^"]*)"', page)]
        for kind in ("fix", "without")
    }
    pins = read_pins(sent["fix"], sent["without"])
    assert len(pins) == len(set(sent["fix"])) + len(set(sent["without"])) > 20


def test_answers_choose_where_they_are_asked_to(served: tuple[TestClient, Site], folder: Path) -> None:
    client, site = served
    (folder / "invoices" / "answers.yaml").write_text("goal: invoice_approval\nanswers: []\n")
    page = client.get("/draft?context=invoices/context.yaml").text
    assert "Let the answers in" in text_of(page)
    client.post("/draft", data=fields(page, "/draft") | {"answers": ["1"]})
    assert site.jobs.find("3").arguments[2:4] == ("--answers", "invoices/answers.yaml")


def test_a_draft_that_asks_is_answered_by_a_button(
    served: tuple[TestClient, Site], capsys: pytest.CaptureFixture[str]
) -> None:
    client, site = served
    client.post("/draft", data=fields(client.get("/draft?context=invoices/context.yaml").text, "/draft"))
    job = site.jobs.find("3")
    ways = [
        f"An invoice must be {done} within five days of its posting, by a clerk of the accounts office."
        for done in ("paid", "booked")
    ]
    print_ways(
        AmbiguousSentence([f"{way} {way}" for way in ways], [0.6, 0.3], [["'paid' read as Pay, 3 rows"], []])
    )
    job.folder.mkdir(exist_ok=True)
    (job.folder / "out.txt").write_text(capsys.readouterr().out)
    job.state, job.code = "refused", 4
    page = client.get("/jobs/3").text
    form = fields(page, "/jobs/3/reading")
    assert [text_of(b) for b in re.findall(r'<button name="reading".*?</button>', page)] == [
        f"{w} {w}" for w in ways
    ]
    answer = client.post("/jobs/3/reading", data=form | {"reading": "2"})
    assert answer.status_code == 303
    assert site.jobs.find("4").arguments == (*job.arguments, "--reading=2")
    assert client.post("/jobs/3/reading", data=form | {"reading": "3"}).status_code == 400


def test_a_context_that_changed_is_not_drafted_from(served: tuple[TestClient, Site], folder: Path) -> None:
    client, site = served
    form = fields(client.get("/draft?context=invoices/context.yaml").text, "/draft")
    with (folder / "invoices" / "context.yaml").open("a") as file:
        file.write("# changed\n")
    answer = client.post("/draft", data=form)
    assert answer.status_code == 409
    assert "Changed meanwhile" in answer.text
    assert len(site.jobs.all()) == 2


def test_the_context_of_a_draft_is_found_by_its_name_or_its_path(
    served: tuple[TestClient, Site], folder: Path
) -> None:
    request: Any = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(site=served[1])))
    for said in ("invoices/context.yaml", "./invoices/context.yaml", str(folder / "invoices/context.yaml")):
        found = context_of(request, said)
        assert found is not None
        assert found.name == "invoices/context.yaml"
    for said in ("context.yaml", "/invoices/context.yaml", "../context.yaml", ""):
        assert context_of(request, said) is None


# Imports


def test_an_import_has_a_folder_of_its_own_be_it_the_one_that_is_served(
    served: tuple[TestClient, Site], folder: Path
) -> None:
    client, site = served
    form: dict[str, Any] = fields(client.get("/import?log=invoices/events.csv").text, "/import/run")
    for out in ("jobs-2", "jobs-3"):  # the first has not written its folder yet, and "jobs" is ours
        client.post("/import/run", data=form | {"out": "jobs"})
        assert site.jobs.all()[0].arguments == ("import", "invoices/events.csv", "--out", out)
    shutil.copy(folder / "invoices" / "context.yaml", folder / "my own.yaml")
    (folder / "import.json").write_text('{"source": "x", "text": "", "columns": {}, "source_columns": []}')
    page = client.get("/import?context=my own.yaml").text
    assert "gnrs import LOG --out . --update" in page
    assert "gnrs draft 'my own.yaml' --out" in unescape(client.get("/draft?context=my own.yaml").text)
    client.post("/import/again", data=fields(page, "/import/again") | {"log": "invoices/events.csv"})
    assert site.jobs.all()[0].arguments == ("import", "invoices/events.csv", "--out", ".", "--update")


# Hostile requests


NAMES = (
    "../secret.csv", "/etc/passwd", "rule/../../secret.csv", "linked/draft.json", "link.csv", "%2e%2e/secret.csv",
    "..%2fsecret.csv", "..\\secret.csv", "file:///etc/passwd", "rule/draft.json%00.csv", "./invoices/events.csv", "1%0a", "٣",
    "--out=/tmp/elsewhere", "~/secret.csv",
)  # fmt: skip
FILES_NAMED = {"log", "of", "rule", "file", "job", "{number}", "{name}"}
"""Parameters that name a file or a job wherever they stand."""
NO_PATHS = {
    "--fix", "--without", "--seed", "--chains", "--steps", "--statement", "--kernel", "--case", "--zone", "--dates",
    "--time-format", "--mass", "--answer", "--json", "--update",
}  # fmt: skip
"""Options that no verb takes a path by."""


@pytest.mark.parametrize("name", mostly_slow(NAMES, but=NAMES[:1]))
def test_a_name_leads_nowhere_but_into_the_folder(name: str, folder: Path, waiting: None) -> None:
    """In every parameter of every route, the others being as a page sends them."""
    (folder.parent / "secret.csv").write_text("this is outside of the folder")
    shutil.copytree(folder / "rule", folder.parent / "elsewhere")
    (folder / "linked").symlink_to(folder.parent / "elsewhere")
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "imported").mkdir()
    shutil.copy(folder / "invoices" / "context.yaml", folder / "imported")
    (folder / "imported" / "import.json").write_text(
        '{"source": "events.csv", "text": "", "columns": {}, "source_columns": ["a"]}'
    )
    outside = seen(folder.parent)
    with in_process(folder) as (client, site):
        running(site)
        routes = [route for page in app.PAGES for route in page.ROUTES]
        starts = [Sent("GET", "/asked", (("job", "1"),)), Sent("GET", "/compared", (("job", "2"),))]
        (token,) = fields(client.get("/draft?context=invoices/context.yaml").text, "/draft")["token"]
        starts.append(Sent("POST", "/jobs/1/reading", (("token", token), ("reading", "1"))))
        asked = parameters(crawl(client, *starts), [Route("/static/{name}", app.static), *routes])
        assert len(asked) > 90
        for one, parameter in asked:
            answer = put(one, parameter, name).by(client)
            where = (one.method, one.path, parameter)
            assert answer.status_code < 500, where
            if parameter in FILES_NAMED and (parameter in dict(one.fields) or parameter[0] == "{"):
                assert answer.status_code in (400, 404, 405), where
            assert "outside of the folder" not in answer.text, where
            assert "root:" not in answer.text, where
            for job in [*site.jobs._waiting]:
                assert leads_inside(job.arguments, folder), (where, job.arguments)
                site.jobs._waiting.clear()
    assert seen(folder.parent) == outside


def test_a_link_beside_a_listed_file_is_not_followed(served: tuple[TestClient, Site], folder: Path) -> None:
    shutil.copytree(folder / "rule", folder.parent / "elsewhere")
    for page, name in (
        ("/verdicts?of=rule/audit.json", "verdicts.csv"), ("/rule?of=rule/audit.json", "draft.json"),
        ("/rule?of=rule/draft.json", "posterior.nc"), ("/rule?of=rule/draft.json", "rule.json"),
    ):  # fmt: skip
        assert served[0].get(page).status_code == 200
        (folder / "rule" / name).rename(folder / "kept")
        (folder / "rule" / name).symlink_to(folder.parent / "elsewhere" / name)
        assert served[0].get(page).status_code == 404, name
        (folder / "kept").replace(folder / "rule" / name)


def seen(place: Path) -> dict[str, float]:
    """What lies beside the folder that is served, and when it was changed."""
    return {
        str(path): path.stat().st_mtime
        for path in place.rglob("*")
        if path.parts[len(place.parts)] != "served"
    }


def leads_inside(arguments: tuple[str, ...], folder: Path) -> bool:
    """Whether every path that a verb is given lies in the folder."""
    paths = []
    for before, said in pairwise(("", *arguments)):
        option, _, value = said.partition("=") if said.startswith("--") else ("", "", said)
        if option not in NO_PATHS and before != "--column":
            paths.append(value)
    return all((folder / path).resolve().is_relative_to(folder) for path in paths)


def test_no_field_becomes_an_option(served: tuple[TestClient, Site]) -> None:
    client, site = served
    form: dict[str, Any] = fields(client.get("/draft?context=invoices/context.yaml").text, "/draft")
    for name in ("seed", "chains", "steps", "statement"):
        assert client.post("/draft", data=form | {name: "--out=/tmp"}).status_code == 400
    assert client.post("/draft", data=form | {"fix": ["norm=N1\0", "norm=N1"]}).status_code == 400
    client.post("/draft", data=form | {"fix": ["--out=/tmp"], "without": ["--weights=x"], "kernel": "--llm"})
    arguments = site.jobs.find("3").arguments
    assert {"--fix=--out=/tmp", "--without=--weights=x", "--kernel=--llm"} <= set(arguments)
    assert [a for a in arguments if a.startswith("--out")] == ["--out"]


def test_hostile_texts_are_texts(folder: Path, waiting: None) -> None:
    """In a draft, an audit, a question and a comparison, each text one that would run or be too long."""
    long = "y" * 3_000
    for kind in ("draft", "audit"):
        content = (folder / "rule" / f"{kind}.json").read_text()
        for found, text in (("budget holder", HOSTILE), ("approval workflow log", long)):
            content = content.replace(found, json.dumps(text)[1:-1])
        write_all(folder / "rule", [(f"{kind}.json", content.encode())], manifest=True)
    for number in (1, 2):
        out = folder / "jobs" / str(number) / "out.txt"
        out.write_text(out.read_text().replace("inv", json.dumps(HOSTILE)[1:-1]))
    with in_process(folder) as (client, _):
        for path in (
            "/rule?of=rule/draft.json",
            "/verdicts?of=rule/audit.json",
            "/asked?job=1",
            "/compared?job=2",
        ):
            page = client.get(path)
            assert page.status_code == 200, (path, text_of(page.text)[-300:])
            assert set(re.findall(r"<script[^>]*>", page.text)) <= {
                '<script src="/static/htmx.min.js" defer>', '<script src="/static/sse.min.js" defer>',
            }  # fmt: skip
            assert "<img" not in page.text
            assert "\u202e" not in text_of(page.text)  # what a form sends back is as it is
            assert not re.search(r'\son\w+="', page.text)


# Audits


def test_verdicts_are_filtered_and_paged(served: tuple[TestClient, Site], folder: Path) -> None:
    client, _ = served
    with (folder / "rule" / "verdicts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    counted = Counter(row["verdict"] for row in rows)
    for verdict, count in counted.items():
        page = text_of(client.get(f"/verdicts?of=rule/audit.json&verdict={verdict}").text)
        assert f"{count:,} verdicts, page 1 of {-(-count // ROWS)}." in page
    violated = [row for row in rows if row["verdict"] == "violated"]
    seen = [
        case
        for number in range(1, -(-len(violated) // ROWS) + 1)
        for case in re.findall(
            r'<th scope="row" class="case"><bdi>([^<]*)',
            client.get(f"/verdicts?of=rule/audit.json&verdict=violated&page={number}").text,
        )
    ]
    assert seen == [row["case_id"] for row in violated]
    one = [row for row in rows if "0" in row["case_id"] and row["reason"] == "late"]
    assert f"{len(one):,} verdicts" in text_of(
        client.get("/verdicts?of=rule/audit.json&reason=late&case=0").text
    )
    for query in ("case=' OR 1=1 --", "verdict=x' UNION SELECT 1 --", "reason=%00", "case=" + "z" * 5_000):
        assert "0 verdicts, page 1 of 1." in text_of(client.get(f"/verdicts?of=rule/audit.json&{query}").text)
    for number in ("-1", "1e3", "9" * 40, "²", "999999"):
        assert client.get(f"/verdicts?of=rule/audit.json&page={number}").status_code == 200


def test_a_hundred_thousand_verdicts_open_quickly(folder: Path, waiting: None) -> None:
    """The real ``audit.json`` beside 10^5 rows, among them values with quotes and line ends."""
    place, rows = folder / "rule", 100_000
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for n in range(rows):
        case = f'c{n:06}"\n,' if n % 10 == 0 else f"c{n:06}"
        table.writerow([case, f"e{n}", 0, "violated" if n % 4 == 0 else "satisfied", "late" if n % 4 == 0 else "proven", "", "clerk", "2024-01-01", -5.0, f"In case {case} it came late."])  # fmt: skip
    write_all(
        place,
        [("audit.json", (place / "audit.json").read_bytes()), ("verdicts.csv", text.getvalue().encode())],
        manifest=True,
    )
    with in_process(folder) as (client, _):
        for query in ("", "&verdict=violated&case=99&page=2", "&page=2000"):
            began = time.perf_counter()
            page = client.get(f"/verdicts?of=rule/audit.json{query}")
            assert time.perf_counter() - began < 3
            assert page.status_code == 200
        assert "100,000 verdicts, page 2,000 of 2,000." in text_of(page.text)
    with (place / "verdicts.csv").open("rb") as file:
        assert look_up(file, Asked("", "", '"\n,'), 1)[0] == rows // 10


def test_verdicts_that_were_changed_are_not_shown(served: tuple[TestClient, Site], folder: Path) -> None:
    with (folder / "rule" / FILES[1]).open("a") as file:
        file.write("x\n")
    answer = served[0].get("/verdicts?of=rule/audit.json")
    assert answer.status_code == 400
    assert "is not as it was written" in text_of(answer.text)


def test_an_audit_goes_into_the_folder_of_its_draft(served: tuple[TestClient, Site], folder: Path) -> None:
    client, site = served
    (folder / "by-hand.yaml").write_text("rule: {}\n")
    for rule, out in (
        ("rule/rule.json", "rule"), ("by-hand.yaml", "audit-by-hand"), ("by-hand.yaml", "audit-by-hand-2")
    ):  # fmt: skip
        form = fields(client.get(f"/audit?rule={rule}").text, "/audit")
        assert client.post("/audit", data=form | {"context": ["invoices/context.yaml"]}).status_code == 303
        job = site.jobs.all()[0]
        assert job.arguments == ("audit", "invoices/context.yaml", "--rule", rule, "--out", out)


# Questions and comparisons


def test_a_question_is_put_and_its_answer_handed_to_the_verb(
    served: tuple[TestClient, Site], folder: Path
) -> None:
    client, site = served
    state = json.loads((folder / "jobs" / "1" / "out.txt").read_text())
    page = client.get("/asked?job=1").text
    shown = text_of(page)
    assert state["rule"] in shown
    for case in state["cases"].values():
        assert all(row["what"] in shown and moment(row["at"]) in shown for row in case["rows"])
        assert not re.search(r"erp_log|accounts_clerk|_invoice\b", shown)
    sent = [unescape(value) for value in re.findall(r'<button[^>]* name="answer" value="([^"]+)"', page)]
    questions = [state["question"], *state["others"]]
    first = next(question for question in questions if question["kind"] == "case")  # cases before parts
    assert sent == [f"{first['about']}={value}" for value in [*first["answers"], "unknown"]]
    assert all(button in shown for button in ("This case breaks the rule", "It keeps the rule", "Cannot say"))
    lines = re.findall(r'<svg class="line".*?</svg>', page, re.DOTALL)
    assert len(lines) == len(state["cases"])
    for line, case in zip(lines, state["cases"].values(), strict=True):
        rows = case["rows"]
        assert line.count("<circle") == len(rows)
        assert line.count('class="is-chosen"') == sum(row["named"] for row in rows) > 0
        x = [float(x) for x in re.findall(r'cx="([^"]+)"', line)]
        long = rows[-1]["seconds"]
        assert x == pytest.approx([x[0] + (x[-1] - x[0]) * row["seconds"] / long for row in rows])
    form = fields(page, "/ask")
    begun = client.post("/ask", data=fields(client.get("/ask").text, "/ask") | {"mass": [""]})
    job = site.jobs.find(begun.headers["location"].rpartition("=")[2])
    assert job.arguments == ("ask", "invoices/context.yaml", "--answers=invoices/answers.yaml", "--json")
    assert client.post("/ask", data=form | {"answer": [""], "answer-2": [""]}).status_code == 400
    sought = client.get(begun.headers["location"]).text
    assert f'sse-connect="/jobs/{job.number}/events"' in sought
    assert '<button name="answer"' not in sought
    second = next(question for question in questions if question is not first)
    further = f"{second['about']}={next(iter(second['answers']))}"
    answer = client.post("/ask", data=form | {"answer": [sent[0]], "answer-2": [further], "answer-3": [""]})
    job = site.jobs.find(answer.headers["location"].rpartition("=")[2])
    assert job.arguments == (
        "ask", "invoices/context.yaml", "--answers=invoices/answers.yaml", "--json", "--mass=0.1",
        f"--answer={sent[0]}", f"--answer={further}",
    )  # fmt: skip
    assert job.then == f"/asked?job={job.number}"
    assert client.post("/ask", data=form | {"answer": [sent[1]]}).status_code == 409  # it is not written yet
    assert site.jobs.all()[0] is job


def test_of_two_tabs_that_answer_the_second_is_shown_both(
    served: tuple[TestClient, Site], folder: Path
) -> None:
    client, site = served
    page = client.get("/asked?job=1").text
    answers = folder / "invoices" / "answers.yaml"
    answers.write_text("goal: invoice_approval\nanswers: [{part: norm.deadline, answer: P5D}]\n")
    answer = client.post("/ask", data=fields(page, "/ask") | {"answer": ["trigger.window=P7D"]})
    assert answer.status_code == 409
    assert "trigger.window=P7D" in text_of(answer.text)
    assert "answer: P5D" in text_of(answer.text)
    assert len(site.jobs.all()) == 2
    again = client.post("/ask", data=fields(answer.text, "/ask"))
    assert again.status_code == 303
    assert "--answer=trigger.window=P7D" in site.jobs.all()[0].arguments


def test_two_rules_stand_side_by_side(served: tuple[TestClient, Site], folder: Path) -> None:
    client, site = served
    found = json.loads((folder / "jobs" / "2" / "out.txt").read_text())
    shown = text_of(client.get("/compared?job=2").text)
    assert "They do not mean the same." in shown
    assert f"They differ on {len(found['on_log']['differing'])} of {found['on_log']['cases']} cases." in shown
    for sentences in found["searched"]["difference"]["sentences"]:
        assert all(sentence in shown for sentence in sentences)
    form = fields(client.get("/compare").text, "/compare")
    client.post("/compare", data=form | {"a": ["rule/rule.json"], "b": ["other/rule.json"]})
    assert site.jobs.all()[0].arguments == ("compare", "rule/rule.json", "other/rule.json", "--json")
