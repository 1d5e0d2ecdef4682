"""`encode` sends what `decode` accepts and means the same, or refuses and says where."""

import re
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from tests.support.ids import shown

import changewire as cw
from changewire_messages import aerospike_json as aero
from changewire_messages.support import Extra

KEY = aero.Key("ns", "set", b"abcdefghijklmnopqrst", None)
CODEC = cw.codec("aerospike-json")


def write(*bins: Any, **fields: Any) -> aero.Write:
    """Return a write of bins."""
    given: dict[str, Any] = {"key": KEY, "gen": 1, "exp": 0, "lut": 5, "bins": list(bins), **fields}
    return aero.Write(**given)


def any_bin(value: Any) -> aero.ListBin:
    """Return a bin in which any value may stand, and this one does."""
    return aero.ListBin(name="any", value=["before", {"in": value}])


def bad(kind: type, value: Any) -> Any:
    """Return a bin with a value that is not of its type."""
    return kind(name="bad", value=value)


def refusal(model: object) -> cw.Issue:
    """Return the only issue for which a model is refused."""
    with pytest.raises(cw.EncodeError) as caught:
        CODEC.encode(model)
    (issue,) = caught.value.issues
    return issue


UNSENDABLE = [
    {1, 2},
    frozenset({1}),
    (1, 2),
    b"bytes",
    bytearray(b"bytes"),
    Decimal("1.50"),
    datetime(2024, 1, 1, tzinfo=timezone.utc),
    float("nan"),
    float("inf"),
    -float("inf"),
    {1: "integer key"},
    {None: "no key"},
    {b"k": "bytes as key"},
    object(),
    "half a \ud800 pair",
    {"\udfff": "half a pair as key"},
    KEY,
    aero.IntBin(name="a", value=1),
    msgspec.Raw(b"1"),
    msgspec.Raw(b"no JSON"),
    re.compile("x"),
    1j,
]


@pytest.mark.parametrize("value", UNSENDABLE, ids=shown)
def test_values_that_json_does_not_have(value: object) -> None:
    """What JSON cannot hold is refused at its place, never rewritten into something near."""
    issue = refusal(write(any_bin(1), any_bin(value)))
    assert issue.code == "not-encodable"
    assert issue.pointer.startswith("/bins/1/value/1/in")


def test_a_refusal_has_the_value_of_the_model() -> None:
    """It says what was expected, and has the value that the model has, not the one of the bytes."""
    infinite = refusal(write(bad(aero.FloatBin, float("inf"))))
    assert (infinite.expected, infinite.actual) == ("a finite number", float("inf"))
    digest = refusal(write(bad(aero.BlobBin, "no Base64")))
    assert digest.actual == "no Base64"
    assert refusal(write(bad(aero.IntBin, 2**63))).actual == 2**63


@pytest.mark.parametrize("value", UNSENDABLE, ids=shown)
def test_unknown_properties_that_json_does_not_have(value: object) -> None:
    """What JSON cannot hold is refused in `extra` too, at the place where it would have gone."""
    issue = refusal(write(extra=Extra({"/good": 1, "/bad": value})))
    assert issue.code == "not-encodable"
    assert issue.pointer.startswith("/bad")


