"""The schemas of the families: each family has one bundle, from which each schema can be taken."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, cast

Node = Mapping[str, Any]


def bundle_of(package: str) -> Node:
    """Return the bundle of a family, by the import name of the family's package."""
    parent, _, family = package.rpartition(".")
    bundle: Node = json.loads((files(parent) / "schemas" / f"{family}.json").read_bytes())
    return bundle


def schema_of(package: str, title: str) -> dict[str, Any]:
    """Return the schema of a variant, complete by itself.

    Raises:
        KeyError: The family has no variant of this title.
    """
    return schemas_of(bundle_of(package))[title]


def schemas_of(bundle: Node) -> dict[str, dict[str, Any]]:
    """Return the schema of each variant of a bundle by its title, complete by itself."""
    return {file["title"]: _schema(file, bundle) for file in bundle["x-files"].values()}


def schema_text(schema: Node) -> str:
    """Return a schema as text; its SHA-256 is the digest of the schema."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def digest(schema: Node) -> str:
    """Return the SHA-256 of a schema."""
    return f"sha256:{hashlib.sha256(schema_text(schema).encode()).hexdigest()}"


def _schema(file: Node, bundle: Node) -> dict[str, Any]:
    body: Node = bundle["$defs"][file["title"]]
    found: dict[str, Node] = {}
    waiting = list(_references(body))
    while waiting:
        name = waiting.pop()
        if name not in found:
            definition = bundle["$defs"][name]
            found[name] = {key: definition[key] for key in definition if key != "examples"}
            waiting += _references(definition)
    head = {key: file[key] for key in ("$schema", "$id") if key in file}
    rest = {key: value for key, value in body.items() if key != "examples"}
    definitions = {name: found[name] for name in sorted(found)}
    return {**head, **rest, "$defs": definitions, "examples": body["examples"]}


def _references(node: object) -> Iterator[str]:
    """Yield the name of each definition that a node refers to, at any depth."""
    if isinstance(node, list):
        for item in cast("list[object]", node):
            yield from _references(item)
    elif isinstance(node, dict):
        for key, value in cast("dict[str, object]", node).items():
            if key == "$ref" and isinstance(value, str):
                yield value.rpartition("/")[2]
            elif key != "examples":
                yield from _references(value)
