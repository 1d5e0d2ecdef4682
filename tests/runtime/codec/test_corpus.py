"""The corpus: messages as files, each beside the exact text of what becomes of it.

A file that ends with ``.hex`` has the bytes as text, and comments; any other is the message itself.
``CHANGEWIRE_UPDATE_CORPUS=1 pytest tests/runtime/codec/test_corpus.py`` writes these texts anew.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.runtime.codec.formats import FORMATS, Format, golden, name_of, role_of, wire_of
from tests.runtime.codec.shown import shown

import changewire as cw

UPDATE = bool(os.environ.get("CHANGEWIRE_UPDATE_CORPUS"))

ELSEWHERE = {
    "adapter-failed": "found by changes(), in tests/plugins",
    "contradicts-schema": "found by changes(), in tests/runtime/changes",
    "digest-mismatch": "found by changes(), in tests/runtime/changes",
    "internal-error": "of defects, in test_border.py",
    "invalid-record-key": "found by delete_by_key(), in tests/runtime/changes",
    "duplicate-column": "found by changes(), in tests/runtime/changes",
    "header-mismatch": "of the headers of records, in tests/runtime/kafka",
    "invalid-schema": "found by changes(), in tests/runtime/changes",
    "invalid-time": "no message of aerospike-json holds a time as text",
    "lossy": "of convert(), in tests/runtime/convert",
    "not-encodable": "of encode(), in test_encode.py",
    "other-variant": "of messages(), in tests/runtime/engines",
    "pattern-mismatch": "no schema of aerospike-json has a pattern",
    "rule-broken": "no schema of aerospike-json has a rule between properties",
    "too-large": "JSON cannot ask for more memory than its own length",
    "undeclared-column": "of strict checks, in tests/runtime/changes and tests/runtime/kafka",
    "unknown-property": "of strict checks, in test_verdicts.py: decode keeps what it does not know",
}
"""Codes that no file of the corpus has, and why."""


def story(form: Format, path: Path) -> Iterator[str]:
    """Yield, as paragraphs, what becomes of a file: model and changes, or error and issues."""
    data, role = wire_of(path), role_of(path)
    try:
        found = form.codec.decode_all(data) if role == "batch" else form.read(data, role)
    except cw.DecodeError as error:
        yield str(error)
        yield from map(str, error.issues)
        return
    for element in found if isinstance(found, list) else [found]:
        if isinstance(element, cw.Rejection):
            yield f"element {element.element}: {element.message}"
            yield from (f"- {reason!r}" for reason in element.reasons)
        else:
            yield shown(element)
            yield from _changes(element) if path.parent.name == "valid" else ()


def _changes(model: Any) -> Iterator[str]:
    if type(model).__name__ != "Key":
        for change in cw.changes(model):
            yield msgspec.json.format(msgspec.json.encode(change), indent=1).decode("utf-8")


def check(path: Path, text: str, suffix: str) -> None:
    """Compare text with the file beside a message, or write it there."""
    beside = path.with_name(f"{path.stem}{suffix}")
    if UPDATE:
        beside.write_text(text, encoding="utf-8", newline="\n")
    assert text == beside.read_text(encoding="utf-8"), f"CHANGEWIRE_UPDATE_CORPUS=1 writes {beside}"


@pytest.mark.parametrize(("name", "path"), golden("valid"), ids=name_of)
def test_valid(name: str, path: Path) -> None:
    """A valid message gives the model and the changes that stand beside it."""
    text = "".join(f"{part}\n" for part in story(FORMATS[name], path))
    check(path, text, ".model.txt")
    assert FORMATS[name].read(wire_of(path), role_of(path)) is not None


@pytest.mark.parametrize(("name", "path"), golden("invalid"), ids=name_of)
def test_invalid(name: str, path: Path) -> None:
    """An invalid message gives the error, and every issue, that stand beside it."""
    text = "".join(f"{part}\n" for part in story(FORMATS[name], path))
    check(path, text, ".error.txt")
    assert "expected" in text


def test_every_code_is_in_the_corpus() -> None:
    """Each code that decoding can give stands in an error text; the others are named above."""
    folders = {path.parent for _, path in golden("invalid")}
    texts = [path.read_text("utf-8") for folder in folders for path in folder.glob("*.txt")]
    found = {code for code in cw.CODES if any(f"({code})" in text for text in texts)}
    assert found == cw.CODES.keys() - ELSEWHERE.keys()


def test_no_text_is_left_over(form: Format) -> None:
    """Every text of the corpus stands beside a message."""
    for kind, suffix in (("valid", ".model.txt"), ("invalid", ".error.txt")):
        expected = {f"{path.stem}{suffix}" for path in form.golden(kind)}
        (folder,) = {path.parent for path in form.golden(kind)}
        assert {path.name for path in folder.glob("*.txt")} == expected
