"""Messages whose values change their types, and the rows of tables that are rebuilt of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from tests.runtime.engines.auto_cases import flat, row

FORMAT = "aerospike-flat-json"

FIRST = [flat(1, 1, a=5, b="x", price=1), flat(2, 1, a=6, b="y", price=2)]
SECOND = [flat(1, 2, a=5.5, b="z", price="1.50"), flat(3, 2, a=7, c=True)]
LATER = [flat(2, 3, a=0.5, b="new", price="9.99")]
"""Batches: numbers become fractions, and a price becomes text."""

TYPE = pa.schema([("a", pa.float64()), ("b", pa.string()), ("price", pa.decimal128(12, 2))])

RESCUED = [
    (row(1, b="z"), {"a": 5.5, "price": "1.50"}),
    (row(2, a=6, b="y", price=2), None),
    (row(3, a=7, c=True), None),
]
"""Rows of a table in the types of the first batch."""

AUTO = [
    (row(1, a=5.5, b="z"), {"price": "1.50"}),
    (row(2, a=6.0, b="y", price=2), None),
    (row(3, a=7.0, c=True), None),
]
"""Rows in the types of all messages."""


def without_user_key(found: list[tuple[dict[str, Any], Any]]) -> list[dict[str, Any]]:
    """Return rows of `TYPE` with texts of their decimals."""
    return [
        {n: str(v) if n == "price" else v for n, v in one.items() if n != "aerospike_digest"}
        for one, _ in found
    ]


TYPED = [{"a": 5.5, "b": "z", "price": "1.50"}, {"a": 6.0, "b": "y", "price": "2.00"}, {"a": 7.0}]
"""Rows of `TYPE`."""

LATER_TYPED = [TYPED[0], {"a": 0.5, "b": "new", "price": "9.99"}, TYPED[2]]
