"""Plain changes, whose effects tasks report while they decode them.

A plain change writes or deletes one whole row, has a sequence, and goes to a table that is known
and has the columns that it needs. So nothing of it can become a dead letter later: the job that
decodes it may append it to the change log, and the driver gets what is needed to merge it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from pyspark import TaskContext
from pyspark.sql import SparkSession

from changewire.engines.effects import EFFECTS
from changewire.engines.json_rows import packed, unpacked
from changewire.engines.layout import CHANGE, CONTROL, POSITION
from changewire.engines.places import only_where
from changewire.engines.spark.reports import TaskReports
from changewire.engines.typed.images import IMAGE, key_texts
from changewire.tables.mutations import DELETE, FULL
from changewire.tables.routing import NAMES, TRUNCATE, route_op
from changewire_messages.change import Source

WANTED: Final = "changewire.effects"
"""Local property of the jobs whose tasks report effects: `Wanted` as JSON text."""

_NOT_WRITTEN: Final = ("value", EFFECTS, IMAGE)
"""Columns of decoded rows that no output of changes has."""


class Wanted(Struct, frozen=True):
    """Which effects tasks report.

    Attributes:
        reports: `EffectReports.id` of the stream whose tasks report them.
        routes: Where changes may come from.
        keys: Columns of the key of the table that each goes to; empty for rows of JSON text.
        with_truncates: Whether truncates are applied, so that a batch with one is not reported.
        most: Bytes that a task reports at most.
    """

    reports: str
    routes: list[tuple[Source, str]]
    keys: list[list[str]]
    with_truncates: bool
    most: int


class NotPlainError(Exception):
    """A batch has a change that is not plain, so that all of it is counted before it is written."""


class EffectReports(TaskReports):
    """The reports of tasks that decode a stream: of jobs that want effects, with these.

    Attributes:
        id: Distinguishes these reports from those of other streams.
    """

    def __init__(self, spark: SparkSession) -> None:
        """Begin at nothing, in a session whose driver is this process."""
        super().__init__(spark)
        self.id = uuid4().hex

    def reported(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the decoded rows of a task; report them at the end if the job wants effects.

        Raises:
            ConservationError: They do not add up.
            NotPlainError: A change is not plain.
        """
        return iter(batches) if self._wanted() is None else super().reported(batches)

    def _task_effects(self) -> PlainEffects | None:
        wanted = self._wanted()
        return None if wanted is None else PlainEffects(wanted)

    def _wanted(self) -> Wanted | None:
        """Return what the job of this task wants of this stream; None if it wants nothing."""
        context = TaskContext.get()
        text = None if context is None else context.getLocalProperty(WANTED)
        wanted = msgspec.json.decode(text, type=Wanted) if text else None
        return wanted if wanted is not None and wanted.reports == self.id else None


