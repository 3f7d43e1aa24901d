"""Times, counts, exceptions and alternatives in the many ways to say them."""

from __future__ import annotations

import pytest
from test_reading import SCHEMAS, schema, written

from gnrs_ppl.reading.quantities import UNCOUNTED, durations
from gnrs_ppl.reading.reader import read

LENGTHS = {
    "a fortnight": "P14D", "the fortnight after it was sent": "P14D", "a dozen days": "P12D", "half a dozen weeks": "P42D",
    "half an hour": "PT30M", "a half-hour": "PT30M", "a quarter of an hour": "PT15M", "three quarters of an hour": "PT45M",
    "half a week": "P3DT12H", "a day and a half": "P1DT12H", "two and a half hours": "PT2H30M", "one-and-a-half hours": "PT1H30M",
    "1.5 hours": "PT1H30M", "1½ hours": "PT1H30M", "a couple of days": "P2D", "a day or two": "P2D", "24h": "PT24H", "10 d": "P10D",
    "48-hour": "PT48H", "2 wks": "P14D", "one working week": "5WD", "five bank days": "5WD", "1,500 days": "P1500D",
    "one hundred and twenty days": "P120D", "10 (ten) days": "P10D", "ninety (90) days": "P90D", "a quarter": "P3M",
    "two weeks and three days": "P17D", "a year and a half": "P18M",
}  # fmt: skip


@pytest.mark.parametrize("words", LENGTHS)
def test_lengths(words: str) -> None:
    assert [str(length.duration) for length in durations(f"within {words}")] == [LENGTHS[words]]


@pytest.mark.parametrize("words", ["half a month", "1.5 months", "a few days", "several weeks"])
def test_no_length(words: str) -> None:
    assert not durations(f"within {words}")


@pytest.mark.parametrize("words", ["a few days", "several weeks", "half a month", "days"])
def test_uncounted(words: str) -> None:
    found = UNCOUNTED.search(f"must be paid within {words}.")
    assert found is not None
    assert found["unit"] in words


WITHIN = {
    "a period of 30 days": "P30D", "a three-week period": "P21D", "a two-day limit": "P2D", "the space of two hours": "PT2H",
    "3 months' time": "P3M", "a maximum of five days": "P5D",
}  # fmt: skip


@pytest.mark.parametrize("words", WITHIN)
def test_within_what_a_noun_calls_a_time(words: str) -> None:
    readings = read(f"Once a fine has been sent, it must be paid within {words}.", SCHEMAS["fines"])
    assert [written(s.best) for s in readings.statements] == [f"response Pay | Send {WITHIN[words]}"]


@pytest.mark.parametrize(
    "window",
    [
        "In the fortnight after",
        "For 14 days after",
        "During the two weeks from",
        "Over the two weeks following",
    ],
)
def test_a_time_in_which_something_is_banned(window: str) -> None:
    readings = read(f"{window} the sending of the fine, no penalty may be added.", SCHEMAS["fines"])
    assert [written(s.best) for s in readings.statements] == ["not_response Penalty | Send P14D"]


