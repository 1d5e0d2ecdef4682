"""Jobs on files: appended to a log by either engine, or also merged into Delta tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from changewire.changes import Digests, Image, NullValue
from changewire.changes.decode_options import DecodeOptions, ElementsAs
from changewire.engines.options import Engine, Limit, TableOptions, log_of
from changewire.engines.outcome import Outcome
from changewire.framing import FramingError
from changewire.jobs.checks import (
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
    """Append what files hold to a Parquet log, and write a report beside it.

    The log has a row for each element of each message, whose ``kind`` is ``change``, ``control`` or
    ``dead_letter``. An element is left out if the log has it already, by path and number of its
    record. So a run that was killed is run again, and runs of other files add up. Standard input
    has no such positions: its elements are always appended.

    Args:
        inputs: Files or folders; ``-`` is standard input, which only the Python engine reads.
        output: Local folder for the log, ``log``, which is a folder of Parquet files; and for
            ``report.json`` and ``report.html``, which are those of this run. Other files in it
            stay.
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
        JobError: The engine cannot run, `rows` is something else, or the log has other columns or
            another format, or another run writes to it; or Spark failed, whose traceback is then
            in ``failure.txt`` in the output.
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
    """Append what files hold to a Parquet log, as `run` does."""
    from changewire.jobs.reported import reported

    files = files_of(inputs)
    check_output(Path(output), files)
    if isinstance(rows, str) and rows == "embedded":
        rows = declared_rows(files, decode_options, shape)
    check_rows(rows, decode_options)
    chosen, why = choose_engine(engine, files)
    if why and notice is not None:
        notice(why)
    log = log_of(str(Path(output).absolute()), "parquet")
    how = {"decode_options": decode_options, "rows": rows, "shape": shape}
    if chosen == "spark":
        outcome = _in_spark(files, log, output, how, show_values=show_values)
    else:
        outcome = _in_python(files, log, how, show_values=show_values, progress=progress)
    return reported(outcome, output=output, inputs=inputs)


def merge_files(
    inputs: Sequence[str],
    output: str,
    decode_options: DecodeOptions,
    table_options: TableOptions,
    *,
    max_dead_letters: Limit | None = None,
    shape: str = "auto",
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Append what files hold to a log of Delta, merge it into tables, and write a report.

    The inputs and the output are those of `run`; `changewire.delta.apply_changes` says what tables
    and log hold.

    Args:
        inputs: Files or folders.
        output: Local folder for the log and the report.
        decode_options: The format of the messages, and what they do not say themselves.
        table_options: Which tables changes are merged into.
        max_dead_letters: How many dead letters a batch may have; None for any number.
        shape: Shape of the files.
        show_values: Whether the report's first dead letters show the start of their values.
        progress: Called after each batch with the number of messages so far.

    Raises:
        FramingError: An input cannot be read.
        JobError: An argument, the log or a table does not fit, a batch has too many dead letters,
            or other writers kept changing a table.
        ConservationError: The decoded rows do not add up.
        ImportError: A library is missing; its extra is ``cli`` or ``delta``.
    """
    from changewire.delta import StreamError  # says which library is missing
    from changewire.engines.merge.apply import BATCH_SIZE, Run
    from changewire.engines.merge.options import local_options
    from changewire.jobs.reported import reported

    files = files_of(inputs)
    check_output(Path(output), files)
    asked = dict(vars(table_options))
    if asked.pop("view") is not None:
        raise JobError("views are made by Spark; a run without it has none")
    log = log_of(str(Path(output).absolute()), "delta")
    try:
        options = local_options(decode_options, log=log, max_dead_letters=max_dead_letters, **asked)
        run = Run(options, show_values=show_values, progress=progress)
        outcome = run.apply(files, shape, BATCH_SIZE)
    except (StreamError, ValueError) as error:
        raise JobError(str(error)) from None
    return reported(outcome, output=output, inputs=inputs)


def _in_python(
    files: Sequence[str],
    log: str,
    how: Mapping[str, Any],
    *,
    show_values: bool,
    progress: Callable[[int], None] | None,
) -> Outcome:
    """Run the engine without Spark."""
    from changewire.engines import python
    from changewire.engines.errors import OutputError

    try:
        return python.run(files, log, **how, show_values=show_values, progress=progress)
    except OutputError as error:
        raise JobError(str(error)) from None


def _in_spark(
    files: Sequence[str],
    log: str,
    output: str,
    how: Mapping[str, Any],
    *,
    show_values: bool,
) -> Outcome:
    """Run the Spark engine; what a worker cannot read is a `FramingError` here as well.

    The traceback of a failure is written to the output.
    """
    from changewire.engines.errors import OutputError
    from changewire.engines.spark import run as engine
    from changewire.engines.spark.cause import failure
    from changewire.engines.spark.jvm import RAISED

    try:
        return engine.run(files, log, **how, show_values=show_values)
    except OutputError as error:
        raise JobError(str(error)) from None
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
