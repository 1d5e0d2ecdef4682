"""MessagePack to models: what is sent is what is read, in whatever form it is written."""

import math
import struct
from typing import Any

import msgpack
import msgspec
import pytest
from msgspec.msgpack import Ext
from tests.runtime.codec.packed import CODEC, DELETE, KEY, holding, pack, value_in, write

import changewire as cw
from changewire import aerospike_msgpack as wire
from changewire.codec.codec import Codec
from changewire.codec.family import GeneratedFamily
from changewire.codec.msgpack_values import ExtKey

LONG_FORMS: dict[str, tuple[bytes, Any]] = {
    "uint 8": (b"\xcc\x01", 1),
    "uint 16": (b"\xcd\x00\x01", 1),
    "uint 32": (b"\xce\x00\x00\x00\x01", 1),
    "uint 64": (b"\xcf" + bytes(7) + b"\x01", 1),
    "int 8": (b"\xd0\x01", 1),
    "int 16": (b"\xd1\xff\xff", -1),
    "int 32": (b"\xd2\xff\xff\xff\xff", -1),
    "int 64": (b"\xd3" + b"\xff" * 8, -1),
    "str 8": (b"\xd9\x01a", "a"),
    "str 16": (b"\xda\x00\x01a", "a"),
    "str 32": (b"\xdb\x00\x00\x00\x01a", "a"),
    "bin 16": (b"\xc5\x00\x01a", b"a"),
    "bin 32": (b"\xc6\x00\x00\x00\x01a", b"a"),
    "array 16": (b"\xdc\x00\x01\xc0", [None]),
    "array 32": (b"\xdd\x00\x00\x00\x01\xc0", [None]),
    "map 16": (b"\xde\x00\x01\x01\x02", {1: 2}),
    "map 32": (b"\xdf\x00\x00\x00\x01\x01\x02", {1: 2}),
    "ext 8": (b"\xc7\x01\x05a", Ext(5, b"a")),
    "ext 16": (b"\xc8\x00\x01\x05a", Ext(5, b"a")),
    "ext 32": (b"\xc9\x00\x00\x00\x01\x05a", Ext(5, b"a")),
    "ext 16, empty, of a negative code": (b"\xc8\x00\x00\x80", Ext(-128, b"")),
    "float 32": (b"\xca" + struct.pack(">f", 1.5), 1.5),
}
"""Values with more bytes than they need."""

KEPT_EXTS = {
    "seconds": b"\xd6\xff\x00\x00\x00\x01",
    "nanoseconds": b"\xd7\xff" + bytes(8),
    "seconds before 1970": b"\xc7\x0c\xff" + b"\xff" * 12,
    "seconds, long form": b"\xc7\x04\xff\x00\x00\x00\x01",
    "no time": b"\xd4\xff\x00",
    "too many nanoseconds": b"\xd7\xff" + b"\xff" * 8,
    "empty": b"\xc7\x00\xff",
}
"""Values of the extension type -1, which msgspec takes for times."""


@pytest.fixture
def codec() -> Codec:
    """Return a codec that has read nothing yet."""
    return Codec(GeneratedFamily(wire))


def test_first_bytes_name_the_model(codec: Codec) -> None:
    """A message in the shortest form is decoded once, into the model of its first bytes."""
    assert isinstance(codec.decode(pack(write(1))), wire.Write)
    assert isinstance(codec.decode(pack(DELETE)), wire.LegacyDelete)
    assert codec.second_reads == 0


@pytest.mark.parametrize("kind", [bytearray, memoryview, msgspec.Raw])
def test_bytes_come_in_many_types(kind: Any) -> None:
    """Whatever holds the bytes, the message is the same."""
    data = pack(write({"a": 1}))
    assert CODEC.decode(kind(data)) == CODEC.decode(data)
    assert CODEC.decode_all(kind(data)) == CODEC.decode_all(data)


def test_a_view_with_gaps_is_read() -> None:
    """A memoryview need not be contiguous."""
    data = pack(write(1))
    gapped = memoryview(bytes(byte for pair in zip(data, data, strict=True) for byte in pair))[::2]
    assert CODEC.decode(gapped) == CODEC.decode(data)


@pytest.mark.parametrize("form", LONG_FORMS)
def test_long_forms_mean_the_same(form: str, codec: Codec) -> None:
    """A value with more bytes than it needs is the value, read by the second parser and counted."""
    raw, value = LONG_FORMS[form]
    assert value_in(holding(raw), codec) == value
    assert type(value_in(holding(raw))) is type(value)
    assert codec.second_reads == 1


@pytest.mark.parametrize(
    "head",
    [b"\xdc\x00\x03\x01\x01", b"\xdd\x00\x00\x00\x03\xcc\x01\x01", b"\x93\xd0\x01\xcd\x00\x01"],
)
def test_long_heads_name_the_model_too(head: bytes) -> None:
    """The model is found where the first bytes are not the shortest ones."""
    data = pack(write("a"))
    assert CODEC.decode(head + data[3:]) == CODEC.decode(data)
    assert CODEC.decode_all(b"\x91" + head + data[3:]) == [CODEC.decode(data)]
    assert cw.detect(head + data[3:]) == CODEC.format


