"""What the options of topics, streams and tables amount to, and which do not go together."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import typer

from changewire.changes.decode_options import DecodeOptions
from changewire.cli.flags import options_in
from changewire.cli.settings import settings_by_table
from changewire.cli.streams import TABLE_FLAGS
from changewire.engines.applied import is_by_table
from changewire.engines.options import (
    AVAILABLE_NOW,
    CHECKPOINT,
    TABLE_FORMATS,
    StreamOptions,
    TableOptions,
    log_of,
)
from changewire.engines.stream.options import LocalStream

_WORDS: Final = ("auto", "json", "embedded", "variant")
_DELTA: Final = TABLE_FORMATS[0]
_TIME: Final = re.compile(r"([1-9]\d{0,5})([smh])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}


def stream_options(
    output: str,
    checkpoint: str,
    table_format: str | None,
    *,
    is_continuous: bool = False,
    max_dead_letters: str | None = None,
    apply_every: str | None = None,
) -> StreamOptions:
    """Return how a stream is written below an output folder.

    Raises:
        typer.BadParameter: The limit of dead letters is neither a number nor a share, or the time
            between merges is not valid.
    """
    if apply_every is not None and not is_continuous:
        raise typer.BadParameter("--apply-every: only with --continuous")
    every = (
        None if apply_every is None else {"processingTime": f"{seconds_of(apply_every)} seconds"}
    )
    table_format, trigger = table_format or _DELTA, None if is_continuous else AVAILABLE_NOW
    limit = limit_of(max_dead_letters)
    try:
        log = log_of(whole(output), table_format)
        return StreamOptions(log, checkpoint, table_format, trigger, limit, apply_trigger=every)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def local_stream(
    output: str,
    decode_options: DecodeOptions,
    tables: TableOptions | None,
    *,
    is_continuous: bool,
    max_dead_letters: str | None,
    show_values: bool,
    every: Mapping[str, str | None],
) -> LocalStream:
    """Return how a stream without Spark is written below an output folder.

    `every` has times by the names of `LocalStream`, which are None if they are not given.

    Raises:
        typer.BadParameter: The limit of dead letters is neither a number nor a share, or a time is
            not valid, or needs `is_continuous`.
    """
    for name in ("apply_every", "compact_every"):
        if every[name] is not None and not is_continuous:
            raise typer.BadParameter(f"--{name.replace('_', '-')}: only with --continuous")
    seconds: Any = {name: seconds_of(text) for name, text in every.items() if text is not None}
    try:
        return LocalStream(
            log_of(whole(output), _DELTA),
            decode_options,
            tables,
            continuous=is_continuous,
            max_dead_letters=limit_of(max_dead_letters),
            show_values=show_values,
            **seconds,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def seconds_of(text: str) -> int:
    """Return a time such as 30s, 5m or 1h in seconds.

    Raises:
        typer.BadParameter: The text is another one.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"expected a time such as 30s, 5m or 1h, found {text!r}")
    return int(found[1]) * _SECONDS[found[2]]


def limit_of(text: str | None) -> int | str | None:
    """Return a limit of dead letters as it was given, a number as one."""
    return int(text) if text and text.isdecimal() else text


def table_options(
    target: str, given: Mapping[str, Any], max_dead_letters: str | None = None
) -> TableOptions:
    """Return the options of the tables of a target, by what is given of `TABLE_FLAGS`.

    Raises:
        typer.BadParameter: An option is not valid.
    """
    options: Any = {n: given[n] for n in TABLE_FLAGS if given.get(n) not in (None, [])}
    options["row_schema"] = row_schema_of(given.get("row_schema"))
    options["tables"] = settings_by_table(given.get("tables"), options.pop("columns", None))
    try:
        return TableOptions(target, **options, max_dead_letters=limit_of(max_dead_letters))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def merged_tables(
    target: str | None,
    given: Mapping[str, Any],
    elements_as: str,
    max_dead_letters: str | None,
) -> TableOptions | None:
    """Return the options of the tables of a target; None without one.

    Raises:
        typer.BadParameter: An option is not valid, or is for tables, without `target`.
    """
    if target is None:
        _check_unused(given)
        return None
    if elements_as != "changes":
        raise typer.BadParameter(f"--target needs changes: it excludes --as {elements_as}")
    return table_options(target, given, max_dead_letters)


def _check_unused(given: Mapping[str, Any]) -> None:
    """Check that no option is given that needs tables; rows may have one type without them."""
    names = [name for name in TABLE_FLAGS if given.get(name) and name != "row_schema"]
    if names:
        flags = ", ".join(options_in(TABLE_FLAGS)[name] for name in names)
        raise typer.BadParameter(f"{flags}: only with --target TABLE")
    if not isinstance(row_schema_of(given["row_schema"]), str):
        raise typer.BadParameter("--row-schema by table: only with --target TABLE")


def row_schema_of(given: str | None, default: str = _WORDS[0]) -> Any:
    """Return the rows of tables: a word, the path of a schema, or the types by table of a file."""
    if given is None or given in _WORDS:
        return given or default
    try:
        found = msgspec.json.decode(Path(given).read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
        return given  # it is refused with the reason where it is used
    return found if is_by_table(found) else given


def checkpoint_of(given: str | None, output: str) -> str:
    """Return the checkpoint of a query, by default in its output folder."""
    return whole(f"{output}/{CHECKPOINT}") if given is None else given


def whole(path: str) -> str:
    """Return an absolute path, since SQL of Delta takes no other; a URI stays as it is."""
    is_uri = "://" in path or path.startswith("file:")
    return path if is_uri else str(Path(path).absolute())
