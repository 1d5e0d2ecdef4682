"""Tables of Delta Lake as delta-rs has them; what it misreads is refused."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, QueryBuilder, Schema
from deltalake.exceptions import CommitFailedError, DeltaError

from changewire.engines.changelog.source import READ_OPTIONS, file_system
from changewire.engines.errors import OutputError, reason_of
from changewire.engines.merge.url_files import await_files_of
from changewire.engines.retries import WriteConflictError
from changewire.engines.typed.types import StructJson, differing, parts, struct_json
from changewire.tables.routing import NOT_WRITABLE, Refusal

NEXT_VERSION: Final = CommitProperties(max_commit_retries=0)
"""Lets a change of a table be the version after the one that it was decided on, or none at all."""

STORE_OPTIONS: Final = {"max_retries": "1000", "retry_timeout": "60s"}
"""Let an object store give no answer for a minute. By default, delta-rs gives up after some 5 s."""

_MAPPING: Final = "delta.columnMapping.mode"
_VARIANT: Final = "variantType"
_PLAIN: Final = {"timestampNtz", _VARIANT}
"""Features for readers of tables that Arrow reads as they are, unless they have a VARIANT.

Delta-rs adds `_VARIANT` to each table that has features if it sets a property.
"""

_LACKING: Final = re.compile(
    r"(?:Unsupported table features required"
    r"|Kernel error: (?:Unsupported|Max catalog version error)): (.+)"
)
"""What the text of an error has if a table has features that delta-rs lacks, and which."""

_UNREADABLE: Final = re.compile(r"[\x00-\x1f%\\\[\]^|]")
"""Characters in a path that delta-rs 1.6 takes for something else, or that end the process."""

_SCHEME: Final = "://"
_UNREADABLE_IN_URL: Final = re.compile(rf"{_UNREADABLE.pattern}|[#?]")
_HALF_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?!//)")
"""How a URI begins that `_SCHEME` does not mark; a single letter is a drive."""

_COMPARED: Final = {pa.string(), pa.int8(), pa.int16(), pa.int32(), pa.int64()}
_NO_ADVICE: Final[Mapping[str, str]] = {}


class UnwritableError(OutputError):
    """A table has what delta-rs does not write as it is; `refusal` is that of its changes."""

    def __init__(self, path: str, reason: str) -> None:
        """Say why delta-rs does not write a table."""
        text = f"delta-rs does not write the table ({reason}); use Spark"
        super().__init__(f"{path}: {text}")
        self.refusal: Refusal = Refusal(NOT_WRITABLE, "/source", text)


def check_path(target: str) -> None:
    """Refuse a path that delta-rs does not read unchanged, by a ValueError."""
    if half := _HALF_SCHEME.match(target):
        raise ValueError(
            f"delta-rs cannot have a table at {target!r}: after {half[0]!r} come two slashes and "
            "the whole path, as in 'file:///lake/t'; or give the path alone"
        )
    is_url = _SCHEME in target
    path = target if is_url else os.path.abspath(target)  # noqa: PTH100 - no folder yet
    found = (_UNREADABLE_IN_URL if is_url else _UNREADABLE).search(path)
    if found is not None:
        raise ValueError(
            f"delta-rs cannot have a table at {path!r}: {found[0]!r} in a path means something "
            "else to it; choose another folder"
        )


def opened(path: str) -> DeltaTable | None:
    """Return a table at its newest version; None if it does not exist."""
    with reported(path):
        if not DeltaTable.is_deltatable(path, STORE_OPTIONS):
            return None
        table = DeltaTable(path, storage_options=STORE_OPTIONS)
    if table.metadata().configuration.get(_MAPPING, "none") != "none":
        # Delta-rs finds NULL in columns whose names in the files are others.
        raise UnwritableError(path, "column mapping")
    lacking = {*(table.protocol().reader_features or ())} - _PLAIN
    if _has_variant(columns_of(table.schema())):
        lacking.add(_VARIANT)
    if lacking:
        raise UnwritableError(path, ", ".join(sorted(lacking)))
    return table


@contextmanager
def reported(path: str, damage: type[Exception] = OSError) -> Generator[None, None, None]:
    """Report what cannot be read or written as `OutputError`, conflicts as `WriteConflictError`.

    Damaged files raise `damage`, which other code may raise for other reasons.
    """
    try:
        yield
    except Exception as error:
        # Delta-rs has no type for what fails while it runs a query, such as a cast.
        if not isinstance(error, (DeltaError, OSError, damage)) and type(error) is not Exception:
            raise
        if lacking := _LACKING.search(str(error)):
            raise UnwritableError(path, lacking[1]) from error
        if isinstance(error, CommitFailedError):
            raise WriteConflictError from error
        raise _unable(path, error) from error


def _has_variant(kind: Any) -> bool:
    return kind == "variant" or any(_has_variant(part) for _, part in parts(kind))


def _unable(path: str, error: Exception) -> OutputError:
    return OutputError(f"{path}: delta-rs cannot do it ({reason_of(error)})")


def dataset_of(path: str, table: DeltaTable, files: str | None = None) -> Any:
    """Return a table as a dataset of Arrow; `files` in SQL leaves out files by statistics."""
    system = None if _SCHEME in path else file_system(path)
    with reported(path):
        data: Any = table.to_pyarrow_dataset(
            filesystem=system, file_pruning_predicate=files, parquet_read_options=READ_OPTIONS
        )
    if system is None:
        await_files_of(data.filesystem)
    if table.metadata().partition_columns:
        return data
    parts = [data.format.make_fragment(one.path, data.filesystem) for one in data.get_fragments()]
    return ds.FileSystemDataset(parts, data.schema, data.format, data.filesystem)


def tables_in(
    path: str,
    data: Any,
    where: ds.Expression,
    columns: Sequence[str] | Mapping[str, ds.Expression] | None = None,
    near: ds.Expression | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows of a table for which a condition is true, on columns as they are wanted.

    `data` are its files, or some of them. More is skipped by `near`. It compares no text: Arrow
    fails to compare that with the statistics of the files that delta-rs writes, which are string
    views. At a URL all files are read, even if not all rows are taken.
    """
    names = data.schema.names if columns is None else columns
    wanted = columns if isinstance(columns, dict) else {name: ds.field(name) for name in names}
    own = " ".join(["wanted", *wanted])  # a name that no column has
    with reported(path, pa.ArrowInvalid):
        batches = data.to_batches(columns={**wanted, own: where}, filter=near)
    try:
        while True:
            with reported(path, pa.ArrowInvalid):
                batch = next(batches, None)
            if batch is None:
                return
            is_wanted, found = batch.column(own), batch.select([*wanted])
            number = pc.sum(is_wanted).as_py() or 0
            if number:
                table = pa.Table.from_batches([found])
                yield table if number == len(table) else table.filter(is_wanted)
    finally:
        if _SCHEME in path:
            # No thread of Arrow opens a file afterwards, as `await_files_of` expects.
            with suppress(OSError, pa.ArrowInvalid):
                for _ in batches:
                    pass


