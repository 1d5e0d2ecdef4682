"""The report of a job, written beside its outputs before these are published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from changewire.changes.decode_options import AUTO
from changewire.engines.look_alikes import look_alikes
from changewire.engines.outcome import Outcome
from changewire.report.write import write


def reported(
    outcome: Outcome, folder: Path, *, output: str, inputs: Sequence[str] | None = None
) -> Outcome:
    """Write the report of a job, and return its outcome with all that the report says.

    Args:
        outcome: As the engine returned it.
        folder: Where the engine wrote the outputs.
        output: Where they are published.
        inputs: Inputs as they were named; None keeps those of the outcome.
    """
    names = list(outcome.inputs if inputs is None else inputs)
    is_asked = outcome.counts.dead_letters and outcome.format != AUTO
    alikes = look_alikes(folder / "dead_letters", outcome.format) if is_asked else None
    found = replace(outcome, inputs=names, output=output, look_alikes=alikes)
    write(found, folder)
    return found
