"""The dialect: which JSON Schema keywords may be used, and how (``schemas/README.md``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from changewire_codegen.errors import SchemaError
from changewire_codegen.names import escape_pointer

DIALECT_PATH = Path(__file__).parent / "metaschema" / "dialect.json"


def check_schema(file: str, schema: Mapping[str, Any]) -> None:
    """Check one schema file by the metaschema."""
    _check(file, schema, "schema")


def check_family_file(file: str, meta: Mapping[str, Any]) -> None:
    """Check a ``family.json`` by its part of the metaschema."""
    _check(file, meta, "family")


@cache
def _validator(part: str) -> Draft202012Validator:
    metaschema = json.loads(DIALECT_PATH.read_text(encoding="utf-8"))
    return Draft202012Validator({**metaschema, "$ref": f"#/$defs/{part}"})


def _check(file: str, document: Mapping[str, Any], part: str) -> None:
    found: Any = best_match(_validator(part).iter_errors(document))  # pyright: ignore[reportUnknownMemberType]
    error: ValidationError | None = found
    if error is not None:
        place = "".join(f"/{escape_pointer(str(step))}" for step in error.absolute_path)
        raise SchemaError(file, place, _sentence(error))


def _sentence(error: ValidationError) -> str:
    """Say what is wrong in the words of a schema author."""
    instance, schema, value = (cast("Any", part) for part in _parts(error))
    if error.validator in {"additionalProperties", "unevaluatedProperties"}:
        unknown = sorted(set(instance) - set(schema.get("properties", {})))
        return f"the dialect has no keyword {unknown[0]!r} here"
    if error.validator == "required":
        missing = sorted(set(value) - set(instance))
        return f"{missing[0]!r} is missing"
    return error.message


def _parts(error: ValidationError) -> tuple[object, object, object]:
    return error.instance, error.schema, error.validator_value