def selected(path: str, table: DeltaTable, schema: pa.Schema, where: str) -> Iterator[pa.Table]:
    """Yield some columns of the rows that meet a condition in SQL of DataFusion, by batches."""
    names = ", ".join(map(quoted, schema.names))
    query = f"SELECT {names} FROM log WHERE {where}"  # noqa: S608 - a user's own
    with reported(path):
        found = QueryBuilder().register("log", table).execute(query)
        for batch in found:
            yield pa.Table.from_batches([pa.record_batch(batch)]).cast(schema)


def between(rows: pa.Table, names: Iterable[str]) -> str | None:
    """Return the condition in SQL that columns have values between those of some rows.

    Columns of other types than integers and text, and those with NULL, are left out.
    """
    found = []
    for name in names:
        column = rows[name]
        if column.null_count == 0 and len(column) and column.type in _COMPARED:
            least, most = pc.min_max(column).as_py().values()
            found.append(f"{quoted(name)} BETWEEN {literal(least)} AND {literal(most)}")
    return " AND ".join(found) or None


def quoted(name: str) -> str:
    """Return a name as SQL of DataFusion has it."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: int | str) -> str:
    """Return a number or text as in SQL."""
    return str(value) if isinstance(value, int) else f"'{value.replace(chr(39), chr(39) * 2)}'"


def compact(path: str, table: DeltaTable) -> None:
    """Write small files of a table together, in the order that they have."""
    with reported(path):
        table.optimize.compact(commit_properties=NEXT_VERSION)


def columns_of(schema: Schema) -> StructJson:
    """Return columns in the JSON form of a StructType."""
    return struct_json(json.loads(schema.to_json())["fields"])


def check_columns(
    path: str, there: Schema, needed: pa.Schema, advice: Mapping[str, str] = _NO_ADVICE
) -> None:
    """Check that a table has columns that it needs; `advice` says what to do, by their names."""
    wanted = columns_of(Schema.from_arrow(needed))
    for name, kind, has in differing(columns_of(there), wanted):
        raise OutputError(
            f"{path}: a column {name} of type {kind} is needed, and the table {has}"
            f"{advice.get(name, '')}"
        )
