"""What a library raises beyond its documentation refuses the message, and nothing else happens."""

import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec import UNSET
from tests.runtime.codec.formats import FORMATS, JsonFormat
from tests.runtime.codec.packed import holding

import changewire as cw
from changewire.changes import aerospike
from changewire.changes.decode_options import DecodeOptions
from changewire.codec import msgpack_wire
from changewire.codec.codec import Codec
from changewire.codec.family import GeneratedFamily
from changewire.codec.installed import module_of
from changewire.explain import readings

IN_MESSAGE = "a value of the message"


class StrangeError(Exception):
    """An exception that no library documents."""


def strange(*_: object, **__: object) -> Any:
    """Raise it, with a value in its text."""
    raise StrangeError(IN_MESSAGE)


JSON_WRITE = (
    b'{"msg":"write","key":["ns",null,"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",null],'
    b'"gen":1,"exp":0,"lut":0,"bins":[]}'
)
JSON_KEY = b'["ns",null,"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",null]'
MSGPACK_WRITE = holding(b"\xcc\x01")  # an integer that is longer than it needs to be
MSGPACK_KEY = b"\x94\xa2ns\xc0\xc4\x14abcdefghijklmnopqrst\xcc\x01"

MESSAGES = {
    "aerospike-json": (JSON_WRITE, JSON_KEY),
    "aerospike-msgpack": (MSGPACK_WRITE, MSGPACK_KEY),
}


class Broken:
    """A parser that raises what it does not document."""

    def __init__(self, *_: object, **__: object) -> None:
        self.decode = strange
        self.encode = strange
        self.feed = strange


@pytest.fixture(params=MESSAGES)
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Codec:
    """Return a codec of each encoding whose libraries raise what they do not document."""
    monkeypatch.setattr("msgspec.json.Decoder", Broken)
    monkeypatch.setattr("msgspec.json.decode", strange)
    monkeypatch.setattr(msgpack_wire, "Decoder", Broken)
    monkeypatch.setattr("msgpack.Unpacker", Broken)
    return Codec(GeneratedFamily(module_of(request.param)))


def is_internal(error: cw.CodecError) -> bool:
    """Tell whether an error names the exception by its type, and holds nothing of its text."""
    shown = "".join(traceback.format_exception(error))
    (issue,) = error.issues
    return (
        issue.code == issue.rule == "internal-error"
        and "StrangeError" in issue.expected
        and IN_MESSAGE not in shown + repr(issue)
    )


READS: dict[str, Callable[[Codec, bytes, bytes], Any]] = {
    "decode": lambda codec, message, _: codec.decode(message),
    "decode_key": lambda codec, _, key: codec.decode_key(key),
    "from_json": lambda codec, _, __: codec.from_json(JSON_WRITE),
}


@pytest.mark.parametrize("name", READS)
def test_reading_refuses_the_message(broken: Codec, name: str) -> None:
    """An undocumented exception of a parser is a `DecodeError` of its own code."""
    message, key = MESSAGES[broken.format]
    with pytest.raises(cw.DecodeError) as refused:
        READS[name](broken, message, key)
    assert is_internal(refused.value)


def test_a_batch_is_one_rejection(broken: Codec) -> None:
    """`decode_all` returns the refusal in place of the message."""
    (refused,) = broken.decode_all(MESSAGES[broken.format][0])
    assert refused.code == "internal-error"
    assert IN_MESSAGE not in repr(refused)


def test_validation_finds_it(broken: Codec) -> None:
    """`validate` returns it as the issue of the message."""
    (issue,) = broken.validate(MESSAGES[broken.format][0])
    assert issue.code == "internal-error"


def test_detection_finds_no_format(broken: Codec) -> None:
    """For detection such a message is of no format."""
    message = MESSAGES[broken.format][0]
    assert broken.read_at_once(message) is UNSET
    assert not broken.is_of_it(broken.parsed(message))


