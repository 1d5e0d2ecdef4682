"""Columns that the schemas in messages declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes import embedded
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.schemas import MOST_SCHEMAS
from changewire.codec import codec
from changewire.codec.border import RESOURCE_ERRORS
from changewire.engines.effects import EffectsDecoder
from changewire.engines.typed.evolve import evolved
from changewire.engines.typed.json_types import StructJson
from changewire.engines.typed.schemas import schema_columns
from changewire.engines.typed.types import columns_of


def declared(
    messages: Mapping[str, bytes], decode_options: DecodeOptions
) -> tuple[dict[str, StructJson], dict[str, str]]:
    """Return the columns that schemas declare, and why some declare none.

    Args:
        messages: For each fingerprint of a schema a message that has it.
        decode_options: How messages are read.
    """
    found: dict[str, StructJson] = {}
    unread: dict[str, str] = {}
    for fingerprint, message in messages.items():
        try:
            found[fingerprint] = _columns(message, decode_options)
        except ValueError as error:  # noqa: PERF203 - there are few schemas
            unread[fingerprint] = str(error)
        except RESOURCE_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - one hostile schema must not end the stream
            unread[fingerprint] = f"reading the schema raised {type(error).__name__}"
    return found, unread


def embedded_columns(batches: Iterable[pa.RecordBatch], decode_options: DecodeOptions) -> pa.Schema:
    """Return one set of columns for all messages, by the schemas in them.

    The first schema that has a column gives it its type; a later one may widen it. Another type is
    left to the values: those that do not fit are dead letters. At most `MOST_SCHEMAS` are read.

    Args:
        batches: The messages, with columns of `layout.INPUT_COLUMNS`.
        decode_options: How they are read.

    Raises:
        ValueError: Messages of the format hold no schema, or none of them declares a column.
    """
    embedded.dialect(decode_options.format)
    messages: dict[str, bytes] = {}
    decode = EffectsDecoder(decode_options)
    for batch in batches:
        for rows in decode(batch):
            for fingerprint, message in _new(rows, messages):
                if len(messages) < MOST_SCHEMAS:
                    messages[fingerprint] = message
    found, _ = declared(messages, decode_options)
    columns = evolved(None, found.items()).columns
    if not columns["fields"]:
        raise ValueError("no schema in the messages declares a column of a row")
    return columns_of(columns)


def _new(rows: pa.RecordBatch, known: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield fingerprints that are not known yet, each with the first message that has it."""
    prints = rows.column("schema_fingerprint")
    for fingerprint in prints.unique().to_pylist():
        if fingerprint is not None and fingerprint not in known:
            place = pc.index(prints, pa.scalar(fingerprint, prints.type)).as_py()
            yield fingerprint, rows.column("value")[place].as_py()


def _columns(message: bytes, decode_options: DecodeOptions) -> StructJson:
    """Return the columns that the schema in a message declares.

    Raises:
        ValueError: There is no schema, or it declares no columns.
    """
    model = codec(decode_options.format).decode(decode_options.stripped(message))
    found = embedded.dialect(decode_options.format).of(model)
    return schema_columns(
        b"" if found is None else found.text,
        format=decode_options.format,
        keys=decode_options.keys,
        families=decode_options.families,
    )
