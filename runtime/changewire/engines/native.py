"""The native kernel: it makes columns of most messages, and leaves the others to Python.

Its results are those of Python; it declines whatever it does not know. So nothing but speed
depends on whether it is installed.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from changewire.changes.decode_options import AUTO, DecodeOptions
from changewire.changes.sources import ordered_images, ordered_keys
from changewire.changes.vendors import BUILT_IN, VENDOR_OPTIONS, without_defaults
from changewire.codec.installed import module_of
from changewire.engines.layout import CHANGE_COLUMNS, EFFECT
from changewire.engines.places import Places, places_of
from changewire.engines.typed.readings import all_json
from changewire.engines.typed.types import without_metadata
from changewire.version import VERSION
from changewire_messages import FORMATS

SWITCH: Final = "CHANGEWIRE_NATIVE"
"""Environment variable: ``0`` leaves the kernel aside."""

MODULE: Final = "changewire_native"
"""The kernel's module; the wheel has it next to the packages."""

ADAPTERS: Final = "changewire.changes"
"""The package whose sources a kernel is built from: they decide its results."""

TABLE: Final = "kernel.jsonl"
"""File of a family's package: its schemas as the kernel reads them."""

NATIVE_PART: Final = 16384
"""Messages that the kernel decodes together: it makes no objects, so they may be many. Spark sends
10,000 at a time unless it is configured otherwise, which are then not cut."""


_ENOUGH: Final = 10_000
"""Messages after which it is known whether the kernel declines most of a topic."""

_LOG: Final = logging.getLogger("changewire.native")


Run: TypeAlias = tuple[int, int, int]
"""Rows that follow one another: the first, how many they are, and of how many messages."""


class Made(NamedTuple):
    """What the kernel made of messages; one that was declined has rows that are to be left out.

    Attributes:
        change: Columns of the changes, and their effects.
        leniencies: Names of the leniencies that each needed.
        places: Which message each row is of; None if each message has one row.
        declined: Indexes of the messages that were declined.
        runs: The same as runs of rows: index of the first row, how many they are, and of how many
            messages. The last run begins behind all rows, and is empty.
    """

    change: Mapping[str, pa.Array]
    leniencies: pa.Array
    places: Places | None
    declined: pa.Array
    runs: Sequence[Run]

    def rows(self, start: int, count: int) -> Made:
        """Return some rows; the result says nothing of messages."""
        change = {name: column.slice(start, count) for name, column in self.change.items()}
        return self._replace(change=change, leniencies=self.leniencies.slice(start, count))


RowFit: TypeAlias = Callable[[Mapping[str, pa.Array]], tuple[dict[str, pa.Array], pa.Array]]
"""Takes columns of changes, whose rows are JSON text; returns them with rows that are columns, and
which changes it declines."""


class KernelCounts(NamedTuple):
    """Work of a kernel.

    Attributes:
        messages: How many messages it was given.
        declined: How many of them it left to Python.
        declined_by: The same, by the node of the schema at which it declined them.
    """

    messages: int
    declined: int
    declined_by: Mapping[str, int]

    def plus(self, other: KernelCounts) -> KernelCounts:
        """Return the sum of both."""
        return self._with(other, 1)

    def minus(self, other: KernelCounts) -> KernelCounts:
        """Return what was done since there were other counts."""
        return self._with(other, -1)

    def _with(self, other: KernelCounts, sign: int) -> KernelCounts:
        by = Counter(self.declined_by)
        for name, count in other.declined_by.items():
            by[name] += sign * count
        return kernel_counts(self.messages + sign * other.messages, +by)


def kernel_counts(messages: int, declined_by: Mapping[str, int]) -> KernelCounts:
    """Return counts in which the nodes that declined most messages come first."""
    by = dict(sorted(declined_by.items(), key=lambda item: (-item[1], item[0])))
    return KernelCounts(messages, sum(by.values()), by)


