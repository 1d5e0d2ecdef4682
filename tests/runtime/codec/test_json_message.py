"""Messages in MessagePack as JSON text, and back: what JSON lacks is told from what it has."""

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Ext
from tests.runtime.codec.formats import FORMATS, JSON_FORMATS, modest, name_of, role_of, wire_of
from tests.runtime.codec.packed import ANY_VALUE, BIN, CODEC, KEY, holding, pack, value_in, write
from tests.support.ids import shown

import changewire as cw
from changewire.codec.json_message import exact_value
from changewire.codec.msgpack_values import ExtKey
from changewire_messages import drawing
from changewire_messages.aerospike_msgpack import dispatch, strategies
from changewire_messages.forms import FORMS, exact_form

PACKED = FORMATS["aerospike-msgpack"]
LONG_FORMS = {
    "message-delete-legacy-long-forms",
    "message-write-long-forms",
    "message-write-float-32",
}
"""Golden messages with more bytes than they need."""
DIGEST = "MDEyMzQ1Njc4OTo7PD0+P0BBQkM="

LOOKALIKES = st.fixed_dictionaries(
    {},
    optional={name: drawing.msgpack_values() for name in ("bytes", "data", "ext", "float", "map")},
)
FLOATS = st.floats(allow_nan=False) | st.just(math.nan)
"""JSON text has one NaN; others differ from it in bits that mean nothing."""

VALUES = drawing.msgpack_values() | LOOKALIKES | FLOATS | st.lists(LOOKALIKES)


def read(text: bytes) -> Any:
    """Return the value that JSON text stands for."""
    return exact_value(msgspec.json.decode(text))


@modest
@given(VALUES)
def test_every_value_comes_back(value: Any) -> None:
    """A value has the same bytes after it was JSON text, also where it looks like a form."""
    encode = msgspec.msgpack.encode
    assert encode(read(msgspec.json.encode(exact_form(value)))) == encode(value)


@pytest.mark.parametrize(
    "value",
    [
        {ExtKey(5, b"x"): Ext(-1, b""), (1, (ExtKey(5, b"x"), b"y")): [math.inf]},
        {1: "int", "1": "text", b"1": "bytes", None: 1.0, (): -0.0},
        {"map": [[1, 2]]},
        2**64 - 1,
    ],
    ids=shown,
)
def test_keys_of_maps_come_back(value: Any) -> None:
    """The key of a map is of any type, and the ends of the integers are exact."""
    found = read(msgspec.json.encode(exact_form(value)))
    assert found == value
    if isinstance(value, dict):
        assert list(map(type, found)) == list(map(type, value))


def test_messages_are_written_position_by_position() -> None:
    """A message is the array that it is on the wire; where only bytes stand, they are Base64."""
    model = CODEC.decode(pack(write(b"x", {1: math.nan})))
    text = CODEC.to_json(model)
    bins = [
        ["b", ANY_VALUE, 0, {"bytes": "eA=="}],
        ["b", ANY_VALUE, 0, {"map": [[1, {"float": "NaN"}]]}],
    ]
    assert json.loads(text) == [1, 1, [["ns", "set", DIGEST, 1], 7, 0, 5, bins]]
    assert json.loads(CODEC.to_json([model])) == [json.loads(text)]
    assert json.loads(CODEC.to_json(CODEC.decode_key(pack(KEY)))) == ["ns", "set", DIGEST, 1]


@pytest.mark.parametrize("path", PACKED.golden("valid"), ids=name_of)
def test_golden_messages_come_back(path: Path) -> None:
    """Every golden message and key has its bytes, in their shortest form, after it was JSON."""
    data, role = wire_of(path), role_of(path)
    found = PACKED.read(data, role)
    for model in found if role == "batch" else [found]:
        again = CODEC.from_json(CODEC.to_json(model), is_key=role.startswith("key"))
        assert CODEC.encode(again) == CODEC.encode(model)
        if role == "message" and path.stem not in LONG_FORMS:
            assert CODEC.encode(again) == data


@modest
@given(strategies.message())
def test_drawn_messages_come_back(value: Any) -> None:
    """A message of any kind, with values of any type, has its very bytes after it was JSON text."""
    model = msgspec.convert(value, dispatch.arm_of(value))
    again = CODEC.from_json(CODEC.to_json(model))
    assert CODEC.encode(again) == CODEC.encode(model)


@pytest.mark.parametrize(("head", "depth"), [(b"\x91", 700), (b"\x81\x01", 200)])
def test_deep_values_come_back(head: bytes, depth: int) -> None:
    """Arrays and maps that are nested deep are read back; how deep is a matter of the parser."""
    data = holding(head * depth + b"\xcb\x7f\xf0" + bytes(6))
    assert CODEC.encode(CODEC.from_json(CODEC.to_json(CODEC.decode(data)))) == data


