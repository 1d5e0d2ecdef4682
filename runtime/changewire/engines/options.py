"""What a user asks of a run: its engine, how a stream is written, and the tables that it feeds.

The objects are made where the arguments come in, and are passed on whole. The module loads no
library of an extra, so that the command line can make them before Spark starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, TypedDict, get_args

from changewire.changes.decode_options import ROW_IMAGES, DecodeKeywords, DecodeOptions
from changewire.changes.sources import ordered_images
from changewire.engines.settings import (
    DELETES,
    MISFITS,
    Deletes,
    Misfits,
    SettingsByTable,
    TableSettings,
)
from changewire.tables.chosen import Chosen, chosen_tables
from changewire.tables.names import absolute

if TYPE_CHECKING:
    from changewire.engines.by_table import Applied
    from changewire.engines.counts import Counts

Engine = Literal["python", "spark"]
ENGINES: Final[tuple[str, ...]] = get_args(Engine)
"""Engines that a run on files can be asked for."""

LOG_FORMATS: Final = ("delta", "iceberg", "parquet")
"""Formats that a stream can write exactly once."""

TABLE_FORMATS: Final = ("delta", "iceberg")
"""Those that have MERGE."""

SchemaEvolution = Literal["add_columns", "strict"]
SCHEMA_EVOLUTIONS: Final[tuple[str, ...]] = get_args(SchemaEvolution)
"""The answer of a table to columns that it lacks, or has of a narrower type: it takes them, or
refuses what brings them."""

Numbers = Literal["round", "refuse"]
NUMBERS: Final[tuple[str, ...]] = get_args(Numbers)
"""Result for a change with a number that a column of doubles lacks: the number is
rounded and counted, or the change is refused."""

CATALOG: Final = "changewire"
"""Name of the catalog of Iceberg's tables in an output folder."""

LOG: Final = "log"
"""Name of the log in an output folder."""

CHECKPOINT: Final = "checkpoint"
"""Name of the folder of a query's progress in an output folder."""

MAX_NEW_TABLES: Final = 100
"""How many tables a batch may bring."""

AVAILABLE_NOW: Final[Mapping[str, Any]] = {"availableNow": True}
"""Trigger of a query that ends when it has reached the end of its source."""

Limit = int | str
"""A number of dead letters, or a share of the batch's elements such as ``"5%"``."""

_PER_CENT: Final = re.compile(r"(\d{1,3}(?:\.\d{1,6})?) ?%")
_WHOLE: Final = 100

_WORDS: Final = {
    "schema_evolution": SCHEMA_EVOLUTIONS,
    "numbers": NUMBERS,
    "deletes": DELETES,
    "misfits": (*MISFITS, None),
}

KafkaOptions = Mapping[str, str | int | float | bool]
"""Options as Spark's Kafka source takes them."""


class BatchId(NamedTuple):
    """Id of a query, from its checkpoint, and Spark's number of a batch, the same in a retry."""

    query: str
    number: int


Listener: TypeAlias = Callable[[str], None]
"""Called with one line for each batch."""

BatchListener: TypeAlias = "Callable[[BatchId, Counts, Any], None]"
"""Called with the counts and the frames of a batch, once it is in the log and before Spark commits
it."""

AppliedListener: TypeAlias = "Callable[[BatchId, Applied, float], None]"
"""Called with what became of the changes of a batch in tables, and how many seconds it took."""


@dataclass(frozen=True)
class StreamListener:
    """Callbacks of a stream, each called once for a batch, before Spark commits it.

    Attributes:
        notice: Gets a line to read.
        metrics: Gets a line of JSON.
        written: Gets counts and rows of a batch that was appended to the log.
        applied: Gets what became of the changes of a batch of the log in tables.
    """

    notice: Listener | None = None
    metrics: Listener | None = None
    written: BatchListener | None = None
    applied: AppliedListener | None = None

    @property
    def is_any(self) -> bool:
        """Whether something is called for batches of the log."""
        return any((self.notice, self.metrics, self.written))


def log_of(folder: str, table_format: str) -> str:
    """Return the log of a run: in its output folder, or for Iceberg in its `CATALOG`."""
    return f"{CATALOG}.{LOG}" if table_format == "iceberg" else f"{folder}/{LOG}"


