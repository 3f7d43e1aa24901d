"""The OpenAI adapter, which also serves vLLM, Ollama, llama.cpp and the like: cache, chat completions, cost
limit.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Generic

from pydantic import BaseModel, ValidationError

from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.llm.cache import Cache, Mode, canonical, default_path
from gnrs_ppl.llm.client import Answer, CallError, Message, Request, T, Way
from gnrs_ppl.llm.costs import PRICES, Costs, credible, parse_price, read_prices
from gnrs_ppl.llm.redaction import KEY
from gnrs_ppl.llm.reply import THOUGHTS, Completion, Reply, first_problem, json_object
from gnrs_ppl.llm.roles import Role, Settings, require_key, settings_from_environment

logger = logging.getLogger(__name__)

ADAPTER = 1
"""Part of every cache key: raise it when requests are built otherwise or replies are read otherwise."""

ROLE_HEADER, SAMPLE_HEADER = "X-Gnrs-Role", "X-Gnrs-Sample"
"""Sent with every call; the scripted server answers by them, others do not look."""

SCHEMA_FOLLOWS = "Answer with one JSON object and nothing else. It has to fit this JSON schema:\n"
"""Ends the last message where the server does not take the schema itself."""

_Kind = tuple[Role, str, Way, type[BaseModel] | None]


class OpenAIModel:
    """Models behind an OpenAI-compatible server: cache first, then chat completions within the cost limit.

    The SDK, and with it the key, is reached only when something has to be sent; a cache that holds every
    answer needs no key.

    Parameters
    ----------
    settings : Settings
    cache : Cache, optional
    costs : Costs, optional
    """

    def __init__(self, settings: Settings, cache: Cache | None = None, costs: Costs | None = None) -> None:
        self.settings, self.cache, self.costs = settings, cache, costs or Costs()
        self._clients: dict[str, Any] = {}
        self._rejected: set[_Kind] = set()

    async def complete(self, request: Request[T]) -> Answer[T]:
        """Answer one request: out of the cache, else in the best way to ask that the server takes.

        Raises
        ------
        InputError
            No key, no SDK, no model for the role, an unknown price under a limit, a key or model that the
            server does not know, a cache that cannot be used.
        """
        return replace(await self._complete(request), prompt=request.prompt)

    async def close(self) -> None:
        """Close connections."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.close()

    async def _complete(self, request: Request[T]) -> Answer[T]:
        ways: tuple[Way, ...] = self.settings.structured if request.response else ("text",)
        calls: list[_Call[T]] = []
        for way in ways:
            calls.append(self._call(request, way))
            if (stored := self._stored(calls[-1])) is not None:
                return stored
        if self.cache and self.cache.mode == "read-only":
            return Answer(error=CallError("cache_miss", f"not in {self.cache.path}, which is only read"))
        return await self._first_accepted([call for call in calls if call.kind not in self._rejected])

    async def _first_accepted(self, calls: list[_Call[T]]) -> Answer[T]:
        for number, call in enumerate(calls):
            answer = await self._ask(call)
            if answer.error is None or answer.error.kind != "rejected":
                # only now is it clear that the way of asking was what the server did not take, and not the
                # request
                self._rejected.update(tried.kind for tried in calls[:number])
                break
            logger.warning(
                "%s: %s rejected %s (%s)", call.request.role, call.model, call.way, answer.error.message
            )
        return answer

    def _call(self, request: Request[T], way: Way) -> _Call[T]:
        model, messages = self.settings.model(request.role), [_clean(message) for message in request.messages]
        body: dict[str, Any] = {
            "model": model,
            "messages": messages,
            self.settings.limit_field(request.role): request.max_tokens,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.seed is not None:
            body["seed"] = request.seed
        if request.response:
            schema = _strict_schema(request.response)
            if way == "json_schema":
                body["response_format"] = {
                    "type": way,
                    way: {"name": _name(request.response), "schema": schema, "strict": True},
                }
            else:
                messages[-1]["content"] += f"\n\n{SCHEMA_FOLLOWS}{canonical(schema)}"
            if way == "json_object":
                body["response_format"] = {"type": way}
        sent = {
            "adapter": ADAPTER,
            "base_url": self.settings.server(request.role),
            "role": request.role,
            "sample": request.sample,
            "body": body,
        }
        return _Call(request, way, body, canonical(sent))

    def _stored(self, call: _Call[T]) -> Answer[T] | None:
        text = self.cache.get(call.key_text) if self.cache else None
        if text is None:
            return None
        try:
            answer = self._answer(call, Reply.model_validate_json(text))
        except ValidationError:
            return None
        if answer.error:  # the model has become stricter since
            return None
        self.costs.hits += 1
        logger.info("%s: %s, %s, from the cache", call.request.role, call.model, call.way)
        return replace(answer, cached=True)

    async def _ask(self, call: _Call[T]) -> Answer[T]:
        self._connect(call.request.role)
        bound = self.costs.bound(call.model, call.size, call.request.max_tokens)
        reserved = bound * (1 + self.settings.retries)
        if not await self.costs.reserve(reserved):
            return Answer(
                way=call.way,
                error=CallError(
                    "max_cost", f"not asked: it might exceed the limit of {self.costs.limit} US dollars"
                ),
            )
        tries, answer = _Tries(), None
        try:
            answer = await self._send(call, tries)
        finally:
            cost = answer.cost if answer else None
            # attempts that were not answered, and good answers without a known cost, may have been billed
            possible = bound * (tries.sent - tries.answered)
            if tries.good and cost is None:
                # all we can count ourselves; a server may also not have stopped where it was told to
                possible += self.costs.bound(
                    call.model, call.size, max(call.request.max_tokens, tries.written)
                )
            self.costs.settle(reserved, cost or 0.0, possible)
        outcome = answer.error.kind if answer.error else "refused" if answer.refusal else "answered"
        logger.info(
            "%s: %s, %s, %s in %.2f s, %d tries",
            call.request.role,
            call.model,
            call.way,
            outcome,
            tries.seconds,
            tries.sent,
        )
        return replace(answer, tries=tries.sent)

    async def _send(self, call: _Call[T], tries: _Tries) -> Answer[T]:
        _TRIES.set(tries)
        headers = {ROLE_HEADER: call.request.role, SAMPLE_HEADER: str(call.request.sample)}
        failure = None
        try:
            client = self._clients[self.settings.key(call.request.role)]
            raw = await client.chat.completions.with_raw_response.create(**call.body, extra_headers=headers)
        except _openai().OpenAIError as error:
            failure = self._failure(call, error)
        # raised here, where no frame and no chained exception holds the SDK's error: that may quote the key
        if isinstance(failure, InputError):
            raise failure
        if failure:
            return Answer(way=call.way, error=failure)
        try:
            reply = Completion.model_validate_json(raw.content).reply()
        except ValidationError as error:
            self.costs.count(None, None)
            return Answer(
                way=call.way, error=CallError("malformed", f"no chat completion: {first_problem(error)}")
            )
        tries.written = len((reply.text + reply.refusal).encode())
        answer = self._answer(call, reply)
        self.costs.count(answer.usage, answer.cost)
        if answer.error is None and self.cache:
            self.cache.put(call.key_text, reply.model_dump_json(), tries.seconds)
        return answer

    def _answer(self, call: _Call[T], reply: Reply) -> Answer[T]:
        text, usage = THOUGHTS.sub("", reply.text), reply.usage
        if usage and not credible(
            usage, call.words, call.size, reply.text + reply.refusal, call.request.max_tokens
        ):
            usage = None
        answer: Answer[T] = Answer(
            text=text,
            finish_reason=reply.finish_reason,
            refusal=reply.refusal,
            way=call.way,
            usage=usage,
            cost=self.costs.cost(call.model, usage),
            model=reply.model,
            scripted=reply.scripted,
        )
        if reply.refusal:
            return answer
        if reply.finish_reason == "length":
            return replace(
                answer, error=CallError("truncated", f"cut off after {call.request.max_tokens} tokens")
            )
        if reply.finish_reason == "content_filter":
            return replace(answer, error=CallError("filtered", "withheld by the server's content filter"))
        if call.request.response is None:
            return answer if text else replace(answer, error=CallError("invalid", "empty"))
        try:
            return replace(answer, parsed=call.request.response.model_validate_json(json_object(text)))
        except ValidationError as error:
            return replace(answer, error=CallError("invalid", first_problem(error)))
        except (ValueError, RecursionError) as error:
            return replace(answer, error=CallError("invalid", one_line(f"no JSON object: {error}", 200)))

    def _failure(self, call: _Call[T], error: Exception) -> CallError | InputError:
        openai = _openai()
        message = one_line(str(error))
        role = call.request.role
        server = f"the server at {self.settings.server(role)}"
        place = f"GNRS_BASE_URL_{role.upper()}" if role in self.settings.servers else "OPENAI_BASE_URL"
        match error:
            case openai.AuthenticationError():
                return InputError(
                    f"{server} refused the key (401)",
                    "set a key that it knows",
                    source="environment",
                    field=self.settings.key(role),
                )
            case openai.NotFoundError() if call.way in ("text", self.settings.structured[-1]):
                remedy = f"check {place} and GNRS_MODEL_{role.upper()}"
                return InputError(
                    f"{server} has no model {call.model!r} or no chat completions ({message})", remedy
                )
            case openai.RateLimitError():
                return CallError("rate_limit", message)
            case openai.APITimeoutError():
                return CallError("timeout", f"no answer within {self.settings.timeout:g} s")
            case openai.APIConnectionError():
                return CallError("connection", one_line(f"{server} cannot be reached ({error.__cause__!r})"))
            case openai.APIStatusError() if 300 <= error.status_code < 400:
                problem = (
                    f"{server} redirects ({error.status_code}), which is not followed: the key would "
                    "go with it"
                )
                return InputError(
                    problem, "give the address it redirects to", source="environment", field=place
                )
            case openai.APIStatusError() if error.status_code < 500:
                return CallError("rejected", message)
            case openai.APIError():
                return CallError("server", message)
            case _:
                return CallError("malformed", message)

    def _connect(self, role: Role) -> None:
        """A client for each key: a role with a server of its own has both."""
        name = self.settings.key(role)
        if name in self._clients:
            return
        require_key(key=name)
        openai = _openai()
        sending = [_count_sent] if name == KEY else [_count_sent, _leave_out_who_asks]
        hooks = {"request": sending, "response": [_count_answered]}
        # not before it is clear that there is an SDK
        from gnrs_ppl.llm.transport import Transport

        settings, url = self.settings, self.settings.server(role)
        transport = Transport(url, settings.timeout, settings.longest)
        sender = openai.DefaultAsyncHttpxClient(
            event_hooks=hooks, transport=transport, follow_redirects=False
        )
        # the SDK reads its key from the environment itself, and no name of ours holds another
        self._clients[name] = openai.AsyncOpenAI(
            api_key=None if name == KEY else os.environ[name],
            base_url=url,
            timeout=settings.timeout,
            max_retries=settings.retries,
            http_client=sender,
        )


@contextmanager
def model_from_environment(
    max_cost: float | None = None,
    prices: Sequence[str] = (),
    cache: Mode = "rw",
    roles: Sequence[str] = (),
    price_file: Path | None = None,
) -> Iterator[OpenAIModel]:
    """The models that the environment names, with the answers kept in the user's cache file.

    Parameters
    ----------
    max_cost : float, optional
        US dollars never to exceed.
    prices : sequence of str
        Further prices, as :func:`~gnrs_ppl.llm.parse_price` reads them.
    cache : {"rw", "read-only", "refresh", "off"}
    roles : sequence of str
        ``ROLE=MODEL`` or ``ROLE=MODEL@BASE_URL``, before what the environment says.
    price_file : Path, optional
        Prices as :func:`~gnrs_ppl.llm.costs.read_prices` reads them; those of ``prices`` go before.

    Raises
    ------
    InputError
        As :class:`Settings`, :class:`Cache`, :class:`Costs` and :func:`~gnrs_ppl.llm.parse_price`.
    """
    filed = read_prices(price_file) if price_file else {}
    costs = Costs(max_cost, {**PRICES, **filed, **dict(map(parse_price, prices))})
    with Cache(default_path(), cache) as stored:
        yield OpenAIModel(settings_from_environment(roles=roles), stored, costs)


@dataclass(frozen=True)
class _Call(Generic[T]):
    """A request in one way of asking: what is sent, and the text its cache key is made of."""

    request: Request[T]
    way: Way
    body: dict[str, Any]
    key_text: str

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def size(self) -> int:
        """Bytes of what is sent."""
        return len(canonical(self.body))

    @property
    def words(self) -> str:
        """What the messages say."""
        return " ".join(message["content"] for message in self.body["messages"])

    @property
    def kind(self) -> _Kind:
        """What a server takes or rejects."""
        return self.request.role, self.model, self.way, self.request.response


class _Tries:
    """What was sent and came back for one call."""

    def __init__(self) -> None:
        self.sent = self.answered = self.good = self.written = 0
        self.started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


_TRIES: ContextVar[_Tries] = ContextVar("tries")


async def _count_sent(request: Any) -> None:
    _TRIES.get().sent += 1


async def _leave_out_who_asks(request: Any) -> None:
    """Organisation and project belong to OPENAI_API_KEY and are none of another server's business."""
    for header in ("OpenAI-Organization", "OpenAI-Project"):
        request.headers.pop(header, None)


async def _count_answered(response: Any) -> None:
    tries = _TRIES.get()
    tries.answered += 1
    tries.good += response.status_code == 200


def _clean(message: Message) -> dict[str, str]:
    """The message as it is sent; half characters, which no UTF-8 can carry, become question marks."""
    return {"role": message.role, "content": message.content.encode("utf-8", "replace").decode()}


def _name(model: type[BaseModel]) -> str:
    """The model's name in the letters a schema's name may have (``Part[Scope]`` has others)."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", model.__name__)[:64]


@cache
def _strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The model's JSON schema in the dialect OpenAI enforces: nothing optional, nothing extra."""
    tool: Any = _openai().pydantic_function_tool(model)
    return dict(tool["function"]["parameters"])


def _openai() -> Any:
    try:
        import openai
    except ImportError:
        raise InputError("the openai package is not installed", "pip install 'openai'") from None
    return openai
