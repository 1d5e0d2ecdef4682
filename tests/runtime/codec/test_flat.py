"""Messages in which the entries of a map stand, beside a property of any name."""

from typing import Any

import pytest
from msgspec import UNSET, structs
from tests.runtime.codec.encodings import dumps

import changewire as cw
from changewire import aerospike_flat_json as wire
from changewire_messages.support import Extra, Named

FORMAT = "aerospike-flat-json"
DIGEST = "YWJjZGVmZ2hpamtsbW5vcHFyc3Q="
METADATA = {"msg": "write", "namespace": "ns", "digest": DIGEST}
WRITE = wire.Write(namespace="ns", digest=b"abcdefghijklmnopqrst")


def refusal(model: object) -> list[tuple[str, str]]:
    """Return code and pointer of each reason why a model cannot be written."""
    with pytest.raises(cw.EncodeError) as caught:
        cw.encode(model)
    return [(issue.code, issue.pointer) for issue in caught.value.issues]


@pytest.mark.parametrize("name", ["metadata", "meta", "", "a/b", "bins", "@named", "é"])
def test_any_name_comes_back(name: str) -> None:
    """A model keeps the name of the metadata, unless it is that of the schema."""
    data = dumps({name: METADATA, "n": {"msg": "write"}})
    model = cw.decode(data)
    assert model == wire.Message(
        metadata=WRITE,
        bins={"n": {"msg": "write"}},
        named=UNSET if name == "metadata" else Named(name),
    )
    assert cw.encode(model) == data
    assert cw.encode([model, model]) == b"[%b,%b]" % (data, data)


def test_many_entries() -> None:
    """A message may have many names; one that occurs twice is still found."""
    bins = {f"n{i}": i for i in range(3_000)}
    data = dumps({"metadata": METADATA, **bins})
    assert cw.decode(data).bins == bins
    with pytest.raises(cw.DecodeError) as caught:
        cw.decode(data.replace(b'"n7":', b'"n8":', 1))
    assert (caught.value.code, caught.value.pointer) == ("duplicate-key", "/n8")


def test_the_usual_name_comes_first() -> None:
    """Of two properties that may be the metadata it is the one of the usual name, or the first."""
    one, other = METADATA, {**METADATA, "msg": "delete"}
    assert cw.decode(dumps({"a": other, "metadata": one})).bins == {"a": other}
    first = cw.decode(dumps({"a": other, "b": one}))
    assert (first.named, first.bins) == ("a", {"b": one})


@pytest.mark.parametrize("named", [UNSET, Named("meta"), "meta"])
def test_an_entry_cannot_have_the_name_of_what_is_beside_it(named: Any) -> None:
    """It would be lost, so the model is rejected, with the place."""
    name = named or "metadata"
    model = wire.Message(metadata=WRITE, bins={name: 1, "n": 2}, named=named)
    assert refusal(model) == [("not-encodable", f"/{name}")]
    assert refusal([structs.replace(model, bins={}), model]) == [("not-encodable", f"/1/{name}")]


@pytest.mark.parametrize("named", ["metadata", 5, None, ["a"]])
def test_a_name_that_would_not_come_back(named: Any) -> None:
    """The name of the schema is no other name, and a name is text."""
    model = wire.Message(metadata=WRITE, bins={"n": 1}, named=named)
    assert [code for code, _ in refusal(model)] == ["not-encodable"]


@pytest.mark.parametrize(
    ("changed", "expected", "actual"),
    [
        (
            {"bins": {"metadata": 1}},
            "an entry that is not called as `metadata` is on the wire",
            1,
        ),
        ({"named": "metadata"}, "text that is another name than metadata", "metadata"),
        ({"named": 5}, "text that is another name than metadata", 5),
        ({"bins": None}, "object", None),
    ],
)
def test_a_refusal_says_what_was_expected(changed: Any, expected: str, actual: object) -> None:
    """It has the expected value in words, and the value that was found."""
    with pytest.raises(cw.EncodeError) as caught:
        cw.encode(structs.replace(wire.Message(metadata=WRITE, bins={}), **changed))
    (issue,) = caught.value.issues
    assert (issue.expected, issue.actual) == (expected, actual)


def test_an_entry_that_would_be_taken_for_what_is_beside_it() -> None:
    """A model whose bytes would be read otherwise is rejected."""
    bins = {"metadata": {**METADATA, "gen": 1}}
    model = wire.Message(metadata=WRITE, bins=bins, named=Named("meta"))
    assert next(code for code, _ in refusal(model)) == "not-encodable"


def test_unknown_properties_are_below_the_root() -> None:
    """At the root each property is an entry, so none is put there as unknown."""
    below = wire.Message(metadata=WRITE, bins={}, extra=Extra({"/metadata/new": 1}))
    assert cw.decode(cw.encode(below)) == below
    at_root = structs.replace(below, extra=Extra({"/new": 1}))
    assert refusal(at_root) == [("not-encodable", "/new")]
    elsewhere = structs.replace(below, named=Named("m"))
    assert refusal(elsewhere) == [("not-encodable", "/metadata/new")]


@pytest.mark.parametrize(
    ("bins", "pointer"),
    [
        *(({"a/b": {1: 2}}, "/a~1b"), ({"a": [float("nan")]}, "/a/0"), ("x", "/bins")),
        *((None, "/bins"), ({1: 2}, "/1"), ({"a": 1, 2.5: 1}, "/2.5")),
    ],
)
def test_values_that_json_does_not_hold(bins: Any, pointer: str) -> None:
    """The pointer leads to the value as it would stand on the wire."""
    model = wire.Message(metadata=WRITE, bins=bins)
    ((_, found),) = refusal(model)
    assert found.startswith(pointer)


def test_broken_metadata_has_its_own_name() -> None:
    """Pointers into the metadata have the name that it has on the wire."""
    model = wire.Message(metadata=structs.replace(WRITE, gen=-1), bins={}, named=Named("m/n"))
    assert refusal(model) == [("out-of-range", "/m~1n/gen")]


def test_no_other_format_is_taken_for_it() -> None:
    """A column of another format may hold what looks like a part of it."""
    row = {"namespace": "n", "table": "t", "ts_ms": 5}
    other = {"payload": {"op": "c", "ts_ms": 6, "after": {"m": METADATA}, "source": row}}
    assert cw.detect(dumps(other)) == "lindorm-json"
    assert cw.detect(dumps({"msg": "write", "key": ["n", None, DIGEST, None], "bins": []})) == (
        "aerospike-json"
    )
    assert cw.detect(dumps({"metadata": {**METADATA, "msg": "other"}})) is None
    with pytest.raises(cw.DecodeError, match="nearest: aerospike-flat-json, 1 issue"):
        cw.decode(dumps({"metadata": {**METADATA, "msg": "other"}, "a": 1, "b": 2}))
