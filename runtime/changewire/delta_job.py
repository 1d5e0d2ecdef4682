"""The main job into Delta tables without Spark: files in, tables merged into, and a report out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from changewire.changes.reading import Reading
from changewire.engines.outcome import Outcome
from changewire.job import JobError, check_output, files_of


def run_delta(
    inputs: Sequence[str],
    output: str,
    *,
    reading: Reading,
    checkpoint: str,
    tables: Mapping[str, Any],
    shape: str = "auto",
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Apply the changes of files to Delta tables by delta-rs, and write a report beside the rest.

    What becomes of the output is told by `changewire.job.run`, what becomes of the tables by
    `changewire.delta.apply_changes`.

    Args:
        inputs: Files or folders; ``-`` is standard input.
        output: Local folder for ``changes``, ``controls``, ``dead_letters`` and the report.
        reading: The format of the messages, and what they do not say themselves.
        checkpoint: Folder that keeps what is known of tables.
        tables: Arguments of `changewire.delta.apply_changes` that tell of tables, with ``target``.
        shape: Shape of the files.
        show_values: Whether the report's first dead letters show the start of their values.
        progress: Called after each batch with the number of messages so far.

    Raises:
        FramingError: An input cannot be read.
        JobError: An argument or a table does not fit, other writers did not let it be done, or the
            output would replace files that no run wrote.
        ConservationError: The decoded rows do not add up.
        ImportError: A library is missing; its extra is ``cli`` or ``delta``.
    """
    from changewire import delta
    from changewire.report.write import write

    files = files_of(inputs)
    check_output(Path(output), files)
    try:
        outcome = delta.apply_changes(
            files,
            output=output,
            checkpoint=checkpoint,
            shape=shape,
            show_values=show_values,
            progress=progress,
            **asdict(reading),
            **tables,
        )
    except (delta.StreamError, ValueError) as error:
        raise JobError(str(error)) from None
    outcome = replace(outcome, inputs=list(inputs))
    write(outcome)
    return outcome
