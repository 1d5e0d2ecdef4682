"""No message ends a stream: each is in the tables, or a dead letter."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from pyspark.sql.types import StringType, StructType
from tests.runtime.engines.any_messages import (
    KEYS,
    Content,
    Read,
    Rows,
    as_column,
    captured,
    collected,
    differences,
    json_contents,
    json_key,
    mutated,
    text_of,
    typed_row,
    without,
)
from tests.runtime.engines.apply.lake import Lake, lake_in
from tests.runtime.engines.apply.test_histories import HISTORIES, message
from tests.runtime.tables.histories import drawn, of_history

import changewire as cw
import changewire.spark as cws
from changewire.tables import ChangePosition
from changewire.tables.names import safe_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW, MANY = 150, 5_000
BATCH = 2_500
TYPES = {
    "aerospike-json": "name string, age int, premium boolean, balance double, tags array<string>",
    "aerospike-msgpack": "name string, age int, at binary, balance float, cents decimal(12, 2)",
    "dataworks-json": "id long, name string, price double, made timestamp, val decimal(12, 2)",
    "lindorm-json": "id long, customer long, status string, cents decimal(12, 0), at binary",
}
CASES = [
    ("aerospike-json", "declared", "iceberg"),
    ("aerospike-msgpack", "json", "delta"),
    ("dataworks-json", "declared", "delta"),
    ("lindorm-json", "embedded", "iceberg"),
]
"""Each format, each kind of rows, and each table format with more than one."""

EVERY = [
    (name, rows, sink)
    for name in TYPES
    for rows in ("json", "declared", "embedded")
    for sink in ("delta", "iceberg")
    if rows != "embedded" or not name.startswith("aerospike")
]


@pytest.mark.parametrize(("format", "rows", "sink"), CASES)
def test_a_stream_takes_any_message(
    spark: SparkSession, tmp_path: Path, format: str, rows: str, sink: str
) -> None:
    """Every element is in one output, the query ends well, and tables are as the model says."""
    messages = [*captured(format), *histories(format), *mutated(format, FEW)]
    check(spark, lake_in(sink, spark, tmp_path), Read(format, messages), rows)


@pytest.mark.long
@pytest.mark.parametrize(("format", "rows", "sink"), EVERY)
def test_a_stream_takes_thousands_of_mutated_messages(
    spark: SparkSession, tmp_path: Path, format: str, rows: str, sink: str
) -> None:
    """The same holds for thousands, in several batches."""
    messages = [*captured(format), *histories(format), *mutated(format, MANY)]
    check(spark, lake_in(sink, spark, tmp_path), Read(format, messages), rows)


def histories(format: str) -> list[bytes]:
    """Return the messages of drawn histories, late and doubled ones among them."""
    if format != "dataworks-json":
        return []
    return [
        message(of_history(number, placed).change)
        for number, delivery in enumerate(drawn(HISTORIES, ("full",)))
        for batch in delivery
        for placed in batch
    ]


def check(spark: SparkSession, lake: Lake, sent: Read, rows: str) -> None:
    """Apply messages, and compare outputs and tables with what Python reads of the messages."""
    for start in range(0, len(sent.messages), BATCH):
        part = sent.messages[start : start + BATCH]
        lake.send_records([(value, "topic", 0, start + i) for i, value in enumerate(part)])
    lines: list[str] = []
    outputs: dict[str, Any] = lake.outputs()
    kind: Any = StructType.fromDDL(TYPES[sent.format]) if rows == "declared" else rows
    query = cws.apply_changes(
        lake.read(spark),
        format=sent.format,
        target=lake.template.replace("{table}", "{database}"),  # few tables take less time
        sink=lake.sink,
        keys=KEYS.get(sent.format),
        rows=kind,
        checkpoint=str(lake.root / "checkpoint"),
        trigger={"availableNow": True},
        apply_as_truncates=True,
        metrics=lines.append,
        **outputs,
    )
    cws.await_end(query)
    batches = [json.loads(line) for line in lines]
    places = {name: placed(spark, lake, name) for name in lake.outputs()}
    for name, count in (("changes", "changes"), ("dead_letters", "dead_letters")):
        assert len(places[name]) == len(set(places[name])) == sum(one[count] for one in batches)
    elements = sorted(place for found in places.values() for place in found)
    assert elements == [position for position, _ in sent.elements()]
    dead = set(places["dead_letters"])
    loaded = {name: spark.read.format(lake.sink).load(table) for name, table in tables(lake)}
    found, expected = contents(sent, dead, loaded, rows)
    assert not any(one["by_error_code"].get("apply-failed") for one in batches)
    assert differences(found, expected) == []


def placed(spark: SparkSession, lake: Lake, name: str) -> list[ChangePosition]:
    """Return where the elements of an output were read."""
    output = lake.outputs()[name]
    found = spark.table(output) if lake.namespace else spark.read.format(lake.sink).load(output)
    rows = found.select("topic", "partition", "offset", "element").collect()
    return [ChangePosition(*row) for row in rows]


def tables(lake: Lake) -> list[tuple[str, str]]:
    """Return the names of the tables, and where they are."""
    return [(name, f"{lake.folder}/{name}") for name in lake.tables()]


def contents(
    sent: Read, dead: set[ChangePosition], loaded: dict[str, Any], rows: str
) -> tuple[Content, Content]:
    """Return the rows of tables as they are and as they should be, but for those without order."""
    if rows == "json":
        key, found = json_key, {name: json_rows(table) for name, table in loaded.items()}
        expected = json_contents(sent, dead)
    else:
        key, found, expected = typed_contents(sent, dead, loaded)
    unordered = sent.unordered(key)
    return without(found, unordered), without(expected, unordered)


def json_rows(table: Any) -> Rows:
    """Return the rows of a table of JSON text."""
    return {row["key"]: dict(msgspec.json.decode(row["row"])) for row in table.collect()}


def typed_contents(
    sent: Read, dead: set[ChangePosition], loaded: dict[str, Any]
) -> tuple[Callable[..., str], Content, Content]:
    """Return the text of keys, and the rows of tables of columns: those found, those expected."""
    types = {name: table.drop("_changewire").schema for name, table in loaded.items()}
    names: dict[str, list[str]] = {}

    def key(change: cw.Change, values: dict[str, Any]) -> str:
        table = safe_name(change.source.database or "")
        columns = types.get(table, StructType())
        names.setdefault(table, sorted(values))
        return text_of(values, {n: key_column(columns, n, one) for n, one in values.items()})

    content = sent.content(dead, key)
    found = {
        name: {text_of(names[name], row): row for row in map(collected, rows_of(table))}
        for name, table in loaded.items()
    }
    return (
        key,
        found,
        {
            name: {key: typed_row(row, types[name]) for key, row in rows.items()}
            for name, rows in content.items()
            if name in types
        },
    )


def key_column(columns: StructType, name: str, value: Any) -> Any:
    """Return what the column of a key holds; one that no type has is text."""
    if name not in columns.names:
        return as_column(value, StringType())
    return as_column(value, columns[name].dataType, columns[name].metadata)


def rows_of(table: Any) -> list[Any]:
    """Return the rows of a table, without what they were made by."""
    return list(table.drop("_changewire").collect())
