"""Sentences with their labels as the reader's model learns them: what is stated of acts and of pairs of acts.

``python -m training.labels [FILE …]`` writes build/reader/examples.jsonl and prints counts.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from gnrs_ppl.context.time import Duration
from gnrs_ppl.reading.decoder import BACKWARD
from gnrs_ppl.reading.network import RELATIONS, SYMMETRIC, UNARY
from gnrs_ppl.reading.quantities import durations
from training import corpus
from training.agreement import compared, templates

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "reader" / "examples.jsonl"
TEXT2DECLARE = ROOT.parent / "shared" / "sentences" / "text2declare_dev.json"
DECLARE = {
    "Response": "response",
    "Precedence": "precedence",
    "RespondedExistence": "responded",
    "NotResponse": "not_response",
    "NotPrecedence": "not_response",
    "ChainResponse": "chain_response",
    "ChainPrecedence": "chain_precedence",
    "NotChainResponse": "not_chain",
    "NotChainPrecedence": "not_chain",
    "Succession": "response+precedence",
    "ChainSuccession": "chain_response+chain_precedence",
    "AlternateSuccession": "alternate_response+alternate_precedence",
    "AlternateResponse": "alternate_response",
    "AlternatePrecedence": "alternate_precedence",
    "CoExistence": "together",
    "NotCoExistence": "not_together",
    "Choice": "choice",
    "ExclusiveChoice": "xor",
    "AtLeastOne": "at_least",
    "Existence": "at_least",
    "AtMostOne": "at_most",
    "Absence": "ban",
    "Exactly": "exactly",
    "Init": "first",
    "End": "last",
}
IMPLIED = {"chain_response": "response", "alternate_response": "response", "not_response": "not_chain"}
"""A duty that says what another of the same pair says, and more."""


class Unexpressed(ValueError):
    """A label that the model's heads cannot hold."""


@dataclass
class Example:
    """A sentence, the acts and roles it may speak of, and what it states; acts and roles by their place.

    Attributes
    ----------
    mentions : list of (int, int, int)
        First character, the one after the last, act.
    acts : list of (str, str)
        Label and verb phrase, or an empty one.
    durations : list of (int, int)
        Characters of each duration of the text.
    unary : dict
        Act: (index into UNARY, count).
    relations : dict
        (act, act): index into RELATIONS.
    ways : list of (int, int)
        Pairs of acts of which either will do.
    excused : list of (int, int, int)
        Act that excuses, act whose duty it excuses, 2 where only between the two and 1 else.
    persons : list of (int, int, int)
        Act, act, 1 where by the same person and 2 where by another.
    by : list of (int, int, int)
        Act, role, 1 where by that role and 2 where by everybody else.
    deadlines : list of (int, int)
        Duration, act whose duty it limits.
    condition : bool
        Whether a duty depends on data or a circumstance that no act shows.
    refused : str or None
        Why nothing is to be drafted; None where nobody labelled it.
    labelled : set of str
        Heads that the source labels: any of mentions, by, deadlines, should.
    """

    source: str
    split: str
    domain: str
    text: str
    acts: list[tuple[str, str]]
    roles: list[str] = field(default_factory=list)
    mentions: list[tuple[int, int, int]] = field(default_factory=list)
    durations: list[tuple[int, int]] = field(default_factory=list)
    unary: dict[int, tuple[int, int]] = field(default_factory=dict)
    relations: dict[tuple[int, int], int] = field(default_factory=dict)
    ways: list[tuple[int, int]] = field(default_factory=list)
    excused: list[tuple[int, int, int]] = field(default_factory=list)
    persons: list[tuple[int, int, int]] = field(default_factory=list)
    by: list[tuple[int, int, int]] = field(default_factory=list)
    deadlines: list[tuple[int, int]] = field(default_factory=list)
    should: list[int] = field(default_factory=list)
    condition: bool = False
    refused: str | None = ""
    twin: bool = False
    labelled: list[str] = field(default_factory=list)
    _stated: dict[tuple[int, int], set[str]] = field(default_factory=dict)

    def relate(self, template: str, left: int, right: int) -> None:
        """Add a relation of two acts."""
        for part in template.split("+"):
            self._stated.setdefault((left, right), set()).add(part)
            if part in SYMMETRIC:
                self._stated.setdefault((right, left), set()).add(part)

    def alone(self, name: str, act: int, count: int = 1) -> None:
        """Add what is stated of an act alone; raises Unexpressed where two things are."""
        if act in self.unary and self.unary[act] != (UNARY.index(name), count):
            raise Unexpressed(f"two statements of one act alone: {name}")
        self.unary[act] = UNARY.index(name), count

    def either(self, acts: Iterable[int]) -> None:
        """Add that any of some acts will do."""
        listed = sorted(set(acts))
        self.ways += [(i, j) for i in listed for j in listed if i != j]

    def settle(self) -> None:
        """Turn what was added into classes of pairs; raises Unexpressed where a pair has none."""
        for pair, names in self._stated.items():
            if pair[0] == pair[1]:
                raise Unexpressed("an act related to itself")
            names = names - {IMPLIED[n] for n in names if n in IMPLIED}
            name = (
                next(iter(names))
                if len(names) == 1
                else next((r for r in RELATIONS if set(r.split("+")) == names), None)
            )
            if name is None:
                raise Unexpressed(f"several relations of one pair: {'+'.join(sorted(names))}")
            self.relations[pair] = RELATIONS.index(name)
        self._stated.clear()

    def limit(self, text: str, act: int) -> None:
        """Add a deadline, ISO 8601, to the duty of an act; where no words hold it no deadline is labelled."""
        wanted = Duration.parse(text)
        for number, (start, end) in enumerate(self.durations):
            length = next(x for x in durations(self.text) if (x.start, x.end) == (start, end))
            if length.duration == wanted:
                self.deadlines.append((number, act))
                return
        self.labelled = [name for name in self.labelled if name != "deadlines"]

    def as_json(self) -> str:
        """One line of the file."""
        data = asdict(self)
        del data["_stated"]
        data["unary"] = [[act, *stated] for act, stated in self.unary.items()]
        data["relations"] = [[*pair, relation] for pair, relation in self.relations.items()]
        return json.dumps(data, ensure_ascii=False)


