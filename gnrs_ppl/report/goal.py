"""What ``gnrs goal`` prints, and how it asks in a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnrs_ppl.errors import InputError
from gnrs_ppl.report.reading import print_short
from gnrs_ppl.terminal import console, shown

if TYPE_CHECKING:
    from gnrs_ppl.goals.write import Written


def print_goal(done: Written) -> None:
    """The goal as it was read, its fields, and what to type next."""
    out = console()
    told = f", in place of {done.replaced!r}" if done.replaced and done.replaced != done.goal.id else ""
    out.print(shown(f"Goal {done.goal.id} written to {done.path}{told}", style="bold"))
    print_short(out, done.readings, 0)
    for name, value in done.goal.model_dump(
        mode="json", exclude_defaults=True, exclude={"id", "intent"}
    ).items():
        out.print(shown(f"{name}: {', '.join(value) if isinstance(value, list) else value}"))
    if done.goal.within and not any(s.best.time for s in done.readings.statements):
        out.print(
            shown(
                "note: a time that the sentence does not say is weighed with its neighbours; say it in the "
                "sentence to have it kept"
            )
        )
    path = shlex.quote(str(done.path))
    every = " --every" if done.rules > 1 else ""
    out.print(shown("\nNext:", keep="\n"))
    out.print(shown(f"  gnrs draft {path}{every} --out rule"), soft_wrap=True)
    out.print(shown(f"  gnrs audit {path} --rule rule/{'rule-1/' if every else ''}rule.json"), soft_wrap=True)


class Terminal:
    """Somebody at a terminal: choices have numbers, an empty answer is the first."""

    def choose(self, question: str, choices: Sequence[str], own: str = "") -> int | str:
        """The number of a choice, from 0, or a text where ``own`` says what may be written instead."""
        out = console()
        out.print(shown(f"\n{question}", style="bold", keep="\n"))
        for number, choice in enumerate(choices, 1):
            out.print(shown(f"  {number}  {choice}"))
        if own:
            out.print(shown(f"  {own}", style="dim"))
        while True:
            answer = _answer("[1] ")
            if not answer:
                return 0
            if answer.isdecimal() and 1 <= int(answer) <= len(choices):
                return int(answer) - 1
            if own and not answer.isdecimal():
                return answer
            out.print(shown(f"A number of 1 to {len(choices)}{', ' + own if own else ''}."))

    def line(self, question: str) -> str:
        """A line of text."""
        console().print(shown(f"\n{question}:", style="bold", keep="\n"))
        return _answer("> ")


def _answer(prompt: str) -> str:
    try:
        return input(prompt).strip()
    except EOFError:
        raise InputError(
            "the answers ended too early, nothing was written", "answer, or add --yes", source="arguments"
        ) from None
    except UnicodeDecodeError:
        raise InputError("the answer is no text", "write it in UTF-8", source="arguments") from None
