"""P(violated) of every case over the mass, and which choice a disagreement is about.

A case's P is the mass of the checks that call it violated. Where it lies between, its variance P (1 - P) is
split by the choices: the share that a slot explains is the variance of P given the slot's option.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import NDArray

from gnrs_ppl.audit.types import ROLL_UP
from gnrs_ppl.context.log import EventLog
from gnrs_ppl.context.types import RecordLayer
from gnrs_ppl.posterior.fields import NOTHING, said
from gnrs_ppl.posterior.mass import ASKED, Mass
from gnrs_ppl.posterior.verdicts import REFUSED, VIOLATED, Checked, run_checks
from gnrs_ppl.rule.types import SLOTS
from gnrs_ppl.safe_text import to_csv

Floats = NDArray[np.float64]

SETTLED = 0.95
"""P from which on a case is settled as broken; as kept, from one less this on down."""
SAME_SHARE = 1e-9


class Choice(NamedTuple):
    """A slot, or a field of it, and which check chose what.

    Attributes
    ----------
    name : str
        ``norm``, or ``norm.deadline``.
    values : tuple of str
        What there is to choose.
    of : (n,) int
        Which of them each check chose.
    """

    name: str
    values: tuple[str, ...]
    of: NDArray[np.int64]

    def explained(self, share: Float[Floats, " n"], hit: Bool[NDArray[np.bool_], "n cases"]) -> Floats:
        """Share of each case's variance that the choice explains, shape (cases,); 0 where P is 0 or 1."""
        held, mean = self.means(share, hit)
        p = share @ hit
        between = held @ (mean - p) ** 2
        spread = p * (1 - p)
        return np.asarray(np.where(spread > SAME_SHARE, between / np.maximum(spread, SAME_SHARE), 0.0))

    def means(
        self, share: Float[Floats, " n"], hit: Bool[NDArray[np.bool_], "n cases"]
    ) -> tuple[Floats, Floats]:
        """Mass of each value (m,), and P of each case given the value (m, cases)."""
        one = (np.arange(len(self.values))[:, None] == self.of) * share
        held = one.sum(1)
        return held, np.asarray(one @ hit / np.maximum(held, 1e-300)[:, None])


def slot_choices(mass: Mass) -> list[Choice]:
    """The slots of a check in which the mass holds more than one option."""
    labels, found = mass.graph.labels(), []
    for v, slot in enumerate(ASKED):
        chosen, of = np.unique(mass.positions[:, v], return_inverse=True)
        if len(chosen) > 1:
            found.append(Choice(slot, tuple(labels[slot][o] for o in chosen.tolist()), of.ravel()))
    return found


def field_choices(mass: Mass) -> list[Choice]:
    """The fields of a check's slots in which the mass holds more than one value."""
    found = []
    for v, slot in enumerate(ASKED):
        options = mass.graph.options[SLOTS.index(slot)]
        each = [said(options[o].content) for o in mass.positions[:, v].tolist()]
        for field in each[0]:
            texts = [" + ".join(one[field]) or NOTHING for one in each]
            values = sorted(set(texts))
            if len(values) > 1:
                found.append(
                    Choice(f"{slot}.{field}", tuple(values), np.array([values.index(t) for t in texts]))
                )
    return found


class CaseForecast(NamedTuple):
    """What the posterior says of a case.

    Attributes
    ----------
    case_id : str
    violated : float
        P(violated) over the kept checks.
    low, high : float
        Between them P lies whatever the checks that were cut say.
    verdicts : {verdict: float}
        P of each verdict, zeros left out.
    status : {"broken", "kept", "contested"}
    about : str
        The slot that explains most of the disagreement; empty where the case is settled.
    explains : float
        The share of the variance that it explains.
    field : str
        The field of that slot that explains most.
    says_broken, says_kept : tuple of str
        Values of the field under which the case is more probably violated, and those under which it is not.
    """

    case_id: str
    violated: float
    low: float
    high: float
    verdicts: dict[str, float]
    status: str
    about: str = ""
    explains: float = 0.0
    field: str = ""
    says_broken: tuple[str, ...] = ()
    says_kept: tuple[str, ...] = ()


