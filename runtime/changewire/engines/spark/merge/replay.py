"""Replays of dead letters, refused changes and changes without a key, in Spark."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.applied import Replayed
from changewire.engines.decode import Decoder
from changewire.engines.effects import with_keys
from changewire.engines.layout import CHANGE, DEAD_LETTER, INPUT_COLUMNS, RECORD_PLACE
from changewire.engines.log import ATTEMPT, ELEMENT_PLACE
from changewire.engines.options import ApplyKeywords, asked
from changewire.engines.spark.decode import mapped
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import (
    is_placed,
    lacking,
    log_rows,
    of_target,
    open_letters,
    open_refusals,
    refused_rows,
)
from changewire.engines.spark.merge.facts import facts_of_batch, known_log
from changewire.engines.spark.merge.from_log import with_effects
from changewire.engines.spark.merge.merging import BatchMerge
from changewire.engines.spark.merge.options import ApplyOptions, apply_options
from changewire.engines.spark.merge.part import QueryTables
from changewire.engines.spark.merge.query import existing
from changewire.engines.spark.merge.refusals import WHY
from changewire.engines.spark.merge.tuning import batch_settings
from changewire.engines.spark.types import ROWS

if TYPE_CHECKING:
    from typing_extensions import Unpack

_AGAIN: Final = "_again"
"""Column: the attempt that a row is in the log."""

_WAS_REFUSED: Final = "_was_refused"
"""Column: whether it is a change that the target refused."""


def replay(
    spark: SparkSession,
    log: str,
    *,
    format: str,
    target: str,
    checkpoint: str,
    where: str | None = None,
    table_format: str = "delta",
    **options: Unpack[ApplyKeywords],
) -> Replayed:
    """Decode dead letters again, and apply again the changes that the target refused.

    Changes without a key get one if `key_columns` names its columns. What is valid by now is merged
    into tables in its original order, so what is newer there stays, and then appended to the log,
    which closes it. A replay that was killed is simply run again.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        format: Public name of the format. This and the options are those of `apply_changes`, now
            with what makes the messages valid.
        target: Path or name of the tables.
        checkpoint: Folder of the checkpoint of the query that the tables belong to.
        where: Condition in SQL on dead letters, refused changes and changes without a key, such as
            ``"code = 'unknown-variant'"``; None for all.
        table_format: Format of log and tables.
        **options: See `ApplyKeywords`.

    Raises:
        ValueError: An argument is not valid.
        OutputError: The log does not exist or has other columns.
        StreamError: A table cannot be merged into, or belongs to another query.
    """
    place = LogPlace(log, table_format)
    decode_options, tables = asked(format, target, options)
    how = apply_options(decode_options, tables, log=place, checkpoint=checkpoint)
    return replayed(spark, how, Decoder(decode_options), where)


def replayed(
    spark: SparkSession, options: ApplyOptions, decoder: Decoder, where: str | None
) -> Replayed:
    """Replay the open rows of a log, as `replay` does."""
    log, target = options.log, options.routing.template.text
    query = existing(spark, options)
    whole = of_target(log.read(spark), target)
    condition = F.expr(where) if where else F.lit(True)  # noqa: FBT003 - a column of this value
    letters = open_letters(whole).where(condition).localCheckpoint()
    refusals = open_refusals(whole).where(condition).localCheckpoint()
    with batch_settings(spark) as partitions:
        # What has no position stays open: no row could close it.
        decoded = _elements(letters.where(is_placed()), whole, decoder)
        decoded = _decoded(decoded, F.lit(1), was_refused=False)
        again = _changes(refusals.where(is_placed()), whole)
        keyed = _keyed(whole.where(condition), whole, decoder.decode_options).localCheckpoint()
        rows = decoded.unionByName(again, allowMissingColumns=True)
        rows = rows.unionByName(keyed, allowMissingColumns=True).localCheckpoint()
        facts = facts_of_batch(rows, options)
        known = known_log(
            whole,
            options.routing,
            with_truncates=options.tables.apply_truncates,
            table_format=log.table_format,
        )
        landed = whole.unionByName(log_rows(rows), allowMissingColumns=True)
        merge = BatchMerge(QueryTables(query, options), known, rows, facts, landed, partitions)
        merge.tables()
        closed = _closed(rows, merge, target).localCheckpoint()
        number = closed.where(F.col("kind") != "refused").count()
        if number:
            log.append(closed, f"{query}-replay", time.time_ns())
    after = letters.unionByName(refusals).unionByName(closed, allowMissingColumns=True)
    left = open_letters(after).count() + open_refusals(after).count()
    tried = letters.count(), refusals.count(), keyed.count()
    return Replayed(*tried, number, left, dict(+merge.tally.counts))


def _elements(letters: DataFrame, log: DataFrame, decoder: Decoder) -> DataFrame:
    """Return the elements that dead letters are now, without those that are rejected again.

    A message that could not be read has one dead letter, of its first element; its other elements
    are new to the log.
    """
    record = [F.col("record_key").alias("key") if n == "key" else F.col(n) for n in INPUT_COLUMNS]
    messages = letters.select(*record).dropDuplicates([*RECORD_PLACE])
    found = mapped(messages, decoder, ROWS).where(F.col("kind") != DEAD_LETTER)
    landed = _matching(log, messages, RECORD_PLACE, "left_semi")
    landed = _matching(landed, letters, ELEMENT_PLACE, "left_anti")
    return _matching(found, landed, ELEMENT_PLACE, "left_anti")


def _changes(refusals: DataFrame, log: DataFrame) -> DataFrame:
    """Return refused changes as decoded rows."""
    changes = log.where(F.col("kind") == CHANGE)
    found = _matching(changes, refusals, (*ELEMENT_PLACE, ATTEMPT), "left_semi")
    return _decoded(with_effects(found), F.col(ATTEMPT) + 1, was_refused=True)


def _keyed(rows: DataFrame, log: DataFrame, options: DecodeOptions) -> DataFrame:
    """Return changes without a key that the log has, as decoded rows with the key they have now."""
    is_keyless = (F.col("kind") == CHANGE) & F.col("key").isNull() & is_placed()
    is_keyless &= F.lit(options.key_columns is not None)

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from with_keys(pa.Table.from_batches([batch]), options).to_batches()

    found = rows.where(is_keyless).dropDuplicates([*ELEMENT_PLACE]).mapInArrow(each, rows.schema)
    return _decoded(lacking(found, log), F.col(ATTEMPT), was_refused=False)


def _decoded(rows: DataFrame, attempt: Column, *, was_refused: bool) -> DataFrame:
    """Return rows with the attempt that they become."""
    added = {_AGAIN: attempt, _WAS_REFUSED: F.lit(was_refused)}
    return rows.withColumns(added).drop(ATTEMPT, "version")


def _matching(rows: DataFrame, others: DataFrame, names: Sequence[str], how: str) -> DataFrame:
    """Return the rows that others equal in some columns, or that none equals; NULL equals NULL."""
    place = F.struct(*names)
    wanted = others.select(place.alias("_place"))
    return rows.withColumn("_place", place).join(wanted, "_place", how).drop("_place")


def _closed(rows: DataFrame, merge: BatchMerge, target: str) -> DataFrame:
    """Return what a replay appends: elements that are valid by now, and why some are refused.

    A change that is refused again is not appended: its last refusal stays open.
    """
    attempt, refused = F.col(_AGAIN), merge.refused_changes()
    if refused is None:
        return log_rows(rows, attempt)
    valid = _matching(rows, refused.where(_WAS_REFUSED), ELEMENT_PLACE, "left_anti")
    new = refused_rows(refused.where(~F.col(_WAS_REFUSED)), F.col(WHY), target, attempt)
    return log_rows(valid, attempt).unionByName(new)
