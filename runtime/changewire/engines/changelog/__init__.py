"""Change logs and tables, read where they lie, without Spark."""

from __future__ import annotations

from changewire.engines.changelog.find import Found, find
from changewire.engines.changelog.folders import Log, log_of
from changewire.engines.changelog.keys import Wanted, wanted_of
from changewire.engines.changelog.target import Kept, Verdict, kept_row, verdict

__all__ = [
    "Found",
    "Kept",
    "Log",
    "Verdict",
    "Wanted",
    "find",
    "kept_row",
    "log_of",
    "verdict",
    "wanted_of",
]
