"""The command line, one module a kind of verb."""

from __future__ import annotations

from gnrs_ppl.cli.process import main, run
from gnrs_ppl.cli.verbs import app, goal_app

__all__ = ["app", "goal_app", "main", "run"]
