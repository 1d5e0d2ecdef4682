"""The recipes in ``packaging/`` fit the project: conda, image and workflow of a release."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jinja2
import pytest
import tomli
import yaml

from changewire.version import VERSION

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging"
PYPROJECT = tomli.loads(ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
CONDA_NAMES = {"msgpack": "msgpack-python"}


@pytest.fixture(scope="module")
def recipe() -> Any:
    """The conda recipe, rendered with its own context."""
    text = FOLDER.joinpath("recipe.yaml").read_text(encoding="utf-8")
    context = yaml.safe_load(text)["context"]
    engine = jinja2.Environment(
        variable_start_string="${{",
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - YAML
    )
    return yaml.safe_load(engine.from_string(text).render(context, PYTHON="python"))


def conda(requirements: list[str]) -> set[str]:
    """Return requirements as conda writes them."""
    pairs = [re.match(r"([\w-]+)([^;]*)", requirement) for requirement in requirements]
    found = [(pair[1], pair[2]) for pair in pairs if pair]
    return {f"{CONDA_NAMES.get(name, name)} {bounds}" for name, bounds in found}


def test_conda_recipe_has_the_requirements_of_the_project(recipe: Any) -> None:
    """The package needs what the wheel with its command needs, and is built by the same tools."""
    extras = PROJECT["optional-dependencies"]["cli"]
    python = f"python {PROJECT['requires-python']}"
    assert {*recipe["requirements"]["run"]} == conda([*PROJECT["dependencies"], *extras]) | {python}
    assert conda(PYPROJECT["build-system"]["requires"]) <= {*recipe["requirements"]["host"]}


def test_conda_recipe_describes_the_project(recipe: Any) -> None:
    """Name, version, summary, licence and command are those of the project."""
    assert recipe["package"] == {"name": PROJECT["name"], "version": VERSION}
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert ROOT.joinpath(recipe["about"]["license_file"]).is_file()
    ((command, function),) = PROJECT["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [f"{command} = {function}"]
    assert recipe["source"]["path"] == f"../dist/{PROJECT['name']}-{VERSION}.tar.gz"


def test_image_is_built_from_files_that_exist() -> None:
    """Constraints are in the clone, extras in the project, and the wheel has the built name."""
    text = FOLDER.joinpath("Containerfile").read_text(encoding="utf-8")
    copied = [
        line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY constraints")
    ]
    assert copied
    assert [name for names in copied for name in names if not ROOT.joinpath(name).is_file()] == []
    assert "changewire-*.whl)[$EXTRAS]" in text
    with_spark, *given = sorted(re.findall(r"EXTRAS=([\w,]+)", text), key=len, reverse=True)
    assert {*with_spark.split(",")} <= {*PROJECT["optional-dependencies"]}
    assert given == [with_spark.removesuffix(",spark")]
    assert "COPY dist/changewire-*.whl" in text


def test_workflow_publishes_without_a_secret() -> None:
    """Only the job that publishes gets an identity, and no step reads a secret."""
    text = FOLDER.joinpath("release.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert "secrets." not in text
    assert workflow["permissions"] == {}
    rights = {name: job["permissions"] for name, job in workflow["jobs"].items()}
    assert rights == {
        "build": {"contents": "read"},
        "publish": {"attestations": "write", "id-token": "write"},
    }
    publish = workflow["jobs"]["publish"]
    assert publish["needs"] == "build"
    assert publish["environment"] == "pypi"
    uses = [step["uses"].partition("@")[0] for step in publish["steps"]]
    assert uses[1:] == ["actions/attest-build-provenance", "pypa/gh-action-pypi-publish"]
    commands = [step["run"] for step in workflow["jobs"]["build"]["steps"] if "run" in step]
    assert commands[0] == ".ci/run"
