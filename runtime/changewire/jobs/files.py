"""Jobs on files: appended to a log by either engine, or also merged into Delta tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from changewire.changes.decode_options import DecodeKeywords, DecodeOptions, ElementsAs
from changewire.engines.errors import JobError
from changewire.engines.options import (
    AVAILABLE_NOW,
    CHECKPOINT,
    Engine,
    StreamListener,
    StreamOptions,
    StreamRun,
    TableOptions,
    log_of,
)
from changewire.engines.outcome import Outcome
from changewire.framing import FramingError
from changewire.jobs.checks import (
    check_engine,
    check_output,
    check_rows,
    declared_rows,
    files_of,
)
from changewire.jobs.topics import reported, spark_errors

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from changewire.engines.typed.schemas import RowsAs


def run(
    inputs: Sequence[str],
    output: str,
    *,
    format: str,
    engine: Engine = "python",
    elements_as: ElementsAs = "changes",
    row_schema: RowsAs = "json",
    shape: str = "auto",
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[DecodeKeywords],
) -> Outcome:
    """Append the contents of files to a Parquet log, and write a report next to it.

    The log has a row for each element of each message, whose ``kind`` is ``change``, ``control`` or
    ``dead_letter``. An element is left out if the log has it already, by path and number of its
    record. So a run that was killed is run again, and runs of other files add up. An element of
    which the log has dead letters alone is read again if it is valid, or has other bytes. The path
    of standard input is of this run alone, ``-#`` and an id: its elements are always appended.

    Args:
        inputs: Files or folders; ``-`` is standard input, which only the Python engine reads.
        output: Local folder for the log, ``log``, which is a folder of Parquet files; and for
            ``report.json`` and ``report.html``, which are those of this run. Other files in it
            stay.
        format: Public name of the format; ``auto`` takes for each message the one that it says
            it has, for topics that carry several.
        engine: ``python``, which is one process; or ``spark``, with the same result.
        elements_as: ``changes``, or ``messages``: typed columns that have the messages as they are,
            to which only `strip_registry_prefix` of the options applies.
        row_schema: What ``before`` and ``after`` are: ``json``, exact text; or columns, by a
            `pyarrow.Schema` or a schema of the row, as `changewire.arrow.decode` takes them; or
            ``embedded``, all columns that the schemas in the messages declare, which are read once
            for it.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
        show_values: Whether the report's first dead letters show the start of their values.
        progress: Called by the Python engine, now and then, with the number of messages so far.
        **options: Facts that messages lack, see `DecodeKeywords`.

    Raises:
        FramingError: An input cannot be read.
        JobError: The engine cannot run, `row_schema` is something else, or the log has other
            columns or another format, or another run writes to it; or Spark failed, whose traceback
            is then in ``failure.txt`` in the output.
        ConservationError: The decoded rows do not add up.
        ImportError: A library is missing; its extra is ``cli``, ``spark``, ``digest`` or
            ``codegen``.
        ValueError: There is no such format, image, shape or engine.
    """
    return run_files(
        inputs,
        output,
        DecodeOptions(format, elements_as=elements_as, **options),
        row_schema=row_schema,
        engine=engine,
        shape=shape,
        show_values=show_values,
        progress=progress,
    )


def run_files(
    inputs: Sequence[str],
    output: str,
    decode_options: DecodeOptions,
    *,
    row_schema: RowsAs = "json",
    engine: str = "python",
    shape: str = "auto",
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Append the contents of files to a Parquet log, as `run` does."""
    files = files_of(inputs)
    check_output(Path(output), files)
    if isinstance(row_schema, str) and row_schema == "embedded":
        row_schema = declared_rows(files, decode_options, shape)
    check_rows(row_schema, decode_options)
    check_engine(engine, files)
    log = log_of(str(Path(output).absolute()), "parquet")
    how: dict[str, Any] = {
        "decode_options": decode_options,
        "row_schema": row_schema,
        "shape": shape,
        "show_values": show_values,
    }
    if engine == "spark":
        with spark_errors("the run failed", output, {}, show_values=show_values):
            outcome = _in_spark(files, log, how)
    else:
        from changewire.engines import python
        from changewire.engines.errors import OutputError

        try:
            outcome = python.run(files, log, **how, progress=progress)
        except OutputError as error:
            raise JobError(str(error)) from None
    return reported(outcome, output=output, inputs=inputs)


def merge_files(
    inputs: Sequence[str],
    output: str,
    decode_options: DecodeOptions,
    table_options: TableOptions,
    *,
    shape: str = "auto",
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Append the contents of files to a log of Delta, merge it into tables, and write a report.

    The arguments are those of `run`, with the tables that changes are merged into, and how many
    dead letters a batch may have; `changewire.delta.apply_changes` says the contents of tables and
    log.
    """
    from changewire.delta import StreamError  # says which library is missing
    from changewire.engines.decode import Decoder
    from changewire.engines.merge.apply import BATCH_SIZE, Run
    from changewire.engines.merge.options import local_options

    files = files_of(inputs)
    check_output(Path(output), files)
    log = log_of(str(Path(output).absolute()), "delta")
    try:
        options = local_options(decode_options, table_options, log=log)
        decoder = Decoder(decode_options)
        run = Run(options, decoder, show_values=show_values, progress=progress)
        outcome = run.apply(files, shape, BATCH_SIZE)
    except (StreamError, ValueError) as error:
        raise JobError(str(error)) from None
    return reported(outcome, output=output, inputs=inputs)


def merge_files_in_spark(
    inputs: Sequence[str],
    output: str,
    decode_options: DecodeOptions,
    table_options: TableOptions,
    *,
    packages: str | None = None,
    notice: Callable[[str], None] | None = None,
    shape: str = "auto",
    show_values: bool = False,
) -> Outcome:
    """Do what `merge_files` does in Spark."""
    files = files_of(inputs)
    check_output(Path(output), files)
    check_engine("spark", files)
    place = str(Path(output).absolute())
    log, checkpoint = log_of(place, "delta"), f"{place}/{CHECKPOINT}"
    if Path(log).exists() and not Path(checkpoint).exists():
        raise JobError(
            f"{log}: expected a log of Spark, with {checkpoint}, found a log without it; use "
            "--engine python, or choose another output"
        )
    from changewire.engines.spark.run import run_tables

    stream = StreamOptions(log, checkpoint, "delta", AVAILABLE_NOW, None, StreamListener(notice))
    asked = StreamRun(decode_options, stream, table_options, packages, show_values)
    with spark_errors("the run failed", output, {}, show_values=show_values):
        outcome = _with_framing(
            files, lambda: run_tables(files, output, asked, table_options, shape=shape)
        )
    return reported(replace(outcome, output=log), output=output, inputs=inputs)


def _in_spark(files: Sequence[str], log: str, how: Mapping[str, Any]) -> Outcome:
    """Run the Spark engine."""
    from changewire.engines.spark import run as engine

    return _with_framing(files, lambda: engine.run(files, log, **how))


def _with_framing(files: Sequence[str], job: Callable[[], Outcome]) -> Outcome:
    """Run a job in Spark; an input that a worker cannot read is a `FramingError` here as well."""
    from changewire.engines.spark.jvm import RAISED

    try:
        return job()
    except RAISED as error:
        # Spark hands on no exception of a worker, only its traceback as text.
        for file in files:
            found = re.search(
                rf"FramingError: {re.escape(file)}(?:, record (\d+)[^:]*)?: (.+)", str(error)
            )
            if found:
                number = int(found[1]) if found[1] else None
                raise FramingError(file, number, found[2]) from error
        raise
