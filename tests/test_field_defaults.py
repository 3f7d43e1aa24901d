"""What a rule means where it leaves a field out: a ban is about the case unless it says the person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from gnrs_ppl import InputError, Refused, Structure, audit, read_log
from gnrs_ppl.context.types import RecordLayer

LAYER = RecordLayer.model_validate(
    {"constants": {"channel": "log"}, "channels": [{"name": "log", "closed_world": True}]}
)
TRACES = {  # minutes of the acts, no two of a case at the same time
    "a": [("A", 0), ("B", 1), ("C", 2)],
    "b": [("A", 0), ("C", 1), ("B", 2)],
    "e": [("A", 0)],
    "f": [("A", 0), ("A", 1), ("B", 2)],
    "g": [("C", 0)],
    "i": [("B", 0), ("A", 1), ("C", 4)],
    "j": [("B", 0), ("C", 1), ("A", 2), ("B", 9)],
    "k": [("B", 0), ("A", 1), ("B", 2), ("A", 3)],
}
PEOPLE = {"a": ("ann", "bob"), "b": ("ann", "ann"), "e": ("ann", "ann")}

Trace = list[tuple[str, int]]
Holds = Callable[[Trace, int], bool]


def later(t: Trace, i: int, within: float) -> list[int]:
    return [j for j in range(i + 1, len(t)) if t[j][0] == "B" and t[j][1] <= t[i][1] + within]


def alternates(t: Trace, i: int) -> bool:
    return any(all(t[m][0] != "A" for m in range(i + 1, j)) for j in later(t, i, 1440))


HOLDS: dict[str, tuple[str, Holds]] = {
    "response": ("P1D", lambda t, i: bool(later(t, i, 1440))),
    "chain_response": ("P1D", lambda t, i: i + 1 < len(t) and t[i + 1][0] == "B"),
    "alternate_response": ("P1D", alternates),
    "responded_existence": ("P1D", lambda t, i: any(act == "B" for act, _ in t)),
    "precedence": ("P1D", lambda t, i: any(act == "B" for act, _ in t[:i])),
    "chain_precedence": ("P1D", lambda t, i: i > 0 and t[i - 1][0] == "B"),
    "absence": ("PT90S", lambda t, i: not later(t, i, 1.5)),
    "not_response": ("PT90S", lambda t, i: not later(t, i, 1.5)),
    "not_chain_response": (
        "PT90S",
        lambda t, i: not (i + 1 < len(t) and t[i + 1][0] == "B" and t[i + 1][1] <= t[i][1] + 1.5),
    ),
    "not_precedence": ("P1D", lambda t, i: all(act != "B" for act, _ in t[:i])),
    "not_coexistence": (
        "PT90S",
        lambda t, i: not any(act == "B" and abs(m - t[i][1]) <= 1.5 for act, m in t),
    ),
}
"""Template -> deadline, and whether the constraint holds of an A at a place of an untied trace."""


def written(
    tmp_path: Path, traces: dict[str, Trace], people: dict[str, tuple[str, ...]] | None = None
) -> Path:
    lines = ["case_id,activity,timestamp" + (",resource" if people else "")]
    for case, trace in traces.items():
        for n, (act, minute) in enumerate(trace):
            who = f",{people[case][n]}" if people else ""
            lines.append(f"{case},{act},2026-03-01T09:{minute:02}:00Z{who}")
    lines += [
        f"{case},C,2026-0{month}-01T09:00:00Z" + (",ann" if people else "")
        for case, month in (("y", 1), ("z", 6))
    ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def rule(template: str, deadline: str | None, **more: object) -> Structure:
    constraint = {"template": template, "target": "B", "deadline": deadline, **more}
    return Structure.model_validate(
        {
            "trigger": {"act": "A", "channel": "log"},
            "norm": {"constraints": [constraint]},
            "evidence": {"channels": ["log"]},
        }
    )


@pytest.mark.parametrize("template", HOLDS)
def test_every_template_without_a_correlation_is_about_the_case(tmp_path: Path, template: str) -> None:
    """On a log that records nobody, equal to a plain reading of each trace."""
    deadline, holds = HOLDS[template]
    log = read_log(written(tmp_path, TRACES), LAYER)
    result = audit(rule(template, deadline), log)
    expected = Counter(
        (case, "satisfied" if holds(t, i) else "violated")
        for case, t in TRACES.items()
        for i in range(len(t))
        if t[i][0] == "A"
    )
    assert Counter((v.case_id, v.verdict) for v in result.verdicts) == expected
    assert "same person" not in result.text


def test_a_ban_excuses_nobody_for_being_another_person_unless_it_says_so(tmp_path: Path) -> None:
    traces: dict[str, Trace] = {"a": [("A", 0), ("B", 1)], "b": [("A", 0), ("B", 1)], "e": [("A", 0)]}
    log = read_log(written(tmp_path, traces, PEOPLE), LAYER)
    for stated, verdicts, person in (
        ({}, ("violated", "violated", "satisfied"), False),
        ({"correlate": "same_case"}, ("violated", "violated", "satisfied"), False),
        ({"correlate": "same_resource"}, ("satisfied", "violated", "satisfied"), True),
    ):
        result = audit(rule("not_response", "PT90S", **stated), log)
        assert tuple(v.verdict for v in result.verdicts) == verdicts
        assert ("Nobody may" not in result.text) == person


def test_only_a_stated_correlation_is_refused_for_what_no_row_carries(tmp_path: Path) -> None:
    log = read_log(written(tmp_path, TRACES), LAYER)
    with pytest.raises((Refused, InputError), match="resource"):
        audit(rule("not_response", "PT90S", correlate="same_resource"), log)
