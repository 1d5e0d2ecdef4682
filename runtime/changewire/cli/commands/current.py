"""``changewire current``."""

from changewire.cli.ending import ending
from changewire.cli.options import Json
from changewire.cli.queries import (
    ApplyTruncates,
    KeyColumns,
    LogDir,
    RowsFile,
    RowsFormat,
    TableName,
    write_query,
)


@ending
def current(
    log: LogDir,
    *,
    table: TableName,
    row_schema: RowsFile = None,
    format: RowsFormat = None,
    key_columns: KeyColumns = None,
    apply_truncates: ApplyTruncates = False,
    as_json: Json = False,
) -> int:
    """Write the rows that a table has by its log, each as a line of JSON.

    A line has the key and the row, and in _changewire the change that it is from. The log is read
    without Spark: Parquet, or Delta with the extra delta. Memory holds the changes of the table.
    The exit code is 1 if the table has no row.

    Example: changewire current lake/ --table shop.users | jq .row
    """
    from changewire.engines.arrow.queries import current as current_of

    return write_query(
        current_of,
        log,
        table,
        "row",
        as_json=as_json,
        row_schema=row_schema or "json",
        key_columns=key_columns,
        format=format,
        apply_truncates=apply_truncates,
    )
