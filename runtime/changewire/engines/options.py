"""What a user asks of a run: its engine, how a stream is written, and the tables that it feeds.

The objects are made where the arguments come in, and are passed on whole. The module loads no
library of an extra, so that the command line can make them before Spark starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

from changewire.tables.names import absolute

if TYPE_CHECKING:
    from changewire.engines.counts import Counts

Engine = Literal["auto", "spark", "python"]
ENGINES: Final[tuple[str, ...]] = get_args(Engine)
"""Engines that a run on files can be asked for."""

Sink = Literal["delta", "iceberg", "parquet"]
SINKS: Final[tuple[str, ...]] = get_args(Sink)
"""Formats that a stream can write exactly once."""

CATALOG: Final = "changewire"
"""Name of the catalog of Iceberg's tables in an output folder."""

AVAILABLE_NOW: Final[Mapping[str, Any]] = {"availableNow": True}
"""Trigger of a query that ends when it has read what is there."""

BY_STREAM: Final = (
    "read the files as a stream of Spark, as docs/how-to/typed-rows.md does: "
    "changewire.spark.apply_changes(spark.readStream.text(FOLDER), rows=...)"
)
"""How the messages of files come into tables in Spark. Each part of it that cannot do it says
this, and names no other engine."""

Limit = int | str
"""A number of dead letters, or a share of the batch's elements such as ``"5%"``."""

_PER_CENT: Final = re.compile(r"(\d{1,3}(?:\.\d{1,6})?) ?%")
_WHOLE: Final = 100

KafkaOptions = Mapping[str, str | int | float | bool]
"""Options as Spark's Kafka source takes them."""

TableCounts = Mapping[str, int]
"""What became of changes in tables; empty if there are no tables."""


class BatchId(NamedTuple):
    """What names a batch among all batches that an output ever gets.

    Attributes:
        query: Id of the query, from its checkpoint.
        number: Number that Spark gives to the batch, from 0; the same when it is retried.
    """

    query: str
    number: int


Listener: TypeAlias = Callable[[str], None]
"""Called with one line for each batch."""

BatchListener: TypeAlias = "Callable[[BatchId, Counts, Any], None]"
"""Called with the counts and the frames of a batch, once it is written and before Spark commits
it."""


class MergeCounts(NamedTuple):
    """What a batch did in tables.

    Attributes:
        tables: What became of the changes, as `changewire.tables.Result.counts`.
        keys: How many keys were ``looked_up`` in their tables before it was decided on them, how
            many were ``remembered`` from the batches before, and how many were ``beyond_mark``, so
            that neither was needed. Empty for large batches into tables whose greatest sequence is
            not known.
        history: How many versions of rows were ``begun``, ``ended``, ``split`` by a late change,
            or ``removed`` by one; empty without tables of versions.
    """

    tables: TableCounts = MappingProxyType({})
    keys: TableCounts = MappingProxyType({})
    history: TableCounts = MappingProxyType({})


MergeListener: TypeAlias = "Callable[[BatchId, MergeCounts], None]"
"""Called with what became of a batch in tables, before Spark commits it."""


@dataclass(frozen=True)
class StreamListener:
    """Callbacks of a stream, each called once for a batch; None for those that are not wanted.

    Attributes:
        notice: Gets a line to read.
        metrics: Gets a line of JSON.
        written: Gets the counts and rows of a batch that was written.
        rejected: Gets the counts of such a batch and frames with its dead letters, which may lack
            its changes.
        merged: Gets what became of a batch in tables.
    """

    notice: Listener | None = None
    metrics: Listener | None = None
    written: BatchListener | None = None
    rejected: BatchListener | None = None
    merged: MergeListener | None = None


class StreamOutputs(NamedTuple):
    """Where the outputs of a stream are: paths, which have a slash, or names of tables.

    Attributes:
        changes: Changes.
        controls: Control events.
        dead_letters: Dead letters.
    """

    changes: str
    controls: str
    dead_letters: str


class MessageOutputs(NamedTuple):
    """Where the outputs of a stream of messages are: paths or names of tables, as above.

    Attributes:
        messages: Messages as typed columns.
        dead_letters: Dead letters.
    """

    messages: str
    dead_letters: str


def outputs_below(
    folder: str, sink: str, elements_as: str = "changes"
) -> StreamOutputs | MessageOutputs:
    """Return the outputs of a run: in a folder, or for Iceberg in its `CATALOG`."""
    kind = MessageOutputs if elements_as == "messages" else StreamOutputs
    start = f"{CATALOG}." if sink == "iceberg" else f"{folder}/"
    return kind(*(f"{start}{name}" for name in kind._fields))


@dataclass(frozen=True)
class StreamOptions:
    """How a stream is written.

    Attributes:
        outputs: Where the rows of each kind go.
        checkpoint: Folder of Spark's checkpoint, one for each query.
        sink: Format of the outputs.
        trigger: Arguments of `DataStreamWriter.trigger`; None for Spark's own default.
        max_dead_letters: How many dead letters a batch may have; None for any number.
        dead_letters_topic: A Kafka topic that gets dead letters too.
        kafka: Options of its producer; those that are not behind ``kafka.`` are left out.
        listener: Callbacks for each batch.

    Raises:
        ValueError: `max_dead_letters` is neither a number from 0 nor a share up to 100 per cent.
    """

    outputs: StreamOutputs | MessageOutputs
    checkpoint: str
    sink: str = "delta"
    trigger: Mapping[str, Any] | None = None
    max_dead_letters: Limit | None = None
    dead_letters_topic: str | None = None
    kafka: KafkaOptions | None = field(default=None, repr=False)  # they hold secrets
    listener: StreamListener = StreamListener()

    def __post_init__(self) -> None:
        """Check the limit."""
        if self.max_dead_letters is not None:
            allowed(self.max_dead_letters, 0)


@dataclass(frozen=True)
class TableOptions:
    """Which tables changes are applied to, and how.

    Attributes:
        target: Name of a table, or a path (it has a slash), with ``{system}``, ``{database}``,
            ``{schema}`` and ``{table}`` for names of the source. A relative path becomes absolute,
            below the working directory.
        rows: What tables have: ``json``, ``embedded``, a StructType or a schema of rows.
        schema_evolution: What becomes of a column that a table lacks: ``add_columns`` or
            ``strict``.
        null_set: Table of writes that name none.
        apply_as_truncates: Whether a truncate removes the rows that are older.
        history: Name or path of tables of versions, as `target` and with its fields; None without
            any.
        history_names: How their columns are named: ``plain`` or ``auto_cdc``.
    """

    target: str
    rows: Any = "json"
    schema_evolution: str = "add_columns"
    null_set: str | None = None
    apply_as_truncates: bool = False
    history: str | None = None
    history_names: str = "plain"

    def __post_init__(self) -> None:
        """Make relative paths absolute."""
        object.__setattr__(self, "target", absolute(self.target, is_template=True))
        if self.history is not None:
            object.__setattr__(self, "history", absolute(self.history, is_template=True))


def allowed(limit: Limit, elements: int) -> float:
    """Return how many of a batch's elements may be dead letters.

    Raises:
        ValueError: The limit is neither a number from 0 nor a share up to 100 per cent.
    """
    if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0:
        return limit
    found = _PER_CENT.fullmatch(limit) if isinstance(limit, str) else None
    if found is None or float(found[1]) > _WHOLE:
        text = f"max_dead_letters is a number such as 100 or a share such as '5%', not {limit!r}"
        raise ValueError(text)
    return elements * float(found[1]) / _WHOLE
