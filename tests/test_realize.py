"""Rule texts: they read back, no two rules share one, and a changed word is noticed."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import get_args

import pytest
from fuzz import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import RECORDS, SCHEMA, VOCABULARY, Vocabulary, structures
from tiers import tier

from gnrs_ppl.audit.types import Due, InstanceVerdict, Reason
from gnrs_ppl.context.files import read_data, validated
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import Action, Channel, RecordLayer, Schema, Term
from gnrs_ppl.errors import InputError
from gnrs_ppl.realize.english import (
    UNITS,
    article,
    duration,
    event_noun,
    gerund,
    number,
    plural,
    times,
    words_of,
)
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.parser import parse
from gnrs_ppl.realize.phrases import FOLLOWING_RUNS, FOLLOWING_WORDS, MODALS, RESERVED_WORDS
from gnrs_ppl.realize.recover import facts, recovered
from gnrs_ppl.realize.scanner import ParseError
from gnrs_ppl.realize.sentence import explain
from gnrs_ppl.realize.text import occurrence, render
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import (
    COUNTING,
    DRAFTED,
    IMPLEMENTED,
    LOOK_BACK,
    MUTUAL,
    ORDERED,
    Act,
    Constraint,
    EvidencePolicy,
    Norm,
    Office,
    Procedure,
    Step,
    Structure,
    Ties,
    Trigger,
)

LEXICON = Lexicon.of(SCHEMA, RECORDS)
GOLDEN = Path(__file__).parent / "golden" / "realize"
CASES = sorted(path.stem for path in GOLDEN.glob("[a-z]*.yaml"))
settings.register_profile(
    "realize", deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
MANY = tier(600, 2000)
QUICK = settings(settings.get_profile("realize"), max_examples=tier(50, 150))


def sentences(text: str) -> list[str]:
    """Sentences of a text, stops inside quotation marks left alone."""
    bare = re.sub(r"“(?:[^”]|””)*”(?!”)", "“”", text)
    return re.findall(r"[^.]+\.(?: |$)", bare)


@pytest.fixture(scope="module")
def mixed() -> list[Structure]:
    """A few thousand structures: slots drawn by hypothesis, put together anew."""
    drawn: list[Structure] = []

    @settings(QUICK, max_examples=250)
    @given(structures())
    def draw(structure: Structure) -> None:
        drawn.append(structure)

    draw()
    dice = random.Random(7)

    def one() -> Structure:
        slots = {slot: getattr(dice.choice(drawn), slot) for slot in Structure.model_fields}
        return Structure(**slots)

    return [one() for _ in range(MANY)]


# The law


@QUICK
@given(structures(), st.booleans())
def test_text_reads_back(structure: Structure, dates_only: bool) -> None:
    assert parse(render(structure, LEXICON, dates_only), LEXICON) == canonical(structure)


@QUICK
@given(structures(), st.booleans())
def test_a_rule_that_says_nothing_of_a_breach_reads_back(structure: Structure, dates_only: bool) -> None:
    bare = structure.model_copy(update={"procedure": Procedure()})
    text = render(bare, LEXICON, dates_only)
    assert parse(text, LEXICON) == canonical(bare)
    assert "breach" not in text


TEMPLATES = (*IMPLEMENTED, *DRAFTED, *DRAFTED)


def extended(structure: Structure, others: list[Structure], dice: random.Random) -> Structure:
    """The structure with any of the templates, ties, earlier acts that count and acts with alternatives."""

    def wider(act: Act, roles: tuple[str | None, ...]) -> Act:
        found = [c.target for other in dice.sample(others, 2) for c in other.norm.constraints]
        found += [act.model_copy(update={"role": role}) for role in dice.sample(VOCABULARY.roles, 2)]
        more = [a for a in found if a.role in roles] if roles else found
        patterns = list(dict.fromkeys([act, *more]))[: dice.choice((1, 1, 2, 3))]
        return Act.model_validate({"any_of": patterns} if len(patterns) > 1 else act)

    office = (None, structure.norm.bearer.role) if isinstance(structure.norm.bearer, Office) else ()
    constraints, usual = [], dice.choice(TEMPLATES)
    for constraint in structure.norm.constraints:
        template = dice.choice((usual, dice.choice(TEMPLATES)))
        earlier = template == "response" and dice.random() < 0.4
        target = wider(
            constraint.target.model_copy(update={"role": None}) if office else constraint.target,
            (None,) if office else (),
        )
        if template == "exclusive_choice":
            names = dice.sample(VOCABULARY.actions, 2)
            target = Act.model_validate(
                {"any_of": [{"activity": name, "role": target.role} for name in names]}
            )
        after = constraint.after and constraint.after.model_copy(
            update={"act": wider(constraint.after.act, ())}
        )
        constraints.append(
            {
                "template": template, "target": target, "correlate": constraint.correlate, "earlier_counts": earlier,
                "deadline": None if template in ("init", "end") else constraint.deadline,
                "count": constraint.count if template in COUNTING else 1,
                "after": None if template in MUTUAL else after,
                "unless": constraint.unless and wider(constraint.unless, ()),
                "ties": dice.choice((None, *get_args(Ties))) if template in ORDERED and not earlier else None,
                "in_the_meantime": bool(constraint.unless)
                and template not in (*LOOK_BACK, *MUTUAL, "init")
                and dice.random() < 0.5,
            }
        )  # fmt: skip
    norm = {"force": structure.norm.force, "bearer": structure.norm.bearer, "constraints": tuple(constraints)}
    trigger = structure.trigger.model_copy(
        update={"act": structure.trigger.act and wider(structure.trigger.act, ())}
    )
    return Structure.model_validate({**dict(structure), "norm": norm, "trigger": trigger})


def test_the_whole_language_reads_back(mixed: list[Structure]) -> None:
    dice, written = random.Random(11), dict[str, Structure]()
    for structure in mixed[: MANY // 4]:
        rule = canonical(extended(structure, mixed, dice))
        text = render(rule, LEXICON)
        assert parse(text, LEXICON) == rule, text
        assert written.setdefault(text, rule) == rule
        assert recovered(rule, text, LEXICON) == []


def test_thousands_read_back_and_no_two_share_a_text(mixed: list[Structure]) -> None:
    written: dict[str, Structure] = {}
    for structure in mixed:
        rule, text = canonical(structure), render(structure, LEXICON)
        assert written.setdefault(text, rule) == rule
        assert parse(text, LEXICON) == rule
        assert 3 <= len(sentences(text)) <= 12, text
    assert len(written) > 0.95 * MANY


def test_spelling_out_defaults_changes_nothing(mixed: list[Structure]) -> None:
    for structure in mixed[:300]:
        assert render(canonical(structure), LEXICON) == render(structure, LEXICON)


def test_no_labels_and_no_identifiers_where_words_exist(mixed: list[Structure]) -> None:
    labels = re.compile(r"\b(?:scope|trigger|norm\w*|procedure|template|force|channel|slot)\b", re.IGNORECASE)
    for structure in mixed[:400]:
        bare = re.sub(r"“(?:[^”]|””)*”(?!”)", "", render(structure, LEXICON))
        assert not labels.search(bare), bare
        assert "_" not in bare
        assert not re.search(r"[a-z][A-Z]", bare), bare


AWKWARD = Schema(
    roles=tuple(
        Term(name=n) for n in ("manager", "ManagerReviews", "person", "FirstAider", "clerk_of_works")
    ),
    locations=(Term(name="hall"), Term(name="HallRestroom"), Term(name="x", phrase="hall in respect")),
    objects=(
        Term(name="bill"),
        Term(name="y", phrase="bill of sale"),
        Term(name="z", phrase="in-tray"),
        Term(name="w", plural="wares"),
    ),
    actions=(
        Action(name="check"),
        Action(name="CheckIn"),
        Action(name="i", phrase="check in respect", noun="check in respect"),
        Action(name="l", phrase="look", noun="look"),
        Action(name="la", phrase="look at", noun="look at"),
        Action(name="s", phrase="serve", noun="service"),
        Action(name="sa", phrase="serve as", noun="service by"),
        Action(name="w", phrase="wait for", noun="wait for"),
        Action(name="case"),
    ),
    steps=tuple(
        Term(name=n) for n in ("review", "decision", "remedy", "appeal", "peer_review", "Review of carries")
    ),
)
AWKWARD_LOGS = RecordLayer(
    channels=tuple(Channel(name=n) for n in ("matter", "it", "log", "LogFor", "then", "case"))
)
AWKWARD_WORDS = Vocabulary(
    roles=tuple(t.name for t in AWKWARD.roles),
    locations=tuple(t.name for t in AWKWARD.locations),
    objects=tuple(t.name for t in AWKWARD.objects),
    actions=tuple(a.name for a in AWKWARD.actions),
    channels=tuple(c.name for c in AWKWARD_LOGS.channels),
    steps=tuple(t.name for t in AWKWARD.steps),
)


@settings(QUICK, max_examples=examples(150))
@given(structures(AWKWARD_WORDS))
def test_words_that_look_like_grammar_read_back(structure: Structure) -> None:
    lexicon = Lexicon.of(AWKWARD, AWKWARD_LOGS)
    assert parse(render(structure, lexicon), lexicon) == canonical(structure)


@settings(QUICK, max_examples=examples(60))
@given(structures())
def test_a_lexicon_that_knows_nothing_still_writes_and_reads(structure: Structure) -> None:
    empty = Lexicon({})
    assert parse(render(structure, empty), empty) == canonical(structure)
    told = empty.including(structure)
    assert parse(render(structure, told), told) == canonical(structure)


def test_what_follows_a_name_never_hides_in_what_follows_a_name() -> None:
    for run, other in product(FOLLOWING_RUNS, (*FOLLOWING_RUNS, *FOLLOWING_WORDS)):
        words = run.split()
        for i in range(1, len(words)):
            rest = " ".join(words[i:])
            reserved = RESERVED_WORDS.intersection(words[:i])
            assert reserved or not (rest + " ").startswith(other + " "), (run, other)


def small(**slots: object) -> Structure:
    base: dict[str, object] = {
        "trigger": Trigger(act=Act(activity="Payment"), channel="Roster"),
        "norm": Norm(
            constraints=(
                Constraint(
                    template="response", target=Act(activity="CheckIn"), deadline=Duration.parse("PT15M")
                ),
            )
        ),
        "evidence": EvidencePolicy(channels=("checkin_log", "movement_log")),
        "procedure": Procedure(
            steps=(Step(stage="review", name="manager_review", role="duty_manager", inspects="checkin_log"),)
        ),
    }
    return Structure.model_validate(base | slots)


# Changed words


def mutations(text: str, kind: str) -> Iterator[str]:
    """Every text that differs in one number, negation, log, role, unit or force word."""
    places: list[tuple[int, int, list[str]]] = []
    if kind == "number":
        counts = re.compile(rf"\b(?:once|twice|(\w+) (?={'|'.join(UNITS)}|times|of the))")
        for match in counts.finditer(text):
            if match[0] in ("once", "twice"):
                places.append((*match.span(), ["twice" if match[0] == "once" else "once", "three times"]))
            elif match[1] in map(number, range(1, 10)) or match[1].isdigit():
                others = [number(n) for n in (2, 5, 17) if number(n) != match[1]]
                places.append((*match.span(1), others))
    elif kind == "negation":
        for match in re.finditer(r"\b(must|should) (not )?|\bmay (?!appeal|make)|\bneed not ", text):
            flipped = {"may ": "need not ", "need not ": "may "}.get(match[0]) or match[1] + (
                "" if match[2] else " not"
            ) + " "
            places.append((*match.span(), [flipped]))
    elif kind in ("log", "role"):
        payload, names = ("channel", VOCABULARY.channels) if kind == "log" else ("role", VOCABULARY.roles)
        words = sorted({LEXICON.form(payload, name) for name in names}, key=len, reverse=True)  # type: ignore[arg-type]
        for match in re.finditer("|".join(rf"(?<![\w“]){re.escape(w)}(?!\w)(?! \(“)" for w in words), text):
            places.append((*match.span(), [w for w in words if w != match[0]]))
    elif kind == "unit":
        for match in re.finditer(rf"\b(\w+) ({'|'.join(UNITS)})(s?)\b", text):
            if match[1] in map(number, range(1, 10)) or match[1].isdigit():
                places.append((*match.span(2), [unit for unit in UNITS if unit != match[2]]))
    else:
        for match in re.finditer(r"\b(must|should|may|need)\b(?! appeal| make)", text):
            places.append(
                (*match.span(), [force for force in ("must", "should", "may") if force != match[0]])
            )
    for start, end, replacements in places:
        for replacement in replacements:
            yield text[:start] + replacement + text[end:]


def test_every_changed_word_is_caught(mixed: list[Structure], capsys: pytest.CaptureFixture[str]) -> None:
    caught: Counter[str] = Counter()
    dice = random.Random(3)
    for structure in mixed[:200]:
        rule, text = canonical(structure), render(structure, LEXICON)
        for kind in ("number", "negation", "log", "role", "unit", "force"):
            changed = list(mutations(text, kind))
            for mutant in dice.sample(changed, min(3, len(changed))):
                try:
                    assert parse(mutant, LEXICON) != rule, f"{kind}:\n{text}\n{mutant}"
                except ParseError:
                    caught[f"{kind} unreadable"] += 1
                else:
                    caught[f"{kind} another rule"] += 1
    with capsys.disabled():
        print(f"\n{caught.total()} of {caught.total()} mutants caught: {dict(sorted(caught.items()))}")
    assert all(caught[f"{kind} another rule"] > 50 for kind in ("number", "log", "role", "unit"))


OTHER_WORDS = (
    ("as the first act", "as the last act"), ("as the last act", "as the first act"), ("as the next act after", "after"),
    ("as the last act before", "before"), (", with neither happening without the other", ""), (", and only then", ""), (", before it happens again", ""), (", but not both,", ""), (", anew each time", ""), (", checked at each of the two acts", ""), ("at the latest ", ""),
    ("by the close of the case, ", ""), ("by the end of the ", ""), ("counts as kept", "counts as broken"), ("counts as broken", "leaves it open"),
    ("The same person ", "A waiter "), ("The same person ", "Somebody "), ("Somebody ", "Nobody "), ("Nobody ", "Somebody "), ("the same person", "the same object"), ("the same object", "the same person"),
    (", both for the same object", ""), (", if both are for the same object", ""), (", if both are", ", both"),
    ("the first ", "each "), ("the first time in a case that they", "each time they"), ("each time they", "any time they"),
    ("any time they", "the first time in a case that they"), (" by each ", " by a "), (" by any one person", ""), (" any ", " each "), (" each ", " any "),
    (" in the same case", ""), (", but no time above depends on that", ""), (", but nothing above depends on that", ""), (", during the ", ", within "),
    ("This is meant for", "This applies to"), ("This is about", "This is meant for"),
    ("within that time", "during that period"), ("during that period", "within that time"), ("at least ", "exactly "),
    (" must never ", " must not "), (" may ever ", " may "), ("within the ", "during the "), (" happen ", " "), ("by somebody acting as", "by"),
    ("whether before or after ", "before "), ("at some point in the case, ", ""), ("at any point in the case, ", "at some point in the case, "),
    (" up to the end of the ", " during the "), ("every one of ", "at least two of "), (" that can record the act", ""),
    (" acts of the case recorded", " acts recorded"), ("Only acts of the same person", "Only acts of the case"), ("coming in between", "coming first"),
    ("Only acts for the same object", "Only acts"), ("coming first", "coming last"), (" after each ", " before each "), ("This applies at", "This applies to"),
    ("Each step is due within", "Each step is due in"), ("may appeal to", "may make"), ("of the breach", "of the question"),
    ("show a breach", "show otherwise"), (" and before the case closes", ""), ("; for the ", ", or the "), (" after that ", " after each "),
)  # fmt: skip


def test_every_other_phrase_is_caught(mixed: list[Structure]) -> None:
    dice, met = random.Random(7), Counter[str]()
    for structure in mixed[: tier(400, 900)]:
        rule = canonical(extended(structure, mixed, dice))
        text = render(rule, LEXICON)
        for plain, other in OTHER_WORDS:
            if plain in text:
                met[plain] += 1
                with suppress(ParseError):
                    assert parse(text.replace(plain, other, 1), LEXICON) != rule, f"{plain}:\n{text}"
    assert [plain for plain, _ in OTHER_WORDS if not met[plain]] == []


def test_an_error_says_where_and_what_was_expected() -> None:
    text = render(small(), LEXICON)
    position = text.index("roster system")
    with pytest.raises(ParseError, match="the words of a channel") as raised:
        parse(text.replace("roster system", "attendance system"), LEXICON)
    assert raised.value.position == position
    with pytest.raises(ParseError, match="'those affected may ' or 'then '"):
        parse(text + " So be it.", LEXICON)
    for cut in range(0, len(text), 7):
        with pytest.raises(ParseError):
            parse(text[:cut], LEXICON)


def test_repeated_names_are_no_rule() -> None:
    text = render(small(), LEXICON).replace("and the movement log", "and the checkin log")
    with pytest.raises(ParseError, match="twice"):
        parse(text, LEXICON)


# What a text gives back


@settings(QUICK, max_examples=examples(60))
@given(structures())
def test_everything_is_recovered_from_rendered_text(structure: Structure) -> None:
    assert recovered(structure, render(structure, LEXICON), LEXICON) == []
    assert facts(canonical(structure)).total() > 8


def test_recovered_names_what_is_lost() -> None:
    structure = small()
    text = render(structure, LEXICON)
    assert recovered(structure, text.replace("15 minutes", "20 minutes"), LEXICON) == [
        "norm: CheckIn: deadline PT15M", "not in the rule: norm: CheckIn: deadline PT20M",
    ]  # fmt: skip
    assert recovered(structure, "Somebody may pay.", LEXICON)[0].startswith("the text cannot be read: ")


# Words


def test_durations_that_differ_are_said_differently() -> None:
    said = {
        iso: duration(Duration.parse(iso))
        for iso in ("P1M", "P30D", "P1D", "PT24H", "PT90M", "P1M2DT3H4M5S", "P1Y", "P1W")
    }
    assert said == {
        "P1M": "one month", "P30D": "30 days", "P1D": "one day", "PT24H": "24 hours", "PT90M": "one hour and 30 minutes",
        "P1M2DT3H4M5S": "one month, two days, three hours, four minutes and five seconds", "P1Y": "12 months", "P1W": "seven days",
    }  # fmt: skip


def test_force_and_polarity_are_six_different_words() -> None:
    assert len(set(MODALS.values())) == 6
    texts = set()
    for force, template in product(("must", "should", "may"), ("precedence", "not_precedence")):
        asked = Constraint(template=template, target=Act(activity="CheckIn"), correlate="same_resource")
        norm = Norm(force=force, constraints=(asked,))
        texts.add(re.search(r"(\w+(?: not)?) check in", render(small(norm=norm), LEXICON))[1])  # type: ignore[index]
    assert texts == {"must", "must not", "should", "should not", "may", "need not"}


def test_names_become_words() -> None:
    assert [words_of(n) for n in ("CheckIn", "duty_manager", "Send Fine", "ID_check", "SEND_FINE", "HTTPError")] == [
        "check in", "duty manager", "send fine", "ID check", "send fine", "HTTP error",
    ]  # fmt: skip
    assert [event_noun(p) for p in ("check in", "pay the fine", "send fine", "speak to the owner", "patrol", "stop")] == [
        "check-in", "payment of the fine", "fine sending", "speaking to the owner", "patrol", "stopping",
    ]  # fmt: skip
    assert [plural(n) for n in ("waiter", "bill of lading", "invoice for goods", "box", "duty", "key", "chairman", "person")] == [
        "waiters", "bills of lading", "invoices for goods", "boxes", "duties", "keys", "chairmen", "people",
    ]  # fmt: skip
    assert [gerund(v) for v in ("make", "stop", "tie", "see", "greet", "enter", "pay", "patrol")] == [
        "making", "stopping", "tying", "seeing", "greeting", "entering", "paying", "patrolling",
    ]  # fmt: skip
    assert [article(w) for w in ("owner", "user", "hour", "UN envoy", "MP", "“x”", "unit", "uninvited guest", "11 day pass", "8", "7")] == [
        "an", "a", "an", "a", "an", "a", "a", "an", "an", "an", "a",
    ]  # fmt: skip
    assert [times(n) for n in (1, 2, 3, 10)] == ["once", "twice", "three times", "10 times"]


@pytest.mark.parametrize(
    "schema, told",
    [
        (Schema(actions=(Action(name="CheckIn"), Action(name="check_in"))), ("'CheckIn' and 'check_in'", "phrase of its own")),
        (Schema(roles=(Term(name="cook"), Term(name="chef", phrase="cook"))), ("'cook' and 'chef'", "roles.chef")),
        (Schema(actions=(Action(name="a", phrase="look"), Action(name="b", phrase="look at the map"))), ("'look at the map'", "another")),
        (Schema(roles=(Term(name="x", phrase="waiter or cook"),)), ("'or'", "schema.roles.x.phrase")),
        (Schema(roles=(Term(name="x", phrase="waiter. The cook"),)), ("'.'", "plain words")),
        (Schema(actions=(Action(name="x", phrase="pay within two days"),)), ("'within'", "schema.actions.x.phrase")),
        (Schema(actions=(Action(name="x", phrase="wait two days"),)), ("'two days'",)),
        (Schema(actions=(Action(name="x", phrase="pay", noun="the payment"),)), ("'the … at its start'", "noun")),
        (Schema(objects=(Term(name="x", plural="all of it"),)), ("'all'", "plural")),
        (Schema(locations=(Term(name="x", phrase="“bar”"),)), ("'“'",)),
    ],
)  # fmt: skip
def test_phrases_that_break_the_grammar_are_bad_input(schema: Schema, told: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as raised:
        Lexicon.of(schema, RecordLayer())
    assert all(piece in str(raised.value) for piece in told), str(raised.value)


def test_bearers_without_a_role_do_not_borrow_one() -> None:
    people = Lexicon.of(Schema(roles=(Term(name="person"),)), RecordLayer())
    own = Norm(constraints=(small().norm.constraints[0].model_copy(update={"correlate": "same_resource"}),))
    free, named = small(norm=own), small(norm=own, scope={"roles": ("person",)})
    assert render(free, people).startswith(
        "Anyone must check in (“CheckIn”) within 15 minutes after each time they carry out the payment (“Payment”)."
    )
    assert render(named, people).startswith("A person must")
    assert render(free, LEXICON).startswith("A person must")
    # where anybody's act will do, or none opens the case, nobody in particular is bound
    assert render(small(), LEXICON).startswith(
        "Somebody must check in within 15 minutes after each payment in the same case."
    )
    assert render(small(trigger=Trigger()), LEXICON).startswith("Somebody must")
    office = render(
        small(norm=Norm(bearer=Office(role="waiter"), constraints=small().norm.constraints)), LEXICON
    )
    assert office.startswith("A waiter must check in within 15 minutes after each payment in the same case.")
    crew = render(small(norm=own, scope={"roles": ("waiter",)}), LEXICON)
    assert crew.startswith(
        "A waiter must check in within 15 minutes after each time they carry out the payment."
    )
    helped = render(small(scope={"roles": ("waiter",)}), LEXICON)
    assert helped.startswith(
        "Somebody must check in within 15 minutes after each payment by a waiter in the same case."
    )


def constrained(*constraints: dict[str, object], **slots: object) -> str:
    """What a rule on payments asks for, up to its evidence."""
    norm = {"bearer": slots.pop("bearer", "trigger"), "constraints": constraints}
    return render(small(norm=norm, **slots), LEXICON).partition(" Evidence: ")[0]


IN_TIME, BAN = {"template": "response", "deadline": "P1D"}, {"template": "absence", "correlate": "same_case"}
HEARD, CHECKED = {"target": "Speak"}, {"target": "CheckIn"}
OWN, THING = {"correlate": "same_resource"}, {"correlate": "same_object"}


@pytest.mark.parametrize(("constraints", "slots", "text"), [
    # nobody in particular is bound: no clause shares a subject with another
    ((IN_TIME | CHECKED, BAN | HEARD), {},
     "Somebody must check in within one day after each payment in the same case. Nobody may ever speak to the owner after that payment."),
    ((BAN | HEARD | {"template": "not_response"},), {}, "Nobody may speak to the owner after any payment in the same case."),
    # so many of them in all, and not each of those who act
    ((BAN | HEARD | {"count": 3},), {}, "A speaking to the owner must not happen more than twice after any payment in the same case."),
    ((CHECKED | {"template": "exactly"},), {}, "A check-in must happen exactly once after each payment in the same case and before the case closes."),
    # an office is whoever holds it at the time, a person the one who acted
    ((IN_TIME | CHECKED, IN_TIME | HEARD), {"bearer": {"role": "waiter"}},
     "A waiter must check in within one day after each payment in the same case. A waiter must speak to the owner within that time."),
    ((IN_TIME | CHECKED | OWN, IN_TIME | HEARD | OWN), {"scope": {"roles": ["waiter"]}},
     "A waiter must check in within one day after each time they carry out the payment. The same person must speak to the owner within that time."),
    # a ban on one person stands behind what others have to do, and says whose payment it was
    ((IN_TIME | CHECKED, BAN | HEARD | OWN), {"scope": {"roles": ["waiter"]}},
     "Somebody must check in within one day after each payment by a waiter in the same case. A waiter must never speak to the owner after "
     "any time they carry out the payment."),
    ((IN_TIME | CHECKED, BAN | HEARD | OWN), {"bearer": {"role": "waiter"}},
     "A waiter must check in within one day after each payment in the same case. A waiter must never speak to the owner after that payment, if both are by "
     "the same person."),
    # a time without an end is said again
    ((CHECKED | {"template": "precedence"}, HEARD | {"template": "precedence"}), {},
     "Somebody must check in before each payment in the same case. Somebody must speak to the owner before that payment."),
    # order does not matter
    ((CHECKED | {"template": "responded_existence"},), {},
     "Somebody must check in at some point in the case, whether before or after each payment."),
    ((BAN | CHECKED | {"template": "not_coexistence", "deadline": "PT1H"} | THING,), {},
     "Nobody may check in within one hour, whether before or after any payment in the same case, if both are for the same object."),
    ((CHECKED | {"template": "coexistence"},), {"trigger": {"act": "Payment", "channel": "Roster", "window": "P2D"}},
     "Somebody must check in at some point in the case up to the end of the two days after each payment, with neither happening without the "
     "other."),
    # from when
    ((IN_TIME | CHECKED,), {"trigger": {"act": "Payment", "channel": "Roster", "once": "first", "window": "P2D"}},
     "Somebody must check in within one day after the first payment by any one person in the same case. The matter stays open for two days "
     "after that payment, but no time above depends on that."),
    ((IN_TIME | CHECKED | {"after": {"act": "Speak", "channel": "email"}},),
     {"trigger": {"act": "Payment", "channel": "Roster", "window": "P2D"}},
     "Somebody must check in within one day after the next speaking to the owner recorded in the email log after each payment in the same case. This "
     "applies for two days after that payment."),
    # of those who are bound, each or the first in a case; what is waited for next, during the rule's period
    ((IN_TIME | CHECKED | OWN, IN_TIME | HEARD), {"trigger": {"act": "Payment", "channel": "Roster", "once": "first"}},
     "A person must check in within one day after the first time in a case that they carry out the payment. Somebody must speak to the owner "
     "within one day after that payment in the same case."),
    ((CHECKED | {"template": "chain_response"},), {"trigger": {"act": "Payment", "channel": "Roster", "window": "P2D"}},
     "Somebody must check in as the next act after each payment in the same case, during the two days after that payment."),
    # what filters, what does not, and what the rule is about
    ((IN_TIME | CHECKED,), {"bearer": {"role": "waiter"}, "scope": {"roles": ["Cook"], "locations": ["restaurant"], "concerns": ["shift"]}},
     "A waiter must check in within one day after each payment in the same case. This applies at the restaurant. This is meant for kitchen "
     "cooks, but nothing above depends on that. This is about shifts."),
    ((IN_TIME | CHECKED,), {"trigger": {}, "scope": {"roles": ["Cook"], "locations": ["restaurant"], "objects": ["shift"]}},
     "Somebody must check in within one day after the start of each case. This is meant for kitchen cooks, for the restaurant, for a shift, "
     "but nothing above depends on that."),
])  # fmt: skip
def test_a_text_says_whose_act_counts_and_when(
    constraints: tuple[dict[str, object], ...], slots: dict[str, object], text: str
) -> None:
    assert constrained(*constraints, **slots) == text


def test_a_procedure_says_from_when_its_time_runs_and_who_may_appeal() -> None:
    review, appeal = (
        {"stage": "review", "name": "Review", "role": "waiter"},
        {"stage": "appeal", "name": "WrittenAppeal", "role": "Cook"},
    )

    def said(*steps: dict[str, str], force: str = "must") -> str:
        norm = {"force": force, "constraints": [IN_TIME | CHECKED]}
        text = render(small(norm=norm, procedure={"steps": steps, "response_time": "P5D"}), LEXICON)
        return text[text.index("If ") :]

    assert (
        said(review)
        == "If the records show a breach, the waiter reviews the matter within five days of the breach."
    )
    assert (
        said(review, force="may")
        == "If a question arises, the waiter reviews the matter within five days of the question."
    )
    assert said(review, appeal) == (
        "If the records show a breach, the waiter reviews the matter. Those affected may make a written appeal, which goes to the kitchen "
        "cook. Each step is due within five days of the breach."
    )
    assert said(appeal | {"name": "hearing", "inspects": "email"}) == (
        "If the records show a breach, those affected may appeal to the kitchen cook through a hearing, heard on the basis of the email log "
        "within five days of the breach."
    )


# Golden texts


@pytest.fixture(scope="module")
def golden_lexicon() -> Lexicon:
    words = read_data(GOLDEN / "_context.yaml")
    schema = validated(Schema, words["schema"], source="_context.yaml", field="schema")
    return Lexicon.of(
        schema, validated(RecordLayer, words["records"], source="_context.yaml", field="records")
    )


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str, golden_lexicon: Lexicon) -> None:
    data, path = read_data(GOLDEN / f"{name}.yaml"), GOLDEN / f"{name}.txt"
    structure = validated(Structure, data["structure"], source=name, field="structure")
    text = render(structure, golden_lexicon, dates_only=data.get("dates_only", False))
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(text + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text + "\n"
    assert parse(path.read_text(encoding="utf-8"), golden_lexicon) == canonical(structure)


def test_golden_is_a_spread() -> None:
    assert len(CASES) >= 18
    norms = [read_data(GOLDEN / f"{name}.yaml")["structure"]["norm"] for name in CASES]
    assert len({c["template"] for norm in norms for c in norm["constraints"]}) == len(IMPLEMENTED)
    assert {norm.get("force", "must") for norm in norms} == {"must", "should", "may"}


# Verdicts


def row(reason: Reason, **changes: object) -> InstanceVerdict:
    due = Due(datetime(2026, 3, 3, 9, 15), 60, "minute")
    base = InstanceVerdict("C-12", "e1", 0, "indeterminate", reason, (), "W-17", due, None)
    return base._replace(**changes)


def test_every_reason_has_a_neutral_sentence_of_its_own() -> None:
    said = {reason: explain(row(reason), small(), LEXICON) for reason in get_args(Reason)}
    assert len(set(said.values())) == len(said)
    for text in said.values():
        assert text.startswith("In case C-12, ")
        assert len(sentences(text)) == 1
        assert not re.search(r"wrong|fail|breach|guilt|fault|violat|[{}]", text), text


def test_explanations_name_the_act_the_bearer_the_logs_and_the_time() -> None:
    norm = Norm(
        constraints=(
            Constraint(template="response", target=Act(activity="CheckIn"), correlate="same_resource"),
        )
    )
    rule = small(norm=norm, evidence=EvidencePolicy(channels=("checkin_log",)))
    assert explain(row("absent"), rule, LEXICON) == (
        "In case C-12, no check-in by W-17 is recorded in the checkin log after what called for it, by 09:15 on 3 March 2026; that log is complete for that time."
    )
    assert explain(row("late", slack_seconds=-7500.0), rule, LEXICON) == (
        "In case C-12, the record shows a check-in by W-17 in the checkin log, but two hours and five minutes after it was due "
        "(09:15 on 3 March 2026)."
    )
    assert explain(
        row("proven", slack_seconds=172800.0, due=Due(datetime(2026, 3, 3), 0, "day")), rule, LEXICON
    ) == (
        "In case C-12, the record shows a check-in by W-17 in the checkin log by 3 March 2026, with two days to spare."
    )
    assert "by the same person" in explain(row("absent", bearer=None), rule, LEXICON)
    assert "by C\u00a0" not in explain(row("absent", bearer="C\n\tD"), rule, LEXICON)
    # what leaves a record open may be a blank, or the same day as what called for it
    assert "but a missing entry leaves that open" in explain(row("unknown_match"), rule, LEXICON)
    tied = explain(row("unknown_tie", due=Due(datetime(2026, 3, 3), 0, "day")), rule, LEXICON)
    assert "the same recorded day as what called for it, which leaves open which of the two" in tied
    to_the_second = row("unknown_tie", due=Due(datetime(2026, 3, 3, 9, 15), 0, "second"))
    assert "a recorded time that cannot be told from that of what called" in explain(
        to_the_second, rule, LEXICON
    )
    exact = Due(datetime(2026, 3, 3, 9, 15, 2, 500), 0, "microsecond")
    assert "09:15:02.0005 on 3 March 2026" in explain(row("absent", due=exact), rule, LEXICON)


def test_what_did_not_come_first_came_later_or_not_at_all() -> None:
    def precedence(**stated: object) -> Structure:
        duty = {"template": "precedence", "target": "CheckIn", "correlate": "same_case"} | stated
        return small(
            norm=Norm(constraints=(Constraint.model_validate(duty),)),
            evidence=EvidencePolicy(channels=("checkin_log",)),
        )

    assert explain(row("absent"), precedence(), LEXICON) == (
        "In case C-12, no check-in is recorded in the checkin log since the case started, before 09:15 on 3 March "
        "2026, nor after it; "
        "that log is complete for that time."
    )
    assert explain(row("late"), precedence(deadline="P7D"), LEXICON) == (
        "In case C-12, no check-in is recorded in the checkin log within seven days before 09:15 on 3 March 2026, "
        "only after it; that log is complete for that time."
    )
    assert "in the checkin log before 09:15 on 3 March 2026." in explain(row("proven"), precedence(), LEXICON)
    tied = explain(
        row("proven"), precedence(ties="fulfil"), LEXICON
    )  # a row of that very time fulfils it too
    assert "in the checkin log before or at 09:15 on 3 March 2026." in tied
    banned = precedence(template="not_precedence", ties="violate")
    assert "(before or at 09:15 on 3 March 2026)" in explain(row("seen_forbidden"), banned, LEXICON)
    assert "only at that very time or after it" in explain(row("late"), precedence(ties="violate"), LEXICON)


def test_the_other_half_of_a_rule_that_binds_both_acts_names_its_own_acts() -> None:
    both = Constraint(template="succession", target=Act(activity="CheckIn"), correlate="same_case")
    rule = small(norm=Norm(constraints=(both,)), evidence=EvidencePolicy(channels=("checkin_log",)))
    assert rule.trigger.act is not None
    first, second = (explain(row("absent", of_target=half), rule, LEXICON) for half in (False, True))
    assert "no check-in is recorded in the checkin log after what called for it, by" in first
    assert f"no {occurrence(rule.trigger.act, LEXICON)} is recorded" in second
    assert "before 09:15 on 3 March 2026, nor after it" in second


@settings(QUICK, max_examples=examples(80))
@given(
    structures(),
    st.sampled_from(get_args(Reason)),
    st.sampled_from((None, 0.0, 90.0, -86400.0)),
    st.booleans(),
)
def test_any_verdict_of_any_rule_has_a_sentence(
    structure: Structure, reason: Reason, slack: float | None, dated: bool
) -> None:
    changes: dict[str, object] = (
        {"slack_seconds": slack} if dated else {"due": None, "slack_seconds": None, "bearer": None}
    )
    text = explain(row(reason, constraint=len(structure.norm.constraints) - 1, **changes), structure, LEXICON)
    assert text.endswith(".")
    assert len(sentences(text)) == 1, text
