"""What the network reads: every meaning of a sentence with its probability, as typed statements with spans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gnrs_ppl.context.types import Schema, Term
from gnrs_ppl.reading.decoder import BACKWARD, Alone, Meaning, Related, Weighed, meanings, split_mentions
from gnrs_ppl.reading.network import Array, Logits, Network, logits
from gnrs_ppl.reading.quantities import Length, durations
from gnrs_ppl.reading.types import ActRead, Named, Reading, Span, Statement, Timed
from gnrs_ppl.rule.types import Template

TEMPERATURE = 1.5
"""By which logits are divided, fitted on domains that no weight was fitted on (``training/calibrate.py``)."""
MOST = 12
"""Meanings that are looked at; some differ in less than a duty."""
AT_ONCE = 16
"""Most acts of one pass."""
NEAREST_ACTS = 12
"""Acts that are read together, of a schema that has more than one pass holds: those that words most likely name."""
NEAREST_ROLES = 10
"""Roles that are read together, of a schema that has more: those most of whose words the sentence has."""
TEMPLATES: dict[str, Template] = {
    "response": "response",
    "precedence": "precedence",
    "responded": "responded_existence",
    "not_response": "not_response",
    "chain_response": "chain_response",
    "chain_precedence": "chain_precedence",
    "not_chain": "not_chain_response",
    "alternate_response": "alternate_response",
    "alternate_precedence": "alternate_precedence",
    "together": "coexistence",
    "not_together": "not_coexistence",
    "at_least": "existence",
    "at_most": "absence",
    "exactly": "exactly",
    "ban": "absence",
    "first": "init",
    "last": "end",
}
SUCCESSIONS: dict[frozenset[str], Template] = {
    frozenset({"response", "precedence"}): "succession",
    frozenset({"chain_response", "chain_precedence"}): "chain_succession",
    frozenset({"alternate_response", "alternate_precedence"}): "alternate_succession",
}


class Learned(NamedTuple):
    """One meaning of a sentence.

    Attributes
    ----------
    probability : float
    statements : tuple of Statement
    refused : str
        Why nothing is to be drafted, of :data:`~gnrs_ppl.reading.network.REFUSED`.
    conditional : float
        Probability that a duty depends on data or a circumstance.
    """

    probability: float
    statements: tuple[Statement, ...]
    refused: str
    conditional: float


def learned(
    text: str, schema: Schema, most: int, network: Network, temperature: float = TEMPERATURE
) -> tuple[Learned, ...]:
    """The most probable meanings of a text against a schema, at most so many; none where either is empty."""
    typed = typed_of(text, schema, network)
    return typed.ways(most, temperature) if typed else ()


def typed_of(text: str, schema: Schema, network: Network) -> Typed | None:
    """What the network's heads say of a text against a schema; None where either is empty."""
    if not schema.actions or not text.strip():
        return None
    acts = [(action.name, action.phrase or "") for action in schema.actions]
    roles = _nearest_roles(text, schema.roles)
    lengths = durations(text)
    spans = [(length.start, length.end) for length in lengths]
    chosen = [acts[k] for k in _nearest_acts(network, text, acts)]
    output = logits(network, text, chosen, [_words_of(role) for role in roles], spans)
    return Typed(text, schema, [name for name, _ in chosen], roles, lengths, output)


def _words_of(role: Term) -> str:
    return role.phrase or role.name.replace("_", " ")


def _nearest_roles(text: str, roles: Sequence[Term]) -> list[Term]:
    """The roles that are read together, in order: all of a few, else those most of whose words a text has."""
    words = set(re.findall(r"\w+", text.lower()))

    def shared(role: Term) -> float:
        named = set(_words_of(role).lower().split())
        return len(named & words) / len(named)

    nearest = sorted(roles, key=lambda role: -shared(role))[:NEAREST_ROLES]
    return [role for role in roles if role in nearest]


def _nearest_acts(network: Network, text: str, acts: Sequence[tuple[str, str]]) -> list[int]:
    """Which acts are read together, as numbers in order: all of a few, else those that words most likely name.

    The more acts, the oftener the network finds none of them meant (training/README.md).
    """
    if len(acts) <= AT_ONCE:
        return list(range(len(acts)))
    scores = list[float]()
    for first in range(0, len(acts), AT_ONCE):
        scores += logits(network, text, acts[first : first + AT_ONCE]).mention.max(1).tolist()
    return sorted(sorted(range(len(acts)), key=lambda k: -scores[k])[:NEAREST_ACTS])


