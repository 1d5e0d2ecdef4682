"""Where the code names vendors."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VENDORS = ("aerospike", "lindorm", "dataworks")

OWN = (
    "runtime/changewire/changes/{vendor}*.py",
    "runtime/changewire/convert/{vendor}*.py",
    "native/src/formats/{vendor}*.rs",
)
"""Modules with hooks of a vendor."""

REGISTRIES = {
    "runtime/changewire/changes/leniencies.py",
    "runtime/changewire/changes/vendors.py",
    "runtime/changewire/convert/convert.py",
    "native/src/formats/mod.rs",
}
"""Modules that name those of each vendor, so that all others find them without names, and one
that says in words which vendor's messages need which leniency."""

SEARCHED = [
    path
    for folder, pattern in (("runtime", "*.py"), ("codegen", "*"), ("native/src", "*.rs"))
    for path in sorted((ROOT / folder).rglob(pattern))
    if path.is_file() and "__pycache__" not in path.parts
]
FORMAT = re.compile(rf"\b({'|'.join(VENDORS)})-[a-z-]+\b")


def without_examples(path: Path) -> str:
    """Return the text of a file, without names of formats in docstrings of Python."""
    text = path.read_text("utf-8")
    for node in ast.walk(ast.parse(text)) if path.suffix == ".py" else ():
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            docstring = ast.get_docstring(node, clean=False)
            if docstring is not None:
                text = text.replace(docstring, FORMAT.sub("", docstring))
    return text.casefold()


@pytest.mark.parametrize("vendor", VENDORS)
def test_only_modules_of_a_vendor_name_it(vendor: str) -> None:
    """Runtime, generator and kernel name a vendor in its own modules and in the registries alone.

    A docstring may have the name of a format, as in ``format="dataworks-json"``: an example has to
    take some format. It may not say anything of the vendor.
    """
    own = {path for pattern in OWN for path in ROOT.glob(pattern.format(vendor=vendor))}
    registries = {ROOT / name for name in REGISTRIES}
    assert own
    assert registries <= {*SEARCHED}
    named = [path for path in SEARCHED if vendor in without_examples(path)]
    assert [str(path.relative_to(ROOT)) for path in named if path not in own | registries] == []
