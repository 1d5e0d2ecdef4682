"""Histories through a broker: out of order, with doubles, in batches of any size."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from tests.runtime.engines.apply.lake import Lake
from tests.runtime.tables.histories import drawn, of_history
from tests.runtime.tables.model import tables_of
from tests.support.topics import create, produce

import changewire as cw
import changewire.spark as cws
from changewire.framing import Position, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORIES = 20
TOPICS = ("a", "b")
PARTITIONS = 2
SMALLEST, LARGEST = 40, 160
TYPES = {"id": "STRING", "a": "DOUBLE", "b": "DOUBLE", "c": "DOUBLE"}


def message(change: cw.Change) -> bytes:
    """Return a change as DataWorks says it."""
    ops = {"delete": "DELETE", "update": "UPDATE_AFTER" if change.after else "UPDATE_BEFOR"}
    sequence, source = change.sequence, change.source
    assert sequence is not None
    before = change.key if change.op == "delete" else change.before
    schema = {
        "dataColumn": [{"name": name, "type": kind} for name, kind in TYPES.items()],
        "primaryKey": ["id"],
        "source": {"dbType": "MySQL", "dbName": source.database, "tableName": source.table},
    }
    payload = {
        "before": before and {"dataColumn": before},
        "after": change.after and {"dataColumn": change.after},
        "sequenceId": str(sequence.major),
        "timestamp": {"eventTime": 1, "systemTime": 1, "checkpointTime": 1},
        "op": ops.get(change.op, "INSERT"),
        "ddl": None,
    }
    return msgspec.json.encode({"schema": schema, "payload": payload, "version": "0.0.1"})


def test_tables_end_as_the_model_says(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    """What was sent in which order, twice or in which batch, leaves no trace in the tables."""
    lake = Lake(tmp_path)
    sent = [
        of_history(number, placed)
        for number, delivery in enumerate(drawn(HISTORIES, ("full",)))
        for batch in delivery
        for placed in batch
    ]
    create(kafka, *TOPICS, partitions=PARTITIONS)
    places = (Position(topic=one.position.topic, partition=one.position.partition) for one in sent)
    records = [
        Record(key=None, value=message(one.change), position=place)
        for one, place in zip(sent, places, strict=True)
    ]
    produce(kafka, records)
    size = random.randint(SMALLEST, LARGEST)  # noqa: S311 - no secret
    options: dict[str, str | int] = {
        "kafka.bootstrap.servers": kafka,
        "subscribe": ",".join(TOPICS),
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": size,
    }
    outputs: dict[str, Any] = lake.outputs()
    lines: list[str] = []
    query = cws.apply_changes(
        cws.read_kafka(spark, options),
        format="dataworks-json",
        target=lake.template,
        checkpoint=str(tmp_path / "checkpoint"),
        trigger={"availableNow": True},
        metrics=lines.append,
        **outputs,
    )
    cws.await_end(query)
    assert lake.content(spark) == tables_of(sent), f"in batches of {size}"
    assert sum(msgspec.json.decode(line)["changes"] for line in lines) == len(sent)