def of_corpus(block: corpus.Block, sentence: corpus.Sentence) -> Example:
    """A sentence of the corpus; raises Unexpressed."""
    place = {letter: k for k, letter in enumerate(block.acts)}
    example = Example(
        "corpus",
        block.split,
        block.domain,
        sentence.text,
        [(act.label, act.phrase) for act in block.acts.values()],
        list(block.roles),
        [(m.start, m.end, place[m.act]) for m in sentence.mentions if m.end > m.start],
        [(x.start, x.end) for x in durations(sentence.text)],
        refused=sentence.refused,
        twin=sentence.twin,
        labelled=["mentions", "by", "deadlines", "should"],
    )
    for statement in sentence.statements:
        _add(example, statement, place)
    example.settle()
    return example


def _add(example: Example, statement: corpus.Statement, place: Mapping[str, int]) -> None:
    left, right = ([place[x] for x in side] for side in (statement.left, statement.right))
    options = dict(statement.options)
    template = "not_response" if statement.template == "not_before" else statement.template
    if right:
        if statement.left_all and template not in BACKWARD and len(left) > 1:
            raise Unexpressed("a duty that two acts together open")
        for i in left:
            for j in right:
                example.relate(template, i, j)
        if template in BACKWARD and not statement.left_all:
            example.either(left)
        elif template not in (*BACKWARD, "not_response", "not_chain") and not statement.right_all:
            example.either(right)
    elif template in SYMMETRIC:
        for i in left:
            for j in left:
                if i < j:
                    example.relate(template, i, j)
    else:
        for i in left:
            example.alone(template, i, statement.times)
        if not statement.left_all and template == "at_least":
            example.either(left)
    bound = right or left
    for name in ("unless", "unless_since"):
        for letter in filter(None, options.get(name, "").split("|")):
            example.excused += [(place[letter], j, 1 + (name == "unless_since")) for j in bound]
    if person := options.get("person"):
        pairs = [(i, j) for i in left for j in (right or left) if i != j]
        example.persons += [(i, j, 1 if person == "same" else 2) for i, j in pairs]
    for name, acts in (("who", bound), ("opener", left)):
        words = options.get(name, "")
        way = 2 if words.startswith("not ") else 1
        for role in filter(None, re.split(r"[|,]| or ", words.removeprefix("not "))):
            example.by += [(i, example.roles.index(role.strip()), way) for i in acts]
    if "within" in options:
        for j in bound:
            example.limit(options["within"], j)
    if "count" in options:
        for j in right:
            example.unary.setdefault(j, (0, int(options["count"])))
    example.should += bound if "should" in options else []
    example.condition |= "where" in options


