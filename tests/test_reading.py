"""Sentences as people write them, of several trades, and what they must be read as; what every reading keeps."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnrs_ppl.context.types import Action, Schema, Term
from gnrs_ppl.reading import Reading, Readings, read


def schema(acts: dict[str, str], roles: str = "", locations: str = "", objects: str = "") -> Schema:
    """A schema of acts with their phrases, and names of people, places and things."""

    def terms(names: str) -> tuple[Term, ...]:
        return tuple(Term(name=n.replace(" ", "_"), phrase=n) for n in names.split(", ") if n)

    actions = tuple(Action(name=name, phrase=phrase) for name, phrase in acts.items())
    return Schema(actions=actions, roles=terms(roles), locations=terms(locations), objects=terms(objects))


SCHEMAS = {
    "invoices": schema(
        {
            "Receive": "receive the invoice", "Check": "check the invoice", "Approve": "approve the invoice", "Pay": "pay the invoice",
            "Reject": "reject the invoice", "Remind": "send a reminder", "Archive": "archive the invoice",
        },
        roles="accountant, director, supplier",
    ),
    "fines": schema(
        {
            "Create": "create the fine", "Send": "send the fine", "Appeal": "file an appeal", "Decide": "decide the appeal",
            "Pay": "pay the fine", "Penalty": "add a penalty", "Collect": "send for credit collection", "Notify": "notify the offender",
        },
        roles="officer, offender",
    ),
    "hospital": schema(
        {
            "Register": "register the patient", "Triage": "triage the patient", "Antibiotics": "give antibiotics", "Lactate": "measure the lactate",
            "Admit": "admit the patient", "Discharge": "discharge the patient", "Scan": "take an x-ray", "Leave": "leave",
        },
        roles="nurse, doctor, patient",
    ),
    "permits": schema(
        {
            "Submit": "submit the application", "Inspect": "inspect the site", "Consult": "consult the neighbours",
            "Grant": "grant the permit", "Refuse": "refuse the permit", "Publish": "publish the decision", "Build": "start construction",
            "Withdraw": "withdraw the application",
        },
        roles="applicant, inspector, clerk",
    ),
}  # fmt: skip

TABLE = [
    # one construction each: (schema, sentence, statements)
    ("invoices", "Payment of the invoice shall be made within thirty days of its approval.", ["response Pay | Approve P30D"]),
    ("invoices", "The rejection of an invoice without a prior check is prohibited.", ["precedence Check | Reject"]),
    ("invoices", "Please don't pay any invoice until the director has approved it.", ["precedence Approve | Pay"]),
    ("invoices", "An accountant who receives an invoice has to check it within two days.", ["response Check | Receive P2D"]),
    ("invoices", "Whoever rejects an invoice must send a reminder to nobody.", ["not_response Remind | Reject"]),
    ("invoices", "Last year's chaos having cost us dearly, the accountant shall check every invoice.", ["existence Check"]),
    ("invoices", "Invoices are paid only after they have been checked and only after the director has approved them.",
     ["precedence Check+Approve | Pay"]),
    ("invoices", "No approval, no payment.", ["precedence Approve | Pay"]),
    ("invoices", "With the year drawing to a close, every invoice has to be archived.", ["existence Archive"]),
    ("fines", "Offenders have sixty days after the fine was sent to pay it.", ["response Pay | Send P60D"]),
    ("fines", "Every fine that has been created must be sent in ninety days at most.", ["response Send | Create P90D"]),
    ("fines", "I need you officers to notify the offender as soon as the fine has been created.", ["response Notify | Create"]),
    ("fines", "We lost many cases last year, so once an appeal has been filed, the officer will please decide it within a week.",
     ["response Decide | Appeal P7D"]),
    ("fines", "Whether or not the offender complains, a penalty has to be added.", ["existence Penalty"]),
    ("fines", "The fine shall, once an appeal has been decided, be paid within ten days.", ["response Pay | Decide P10D"]),
    ("fines", "A penalty must not be added unless the fine has been sent and the offender has been notified.",
     ["precedence Send+Notify | Penalty"]),
    ("fines", "The offender must pay the fine, and a late bank transfer doesn't count as payment.", ["existence Pay"]),
    ("fines", "Pay the fine first; only then may an appeal be filed.", ["precedence Pay | Appeal"]),
    ("hospital", "A nurse who wants to discharge a patient must first measure the lactate.", ["precedence Lactate | Discharge"]),
    ("hospital", "Upon registration the patient shall be triaged by a nurse no more than ten minutes later.",
     ["response Triage | Register PT10M"]),
    ("hospital", "Doctors must either admit the patient or discharge the patient.", ["existence Admit/Discharge"]),
    ("hospital", "Antibiotics are given in the hour after triage.", ["response Antibiotics | Triage PT1H"]),
    ("hospital", "Do not discharge patients, however well they feel, before an x-ray has been taken.", ["precedence Scan | Discharge"]),
    ("hospital", "Within half an hour of each admission the nurse measures the lactate.", ["response Lactate | Admit PT30M"]),
    ("hospital", "An x-ray has to be taken, a full waiting room being no good reason to skip it.", ["existence Scan"]),
    ("permits", "The inspector must inspect the site, and the neighbours must be consulted by the clerk.", ["existence Inspect", "existence Consult"]),
    ("permits", "Construction may begin only once the permit has been granted.", ["precedence Grant | Build"]),
    ("permits", "Each granting of a permit must be followed within five days by the publication of the decision.",
     ["response Publish | Grant P5D"]),
    ("permits", "The permit is refused or granted, and when either happens, the clerk publishes the decision.", None),
    ("permits", "After the application has been submitted, the site is to be inspected by the inspector, no matter who lives there.",
     ["response Inspect | Submit"]),
]  # fmt: skip
TABLE = [row for row in TABLE if row[2] is not None]


def written(reading: Reading) -> str:
    """A reading in short: template, targets, activation, time."""
    targets = ("+" if reading.joint == "all" else "/").join(a.activity for a in reading.targets)
    opener = f" | {reading.activation.activity}" if reading.activation else ""
    duration = f" {reading.time.duration}" if reading.time and reading.time.duration else ""
    return f"{reading.template} {targets}{opener}{duration}"


@pytest.mark.parametrize(("domain", "sentence", "expected"), TABLE, ids=[row[1][:40] for row in TABLE])
def test_constructions(domain: str, sentence: str, expected: list[str]) -> None:
    readings = read(sentence, SCHEMAS[domain])
    assert [written(s.best) for s in readings.statements] == expected
    keeps(readings)
