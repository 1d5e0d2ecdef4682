"""Change logs and tables, read where they lie, without Spark."""

from __future__ import annotations

from changewire.engines.changelog.find import Found, find
from changewire.engines.changelog.folders import Log, log_of
from changewire.engines.changelog.keys import Wanted, wanted_of
from changewire.engines.changelog.target import StoredRow, Verdict, stored_row, verdict

__all__ = [
    "Found",
    "Log",
    "StoredRow",
    "Verdict",
    "Wanted",
    "find",
    "log_of",
    "stored_row",
    "verdict",
    "wanted_of",
]
