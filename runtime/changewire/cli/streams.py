"""Options of Kafka topics, of streams and of tables."""

from typing import Annotated, TypeAlias

import typer

from changewire.cli.options import choice_option, text_option
from changewire.engines.options import SINKS
from changewire.tables.version_rows import VERSION_NAMES

Servers: TypeAlias = Annotated[
    str | None,
    text_option(
        "--kafka",
        metavar="HOST:PORT",
        help="Read Kafka topics, from these bootstrap servers, in Spark.",
    ),
]

Subscribe: TypeAlias = Annotated[
    str | None,
    text_option("--subscribe", metavar="TOPIC", help="Topics to read, with commas between them."),
]

Options: TypeAlias = Annotated[
    list[str] | None,
    text_option(
        "--option",
        metavar="NAME=VALUE",
        help="Option of Spark's Kafka source, like startingOffsets or kafka.*; may be repeated.",
    ),
]

Packages: TypeAlias = Annotated[
    str | None,
    text_option(
        "--packages",
        metavar="COORDINATES",
        help="Connectors that Spark fetches, as its own option of this name takes them; "
        "those tested with the installed Spark unless given.",
    ),
]

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
        help="Format of a stream's tables: {}; delta unless given.",
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
        metavar="TOPIC", help="Send dead letters to this topic too, with headers that say why."
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
        help="Rows: json, embedded (columns that messages declare), or a schema file.",
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

History: TypeAlias = Annotated[
    str | None,
    text_option(
        "--history",
        metavar="TABLE",
        help="Keep every version of each row in these tables; with the fields of --target.",
    ),
]

HistoryNames: TypeAlias = Annotated[
    str | None,
    choice_option(
        "--history-names",
        of=VERSION_NAMES,
        metavar="NAMES",
        help="Columns of --history: plain (valid_from) or auto_cdc (__START_AT).",
    ),
]

Metrics: TypeAlias = Annotated[
    str | None,
    text_option(
        "--metrics",
        metavar="FILE",
        help="Append a line of JSON for each batch of a stream; - is standard output.",
    ),
]