LOOKS_BACK = [
    ("fines", "A penalty may be added only if the fine was sent in the ninety days before it.", "precedence Send | Penalty P90D"),
    ("fines", "Adding a penalty without a notification of the offender in the two weeks preceding it is irregular.",
     "precedence Notify | Penalty P14D"),
    ("invoices", "Paying an invoice without an approval in the month before is a breach.", "precedence Approve | Pay P1M"),
    ("hospital", "A patient must not be discharged unless the lactate was measured in the six hours before that.",
     "precedence Lactate | Discharge PT6H"),
    ("permits", "No permit is granted without an inspection of the site in the thirty days before it.", "precedence Inspect | Grant P30D"),
]  # fmt: skip
NO_OTHERS = [
    ("fines", "The penalty may be added to a fine that was sent in the preceding ninety days, and to no other.",
     "precedence Send | Penalty P90D"),
    ("invoices", "Payments may be made for invoices that were approved, and for nothing else.", "precedence Approve | Pay"),
    ("hospital", "An x-ray may be taken of a patient who was triaged, but of no one else.", "precedence Triage | Scan"),
    ("invoices", "An invoice that has been checked may be approved, and no other.", "precedence Check | Approve"),
    ("fines", "A fine may be sent for credit collection if a penalty was added, and not otherwise.", "precedence Penalty | Collect"),
]  # fmt: skip
DUE = [
    ("hospital", "The nurse gets ten minutes to triage a patient who was registered.", "response Triage | Register PT10M"),
    ("fines", "The officer has ten days to decide an appeal that has been filed.", "response Decide | Appeal P10D"),
    ("fines", "The officer has to decide the appeal. The clock starts when it is filed, and stops ten days later.",
     "response Decide | Appeal P10D"),
    ("fines", "The clock starts when the fine is sent: within sixty days it must be paid.", "response Pay | Send P60D"),
    ("fines", "No more than ten days may elapse from the filing of an appeal until its decision.", "response Decide | Appeal P10D"),
    ("fines", "From the sending of a fine to its payment no more than sixty days may go by.", "response Pay | Send P60D"),
    ("hospital", "A patient who was registered has to be triaged. We allow ten minutes.", "response Triage | Register PT10M"),
    ("hospital", "A patient who was registered has to be triaged (time limit: ten minutes).", "response Triage | Register PT10M"),
]  # fmt: skip


@pytest.mark.parametrize(("domain", "sentence", "expected"), LOOKS_BACK + NO_OTHERS + DUE)
def test_times_of_two_acts(domain: str, sentence: str, expected: str) -> None:
    assert [written(s.best) for s in read(sentence, SCHEMAS[domain]).statements] == [expected]


COUNTED = [
    ("invoices", "A supplier may be sent reminders, though no more than three of them per invoice.", "absence Remind", 4),
    ("invoices", "Reminders may be sent, but not more than two of them.", "absence Remind", 3),
    ("invoices", "Reminders: two at most in the six weeks after the approval of the invoice.", "absence Remind | Approve P42D", 3),
    ("invoices", "– Reminders: three at most.", "absence Remind", 4),
    ("hospital", "X-rays: no more than three in the week after admission.", "absence Scan | Admit P7D", 4),
    ("hospital", "Antibiotics may be given several times, but never more than four.", "absence Antibiotics", 5),
    ("hospital", "A patient can have as many as three x-rays and not one more.", "absence Scan", 4),
    ("fines", "Two penalties are the most that may be added.", "absence Penalty", 3),
    ("invoices", "Every invoice must be approved, once and only once.", "exactly Approve", 1),
]  # fmt: skip


@pytest.mark.parametrize(("domain", "sentence", "expected", "count"), COUNTED)
def test_how_often(domain: str, sentence: str, expected: str, count: int) -> None:
    readings = read(sentence, SCHEMAS[domain]).statements
    assert [(written(s.best), s.best.count) for s in readings] == [(expected, count)]


@pytest.mark.parametrize(
    "share", ["At least nine out of ten of you", "Two thirds of the nurses", "At least nine in ten nurses"]
)
def test_a_share_of_those_who_must_act(share: str) -> None:
    for behind in (".", ", or else we won't notice who is missing."):
        readings = read(f"{share} must triage the patient{behind}", SCHEMAS["hospital"])
        assert [(written(s.best), s.best.count) for s in readings.statements] == [("existence Triage", 1)]


EXCEPTED = [
    ("invoices", "Invoices must be paid within thirty days of approval, save those that were rejected.", "response Pay | Approve P30D", "Reject"),
    ("invoices", "All invoices that were received, other than those that were rejected, must be paid within ten days.",
     "response Pay | Receive P10D", "Reject"),
    ("invoices", "Apart from those that were rejected, all invoices received must be paid within ten days.",
     "response Pay | Receive P10D", "Reject"),
    ("permits", "Once the application was submitted the site must be inspected, barring applications that were withdrawn.",
     "response Inspect | Submit", "Withdraw"),
    ("permits", "Once the application was submitted the site must be inspected. This does not apply where it was withdrawn.",
     "response Inspect | Submit", "Withdraw"),
    ("hospital", "Every patient registered must be triaged within an hour, save any who have left.", "response Triage | Register PT1H", "Leave"),
]  # fmt: skip


