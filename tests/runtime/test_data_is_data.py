"""What the sources of the library do not do: run data, or reach out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.runtime.test_imports import imports, root_of

RUNS_TEXT = {"__import__", "compile", "eval", "exec"}
READS_OBJECTS = {"ctypes", "dill", "marshal", "pickle", "shelve", "yaml"}
REACHES_OUT = {"asyncio", "ftplib", "http", "requests", "smtplib", "socket", "subprocess", "urllib"}
KNOWN = {("changewire/engines/servers.py", "socket"), ("changewire/job.py", "subprocess")}
"""Which module connects to the servers that it was given, and which asks Java for its version."""


def sources() -> Iterator[tuple[str, Path]]:
    """Yield name and path of each file of the library and of the generated code."""
    for package in ("changewire", "changewire_messages"):
        for path in root_of(package).rglob("*.py"):
            yield path.relative_to(root_of(package).parent).as_posix(), path


def modules(path: Path) -> set[str]:
    """Return the first names of the modules that a file imports."""
    return {name.partition(".")[0] for name in imports(path)}


def test_nothing_runs_data() -> None:
    """No text is evaluated, and no object is read back that could run code when it is."""
    for name, path in sources():
        calls = (n.func for n in ast.walk(ast.parse(path.read_bytes())) if isinstance(n, ast.Call))
        assert not {f.id for f in calls if isinstance(f, ast.Name)} & RUNS_TEXT, name
        assert not modules(path) & READS_OBJECTS, name


def test_sockets_and_programs_are_where_they_are_known() -> None:
    """Two modules connect to something or start something."""
    found = {(name, module) for name, path in sources() for module in modules(path) & REACHES_OUT}
    assert found == KNOWN
