"""Columns of JSON text as columns of a table, with the native kernel and without it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from math import inf, nan
from typing import Any

import pyarrow as pa
import pytest

from changewire.engines.typed.fit import Fit, FittedColumns
from changewire.engines.typed.own import RowOptions
from changewire.tables.routing import Refusal

UTC = timezone.utc
INT, DOUBLE, SINGLE, TEXT = pa.int64(), pa.float64(), pa.float32(), pa.string()
BYTES, DATE, TIME, CLOCK = pa.binary(), pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("us")
PAIRS = pa.map_(pa.int64(), pa.string())
STRUCT = pa.struct([pa.field("n", pa.int64()), pa.field("at", TIME)])
JSON_TEXT = {"contentMediaType": "application/json"}
MISFIT = "(does not fit)"
"""Stands for a value that does not fit."""

MakeFit = Callable[..., Fit]


@pytest.fixture(params=["kernel", "python"])
def make(request: pytest.FixtureRequest) -> MakeFit:
    """Return what makes a `Fit`, with the kernel if it is installed, or without it."""

    def made(*args: Any, **options: Any) -> Fit:
        fit = Fit(*args, **options)
        if request.param == "python":
            vars(fit)["kernel"] = None
        elif fit.kernel is None:
            pytest.skip("the native kernel is not installed")
        return fit

    return made


def _in_utc(content: Any) -> Any:
    """Return a content whose times are in the UTC of Python."""
    if isinstance(content, dict):
        return {name: _in_utc(value) for name, value in content.items()}
    is_time = isinstance(content, datetime) and content.tzinfo is not None
    return content.astimezone(UTC) if is_time else content


def fitted(fit: Fit, keys: Sequence[str], afters: Sequence[str | None]) -> FittedColumns:
    """Return the columns of changes."""
    return fit(pa.array(keys, pa.string()), pa.array(afters, pa.string()))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (INT, "-9223372036854775808", -(2**63)),
        (INT, "9223372036854775808", MISFIT),
        (INT, "1.0", MISFIT),
        (INT, '"1"', MISFIT),
        (INT, "true", MISFIT),
        (INT, "-0", 0),
        (pa.int8(), "128", MISFIT),
        (pa.bool_(), "false", False),
        (pa.bool_(), "0", MISFIT),
        (DOUBLE, "-0.0", -0.0),
        (DOUBLE, "1e22", 1e22),
        (DOUBLE, '"1.50"', 1.5),
        (DOUBLE, '"NaN"', nan),
        (DOUBLE, '"-Infinity"', -inf),
        (DOUBLE, "9007199254740992", 2.0**53),
        (DOUBLE, "1e400", MISFIT),
        (DOUBLE, '" 1"', MISFIT),
        (SINGLE, "0.1", 0.10000000149011612),
        (SINGLE, "1e39", MISFIT),
        (pa.decimal128(5, 2), '"1.500"', Decimal("1.50")),
        (pa.decimal128(5, 2), "-999.99", Decimal("-999.99")),
        (pa.decimal128(5, 2), "1.001", MISFIT),
        (pa.decimal128(5, 2), "1000", MISFIT),
        (pa.decimal128(5, 2), "1e1", Decimal("10.00")),
        (TEXT, '"a\\u0000\\ud83d\\ude00\\/"', "a\0😀/"),
        (TEXT, "1.50", "1.5"),
        (TEXT, '{ "b" : [1, "é"], "a" : null }', '{"b":[1,"é"],"a":null}'),
        (TEXT, "123456789012345678901234567890", "123456789012345678901234567890"),
        (BYTES, '"QUI="', b"AB"),
        (BYTES, '"QUI"', MISFIT),
        (BYTES, '"+\\/8="', b"\xfb\xff"),
        (DATE, '"2024-02-29"', date(2024, 2, 29)),
        (DATE, '"2024-02-29T00:00:00+09:00"', date(2024, 2, 29)),
        (DATE, '"2024-02-29T00:00:01Z"', MISFIT),
        (DATE, '"2023-02-29"', MISFIT),
        (DATE, '"0000-01-01"', MISFIT),
        (TIME, '"2024-01-02T03:04:05.5+01:00"', datetime(2024, 1, 2, 2, 4, 5, 500_000, UTC)),
        (TIME, '"2024-01-02T03:04-00:00:30"', datetime(2024, 1, 2, 3, 4, 30, 0, UTC)),
        (TIME, '"2024-01-02T03:04:05.123456000Z"', datetime(2024, 1, 2, 3, 4, 5, 123_456, UTC)),
        (TIME, '"2024-01-02T03:04:05.123456700Z"', MISFIT),
        (TIME, '"2024-01-02T03:04:05"', MISFIT),
        (TIME, '"2024-01-02T24:00:00Z"', MISFIT),
        (TIME, '"0001-01-01T00:00:00+00:01"', MISFIT),
        (TIME, "1704164645", MISFIT),
        (CLOCK, '"2024-01-02T03:04:05+01:00"', datetime(2024, 1, 2, 3, 4, 5)),  # noqa: DTZ001
        (CLOCK, '"0001-01-01T00:00:00+00:01"', datetime(1, 1, 1)),  # noqa: DTZ001
        (pa.list_(DOUBLE), '[1,null,"2.5"]', [1.0, None, 2.5]),
        (pa.list_(DOUBLE), '{"a":1}', MISFIT),
        (
            pa.map_(TEXT, DATE),
            '{"a":"2024-01-02","b":null}',
            [("a", date(2024, 1, 2)), ("b", None)],
        ),
        (PAIRS, '[[1,"a"],[2,[3]]]', [(1, "a"), (2, "[3]")]),
        (PAIRS, '[[1,"a"],[1,"b"]]', MISFIT),
        (PAIRS, '[[null,"a"]]', MISFIT),
        (STRUCT, '{"at":"2024-01-02T00:00Z"}', {"n": None, "at": datetime(2024, 1, 2, tzinfo=UTC)}),
        (STRUCT, '{"n":1,"m":2}', MISFIT),
        (STRUCT, '{"N":1}', MISFIT),
        (TEXT, '"\\ud800"', MISFIT),
        (TEXT, "NaN", MISFIT),
        (TEXT, "[1,]", MISFIT),
        (TEXT, "null", None),
    ],
    ids=str,
)
def test_values(make: MakeFit, kind: pa.DataType, text: str, value: object) -> None:
    """The text of a value becomes the content of a column exactly, or does not fit."""
    fit = make([pa.field("id", INT)], [pa.field("id", INT), pa.field("c", kind)])
    found = fitted(fit, ['{"id":1}'] * 3, ['{"id":1}', f'{{"id":1,"c":{text}}}', None])
    rows = found.content.to_pylist()
    assert (rows[0], rows[2]) == ({"id": 1, "c": None}, None)
    if value is MISFIT:
        assert [*found.failures] == [1]
    else:
        assert not found.failures
        content = rows[1]["c"]
        # NaN is like NaN, -0.0 is not like 0.0, and Arrow has a UTC of its own.
        assert repr(_in_utc(content)) == repr(value)


@pytest.mark.parametrize(
    ("kind", "text", "written"),
    [
        (INT, "5", "5"),
        (INT, "5.0", None),
        (DOUBLE, "5", "5"),
        (DOUBLE, "-0.0", "0"),
        (DOUBLE, "1.50", "1.5"),
        (DOUBLE, "1e22", "1" + "0" * 22),
        (DOUBLE, '"1.5"', None),
        (DOUBLE, "9007199254740993", None),
        (SINGLE, "0.1", "0.10000000149011612"),
        (pa.decimal128(9, 4), '"1.5000"', "1.5"),
        (pa.decimal128(9, 4), "100", "100"),
        (pa.decimal128(9, 9), '"0.000000100"', "1E-7"),
        (TEXT, '"\\u00e9\\/\\""', '"é/\\""'),
        (TEXT, "[1.0, 2]", '"[1.0,2]"'),
        (BYTES, '"QUI="', '"QUI="'),
        (BYTES, '"+\\/8="', '"+/8="'),
        (DATE, '"2024-01-02T00:00Z"', '"2024-01-02"'),
        (TIME, '"2024-01-02T03:04:05.5+01:00"', '"2024-01-02T02:04:05.500000Z"'),
        (CLOCK, '"2024-01-02T03:04+01:00"', '"2024-01-02T03:04:00"'),
        (pa.bool_(), "true", "true"),
        (pa.bool_(), "null", "null"),
    ],
    ids=str,
)
def test_keys(make: MakeFit, kind: pa.DataType, text: str, written: str | None) -> None:
    """A key is written again from its columns, in the order of their names."""
    fit = make([pa.field("é", INT), pa.field("a", kind)], [pa.field("a", kind)])
    found = fitted(fit, [f' {{"é":1,"a":{text}}}'], [None])
    if written is None:
        assert found.failures[0].code == "schema-mismatch"
    else:
        assert found.key.to_pylist() == [f'{{"a":{written},"é":1}}']
        assert found.named.to_pylist()[0]["é"] == 1


@pytest.mark.parametrize("key", ['{"id":1,"x":2}', "{}", '{"ID":1}', '{"id":"1"}', "[]", "{", ""])
def test_keys_that_do_not_fit(make: MakeFit, key: str) -> None:
    """A key has all columns of the table's key, by their exact names, and no others."""
    fit = make([pa.field("id", INT)], [pa.field("id", INT)])
    found = fitted(fit, ['{"id":1}', key], [None, '{"id":1}'])
    assert found.failures.keys() == {1}
    assert found.failures[1].pointer.startswith("/key")
    assert found.key.to_pylist() == ['{"id":1}', key]


