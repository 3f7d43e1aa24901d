"""XML read in one pass and in little memory: no document type, no entities, bounded depth and size of
elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from xml.parsers import expat

from gnrs_ppl.errors import InputError, one_line

MAX_DEPTH = 100
"""Elements within elements."""
MAX_HELD = 64 << 20
"""Bytes of which nothing is complete: an element, or text, longer than this is refused."""
_CHUNK = 1 << 16
_ENCODING = re.compile(rb"""<\?xml[^>]*\bencoding\s*=\s*["']([\w.-]+)""")


class Readable(Protocol):
    """Bytes to read from."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, none at the end."""


class _Begun(Exception):
    """The root element has begun, so no document type can follow."""


class Growing:
    """An XML document while it is read: whoever reads it takes away what is complete, so that little of it is
    held.

    Parameters
    ----------
    stream : Readable
    source : str
        For error lines.

    Attributes
    ----------
    final : bool
        Whether the whole document has been read.
    """

    def __init__(self, stream: Readable, source: str) -> None:
        self.stream, self.source = stream, source
        self.final = False
        self._roots: list[Element] = []
        self._waiting = 0
        self._token = 0  # bytes since the chunk in which an element last began

    def __iter__(self) -> Iterator[Element]:
        """The root element, each time when more of the document hangs on it.

        Raises
        ------
        InputError
            Not well-formed, a document type (with it all entities, internal and external), an encoding Python
            does not know, elements nested deeper than ``MAX_DEPTH``, or more than ``MAX_HELD`` bytes of which
            nothing could be taken away.
        """
        parser = XMLParser(target=TreeBuilder(element_factory=self._made))
        head = _Head(self.source)
        chunk, encoding = b"", b"utf-8"
        try:
            while not self.final:
                # with every chunk the parser looks at a token that goes on from its start again
                chunk = self.stream.read(max(_CHUNK, self._token))
                self._token += len(chunk)
                if stated := _ENCODING.match(chunk):
                    encoding = stated[1].lower()
                head.look(chunk)
                if chunk:
                    parser.feed(chunk)
                else:
                    parser.close()
                self.final = not chunk
                self._waiting += len(chunk)
                self._check()
                if self._roots:
                    yield self._roots[0]
        except (ParseError, expat.ExpatError, LookupError, ValueError) as error:
            problem, remedy = (
                f"is not well-formed XML ({one_line(str(error), 120)})",
                "export or fetch it again",
            )
            text = chunk.decode(errors="surrogateescape")[4:-4]  # a chunk may cut a sign at either end
            if encoding == b"utf-8" and re.search("[\udc80-\udcff]", text):
                problem = f"is not UTF-8, though its first line names no other encoding ({one_line(str(error), 120)})"
                remedy = 'let it begin with the one it has: <?xml version="1.0" encoding="ISO-8859-1"?>'
            raise InputError(problem, remedy, source=self.source) from None

    def _made(self, tag: str, attributes: dict[str, str]) -> Element:
        element = Element(tag, attributes)
        self._token = 0
        if not self._roots:
            self._roots.append(element)
        return element

    def _check(self) -> None:
        depth, element = 0, self._roots[0] if self._roots else None
        while element is not None:
            depth += 1
            if depth > MAX_DEPTH:
                raise InputError(
                    f"nests elements deeper than {MAX_DEPTH}", "is this the right file?", source=self.source
                )
            element = element[-1] if len(element) else None
        if max(self._waiting, self._token) > MAX_HELD:
            raise InputError(
                f"holds more than {MAX_HELD:,} bytes in one piece",
                "is this the right file?",
                source=self.source,
            )

    def take(self, parent: Element, ended: bool = False) -> list[Element]:
        """The complete children of an element, taken off it; the last may still grow unless the element has
        ended.
        """
        complete = parent[:] if ended or self.final else parent[:-1]
        if complete:
            del parent[: len(complete)]
            self._waiting = 0
        return complete


class _Head:
    """A second parser that reads up to the root element only, and refuses a document type."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.parser: XMLParser | None = XMLParser(target=self)

    def look(self, chunk: bytes) -> None:
        if self.parser is not None:
            try:
                self.parser.feed(chunk)
            except _Begun:
                self.parser = None

    def doctype(self, *_: object) -> None:
        raise InputError(
            "holds a document type, with which entities could be declared",
            "take the <!DOCTYPE …> out",
            source=self.source,
        )

    def start(self, *_: object) -> None:
        raise _Begun


def local(tag: str) -> str:
    """Name of an element without its namespace."""
    return tag.rpartition("}")[2]


def first_tags(head: bytes, count: int = 2) -> list[str]:
    """Names of the first elements of a file that may be XML, as far as its beginning can be read."""
    found: list[str] = []

    class _Enough(Exception):
        pass

    def begun(tag: str, _: object) -> None:
        found.append(tag.rpartition(":")[2])
        if len(found) >= count:
            raise _Enough

    parser = expat.ParserCreate()
    parser.StartElementHandler = begun
    with suppress(_Enough, expat.ExpatError, LookupError, ValueError):
        parser.Parse(head, False)
    return found
