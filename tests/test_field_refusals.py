"""Every refusal of an audit, a draft and an import names what would mend it, and doing that mends it."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from importlib import import_module
from pathlib import Path
from sqlite3 import connect
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import duckdb
import pytest
import small
from refused import lines, recorded, sites
from test_refusals import CHECK_IN, CONSTANT, DATES, NO_PLACE, REVIEWED, context, log, nobody, refused

from gnrs_ppl.cli import run

pytestmark = pytest.mark.usefixtures("rules_alone")

ONE = "rule.norm.constraints.0"
HEAD, *ROWS = small.LOG.splitlines()
BOTH = (
    "\n".join([HEAD, *ROWS, "12,s1,CheckIn,2024-03-04T08:05:00+01:00,ann,waiter,restaurant,roster_log"])
    + "\n"
)
CAN_BOTH = ("records.channels.0.activities", ["StartShift", "Serve", "Excuse", "Review", "CheckIn"])
TWO_LOGS = {"log": BOTH, "context": [CAN_BOTH]}
ALL = ("rule.evidence", {"channels": ["checkin_log", "roster_log"], "operator": "all"})
ANY = ("rule.evidence.operator", "any")
ATTRIBUTES = (
    "records.attributes",
    [
        {"name": "amount", "type": "number", "unit": "EUR"},
        {"name": "hours", "type": "number", "column": "amount", "unit": "h"},
        {"name": "kind", "type": "text"},
        {"name": "fee", "type": "number"},
    ],
)


def with_cells(*cells: tuple[str, str, str]) -> str:
    """The log with the columns amount, kind and fee, whose cells are given in turn, over and over."""
    return (
        "\n".join(
            [
                f"{HEAD},amount,kind,fee",
                *(f"{row},{','.join(cells[i % len(cells)])}" for i, row in enumerate(ROWS)),
            ]
        )
        + "\n"
    )


DATA = {"log": with_cells(("1", "a", ""), ("2", "b", "")), "context": [ATTRIBUTES]}
VARIED = {"log": with_cells(("1", "a", ""), ("2", "b", ""), ("3", "a", "")), "context": [ATTRIBUTES]}
SAME = {"log": with_cells(("1", "a", "")), "context": [ATTRIBUTES]}


def target(**condition: Any) -> tuple[str, Any]:
    """An edit of the rule: its target is a check-in with a condition."""
    return (f"{ONE}.target", {"activity": "CheckIn", "where": [condition]})


def trigger(**condition: Any) -> tuple[str, Any]:
    """An edit of the rule: it opens at a shift's start with a condition."""
    return ("rule.trigger.act", {"activity": "StartShift", "where": [condition]})


PLAIN = (f"{ONE}.target", "CheckIn")
CASE_START = [
    ("rule.trigger.act", ...),
    ("rule.trigger.channel", ...),
    ("rule.norm.bearer", {"role": "waiter"}),
    (f"{ONE}.unless", ...),
]


class Audited(NamedTuple):
    """A rule that is refused on a log, what the line says, and the change that its remedy asks for.

    ``broken`` edits context, rule and log of ``small`` by dotted path; ``mended`` goes on from there.
    """

    problem: str
    remedy: str
    broken: dict[str, Any]
    mended: dict[str, Any]
    limit: tuple[str, str, int] | None = None
    """A limit that is set low, so that a small log reaches it."""


