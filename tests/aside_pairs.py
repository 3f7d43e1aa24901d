"""Random logs some rows of which are set aside (SEMANTICS line 1): what is left of them is a case, or none, and an
activity, or none.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from gnrs_ppl.context.log import Event


def put_aside(seed: int, events: Sequence[Event]) -> tuple[list[Event], list[Event]]:
    """The rows that stay, and those that were set aside; a case is empty where it is not known."""
    rng = random.Random(f"aside {seed} {len(events)}")
    share, lost = rng.choice((0.02, 0.1, 0.3)), rng.choice((0.0, 0.0, 0.02, 0.1))
    kept, aside = list[Event](), list[Event]()
    for row in events:
        if rng.random() >= share:
            kept.append(row)
            continue
        known = (
            row if rng.random() < 0.5 else Event(row.event_id, row.case_id, row.activity, None, None, None)
        )
        if rng.random() < 0.2:
            known = known._replace(activity=None)
        if rng.random() < lost and (known.activity or rng.random() < 0.1):
            known = known._replace(case_id="")
        aside.append(known)
    return kept, aside
