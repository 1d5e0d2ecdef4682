"""What a run leaves behind, next to its tables: everything that a report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from changewire.engines.by_table import ChangesByTable, Unmatched
from changewire.engines.counts import Counts
from changewire.engines.native import KernelCounts

PLACE_ORDER: Final = ("path", "number", "topic", "partition", "offset", "element")
"""Columns that order dead letters in a report, NULL first."""

FIRST_DEAD_LETTERS = 20
"""Dead letters that a report shows."""

PLACE_COLUMNS = (*PLACE_ORDER, "code", "pointer", "message")
"""Description of a dead letter in a report: its place and its error, never a value."""


@dataclass(frozen=True)
class StreamTotals:
    """What a run as a streaming query adds to its outcome.

    Attributes:
        query: Id of the query, kept in its checkpoint.
        batches: Batches that this run committed.
        offset_gaps: Offsets without a record; None if it is not known of any batch.
        lag_offsets: Offsets behind the latest ones, after the last batch; None if it is not known.
        signal: Name of the signal that ended the query; None if it ended by itself.
    """

    query: str
    batches: int
    offset_gaps: int | None
    lag_offsets: int | None
    signal: str | None


class LookAlikes(NamedTuple):
    """How many dead letters, of those looked at, look like messages of another format."""

    format: str
    dead_letters: int
    looked_at: int

    def __str__(self) -> str:
        """Return a sentence for people, with what to do."""
        return (
            f"{self.dead_letters:,} of {self.looked_at:,} dead letters look like {self.format}: "
            f"read them with --format {self.format}, or with auto"
        )


@dataclass(frozen=True)
class Outcome:
    """The result of one run.

    Attributes:
        counts: Checked counts.
        format: Public name of the format.
        inputs: Files or tables that were read.
        output: Folder of the log and the report, or the log.
        engine: ``python`` or ``spark``, with its version.
        seconds: Wall-clock time of the run, in seconds.
        first_dead_letters: The first ones by position, each with the columns `PLACE_COLUMNS`, and
            ``value`` (shortened text) if values are to be shown.
        stream: Totals of a streaming query; None if the run was none.
        tables: What became of changes in tables; None where the run fed none.
        native: Work of the native kernel; None if it took no part.
        start_seconds: Seconds of these before the engine began to read: the start of Spark, and
            the look at brokers and outputs. 0 for an engine that begins at once.
        look_alikes: Formats that the dead letters look like; None where none was looked for.
        already_in_log: How many elements the log had already; they are counted, and not appended.
        changes_by_table: What became of the changes that were merged, by table.
        unmatched: Names in options that no table has.
    """

    counts: Counts
    format: str
    inputs: Sequence[str]
    output: str
    engine: str
    seconds: float
    first_dead_letters: Sequence[Mapping[str, Any]]
    stream: StreamTotals | None = None
    tables: Mapping[str, int] | None = None
    native: KernelCounts | None = None
    start_seconds: float = 0.0
    look_alikes: LookAlikes | None = None
    already_in_log: int = 0
    changes_by_table: ChangesByTable = field(default_factory=ChangesByTable)
    unmatched: Sequence[Unmatched] = ()

    @property
    def unapplied(self) -> int:
        """How many changes are in no table: they were refused, or have no key."""
        tables = self.tables or {}
        return tables.get("refused", 0) + tables.get("key_missing", 0)

    @property
    def is_lost(self) -> bool:
        """Whether all elements are dead letters, or all changes of a table are in no table."""
        has_only_letters = 0 < self.counts.elements == self.counts.dead_letters
        return has_only_letters or any(one.is_lost for one in self.changes_by_table.values())

    @property
    def read_seconds(self) -> float:
        """Seconds that reading, decoding and writing took."""
        return max(self.seconds - self.start_seconds, 0.0)

    @property
    def messages_per_second(self) -> float:
        """Messages by the time to read; the start takes its time however few there are."""
        return self.counts.messages / max(self.read_seconds, 1e-6)


def place_text(row: Mapping[str, Any]) -> str:
    """Return where a row's record is: topic, partition and offset, or file and number."""
    named = {name: row[name] for name in PLACE_ORDER if row[name] is not None}
    return ", ".join(f"{name} {value}" for name, value in named.items())


def place_order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the key that sorts rows by `PLACE_ORDER`."""
    return tuple((row[name] is not None, row[name]) for name in PLACE_ORDER)
