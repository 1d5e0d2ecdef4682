"""Small batches take few jobs, and what spares the look at a table never hides what it holds."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from tests.runtime.engines.apply.faults import ending_at
from tests.runtime.engines.apply.lake import Lake, lake_in
from tests.runtime.engines.ends import crash
from tests.runtime.tables.histories import (
    change,
    drawn,
    in_tables,
    of_history,
    placed,
    truncate,
)
from tests.runtime.tables.model import tables_of

import changewire.spark as cws
from changewire.engines.kept import SUFFIX
from changewire.engines.retries import WriteConflictError
from changewire.engines.spark.apply import batch as batches
from changewire.engines.spark.apply import decisions, merge, recent, states
from changewire.engines.spark.apply.delta import Delta
from changewire.engines.spark.apply.iceberg import Iceberg
from changewire.engines.spark.apply.shape import JsonShape
from changewire.engines.spark.apply.tables import SparkTables, held_rows
from changewire.engines.spark.apply.writing import write_rows
from changewire.tables import PositionedChange
from changewire.tables.names import safe_name
from changewire.tables.order import OLDEST

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES = ("t", "u")
MOST_JOBS = 16
"""Of a batch of 40 changes into two tables, of which none is late; it was 35 to 41."""

HISTORIES, BATCHES = 30, 4


def batch(number: int) -> list[PositionedChange]:
    """Return 40 changes of two tables, each newer than those of the batch before."""
    found = []
    for i in range(40):
        sequence, table = 40 * number + i + 1, TABLES[i % 2]
        if i % 10 > 7:
            found.append(change("delete", i - 8, sequence, table=table))
        else:
            found.append(change(key=(7 * i + 3 * number) % 60, sequence=sequence, table=table, a=i))
    return placed(*found, start=100 * number)


def applied(spark: SparkSession, lake: Lake) -> tuple[dict[str, Any], int]:
    """Apply what was sent; return the line of the batch, and how many jobs Spark had."""
    lines: list[str] = []
    query = lake.start(spark, metrics=lines.append)
    cws.await_end(query)
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(str(query.runId))
    (line,) = map(msgspec.json.decode, lines)
    return line, len(jobs)


def test_a_small_batch_takes_few_jobs(spark: SparkSession, tmp_path: Path) -> None:
    """Its changes are collected by one; log, tombstones and MERGE have what Delta gives them."""
    lake, sent = Lake(tmp_path), list[PositionedChange]()
    jobs = []
    for number in range(3):
        sent += batch(number)
        lake.send(batch(number))
        line, found = applied(spark, lake)
        assert line["tables"] == {"applied": 40}
        jobs.append(found)
    assert jobs[-1] <= MOST_JOBS, jobs
    assert lake.content(spark) == tables_of(sent)


def test_keys_beyond_the_mark_need_no_look(spark: SparkSession, tmp_path: Path) -> None:
    """Only keys are looked at of which a change may be late, has no sequence or is a patch."""
    lake = Lake(tmp_path, log="parquet")
    first = placed(*(change(key=key, sequence=10, a=1) for key in range(8)))
    lake.send(first)
    asked: list[set[str]] = []

    def heard(tables: Any, keys: DataFrame, **options: Any) -> Any:
        asked.append({row["key"] for row in keys.collect()})
        return held_rows(tables, keys, **options)

    second = placed(
        change(key=0, sequence=11, a=2),
        change("delete", 1, 12),
        change("delete", 90, 12),  # of no row
        change(key=2, sequence=10, a=2),  # as new as the mark
        change(key=3, sequence=None, a=2),
        change(key=4, sequence=20, image="patch", b=2),
        change(key=5, sequence=13, image="patch", b=2),
        change(key=5, sequence=12, a=3),
        change(key=50, sequence=9, a=1),
        start=10,
    )
    with patch.object(decisions, "held_rows", heard):
        line, _ = applied(spark, lake)
        assert (line["tables"], line["keys"]) == ({"applied": 8}, {"beyond_mark": 8})
        assert asked == []
        lake.send(second)
        with another_process():
            line, _ = applied(spark, lake)
    assert asked == [{f'{{"id":{key}}}' for key in (2, 3, 4, 50)}]
    assert line["keys"] == {"beyond_mark": 4, "looked_up": 4}
    assert line["tables"]["applied"] == len(second)
    expected = tables_of([*first, *second])
    expected["t"][(("id", 3),)]["a"] = 2  # without a sequence it takes that of its row
    assert lake.content(spark) == expected


def restarted(lake: Lake, tables: str = "") -> None:
    """Forget what the process knows of tables whose names begin so; another one knows nothing."""
    for key in [*states.STATES]:
        if key[1].startswith(f"delta.`{lake.folder}/{safe_name(tables)}"):
            states.forget_state(key)


@contextmanager
def another_process() -> Generator[None, None, None]:
    """Let nothing be known of tables, and leave nothing behind that is."""
    with patch.dict(states.STATES, clear=True):
        yield


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


def test_tombstones_are_written_before_rows(spark: SparkSession, tmp_path: Path) -> None:
    """So a row is gone only if its tombstone is there, whenever a process ends."""
    lake = Lake(tmp_path, log="parquet")
    lake.send(placed(change(key=1, a=1), change(key=2, a=1)))
    lake.apply(spark)
    lake.send(placed(change("delete", 1, 5), start=10))
    with (
        ending_at("before rows", crash),
        pytest.raises(StreamingQueryException, match="CrashError"),
    ):
        lake.apply(spark)
    graves = spark.read.format("delta").load(f"{lake.folder}/t{SUFFIX}").collect()
    assert [row["key"] for row in graves] == ['{"id":1}']
    assert sorted(row["id"] for row in lake.rows(spark, "t")) == [1, 2]


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


def test_only_some_tables_are_remembered_row_by_row() -> None:
    """Of the others the mark alone is kept."""
    with another_process():
        for number in range(states.MOST_RECENT + 1):
            key = ("delta", f"t{number}")
            kept = recent.RecentRows((number, 0))
            states.keep_state(key, states.TableState({}, "", OLDEST, (number, 0), recent=kept))
        first, second = (states.known_state(("delta", f"t{number}")) for number in range(2))
    assert first is not None
    assert (first.mark, first.recent) == ((0, 0), None)
    assert second is not None
    assert second.recent is not None


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


def test_restarted_processes_come_to_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """Histories in small batches, with and without what the process knew, end as the model says."""
    lake, sent = Lake(tmp_path, log="parquet"), list[PositionedChange]()
    batches: list[list[PositionedChange]] = [[] for _ in range(BATCHES)]
    for which, delivery in enumerate(drawn(HISTORIES)):
        for i, part in enumerate(delivery):
            found = in_tables([of_history(which, one) for one in part], {"u": "t"})
            batches[(which + i) % BATCHES] += found
            sent += found
    for number, part in enumerate(batches):
        lake.send(part)
        if number % 2:
            restarted(lake)
        lake.apply(spark)
    assert lake.content(spark) == tables_of(sent)


def test_long_rows_are_not_collected(spark: SparkSession, tmp_path: Path) -> None:
    """A batch of few rows with long texts is decided on in tasks."""
    lake = Lake(tmp_path, log="parquet")
    sent = placed(change(key=1, a="x" * 40_000), change(key=2, a="y"))
    lake.send(sent)
    with patch.object(batches, "small_batch", side_effect=AssertionError):
        lake.apply(spark)
    assert lake.content(spark) == tables_of(sent)


def test_many_tables_are_written_side_by_side(spark: SparkSession, tmp_path: Path) -> None:
    """What one of them raises ends the batch, which is retried as a whole."""
    lake = Lake(tmp_path, log="parquet")
    sent = placed(*(change(key=1, table=f"t{i}", a=i) for i in range(3)))
    lake.send(sent)
    failed = list[str]()

    def once_faulty(changed: DataFrame, tables: Any, **options: Any) -> Any:
        if tables.target.endswith("t1") and not failed:
            failed.append(tables.target)
            raise ZeroDivisionError
        return write_rows(changed, tables, **options)

    with patch.object(merge, "write_rows", once_faulty):
        with pytest.raises(Exception, match="ZeroDivisionError"):
            lake.apply(spark)
        lake.apply(spark)
    assert lake.content(spark) == tables_of(sent)
    assert cws.session() is spark
