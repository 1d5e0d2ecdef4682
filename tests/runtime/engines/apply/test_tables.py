"""What a query that applies changes does to tables, sentence by sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
import pytest
from pyspark.errors import StreamingQueryException
from tests.runtime.engines.apply.faults import STEPS, ending_at
from tests.runtime.engines.apply.lake import Lake, lake_in
from tests.runtime.engines.ends import crash
from tests.runtime.tables.histories import change, eventful, in_tables, placed, truncate
from tests.runtime.tables.model import key_of, tables_of

import changewire.spark as cws
from changewire.engines.spark.apply.merge import SparkMerge
from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_crash_at_any_step_has_no_effect(spark: SparkSession, tmp_path: Path) -> None:
    """A batch ends at one step after the other; in the end tables are those of the model."""
    lake = Lake(tmp_path)
    first, again, late = eventful()
    lake.send(first)
    lake.apply(spark)
    lake.send(again)
    for step in (one for one in STEPS if one != "before rows"):  # which is after tombstones here
        with (
            ending_at(step, crash),
            pytest.raises(StreamingQueryException, match="CrashError"),
        ):
            lake.apply(spark)
    lake.send(late)
    lake.apply(spark)
    assert lake.content(spark) == tables_of([*first, *again, *late])
    logged = spark.read.format("delta").load(lake.outputs()["changes"]).count()
    assert logged == len([*first, *again, *late])
    table = f"{lake.root}/tables/t"
    hour = timedelta(hours=1)
    assert cws.vacuum(spark, table, older_than=datetime.now(timezone.utc) - hour) == 0
    assert cws.vacuum(spark, table, older_than=datetime.now(timezone.utc) + hour) >= len(["1", "2"])


@pytest.fixture(scope="module")
def fed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, list[str]]:
    """A lake that three batches feed with names, truncates and a late delete; lines of them."""
    lake = Lake(tmp_path_factory.mktemp("fed"), applies_truncates=True)
    for batch in (NAMED, *TRUNCATED):
        lake.send(batch)
    lines: list[str] = []
    lake.apply(spark, metrics=lines.append)
    return lake, lines


NAMED = placed(
    change(key=1, table="../t", a=1),
    change(key=2, table=None, a=1),
    change(key=3, table="U", a=1),
    change(key=4, table="u", a=1),
    change(key=None, table="U", a=1),
    change("delete", 1, 5, table=None),
    change(key=11, a=1),
    change(key=12, a=1),
    change(key=13, sequence=9, a=1),
)
TRUNCATED = (
    placed(
        truncate(5),
        truncate(None),
        change(key=12, sequence=6, a=2),
        change(key=11, sequence=2, a=2),
        change(key=1, sequence=4, table="new", a=1),
        start=10,
    ),
    placed(change(key=11, sequence=4, a=3), start=20),
)


def letters(spark: SparkSession, lake: Lake) -> dict[int, str]:
    """Return the codes of dead letters by offset."""
    found = spark.read.format("delta").load(lake.outputs()["dead_letters"])
    return {row["offset"]: row["code"] for row in found.collect()}


def test_many_tables(spark: SparkSession, fed: tuple[Lake, list[str]]) -> None:
    """Names go where they belong; what has no table, or another's but for its case, is refused."""
    lake, lines = fed
    assert lake.tables() == ["U", "new", "null", "t", "x002E__x002E__x002F_t"]
    assert lake.rows(spark, "U") == [{"id": 3, "a": 1}]
    assert lake.rows(spark, "null") == [{"id": 2, "a": 1}]
    assert lake.rows(spark, "x002E__x002E__x002F_t") == []
    assert lake.rows(spark, "new") == []  # the delete that named no table holds for it too
    first, *_ = (msgspec.json.decode(line) for line in lines)
    assert (first["by_error_code"], first["dead_letters"]) == ({"name-collision": 1}, 1)
    assert first["changes"] + first["dead_letters"] == len(NAMED)
    assert first["tables"]["key_missing"] == 1
    assert cws.session() is spark


def test_truncates(spark: SparkSession, fed: tuple[Lake, list[str]]) -> None:
    """A truncate removes what is older, and nothing older comes back."""
    lake, _ = fed
    sent = [one for batch in (NAMED, *TRUNCATED) for one in batch]
    good = [one for one in sent if one.change.source.table == "t" and one.change.sequence]
    rows = {key_of({"id": row["id"]}): row for row in lake.rows(spark, "t")}
    assert rows == tables_of(good, truncates=True)["t"]
    assert {lake.verdict("t", key) for key in (11, 12, 13)} == {"same"}
    assert letters(spark, lake) == {3: "name-collision", 11: "truncate-without-sequence"}


