"""How a topic is streamed without Spark: batches, merges, and listeners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypedDict

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.options import (
    ApplyKeywords,
    Limit,
    Listener,
    StreamListener,
    TableOptions,
    check_limit,
)

BATCH_SIZE: Final = 50_000
BATCH_EVERY: Final = 5.0


class BatchKeywords(TypedDict, total=False):
    """How a topic is streamed without Spark.

    Attributes:
        continuous: Whether the stream goes on at the ends of the topics; by default it ends there.
        batch_size: Messages of a batch at most, 50,000 by default; a batch with large ones ends
            earlier. The option ``maxOffsetsPerTrigger`` goes before it.
        batch_every: Seconds after the first message of a batch at which it ends, 5 by default.
        apply_every: Least seconds between merges into tables in a continuous stream; by default 0,
            a merge after each batch. Other streams merge once, at their end.
        compact_every: Seconds between compactions of the log and its tables in a continuous stream;
            None, the default, for none.
        show_values: Whether the outcome's first dead letters show the start of their values.
        notice: Called with a line to read for each batch.
        metrics: Called with a line of JSON for each batch.
        stop: Asked again and again whether the stream is to end after the batch that it is at, as
            it does at a signal.
    """

    continuous: bool
    batch_size: int
    batch_every: float
    apply_every: float
    compact_every: float | None
    show_values: bool
    notice: Listener | None
    metrics: Listener | None
    stop: Callable[[], bool] | None


class StreamKeywords(ApplyKeywords, BatchKeywords, total=False):
    """How a topic is streamed without Spark, and how its messages are decoded and merged.

    The options of `ApplyKeywords` and `BatchKeywords` are among them.
    """


@dataclass(frozen=True)
class LocalStream:
    """How messages are read and written to the path of a log, and tables; see `BatchKeywords`.

    Attributes:
        tables: How tables are written; None without tables.

    Raises:
        ValueError: A number is not valid.
    """

    log: str
    decode_options: DecodeOptions
    tables: TableOptions | None = None
    continuous: bool = False
    batch_size: int = BATCH_SIZE
    batch_every: float = BATCH_EVERY
    apply_every: float = 0
    compact_every: float | None = None
    max_dead_letters: Limit | None = None
    show_values: bool = False
    stop: Callable[[], bool] | None = None
    listener: StreamListener = field(default_factory=StreamListener)

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.batch_size < 1:
            raise ValueError(f"batch_size is a number from 1, not {self.batch_size}")
        for name in ("batch_every", "apply_every", "compact_every"):
            seconds = getattr(self, name)
            if seconds is not None and seconds < 0:
                text = f"{name} is a number of seconds from 0, not {seconds}"
                raise ValueError(text)
        check_limit(self.max_dead_letters)
