"""RealCharter cards keep the paper's composition, hang together, state nothing unread, and share no sentence
with their sources."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from gnrs_ppl.benchmarks import realcharter
from gnrs_ppl.benchmarks.realcharter import DOCUMENTS, FAMILIES, Card, card, cards
from gnrs_ppl.context.files import read_data, validated
from gnrs_ppl.context.types import Action, Channel, RecordLayer, Schema, Term
from gnrs_ppl.errors import InputError
from gnrs_ppl.evaluate import realcharter as evaluation
from gnrs_ppl.evaluate.realcharter import Expected, expectations, expected
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.rule.types import SLOTS
from gnrs_ppl.rule.types import Stage as RuleStage

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "gnrs_ppl"
DATA_CARD = ROOT / "docs" / "realcharter-bench.md"
SOURCES = Path(os.environ.get("GNRS_REALCHARTER_SOURCES", ROOT.parent / "shared" / "realcharter" / "sources"))
LONGEST_RUN = 7
"""Words in a row a text may share with a source: case and punctuation aside."""

# Paper, Table "Provenance of the 53 RealCharter-Bench tasks": domain, documents, tasks.
COMPOSITION = {
    "oss_governance": ("software", 8, 25),
    "community_rules": ("community", 4, 16),
    "event_platform_safety": ("event", 2, 8),
    "public_handbook": ("workplace", 1, 4),
}
SOURCE_FILES = {
    "python_psf": "python_psf.", "django": "django.", "apache": "apache.", "drupal": "drupal.", "nodejs": "nodejs.", "cncf": "cncf.",
    "debian": "debian.", "contributor_covenant": "contributor_covenant.", "stack_overflow": "stack_overflow.", "wikimedia": "wikimedia_ucoc.",
    "ubuntu": "ubuntu.", "mozilla": "mozilla.", "lf_events": "lf_events.", "numfocus": "numfocus.", "gitlab": "gitlab.",
}  # fmt: skip
NOT_QUOTED = {"imperative", "present tense"}
"""Modals that name a form of the verb in place of its words."""
STORED_AS_EXCERPT = {"RC-NF-1", "RC-GL-1", "RC-GL-4"}
"""Verified, but what is stored of them in English is cut too short to hold every modal."""

needs_sources = pytest.mark.skipif(
    not SOURCES.is_dir(), reason="the source texts are not at hand (GNRS_REALCHARTER_SOURCES)"
)
every_card = pytest.mark.parametrize("one", cards(), ids=lambda c: c.id)
every_pair = pytest.mark.parametrize(
    "one, want", list(zip(cards(), expectations(), strict=True)), ids=[c.id for c in cards()]
)


def test_composition_is_the_papers() -> None:
    tasks = Counter(c.family for c in cards())
    for family, (domain, documents, count) in COMPOSITION.items():
        of_family = [c for c in cards() if c.family == family]
        assert tasks[family] == count
        assert {c.domain for c in of_family} == {domain}
        assert len({c.document for c in of_family}) == documents
    assert tuple(COMPOSITION) == FAMILIES
    assert len(cards()) == 53
    assert len({c.document.title for c in cards()}) == len(DOCUMENTS) == 15


def test_ids_count_up_within_a_document() -> None:
    assert [c.id for c in cards()] == [
        f"RC-{letters}-{n}"
        for letters, stem in DOCUMENTS.items()
        for n in range(1, 1 + sum(_letters(c) == letters for c in cards()))
    ]
    assert sorted(p.stem for p in (realcharter.HERE / "cards").glob("*.yaml")) == sorted(DOCUMENTS.values())


def test_bases_and_what_is_verified() -> None:
    assert Counter(c.basis for c in cards()) == {"T": 36, "C": 7, "P": 9, "K": 1}
    assert all(c.verified for c in cards() if c.basis == "T")
    assert not any(c.verified for c in cards() if c.basis in "PK")
    assert sorted(c.id for c in cards() if c.basis == "C" and c.verified) == [
        "RC-LF-1",
        "RC-LF-2",
        "RC-LF-4",
        "RC-NF-1",
    ]


@pytest.mark.parametrize("one", [c for c in cards() if not c.verified], ids=lambda c: c.id)
def test_an_unverified_card_holds_no_number(one: Card) -> None:
    told = [
        one.context,
        one.summary,
        *(item.phrase for item in (*one.triggers, *one.conduct, *one.channels, *one.procedure)),
    ]
    counted = r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|daily|weekly|monthly|quarterly|yearly|hours?|days?|weeks?|months?)\b"
    assert not re.search(counted, " ".join(told), re.IGNORECASE)
    assert one.numbers == "not checked"


def test_near_duplicates_go_both_ways() -> None:
    pairs = {(c.id, other) for c in cards() for other in c.near_duplicate_of}
    assert pairs == {(b, a) for a, b in pairs}
    assert pairs == {
        (a, b)
        for x, y in (("AP-1", "DB-1"), ("DJ-3", "CC-3"), ("MZ-4", "NF-3"))
        for a, b in ((f"RC-{x}", f"RC-{y}"), (f"RC-{y}", f"RC-{x}"))
    }


@every_card
def test_names_follow_the_projects_style_and_give_plain_words(one: Card) -> None:
    acts, rest = (*one.triggers, *one.conduct), (*one.roles, *one.objects, *one.channels, *one.procedure)
    assert all(re.fullmatch(r"(?:[A-Z][a-z]*)+", item.name) for item in acts)
    assert all(re.fullmatch(r"[a-z]+(?:_[a-z]+)*", item.name) for item in rest)
    Lexicon.of(
        Schema(
            roles=one.roles,
            objects=one.objects,
            actions=tuple(Action(name=a.name, phrase=a.phrase) for a in acts),
            steps=tuple(Term(name=s.name, phrase=s.phrase) for s in one.procedure),
        ),
        RecordLayer(channels=tuple(Channel(name=c.name, phrase=c.phrase) for c in one.channels)),
    )


def test_context_and_summary_are_sentences() -> None:
    assert all(c.context.endswith(".") and c.context.count(". ") == 0 for c in cards())
    assert all(c.summary.endswith(".") for c in cards())


def test_stages_and_slots_are_those_of_a_rule() -> None:
    assert get_args(realcharter.Stage) == get_args(RuleStage)
    assert get_args(evaluation.PlacedNumber.model_fields["slot"].annotation) == SLOTS


BROKEN = {
    "a permission among the duties": ({"required": [_ACT := {"name": "Act", "phrase": "act", "force": "may", "modal": "may"}]}, "force 'may'"),
    "a force no act bears": ({"force": "must_not"}, "has its force"),
    "an act by a stranger": ({"required": [_ACT | {"force": "must", "role": "stranger"}]}, "role 'stranger'"),
    "a look into no channel": ({"procedure": [{"stage": "review", "name": "look", "phrase": "look", "role": "leader", "inspects": "diary"}]}, "channel 'diary'"),
    "an act twice": ({"required": [_ACT | {"force": "must"}] * 2}, "stands there twice"),
    "numbers on an unverified card": ({"verified": False, "numbers": []}, "numbers are 'not checked'"),
    "unchecked numbers on a verified card": ({"numbers": "not checked"}, "numbers are 'not checked'"),
    "no number and no word for it": ({"numbers": []}, "write 'none stated'"),
    "a verified act without its modal": ({"required": [_ACT | {"force": "must", "modal": None}]}, "a modal is stated"),
    "an unknown unit": ({"numbers": [{"value": 1, "unit": "moons", "bound": "at most", "force": "must", "limits": "all"}]}, "unit"),
    "an unknown field": ({"norm": "x"}, "unknown field"),
    "a strange id": ({"id": "RC-psf-1"}, "id"),
}  # fmt: skip


@pytest.mark.parametrize("change, told", BROKEN.values(), ids=BROKEN)
def test_a_broken_card_is_refused(change: dict[str, Any], told: str) -> None:
    sound = {
        "id": "RC-XX-1", "family": "oss_governance", "domain": "software", "section": "One", "basis": "T", "verified": True,
        "document": dict.fromkeys(("title", "publisher", "version", "licence", "address"), "x"), "context": "It is so.",
        "roles": ["leader"], "triggers": [{"name": "Start", "phrase": "start"}], "summary": "Do it.", "force": "must",
        "required": [_ACT | {"force": "must", "modal": "must"}], "permitted": [], "forbidden": [],
        "channels": [{"name": "book", "phrase": "book"}], "objects": [], "numbers": "none stated",
        "procedure": [{"stage": "review", "name": "look", "phrase": "look", "role": "leader", "inspects": "book"}],
    }  # fmt: skip
    assert validated(Card, sound, source="sound").required[0].name == "Act"
    with pytest.raises(InputError, match=re.escape(told)):
        validated(Card, sound | change, source="broken.yaml")


@pytest.mark.parametrize("find", [card, expected])
def test_a_wrong_id_gets_one_line_with_the_nearest(find: Any) -> None:
    assert find("RC-GL-4").id == "RC-GL-4"
    with pytest.raises(InputError, match="did you mean 'RC-PSF-"):
        find("RC-PSF-9")
    with pytest.raises(InputError, match="is no card"):
        find("zzz")


@every_pair
def test_expected_speaks_the_cards_words(one: Card, want: Expected) -> None:
    assert want.id == one.id
    forces = {act.name: act.force for act in one.conduct}
    bearers = {act.name: act.role for act in one.conduct}
    assert set(want.scope.roles) <= {r.name for r in one.roles}
    assert set(want.scope.objects) <= {o.name for o in one.objects}
    assert set(want.trigger.any_of) <= {t.name for t in one.triggers}
    assert want.norm.force == one.force
    assert {name: forces.get(name) for name in want.norm.acts} == want.norm.acts
    assert set(want.evidence.decisive) <= {c.name for c in one.channels}
    order = [s.name for s in one.procedure]
    assert [name for name in order if name in want.procedure.steps] == list(want.procedure.steps)
    bound = {bearers[name] for name, force in want.norm.acts.items() if force != "may" and bearers[name]}
    assert bound <= set(want.scope.roles)


@every_pair
def test_expected_is_a_choice_with_a_decisive_act(one: Card, want: Expected) -> None:
    forces = set(want.norm.acts.values())
    assert want.norm.force in forces or (want.norm.force == "should" and "should_not" in forces)
    chosen = (
        len(want.norm.acts)
        + len(want.evidence.decisive)
        + len(want.procedure.steps)
        + len(want.scope.roles)
        + len(want.trigger.any_of)
    )
    listed = len(one.conduct) + len(one.channels) + len(one.procedure) + len(one.roles) + len(one.triggers)
    assert chosen < listed


@every_pair
def test_every_number_is_placed_once(one: Card, want: Expected) -> None:
    stated = Counter((n.value, n.unit, n.bound) for n in one.stated_numbers)
    assert Counter((n.value, n.unit, n.bound) for n in want.numbers) == stated
    places = {
        "scope": {t.name for t in (*one.roles, *one.objects)},
        "trigger": {t.name for t in one.triggers},
        "norm": {a.name for a in one.conduct},
        "evidence": {c.name for c in one.channels},
        "procedure": {s.name for s in one.procedure},
    }
    assert all(n.of in places[n.slot] for n in want.numbers)


def test_only_evaluation_and_experiments_read_what_is_expected() -> None:
    readers = {
        p.relative_to(PACKAGE).parts[0]
        for p in PACKAGE.rglob("*.py")
        if "gnrs_ppl.evaluate.realcharter" in _imported(p)
    }
    assert readers <= {"evaluate", "experiments"}
    assert "gnrs_ppl.evaluate.realcharter" in _imported(Path(__file__))


def test_the_cards_are_light() -> None:
    probe = (
        "from gnrs_ppl.benchmarks.realcharter import cards; assert len(cards()) == 53; import sys; "
        "heavy = {'jax', 'duckdb', 'numpyro', 'sqlglot', 'pandas', 'gnrs_ppl.evaluate'} & set(sys.modules); assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_data_card_counts_what_is_there() -> None:
    text = DATA_CARD.read_text()
    for basis in "TCPK":
        of_basis = [c.verified for c in cards() if c.basis == basis]
        assert re.search(rf"\| {basis} \| .+ \| {len(of_basis)} \| {sum(of_basis)} \|", text), basis
    verified = sum(c.verified for c in cards())
    assert f"{verified} verified, {53 - verified} unverified" in text
    listed = text.partition("Unverified: ")[2].partition(". ")[0].split(", ")
    assert listed == [c.id.removeprefix("RC-") for c in cards() if not c.verified]
    numbered = text.partition("state numbers (")[2].partition(")")[0].split(", ")
    assert numbered == [c.id.removeprefix("RC-") for c in cards() if c.stated_numbers]
    assert f"the {sum(c.numbers == 'none stated' for c in cards())} with" in text
    inferred = [[channel.inferred for channel in c.channels] for c in cards()]
    assert (
        f"{sum(map(sum, inferred))} of {sum(map(len, inferred))} are, on {sum(map(all, inferred))} cards all"
        in text
    )


def test_words_and_runs_see_through_markup() -> None:
    text = 'We <strong>shall</strong> [act](https://a.b/c), said "{ -brand-name-mozilla }": don’t stop!'
    assert _words(text) == ["we", "shall", "act", "said", "mozilla", "don't", "stop"]
    assert list(_runs(_words("shall act, said"), 2)) == [("shall", "act"), ("act", "said")]


@needs_sources
def test_no_text_shares_a_sentence_with_a_source() -> None:
    known = {run for p in sorted(SOURCES.iterdir()) for run in _runs(_words(p.read_text()), LONGEST_RUN + 1)}
    for path in [*(realcharter.HERE / "cards").glob("*.yaml"), *evaluation.HERE.glob("*.yaml"), DATA_CARD]:
        texts = _texts(read_data(path)) if path.suffix == ".yaml" else path.read_text().split("\n\n")
        shared = next(
            (run for text in texts for run in _runs(_words(text), LONGEST_RUN + 1) if run in known), None
        )
        assert shared is None, f"{path.name} shares with a source: {' '.join(shared or ())}"


@needs_sources
def test_modals_and_numbers_stand_in_the_sources() -> None:
    spelled = {2: "two", 5: "five", 6: "six", 7: "seven", 30: "thirty"}
    for letters, stem in DOCUMENTS.items():
        files = [p for p in SOURCES.iterdir() if p.name.startswith(SOURCE_FILES[stem])]
        source = " ".join(" ".join(_words(p.read_text())) for p in files)
        for one in (c for c in cards() if _letters(c) == letters):
            for act in one.conduct:
                if act.modal is not None and act.modal not in NOT_QUOTED and one.id not in STORED_AS_EXCERPT:
                    assert f" {' '.join(_words(act.modal))} " in source, (one.id, act.name, act.modal)
            for number in one.stated_numbers:
                if number.value != 1:  # a week, once, annually: one is rarely written as a number
                    ways = [
                        f"{number.value}",
                        f"{number.value:,}".replace(",", " "),
                        spelled.get(number.value, "-"),
                    ]
                    assert any(f" {way} " in source for way in ways), (one.id, number)


def _letters(one: Card) -> str:
    return one.id.split("-")[1]


def _imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _words(text: str) -> list[str]:
    plain = re.sub(r"\{ -brand-name-([a-z]+) \}", r"\1", text.replace("’", "'"))
    plain = re.sub(r"\]\([^)]*\)|<[^<>]*>", " ", plain)
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", plain.casefold())


def _runs(words: list[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[i : i + length]) for i in range(len(words) - length + 1))
