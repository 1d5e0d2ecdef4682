"""Messages to a log and its tables, batch by batch, in one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from changewire.engines.arrow.messages import Messages
from changewire.engines.by_table import Applied
from changewire.engines.decode import Decoder
from changewire.engines.merge.applying import applied
from changewire.engines.merge.land import BATCH_SIZE, Landing, land, landed
from changewire.engines.merge.log import LocalLog, log_there
from changewire.engines.merge.options import LocalOptions, local_options
from changewire.engines.merge.tally import Tally
from changewire.engines.options import (
    ApplyKeywords,
    FileRun,
    TableKeywords,
    TableOptions,
    asked,
)
from changewire.engines.outcome import Outcome

if TYPE_CHECKING:
    from typing_extensions import Unpack


def apply_changes(
    messages: Messages,
    *,
    format: str,
    log: str,
    target: str,
    adopt_table: bool = False,
    shape: str = "auto",
    batch_size: int = BATCH_SIZE,
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[ApplyKeywords],
) -> Outcome:
    """Append every element of messages to a log, each once, and merge changes into tables.

    Log and tables are those of `changewire.spark.apply_changes`: a table has the newest change of
    each key in the log, as docs/concepts/tables.md says. A table that does not exist is created; it
    belongs to the log then.

    All messages are appended to the log first, and then `apply_log` merges its changes that tables
    lack, so nothing about a table keeps a message out of the log.

    An element is left out of the log if the log has its position: topic, partition and offset, or
    path and number; in captures of kcat or rpk all of these, so what two of them have is in the
    log twice, and changes no row the second time. But if the log has dead letters alone there, an
    element is left out only if it is a dead letter of the same bytes. So a run that was killed is
    run again, and a second run only adds.

    One batch, the rows of the keys that need a look, and the files that delta-rs rewrites must fit
    into memory.

    Args:
        messages: What is decoded: a file or folder; a table with a column ``value``; or several
            files and `changewire.framing.Record`. All have positions.
        format: Public name of the format, or ``auto``: each message says which it has.
        log: Path of the log (it has a slash).
        target: Path of the tables, with ``{system}``, ``{database}``, ``{schema}`` and ``{table}``
            for names of the source, each made safe.
        adopt_table: Whether to take over tables that belong to another log or to a query.
        shape: Shape of files, see `changewire.framing.SHAPES`.
        batch_size: From how many elements on a batch ends; earlier if they are large.
        show_values: Whether the outcome's first dead letters show the start of their values.
        progress: Called after each batch with the number of messages so far.
        **options: Facts that messages lack, and how tables are written, see
            `ApplyKeywords`. delta-rs makes no view, and widens no column: values of a wider type
            are rescued or refused.

    Returns:
        What the run held; in ``tables`` what it did to tables; in ``already_in_log`` how many
        elements were left out of the log.

    Raises:
        ValueError: An argument is not valid, a path is none that delta-rs takes, or messages have
            no positions.
        TypeError: `messages` is nothing that can be read.
        FramingError: A file cannot be read.
        KeysMissingError: No change has a key, so that no row is known.
        TooManyDeadLettersError: A batch has more than `max_dead_letters`; it was not written.
        OwnerError: A table belongs to another log or to a query.
        OutputError: A table or the log has other columns, or is not for delta-rs to read or write.
        ConflictError: Other writers changed a table or the log again and again.
        ConservationError: The decoded rows do not add up.
        ImportError: The rows are a JSON Schema, and the extra ``codegen`` is not installed.
    """
    decode_options, tables = asked(format, target, options)
    how = local_options(decode_options, tables, log=log, adopt_table=adopt_table)
    run = Run(how, Decoder(decode_options), show_values=show_values, progress=progress)
    return run.apply(messages, shape, batch_size)


def apply_log(
    log: str,
    *,
    target: str,
    adopt_table: bool = False,
    **options: Unpack[TableKeywords],
) -> Mapping[str, int]:
    """Merge the changes of a log that tables lack into them: the second half of `apply_changes`.

    The log may be landed by any engine. It remembers up to which of its versions the tables of a
    target have it, so a call that was killed is made again, and a new target gets all of the log.

    Args:
        log: Path of the log (it has a slash).
        target: As for `apply_changes`.
        adopt_table: Whether to take over tables that belong to another log or to a query.
        **options: How tables are written, see `TableKeywords`.

    Returns:
        What became of the changes in tables, as `Outcome.tables`.

    Raises:
        ValueError: An argument is not valid, or delta-rs does not take a path.
        OwnerError: A table belongs to another log or to a query.
        OutputError: The log does not exist; or a table or the log has other columns, or is not for
            delta-rs to read or write.
        ConflictError: Other writers changed a table or the log again and again.
        ImportError: The rows are a JSON Schema, and the extra ``codegen`` is not installed.
    """
    return applied_log(log, TableOptions(target, **options), adopt_table=adopt_table).counts


def applied_log(log: str, tables: TableOptions, *, adopt_table: bool = False) -> Applied:
    """Merge the changes of a log that tables lack, as `apply_log` does."""
    how = local_options(None, tables, log=log, adopt_table=adopt_table)
    return applied(log_there(how), how)


def run_files(files: Sequence[str], log: str, asked: FileRun) -> Outcome:
    """Land files in a log, and merge it into tables if there are such; paths are absolute."""
    if asked.table_options is None:
        return land(files, log, asked)
    options = local_options(asked.decode_options, asked.table_options, log=log)
    decoder = Decoder(asked.decode_options)
    run = Run(options, decoder, show_values=asked.show_values, progress=asked.progress)
    return run.apply(files, asked.shape, BATCH_SIZE)


class Run:
    """One run into a log and its tables: all messages are landed first, then they are applied."""

    def __init__(
        self,
        options: LocalOptions,
        decoder: Decoder,
        *,
        show_values: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Open the log."""
        self._options, self._decoder = options, decoder
        self._show_values, self._progress = show_values, progress
        self._log = LocalLog(options.log, options.routing.template.text)
        self._landing = Landing(
            *(self._log, decoder.decode_options, options.tables.max_dead_letters, options.routing)
        )

    def apply(self, messages: Messages, shape: str, batch_size: int) -> Outcome:
        """Apply the changes of messages; the arguments and errors are those of `apply_changes`."""
        tally = Tally(self._decoder, show_values=self._show_values, progress=self._progress)
        landed(self._landing, messages, tally, shape=shape, batch_size=batch_size)
        done = applied(self._log, self._options)
        inputs = [messages] if isinstance(messages, str) else []
        return tally.outcome(inputs, self._options.log, done)
