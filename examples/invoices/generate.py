"""Made-up supplier invoices of a mid-size company: writes ``events.csv`` beside this file, the same bytes
every time.

    python examples/invoices/generate.py

Three logs see the work. ``erp_log`` and ``approval_workflow_log`` keep seconds on the office's clock (+01:00,
in summer +02:00). ``goods_receipt_log`` is a warehouse terminal that shows whole minutes, never changes to
summer time and was down on three days. Durations are lognormal; none of their parameters is taken from a
rule.
"""

from __future__ import annotations

import csv
import math
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

SEED = 20240108
CASES = 450

FIRST_DAY = datetime(2024, 1, 2)
LAST_ARRIVAL = datetime(2024, 7, 12)
EXTRACTED = datetime(2024, 7, 19, 18)  # local, summer time: nothing later is in the log
TERMINAL_DOWN = (datetime(2024, 3, 19), datetime(2024, 3, 22))
SUMMER = (datetime(2024, 3, 31, 2), datetime(2024, 10, 27, 3))  # local clock changes of 2024

ERP, WORKFLOW, WAREHOUSE = "erp_log", "approval_workflow_log", "goods_receipt_log"

CLERKS = ["p01", "p02", "p03", "p04", "p05"]
HOLDERS = {
    "head_office": ["p11", "p12", "p13", "p14"],
    "plant_north": ["p15", "p16", "p17"],
    "depot_south": ["p18", "p19"],
}
MANAGERS = ["p21", "p22"]
STOREKEEPERS = {"head_office": ["p31"], "plant_north": ["p32", "p33"], "depot_south": ["p34"]}
BUYERS = ["p41", "p42", "p43"]
AUDITOR = "p51"

HEADER = [
    "event_id",
    "case_id",
    "activity",
    "timestamp",
    "resource",
    "role",
    "object",
    "location",
    "channel",
    "value",
]


class Row(NamedTuple):
    """One recorded act; ``time`` is local wall time of the office."""

    time: datetime
    case_id: str
    activity: str
    resource: str
    role: str
    object: str
    location: str
    channel: str
    value: str


class Case:
    """One invoice file: its fixed facts, its rows, and the draws it is made of."""

    def __init__(self, random: Random, number: int) -> None:
        self.random = random
        self.case_id = f"inv_{number:04d}"
        self.kind = random.choices(["goods_invoice", "service_invoice", "credit_note"], [0.63, 0.29, 0.08])[0]
        self.site = random.choices(list(HOLDERS), [0.46, 0.36, 0.18])[0]
        self.amount = round(random.lognormvariate(7.1, 1.15), 2) * (-1 if self.kind == "credit_note" else 1)
        self.holder = random.choice(HOLDERS[self.site])
        self.clerk = random.choice(CLERKS)
        self.rows: list[Row] = []

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random.random() < probability

    def days(self, median: float, sigma: float) -> timedelta:
        """A lognormal duration, its median in days."""
        return timedelta(days=self.random.lognormvariate(math.log(median), sigma))

    def later(self, since: datetime, median: float, sigma: float) -> datetime:
        """A working moment that lognormal duration after ``since``."""
        return self.at_work(since + self.days(median, sigma), not_before=since)

    def at_work(self, moment: datetime, not_before: datetime | None = None) -> datetime:
        """``moment``, moved to the next working hours where it falls outside them, and kept after
        ``not_before``."""
        opens, closes = timedelta(hours=7, minutes=40), timedelta(hours=17, minutes=35)
        midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        if moment - midnight > closes:
            midnight += timedelta(days=1)
        midnight += timedelta(days=max(0, 7 - midnight.weekday()) if midnight.weekday() > 4 else 0)
        if not midnight + opens <= moment <= midnight + closes:
            moment = midnight + opens + self.days(0.045, 0.8)
        if not_before is not None and moment <= not_before:
            moment = not_before + self.days(0.008, 0.7)
        return moment.replace(microsecond=0)

    def record(
        self,
        time: datetime,
        channel: str,
        activity: str,
        resource: str,
        role: str,
        object_: str = "",
        value: bool = True,
    ) -> None:
        """Write one row down; who did it is missing now and then, on the shared terminal more often."""
        resource = "" if self.chance(0.09 if channel == WAREHOUSE else 0.015) else resource
        role = "" if self.chance(0.02) else role
        amount = f"{self.amount:.2f}" if value else ""
        self.rows.append(
            Row(
                time, self.case_id, activity, resource, role, object_ or self.kind, self.site, channel, amount
            )
        )


