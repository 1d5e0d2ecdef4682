"""The header says what a record is, and a reader never believes it against the record."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.codec.formats import FORMATS, golden, name_of, role_of, wire_of
from tests.runtime.kafka.models import same
from tests.samples import FORMAT, examples
from tests.variants import variants

import changewire as cw
from changewire.kafka import (
    HEADERS,
    ChangewireDeserializer,
    ChangewireSerializer,
    MessageField,
    MessageRejectedError,
    SchemaHeader,
    SerializationContext,
    SerializationError,
)
from changewire.kafka.schema_header import parse
from changewire_messages import aerospike_json as aero

WRITE = json.dumps(examples("write")[0]).encode()
DIGEST = aero.DIGESTS["Message"].removeprefix("sha256:")[:32]
KEY = cw.encode(aero.Key("ns", None, b"x" * 20, 7))
SERIALIZE = ChangewireSerializer(FORMAT, header=True)


def context(headers: Any, *, is_key: bool = False) -> SerializationContext:
    """Return the context of a record with headers."""
    return SerializationContext("t", MessageField.KEY if is_key else MessageField.VALUE, headers)


def says(text: str | bytes, *, is_key: bool = False) -> SerializationContext:
    """Return the context of a record whose header says something."""
    return context([(HEADERS[is_key], text)], is_key=is_key)


def header_of(
    raw: bytes, serialize: ChangewireSerializer = SERIALIZE, *, is_key: bool = False
) -> tuple[str, bytes]:
    """Return the header that a serializer writes beside a record, which stays as it is."""
    headers: list[Any] = []
    assert serialize(raw, context(headers, is_key=is_key)) == raw
    (header,) = headers
    name, value = header
    return name, value


def refusal(data: bytes, ctx: SerializationContext, format: str | None = None) -> str:
    """Return the text with which a record is refused for its header."""
    with pytest.raises(MessageRejectedError) as caught:
        ChangewireDeserializer(format)(data, ctx)
    (issue,) = caught.value.issues
    assert (issue.code, issue.pointer) == ("header-mismatch", "")
    return str(caught.value)


@pytest.mark.parametrize(("name", "path"), golden("valid"), ids=name_of)
def test_a_header_tells_the_format(name: str, path: Any) -> None:
    """A reader that knows no format reads any record with a header, keys as well."""
    is_key, raw = "key" in role_of(path), wire_of(path)
    serialize = ChangewireSerializer(name, header=True, declared=False)
    header, value = header_of(raw, serialize, is_key=is_key)
    assert header == HEADERS[is_key]
    assert value.startswith(name.encode())
    model = ChangewireDeserializer()(raw, says(value, is_key=is_key))
    assert same(model, FORMATS[name].read(raw, role_of(path)))


def test_the_digest_is_that_of_the_schema_and_the_variant_its_title() -> None:
    """Anyone can look up what a header names."""
    text = f"{FORMAT};variant=Write;schema={DIGEST}"
    assert header_of(WRITE) == (HEADERS[False], text.encode())
    assert b"variant=Batch;" in header_of(b"[%s]" % WRITE)[1]
    assert b"variant=Key;" in header_of(KEY, is_key=True)[1]
    assert b"variant=KeyBatch;" in header_of(b"[%s]" % KEY, is_key=True)[1]


@pytest.mark.parametrize("name", FORMATS)
def test_variants_are_named_as_in_explanations(name: str) -> None:
    """The variant of a header is the one that `explain` shows."""
    seen = set[str]()
    for path in FORMATS[name].golden("valid"):
        if role_of(path) == "message":
            raw = wire_of(path)
            serialize = ChangewireSerializer(name, header=True, declared=False)
            found = parse(header_of(raw, serialize)[1])
            assert found is not None
            assert found.variant == cw.explain(raw, name).variant
            seen.add(found.variant)
    assert len(seen) <= len(variants(name))


def test_headers_of_others_stay() -> None:
    """A header is put beside those of others, in place of an old one, into list or dictionary."""
    headers = [("trace", b"1"), (HEADERS[False], b"old"), ("trace", b"2"), (HEADERS[True], b"k")]
    SERIALIZE(WRITE, context(headers))
    assert [name for name, _ in headers] == ["trace", "trace", HEADERS[True], HEADERS[False]]
    by_name: dict[str, bytes] = {"trace": b"1"}
    SERIALIZE(WRITE, context(by_name))
    assert by_name.keys() == {"trace", HEADERS[False]}
    assert cw.encode(ChangewireDeserializer()(WRITE, context(by_name)))


def test_a_refused_message_and_a_tombstone_leave_no_header() -> None:
    """Headers change only with a value that is sent."""
    headers: list[Any] = []
    with pytest.raises(MessageRejectedError):
        SERIALIZE(b"{}", context(headers))
    assert SERIALIZE(None, context(headers)) is None
    assert headers == []


@pytest.mark.parametrize("ctx", [None, context(None), context(())])
def test_a_header_needs_a_place(ctx: SerializationContext | None) -> None:
    """A serializer that cannot write its header says what to do about it."""
    with pytest.raises(SerializationError, match=r"give headers=\[\] when producing"):
        SERIALIZE(WRITE, ctx)


def test_a_header_of_another_format_is_an_error_with_both() -> None:
    """A reader of one format does not read a record that says it is of another."""
    text = refusal(WRITE, says(f"lindorm-json;variant=Insert;schema={DIGEST}"), FORMAT)
    assert "expected a header that says aerospike-json, not lindorm-json" in text
    assert text.startswith("aerospike-json, value of topic t: ")
    text = refusal(WRITE, says(f"other-json;variant=Insert;schema={DIGEST}"))
    assert "lindorm-json, not other-json" in text


def test_a_header_of_a_format_without_keys_is_an_error() -> None:
    """The header of a key names a format that has keys; whoever wrote it decides nothing else."""
    text = refusal(KEY, says(f"lindorm-json;variant=Key;schema={DIGEST}", is_key=True))
    assert "aerospike-json or aerospike-msgpack, not lindorm-json" in text


def test_a_header_of_another_variant_is_an_error_with_both() -> None:
    """A record is what its header says, if both are of the same schema."""
    text = refusal(WRITE, says(f"{FORMAT};variant=Delete;schema={DIGEST}"))
    assert f"says {FORMAT};variant=Write;schema={DIGEST}, not {FORMAT};variant=Delete" in text
    assert refusal(WRITE, says(f"{FORMAT};variant=Batch;schema={DIGEST}"))


def test_another_schema_may_have_other_variants() -> None:
    """A header of another release is no contradiction; where the message is refused it is shown."""
    other = f"{FORMAT};variant=Upsert;schema={'0' * 32}"
    assert ChangewireDeserializer()(WRITE, says(other)) == cw.decode(WRITE)
    with pytest.raises(MessageRejectedError) as caught:
        ChangewireDeserializer()(b'{"msg": "upsert"}', says(other))
    assert f"value of topic t, by its header {other}: " in str(caught.value)
    assert caught.value.issues[0].code == "unknown-variant"


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", FORMAT, "a" * 100_000, f"{FORMAT};variant=Write;schema={DIGEST}\n", "\x1b[2J"),
        *(f"{FORMAT};variant=Write;schema={DIGEST[:-1]}", f"{FORMAT};variant=;schema={DIGEST}"),
        *(b"\xff", f"{FORMAT};variant=Wr\u0131te;schema={DIGEST}".encode()),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_header_that_is_none(value: str | bytes) -> None:
    """A header that cannot be read is refused, and its text does not reach the log."""
    text = refusal(WRITE, says(value))
    assert "expected a header of the form" in text
    assert len(text) < 200
    assert text.isprintable()


@given(st.binary(max_size=100) | st.text(max_size=100) | st.from_regex(r"[a-z-]+;variant=\w+;.*"))
def test_any_header_is_read_or_refused(value: bytes | str) -> None:
    """Whatever a header holds that cannot be read, it is the one error."""
    if parse(value) is None:
        assert refusal(WRITE, says(value), FORMAT)
    else:
        assert ChangewireDeserializer(FORMAT)(WRITE, says(value)) == cw.decode(WRITE)


def test_the_last_header_counts() -> None:
    """Of several headers of one name the last is taken, as Kafka's own ``lastHeader`` does."""
    headers = [(HEADERS[False], b"x"), header_of(WRITE)]
    assert ChangewireDeserializer()(WRITE, context(headers)) == cw.decode(WRITE)