AUDITS = [
    Audited("succession joins two acts, and case start is none", "name the first act as the trigger", {"rule": [*CASE_START, (f"{ONE}.template", "succession")]}, {"rule": [("rule.trigger", {"act": "StartShift", "channel": "roster_log"}), ("rule.norm.bearer", "trigger"), ("rule.evidence.channels", ["checkin_log"])]}),
    Audited("succession binds the target's rows too, which a scope does not reach", "leave the scope out", {"rule": [("rule.scope", {"roles": ["waiter"]}), (f"{ONE}.template", "succession"), (f"{ONE}.unless", ...)]}, {"rule": [("rule.scope", ...), ("rule.evidence.channels", ["checkin_log"])]}),
    Audited("deadline PT15M can end after the window PT10M", "widen the window", {"rule": [("rule.trigger.window", "PT10M")]}, {"rule": [("rule.trigger.window", "PT20M")]}),
    Audited("correlates by same_resource but 0 of the trigger's rows carry a key: it is case start", "correlate by same_case", {"rule": [*CASE_START, (f"{ONE}.correlate", "same_resource"), (f"{ONE}.template", "existence")]}, {"rule": [(f"{ONE}.correlate", "same_case")]}),
    Audited("target and trigger are both 'StartShift', 1 activity instead of 2", "name another activity", {"rule": [(f"{ONE}.target", "StartShift")]}, {"rule": [(f"{ONE}.target", "CheckIn")]}),
    Audited("asks for an act as the activation, and case start is none", "compare with a value", DATA | {"rule": [*CASE_START, (f"{ONE}.template", "existence"), target(attribute="amount", test="at_least", other={"attribute": "amount", "of": "activation"})]}, {"rule": [target(attribute="amount", test="at_least", value=1)]}),
    Audited("goes one way, and succession both", "state each direction as a rule of its own", DATA | {"rule": [(f"{ONE}.template", "succession"), (f"{ONE}.unless", ...), target(attribute="amount", test="at_least", other={"attribute": "amount", "of": "activation"})]}, {"rule": [(f"{ONE}.template", "response")], "log": with_cells(("1", "a", ""), ("2", "b", ""), ("3", "a", ""))}),
    Audited("different_resource is not implemented for chain_response", "use another template", {"rule": [(f"{ONE}.template", "chain_response"), (f"{ONE}.deadline", ...), (f"{ONE}.correlate", "different_resource")]}, {"rule": [(f"{ONE}.template", "response")]}),
    Audited("different_resource with after is not implemented", "name the second act as the trigger", {"rule": [(f"{ONE}.after", {"act": "Serve", "channel": "roster_log"}), (f"{ONE}.correlate", "different_resource")]}, {"rule": [(f"{ONE}.after", ...), ("rule.trigger.act", "Serve")]}),
    Audited("chain_response asks for 1 order of events, but 2 of 2 channels must agree", "use operator any", TWO_LOGS | {"rule": [ALL, (f"{ONE}.template", "chain_response"), (f"{ONE}.deadline", ...), (f"{ONE}.unless", ...)]}, {"rule": [ANY]}),
    Audited("existence of 2 asks for more than 1 act, each in 2 of 2 channels", "use operator any", TWO_LOGS | {"rule": [ALL, (f"{ONE}.template", "existence"), (f"{ONE}.count", 2), (f"{ONE}.unless", ...)]}, {"rule": [ANY]}),
    Audited("succession opens instances at the target's rows in 1 channel, but 2 can record them", "cite one of them", TWO_LOGS | {"rule": [(f"{ONE}.template", "succession"), (f"{ONE}.unless", ...)]}, {"rule": [("rule.evidence.channels", ["checkin_log"])]}),
    Audited("2 of 2 channels must agree on 1 act, but 2 activities are alternatives", "use operator any", TWO_LOGS | {"rule": [ALL, (f"{ONE}.target", {"any_of": [{"activity": "CheckIn"}, {"activity": "Serve"}]}), (f"{ONE}.unless", ...)]}, {"rule": [ANY]}),
    Audited("offsets of the rows lie 25 hours apart, so days of several channels have no order", "use operator any", {"log": BOTH.replace("2024-03-05T18:00:00+01:00", "2024-03-05T18:00:00+14:00", 1).replace("2024-03-05T18:00:00+01:00", "2024-03-05T18:00:00-11:00", 1), "context": [CAN_BOTH], "rule": [ALL, (f"{ONE}.unless", ...)]}, {"rule": [ANY]}),
    Audited("trigger: 'rooster_log' is none of the 3 durable channels", "nearest: 'roster_log'", {"rule": [("rule.trigger.channel", "rooster_log")]}, {"rule": [("rule.trigger.channel", "roster_log")]}),
    Audited("trigger: 'zzz' is none of the 3 durable channels", "name one of them: badge_log, checkin_log, roster_log", {"rule": [("rule.trigger.channel", "zzz")]}, {"rule": [("rule.trigger.channel", "roster_log")]}),
    Audited("channel 'checkin_log' cannot record 'StartShift': 0 rows and not declared", "nearest recorded: 'StartShift' in 'roster_log' (4 rows)", {"rule": [("rule.trigger.channel", "checkin_log")]}, {"rule": [("rule.trigger.channel", "roster_log")]}),
    Audited("0 of 1 evidence channels can record 'CheckIn'", "nearest recorded: 'CheckIn' in 'checkin_log' (2 rows)", {"rule": [("rule.evidence.channels", ["roster_log"]), (f"{ONE}.unless", ...)]}, {"rule": [("rule.evidence.channels", ["checkin_log"])]}),
    Audited("0 of 1 evidence channels can record 'Sing'", "name one of the 5 acts that are recorded, such as 'StartShift' in 'roster_log' (4 rows)", {"rule": [(f"{ONE}.target", "Sing"), (f"{ONE}.unless", ...), ("rule.evidence.channels", ["roster_log"])], "context": [("schema.actions", [*small.CONTEXT["schema"]["actions"], "Sing"])]}, {"rule": [(f"{ONE}.target", "Review")]}),
    Audited("scope.roles: 0 of 11 rows carry role 'waitor'", "nearest: 'waiter' (7 rows); --allow-unrecorded insists", {"rule": [("rule.scope", {"roles": ["waitor"]})]}, {"rule": [("rule.scope", {"roles": ["waiter"]})]}),
    Audited("0 of 4 rows of 'StartShift' in roster_log carry an object", "leave it out of the rule", {"rule": [("rule.trigger.act", {"activity": "StartShift", "object": "shift"})]}, {"rule": [("rule.trigger.act", "StartShift")]}),
    Audited("0 rows of these acts are by a person: all are by resources declared automatic", "use same_case", {"context": [("records.automatic", ["ann", "bob", "eve"])], "rule": [(f"{ONE}.correlate", "same_resource"), (f"{ONE}.unless", ...)]}, {"rule": [(f"{ONE}.correlate", "same_case")]}),
    Audited("resource is 'erp' in all", "use same_case", {"log": small.LOG.replace(",ann,", ",erp,").replace(",bob,", ",erp,").replace(",eve,", ",erp,"), "rule": [(f"{ONE}.correlate", "same_resource"), (f"{ONE}.unless", ...)]}, {"rule": [(f"{ONE}.correlate", "same_case")]}),
    Audited("(end) has no interval end: 0 end activities and no quiet_after", "declare records.case_end", {"rule": [(f"{ONE}.template", "end"), (f"{ONE}.deadline", ...), (f"{ONE}.unless", ...)]}, {"context": [("records.case_end", ["Serve"])]}),
    Audited("to the day", "state a longer deadline", {"log": "".join(row[: row.index("T0") if "T0" in row else row.index("T1")] + row[row.index("+01:00") + 6 :] + "\n" if row is not HEAD else row + "\n" for row in [HEAD, *ROWS])}, {"rule": [(f"{ONE}.deadline", "P3D"), ("rule.procedure.response_time", "P3D")]}),
    Audited("is recorded of events, and a scope is about cases", "declare the attribute of: case", DATA | {"rule": [("rule.scope", {"where": [{"attribute": "amount", "test": "at_least", "value": 1}]})]}, {"context": [("records.attributes.0.of", "case")], "log": with_cells(*[(c, "a", "") for c in "11223333131"])}),
    Audited("0 of 2 rows of 'CheckIn' in checkin_log carry a value of 'fee'", "leave the condition out", DATA | {"rule": [target(attribute="fee", test="at_least", value=1)]}, {"rule": [PLAIN]}),
    Audited("none of the 4 declared attributes is called 'amounts'", "nearest: 'amount'", DATA | {"rule": [target(attribute="amounts", test="at_least", value=1)]}, {"rule": [target(attribute="amount", test="at_least", value=1)]}),
    Audited("none of the 4 declared attributes is called 'zzz'", "name one of them (amount, hours, kind, fee), or declare it under records.attributes", DATA | {"rule": [target(attribute="zzz", test="at_least", value=1)]}, {"rule": [target(attribute="hours", test="at_least", value=1)]}),
    Audited("'amount' is 1 in all 4 rows of 'StartShift' in roster_log of 4 cases that carry it", "leave the condition out", SAME | {"rule": [trigger(attribute="amount", test="at_least", value=1)]}, {"rule": [("rule.trigger.act", "StartShift")]}),
    Audited("more than the 1 that are", "a constant to compare with", VARIED | {"rule": [target(attribute="amount", test="at_least", other={"attribute": "amount", "of": "activation"})]}, {"rule": [target(attribute="amount", test="at_least", value=1)]}, ("gnrs_ppl.audit.data", "COMPARISONS", 1)),
    Audited("'kind' is declared as text (11 values), which has no order to be at_least in", "use equal or one_of", DATA | {"rule": [target(attribute="kind", test="at_least", value="a")]}, {"rule": [target(attribute="kind", test="equal", value="a")]}),
    Audited("'amount' is declared as number (11 values), but 'kind' as text", "compare attributes of one type", DATA | {"rule": [target(attribute="amount", test="equal", other={"attribute": "kind"})]}, {"rule": [target(attribute="amount", test="equal", value=1)]}),
    Audited("in EUR, but 'hours' in h", "compare attributes of one unit", DATA | {"rule": [target(attribute="amount", test="equal", other={"attribute": "hours"})]}, {"context": [("records.attributes.1.unit", "EUR")]}),
    Audited("in EUR, but the rule counts in USD", "state the value in EUR", DATA | {"rule": [target(attribute="amount", test="at_least", value=1, unit="USD")]}, {"rule": [target(attribute="amount", test="at_least", value=1, unit="EUR")]}),
    Audited("is declared as text (11 values), which 7 is not", "put it in quotation marks", DATA | {"rule": [target(attribute="kind", test="equal", value=7)]}, {"rule": [target(attribute="kind", test="equal", value="7")]}),
    Audited("is declared as number (11 values), which '7' is not", "numbers without quotation marks", DATA | {"rule": [target(attribute="amount", test="equal", value="7")]}, {"rule": [target(attribute="amount", test="equal", value=7)]}),
]  # fmt: skip


