"""The formats: built-in ones, and those that other packages bring by an entry point.

A package that ``changewire schema generate`` makes names its formats in the entry point group
`GROUP`: the name of the format, and the module that is its family. It is imported when its format
is first used, or for a message that no built-in format claims.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final

from changewire_messages import ENCODINGS, FORMATS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

GROUP: Final = "changewire.formats"
"""Entry point group of formats."""

RESERVED: Final = frozenset({*FORMATS, "auto", "unknown"})
"""Names that no other package can give a format: ours, and words that are used instead of one."""

_NAME = re.compile(r"[a-z][a-z0-9-]*\Z")
_CONSTANTS: Final = frozenset({"DIGESTS", "ENCODING", "EXACT", "FORMAT", "ROLES"})
_ANEW: Final = "generate its package again with `changewire schema generate` of this version"


class FormatError(ValueError):
    """A format is installed, but cannot be used."""


def formats() -> list[str]:
    """Return the names of all formats, sorted; those of other packages need not be usable."""
    return sorted({*FORMATS, *others()})


def others() -> list[str]:
    """Return the names of the formats that other packages bring, sorted."""
    return sorted(_entry_points())


def package_of(format: str) -> str:
    """Return the import name of the package that is the family of a format."""
    return FORMATS[format] if format in FORMATS else _entry_point(format).value


@cache
def module_of(format: str) -> ModuleType:
    """Return the package that is the family of a format, imported."""
    if format in FORMATS:
        return import_module(FORMATS[format])
    point = _entry_point(format)
    with loading(format):
        module = point.load()
    if not isinstance(module, ModuleType) or not vars(module).keys() >= _CONSTANTS:
        raise FormatError(f"format {format!r}: {point.value} is not a family of messages: {_ANEW}")
    if format != module.FORMAT or module.ENCODING not in ENCODINGS.values():
        raise FormatError(f"format {format!r}: {point.value} is the family of another: {_ANEW}")
    return module


@contextmanager
def loading(format: str) -> Generator[None, None, None]:
    """Turn an exception of another package into a `FormatError`; those of built-in formats pass."""
    try:
        yield
    except FormatError:
        raise
    except Exception as error:
        if format in FORMATS or (isinstance(error, ValueError) and format not in others()):
            raise
        reason = f"{type(error).__name__}: {error}"
        raise FormatError(f"format {format!r} cannot be loaded ({reason}): {_ANEW}") from error


def encoding_of(format: str) -> str:
    """Return how the messages of a format are written: ``json`` or ``msgpack``."""
    encoding: str = ENCODINGS.get(format) or module_of(format).ENCODING
    return encoding


@cache
def format_of(package: str) -> str | None:
    """Return the format whose family a package is; None if it is not a family."""
    mine = (name for name in FORMATS if FORMATS[name] == package)
    return next(mine, None) or next((n for n in others() if _values(n) == {package}), None)


def refused() -> dict[str, str]:
    """Return why names that other packages give to formats cannot be used, by name."""
    return {
        point.name: f"the name {point.name!r} is taken, or no name of a format: {point.value}"
        for point in _points()
        if not _is_free(point.name)
    }


def _entry_point(format: str) -> EntryPoint:
    if format not in _entry_points():
        _entry_points.cache_clear()  # its package may have been installed since
    found = _entry_points().get(format)
    if found is None:
        raise ValueError(f"no format {format!r}; there are: {', '.join(formats())}")
    values = _values(format)
    if len(values) > 1:
        raise FormatError(f"format {format!r} is brought by {' and '.join(sorted(values))}")
    return found[0]


def _points() -> EntryPoints:
    from importlib.metadata import entry_points  # slow to import, and few programs get here

    return entry_points(group=GROUP)


@cache
def _entry_points() -> Mapping[str, tuple[EntryPoint, ...]]:
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in _points():
        if _is_free(point.name):
            found[point.name] = (*found.get(point.name, ()), point)
    return found


def _values(format: str) -> set[str]:
    return {point.value for point in _entry_points()[format]}


def _is_free(name: str) -> bool:
    return name not in RESERVED and _NAME.match(name) is not None
