"""Files to a log by either engine, or also to the tables of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from changewire.changes.decode_options import DecodeKeywords, DecodeOptions, ElementsAs
from changewire.engines.errors import JobError
from changewire.engines.options import Engine, FileRun, log_of
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
    packages: str | None = None,
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[DecodeKeywords],
) -> Outcome:
    """Append the contents of files to a log of Delta, and write a report next to it.

    The log has a row for each element of each message, whose ``kind`` is ``change``, ``control`` or
    ``dead_letter``. An element is left out if the log has it already, by path and number of its
    record. So a run that was killed is run again, and runs of other files add up. An element of
    which the log has dead letters alone is read again if it is valid, or has other bytes. The path
    of standard input is of this run alone, ``-#`` and an id: its elements are always appended.

    Args:
        inputs: Files or folders; ``-`` is standard input, which only the Python engine reads.
        output: Local folder for the log, ``log``, which is a table of Delta; and for
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
        packages: Maven coordinates of Delta for a session of Spark that is started; by default a
            session has it by its own settings.
        show_values: Whether the report's first dead letters show the start of their values.
        progress: Called by the Python engine, now and then, with the number of messages so far.
        **options: Facts that messages lack, see `DecodeKeywords`.

    Raises:
        FramingError: An input cannot be read.
        JobError: The engine cannot run, `row_schema` is something else, or the log has other
            columns or another format; or Spark failed, whose traceback is then in ``failure.txt``
            in the output.
        ConservationError: The decoded rows do not add up.
        ImportError: A library is missing; its extra is ``cli``, ``delta``, ``spark``, ``digest``
            or ``codegen``.
        ValueError: There is no such format, image, shape or engine.
    """
    asked = FileRun(
        DecodeOptions(format, elements_as=elements_as, **options),
        row_schema=row_schema,
        engine=engine,
        shape=shape,
        packages=packages,
        show_values=show_values,
        progress=progress,
    )
    return run_files(inputs, output, asked)


def run_files(inputs: Sequence[str], output: str, asked: FileRun) -> Outcome:
    """Append the contents of files to a log, as `run` does, or also merge it into tables."""
    files = files_of(inputs)
    check_output(Path(output), files)
    check_engine(asked.engine, files)
    row_schema = asked.row_schema
    if isinstance(row_schema, str) and row_schema == "embedded":
        row_schema = declared_rows(files, asked.decode_options, asked.shape)
    check_rows(row_schema, asked.decode_options)
    engine = _in_spark if asked.engine == "spark" else _here
    outcome = engine(files, str(Path(output).absolute()), replace(asked, row_schema=row_schema))
    return reported(outcome, output=output, inputs=inputs)


def _here(files: Sequence[str], output: str, asked: FileRun) -> Outcome:
    """Run in this process."""
    from changewire.delta import StreamError  # says which library is missing
    from changewire.engines.merge.apply import run_files as engine

    try:
        return engine(files, log_of(output, "delta"), asked)
    except (StreamError, ValueError) as error:
        raise JobError(str(error)) from None


def _in_spark(files: Sequence[str], output: str, asked: FileRun) -> Outcome:
    """Run in Spark."""
    from changewire.engines.spark.run import run_files as engine

    if asked.table_options is not None:
        _check_owner(log_of(output, "delta"), asked.table_options.target)
    with spark_errors("the run failed", output, {}, show_values=asked.show_values):
        return _with_framing(files, lambda: engine(files, output, asked))


def _check_owner(log: str, target: str) -> None:
    """Refuse tables that runs without Spark made, before anything is landed for them."""
    if find_spec("deltalake") is None:
        return
    from changewire.engines.merge.log import has_tables

    if has_tables(log, target):
        raise JobError(
            f"{target}: expected tables of Spark, found those of runs without it; use --engine "
            "python, or choose another target"
        )


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
