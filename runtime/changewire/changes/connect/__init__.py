"""Schemas of Kafka Connect that are in messages, and values read by them.

A message of Kafka's JsonConverter with ``schemas.enable`` is ``{"schema": ..., "payload": ...}``.
The schema is compiled to a `Reader`, which types each value.
"""

from changewire.changes.connect.differences import Difference, columns, differences
from changewire.changes.connect.reader import Reader, compile_schema
from changewire.changes.connect.reads import NOTES, Note
from changewire.changes.connect.row_type import struct_type
from changewire.changes.connect.schema import ConnectSchemaError, ValueMismatch

__all__ = [
    "NOTES",
    "ConnectSchemaError",
    "Difference",
    "Note",
    "Reader",
    "ValueMismatch",
    "columns",
    "compile_schema",
    "differences",
    "struct_type",
]
