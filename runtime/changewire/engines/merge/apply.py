"""Messages to a log and its tables, batch by batch, in one process."""

from __future__ import annotations

import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import deltalake
import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes import Digests, Image, NullValue
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.applied import FIRST_REASONS, too_many
from changewire.engines.arrow.messages import Messages, opener
from changewire.engines.counts import Counts
from changewire.engines.effects import EffectsDecoder
from changewire.engines.layout import DEAD_LETTER
from changewire.engines.log import log_rows, refused_rows
from changewire.engines.merge.facts import known_log
from changewire.engines.merge.log import LocalLog, with_effects
from changewire.engines.merge.merging import Merges
from changewire.engines.merge.options import LocalOptions, local_options
from changewire.engines.options import MAX_NEW_TABLES, Limit, allowed
from changewire.engines.outcome import Outcome
from changewire.engines.python.groups import Letters, count, first_letters
from changewire.engines.retries import retried
from changewire.tables.routing import Refusal

BATCH_SIZE: Final = 50_000
_BATCH_BYTES: Final = 64 * 2**20
"""Bytes of decoded rows from which on a batch ends."""

_STDIN: Final = "-"


def apply_changes(
    messages: Messages,
    *,
    format: str,
    log: str,
    target: str,
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    null_value: NullValue = "control",
    time_zone: str = "UTC",
    strip_registry_prefix: bool = False,
    rows: Any = "json",
    schema_evolution: str = "add_columns",
    deletes: str = "remove",
    null_set: str | None = None,
    apply_as_truncates: bool = False,
    max_new_tables: int = MAX_NEW_TABLES,
    max_dead_letters: Limit | None = None,
    adopt: bool = False,
    shape: str = "auto",
    batch_size: int = BATCH_SIZE,
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Append every element of messages to a log, each once, and merge changes into tables.

    Log and tables are those of `changewire.spark.apply_changes`: a table has the newest change of
    each key in the log, as docs/tables.md says. A table that does not exist is created; it belongs
    to the log then.

    An element is left out of the log if the log has its position: topic, partition and offset, or
    path and number. So a run that was killed is run again, and a second run only adds. What the log
    has beyond the tables, by such a run or by another writer, is merged first.

    Memory holds one batch, the rows of the keys that need a look, and what delta-rs takes to
    rewrite files.

    Args:
        messages: What is decoded: a file or folder; a table with a column ``value``; or several
            files and `changewire.framing.Record`. All have positions.
        format: Public name of the format, or ``auto``: each message says which it has.
        log: Path of the log (it has a slash).
        target: Path of the tables, with ``{system}``, ``{database}``, ``{schema}`` and ``{table}``
            for names of the source, each made safe.
        image: What a message holds of its row after a write: ``full``, ``patch`` or ``keys``.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table.
        digests: ``count`` or ``refuse`` Aerospike records whose digest does not fit.
        null_value: What a record without value is: ``control`` or ``delete``.
        time_zone: IANA name of the zone whose clocks made the dates of DataWorks messages: that of
            the task that synchronizes.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values and record keys.
        rows: How tables have their rows: ``json`` text; columns of a type, as
            `changewire.arrow.decode` takes them; ``embedded``, the columns that the schema in each
            message declares; or a mapping from names of sources such as ``shop.orders`` to one of
            these, ``*`` for all others.
        schema_evolution: What becomes of a column that a table lacks: ``add_columns`` adds it,
            ``strict`` refuses the change. A wider type is refused by both: delta-rs widens no
            column.
        deletes: ``remove`` removes deleted rows from tables. ``flag`` keeps them with their key and
            ``_changewire.deleted``; the other columns are NULL. Then late changes need no look at
            the log.
        null_set: Table of writes that name none.
        apply_as_truncates: Whether a truncate removes the rows that are older.
        max_new_tables: How many tables a batch may bring; changes of others are refused.
        max_dead_letters: Greatest number, or share of the elements such as ``"5%"``, of dead
            letters in a batch; a batch with more is not written, and ends the run.
        adopt: Whether to take over tables that belong to another log or to a query.
        shape: Shape of files, see `changewire.framing.SHAPES`.
        batch_size: From how many elements on a batch ends; earlier if they are large.
        show_values: Whether the outcome's first dead letters show the start of their values.
        progress: Called after each batch with the number of messages so far.

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
    decode_options = DecodeOptions(
        format,
        image,
        keys,
        families,
        digests,
        null_value,
        time_zone=time_zone,
        strip_registry_prefix=strip_registry_prefix,
    )
    options = local_options(
        decode_options,
        log=log,
        target=target,
        rows=rows,
        schema_evolution=schema_evolution,
        deletes=deletes,
        null_set=null_set,
        apply_as_truncates=apply_as_truncates,
        max_new_tables=max_new_tables,
        max_dead_letters=max_dead_letters,
        adopt=adopt,
    )
    run = Run(options, show_values=show_values, progress=progress)
    return run.apply(messages, shape, batch_size)


class Run:
    """One run into a log and its tables.

    Attributes:
        options: How changes are applied.
        decoder: What decodes messages.
    """

    def __init__(
        self,
        options: LocalOptions,
        *,
        show_values: bool = False,
        progress: Callable[[int], None] | None = None,
        decoder: EffectsDecoder | None = None,
    ) -> None:
        """Open the log, and read what it has; the decoder is that of the options by default.

        Raises:
            OutputError: The log has other columns, or is not for delta-rs to read.
        """
        self.options = options
        self.decoder = options.decoder() if decoder is None else decoder
        self._show_values, self._progress = show_values, progress
        self._log = LocalLog(options.log, options.routing.template.text)
        known = known_log(self._log, options.routing, with_truncates=options.apply_as_truncates)
        self._merges = Merges(options, self._log, known)
        self._counts, self._first = Counts(), Letters()
        self._number = self._known = 0

    def apply(self, messages: Messages, shape: str, batch_size: int) -> Outcome:
        """Apply the changes of messages; the arguments and errors are those of `apply_changes`."""
        if batch_size < 1:
            raise ValueError(f"batch_size is a number from 1, not {batch_size}")
        started = time.perf_counter()
        read, _ = opener(messages, shape)
        decoded = chain.from_iterable(map(self.decoder, map(_placed, read())))
        self._catch_up()
        for rows in grouped(decoded, batch_size):
            self._batch(rows)
        self._log.finish()
        self._counts.checked()
        tables = dict(sorted((+self._merges.counts).items()))
        return Outcome(
            counts=self._counts,
            format=self.options.decode_options.format,
            inputs=[messages] if isinstance(messages, str) else [],
            output=self.options.log,
            engine=f"python {platform.python_version()}, delta-rs {deltalake.__version__}",
            seconds=time.perf_counter() - started,
            first_dead_letters=[letter for _, letter in self._first],
            tables=tables,
            native=None if self.decoder.kernel is None else self.decoder.kernel.counts,
            already_in_log=self._known,
        )

    def _batch(self, rows: pa.Table) -> None:
        for part in rows.to_batches():
            count(part, self._counts)
        self._first = first_letters(self._first, rows, show_values=self._show_values)
        new = retried(self._log.path, lambda: self._appended(rows))
        if len(new):
            refused = self._merges.merge(new)
            self._log.merged_to(self._log.version)
            self._refuse(new, refused)
        self._number += 1
        self._known += len(rows) - len(new)
        if self._progress is not None:
            self._progress(self._counts.messages)

    def _appended(self, rows: pa.Table) -> pa.Table:
        """Append the rows that the log lacks, and return them; all that it has is merged before.

        Raises:
            WriteConflictError: Another writer came first.
        """
        self._log.refresh()
        self._catch_up()
        new = self._log.lacking(rows)
        self._check_dead_letters(new)
        self._merges.check_keys(new)
        if len(new):
            self._log.append(log_rows(new))
        return new

    def _check_dead_letters(self, rows: pa.Table) -> None:
        """Refuse a batch that has too many dead letters.

        Raises:
            TooManyDeadLettersError: With how many there are, and the first reasons.
        """
        limit, dead = (
            self.options.max_dead_letters,
            rows.filter(pc.equal(rows["kind"], DEAD_LETTER)),
        )
        if limit is not None and len(dead) > allowed(limit, len(rows)):
            first = dead.slice(0, FIRST_REASONS).to_pylist()
            codes = Counter(dead["code"].to_pylist())
            raise too_many(limit, len(rows), codes, first, self._number)

    def _catch_up(self) -> None:
        """Merge what the log has and the tables do not."""
        version, refused = self._log.version, []
        if version <= self._log.merged:
            return
        for part in grouped(self._log.unmerged(), BATCH_SIZE):
            rows = with_effects(part)
            refused.append((rows, self._merges.merge(rows)))
        self._log.merged_to(version, has_rows=bool(refused))
        for rows, why in refused:
            self._refuse(rows, why)

    def _refuse(self, rows: pa.Table, refused: dict[int, Refusal]) -> None:
        """Append the rows that say why changes are refused.

        Last, so that no kill can lose one: an element may be refused twice.
        """
        if refused:
            found = refused_rows(rows, refused, self.options.decode_options.format)
            self._log.append_refused(found)


def grouped(batches: Iterable[pa.RecordBatch | pa.Table], rows: int) -> Iterator[pa.Table]:
    """Yield batches of one schema in groups, each of so many rows or more."""
    pending: list[pa.Table] = []
    number = size = 0
    for batch in batches:
        part = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        pending.append(part)
        number, size = number + len(part), size + part.nbytes
        if number >= rows or size >= _BATCH_BYTES:
            yield pa.concat_tables(pending)
            pending, number, size = [], 0, 0
    if number:
        yield pa.concat_tables(pending)


def _placed(records: pa.RecordBatch) -> pa.RecordBatch:
    """Return records with absolute paths, each at a position of its own.

    Raises:
        ValueError: Some have no position by which they would be known again.
    """
    columns = {name: records.column(name) for name in records.schema.names}
    nothing = pa.nulls(len(records))
    topic, partition, offset, path, number = (
        columns.get(name, nothing) for name in ("topic", "partition", "offset", "path", "number")
    )
    is_of_topic = pc.and_(pc.and_(pc.is_valid(topic), pc.is_valid(partition)), pc.is_valid(offset))
    is_of_file = pc.and_(pc.is_valid(path), pc.is_valid(number))
    if "path" in columns:
        names = path.to_pylist()
        is_of_file = pc.and_(is_of_file, pa.array([name != _STDIN for name in names], pa.bool_()))
        known = {name: name and os.path.abspath(name) for name in {*names}}  # noqa: PTH100 - no links
        columns["path"] = pa.array([known[name] for name in names], path.type)
    if not pc.all(pc.or_(is_of_topic, is_of_file)).as_py() and len(records):
        raise ValueError(
            "messages need positions, by which the log knows them again: topic, partition and "
            "offset, or path and number; give files, not standard input or bare messages"
        )
    return pa.RecordBatch.from_pydict(columns)
