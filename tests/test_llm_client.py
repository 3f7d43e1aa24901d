"""The real openai client against the scripted server on loopback; any other address is blocked."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest
from pydantic import BaseModel, Field
from scripted import ScriptedServer, instance, request_key
from tiers import tier

from gnrs_ppl.errors import InputError
from gnrs_ppl.llm import (
    PRICES,
    Answer,
    Cache,
    Costs,
    Message,
    OpenAIModel,
    Price,
    Request,
    Settings,
    Usage,
    ask,
    ask_all,
    parse_price,
    refuse_scripted,
    settings_from_environment,
)
from gnrs_ppl.llm.cache import canonical
from gnrs_ppl.llm.roles import ROLES, Role, parse_role

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

T = TypeVar("T")
KEY = "sk-MARKED-0123456789abcdefghijklmnopqrstuvwxyz"
OWN = "other-OWNED-9876543210zyxwvutsrqponmlkjihgfedcba"
"""The key of a role's own server."""


class Card(BaseModel, extra="forbid"):
    clause: str
    force: Literal["must", "should", "may"]
    score: int = Field(ge=1, le=5)
    steps: list[str] = Field(min_length=1)


CARD = '{"clause": "c", "force": "must", "score": 3, "steps": ["s"]}'


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_BASE_URL",
        "GNRS_STRUCTURED",
        "GNRS_MODEL_JUDGE",
        "GNRS_MODEL_SECOND_JUDGE",
        "OPENAI_LOG",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as started:
        yield started


def card(number: int, **changes: Any) -> Request[Card]:
    return replace(
        Request(
            "generator", (Message("system", "You write cards."), Message("user", f"task {number}")), Card
        ),
        **changes,
    )


def cards(count: int, **changes: Any) -> list[Request[Card]]:
    return [card(number, **changes) for number in range(count)]


def model(
    server: ScriptedServer, cache: Cache | None = None, costs: Costs | None = None, **changes: Any
) -> OpenAIModel:
    return OpenAIModel(replace(Settings(base_url=server.base_url, timeout=20.0), **changes), cache, costs)


def rows(path: Path) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """key -> request, reply of a cache file."""
    if not path.exists():
        return {}
    connection = sqlite3.connect(path, timeout=30)
    found = connection.execute("SELECT key, request, reply FROM answers").fetchall()
    connection.close()
    return {key: (json.loads(request), json.loads(reply)) for key, request, reply in found}


def server_key(sent: dict[str, Any]) -> str:
    return request_key(sent["role"], str(sent["sample"]), sent["body"])


def one(server: ScriptedServer, request: Request[Card] | None = None, **changes: Any) -> Answer[Card]:
    (answer,) = ask(model(server, **changes), [request or card(1)])
    return answer


def content(answers: list[Answer[Card]]) -> list[Any]:
    return [
        (answer.text, answer.parsed, answer.refusal, answer.error, answer.finish_reason) for answer in answers
    ]


# ways of asking


