"""What a query of a chaos run does, and where its log and tables are."""

from __future__ import annotations

from pathlib import Path

import msgspec

from changewire.engines.settings import Deletes


class Job(msgspec.Struct, frozen=True):
    """One start of the query.

    Attributes:
        folder: Holds checkpoint, log and tables; may be an address of an object store.
        server: Bootstrap server of the broker.
        topic: The topic.
        table_format: Table format.
        rows: Messages of a batch, at most.
        step: Step of a batch at which the driver is killed; None lets it live.
        times: How often that step is reached before.
        deletes: What becomes of deleted rows: ``remove`` or ``flag``.
        query: Distinguishes log and checkpoint of another query that wants the same tables.
    """

    folder: str
    server: str
    topic: str
    table_format: str
    rows: int
    step: str | None = None
    times: int = 1
    deletes: Deletes = "remove"
    query: str = ""

    @property
    def checkpoint(self) -> str:
        """The folder of its checkpoint."""
        return f"{self.folder}/checkpoint{self.query}"

    @property
    def tables(self) -> Path:
        """The folder of the tables, if it is on this machine."""
        below = ("warehouse", "ice", "tables") if self.table_format == "iceberg" else ("tables",)
        return Path(self.folder, *below)

    @property
    def target(self) -> str:
        """How tables are named."""
        start = "ice.tables." if self.table_format == "iceberg" else f"{self.folder}/tables/"
        return f"{start}{{table}}"

    @property
    def log(self) -> str:
        """Where the log is."""
        start = "ice.logs." if self.table_format == "iceberg" else f"{self.folder}/"
        return f"{start}log{self.query}"
