"""Schemas of somebody else as a project: what they say is data, wherever it is written."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli
from hypothesis import given, settings
from tests.codegen.helpers import CASES

from changewire_codegen.errors import SchemaError, TargetError
from changewire_codegen.project import project

PACKAGE = "of_a_stranger"

CALL = "__import__('pathlib').Path('pwned').touch()"
HOSTILE = (
    f'"""\n\'\'\'\n{CALL}\n\\" + {CALL} + "\\u0022; {{{CALL}}} %s <script>{CALL}</script> -->\u202e'
)
"""Text that would run in any quotes, format, comment or page that took it for more than text."""

BRACES = f"f{{{CALL}}}"

LONG = 20_000


def described(**kind: Any) -> dict[str, Any]:
    """Return a schema whose texts are hostile."""
    return {"description": HOSTILE, "$comment": HOSTILE, **kind}


FAMILY: dict[str, Any] = {
    "title": HOSTILE,
    "description": HOSTILE,
    "format": "stranger-json",
    "encoding": "json",
    "roles": {"message": "message"},
    "differences": [HOSTILE],
    "more": HOSTILE,
}
MESSAGE: dict[str, Any] = {
    "title": "Message",
    "description": HOSTILE,
    "type": "object",
    "properties": {
        CALL: described(type="string"),
        BRACES: described(enum=[HOSTILE, "b"]),
        "a#b\u202e": described(const=HOSTILE),
        "import os": described(type="string", pattern=f"^(a|{HOSTILE[:3]}|'\\)\\)).*$"),
        "list": described(type="array", items={"$ref": "#/$defs/Part"}),
        "any": described(**{"$ref": "value.json"}),
    },
    "required": [CALL],
    "$defs": {
        "Part": {
            "title": "Part",
            "description": HOSTILE,
            "type": "object",
            "properties": {"long": described(type="string", minLength=LONG)},
        }
    },
    "examples": [{CALL: HOSTILE}],
}
VALUE = {"title": "Value", "description": HOSTILE, "examples": [HOSTILE]}
SIZES: dict[str, Any] = {
    "title": "Sizes",
    "description": "What is long.",
    "type": "object",
    "properties": {
        "text": described(type="string", minLength=LONG),
        "bounded": described(type="string", minLength=LONG, maxLength=LONG),
        "bytes": described(type="string", contentEncoding="base64", **{"x-minBytes": LONG}),
        "items": described(type="array", items={"type": "integer"}, minItems=LONG),
        "word": described(type="string", pattern="^[a-z]*$", minLength=2, maxLength=3),
        "half": described(type="integer", minimum=0.5, maximum=2.5),
    },
    "required": ["text", "bounded", "bytes", "items", "word", "half"],
    "examples": [
        {
            "text": "a" * LONG,
            "bounded": "b" * LONG,
            "bytes": "AAAA" * LONG,
            "items": [1] * LONG,
            "word": "ab",
            "half": 1,
        }
    ],
}
FILES: dict[str, Any] = {
    "stranger/family.json": FAMILY,
    "stranger/message.json": MESSAGE,
    "stranger/value.json": VALUE,
    "sizes/family.json": {"title": "Sizes", "description": HOSTILE, "encoding": "json"},
    "sizes/sizes.json": SIZES,
    "sizes/value.json": VALUE,
}


def write(folder: Path, files: dict[str, Any]) -> Path:
    """Write schemas below a folder, and return it."""
    for name, schema in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(schema), "utf-8")
    return folder


def generate(schemas: Path, out: Path, **more: Any) -> list[tuple[str, str]]:
    """Generate a project of schemas."""
    return project(schemas, PACKAGE, out, version="1.0", requires=["changewire>=0.1"], **more)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Generate the hostile schemas, and make the package importable in a folder of its own."""
    folder = tmp_path_factory.mktemp("stranger")
    target = folder / "out"
    generate(write(folder / "schemas", FILES), target)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(target))
        yield target
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def module(name: str) -> Any:
    """Return a module of the package."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def test_what_a_schema_says_never_runs(out: Path) -> None:
    """Every module is imported and used, and no text of the schemas was more than text."""
    paths = sorted(out.rglob("*.py"))
    assert len(paths) > 20
    for path in paths:
        name = ".".join(path.relative_to(out).with_suffix("").parts)
        importlib.import_module(name.removesuffix(".__init__"))
    message = {CALL: "a", BRACES: HOSTILE, "a#b\u202e": HOSTILE, "any": {"x": 1}}
    assert module("stranger.validators").errors(message, "Message") == []
    assert module("stranger.models").Message.__doc__.split() == HOSTILE.split()
    (field,) = [f for f in module("stranger.spark").MESSAGE.fields if f.name == CALL]
    assert field.metadata == {"comment": HOSTILE}
    assert not list(out.parent.rglob("pwned"))


def test_no_call_of_a_text_stands_in_the_code(out: Path) -> None:
    """In no module is there code that only the texts could have brought."""
    for path in out.rglob("*.py"):
        tree = ast.parse(path.read_bytes())
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not names & {"__import__", "pathlib", "os"}, path


