"""Files to tables, batch by batch."""

from __future__ import annotations

import heapq
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.reading import Reading
from changewire.engines.counts import Counts
from changewire.engines.decode import Decoder
from changewire.engines.layout import DEAD_LETTER, OUTPUTS
from changewire.engines.outcome import FIRST_DEAD_LETTERS, PLACE_COLUMNS, Outcome
from changewire.engines.outputs import place_order
from changewire.engines.python.batches import batches
from changewire.engines.python.groups import count
from changewire.engines.python.parquet import Tables
from changewire.framing import read

Progress = Callable[[int], None]
"""Called with the number of messages read so far."""


def run(
    inputs: Sequence[str],
    output: str,
    *,
    reading: Reading,
    shape: str = "auto",
    show_values: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Decode files into Parquet tables below a folder.

    The tables are written beside the output and moved there at the end, after the counts were
    checked: an output folder never holds half a run.

    Args:
        inputs: Paths of files; ``-`` is standard input.
        output: Folder for ``changes``, ``controls`` and ``dead_letters``; those are replaced.
        reading: The format of the messages, and what they do not say themselves.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
        show_values: Whether the outcome's first dead letters show the start of their values.
        progress: Called after each batch with the number of messages so far.

    Raises:
        FramingError: A file cannot be read.
        ConservationError: The decoded rows do not add up.
    """
    started = time.perf_counter()
    decoder, counts = Decoder(reading), Counts()
    first: list[tuple[Any, dict[str, Any]]] = []
    Path(output).mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix="_staging-", dir=output))
    try:
        with Tables(staging) as tables:
            for rows in _decoded(inputs, shape, decoder):
                count(rows, counts)
                first = _first(first, rows, show_values=show_values)
                tables.write(rows)
                if progress is not None:
                    progress(counts.messages)
        counts.checked()
        _publish(staging, Path(output))
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return Outcome(
        counts=counts,
        format=reading.format,
        inputs=list(inputs),
        output=output,
        engine=f"python {platform.python_version()}",
        seconds=time.perf_counter() - started,
        first_dead_letters=[letter for _, letter in first],
    )


def _decoded(inputs: Sequence[str], shape: str, decoder: Decoder) -> Iterator[pa.RecordBatch]:
    for path in inputs:
        yield from chain.from_iterable(map(decoder, batches(read(path, shape=shape))))


def _first(
    first: list[tuple[Any, dict[str, Any]]], rows: pa.RecordBatch, *, show_values: bool
) -> list[tuple[Any, dict[str, Any]]]:
    """Return the first dead letters by position, of those known and those in a batch."""
    dead = rows.filter(pc.equal(rows.column("kind"), DEAD_LETTER))
    columns = [*PLACE_COLUMNS, *(["value"] if show_values else [])]
    letters = dead.slice(0, FIRST_DEAD_LETTERS).select(columns).to_pylist()
    found = [*first, *((place_order(letter), letter) for letter in letters)]
    return heapq.nsmallest(FIRST_DEAD_LETTERS, found, key=lambda item: item[0])


def _publish(staging: Path, output: Path) -> None:
    """Replace the outputs by what was staged."""
    for name in OUTPUTS:
        shutil.rmtree(output / name, ignore_errors=True)
        (staging / name).replace(output / name)
