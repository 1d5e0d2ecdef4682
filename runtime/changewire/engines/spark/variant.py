"""Rows as VARIANT: values that it cannot represent exactly stay text, and are counted."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, reduce
from operator import or_
from typing import Any, Final

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.changes.decode_options import ElementRow
from changewire.engines.decode import Decoder
from changewire.engines.native import Kernel, kernel_of
from changewire_messages.change import Rejection

NUMBER_AS_TEXT: Final = "number-as-text"
ROW_AS_TEXT: Final = "row-as-text"

ROW_COLUMNS: Final = ("key", "before_key", "before", "after")
"""Columns that are JSON text, and become VARIANT."""

_LARGEST: Final = 10**38 - 1  # a decimal of 38 digits; Spark rounds a larger one to a double
_CONTAINERS: Final = frozenset({dict, list, tuple})


class VariantDecoder(Decoder):
    """Decodes batches into rows of JSON text in which VARIANT loses no digit.

    Only integers of more than 38 digits would: numbers with a fraction are doubles or text.
    """

    @cached_property
    def kernel(self) -> Kernel | None:
        """What decodes most messages quickly: it declines integers of more than 64 bits."""
        return kernel_of(self.decode_options)

    def _elements(self, value: bytes | None, key: bytes | None) -> list[ElementRow]:
        return [_exact(*element) for element in super()._elements(value, key)]


def _exact(result: Any, leniencies: list[str]) -> ElementRow:
    if isinstance(result, Rejection):
        return result, leniencies
    columns = {name: getattr(result, name) for name in ROW_COLUMNS}
    texts = numbers_as_text(columns)
    if texts:
        result = msgspec.structs.replace(result, **columns)
    return result, leniencies + [NUMBER_AS_TEXT] * texts


def numbers_as_text(columns: dict[str, Any]) -> int:
    """Replace integers that VARIANT would round by text; return how many there were."""
    count = 0
    todo: list[tuple[Any, Any]] = [(columns, name) for name in columns]
    while todo:  # a list of what is left, because values are nested as deep as Python recurses
        holder, step = todo.pop()
        value = holder[step]
        if type(value) is int:
            holder[step] = str(value)
            count += 1
        elif type(value) in _CONTAINERS:
            holder[step] = copy = dict(value) if type(value) is dict else list(value)
            items = copy.items() if isinstance(copy, dict) else enumerate(copy)
            todo += [(copy, at) for at, item in items if _is_looked_at(item)]
    return count


def _is_looked_at(value: Any) -> bool:
    kind = type(value)
    return kind in _CONTAINERS or (kind is int and not -_LARGEST <= value <= _LARGEST)


def as_variant(rows: DataFrame) -> DataFrame:
    """Return decoded rows with VARIANT instead of JSON text.

    Spark gives up on JSON text that is nested deeper than 1000 levels or has a name longer than
    50,000 characters. Such a row is its text, a VARIANT of type string, and is counted.
    """
    is_text = reduce(
        or_, (F.col(n).isNotNull() & F.try_parse_json(n).isNull() for n in ROW_COLUMNS)
    )
    named = F.array_append("leniencies", F.lit(ROW_AS_TEXT))
    leniencies = F.when(is_text, named).otherwise(F.col("leniencies"))
    return rows.withColumns({"leniencies": leniencies, **variants_of(ROW_COLUMNS)})


def variants_of(names: Iterable[str]) -> dict[str, Column]:
    """Return columns of JSON text as VARIANT; text that Spark cannot parse stays."""
    return {n: F.coalesce(F.try_parse_json(n), F.col(n).cast("variant")) for n in names}
