"""What the sources of the library do not do: run data, or reach out."""

from __future__ import annotations

import ast
from typing import NamedTuple

import pytest
from tests.runtime.test_imports import root_of

RUNS_TEXT = {"__import__", "compile", "eval", "exec"}
READS_OBJECTS = {"ctypes", "dill", "marshal", "pickle", "shelve", "yaml"}
REACHES_OUT = {"asyncio", "ftplib", "http", "requests", "smtplib", "socket", "subprocess", "urllib"}
KNOWN = {
    ("changewire/engines/interrupts.py", "subprocess"),
    ("changewire/engines/kafka_options.py", "socket"),
    ("changewire/engines/spark/python.py", "subprocess"),
    ("changewire/jobs/checks.py", "subprocess"),
}
"""Which module ends the Java that Spark has started, connects to servers, asks the Python of
workers for its packages, and asks Java for its version."""


class Uses(NamedTuple):
    """Functions that a file calls by a bare name, and the first names of what it imports."""

    calls: set[str]
    modules: set[str]


@pytest.fixture(scope="module")
def sources() -> dict[str, Uses]:
    """What each file of the library and of the generated code uses."""
    return {
        path.relative_to(root_of(package).parent).as_posix(): uses(path.read_bytes())
        for package in ("changewire", "changewire_messages")
        for path in root_of(package).rglob("*.py")
    }


def uses(source: bytes) -> Uses:
    """Return what a source uses."""
    found = Uses(set(), set())
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=name)):
                found.calls.add(name)
            case ast.Import(names=names):
                found.modules.update(alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module)):
                found.modules.add(module.partition(".")[0])
            case _:
                pass
    return found


def test_nothing_runs_data(sources: dict[str, Uses]) -> None:
    """No text is evaluated, and no object is read back that could run code when it is."""
    for name, (calls, modules) in sources.items():
        assert not calls & RUNS_TEXT, name
        assert not modules & READS_OBJECTS, name


def test_sockets_and_programs_are_where_they_are_known(sources: dict[str, Uses]) -> None:
    """Four modules connect to something, start something, or end what Spark has started."""
    reaching = {
        (name, module) for name, used in sources.items() for module in used.modules & REACHES_OUT
    }
    assert reaching == KNOWN


def test_what_is_looked_for_is_found() -> None:
    """A source that does what ours do not is told."""
    found = uses(b"import pickle as p\nfrom urllib.request import urlopen\ndef f(): eval('1')\n")
    assert found == Uses({"eval"}, {"pickle", "urllib"})