@pytest.mark.parametrize(("domain", "sentence", "expected", "exception"), EXCEPTED)
def test_set_apart_from_a_duty(domain: str, sentence: str, expected: str, exception: str) -> None:
    (statement,) = read(sentence, SCHEMAS[domain]).statements
    assert statement.best.exception is not None
    assert (written(statement.best), statement.best.exception.activity) == (expected, exception)


@pytest.mark.parametrize(
    "whatever",
    [
        "whether or not an appeal was filed", "whether an appeal was filed or not", "even if an appeal was filed", "whether appealed against or not",
        "regardless of whether an appeal was filed", "no matter whether an appeal was filed",
    ],
)  # fmt: skip
def test_what_may_be_the_case_or_not_states_nothing(whatever: str) -> None:
    for told in (
        f"Once a fine was sent, a penalty has to be added, {whatever}.",
        f"{whatever.capitalize()}, a penalty has to be added once a fine was sent.",
    ):
        (statement,) = read(told, SCHEMAS["fines"]).statements
        assert written(statement.best) == "response Penalty | Send"
        assert statement.best.exception is None


EITHER_OPENS = [
    ("hospital", "After an x-ray or a measurement of the lactate the patient has to be admitted within two hours.",
     "response Admit | Scan PT2H", ["Lactate"]),
    ("hospital", "Once antibiotics were given or an x-ray was taken, the patient must be admitted within a day.",
     "response Admit | Antibiotics P1D", ["Scan"]),
    ("hospital", "Not acceptable: treatment, be it an x-ray or antibiotics, of patients who were not triaged first.",
     "precedence Triage | Scan", ["Antibiotics"]),
    ("permits", "As soon as the permit has been granted or refused, the decision must be published within a week.",
     "response Publish | Grant P7D", ["Refuse"]),
    ("invoices", "If an invoice was paid or rejected, no reminder may be sent any more.", "not_response Remind | Pay", ["Reject"]),
]  # fmt: skip


@pytest.mark.parametrize(("domain", "sentence", "expected", "others"), EITHER_OPENS)
def test_either_of_two_acts_opens(domain: str, sentence: str, expected: str, others: list[str]) -> None:
    (statement,) = read(sentence, SCHEMAS[domain]).statements
    opener = statement.best.activation
    assert opener is not None
    assert (written(statement.best), [a.activity for a in opener.alternatives]) == (expected, others)


def test_from_either_of_two_acts_the_time_runs_anew() -> None:
    told = "When the application has been submitted and the permit then granted or refused, the decision must be published within two days."
    (statement,) = read(told, SCHEMAS["permits"]).statements
    assert written(statement.best) == "response Publish | Submit P2D"
    assert statement.best.after is not None
    assert [a.activity for a in statement.best.after.each] == ["Grant", "Refuse"]


def test_one_of_two_acts_that_must_come_first() -> None:
    told = "A penalty may only be added after the fine was sent or the offender was notified."
    assert [written(s.best) for s in read(told, SCHEMAS["fines"]).statements] == [
        "precedence Send/Notify | Penalty"
    ]


def test_ways_to_do_what_is_asked_are_no_circumstance() -> None:
    acts = {
        "Register": "register the request",
        "Casually": "examine the request casually",
        "Thoroughly": "examine the request thoroughly",
    }
    told = "The clerk has one day to examine a request that has been registered. It is all the same to us whether it is done casually or thoroughly."
    for behind in (
        told,
        "Once a request was registered, it must be examined within one day, no matter whether casually or thoroughly.",
    ):
        (statement,) = read(behind, schema(acts, roles="clerk")).statements
        assert written(statement.best) == "response Casually/Thoroughly | Register P1D"
