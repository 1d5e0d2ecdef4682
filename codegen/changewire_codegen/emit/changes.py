"""``changes.py`` of a family: the changes of its messages, by its change table."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Final

from changewire_codegen.change_table import ChangeTable, Path, change_table
from changewire_codegen.names import python_name
from changewire_codegen.nodes import Family
from changewire_codegen.writer import Writer, module

_PLACES: Final = ("database", "schema", "table")
_TIMES: Final = (-62_135_596_800_000_000, 253_402_300_800_000_000)
"""Microseconds since the Unix epoch of the first time that a model can have, and after the last."""


def changes(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    table = change_table(family)
    del package
    writer = module("Parts of changes in messages", family, "from msgspec import UNSET")
    writer(f"SYSTEM: Final = {table.system!r}")
    writer('"""System that writes the messages."""')
    writer(f"OPS: Final[Mapping[object, str]] = {table.ops!r}")
    writer('"""Operation of a change for each value of the tag."""')
    writer(f"_UNKNOWN: Final = {(*table.unknown, None)!r}")
    with writer.block("def op(message: Any) -> str | None:"):
        writer.docstring("Return the operation of a message; None if its variant has none.")
        writer(f"return OPS.get({_value(table.op, is_sure=False)})")
    with writer.block("def event_time(message: Any) -> int | None:"):
        writer.docstring(
            "Return when the source changed, in microseconds; None if it is not known."
        )
        writer(f"value = {_value(table.event_time)}")
        with writer.block("if value is UNSET or value in _UNKNOWN:"):
            writer("return None")
        writer(f"time: int = value * {table.unit}")
        writer(f"return time if {_TIMES[0]} <= time < {_TIMES[1]} else None")
    major, minor = [*map(_value, table.sequence), "0"][:2]
    with writer.block("def sequence(message: Any) -> tuple[Any, Any] | None:"):
        writer.docstring("Return the place of a change among others; None if a message has none.")
        writer(f"value = {major}")
        with writer.block("if value is UNSET or value in _UNKNOWN:"):
            writer("return None")
        writer(f"return value, {minor} or 0" if minor != "0" else "return value, 0")
    everything = [*table.source.values(), *table.attributes.values()]
    for part in dict.fromkeys(["", *(path.part for path in everything)]):
        _places(writer, table, part)
    return writer.text()


def _places(writer: Writer, table: ChangeTable, part: str) -> None:
    """Write what is read of a message, or of a part of it that is also read by itself."""
    holder, end = (python_name(part), f"_of_{part}") if part else ("message", "")

    def kept(paths: Mapping[str, Path]) -> dict[str, tuple[Path, str]]:
        own = {n: p for n, p in paths.items() if (p.part == part if part else not p.is_apart)}
        return {name: (path, _value(path, holder, part)) for name, path in own.items()}

    source, attributes = kept(table.source), kept(table.attributes)
    if source:
        with writer.block(f"def source{end}({holder}: Any) -> tuple[Any, Any, Any]:"):
            writer.docstring("Return database, schema and table of a row.")
            found = [source[place][1] if place in source else "None" for place in _PLACES]
            writer(f"return {', '.join(found)}")
    with writer.block(f"def attributes{end}({holder}: Any) -> dict[str, Any]:"):
        writer.docstring("Return the attributes of a change, without those that a message lacks.")
        always = [*takewhile(lambda name: attributes[name][0].is_always, attributes)]
        held = f"{{{', '.join(f'{name!r}: {attributes[name][1]}' for name in always)}}}"
        if len(always) == len(attributes):
            writer(f"return {held}")
            return
        writer(f"found = {held}")
        for name, (_, value) in [*attributes.items()][len(always) :]:
            with writer.block(f"if (value := {value}) is not UNSET:"):
                writer(f"found[{name!r}] = value")
        writer("return found")


def _value(path: Path, holder: str = "message", part: str = "", *, is_sure: bool = True) -> str:
    """Return the expression of a value; UNSET if it may be missing."""
    steps = [prop.wire for prop in path.steps]
    names = [prop.name for prop in path.steps[steps.index(part) + 1 if part else 0 :]]
    if path.is_sure and is_sure:
        return ".".join([holder, *names])
    for name in names:
        holder = f"getattr({holder}, {name!r}, UNSET)"
    return holder
