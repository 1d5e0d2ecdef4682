"""Every version of the rows of a table, as a DataFrame."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from changewire.changes.vendors import VendorKeywords
from changewire.engines.changelog.effects import effects_in, update_of
from changewire.engines.changelog.keys import parsed
from changewire.engines.changelog.logged import LOGGED, rows_in, truncates_of
from changewire.engines.changelog.logged import accepted as of_kinds
from changewire.engines.changelog.shapes import GROUP, KEYED, JsonRows, Shape, given_shape
from changewire.engines.changelog.versions import Versions, batched
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import KEY, ROW
from changewire.engines.spark.decode import RowsAs
from changewire.engines.spark.log.place import LogPlace
from changewire.engines.spark.log.rows import newest
from changewire.engines.spark.merge.current import is_named
from changewire.engines.spark.merge.from_log import is_truncate
from changewire.engines.spark.merge.table_log import TableLog
from changewire.engines.spark.variant import numbers_as_text, variants_of
from changewire.engines.typed.schemas import options_of_log
from changewire.engines.typed.types import columns_as_json, differing
from changewire.tables.version_rows import VersionNames, check_names

if TYPE_CHECKING:
    from typing_extensions import Unpack

_LONG: Final = re.compile(r"\d{39}")
"""What every integer has that VARIANT would round."""

_text: Final = msgspec.json.Encoder(decimal_format="number").encode


def history(
    spark: SparkSession,
    log: str,
    *,
    table: str,
    table_format: str = "delta",
    row_schema: RowsAs = "json",
    key_columns: Sequence[str] | None = None,
    format: str | None = None,
    apply_truncates: bool = False,
    names: VersionNames = "plain",
    **vendor: Unpack[VendorKeywords],
) -> DataFrame:
    """Return every version of the rows of a table, by the rules of docs/concepts/tables.md.

    A version is what a row was from one change to the next one that made it another. The
    sequence decides which change is newer, so a late change is inserted between versions, and a
    duplicate changes nothing. A task has the changes of one row in memory.

    Args:
        spark: The session.
        log: Path of the log (it has a slash), or name of its table. Its rows are JSON text.
        table: The table, as ``database.table`` in the messages, or ``database.schema.table``.
        table_format: Format of the log: ``delta``, ``iceberg`` or ``parquet``.
        row_schema: How rows are given: columns ``key`` and ``row`` of JSON text, the same as
            VARIANT, or columns of a type, as `decode` takes them. Columns that the type lacks are
            left out, and a change of these alone begins no version.
        key_columns: Columns of the key, for columns of a type; by default those of any change.
        format: Public name of the format of the messages, if `row_schema` is a schema that is
            in them; the log does not say it.
        apply_truncates: Whether truncates end versions.
        names: ``plain``: columns ``valid_from`` and ``valid_to``, the times of the changes that
            began and ended the version, ``is_current`` and ``op``. ``auto_cdc``: ``__START_AT`` and
            ``__END_AT``, the sequences of these changes.
        **vendor: Options for the messages of one vendor, see `changewire.VendorKeywords`, for the
            schema of a message.

    Returns:
        The columns of rows, those of `names`, and ``_changewire``, with the place of the change
        that began the version.

    Raises:
        ValueError: `names` or `row_schema` is something else, or `row_schema` is the schema of
            a message and `format` is not given.
        OutputError: It is not a log, rows have columns that versions have too, or, when the
            DataFrame is computed, a change does not fit the columns.
        ImportError: `row_schema` is a JSON Schema, and the extra ``codegen`` is not installed.
    """
    check_names(names)
    decode_options = options_of_log(format, key_columns, vendor)
    whole = LogPlace(log, table_format).read(spark)
    found = table_in(whole, table)
    changes = TableLog(found, whole).accepted()
    is_variant = isinstance(row_schema, str) and row_schema == "variant"
    given = "json" if is_variant else row_schema
    keys = _keys_in(changes, found)
    shape = _VariantRows() if is_variant else given_shape(given, decode_options, key_columns, keys)
    truncates = []
    if apply_truncates:  # the driver has them in memory
        logged = newest(found.where(is_truncate()), whole).toArrow().cast(LOGGED)
        rows = chain.from_iterable(map(rows_in, logged.to_batches()))
        truncates = truncates_of(of_kinds(rows).truncates)
    make = Versions(shape, truncates, names)

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        groups = groupby(chain.from_iterable(map(rows_in, batches)), key=itemgetter(GROUP))
        rows = (row for _, of_key in groups for row in make.rows([*of_key]))
        yield from batched(rows, make.schema)

    effects = _effects_of(changes, shape)
    grouped = effects.repartition(GROUP).sortWithinPartitions(GROUP)
    versions = grouped.mapInArrow(each, spark_type(make.schema))
    if not isinstance(shape, _VariantRows):
        return versions
    return versions.withColumns(variants_of((KEY, ROW)))


def _keys_in(changes: DataFrame, found: DataFrame) -> Iterator[str | None]:
    """Yield a key of the changes that a table takes, if one has a key, then of any of its changes.

    The last one is NULL if no change has a key.
    """
    has_key = F.col("key").isNotNull()
    for rows in (changes.where(has_key), found.where(has_key), found.where(~is_truncate())):
        yield from (key for (key,) in rows.select("key").take(1))


class _VariantRows(JsonRows):
    """Rows of JSON text in which VARIANT loses no digit."""

    def row(self, named: Mapping[str, Any], values: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the columns of a row, with text instead of integers that VARIANT would round."""
        found = super().row(named, values)
        if _LONG.search(found[ROW]) is None:
            return found
        columns: dict[str, Any] = {ROW: parsed(found[ROW])}
        return {**found, ROW: _text(columns[ROW]).decode()} if numbers_as_text(columns) else found


def spark_type(schema: pa.Schema) -> StructType:
    """Return columns of Arrow as in Spark."""
    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


def table_in(log: DataFrame, table: str, *more: str) -> DataFrame:
    """Return the rows of a table in a log, and deletes of all tables of its database."""
    there = {field.name: field.dataType.simpleString() for field in log.schema.fields}
    for name, _, _ in differing(log.schema.jsonValue(), columns_as_json(LOGGED)):
        found = there.get(name, "missing")
        raise OutputError(f"no log with rows as JSON text: its column {name} is {found}")
    return log.where(is_named(table)).select(*LOGGED.names, *more)


def _effects_of(changes: DataFrame, shape: Shape) -> DataFrame:
    """Return the effects of changes on rows; two images of an update are read together."""

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = chain.from_iterable(
            rows_in(batch.select(LOGGED.names).cast(LOGGED)) for batch in batches
        )
        effects = (effects_in(images) for _, images in groupby(rows, key=update_of))
        yield from batched(shape.keyed(chain.from_iterable(effects)), KEYED)

    has_one_image = F.col("before").isNull() != F.col("after").isNull()
    is_image = (F.col("op") == "update") & has_one_image
    images = changes.where(is_image).withColumn("_major", F.col("sequence.major"))
    together = images.repartition("source", "_major").sortWithinPartitions("source", "_major")
    others, both = (
        rows.select(*LOGGED.names).mapInArrow(each, spark_type(KEYED))
        for rows in (changes.where(~is_image), together)
    )
    return others.unionAll(both)