MEANWHILE: Mapping[str, tuple[list[Any], list[Any]]] = {
    "rows": (
        [change(key=1, sequence=2, a=2), change(key=2, sequence=2, a=2)],
        [change(key=1, sequence=3, a=3), change("delete", 2, 3)],
    ),
    "a delete of no row": ([change(key=3, sequence=4, a=4)], [change("delete", 3, 5)]),
    "a row after its delete": ([change("delete", 3, 5)], [change(key=3, sequence=4, a=4)]),
    "a truncate": ([change(key=3, sequence=4, a=4)], [truncate(5)]),
}
"""What a query sends to a table, and what another one writes there meanwhile."""

SEEN: Mapping[str, tuple[list[str], dict[str, int]]] = {
    "delta": ([*MEANWHILE], {"stale": 4, "applied": 1}),
    "iceberg": (["rows", "a delete of no row"], {"stale": 3}),
}
"""For each table format what happens, and what becomes of the changes of the query."""


FIRST = [change(key=1, a=1), change(key=2, a=1)]


def of_tables(changes: Sequence[Sequence[Any]], partition: int) -> list[PositionedChange]:
    """Return changes of several tables, in a partition of their own."""
    found: list[PositionedChange] = []
    for number, rows in enumerate(changes):
        of_one = placed(*rows, start=10 * number, partition=partition)
        found += in_tables(of_one, {"t": f"t{number}"})
    return found


@pytest.mark.parametrize("sink", SEEN)
def test_two_queries_write_to_the_same_tables(
    spark: SparkSession, tmp_path: Path, sink: str
) -> None:
    """What another query writes between decision and merge is seen, and decided on again."""
    names, counts = SEEN[sink]
    lake, other = (
        lake_in(sink, spark, tmp_path / f"{tmp_path.name}_{n}", log="parquet") for n in range(2)
    )
    other.lake, other.namespace = lake.folder, lake.namespace
    lake.applies_truncates = other.applies_truncates = True
    first = of_tables([FIRST] * len(names), partition=0)
    sent = of_tables([MEANWHILE[name][0] for name in names], partition=1)
    others = of_tables([MEANWHILE[name][1] for name in names], partition=2)
    lake.send(first)
    lake.apply(spark)
    lake.send(sent)
    other.send(others)
    calls: list[Any] = []
    decide = SparkMerge.decided

    def before_the_other(merge: SparkMerge) -> Any:
        decided = decide(merge)
        calls.append(decided)
        if len(calls) == len(names):
            other.start(spark).awaitTermination()
        return decided

    lines: list[str] = []
    with patch.object(SparkMerge, "decided", before_the_other):
        lake.apply(spark, metrics=lines.append)
    assert len(calls) > len(names)
    assert lake.content(spark) == tables_of([*first, *sent, *others], truncates=True)
    assert msgspec.json.decode(lines[0])["tables"] == counts


def test_records_without_value_are_deletes_where_asked_for(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A tombstone of a compacted topic removes the row that its key names, and comes after it."""
    key, other = (f'["n", "s", "{text * 26}A=", 1]' for text in "AB")
    outputs: dict[str, Any] = {**Lake(tmp_path).outputs()}
    told: list[str] = []
    for number, gone in enumerate([None, key]):
        rows = [
            (f'{{"msg": "write", "key": {name}, "gen": 1, "exp": 0, "lut": 5, "bins": []}}', name)
            for name in (key, other)
        ]
        sent = [(None, gone)] if gone else rows
        frame = spark.createDataFrame(
            [(value, name, "t", 0, 2 * number + i) for i, (value, name) in enumerate(sent)],
            "value string, key string, topic string, partition int, offset long",
        )
        frame.write.mode("append").parquet(f"{tmp_path}/messages")
        messages = spark.readStream.schema(frame.schema).parquet(f"{tmp_path}/messages")
        query = cws.apply_changes(
            messages,
            format="aerospike-json",
            null_value="delete",
            target=f"{tmp_path}/{{table}}",
            checkpoint=f"{tmp_path}/checkpoint",
            trigger={"availableNow": True},
            metrics=told.append,
            **outputs,
        )
        cws.await_end(query)
    (left,) = spark.read.format("delta").load(f"{tmp_path}/s").collect()
    assert msgspec.json.decode(left["key"]) == {"aerospike_digest": json.loads(other)[2]}
    assert [msgspec.json.decode(line)["tables"] for line in told] == [
        {"applied": 2},
        {"applied": 1, "ordered_by_position": 1, "sequence_inherited": 1},
    ]


def test_missing_keys_stop_a_query(spark: SparkSession, tmp_path: Path) -> None:
    """A query in which no change has a key stops, and nothing is written."""
    lake = Lake(tmp_path)
    lake.send(placed(change(key=None, a=1), change(key=None, a=2)))
    with pytest.raises(cws.KeysMissingError, match="none of 2 changes has a key"):
        lake.apply(spark)
    assert not Path(lake.outputs()["changes"]).exists()
