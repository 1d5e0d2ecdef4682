"""The columns that messages of a batch declare or show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines import carried
from changewire.engines.layout import DECLARED, EFFECT
from changewire.engines.log import ELEMENT_PLACE
from changewire.engines.spark.merge.facts import BatchFacts, has_columns, route_key
from changewire.engines.spark.merge.from_log import is_change, source_columns
from changewire.engines.spark.parts import position_columns
from changewire.engines.typed.auto import MOST_COLUMNS, CarriedColumn
from changewire.tables.routing import NAMES, RouteKey

_MOST_KINDS: Final = 4 * MOST_COLUMNS
"""Columns of a source and their types that a batch is planned by, at most."""

_MOST_TEXTS: Final = 1000
"""Texts whose columns are remembered, at most."""

_Columns = dict[RouteKey, list[CarriedColumn]]


class CarriedColumns:
    """The columns of the messages of a query's batches.

    Most messages of a table declare the same columns in all batches, as `BatchFacts` says. These
    are remembered, which saves a job of each batch.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._known: dict[tuple[RouteKey, int | None], list[CarriedColumn]] = {}

    def of(self, rows: DataFrame, facts: BatchFacts) -> _Columns:
        """Return the columns that messages of a batch declare or show.

        Args:
            rows: The rows of the batch.
            facts: What is known of them.
        """
        texts = facts.columns.items()
        if self._known.keys() >= texts:
            return {one[0]: self._known[one] for one in texts}
        found = carried_of(rows, facts)
        if len(self._known) + len(found) > _MOST_TEXTS:
            self._known.clear()
        self._known |= {one: found.get(one[0], []) for one in texts if one[1] is not None}
        return found


def columns_of_keys(
    rows: DataFrame, facts: BatchFacts, routes: list[RouteKey]
) -> list[CarriedColumn]:
    """Return the columns that the keys of changes from some sources show."""
    names = ("kind", "op", "source", "key", "attributes", EFFECT, DECLARED, *ELEMENT_PLACE)
    read = rows.where(is_change()).select(*names)

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from carried.with_key_columns(pa.Table.from_batches([batch])).to_batches()

    shown = read.mapInArrow(each, read.schema)
    found = carried_of(shown, replace(facts, columns=dict.fromkeys(routes)))
    return [column for columns in found.values() for column in columns]


def carried_of(rows: DataFrame, facts: BatchFacts) -> _Columns:
    """Return the columns that messages declare or show.

    Of each source the most frequent ones are returned, more than a table may have.
    """
    place = F.struct(*position_columns())
    groups: list[Column] = [F.col("op"), *source_columns()]
    grouped = rows.where(has_columns()).groupBy(*groups, F.col(DECLARED))
    texts = grouped.agg(F.count("*").alias("rows"), F.min(place).alias("place"))
    kinds = F.from_json(DECLARED, "map<string,string>")
    each = texts.select("op", *NAMES, "rows", "place", F.posexplode(kinds))
    first = F.min(F.struct("place", "pos")).alias("first")
    sums = each.groupBy("op", *NAMES, "key", "value").agg(F.sum("rows").alias("rows"), first)
    ranked = Window.partitionBy("op", *NAMES).orderBy(F.desc("rows"), "key", "value")
    few = sums.withColumn("_rank", F.row_number().over(ranked)).where(F.col("_rank") <= _MOST_KINDS)
    found: _Columns = {}
    for one in few.collect():
        if (route := route_key(one)) in facts.columns:
            kind = one["value"] if one["value"][:1] != "{" else msgspec.json.decode(one["value"])
            at = (*one["first"]["place"], one["first"]["pos"])
            column = CarriedColumn(one["key"], kind, one["rows"], at)
            found.setdefault(route, []).append(column)
    return found
