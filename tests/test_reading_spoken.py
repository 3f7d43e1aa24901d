"""Rules in plain spoken words, of several trades, and what they must be read as."""

from __future__ import annotations

import pytest
from test_reading import SCHEMAS, each, keeps, schema, written

from gnrs_ppl.reading.reader import read

TRADES = SCHEMAS | {
    "library": schema(
        {
            "Lend": "lend the book", "Return": "return the book", "Extend": "extend the loan", "Fine": "charge a fee",
            "Stamp": "stamp the card", "Sign": "sign the form", "Enter": "enter the reading room",
        },
        roles="librarian, reader", locations="desk, archive", objects="book",
    ),
    "tenders": schema(
        {
            "Open": "open the bid", "Log": "log the bid", "Score": "score the bid", "Award": "award the contract",
            "Inform": "inform the bidder", "Publish": "publish the notice", "Withdraw": "withdraw the bid",
        },
        roles="buyer, bidder, chair", locations="bid room",
    ),
    "shop": schema(
        {
            "Order": "place the order", "Pick": "pick the goods", "Pack": "pack the goods", "Ship": "ship the goods",
            "Refund": "refund the customer", "Call": "call the customer", "CheckIn": "check in", "CheckOut": "check out",
        },
        roles="packer, cashier, customer", locations="counter, warehouse", objects="parcel",
    ),
}  # fmt: skip
TABLE = [
    # limits
    ("hospital", "Once a patient is registered, there are ten minutes, no more, in which the nurse must triage the patient.", ["response Triage | Register PT10M"]),
    ("invoices", "After an invoice has been received, there are three days in which to check it.", ["response Check | Receive P3D"]),
    ("invoices", "After an invoice has been received, there are three days for checking it.", ["response Check | Receive P3D"]),
    ("invoices", "As soon as an invoice is approved, the accountant has two days and no more to pay it.", ["response Pay | Approve P2D"]),
    ("tenders", "From the moment a bid has been opened, the buyer has one hour, not a minute longer, to log it.", ["response Log | Open PT1H"]),
    ("library", "When a book has been lent, the reader has two weeks at most to return it.", ["response Return | Lend P14D"]),
    ("library", "When a book has been lent, the reader has two weeks, tops, to return it.", ["response Return | Lend P14D"]),
    ("shop", "After every order the packer picks the goods in half an hour or less.", ["response Pick | Order PT30M"]),
    ("shop", "After packing the goods, they must be shipped inside of a day.", ["response Ship | Pack P1D"]),
    ("shop", "After packing the goods, they must be shipped in under two hours.", ["response Ship | Pack PT2H"]),
    ("shop", "When the goods have been packed they have to be shipped no more than an hour later.", ["response Ship | Pack PT1H"]),
    ("shop", "When the goods have been packed they have to be shipped not a minute more than ten later.", ["response Ship | Pack PT10M"]),
    ("shop", "When the goods have been packed they have to be shipped in ten minutes max.", ["response Ship | Pack PT10M"]),
    ("shop", "When the goods have been packed they have to be shipped in three hours, not more.", ["response Ship | Pack PT3H"]),
    ("shop", "Whoever packs the goods has ten minutes to ship them.", ["response Ship | Pack PT10M"]),
    ("invoices", "An accountant who receives an invoice has two days, and no more, to check it.", ["response Check | Receive P2D"]),
    ("tenders", "A buyer who opens a bid has half an hour or less to log it.", ["response Log | Open PT30M"]),
    ("hospital", "A nurse who registers a patient is given ten minutes and not one more to triage them.", ["response Triage | Register PT10M"]),
    ("library", "The reader has to return the book no more than three weeks after it was lent.", ["response Return | Lend P21D"]),
    ("fines", "After the fine has been sent, there are sixty days to pay it.", ["response Pay | Send P60D"]),
    ("fines", "The offender pays the fine, and that in thirty days or less after it was sent.", ["response Pay | Send P30D"]),
    # counter
    ("fines", "No more than ninety days may pass between creating the fine and sending it.", ["response Send | Create P90D"]),
    ("library", "A loan may be extended no more than twice.", ["absence Extend"]),
    ("hospital", "In the two hours after triage no more antibiotics may be given.", ["not_response Antibiotics | Triage PT2H"]),
    # second sentence
    ("library", "At the desk the librarian stamps the card. Ten minutes after that at the latest, the book has been lent, and entering the reading room is forbidden.", ["existence Stamp", "response Lend | Stamp PT10M", "absence Enter"]),
    ("shop", "The packer must pack the goods. An hour after that at most, the goods have been shipped, and calling the customer is forbidden.", ["existence Pack", "response Ship | Pack PT1H", "absence Call"]),
    ("shop", "The packer must pack the goods. No more than an hour after that, the goods are shipped.", ["existence Pack", "response Ship | Pack PT1H"]),
    ("invoices", "The accountant must check every invoice. Three days later at the latest it has been paid.", ["existence Check", "response Pay | Check P3D"]),
    # alternatives
    ("permits", "When the site has been inspected, the clerk has two ways to go: grant the permit, or refuse the permit. Whichever of the two it is, the clerk publishes the decision.", ["response Grant/Refuse | Inspect", "existence Publish"]),
    ("hospital", "Once a patient has been triaged, the doctor has a choice: either admit the patient or discharge the patient.", ["response Admit/Discharge | Triage"]),
    ("hospital", "Once a patient has been triaged, the doctor can do one of two things: admit the patient or discharge the patient, but one of them must be done.", ["response Admit/Discharge | Triage"]),
    ("invoices", "After checking an invoice, the director has two options: to approve it or to reject it.", ["response Approve/Reject | Check"]),
    ("invoices", "After checking an invoice, the director must do one of two things: approve it, or reject it.", ["response Approve/Reject | Check"]),
    ("shop", "When the goods are picked there are two possibilities: pack the goods or refund the customer.", ["response Pack/Refund | Pick"]),
    # beforehand
    ("invoices", "Before an invoice is paid, two things need to be done already. The accountant has to have checked it, and the director has to have approved it.", ["precedence Check | Pay", "precedence Approve | Pay"]),
    ("invoices", "Before an invoice is paid, two things must have happened: it has been checked and it has been approved.", ["precedence Check | Pay", "precedence Approve | Pay"]),
    ("tenders", "Before a buyer awards the contract, three things are needed: the bid has been opened, the bid has been logged and the bid has been scored.", ["precedence Open | Award", "precedence Log | Award", "precedence Score | Award"]),
    ("hospital", "Discharging a patient takes two things first: the lactate has been measured, and an x-ray has been taken.", ["precedence Lactate | Discharge", "precedence Scan | Discharge"]),
    ("tenders", "Awarding the contract takes two things beforehand: the buyer has scored the bid and has informed the bidder.", ["precedence Score | Award", "precedence Inform | Award"]),
    ("permits", "Before construction starts, two things must already be done. The clerk has to have granted the permit, and has to have published the decision; a rumour doesn't count.", ["precedence Grant | Build", "precedence Publish | Build"]),
    # until that is done
    ("library", "Any reader staying longer now signs the form, and until that is done no reader is allowed to enter the reading room.", ["existence Sign", "precedence Sign | Enter"]),
    ("tenders", "The chair logs the bid, and until that is done nobody may open it.", ["existence Log", "precedence Log | Open"]),
    ("invoices", "The director approves the invoice. Until that is done, it may not be paid.", ["existence Approve", "precedence Approve | Pay"]),
    # unless there is
    ("library", "Unless there is a stamped card, a librarian is not allowed to lend the book.", ["precedence Stamp | Lend"]),
    ("library", "Unless there is a signed form, readers are prohibited from entering the reading room.", ["precedence Sign | Enter"]),
    ("invoices", "Unless there is an approved invoice, nobody is permitted to pay anything.", ["precedence Approve | Pay"]),
    ("invoices", "If there is no approved invoice, the accountant is forbidden to pay anything.", ["precedence Approve | Pay"]),
    ("shop", "Without a packed parcel no one may ship the goods.", ["precedence Pack | Ship"]),
    # clefts
    ("library", "The desk is where a librarian stamps the card.", ["existence Stamp"]),
    ("shop", "The counter is where cashiers must refund the customer.", ["existence Refund"]),
    ("shop", "The warehouse is where packers pack the goods, and it is also where they check out.", ["existence Pack", "existence CheckOut"]),
    ("library", "Stamping the card is something librarians do with their own hands, at the desk.", ["existence Stamp"]),
    ("hospital", "Triaging the patient is something a nurse has to do.", ["existence Triage"]),
    ("hospital", "Measuring the lactate is something nurses never do.", ["absence Lactate"]),
    ("hospital", "Giving antibiotics is not something a nurse does.", ["absence Antibiotics"]),
    ("hospital", "It is the nurse who has to triage the patient.", ["existence Triage"]),
    ("hospital", "What the nurse must do is triage the patient.", ["existence Triage"]),
    ("hospital", "What a nurse has to do after registering a patient is triage the patient.", ["response Triage | Register"]),
    ("hospital", "What a nurse must never do is discharge a patient.", ["absence Discharge"]),
    ("tenders", "The bid room is where bids are opened.", ["existence Open"]),
    # free to
    ("invoices", "The director is free to reject an invoice. That goes only if the accountant has checked it first.", ["precedence Check | Reject"]),
    ("hospital", "A patient is free to leave early, and nobody will hold it against them. That goes only if they have the lactate measured first and after that see to their discharge in ten minutes or less.", ["precedence Lactate | Leave", "response Discharge | Leave PT10M"]),
    ("shop", "A packer may check out before the shift is over. That only applies if the packer calls the customer first.", ["precedence Call | CheckOut"]),
    ("permits", "The applicant can start construction early. This holds only if the permit has been granted.", ["precedence Grant | Build"]),
    # count as
    ("shop", "Packers must check in; being seen at the counter doesn't count.", ["existence CheckIn"]),
    ("shop", "Packers must check in. Being seen packing the goods does not count as checking in; we need it on record.", ["existence CheckIn"]),
    ("hospital", "The nurse must triage every patient; a bit of chatting doesn't count.", ["existence Triage"]),
    ("hospital", "Taking an x-ray doesn't count as triage. Every patient must be triaged.", ["existence Triage"]),
    ("invoices", "The director must approve the invoice. A nod in the corridor isn't enough.", ["existence Approve"]),
    # excuses
    ("shop", "After placing the order the goods are shipped within two days, and nothing but heavy snow is a reason for being late.", ["response Ship | Order P2D"]),
    ("shop", "If the bus is late, that is good enough reason for coming late, but never one for not checking in. Packers must check in.", ["existence CheckIn"]),
    ("shop", "If the bus is late, that is good enough reason for coming late, but it is never one for not checking in.", []),
    ("library", "A lost card is no excuse for not returning the book. Readers must return the book.", ["existence Return"]),
    ("library", "Only an illness is an excuse for returning the book late. The book must be returned within two weeks of being lent.", ["response Return | Lend P14D"]),
    # narration
    ("shop", "Twice this season, goods that stood around with nobody packing them have disappeared. So after every order the packer ships the goods in half an hour or less.", ["response Ship | Order PT30M"]),
    ("library", "Several times this year, books lent without a stamp have gone missing. So the librarian stamps the card before the book is lent.", ["precedence Stamp | Lend"]),
    ("hospital", "More than once, patients nobody had triaged have got worse. The nurse must triage every patient.", ["existence Triage"]),
    ("fines", "Fines that nobody had sent have piled up. So every fine is sent within ninety days of being created.", ["response Send | Create P90D"]),
    ("tenders", "Bids have been opened too early three times this year. Therefore no bid may be opened before it is logged.", ["precedence Log | Open"]),
    # as long as
    ("library", "As long as a reader hasn't signed the form, no librarian may lend a book.", ["precedence Sign | Lend"]),
    ("permits", "So long as the neighbours have not been consulted, the clerk is not allowed to grant the permit.", ["precedence Consult | Grant"]),
    ("invoices", "As long as the director hasn't really approved it, no accountant is allowed to pay an invoice, no matter how nicely the supplier asked.", ["precedence Approve | Pay"]),
    ("tenders", "While the bid has not been logged, nobody may open it.", ["precedence Log | Open"]),
    ("library", "As long as the weather is bad, no librarian may lend a book.", ["absence Lend"]),
    # more limits
    ("shop", "Once the goods are packed, the packer has an hour, not a second longer, to ship them.", ["response Ship | Pack PT1H"]),
    ("shop", "The packer has got two hours tops to ship the goods after packing them.", ["response Ship | Pack PT2H"]),
    ("tenders", "Bids that have been opened must be logged in one hour or under.", ["response Log | Open PT1H"]),
    ("hospital", "After triage there is half an hour, and no more than that, in which a doctor must admit the patient.", ["response Admit | Triage PT30M"]),
    ("hospital", "A doctor who triages a patient gets an hour at most to admit them.", ["response Admit | Triage PT1H"]),
    ("library", "The librarian charges a fee at most two weeks after the book was lent.", ["response Fine | Lend P14D"]),
    ("library", "After two weeks, no more loans may be extended.", ["absence Extend"]),
    ("library", "Once the book has been lent, in the first two days no more fees may be charged.", ["not_response Fine | Lend P2D"]),
    ("hospital", "A patient must stay ten minutes, no less, after antibiotics are given.", []),
    ("invoices", "The invoice must not be paid in three days or less after it was received.", ["not_response Pay | Receive P3D"]),
    ("invoices", "It must take no more than three days to pay an invoice after it was approved.", ["response Pay | Approve P3D"]),
    ("invoices", "An invoice waits for payment no more than three days after approval.", ["response Pay | Approve P3D"]),
    # places told first
    ("library", "The archive is where nobody lends a book.", ["absence Lend"]),
    ("library", "The desk is not where the librarian stamps the card.", ["absence Stamp"]),
    ("library", "The archive is where books are never lent, and it is also where readers must sign the form.", ["absence Lend", "existence Sign"]),
    ("shop", "Calling the customer is something only cashiers do.", []),
    ("shop", "Refunding the customer is something packers must never do.", ["absence Refund"]),
    ("shop", "Refunding the customer is something packers can do.", []),
    ("shop", "Packing the goods is a job cashiers don't do.", ["absence Pack"]),
    ("hospital", "What a doctor has to do before discharging a patient is take an x-ray.", ["precedence Scan | Discharge"]),
    ("hospital", "It is a doctor who must never discharge the patient.", ["absence Discharge"]),
    # choices
    ("tenders", "Once a bid has been scored, the buyer has a choice: award the contract, or publish the notice.", ["response Award/Publish | Score"]),
    ("shop", "Packers must do one of the following: pack the goods, ship the goods or call the customer.", ["existence Pack/Ship/Call"]),
    # asides
    ("fines", "The offender must pay the fine, and money left on the desk doesn't count.", ["existence Pay"]),
    ("fines", "A fine doesn't count as sent until the offender has been notified.", []),
    ("fines", "Whoever did not pay doesn't count; the officer must notify the offender.", ["existence Notify"]),
    ("fines", "The officer doesn't count the money; the offender must pay the fine.", ["existence Pay"]),
    ("fines", "Having paid the fine is no reason for not being notified. Every offender must be notified.", ["existence Notify"]),
    ("library", "Books have gone missing twice this year, so no book may be lent until the card has been stamped.", ["precedence Stamp | Lend"]),
    ("library", "More than once readers were turned away. The librarian must stamp the card.", ["existence Stamp"]),
    ("library", "Twice, the card was stamped before the form was signed. The form must be signed before the card is stamped.", ["precedence Sign | Stamp"]),
    ("library", "Cards that have been stamped twice have disappeared. The librarian must stamp the card.", ["existence Stamp"]),
    # turned
    ("invoices", "Until the director has approved it, no invoice is to be paid at all.", ["precedence Approve | Pay"]),
    ("permits", "Unless the neighbours have been consulted for the plot, the clerk must not grant anything.", ["precedence Consult | Grant"]),
    ("hospital", "Before the lactate has been measured for the case, nurses must not give any antibiotics whatsoever.", ["precedence Lactate | Antibiotics"]),
    ("tenders", "Before the bid has been withdrawn, nobody may award the contract.", ["precedence Withdraw | Award"]),
]  # fmt: skip


@pytest.mark.parametrize(("trade", "sentence", "expected"), TABLE, ids=[row[1][:50] for row in TABLE])
def test_spoken(trade: str, sentence: str, expected: list[str]) -> None:
    readings = read(sentence, TRADES[trade])
    assert sorted(w for s in readings.statements for w in each(written(s.best))) == sorted(
        w for e in expected for w in each(e)
    )
    keeps(readings)


@pytest.mark.parametrize(
    ("sentence", "untold"),
    [
        (
            "After the order the cashier has two ways to go: refund the customer, or water the flowers.",
            "flowers",
        ),
        ("Calling the customer is something only cashiers do.", "only cashiers"),
    ],
)
def test_what_no_act_shows_is_not_passed_over(sentence: str, untold: str) -> None:
    readings = read(sentence, TRADES["shop"])
    assert any(u.another and untold in readings.words(u.span) for u in readings.unread)


def test_what_says_nothing_is_background() -> None:
    readings = read(
        "Packers must check in; being seen at the counter doesn't count. We used to trust everybody.",
        TRADES["shop"],
    )
    told = [readings.words(span) for span in readings.background]
    assert told == ["being seen at the counter doesn't count", "We used to trust everybody."]
