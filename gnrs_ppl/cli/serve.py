"""A folder as a page: ``gnrs serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnrs_ppl.errors import InputError

LEAST = 1024
"""Lower ports are the system's, and of 80 a browser does not say that it means it."""


def serve(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Folder with logs, contexts, rules and audits, or an empty one.",
            show_default=False,
        ),
    ],
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            help="Port of 127.0.0.1, from 1024; a free one unless given.",
            show_default=False,
        ),
    ] = 0,
) -> None:
    """Serve a folder as a page in your browser, for you alone on this machine: import, write a goal, draft,
    ask, audit.
    """
    if 0 < port < LEAST:
        raise InputError(
            f"port {port} cannot be used", f"name one from {LEAST:,}", source="arguments", field="--port"
        )
    try:
        from gnrs_ppl.serve.app import serve as serve_folder
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise InputError(
            f"serving needs {error.name}, which is not installed", "pip install 'gnrs-ppl[serve]'"
        ) from None
    serve_folder(folder, port)