def test_names(make: MakeFit) -> None:
    """A column is found in any case if one column alone means it; what the table lacks is left."""
    row = [pa.field(name, INT) for name in ("id", "größe", "x", "X")]
    rows = ['{"ID":1,"GRÖßE":2}', '{"id":1,"Id":2}', '{"zz":{"a":[1]},"x":3}', '{"id":1,"id":2}']
    found = fitted(make(row[:1], row), ['{"id":1}'] * 4, rows)
    assert [one and [*one.values()] for one in found.content.to_pylist()] == [
        [1, 2, None, None],
        None,
        [None, None, 3, None],
        [2, None, None, None],
    ]
    expected = "expected one column for 'id' of the type, whatever its case, found string"
    assert found.failures == {1: Refusal("duplicate-column", "/after/Id", expected)}


@pytest.mark.parametrize(
    ("number", "held"),
    [("0.1", "0.1"), ("3.4028235e38", "3.4028235e38"), ("1e-45", "1e-45"), ('"0.5"', "0.5")],
)
def test_singles_that_have_the_digits(make: MakeFit, number: str, held: str) -> None:
    """A float column has the digits of numbers that it keeps, and nothing is counted."""
    fit = make([pa.field("k", SINGLE)], [pa.field("k", SINGLE)])
    found = fit(pa.array([f'{{"k":{number}}}']), pa.array([f'{{"k":{number}}}']))
    assert (found.rounded.to_pylist(), found.failures) == ([0], {})
    assert found.content.field("k").equals(pa.array([float(held)], SINGLE))


