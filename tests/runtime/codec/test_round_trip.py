"""What is decoded and encoded again is the same message, whatever it holds."""

import json
from importlib import import_module
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.codec.encodings import dumps
from tests.runtime.codec.formats import (
    FORMATS,
    JSON_FORMATS,
    ROLES,
    Format,
    JsonFormat,
    modest,
    property_names,
    role_of,
    wire_of,
)
from tests.runtime.codec.shown import shown

import changewire as cw
from changewire.codec.family import GeneratedFamily
from changewire.codec.installed import module_of
from changewire_messages import drawing

roles = pytest.mark.parametrize(("name", "role"), ROLES)


@st.composite
def grown(draw: st.DrawFn, form: JsonFormat, valid: Any) -> Any:
    """Draw a valid message, with properties that its schema does not name at random places."""
    message = draw(valid)
    known = set(property_names(form.schema("message")))
    names = st.text().filter(lambda name: name not in known)
    for obj in form.objects(message):
        obj.update(draw(st.dictionaries(names, drawing.json_values(), max_size=2)))
        items = draw(st.permutations(list(obj.items())))
        obj.clear()
        obj.update(items)
    return message


@st.composite
def written(draw: st.DrawFn, form: Format, values: Any) -> tuple[Any, bytes]:
    """Draw a value, and bytes of it as some writer puts them."""
    value = draw(values)
    return value, draw(form.encoding.written(value))


def test_every_format_is_tested() -> None:
    """The table of formats that the tests run over has all of them."""
    assert sorted(FORMATS) == cw.formats()


@roles
@modest
@given(data=st.data())
def test_models_come_back(name: str, role: str, data: st.DataObject) -> None:
    """Decoding what was encoded gives an equal model, of the same type."""
    form = FORMATS[name]
    model = form.read(form.encoding.dumps(data.draw(form.strategy(role))), role)
    again = form.read(form.codec.encode(model), role)
    assert again == model
    assert shown(again) == shown(model)


@pytest.mark.parametrize("name", FORMATS)
def test_most_messages_are_encoded_by_the_quick_way(name: str) -> None:
    """Whatever fails in it is encoded exactly instead, so no other test tells that all of it fails.

    Properties that the schema does not name, among others, are always encoded exactly.
    """
    form = FORMATS[name]
    models = [form.read(wire_of(path), role_of(path)) for path in form.golden("valid")]
    module = import_module("changewire.codec.codec")
    with patch.object(module, "encode_exactly", wraps=module.encode_exactly) as exact:
        for model in models:
            form.codec.encode(model)
    assert exact.call_count <= len(models) / 5


@roles
@modest
@given(data=st.data())
def test_wire_values_come_back(name: str, role: str, data: st.DataObject) -> None:
    """Encoding what was decoded gives the same wire value, however that was written."""
    form = FORMATS[name]
    value, wire = data.draw(written(form, form.strategy(role)))
    assert form.encoding.hold(form.codec.encode(form.read(wire, role)), value)


@modest
@given(data=st.data())
def test_unknown_properties_come_back(json_format: JsonFormat, data: st.DataObject) -> None:
    """Properties that the schema does not name come back, at the root and inside, in any order."""
    form = json_format
    value, wire = data.draw(written(form, grown(form, form.strategy("message"))))
    model = form.codec.decode(wire)
    again = form.codec.encode(model)
    assert form.encoding.hold(again, value)
    assert form.codec.decode(again) == model


@modest
@given(data=st.data())
def test_batches_with_unknown_properties_come_back(
    json_batched: JsonFormat, data: st.DataObject
) -> None:
    """The elements of a batch keep each its own unknown properties."""
    value = data.draw(st.lists(grown(json_batched, json_batched.strategy("message")), max_size=3))
    models = json_batched.codec.decode_all(dumps(value))
    assert json_batched.encoding.hold(json_batched.codec.encode(models), value)


@modest
@given(data=st.data())
def test_the_order_of_messages_changes_nothing(
    json_format: JsonFormat, data: st.DataObject
) -> None:
    """A message gives the same model whatever unknown properties came in messages before it."""
    form = json_format
    values = st.lists(grown(form, form.strategy("message")) | form.strategy("message"), max_size=6)
    wires = [dumps(value) for value in data.draw(values)]
    models = [form.codec.decode(wire) for wire in wires]
    backwards = [form.codec.decode(wire) for wire in reversed(wires)]
    assert models == backwards[::-1]


def test_more_unknown_names_than_are_learned_come_back(json_format: JsonFormat) -> None:
    """A producer that invents a name for every message is read rightly for ever."""
    form = json_format
    (path, *_) = [path for path in form.golden("valid") if path.name.startswith("message")]
    message = form.encoding.loads(wire_of(path))
    for i in range(100):
        value = {**message, f"new-{i}": i}
        assert form.encoding.hold(form.codec.encode(form.codec.decode(dumps(value))), value)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("aerospike-json", ()),
        ("dataworks-json", ()),
        ("dataworks-json", ("payload",)),
        ("dataworks-json", ("payload", "timestamp")),
        ("lindorm-json", ()),
        ("lindorm-json", ("payload",)),
        ("lindorm-json", ("payload", "source")),
    ],
)
def test_what_a_producer_adds_is_read_at_once_from_then_on(name: str, way: tuple[str, ...]) -> None:
    """Of messages with unknown properties in objects up to the third level only one is slow."""
    codec = cw.Codec(GeneratedFamily(module_of(name)))
    known = JSON_FORMATS[name].good
    message = json.loads(known)
    place = message
    for step in way:
        place = place[step]
    place["new"] = 1.5
    models = [codec.decode(dumps(message)) for _ in range(3)]
    assert codec.second_reads == 1
    pointer = "".join(f"/{step}" for step in (*way, "new"))
    assert [dict(model.extra) for model in models] == [{pointer: 1.5}] * 3
    assert codec.decode(known) == cw.decode(known, format=name)
    assert [codec.decode(dumps(message)) for _ in range(2)] == models[:2]


@modest
@given(wire=st.sampled_from(["QR==", "QUJDREVG\\/w==", "\\u0051Q=="]))
def test_spellings_of_base64_come_back_as_the_canonical_one(wire: str) -> None:
    """Unused bits and escapes of Base64 text are not kept: the bytes are what it means."""
    codec = cw.codec("aerospike-json")
    value = f'{{"name":"b","type":"blob","value":"{wire}"}}'
    head = '{"msg":"write","key":["n",null,"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",null],'
    model = codec.decode(f'{head}"gen":1,"exp":0,"lut":1,"bins":[{value}]}}')
    assert model.bins[0].value in (b"A", b"ABCDEF\xff")
    assert codec.decode(codec.encode(model)) == model
