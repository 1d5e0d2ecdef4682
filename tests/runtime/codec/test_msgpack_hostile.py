"""Whatever the bytes are, they end as a message of MessagePack or as a DecodeError."""

import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.runtime.codec.formats import modest
from tests.runtime.codec.packed import CODEC, DELETE, KEY, holding, pack, write

import changewire as cw

DEPTH = 100_000
EXPECTED = cw.CODES.keys() - {"internal-error"}
"""Codes of what bytes can be; the other one would be a defect of changewire."""
GOOD = pack(write(1))
HOSTILE: dict[str, tuple[bytes, str, str]] = {
    "nothing": (b"", "empty", ""),
    "reserved byte": (b"\xc1", "invalid-msgpack", ""),
    "reserved byte inside": (holding(b"\xc1"), "invalid-msgpack", "/2/4/0/3"),
    "JSON": (b'{"msg": "write"}', "trailing-data", ""),
    "a second message": (GOOD + GOOD, "trailing-data", ""),
    "a byte too many": (GOOD + b"\x00", "trailing-data", ""),
    "a byte too few": (GOOD[:-1], "truncated", "/2/4/0/3"),
    "a long string": (holding(b"\xdb\xff\xff\xff\xff"), "truncated", "/2/4/0/3"),
    "a long bin": (holding(b"\xc6\xff\xff\xff\xff"), "truncated", "/2/4/0/3"),
    "a long array": (holding(b"\xdd\xff\xff\xff\xff"), "truncated", "/2/4/0/3/0"),
    "a long map": (holding(b"\xdf\xff\xff\xff\xff"), "truncated", "/2/4/0/3"),
    "a long ext": (holding(b"\xc9\xff\xff\xff\xff\x05"), "truncated", "/2/4/0/3"),
    "an ext without a code": (holding(b"\xd4"), "truncated", "/2/4/0/3"),
    "long arrays in long arrays": (b"\xdd\xff\xff\xff\xff" * 99, "truncated", "/0" * 99),
    "a long message": (b"\xdd\xff\xff\xff\xff\x01\x01", "truncated", "/2"),
    "a long batch": (b"\xdd\xff\xff\xff\xff" + GOOD, "truncated", "/1"),
    "no UTF-8": (holding(b"\xa1\xff"), "invalid-unicode", "/2/4/0/3"),
    "half a surrogate pair": (holding(b"\xa3\xed\xa0\x80"), "invalid-unicode", "/2/4/0/3"),
    "no UTF-8 in a key": (holding(b"\x81\xa1\xff\x01"), "invalid-unicode", "/2/4/0/3"),
    "a map as a key": (holding(b"\x81\x80\x01"), "wrong-type", "/2/4/0/3"),
    "a map in a key": (holding(b"\x81\x91\x80\x01"), "wrong-type", "/2/4/0/3"),
    "the same key": (holding(b"\x82\xa1a\x01\xa1a\x02"), "duplicate-key", "/2/4/0/3/a"),
    "the same key and value": (holding(b"\x82\xa1a\x01\xa1a\x01"), "duplicate-key", "/2/4/0/3/a"),
    "the same key, longer": (holding(b"\x82\x01\x01\xcc\x01\x01"), "duplicate-key", "/2/4/0/3/1"),
    "1 and true": (holding(b"\x82\x01\x01\xc3\x01"), "duplicate-key", "/2/4/0/3/True"),
    "true and 1.0": (
        holding(b"\x82\xc3\x01\xcb\x3f\xf0" + bytes(6) + b"\x01"),
        "duplicate-key",
        "/2/4/0/3/1.0",
    ),
    "0 and false, deep inside": (
        holding(b"\x91\x81\xa1/\x82\x00\x01\xc2\x01"),
        "duplicate-key",
        "/2/4/0/3/0/~1/False",
    ),
    "the same ext": (holding(b"\x82\xd4\x05a\x01\xc7\x01\x05a\x01"), "duplicate-key", ""),
    "arrays that are the same": (
        holding(b"\x82\x91\x01\x01\x91\xc3\x01"),
        "duplicate-key",
        "/2/4/0/3/(True,)",
    ),
    "deep arrays, never closed": (b"\x91" * DEPTH, "too-deep", ""),
    "deep arrays": (b"\x91" * DEPTH + b"\x01", "too-deep", ""),
    "deep arrays inside": (holding(b"\x91" * DEPTH + b"\x01"), "too-deep", ""),
    "deep maps": (holding(b"\x81\x01" * DEPTH + b"\x01"), "too-deep", ""),
    "deep keys": (holding(b"\x81" * DEPTH + b"\x01"), "too-deep", ""),
    "an empty batch": (b"\x90", "batch", ""),
    "nil": (b"\xc0", "wrong-type", ""),
    "another version": (pack([2, 1, []]), "wrong-value", "/0"),
    "a version that is no integer": (b"\x93\xc3" + GOOD[2:], "wrong-value", "/0"),
    "a position too few": (pack(write(1)[:-1]), "wrong-length", ""),
    "a wrong type": (pack([1, 1, [KEY, "7", 0, 5, []]]), "wrong-type", "/2/1"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_every_attack_has_its_code_and_place(name: str) -> None:
    """A hostile message is refused with the code and the pointer that name what is wrong."""
    data, code, pointer = HOSTILE[name]
    with pytest.raises(cw.DecodeError) as refused:
        CODEC.decode(data)
    assert refused.value.code == code
    assert refused.value.pointer.startswith(pointer)
    found = [issue.code for issue in CODEC.validate(data)][:1]
    assert found == ([] if code == "batch" else [code])


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_else_leaves_the_codec(name: str) -> None:
    """Batches and keys refuse the same bytes without any other error."""
    data, _, _ = HOSTILE[name]
    assert all(isinstance(item, cw.Rejection) for item in CODEC.decode_all(data))
    if data != b"\x90":
        with pytest.raises(cw.DecodeError):
            CODEC.decode_key(data)


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"", 0),
        (b"\x93\x01\xc1", 2),
        (GOOD + b"\x00", len(GOOD)),
        (GOOD[:-1], len(GOOD) - 1),
        (holding(b"\xdb\xff\xff\xff\xff"), len(GOOD) + 4),
        (holding(b"\xa1\xff"), len(GOOD) - 1),
        (holding(b"\x82\x01\x01\x01\x01"), None),
    ],
)
def test_refusals_say_where(data: bytes, offset: int | None) -> None:
    """The byte offset is where the value begins that cannot be read, or the end of the bytes."""
    with pytest.raises(cw.DecodeError) as refused:
        CODEC.decode(data)
    assert refused.value.byte_offset == offset


