"""Changes, and histories of changes that Hypothesis draws."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.runtime.tables.model import Content, key_of

import changewire as cw
from changewire.tables import (
    ChangePosition,
    MemoryTables,
    PositionedChange,
    Result,
    Routing,
    apply_changes,
    template_of,
)

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For histories, which take long to draw on a busy machine."""

ROUTING = Routing(template_of("{table}"), default_table="null")


def change(
    op: str = "upsert",
    key: Any = 1,
    sequence: int | tuple[int, int] | None = 1,
    *,
    table: str | None = "t",
    row_image: str | None = "full",
    old: Any = None,
    before: dict[str, Any] | None = None,
    is_lone: bool = False,
    database: str = "d",
    **after: Any,
) -> cw.Change:
    """Return a change of the row `key`, with its columns as keywords."""
    place = (sequence, 1) if isinstance(sequence, int) else sequence
    has_after = op != "delete" and not is_lone
    named = None if key is None else {"id": key}
    kind: Any = op
    return cw.Change(
        op=kind,
        source=cw.Source(system="s", database=database, schema=None, table=table),
        key=named,
        before_key=None if old is None else {"id": old},
        before=before,
        after={**(named or {}), **after} if has_after else None,
        event_time=None,
        sequence=None if place is None else cw.Sequence(major=place[0], minor=place[1]),
        ddl=None,
        schema_fingerprint=None,
        attributes={} if row_image is None or op == "delete" else {"row_image": row_image},
    )


def truncate(sequence: int | None, table: str = "t") -> cw.Change:
    """Return a truncate."""
    whole = change(key=None, sequence=sequence, table=table, row_image=None)
    return replace(whole, op="truncate", after=None)


def placed(*changes: cw.Change, start: int = 0, partition: int = 0) -> list[PositionedChange]:
    """Return changes at consecutive offsets of a partition."""
    return [
        PositionedChange(one, ChangePosition("topic", partition, start + offset, 0))
        for offset, one in enumerate(changes)
    ]


def eventful() -> tuple[list[PositionedChange], list[PositionedChange], list[PositionedChange]]:
    """Return three rows, then a delete, a change of a key and a patch, then what comes too late."""
    return (
        placed(change(key=1, a=1), change(key=2, a=1), change(key=3, a=1)),
        placed(
            change("delete", 1, 3),
            change(key=1, sequence=2, a=2),
            change("update", 4, 3, old=2, before={"id": 2}, a=2),
            change("update", 3, 3, row_image="patch", b=2),
            start=10,
        ),
        placed(change(key=1, sequence=2, a=3), change(key=2, sequence=2, a=3), start=20),
    )


def applied(
    *batches: Sequence[PositionedChange], tables: MemoryTables | None = None, **options: Any
) -> tuple[MemoryTables, Result]:
    """Return tables after some batches, and what became of the last one."""
    tables, result = tables or MemoryTables(), Result()
    for batch in batches:
        result = apply_changes(tables, batch, ROUTING, **options)
    return tables, result


def content(tables: MemoryTables) -> Content:
    """Return the rows of every table as the model has them."""
    return {
        table.target.origin[0]: {key_of({"id": row["id"]}): row for row in table.content()}
        for table in tables.tables.values()
    }


def rows(tables: MemoryTables, name: str = "t") -> list[dict[str, Any]]:
    """Return the rows of a table in the order of their keys."""
    return sorted(content(tables).get(name, {}).values(), key=lambda row: str(row["id"]))


T = TypeVar("T")

KEYS = st.integers(1, 3)
NUMBERS = st.integers(0, 2) | st.sampled_from(["1.100000", "12345678901234567890.5"])
"""Numbers, and the text that DataWorks sends for decimals."""

VALUES = st.dictionaries(st.sampled_from("abc"), NUMBERS | st.none(), max_size=3)


@st.composite
def changes(draw: Any, sequence: Any, images: Sequence[str]) -> cw.Change:
    """Draw a change with a given sequence; every fifth is a delete."""
    table = draw(st.sampled_from(["t", "t", "u"]))
    key, values, image = draw(KEYS), draw(VALUES), draw(st.sampled_from(images))
    what = draw(st.sampled_from(["upsert"] * 5 + ["delete"] * 2 + ["move", "lone", "read"]))
    if what == "delete":
        return change("delete", key, sequence, table=table)
    if what == "move":
        old = draw(KEYS.filter(lambda other: other != key))
        # A row before makes it no half of an update: it is paired with nothing.
        moved: dict[str, Any] = {"old": old, "before": {"id": old}, **values}
        return change("update", key, sequence, table=table, row_image=image, **moved)
    if what == "lone" and image == "full" and sequence:
        lone = (sequence[0], 0)
        return change("update", key, lone, table=table, before={"id": key}, is_lone=True)
    if image == "patch":
        before = draw(VALUES)
        return change(
            "update", key, sequence, table=table, row_image=image, before=before, **values
        )
    return change(
        what if what == "read" else "upsert", key, sequence, table=table, row_image=image, **values
    )