def audited(folder: Path, *parts: dict[str, Any]) -> int:
    """The exit code of an audit of ``small`` with some edits."""
    edits = {name: [edit for part in parts for edit in part.get(name, ())] for name in ("context", "rule")}
    log = next((part["log"] for part in reversed(parts) if "log" in part), small.LOG)
    small.write(
        folder,
        small.changed(small.CONTEXT, *edits["context"]),
        log,
        small.changed(small.RULE, *edits["rule"]),
    )
    return run(["audit", str(folder / "context.json"), "--rule", str(folder / "rule.json"), "--json"])


def test_a_refused_audit_says_what_mends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = []
    with recorded(monkeypatch) as hits:
        for case in AUDITS:
            if case.limit:
                module, name, value = case.limit
                monkeypatch.setattr(import_module(module), name, value)
            code = audited(tmp_path, case.broken)
            printed = capsys.readouterr()
            if code not in (2, 3) or case.problem not in printed.err or case.remedy not in printed.err:
                faults.append(
                    f"{code} {printed.err.strip() or printed.out[:200]!r} for {case.problem!r}; {case.remedy!r}"
                )
            code = audited(tmp_path, case.broken, case.mended)
            printed = capsys.readouterr()
            if code not in (0, 1):
                faults.append(f"{code} {printed.err.strip()!r} after {case.remedy!r}")
    assert not faults, "\n".join(faults)
    missing = sites("audit/checkable.py", "audit/data.py", "audit/names.py") - hits
    assert not missing, lines(missing)


