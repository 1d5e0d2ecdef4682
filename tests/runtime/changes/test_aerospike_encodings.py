"""One record, sent as JSON and as MessagePack, is one change."""

import json
from base64 import b64encode
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Ext, encode
from tests.runtime.codec.encodings import dumps
from tests.runtime.codec.formats import modest

import changewire as cw

DIGEST = b"abcdefghijklmnopqrst"
INT64 = st.integers(-(2**63), 2**63 - 1)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
GEOJSON: list[dict[str, Any]] = [
    {"type": "Point", "coordinates": [1.5, 2]},
    {"type": "MultiPoint", "coordinates": []},
]
ORDERS = {0: None, 1: "key", 3: "key-value"}


@dataclass(frozen=True)
class Both:
    """A value, or a bin, as both encodings have it."""

    json: Any
    msgpack: Any


def base64(data: bytes) -> str:
    """Return Base64 text of bytes."""
    return b64encode(data).decode()


def geojson(obj: dict[str, Any]) -> Both:
    """Return GeoJSON inside of a list or a map."""
    return Both(obj, Ext(23, dumps(obj)))


def listed(items: list[Both]) -> Both:
    """Return a list of values."""
    return Both([item.json for item in items], [item.msgpack for item in items])


def mapped(items: dict[str, Both]) -> Both:
    """Return a map with text as keys."""
    return Both(
        {name: item.json for name, item in items.items()},
        {name: item.msgpack for name, item in items.items()},
    )


NESTED: st.SearchStrategy[Both] = st.recursive(
    st.one_of(
        (st.none() | st.booleans() | INT64 | FINITE | st.text()).map(lambda v: Both(v, v)),
        st.binary().map(lambda v: Both(base64(v), v)),
        st.sampled_from(GEOJSON).map(geojson),
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(listed)
        | st.dictionaries(st.text(), inner, max_size=3).map(mapped)
    ),
    max_leaves=8,
)
LISTS = st.lists(NESTED, max_size=3).map(listed)
MAPS = st.dictionaries(st.text(), NESTED, max_size=3).map(mapped)


def plain(word: str, tag: int, value: Any) -> Both:
    """Return a bin whose value is the same in both encodings, without its name."""
    return Both({"type": word, "value": value}, [tag, 0, value])


def map_bin(flags: int, value: Both) -> Both:
    """Return a map with the order that its flags say."""
    order = {"order": ORDERS[flags]} if ORDERS[flags] else {}
    return Both({"type": "map", **order, "value": value.json}, [19, flags, value.msgpack])


def list_bin(flags: int, value: Both) -> Both:
    """Return a list, ordered or not."""
    found = {"type": "list", "ordered": flags == 1, "value": value.json}
    return Both(found, [20, flags, value.msgpack])


def geojson_bin(obj: dict[str, Any]) -> Both:
    """Return GeoJSON, which MessagePack has as text."""
    return Both({"type": "geojson", "value": obj}, [23, 0, json.dumps(obj)])


BINS = st.one_of(
    INT64.map(lambda v: plain("int", 1, v)),
    FINITE.map(lambda v: plain("float", 2, v)),
    st.sampled_from(["NaN", "Infinity", "-Infinity"]).map(
        lambda v: Both({"type": "float", "value": v}, [2, 0, float(v)])
    ),
    st.text().map(lambda v: plain("str", 3, v)),
    st.binary().map(lambda v: Both({"type": "blob", "value": base64(v)}, [4, 0, v])),
    st.booleans().map(lambda v: plain("bool", 17, v)),
    st.builds(map_bin, st.sampled_from(sorted(ORDERS)), MAPS),
    st.builds(list_bin, st.sampled_from([0, 1]), LISTS),
    st.sampled_from(GEOJSON).map(geojson_bin),
)
KEYS = st.tuples(st.text(), st.none() | st.text(), st.none() | INT64 | FINITE | st.text())
META = st.tuples(
    st.none() | st.integers(0, 2**31 - 1),
    st.none() | st.integers(-1, 2**32 - 1),
    st.none() | st.integers(0, 253402300799999),
)


def of_both(key: Any, head: dict[str, Any], payload: list[Any]) -> tuple[Any, Any]:
    """Return the changes of one message in JSON and in MessagePack."""
    namespace, set_name, user_key = key
    as_json = {**head, "key": [namespace, set_name, base64(DIGEST), user_key]}
    tag = 1 if head["msg"] == "write" else 2
    as_array = [1, tag, [[namespace, set_name, DIGEST, user_key], *payload]]
    return (
        cw.changes(cw.decode(dumps(as_json), format="aerospike-json")),
        cw.changes(cw.decode(encode(as_array), format="aerospike-msgpack")),
    )


