"""What becomes of an instance, as SQL: the verdict before any exception, its breach, the exception, and the row
that is reported (SEMANTICS lines 15 to 20).
"""

from __future__ import annotations

from gnrs_ppl.audit.checkable import ConstraintPlan, RolePlan
from gnrs_ppl.audit.compilation import Compilation
from gnrs_ppl.audit.evidence import ActSearch, Threads, act_rows, evidence
from gnrs_ppl.audit.intervals import add_horizon, case_start
from gnrs_ppl.rule.types import NEGATIVE, NEIGHBOURS, POSITIVE


def add_judged(check: Compilation, p: str, c: ConstraintPlan) -> None:
    """Add ``_judged``: the verdict before any exception (V1 to V3)."""
    absent = "not_preceded" if c.look_back and c.template in NEIGHBOURS else "absent"
    proven = "CASE WHEN e.proof_tie THEN 'tie' ELSE 'proven' END" if c.marks_ties else "'proven'"
    if c.template == "exactly":
        cases = [
            ("e.proven_more", "violated", "'too_many'"),
            ("NOT e.over", "pending", "'open'"),
            ("e.refuted", "violated", "'too_few'"),
            ("e.proven AND e.refuted_more", "satisfied", "'proven'"),
        ]
        doubt = "CASE WHEN e.proven THEN e.doubt_more ELSE e.doubt END"
    elif c.choices:
        cases = [
            ("e.proven_both", "violated", "'too_many'"),
            ("NOT e.over", "pending", "'open'"),
            ("e.refuted", "violated", "'absent'"),
            ("e.proven", "satisfied", "'proven'"),
        ]
        doubt = "e.doubt"
    elif c.template in POSITIVE:
        cases = [
            ("e.proven", "satisfied", proven),
            ("NOT e.over", "pending", "'open'"),
            ("e.refuted", "violated", f"'{absent}'"),
        ]
        doubt = "e.doubt"
    else:
        cases = [
            ("e.proven", "violated", "'seen_forbidden'"),
            ("NOT e.over", "pending", "CASE WHEN e.seen THEN 'seen' ELSE 'unseen' END"),
            ("e.refuted", "satisfied", "'refuted'"),
        ]
        doubt = "e.doubt"
    if c.look_back:
        cases = [case for case in cases if case[1] != "pending"]
    joins = ""
    if c.template in NEIGHBOURS:
        joins = f" LEFT JOIN {p}_other_counted AS b ON b.inst = e.inst"
        between = "coalesce(b.most_possible, 0) > 0"
        cases = [("e.proven AND " + between, "indeterminate", "'unknown_order'"), *cases]
        if c.template == "end":
            cases = [("NOT e.over", "pending", "'open'"), *cases]
        if c.template == "init":
            unkeyed = (
                "CASE WHEN e.key IS NULL THEN 'unknown_key' ELSE 'uncovered' END" if c.key else "'uncovered'"
            )
            cases = [("e.lower_ts IS NULL", "indeterminate", unkeyed), *cases]
    verdict = " ".join(f"WHEN {condition} THEN '{verdict}'" for condition, verdict, _ in cases)
    reason = " ".join(f"WHEN {condition} THEN {reason}" for condition, _, reason in cases)
    check.st.add(
        f"{p}_judged",
        f"Line {'15' if c.template in POSITIVE else '17'}: the verdict of {c.template} before any exception",
        f"""SELECT e.*, CASE {verdict} ELSE 'indeterminate' END AS verdict, CASE {reason} ELSE {doubt} END AS reason
            FROM {p}_target_evidence AS e{joins}""",
    )


def add_breach(check: Compilation, p: str, c: ConstraintPlan, coarsened: bool) -> None:
    """Add ``_breach``: the violated instances and the instant upper_* of their violation (V4); those still
    pending with their due, as an exception on record decides them (X2).
    """
    st = check.st
    due = {part: f"j.upper_{part}" for part in ("ts", "off", "grain")}
    proof = "j.proof_more_" if c.template == "exactly" else "j.proof_"
    ts, grain = (f"{proof}row_ts", f"{proof}row_grain") if coarsened else (f"{proof}ts", f"{proof}grain")
    proof_end, at_end = st.end_of(ts, grain), st.end_of("j.at_ts", "j.at_grain")
    later = (
        f"({proof_end} > {at_end} OR {proof_end} = {at_end} AND coalesce({proof}event_id > j.at_id, TRUE))"
    )
    seen = {
        part: f"CASE WHEN {later} THEN {value} ELSE j.at_{part} END"
        for part, value in (("ts", ts), ("off", f"{proof}off"), ("grain", grain))
    }
    if c.template == "exactly" or c.choices:
        values = {
            part: f"CASE WHEN j.reason = 'too_many' THEN {seen[part]} ELSE {due[part]} END" for part in due
        }
    elif c.template in NEGATIVE and not c.look_back:
        values = seen
    else:
        values = due
    which, pending = "j.verdict = 'violated'", ""
    if c.unless is not None:
        which = "j.verdict IN ('violated', 'pending')"
        values = {
            part: f"CASE WHEN j.verdict = 'pending' THEN {due[part]} ELSE {value} END"
            for part, value in values.items()
        }
        pending = " or the bound of what is pending"
    columns = [f"{value} AS upper_{part}" for part, value in values.items()]
    columns += [f"j.at_{part} AS lower_{part}" for part in due] if c.in_the_meantime else []
    st.add(
        f"{p}_breach",
        f"Line 18: the instant of each violation{pending}",
        f"""SELECT j.inst, j.case_id, {"j.key," if c.key else ""} {"j.thread," if c.threaded else ""} {", ".join(columns)}
            FROM {p}_judged AS j WHERE {which}""",
    )


