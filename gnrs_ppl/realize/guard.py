"""The guard of the polish: a rule's text as tokens, and whether a model's text has them where they mean what
they meant.

A token is a whole phrase of the renderer's: wherever it stands it keeps its negation, its numbers and what
they are said of. A model may move tokens and join them by a few words and marks. What is read is written anew
from tokens and joints, so no letter of a model's answer gets into a rule.

Read are only places in which a phrase means the same: a duty's who, what and when side by side; nobody's
subject left out but that of the same person; what refers back behind what it refers to; what is said of the
whole rule in a sentence with all duties or none; what follows a breach behind the breach, in its order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gnrs_ppl.errors import one_line
from gnrs_ppl.realize.english import capitalised
from gnrs_ppl.realize.lexicon import Lexicon
from gnrs_ppl.realize.text import sentences
from gnrs_ppl.rule.types import Structure

NOTHING, COMMA, STOP = frozenset({""}), frozenset({","}), frozenset({"."})
SENTENCES = frozenset({".", ";", "; and"})
"""What parts two sentences."""
JOINED = frozenset({" and", ", and"})
SAME_SUBJECT = frozenset({", and"})
BEFORE_DUTIES, BEFORE_EVIDENCE = frozenset({".", ";", ":"}), frozenset({".", ";"})
ANEW = frozenset({". then", "; then", "; and then"})
"""What begins another sentence of what follows a breach."""
BEFORE_APPEAL = SENTENCES | JOINED | ANEW | {" and then", ", and then"}
WITHOUT_OFFICE = frozenset({",", " then", ", then", " and then", ", and then"}) | JOINED
"""What stands between two steps of one office that is not named again."""
LISTED = WITHOUT_OFFICE | ANEW
"""What stands between a step and the office of the next, and more behind a colon."""
AGAIN = ("within that time", "during that period")
"""Times told before; nothing changes where the time that stands in front is heard with them too."""
SAME_PERSON = "the same person"
_JOINT = re.compile(r"(?P<mark>[.,;:]?) ?(?P<conjunction>[Aa]nd )?(?P<then>[Tt]hen )?")


class LockedRule(NamedTuple):
    """A rule's text in tokens.

    Attributes
    ----------
    clause : str
        The renderer's text with a token in place of each phrase: ``[W1] [M1] [T1]. [E].``
    tokens : mapping
        Name -> words, in the order of the text. A name is a piece's kind, with a number where a rule may have
        several; who, what and when of a duty share theirs.
    offices : mapping
        Name of a step -> name of its office.
    """

    clause: str
    tokens: Mapping[str, str]
    offices: Mapping[str, str]


class Reading(NamedTuple):
    """A model's text with the words of its tokens, and what is wrong with it; no text where anything is."""

    text: str
    lost: tuple[str, ...]


class _Said(NamedTuple):
    """A token in a text, and what stands before it."""

    joint: str
    name: str


def lock(structure: Structure, lexicon: Lexicon, dates_only: bool = False) -> LockedRule:
    """A rule's text in tokens; parameters and errors are those of :func:`gnrs_ppl.realize.text.render`."""
    tokens: dict[str, str] = {}
    offices: dict[str, str] = {}
    counts: Counter[str] = Counter()
    written, office = [], ""
    for sentence in sentences(structure, lexicon, dates_only):
        counts["M"] += any(kind == "M" for kind, *_ in sentence)
        said = ""
        for kind, words, joint in sentence:
            counts[kind] += kind in "GSQN"
            number = counts["M" if kind in "WMT" else kind] or ""
            name = f"{kind}{number}"
            tokens[name] = words
            said += f"{joint}[{name}]"
            if kind == "G":
                office = name
            elif kind == "S":
                offices[name] = office
        written.append(f"{capitalised(said)}.")
    return LockedRule(" ".join(written), tokens, offices)


def read(rule: LockedRule, text: str) -> Reading:
    """A model's text in words, if it has every token where it means the same, and nothing else.

    Parameters
    ----------
    rule : LockedRule
    text : str
        Untrusted. A token may stand in it as its name in brackets or in its words.
    """
    said, foreign = _scanned(rule, text)
    lost = _missing(rule, said) + [f"not in the rule: {one_line(words, 60)!r}" for words in foreign]
    if not lost:
        reader = _Reader(rule, said)
        lost = [] if reader.whole() else [reader.problem()]
    return Reading("" if lost else _written(rule, said), tuple(lost))


