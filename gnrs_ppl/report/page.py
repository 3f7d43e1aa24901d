"""Pages of HTML that stand alone: one base template, one stylesheet, and a policy under which a browser loads
nothing and runs nothing.

Texts of people, logs and models are escaped by the template engine, what does not print in them is shown as
what it is, and longer ones than a page can hold are cut with their length: in one place, for every value.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnrs_ppl.context.output import write_all
from gnrs_ppl.safe_text import to_json, visible

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 2_000
"""Characters of one text on a page."""


def write_page(template: str, path: Path, **values: Any) -> Path:
    """Write a page of one of the templates in ``pages/``; the old file or the new one, never half of it.

    Parameters
    ----------
    template : str
        Its file name.
    path : Path
    **values
        What the template names; all texts are taken as untrusted but for ``Markup``.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    return write_all(path.parent, [(path.name, render(template, **values).encode())])[0]


def render(template: str, **values: Any) -> str:
    """The page as text; parameters as for :func:`write_page`."""
    return environment().get_template(template).render(**values)


def whole(text: str) -> str:
    """A text that is not cut, with its line ends: the SQL of a check."""
    from markupsafe import escape

    return escape(visible(text, keep="\n"))


@cache
def environment() -> Environment:
    """The templates with what all of them use; shared by all pages, so nobody changes it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    environment = Environment(
        loader=PackageLoader("gnrs_ppl.report", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: (
            _seen(value) if isinstance(value, str) and not isinstance(value, Markup) else value
        ),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = files("gnrs_ppl.report").joinpath("pages", "page.css").read_text(encoding="utf-8")
    hashed = b64encode(sha256(style.encode()).digest()).decode()
    environment.globals |= {
        "style": Markup(style),
        # images only as data in the page itself, which need no leave from elsewhere
        "policy": f"default-src 'none'; style-src 'sha256-{hashed}'; img-src data:; base-uri 'none'; "
        "form-action 'none'",
    }
    # what a form sends back is whole and as it is, the rest is for eyes
    environment.filters |= {
        "sent": escape,
        "whole": whole,
        "tojson_text": lambda value: to_json(value, indent=None),
    }
    return environment


def _seen(text: str) -> str:
    clean = visible(text if len(text) <= LONGEST else text[:LONGEST])
    return clean if len(text) <= LONGEST else f"{clean}… ({len(text):,} characters)"
