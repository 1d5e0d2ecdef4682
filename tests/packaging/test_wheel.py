"""What is published: the files and metadata of the wheel, and the promises made beside it."""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, distribution, packages_distributions
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest
import tomli
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.runtime.test_imports import imports, root_of

from changewire.version import VERSION

ROOT = Path(__file__).parents[2]
SOURCES = (
    *("runtime/changewire", "runtime/changewire_library"),
    *("generated/changewire_messages", "codegen/changewire_codegen"),
)
PACKAGES = tuple(Path(source).name for source in SOURCES)
PYPROJECT = tomli.loads(ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"))


def requirements_of(*lists: list[object]) -> list[Requirement]:
    """Parse requirements, leaving out the tables that include another group."""
    return [Requirement(line) for lines in lists for line in lines if isinstance(line, str)]


def pins_of(file: Path) -> list[str]:
    """Return the pins of a constraint file, each with its hashes in one line."""
    text = re.sub(r" *\\\n *", " ", file.read_text(encoding="utf-8"))
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]


BASE = requirements_of(PYPROJECT["project"]["dependencies"])
OPTIONAL = PYPROJECT["project"]["optional-dependencies"]
EXTRAS = requirements_of(*OPTIONAL.values())
GROUPS = requirements_of(*PYPROJECT["dependency-groups"].values())

BROUGHT = {"markupsafe", "py4j", "tomllib", "typing_extensions"}
"""Modules that come with jinja2, pyspark and Python 3.11, and one for type checkers alone."""


@pytest.fixture(scope="module")
def wheel() -> Distribution:
    """Give the installed wheel; an editable installation has no files to speak of."""
    installed = distribution("changewire")
    if '"editable": true' in (installed.read_text("direct_url.json") or ""):
        pytest.skip("changewire is installed as editable, nox -s tests installs the wheel")
    return installed


@pytest.fixture(scope="module")
def files(wheel: Distribution) -> dict[str, Path]:
    """Give the files that the wheel installs into its packages, by path."""
    return {
        file.as_posix(): Path(str(file.locate()))
        for file in wheel.files or ()
        if file.parts[0] in PACKAGES and file.suffix != ".pyc"
    }


def test_packages_are_imported_from_the_wheel(wheel: Distribution) -> None:
    """Tests exercise what is installed, not the working copy."""
    for package in PACKAGES:
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        assert Path(spec.origin) == Path(str(wheel.locate_file(f"{package}/__init__.py")))


def test_wheel_holds_its_packages_and_nothing_else(wheel: Distribution) -> None:
    """A wheel has its packages, its metadata and the command, and perhaps the kernel."""
    roots = {file.parts[0] for file in wheel.files or ()} - {"__pycache__"}
    rest = {root for root in roots if root != ".." and not root.endswith(".dist-info")}
    assert rest - {"changewire_native"} == set(PACKAGES)


@pytest.mark.parametrize("source", SOURCES)
def test_wheel_holds_each_file_of_the_sources(source: str, files: dict[str, Path]) -> None:
    """Neither is a schema or a template left out, nor is anything left over."""
    folder = ROOT / source
    written = {
        f"{folder.name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    published = {
        path: file.read_bytes()
        for path, file in files.items()
        if path.startswith(f"{folder.name}/")
    }
    assert sorted(published) == sorted(written)
    assert [path for path in written if published[path] != written[path]] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_is_marked_as_typed(package: str, files: dict[str, Path]) -> None:
    """Type checkers read our annotations only where the marker lies."""
    assert f"{package}/py.typed" in files


def test_metadata_names_the_licence(wheel: Distribution) -> None:
    """The licence is an expression that tools read, and its text is in the wheel."""
    assert wheel.metadata["License-Expression"] == "Apache-2.0"
    text = wheel.read_text("licenses/LICENSE")
    assert text == ROOT.joinpath("LICENSE").read_text(encoding="utf-8")


def test_base_installation_is_small(wheel: Distribution) -> None:
    """Who only decodes messages installs two parsers and nothing else."""
    required = [Requirement(line) for line in wheel.requires or ()]
    base = {requirement.name for requirement in required if not requirement.marker}
    assert base == {"msgpack", "msgspec"}


def test_extras_are_those_that_the_documentation_names(wheel: Distribution) -> None:
    """An extra is part of the interface: it is neither dropped nor renamed unseen."""
    extras = set(wheel.metadata.get_all("Provides-Extra", []))
    assert extras == {"arrow", "cli", "codegen", "delta", "digest", "kafka", "spark", "testing"}


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_imported_is_required(package: str) -> None:
    """Whatever a package imports comes with it, or with an extra, on each version of Python."""
    distributions = packages_distributions()
    required = {canonicalize_name(item.name) for item in BASE + EXTRAS}
    known = {*PACKAGES, *BROUGHT, "changewire_native", *sys.stdlib_module_names}
    roots = {
        name.partition(".")[0]: path
        for path in root_of(package).rglob("*.py")
        for name in imports(path)
        if not name.startswith(".")
    }
    missing = {
        name: path
        for name, path in roots.items()
        if name not in known
        and required.isdisjoint(map(canonicalize_name, distributions.get(name, [])))
    }
    assert missing == {}


