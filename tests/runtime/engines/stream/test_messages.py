"""Streams of messages as typed columns: each is there once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pytest
from tests.runtime.engines.stream.streams import stream
from tests.samples import FORMAT, MIXED_COUNTS

import changewire.arrow as cwa
import changewire.spark as cws
from changewire.engines.layout import MESSAGES_TABLE

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def places_of(table: pa.Table) -> Counter[tuple[int, int]]:
    """Return offset and element of rows, with how often each is there."""
    return Counter((row["offset"], row["element"]) for row in table.to_pylist())


CONTENT = ("offset", "element", "variant", "content")


def contents_of(table: pa.Table) -> dict[tuple[int, int], tuple[str | None, Any]]:
    """Return variant and content of rows, by offset and element."""
    rows = table.select(CONTENT).to_pylist()
    return {(row["offset"], row["element"]): (row["variant"], row["content"]) for row in rows}


@pytest.mark.parametrize("sink", ["parquet", "delta"])
def test_a_stream_lands_each_message_once(
    spark: SparkSession, tmp_path: Path, sink: Literal["delta", "parquet"]
) -> None:
    """A batch that fails after it was written is retried, and changes no output a second time."""
    made = stream(tmp_path, 1, sink)
    places = {name: str(tmp_path / name) for name in ("bronze", "letters", "checkpoint")}
    batches: list[Any] = []

    def once(_batch: Any, counts: Any, frames: cws.MessageFrames) -> None:
        assert frames.messages.columns == [*MESSAGES_TABLE]
        batches.append(counts)
        if len(batches) == 1:
            raise RuntimeError("not committed")

    def land() -> None:
        query = cws.write_stream(
            cws.messages(made.read(spark), format=FORMAT),
            messages=places["bronze"],
            dead_letters=places["letters"],
            checkpoint=places["checkpoint"],
            sink=sink,
            trigger={"availableNow": True},
            written=once,
        )
        cws.await_end(query, progress=batches.append)

    with pytest.raises(Exception, match="not committed"):
        land()
    land()
    _, counts, progress = batches
    assert progress.valid == counts.valid == 12
    assert progress.dead_letters == counts.dead_letters == 3
    assert progress.elements == MIXED_COUNTS["elements"]
    table = pa.table({"value": pa.array(made.sent, pa.binary()), "offset": range(len(made.sent))})
    expected = cwa.messages(table, format=FORMAT).tables()
    for name, rows in zip(places, expected[:2], strict=False):
        landed = spark.read.format(sink).load(places[name])
        assert places_of(landed.select("offset", "element").toArrow()) == places_of(rows), name
    bronze = spark.read.format(sink).load(places["bronze"]).select(*CONTENT)
    assert contents_of(bronze.toArrow()) == contents_of(expected[0])


def test_outputs_are_those_of_what_is_written(spark: SparkSession, tmp_path: Path) -> None:
    """Places of changes are refused for messages, and the other way round."""
    made = stream(tmp_path, 1)
    some: dict[str, Any] = {"dead_letters": "x", "checkpoint": "y"}
    with pytest.raises(ValueError, match="`messages` returns goes to messages, dead_letters"):
        cws.write_stream(cws.messages(made.read(spark), format=FORMAT), changes="c", **some)
    with pytest.raises(ValueError, match="`decode` returns goes to changes, controls, dead_lett"):
        cws.write_stream(cws.decode(made.read(spark), format=FORMAT), messages="m", **some)