ELSEWHERE = {
    ("candidates/refusals.py", "'the duty depends on something that no act and no field of the log sho"),
    ("candidates/beside.py", "'the schema names nobody but those who are bound, and the sentence ask"),
}
"""Refusals that the sentences of the reader's tests come by, on schemas of their own."""
AMOUNTS = ("records.attributes", [{"name": n, "type": "number", "unit": "EUR"} for n in ("amount", "fee")])


class Sentence(NamedTuple):
    """A sentence that is refused on ``small``, what the line says, and the change that its remedy asks for."""

    sentence: str
    problem: str
    remedy: str
    mended: str | tuple[tuple[str, Any], ...]
    rows: str = small.LOG
    edits: tuple[tuple[str, Any], ...] = ()
    mended_rows: str = ""


SENTENCES = [
    Sentence("Bananas are yellow.", "states no duty or ban", "say who must, must not or may do what", CHECK_IN),
    Sentence("All contracts must be countersigned.", "no act like 'contracts … countersigned' is in the schema", "name an act that is recorded", CHECK_IN),
    Sentence("After a shift starts, staff must take a nap within 30 minutes.", "(Nap: 0 of 11 rows)", "give one these words as its phrase under schema.actions", (("schema.actions.1.phrase", "take a nap"), ("schema.actions.5", {"name": "Rest", "phrase": "rest on a bench", "noun": "rest"}))),
    Sentence(REVIEWED, "names no individuals: 0 of 1 rows of 'Review' say who acted", "leave the person out", "After a shift starts, the shift must be reviewed within 30 hours.", rows=log(nobody("Review"))),
    Sentence(REVIEWED, "'erp' stands in all rows of StartShift, Review", "say under records.columns.resource which column names who acted", (), rows=CONSTANT, mended_rows=small.LOG),
    Sentence("After a shift starts, another employee than the one who drew up the plan must review it.", "another person than who 'drew' is asked for", "name an act that is recorded", "After a shift starts, another employee than the one who started it must review it."),
    Sentence(CHECK_IN, "the log keeps dates only", "ask for 2 days or more", CHECK_IN.replace("30 minutes", "2 days"), rows=DATES),
    Sentence("After a shift starts, staff must check in at the restaurant.", "the log keeps no places", "say under records.columns.location which column holds it", (), rows=NO_PLACE, mended_rows=small.LOG),
    Sentence("If the weather is bad, staff must check in.", "no field of the log shows 'If the weather is bad'", "leave it out", "Staff must check in.", rows=NO_PLACE),
    Sentence("Staff may not check in later than ten minutes after a shift starts.", "to bar what comes later than 'ten minutes'", "'must … within', or 'only … within'", "Staff must check in within ten minutes after a shift starts."),
    Sentence("After a shift starts, staff must check in before 9 a.m.", "the time 'before 9 a.m'", "state goal.within", (("goal.within", "PT1H"),)),
    Sentence("The cash register must show that staff checked in after the shift started.", "no log like 'cash register' is kept", "name a log that is kept", "The check-in log must show that staff checked in after the shift started."),
    Sentence("The roster must show that staff checked in after the shift started.", "roster_log cannot record 'CheckIn'", "name a log that records it", "The check-in log must show that staff checked in after the shift started."),
    Sentence(f"{CHECK_IN} At least three of our logs must show it.", "checkin_log alone records 'CheckIn'", "ask for fewer logs", f"{CHECK_IN} At least one of our logs must show it."),
    Sentence("The badge reader must show that staff checked in after the shift started.", "the badge_log shows nothing: 0 of 11 rows", "name a log that is kept", "The check-in log must show that staff checked in after the shift started."),
    Sentence("A shift must be reviewed within five days, by another person than the one who started it.", "compares persons only with the act that opens the rule", "leave the person out", "After a shift starts, it must be reviewed within five days."),
    Sentence("After a shift starts whose fee is above 5 EUR, staff must check in.", "0 of 11 rows carry a value of 'fee'", "leave it out", "After a shift starts, staff must check in.", rows=with_cells(("1", "a", "")), edits=(AMOUNTS,)),
    Sentence("After a shift starts that weighs over 40 kilos, staff must check in.", "no attribute of the log holds '40 kilos'", "leave it out", "After a shift starts, staff must check in.", edits=(AMOUNTS,)),
    Sentence("A shift that was started must be reviewed within five days, by another person than the one who served.", "'served' only says of whom another person is meant", "state the duty, and in a sentence of its own who may not do both", "After a shift starts, it must be reviewed within five days. Whoever served must not review it."),
    Sentence("Immediately before staff check in, a shift whose amount is less than the fee must be started.", "compares two records", "say what follows at any time", "Before staff check in, a shift must be started.", rows=with_cells(("1", "a", ""), ("2", "b", "")), edits=(AMOUNTS,)),
    Sentence(f"{CHECK_IN} If it is late, the manager " + ", the owner ".join(f"reviews it on day {n}" for n in range(14)) + ".", "more than the 12 steps", "tell fewer", CHECK_IN),
    Sentence(f"{CHECK_IN} Any breach is reviewed by the waiter union.", "nobody is called 'waiter union'", "name a role of the schema", f"{CHECK_IN} Any breach is reviewed by the manager."),
]  # fmt: skip


