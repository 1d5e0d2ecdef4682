"""Files to tables, batch by batch."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import pyarrow as pa

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.messages import counts_of
from changewire.engines.outcome import Outcome
from changewire.engines.python.batches import batches
from changewire.engines.python.groups import Letters, count, first_letters
from changewire.engines.python.parquet import ParquetWriters
from changewire.engines.typed.rows import decoder_of
from changewire.engines.typed.schemas import RowsAs
from changewire.framing.shapes import read_together

Progress = Callable[[int], None]
"""Called with the number of messages read so far."""


def run(
    inputs: Sequence[str],
    output: str,
    *,
    decode_options: DecodeOptions,
    rows: RowsAs = "json",
    shape: str = "auto",
    show_values: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Decode files into Parquet tables below a folder.

    The tables are written where the output is: what calls this gives a folder that is published
    when the run has ended.

    Args:
        inputs: Paths of files; ``-`` is standard input.
        output: Folder for ``changes``, ``controls`` and ``dead_letters``, or for ``messages`` and
            ``dead_letters``.
        decode_options: The format of the messages, and what they do not say themselves.
        rows: What ``before`` and ``after`` are: ``json``, or a type or schema as
            `changewire.arrow.decode` takes it.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
        show_values: Whether the outcome's first dead letters show the start of their values.
        progress: Called after each batch with the number of messages so far.

    Raises:
        FramingError: A file cannot be read.
        ConservationError: The decoded rows do not add up.
        ValueError: `rows` is nothing that rows can be.
    """
    started = time.perf_counter()
    decoder, counts = decoder_of(decode_options, rows), counts_of(decode_options)
    first: Letters = []
    with ParquetWriters(Path(output), decoder.schema(), decoder.outputs) as tables:
        for batch in _decoded(inputs, shape, decoder):
            count(batch, counts)
            first = first_letters(first, batch, show_values=show_values)
            tables.write(batch)
            if progress is not None:
                progress(counts.messages)
        counts.checked()
    return Outcome(
        counts=counts,
        format=decode_options.format,
        inputs=list(inputs),
        output=output,
        engine=f"python {platform.python_version()}",
        seconds=time.perf_counter() - started,
        first_dead_letters=[letter for _, letter in first],
        native=None if decoder.kernel is None else decoder.kernel.counts,
    )


def _decoded(inputs: Sequence[str], shape: str, decoder: Decoder) -> Iterator[pa.RecordBatch]:
    for path in inputs:
        yield from chain.from_iterable(map(decoder, batches(read_together(path, shape=shape))))