def _alike(rule: LockedRule) -> dict[str, str]:
    """Name -> first name of a token in the same words."""
    first: dict[str, str] = {}
    return {name: first.setdefault(words, name) for name, words in rule.tokens.items()}


def _scanned(rule: LockedRule, text: str) -> tuple[list[_Said], list[str]]:
    """Tokens with what stands before them, and what else is in the text."""
    alike = _alike(rule)
    forms = {form: alike[name] for name, words in rule.tokens.items() for form in (words, capitalised(words))}
    longest = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    token = re.compile(rf"\[(?P<name>{'|'.join(alike)})\]|(?<!\w)(?P<words>{longest})(?!\w)")
    said, foreign = [], []
    plain, at = " ".join(text.split()), 0
    while (joint := _JOINT.match(plain, at)) and (found := token.search(plain, joint.end())):
        if found.start() > joint.end():
            foreign.append(plain[at : found.start()].strip())
        words = [word.strip().lower() for word in joint.group("conjunction", "then") if word]
        name = alike.get(found["name"]) or forms[found["words"]]
        said.append(_Said(" ".join([joint["mark"], *words]), name))
        at = found.end()
    if plain[at:] != ".":
        foreign.append(plain[at:].strip() or "no full stop at the end")
    return said, foreign


def _missing(rule: LockedRule, said: Iterable[_Said]) -> list[str]:
    """Tokens that stand nowhere or too often; the same person may be left out, and an office named again."""
    wanted, told = Counter(_alike(rule).values()), Counter(name for _, name in said)
    missing, more = wanted - told, told - wanted
    return [
        *(f"[{name}] {rule.tokens[name]!r}" for name in missing if rule.tokens[name] != SAME_PERSON),
        *(f"not in the rule: [{name}] once more" for name in more if name[0] != "G"),
    ]


def _written(rule: LockedRule, said: Iterable[_Said]) -> str:
    text = ""
    for joint, name in said:
        mark, _, conjunction = joint.partition(" ")
        words = f"{conjunction} {rule.tokens[name]}".strip()
        text += f"{mark} {capitalised(words) if mark == '.' else words}"
    return f"{capitalised(text.strip())}."


