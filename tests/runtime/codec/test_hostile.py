"""Whatever the bytes are, they end as a message or as a DecodeError."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.runtime.codec.formats import (
    FORMATS,
    JSON_FORMATS,
    ROLES,
    Format,
    JsonFormat,
    golden,
    modest,
    name_of,
    role_of,
    wire_of,
)
from tests.runtime.codec.shown import shown

import changewire as cw

DEPTH = 100_000
BITS = [1 << i for i in range(8)]
EVERY = 3
"""A byte is replaced by every third of the others; the next byte, by the next of them."""

AROUND = 16
"""How many bytes before a byte, and behind it, make it the same place as one before."""

EXPECTED = cw.CODES.keys() - {"internal-error"}
"""Codes of what bytes can be; the other one would be a defect of changewire."""


GOOD = b"GOOD"
"""Stands for a good message of a format, in what is made from one."""


def holding(value: bytes) -> bytes:
    """Stand for a good message, but for a value inside."""
    return GOOD + b"(" + value + b")"


def filled(form: JsonFormat, data: bytes) -> bytes:
    """Return bytes with the good message of a format in its place."""
    before, found, after = data.partition(GOOD + b"(")
    if found:
        value, _, after = after.rpartition(b")")
        return before + form.good.replace(b"[1]", b"[" + value + b"]") + after
    return data.replace(GOOD, form.good)


def cut(form: JsonFormat, data: bytes, more: bytes) -> bytes:
    """Return a message with more properties at its end."""
    return filled(form, data)[:-1] + more + b"}"


HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "empty"),
    "blanks": (b" \t\r\n" * 9, "empty"),
    "byte order mark": (b"\xef\xbb\xbf" + GOOD, "invalid-unicode"),
    "byte order mark alone": (b"\xef\xbb\xbf", "invalid-unicode"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "invalid-unicode"),
    "UTF-16, big end first": ('{"a": 1}'.encode("utf-16-be"), "invalid-unicode"),
    "UTF-16, little end first": ('{"a": 1}'.encode("utf-16-le"), "invalid-unicode"),
    "UTF-32": ('{"a": 1}'.encode("utf-32"), "invalid-unicode"),
    "UTF-32, big end first": ('{"a": 1}'.encode("utf-32-be"), "invalid-unicode"),
    "no UTF-8": (holding(b'"\xff"'), "invalid-unicode"),
    "no UTF-8 in a name": (holding(b'{"\xff":1}'), "invalid-unicode"),
    "overlong UTF-8": (holding(b'"\xc0\x80"'), "invalid-unicode"),
    "surrogate in UTF-8": (holding(b'"\xed\xa0\x80"'), "invalid-unicode"),
    "first half of a pair": (holding(rb'"\ud800 and no more"'), "invalid-unicode"),
    "first half at the end": (b'"\\ud800"', "invalid-unicode"),
    "first half after backslashes": (b'"\\\\\\ud800"', "invalid-unicode"),
    "second half of a pair": (holding(rb'"\udc00"'), "invalid-unicode"),
    "two first halves": (holding(rb'"\ud800\ud800"'), "invalid-unicode"),
    "first half before an escape": (holding(rb'"\ud800\n"'), "invalid-unicode"),
    "first half before a backslash": (holding(rb'"\ud800\\"'), "invalid-unicode"),
    "first half before a quote": (holding(rb'"\ud800\""'), "invalid-unicode"),
    "first half before a line feed": (holding(b'"\\ud800\n"'), "invalid-unicode"),
    "first half and an escape at the end": (rb'"\ud800\n"', "invalid-unicode"),
    "first half and a line feed at the end": (b'"\\ud800\n"', "invalid-unicode"),
    "a line feed in text": (holding(b'"\n"'), "invalid-json"),
    "an escape without digits": (rb'"\u"', "invalid-json"),
    "first half, cut before its backslash": (rb'["\ud83d', "truncated"),
    "first half, cut behind a backslash": (b'["\\ud83d\\', "truncated"),
    "a whole pair, cut after it": (b'["\\ud83d\\ude00', "truncated"),
    "a pair, cut inside": (b'["\\ud83d\\ud', "truncated"),
    "NaN": (holding(b"NaN"), "invalid-json"),
    "Infinity": (holding(b"Infinity"), "invalid-json"),
    "an exponent of 20 digits": (holding(b"1e99999999999999999999"), "out-of-range"),
    "5000 digits": (holding(b"9" * 5000), "out-of-range"),
    "a number that begins with 0": (holding(b"01"), "invalid-json"),
    "a number that begins with +": (holding(b"+1"), "invalid-json"),
    "a comma too many in an array": (holding(b"1,"), "invalid-json"),
    "a comma too many in an object": (holding(b'{"a":1,}'), "invalid-json"),
    "a comment": (holding(b"/*1*/"), "invalid-json"),
    "one quote": (b'"', "truncated"),
    "deep arrays, never closed": (b"[" * DEPTH, "too-deep"),
    "deep arrays": (b"[" * DEPTH + b"]" * DEPTH, "too-deep"),
    "deep objects, never closed": (b'{"a":' * DEPTH, "too-deep"),
    "deep objects": (b'{"a":' * DEPTH + b"1" + b"}" * DEPTH, "too-deep"),
    "deep arrays inside": (holding(b"[" * DEPTH + b"]" * DEPTH), "too-deep"),
    "trailing bytes": (GOOD + b"x", "trailing-data"),
    "trailing NUL": (GOOD + b"\x00", "trailing-data"),
    "a second message": (GOOD + b"\n" + GOOD, "trailing-data"),
    "random bytes": (b"\x93\x01\x02\xa3abc", "invalid-json"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_have_their_code(json_format: JsonFormat, name: str) -> None:
    """Bytes that are no JSON are refused with the code that says why, as message and as key."""
    form = json_format
    template, code = HOSTILE[name]
    data = filled(form, template)
    with pytest.raises(cw.DecodeError) as caught:
        form.codec.decode(data)
    assert caught.value.code == code
    if "key" in form.roles:
        with pytest.raises(cw.DecodeError) as caught:
            form.codec.decode_key(data)
        assert caught.value.code == code
    (refused,) = form.codec.decode_all(data)
    assert (refused.code, refused.element) == (code, 0)
    assert [issue.code for issue in form.codec.validate(data)] == [code]
    assert cw.detect(data) is None


def test_the_good_message_is_good(json_format: JsonFormat) -> None:
    """What the hostile bytes are made from is a message."""
    form = json_format
    assert form.codec.decode(form.good) == form.codec.decode(filled(form, holding(b"1")))


def test_a_deep_unknown_property(json_format: JsonFormat) -> None:
    """An unknown property is refused where it is nested too deep."""
    data = cut(json_format, GOOD, b',"x":' + b"[" * DEPTH + b"]" * DEPTH)
    with pytest.raises(cw.DecodeError) as caught:
        json_format.codec.decode(data)
    assert caught.value.code == "too-deep"


def test_numbers_beyond_binary64(json_format: JsonFormat) -> None:
    """A number that binary64 cannot hold is kept by formats with exact numbers, else refused."""
    form = json_format
    data = filled(form, holding(b"1e400"))
    if form.is_exact:
        assert b"1E+400" in form.codec.encode(form.codec.decode(data))
    else:
        with pytest.raises(cw.DecodeError) as caught:
            form.codec.decode(data)
        assert caught.value.code == "out-of-range"


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**4000])
def test_integers_of_any_size_are_kept_inside_collections(number: int) -> None:
    """An integer beyond 64 bits is exact where the schema takes any value, unknown ones too."""
    codec = cw.codec("aerospike-json")
    data = cut(JSON_FORMATS["aerospike-json"], holding(str(number).encode()), b',"new":%d' % number)
    model = codec.decode(data)
    assert model.bins[0].value == [number]
    assert codec.decode(codec.encode(model)) == model


@pytest.mark.parametrize(
    ("value", "code", "byte"),
    [
        (rb'"\ud800"', "invalid-unicode", 7),
        (rb'"\ud800\n"', "invalid-unicode", 7),
        (b'"\\ud800\n"', "invalid-unicode", 7),
        (b'"\n"', "invalid-json", 1),
        (b'"\n\\ud800"', "invalid-json", 1),
        (rb'"\u12"', "invalid-json", 5),
        (rb'["-1e9\"", 1e-9, -1.5e99999999999999999999, 1e9]', "out-of-range", 17),
        (b"[0.5," + b"9" * 5000, "out-of-range", 5),
    ],
)
def test_an_unknown_property_that_is_no_json(
    json_format: JsonFormat, value: bytes, code: str, byte: int
) -> None:
    """At the root too, at the very end of a message, a refusal says what is wrong and where."""
    data = cut(json_format, GOOD, b',"x":' + value)
    with pytest.raises(cw.DecodeError) as refused:
        json_format.codec.decode(data)
    assert refused.value.code == code
    assert refused.value.byte_offset == data.index(b',"x":') + 5 + byte
    assert [issue.code for issue in json_format.codec.validate(data)] == [code]


@pytest.mark.parametrize("deep", [400, 700, 850, 900, 930, 960, 990, 1010])
def test_no_depth_is_special(json_format: JsonFormat, deep: int) -> None:
    """At every depth a message decodes, and encodes again, or is refused as too deep."""
    form = json_format
    brackets = b"[" * deep + b"]" * deep
    data = cut(form, holding(brackets), b',"new":' + brackets)
    for wire in (data, data.replace(b'"name"', b'"new":1,"name"'), data.replace(b"list", b"int")):
        try:
            model = form.codec.decode(wire)
        except cw.DecodeError as error:
            codes = {error.code}
        else:
            codes = set()
            try:
                form.codec.encode(model)
            except cw.EncodeError as error:
                codes = {error.code}
        assert codes <= {"too-deep", "wrong-type"}


def attempt(form: Format, data: Any, role: str) -> str:
    """Return the code of the refusal; an empty string where there is none."""
    try:
        form.read(data, role)
    except cw.DecodeError as error:
        return error.code
    return ""


@pytest.mark.parametrize(("name", "path"), golden("valid"), ids=name_of)
def test_every_truncation(name: str, path: Path) -> None:
    """No part of a message, from its start, is a message; it never raises anything else."""
    form, role = FORMATS[name], role_of(path)
    data = form.encoding.trimmed(wire_of(path))
    role = "message" if role == "batch" else role
    codes = {attempt(form, data[:length], role) for length in range(len(data))}
    assert codes <= form.encoding.cut_codes


def test_every_change_of_one_byte(form: Format) -> None:
    """A message with one byte changed is a message or is refused with a code that is documented.

    A byte among the same bytes as in an earlier message is not changed to the same again.
    """
    changed: set[Any] = set()
    codes: set[str] = set()
    for path in form.golden("valid"):
        data, role = wire_of(path), role_of(path)
        for place, byte in enumerate(data):
            among = (role, place % EVERY, data[max(0, place - AROUND) : place + AROUND])
            if among in changed:
                continue
            changed.add(among)
            others = sorted({byte ^ bit for bit in BITS} | set(form.encoding.damage))
            for other in others[place % EVERY :: EVERY]:
                wire = data[:place] + bytes([other]) + data[place + 1 :]
                if role == "batch":
                    codes |= {getattr(item, "code", "") for item in form.codec.decode_all(wire)}
                else:
                    codes.add(attempt(form, wire, role))
        assert codes - {""} <= EXPECTED, path
    assert f"invalid-{form.encoding.rule}" in codes


@pytest.mark.parametrize(("name", "role"), ROLES)
@modest
@given(
    data=st.binary(max_size=200) | st.text(max_size=100) | st.text('{}[]",:0e-\\u d8"', max_size=60)
)
@example(data="\ud800")
@example(data='{"msg":"\udfff"}')
def test_random_bytes_and_text(name: str, role: str, data: bytes | str) -> None:
    """Bytes and text at random are decoded or refused."""
    if role == "batch":
        found = FORMATS[name].codec.decode_all(data)
        assert {getattr(item, "code", "") for item in found} <= {"", *EXPECTED}
    else:
        assert attempt(FORMATS[name], data, role) in {"", *EXPECTED}


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, msgspec.Raw])
def test_kinds_of_input(form: Format, kind: Any) -> None:
    """Bytes and their views give the same message, with the same refusals."""
    _expect_the_same(form, kind)


def test_text_as_input(json_format: JsonFormat) -> None:
    """Text gives the same message as its bytes, with the same refusals."""
    _expect_the_same(json_format, bytes.decode)


def _expect_the_same(form: Format, kind: Any) -> None:
    for role, path in [(role_of(path), path) for path in form.golden("valid")]:
        data = wire_of(path)
        assert shown(form.read(kind(data), role)) == shown(form.read(data, role))
        cut = form.encoding.trimmed(data)[:-1]
        assert attempt(form, kind(cut), "message") == ("truncated" if cut else "empty")
        assert form.codec.decode_all(kind(cut))[0].byte_offset == len(cut)


def test_views_with_gaps(form: Format) -> None:
    """A memoryview that is not contiguous is read as the bytes that it shows."""
    for path in form.golden("valid"):
        data, role = wire_of(path), role_of(path)
        spread = memoryview(b"".join(bytes([byte, 0]) for byte in data))[::2]
        assert shown(form.read(spread, role)) == shown(form.read(data, role))
