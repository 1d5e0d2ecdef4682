"""The dialect: which JSON Schema keywords may be used, and how (``schemas/README.md``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from changewire_codegen.errors import SchemaError
from changewire_codegen.names import escape_pointer

DIALECT_PATH = Path(__file__).parent / "metaschema" / "dialect.json"


def check_schema(file: str, schema: Mapping[str, Any]) -> None:
    """Hold one schema file against the metaschema.

    Raises:
        SchemaError: A keyword is unknown, or is used otherwise than the dialect says.
    """
    _check(file, schema, "schema")


def check_family_file(file: str, meta: Mapping[str, Any]) -> None:
    """Hold a ``family.json`` against its part of the metaschema."""
    _check(file, meta, "family")


@cache
def _validator(part: str) -> Draft202012Validator:
    metaschema = json.loads(DIALECT_PATH.read_text(encoding="utf-8"))
    return Draft202012Validator({**metaschema, "$ref": f"#/$defs/{part}"})


def _check(file: str, document: Mapping[str, Any], part: str) -> None:
    error = best_match(_validator(part).iter_errors(document))
    if error is not None:
        place = "".join(f"/{escape_pointer(str(step))}" for step in error.absolute_path)
        raise SchemaError(file, place, _sentence(error))


def _sentence(error: ValidationError) -> str:
    """Say what is wrong in the words of a schema author."""
    if error.validator in {"additionalProperties", "unevaluatedProperties"}:
        allowed = error.schema.get("properties", {})
        unknown = sorted(set(error.instance) - set(allowed))
        return f"the dialect has no keyword {unknown[0]!r} here"
    if error.validator == "required":
        missing = sorted(set(error.validator_value) - set(error.instance))
        return f"{missing[0]!r} is missing"
    return error.message
