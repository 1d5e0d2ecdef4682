"""Options that make a run a streaming query, and what is said while it goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, Final, TypeAlias

import typer

from changewire.cli.options import choice_option, text_option
from changewire.cli.progress import progress
from changewire.cli.records import STDIN

STDOUT: Final = STDIN
SINKS: Final = ("delta", "iceberg", "parquet")
_JSON: Final = "json"


Checkpoint: TypeAlias = Annotated[
    str | None,
    text_option(
        metavar="DIR",
        help="Run as a streaming query, which keeps here how far it has come; for files with "
        "--target, keep here what is known of tables.",
    ),
]

SinkOption: TypeAlias = Annotated[
    str | None,
    choice_option(
        "--sink",
        of=SINKS,
        metavar="SINK",
        help=f"Format of a stream's tables: {', '.join(SINKS)}; delta unless given.",
        show_default=False,
    ),
]

Continuous: TypeAlias = Annotated[
    bool,
    typer.Option("--continuous", help="Let a stream wait for more when it has read what is there."),
]

MaxDeadLetters: TypeAlias = Annotated[
    str | None,
    text_option(
        metavar="N|P%", help="End a stream at a batch with more dead letters: a number, or a share."
    ),
]

DeadLettersTopic: TypeAlias = Annotated[
    str | None,
    text_option(
        metavar="TOPIC", help="Send dead letters to this topic too, with headers that tell why."
    ),
]

Target: TypeAlias = Annotated[
    str | None,
    text_option(
        metavar="TABLE",
        help="Merge changes into these tables: a path or name with {database} and {table} in it.",
    ),
]

Rows: TypeAlias = Annotated[
    str | None,
    text_option(
        "--rows",
        metavar="ROWS",
        help="Rows of tables: json, embedded (columns that messages declare), or a schema file.",
        completes=("json", "embedded"),
    ),
]

SchemaEvolutionOption: TypeAlias = Annotated[
    str | None,
    text_option(
        "--schema-evolution",
        metavar="HOW",
        help="What tables do with new columns: add_columns, or strict (dead letters).",
        completes=("add_columns", "strict"),
    ),
]

NullSet: TypeAlias = Annotated[
    str | None,
    text_option(metavar="TABLE", help="Table of writes that name none."),
]

Truncates: TypeAlias = Annotated[
    bool, typer.Option("--apply-as-truncates", help="Let truncates remove rows of tables.")
]

Metrics: TypeAlias = Annotated[
    str | None,
    text_option(
        "--metrics",
        metavar="FILE",
        help="Append a line of JSON for each batch of a stream; - is standard output.",
    ),
]


def stream_options(
    checkpoint: str | None,
    topics: Mapping[str, str],
    *,
    sink: str | None,
    continuous: bool,
    max_dead_letters: str | None,
    dead_letters_topic: str | None,
    metrics: str | None,
    as_json: bool,
    tables: Mapping[str, Any] | None,
) -> dict[str, Any] | None:
    """Return how to land a stream; None where the run is none.

    Raises:
        BadParameter: An option of streams stands alone, or files are to be read as a stream, or
            standard output is to hold lines and a report.
    """
    if checkpoint is None:
        if sink or continuous or max_dead_letters or dead_letters_topic or metrics or tables:
            raise typer.BadParameter(
                "--sink, --continuous, --max-dead-letters, --dead-letters-topic, --metrics and "
                "--target are for --checkpoint DIR"
            )
        return None
    if not topics:
        raise typer.BadParameter("a stream reads Kafka topics: --checkpoint needs --kafka")
    if metrics == STDOUT and as_json:
        raise typer.BadParameter("--json and --metrics - both write to standard output")
    if tables is not None and sink == "parquet":
        raise typer.BadParameter("--target needs --sink delta or iceberg: Parquet has no MERGE")
    limit = max_dead_letters
    return {
        "tables": tables,
        "checkpoint": checkpoint,
        "sink": sink or SINKS[0],
        "continuous": continuous,
        "dead_letters_topic": dead_letters_topic,
        "max_dead_letters": int(limit) if limit and limit.isdecimal() else limit,
    }


def file_options(
    checkpoint: str | None,
    topics: Mapping[str, str],
    engine: str,
    tables: Mapping[str, Any] | None,
    *,
    sink: str | None,
    continuous: bool,
    max_dead_letters: str | None,
    dead_letters_topic: str | None,
    metrics: str | None,
) -> dict[str, Any] | None:
    """Return how files are merged into tables, without Spark; None where they are not.

    Raises:
        BadParameter: An option is one of streams, or needs Spark.
    """
    if tables is None or checkpoint is None or topics:
        return None
    if continuous or max_dead_letters or dead_letters_topic or metrics:
        raise typer.BadParameter(
            "--continuous, --max-dead-letters, --dead-letters-topic and --metrics are for streams: "
            "they need --kafka"
        )
    if engine == "spark":
        raise typer.BadParameter(
            "--engine spark merges changes of Kafka topics: for files, --engine python"
        )
    if sink not in {None, SINKS[0]}:
        raise typer.BadParameter(f"without --kafka, --target needs --sink {SINKS[0]}")
    if tables.get("rows", _JSON) != _JSON or "schema_evolution" in tables:
        raise typer.BadParameter(
            f"without --kafka, tables have --rows {_JSON}: other rows, and --schema-evolution, "
            "need Spark"
        )
    return {"tables": tables, "checkpoint": checkpoint}


def table_options(
    target: str | None,
    *,
    rows: str | None,
    schema_evolution: str | None,
    null_set: str | None,
    apply_as_truncates: bool,
) -> dict[str, Any] | None:
    """Return what a stream is told of tables; None where it feeds none.

    Raises:
        BadParameter: An option of tables stands without their name.
    """
    given = {
        "rows": rows,
        "schema_evolution": schema_evolution,
        "null_set": null_set,
        "apply_as_truncates": apply_as_truncates or None,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    if target is not None:
        return {"target": whole(target) if "/" in target else target, **chosen}
    if chosen:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in chosen)
        raise typer.BadParameter(f"{names}: for --target TABLE")
    return None


def whole(path: str) -> str:
    """Return a path as a whole one, for SQL of Delta takes no other; a URI stays."""
    is_uri = "://" in path or path.startswith("file:")
    return path if is_uri else str(Path(path).absolute())


@contextmanager
def metric_lines(file: str | None) -> Generator[Callable[[str], None] | None, None, None]:
    """Give what appends lines to a file, each at once; None where there is no file."""
    if file is None:
        yield None
    elif file == STDOUT:
        yield lambda line: _write(sys.stdout, line)
    else:
        with open(file, "a", encoding="utf-8") as lines:  # noqa: PTH123 - a name as it was given
            yield lambda line: _write(lines, line)


def _write(stream: IO[str], line: str) -> None:
    stream.write(f"{line}\n")
    stream.flush()


@contextmanager
def told_batches(*, as_json: bool = False) -> Generator[Callable[[str], None], None, None]:
    """Give what says how far a stream has come: one line on a terminal, a line a batch in a log."""
    with progress("waiting for the first batch", as_json=as_json) as shown:
        yield shown.show if shown.is_shown else shown.say
