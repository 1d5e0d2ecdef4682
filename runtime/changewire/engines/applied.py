"""What all engines share that apply the changes of a log to tables."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from changewire.changes.sources import KeysByTable
from changewire.engines.errors import KeysMissingError, TooManyDeadLettersError
from changewire.engines.json_rows import KEY, ROW
from changewire.engines.options import Limit
from changewire.engines.outcome import place_text
from changewire.engines.settings import Deletes
from changewire.tables.routing import NAMES, TRUNCATE
from changewire.tables.row_state import COLUMN
from changewire_messages.change import Source

ANY: Final = "*"
"""Instead of the name of a table, in a mapping of types: all other tables."""


KEYS: Final = "changewire.keys"
"""Property: the columns of the table's key."""

_COLUMNS: Final = 20
"""Columns that an error names at most."""

OWNER: Final = "changewire.query"
"""Property: id of the query that the table belongs to, which its checkpoint has."""

KEPT_DELETES: Final = "changewire.deletes"
"""Property: the fate of deleted rows, ``flag`` or ``remove``; none in a table that never kept
them."""

COLUMNS: Final = "changewire.columns"
"""Property: the columns that messages or settings named; no others are written."""


SOURCE: Final = "changewire.source"
"""Property: the names of the source that the table takes changes of, if its target has no
``{table}``."""


def property_text(value: Any) -> str:
    """Return the text of a property: Base64 of JSON, since SQL gives some characters a meaning."""
    return b64encode(msgspec.json.encode(value)).decode()


def property_value(text: str | None) -> Any:
    """Return the value of a property; None if the table has none, or an empty one."""
    return msgspec.json.decode(b64decode(text)) if text else None


def owned_by(owner: str, keys: Sequence[str], source: Source | None) -> dict[str, str]:
    """Return the properties of a table with a key that belongs to a query or log."""
    found = {KEYS: property_text([*keys]), OWNER: owner}
    if source is None:
        return found
    return {**found, SOURCE: property_text([getattr(source, name) for name in NAMES])}


def owner_in(properties: Mapping[str, str]) -> str | None:
    """Return the id of the query or log that a table belongs to; None if it belongs to none."""
    return properties.get(OWNER) or None


def columns_in(properties: Mapping[str, str]) -> frozenset[str] | None:
    """Return the columns of a table that may be written, besides those that a batch names.

    None for all, in a table of a query that wrote them all. Something else made the columns of a
    table that has no owner.
    """
    found = property_value(properties.get(COLUMNS))
    if found is None:
        return frozenset() if owner_in(properties) is None else None
    return frozenset(found)


def deletes_in(properties: Mapping[str, str], deletes: Deletes) -> dict[str, str]:
    """Return the property of a table by which it says the fate of deleted rows, if it needs it."""
    is_needed = deletes == "flag" or KEPT_DELETES in properties
    return {KEPT_DELETES: deletes} if is_needed else {}


def keeps_deleted(properties: Mapping[str, str], deletes: Deletes | None) -> bool:
    """Whether a table keeps deleted rows, by an option or, without one, by its properties."""
    return (deletes or properties.get(KEPT_DELETES)) == "flag"


def made_with(properties: Mapping[str, str], *, is_owned: bool) -> Deletes | None:
    """Return what becomes of deleted rows in a table; None if it may be either."""
    if keeps_deleted(properties, None):
        return "flag"
    return "remove" if is_owned else None


