"""No message ends a stream: each element is in the log once, and tables are as the model says."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import chain
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
from tests.runtime.engines.merge.lake import Lake, lake_in
from tests.runtime.engines.merge.messages import message_of
from tests.runtime.tables.histories import drawn, of_history

import changewire as cw
import changewire.spark as cws
from changewire.engines.spark.merge.query import apply_changes
from changewire.tables import ChangePosition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW, MANY = 150, 5_000
HISTORIES = 20
LARGE = 2
"""Tables that are made: each takes its seconds, with few changes as with many."""

BATCH = 2_500
TYPES = {
    "aerospike-flat-json": "name string, age int, premium boolean, balance double, at string",
    "aerospike-json": "name string, age int, premium boolean, balance double, tags array<string>",
    "aerospike-msgpack": "name string, age int, at binary, balance float, cents decimal(12, 2)",
    "dataworks-json": "id long, name string, price double, made timestamp, val decimal(12, 2)",
    "lindorm-json": "id long, customer long, status string, cents decimal(12, 0), at binary",
}
NAMED_BY = {"aerospike-json": "system", "aerospike-msgpack": "system"}
"""Name of the source that tables have; few tables take less time. By default it is the database.

All sets of Aerospike have keys of the same columns, so that one table takes them.
"""

CASES = [
    ("aerospike-msgpack", "json", "delta"),
    ("dataworks-json", "declared", "delta"),
    ("lindorm-json", "embedded", "iceberg"),
]
"""Each vendor, each kind of rows, and each table format."""

EVERY = [
    (name, rows, table_format)
    for name in TYPES
    for rows in ("json", "declared", "embedded")
    for table_format in ("delta", "iceberg")
    if rows != "embedded" or not name.startswith("aerospike")
]


@pytest.mark.parametrize(("format", "rows", "table_format"), CASES)
def test_a_stream_takes_any_message(
    spark: SparkSession, tmp_path: Path, format: str, rows: str, table_format: str
) -> None:
    """Every element is in the log once, the query ends well, and tables are as the model says."""
    messages = of_large(
        read(format, [*captured(format), *histories(format), *mutated(format, FEW)])
    )
    check(spark, lake_in(table_format, spark, tmp_path), read(format, messages), rows)


@pytest.mark.long
@pytest.mark.parametrize(("format", "rows", "table_format"), EVERY)
def test_a_stream_takes_thousands_of_mutated_messages(
    spark: SparkSession, tmp_path: Path, format: str, rows: str, table_format: str
) -> None:
    """The same holds for thousands, in several batches."""
    messages = [*captured(format), *histories(format), *mutated(format, MANY)]
    check(spark, lake_in(table_format, spark, tmp_path), read(format, messages), rows)


def read(format: str, messages: list[bytes]) -> Read:
    """Return messages of a format, with what Python reads of them."""
    return Read(format, messages, befores_wait=True, named_by=NAMED_BY.get(format, "database"))


def of_large(sent: Read) -> list[bytes]:
    """Return the messages of the tables with most changes, and those without a table."""
    tables: dict[int, set[str]] = defaultdict(set)
    changes: Counter[str] = Counter()
    for position, found in sent.elements():
        if isinstance(found, cw.Change) and getattr(found.source, sent.named_by):
            tables[position.offset].add(sent.table_of(found))
            changes[sent.table_of(found)] += 1
    few = changes.keys() - dict(changes.most_common(LARGE))
    return [one for offset, one in enumerate(sent.messages) if not tables[offset] & few]


def histories(format: str) -> list[bytes]:
    """Return the messages of drawn histories, late and doubled ones among them."""
    if format != "dataworks-json":
        return []
    return [
        message_of(of_history(number, placed).change)
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
    kind: Any = StructType.fromDDL(TYPES[sent.format]) if rows == "declared" else rows
    places = lake.places
    query = apply_changes(
        lake.read(spark),
        format=sent.format,
        log=places["log"],
        target=template(lake, sent),
        one_table=True,
        table_format=lake.table_format,
        key_columns=KEYS.get(sent.format),
        row_schema=kind,
        checkpoint=places["checkpoint"],
        trigger={"availableNow": True},
        apply_truncates=True,
        metrics=lines.append,
    )
    cws.await_termination(query)
    batches = [one for one in map(json.loads, lines) if "tables" not in one]
    found, codes = placed(spark, lake)
    assert "apply-failed" not in codes
    for kind, count in (("change", "changes"), ("dead_letter", "dead_letters")):
        assert len(found[kind]) == len(set(found[kind])) == sum(one[count] for one in batches)
    landed = (places for kind, places in found.items() if kind != "refused")
    assert sorted(chain.from_iterable(landed)) == [position for position, _ in sent.elements()]
    lost = {*found["dead_letter"], *found["refused"]}
    loaded = {name: lake.table(spark, name) for name in lake.names()}
    rows_found, expected = contents(sent, lost, loaded, rows)
    assert differences(rows_found, expected) == []
    given: dict[str, Any] = {"target": template(lake, sent), "one_table": True}
    assert lake.faults(spark, apply_truncates=True, **given) == []


def template(lake: Lake, sent: Read) -> str:
    """Return how the tables are named."""
    return str(lake.places["target"]).replace("{table}", f"{{{sent.named_by}}}")


def placed(
    spark: SparkSession, lake: Lake
) -> tuple[dict[str, list[ChangePosition]], set[str | None]]:
    """Return where the elements in the log were read, by their kind, and the codes of refusals."""
    found: dict[str, list[ChangePosition]] = defaultdict(list)
    columns = ("kind", "code", "topic", "partition", "offset", "element")
    rows = lake.log(spark).select(*columns).collect()
    for row in rows:
        found[row["kind"]].append(ChangePosition(*row[2:]))
    return found, {row["code"] for row in rows}


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
        table = sent.table_of(change)
        columns = types.get(table, StructType())
        names.setdefault(table, sorted(values))
        return text_of(values, {n: key_column(columns, n, one) for n, one in values.items()})

    content = sent.content(dead, key)
    found: Content = {name: {} for name in loaded}
    rescued: dict[str, dict[str, str | None]] = {name: {} for name in loaded}
    for name, table in loaded.items():
        for one in table.collect():
            row = collected(one)
            state = row.pop("_changewire")
            place = text_of(names[name], row)
            found[name][place], rescued[name][place] = row, state["rescued"]
    return (
        key,
        found,
        {
            name: {
                key: typed_row(without_rescued(row, rescued[name].get(key)), types[name])
                for key, row in rows.items()
            }
            for name, rows in content.items()
            if name in types
        },
    )


def without_rescued(row: dict[str, Any], rescued: str | None) -> dict[str, Any]:
    """Return the values of a row that its table has in columns."""
    names = {} if rescued is None else json.loads(rescued)
    assert names.keys() <= row.keys()
    return {name: value for name, value in row.items() if name not in names}


def key_column(columns: StructType, name: str, value: Any) -> Any:
    """Return what the column of a key holds; one that no type has is text."""
    if name not in columns.names:
        return as_column(value, StringType())
    return as_column(value, columns[name].dataType, columns[name].metadata)
