"""Changes that no table takes, made dead letters before anything of their batch is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.layout import DEAD_LETTER
from changewire.engines.spark.apply.routes import is_from, is_truncate
from changewire.tables.routing import REFUSALS, Reason, refusal_text
from changewire.tables.ways import From

_WHY: Final = "_refused"


class Refusal(NamedTuple):
    """Why some rows are refused.

    Attributes:
        where: The condition that they meet.
        code: Code of the error.
        pointer: What of the change it is about, as a JSON Pointer.
        message: What is wrong.
    """

    where: Column
    code: str
    pointer: str
    message: str


def refusals(reasons: Mapping[From, Reason], *, with_truncates: bool) -> list[Refusal]:
    """Return why changes cannot be routed.

    Args:
        reasons: Why, by where the changes come from.
        with_truncates: Whether truncates are applied.
    """
    is_routed = F.col("key").isNotNull() | is_truncate()
    found = [
        _refusal(is_routed & is_from(_places(reasons, why)), why)
        for why in sorted(set(reasons.values()))
    ]
    if with_truncates:
        is_lost = is_truncate() & F.col("sequence").isNull()
        found.append(_refusal(is_lost, "truncate-without-sequence"))
    return found


def _places(reasons: Mapping[From, Reason], reason: Reason) -> list[From]:
    return [place for place, why in reasons.items() if why == reason]


def _refusal(where: Column, reason: Reason) -> Refusal:
    return Refusal(where, reason, *REFUSALS[reason])


def refused(rows: DataFrame, why: Iterable[Refusal], format: str) -> DataFrame:
    """Return decoded rows in which changes that cannot be applied are dead letters.

    Args:
        rows: Decoded rows, with the messages of all of them.
        why: The first that holds for a row is told.
        format: Public name of the messages' format.
    """
    chosen = F.lit(None).cast("struct<code: string, pointer: string, message: string>")
    for one in reversed([*why]):
        text = refusal_text(one.code, one.pointer, one.message)
        told = F.struct(
            F.lit(one.code).alias("code"),
            F.lit(one.pointer).alias("pointer"),
            F.lit(text).alias("message"),
        )
        chosen = F.when(one.where, told).otherwise(chosen)
    found = rows.withColumn(_WHY, chosen)
    columns = {
        "kind": F.lit(DEAD_LETTER),
        "format": F.lit(format),
        **{name: F.col(_WHY)[name] for name in ("code", "pointer", "message")},
    }
    is_refused = F.col(_WHY).isNotNull()
    marked = {
        name: F.when(is_refused, value).otherwise(F.col(name)) for name, value in columns.items()
    }
    return found.withColumns(marked).drop(_WHY)
