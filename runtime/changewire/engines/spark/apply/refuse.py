"""Changes that no table takes, made dead letters before anything of their batch is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.layout import DEAD_LETTER
from changewire.engines.spark.apply.routes import From, is_from, is_truncate
from changewire.tables.routing import Reason

_POINTERS: Final[Mapping[Reason, str]] = {
    "table_missing": "/source",
    "name_collision": "/source",
    "truncate_without_sequence": "/sequence",
}
_MESSAGES: Final[Mapping[Reason, str]] = {
    "table_missing": "the change does not say all that its target is named by",
    "name_collision": "another table has the name of its target, but for the case of letters",
    "truncate_without_sequence": "a truncate without a sequence is neither older nor newer",
}
_CODE: Final = "_refused"


def refused(
    rows: DataFrame, reasons: Mapping[From, Reason], format: str, *, with_truncates: bool = False
) -> DataFrame:
    """Return decoded rows in which changes that cannot be applied are dead letters.

    Args:
        rows: Decoded rows, with the messages of all of them.
        reasons: Why, by where the changes come from.
        format: Public name of the messages' format.
        with_truncates: Whether truncates are applied.
    """
    code = F.lit(None).cast("string")
    for reason in sorted(set(reasons.values())):
        places = [place for place, why in reasons.items() if why == reason]
        code = F.when(is_from(places), F.lit(reason)).otherwise(code)
    goes_to_table = F.col("key").isNotNull()
    if with_truncates:
        goes_to_table |= is_truncate()
        is_lost = is_truncate() & F.col("sequence").isNull()
        code = F.when(is_lost, F.lit("truncate_without_sequence")).otherwise(code)
    elif not reasons:
        return rows
    found = rows.withColumn(_CODE, F.when(goes_to_table, code))
    text = F.concat_ws(": ", F.col(_CODE), _of(_POINTERS), _of(_MESSAGES))
    return _where_refused(
        found,
        {
            "kind": F.lit(DEAD_LETTER),
            "code": F.col(_CODE),
            "pointer": _of(_POINTERS),
            "message": text,
            "format": F.lit(format),
        },
    ).drop(_CODE)


def _of(texts: Mapping[Reason, str]) -> Column:
    pairs = [F.lit(part) for pair in texts.items() for part in pair]
    return F.create_map(*pairs)[F.col(_CODE)]


def _where_refused(rows: DataFrame, columns: Mapping[str, Column]) -> DataFrame:
    is_refused = F.col(_CODE).isNotNull()
    return rows.withColumns(
        {name: F.when(is_refused, value).otherwise(F.col(name)) for name, value in columns.items()}
    )
