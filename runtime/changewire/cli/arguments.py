"""What the options of topics, streams and tables amount to, and which do not go together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import typer

from changewire.cli.records import STDIN
from changewire.engines.options import (
    AVAILABLE_NOW,
    TABLE_SINKS,
    StreamOptions,
    TableOptions,
    log_of,
)

STDOUT: Final = STDIN
JSON_ROWS: Final = "json"
_DELTA: Final = TABLE_SINKS[0]


class StreamArguments(NamedTuple):
    """What the command line says of a stream; each is as it was given."""

    checkpoint: str | None
    sink: str | None = None
    continuous: bool = False
    max_dead_letters: str | None = None
    metrics: str | None = None

    @property
    def for_streams_only(self) -> bool:
        """Whether an option is given that only a streaming query has."""
        return self.continuous or any((self.checkpoint, self.sink, self.metrics))


def check_stream(
    given: StreamArguments,
    tables: TableOptions | None,
    *,
    has_topics: bool,
    engine: str,
    as_json: bool,
) -> None:
    """Check that the options of a run go together; BadParameter says which do not."""
    has_checkpoint, has_tables = given.checkpoint is not None, tables is not None
    contradictions = (
        (
            has_checkpoint and not has_topics,
            "a stream reads Kafka topics: --checkpoint needs --kafka",
        ),
        (
            not has_checkpoint and given.for_streams_only,
            "--sink, --continuous and --metrics are for streams: they need --checkpoint DIR",
        ),
        (
            has_topics and has_tables and not has_checkpoint,
            "--target TABLE with --kafka is a stream: it needs --checkpoint DIR",
        ),
        (
            not has_checkpoint and not has_tables and given.max_dead_letters,
            "--max-dead-letters is for --checkpoint DIR or --target TABLE",
        ),
        (
            has_tables and not has_topics and engine == "spark",
            "--engine spark merges changes of Kafka topics: for files, --engine python",
        ),
        (
            has_tables and not has_topics and tables is not None and tables.view is not None,
            "--view is for streams: tables of files have no views",
        ),
        (
            has_checkpoint and given.metrics == STDOUT and as_json,
            "--json and --metrics - both write to standard output",
        ),
    )
    for is_found, text in contradictions:
        if is_found:
            raise typer.BadParameter(text)


def stream_options(given: StreamArguments, output: str) -> StreamOptions:
    """Return how a stream is written below an output folder.

    Raises:
        typer.BadParameter: The limit of dead letters is neither a number nor a share.
    """
    sink = given.sink or _DELTA
    try:
        return StreamOptions(
            log_of(output, sink),
            given.checkpoint or "",
            sink,
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

    rows: str | None
    rows_by_table: str | None = None
    schema_evolution: str | None = None
    deletes: str | None = None
    view: str | None = None
    null_set: str | None = None
    apply_as_truncates: bool = False
    max_new_tables: int | None = None

    def options(self, target: str, max_dead_letters: str | None = None) -> TableOptions:
        """Return the options of the tables of a target.

        Raises:
            typer.BadParameter: The file of rows by table is not a JSON object, or is not there, or
                an option is not valid.
        """
        if self.rows and self.rows_by_table:
            raise typer.BadParameter("--rows or --rows-by-table, not both")
        given: Any = {
            "schema_evolution": self.schema_evolution,
            "deletes": self.deletes,
            "view": self.view,
            "null_set": self.null_set,
            "apply_as_truncates": self.apply_as_truncates or None,
            "max_new_tables": self.max_new_tables,
            "max_dead_letters": limit_of(max_dead_letters),
        }
        given = {name: value for name, value in given.items() if value is not None}
        rows = _by_table(self.rows_by_table) if self.rows_by_table else self.rows or JSON_ROWS
        try:
            return TableOptions(target, rows, **given)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    def check_unused(self, *, has_topics: bool) -> None:
        """Check that no option is given that a run without ``--target`` does not have.

        Rows of files may have types without it.
        """
        given = {name: value for name, value in self._asdict().items() if value}
        if not has_topics:
            given.pop("rows", None)
        names = [f"--{name.replace('_', '-')}" for name in given]
        if names:
            raise typer.BadParameter(f"{', '.join(names)}: for --target TABLE")


def _by_table(file: str) -> dict[str, Any]:
    """Return the rows of tables by the names of their sources, as a JSON file has them."""
    try:
        return msgspec.json.decode(Path(file).read_bytes(), type=dict[str, str | dict[str, Any]])
    except OSError as error:
        raise typer.BadParameter(f"--rows-by-table {file}: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise typer.BadParameter(
            f"--rows-by-table {file}: expected a JSON object of names of tables and json, embedded "
            f"or a schema ({error})"
        ) from None


def kafka_options(
    inputs: Sequence[str] | None,
    servers: str | None,
    subscribe: str | None,
    options: Sequence[str] | None,
    engine: str,
) -> dict[str, str]:
    """Return the options of Spark's Kafka source; empty if files are read.

    Raises:
        typer.BadParameter: Files and topics are named, or an option has no value, or topics are
            to be read without Spark.
    """
    if servers is None:
        if subscribe or options:
            raise typer.BadParameter("--subscribe and --option are for --kafka HOST:PORT")
        return {}
    if inputs:
        raise typer.BadParameter("name files or --kafka, not both")
    if engine == "python":
        raise typer.BadParameter("topics are read in Spark: --kafka goes without --engine python")
    found = {"kafka.bootstrap.servers": servers}
    if subscribe:
        found["subscribe"] = subscribe
    for option in options or ():
        name, equals, value = option.partition("=")
        if not (name and equals):
            raise typer.BadParameter("--option: expected NAME=VALUE")
        found[name] = value
    return found


def whole(path: str) -> str:
    """Return an absolute path, since SQL of Delta takes no other; a URI stays as it is."""
    is_uri = "://" in path or path.startswith("file:")
    return path if is_uri else str(Path(path).absolute())
