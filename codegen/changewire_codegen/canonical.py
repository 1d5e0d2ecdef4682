"""Schema files as they are shipped: self-contained with every bound, and as they were read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

from changewire_codegen.alone import alone_property, alone_union
from changewire_codegen.keywords import integer_bounds
from changewire_codegen.load import FAMILY_FILE
from changewire_codegen.nodes import Family

Node = Mapping[str, Any]

SOURCE_FILE = "source.json"
"""Name of the document in a generated package."""


def canonical_schemas(family: Family) -> dict[str, str]:
    """Return the text of each canonical schema by file name.

    References lead into the file's own ``$defs``; an integer without bounds gets those of its size.
    """
    return {
        file: json.dumps(_canonical(file, family), indent=2, ensure_ascii=False) + "\n"
        for file in sorted(family.schemas)
    }


def digest(text: str) -> str:
    """Return the SHA-256 of a canonical schema."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _canonical(file: str, family: Family) -> dict[str, Any]:
    root = family.schemas[file]
    found: dict[str, Node] = {}
    body = _copy_object(
        {k: v for k, v in root.items() if k not in {"$defs", "examples"}}, file, family, found
    )
    body = _with_alone(body, file, family, found)
    body["$defs"] = {name: found[name] for name in sorted(found)}
    body["examples"] = root["examples"]
    return body


def _with_alone(
    body: dict[str, Any], file: str, family: Family, found: dict[str, Node]
) -> dict[str, Any]:
    """Return a message that may also be the value of a property alone; others stay as they are."""
    definition = family.definitions[family.variants[file.removesuffix(".json")]]
    union, prop = alone_union(definition, family), alone_property(definition)
    if union is None or prop is None:
        return body
    texts = {"$schema", "$id", "title", "description"}
    reference = family.schemas[file]["properties"][prop.wire]["$ref"]
    return {
        **{key: value for key, value in body.items() if key in texts},
        "if": {
            "type": "object",
            "required": [union.tag],
            "properties": dict.fromkeys(body["properties"], False),
        },
        "then": {"$ref": f"#/$defs/{_collect(reference, file, family, found)}"},
        "else": {key: value for key, value in body.items() if key not in texts},
    }


def _copy(node: Any, file: str, family: Family, found: dict[str, Node]) -> Any:
    """Copy a node; collect the definitions that it refers to."""
    if isinstance(node, list):
        return [_copy(item, file, family, found) for item in node]
    if not isinstance(node, dict):
        return node
    return _copy_object(cast("Node", node), file, family, found)


def _copy_object(node: Node, file: str, family: Family, found: dict[str, Node]) -> dict[str, Any]:
    copy = {key: _copy(value, file, family, found) for key, value in node.items() if key != "$ref"}
    if isinstance(node.get("$ref"), str):
        copy["$ref"] = f"#/$defs/{_collect(node['$ref'], file, family, found)}"
    return _bounded(copy) if _is_type(node) else copy


def _collect(reference: str, file: str, family: Family, found: dict[str, Node]) -> str:
    target, _, pointer = reference.partition("#")
    file = target or file
    schema = family.schemas[file]
    node = schema["$defs"][pointer.rpartition("/")[2]] if pointer else schema
    name = str(node["title"])
    if name not in found:
        found[name] = {}
        outside = {"$defs", "examples", "$id", "$schema"}
        kept = {key: value for key, value in node.items() if key not in outside}
        found[name] = _copy_object(kept, file, family, found)
    return name


def _is_type(node: Node) -> bool:
    kind = node.get("type")
    return kind == "integer" or (isinstance(kind, list) and "integer" in kind)


def _bounded(node: dict[str, Any]) -> dict[str, Any]:
    """Write out the bounds of an integer; in a union with number they hold for integers only."""
    kinds: list[str] = node["type"] if isinstance(node["type"], list) else [node["type"]]
    low, high = integer_bounds(node)
    if "number" not in kinds:
        return {**node, "minimum": low, "maximum": high}
    node = {key: value for key, value in node.items() if key not in {"minimum", "maximum"}}
    arms: list[Node] = [{"type": "integer", "minimum": low, "maximum": high}]
    arms.append({"type": "number", "not": {"type": "integer"}})
    arms += [{"type": kind} for kind in kinds if kind not in {"integer", "number"}]
    return {**{key: value for key, value in node.items() if key != "type"}, "anyOf": arms}


def source_document(family: Family) -> str:
    """Return the schema files of a family as they were read, one to a line.

    A canonical schema stands for itself. A difference between two states of the schemas is
    reported by its place in the files that people edit, so these files are shipped as well.
    """
    files: Mapping[str, Any] = {FAMILY_FILE: family.meta, **dict(sorted(family.schemas.items()))}
    lines = [f"{json.dumps(name)}: {_compact(text)}" for name, text in files.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
