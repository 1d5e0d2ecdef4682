"""The JSON Schema of one table's rows to a column type: StructType's own JSON form, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from changewire_codegen.columns import EXTRA
from changewire_codegen.errors import RowSchemaError, SchemaError
from changewire_codegen.names import escape_pointer
from changewire_library.fields import Column, Field, Leaf, ListOf, MapOf, Struct

_TYPES: Final[Mapping[Leaf, str]] = {
    "boolean": "boolean",
    "int32": "integer",
    "integer": "long",
    "number": "double",
    "bytes": "binary",
    "datetime": "timestamp",
}
"""Types of scalars; the others are strings."""

_FORMS: Final[Mapping[tuple[str, str], str]] = {
    ("integer", "int32"): "integer",
    ("string", "base64"): "binary",
    ("string", "date"): "date",
    ("string", "date-time"): "timestamp",
}
"""The types of scalars with a format, or an encoding."""

_SCALARS: Final = {"boolean": "boolean", "integer": "long", "number": "double", "string": "string"}
_WORDS: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
_OF_VALUES: Final[Mapping[type, str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    type(None): "null",
}
_DEFINITIONS: Final = ("$defs", "definitions")
_UNIONS: Final = ("anyOf", "oneOf")
_READ: Final = frozenset(
    {
        *("$schema", "$id", "$ref", "$comment", "$anchor", "title", "description", "examples"),
        *("default", "deprecated", "readOnly", "writeOnly", "type", "const", "enum", "required"),
        *("properties", "items", "allOf", *_DEFINITIONS, *_UNIONS),
    }
)
"""Keywords that make a type, describe it, or say what may be absent: any column may be NULL."""

_JSON: Final = "any value"
"""What has no type of its own: it becomes JSON text."""


def row_type(
    schema: Mapping[str, Any], file: str = "row_schema", unused: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the column type of rows, as ``StructType.fromJson`` and Delta's log have it.

    Every column may be NULL. The metadata of a field holds its description as ``comment``; where a
    value of any type becomes JSON text, also ``"contentMediaType": "application/json"``.

    Args:
        schema: The JSON Schema of an object with properties; it refers to itself only.
        file: Its name, for errors.
        unused: Gets the keywords that make no type, each with its first JSON Pointer.

    Raises:
        RowSchemaError: It describes no row; it has all problems.
    """
    found = _Columns(schema, file, {} if unused is None else unused)
    kind = found.of(schema, "", ("#",))
    if not found.problems and not _is_struct(kind):
        found.problem("", "a row is an object with properties")
    if found.problems:
        raise RowSchemaError(found.problems)
    return dict(kind)


class _Columns:
    """The types of the nodes of one schema."""

    def __init__(self, root: Mapping[str, Any], file: str, unused: dict[str, str]) -> None:
        self._root, self._file, self._unused = root, file, unused
        self._recursive: set[str] = set()
        self.problems: list[SchemaError] = []

    def problem(self, at: str, reason: str) -> None:
        """Keep what is wrong at a JSON Pointer, once."""
        error = SchemaError(self._file, at, reason)
        if str(error) not in map(str, self.problems):
            self.problems.append(error)

    def of(self, node: Any, at: str, above: tuple[str, ...]) -> Any:
        """Return the type of a node, which is below the definitions of some references."""
        if not isinstance(node, Mapping):
            if not isinstance(node, bool):
                self.problem(at, "a schema is an object, or true or false")
            return _JSON
        for keyword in sorted(node.keys() - _READ - {*_made_by(node)}):
            self._unused.setdefault(keyword, at)
        if "$ref" in node:
            return self._referred(node["$ref"], at, above)
        arms = [
            self.of(arm, place, above) for arm, place in self._arms(node, at) if not _is_null(arm)
        ]
        if arms and "properties" not in node:
            return _joined(arms)
        if arms:
            own = self._single(node, "object", at, above)
            return _joined([own, *(arm for arm in arms if _is_struct(arm))])
        kinds = self._kinds(node, at)
        return self._single(node, kinds[0], at, above) if len(kinds) == 1 else _JSON

    def _arms(self, node: Mapping[str, Any], at: str) -> Iterator[tuple[Any, str]]:
        """Yield the schemas that a node joins, each with its place."""
        for name in (name for name in ("allOf", *_UNIONS) if name in node):
            if not isinstance(node[name], list):
                self.problem(f"{at}/{name}", "an array of schemas is expected")
            elif name in _UNIONS and "properties" in node:
                self._unused.setdefault(name, at)
            else:
                yield from ((arm, f"{at}/{name}/{i}") for i, arm in enumerate(node[name]))

    def _referred(self, reference: Any, at: str, above: tuple[str, ...]) -> Any:
        """Return the type of a definition; JSON text for one that has itself at any depth."""
        if reference in above:
            self._recursive.add(reference)
            return _JSON
        target: Any = self._root
        steps = reference.split("/") if isinstance(reference, str) else [""]
        for step in steps[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, Mapping) else None
        if steps[0] != "#" or target is None:
            self.problem(f"{at}/$ref", f"{reference!r} leads nowhere in this schema")
            return _JSON
        found = self.of(target, reference[1:], (*above, reference))
        return _JSON if reference in self._recursive else found

    def _kinds(self, node: Mapping[str, Any], at: str) -> list[str]:
        """Return the types that a node allows, without null."""
        given = node.get("type")
        if given is None:
            values = node.get("enum", [node["const"]] if "const" in node else [])
            given = [_OF_VALUES.get(type(value), "object") for value in values]
            if not values:
                given = [kind for kind, name in _IMPLIED.items() if name in node]
        kinds = given if isinstance(given, list) else [given]
        for kind in kinds:
            if kind not in _WORDS:
                words = ", ".join(_WORDS)
                self.problem(f"{at}/type", f"no type {kind!r}; there are: {words}")
        return [kind for kind in dict.fromkeys(map(str, kinds)) if kind != "null"]

    def _single(self, node: Mapping[str, Any], kind: str, at: str, above: tuple[str, ...]) -> Any:
        """Return the type of a node that allows one type."""
        if kind == "array":
            items = self.of(node.get("items", True), f"{at}/items", above)
            return _JSON if items == _JSON else _list_of(items)
        if kind != "object":
            form = node.get("contentEncoding") or node.get("format")
            return _FORMS.get((kind, str(form)), _SCALARS.get(kind, _JSON))
        if "properties" in node:
            return self._struct(node["properties"], f"{at}/properties", above)
        values = self.of(
            node.get("additionalProperties", True), f"{at}/additionalProperties", above
        )
        return _JSON if values == _JSON else _map_of(values)

    def _struct(self, properties: Any, at: str, above: tuple[str, ...]) -> Any:
        if not isinstance(properties, Mapping) or not properties:
            self.problem(at, "an object with at least one property is expected")
            return _JSON
        fields = []
        for name, node in properties.items():
            kind = self.of(node, f"{at}/{escape_pointer(name)}", above)
            text = node.get("description") if isinstance(node, Mapping) else None
            fields.append(_json_field(name, kind, text if isinstance(text, str) else ""))
        return {"type": "struct", "fields": fields}


