"""Which changes of a batch its tables cannot take, as Spark is asked for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.spark.apply.sources import is_from, is_truncate
from changewire.engines.typed.refused import LostTruncates, OtherKeys, OtherSchemas, RefusedRows
from changewire.tables.routing import REFUSALS, Refusal, RouteKey

_LOST = REFUSALS["truncate-without-sequence"]


@singledispatch
def where(refused: RefusedRows) -> Any:
    """Return the condition that decoded rows meet which are refused."""
    return is_from(refused.routes) & (F.col("key").isNotNull() | is_truncate())


@where.register
def _(refused: OtherKeys) -> Any:
    names = F.array_sort(F.json_object_keys("key"))
    is_other = ~names.eqNullSafe(F.array(*map(F.lit, refused.keys)))
    return is_from(refused.routes) & F.col("key").isNotNull() & is_other


@where.register
def _(refused: OtherSchemas) -> Any:
    has_it = F.col("schema_fingerprint").eqNullSafe(F.lit(refused.fingerprint))
    return is_from(refused.routes) & has_it & F.col("after").isNotNull()


@where.register
def _(refused: LostTruncates) -> Any:
    del refused
    return is_truncate() & F.col("sequence").isNull()


def unrouted(reasons: Mapping[RouteKey, Refusal], *, with_truncates: bool) -> list[RefusedRows]:
    """Return which changes cannot be routed, by the reasons for their sources."""
    found = [
        RefusedRows([place for place, one in reasons.items() if one == why], why)
        for why in sorted(set(reasons.values()))
    ]
    return [*found, *([LostTruncates([], _LOST)] if with_truncates else [])]
