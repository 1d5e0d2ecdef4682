"""Dead letters that are closed without a replay, since their messages were mended elsewhere."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.log import CLOSING, closing
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import is_placed, open_letters


def close_dead_letters(
    spark: SparkSession,
    log: str,
    *,
    where: str,
    by: str,
    why: str,
    table_format: str = "delta",
) -> int:
    """Close open dead letters of a log, such as those whose messages were sent again.

    For each a row of the kind ``closed`` is appended, with its position, its code, and who closed
    it and why. No row is changed. A dead letter without a position stays open.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table.
        where: Condition in SQL on dead letters, such as ``"code = 'wrong-type'"``.
        by: Who closes them.
        why: The reason.
        table_format: Format of the log.

    Returns:
        How many were closed.

    Raises:
        ValueError: `by` or `why` is empty.
    """
    said, place = closing(by, why), LogPlace(log, table_format)
    letters = open_letters(place.read(spark)).where(is_placed()).where(where)
    kinds = {field.name: field.dataType for field in letters.schema.fields}
    columns = {name: F.lit(value).cast(kinds[name]) for name, value in said.items()}
    rows = letters.withColumns(columns).localCheckpoint()
    number = rows.count()
    if number:
        place.check(spark, rows.schema)
        place.add(rows, CLOSING if table_format == "delta" else None)
    return number