@dataclass(frozen=True)
class Forecast:
    """P(violated) per case of a log.

    Attributes
    ----------
    mass : Mass
    checked : Checked
    cases : tuple of CaseForecast
        The most probably violated first.
    about : {slot: float}
        Share of the variance of all contested cases together that each slot explains, greatest first.
    fields : {field: float}
        The same of each field.
    """

    mass: Mass
    checked: Checked
    cases: tuple[CaseForecast, ...]
    about: dict[str, float]
    fields: dict[str, float]

    def of(self, status: str) -> list[CaseForecast]:
        """The cases of one status, in order."""
        return [case for case in self.cases if case.status == status]

    @cached_property
    def refused(self) -> float:
        """Share of the kept mass whose checks these records cannot carry; they call no case violated."""
        return float(self.mass.share[(self.checked.codes == REFUSED).all(1)].sum())

    @property
    def expected(self) -> float:
        """Expected number of violated cases."""
        return float(sum(case.violated for case in self.cases))

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``gnrs audit --posterior``."""
        return {
            "mass": told(self.mass) | {"refused": self.refused, "checks_run_now": self.checked.run},
            "counts": {status: len(self.of(status)) for status in ("broken", "contested", "kept")},
            "expected_violated": self.expected,
            "disagreement": {"slots": self.about, "fields": self.fields},
            "cases": [case._asdict() for case in self.cases],
        }

    def to_csv(self) -> str:
        """A line per case, with a header."""
        names = ("case_id", "violated", "low", "high", "status", "about", "explains", "field")
        return to_csv([names, *([getattr(case, name) for name in names] for case in self.cases)])


def told(mass: Mass) -> dict[str, Any]:
    """What JSON says of a mass."""
    return {
        "checks": len(mass.key),
        "structures": mass.structures,
        "kept": 1 - mass.cut,
        "cut": mass.cut,
        "exact": mass.exact,
    }


def checked(
    mass: Mass, records: RecordLayer, log: EventLog, report: Callable[[str], None] = lambda said: None
) -> Checked:
    """The kept checks run on a log, in the order of the mass."""
    return run_checks({key: mass.structure(n) for n, key in enumerate(mass.key)}, records, log, report)


def forecast(mass: Mass, found: Checked) -> Forecast:
    """P(violated) per case, settled or contested, and what a disagreement is about.

    Parameters
    ----------
    mass : Mass
    found : Checked
        Of :func:`checked`.
    """
    share, hit = mass.share, found.codes == VIOLATED
    p = np.clip(share @ hit, 0.0, 1.0)
    slots, fields = slot_choices(mass), field_choices(mass)
    by_slot = {c.name: c.explained(share, hit) for c in slots}
    by_field = {c.name: c.explained(share, hit) for c in fields}
    graded = np.stack([share @ (found.codes == code) for code in range(len(ROLL_UP))])
    cases = []
    for n, case in enumerate(found.cases):
        status = "broken" if p[n] >= SETTLED else "kept" if p[n] <= 1 - SETTLED else "contested"
        one = CaseForecast(
            case,
            float(p[n]),
            float(p[n] * (1 - mass.cut)),
            float(min(1.0, p[n] * (1 - mass.cut) + mass.cut)),
            {v: float(graded[code, n]) for code, v in enumerate(ROLL_UP) if graded[code, n] > 0},
            status,
        )
        cases.append(_blamed(one, n, share, hit, by_slot, by_field, fields) if status == "contested" else one)
    contested = (p < SETTLED) & (p > 1 - SETTLED)
    return Forecast(
        mass,
        found,
        tuple(sorted(cases, key=lambda case: (-case.violated, case.case_id))),
        _together(by_slot, p, contested),
        _together(by_field, p, contested),
    )


def _blamed(
    case: CaseForecast,
    n: int,
    share: Floats,
    hit: NDArray[np.bool_],
    by_slot: dict[str, Floats],
    by_field: dict[str, Floats],
    fields: Sequence[Choice],
) -> CaseForecast:
    """The case with what its disagreement is about."""
    if not by_slot:
        return case
    about = max(by_slot, key=lambda name: by_slot[name][n])
    own = [choice for choice in fields if choice.name.startswith(f"{about}.")]
    if not own:
        return case._replace(about=about, explains=float(by_slot[about][n]))
    field = max(own, key=lambda choice: float(by_field[choice.name][n]))
    held, mean = field.means(share, hit[:, n : n + 1])
    order = np.argsort(-held)
    return case._replace(
        about=about,
        explains=float(by_slot[about][n]),
        field=field.name,
        says_broken=tuple(field.values[v] for v in order if mean[v, 0] >= 0.5),
        says_kept=tuple(field.values[v] for v in order if mean[v, 0] < 0.5),
    )


def _together(each: dict[str, Floats], p: Floats, contested: NDArray[np.bool_]) -> dict[str, float]:
    """Share of the summed variance of the contested cases that each choice explains, greatest first."""
    spread = (p * (1 - p))[contested]
    total = spread.sum()
    found = {
        name: float((explained[contested] * spread).sum() / total) if total > 0 else 0.0
        for name, explained in each.items()
    }
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))
