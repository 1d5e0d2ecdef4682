"""Types of columns in the JSON form of Spark's StructType, in which Delta's log has them too.

A table may have columns of types that rows of messages never have; this form has them all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

StructJson: TypeAlias = Mapping[str, Any]
"""A struct: its ``fields`` have ``name``, ``type``, ``nullable`` and ``metadata``."""

_SQL_NAMES: Final = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
"""Names in SQL of those types that have another one in JSON."""

_UNSAFE: Final = re.compile(r"[ ,;{}()\n\t=]")


def struct_json(fields: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the struct of some fields."""
    return {"type": "struct", "fields": [*fields]}


def field_json(name: str, kind: Any, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a field, which may be NULL."""
    return {"name": name, "type": kind, "nullable": True, "metadata": dict(metadata or {})}


def parts(kind: Any) -> list[tuple[str, Any]]:
    """Return what a type holds, by the names that Parquet has for it; nothing for a scalar."""
    if isinstance(kind, str):
        return []
    if kind["type"] == "struct":
        return [(field["name"], field["type"]) for field in kind["fields"]]
    if kind["type"] == "array":
        return [("element", kind["elementType"])]
    return [("key", kind["keyType"]), ("value", kind["valueType"])] if kind["type"] == "map" else []


def sql_name(kind: Any) -> str:
    """Return the name of a type in Spark's SQL."""
    if isinstance(kind, str):
        return _SQL_NAMES.get(kind, kind)
    inner = [(name, sql_name(part)) for name, part in parts(kind)]
    if kind["type"] == "struct":
        return f"struct<{','.join(f'{name}:{text}' for name, text in inner)}>"
    return f"{kind['type']}<{','.join(text for _, text in inner)}>" if inner else str(kind["type"])


def has_unsafe_names(kind: Any) -> bool:
    """Whether Parquet, and so Delta without column mapping, refuses a name inside of a type."""
    return any(
        _UNSAFE.search(name) is not None or has_unsafe_names(part) for name, part in parts(kind)
    )
