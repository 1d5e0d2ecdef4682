"""Names of sources, the globs that match them, and options of sources by these globs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar

from changewire_messages.change import Source

NO_TABLE: Final = "(no table)"

_ANY: Final = "*"

_Value = TypeVar("_Value")

KeysByTable: TypeAlias = Mapping[str, Sequence[str]]
"""Columns that name rows, by names of sources or globs of them."""


def dotted(source: Source) -> str:
    """Return the name of a source for people: database, schema and table, as far as they are known.

    Unlike a target's name it is not quoted: two sources may have one.
    """
    names = (source.database, source.schema, source.table)
    return ".".join(name for name in names if name) or NO_TABLE


def matches(glob: str, name: str) -> bool:
    """Whether a glob matches a whole name: ``*`` means any text and ``?`` one character."""
    return _pattern(glob).fullmatch(name) is not None


def ordered_keys(given: Sequence[str] | KeysByTable | None) -> list[tuple[str, list[str]]]:
    """Return globs and the columns of keys; the first glob that matches a name counts."""
    if not isinstance(given, Mapping):
        return [] if given is None else [(_ANY, [*given])]
    return [(name, [*given[name]]) for name in by_precedence(given)]


def ordered_images(given: str | Mapping[str, str]) -> list[tuple[str, str]]:
    """Return globs and images of rows; the first glob that matches a name counts."""
    by_name = given if isinstance(given, Mapping) else {_ANY: given}
    return [(name, by_name[name]) for name in by_precedence(by_name)]


def first_match(ordered: Iterable[tuple[str, _Value]], source: Source) -> _Value | None:
    """Return what the first glob has that matches a source; None if none does."""
    name = dotted(source)
    return next((value for glob, value in ordered if matches(glob, name)), None)


def by_precedence(globs: Iterable[str]) -> list[str]:
    """Return globs in the order in which they count for a name that several match.

    A name comes before globs, and a longer glob before a shorter one.
    """
    return sorted(globs, key=lambda glob: (_is_glob(glob), -len(glob)))


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


@lru_cache(maxsize=1024)
def _pattern(glob: str) -> re.Pattern[str]:
    # Not by `.*`, which takes long to find that a long name of a message does not match.
    return re.compile(translate(glob.replace("[", "[[]")))
