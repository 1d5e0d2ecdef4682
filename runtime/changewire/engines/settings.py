"""Settings of tables, by the names of their sources or globs of them.

The module loads no library of an extra, as `changewire.engines.options`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypedDict, get_args

from changewire.changes.decode_options import ROW_IMAGES, RowImage
from changewire.changes.sources import by_precedence, matches
from changewire.engines.partitions import Layout, Partition, partition_of
from changewire.engines.typed.sql_types import type_of_text

Misfits = Literal["rescue", "refuse"]
MISFITS: Final[tuple[str, ...]] = get_args(Misfits)
"""Result for a row with a value that does not fit its column, or that has none: the column is NULL
and the value is kept in ``_changewire.rescued``, or the change is refused."""

Deletes = Literal["remove", "flag"]
DELETES: Final[tuple[str, ...]] = get_args(Deletes)
"""What becomes of a deleted row: it is removed, or it stays with its key and a flag."""


class TableSettings(TypedDict, total=False):
    """What is asked of some tables.

    Attributes:
        columns: Types of columns in Spark's SQL, such as ``decimal(12,2)``, by their names or globs
            such as ``*_at``.
        partition_by: Columns that a table is partitioned by, once it is made or rebuilt. Tables of
            Iceberg also have transforms such as ``days(created_at)`` and ``bucket(16, id)``.
        cluster_by: Columns of the liquid clustering of a Delta table, which Spark makes.
        properties: Properties of a table, such as ``delta.enableChangeDataFeed``.
        deletes: As for `apply_changes`.
        misfits: As for `apply_changes`.
        key_columns: Columns that name the rows, as for `apply_changes`, which then has none; a log
            has keys already.
        row_image: As for `apply_changes`; the changes in a log have images already.
    """

    columns: Mapping[str, str]
    partition_by: Sequence[str]
    cluster_by: Sequence[str]
    properties: Mapping[str, str]
    deletes: Deletes
    misfits: Misfits
    key_columns: Sequence[str]
    row_image: RowImage


@dataclass(frozen=True)
class Settings:
    """What is asked of one table.

    Attributes:
        columns: Types in the JSON form of a StructType, by names of columns or globs.
        partition_by: Columns that partition the table, or transforms of them; None if it may have
            any.
        cluster_by: Columns that it is clustered by; None if it may have any.
        properties: Its properties.
        deletes: Fate of its deleted rows.
        misfits: Fate of values that do not fit; None for that of the kind of its rows.
        key_columns: Columns that name its rows; empty if messages say them.
        row_image: Part of a row that writes have as messages say them.
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    partition_by: tuple[Partition, ...] | None = None
    cluster_by: tuple[str, ...] | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    deletes: Deletes = "remove"
    misfits: Misfits | None = None
    key_columns: tuple[str, ...] = ()
    row_image: RowImage = "full"

    @property
    def keeps_deleted(self) -> bool:
        """Whether deleted rows stay in the table."""
        return self.deletes == "flag"

    @property
    def layout(self) -> Layout | None:
        """How the files of the table are laid out; None if any layout will do."""
        if self.partition_by is None and self.cluster_by is None:
            return None
        return Layout(self.partition_by or (), self.cluster_by or ())

    @property
    def laid_out_by(self) -> list[str]:
        """The columns that the table is partitioned or clustered by."""
        return [] if self.layout is None else self.layout.columns

    def types_of(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the types of those of some columns that have one."""
        globs = by_precedence(self.columns)
        found = {name: next((one for one in globs if matches(one, name)), None) for name in names}
        return {name: self.columns[glob] for name, glob in found.items() if glob is not None}


NONE: Final = Settings()
"""Of a table of which nothing is asked."""


class SettingsByTable:
    """Settings of all tables.

    For each setting the pattern counts that says a name most exactly: a name before globs, and a
    longer glob before a shorter one. Mappings, such as `columns`, are merged.
    """

    def __init__(
        self, tables: Mapping[str, TableSettings] | None = None, place: str = "tables"
    ) -> None:
        """Take settings by patterns, as a user gave them at some place.

        Raises:
            ValueError: A setting is unknown, or its value is not valid.
        """
        expected = "names of tables, or globs, with their settings"
        given = _mapping({} if tables is None else tables, place, expected)
        self._settings: dict[str, dict[str, Any]] = {
            pattern: dict(_checked(one, f"{place}: {pattern!r}")) for pattern, one in given.items()
        }

    @property
    def patterns(self) -> list[str]:
        """The patterns, the most exact first."""
        return by_precedence(self._settings)

    def check_format(self, table_format: str) -> None:
        """Check that tables of a format can have what is asked of them.

        Raises:
            ValueError: They cannot.
        """
        transforms = [one for each in self.all_of("partition_by") for one in each if one.transform]
        if transforms and table_format == "delta":
            text = f"partition_by has {transforms[0].transform}: tables of Delta have partitions by"
            raise ValueError(f"{text} columns; add a column, or use cluster_by")
        if self.all_of("cluster_by") and table_format == "iceberg":
            raise ValueError("the setting cluster_by is for Delta; tables of Iceberg have none")

    def all_of(self, setting: str) -> list[Any]:
        """Return all values of a setting."""
        return [one[setting] for one in self._settings.values() if setting in one]

    def by_pattern(self, setting: str) -> dict[str, Any]:
        """Return the values of a setting, by the patterns that have one."""
        return {p: one[setting] for p, one in self._settings.items() if setting in one}

    def of(self, names: Iterable[str], **others: Any) -> Settings:
        """Return the settings of a table, which has a name for each source that feeds it.

        `others` are the settings of tables that have no own ones.
        """
        every = [*names]
        found: dict[str, Any] = {}
        for pattern in self.patterns:
            if any(matches(pattern, name) for name in every):
                for setting, value in self._settings[pattern].items():
                    held = found.setdefault(setting, value)
                    if isinstance(value, dict):
                        found[setting] = {**value, **held}
        return Settings(**{**others, **found})


def _checked(given: Any, place: str) -> Iterable[tuple[str, Any]]:
    """Yield settings with their values as `Settings` has them."""
    for name, value in _mapping(given, place, "settings").items():
        if name not in _CHECKS:
            raise ValueError(f"{place}: no setting {name!r}; there are: {', '.join(_CHECKS)}")
        yield name, _CHECKS[name](value, f"{place}: {name}")


def _mapping(value: Any, place: str, expected: str) -> Mapping[str, Any]:
    """Return a mapping of texts that are not empty."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{place}: expected {expected}, found {value!r}")  # noqa: TRY004 - a value
    for name in value:
        if not isinstance(name, str) or not name:
            raise ValueError(f"{place}: a name is text that is not empty, not {name!r}")
    return value


