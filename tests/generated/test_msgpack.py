"""The family of Aerospike MessagePack: three judges agree, and messages come back as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgpack
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.msgpack import Ext
from tests.generated.msgpack_reference import is_valid_by
from tests.support.ids import shown

import changewire as cw
from changewire_messages import aerospike_msgpack as wire
from changewire_messages import drawing
from changewire_messages.aerospike_msgpack import dispatch, strategies, validators
from changewire_messages.bundles import schema_of

modest = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
thorough = settings(modest, max_examples=100)

STEMS = {
    "batch": "Batch",
    "delete": "Delete",
    "key": "Key",
    "key_batch": "KeyBatch",
    "legacy_delete": "LegacyDelete",
    "message": "Message",
    "write": "Write",
}
variants = pytest.mark.parametrize("stem", STEMS)
DIGEST = b"abcdefghijklmnopqrst"
KEY = ["ns", "set", DIGEST, None]


@cache
def strategy(name: str) -> Any:
    """Return a strategy, which takes longer to make than to draw from."""
    return getattr(strategies, name)()


def schema(stem: str) -> Any:
    """Return the bundled schema of a variant."""
    return schema_of(wire.__name__, STEMS[stem])


REFERENCE: dict[str, Callable[[object], bool]] = {stem: is_valid_by(schema(stem)) for stem in STEMS}


def decodes(value: Any, stem: str) -> bool:
    """Tell whether typed decoding accepts a value; of a union, that of the arm of the value."""
    if stem == "batch":
        return isinstance(value, list) and all(decodes(item, "message") for item in value)
    kind = dispatch.arm_of(value) if stem == "message" else getattr(wire, STEMS[stem])
    try:
        msgspec.msgpack.decode(msgspec.msgpack.encode(value), type=kind)
    except (msgspec.MsgspecError, OverflowError):
        return False
    return kind is not None


def verdicts(value: Any, stem: str) -> dict[str, bool]:
    """Return what each judge says of a value."""
    return {
        "jsonschema": REFERENCE[stem](value),
        "errors": not validators.errors(value, STEMS[stem]),
        "decode": decodes(value, stem),
    }


@variants
@modest
@given(data=st.data())
def test_valid_messages(stem: str, data: st.DataObject) -> None:
    """Every judge accepts what is valid by construction."""
    value = data.draw(strategy(stem))
    assert set(verdicts(value, stem).values()) == {True}


@variants
@thorough
@given(data=st.data())
def test_broken_messages(stem: str, data: st.DataObject) -> None:
    """Every judge refuses a message in which one place was spoilt."""
    value = data.draw(strategy(f"broken_{stem}"))
    assert set(verdicts(value, stem).values()) == {False}


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a parsed value, as what holds it and the step to it."""
    if isinstance(value, (dict, list)):
        for step in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, step
            yield from places(value[step])


ANYTHING = (
    drawing.msgpack_values(allow_nan=True)
    | st.integers(0, 24)
    | st.sampled_from([1.0, 2.0, 4.0, True, False, "1", b"1"])
    | st.integers(-(2**63), 2**64 - 1)
)


@st.composite
def swapped(draw: st.DrawFn, valid: Any) -> Any:
    """Draw a valid value, with any other value put at some place of it."""
    value = draw(valid)
    found = list(places(value))
    if found:
        holder, step = draw(st.sampled_from(found))
        holder[step] = draw(ANYTHING)
    return value


@variants
@thorough
@given(data=st.data())
def test_messages_with_anything_anywhere(stem: str, data: st.DataObject) -> None:
    """The judges agree on a message in which any value stands at any place."""
    value = data.draw(swapped(strategy(stem)))
    found = verdicts(value, stem)
    assert len(set(found.values())) == 1, found


def test_particle_type_beyond_64_bits_is_refused() -> None:
    """An unknown particle type must be an integer of 64 bits all the same."""
    (value, *_) = (msgspec.msgpack.decode(bytes.fromhex(t)) for t in schema("write")["examples"])
    value[2][4] = [["a", 2**63, 0, None]]
    assert set(verdicts(value, "write").values()) == {False}
    assert [issue[0] for issue in validators.errors(value, "Write")] == ["/2/4/0/1"]