@pytest.mark.parametrize("text", ["", "\x93", '{"msg": "write"}'])
def test_text_is_no_messagepack(text: str) -> None:
    """Bytes are asked for; text is refused as a message, not as a mistake of the program."""
    for attempt in (CODEC.decode, CODEC.decode_key):
        with pytest.raises(cw.DecodeError) as refused:
            attempt(text)
        assert refused.value.code == "invalid-msgpack"
    (rejected,) = CODEC.decode_all(text)
    assert rejected.code == "invalid-msgpack"


@pytest.mark.parametrize("data", [5, None, [1]])
def test_what_holds_no_bytes_is_a_mistake_of_the_program(data: Any) -> None:
    """An integer is no message of so many zeros."""
    with pytest.raises(TypeError):
        CODEC.decode(data)


SAMPLES = [
    GOOD,
    pack(DELETE),
    pack(write({1: [b"a", None], b"k": {"x": 1.5}}, [True], -1, "text", 2**63)),
    holding(b"\x82\xd4\x05a\x01\xd6\xff\x00\x00\x00\x01\x92\x01\xc7\x02\x17ab"),
    pack([write(1), DELETE, write([])]),
]


def ends_well(data: bytes) -> None:
    """Read bytes in every way; nothing but models and refusals comes out."""
    for item in CODEC.decode_all(data):
        if isinstance(item, cw.Rejection):
            assert item.code in EXPECTED
        else:
            assert CODEC.decode(CODEC.encode(item)) is not None
    with suppress(cw.DecodeError):
        CODEC.decode_key(data)
    assert all(issue.code in EXPECTED for issue in CODEC.validate(data))


@pytest.mark.parametrize("data", SAMPLES)
def test_every_truncation_ends_well(data: bytes) -> None:
    """A message that is cut anywhere is refused, never read as another one."""
    for end in range(len(data)):
        ends_well(data[:end])
        assert isinstance(CODEC.decode_all(data[:end])[0], cw.Rejection)


@pytest.mark.parametrize("data", SAMPLES)
def test_every_flipped_byte_ends_well(data: bytes) -> None:
    """A message with any byte replaced is a message or a refusal."""
    for at in range(len(data)):
        for other in (*(data[at] ^ (1 << bit) for bit in range(8)), 0xC1, 0xDF, 0xDD, 0xFF):
            ends_well(data[:at] + bytes([other]) + data[at + 1 :])


@modest
@given(st.binary(max_size=60))
@example(b"\x93\x01\x01\x93")
def test_any_bytes_end_well(raw: bytes) -> None:
    """Bytes of no meaning are a message or a refusal, alone and inside of one."""
    ends_well(raw)
    ends_well(holding(raw))


@pytest.mark.parametrize(
    "data",
    [
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff",
    ],
)
def test_false_lengths_take_no_memory(data: bytes) -> None:
    """A length of four thousand million costs no more memory than the bytes that are there."""
    tracemalloc.start()
    try:
        for raw in (data, holding(data), data * 200, b"\x91" + data):
            CODEC.decode_all(raw)
            CODEC.validate(raw)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**20


def test_long_keys_in_deep_maps_take_no_time() -> None:
    """The place of a value costs nothing until it is asked for, however long its names are."""
    key = b"\xdb\x00\x01\x00\x00" + b"k" * 2**16
    data = holding((b"\x81" + key) * 400 + b"\xc1")
    tracemalloc.start()
    try:
        with pytest.raises(cw.DecodeError) as refused:
            CODEC.decode(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refused.value.code == "invalid-msgpack"
    assert peak < 8 * len(data)
