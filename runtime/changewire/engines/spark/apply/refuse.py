"""Changes that no table takes, made dead letters before anything of their batch is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.layout import DEAD_LETTER
from changewire.engines.spark.apply.failures import FAILURE, FAILURE_TYPE, ROW_ID
from changewire.engines.spark.apply.routes import is_from, is_truncate
from changewire.tables.routing import REFUSALS, Refusal
from changewire.tables.ways import From

_WHY: Final = "_refused"


class Refused(NamedTuple):
    """Some rows that are refused.

    Attributes:
        where: The condition that they meet.
        why: Why they are refused.
    """

    where: Column
    why: Refusal


def refusals(reasons: Mapping[From, Refusal], *, with_truncates: bool) -> list[Refused]:
    """Return which changes cannot be routed.

    Args:
        reasons: Why, by where the changes come from.
        with_truncates: Whether truncates are applied.
    """
    is_routed = F.col("key").isNotNull() | is_truncate()
    found = [
        Refused(is_routed & is_from(_places(reasons, why)), why)
        for why in sorted(set(reasons.values()))
    ]
    if with_truncates:
        is_lost = is_truncate() & F.col("sequence").isNull()
        found.append(Refused(is_lost, REFUSALS["truncate-without-sequence"]))
    return found


def _places(reasons: Mapping[From, Refusal], refusal: Refusal) -> list[From]:
    return [place for place, why in reasons.items() if why == refusal]


def refused(rows: DataFrame, why: Iterable[Refused], format: str) -> DataFrame:
    """Return decoded rows in which changes that cannot be applied are dead letters.

    Args:
        rows: Decoded rows, with the messages of all of them.
        why: Which; the first that a row meets is its reason.
        format: Public name of the messages' format.
    """
    chosen = F.lit(None).cast(FAILURE_TYPE)
    for one in reversed([*why]):
        reason = F.struct(*(F.lit(value).alias(name) for name, value in one.why._asdict().items()))
        chosen = F.when(one.where, reason).otherwise(chosen)
    return _as_dead_letters(rows.withColumn(_WHY, chosen), format)


def failed(rows: DataFrame, failures: DataFrame, format: str) -> DataFrame:
    """Return decoded rows in which changes that failed to be applied are dead letters.

    Args:
        rows: Decoded rows with `ROW_ID`, and the messages of all of them.
        failures: `ROW_ID` and `FAILURE`; a change may be there several times.
        format: Public name of the messages' format.
    """
    found = failures.groupBy(ROW_ID).agg(F.min(FAILURE).alias(_WHY))
    return _as_dead_letters(rows.join(F.broadcast(found), ROW_ID, "left"), format)


def _as_dead_letters(rows: DataFrame, format: str) -> DataFrame:
    """Return rows of which those are dead letters that have a reason in `_WHY`."""
    why, is_refused = F.col(_WHY), F.col(_WHY).isNotNull()
    # `Refusal.text` says the same.
    text = F.concat(why["code"], F.lit(": "), why["pointer"], F.lit(": "), why["message"])
    columns = {
        "kind": F.lit(DEAD_LETTER),
        "format": F.lit(format),
        "code": why["code"],
        "pointer": why["pointer"],
        "message": text,
    }
    marked = {
        name: F.when(is_refused, value).otherwise(F.col(name)) for name, value in columns.items()
    }
    return rows.withColumns(marked).drop(_WHY)
