"""Schemas of Kafka Connect that stand in messages, and values read by them.

A message of Kafka's JsonConverter with ``schemas.enable`` is ``{"schema": ..., "payload": ...}``.
The schema is compiled to a `Reader` once, by `SchemaCache`, and the reader types each value.
"""

from changewire.changes.connect.cache import Compiled, SchemaCache
from changewire.changes.connect.differences import Difference, columns, differences
from changewire.changes.connect.errors import ConnectSchemaError, ValueMismatch
from changewire.changes.connect.reader import Reader, compile_schema
from changewire.changes.connect.reads import NOTES, Note
from changewire.changes.connect.row_type import struct_type
from changewire.changes.values import fingerprint

__all__ = [
    "NOTES",
    "Compiled",
    "ConnectSchemaError",
    "Difference",
    "Note",
    "Reader",
    "SchemaCache",
    "ValueMismatch",
    "columns",
    "compile_schema",
    "differences",
    "fingerprint",
    "struct_type",
]
