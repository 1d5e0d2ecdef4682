"""What commands share that read a log without Spark."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, TypeVar

import typer
from msgspec import Raw

from changewire.cli.ending import REJECTED, VALID
from changewire.cli.options import choice_flag, text_flag, utf8
from changewire.cli.stderr import counted, notice
from changewire.cli.stdout import Lines, json_text
from changewire.codec import formats
from changewire.report.text import NAME, visible
from changewire.tables.names import tables_named

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

LogDir: TypeAlias = Annotated[
    str, typer.Argument(metavar="DIR", help="Output folder of run, or the folder of a log.")
]

TableName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--table",
        metavar="NAME",
        callback=utf8,
        help="The table, as database.table in the messages, or the end of its name.",
    ),
]

KeyColumns: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--key-column", metavar="COLUMN", help="Key column of the rows; repeatable."),
]

ApplyTruncates: TypeAlias = Annotated[
    bool, typer.Option("--apply-truncates", help="Let truncates remove rows, as in run and stream.")
]

QUERY_FLAGS: Final[Mapping[str, tuple[Any, Any]]] = {
    "row_schema": text_flag(
        "--row-schema",
        metavar="FILE",
        help="Schema of the rows, to have columns of its types in row.",
    ),
    "format": choice_flag(
        "--format",
        "-f",
        of=lambda: (*formats(),),
        metavar="FORMAT",
        help="Format of the messages, for a schema that messages carry.",
    ),
    "key_columns": (KeyColumns, None),
    "apply_truncates": (ApplyTruncates, False),
}
"""Options of queries that return rows of a table, each with its default."""

_NAMES: Final = 10
"""Names of tables or columns that a sentence has at most."""

_KEY: Final = "key"
_ROW: Final = "row"
_SPANS: Final = ("valid_from", "valid_to", "is_current", "op", "_changewire")


def queried(query: Callable[[], T]) -> T:
    """Return what a query gives; an argument that is not valid is wrong usage."""
    try:
        return query()
    except ValueError as error:
        raise typer.BadParameter(visible(str(error))) from None


def write_query(
    query: Callable[..., pa.Table],
    log: str,
    table: str,
    what: str,
    *,
    as_json: bool,
    **options: Any,
) -> int:
    """Write the rows of a query, and their number; return the exit code.

    `what` is what a row of the result is called, the options are `QUERY_FLAGS`.
    """
    options["row_schema"] = options["row_schema"] or "json"
    from changewire.engines.changelog.source import LogRows
    from changewire.engines.changelog.trace import key_columns_of

    found = queried(lambda: query(log, table=table, **options))
    tables = {} if len(found) else key_columns_of(LogRows(log))
    meant = meant_table(tables, table)
    if meant is not None:
        table = meant
        found = queried(lambda: query(log, table=table, **options))
    write_rows(found)
    text = f"{counted(len(found), what)} of {visible(table, NAME)}"
    notice("totals", text, {f"{what}s": len(found)}, as_json=as_json)
    if len(found):
        return VALID
    missing = missing_table(tables, table)
    for text in _reasons(log, table) if missing is None else [missing]:
        notice("error", text, as_json=as_json, style="red")
    return REJECTED


def _reasons(log: str, table: str) -> Iterator[str]:
    """Yield why changes of a table are in none of its rows."""
    from changewire.engines.changelog.logged import table_log
    from changewire.engines.changelog.source import LogRows

    found, name = table_log(LogRows(log), table), visible(table, NAME)
    if found.refused:
        are = _changes(len(found.refused), name, "is", "are")
        yield f"{are} refused: `changewire dead-letters --refused` has the reasons"
    keyless = sum(one[_KEY] is None for one in found.changes)
    if keyless:
        yield f"{_changes(keyless, name, 'has', 'have')} no key, so its row is not known"


def _changes(number: int, table: str, one: str, many: str) -> str:
    return f"{counted(number, 'change')} of {table} {one if number == 1 else many}"


def meant_table(tables: Collection[str], name: str | None) -> str | None:
    """Return the table that is meant by a name which no table has; None if there is not one.

    Raises:
        typer.BadParameter: Several may be meant.
    """
    found = [] if name is None or name in tables else tables_named(name, tables)
    if len(found) > 1:
        raise typer.BadParameter(f"--table may be any of: {bounded(found)}")
    return found[0] if found else None


def missing_table(tables: Collection[str], table: str) -> str | None:
    """Return in words that a log has no table of a name, and which it has; None if it has it."""
    if table in tables or not tables:
        return None
    shown = visible(table, NAME) or "''"
    return f"the log has no table {shown}; it has: {bounded(list(tables))}"


def bounded(names: Sequence[str]) -> str:
    """Return the first names of a sentence, and how many others there are."""
    shown = [visible(name, NAME) for name in names[:_NAMES]]
    others = len(names) - len(shown)
    return ", ".join(shown) + (f" and {counted(others, 'other')}" if others else "")


def write_rows(table: pa.Table) -> None:
    """Write the rows of a query as lines of JSON; columns of a type are those of ``row``."""
    lines = Lines()
    for row in _rows(table):
        spans = {name: row.pop(name) for name in _SPANS if name in row}
        if row.keys() == {_KEY, _ROW}:
            found = {name: Raw(text.encode()) for name, text in row.items()}
        else:
            found = {_ROW: Raw(json_text(row))}
        lines.write(found, spans)


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=1024):
        yield from batch.to_pylist(maps_as_pydicts="strict")
