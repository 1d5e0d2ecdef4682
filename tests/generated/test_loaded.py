"""What the modules of generated code load: who reads messages loads no Spark and no Arrow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

PACKAGE: Final = Path(__file__).parents[2] / "generated" / "changewire_messages"
HEAVY: Final = {"pyspark", "pyarrow", "pandas", "hypothesis", "jsonschema", "changewire"}
MODULES: Final[Mapping[tuple[str, ...], set[str]]] = {
    (
        "models",
        "changes",
        "dispatch",
        "validators",
        "extras",
        "fields",
        "leniencies",
        "values",
    ): set(),
    ("arrow",): {"pyarrow"},
    ("spark",): {"pyspark", "pyarrow", "pandas"},
    ("strategies",): {"hypothesis"},
}
"""The modules of a family, and what they may load beyond what all modules need."""


def test_the_modules_are_known() -> None:
    """Each generated module of a family is in the table."""
    found = {path.stem for path in PACKAGE.glob("*/*.py")} - {"__init__"}
    assert found == {name for names in MODULES for name in names}


@pytest.mark.parametrize("names", MODULES, ids=lambda names: names[0])
def test_modules_load_only_what_they_are_about(names: tuple[str, ...]) -> None:
    """One interpreter for all families: what one of them loads too much is found in any case."""
    paths = sorted(path for name in names for path in PACKAGE.glob(f"*/{name}.py"))
    modules = [f"changewire_messages.{path.parent.name}.{path.stem}" for path in paths]
    program = (
        f"import sys, {', '.join(modules)}\n"
        f"print(*({HEAVY!r} & {{name.partition('.')[0] for name in sys.modules}}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert set(done.stdout.decode().split()) <= MODULES[names]
