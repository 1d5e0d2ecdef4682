"""What plain changes do to a table: decided in the driver, by what tasks reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StringType, StructField, StructType

from changewire.engines.json_rows import KEY
from changewire.engines.spark.apply.decide import BEYOND, ROW, TOMBSTONE, output_type
from changewire.engines.spark.apply.decisions import Decisions
from changewire.engines.spark.apply.failures import FAILURE, ROW_ID
from changewire.engines.spark.apply.local import BURIED, WRITTEN, LocalDecisions, LocalEffects
from changewire.engines.spark.apply.newest import NewestChanges, compared_texts, newest_of
from changewire.engines.spark.apply.recent import KEPT
from changewire.engines.spark.apply.shape import CONTENT, NAMED
from changewire.engines.spark.apply.states import Mark
from changewire.engines.spark.apply.table_effects import SparkEffects
from changewire.engines.spark.apply.tables import SparkTables
from changewire.engines.spark.apply.typed_shape import EFFECT_FIELDS, Shape
from changewire.engines.spark.arrow_types import arrow_type
from changewire.engines.spark.frames import local_rows
from changewire.tables.metadata import VERSION
from changewire.tables.mutations import DELETE, FULL
from changewire.tables.order import OLDEST, ChangePosition, Order, Sequence
from changewire_messages.tables.spark import ROW_METADATA as METADATA

FEW: Final = 2_000
"""Effects on a table up to which all keys are decided on row by row."""

FEW_LOOKED_UP: Final = 2_000
"""Effects on keys that need a look, of more effects, up to which the driver decides on them."""


MOST_BROADCAST: Final = 2**25
"""Bytes of rows up to which a MERGE sends them to all executors to find the files to rewrite."""


@dataclass(frozen=True)
class ReportedDecisions:
    """What rows become; see `decisions.Decisions`.

    Attributes:
        spark: The session.
        shape: How the table has its rows.
        beyond: Decisions on the keys that need no look.
        looked_up: Decisions on the others.
        counts: What became of the changes.
        keys: How many keys were looked at, and how many need not be.
        newest: The greatest sequence that is written.
    """

    spark: SparkSession
    shape: Shape
    beyond: pa.Table
    looked_up: LocalDecisions
    counts: Counter[str]
    keys: Counter[str]
    newest: Sequence

    @property
    def _deletes(self) -> int:
        return int(pc.sum(self._are_deletes(), min_count=0).as_py())

    def _are_deletes(self) -> pa.ChunkedArray:
        return pc.equal(self.beyond["action"], TOMBSTONE)

    @property
    def tombstones(self) -> int:
        """How many tombstones they have."""
        return self._deletes + self.looked_up.tombstones

    @property
    def changed(self) -> int:
        """How many rows are written or removed."""
        return len(self.beyond) - self._deletes + self.looked_up.changed

    @property
    def perhaps(self) -> int:
        """How many more rows are removed if they are there."""
        return self._deletes + self.looked_up.perhaps

    @property
    def is_blind(self) -> bool:
        """Whether some keys were not looked at."""
        return len(self.beyond) > 0 or self.looked_up.is_blind

    @property
    def failed(self) -> int:
        """How many effects cannot be applied."""
        return self.looked_up.failed

    def written(self) -> pa.Table:
        """Return the rows and tombstones that are written; see `RecentRows.with_batch`."""
        looked_up = self.looked_up.written()
        beyond = self.beyond.select(KEPT).cast(looked_up.schema)
        return pa.concat_tables([beyond, looked_up]).combine_chunks()

    def failures(self) -> None:
        """Return None: `failed` says whether the batch is counted first instead."""

    def buried(self) -> DataFrame:
        """Return ``key`` and ``metadata`` of the tombstones."""
        deletes = self.beyond.filter(self._are_deletes())
        return self._frame(deletes, self.looked_up.tombstone_rows, BURIED)

    def rows(self) -> DataFrame:
        """Return the rows that are written or removed."""
        rows = self._frame(self.beyond, self.looked_up.changed_rows, WRITTEN)
        # Spark does not know the size of these rows, and would shuffle the keys of the whole table.
        return F.broadcast(rows) if self.beyond.nbytes <= MOST_BROADCAST else rows

    def _frame(
        self, beyond: pa.Table, others: list[dict[str, Any]], names: tuple[str, ...]
    ) -> DataFrame:
        kind = output_type(self.shape)
        chosen = StructType([kind[name] for name in names])
        columns = pa.schema([*arrow_type(chosen)])
        looked_up = pa.Table.from_pylist(others, columns)
        every = pa.concat_tables([beyond.select(names).cast(columns), looked_up])
        return local_rows(self.spark, every.combine_chunks(), chosen)


@dataclass(frozen=True)
class ReportedEffects:
    """What the plain changes of a batch do to the rows of one table; see `SparkEffects`.

    Attributes:
        spark: The session.
        rows: As `plain.effects_in` returns them, in the order of their positions.
    """

    spark: SparkSession
    rows: pa.Table

    def without(self, failures: object) -> ReportedEffects:
        """Return itself: `ReportedDecisions.failures` names no changes."""
        del failures
        return self

    def decisions(
        self, tables: SparkTables, floor: Order, mark: Mark, *, is_new: bool
    ) -> ReportedDecisions | LocalDecisions | Decisions:
        """Return what each row becomes; see `SparkEffects.decisions`."""
        if len(self.rows) <= FEW:
            return self._local(self.rows, tables).decisions(tables, floor, mark, is_new=is_new)
        recent = mark.recent_rows() if floor == OLDEST else None
        if recent is None:
            return self._in_tasks(self.rows, tables).decisions(tables, floor, mark, is_new=is_new)
        found = newest_of(self.rows, recent)
        beyond = decided_beyond(self.rows.take(pa.array(found.beyond, pa.int64())), tables.shape)
        others = self.rows.take(pa.array(found.others, pa.int64()))
        keys = Counter(beyond_mark=len(beyond))
        # No other key is beyond the mark.
        unknown = replace(mark, is_wanted=False)
        if len(others) > FEW_LOOKED_UP:
            rest = self._in_tasks(others, tables).decisions(tables, floor, unknown, is_new=is_new)
            keys["looked_up"] = found.looked_up
            return replace(rest, keys=keys).plus(self._in_spark(beyond, found, tables))
        looked_up = self._local(others, tables).decisions(tables, floor, unknown, is_new=is_new)
        return ReportedDecisions(
            self.spark,
            tables.shape,
            beyond,
            looked_up,
            counts=found.counts + looked_up.counts,
            keys=+(keys + looked_up.keys),
            newest=max(found.newest, looked_up.newest),
        )

    def _local(self, rows: pa.Table, tables: SparkTables) -> LocalEffects:
        return LocalEffects(self.spark, [*_effects(rows, tables.shape)])

    def _in_tasks(self, rows: pa.Table, tables: SparkTables) -> SparkEffects:
        """Return effects that are decided on in tasks."""
        shape = tables.shape
        compared = [StructField("after", StringType())] if shape.is_typed else []
        named = StructField(NAMED, shape.named_type)
        content = StructField(CONTENT, shape.content_type)
        kind = StructType([*EFFECT_FIELDS, *compared, named, content])
        columns = {
            **_columns(rows, shape),
            ROW_ID: pa.nulls(len(rows), pa.int64()),
            "kind": pc.if_else(rows["is_delete"], DELETE, FULL),
            "after": pa.array(compared_texts(rows), pa.string()),
        }
        schema = pa.schema([*arrow_type(kind)])
        arrays = [columns.get(one.name, pa.nulls(len(rows), one.type)) for one in schema]
        table = pa.table(arrays, schema.names).cast(schema)
        return SparkEffects(local_rows(self.spark, table, kind), len(rows), can_fail=False)

    def _in_spark(self, beyond: pa.Table, found: NewestChanges, tables: SparkTables) -> Decisions:
        """Return decisions on keys that need no look, in Spark."""
        kind = output_type(tables.shape)
        deletes = int(pc.sum(pc.equal(beyond["action"], TOMBSTONE), min_count=0).as_py())
        return Decisions(
            local_rows(self.spark, beyond, kind),
            tombstones=deletes,
            changed=len(beyond) - deletes,
            counts=found.counts,
            newest=found.newest,
            is_blind=len(beyond) > 0,
            perhaps=deletes,
        )


def decided_beyond(newest: pa.Table, shape: Shape) -> pa.Table:
    """Return decisions on keys that need no look, by their newest changes."""
    columns = _columns(newest, shape)
    is_delete, size = newest["is_delete"], len(newest)
    order = {name: columns[name] for name in ("sequence", *ChangePosition._fields)}
    metadata = {**order, "version": pa.array([VERSION] * size)}
    made = {
        "action": pc.if_else(is_delete, TOMBSTONE, ROW),
        "key": newest["key"],
        NAMED: columns[NAMED],
        CONTENT: columns[CONTENT],
        "metadata": _struct(metadata, arrow_type(METADATA), size),
        BEYOND: pa.array([True] * size, pa.bool_()),
    }
    schema = pa.schema([*arrow_type(output_type(shape))])
    arrays = [made.get(one.name, pa.nulls(size, one.type)) for one in schema]
    return pa.table(arrays, schema.names).cast(schema)


def _columns(rows: pa.Table, shape: Shape) -> dict[str, Any]:
    """Return the columns that effects and decisions share."""
    content, named = _content(rows, shape)
    is_there = pc.invert(rows["is_delete"])
    parts = {name: rows[name].combine_chunks() for name in ("major", "minor")}
    return {
        "key": rows["key"],
        "sequence": pa.StructArray.from_arrays([*parts.values()], [*parts]),
        **{name: rows[name] for name in ChangePosition._fields},
        NAMED: named,
        CONTENT: pc.if_else(is_there, content, pa.scalar(None, content.type)),
    }


def _content(rows: pa.Table, shape: Shape) -> tuple[pa.Array, pa.Array]:
    """Return the rows that effects write, and the columns of their keys."""
    content, size = rows["content"].combine_chunks(), len(rows)
    if not shape.is_typed:
        named = pa.StructArray.from_arrays([rows["key"].combine_chunks()], [KEY])
        return content, named
    images = dict(zip(content.type.names, content.flatten(), strict=True))
    row, key = (arrow_type(kind) for kind in (shape.content_type, shape.named_type))
    return _struct(images, row, size), _struct(images, key, size)


def _struct(columns: Mapping[str, Any], kind: pa.StructType, size: int) -> pa.StructArray:
    """Return a struct of columns; those that lack are NULL."""
    fields = [kind.field(i) for i in range(kind.num_fields)]
    arrays = [_array(columns.get(one.name), one.type, size) for one in fields]
    return pa.StructArray.from_arrays(arrays, fields=fields)


def _array(column: Any, kind: pa.DataType, size: int) -> pa.Array:
    if column is None:
        return pa.nulls(size, kind)
    return (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).cast(kind)


def _effects(rows: pa.Table, shape: Shape) -> Iterator[dict[str, Any]]:
    """Yield effects as `LocalEffects` has them."""
    columns = {**_columns(rows, shape), "is_delete": rows["is_delete"]}
    nothing = {ROW_ID: None, FAILURE: None, "names": None}
    for batch in pa.table([*columns.values()], [*columns]).to_batches():
        for one in batch.to_pylist(maps_as_pydicts="strict"):
            yield {**one, **nothing, "kind": DELETE if one["is_delete"] else FULL}
