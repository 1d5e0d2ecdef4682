"""Times of records: a client may set any, and a table shows those of the years 1 to 9999."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.layout import RECORD_COLUMNS

_SECONDS: Final = range(-62_135_596_800, 253_402_300_800)
"""Seconds since 1970 of these years."""

_MILLISECONDS: Final = range(_SECONDS.start * 1000, _SECONDS.stop * 1000)
_UTC_TIMES: Final = RECORD_COLUMNS["timestamp"]
_NO_TIME: Final = -1


def shown_time(milliseconds: int | None) -> int | None:
    """Return a time in microseconds since 1970; None without one that a table can show."""
    if milliseconds is None or milliseconds == _NO_TIME or milliseconds not in _MILLISECONDS:
        return None
    return milliseconds * 1000


def shown_times(column: pa.Array) -> pa.Array:
    """Return times as a table has them, with NULL for those that it cannot show.

    Times may be integers: the milliseconds that clients of Kafka return, or -1 without a time.
    """
    if pa.types.is_integer(column.type):
        column = pc.if_else(pc.equal(column, _NO_TIME), None, column)
        column = column.cast(pa.int64()).cast(pa.timestamp("ms", "UTC"))
    elif not pa.types.is_timestamp(column.type):
        column = column.cast(_UTC_TIMES)
    if column.type.unit != "ns":  # all of 64 bits are in these years
        unit = pa.timestamp("s", column.type.tz)
        first, end = (pa.scalar(one, unit) for one in (_SECONDS.start, _SECONDS.stop))
        is_shown = pc.and_(pc.greater_equal(column, first), pc.less(column, end))
        column = pc.if_else(is_shown, column, None)
    return column.cast(_UTC_TIMES)
