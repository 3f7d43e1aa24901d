"""What is taken at most, each checked before anything is read or allocated (docs/limitations.md)."""

from __future__ import annotations

from typing import Final

TEXT_BYTES: Final = 5_000_000
"""Bytes of a context, rule, weights or configuration file."""
ROWS_BYTES: Final = 500_000_000
"""Bytes of a file of rows or marks."""
UAI_BYTES: Final = 200_000_000
"""Bytes of a network in the UAI text format."""
DRAWS_BYTES: Final = 5 * 2**30
"""Bytes of a netCDF file, and of the arrays that it declares; a run records 4 GiB at most."""
NESTED: Final = 40
"""Levels of mappings and lists in a file."""
VALUES: Final = 100_000
"""Keys and values of a file: PyYAML without libyaml takes a few seconds for so many."""
DIGITS: Final = 18
"""Digits of a whole number in a file."""
LONGEST_NAME: Final = 200
"""Characters of a name, and of the words for it."""
SENTENCE: Final = 2_000
"""Characters of a goal's sentence."""
NAMES: Final = 10_000
"""Names in one list of a schema, record layer or rule."""
GOAL_NAMES: Final = 200
"""Names in one list of a goal: acts that it requires are compared each with each."""
COMPARED: Final = 2_000
"""Names that are compared letter by letter with one that is unknown."""
OPTIONS: Final = 600
"""Options of a slot, candidates times levels: tables of pairs are padded to the square of it."""
PAIRS_OF_OPTIONS: Final = 120_000
"""Pairs of options of two slots, over all pairs of slots: each is scored by every feature and condition."""
GROUPS: Final = 100
"""Groups in a netCDF file; ours have 3."""
VARIABLES: Final = 10_000
"""Variables and attributes in a netCDF file."""
HEAP_ENTRIES: Final = 1_000_000
"""Texts in the heaps of a netCDF file."""
TEMPERATURE: Final = (1e-6, 1e6)
"""Least and greatest temperature of fitted weights."""
YEARS: Final = (1000, 9000)
"""Years of declared instants, as those of a log: offsets and durations are added to them."""
CONSTANT: Final = (15, 9)
"""Digits of a number that a rule compares with, so that no file format rounds it, and decimals among them."""
COMPARISONS: Final = 20_000_000
"""Rows times activations of their case that differ in what rows are compared with: each pair is a row to sort."""
