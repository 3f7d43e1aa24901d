"""Sentences about real logs: what was not done when something else is due, and what is read beside the two acts."""

from pathlib import Path

import pytest
import yaml

from gnrs_ppl.context.types import Schema
from gnrs_ppl.experiments import reading as experiment
from gnrs_ppl.reading.reader import read

LOGS = Path(experiment.__file__).parent / "sentences" / "real_logs"


def _schema(log: str) -> Schema:
    context = yaml.safe_load((LOGS / f"{log}.context.yaml").read_text(encoding="utf-8"))
    return Schema.model_validate(context["schema"])


@pytest.mark.parametrize(
    ("log", "sentence", "event", "due", "excuse"),
    [
        ("traffic_fines", "A penalty must be added to fines that have not been paid 60 days after notification.", "Insert Fine Notification", "Add penalty", "Payment"),
        ("traffic_fines", "A fine that remains unpaid 60 days after the notification gets a penalty.", "Insert Fine Notification", "Add penalty", "Payment"),
        ("traffic_fines", "Fines still unpaid ninety days after their notification must be sent for collection.", "Insert Fine Notification", "Send for Credit Collection", "Payment"),
        ("order_management", "An order left unpaid two weeks after shipment must be followed by a reminder.", "send package", "payment reminder", "pay order"),
        ("patients", "A patient who is not checked out three days after the triage must get an X-ray.", "Triage and Assessment", "X-Ray", "Check-out"),
    ],
)  # fmt: skip
def test_what_is_lacking_some_time_after_an_act_excuses_what_is_due_then(
    log: str, sentence: str, event: str, due: str, excuse: str
) -> None:
    (statement,) = read(sentence, _schema(log)).statements
    best = statement.best
    assert (best.template, best.activities) == ("response", (event, due))
    assert best.exception is not None
    assert best.exception.activity == excuse
    assert best.time is None  # how long the excuse is waited for is no deadline


@pytest.mark.parametrize(
    ("log", "sentence", "event", "due"),
    [
        ("order_management", "Confirm an order as soon as it is placed, at the latest two working days later.", "place order", "confirm order"),
        ("order_management", "An item must be reordered once it is out of stock, two working days later at the latest.", "item out of stock", "reorder item"),
        ("traffic_fines", "The fine must be sent once it has been issued, no later than 90 days afterwards.", "Create Fine", "Send Fine"),
    ],
)  # fmt: skip
def test_a_time_behind_what_opens_is_that_by_which_the_other_act_is_due(
    log: str, sentence: str, event: str, due: str
) -> None:
    (statement,) = read(sentence, _schema(log)).statements
    best = statement.best
    assert (best.template, best.activities) == ("response", (event, due))
    assert best.time is not None


@pytest.mark.parametrize(
    ("log", "sentence", "event", "banned"),
    [
        ("traffic_fines", "A penalty may only be added after 60 days have passed since the notice was inserted.", "Insert Fine Notification", "Add penalty"),
        ("traffic_fines", "A penalty may be added only once 60 days have gone by since the notification.", "Insert Fine Notification", "Add penalty"),
        ("traffic_fines", "No penalty may be added until 60 days have passed since the notification.", "Insert Fine Notification", "Add penalty"),
        ("order_management", "A payment reminder may be sent only once two weeks have passed since delivery.", "package delivered", "payment reminder"),
    ],
)  # fmt: skip
def test_what_may_be_done_only_when_a_time_went_by_is_banned_within_it(
    log: str, sentence: str, event: str, banned: str
) -> None:
    (statement,) = read(sentence, _schema(log)).statements
    best = statement.best
    assert (best.template, best.activities) == ("not_response", (event, banned))
    assert best.time is not None
    assert sentence[best.time.span.start : best.time.span.end] in ("60 days", "two weeks")


@pytest.mark.parametrize(
    ("sentence", "template", "act"),
    [
        ("You only have 60 days after the fine was notified to appeal to the prefect.", "response", "Insert Date Appeal to Prefecture"),
        ("The offender has only 60 days after the notification of the fine to pay it.", "response", "Payment"),
        ("The offender gets only 60 days after the notification of the fine to pay it.", "response", "Payment"),
        ("The offender may appeal to the prefect until 60 days after the notification of the fine.", "precedence", "Insert Date Appeal to Prefecture"),
    ],
)  # fmt: skip
def test_a_time_that_is_all_there_is_bans_nothing_within_it(sentence: str, template: str, act: str) -> None:
    (statement,) = read(sentence, _schema("traffic_fines")).statements
    best = statement.best
    assert (best.template, best.activities) == (template, ("Insert Fine Notification", act))
    assert best.time is not None


def test_that_something_is_allowed_tells_no_act() -> None:
    (statement,) = read(
        "A penalty is allowed only after the notice was inserted.", _schema("traffic_fines")
    ).statements
    best = statement.best
    assert (best.template, best.activities) == ("precedence", ("Insert Fine Notification", "Add penalty"))


@pytest.mark.parametrize(
    ("log", "sentence", "duty", "apart"),
    [
        ("receipt", "The confirmation of receipt has to be checked within three days; the checker must not be the person who confirmed it.", "T02 Check confirmation of receipt", ("Confirmation of receipt", "T02 Check confirmation of receipt")),
        ("order_management", "Every order has to be confirmed within a day, and nobody may both place and confirm it.", "confirm order", ("place order", "confirm order")),
        ("patients", "A patient must be triaged within an hour, and whoever triages must not discuss the results.", "Triage and Assessment", ("Triage and Assessment", "Discuss Results")),
    ],
)  # fmt: skip
def test_a_duty_stays_beside_who_may_not_do_both(
    log: str, sentence: str, duty: str, apart: tuple[str, str]
) -> None:
    due, banned = (s.best for s in read(sentence, _schema(log)).statements)
    assert (due.template, due.activities) == ("existence", (duty,))
    assert due.time is not None
    assert (banned.template, banned.activities) == ("not_coexistence", apart)
    assert banned.who == "same_person"
    assert banned.time is None
