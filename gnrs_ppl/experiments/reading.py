"""How well goals are read: ``python -m gnrs_ppl.experiments.reading [--sentences FILE] [--logs FOLDER]
[--json]``.

Four tables. English sentences of Text2Declare with gold constraints, a third of which was held out while the
reader was written (by the first activity, so that paraphrases stand together). Sentences of compliance
officers in twelve lines of work and on ten business logs, which neither the reader's authors nor its
training saw. The dev goals drafted from their sentences alone, fields emptied, and from ten sets of
rewordings, of which h, i and j nobody looked at; the weights of each are fitted to the other fifteen goals.
Sentences about real logs, each with the rule it means or the reason to refuse it. What is
missing beside the checkout is left out and said.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
import yaml
from rich.table import Table

from gnrs_ppl.benchmarks import load_context
from gnrs_ppl.calibration.objective import problem_of
from gnrs_ppl.calibration.problem import dev_data, dev_goals
from gnrs_ppl.calibration.validation import fitted_to_others
from gnrs_ppl.calibration.weights import frozen_weights
from gnrs_ppl.candidates.build import pools_of
from gnrs_ppl.context.load import Context, with_log
from gnrs_ppl.context.types import Goal, Schema
from gnrs_ppl.draft import of_reading
from gnrs_ppl.errors import AmbiguousSentence, GnrsError, Refused
from gnrs_ppl.evaluate.audit_f1 import audit_score, verdicts
from gnrs_ppl.experiments.random_rules import random_rules, stated_by
from gnrs_ppl.inference.exact import enumerate_space
from gnrs_ppl.models.energy import contract
from gnrs_ppl.models.graph import compile_graph
from gnrs_ppl.reading import Readings, read
from gnrs_ppl.reading.constructions import Constructions
from gnrs_ppl.reading.opinions import by_network
from gnrs_ppl.reading.plain import declare_name
from gnrs_ppl.reading.reader import read as by_rules
from gnrs_ppl.reading.reader import vocabulary
from gnrs_ppl.rule.types import Structure
from gnrs_ppl.safe_text import to_json
from gnrs_ppl.terminal import console

HERE = Path(__file__).parent / "sentences"
SENTENCES = Path("../shared/sentences/text2declare_dev.json")
LOGS = Path("build/real_logs")
"""Where ``tools/convert_logs.py`` writes the logs of the third table."""
FURTHER = (
    "practice",
    "practice_data",
    "three_officers",
    "three_auditors",
    "four_drafters",
    "refusals",
    "kept",
    "kept_officers",
    "kept_auditors",
    "five_offices",
    "new_desks",
    "six_desks",
    "seven_writers",
    "eight_tables",
    "voices",
)
"""More sentences about the same logs, as sums. Nobody worked on kept, five_offices, seven_writers and
eight_tables, nor on the even ones of the refusals."""
EMPTY: dict[str, Any] = {
    "required": (),
    "forbidden": (),
    "roles": (),
    "locations": (),
    "objects": (),
    "within": None,
}
RULE_TEXTS = 200
SYMMETRIC = ("CoExistence", "NotCoExistence")


class TemplateScore(NamedTuple):
    """Sentences of one part and template: how many, with the template right, with template and acts right,
    with nothing read.
    """

    part: str
    template: str
    sentences: int
    template_right: int
    right: int
    unread: int


def kept_from_fit(activities: Sequence[str]) -> bool:
    """Whether a sentence of Text2Declare is kept from the fit: a third, by the first activity."""
    return int(hashlib.sha256(activities[0].encode()).hexdigest(), 16) % 3 == 0


def by_constructions(sentence: str, schema: Schema) -> Readings:
    """What the constructions alone say."""
    return Readings(sentence, tuple(Constructions(sentence, vocabulary(schema)).said.statements))


def sentence_scores(path: Path) -> list[TemplateScore]:
    """Per part (dev, held out) and template, and their sums."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in json.loads(path.read_text(encoding="utf-8")):
        part = "held out" if kept_from_fit(row["activities"]) else "dev"
        schema = Schema.model_validate(
            {"actions": [{"name": a["name"], "phrase": a["phrase"]} for a in row["schema"]]}
        )
        readings = read(row["text"], schema)
        best = readings.statements[0].best if readings.statements else None
        name = declare_name(best.template, best.count) if best else ""
        acts = list(best.activities) if best else []
        same = sorted(acts) == sorted(row["activities"]) if name in SYMMETRIC else acts == row["activities"]
        right = name == row["template"]
        found = {"sentences": 1, "template_right": right, "right": right and same, "unread": best is None}
        for template in (row["template"], "all"):
            counts.setdefault((part, template), Counter()).update({k: int(v) for k, v in found.items()})
    ordered = sorted(counts, key=lambda key: (key[0], key[1] == "all", key[1]))
    return [TemplateScore(*key, *(counts[key][f] for f in TemplateScore._fields[2:])) for key in ordered]


