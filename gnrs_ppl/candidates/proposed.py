"""Source four: what a language model proposes, as typed fragments (paper, Candidate construction).

A model is asked once for each goal and sees goal, schema, records and the candidates there are. Its answer is
data for the five slots and nothing else. A fragment is dropped, with the reason, if it is too long to be one,
does not fit its slot's type, says a name that schema and record layer do not have, or rests on something that
is never recorded. Names that only the text would say count too: nobody at the institution knows them, so the
text would promise what it does not have. Where there is no log, no source brings a time that the goal does
not name, nor a rule about the closing of cases, which is there for an auditor to know when they end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from gnrs_ppl.candidates.build import LLM, filtered, pools_of
from gnrs_ppl.candidates.grounding import Dropped, known_names, names_of
from gnrs_ppl.candidates.source import ProposedCandidate
from gnrs_ppl.candidates.templates import DEFAULT_STEPS
from gnrs_ppl.context.load import Context, nearest
from gnrs_ppl.context.time import Duration
from gnrs_ppl.errors import InputError, one_line
from gnrs_ppl.llm import Answer, Model, ask
from gnrs_ppl.llm.answers import Fragment, ProposedFragments
from gnrs_ppl.llm.client import CONCURRENCY, Request
from gnrs_ppl.llm.material import request
from gnrs_ppl.rule.canonical import SlotContent
from gnrs_ppl.rule.pools import Pools
from gnrs_ppl.rule.types import SLOTS, Norm, Procedure, Scope, Trigger

PROMPT = "llm_augmented_generator.v1.txt"
PER_SLOT = 8
"""Most fragments of a slot that are looked at; two to four are asked for."""
LONGEST_ANSWER = 60_000
"""Most characters of an answer that is looked at; eight fragments a slot come to a quarter of that."""
LONGEST_FRAGMENT = 4_000
"""Most characters of a fragment, as JSON."""


class Proposed(NamedTuple):
    """What a model proposed for a goal.

    Attributes
    ----------
    proposals : tuple of ProposedCandidate
        What stays.
    dropped : tuple of Dropped
        What does not, and why; the model's words are in it, cut and without markup.
    answer : Answer
        As it came.
    """

    proposals: tuple[ProposedCandidate, ...]
    dropped: tuple[Dropped, ...]
    answer: Answer[ProposedFragments]
    prompt: str = PROMPT

    def counted(self) -> dict[str, Any]:
        """How many proposals stayed, and why there is no answer where there is none."""
        return {"kept": len(self.proposals), "dropped": len(self.dropped), "problem": self.problem}

    @property
    def problem(self) -> str:
        """Why there is no usable answer, in a line; empty where there is one."""
        return self.answer.problem


def propose(
    contexts: Sequence[Context], model: Model, *, seed: int | None = None, concurrency: int = CONCURRENCY
) -> list[Proposed]:
    """What a model proposes for some contexts: one request each, all at once.

    Parameters
    ----------
    contexts : sequence of Context
    model : Model
    seed : int, optional
        Sent along.
    concurrency : int
        Most requests in flight.

    Raises
    ------
    InputError
        As :func:`~gnrs_ppl.candidates.build.pools_of`; bad configuration of the model.
    """
    answers = ask(model, [asked(context, seed) for context in contexts], concurrency)
    return [kept(answer, context) for answer, context in zip(answers, contexts, strict=True)]


def asked(context: Context, seed: int | None = None) -> Request[ProposedFragments]:
    """The request for a context's proposals."""
    pools = pools_of(context).pools
    return request(PROMPT, "generator", context, ProposedFragments, {"pools": _listed(pools)}, seed=seed)


