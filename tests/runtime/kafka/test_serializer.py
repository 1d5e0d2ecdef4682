"""A serializer gives bytes that readers accept, or says everything that is wrong."""

import copy
import json
import pickle
from decimal import Decimal
from typing import Any

import confluent_kafka.serialization as confluent
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.changes import dataworks
from tests.runtime.codec.formats import FORMATS, Format, modest, role_of, wire_of
from tests.runtime.kafka.models import same
from tests.samples import FORMAT, examples
from tests.support.ids import shown

import changewire as cw
from changewire.kafka import (
    ChangewireDeserializer,
    ChangewireSerializer,
    MessageRejectedError,
)
from changewire_messages import aerospike_json as aero

SERIALIZE = ChangewireSerializer(FORMAT)
SECRET = "s3cr3t"  # noqa: S105 - of nobody


def refusal(obj: object, serialize: ChangewireSerializer = SERIALIZE) -> MessageRejectedError:
    """Return the error with which an object is refused."""
    with pytest.raises(MessageRejectedError) as caught:
        serialize(obj)
    return caught.value


def pointers(error: MessageRejectedError) -> list[str]:
    """Return the places of the issues of an error."""
    return [issue.pointer for issue in error.issues]


@pytest.fixture(params=FORMATS, scope="module")
def form(request: pytest.FixtureRequest) -> Format:
    """Return each format in turn."""
    return FORMATS[request.param]


def test_it_has_the_interface_of_confluent() -> None:
    """Both are what confluent-kafka takes, and their errors are what it lets through."""
    assert issubclass(ChangewireSerializer, confluent.Serializer)
    assert issubclass(ChangewireDeserializer, confluent.Deserializer)
    assert issubclass(MessageRejectedError, confluent.SerializationError)


@modest
@given(data=st.data())
def test_what_is_sent_comes_back(form: Format, data: st.DataObject) -> None:
    """Bytes, parsed messages and models of any format are sent, and hold the same."""
    serialize = ChangewireSerializer(form.name, declared=False)
    raw = data.draw(form.strategy("message").flatmap(form.encoding.written))
    model, parsed = form.codec.decode(raw), form.codec.parsed(raw)
    assert serialize(raw) == raw
    assert same(ChangewireDeserializer(form.name)(serialize(model)), model)
    sent = serialize(parsed)
    assert sent is not None
    assert form.encoding.hold(sent, parsed)
    assert form.codec.validate(sent) == []


@modest
@given(data=st.data())
def test_what_is_refused_is_refused_in_every_form(form: Format, data: st.DataObject) -> None:
    """A broken message is refused as bytes and as dictionaries, for what `validate` finds."""
    broken = data.draw(form.strategy("message", broken=True))
    raw = form.encoding.dumps(broken)
    serialize = ChangewireSerializer(form.name, declared=False)
    issues = form.codec.validate(raw)
    if not issues:
        assert serialize(raw) == raw
        return
    error = refusal(raw, serialize)
    assert error.issues == issues
    assert all(str(issue) in str(error) for issue in issues[:100])
    parsed = form.codec.parsed(raw)
    if isinstance(parsed, (dict, list)):
        assert pointers(refusal(parsed, serialize)) == pointers(error)


def test_golden_messages_and_keys_are_sent(form: Format) -> None:
    """Whatever the corpus holds is sent as it is, as a value, a batch, or a key."""
    for path in form.golden("valid"):
        is_key, raw = "key" in role_of(path), wire_of(path)
        serialize = ChangewireSerializer(form.name, is_key=is_key, declared=False)
        read = ChangewireDeserializer(form.name, is_key=is_key)
        model = form.read(raw, role_of(path))
        assert serialize(raw) == raw
        assert same(read(raw), model)
        assert same(read(serialize(model)), model)


def test_a_tombstone_stays_one() -> None:
    """None is no message that could be wrong: it deletes a key of a compacted topic."""
    assert SERIALIZE(None) is None
    assert ChangewireDeserializer(FORMAT)(None) is None


@pytest.mark.parametrize(
    "obj",
    [
        *(5, "", b"", b"\xff", object(), [5], {"msg": "write"}, {1: 2}, (1, 2), float("nan")),
        *({"a": {1, 2}}, {"a": b"bytes"}, {"a": "half a \ud800 pair"}, {"a": 2**70}, {"a": 1j}),
        aero.StrBin(name="a", value=""),
        aero.Key("ns", None, b"x" * 20, None),
        cw.lindorm_json.Message,
        dataworks.message("INSERT", after={"id": 1}),
    ],
    ids=shown,
)
def test_what_is_no_message(obj: object) -> None:
    """What is no message of the format is refused, by the one error that there is."""
    assert refusal(obj).issues


