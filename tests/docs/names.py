"""The names that our sources bind, and the references to names in docstrings and on pages.

A reference is one of these:

- in a docstring, what stands in single backticks and is an identifier, or several with dots between
  them (`Writer`, `codec.wire.Wire`, `decode()`); values, options and names of other programs have
  two backticks;
- in a docstring, each name before the colon of an entry below ``Raises:``, ``Args:`` or
  ``Attributes:``;
- on a page, what stands in backticks outside of blocks, if it is a class name with two humps or
  more (`DecodeError`, `Change.key`), or begins with ``cw.`` or a package of ours.

Sources are parsed and never imported.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tests.docs.pages import ROOT

SEEN_BY: Final = {
    "codegen": ("codegen",),
    "runtime": ("runtime", "generated"),
    "examples": ("examples", "runtime", "generated"),
    "benchmarks": ("benchmarks", "examples", "runtime", "generated", "codegen", "tests"),
    "tests": ("tests", "benchmarks", "examples", "runtime", "generated", "codegen"),
}
"""The folders whose names a docstring may use, by the folder that it is in."""

KNOWN: Final = frozenset({*dir(builtins), *sys.stdlib_module_names})

_DOTTED: Final = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_IN_DOCSTRING: Final = re.compile(rf"(?<![`\w])`({_DOTTED})(?:\(\))?`(?!`)")
_SECTION: Final = re.compile(r"^( *)(Args|Attributes|Raises):\n((?:\1 +.*\n?|\n)+)", re.MULTILINE)
_ENTRY: Final = re.compile(rf"({_DOTTED}(?:, {_DOTTED})*):(?: |$)")
_BLOCK: Final = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_CLASS: Final = r"[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+"
_OURS: Final = (
    r"(?:cw|changewire|changewire_messages|changewire_library|changewire_codegen)\.[A-Za-z_]\w*"
)
_ON_PAGE: Final = re.compile(
    rf"(?<![`\w])`((?:{_OURS}|{_CLASS})(?:\.[A-Za-z_]\w*)*)(?:\([^`\n]*\))?`(?!`)"
)


class Reference(NamedTuple):
    """A name that a text uses.

    Attributes:
        line: Where it stands, from 1; in a docstring, where that begins.
        section: ``Args``, ``Attributes`` or ``Raises`` for an entry of one; else empty.
        name: Identifiers, with dots between them.
        owner: What has the docstring; None on a page.
    """

    line: int
    section: str
    name: str
    owner: ast.AST | None = None


@dataclass(frozen=True)
class Source:
    """A parsed file.

    Attributes:
        bound: Every name that it binds.
        foreign: Names of what it imports from packages that are not ours.
    """

    tree: ast.Module
    bound: set[str]
    foreign: set[str]


@cache
def source(path: Path) -> Source:
    """Parse a file."""
    return source_of(ast.parse(path.read_bytes()))


def source_of(tree: ast.Module) -> Source:
    """Return what a parsed file binds."""
    foreign = set[str]()
    ours = {
        "changewire",
        "changewire_messages",
        "changewire_library",
        "changewire_codegen",
        *SEEN_BY,
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None)
            for alias in node.names:
                if (module or alias.name).partition(".")[0] not in ours:
                    foreign.add((alias.asname or alias.name).partition(".")[0])
    return Source(tree, bound_in(tree), foreign)


def bound_in(tree: ast.AST) -> set[str]:
    """Return every name that a tree defines, imports or assigns, at any depth."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add((other or name).partition(".")[0])
            case _:
                pass
    return found


@cache
def names_in(folder: str) -> frozenset[str]:
    """Return every name that the files of a folder bind, and those of its modules and packages."""
    found = {folder}
    for path in ROOT.joinpath(folder).rglob("*.py"):
        found |= source(path).bound | {*path.relative_to(ROOT).with_suffix("").parts}
    return frozenset(found)


def visible_from(folder: str) -> frozenset[str]:
    """Return the names that docstrings of a folder may use."""
    return KNOWN.union(*map(names_in, SEEN_BY[folder]))


def in_docstrings(tree: ast.Module) -> Iterator[Reference]:
    """Yield the references of all docstrings of a file, also of those below attributes."""
    for owner in ast.walk(tree):
        if not isinstance(owner, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        for i, statement in enumerate(owner.body):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    for name in _IN_DOCSTRING.findall(text):
                        yield Reference(statement.lineno, "", name, owner)
                    if i == 0:
                        yield from _entries(text, statement.lineno, owner)
                case _:
                    pass


def _entries(text: str, line: int, owner: ast.AST) -> Iterator[Reference]:
    for _, section, body in _SECTION.findall(text):
        lines = [row for row in body.splitlines() if row.strip()]
        depth = min(len(row) - len(row.lstrip()) for row in lines)
        for row in lines:
            found = _ENTRY.match(row[depth:])
            for name in found[1].split(", ") if found else ():
                yield Reference(line, section, name, owner)


def on_page(text: str) -> Iterator[Reference]:
    """Yield the references of a page in Markdown."""
    prose = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)
    for found in _ON_PAGE.finditer(prose):
        yield Reference(prose.count("\n", 0, found.start()) + 1, "", found[1])


def documented_by(owner: ast.AST, section: str) -> set[str] | None:
    """Return the names that a section of a docstring may have; None if it is no such owner.

    These are the arguments of a function or of a class, and the attributes of a class.
    """
    match owner:
        case ast.FunctionDef(args=a):
            listed = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
            return {arg.arg for arg in listed if arg is not None} if section == "Args" else None
        case ast.ClassDef(bases=bases):
            parents = [base.id for base in bases if isinstance(base, ast.Name)]
            above = [node for name in parents for node in classes().get(name, ())]
            return bound_in(owner).union(*(documented_by(node, section) or () for node in above))
        case _:
            return None


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    """Return every class of ours by its name, which several may have."""
    found: dict[str, list[ast.ClassDef]] = {}
    for folder in (*SEEN_BY, "generated"):
        for path in ROOT.joinpath(folder).rglob("*.py"):
            for node in ast.walk(source(path).tree):
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, []).append(node)
    return found
