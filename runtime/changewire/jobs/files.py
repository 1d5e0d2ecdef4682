"""Jobs on files: to tables of changes by either engine, or merged into Delta tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from changewire.changes import Digests, Image, NullValue
from changewire.changes.decode_options import DecodeOptions, ElementsAs
from changewire.engines.layout import OUTPUTS, OUTPUTS_AS
from changewire.engines.options import Engine, TableOptions
from changewire.engines.outcome import Outcome
from changewire.engines.staging import staging
from changewire.framing import FramingError
from changewire.jobs.checks import (
    REPORTS,
    JobError,
    check_output,
    check_rows,
    choose_engine,
    declared_rows,
    files_of,
)

if TYPE_CHECKING:
    from changewire.engines.typed.schemas import RowsAs


def run(
    inputs: Sequence[str],
    output: str,
    *,
    format: str,
    engine: Engine = "auto",
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    null_value: NullValue = "control",
    time_zone: str = "UTC",
    elements_as: ElementsAs = "changes",
    strip_registry_prefix: bool = False,
    rows: RowsAs = "json",
    shape: str = "auto",
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Outcome:
    """Decode files into Parquet tables and write a report beside them.

    Args:
        inputs: Files or folders; ``-`` is standard input, which only the Python engine reads.
        output: Local folder for ``changes``, ``controls``, ``dead_letters``, ``report.json`` and
            ``report.html``; for ``messages`` in place of the first two, if elements are kept as
            messages. Those are replaced, other files in it stay.
        format: Public name of the format; ``auto`` takes for each message the one that it says
            it has, for topics that carry several.
        engine: ``auto`` takes Spark if it can run, and otherwise Python.
        image: What a message holds of its row after a write.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table, to take names of its columns apart.
        digests: ``count`` or ``refuse`` Aerospike records whose digest is not that of their set and
            user key.
        null_value: What a Kafka record without value is: ``control``, an event that changes
            nothing, or ``delete``, of the row that its key names.
        time_zone: IANA name of the zone whose clocks made the dates of DataWorks messages: that of
            the task that synchronizes.
        elements_as: ``changes``, or ``messages``: typed columns that hold the messages as they are,
            to which the options from `image` to `time_zone`, and `rows`, do not apply.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values and record keys.
        rows: What ``before`` and ``after`` are: ``json``, exact text; or columns, by a
            `pyarrow.Schema` or a schema of the row, as `changewire.arrow.decode` takes them; or
            ``embedded``, all columns that the schemas in the messages declare, which are read once
            for it.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
        show_values: Whether the report's first dead letters show the start of their values.
        progress: Called by the Python engine, now and then, with the number of messages so far.
        notice: Called with one sentence if ``auto`` does not take Spark.

    Raises:
        FramingError: An input cannot be read.
        JobError: The engine cannot run, `rows` is something else, or the output would replace files
            that no run wrote; or Spark failed, whose traceback is then in ``failure.txt`` in the
            output.
        ConservationError: The decoded rows do not add up.
        ImportError: A library is missing; its extra is ``cli``, ``spark``, ``digest`` or
            ``codegen``.
        ValueError: There is no such format, image, shape or engine.
    """
    return run_files(
        inputs,
        output,
        DecodeOptions(
            format,
            image,
            keys,
            families,
            digests,
            null_value,
            elements_as,
            time_zone=time_zone,
            strip_registry_prefix=strip_registry_prefix,
        ),
        rows=rows,
        engine=engine,
        shape=shape,
        show_values=show_values,
        progress=progress,
        notice=notice,
    )


def run_files(
    inputs: Sequence[str],
    output: str,
    decode_options: DecodeOptions,
    *,
    rows: RowsAs = "json",
    engine: str = "auto",
    shape: str = "auto",
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> Outcome:
    """Decode files into Parquet tables, as `run` does."""
    from changewire.jobs.reported import reported

    files = files_of(inputs)
    check_output(Path(output), files, decode_options.elements_as)
    if isinstance(rows, str) and rows == "embedded":
        rows = declared_rows(files, decode_options, shape)
    check_rows(rows, decode_options)
    chosen, why = choose_engine(engine, files)
    if why and notice is not None:
        notice(why)
    with staging(output, (*OUTPUTS_AS[decode_options.elements_as], *REPORTS)) as folder:
        if chosen == "spark":
            outcome = _in_spark(
                files,
                folder,
                output,
                decode_options,
                rows=rows,
                shape=shape,
                show_values=show_values,
            )
        else:
            from changewire.engines import python

            outcome = python.run(
                files,
                str(folder),
                decode_options=decode_options,
                rows=rows,
                shape=shape,
                show_values=show_values,
                progress=progress,
            )
        return reported(outcome, folder, output=output, inputs=inputs)


def merge_files(
    inputs: Sequence[str],
    output: str,
    decode_options: DecodeOptions,
    table_options: TableOptions,
    *,
    checkpoint: str,
    shape: str = "auto",
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Apply the changes of files to Delta tables by delta-rs, and write a report.

    The inputs and the output are those of `run`; `changewire.delta.apply_changes` says what the
    tables and the checkpoint hold.

    Raises:
        FramingError: An input cannot be read.
        JobError: An argument or a table does not fit, other writers kept changing a table, or the
            output would replace files that no run wrote.
        ConservationError: The decoded rows do not add up.
        ImportError: A library is missing; its extra is ``cli`` or ``delta``.
    """
    from changewire.delta import StreamError  # says which library is missing
    from changewire.engines.delta.apply import apply_messages
    from changewire.jobs.reported import reported

    files = files_of(inputs)
    check_output(Path(output), files)
    with staging(output, (*OUTPUTS, *REPORTS)) as folder:
        try:
            outcome = apply_messages(
                files,
                str(folder),
                decode_options,
                table_options,
                checkpoint=checkpoint,
                shape=shape,
                show_values=show_values,
                progress=progress,
            )
        except (StreamError, ValueError) as error:
            raise JobError(str(error)) from None
        return reported(outcome, folder, output=output, inputs=inputs)


def _in_spark(
    files: Sequence[str],
    folder: Path,
    output: str,
    decode_options: DecodeOptions,
    *,
    rows: RowsAs,
    shape: str,
    show_values: bool,
) -> Outcome:
    """Run the Spark engine; what a worker cannot read is a `FramingError` here as well.

    Tables are written to a folder, and the traceback of a failure to the output.
    """
    from changewire.engines.spark import run as engine
    from changewire.engines.spark.failure import failure
    from changewire.engines.spark.raised import RAISED

    try:
        return engine.run(
            files,
            str(folder.absolute()),
            decode_options=decode_options,
            rows=rows,
            shape=shape,
            show_values=show_values,
        )
    except RAISED as error:
        # Spark hands on no exception of a worker, only its traceback as text.
        for file in files:
            found = re.search(
                rf"FramingError: {re.escape(file)}(?:, record (\d+)[^:]*)?: (.+)", str(error)
            )
            if found:
                number = int(found[1]) if found[1] else None
                raise FramingError(file, number, found[2]) from error
        text = failure("the run failed", error, output, {}, show_values=show_values)
        raise JobError(text) from None
