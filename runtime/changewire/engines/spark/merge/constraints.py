"""What a table asks of its rows, and which of its columns a MERGE cannot write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, NamedTuple, cast

from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    CharType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    VarcharType,
)

from changewire.engines.errors import OutputError
from changewire.engines.partitions import Layout, folder_rule
from changewire.engines.spark.jvm import table_metadata
from changewire.engines.spark.parts import quoted
from changewire.engines.spark.types import inside

_CHECK: Final = "delta.constraints."
_INVARIANT: Final = "delta.invariants"
_GENERATED: Final = "delta.generationExpression"
_IDENTITY: Final = "delta.identity."
_DEFAULT: Final = "CURRENT_DEFAULT"
_LENGTHS: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""What Delta and Spark have in the properties of a table, and in the metadata of its columns:
https://github.com/delta-io/delta/blob/master/PROTOCOL.md"""

NOT_NULL: Final = "NOT NULL"
_TEXT_PARTITION: Final = "text partition"

LENIENT: Final = {"spark.sql.ansi.enabled": "false"}
"""Setting by which an expression that fails is NULL, and a row violates it; else a job ends."""


class Constraint(NamedTuple):
    """A condition in SQL that each row meets, and its name for people."""

    name: str
    holds: str


@dataclass(frozen=True)
class Constraints:
    """What a table asks of its rows.

    Attributes:
        rules: Conditions on its columns.
        generated: Expressions in SQL of generated columns.
        defaults: Those of columns that have a default.
        closed: Columns that a MERGE cannot write, and why.
        key_faults: Columns that cannot be part of a key, and why.
    """

    rules: tuple[Constraint, ...] = ()
    generated: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=dict)
    key_faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def are_any(self) -> bool:
        """Whether a row may be refused, or has values that the table computes."""
        return bool(self.rules or self.generated)

    def reads(self, name: str) -> bool:
        """Whether a condition or an expression may read a column."""
        texts = (*(rule.holds for rule in self.rules), *self.generated.values())
        return any(reads(text, name) for text in texts)


