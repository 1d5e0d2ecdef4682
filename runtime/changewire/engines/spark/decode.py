"""A DataFrame of messages to changes, control events and dead letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import BinaryType, StringType, StructType

from changewire.changes import Digests, Image, NullValue
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.counts import Counts
from changewire.engines.decode import Decoder
from changewire.engines.layout import CHANGE, CONTROL, INPUT_COLUMNS
from changewire.engines.spark import arrow_types
from changewire.engines.spark.frames import Frames, counted, totals
from changewire.engines.spark.observed import delivered
from changewire.engines.spark.parts import is_lone_before
from changewire.engines.spark.tally import KernelTally, tally_of
from changewire.engines.spark.types import HEADERS, INPUT, ROWS, nullable, typed_schema
from changewire.engines.spark.variant import VariantDecoder, as_variant
from changewire.engines.spark.worker import forget_archives
from changewire.engines.typed.decode import TypedDecoder
from changewire.engines.typed.schemas import ArrowSchema, RowSchema, schema_columns
from changewire.engines.typed.types import columns_as_json, row_columns

RowsAs: TypeAlias = Literal["json", "variant"] | StructType | ArrowSchema | RowSchema
"""How `key`, `before` and `after` are given: exact JSON text, VARIANT, or columns of a type, which
or a schema of them."""


BatchFunction = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What `mapInArrow` takes."""


@dataclass(frozen=True)
class DecodedFrames(Frames):
    """Decoded messages: every element is a change, a control event or a dead letter.

    Each access reads the source again unless `rows` is persisted, which `changewire.spark.write`
    does: it decodes once, counts, compares, and only then writes.

    Attributes:
        rows: One row for each element, with its `kind`.
        rows_as: How `key`, `before` and `after` are given.
        counted: Their counts where they are known, not checked yet; None: they are counted
            when they are asked for.
        native: Sums what the native kernel does in the tasks that make the rows; None with Spark
            Connect.
    """

    rows_as: RowsAs = "json"
    counted: Counts | None = None
    native: KernelTally | None = None

    @property
    def changes(self) -> DataFrame:
        """Changes of rows: what happened, where, to which row, and in which record it came."""
        return self.of_kind(CHANGE)

    @property
    def controls(self) -> DataFrame:
        """Control events: heartbeats, DDL, transactions, empty messages and such."""
        return self.of_kind(CONTROL)

    @cached_property
    def counts(self) -> Counts:
        """Counts over all rows, checked; one job over the rows where they are not known.

        Raises:
            ConservationError: Decoded rows do not add up.
        """
        if self.counted is not None:
            return self.counted.checked()
        return counted(_groups(self.rows), Counts())


def decode(
    messages: DataFrame,
    *,
    format: str,
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    null_value: NullValue = "control",
    time_zone: str = "UTC",
    strip_registry_prefix: bool = False,
    rows: RowsAs = "json",
) -> DecodedFrames:
    """Decode the messages of a DataFrame.

    Args:
        messages: Has a binary or string column ``value``; Kafka's columns ``key``, ``topic``,
            ``partition``, ``offset``, ``timestamp`` and ``headers``, and ``path`` and ``number``
            of `read_files`, are kept if they are there. Others are left out.
        format: Public name of the format; ``auto`` takes for each message the one that it says
            it has, for topics that carry several.
        image: What a message holds of its row after a write.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table, to take names of its columns apart.
        digests: ``count`` or ``refuse`` Aerospike records whose digest is not that of their set and
            user key; every worker needs pycryptodome.
        null_value: What a record without value is: ``control``, an event that changes nothing, or
            ``delete``, of the row that its key names, as on compacted topics.
        time_zone: IANA name of the zone whose clocks made the dates of DataWorks messages: that of
            the task that synchronizes.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values and record keys.
        rows: ``json`` gives exact JSON text, ``variant`` gives VARIANT (Spark 4.0 or newer), a
            StructType gives ``before`` and ``after`` as such columns: a value that does not fit its
            column makes the element a dead letter, and columns that the type does not name are
            kept in ``attributes``, as ``undeclared``. A `pyarrow.Schema` does the same. A schema of
            the row, parsed, as JSON text or as the path of its file, gives the StructType that
            `row_type` makes of it.

    Raises:
        ValueError: There is no such format, an option does not fit it, or `rows` is something else.
        ImportError: Digests are to be compared, and pycryptodome is not installed.
        TypeError: There is no binary or string column ``value``.
        ImportError: `rows` is a JSON Schema, and the extra ``codegen`` is not installed.
    """
    options = DecodeOptions(
        format,
        image,
        keys,
        families,
        digests,
        null_value,
        time_zone=time_zone,
        strip_registry_prefix=strip_registry_prefix,
    )
    return decoded_by(options, messages, rows)