def test_a_refused_sentence_says_what_mends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = []
    with recorded(monkeypatch) as hits:
        for case in SENTENCES:
            found = refused(context(tmp_path, case.sentence, *case.edits, rows=case.rows))
            if case.problem not in str(found) or case.remedy not in str(found):
                faults.append(f"{found} for {case.problem!r}; {case.remedy!r}")
            sentence, more = (
                (case.mended, ()) if isinstance(case.mended, str) else (case.sentence, case.mended)
            )
            left = refused(
                context(tmp_path, sentence, *case.edits, *more, rows=case.mended_rows or case.rows)
            )
            if left is not None:
                faults.append(f"{left} after {case.remedy!r}")
    assert not faults, "\n".join(faults)
    missing = sites("candidates/refusals.py", "candidates/beside.py", "candidates/data.py") - hits - ELSEWHERE
    assert not missing, lines(missing)


EVENTS = "case_id,activity,timestamp\na,Open,2026-03-01T09:00:00Z\na,Close,2026-03-02T09:00:00Z\nb,Open,2026-03-03T09:00:00Z\n"
XES = '<log><trace><string key="concept:name" value="a"/>{}</trace></log>'.format(
    "".join(
        f'<event><string key="concept:name" value="{a}"/><date key="time:timestamp" value="2026-03-0{d}T09:00:00Z"/></event>'
        for a, d in (("Open", 1), ("Close", 2))
    )
)
BPMN = '<definitions><process><task id="t1" name="Open claim"/><task id="t2" name="Close claim"/><sequenceFlow sourceRef="t1" targetRef="t2"/></process></definitions>'
OCEL = {
    "eventTypes": [{"name": "Open", "attributes": []}],
    "objectTypes": [{"name": "claim", "attributes": []}],
    "objects": [{"id": "c1", "type": "claim"}],
    "events": [
        {
            "id": f"e{d}",
            "type": "Open",
            "time": f"2026-03-0{d}T09:00:00Z",
            "relationships": [{"objectId": "c1", "qualifier": "of"}],
        }
        for d in (1, 2)
    ],
}
TABLES = (
    "CREATE TABLE ticket (id INTEGER PRIMARY KEY, opened_at TEXT, state TEXT)",
    "INSERT INTO ticket VALUES (1, '2026-03-01T09:00:00', 'open'), (2, '2026-03-02T09:00:00', 'open')",
)
STEPS = "case_id,activity,timestamp,lifecycle\na,open,2026-03-01T09:00:00Z,start\na,open,2026-03-02T09:00:00Z,end\n"
LINE = {"case_id": "a", "activity": "Open", "timestamp": "2026-03-01"}
OCEL_TABLES = (
    "CREATE TABLE event_map_type (ocel_type TEXT, ocel_type_map TEXT)", "INSERT INTO event_map_type VALUES ('Open', 'Open')",
    "CREATE TABLE object_map_type (ocel_type TEXT, ocel_type_map TEXT)", "INSERT INTO object_map_type VALUES ('claim', 'claim')",
    "CREATE TABLE event (ocel_id TEXT, ocel_type TEXT)", "INSERT INTO event VALUES ('e1', 'Open'), ('e2', 'Open')",
    "CREATE TABLE object (ocel_id TEXT, ocel_type TEXT)", "INSERT INTO object VALUES ('c1', 'claim')",
    "CREATE TABLE event_Open (ocel_id TEXT, ocel_time TEXT)", "INSERT INTO event_Open VALUES ('e1', '2026-03-01T09:00:00Z'), ('e2', '2026-03-02T09:00:00Z')",
    "CREATE TABLE object_claim (ocel_id TEXT)", "INSERT INTO object_claim VALUES ('c1')",
    "CREATE TABLE event_object (ocel_event_id TEXT, ocel_object_id TEXT, ocel_qualifier TEXT)", "INSERT INTO event_object VALUES ('e1', 'c1', ''), ('e2', 'c1', '')",
    "CREATE TABLE object_object (ocel_source_id TEXT, ocel_target_id TEXT, ocel_qualifier TEXT)",
)  # fmt: skip


