"""The schemas of the repository: their examples, their texts, and the dialect they are in."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from tests.codegen.helpers import CASES, SCHEMAS

from changewire_codegen.bundle import bundle, unbundled
from changewire_codegen.load import family_of, load
from changewire_codegen.nodes import class_names
from changewire_messages.bundles import bundle_of, digest, schema_of, schemas_of

FAMILIES = {family.name: family for family in load(SCHEMAS)}
FILES = sorted(path for path in SCHEMAS.glob("*/*.json") if path.name != "family.json")
DIALECT = json.loads((SCHEMAS / "dialect.json").read_text(encoding="utf-8"))


def read(path: Path) -> Any:
    """Return a parsed file."""
    return json.loads(path.read_text(encoding="utf-8"))


def identify(path: Path) -> str:
    """Return family and stem of a schema file."""
    return f"{path.parent.name}-{path.stem}"


def test_dialect_is_a_schema_itself() -> None:
    """The metaschema is valid JSON Schema, so that any validator can check by it."""
    Draft202012Validator.check_schema(DIALECT)


@pytest.mark.parametrize("path", FILES, ids=identify)
def test_schema_is_in_the_dialect(path: Path) -> None:
    """Each file passes the metaschema, and is plain JSON Schema beside that."""
    schema = read(path)
    assert list(Draft202012Validator(DIALECT).iter_errors(schema)) == []
    Draft202012Validator.check_schema(schema)
    assert schema["$id"].endswith(f"/schemas/{path.parent.name}/{path.name}")


@pytest.mark.parametrize("path", FILES, ids=identify)
def test_examples_are_valid(path: Path) -> None:
    """Each example passes the canonical schema and the generated validator, the strict one as well.

    Families of tables have no validators: their examples become models, and come back.
    Examples in MessagePack are held against both in ``tests/generated/test_msgpack.py``.
    """
    family = FAMILIES[path.parent.name]
    schema = schemas_of(bundle(family))[read(path)["title"]]
    assert schema["examples"] == read(path)["examples"]
    for example in schema["examples"] if family.encoding == "json" else ():
        assert [error.message for error in Draft202012Validator(schema).iter_errors(example)] == []
        if family.kind == "tables":
            models = importlib.import_module(f"changewire_messages.{family.name}")
            model = msgspec.convert(example, getattr(models, schema["title"]))
            assert msgspec.to_builtins(model) == example
            continue
        validators = importlib.import_module(f"changewire_messages.{family.name}.validators")
        assert validators.errors(example, schema["title"], strict=True) == []


@pytest.mark.parametrize("path", FILES, ids=identify)
def test_digest_is_that_of_the_bundled_schema(path: Path) -> None:
    """The package says by which schema its code was made, and brings that schema along."""
    package = importlib.import_module(f"changewire_messages.{path.parent.name}")
    title = read(path)["title"]
    schema = schema_of(package.__name__, title)
    assert package.DIGESTS[title] == digest(schema)
    assert schema["$id"] == read(path)["$id"]


@pytest.mark.parametrize("folder", [SCHEMAS, CASES], ids=["own", "cases"])
def test_bundle_has_the_files_that_it_was_made_from(folder: Path) -> None:
    """The files of a bundle describe the family that they were bundled from."""
    for family in load(folder):
        texts = {
            file: json.dumps(text).encode() for file, text in unbundled(bundle(family)).items()
        }
        assert family_of(family.name, texts).definitions == family.definitions


@pytest.mark.parametrize("name", FAMILIES)
def test_bundle_is_a_schema_for_any_validator(name: str) -> None:
    """A bundle is plain JSON Schema, and its definitions validate the examples as they stand."""
    found = bundle_of(f"changewire_messages.{name}")
    Draft202012Validator.check_schema(found)
    for title, definition in found["$defs"].items():
        reader = Draft202012Validator({**found, "$ref": f"#/$defs/{title}"})
        for example in definition.get("examples", ()) if FAMILIES[name].encoding == "json" else ():
            assert reader.is_valid(example)


def described(node: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every definition, property and position of a schema, with its place."""
    if "properties" in node:
        for name, child in node["properties"].items():
            yield f"{pointer}/properties/{name}", child
    for i, child in enumerate(node.get("prefixItems", ())):
        yield f"{pointer}/prefixItems/{i}", child
    for name, child in node.get("$defs", {}).items():
        yield f"{pointer}/$defs/{name}", child
        yield from described(child, f"{pointer}/$defs/{name}")


@pytest.mark.parametrize("path", FILES, ids=identify)
def test_everything_is_described(path: Path) -> None:
    """Each object, property and position has a description that is a sentence."""
    schema = read(path)
    nodes = {"": schema, **dict(described(schema))}
    assert [at for at, node in nodes.items() if not node["description"].endswith((".", "`"))] == []


def test_formats_are_told_by_the_package() -> None:
    """Each family that is a wire format is found under its public name."""
    package = importlib.import_module("changewire_messages")
    expected = {f.format: f"changewire_messages.{f.name}" for f in FAMILIES.values() if f.format}
    assert expected == package.FORMATS


@pytest.mark.parametrize("name", FAMILIES)
def test_exported_names_are_the_titles(name: str) -> None:
    """A family exports its definitions, its constants, and functions if it has messages."""
    package = importlib.import_module(f"changewire_messages.{name}")
    constants = {"DIGESTS", "ENCODING", "EXACT", "FORMAT", "ROLES"}
    found = [p for d in FAMILIES[name].definitions.values() for p in getattr(d, "properties", ())]
    constants |= {"ALONE"} if any(prop.alone for prop in found) else set()
    constants |= {"FLAT"} if any(prop.flat for prop in found) else set()
    functions = {"decode", "encode", "errors"} if FAMILIES[name].roles else set()
    classes = {one for d in FAMILIES[name].definitions.values() for one in class_names(d)}
    assert set(package.__all__) == {*classes, *constants, *functions}
