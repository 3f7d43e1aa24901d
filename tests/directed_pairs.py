"""Random (rule, log) pairs aimed at one outcome: the pairs of ``pairs.py``, with the rule, the records and the rows
turned so that a rare reason is had by most cases. All that a direction does not need stays as it was drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta

from cells import Outcome
from pairs import EVIDENCE, TRIGGER_LOG, random_pair
from twice_pairs import twice_pair
from working_pairs import working_pair

from gnrs_ppl.context.log import Event
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.rule.types import COUNTING, LOOK_BACK, MUTUAL, NEGATIVE, NEIGHBOURS, ORDERED, Structure

LONG_AGO, FAR_ON = datetime(2023, 1, 1), datetime(2026, 1, 1)
Pair = tuple[Structure, RecordLayer, list[Event]]


class Direction:
    """A pair as plain data, while it is being turned towards an outcome."""

    def __init__(self, rng: random.Random, template: str, pair: Pair) -> None:
        self.rng, self.template = rng, template
        self.rule, self.layer, self.rows = pair[0].model_dump(), pair[1].model_dump(), pair[2]
        (self.constraint,) = self.rule["norm"]["constraints"]
        self.logs: list[str] = [name for name in self.rule["evidence"]["channels"] if name in EVIDENCE]

    @property
    def pair(self) -> Pair:
        return Structure.model_validate(self.rule), RecordLayer.model_validate(self.layer), self.rows

    # The records

    def watch(self, *, closed: bool = True, until: datetime = FAR_ON) -> None:
        """Every log is complete up to some instant, and silence there means absence or not; every case ends."""
        for channel in self.layer["channels"]:
            channel["closed_world"] = closed
            channel["coverage"] = [{"start": _day(LONG_AGO), "end": _day(until)}]
        self.layer |= {"end_of_observation": _day(FAR_ON), "quiet_after": self.layer["quiet_after"] or "P1D"}

    # The rule

    def plain(self) -> None:
        """An act opens the instances; it and the target state an activity alone, and no second act is waited for."""
        trigger, norm = self.rule["trigger"], self.rule["norm"]
        trigger |= {"act": {"activity": "Open"}, "channel": TRIGGER_LOG}
        norm["bearer"], self.rule["scope"] = "trigger", {}
        self.constraint["after"] = None
        if self.template != "exclusive_choice":
            self.constraint["target"] = {"activity": "Visit"}

    def correlate(self, how: str) -> None:
        self.constraint["correlate"] = how

    def several(self, *, agree: bool = False) -> None:
        """Two acts are asked for, or (where the operator has it) one that two logs show."""
        policy = self.rule["evidence"]
        if policy["operator"] == "any" and self.template in COUNTING:
            self.constraint["count"] = 2
        if policy["operator"] == "at_least":
            by_count = self.template in COUNTING and not agree
            self.constraint["count"], policy["k"] = (2, 1) if by_count else (1, 2)

    def excusable(self) -> None:
        self.constraint |= {"unless": {"activity": "Waive"}, "in_the_meantime": False}

    def follow(self) -> None:
        """A second activation is waited for."""
        if self.rule["trigger"]["act"] is not None:
            self.rule["trigger"]["act"] = {"activity": "Open"}
        self.constraint["after"] = {"act": {"activity": "Call"}, "channel": TRIGGER_LOG}

    # The rows

    def drop(self, *activities: str, share: float = 1.0) -> None:
        self.rows = [row for row in self.rows if row.activity not in activities or self.rng.random() >= share]

    def blank(self, activity: str, *fields: str, share: float = 0.7) -> None:
        """Leave out a field of some rows of an activity."""
        self.rows = [
            _without(row, self.rng.choice(fields))
            if row.activity == activity and self.rng.random() < share
            else row
            for row in self.rows
        ]

    def place(self, activity: str, logs: list[str], *steps: float, share: float = 0.8) -> None:
        """Rows of an activity in some cases, as many parts of an hour or of a day from the first opener as are said,
        one in each of the logs; or, of fewer logs than steps, in turn."""
        opened: dict[str, Event] = {}
        for row in self.rows:
            if row.activity == "Open" and row.timestamp is not None:
                opened.setdefault(row.case_id, row)
        unit = timedelta(minutes=60) if "T" in self.rule["procedure"]["response_time"] else timedelta(days=1)
        for case, row in opened.items():
            if self.rng.random() < share and row.timestamp is not None:
                for number, step in enumerate(steps):
                    self.rows.append(
                        row._replace(
                            event_id=f"{activity[0].lower()}{case}{number}",
                            activity=activity,
                            timestamp=row.timestamp + unit * step,
                            channel=logs[number % len(logs)],
                            role="clerk",
                        )
                    )

    @property
    def side(self) -> int:
        """Whether the target is looked for before the activation or after it."""
        return -1 if self.template in LOOK_BACK else 1


def _day(at: datetime) -> str:
    return at.date().isoformat()


def _without(row: Event, field: str) -> Event:
    if field == "timestamp":
        return row._replace(timestamp=None, offset=None, grain=None)
    return row._replace(**{field: None})


def _no_key(d: Direction) -> None:
    d.watch()
    d.plain()
    d.correlate(d.rng.choice(("same_resource", "same_object")))
    for field in ("resource", "object"):
        d.blank("Open", field, share=0.6)
    if d.template == "init":  # without a key nothing ends its interval, so its first row must be unknown (N4)
        d.layer["case_start"] = ()
        for channel in d.layer["channels"]:
            channel["coverage"] = [{"start": "2025-01-01", "end": _day(FAR_ON)}]


def _perhaps(d: Direction) -> None:
    d.watch()
    d.plain()
    d.correlate("same_case")
    d.drop("Letter")
    d.drop("Visit", share=0.6)
    d.blank("Visit", "timestamp", "channel", "activity", share=0.9)


def _at_once(d: Direction) -> None:
    d.watch()
    d.plain()
    d.correlate("same_case")
    if d.template in ORDERED:
        d.constraint |= {"ties": "unknown", "earlier_counts": False}
    d.drop("Visit", "Letter", "Note")
    d.place("Visit", d.logs, *([0.0] * len(d.logs)))


def _tied(d: Direction) -> None:
    d.watch()
    d.plain()
    d.correlate("same_case")
    d.constraint |= {"earlier_counts": False, "ties": None}
    d.drop("Visit", "Letter", "Note")
    d.place("Visit", d.logs, *([0.0] * len(d.logs)))


def _open(d: Direction) -> None:
    d.watch(closed=False)
    d.drop("Visit", "Letter", share=0.8)


def _not_covered(d: Direction) -> None:
    d.watch(until=datetime(2024, 1, 1))
    d.drop("Visit", "Letter", share=0.8)


def _apart(d: Direction) -> None:
    d.watch()
    d.plain()
    d.several()
    d.layer["match_within"] = "PT1S"
    d.correlate("same_case")
    d.drop("Visit", "Letter")
    d.place("Visit", d.logs, *(d.side * 0.1 * (1 + number) for number in range(len(d.logs))))


def _alone(d: Direction) -> None:
    d.watch()
    d.plain()
    d.several(agree=True)
    d.correlate("same_case")
    d.drop("Visit", "Letter")
    d.place("Visit", d.logs[:1], d.side * 0.1)


def _still_open(d: Direction) -> None:
    _alone(d)
    d.layer["end_of_observation"] = "2024-01-28"


def _done(d: Direction) -> None:
    d.watch()
    d.plain()
    d.correlate("same_case")
    d.drop("Visit", "Letter")
    number = 1 if d.template in NEIGHBOURS or d.rule["evidence"]["operator"] == "any" else len(d.logs)
    logs = d.logs[:1] if d.constraint["count"] > 1 or d.template == "exactly" else d.logs
    d.place("Visit", logs, *([d.side * 0.1] * max(number, d.constraint["count"])))


def _too_often(d: Direction) -> None:
    d.watch()
    d.plain()
    d.correlate("same_case")
    d.constraint["unless"], d.constraint["in_the_meantime"] = None, False
    d.drop("Visit", "Letter")
    d.place("Visit", d.logs[:1], *([0.1] * (d.constraint["count"] + 1)))
    if d.template == "exclusive_choice":
        d.place("Letter", d.logs[:1], 0.1)


def _after(d: Direction) -> None:
    d.watch()
    d.drop("Visit", "Letter", share=0.8)
    d.rows = [
        row._replace(timestamp=row.timestamp + timedelta(days=90))
        if row.timestamp is not None and row.activity in ("Visit", "Letter")
        else row
        for row in d.rows
    ]


def _never(d: Direction) -> None:
    d.watch()
    d.constraint["unless"], d.constraint["in_the_meantime"] = None, False
    d.drop("Visit", "Letter", share=0.8)


def _not_followed(d: Direction) -> None:
    d.follow()
    d.drop("Call", share=0.5)


def _perhaps_followed(d: Direction) -> None:
    d.follow()
    d.blank("Call", "timestamp", "channel", "activity")


def _perhaps_excused(d: Direction) -> None:
    if d.template in NEGATIVE:  # broken in logs whose silence about the exception says nothing
        _done(d)
        d.watch(closed=False)
        d.drop("Waive", share=0.7)
    else:
        d.watch()
        d.plain()
        d.correlate("same_case")
        d.drop("Visit", "Letter")
        d.place("Waive", d.logs, *([-0.1] * len(d.logs)))
        d.blank("Waive", "timestamp", "channel", "activity", share=0.9)
    d.excusable()


def _excused(d: Direction) -> None:
    if d.template == "init":
        _perhaps_first(d)
    elif d.template in NEGATIVE:
        _done(d)
        d.excusable()
        d.drop("Waive")
        d.place("Waive", d.logs, *([-0.3] * len(d.logs)))
    else:
        d.watch()
        d.excusable()
        d.drop("Visit", "Letter", share=0.8)


def _perhaps_first(d: Direction) -> None:
    """What may be the first event, and is an exception for certain, is no other event."""
    d.plain()
    d.correlate("same_case")
    policy = d.rule["evidence"]
    policy |= {"channels": ["site_log"], "k": policy["k"] and 1}
    d.constraint["target"] = {"any_of": ["Visit", {"activity": "Letter", "object": "car"}]}
    d.constraint["unless"] = {"any_of": ["Waive", {"activity": "Letter", "location": "south"}]}
    d.drop("Visit", "Letter", "Waive", "Note")
    d.place("Letter", ["site_log"], 0.1)
    d.rows = [row._replace(location="south") if row.activity == "Letter" else row for row in d.rows]
    d.blank("Letter", "object")


def _waiting(d: Direction) -> None:
    d.watch()
    d.layer["end_of_observation"] = "2024-01-28"
    d.drop("Visit", "Letter", share=0.8)


def _between(d: Direction) -> None:
    _done(d)
    d.place("Note", d.logs, d.side * 0.05, share=0.6)


def _in_hours(d: Direction) -> None:
    d.layer["calendar"] = None
    if d.template not in MUTUAL:
        d.follow()
    d.rule["trigger"]["window"] = "40WH"
    if d.constraint["deadline"] is not None:
        d.constraint["deadline"] = "8WH"


def _crowded(d: Direction) -> None:
    """More rows than are read both ways, in some cases; the others are as they were drawn (G8)."""
    night = datetime(2024, 10, 27, 0, 30)
    first = {row.case_id: row for row in d.rows if row.timestamp is not None}
    crowds = [row for row in first.values() if d.rng.random() < 0.4]
    d.rows = d.rows + [
        row._replace(
            event_id=f"r{row.case_id}{number}", activity="Review", channel=TRIGGER_LOG,
            timestamp=night, offset=120, grain="minute",
        )
        for row in crowds
        for number in range(5)
    ]  # fmt: skip


DIRECTIONS: dict[str, Callable[[Direction], None]] = {
    "unknown_key": _no_key, "unknown_match": _perhaps, "unknown_tie": _at_once, "tie": _tied, "open_world": _open,
    "uncovered": _not_covered, "split": _apart, "uncorroborated": _alone, "seen": _still_open, "open": _waiting, "unseen": _waiting, "proven": _done, "too_many": _too_often, "seen_forbidden": _done,
    "late": _after, "absent": _never, "not_preceded": _never, "too_few": _never, "refuted": _never,
    "no_after": _not_followed, "after_unknown": _perhaps_followed, "exception_unknown": _perhaps_excused,
    "exception": _excused, "unknown_order": _between, "uncounted": _in_hours, "twice": _crowded,
}  # fmt: skip
"""How a pair is turned towards a reason; the others are hit often enough by themselves."""
FAMILIES = {"uncounted": working_pair, "twice": twice_pair}


def directed_pair(seed: int, template: str, operator: str, outcome: Outcome, cases: int) -> Pair:
    """The pair of a seed for one template and operator, turned towards an outcome."""
    return directed(seed, template, operator, outcome, cases).pair


def directed(seed: int, template: str, operator: str, outcome: Outcome, cases: int) -> Direction:
    """The same as plain data, to be turned further."""
    pair = FAMILIES.get(outcome.reason, random_pair)(seed, template, operator, cases)
    rng = random.Random(f"{outcome} {seed} {template} {operator}")
    direction = Direction(rng, template, pair)
    DIRECTIONS.get(outcome.reason, lambda _: None)(direction)
    return direction