class Stating(NamedTuple):
    """What is read of sentences: constraints they state, how many read right, how many read beside them;
    sentences that state none that the acts can hold, and in how many of these nothing was read, or a
    circumstance that no act shows was told with it.
    """

    source: str
    statements: int
    right: int
    beside: int
    without: int
    unread: int


class Trust(NamedTuple):
    """How far readings can be relied on.

    Attributes
    ----------
    source : str
    sentences : int
    rules, network : int
        Whole sentences read right by rules alone, and by the network's most probable meaning alone.
    right : int
        By both together, asked about or not.
    sure, sure_right : int
        Sentences that a rule would be drafted of without a question, and how many of them were read right.
    answered : int
        Right where a person chooses among the meanings that are listed.
    rs1, rs10 : float
        RS(N) of EHRSQL, a mean over sentences: right or rightly silent 1, a question 0, sure and wrong -N.
    calibration_error : float
        Expected, over ten bins of the most probable meaning's probability.
    """

    source: str
    sentences: int
    rules: int
    network: int
    right: int
    sure: int
    sure_right: int
    answered: int
    rs1: float
    rs10: float
    calibration_error: float


def trust(source: str, sentences: Iterable[LabelledSentence]) -> Trust:
    """How far readings of labelled sentences can be relied on."""
    counts, bins = Counter[str](), dict[int, list[tuple[float, bool]]]()
    for sentence in sentences:
        wanted = _stated(sentence)
        readings = read(sentence.text, sentence.schema)
        got = [constraints(way) for way in readings.ways]
        network = by_network(sentence.text, sentence.schema)[0]
        network_right = constraints(Readings(sentence.text, network.statements)) == wanted
        unheld = sentence.refuse == "no_condition" and all(s.best.condition for s in readings.statements)
        sure = bool(got[0]) and not readings.unsure and not unheld
        counts.update(
            sentences=1,
            rules=constraints(by_rules(sentence.text, sentence.schema)) == wanted,
            network=network_right,
            right=got[0] == wanted or unheld,
            sure=sure,
            sure_right=sure and got[0] == wanted,
            answered=wanted in got or unheld or (not wanted and not sure),
            rightly_silent=not wanted and not sure,
        )
        bins.setdefault(min(9, int(10 * network.probability)), []).append(
            (network.probability, network_right)
        )
    n, wrong = counts["sentences"], counts["sure"] - counts["sure_right"]
    right = counts["sure_right"] + counts["rightly_silent"]
    gaps = (len(b) * abs(np.mean([p for p, _ in b]) - np.mean([r for _, r in b])) for b in bins.values())
    figures = {name: counts[name] for name in Trust._fields[1:8]}
    rs1, rs10 = ((right - penalty * wrong) / n for penalty in (1, 10))
    return Trust(source, **figures, rs1=rs1, rs10=rs10, calibration_error=float(sum(gaps)) / n)


def declared(path: Path) -> Iterator[LabelledSentence]:
    """The third of Text2Declare that is held out."""
    for row in json.loads(path.read_text(encoding="utf-8")):
        if kept_from_fit(row["activities"]):
            actions = [{"name": a["name"], "phrase": a["phrase"]} for a in row["schema"]]
            schema = Schema.model_validate({"actions": actions})
            yield LabelledSentence("text2declare", row["text"], schema, [row])


class LabelledSentence(NamedTuple):
    """A text of a line of work, the constraints it states, and why it states none where it does not."""

    domain: str
    text: str
    schema: Schema
    statements: Sequence[Mapping[str, Any]]
    refuse: str = ""


def stating_scores(
    source: str, sentences: Iterable[LabelledSentence], reader: Callable[[str, Schema], Readings] = read
) -> Stating:
    """What is read of sentences with gold constraints."""
    total: Counter[str] = Counter()
    for sentence in sentences:
        readings = reader(sentence.text, sentence.schema)
        got, wanted = constraints(readings), _stated(sentence)
        total.update(
            statements=len(wanted), right=len(got & wanted), beside=len(got - wanted) if wanted else 0
        )
        told = sentence.refuse == "no_condition" and all(s.best.condition for s in readings.statements)
        total.update(without=not wanted, unread=not wanted and (told or not got))
    return Stating(source, *(total[f] for f in Stating._fields[1:]))