@variants
def test_examples(stem: str) -> None:
    """Every judge accepts the examples of a schema, which are the shortest form of themselves."""
    for text in schema(stem)["examples"]:
        data = bytes.fromhex(text)
        value = msgspec.msgpack.decode(data)
        assert set(verdicts(value, stem).values()) == {True}
        assert msgspec.msgpack.encode(value) == data


@modest
@given(strategies.message())
def test_message_comes_back_as_it_was(value: Any) -> None:
    """A model is encoded to the very value that it was decoded from, and equals its like."""
    kind: Any = dispatch.arm_of(value)
    data = msgspec.msgpack.encode(value)
    model = msgspec.msgpack.decode(data, type=kind)
    assert cw.encode(model) == data
    assert msgspec.msgpack.decode(data, type=kind) == model


@modest
@given(strategies.message())
def test_first_bytes_tell_the_model(value: Any) -> None:
    """The table of first bytes names the model that the parsed message has."""
    data = msgspec.msgpack.encode(value)
    assert dispatch.ARMS[data[: dispatch.PREFIX_SIZE]] is dispatch.arm_of(value)


def test_longer_forms_are_told_when_parsed() -> None:
    """A message whose integers and lengths are written longer than needed has a model as well."""
    data = b"\xdc\x00\x03\xcc\x01\xcd\x00\x02" + msgspec.msgpack.encode([KEY, 1])
    assert data[: dispatch.PREFIX_SIZE] not in dispatch.ARMS
    assert dispatch.arm_of(msgspec.msgpack.decode(data)) is wire.LegacyDelete
    assert msgspec.msgpack.decode(data, type=wire.LegacyDelete).payload.flags == 1


@pytest.mark.parametrize(
    "value",
    [None, {}, [], [1, 1], [1, 3, [KEY, 0]], [2, 1, [0] * 5], [True, 1, [0] * 5], [1, 2.0, [0, 0]],
     [1, [1], [0] * 5], [1, 1, {}], [1, 2, [0, 0, 0]], [1, 1, Ext(1, b"")]],
    ids=shown,
)  # fmt: skip
def test_no_model_for_other_values(value: object) -> None:
    """What has not the constants of a message has no model, whatever it is."""
    assert dispatch.arm_of(value) is None
    assert validators.errors(value)


def test_constants_need_not_be_given() -> None:
    """Who makes a message names what it says, not the constants that make it one."""
    key = wire.Key("ns", None, DIGEST, 7)
    payload = wire.WritePayload(key, None, None, None, [wire.Bin("a", 2, 0, 1.5)])
    data = cw.encode(wire.Write(payload=payload))
    expected = [1, 1, [["ns", None, DIGEST, 7], None, None, None, [["a", 2, 0, 1.5]]]]
    assert msgspec.msgpack.decode(data) == expected


@pytest.mark.parametrize(
    ("tag", "value"),
    [(1, True), (1, 1.0), (1, 2**63), (2, 1), (3, b"a"), (4, "a"), (17, 0), (18, []), (19, []),
     (20, {}), (23, {}), (0, 0)],
)  # fmt: skip
def test_bin_holds_what_its_type_says(tag: int, value: object) -> None:
    """A value of another type is refused by model and validator, the exact type being asked for."""
    key = wire.Key("ns", None, DIGEST, 7)
    with pytest.raises(ValueError, match="oneOf of 'Bin'"):
        wire.WritePayload(key, None, None, None, [wire.Bin("a", tag, 0, value)])
    message = [1, 1, [KEY, 0, 0, 0, [["a", tag, 0, value]]]]
    (issue,) = validators.errors(message)
    assert issue[0] == "/2/4/0/3"
    assert not decodes(message, "message")


