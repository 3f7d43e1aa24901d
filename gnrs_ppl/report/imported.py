"""What ``gnrs import`` prints: rows accounted for, columns as guessed, what was found, and what to type
next.
"""

from __future__ import annotations

import shlex

from gnrs_ppl.importing import Imported
from gnrs_ppl.importing.run import accounted
from gnrs_ppl.terminal import console, row, shown, table


def print_import(done: Imported) -> None:
    """The import on one screen."""
    out = console()
    out.print(
        shown(
            f"{done.form}: {accounted(done.read, done.rows, done.joined, done.aside)}",
            "bold",
        )
    )
    for reason, count in done.reasons.items():
        out.print(shown(f"  {count:,} set aside: {reason}"))
    if done.columns:
        drawn = table("Columns", "column", "taken from", "confidence", "why", right=("confidence",))
        for column, (name, sure, why) in done.columns.items():
            row(drawn, column, name, f"{sure:.2f}", why)
        out.print(drawn)
    if done.attributes:
        drawn = table("Attributes, for conditions on data", "name", "type", "of", "unit or values")
        for told in done.attributes:
            known = told.get("unit") or ", ".join(map(str, told.get("values", ())))
            row(drawn, told["name"], told["type"], told.get("of", "event"), known)
        out.print(drawn)
    out.print(
        shown(
            "Found: "
            + ", ".join(_of(what.removesuffix("s"), count) for what, count in done.counts.items() if count)
        )
    )
    out.print(
        shown(
            "Guessed: "
            + ", ".join(_of(kind, count) for kind, count in done.guesses.items())
            + f"; each is marked in {done.files[0]}"
        )
    )
    for line in done.said:
        out.print(shown(f"note: {line}"))
    for path in done.kept:
        out.print(shown(f"kept as changed by hand: {path}"))
    context = shlex.quote(str(done.files[0]))
    if done.sentence:
        out.print(
            shown("\nNext, with a sentence of your own in place of this habit of the records:", keep="\n")
        )
        out.print(shown(f"  gnrs goal new {context} --sentence {shlex.quote(done.sentence)}"), soft_wrap=True)
    else:
        out.print(shown("\nNext:", keep="\n"))
    out.print(shown(f"  gnrs draft {context} --out rule"), soft_wrap=True)
    out.print(shown(f"  gnrs audit {context} --rule rule/rule.json"), soft_wrap=True)


def _of(kind: str, count: int) -> str:
    return f"{count:,} {kind}{'' if count == 1 or kind.endswith('s') else 's'}"
