"""A job that is watched: the stream of its events, and the curves of its chains."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from served import context, entrance, in_process, on_a_port, stood, until

from gnrs_ppl.serve import watching
from gnrs_ppl.serve.jobs import Job

HOSTILE = "<script>document.title='ran'</script><img src=x onerror=alert(1)> javascript:alert(2) \u202eevil"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a context and a job that ran."""
    made = tmp_path / "served"
    made.mkdir()
    context(made, "invoices")
    stood(made, 1, "draft", "invoices/context.yaml")
    return made


def line(kind: str, **more: Any) -> str:
    return json.dumps({"at": 1.0, "kind": kind, **more}) + "\n"


def chains(step: int) -> str:
    return line(
        "chains", space="g", step=step, steps=4, best=0.5, r_hat=1.01, marginals=[[[1, 0.75], [0, 0.25]]]
    )


OPTIONS = line(
    "options",
    space="g",
    slots={"norm": [{"option": "N1", "phrase": "wait"}, {"option": "N2", "phrase": HOSTILE}]},
)
LINES = [
    line("stage", words="drafting"), OPTIONS, "{no json\n", line("stage", words="event: over\n\ndata: x"), chains(2),
    line("chains", space="other"), line("other"), "[1]\n", chains(4),
]  # fmt: skip


def events(text: str) -> list[tuple[str, str, str]]:
    """Event, id and data of a stream."""
    found = []
    for block in text.split("\n\n"):
        said = [part.partition(": ") for part in block.split("\n")]
        data = "\n".join(value for name, _, value in said if name == "data")
        event = [value for name, _, value in said if name == "event"]
        found += (
            [(event[0], "".join(value for name, _, value in said if name == "id"), data)] if event else []
        )
    return found


def test_the_stream_goes_on_where_it_broke_off(folder: Path) -> None:
    (folder / "jobs" / "1" / "progress.jsonl").write_text("".join(LINES) + '{"at": 1, "half')
    with in_process(folder) as (client, _):
        whole = events(client.get("/jobs/1/events").text)
        assert [(event, number) for event, number, _ in whole] == [
            ("stages", "1"), ("stages", "4"), ("chains", "5"), ("chains", "9"), ("over", ""),
        ]  # fmt: skip
        assert "75%" in whole[-2][2]
        assert "4 of 4" in whole[-2][2]
        assert "<script" not in whole[-2][2]
        assert "event: over" in whole[1][2]
        for after, left in (("1", 1), ("4", 2), ("5", 3), ("8", 3), ("9", 4)):
            assert events(client.get("/jobs/1/events", headers={"last-event-id": after}).text) == whole[left:]
        for malformed in ("", "x", "-1", "1e1", "10", "9" * 400, "4; DROP", "²"):
            headers = [(b"last-event-id", malformed.encode())]
            assert events(client.get("/jobs/1/events", headers=headers).text) == whole
        page = client.get("/jobs/1").text
        assert whole[-2][2].splitlines()[0] in page
        assert "<noscript>" not in page


def course(
    step: int, best: Any, r_hat: Any, shares: list[list[float]], space: str = "g", steps: int = 40
) -> str:
    return line("chains", space=space, step=step, steps=steps, best=best, r_hat=r_hat, marginals=[shares])


def drawn(page: str) -> list[list[tuple[float, float]]]:
    """The points of each curve of a page, its own units undone: step, and share of the height."""
    paths = re.findall(r'<svg class="curve".*?</svg>', page, re.DOTALL)
    return [
        [
            (round(float(x) / 100 * 40, 1), round((38 - float(y)) / 36, 2))
            for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", d)
        ]
        for svg in paths
        for d in re.findall(r' d="([^"]*)"', svg)
    ]