def test_what_is_published_installs_beside_other_versions() -> None:
    """Only what writes models is required in one exact version."""
    bounds = {item.name: [bound.operator for bound in item.specifier] for item in BASE + EXTRAS}
    exact = [name for name, operators in bounds.items() if "==" in operators]
    assert exact == ["datamodel-code-generator"]


def test_committed_files_are_formatted_by_one_version() -> None:
    """The pins of development name one ruff, with which ``nox`` checks what is generated."""
    pins = ROOT.joinpath("constraints/dev.txt").read_text(encoding="utf-8")
    assert len(re.findall(r"^ruff==[\d.]+ \\$", pins, re.MULTILINE)) == 1


def test_the_parser_is_bounded() -> None:
    """A msgspec whose errors may read otherwise is not installed; the pinned one is allowed."""
    (parser,) = [item for item in BASE if item.name == "msgspec"]
    assert any(bound.operator == "<" for bound in parser.specifier)
    assert msgspec.__version__ in parser.specifier


def test_native_kernel_has_the_same_version() -> None:
    """The kernel is of the version of the package that it is for."""
    crate = tomli.loads(ROOT.joinpath("native/Cargo.toml").read_text(encoding="utf-8"))
    assert crate["package"]["version"] == VERSION


def test_entry_point_leads_to_a_function(wheel: Distribution) -> None:
    """The command can be called."""
    (entry_point,) = wheel.entry_points.select(group="console_scripts", name="changewire")
    assert callable(entry_point.load())


@pytest.mark.parametrize("file", sorted(ROOT.glob("constraints/*.txt")), ids=lambda file: file.name)
def test_constraints_name_versions_and_no_place(file: Path) -> None:
    """A constraint file has version and hashes, never an index, host or folder."""
    lines = file.read_text(encoding="utf-8").splitlines()
    pins = pins_of(file)
    form = r"[a-z0-9-]+==[^\s/@]+( ; [^/@]+)?( --hash=sha256:[0-9a-f]{64})+"
    assert [pin for pin in pins if not re.fullmatch(form, pin)] == []
    lines = [line for line in lines if not line.startswith("    --hash=")]
    assert [line for line in lines if re.search(r"://|(^|[\s=])(/|[A-Za-z]:|--)", line)] == []


def test_constraints_hold_every_dependency() -> None:
    """Each direct dependency is pinned, and each pin is allowed by pyproject.toml."""
    lines = pins_of(ROOT / "constraints" / "dev.txt")
    pins = [Requirement(line.partition(" --hash")[0]) for line in lines]
    for requirement in [*BASE, *EXTRAS, *GROUPS]:
        pinned = [
            next(iter(pin.specifier)).version
            for pin in pins
            if pin.name == canonicalize_name(requirement.name)
        ]
        assert pinned, f"{requirement.name} is missing: run nox -s lock"
        assert all(version in requirement.specifier for version in pinned), requirement


@pytest.mark.parametrize(
    "name", sorted({requirement.name for requirement in [*BASE, *EXTRAS, *GROUPS]})
)
def test_each_dependency_is_explained(name: str) -> None:
    """What a dependency is for, and why this one, is written down."""
    page = ROOT.joinpath("docs/contributing/dependencies.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page


def test_readme_names_the_command_that_is_run_for_each_change() -> None:
    """What the readme says to type is what is run, to the letter."""
    command = ROOT.joinpath(".ci/run").read_text(encoding="utf-8").splitlines()[-1]
    assert command in ROOT.joinpath("README.md").read_text(encoding="utf-8")


def test_the_bill_of_materials_is_that_of_the_pins() -> None:
    """It has this version, all that the project and its extras require, in pinned versions."""
    bill = json.loads(ROOT.joinpath("constraints/sbom.cdx.json").read_text(encoding="utf-8"))
    root = bill["metadata"]["component"]
    assert (root["name"], root["version"]) == (PYPROJECT["project"]["name"], VERSION)
    found = {canonicalize_name(part["name"]): part["version"] for part in bill["components"]}
    newer = {"python_version": "3.11"}  # the bill is made with it
    needed = [i for i in [*BASE, *EXTRAS] if i.marker is None or i.marker.evaluate(newer)]
    assert {canonicalize_name(item.name) for item in needed} <= found.keys()
    lines = pins_of(ROOT / "constraints" / "dev.txt")
    pinned = {tuple(re.split("==| ", line)[:2]) for line in lines}
    assert {*found.items()} <= pinned


def test_the_wheel_has_its_bill_of_materials(wheel: Distribution) -> None:
    """The bill is where tools look for it, as the repository has it."""
    text = wheel.read_text("sboms/sbom.cdx.json")
    assert text == ROOT.joinpath("constraints/sbom.cdx.json").read_text(encoding="utf-8")


def test_the_readme_of_the_index_has_no_links_between_files(wheel: Distribution) -> None:
    """Each link of the long description has an address; the rest of the text is the readme."""
    shown = str(wheel.metadata.json["description"])
    assert [link for link in re.findall(r"\]\(([^)]+)\)", shown) if "://" not in link] == []
    assert "\n\nYour first table takes ten minutes and needs only Python." in shown
    assert shown.startswith("# changewire\n\n**Turn ")
