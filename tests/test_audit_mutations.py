"""Mutations of the compiler are caught: each changes one thing in its source, and the agreement with the
oracle must break.

A mutant is the compiler's own source with one piece of text replaced, loaded beside the real one. It is
caught when some pair of the battery has another verdict, reason, witness, due or slack than the oracle gives
it. A mutant that only raises is no such catch, as the compiler's own guards see it without an oracle: it is
counted apart. The fast tier has few pairs, which must catch almost all mutants; the full tier says which
needed the others.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Literal, NamedTuple

import duckdb
import oracle
import tiers
from agreement import procedure_verdicts
from pairs import OPERATORS, random_pair

from gnrs_ppl.audit import types as audit_types
from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import Query, compile_rule
from gnrs_ppl.audit.run import execute
from gnrs_ppl.audit.types import InstanceVerdict
from gnrs_ppl.context.log import Event, EventLog, resolved
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.rule.types import IMPLEMENTED, Structure

CAUGHT = 0.95
MODULES = (
    "sql", "calendar", "zoned", "twice", "checkable", "corroboration", "evidence",
    "compilation", "instances", "intervals", "outcomes", "compile", "run",
)  # fmt: skip
"""Load order: each after those it imports."""
FOLDER = Path(audit_types.__file__).parent

SEEDS = (0, 1, 2)
Key = tuple[int, str, str]
"""Seed, template and operator of a pair."""
FEW: tuple[Key, ...] = (
    (0, "coexistence", "at_least"), (0, "existence", "all"), (0, "not_response", "any"), (0, "end", "at_least"), (0, "exactly", "any"),
    (0, "chain_response", "at_least"), (1, "exactly", "any"), (0, "existence", "any"), (1, "succession", "all"), (0, "precedence", "all"),
    (1, "response", "at_least"), (1, "not_response", "at_least"), (0, "response", "any"), (0, "chain_precedence", "any"),
    (0, "init", "any"), (0, "init", "at_least"), (1, "end", "at_least"), (0, "succession", "any"), (0, "coexistence", "any"),
    (1, "alternate_response", "any"), (0, "alternate_precedence", "any"), (4, "not_chain_response", "any"), (4, "exclusive_choice", "any"),
    (0, "alternate_succession", "any"), (2, "exclusive_choice", "any"), (5, "exclusive_choice", "any"),
)  # fmt: skip
"""The pairs of the fast tier: the full run says of each mutant that they miss that it needed the others."""

Outcome = Literal["caught by few", "caught by others", "raised", "missed"]


class Mutation(NamedTuple):
    """Replace ``old`` (which must stand there) by ``new`` in a module of the compiler.

    ``by`` is the place in FEW of a pair that shows it, which is asked first; the others are where it does not.
    """

    what: str
    module: str
    old: str
    new: str
    procedure: bool = False
    by: int = 0


MUTATIONS = [
    # line 1: matching
    Mutation("the role of an act is not looked at", "evidence", '("activity", "location", "object", "role") if (value := getattr(one', '("activity", "location", "object") if (value := getattr(one', by=2),
    Mutation("the location of an act is not looked at", "evidence", '("activity", "location", "object", "role") if (value := getattr(one', '("activity", "object", "role") if (value := getattr(one', by=2),
    Mutation("an unknown match is proof", "evidence", "coalesce(matched, FALSE) AS definite", "coalesce(matched, TRUE) AS definite", by=2),
    Mutation("an unknown match is silence", "evidence", "WHERE matched IS NOT FALSE", "WHERE matched", by=0),
    Mutation("a row without timestamp is definite", "evidence", 'for column in ("timestamp", own_key) if column', "for column in (own_key,) if column", by=0),
    Mutation("a row without key is definite", "evidence", 'for column in ("timestamp", own_key) if column', 'for column in ("timestamp",)', by=0),
    Mutation("a row without channel counts for none", "evidence", "+ blank AS most_possible", "AS most_possible", by=0),
    Mutation("a row without channel breaks no silence", "evidence", "coalesce({possible} + c.blank, 0) AS possible", "coalesce({possible}, 0) AS possible", by=0),
    # lines 3 and 5: operator, proof, refutation
    Mutation("all asks for one", "checkable", "k = policy.needed(len(rel))", "k = 1", by=1),
    Mutation("one silent channel too few refutes", "checkable", "return self.n - self.k + 1", "return max(self.n - self.k, 1)", by=4),
    Mutation("rows of all logs add up to a proof", "evidence", "coalesce(c.most, 0) >= {b}", "coalesce(c.total, 0) >= {b}", by=4),
    Mutation("an unknown key reads as silence", "evidence", '(["p.key IS NOT NULL"] if rows.keyed else [])', "[]", by=0),
    Mutation("one row more is needed", "evidence", "coalesce(c.most, 0) >= {b}", "coalesce(c.most, 0) > {b}", by=0),
    Mutation("silence with one row too many", "evidence", "count(*) FILTER (WHERE possible < {b})", "count(*) FILTER (WHERE possible <= {b})", by=0),
    Mutation("uncovered and open world swapped", "evidence", "'{\"uncovered\" if refutable else \"open_world\"}'", "'{\"open_world\" if refutable else \"uncovered\"}'", by=0),
    Mutation("split and uncorroborated swapped", "evidence", "THEN 'split' ELSE 'uncorroborated' END", "THEN 'uncorroborated' ELSE 'split' END", by=1),
    # every bound value stays in the text: one that no text names is refused before there is a verdict
    Mutation("rows far apart corroborate", "corroboration", 'else f"reach >= {instant} - {self.within}"', 'else f"reach >= {instant} - 1000 * {self.within}"', by=1),
    Mutation("the nearest rows of too few channels", "corroboration", "self.role.k)}]\"", "self.role.k)} - 1]\"", by=1),
    Mutation("any completion in a series will do", "corroboration", "coalesce(reach > max(reach)", "coalesce(reach < max(reach)", by=10),
    Mutation("the first row of n proves", "evidence", "WHERE nth = {bound} GROUP BY inst", "WHERE nth = 1 GROUP BY inst", by=6),
    # line 4: coverage
    Mutation("coverage up to the start is enough", "evidence", "WHERE v.ends >= {st.passed(\"u.upper_ts\", \"u.upper_grain\")}", "WHERE v.ends >= u.lower_ts", by=0),
    Mutation("coverage is not clipped", "instances", "least(g.ends, o.ends) AS ends", "g.ends AS ends", by=2),
    Mutation("coverage of another channel", "evidence", "ON v.channel = u.channel AND v.begins <= u.lower_ts", "ON v.begins <= u.lower_ts", by=0),
    # lines 6 to 8: scope, trigger, bearer
    Mutation("the scope's roles filter an office's trigger", "instances", '"role": () if office else structure.scope.roles', '"role": structure.scope.roles', by=9),
    Mutation("the scope's locations do not filter", "instances", '"location": structure.scope.locations', '"location": ()', by=7),
    Mutation("first per case, not per bearer", "instances", 'else "case_id, bearer, definite"', 'else "case_id, definite"', by=5),
    Mutation("first is the last", "instances", "ORDER BY {st.end_of(\"ts\", \"grain\")}, event_id) = 1", "ORDER BY {st.end_of(\"ts\", \"grain\")} DESC, event_id) = 1", by=5),
    Mutation("the office is not asked of the target", "checkable", "norm.target(constraint)", "constraint.target", by=9),
    # lines 9 to 14: activation and interval
    Mutation("the closing row may lie before the activation", "intervals", '"Line 9: the row that closes the case", tie_in=True', '"Line 9: the row that closes the case", tie_in=False', by=1),
    Mutation("the window runs from the second activation", "intervals", "e.lower_ts AS start_ts, e.lower_off AS start_off, e.lower_grain AS start_grain", "r.ts AS start_ts, r.off AS start_off, r.grain AS start_grain", by=11),
    Mutation("an unknown second activation is none", "intervals", "THEN 'after_unknown' ELSE", "THEN 'no_after' ELSE", by=7),
    Mutation("correlation is dropped", "evidence", " AND s.key IS NOT DISTINCT FROM p.wanted", "", by=7),
    Mutation("rows without a key are passed over", "evidence", "UNION ALL SELECT *, CAST(NULL AS VARCHAR) AS wanted FROM {probes} WHERE key IS NOT NULL", "", by=0),
    Mutation("a look-back looks ahead", "intervals", 'c.deadline, f"{p}_active", "a.at_", "-")', 'c.deadline, f"{p}_active", "a.at_", "+")', by=0),
    Mutation("the local clock is lost", "intervals", 'local = check.st, f"{bound}ts + to_minutes({bound}off)"', 'local = check.st, f"{bound}ts"', by=0),
    Mutation("months are thirty days", "sql", '("months", "to_months")', '("months", "30 * to_days")', by=7),
    Mutation("days go before months", "sql", '(("months", "to_months"), ("days", "to_days")', '(("days", "to_days"), ("months", "to_months")', by=7),
    Mutation("the start of the case is always known", "intervals", 'known = "WHEN f.first_ts > h.begins THEN', 'known = "WHEN TRUE THEN', by=17),
    Mutation("a start after the activation is a start", "intervals", 'f"CASE WHEN {before}ts IS NULL OR {not_later} THEN {part} END"', "part", by=2),
    # lines 15 to 18: verdicts
    Mutation("a tie at the start of not_response counts", "compile", 'lower=c.tie if c.since == "activation" else "in"', 'lower="in"', by=2),
    Mutation("a tie at the end of a look-back counts", "compile", 'upper=c.tie if c.look_back else "in"', 'upper="in"', by=17),
    Mutation("the interval is over too soon", "intervals", "st.passed('b.upper_ts', 'b.upper_grain')} <= o.ends", "'b.lower_ts'} <= o.ends", by=2),
    Mutation("seen and unseen swapped", "outcomes", "CASE WHEN e.seen THEN 'seen' ELSE 'unseen' END", "CASE WHEN e.seen THEN 'unseen' ELSE 'seen' END", by=2),
    Mutation("one act too many is satisfied", "outcomes", '("e.proven AND e.refuted_more", "satisfied", "\'proven\'")', '("e.proven", "satisfied", "\'proven\'")', by=6),
    Mutation("an exception at the instant of violation counts", "outcomes", 'upper="unknown", from_start=True', 'upper="in", from_start=True', by=2),
    Mutation("an unknown exception is none", "outcomes", "{unknown} 'exception_unknown'", "{unknown} 'seen_forbidden'", by=2),
    Mutation("what came after is not looked for in a precedence", "compile", 'late = slack or c.template == "precedence"', 'late = slack', by=9),
    Mutation("a tie that is out did not come", "compile", 'tie_in=c.look_back and c.tie == "out"', "tie_in=False", by=9),
    Mutation("a prohibition is broken at its end", "outcomes", "elif c.template in NEGATIVE and not c.look_back:", "elif False:", by=2),
    Mutation("a broken prohibition dates from the earlier of two", "outcomes", "({proof_end} > {at_end} OR", "({proof_end} < {at_end} OR", by=2),
    # lines 19 and 20: ties, witnesses, slack
    Mutation("instants are compared at the finer grain", "sql", "WHEN {a} = '{g}' OR {b} = '{g}'", "WHEN {a} = '{g}' AND {b} = '{g}'", by=17),
    Mutation("dates are compared in UTC", "sql", 'f"CAST({bound}ts + to_minutes({bound}off) AS DATE)"', 'f"CAST({bound}ts AS DATE)"', by=4),
    Mutation("the row's offset is lost", "sql", "- to_minutes({clock}.off)", "", by=4),
    Mutation("as-of takes the bound in", "evidence", "at_{edge}.ts < e.{edge}", "at_{edge}.ts <= e.{edge}", by=4),
    Mutation("the last row witnesses", "evidence", 'f"arg_min(a.event_id, a.nr) {where}"', 'f"arg_max(a.event_id, a.nr) {where}"', by=4),
    Mutation("the first row of a look-back witnesses", "evidence", 'f"arg_min(b.event_id, b.back_nr) {where}"', 'f"arg_max(b.event_id, b.back_nr) {where}"', by=3),
    Mutation("a blank is a tie", "evidence", "WHEN c.most_apart >= {b} THEN 'unknown_match'", "WHEN FALSE THEN 'unknown_match'", by=0),
    Mutation("a tie is a blank", "evidence", "h.possible - h.tied", "h.possible", by=17),
    Mutation("a row without channel is tied", "evidence", "+ blank AS most_apart", "AS most_apart", by=0),
    Mutation("slack has the wrong sign", "outcomes", 'st.seconds_between("j.upper_", "j.proof_")', 'st.seconds_between("j.proof_", "j.upper_")', by=17),
    Mutation("a tie is not marked", "outcomes", "CASE WHEN e.proof_tie THEN 'tie' ELSE 'proven' END", "'proven'", by=17),
    # A entries: alternatives
    Mutation("alternatives are not looked at", "evidence", "enumerate(act.patterns, 1)", "enumerate(act.patterns[:1], 1)", by=17),
    Mutation("every alternative is asked at once", "evidence", "' OR '.join(f'({pattern})'", "' AND '.join(f'({pattern})'", by=17),
    Mutation("only logs that record every alternative count", "checkable", "if any(c in able for able", "if all(c in able for able", by=4),
    # T and L entries: ties, at the latest
    Mutation("what fulfils a demand breaks it", "checkable", '"fulfil": "in", "violate": "out"}', '"fulfil": "out", "violate": "in"}', by=9),
    Mutation("what fulfils a prohibition breaks it", "checkable", 'counts |= {"fulfil": "out", "violate": "in"}', "pass", by=11),
    Mutation("a tie that is out at the lower bound may be in", "evidence", 'if search.lower == "unknown":', 'if search.lower != "in":', by=10),
    Mutation("a tie that is out at the upper bound may be in", "evidence", 'if search.upper == "unknown":', 'if search.upper != "in":', by=8),
    Mutation("earlier acts do not count", "checkable", '"case_start" if constraint.earlier_counts', '"activation" if constraint.earlier_counts', by=12),
    Mutation("a tie is marked where earlier acts count", "checkable", '"alternate_response") and self.since == "activation"', '"alternate_response")', by=12),
    # X entries: exceptions
    Mutation("an exception on record leaves it pending", "outcomes", "which = \"j.verdict IN ('violated', 'pending')\"", "which = \"j.verdict = 'violated'\"", by=2),
    Mutation("what is pending is unknown where its exception is", "outcomes", 'f"WHEN {violated} AND NOT x.refuted THEN"', '"WHEN NOT x.refuted THEN"', by=2),
    Mutation("an exception in the meantime is one at any time", "checkable", "in_the_meantime=constraint.in_the_meantime", "in_the_meantime=False", by=2),
    # N entries: neighbours
    Mutation("the act itself comes between", "evidence", '[f"NOT ({matches(st, name, act)})"', '[f"({matches(st, name, act)}) IS NOT NULL"', by=3),
    Mutation("only logs of the act show what comes between", "intervals", "c.target.act, c.beside, c.key", "c.target.act, c.target.rel, c.key", by=3),
    Mutation("a second record of the activation comes between", "intervals", "OR {here} OR NULL)", "OR {here} OR TRUE)", by=5),
    Mutation("a closing row comes between", "intervals", 'if c.template == "end" and check.records.case_end:', "if False:", by=3),
    Mutation("what may lie between does not matter", "outcomes", '("e.proven AND " + between, "indeterminate"', '("FALSE AND " + between, "indeterminate"', by=3),
    Mutation("the activation comes between", "intervals", 'skips_own_row=c.template in BESIDE', "skips_own_row=False", by=13),
    Mutation("another event at the activation comes next", "intervals", 'f"{p}_bounded", "at", about, tie_in=False', 'f"{p}_bounded", "at", about, tie_in=True', by=5),
    Mutation("the first event comes after itself", "intervals", 'f"{p}_bounded", "lower", about, tie_in=True', 'f"{p}_bounded", "lower", about, tie_in=False', by=14),
    Mutation("the first of the earlier events comes last", "evidence", "r.back_place = at_closes.places", "r.back_place = 1", by=13),
    Mutation("of two last events the greater id", "evidence", "r.back_place = at_closes.places", "r.place = at_closes.places", by=3),
    Mutation("the first series' last event", "evidence", "arg_min(r.nr, r.back_nr)", "arg_max(r.nr, r.back_nr)", by=3),
    Mutation("the first of the last rows counts", "evidence", "arg_min(b.nr, b.back_nr) AS last", "arg_max(b.nr, b.back_nr) AS last", by=3),
    Mutation("another event moves a nearer bound", "intervals", "AND ({far}ts IS NULL OR {nearer})", "", by=3),
    Mutation("the first row is always known", "intervals", 'known = "f.first_ts > h.begins"', 'known = "TRUE"', by=15),
    Mutation("a start activity does not make it known", "intervals", 'known += f" OR', 'known += f" AND', by=14),
    Mutation("an unknown first row is a first row", "outcomes", '("e.lower_ts IS NULL", "indeterminate", unkeyed)', '("FALSE", "indeterminate", unkeyed)', by=15),
    Mutation("a case ends before its end", "outcomes", 'cases = [("NOT e.over", "pending", "\'open\'"), *cases]', "pass", by=3),
    Mutation("the window ends the case", "checkable", ' and constraint.template != "end"', "", by=16),
    Mutation("what came instead is not shown", "outcomes", "THEN [j.beside_id] ELSE []", "THEN [] ELSE []", by=16),
    # P entries: mutual templates
    Mutation("the second half asks for what the first does", "checkable", "there, back = HALVES[constraint.template]", "there, back = HALVES[constraint.template][:1] * 2", by=8),
    Mutation("the target's rows open nothing of their own", "compile", 'add_openers(check, c), with_breach', '"instances", with_breach', by=8),
    Mutation("a row opens both halves", "instances", '"event_id NOT IN (SELECT event_id FROM instances)"', '"TRUE"', by=8),
    Mutation("the halves are swapped in the report", "outcomes", "'TRUE' if c.opener else 'FALSE'", "'FALSE' if c.opener else 'TRUE'", by=8),
    Mutation("ties of the first half in the second", "checkable", "tie=_tie(halves[1])", "tie=_tie(halves[0])", by=17),
    # N7, N8, P2: bans beside an act, acts asked for anew
    Mutation("a tie with a ban on what comes next is in", "checkable", '"not_chain_response", *LOOK_BACK', "*LOOK_BACK", by=21),
    Mutation("the act asked for ends its own time", "intervals", 'act_rows(st, f"{p}_other", act, (channel,), c.key', 'act_rows(st, f"{p}_other", c.target.act, (channel,), c.key', by=19),
    Mutation("the second half starts from the trigger's act", "intervals", "opener, trigger = c.after or c.opener,", "opener, trigger = c.after,", by=23),
    Mutation("what bounds a ban is a witness", "outcomes", "if c.template in NEIGHBOURS and c.template in POSITIVE:", "if c.template in NEIGHBOURS:", by=21),
    Mutation("not preceded is absent", "outcomes", 'absent = "not_preceded" if c.look_back and', 'absent = "not_preceded" if False and', by=20),
    Mutation("a tie of an alternate response is not marked", "checkable", '("response", "chain_response", "alternate_response")', '("response", "chain_response")', by=19),
    # C2: exclusive choice
    Mutation("both acts are one", "outcomes", '("e.proven_both", "violated"', '("FALSE", "violated"', by=22),
    Mutation("one act is enough", "compile", "a.proven AND b.refuted OR b.proven AND a.refuted AS proven", "a.proven OR b.proven AS proven", by=22),
    Mutation("one act missing is neither", "compile", "a.refuted AND b.refuted AS refuted", "a.refuted OR b.refuted AS refuted", by=24),
    Mutation("both are broken at the due", "outcomes", 'if c.template == "exactly" or c.choices:', 'if c.template == "exactly":', by=25),
    Mutation("only the first act is a witness", "compile", "list_concat(a.witnesses, b.witnesses)", "a.witnesses", by=22),
    Mutation("every log records both acts", "checkable", "tuple(c for c in target.rel if self._records(c, one.activity))", "target.rel", by=22),
    # line 23
    Mutation("excused cases open a procedure", "compile", "FROM verdicts WHERE verdict = 'violated'", "FROM verdicts WHERE verdict IN ('violated', 'satisfied')", procedure=True, by=17),
]  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """One pair of the battery with the oracle's answers, and the unchanged compiler's query for the norm."""

    structure: Structure
    records: RecordLayer
    log: EventLog
    norm: list[InstanceVerdict]
    procedure: list[InstanceVerdict]
    query: Query


@cache
def few() -> list[Pair]:
    """The battery of the fast tier."""
    return [pair for key in FEW if (pair := _accepted(key))]


@cache
def others() -> list[Pair]:
    """What the full tier adds: up to three pairs per template and operator."""
    keys = product(SEEDS, IMPLEMENTED, OPERATORS)
    return [pair for key in keys if key not in FEW and (pair := _accepted(key))]


def _accepted(key: Key) -> Pair | None:
    """A pair with its answers, if the compiler accepts it."""
    return answered(*random_pair(*key, 40))


def answered(structure: Structure, records: RecordLayer, events: list[Event]) -> Pair | None:
    """A rule and a log with the oracle's answers, if the compiler accepts them."""
    log = EventLog.from_events(events, records)
    filled = resolved(records, log)
    try:
        query = compile_rule(check(structure, filled, log))
    except GnrsError:
        return None
    norm = oracle.evaluate(structure, filled, events)
    procedure = oracle.evaluate_procedure(structure, filled, events, norm)
    return Pair(structure, filled, log, norm, procedure, query)


