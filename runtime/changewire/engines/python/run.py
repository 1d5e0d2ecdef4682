"""Files to a log, batch by batch."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.log import log_rows, log_schema
from changewire.engines.messages import counts_of
from changewire.engines.outcome import Outcome
from changewire.engines.python.batches import batches
from changewire.engines.python.groups import Letters, count, first_letters
from changewire.engines.python.log import parquet_log
from changewire.engines.typed.decode import decoder_of
from changewire.engines.typed.schemas import RowsAs
from changewire.framing.shapes import read_together

Progress = Callable[[int], None]
"""Called with the number of messages read so far."""


def run(
    inputs: Sequence[str],
    log: str,
    *,
    decode_options: DecodeOptions,
    rows: RowsAs = "json",
    shape: str = "auto",
    show_values: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Append the elements of files to a Parquet log that lacks them.

    An element is known by its path, number and index, so a run that was killed is run again.
    Records of standard input are always appended.

    Args:
        inputs: Absolute paths of files, each once; ``-`` is standard input.
        log: Folder of the log.
        decode_options: The format of the messages, and what they do not say themselves.
        rows: What ``before`` and ``after`` are: ``json``, or a type or schema as
            `changewire.arrow.decode` takes it.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
        show_values: Whether the outcome's first dead letters show the start of their values.
        progress: Called after each batch with the number of messages so far.

    Raises:
        FramingError: A file cannot be read.
        ConservationError: The decoded rows do not add up.
        OutputError: The log has other columns, is not a log of Parquet files, or another run writes
            to it.
        ValueError: `rows` is nothing that rows can be.
    """
    started = time.perf_counter()
    decoder, counts = decoder_of(decode_options, rows), counts_of(decode_options)
    first: Letters = []
    known = 0
    with parquet_log(Path(log), log_schema(decoder.schema())) as there:
        for batch in _records(inputs, shape):
            for decoded in decoder(batch):
                count(decoded, counts)
                first = first_letters(first, decoded, show_values=show_values)
                new = there.lacking(pa.Table.from_batches([decoded]))
                known += len(decoded) - len(new)
                there.append(log_rows(new))
            if there.has_enough:
                counts.checked()
                there.commit()
            if progress is not None:
                progress(counts.messages)
        counts.checked()
    return Outcome(
        counts=counts,
        format=decode_options.format,
        inputs=list(inputs),
        output=log,
        engine=f"python {platform.python_version()}",
        seconds=time.perf_counter() - started,
        first_dead_letters=[letter for _, letter in first],
        native=None if decoder.kernel is None else decoder.kernel.counts,
        already_in_log=known,
    )


def _records(inputs: Sequence[str], shape: str) -> Iterator[pa.RecordBatch]:
    """Yield the records of files; no batch has those of two files."""
    for path in inputs:
        yield from batches(read_together(path, shape=shape))
