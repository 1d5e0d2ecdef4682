"""Types of tables, and keys and rows of a log for them: good ones, odd ones and broken ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

import pyarrow as pa

TIMES = (
    '"2024-01-02T03:04:05Z"',
    '"2024-01-02T03:04:05.5+01:00"',
    '"2024-01-02T00:00:00.000000000-19:59:59"',
    '"0001-01-01T00:00Z"',
    '"9999-12-31T23:59:59.999999Z"',
    '"2024-02-29T00:00+00:00"',
)
NUMBERS = ("0", "-1", "7", "0.5", "-2.0", "1.50", "12.34", '"1.5"', '"-0.10"', '"007"')
FITTING: Mapping[pa.DataType, Sequence[str]] = {
    pa.bool_(): ("true", "false"),
    pa.int8(): ("0", "-128", "127"),
    pa.int16(): ("0", "-32768", "32767"),
    pa.int32(): ("1", "-2147483648"),
    pa.int64(): ("9223372036854775807", "-9223372036854775808", "5"),
    pa.float32(): (*NUMBERS, "16777217", "0.1", "340282350000000000.0"),
    pa.float64(): (*NUMBERS, "9007199254740993", "0.1", '"0.30000000000000004"'),
    pa.decimal128(5, 2): (*NUMBERS, "999.99", '"0.010"'),
    pa.decimal128(38, 0): ("99999999999999999999999999999999999999", '"12"', "1.0"),
    pa.decimal128(38, 38): ("0.5", '"0.00000000000000000000000000000000000001"', '"0.0000001"'),
    pa.string(): (
        '""',
        '"é\\n"',
        '"\\u0000"',
        '"a\\/b"',
        '"😀"',
        '{"a": [1, 2.50]}',
        "1.0",
        "true",
    ),
    pa.binary(): ('""', '"QUI="', '"+/8="'),
    pa.date32(): ('"2024-01-02"', '"0001-01-01"', '"9999-12-31"', '"2024-01-02T00:00:00+05:30"'),
    pa.timestamp("us", "UTC"): TIMES,
    pa.timestamp("us"): TIMES,
}
"""Scalar types, and JSON texts of which most fit them."""

_ODD = r"""
1e400 · -0 · -0.0 · 1e5 · 1E-7 · "1E+5" · "1e5" · 0.00001 · 123456789012345678901 · 1e-400 · 2e308
0.1000000000000000055511151231257827 · 1.00000000000000000000000000001 · 3.4028236e38 · 1e39
9007199254740992 · 9007199254740993 · 18446744073709551616 · "NaN" · "Infinity" · "-Infinity" · NaN
01 · 1. · +1 · --1 · - · tru · nul · " 1" · "1_0" · "+1" · "0x1" · "1." · ".5" · "-" · "1.5.2"
"1E400" · "\ud800" · "\udc00\ud800" · "\ud83d\ude00" · "\u00e9" · "\x" · "a · 'a' · "]"
"AB==" · "QUI" · "QU\u0049=" · "QUI=\n" · "Q===" · "QUI=QUI=" · "-_8="
"2024-1-2" · "20240102" · "2024-W01-1" · "2023-02-29" · "0000-01-01" · "2024-01-02 " · "-2024-01-02"
"2024-01-02T03:04:05" · "2024-01-02 03:04:05Z" · "2024-01-02T24:00:00Z" · "2024-01-02T03:04:60Z"
"2024-01-02T03:04:05.1234567Z" · "2024-01-02T03:04:05.123456000Z" · "2024-01-02T03:04:05.Z"
"2024-01-02T03:04:05.1234567890Z" · "2024-01-02T03:04:05+20:00" · "2024-01-02T03:04:05+0100"
"2024-01-02T03:04:05+01" · "2024-01-02T03:04:05+05:60" · "2024-01-02t03:04:05z"
"+2024-01-02T03:04:05Z" · "+12024-01-02T03:04:05Z" · "2024-01-02T03:0é:05Z"
"0001-01-01T00:00:00+00:01" · "9999-12-31T23:59:59-00:01"
{"a":1,"a":2} · {"\u0061":1} · {} · [] · [null] · [1,] · {"A":1} · {"a":{"a":{}}} · {"":null}
[[1,1],[1,2]] · [[1],[2]] · [[null,1]]
"""
ODD = (
    *(text for line in _ODD.splitlines() if line for text in line.split(" · ")),
    *("", '"\t"', '"\u0661"', '"\u0661234-01-02"', "[" * 70 + "]" * 70, "[" * 2000),
)
"""Texts of values that few types take, and texts that are not values."""

_MAP_KEYS = (pa.int64(), pa.bool_(), pa.binary(), pa.date32(), pa.timestamp("us", "UTC"))
_NAMES = ("id", "ID", "a", "b_c", "größe", "GRÖSSE", "\u212a", "k", "İ", "x/y~z", "名", "")
_JSON_TEXT = {"contentMediaType": "application/json"}


class Drawn(NamedTuple):
    """Columns of a table, and changes of a log."""

    key: pa.Schema
    row: pa.Schema
    keys: list[str]
    afters: list[str | None]


def drawn(draw: Random, rows: int) -> Drawn:
    """Return a type, and changes of which most fit it."""
    names = draw.sample(_NAMES, draw.randint(1, 6))
    row = pa.schema([_column(draw, name, levels=2) for name in names])
    key = pa.schema([_column(draw, name, levels=0) for name in names[: draw.randint(1, 3)]])
    keys = [_object(draw, key, oddity=0.03) for _ in range(rows)]
    afters = [None if draw.random() < 0.1 else _object(draw, row, oddity=0.03) for _ in range(rows)]
    return Drawn(key, row, keys, afters)


def _column(draw: Random, name: str, levels: int) -> pa.Field:
    kind = _kind(draw, levels)
    is_json = kind == pa.string() and draw.random() < 0.3
    return pa.field(name, kind, metadata=_JSON_TEXT if is_json else None)


def _kind(draw: Random, levels: int) -> pa.DataType:
    choice = draw.random() if levels else 1.0
    if choice < 0.1:
        return pa.list_(_kind(draw, levels - 1))
    if choice < 0.2:
        return pa.map_(pa.string(), _kind(draw, levels - 1))
    if choice < 0.3:
        return pa.map_(draw.choice(_MAP_KEYS), _kind(draw, levels - 1))
    if choice < 0.4:
        names = draw.sample(_NAMES, draw.randint(1, 3))
        return pa.struct([_column(draw, name, levels - 1) for name in names])
    return draw.choice([*FITTING])


def _object(draw: Random, fields: pa.Schema | pa.StructType, oddity: float) -> str:
    """Return the members of fields in some order; some lack, and some have other names."""
    names = [field.name for field in fields]
    if draw.random() < oddity * 4:
        draw.shuffle(names)
    if draw.random() < oddity:
        names.remove(draw.choice(names))
    kinds = {field.name: field.type for field in fields}
    members = [(name, _value(draw, kinds[name], oddity)) for name in names]
    if draw.random() < oddity * 3:
        name = draw.choice([*_NAMES, '"', "a\nb", *names, *map(str.swapcase, names)])
        members.insert(draw.randint(0, len(members)), (name, draw.choice(ODD[:12])))
    between = draw.choice(["", "", "", " ", "\n\t"])
    parts = [f"{_spelled(draw, name)}{between}:{value}" for name, value in members]
    return f"{between}{{{between}{f',{between}'.join(parts)}{between}}}{between}"


def _spelled(draw: Random, text: str) -> str:
    return json.dumps(text, ensure_ascii=draw.random() < 0.05)


def _value(draw: Random, kind: pa.DataType, oddity: float) -> str:
    if draw.random() < oddity:
        return draw.choice(ODD)
    if draw.random() < oddity:
        return draw.choice(draw.choice([*FITTING.values()]))
    if draw.random() < 0.05:
        return "null"
    if pa.types.is_struct(kind):
        return _object(draw, kind, oddity)
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        return _collection(draw, kind, oddity)
    return draw.choice(FITTING[kind])


def _collection(draw: Random, kind: pa.DataType, oddity: float) -> str:
    count = draw.randint(0, 3)
    inner = kind.value_type if pa.types.is_list(kind) else kind.item_type
    values = [_value(draw, inner, oddity) for _ in range(count)]
    if pa.types.is_list(kind):
        return f"[{','.join(values)}]"
    if kind.key_type == pa.string():
        pairs = zip(draw.sample(_NAMES, count), values, strict=True)
        return f"{{{','.join(f'{_spelled(draw, name)}:{value}' for name, value in pairs)}}}"
    texts = [f"[{_value(draw, kind.key_type, oddity)},{value}]" for value in values]
    return f"[{','.join(texts)}]"