@pytest.mark.parametrize("number", ["16777217", "0.123456789012", '"16777217.0"'])
def test_singles_that_lack_digits(make: MakeFit, number: str) -> None:
    """They are counted; keys are never rounded, as two of them must not become one."""
    row, texts = [pa.field("k", INT), pa.field("v", SINGLE)], pa.array([f'{{"v":{number}}}'])
    found = make([pa.field("k", INT)], row)(pa.array(['{"k":1}']), texts)
    assert (found.rounded.to_pylist(), found.failures) == ([1], {})
    exact = make([pa.field("k", INT)], row, RowOptions(exact=True))(pa.array(['{"k":1}']), texts)
    assert [why.code for why in exact.failures.values()] == ["rounded-number"]
    key = make([pa.field("v", SINGLE)], row)(texts, texts)
    assert [(why.code, why.pointer) for why in key.failures.values()] == [
        ("schema-mismatch", "/key/v")
    ]


def test_rounded(make: MakeFit) -> None:
    """Numbers that a double does not hold are counted, or do not fit if none may be rounded."""
    row = [pa.field("id", INT), pa.field("a", pa.list_(DOUBLE)), pa.field("b", DOUBLE)]
    rows = ['{"a":[9007199254740993,0.5],"b":"0.12345678901234567890"}', '{"b":1}']
    found = fitted(make(row[:1], row), ['{"id":1}', '{"id":2}'], rows)
    assert (found.rounded.to_pylist(), found.failures) == ([2, 0], {})
    assert found.content.to_pylist()[0]["a"] == [9007199254740992.0, 0.5]
    exact = fitted(make(row[:1], row, RowOptions(exact=True)), ['{"id":1}', '{"id":2}'], rows)
    assert [why.code for why in exact.failures.values()] == ["rounded-number"]


