"""Where a text tells an act, in other words and with words left out; and what the model of relations makes
of the places."""

from __future__ import annotations

import pytest
from fuzz import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gnrs_ppl.context.types import Action, Schema, Term
from gnrs_ppl.reading.constructions import Constructions
from gnrs_ppl.reading.reader import read, vocabulary
from gnrs_ppl.reading.relations import BINARY, UNARY, Marked, frozen, options
from gnrs_ppl.reading.vocabulary import tokens_of
from gnrs_ppl.reading.ways import classes_of, sayings_at, whole_classes
from gnrs_ppl.reading.words import lemmas, similarity

SCHEMA = Schema(
    actions=(
        Action(name="Refuse", phrase="refuse the application"),
        Action(name="Approve", phrase="approve the application"),
        Action(name="Notify", phrase="notify the applicant"),
        Action(name="Deliver", phrase="deliver the parcel"),
        Action(name="CheckIn", phrase="check in"),
        Action(name="T04 Archive_file (complete)"),
        Action(name="Patrol", phrase="patrol"),
    ),
    roles=(Term(name="patrol_member", phrase="patrol member"), Term(name="applicant", phrase="applicant")),
    locations=(Term(name="delivery_station", phrase="delivery station"),),
)


def marked(text: str) -> Marked:
    return Marked(Constructions(text, vocabulary(SCHEMA)))


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("An application that was turned down is archived.", ["Refuse", "T04 Archive_file (complete)"]),
        ("Turn the application down, then let the applicant know.", ["Refuse", "Notify"]),
        ("Approval of an application comes before its refusal.", ["Approve", "Refuse"]),
        ("Nobody hands a parcel over before having signed in.", ["Deliver", "CheckIn"]),
        ("Patrol members wait at the delivery station.", []),
        (
            "The application is looked at; once it has been approved, the file goes to the archive.",
            ["Approve", "T04 Archive_file (complete)"],
        ),
    ],
)
def test_acts_are_found_in_other_words_and_not_in_the_names_of_people_and_places(
    text: str, acts: list[str]
) -> None:
    activities = [m.activity for m in marked(text).mentions if m.best.score >= 0.5]
    assert list(dict.fromkeys(activities)) == acts


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("To find out more, the applicant waits.", []),
        ("The handover of the parcel is agreed.", ["Deliver"]),
        ("The square gets a patrol in the hour after that.", ["Patrol"]),
        ("No applicant gets to touch one.", []),
        ("Take the parcel round to the applicant.", ["Deliver"]),
        ("Bring a parcel there.", ["Deliver"]),
    ],
)
def test_particles_and_compounds_tell_the_acts_they_tell_in_english(text: str, acts: list[str]) -> None:
    assert [m.activity for m in marked(text).mentions if m.best.score >= 0.5] == acts


def test_a_word_left_out_is_taken_from_further_off() -> None:
    told = marked(
        "The application came in on Monday. Whether it was right to refuse is for the court to say."
    ).mentions
    refused = next(m.best for m in told if m.activity == "Refuse")
    assert refused.lent
    assert refused.score < 1


def test_a_verb_and_its_particle_are_one_word_with_synonyms_of_its_own() -> None:
    assert lemmas("turned down", "v") == ("turn down",)
    assert similarity("refuse", "turned down") > similarity("refuse", "turned")
    assert lemmas("turned table", "v") == ()


def test_ways_to_say_an_act_are_classes() -> None:
    assert classes_of("signed in") & classes_of("check in")
    assert not classes_of("banana")
    said = dict(sayings_at(tokens_of("Guards report for duty at six."), 1, frozenset()))
    assert set(said) & whole_classes([("check", "in")])
    assert set(said.values()) == {(1, 2, 3)}


def test_options_of_a_mention_are_probabilities() -> None:
    text = marked(
        "Before an application is approved, the applicant must be notified; nobody may refuse it afterwards."
    )
    chosen = options(text, frozen())
    assert len(chosen) == len(text.mentions) >= 3
    for of_mention in chosen:
        assert sum(o.probability for o in of_mention) == pytest.approx(1)
        assert {o.label for o in of_mention if o.other is None} == set(UNARY)
        assert {o.label for o in of_mention if o.other is not None} == set(BINARY)


