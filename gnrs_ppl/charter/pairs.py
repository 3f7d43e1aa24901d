"""How two rules relate: whether both can be kept, and whether one says all that the other says
(docs/charters.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, NamedTuple

from gnrs_ppl.audit.checkable import check
from gnrs_ppl.audit.compile import compile_rule
from gnrs_ppl.audit.types import ROLL_UP, Verdict
from gnrs_ppl.charter import words as words_of_pairs
from gnrs_ppl.charter.alike import form
from gnrs_ppl.charter.traces import Case, Path, Regions, cases, log_of, some_cases, trace
from gnrs_ppl.charter.values import named
from gnrs_ppl.charter.words import Words
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.time import Duration
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.errors import GnrsError
from gnrs_ppl.rule.canonical import canonical
from gnrs_ppl.rule.types import BESIDE, MUTUAL, Constraint, Structure
from gnrs_ppl.rulebook.imagined import EVERYTHING, Imagined, Trace

Relation = Literal[
    "conflict", "equivalent", "first_implies_second", "second_implies_first", "independent", "undecided"
]
Verdicts = tuple[Verdict, Verdict]
MOST_CASES = 20_000
"""Cases of one length that are judged at most."""
SAMPLED = 2_000
"""Longer cases that are tried at random for what has no witness then."""
TOGETHER = 500
"""Lengths are judged together until there are so many cases: a query takes its time however few they are."""
MOST_KNOWN = 10_000
"""Pairs of rules whose relation is remembered."""
QUIET = Duration(days=1)
"""When imagined cases are over, after their last event: any length does, since nothing comes later."""
TOO_SHORT = "longer cases may tell, and there are too many of them"
LEFT_OPEN = "some cases leave a verdict open, or none breaks a rule"
"""Why a pair is undecided that was searched."""
KEPT: tuple[Verdict, ...] = ("satisfied", "excused")


WITNESSES = (
    "both_kept",
    "first_kept",
    "second_kept",
    "against_first_implies_second",
    "against_second_implies_first",
)
"""The witnesses of a relation."""


class Witness(NamedTuple):
    """A case, and the verdict of each rule on it; a permission's is that of the duty it would be."""

    trace: Trace
    verdicts: Verdicts


@dataclass(frozen=True)
class PairRelation:
    """How two rules relate, as far as cases were searched.

    Attributes
    ----------
    kind : str
        ``conflict``: both apply to some cases, each is kept in some of those, and both in none.
        ``first_implies_second``: whatever breaks the second breaks the first, and not the other way round,
        or not for sure; ``equivalent``: both ways. ``independent``: none of these. ``undecided``: the cases
        that were searched do not tell.
    events : int
        The bound: of up to so many events every case was searched that may settle what is open.
    cases : int
        How many cases were judged.
    both_kept : Witness or None
        A case to which both apply and in which both are kept: no conflict.
    first_kept, second_kept : Witness or None
        A case to which both apply and in which this one is kept.
    against_first_implies_second, against_second_implies_first : Witness or None
        A case that breaks the one without breaking the other; of two permissions, that makes use of the
        second (the first) and not of the other.
    why : str
        Why a pair is undecided.
    """

    kind: Relation
    events: int = 0
    cases: int = 0
    both_kept: Witness | None = None
    first_kept: Witness | None = None
    second_kept: Witness | None = None
    against_first_implies_second: Witness | None = None
    against_second_implies_first: Witness | None = None
    why: str = ""


def relation(first: Structure, second: Structure, records: RecordLayer) -> PairRelation:
    """How two rules relate, on every short case that may tell them apart.

    Cases are judged by both rules, each as one query over all of them, on records that are complete; the
    shortest cases first, until all is settled or as many events as it may take are searched.

    Parameters
    ----------
    first, second : Structure
        A permission is read as the duty it would be: to keep it is to make use of it.
    records : RecordLayer
        What each channel can record, at which grain, and how cases end.

    Returns
    -------
    PairRelation
        Undecided, with the reason, where a rule cannot be checked though records be complete.
    """
    permissions = first.norm.force == "may", second.norm.force == "may"
    duties = tuple(as_duty(canonical(rule)) for rule in (first, second))
    try:
        words = Words.of(duties, complete(duties, records))
        same = f"{permissions} {form(words)}"
        if same not in _KNOWN:
            if len(_KNOWN) >= MOST_KNOWN:
                _KNOWN.clear()
            _KNOWN[same] = _Search(words, permissions).run()
        return _KNOWN[same].told(words)
    except GnrsError as error:
        return PairRelation("undecided", why=str(error))