def kept(answer: Answer[ProposedFragments], context: Context) -> Proposed:
    """What of an answer, which may hold anything, can be a candidate."""
    if answer.parsed is None:
        return Proposed((), (), answer)
    if len(answer.text) > LONGEST_ANSWER:
        reason = f"the answer is longer than {LONGEST_ANSWER:,} characters"
        return Proposed((), tuple(Dropped(slot, "all proposals", reason) for slot in SLOTS), answer)
    proposals: list[ProposedCandidate] = []
    dropped: list[Dropped] = []
    for slot in SLOTS:
        fragments = getattr(answer.parsed, slot)
        for fragment in fragments[:PER_SLOT]:
            try:
                proposals.append(_proposal(slot, fragment, context))
            except InputError as error:
                told = fragment.content.model_dump_json(exclude_none=True)
                dropped.append(
                    Dropped(
                        slot,
                        plain(told),
                        plain(f"{error.field}: {error.problem}" if error.field else error.problem),
                    )
                )
        if len(fragments) > PER_SLOT:
            dropped.append(
                Dropped(
                    slot, f"{len(fragments) - PER_SLOT} more", f"more than {PER_SLOT} proposals for a slot"
                )
            )
    return Proposed(tuple(proposals), tuple(dropped), answer)


def plain(text: str, limit: int = 160) -> str:
    """A model's words for people to read: one line, cut, and without what could be markup or code
    anywhere.
    """
    kept = "".join(c if c.isalnum() or c in " .,;:()'/%+-_" else " " for c in text)
    return one_line(re.sub(r" +(?=[,:;])", "", re.sub(r"(?<=[(,:]) +", " ", kept)), limit)


def _listed(pools: Pools) -> str:
    """Candidates by slot as JSON, one a line, with the levels of those that have some."""
    slots = []
    for slot in SLOTS:
        entries = []
        for candidate in getattr(pools, slot):
            levels = candidate.vary.model_dump(mode="json", exclude_defaults=True)
            said = candidate.content.model_dump(mode="json", exclude_defaults=True) | (
                {"levels": levels} if levels else {}
            )
            entries.append(json.dumps(said, ensure_ascii=False))
        slots.append(f" {json.dumps(slot)}: [\n  " + ",\n  ".join(entries) + "\n ]")
    return "{\n" + ",\n".join(slots) + "\n}"


def _proposal(slot: str, fragment: Fragment[Any], context: Context) -> ProposedCandidate:
    """A fragment as a proposal; raises InputError with the reason where it cannot be one."""
    if len(fragment.content.model_dump_json()) > LONGEST_FRAGMENT:
        raise InputError(f"is longer than {LONGEST_FRAGMENT:,} characters", "shorten it")
    content = fragment.content.content()
    proposal = ProposedCandidate(slot, content.model_dump(), plain(fragment.because))
    reason = _unknown(content, context) or _without_a_log(content, context)
    if not reason and isinstance(entry := filtered(proposal, LLM, context)[0], Dropped):
        reason = entry.reason
    if reason:
        raise InputError(reason, "use another")
    return proposal


def _unknown(content: SlotContent, context: Context) -> str:
    """A name that schema and record layer do not have, or a role that the check may rest on and no row
    carries.
    """
    known = {kind: names for kind, (names, _) in known_names(context).items()}
    known["channel"] = [
        name for name in known["channel"] if (c := context.records.channel(name)) is None or c.durable
    ]
    known["step"] = known["step"] or list(DEFAULT_STEPS.values())
    for kind, name in names_of(content):
        if name not in known[kind]:
            near = nearest(name, known[kind])
            return f"{kind} {name!r} is in neither schema nor records" + (
                f"; nearest: {near!r}" if near else ""
            )
    profile = context.profile
    for role in content.roles if isinstance(content, Scope) else ():
        if not profile.counts.get(("role", role)):
            return f"0 of {profile.events:,} rows carry role {role!r}"
    return ""


def _without_a_log(content: SlotContent, context: Context) -> str:
    """A time that the goal does not name, or an act that closes cases, where no log shows times or
    closings.
    """
    if not context.records.prospective:
        return ""
    if length := next((length for length in _lengths(content) if length != context.goal.within), None):
        return f"there is no log, and the goal names no time of {length}"
    if name := next(
        (name for kind, name in names_of(content) if kind == "action" and name in context.records.case_end),
        None,
    ):
        return f"action {name!r} only says when a case is closed"
    return ""


def _lengths(content: SlotContent) -> list[Duration]:
    if isinstance(content, Trigger):
        found = [content.window]
    elif isinstance(content, Norm):
        found = [constraint.deadline for constraint in content.constraints]
    else:
        found = [content.response_time] if isinstance(content, Procedure) else []
    return [length for length in found if length]
