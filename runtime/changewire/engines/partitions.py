"""How the files of tables are laid out: by columns, or by transforms of them."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

TIMES: Final = ("years", "months", "days", "hours")
"""Transforms of dates and times."""

_TIMED: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_NO_BUCKETS: Final = frozenset({"boolean", "float", "double"})

_AS_IT_IS: Final = f"{string.ascii_letters}{string.digits}_.~-"
"""What stays one byte in the name of a folder; delta-rs writes any other byte as three."""

_MOST_BYTES: Final = 255
"""How long the name of a folder may be, in most file systems."""

_TRANSFORM: Final = re.compile(
    rf"({'|'.join(TIMES)})\(\s*([^,]+?)\s*\)|bucket\(([1-9]\d{{0,8}}),\s*(.+?)\s*\)"
)


class Partition(NamedTuple):
    """A column that partitions a table, or a transform of it.

    Attributes:
        column: Name of the column.
        transform: One of `TIMES`, or ``bucket``; empty for the values of the column. Tables that
            others made may have further ones.
        buckets: How many buckets there are, or another number that the transform has.
    """

    column: str
    transform: str = ""
    buckets: int = 0

    def of(self, column: str) -> str:
        """Return the text of the partition, whose column is written in some way."""
        number = f"{self.buckets}, " if self.buckets else ""
        return f"{self.transform}({number}{column})" if self.transform else column


class Layout(NamedTuple):
    """What the files of a table are laid out by.

    Attributes:
        partitions: What partitions it.
        clusters: Columns of the liquid clustering of Delta.
    """

    partitions: tuple[Partition, ...] = ()
    clusters: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The columns that it names."""
        return [*(one.column for one in self.partitions), *self.clusters]

    @property
    def text(self) -> str:
        """The settings that ask for it."""
        parts = {
            "partition_by": [one.of(one.column) for one in self.partitions],
            "cluster_by": [*self.clusters],
        }
        found = " and ".join(f"{name} {names}" for name, names in parts.items() if names)
        return found or "no partitions"

    @property
    def sql(self) -> str:
        """Its clauses in SQL of Spark, each after a space."""
        parts = {
            "PARTITIONED BY": [one.of(_quoted(one.column)) for one in self.partitions],
            "CLUSTER BY": [*map(_quoted, self.clusters)],
        }
        return "".join(f" {name} ({', '.join(found)})" for name, found in parts.items() if found)


def partition_of(text: str) -> Partition:
    """Return what ``days(created_at)``, ``bucket(16, id)`` or the name of a column says."""
    found = _TRANSFORM.fullmatch(text)
    if found is None:
        return Partition(text)
    if found[1]:
        return Partition(found[2], found[1])
    return Partition(found[4], "bucket", int(found[3]))


def layout_by(columns: Iterable[str], clusters: Iterable[str] = ()) -> Layout:
    """Return the layout of a table that is partitioned by the values of columns."""
    return Layout(tuple(map(Partition, columns)), tuple(clusters))


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def delta_fault(name: str, kind: Any, *, is_key: bool) -> str | None:
    """Return why a table of Delta cannot be partitioned by a column; None if it can."""
    if kind == "binary":
        return f"column {name!r} is binary, which delta-rs does not read as a partition"
    if kind == "timestamp":
        return f"column {name!r} has times, which Spark writes as a partition in its own time zone"
    if kind == "string" and is_key:
        return f"column {name!r} of the key is text, which as a partition has NULL for ''"
    return None


def folder_rule(name: str, value: str) -> tuple[str, str]:
    """Return what Delta asks of a text partition for its folder, and the condition in SQL.

    Both engines ask the same of a value, which is in SQL, so each can rewrite what the other wrote.
    """
    taken = sum(1 if chr(one) in _AS_IT_IS else 3 for one in name.encode()) + len("=")
    escaped = f"octet_length(translate({value}, '{_AS_IT_IS}', ''))"
    holds = f"{value} IS NULL OR octet_length({value}) + 2 * {escaped} <= {_MOST_BYTES - taken}"
    return f"{name}: the name of its folder has at most {_MOST_BYTES} bytes", holds


def transform_fault(part: Partition, kind: str) -> str | None:
    """Return why a transform does not take a column of some type; None if it does.

    https://iceberg.apache.org/spec/#partition-transforms
    """
    if part.transform in TIMES:
        takes = kind in _TIMED and (part.transform, kind) != ("hours", "date")
    else:
        takes = part.transform != "bucket" or kind not in _NO_BUCKETS
    named = part.of(part.column)
    return None if takes else f"column {part.column!r} is {kind}, which {named} does not take"
