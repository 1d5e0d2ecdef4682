"""The command: what is committed is what the schemas say, and nobody's files are lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.codegen.helpers import CASES, ROOT, SCHEMAS

from changewire_codegen.build import build_family
from changewire_codegen.command import PACKAGE, main
from changewire_codegen.dialect import DIALECT_PATH
from changewire_codegen.errors import SchemaError
from changewire_codegen.load import load
from changewire_codegen.nodes import Family
from changewire_codegen.render import render, render_pages
from changewire_codegen.tree import Package, Pages, compare_all

COMMAND = "python -m changewire_codegen"


def options(folder: Path, schemas: Path, package: str = "mine") -> list[str]:
    """Return the options that generate a package below a folder."""
    where = ["--out", str(folder / "out"), "--pages", str(folder / "pages")]
    return ["--schemas", str(schemas), "--package", package, *where]


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """Copy one golden case to where a user would have schemas."""
    folder = tmp_path / "schemas"
    ignored = shutil.ignore_patterns("expected")
    shutil.copytree(CASES / "rows", folder / "rows", ignore=ignored)
    shutil.copytree(CASES / "scalars", folder / "scalars", ignore=ignored)
    return folder


def test_committed_files_are_what_the_schemas_say() -> None:
    """Whoever edits a schema, the generator or a generated file runs the command."""
    families = load(SCHEMAS)
    trees = [
        Package(ROOT / "generated" / PACKAGE, render(families, PACKAGE)),
        Pages(ROOT / "docs" / "formats", render_pages(families)),
    ]
    found = compare_all(trees)
    texts = [f"{verdict}\n{diff}" for verdict, diff in found]
    assert not found, "\n".join([*texts, f"to mend it: {COMMAND}"])


def test_package_holds_the_dialect_of_the_repository() -> None:
    """The generator that users install checks their schemas by the dialect that is documented."""
    assert DIALECT_PATH.read_bytes() == (SCHEMAS / "dialect.json").read_bytes()


@pytest.mark.parametrize("name", ["flat_objects", "families", "support"])
def test_a_family_has_no_name_of_a_shared_module(name: str) -> None:
    """Its package would hide the module, or the module it: the error names the folder."""
    (family,) = [family for family in load(SCHEMAS) if family.name == "tables"]
    with pytest.raises(SchemaError, match=f"{name}.*the package has a module of this name"):
        render([replace(family, name=name)], PACKAGE)


FOREIGN = """\
[tool.black]
line-length = 40
[tool.datamodel-codegen]
class-name-prefix = "Foreign"
output-model-type = "typing.TypedDict"
[tool.isort]
force_single_line = true
[tool.ruff]
line-length = 40
format.quote-style = "single"
"""
"""Configuration of a project in whose folder the command may run."""


def run(seed: str, folder: Path, arguments: Sequence[str]) -> None:
    """Run the command in a folder, in a process of its own, by a given order of hashing."""
    command = [sys.executable, "-m", "changewire_codegen", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run(command, check=True, env=environment, cwd=folder)


def test_same_schemas_give_the_same_bytes(tmp_path: Path, schemas: Path) -> None:
    """Neither order of hashing nor place of schemas nor configuration there changes a byte."""
    moved = tmp_path / "elsewhere" / "copy"
    shutil.copytree(schemas, moved)
    (moved / "pyproject.toml").write_text(FOREIGN, encoding="utf-8")
    runs = {"0": schemas, "1": moved}
    for seed, source in runs.items():
        run(seed, source, options(tmp_path / seed, source))
    first, other = [_bytes(tmp_path / seed) for seed in runs]
    assert len(first) > 20
    assert other == first


def _bytes(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_check_tells_missing_unexpected_and_different(
    tmp_path: Path, schemas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A check writes nothing, names each wrong file and how it is wrong, and what mends it."""
    arguments = options(tmp_path, schemas)
    assert main(arguments) == 0
    assert main([*arguments, "--check"]) == 0
    assert capsys.readouterr().out == "generated files are up to date\n"
    package = tmp_path / "out" / "mine"
    (package / "rows" / "models.py").rename(package / "rows" / "more.py")
    (package / "scalars" / "spark.py").write_text("changed = 1\n", encoding="utf-8")
    (tmp_path / "pages" / "rows.md").unlink()
    before = _bytes(tmp_path)
    assert main([*arguments, "--check"]) == 1
    assert _bytes(tmp_path) == before
    lines = capsys.readouterr().out.splitlines()
    assert f"missing: {package.as_posix()}/rows/models.py" in lines
    assert f"unexpected: {package.as_posix()}/rows/more.py" in lines
    assert f"different: {package.as_posix()}/scalars/spark.py" in lines
    assert f"missing: {tmp_path.as_posix()}/pages/rows.md" in lines
    assert "-changed = 1" in lines
    assert lines[-1].startswith("4 generated files are out of date. To update: ")
    assert lines[-1].endswith(" ".join([COMMAND, *arguments]))
    assert main(arguments) == 0
    assert main([*arguments, "--check"]) == 0


