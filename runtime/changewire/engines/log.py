"""The log: one row for each element that was read, the same columns in every engine.

A change or a dead letter may have later rows with its position: a `REFUSED` row says that no table
of a target took the change, a row with a greater ``attempt`` is what a replay made of it, and a
`CLOSED` row closes a dead letter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.elements import decoded_schema
from changewire.engines.errors import OutputError
from changewire.engines.layout import (
    CHANGE,
    CONTROL,
    DEAD_LETTER,
    DECLARED,
    EFFECT,
    MESSAGE,
    OWN_COLUMNS,
    RECORD_COLUMNS,
    RECORD_PLACE,
    REJECTION_COLUMNS,
)
from changewire.tables.routing import Refusal
from changewire.version import VERSION

REFUSED: Final = "refused"
"""Kind of a row that says why a table refused a change."""

CLOSED: Final = "closed"
"""Kind of a row that closes a dead letter whose message was mended elsewhere."""

ATTEMPT: Final = "attempt"
"""Column: 0 when an element is landed, and one more for each replay of it."""

TARGET: Final = "target"
"""Column: the target whose tables refused a change, as a template; NULL in other rows. It is NULL
in refusals of earlier versions too, which count for every target."""

_ENDS: Final = (*REJECTION_COLUMNS, "record_key", "value", *RECORD_COLUMNS, "version", ATTEMPT)

LOG_COLUMNS: Final = ("kind", *OWN_COLUMNS, "leniencies", "element", *_ENDS, TARGET)
"""Columns of a log of changes, control events and dead letters."""

MESSAGE_LOG_COLUMNS: Final = ("kind", "variant", "content", "leniencies", "element", *_ENDS)
"""Columns of a log of messages as they are."""

CLOSING: Final = {"userMetadata": "changewire: dead letters are closed"}
"""What a commit of Delta says that has rows of this kind alone, which no table needs."""

CLOSED_BY: Final[Mapping[str, Mapping[str, int | None]]] = {
    DEAD_LETTER: {CHANGE: None, CONTROL: None, MESSAGE: None, CLOSED: 0, DEAD_LETTER: 1},
    REFUSED: {CHANGE: 1, REFUSED: 1},
}
"""Kinds of rows that close others with their position, and how much greater their attempt is at
least; None: whatever it is. A message that could not be read has one dead letter, of its first
element; any element that it turns out to have closes it."""

ELEMENT_PLACE: Final = (*RECORD_PLACE, "element")
"""Columns that tell one element from all others."""

_OFFSET, _NUMBER = map(ELEMENT_PLACE.index, ("offset", "number"))

_PRIME: Final = 1_000_003
"""Makes one number of the numbers of a place; large ones wrap around."""

HELD: Final = ("kind", *ELEMENT_PLACE, "key", "value", ATTEMPT)
"""Columns of a log that say whether it has an element."""

EFFECTIVE: Final = (
    *("op", "source", "key", "before_key", "before", "after", "sequence", "attributes"),
)
"""Columns of a change from which its effect on rows follows."""

READ: Final = ("kind", *EFFECTIVE, EFFECT, DECLARED, *ELEMENT_PLACE)
"""Columns of a log that are read to look for changes."""

MERGE_COLUMNS: Final = (*READ, ATTEMPT)
"""Columns of a log from which tables are made."""

ADDED: Final = (EFFECT, DECLARED, TARGET)
"""Columns that logs of earlier versions lack."""

STATISTICS: Final = (
    *("event_time", "timestamp", "partition", "offset", "path", "number"),
    "sequence.major",
)
"""Columns that Delta keeps statistics of, by which queries skip files: those that grow from file to
file. Most others are text, of which statistics cost much and let little be skipped."""

STATISTICS_OPTION: Final = "delta.dataSkippingStatsColumns"
"""Property of a Delta table that names them."""


def check_free(path: str) -> None:
    """Refuse a folder with files that no log of Delta has: readers would take them for it."""
    names = sorted(one.name for one in Path(path).glob("*"))
    found = [name for name in names if not name.startswith((".", "_"))]
    if found and "_delta_log" not in names:
        raise OutputError(
            f"{path}: expected a log of Delta or an empty folder, found {found[0]!r} (logs of "
            f"Parquet files, as earlier versions wrote them, can only be read); choose another "
            "output folder"
        )


def log_schema(decoded: pa.Schema | None = None) -> pa.Schema:
    """Return the columns of the log of decoded rows; by default those with rows of JSON text."""
    fields = {field.name: field for field in decoded or decoded_schema()}
    own = {"version": pa.string(), ATTEMPT: pa.int32(), TARGET: pa.string()}
    fields |= {name: pa.field(name, kind) for name, kind in own.items()}
    names = MESSAGE_LOG_COLUMNS if "content" in fields else LOG_COLUMNS
    return pa.schema([fields[name] for name in names])


def columns_of_log(names: Iterable[str]) -> pa.Schema:
    """Return some columns of a log."""
    schema = log_schema()
    return pa.schema([schema.field(name) for name in names])


def placed(rows: pa.Table) -> pa.Table:
    """Return the rows of a log that have a position."""
    return rows.filter(pc.or_(pc.is_valid(rows["offset"]), pc.is_valid(rows["number"])))


def log_rows(rows: pa.Table) -> pa.Table:
    """Return decoded rows with the columns of a log; without attempts, they are the first ones."""
    is_dead = pc.equal(rows["kind"], DEAD_LETTER)
    version = pc.if_else(is_dead, pa.scalar(VERSION), pa.scalar(None, pa.string()))
    found: dict[str, Any] = {"version": version, TARGET: pa.nulls(len(rows), pa.string())}
    if ATTEMPT not in rows.column_names:
        found[ATTEMPT] = pa.repeat(pa.scalar(0, pa.int32()), len(rows))
    return _named(found, rows)


def refused_rows(rows: pa.Table, refused: Mapping[int, Refusal], target: str) -> pa.Table:
    """Return the rows that say why a target refuses changes, by their numbers in rows of a log."""
    numbers = sorted(refused)
    found = rows.take(pa.array(numbers, pa.int64()))
    texts = {
        "kind": [REFUSED] * len(numbers),
        "code": [refused[number].code for number in numbers],
        "pointer": [refused[number].pointer for number in numbers],
        "message": [refused[number].text for number in numbers],
        TARGET: [target] * len(numbers),
    }
    return _named({name: pa.array(column, pa.string()) for name, column in texts.items()}, found)


def closing(by: str, why: str) -> dict[str, str | None]:
    """Return the columns of rows that close dead letters, in which they differ from these.

    The message says who closes them, and why; the bytes are not repeated.
    """
    if not by.strip() or not why.strip():
        raise ValueError("closing a dead letter needs who does it (`by`) and the reason (`why`)")
    nothing = dict.fromkeys(("record_key", "value", "byte_offset", "reasons"))
    return {"kind": CLOSED, "message": f"{by}: {why}", "version": VERSION, **nothing}


def lacking(rows: pa.Table, held: Iterable[pa.Table]) -> pa.Table:
    """Return the elements of decoded rows that a log does not have, each once, with attempts.

    The log is given by its columns of `HELD`. An element of which it has dead letters alone, closed
    or not, is a later attempt, unless it is a dead letter of the same bytes: its file was repaired,
    or it is read in another way. So is a change with a key that the log has without one. An element
    without a position no log has.
    """
    codes = _codes(rows)
    near = [part.filter(pc.is_in(_codes(part), codes, skip_nulls=True)) for part in held]
    if not any(map(len, near)) and pc.count_distinct(codes).as_py() == len(rows):
        return rows.append_column(ATTEMPT, pa.repeat(pa.scalar(0, pa.int32()), len(rows)))
    places = [*places_of(rows)]
    found, letters, keyless = _held(near, {*places})
    numbers: list[int] = []
    attempts: list[int] = []
    for number, place in enumerate(places):
        known = letters.get(place, {})
        is_letter = bool(known) and rows["kind"][number].as_py() == DEAD_LETTER
        if place in found or (is_letter and rows["value"][number].as_py() in known):
            continue
        if place in keyless and rows["key"][number].as_py() is None:
            continue
        found.add(place)
        numbers.append(number)
        attempts.append(max([*known.values(), keyless.get(place, -1)]) + 1)
    new = rows if len(numbers) == len(rows) else rows.take(pa.array(numbers, pa.int64()))
    return new.append_column(ATTEMPT, pa.array(attempts, pa.int32()))


def _codes(rows: pa.Table) -> pa.ChunkedArray:
    """Return a number of each element, which those with one place share; NULL without a place."""
    partition = pc.coalesce(rows["partition"], pa.scalar(0, pa.int32()))
    codes = pc.coalesce(rows["offset"], rows["number"])
    for other in (partition, rows["element"]):
        codes = pc.add(pc.multiply(codes, _PRIME), other)
    return codes


def _held(
    parts: Iterable[pa.Table], wanted: Collection[Any]
) -> tuple[set[Any], dict[Any, dict[Any, int]], dict[Any, int]]:
    """Return the places of some that a log has, and those that a later attempt may close.

    These are places of dead letters, with their bytes and attempts, and of changes without keys,
    with their attempts.
    """
    found, letters, keyless = set[Any](), dict[Any, dict[Any, int]](), dict[Any, int]()
    for part in parts:
        is_dead = pc.is_in(part["kind"], pa.array([DEAD_LETTER, CLOSED]))
        is_keyless = pc.equal(part["kind"], CHANGE)
        if "key" in part.column_names:  # logs of messages have neither changes nor keys
            is_keyless = pc.and_(is_keyless, pc.is_null(part["key"]))
        is_final = pc.invert(pc.or_(is_dead, is_keyless))
        found.update(place for place in places_of(part.filter(is_final)) if place in wanted)
        for row, place in _at(part.filter(is_dead), wanted):
            letters.setdefault(place, {})[row["value"]] = row[ATTEMPT]
        for row, place in _at(part.filter(is_keyless), wanted):
            keyless[place] = row[ATTEMPT]
    return found, letters, keyless


def _at(rows: pa.Table, wanted: Collection[Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the rows at some places, each with its place."""
    every = zip(rows.select(["value", ATTEMPT]).to_pylist(), places_of(rows), strict=True)
    return ((row, place) for row, place in every if place in wanted)


def places_of(rows: pa.Table) -> Iterator[Any]:
    """Yield what `place_of` returns of each row."""
    found = zip(*(rows[name].to_pylist() for name in ELEMENT_PLACE), strict=True)
    return (object() if one[_OFFSET] is None and one[_NUMBER] is None else one for one in found)


def place_of(row: Mapping[str, Any]) -> Any:
    """Return the identity of an element; one without a place differs from all others."""
    return tuple(row[name] for name in ELEMENT_PLACE) if is_placed(row) else object()


def is_placed(row: Mapping[str, Any]) -> bool:
    """Whether a row has a position."""
    return row["offset"] is not None or row["number"] is not None


def _named(columns: Mapping[str, Any], rows: pa.Table) -> pa.Table:
    """Return rows with the columns of a log, some of which are given."""
    schema = log_schema(rows.schema)
    found = {name: columns[name] if name in columns else rows[name] for name in schema.names}
    return pa.table(found, schema)
