"""The main table on the held-out scene family (paper, Table ood)."""

from __future__ import annotations

from gnrs_ppl.experiments import main
from gnrs_ppl.experiments.runner import Experiment, Report, Run


def report(run: Run) -> Report:
    """The table and its yardsticks."""
    rows = run.rows("ood")
    table = main.main_table("ood", "Held-out scene family without a model", rows, run.request)
    note = "All goals are of one family: an interval over families says nothing here."
    return Report([table, main.yardsticks(rows)], notes=[note])


EXPERIMENT = Experiment(
    "ood", "Do the figures hold in a scene family nothing was tuned on?", report, main.wanted, main.measure, split="ood"
)
