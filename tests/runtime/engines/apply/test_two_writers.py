"""What other writers leave in a table is seen, at whatever step of a batch they come."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from pyspark.errors import PySparkException
from tests.runtime.engines.apply.lake import Lake, lake_in
from tests.runtime.engines.apply.test_small_batches import another_process, applied, restarted
from tests.runtime.tables.histories import (
    change,
    in_tables,
    placed,
    truncate,
)
from tests.runtime.tables.model import tables_of

import changewire.spark as cws
from changewire.engines.retries import WriteConflictError
from changewire.engines.spark.apply import merge, recent
from changewire.engines.spark.apply.delta import Delta
from changewire.engines.spark.apply.iceberg import Iceberg
from changewire.engines.spark.apply.shape import JsonShape
from changewire.engines.spark.apply.tables import SparkTables
from changewire.tables import PositionedChange
from changewire.tables import merge as merge_rule
from changewire.tables.names import safe_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LATE: Mapping[str, list[Any]] = {
    "row": [change(key=1, sequence=50, a=1)],
    "delete": [change("delete", 1, 50)],
    "truncate": [truncate(50)],
}
"""What is newer than the change of its key that comes after it, and than all else."""

WRITERS = ("this process", "one before", "another one")
ALL = [(writer, what) for writer in WRITERS for what in LATE]
SOME = [
    *(("this process", what) for what in ("delete", "truncate")),
    *(("one before", what) for what in ("row", "delete")),
    ("another one", "truncate"),
]
"""Who writes what is newer: each has a table, and one that is made costs more than a batch."""


def sent_to(pairs: list[tuple[str, str]], *changes: Any, start: int) -> list[PositionedChange]:
    """Return changes of the tables of some pairs; where none are named, what is newer there."""
    found: list[PositionedChange] = []
    for writer, what in pairs:
        rows = placed(*(changes or LATE[what]), start=start + len(found))
        found += in_tables(rows, {"t": f"{writer}, {what}"}, WRITERS.index(writer))
    return found


def two_writers(root: Path) -> tuple[Lake, Lake]:
    """Return two lakes with the same tables."""
    first = Lake(root / "a", log="parquet")
    return first, Lake(root / "b", lake=first.folder, log="parquet")


def two_writers_in(sink: str, spark: SparkSession, root: Path) -> tuple[Lake, Lake]:
    """Return the same in a table format."""
    first, other = (
        lake_in(sink, spark, root / f"{root.name}_{name}", log="parquet") for name in "ab"
    )
    other.lake, other.namespace = first.folder, first.namespace
    return first, other


@pytest.mark.parametrize(
    ("pairs", "remembered"),
    [
        (SOME, recent.MOST_ROWS),
        pytest.param(SOME, 0, id="nothing is remembered"),
        pytest.param(ALL, recent.MOST_ROWS, marks=pytest.mark.long),
    ],
)
def test_what_is_late_stays_away(
    spark: SparkSession,
    tmp_path: Path,
    pairs: list[tuple[str, str]],
    remembered: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mark has all that is in a table, whoever wrote it, and whatever it left there."""
    monkeypatch.setattr(recent, "MOST_ROWS", remembered)
    lake, other = two_writers(tmp_path)
    lake.applies_truncates = other.applies_truncates = True
    rows = (change(key=2, sequence=1, a=1), change(key=3, sequence=2, a=1))
    first = sent_to(pairs, *rows, start=0)
    new = sent_to([one for one in pairs if one[0] != "another one"], start=100)
    others = sent_to([one for one in pairs if one[0] == "another one"], start=100)
    lake.send(first)
    lake.send(new)
    lake.apply(spark)
    other.send(others)
    with another_process():
        other.apply(spark)
    restarted(lake, "one before")
    late, after = (
        sent_to(pairs, change(key=1, sequence=sequence, a=9), start=10 * sequence)
        for sequence in (40, 41)
    )
    for batch in (late, after):
        lake.send(batch)
        line, _ = applied(spark, lake)
        assert line["tables"] == {"stale": len(pairs)}
    sent = [*first, *new, *others, *late, *after]
    expected = tables_of(sent, truncates=True)
    assert lake.content(spark) == {safe_name(name): rows for name, rows in expected.items()}