class Kernel:
    """Decodes batches of messages by the native kernel."""

    def __init__(self, native: Any, fit: RowFit | None = None) -> None:
        """Take a ``changewire_native.Kernel``, and what fits its rows; None leaves them as text."""
        self._native = native
        self._fit = fit
        self._misfits = 0
        self._has_warned = False

    def reads(self, batch: pa.RecordBatch) -> bool:
        """Return whether the kernel reads the columns of a batch: bytes, and no dictionaries."""
        kinds = {name: batch.schema.field(name).type for name in batch.schema.names}
        return all(kinds.get(name, pa.binary()) == pa.binary() for name in ("value", "key"))

    def decode(self, batch: pa.RecordBatch) -> Made:
        """Return what becomes of messages.

        Args:
            batch: Has a column ``value`` of bytes, and may have a column ``key`` of bytes.
        """
        has_keys = self._native.needs_keys and "key" in batch.schema.names
        keys = batch.column("key") if has_keys else None
        rows, sizes = self._native.decode(batch.column("value"), keys)
        columns = dict(zip(rows.schema.names, rows.columns, strict=True))
        change = {name: columns[name] for name in (*CHANGE_COLUMNS, EFFECT)}
        each = pc.abs(sizes)
        places = None if len(rows) == len(batch) else places_of(each)
        if self._fit is not None:
            change, is_misfit = self._fit(change)
            sizes = self._without(is_misfit, sizes, places)
        if not self._has_warned and self._native.messages >= _ENOUGH:
            self._warn()
        is_declined = pc.less(sizes, 0)
        starts = pc.subtract(pc.cumulative_sum(each), each).filter(is_declined)
        return Made(
            change,
            columns["leniencies"],
            places,
            pc.indices_nonzero(is_declined),
            [*_runs(starts.to_pylist(), each.filter(is_declined).to_pylist()), (len(rows), 0, 0)],
        )

    def _without(self, is_misfit: pa.Array, sizes: pa.Array, places: Places | None) -> pa.Array:
        """Return sizes of messages that are less than 0 also for those with a row that misfits."""
        if places is not None:
            found = places.record.filter(is_misfit)
            is_misfit = pc.is_in(pa.array(range(len(sizes)), found.type), found)
        is_misfit = pc.and_(is_misfit, pc.greater(sizes, 0))
        self._misfits += is_misfit.true_count
        return pc.if_else(is_misfit, pc.negate(sizes), sizes)

    def _warn(self) -> None:
        """Log a warning once if most messages are declined, with names of the schema alone."""
        self._has_warned = True
        counts = self.counts
        if counts.declined * 2 > counts.messages:
            places = ", ".join(f"{name} ({count})" for name, count in counts.declined_by.items())
            text = "the native kernel left %d of %d messages to Python, by place of the schema: %s"
            _LOG.warning(text, counts.declined, counts.messages, places)

    @property
    def counts(self) -> KernelCounts:
        """Its work so far."""
        declined = Counter({"row": self._misfits}) + Counter(self._native.declined)
        return kernel_counts(self._native.messages, declined)


def kernel_of(options: DecodeOptions, fit: RowFit | None = None) -> Kernel | None:
    """Return the kernel for messages that are read as options say; None if it is not installed.

    Args:
        options: How messages are read; with some of them Python does it all.
        fit: What fits rows into columns; None leaves them as JSON text.
    """
    native = installed()
    tables = tables_of(options.format)
    given = without_defaults(options.vendor)
    takes = {name: VENDOR_OPTIONS[name].declaration.in_kernel for name in given}
    if native is None or not tables or None in takes.values():
        return None
    try:
        found = native.Kernel(
            [*tables.items()],
            row_image=ordered_images(options.row_image),
            key_columns=ordered_keys(options.key_columns),
            **{name: take(given[name]) for name, take in takes.items() if take is not None},
        )
    except (TypeError, ValueError):  # it has no adapter for a format, or not for such a table
        return None
    return Kernel(found, fit)


def installed() -> Any:
    """Return the kernel's module; None if it is missing, does not fit or is switched off."""
    found = None if is_switched_off() else _module()
    return None if found is None or misfit() else found


