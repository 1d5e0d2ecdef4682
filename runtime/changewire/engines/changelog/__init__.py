"""Logs and tables, read where they are, without Spark."""

from __future__ import annotations

from changewire.engines.changelog.find import Found, find
from changewire.engines.changelog.keys import Wanted, wanted_key, wanted_of
from changewire.engines.changelog.source import LogRows
from changewire.engines.changelog.target import StoredRow, Verdict, stored_row, verdict

__all__ = [
    "Found",
    "LogRows",
    "StoredRow",
    "Verdict",
    "Wanted",
    "find",
    "stored_row",
    "verdict",
    "wanted_key",
    "wanted_of",
]