def test_values_that_an_encoding_would_rewrite() -> None:
    """A dictionary is sent as it is or not at all: no tuple becomes a list, no time a text."""
    write = examples("write")[0]
    for value in ((1, 2), b"bytes", {1: 2}, {"x": float("inf")}):
        bins = [{"name": "a", "type": "list", "value": [value]}]
        error = refusal({**write, "bins": bins})
        assert error.issues[0].code == "not-encodable"
        assert error.issues[0].pointer.startswith("/bins/0/value/0")


def test_decimals_are_what_floats_cannot_hold() -> None:
    """A dictionary holds numbers as a parser gives them: exact ones with all their digits."""
    message = json.loads(cw.encode(dataworks.message("INSERT", {"x": "STRING"}, after={"x": 0})))
    serialize = ChangewireSerializer("dataworks-json", declared=False)
    row = message["payload"]["after"]["dataColumn"]
    row["x"] = Decimal("0.12345678901234567890")
    assert b":0.12345678901234567890}" in (serialize(message) or b"")
    row["x"] = Decimal("1.10")
    assert pointers(refusal(message, serialize)) == ["/payload/after/dataColumn/x"]


def test_what_contains_itself() -> None:
    """A dictionary without end is refused as too deep."""
    endless: dict[str, Any] = {}
    endless["a"] = endless
    assert refusal(endless).issues[0].code == "too-deep"
    assert refusal({"\ud800": 1, **endless}).issues[0].code == "too-deep"
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert refusal(deep).issues[0].code == "too-deep"


def test_batches() -> None:
    """A batch is sent whole or not at all, and every bad element is named."""
    batch = [*examples("write"), *examples("delete")]
    sent = SERIALIZE(batch)
    assert sent is not None
    models = ChangewireDeserializer(FORMAT)(sent)
    assert models == [cw.decode(json.dumps(one)) for one in batch]
    assert SERIALIZE(models) == cw.encode(models)
    bad = [batch[0], {**batch[0], "gen": "1"}, 7]
    assert pointers(refusal(bad)) == ["/1/gen", "/2"]
    assert pointers(refusal([models[0], models[0].key])) == ["/1"]
    with pytest.raises(MessageRejectedError):
        ChangewireDeserializer(FORMAT)(json.dumps(bad).encode())


def test_formats_without_batches_refuse_lists() -> None:
    """A list of models of a format that knows no batches is refused like any other mistake."""
    model = dataworks.message("INSERT", after={"id": 1})
    serialize = ChangewireSerializer("dataworks-json")
    for obj in ([], [model]):
        assert refusal(obj, serialize).issues[0].code == "wrong-type"


def test_keys() -> None:
    """A serializer for keys takes keys alone, in every form, and one for values none."""
    key = aero.Key("ns", None, b"x" * 20, 7)
    raw = cw.encode(key)
    serialize = ChangewireSerializer(FORMAT, is_key=True)
    for form in (key, raw, json.loads(raw)):
        assert serialize(form) == raw
    assert serialize([key, key]) == cw.encode([key, key])
    for obj in (examples("write")[0], cw.decode(json.dumps(examples("write")[0]))):
        assert refusal(obj, serialize).issues
    assert "the model of a message of aerospike-json, found Key" in str(refusal(key))


@pytest.mark.parametrize("kind", [ChangewireSerializer, ChangewireDeserializer])
def test_wrong_names_and_formats_without_keys(kind: Any) -> None:
    """A mistake in a name is told at once, and so are keys that a format does not have."""
    with pytest.raises(ValueError, match="no format 'lindorm'; there are: "):
        kind("lindorm")
    with pytest.raises(ValueError, match="lindorm-json has no record keys of its own"):
        kind("lindorm-json", is_key=True)


def test_contradictions_are_refused_unless_allowed() -> None:
    """A value that is not of its declared type is refused, in a batch at its element."""
    model = dataworks.message("INSERT", {"id": "LONG"}, after={"id": "x"})
    error = refusal(model, ChangewireSerializer("dataworks-json"))
    assert [(issue.code, issue.pointer) for issue in error.issues] == [
        ("contradicts-schema", "/payload/after/dataColumn/id")
    ]
    allowing = ChangewireSerializer("dataworks-json", declared=False)
    assert allowing(model) == cw.encode(model)
    write = examples("write")[1]
    twice = {**write, "bins": [write["bins"][0]] * 2}
    assert pointers(refusal([write, twice])) == ["/1/bins/1/name"]


def test_closed_serializers_know_every_property() -> None:
    """A misspelt name is refused where asked for, in whatever form it is given."""
    write = {**examples("write")[0], "gne": 1}
    model = cw.decode(json.dumps(write))
    closed = ChangewireSerializer(FORMAT, strict=True)
    for obj in (write, model, json.dumps(write)):
        assert SERIALIZE(obj)
        assert pointers(refusal(obj, closed)) == ["/gne"]
    assert pointers(refusal([examples("write")[0], write], closed)) == ["/1/gne"]
    assert closed(examples("write")[0])