@pytest.mark.parametrize("name", JSON_FORMATS)
def test_a_format_that_is_json_is_its_own_form(name: str) -> None:
    """Of a JSON format the text is what encoding gives, and is read as a message."""
    codec = cw.codec(name)
    model = codec.decode(JSON_FORMATS[name].good)
    assert codec.to_json(model) == codec.encode(model)
    assert codec.from_json(codec.to_json(model)) == model
    key = b'["n",null,"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",1]'
    aerospike = cw.codec("aerospike-json")
    assert aerospike.to_json(aerospike.from_json(key, is_key=True)) == key


def test_what_no_message_holds_is_refused() -> None:
    """A value that MessagePack has no form for has none in the JSON of a message."""
    model = CODEC.decode(pack(write(1)))
    with pytest.raises(cw.EncodeError) as refused:
        CODEC.to_json([model, object()])
    assert refused.value.code == "not-encodable"


def with_value(text: str) -> bytes:
    """Return the JSON of a write whose first bin holds a value."""
    return CODEC.to_json(CODEC.decode(pack(write(77777)))).replace(b"77777", text.encode())


REFUSED = {
    "no Base64": ('{"bytes": "?"}', "invalid-base64", "/bytes"),
    "bytes that are no text": ('[{"bytes": null}]', "wrong-type", "/0/bytes"),
    "a code that is no integer": ('{"ext": true, "data": ""}', "wrong-type", "/ext"),
    "a code out of range": ('{"ext": 128, "data": ""}', "out-of-range", "/ext"),
    "no number": ('{"float": "1.5"}', "wrong-value", "/float"),
    "a number in place of its name": ('{"float": 1.5}', "wrong-value", "/float"),
    "no pairs": ('{"a/b": {"map": {}}}', "wrong-type", "/a~1b/map"),
    "no pair": ('{"map": [[1, 2], [1]]}', "wrong-type", "/map/1"),
    "the same key": ('{"map": [[1, 2], [true, 1]]}', "duplicate-key", "/map/1/0"),
    "a map as a key": ('{"map": [[[{}], 2]]}', "wrong-type", "/map/0/0"),
    "an integer beyond 64 bits": (
        '{"map": [[1, 18446744073709551616]]}',
        "out-of-range",
        "/map/0/1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_stands_for_nothing_is_refused(name: str) -> None:
    """JSON that looks like a form and is none is named by code and place."""
    text, code, pointer = REFUSED[name]
    with pytest.raises(cw.DecodeError) as refused:
        CODEC.from_json(with_value(text))
    assert (refused.value.code, refused.value.pointer) == (code, BIN + pointer)


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        (b"[1, 2", "truncated", ""),
        (b"", "empty", ""),
        (b"[]", "batch", ""),
        (b"{}", "wrong-type", ""),
        (b"[" * 100_000, "too-deep", ""),
        (b'[1,2,[["n",null,"no Base64",1],1]]', "invalid-base64", "/2/0/2"),
        (b'[1,2,[["n",null,7,1],1]]', "wrong-type", "/2/0/2"),
        (b'[1,2,[["n",null,"",1],1]]', "wrong-length", "/2/0/2"),
        (b'[1,2,[["n",null,"MDEyMzQ1Njc4OTo7PD0+P0BBQkM=",1,1],1]]', "wrong-length", "/2/0"),
        (b'[1,2,["",1]]', "wrong-type", "/2/0"),
    ],
)
def test_messages_are_refused_as_in_decoding(text: bytes, code: str, pointer: str) -> None:
    """What is no JSON, or stands for no message, is a DecodeError with its place."""
    with pytest.raises(cw.DecodeError) as refused:
        CODEC.from_json(text)
    assert (refused.value.code, refused.value.pointer) == (code, pointer)


@modest
@given(st.text() | drawing.json_values().map(json.dumps), st.booleans())
def test_any_text_ends_well(text: str, is_key: bool) -> None:  # noqa: FBT001
    """Whatever JSON says, alone or in a message, nothing but a DecodeError leaves the codec."""
    for data in (text, with_value(text)):
        with suppress(cw.DecodeError):
            assert CODEC.encode(CODEC.from_json(data, is_key=is_key))


def test_forms_are_what_the_reader_knows() -> None:
    """Each object that stands for something else is read as that."""
    samples: list[Any] = [b"x", Ext(5, b"x"), math.inf, {1: 2}]
    forms = [msgspec.json.decode(msgspec.json.encode(exact_form(value))) for value in samples]
    assert {frozenset(form) for form in forms} == FORMS
    assert [exact_value(form) for form in forms] == samples
    assert value_in(pack(write(b"x"))) == b"x"
