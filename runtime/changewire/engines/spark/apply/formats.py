"""The table formats that changes can be merged into: how a table is named, made and written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from changewire.engines.spark.apply.delta import Delta
from changewire.engines.spark.apply.iceberg import Iceberg

TableFormat: TypeAlias = Delta | Iceberg

_FORMATS: Final[Mapping[str, TableFormat]] = {one.name: one for one in (Delta(), Iceberg())}


def format_of(sink: str) -> TableFormat:
    """Return a table format that a stream can merge into, by its name.

    Raises:
        ValueError: There is no such format.
    """
    if sink not in _FORMATS:
        raise ValueError(f"no table format {sink!r}; there are: {', '.join(_FORMATS)}")
    return _FORMATS[sink]
