"""Batches of plain changes are merged by what tasks report, and come to what all others come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException
from tests.runtime.engines.apply.faults import STEPS, ending_at
from tests.runtime.engines.apply.lake import ChangeDecoder, Lake
from tests.runtime.engines.apply.test_large_batches import rows
from tests.runtime.engines.apply.test_small_batches import another_process
from tests.runtime.engines.apply.ways import DRIVER, REPORTED, TASKS, decided
from tests.runtime.engines.ends import CrashError, crash
from tests.runtime.tables.histories import change, placed, truncate
from tests.runtime.tables.model import tables_of

from changewire.engines.counts import ConservationError
from changewire.engines.kept import SUFFIX
from changewire.engines.spark.apply import batch as batches
from changewire.engines.spark.apply import direct_batch, recent, reported
from changewire.engines.spark.apply.direct_batch import EarlierTables
from changewire.tables import merge as merge_rule

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from changewire.tables import PositionedChange

KEYS, SIZE = 40, 60


def drawn(number: int, *, seed: int) -> list[list[PositionedChange]]:
    """Return batches of whole rows and deletes: late, doubled, of initial loads, of two tables."""
    random = Random(seed)  # noqa: S311 - the same in each run
    changes: list[Any] = []
    for i in range(number * SIZE):
        key, table = random.randrange(KEYS), random.choice(["t", "u"])
        sequence = -1 if random.random() < 0.05 else i + random.randrange(-20, 20)
        op = "delete" if random.random() < 0.2 and sequence >= 0 else "upsert"
        row: dict[str, Any] = {} if op == "delete" else {"a": i}
        changes.append(change(op, key, sequence, table=table, **row))
        if random.random() < 0.1:
            changes.append(changes[-1])
    every = placed(*changes)
    for i in range(0, len(every) - SIZE, 7):  # some come a batch later
        late = i + random.randrange(SIZE)
        every[i], every[late] = every[late], every[i]
    return [every[i : i + SIZE] for i in range(0, len(every), SIZE)]


MADE = drawn(4, seed=7)


def counts_of(spark: SparkSession, lake: Lake) -> tuple[Counter[str], Counter[str]]:
    """Apply what was sent; return what became of the changes, and of keys."""
    lines: list[str] = []
    lake.apply(spark, metrics=lines.append)
    found = [msgspec.json.decode(line) for line in lines]
    names = ("tables", "keys")
    tables, keys = (sum((Counter(one.get(name, {})) for one in found), Counter()) for name in names)
    return tables, keys


@pytest.fixture(scope="module")
def counted(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Lake, Counter[str]]:
    """Return what batches come to that are counted first, and what became of their changes."""
    lake = Lake(tmp_path_factory.mktemp("counted"), log="parquet")
    for batch in MADE:
        lake.send(batch)
    with decided(DRIVER):
        return lake, counts_of(spark, lake)[0]


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param((reported.FEW, reported.FEW, recent.MOST_ROWS), id="row by row"),
        pytest.param((0, reported.FEW, recent.MOST_ROWS), id="by columns"),
        pytest.param((0, reported.FEW, 0), id="by columns, tables are looked at"),
        pytest.param((0, 0, 0), id="in tasks, tables are looked at"),
    ],
)
def test_histories_come_to_the_same(
    spark: SparkSession,
    tmp_path: Path,
    counted: tuple[Lake, Counter[str]],
    sizes: tuple[int, int, int],
) -> None:
    """Rows and counts are those of batches that are counted first, and rows are the model's.

    So they are if nothing is remembered of earlier batches, and tables are looked at. `sizes` are
    the effects that are decided row by row, those that are looked up, and what is remembered.
    """
    few, looked_up, remembered = sizes
    lake = Lake(tmp_path, log="parquet")
    for batch in MADE:
        lake.send(batch)
    with (
        decided(REPORTED),
        patch.object(reported, "FEW", few),
        patch.object(reported, "FEW_LOOKED_UP", looked_up),
        patch.object(recent, "MOST_ROWS", remembered),
        patch.object(batches, "merges_of", side_effect=direct_batch.merges_of) as merges,
    ):
        tables, keys = counts_of(spark, lake)
    assert merges.call_count == len(MADE) - 1
    expected, counts = counted
    assert tables == counts
    assert keys["beyond_mark"] > 0
    assert (keys["remembered"] > keys["looked_up"]) == bool(remembered)
    everything = [one for batch in MADE for one in batch]
    assert lake.content(spark) == tables_of(everything)
    for name in ("t", "u"):
        for table in (name, f"{name}{SUFFIX}"):
            assert rows(lake.folder / table) == rows(expected.folder / table)


class Tried:
    """Stands for `append_plain`, and remembers what came of it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.were_plain: list[bool] = []

    def __call__(self, *given: Any, **options: Any) -> Any:
        """Append as `append_plain` does."""
        found = direct_batch.append_plain(*given, **options)
        self.were_plain.append(found is not None)
        return found