def decoded_by(
    decode_options: DecodeOptions, messages: DataFrame, rows: RowsAs = "json"
) -> DecodedFrames:
    """Return the decoded messages of a DataFrame, as `decode` does."""
    if isinstance(rows, str) and rows == "variant":
        tally = tally_of(messages.sparkSession)
        found = mapped(messages, VariantDecoder(decode_options), ROWS, tally)
        return DecodedFrames(as_variant(found), rows, native=tally)
    if isinstance(rows, str) and rows == "json":
        return _decoded(messages, Decoder(decode_options), ROWS, rows)
    kind = struct_of(rows, decode_options)
    typed = TypedDecoder(decode_options, arrow_types.row_columns(kind))
    return _decoded(messages, typed, typed_schema(kind), kind)


def _decoded(
    messages: DataFrame, decoder: Decoder, schema: StructType, rows_as: RowsAs
) -> DecodedFrames:
    """Return what a decoder makes of messages."""
    tally = tally_of(messages.sparkSession)
    return DecodedFrames(mapped(messages, decoder, schema, tally), rows_as, native=tally)


def struct_of(
    rows: StructType | ArrowSchema | RowSchema, decode_options: DecodeOptions | None = None
) -> StructType:
    """Return the type of rows that a type or a schema says.

    Args:
        rows: The type or the schema.
        decode_options: How messages are read, for schemas that stand in them.

    Raises:
        ValueError: It is neither.
        ImportError: It is a JSON Schema, and the extra ``codegen`` is not installed.
    """
    if isinstance(rows, StructType):
        return cast("StructType", nullable(rows))
    if isinstance(rows, ArrowSchema):
        return StructType.fromJson(columns_as_json(row_columns(pa.schema(rows))))
    try:
        found = StructType.fromJson(schema_columns(rows, decode_options))
    except OSError:
        raise ValueError(
            f"rows is 'json', 'variant', a StructType, a pyarrow.Schema or a schema, not {rows!r}"
        ) from None
    return cast("StructType", nullable(found))


def mapped(
    messages: DataFrame,
    decoder: Decoder,
    schema: StructType,
    tally: KernelTally | None = None,
) -> DataFrame:
    """Return what a decoder makes of the messages of a DataFrame.

    Args:
        messages: The messages.
        decoder: What decodes them.
        schema: Columns of the rows that it makes.
        tally: Counts what its kernel does.
    """
    return delivered(input_of(messages)).mapInArrow(_mapper(decoder, tally), schema)


def _mapper(decoder: Decoder, tally: KernelTally | None) -> BatchFunction:
    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from chain.from_iterable(decoder(_with_null_headers(batch)) for batch in batches)
        # Each task has a copy of the decoder, and so a kernel of its own.
        if tally is not None and decoder.kernel is not None:
            tally.add(decoder.kernel.counts)
        forget_archives()

    return each


def input_of(messages: DataFrame) -> DataFrame:
    """Return the columns of `types.INPUT` that a DataFrame has; what is not sent costs nothing.

    Spark takes longer to send a NULL array to Python than to parse a message, so headers that are
    NULL are sent as an empty array.
    """
    kinds = {field.name: field.dataType for field in messages.schema.fields}
    if not isinstance(kinds.get("value"), (BinaryType, StringType)):
        raise TypeError("expected a binary or string column 'value'")
    columns = {
        name: F.col(name).cast(INPUT[name].dataType) for name in INPUT_COLUMNS if name in kinds
    }
    if "headers" in columns:
        columns["headers"] = F.coalesce(columns["headers"], F.array().cast(HEADERS))
    return messages.select(*(column.alias(name) for name, column in columns.items()))


def check_positions(messages: DataFrame) -> None:
    """Check that messages have positions, by which a log knows them again.

    Raises:
        ValueError: They have none.
    """
    names = {*messages.columns}
    if not ({"topic", "partition", "offset"} <= names or {"path", "number"} <= names):
        raise ValueError(
            "messages need positions, by which the log knows them again: the columns topic, "
            "partition and offset, or path and number; read files by changewire.spark.stream_files"
        )


def _with_null_headers(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with NULL in place of no headers, as Kafka's source has it."""
    if "headers" not in batch.schema.names:
        return batch
    headers = batch.column("headers")
    has_some = pc.greater(pc.list_value_length(headers), 0)
    place = batch.schema.get_field_index("headers")
    return batch.set_column(place, "headers", pc.if_else(has_some, headers, None))


def _groups(rows: DataFrame) -> DataFrame:
    """Return the groups of `Counts.add`."""
    return rows.groupBy(*group_columns()).agg(*totals())


def group_columns() -> list[Column]:
    """Return what makes the groups of `Counts.add`, of decoded rows."""
    source = F.col("source")
    return [
        *(F.col(name) for name in ("kind", "op", "code", "leniencies")),
        F.coalesce(is_lone_before(), F.lit(False)).alias("is_before"),  # noqa: FBT003 - a column
        *(source[name].alias(name) for name in ("database", "schema", "table")),
        F.floor(F.unix_seconds("event_time") / 3600).alias("hour"),
    ]
