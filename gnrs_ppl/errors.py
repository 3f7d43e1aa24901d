"""What can go wrong, as types: each carries its exit code and one line for a person."""

from __future__ import annotations

from collections.abc import Sequence

from gnrs_ppl.safe_text import visible


class GnrsError(Exception):
    """Base of every error a user may see; ``str()`` of it is the one line shown."""

    exit_code: int = 2


class InputError(GnrsError):
    """Bad input: names the file, the field, what is wrong and what would fix it (exit 2).

    Parameters
    ----------
    problem : str
        What is wrong, without the place.
    remedy : str
        What the reader can do about it.
    source : str, optional
        The file (or ``"arguments"``) that holds the problem.
    field : str, optional
        Dotted path of the field inside the source.
    """

    exit_code = 2

    def __init__(self, problem: str, remedy: str, *, source: str = "", field: str = "") -> None:
        self.problem, self.remedy, self.source, self.field = problem, remedy, source, field
        place = ": ".join(part for part in (source, field) if part)
        super().__init__(one_line(f"{place}: {problem}; {remedy}" if place else f"{problem}; {remedy}"))


class Refused(GnrsError):
    """A rule that cannot be checked on these records; the message holds the count, ``reason`` a word for it
    (exit 3).
    """

    exit_code = 3

    def __init__(self, problem: str, remedy: str = "", *, reason: str = "") -> None:
        self.problem, self.remedy, self.reason = problem, remedy, reason
        super().__init__(one_line(f"not checkable: {problem}" + (f"; {remedy}" if remedy else "")))


class AmbiguousSentence(GnrsError):
    """A sentence that may mean several things, of which a person has to choose one (exit 4).

    Parameters
    ----------
    readings : sequence of str
        What it may mean, most probable first, each said back as a sentence.
    probabilities : sequence of float
        Of each.
    acts : sequence of sequence of str
        Of each, which words were read as which act, and how many rows it has.
    """

    exit_code = 4

    def __init__(
        self, readings: Sequence[str], probabilities: Sequence[float], acts: Sequence[Sequence[str]] = ()
    ) -> None:
        self.readings, self.probabilities = tuple(readings), tuple(probabilities)
        self.acts = tuple(map(tuple, acts)) or ((),) * len(self.readings)
        many = len(self.readings)
        says = (
            "one meaning was read, and it is not sure"
            if many == 1
            else f"the sentence can be read in {many} ways"
        )
        super().__init__(
            one_line(f"{says}; choose with gnrs draft --reading N or gnrs goal new, or say it otherwise")
        )


class NoFeasibleStructure(GnrsError):
    """Every structure of the pools breaks a hard condition (exit 1)."""

    exit_code = 1


def one_line(text: str, limit: int = 400) -> str:
    """Text without line breaks, what does not print as escapes, cut at ``limit`` characters."""
    clean = visible(" ".join(text.split()))
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
