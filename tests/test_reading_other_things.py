"""What is asked of another thing than the act's own is refused; what somebody did to a thing opens what is asked of it."""

from __future__ import annotations

import pytest

from gnrs_ppl.context.types import Schema
from gnrs_ppl.reading.reader import read

ACTS = {
    "parcels": {
        "Pack": ("pack the parcel", "packing of the parcel"),
        "Send": ("send the parcel", "dispatch of the parcel"),
        "Pay": ("pay the bill", "payment of the bill"),
        "Deliver": ("deliver the parcel", "delivery of the parcel"),
        "Surcharge": ("add the surcharge", "addition of the surcharge"),
    },
    "library": {
        "Lend": ("lend the book", "loan of the book"),
        "Return": ("return the book", "return of the book"),
        "Stamp": ("stamp the book", "stamping of the book"),
        "Record": ("record the loan", "record of the loan"),
    },
    "tenders": {
        "Submit": ("submit the offer", "submission of the offer"),
        "Open": ("open the offer", "opening of the offer"),
        "Issue": ("issue the contract", "issue of the contract"),
        "Reject": ("reject the offer", "rejection of the offer"),
    },
    "ward": {
        "Admit": ("admit the patient", "admission of the patient"),
        "Bloods": ("take a blood test", "blood test"),
        "Examine": ("examine the patient", "examination of the patient"),
        "Discharge": ("discharge the patient", "discharge of the patient"),
    },
}
OBJECTS = {"parcels": ("parcel",), "library": ("book",), "tenders": ("offer",), "ward": ("patient",)}
SCHEMAS = {
    name: Schema.model_validate(
        {
            "actions": [{"name": n, "phrase": phrase, "noun": noun} for n, (phrase, noun) in acts.items()],
            "objects": [{"name": thing} for thing in OBJECTS[name]],
        }
    )
    for name, acts in ACTS.items()
}


def told(schema: str, text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(s.best.template, s.best.activities) for s in read(text, SCHEMAS[schema]).statements]


@pytest.mark.parametrize(
    ("schema", "text", "thing"),
    [
        ("parcels", "A leaflet must be sent within ten days after payment.", "leaflet"),
        ("parcels", "The clerk must send a greeting card after each payment.", "greeting card"),
        ("parcels", "Leaflets must be sent within a week of the delivery.", "Leaflets"),
        ("parcels", "Once a leaflet has been sent, the bill must be paid within two days.", "leaflet"),
        ("tenders", "A guarantee must be submitted within a week of the opening of the offer.", "guarantee"),
        (
            "tenders",
            "The bidder must submit a guarantee within a week of the rejection of the offer.",
            "guarantee",
        ),
        ("library", "A deposit must be returned within two days of the loan.", "deposit"),
    ],
)
def test_an_act_of_another_thing_is_no_act_of_the_schema(schema: str, text: str, thing: str) -> None:
    found = read(text, SCHEMAS[schema])
    assert not found.statements
    assert found.nothing == "no_such_act"
    assert any(thing in found.words(u.span) for u in found.unread)
    assert any(u.another for u in found.unread)


@pytest.mark.parametrize(
    ("schema", "text", "constraint"),
    [
        ("parcels", "The package must be sent within ten days after payment.", ("response", ("Pay", "Send"))),
        ("parcels", "It must be sent within ten days after payment.", ("response", ("Pay", "Send"))),
        ("parcels", "Each item must be sent within ten days after payment.", ("response", ("Pay", "Send"))),
        ("parcels", "A parcel must be sent within ten days after packing.", ("response", ("Pack", "Send"))),
        ("ward", "A sample must be taken within an hour of admission.", ("response", ("Admit", "Bloods"))),
        ("library", "Every volume must be returned after its loan.", ("response", ("Lend", "Return"))),
    ],
)
def test_the_same_thing_by_another_word_is_read(
    schema: str, text: str, constraint: tuple[str, tuple[str, ...]]
) -> None:
    assert told(schema, text) == [constraint]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("parcels", "Once packed, a parcel is never to be altered."),
        ("parcels", "After the delivery a parcel must not be altered."),
    ],
)
def test_a_remote_verb_of_another_thing_tells_no_act(schema: str, text: str) -> None:
    assert not told(schema, text)


