"""Conversion between Aerospike JSON and MessagePack of what both can hold."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.msgpack import Encoder
from tests.runtime.convert.messages import (
    BASE64,
    DIGEST,
    JSON,
    KEY,
    MSGPACK,
    packed,
    packed_delete,
    refusal,
    text,
    text_delete,
    to_json,
    to_msgpack,
)
from tests.samples import examples

import changewire as cw
from changewire.codec.msgpack_values import write_ext_key
from changewire_messages.aerospike_json import strategies as json_strategies
from changewire_messages.aerospike_msgpack import strategies as msgpack_strategies

modest = settings(
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
PACK = Encoder(enc_hook=write_ext_key).encode
WORDS = {"str", "bool", "int", "float", "blob", "list", "map", "geojson"}

PAIRS = [
    (["b", 1, 0, -(2**63)], {"type": "int", "value": -(2**63)}),
    (["b", 2, 0, 1.0], {"type": "float", "value": 1.0}),
    (["b", 2, 0, float("-inf")], {"type": "float", "value": "-Infinity"}),
    (["b", 3, 0, "é"], {"type": "str", "value": "é"}),
    (["b", 4, 0, DIGEST], {"type": "blob", "value": BASE64}),
    (["b", 17, 0, True], {"type": "bool", "value": True}),
    (["b", 19, 0, {"a": None}], {"type": "map", "value": {"a": None}}),
    (["b", 19, 1, {}], {"type": "map", "value": {}, "order": "key"}),
    (["b", 19, 3, {}], {"type": "map", "value": {}, "order": "key-value"}),
    (["b", 20, 0, [1, [2.5]]], {"type": "list", "value": [1, [2.5]], "ordered": False}),
    (["b", 20, 1, [2**64 - 1]], {"type": "list", "value": [2**64 - 1], "ordered": True}),
    (["b", 23, 0, '{"type":"Point"}'], {"type": "geojson", "value": {"type": "Point"}}),
]


def same(message: Any) -> Any:
    """Return a JSON message as it comes back: what was absent and means the same is there."""
    times = {"gen": None, "exp": None, "lut": None}
    if message["msg"] == "delete":
        return {**times, "durable": False, **message}
    bins = [item for item in message["bins"] if item["type"] in WORDS]
    lists = [{"ordered": False, **item} if item["type"] == "list" else item for item in bins]
    return {**times, **message, "bins": lists}


@pytest.mark.parametrize(("item", "word"), PAIRS)
def test_bins_become_each_other(item: list[Any], word: dict[str, Any]) -> None:
    """Each particle type that has a word in JSON is converted in both directions."""
    assert to_json(packed(item))["bins"] == [{"name": "b", **word}]
    assert to_msgpack(text({"name": "b", **word})) == packed(item)


def test_absent_order_is_no_flag() -> None:
    """A list or a map of which JSON says no order is one that the server does not keep sorted."""
    bins: list[dict[str, Any]] = [
        {"name": "b", "type": "list", "value": []},
        {"name": "c", "type": "map", "value": {}},
    ]
    assert to_msgpack(text(*bins)) == packed(["b", 20, 0, []], ["c", 19, 0, {}])


def test_geojson_in_a_list_becomes_an_object() -> None:
    """The extension type of GeoJSON is an object in JSON, which is no loss."""
    point = msgpack.ExtType(23, b'{"type": "Point"}')
    assert to_json(packed(["b", 20, 0, [point]]))["bins"][0]["value"] == [{"type": "Point"}]


def test_digits_of_geojson_are_kept() -> None:
    """GeoJSON is text in MessagePack, so its integers may be of any length."""
    value = {"a": 10**30}
    data = to_msgpack(text({"name": "b", "type": "geojson", "value": value}))
    assert to_json(data)["bins"][0]["value"] == value


def test_deletes_become_each_other() -> None:
    """A delete keeps its tombstone flag and its times; nil is null."""
    data = packed_delete(1, 4, None, 7)
    found = to_json(data)
    assert [found[name] for name in ("durable", "gen", "exp", "lut")] == [True, 4, None, 7]
    assert to_msgpack(json.dumps(found).encode()) == data


def test_a_legacy_delete_has_no_times_in_json() -> None:
    """What an old connector wrote in two parts is, in JSON, what an old one wrote there."""
    assert to_json(packed_delete(0)).keys() == {"msg", "key", "durable"}


def test_absent_times_become_nil() -> None:
    """A delete or a write in JSON becomes one of the current version, whatever it lacks."""
    assert to_msgpack(text_delete(durable=False)) == packed_delete(0, None, None, None)
    write = {name: json.loads(text())[name] for name in ("msg", "key", "bins")}
    row = cw.decode(to_msgpack(json.dumps(write).encode()), format=MSGPACK).payload
    assert (row.gen, row.exp, row.lut, row.bins) == (None, None, None, [])


@modest
@given(message=json_strategies.write() | json_strategies.delete())
def test_json_comes_back(message: Any) -> None:
    """What both formats can hold is the same message after both ways."""
    expected = same(message)
    data = json.dumps(expected).encode()
    back = cw.convert(to_msgpack(data), source=MSGPACK, target=JSON)
    assert cw.decode(back, format=JSON) == cw.decode(data, format=JSON)


@modest
@given(data=st.data())
def test_msgpack_comes_back_or_says_what_is_lost(data: st.DataObject) -> None:
    """A message of which no loss is told comes back as it was; any other gives valid JSON."""
    sent = PACK(data.draw(msgpack_strategies.message()))
    losses: list[cw.Issue] = []
    refused = refusal(lambda: to_json(sent, lossy=True, on_loss=losses.append))
    if refused is not None:
        assert {issue.code for issue in refused.issues} <= {"not-encodable", "duplicate-key"}
        return
    found = cw.convert(sent, source=MSGPACK, target=JSON, lossy=True)
    model = cw.decode(sent, format=MSGPACK)
    assert cw.codec(JSON).validate(found) == []  # two bins of one name come out as such
    has_geojson = b"geojson" in found
    if losses or has_geojson or isinstance(model, cw.aerospike_msgpack.LegacyDelete):
        return
    assert cw.decode(to_msgpack(found), format=MSGPACK) == model


@pytest.mark.parametrize("variant", ["write", "delete", "batch"])
def test_examples_of_the_schemas_come_back(variant: str) -> None:
    """The documented messages come back, save a bin type that MessagePack does not have."""
    for example in examples(variant):
        elements = [same(item) for item in (example if variant == "batch" else [example])]
        back = to_json(to_msgpack(json.dumps(elements).encode()))
        assert back == elements


def test_batches_stay_batches() -> None:
    """A batch becomes a batch, an empty one an empty one."""
    batch = b"[" + text() + b"," + text_delete(durable=True) + b"]"
    assert to_msgpack(batch) == b"\x92" + packed() + packed_delete(1, None, None, None)
    assert to_msgpack(b"[]") == b"\x90"
    assert to_json(b"\x90") == []


def test_keys_become_each_other() -> None:
    """A record key, and the keys of a batch, are converted by a call of their own."""
    key = json.dumps(["ns", "set", BASE64, None]).encode()
    keys = b"[" + key + b"]"
    assert cw.convert_key(key, source=JSON, target=MSGPACK) == msgpack.packb(KEY)
    assert cw.convert_key(keys, source=JSON, target=MSGPACK) == msgpack.packb([KEY])
    back = cw.convert_key(msgpack.packb(KEY), source=MSGPACK, target=JSON)
    assert json.loads(back) == json.loads(key)


def test_a_refused_element_refuses_its_batch() -> None:
    """The error has every issue, with pointers into the batch."""
    with pytest.raises(cw.DecodeError) as caught:
        to_msgpack(b"[" + text() + b', {"msg": "delete"}, {}]')
    assert [issue.pointer for issue in caught.value.issues] == ["/1/key", "/2/msg"]
    assert caught.value.format == JSON


def test_what_cannot_be_read_is_a_decode_error() -> None:
    """Bytes that are no message are refused as by decode."""
    with pytest.raises(cw.DecodeError):
        to_msgpack(b"{")
    with pytest.raises(cw.DecodeError):
        to_json(b"\xc1")


@pytest.mark.parametrize("opening", [b'{"a":', b"["])
def test_deep_values_are_converted_or_refused(opening: bytes) -> None:
    """However deep a value is nested, the answer is bytes or an error of ours."""
    closing = b"}" if opening != b"[" else b"]"
    head, tail = text({"name": "b", "type": "list", "value": []}).split(b"[]")
    for depth in (10, 300, 500, 900, 2000, 100_000):
        data = head + b"[" + opening * depth + b"1" + closing * depth + b"]" + tail
        refused = refusal(partial(to_msgpack, data))
        assert (refused.code if refused else "") in {"", "too-deep"}
        assert refused is None or depth > 300


def test_formats_without_conversion_are_named() -> None:
    """Where there is no conversion the error says which there are."""
    with pytest.raises(ValueError, match="there are: aerospike-json to aerospike-msgpack"):
        cw.convert(b"", source="lindorm-json", target=JSON)
    with pytest.raises(ValueError, match="no conversion from 'x'"):
        cw.convert_key(b"", source="x", target=JSON)