def test_another_writer_comes_at_any_step(spark: SparkSession, tmp_path: Path) -> None:
    """Rows that were not looked at are written only over older ones, and looked at again."""
    lake, other = two_writers(tmp_path)
    steps = ("versions", "write_tombstones", "write_rows")
    sent = placed(*(change(key=key, a=1) for key in range(10 * len(steps))))
    lake.send(sent)
    applied(spark, lake)
    for number, step in enumerate(steps):
        ours, others = meeting(10 * number)
        sent += [*ours, *others]
        lake.send(ours)
        other.send(others)
        restarted(lake)  # else it knows that another one comes, and looks at all rows
        with at_first_call(step, lambda: other.start(spark).awaitTermination()) as calls:
            line, _ = applied(spark, lake)
        assert len(calls) > 1, step
        assert line["tables"]["applied"] == 1, step
    assert lake.content(spark) == tables_of(sent)


def test_another_writer_comes_after_a_decision(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing is written to rows that were not looked at, before it is decided again."""
    lake, other = two_writers(tmp_path)
    first = placed(change(key=1, a=1))
    lake.send(first)
    applied(spark, lake)
    ours = placed(change(key=2, sequence=5, a=5), start=10)
    others = placed(change("delete", 2, 6), start=10, partition=1)
    lake.send(ours)
    other.send(others)

    def come() -> None:
        other.start(spark).awaitTermination()

    written = at_first_call("_write", lambda: None)
    with at_first_call("_written", come, merge.SparkMerge) as tries, written as writes:
        lake.apply(spark)
    assert (len(tries), len(writes)) == (3, 2)  # one each is of the other writer
    assert lake.content(spark) == tables_of([*first, *ours, *others])


@pytest.mark.parametrize("sink", ["delta", "iceberg"])
def test_a_row_that_another_writer_has_written_is_not_counted(
    spark: SparkSession, tmp_path: Path, sink: str
) -> None:
    """It comes between a decision and the MERGE, which leaves its newer row as it is."""
    lake, other = two_writers_in(sink, spark, tmp_path)
    first = placed(change(key=1, a=1))
    ours = placed(change(key=1, sequence=5, a=5), start=10)
    others = placed(change(key=1, sequence=6, a=6), start=10, partition=1)
    lake.send(first)
    lake.apply(spark)
    lake.send(ours)
    other.send(others)
    with at_first_call("write_rows", lambda: other.start(spark).awaitTermination()):
        line, _ = applied(spark, lake)
    assert line["tables"] == {"stale": 1}
    assert lake.content(spark) == tables_of([*first, *ours, *others])


def test_a_row_that_was_looked_at_is_written_only_if_it_is_as_it_was(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Whoever changes it between the look and the MERGE, it is looked at again."""
    lake = Lake(tmp_path, log="parquet")
    lake.send(placed(change(key=1, a=1)))
    lake.apply(spark)
    lake.send(placed(change(key=1, sequence=20, image="patch", b=2), start=10))
    table = f"delta.`{lake.folder}/t`"
    newer = """UPDATE {} SET row = '{{"id":1,"a":9}}', _changewire.sequence.major = 60"""

    def come() -> None:
        spark.sql(newer.format(table))

    with at_first_call("write_rows", come):
        line, _ = applied(spark, lake)
    assert line["tables"] == {"stale": 1}
    assert lake.rows(spark, "t") == [{"id": 1, "a": 9}]


@pytest.mark.parametrize(
    ("format", "text"),
    [
        (Delta(), "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] files were added"),
        (Delta(), "io.delta.exceptions.ConcurrentDeleteReadException: it was removed"),
        (Delta(), "DELTA_METADATA_CHANGED"),
        (Delta(), "ProtocolChangedException"),
        (Iceberg(), "org.apache.iceberg.exceptions.CommitFailedException: version 4 exists"),
        (Iceberg(), "CommitStateUnknownException"),
        (Iceberg(), "Found conflicting files that can contain records"),
        (Iceberg(), "Cannot commit, missing data files"),
    ],
)
def test_errors_that_say_that_another_writer_came(format: Any, text: str) -> None:
    """These are tried again; any other error is raised as it is."""
    tables = SparkTables("t", "t", "g", format, JsonShape())
    with pytest.raises(WriteConflictError), merge.conflicts(tables):
        raise PySparkException(text)
    with pytest.raises(PySparkException, match="no space"), merge.conflicts(tables):
        raise PySparkException("no space left on the device")


def test_another_writer_comes_after_the_rows(spark: SparkSession, tmp_path: Path) -> None:
    """The next batch does not know what it wrote, and looks at its keys."""
    lake, other = two_writers(tmp_path)
    first = placed(change(key=1, a=1))
    ours = placed(change(key=2, sequence=20, a=2), start=10)
    others = placed(change("delete", 3, 50), start=10, partition=1)
    late = placed(change(key=3, sequence=30, a=3), start=20)
    lake.send(first)
    lake.apply(spark)
    lake.send(ours)
    other.send(others)
    with at_first_call("left", lambda: other.start(spark).awaitTermination(), Delta):
        lake.apply(spark)
    lake.send(late)
    lake.apply(spark)
    assert lake.content(spark) == tables_of([*first, *ours, *others, *late])


@pytest.mark.parametrize("sink", ["delta", "iceberg"])
def test_another_writer_comes_to_tables_that_were_just_made(
    spark: SparkSession, tmp_path: Path, sink: str
) -> None:
    """They are not taken for empty then."""
    lake, other = two_writers_in(sink, spark, tmp_path)
    ours = placed(change(key=1, sequence=5, a=5), change(key=2, a=1))
    others = placed(change("delete", 1, 6), partition=1)
    lake.send(ours)
    other.send(others)
    with at_first_call("versions", lambda: other.start(spark).awaitTermination()):
        line, _ = applied(spark, lake)
    assert line["tables"] == {"stale": 1, "applied": 1}
    assert lake.content(spark) == tables_of([*ours, *others])


def test_a_change_that_fails_once_it_is_in_the_log_ends_the_query(
    spark: SparkSession, tmp_path: Path
) -> None:
    """What another writer did makes it fail; once that is mended, the batch is applied."""
    lake, other = two_writers(tmp_path)
    first = placed(change(key=1, a=1))
    ours = placed(change(key=1, sequence=20, image="patch", b=2), start=10)
    others = placed(change(key=1, sequence=30, a=3), start=10, partition=1)
    lake.send(first)
    lake.apply(spark)
    lake.send(ours)
    other.send(others)
    with (
        at_first_call("write_rows", lambda: other.start(spark).awaitTermination()),
        failing_beside(30),
        pytest.raises(cws.OutputError, match="1 changes that could be applied before cannot be"),
    ):
        lake.apply(spark)
    assert lake.content(spark) == tables_of([*first, *others])
    lake.apply(spark)
    assert lake.content(spark) == tables_of([*first, *ours, *others])
    logged = spark.read.parquet(lake.outputs()["changes"])
    assert logged.count() == len([*first, *ours])


def failing_beside(sequence: int) -> Any:
    """Let it fail to decide on changes of a row that has a sequence."""
    reduced = merge_rule.reduced

    def some(batch: Any, held: Any, counts: Any) -> Any:
        if held is not None and held.order.sequence[0] == sequence:
            raise ZeroDivisionError
        return reduced(batch, held, counts)

    return patch.object(merge_rule, "reduced", some)


def meeting(first: int) -> tuple[list[PositionedChange], list[PositionedChange]]:
    """Return changes of two writers to the same rows, newer than those of the numbers before."""
    ours = placed(
        change(key=first, sequence=first + 5, a=5),
        change("delete", first + 1, first + 5),
        change(key=first + 107, sequence=first + 5, a=5),
        change("delete", first + 3, first + 5),
        start=100 + first,
    )
    others = placed(
        change(key=first, sequence=first + 6, a=6),
        change(key=first + 1, sequence=first + 6, a=6),
        change("delete", first + 107, first + 6),
        change(key=first + 3, sequence=first + 4, a=4),
        start=100 + first,
        partition=1,
    )
    return ours, others


@contextmanager
def at_first_call(
    step: str, come: Callable[[], None], owner: Any = merge
) -> Generator[list[int], None, None]:
    """Let another process come before a step is taken for the first time; yield its calls."""
    real: Callable[..., Any] = getattr(owner, step)
    calls: list[int] = []

    def after_the_other(*arguments: Any, **options: Any) -> Any:
        calls.append(len(calls))
        if len(calls) == 1:
            with another_process():
                come()
        return real(*arguments, **options)

    with patch.object(owner, step, after_the_other):
        yield calls
