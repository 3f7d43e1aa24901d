"""A draft and its search as JSON, and the files a draft is saved as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnrs_ppl.rule.types import SLOTS
from gnrs_ppl.safe_text import to_json, visible

if TYPE_CHECKING:
    from gnrs_ppl.draft import Draft
    from gnrs_ppl.llm import Answer
    from gnrs_ppl.reading import Readings
    from gnrs_ppl.realize.lexicon import Lexicon
    from gnrs_ppl.report.reading import SentencePart
    from gnrs_ppl.search import Search

TOP = 10
"""Structures of greatest s_search that the JSON lists."""


def draft_data(draft: Draft) -> dict[str, Any]:
    """The JSON of ``gnrs draft``."""
    from gnrs_ppl.realize.lexicon import Lexicon
    from gnrs_ppl.report.reading import rows_in_words
    from gnrs_ppl.versions import versions

    search, answered = draft.search, draft.search.answered
    return {
        "goal": draft.goal.model_dump(mode="json", exclude_defaults=True),
        "reading": reading_data(
            draft.readings,
            draft.context.rule,
            draft.said,
            draft.said_beside,
            Lexicon.of_context(draft.context),
        )
        | {"rows": rows_in_words(draft.readings, draft.context)},
        "request": {
            "context": draft.context.source,
            "own_pools": draft.context.pools is not None,
            "log": None if draft.context.records.prospective else draft.context.log.fingerprint,
            "pins": [pin.as_dict() for pin in draft.pins],
            "answers": None if answered is None else answered.answers.as_dict(),
        },
        "text": draft.text,
        "called": Lexicon.of_context(draft.context).called,
        "structure": draft.structure.model_dump(mode="json"),
        "score": {
            "s_search": search.s_search,
            "features": search.features(),
            "weights": {
                "origin": search.weights.origin,
                "values": list(search.weights.values),
                "temperature": search.weights.temperature,
                "draws": len(search.weights.draws),
            },
            "feasible": bool(search.visited.feasible),
        },
        "grounding": _grounding(draft),
        "certificate": draft.certificate.as_dict(),
        "search": search_data(search),
        "alternatives": [
            other._asdict() | {"differs": other.differs, "temperature": search.temperature}
            for other in draft.alternatives
        ],
        "candidates": _candidates(draft),
        "polish": draft.polished.as_dict() if draft.polished else None,
        "llm": language_model(draft),
        "check": {
            "status": "prospective" if draft.context.records.prospective else "runnable",
            "needs": [need._asdict() for need in draft.needs],
            "sql": draft.sql,
            "assumptions": list(draft.assumptions),
            "findings": [*draft.left_out, *draft.findings],
        },
        "versions": versions(),
    }


def reading_data(
    readings: Readings,
    rule: int,
    said: Sequence[bool],
    said_beside: Mapping[str, bool],
    lexicon: Lexicon,
) -> dict[str, Any]:
    """A sentence as it was read, which of its rules is meant (from 0), whether each statement is said, and
    what is read beside them; with the words that a rule's text would use.
    """
    from gnrs_ppl.reading.goal import rules_of
    from gnrs_ppl.reading.plain import as_data
    from gnrs_ppl.report.reading import beside_in_words, parts_beside, parts_of, reading_in_words
    from gnrs_ppl.report.reading_clause import clause_of, worded

    plain = worded(readings, lexicon)
    rules = [[number + 1 for number in held] for held in rules_of(readings)]
    best = [statement.best for statement in readings.statements]
    return as_data(readings) | {
        "rule": rule + 1,
        "rules": rules,
        "said": list(said),
        "in_words": [reading_in_words(reading) for reading in best],
        "clauses": [
            [clause_of(reading, lexicon) for reading in statement.readings]
            for statement in readings.statements
        ],
        "parts": [
            _parts(parts_of(reading), parts_of(statement.best))
            for reading, statement in zip(best, plain.statements, strict=True)
        ],
        "said_beside": dict(said_beside),
        "beside_in_words": beside_in_words(readings),
        "beside_in_clauses": beside_in_words(plain),
        "parts_beside": [
            {"slot": slot} | part
            for slot, parts in parts_beside(readings).items()
            for part in _parts(parts, parts_beside(plain)[slot])
        ],
    }


def _parts(parts: Sequence[SentencePart], plain: Sequence[SentencePart]) -> list[dict[str, Any]]:
    """Parts of a sentence with the names they were read as, and what a rule's text calls these."""
    return [
        part._asdict() | {"span": [part.span.start, part.span.end], "called": told.name}
        for part, told in zip(parts, plain, strict=True)
    ]


def _grounding(draft: Draft) -> dict[str, Any]:
    gate = draft.grounding.gate
    return {
        "rho": gate.rho,
        "hard_ok": gate.passed,
        "failures": list(gate.failures),
        **{str(support): count for support, count in gate.supports.items()},
        "queries": [asdict(query) for query in draft.grounding.queries],
    }


def _candidates(draft: Draft) -> dict[str, Any]:
    """The options of each slot, the candidates they come from, and what was dropped."""
    from gnrs_ppl.candidates.grounding import marked
    from gnrs_ppl.realize.lexicon import Lexicon
    from gnrs_ppl.realize.text import phrase

    search, lexicon = draft.search, Lexicon.of_context(draft.context)
    labels, shares = search.graph.labels(), search.option_probabilities()
    return {
        **{
            slot: [
                {
                    "option": labels[slot][place],
                    "candidate": option.candidate,
                    "sources": list(option.sources),
                    "phrase": phrase(option.content, lexicon),
                    "probability": None if shares is None else shares[slot][place],
                    "chosen": place == search.best[v],
                }
                for place, option in enumerate(search.graph.options[v])
            ]
            for v, slot in enumerate(SLOTS)
        },
        "pools": {
            slot: [
                {
                    "id": c.id,
                    "phrase": phrase(c.at(c.level_tuples()[0]), lexicon),
                    "provenance": c.provenance,
                    **marked(c.content),
                }
                for c in getattr(draft.built.pools, slot)
            ]
            for slot in SLOTS
        },
        "dropped": [item._asdict() for item in draft.dropped],
        "suggested": [{"slot": s.slot, "because": s.because, "fix": s.pin} for s in draft.built.suggested],
    }


