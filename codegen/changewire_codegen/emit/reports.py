"""What generated checks are made of: their signature, and the lines that report an issue."""

from __future__ import annotations

from changewire_codegen.names import escape_pointer, snake
from changewire_codegen.nodes import Row
from changewire_codegen.writer import Writer

CHECK = "Callable[[Any, str, bool, list[Issue]], None]"
"""Type of a check: value, its JSON Pointer, whether the check is strict, where issues go."""


def signature(name: str) -> str:
    """Return the signature of the check of a definition."""
    return f"_{snake(name)}(value: Any, at: str, strict: bool, out: list[Issue]) -> None"


def report(pointer: str, rule: str, expected: str, actual: str, writer: Writer) -> None:
    """Write the line that adds an issue; ``pointer`` and ``actual`` are expressions."""
    writer(f"out.append(({pointer}, {rule!r}, {expected!r}, {actual}))")


def below(name: str) -> str:
    """Return the expression of the pointer to a child."""
    return f"at + {'/' + escape_pointer(name)!r}"


def refuse_type(writer: Writer) -> None:
    """Write the check that the value is an object."""
    with writer.block("if not is_object(value, at, out):"):
        writer("return")


def refuse_length(row: Row, writer: Writer) -> None:
    """Write the check that the value is an array with as many positions as another."""
    is_open = ", is_open=True" if row.is_open else ""
    with writer.block(f"if not is_row(value, {len(row.positions)}, at, out{is_open}):"):
        writer("return")
