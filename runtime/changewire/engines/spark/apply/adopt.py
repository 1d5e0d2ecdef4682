"""Tables that were not made by changewire, made ones that changes can be applied to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructField, StructType

from changewire.engines.errors import OutputError
from changewire.engines.kept import SUFFIX
from changewire.engines.spark.apply.formats import TableFormat, format_of
from changewire.engines.spark.apply.properties import keep_keys, keys_of
from changewire.engines.spark.parts import quoted
from changewire.tables.metadata import COLUMN, metadata_of
from changewire.tables.names import absolute, beside
from changewire.tables.order import OLDEST
from changewire.tables.state import full_image
from changewire_messages.tables.spark import ROW_METADATA as METADATA
from changewire_messages.tables.spark import TOMBSTONE as TOMBSTONES


def adopt(spark: SparkSession, target: str, *, keys: Sequence[str], sink: str = "delta") -> int:
    """Let `apply_changes` go on with a table that something else has made; return its new rows.

    The table gets the column ``_changewire``, in which its rows are older than every change, and
    beside it a table for tombstones. Rows are rewritten once. Done again it does so to rows that
    were added since by something else; only changewire should add any.

    Args:
        spark: The session.
        target: The table: a path (it has a slash), or its name.
        keys: Columns of the key that changes name rows by; each row has another one.
        sink: Table format: ``delta`` or ``iceberg``.

    Raises:
        ValueError: There is no such table format, or `keys` is empty.
        OutputError: The table lacks a column of the key, rows have none in it, two have the same,
            or it has another key since it was adopted or made; it is as it was.
        AnalysisException: The table is not there.
    """
    tables = format_of(sink)
    target = absolute(target)
    table = tables.identifier(target)
    tables.refresh(spark, table)
    rows = spark.table(table)
    _check(rows, keys, table)
    _keep_keys(spark, beside(target, SUFFIX), tuple(sorted(keys)), tables)
    if COLUMN not in rows.columns:
        added = StructType([*rows.schema.fields, StructField(COLUMN, METADATA)])
        tables.evolve(spark, target, added)
    tables.refresh(spark, table)
    is_new = F.col(COLUMN).isNull()
    number = spark.table(table).where(is_new).count()
    oldest = msgspec.json.encode(metadata_of(full_image(OLDEST, {}))).decode()
    value = f"from_json('{oldest}', '{METADATA.simpleString()}')"
    if number:
        spark.sql(f"UPDATE {table} SET {COLUMN} = {value} WHERE {COLUMN} IS NULL")  # noqa: S608 - quoted
    return number


def _keep_keys(
    spark: SparkSession, tombstones: str, keys: tuple[str, ...], tables: TableFormat
) -> None:
    """Make the table of tombstones, and keep the key there.

    Raises:
        OutputError: It has another one.
    """
    tables.create(spark, tombstones, TOMBSTONES, {})
    identifier = tables.identifier(tombstones)
    known = keys_of(spark, identifier)
    if known is None:
        keep_keys(spark, identifier, keys)
    elif known != keys:
        raise OutputError(
            f"{identifier}: the table's key is ({', '.join(known)}), not ({', '.join(keys)})"
        )


def _check(rows: DataFrame, keys: Sequence[str], table: str) -> None:
    """Check that keys name rows, each another one.

    Raises:
        ValueError: There are no keys.
        OutputError: They do not.
    """
    if not keys or isinstance(keys, str):
        raise ValueError(f"keys are names of columns, at least one, and not {keys!r}")
    missing = [name for name in keys if name not in rows.columns]
    if missing:
        raise OutputError(f"{table}: the key's column {missing[0]} is not one of the table's")
    columns = [rows[quoted(name)] for name in keys]
    without = rows.where(reduce(or_, (column.isNull() for column in columns))).count()
    if without:
        raise OutputError(f"{table}: {without} rows have NULL in the key ({', '.join(keys)})")
    doubles = rows.groupBy(*columns).count().where("count > 1").count()
    if doubles:
        raise OutputError(
            f"{table}: {doubles} keys ({', '.join(keys)}) have more than one row each"
        )
