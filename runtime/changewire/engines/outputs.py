"""Decoded rows to the columns of an output, and the order in which dead letters are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from changewire.engines.layout import CHANGES_TABLE, DEAD_LETTER, DEAD_LETTERS_TABLE


def table_of(kind: str) -> tuple[str, ...]:
    """Return the columns of the output that takes a kind of row."""
    return DEAD_LETTERS_TABLE if kind == DEAD_LETTER else CHANGES_TABLE


def place_order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what orders rows: file and number, topic, partition and offset, element."""
    return (
        row["path"] or "",
        -1 if row["number"] is None else row["number"],
        row["topic"] or "",
        -1 if row["partition"] is None else row["partition"],
        -1 if row["offset"] is None else row["offset"],
        row["element"],
    )
