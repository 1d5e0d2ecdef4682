"""A stream of decoded messages to tables that hold each effect once."""

from __future__ import annotations

from changewire.engines.errors import (
    CheckpointError,
    ConflictError,
    KeysMissingError,
    OutputError,
    StreamError,
    TooManyDeadLettersError,
)
from changewire.engines.spark.stream.ending import await_end
from changewire.engines.spark.stream.query import write_stream

__all__ = [
    "CheckpointError",
    "ConflictError",
    "KeysMissingError",
    "OutputError",
    "StreamError",
    "TooManyDeadLettersError",
    "await_end",
    "write_stream",
]
