"""What is kept from batch to batch, beside the rows of tables.

A table of tombstones keeps in its properties what is known of its table. A checkpoint keeps the
rest, in a folder for each batch, which the batch overwrites when it is retried.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec

from changewire.tables.metadata import metadata_of, state_from
from changewire.tables.names import Target, Template, beside, target_from
from changewire.tables.order import OLDEST, Order
from changewire.tables.routing import KnownTables, Namespace
from changewire.tables.state import tombstone
from changewire.tables.version_rows import VersionNames

SUFFIX: Final = "__tombstones"
"""What the name of a table of tombstones ends in."""

KEYS: Final = "changewire.keys"
"""Property: the columns of the table's key."""

TRUNCATED: Final = "changewire.truncated"
"""Property: the order of the table's newest truncate."""

HISTORY: Final = "changewire.history"
"""Property: where the versions of the table's rows are kept."""

ENDS_SUFFIX: Final = "__ends"
"""What the name of the table of deletes beside a table of versions ends in."""

TABLES: Final = "changewire_tables"
"""Folder in a checkpoint: the tables that were fed."""

DELETES: Final = "changewire_deletes"
"""Folder in a checkpoint: deletes that name no table, for tables to come."""

BATCH: Final = "batch"
"""Column of both: number of the batch that wrote the row."""


def property_text(value: Any) -> str:
    """Return the text of a property.

    It is Base64 of JSON, since names in it may have any character, and SQL text gives some of
    them a meaning.
    """
    return b64encode(msgspec.json.encode(value)).decode()


def property_value(text: str | None) -> Any:
    """Return the value of a property; None if the table has none."""
    return None if text is None else msgspec.json.decode(b64decode(text))


def order_text(order: Order) -> str:
    """Return an order as the text of a property."""
    return property_text(metadata_of(tombstone(order)))


def order_value(text: str | None) -> Order:
    """Return the order that a property has; `OLDEST` if the table has none."""
    found = property_value(text)
    return OLDEST if found is None else state_from(found, None).order


class TableHistory(NamedTuple):
    """Where the versions of a table's rows are kept.

    Attributes:
        history: The option by which they are: a template.
        table: Name or path of the table of versions.
        names: How its columns are named.
    """

    history: str
    table: str
    names: VersionNames

    @property
    def ends(self) -> str:
        """Name or path of the table of deletes beside it."""
        return beside(self.table, ENDS_SUFFIX)

    @property
    def text(self) -> str:
        """What the property `HISTORY` has."""
        return property_text(self._asdict())


def history_value(text: str | None) -> TableHistory | None:
    """Return what the property `HISTORY` of a table has; None if its versions are not kept."""
    found = property_value(text)
    return None if found is None else TableHistory(**found)


def table_history(
    template: Template | None, names: VersionNames, target: Target
) -> TableHistory | None:
    """Return where a run keeps the versions of a table's rows; None if it keeps none."""
    if template is None:
        return None
    return TableHistory(template.text, target_from(template, target.origin).name, names)


def as_pairs(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the column of a row's metadata with its map as Arrow takes maps."""
    columns = metadata["columns"]
    return {**metadata, "columns": None if columns is None else [*columns.items()]}


def target_rows(added: Iterable[tuple[Target, Namespace]]) -> list[dict[str, Any]]:
    """Return tables as rows of `TABLES`."""
    return [
        {"system": system, "database": database, "name": target.name, "origin": [*target.origin]}
        for target, (system, database) in added
    ]


def known_from(rows: Iterable[Any]) -> KnownTables:
    """Return the tables that earlier batches fed, by the rows of `TABLES`."""
    known = KnownTables()
    for row in sorted(rows, key=itemgetter(BATCH)):
        known.add(Target(row["name"], tuple(row["origin"])), (row["system"], row["database"]))
    return known
