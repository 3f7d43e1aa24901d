"""Conditions that compare: with figures, with days, with another attribute; and whether there is a value at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gnrs_ppl.context.types import Attribute
from gnrs_ppl.reading.attributes import ONLY, fits
from gnrs_ppl.reading.clauses import MODAL
from gnrs_ppl.reading.data.frame import Found, Frame, Framed
from gnrs_ppl.reading.figures import Figure, days_of, figures
from gnrs_ppl.reading.types import Named, Span, Unheld
from gnrs_ppl.reading.wording import AsWritten
from gnrs_ppl.rule.types import Other, Test

_THAN = r"\s+than"
_NOT = r"(?:(?:does|do|did|is|are|was)\s+not|not|never)\s+"
_FRONT: tuple[tuple[Test, str], ...] = (
    ("at_most", rf"{_NOT}(?:exceed|exceeding|surpass)|{_NOT}(?:be\s+)?(?:(?:more|greater|higher|larger){_THAN}|above|over)"),
    ("at_most", rf"no\s+(?:more|greater|higher|larger|older){_THAN}|at\s+(?:the\s+)?most|up\s+to|(?:an?\s+)?maximum\s+of"),
    ("at_least", rf"{_NOT}(?:be\s+)?(?:(?:less|fewer|lower|smaller){_THAN}|below|under)|no\s+(?:less|fewer|lower|younger){_THAN}"),
    ("at_least", r"at\s+(?:the\s+very\s+)?least|(?:an?\s+)?minimum\s+of|upwards\s+of|reach(?:es|ing)?"),
    ("more", rf"above|over|exceed(?:s|ed|ing)?|in\s+excess\s+of|beyond|surpass(?:es|ing)?|(?:more|greater|higher|larger|bigger|heavier|older|longer){_THAN}"),
    ("less", rf"below|under|beneath|(?:less|fewer|lower|smaller|cheaper|lighter|younger|shorter){_THAN}|falls?\s+short\s+of|short\s+of"),
    ("equal", r"(?:of\s+)?exactly|equal(?:s|\s+to|ling)?|of|is|are|was|were"),
)  # fmt: skip
_FRONTS = tuple(
    (
        test,
        AsWritten(rf"\b(?:{words})(?:\s+(?:the\s+)?(?:age|sum|amount|value|price)\s+of)?\s*$"),
    )
    for test, words in _FRONT
)
_BEHIND = AsWritten(
    r"\s+(?:or|and)\s+(?:(?P<more>more|above|over|higher|greater|upwards?|older|heavier)|less|below|under|lower|fewer|smaller|younger)\b"
    r"|\s+(?P<upwards>upwards)\b",
)
_STRONG = AsWritten(
    r"\b(?:above|over|exceed\w*|excess\s+of|below|under|beneath|worth\s.*|costing\s.*|beyond)\s*$",
)
"""Says by itself that a figure is how much something is."""
_MAY_END = AsWritten(
    rf"\s*(?:[.,;:)]|$|\s(?:{MODAL}|must|shall|is|are|was|were|has|have|and|or|needs?|requires?|goes|go|gets?|the|an?|it|they|we|you|only|"
    r"within|before|after|until|unless|without|by)\b)",
)
"""Behind a figure that counts nothing in particular."""
_BETWEEN = AsWritten(r"\b(?:(?P<between>between)|from|of)\s*$")
_A_SHARE = AsWritten(r"\s+of\b")
_AND = AsWritten(r"\s*(?:and|to|up to|–|-)\s*")
_BE = r"(?:is|are|was|were|be|being|lies?|stays?|remains?|comes?\s+to|amounts?\s+to|amounting\s+to|runs?\s+to|totals?|totalling|costs?|costing|worth|valued\s+at|weighs?|weighing|aged)"
_BRIDGE = AsWritten(rf"(?:\b{_BE}\s+(?:(?:still|well|now|clearly|already|either|anywhere|currently)\s+)?)+$")
_NO_VERB = AsWritten(r"^(?:worth|costing|valued\s+at|weighing|amounting\s+to|totalling|aged|being)\b")
_FINITE = AsWritten(
    r"^(?:exceeds?|equals?|surpass(?:es)?|reach(?:es)?|falls?\s+short|is|are|was|were|(?:does|do|did|is|are|was)\s+not|cannot)\b",
)
_BOUND = AsWritten(rf"\b(?:{MODAL})\s+(?:be\s+)?$")
_UNDER = AsWritten(r"\b(?:under|of|with|for|in|by|on)\s+(?:the\s+)?$")
_STOP = re.compile(r"[.,;:!?]")
_PREPOSITION = AsWritten(r"\b(?:of|for|at|to|by|with)\s+$")
_KNOWN = AsWritten(
    r"\s+(?:(?:is|are|was|were|has\s+been|have\s+been)\s+)(?P<not>not\s+|never\s+)?(?:(?:yet|at\s+all)\s+)?(?P<is>recorded|known|stated|given|filled\s+in|documented|available|(?P<missing>missing|empty|unknown|blank|absent|lacking))\b",
)
_DAYS = AsWritten(
    r"\s+(?:(?:is|are|was|were|falls?|lies?)\s+)?(?P<how>before|after|on\s+or\s+after|on\s+or\s+before|since|from|on|by|until|no\s+later\s+than|later\s+than|earlier\s+than)\s+$",
)
_OF_DAYS: dict[str, Test] = {
    "before": "less", "earlier than": "less", "after": "more", "later than": "more", "since": "at_least",
    "from": "at_least", "on or after": "at_least", "on": "equal", "by": "at_most", "until": "at_most",
    "on or before": "at_most", "no later than": "at_most",
}  # fmt: skip


_WHAT = r"(?=(?:what\s+)?(?:was|is|were|has|had|have|the|its|their)\b)"
_THAN_ANOTHER = AsWritten(
    rf"(?:{_NOT}|no\s+)?(?:(?:more|less|greater|higher|lower)\s+than|exceed(?:s|ing)?|above|below)\s+{_WHAT}",
)
"""Before another attribute: no more than was invoiced."""
_NO_MORE_THAN = AsWritten(rf"\bno\s+(?P<how>more|less)\s+(?:[\w-]+\s+){{1,6}}?(?P<than>than\s+){_WHAT}")
"""A ban on what is more: no more may be paid than was invoiced."""
_ANY = ("number", "text", "boolean", "date")


class Compared(Framed):
    """One text, and what it compares."""

    def numbers(self) -> Iterator[Found]:
        """Comparisons with figures."""
        found = list(figures(self.text, self.attributes.units))
        skip: set[int] = set()
        for k, figure in enumerate(found):
            if k in skip or (figure.unit == "percent" and _A_SHARE.match(self.text, figure.end)):
                continue
            second = found[k + 1] if k + 1 < len(found) else None
            between = _BETWEEN.search(self.text, 0, figure.start)
            if second and between and _AND.fullmatch(self.text, figure.end, second.start):
                core = Figure(
                    figure.value,
                    second.unit or figure.unit,
                    second.word,
                    between.start(),
                    second.bare,
                    second.end,
                )
                made = list(self._compared("between", core, (figure, second), bool(between["between"])))
                skip |= {k + 1} if made else set()
                yield from made
                continue
            front = next(((t, m) for t, p in _FRONTS if (m := p.search(self.text, 0, figure.start))), None)
            behind = _BEHIND.match(self.text, figure.end)
            if front is None and behind is None:
                yield from self._numbered(figure)
                continue
            test: Test = (
                "at_least"
                if behind and (behind["more"] or behind["upwards"])
                else "at_most"
                if behind
                else front[0]
                if front
                else "equal"
            )
            start, end = front[1].start() if front else figure.start, behind.end() if behind else figure.end
            yield from self._compared(
                test, figure._replace(start=start, end=end), (figure,), behind is not None
            )

    def _numbered(self, figure: Figure) -> Iterator[Found]:
        """What an attribute is called by its number: under article 7."""
        before = self.attributes.named_in(
            self.text, self._clause_start(figure.start), figure.start, ("number",)
        )
        named = next(
            (n for n in before if n[1].score == 1.0 and self._just_before(n[1].span.end, figure.start)), None
        )
        if named is None or figure.value is None or figure.unit:
            return
        start = named[1].span.start
        preposition = _UNDER.search(self.text, 0, start)
        frame = Frame("beside", Span(preposition.start() if preposition else start, figure.bare), named, "")
        yield from self._made(frame, named, start, "equal", value=(figure.value,))

    def _compared(self, test: Test, core: Figure, stated: Sequence[Figure], sure: bool) -> Iterator[Found]:
        front = self.text[core.start : stated[0].start]
        bridge = _BRIDGE.search(self.text, 0, core.start)
        start = bridge.start() if bridge else core.start
        verb = bool(_FINITE.match(front)) or bool(bridge and not _NO_VERB.match(bridge[0]))
        if _BOUND.search(self.text, 0, start):
            if test != "equal" and (core.unit or self._frame(start, core.end, ("number",), True).named):
                self._asked_of_data(Span(start, core.end))
            return
        frame = self._frame(start, core.end, ("number",), verb)
        if of := _PREPOSITION.search(
            self.text, frame.cut.start - 6 if frame.cut.start > 5 else 0, frame.cut.start
        ):
            frame = frame._replace(cut=Span(of.start(), frame.cut.end))
        if frame.where == "beside" and verb and not self._opened_by_relative(frame, start):
            return  # a clause that says what is so, or must be, and no condition
        unit, strong = core.unit, bool(_STRONG.search(self.text[start : stated[0].start]))
        named = frame.named or self._counted(core)
        if named and named[1].span.start >= core.end:
            core = core._replace(end=named[1].span.end)
            frame = frame._replace(cut=Span(frame.cut.start, core.end))
        if not named:
            counted = not unit and bool(core.word) and not _MAY_END.match(self.text, core.bare)
            if counted or not (unit or ((strong or sure) and test != "equal")):
                return
            if test == "equal" and not unit:
                return
        what = self.text[stated[0].start : core.end].strip()
        span = Span(start, core.end)
        if named and not fits(named[0], unit):
            if frame.cut.start <= named[1].span.start:
                counts = named[0].unit or "no such unit"
                self.unheld.append(Unheld(span, f"{named[0].name!r} is in {counts}, not '{what}'"))
                return
            named = None
        if named is None:
            fit = self.attributes.holding(unit, frame.whole, span)
            if len(fit) != 1:
                names = ", ".join(a.name for a, _ in fit)
                why = f"'{what}' may be {names}" if fit else f"no attribute of the log holds '{what}'"
                self.unheld.append(Unheld(span, why))
                return
            named = fit[0]
        values = [f.value for f in stated]
        if None in values:
            self.unheld.append(
                Unheld(span, f"'{what}' may be two numbers: write thousands with a comma or with nothing")
            )
            return
        if test == "between" and values != sorted(v for v in values if v is not None):
            values.reverse()
        yield from self._made(frame, named, start, test, value=tuple(values))

    def _counted(self, core: Figure) -> tuple[Attribute, Named] | None:
        """The attribute that a figure counts: more than two penalty points."""
        behind = self.attributes.named_in(self.text, core.end, len(self.text), ("number",))
        return next(
            (n for n in behind if n[1].score == 1.0 and self._just_before(core.end, n[1].span.start)), None
        )

    def _opened_by_relative(self, frame: Frame, start: int) -> bool:
        return frame.cut.start < start

    def days(self) -> Iterator[Found]:
        """Comparisons of a date with a day."""
        for day, start, end in days_of(self.text):
            how = _DAYS.search(self.text, 0, start)
            if how is None:
                continue
            frame = self._frame(how.start() + 1, end, ("date",), True)
            if frame.named is None or not self._just_before(frame.named[1].span.end, how.start() + 1):
                continue
            test = _OF_DAYS[" ".join(how["how"].lower().split())]
            yield from self._made(frame, frame.named, start, test, value=(day,))

    def comparisons(self) -> Iterator[Found]:
        """Comparisons with another attribute: no more than was invoiced."""
        for m in _THAN_ANOTHER.finditer(self.text):
            yield from self._with_another(next(t for t, p in _FRONTS if p.search(m[0])), m.start(), m.end())
        for m in _NO_MORE_THAN.finditer(self.text):
            how: Test = "more" if m["how"].lower() == "more" else "less"
            yield from self._with_another(how, m.start("than"), m.end())

    def _with_another(self, test: Test, start: int, end: int) -> Iterator[Found]:
        stop = _STOP.search(self.text, end)
        last = stop.start() if stop else len(self.text)
        named = self.attributes.named_in(self.text, end, last, ("number", "date"))
        named = named or self.attributes.by_one_word(self.text, end, last)
        if not named or any(c.isdigit() for c in self.text[end : named[0][1].span.end]):
            return
        other, words = named[0]
        span = Span(start, words.span.end)
        if _BOUND.search(self.text, 0, start):
            self._asked_of_data(span)
            return
        alike = [a for a in self.attributes.of_type(other.type) if a != other and a.unit == other.unit]
        own = [n for n in self.attributes.named_in(self.text, 0, start, (other.type,)) if n[0] in alike]
        own = own or [(a, Named(a.name, span, ONLY)) for a in alike]
        if len({a.name for a, _ in own}) != 1:
            what = self.text[span.start : span.end]
            self.unheld.append(Unheld(span, f"'{what}' does not say what is compared with {other.name!r}"))
            return
        bridge = _BRIDGE.search(self.text, 0, start)
        frame = self._frame(bridge.start() if bridge else start, span.end, (other.type,), bridge is not None)
        yield from self._made(frame, own[0], start, test, other=Other(attribute=other.name))

    def _asked_of_data(self, span: Span) -> None:
        why = "what data must be is no duty of an act: say which act must not be done then"
        self.unheld.append(Unheld(span, why))

    def recorded(self) -> Iterator[Found]:
        """Whether an attribute is recorded at all."""
        for m in _KNOWN.finditer(self.text):
            frame = self._frame(m.start() + 1, m.end(), _ANY, True)
            named = frame.named
            if named is None or not self._just_before(named[1].span.end, m.start() + 1):
                continue
            lacking = bool(m["not"]) != bool(m["missing"])
            if lacking != (frame.where == "exception"):
                span = Span(named[1].span.start, m.end())
                self.unheld.append(Unheld(span, f"no condition says that {named[0].name!r} is not recorded"))
            elif frame.where != "beside" or frame.cut.start < named[1].span.start:
                told = frame._replace(where="clause") if frame.where == "exception" else frame
                yield from self._made(told, named, m.start(), "recorded")