def test_detection_survives_its_own_look_at_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """`detect` finds no format, and reading without a format refuses the message."""
    monkeypatch.setattr(GeneratedFamily, "recognises", strange)
    assert cw.detect(MSGPACK_WRITE) is None
    with pytest.raises(cw.DecodeError) as refused:
        cw.decode(MSGPACK_WRITE)
    assert is_internal(refused.value)
    ((rejected, _),) = DecodeOptions("auto").rows(MSGPACK_WRITE, None)
    assert rejected.code == "internal-error"  # type: ignore[union-attr]


@pytest.mark.parametrize("format", FORMATS)
def test_building_a_model_refuses_the_message(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An undocumented exception of the second reader is a refusal, also for an element."""
    form = FORMATS[format]
    data = MSGPACK_WRITE
    if isinstance(form, JsonFormat):
        data = form.good.replace(b'{"', b'{"n\\"w":1,"')  # a name that is never learned
    codec = form.codec
    monkeypatch.setattr("msgspec.convert", strange)
    with pytest.raises(cw.DecodeError) as refused:
        codec.decode(data)
    assert is_internal(refused.value)
    if "batch" in form.roles:
        batch = b"\x91" + data if data[0] > 0x7F else b"[" + data + b"]"
        (element,) = codec.decode_all(batch)
        assert (element.code, element.element) == ("internal-error", 0)


def test_encoding_refuses_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """An undocumented exception of an encoder is an `EncodeError` of its own code."""
    for name, (message, _) in MESSAGES.items():
        model = cw.decode(message, format=name)
        with monkeypatch.context() as patch:
            patch.setattr("msgspec.json.Encoder", Broken)
            patch.setattr(msgpack_wire, "Encoder", Broken)
            codec = Codec(GeneratedFamily(module_of(name)))
        with pytest.raises(cw.EncodeError) as refused:
            codec.encode(model)
        assert is_internal(refused.value)


def test_an_explanation_has_it_as_its_issue(monkeypatch: pytest.MonkeyPatch) -> None:
    """`explain` names it as the issue of the message, without fields."""
    monkeypatch.setattr(readings, "base64_bytes", strange)
    found = cw.explain(JSON_WRITE)
    assert ([issue.code for issue in found.issues], found.fields) == (["internal-error"], [])
    assert found.format == "aerospike-json"


def test_a_change_that_cannot_be_made_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """An undocumented exception of an adapter is a `DecodeError`, and a rejection of the reader."""
    monkeypatch.setattr(aerospike, "row_by", strange)
    message = JSON_WRITE.replace(b'"lut":0', b'"lut":1')
    with pytest.raises(cw.DecodeError) as refused:
        cw.changes(cw.decode(message, format="aerospike-json"))
    assert is_internal(refused.value)
    ((rejected, leniencies),) = DecodeOptions("aerospike-json").rows(message, None)
    assert (rejected.code, leniencies) == ("internal-error", [])  # type: ignore[union-attr]


def test_too_deep_keeps_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stack has a code of its own wherever it ends."""

    def ended(*_: object, **__: object) -> Any:
        raise RecursionError

    monkeypatch.setattr(aerospike, "row_by", ended)
    with pytest.raises(cw.DecodeError) as refused:
        cw.changes(cw.decode(JSON_WRITE, format="aerospike-json"))
    assert refused.value.code == "too-deep"


@pytest.mark.parametrize("data", [5, None, [1], object()])
@pytest.mark.parametrize("format", FORMATS)
def test_what_holds_no_bytes_is_a_mistake_of_the_caller(format: str, data: Any) -> None:
    """A message that is neither bytes nor text raises `TypeError`: it is no refusal."""
    codec = cw.codec(format)
    reads = (codec.decode, codec.decode_all, codec.decode_key, codec.from_json, cw.detect)
    for read in (*reads, partial(cw.explain, format=format)):
        with pytest.raises(TypeError):
            read(data)
    with pytest.raises(TypeError):
        cw.infer([data], format=format)