@pytest.mark.parametrize(
    ("item", "pointer", "code"),
    [
        (bad(aero.IntBin, "1"), "/bins/0/value", "wrong-type"),
        (bad(aero.IntBin, value=True), "/bins/0/value", "wrong-type"),
        (bad(aero.IntBin, 1.0), "/bins/0/value", "wrong-type"),
        (bad(aero.IntBin, 2**63), "/bins/0/value", "out-of-range"),
        (bad(aero.IntBin, 2**64), "/bins/0/value", "out-of-range"),
        (bad(aero.IntBin, -(2**63) - 1), "/bins/0/value", "out-of-range"),
        (bad(aero.IntBin, None), "/bins/0/value", "wrong-type"),
        (bad(aero.StrBin, 1), "/bins/0/value", "wrong-type"),
        (bad(aero.StrBin, b"x"), "/bins/0/value", "not-encodable"),
        (bad(aero.StrBin, "\ud800"), "/bins/0/value", "not-encodable"),
        (bad(aero.BoolBin, 1), "/bins/0/value", "wrong-type"),
        (bad(aero.FloatBin, "nan"), "/bins/0/value", "wrong-value"),
        (bad(aero.FloatBin, float("nan")), "/bins/0/value", "not-encodable"),
        (bad(aero.FloatBin, float("inf")), "/bins/0/value", "not-encodable"),
        (bad(aero.FloatBin, 2**53 + 1), "/bins/0/value", "not-encodable"),
        (bad(aero.FloatBin, Decimal("1.5")), "/bins/0/value", "wrong-value"),
        (bad(aero.BlobBin, "QQ=="), "/bins/0/value", "not-encodable"),
        (bad(aero.BlobBin, "no Base64"), "/bins/0/value", "invalid-base64"),
        (bad(aero.ListBin, "abc"), "/bins/0/value", "wrong-type"),
        (bad(aero.ListBin, (1, 2)), "/bins/0/value", "not-encodable"),
        (bad(aero.ListBin, {1}), "/bins/0/value", "not-encodable"),
        (bad(aero.MapBin, [("a", 1)]), "/bins/0/value", "wrong-type"),
        (bad(aero.MapBin, {1: 2}), "/bins/0/value", "not-encodable"),
        (bad(aero.GeojsonBin, "POINT (1 2)"), "/bins/0/value", "wrong-type"),
        (aero.StrBin(name=b"a", value=""), "/bins/0/name", "not-encodable"),  # type: ignore[arg-type]
        (aero.MapBin(name="a", value={}, order="value"), "/bins/0/order", "wrong-value"),  # type: ignore[arg-type]
        (aero.ListBin(name="a", value=[], ordered=0), "/bins/0/ordered", "wrong-type"),  # type: ignore[arg-type]
        ("a", "/bins/0", "wrong-type"),
        (5, "/bins/0", "wrong-type"),
        (None, "/bins/0", "wrong-type"),
        ({"name": "a", "type": "int", "value": 1}, "/bins/0", "not-encodable"),
        (aero.Delete(key=KEY), "/bins/0", "not-encodable"),
    ],
)
def test_bins_of_wrong_types(item: object, pointer: str, code: str) -> None:
    """A bin that is none is refused at its place, also where another type would be near."""
    if isinstance(item, aero.Delete):
        with pytest.raises(cw.EncodeError) as caught:
            CODEC.encode(write(item))
        assert {issue.pointer.partition("/name")[0][:7] for issue in caught.value.issues} == {
            pointer
        }
        return
    issue = refusal(write(item))
    assert (issue.pointer, issue.code) == (pointer, code)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"gen": "1"}, "/gen"),
        ({"gen": True}, "/gen"),
        ({"gen": -1}, "/gen"),
        ({"exp": 1.5}, "/exp"),
        ({"lut": datetime(2024, 1, 1, tzinfo=timezone.utc)}, "/lut"),
        ({"bins": ()}, "/bins"),
        ({"bins": None}, "/bins"),
        ({"key": ["ns", None, "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", None]}, "/key"),
        ({"key": aero.Key("ns", None, b"short", None)}, "/key/2"),
        ({"key": aero.Key("ns", None, "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", None)}, "/key/2"),  # type: ignore[arg-type]
        ({"key": aero.Key("ns", None, KEY.digest, 2**64)}, "/key/3"),
        ({"key": aero.Key("ns", None, KEY.digest, b"blob")}, "/key/3"),  # type: ignore[arg-type]
    ],
)
def test_fields_of_wrong_types(fields: dict[str, Any], pointer: str) -> None:
    """A field with a value that its type does not have is refused at its place."""
    assert refusal(write(**fields)).pointer == pointer


@pytest.mark.parametrize(
    "model", [object(), 5, "x", {"msg": "write"}, None, aero.StrBin(name="a", value="")]
)
def test_what_is_no_message(model: object) -> None:
    """What is not a model of a message is refused by the codec."""
    with pytest.raises(cw.EncodeError):
        CODEC.encode(model)


@pytest.mark.parametrize("model", [object(), [], [5], {"msg": "write"}])
def test_what_has_no_format(model: object) -> None:
    """`cw.encode` cannot tell the format of what is no model."""
    with pytest.raises(TypeError, match="is not a model of a message"):
        cw.encode(model)


def test_batches_that_mix() -> None:
    """A batch with one bad element is refused at that element; nothing of it is sent."""
    with pytest.raises(cw.EncodeError) as caught:
        CODEC.encode([write(), KEY])
    assert caught.value.pointer == "/1"
    assert refusal([write(), write(any_bin((1,)))]).pointer == "/1/bins/0/value/1/in"
    assert refusal([write(), write(extra=Extra({"/gen": 1}))]).pointer == "/1/gen"
    with pytest.raises(cw.EncodeError):
        CODEC.encode([KEY, write()])


def test_what_contains_itself() -> None:
    """A list that contains itself is refused as too deep."""
    endless: list[Any] = []
    endless.append(endless)
    assert refusal(write(any_bin(endless))).code == "too-deep"


def test_empty_batches() -> None:
    """A codec encodes a batch of nothing."""
    assert CODEC.encode([]) == b"[]"


@pytest.mark.parametrize("format", ["dataworks-json", "lindorm-json"])
def test_formats_without_batches(format: str) -> None:
    """A list is no message of a format that has no batches, and refused as such."""
    for model in ([], [write()]):
        with pytest.raises(cw.EncodeError) as caught:
            cw.codec(format).encode(model)
        assert (caught.value.code, caught.value.pointer) == ("wrong-type", "")


def test_what_is_sent_is_never_shared() -> None:
    """Encoding changes nothing of the model: neither bins nor unknown properties."""
    shared = {"x": [1]}
    model = write(any_bin(shared), extra=Extra({"/new": shared, "/bins/0/new": shared}))
    before = repr(model)
    CODEC.encode(model)
    assert repr(model) == before
    assert shared == {"x": [1]}
