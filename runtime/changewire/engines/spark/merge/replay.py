"""Dead letters and refused changes, once more: what is valid by now is merged in its own order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.applied import Replayed
from changewire.engines.decode import Decoder
from changewire.engines.layout import CHANGE, DEAD_LETTER, INPUT_COLUMNS, RECORD_PLACE
from changewire.engines.log import ATTEMPT, ELEMENT_PLACE
from changewire.engines.options import ApplyKeywords, asked
from changewire.engines.spark.decode import mapped
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import (
    is_placed,
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

    What is valid by now is merged into tables in its original order, so what is newer there stays,
    and then appended to the log, which closes it. A replay that was killed is simply run again.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        format: Public name of the format. This and the options are those of `apply_changes`, now
            with what makes the messages valid.
        target: Path or name of the tables.
        checkpoint: Folder of the checkpoint of the query that the tables belong to.
        where: Condition in SQL on dead letters and refused changes, such as
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
        decoded = decoded.withColumn(_AGAIN, F.lit(0))
        again = _changes(refusals.where(is_placed()), whole)
        rows = decoded.unionByName(again, allowMissingColumns=True).localCheckpoint()
        facts = facts_of_batch(rows, options)
        known = known_log(
            whole,
            options.routing,
            with_truncates=options.tables.apply_truncates,
            table_format=log.table_format,
        )
        landed = whole.unionByName(log_rows(rows.drop(_AGAIN)), allowMissingColumns=True)
        merge = BatchMerge(QueryTables(query, options), known, rows, facts, landed, partitions)
        merge.tables()
        closed = _closed(rows, merge, target).localCheckpoint()
        number = closed.where(F.col("kind") != "refused").count()
        if number:
            log.append(closed, f"{query}-replay", time.time_ns())
    after = letters.unionByName(refusals).unionByName(closed, allowMissingColumns=True)
    left = open_letters(after).count() + open_refusals(after).count()
    return Replayed(letters.count(), refusals.count(), number, left, dict(+merge.tally.counts))


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
    """Return refused changes as decoded rows; `_AGAIN` is the attempt that was refused."""
    changes = log.where(F.col("kind") == CHANGE)
    found = _matching(changes, refusals, (*ELEMENT_PLACE, ATTEMPT), "left_semi")
    found = with_effects(found)
    again = {_AGAIN: F.col(ATTEMPT) + 1, "elements": F.lit(1)}
    return found.withColumns(again).drop(ATTEMPT, "version")


def _matching(rows: DataFrame, others: DataFrame, names: Sequence[str], how: str) -> DataFrame:
    """Return the rows that others equal in some columns, or that none equals; NULL equals NULL."""
    place = F.struct(*names)
    wanted = others.select(place.alias("_place"))
    return rows.withColumn("_place", place).join(wanted, "_place", how).drop("_place")


def _closed(rows: DataFrame, merge: BatchMerge, target: str) -> DataFrame:
    """Return what a replay appends: elements that are valid by now, and why some are refused.

    A change that is refused again is not appended: its last refusal stays open.
    """
    attempt = F.greatest(_AGAIN, F.lit(1))
    refused = merge.refused_changes()
    if refused is None:
        return log_rows(rows, attempt)
    again = refused.where(F.col(_AGAIN) > 0)
    valid = _matching(rows, again, ELEMENT_PLACE, "left_anti")
    new = refused_rows(refused.where(F.col(_AGAIN) == 0), F.col(WHY), target, F.lit(1))
    return log_rows(valid, attempt).unionByName(new)
