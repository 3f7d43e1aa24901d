"""Rules told the long way round, of several trades, and what they must be read as."""

from __future__ import annotations

import pytest
from test_reading import keeps, schema
from test_reading_spoken import TRADES

from gnrs_ppl.reading import Reading
from gnrs_ppl.reading.reader import read

DESKS = TRADES | {
    "garage": schema(
        {
            "Book": "book the car in", "Inspect": "inspect the car", "Quote": "send the estimate", "Repair": "repair the car",
            "TestDrive": "test-drive the car", "Bill": "issue the bill", "Settle": "settle the bill", "HandOver": "hand over the keys",
            "Scrap": "scrap the car",
        },
        roles="mechanic, customer, foreman", objects="car",
    ),
    "school": schema(
        {
            "Enrol": "enrol the pupil", "Interview": "interview the parents", "Grade": "grade the exam", "Review": "review the exam",
            "Release": "release the results", "Expel": "expel the pupil", "Warn": "send a warning", "Certify": "issue the certificate",
            "Oral": "hold an oral exam", "Written": "hold a written exam",
        },
        roles="teacher, headmaster, pupil", objects="exam",
    ),
    "bank": schema(
        {
            "Apply": "file the loan application", "Score": "score the application", "Assess": "assess the collateral",
            "Approve": "approve the loan", "Deny": "deny the loan", "Payout": "pay out the loan", "Dun": "send a dunning letter",
            "Terminate": "terminate the loan", "Sign": "sign the contract",
        },
        roles="teller, analyst, customer", objects="loan",
    ),
}  # fmt: skip
TABLE = [
    # subsequent to
    ("fines", "Not later than ninety days subsequent to the dispatch of a fine, its notification has to have taken place.", ["response Notify | Send P90D"]),
    ("fines", "Payment must have been made not later than sixty days subsequent to the sending of the fine.", ["response Pay | Send P60D"]),
    ("invoices", "Within ten days subsequent to the receipt of an invoice, its check has to have happened.", ["response Check | Receive P10D"]),
    ("library", "The return of the book is to have taken place at the latest three weeks subsequent to the lending.", ["response Return | Lend P21D"]),
    ("permits", "Not more than five days subsequent to the granting of a permit, publication of the decision has to have occurred.", ["response Publish | Grant P5D"]),
    ("tenders", "Subsequent to the opening of a bid, its scoring must take place within two days.", ["response Score | Open P2D"]),
    ("hospital", "No later than one hour subsequent to registration, triage of the patient must have been carried out.", ["response Triage | Register PT1H"]),
    ("invoices", "Prior to the payment of an invoice, its approval has to have taken place.", ["precedence Approve | Pay"]),
    ("fines", "A penalty may not be added subsequent to an appeal having been filed.", ["not_response Penalty | Appeal"]),
    ("garage", "Not later than five days subsequent to the inspection of a car, the dispatch of the estimate must have occurred.", ["response Quote | Inspect P5D"]),
    ("bank", "Disbursement of the loan has to have taken place within fourteen days subsequent to the signing of the contract.", ["response Payout | Sign P14D"]),
    ("school", "The release of the results shall have been effected no later than three weeks subsequent to the grading of the exam.", ["response Release | Grade P21D"]),
    ("shop", "At most two days subsequent to packing, shipment of the goods needs to have happened.", ["response Ship | Pack P2D"]),
    ("invoices", "Its archiving has to have taken place not later than one week subsequent to the payment of an invoice.", ["response Archive | Pay P7D"]),
    ("fines", "Notification must occur within thirty days subsequent to the fine being sent.", ["response Notify | Send P30D"]),
    # in the time before
    ("invoices", "An invoice is to be paid only where, in the ten days before, it was approved.", ["precedence Approve | Pay P10D"]),
    ("hospital", "Antibiotics are to be given only if, in the two hours before, the lactate was measured.", ["precedence Lactate | Antibiotics PT2H"]),
    ("tenders", "The contract may be awarded only where the bid was scored in the seven days before.", ["precedence Score | Award P7D"]),
    ("shop", "Goods may be shipped only if they were packed within the two days before that.", ["precedence Pack | Ship P2D"]),
    ("permits", "A permit is granted only when, in the thirty days preceding, the site has been inspected.", ["precedence Inspect | Grant P30D"]),
    ("library", "Only if, in the week before, the form was signed may a reader enter the reading room.", ["precedence Sign | Enter P7D"]),
    ("garage", "A car is scrapped only where, during the fourteen days beforehand, the foreman has inspected it.", ["precedence Inspect | Scrap P14D"]),
    ("invoices", "An invoice is to be paid only where it was approved before.", ["precedence Approve | Pay"]),
    ("garage", "The keys are to be handed over only where, in the three days before, the car was test-driven.", ["precedence TestDrive | HandOver P3D"]),
    ("bank", "A loan shall be paid out only when the collateral has been assessed in the ninety days before.", ["precedence Assess | Payout P90D"]),
    ("school", "A pupil is to be expelled only if, within the sixty days before, a warning was sent.", ["precedence Warn | Expel P60D"]),
    ("fines", "A fine may be sent for credit collection only if in the thirty days before that the offender was notified.", ["precedence Notify | Collect P30D"]),
    ("shop", "Refund a customer only if, in the five days before, that customer was called.", ["precedence Call | Refund P5D"]),
    ("tenders", "A notice is to be published only where, during the previous two weeks, the contract was awarded.", ["precedence Award | Publish P14D"]),
    # how many, told first
    ("fines", "Payment by transfer is accepted, but more than two payments for one fine we do not allow.", ["absence Pay | case_start x3"]),
    ("library", "More than two extensions of a loan we do not accept.", ["absence Extend | case_start x3"]),
    ("tenders", "Two withdrawals of a bid are fine, more than that we won't accept.", ["absence Withdraw | case_start x3"]),
    ("bank", "More than two dunning letters per loan the bank does not want sent.", ["absence Dun | case_start x3"]),
    ("garage", "A second estimate for one car we do not send.", ["absence Quote | case_start x2"]),
    ("school", "More than one warning to a pupil I will not have.", ["absence Warn | case_start x2"]),
    ("hospital", "More than three doses of antibiotics nobody may give.", ["absence Antibiotics | case_start x4"]),
    ("school", "One oral exam is all right, but more than one per pupil we will not tolerate.", ["absence Oral | case_start x2"]),
    ("bank", "More than three dunning letters to the same customer we do not send.", ["absence Dun | case_start x4"]),
    ("garage", "More than two test drives of one car the foreman does not allow.", ["absence TestDrive | case_start x3"]),
    ("fines", "Instalments are welcome, yet more than four payments of a single fine the police will not accept.", ["absence Pay | case_start x5"]),
    ("hospital", "More than one x-ray for a patient I do not want.", ["absence Scan | case_start x2"]),
    ("shop", "A call to the customer is fine; more than two calls we can't permit.", ["absence Call | case_start x3"]),
    # both or neither
    ("permits", "Granting the permit and refusing the permit must not both be done in one case, whichever came first.", ["not_coexistence Grant | Refuse"]),
    ("invoices", "There may be no payment without an approval, nor an approval without a payment.", ["coexistence Approve | Pay"]),
    ("tenders", "Opening of the bid and scoring of the bid: a file shows both of them or neither.", ["coexistence Open | Score"]),
    ("bank", "Approval and denial of a loan must not occur in the same case in either order.", ["not_coexistence Approve | Deny"]),
    ("hospital", "A patient is to be both admitted and discharged, or neither.", ["coexistence Admit | Discharge"]),
    ("shop", "No packing without shipping, and no shipping without packing, in whichever order.", ["coexistence Pack | Ship"]),
    ("fines", "A fine may be paid or appealed, but the one excludes the other, whichever came first.", ["not_coexistence Appeal | Pay"]),
    ("invoices", "Checking and approving: the former must come before the latter.", ["precedence Check | Approve"]),
    ("tenders", "As to opening a bid and logging it, the latter must follow the former within two days.", ["response Log | Open P2D"]),
    ("garage", "Repairing a car and scrapping it must not both occur for one car, in either order.", ["not_coexistence Repair | Scrap"]),
    ("school", "There shall be no release of results without a review of the exam, nor any review of the exam without a release of results.", ["coexistence Release | Review"]),
    ("bank", "Signing the contract and paying out the loan: both or neither must be in the file.", ["coexistence Payout | Sign"]),
    ("tenders", "A file may hold an award of the contract or a withdrawal of the bid, but never both, no matter which came first.", ["not_coexistence Award | Withdraw"]),
    ("hospital", "Triage and discharge: the former must precede the latter.", ["precedence Triage | Discharge"]),
    ("library", "Lending a book and stamping the card go together: there is never the one without the other, whichever is done first.", ["coexistence Lend | Stamp"]),
    # what somebody will not have
    ("shop", "I won't have people shipping goods they didn't pack themselves beforehand.", ["precedence Pack | Ship who=same_person"]),
    ("library", "I will not have readers entering the reading room who have not signed the form first.", ["precedence Sign | Enter"]),
    ("invoices", "We do not want accountants paying invoices without the director having approved them.", ["precedence Approve | Pay"]),
    ("hospital", "I won't accept nurses giving antibiotics without measuring the lactate first.", ["precedence Lactate | Antibiotics"]),
    ("tenders", "I do not want anybody awarding the contract before the bid has been scored.", ["precedence Score | Award"]),
    ("garage", "We won't tolerate mechanics repairing a car they have not inspected themselves.", ["precedence Inspect | Repair who=same_person"]),
    ("bank", "I don't want analysts paying out a loan whose contract was never signed.", ["precedence Sign | Payout"]),
    ("school", "I won't have teachers reviewing an exam they graded themselves.", ["not_coexistence Grade | Review who=same_person"]),
    ("hospital", "I will not have doctors discharging patients they didn't triage themselves beforehand.", ["precedence Triage | Discharge who=same_person"]),
    ("bank", "We won't have analysts approving a loan without first scoring the application.", ["precedence Score | Approve"]),
    ("fines", "I do not want officers adding penalties to a fine that was never sent.", ["precedence Send | Penalty"]),
    ("permits", "We don't accept applicants starting construction who have not been granted the permit.", ["precedence Grant | Build"]),
    ("school", "I won't stand for teachers releasing results of an exam they did not grade themselves.", ["precedence Grade | Release who=same_person"]),
    ("tenders", "We will not tolerate buyers opening a bid before they have logged it.", ["precedence Log | Open"]),
    # barred afterwards
    ("library", "No librarian who lent the book shall at any time afterwards charge a fee.", ["not_response Fine | Lend who=same_person"]),
    ("invoices", "No accountant who checked an invoice may thereafter approve it.", ["not_response Approve | Check who=same_person"]),
    ("fines", "Adding a penalty shall be excluded where an appeal has previously been filed.", ["not_response Penalty | Appeal"]),
    ("bank", "Payout of a loan is ruled out where the loan has been denied earlier.", ["not_response Payout | Deny"]),
    ("tenders", "Award of the contract is excluded where the bid has already been withdrawn.", ["not_response Award | Withdraw"]),
    ("school", "No teacher who has graded an exam shall later review that exam.", ["not_response Review | Grade who=same_person"]),
    ("permits", "Withdrawal of the application shall be barred if a permit has previously been granted.", ["not_response Withdraw | Grant"]),
    ("hospital", "Discharge is precluded where the patient was previously given antibiotics.", ["not_response Discharge | Antibiotics"]),
    ("tenders", "No buyer who opened the bid shall at any later time score it.", ["not_response Score | Open who=same_person"]),
    ("hospital", "No doctor who admitted the patient may at any time afterwards discharge that patient.", ["not_response Discharge | Admit who=same_person"]),
    ("library", "Extension of a loan shall be excluded where a fee has previously been charged.", ["not_response Extend | Fine"]),
    ("garage", "Scrapping the car is out of the question where the car has already been repaired.", ["not_response Scrap | Repair"]),
    ("school", "Expulsion of a pupil shall be inadmissible where the certificate was issued earlier.", ["not_response Expel | Certify"]),
    ("invoices", "No accountant who has approved an invoice shall at any point thereafter pay it.", ["not_response Pay | Approve who=same_person"]),
    # not the next
    ("fines", "Credit collection must never come as the very next step after the creation of the fine.", ["not_chain_response Collect | Create"]),
    ("library", "The stamping of a card may never come immediately after the signing of the form; some other step has to lie in between.", ["not_chain_response Stamp | Sign"]),
    ("invoices", "Never do this: approve an invoice and pay it straight away.", ["not_chain_response Pay | Approve"]),
    ("tenders", "Never open a bid and score it right away. The step right after opening must be any other than scoring.", ["not_chain_response Score | Open"]),
    ("hospital", "When a patient has been registered, the very next entry is always the triage.", ["chain_response Triage | Register"]),
    ("permits", "We saw a permit granted and the papers forgotten. The very next entry after granting a permit is always the publication of the decision.", ["chain_response Publish | Grant"]),
    ("shop", "The shipping of goods must not be the step that comes directly after the packing.", ["not_chain_response Ship | Pack"]),
    ("bank", "Between scoring an application and approving the loan at least one other step has to lie.", ["not_chain_response Approve | Score"]),
    ("garage", "A repair right after the inspection is not allowed; something else has to happen in between.", ["not_chain_response Repair | Inspect"]),
    ("school", "Release of the results must never come as the very next step after grading.", ["not_chain_response Release | Grade"]),
    ("bank", "The payout may never come straight after the approval of the loan; at least one other step has to lie in between.", ["not_chain_response Payout | Approve"]),
    ("shop", "Never do the following: pack the goods and ship them at once.", ["not_chain_response Ship | Pack"]),
    ("garage", "A mechanic repaired a car last week and nobody tested it. The very next entry after a repair is always the test drive.", ["chain_response TestDrive | Repair"]),
    ("fines", "A penalty must not be the very next thing after the sending of the fine.", ["not_chain_response Penalty | Send"]),
    ("tenders", "Do not open a bid and score it immediately; some other step must come in between.", ["not_chain_response Score | Open"]),
    # either of two
    ("hospital", "A patient shall not be discharged before the lactate has been measured or an x-ray has been taken.", ["precedence Lactate/Scan | Discharge"]),
    ("school", "Results shall not be released before an exam has been held, whether oral or written.", ["precedence Oral/Written | Release"]),
    ("bank", "No loan may be approved unless the application has been scored or the collateral has been assessed first.", ["precedence Score/Assess | Approve"]),
    ("permits", "Whichever decision was taken, a grant or a refusal, the clerk must publish it.", ["response Publish | Grant/Refuse"]),
    ("permits", "Nobody starts construction unless the permit has been granted or the neighbours have been consulted first.", ["precedence Grant/Consult | Build"]),
    ("school", "Whichever exam was held, an oral exam or a written exam, the teacher has to release the results within ten days.", ["response Release | Oral/Written P10D"]),
    ("invoices", "No matter whether the invoice was approved or rejected, it must then be archived.", ["response Archive | Approve/Reject"]),
    ("shop", "The customer must not be refunded before the goods have been picked or packed.", ["precedence Pick/Pack | Refund"]),
    ("invoices", "An invoice must not be paid until it has been both checked and approved.", ["precedence Approve | Pay", "precedence Check | Pay"]),
    ("garage", "A car shall not be handed over before it has been inspected or test-driven.", ["precedence Inspect/TestDrive | HandOver"]),
    ("fines", "No fine is sent for credit collection unless it has been sent or the offender has been notified first.", ["precedence Send/Notify | Collect"]),
    ("bank", "Whichever decision was made, an approval or a denial, the customer has to be sent a dunning letter within two days.", ["response Dun | Approve/Deny P2D"]),
    ("hospital", "Whichever happened, an admission or a discharge, the lactate must be measured afterwards.", ["response Lactate | Admit/Discharge"]),
    ("library", "No reader enters the reading room until the card has been stamped or the form has been signed.", ["precedence Stamp/Sign | Enter"]),
    # hands off
    ("shop", "Hands off the goods until the order has been placed! Nothing gets picked earlier than that.", ["precedence Order | Pick"]),
    ("library", "Leave the reading room alone until the form is signed. Only then may a reader enter it.", ["precedence Sign | Enter"]),
    ("tenders", "Do not touch the bid until it has been logged. Only then may it be opened.", ["precedence Log | Open"]),
    ("garage", "Fingers off the car until the estimate has been sent! Not a single car is repaired before that.", ["precedence Quote | Repair"]),
    ("bank", "Keep your hands off the loan until the contract is signed; no loan gets paid out any sooner.", ["precedence Sign | Payout"]),
    ("invoices", "Wait until the director has approved the invoice. Only then may it be paid.", ["precedence Approve | Pay"]),
    ("hospital", "Stay away from the antibiotics until the lactate has been measured. Only after that may antibiotics be given.", ["precedence Lactate | Antibiotics"]),
    ("school", "Leave the exams alone until the parents have been interviewed. Only then may an exam be graded.", ["precedence Interview | Grade"]),
    ("permits", "Hands off the building site until the permit is granted! Construction does not start any earlier.", ["precedence Grant | Build"]),
    ("fines", "Don't touch the penalty until the fine has been sent. Only then can a penalty be added.", ["precedence Send | Penalty"]),
    ("hospital", "Keep away from antibiotics until the patient has been triaged. Not before that may antibiotics be given.", ["precedence Triage | Antibiotics"]),
    ("shop", "Leave the parcels alone until the goods are packed. Nothing is shipped before that.", ["precedence Pack | Ship"]),
    ("garage", "Hold off on the repair until the customer has booked the car in. Not until then may the car be repaired.", ["precedence Book | Repair"]),
    # another thing, another time
    ("fines", "A copy of the fine must be sent.", []),
    ("permits", "Every application gets a confirmation.", []),
    ("fines", "A fine must either be paid or sent for credit collection, but not both.", ["existence Pay/Collect | case_start", "not_coexistence Collect | Pay"]),
    ("fines", "A fine must either be paid or sent for credit collection.", ["existence Pay/Collect | case_start"]),
    ("fines", "Once paid, a fine is never to be changed.", []),
    ("fines", "A penalty may be added only if no payment was made within 60 days of the notification.", []),
    ("fines", "Nobody may be sent to credit collection who was never notified.", ["precedence Notify | Collect"]),
    ("invoices", "A duplicate of the invoice must be archived.", []),
    ("library", "A translation of the form must be signed.", []),
    ("bank", "A loan may be terminated only if it was not signed within 30 days of approval.", []),
    ("school", "Nobody may be expelled who was never warned.", ["precedence Warn | Expel"]),
    ("garage", "No car may be handed over which was never test-driven.", ["precedence TestDrive | HandOver"]),
    ("permits", "Once granted, a permit is never to be amended.", []),
    ("tenders", "Every bidder gets a receipt.", []),
    ("shop", "A photo of the goods must be shipped.", []),
    ("bank", "Every customer gets a leaflet.", []),
    ("garage", "A car must either be repaired or scrapped, but not both.", ["existence Repair/Scrap | case_start", "not_coexistence Repair | Scrap"]),
    ("school", "Once graded, an exam is never to be altered.", []),
    ("school", "A pupil may be expelled only if no warning was sent within 60 days of the interview.", []),
    ("hospital", "No patient may be discharged who was never triaged.", ["precedence Triage | Discharge"]),
    ("tenders", "A summary of the bid must be published.", []),
    ("invoices", "Every supplier gets a thank-you note.", []),
    # left as they are
    ("fines", "More than two payments for one fine must be made.", ["existence Pay | case_start x3"]),
    ("invoices", "Either the invoice is approved or it is rejected, but not both.", ["existence Approve/Reject | case_start", "not_coexistence Approve | Reject"]),
    ("invoices", "I want accountants to check every invoice before paying it.", ["precedence Check | Pay"]),
    ("invoices", "No accountant who has not checked an invoice may pay it.", ["precedence Check | Pay"]),
    ("hospital", "Triage must come as the very next step after registration.", ["chain_response Triage | Register"]),
    ("hospital", "Before a patient is discharged, the lactate must be measured and an x-ray must be taken.", ["precedence Lactate | Discharge", "precedence Scan | Discharge"]),
    ("permits", "The site must be inspected, whether or not the neighbours were consulted.", ["existence Inspect | case_start"]),
    ("library", "Leave the books at the desk; every book must be returned within two weeks of being lent.", ["response Return | Lend P14D"]),
    ("shop", "I will not have it said that we are slow: the goods must be shipped within two days after packing.", ["response Ship | Pack P2D"]),
    ("shop", "We do not want complaints; the goods must be packed before they are shipped.", ["precedence Pack | Ship"]),
    ("tenders", "After a bid has been opened, the very next step must be to log it.", ["chain_response Log | Open"]),
    ("bank", "A loan must not be paid out before the contract is signed and the collateral is assessed.", ["precedence Assess | Payout", "precedence Sign | Payout"]),
    ("bank", "Neither the approval nor the denial of a loan may be done before the application has been scored.", ["precedence Score | Approve", "precedence Score | Deny"]),
    ("garage", "The keys of the car must be handed over.", ["existence HandOver | case_start"]),
    ("school", "The certificate is issued only if the results were released.", ["precedence Release | Certify"]),
    ("school", "A pupil may be expelled only if a warning was sent within the sixty days before that.", ["precedence Warn | Expel P60D"]),
    ("fines", "An appeal may be filed only if the fine was sent.", ["precedence Send | Appeal"]),
    ("permits", "The clerk must publish the decision, whichever it is.", ["existence Publish | case_start"]),
    ("permits", "The clerk must either grant or refuse the permit.", ["existence Grant/Refuse | case_start"]),
    # back in time
    ("fines", "A penalty may be added only if, in the sixty days before, the fine was not paid.", ["not_response Penalty | Pay P60D"]),
    ("fines", "A penalty may be added only if no payment was made in the preceding sixty days.", ["not_response Penalty | Pay P60D"]),
    ("fines", "If, in the week before, an appeal was filed, adding a penalty is forbidden.", ["not_response Penalty | Appeal P7D"]),
    ("shop", "Where, in the two days before, the customer was called, the goods must not be shipped.", ["not_response Ship | Call P2D"]),
    ("shop", "The goods must not be shipped where, in the two days before, the customer was called.", ["not_response Ship | Call P2D"]),
    ("fines", "Should there be an appeal, the fine must never be sent for credit collection.", ["not_response Collect | Appeal"]),
    ("hospital", "A third x-ray must not be taken.", ["absence Scan | case_start x3"]),
    ("garage", "We do not send a second estimate.", ["absence Quote | case_start x2"]),
    ("shop", "Keep off the goods until the order has been placed. Not until then may the goods be picked.", ["precedence Order | Pick"]),
    # duties that bar nothing
    ("tenders", "The bid must be opened and scored.", ["existence Open | case_start", "existence Score | case_start"]),
    ("tenders", "The bid must be opened and scored right away.", ["existence Open | case_start", "existence Score | case_start"]),
    ("shop", "The goods have to be packed and shipped at once.", ["existence Pack | case_start", "existence Ship | case_start"]),
    ("tenders", "A bid must be opened and then scored.", ["response Score | Open"]),
    ("library", "Whoever lent the book should be the one to charge a fee later, as no one else knows the reader.", ["response Fine | Lend who=same_person"]),
    ("school", "The same teacher who graded the exam must review it later, since nobody else knows it.", ["response Review | Grade"]),
]  # fmt: skip


