"""Which values of rows have their column, and which are rescued."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest
from tests.runtime.engines.any_messages import KEYS, every_message

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.carried import text_of_row
from changewire.engines.decode import Decoder
from changewire.engines.elements import one_record
from changewire.engines.typed.fit import Fit
from changewire.engines.typed.own import RowOptions
from changewire.engines.typed.types import field_as_json
from changewire_messages import FORMATS

ID, A = pa.field("id", pa.int64()), pa.field("a", pa.float64())
BLOBS = pa.field("a", pa.list_(pa.binary()))
TEXTS = {"type": "array", "elementType": "string", "containsNull": True}


def fitted(column: pa.Field, after: str, columns: Mapping[str, Any] | None) -> tuple[Any, Any]:
    """Return a value of a column, and what is rescued of its row; `columns` are declared.

    With the native kernel they are as without it.
    """
    text = text_of_row(after, None) if columns is None else json.dumps(columns)
    texts = [pa.array([one]) for one in ('{"id":1}', after, text)]
    fit, python = (Fit([ID], [ID, column], RowOptions(misfits="rescue")) for _ in range(2))
    vars(python)["kernel"] = None
    found: list[tuple[Any, Any]] = []
    for one in (fit, python):
        made = one(*texts)
        assert made.failures == {}
        (row,), (rescued,) = made.content.to_pylist(), made.rescued.to_pylist()
        found.append((row[column.name], rescued))
    assert repr(found[0]) == repr(found[1])  # NaN is like NaN
    return found[0]


@pytest.mark.parametrize("after", ['{"id":1,"A":2,"a":1}', '{"a":1,"A":2,"id":1}'])
def test_the_exact_name_has_the_column(after: str) -> None:
    """Of names that differ in case, that of the column has it, in any order."""
    assert fitted(A, after, None) == (1.0, '{"A":2}')
    assert fitted(A, '{"id":1,"A":2}', None) == (2.0, None)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ('{"id":1,"A":2}', (2.0, None)),
        ('{"id":1,"a":null,"A":2}', (2.0, None)),
        ('{"id":1,"A":2,"a":1}', (1.0, '{"A":2}')),
    ],
)
def test_a_declared_name_without_a_value_takes_no_column(after: str, expected: Any) -> None:
    """Of declared names that differ in case, those of the row decide."""
    assert fitted(A, after, {"id": "long", "a": "double", "A": "double"}) == expected


def test_a_name_like_the_key_is_rescued() -> None:
    """A value whose name differs in case from that of the key is not part of the key."""
    assert fitted(A, '{"id":1,"ID":5}', None) == (None, '{"ID":5}')


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("9007199254740993", "long", None),
        ("9007199254740992", "long", 2.0**53),
        ("9007199254740993", "double", 2.0**53),
        ('"0.10000000000000000001"', "decimal(38,20)", None),
        ('"5"', "application/json", None),
        ("NaN".join('""'), "void", "NaN"),
    ],
)
def test_only_a_type_rounds_numbers(value: str, kind: str, expected: Any) -> None:
    """A number of another type than that of its column is there with all digits, or rescued."""
    found, rescued = fitted(A, f'{{"id":1,"a":{value}}}', {"id": "long", "a": kind})
    assert str(found).lower() == str(expected).lower()
    assert rescued == (f'{{"a":{value}}}' if expected is None else None)


def test_text_in_lists_is_not_read_as_bytes() -> None:
    """Text within a list means what its type says."""
    after = '{"id":1,"a":["QUI="]}'
    bytes_in = {**TEXTS, "elementType": "binary"}
    assert fitted(BLOBS, after, {"a": bytes_in}) == ([b"AB"], None)
    assert fitted(BLOBS, after, {"a": TEXTS}) == (None, '{"a":["QUI="]}')
    assert fitted(BLOBS, after, None) == (None, '{"a":["QUI="]}')


COUNTS = pa.map_(pa.string(), pa.int64())
SHOWN = {"id": "long", "a": "application/json"}


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (COUNTS, '{"k":1,"":null}', [("k", 1), ("", None)]),
        (COUNTS, "{}", []),
        (COUNTS, '{"k":"1"}', None),
        (COUNTS, "[1]", None),
        (pa.list_(COUNTS), '[{"k":1},{}]', [[("k", 1)], []]),
        (pa.map_(pa.string(), COUNTS), '{"x":{"k":1}}', [("x", [("k", 1)])]),
        (pa.map_(pa.string(), pa.string()), '{"k":"1"}', None),
        (pa.map_(pa.int64(), pa.int64()), "[[1,2]]", [(1, 2)]),
        (pa.map_(pa.date32(), pa.int64()), '[["2024-01-02",2]]', None),
    ],
    ids=str,
)
def test_objects_without_a_type_are_maps_of_their_values(
    kind: pa.DataType, value: str, expected: Any
) -> None:
    """The keys of an object are text; only of a map's values, and of other keys, a type says it."""
    rescued = f'{{"a":{value}}}' if expected is None else None
    after = f'{{"id":1,"a":{value}}}'
    assert fitted(pa.field("a", kind), after, SHOWN) == (expected, rescued)


PAIR = {"n": pa.int64(), "s": pa.string()}


def _alone(kind: pa.DataType) -> pa.DataType:
    return kind


def _in_maps(kind: pa.DataType) -> pa.DataType:
    return pa.map_(pa.string(), pa.struct({"p": kind}))


@pytest.mark.parametrize(
    ("within", "value", "expected"),
    [
        (_alone, '{"s":"x","n":1}', {"n": 1, "s": "x"}),
        (pa.list_, '[{"s":"x","n":1},{"n":2}]', [{"n": 1, "s": "x"}, {"n": 2, "s": None}]),
        (
            _in_maps,
            '{"k":{"p":{"s":"x"}}}',
            [("k", {"p": {"n": None, "s": "x"}})],
        ),
    ],
)
def test_fields_have_their_values_by_name(
    within: Callable[[Any], pa.DataType], value: str, expected: Any
) -> None:
    """Types that differ in the order of fields are one, at any depth."""
    column, declared = (
        pa.field("a", within(pa.struct(fields)))
        for fields in (PAIR.items(), reversed(PAIR.items()))
    )
    columns = {"id": "long", "a": field_as_json(declared)["type"]}
    assert fitted(column, f'{{"id":1,"a":{value}}}', columns) == (expected, None)


@pytest.mark.parametrize("format", FORMATS)
def test_columns_have_all_names_of_a_row(format: str) -> None:
    """Each value of a row has its type in `columns`, also if no schema declares it."""
    decoder = Decoder(DecodeOptions(format, key_columns=KEYS.get(format)))
    (record,) = one_record().to_pylist()
    records = [{**record, "value": one} for one in every_message(format)]
    batch = pa.RecordBatch.from_pylist(records, one_record().schema)
    rows = [row for found in decoder(batch) for row in found.to_pylist() if row["after"]]
    assert rows
    for row in rows:
        there = {name for name, one in json.loads(row["after"]).items() if one is not None}
        assert there <= json.loads(row["columns"]).keys()
