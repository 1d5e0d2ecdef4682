"""A topic of a real broker that carries all formats becomes the tables that its changes mean."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow.parquet as pq
from tests.support.topics import create, produce

import changewire.spark as cws
from changewire.changes.reading import Reading
from changewire.framing import Position, Record
from changewire.tables import Placed, Routing, Tables, apply_changes, position_of, template_of
from changewire.tables.keys import key_text
from changewire_messages.change import Change
from changewire_messages.columns import json_texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MIXED = Path(__file__).parents[4] / "examples" / "mixed" / "topic.parquet"
TOPIC = "all-formats"
EXACT = msgspec.json.Decoder(float_hook=str).decode
"""Parses JSON text; numbers with a fraction stay the text that they are."""


def records() -> list[Record]:
    """Return the messages of the example, for one topic."""
    at = Position(topic=TOPIC, partition=0)
    return [
        Record(key=row["key"], value=row["value"], position=at)
        for row in pq.read_table(MIXED).to_pylist()
    ]


def without_engine(sent: list[Record], template: str) -> tuple[Tables, Counter[str]]:
    """Return the tables that `changewire.tables` makes, and how many elements became what."""
    reading, counts, batch = Reading("auto"), Counter[str](), []
    for record in sent:
        for i, (result, _) in enumerate(reading.elements(record.value, record.key)):
            if isinstance(result, Change):
                batch.append(Placed(result, position_of(record.position, i)))
            else:
                counts["dead_letters"] += 1
    tables, now = Tables(), datetime.now(timezone.utc)
    counts.update(apply_changes(tables, batch, Routing(template_of(template)), now).counts)
    return tables, counts


def test_all_formats_become_tables(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    """Every row of every table is the one that the changes mean, in each value and digit."""
    create(kafka, TOPIC)
    sent = produce(kafka, records())
    template = f"{tmp_path}/{{system}}/{{database}}/{{table}}"
    options = {
        "kafka.bootstrap.servers": kafka,
        "subscribe": TOPIC,
        "startingOffsets": "earliest",
    }
    outputs: dict[str, Any] = {
        name: f"{tmp_path}/ops/{name}" for name in ("change_log", "controls", "dead_letters")
    }
    told: list[str] = []
    query = cws.apply_changes(
        cws.read_kafka(spark, options),
        format="auto",
        target=template,
        checkpoint=f"{tmp_path}/checkpoint",
        trigger={"availableNow": True},
        metrics=told.append,
        **outputs,
    )
    cws.await_end(query)
    tables, counts = without_engine(sent, template)
    assert len(tables.tables) == len(["users", "orders", "items", "customers"])
    for table in tables.tables.values():
        found = spark.read.format("delta").load(table.target.name).collect()
        rows = [{**entry.key, **(entry.state.values or {})} for entry in table.rows.values()]
        keys = [key_text(entry.key) for entry in table.rows.values()]
        texts = json_texts(rows).to_pylist()
        expected = {key: EXACT(text) for key, text in zip(keys, texts, strict=True)}
        assert {row["key"]: EXACT(row["row"]) for row in found} == expected
    (line,) = map(msgspec.json.decode, told)
    assert line["dead_letters"] == counts["dead_letters"]
    assert line["tables"]["applied"] == counts["applied"]
