"""A stand-in for a model: an OpenAI-compatible server on loopback that plays every role from scripts, with
faults on demand.

    python tests/scripted.py --port 0 --fault 429=0.1 --fault truncated=0.02

Answers depend on the request, its role and its sample number alone; faults also on how often it was asked. So
runs can be repeated, resumed and run at any concurrency. All it says is marked (`SCRIPTED`): it exercises the
plumbing and never makes a result.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast

import scripts

from gnrs_ppl.errors import InputError
from gnrs_ppl.llm.adapter import ROLE_HEADER, SAMPLE_HEADER, SCHEMA_FOLLOWS
from gnrs_ppl.llm.cache import canonical
from gnrs_ppl.llm.costs import Usage
from gnrs_ppl.llm.reply import SCRIPTED
from gnrs_ppl.llm.roles import ROLES, Role

Schema = dict[str, Any]
Script = Callable[[Sequence[Mapping[str, str]], Schema | None, random.Random], str]
"""Messages, the JSON schema asked for (None: plain text), and a generator seeded by the request -> the text
of the answer."""

FAULTS: Mapping[str, str] = {
    "429": "limited, try again",
    "500": "failed, try again",
    "401": "the key is refused, and echoed",
    "malformed": "200 without a completion",
    "timeout": "worked out and billed, never sent",
    "drop": "the connection breaks",
    "no-json-schema": "400 where a JSON schema is asked for",
    "no-json-object": "400 where a JSON object is asked for",
    "truncated": "half an answer that claims to be whole",
    "length": "half an answer that says it was cut off",
    "refusal": "declined",
    "fenced": "the JSON inside a Markdown fence and words",
    "hallucinated": "one free text of the JSON replaced by a made-up name",
    "echo": "the headers, key and all, as the answer",
}
"""Faults in the order in which they are drawn; the first that hits is made."""

RETRY_AFTER_MS = 5
HANG_SECONDS = 3600.0


def any_instance(messages: Sequence[Mapping[str, str]], schema: Schema | None, rng: random.Random) -> str:
    """The script of last resort: a minimal instance of the schema, or a few words."""
    return (
        f"Scripted answer {rng.randrange(16**6):06x}."
        if schema is None
        else json.dumps(instance(schema, rng))
    )


def _first(
    *parts: Callable[[Sequence[Mapping[str, str]], Schema | None, random.Random], str | None],
) -> Script:
    """The first of some scripts that has something to say to a request, else the one of last resort."""

    def say(messages: Sequence[Mapping[str, str]], schema: Schema | None, rng: random.Random) -> str:
        said = (part(messages, schema, rng) for part in parts)
        return next((text for text in said if text is not None), None) or any_instance(messages, schema, rng)

    return say


SCRIPTS: dict[Role, Script] = dict.fromkeys(ROLES, any_instance) | {
    "generator": _first(scripts.rule_writer, scripts.generator),
    "polisher": _first(scripts.polisher),
    "parser": _first(scripts.parser),
    "judge": _first(scripts.judge),
    "second_judge": _first(scripts.judge),
}
"""Who says what; put a better script in its place, or hand scripts to one server."""


class ScriptedServer:
    """The server, in a thread of this process; a context manager.

    Parameters
    ----------
    faults : mapping of fault to rate, optional
        Chance of each of `FAULTS`, for each request that arrives.
    scripts : mapping of role to Script, optional
        In place of those of `SCRIPTS`.
    seed : int
    port : int
        0 takes a free one.
    delay : float
        Seconds each answer takes.

    Attributes
    ----------
    asked, answered : Counter of str
        Requests received, and answers sent in full, by `request_key`.
    made : Counter of str
        Faults made.
    billed : list of Usage
        Tokens of every answer worked out, sent or not.

    Raises
    ------
    InputError
        Unknown fault, rate outside [0, 1], port not to be had.
    """

    def __init__(
        self,
        faults: Mapping[str, float] | None = None,
        scripts: Mapping[Role, Script] | None = None,
        seed: int = 0,
        port: int = 0,
        delay: float = 0.0,
    ) -> None:
        for fault, rate in (faults or {}).items():
            if fault not in FAULTS or not 0 <= rate <= 1:
                problem = f"{fault}={rate} is no fault at a rate in [0, 1]"
                raise InputError(
                    problem, f"choose from {', '.join(FAULTS)}", source="arguments", field="fault"
                )
        self.faults, self.scripts, self.seed, self.delay = (
            faults or {},
            {**SCRIPTS, **(scripts or {})},
            seed,
            delay,
        )
        self.asked, self.answered, self.made = Counter[str](), Counter[str](), Counter[str]()
        self.billed: list[Usage] = []
        self.lock, self.stopping = threading.Lock(), threading.Event()
        try:
            self._server = _Server(("127.0.0.1", port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"port {port} cannot be had ({error})",
                "take 0 for a free one",
                source="arguments",
                field="port",
            ) from None
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        """What ``OPENAI_BASE_URL`` has to be."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def fault(self, key: str, body: Mapping[str, Any], json_wanted: bool) -> str:
        """The fault that befalls this arrival of a request, or an empty string; counts both."""
        with self.lock:
            attempt = self.asked[key]
            self.asked[key] += 1
            fitting = [fault for fault in FAULTS if fault in self.faults and _fits(fault, body, json_wanted)]
            fault = next(
                (
                    f
                    for f in fitting
                    if random.Random(f"{self.seed} {key} {attempt} {f}").random() < self.faults[f]
                ),
                "",
            )
            self.made[fault] += bool(fault)
        return fault

    def text(self, key: str, role: str, messages: Sequence[Mapping[str, str]], schema: Schema | None) -> str:
        """The answer to a request, before any fault."""
        script = self.scripts.get(cast(Role, role), any_instance)
        return script(messages, schema, random.Random(f"{self.seed} {key}"))


