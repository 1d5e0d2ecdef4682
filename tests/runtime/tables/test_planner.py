"""How a batch is planned and decided, whichever store keeps the tables."""

from collections import Counter
from typing import Any
from unittest.mock import patch

from tests.runtime.tables.histories import applied, change, placed, rows

from changewire.changes.change_row import row_of
from changewire.tables import planner
from changewire.tables.merge import merged
from changewire.tables.mutations import mutations
from changewire.tables.order import ChangePosition, position_in
from changewire.tables.routing import route

NAMES = ("topic", "partition", "offset", "path", "number")


def faulty(real: Any, bad: str) -> Any:
    """Return a function that raises if its arguments have a text in them."""

    def function(*arguments: Any, **options: Any) -> Any:
        arguments = tuple([*one] if hasattr(one, "__next__") else one for one in arguments)
        if bad in str(arguments):
            raise ZeroDivisionError("a value of a message")
        return real(*arguments, **options)

    return function


def test_a_change_that_fails_is_refused_as_a_whole() -> None:
    """One that moves a row leaves it where it was; the others are applied."""
    history = placed(
        change(key=1, sequence=1, a="valid"),
        change("update", 2, 2, old=1, before={"id": 1}, a="bad"),
        change(key=3, sequence=3, a="valid"),
    )
    with patch("changewire.tables.merge.merged", faulty(merged, "bad")):
        tables, result = applied(history)
    assert rows(tables) == [{"id": 1, "a": "valid"}, {"id": 3, "a": "valid"}]
    assert result.dead_letters == [(history[1], "apply-failed")]
    assert result.counts == {"applied": 2, "apply-failed": 1}


def test_a_source_whose_routing_fails_is_refused_alone() -> None:
    """The tables of other sources get their changes."""
    history = placed(change(a=1), change(table="u", a=1))
    with patch("changewire.tables.routing.route", faulty(route, "table='u'")):
        tables, result = applied(history)
    assert [*tables.tables] == ["`t`"]
    assert result.dead_letters == [(history[1], "apply-failed")]


class Merge:
    """A table that cannot take some numbers, and says so one by one."""

    def __init__(self, numbers: set[int], bad: set[int]) -> None:
        self.numbers, self.bad = numbers, bad

    def decide(self) -> set[int]:
        """Return the numbers."""
        return self.numbers

    def failures(self, decisions: set[int]) -> set[int] | None:
        """Return the smallest number that cannot be taken."""
        return {min(decisions & self.bad)} if decisions & self.bad else None

    def without(self, failures: set[int]) -> "Merge":
        """Return the others."""
        return Merge(self.numbers - failures, self.bad)

    def write(self, decisions: set[int]) -> Counter[str]:
        """Count the numbers."""
        return Counter(applied=len(decisions))


def test_what_fails_in_one_table_is_left_out_of_all() -> None:
    """It is decided again until nothing fails."""
    decided = planner.decide([Merge({1, 2, 3, 4}, {2, 4}), Merge({1, 2, 4, 5}, {5})])
    assert [decisions for _, decisions in decided.merges] == [{1, 3}, {1}]
    assert sorted(one for found in decided.failures for one in found) == [2, 4, 5]


def test_the_position_of_a_decoded_row() -> None:
    """Kafka's columns go before those of files; what is missing comes before everything."""
    record = dict(zip(NAMES, ("t", 1, 2, "p", 3), strict=True))
    file = {**record, "topic": None, "partition": None, "offset": None}
    assert position_in({**record, "element": 4}) == ChangePosition("t", 1, 2, 4)
    assert position_in({**file, "element": 4}) == ChangePosition("p", -1, 3, 4)
    nothing = dict.fromkeys(NAMES)
    assert position_in({**nothing, "element": 0}) == ChangePosition("", -1, -1, 0)


def test_mutations_of_what_adapters_make() -> None:
    """They are those of the change, without a datetime made of its time."""
    found = change("update", 2, 5, old=1, before={"id": 1}, a=1)
    assert mutations(row_of(found)) == mutations(found)
    assert [one.kind for one in mutations(found)] == ["delete", "full"]