def test_family_that_is_gone_takes_its_files_along(tmp_path: Path, schemas: Path) -> None:
    """What no schema stands for any more is removed, with its page and its folder."""
    arguments = options(tmp_path, schemas)
    assert main(arguments) == 0
    cache = tmp_path / "out/mine/rows/__pycache__"
    cache.mkdir()
    (cache / "models.cpython-310.pyc").touch()
    shutil.rmtree(schemas / "rows")
    assert main(arguments) == 0
    assert not (tmp_path / "out/mine/rows").exists()
    assert [path.name for path in (tmp_path / "pages").iterdir()] == ["scalars.md"]


@pytest.mark.parametrize(
    "init", [None, "", '"""My package."""\n', "not python (", '"Generated by me."']
)
def test_folder_of_somebody_else_is_not_touched(
    init: str | None, tmp_path: Path, schemas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder that has files and is not a generated package keeps every one of them."""
    package = tmp_path / "out" / "mine"
    package.mkdir(parents=True)
    (package / "thesis.txt").write_text("years of work", encoding="utf-8")
    if init is not None:
        (package / "__init__.py").write_text(init, encoding="utf-8")
    before = _bytes(tmp_path)
    assert main(options(tmp_path, schemas)) == 2
    assert _bytes(tmp_path) == before
    error = capsys.readouterr().err
    assert f"{package.as_posix()}: this folder has files, but is not a generated package" in error


@pytest.mark.parametrize("path", ["adapter.py", "rows/more.py", "own/data.bin", "schemas/a.txt"])
def test_a_file_of_somebody_else_in_the_package_is_not_deleted(
    path: str, tmp_path: Path, schemas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written where a file would be lost that the generator did not write."""
    assert main(options(tmp_path, schemas)) == 0
    file = tmp_path / "out" / "mine" / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"X = 1\n")
    shutil.rmtree(schemas / "rows")
    before = _bytes(tmp_path)
    assert main(options(tmp_path, schemas)) == 2
    assert _bytes(tmp_path) == before
    error = capsys.readouterr().err
    assert f"{file.as_posix()}: this file was not generated, and would be deleted" in error


def test_pages_of_somebody_else_stay(
    tmp_path: Path, schemas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the pages there may be others; one of the same name is not overwritten."""
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.md").write_text("By hand.\n", encoding="utf-8")
    (pages / "empty").mkdir()
    assert main(options(tmp_path, schemas)) == 0
    assert main([*options(tmp_path, schemas), "--check"]) == 0
    names = ["empty", "index.md", "rows.md", "scalars.md"]
    assert sorted(path.name for path in pages.iterdir()) == names
    (pages / "rows.md").write_text("By hand.\n", encoding="utf-8")
    before = _bytes(tmp_path)
    assert main(options(tmp_path, schemas)) == 2
    assert "rows.md: this page was not generated" in capsys.readouterr().err
    assert _bytes(tmp_path) == before


def test_family_of_a_user_becomes_a_package_of_theirs(tmp_path: Path, schemas: Path) -> None:
    """A package of any name imports, and nothing in it names ours."""
    assert main(options(tmp_path, schemas, "of_a_user")) == 0
    program = (
        "from of_a_user.rows.validators import errors\n"
        "from of_a_user.rows.models import Point\n"
        "assert errors(['a', 1.5, None], 'Point') == []\n"
        "assert Point('a', 1.5, None).x == 1.5\n"
    )
    folders = [str(tmp_path / "out"), str(ROOT / "runtime")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    texts = [path.read_text(encoding="utf-8") for path in (tmp_path / "out").rglob("*.py")]
    assert not [text for text in texts if PACKAGE in text]


def test_property_added_to_a_schema_reaches_every_file() -> None:
    """An optional property needs one edit: model, checks, columns, strategy and page follow."""
    families = load(SCHEMAS)
    (family,) = [family for family in families if family.name == "aerospike_json"]
    before = {**render([family], PACKAGE), **render_pages([family])}
    changed = _with_property(family.name)
    after = {**render(changed, PACKAGE), **render_pages(changed)}
    modules = ("models", "validators", "fields", "strategies")
    paths = [f"aerospike_json/{name}.py" for name in modules]
    paths += ["aerospike_json.md", "schemas/aerospike_json.json"]
    for path in paths:
        assert "cluster" in after[path], path
        assert "cluster" not in before[path], path


def _with_property(name: str) -> list[Family]:
    documents = {
        path.name: json.loads(path.read_text(encoding="utf-8"))
        for path in SCHEMAS.joinpath(name).glob("*.json")
    }
    meta = documents.pop("family.json")
    added = {"description": "Name of the cluster.", "type": "string"}
    documents["write.json"]["properties"]["cluster"] = added
    return [build_family(name, meta, dict(sorted(documents.items())))]
