"""``changewire current``."""

from typing import Any

from changewire.cli.ending import ending
from changewire.cli.options import Json, with_flags
from changewire.cli.queries import QUERY_FLAGS, LogDir, TableName, write_query


@ending
@with_flags("table", QUERY_FLAGS)
def current(log: LogDir, *, table: TableName, as_json: Json = False, **flags: Any) -> int:
    """Write the current rows of a table, computed from its log, each as a line of JSON.

    A line has the key and the row, and in _changewire the change that made it. The log is read
    without Spark: Parquet, or Delta with the extra delta. The changes of the table must fit into
    memory. The exit code is 1 if the table has no row.

    Example: changewire current lake/ --table shop.users | jq .row
    """
    from changewire.engines.arrow.queries import current as current_of

    return write_query(current_of, log, table, "row", as_json=as_json, **flags)