@modest
@given(KEYS, META, st.dictionaries(st.text(), BINS, max_size=4))
def test_writes(key: Any, meta: Any, bins: dict[str, Both]) -> None:
    """A write is the same upsert, whatever its bins hold."""
    gen, exp, lut = meta
    rows = [{"name": name, **item.json} for name, item in bins.items()]
    positions = [[name, *item.msgpack] for name, item in bins.items()]
    head = {"msg": "write", "gen": gen, "exp": exp, "lut": lut, "bins": rows}
    one, other = of_both(key, head, [gen, exp, lut, positions])
    assert one == other


@modest
@given(KEYS, META, st.booleans())
def test_deletes(key: Any, meta: Any, durable: Any) -> None:
    """A delete is the same, of the older version too."""
    gen, exp, lut = meta
    head = {"msg": "delete", "durable": durable}
    times = {"gen": gen, "exp": exp, "lut": lut}
    one, other = of_both(key, {**head, **times}, [int(durable), gen, exp, lut])
    assert one == other
    one, other = of_both(key, head, [int(durable)])
    assert one == other


@pytest.mark.parametrize(("key", "text"), [(inf, "Infinity"), (-inf, "-Infinity"), (nan, "NaN")])
def test_a_user_key_that_json_has_no_number_for(key: float, text: str) -> None:
    """It is text in the change, also of a tombstone; its digest is that of the number."""
    place = ["ns", "set", cw.digest("set", key), key]
    message = cw.decode(encode([1, 1, [place, 1, 0, 5, []]]), format="aerospike-msgpack")
    (change,) = cw.changes(message, check_digests="reject")
    tombstone = cw.delete_by_key(encode(place), format="aerospike-msgpack")
    assert [one.attributes["user_key"] for one in (change, tombstone)] == [text, text]


def test_two_bins_of_one_name_are_refused_with_their_place() -> None:
    """In MessagePack the pointer to a name is that of its position."""
    bins = [["a", 1, 0, 1], ["b", 1, 0, 1], ["a", 1, 0, 2]]
    data = encode([1, 1, [["ns", "set", DIGEST, None], 1, 0, 5, bins]])
    with pytest.raises(cw.DecodeError) as refused:
        cw.changes(cw.decode(data, format="aerospike-msgpack"))
    assert (refused.value.code, refused.value.pointer) == ("duplicate-column", "/2/4/2/0")


@pytest.mark.parametrize(
    ("value", "column"),
    [
        (Ext(23, b'{"type":"Point"}'), {"type": "Point"}),
        ({"at": [Ext(23, b'{"type":"Point"}')]}, {"at": [{"type": "Point"}]}),
        ({1: Ext(23, b"{}")}, [[1, {}]]),
        (Ext(23, b"no JSON"), {"ext": 23, "data": "bm8gSlNPTg=="}),
        (Ext(23, b"\xff"), {"ext": 23, "data": "/w=="}),
        (Ext(23, b"[" * 10**5), {"ext": 23, "data": base64(b"[" * 10**5)}),
        (Ext(7, b"{}"), {"ext": 7, "data": "e30="}),
    ],
    ids=lambda value: repr(value)[:20] if isinstance(value, (dict, list)) else "ext",
)
def test_geojson_in_lists(value: Any, column: Any) -> None:
    """GeoJSON is an object wherever it stands; what is none, or of another type, stays bytes."""
    key = ["ns", "set", DIGEST, None]
    data = encode([1, 1, [key, 1, 0, 5, [["a", 20, 0, [value]]]]])
    (change,) = cw.changes(cw.decode(data, format="aerospike-msgpack"))
    assert change.after == {"a": [column]}


def changes_below(frames: int, message: Any) -> list[cw.Change]:
    """Return the changes of a message, asked for so many frames down the stack."""
    return changes_below(frames - 1, message) if frames else cw.changes(message)


@pytest.mark.parametrize("content", [b"\x01", encode(Ext(23, b"[" * 900 + b"]" * 900))])
def test_lists_nested_too_deep(content: bytes) -> None:
    """What was decoded with more of the stack left is refused, never a RecursionError."""
    head = encode([1, 1, [["n", None, DIGEST, None], 1, 0, 5, [["a", 20, 0, None]]]])[:-1]
    message = cw.decode(head + b"\x91" * 700 + content, format="aerospike-msgpack")
    with pytest.raises(cw.DecodeError) as caught:
        changes_below(300, message)
    assert caught.value.code == "too-deep"