@pytest.mark.parametrize(
    ("schema", "text", "constraint"),
    [
        ("parcels", "The courier must deliver every parcel they pack.", ("response", ("Pack", "Deliver"))),
        ("parcels", "Send each parcel we pack within two days.", ("response", ("Pack", "Send"))),
        (
            "parcels",
            "The courier must deliver all parcels that they send.",
            ("response", ("Send", "Deliver")),
        ),
        ("library", "The librarian must stamp any book she lends.", ("response", ("Lend", "Stamp"))),
        ("tenders", "The board shall open every offer you submit.", ("response", ("Submit", "Open"))),
        ("ward", "The doctor must examine each patient he has admitted.", ("response", ("Admit", "Examine"))),
        ("tenders", "Every offer you submit must be opened within a week.", ("response", ("Submit", "Open"))),
    ],
)
def test_what_somebody_did_to_a_thing_opens_what_is_asked_of_it(
    schema: str, text: str, constraint: tuple[str, tuple[str, ...]]
) -> None:
    assert told(schema, text) == [constraint]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("parcels", "A parcel that is paid for before it is sent needs no further step."),
        ("library", "A book that is returned on the day of its loan requires no stamp."),
        ("tenders", "An offer that was rejected calls for no opening."),
        ("ward", "A patient who was discharged is exempt from the blood test."),
    ],
)
def test_what_is_not_needed_is_not_asked(schema: str, text: str) -> None:
    assert not told(schema, text)


def test_the_same_verb_tells_one_act() -> None:
    schema = Schema.model_validate(
        {
            "actions": [
                {"name": "Collect", "phrase": "send the bill for collection", "noun": "collection"},
                {"name": "Notify", "phrase": "have the bill notified", "noun": "notification of the bill"},
                {"name": "Result", "phrase": "notify the result of the complaint"},
            ],
            "objects": [{"name": "bill"}],
        }
    )
    found = read("Never send a bill for collection which was not notified.", schema).statements
    assert [s.best.activities for s in found] == [("Notify", "Collect")]


@pytest.mark.parametrize(
    ("schema", "text", "first", "then"),
    [
        ("parcels", "Only after packing may a parcel be sent.", "Pack", "Send"),
        ("parcels", "Only once the bill was paid may the courier deliver the parcel.", "Pay", "Deliver"),
        ("library", "Only if a book was stamped can we lend the book.", "Stamp", "Lend"),
        ("tenders", "Not before its submission may an offer be opened.", "Submit", "Open"),
        ("ward", "Not until the patient was examined may the nurse take a blood test.", "Examine", "Bloods"),
        ("ward", "Never before an examination may the patient be discharged.", "Examine", "Discharge"),
    ],
)
def test_what_comes_first_may_be_told_first(schema: str, text: str, first: str, then: str) -> None:
    (found,) = read(text, SCHEMAS[schema]).statements
    reading = found.best
    assert reading.template == "precedence"
    assert reading.activation is not None
    assert (reading.targets[0].activity, reading.activation.activity) == (first, then)


def test_what_comes_of_an_act_is_dealt_with_after_it() -> None:
    acts = [
        {"name": "Test", "phrase": "take a blood test", "noun": "blood test"},
        {"name": "Discuss", "phrase": "discuss the results", "noun": "discussion of the results"},
    ]
    schema = Schema.model_validate({"actions": acts})
    (found,) = read("The results of the blood test must be discussed.", schema).statements
    assert found.best.template == "response"
    assert [t.activity for t in found.best.targets] == ["Discuss"]


def test_no_act_is_the_last_without_a_word_for_it() -> None:
    found = read("If a parcel is not paid for, it must be sent.", SCHEMAS["parcels"]).statements
    assert all(s.best.template != "end" for s in found)
