"""Which changes of a batch its tables cannot take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from changewire.tables.routing import Refusal, RouteKey


@dataclass(frozen=True)
class RefusedRows:
    """Changes that name a row, and truncates, from some sources; and why they are refused."""

    routes: list[RouteKey]
    why: Refusal

    def takes(self, row: Mapping[str, Any]) -> bool:  # noqa: ARG002 - others look at it
        """Whether the decoded row of a change from these sources is one of them."""
        return True


@dataclass(frozen=True)
class OtherKeys(RefusedRows):
    """Those that name their rows by other columns than a table, whose `keys` are sorted."""

    keys: tuple[str, ...]

    def takes(self, row: Mapping[str, Any]) -> bool:
        """Whether a change is one of them."""
        if row["key"] is None:
            return False
        return sorted(msgspec.json.decode(row["key"], type=dict[str, msgspec.Raw])) != [*self.keys]


@dataclass(frozen=True)
class OtherSchemas(RefusedRows):
    """Those with a row whose schema does not fit; the `fingerprint` is None for no schema."""

    fingerprint: str | None

    def takes(self, row: Mapping[str, Any]) -> bool:
        """Whether a change is one of them."""
        return row["schema_fingerprint"] == self.fingerprint and row["after"] is not None


@dataclass(frozen=True)
class LostTruncates(RefusedRows):
    """Truncates without a sequence, whose order is not known; from any source."""
