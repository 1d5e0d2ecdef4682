"""Updates in two messages that are patches: what a table holds depends on which halves meet."""

from __future__ import annotations

from typing import Any

from tests.runtime.tables.histories import change, placed

from changewire.tables import PositionedChange


def before(key: Any, sequence: int, row_image: str = "patch", **columns: Any) -> Any:
    """Return the row before an update, in a message of its own."""
    row = {"id": key, **columns}
    return change("update", key, (sequence, 0), row_image=row_image, before=row, is_lone=True)


def after(key: Any, sequence: int, row_image: str = "patch", **columns: Any) -> Any:
    """Return the row after an update, in a message of its own."""
    return change("update", key, sequence, row_image=row_image, **columns)


def halved() -> list[list[PositionedChange]]:
    """Return rows, then updates whose halves meet, then two that do not."""
    keys = (1, 2, 3, 4, 5, 6, 1.5, "7")
    return [
        placed(*(change(key=key, a=1, b=2, c=3) for key in keys)),
        placed(
            *(before(1, 2, a=1, b=2), after(1, 2, a=9)),  # b is gone
            *(before(2, 3, a=1), after(20, 3, a=5)),  # another key
            *(before(3, 4), after(30, 4), before(30, 4), after(31, 4)),  # another, and another
            *(after(4, 5, a=8), before(4, 5, a=1, c=3)),  # in the other order: c is gone
            *(before(5, 6, "keys"), after(50, 6, "keys")),
            *(before(1.5, 7, a=1), after(2.5, 7, a=2)),
            *(before(6, 8, a=1), after(6, 9, a=2)),  # of two updates
            before("7", 10, b=2),
            start=10,
        ),
        placed(before(20, 11, a=5), start=50),
        placed(after(21, 11, a=6), start=60),
    ]


MET = 7
"""Rows before an update that meet the row after it; `UNUSED` others do not."""
UNUSED = 3
