"""What a query of a chaos run does, and where its tables are."""

from __future__ import annotations

from pathlib import Path

import msgspec

NAMES = ("changes", "controls", "dead_letters")


class Job(msgspec.Struct, frozen=True):
    """One start of the query.

    Attributes:
        folder: Holds checkpoint, outputs and tables; may be an address of an object store.
        server: Bootstrap server of the broker.
        topic: The topic.
        sink: Table format.
        rows: Messages of a batch, at most.
        step: Step of a batch at which the driver is killed; None lets it live.
        times: How often that step is reached before.
        histories: Whether it keeps versions of the rows.
        writer: Number of the query, of those that write to the same tables.
    """

    folder: str
    server: str
    topic: str
    sink: str
    rows: int
    step: str | None = None
    times: int = 1
    histories: bool = True
    writer: int = 1

    @property
    def checkpoint(self) -> str:
        """The folder of its checkpoint."""
        return f"{self.folder}/checkpoint{self._suffix}"

    @property
    def tables(self) -> Path:
        """The folder of the tables, if it is on this machine."""
        below = ("warehouse", "ice", "tables") if self.sink == "iceberg" else ("tables",)
        return Path(self.folder, *below)

    @property
    def target(self) -> str:
        """How tables are named."""
        start = "ice.tables." if self.sink == "iceberg" else f"{self.folder}/tables/"
        return f"{start}{{table}}"

    @property
    def outputs(self) -> dict[str, str]:
        """Where the outputs are."""
        log = f"log{self._suffix}"
        start = f"ice.{log}." if self.sink == "iceberg" else f"{self.folder}/{log}/"
        return {name: f"{start}{name}" for name in NAMES}

    @property
    def _suffix(self) -> str:
        return "" if self.writer == 1 else f"_{self.writer}"
