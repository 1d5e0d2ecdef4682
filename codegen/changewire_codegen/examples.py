"""Examples of a schema: JSON values, or the bytes of MessagePack messages as hex text."""

from __future__ import annotations

import json
import pprint
from collections.abc import Mapping
from typing import Any

import msgpack

from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import Family
from changewire_codegen.writer import WIDTH


def check_examples(path: str, schema: Mapping[str, Any], encoding: str) -> None:
    """Refuse an example that the encoding cannot read."""
    for i, example in enumerate(schema["examples"] if encoding == "msgpack" else ()):
        reason = _unreadable(example)
        if reason is not None:
            raise SchemaError(path, f"/examples/{i}", reason)


def _unreadable(example: Any) -> str | None:
    """Return what is wrong with an example; None if it can be read."""
    try:
        bytes.fromhex(example)
    except (TypeError, ValueError):
        return "an example in MessagePack must be hex text: two digits for each byte"
    try:
        parsed_example(example)
    except (TypeError, ValueError, msgpack.UnpackException):
        return "an example in MessagePack must be exactly one value, with nothing after it"
    return None


def parsed_example(text: str) -> Any:
    """Return the value that an example in MessagePack stands for."""
    return msgpack.unpackb(bytes.fromhex(text), strict_map_key=False)


def example_lines(family: Family, stem: str) -> list[str]:
    """Return the examples of a schema file as Markdown; those in MessagePack also as Python."""
    lines: list[str] = []
    for example in family.schemas[f"{stem}.json"]["examples"]:
        if family.encoding == "msgpack":
            shown = pprint.pformat(parsed_example(example), width=WIDTH, sort_dicts=False)
            lines += ["```text", example, "```", "", "```text", shown, "```", ""]
            continue
        text = json.dumps(example, indent=2, ensure_ascii=False)
        compact = json.dumps(example, ensure_ascii=False)
        lines += ["```json", compact if len(compact) <= WIDTH else text, "```", ""]
    return lines
