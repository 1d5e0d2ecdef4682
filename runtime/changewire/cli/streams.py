"""Options of Kafka topics, of streams and of tables."""

from typing import Annotated, TypeAlias

import typer

from changewire.cli.options import choice_option, text_option
from changewire.engines.options import DELETES, TABLE_SINKS

Output: TypeAlias = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="Folder of the log and the report.")
]

ShowValues: TypeAlias = Annotated[
    bool,
    typer.Option("--show-values", help="Show the start of rejected messages in the report."),
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

SinkOption: TypeAlias = Annotated[
    str | None,
    choice_option(
        "--sink",
        of=TABLE_SINKS,
        metavar="SINK",
        help="Format of the log and tables of a stream: {}; delta unless given.",
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
        metavar="N|P%",
        help="Stop before a batch with more dead letters is written: a number, or a share.",
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

RowsByTable: TypeAlias = Annotated[
    str | None,
    text_option(
        "--rows-by-table",
        metavar="FILE",
        help='Rows of each table: a JSON file such as {"shop.orders": "orders.schema.json", '
        '"*": "json"}.',
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

DeletesOption: TypeAlias = Annotated[
    str | None,
    choice_option(
        "--deletes",
        of=DELETES,
        metavar="HOW",
        help="What becomes of deleted rows: {}; remove unless given. Flagged rows keep their key.",
        show_default=False,
    ),
]

View: TypeAlias = Annotated[
    str | None,
    text_option(
        "--view",
        metavar="VIEW",
        help="With --deletes flag: name of a view of the rows that are not deleted, with the "
        "fields of --target.",
    ),
]

MaxNewTables: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--max-new-tables",
        metavar="N",
        min=0,
        help="How many tables a batch may bring, 100 unless given; changes of others are refused.",
        show_default=False,
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