def keys_in(properties: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the columns of a table's key by its properties; None if they are not known."""
    keys = property_value(properties.get(KEYS))
    return None if keys is None else tuple(keys)


def has_text_rows(names: Collection[str], properties: Mapping[str, str]) -> bool:
    """Whether a table with columns of some names has rows of JSON text.

    Something else may have added columns to a table of JSON text, but not made one that was adopted
    with more of them.
    """
    named, others = property_value(properties.get(COLUMNS)), {*names} - {KEY, ROW, COLUMN}
    is_of_key = (keys_in(properties) or (KEY,)) == (KEY,) and {KEY, ROW} <= {*names}
    return is_of_key and (named is None or (not named and not others))


def source_in(properties: Mapping[str, str]) -> Source | None:
    """Return the source that a table takes changes of; None if it remembers none."""
    names = property_value(properties.get(SOURCE))
    return None if names is None else Source(**dict(zip(NAMES, names, strict=True)))


def check_keys(
    sources: tuple[int, int],
    key_columns: Sequence[str] | KeysByTable | None,
    columns: Callable[[], Collection[str]],
    *,
    has_tables: bool,
) -> None:
    """Refuse a batch in which no change has a key, if none ever had one.

    Args:
        sources: How many changes there are, and how many of them have no key.
        key_columns: Columns of the key that a user named, of all tables or by table.
        columns: Returns the columns of the rows of the batch.
        has_tables: Whether a table exists.
    """
    changes, keyless = sources
    if not changes or changes > keyless or has_tables:
        return
    why = f"none of {changes} changes has a key, so no table can take them; name the columns of it"
    if key_columns is not None:
        there, named = sorted(columns()), () if isinstance(key_columns, Mapping) else key_columns
        missing = [name for name in named if name not in there]
        shown = ", ".join(there[:_COLUMNS]) + (", …" if len(there) > _COLUMNS else "")
        has = f"no message has a column {missing[0]!r}" if missing else f"{why} that rows have"
        why = f"{has}; the columns of rows are: {shown}; name those of the key"
    raise KeysMissingError(f"{why} by `key_columns`. Nothing of the batch was written")


def decided_name(columns: Iterable[str]) -> str:
    """Return the name of a column that says that rows are decided: no column of a table has it."""
    name, taken = "decided", {one.lower() for one in columns}
    while name in taken:
        name = f"_{name}"
    return name


COUNTED: Final[Mapping[str, str]] = {
    "inserted": "rows that were added",
    "updated": "rows that were replaced",
    "deleted": "rows that were removed, or got a flag",
    "truncated": "rows that truncates removed",
    "sequence_inherited": "changes without a sequence: they got that of their row, or are oldest",
    "rounded_numbers": "numbers that a column of doubles rounded",
    "rescued_values": "values that did not fit their columns; `_changewire.rescued` has them",
    "left_out": "changes of tables that were not chosen",
    "refused": "changes that a table refused; the log says why",
    "key_missing": "changes without a key; they are in the log, and in no table",
    "waiting_before_images": "before images whose after image is not known; they delete nothing",
    "truncates_not_applied": "truncates that removed nothing, since none are applied",
    "statements_without_rows": "statements that came without the rows they changed; tables may be "
    "stale",
}
"""What is counted of changes in tables, and what it means."""

NOT_APPLIED: Final = (
    *("left_out", "refused", "key_missing", "waiting_before_images"),
    *("truncates_not_applied", "statements_without_rows"),
)
"""Those of them that a run did not apply."""


def not_applied(controls: Mapping[str, int], *, with_truncates: bool) -> Counter[str]:
    """Return how many control events changed rows at their source, and none in tables."""
    truncates = 0 if with_truncates else controls.get(TRUNCATE, 0)
    statements = controls.get("statement", 0)
    return Counter(truncates_not_applied=truncates, statements_without_rows=statements)


class Replayed(NamedTuple):
    """What a replay did.

    Attributes:
        dead_letters: Open dead letters that were decoded again.
        refused: Open refused changes that were applied again.
        key_missing: Changes without a key that have one now, by `key_columns`.
        closed: Rows that were appended to the log, of elements that are valid by now.
        left: Of these dead letters and changes, and of changes that dead letters are by now, how
            many are still open.
        tables: How many rows were inserted, updated and deleted, and how many changes refused.
    """

    dead_letters: int
    refused: int
    key_missing: int
    closed: int
    left: int
    tables: Mapping[str, int]


FIRST_REASONS: Final = 3
"""How many dead letters the error of too many names."""


def too_many(
    limit: Limit,
    elements: int,
    codes: Counter[str],
    first: Sequence[Mapping[str, Any]],
    batch: int,
) -> TooManyDeadLettersError:
    """Return the error of a batch with too many dead letters, of which the first are rows."""
    named = ", ".join(f"{code} {number}" for code, number in codes.most_common(FIRST_REASONS))
    reasons = "; ".join(f"{place_text(row)}: {row['message']}" for row in first)
    return TooManyDeadLettersError(
        f"batch {batch}: {sum(codes.values())} of {elements} elements are dead letters "
        f"({named}), and max_dead_letters is {limit}. Nothing of the batch was written. "
        f"{len(first)} of them: {reasons}"
    )


def types_by_table(row_schema: Any) -> Mapping[str, Any]:
    """Return types by table; a mapping that is a schema is the type of all tables."""
    return row_schema if is_by_table(row_schema) else {ANY: row_schema}


def is_by_table(row_schema: Any) -> bool:
    """Whether it has an entry for each table: a schema has a type, properties or lists."""
    if not isinstance(row_schema, Mapping) or not row_schema.keys().isdisjoint(
        {"properties", "type"}
    ):
        return False
    return not any(isinstance(one, list) for one in row_schema.values())
