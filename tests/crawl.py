"""Every request that the live pages lead to: their links, and their forms with the fields a browser would send."""

from __future__ import annotations

import inspect
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.routing import Match, Route
from starlette.testclient import TestClient


class Sent(NamedTuple):
    """A request: fields stand in the address of a GET and in the body of a POST, ``number`` and ``name`` of a
    route within its path.
    """

    method: str
    path: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def shape(self) -> tuple[str, str, frozenset[str]]:
        """What requests of one kind have in common."""
        names = frozenset(name for name, _ in self.fields)
        return self.method, "/".join("#" if part.isdigit() else part for part in self.path.split("/")), names

    def by(self, client: TestClient) -> Any:
        """The answer to it."""
        if self.method == "GET":
            return client.get(f"{self.path}?{urlencode(self.fields)}" if self.fields else self.path)
        together: dict[str, list[str]] = {}
        for name, value in self.fields:
            together.setdefault(name, []).append(value)
        if self.path.endswith("/import/upload"):  # a file, whose name is a field of its own
            file = together.pop("filename")[0]
            return client.post(self.path, data=together, files={"file": (file, b"case_id\n1\n")})
        return client.post(self.path, data=together)

    def with_field(self, name: str, value: str) -> Sent:
        """The same with another value of a field, or with a field more."""
        return self._replace(fields=(*(field for field in self.fields if field[0] != name), (name, value)))


class _Page(HTMLParser):
    """The links and forms of a page; of a list of options the one that is chosen, of buttons each in turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[Sent] = []
        self._form: Sent | None = None
        self._buttons: list[tuple[str, str]] = []
        self._typed = ""
        self._select, self._option = "", None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        for name in ("href", "src", "hx-get", "sse-connect"):
            if said.get(name, "").startswith("/"):
                parts = urlsplit(said[name])
                self.found.append(Sent("GET", parts.path, tuple(parse_qsl(parts.query, True))))
        if tag == "form":
            self._form = Sent(said["method"].upper(), said["action"])
            self._buttons = []
        self._typed = said.get("hx-post", self._typed)
        if self._form is None:
            return
        if tag == "select":
            self._select, self._option = said["name"], None
        if tag == "option" and (self._option is None or "selected" in said):
            self._option = said.get("value", "")
        if tag == "button" and "name" in said:
            self._buttons.append((said["name"], said.get("value", "")))
        if tag == "textarea" and "name" in said:
            self._field(said["name"], "Somebody must do it.")
        if tag == "input" and "name" in said:
            kind = said.get("type", "text")
            if kind == "file":
                self._field("filename", "log.csv")
            elif kind not in ("radio", "checkbox") or "checked" in said:
                self._field(said["name"], said.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "select" and self._form is not None:
            self._field(self._select, self._option or "")
        if tag == "form" and self._form is not None:
            for button in self._buttons or [None]:
                self.found.append(
                    self._form._replace(fields=(*self._form.fields, button)) if button else self._form
                )
            if self._typed:  # what a script sends of a form while one types
                self.found.append(self._form._replace(path=self._typed))
            self._form, self._typed = None, ""

    def _field(self, name: str, value: str) -> None:
        assert self._form is not None
        self._form = self._form._replace(fields=(*self._form.fields, (name, value)))


def crawl(client: TestClient, *starts: Sent, base: str = "") -> list[Sent]:
    """One request of each shape, from some pages on; nothing is posted."""
    found: dict[Any, Sent] = {}
    waiting = [Sent("GET", f"{base}/"), *starts]
    while waiting:
        one = waiting.pop(0)
        if one.shape in found:
            continue
        found[one.shape] = one
        # styles, archives and streams lead nowhere
        if one.method == "GET" and not re.search(
            "^/static/|^/download/|/events$", one.path.removeprefix(base)
        ):
            answer = one.by(client)
            assert answer.status_code == 200, one
            if "text/html" in answer.headers["content-type"]:
                waiting += _Page(answer.text).found
    return list(found.values())


READ = re.compile(r'(?:query_params|said|form)\.get\("([\w-]+)"|texts?\(form, "([\w-]+)"')
"""Where a handler reads a parameter by its name."""


def parameters(sent: list[Sent], routes: list[Route]) -> list[tuple[Sent, str]]:
    """Each parameter of each route, with a request that it may be put in: those of its path, those that a
    page sends, and those that the module of its handler reads.

    Raises
    ------
    AssertionError
        No page leads to a route.
    """
    found = []
    for route in routes:
        own = [
            one
            for one in sent
            if route.matches({"type": "http", "path": one.path, "method": one.method})[0] == Match.FULL
        ]
        assert own, f"no page leads to {route.path}"
        names: dict[str, Sent] = {}
        for one in sorted(own, key=lambda one: len(one.fields)):
            names |= dict.fromkeys((name for name, _ in one.fields), one)
        module = Path(inspect.getfile(route.endpoint)).read_text()
        for read in READ.findall(module):
            names.setdefault("".join(read), own[-1])
        names.pop("token", None)
        found += [(one, name) for name, one in names.items()]
        found += [(own[0], f"{{{name}}}") for name in route.param_convertors]
    return found


def put(one: Sent, name: str, value: str) -> Sent:
    """A request with a value in the place of one of its parameters."""
    if not name.startswith("{"):
        return one.with_field(name, value)
    parts = one.path.split("/")
    return one._replace(path="/".join([*parts[:2], value, *parts[3:]]))