def test_issues_name_positions() -> None:
    """The pointer of an issue has the index of each position on the way."""
    message = [1, 2, [["ns", 1, b"short", []], None, -1, 0, 2**60]]
    assert [issue[:3] for issue in validators.errors(message)] == [
        ("/2/0/1", "type", "string or null"),
        ("/2/0/2", "x-minBytes", "20 bytes"),
        ("/2/0/3", "type", "integer or float or string or bytes or null"),
        ("/2/1", "type", "integer"),
        ("/2/2", "minimum", "at least 0"),
        ("/2/4", "maximum", "at most 253402300799999"),
    ]


@pytest.mark.parametrize(
    ("message", "issue"),
    [
        (7, ("", "type", "array")),
        ([1, 1], ("", "prefixItems", "at least 3 positions")),
        ([2, 1, []], ("/0", "const", "1")),
        ([1, True, []], ("/1", "oneOf", "one of 1, 2")),
        ([1, 1, 0], ("/2", "type", "array")),
        ([1, 1, []], ("/2", "prefixItems", "at least 5 positions")),
        ([1, 2, 0], ("/2", "type", "array")),
        ([1, 2, [0]], ("/2", "prefixItems", "2 or 5 positions")),
        ([1, 1, [KEY, 0, 0, 0, [["a", "1", 0, 0]]]], ("/2/4/0/1", "type", "integer")),
        ([1, 1, [KEY, 0, 0, 0, [["a", 1, 0]]]], ("/2/4/0", "prefixItems", "at least 4 positions")),
    ],
)
def test_issue_says_what_tells_messages_apart(message: object, issue: tuple[str, ...]) -> None:
    """What is no message says so at the place that distinguishes messages."""
    assert [found[:3] for found in validators.errors(message)] == [issue]


def test_extensions_of_both_parsers_are_values() -> None:
    """Where any value is valid, an extension is, whichever parser it comes from."""
    bins = [["l", 20, 0, [Ext(23, b"{}"), msgpack.ExtType(7, b"")]], ["x", 99, 5, Ext(1, b"a")]]
    assert validators.errors([1, 1, [KEY, 0, 0, 0, bins]]) == []
    for ext in (Ext(3, b"a"), msgpack.ExtType(3, b"a")):
        for tag in (1, 2, 3, 4, 17, 19, 20):
            (issue,) = validators.errors([1, 1, [KEY, 0, 0, 0, [["b", tag, 0, ext]]]])
            assert issue[0] == "/2/4/0/3"


@pytest.mark.parametrize(
    ("message", "used"),
    [
        ([1, 1, [KEY, 65536, -1, 0, []]], ["generation-beyond-16-bits", "expiry-minus-one"]),
        ([1, 1, [KEY, 1, 0, 0, [["a", 1, 0, 1], ["m", 19, 3, {}], ["l", 20, 1, []]]]], []),
        ([1, 1, [KEY, 1, 0, 0, [["a", 1, 1, 1], ["m", 19, 2, {}]]]], ["unknown-flags"] * 2),
        ([1, 1, [KEY, 1, 0, 0, [["h", 18, 0, b""], ["p", 9, 0, b""]]]], ["unknown-bin-type"] * 2),
        ([1, 1, [KEY, 1, 0, 0, [["v", 16, 4, []]]]], ["unknown-bin-type", "unknown-flags"]),
        ([1, 2, [["ns", None, DIGEST, None], 1, None, None, None]], []),
        ([1, 2, [KEY, 1, None, -1, None]], ["keys-on-delete", "expiry-minus-one"]),
        ([1, 2, [["ns", None, DIGEST, b"k"], 3]], ["keys-on-delete", "unknown-flags"]),
    ],
)
def test_leniencies_are_counted_by_use(message: Any, used: list[str]) -> None:
    """A message names the leniencies that it needed, by the names that the JSON format has."""
    from changewire_messages.aerospike_msgpack.leniencies import leniencies

    kind: Any = dispatch.arm_of(message)
    assert leniencies(msgspec.convert(message, kind)) == used
