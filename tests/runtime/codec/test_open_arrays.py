"""Messages of MessagePack with more positions than their schema names."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Ext, encode
from tests.runtime.codec.formats import FORMATS, modest

import changewire as cw

AEROSPIKE = FORMATS["aerospike-msgpack"]
DIGEST = b"abcdefghijklmnopqrst"
KEY = ["ns", "set", DIGEST, None]
LUT = 1617167159548
BIN: list[Any] = ["a", 1, 0, 7]
WRITE: list[Any] = [1, 1, [KEY, 4, 0, LUT, [BIN]]]
DELETE: list[Any] = [1, 2, [KEY, 1, 4, None, LUT]]
LEGACY: list[Any] = [1, 2, [KEY, 1]]

CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "write": ([*WRITE, "x"], {"/3": "x"}),
    "payload of a write": ([1, 1, [*WRITE[2], b"x", None]], {"/2/5": b"x", "/2/6": None}),
    "bin": ([1, 1, [*WRITE[2][:4], [BIN, ["b", 1, 0, 7, 1]]]], {"/2/4/1/4": 1}),
    "delete": ([*DELETE, {"x": 1}], {"/3": {"x": 1}}),
    "payload of a delete": ([1, 2, [*DELETE[2], [1]]], {"/2/5": [1]}),
    "legacy delete": ([*LEGACY, Ext(5, b"x")], {"/3": Ext(5, b"x")}),
    "all of them": (
        [1, 1, [*WRITE[2][:4], [[*BIN, 1, 2]], 3], 4, 5],
        {"/3": 4, "/4": 5, "/2/5": 3, "/2/4/0/4": 1, "/2/4/0/5": 2},
    ),
}


@pytest.mark.parametrize(("message", "extra"), CASES.values(), ids=CASES)
def test_more_positions_are_kept_counted_and_written_back(message: Any, extra: Any) -> None:
    """They are in `extra` under the pointers that they have, and leave the change as it is."""
    data = encode(message)
    model = cw.decode(data, format="aerospike-msgpack")
    assert dict(model.extra) == extra
    assert cw.detect(data) == "aerospike-msgpack"
    assert cw.decode(data) == model
    assert cw.leniencies(model).count("unknown-property") == 1
    assert cw.encode(model) == data
    codec = AEROSPIKE.codec
    assert codec.from_json(codec.to_json(model)) == model
    assert cw.validate(data, format="aerospike-msgpack") == []
    assert cw.validate(model, format="aerospike-msgpack") == []
    (change,) = cw.changes(model)
    assert set(change.attributes["extra"]) == set(extra)
    (plain,) = cw.changes(msgspec.structs.replace(model, extra=msgspec.UNSET))
    assert (change.key, change.after, change.sequence) == (plain.key, plain.after, plain.sequence)


@pytest.mark.parametrize(("message", "extra"), CASES.values(), ids=CASES)
def test_a_closed_check_names_each_of_them(message: Any, extra: Any) -> None:
    """Producers are told of each position that the schema does not name."""
    issues = cw.validate(encode(message), format="aerospike-msgpack", strict=True)
    assert {issue.pointer for issue in issues} == set(extra)
    assert {(issue.code, issue.rule) for issue in issues} == {("unknown-property", "items")}


@pytest.mark.parametrize(
    ("message", "pointer", "expected"),
    [
        ([1, 1], "", "at least 3 positions"),
        ([1, 1, WRITE[2][:4]], "/2", "at least 5 positions"),
        ([1, 2, [KEY]], "/2", "2 or 5 positions"),
        ([1, 2, [KEY, 1, 4]], "/2", "2 or 5 positions"),
        ([1, 2, [KEY, 1, 4, None]], "/2", "2 or 5 positions"),
        ([1, 2, [[*KEY, 1], 1]], "/2/0", "4 positions"),
        ([1, 1, [KEY, 4, 0, LUT, [BIN[:3]]]], "/2/4/0", "at least 4 positions"),
    ],
)
def test_other_lengths_are_refused(message: Any, pointer: str, expected: str) -> None:
    """What is too short is refused, and so is a longer key, or a delete between both versions."""
    with pytest.raises(cw.DecodeError) as refused:
        cw.decode(encode(message), format="aerospike-msgpack")
    found = refused.value
    assert (found.code, found.pointer, found.expected) == ("wrong-length", pointer, expected)


@pytest.mark.parametrize(
    "pointer", ["/4", "/0", "/2/6", "/2/0/4", "/2/4/1", "/2/4/0/5", "/2/4/0/0/0", "/x", "", "x"]
)
def test_what_is_no_next_position_is_not_written(pointer: str) -> None:
    """A value of `extra` that would leave a gap, or replace another one, cannot be sent."""
    model = cw.decode(encode(WRITE), format="aerospike-msgpack")
    with pytest.raises(cw.EncodeError):
        cw.encode(msgspec.structs.replace(model, extra=cw.Extra({pointer: 1})))


def test_a_batch_keeps_them_in_each_element() -> None:
    """Pointers are those within the element."""
    data = encode([WRITE, [*WRITE, 1], [1, 2, [*DELETE[2], 2]]])
    models = cw.decode_all(data, format="aerospike-msgpack")
    assert [dict(model.extra or {}) for model in models] == [{}, {"/3": 1}, {"/2/5": 2}]
    assert cw.encode(models) == data


def test_json_has_no_place_for_them() -> None:
    """A conversion says which positions are lost."""
    message = [1, 1, [*WRITE[2], "x"]]
    source, target = "aerospike-msgpack", "aerospike-json"
    with pytest.raises(cw.EncodeError) as refused:
        cw.convert(encode(message), source=source, target=target)
    assert [issue.pointer for issue in refused.value.issues] == ["/2/5"]
    lossy = cw.convert(encode(message), source=source, target=target, lossy=True)
    assert lossy == cw.convert(encode(WRITE), source=source, target=target)


@modest
@given(
    AEROSPIKE.strategy("message"),
    st.lists(st.integers(0, 9) | st.binary() | st.floats(allow_nan=False), min_size=1, max_size=3),
)
def test_any_message_may_be_longer(message: Any, more: list[Any]) -> None:
    """Any message may have more positions at its root, and is then as without them."""
    plain = AEROSPIKE.codec.decode(encode(message))
    data = encode([*message, *more])
    longer = AEROSPIKE.codec.decode(data)
    assert dict(longer.extra) == {f"/{i}": value for i, value in enumerate(more, 3)}
    assert msgspec.structs.replace(longer, extra=msgspec.UNSET) == plain
    assert AEROSPIKE.codec.encode(longer) == data
