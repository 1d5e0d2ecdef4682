"""Changes applied to Delta tables by delta-rs: one process, no JVM, the same tables as by Spark."""

from __future__ import annotations

from changewire.engines.delta.apply import apply_changes
from changewire.engines.delta.vacuum import vacuum

__all__ = ["apply_changes", "vacuum"]
