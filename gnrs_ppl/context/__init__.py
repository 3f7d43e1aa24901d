"""What comes in: goal, schema, record layer, and the event log behind it."""

from typing import TYPE_CHECKING

from gnrs_ppl.lazy import exports

if TYPE_CHECKING:
    from gnrs_ppl.context.load import Context, load_context
    from gnrs_ppl.context.log import Event, EventLog, read_log
    from gnrs_ppl.context.time import Duration, Grain
    from gnrs_ppl.context.types import Action, Channel, Goal, RecordLayer, Schema, Term
else:
    __getattr__, __dir__ = exports(
        __name__,
        load=("Context", "load_context"),
        log=("Event", "EventLog", "read_log"),
        time=("Duration", "Grain"),
        types=("Action", "Channel", "Goal", "RecordLayer", "Schema", "Term"),
    )

__all__ = [
    "Action",
    "Channel",
    "Context",
    "Duration",
    "Event",
    "EventLog",
    "Goal",
    "Grain",
    "RecordLayer",
    "Schema",
    "Term",
    "load_context",
    "read_log",
]
