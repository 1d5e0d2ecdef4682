"""What the options of topics, streams and tables amount to, and which do not go together."""

from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import typer

from changewire.engines.applied import is_by_table
from changewire.engines.options import (
    AVAILABLE_NOW,
    CHECKPOINT,
    TABLE_FORMATS,
    StreamOptions,
    TableOptions,
    log_of,
)

_WORDS: Final = ("json", "embedded", "variant")
_DELTA: Final = TABLE_FORMATS[0]


class StreamArguments(NamedTuple):
    """Arguments of a stream, as they were given."""

    checkpoint: str
    table_format: str | None = None
    continuous: bool = False
    max_dead_letters: str | None = None


def stream_options(given: StreamArguments, output: str) -> StreamOptions:
    """Return how a stream is written below an output folder.

    Raises:
        typer.BadParameter: The limit of dead letters is neither a number nor a share.
    """
    table_format = given.table_format or _DELTA
    try:
        return StreamOptions(
            log_of(output, table_format),
            given.checkpoint,
            table_format,
            None if given.continuous else AVAILABLE_NOW,
            limit_of(given.max_dead_letters),
        )
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
        given: Any = {
            "schema_evolution": self.schema_evolution,
            "numbers": self.numbers,
            "deletes": self.deletes,
            "view": self.view,
            "default_table": self.default_table,
            "apply_truncates": self.apply_truncates or None,
            "max_new_tables": self.max_new_tables,
            "max_dead_letters": limit_of(self.max_dead_letters),
        }
        given = {name: value for name, value in given.items() if value is not None}
        try:
            return TableOptions(target, row_schema_of(self.row_schema), **given)
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
    """Return the rows of tables: a word, the path of a schema, or the types by table of a file."""
    if given is None or given in _WORDS:
        return given or _WORDS[0]
    try:
        found = msgspec.json.decode(Path(given).read_bytes())
    except (OSError, msgspec.MsgspecError):
        return given  # it is rejected with the reason where it is used
    return found if is_by_table(found) else given


def checkpoint_of(given: str | None, output: str) -> str:
    """Return the checkpoint of a query, by default in its output folder."""
    return whole(f"{output}/{CHECKPOINT}") if given is None else given


def whole(path: str) -> str:
    """Return an absolute path, since SQL of Delta takes no other; a URI stays as it is."""
    is_uri = "://" in path or path.startswith("file:")
    return path if is_uri else str(Path(path).absolute())