_KNOWN: dict[str, _Found] = {}
"""What was found of pairs, by what pairs share that relate alike."""


def complete(structures: Sequence[Structure], records: RecordLayer) -> Imagined:
    """The records on which rules are compared: complete, and every case comes to its end."""
    imagined = Imagined.of(structures, records)
    attributes = named(structures, records.attributes)
    return Imagined(imagined.records.model_copy(update={"quiet_after": QUIET, "attributes": attributes}))


def as_duty(structure: Structure) -> Structure:
    """A rule as one that must be kept, whatever its force."""
    return structure.model_copy(update={"norm": structure.norm.model_copy(update={"force": "must"})})


@dataclass(frozen=True)
class _Found:
    """A relation that holds for every pair that is the same but for names and proportionate times."""

    kind: Relation
    events: int
    cases: int
    witnesses: dict[str, tuple[Verdicts, Case, Path]]
    why: str

    def told(self, words: Words) -> PairRelation:
        """In the words of one such pair."""
        regions = Regions(words)
        witnesses = {
            name: Witness(trace(words, case._replace(times=regions.along(case.deeds, path))), verdicts)
            for name, (verdicts, case, path) in self.witnesses.items()
        }
        return PairRelation(self.kind, self.events, self.cases, **witnesses, why=self.why)


class _Question(NamedTuple):
    """Whether there is a case with certain verdicts: which it may be, and how many events it may take."""

    answered: Callable[[Verdicts], bool]
    possible: Callable[[frozenset[int]], bool]
    parts: list[frozenset[int]]
    """Deeds of which such a case is made up, where one is looked for among many."""
    events: int


@dataclass(frozen=True)
class _Rule:
    """What a rule needs of a case."""

    words: Words
    structure: Structure

    def opened(self, deeds: frozenset[int]) -> bool:
        """Whether any of some deeds may call the rule up."""
        return not self._openers.isdisjoint(deeds)

    def kept(self, deeds: frozenset[int]) -> bool:
        """Whether cases of these deeds may keep the rule: each duty is done or excused."""
        return self.opened(deeds) and not any(duty.isdisjoint(deeds) for duty in self._duties)

    def broken(self, deeds: frozenset[int]) -> bool:
        """Whether cases of these deeds may break it: a duty by silence, a ban by what it forbids."""
        silence = any(c.positive for c in self.structure.norm.constraints)
        return self.opened(deeds) and (silence or not self._bans.isdisjoint(deeds))

    @cached_property
    def _openers(self) -> frozenset[int]:
        return self.words.openers(self.structure)

    @cached_property
    def _duties(self) -> list[frozenset[int]]:
        """Deeds that do what each duty asks, or excuse it."""
        norm = self.structure.norm
        first = [c for c in norm.constraints if c.positive and c.after is None]
        return [self.words.numbers(norm.target(c), c.unless) for c in first]

    @cached_property
    def _bans(self) -> frozenset[int]:
        norm = self.structure.norm
        return self.words.numbers(*(norm.target(c) for c in norm.constraints if not c.positive))

    def parts(self, *, broken: bool = False) -> list[frozenset[int]]:
        """Deeds that together may keep the rule, or break one of its bans."""
        norm = self.structure.norm
        found = [self.words.openers(self.structure)] if self.structure.trigger.act else []
        for constraint in norm.constraints:
            found += [self.words.numbers(constraint.after.act)] if constraint.after else []
            if constraint.positive != broken:
                found += [self.words.numbers(norm.target(constraint))] * _events(constraint.count)
            if constraint.unless and not broken:
                found.append(self.words.numbers(constraint.unless))
        return found

    @property
    def again(self) -> bool:
        """Whether it matters that it is called up once more."""
        constraints = self.structure.norm.constraints
        return self.structure.trigger.once == "first" or any(c.template in BESIDE for c in constraints)

    @property
    def following(self) -> int:
        """Second activations."""
        return len({c.after for c in self.structure.norm.constraints if c.after})

    @property
    def keeping(self) -> int:
        """Events that keep it once it is called up."""
        return sum(map(_to_keep, self.structure.norm.constraints))

    @property
    def breaking(self) -> int:
        """Events that break it once it is called up."""
        return max(map(_to_break, self.structure.norm.constraints))


