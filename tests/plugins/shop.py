"""Schemas of somebody else: a format of a shop, and the rows of its tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FORMAT = "store-json"


def described(kind: dict[str, Any], text: str = "As it says.") -> dict[str, Any]:
    """Return a schema with a description."""
    return {"description": text, **kind}


def event(title: str, tag: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of one kind of message."""
    everywhere = {"kind": {"const": tag}, "order": {"type": "integer"}, **properties}
    return {
        "title": title,
        "description": f"An order was {tag}.",
        "type": "object",
        "properties": {name: described(kind) for name, kind in everywhere.items()},
        "required": ["kind", "order"],
        "examples": [{"kind": tag, "order": 1}],
    }


FILES: dict[str, Any] = {
    "shop/family.json": {
        "title": "Shop",
        "description": "What the shop sends.",
        "format": FORMAT,
        "encoding": "json",
        "numbers": "exact",
        "roles": {"message": "message", "batch": "batch"},
    },
    "shop/message.json": {
        "title": "Message",
        "description": "An event of an order.",
        "oneOf": [{"$ref": "placed.json"}, {"$ref": "dropped.json"}],
        "examples": [{"kind": "placed", "order": 1}],
    },
    "shop/placed.json": event(
        "Placed",
        "placed",
        total={"type": ["number", "null"]},
        at={"type": "string", "format": "date-time"},
    ),
    "shop/dropped.json": event("Dropped", "dropped"),
    "shop/batch.json": {
        "title": "Batch",
        "description": "Several of them.",
        "type": "array",
        "items": {"$ref": "message.json"},
        "examples": [[]],
    },
    "rows/family.json": {
        "title": "Rows of the shop",
        "description": "Tables of the shop.",
        "encoding": "json",
    },
    "rows/user.json": {
        "title": "User",
        "description": "A user.",
        "type": "object",
        "properties": {
            "name": described({"type": ["string", "null"]}),
            "age": described({"type": "integer", "minimum": 0}),
            "score": described({"type": "number"}),
            "since": described({"type": "string", "format": "date-time"}),
            "photo": described({"type": "string", "contentEncoding": "base64"}),
            "paid": described({"type": "array", "items": {"type": ["string", "null"]}}),
            "rates": described({"type": "object", "additionalProperties": {"type": "string"}}),
            "cart": described({"$ref": "#/$defs/Cart"}),
        },
        "required": ["name"],
        "$defs": {
            "Cart": {
                "title": "Cart",
                "description": "What the user may buy.",
                "type": "object",
                "properties": {"total": described({"type": "string"})},
            }
        },
        "examples": [{"name": "a", "age": 1}],
    },
}
"""The text of each schema file."""


def write(folder: Path) -> Path:
    """Write the schemas below a folder, and return it."""
    for name, schema in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(schema), "utf-8")
    return folder
