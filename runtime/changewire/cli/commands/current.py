"""``changewire current``."""

from changewire.cli.ending import REJECTED, VALID, ending
from changewire.cli.options import Json
from changewire.cli.queries import (
    ApplyTruncates,
    KeyColumns,
    LogDir,
    RowsFile,
    RowsFormat,
    TableName,
    queried,
    write_rows,
)
from changewire.cli.stderr import counted, notice
from changewire.report.text import NAME, visible


@ending
def current(
    log: LogDir,
    *,
    table: TableName,
    rows: RowsFile = None,
    format: RowsFormat = None,
    keys: KeyColumns = None,
    apply_as_truncates: ApplyTruncates = False,
    as_json: Json = False,
) -> int:
    """Write the rows that a table has by its log, each as a line of JSON.

    A line has the key and the row, and in _changewire the change that it is from. The log is read
    without Spark: Parquet, or Delta with the extra delta. Memory holds the changes of the table.
    The exit code is 1 if the table has no row.

    Example: changewire current ops/ --table shop.users | jq .row
    """
    from changewire.engines.arrow.history import current as current_of

    found = queried(
        lambda: current_of(
            log,
            table=table,
            rows=rows or "json",
            keys=keys,
            format=format,
            apply_as_truncates=apply_as_truncates,
        )
    )
    write_rows(found)
    text = f"{counted(len(found), 'row')} of {visible(table, NAME)}"
    notice("totals", text, {"rows": len(found)}, as_json=as_json)
    return VALID if len(found) else REJECTED