def _to_keep(constraint: Constraint) -> int:
    beside = constraint.template in BESIDE and not constraint.positive  # another event lies between
    return _events(constraint.count) if constraint.positive else int(beside or constraint.unless is not None)


def _to_break(constraint: Constraint) -> int:
    if constraint.template == "exactly":
        return _events(constraint.count + 1)
    if constraint.template == "exclusive_choice":
        return 2
    beside = constraint.template in (*BESIDE, "init", "end")
    return int(beside or constraint.template in MUTUAL) if constraint.positive else _events(constraint.count)


def _events(count: int) -> int:
    """How many events so many acts are at least: what is counted beyond a few may be done at once."""
    return count if count <= words_of_pairs.FEW else 1


class _Search:
    """One pair: the plainest case for each two verdicts, and what is still open."""

    def __init__(self, words: Words, permissions: tuple[bool, bool]) -> None:
        self.words, self.permissions = words, permissions
        self.seen: dict[Verdicts, Case] = {}
        self.judged = self.longest = 0
        first, second = (_Rule(words, structure) for structure in words.structures)
        self.questions = self._questions(first, second)

    def _questions(self, first: _Rule, second: _Rule) -> dict[str, _Question]:
        opened = {(r.structure.trigger.act, r.structure.trigger.channel) for r in (first, second)}
        opening = sum(act is not None for act, _ in opened) + (first.again or second.again)
        at_least_one = max(1, opening) + first.following + second.following
        both = at_least_one + first.keeping + second.keeping
        asked = {}
        if not all(self.permissions):
            asked = {
                "both_kept": _Question(
                    lambda v: v[0] in KEPT and v[1] in KEPT,
                    lambda d: first.kept(d) and second.kept(d),
                    first.parts() + second.parts(),
                    both,
                ),
                "first_kept": _Question(
                    lambda v: v[0] in KEPT and v[1] != "not_activated",
                    lambda d: first.kept(d) and second.opened(d),
                    first.parts() + second.parts()[:1],
                    both,
                ),
                "second_kept": _Question(
                    lambda v: v[1] in KEPT and v[0] != "not_activated",
                    lambda d: second.kept(d) and first.opened(d),
                    second.parts() + first.parts()[:1],
                    both,
                ),
            }
        for name, mine, other, place in (
            ("against_first_implies_second", second, first, 1),
            ("against_second_implies_first", first, second, 0),
        ):
            if all(self.permissions):
                events = at_least_one + mine.keeping + other.breaking
                parts = mine.parts() + other.parts(broken=True)
                asked[name] = _Question(partial(_used_alone, place), mine.kept, parts, events)
            elif not any(self.permissions):
                events = at_least_one + mine.breaking + other.keeping
                parts = mine.parts(broken=True) + other.parts()
                asked[name] = _Question(partial(_broken_alone, place), mine.broken, parts, events)
        return asked

    def run(self) -> _Found:
        """Search, and say what was found."""
        while self._further():
            pass
        if parts := [question.parts for name, question in self.questions.items() if self.open(name)]:
            self._judge(some_cases(self.words, parts, SAMPLED))
        return self._answer()

    def _further(self) -> bool:
        """Judge the next lengths; False where none may settle what is open, or their cases are too many."""
        batch: list[Case] = []
        while len(batch) < TOGETHER:
            events = self.longest + 1
            wanted = [
                q.possible for name, q in self.questions.items() if self.open(name) and q.events >= events
            ]
            found = cases(self.words, events, wanted, MOST_CASES) if wanted else None
            if found is None:
                break
            batch += found
            self.longest = events
        if batch:
            self._judge(batch)
        return len(batch) >= TOGETHER

    def open(self, name: str) -> bool:
        """Whether a question has no witness yet."""
        if name in ("first_kept", "second_kept") and not self.open("both_kept"):
            return False
        return name in self.questions and not self._case(name)

    def _case(self, name: str) -> tuple[Verdicts, Case] | None:
        if name not in self.questions:
            return None
        found = [(v, case) for v, case in self.seen.items() if self.questions[name].answered(v)]
        return min(found, key=lambda one: (len(one[1].deeds), one[1].ties), default=None)

    def _judge(self, found: list[Case]) -> None:
        log = log_of(self.words, found)
        self.judged += len(found)
        for verdicts, number in verdicts_of_cases(self.words, log):
            self.seen.setdefault(verdicts, found[number])

    def _answer(self) -> _Found:
        conflict = self._conflict()
        forward = self._implied("against_first_implies_second", 1)
        back = self._implied("against_second_implies_first", 0)
        kind: Relation = "undecided"
        if conflict:
            kind = "conflict"
        elif forward and back:
            kind = "equivalent"
        elif forward:
            kind = "first_implies_second"
        elif back:
            kind = "second_implies_first"
        elif conflict is False and forward is False and back is False:
            kind = "independent"
        regions = Regions(self.words)
        witnesses = {
            name: (verdicts, case, regions.path(case))
            for name in WITNESSES
            if (one := self._case(name))
            for verdicts, case in [one]
        }
        why = ""
        if kind == "undecided":
            short = any(q.events > self.longest for name, q in self.questions.items() if self.open(name))
            why = TOO_SHORT if short else LEFT_OPEN
        return _Found(kind, self.longest, self.judged, witnesses, why)

    def _conflict(self) -> bool | None:
        """Whether both apply somewhere, each is kept somewhere there, and both nowhere; None where longer
        cases may tell, or some case leaves a verdict open though no two events are at one instant.
        """
        if "both_kept" not in self.questions or self._case("both_kept"):
            return False
        if self.longest < self.questions["both_kept"].events:
            return None
        if not (self._case("first_kept") and self._case("second_kept")):
            return False
        unsettled = (
            case.ties == 0
            for verdicts, case in self.seen.items()
            if not {"violated", "not_activated"} & {*verdicts}
        )
        return None if any(unsettled) else True

    def _implied(self, name: str, place: int) -> bool | None:
        """Whether whatever breaks the rule at a place breaks the other; None where longer cases may tell, or
        none breaks it.
        """
        if name not in self.questions or self._case(name):
            return False
        gravest = KEPT if all(self.permissions) else ("violated",)
        broken = any(verdicts[place] in gravest for verdicts in self.seen)
        return True if broken and self.longest >= self.questions[name].events else None