def simulate(random: Random, number: int) -> list[Row]:
    """The rows of one case from order to archive."""
    case = Case(random, number)
    received = _order_and_deliver(case)
    posted = _receive_and_post(case, received)
    if case.chance(0.06):
        posted = _send_back(case, posted)
    approved = _approve(case, posted)
    paid = _pay(case, posted, approved)
    _follow_up(case, posted, approved, paid)
    _close(case, approved, paid)
    return case.rows


def _order_and_deliver(case: Case) -> datetime:
    """Order and delivery of goods; returns when the invoice arrives."""
    span = (LAST_ARRIVAL - FIRST_DAY).total_seconds()
    begun = case.at_work(FIRST_DAY + timedelta(seconds=span * case.random.random()))
    if case.kind == "credit_note" or (case.kind == "service_invoice" and case.chance(0.8)):
        return begun
    case.record(begun, ERP, "PlaceOrder", case.random.choice(BUYERS), "purchasing_officer", "purchase_order")
    if case.kind == "service_invoice":
        return case.later(begun, 12.7, 0.5)
    delivered = case.later(begun, 8.6, 0.45)
    arrives = case.at_work(delivered + case.days(3.2, 0.8) - timedelta(days=1.4), not_before=begun)
    booked = delivered
    if TERMINAL_DOWN[0] <= delivered < TERMINAL_DOWN[1]:
        booked = case.later(TERMINAL_DOWN[1], 0.9, 0.6)
    if not case.chance(0.62 if booked != delivered else 0.04):
        storekeeper = case.random.choice(STOREKEEPERS[case.site])
        case.record(
            booked, WAREHOUSE, "ReceiveGoods", storekeeper, "warehouse_clerk", "delivery", value=False
        )
        accepted = case.later(booked, 0.8, 0.8)
        if case.chance(0.87) and not TERMINAL_DOWN[0] <= accepted < TERMINAL_DOWN[1]:
            case.record(
                accepted, WAREHOUSE, "AcceptDelivery", case.holder, "budget_holder", "delivery", value=False
            )
    return arrives


def _receive_and_post(case: Case, received: datetime) -> datetime:
    """Invoice in and posted; at times the budget holder does the clerk's work (and will approve it too)."""
    if case.chance(0.05):
        case.clerk = case.holder
    case.record(received, ERP, "ReceiveInvoice", case.clerk, "accounts_clerk")
    poster = case.clerk if case.chance(0.7) or case.clerk == case.holder else case.random.choice(CLERKS)
    posted = case.later(received, 0.32, 0.8)
    case.record(posted, ERP, "PostInvoice", poster, "accounts_clerk")
    return posted


def _send_back(case: Case, posted: datetime) -> datetime:
    """The budget holder rejects the invoice and the supplier sends a better one."""
    rejected = case.later(posted, 1.9, 0.7)
    case.record(rejected, WORKFLOW, "RejectInvoice", case.holder, "budget_holder")
    return _receive_and_post(case, case.later(rejected, 5.8, 0.5))


def _approve(case: Case, posted: datetime) -> datetime | None:
    """Approval in the workflow and its copy in the ERP; sometimes after a hold, by a deputy, or never."""
    ready = posted
    if case.chance(0.1):
        ready = _hold(case, posted)
    if case.chance(0.025):
        return None
    approved = case.later(ready, 1.36, 0.97)
    deputy = case.chance(0.035)
    who, role = (
        (case.random.choice(MANAGERS), "finance_manager") if deputy else (case.holder, "budget_holder")
    )
    on_paper = case.chance(0.02)  # typed into the ERP by hand, never in the workflow
    if not on_paper:
        case.record(approved, WORKFLOW, "ApproveInvoice", who, role)
    if on_paper or not case.chance(0.035):
        copied = approved + case.days(0.0049, 0.85)
        case.record(copied.replace(microsecond=0), ERP, "ApproveInvoice", who, role)
    return approved