@cache
def one_line_each(module: str) -> str:
    """The source of a module with each statement on as few lines as it goes, so that no mutation hangs on
    where a line ends.
    """
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "320"]
    joined = [
        *ruff,
        "--config",
        "format.skip-magic-trailing-comma=true",
        "--stdin-filename",
        f"{module}.py",
        "-",
    ]
    source = (FOLDER / f"{module}.py").read_text()
    return subprocess.run(joined, input=source, capture_output=True, text=True, check=True).stdout


@contextmanager
def compiler(mutation: Mutation) -> Iterator[ModuleType]:
    """The compiler with one mutation: its module and those after it are loaded anew from their source, those
    before it stay."""
    names = {module: f"gnrs_ppl.audit.{module}" for module in MODULES[MODULES.index(mutation.module) :]}
    kept = {name: sys.modules[name] for name in names.values() if name in sys.modules}
    try:
        for module, name in names.items():
            source = one_line_each(module)
            if mutation.module == module:
                assert mutation.old in source, (
                    f"{mutation.what}: no longer in {module}.py; write the mutation anew"
                )
                source = source.replace(mutation.old, mutation.new)
            fresh = ModuleType(name)
            sys.modules[name] = fresh
            exec(compile(source, name, "exec"), fresh.__dict__)
        yield sys.modules["gnrs_ppl.audit.run"]
    finally:
        sys.modules.update(kept)