def sqlite(*statements: str) -> bytes:
    """The bytes of a database that some statements make."""
    with closing(connect(":memory:")) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
        return database.serialize()


def parquet() -> bytes:
    """A small log as the bytes of a Parquet file."""
    with TemporaryDirectory() as folder:
        duckdb.sql(
            "SELECT 'a' AS case_id, 'Open' AS activity, TIMESTAMP '2026-03-01 09:00' AS \"timestamp\""
        ).write_parquet(f"{folder}/log")
        return (Path(folder) / "log").read_bytes()


TOO_MUCH = (
    "f'holds more than {",
    "f'holds a line longer than {",
    "f'nests elements deeper than {",
    "f'its context would be larger",
)
"""Limits of size, which the tests of hostile files reach."""
UNREAD = {
    ("importing/database.py", "f'its table {one_line(table, 60)!r} has no columns that can be read'"),
    (
        "importing/events.py",
        "f'its {staging.read:,} rows are not the {rows:,} imported, {joined.row",
    ),  # a fault of ours
    (
        "importing/run.py",
        "f'the context made of it would be refused ({one_line(error.problem, 16",
    ),  # a fault of ours
    ("importing/staging.py", "f'cannot be read ({error.strerror or error})'"),
    ("importing/table.py", "f'is not readable ({problem})'"),
    *(site for site in sites("importing/sql.py")),
}
"""What a damaged disk or a database elsewhere brings about, in tests of their own."""


class Imported(NamedTuple):
    """A source that is refused, what the line says, and the source or options that its remedy asks for."""

    problem: str
    remedy: str
    source: str | bytes
    mended: str | bytes | tuple[str, ...]
    options: tuple[str, ...] = ()
    name: str = "log.csv"
    mended_name: str = ""
    limit: tuple[str, str, int] | None = None


