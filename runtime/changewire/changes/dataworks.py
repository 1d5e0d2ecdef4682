"""DataWorks messages to changes: before and after images, with the types declared next to them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from msgspec import UNSET

from changewire.changes import dataworks_schema
from changewire.changes.adapters import Adapter
from changewire.changes.change_row import ChangeRow, unknown_event
from changewire.changes.change_table import BEFORE
from changewire.changes.clocks import on_the_clock, time_zone
from changewire.changes.dataworks_options import DataWorksKeywords
from changewire.changes.dataworks_rows import INT64, TableSchema, table_of
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.identity import is_one_row
from changewire.changes.values import READ_IN_UTC, MismatchError, key_of
from changewire.codec import DecodeError, Issue
from changewire_messages import change
from changewire_messages import dataworks_json as wire
from changewire_messages.dataworks_json import changes
from changewire_messages.support import pointer_token

HIDDEN_KEYS: Final = (
    "#alibaba_rds_row_id#",
    "__#alibaba_rds_row_id#__",
    "_drds_implicit_id_",
)
"""Columns that name the rows of tables without a primary key: those of RDS MySQL and PolarDB-X."""


def key_columns(
    table: TableSchema,
    row: Mapping[str, Any],
    keys: Sequence[str] | None,
    used: list[str],
    issues: list[Issue],
) -> Sequence[str]:
    """Return the columns that name a row; none if nothing says them."""
    if keys is not None:
        return keys
    if table.is_key_declared:
        return table.primary_key
    if not table.primary_key:
        return next(((name,) for name in HIDDEN_KEYS if name in row), ())
    found: list[str] = []
    columns = {*table.readers, *row}
    folded: dict[str, list[str]] = {}
    for place, name in enumerate(table.primary_key):
        if name in columns:
            found.append(name)
            continue
        folded = folded or _folded(columns)  # made once, as a key may have many columns
        fits = folded.get(name.lower(), [])
        if len(fits) == 1:
            used.append("primary-key-case")
            found += fits
        elif table.readers:  # otherwise nothing says which columns there are
            issues.append(_no_column(name, place, fits))
    return found if len(found) == len(table.primary_key) else ()


def _folded(columns: Iterable[str]) -> dict[str, list[str]]:
    """Return columns by their name in lower case: those that differ in case only are together."""
    found: dict[str, list[str]] = {}
    for column in columns:
        found.setdefault(column.lower(), []).append(column)
    return found


def _no_column(name: str, place: int, fits: list[str]) -> Issue:
    several = ", but several differ from it in case only" if fits else ""
    expected = f"the name of a column in /schema/dataColumn{several}"
    return Issue(f"/schema/primaryKey/{place}", "invalid-schema", "primaryKey", expected, name)


_FULL_LOAD: Final = "-1"
_MOST_DIGITS: Final = 19
_LARGEST: Final = 2**63 - 1


def dataworks_changes(
    message: wire.Message, _record_key: bytes | None, options: DecodeOptions
) -> ChangeRow:
    """Return the change or control event that a message is."""
    table = table_of(message.schema_text)
    payload = message.payload
    if isinstance(payload, wire.Other):
        return _other(message, payload, table)
    used: list[str] = []
    op: Any = changes.op(message)
    if op is None:
        return unknown_event(message, changes.SYSTEM)
    is_before = op == BEFORE
    if is_before:
        op = "update"
    issues: list[Issue] = []
    zone_name = options.vendor["time_zone"]
    # Without a zone a date may be the wrong day: it is counted.
    in_utc = () if zone_name else (READ_IN_UTC,)
    before = _row(payload.before, table, "before", used, issues, of_date=in_utc)
    # The row after a delete would bring it back; that of a before-image comes in its own message.
    has_after = not is_before and op != "delete"
    after = _row(payload.after, table, "after", used, issues, of_date=in_utc) if has_after else None
    if zone_name and (zone := time_zone(zone_name)) is not None:
        before = _on_clocks(before, payload.before, zone, used)
        after = _on_clocks(after, payload.after, zone, used)
    row = before if after is None else after
    image = options.image_of(table.source)
    if before and after is not None and image != "full":
        row = {**before, **after}  # the key need not be among what changed
    names = (
        () if row is None else key_columns(table, row, options.keys_of(table.source), used, issues)
    )
    if issues:
        raise DecodeError(wire.FORMAT, issues)
    key = key_of(row, names) if row and names else None
    before_key = key_of(before, names) if op == "update" and key and before else None
    return ChangeRow(
        op=op,
        source=table.source,
        key=key,
        before_key=None if is_one_row(before_key, key) else before_key,
        before=before,
        after=after,
        event_time=changes.event_time(message),
        sequence=_sequence(changes.sequence(message), is_before=is_before),
        ddl=payload.ddl.text or None if payload.ddl else None,
        schema_fingerprint=table.fingerprint,
        attributes=_attributes(message, table, None if row is None else image, used),
    )


def _other(message: wire.Message, payload: wire.Other, table: TableSchema) -> ChangeRow:
    """Return the control event of an operation that is not known; all of it is kept."""
    names = ("before", "after", "sequence_id", "scn", "timestamp", "ddl")
    held = {name: getattr(payload, name) for name in names}
    attributes: dict[str, Any] = {
        **table.attributes,
        "op": str(payload.op),
        "version": message.version,
        "payload": {name: value for name, value in held.items() if value is not UNSET},
    }
    if message.extra is not UNSET:
        attributes["extra"] = dict(message.extra)
    return ChangeRow(
        op="other",
        source=table.source,
        schema_fingerprint=table.fingerprint,
        attributes=attributes,
    )


def _row(
    image: Any,
    table: TableSchema,
    place: str,
    used: list[str],
    issues: list[Issue],
    *,
    of_date: Sequence[str],
) -> dict[str, Any] | None:
    """Return a row with values of the declared types; `of_date` are leniencies of each date."""
    if not image:
        return None
    found: dict[str, Any] = image.data_column.copy()
    kinds = table.kinds
    for name, value in image.data_column.items():
        # Most values stay as they are, which is seen here: a call for each would double the cost.
        kind = kinds.get(name)
        if type(value) is kind and (kind is not int or value in INT64):
            continue
        read = table.readers.get(name)
        if read is None:
            used.append("undeclared-column")
        elif value is not None:
            try:
                found[name] = made = read(value, used)
                if type(made) is datetime:
                    used += of_date
            except MismatchError as error:
                pointer = f"/payload/{place}/dataColumn/{pointer_token(name)}"
                rule = "/schema/dataColumn"
                issues.append(Issue(pointer, "contradicts-schema", rule, str(error), value))
    return found


def _on_clocks(
    row: dict[str, Any] | None, image: Any, zone: ZoneInfo, used: list[str]
) -> dict[str, Any] | None:
    """Return a row in which dates have the offsets of a zone; the image has them as numbers."""
    if row is None:
        return None
    found = row.copy()
    for name, value in row.items():
        if type(value) is datetime:
            found[name] = _on_clock(value, image.data_column[name], zone, used)
    return found


def _on_clock(value: datetime, sent: int, zone: ZoneInfo, used: list[str]) -> datetime | int:
    try:
        return on_the_clock(value, zone, used)
    except OverflowError:
        used.append("time-out-of-range")
        return sent


def _sequence(order: tuple[Any, int] | None, *, is_before: bool) -> change.Sequence | None:
    """Return the order of a change: a before-image comes before its after-image."""
    if order is None:
        return None
    text, _ = order
    if text == _FULL_LOAD:
        return change.Sequence(major=-1, minor=1)
    is_number = len(text) <= _MOST_DIGITS and text.isdigit() and text.isascii()
    major = int(text) if is_number else _LARGEST + 1
    if major > _LARGEST:
        expected = "digits of an integer of 64 bits, or -1"
        issue = Issue("/payload/sequenceId", "wrong-value", "sequenceId", expected, text)
        raise DecodeError(wire.FORMAT, [issue])
    return change.Sequence(major=major, minor=0 if is_before else 1)


def _attributes(
    message: wire.Message, table: TableSchema, row_image: str | None, used: list[str]
) -> dict[str, Any]:
    """Return what only this format has; fields that a message lacks are absent."""
    found = {**table.attributes, **changes.attributes(message)}
    if row_image is not None:
        found["row_image"] = row_image
    if used:
        found["leniencies"] = used
    if message.extra is not UNSET:
        found["extra"] = dict(message.extra)
    return found


ADAPTER: Final = Adapter(
    system=changes.SYSTEM,
    change=dataworks_changes,
    options=frozenset({"row_image", "key_columns", *DataWorksKeywords.__annotations__}),
    reasons={"tombstones": "no document says what its record keys are"},
    schemas=dataworks_schema.DIALECT,
    declared=dataworks_schema.dataworks_declared,
    undeclared=dataworks_schema.dataworks_undeclared,
)