def _columns(value: Any, place: str) -> dict[str, Any]:
    found = {}
    for name, text in _mapping(value, place, "names of columns with their types").items():
        if not isinstance(text, str):
            raise ValueError(f"{place}: {name!r}: expected a type, found {text!r}")  # noqa: TRY004
        try:
            found[name] = type_of_text(text)
        except ValueError as error:
            raise ValueError(f"{place}: {name!r}: {error}") from None
    return found


def _names(value: Any, place: str) -> tuple[str, ...]:
    is_list = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    if not is_list or not all(isinstance(one, str) and one for one in value):
        raise ValueError(f"{place}: expected a list of columns, found {value!r}")
    if len({*value}) < len(value):
        raise ValueError(f"{place}: a column is named twice in {value!r}")
    return tuple(value)


def _partitions(value: Any, place: str) -> tuple[Partition, ...]:
    return tuple(map(partition_of, _names(value, place)))


def _one_of(*words: str) -> Callable[[Any, str], Any]:
    def check(value: Any, place: str) -> Any:
        if value not in words:
            raise ValueError(f"{place}: {value!r} is not one of: {', '.join(words)}")
        return value

    return check


def _properties(value: Any, place: str) -> dict[str, str]:
    found = _mapping(value, place, "names of properties with their texts")
    for name, text in found.items():
        if not isinstance(text, str):
            raise ValueError(f"{place}: {name!r}: expected text, found {text!r}")  # noqa: TRY004
        if name.startswith(_OWN):
            raise ValueError(f"{place}: {name!r}: properties {_OWN}* are those of changewire")
        if not {*name, *text}.isdisjoint(_QUOTES):
            raise ValueError(f"{place}: {name!r}: a property has no quotes and no backslashes")
    return dict(found)


_OWN: Final = "changewire."
_QUOTES: Final = "'\"\\`"
_CHECKS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "columns": _columns,
    "partition_by": _partitions,
    "cluster_by": _names,
    "properties": _properties,
    "key_columns": _names,
    "deletes": _one_of(*DELETES),
    "misfits": _one_of(*MISFITS),
    "row_image": _one_of(*ROW_IMAGES),
}
"""By the names of settings: what returns a value as `Settings` has it, or raises a ValueError."""
