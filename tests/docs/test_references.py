"""Docstrings and pages name nothing of ours that does not exist."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.docs.names import (
    KNOWN,
    SEEN_BY,
    Reference,
    Source,
    documented_by,
    in_docstrings,
    names_in,
    on_page,
    source,
    source_of,
    visible_from,
)
from tests.docs.pages import ROOT

OF_OTHERS: Final = frozenset(
    {
        *(
            "DataFrame",
            "DataStreamWriter",
            "SparkSession",
            "StreamingQuery",
            "StructType",
            "ClassNotFoundException",
            "NoSuchMethodError",
        ),
        *("createDataFrame", "foreachBatch", "mapInArrow"),
        *("DataOutputStream", "RecordBatchReader", "NaN", "pyarrow"),
    }
)
"""Names of Spark, Java and Arrow, and not-a-number; what follows a dot is theirs as well."""

NOT_OURS: Final = {"_build", "api"}


def unresolved(reference: Reference, own: Source, folder: str) -> bool:
    """Return whether a docstring of a file in a folder names what does not exist."""
    first, *more = reference.name.split(".")
    if reference.section in {"Args", "Attributes"}:
        assert reference.owner is not None
        documented = documented_by(reference.owner, reference.section)
        if documented is not None:
            return first not in documented
    visible = visible_from(folder) | own.bound
    if first in own.foreign | OF_OTHERS or (more and first in KNOWN):
        return False
    return any(part not in visible for part in (first, *more))


@pytest.mark.parametrize("folder", SEEN_BY)
def test_docstrings_name_what_exists(folder: str) -> None:
    """What a docstring has in single backticks, or raises, takes and holds, is bound somewhere."""
    found = [
        f"{path.relative_to(ROOT)}:{reference.line}: {reference.section} {reference.name}"
        for path in sorted(ROOT.joinpath(folder).rglob("*.py"))
        for reference in in_docstrings(source(path).tree)
        if unresolved(reference, source(path), folder)
    ]
    assert found == []


def titles(node: object) -> Iterator[str]:
    """Yield each title in a schema; those of arms are on pages, and no models."""
    if isinstance(node, dict):
        if isinstance(node.get("title"), str):
            yield node["title"]
        for below in node.values():
            yield from titles(below)


def pages() -> list[Path]:
    """Return all pages of documentation that are ours; the changelog tells of names that were."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("docs/**/*.md")]
    return [p for p in found if not NOT_OURS & {*p.parts} and p.name != "CHANGELOG.md"]


def test_pages_name_what_exists() -> None:
    """A class, or what begins with a package of ours, is bound in our sources or schemas."""
    schemas: list[Any] = [json.loads(p.read_bytes()) for p in ROOT.glob("schemas/*/*.json")]
    known = {"cw", *KNOWN, *OF_OTHERS}.union(*map(names_in, SEEN_BY), names_in("generated"))
    known |= {title for schema in schemas for title in titles(schema)}
    found = [
        f"{path.relative_to(ROOT)}:{reference.line}: {reference.name}"
        for path in pages()
        for reference in on_page(path.read_text(encoding="utf-8"))
        if reference.name.partition(".")[0] not in OF_OTHERS
        and not known.issuperset(reference.name.split("."))
    ]
    assert found == []


MODULE = '''
import msgspec

class Known(Exception):
    """An error.

    Attributes:
        a: Exists.
        gone: Does not.
    """

    a: int
    """Raised by `make`, and not by `makes`."""

class Below(TaggedRow):
    """Another.

    Attributes:
        properties: It is inherited.
    """

def make(x):
    """Make ``Nothing`` with `Missing`, `msgspec.Raw`, `Known.a`, `json.loads()` and `not a name`.

    Args:
        x: Exists.
        y: Does not.

    Raises:
        Known, Unknown: At times.
        msgspec.MsgspecError: At other times; that is
            Other: A line that goes on.
    """
'''


def test_names_that_do_not_exist_are_found() -> None:
    """Of a file the names in backticks and in sections are found, and no others."""
    own = source_of(ast.parse(MODULE))
    references = list(in_docstrings(own.tree))
    used = {"Known", "Missing", "Unknown", "a", "gone", "make", "makes", "properties", "x", "y"}
    assert {r.name for r in references if "." not in r.name} == used
    assert {"msgspec.Raw", "Known.a", "json.loads", "msgspec.MsgspecError"} == {
        r.name for r in references if "." in r.name
    }
    assert {(r.section, r.name) for r in references if unresolved(r, own, "codegen")} == {
        ("", "Missing"),
        ("", "makes"),
        ("Args", "y"),
        ("Attributes", "gone"),
        ("Raises", "Unknown"),
    }


def test_pages_are_read_outside_of_blocks() -> None:
    """On a page, classes and what begins with our packages are names; blocks and words are not."""
    text = "`DecodeError`\n```python\n`InCode`\n```\n`cw.decode(data)`, ``InText``, `Word`, `a.b`\n"
    assert [(r.line, r.name) for r in on_page(text)] == [(1, "DecodeError"), (5, "cw.decode")]