def all_right(readings: Readings, sentence: LabelledSentence) -> bool:
    """Whether exactly the constraints were read that a sentence states."""
    return constraints(readings) == _stated(sentence)


def _stated(sentence: LabelledSentence) -> set[tuple[str, tuple[str, ...]]]:
    return {
        (_named(s), _acts(s["template"], s["activities"], bool(s.get("alternatives"))))
        for s in sentence.statements
    }


def sentences_of(path: Path) -> Iterator[LabelledSentence]:
    """The sentences of a file, which lists them by line of work with a schema each."""
    for domain in yaml.safe_load(path.read_text(encoding="utf-8")):
        for entry in domain["sentences"]:
            stated = [] if "refuse" in entry else entry.get("statements") or [entry]
            yield LabelledSentence(
                domain["domain"],
                " ".join(entry["text"].split()),
                _schema(domain),
                stated,
                entry.get("refuse", ""),
            )


def _schema(domain: dict[str, Any]) -> Schema:
    if "schema" not in domain:  # of a real log
        context = yaml.safe_load(
            (HERE / "real_logs" / f"{domain['domain']}.context.yaml").read_text(encoding="utf-8")
        )
        return Schema.model_validate(context["schema"])
    actions = [{k: v for k, v in a.items() if k in ("name", "phrase", "noun")} for a in domain["schema"]]
    named = {
        kind: [{"name": n.replace(" ", "_"), "phrase": n} for n in domain.get(kind) or []]
        for kind in ("roles", "objects")
    }
    return Schema.model_validate({"actions": actions, **named})


def _named(stated: Mapping[str, Any]) -> str:
    """Never a third time is AtMostOne of a higher number."""
    return (
        "AtMostOne"
        if stated["template"] == "Absence" and stated.get("count", 1) > 1
        else str(stated["template"])
    )


def constraints(readings: Readings) -> set[tuple[str, tuple[str, ...]]]:
    """What was read, as sentences with gold constraints list it."""
    found = [s.best for s in readings.statements]
    names = [(declare_name(r.template, r.count, r.joint), r) for r in found]
    names = [("AtMostOne" if r.template == "absence" and r.count > 1 else name, r) for name, r in names]
    got = {(name, _acts(name, r.activities, r.joint == "any")) for name, r in names}
    for acts in {acts for name, acts in got if name == "Choice" and ("NotCoExistence", acts) in got}:
        got = got - {("Choice", acts), ("NotCoExistence", acts)} | {("ExclusiveChoice", acts)}
    return got


def _acts(template: str, activities: Sequence[str], either: bool) -> tuple[str, ...]:
    return (
        tuple(sorted(activities))
        if either or template in (*SYMMETRIC, "Choice", "ExclusiveChoice")
        else tuple(activities)
    )


def _rule_texts() -> Iterator[LabelledSentence]:
    """Texts of random rules over the schemas of the dev goals, which the reader was not fitted on."""
    schemas = [load_context(goal).schema for goal in dev_goals()]
    for structure, text, schema in random_rules(schemas, RULE_TEXTS, 11):
        yield LabelledSentence("rendered", text, schema, stated_by(structure))


def milliseconds(path: Path) -> float:
    """Processor time of a sentence of Text2Declare, the words loaded."""
    rows = [
        (row["text"], Schema.model_validate({"actions": row["schema"]}))
        for row in json.loads(path.read_text(encoding="utf-8"))
    ]
    read(*rows[0])
    start = time.process_time()
    for text, schema in rows:
        read(text, schema)
    return 1000 * (time.process_time() - start) / len(rows)


class Drafted(NamedTuple):
    """Audit F1 (macro, against the records) of a dev goal's best rule, from the fields and sentence, the
    sentence alone, its rewordings.
    """

    goal: str
    fields: float
    sentence: float
    reworded_a: float
    reworded_b: float
    reworded_c: float
    reworded_d: float
    reworded_e: float
    reworded_f: float
    reworded_g: float
    reworded_h: float
    reworded_i: float
    reworded_j: float
    reworded_k: float
    reworded_l: float


def goal_scores() -> Iterator[Drafted]:
    """Each dev goal by weights fitted to the other fifteen, the prior's strength as frozen; what cannot be
    drafted scores 0.
    """
    ids = dev_goals()
    betas = fitted_to_others(problem_of(dev_data()), len(ids), _frozen_kappa())
    words = [
        yaml.safe_load((HERE / f"dev_reworded_{which}.yaml").read_text(encoding="utf-8"))
        for which in "abcdefghijkl"
    ]
    for goal, beta in zip(ids, betas, strict=True):
        context = load_context(goal)
        alone = _reworded(context, {})
        contexts = [context, alone, *(_reworded(context, {"intent": said[goal]}) for said in words)]
        yield Drafted(goal, *(_f1(c, goal, beta / beta.sum()) for c in contexts))


