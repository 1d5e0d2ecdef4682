"""The engine without Spark: one process, flat memory, the same rows."""

from __future__ import annotations

from changewire.engines.python.run import run

__all__ = ["run"]