def request_key(role: str, sample: str, body: Mapping[str, Any]) -> str:
    """sha256 of what makes two requests the same to this server."""
    return hashlib.sha256(canonical({"role": role, "sample": sample, "body": body}).encode()).hexdigest()


def instance(schema: Schema, rng: random.Random) -> Any:
    """A small instance of a JSON schema: null and empty lists where they are allowed, short words, small
    numbers, any of an enumeration.

    Patterns are not met; a script that knows better has to meet them.
    """
    return _instance(schema, schema, rng)


def _instance(schema: Schema, root: Schema, rng: random.Random) -> Any:
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return _instance(
            {**target, **{name: value for name, value in schema.items() if name != "$ref"}}, root, rng
        )
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return None if {"type": "null"} in options else _instance(options[0], root, rng)
    if "allOf" in schema:
        return _instance({name: value for part in schema["allOf"] for name, value in part.items()}, root, rng)
    match schema.get("type"):
        case "object":
            return {
                name: _instance(schema["properties"][name], root, rng) for name in schema.get("required", ())
            }
        case "array":
            return _items(schema, root, rng)
        case "integer" | "number":
            return _number(schema, rng)
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
        case _:
            return _word(schema, rng)


def _items(schema: Schema, root: Schema, rng: random.Random) -> list[Any]:
    items = [_instance(part, root, rng) for part in schema.get("prefixItems", ())]
    while len(items) < schema.get("minItems", 0):
        item = _instance(schema["items"], root, rng)
        if not schema.get("uniqueItems") or item not in items:
            items.append(item)
    return items


def _number(schema: Schema, rng: random.Random) -> float:
    """A multiple of the step between the bounds, or halfway between them where there is none."""
    step = schema.get("multipleOf", 1)
    least, most = [], []
    if "minimum" in schema:
        least.append(math.ceil(schema["minimum"] / step))
    if "exclusiveMinimum" in schema:
        least.append(math.floor(schema["exclusiveMinimum"] / step) + 1)
    if "maximum" in schema:
        most.append(math.floor(schema["maximum"] / step))
    if "exclusiveMaximum" in schema:
        most.append(math.ceil(schema["exclusiveMaximum"] / step) - 1)
    low = max(least) if least else min([0, *most])
    high = min([low + 9, *most])
    return float((low + high) / 2 * step) if high < low else cast(float, step * rng.randint(low, high))


def _word(schema: Schema, rng: random.Random) -> str:
    known = {
        "date": "2026-01-01",
        "time": "12:00:00Z",
        "date-time": "2026-01-01T12:00:00Z",
        "duration": "P1D",
    }
    if schema.get("format") in known:
        return known[schema["format"]]
    word = f"scripted {rng.randrange(16**6):06x}"
    return word.ljust(schema.get("minLength", 0), "x")[
        : schema.get("maxLength", len(word) + schema.get("minLength", 0))
    ]


def _fits(fault: str, body: Mapping[str, Any], json_wanted: bool) -> bool:
    """Whether a fault makes sense for a request."""
    asked_by = str(body.get("response_format", {}).get("type", ""))
    if fault in ("no-json-schema", "no-json-object"):
        return asked_by == fault.removeprefix("no-").replace("-", "_")
    return json_wanted or fault not in ("fenced", "hallucinated", "truncated")


def _schema_of(body: Mapping[str, Any]) -> Schema | None:
    wanted = body.get("response_format", {})
    if wanted.get("type") == "json_schema":
        return cast(Schema, wanted["json_schema"]["schema"])
    _, marker, schema = body["messages"][-1]["content"].rpartition(SCHEMA_FOLLOWS)
    return cast(Schema, json.loads(schema)) if marker else None


