"""``kernel.jsonl`` of a family: its schemas as nodes, by which a native kernel validates bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from changewire_codegen.change_table import ChangeTable, Path, change_table
from changewire_codegen.emit.values import known_values
from changewire_codegen.envelopes import Flat, flat_of
from changewire_codegen.nodes import (
    INT64,
    Alias,
    AnyDefinition,
    Anything,
    ArrayOf,
    Choice,
    Family,
    MapOf,
    Nullable,
    Object,
    Property,
    RefTo,
    Row,
    RowUnion,
    Scalar,
    TaggedRow,
    Type,
    Union,
)
from changewire_codegen.order import messages, parsed_apart

KERNEL_FILE: Final = "kernel.jsonl"
"""Name of the file: a line with form and digest, and one with the nodes."""

FORM: Final = 1
"""Form of the table; a kernel that knows another one does not read it."""

_MOST_BYTES: Final = 2**31 - 1
_PLAIN: Final = frozenset({"null", "boolean", "string", "number", "double"})
_BYTES: Final[Mapping[str, str]] = {"bytes": "base64", "binary": "bytes"}
_DECLINED: Final = {"kind": "declined"}


def kernel_table(family: Family) -> str:
    """Return the text of the table: its digest is that of the second line."""
    found = _Nodes(family)
    root = found.reference(family.roles["message"])
    body = _text(
        {
            "format": family.format,
            "encoding": family.encoding,
            "exact": family.exact,
            "batches": "batch" in family.roles,
            "root": root,
            "change": change_table(family) if "change" in family.meta else None,
            "values": {
                f"{owner.name}.{prop.wire}": [
                    {key: known[key] for key in known if key != "description"}
                    for known in prop.values
                ]
                for owner, prop in known_values(family)
            },
            "nodes": found.nodes,
        }
    )
    head = {"form": FORM, "sha256": sha256(body.encode()).hexdigest()}
    return f"{_text(head)}\n{body}\n"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: Path | ChangeTable) -> object:
    """Return the names of a path, or the members of a table."""
    return [prop.wire for prop in value.steps] if isinstance(value, Path) else vars(value)


class _Nodes:
    """The nodes of a family, as in JSON; others are named by their index."""

    def __init__(self, family: Family) -> None:
        """Begin without nodes."""
        self.nodes: list[dict[str, Any]] = []
        self._family = family
        self._roots, self._loose = messages(family), parsed_apart(family)
        self._of_definition: dict[tuple[str, str | None], int] = {}
        self._of_text: dict[str, int] = {}

    def reference(self, name: str) -> int:
        """Return the node of a definition."""
        return self._definition(self._family.definitions[name], None)

    def _definition(self, definition: AnyDefinition, word: str | None) -> int:
        known = (definition.name, word)
        if known in self._of_definition:
            return self._of_definition[known]
        if isinstance(definition, Alias):
            return self._type(definition.type)
        place = self._of_definition[known] = len(self.nodes)
        self.nodes.append({})  # it may contain itself
        self.nodes[place].update(_without_nothing(self._made(definition, word)))
        return place

    def _made(self, definition: AnyDefinition, word: str | None) -> Mapping[str, Any]:
        if isinstance(definition, Union):
            return self._union(definition)
        flat = flat_of(definition, self._family)
        if flat is not None:
            return self._flat(definition, flat)
        if isinstance(definition, Object):
            return {
                "kind": "object",
                "name": definition.tag.models[word] if definition.tag and word else definition.name,
                "word": word,
                "root": definition.name in self._roots,
                "loose": definition.name in self._loose,
                "fields": [self._field(prop) for prop in definition.properties],
                "uses": definition.leniencies,
            }
        if isinstance(definition, TaggedRow | RowUnion):
            return self._rows(definition)
        return self._row(definition) if isinstance(definition, Row) else _DECLINED

    def _flat(self, definition: AnyDefinition, flat: Flat) -> Mapping[str, Any]:
        """Return the node of an object with inlined map entries."""
        entries = flat.entries.type
        uses = [definition.leniencies] if isinstance(definition, Object) else []
        if any([*uses, flat.other.leniencies, flat.entries.leniencies]):
            return _DECLINED
        assert isinstance(entries, MapOf)  # noqa: S101 - the builder refuses other types
        return {
            "kind": "flat",
            "name": definition.name,
            "of": self._type(flat.other.type),
            "needed": [*flat.needed],
            "entries": self._type(entries.of),
        }

    def _row(self, row: Row) -> Mapping[str, Any]:
        return {
            "kind": "row",
            "name": row.name,
            "fields": [self._field(prop) for prop in row.properties],
            "uses": row.leniencies,
        }

    def _rows(self, union: TaggedRow | RowUnion) -> Mapping[str, Any]:
        """Return the node of one of several rows."""
        if isinstance(union, TaggedRow):
            at, tags = [union.tag], [[[value] for value in values] for values in union.tags]
            arms = [self._add(self._row(arm)) for arm in union.arms]
        else:
            at, tags = [*union.tags], [[*map(list, arm.keys)] for arm in union.choices]
            arms = [*map(self.reference, union.arms)]
        return {"kind": "rows", "name": union.name, "at": at, "tags": tags, "of": arms}

    def _union(self, union: Union) -> Mapping[str, Any]:
        words = [*union.tags.items(), *([(None, union.open_arm)] if union.open_arm else [])]
        arms = [self._definition(self._family.definitions[arm], word) for word, arm in words]
        return {
            "kind": "union",
            "name": union.name,
            "tag": union.tag,
            "root": self._roots.issuperset(union.arms),
            "loose": self._loose.issuperset(union.arms),
            "of": arms,
        }

    def _field(self, prop: Property) -> Mapping[str, Any]:
        node = self._type(prop.type)
        if prop.repeated:
            node = self._add({"kind": "repeated", "of": node})
        named = {"name": prop.wire, "node": node, "required": prop.required}
        return _without_nothing({**named, "uses": prop.leniencies})

    def _type(self, kind: Type) -> int:
        if isinstance(kind, RefTo):
            return self.reference(kind.name)
        return self._add(_scalar(kind) if isinstance(kind, Scalar) else self._collection(kind))

    def _collection(self, kind: Type) -> Mapping[str, Any]:
        """Return the node of what has other types, or of any value."""
        if isinstance(kind, Nullable):
            return {"kind": "nullable", "of": self._type(kind.of)}
        if isinstance(kind, ArrayOf) and kind.min_items is None and kind.max_items is None:
            return {"kind": "list", "of": self._type(kind.of)}
        if isinstance(kind, MapOf):
            return {"kind": "pairs" if kind.any_keys else "map", "of": self._type(kind.of)}
        if isinstance(kind, Choice):
            return {"kind": "choice", "of": [*map(self._type, kind.options)]}
        return {"kind": "any"} if isinstance(kind, Anything) else _DECLINED

    def _add(self, node: Mapping[str, Any]) -> int:
        text = _text(node)
        if text not in self._of_text:
            self._of_text[text] = len(self.nodes)
            self.nodes.append(dict(node))
        return self._of_text[text]


def _scalar(kind: Scalar) -> Mapping[str, Any]:
    """Return the node of a scalar; what only its text could be asked is declined."""
    bounds = {"least": kind.minimum, "most": kind.maximum}
    if kind.kind == "integer":
        default = dict(zip(bounds, INT64, strict=True))
        given = {name: value for name, value in bounds.items() if value is not None}
        words = {"of": kind.enum and [*kind.enum], "not": kind.excluded and [*kind.excluded]}
        return {"kind": "integer", **default, **given, **{k: v for k, v in words.items() if v}}
    if kind.kind == "string" and kind.enum is not None:
        return {"kind": "enum", "of": [*kind.enum]}
    if kind.kind in _BYTES:
        return {
            "kind": _BYTES[kind.kind],
            "least": kind.min_length or 0,
            "most": _MOST_BYTES if kind.max_length is None else kind.max_length,
        }
    lengths = (kind.min_length, kind.max_length, kind.pattern, kind.enum)
    if lengths != (None,) * 4 or [*bounds.values()] != [None, None]:
        return _DECLINED
    return {"kind": kind.kind} if kind.kind in _PLAIN else _DECLINED


def _without_nothing(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node without members that say nothing."""
    return {
        k: v
        for k, v in node.items()
        if v is not None and v != {} and (v is not False or k == "required")
    }
