"""Extension types of every length, and times at every bound: kept as their bytes, or refused."""

import struct
from collections.abc import Iterator

import pytest
from msgspec.msgpack import Ext
from tests.runtime.codec.packed import CODEC, holding, value_in

import changewire as cw
from changewire.codec.msgpack_values import ExtKey

CODES = (-128, -2, -1, 0, 5, 7, 23, 127)
FIXED = {1: 0xD4, 2: 0xD5, 4: 0xD6, 8: 0xD7, 16: 0xD8}
COUNTED = {0xC7: ">B", 0xC8: ">H", 0xC9: ">I"}
LENGTHS = {
    0xC7: (0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 255),
    0xC8: (0, 4, 8, 12, 255, 256, 65535),
    0xC9: (0, 4, 8, 12, 65535, 65536),
}
NANOSECONDS = (0, 1, 499, 500, 999_999_499, 999_999_500, 999_999_999, 10**9, 2**30 - 1)
LAST = 253_402_300_799
"""The last second of the year 9999."""
SECONDS = (-(2**63), -62_135_596_801, -62_135_596_800, -1, 0, LAST, LAST + 1, 2**62, 2**63 - 1)


def fixed(code: int, data: bytes) -> bytes:
    """Return an extension of a length that its first byte says."""
    return bytes([FIXED[len(data)]]) + struct.pack("b", code) + data


def counted(head: int, code: int, data: bytes) -> bytes:
    """Return an extension of a length that stands behind its first byte."""
    return bytes([head]) + struct.pack(COUNTED[head], len(data)) + struct.pack("b", code) + data


def extensions() -> Iterator[tuple[bytes, int, bytes]]:
    """Yield (bytes, code, data) of extensions of every form and length."""
    for code in CODES:
        for fill in (b"\x00", b"\x7f", b"\xff"):
            for length in FIXED:
                yield fixed(code, fill * length), code, fill * length
            for head, lengths in LENGTHS.items():
                for length in lengths:
                    yield counted(head, code, fill * length), code, fill * length


def times() -> Iterator[tuple[bytes, int, bytes]]:
    """Yield the same of times in 32, 64 and 96 bits, each in every form of its length."""
    texts = [struct.pack(">I", seconds) for seconds in (0, 1, 2**31, 2**32 - 1)]
    texts += [
        struct.pack(">Q", ns << 34 | seconds)
        for ns in NANOSECONDS
        for seconds in (0, 1, 2**32, 2**34 - 1)
    ]
    texts += [
        struct.pack(">Iq", ns, seconds) for ns in (*NANOSECONDS, 2**32 - 1) for seconds in SECONDS
    ]
    for data in texts:
        if len(data) in FIXED:
            yield fixed(-1, data), -1, data
        for head in COUNTED:
            yield counted(head, -1, data), -1, data


KEPT = [*extensions(), *times()]


def test_every_extension_is_kept_as_its_bytes() -> None:
    """An extension of any code and length is read, written and read again as the same bytes."""
    for raw, code, data in KEPT:
        message = holding(raw)
        assert value_in(message) == Ext(code, data)
        assert value_in(CODEC.encode(CODEC.decode(message))) == Ext(code, data)


def test_every_extension_can_be_the_key_of_a_map() -> None:
    """As the key of a map it is kept as well."""
    for raw, code, data in KEPT:
        assert value_in(holding(b"\x81" + raw + b"\x01")) == {ExtKey(code, data): 1}


def test_all_of_changewire_reads_every_extension() -> None:
    """Validation, detection, batches, changes and explanations accept what `decode` accepts."""
    for raw, _, _ in KEPT:
        message = holding(raw)
        model = CODEC.decode(message)
        assert CODEC.validate(message) == []
        assert CODEC.decode_all(message) == [model]
        assert CODEC.decode_all(b"\x91" + message) == [model]
        assert cw.detect(message) == "aerospike-msgpack"
        assert CODEC.from_json(CODEC.to_json(model)) == model
        assert len(cw.changes(model)) == 1
        assert cw.explain(message).issues == []


@pytest.mark.parametrize("code", CODES)
def test_an_extension_in_any_other_place_is_refused(code: int) -> None:
    """An extension where the schema asks for an integer is refused as one of another type."""
    write = CODEC.encode(CODEC.decode(holding(b"\xc0")))
    for raw, of, _ in KEPT:
        if of == code:
            message = write[:2] + raw + write[3:]
            with pytest.raises(cw.DecodeError) as refused:
                CODEC.decode(message)
            assert refused.value.code == "unknown-variant"


def test_extensions_that_are_cut_are_refused() -> None:
    """Of an extension no part from its start is a value."""
    for raw, _, _ in times():
        for length in range(1, len(raw)):
            with pytest.raises(cw.DecodeError) as refused:
                CODEC.decode(holding(raw[:length]))
            assert refused.value.code == "truncated"
