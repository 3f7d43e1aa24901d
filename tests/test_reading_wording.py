"""Words are found in capital and in small letters, where they stand."""

import pkgutil
import re
from importlib import import_module

import pytest

import gnrs_ppl.reading
from gnrs_ppl.reading.wording import Wording

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
