"""One order of a customer, from asking to hand-over.

Facts that no log shows:
- keeper, buyer, courier (case): names of who sells, who orders, and whom the goods are entrusted to
- goods, parts, place, destination (case): what is ordered, in how many consignments, where sold, and where
  it was to be handed over
- price, sound, owned_by (case): what the goods are worth, whether they are without fault, and the name of
  whose property they are
- urgent, promised (case): whether the buyer needs them soon; instant promised for the hand-over in seconds,
  absent where none was
- consent (Speak about an offer, a price or something else, Trade, SignContract): whether the other (on
  signing: the signer) really agreed
- about, to (Speak; `to` also Trade, Deliver, PublishTask): what it was about, and the name of whom it was
  meant for
- true (Speak about a price, an excuse, a complaint): whether what was said is true
- amount (Trade, SignContract): the sum paid or written down; private (Trade): whether it is a bargain
  beside the order
- wanted, accepted (Deliver): whether it is what was ordered, and whether somebody took it
- returned, damage (Interact): whether the thing went back to its place, and what it lost in worth
- on_behalf_of (CheckIn, CheckOut, SignContract, Deliver): name of the person for whom somebody else acts,
  where it is so
"""

from __future__ import annotations

from typing import Any

from bench_maker.stage import Case, Person, Process

CAST = {"shopkeeper": 7, "customer": 45, "courier": 8, "owner": 1, "duty_manager": 3}
PER_DAY = 7.0
HOURS = (6.5, 19.5)
GOODS = ("consumable_food", "exchange_delivery_object", "tool_equipment", "play_learning_resource")


def episode(case: Case) -> Process:
    """From the shopkeeper's day and the customer's question to the hand-over and what follows."""
    keeper, courier = case.person("shopkeeper"), case.person("courier")
    buyer = (
        case.person("duty_manager", "owner")
        if case.does("one of the house buys", 0.08)
        else case.person("customer")
    )
    place = "public_square" if case.does("sells at a stall", 0.35, keeper) else "shop"
    case.know(
        keeper=keeper.name, buyer=buyer.name, courier=courier.name, place=place, goods=case.one_of(*GOODS)
    )
    case.know(
        owned_by=case.one_of(keeper, keeper, keeper, case.person("owner"), case.person("customer")).name
    )
    case.know(
        price=case.rng.lognormal(3.4, 0.8),
        parts=1 + int(case.rng.poisson(0.5)),
        urgent=case.does("is in a hurry", 0.3, buyer),
    )
    case.know(
        destination=case.one_of(place, "public_square", "delivery_station"),
        sound=not case.does("goods have a fault", 0.15, keeper),
    )
    threads = [case.meanwhile(presence(case, keeper))]
    yield case.pause("customer after the opening", 18, buyer)
    if case.does("promises a time", 0.7, keeper):
        case.know(promised=case.now + 60 * case.rng.lognormal(4.5, 0.7))
    if not case.does("order comes in writing", 0.45, buyer):
        case.act(
            buyer,
            "MoveTo",
            place if case.does("finds the right place", 0.9, buyer) else case.one_of("shop", "public_square"),
        )
        yield from looking(case, keeper, buyer)
    threads += [
        case.meanwhile(part(case, keeper, courier, buyer)) for part in (bargain, paper, carriage, beside)
    ]
    early = case.does("closes before the order is done", 0.3, keeper)
    yield from () if early else threads
    if not case.does("goes without check-out", 0.38, keeper):
        yield case.pause("check-out at the end of an order", 45, keeper)
        yield from booking(
            case, keeper, "CheckOut", case.one_of(place, place, "storage_and_utility"), "checkout_record"
        )
    yield from threads


def act_for(
    case: Case,
    owed: Person,
    by: Person,
    action: str,
    where: str,
    thing: str,
    item: str | None = None,
    **facts: Any,
) -> None:
    """An act that is somebody's to do, done by them or by another."""
    case.act(by, action, where, thing, item, **facts, **({} if by == owed else {"on_behalf_of": owed.name}))