@pytest.mark.parametrize("way", ["json_schema", "json_object", "prompt"])
def test_each_way_gives_a_parsed_answer(
    server: ScriptedServer, way: Literal["json_schema"], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gnrs_ppl.llm")
    answer = one(server, structured=(way,))
    assert answer.error is None
    assert answer.parsed == Card.model_validate_json(answer.text)
    assert (answer.way, answer.tries, answer.cached, answer.finish_reason) == (way, 1, False, "stop")
    assert (answer.model, answer.scripted) == ("scripted/gpt-4o-mini", True)
    assert answer.usage is not None
    assert answer.cost == pytest.approx((answer.usage.input * 0.15 + answer.usage.output * 0.60) / 1e6)
    assert f"generator: gpt-4o-mini, {way}, answered" in caplog.text


@pytest.mark.parametrize(
    "lacking, way, asked",
    [(["no-json-schema"], "json_object", 3), (["no-json-schema", "no-json-object"], "prompt", 4)],
)
def test_ways_the_server_lacks_are_tried_once(
    lacking: list[str], way: str, asked: int, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedServer(dict.fromkeys(lacking, 1.0)) as server:
        answers = ask(model(server), cards(2), concurrency=1)
        assert [answer.way for answer in answers] == [way, way]
        assert all(answer.parsed for answer in answers)
        assert sum(server.asked.values()) == asked
    assert f"rejected {lacking[-1].removeprefix('no-').replace('-', '_')}" in caplog.text


def test_configured_ways_bound_the_fallback() -> None:
    with ScriptedServer({"no-json-schema": 1.0}) as server:
        answer = one(server, structured=("json_schema",))
    assert answer.error is not None
    assert answer.error.kind == "rejected"
    assert "unavailable" in answer.error.message


def test_a_bad_request_does_not_switch_ways_off() -> None:
    with ScriptedServer({"no-json-schema": 1.0, "no-json-object": 1.0}) as server:
        asked = model(server, structured=("json_schema", "json_object"))
        assert [answer.error and answer.error.kind for answer in ask(asked, cards(2), concurrency=1)] == [
            "rejected",
            "rejected",
        ]
        assert server.made == {"no-json-schema": 2, "no-json-object": 2}


def test_plain_text(server: ScriptedServer) -> None:
    (answer,) = ask(model(server), [Request("polisher", (Message("user", "Polish."),))])
    assert (answer.way, answer.error, answer.parsed) == ("text", None, None)
    assert re.fullmatch(r"Scripted answer [0-9a-f]{6}\.", answer.text)


@pytest.mark.parametrize(
    "text",
    [
        CARD,
        f"```json\n{CARD}\n```",
        f"Sure:\n\n```\n{CARD}\n```\nDone {{really}}.",
        f"<think>{{not this}}</think>\n{CARD}",
        f"{CARD} trailing words",
        CARD.replace('"c"', '"a ``` fence } inside {"'),
    ],
)
def test_json_is_found(text: str) -> None:
    with ScriptedServer(scripts={"generator": lambda *_: text}) as server:
        answer = one(server)
    assert answer.error is None
    assert answer.parsed is not None
    assert answer.parsed.steps == ["s"]


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "there is no brace"),
        ("no JSON", "there is no brace"),
        (
            '{"outer": ' + CARD,
            "no JSON object",
        ),  # the whole object inside a broken one is not taken for the answer
        (CARD[:-4], "no JSON object"),
        (CARD.replace("3", "NaN"), "NaN is not JSON"),
        (CARD.replace("3", "9"), "score: Input should be less than or equal to 5"),
        (CARD.replace('"must"', '"shall"'), "force: Input should be 'must', 'should' or 'may'"),
        (CARD.replace("{", '{"more": 1, '), "more: Extra inputs are not permitted"),
        ('{"a": ' * 100_000, "no JSON object"),
        (CARD.replace('"c"', '"\\ud800"'), "Invalid JSON"),
        (CARD.replace("3", "9" * 5000), "no JSON object"),
    ],
)
def test_bad_json_is_an_error_that_is_not_cached(text: str, problem: str, tmp_path: Path) -> None:
    with ScriptedServer(scripts={"generator": lambda *_: text}) as server, Cache(tmp_path / "c") as cache:
        (answer,) = ask(model(server, cache), [card(1, max_tokens=10**6)])
    assert answer.error is not None
    assert answer.error.kind == "invalid"
    assert problem in answer.error.message
    assert "\n" not in answer.error.message
    assert answer.text == text
    assert not rows(tmp_path / "c")


def test_half_characters_in_a_prompt_are_sent_as_question_marks(server: ScriptedServer) -> None:
    assert one(server, card(1, messages=(Message("user", "\ud800 \x00 ü"),))).error is None


# faults


@pytest.mark.parametrize(
    "fault, kind, tries",
    [
        ("429", "rate_limit", 3),
        ("500", "server", 3),
        ("timeout", "timeout", 3),
        ("drop", "connection", 3),
        ("malformed", "malformed", 1),
        ("truncated", "invalid", 1),
        ("length", "truncated", 1),
    ],
)
def test_errors_are_duty_lines_and_never_cached(fault: str, kind: str, tries: int, tmp_path: Path) -> None:
    with ScriptedServer({fault: 1.0}) as server, Cache(tmp_path / "c") as cache:
        (answer,) = ask(
            model(server, cache, retries=2, timeout=0.3 if fault == "timeout" else 20.0), [card(1)]
        )
        assert answer.error is not None
        assert (answer.error.kind, answer.tries, answer.parsed) == (kind, tries, None)
        assert sum(server.asked.values()) == server.made[fault] == tries
    assert not rows(tmp_path / "c")


def test_a_server_that_is_not_there() -> None:
    with ScriptedServer() as server:
        gone = model(server, retries=1)
    (answer,) = ask(gone, [card(1)])
    assert answer.error is not None
    assert answer.error.kind == "connection"
    assert answer.tries == 2


def test_fenced_json_is_parsed() -> None:
    with ScriptedServer({"fenced": 1.0}) as server:
        answer = one(server)
    assert "```json" in answer.text
    assert answer.parsed is not None
    assert answer.error is None


def test_a_refusal_is_an_answer_and_cached(tmp_path: Path) -> None:
    with ScriptedServer({"refusal": 1.0}) as server, Cache(tmp_path / "c") as cache:
        first, second = (ask(model(server, cache), [card(1)])[0] for _ in range(2))
    assert (first.refusal, first.error, first.parsed) == ("Declined by script.", None, None)
    assert second == replace(first, cached=True, tries=0)