def _with_invention(text: str, schema: Schema, rng: random.Random) -> str:
    """The JSON with one string that the schema leaves free replaced by a name that is nowhere in the
    request."""
    try:
        data = json.loads(text)
    except ValueError:
        return text
    values = [
        value
        for part in _parts(schema)
        if isinstance(part, dict)
        for value in [part.get("const"), *part.get("enum", [])]
    ]
    fixed = {value for value in values if isinstance(value, str)}
    places = [
        (part, name)
        for part in _parts(data)
        for name, value in _entries(part)
        if isinstance(value, str) and value not in fixed
    ]
    if places:
        part, name = rng.choice(places)
        part[name] = f"invented {rng.randrange(16**6):06x}"
    return json.dumps(data)


def _entries(part: Any) -> list[tuple[Any, Any]]:
    return list(part.items() if isinstance(part, dict) else enumerate(part))


def _parts(data: Any) -> list[Any]:
    """Every object and list inside some JSON data."""
    if not isinstance(data, dict | list):
        return []
    return [data, *(part for _, value in _entries(data) for part in _parts(value))]


class _Server(ThreadingHTTPServer):
    owner: ScriptedServer
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that break off are expected; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: prompts are not to be logged."""

    def do_POST(self) -> None:
        """Answer a chat completion."""
        owner, content = self.server.owner, self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            return self._error(404, "only /v1/chat/completions is served")
        try:
            body = json.loads(content)
            schema, role, sample = (
                _schema_of(body),
                self.headers.get(ROLE_HEADER, ""),
                self.headers.get(SAMPLE_HEADER, ""),
            )
        except (ValueError, LookupError, TypeError, AttributeError):
            return self._error(400, "not a chat completion request")
        key = request_key(role, sample, body)
        owner.stopping.wait(owner.delay)
        match owner.fault(key, body, schema is not None):
            case "429":
                self._error(429, "limited by script")
            case "500":
                self._error(500, "failed by script")
            case "401":
                self._error(401, f"refused by script: {self.headers.get('Authorization')}")
            case "malformed":
                self._error(200, "overloaded, says the script")
            case "no-json-schema" | "no-json-object":
                self._error(400, "this response_format type is unavailable")
            case "drop":
                self.close_connection = True
            case fault:
                self._answer(key, body, fault, owner.text(key, role, body["messages"], schema), schema)

    def _answer(self, key: str, body: dict[str, Any], fault: str, text: str, schema: Schema | None) -> None:
        owner, finish, refusal = self.server.owner, "stop", None
        match fault:
            case "truncated" | "length":
                text, finish = text[: len(text) // 2], "stop" if fault == "truncated" else "length"
            case "refusal":
                text, refusal = "", "Declined by script."
            case "fenced":
                text = f"Here it is:\n```json\n{text}\n```\nNothing else was asked."
            case "hallucinated" if schema:
                text = _with_invention(text, schema, random.Random(f"{owner.seed} {key} invention"))
            case "echo":
                text = str(self.headers)
        most = body.get("max_tokens") or body.get("max_completion_tokens") or math.inf
        if _tokens(text) > most:
            text, finish = text[: 4 * int(most)], "length"
        usage = Usage(_tokens(canonical(body)), _tokens(text))
        with owner.lock:
            owner.billed.append(usage)
        if fault == "timeout":
            owner.stopping.wait(HANG_SECONDS)
            self.close_connection = True
            return
        self._send(
            200,
            {
                "id": f"scripted-{key[:16]}",
                "object": "chat.completion",
                "created": 0,
                "model": f"scripted/{body.get('model')}",
                "system_fingerprint": SCRIPTED,
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": finish,
                        "message": {"role": "assistant", "content": text, "refusal": refusal},
                    }
                ],
                "usage": {
                    "prompt_tokens": usage.input,
                    "completion_tokens": usage.output,
                    "total_tokens": usage.input + usage.output,
                },
            },
        )
        with owner.lock:
            owner.answered[key] += 1

    def _error(self, status: int, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "scripted", "code": status}})

    def _send(self, status: int, data: dict[str, Any]) -> None:
        content = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status in (429, 500):
            self.send_header("Retry-After-Ms", str(RETRY_AFTER_MS))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()


def _tokens(text: str) -> int:
    """Tokens as this server counts them: four characters each."""
    return -(-len(text) // 4)


def _fault(text: str) -> tuple[str, float]:
    fault, _, rate = text.partition("=")
    return fault, float(rate)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python tests/scripted.py", description="A scripted stand-in for a model, on loopback only."
    )
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds each answer takes")
    parser.add_argument(
        "--fault",
        type=_fault,
        action="append",
        default=[],
        metavar="FAULT=RATE",
        help=f"one of {', '.join(FAULTS)}",
    )
    given = parser.parse_args(arguments)
    try:
        with ScriptedServer(dict(given.fault), seed=given.seed, port=given.port, delay=given.delay) as server:
            print(f"export OPENAI_BASE_URL={server.base_url} OPENAI_API_KEY=scripted", flush=True)
            threading.Event().wait()
    except InputError as error:
        print(f"gnrs: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