FIRST = placed(*(change(key=key, sequence=10, a=1) for key in range(4)))
LAST = placed(change(key=0, sequence=30, a=3), change("delete", 1, 31), start=90)

OTHERS = {
    "a new table": change(key=9, sequence=20, table="u", a=1),
    "a patch": change(key=2, sequence=20, image="patch", b=1),
    "no sequence": change(key=0, sequence=None, a=2),
    "a moved row": change("update", 2, 20, old=50, a=2),
    "no table": change("delete", 3, 20, table=None),
    "no key": change(key=None, sequence=20, a=2),
}
"""Changes that are not plain."""


def test_a_truncate_bounds_what_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    """What is older than the truncate of an earlier batch stays away."""
    lake = Lake(tmp_path, log="parquet", applies_truncates=True)
    late = placed(change(key=0, sequence=40, a=4), change(key=1, sequence=60, a=6), start=40)
    made = [
        FIRST,
        placed(truncate(50), start=20),
        placed(change(key=2, sequence=55, a=5), start=30),
        late,
    ]
    for batch in made:
        lake.send(batch)
    with (
        patch.object(reported, "FEW", 0),
        patch.object(batches, "append_plain", Tried()) as tried,
    ):
        tables, _ = counts_of(spark, lake)
    assert tried.were_plain == [False, True]
    assert tables["stale"] == 1
    expected = tables_of([one for batch in made for one in batch], truncates=True)
    assert lake.content(spark) == expected


@pytest.mark.parametrize("what", OTHERS)
def test_a_batch_with_any_other_change_is_counted_first(
    spark: SparkSession, tmp_path: Path, what: str
) -> None:
    """Nothing of it is written by the tasks that find one; the log has each change once."""
    lake = Lake(tmp_path)
    second = placed(change(key=0, sequence=15, a=2), OTHERS[what], start=10)
    for batch in (FIRST, second, LAST):
        lake.send(batch)
    with patch.object(batches, "append_plain", Tried()) as tried:
        counts_of(spark, lake)
    assert tried.were_plain[0] is False
    every = [*FIRST, *second, *LAST]
    logged = spark.read.format("delta").load(lake.outputs()["changes"])
    offsets = sorted(row["offset"] for row in logged.select("offset").collect())
    assert offsets == [one.position.offset for one in every]
    versions = DeltaTable(lake.outputs()["changes"]).history()
    assert len(versions) == len([FIRST, second, LAST])
    counted = Lake(tmp_path / "counted", log="parquet")
    for batch in (FIRST, second, LAST):
        counted.send(batch)
    with decided(DRIVER):
        counts_of(spark, counted)
    assert lake.content(spark) == counted.content(spark)


