"""Messages to Delta tables, batch by batch."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, Literal, cast

import deltalake

from changewire.changes import Digests, Image, NullValue, embedded
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.arrow.messages import Messages, opener
from changewire.engines.delta.batches import RunReport, grouped, merge_all
from changewire.engines.delta.plan import DeltaRsRules
from changewire.engines.delta.store import DeltaStore
from changewire.engines.delta.tables import check_path
from changewire.engines.effects import EffectsDecoder
from changewire.engines.options import TableOptions
from changewire.engines.outcome import Outcome
from changewire.engines.typed.effects import CheckedEffectsDecoder
from changewire.engines.typed.evolve import SchemaEvolution, evolution_of
from changewire.engines.typed.plan import TypedTables
from changewire.engines.typed.schemas import ArrowSchema, RowSchema, given_columns
from changewire.engines.typed.types import columns_as_json
from changewire.tables.names import Template, check_history, template_of
from changewire.tables.routing import Routing
from changewire.tables.version_rows import VersionNames, check_names

BATCH_SIZE: Final = 50_000
_TABLE: Final = "(a table)"
_SCHEME: Final = "://"


def apply_changes(
    messages: Messages,
    *,
    format: str,
    target: str,
    output: str,
    checkpoint: str,
    image: Image = "full",
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
    digests: Digests = "off",
    null_value: NullValue = "control",
    time_zone: str = "UTC",
    strip_registry_prefix: bool = False,
    rows: Literal["json", "embedded"] | ArrowSchema | RowSchema = "json",
    schema_evolution: SchemaEvolution = "add_columns",
    null_set: str | None = None,
    apply_as_truncates: bool = False,
    history: str | None = None,
    history_names: VersionNames = "plain",
    shape: str = "auto",
    batch_size: int = BATCH_SIZE,
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Apply the changes of messages to Delta tables, beside the outputs of `changewire.job.run`.

    What a table holds is described in docs/tables.md: it depends on the set of its changes, and not
    on when, how often or together with what they came. Tables are those of
    `changewire.spark.apply_changes`, and each engine can continue what the other one began. A table
    that is not there is created, and beside it one with its tombstones, whose name ends in
    ``__tombstones``. By default its columns are ``key`` and ``row``, both JSON text; and it has
    ``_changewire``.

    Batches are merged one after the other. A run that ends early leaves some of them in the tables,
    and the outputs as they were. Retry it: changes that were applied are duplicates then.

    Memory holds one batch, the rows and tombstones of its keys, and what delta-rs takes to rewrite
    the files that they are in, some at a time: it grows with the batch, and hardly with the table.
    Time does: each batch reads its column ``key``, and rewrites each file that it changes a row of.

    Args:
        messages: What is decoded: a file or folder; a message; a table with a column ``value``; or
            several files and messages.
        format: Public name of the format, or ``auto``: each message says which it has.
        target: A path (it has a slash), with ``{system}``, ``{database}``, ``{schema}`` and
            ``{table}`` where names of the source go, each made safe.
        output: Folder for ``changes``, ``controls`` and ``dead_letters``, as Parquet; those are
            replaced. Changes that no table can take are dead letters too.
        checkpoint: Folder that keeps which tables were fed, and deletes that name no table, for
            tables to come; it may be the one of a query of Spark that feeds them.
        image: What a message holds of its row after a write: ``full``, ``patch`` or ``keys``.
        keys: Columns that name the row, in place of those that the message or its format says.
        families: Column families of an HBase table.
        digests: What becomes of a record whose digest is not that of its set and user key:
            ``count`` or ``refuse`` it; ``off`` does not compare.
        null_value: What a record without value is: ``control``, an event that changes nothing, or
            ``delete``, of the row that its key names.
        time_zone: IANA name of the zone whose clocks made the dates of DataWorks messages: that of
            the task that synchronizes.
        strip_registry_prefix: Whether to remove the 5 bytes that serializers of a schema registry
            put before values and record keys.
        rows: How tables have their rows: ``json``; columns of a type, for all tables, as
            `changewire.arrow.decode` takes them, so that an element whose row does not fit is a
            dead letter; or ``embedded``, the columns that the schema in each message declares. The
            outputs have JSON text.
        schema_evolution: What becomes of a column that a table lacks: ``add_columns`` adds it,
            ``strict`` makes the change a dead letter. A wider type makes it one in both: delta-rs
            widens no column.
        null_set: Table of writes that name none.
        apply_as_truncates: Whether a truncate removes the rows that are older; it is counted
            otherwise.
        history: Path of tables with every version of each row, beside `target` and with the same
            fields, such as ``/lake/{database}/{table}__history``. Versions are kept from the first
            row of a table on. Beside it stands one with deletes, whose name ends in ``__ends``.
        history_names: How its columns are named, as in `changewire.arrow.history`.
        shape: Shape of files, see `changewire.framing.SHAPES`.
        batch_size: How many elements are merged together at most; fewer if they are large.
        show_values: Whether the outcome's first dead letters show the start of their values.
        progress: Called after each batch with the number of messages so far.

    Returns:
        What the run held, and in ``tables`` what became of its changes.

    Raises:
        ValueError: An argument is not valid, or the target is no path that delta-rs takes.
        TypeError: `messages` is nothing that can be read.
        FramingError: A file cannot be read.
        KeysMissingError: No change has a key, so that no row is known.
        OutputError: A table has other columns, or is not for delta-rs to read or write.
        ConflictError: Other writers changed a table again and again.
        ConservationError: The decoded rows do not add up; the outputs are as they were.
        ImportError: `rows` is a JSON Schema, and the extra ``codegen`` is not installed.
    """
    return apply_messages(
        messages,
        output,
        DecodeOptions(
            format,
            image,
            keys,
            families,
            digests,
            null_value,
            time_zone=time_zone,
            strip_registry_prefix=strip_registry_prefix,
        ),
        TableOptions(
            target,
            rows,
            schema_evolution,
            null_set,
            apply_as_truncates,
            history,
            history_names,
        ),
        checkpoint=checkpoint,
        shape=shape,
        batch_size=batch_size,
        show_values=show_values,
        progress=progress,
    )


