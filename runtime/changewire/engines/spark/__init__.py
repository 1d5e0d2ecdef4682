"""The engine in Spark: the same rows, by `mapInArrow` and the DataFrame API alone."""

from __future__ import annotations

from changewire.engines.spark.apply import Replayed, adopt, apply_changes, replay, vacuum
from changewire.engines.spark.decode import Decoded, RowsAs, decode
from changewire.engines.spark.files import read_files
from changewire.engines.spark.kafka import KafkaOptions, KafkaSourceError, read_kafka
from changewire.engines.spark.row_type import RowSchema, row_type
from changewire.engines.spark.run import run, run_kafka
from changewire.engines.spark.schemas import schemas
from changewire.engines.spark.session import session
from changewire.engines.spark.stream import (
    CheckpointError,
    ConflictError,
    KeysMissingError,
    OutputError,
    StreamError,
    TooManyDeadLettersError,
    await_end,
    write_stream,
)
from changewire.engines.spark.write import write

__all__ = [
    "CheckpointError",
    "ConflictError",
    "Decoded",
    "KafkaOptions",
    "KafkaSourceError",
    "KeysMissingError",
    "OutputError",
    "Replayed",
    "RowSchema",
    "RowsAs",
    "StreamError",
    "TooManyDeadLettersError",
    "adopt",
    "apply_changes",
    "await_end",
    "decode",
    "read_files",
    "read_kafka",
    "replay",
    "row_type",
    "run",
    "run_kafka",
    "schemas",
    "session",
    "vacuum",
    "write",
    "write_stream",
]
