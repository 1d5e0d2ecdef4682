"""The dialect: which JSON Schema keywords may be used, and how (``schemas/README.md``)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

import msgpack
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match

from changewire_codegen.errors import SchemaError
from changewire_codegen.names import escape_pointer

DIALECT_PATH = Path(__file__).parent / "metaschema" / "dialect.json"
_DEEPEST = 20  # Python nests no more loops
_FORMATS = FormatChecker(())


def _is_pattern(text: Any) -> bool:
    return bool(re.compile(text))


_FORMATS.checks("regex", (re.error, OverflowError, RecursionError, TypeError))(_is_pattern)


def check_family_file(file: str, meta: Mapping[str, Any]) -> None:
    """Check a ``family.json`` by its part of the metaschema."""
    _check(file, meta, "family")
    if meta["encoding"] == "msgpack" and "numbers" in meta:
        raise SchemaError(file, "/numbers", "a float in MessagePack has at most binary64 precision")


def check_schema(file: str, schema: Mapping[str, Any]) -> None:
    """Check one schema file by the metaschema."""
    _check(file, schema, "schema")


def check_hex_examples(file: str, schema: Mapping[str, Any]) -> None:
    """Refuse an example in MessagePack that is not hex text, or not of one value."""
    for i, example in enumerate(schema["examples"]):
        reason = _unreadable(example)
        if reason is not None:
            raise SchemaError(file, f"/examples/{i}", reason)


def parsed_example(text: str) -> Any:
    """Return the value of an example in MessagePack, whose bytes are hex text."""
    return msgpack.unpackb(bytes.fromhex(text), strict_map_key=False)


def _unreadable(example: Any) -> str | None:
    """Return what is wrong with an example in MessagePack; None if it can be read."""
    try:
        bytes.fromhex(example)
    except (TypeError, ValueError):
        return "an example in MessagePack must be hex text: two digits for each byte"
    try:
        parsed_example(example)
    except (TypeError, ValueError, msgpack.UnpackException):
        return "an example in MessagePack must be exactly one value, with nothing after it"
    return None


@cache
def _validator(part: str) -> Any:
    metaschema = json.loads(DIALECT_PATH.read_text(encoding="utf-8"))
    schema = {**metaschema, "$ref": f"#/$defs/{part}"}
    return Draft202012Validator(schema, format_checker=_FORMATS)


def _check(file: str, document: Mapping[str, Any], part: str) -> None:
    _check_values(document, file, "")
    error: Any = best_match(_validator(part).iter_errors(document))
    if error is not None:
        place = "".join(f"/{escape_pointer(str(step))}" for step in error.absolute_path)
        raise SchemaError(file, place, _sentence(error))


def _check_values(value: Any, file: str, at: str) -> None:
    """Refuse what generated files cannot contain."""
    if at.count("/") > _DEEPEST:
        reason = f"more than {_DEEPEST} levels deep: give what is within a title in $defs"
        raise SchemaError(file, at, reason)
    if isinstance(value, str) and re.search("[\ud800-\udfff]", value):
        raise SchemaError(file, at, "a text must be Unicode, without one half of a surrogate pair")
    if isinstance(value, float) and not isfinite(value):
        raise SchemaError(file, at, f"a number must be finite in binary64, and is {value}")
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            below = f"{at}/{escape_pointer(str(key))}"
            _check_values(key, file, below)
            _check_values(child, file, below)


def _sentence(error: Any) -> str:
    """Say what is wrong in the words of a schema author."""
    if error.validator in {"additionalProperties", "unevaluatedProperties"}:
        unknown = sorted(set(error.instance) - set(error.schema.get("properties", {})))
        return f"the dialect has no keyword {unknown[0]!r} here"
    if error.validator == "required":
        missing = sorted(set(error.validator_value) - set(error.instance))
        return f"{missing[0]!r} is missing"
    if error.validator == "format":
        return f"not a regular expression: {error.cause}"
    return str(error.message)