def of_declare(
    source: str,
    split: str,
    domain: str,
    text: str,
    schema: Sequence[Mapping[str, Any]],
    entry: Mapping[str, Any],
) -> Example:
    """A sentence with DECLARE constraints; raises Unexpressed."""
    text = " ".join(text.split())
    refused = {"no_such_act": "no_act", "no_condition": "no_field"}.get(
        entry.get("refuse", ""), entry.get("refuse", "")
    )
    example = Example(
        source,
        split,
        domain,
        text,
        [(act["name"], act.get("phrase", "")) for act in schema],
        durations=[(x.start, x.end) for x in durations(text)],
        refused=refused,
        labelled=["deadlines"],
    )
    place = {act["name"]: k for k, act in enumerate(schema)}
    for stated in [] if refused else entry.get("statements") or [entry]:
        acts = [place[a] for a in stated["activities"]]
        name, count = DECLARE[stated["template"]], int(stated.get("count", 1))
        if stated["template"] == "Absence" and count > 1:
            raise Unexpressed("absence of several")
        if name in UNARY:
            for act in acts:
                example.alone(name, act, count)
            if len(acts) > 1:
                example.either(acts)
        elif name in BACKWARD:
            for act in acts[:-1]:
                example.relate(name, act, acts[-1])
            if stated.get("alternatives"):
                example.either(acts[:-1])
        else:
            for act in acts[1:]:
                example.relate(name, acts[0], act)
            if stated.get("alternatives"):
                example.either(acts[1:])
        if x := stated.get("exception"):
            if x not in place:
                raise Unexpressed("an exception that is no act")
            example.excused.append((place[x], acts[-1], 1))
        if who := stated.get("who"):
            example.persons.append((acts[0], acts[-1], 1 if who == "same_person" else 2))
        if time := stated.get("time"):
            example.limit(time, acts[-1])
        if stated.get("condition"):
            example.condition, example.refused = True, None
    example.settle()
    return example


def examples(dropped: Counter[str] | None = None, paths: Sequence[Path] = ()) -> Iterator[Example]:
    """Every example of every source; what the heads cannot hold is counted in ``dropped``."""
    dropped = Counter() if dropped is None else dropped
    differ = differing(paths)
    unread = sorted(corpus.CORPUS.glob("unread-*.txt.gz"))
    for part, block in [
        *(("", b) for b in corpus.blocks(paths, [])),
        *(("logs", b) for b in corpus.blocks(unread, [])),
    ]:
        for number, sentence in enumerate(block.sentences, 1):
            if not part and f"{block.number}.{number}" in differ:
                dropped["its two labellers differ"] += 1
                continue
            try:
                example = of_corpus(block, sentence)
            except (Unexpressed, ValueError) as why:
                dropped[str(why)] += 1
            else:
                yield replace(example, source="unread", split=part) if part else example
    for path in sorted((ROOT / "tools" / "sentences").glob("*.yaml")):
        yield from _of_file(path, dropped)
    for name in ("officers", "business"):  # never fitted on
        yield from _of_file(
            ROOT / "gnrs_ppl" / "experiments" / "sentences" / f"{name}.yaml", dropped, "dev", name
        )
    yield from _of_logs(dropped)
    if TEXT2DECLARE.is_file():
        for entry in json.loads(TEXT2DECLARE.read_text(encoding="utf-8")):
            kept = int(hashlib.sha256(entry["activities"][0].encode()).hexdigest(), 16) % 3 == 0
            yield of_declare(
                "text2declare",
                "held_out" if kept else "fit",
                "text2declare",
                entry["text"],
                entry["schema"],
                entry,
            )


def differing(paths: Sequence[Path] = ()) -> set[str]:
    """Sentences, such as ``2-004.1``, of which two labellers say different templates or acts."""
    written = paths or sorted(corpus.CORPUS.glob("written-*.txt.gz"))
    labels = sorted(corpus.CORPUS.glob("second-*.txt.gz"))
    found = compared(labels, list(corpus.blocks(written, [])))
    return {
        name
        for name, _, first, second in found
        if second is not None and templates(first) != templates(second)
    }


def _of_file(path: Path, dropped: Counter[str], source: str = "tools", part: str = "") -> Iterator[Example]:
    for domain in yaml.safe_load(path.read_text(encoding="utf-8")):
        split = part or corpus.Block("", domain["domain"]).split
        schema = domain.get("schema") or _schema(domain["domain"])
        for entry in domain["sentences"]:
            try:
                yield of_declare(source, split, domain["domain"], entry["text"], schema, entry)
            except (Unexpressed, KeyError) as why:
                dropped[str(why)] += 1


