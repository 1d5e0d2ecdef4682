"""Changes applied to tables by MERGE, with the semantics of `changewire.tables`."""

from __future__ import annotations

from changewire.engines.spark.apply.adopt import adopt
from changewire.engines.spark.apply.query import apply_changes
from changewire.engines.spark.apply.replay import Replayed, replay
from changewire.engines.spark.apply.tables import vacuum

__all__ = ["Replayed", "adopt", "apply_changes", "replay", "vacuum"]
