"""``import changewire`` loads nothing else; each public name brings its module when it is used."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

import changewire as cw
from changewire_messages import families

LATE = {"importlib.metadata", "msgspec", "changewire_messages.support", "changewire.codec"}
LATER = {"importlib.metadata", "changewire.changes", "changewire.convert", "changewire.infer"}


def printed(code: str) -> str:
    """Return what a fresh process prints."""
    command = [sys.executable, "-c", code]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("use", "not_loaded"),
    [("cw", LATE), ("cw.decode(b'{}', format='lindorm-json')", LATER)],
    ids=["import", "decode"],
)
def test_a_program_loads_what_it_uses(use: str, not_loaded: set[str]) -> None:
    """An import brings names alone, and a decode the codec and one family of models."""
    code = f"import sys\nimport changewire as cw\ntry: {use}\nexcept cw.DecodeError: pass\n"
    assert printed(f"{code}print(sorted({not_loaded} & set(sys.modules)))") == "[]"


def test_type_checkers_see_what_programs_get() -> None:
    """The imports for type checkers are of the same names, from the same modules."""
    nodes = ast.parse(Path(str(cw.__file__)).read_text(encoding="utf-8")).body
    checked = next(node for node in nodes if isinstance(node, ast.If))
    names = {"__version__", *families.__all__}
    for statement in checked.body:
        assert isinstance(statement, ast.ImportFrom)
        if statement.module == families.__name__ or statement.names[0].asname:
            continue  # the packages of the formats, which are compared by their list
        for alias in statement.names:
            names.add(alias.name)
            module = __import__(str(statement.module), fromlist=[alias.name])
            assert getattr(cw, alias.name) is getattr(module, alias.name), alias.name
    assert names == {*cw.__all__}


def test_all_names_are_listed() -> None:
    """``dir`` and a star have every public name, also before its first use."""
    assert {*cw.__all__} <= {*dir(cw)}
    code = "import changewire; print(set(changewire.__all__) <= set(dir(changewire)))"
    assert printed(code) == "True"
    assert printed("from changewire import *; print(decode.__name__)") == "decode"


FUNCTIONS = ("changes", "codec", "convert", "explain", "infer")


@pytest.mark.parametrize(
    ("first", "names"),
    [
        *((first, FUNCTIONS) for first in ("changewire", "changewire.engines.decode")),
        *((f"changewire.{name}", (name,)) for name in FUNCTIONS),
    ],
)
def test_a_function_wins_over_the_package_of_its_name(first: str, names: Sequence[str]) -> None:
    """Whatever was imported before, the name is the function, and the package can be imported."""
    for_one = (
        "import {first}, changewire as cw, sys\nprint(cw.{name}.__name__)\n"
        "from changewire.{name} import __name__ as package\nprint(package, cw.{name}.__name__)\n"
    )
    code = "".join(for_one.format(first=first, name=name) for name in names)
    expected = [[name, f"changewire.{name}", name] for name in names]
    assert printed(code).split() == [word for words in expected for word in words]


@pytest.mark.parametrize("name", cw.__all__)
def test_what_is_public_can_be_pickled(name: str) -> None:
    """Processes hand functions and classes to each other by name."""
    value = getattr(cw, name)
    if not isinstance(value, ModuleType):
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own


def test_other_names_are_no_attributes() -> None:
    """A name that is not there is the error that it is for every module."""
    with pytest.raises(AttributeError, match="module 'changewire' has no attribute 'decoed'"):
        _ = cw.decoed
    with pytest.raises(ImportError, match="cannot import name 'decoed'"):
        exec("from changewire import decoed")  # noqa: S102 - as a program says it
