"""Messages as topics may have them, damaged ones among them, and what tables hold of them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from tests.runtime.codec.formats import FORMATS, role_of, wire_of
from tests.runtime.tables.model import tables_of, without_waiting
from tests.support.mutations import mutated_json, mutated_msgpack

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.arrow.messages import opener
from changewire.tables import ChangePosition, PositionedChange
from changewire.tables.keys import key_text
from changewire.tables.names import safe_name

EXAMPLES = Path(__file__).parents[3] / "examples"
KEYS = {"lindorm-json": ["id"]}
"""Columns of the key, for formats whose messages do not name them."""

_FEW = 60
_KEY = "key of the row"

Rows = dict[str, dict[str, Any]]
"""Rows by the text of their key."""

Content = dict[str, Rows]
"""Rows of tables, by the name of the table's folder."""


@cache
def captured(format: str) -> list[bytes]:
    """Return the corpus of a format, good and bad messages, and some of each file of examples."""
    some = (values[:: max(1, len(values) // _FEW)] for values in _examples(format))
    return [*_corpus(format), *chain.from_iterable(some)]


def every_message(format: str) -> list[bytes]:
    """Return the corpus of a format, good and bad messages, and all examples."""
    return [*_corpus(format), *chain.from_iterable(_examples(format))]


def _corpus(format: str) -> list[bytes]:
    return [
        wire_of(path)
        for kind in ("valid", "invalid")
        for path in FORMATS[format].golden(kind)
        if role_of(path) in {"message", "batch"}
    ]


def _examples(format: str) -> Iterator[list[bytes]]:
    """Yield the messages of each file of examples."""
    for file in sorted((EXAMPLES / format.replace("-", "_")).iterdir()):
        read, _ = opener(str(file), "auto")
        yield [value for batch in read() for value in batch.column("value").to_pylist() if value]


@cache
def mutated(format: str, number: int, seed: int = 1) -> list[bytes]:
    """Return mutated messages of a format, made of good ones."""
    good = [value for value in captured(format) if not cw.validate(value, format=format)]
    mutate = mutated_msgpack if "msgpack" in format else mutated_json
    return [*mutate(good, number, seed)]


@dataclass(frozen=True)
class Read:
    """Messages of one partition, and what Python reads of them.

    Attributes:
        format: Their format.
        messages: The messages, by their offsets.
        befores_wait: Whether before images that came alone delete nothing.
        named_by: Name of the source that tables have.
    """

    format: str
    messages: Sequence[bytes]
    befores_wait: bool = False
    named_by: str = "database"

    def elements(self) -> Iterator[tuple[ChangePosition, cw.Change | cw.Rejection]]:
        """Yield what becomes of each element."""
        decode_options = DecodeOptions(self.format, key_columns=KEYS.get(self.format))
        for offset, message in enumerate(self.messages):
            for number, (found, _) in enumerate(decode_options.elements(message)):
                yield ChangePosition("topic", 0, offset, number), found

    def unordered(self, key: Callable[[cw.Change, Any], Any]) -> set[str]:
        """Return the keys of rows with changes whose order the model does not know."""
        return {
            key(found, names)
            for _, found in self.elements()
            if isinstance(found, cw.Change) and found.sequence is None
            for names in (found.key, found.before_key)
            if names is not None
        }

    def content(self, dead: set[ChangePosition], key: Callable[[cw.Change, Any], Any]) -> Content:
        """Return the rows of every table.

        Args:
            dead: Dead letters, which have no part in it.
            key: Returns the key of a change as text, by the change and its key.
        """
        changes: list[PositionedChange] = []
        for position, found in self.elements():
            if isinstance(found, cw.Rejection) or position in dead:
                continue
            changes.append(PositionedChange(_simple(found, key), position))
        if self.befores_wait:
            changes = without_waiting(changes)
        changes = [replace(one, change=self._of_table(one.change)) for one in changes]
        return {
            table: {row.pop(_KEY): row for row in rows.values()}
            for table, rows in tables_of(changes, truncates=True).items()
        }

    def table_of(self, change: cw.Change) -> str:
        """Return the name of the table of a change."""
        return safe_name(getattr(change.source, self.named_by) or "")

    def _of_table(self, change: cw.Change) -> cw.Change:
        """Return a change whose table has the name of its target."""
        return replace(change, source=replace(change.source, table=self.table_of(change)))


def _simple(change: cw.Change, key: Callable[[cw.Change, Any], Any]) -> cw.Change:
    """Return a change whose key is one text."""
    if change.key is None:
        return change
    after = None if change.after is None else {**change.key, **change.after}
    old = change.before_key and {_KEY: key(change, change.before_key)}
    return replace(change, key={_KEY: key(change, change.key)}, before_key=old, after=after)


def json_key(change: cw.Change, key: Any) -> str:
    """Return the key of a table of JSON text."""
    del change
    return key_text(key)


def json_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as its JSON text has it."""
    return dict(msgspec.json.decode(msgspec.json.encode(row)))


def json_contents(sent: Read, dead: set[ChangePosition]) -> Content:
    """Return what tables of JSON text should hold."""
    return {
        name: {key: json_row(row) for key, row in rows.items()}
        for name, rows in sent.content(dead, json_key).items()
    }


def without(content: Content, keys: set[str]) -> Content:
    """Return tables without some rows, and no empty ones."""
    left = {
        name: {key: row for key, row in rows.items() if key not in keys}
        for name, rows in content.items()
    }
    return {name: rows for name, rows in left.items() if rows}


def as_column(value: Any, kind: Any, metadata: Mapping[str, Any] | None = None) -> Any:
    """Return what a column of a Spark type holds of a value, said as plainly as can be."""
    if value is None:
        return None
    if (metadata or {}).get("contentMediaType") == "application/json":
        return msgspec.json.encode(value).decode()
    return _COLUMNS.get(kind.typeName(), lambda value, _: value)(value, kind)


def _text(value: Any, _: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, int, float, list, dict)):
        return msgspec.json.encode(value).decode()
    return str(msgspec.to_builtins(value))


def _whole(value: Any, _: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _single(value: Any, _: Any) -> float:
    return float(struct.unpack("f", struct.pack("f", float(value)))[0])


_COLUMNS: Mapping[str, Callable[[Any, Any], Any]] = {
    "array": lambda value, kind: [as_column(one, kind.elementType) for one in value],
    "decimal": lambda value, _: Decimal(str(value)),
    "double": lambda value, _: float(value),
    "float": _single,
    "integer": _whole,
    "long": _whole,
    "map": lambda value, kind: {k: as_column(v, kind.valueType) for k, v in value.items()},
    "string": _text,
    "struct": lambda value, kind: {
        f.name: as_column(value.get(f.name), f.dataType) for f in kind.fields
    },
}


def typed_row(row: Mapping[str, Any], columns: Any) -> dict[str, Any]:
    """Return a row as a table of columns has it, without what is NULL."""
    found = {f.name: as_column(row.get(f.name), f.dataType, f.metadata) for f in columns.fields}
    return {name: value for name, value in found.items() if value is not None}


def collected(row: Any) -> dict[str, Any]:
    """Return a row that Spark collected, without what is NULL; its times have a zone."""
    return {
        name: _plain(value)
        for name, value in row.asDict(recursive=True).items()
        if value is not None
    }


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc)
    return bytes(value) if isinstance(value, bytearray) else value


def text_of(names: Iterable[str], row: Mapping[str, Any]) -> str:
    """Return some columns of a row as text."""
    return repr([(name, row.get(name)) for name in sorted(names)])


def differences(found: Content, expected: Content) -> list[str]:
    """Return the first rows in which tables differ from what they should be."""
    texts: list[str] = []
    for table in sorted({*found, *expected}):
        mine, theirs = found.get(table, {}), expected.get(table, {})
        texts += [
            f"{table}: {key}: {mine.get(key)!r}, not {theirs.get(key)!r}"
            for key in sorted({*mine, *theirs})
            if mine.get(key) != theirs.get(key)
        ]
    return texts[:3]
