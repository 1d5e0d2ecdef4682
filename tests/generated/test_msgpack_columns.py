"""Columns of MessagePack messages: what JSON text has no word for, and one struct for all arms."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import msgpack
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.msgpack import Ext
from pyspark.sql.pandas.types import to_arrow_type
from tests.support.ids import shown

from changewire_messages import aerospike_msgpack as wire
from changewire_messages import drawing
from changewire_messages.aerospike_msgpack import arrow, dispatch, spark, strategies
from changewire_messages.columns import exact_texts

modest = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def text_of(value: object) -> Any:
    """Return the JSON value of the text that a value becomes in a column."""
    (text,) = exact_texts([value]).to_pylist()
    return json.loads(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.5, 1.5),
        (math.nan, {"float": "NaN"}),
        (math.inf, {"float": "Infinity"}),
        (-math.inf, {"float": "-Infinity"}),
        ([1.0, [math.nan]], [1.0, [{"float": "NaN"}]]),
        (b"\x00\xff", {"bytes": "AP8="}),
        (2**64 - 1, 2**64 - 1),
        ({"a": b"b", "c": "-Infinity"}, {"a": {"bytes": "Yg=="}, "c": "-Infinity"}),
        ({1: "a", "1": "b"}, {"map": [[1, "a"], ["1", "b"]]}),
        ({b"k": {2: None}}, {"map": [[{"bytes": "aw=="}, {"map": [[2, None]]}]]}),
        ({(1, math.inf): 2}, {"map": [[[1, {"float": "Infinity"}], 2]]}),
        (Ext(7, b"\xac\xed"), {"ext": 7, "data": "rO0="}),
        (msgpack.ExtType(23, b"{}"), {"ext": 23, "data": "e30="}),
        ([Ext(0, b""), {"x": msgpack.ExtType(1, b"")}],
         [{"ext": 0, "data": ""}, {"x": {"ext": 1, "data": ""}}]),
        ({"bytes": "Yg=="}, {"map": [["bytes", "Yg=="]]}),
        ([{"ext": 7, "data": b""}], [{"map": [["ext", 7], ["data", {"bytes": ""}]]}]),
        ({"map": {"float": 1}}, {"map": [["map", {"map": [["float", 1]]}]]}),
        ({"map": [], "bytes": ""}, {"map": [], "bytes": ""}),
        ({}, {}),
        ([], []),
    ],
    ids=shown,
)  # fmt: skip
def test_value_becomes_json_text(value: object, expected: object) -> None:
    """Whatever MessagePack holds has a JSON text, in which no key, number or byte is lost."""
    assert text_of(value) == expected


def test_absent_values_are_null() -> None:
    """Nil is JSON's null, and NULL where the column says so; UNSET is NULL always."""
    values = [None, msgspec.UNSET, 1]
    assert exact_texts(values).to_pylist() == ["null", None, "1"]
    assert exact_texts(values, nullable=True).to_pylist() == [None, None, "1"]


def test_columns_leave_values_as_they_are() -> None:
    """Who makes columns of messages has the messages unchanged afterwards."""
    value = [1, {2: [math.nan, Ext(1, b"a")]}, {"a": [b"b"]}]
    exact_texts([value])
    assert list(value[1]) == [2]  # type: ignore[call-overload]
    assert math.isnan(value[1][2][0])  # type: ignore[index]
    assert value[2] == {"a": [b"b"]}


@pytest.mark.parametrize("depth", [100, 128, 129, 5000])
def test_deep_values_have_a_text(depth: int) -> None:
    """A value nested as deep as a parser allows, and deeper, has its text."""
    value: Any = math.inf
    for _ in range(depth):
        value = {1: [value]}
    (text,) = exact_texts([value]).to_pylist()
    assert text == '{"map":[[1,[' * depth + '{"float":"Infinity"}' + "]]]}" * depth


LOOKALIKES = ({"bytes"}, {"ext", "data"}, {"float"}, {"map"})


def plain(value: Any) -> Any:
    """Return a value as its text should read, by a way of its own."""
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, Ext):
        return {"ext": value.code, "data": base64.b64encode(bytes(value.data)).decode()}
    if isinstance(value, float) and math.isinf(value):
        return {"float": "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return plain_map(value) if isinstance(value, dict) else value


def plain_map(value: dict[Any, Any]) -> Any:
    """Return a map as its text should read."""
    if all(isinstance(key, str) for key in value) and set(value) not in LOOKALIKES:
        return {key: plain(item) for key, item in value.items()}
    return {"map": [[plain(k), plain(v)] for k, v in value.items()]}


@modest
@given(drawing.msgpack_values())
def test_any_value_becomes_json_text(value: Any) -> None:
    """The text of a drawn value is the one that the rules give."""
    assert text_of(value) == plain(value)


@modest
@given(st.lists(strategies.message(), max_size=4))
def test_messages_of_all_kinds_are_rows_of_one_table(values: list[Any]) -> None:
    """Writes and deletes share columns; what one of them does not have is NULL there."""
    messages: list[Any] = [msgspec.convert(value, dispatch.arm_of(value)) for value in values]
    rows = arrow.message_array(messages).to_pylist()
    for value, message, row in zip(values, messages, rows, strict=True):
        payload = row["payload"]
        assert (row["version"], row["type"]) == tuple(value[:2])
        assert payload["key"]["digest"] == value[2][0][2]
        assert payload["flags"] == getattr(message.payload, "flags", None)
        bins = getattr(message.payload, "bins", None)
        found = payload["bins"]
        assert (found is None) == (bins is None)
        assert [b["name"] for b in found or ()] == [b.name for b in bins or ()]
        assert [json.loads(b["value"]) for b in found or ()] == [plain(b.value) for b in bins or ()]


def test_columns_have_the_type_that_spark_is_told() -> None:
    """The Arrow columns of messages have the names and types of the StructType."""
    key = wire.Key("ns", None, b"a" * 20, b"u")
    delete = wire.LegacyDelete(payload=wire.LegacyDeletePayload(key, 1))
    array = arrow.message_array([delete])
    expected = to_arrow_type(spark.MESSAGE, timestamp_utc=True)
    assert [field.name for field in array.type] == [field.name for field in expected]
    payload, told = array.type.field("payload").type, expected.field("payload").type
    assert [(f.name, str(f.type)) for f in payload if f.name not in {"key", "bins"}] == [
        (f.name, str(f.type)) for f in told if f.name not in {"key", "bins"}
    ]
    assert array.to_pylist()[0]["payload"]["key"]["user_key"] == '{"bytes":"dQ=="}'
