"""Messages to a log, batch by batch, in one process."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from itertools import chain
from typing import Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.applied import FIRST_REASONS, check_keys, too_many
from changewire.engines.arrow.batches import grouped
from changewire.engines.arrow.messages import Messages, opener
from changewire.engines.layout import CHANGE, DEAD_LETTER
from changewire.engines.log import log_rows, log_schema
from changewire.engines.merge.appended import AppendedLog
from changewire.engines.merge.delta import check_path
from changewire.engines.merge.facts import chosen_rows, columns_of
from changewire.engines.merge.tally import Tally
from changewire.engines.options import FileRun, Limit, allowed
from changewire.engines.outcome import Outcome
from changewire.engines.retries import retried
from changewire.engines.typed.decode import decoder_of
from changewire.tables.routing import Routing

BATCH_SIZE: Final = 50_000
_BATCH_BYTES: Final = 64 * 2**20
"""Bytes of decoded rows from which on a batch ends."""

_STDIN: Final = "-"


def land(files: Sequence[str], log: str, asked: FileRun) -> Outcome:
    """Append the elements of files to a log that lacks them; no table gets them.

    Standard input, ``-``, has another path in each run, so its records are always appended; a row
    of one run closes no dead letter of another one. The files and the log are absolute paths.
    """
    check_path(log)
    decoder = decoder_of(asked.decode_options, asked.row_schema)
    columns = log_schema(decoder.schema())
    tally = Tally(decoder, show_values=asked.show_values, progress=asked.progress)
    there = AppendedLog(log, columns)
    landing = Landing(there, asked.decode_options, asked.max_dead_letters)
    landed(landing, files, tally, shape=asked.shape, stdin=f"{_STDIN}#{uuid4().hex}")
    return tally.outcome(files, log)


def landed(
    landing: Landing,
    messages: Messages,
    tally: Tally,
    *,
    shape: str,
    batch_size: int = BATCH_SIZE,
    stdin: str | None = None,
) -> None:
    """Append the elements of messages to a log that lacks them, and count all of them.

    The log is created even if there is no message.

    `stdin` is the path that records of standard input get; without one they have no position.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size is a number from 1, not {batch_size}")
    read, _ = opener(messages, shape)
    placed = map(partial(_placed, stdin=stdin), read())
    decoded = chain.from_iterable(map(tally.decoder, placed))
    for rows in grouped(decoded, batch_size, _BATCH_BYTES):
        tally.add(rows)
        new = retried(landing.log.path, partial(landing.append, rows))
        tally.landed(len(rows) - new)
    retried(landing.log.path, landing.log.begin)


def _placed(records: pa.RecordBatch, stdin: str | None) -> pa.RecordBatch:
    """Return records with absolute paths, each at a position of its own."""
    columns = dict(zip(records.schema.names, records.columns, strict=True))
    if "path" in columns:
        encoded = columns["path"].dictionary_encode()
        whole = [
            stdin if name == _STDIN else name and os.path.abspath(name)  # noqa: PTH100 - no links
            for name in encoded.dictionary.to_pylist()
        ]
        paths = pa.array(whole, encoded.type.value_type)
        columns["path"] = paths.take(encoded.indices)
    nothing = pa.nulls(len(records))
    is_of_topic, is_of_file = (
        reduce(pc.and_, (pc.is_valid(columns.get(name, nothing)) for name in place))
        for place in (("topic", "partition", "offset"), ("path", "number"))
    )
    if len(records) and not pc.all(pc.or_(is_of_topic, is_of_file)).as_py():
        raise ValueError(
            "messages need positions, by which the log knows them again: topic, partition and "
            "offset, or path and number; give files, not standard input or bare messages"
        )
    return pa.RecordBatch.from_pydict(columns)


class Landing:
    """Appends decoded rows to a log, each element once.

    Attributes:
        log: The log.
        number: The number of the next batch, which errors name.
        has_keys: Whether the log of tables has a change with a key.
    """

    def __init__(
        self,
        log: AppendedLog,
        decode_options: DecodeOptions,
        max_dead_letters: Limit | None = None,
        routing: Routing | None = None,
    ) -> None:
        """Take a log; the routing is that of its tables, None without any."""
        self.number: int = 0
        self.log: AppendedLog = log
        self._decode_options, self._routing = decode_options, routing
        self._max_dead_letters = max_dead_letters
        self.has_keys: bool = routing is not None and log.has_keys()

    def append(
        self,
        rows: pa.Table,
        numbers: Mapping[str, int] | None = None,
        check: Callable[[], None] | None = None,
    ) -> int:
        """Append the rows that the log lacks, and return how many they are.

        The commit gives transactions their numbers; without rows and numbers nothing is committed.
        A check is called with the version of the log that the commit follows.
        """
        log = self.log
        log.refresh()
        if check is not None:
            check()
        new = log.lacking(rows)
        self._check_dead_letters(new)
        self._check_keys(new)
        if len(new) or numbers:
            log.append(log_rows(new), numbers)
        self.number += 1
        return len(new)

    def _check_dead_letters(self, new: pa.Table) -> None:
        limit = self._max_dead_letters
        if limit is None:
            return
        dead = new.filter(pc.equal(new["kind"], DEAD_LETTER))
        if len(dead) > allowed(limit, len(new)):
            first = dead.slice(0, FIRST_REASONS).to_pylist()
            raise too_many(limit, len(new), Counter(dead["code"].to_pylist()), first, self.number)

    def _check_keys(self, new: pa.Table) -> None:
        """Refuse changes without keys, of which no table could be made."""
        if self._routing is None:
            return
        chosen = chosen_rows(new, self._routing)
        is_change = pc.equal(chosen["kind"], CHANGE)
        is_keyless = pc.and_(is_change, pc.is_null(chosen["key"]))
        number, keyless = (pc.sum(which).as_py() or 0 for which in (is_change, is_keyless))
        check_keys(
            (number, keyless),
            self._decode_options.key_columns,
            lambda: columns_of(chosen.filter(is_change)),
            has_tables=self.has_keys,
        )
        self.has_keys = self.has_keys or keyless < number