class PlainEffects:
    """Takes the effects of plain changes from the rows of a task."""

    def __init__(self, wanted: Wanted) -> None:
        """Begin with none."""
        self._wanted = wanted
        self._routes = {_names(*route): i for i, route in enumerate(wanted.routes)}
        self._found: list[pa.RecordBatch] | None = []
        self._bytes = 0

    def taken_from(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Take the effects from some rows; return the rows without what the driver has now.

        Raises:
            NotPlainError: A change is not plain.
        """
        is_change = pc.equal(rows.column("kind"), CHANGE)
        if self._wanted.with_truncates:
            is_control = pc.equal(rows.column("kind"), CONTROL)
            _check(
                pc.invert(pc.and_kleene(is_control, pc.equal(rows.column("op"), TRUNCATE))),
                "it is a truncate",
            )
        found = self._effects(rows.filter(is_change))
        self._bytes += found.nbytes
        if self._bytes > self._wanted.most:
            self._found = None
        elif self._found is not None:
            self._found.append(found)
        return _without(rows, is_change)

    def streams(self) -> tuple[bytes, ...] | None:
        """Return what was taken, as a stream of Arrow; None if it is too large."""
        if self._found is None:
            return None
        return tuple(_stream(self._found) if self._bytes else ())

    def _effects(self, changes: pa.RecordBatch) -> pa.RecordBatch:
        """Return the effects of changes, one row for each.

        Raises:
            NotPlainError: A change is not plain.
        """
        effects = changes.column(EFFECTS)
        _check(pc.equal(pc.list_value_length(effects), 1), "it does not have exactly one effect")
        effect = pc.list_flatten(effects)
        key, kind, sequence = (pc.struct_field(effect, n) for n in ("key", "kind", "sequence"))
        _check(pc.is_in(kind, pa.array([FULL, DELETE])), "it writes no whole row")
        _check(pc.is_valid(sequence), "it has no sequence")
        route = self._route(changes)
        is_delete = pc.equal(kind, DELETE)
        return pa.RecordBatch.from_pydict(
            {
                "route": route,
                "key": key,
                "is_delete": is_delete,
                **{name: pc.struct_field(sequence, name) for name in ("major", "minor")},
                **_position(changes),
                "content": self._content(changes, key, is_delete, route),
            }
        )

    def _route(self, changes: pa.RecordBatch) -> pa.Array:
        """Return the numbers of the routes that changes take."""
        source = changes.column("source")
        parts = [pc.struct_field(source, name) for name in NAMES] + [changes.column("op")]
        code = pa.nulls(len(changes), pa.int64()).fill_null(0)
        values: list[list[str | None]] = []
        for part in parts:
            encoded = part.dictionary_encode(null_encoding="encode")
            values.append(encoded.dictionary.to_pylist())
            code = pc.add(pc.multiply(code, len(values[-1])), encoded.indices.cast(pa.int64()))
        distinct = pc.unique(code)
        numbers = [self._routes.get(_decoded(one, values), -1) for one in distinct.to_pylist()]
        if -1 in numbers:
            raise NotPlainError("a change is not plain: no earlier batch had its source")
        return pa.array(numbers, pa.int32()).take(pc.index_in(code, distinct))

    def _content(
        self, changes: pa.RecordBatch, key: pa.Array, is_delete: pa.Array, route: pa.Array
    ) -> pa.Array:
        """Return the rows that changes write or delete."""
        names = _by_keys(self._wanted.keys)
        if not any(names):
            _check(pc.or_(is_delete, pc.is_valid(changes.column("after"))), "it has no row")
            no_row = pa.scalar(None, pa.string())
            return _packed(key, pc.if_else(is_delete, no_row, changes.column("after")))
        if IMAGE not in changes.schema.names:
            raise NotPlainError("a change is not plain: its row is not fitted to its table")
        images = changes.column(IMAGE)
        _check(pc.is_valid(images), "its row is not fitted to its table")
        for columns, routes in names.items():
            is_of = pc.is_in(route, pa.array(routes, pa.int32()))
            texts = key_texts(columns, images)
            is_same = pc.equal(key, texts) if texts is not None else pa.scalar(False)  # noqa: FBT003
            _check(pc.or_kleene(pc.invert(is_of), is_same), "its key is not that of its table")
        return images


def _packed(keys: pa.Array, rows: pa.Array) -> pa.Array:
    """Return rows as tables of JSON text have them.

    Raises:
        NotPlainError: One cannot be made.
    """
    pairs = zip(keys.to_pylist(), rows.to_pylist(), strict=True)
    return pa.array([_packed_row(key, row) for key, row in pairs], pa.string())


def _packed_row(key: str, row: str | None) -> str | None:
    begin = key[:-1]
    if row is None or (row.startswith(begin) and row[len(begin)] in ",}"):
        return row  # the columns of the key are first already
    try:
        return packed(key, unpacked(row))
    except Exception as error:  # noqa: BLE001 - the batch is counted first, and the row rejected
        raise NotPlainError(f"a change is not plain: {type(error).__name__}") from None


def _check(holds: pa.Array, why: str) -> None:
    """Check a condition of all changes.

    Raises:
        NotPlainError: It does not hold for one.
    """
    if not pc.all(pc.fill_null(holds, False), min_count=0).as_py():  # noqa: FBT003
        raise NotPlainError(f"a change is not plain: {why}")


def _without(rows: pa.RecordBatch, is_change: pa.Array) -> pa.RecordBatch:
    """Return rows without what no output of changes has, so that it need not be sent."""
    for name in _NOT_WRITTEN:
        if name in rows.schema.names:
            column = rows.column(name)
            nothing = pa.nulls(len(rows), column.type)
            if name == "value":
                nothing = only_where(pc.invert(is_change), column)
            rows = rows.set_column(rows.schema.get_field_index(name), name, nothing)
    return rows


def _position(changes: pa.RecordBatch) -> Mapping[str, pa.Array]:
    """Return the columns of the position of changes."""
    columns = {
        name: pc.coalesce(*(changes.column(part) for part in parts), pa.scalar(default))
        for name, (parts, default) in POSITION.items()
    }
    kinds = {"topic": pa.string(), "partition": pa.int32(), "offset": pa.int64()}
    columns = {name: column.cast(kinds[name]) for name, column in columns.items()}
    return {**columns, "element": changes.column("element").cast(pa.int32())}


def _names(source: Source, op: str) -> tuple[str | None, ...]:
    return (*(getattr(source, name) for name in NAMES), op)


def _decoded(code: int, values: list[list[str | None]]) -> tuple[str | None, ...]:
    """Return the source and the operation that a number stands for, as `_names` does."""
    found: list[str | None] = []
    for each in reversed(values):
        code, index = divmod(code, len(each))
        found.append(each[index])
    op, *names = found
    return (*reversed(names), route_op(str(op)))


def _by_keys(keys: Iterable[list[str]]) -> dict[tuple[str, ...], list[int]]:
    """Return the numbers of routes by the columns of their key."""
    found: dict[tuple[str, ...], list[int]] = {}
    for number, names in enumerate(keys):
        found.setdefault(tuple(names), []).append(number)
    return found


def _stream(batches: list[pa.RecordBatch]) -> Iterable[bytes]:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    yield sink.getvalue().to_pybytes()


def effects_in(streams: Iterable[bytes]) -> pa.Table | None:
    """Return the effects that tasks reported; None if they reported nothing."""
    found = [pa.ipc.open_stream(stream).read_all() for stream in streams]
    return pa.concat_tables(found).combine_chunks() if found else None
