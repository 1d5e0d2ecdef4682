"""Models to MessagePack: what is sent is what is decoded, in the shortest form."""

import math
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import msgpack
import pytest
from msgspec.msgpack import Ext
from tests.runtime.codec.packed import (
    ANY_VALUE,
    BIN,
    CODEC,
    DELETE,
    KEY,
    holding,
    pack,
    value_in,
    write,
)
from tests.support.ids import shown

import changewire as cw
from changewire import aerospike_msgpack as wire
from changewire.codec.msgpack_values import ExtKey

RECORD = wire.Key("ns", "set", KEY[2], 1)


def written(gen: Any, *bins: wire.Bin) -> wire.Write:
    """Return a write of a generation, with some bins."""
    return wire.Write(payload=wire.WritePayload(RECORD, gen, 0, 5, list(bins)))


def model_of(value: Any) -> wire.Write:
    """Return a write with one bin of a value."""
    return written(7, wire.Bin("b", ANY_VALUE, 0, value))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(2**63),
        2**64 - 1,
        1.5,
        -0.0,
        math.inf,
        "text",
        b"bytes",
        [1, [b"x"]],
        {1: 2, "a": b"b", b"k": None, None: [], (1, (2,)): 3, 1.5: {}},
        Ext(23, b"{}"),
        Ext(-1, bytes(4)),
        {ExtKey(5, b"x"): Ext(5, b"x"), (ExtKey(-1, bytes(8)),): 1},
    ],
    ids=shown,
)
def test_values_come_back(value: Any) -> None:
    """Every value that MessagePack has is sent as it is."""
    assert value_in(CODEC.encode(model_of(value))) == value


def test_not_a_number_is_sent() -> None:
    """NaN has a form in MessagePack, although it is not equal to itself."""
    for value in (math.nan, [math.nan], {1: math.nan}, {math.nan: 1}):
        assert CODEC.encode(model_of(value)) == pack(write(value))


def test_messages_batches_and_keys_are_sent() -> None:
    """Each part of a Kafka record has the bytes that the reference implementation writes."""
    delete = wire.LegacyDelete(payload=wire.LegacyDeletePayload(RECORD, 1))
    assert CODEC.encode(delete) == pack(DELETE)
    assert CODEC.encode([delete, model_of(1)]) == pack([DELETE, write(1)])
    assert CODEC.encode([]) == b"\x90"
    assert CODEC.encode(RECORD) == pack(KEY)
    assert CODEC.encode([RECORD]) == pack([KEY])


def test_what_was_read_is_sent_in_the_shortest_form() -> None:
    """Bytes with more than they need mean the same without."""
    data = holding(b"\xdd\x00\x00\x00\x01\xcf" + bytes(7) + b"\x05")
    assert CODEC.encode(CODEC.decode(data)) == pack(write([5]))


REFUSED: dict[str, tuple[Any, str]] = {
    "set": ({1}, ""),
    "set inside": ([0, {"a": {1}}], "/1/a"),
    "tuple": ((1,), ""),
    "time": (datetime(2024, 1, 31, tzinfo=timezone.utc), ""),
    "time as a key": ({datetime(2024, 1, 31, tzinfo=timezone.utc): 1}, ""),
    "decimal": (Decimal(1), ""),
    "beyond 64 bits": ([2**64], "/0"),
    "below 64 bits": ({"~": -(2**63) - 1}, "/~0"),
    "half a surrogate pair": (["\ud800"], "/0"),
    "an object": (object(), ""),
    "the extension type of another library": ([msgpack.ExtType(5, b"x")], "/0"),
    "an extension type too large": ({"a": [ExtKey(5, b"x")]}, "/a/0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_form_is_refused_with_its_place(name: str) -> None:
    """A value that would be lost or would come back as another is named by its JSON Pointer."""
    value, pointer = REFUSED[name]
    with pytest.raises(cw.EncodeError) as refused:
        CODEC.encode(model_of(value))
    assert (refused.value.code, refused.value.pointer) == ("not-encodable", BIN + pointer)


def test_wrong_types_are_refused_as_in_decoding() -> None:
    """What breaks a rule of the schema is refused under the code of that rule."""
    with pytest.raises(cw.EncodeError) as refused:
        CODEC.encode(written("7"))
    assert (refused.value.code, refused.value.pointer) == ("wrong-type", "/2/1")


def test_not_a_number_in_a_wrong_place_is_of_a_wrong_type() -> None:
    """Where an integer is asked for, NaN is refused for its type, not for having no form."""
    with pytest.raises(cw.EncodeError) as refused:
        CODEC.encode(written(math.nan))
    assert refused.value.code == "wrong-type"


def test_too_deep_is_refused() -> None:
    """Nesting that no parser follows is not sent."""
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(cw.EncodeError) as refused:
        CODEC.encode(model_of(value))
    assert refused.value.code == "too-deep"