def told(reading: Reading) -> str:
    """A reading in short: template, targets, what opens it, time, count, who acts and what excuses; a ban of what came before
    as one of what comes after, and two acts of which neither leads by their names.
    """
    template, targets = (
        reading.template,
        ("+" if reading.joint == "all" else "/").join(a.activity for a in reading.targets),
    )
    opener = reading.activation
    opens = "/".join(a.activity for a in opener.each) if opener else ""
    if opens and template in ("not_precedence", "not_chain_precedence"):
        template, targets, opens = template.replace("precedence", "response"), opens, targets
    if opens and template in ("coexistence", "not_coexistence"):
        targets, opens = sorted((targets, opens))
    time = f" {reading.time.duration}" if reading.time and reading.time.duration else ""
    count = f" x{reading.count}" if reading.count > 1 else ""
    who = f" who={reading.who}" if reading.who else ""
    excused = f" unless {reading.exception.activity}" if reading.exception else ""
    return f"{template} {targets} | {opens or reading.opens}{time}{count}{who}{excused}"


@pytest.mark.parametrize(("desk", "sentence", "expected"), TABLE, ids=[row[1][:50] for row in TABLE])
def test_roundabout(desk: str, sentence: str, expected: list[str]) -> None:
    readings = read(sentence, DESKS[desk])
    assert sorted(told(s.best) for s in readings.statements) == sorted(expected)
    keeps(readings)
