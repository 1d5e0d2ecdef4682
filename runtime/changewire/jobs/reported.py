"""The report of a job, written beside its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from changewire.changes.decode_options import AUTO
from changewire.codec import detect
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.outcome import LookAlikes, Outcome
from changewire.report.write import write

_MOST: Final = 1000
"""Dead letters that are looked at for another format."""


def reported(outcome: Outcome, *, output: str, inputs: Sequence[str] | None = None) -> Outcome:
    """Write the report of a job, and return its outcome with all that the report says.

    Args:
        outcome: As the engine returned it; its output is a log of Parquet or Delta.
        output: Folder of the report.
        inputs: Inputs as they were named; None keeps those of the outcome.
    """
    names = list(outcome.inputs if inputs is None else inputs)
    is_asked = outcome.counts.dead_letters and outcome.format != AUTO
    alikes = _look_alikes(Path(outcome.output), outcome.format) if is_asked else None
    found = replace(outcome, inputs=names, output=output, look_alikes=alikes)
    Path(output).mkdir(parents=True, exist_ok=True)
    write(found)
    return found


def _look_alikes(log: Path, format: str) -> LookAlikes | None:
    """Return what most dead letters of a log, read in a format, look like; None if nothing else."""
    import pyarrow.dataset as ds

    is_dead = ds.field("kind") == DEAD_LETTER
    rows = ds.dataset(log, format="parquet").head(_MOST, columns=["value"], filter=is_dead)
    found = Counter(None if value is None else detect(value) for value in rows["value"].to_pylist())
    for name, count in found.most_common(1):
        if name is not None and name != format and 2 * count > len(rows):
            return LookAlikes(name, count, len(rows))
    return None