def test_the_curves_of_chains_are_the_lines_that_were_told(folder: Path) -> None:
    """Best score, R-hat and shares over the steps; what is no such line is no point of them."""
    told = [
        course(5, 0.2, None, [[0, 0.8]]),
        course(10, 0.5, 1.4, [[0, 0.4], [1, 0.2]]),
        course(15, 0.5, 1.2, [[1, 0.8]]),
        course(40, 0.7, 1.1, [[1, 0.6], [0, 0.4]]),
    ]
    broken = [
        course(20, 0.5, 1.0, [[0, 1.0]], steps=0),
        course(20, 10**400, 1.0, [[0, 1.0]]),
        course(20, 0.5, 1.0, [[7, 1.0]]),
        course(20, 0.5, 1.0, [[0, 1.0]]).replace("0.5", "NaN"),
        course(20, 0.5, 1.0, [[0, 1.0]]).replace("0.5", "1e999"),
        course(41, 0.5, 1.0, [[0, 1.0]]),
        course(10**30, 0.5, 1.0, [[0, 1.0]], steps=10**30),
    ]
    earlier = [OPTIONS.replace('"g"', '"before"'), course(5, 9.9, 9.9, [[0, 1.0]], space="before")]
    path = folder / "jobs" / "1" / "progress.jsonl"
    path.write_text("".join([*earlier, OPTIONS, *told[:3], *broken, told[3]]))
    with in_process(folder) as (client, _):
        page = client.get("/jobs/1").text
        *_, last, _ = events(client.get("/jobs/1/events").text)
        again = events(client.get("/jobs/1/events", headers={"last-event-id": "5"}).text)
    best, r_hat, second, first = drawn(page)
    assert best == [(5, 0), (10, 0.6), (15, 0.6), (40, 1)]
    assert r_hat == [(10, 1), (15, 0.5), (40, 0.25)]
    assert first == [(10, 0.25), (15, 1), (40, 0.75)]  # of 80%, the greatest
    assert second == [(5, 1), (10, 0.5), (40, 0.5)]
    assert "0 to 80%" in page
    assert page.count("M100.00 ") == 1  # a gap where the option was not told of
    assert drawn(last[2]) == drawn(page)
    assert drawn(again[-2][2]) == drawn(page)  # whole, though the stream goes on in the midst
    assert len(again) == 3


def test_a_stream_beats_ends_with_its_client_and_has_few_beside_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the real server: a job that runs, four who watch, a fifth refused, and one who goes."""
    monkeypatch.setattr(watching, "HEARTBEAT", 0.3)
    monkeypatch.setattr(watching, "LOOK", 0.05)
    with on_a_port(folder) as (address, site):
        place = folder / "jobs" / "8"
        place.mkdir()
        job = site.jobs._jobs[8] = Job(8, "A job", ("draft",), "/", place, state="running")
        with httpx.Client(base_url=address, timeout=20) as client:
            client.get(entrance(address))
            cookies = dict(client.cookies)
            watchers = [
                httpx.Client(base_url=address, cookies=cookies, timeout=20) for _ in range(watching.STREAMS)
            ]
            streams = [one.send(one.build_request("GET", "/jobs/8/events"), stream=True) for one in watchers]
            lines = [stream.iter_lines() for stream in streams]
            first = [next(one) for one in lines]
            assert first == ["retry: 1000"] * watching.STREAMS
            until_line(lines[0], lambda said: said == 'data: <span class="state running">running</span>')
            assert client.get("/jobs/8/events").status_code == 429
            until_line(lines[0], lambda said: said == ": still here")
            job.progress.write_text(LINES[0])
            until_line(lines[0], lambda said: said == "id: 1")
            assert "<noscript>" in client.get("/jobs/8").text
            streams[1].close()
            watchers[1].close()
            until(lambda: site.watchers[8] == watching.STREAMS - 1)
            job.state = "done"
            until_line(lines[0], lambda said: said == "event: over")
            until(lambda: site.watchers[8] == 0)
            for one in watchers:
                one.close()


def until_line(lines: Iterator[str], is_it: Callable[[str], bool]) -> None:
    for _ in range(200):
        if is_it(next(lines)):
            return
    raise AssertionError("the line never came")


def test_an_unread_job_tells_nothing(folder: Path) -> None:
    (folder / "jobs" / "1" / "progress.jsonl").symlink_to(folder / "invoices" / "events.csv")
    with in_process(folder) as (client, _):
        assert events(client.get("/jobs/1/events").text) == [("over", "", "done")]
        assert client.get("/jobs/1").status_code == 200
