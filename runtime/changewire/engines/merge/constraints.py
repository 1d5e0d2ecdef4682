"""What a table demands of its rows: CHECK, NOT NULL, lengths of text, partitions of text."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, QueryBuilder, write_deltalake

from changewire.engines.applied import decided_name
from changewire.engines.errors import OutputError
from changewire.engines.merge import delta
from changewire.engines.partitions import folder_rule
from changewire.engines.typed.types import parts, without_metadata
from changewire.tables.row_state import COLUMN

_CHECK: Final = "delta.constraints."
_INVARIANT: Final = "delta.invariants"
_GENERATED: Final = "delta.generationExpression"
_LENGTH: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""Metadata of a text column: its type, if that has a length."""

_MISWRITTEN: Final = re.compile(r"binary|decimal\(\d+,\s*[1-9]\d*\)")
"""Delta-rs reads other bytes than it was given, and writes -0.5 as 0.-50."""

_OF_LENGTH: Final = re.compile(r"(char|varchar)\((\d+)\)")
_TEXT_PARTITION: Final = "text partition"
_NO_TEXTS: Final = ("", "__HIVE_DEFAULT_PARTITION__")
"""Texts that are NULL as a partition."""


class Constraint(NamedTuple):
    """What a table demands of a row.

    Attributes:
        name: What a refusal calls it.
        condition: SQL of DataFusion that is true for a row which satisfies it.
        unchecked: The column that it is about, if delta-rs does not check it.
    """

    name: str
    condition: str
    unchecked: str | None = None


def is_miswritten(kind: Any) -> bool:
    """Whether delta-rs reads or writes values of a type wrongly as partitions."""
    return isinstance(kind, str) and _MISWRITTEN.fullmatch(kind) is not None


def check_writable(path: str, table: DeltaTable, names: Collection[str]) -> None:
    """Refuse a table whose columns of some names delta-rs would write wrongly, or not at all."""
    if table.metadata().configuration.get("delta.appendOnly", "false").lower() == "true":
        raise delta.UnwritableError(path, "append-only")
    for field in _fields(table):
        # Delta-rs computes them when a row comes, and not when it changes.
        if _GENERATED in field["metadata"]:
            raise delta.UnwritableError(path, f"generated column {field['name']}")
        kind, is_partition = field["type"], field["name"] in table.metadata().partition_columns
        if is_partition and is_miswritten(kind):
            raise delta.UnwritableError(path, f"{kind} partition column {field['name']}")
        if field["name"] not in names:
            continue
        length = field["metadata"].get(_LENGTH)
        if length is not None and _OF_LENGTH.fullmatch(length) is None:
            raise delta.UnwritableError(path, f"lengths of text inside column {field['name']}")
        if _has_not_null(field["type"]):
            raise delta.UnwritableError(path, f"NOT NULL inside column {field['name']}")


def check_adopted(
    path: str, table: DeltaTable, keys: Sequence[str], *, keeps_deleted: bool
) -> None:
    """Refuse a table of something else, if rows cannot be kept right there."""
    partitions = table.metadata().partition_columns
    for field in _fields(table):
        name, is_key = field["name"], field["name"] in keys
        if is_key and name in partitions and field["type"] == "string":
            raise OutputError(
                f"{path}: the key's column {name} is a partition column of text, which has NULL "
                "for '', so that rows would be taken for others; choose another partition column"
            )
        if is_key and field["metadata"].get(_LENGTH, "").startswith("char"):
            raise OutputError(
                f"{path}: the key's column {name} is CHAR, which adds blanks to values, so that "
                "rows would be taken for others; make it VARCHAR or STRING"
            )
    names = "|".join(map(re.escape, keys))
    of_key = re.compile(rf"(?<!\w)({names})(?!\w)", re.IGNORECASE)
    of_others = [one for one in constraints_of(table) if not of_key.search(one.condition)]
    deleted = pa.Table.from_pylist([{COLUMN: {"deleted": True}}], arrow_columns(table))
    (name,) = violated(path, deleted, of_others if keeps_deleted else ())
    if name is not None:
        raise OutputError(
            f"{path}: deletes='flag' keeps deleted rows, with NULL in all columns but those of "
            f"the key, and the constraint {name} forbids that; use deletes='remove'"
        )


def arrow_columns(table: DeltaTable) -> pa.Schema:
    """Return the columns of a table, each of which may be NULL."""
    return without_metadata(pa.schema(table.schema().to_arrow()))


def constraints_of(table: DeltaTable, columns: Collection[str] | None = None) -> list[Constraint]:
    """Return what a table demands of its rows, with columns of some names alone or with all."""
    metadata = table.metadata()
    found = [
        Constraint(name.removeprefix(_CHECK), condition)
        for name, condition in sorted(metadata.configuration.items())
        if name.startswith(_CHECK)
    ]
    for field in _fields(table):
        if columns is None or field["name"] in columns:
            found += _of_field(field, is_partition=field["name"] in metadata.partition_columns)
    return found