def outcome(mutation: Mutation) -> Outcome:
    """What the pairs make of a mutant: the first with a wrong verdict decides, an exception only where there
    is none."""
    with compiler(mutation) as run:
        found = {caught(run, mutation, [few()[mutation.by], *few()])}
        if "wrong verdict" in found:
            return "caught by few"
        if not tiers.fast:
            found.add(caught(run, mutation, others()))
    if "wrong verdict" in found:
        return "caught by others"
    return "raised" if "raised" in found else "missed"


def caught(
    run: ModuleType, mutation: Mutation, pairs: list[Pair]
) -> Literal["wrong verdict", "raised", "missed"]:
    """What some pairs make of a mutant."""
    raised = False
    for pair in pairs:
        try:
            differs = _differs(run, pair, procedure=mutation.procedure)
        except (GnrsError, duckdb.Error, ValueError, AttributeError, TypeError, KeyError):
            raised = True
            continue
        if differs:
            return "wrong verdict"
    return "raised" if raised else "missed"


def _differs(run: ModuleType, pair: Pair, procedure: bool) -> bool:
    if procedure and procedure_verdicts(pair.structure, pair.records, pair.log) != pair.procedure:
        return True
    query = run.compile_rule(run.check(pair.structure, pair.records, pair.log))
    # the same query has the answers of the unchanged compiler, which are the oracle's
    return _content(query) != _content(pair.query) and run.execute(query, pair.log) != pair.norm


def _content(query: Query) -> tuple[object, ...]:
    return query.sql, query.parameters


def test_mutations_of_the_compiler_are_caught(record_property: Callable[[str, object], None]) -> None:
    for pair in few() if tiers.fast else few() + others():
        assert execute(pair.query, pair.log) == pair.norm, "the unchanged compiler must agree with the oracle"
    mutations = MUTATIONS[::8] if tiers.fast else MUTATIONS
    found = {mutation.what: outcome(mutation) for mutation in mutations}
    assert len(found) == len(mutations)
    by_few = sum(kind == "caught by few" for kind in found.values())
    rest = [f"{what} ({kind})" for what, kind in found.items() if kind != "caught by few"]
    record_property(
        "mutations",
        f"{by_few} of {len(found)} mutations of the compiler caught by the {len(FEW)} pairs of the fast tier",
    )
    record_property("mutations", f"beside them: {', '.join(rest) or 'none'}")
    assert by_few / len(found) >= CAUGHT, rest
