"""Families to the text of every generated file."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from changewire_codegen.bundle import bundle_text
from changewire_codegen.emit.changes import changes
from changewire_codegen.emit.columns import arrow, arrow_types, fields, rows, spark
from changewire_codegen.emit.dispatch import dispatch
from changewire_codegen.emit.kernel import KERNEL_FILE, kernel_table
from changewire_codegen.emit.leniencies import leniencies
from changewire_codegen.emit.models import models
from changewire_codegen.emit.package import (
    USED,
    extras,
    families_module,
    family_init,
    package_init,
    shared_modules,
)
from changewire_codegen.emit.page import page
from changewire_codegen.emit.strategies import strategies
from changewire_codegen.emit.validators import validators
from changewire_codegen.emit.values import known_values, values
from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import Family

Emitter = Callable[[Family, str], str]

EMITTERS: Mapping[str, Emitter] = {
    "__init__.py": family_init,
    "arrow.py": arrow,
    "extras.py": extras,
    "fields.py": fields,
    "leniencies.py": leniencies,
    "models.py": models,
    "spark.py": spark,
    "strategies.py": strategies,
    "validators.py": validators,
}
"""The modules of a family."""

OF_TABLES: Mapping[str, Emitter] = {
    "__init__.py": family_init,
    "arrow.py": arrow_types,
    "fields.py": fields,
    "models.py": models,
    "spark.py": spark,
}
"""The modules of a family of tables."""

# Neither the configuration nor the folders of whoever runs the generator may change what it writes.
RULES = ["--isolated", "--no-cache", "--quiet", "--config=line-length=100", "--config=exclude=[]"]
TARGET = ["--config=target-version='py310'", "--config=src=[]"]
FIXES = "F401,I001,UP034,E701,Q"


def render(families: Sequence[Family], package: str, *, is_project: bool = False) -> dict[str, str]:
    """Return the text of every file of a generated package, by path below the package.

    The same families give the same bytes, on any machine and in any order of hashing.

    Args:
        families: Those in the package.
        package: Its import name.
        is_project: Whether it is next to the package of the runtime, which uses it.

    Raises:
        SchemaError: A family has the name of a module that the package has.
    """
    shared = USED if is_project else (*USED, "bundles", "forms", "hooks")
    sources = {"__init__.py": package_init(families, package), **shared_modules(shared)}
    if not is_project:
        sources["families.py"] = families_module(families, package)
    for family in families:
        if f"{family.name}.py" in sources:
            raise SchemaError(family.name, "", "the package has a module of this name already")
        for name, emit in _emitters(family, is_project=is_project).items():
            sources[f"{family.name}/{name}"] = emit(family, package)
    files = {"py.typed": "", **formatted(sources, package)}
    for family in families:
        files[f"schemas/{family.name}.json"] = bundle_text(family)
        if family.format is not None:
            files[f"{family.name}/{KERNEL_FILE}"] = kernel_table(family)
    return dict(sorted(files.items()))


def render_pages(families: Sequence[Family]) -> dict[str, str]:
    """Return the reference page of each family, by file name."""
    return {f"{family.name}.md": page(family) for family in families}


def _emitters(family: Family, *, is_project: bool) -> Mapping[str, Emitter]:
    """Return what emits the modules of a family, by file name."""
    if family.kind == "tables":
        return OF_TABLES
    found = dict(EMITTERS)
    if family.encoding == "msgpack":
        found["dispatch.py"] = dispatch
    if "change" in family.meta:
        found["changes.py"] = changes
    if known_values(family):
        found["values.py"] = values
    if is_project and family.format is None:  # the runtime, which uses it, is there
        found["rows.py"] = rows
    return found


def formatted(sources: Mapping[str, str], package: str) -> dict[str, str]:
    """Return modules with unused imports gone, imports sorted, and formatted."""
    own = f"--config=lint.isort.known-first-party={json.dumps([package])}"
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        # One run for all modules: starting ruff takes longer than its work.
        _ruff("check", *RULES, *TARGET, own, "--fix", "--exit-zero", f"--select={FIXES}", folder)
        _ruff("format", *RULES, *TARGET, folder)
        return {name: Path(folder, name).read_bytes().decode() for name in sources}


def _ruff(*arguments: str) -> None:
    command = [sys.executable, "-m", "ruff", *arguments]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own command line
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace"))