def test_hallucinations_come_at_the_set_rate() -> None:
    """200 draws at 0.25: within 4.5 standard deviations of 50 (false alarm below 1e-5; the seed is fixed)."""
    with ScriptedServer({"hallucinated": 0.25}) as server:
        answers = ask(model(server), cards(200))
    invented = [answer for answer in answers if "invented " in answer.text]
    assert all(answer.parsed for answer in answers)  # enumerations are left whole
    assert len(invented) == server.made["hallucinated"]
    assert abs(len(invented) - 50) < 4.5 * (200 * 0.25 * 0.75) ** 0.5


def test_retries_are_counted() -> None:
    with ScriptedServer({"429": 0.3, "500": 0.2}) as server:
        answers = ask(model(server, retries=20), cards(60))
        assert not [answer.error for answer in answers if answer.error]
        assert (
            sum(answer.tries for answer in answers)
            == sum(server.asked.values())
            == 60 + server.made["429"] + server.made["500"]
        )
        assert server.made["429"] > 10
        assert server.made["500"] > 5
        assert sorted(answer.tries for answer in answers) == sorted(server.asked.values())


TEN_PERCENT = {
    "429": 0.03, "500": 0.02, "drop": 0.005, "timeout": 0.005, "truncated": 0.01, "refusal": 0.01, "fenced": 0.01, "hallucinated": 0.01,
}  # fmt: skip


def test_a_thousand_calls_with_ten_percent_faults_are_all_accounted_for(tmp_path: Path) -> None:
    calls = tier(300, 1000)
    requests = cards(calls)
    with ScriptedServer(TEN_PERCENT) as server:
        seen: list[Answer[Card]] = []
        with Cache(tmp_path / "c") as cache:
            first = ask(model(server, cache, timeout=3.0), requests, 32, seen.append)
        assert len(first) == len(seen) == calls
        assert sum(answer.tries for answer in first) == sum(server.asked.values())
        assert 0.07 * calls <= sum(server.made.values()) <= 0.14 * calls
        assert {fault for fault in server.made if server.made[fault]} == {*TEN_PERCENT}
        failed = [answer for answer in first if answer.error]
        assert {answer.error.kind for answer in failed if answer.error} == {"invalid"}
        assert len(failed) == server.made["truncated"]
        assert all(
            (answer.parsed is not None) + bool(answer.refusal) + bool(answer.error) == 1 for answer in first
        )
        assert len(rows(tmp_path / "c")) == calls - len(failed)
        for sent, reply in rows(tmp_path / "c").values():  # in the order of the requests
            number = int(sent["body"]["messages"][-1]["content"].removeprefix("task "))
            assert (first[number].text, first[number].refusal) == (reply["text"], reply["refusal"])
            if not reply["refusal"] and "invented" not in reply["text"] and "```" not in reply["text"]:
                schema = sent["body"]["response_format"]["json_schema"]["schema"]
                assert reply["text"] == server.text(
                    server_key(sent), "generator", sent["body"]["messages"], schema
                )

        server.faults = {}
        before = sum(server.asked.values())
        with Cache(tmp_path / "c") as cache:
            second = ask(model(server, cache), requests, 32)
        assert sum(server.asked.values()) - before == len(failed)  # only what failed is asked again
        assert not [answer for answer in second if answer.error]
        assert [a for a, b in zip(second, first, strict=True) if not b.error] == [
            replace(b, cached=True, tries=0) for b in first if not b.error
        ]

        before, costs = sum(server.asked.values()), Costs()
        with Cache(tmp_path / "c") as cache:
            third = ask(model(server, cache, costs), requests, 32)
        assert all(answer.cached for answer in third)  # 100 % hits
        assert content(third) == content(second)
        assert sum(server.asked.values()) == before
        assert (costs.hits, costs.calls, costs.known) == (calls, 0, 0.0)


def test_concurrency_changes_nothing() -> None:
    outputs = []
    for concurrency in (1, 32):
        faults = {"429": 0.05, "500": 0.05, "truncated": 0.05, "refusal": 0.05, "hallucinated": 0.05}
        with ScriptedServer(faults) as server:
            outputs.append(ask(model(server), cards(100), concurrency))
            assert sum(server.made.values()) > 10
    assert outputs[0] == outputs[1]


def test_concurrency_is_bounded() -> None:
    most = running = 0
    lock, five = threading.Lock(), threading.Barrier(5)

    def script(*_: Any) -> str:
        nonlocal most, running
        with lock:
            running += 1
            most = max(most, running)
        five.wait(60)  # nobody is answered before five have asked
        with lock:
            running -= 1
        return CARD

    with ScriptedServer(scripts={"generator": script}) as server:
        ask(model(server), cards(40), concurrency=5)
    assert most == 5


