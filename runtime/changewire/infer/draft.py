"""What was seen of rows, as a schema in the dialect of ``schemas/README.md``."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from changewire.infer.kinds import JOINED, SCALARS, joined_types, kind_of
from changewire.infer.profile import ARRAY, NULL, OBJECT, Profile

Node = dict[str, Any]

_WORDS: Final = re.compile(r"[^A-Za-z0-9]+")
_NO_LETTERS: Final = re.compile(r"\A[^A-Za-z]+")
_ROW: Final = "To be written: the meaning of a row."
_OBJECT: Final = "To be written: the meaning of the object."
_COLUMN: Final = "To be written: the meaning of the column."
_EXAMPLES: Final[Mapping[str, Any]] = {
    "array": [],
    "boolean": False,
    "integer": 0,
    "number": 0.5,
    "object": {},
    "string": "",
}
"""A made-up value of each type."""


def class_name(text: str) -> str:
    """Return a name for a class: CamelCase in ASCII; empty if there are no letters for it."""
    words = [word for word in _WORDS.split(_NO_LETTERS.sub("", text)) if word]
    return "".join(word[0].upper() + word[1:] for word in words)


class Drafter:
    """Writes the schema of one table."""

    def __init__(self, title: str, *, show_values: bool = False) -> None:
        """Start without definitions; with `show_values` comments have the bounds of integers."""
        self.paths: dict[str, str] = {}
        self._title, self._show_values = title, show_values
        self._definitions: dict[str, Node] = {}
        self._left_out: Mapping[str, str] = {}
        self._maps: Collection[str] = ()

    def schema(
        self, rows: Profile, heading: str, left_out: Mapping[str, str], maps: Collection[str]
    ) -> Node:
        """Return the schema of rows, without the columns that are left out for a reason."""
        self.paths, self._definitions = {}, {}
        self._left_out, self._maps = left_out, maps
        names = [name for name in rows.properties if name not in left_out]
        reasons = [f" {name!a} is left out: {reason}." for name, reason in left_out.items()]
        schema: Node = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$comment": heading + "".join(reasons),
            "title": self._title,
            "description": _ROW,
            **self._object(rows, names, self._title, ""),
        }
        if self._definitions:
            schema["$defs"] = dict(sorted(self._definitions.items()))
        return {**schema, "examples": [_example(schema, self._definitions)]}

    def _object(self, profile: Profile, names: Collection[str], title: str, path: str) -> Node:
        count = profile.kinds[OBJECT]
        children = {name: profile.properties[name] for name in names}
        properties = {
            name: {
                "description": _COLUMN,
                "$comment": self._comment(child, f"{count:,} {'objects' if path else 'rows'}"),
                **self._value(child, title + class_name(name), f"{path}/{name}"),
            }
            for name, child in children.items()
        }
        required = [name for name, child in children.items() if 0 < count == child.count]
        node: Node = {"type": "object", "properties": properties}
        return {**node, "required": required} if required else node

    def _value(self, profile: Profile, title: str, path: str) -> Node:
        """Return the schema of a place; a place that takes any value says nothing."""
        kind, null = kind_of(profile), ["null"] if NULL in profile.kinds else []
        if kind == OBJECT and profile.properties and path in self._maps:
            profile.become_map()
        if kind == OBJECT and profile.properties:
            reference = {"$ref": f"#/$defs/{self._define(profile, title, path)}"}
            return {"anyOf": [reference, {"type": "null"}]} if null else reference
        if kind == JOINED:
            return {"type": [*joined_types(profile), *null]}
        if kind in {ARRAY, OBJECT}:
            below = self._value(profile.items, title, path) if profile.items else {}
            keyword = {ARRAY: "items", OBJECT: "additionalProperties"}[kind]
            node = {"type": kind, **({keyword: below} if below else {})}
        else:
            node = dict(SCALARS.get(kind, {}))
        return {**node, "type": [node["type"], *null]} if node and null else node

    def _define(self, profile: Profile, title: str, path: str) -> str:
        """Write the definition of an object, and return its title."""
        taken = {name.lower() for name in [self._title, *self._definitions]}
        name, number = title, 1
        while name.lower() in taken:
            number += 1
            name = f"{title}{number}"
        self.paths[name] = path
        self._definitions[name] = {}  # it is taken before those within it are named
        about = {"title": name, "description": _OBJECT}
        self._definitions[name] = {**about, **self._object(profile, profile.properties, name, path)}
        return name

    def _comment(self, profile: Profile, all_of: str) -> str:
        """Describe a column: how often it was seen, of which types, and its declared type."""
        nulls = f", null in {profile.kinds[NULL]:,}" if profile.kinds[NULL] else ""
        text = f"In {profile.count:,} of {all_of}{nulls}."
        kinds = {kind: number for kind, number in sorted(profile.kinds.items()) if number}
        kinds.pop(NULL, None)
        if len(kinds) > 1:
            text += f" Seen: {', '.join(f'{kind} {number:,}' for kind, number in kinds.items())}."
        if profile.declared:
            text += f" Declared: {', '.join(map(ascii, profile.declared))}."
        if self._show_values and profile.least is not None:
            text += f" Integers from {profile.least} to {profile.greatest}."
        return text


def _example(node: Node, definitions: Mapping[str, Node]) -> Any:
    """Return a made-up value that a schema accepts."""
    if "anyOf" in node or "$ref" in node:
        reference = node["anyOf"][0]["$ref"] if "anyOf" in node else node["$ref"]
        return _example(definitions[reference.rpartition("/")[2]], definitions)
    if "properties" in node:
        return {name: _example(below, definitions) for name, below in node["properties"].items()}
    if node.get("format") == "date-time":
        return "1970-01-01T00:00:00Z"
    kinds: Any = node.get("type")
    return _EXAMPLES.get(kinds[0] if isinstance(kinds, list) else kinds)