class LossyDecoder(ChangeDecoder):
    """Says of messages of later batches that they have an element more than there are rows."""

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a batch of messages."""
        for part in super().__call__(batch):
            elements = part.column("elements")
            is_late = pc.greater_equal(part.column("offset"), 10)
            found = pc.if_else(is_late, pc.add(elements, 1), elements).cast(elements.type)
            yield part.set_column(part.schema.get_field_index("elements"), "elements", found)


@pytest.mark.parametrize("way", [DRIVER, TASKS, REPORTED])
def test_nothing_of_a_batch_is_written_that_does_not_add_up(
    spark: SparkSession, tmp_path: Path, way: str
) -> None:
    """Wherever it is decided on, its elements are counted before."""
    lake = Lake(tmp_path, decoder=LossyDecoder)
    for batch in (FIRST, LAST):
        lake.send(batch)
    with (
        decided(way),
        patch.object(batches, "append_plain", side_effect=direct_batch.append_plain) as tried,
        pytest.raises(ConservationError, match="have 4 elements, decoded were 2"),
    ):
        lake.apply(spark)
    assert tried.called == (way == REPORTED)
    logged = spark.read.format("delta").load(lake.outputs()["changes"])
    assert logged.count() == len(FIRST)
    assert lake.content(spark) == tables_of(FIRST)


def test_changes_that_are_large_are_counted_first(spark: SparkSession, tmp_path: Path) -> None:
    """The log has them already, and gets them no second time; for a while none are reported."""
    made, lake = drawn(6, seed=1)[:6], Lake(tmp_path)
    for batch in made:
        lake.send(batch)
    with (
        patch.object(direct_batch, "MOST_OF_BATCH", 0),
        patch.object(batches, "append_plain", side_effect=direct_batch.append_plain) as tried,
    ):
        counts_of(spark, lake)
    assert tried.call_count == 2
    everything = [one for batch in made for one in batch]
    logged = spark.read.format("delta").load(lake.outputs()["changes"])
    assert logged.count() == len(everything)
    assert lake.content(spark) == tables_of(everything)


def test_what_cannot_be_decided_is_a_dead_letter(spark: SparkSession, tmp_path: Path) -> None:
    """Where deciding on a row fails after its change was appended, the batch is counted."""
    lake = Lake(tmp_path)
    second = placed(change(key=0, sequence=5, a=2), change(key=1, sequence=15, a=2), start=10)
    for batch in (FIRST, second):
        lake.send(batch)
    with patch.object(merge_rule, "reduced", side_effect=failing(merge_rule.reduced)):
        counts_of(spark, lake)
    letters = spark.read.format("delta").load(lake.outputs()["dead_letters"])
    assert [(row["code"], row["offset"]) for row in letters.collect()] == [("apply-failed", 10)]
    expected = tables_of([*FIRST, second[1]])
    assert lake.content(spark) == expected


def failing(reduced: Any) -> Any:
    """Return a function that raises for the change of one sequence."""

    def some(changes: Any, *others: Any) -> Any:
        found = [*changes]
        if any(one.sequence[:1] == (5,) for one in found):
            raise ZeroDivisionError
        return reduced(found, *others)

    return some


@pytest.mark.parametrize("step", [step for step in STEPS if step != "after tables"])
def test_a_crash_at_any_step_has_no_effect(spark: SparkSession, tmp_path: Path, step: str) -> None:
    """The batch is counted first when it is retried, and ends as if nothing had happened."""
    made, lake = drawn(2, seed=2)[:2], Lake(tmp_path)
    for batch in made:
        lake.send(batch)
    with (
        patch.object(batches, "merges_of", side_effect=direct_batch.merges_of) as merges,
        ending_at(step, partial(crash_if, merges)),
        pytest.raises(StreamingQueryException, match="CrashError"),
    ):
        lake.apply(spark)
    lake.apply(spark)
    everything = [one for batch in made for one in batch]
    assert lake.content(spark) == tables_of(everything)
    logged = spark.read.format("delta").load(lake.outputs()["changes"])
    assert logged.count() == len(everything)


def test_what_fails_while_the_log_is_committed_is_tried_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The changes are in the log by then, once, and the retried batch merges them."""
    made, lake = drawn(2, seed=3)[:2], Lake(tmp_path)
    for batch in made:
        lake.send(batch)
    with (
        patch.object(batches, "merges_of", side_effect=CrashError),
        pytest.raises(StreamingQueryException, match="CrashError"),
    ):
        lake.apply(spark)
    everything = [one for batch in made for one in batch]
    logged = spark.read.format("delta").load(lake.outputs()["changes"])
    assert logged.count() == len(everything)
    assert lake.content(spark) == tables_of(made[0])
    lake.apply(spark)
    assert lake.content(spark) == tables_of(everything)
    assert logged.count() == len(everything)


def crash_if(merges: Any) -> None:
    """End the query if a batch is merged by what tasks reported."""
    if merges.called:
        crash()


def test_tables_that_another_writer_wrote_are_counted_first(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Nothing that is remembered of them is used: another writer's rows are compared."""
    lake = Lake(tmp_path)
    other = Lake(tmp_path / "other", lake=lake.folder)
    other.send(placed(change(key=0, sequence=20, a=20), change("delete", 3, 20), start=50))
    for batch in (FIRST, placed(change(key=0, sequence=12, a=12), start=10)):
        lake.send(batch)
    is_ready, asked = EarlierTables.are_ready, list[bool]()

    def are_ready(*given: Any) -> bool:
        if asked == [False]:
            asked.append(True)  # the other query has tables of its own to ask for
            with another_process():
                other.start(spark).awaitTermination()
        asked.append(is_ready(*given))
        return asked[-1]

    with patch.object(EarlierTables, "are_ready", are_ready):
        lake.apply(spark)
    assert asked == [False, True, False, False]
    found = {key: row["a"] for ((_, key),), row in lake.content(spark)["t"].items()}
    assert found == {0: 20, 1: 1, 2: 1}