def search_data(search: Search) -> dict[str, Any]:
    """The JSON of ``gnrs sample``, and the ``search`` of a draft."""
    from gnrs_ppl.inference.exact import number_of_states
    from gnrs_ppl.inference.result import SAME_SCORE

    run, posterior = search.chains, search.posterior
    chains, steps = run.score.shape
    return {
        "kernel": run.kernel,
        "chains": chains,
        "steps": steps,
        "temperature": run.temperature,
        "seed": run.seed,
        "states": number_of_states(search.tables),
        "best": {
            "s_search": search.s_search,
            "structure": search.graph.structure(search.best).model_dump(mode="json", exclude_defaults=True),
        },
        "optimum": search.optimum,
        "bound": run.bound,
        "optimal_states": None if posterior is None else posterior.optimal_states,
        "feasible_states": None if posterior is None else posterior.feasible_states,
        "log_normalizer": run.log_normalizer if posterior is None else posterior.log_normalizer,
        "probability": None
        if posterior is None
        else {
            "best": search.probability(),
            "slots": search.slot_probabilities(),
            "temperature": search.temperature,
        },
        "winner_changes": None if search.averaged is None else search.averaged.changes,
        "top": ranking(search, TOP),
        "energy_evaluations": run.energy_evaluations,
        "chains_at_best": int((run.score.max(axis=1) >= search.visited.score - SAME_SCORE).sum()),
        "acceptance": {name: m.accepted / m.tried if m.tried else None for name, m in search.moves.items()},
        "changed": {name: m.changed / m.tried if m.tried else None for name, m in search.moves.items()},
        "seconds": {"compile": run.compile_seconds, "run": run.wall_seconds},
    }


def ranking(search: Search, count: int) -> list[dict[str, Any]]:
    """The structures of greatest s_search in order: options, score, gap to the best, probability; none where
    nothing was enumerated.
    """
    if search.reported is None:
        return []
    labels, best = search.graph.labels(), search.reported.best
    return [
        {
            "options": {slot: labels[slot][int(o)] for slot, o in zip(SLOTS, r.position, strict=True)},
            "s_search": r.score,
            "gap": best[0].score - r.score,
            "probability": r.probability,
            "feasible": r.feasible,
        }
        for r in best[:count]
    ]


def language_model(draft: Draft) -> dict[str, Any] | None:
    """Which models were asked what, at what cost; None where none was. ``cost`` is in US dollars, None where
    a price is unknown.
    """
    if not draft.answers:
        return None
    from gnrs_ppl.llm.client import account
    from gnrs_ppl.llm.prompts import load
    from gnrs_ppl.realize.polish import prompt_of

    read, polished = draft.context.read_along, draft.polished
    asked: dict[str, tuple[Answer[Any], ...]] = {
        "generator": tuple(part.answer for part in draft.model_said),
        "polisher": polished.answers if polished else (),
    }
    prompts = [part.prompt for part in draft.model_said] + ([prompt_of(polished.version)] if polished else [])
    return {
        "models": {role: some[-1].model for role, some in asked.items() if some},
        "prompts": {name: load(name).hash for name in prompts},
        **account(draft.answers),
        "readings": read.counted() if read else None,
        "proposals": draft.proposed.counted() if draft.proposed else None,
    }


def slot_lines(draft: Draft) -> list[tuple[str, str, str]]:
    """Slot, chosen option, and its content in one line."""
    labels = draft.search.graph.labels()
    return [
        (
            slot,
            labels[slot][o],
            _flat(getattr(draft.structure, slot).model_dump(mode="json", exclude_defaults=True)),
        )
        for slot, o in zip(SLOTS, draft.search.best, strict=True)
    ]


def _flat(value: Any) -> str:
    """Nested data on one line, names before values."""
    if isinstance(value, dict):
        return "; ".join(f"{key} {_flat(item)}" for key, item in value.items())
    return (
        ", ".join(f"({_flat(v)})" if isinstance(v, dict) else str(v) for v in value)
        if isinstance(value, list)
        else str(value)
    )


def save_draft(draft: Draft, folder: Path) -> list[Path]:
    """Write the files of :data:`~gnrs_ppl.draft.FILES` and a manifest, all or nothing; gives the files'
    paths.
    """
    from gnrs_ppl.context.output import write_all
    from gnrs_ppl.inference.trace import to_bytes
    from gnrs_ppl.rule.files import rule_json

    note, title = (
        ("(scripted: a stand-in for a model had a part in this; no result)\n", " (scripted)")
        if draft.scripted
        else ("", "")
    )
    return write_all(
        folder,
        [
            ("rule.txt", (visible(draft.text, keep="\n") + f"\n{note}").encode()),
            (
                "rule.json",
                rule_json(
                    draft.structure, draft.context.schema, draft.records, draft.goal.id + title
                ).encode(),
            ),
            ("draft.json", to_json(draft_data(draft)).encode()),
            ("posterior.nc", to_bytes(draft.posterior)),
        ],
        manifest=True,
    )
