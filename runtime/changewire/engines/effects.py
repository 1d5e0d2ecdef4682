"""The effects of the changes of a log on rows of tables, and keys that are named later."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from changewire.changes.change_row import ChangeRow
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.identity import is_one_row
from changewire.changes.values import key_of
from changewire.engines.arrays import indices_of
from changewire.engines.carried import with_carried
from changewire.engines.layout import CHANGE, DECLARED, EFFECT
from changewire.tables.keys import key_text
from changewire.tables.mutations import RowMutation, effect_of, mutations
from changewire.tables.order import ChangePosition
from changewire_messages.change import Sequence, Source

_SEQUENCE: Final = ("major", "minor")

_READ: Final = ("op", "source", "before", "after", "sequence", "attributes")

_KEYED: Final = ("key", "before_key", EFFECT)
"""Columns that follow from the columns of a key."""

_decode: Final = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode
_raw: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def with_effects(rows: pa.Table) -> pa.Table:
    """Return rows of a log with the effects of changes that were landed before logs had them.

    The keys of these changes are written again, by `key_text`. Where messages declare no columns,
    they are those that the values show.
    """
    rows = with_carried(rows) if DECLARED in rows.column_names else rows
    lacks = pc.and_(pc.equal(rows["kind"], CHANGE), pc.is_null(rows[EFFECT]))
    if not pc.any(lacks).as_py():
        return rows
    found: dict[str, list[Any]] = {n: rows[n].to_pylist() for n in _KEYED}
    for place in indices_of(lacks):
        change = logged_change(rows.slice(place, 1).to_pylist()[0])
        found[EFFECT][place] = effect_of(change)
        for name in ("key", "before_key"):
            key = getattr(change, name)
            found[name][place] = None if key is None else key_text(key)
    return _with_texts(rows, found)


def with_keys(rows: pa.Table, options: DecodeOptions) -> pa.Table:
    """Return changes of a log without keys with those that options name now, and with effects.

    Changes that get no key are left out.
    """
    found = [_keyed(row, options) for row in rows.select([*_READ]).to_pylist()]
    kept = rows.filter(pa.array([one is not None for one in found], pa.bool_()))
    texts = {name: [one[n] for one in found if one] for n, name in enumerate(_KEYED)}
    return _with_texts(kept, texts)


def _with_texts(rows: pa.Table, columns: Mapping[str, list[Any]]) -> pa.Table:
    """Return rows with other texts in some of their columns."""
    for name, texts in columns.items():
        place, field = rows.column_names.index(name), rows.field(name).with_type(pa.string())
        rows = rows.set_column(place, field, pa.array(texts, pa.string()))
    return rows


def _keyed(row: dict[str, Any], options: DecodeOptions) -> tuple[str | None, ...] | None:
    """Return the columns `_KEYED` of a change; None if it has no key."""
    names = options.keys_of(Source(**row["source"])) or ()
    before, after = (json_object(row[name]) or {} for name in ("before", "after"))
    # Messages may leave out what did not change, so the key need not be in one image.
    images = (after or before, {**before, **after})
    key = next(filter(None, (key_of(one, names) for one in images)), None)
    if key is None:
        return None
    left = key_of(before, names) if row["op"] == "update" else None
    texts = key_text(key), None if left is None or is_one_row(left, key) else key_text(left)
    change = logged_change({**row, **dict(zip(_KEYED, texts, strict=False))})
    return (*texts, effect_of(change))


def names_of(key: str, before: str | None, after: str | None) -> list[str]:
    """Return the columns that a patch sets or removes, by the texts of its key and images."""
    known = _raw(key).keys()
    images = [{} if text is None else _raw(text) for text in (after, before)]
    return [*dict.fromkeys(name for one in images for name in one if name not in known)]


def effects_of_logged(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the effects of a change on rows of tables, by its row in a log."""
    return _rows_of(logged_change(row))


def logged_change(row: Mapping[str, Any]) -> ChangeRow:
    """Return a change by its row in a log; whole rows are not read."""
    attributes, sequence = json_object(row["attributes"]) or {}, row["sequence"]
    read = _is_there if attributes.get("row_image", "full") == "full" else json_object
    return ChangeRow(
        op=row["op"],
        source=Source(**row["source"]),
        key=json_object(row["key"]),
        before_key=json_object(row["before_key"]),
        before=read(row["before"]),
        after=read(row["after"]),
        sequence=None if sequence is None else Sequence(**sequence),
        attributes=attributes,
    )


def json_object(text: str | None) -> dict[str, Any] | None:
    """Return an object of JSON text with exact numbers; None for None."""
    return None if text is None else _decode(text)


def _is_there(text: str | None) -> dict[str, Any] | None:
    return None if text is None else {}


def _rows_of(change: ChangeRow) -> list[dict[str, Any]]:
    """Return the effects of a change on rows as columns of ``RowMutation``."""
    return [
        {
            "key": key_text(one.key),
            "kind": one.kind,
            "sequence": dict(zip(_SEQUENCE, one.sequence, strict=True)) if one.sequence else None,
            "names": [*one.values] if one.kind == "patch" else None,
        }
        for one in mutations(change)
    ]


def mutation_of(row: Mapping[str, Any], values: Mapping[str, Any]) -> RowMutation:
    """Return a mutation that is in a row, without key and identity, by which its caller groups.

    Args:
        row: ``kind``, ``names``, the position of the change, and its ``sequence``, or ``major`` and
            ``minor``.
        values: Columns of the row after the change; None for what is null.
    """
    kind, found = row["kind"], row.get("sequence", row)
    if kind == "patch":
        given = {name: values.get(name) for name in row["names"]}
        values = {name: UNSET if one is None else one for name, one in given.items()}
    sequence = () if found is None or found["major"] is None else (found["major"], found["minor"])
    return RowMutation(
        key={},
        identity=(),
        kind=kind,
        values=values,
        sequence=sequence,
        position=ChangePosition(row["topic"], row["partition"], row["offset"], row["element"]),
    )
