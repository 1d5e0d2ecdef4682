"""The public API as lines of text: each public name, with its signature as the source has it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, Final, is_typeddict

PUBLIC: Final = {
    "changewire": "changewire",
    "changewire.arrow": "changewire.arrow",
    "changewire.delta": "changewire.delta",
    "changewire.framing": "changewire.framing",
    "changewire.job": "changewire.job",
    "changewire.kafka": "changewire.kafka",
    "changewire.spark": "changewire.spark",
    "changewire.tables": "changewire.tables",
}
"""What users import, and the module that holds it; its ``__all__`` says which names are public."""

_CALLS: Final = frozenset({"__call__", "__init__"})
"""Methods whose signature is how an object is made or used."""


def api() -> list[str]:
    """Return a line for each public name, and for each member of a public class, sorted."""
    found = (
        line
        for shown, module in PUBLIC.items()
        for name in import_module(module).__all__
        for line in _lines(f"{shown}.{name}", getattr(import_module(module), name))
    )
    return sorted(set(found))


def name_of(line: str) -> str:
    """Return the name that a line is about: ``changewire.spark.write``."""
    return line.partition("(")[0].partition(":")[0].strip()


def differences(before: list[str], now: list[str]) -> list[str]:
    """Return what changed between two lists, as lines of a diff, those of one name together."""
    gone = [(name_of(line), f"- {line}") for line in {*before} - {*now}]
    come = [(name_of(line), f"+ {line}") for line in {*now} - {*before}]
    return [text for _, text in sorted(gone + come, key=lambda item: (item[0], item[1][0] == "+"))]


def gone(before: list[str], now: list[str]) -> list[str]:
    """Return the names that are no longer there; of a class that went, without its members."""
    left = {name_of(line) for line in now}
    lost = {name_of(line) for line in before} - left
    return sorted(name for name in lost if name.rpartition(".")[0] not in lost)


def _lines(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, ModuleType):
        yield f"{name}: module"
    elif inspect.isclass(value) and _is_ours(value):
        yield from _class_lines(name, value)
    elif inspect.isfunction(inspect.unwrap(value)):
        yield f"{name}{_signature(_node(inspect.unwrap(value)))}"
    else:
        yield name


def _class_lines(name: str, kind: type) -> Iterator[str]:
    """Yield the class and its members, those too that it inherits from a class of ours."""
    node = _node(kind)
    assert isinstance(node, ast.ClassDef)
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    yield f"{name}: class({bases})"
    seen = set[str]()
    for owner in _bases(kind):
        body = _node(owner)
        assert isinstance(body, ast.ClassDef)
        for member, text in _members(body):
            if member not in seen:
                seen.add(member)
                yield f"{name}.{text}"


def _bases(kind: type) -> Iterator[type]:
    """Yield a class and what it inherits from that is ours; a `TypedDict` forgets its bases."""
    yield from filter(_is_ours, inspect.getmro(kind))
    if is_typeddict(kind):
        node = _node(kind)
        assert isinstance(node, ast.ClassDef)
        bases = [getattr(import_module(kind.__module__), ast.unparse(base)) for base in node.bases]
        for base in filter(is_typeddict, bases):
            yield from _bases(base)


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in {
        "changewire",
        "changewire_library",
        "changewire_messages",
    }


def _members(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield name and text of each public member that stands in the body of a class."""
    for child in node.body:
        if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            name, default = child.target.id, "" if child.value is None else " = ..."
            text = f"{name}: {ast.unparse(_type(child.annotation))}{default}"
        elif isinstance(child, ast.FunctionDef):
            name = child.name
            text = f"{name}{_signature(child)}"
        else:
            continue
        if name in _CALLS or not name.startswith("_"):
            yield name, text


def _type(annotation: ast.expr) -> ast.expr:
    """Return an annotation without what a vendor declares of an option."""
    match annotation:
        case ast.Subscript(slice=ast.Tuple(elts=[kind, ast.Call(func=ast.Name("Declaration"))])):
            return kind
        case _:
            return annotation


def _signature(node: ast.AST) -> str:
    assert isinstance(node, ast.FunctionDef)
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    returns = "" if node.returns is None else ast.unparse(node.returns)
    if {"property", "cached_property"} & decorators:
        return f": {returns}"
    return f"({ast.unparse(node.args)})" + (f" -> {returns}" if returns else "")


def _node(value: Any) -> ast.AST:
    """Return the definition of a class or function, parsed from its source."""
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
