"""Whether the records can decide a rule's conditions on data (D8), and compare rows with activations (D5)."""

from __future__ import annotations

import difflib
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from gnrs_ppl.context.limits import COMPARISONS
from gnrs_ppl.context.log import EventLog, attribute_column
from gnrs_ppl.context.types import Attribute, AttributeType
from gnrs_ppl.errors import InputError, Refused
from gnrs_ppl.rule.types import ORDERING, Act, Condition, Scope


@dataclass(frozen=True)
class Rows:
    """Some rows of a log: in words, as a condition, and the condition's parameters."""

    words: str
    where: str
    values: dict[str, object]

    @classmethod
    def of(cls, activity: str, channels: tuple[str, ...]) -> Rows:
        """The rows of an act in some channels."""
        return cls(
            f"rows of {activity!r} in {', '.join(channels)}",
            '"activity" = $activity AND list_contains($channels, "channel")',
            {"activity": activity, "channels": list(channels)},
        )


EVERY_ROW = Rows("rows", "TRUE", {})


@dataclass(frozen=True)
class DataChecks:
    """What a log's attributes cannot decide is refused, with the count.

    Attributes
    ----------
    log : EventLog
        The rows, with the attributes they were read with.
    """

    log: EventLog

    def condition(self, place: str, condition: Condition, rows: Rows, *, opens: bool) -> None:
        """Check a condition on an act; ``opens`` where it must tell openings apart."""
        attribute = self.recorded(place, condition.attribute, rows)
        self._typed(place, condition, attribute)
        other = condition.other
        if other is not None and other.of == "row":
            self.recorded(place, other.attribute, rows)
        by_activation = other is not None and (other.of, other.attribute) == ("activation", attribute.name)
        if (opens and other is None and condition.test != "recorded") or by_activation:
            self._discriminates(place, attribute, rows)

    def scope(self, scope: Scope) -> None:
        """Check the conditions of a scope, which are about cases (D6)."""
        for condition in scope.where:
            for name in [condition.attribute] + ([condition.other.attribute] if condition.other else []):
                if self._declared("scope", name).of != "case":
                    raise InputError(
                        f"{name!r} is recorded of events, and a scope is about cases",
                        "state the condition on the trigger's act, or declare the attribute of: case",
                        field="scope.where",
                    )
            self.condition("scope", condition, EVERY_ROW, opens=True)

    def recorded(self, place: str, name: str, rows: Rows) -> Attribute:
        """An attribute that some of the rows hold a value of."""
        attribute = self._declared(place, name)
        column = self._column(attribute)
        total, carrying, unclear = self.log.connection.execute(
            f'SELECT count(*), count({column}), count(*) FILTER ({column}_unclear) FROM "events" '
            f"WHERE {rows.where}",
            rows.values,
        ).fetchone() or (0, 0, 0)
        if total and not carrying:
            example = f"; in the log, {self.log.unread[name]}" if name in self.log.unread else ""
            unread = f" ({unclear} hold none that can be read{example})" if unclear else ""
            number = unclear and attribute.type == "number"
            raise Refused(
                f"{place}: 0 of {total} {rows.words} carry a value of {name!r}{unread}",
                "write its numbers as 1234.56, or state its unit or its decimal mark under records.attributes"
                if number
                else "leave the condition out, or state another",
            )
        return attribute

    def few_comparisons(
        self, place: str, opener: Act, looked_for: list[Act], key: str | None, compared: tuple[str, ...]
    ) -> None:
        """Refuse to compare rows with very many activations of their case (D5)."""
        values = [key or "case_id", *(self._column(self._declared(place, name)) for name in compared)]
        comparisons, cases = self.log.connection.execute(
            f"""SELECT coalesce(sum(r.rows * a.threads), 0), count(*)
                FROM (SELECT "case_id", count(*) AS rows FROM "events"
                      WHERE "activity" IS NULL OR list_contains($targets, "activity") GROUP BY ALL) AS r
                JOIN (SELECT "case_id", count(DISTINCT ({", ".join(f'"{v}"' for v in values)})) AS threads
                      FROM "events" WHERE list_contains($openers, "activity") GROUP BY ALL) AS a USING ("case_id")""",
            {
                "targets": [activity for act in looked_for for activity in act.activities],
                "openers": list(opener.activities),
            },
        ).fetchone() or (0, 0)
        if comparisons > COMPARISONS:
            raise Refused(
                f"{place}: rows of {cases} cases would be compared with activations {comparisons:,} times, more "
                f"than the {COMPARISONS:,} that are",
                "use cases that hold fewer activations, or a constant to compare with",
            )

    def _declared(self, place: str, name: str) -> Attribute:
        attributes = self.log.records.attributes
        found = next((a for a in attributes if a.name == name), None)
        if found is None:
            names = [a.name for a in attributes]
            near = difflib.get_close_matches(name, names, 1)
            one = f"name one of them ({', '.join(names[:12])}), or " if names else ""
            raise Refused(
                f"{place}: none of the {len(attributes)} declared attributes is called {name!r}",
                f"nearest: {near[0]!r}" if near else f"{one}declare it under records.attributes",
            )
        return found

    def _column(self, attribute: Attribute) -> str:
        return attribute_column(self.log.records.attributes.index(attribute))

    def _discriminates(self, place: str, attribute: Attribute, rows: Rows) -> None:
        column = self._column(attribute)
        least = "bool_and" if attribute.type == "boolean" else "min"  # of booleans not every database has one
        distinct, cases, carrying, example, unread = self.log.connection.execute(
            f'SELECT count(DISTINCT {column}), count(DISTINCT "case_id"), count({column}), {least}({column}), '
            f'count(*) FILTER ({column}_unclear) FROM "events" '
            f"WHERE ({column} IS NOT NULL OR {column}_unclear) AND {rows.where}",
            rows.values,
        ).fetchone() or (0, 0, 0, None, 0)
        if distinct == 1 and cases >= 2 and not unread:  # what could not be read may be another value
            raise Refused(
                f"{place}: {attribute.name!r} is {_shown(example)} in all {carrying} {rows.words} of {cases} "
                "cases that carry it, so a condition on it tells nothing apart",
                "leave the condition out",
            )

    def _typed(self, place: str, condition: Condition, attribute: Attribute) -> None:
        """Refuse a comparison with what is of another type or unit."""
        name, kind = attribute.name, attribute.type
        (values,) = self.log.connection.execute(
            f'SELECT count({self._column(attribute)}) FROM "events"'
        ).fetchone() or (0,)
        holds = f"{place}: {name!r} is declared as {kind} ({values} values)"
        if condition.test in ORDERING and kind not in ("number", "date"):
            raise Refused(f"{holds}, which has no order to be {condition.test} in", "use equal or one_of")
        other = condition.other and self._declared(place, condition.other.attribute)
        if other and other.type != kind:
            raise Refused(f"{holds}, but {other.name!r} as {other.type}", "compare attributes of one type")
        if other and other.unit != attribute.unit:
            raise Refused(
                f"{holds} in {attribute.unit or 'no unit'}, but {other.name!r} in {other.unit or 'no unit'}",
                "compare attributes of one unit",
            )
        for value in condition.value:
            if not _of_type(value, kind):
                raise Refused(
                    f"{holds}, which {_shown(value)} is not",
                    "put it in quotation marks"
                    if kind == "text"
                    else "write dates as 2024-05-31, and numbers without quotation marks",
                )
        if condition.unit not in (None, attribute.unit):
            raise Refused(
                f"{holds} in {attribute.unit or 'no unit'}, but the rule counts in {condition.unit}",
                f"state the value in {attribute.unit}" if attribute.unit else "declare its unit",
            )


def _of_type(value: Decimal | str, kind: AttributeType) -> bool:
    """Whether a value of a rule is one that an attribute of a type may have."""
    if isinstance(value, Decimal) or kind == "number":
        return isinstance(value, Decimal) and kind == "number"
    if kind == "boolean":
        return value in ("true", "false")
    if kind == "date":
        with suppress(ValueError):
            return date.fromisoformat(value).isoformat() == value
        return False
    return True


def _shown(value: object) -> str:
    """A value in a message."""
    return f"{value.normalize() + 0:f}" if isinstance(value, Decimal) else repr(str(value))
