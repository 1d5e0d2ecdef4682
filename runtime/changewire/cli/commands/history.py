"""``changewire history``."""

from typing import Any

from changewire.cli.ending import ending
from changewire.cli.options import Json, with_flags
from changewire.cli.queries import QUERY_FLAGS, LogDir, TableName, write_query


@ending
@with_flags("table", QUERY_FLAGS)
def history(log: LogDir, *, table: TableName, as_json: Json = False, **flags: Any) -> int:
    """Write every version of the rows of a table as a line of JSON, oldest first within a row.

    A line has the key, the row, the times between which it is valid, the operation that made it,
    and in _changewire the changes that began and ended it. The log is read without Spark: Parquet,
    or Delta with the extra delta. The changes of the table must fit into memory. The exit code
    is 1 if the log has no row of the table.

    Example: changewire history lake/ --table shop.users | jq .row
    """
    from changewire.engines.arrow.queries import history as history_of

    return write_query(history_of, log, table, "version", as_json=as_json, **flags)
