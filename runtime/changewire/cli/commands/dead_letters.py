"""``changewire dead-letters``."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer
from msgspec import Raw

from changewire.cli.ending import ending
from changewire.cli.options import Json, text_option
from changewire.cli.queries import LogDir
from changewire.cli.stderr import counted, notice
from changewire.cli.stdout import Lines

_WHY: Final = ("code", "pointer", "message", "format")
_PLACE: Final = ("topic", "partition", "offset", "path", "number", "element", "timestamp")
_BYTES: Final = ("record_key", "value")
_TEXTS: Final = ("key", "before_key", "before", "after")
"""Columns of a refused change that are JSON text."""

_CHANGE: Final = (*_TEXTS, "source", "op", "target")
"""Columns of a refused change that a dead letter lacks."""


@ending
def dead_letters(
    log: LogDir,
    *,
    refused: Annotated[
        bool,
        typer.Option(
            "--refused", help="Write changes that tables refused, instead of dead letters."
        ),
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Stop after so many.")
    ] = None,
    close: Annotated[
        bool,
        typer.Option("--close", help="Close those that --where selects, instead of writing them."),
    ] = False,
    where: Annotated[
        str | None,
        text_option(metavar="SQL", help="Condition on dead letters, such as code = 'wrong-type'."),
    ] = None,
    by: Annotated[str | None, text_option("--by", metavar="NAME", help="Who closes them.")] = None,
    why: Annotated[
        str | None, text_option("--why", metavar="TEXT", help="Why they are closed.")
    ] = None,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Write messages, or keys and rows, as well.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Write the dead letters that no replay has closed, each as a line of JSON.

    A line has the code, the JSON Pointer, the reason and the position of the record. Values of
    the message are omitted unless you give --show-values. The log is read without Spark: Parquet,
    or Delta with the extra delta. The exit code is 1 if there are any.

    --close appends a row, with --by and --why, for each dead letter that --where selects. This
    closes it, for example because the message was corrected at the source.

    Example: changewire dead-letters lake/ | jq -r .code | sort | uniq -c
    """
    from changewire.engines.arrow.queries import dead_letters as letters_of
    from changewire.engines.arrow.queries import refused as refused_of

    if close:
        if refused or not (where and by and why):
            raise typer.BadParameter("--close is for dead letters, with --where, --by and --why")
        if limit is not None:
            raise typer.BadParameter("--close is for all that --where selects: leave out --limit")
        return _close(log, where, by, why, as_json=as_json)
    if where or by or why:
        raise typer.BadParameter("--where, --by and --why: only with --close")
    found = (refused_of if refused else letters_of)(log)
    shown = found if limit is None else found.slice(0, limit)
    columns = [*_WHY, *_PLACE, *(_CHANGE if refused else ()), *_BYTES]
    _write(shown.select(columns), show_values=show_values)
    one = "refused change" if refused else "dead letter"
    name = "refused" if refused else "dead_letters"
    notice("totals", counted(len(found), one), {name: len(found)}, as_json=as_json)
    return int(len(found) > 0)


def _write(rows: Any, *, show_values: bool) -> None:
    """Write a table of rows of a log as lines of JSON."""
    from changewire.engines.times import shown_times

    lines, at = Lines(), rows.schema.get_field_index("timestamp")
    for batch in rows.to_batches(max_chunksize=1024):
        # Spark keeps times that Python cannot show.
        for row in batch.set_column(at, "timestamp", shown_times(batch[at])).to_pylist():
            lines.write(_line(row, show_values=show_values))


def _close(log: str, where: str, by: str, why: str, *, as_json: bool) -> int:
    """Close dead letters, and say how many are left; return the exit code."""
    from changewire.delta import close_dead_letters
    from changewire.engines.arrow.queries import dead_letters as letters_of

    closed = close_dead_letters(log, where=where, by=by, why=why)
    left = len(letters_of(log))
    text = f"{counted(closed, 'dead letter')} closed, {left:,} still open"
    notice("totals", text, {"closed": closed, "dead_letters": left}, as_json=as_json)
    return int(left > 0)


def _line(row: Mapping[str, Any], *, show_values: bool) -> dict[str, Any]:
    """Return a row without values, or with them: bytes other than text are Base64."""
    found = {name: value for name, value in row.items() if name not in {*_BYTES, *_TEXTS}}
    if not show_values:
        return found
    for name in (one for one in _BYTES if row[one] is not None):
        text = _text(row[name])
        found |= {f"{name}_base64": row[name]} if text is None else {name: text}
    texts = {name: row[name] for name in _TEXTS if row.get(name) is not None}
    return {**found, **{name: Raw(text.encode()) for name, text in texts.items()}}


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