def _hold(case: Case, posted: datetime) -> datetime:
    """The invoice waits for the supplier's answer; returns when it is released."""
    held = case.later(posted, 1.2, 0.7)
    case.record(held, WORKFLOW, "HoldInvoice", case.holder, "budget_holder")
    released = case.later(held, 6.8, 0.55)
    if case.chance(0.9):
        case.record(released, WORKFLOW, "ReleaseHold", case.holder, "budget_holder")
    return released


def _pay(case: Case, posted: datetime, approved: datetime | None) -> datetime | None:
    """Payment run, mostly after approval; some payments do not wait, some are made with the company card."""
    if case.kind == "credit_note":
        return None
    by_card, hurried = case.chance(0.035), case.chance(0.1)
    if by_card or hurried:
        paid = case.later(posted, 2.2, 0.7)
    elif approved is None:
        if case.chance(0.6):
            return None
        paid = case.later(posted, 18.7, 0.36)
    else:
        planned, cleared = case.later(posted, 18.7, 0.36), case.later(approved, 1.7, 0.5)
        paid = max(planned, cleared)
    if by_card:
        case.record(paid, ERP, "PayByCard", case.holder, "budget_holder")
    else:
        case.record(paid, ERP, "PayInvoice", case.random.choice(CLERKS), "accounts_clerk")
    return paid


def _follow_up(case: Case, posted: datetime, approved: datetime | None, paid: datetime | None) -> None:
    """Somebody chases a slow approval; the finance manager looks into some of what went wrong."""
    waited = ((approved or EXTRACTED) - posted) / timedelta(days=1)
    chased = None
    if case.chance(0.75 * _rises(waited, 6.4, 1.2)):
        chased = case.at_work(
            posted + timedelta(days=min(waited, 30.0) * case.random.uniform(0.5, 0.95)), not_before=posted
        )
        case.record(chased, WORKFLOW, "EscalateApproval", case.random.choice(CLERKS), "accounts_clerk")
    paid_blind = paid is not None and (approved is None or paid < approved)
    if case.chance(0.62 if paid_blind else 0.55 * _rises(waited, 7.7, 1.4)):
        known = (
            paid if paid_blind and paid is not None else chased or posted + timedelta(days=min(waited, 30.0))
        )
        manager = case.random.choice(MANAGERS)
        reviewed = case.later(known, 1.4, 0.7)
        case.record(reviewed, WORKFLOW, "ReviewInvoice", manager, "finance_manager")
        if case.chance(0.85):
            case.record(
                case.later(reviewed, 1.1, 0.7), WORKFLOW, "RecordDecision", manager, "finance_manager"
            )


def _rises(x: float, middle: float, width: float) -> float:
    return 1 / (1 + math.exp((middle - x) / width))


def _close(case: Case, approved: datetime | None, paid: datetime | None) -> None:
    """Archive what is done; the auditor looks at a few files."""
    done = max((t for t in (approved, paid) if t is not None), default=None)
    if done is None or (paid is None and case.kind != "credit_note"):
        return
    if case.chance(0.96):
        done = case.later(done, 3.1, 0.6)
        case.record(done, ERP, "ArchiveInvoice", case.clerk, "accounts_clerk")
    if case.chance(0.035):
        case.record(case.later(done, 6.4, 0.6), ERP, "AuditInvoice", AUDITOR, "internal_auditor")


def stamp(row: Row) -> tuple[datetime, str]:
    """The row's instant in UTC and its timestamp as its log writes it."""
    summer = SUMMER[0] <= row.time < SUMMER[1]
    utc = row.time - timedelta(hours=2 if summer else 1)
    if row.channel == WAREHOUSE:
        utc = utc.replace(second=0)
        return utc, (utc + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M+01:00")
    return utc, row.time.strftime("%Y-%m-%dT%H:%M:%S") + ("+02:00" if summer else "+01:00")


def main() -> None:
    """Write events.csv."""
    random = Random(SEED)
    rows = [
        row for number in range(1, CASES + 1) for row in simulate(random, number) if row.time <= EXTRACTED
    ]
    rows.sort(key=lambda row: (stamp(row)[0], row))
    with (Path(__file__).parent / "events.csv").open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerow(HEADER)
        for number, row in enumerate(rows, 1):
            out.writerow([f"e{number:05d}", row.case_id, row.activity, stamp(row)[1], *row[3:]])


if __name__ == "__main__":
    main()