@st.composite
def histories(
    draw: Any, images: Sequence[str] = ("full",), *, is_distinct: bool = True
) -> list[PositionedChange]:
    """Draw changes with sequences, at distinct positions of several partitions."""
    numbers = st.integers(1, 40) if is_distinct else st.sampled_from([-1, 1, 2, 3, 4, 5])
    majors = draw(st.lists(numbers, max_size=12, unique=is_distinct))
    found = [draw(changes((major, 1), images)) for major in majors]
    return [
        PositionedChange(
            one,
            ChangePosition(draw(st.sampled_from(["a", "b"])), draw(st.integers(0, 1)), offset, 0),
        )
        for offset, one in enumerate(found)
    ]


@st.composite
def truncates(draw: Any) -> list[PositionedChange]:
    """Draw truncates of the table ``t``."""
    majors = draw(st.lists(st.integers(1, 40), max_size=2, unique=True))
    return placed(*(truncate(major) for major in majors), partition=7)


@st.composite
def halves(draw: Any) -> list[PositionedChange]:
    """Draw updates of the table ``t``, each as two messages: the row before it, and after it."""
    found: list[cw.Change] = []
    for major in draw(st.lists(st.integers(41, 60), max_size=3, unique=True)):
        key, old, values = draw(KEYS), draw(KEYS), draw(VALUES)
        before = {"id": old, **draw(VALUES)}
        found.append(change("update", old, (major, 0), before=before, is_lone=True))
        found.append(change("update", key, major, **values))
    return placed(*found, partition=8)


@st.composite
def deliveries(draw: Any, history: list[PositionedChange]) -> list[list[PositionedChange]]:
    """Draw batches of a history: in any order, some of it twice."""
    again = [one for one in history if draw(st.integers(0, 6)) == 0]
    order = draw(st.permutations([*history, *again]))
    cuts = sorted(draw(st.lists(st.integers(0, len(order)), max_size=4)))
    edges = [0, *cuts, len(order)]
    return [order[a:b] for a, b in pairwise(edges)]


def drawn(
    number: int, images: Sequence[str] = ("full", "full", "patch", "keys")
) -> list[list[list[PositionedChange]]]:
    """Draw deliveries of histories: each a list of batches."""
    return drawn_of(number, histories(images).flatmap(deliveries))


def drawn_of(number: int, strategy: st.SearchStrategy[T]) -> list[T]:
    """Return some examples of a strategy."""
    found: list[T] = []

    @settings(max_examples=number, phases=[Phase.generate], database=None, deadline=None)
    @given(strategy)
    def collect(one: T) -> None:
        found.append(one)

    collect()
    return found


def of_history(number: int, placed: PositionedChange) -> PositionedChange:
    """Return a change with keys that no other history has."""
    return with_keys(placed, lambda key: f"{number}-{key}")


def with_keys(placed: PositionedChange, name: Callable[[Any], Any]) -> PositionedChange:
    """Return a change with other keys."""
    change = placed.change

    def own(row: Any) -> Any:
        return row and {**row, "id": name(row["id"])} if row and "id" in row else row

    images = {part: own(getattr(change, part)) for part in ("key", "before_key", "before", "after")}
    return replace(placed, change=replace(change, **images))


def batches_of(number: int, batches: int) -> list[list[PositionedChange]]:
    """Draw histories, and deliver them together in so many batches."""
    found: list[list[PositionedChange]] = [[] for _ in range(batches)]
    for which, delivery in enumerate(drawn(number)):
        for i, batch in enumerate(delivery):
            found[i % batches] += [of_history(which, placed) for placed in batch]
    return found


def deliveries_of(number: int) -> list[PositionedChange]:
    """Draw deliveries of histories, each with keys and in partitions of its own."""
    return [
        of_history(which, placed)
        for which, delivery in enumerate(drawn(number))
        for batch in delivery
        for placed in in_tables(batch, {}, which)
    ]


def in_tables(
    batch: Sequence[PositionedChange], names: Mapping[str, str], partition: int | None = None
) -> list[PositionedChange]:
    """Return changes with other names of their tables, and in a partition of their own."""
    found = []
    for one in batch:
        source = one.change.source
        renamed = replace(source, table=names.get(source.table or "", source.table))
        place = one.position if partition is None else one.position._replace(partition=partition)
        found.append(replace(one, change=replace(one.change, source=renamed), position=place))
    return found