def booking(case: Case, keeper: Person, action: str, where: str, record: str) -> Process:
    """The shopkeeper's check-in or check-out: in person, through another, or by both."""
    other, swap = (
        case.person("shopkeeper", "duty_manager", but=keeper),
        case.does(f"another does the {action}", 0.18, keeper),
    )
    for by in case.one_of((other,), (other,), (other, keeper)) if swap else (keeper,):
        act_for(case, keeper, by, action, where, record)
        yield case.pause("between two bookings", 8, by)


def presence(case: Case, keeper: Person) -> Process:
    """The shopkeeper comes and checks in: early, late, or not at all."""
    place, checks_in = case.facts["place"], case.does("checks in for the day", 0.66, keeper)
    if not checks_in or not case.does("shopkeeper is there already", 0.9, keeper):
        yield case.pause("shopkeeper on the way", 8, keeper)
        case.act(
            keeper,
            "MoveTo",
            place if case.does("goes straight to the place of sale", 0.75, keeper) else "storage_and_utility",
        )
    if checks_in:
        late = case.does("thinks of the check-in only later", 0.25, keeper)
        yield (
            case.pause("late check-in", 120, keeper)
            if late
            else case.pause("check-in about the opening", 14, keeper)
        )
        yield from booking(
            case, keeper, "CheckIn", case.one_of(place, place, "shop", "delivery_station"), "checkin_record"
        )


def looking(case: Case, keeper: Person, buyer: Person) -> Process:
    """The customer handles what lies on the shelf and asks, in one order or the other, or does neither."""
    place, asks = case.facts["place"], case.does("asks about the goods", 0.52, buyer)
    for step in sorted(
        ["touches"] * int(case.rng.poisson(0.6)) + ["asks"] * asks, key=lambda _: case.rng.random()
    ):
        yield case.pause("looking at the shelf", 6, buyer)
        if step == "asks":
            words, heard = (
                case.one_of("offer", "offer", "something else"),
                case.does("shopkeeper agrees in earnest", 0.7, keeper),
            )
            case.act(buyer, "Speak", place, about=words, to=keeper.name, consent=heard)
        else:
            loss, back = (
                case.does("breaks something", 0.12, buyer) * case.rng.lognormal(1.8),
                case.does("puts goods back", 0.7, buyer),
            )
            case.act(
                buyer, "Interact", place, case.one_of(*GOODS), case.item("ware"), returned=back, damage=loss
            )


def bargain(case: Case, keeper: Person, courier: Person, buyer: Person) -> Process:
    """Agreeing on the price, and paying once, in parts, or never."""
    place, price = case.facts["place"], case.facts["price"]
    if case.does("shopkeeper names a price", 0.36, keeper):
        yield case.pause("naming a price", 20, keeper)
        agreed, honest = (
            case.does("buyer agrees in earnest", 0.7, buyer),
            case.does("names the true price", 0.85, keeper),
        )
        case.act(keeper, "Speak", place, about="price", to=buyer.name, consent=agreed, true=honest)
    for _ in range((1 + int(case.rng.poisson(0.25))) * case.does("order is paid", 0.64, buyer)):
        yield case.pause("payment of an order", 60, buyer)
        by, to = (keeper, buyer) if case.does("shopkeeper books the trade", 0.4, keeper) else (buyer, keeper)
        paid, agreed = price * case.rng.lognormal(0, 0.15), case.does("is willing", 0.8, to)
        where = case.one_of(place, place, place, "delivery_station")
        case.act(
            by, "Trade", where, case.facts["goods"], to=to.name, amount=paid, consent=agreed, private=False
        )


def paper(case: Case, keeper: Person, courier: Person, buyer: Person) -> Process:
    """The contract: signed by one or both sides or a stand-in, sooner or later or not at all."""
    for signer in (
        case.one_of((buyer,), (keeper, buyer), (buyer, keeper))
        if case.does("a contract is made", 0.64, keeper)
        else ()
    ):
        yield case.pause("drawing up and signing", 55, signer)
        by = case.person("owner", "duty_manager") if case.does("stand-in signs", 0.1, signer) else signer
        amount, willing = (
            case.facts["price"] * case.rng.lognormal(0, 0.08),
            case.does("signs of own will", 0.87, signer),
        )
        where = case.one_of(case.facts["place"], case.facts["place"], "shop", "delivery_station")
        act_for(case, signer, by, "SignContract", where, case.facts["goods"], amount=amount, consent=willing)


