"""What a query of a chaos run does, and where its tables are."""

from __future__ import annotations

from pathlib import Path

import msgspec

NAMES = ("changes", "controls", "dead_letters")


class Job(msgspec.Struct, frozen=True):
    """One start of the query.

    Attributes:
        folder: Holds checkpoint, outputs and tables.
        server: Bootstrap server of the broker.
        topic: The topic.
        sink: Table format.
        rows: Messages of a batch, at most.
        step: Step of a batch at which the driver is killed; None lets it live.
        times: How often that step is reached before.
    """

    folder: str
    server: str
    topic: str
    sink: str
    rows: int
    step: str | None = None
    times: int = 1

    @property
    def tables(self) -> Path:
        """The folder of the tables."""
        if self.sink == "iceberg":
            return Path(self.folder, "warehouse", "ice", "tables")
        return Path(self.folder, "tables")

    @property
    def target(self) -> str:
        """How tables are named."""
        return "ice.tables.{table}" if self.sink == "iceberg" else f"{self.tables}/{{table}}"

    @property
    def outputs(self) -> dict[str, str]:
        """Where the outputs are."""
        start = "ice.log." if self.sink == "iceberg" else f"{self.folder}/log/"
        return {name: f"{start}{name}" for name in NAMES}
