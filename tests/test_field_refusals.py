"""Every refusal of an audit, a draft and an import names what would mend it, and doing that mends it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import small
from refused import lines, recorded, sites
from test_refusals import CHECK_IN, CONSTANT, DATES, NO_PLACE, REVIEWED, context, log, nobody, refused

from gnrs_ppl.cli import run

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
    ("candidates/refusals.py", "either_of(readings, unheld)"),  # two acts that the same words may mean
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
    Sentence("Whoever checks in is supposed to do so with a smile.", "states no condition", "say after or before which recorded act it is due", "Whoever checks in is supposed to have started a shift before."),
    Sentence(REVIEWED, "names no individuals: 0 of 1 rows of 'Review' say who acted", "leave the person out", "After a shift starts, the shift must be reviewed within 30 hours.", rows=log(nobody("Review"))),
    Sentence(REVIEWED, "'erp' stands in all rows of StartShift, Review", "say under records.columns.resource which column names who acted", (), rows=CONSTANT, mended_rows=small.LOG),
    Sentence("After a shift starts, another employee than the one who drew up the plan must review it.", "another person than who 'drew' is asked for", "name an act that is recorded", "After a shift starts, another employee than the one who started it must review it."),
    Sentence("After a shift starts, staff must check in, until the moon is full.", "'until the moon is full' was not read", "state the goal's fields", (("goal.required", ["CheckIn"]),)),
    Sentence(CHECK_IN, "the log keeps dates only", "ask for 2 days or more", CHECK_IN.replace("30 minutes", "2 days"), rows=DATES),
    Sentence("After a shift starts, staff must check in at the restaurant.", "the log keeps no places", "say under records.columns.location which column holds it", (), rows=NO_PLACE, mended_rows=small.LOG),
    Sentence("If the weather is bad, staff must check in.", "no field of the log shows 'If the weather is bad'", "leave it out", "Staff must check in.", rows=NO_PLACE),
    Sentence("After a shift starts, pregnant waiters must check in.", "shows 'pregnant'", "leave it out", "After a shift starts, waiters must check in."),
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