def carriage(case: Case, keeper: Person, courier: Person, buyer: Person) -> Process:
    """Packing and deliveries, by the courier or another, and what is said when they fail."""
    goods, place, parcel = case.facts["goods"], case.facts["place"], case.item("consignment")
    if case.does("packs in the storeroom", 0.3, keeper):
        with case.turn("packing table", 1) as turn:
            yield turn
            yield case.pause("packing", 12, keeper)
            case.act(keeper, "Interact", "storage_and_utility", goods, parcel, returned=True, damage=0.0)
    stays = case.does("consignment stays behind", 0.25, courier)
    for part in range(0 if stays else case.facts["parts"]):
        yield case.pause("consignment on its way", 65, courier)
        by = (
            courier
            if case.does("courier carries it in person", 0.8, courier)
            else case.person("courier", "shopkeeper", but=courier)
        )
        if case.does("reports at the delivery station", 0.27, by):
            case.act(by, "MoveTo", "delivery_station")
            yield case.pause("from the station to the hand-over", 15, by)
        thing = goods if case.does("brings the order", 0.85, by) else case.one_of(*GOODS)
        what, taken = (
            case.item("consignment") if part else parcel,
            case.does("somebody takes the goods", 0.82, buyer),
        )
        where = (
            case.facts["destination"]
            if case.does("finds the destination", 0.78, by)
            else case.one_of(place, "storage_and_utility")
        )
        act_for(
            case,
            courier,
            by,
            "Deliver",
            where,
            thing,
            what,
            to=buyer.name,
            wanted=thing == goods,
            accepted=taken,
        )
    if stays or case.does("complains of the goods", 0.08 if case.facts["sound"] else 0.5, buyer):
        by, about = (
            (courier, "excuse")
            if stays and case.does("courier makes an excuse", 0.5, courier)
            else (buyer, "complaint")
        )
        yield case.pause(f"before the {about}", 100, by)
        honest = case.does("is honest", 0.6, courier) if by == courier else stays or not case.facts["sound"]
        case.act(
            by, "Speak", case.one_of(place, "delivery_station"), about=about, to=keeper.name, true=honest
        )


def beside(case: Case, keeper: Person, courier: Person, buyer: Person) -> Process:
    """Beside the order: the courier's task is published or not, tools and the handcart are lent, a private
    bargain is made.
    """
    by = (
        case.person("duty_manager", "owner")
        if case.does("the manager publishes instead", 0.2, keeper)
        else keeper
    )
    for _ in range(
        (1 + case.does("publishes the task anew", 0.12, keeper))
        * case.does("publishes the courier's task", 0.62, keeper)
    ):
        yield case.pause("publication of the courier's task", 45, keeper)
        case.act(
            by, "PublishTask", case.one_of("shop", "delivery_station"), case.facts["goods"], to=courier.name
        )
    if case.does("something is lent", 0.3, keeper):
        yield case.pause("before lending", 30, keeper)
        who, thing = case.one_of(
            (buyer, "tool_equipment"), (courier, "tool_equipment"), (courier, "shared_resource")
        )
        where, back = (
            case.one_of("storage_and_utility", case.facts["place"]),
            case.does("brings back what was lent", 0.68, who),
        )
        case.act(
            who,
            "Interact",
            where,
            thing,
            case.item("loan"),
            returned=back,
            damage=case.rng.lognormal(1.1, 0.8),
        )
    if case.does("private bargain", 0.15, courier):
        yield case.pause("private bargain on the side", 45, courier)
        by, to = case.one_of((courier, buyer), (keeper, courier), (buyer, case.person("customer", but=buyer)))
        where, agreed = (
            case.one_of("public_square", "delivery_station", "shop"),
            case.does("agrees to a private bargain", 0.65, to),
        )
        paid = case.rng.lognormal(2.2, 0.9)
        case.act(
            by,
            "Trade",
            where,
            case.one_of(*GOODS),
            case.item("side"),
            to=to.name,
            amount=paid,
            consent=agreed,
            private=True,
        )