class Typed:
    """A sentence and what the heads say of it, which turn its meanings into statements."""

    def __init__(
        self,
        text: str,
        schema: Schema,
        acts: Sequence[str],
        roles: Sequence[Term],
        lengths: Sequence[Length],
        output: Logits,
    ) -> None:
        self.text, self.schema, self.acts, self.roles = text, schema, acts, roles
        self.lengths, self.output = lengths, output

    def ways(self, most: int, temperature: float = TEMPERATURE) -> tuple[Learned, ...]:
        """The most probable meanings, at most so many."""
        weighed = split_mentions(meanings(self.output, temperature), self.output.mention)
        conditional = float(1 / (1 + np.exp(-self.output.condition / temperature)))
        return tuple(
            Learned(one.probability, self.statements(one, weighed), one.meaning.refused, conditional)
            for one in weighed[:most]
        )

    def statements(self, one: Weighed, weighed: Sequence[Weighed]) -> tuple[Statement, ...]:
        """The statements of a meaning in the order of their words; each as probable as all meanings that state it."""
        readings = list[tuple[Reading, float]]()
        for duties in _joined(one.meaning.related):
            share = sum(w.probability for w in weighed if set(duties) <= w.meaning.related)
            readings += [(reading, share) for reading in self._related(duties, one.meaning)]
        for alone in sorted(one.meaning.alone):
            share = sum(w.probability for w in weighed if alone in w.meaning.alone)
            readings.append((self._alone(alone, one.meaning), share))
        made = [Statement(_hull(r.used), (replace(r, probability=min(1.0, share)),)) for r, share in readings]
        return tuple(sorted(made, key=lambda s: (s.best.targets[0].span.start, s.span.start)))

    def _related(self, duties: tuple[Related, ...], meaning: Meaning) -> Iterator[Reading]:
        duty = duties[0]
        if duty.relation in ("choice", "xor"):
            acts = sorted({duty.opener, *duty.targets})
            targets = tuple(self._act(a, meaning) for a in acts)
            yield self._reading("existence", targets, meaning, acts, joint="any")
            if duty.relation == "xor":
                yield self._reading("not_coexistence", targets[1:], meaning, acts, opener=targets[0])
            return
        template = SUCCESSIONS.get(frozenset(d.relation for d in duties)) or TEMPLATES[duty.relation]
        opener = self._act(duty.opener, meaning)
        targets = tuple(self._act(a, meaning) for a in duty.targets)
        persons = {person for i, j, person in meaning.persons if (i, j) in duty.pairs}
        yield self._reading(
            template,
            targets,
            meaning,
            duty.later,
            opener=opener,
            joint="any" if len(targets) > 1 else "all",
            person=min(persons, default=""),
            count=duty.times,
        )

    def _alone(self, alone: Alone, meaning: Meaning) -> Reading:
        targets = tuple(self._act(a, meaning) for a in alone.acts)
        count = alone.times + (alone.kind == "at_most")
        reading = self._reading(
            TEMPLATES[alone.kind],
            targets,
            meaning,
            alone.acts,
            joint="any" if len(targets) > 1 else "all",
            count=count,
        )
        spared = {r for a, r, by in meaning.by if a in alone.acts and not by}
        if alone.kind != "ban" or not spared:
            return reading
        only = tuple(self._role(r) for r in sorted(spared))
        names = {named.name for named in only}
        others = [role.name for role in self.schema.roles if role.name not in names]
        banned = tuple(
            ActRead(t.activity, t.span, t.score, Named(name, only[0].span))
            for t in targets
            for name in others
        )
        return replace(
            reading,
            targets=banned or targets,
            joint="any" if len(banned) > 1 else "all",
            only=only,
            bearers=(),
        )

    def _reading(
        self,
        template: Template,
        targets: tuple[ActRead, ...],
        meaning: Meaning,
        later: Sequence[int],
        *,
        opener: ActRead | None = None,
        joint: str = "all",
        person: str = "",
        count: int = 1,
    ) -> Reading:
        excusing = sorted((x, since) for x, act, since in meaning.excused if act in later)
        excuses = [self._act(x, meaning) for x, _ in excusing]
        exception = None
        if excuses:
            first = excuses[0]
            exception = ActRead(
                first.activity, first.span, first.score, first.role, alternatives=tuple(excuses[1:])
            )
        limits = sorted(d for d, act in meaning.deadlines if act in later)
        time = None
        if limits:
            length = self.lengths[limits[0]]
            time = Timed(Span(length.start, length.end), length.duration, working_days=length.working)
        bearers = tuple(dict.fromkeys(t.role for t in targets if t.role is not None))
        acts = [*targets, *excuses, *([opener] if opener else [])]
        used = [a.span for a in acts] + [a.role.span for a in acts if a.role] + ([time.span] if time else [])
        return Reading(
            1.0,
            "should" if any(a in meaning.should for a in later) else "must",
            template,
            targets,
            "act" if opener else "case_end" if template == "end" else "case_start",
            opener,
            "any" if joint == "any" else "all",
            exception=exception,
            meanwhile=any(since for _, since in excusing),
            count=count,
            time=time,
            bearers=bearers,
            who="same_person" if person == "same" else "another_person" if person else None,
            used=tuple(dict.fromkeys(used)),
            why="learned",
        )

    def _act(self, act: int, meaning: Meaning) -> ActRead:
        roles = sorted(r for a, r, by in meaning.by if a == act and by)
        role = self._role(roles[0]) if roles else None
        span, score = self._mention(self.output.mention[act])
        return ActRead(self.acts[act], span, score, role)

    def _mention(self, values: Array) -> tuple[Span, float]:
        """The words that most likely name an act, and how likely they do."""
        peak = int(values.argmax())
        start = end = peak
        while start > 0 and values[start - 1] > 0:
            start -= 1
        while end + 1 < len(values) and values[end + 1] > 0:
            end += 1
        text = self.output.text
        return Span(text[start].start, text[end].end), float(1 / (1 + np.exp(-values[peak])))

    def _role(self, role: int) -> Named:
        """A role and the words that name it; of one that is not named as it is written, the whole text."""
        name = self.roles[role]
        words = _words_of(name).lower()
        start = self.text.lower().find(words)
        return Named(name.name, Span(start, start + len(words)) if start >= 0 else Span(0, len(self.text)))


def _joined(related: frozenset[Related]) -> Iterator[tuple[Related, ...]]:
    """Duties, those of one pair that make a succession together."""
    left = sorted(related)
    while left:
        duty = left.pop(0)
        other = next(
            (
                o
                for o in left
                if o.pairs == duty.pairs and frozenset({o.relation, duty.relation}) in SUCCESSIONS
            ),
            None,
        )
        if other is None:
            yield (duty,)
            continue
        left.remove(other)
        yield tuple(sorted((duty, other), key=lambda d: d.relation in BACKWARD))


def _hull(spans: Sequence[Span]) -> Span:
    return Span(min(s.start for s in spans), max(s.end for s in spans))
