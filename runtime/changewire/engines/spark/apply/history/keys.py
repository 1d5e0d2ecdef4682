"""The versions of rows, made in tasks, key by key."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    IntegerType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from changewire.engines.changelog.versions import as_arrow, plain_rows
from changewire.engines.effects import mutation_of
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import unpacked
from changewire.engines.spark.apply.failures import FAILURE
from changewire.engines.spark.apply.shape import CONTENT, NAMED
from changewire.engines.spark.apply.typed_shape import EFFECT_FIELDS, Shape
from changewire.engines.spark.arrow_types import arrow_type
from changewire.engines.spark.decode import BatchFunction
from changewire.tables.mutations import DELETE, RowMutation
from changewire.tables.version_changes import NotedOrder, version_changes
from changewire.tables.version_rows import ChangeNote, order_of
from changewire_messages.tables.spark import VERSION_METADATA

EFFECT_ROW: Final = 0
VERSION_ROW: Final = 1
END_ROW: Final = 2
"""What a row of the input is: what a change does, a version that is known, or a delete."""

VERSION: Final = "version"
GONE: Final = "gone"
END: Final = "end"
"""What a row of the output is: a version to write; one that is no more; or a delete to keep."""

EFFECT: Final = "effect"
"""Column of the output: `VersionWrite.effect`."""

_BATCH: Final = 1024

Rows = list[dict[str, Any]]
Truncates = Sequence[NotedOrder]


def input_type(shape: Shape) -> StructType:
    """Return the columns of what versions are made of."""
    return StructType(
        [
            StructField("origin", IntegerType()),
            *EFFECT_FIELDS,
            StructField(NAMED, shape.named_type),
            StructField(CONTENT, shape.content_type),
            StructField("op", StringType()),
            StructField("event_time", TimestampType()),
            StructField("metadata", VERSION_METADATA),
        ]
    )


def output_type(shape: Shape) -> StructType:
    """Return the columns of versions, and of deletes, which have no content."""
    return StructType(
        [
            StructField("action", StringType()),
            StructField(EFFECT, StringType()),
            StructField("key", StringType()),
            StructField(NAMED, shape.named_type),
            StructField(CONTENT, shape.content_type),
            StructField("metadata", VERSION_METADATA),
            StructField("expected", VERSION_METADATA),
        ]
    )


def fitted(effects: DataFrame, shape: Shape) -> DataFrame:
    """Return effects as `input_type` has them; those that do not fit have `FAILURE`."""
    return effects.mapInArrow(fitter(shape), input_type(shape))


def fitter(shape: Shape) -> BatchFunction:
    """Return what fits effects to the columns of a table, with the notes of their changes."""

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([*arrow_type(input_type(shape))])
        for batch in batches:
            effects = batch.select([*(field.name for field in EFFECT_FIELDS), "after"])
            (fitted,) = shape.fit([effects])
            columns = dict(zip(fitted.schema.names, fitted.columns, strict=True))
            columns |= {name: batch.column(name) for name in ("op", "event_time")}
            columns["origin"] = pa.array([EFFECT_ROW] * len(batch), pa.int32())
            columns["metadata"] = pa.nulls(len(batch), schema.field("metadata").type)
            arrays = [columns[name].cast(schema.field(name).type) for name in schema.names]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return each


def versions_in(rows: DataFrame, shape: Shape, truncates: Truncates) -> DataFrame:
    """Return what becomes of the versions of rows, by changes and by what is known of the rows.

    Args:
        rows: Columns `input_type`.
        shape: How the table has its rows.
        truncates: Truncates of the table.
    """
    number = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    grouped = rows.repartition(number, "key").sortWithinPartitions("key")
    return grouped.mapInArrow(VersionsByKey(shape, truncates), output_type(shape))


class VersionsByKey:
    """Makes the versions of rows that are sorted by key; what `mapInArrow` takes.

    It pickles. Memory holds the changes of one key, and one Arrow batch.
    """

    def __init__(self, shape: Shape, truncates: Truncates) -> None:
        """Remember what rows are, and the truncates of their table."""
        self._shape = shape
        self._truncates = truncates

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the versions of all keys.

        Raises:
            OutputError: A change does not fit the columns.
        """
        schema = pa.schema([*arrow_type(output_type(self._shape))])
        found: Rows = []
        for row in self.versions(plain_rows(batches)):
            found.append(row)
            if len(found) >= _BATCH:
                yield pa.RecordBatch.from_pylist(found, schema)
                found = []
        yield pa.RecordBatch.from_pylist(found, schema)

    def versions(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield columns of `output_type` by rows of `input_type`, sorted by key."""
        for key, group in groupby(rows, key=itemgetter("key")):
            of_key = [*group]
            named = next((row[NAMED] for row in of_key if row[NAMED] is not None), None)
            for found in self._of_key(key, of_key):
                yield {"key": key, NAMED: named, **found}

    def _of_key(self, key: str, rows: Rows) -> Iterator[dict[str, Any]]:
        """Yield what becomes of the versions of one row, and its new deletes, which come first."""
        names = unpacked(key)

        def of(origin: int) -> Iterator[dict[str, Any]]:
            return (row for row in rows if row["origin"] == origin)

        found = version_changes(
            ((self._mutation(row, names), note_of(row)) for row in of(EFFECT_ROW)),
            ((row["metadata"], self._values(row, names)) for row in of(VERSION_ROW)),
            map(end_of, of(END_ROW)),
            self._truncates,
        )
        for end in found.ends:
            yield {"action": END, "metadata": end}
        for write in found.writes:
            is_gone = write.values is None
            yield {
                "action": GONE if is_gone else VERSION,
                EFFECT: write.effect,
                CONTENT: None if is_gone else self._shape.pack(key, write.values or {}),
                "metadata": as_arrow(write.metadata),
                "expected": write.expected and as_arrow(write.expected),
            }

    def _mutation(self, row: dict[str, Any], names: Container[str]) -> RowMutation:
        """Return what a change does to its row.

        Raises:
            OutputError: It does not fit the columns.
        """
        if row[FAILURE] is not None:
            why, place = row[FAILURE], "/".join(map(str, order_of(row).position[:3]))
            raise OutputError(f"the change at {place}: {why['pointer']}: {why['message']}")
        return mutation_of(row, {} if row["kind"] == DELETE else self._values(row, names))

    def _values(self, row: dict[str, Any], names: Container[str]) -> dict[str, Any]:
        """Return the columns of a row but the key's: an image of a few columns may lack these."""
        found = {} if row[CONTENT] is None else self._shape.unpack(row[CONTENT])
        return {name: value for name, value in found.items() if name not in names}


def note_of(row: Mapping[str, Any]) -> ChangeNote:
    """Return what a row of `input_type` says of its change."""
    return ChangeNote(row["op"], row["event_time"])


def end_of(row: Mapping[str, Any]) -> NotedOrder:
    """Return the delete or truncate that a row of `input_type` is."""
    return order_of(row), note_of(row)
