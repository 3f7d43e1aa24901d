"""What is vouched for of a draft: how good the search was, what the text lost, and what Proposition 1 of the
paper makes of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from gnrs_ppl.search import Search


ANSWERS = "answers of people"
"""The method of a rule that was chosen by them."""


class Certificate(NamedTuple):
    """How good the search was (ε_S), what the text lost (ε_R), and what dev goals say of the score itself
    (ε_C, regret).

    ``optimum`` is known from enumeration, ``bound`` also from CP-SAT; ``epsilon_search`` is in units of
    s_search. None until measured: ``calibration_error``, ``regret`` (this goal's own on dev, else the mean)
    and ``loss``, what Proposition 1 takes off the best possible audit F1.
    """

    method: str
    optimum: float | None
    bound: float | None
    epsilon_search: float | None
    epsilon_realization: float
    calibration_error: float | None = None
    regret: float | None = None
    dev: bool = False
    loss: float | None = None
    polished: bool = False

    def lines(self) -> list[str]:
        """The certificate in words."""
        if self.method == ANSWERS:
            searched = (
                "ε_S: not certified; answers chose the rule, and the greatest score without them is "
                + ("unknown" if self.optimum is None else f"{self.optimum:.4f}")
            )
        elif self.epsilon_search is None:
            searched = (
                "ε_S: not certified; the space is too large to enumerate, and OR-Tools, which would "
                "bound it, is not installed"
            )
        elif self.epsilon_search == 0:
            searched = f"ε_S = 0 by {self.method}: no structure of these pools scores higher"
        elif self.optimum is None:
            searched = (
                f"ε_S ≤ {self.epsilon_search:.4f}, bounded by {self.method}: no structure scores "
                f"above {self.bound:.4f}"
            )
        else:
            better = f"a structure of score {self.optimum:.4f} exists; try more chains or --kernel exact"
            searched = f"ε_S = {self.epsilon_search:.4f} by {self.method}: {better}"
        lost = self.epsilon_realization
        if self.polished:
            return [
                searched,
                f"ε_R = {lost:g}: the polished text has every phrase of one that the parser gives back, each "
                "where the guard finds that it means the same",
                *self._calibration(),
            ]
        recovered = (
            f"{lost:g} facts of the structure are lost in the text"
            if lost
            else "the parser gives back the whole structure"
        )
        return [
            searched,
            f"ε_R = {lost:g}: {recovered}"
            + ("" if lost else " (0 by construction for template text, and read back here)"),
            *self._calibration(),
        ]

    def _calibration(self) -> list[str]:
        if self.calibration_error is None or self.regret is None:
            return ["ε_C: not measured, so Proposition 1 bounds nothing here"]
        whose = (
            "this goal, left out of the fit"
            if self.dev
            else "the mean of the dev goals; conditional on this goal being like them"
        )
        lines = [
            f"regret {self.regret:.3f} in audit F1: {whose}",
            f"ε_C = {self.calibration_error:.3f}, measured on dev" + ("" if self.dev else ", conditional"),
        ]
        if self.loss is None:
            return [*lines, "Proposition 1: no bound, as ε_S is not certified"]
        vacuous = "; vacuous, as audit F1 lies between 0 and 1" if self.loss >= 1 else ""
        return [
            *lines,
            f"Proposition 1: within ε_S + 2ε_C + ε_R = {self.loss:.3f} of the best structure's audit "
            f"F1{vacuous}",
        ]

    def as_dict(self) -> dict[str, Any]:
        """JSON keys of a draft's certificate."""
        return {**self._asdict(), "statement": self.lines()}


def certify(search: Search, lost: int) -> Certificate:
    """The certificate of a search's a*; ``lost`` counts what the parser did not get back of its text."""
    from gnrs_ppl.evaluate.calibration_error import measured
    from gnrs_ppl.inference.exact import TIE

    gap = None if search.bound is None or search.answered is not None else search.bound - search.s_search
    gap = 0.0 if gap is not None and abs(gap) < TIE else gap
    method = (
        ANSWERS
        if search.answered is not None
        else "not certified"
        if gap is None
        else "exact enumeration"
        if search.optimum is not None
        else "CP-SAT"
    )
    calibration, goal = measured(), search.graph.facts.context.goal.id
    if calibration is None or search.weights.temperature is None:  # measured for the fitted weights only
        return Certificate(method, search.optimum, search.bound, gap, float(lost))
    mapped = (
        None
        if search.bound is None or search.answered is not None
        else float(calibration.map(search.bound) - calibration.map(search.s_search))
    )
    return Certificate(
        method,
        search.optimum,
        search.bound,
        gap,
        float(lost),
        calibration_error=calibration.error,
        regret=calibration.regrets.get(goal, calibration.mean_regret),
        dev=goal in calibration.regrets,
        loss=None if mapped is None else mapped + 2 * calibration.error + lost,
    )