IMPORTS = [
    Imported("is empty", "give a log with events in it", "", EVENTS),
    Imported("has no rows that could be read", "give a log with events in it", EVENTS.splitlines()[0] + "\n", EVENTS),
    Imported("is Parquet under another name", "name it so that it ends in .parquet", parquet(), parquet(), mended_name="log.parquet"),
    Imported("is no column of the event table", "use one of event_id", EVENTS, ("--column", "activity=activity"), ("--column", "act=activity")),
    Imported("no column 'activty'", "did you mean 'activity'?", EVENTS, ("--column", "activity=activity"), ("--column", "activity=activty")),
    Imported("no column looks like a timestamp", "say which: --column timestamp=NAME", EVENTS.replace("timestamp", "x").replace("2026-03-0", "n"), EVENTS),
    Imported("its first line says that ':' parts the cells", "and say so there", "sep=:\n" + EVENTS.replace(",", "|"), "sep=|\n" + EVENTS.replace(",", "|")),
    Imported("names 1 columns, and no row has as many cells", "begin the file with one line", EVENTS.replace("case_id,activity,timestamp", "log"), EVENTS),
    Imported("no cell of 'timestamp' is a time, such as '01. of 03 in 2026'", "--time-format '%d-%m-%Y %H:%M'", EVENTS.replace("2026-03-0", "01. of 03 in 2026").replace("T09:00:00Z", "").replace("20261", "2026").replace("20262", "2026").replace("20263", "2026"), ("--time-format", "%d. of %m in %Y"), ("--column", "timestamp=timestamp")),
    Imported("no cell of 'timestamp' is written as %d/%m/%Y, such as '2026-03-01T09:00:00Z'", "or leave it out", EVENTS, (), ("--column", "timestamp=timestamp", "--time-format", "%d/%m/%Y")),
    Imported("'%d' does not tell the day", "use %Y, ", EVENTS, ("--time-format", "%Y-%m-%dT%H:%M:%S%z"), ("--time-format", "%d")),
    Imported("different activities, more than 2", "--column activity=NAME", "case_id,activity,timestamp,kind\na,Open,2026-03-01T09:00:00Z,x\na,Close,2026-03-02T09:00:00Z,y\nb,Deny,2026-03-03T09:00:00Z,x\n", ("--column", "activity=kind"), limit=("gnrs_ppl.importing.events", "MAX_ACTIVITIES", 2)),
    Imported("none of its 3 rows can be used", "--column", EVENTS.replace("activity", "Activity ").replace("a,", ",").replace("b,", ","), ("--column", "case_id=Activity", "--column", "activity=Activity"), ("--column", "case_id=case_id")),
    Imported("two columns are named 'activity'", "rename one of them", EVENTS.replace("case_id", "activity", 1), EVENTS),
    Imported("'Europe/Amstredam' is no time zone", "give one such as Europe/Amsterdam", EVENTS, ("--zone", "Europe/Amsterdam"), ("--zone", "Europe/Amstredam")),
    Imported("its root is 'logg', not a log", "give an XES log", XES.replace("log>", "logg>"), XES, name="log.xes"),
    Imported("is not well-formed XML", "export or fetch it again", XES[:-20], XES, name="log.xes"),
    Imported("holds a document type", "take the <!DOCTYPE …> out", f"<!DOCTYPE log>{XES}", XES, name="log.xes"),
    Imported("holds no task with a name", "give a BPMN model with named tasks", BPMN.replace("task", "event"), BPMN, name="model.bpmn"),
    Imported("holds more than 1 tasks", "give it in parts", BPMN, BPMN.replace('<task id="t2" name="Close claim"/>', ""), name="model.bpmn", limit=("gnrs_ppl.importing.bpmn", "MOST_TASKS", 1)),
    Imported("bytes; is this the right file?", "is this the right file?", BPMN + " " * 1000, BPMN, name="model.bpmn", limit=("gnrs_ppl.importing.bpmn", "MAX_BPMN", 500)),
    Imported("holds no event that can be read", "give an OCEL 2.0 log with events in it", json.dumps(OCEL | {"events": []}), json.dumps(OCEL), name="log.json"),
    Imported("holds no object, so nothing can be a case", "give a log whose events name objects", json.dumps(OCEL | {"objects": []}), json.dumps(OCEL), name="log.json"),
    Imported("no type of object 'claims'", "did you mean 'claim'?", json.dumps(OCEL), ("--case", "claim"), ("--case", "claims"), name="log.json"),
    Imported("is not readable JSON", "export or fetch it again", json.dumps(OCEL)[:-1], json.dumps(OCEL), name="log.json"),
    Imported("holds more than 1 events or objects", "give the log in parts", json.dumps(OCEL), json.dumps(OCEL | {"events": OCEL["events"][:1]}), name="log.json", limit=("gnrs_ppl.importing.ocel", "MAX_EVENTS", 1)),
    Imported("bytes of JSON", "give an object a line, or OCEL as SQLite", json.dumps(OCEL), sqlite(*OCEL_TABLES), name="log.json", limit=("gnrs_ppl.importing.table", "MAX_JSON", 100)),
    Imported("is not a whole SQLite database", "export or fetch it again", sqlite(*TABLES)[:3000], sqlite(*TABLES), name="log.sqlite"),
    Imported("has no table whose rows have a time", "name a column of times …_at or …_date, or declare it DATE or TIMESTAMP", sqlite(*(statement.replace("opened_at", "opened") for statement in TABLES)), sqlite(*TABLES), name="log.sqlite"),
    Imported("no column says with 'endd' how far an act was", "name a word of 'lifecycle': 'end', 'start'", STEPS, ("--lifecycle", "end=complete"), ("--lifecycle", "endd=complete")),
    Imported("no column or table 'tickets' among those with times", "it has ticket", sqlite(*TABLES), ("--case", "ticket"), ("--case", "tickets"), name="log.sqlite"),
    Imported("is not a whole gzip file", "fetch or export it again", gzip.compress(EVENTS.encode())[:-9], gzip.compress(EVENTS.encode()), name="log.csv.gz"),
    Imported("more than 3 different attributes", "leave out those no rule needs", '{"case_id": "a", "activity": "Open", "timestamp": "2026-03-01", "note": "x"}\n', '{"case_id": "a", "activity": "Open", "timestamp": "2026-03-01"}\n', name="log.jsonl", limit=("gnrs_ppl.importing.staging", "MAX_COLUMNS", 3)),
    Imported("holds 2 lists of objects ('a', 'b')", "give the one with the events", json.dumps({"a": [LINE], "b": [LINE]}), json.dumps([LINE]), name="log.json"),
    Imported("bytes once unpacked", "give it in parts", gzip.compress((XES + " " * 5000).encode()), gzip.compress(EVENTS.encode()), name="log.xes.gz", mended_name="log.csv.gz", limit=("gnrs_ppl.importing.staging", "MAX_BYTES", 1000)),
]  # fmt: skip


