"""Schema files as they are shipped: self-contained, with every bound written out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

from changewire_codegen.nodes import INT64, Family

Node = Mapping[str, Any]


def canonical_schemas(family: Family) -> dict[str, str]:
    """Return the text of each canonical schema by file name.

    References lead into the file's own ``$defs``; an integer without bounds gets those of 64 bits.
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
    body["$defs"] = {name: found[name] for name in sorted(found)}
    body["examples"] = root["examples"]
    return body


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
    """Write out the bounds of 64 bits; beside number they hold for integers alone."""
    kinds: list[str] = node["type"] if isinstance(node["type"], list) else [node["type"]]
    if "number" not in kinds:
        return {
            **node,
            "minimum": node.get("minimum", INT64[0]),
            "maximum": node.get("maximum", INT64[1]),
        }
    low, high = node.pop("minimum", INT64[0]), node.pop("maximum", INT64[1])
    arms: list[Node] = [{"type": "integer", "minimum": low, "maximum": high}]
    arms.append({"type": "number", "not": {"type": "integer"}})
    arms += [{"type": kind} for kind in kinds if kind not in {"integer", "number"}]
    return {**{key: value for key, value in node.items() if key != "type"}, "anyOf": arms}