@pytest.mark.parametrize("form", KEPT_EXTS)
def test_times_stay_bytes(form: str) -> None:
    """An extension type of code -1 is kept as it is, also as the key of a map."""
    raw = KEPT_EXTS[form]
    length = len(raw) - raw.index(b"\xff") - 1
    content = raw[-length:] if length else b""
    assert value_in(holding(raw)) == Ext(-1, content)
    assert value_in(holding(b"\x81" + raw + b"\x01")) == {ExtKey(-1, content): 1}


def test_keys_of_maps_are_of_any_type_but_maps() -> None:
    """Text, bytes, numbers, nil, arrays and extension types can be keys."""
    raw = b"\x86\xa1a\x01\xc4\x01a\x02\x05\x03\xc0\x04\x92\x01\x91\xd4\x05x\x05\xd4\x05x\x06"
    expected = {"a": 1, b"a": 2, 5: 3, None: 4, (1, (ExtKey(5, b"x"),)): 5, ExtKey(5, b"x"): 6}
    assert value_in(holding(raw)) == expected


def test_floats_keep_their_bits() -> None:
    """Not-a-number, the infinities and a negative zero come as they are."""
    assert math.isnan(value_in(pack(write(math.nan))))
    assert value_in(pack(write(-math.inf))) == -math.inf
    assert math.copysign(1, value_in(pack(write(-0.0)))) == -1
    assert type(value_in(pack(write(1.0)))) is float


def test_integers_reach_as_far_as_messagepack() -> None:
    """Both ends of the 64 bits are exact."""
    assert value_in(pack(write([2**64 - 1, -(2**63)]))) == [2**64 - 1, -(2**63)]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 16])
def test_an_array_of_arrays_is_a_batch(size: int) -> None:
    """A batch of any size is told from a message, which begins with an integer."""
    data = pack([write(i) for i in range(size)])
    assert CODEC.decode_all(data) == [CODEC.decode(pack(write(i))) for i in range(size)]
    with pytest.raises(cw.DecodeError) as refused:
        CODEC.decode(data)
    assert refused.value.code == "batch"


def test_elements_of_a_batch_stand_alone() -> None:
    """A bad element is a rejection in its place, also where the batch is of three."""
    good = pack(DELETE)
    elements = CODEC.decode_all(
        b"\x93" + good + pack([1, 3, []]) + holding(b"\x82\x01\x01\x01\x01")
    )
    assert elements[0] == CODEC.decode(good)
    assert [(item.element, item.code) for item in elements[1:]] == [
        (1, "unknown-variant"),
        (2, "duplicate-key"),
    ]


def test_a_batch_in_a_batch_is_refused() -> None:
    """Only messages are elements of a batch."""
    ((refused),) = CODEC.decode_all(pack([[DELETE]]))
    assert refused.code == "batch"


def test_keys_and_batches_of_keys() -> None:
    """A record key begins with text, a batch of keys with a key; it may be empty."""
    key = wire.Key("ns", "set", KEY[2], 1)
    assert CODEC.decode_key(pack(KEY)) == key
    assert CODEC.decode_key(pack([KEY, KEY])) == [key, key]
    assert CODEC.decode_key(pack([])) == []
    assert CODEC.decode_key(b"\xdc\x00\x04" + pack(KEY)[1:]) == key


def test_text_for_bytes_is_refused() -> None:
    """Where MessagePack has bytes, Base64 text is not taken for them, nor bytes for text."""
    for wrong in (["ns", "set", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", 1], [b"ns", "set", KEY[2], 1]):
        with pytest.raises(cw.DecodeError) as refused:
            CODEC.decode_key(pack(wrong))
        assert refused.value.code == "wrong-type"


def test_validate_takes_bytes_models_and_plain_values() -> None:
    """The same message is valid, or has the same issue, whatever it is given as."""
    good, bad = write(1), [1, 1, [KEY, "7", 0, 5, []]]
    for form in (pack(good), CODEC.decode(pack(good)), good, pack([good]), [good], b"\x90"):
        assert CODEC.validate(form) == []
    for form in (pack(bad), bad):
        (issue,) = CODEC.validate(form)
        assert (issue.pointer, issue.code) == ("/2/1", "wrong-type")
    (issue,) = CODEC.validate(pack([good, bad]))
    assert issue.pointer == "/1/2/1"


def test_messages_are_recognised() -> None:
    """A message or a batch of them says what it is; JSON and other arrays do not."""
    assert cw.detect(pack(DELETE)) == CODEC.format
    assert cw.detect(pack([DELETE])) == CODEC.format
    for other in (b"", b"{}", b"[1,2]", b"\x90", pack([1, 3, []]), pack(KEY), "text", b"\xc1"):
        assert cw.detect(other) != CODEC.format


def test_what_msgpack_writes_is_short() -> None:
    """The reference implementation writes the shortest forms, so its messages are read at once."""
    values = [0, 127, 128, 2**32, -1, -33, "a" * 31, "a" * 32, b"a", 1.5, {1: [None, True]}]
    data = pack(write(*values))
    before = CODEC.second_reads
    assert [item.value for item in CODEC.decode(data).payload.bins] == values
    assert CODEC.second_reads == before
    assert msgpack.unpackb(data, strict_map_key=False) == write(*values)
