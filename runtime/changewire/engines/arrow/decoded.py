"""Decoded messages as Arrow streams: each element in exactly one of them, and counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from changewire.engines.arrow.groups import count
from changewire.engines.counts import Counts, MessageCounts
from changewire.engines.decode import Decoder
from changewire.engines.elements import output_of
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER, MESSAGE
from changewire.engines.messages import counts_of


class Tables(NamedTuple):
    """Decoded messages in memory.

    Attributes:
        changes: Changes of rows.
        controls: Control events.
        dead_letters: Rejected elements.
        counts: Checked counts: ``elements = changes + controls + dead_letters``.
    """

    changes: pa.Table
    controls: pa.Table
    dead_letters: pa.Table
    counts: Counts


class MessageTables(NamedTuple):
    """Messages in memory.

    Attributes:
        messages: Messages as typed columns.
        dead_letters: Rejected elements.
        counts: Checked counts: ``elements = valid + dead_letters``.
    """

    messages: pa.Table
    dead_letters: pa.Table
    counts: MessageCounts


class Stream:
    """Rows that are decoded while they are read, in memory that stays flat.

    It is read as often as it is asked for: by `reader`, by iteration, or by any library that takes
    Arrow streams (``pa.table(stream)``, ``polars.from_arrow(stream)``, a query of DuckDB). Each
    reading decodes the messages again, and ends with `ConservationError` if they do not add up.

    Attributes:
        schema: Its columns.
    """

    def __init__(self, schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        """Remember what yields the rows."""
        self.schema = schema
        self._batches = batches

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows, to be read once."""
        return pa.RecordBatchReader.from_batches(self.schema, self._batches())

    def read_all(self) -> pa.Table:
        """Return all rows, in memory."""
        return self.reader().read_all()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._batches()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the rows as https://arrow.apache.org/docs/format/CDataInterface says."""
        return self.reader().__arrow_c_stream__(requested_schema)


class Streams:
    """What decoded changes and messages share."""

    def __init__(
        self,
        messages: Callable[[], Iterator[pa.RecordBatch]],
        decoder: Decoder,
        *,
        is_lasting: bool,
    ) -> None:
        """Remember the batches of messages, which may be read once only, and what decodes them."""
        self._messages = messages
        self._decoder = decoder
        self._can_be_read = True
        self._is_lasting = is_lasting
        self._counts: Counts | None = None

    @property
    def rows(self) -> Stream:
        """One row for each element, with its `kind`."""
        return Stream(self._decoder.schema(), self._decoded)

    @property
    def dead_letters(self) -> Stream:
        """Rejected elements: code, place and reason, next to the raw key and value."""
        return self._of_kind(DEAD_LETTER)

    @property
    def counts(self) -> Counts:
        """Checked counts, of the last reading that came to its end; without one it reads.

        Raises:
            ConservationError: Decoded rows do not add up.
        """
        while self._counts is None:
            deque(self._decoded(), maxlen=0)
        return self._counts

    def _tables(self) -> list[pa.Table]:
        """Return the rows of each kind, in the order of the kinds, from one reading."""
        kinds = self._decoder.kinds
        found: dict[str, list[pa.RecordBatch]] = {kind: [] for kind in kinds}
        for rows in self._decoded():
            for kind, parts in found.items():
                parts.append(output_of(rows, kind))
        return [pa.Table.from_batches(each, self._of_kind(k).schema) for k, each in found.items()]

    def _of_kind(self, kind: str) -> Stream:
        def chosen() -> Iterator[pa.RecordBatch]:
            for rows in self._decoded():
                found = output_of(rows, kind)
                if len(found):
                    yield found

        empty = pa.RecordBatch.from_pylist([], self._decoder.schema())
        return Stream(output_of(empty, kind).schema, chosen)

    def _decoded(self) -> Iterator[pa.RecordBatch]:
        if not self._can_be_read:
            raise ValueError("these messages can be read only once: use tables(), or give a list")
        self._can_be_read = self._is_lasting
        counts = counts_of(self._decoder.decode_options)
        for batch in self._messages():
            for rows in self._decoder(batch):
                count(rows, counts)
                yield rows
        self._counts = counts.checked()


class DecodedStreams(Streams):
    """Decoded messages: every element is a change, a control event or a dead letter.

    Nothing is read yet. Each of the streams reads all messages and gives the rows of its kind;
    `tables` reads them once for all three.
    """

    @property
    def changes(self) -> Stream:
        """Changes of rows: what happened, where, to which row, and in which record it came."""
        return self._of_kind(CHANGE)

    @property
    def controls(self) -> Stream:
        """Control events: heartbeats, DDL, transactions, empty messages and such."""
        return self._of_kind(CONTROL)

    def tables(self) -> Tables:
        """Decode once, into memory.

        Raises:
            ConservationError: Decoded rows do not add up.
        """
        changes, controls, dead_letters = self._tables()
        return Tables(changes, controls, dead_letters, self.counts)


class MessageStreams(Streams):
    """Messages as typed columns: every element is a message or a dead letter.

    Nothing is read yet. Each of the streams reads all messages and gives the rows of its kind;
    `tables` reads them once for both.
    """

    @property
    def messages(self) -> Stream:
        """Messages: their variant and content, and in which record they came."""
        return self._of_kind(MESSAGE)

    @property
    def counts(self) -> MessageCounts:
        """Checked counts, of the last reading that came to its end; without one it reads.

        Raises:
            ConservationError: Decoded rows do not add up.
        """
        counts = super().counts
        assert isinstance(counts, MessageCounts)  # noqa: S101 - for type checkers
        return counts

    def tables(self) -> MessageTables:
        """Decode once, into memory.

        Raises:
            ConservationError: Decoded rows do not add up.
        """
        messages, dead_letters = self._tables()
        return MessageTables(messages, dead_letters, self.counts)
