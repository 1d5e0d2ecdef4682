"""A topic of a real broker that carries all formats becomes the tables that its changes mean."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow.parquet as pq
import pytest
from tests.runtime.engines.apply.lake import lake_in
from tests.support.topics import create, produce

import changewire.spark as cws
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.spark.apply.formats import format_of
from changewire.framing import Position, Record
from changewire.tables import (
    MemoryTables,
    PositionedChange,
    Routing,
    apply_changes,
    position_of,
    template_of,
)
from changewire.tables.keys import key_text
from changewire_messages.change import Change
from changewire_messages.columns import json_texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MIXED = Path(__file__).parents[4] / "examples" / "mixed" / "topic.parquet"
EXACT = msgspec.json.Decoder(float_hook=str).decode
"""Parses JSON text; numbers with a fraction stay the text that they are."""


def records(topic: str) -> list[Record]:
    """Return the messages of the example, for one topic."""
    at = Position(topic=topic, partition=0)
    return [
        Record(key=row["key"], value=row["value"], position=at)
        for row in pq.read_table(MIXED).to_pylist()
    ]


def without_engine(sent: list[Record], template: str) -> tuple[MemoryTables, Counter[str]]:
    """Return the tables that `changewire.tables` makes, and how many elements became what."""
    decode_options, counts, batch = DecodeOptions("auto"), Counter[str](), []
    for record in sent:
        for i, (result, _) in enumerate(decode_options.elements(record.value, record.key)):
            if isinstance(result, Change):
                batch.append(PositionedChange(result, position_of(record.position, i)))
            else:
                counts["dead_letters"] += 1
    tables, now = MemoryTables(), datetime.now(timezone.utc)
    counts.update(apply_changes(tables, batch, Routing(template_of(template)), now).counts)
    return tables, counts


@pytest.mark.parametrize("sink", ["delta", pytest.param("iceberg", marks=pytest.mark.matrix)])
def test_all_formats_become_tables(
    spark: SparkSession, kafka: str, tmp_path: Path, sink: str
) -> None:
    """Every row of every table is the one that the changes mean, in each value and digit."""
    lake, topic = lake_in(sink, spark, tmp_path), f"all-formats-{sink}"
    create(kafka, topic)
    sent = produce(kafka, records(topic))
    is_path = format_of(sink).takes_paths
    template = f"{tmp_path}/{{system}}/{{database}}/{{table}}" if is_path else lake.template
    options = {"kafka.bootstrap.servers": kafka, "subscribe": topic, "startingOffsets": "earliest"}
    outputs: dict[str, Any] = lake.outputs()
    told: list[str] = []
    query = cws.apply_changes(
        cws.read_kafka(spark, options),
        format="auto",
        target=template,
        checkpoint=f"{tmp_path}/checkpoint",
        sink=sink,
        trigger={"availableNow": True},
        metrics=told.append,
        **outputs,
    )
    cws.await_end(query)
    tables, counts = without_engine(sent, template)
    assert len(tables.tables) == len(["users", "orders", "items", "customers"])
    check_tables(spark, sink, tables)
    (line,) = map(msgspec.json.decode, told)
    assert line["dead_letters"] == counts["dead_letters"]
    assert line["tables"]["applied"] == counts["applied"]


def check_tables(spark: SparkSession, sink: str, tables: MemoryTables) -> None:
    """Compare the rows of tables with those that the changes mean."""
    for table in tables.tables.values():
        found = spark.table(format_of(sink).identifier(table.target.name)).collect()
        rows = [{**entry.key, **(entry.state.values or {})} for entry in table.rows.values()]
        keys = [key_text(entry.key) for entry in table.rows.values()]
        texts = json_texts(rows).to_pylist()
        expected = {key: EXACT(text) for key, text in zip(keys, texts, strict=True)}
        assert {row["key"]: EXACT(row["row"]) for row in found} == expected
