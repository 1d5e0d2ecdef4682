"""What the options of topics, streams and tables amount to, and which do not go together."""

from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import typer

from changewire.engines.applied import is_by_table
from changewire.engines.options import (
    AVAILABLE_NOW,
    TABLE_FORMATS,
    StreamOptions,
    TableOptions,
    log_of,
)

_WORDS: Final = ("json", "embedded", "variant")
_DELTA: Final = TABLE_FORMATS[0]
_CHECKPOINT: Final = "checkpoint"


def stream_options(
    output: str,
    checkpoint: str,
    table_format: str | None,
    *,
    is_continuous: bool = False,
    max_dead_letters: str | None = None,
) -> StreamOptions:
    """Return how a stream is written below an output folder.

    Raises:
        typer.BadParameter: The limit of dead letters is neither a number nor a share.
    """
    table_format, trigger = table_format or _DELTA, None if is_continuous else AVAILABLE_NOW
    limit = limit_of(max_dead_letters)
    try:
        return StreamOptions(log_of(output, table_format), checkpoint, table_format, trigger, limit)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def limit_of(text: str | None) -> int | str | None:
    """Return a limit of dead letters as it was given, a number as one."""
    return int(text) if text and text.isdecimal() else text


class TableArguments(NamedTuple):
    """What the command line says of the rows of tables; each is as it was given."""

    row_schema: str | None
    schema_evolution: str | None = None
    numbers: str | None = None
    deletes: str | None = None
    view: str | None = None
    default_table: str | None = None
    apply_truncates: bool = False
    max_new_tables: int | None = None
    max_dead_letters: str | None = None

    def merged(self, target: str | None, elements_as: str) -> TableOptions | None:
        """Return the options of the tables of a target; None without one.

        Raises:
            typer.BadParameter: An option is not valid, or is for tables, without `target`.
        """
        if target is None:
            self._check_unused()
            return None
        if elements_as != "changes":
            raise typer.BadParameter(f"--target needs changes: it excludes --as {elements_as}")
        return self.options(target)

    def options(self, target: str) -> TableOptions:
        """Return the options of the tables of a target.

        Raises:
            typer.BadParameter: An option is not valid.
        """
        limit = limit_of(self.max_dead_letters)
        given = {**self._asdict(), "max_dead_letters": limit, "row_schema": None}
        options: Any = {name: value for name, value in given.items() if value is not None}
        try:
            return TableOptions(target, row_schema_of(self.row_schema), **options)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    def _check_unused(self) -> None:
        """Check that no option is given that needs tables; rows may have one type without them."""
        names = [
            f"--{name.replace('_', '-')}"
            for name, value in self._asdict().items()
            if value and name not in {"row_schema", "max_dead_letters"}
        ]
        if names:
            raise typer.BadParameter(f"{', '.join(names)}: only with --target TABLE")
        if not isinstance(row_schema_of(self.row_schema), str):
            raise typer.BadParameter("--row-schema by table: only with --target TABLE")


def row_schema_of(given: str | None) -> Any:
    """Return what rows of tables are: a word, the path of a schema, or what a file has by table."""
    if given is None or given in _WORDS:
        return given or _WORDS[0]
    try:
        found = msgspec.json.decode(Path(given).read_bytes())
    except (OSError, msgspec.MsgspecError):
        return given  # it is rejected with the reason where it is used
    return found if is_by_table(found) else given


def checkpoint_of(given: str | None, output: str) -> str:
    """Return the checkpoint of a query, by default in its output folder."""
    return whole(f"{output}/{_CHECKPOINT}") if given is None else given


def whole(path: str) -> str:
    """Return an absolute path, since SQL of Delta takes no other; a URI stays as it is."""
    is_uri = "://" in path or path.startswith("file:")
    return path if is_uri else str(Path(path).absolute())