@pytest.mark.parametrize("declared", [True, False])
def test_closed_serializers_know_every_name_of_dataworks(*, declared: bool) -> None:
    """An unknown operation, a key that is no column and an undeclared column are refused."""
    message = dataworks.message
    closed = ChangewireSerializer("dataworks-json", strict=True, declared=declared)
    open_ = ChangewireSerializer("dataworks-json", declared=declared)
    good = message("INSERT", after={"id": 1, "name": "a"})
    assert closed(good) == cw.encode(good)
    unknown = message("INSRT", after={"id": 1})
    assert open_(unknown) == cw.encode(unknown)
    (issue,) = refusal(unknown, closed).issues
    assert (issue.code, issue.pointer, issue.actual) == ("wrong-value", "/payload/op", "INSRT")
    assert "INSERT, UPDATE_BEFOR, UPDATE_BEFORE, UPDATE_AFTER, DELETE" in issue.expected
    no_column = message("INSERT", primary_key=("id", "uid"), after={"id": 1})
    assert pointers(refusal(no_column, closed)) == ["/schema/primaryKey/1"]
    undeclared = message("UPDATE_AFTER", before={"id": 1, "a/b": 1}, after={"id": 1, "nmae": "a"})
    error = refusal(undeclared, closed)
    assert [(issue.code, issue.pointer) for issue in error.issues] == [
        ("undeclared-column", "/payload/before/dataColumn/a~1b"),
        ("undeclared-column", "/payload/after/dataColumn/nmae"),
    ]


@modest
@given(data=st.data())
def test_closed_is_the_closed_check(form: Format, data: st.DataObject) -> None:
    """What a strict serializer sends is what a strict `validate` finds nothing wrong with."""
    raw = form.encoding.dumps(data.draw(form.strategy("message")))
    closed = ChangewireSerializer(form.name, strict=True)
    issues = cw.validate(raw, format=form.name, strict=True)
    if issues:
        assert refusal(raw, closed).issues == issues
    else:
        assert closed(raw) == raw


def test_values_are_shown_when_asked_for() -> None:
    """The error holds what is there; its text shows it on request only, and so does no pickle."""
    write = {**examples("write")[0], "gen": SECRET}
    error = refusal(write)
    assert error.issues[0].actual == SECRET
    for text in (str(error), repr(error), repr(pickle.dumps(error))):
        assert SECRET not in text
    assert SECRET in str(refusal(write, ChangewireSerializer(FORMAT, show_values=True)))


def test_errors_can_be_pickled_and_copied() -> None:
    """An error survives the way between processes."""
    error = refusal({**examples("write")[0], "gen": "1", "lut": "1"})
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301
        assert type(again) is MessageRejectedError
        assert str(again) == str(error)
        assert (again.format, pointers(again)) == (FORMAT, ["/gen", "/lut"])


def test_a_hostile_message_does_not_fill_the_log() -> None:
    """A text has a hundred issues at most, the error all of them."""
    bins = [{"name": "a", "type": "int", "value": "x"}] * 5000
    error = refusal({**examples("write")[0], "bins": bins})
    assert len(error.issues) == 5000
    assert str(error).endswith("; and 4900 more issues")
    assert len(str(error)) < 20_000


def test_registry_prefixes_are_removed_where_asked_for(form: Format) -> None:
    """Framed values and keys are refused by their name, and read, or sent on, without prefix."""
    prefix = b"\x00\x00\x00\x00\x09"
    for path in form.golden("valid"):
        is_key, raw = "key" in role_of(path), wire_of(path)
        read = ChangewireDeserializer(form.name, is_key=is_key)
        with pytest.raises(MessageRejectedError) as caught:
            read(prefix + raw)
        assert [issue.code for issue in caught.value.issues] == ["registry-framing"]
        stripping = ChangewireDeserializer(form.name, is_key=is_key, strip_registry_prefix=True)
        framed = prefix + raw
        forms: list[Any] = [framed, bytearray(framed), memoryview(framed), raw]
        assert all(same(stripping(data), read(raw)) for data in forms)
        serialize = ChangewireSerializer(form.name, is_key=is_key, declared=False)
        assert refusal(prefix + raw, serialize).issues[0].code == "registry-framing"
        sending = ChangewireSerializer(
            form.name, is_key=is_key, declared=False, strip_registry_prefix=True
        )
        assert [sending(data) for data in forms] == [raw] * 4


def test_keys_say_that_a_column_row_is_no_row_key() -> None:
    """A row with a column ROW is refused as one of HBase, unless keys say which columns name it."""
    source = {"namespace": "n", "table": "t", "ts_ms": 1}
    row = {"id": 1, "ROW": "user1"}
    message = {"payload": {"op": "c", "ts_ms": 1, "after": row, "source": source}}
    with pytest.raises(MessageRejectedError, match="invalid-base64"):
        ChangewireSerializer("lindorm-json")(message)
    data = ChangewireSerializer("lindorm-json", key_columns=["id"])(message)
    assert json.loads(data or b"") == message
    with pytest.raises(ValueError, match="key_columns does not apply"):
        ChangewireSerializer("aerospike-json", key_columns=["id"])
