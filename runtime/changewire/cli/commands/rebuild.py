"""``changewire rebuild``."""

from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from changewire.cli.arguments import row_schema_of, whole
from changewire.cli.ending import VALID, ending
from changewire.cli.logs import LogEngine, LogFolder, LogTarget, is_local, on_log
from changewire.cli.options import Json, text_flag, text_option, with_flags
from changewire.cli.queries import queried
from changewire.cli.settings import settings_by_table
from changewire.cli.stderr import say
from changewire.cli.stdout import Lines
from changewire.cli.streams import CHANGES_FLAGS, TABLE_FLAGS, Packages, TableFormatOption
from changewire.engines.options import log_of
from changewire.tables.names import absolute

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Tables: TypeAlias = Annotated[
    list[str] | None,
    text_option(
        "--table", metavar="NAME", help="Table to rebuild, such as shop.orders; repeatable."
    ),
]
Where: TypeAlias = Annotated[
    str | None,
    text_option(
        metavar="SQL", help="Condition on rows of the log, such as timestamp >= '2026-07-01'."
    ),
]

_FLAGS: Final = {
    "deletes": TABLE_FLAGS["deletes"],
    **CHANGES_FLAGS,
    "row_schema": text_flag(
        "--row-schema",
        metavar="SCHEMA",
        help="Give tables other columns: auto, json (text), a schema file, or a JSON file by "
        "table. By default they keep theirs.",
        completes=("auto", "json"),
    ),
    "misfits": TABLE_FLAGS["misfits"],
    "numbers": TABLE_FLAGS["numbers"],
    "settings": TABLE_FLAGS["tables"],
    "columns": TABLE_FLAGS["columns"],
}


@ending
@with_flags("where", _FLAGS)
def rebuild(
    output: LogFolder,
    *,
    target: LogTarget,
    table: Tables = None,
    where: Where = None,
    engine: LogEngine = None,
    table_format: TableFormatOption = None,
    packages: Packages = None,
    as_json: Json = False,
    **flags: Any,
) -> int:
    """Rebuild tables from their log, each in one commit, and write their names.

    It repairs tables that another program changed. With --where it uses only some rows of the log,
    such as those since the source loaded all rows again. With --row-schema the tables get other
    columns, or JSON text, and with --settings and --column types, partitions and properties; later
    runs need the same options. Stop the stream that feeds the tables first.

    Example: changewire rebuild lake/ --target lake/tables/{table} --table shop.orders
    """
    folder = whole(output)
    row_schema, columns = flags["row_schema"], flags.pop("columns")
    options: dict[str, Any] = {
        **flags,
        "target": absolute(target, is_template=True),
        "tables": table or None,
        "where": where,
        "only_tables": flags["only_tables"] or None,
        "except_tables": flags["except_tables"] or None,
        "row_schema": None if row_schema is None else row_schema_of(row_schema),
        "settings": settings_by_table(flags["settings"], columns),
    }

    def job(spark: "SparkSession", table_format: str) -> list[str]:
        from changewire.engines.spark.merge.rebuild import rebuild as rebuilt

        log = log_of(folder, table_format)
        return rebuilt(spark, log, table_format=table_format, **options)

    if is_local(engine, folder, target, table_format=table_format, packages=packages):
        from changewire.delta import rebuild as rebuilt

        made = queried(lambda: rebuilt(log_of(folder, "delta"), **options))
    else:
        made = on_log(job, "rebuild", folder, packages, table_format, as_json=as_json)
    if as_json:
        Lines().write({"tables": made})
    for name in () if as_json else made:
        say(f"{name} was rebuilt")
    return VALID
