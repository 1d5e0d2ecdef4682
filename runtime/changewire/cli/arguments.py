"""What the options of topics, streams and tables amount to, and which do not go together."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import typer

from changewire.cli.records import STDIN
from changewire.engines.options import (
    AVAILABLE_NOW,
    SINKS,
    StreamOptions,
    TableOptions,
    outputs_below,
)

STDOUT: Final = STDIN
JSON_ROWS: Final = "json"
_PLAIN: Final = "plain"
_DELTA: Final = SINKS[0]


class StreamArguments(NamedTuple):
    """What the command line says of a stream; each is as it was given."""

    checkpoint: str | None
    sink: str | None = None
    continuous: bool = False
    max_dead_letters: str | None = None
    dead_letters_topic: str | None = None
    metrics: str | None = None

    @property
    def for_streams_only(self) -> bool:
        """Whether an option is given that only a streaming query has."""
        only = (self.max_dead_letters, self.dead_letters_topic, self.metrics)
        return self.continuous or any(only)


def check_stream(
    given: StreamArguments,
    tables: TableOptions | None,
    *,
    has_topics: bool,
    engine: str,
    as_json: bool,
) -> None:
    """Check that the options of a run go together; BadParameter says which do not."""
    has_checkpoint, has_tables, sink = given.checkpoint is not None, tables is not None, given.sink
    is_stream = has_checkpoint and has_topics
    is_merge = has_checkpoint and not has_topics and has_tables
    contradictions = (
        (
            not has_checkpoint and (given.for_streams_only or sink or has_tables),
            (
                "--sink, --continuous, --max-dead-letters, --dead-letters-topic, --metrics and "
                "--target are for --checkpoint DIR"
            ),
        ),
        (
            is_merge and given.for_streams_only,
            (
                "--continuous, --max-dead-letters, --dead-letters-topic and --metrics are for "
                "streams: they need --kafka"
            ),
        ),
        (
            is_merge and engine == "spark",
            "--engine spark merges changes of Kafka topics: for files, --engine python",
        ),
        (
            is_merge and sink not in {None, _DELTA},
            f"without --kafka, --target needs --sink {_DELTA}",
        ),
        (
            has_checkpoint and not is_stream and not is_merge,
            "a stream reads Kafka topics: --checkpoint needs --kafka",
        ),
        (
            is_stream and given.metrics == STDOUT and as_json,
            "--json and --metrics - both write to standard output",
        ),
        (
            is_stream and has_tables and sink == "parquet",
            "--target needs --sink delta or iceberg: Parquet has no MERGE",
        ),
    )
    for is_found, text in contradictions:
        if is_found:
            raise typer.BadParameter(text)


def stream_options(
    given: StreamArguments,
    output: str,
    kafka: Mapping[str, str] | None = None,
    elements_as: str = "changes",
) -> StreamOptions:
    """Return how a stream is written below an output folder.

    Raises:
        typer.BadParameter: The limit of dead letters is neither a number nor a share.
    """
    sink, limit = given.sink or _DELTA, given.max_dead_letters
    try:
        return StreamOptions(
            outputs_below(output, sink, elements_as),
            given.checkpoint or "",
            sink,
            None if given.continuous else AVAILABLE_NOW,
            int(limit) if limit and limit.isdecimal() else limit,
            given.dead_letters_topic,
            kafka,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


class TableArguments(NamedTuple):
    """What the command line says of the rows of tables; each is as it was given."""

    rows: str | None
    schema_evolution: str | None
    null_set: str | None
    apply_as_truncates: bool
    history: str | None = None
    history_names: str | None = None

    def options(self, target: str) -> TableOptions:
        """Return the options of the tables of a target."""
        return TableOptions(
            target,
            self.rows or JSON_ROWS,
            self.schema_evolution or "add_columns",
            self.null_set,
            self.apply_as_truncates,
            self.history,
            self.history_names or _PLAIN,
        )

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
