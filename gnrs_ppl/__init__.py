"""GNRS: draft rules that people can read and auditors can run against the records that exist.

``gnrs.load_context``, ``gnrs.draft`` and ``gnrs.audit`` are the whole path; importing this package does not
import jax.
"""

from gnrs_ppl import stops

if stops.is_command():  # before all else is loaded, so that Ctrl-C then is no traceback either
    stops.begin()

from gnrs_ppl.audit import audit
from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.context import Context, EventLog, read_log
from gnrs_ppl.draft import Draft, draft, draft_many
from gnrs_ppl.errors import GnrsError, InputError, NoFeasibleStructure, Refused
from gnrs_ppl.rule.types import Structure

__version__ = "0.1.0"

__all__ = [
    "Context",
    "Draft",
    "EventLog",
    "GnrsError",
    "InputError",
    "NoFeasibleStructure",
    "Refused",
    "Structure",
    "__version__",
    "audit",
    "draft",
    "draft_many",
    "load_context",
    "read_log",
]
