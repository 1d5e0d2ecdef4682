"""One document for all schemas of a family: with every bound, and the places they come from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from changewire_codegen.envelopes import alone_of, flat_of
from changewire_codegen.keywords import integer_bounds
from changewire_codegen.load import FAMILY_FILE
from changewire_codegen.nodes import Family

Node = Mapping[str, Any]

_WIDTH: Final = 140
_OUTSIDE: Final = frozenset({"$schema", "$id", "$defs"})
_AS_WRITTEN: Final = frozenset({"examples", "x-leniency"})
_TEXTS: Final = frozenset({"title", "description"})
_FLAT: Final = "x-flat"
"""Keyword of a bundle: the map whose entries are inlined in the object."""

_NO_INTEGER: Final = {"type": "number", "not": {"type": "integer"}}
_BASE: Final = "https://changewire.example/schemas"


def bundle(family: Family) -> dict[str, Any]:
    """Return the bundle: definitions by title, and in which file each one is written.

    References lead to other definitions of the bundle. An integer without bounds gets those of its
    size, and a message that may come alone, or is flat, says so.
    """
    places = {
        (file, f"#/$defs/{title}" if title != schema["title"] else ""): title
        for file, schema in family.schemas.items()
        for title in (schema["title"], *schema.get("$defs", {}))
    }
    index: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for file, schema in sorted(family.schemas.items()):
        ids = {key: schema[key] for key in ("$schema", "$id") if key in schema}
        inner: Mapping[str, Node] = schema.get("$defs", {})
        index[file] = {**ids, "title": schema["title"], **({"$defs": [*inner]} if inner else {})}
        for node in (schema, *inner.values()):
            kept = {key: value for key, value in node.items() if key not in _OUTSIDE}

            def named(reference: str, file: str = file) -> str:
                target, mark, pointer = reference.partition("#")
                return f"#/$defs/{places[target or file, mark + pointer]}"

            found[node["title"]] = _with_flat(_with_alone(_copy(kept, named), family), family)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{_BASE}/{family.name}.json",
        "x-family": family.meta,
        "x-files": index,
        "$defs": dict(sorted(found.items())),
    }


def bundle_text(family: Family) -> str:
    """Return the bundle as text: short values are on one line."""
    return _text(bundle(family), 0, 0) + "\n"


def unbundled(document: Node) -> dict[str, Any]:
    """Return the files of a bundle as they were written, by name; bounds stay written out."""
    definitions: Mapping[str, Node] = document["$defs"]
    index: Mapping[str, Node] = document["x-files"]
    home = {title: file for file, item in index.items() for title in item.get("$defs", ())}
    roots = {item["title"]: file for file, item in index.items()}
    found: dict[str, Any] = {FAMILY_FILE: document["x-family"]}
    for file, item in index.items():

        def named(reference: str, file: str = file) -> str:
            title = reference.rpartition("/")[2]
            if title in roots:
                return roots[title]
            return f"{home[title] if home[title] != file else ''}#/$defs/{title}"

        inner = {title: _plain(definitions[title], named) for title in item.get("$defs", ())}
        ids = {key: value for key, value in item.items() if key in {"$schema", "$id"}}
        body = _plain(definitions[item["title"]], named)
        found[file] = {**ids, **body, **({"$defs": inner} if inner else {})}
    return found


def _with_alone(body: dict[str, Any], family: Family) -> dict[str, Any]:
    """Return a message that may also be the value of a property alone; others stay as they are."""
    definition = family.definitions.get(body["title"])
    alone = None if definition is None else alone_of(definition, family)
    if alone is None:
        return body
    apart = _TEXTS | {"examples"}
    return {
        **{key: value for key, value in body.items() if key in _TEXTS},
        "if": {
            "type": "object",
            "required": [alone.union.tag],
            "properties": dict.fromkeys(body["properties"], False),
        },
        "then": {"$ref": f"#/$defs/{alone.union.name}"},
        "else": {key: value for key, value in body.items() if key not in apart},
        "examples": body["examples"],
    }


def _with_flat(body: dict[str, Any], family: Family) -> dict[str, Any]:
    """Return a message with inlined map entries; others stay as they are.

    Next to them is a property of the usual name, or one of another name that has what is needed.
    """
    definition = family.definitions.get(body["title"])
    flat = None if definition is None else flat_of(definition, family)
    if flat is None:
        return body
    name, entries = flat.other.wire, flat.entries.wire
    own, others = body["properties"][name], body["properties"][entries]
    found: Node = {"type": "object", "required": [*flat.needed]}
    is_other: Node = {"$ref": own["$ref"]}
    values: Node = others.get("additionalProperties", {})
    return {
        **{key: value for key, value in body.items() if key in _TEXTS | {"$comment"}},
        "type": "object",
        _FLAT: {entries: others},
        "properties": {name: {key: value for key, value in own.items() if key != "$ref"}},
        "if": {"required": [name], "properties": {name: found}},
        "then": {"properties": {name: is_other}, "additionalProperties": values},
        "else": {
            "not": {"additionalProperties": {"not": is_other}},
            "additionalProperties": {"anyOf": [is_other, values]},
        },
        **{key: value for key, value in body.items() if key in {"x-leniency", "examples"}},
    }


def _copy(node: Any, named: Callable[[str], str]) -> Any:
    """Return a node with other references, and with the bounds of its integers."""
    if isinstance(node, list):
        return [_copy(item, named) for item in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    found = {
        key: value if key in _AS_WRITTEN else _copy(value, named)
        for key, value in cast("dict[str, Any]", node).items()
        if key != "$ref"
    }
    if isinstance(node.get("$ref"), str):
        found["$ref"] = named(node["$ref"])
    kind = found.get("type")
    is_integer = kind == "integer" or (isinstance(kind, list) and "integer" in kind)
    return _bounded(found) if is_integer else found


def _bounded(node: dict[str, Any]) -> dict[str, Any]:
    """Write out the bounds of an integer; in a union with number they apply to integers only."""
    kinds: list[str] = node["type"] if isinstance(node["type"], list) else [node["type"]]
    low, high = integer_bounds(node)
    if "number" not in kinds:
        return {**node, "minimum": low, "maximum": high}
    rest = {k: v for k, v in node.items() if k not in {"minimum", "maximum", "type"}}
    arms: dict[str, Node] = {"number": _NO_INTEGER}
    arms["integer"] = {"type": "integer", "minimum": low, "maximum": high}
    return {**rest, "anyOf": [arms.get(kind, {"type": kind}) for kind in kinds]}


def _plain(node: Any, named: Callable[[str], str]) -> Any:
    """Undo `_copy`, `_with_alone` and `_with_flat`."""
    if isinstance(node, list):
        return [_plain(item, named) for item in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    found = {
        key: value if key in _AS_WRITTEN else _plain(value, named)
        for key, value in cast("dict[str, Any]", node).items()
    }
    if isinstance(found.get("$ref"), str):
        found["$ref"] = named(found["$ref"])
    if _NO_INTEGER in found.get("anyOf", ()):
        arms = found.pop("anyOf")
        found["type"] = [arm["type"] for arm in arms]
        bounds = next(arm for arm in arms if arm["type"] == "integer")
        given = zip(("minimum", "maximum"), integer_bounds({}), strict=True)
        found |= {key: bounds[key] for key, default in given if bounds[key] != default}
    if isinstance(found.get(_FLAT), dict):  # that of the map itself is true
        name, own = next(iter(found["properties"].items()))
        properties = {name: {**own, **found["then"]["properties"][name]}, **found[_FLAT]}
        gone = {_FLAT, "if", "then", "else"}
        body = {"properties": properties, "required": [*properties]}
        found = {key: found[key] for key in found if key not in gone} | body
    elif "else" in found:
        body = found.pop("else")
        found = {key: found[key] for key in found if key not in {"if", "then"}} | body
    return found


def _text(value: Any, depth: int, used: int) -> str:
    """Return JSON text of a value that begins ``used`` characters into its line."""
    line = json.dumps(value, ensure_ascii=False)
    if used + len(line) < _WIDTH or not value or not isinstance(value, (dict, list)):
        return line
    indent = "  " * (depth + 1)
    if isinstance(value, dict):
        names = {json.dumps(key, ensure_ascii=False): item for key, item in value.items()}
        items = [
            f"{name}: {_text(item, depth + 1, len(indent) + len(name) + 2)}"
            for name, item in names.items()
        ]
    else:
        items = [_text(item, depth + 1, len(indent)) for item in value]
    inside = ",\n".join(indent + item for item in items)
    ends = "{}" if isinstance(value, dict) else "[]"
    return f"{ends[0]}\n{inside}\n{'  ' * depth}{ends[1]}"
