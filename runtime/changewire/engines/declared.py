"""The columns that the schemas in messages declare, as text that a log keeps.

The text is a JSON object of names and types: ``{"id":"long","name":"string"}``. Types are those of
the JSON form of a StructType; `JSON` is text for any value.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes import embedded
from changewire.changes.adapters import adapter
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.schemas import MOST_SCHEMAS
from changewire.codec import codec
from changewire.codec.border import RESOURCE_ERRORS
from changewire.engines.places import Places
from changewire.engines.typed.readings import JSON
from changewire.engines.typed.types import StructJson, field_json, struct_json

VOID: Final = "void"
"""Type of a value that may be of several: a text such as ``NaN``, which is a float in JSON, too."""

MEDIA_TYPE: Final = "contentMediaType"


class DeclaredColumns:
    """Texts of the columns that the schemas in messages declare; each schema is read once."""

    def __init__(self, decode_options: DecodeOptions) -> None:
        """Remember how messages are read."""
        self._options = decode_options
        self._texts: dict[str, str | None] = {}

    def __call__(
        self, fingerprints: pa.Array, batch: pa.RecordBatch, places: Places | None
    ) -> pa.Array:
        """Return the texts of rows by the fingerprints of their schemas; NULL without one.

        The messages are in the column ``value`` of the batch; `places` says which each row is of.
        """
        if fingerprints.null_count == len(fingerprints):
            return pa.nulls(len(fingerprints), pa.string())
        encoded = fingerprints.dictionary_encode()
        found: list[str | None] = []
        if len(self._texts) + len(encoded.dictionary) > MOST_SCHEMAS:
            self._texts.clear()
        for index, fingerprint in enumerate(encoded.dictionary.to_pylist()):
            if fingerprint not in self._texts:
                row = pc.index(encoded.indices, index).as_py()
                record = row if places is None else places.record[row].as_py()
                message = batch.column("value")[record].as_py()
                if message is not None:  # a record without value does not tell the schema
                    self._texts[fingerprint] = self._text(message)
            found.append(self._texts.get(fingerprint))
        return pa.array(found, pa.string()).take(encoded.indices)

    def _text(self, message: bytes) -> str | None:
        try:
            return text_of(self._columns(message))
        except RESOURCE_ERRORS:
            raise
        except Exception:  # noqa: BLE001 - one hostile schema must not end the stream
            return None

    def _columns(self, message: bytes) -> StructJson:
        """Return the columns that the schema in a message declares, or raise a ValueError."""
        options, name = self._options, self._options.format_of(message)
        dialect = adapter(name).schemas
        model = codec(name).decode(options.stripped(message))
        schema = None if dialect is None else dialect.of(model)
        if schema is None:
            raise ValueError("the message has no schema")
        return embedded.row_type(schema.text, name, options)


def text_of(columns: StructJson) -> str:
    """Return the text of columns; fields of structs keep their types."""
    found = {one["name"]: kind_of(one) for one in columns["fields"]}
    return msgspec.json.encode(found).decode()


def kind_of(column: Mapping[str, Any]) -> Any:
    """Return the type that a text has for a column; `JSON` for one of any values."""
    is_any = column.get("metadata", {}).get(MEDIA_TYPE) == JSON
    return JSON if is_any else column["type"]


@lru_cache(MOST_SCHEMAS)
def columns_of_text(text: str) -> StructJson:
    """Return the columns that a text of `text_of` has, in the JSON form of a StructType."""
    found = msgspec.json.decode(text, type=dict[str, Any])
    return struct_json([field_of(name, kind) for name, kind in found.items()])


def field_of(name: str, kind: Any) -> dict[str, Any]:
    """Return a column of a type that a text has; that of any values is JSON text."""
    if kind == JSON:
        return field_json(name, "string", {MEDIA_TYPE: JSON})
    return field_json(name, kind)
