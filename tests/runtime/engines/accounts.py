"""The law that every change of a table is accounted for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OUTCOMES = (
    *("before_images", "inserted", "updated", "deleted", "merged"),
    *("replaced", "not_newer", "refused", "key_missing"),
)


def assert_all_are_explained(by_table: Mapping[str, Mapping[str, Any]]) -> None:
    """Changes are the sum of what became of them, and no number is below 0."""
    for name, one in by_table.items():
        numbers = {key: number for key, number in one.items() if isinstance(number, int)}
        assert min(numbers.values(), default=0) >= 0, (name, numbers)
        assert not numbers.get("unexplained"), (name, numbers)
        left = numbers.get("changes", 0) + numbers.get("moved", 0)
        assert left == sum(numbers.get(key, 0) for key in OUTCOMES), (name, numbers)
