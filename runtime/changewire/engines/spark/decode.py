"""A DataFrame of messages to changes, control events and dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import BinaryType, StringType, StructType

from changewire.changes.decode_options import DecodeKeywords, DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.layout import CHANGE, CONTROL, INPUT_COLUMNS
from changewire.engines.spark.frames import Frames
from changewire.engines.spark.python import check_python
from changewire.engines.spark.stream.progress import delivered
from changewire.engines.spark.types import HEADERS, INPUT, ROWS, struct_of, typed_schema
from changewire.engines.spark.variant import VariantDecoder, as_variant
from changewire.engines.spark.worker import KernelTally, forget_archives, tally_of
from changewire.engines.typed.decode import TypedDecoder
from changewire.engines.typed.schemas import ArrowSchema, RowSchema, given_columns

if TYPE_CHECKING:
    from typing_extensions import Unpack

RowsAs: TypeAlias = Literal["json", "variant"] | StructType | ArrowSchema | RowSchema
"""How `key`, `before` and `after` are given: exact JSON text, VARIANT, or columns of a type, which
or a schema of them."""


@dataclass(frozen=True)
class DecodedFrames(Frames):
    """Decoded messages: every element is a change, a control event or a dead letter.

    Each access reads the source again unless `rows` is persisted, which `changewire.spark.write`
    does: it decodes once, counts, compares, and only then writes.

    Attributes:
        rows: One row for each element, with its `kind`.
        native: Sums what the native kernel does in the tasks that make the rows; None with Spark
            Connect.
        rows_as: How `key`, `before` and `after` are given.
    """

    rows_as: RowsAs = "json"

    @property
    def changes(self) -> DataFrame:
        """Changes of rows: what happened, where, to which row, and in which record it came."""
        return self.of_kind(CHANGE)

    @property
    def controls(self) -> DataFrame:
        """Control events: heartbeats, DDL, transactions, empty messages and such."""
        return self.of_kind(CONTROL)


def decode(
    messages: DataFrame,
    *,
    format: str,
    row_schema: RowsAs = "json",
    **options: Unpack[DecodeKeywords],
) -> DecodedFrames:
    """Decode the messages of a DataFrame.

    Args:
        messages: Has a binary or string column ``value``; Kafka's columns ``key``, ``topic``,
            ``partition``, ``offset``, ``timestamp`` and ``headers``, and ``path`` and ``number``
            of `read_files`, are kept if they are there. Others are left out.
        format: Public name of the format; ``auto`` takes for each message the one that it says
            it has, for topics that carry several.
        row_schema: ``json`` gives exact JSON text, ``variant`` gives VARIANT (Spark 4.0 or newer),
            a StructType gives ``before`` and ``after`` as such columns: a value that does not fit
            its column makes the element a dead letter, and columns that the type does not name are
            kept in ``attributes``, as ``undeclared``. A `pyarrow.Schema` does the same. A schema of
            the row, parsed, as JSON text or as the path of its file, gives the StructType that
            `row_type` makes of it.
        **options: What messages do not say themselves, see `DecodeKeywords`.

    Raises:
        ValueError: There is no such format, an option does not fit it, or `row_schema` is something
            else.
        ImportError: Digests are to be compared, and pycryptodome is not installed.
        TypeError: There is no binary or string column ``value``.
        ImportError: `row_schema` is a JSON Schema, and the extra ``codegen`` is not installed.
    """
    return decoded_by(DecodeOptions(format, **options), messages, row_schema)


def decoded_by(
    decode_options: DecodeOptions, messages: DataFrame, row_schema: RowsAs = "json"
) -> DecodedFrames:
    """Return the decoded messages of a DataFrame, as `decode` does."""
    tally = tally_of(messages.sparkSession)
    if isinstance(row_schema, str) and row_schema == "variant":
        found = mapped(messages, VariantDecoder(decode_options), ROWS, tally)
        return DecodedFrames(as_variant(found), tally, row_schema)
    if isinstance(row_schema, str) and row_schema == "json":
        return DecodedFrames(mapped(messages, Decoder(decode_options), ROWS, tally), tally)
    columns = given_columns(row_schema, decode_options)
    kind, typed = struct_of(columns), TypedDecoder(decode_options, columns)
    return DecodedFrames(mapped(messages, typed, typed_schema(kind), tally), tally, kind)


def mapped(
    messages: DataFrame, decoder: Decoder, schema: StructType, tally: KernelTally | None = None
) -> DataFrame:
    """Return the rows of decoded messages; the tally counts the work of the kernel."""

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from chain.from_iterable(decoder(_with_null_headers(batch)) for batch in batches)
        # Each task has a copy of the decoder, and so a kernel of its own.
        if tally is not None and decoder.kernel is not None:
            tally.add(decoder.kernel.counts)
        forget_archives()

    return delivered(input_of(messages)).mapInArrow(each, schema)


def input_of(messages: DataFrame) -> DataFrame:
    """Return the columns of `types.INPUT` that a DataFrame has; what is not sent costs nothing.

    Spark takes longer to send a NULL array to Python than to parse a message, so headers that are
    NULL are sent as an empty array.
    """
    check_python(messages.sparkSession)
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
    """Raise ValueError if messages have no positions, by which a log knows them again."""
    names = {*messages.columns}
    if not ({"topic", "partition", "offset"} <= names or {"path", "number"} <= names):
        raise ValueError(
            "messages need positions, by which the log knows them again: the columns topic, "
            "partition and offset, or path and number; read files by changewire.spark.stream_files"
        )


def _with_null_headers(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with NULL instead of no headers, as Kafka's source has it."""
    if "headers" not in batch.schema.names:
        return batch
    headers = batch.column("headers")
    has_some = pc.greater(pc.list_value_length(headers), 0)
    place = batch.schema.get_field_index("headers")
    return batch.set_column(place, "headers", pc.if_else(has_some, headers, None))
