"""What pages say of the ledger, of the result folders and of constants of the program is so."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from gnrs_ppl.experiments import judging, writers

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *DOCS.glob("*.md"), *(DOCS / "results").glob("*.md")]
RESULTS = (DOCS / "results" / "README.md").read_text()


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_every_look_at_held_out_goals_is_told() -> None:
    looks = (DOCS / "reveals.csv").read_text().splitlines()[1:]
    told = [
        int(number)
        for numbers in re.findall(r"^\| ([\d, ]+) \| \d+ \w+ \|", RESULTS, re.MULTILINE)
        for number in numbers.split(",")
    ]
    assert told == list(range(1, len(looks) + 1))
    assert f"They were {len(looks)} looks" in RESULTS
    assert not [page for page in PAGES if re.search(r"revealed\s+once", page.read_text())]


def test_the_slots_stand_in_the_order_of_their_losses() -> None:
    with (DOCS / "results" / "test" / "slots" / "tables" / "slots.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["replaced by"] == "distractors, as many"]
    losses = {row["slot"]: -float(row["audit F1"]) for row in rows if row["audit F1"]}
    said = re.search(
        r"the (\w+)'s pool by candidates of other goals costs (\S+), the (\w+)'s (\S+), the (\w+)'s (\S+), "
        r"the (\w+)'s (\d\.\d+)\.",
        one_line(RESULTS),
    )
    assert said
    names, figures = said.groups()[::2], said.groups()[1::2]
    assert list(names) == sorted(losses, key=lambda slot: -losses[slot])
    assert list(figures) == [f"{losses[slot]:.3f}" for slot in names]


def test_result_folders_hold_what_the_page_says() -> None:
    for folder in (DOCS / "results" / "test").iterdir():
        assert {"report.md", "tables"} <= {path.name for path in folder.iterdir()}, folder
    for folder in (DOCS / "results" / "dev").iterdir():
        kept = {"config.json", "summary.json", "figures"}
        assert folder.name == "report.md" or {path.name for path in folder.iterdir()} <= kept


def test_every_relative_link_leads_somewhere() -> None:
    for page in PAGES:
        for place in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / place).exists(), f"{page.name}: {place}"


def test_how_much_is_on_disk_together() -> None:
    page = one_line((DOCS / "experiments.md").read_text())
    assert f"rows are on disk for {writers.GOALS} goals at a time, marks for {judging.BATCH} texts" in page
    assert f"Generation of {writers.GOALS} goals is asynchronous" in page
