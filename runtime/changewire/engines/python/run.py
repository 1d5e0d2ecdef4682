"""Files to a log, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final
from uuid import uuid4

import pyarrow as pa

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.log import log_rows, log_schema
from changewire.engines.outcome import Outcome
from changewire.engines.python.batches import batches
from changewire.engines.python.groups import Tally
from changewire.engines.python.log import parquet_log
from changewire.engines.typed.decode import decoder_of
from changewire.engines.typed.schemas import RowsAs
from changewire.framing.shapes import read_together

_STDIN: Final = "-"


def run(
    inputs: Sequence[str],
    log: str,
    *,
    decode_options: DecodeOptions,
    row_schema: RowsAs = "json",
    shape: str = "auto",
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Append the elements of files to a Parquet log that lacks them.

    An element is known by its path, number and index, so a run that was killed is run again.
    Standard input, ``-``, has another path in each run, so its records are always appended; a row
    of one run closes no dead letter of another one. The inputs are absolute paths, and the
    other arguments those of `changewire.jobs.files.run_files`.
    """
    tally = Tally(
        decoder_of(decode_options, row_schema), show_values=show_values, progress=progress
    )
    decoder = tally.decoder
    with parquet_log(Path(log), log_schema(decoder.schema())) as there:
        for path in inputs:  # no batch has records of two files
            read = batches(read_together(path, shape=shape))
            if path == _STDIN:
                read = map(partial(_at, f"{_STDIN}#{uuid4().hex}"), read)
            for decoded in chain.from_iterable(map(decoder, read)):
                found = pa.Table.from_batches([decoded])
                new = there.lacking(found)
                there.append(log_rows(new))
                tally.add(found, len(found) - len(new))
                if there.has_enough:
                    tally.counts.checked()
                    there.commit()
        tally.counts.checked()
    return tally.outcome(inputs, log, "")


def _at(path: str, records: pa.RecordBatch) -> pa.RecordBatch:
    """Return records at another path."""
    column = pa.repeat(pa.scalar(path), len(records))
    return records.set_column(records.schema.get_field_index("path"), "path", column)