def test_equal_requests_are_asked_once_and_samples_apart(server: ScriptedServer, tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        answers = ask(model(server, cache), [card(1), card(1), card(1, sample=1), card(2), card(1, sample=2)])
    assert answers[0] is answers[1]
    assert len({answer.text for answer in answers}) == 4
    assert sorted(server.asked.values()) == [1, 1, 1, 1]
    assert sorted(sent["sample"] for sent, _ in rows(tmp_path / "c").values()) == [0, 0, 1, 2]


def test_ask_inside_a_running_loop_and_twice_in_a_row(server: ScriptedServer, tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        asked = model(server, cache, Costs(limit=1.0))

        async def notebook() -> list[Answer[Card]]:
            return ask(asked, cards(3))

        inside = asyncio.run(notebook())
        assert ask(asked, cards(6))[:3] == [replace(answer, cached=True, tries=0) for answer in inside]


def test_ask_all_within_one_loop(server: ScriptedServer) -> None:
    asked = model(server)

    async def run() -> list[Answer[Card]]:
        try:
            return await ask_all(asked, cards(3)) + await ask_all(asked, cards(3))
        finally:
            await asked.close()

    answers = asyncio.run(run())
    assert content(answers[:3]) == content(answers[3:])
    assert ask(asked, []) == []


# cache


def test_cache_modes(server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "folder" / "answers.sqlite"

    def run(mode: Any, count: int = 2) -> list[Answer[Card]]:
        with Cache(path, mode) as cache:
            return ask(model(server, cache), cards(count))

    with pytest.raises(InputError, match="no such file; a read-only cache must exist"):
        run("read-only")
    assert not path.parent.exists()
    off = run("off")
    assert not path.parent.exists()
    written = run("rw")
    assert off == written
    assert sum(server.asked.values()) == 4

    server.seed = 1  # the model has changed its mind
    assert [answer.cached for answer in run("rw")] == [True, True]
    refreshed = run("refresh")
    assert not any(answer.cached for answer in refreshed)
    assert content(refreshed) != content(written)
    assert sum(server.asked.values()) == 6
    assert content(run("rw")) == content(refreshed)

    before = path.read_bytes()
    monkeypatch.delenv("OPENAI_API_KEY")
    hits = run("read-only", 3)
    assert content(hits[:2]) == content(refreshed)
    assert hits[2].error is not None
    assert hits[2].error.kind == "cache_miss"
    assert path.read_bytes() == before
    assert sum(server.asked.values()) == 6
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


class Other(BaseModel):
    clause: str


@pytest.mark.parametrize(
    "request_, settings",
    [
        (card(2), {}),
        (card(1, role="polisher"), {}),
        (card(1, messages=(Message("user", "You write cards."), Message("user", "task 1"))), {}),
        (card(1, response=Other), {}),
        (card(1, response=None), {}),
        (card(1, temperature=0.0), {}),
        (card(1, seed=0), {}),
        (card(1, max_tokens=2047), {}),
        (card(1, sample=1), {}),
        (card(1), {"models": {"generator": "gpt-5.1"}}),
        (card(1), {"structured": ("prompt",)}),
        (card(1), {"structured": ("json_object",)}),
        (card(1), {"base_url": True}),
    ],
)
def test_the_key_holds_all_that_reaches_the_server(
    server: ScriptedServer, request_: Any, settings: dict[str, Any], tmp_path: Path
) -> None:
    if "base_url" in settings:
        settings = {"base_url": server.base_url + "/"}
    with Cache(tmp_path / "c") as cache:
        ask(model(server, cache), [card(1)])
        (answer,) = ask(model(server, cache, **settings), [request_])
        assert not answer.cached
        assert answer.error is None
        assert ask(model(server, cache, **settings), [request_])[0].cached
    assert len(rows(tmp_path / "c")) == 2


def test_a_cached_answer_that_no_longer_fits_is_asked_anew(server: ScriptedServer, tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        ask(model(server, cache), [card(1)])
        connection = sqlite3.connect(tmp_path / "c")
        connection.execute("UPDATE answers SET reply = replace(reply, 'clause', 'claws')")
        connection.commit()
        connection.close()
        (again,) = ask(model(server, cache), [card(1)])
        assert not again.cached
        assert again.parsed is not None
        assert ask(model(server, cache), [card(1)])[0].cached


def test_files_that_are_no_cache(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, and long enough to be read as one" * 50)
    for mode in ("rw", "read-only"):
        with pytest.raises(InputError, match="cannot be used as a cache"):
            Cache(tmp_path / "text", mode)  # type: ignore[arg-type]
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    with pytest.raises(InputError, match="is not an answer cache of this version"):
        Cache(tmp_path / "other")
    with pytest.raises(InputError, match="cannot be used as a cache"):
        Cache(tmp_path)
    with pytest.raises(InputError, match="cannot be used as a cache"):
        Cache(tmp_path / "text" / "below")
    with pytest.raises(InputError, match="no cache mode; choose off, rw, read-only, refresh"):
        Cache(tmp_path / "c", "write")  # type: ignore[arg-type]


def ninety(base_url: str, path: Path | str) -> list[Answer[Card]]:
    with Cache(path) as cache:
        return ask(OpenAIModel(Settings(base_url=base_url), cache), cards(90), 8)


CHILD = "import sys; from test_llm_client import ninety; ninety(*sys.argv[1:])"


@pytest.mark.slow
def test_a_killed_run_goes_on_without_repeating_or_losing_a_call(tmp_path: Path) -> None:
    path, rng = tmp_path / "c", random.Random(7)
    with ScriptedServer({"429": 0.05}, delay=0.02) as server:
        command = [sys.executable, "-c", CHILD, server.base_url, str(path)]
        kills = 2
        for _ in range(kills):
            goal = sum(server.answered.values()) + rng.randint(5, 35)
            with subprocess.Popen(
                command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as child:
                while sum(server.answered.values()) < goal:
                    assert child.poll() is None, child.communicate()
                    time.sleep(rng.random() / 100)
                child.send_signal(signal.SIGKILL)
                child.communicate()
            had = rows(path)
            time.sleep(0.2)  # what was in flight is answered to nobody
            asked = Counter(server.asked)
            assert len(had) >= goal - 8 * kills
        answers = ninety(server.base_url, path)
        assert {server_key(sent): server.asked[server_key(sent)] for sent, _ in had.values()} == {
            server_key(sent): asked[server_key(sent)] for sent, _ in had.values()
        }  # nothing that was stored was asked again
        assert sum(answer.cached for answer in answers) == len(had)
        assert len(answers) == len(rows(path)) == len(server.answered) == 90  # nothing is lost
        assert (
            sum(server.answered.values()) <= 90 + 8 * kills
        )  # what was in flight at a kill is all that was paid for twice
        clean = ask(model(server), cards(90), 8)
        assert [answer.text for answer in clean] == [answer.text for answer in answers]


def test_what_was_answered_is_kept_when_a_run_is_broken_off(tmp_path: Path) -> None:
    with ScriptedServer({"401": 0.05}) as server, Cache(tmp_path / "c") as cache:
        with pytest.raises(InputError, match="refused the key"):
            ask(model(server, cache), cards(200), 4)
        kept = len(rows(tmp_path / "c"))
        assert 0 < kept < 200
        server.faults = {}
        assert sum(answer.cached for answer in ask(model(server, cache), cards(200))) == kept


# costs


def test_prices() -> None:
    assert PRICES["gpt-5.1"].cost(Usage(1_000_000, 100_000, 400_000)) == pytest.approx(
        0.6 * 1.25 + 0.4 * 0.125 + 1.0
    )
    assert all(re.fullmatch(r"20\d\d-\d\d", price.as_of) and price.source for price in PRICES.values())
    assert set(Settings().models.values()) <= {name for name, price in PRICES.items() if price.verified}
    assert PRICES["claude-sonnet-4-5"].dated == "2026-02, not verified"
    assert Costs().cost("qwen3-235b", Usage(5, 5)) is None, "no price is not 0"
    assert parse_price("a=b=1,2") == ("a=b", Price(1, 1, 2, "", "stated by the user"))
    assert parse_price("m=1,0.5,2")[1][:3] == (1, 0.5, 2)
    for text in ("m", "=1,2", "m=1", "m=1,2,3,4", "m=x,1", "m=-1,1", "m=nan,1", "m=inf,1", ""):
        with pytest.raises(InputError, match="is not a price; write MODEL=IN,OUT"):
            parse_price(text)
    for limit in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="max-cost: .* is not an amount"):
            Costs(limit)


def billed(server: ScriptedServer, name: str = "gpt-4o-mini") -> float:
    """US dollars for all that the server worked out, delivered or not."""
    return sum(PRICES[name].cost(usage) for usage in server.billed)


@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize(
    "faults", [{}, {"429": 0.1, "truncated": 0.1, "timeout": 0.05}], ids=["sound", "faulty"]
)
@pytest.mark.parametrize("limit", [0.0005, 0.002])
def test_the_limit_is_never_exceeded(
    concurrency: int, faults: dict[str, float], limit: float, tmp_path: Path
) -> None:
    with ScriptedServer(faults) as server, Cache(tmp_path / "c") as cache:
        costs = Costs(limit)
        # a sound server may be slow under load; only where an answer never comes is it not waited for
        timeout = 0.4 if "timeout" in faults else 20.0
        answers = ask(
            model(server, cache, costs, timeout=timeout, retries=2), cards(80, max_tokens=100), concurrency
        )
        stopped = [answer for answer in answers if answer.error and answer.error.kind == "max_cost"]
        assert costs.stopped
        assert 0 < len(stopped) < 80
        assert all(answer.tries == 0 for answer in stopped)
        assert 0 < billed(server) <= costs.known + costs.possible + 1e-12 <= limit + 1e-12
        if not faults:
            assert billed(server) == pytest.approx(costs.known)
            size = max(len(canonical(sent["body"])) for sent, _ in rows(tmp_path / "c").values())
            assert (
                costs.known + 3 * costs.bound("gpt-4o-mini", size, 100) > limit
            )  # and it is used up to one call with its retries


def test_under_the_limit_all_is_asked_and_counted(server: ScriptedServer) -> None:
    costs = Costs(1.0)
    answers = ask(model(server, costs=costs), cards(50))
    assert not [answer for answer in answers if answer.error]
    assert (
        costs.known
        == pytest.approx(sum(answer.cost or 0.0 for answer in answers))
        == pytest.approx(billed(server))
    )
    assert (costs.calls, costs.possible, costs.unpriced, costs.stopped) == (50, 0.0, 0, False)
    assert costs.tokens == Usage(
        sum(usage.input for usage in server.billed), sum(usage.output for usage in server.billed)
    )


def test_cached_answers_are_free_after_the_limit(server: ScriptedServer, tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        ask(model(server, cache), cards(3))
        answers = ask(model(server, cache, Costs(0.0)), cards(5), 1)
    assert [answer.error and answer.error.kind for answer in answers] == [
        None,
        None,
        None,
        "max_cost",
        "max_cost",
    ]


def test_an_unknown_price_is_an_unknown_cost_and_refused_under_a_limit(server: ScriptedServer) -> None:
    local: dict[str, Any] = {"models": {"generator": "qwen3:8b"}}
    costs = Costs()
    (answer,) = ask(model(server, costs=costs, **local), [card(1)])
    assert answer.error is None
    assert (answer.cost, costs.unpriced, costs.known) == (None, 1, 0.0)
    line = (
        "arguments: max-cost: the price of 'qwen3:8b' is not known, so the limit cannot be kept; "
        "state it: --price qwen3:8b=IN,OUT in US dollars for a million tokens"
    )
    with pytest.raises(InputError, match=f"^{re.escape(line)}$"):
        ask(model(server, costs=Costs(1.0), **local), [card(2)])
    assert sum(server.asked.values()) == 1
    stated = Costs(1.0, {**PRICES, **dict([parse_price("qwen3:8b=1,2")])})
    (answer,) = ask(model(server, costs=stated, **local), [card(2)])
    assert answer.usage is not None
    assert stated.known == answer.cost == pytest.approx((answer.usage.input + 2 * answer.usage.output) / 1e6)


# keys and configuration


def test_the_key_is_in_no_artefact(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    with ScriptedServer({"echo": 1.0}) as server, Cache(tmp_path / "c") as cache:
        asked = model(server, cache)
        echoed, _ = ask(asked, [Request("judge", (Message("user", "echo"),)), card(1)])
        assert (
            "authorization: bearer [openai_api_key]" in echoed.text.lower()
        )  # it was sent, and taken out of what came back
        seen += [
            repr(asked),
            repr(echoed),
            json.dumps(echoed.record()),
            str(vars(cache)),
            repr(asked.settings),
        ]
        for faults in ({"401": 1.0}, {"no-json-schema": 1.0}, {"drop": 1.0}):
            server.faults = faults
            try:
                seen.append(repr(ask(model(server, cache, retries=1), [card(2), card(3)])))
            except InputError as error:
                seen.append(
                    "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
                )
        assert server.made["401"] > 0
    artefacts = {
        "cache": (tmp_path / "c").read_bytes().decode("latin-1"),
        "log": caplog.text,
        "objects": "".join(seen),
    }
    artefacts["streams"] = "".join(capfd.readouterr())
    assert len(rows(tmp_path / "c")) == 3  # the echo, and two cards asked for by a JSON object
    assert "openai" in {record.name.split(".")[0] for record in caplog.records}
    assert "refused the key (401)" in artefacts["objects"]
    for name, text in artefacts.items():
        assert KEY not in text, name
        assert KEY[3:20] not in text, name


@pytest.mark.parametrize("role", ROLES)
def test_a_role_has_its_own_server_and_key(
    role: Role,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Its server sees its key and neither the other key nor who asks; no artefact holds it."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv(f"GNRS_API_KEY_{role.upper()}", OWN)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-MARKED-0123456789abcdef")
    other = next(one for one in ROLES if one != role)
    with (
        ScriptedServer({"echo": 1.0}) as first,
        ScriptedServer({"echo": 1.0}) as second,
        Cache(tmp_path / "c") as cache,
    ):
        monkeypatch.setenv("OPENAI_BASE_URL", first.base_url)
        settings = settings_from_environment(roles=[f"{other}=a", f"{role}=vendor/b@{second.base_url}"])
        asked = OpenAIModel(replace(settings, retries=0), cache)
        answers = ask(asked, [Request(one, (Message("user", "echo"),)) for one in (role, other)])
        assert (sum(first.asked.values()), sum(second.asked.values())) == (1, 1)
        second.faults = {"401": 1.0}
        with pytest.raises(InputError, match=f"GNRS_API_KEY_{role.upper()}: the server at") as refused:
            ask(asked, [Request(role, (Message("user", "again"),))])
        told = "".join(
            traceback.TracebackException.from_exception(refused.value, capture_locals=True).format()
        )
    said = answers[0].text.lower()
    assert f"authorization: bearer [gnrs_api_key_{role}]" in said
    assert "openai_api_key" not in said
    assert "org-" not in said
    assert "openai_org_id" not in said
    assert "authorization: bearer [openai_api_key]" in answers[1].text.lower()
    artefacts = [repr(asked), repr(answers), told, caplog.text, *capfd.readouterr()]
    artefacts.append((tmp_path / "c").read_bytes().decode("latin-1"))
    assert not [text for text in artefacts if OWN[6:18] in text or KEY[3:20] in text]


def test_a_role_without_a_key_for_its_server_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of another server is never sent in its place."""
    with ScriptedServer() as server:
        settings = settings_from_environment(roles=[f"judge=b@{server.base_url}"])
        with pytest.raises(InputError, match="^a language model is needed and GNRS_API_KEY_JUDGE is not set"):
            ask(OpenAIModel(settings), [Request("judge", (Message("user", "x"),))])
        assert not server.asked


@pytest.mark.parametrize("text", ["judge", "jugde=m", "judge=", "judge=@http://a/v1", "=m"])
def test_roles_are_checked(text: str) -> None:
    with pytest.raises(
        InputError, match="^arguments: --role: .* is no role with its model; write ROLE=MODEL"
    ):
        parse_role(text)


@pytest.mark.parametrize(
    "key, line",
    [
        (
            None,
            "a language model is needed and OPENAI_API_KEY is not set; set OPENAI_API_KEY (any word where OPENAI_BASE_URL names a server that asks for none)",
        ),
        (
            "",
            "a language model is needed and OPENAI_API_KEY is not set; set OPENAI_API_KEY (any word where OPENAI_BASE_URL names a server that asks for none)",
        ),
        (
            KEY + "\n",
            "environment: OPENAI_API_KEY: holds blanks, line breaks or other characters no key has; set it again",
        ),
        (
            "schlüssel",
            "environment: OPENAI_API_KEY: holds blanks, line breaks or other characters no key has; set it again",
        ),
    ],
)
def test_a_missing_or_broken_key_is_one_line(
    server: ScriptedServer, key: str | None, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY") if key is None else monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InputError) as caught:
        ask(model(server), cards(3))
    assert str(caught.value) == line
    assert caught.value.exit_code == 2
    assert not server.asked


def test_a_missing_sdk_is_one_line(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(InputError, match=r"^the openai package is not installed; pip install 'openai'$"):
        ask(model(server), [Request("judge", (Message("user", "?"),))])


def test_refused_keys_and_unknown_places_stop_the_run() -> None:
    with ScriptedServer({"401": 1.0}) as server:
        with pytest.raises(InputError) as caught:
            ask(model(server), cards(3))
        assert (
            str(caught.value)
            == f"environment: OPENAI_API_KEY: the server at {server.base_url} refused the key (401); set a key that it knows"
        )
        with pytest.raises(
            InputError,
            match="has no model 'gpt-4o-mini' or no chat completions .*; check OPENAI_BASE_URL and GNRS_MODEL_GENERATOR",
        ):
            ask(model(server, base_url=server.base_url.replace("/v1", "/v2")), cards(3))


def test_settings_come_from_the_environment() -> None:
    settings = settings_from_environment(
        {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1/", "GNRS_MODEL_JUDGE": "m", "GNRS_MODEL_PARSER": ""}
    )
    assert settings.base_url == "http://127.0.0.1:1/v1"
    assert [settings.model(role) for role in ("generator", "polisher", "parser", "judge")] == [
        "gpt-4o-mini",
        "gpt-4o-mini",
        "gpt-5.1",
        "m",
    ]
    with pytest.raises(
        InputError, match="^environment: no model is set for the second judge; set GNRS_MODEL_SECOND_JUDGE$"
    ):
        settings.model("second_judge")
    assert settings_from_environment({"GNRS_STRUCTURED": "json_object, prompt"}).structured == (
        "json_object",
        "prompt",
    )
    with pytest.raises(InputError, match="GNRS_STRUCTURED: is no list of ways"):
        settings_from_environment({"GNRS_STRUCTURED": "xml"})
    assert (settings.limit_field("judge"), Settings().limit_field("judge")) == (
        "max_tokens",
        "max_completion_tokens",
    )


@pytest.mark.parametrize(
    "url, problem",
    [
        ("127.0.0.1:8000/v1", "is not an http"),
        ("ftp://host/v1", "is not an http"),
        ("http://", "is not an http"),
        ("http://[::1/v1", "is not an http"),
        ("http://host:x/v1", "is not an http"),
        ("https://me:SECRET@host/v1", "holds more than host and path"),
        ("https://host/v1?key=SECRET", "holds more than host and path"),
    ],
)
def test_addresses_are_checked_and_not_shown(url: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"^environment: OPENAI_BASE_URL: {problem}") as caught:
        settings_from_environment({"OPENAI_BASE_URL": url})
    assert "SECRET" not in str(caught.value)


def test_importing_is_light() -> None:
    probe = "import gnrs_ppl.llm, sys; heavy = {'openai', 'httpx2', 'jax', 'http.server'} & set(sys.modules); assert not heavy, heavy"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_other_addresses_are_blocked() -> None:
    from pytest_socket import SocketConnectBlockedError

    with (
        socket.socket() as client,
        pytest.warns(UserWarning, match="192.0.2.1"),
        pytest.raises(SocketConnectBlockedError),
    ):
        client.connect(("192.0.2.1", 443))


# the scripted server


def test_scripted_answers_are_marked_and_refused(server: ScriptedServer, tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        for _ in range(2):
            answers = ask(model(server, cache), cards(2))
            assert all(answer.record()["scripted"] is True for answer in answers)
            real = replace(answers[0], scripted=False)
            with pytest.raises(
                InputError,
                match="^2 of 3 answers were made by the scripted server, which is no model; results need a real one",
            ):
                refuse_scripted([*answers, real])
            refuse_scripted([real])
    assert json.loads(json.dumps(answers[0].record())).keys() == {*Answer.__dataclass_fields__} - {"parsed"}


def test_roles_have_their_scripts(server: ScriptedServer) -> None:
    def judge(messages: Any, schema: Any, rng: random.Random) -> str:
        return json.dumps(
            {
                "clause": messages[-1]["content"],
                "force": "may",
                "score": rng.randint(1, 5),
                "steps": sorted(schema["properties"]),
            }
        )

    with ScriptedServer(scripts={"judge": judge}) as server:
        judged, written = ask(model(server), [card(1, role="judge"), card(1)])
    assert judged.parsed is not None
    assert (judged.parsed.clause, judged.parsed.steps) == ("task 1", ["clause", "force", "score", "steps"])
    assert written.text != judged.text


class Part(BaseModel, Generic[T]):
    content: T


def test_names_of_generic_models_are_sent_in_plain_letters(server: ScriptedServer, tmp_path: Path) -> None:
    with Cache(tmp_path / "c") as cache:
        assert (
            ask(model(server, cache), [Request("parser", (Message("user", "?"),), Part[Other])])[0].error
            is None
        )
    ((sent, _),) = rows(tmp_path / "c").values()
    assert sent["body"]["response_format"]["json_schema"]["name"] == "Part_Other_"


class Leaf(BaseModel):
    kind: Literal["leaf"]
    size: float = Field(gt=0, lt=1)


class Tree(BaseModel):
    kind: Literal["tree"]
    children: list[Tree] = []
    parent: Tree | None = None


class Everything(BaseModel, extra="forbid"):
    text: str = Field(min_length=20, max_length=22)
    short: Annotated[str, Field(max_length=3)]
    day: date
    flag: bool
    maybe: int | None
    pair: tuple[int, Literal["a", "b"]]
    marks: set[Literal["x", "y", "z"]] = Field(min_length=2)
    either: Leaf | Tree = Field(discriminator="kind")
    negative: int = Field(lt=0)
    even: int = Field(ge=3, multiple_of=2)
    below: float = Field(le=-7.5)
    nested: Tree = Field(description="a description beside a reference")
    by_default: int = 3


def test_the_default_script_meets_any_schema(server: ScriptedServer) -> None:
    for seed in range(50):
        Everything.model_validate(instance(Everything.model_json_schema(), random.Random(seed)))
    request = Request("parser", (Message("user", "all"),), Everything)
    for way in ("json_schema", "json_object", "prompt"):
        (answer,) = ask(model(server, structured=(way,)), [request])  # type: ignore[arg-type]
        assert answer.error is None
        assert answer.parsed is not None


@pytest.mark.parametrize("faults", [{"428": 0.1}, {"429": 1.5}, {"429": float("nan")}])
def test_faults_are_checked(faults: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"is no fault at a rate in \[0, 1\]; choose from 429, 500"):
        ScriptedServer(faults)


def test_the_server_runs_as_a_command(tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(Path(__file__).parent / "scripted.py"),
        "--port",
        "0",
        "--fault",
        "429=0.5",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        line = child.stdout.readline()
        found = re.fullmatch(
            r"export OPENAI_BASE_URL=(http://127\.0\.0\.1:\d+/v1) OPENAI_API_KEY=scripted\n", line
        )
        assert found
        answers = ask(OpenAIModel(Settings(base_url=found[1], retries=30)), cards(20))
        assert all(answer.parsed for answer in answers)
        assert sum(answer.tries for answer in answers) > 25
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=60) == ("", "")
    assert child.returncode == 0
    wrong = subprocess.run([*command[:2], "--fault", "x=1"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("gnrs: arguments: fault: x=1.0 is no fault")
    assert wrong.stderr.count("\n") == 1
