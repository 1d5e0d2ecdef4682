"""What the generator refuses, with the exact message."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.codegen.helpers import CASES, REFUSALS

from changewire_codegen.command import main
from changewire_codegen.errors import SchemaError
from changewire_codegen.load import load, load_family
from changewire_codegen.render import render

NAMES = sorted(path.name for path in REFUSALS.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_schema_outside_the_dialect_is_refused(name: str) -> None:
    """The message names file and place, and says what the dialect asks for."""
    with pytest.raises(SchemaError) as caught:
        render([load_family(REFUSALS / name)], "refused")
    expected = REFUSALS.joinpath(name, "error.txt").read_text(encoding="utf-8")
    assert f"{caught.value}\n" == expected
    assert caught.value.file.startswith(f"{name}/")


def test_command_says_what_it_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bad schema ends the command with 2 and the message, and nothing is written."""
    shutil.copytree(REFUSALS / "anonymous_object", tmp_path / "schemas" / "anonymous_object")
    out, pages = tmp_path / "out", tmp_path / "pages"
    options = ["--schemas", str(tmp_path / "schemas"), "--package", "refused"]
    assert main([*options, "--out", str(out), "--pages", str(pages)]) == 2
    message = REFUSALS.joinpath("anonymous_object/error.txt").read_text(encoding="utf-8")
    assert capsys.readouterr().err == f"python -m changewire_codegen: {message}"
    assert not out.exists()
    assert not pages.exists()


def test_folder_without_families_is_refused(tmp_path: Path) -> None:
    """A wrong folder is a mistake to tell of, not an empty package."""
    with pytest.raises(SchemaError, match=r"no family here: expected \*/family\.json"):
        load(tmp_path)


@pytest.mark.parametrize("package", ["", "Upper", "a.b", "a-b", "1a", "a/../b", "class Ä"])
def test_package_name_is_checked(package: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A package name is never a path, nor code."""
    assert main(["--schemas", str(CASES), "--package", package, "--out", "/nonexistent"]) == 2
    assert "a package name must be lower-case letters" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["my-family", "Family", 'x"""', "class", "2nd"])
def test_folder_name_is_checked(name: str, tmp_path: Path) -> None:
    """A family is imported by the name of its folder."""
    shutil.copytree(CASES / "scalars", tmp_path / name)
    with pytest.raises(SchemaError, match="a folder of schemas must be named"):
        load(tmp_path)


KEYWORDS: Mapping[str, object] = {
    "allOf": [{}],
    "const": True,
    "dependentRequired": {},
    "enum": [None],
    "format": "email",
    "minLength": -1,
    "multipleOf": 2,
    "pattern": "a",
    "patternProperties": {},
    "propertyNames": {},
    "type": "float",
    "unevaluatedProperties": False,
    "uniqueItems": True,
    "x-unknown": 1,
}


DEEP = f"^{'(' * 3000}{')' * 3000}$"
"""A pattern that Python cannot compile; in which words it says so depends on its version."""


@pytest.mark.parametrize(
    ("keyword", "value"),
    [*KEYWORDS.items(), pytest.param("pattern", DEEP, id="nested too deeply")],
)
def test_keyword_that_would_be_ignored_is_refused(
    keyword: str, value: object, tmp_path: Path
) -> None:
    """No keyword of JSON Schema, and no value of one, is silently left out."""
    folder = tmp_path / "family"
    shutil.copytree(CASES / "scalars", folder, ignore=shutil.ignore_patterns("expected"))
    schema = json.loads((folder / "reading.json").read_text(encoding="utf-8"))
    schema["properties"]["note"][keyword] = value
    (folder / "reading.json").write_text(json.dumps(schema), encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        load_family(folder)
    assert caught.value.pointer.startswith("/properties/note")
