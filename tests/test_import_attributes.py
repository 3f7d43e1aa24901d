"""Attributes that an import proposes: what becomes one, what is left out, of what it is; and that a sentence on one
is read, drafted and audited without a line written by hand.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

import gnrs_ppl as gnrs
from gnrs_ppl.context.load import load_context
from gnrs_ppl.evaluate.audit_f1 import verdicts
from gnrs_ppl.importing.run import Imported, import_source

HEAD = (
    "case_id,activity,timestamp,role,clerk,total_eur,paid amount,vendor,colour,is_rush,due_date,note,order_nr,weight_kg,"
    "step,fixed,delay,articleCode"
)


def _log(path: Path, cases: int = 60) -> dict[str, tuple[str, float]]:
    """A log drawn at random; what each case has of vendor and total."""
    rng, lines, known = random.Random(2), [HEAD], {}
    for case in range(cases):
        at = datetime(2024, 1, 1, 8) + timedelta(hours=7 * case)
        vendor, total = rng.choice(("Acme", "Blue Ltd")), rng.choice((50.5, 500.0, 5000.25))
        known[f"c{case}"] = vendor, total
        for act in ("Post invoice", *(["Approve invoice"] if rng.random() < 0.6 else []), "Pay invoice"):
            posted = act == "Post invoice"
            row = [
                f"c{case}", act, at.isoformat() + "Z", "office", f"p{rng.randrange(9)}", total if posted else "",
                f"{total}0" if act == "Pay invoice" else "", vendor if posted else "", rng.choice(("green", "red")),
                rng.choice(("True", "False")) if posted else "", f"2024-0{rng.randrange(1, 9)}-15" if posted else "",
                f"remark {rng.random()}", rng.randrange(10**6), round(rng.random() * 9, 2), act, "x",
                "1,5" if rng.random() < 0.5 else "2,5", rng.choice((7, 157)) if posted else "",
            ]  # fmt: skip
            lines.append(",".join(f'"{cell}"' for cell in row))
            at += timedelta(hours=rng.randrange(1, 90))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return known


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Imported, dict[str, tuple[str, float]]]:
    folder = tmp_path_factory.mktemp("import")
    known = _log(folder / "invoices.csv")
    return import_source(folder / "invoices.csv", folder / "out"), known


def test_columns_become_attributes(imported: tuple[Imported, Any]) -> None:
    found = {
        a["name"]: {k: v for k, v in a.items() if k not in ("name", "phrase", "column")}
        for a in imported[0].attributes
    }
    assert found == {
        "total_eur": {"type": "number", "unit": "EUR", "of": "case"},
        "paid amount": {"type": "number"},
        "vendor": {"type": "text", "of": "case", "values": found["vendor"]["values"]},
        "colour": {"type": "text", "values": found["colour"]["values"]},
        "is_rush": {"type": "boolean", "of": "case"},
        "due_date": {"type": "date", "of": "case"},
        "weight_kg": {"type": "number", "unit": "kg"},
        "delay": {"type": "number"},
        "articleCode": {"type": "text", "of": "case", "values": found["articleCode"]["values"]},
    }  # left out: people, remarks, numbers of things, the activity once more, what is the same throughout
    assert {v: set(found[v]["values"]) for v in ("vendor", "colour", "articleCode")} == {
        "vendor": {"Acme", "Blue Ltd"},
        "colour": {"green", "red"},
        "articleCode": {"7", "157"},
    }
    assert imported[0].counts["attributes"] == imported[0].guesses["attribute"] == len(found)
    assert imported[0].as_dict()["attributes"][0]["name"] == next(iter(found))


def test_each_cell_is_read_as_its_type(imported: tuple[Imported, Any]) -> None:
    context = load_context(imported[0].folder / "context.yaml")
    for i, attribute in enumerate(context.records.attributes, 1):
        (unclear,) = (
            context.log.connection.execute(
                f"SELECT count(*) FROM events WHERE attribute_{i}_unclear"
            ).fetchone()
            or ()
        )
        assert unclear == 0, attribute.name
        assert context.profile.attributes[attribute.name].distinct > 1
        held = {
            row[0]
            for row in context.log.connection.execute(
                f"SELECT DISTINCT attribute_{i} FROM events WHERE attribute_{i} IS NOT NULL"
            ).fetchall()
        }
        assert not attribute.values or held == set(attribute.values)


def test_the_screen_and_the_file_show_them(
    imported: tuple[Imported, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    from gnrs_ppl.report.imported import print_import

    print_import(imported[0])
    shown = capsys.readouterr().out
    assert "vendor" in shown
    assert "Acme" in shown
    text = (imported[0].folder / "context.yaml").read_text(encoding="utf-8")
    assert "guessed 0.80: numbers, 50.5 to 5000.25" in text
    assert "one value in each of 60 cases" in text


def test_what_a_person_took_out_stays_out(tmp_path: Path) -> None:
    _log(tmp_path / "invoices.csv", 9)
    import_source(tmp_path / "invoices.csv", tmp_path / "out")
    place = tmp_path / "out" / "context.yaml"
    data = yaml.safe_load(place.read_text(encoding="utf-8"))
    data["records"]["attributes"] = [
        a | ({"unit": "USD"} if a["name"] == "total_eur" else {})
        for a in data["records"]["attributes"]
        if a["name"] != "colour"
    ]
    place.write_text(json.dumps(data), encoding="utf-8")
    again = import_source(tmp_path / "invoices.csv", tmp_path / "out", update=True)
    names = {a["name"]: a for a in again.attributes}
    assert "colour" not in names
    assert names["total_eur"]["unit"] == "USD"


@pytest.mark.usefixtures("rules_alone")
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("above 100 euros", lambda vendor, total: total > 100),
        ("whose vendor is Blue Ltd", lambda vendor, total: vendor == "Blue Ltd"),
    ],
)
def test_a_sentence_on_one_is_audited_at_once(
    imported: tuple[Imported, Any], condition: str, holds: Any
) -> None:
    done, known = imported
    context = load_context(done.folder / "context.yaml")
    sentence = f"Invoices {condition} must be approved before they are paid."
    goal = context.goal.model_copy(
        update={"intent": sentence, "required": (), "triggers": (), "within": None, "force": None}
    )
    rule = gnrs.draft(replace(context, goal=goal, scene=context), kernel="exact", chains=1, steps=1).structure
    approved = {
        case
        for (case,) in context.log.connection.execute(
            "SELECT case_id FROM events WHERE activity = 'Approve invoice'"
        ).fetchall()
    }
    wanted = Counter(
        "not_activated" if not holds(*of) else "satisfied" if case in approved else "violated"
        for case, of in known.items()
    )
    assert Counter(verdicts(rule, context.log).values()) == wanted