def _broken_alone(place: int, verdicts: Verdicts) -> bool:
    return verdicts[place] == "violated" != verdicts[1 - place]


def _used_alone(place: int, verdicts: Verdicts) -> bool:
    return verdicts[place] in KEPT and verdicts[1 - place] not in KEPT


def verdicts_of_cases(words: Words, log: EventLog) -> Iterable[tuple[Verdicts, int]]:
    """Each two verdicts that two rules give of some case, with the first such case, in the order of cases."""
    for number, structure in enumerate(words.structures):
        query = compile_rule(check(structure, words.imagined.records, log))
        log.connection.execute(
            f"CREATE TABLE said_{number} AS SELECT case_id, "
            "min(list_position($order_of_verdicts::VARCHAR[], verdict)) AS said "
            f"FROM ({query.sql}) GROUP BY case_id",
            {**query.parameters, "order_of_verdicts": list(ROLL_UP)},
        )
    silent = ROLL_UP.index("not_activated") + 1
    rows = log.connection.execute(
        f"""SELECT coalesce(a.said, {silent}), coalesce(b.said, {silent}), min(case_id::INTEGER)
            FROM (SELECT DISTINCT case_id FROM events WHERE case_id <> $everything) AS cases
            LEFT JOIN said_0 AS a USING (case_id) LEFT JOIN said_1 AS b USING (case_id)
            GROUP BY 1, 2 ORDER BY 3""",
        {"everything": EVERYTHING},
    ).fetchall()
    return [((ROLL_UP[a - 1], ROLL_UP[b - 1]), case) for a, b, case in rows]
