"""What a batch is, wherever it is decided on: in the driver, or in tasks."""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession

from changewire.engines.spark.apply.mark import Mark
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.plan import TablePlan
from changewire.engines.spark.apply.shape import Shape
from changewire.engines.spark.apply.sources import BatchSources
from changewire.engines.spark.apply.tables import SparkTables
from changewire.engines.spark.decode import DecodedFrames, RowsAs
from changewire.tables.names import Target
from changewire.tables.order import Order, Sequence
from changewire.tables.routing import RouteKey, Routes


class AnyDecisions(Protocol):
    """What each row of a table becomes, wherever it was decided: see `decisions.Decisions`."""

    @property
    def tombstones(self) -> int: ...  # noqa: D102 - see there

    @property
    def changed(self) -> int: ...  # noqa: D102

    @property
    def perhaps(self) -> int: ...  # noqa: D102

    @property
    def is_blind(self) -> bool: ...  # noqa: D102

    @property
    def newest(self) -> Sequence: ...  # noqa: D102

    @property
    def failed(self) -> int: ...  # noqa: D102

    @property
    def counts(self) -> Counter[str]: ...  # noqa: D102

    @property
    def keys(self) -> Counter[str]: ...  # noqa: D102

    def failures(self) -> Any: ...  # noqa: D102

    def buried(self) -> DataFrame: ...  # noqa: D102

    def rows(self) -> DataFrame: ...  # noqa: D102


class Effects(Protocol):
    """What the changes of a batch do to the rows of one table."""

    @property
    def spark(self) -> SparkSession:
        """The session."""
        ...

    def without(self, failures: Any) -> Effects:
        """Return what is left without some changes."""
        ...

    def decisions(
        self, tables: SparkTables, floor: Order, mark: Mark, *, is_new: bool
    ) -> AnyDecisions:
        """Return what each row becomes.

        Args:
            tables: The table and its tombstones.
            floor: Order of the newest truncate of the table.
            mark: What is beyond it is newer than all that the table has.
            is_new: Whether the batch brings that truncate.
        """
        ...


class AppliedBatch(Protocol):
    """A batch as `changewire.tables.planner` plans it, wherever it is decided on."""

    @property
    def sources(self) -> BatchSources:
        """Where the changes come from."""
        ...

    @property
    def options(self) -> ApplyOptions:
        """How changes are applied."""
        ...

    @property
    def tables(self) -> dict[Target, TablePlan]:
        """How each table has its rows; empty until the batch is routed."""
        ...

    @property
    def landing(self) -> DataFrame:
        """Decoded rows with `ROW_ID`; changes that cannot be applied are dead letters."""
        ...

    def routed(self, routes: Routes) -> AppliedBatch: ...  # noqa: D102 - see `ChangeBatch`

    def paired(self) -> tuple[AppliedBatch, int]: ...  # noqa: D102 - see `ChangeBatch`

    def without(self, failures: list[Any]) -> AppliedBatch:
        """Return the batch in which more changes are dead letters."""
        ...

    def effects(self, keys: list[RouteKey], shape: Shape, earlier: DataFrame | None) -> Effects:
        """Return what the changes from some sources, and earlier deletes, do to a table."""
        ...

    def newest_truncate(self, keys: list[RouteKey]) -> Order:
        """Return the order of the newest truncate that comes from some sources."""
        ...

    def landed(self, rows_as: RowsAs) -> DecodedFrames:
        """Return what lands."""
        ...
