"""What an audit says: verdicts, reasons and one row per instance and constraint (SEMANTICS lines 15 to
22).
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple, get_args

from gnrs_ppl.context.time import Grain

Verdict = Literal["satisfied", "violated", "indeterminate", "pending", "not_activated", "excused"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
ROLL_UP: tuple[Verdict, ...] = (
    "violated",
    "indeterminate",
    "pending",
    "satisfied",
    "excused",
    "not_activated",
)
"""Order in which a case takes the verdict of its instances (line 21)."""

Reason = Literal[
    # satisfied
    "proven",
    "tie",
    "refuted",
    # violated
    "late",
    "absent",
    "too_few",
    "too_many",
    "seen_forbidden",
    "not_preceded",
    # pending
    "open",
    "seen",
    "unseen",
    # indeterminate
    "scope",
    "uncounted",
    "twice",
    "after_unknown",
    "unknown_key",
    "unknown_match",
    "unknown_tie",
    "open_world",
    "uncovered",
    "uncorroborated",
    "split",
    "unknown_order",
    "exception_unknown",
    # not activated, excused
    "no_after",
    "exception",
]


LEFT_UNCOUNTED = "left uncounted"
"""What an assumption says of working time that no calendar counts."""


class Due(NamedTuple):
    """The bound of an instance: local wall time at the activation's offset and grain (line 19)."""

    local: datetime
    offset: int | None
    grain: Grain


class InstanceVerdict(NamedTuple):
    """One instance × constraint.

    Attributes
    ----------
    instance : str
        Event id of the trigger row, or the case id for case start.
    constraint : int
        Index of the constraint in the norm.
    witnesses : tuple of event ids, sorted
        At most one row per channel, plus the late row or the exception (line 20).
    bearer : str or None
        The activation's resource, or the role of the office.
    slack_seconds : float or None
        due − completion, negative if late; whole days (multiples of 86400) if either side is a date.
    of_target : bool
        Whether a row of the target opened the instance, which then asks for the trigger's act (P1).
    """

    case_id: str
    instance: str
    constraint: int
    verdict: Verdict
    reason: Reason
    witnesses: tuple[str, ...]
    bearer: str | None
    due: Due | None
    slack_seconds: float | None
    of_target: bool = False
