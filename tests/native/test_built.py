"""The kernel that tests compare with Python is there, and its sources are in order."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from changewire.engines import native

SOURCES = Path(__file__).parents[2] / "native" / "src"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_the_kernel_is_built_where_cargo_is() -> None:
    """Where cargo is, as in CI, the kernel is there and fits: no test of it is skipped."""
    assert native.misfit() is None, f"build the kernel again: {native.misfit()}"
    assert native.installed() is not None, "build the kernel"


def modules() -> Iterator[tuple[str, str]]:
    """Yield the name of each module in the crate, without its parts, and each file's text."""
    for path in SOURCES.rglob("*.rs"):
        yield path.relative_to(SOURCES).parts[0].removesuffix(".rs"), path.read_text("utf-8")


def test_modules_do_not_import_each_other() -> None:
    """No module of the crate needs itself by way of others."""
    needs: dict[str, set[str]] = {}
    for name, text in modules():
        needs.setdefault(name, set()).update(re.findall(r"\bcrate::(\w+)", text))
        needs[name].discard(name)
    order = [*TopologicalSorter(needs).static_order()]
    assert order.index("table") < order.index("formats") < order.index("reader")


def test_no_two_types_have_one_name() -> None:
    """A name of a type says which it is, anywhere in the crate."""
    kinds = re.compile(r"^(?:pub )?(?:struct|enum|trait|type) (\w+)", re.MULTILINE)
    found = Counter(name for _, text in modules() for name in kinds.findall(text))
    assert [name for name, count in found.items() if count > 1] == []
    assert found["Reader"] == 1


def test_nothing_is_unsafe() -> None:
    """The crate forbids unsafe code, so no constructor is left unchecked."""
    texts = dict(modules())
    assert "#![forbid(unsafe_code)]" in texts["lib"]
    assert not any("unchecked" in text for text in texts.values())