def rules_after(
    table: DeltaTable, columns: pa.Schema, partitions: Collection[str]
) -> list[Constraint]:
    """Return what a table demands of rows once it has other columns and partitions."""
    found = constraints_of(table, columns.names)
    kept = [one for one in found if not one.name.startswith(_TEXT_PARTITION)]
    texts = (name for name in partitions if name in columns.names)
    texts = (name for name in texts if pa.types.is_string(columns.field(name).type))
    return [*kept, *chain.from_iterable(map(_text_partition, texts))]


def padded(rows: pa.Table, table: DeltaTable) -> pa.Table:
    """Return rows with the blanks that values of CHAR have, as Spark reads them."""
    for field in _fields(table):
        kind, length = _length(field)
        number = rows.schema.get_field_index(field["name"])
        if kind == "char" and number >= 0:
            column = pc.utf8_rpad(rows[number], length)
            rows = rows.set_column(number, rows.schema.field(number), column)
    return rows


def trimmed(rows: pa.Table, table: DeltaTable) -> pa.Table:
    """Return rows without the blanks that values of CHAR have, which are not part of a value."""
    for field in _fields(table):
        number = rows.schema.get_field_index(field["name"])
        if _length(field)[0] == "char" and number >= 0:
            column = pc.utf8_rtrim(rows[number], " ")
            rows = rows.set_column(number, rows.schema.field(number), column)
    return rows


def violated(path: str, rows: pa.Table, constraints: Sequence[Constraint]) -> list[str | None]:
    """Return the name of the first constraint that each row does not satisfy, or None."""
    names: list[str | None] = [None] * len(rows)
    for constraint in constraints:
        read = rows if constraint.unchecked is None else rows.select([constraint.unchecked])
        for number in _failing(path, read, constraint):
            names[number] = names[number] or constraint.name
    return names


def _fields(table: DeltaTable) -> list[Mapping[str, Any]]:
    fields: list[Mapping[str, Any]] = json.loads(table.schema().to_json())["fields"]
    return fields


def _has_not_null(kind: Any) -> bool:
    """Whether a part of a type may not be NULL."""
    if isinstance(kind, str):
        return False
    fields = kind.get("fields", ())
    may_be_null = [kind.get("containsNull"), kind.get("valueContainsNull")]
    may_be_null += [field["nullable"] for field in fields]
    return False in may_be_null or any(_has_not_null(part) for _, part in parts(kind))


def _length(field: Mapping[str, Any]) -> tuple[str, int]:
    found = _OF_LENGTH.fullmatch(field["metadata"].get(_LENGTH, ""))
    return ("string", 0) if found is None else (found[1], int(found[2]))


def _of_field(field: Mapping[str, Any], *, is_partition: bool) -> Iterator[Constraint]:
    name, column = field["name"], delta.quoted(field["name"])
    if not field["nullable"]:
        yield Constraint(f"NOT NULL of {name}", f"{column} IS NOT NULL")
    if _INVARIANT in field["metadata"]:
        condition = json.loads(field["metadata"][_INVARIANT])["expression"]["expression"]
        yield Constraint(f"invariant of {name}", condition)
    kind, length = _length(field)
    if length:
        condition = f"{column} IS NULL OR character_length({column}) <= {length}"
        yield Constraint(f"{kind.upper()}({length}) of {name}", condition, name)
    if is_partition and field["type"] == "string":
        yield from _text_partition(name)


def _text_partition(name: str) -> Iterator[Constraint]:
    column = delta.quoted(name)
    condition = f"{column} IS NULL OR {column} NOT IN {_NO_TEXTS}"
    yield Constraint(f"{_TEXT_PARTITION} {name}: '' is stored as NULL", condition, name)
    rule, condition = folder_rule(name, column)
    yield Constraint(f"{_TEXT_PARTITION} {rule}", condition, name)


def _failing(path: str, rows: pa.Table, constraint: Constraint) -> list[int]:
    """Return the numbers of the rows that do not satisfy a constraint, or raise an error by it."""
    number = decided_name(rows.column_names)
    numbered = rows.append_column(number, pa.array(range(len(rows)), pa.int64()))
    query = f"SELECT {number} FROM rows WHERE NOT COALESCE(({constraint.condition}), FALSE)"  # noqa: S608 - of the table
    with TemporaryDirectory() as folder:
        with delta.reported(folder):
            write_deltalake(folder, numbered)
        builder = QueryBuilder().register("rows", DeltaTable(folder))
        try:
            found: list[int] = pa.table(builder.execute(query).read_all())[number].to_pylist()
        except Exception as error:  # such as a division by zero, for which it has no type
            if not len(rows):
                reason = f"constraint {constraint.name}, whose SQL it does not evaluate"
                raise delta.UnwritableError(path, reason) from error
        else:
            return found
    _failing(path, rows.slice(0, 0), constraint)
    if len(rows) == 1:
        return [0]
    half = len(rows) // 2
    parts = (rows.slice(0, half), rows.slice(half))
    first, last = (_failing(path, part, constraint) for part in parts)
    return [*first, *(half + one for one in last)]
