"""Logs and tables, read in place, without Spark."""

from changewire.engines.changelog.keys import wanted_of
from changewire.engines.changelog.logged import table_log
from changewire.engines.changelog.source import LogRows
from changewire.engines.changelog.target import Verdict, stored_row, verdict
from changewire.engines.changelog.trace import Found, find, key_columns_of

__all__ = [
    "Found",
    "LogRows",
    "Verdict",
    "find",
    "key_columns_of",
    "stored_row",
    "table_log",
    "verdict",
    "wanted_of",
]
