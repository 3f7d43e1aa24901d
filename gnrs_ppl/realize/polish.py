"""Polish that keeps payloads: a model arranges a rule whose phrases are locked, the guard decides, and
refused twice the rule stays as it was (paper, Realization).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from gnrs_ppl.errors import InputError
from gnrs_ppl.llm import Answer, Message, Model, Request, ask
from gnrs_ppl.llm.answers import PolishedClause
from gnrs_ppl.llm.client import CONCURRENCY
from gnrs_ppl.llm.material import MAX_TOKENS
from gnrs_ppl.llm.prompts import load, render
from gnrs_ppl.realize.guard import LockedRule, lock, read
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.rule.canonical import canonical, dumps
from gnrs_ppl.rule.types import Structure

logger = logging.getLogger(__name__)

Version = Literal["v1", "v2"]
"""The paper's two prompts: smoother sentences, or plain language with the structure in view."""
Outcome = Literal["accepted", "accepted on retry", "refused", "model error"]

ARRANGING = (
    "between tokens: the marks . , ; : and the words and, then; no other word",
    "a duty: [W1] [M1] [T1], or [T1], [W1] [M1] with the time in front; two in a sentence: [W1] [M1] [T1] "
    "and [W2] [M2] [T2]",
    "order: duties, exception, [A], [F] and [C], evidence, breach, its steps and appeals, each among "
    "themselves as above; [A], [F] and [C] also before the duties; in a sentence with a duty only if all "
    "duties are in it",
    "steps and appeals: joined by commas, and, then; those in a further sentence begin with: then",
)
"""What the guard reads, for the model; it stands with what has to be kept, since the prompts are frozen."""


class RenderedRule(NamedTuple):
    """A rule as the renderer wrote it; ``dates_only`` as it was told there."""

    structure: Structure
    text: str
    lexicon: Lexicon
    dates_only: bool = False


class Polished(NamedTuple):
    """How the polish of a rule ended.

    Attributes
    ----------
    text : str
        The polished text if it was accepted, else the renderer's.
    outcome : Outcome
    version : Version
    lost : tuple of str
        What was wrong with the last refused text, or with the model; empty where the first text was accepted.
    answers : tuple of Answer
        One, or two where there was a retry.
    """

    text: str
    outcome: Outcome
    version: Version
    lost: tuple[str, ...]
    answers: tuple[Answer[PolishedClause], ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON of a draft's polish."""
        return {
            "version": self.version,
            "outcome": self.outcome,
            "lost": list(self.lost),
            "attempts": len(self.answers),
        }


def prompt_of(version: Version) -> str:
    """File name of a version's prompt."""
    return f"nl_polish.FROZEN.{version}.txt"


def polish(
    rules: Sequence[RenderedRule],
    model: Model,
    version: Version = "v1",
    *,
    seed: int | None = None,
    concurrency: int = CONCURRENCY,
) -> list[Polished]:
    """Polish some rules: one request each, then one retry, told what was lost, for those the guard refused.

    Parameters
    ----------
    rules : sequence of RenderedRule
    model : Model
    version : {"v1", "v2"}
        Which prompt.
    seed : int, optional
        Sent along.
    concurrency : int
        Most requests in flight.

    Raises
    ------
    InputError
        Unknown version; bad configuration of the model.
    """
    if version not in get_args(Version):
        raise InputError(
            f"{version!r} is no polish",
            f"choose {' or '.join(get_args(Version))}",
            source="arguments",
            field="polish",
        )
    locked = [lock(rule.structure, rule.lexicon, rule.dates_only) for rule in rules]
    asked = [_request(rule, tokens, version, (), seed) for rule, tokens in zip(rules, locked, strict=True)]
    done = [
        _judged(rule, tokens, version, (answer,), ())
        for rule, tokens, answer in zip(rules, locked, ask(model, asked, concurrency), strict=True)
    ]
    again = [n for n, polished in enumerate(done) if polished.outcome == "refused"]
    asked = [_request(rules[n], locked[n], version, done[n].lost, seed) for n in again]
    for n, answer in zip(again, ask(model, asked, concurrency), strict=True):
        done[n] = _judged(rules[n], locked[n], version, (*done[n].answers, answer), done[n].lost)
    for polished in done:
        logger.info(
            "polish %s: %s%s",
            version,
            polished.outcome,
            f" ({'; '.join(polished.lost)})" if polished.lost else "",
        )
    return done


def _judged(
    rule: RenderedRule,
    locked: LockedRule,
    version: Version,
    answers: tuple[Answer[PolishedClause], ...],
    before: tuple[str, ...],
) -> Polished:
    answer = answers[-1]
    if answer.parsed is None:
        told = f"{answer.error.kind}: {answer.error.message}" if answer.error else "the model declined"
        return Polished(rule.text, "model error", version, (told,), answers)
    found = read(locked, answer.parsed.clause)
    if found.lost:
        return Polished(rule.text, "refused", version, found.lost, answers)
    return Polished(found.text, "accepted on retry" if before else "accepted", version, before, answers)


def _request(
    rule: RenderedRule, locked: LockedRule, version: Version, lost: tuple[str, ...], seed: int | None
) -> Request[PolishedClause]:
    """The prompt; v1 has no place of its own for what was lost, so it stands with what has to be kept."""
    prompt = load(prompt_of(version))
    kept = to_keep(locked)
    if "missing" not in prompt.placeholders:
        kept += [f"an earlier attempt failed in this: {line}" for line in lost]
    values = {
        "clause": locked.clause,
        "structure": dumps(canonical(rule.structure)),
        "payloads": "\n".join(kept),
        "missing": "\n".join(lost),
    }
    text = render(prompt, **{name: values[name] for name in prompt.placeholders})
    return Request(
        "polisher",
        (Message("user", text),),
        PolishedClause,
        seed=seed,
        max_tokens=MAX_TOKENS,
        prompt=prompt.hash,
    )


def to_keep(locked: LockedRule) -> list[str]:
    """The words of every token, and how tokens may stand, a line each."""
    return [*(f"[{name}] stands for: {words}" for name, words in locked.tokens.items()), *ARRANGING]