_IMPLIED: Final = {"object": "properties", "array": "items"}
"""Keywords that say a type without ``type``."""


def _made_by(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield further keywords that make a type at a node."""
    kinds = node.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if (kind, str(node.get("format"))) in _FORMS:
            yield "format"
        if (kind, str(node.get("contentEncoding"))) in _FORMS:
            yield "contentEncoding"
    if "properties" not in node and isinstance(node.get("additionalProperties"), Mapping):
        yield "additionalProperties"


def _is_null(node: Any) -> bool:
    return isinstance(node, Mapping) and (
        node.get("type") == "null" or node.get("const", 0) is None
    )


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, dict) and kind["type"] == "struct"


def _joined(kinds: list[Any]) -> Any:
    """Return the type of what is of one of several; structs become one, other types JSON text."""
    if all(kind == kinds[0] for kind in kinds):
        return kinds[0]
    if not all(map(_is_struct, kinds)):
        return _JSON
    merged: dict[str, dict[str, Any]] = {}
    for field in chain.from_iterable(one["fields"] for one in kinds):
        known = merged.setdefault(field["name"], field)
        if known["type"] != field["type"]:
            text = known["metadata"].get("comment", "")
            merged[field["name"]] = _json_field(field["name"], _JSON, text)
    return {"type": "struct", "fields": [*merged.values()]}


def struct_type(struct: Struct) -> dict[str, Any]:
    """Return the JSON form of the StructType of a struct, without unnamed properties."""
    fields = [_field(field) for field in struct.fields if field.name != EXTRA]
    return {"type": "struct", "fields": fields}


def _field(field: Field) -> dict[str, Any]:
    is_json = field.column in {"json", "exact", "text"}
    return _json_field(field.name, _JSON if is_json else _type(field.column), field.comment)


def _json_field(name: str, kind: Any, comment: str) -> dict[str, Any]:
    metadata = {"comment": comment} if comment else {}
    if kind == _JSON:
        metadata["contentMediaType"] = "application/json"
        kind = "string"
    return {"name": name, "type": kind, "nullable": True, "metadata": metadata}


def _type(column: Column) -> Any:
    if isinstance(column, Struct):
        return struct_type(column)
    if isinstance(column, ListOf):
        return _list_of(_type(column.items))
    return (
        _map_of(_type(column.items)) if isinstance(column, MapOf) else _TYPES.get(column, "string")
    )


def _list_of(items: Any) -> dict[str, Any]:
    return {"type": "array", "elementType": items, "containsNull": True}


def _map_of(values: Any) -> dict[str, Any]:
    return {"type": "map", "keyType": "string", "valueType": values, "valueContainsNull": True}
