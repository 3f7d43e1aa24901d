"""Servers that echo keys, never end, inflate, redirect or lie about tokens, and the real openai client."""

from __future__ import annotations

import base64
import gzip
import json
import logging
import random
import socketserver
import sqlite3
import ssl
import threading
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Self
from urllib.parse import quote

import pytest
from fuzz import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import SCRIPTS
from test_polish import held, locked, lost
from tiers import few

from gnrs_ppl.cli import run
from gnrs_ppl.errors import InputError
from gnrs_ppl.llm import PRICES, Answer, Cache, Costs, Message, OpenAIModel, Request, Settings, Usage, ask
from gnrs_ppl.llm.redaction import redacted
from gnrs_ppl.llm.transport import _trust
from gnrs_ppl.realize.guard import read

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

KEY = "sk-MARKED-7302946185+qzxjvkw/hmtbfyrdnlpgcuoeais"
"""Not the alphabet: a coordinate that counts on from 97 holds that, in any file of arrays."""
ORGANIZATION = "org-NAMED9876543210zyxwvu"
LABEL = "[OPENAI_API_KEY]"
QUICK = settings(deadline=None, derandomize=True, database=None, max_examples=examples(150))


def coded(before: str = "") -> str:
    return base64.b64encode((before + KEY).encode()).decode()


LETTERS: Mapping[str, Callable[[str], str]] = {
    "plain": lambda c: c,
    "capital": str.upper,
    "json": lambda c: f"\\u{ord(c):04x}",
    "json in json": lambda c: f"\\\\u{ord(c):04X}",
    "braces": lambda c: f"\\u{{{ord(c):x}}}",
    "hexadecimal escape": lambda c: f"\\x{ord(c):02x}",
    "octal": lambda c: f"\\{ord(c):03o}",
    "percent": lambda c: f"%{ord(c):02X}",
    "percent twice": lambda c: f"%25{ord(c):02x}",
    "json of percent": lambda c: f"\\u0025{ord(c):02x}",
    "decimal entity": lambda c: f"&#{ord(c)};",
    "hexadecimal entity": lambda c: f"&amp;#x{ord(c):x};",
    "full width": lambda c: chr(ord(c) + 0xFEE0),
    "blank": lambda c: f"{c} ",
    "line break": lambda c: f"{c}\n",
    "escaped line break": lambda c: f"{c}\\n",
    "not seen": lambda c: f"{c}\u200b",
    "backslash": lambda c: c if c.isalnum() else f"\\{c}",
}
"""Ways to write a letter."""
WAYS: Mapping[str, str] = {
    name: "".join(map(way, KEY)).removesuffix("\\n").strip() for name, way in LETTERS.items()
} | {
    "backwards": KEY[::-1],
    "digits": KEY.encode().hex(),
    "digits apart": KEY.encode().hex(" ").upper(),
    "base64": coded(),
    "base64 behind one": coded("B"),
    "base64 behind two": coded("Be"),
    "base64 of the header": coded("Bearer "),
    "base64 for addresses": coded().replace("+", "-").replace("/", "_"),
    "base64 in lines": base64.encodebytes((KEY * 2).encode()).decode(),
    "base64 in percent": quote(coded(), safe=""),
    "half": KEY[:24],
    "middle": KEY[7:21],
}
"""The key in ways a server may echo it."""


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_BASE_URL",
        "GNRS_STRUCTURED",
        "GNRS_MODEL_GENERATOR",
        "GNRS_MODEL_POLISHER",
        "NO_PROXY",
        "no_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", ORGANIZATION)


Reply = Callable[[dict[str, str], bytes, BinaryIO], None]
"""Headers in small letters and body of a request, and where the answer's bytes go."""


