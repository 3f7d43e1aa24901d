"""``gnrs lint``: numbered findings about a context and its records, each with its count, an example and what
mends it.
"""

from __future__ import annotations

from gnrs_ppl.records.lint.findings import Linted
from gnrs_ppl.records.lint.run import CHECKS, lint, touching

__all__ = ["CHECKS", "Linted", "lint", "touching"]
