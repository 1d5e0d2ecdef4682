"""Messages of a table that one of two targets of a log takes, and the other one refuses in part."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
from tests.runtime.engines.merge.messages import message, records

TYPES: Final[dict[str, Any]] = {
    "texts": pa.schema([("id", pa.int64()), ("price", pa.string())]),
    "numbers": pa.schema([("id", pa.int64()), ("price", pa.float64())]),
}
"""How each target has its rows."""

_TEXTS = {"id": "LONG", "price": "STRING"}

FIRST: Final = records(
    message("INSERT", 1, {"id": 1, "price": 1.5}),
    message("INSERT", 1, {"id": 2, "price": "x"}, types=_TEXTS),
    message("UPDATE_AFTER", 5, {"id": 3, "price": "x"}, before={"id": 1}, types=_TEXTS),
)
"""A row, and two changes that numbers refuse; the second one moves the row."""

LATE: Final = records(message("INSERT", 3, {"id": 1, "price": 2.5}), start=10)
"""A write that is older than the move."""

EXPECTED: Final[dict[str, list[Any]]] = {
    "texts": [(2, "x"), (3, "x")],
    "numbers": [(1, 2.5)],
}
"""Rows of each target after both."""

DELETED: Final = records(
    message("INSERT", 1, {"id": 1, "price": 1.5}), message("DELETE", 5, {"id": 1, "price": 1.5})
)
"""A row, and its delete, which is newer than `LATE`."""
