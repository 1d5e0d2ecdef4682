"""The rule for hard keys, in Python: what `changewire.tables` says each row becomes.

A key is hard if one of its changes in a batch is a patch, says only that the row exists, or has no
sequence: what the row becomes depends on the current row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial, reduce
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa
from msgspec import UNSET
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructField, StructType

from changewire.engines.spark.merge.late import Held
from changewire.engines.spark.merge.mutations import (
    CONTENT,
    FAILURE,
    FAILURE_TYPE,
    NAMED,
    ORDER_FIELDS,
    is_row_of,
)
from changewire.engines.spark.merge.shapes import Shape, arrow_schema
from changewire.engines.spark.parts import json_text
from changewire.tables.merge import each_merged
from changewire.tables.mutations import RowMutation
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import apply_failed
from changewire.tables.row_state import COLUMN, ORDER, order_from, row_state, state_from
from changewire.tables.state import State, full_image
from changewire_messages.tables.spark import ROW_STATE

STATE: Final = "state"
"""Column: the ``_changewire`` of a row."""

_ORIGIN: Final = "origin"
_TABLE, _DELETE, _BATCH = range(3)
_MOST: Final = 1024
_STEP: Final = "deciding on the row"
_FATAL: Final = (MemoryError, KeyboardInterrupt)
"""What depends on the machine, and not on the change."""


def decided(
    mutations: DataFrame, shape: Shape, held: Held, *, with_steps: bool = False
) -> DataFrame:
    """Return what the rows of hard keys become, also after each mutation if steps are wanted."""
    keys = mutations.groupBy("key").agg(F.first(NAMED).alias(NAMED))
    nothing = F.lit(None).cast(ROW_STATE).alias(STATE)
    parts = [mutations.select(F.lit(_BATCH).alias(_ORIGIN), "*", nothing)]
    if held.table is not None:
        parts.append(_held(keys, shape, held.table, held.floor))
    if held.deletes is not None:
        known = held.deletes.rows.join(keys.select(NAMED), NAMED, "left_semi")
        parts.append(known.select(F.lit(_DELETE).alias(_ORIGIN), "*"))
    rows = reduce(partial(DataFrame.unionByName, allowMissingColumns=True), parts)
    rows = rows.withColumn("key", row_key(shape))
    ordered = rows.repartition("key").sortWithinPartitions("key", _ORIGIN, *ORDER[2:])
    decide = Decide(shape, held.floor, arrow_schema(ordered.schema), with_steps=with_steps)
    return ordered.mapInArrow(decide, decided_type(shape))


def row_key(shape: Shape) -> Column:
    """Return a text that is equal for keys which name one row, by the columns of the key."""
    named = F.col(NAMED)
    return json_text(named, ignoreNullFields="false") if shape.is_typed else named["key"]


def _held(keys: DataFrame, shape: Shape, table: DataFrame, floor: Order) -> DataFrame:
    """Return the rows that a table has of some keys; after a truncate, patched rows as well."""
    row = F.col("_row")
    rows = table.select(F.struct("*").alias("_row"))
    is_same = is_row_of(row, shape)
    content = (
        F.struct(*(row[name].alias(name) for name in shape.content_type.names))
        if isinstance(shape.content_type, StructType)
        else row["row"]
    )
    found = rows.join(keys, is_same)
    if floor > OLDEST:
        named = F.struct(*(row[name].alias(name) for name in shape.keys)).alias(NAMED)
        others = rows.join(keys, is_same, "left_anti").where(row[COLUMN]["columns"].isNotNull())
        found = found.unionByName(others.select("_row", named), allowMissingColumns=True)
    return found.select(
        F.lit(_TABLE).alias(_ORIGIN), NAMED, content.alias(CONTENT), row[COLUMN].alias(STATE)
    )


def decided_type(shape: Shape) -> StructType:
    """Return the columns of decided rows.

    A row with `FAILURE` is a change that cannot be applied, at its position. One with `STATE` is
    what the row of a key becomes, by the change at a position, or by all without one. A row with
    neither is a key whose row stays as it is.
    """
    return StructType(
        [
            *ORDER_FIELDS,
            StructField(NAMED, shape.named_type),
            StructField(CONTENT, shape.content_type),
            StructField(STATE, ROW_STATE),
            StructField(FAILURE, FAILURE_TYPE),
        ]
    )


class Decide:
    """Decides on rows that are sorted by key and position; what `mapInArrow` takes.

    The state of one key and one Arrow batch must fit into memory.
    """

    def __init__(self, shape: Shape, floor: Order, columns: pa.Schema, *, with_steps: bool) -> None:
        """Remember the rows, the order of the newest truncate, and the columns of the batches.

        Spark gives times the zone of the session, in which Python has fewer of them.
        """
        self._shape = shape
        self._floor = floor
        self._columns = columns
        self._with_steps = with_steps

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield what the row of each key becomes, without `STATE` if it stays as it is."""
        schema = arrow_schema(decided_type(self._shape))
        found: list[dict[str, Any]] = []
        rows = _dictionaries(batches, self._columns)
        for _, group in groupby(rows, key=itemgetter("key")):
            found += self._of_key(group)
            if len(found) >= _MOST:
                yield pa.RecordBatch.from_pylist(found, schema)
                found = []
        yield pa.RecordBatch.from_pylist(found, schema)

    def _of_key(self, group: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        places: list[dict[str, Any]] = []
        held, deleted = None, OLDEST
        named: Mapping[str, Any] = {}
        try:
            first = None
            for row in group:
                named = row[NAMED]
                if row[_ORIGIN] == _BATCH:
                    first = row
                    break
                if row[_ORIGIN] == _DELETE:
                    deleted = max(deleted, order_from(row))
                else:
                    held = self._held(row)
            batch, steps = self._batch(first, group, places), list[dict[str, Any]]()
            state: Any = UNSET
            for state in each_merged(held, batch, self._floor, deleted):
                if self._with_steps and places and state is not UNSET:
                    steps.append({**places[-1], **self._row(named, state)})
            yield from steps
            if state is not UNSET:
                yield self._row(named, state)
            elif first is not None:
                yield {NAMED: named}
        except _FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - one key must not end the stream
            places += [_place(row) for row in group]
            why = apply_failed(error, "", _STEP)._asdict()
            yield from ({**place, FAILURE: why} for place in places)

    def _held(self, row: Mapping[str, Any]) -> State:
        """Return the state of a row in the table."""
        values = self._shape.rows.values(self._shape.row(row[NAMED], row[CONTENT]))
        # A row that something else has made is older than every change.
        is_ours = row[STATE] is not None
        return state_from(row[STATE], values) if is_ours else full_image(OLDEST, values)

    def _batch(
        self,
        first: dict[str, Any] | None,
        rest: Iterator[dict[str, Any]],
        places: list[dict[str, Any]],
    ) -> Iterator[RowMutation]:
        """Yield the mutations of a key; `places` gets their positions."""
        row = first
        while row is not None:
            places.append(_place(row))
            yield self._shape.rows.mutation(row, self._shape.row(row[NAMED], row[CONTENT]))
            row = next(rest, None)

    def _row(self, named: Mapping[str, Any], state: State) -> dict[str, Any]:
        """Return what a row becomes."""
        content = None
        if state.values is not None:
            content = self._shape.content(self._shape.rows.row(named, state.values))
        return {NAMED: named, CONTENT: content, STATE: row_state(state)}


def _place(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ORDER}


def _dictionaries(
    batches: Iterable[pa.RecordBatch], columns: pa.Schema
) -> Iterator[dict[str, Any]]:
    """Yield the rows of batches, with columns of some types."""
    for batch in batches:
        for part in range(0, len(batch), _MOST):
            rows = pa.Table.from_batches([batch.slice(part, _MOST)]).cast(columns)
            yield from rows.to_pylist(maps_as_pydicts="strict")
