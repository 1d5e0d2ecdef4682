"""Messages to Arrow, with the columns and builders of the Spark engine."""

from __future__ import annotations

from collections.abc import Sequence

from changewire.changes import Digests, Image
from changewire.changes.reading import Reading
from changewire.engines.arrow.decoded import Decoded
from changewire.engines.arrow.messages import Messages, opener
from changewire.engines.arrow.rows import RowsAs, decoder_of


def decode(
    messages: Messages,
    *,
    format: str,
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    rows: RowsAs = "json",
    shape: str = "auto",
) -> Decoded:
    """Decode messages into Arrow record batches.

    Args:
        messages: A file or a folder; a message as bytes; a table of any library that speaks Arrow's
            PyCapsule interface (pyarrow, Polars, DuckDB, pandas), with a binary or string column
            ``value`` and, where they are there, Kafka's ``key``, ``topic``, ``partition``,
            ``offset``, ``timestamp`` and ``headers``; or an iterable of messages, of
            `changewire.framing.Record`, or of files.
        format: Public name of the format; ``auto`` takes for each message the one that it says
            it has, for topics that carry several.
        image: What a message holds of its row after a write.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table, to take names of its columns apart.
        digests: ``count`` or ``refuse`` Aerospike records whose digest is not that of their set and
            user key.
        rows: ``json`` gives ``before`` and ``after`` as exact JSON text. A `pyarrow.Schema` or
            struct type, a StructType of PySpark, or a schema of the row as in
            `changewire.spark.decode` gives them as columns of its types; it needs PySpark, but no
            Java.
        shape: Shape of files, see `changewire.framing.SHAPES`.

    Raises:
        ValueError: There is no such format, an option does not fit it, or `rows` is none of these.
        TypeError: `messages` is none of these.
        ImportError: A library is missing; the text names its extra.
    """
    reading = Reading(format, image, keys, families, digests)
    source, is_lasting = opener(messages, shape)
    return Decoded(source, decoder_of(rows, reading), is_lasting=is_lasting)
