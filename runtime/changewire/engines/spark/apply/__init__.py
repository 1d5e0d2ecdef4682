"""Changes applied to tables by MERGE, with the semantics of `changewire.tables`."""

from __future__ import annotations

from changewire.engines.spark.apply.errors import ConflictError, KeysMissingError
from changewire.engines.spark.apply.query import apply_changes

__all__ = ["ConflictError", "KeysMissingError", "apply_changes"]
