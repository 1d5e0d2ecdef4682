"""Which changes of a batch its tables cannot take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from changewire.tables.batch import BatchChange
from changewire.tables.routing import TRUNCATE, Refusal, RouteKey


@dataclass(frozen=True)
class RefusedRows:
    """Changes that name a row, and truncates, from some sources.

    Attributes:
        routes: The sources.
        why: Why they are refused.
    """

    routes: list[RouteKey]
    why: Refusal

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

    def takes(self, change: BatchChange, row: Mapping[str, Any]) -> bool:
        """Whether a change is one of them."""
        has_it = row["schema_fingerprint"] == self.fingerprint
        return has_it and row["after"] is not None and change.route in self.routes


@dataclass(frozen=True)
class LostTruncates(RefusedRows):
    """Truncates without a sequence, whose order is not known."""

    def takes(self, change: BatchChange, row: Mapping[str, Any]) -> bool:  # noqa: ARG002 - as above
        """Whether a change is one of them."""
        return change.route[1] == TRUNCATE and not change.order.sequence
