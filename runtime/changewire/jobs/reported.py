"""The report of a job, written beside its log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from changewire.changes.decode_options import AUTO
from changewire.engines.look_alikes import look_alikes
from changewire.engines.outcome import Outcome
from changewire.report.write import write


def reported(outcome: Outcome, *, output: str, inputs: Sequence[str] | None = None) -> Outcome:
    """Write the report of a job, and return its outcome with all that the report says.

    Args:
        outcome: As the engine returned it; its output is a log of Parquet or Delta.
        output: Folder of the report.
        inputs: Inputs as they were named; None keeps those of the outcome.
    """
    names = list(outcome.inputs if inputs is None else inputs)
    is_asked = outcome.counts.dead_letters and outcome.format != AUTO
    alikes = look_alikes(Path(outcome.output), outcome.format) if is_asked else None
    found = replace(outcome, inputs=names, output=output, look_alikes=alikes)
    Path(output).mkdir(parents=True, exist_ok=True)
    write(found)
    return found
