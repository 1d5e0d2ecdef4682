"""Messages that are the payload alone, without the object with schema and payload around it."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from tests.runtime.codec.formats import FORMATS, modest

import changewire as cw
from changewire_messages.support import Alone

LINDORM = FORMATS["lindorm-json"]
SOURCE = {"version": "v1.0", "db": "ld-1", "namespace": "n", "table": "t", "ts_ms": 5}
PAYLOAD: dict[str, Any] = {
    "op": "c",
    "ts_ms": 6,
    "before": None,
    "after": {"id": 1},
    "source": SOURCE,
}


def data_of(message: Any) -> bytes:
    """Return the JSON text of a message."""
    return json.dumps(message).encode()


def test_a_payload_alone_is_read_counted_and_written_so() -> None:
    """It has the model and the change of the whole message, and its own bytes."""
    data, whole = data_of(PAYLOAD), data_of({"payload": PAYLOAD})
    model, other = (cw.decode(text, format="lindorm-json") for text in (data, whole))
    assert (model.alone, other.alone) == ("payload", msgspec.UNSET)
    assert model.payload == other.payload
    assert cw.leniencies(model) == ["missing-schema", "missing-envelope"]
    assert cw.leniencies(other) == ["missing-schema"]
    assert cw.changes(model) == cw.changes(other)
    assert json.loads(cw.encode(model)) == PAYLOAD
    assert json.loads(cw.encode(other)) == {"payload": PAYLOAD}
    assert cw.validate(data, format="lindorm-json", strict=True) == []


def test_it_is_detected_by_all_that_a_payload_has() -> None:
    """An operation alone does not make a message one of Lindorm."""
    assert cw.detect(data_of(PAYLOAD)) == "lindorm-json"
    assert cw.decode(data_of(PAYLOAD)).alone == "payload"
    for name in ("op", "ts_ms", "after", "source"):
        assert cw.detect(data_of({k: v for k, v in PAYLOAD.items() if k != name})) is None
    source = {k: v for k, v in SOURCE.items() if k != "namespace"}
    assert cw.detect(data_of({**PAYLOAD, "source": source})) is None


def test_unknown_properties_stay_where_they_were() -> None:
    """Pointers of unknown properties are those of the message as it was received."""
    message = {**PAYLOAD, "newer": [1], "source": {**SOURCE, "a/b": None}, "@alone": "payload"}
    model = cw.decode(data_of(message), format="lindorm-json")
    assert dict(model.extra) == {"/newer": [1], "/source/a~1b": None, "/@alone": "payload"}
    assert json.loads(cw.encode(model)) == message
    issues = cw.validate(data_of(message), format="lindorm-json", strict=True)
    assert {issue.pointer for issue in issues} == set(model.extra)


def test_a_property_cannot_claim_that_a_message_stands_alone() -> None:
    """A property of the name that only models have is an unknown one."""
    message = {"payload": PAYLOAD, "@alone": "payload"}
    model = cw.decode(data_of(message), format="lindorm-json")
    assert (model.alone, dict(model.extra)) == (msgspec.UNSET, {"/@alone": "payload"})
    assert json.loads(cw.encode(model)) == message


@pytest.mark.parametrize(
    ("message", "code", "pointer"),
    [
        ({**PAYLOAD, "op": "x"}, "unknown-variant", "/op"),
        ({**PAYLOAD, "after": 1}, "wrong-type", "/after"),
        ({**PAYLOAD, "source": {**SOURCE, "table": 1}}, "wrong-type", "/source/table"),
        ({**PAYLOAD, "payload": None}, "wrong-type", "/payload"),
        ({**PAYLOAD, "schema": None}, "missing-property", "/payload"),
        ({k: v for k, v in PAYLOAD.items() if k != "op"}, "missing-property", "/payload"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(message: Any, code: str, pointer: str) -> None:
    """With schema or payload, or without an operation, a message is no payload alone."""
    with pytest.raises(cw.DecodeError) as refused:
        cw.decode(data_of(message), format="lindorm-json")
    assert (refused.value.code, refused.value.pointer) == (code, pointer)


def test_cells_have_the_place_of_the_message() -> None:
    """What contradicts itself is named by a pointer into the message as it was received."""
    data = data_of({**PAYLOAD, "after": {"ROW": "no Base64"}})
    (issue,) = cw.validate(data, format="lindorm-json")
    assert (issue.code, issue.pointer) == ("invalid-base64", "/after/ROW")


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"extra": cw.Extra({"/op": 1})}, "/op"),
        ({"extra": cw.Extra({"/payload/x": 1})}, "/payload/x"),
        ({"schema_text": msgspec.Raw(b"{}")}, "/payload"),
        ({"alone": Alone("schema")}, "/alone"),
        ({"payload": None}, "/payload"),
        ({"payload": 5}, "/payload"),
    ],
)
def test_what_has_no_place_is_not_written(changed: dict[str, Any], pointer: str) -> None:
    """A schema beside a payload alone, a property that is there, or no payload cannot be sent."""
    model = cw.decode(data_of(PAYLOAD), format="lindorm-json")
    with pytest.raises(cw.EncodeError) as refused:
        cw.encode(msgspec.structs.replace(model, **changed))
    assert refused.value.pointer == pointer


def test_a_topic_may_change_at_any_message() -> None:
    """Whatever a message is like, the next one is read for what it is."""
    payload = cw.decode(data_of(PAYLOAD)).payload
    shapes = [
        PAYLOAD,
        {"payload": PAYLOAD},
        {**PAYLOAD, "newer": 1},
        {"payload": PAYLOAD, "newer": 1},
    ]
    for first in shapes:
        for second in shapes:
            for message in (first, second, second, first):
                model = cw.decode(data_of(message), format="lindorm-json")
                assert model.payload == payload
                assert bool(model.alone) is ("payload" not in message)
                assert bool(model.extra) is ("newer" in message)


def test_payloads_alone_need_one_second_read() -> None:
    """After the first of them a topic of such messages is read at once."""
    codec = LINDORM.codec
    codec.decode(data_of({"payload": PAYLOAD}))
    before = codec.second_reads
    for _ in range(5):
        codec.decode(data_of(PAYLOAD))
    assert codec.second_reads == before + 1


@modest
@given(LINDORM.strategy("message"))
def test_the_payload_of_any_message_may_stand_alone(message: Any) -> None:
    """Any message and its payload alone have the same payload, and both keep their bytes."""
    payload = message.get("payload", message)
    whole, alone = (
        LINDORM.codec.decode(msgspec.json.encode(m)) for m in ({"payload": payload}, payload)
    )
    assert whole.payload == alone.payload
    assert json.loads(LINDORM.codec.encode(alone)) == json.loads(msgspec.json.encode(payload))