class _Reader:
    """Reads where tokens stand, from left to right; methods say whether it is a place for them."""

    def __init__(self, rule: LockedRule, said: list[_Said]) -> None:
        self.tokens, self.offices, self.said, self.at = rule.tokens, rule.offices, said, 0
        self.alike = _alike(rule)
        self.left = set("AFCZ") & set(rule.tokens)
        self.alone = False  # what was read last, so that a full stop has to follow

    def problem(self) -> str:
        """What stands where it should not."""
        joint, name = self.said[min(self.at, len(self.said) - 1)]
        return f"out of place: {f'{joint} [{name}]'.strip()} {self.tokens[name]!r}"

    def take(self, *wanted: tuple[str, frozenset[str]]) -> bool:
        """Move past some tokens, each behind one of its joints, if they stand here."""
        here = self.said[self.at : self.at + len(wanted)]
        if [one.name for one in here] != [self.alike[name] for name, _ in wanted]:
            return False
        if any(one.joint not in joints for one, (_, joints) in zip(here, wanted, strict=True)):
            return False
        self.at += len(wanted)
        return True

    def whole(self) -> bool:
        """The whole text."""
        return (
            self.norm() and self.rest() and self.procedure() and self.at == len(self.said) and self.together()
        )

    def together(self) -> bool:
        """Whether what is said of the whole rule stands in a sentence with all duties or none."""
        sentence, duties, others = 0, set(), dict[int, int]()
        for place, (joint, name) in enumerate(self.said):
            sentence += joint[:1] == "."
            if name[0] == "M":
                duties.add(sentence)
            elif name in "AFCE":
                others[sentence] = place
        apart = [place for sentence, place in others.items() if sentence in duties and len(duties) > 1]
        self.at = apart[0] if apart else self.at
        return not apart

    # Norm

    def norm(self) -> bool:
        """The duties in their order; what the rule applies to, is meant for or about may stand before."""
        while self.about([name for name in "AFC" if " after that " not in self.tokens.get(name, "")]):
            pass
        starts = BEFORE_DUTIES if self.at else NOTHING
        front = False  # whether times stand in front in this sentence
        for name in self.tokens:
            if name[0] != "M":
                continue
            when = self.tokens[f"T{name[1:]}"]
            apart = ", " in when or " (" in when  # what follows could be taken for a part of it
            starts = STOP if starts == SENTENCES and (apart or self.alone) else starts
            if self.clause(name, starts):
                front = False
            elif not apart and self.fronted(name, starts):
                front = True
            elif starts != SENTENCES or not self.continued(name, front):
                return False
            self.alone, starts = apart, SENTENCES
        return True

    def clause(self, does: str, joints: frozenset[str]) -> bool:
        """Who must do what and when."""
        who, when = f"W{does[1:]}", (f"T{does[1:]}", NOTHING)
        if who in self.tokens:
            return self.take((who, joints), (does, NOTHING), when)
        return self.take((does, joints), when)

    def fronted(self, does: str, joints: frozenset[str]) -> bool:
        """When, and who must do what."""
        who, when = f"W{does[1:]}", (f"T{does[1:]}", joints)
        if who in self.tokens:
            return self.take(when, (who, COMMA), (does, NOTHING))
        return self.take(when, (does, COMMA))

    def continued(self, does: str, front: bool) -> bool:
        """A duty in the sentence of the one before; a time in front is heard with every duty behind it."""
        when = f"T{does[1:]}"
        if front and self.fronted(does, JOINED):
            return True
        if front and not self.tokens[when].startswith(AGAIN):
            return False
        same = self.tokens.get(f"W{does[1:]}") == SAME_PERSON
        return self.clause(does, JOINED) or (same and self.take((does, SAME_SUBJECT), (when, NOTHING)))

    # Scope and evidence

    def about(self, names: Iterable[str]) -> bool:
        """One of some sentences that may stand in any order."""
        joints = STOP if self.alone else SENTENCES | JOINED if self.at else NOTHING
        for name in self.left.intersection(names):
            if self.take((name, STOP if name == "Z" else joints)):
                self.left.remove(name)
                self.alone = name == "Z"
                return True
        return False

    def rest(self) -> bool:
        """The exception, what did not stand in front, and the evidence."""
        if "X" in self.tokens:
            self.alone = self.take(("X", STOP))
            if not self.alone:
                return False
        while self.about("AFCZ"):
            pass
        if self.left or not self.take(("E", STOP if self.alone else BEFORE_EVIDENCE)):
            return False
        return all(self.take((name, STOP)) for name in self.tokens if name[0] in "NY")

    # Procedure

    def procedure(self) -> bool:
        """What follows a breach, if anything: steps and appeals in their order, and the time for each."""
        if "B" not in self.tokens:
            return True
        if not self.take(("B", STOP)):
            return False
        due, joints, before = "R" in self.tokens, COMMA, ""
        if due and self.take(("R", COMMA)):
            # each step: all of them stand behind the colon
            due, joints = False, frozenset({":"})
            if any(joint[:1] == "." for joint, _ in self.said[self.at :]):
                return False
        for name in self.tokens:
            if name[0] == "Q" and not self.take((name, BEFORE_APPEAL if before else joints)):
                return False
            if name[0] == "S" and not self.step(name, before, joints):
                return False
            before = name if name[0] in "QS" else before
        return not due or self.take(("R", SENTENCES | JOINED))

    def step(self, name: str, before: str, joints: frozenset[str]) -> bool:
        """A step behind its office, or behind another step of that office."""
        office = self.offices[name]
        if before[:1] == "Q":
            joints = ANEW
        elif before:
            joints = LISTED | SENTENCES if ":" in joints else LISTED
            same = self.tokens[office] == self.tokens[self.offices[before]]
            if same and self.take((name, WITHOUT_OFFICE)):
                return True
        return self.take((office, joints), (name, NOTHING))