def of_log(source: str, split: str, entry: Mapping[str, Any]) -> Example:
    """A sentence about a real log with the rule it means there, or why it means none; raises Unexpressed."""
    text, expected, schema = " ".join(entry["sentence"].split()), entry["expected"], _schema(entry["log"])
    example = Example(
        source,
        split,
        entry["log"],
        text,
        [(act["name"], act.get("phrase", "")) for act in schema],
        durations=[(x.start, x.end) for x in durations(text)],
        labelled=["deadlines"],
    )
    if "refused" in expected:
        reason = (
            expected["refused"] if isinstance(expected["refused"], str) else expected["refused"]["reason"]
        )
        if reason not in LOG_REASONS:
            raise Unexpressed(f"refused for {reason}")
        example.refused = LOG_REASONS[reason]
        return example
    place = {act["name"]: k for k, act in enumerate(schema)}
    rule = expected["rule"]
    opener = rule["trigger"].get("act")
    for stated in rule["norm"]["constraints"]:
        targets, conditional = _acts_of(stated["target"], place)
        after = stated.get("after", {}).get("act") if isinstance(stated.get("after"), dict) else None
        openers, also = _acts_of(after or opener, place) if after or opener else ([], False)
        example.condition |= conditional or also or "scope" in rule
        name = LOG_TEMPLATES.get(stated["template"], stated["template"])
        look_back = stated["template"] in (*BACKWARD, "not_precedence")
        later = openers if look_back else targets
        count = int(stated.get("count", 1))
        if name in ("existence", "absence", "exactly", "init", "end"):
            kind = {
                "existence": "at_least",
                "init": "first",
                "end": "last",
                "absence": "ban" if count == 1 else "at_most",
            }
            if openers:
                raise Unexpressed("a count after an opener")
            for act in targets:
                example.alone(kind.get(name, name), act, count - (name == "absence" and count > 1))
            later = targets
        else:
            if not openers:
                raise Unexpressed("no opener")
            for i in openers:
                for j in targets:
                    example.relate(name, *((j, i) if look_back else (i, j)))
        example.either(targets if len(targets) > 1 else [])
        if x := stated.get("unless"):
            example.excused += [
                (k, j, 1 + bool(stated.get("in_the_meantime"))) for k in _acts_of(x, place)[0] for j in later
            ]
        if (
            person := {"same_resource": 1, "different_resource": 2}.get(stated.get("correlate", ""))
        ) and openers:
            pairs = [(j, i) if look_back else (i, j) for i in openers for j in targets]
            example.persons += [(i, j, person) for i, j in pairs]
        if time := stated.get("deadline"):
            for j in later:
                example.limit(time, j)
    example.settle()
    return example


def _acts_of(act: Any, place: Mapping[str, int]) -> tuple[list[int], bool]:
    """Acts of a rule's part, and whether it has conditions."""
    if isinstance(act, str):
        return [place[act]], False
    names = act.get("any_of") or [act["activity"]]
    return [place[n if isinstance(n, str) else n["activity"]] for n in names], "where" in act


LOG_REASONS = {
    "no_duty": "no_duty",
    "no_such_act": "no_act",
    "no_such_field": "no_field",
    "no_condition": "no_field",
    "no_such_role": "no_role",
    "time_not_read": "no_time",
}
LOG_TEMPLATES = {
    "responded_existence": "responded",
    "coexistence": "together",
    "not_coexistence": "not_together",
    "succession": "response+precedence",
    "chain_succession": "chain_response+chain_precedence",
    "alternate_succession": "alternate_response+alternate_precedence",
    "exclusive_choice": "xor",
    "not_precedence": "not_response",
    "not_chain_response": "not_chain",
    "not_chain_precedence": "not_chain",
    "not_succession": "not_response",
}
UNSEEN = ("kept", "kept_officers", "kept_auditors", "five_offices", "seven_writers", "eight_tables")
"""Files of sentences on real logs that nobody worked on."""


def _of_logs(dropped: Counter[str]) -> Iterator[Example]:
    for path in sorted((ROOT / "gnrs_ppl" / "experiments" / "sentences" / "real_logs").glob("*.yaml")):
        if path.name.endswith(".context.yaml"):
            continue
        part = "dev" if path.stem in UNSEEN else "fit"
        for number, entry in enumerate(yaml.safe_load(path.read_text(encoding="utf-8"))):
            unseen = path.stem == "refusals" and number % 2 == 1
            try:
                yield of_log("logs", "dev" if unseen else part, entry)
            except (Unexpressed, KeyError) as why:
                dropped[f"logs: {why}"] += 1


def _schema(log: str) -> list[dict[str, Any]]:
    path = ROOT / "gnrs_ppl" / "experiments" / "sentences" / "real_logs" / f"{log}.context.yaml"
    actions: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["schema"]["actions"]
    return actions


def main(arguments: Sequence[str]) -> None:
    """Write the examples and print their counts."""
    dropped: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    OUT.parent.mkdir(parents=True, exist_ok=True)
    with OUT.open("w", encoding="utf-8") as file:
        for example in examples(dropped, [Path(a) for a in arguments]):
            file.write(example.as_json() + "\n")
            counts[f"{example.source} {example.split}"] += 1
    for name, count in sorted(counts.items()):
        print(f"{count:7,} {name}")
    print("\n".join(f"{count:7,} left out: {name}" for name, count in dropped.most_common(40)))


if __name__ == "__main__":
    main(sys.argv[1:])