def misfit() -> str | None:
    """Return why the kernel is not used; None if it fits or is missing."""
    found = _module()
    if found is None:
        return None
    if (version := getattr(found, "VERSION", "unknown")) != VERSION:
        return f"it is of version {version}, and changewire of {VERSION}"
    if getattr(found, "ADAPTERS", None) != digest_of_adapters():
        return f"it was built from other sources of {ADAPTERS}"
    return None


@cache
def digest_of_adapters() -> str:
    """Return the digest of the adapters' sources, as ``native/build.rs`` makes it."""
    digest = sha256()
    for name, file in sorted(_sources(files(ADAPTERS), "")):
        source = file.read_bytes()
        digest.update(f"{name}\n{len(source)}\n".encode() + source)
    return digest.hexdigest()


def _sources(folder: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield the sources in a folder of a package, with their names below it."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield f"{prefix}{entry.name}", entry


def is_switched_off() -> bool:
    """Return whether the environment says to leave the kernel aside."""
    return os.environ.get(SWITCH) == "0"


def version() -> str | None:
    """Return the version of the kernel that is installed, whether it fits or not; None without."""
    found = _module()
    return None if found is None else str(getattr(found, "VERSION", "unknown"))


def unread() -> list[str]:
    """Return the formats that have a table which the kernel does not read, although it exists."""
    options = [DecodeOptions(name) for name in BUILT_IN if table_of(name)]
    return [one.format for one in options if kernel_of(one) is None]


def _module() -> Any:
    try:
        return import_module(MODULE)
    except ImportError:
        return None


def tables_of(format: str) -> Mapping[str, str]:
    """Return the tables of the formats that messages may have, by name; none if one has none.

    Args:
        format: Public name of a format, or `AUTO`. Formats of other packages claim no message that
            a built-in one claims, so their messages are declined.
    """
    names = [format] if format != AUTO else sorted(FORMATS)
    found = {name: table_of(name) for name in names if name in BUILT_IN}
    tables = {name: table for name, table in found.items() if table is not None}
    return tables if tables.keys() == {*names} else {}


@cache
def table_of(format: str) -> str | None:
    """Return the table of a format's schemas; None if it has none."""
    path = files(module_of(format).__name__) / TABLE
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _runs(starts: list[int], sizes: list[int]) -> Iterator[Run]:
    """Yield runs of messages whose rows follow one another, by their first rows and their sizes."""
    first = rows = messages = 0
    for start, size in zip(starts, sizes, strict=True):
        if messages and start == first + rows:
            rows, messages = rows + size, messages + 1
            continue
        if messages:
            yield first, rows, messages
        first, rows, messages = start, size, 1
    if messages:
        yield first, rows, messages


def fit_of(key: Iterable[pa.Field], row: Iterable[pa.Field]) -> Any:
    """Return what fits keys and rows, which are JSON text, into columns without metadata.

    None if the kernel is not installed, or does not know such columns.

    Args:
        key: Columns of keys.
        row: Columns of rows.
    """
    make = getattr(installed(), "Fit", None)  # a kernel of another commit may lack it
    types, of_json = ([*map(each, (key, row))] for each in (without_metadata, all_json))
    try:
        return None if make is None else make(*types, *map(list, of_json))
    except (TypeError, ValueError):
        return None


def carried_of(afters: pa.Array, attributes: pa.Array) -> Any:
    """Return the columns that rows show, which are JSON text; None if the kernel is not installed.

    Args:
        afters: The rows.
        attributes: Attributes of their changes.

    Returns:
        ``columns``, as `changewire.engines.carried.text_of_row` returns them, and ``declined``:
        whether that is not known, and Python says it.
    """
    make = getattr(installed(), "carried", None)  # a kernel of another commit may lack it
    return None if make is None else make(*(one.cast(pa.binary()) for one in (afters, attributes)))


def merged(batches: Sequence[pa.RecordBatch], pieces: Sequence[tuple[int, int, int]]) -> Any:
    """Return some rows of batches of one schema as one batch, by the kernel, which must be there.

    Args:
        batches: Batches of one schema.
        pieces: Runs of rows: which batch each is of, its first row and the one behind its last.
    """
    return _module().merged(batches, pieces)
