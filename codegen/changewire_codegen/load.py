"""Schema folders on disk to families in memory."""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from changewire_codegen.build import build_family
from changewire_codegen.dialect import check_family_file, check_hex_examples, check_schema
from changewire_codegen.errors import SchemaError
from changewire_codegen.names import PACKAGE_NAME
from changewire_codegen.nodes import Family

FAMILY_FILE = "family.json"


def load(folder: Path) -> list[Family]:
    """Read every family below ``folder``, sorted by name."""
    paths = sorted(folder.glob(f"*/{FAMILY_FILE}"))
    if not paths:
        raise SchemaError(str(folder), "", f"no family here: expected */{FAMILY_FILE}")
    return [load_family(path.parent) for path in paths]


def load_family(folder: Path) -> Family:
    """Read one family from its folder, whose name becomes that of a package."""
    texts = {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}
    return family_of(folder.name, texts)


def family_of(name: str, texts: Mapping[str, bytes]) -> Family:
    """Return one family from the texts of its files."""
    if not PACKAGE_NAME.match(name) or keyword.iskeyword(name):
        rule = "must be named with a-z, 0-9 and _, because it is imported"
        raise SchemaError(name, "", f"a folder of schemas {rule}")
    documents = {file: _read(f"{name}/{file}", text) for file, text in sorted(texts.items())}
    meta = documents.pop(FAMILY_FILE)
    check_family_file(f"{name}/{FAMILY_FILE}", meta)
    if not documents:
        reason = "there is no schema next to it: expected at least one other *.json in the folder"
        raise SchemaError(f"{name}/{FAMILY_FILE}", "", reason)
    for file, schema in documents.items():
        check_schema(f"{name}/{file}", schema)
    family = build_family(name, meta, documents)
    for file, schema in documents.items() if family.encoding == "msgpack" else ():
        check_hex_examples(f"{name}/{file}", schema)
    return family


def check_row(schema: Mapping[str, Any]) -> None:
    """Check that the generator makes models and validators of a schema of rows.

    Raises:
        SchemaError: It is outside the dialect of ``schemas/README.md``.
    """
    check_schema("rows/row.json", schema)
    meta = {"title": "Rows", "description": "Rows of one table.", "encoding": "json"}
    build_family("rows", meta, {"row.json": schema})


def _read(name: str, text: bytes) -> Mapping[str, Any]:
    try:
        document = parsed(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(name, "", f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise SchemaError(name, "", "expected a JSON object")
    return cast("Mapping[str, Any]", document)


def parsed(text: bytes) -> object:
    """Return what JSON text says."""
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a property that occurs twice: one of the two would be lost."""
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"the property {twice!r} occurs twice in one object"
        raise ValueError(message)
    return result
