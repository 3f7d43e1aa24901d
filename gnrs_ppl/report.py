"""What a person sees: a draft, an audit and a search as text and tables. Text from files is never read as markup."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rich.padding import Padding

from gnrs_ppl.audit.result import AuditResult, due_text
from gnrs_ppl.audit.types import VERDICTS, InstanceVerdict
from gnrs_ppl.errors import one_line
from gnrs_ppl.report_reading import print_account, print_short, said
from gnrs_ppl.terminal import console as _console
from gnrs_ppl.terminal import row as _row
from gnrs_ppl.terminal import shown
from gnrs_ppl.terminal import table as _table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from gnrs_ppl.benchmarks.gnrs_bench import BenchmarkGoal
    from gnrs_ppl.benchmarks.realcharter import Card
    from gnrs_ppl.calibration.fit import Fit
    from gnrs_ppl.draft import Draft, Search
    from gnrs_ppl.evaluate.audit_f1 import F1
    from gnrs_ppl.evaluate.summary import GoalSummary
    from gnrs_ppl.inference.diagnostics import Diagnosis


def print_draft(draft: Draft, written: list[Path]) -> None:
    """Clause, slots, score by feature, grounding, certificate, chains, runner-ups and what was dropped."""
    console = _console()
    console.print(shown(f"Rule for {draft.goal.id}", style="bold"))
    print_short(console, draft.readings, draft.context.rule)
    console.print(Padding(shown(draft.text, keep="\n"), (1, 2)))
    _print_language_model(console, draft)
    if draft.context.records.prospective:
        _print_prospects(console, draft)

    slots = _table("Slots", "slot", "option", "content")
    for slot, option, content in draft.slots():
        _row(slots, slot, option, content)
    console.print(slots)

    score = _table(f"Score  s_search = {draft.search.s_search:.4f}", "feature", "φ", "weight", "w·φ", right=("φ", "weight", "w·φ"))
    weights = draft.search.weights
    for (name, value), weight in zip(draft.search.features().items(), weights.values, strict=True):
        _row(score, name.replace("_", " "), f"{value:.3f}", f"{weight:.2f}", f"{value * weight:.4f}")
    console.print(score)
    console.print(shown(f"weights: {weights.origin}; all hard conditions hold", style="dim"))

    gate = draft.grounding.gate
    grounding = _table(
        f"Grounding  ρ = {gate.rho:.3f}, HARD-OK {'passed' if gate.passed else 'failed'}; {_statements(draft)}",
        "question",
        "count",
        "of",
        "support",
        right=("count", "of"),
    )
    for query in draft.grounding.queries:
        _row(grounding, query.question, f"{query.count:,}", f"{query.of:,}" if query.of else "", query.support or "")
    console.print(grounding)
    for failure in gate.failures:
        console.print(shown(f"HARD-OK: {failure}", style="yellow"))
    for statement, is_said in zip(draft.readings.statements, draft.said, strict=True):
        if not is_said:
            console.print(shown(f"not said: {said(statement.best)}", style="yellow"))
    for line in (*(() if draft.needs else draft.assumptions), *draft.findings):
        console.print(shown(f"note: {line}", style="dim"))

    console.print(shown("Certificate", style="bold"))
    for line in draft.certificate.lines():
        console.print(Padding(shown(line), (0, 2)))
    console.print()
    _print_search_table(console, draft.search)

    if draft.alternatives:
        runners = _table(
            f"Runner-ups, probability {draft.search.at_temperature}",
            "#",
            "probability",
            "s_search",
            "what differs",
            right=("#", "probability", "s_search"),
        )
        for number, other in enumerate(draft.alternatives, 2):
            _row(runners, number, f"{other.probability:.4f}", f"{other.s_search:.4f}", other.differs)
        console.print(runners)
    if draft.dropped:
        dropped = _table("Refused candidates", "slot", "candidate", "why")
        for item in draft.dropped:
            _row(dropped, *item)
        console.print(dropped)
    for path in written:
        console.print(shown(f"wrote {path}", style="dim"))


def _statements(draft: Draft) -> str:
    """How many of the statements that were read the rule says."""
    return f"says {sum(draft.said)} of {len(draft.said)} read statements"


def _print_language_model(console: Console, draft: Draft) -> None:
    """What a language model had to do with it, where one was asked."""
    found = draft.language_model()
    if found is None:
        return
    print_account(console, found)
    if draft.polished:
        lost = "; ".join(draft.polished.lost)
        console.print(shown(f"polish {draft.polished.version}: {draft.polished.outcome}{f' ({lost})' if lost else ''}", style="dim"))
    console.print()


def _print_prospects(console: Console, draft: Draft) -> None:
    """What the audit can say of a rule for which there is no log yet."""
    console.print(shown("Audit: compiled; prospective: no log yet, so nothing has been run. It needs", style="bold"))
    for need in draft.needs:
        console.print(Padding(shown(str(need)), (0, 2)))
    for line in draft.assumptions:
        console.print(Padding(shown(f"note: {line}", style="dim"), (0, 2)))
    if draft.structure.norm.force == "may":
        console.print(Padding(shown("A permission is not checked against records; the rows would only show its use."), (0, 2)))
    console.print(shown("Counts below are zero for want of a log; support is what the record layer declares.", style="dim"))
    console.print()


def print_cards(cards: Sequence[Card]) -> None:
    """Policy cards, by family."""
    console = _console()
    for family in dict.fromkeys(card.family for card in cards):
        table = _table(family, "card", "document", "force", "verified", "numbers", "summary")
        for card in cards:
            if card.family == family:
                _row(table, card.id, card.document.title, card.force, card.verified, len(card.stated_numbers), card.summary)
        console.print(table)
    console.print(shown(f"{len(cards)} cards; a reconstruction in our own words, see docs/realcharter-bench.md", style="dim"))


def print_search(search: Search, out: Path) -> None:
    """How the chains did."""
    console = _console()
    _print_search_table(console, search)
    console.print(shown(f"wrote {out}", style="dim"))


def _print_search_table(console: Console, search: Search) -> None:
    table = _table("Search", "what", "value")
    for what, value in search.rows():
        _row(table, what, value)
    console.print(table)


def print_audit(result: AuditResult, limit: int) -> None:
    """Clause, verdict counts at both levels, and the first violations with their witnesses."""
    console = _console()
    console.print(shown("Rule", style="bold"))
    console.print(Padding(shown(result.text, keep="\n"), (0, 2, 1, 2)))
    log = result.log
    console.print(shown(f"Log: {log['events']:,} events in {log['cases']:,} cases, sha256 {log['fingerprint'][:16]}…", style="dim"))
    counts = _table("Verdicts", "verdict", "instances", "cases", "reasons", right=("instances", "cases"))
    for verdict in VERDICTS:
        reasons = ", ".join(f"{reason.replace('_', ' ')} {n:,}" for reason, n in result.reasons[verdict].items())
        _row(counts, verdict.replace("_", " "), f"{result.counts[verdict]:,}", f"{result.case_counts[verdict]:,}", reasons)
    console.print(counts)
    advisory = " (advisory: a should-rule never fails an audit)" if result.force == "should" else ""
    console.print(shown(f"Violated, of those decided: {result.headline}{advisory}", style="bold"))
    if result.force == "may":
        console.print(shown("A permission is not checked against records."))
    for line in (*result.assumptions, *result.findings):
        console.print(shown(f"note: {line}", style="dim"))
    console.print()
    violated = result.of("violated")
    for found in one_of_each_reason_first(violated)[:limit]:
        console.print(shown(f"Case {one_line(found.case_id)}", style="bold"))
        console.print(Padding(shown(result.sentence(found)), (0, 2)))
        facts = [
            ("witnesses", ", ".join(found.witnesses) or "none"),
            ("bearer", found.bearer or "unknown"),
            ("due", due_text(found.due) or "–"),
        ]
        facts += [("slack", _length(found.slack_seconds))] if found.slack_seconds is not None else []
        console.print(Padding(shown("; ".join(f"{name} {value}" for name, value in facts), style="dim"), (0, 2)))
    if len(violated) > limit:
        console.print(shown(f"… and {len(violated) - limit:,} more; --limit {len(violated)} or --csv lists them", style="dim"))
    if result.procedure.verdicts or result.procedure.status == "prospective":
        _print_procedure(console, result)
    console.print(shown("A violation means the record shows otherwise, not that a person did wrong.", style="italic"))


def one_of_each_reason_first(verdicts: list[InstanceVerdict]) -> list[InstanceVerdict]:
    """The same verdicts, so that the first few show every reason there is."""
    seen: Counter[str] = Counter()
    rounds = []
    for verdict in verdicts:
        rounds.append(seen[verdict.reason])
        seen[verdict.reason] += 1
    return [verdict for _, verdict in sorted(zip(rounds, verdicts, strict=True), key=lambda pair: pair[0])]


def _length(seconds: float) -> str:
    days, rest = divmod(abs(seconds), 86400)
    sign = "−" if seconds < 0 else ""
    return f"{sign}{days:,.0f} days" if days and not rest else f"{sign}{timedelta(seconds=abs(seconds))}"


def _print_procedure(console: Console, result: AuditResult) -> None:
    if result.procedure.status == "prospective":
        console.print(shown("Procedure: prospective; the records cannot show whether its steps are taken.", style="dim"))
        return
    steps = _table(
        "Procedure after violations",
        "step",
        *[v.replace("_", " ") for v in VERDICTS[:4]],
        right=tuple(v.replace("_", " ") for v in VERDICTS[:4]),
    )
    for index, step in enumerate(result.structure.procedure.steps):
        own = [v.verdict for v in result.procedure.verdicts if v.constraint == index]
        _row(steps, f"{step.stage}: {step.name}", *[own.count(v) for v in VERDICTS[:4]])
    console.print(steps)


def print_goals(goals: Sequence[BenchmarkGoal]) -> None:
    """Goals of the benchmark, by family."""
    console = _console()
    for family in dict.fromkeys(g.family for g in goals):
        group = [g for g in goals if g.family == family]
        table = _table(
            f"{family} ({', '.join(group[0].scenes)}): {group[0].stem}", "goal", "category", "split", "required", "forbidden", "sentence"
        )
        for g in group:
            _row(table, g.id, g.category, g.split, " ".join(g.goal.required), " ".join(g.goal.forbidden), g.sentence)
        console.print(table)
    console.print(shown(f"{len(goals)} goals; a reconstruction from the paper's tables, see docs/gnrs-bench.md", style="dim"))


def print_labels(summaries: Sequence[GoalSummary]) -> None:
    """Labels in truth and on record, floors and ceilings, per goal and on average."""
    from gnrs_ppl.evaluate.audit_f1 import mean_f1

    console = _console()
    counts = _table(
        "Held-out cases by verdict: truth / what the record entitles one to say", "goal", *VERDICTS, "grey", right=(*VERDICTS, "grey")
    )
    for s in summaries:
        _row(counts, s.goal + ("" if s.reference.expressible else " *"), *[f"{s.truth[v]}/{s.entitled[v]}" for v in (*VERDICTS, None)])
    console.print(counts)
    names = list(summaries[0].floors) if summaries else []
    scores = _table(
        "Audit F1, macro / violation: floors against the record, ceiling against the truth",
        "goal",
        *names,
        "ceiling",
        right=(*names, "ceiling"),
    )
    for s in summaries:
        _row(scores, s.goal, *[_f1(s.floors[n].record) for n in names], _f1(s.ceiling))
    if summaries:
        columns = [[s.floors[n].record for s in summaries] for n in names] + [[s.ceiling for s in summaries]]
        _row(scores, "mean", *[_f1(mean_f1(column)) for column in columns])
    console.print(scores)
    told = sum(s.reference.expressible for s in summaries)
    console.print(shown(f"* {len(summaries) - told} of {len(summaries)} hidden norms say something the five slots cannot", style="dim"))


def _f1(score: F1) -> str:
    return f"{score.macro:.2f} / {'–' if score.violation is None else f'{score.violation:.2f}'}"


def print_diagnosis(found: Diagnosis, plots: Sequence[Path]) -> None:
    """The verdict in a sentence, the numbers behind it, and notes."""
    console = _console()
    console.print(shown(found.sentence, style="bold"))
    table = _table("Diagnostics", "what", "value")

    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.4g}"

    _row(table, "nested R-hat, and its null's 99 % quantile", f"{number(found.r_hat_nested)}, {number(found.r_hat_null)}")
    _row(table, "R-hat (split, ranks)", number(found.r_hat))
    _row(table, "effective draws: s_search, least indicator", f"{number(found.ess['s_search'])}, {number(found.ess['indicators'])}")
    for slot, excess in (found.tv_excess or {}).items():
        _row(table, f"total variation beyond exact draws, {slot}", f"{excess:+.4f}")
    if found.tv_excess_pairs:
        pair, excess = max(found.tv_excess_pairs.items(), key=lambda item: item[1])
        _row(table, f"total variation beyond exact draws, worst pair ({pair})", f"{excess:+.4f}")
    for move, rate in found.acceptance.items():
        _row(table, f"accepted, {move}", f"{rate:.0%}")
    quantiles = ", ".join(f"{name} {number(value)}" for name, value in found.hitting_time.items())
    _row(table, "steps to the run's best score", quantiles)
    _row(table, "chains that never left their start", "–" if found.never_moved is None else f"{found.never_moved:.0%}")
    console.print(table)
    for note in found.notes:
        console.print(shown(f"note: {note}", style="dim"))
    for path in plots:
        console.print(shown(f"wrote {path}", style="dim"))


def print_fit(fit: Fit, written: list[Path]) -> None:
    """Headline, weights with intervals and contraction, validation, references, lambda."""
    console = _console()
    found = fit.as_dict()
    console.print(shown(found["headline"], style="bold"))
    console.print(
        shown(
            f"τ_fit = {fit.temperature:.4f}, λ = {found['hard_penalty']:g}, objective {fit.fitted.objective:.4f} nats a goal, "
            f"{'converged' if fit.fitted.converged else 'NOT CONVERGED'} after {len(fit.fitted.history) - 1} steps of {fit.optimiser} "
            f"(gradient {fit.fitted.gradient_norm:.1e}), prior strength κ = {fit.kappa:g}, {fit.seconds:.0f} s"
        )
    )
    weights = _table("Weights", "feature", "w", "95 % posterior", "β", "contraction", "", right=("w", "β", "contraction"))
    for f, (name, (low, high)) in enumerate(found["intervals"].items()):
        contraction = found["contraction"][name]
        _row(weights, name.replace("_", " "), f"{fit.weights[f]:.3f}", f"{low:.3f} to {high:.3f}", f"{fit.beta[f]:.2f}",
             f"{contraction['value']:.2f}", contraction["verdict"])  # fmt: skip
    console.print(weights)
    if fit.dropped:
        console.print(shown(f"dropped, as they vary within no goal: {', '.join(fit.dropped)}", style="yellow"))
    held = _table(
        "Leave one goal out", "weights", "log score", "less uniform, 95 %", "mean rank", "median rank",
        right=("log score", "mean rank", "median rank"),
    )  # fmt: skip
    for name, row in found["validation"].items():
        low, high = row["interval"]
        off = row["log_score"] - found["validation"]["uniform"]["log_score"]
        rank, median = f"{row['mean_rank']:,.0f}", f"{row['median_rank']:,.0f}"
        _row(held, name, f"{row['log_score']:.3f}", f"{off:+.3f} [{low:+.3f}, {high:+.3f}]", rank, median)
    console.print(held)
    console.print(shown("rank: of the best reference among the feasible structures of its goal; 1 is first", style="dim"))
    sets = _table("References", "goal", "feasible", "in the set", "mass of p0", *found["references"][0]["options"],
                  right=("feasible", "in the set", "mass of p0"))  # fmt: skip
    for d in fit.data:
        _row(sets, d.goal, f"{int(d.structures.sum()):,}", f"{d.references:,}", f"{d.uniform_mass:.4f}",
             *("/".join(map(str, counts)) for counts in d.verdicts.values()))  # fmt: skip
    console.print(sets)
    console.print(shown("slots: options acceptable / neither / unacceptable", style="dim"))
    columns = ("λ", "infeasible mass", "optimum feasible")
    penalty = _table("Hard penalty, at search temperature", *columns, right=columns)
    for value, mass, share in fit.penalties:
        _row(penalty, f"{value:g}", f"{mass:.2e}", f"{share:.0%}")
    console.print(penalty)
    check, posterior = fit.predictive, fit.posterior
    for line in (
        f"held-out log score by κ: {', '.join(f'{k:g}: {v:.3f}' for k, v in fit.kappas.items())}",
        f"Fisher eigenvalues: {', '.join(f'{v:.2g}' for v in fit.eigenvalues)}",
        f"posterior: R-hat {posterior.r_hat:.3f}, ESS {posterior.ess:.0f}, {posterior.divergences} divergences",
        f"predictive check: of {check.observed} goals in their reference set, replicates have {check.expected:.1f} "
        f"[{check.interval[0]:.0f}, {check.interval[1]:.0f}]",
    ):
        console.print(shown(line))
    for path in written:
        console.print(shown(f"wrote {path}", style="dim"))
