"""GNRS: draft rules that people can read and auditors can run against the records that exist.

``gnrs.load_context``, ``gnrs.draft`` and ``gnrs.audit`` are the whole path; importing this package loads
nothing that a name of it does not ask for.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gnrs_ppl import stops

if stops.is_command():  # before all else is loaded, so that Ctrl-C then is no traceback either
    stops.begin()

if TYPE_CHECKING:
    from gnrs_ppl.audit import audit
    from gnrs_ppl.benchmarks import load_context
    from gnrs_ppl.charter.draft import Charter, draft_charter
    from gnrs_ppl.context import Context, EventLog, read_log
    from gnrs_ppl.cores import use_all_cores
    from gnrs_ppl.draft import Draft, draft, draft_many
    from gnrs_ppl.errors import GnrsError, InputError, NoFeasibleStructure, Refused
    from gnrs_ppl.models import from_factors, read_uai
    from gnrs_ppl.rule.types import Structure
else:
    _HOMES = {
        "audit": "audit",
        "load_context": "benchmarks",
        "Context": "context",
        "EventLog": "context",
        "read_log": "context",
        "Draft": "draft",
        "draft": "draft",
        "Charter": "charter.draft",
        "draft_charter": "charter.draft",
        "draft_many": "draft",
        "GnrsError": "errors",
        "InputError": "errors",
        "NoFeasibleStructure": "errors",
        "Refused": "errors",
        "Structure": "rule.types",
        "from_factors": "models",
        "read_uai": "models",
        "use_all_cores": "cores",
    }

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals().setdefault(name, getattr(import_module(f"{__name__}.{_HOMES[name]}"), name))

    def __dir__() -> list[str]:
        return sorted(__all__)

    class _Package(ModuleType):
        """``audit`` and ``draft`` are functions whose modules have the same names: the functions win."""

        def __setattr__(self, name: str, value: Any) -> None:
            if not (name in _HOMES and isinstance(value, ModuleType)):
                super().__setattr__(name, value)

    sys.modules[__name__].__class__ = _Package

__version__ = "0.1.0"

__all__ = [
    "Charter",
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
    "draft_charter",
    "draft_many",
    "from_factors",
    "load_context",
    "read_log",
    "read_uai",
    "use_all_cores",
]
