"""Words are found in capital and in small letters, where they stand."""

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import gnrs_ppl.reading
from gnrs_ppl.reading.wording import AsWritten, Wording, needed

MODULES = [m.name for m in pkgutil.walk_packages(gnrs_ppl.reading.__path__, "gnrs_ppl.reading.")]


@pytest.mark.parametrize("module", MODULES)
def test_patterns_have_small_letters_only(module: str) -> None:
    for name, value in vars(import_module(module)).items():
        if isinstance(value, Wording):
            letters = re.sub(r"\\[A-Z]|\(\?P<\w+>", "", value.pattern)
            assert letters == letters.lower(), name


@pytest.mark.parametrize("text", ["We must PAY.", "İstanbul must Pay.", "Must must not, pay"])
def test_words_are_found_where_they_stand(text: str) -> None:
    found = Wording(r"\bpay\b").search(text)
    assert found is not None
    assert text[found.start() : found.end()].lower() == "pay"


def test_what_is_around_replaced_words_stays_as_written() -> None:
    assert Wording(r"\bpay\b").sub(" ", "Pay İt, PAY it") == "  İt,   it"
    assert Wording(r"\bpay\b").sub(" ", "Send It") == "Send It"


@pytest.mark.parametrize(
    ("pattern", "letters"),
    [
        (r"\b(?:must|shall) (?P<how>not|never)\b", ("must", "shall")),
        (r"days?\b", ("day",)),
        (r"(?:no one|one|no)", ("no", "one")),
        (r"x{0,3}(?:abc){2}(?:longer){,2}", ("abc",)),
        (r"(?=before )(?<!after )by", ("by",)),
        (r"(?P<n>x)?(?(n)twice|thrice) ok", (" ok",)),
        (r"[]a-z]+\u20ac(?i:early)a\.?b+c", ("a",)),
        (r"(?:January|in May)", ("in may", "january")),
        (r"(?:once|(?:twice)?)", ()),
        (r"(?:once|)", ()),
        (r"\d+\s*\w?", ()),
    ],
)
def test_what_a_pattern_needs(pattern: str, letters: tuple[str, ...]) -> None:
    assert needed(pattern) == letters


@pytest.mark.parametrize("module", MODULES)
def test_what_is_needed_stands_in_what_is_found(module: str) -> None:
    """The sentences of the tests of reading are texts in which many patterns are found."""
    text = "\n".join(
        p.read_text(encoding="utf-8") for p in sorted(Path(__file__).parent.glob("test_reading_*.py"))
    )
    sentences = re.findall(r'"([A-Z][^"\n]{20,300}[.?])"', text)
    for name, value in vars(import_module(module)).items():
        if isinstance(value, Wording | AsWritten):
            letters, plain = needed(value.pattern), re.compile(value.pattern, re.IGNORECASE)
            for sentence in sentences if letters else ():
                if plain.search(sentence):
                    assert any(w in sentence.lower() for w in letters), (name, sentence)


def test_what_ignores_case_is_found_as_written() -> None:
    found = AsWritten(r"\b(?:pay|send)s?\b")
    assert [m[0] for m in found.finditer("PAY, and Sends it")] == ["PAY", "Sends"]
    assert found.search("ſend İt") is not None
    assert found.search("Nothing is done") is None
    assert found.sub("-", "Pay it") == "- it"
    assert found.sub(lambda m: m[0].upper(), "Pay it") == "PAY it"