def add_exception(
    check: Compilation, p: str, c: ConstraintPlan, unless: RolePlan, threads: Threads | None
) -> None:
    """Add ``_unless_evidence``: whether the exception was there before the violation (line 18)."""
    st = check.st
    common = unless.grain if unless.k > 1 else None
    rows = act_rows(st, f"{p}_unless", unless.act, unless.rel, c.key, common=common, threads=threads)
    if c.in_the_meantime:
        since, begun = "the activation", f"{p}_breach"
    else:
        ts, off, grain = case_start(check, "a.upper_")
        horizon = add_horizon(check, f"{p}_unless", unless)
        since = "the start of the case"
        begun = f"""(SELECT a.*, {ts} AS lower_ts, {off} AS lower_off, {grain} AS lower_grain
                  FROM {p}_breach AS a LEFT JOIN cases AS f ON f.case_id = a.case_id {horizon})"""
    st.add(
        f"{p}_unless_interval",
        f"Line 18: from {since} to the violation",
        f"""SELECT b.*, coalesce({st.earlier("b.upper_", "b.lower_")}, FALSE) AS empty FROM {begun} AS b""",
        keep=True,
    )
    evidence(
        st,
        ActSearch(f"{p}_unless", rows, unless.rel, f"{p}_unless_interval", upper="unknown", from_start=True),
        unless,
        match_within=check.records.match_within,
    )


def add_verdict(
    check: Compilation,
    p: str,
    c: ConstraintPlan,
    instances: str,
    *,
    slack: bool,
    late: bool,
    with_breach: bool,
) -> str:
    """Add ``_verdict``: the row of each instance as it is reported."""
    st = check.st
    joins = f"LEFT JOIN {p}_judged AS j ON j.inst = i.inst"
    verdict, reason = ["WHEN NOT i.definite THEN 'indeterminate'"], ["WHEN NOT i.definite THEN 'scope'"]
    witnesses = ["coalesce(j.witnesses, [])"]
    violated = "j.verdict = 'violated'"
    if c.after is not None:
        joins += f" LEFT JOIN {p}_activation AS a ON a.inst = i.inst"
        verdict.append(
            "WHEN a.missing IS NOT NULL THEN CASE a.missing WHEN 'no_after' THEN 'not_activated' ELSE "
            "'indeterminate' END"
        )
        reason.append("WHEN a.missing IS NOT NULL THEN a.missing")
    if check.working.durations:
        verdict.append("WHEN j.inst IS NULL THEN 'indeterminate'")
        reason.append("WHEN j.inst IS NULL THEN 'uncounted'")
    if c.unless is not None:
        joins += f" LEFT JOIN {p}_unless_evidence AS x ON x.inst = i.inst"
        unknown = f"WHEN {violated} AND NOT x.refuted THEN"
        verdict += ["WHEN x.proven THEN 'excused'", f"{unknown} 'indeterminate'"]
        reason += ["WHEN x.proven THEN 'exception'", f"{unknown} 'exception_unknown'"]
        witnesses.append("CASE WHEN x.proven THEN x.witnesses ELSE [] END")
        violated += " AND x.refuted AND NOT x.proven"
    if c.template in NEIGHBOURS and c.template in POSITIVE:
        witnesses.append(f"CASE WHEN {violated} AND j.beside_id IS NOT NULL THEN [j.beside_id] ELSE [] END")
    seconds = "CAST(NULL AS DOUBLE)"
    if late:
        joins += f" LEFT JOIN {p}_late AS l ON l.inst = i.inst"
        if c.template != "exactly":
            reason.append("WHEN j.reason = 'absent' AND l.inst IS NOT NULL THEN 'late'")
        witnesses.append(f"CASE WHEN {violated} AND l.inst IS NOT NULL THEN [l.event_id] ELSE [] END")
    if slack:
        seconds = f"""CASE WHEN j.verdict = 'satisfied' THEN {st.seconds_between("j.upper_", "j.proof_")}
                           WHEN {violated} THEN {st.seconds_between("j.upper_", "l.")} END"""
    breach = ""
    if with_breach:
        joins += f" LEFT JOIN {p}_breach AS w ON w.inst = i.inst"
        breach = ", w.upper_ts AS breach_ts, w.upper_off AS breach_off, w.upper_grain AS breach_grain"
    if check.mutual and instances != "violations":
        breach += f", {'TRUE' if c.opener else 'FALSE'} AS of_target"
    breach += ", i.point" if check.grid is not None else ""
    bearer = "i.bearer" if instances != "violations" else st.bind(f"{p}_bearer", c.bearer or "")
    return st.add(
        f"{p}_verdict",
        f"Lines 18 to 20: {'step' if instances == 'violations' else 'constraint'} {c.index}, "
        f"{c.template}: "
        "the verdict with exceptions, and the row that is reported",
        f"""SELECT i.case_id, i.instance, {c.index} AS "constraint", CASE {" ".join(verdict)} ELSE j.verdict END AS verdict,
                   CASE {" ".join(reason)} ELSE j.reason END AS reason,
                   list_sort(list_distinct({_concatenated(witnesses)})) AS witnesses, {bearer} AS bearer,
                   j.upper_ts + to_minutes(j.upper_off) AS due, j.upper_off AS due_offset, j.upper_grain AS due_grain,
                   {seconds} AS slack_seconds{breach}
            FROM {instances} AS i {joins}""",
    )


def _concatenated(lists: list[str]) -> str:
    joined = lists[0]
    for other in lists[1:]:
        joined = f"list_concat({joined}, {other})"
    return joined
