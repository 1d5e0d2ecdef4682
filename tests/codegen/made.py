"""The modules of a family, made in memory and not formatted."""

from __future__ import annotations

import json
import keyword
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from changewire_codegen.load import family_of
from changewire_codegen.nodes import Family
from changewire_codegen.render import EMITTERS, OF_TABLES

SHARED = "changewire_messages"
"""The package whose shared modules these modules use."""

NAMES = (
    *keyword.kwlist,
    *keyword.softkwlist,
    *("this is x", "x is not y", "a in b", "a not in b", "not (x)", "is not UNSET", "not not"),
    *("a == b", "!=", ">=", "<", "x or y", " and ", "(", ")", "x) or (y", ":=", "lambda: 0", "{x}"),
    *("it's", "''", "'''", "#", "%s", "value", "UNSET", "type(value) in (int, float) or ", "None]"),
)
"""Python words, operators, quotes and parts of what is generated; double quotes are refused."""

NAME = "made_in_memory"
META = {"title": "Samples", "description": "Samples.", "encoding": "json"}


def family_with(*schemas: Mapping[str, Any], **meta: Any) -> Family:
    """Return the family of some schemas, whose files have no names of their own."""
    files = {f"sample_{i}.json": schema for i, schema in enumerate(schemas)}
    texts = {"family.json": {**META, **meta}, **files}
    return family_of(NAME, {file: json.dumps(text).encode() for file, text in texts.items()})


@contextmanager
def imported(family: Family, *names: str) -> Generator[list[Any]]:
    """Yield generated modules of a family by their names, each after those that it imports.

    ``__init__`` is the package itself.
    """
    package = f"{SHARED}.{family.name}"
    paths = [package if name == "__init__" else f"{package}.{name}" for name in names]
    modules = {path: ModuleType(path) for path in dict.fromkeys([package, *paths])}
    sys.modules.update(modules)
    found = [modules[path] for path in paths]
    try:
        for name, module in zip(names, found, strict=True):
            emitters = OF_TABLES if family.kind == "tables" else EMITTERS
            source = emitters[f"{name}.py"](family, SHARED)
            exec(compile(source, f"<{name}>", "exec"), module.__dict__)  # noqa: S102 - what we generated
            setattr(modules[package], name, module)
        yield found
    finally:
        for path in modules:
            del sys.modules[path]
