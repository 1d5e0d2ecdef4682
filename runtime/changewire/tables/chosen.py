"""Which tables of the source are applied: globs of their names."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from msgspec import Struct

from changewire.changes.sources import matches

_SHOWN: Final = 20
"""Names of tables that are kept at most."""


class Chosen(Struct, frozen=True):
    """The tables of the source that are applied, by globs of their `dotted` names.

    ``*`` means any text and ``?`` one character; the case of letters counts.

    Attributes:
        only: Tables that are applied; all of them without any.
        excepted: Those of them that are left out.

    Raises:
        ValueError: A glob is empty, or is given twice.
    """

    only: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the globs."""
        for name, globs in (("only_tables", self.only), ("except_tables", self.excepted)):
            if "" in globs:
                raise ValueError(f"{name}: the name of a table is not empty")
            for glob in globs:
                if globs.count(glob) > 1:
                    raise ValueError(f"{name}: {glob!r} is given twice")

    @property
    def are_all(self) -> bool:
        """Whether no table is left out."""
        return not self.only and not self.excepted

    def has(self, name: str) -> bool:
        """Whether the table with a `dotted` name is applied."""
        return self.are_all or _has(self, name)


def chosen_tables(only: Iterable[str] | None, excepted: Iterable[str] | None) -> Chosen:
    """Return the tables that the options `only_tables` and `except_tables` choose.

    Raises:
        ValueError: A glob is not valid, or an option has none.
        TypeError: An option is a text.
    """
    found: list[tuple[str, ...]] = []
    for name, globs in (("only_tables", only), ("except_tables", excepted)):
        if isinstance(globs, str):
            raise TypeError(f"{name} is a list of names such as 'shop.*', not {globs!r}")
        found.append(() if globs is None else tuple(globs))
        if globs is not None and not found[-1]:
            raise ValueError(f"{name} has no name; leave it out to apply all tables")
    return Chosen(*found)


class SeenTables:
    """The tables that changes had so far.

    Attributes:
        unmatched_only: Globs of `Chosen.only` that none of them has matched.
        unmatched_excepted: Those of `Chosen.excepted`.
    """

    def __init__(self, chosen: Chosen) -> None:
        """Begin without a table."""
        self._names: set[str] = set()
        self.unmatched_only: list[str] = [*chosen.only]
        self.unmatched_excepted: list[str] = [*chosen.excepted]

    @property
    def names(self) -> list[str]:
        """The first of them, sorted."""
        return sorted(self._names)

    def add(self, names: Iterable[str]) -> None:
        """Add tables by their `dotted` names."""
        for name in sorted(names):
            if len(self._names) < _SHOWN:
                self._names.add(name)
            for globs in (self.unmatched_only, self.unmatched_excepted):
                globs[:] = [glob for glob in globs if not matches(glob, name)]


@lru_cache(maxsize=1024)
def _has(chosen: Chosen, name: str) -> bool:
    if chosen.only and not any(matches(glob, name) for glob in chosen.only):
        return False
    return not any(matches(glob, name) for glob in chosen.excepted)