def test_a_refused_import_says_what_mends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = []
    with recorded(monkeypatch) as hits:
        for number, case in enumerate(IMPORTS):
            with monkeypatch.context() as within:
                if case.limit:
                    module, name, value = case.limit
                    within.setattr(import_module(module), name, value)
                source, out = tmp_path / case.name, str(tmp_path / f"out{number}")
                source.write_bytes(case.source if isinstance(case.source, bytes) else case.source.encode())
                code = run(["import", str(source), "--out", out, *case.options])
                printed = capsys.readouterr()
                if code not in (2, 3) or case.problem not in printed.err or case.remedy not in printed.err:
                    faults.append(f"{code} {printed.err.strip()!r} for {case.problem!r}; {case.remedy!r}")
                mended, options = (
                    (case.source, case.mended)
                    if isinstance(case.mended, tuple)
                    else (case.mended, case.options)
                )
                source = tmp_path / (case.mended_name or case.name)
                source.write_bytes(mended if isinstance(mended, bytes) else mended.encode())
                code = run(["import", str(source), "--out", out, *options])
                printed = capsys.readouterr()
                if code:
                    faults.append(f"{code} {printed.err.strip()!r} after {case.remedy!r}")
        _imported_again(tmp_path, capsys, faults)
    assert not faults, "\n".join(faults)
    missing = sites("importing") - hits
    missing = {site for site in missing if not site[1].startswith(TOO_MUCH) and site not in UNREAD}
    assert not missing, lines(missing)


def _imported_again(folder: Path, capsys: pytest.CaptureFixture[str], faults: list[str]) -> None:
    """A folder that was edited, or is not the importer's: what is asked for is done in turn."""
    source, out, other = folder / "again.csv", folder / "again", 0
    source.write_text(EVENTS)
    for change, line, options in (
        ("", "", ()),
        (
            "context.yaml",
            "was changed by hand; add --update to keep that, or name a new folder",
            ("--update",),
        ),
        ("import.json", "is not what gnrs import writes; name a new folder", ()),
        ("", "was not written by gnrs import; name a new folder", ()),
    ):
        if change == "import.json":
            (out / "gnrs-manifest.json").unlink()  # which would say that it was changed
        if change:
            (out / change).write_text(
                (out / change).read_text() + "# mine\n" if change.endswith("yaml") else "[]"
            )
        elif line:
            (out / "import.json").unlink()
        update = ("--update",) if line and not options else ()
        code = run(["import", str(source), "--out", str(out), *update])
        printed = capsys.readouterr()
        if line not in printed.err or bool(line) != bool(code):
            faults.append(f"{code} {printed.err.strip()!r} for {line!r}")
        if line and run(
            [
                "import",
                str(source),
                "--out",
                str(out if options else folder / f"other{(other := other + 1)}"),
                *options,
            ]
        ):
            faults.append(f"{capsys.readouterr().err.strip()!r} after {line!r}")
        capsys.readouterr()