def test_a_header_may_be_any_bytes() -> None:
    """The value of a header is read from a bytearray and a memoryview, too."""
    name, value = header_of(WRITE)
    for data in (bytearray(value), memoryview(value)):
        headers: Any = [(name, data)]
        assert ChangewireDeserializer()(WRITE, context(headers)) == cw.decode(WRITE)


def test_records_without_headers() -> None:
    """Without a header the message says its format; a key cannot, so that is an error."""
    for ctx in (None, context(None), context([]), context([(HEADERS[False], None)])):
        assert ChangewireDeserializer()(WRITE, ctx) == cw.decode(WRITE)
    for read, key_ctx in (
        (ChangewireDeserializer(), context([], is_key=True)),
        (ChangewireDeserializer(is_key=True), None),
    ):
        with pytest.raises(MessageRejectedError, match="a header that names the format of the key"):
            read(KEY, key_ctx)
    with pytest.raises(MessageRejectedError, match="unknown-variant"):
        ChangewireDeserializer()(b"{}")


def test_a_context_says_whether_a_key_is_meant() -> None:
    """One serializer serves keys and values of a client that gives a context."""
    serialize, read = ChangewireSerializer(FORMAT), ChangewireDeserializer(FORMAT)
    ctx = context(None, is_key=True)
    assert serialize(KEY, ctx) == KEY
    assert read(KEY, ctx) == cw.decode_key(KEY, format=FORMAT)
    with pytest.raises(MessageRejectedError, match="key of topic t"):
        serialize(WRITE, ctx)
    nothing_said = SerializationContext("t", MessageField.NONE)
    assert ChangewireSerializer(FORMAT, is_key=True)(KEY, nothing_said) == KEY


@given(st.text("ab-9", min_size=1, max_size=64), st.text("aZ_", min_size=1, max_size=64))
def test_headers_come_back(format: str, variant: str) -> None:
    """A header is read as it was written."""
    header = SchemaHeader(format, variant, DIGEST)
    assert parse(str(header)) == parse(str(header).encode()) == header