@pytest.mark.parametrize("words", ["must never", "must not ever", "may not", "mustn't", "cannot"])
def test_what_is_denied_is_never_read_as_a_duty(words: str) -> None:
    found = read(f"Applicants come often, and patrol members {words} deliver the parcel.", SCHEMA).statements
    assert not any(
        r.template in ("existence", "exactly", "init", "end") for s in found for r in s.readings[:1]
    )


def test_weights_speak_of_known_labels_and_of_no_name_of_a_schema() -> None:
    weights = frozen()
    assert weights.alone.rows.shape == (len(weights.alone.at), len(UNARY))
    assert weights.pair.rows.shape == (len(weights.pair.at), len(BINARY))
    assert any(f.startswith("agrees") for f in weights.agrees)


WORDS = [
    "application",
    "refuse",
    "approved",
    "the",
    "must",
    "not",
    "before",
    "after",
    "deliver",
    "hands",
    "over",
    ",",
    ".",
    "it",
    "unless",
]


@settings(max_examples=examples(80), derandomize=True, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_mentions_stand_in_the_text_in_order_and_share_no_place(words: list[str]) -> None:
    text = marked(" ".join(words))
    places = [(m.at, m.best.used) for m in text.mentions]
    assert places == sorted(places)
    for mention in text.mentions:
        assert all(0 <= i < len(text.tokens) for told in mention.matches for i in told.used)
        assert all(
            a.score >= b.score - 0.005 for a, b in zip(mention.matches, mention.matches[1:], strict=False)
        )
        assert len({told.activity for told in mention.matches}) == len(mention.matches)


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("Members of the patrol check in.", "patrol_member", "Members of the patrol"),
        ("Any of you on the patrol must check in.", "patrol_member", "you on the patrol"),
        ("Each patroller checks in.", "patrol_member", "patroller"),
        ("Patrol people check in.", "patrol_member", "Patrol people"),
        ("The parcel goes to the station for deliveries.", "delivery_station", "station for deliveries"),
    ],
)
def test_names_are_found_turned_round_and_by_other_words_for_a_member(
    text: str, name: str, words: str
) -> None:
    said = Constructions(text, vocabulary(SCHEMA))
    found = [(n.name, text[n.span.start : n.span.end]) for kind in said.names.values() for n in kind]
    assert (name, words) in found
    assert "Patrol" not in [m.activity for m in Marked(said).mentions]


@pytest.mark.parametrize(
    "text", ["Patrol the station.", "The patrol ends at the station.", "The member delivers it."]
)
def test_what_only_resembles_a_turned_name_is_none(text: str) -> None:
    said = Constructions(text, vocabulary(SCHEMA))
    assert not [n for kind in said.names.values() for n in kind if n.score == 0.9]


def test_any_thing_says_what_is_done_to_things() -> None:
    schema = Schema(
        actions=(Action(name="Interact", phrase="handle things"),),
        objects=(Term(name="key", phrase="access key"),),
    )
    scores = {
        text: Marked(Constructions(text, vocabulary(schema))).mentions[0].best.score
        for text in ("They handle the access key.", "They handle the rest.")
    }
    assert scores["They handle the access key."] > 0.9 > scores["They handle the rest."]


def test_a_particle_makes_another_verb() -> None:
    schema = Schema(
        actions=(Action(name="Deliver", phrase="deliver"), Action(name="Check", phrase="check the file"))
    )
    told = {
        text: {
            m.activity
            for m in Marked(Constructions(text, vocabulary(schema))).mentions
            if m.best.score >= 0.5
        }
        for text in ("The file check is carried out.", "The goods are carried.")
    }
    assert told == {"The file check is carried out.": {"Check"}, "The goods are carried.": {"Deliver"}}