def apply_messages(
    messages: Messages,
    output: str,
    decode_options: DecodeOptions,
    table_options: TableOptions,
    *,
    checkpoint: str,
    shape: str = "auto",
    batch_size: int = BATCH_SIZE,
    show_values: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Apply the changes of messages, as `apply_changes` does."""
    started = time.perf_counter()
    if batch_size < 1:
        raise ValueError(f"batch_size is a number from 1, not {batch_size}")
    routing = Routing(_path_template(table_options.target), table_options.null_set)
    read, _ = opener(messages, shape)
    decoder, typed = _rows_as(decode_options, table_options)
    store = DeltaStore(
        routing,
        checkpoint,
        decode_options.format,
        table_options.apply_as_truncates,
        typed,
        _history_template(table_options, routing.template),
        cast("VersionNames", table_options.history_names),
    )
    report = RunReport(show_values=show_values, progress=progress)
    decoded = chain.from_iterable(map(decoder, read()))
    merge_all(grouped(decoded, batch_size), store, output, report)
    return Outcome(
        counts=report.counts,
        format=decode_options.format,
        inputs=[messages] if isinstance(messages, str) else [],
        output=output,
        engine=f"python {platform.python_version()}, delta-rs {deltalake.__version__}",
        seconds=time.perf_counter() - started,
        first_dead_letters=[letter for _, letter in report.first],
        tables=dict(sorted((+store.counts).items())),
        history=None if store.history is None else dict(sorted(store.versions.items())),
    )


def _rows_as(
    decode_options: DecodeOptions, options: TableOptions
) -> tuple[EffectsDecoder, TypedTables | None]:
    """Return what decodes messages, and how tables get their columns; None for JSON text."""
    evolution, rows = evolution_of(options.schema_evolution), options.rows
    if isinstance(rows, str) and rows == "json":
        return EffectsDecoder(decode_options), None
    names = None if options.history is None else cast("VersionNames", options.history_names)
    typed = TypedTables(decode_options, DeltaRsRules(names), evolution=evolution)
    if isinstance(rows, str) and rows == "embedded":
        embedded.dialect(decode_options.format)
        return EffectsDecoder(decode_options), typed
    columns = given_columns(rows, decode_options)
    decoder = CheckedEffectsDecoder(decode_options, columns)
    return decoder, replace(typed, given=columns_as_json(columns))


def _path_template(target: str) -> Template:
    """Return the template of a target, checked.

    Raises:
        ValueError: It is not valid, or no path that delta-rs takes.
    """
    template = template_of(target)
    if not template.is_path:
        raise ValueError(
            f"tables of delta-rs have paths, and {target!r} has no slash: it is a name"
        )
    check_path(target.format(**dict.fromkeys(template.fields, _TABLE)))
    return template


def _history_template(options: TableOptions, target: Template) -> Template | None:
    """Return the template of tables of versions; None without any.

    Raises:
        ValueError: It is not valid, or no path that delta-rs takes, or not beside the target.
    """
    check_names(options.history_names)
    if options.history is None:
        return None
    template = _path_template(options.history)
    check_history(template, target)
    return template
