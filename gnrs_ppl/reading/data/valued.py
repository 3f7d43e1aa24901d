"""Conditions on texts and flags: marked as urgent, whose vendor is X, of type Y, urgent orders."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from gnrs_ppl.context.types import Attribute
from gnrs_ppl.reading.attributes import Valued, tells_value, values_in
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.data.frame import Found, Frame, Framed
from gnrs_ppl.reading.types import DataRead, Named, Span, Unheld
from gnrs_ppl.reading.vocabulary import tokens_of
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.rule.types import Condition, Test

_MARKED = AsWritten(
    r"(?P<not>\bnot\s+)?\b(?:marked|flagged|classified|label+ed|tagged|rated|designated|categori[sz]ed|recorded|registered|graded|coded|"
    r"listed|booked|filed|known|declared|treated|entered|made|received|submitted)\s+(?:(?:as|to\s+be|with|in|via|under|through|by|over|from)\s+)?(?:(?:an?|the)\s+)?[\"“'‘]?$",
)
_IS = AsWritten(
    r"(?:\b(?:is|are|was|were|equals?|being|of|says?|reads?|shows?|=|:)\s*)?(?P<not>\bnot\s+|other\s+than\s+)?(?:(?:an?|the|in|from|as)\s+)?[\"“'‘]?$",
)
_OTHER_THAN = AsWritten(
    r"\b(?:other\s+than|except|but\s+not|not|non|neither|(?:that|which|who)\s+(?:(?:do|does|did|is|are|was|were|has|have)\s+(?:not|never)|\w+n't)\s+\w+)"
    r"[\s-]+(?:(?:those|the\s+ones|ones)\s+)?(?:(?:the|an?)\s+)?$",
)
_KIND_OF = AsWritten(
    r"\b(?:of|from|in|via|by|through|for|with)\s+(?:(?:the|an?)\s+)?(?:(?P<kind>type|kind|class|category|sort|status|level|grade)\s+)?[\"“'‘]?$",
)
_LONG_ENOUGH = 4
"""Letters of a value from which it may be named without its attribute."""
_OR = AsWritten(r"\s*,?\s*(?:or|and|nor)\s+(?:(?:the|an?|from|of|in)\s+)?|\s*,\s*")
_WHOSE = AsWritten(
    rf"\b(?:whose|where|if|when|the|its)\s+(?:the\s+|its\s+)?(?P<what>[\w-]+(?:\s+[\w-]+){{0,3}}?)\s+(?:is|are|was|equals)\s+(?P<not>not\s+)?"
    rf"(?P<value>(?!(?:{MODAL}|not|above|below|over|under|more|less|at|no|between|recorded|known|missing|empty|unknown|stated|given)\b)"
    rf"[\"“'‘]?[\w&.-]*\w[\"”'’]?(?:\s+(?!(?:{MODAL}|must|shall|is|are|within|the|an?)\b)[\w&-]+[\"”'’]?){{0,3}}?)(?=\s*(?:[.,;]|$)|\s+(?:{MODAL}|must|shall|is|are)\b)",
)


class OfValues(Framed):
    """One text, and the values it names."""

    def values(self) -> Iterator[Found]:
        """Values that attributes are known to have, alone or as a list; and those said of an attribute by name."""
        named = list(values_in(self.text, self.attributes.values))
        places: dict[Span, list[tuple[Valued, bool]]] = {}
        for one, span, written in named:
            places.setdefault(span, []).append((one, written))
        ordered = sorted(places)
        at = 0
        while at < len(ordered):
            run = [ordered[at]]
            while at + 1 < len(ordered) and _OR.fullmatch(self.text, run[-1].end, ordered[at + 1].start):
                at += 1
                run.append(ordered[at])
            at += 1
            yield from self._valued(run, places)
        yield from self._unknown_values()

    def _valued(self, run: Sequence[Span], places: dict[Span, list[tuple[Valued, bool]]]) -> Iterator[Found]:
        start, end = run[0].start, run[-1].end
        for one, written in places[run[0]]:
            values = [v.value for span in run for v, _ in places[span] if v.attribute == one.attribute]
            if len(values) < len(run):
                continue
            found = self._said_of(one, written, start, end)
            if found is None:
                continue
            frame, named, negated = found
            distinct = tuple(dict.fromkeys(values))
            if len(distinct) > 1 and (negated != (frame.where == "exception")):
                for value in distinct:
                    condition = Condition(attribute=named[0].name, test="not_equal", value=(value,))
                    yield Found(DataRead(condition, frame.cut, named[1]), frame.cut, frame.where)
                return
            test: Test = "one_of" if len(distinct) > 1 else "not_equal" if negated else "equal"
            yield from self._made(frame, named, start, test, value=distinct)
            return

    def _said_of(
        self, one: Valued, written: bool, start: int, end: int
    ) -> tuple[Frame, tuple[Attribute, Named], bool] | None:
        """Whether words that spell a value say that something has it; and whether that it has not."""
        attribute, kind = one.attribute, ("text",)
        closing = re.match(r"[\"”'’]", self.text[end:])
        end += closing.end() if closing else 0
        if marked := _MARKED.search(self.text, 0, start):
            verb = re.search(
                r"\b(?:is|are|was|were|has been|have been|been)\s+$",
                self.text[: marked.start()],
                re.IGNORECASE,
            )
            first = verb.start() if verb else marked.start()
            frame = self._frame(first, end, kind, verb is not None)
            if not (verb and frame.where == "beside" and frame.cut.start >= first):
                return frame, (attribute, Named(attribute.name, Span(start, end))), bool(marked["not"])
        told = [
            n
            for n in self.attributes.named_in(self.text, self._clause_start(start), start, kind)
            if n[0] == attribute
        ]
        link = _IS.search(self.text, told[0][1].span.end if told else start, start)
        if (
            told
            and link
            and (
                link.start() == told[0][1].span.end
                or not self.text[told[0][1].span.end : link.start()].strip()
            )
        ):
            verb_first = (
                told[0][1].span.end + 1
                if re.match(r"\s*(?:is|are|was|were|equals?)\b", self.text[told[0][1].span.end : start])
                else start
            )
            frame = self._frame(verb_first, end, kind, verb_first < start)
            first = min(frame.cut.start, told[0][1].span.start)
            preposition = re.search(
                r"\b(?:of|in|from|with|via|by|for)\s+(?:(?:the|an?)\s+)?$", self.text[:first], re.IGNORECASE
            )
            cut = (
                frame.cut
                if frame.where != "beside"
                else Span(preposition.start() if preposition else first, end)
            )
            return frame._replace(cut=cut), told[0], bool(link["not"])
        after = [n for n in self.attributes.named_in(self.text, end, end + 40, kind) if n[0] == attribute]
        if after and not self.text[end : after[0][1].span.start].strip(" -"):
            other, preposition = self._before_value(start)
            first = min([m.start() for m in (other, preposition) if m], default=start)
            cut = Span(first, after[0][1].span.end)
            return Frame("beside", cut, after[0], ""), after[0], other is not None
        if self._is_name(start, end) or not (written or end - start >= _LONG_ENOUGH):
            return None
        other, preposition = self._before_value(start)
        if preposition and preposition["kind"] and not tells_value(preposition["kind"]):
            return None
        if len(one.words) < _LONG_ENOUGH and not (preposition and preposition["kind"]):
            return None
        if not (written or preposition or one.value.islower()):
            return None  # post the invoice, where a channel is called Post
        verb = re.search(
            r"\b(?:is|are|was|were)\s+(?:an?\s+)?$",
            self.text[: other.start() if other else start],
            re.IGNORECASE,
        )
        first = (
            min(m.start() for m in (preposition, other) if m)
            if preposition
            else verb.start()
            if verb
            else other.start()
            if other
            else start
        )
        frame = self._frame(first, end, kind, verb is not None)
        if verb and frame.where == "beside" and frame.cut.start >= first:
            return None
        return (
            frame,
            (attribute, Named(attribute.name, Span(start, end), 1.0 if written else 0.9)),
            other is not None,
        )

    def _before_value(self, start: int) -> tuple[re.Match[str] | None, re.Match[str] | None]:
        """Words before a value that rule it out, and its preposition, in either order: other than those from X."""
        other = _OTHER_THAN.search(self.text, 0, start)
        preposition = _KIND_OF.search(self.text, 0, other.start() if other else start)
        if preposition and not other:
            other = _OTHER_THAN.search(self.text, 0, preposition.start())
        return other, preposition

    def _is_name(self, start: int, end: int) -> bool:
        """Whether words are a name of the schema, or tell an act."""
        tokens = tokens_of(self.text)
        at = [i for i, t in enumerate(tokens) if start <= t.start < end]
        named = any(self.words.name_in(kind, tokens, at) for kind in ("roles", "objects", "locations"))
        return named or self._tells_act(start, end)

    def _unknown_values(self) -> Iterator[Found]:
        """What an attribute is said by name to be, where it is no known value: whose vendor is X."""
        for m in _WHOSE.finditer(self.text):
            told = [
                n
                for n in self.attributes.named_in(self.text, m.start("what"), m.end("what"), ("text",))
                if n[1].score == 1.0
            ]
            if not told or told[0][1].span.end != m.end("what"):
                continue
            attribute, words = told[0]
            value = m["value"].strip(" \"“”'‘’")
            near = difflib.get_close_matches(value.lower(), [v.lower() for v in attribute.values], 1, 0.6)
            if value.lower() in (v.lower() for v in attribute.values):
                continue
            if attribute.values:
                nearest = next((v for v in attribute.values if near and v.lower() == near[0]), "")
                self.unheld.append(
                    Unheld(
                        Span(m.start("value"), m.end()),
                        f"{attribute.name!r} has no value {value!r}"
                        + (f", nearest {nearest!r}" if nearest else ""),
                    )
                )
                continue
            frame = self._frame(m.end("what") + 1, m.end("value"), ("text",), True)
            yield from self._made(
                frame, (attribute, words), m.start(), "not_equal" if m["not"] else "equal", value=(value,)
            )

    def flags(self) -> Iterator[Found]:
        """Things that are true or false: marked as urgent, urgent orders."""
        for attribute in self.attributes.of_type("boolean"):
            for of, named in self.attributes.named_in(self.text, 0, len(self.text), ("boolean",)):
                start, end = named.span
                if of != attribute or named.score < 1.0:
                    continue
                negation = _OTHER_THAN.search(self.text, 0, start)
                first = negation.start() if negation else start
                marked = _MARKED.search(self.text, 0, first)
                first = marked.start() if marked else first
                verb = re.search(
                    r"\b(?:is|are|was|were|has been|have been)\s+$", self.text[:first], re.IGNORECASE
                )
                frame = self._frame(verb.start() if verb else first, end, ("boolean",), verb is not None)
                if verb and frame.where == "beside" and frame.cut.start >= verb.start():
                    continue  # a clause that says what is so
                if not (verb or marked) and self._is_name(start, end):
                    continue
                value = negation is None and not (marked and marked["not"])
                cut = frame.cut if verb or frame.where != "beside" else Span(first, end)
                yield from self._made(
                    frame._replace(cut=cut),
                    (of, named),
                    start,
                    "equal",
                    value=("true" if value else "false",),
                )