def test_json_text(make: MakeFit) -> None:
    """A column of JSON text takes any value as it is, text with its quotes."""
    column = pa.field("c", TEXT, metadata=JSON_TEXT)
    rows = ['{"c":"a"}', '{"c":[ 1.0 , {"b":null} ]}', '{"c":null}']
    found = fitted(make([pa.field("id", INT)], [column]), ['{"id":1}'] * 3, rows)
    assert [one["c"] for one in found.content.to_pylist()] == ['"a"', '[1.0,{"b":null}]', None]


def test_chunks_and_other_text_types(make: MakeFit) -> None:
    """Columns may be cut anywhere, and be of any text type; failures have the indexes of all."""
    keys = pa.chunked_array([['{"id":1}', '{"id":2}'], [], ['{"id":"3"}', '{"id":4}']])
    afters = pa.chunked_array(
        [pa.array(['{"id":1}'], pa.large_string()), pa.array([None, "{}", "{"], pa.large_string())]
    )
    found = make([pa.field("id", INT)], [pa.field("id", INT)])(keys, afters)
    assert found.key.to_pylist() == ['{"id":1}', '{"id":2}', '{"id":"3"}', '{"id":4}']
    assert found.failures.keys() == {2, 3}
    assert found.content.to_pylist()[:2] == [{"id": 1}, None]


def test_no_changes(make: MakeFit) -> None:
    """Without changes there are columns of the same types."""
    fit = make([pa.field("id", INT)], [pa.field("id", INT, metadata={"comment": "a"})])
    found = fitted(fit, [], [])
    assert found.content.type == pa.struct([pa.field("id", INT)])
    assert [len(column) for column in found] == [0] * 6


def test_pickles(make: MakeFit) -> None:
    """It pickles after it was used, as Spark's tasks need it."""
    fit = make(
        [pa.field("id", INT)], [pa.field("id", INT), pa.field("c", PAIRS)], RowOptions(exact=True)
    )
    changes = ['{"id":1}'], ['{"id":1,"c":[[1,"a"]]}']
    found = fitted(fit, *changes)
    again = fitted(pickle.loads(pickle.dumps(fit)), *changes)  # noqa: S301 - its own
    assert again == found


def test_a_type_without_columns(make: MakeFit) -> None:
    """A type that rows have no column of is an error, by its name."""
    fit = make([pa.field("id", INT)], [pa.field("c", pa.time64("us"))])
    with pytest.raises(ValueError, match="a row has no column of type"):
        fitted(fit, ['{"id":1}'], ['{"c":1}'])