def test_pages_show_markup_as_text(out: Path) -> None:
    """Outside of blocks of code no element of HTML, and no comment, comes from a schema."""
    for path in out.joinpath("docs").glob("*.md"):
        text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert text.count("<") == text.count("<!-- Generated by") == 1


def test_the_project_file_says_names_alone(out: Path) -> None:
    """It is TOML in which no text of a schema stands."""
    text = out.joinpath("pyproject.toml").read_text("utf-8")
    assert "pathlib" not in text
    found = tomli.loads(text)
    assert found["project"]["name"] == "of-a-stranger"
    assert found["project"]["dependencies"] == ["changewire>=0.1"]
    assert found["project"]["classifiers"] == ["Private :: Do Not Upload"]  # indexes refuse it
    formats = found["project"]["entry-points"]["changewire.formats"]
    assert formats == {"stranger-json": f"{PACKAGE}.stranger"}


@pytest.mark.usefixtures("out")
@pytest.mark.parametrize("is_broken", [False, True])
def test_values_within_bounds_are_drawn(*, is_broken: bool) -> None:
    """What must be long, or match and be short, is drawn, and so is what breaks its bounds."""
    drawn = getattr(module("sizes.strategies"), "broken_sizes" if is_broken else "sizes")()
    errors = module("sizes.validators").errors

    @settings(max_examples=5, deadline=None, derandomize=True, database=None)
    @given(drawn)
    def holds(obj: object) -> None:
        assert bool(errors(obj, "Sizes")) is is_broken

    holds()


@pytest.mark.usefixtures("out")
def test_a_schema_of_any_value_has_a_validator() -> None:
    """Where everything is valid, nothing is found."""
    for family in ("stranger", "sizes"):
        assert module(f"{family}.validators").errors([HOSTILE], "Value") == []


def test_a_project_of_somebody_else_stays(tmp_path: Path) -> None:
    """A project file that the generator did not write is not touched, and nothing beside it."""
    schemas = write(tmp_path / "schemas", {"rows/family.json": FILES["sizes/family.json"]})
    write(schemas, {"rows/value.json": VALUE})
    out = tmp_path / "out"
    out.mkdir()
    out.joinpath("pyproject.toml").write_text("# by hand")
    with pytest.raises(TargetError, match="was not generated; name another folder"):
        generate(schemas, out)
    assert [path.name for path in out.rglob("*")] == ["pyproject.toml"]


@pytest.mark.parametrize(
    ("file", "change", "reason"),
    [
        ("message.json", {"title": f"A{CALL}"}, "is not a class name"),
        (
            "message.json",
            {"required": [], "properties": {'a"b': described()}},
            "must not contain quotes",
        ),
        (
            "message.json",
            {"required": [], "properties": {"a\nb": described()}},
            "must not contain quotes",
        ),
        (
            "message.json",
            {"examples": [{}]},
            "examples/0: not valid: expected 'string' at .*found nothing",
        ),
        ("value.json", {"type": "string", "examples": ["", 1]}, "examples/1: not valid: .* 1$"),
        ("family.json", {"format": "a\n"}, "not a valid name of a format"),
        ("family.json", {"format": "taken"}, "is taken"),
        ("family.json", {"roles": {"message": "value"}}, "a message must be an object"),
    ],
)
def test_what_no_package_can_hold_is_refused(
    file: str, change: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    """The error names the file, and nothing is written."""
    files = {name: text for name, text in FILES.items() if name.startswith("stranger")}
    files[f"stranger/{file}"] = {**files[f"stranger/{file}"], **change}
    schemas = write(tmp_path / "schemas", files)
    with pytest.raises(SchemaError, match=reason):
        generate(schemas, tmp_path / "out", taken=["taken"])
    assert not (tmp_path / "out").exists()


def test_a_message_in_messagepack_is_one_of_several(tmp_path: Path) -> None:
    """One array alone has nothing by which a reader would know it; the error says what is asked."""
    folder = tmp_path / "schemas" / "row_union"
    shutil.copytree(CASES / "row_union", folder, ignore=shutil.ignore_patterns("expected"))
    path = folder / "family.json"
    family = json.loads(path.read_bytes())
    path.write_text(json.dumps({**family, "roles": {"message": "put"}}))
    with pytest.raises(SchemaError, match="a message in MessagePack must be a union of arrays"):
        generate(tmp_path / "schemas", tmp_path / "out")


def test_a_folder_without_its_file_is_not_passed_over(tmp_path: Path) -> None:
    """Who forgot to say what a folder is hears of it, though others are complete."""
    files = {"sizes/family.json": FILES["sizes/family.json"], "sizes/value.json": VALUE}
    schemas = write(tmp_path / "schemas", {**files, "forgotten/value.json": VALUE})
    with pytest.raises(SchemaError, match=r"forgotten#: .* must have a family\.json"):
        generate(schemas, tmp_path / "out")
