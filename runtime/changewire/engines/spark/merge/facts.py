"""What one aggregation says of a batch or of a log: counts, and what is needed to merge them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.changes.sources import dotted
from changewire.engines.by_table import TableChanges
from changewire.engines.known import KnownLog, SourceFacts
from changewire.engines.layout import CHANGE, DECLARED, EFFECT
from changewire.engines.log import ELEMENT_PLACE, REFUSED
from changewire.engines.spark.log.place import existing_schema
from changewire.engines.spark.merge.formats import format_of
from changewire.engines.spark.merge.from_log import (
    deletes_something,
    is_change,
    is_incomplete,
    is_truncate,
    order_column,
    source_columns,
)
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.parts import names_in
from changewire.engines.typed.options import AppliedOptions
from changewire.engines.typed.sources import BatchSources
from changewire.tables.mutations import APPLIED, DELETE, WRITES
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import (
    NAMES,
    UNROUTED,
    WRITE,
    RouteKey,
    Routing,
    in_order,
    leaves_out,
    named_source,
    route_op,
)
from changewire.tables.row_state import order_from
from changewire_messages.change import Source


class RowText(Enum):
    """How the texts of rows have the columns of their keys: with all, without any, or mixed."""

    WITH_KEY = 1
    WITHOUT_KEY = 2
    MIXED = 3


@dataclass(frozen=True)
class BatchFacts:
    """What one aggregation says of a batch.

    Attributes:
        operations: How many changes and control events there are of each operation.
        sources: Where its changes come from.
        facts: What is known of each source.
        least: Least first number of the sequences of writes, by where they come from.
        hard: How many changes need `changewire.tables` to be applied.
        inherited: How many changes have no sequence.
        moves: How many changes moved a row to another key.
        texts: How the texts of rows have the columns of their keys, by where they come from.
        changes: How many changes there are, by where they come from.
        old: How many changes were landed before logs had all that is read of them.
        names: Names of the tables of its sources, also of those that are left out.
        left_out: How many changes of other tables there are; nothing else counts them.
        columns: Hash of the text of the columns that messages declare or show, by where they come
            from; None if their texts differ.
    """

    operations: Counter[str]
    sources: BatchSources
    facts: Mapping[RouteKey, SourceFacts]
    least: Mapping[RouteKey, int]
    hard: int
    inherited: int
    moves: int
    texts: Mapping[RouteKey, RowText]
    changes: Mapping[RouteKey, TableChanges]
    old: int
    names: frozenset[str]
    left_out: int
    columns: Mapping[RouteKey, int | None]

    def least_of(self, keys: Iterable[RouteKey]) -> int | None:
        """Return the least first number of the writes of some sources; None without any."""
        return min((self.least[key] for key in keys if key in self.least), default=None)

    def text_of(self, keys: Iterable[RouteKey]) -> RowText:
        """Return how the texts of rows from some sources have the columns of their keys."""
        found = {self.texts[key] for key in keys if key in self.texts}
        return found.pop() if len(found) == 1 else RowText.MIXED


def facts_columns() -> dict[str, Column]:
    """Return aggregations of `SourceFacts`, of the rows of a log or of decoded rows.

    All are numbers: for others Spark sorts the rows.
    """
    major = F.col("sequence.major")
    return {
        "deleted": F.max(F.when(is_change() & deletes_something(), major)),
        "befores": F.count_if(is_change() & (F.col(EFFECT) == "before")),
        "patches": F.count_if(is_change() & F.col(EFFECT).isin("keys", "patch")),
    }


def _facts_of(
    groups: Iterable[Row], truncates: Mapping[RouteKey, Order]
) -> dict[RouteKey, SourceFacts]:
    """Return what is known of each source, by groups with `facts_columns`."""
    found: dict[RouteKey, SourceFacts] = {}
    for group in groups:
        key = route_key(group)
        order = truncates.get(key, OLDEST)
        one = SourceFacts(group["deleted"], order, group["befores"] > 0, group["patches"] > 0)
        found[key] = one.plus(found[key]) if key in found else one
    return found


def has_columns() -> Column:
    """Return the condition that the message of a row declares its columns, or shows them."""
    return (is_change() | is_truncate()) & F.col(DECLARED).isNotNull()


def truncates_in(rows: DataFrame) -> dict[RouteKey, Order]:
    """Return the order of the newest truncate of each source, of a log or of decoded rows."""
    chosen = rows.where(is_truncate() & F.col("sequence").isNotNull())
    grouped = chosen.groupBy(*source_columns(), "op").agg(F.max(order_column()).alias("order"))
    return {route_key(row): order_from(row["order"].asDict()) for row in grouped.collect()}


def route_key(group: Any) -> RouteKey:
    """Return where changes of a group come from, and their effects."""
    return Source(**{name: group[name] for name in NAMES}), route_op(group["op"])


def facts_of_batch(rows: DataFrame, options: AppliedOptions) -> BatchFacts:
    """Return what one job says of rows.

    Args:
        rows: The rows.
        options: How changes are applied.
    """
    groups = [F.col("kind"), F.col("op"), *source_columns()]
    if options.are_typed:
        named = F.when(is_change() & (F.col(EFFECT) != "none"), F.col("key"))
        groups.append(names_in(named).alias("names"))
    sums = (column.alias(name) for name, column in _sums(options).items())
    every = rows.groupBy(*groups).agg(F.count("*").alias("rows"), *sums).collect()
    counted = [one for one in every if _is_chosen(one, options.routing)]
    operations: Counter[str] = Counter()
    for one in counted:
        operations[one["op"]] += one["rows"]
    number = sum(one["rows"] for one in counted if one["kind"] == CHANGE)
    is_truncated = options.tables.apply_truncates
    changes = [one for one in counted if one["kind"] == CHANGE and one["rows"] > one["keyless"]]
    truncates = [one for one in counted if is_truncated and one["op"] == "truncate"]
    hard, inherited, moves = (
        sum(one[name] for one in changes) for name in ("hard", "inherited", "moves")
    )
    return BatchFacts(
        operations,
        _sources(changes, truncates),
        _facts_of([*changes, *truncates], truncates_in(rows) if truncates else {}),
        _least(changes),
        hard,
        inherited,
        moves,
        _texts(changes) if options.has_json else {},
        _changes_in(counted),
        sum(one["old"] for one in counted),
        frozenset(dotted(_named(one, options.routing)) for one in every),
        sum(one["rows"] for one in every if one["kind"] == CHANGE) - number,
        _columns_of([*changes, *truncates]) if options.are_auto else {},
    )


def _sums(options: AppliedOptions) -> dict[str, Column]:
    """Return aggregations of `facts_of_batch`."""
    major, has_key = F.col("sequence.major"), is_change()
    is_hard = F.col(EFFECT).isin("keys", "patch") | F.col("sequence").isNull()
    is_applied = has_key & F.col(EFFECT).isin(*APPLIED)
    found = {
        **facts_columns(),
        "keyless": F.count_if((F.col("kind") == CHANGE) & F.col("key").isNull()),
        "applied": F.count_if(is_applied),
        "old": F.count_if(is_incomplete()),
        "least": F.min(F.when(is_applied & (F.col("op") != DELETE), major)),
        "hard": F.count_if(is_applied & is_hard),
        "inherited": F.count_if(has_key & F.col("sequence").isNull()),
        "moves": F.count_if(is_applied & F.col("before_key").isNotNull()),
    }
    if options.has_json:
        found |= _text_columns(has_key)
    if options.are_auto:
        text = F.when(has_columns(), F.xxhash64(DECLARED))
        found |= {"least_text": F.min(text), "greatest_text": F.max(text)}
    return found


def _least(changes: Iterable[Row]) -> dict[RouteKey, int]:
    found: dict[RouteKey, int] = {}
    for one in changes:
        if one["least"] is not None:
            key = route_key(one)
            found[key] = min(one["least"], found.get(key, one["least"]))
    return found


def _is_chosen(group: Row, routing: Routing) -> bool:
    source, op = route_key(group)
    return not leaves_out(op, source, routing)


def _named(group: Row, routing: Routing) -> Source:
    source, op = route_key(group)
    return named_source(op, source, routing)


def _changes_in(groups: Iterable[Row]) -> dict[RouteKey, TableChanges]:
    found: dict[RouteKey, TableChanges] = {}
    for one in (group for group in groups if group["kind"] == CHANGE):
        key, rows, keyless = route_key(one), one["rows"], one["keyless"]
        before_images = rows - keyless - one["applied"]
        counted = TableChanges(
            rows, key_missing=keyless, moved=one["moves"], before_images=before_images
        )
        found[key] = found.get(key, TableChanges()).plus(counted)
    return found


def _text_columns(has_key: Column) -> dict[str, Column]:
    """Return how many rows are written, with all columns of their keys and without any."""
    after = F.col("after")
    names = names_in("key")
    lacking = F.size(F.array_except(names, names_in(after)))
    is_row = has_key & after.isNotNull()
    return {
        "row_texts": F.count_if(is_row),
        "with_key": F.count_if(is_row & (lacking == 0)),
        "without_key": F.count_if(is_row & (lacking == F.size(names))),
    }


def _texts(changes: list[Row]) -> dict[RouteKey, RowText]:
    sums: dict[RouteKey, Counter[str]] = {}
    for one in changes:
        found = sums.setdefault(route_key(one), Counter())
        found.update({name: one[name] for name in ("row_texts", "with_key", "without_key")})
    return {key: _text(one) for key, one in sums.items() if one["row_texts"]}


def _text(one: Mapping[str, int]) -> RowText:
    if one["with_key"] == one["row_texts"]:
        return RowText.WITH_KEY
    return RowText.WITHOUT_KEY if one["without_key"] == one["row_texts"] else RowText.MIXED


def _columns_of(groups: list[Row]) -> dict[RouteKey, int | None]:
    found: dict[RouteKey, set[int]] = {}
    for one in groups:
        if one["least_text"] is not None:
            texts = found.setdefault(route_key(one), set())
            texts |= {one["least_text"], one["greatest_text"]}
    return {key: texts.pop() if len(texts) == 1 else None for key, texts in found.items()}


def _sources(changes: list[Row], truncates: list[Row]) -> BatchSources:
    keys: dict[RouteKey, Counter[tuple[str, ...]]] = {}
    for group in changes:
        if "names" in group and group["names"] is not None:
            found = keys.setdefault(route_key(group), Counter())
            found[tuple(sorted(group["names"]))] += group["rows"]
    return BatchSources(in_order({route_key(one) for one in (*changes, *truncates)}), keys)


def known_log(
    log: DataFrame | None, routing: Routing, *, with_truncates: bool, table_format: str
) -> KnownLog:
    """Return the content of a log, by one job; nothing if there is not a log.

    Args:
        log: Rows of the log.
        routing: How sources find their targets.
        with_truncates: Whether truncates are applied.
        table_format: Format of the tables.
    """
    if log is None:
        return KnownLog(routing, {})
    op = F.when(F.col("op").isin(*WRITES), WRITE).otherwise(F.col("op")).alias("op")
    is_unrouted = (F.col("kind") == REFUSED) & F.col("code").isin(*UNROUTED)
    chosen = is_change() | is_unrouted
    chosen = chosen | is_truncate() if with_truncates else chosen
    sums = {
        **facts_columns(),
        "landed": F.count_if(is_change() | is_truncate()),
        # A query that was killed may have refused an element twice.
        "unrouted": F.count_distinct(F.when(is_unrouted, F.struct(*ELEMENT_PLACE))),
    }
    # The operation that is grouped by is not the column that the aggregations read.
    grouped = log.where(chosen).groupBy(*source_columns(), op)
    found = grouped.agg(*(column.alias(name) for name, column in sums.items()))
    # A source of which all changes were refused has no table.
    truncates = truncates_in(log) if with_truncates else {}
    facts = _facts_of(found.where("landed > unrouted").collect(), truncates)
    spark, tables = log.sparkSession, format_of(table_format)
    return KnownLog(
        routing,
        facts,
        lambda one: existing_schema(spark, table_format, one.name) is not None,
        lambda one: SparkTable(one.name, tables).source(spark),
    )
