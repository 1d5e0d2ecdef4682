"""Which changes of a batch its tables cannot take: said to Spark, and of one change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.spark.apply.sources import is_from, is_truncate
from changewire.tables.batch import BatchChange
from changewire.tables.routing import REFUSALS, TRUNCATE, Refusal, RouteKey

_LOST = REFUSALS["truncate-without-sequence"]


@dataclass(frozen=True)
class RefusedRows:
    """Changes that name a row, and truncates, from some sources.

    Attributes:
        routes: The sources.
        why: Why they are refused.
    """

    routes: list[RouteKey]
    why: Refusal

    def where(self) -> Any:
        """Return the condition that decoded rows meet."""
        return is_from(self.routes) & (F.col("key").isNotNull() | is_truncate())

    def takes(self, change: BatchChange, row: Mapping[str, Any]) -> bool:  # noqa: ARG002 - others
        """Whether a change is one of them; `row` is its decoded row."""
        return change.route in self.routes and change.is_routed


@dataclass(frozen=True)
class OtherKeys(RefusedRows):
    """Those that name their rows by other columns than a table.

    Attributes:
        keys: The table's, in the order of their names.
    """

    keys: tuple[str, ...]

    def where(self) -> Any:
        """Return the condition that decoded rows meet."""
        names = F.array_sort(F.json_object_keys("key"))
        is_other = ~names.eqNullSafe(F.array(*map(F.lit, self.keys)))
        return is_from(self.routes) & F.col("key").isNotNull() & is_other

    def takes(self, change: BatchChange, row: Mapping[str, Any]) -> bool:
        """Whether a change is one of them."""
        if change.route not in self.routes or not change.has_key:
            return False
        return sorted(msgspec.json.decode(row["key"], type=dict[str, msgspec.Raw])) != [*self.keys]


@dataclass(frozen=True)
class OtherSchemas(RefusedRows):
    """Those with a row whose schema does not fit.

    Attributes:
        fingerprint: The schema's; None for messages without a schema.
    """

    fingerprint: str | None

    def where(self) -> Any:
        """Return the condition that decoded rows meet."""
        has_it = F.col("schema_fingerprint").eqNullSafe(F.lit(self.fingerprint))
        return is_from(self.routes) & has_it & F.col("after").isNotNull()

    def takes(self, change: BatchChange, row: Mapping[str, Any]) -> bool:
        """Whether a change is one of them."""
        has_it = row["schema_fingerprint"] == self.fingerprint
        return has_it and row["after"] is not None and change.route in self.routes


@dataclass(frozen=True)
class LostTruncates(RefusedRows):
    """Truncates without a sequence, whose order is not known."""

    def where(self) -> Any:
        """Return the condition that decoded rows meet."""
        return is_truncate() & F.col("sequence").isNull()

    def takes(self, change: BatchChange, row: Mapping[str, Any]) -> bool:  # noqa: ARG002 - as above
        """Whether a change is one of them."""
        return change.route[1] == TRUNCATE and not change.order.sequence


def unrouted(reasons: Mapping[RouteKey, Refusal], *, with_truncates: bool) -> list[RefusedRows]:
    """Return which changes cannot be routed, by the reasons for their sources."""
    found = [
        RefusedRows([place for place, one in reasons.items() if one == why], why)
        for why in sorted(set(reasons.values()))
    ]
    return [*found, *([LostTruncates([], _LOST)] if with_truncates else [])]