@dataclass(frozen=True)
class StreamOptions:
    """How a stream is written, by arguments of `apply_changes`, with callbacks for each batch."""

    log: str
    checkpoint: str
    table_format: str = "delta"
    trigger: Mapping[str, Any] | None = None
    max_dead_letters: Limit | None = None
    listener: StreamListener = StreamListener()
    apply_trigger: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Check the limit."""
        check_limit(self.max_dead_letters)


@dataclass(frozen=True)
class StreamRun:
    """A streaming query that is followed to its end, and reported.

    Attributes:
        decode_options: How its messages are read.
        stream_options: How its log is written.
        table_options: How its tables are written; None without tables.
        packages: Maven coordinates of connectors; None for those that the session has.
        show_values: Whether the first dead letters show the start of their values.
    """

    decode_options: DecodeOptions
    stream_options: StreamOptions
    table_options: TableOptions | None = None
    packages: str | None = None
    show_values: bool = False


@dataclass(frozen=True)
class FileRun:
    """Files that are landed in a log, and merged into tables if there are such.

    Attributes:
        decode_options: How their messages are read.
        table_options: How tables are written; None without tables.
        row_schema: What ``before`` and ``after`` of the log are, as for `changewire.job.run`.
        engine: What runs it.
        shape: Shape of the files.
        packages: Maven coordinates of connectors; None for those that the session has.
        show_values: Whether the first dead letters show the start of their values.
        max_dead_letters: Greatest number or share of dead letters; None for any.
        progress: Gets the number of messages so far; in Spark it is not called.
        notice: Gets a line for each batch that Spark merges into tables.

    Raises:
        ValueError: The limit is not valid.
    """

    decode_options: DecodeOptions
    table_options: TableOptions | None = None
    row_schema: Any = "json"
    engine: str = "python"
    shape: str = "auto"
    packages: str | None = None
    show_values: bool = False
    max_dead_letters: Limit | None = None
    progress: Callable[[int], None] | None = None
    notice: Listener | None = None

    def __post_init__(self) -> None:
        """Check the limit."""
        check_limit(self.max_dead_letters)


class TableKeywords(TypedDict, total=False):
    """How the changes of a log are merged into tables.

    Attributes:
        row_schema: How tables have their rows: ``auto`` (default), in columns of the types that
            messages declare, or that their values show; ``json`` text; columns of a type, as for
            `changewire.spark.decode`; or a mapping from names of sources such as ``shop.orders``
            to one of these, ``*`` for all others. ``embedded`` is another name of ``auto``.
        misfits: Result for a row with a value that does not fit its column, or that has none:
            ``rescue`` sets the column to NULL and keeps the value in ``_changewire.rescued``,
            ``refuse`` refuses the change. The default is ``rescue`` for ``auto``. For columns of a
            type a value that does not fit is refused by default, and one without a column left out.
        schema_evolution: What becomes of a column that a table lacks, or has of a narrower type:
            ``add_columns`` (default) adds or widens it; ``strict`` does not, so that its values are
            rescued or refused, as `misfits` says.
        numbers: ``round`` (default) rounds a number that a column of doubles cannot represent, and
            counts it; ``refuse`` refuses its change.
        deletes: ``remove`` (default) removes deleted rows from tables. ``flag`` keeps them with
            their key and ``_changewire.deleted``; the other columns are NULL. Then late changes
            need no look at the log.
        view: Name of a view of the rows that are not deleted, with the fields of the target; for
            ``deletes="flag"``.
        default_table: Table of writes that name none.
        apply_truncates: Whether a truncate removes the rows that are older.
        max_new_tables: How many tables a batch may bring, 100 by default; changes of others are
            refused.
        merge_threads: How many tables of a batch Spark merges at once; by default as many as the
            driver has cores, from 2 to 8. Without Spark tables are merged one after the other.
        one_table: Whether several tables of sources may feed a target without ``{table}``, in which
            rows with the same key are one. By default changes of the second one are refused.
        only_tables: Names of the tables of sources whose changes are applied, such as
            ``["shop.orders", "crm.*"]``: ``*`` means any text, ``?`` one character. By default all
            tables are. Changes of others stay in the log, and are counted as ``left_out``.
        except_tables: Such names of tables that are left out.
        tables: Settings of some tables, by the names of their sources or globs of them, such as
            ``{"shop.orders": {"columns": {"price": "decimal(12,2)"}}}``. A name counts before
            globs, and a longer glob before a shorter one.
    """

    row_schema: Any
    misfits: Misfits | None
    schema_evolution: SchemaEvolution
    numbers: Numbers
    deletes: Deletes
    view: str | None
    default_table: str | None
    apply_truncates: bool
    max_new_tables: int
    merge_threads: int | None
    one_table: bool
    only_tables: Sequence[str] | None
    except_tables: Sequence[str] | None
    tables: Mapping[str, TableSettings] | None


class ApplyKeywords(DecodeKeywords, TableKeywords, total=False):
    """Information that messages lack, and how their changes are merged into tables.

    Attributes:
        max_dead_letters: Greatest number, or share of the elements such as ``"5%"``, of dead
            letters in a batch; a batch with more is not written, and ends the query or run. By
            default any number.
    """

    max_dead_letters: Limit | None


@dataclass(frozen=True)
class TableOptions:
    """Which tables changes are applied to, and how; see also `ApplyKeywords`.

    Attributes:
        target: Name of a table, or a path (it has a slash), with ``{system}``, ``{database}``,
            ``{schema}`` and ``{table}`` for names of the source. A relative path becomes absolute,
            below the working directory.

    Raises:
        ValueError: An option is not valid.
    """

    target: str
    row_schema: Any = "auto"
    misfits: Misfits | None = None
    schema_evolution: SchemaEvolution = "add_columns"
    numbers: Numbers = "round"
    deletes: Deletes = "remove"
    view: str | None = None
    default_table: str | None = None
    apply_truncates: bool = False
    max_new_tables: int = MAX_NEW_TABLES
    merge_threads: int | None = None
    one_table: bool = False
    only_tables: Sequence[str] | None = None
    except_tables: Sequence[str] | None = None
    tables: Mapping[str, TableSettings] | None = None
    max_dead_letters: Limit | None = None

    def __post_init__(self) -> None:
        """Check the options, and make relative paths absolute."""
        for name, words in _WORDS.items():
            if getattr(self, name) not in words:
                known = ", ".join(filter(None, words))
                text = f"no {name} {getattr(self, name)!r}; there are: {known}"
                raise ValueError(text)
        check_limit(self.max_dead_letters)
        if self.merge_threads is not None and self.merge_threads < 1:
            raise ValueError(f"merge_threads is 1 or more, not {self.merge_threads}")
        chosen_tables(self.only_tables, self.except_tables)
        SettingsByTable(self.tables)
        object.__setattr__(self, "target", absolute(self.target, is_template=True))

    @property
    def chosen(self) -> Chosen:
        """The tables of sources that are applied."""
        return chosen_tables(self.only_tables, self.except_tables)


def asked(format: str, target: str, options: ApplyKeywords) -> tuple[DecodeOptions, TableOptions]:
    """Return how messages are decoded, and how their changes are merged into tables."""
    of_messages: Any = {n: v for n, v in options.items() if n in DecodeKeywords.__annotations__}
    of_tables: Any = {n: v for n, v in options.items() if n not in of_messages}
    tables = TableOptions(target, **of_tables)
    return DecodeOptions(format, **with_settings(of_messages, tables)), tables


def with_settings(of_messages: Mapping[str, Any], tables: TableOptions) -> dict[str, Any]:
    """Return options of messages with what the settings of tables say of their messages.

    Raises:
        ValueError: Both name the columns of keys.
    """
    settings, found = SettingsByTable(tables.tables), {**of_messages}
    keys, images = (settings.by_pattern(one) for one in ("key_columns", "row_image"))
    if keys and found.get("key_columns") is not None:
        raise ValueError("key_columns: `tables` names such columns too; name all of them in one")
    if keys:
        found["key_columns"] = keys
    if images:
        others = found.get("row_image", ROW_IMAGES[0])
        found["row_image"] = {**dict(ordered_images(others)), **images}
    return found


def check_limit(limit: Limit | None) -> None:
    """Check a limit of dead letters, if there is one; see `allowed`."""
    if limit is not None:
        allowed(limit, 0)


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
