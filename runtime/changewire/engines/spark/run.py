"""Files to a log in Spark, and what a report says of it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.outcome import Outcome
from changewire.engines.spark.decode import RowsAs
from changewire.engines.spark.log.write import write
from changewire.engines.spark.messages import frames_by
from changewire.engines.spark.read import read_files
from changewire.engines.spark.session import session

_SINK = "parquet"


def run(
    inputs: Sequence[str],
    log: str,
    *,
    decode_options: DecodeOptions,
    rows: RowsAs = "json",
    shape: str = "auto",
    show_values: bool = False,
) -> Outcome:
    """Append the elements of files to a Parquet log that lacks them.

    Args:
        inputs: Files or folders that every worker can open.
        log: Path of the log.
        decode_options: The format of the messages, and what they do not say themselves.
        rows: What ``before`` and ``after`` are, as for `decode`.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
        show_values: Whether the outcome's first dead letters show the start of their values.

    Raises:
        FramingError: A path does not exist.
        ConservationError: The decoded rows do not add up.
        OutputError: The log has other columns.
    """
    started = time.perf_counter()
    frames = frames_by(decode_options, read_files(session(), inputs, shape=shape), rows)
    ready = time.perf_counter()
    written = write(frames, log, sink=_SINK, show_values=show_values)
    return Outcome(
        counts=written.counts,
        format=decode_options.format,
        inputs=list(inputs),
        output=log,
        engine=f"spark {frames.rows.sparkSession.version}",
        seconds=time.perf_counter() - started,
        first_dead_letters=written.dead_letters,
        native=written.counts.native,
        start_seconds=ready - started,
        already_in_log=written.already_in_log,
    )
