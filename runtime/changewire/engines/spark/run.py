"""Files to tables in Spark: the main job."""

from __future__ import annotations

import time
from collections.abc import Sequence

from changewire.changes.reading import Reading
from changewire.engines.outcome import Outcome
from changewire.engines.spark.decode import decode
from changewire.engines.spark.files import read_files
from changewire.engines.spark.session import session
from changewire.engines.spark.write import write


def run(
    inputs: Sequence[str],
    output: str,
    *,
    reading: Reading,
    shape: str = "auto",
    show_values: bool = False,
) -> Outcome:
    """Decode files into Parquet tables below a folder.

    Args:
        inputs: Files or folders that every worker can open.
        output: Folder for ``changes``, ``controls`` and ``dead_letters``; those are replaced.
        reading: The format of the messages, and what they do not say themselves.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
        show_values: Whether the outcome's first dead letters show the start of their values.

    Raises:
        FramingError: A path does not exist.
        ConservationError: The decoded rows do not add up.
    """
    started = time.perf_counter()
    spark = session()
    messages = read_files(spark, inputs, shape=shape)
    decoded = decode(
        messages,
        format=reading.format,
        image=reading.image,
        keys=reading.keys,
        families=reading.families,
        digests=reading.digests,
    )
    counts, letters = write(decoded, output, show_values=show_values)
    return Outcome(
        counts=counts,
        format=reading.format,
        inputs=list(inputs),
        output=output,
        engine=f"spark {spark.version}",
        seconds=time.perf_counter() - started,
        first_dead_letters=letters,
    )
