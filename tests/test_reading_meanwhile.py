"""What holds from one act until another, what is told shortly, and what must be read as before."""

from __future__ import annotations

import pytest
from test_reading import keeps, schema
from test_reading_roundabout import DESKS, told

from gnrs_ppl.reading.reader import read

PLACES = DESKS | {
    "hotel": schema(
        {
            "Reserve": "reserve the room", "Arrive": "check the guest in", "Clean": "clean the room", "Leave": "check the guest out",
            "Invoice": "issue the invoice", "Cancel": "cancel the reservation",
        },
        roles="porter, receptionist", objects="room",
    ),
    "lab": schema(
        {
            "Draw": "draw the sample", "Label": "label the sample", "Test": "test the sample", "Freeze": "freeze the sample",
            "Report": "report the result", "Discard": "discard the sample",
        },
        roles="technician", objects="sample",
    ),
}  # fmt: skip
TABLE = [
    # barred from one act until another
    ("lab", "Between the drawing and the labelling of the sample, it must not be frozen.", ["not_response Freeze | Draw unless Label"]),
    ("lab", "The sample must not be frozen between its labelling and its testing.", ["not_response Freeze | Label unless Test"]),
    ("garage", "Between the inspection of the car and the dispatch of the estimate, the car must not be repaired.", ["not_response Repair | Inspect unless Quote"]),
    ("bank", "No dunning letter may be sent between the payout of the loan and the signing of the contract.", ["not_response Dun | Payout unless Sign"]),
    ("bank", "Once the loan has been approved, it must not be terminated until the contract has been signed.", ["not_response Terminate | Approve unless Sign"]),
    ("school", "After the grading of the exam, the results must not be released until the exam has been reviewed.", ["not_response Release | Grade unless Review"]),
    ("school", "From the grading of the exam until the review of the exam, no warning may be sent.", ["not_response Warn | Grade unless Review"]),
    ("fines", "If an appeal is filed, no penalty may be added until the appeal has been decided.", ["not_response Penalty | Appeal unless Decide"]),
    # due between two acts
    ("lab", "Between the drawing and the testing of the sample, it must be labelled.", ["response Label | Draw", "precedence Label | Test"]),
    ("garage", "Between the inspection and the repair of the car, the estimate has to be sent.", ["response Quote | Inspect", "precedence Quote | Repair"]),
    ("lab", "A sample must be labelled within one hour after it was drawn and before it is tested.", ["response Label | Draw PT1H", "precedence Label | Test"]),
    ("invoices", "An invoice must be checked within two days of its receipt and before it is approved.", ["response Check | Receive P2D", "precedence Check | Approve"]),
    ("garage", "The estimate must be sent no later than three days after the inspection of the car, but in any case before the car is repaired.", ["response Quote | Inspect P3D", "precedence Quote | Repair"]),
    ("bank", "The contract must be signed within ten days after the loan was approved, and before the loan is paid out.", ["response Sign | Approve P10D", "precedence Sign | Payout"]),
    # how far apart
    ("invoices", "At least two days must pass between the approval and the payment of an invoice.", ["not_response Pay | Approve P2D"]),
    ("bank", "Between the signing of the contract and the payout of the loan at least seven days must elapse.", ["not_response Payout | Sign P7D"]),
    ("lab", "There must be at least one hour between the drawing of the sample and the testing of the sample.", ["not_response Test | Draw PT1H"]),
    ("shop", "There shall be no less than two days between the packing of the goods and the shipment of the goods.", ["not_response Ship | Pack P2D"]),
    ("lab", "The drawing and the labelling of the sample must not be more than ten minutes apart.", ["coexistence Draw | Label PT10M"]),
    ("shop", "Packing and shipment of the goods may be at most two days apart.", ["coexistence Pack | Ship P2D"]),
    ("invoices", "The approval and the payment of the invoice must lie no more than ten days apart.", ["coexistence Approve | Pay P10D"]),
    ("lab", "The drawing and the testing of the sample must be at least one hour apart.", ["not_response Test | Draw PT1H", "not_response Draw | Test PT1H"]),
    # what is to be made sure tells no act
    ("hotel", "Please make sure that every room is cleaned before the guest is checked in.", ["precedence Clean | Arrive"]),
    ("hotel", "Make sure that the invoice is issued within two hours after the guest was checked out.", ["response Invoice | Leave PT2H"]),
    ("invoices", "Please ensure that every invoice is paid within ten days of its approval.", ["response Pay | Approve P10D"]),
    ("invoices", "See to it that no invoice is paid before it has been approved.", ["precedence Approve | Pay"]),
    # the next day after something
    ("lab", "The result must be reported by the next working day after the sample was tested.", ["response Report | Test 1WD"]),
    ("shop", "The goods have to be shipped on the next day after packing.", ["response Ship | Pack P1D"]),
    ("garage", "The estimate must be sent no later than the working day following the inspection of the car.", ["response Quote | Inspect 1WD"]),
    ("invoices", "By the next working day after its receipt, the invoice must be checked.", ["response Check | Receive 1WD"]),
    # another thing is no other person
    ("lab", "The testing of the sample must be followed by another labelling of the sample.", ["response Label | Test"]),
    ("bank", "A termination of the loan must be followed by another dunning letter within two days.", ["response Dun | Terminate P2D"]),
    ("bank", "Termination of the loan must be followed by a second dunning letter.", ["response Dun | Terminate"]),
    ("garage", "The estimate is to be followed by another inspection of the car.", ["response Inspect | Quote"]),
    # short forms
    ("fines", "Deadline for payment of the fine: 60 days from its notification.", ["response Pay | Notify P60D"]),
    ("lab", "Time limit for the report of the result: two days from the testing of the sample.", ["response Report | Test P2D"]),
    ("invoices", "The deadline for payment of the invoice is ten days from its approval.", ["response Pay | Approve P10D"]),
    ("bank", "- Deadline for the payout of the loan: 7 days after the signing of the contract", ["response Payout | Sign P7D"]),
    ("lab", "The sample may be tested at most twice, and only after it was labelled.", ["absence Test | case_start x3", "precedence Label | Test"]),
    ("bank", "A dunning letter may be sent no more than three times, and only after the payout of the loan.", ["absence Dun | case_start x4", "precedence Payout | Dun"]),
    ("fines", "A penalty may be added only once, and not before the fine has been notified.", ["absence Penalty | case_start x2", "precedence Notify | Penalty"]),
    ("school", "A warning may be sent at most twice and only once the parents were interviewed.", ["absence Warn | case_start x3", "precedence Interview | Warn"]),
    ("bank", "After termination of the loan: no dunning letter, no payout of the loan.", ["not_response Dun | Terminate", "not_response Payout | Terminate"]),
    ("school", "Once the pupil has been expelled, no warning, no oral exam, no written exam.", ["not_response Warn | Expel", "not_response Oral | Expel", "not_response Written | Expel"]),
    ("fines", "Once the fine has been paid, the case is closed: no penalty, no appeal.", ["not_response Penalty | Pay", "not_response Appeal | Pay"]),
    ("school", "Issuing the certificate may follow only an oral exam or a written exam.", ["precedence Oral/Written | Certify"]),
    ("lab", "Discarding the sample may only follow a test of the sample or a report of the result.", ["precedence Test/Report | Discard"]),
    # as before
    ("fines", "No penalty may be added until the fine has been notified.", ["precedence Notify | Penalty"]),
    ("invoices", "No more than two days may pass between the approval and the payment of an invoice.", ["response Pay | Approve P2D"]),
    ("lab", "A sample must be tested by another technician within one hour after it was drawn.", ["response Test | Draw PT1H who=another_person"]),
    ("lab", "The sample must be frozen within one hour after it was labelled.", ["response Freeze | Label PT1H"]),
]  # fmt: skip


@pytest.mark.parametrize(("place", "sentence", "expected"), TABLE, ids=[row[1][:50] for row in TABLE])
def test_meanwhile(place: str, sentence: str, expected: list[str]) -> None:
    readings = read(sentence, PLACES[place])
    keeps(readings)
    assert sorted(told(s.best) for s in readings.statements) == sorted(expected)


def test_what_cannot_be_told_is_refused() -> None:
    """Where the ends of a time in which something is barred are not read, nothing is read in its place."""
    shop = schema({"Pay": "pay the order", "Remind": "send the payment reminder", "Ship": "ship the order"})
    readings = read("Between payment and shipment no payment reminder may be sent.", shop)
    keeps(readings)
    assert all(s.best.template != "absence" for s in readings.statements)
