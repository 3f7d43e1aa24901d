"""Sentences about real logs: what was not done when something else is due, and what is read beside the two acts."""

from pathlib import Path

import pytest
import yaml

from gnrs_ppl.context.types import Schema
from gnrs_ppl.experiments import reading as experiment
from gnrs_ppl.reading import read

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
