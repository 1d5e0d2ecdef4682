"""Who imports whom: schemas -> codegen -> generated <- runtime, and nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOUSES = {
    "changewire": ROOT / "runtime" / "changewire",
    "changewire_codegen": ROOT / "codegen" / "changewire_codegen",
    "changewire_messages": ROOT / "generated" / "changewire_messages",
}
FORBIDDEN = {
    "changewire": {"changewire_codegen"},
    "changewire_codegen": {"changewire", "changewire_messages"},
    "changewire_messages": {"changewire", "changewire_codegen"},
}


def imported(path: Path) -> Iterator[str]:
    """Yield the first part of each module that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            yield "."


@pytest.mark.parametrize("house", HOUSES)
def test_imports_follow_the_arrows(house: str) -> None:
    """Generated code needs nothing of ours; generator and runtime do not know each other."""
    files = sorted(HOUSES[house].rglob("*.py"))
    assert files
    found = {f"{path.relative_to(ROOT)}: {name}" for path in files for name in imported(path)}
    assert [item for item in sorted(found) if item.split(": ")[1] in FORBIDDEN[house]] == []


ALLOWED: dict[str, set[str]] = {
    "models": set(),
    "dispatch": set(),
    "validators": set(),
    "extras": set(),
    "leniencies": set(),
    "arrow": {"pyarrow"},
    "spark": {"pyspark", "pyarrow", "pandas"},
    "strategies": {"hypothesis"},
}
"""What the modules of a family may load beyond what all of us need."""

MODULES = [
    (path.parent.name, path.stem)
    for path in sorted(HOUSES["changewire_messages"].glob("*/*.py"))
    if path.stem != "__init__"
]


@pytest.mark.parametrize(("family", "module"), MODULES)
def test_module_loads_only_what_it_is_about(family: str, module: str) -> None:
    """Who reads messages loads no Spark, no Arrow and no Hypothesis."""
    heavy = {"pyspark", "pyarrow", "pandas", "hypothesis", "jsonschema", "changewire"}
    program = (
        f"import sys, changewire_messages.{family}.{module}\n"
        f"print(*({heavy!r} & {{name.partition('.')[0] for name in sys.modules}}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert set(done.stdout.decode().split()) <= ALLOWED[module]
