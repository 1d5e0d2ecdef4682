"""Every leniency that may be counted has a meaning, which the report and the pages show."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import changewire
from changewire.changes.leniencies import LENIENCIES, OF_MESSAGES

OF_EVERY_FORMAT = {"missing-envelope", "unknown-property"}
"""Leniencies that follow from other keywords than ``x-leniency``."""


def named(node: Any) -> Iterator[str]:
    """Yield the leniencies that a schema names."""
    if isinstance(node, dict):
        yield from node.get("x-leniency", ())
        node = list(node.values())
    if isinstance(node, list):
        for below in node:
            yield from named(below)


def test_every_leniency_of_a_schema_has_a_meaning() -> None:
    """A name in a schema has a meaning, and each meaning has its name in a schema."""
    bundles = [
        path
        for path in files("changewire_messages").joinpath("schemas").iterdir()
        if path.name.endswith(".json")
    ]
    names = {name for path in bundles for name in named(json.loads(path.read_text("utf-8")))}
    assert OF_MESSAGES.keys() == names | OF_EVERY_FORMAT


def test_every_leniency_of_the_code_has_a_meaning() -> None:
    """What the adapters append to the leniencies of a change has a meaning."""
    texts = [path.read_text("utf-8") for path in Path(changewire.__path__[0]).rglob("*.py")]
    names = {name for text in texts for name in re.findall(r'used\.append\("(.*?)"\)', text)}
    assert len(names) > 9
    assert names <= LENIENCIES.keys()


def test_a_meaning_is_plain_text() -> None:
    """The report and the pages show it as it is: sentences without marks."""
    assert all(re.fullmatch(r"[A-Z][^`*<>|\n]+\.", text) for text in LENIENCIES.values())
