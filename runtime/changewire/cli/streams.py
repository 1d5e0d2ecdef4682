"""Options of Kafka topics, of streams and of tables."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeAlias

import typer

from changewire.cli.options import choice_flag, choice_option, text_flag, text_option, texts_flag
from changewire.engines.options import TABLE_FORMATS
from changewire.engines.settings import DELETES, MISFITS

Output: TypeAlias = Annotated[
    str, text_option("--output", "-o", metavar="DIR", help="Folder of the log and the report.")
]

ShowValues: TypeAlias = Annotated[
    bool,
    typer.Option("--show-values", help="Show the start of dead letters in the report."),
]

Packages: TypeAlias = Annotated[
    str | None,
    text_option(
        "--packages",
        metavar="COORDINATES",
        help="Maven coordinates of connectors for Spark; by default the tested ones.",
    ),
]

Checkpoint: TypeAlias = Annotated[
    str | None,
    text_option(
        "--checkpoint",
        metavar="DIR",
        help="Folder for the progress of the query; by default in the output folder.",
    ),
]

TableFormatOption: TypeAlias = Annotated[
    str | None,
    choice_option(
        "--table-format",
        of=TABLE_FORMATS,
        metavar="FORMAT",
        help="Format of log and tables: {}; by default delta.",
        show_default=False,
    ),
]

Continuous: TypeAlias = Annotated[
    bool,
    typer.Option("--continuous", help="Keep running after reaching the end."),
]

ApplyEvery: TypeAlias = Annotated[
    str | None,
    text_option(
        "--apply-every",
        metavar="TIME",
        help="With --continuous and --target: minimum time between merges, such as 30s, 5m or 1h.",
    ),
]

BatchEvery: TypeAlias = Annotated[
    str | None,
    text_option(
        "--batch-every",
        metavar="TIME",
        help="With --engine python: maximum time to collect a batch; by default 5s.",
    ),
]

CompactEvery: TypeAlias = Annotated[
    str | None,
    text_option(
        "--compact-every",
        metavar="TIME",
        help="With --engine python and --continuous: time between compactions of log and tables, "
        "such as 1h; by default nothing is compacted.",
    ),
]

MaxDeadLetters: TypeAlias = Annotated[
    str | None,
    text_option(
        metavar="N|P%",
        help="Stop before writing a batch with more dead letters: a number, or a share.",
    ),
]

Target: TypeAlias = Annotated[
    str | None,
    text_option(
        metavar="TABLE",
        help="Merge changes into these tables: a path or name with fields such as {table}.",
    ),
]

Metrics: TypeAlias = Annotated[
    str | None,
    text_option(
        "--metrics",
        metavar="FILE",
        help="Append a JSON line for each batch; - is standard output.",
    ),
]


def _switch(name: str, help: str) -> tuple[Any, Any]:
    """Return a flag that is given or not."""
    return Annotated[bool, typer.Option(name, help=help)], False


def _number(name: str, least: int, help: str) -> tuple[Any, Any]:
    """Return a flag that takes a number."""
    option = typer.Option(name, metavar="N", min=least, help=help, show_default=False)
    return Annotated[int | None, option], None


TABLE_FLAGS: Final[Mapping[str, tuple[Any, Any]]] = {
    "row_schema": text_flag(
        "--row-schema",
        metavar="SCHEMA",
        help="Columns of tables: auto (from the messages; default), json (text), a "
        'schema file, or a JSON file by table such as {"shop.orders": "orders.json", "*": "auto"}.',
        completes=("auto", "json"),
    ),
    "misfits": text_flag(
        "--misfits",
        metavar="HOW",
        help="Values that do not fit their column: rescue (keep them in _changewire.rescued), or "
        "refuse (the change). By default rescue with --row-schema auto, else refuse.",
        completes=MISFITS,
    ),
    "schema_evolution": text_flag(
        "--schema-evolution",
        metavar="HOW",
        help="New columns of a table: add_columns, or strict (values are rescued or refused).",
        completes=("add_columns", "strict"),
    ),
    "numbers": text_flag(
        "--numbers",
        metavar="HOW",
        help="Numbers that a column of doubles cannot represent: round, or refuse (the change).",
        completes=("round", "refuse"),
    ),
    "deletes": choice_flag(
        "--deletes", of=DELETES, metavar="HOW", help="Deleted rows: {}; by default remove."
    ),
    "view": text_flag(
        "--view",
        metavar="VIEW",
        help="With --deletes flag: name of a view of the rows that are not deleted.",
    ),
    "default_table": text_flag(metavar="TABLE", help="Table for writes that name none."),
    "apply_truncates": _switch("--apply-truncates", "Let truncates remove rows of tables."),
    "max_new_tables": _number(
        "--max-new-tables",
        0,
        "Maximum of new tables in a batch, by default 100; changes of more are refused.",
    ),
    "merge_threads": _number(
        "--merge-threads",
        1,
        "Tables that Spark merges at once, by default as many as it has cores, from 2 to 8.",
    ),
    "one_table": _switch(
        "--one-table", "Let several tables feed a target that has no field {table}."
    ),
    "only_tables": texts_flag(
        "--only",
        metavar="TABLE",
        help="Apply the changes of these tables of the source, such as 'shop.*'; repeatable.",
    ),
    "except_tables": texts_flag(
        "--except",
        metavar="TABLE",
        help="Skip these tables of the source, such as 'shop.tmp_*'; repeatable.",
    ),
    "tables": text_flag(
        "--settings",
        metavar="FILE",
        help='Settings by table, of a TOML file with [tables."shop.orders"].',
    ),
    "columns": texts_flag(
        "--column",
        metavar="TABLE.COLUMN=TYPE",
        help="Type of a column, such as 'shop.orders.price=decimal(12,2)'; repeatable.",
    ),
}
"""How tables are written, each with its default."""

CHANGES_FLAGS: Final = {
    name: TABLE_FLAGS[name]
    for name in ("default_table", "apply_truncates", "one_table", "only_tables", "except_tables")
}
"""Which changes of the log a table has."""


def table_flags(*left_out: str) -> dict[str, tuple[Any, Any]]:
    """Return `TABLE_FLAGS` without some."""
    return {name: flag for name, flag in TABLE_FLAGS.items() if name not in left_out}