def _frozen_kappa() -> float:
    from gnrs_ppl.calibration.weights import FROZEN

    return float(json.loads(FROZEN.read_text(encoding="utf-8"))["objective"]["kappa"])


def _reworded(context: Context, said: Mapping[str, Any]) -> Context:
    goal: Goal = context.goal.model_copy(update=EMPTY | dict(said))
    return replace(context, goal=goal, scene=context)


def _f1(context: Context, goal: str, weights: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    try:
        graph = compile_graph(context, pools_of(context).pools)
    except GnrsError:
        return 0.0
    found = enumerate_space(contract(graph.space, weights))
    best = int(np.where(found.feasible, found.score, -np.inf).argmax())
    position = [int(i) for i in np.unravel_index(best, tuple(found.sizes))]
    return audit_score(graph.structure(position), goal).record.macro


class OnLog(NamedTuple):
    """A sentence about a real log: what it should give, what it gave, whether it was read, drafted or
    refused rightly, and whether it is where a person chooses among the meanings that are listed.
    """

    id: str
    log: str
    kind: str
    expected: str
    got: str
    read_right: bool
    right: bool
    answered: bool


def log_scores(folder: Path, file: str = "sentences") -> Iterator[OnLog]:
    """Each sentence of a file drafted on its log; a draft is right where its verdicts are the reference's,
    case by case.
    """
    entries = yaml.safe_load((HERE / "real_logs" / f"{file}.yaml").read_text(encoding="utf-8"))
    scenes: dict[str, Context] = {}
    for entry in entries:
        name = entry["log"]
        if name not in scenes:
            loaded = load_context(str(HERE / "real_logs" / f"{name}.context.yaml"))
            file_of_log = Path(loaded.records.log or "").name
            scenes[name] = replace(loaded, records=with_log(loaded.records, folder / file_of_log))
        scene = scenes[name]
        goal = scene.goal.model_copy(
            update=EMPTY | {"id": entry["id"], "intent": " ".join(entry["sentence"].split())}
        )
        context = replace(scene, goal=goal, scene=scene)
        expected = entry["expected"]
        readings = read(goal.intent, scene.schema, scene.records.channels, scene.records.attributes)
        drafted, got, ways = _drafted(context)
        if "refused" in expected:
            wanted = expected["refused"]
            wanted = wanted if isinstance(wanted, str) else wanted["reason"]
            silent = not drafted
            yield OnLog(
                entry["id"], name, entry["kind"], wanted, got, not readings.statements, got == wanted, silent
            )
            continue
        rule = Structure.model_validate(expected["rule"])
        read_right = reads(readings, rule)
        same = drafted is not None and _same_verdicts(drafted, rule, scene)
        answered = same or any(
            _same_verdicts(way, rule, scene)
            for number in range(1, ways + 1)
            if (way := _drafted(of_reading(context, number))[0]) is not None
        )
        template = rule.norm.constraints[0].template
        yield OnLog(entry["id"], name, entry["kind"], template, got, read_right, same, answered)


def _drafted(context: Context) -> tuple[Structure | None, str, int]:
    """A rule, what became of it in a word, and among how many meanings a person has to choose."""
    import gnrs_ppl as gnrs

    try:
        return gnrs.draft(context, kernel="exact", chains=1, steps=1).structure, "drafted", 0
    except AmbiguousSentence as asked:
        return None, "asked", len(asked.readings)
    except Refused as refused:
        return None, refused.reason or str(refused), 0
    except GnrsError as error:
        return None, str(error), 0


def _same_verdicts(drafted: Structure, rule: Structure, scene: Context) -> bool:
    try:
        return verdicts(drafted, scene.log) == verdicts(rule, scene.log)
    except GnrsError:
        return False


def reads(readings: Readings, rule: Structure) -> bool:
    """Whether a statement, as most probably read, has template and acts of one of a rule's constraints."""
    return any(_same(s.best.template, s.best.activities, rule) for s in readings.statements)


def _same(template: str, activities: tuple[str, ...], rule: Structure) -> bool:
    """Whether a reading has the template and the acts of one of the reference's constraints."""
    opener = rule.trigger.act.activities if rule.trigger.act else ()
    return any(
        template == c.template
        and set(activities)
        in (
            {*c.target.activities, *opener},
            {*c.target.activities, *(c.after.act.activities if c.after else opener)},
        )
        for c in rule.norm.constraints
    ) or any(
        template == c.template and set(activities) == set(c.target.activities) for c in rule.norm.constraints
    )


def main(
    sentences: Annotated[
        Path, typer.Option(help="Sentences with gold templates (Text2Declare).")
    ] = SENTENCES,
    logs: Annotated[Path, typer.Option(help="Folder of the converted logs.")] = LOGS,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Print how well goals are read, and what the drafts are worth."""
    frozen_weights()
    one = sentence_scores(sentences) if sentences.is_file() else []
    officers = [
        stating_scores("officers", sentences_of(HERE / "officers.yaml")),
        stating_scores(
            "officers, constructions alone", sentences_of(HERE / "officers.yaml"), by_constructions
        ),
        stating_scores("business logs", sentences_of(HERE / "business.yaml")),
        stating_scores("texts of random rules", _rule_texts()),
    ]
    trusted = [
        *([trust("Text2Declare, held out", declared(sentences))] if sentences.is_file() else []),
        trust("officers", sentences_of(HERE / "officers.yaml")),
        trust("business logs", sentences_of(HERE / "business.yaml")),
    ]
    two = list(goal_scores())
    three = list(log_scores(logs)) if logs.is_dir() else []
    further = {name: list(log_scores(logs, name)) for name in FURTHER} if logs.is_dir() else {}
    if as_json:
        print(
            to_json(
                {
                    "sentences": [s._asdict() for s in one],
                    "trust": [s._asdict() for s in trusted],
                    "stating": [s._asdict() for s in officers],
                    "goals": [dict(zip(Drafted._fields[:3], g[:3], strict=True)) for g in two],
                    "means": _means(two),
                    "logs": [x._asdict() for x in three],
                    "further": {name: _sums(rows) for name, rows in further.items()},
                }
            )
        )
        return
    screen = console()
    screen.print(
        _table("Sentences of Text2Declare", TemplateScore._fields, one) if one else f"no file {sentences}"
    )
    for part in ("dev", "held out") if one else ():
        whole = next(s for s in one if s.part == part and s.template == "all")
        n = whole.sentences
        accuracy = f"template {whole.template_right / n:.3f}, template and acts {whole.right / n:.3f}"
        screen.print(f"{part}: {accuracy}, unread {whole.unread} of {n}")
    if one:
        screen.print(f"{milliseconds(sentences):.1f} ms of processor time a sentence")
    screen.print(_table("How far readings can be relied on", Trust._fields, trusted))
    screen.print(
        _table("Sentences of officers and on business logs, texts of random rules", Stating._fields, officers)
    )
    # the rewordings are there to be averaged: goal by goal they would be tuned on
    screen.print(
        _table(
            "Dev goals, audit F1 by weights fitted to the others", Drafted._fields[:3], [g[:3] for g in two]
        )
    )
    screen.print("means: " + ", ".join(f"{name} {mean:.3f}" for name, mean in _means(two).items()))
    screen.print(
        _table("Sentences about real logs", OnLog._fields, three)
        if three
        else f"no folder {logs}; see tools/convert_logs.py"
    )
    for name, rows in ({"": three} | further).items() if three else ():
        sums = _sums(rows)
        screen.print(
            f"{name + ': ' if name else ''}read right {sums['read_right']} of {sums['rules']}, "
            f"drafted without a question {sums['sure']}, right {sums['sure_right']}, "
            f"right after one answer {sums['answered']}, "
            f"refused rightly {sums['refused_rightly']} of {sums['refusals']}, "
            f"drafted of them {sums['nonsense']}"
        )


def _sums(rows: Sequence[OnLog]) -> dict[str, int]:
    """How many sentences about logs were read, drafted and refused rightly."""
    rules, refusals = [x for x in rows if x.kind != "refuse"], [x for x in rows if x.kind == "refuse"]
    return {
        "rules": len(rules),
        "read_right": sum(x.read_right for x in rules),
        "right": sum(x.right for x in rules),
        "refusals": len(refusals),
        "refused_rightly": sum(x.right for x in refusals),
        "sure": sum(x.got == "drafted" for x in rules),
        "sure_right": sum(x.right for x in rules if x.got == "drafted"),
        "answered": sum(x.answered for x in rules),
        "nonsense": sum(x.got == "drafted" for x in refusals),
    }


def _means(rows: list[Drafted]) -> dict[str, float]:
    return {name: float(np.mean([row[k] for row in rows])) for k, name in enumerate(Drafted._fields) if k}


def _table(title: str, columns: tuple[str, ...], rows: list[Any]) -> Table:
    table = Table(*columns, title=title)
    for row in rows:
        table.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else str(cell)[:70] for cell in row))
    return table


if __name__ == "__main__":
    typer.run(main)
