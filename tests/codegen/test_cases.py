"""Golden cases: one tiny family for each feature, beside the files that it becomes."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.codegen.helpers import CASE_NAMES, CASES, ROOT, SCHEMAS

UPDATE = "UPDATE_GOLDEN"
COMMAND = f"{UPDATE}=1 pytest tests/codegen/test_cases.py"

SHOWN = {
    "alone": (
        "__init__.py",
        "models.py",
        "validators.py",
        "extras.py",
        "leniencies.py",
        "strategies.py",
        "bundle.json",
    ),
    "anything": ("models.py", "validators.py", "strategies.py", "fields.py"),
    "binary": ("models.py", "validators.py", "strategies.py", "fields.py"),
    "bytes_and_times": ("models.py", "validators.py", "strategies.py", "fields.py"),
    "change_table": ("changes.py",),
    "choices": ("models.py", "validators.py", "strategies.py", "fields.py"),
    "constants": (
        "models.py",
        "validators.py",
        "strategies.py",
        "fields.py",
        "arrow.py",
        "spark.py",
    ),
    "enum_tag": ("models.py", "validators.py", "strategies.py", "page.md"),
    "family_file": ("__init__.py", "page.md"),
    "flat": (
        "__init__.py",
        "models.py",
        "validators.py",
        "extras.py",
        "strategies.py",
        "bundle.json",
        "fields.py",
    ),
    "known_values": ("values.py", "page.md"),
    "leniencies": ("leniencies.py", "page.md"),
    "lists_and_maps": ("models.py", "validators.py", "strategies.py", "fields.py"),
    "map_keys": ("models.py", "validators.py", "strategies.py", "fields.py"),
    "names": ("models.py", "fields.py", "page.md"),
    "open_arm": ("models.py", "validators.py", "strategies.py"),
    "open_objects": ("validators.py", "extras.py"),
    "open_rows": (
        "models.py",
        "dispatch.py",
        "validators.py",
        "extras.py",
        "leniencies.py",
        "strategies.py",
        "fields.py",
        "page.md",
    ),
    "optional_and_nullable": (
        "models.py",
        "validators.py",
        "strategies.py",
        "fields.py",
    ),
    "recursion": ("models.py", "validators.py", "strategies.py", "fields.py"),
    "references": ("models.py", "bundle.json"),
    "repeated": ("models.py", "fields.py", "__init__.py"),
    "row_union": (
        "models.py",
        "dispatch.py",
        "validators.py",
        "strategies.py",
        "fields.py",
        "page.md",
        "bundle.json",
    ),
    "rows": ("models.py", "validators.py", "strategies.py", "fields.py"),
    "scalars": ("models.py", "validators.py", "strategies.py", "fields.py", "page.md"),
    "tables": ("__init__.py", "models.py", "fields.py", "arrow.py", "spark.py", "page.md"),
    "times": ("models.py", "fields.py", "page.md"),
    "tagged_rows": (
        "models.py",
        "validators.py",
        "leniencies.py",
        "strategies.py",
        "fields.py",
        "page.md",
    ),
    "tagged_union": ("models.py", "validators.py", "strategies.py", "fields.py"),
}
"""The files in which the feature of a case shows."""


@pytest.mark.parametrize("name", CASE_NAMES)
def test_case_becomes_the_files_beside_it(name: str, rendered: Mapping[str, str]) -> None:
    """What a feature of the dialect becomes changes only where somebody meant it to."""
    folder = CASES / name / "expected"
    paths = {path: f"{name}/{path}" for path in SHOWN[name]}
    paths |= {"bundle.json": f"schemas/{name}.json"} if "bundle.json" in paths else {}
    texts = {f"{path}.txt": rendered[place] for path, place in paths.items()}
    if os.environ.get(UPDATE):
        _update(name, texts)
    kept = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    assert sorted(kept) == sorted(texts), f"to update: {COMMAND}"
    for path, text in texts.items():
        old = kept[path].read_bytes().decode()
        lines = difflib.unified_diff(old.splitlines(), text.splitlines(), path, "generated", n=2)
        assert old == text, "\n".join([*lines, f"to update: {COMMAND}"])


def _update(name: str, texts: Mapping[str, str]) -> None:
    folder = CASES / name / "expected"
    for old in [file for file in folder.rglob("*") if file.is_file()]:
        old.unlink()
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())


def test_update_is_not_left_on() -> None:
    """A run that compares nothing is never mistaken for one that does."""
    assert not os.environ.get("CI") or not os.environ.get(UPDATE)


KEYWORDS = json.loads((SCHEMAS / "dialect.json").read_text(encoding="utf-8"))["$defs"]


def keys(node: object) -> Iterator[str]:
    """Yield the name of each property at any depth, but for examples."""
    if isinstance(node, list):
        for item in node:
            yield from keys(item)
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            if key != "examples":
                yield from keys(value)


def used(*names: str) -> set[str]:
    """Return the keys of all cases in their schemas, or in their ``family.json``."""
    files = [p for p in CASES.glob("*/*.json") if (p.name == "family.json") == bool(names)]
    return {key for path in files for key in keys(json.loads(path.read_text(encoding="utf-8")))}


@pytest.mark.parametrize("keyword", sorted({*KEYWORDS["node"]["properties"]}))
def test_each_keyword_has_a_case(keyword: str) -> None:
    """A keyword that the dialect knows is shown at work."""
    assert keyword in used()


@pytest.mark.parametrize("keyword", sorted(KEYWORDS["condition"]["properties"]))
def test_each_keyword_of_a_condition_has_a_case(keyword: str) -> None:
    """A keyword that a condition may have stands in the condition of a case."""
    found: set[str] = set()
    for path in CASES.glob("*/*.json"):
        found |= set(_conditions(json.loads(path.read_text(encoding="utf-8"))))
    assert keyword in found


def _conditions(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _conditions(item)
    if isinstance(node, dict):
        for key, value in node.items():
            inside = key == "x-leniency"
            yield from keys(value) if inside else _conditions(value)


@pytest.mark.parametrize("keyword", sorted(KEYWORDS["family"]["properties"]))
def test_each_keyword_of_a_family_has_a_case(keyword: str) -> None:
    """A keyword of ``family.json`` is shown at work."""
    assert keyword in used("family.json")


@pytest.mark.parametrize(
    "keyword", sorted({*KEYWORDS["node"]["properties"], *KEYWORDS["family"]["properties"]})
)
def test_each_keyword_is_explained(keyword: str) -> None:
    """The page of the dialect has a row for every keyword."""
    page = (SCHEMAS / "README.md").read_text(encoding="utf-8")
    assert f"\n| `{keyword}` |" in page


@pytest.mark.parametrize("name", CASE_NAMES)
def test_each_case_is_named_in_the_page_of_the_dialect(name: str) -> None:
    """Who reads the page of the dialect finds the case that shows a keyword."""
    page = (SCHEMAS / "README.md").read_text(encoding="utf-8")
    assert f"`{name}`" in page
    assert (ROOT / "tests" / "codegen" / "cases" / name).is_dir()
