"""Conversion between Aerospike JSON and flat JSON, both ways, and what it loses."""

import json
from typing import Any

import pytest
from hypothesis import given
from tests.runtime.codec.encodings import dumps
from tests.runtime.codec.formats import modest
from tests.runtime.convert.messages import BASE64, text, text_delete

import changewire as cw
from changewire_messages.aerospike_flat_json import strategies
from changewire_messages.aerospike_json import strategies as json_strategies

FLAT, JSON = "aerospike-flat-json", "aerospike-json"
METADATA = {"msg": "write", "namespace": "ns", "set": "set", "digest": BASE64}


def to_flat(data: bytes, **options: Any) -> bytes:
    """Return a message in JSON as flat JSON."""
    return cw.convert(data, source=JSON, target=FLAT, **options)


def to_json(data: bytes, **options: Any) -> bytes:
    """Return a message in flat JSON as JSON."""
    return cw.convert(data, source=FLAT, target=JSON, **options)


def issues(call: Any, data: bytes, **options: Any) -> list[tuple[str, str]]:
    """Return rule, or code of what is always rejected, and pointer of what a conversion rejects."""
    with pytest.raises(cw.EncodeError) as caught:
        call(data, **options)
    found = caught.value.issues
    return [(i.rule if i.code == "lossy" else i.code, i.pointer) for i in found]


@modest
@given(value=json_strategies.message())
def test_what_flat_json_holds_comes_back(value: Any) -> None:
    """A message that loses nothing comes back, except that what is absent becomes null."""
    data = dumps(value)
    try:
        flat = to_flat(data)
    except cw.EncodeError:
        return
    model, again = (cw.decode(one, format=JSON) for one in (data, to_json(flat)))
    (change,), (same,) = cw.changes(model), cw.changes(again)
    for one in (change, same):
        shipped = {n: one.attributes.pop(n, None) for n in ("gen", "exp", "lut", "bins")}
        one.attributes["shipped"] = {n: v for n, v in shipped.items() if n != "bins"}
    assert change == same


@modest
@given(value=strategies.message())
def test_what_json_holds_comes_back(value: Any) -> None:
    """A message whose bins all have a type comes back with its metadata under the usual name."""
    data = dumps(value)
    try:
        found = to_json(data)
    except cw.EncodeError:
        return
    model, again = (cw.decode(one, format=FLAT) for one in (data, to_flat(found)))
    assert again.bins == model.bins
    (change,), (same,) = cw.changes(model), cw.changes(again)
    for one in (change, same):
        for name in ("gen", "exp", "lut"):
            if one.attributes.get(name, 0) is None:
                del one.attributes[name]
    assert change == same


@modest
@given(value=json_strategies.key())
def test_keys_come_back(value: Any) -> None:
    """A record key means the same in both forms."""
    key = dumps(value)
    flat = cw.convert_key(key, source=JSON, target=FLAT)
    again = cw.convert_key(flat, source=FLAT, target=JSON)
    assert cw.decode_key(again, format=JSON) == cw.decode_key(key, format=JSON)


@pytest.mark.parametrize(
    ("rule", "pointer", "item", "value"),
    [
        ("bin-type", "/bins/0/type", {"type": "blob", "value": "QUI="}, "QUI="),
        ("bin-type", "/bins/0/type", {"type": "hll", "value": "QUI="}, "QUI="),
        ("bin-type", "/bins/0/type", {"type": "float", "value": "NaN"}, "NaN"),
        ("bin-type", "/bins/0/type", {"type": "geojson", "value": {"a": 1}}, {"a": 1}),
        ("order", "/bins/0/ordered", {"type": "list", "value": [1], "ordered": True}, [1]),
        ("order", "/bins/0/order", {"type": "map", "value": {}, "order": "key"}, {}),
        ("unknown-property", "/bins/0/x", {"type": "int", "value": 1, "x": 1}, 1),
    ],
)
def test_losses_of_flat_json(rule: str, pointer: str, item: dict[str, Any], value: Any) -> None:
    """Each loss rejects the message; if it is allowed, it is reported and the value is the same."""
    data = text({"name": "b", **item})
    assert issues(to_flat, data) == [(rule, pointer)]
    losses: list[cw.Issue] = []
    found = json.loads(to_flat(data, lossy=True, on_loss=losses.append))
    assert [(loss.rule, loss.pointer) for loss in losses] == [(rule, pointer)]
    assert found["b"] == value


def test_an_order_that_is_none_is_no_loss() -> None:
    """A list that the server does not sort is as good without the word."""
    assert json.loads(to_flat(text({"name": "b", "type": "list", "value": [], "ordered": False})))


def test_names_that_flat_json_has_no_place_for() -> None:
    """Two bins of one name, and one with the name of the metadata, are rejected always."""
    one = {"name": "metadata", "type": "int", "value": 1}
    assert issues(to_flat, text(one), lossy=True) == [("duplicate-key", "/bins/0/name")]
    two = {**one, "name": "b"}
    assert issues(to_flat, text(two, two), lossy=True) == [("duplicate-key", "/bins/1/name")]


def test_values_that_json_has_no_type_for() -> None:
    """Null, and integers beyond 64 bits, are rejected always."""
    data = dumps({"m": METADATA, "a/b": None, "c": 2**63, "d": 1})
    found = [("not-encodable", "/a~1b"), ("not-encodable", "/c")]
    assert issues(to_json, data, lossy=True) == found


def test_losses_of_json() -> None:
    """A property that the schema does not name is lost, and a bin beside a delete."""
    data = dumps({"m": {**METADATA, "msg": "delete", "new": 1}, "a": 1})
    assert issues(to_json, data) == [("unknown-property", "/m/new"), ("unknown-property", "/a")]
    key = ["ns", "set", BASE64, None]
    assert json.loads(to_json(data, lossy=True)) == {"msg": "delete", "key": key}
    assert issues(to_flat, text_delete(x=1)) == [("unknown-property", "/x")]


def test_batches_keep_their_order() -> None:
    """Each element is converted, with losses at its place."""
    batch = b"[%b,%b]" % (text(), text_delete(durable=True))
    found = json.loads(to_flat(batch))
    assert [one["metadata"]["msg"] for one in found] == ["write", "delete"]
    assert [one["msg"] for one in json.loads(to_json(dumps(found)))] == ["write", "delete"]
