"""Schema folders on disk to families in memory."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from changewire_codegen.build import build_family
from changewire_codegen.dialect import check_family_file, check_schema
from changewire_codegen.encodings import check_encoding, check_family_encoding
from changewire_codegen.errors import SchemaError
from changewire_codegen.examples import check_examples
from changewire_codegen.nodes import Family

FAMILY_FILE = "family.json"
FOLDER_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


def load(folder: Path) -> list[Family]:
    """Read every family below ``folder``, sorted by name.

    Args:
        folder: Holds one folder for each family, with a ``family.json`` and its schema files.

    Raises:
        SchemaError: A file is no JSON, or is outside the dialect.
    """
    paths = sorted(folder.glob(f"*/{FAMILY_FILE}"))
    if not paths:
        raise SchemaError(str(folder), "", f"no family here: expected */{FAMILY_FILE}")
    return [load_family(path.parent) for path in paths]


def load_family(folder: Path) -> Family:
    """Read one family from its folder, whose name becomes that of a package."""
    if not FOLDER_NAME.match(folder.name) or keyword.iskeyword(folder.name):
        raise SchemaError(
            folder.name, "", "a folder of schemas is named a-z, 0-9, _: it is imported"
        )
    documents = {path.name: _read(path) for path in sorted(folder.glob("*.json"))}
    meta = documents.pop(FAMILY_FILE)
    check_family_file(f"{folder.name}/{FAMILY_FILE}", meta)
    check_family_encoding(f"{folder.name}/{FAMILY_FILE}", meta)
    for name, schema in documents.items():
        check_schema(f"{folder.name}/{name}", schema)
        check_encoding(f"{folder.name}/{name}", schema, meta["encoding"])
        check_examples(f"{folder.name}/{name}", schema, meta["encoding"])
    return build_family(folder.name, meta, documents)


def _read(path: Path) -> Mapping[str, Any]:
    name = f"{path.parent.name}/{path.name}"
    try:
        document: object = json.loads(path.read_bytes(), object_pairs_hook=_unique)
    except ValueError as error:
        raise SchemaError(name, "", f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise SchemaError(name, "", "expected a JSON object")
    return cast("Mapping[str, Any]", document)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a property that stands twice: one of the two would be lost."""
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"the property {twice!r} stands twice in one object"
        raise ValueError(message)
    return result