def reads(text: str, name: str) -> bool:
    """Whether a text in SQL may read a column."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def constraints_of(
    spark: SparkSession,
    table: str,
    columns: StructType,
    properties: Mapping[str, str],
    *,
    is_delta: bool,
) -> Constraints:
    """Return what a table asks of its rows, by its columns and properties."""
    rules = [*_not_null(columns, is_delta=is_delta)]
    if not is_delta:  # Iceberg has no other constraints, and keeps all texts in partitions
        return Constraints(tuple(rules))
    # Spark hides the metadata of generated columns, and properties whose names look like secrets.
    metadata = table_metadata(spark, table) or {}
    stored = json.loads(metadata.get("schemaString", columns.json()))["fields"]
    properties = metadata.get("configuration", properties)
    known = metadata.get("partitionColumns")
    if known is None:
        known = [one.name for one in spark.catalog.listColumns(table) if one.isPartition]
    kinds = {one.name: one.dataType for one in columns.fields}
    texts = [one for one in known if _is_text(kinds[one])]
    rules += [rule for one in columns.fields for rule in _lengths(one)]
    rules += [
        Constraint(name.removeprefix(_CHECK), text)
        for name, text in properties.items()
        if name.startswith(_CHECK)
    ]
    rules += [rule for one in stored for rule in _invariants(one)]
    rules += chain.from_iterable(map(_partition, texts))
    found = {one["name"]: one["metadata"] for one in stored}
    identity = [name for name, one in found.items() if any(map(_is_identity, one))]
    return Constraints(
        tuple(rules),
        {name: one[_GENERATED] for name, one in found.items() if _GENERATED in one},
        {name: one[_DEFAULT] for name, one in found.items() if _DEFAULT in one},
        {
            **{one.name: _within(one) for one in columns.fields if _has_required(one.dataType)},
            **{name: _written_by_table(name) for name in identity},
        },
        {
            **{one: f"column {one!r} is a text partition, where '' becomes NULL" for one in texts},
            **{one.name: _padded(one) for one in columns.fields if is_char(one)},
            **{name: _written_by_table(name) for name in identity},
        },
    )


def with_partitions(asked: Constraints, columns: StructType, layout: Layout) -> Constraints:
    """Return what a Delta table asks of its rows once it has other columns and partitions."""
    kept = (one for one in asked.rules if not one.name.startswith(_TEXT_PARTITION))
    names = {one.column for one in layout.partitions}
    texts = (one.name for one in columns.fields if one.name in names and _is_text(one.dataType))
    return replace(asked, rules=(*kept, *chain.from_iterable(map(_partition, texts))))


def check_key(asked: Constraints, keys: Sequence[str], target: str) -> None:
    """Check that the columns of a key can name the rows of a table."""
    for name in keys:
        if name in asked.key_faults:
            raise OutputError(f"{target}: {asked.key_faults[name]}, so the key cannot have it")


def identity_columns(spark: SparkSession, table: str) -> set[str]:
    """Return the identity columns of a Delta table, which no write may have."""
    stored = json.loads((table_metadata(spark, table) or {}).get("schemaString", '{"fields":[]}'))
    return {one["name"] for one in stored["fields"] if any(map(_is_identity, one["metadata"]))}


def _is_identity(name: str) -> bool:
    return name.startswith(_IDENTITY)


def is_char(column: StructField) -> bool:
    """Whether a column is CHAR, whose values are padded with spaces."""
    return str(column.metadata.get(_LENGTHS, "")).startswith("char(")


def _written_by_table(name: str) -> str:
    return f"column {name!r} is an identity column, which only the table writes"


def _padded(column: StructField) -> str:
    return f"column {column.name!r} is CHAR, which is padded with spaces"


def _within(column: StructField) -> str:
    return f"column {column.name!r} has NOT NULL within its type, which a MERGE cannot write"


def _has_required(kind: DataType) -> bool:
    """Whether a part of a type cannot be NULL."""
    parts = inside(kind)
    return any(not _may_be_null(kind, name) or _has_required(part) for name, part in parts)


def _not_null(columns: StructType, *, is_delta: bool) -> Iterator[Constraint]:
    for one in columns.fields:
        path = quoted(one.name)
        if not one.nullable:
            yield _is_there(path, one.name)
        yield from _rules(path, one.name, one.dataType, is_delta=is_delta)


def _lengths(column: StructField) -> Iterator[Constraint]:
    text = column.metadata.get(_LENGTHS)
    if text is not None:
        kind = cast("StructType", StructType.fromDDL(f"c {text}"))["c"].dataType
        yield from _rules(quoted(column.name), column.name, kind, is_delta=True)


def _rules(
    path: str, name: str, kind: DataType, *, is_delta: bool, depth: int = 0
) -> Iterator[Constraint]:
    """Yield what a type asks of a value, which has a path in SQL and a name for people."""
    if isinstance(kind, (CharType, VarcharType)):
        limit = f"{kind.typeName().upper()}({kind.length})"
        yield Constraint(f"{limit} of {name}", f"{path} IS NULL OR length({path}) <= {kind.length}")
    for part, inner in inside(kind):
        one = f"{path}.{quoted(part)}" if isinstance(kind, StructType) else f"_value{depth}"
        named = f"{name}.{part}"
        rules = [*_rules(one, named, inner, is_delta=is_delta, depth=depth + 1)]
        if not _may_be_null(kind, part):
            rules.insert(0, _is_there(one, named))
        for rule in rules:
            if not isinstance(kind, StructType):
                values = path if isinstance(kind, ArrayType) else f"map_{part}s({path})"
                yield Constraint(
                    rule.name, f"{path} IS NULL OR forall({values}, {one} -> {rule.holds})"
                )
            # With Delta, a struct that is NULL has fields that are NULL.
            elif is_delta:
                yield rule
            else:
                yield Constraint(rule.name, f"{path} IS NULL OR ({rule.holds})")


def _is_there(path: str, name: str) -> Constraint:
    return Constraint(f"{NOT_NULL} of {name}", f"{path} IS NOT NULL")


def _may_be_null(kind: DataType, part: str) -> bool:
    """Whether a part of a type may be NULL; the table format checks keys of maps."""
    if isinstance(kind, StructType):
        return kind[part].nullable
    if isinstance(kind, ArrayType):
        return kind.containsNull
    return part == "key" or not isinstance(kind, MapType) or kind.valueContainsNull


def _invariants(column: Mapping[str, Any]) -> Iterator[Constraint]:
    """Yield the condition that the metadata of a column has, as in old tables."""
    text = column["metadata"].get(_INVARIANT)
    if text is not None:
        expression = json.loads(text)["expression"]["expression"]
        yield Constraint(f"invariant of {column['name']}", expression)


def _is_text(kind: DataType) -> bool:
    return isinstance(kind, (StringType, BinaryType))


def _partition(name: str) -> Iterator[Constraint]:
    text = f"CAST({quoted(name)} AS STRING)"
    holds = f"{text} IS NULL OR {text} NOT IN ('', '__HIVE_DEFAULT_PARTITION__')"
    yield Constraint(f"{_TEXT_PARTITION} {name}: '' is stored as NULL", holds)
    rule, holds = folder_rule(name, text)
    yield Constraint(f"{_TEXT_PARTITION} {rule}", holds)
