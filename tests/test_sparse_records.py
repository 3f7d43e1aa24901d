"""Records that lack roles, channels or people, or whose times stand in a named zone: what is missing is left
out, the rest works."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tiers import few

from gnrs_ppl.cli import run
from gnrs_ppl.context.log import read_log
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.context.zone import clock_of, offsets, span
from gnrs_ppl.errors import InputError

ACTS = (
    ("ReceiveOrder", "ann", "clerk"),
    ("CheckStock", "ben", "clerk"),
    ("ShipOrder", "cas", "packer"),
    ("SendInvoice", "dan", "clerk"),
)
CONTEXT = """\
goal:
  id: ship
  intent: After an order was received, it must be shipped within three hours.
schema:
{roles}  actions:
    - {{name: ReceiveOrder, phrase: receive the order, noun: receipt of the order}}
    - {{name: CheckStock, phrase: check the stock, noun: stock check}}
    - {{name: ShipOrder, phrase: ship the order, noun: shipping of the order}}
    - {{name: SendInvoice, phrase: send the invoice, noun: sending of the invoice}}
records:
  log: log.csv
{records}"""
ROLES = "  roles: [clerk, packer]\n"
CHANNELS = "  channels: [{name: shop_log, closed_world: true}]\n"
LATE = 6
"""Of forty cases, those whose order is shipped after seven hours."""


def write(
    folder: Path, columns: tuple[str, ...], roles: str, records: str, person: str | None = None
) -> Path:
    """A context and its log of forty cases with only these columns beside case, activity and time."""
    lines = [",".join(("case_id", "activity", "timestamp", *columns))]
    for case in range(40):
        for hour, (activity, who, role) in enumerate(ACTS, 9):
            late = 5 if case % 7 == 0 and hour > 10 else 0
            cells = {"resource": person or who, "role": role, "channel": "shop_log"}
            time = f"2024-05-{1 + case % 27:02d}T{hour + late:02d}:00:00+02:00"
            lines.append(",".join((f"c{case}", activity, time, *(cells[c] for c in columns))))
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    context = folder / "context.yaml"
    context.write_text(CONTEXT.format(roles=roles, records=records))
    return context


SPARSE = {
    "no roles": (("resource", "channel"), "", CHANNELS, None),
    "no channels": (("resource", "role"), ROLES, "", None),
    "one person": (("resource", "role", "channel"), ROLES, CHANNELS, "ann"),
    "nobody named": (("role", "channel"), ROLES, CHANNELS, None),
    "acts and times alone": ((), "", "", None),
}


@pytest.mark.parametrize("lacking", few(SPARSE, 2))
def test_what_is_missing_is_left_out_of_the_rule(
    lacking: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = write(tmp_path, *SPARSE[lacking])
    assert (
        run(["draft", str(context), "--kernel", "exact", "--out", str(tmp_path / "rule"), "--json"]) == 0
    ), capsys.readouterr().err
    rule = json.loads((tmp_path / "rule" / "rule.json").read_text())["rule"]
    capsys.readouterr()
    constraint = rule["norm"]["constraints"][0]
    assert (rule["trigger"]["act"]["activity"], constraint["target"]["activity"], constraint["deadline"]) == (
        "ReceiveOrder",
        "ShipOrder",
        "PT3H",
    )
    assert run(["audit", str(context), "--rule", str(tmp_path / "rule" / "rule.json"), "--json"]) == (
        1 if SPARSE[lacking][2] else 0
    )
    counts = json.loads(capsys.readouterr().out)["counts"]
    undecided = (
        "violated" if SPARSE[lacking][2] else "indeterminate"
    )  # a channel nobody declared does not speak by its silence
    assert counts["satisfied"] == 40 - LATE
    assert counts[undecided] == LATE
    steps = rule["procedure"]["steps"]
    assert all(step["role"] == "person_in_charge" for step in steps) is not bool(SPARSE[lacking][1])


def test_who_acted_is_refused_where_one_person_did_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = write(tmp_path, *SPARSE["one person"])
    sentence = "Whoever receives an order must not ship it themselves: another person must ship it."
    assert run(["draft", str(context), "--sentence", sentence]) == 3
    assert "names no individuals" in capsys.readouterr().err


def test_a_role_that_is_declared_and_never_recorded_filters_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = write(tmp_path, ("resource", "channel"), ROLES, CHANNELS)
    sentence = "After an order was received, the packer must ship it within three hours."
    out = tmp_path / "rule"
    assert (
        run(["draft", str(context), "--sentence", sentence, "--kernel", "exact", "--out", str(out)]) == 0
    ), capsys.readouterr().err
    assert json.loads((out / "rule.json").read_text())["rule"].get("scope", {}).get("roles", []) == []
    assert run(["audit", str(context), "--rule", str(out / "rule.json"), "--json"]) == 1
    assert '"violated": 6' in capsys.readouterr().out


# Time zones

AMSTERDAM = "Europe/Amsterdam"


def times(folder: Path, *local: str, **stated: str) -> tuple[list[tuple[datetime, int]], tuple[str, ...]]:
    path = folder / "log.csv"
    path.write_text("case_id,activity,timestamp\n" + "".join(f"1,A,{time}\n" for time in local))
    log = read_log(path, RecordLayer.model_validate(stated))
    return log.connection.execute(
        'SELECT "timestamp", "offset" FROM events ORDER BY event_id'
    ).fetchall(), log.findings


def test_a_zone_reads_times_as_zoneinfo_does(tmp_path: Path) -> None:
    clock = ZoneInfo(AMSTERDAM)
    local = [datetime(2023, 1, 1) + timedelta(hours=7 * n, minutes=n % 60) for n in range(3000)]
    rows, _ = times(tmp_path, *(time.isoformat() for time in local), zone=AMSTERDAM)
    for (utc, offset), time in zip(rows, local, strict=True):
        aware = time.replace(tzinfo=clock)
        assert utc == aware.astimezone(UTC).replace(tzinfo=None)
        assert timedelta(minutes=offset) == aware.utcoffset()


def test_a_zone_leaves_times_with_an_offset_alone(tmp_path: Path) -> None:
    rows, _ = times(
        tmp_path, "2024-07-01T12:00:00+05:30", "2024-07-01T12:00:00", "2024-07-01", zone=AMSTERDAM
    )
    assert rows == [
        (datetime(2024, 7, 1, 6, 30), 330),
        (datetime(2024, 7, 1, 10), 120),
        (datetime(2024, 6, 30, 22), 120),
    ]


def test_hours_that_come_twice_or_never_are_counted(tmp_path: Path) -> None:
    rows, findings = times(
        tmp_path, "2024-10-27T02:30:00", "2024-03-31T02:30:00", "2024-03-31T03:30:00", zone=AMSTERDAM
    )
    assert [offset for _, offset in rows] == [120, 60, 120]
    assert any(f.startswith("1 times without offset come twice in Europe/Amsterdam") for f in findings)
    assert any(f.startswith("1 times without offset do not exist in Europe/Amsterdam") for f in findings)


def test_days_of_a_zone_are_as_long_as_its_clocks_have_them() -> None:
    clock = clock_of(None, AMSTERDAM)
    lengths = [
        (end - start + timedelta(microseconds=1)) / timedelta(hours=1)
        for start, end in (
            span(day, clock) for day in (date(2024, 3, 31), date(2024, 4, 1), date(2024, 10, 27))
        )
    ]
    assert lengths == [23, 24, 25]
    assert [s.minutes for s in offsets(AMSTERDAM, [date(2024, 10, 27)])] == [120, 120, 60]


@pytest.mark.parametrize(
    ("records", "says"),
    [
        (
            {"zone": "Europe/Amsterdm"},
            "records.zone: 'Europe/Amsterdm' is no time zone; write one such as Europe/Amsterdam",
        ),
        ({"zone": "../../etc/passwd"}, "records.zone: '../../etc/passwd' is no time zone"),
        ({"offset": "Europe/Amsterdam"}, "a named zone goes under records.zone"),
        ({"offset": "Z", "zone": "UTC"}, "records: offset and zone contradict one another"),
    ],
)
def test_a_clock_that_is_none_names_the_field(
    records: dict[str, str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = tmp_path / "context.json"
    context.write_text(json.dumps({"goal": {"id": "g", "intent": "x"}, "schema": {}, "records": records}))
    assert run(["draft", str(context)]) == 2
    assert says in capsys.readouterr().err


def test_times_without_offset_name_zone_and_offset(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"state records\.zone, such as Europe/Amsterdam, or records\.offset"
    ):
        times(tmp_path, "2024-07-01T12:00:00")
