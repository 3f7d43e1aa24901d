"""The way to the server, which bounds and cleans its answers: nothing above this module sees what was sent.

An answer has to be whole within a time, may have so many bytes, and is read as it stands: a compressed one is
refused, so there is nothing to unpack. Keys in it are replaced; of its headers only those are kept that say
when to try again. Redirects are not followed, since the key would go with them. A proxy that the environment
names is used for https, where it sees neither key nor prompt, and not for http.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
import openai

from gnrs_ppl.errors import InputError
from gnrs_ppl.llm.redaction import redacted

KEPT_HEADERS = ("retry-after", "retry-after-ms", "x-should-retry")


class Transport(httpx2.AsyncBaseTransport):
    """HTTP with limits on answers.

    Parameters
    ----------
    base_url : str
        Of the server; says whether a proxy is used.
    timeout : float
        Seconds an attempt may take in all.
    longest : int
        Most bytes of an answer's body.

    Raises
    ------
    InputError
        The environment names a proxy that cannot be used.
    """

    def __init__(self, base_url: str, timeout: float, longest: int) -> None:
        self.timeout, self.longest = timeout, longest
        try:
            proxy = _proxy(base_url)
            self._inner = httpx2.AsyncHTTPTransport(
                _trust(base_url), limits=openai.DEFAULT_CONNECTION_LIMITS, proxy=proxy
            )
        except (ValueError, ImportError, httpx2.InvalidURL):
            # not shown: its address may hold a password
            remedy = "name one like http://host:8080, or unset it"
            problem = "is no proxy that can be used"
            raise InputError(problem, remedy, source="environment", field="HTTPS_PROXY") from None
        # its lines for debugging quote headers as they came
        logging.getLogger("httpcore2").setLevel(logging.INFO)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and read all of the answer.

        Raises
        ------
        httpx2.TransportError
            The attempt failed or took too long; it may be made again.
        openai.OpenAIError
            The answer is too long or compressed; another attempt would not help.
        """
        request.headers["Accept-Encoding"] = "identity"
        try:
            async with asyncio.timeout(self.timeout):
                response = await self._inner.handle_async_request(request)
                try:
                    content = await self._read(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            raise httpx2.ReadTimeout(f"no whole answer within {self.timeout:g} s", request=request) from None
        except httpx2.TransportError as error:
            # some quote what the server sent; so would the error they come from
            raise type(error)(redacted(str(error)), request=request) from None
        # whatever cannot be read as text stays as it is
        text = redacted(content.decode("utf-8", "surrogateescape"))
        kept = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
        headers = {name: redacted(value) for name, value in kept.items()}
        headers["content-type"] = "application/json"
        content = text.encode("utf-8", "surrogateescape")
        return httpx2.Response(response.status_code, headers=headers, content=content)

    async def aclose(self) -> None:
        """Close connections."""
        await self._inner.aclose()

    async def _read(self, response: httpx2.Response) -> bytes:
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
            raise openai.OpenAIError("the answer is compressed, and none was asked for")
        content = bytearray()
        async for part in response.aiter_raw():
            content += part
            if len(content) > self.longest:
                raise openai.OpenAIError(f"the answer has more than {self.longest:,} bytes")
        return bytes(content)


def _trust(base_url: str) -> ssl.SSLContext | bool:
    """Whom to trust: for plain http nobody, as it shows no certificate, and reading those of the system takes
    longer than a call.
    """
    return True if urlsplit(base_url).scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _proxy(base_url: str) -> str | None:
    """The proxy for an https server, where environment or system name one and do not except the server."""
    url, named = urlsplit(base_url), getproxies()
    address = named.get("https") or named.get("all")
    if url.scheme != "https" or not address or proxy_bypass(url.netloc):
        return None
    return address if "://" in address else f"http://{address}"