class Hostile(socketserver.ThreadingTCPServer):
    """A server that answers with bytes; a context manager. ``asked``: first line and headers of each
    request."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, reply: Reply) -> None:
        asked: list[tuple[str, dict[str, str]]] = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                first = self.rfile.readline().decode().strip()
                lines = iter(lambda: self.rfile.readline().decode().strip(), "")
                headers = {
                    name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
                }
                asked.append((first, headers))
                with suppress(ConnectionError):  # the client may have had enough
                    reply(headers, self.rfile.read(int(headers.get("content-length", 0))), self.wfile)  # type: ignore[arg-type]

        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = asked

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def model(self, cache: Cache | None = None, costs: Costs | None = None, **changes: Any) -> OpenAIModel:
        return OpenAIModel(
            replace(Settings(f"{self.address}/v1", timeout=20.0, retries=0), **changes), cache, costs
        )


def http(content: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Connection: close", f"Content-Length: {len(content)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + content


def completion(text: str = "Good.", **fields: Any) -> bytes:
    usage = {"prompt_tokens": 20, "completion_tokens": max(1, len(text) // 4)}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return json.dumps({"choices": [choice], "model": "m", "usage": usage} | fields).encode()


def says(content: bytes, *headers: str, status: str = "200 OK") -> Reply:
    return lambda _, __, out: void(out.write(http(content, *headers, status=status)))


def void(_: object) -> None:
    pass


def request(number: int = 0, **changes: Any) -> Request[Any]:
    return replace(
        Request("judge", (Message("user", f"Say something about task {number}."),), max_tokens=100), **changes
    )


def one(server: Hostile, **changes: Any) -> Answer[Any]:
    (answer,) = ask(server.model(**changes), [request()])
    return answer


def shows_the_key(text: str) -> list[str]:
    """The ways in which a text holds the key, or a good part of it."""
    ways = [
        name
        for name, written_so in WAYS.items()
        if written_so[:24] in text or json.dumps(written_so)[1:25] in text
    ]
    return ways + ["organization"] * (ORGANIZATION[:12] in text) + ["otherwise"] * (redacted(text) != text)


def told(error: Exception) -> str:
    """All that a traceback can tell, but for the variables of the test."""
    assert error.__traceback__ is not None
    return "".join(
        traceback.TracebackException(
            type(error), error, error.__traceback__.tb_next, capture_locals=True
        ).format()
    )


# redaction


@pytest.mark.parametrize("way", WAYS)
def test_a_key_is_found_in_every_coding(way: str) -> None:
    plain = redacted(f"Rule: {WAYS[way]}. End.")
    assert LABEL in plain
    assert not shows_the_key(plain)
    assert len(plain) <= len("Rule: . End.") + 2 * len(LABEL) + 10  # what a coding mixes with its neighbours
    for text in (
        json.dumps({"a": WAYS[way], WAYS[way]: [WAYS[way]]}),
        json.dumps(json.dumps({"a": [WAYS[way]]})),
    ):
        cleaned = redacted(text)
        assert not shows_the_key(cleaned)
        json.loads(cleaned)  # still JSON


@QUICK
@given(
    st.lists(
        st.sampled_from(sorted(set(LETTERS) - {"capital", "backslash"})), min_size=len(KEY), max_size=len(KEY)
    ),
    st.text(" .,;!?", max_size=5),
    st.text(".,;!?", max_size=5),
)
def test_codings_may_change_from_letter_to_letter(ways: list[str], before: str, after: str) -> None:
    mixed = "".join(LETTERS[way](letter) for way, letter in zip(ways, KEY, strict=True))
    cleaned = redacted(f"{before}{mixed}{after}")
    assert cleaned.startswith(before + LABEL)
    assert cleaned.endswith(after)
    assert len(cleaned) <= len(before + LABEL + after) + 2  # what separates letters may stay behind the last


@QUICK
@given(st.text() | st.text("\\u0%&#x;73sk-MARKED \n\u200b", max_size=60))
def test_what_holds_no_key_stays_as_it_is(text: str) -> None:
    assert redacted(text) == text


def test_short_words_and_no_words_are_no_secrets() -> None:
    text = "The scripted answer, say EMPTY, is 7."
    for key in ("", "scripted", "EMPTY", "answer", "7"):
        assert redacted(text, {"OPENAI_API_KEY": key}) == text
    assert redacted("token-abc123 it is", {"OPENAI_API_KEY": "token-abc123"}) == f"{LABEL} it is"
    assert (
        redacted("see pa:ss99word", {"HTTPS_PROXY": "http://me:pa%3Ass99word@host:1"}) == "see [HTTPS_PROXY]"
    )
    assert redacted("x", {"HTTPS_PROXY": "http://[::1"}) == "x"


@pytest.mark.parametrize(
    "unit", ["a", " a", "\\", "%25", "&amp;", "\\u0073", "\\u005c", "ä", "ſ", KEY[:11] + "=", "key " + KEY]
)
def test_long_answers_are_cleaned(unit: str) -> None:
    text = unit * (2**17 // len(unit))  # hours for whatever is not linear
    assert redacted(text) == text.replace(KEY, LABEL)


# a marked key in all fields of all answers


def echoing(headers: dict[str, str], body: bytes, out: BinaryIO) -> None:
    """A completion that is good, and holds the key wherever there is room."""
    sent = json.loads(body)
    schema = sent.get("response_format", {}).get("json_schema", {}).get("schema")
    role = headers["x-gnrs-role"]
    text = SCRIPTS[role](sent["messages"], schema, random.Random(1))  # type: ignore[index]
    told = iter(list(WAYS.values()) * 20)
    if schema and "scope" in schema["properties"]:
        slots = json.loads(text)
        for fragment in (fragment for slot in slots.values() for fragment in slot):
            fragment["because"] = next(told)
        slots["scope"][0]["content"]["roles"] = [KEY]
        slots["evidence"][0]["content"]["channels"] = [KEY[:20], coded()]
        text = json.dumps(slots).replace(KEY[:10], WAYS["json"][:60])
    elif schema and "statements" in schema["properties"]:
        read = {"words": next(told), "force": {"words": KEY, "force": "must"}}
        read |= {"template": {"words": next(told), "template": "response"}, "joint": "all"}
        text = json.dumps({"statements": [read | {"targets": [], "bearers": [{"words": KEY, "name": KEY}]}]})
    elif schema:
        text = json.dumps({"clause": f"{json.loads(text)['clause']} {KEY} {WAYS['base64']}"})
    echo = {name: next(told) for name in ("id", "object", "system_fingerprint", "service_tier", KEY)}
    choice = {
        "index": 0, "finish_reason": f"stop {KEY}", "logprobs": {KEY: [KEY]},
        "message": {"role": KEY, "content": text, "refusal": None, "reasoning_content": KEY, "annotations": [ORGANIZATION]},
    }  # fmt: skip
    usage = {"prompt_tokens": 20, "completion_tokens": 20, KEY: KEY}
    content = json.dumps(
        echo | {"choices": [choice], "model": f"model {KEY} {coded()} of {ORGANIZATION}", "usage": usage}
    ).encode()
    echoed = [
        f"X-Echo: {headers['authorization']}",
        f"Set-Cookie: key={KEY}",
        f"X-Request-Id: {KEY}",
        f"OpenAI-Organization: {KEY}",
    ]
    out.write(
        http(
            content,
            *echoed,
            f"Retry-After: {KEY}",
            f"Content-Type: {KEY}; charset=utf-16",
            status=f"200 {KEY}",
        )
    )


def test_a_marked_key_stays_out_of_every_artefact(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("GNRS_CACHE_DIR", str(tmp_path / "cache"))
    with Hostile(echoing) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.address}/v1")
        arguments = [
            "draft",
            "GNRS-005",
            "--llm",
            "--chains",
            "4",
            "--steps",
            "200",
            "--kernel",
            "exact",
            "--out",
            str(tmp_path / "out"),
        ]
        assert run(arguments) == 0
        assert run([*arguments[:-1], str(tmp_path / "again"), "--json"]) == 0  # from the cache
        assert KEY in server.asked[0][1]["authorization"]
        assert server.asked[0][1]["openai-organization"] == ORGANIZATION
    artefacts = {
        str(file): file.read_bytes().decode("latin-1") for file in tmp_path.rglob("*") if file.is_file()
    }
    streams = capfd.readouterr()
    artefacts |= {"stdout": streams.out, "stderr": streams.err, "log": caplog.text}
    assert len(artefacts) > 8
    assert LABEL in artefacts["stdout"]  # it was there, and was taken out
    assert {name: shows_the_key(text) for name, text in artefacts.items() if shows_the_key(text)} == {}


@pytest.mark.parametrize("status", few([200, 302, 400, 401, 403, 404, 408, 409, 422, 429, 500, 503, 599], 5))
def test_no_error_quotes_the_key(status: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    body = json.dumps(
        {"error": {"message": " ".join(WAYS.values()), "type": KEY, "code": KEY, "param": [ORGANIZATION]}}
    )
    for content in (body, body.replace(KEY, WAYS["json"]), KEY, "<p>" + WAYS["decimal entity"]):
        headers = (f"Location: https://{KEY}.example/", f"WWW-Authenticate: {KEY}", f"Content-Type: {KEY}")
        with (
            Hostile(says(content.encode(), *headers, status=f"{status} {KEY}")) as server,
            Cache(tmp_path / "c") as cache,
        ):
            try:
                seen = repr(ask(server.model(cache), [request()]))
            except InputError as error:
                seen = told(error)
        assert not shows_the_key(seen)
    assert not shows_the_key(caplog.text)
    assert not shows_the_key((tmp_path / "c").read_bytes().decode("latin-1"))


@pytest.mark.parametrize(
    "answer",
    [
        f"HTTP/1.1 {KEY} {KEY}\r\n\r\n",
        f"{KEY}\r\n\r\n",
        f"HTTP/1.1 200 OK\r\n{KEY}\r\n\r\n",
        f"HTTP/1.1 200 OK\r\nContent-Length: {KEY}\r\n\r\n",
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: {KEY}\r\n\r\n",
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{KEY}\r\n",
        f"HTTP/1.1 200 OK\r\nContent-Encoding: {KEY}\r\nContent-Length: 2\r\n\r\n{{}}",
        f"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{KEY}",
        "",
    ],
)
def test_no_broken_answer_quotes_the_key(answer: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Hostile(lambda _, __, out: void(out.write(answer.encode()))) as server:
        failed = one(server)
    assert failed.error is not None
    assert failed.error.kind in ("connection", "malformed")
    assert not shows_the_key(repr(failed) + caplog.text)


def test_keys_stored_by_an_earlier_version_stay_in_its_file(tmp_path: Path) -> None:
    with Hostile(says(completion())) as server, Cache(tmp_path / "c") as cache:
        ask(server.model(cache), [request()])
        connection = sqlite3.connect(tmp_path / "c")
        connection.execute(
            "UPDATE answers SET reply = replace(reply, '\"m\"', ?)", (json.dumps(f"m {WAYS['json']}"),)
        )
        connection.commit()
        connection.close()
        (answer,) = ask(server.model(cache), [request()])
        assert (answer.cached, answer.model) == (True, f"m {LABEL}")
        cache.put("{}", json.dumps([KEY, WAYS["base64"]]), 0.0)
        assert cache.get("{}") == json.dumps([LABEL, LABEL])


# the way to the server


@contextmanager
def trickling(start: bytes, unit: bytes, end: bytes) -> Iterator[Hostile]:
    """A server that sends a byte or so at a time, for longer than any test waits, and then finishes well."""

    stop = threading.Event()

    def reply(_: dict[str, str], __: bytes, out: BinaryIO) -> None:
        out.write(start)
        for _ in range(100):
            if stop.wait(0.05):
                return
            out.write(unit)
        out.write(end)

    with Hostile(reply) as server:
        try:
            yield server
        finally:
            stop.set()


@pytest.mark.parametrize("part", ["headers", "body", "chunks"])
def test_an_answer_that_never_ends_is_given_up(part: str) -> None:
    good = completion()
    start, unit, end = {
        "headers": (b"HTTP/1.1 200 OK\r\nX-Wait: ", b"x", b"\r\n" + http(good).partition(b"\r\n")[2]),
        "body": (http(b" " * 100 + good)[: -100 - len(good)], b" ", good),
        "chunks": (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"1\r\n \r\n",
            b"%x\r\n%b\r\n0\r\n\r\n" % (len(good), good),
        ),
    }[part]
    with trickling(start, unit, end) as server:
        answer = one(server, timeout=0.3, retries=1)
    assert answer.error is not None
    assert (answer.error.kind, answer.tries) == ("timeout", 2)


def test_long_answers_are_broken_off() -> None:
    sent: list[int] = []

    def endless(_: dict[str, str], __: bytes, out: BinaryIO) -> None:
        out.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(2000):  # 131 MB
            out.write(b"10000\r\n" + b" " * 2**16 + b"\r\n")
            sent.append(2**16)

    with Hostile(endless) as server:
        answer = one(server, longest=100_000, retries=2)
        assert answer.error == ("malformed", "the answer has more than 100,000 bytes")
        assert len(server.asked) == answer.tries == 1  # no second try: it might be billed, too
    assert sum(sent) < 100_000_000
    with Hostile(says(completion("x" * 50_000))) as server:
        assert one(server, longest=100_000).error is None
        refused = one(server, longest=50_000)
        assert refused.error is not None
        assert refused.error.kind == "malformed"


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "x-gzip", "GZIP"])
def test_compressed_answers_are_refused_unread(coding: str) -> None:
    pack = {"deflate": zlib.compress, "gzip, gzip": lambda data: gzip.compress(gzip.compress(data))}.get(
        coding, gzip.compress
    )
    bomb = pack(b" " * 10**7 + completion())
    with Hostile(says(bomb, f"Content-Encoding: {coding}")) as server:
        answer = one(server)
        assert answer.error == ("malformed", "the answer is compressed, and none was asked for")
        assert server.asked[0][1]["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    with Hostile(says(completion())) as other:
        answer = says(b"", f"Location: {other.address}/v1/chat/completions", status=f"{status} Elsewhere")
        with Hostile(answer) as server, pytest.raises(InputError) as caught:
            one(server)
    assert other.asked == []
    assert str(caught.value) == (
        f"environment: OPENAI_BASE_URL: the server at {server.address}/v1 redirects ({status}), which is not followed: "
        "the key would go with it; give the address it redirects to"
    )


def test_certificates_are_asked_for_wherever_there_are_any() -> None:
    assert _trust("https://127.0.0.1/v1") is True, "those of the system"
    nobody = _trust("http://127.0.0.1/v1")
    assert isinstance(nobody, ssl.SSLContext)
    assert (nobody.verify_mode, nobody.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert nobody.get_ca_certs() == []


def test_proxies_see_neither_key_nor_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = says(b"", status="403 pa99word-of-the-proxy")
    with Hostile(refusal) as proxy, Hostile(says(completion())) as server:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.address.replace("//", "//me:pa99word-of-the-proxy@"))
        assert one(server).error is None
        assert proxy.asked == []  # not for http: it would see all
        refused = one(server, base_url="https://server.example/v1")
        assert [first for first, _ in proxy.asked] == ["CONNECT server.example:443 HTTP/1.1"]
        assert KEY not in repr(proxy.asked)
        assert ORGANIZATION not in repr(proxy.asked)
        assert refused.error is not None
        assert "pa99word" not in repr(refused)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        excepted = one(server, base_url=server.address.replace("http:", "https:"), timeout=0.5)
        assert (len(proxy.asked), excepted.error and excepted.error.kind) == (1, "connection")
        monkeypatch.delenv("no_proxy")
        for broken in (
            "ftp://me:pa99word-of-the-proxy@host",
            "http://me:pa99word-of-the-proxy@[::1",
            "socks5://me:pa99word-of-the-proxy@h",
        ):
            monkeypatch.setenv("https_proxy", broken)
            with pytest.raises(InputError) as caught:
                one(server, base_url="https://server.example/v1")
            assert str(caught.value).startswith(
                "environment: HTTPS_PROXY: is no proxy that can be used; name one like"
            )
            assert "pa99word" not in "".join(traceback.format_exception(caught.value))


# tokens and costs

TEXT = "A cook must check in within ten minutes of arriving. " * 4
ABSURD: Mapping[str, Any] = {
    "missing": None,
    "empty": {},
    "no object": "many",
    "words": {"prompt_tokens": "few", "completion_tokens": "few"},
    "negative": {"prompt_tokens": -20, "completion_tokens": 50},
    "huge": {"prompt_tokens": 10**12, "completion_tokens": 50},
    "huge output": {"prompt_tokens": 20, "completion_tokens": 10**9},
    "beyond numbers": {"prompt_tokens": 10**400, "completion_tokens": 10**400},
    "infinite": {"prompt_tokens": 20, "completion_tokens": 1e308},
    "nothing": {"prompt_tokens": 0, "completion_tokens": 0},
    "nothing sent": {"prompt_tokens": 0, "completion_tokens": 50},
    "nothing said": {"prompt_tokens": 20, "completion_tokens": 1},
    "all seen before": {
        "prompt_tokens": 20,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 10**9},
    },
}


@pytest.mark.parametrize("stated", ABSURD)
def test_absurd_counts_are_not_believed_and_the_limit_holds(stated: str, tmp_path: Path) -> None:
    costs = Costs(0.0005)
    with Hostile(says(completion(TEXT, usage=ABSURD[stated]))) as server, Cache(tmp_path / "c") as cache:
        asked = [request(number, role="generator") for number in range(30)]
        answers = ask(server.model(cache, costs), asked, concurrency=1)
        good = [answer for answer in answers if answer.error is None]
        assert {(answer.text, answer.usage, answer.cost) for answer in good} == {(TEXT, None, None)}
        assert {answer.error.kind for answer in answers if answer.error} == {"max_cost"}
        assert len(server.asked) == len(good) == costs.unpriced
        # each call counts for what we count ourselves: a token for each byte sent, and all the answer may
        # have
        bound = costs.possible / len(good)
        assert (
            PRICES["gpt-4o-mini"].cost(Usage(40, 100)) < bound < PRICES["gpt-4o-mini"].cost(Usage(200, 250))
        )
        assert costs.known == 0
        assert costs.possible <= 0.0005 < costs.possible + bound + 1e-12
        again = ask(server.model(cache, Costs(0.0)), asked[:1])[0]
        assert (again.cached, again.usage, again.cost) == (True, None, None)


def test_an_answer_longer_than_asked_for_counts_by_its_length() -> None:
    long = TEXT * 50
    price = PRICES["gpt-4o-mini"]
    with Hostile(says(completion(long, usage=None))) as server:
        costs = Costs(1.0)
        ask(server.model(costs=costs), [request(role="generator")])
        assert costs.possible > price.cost(Usage(0, len(long)))
    with Hostile(says(completion(long))) as server:  # a server that says so is believed
        costs = Costs(1.0)
        ask(server.model(costs=costs), [request(role="generator")])
        assert costs.known == price.cost(Usage(20, len(long) // 4))


# the guard of the polish

FILLERS = (
    ",",
    ", ",
    ":",
    " : ",
    ";",
    ". ",
    "-",
    " - ",
    " — ",
    " and",
    " and,",
    " but also",
    ", and",
    ", also",
    " (a)",
    " (a) (b)",
    "'",
)


def test_the_guard_refuses_marks_that_join_nothing() -> None:
    """Two or 2,500 of them, at any blank of texts that it accepts, in tokens and in words."""
    kept = [text for name, text in held()["honest"].items() if not lost(name[:8], text)]
    names = [name[:8] for name, text in held()["honest"].items() if not lost(name[:8], text)]
    assert len(kept) >= 24
    for number, (name, tokens) in enumerate(zip(names, kept, strict=True)):
        text = read(locked(name), tokens).text if number % 2 else tokens
        places = [0, *(place for place, letter in enumerate(text) if letter == " "), len(text)]
        for filler in FILLERS:
            few, many, *_ = random.Random(f"{number} {filler}").sample(places, 2)
            for place, count in ((few, 2), (many, 2500 // len(filler)), (len(text), 2)):
                padded = f"{text[:place]}{filler * count}{text[place:]}"
                assert lost(name, padded), (filler, place, count)
    assert lost(names[0], kept[0] + "," * 10**7)
