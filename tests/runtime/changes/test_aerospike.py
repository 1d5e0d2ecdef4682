"""Aerospike messages as changes."""

from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.codec.encodings import dumps
from tests.runtime.codec.formats import thorough

import changewire as cw
from changewire_messages import aerospike_json as aero
from changewire_messages.aerospike_json import strategies

DIGEST = b"abcdefghijklmnopqrst"


def write(*bins: aero.Bin, **fields: Any) -> aero.Write:
    """Return a write of bins."""
    given: dict[str, Any] = {"gen": 4, "exp": 0, "lut": 1617167159548, "bins": list(bins), **fields}
    return aero.Write(key=aero.Key("ns", "set", DIGEST, 7), **given)


def delete(**fields: Any) -> aero.Delete:
    """Return a delete, as connectors before 4.0.0 send it unless more is given."""
    return aero.Delete(key=aero.Key("ns", None, DIGEST, None), **fields)


def change(message: object, row_image: Any = "full") -> cw.Change:
    """Return the only change of a message."""
    (found,) = cw.changes(message, row_image=row_image)
    return found


def test_writes_are_upserts() -> None:
    """A write is an upsert of its bins as columns, keyed by the digest."""
    found = change(write(aero.IntBin(name="a", value=1), aero.StrBin(name="b", value="x")))
    assert found.op == "upsert"
    assert found.source == cw.Source(system="aerospike", database="ns", schema=None, table="set")
    assert found.key == {"aerospike_digest": DIGEST}
    assert found.after == {"a": 1, "b": "x"}
    assert (found.before, found.before_key, found.ddl, found.schema_fingerprint) == (None,) * 4


def test_deletes_hold_no_columns() -> None:
    """A delete has a key and no image; its set may be unknown."""
    found = change(delete(durable=True))
    assert (found.op, found.after, found.source.table) == ("delete", None, None)
    assert found.key == {"aerospike_digest": DIGEST}


@pytest.mark.parametrize(
    ("lut", "time"),
    [
        (1, datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=timezone.utc)),
        (1617167159548, datetime(2021, 3, 31, 5, 5, 59, 548000, tzinfo=timezone.utc)),
        (253402300799999, datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=timezone.utc)),
    ],
)
def test_time_and_sequence(lut: int, time: datetime) -> None:
    """The time of the last update is the event time, exact to the millisecond, and orders."""
    for message in (write(lut=lut), delete(lut=lut, gen=4)):
        found = change(message)
        assert found.event_time == time
        assert found.sequence == cw.Sequence(major=lut, minor=4)


@pytest.mark.parametrize("lut", [0, None])
def test_no_time_and_no_sequence(lut: int | None) -> None:
    """Where the server did not ship the time, there is neither event time nor sequence."""
    for message in (write(lut=lut), delete(lut=lut), delete()):
        assert (change(message).event_time, change(message).sequence) == (None, None)


def test_sequence_without_generation() -> None:
    """Without a generation the time alone orders."""
    for message in (write(gen=None), delete(lut=1617167159548)):
        assert change(message).sequence == cw.Sequence(major=1617167159548, minor=0)


@pytest.mark.parametrize("row_image", ["full", "patch"])
def test_images(row_image: str) -> None:
    """A write says what its bins are as the caller knows it; without bins it changes no column."""
    found = change(write(aero.IntBin(name="a", value=1)), row_image)
    assert found.attributes["row_image"] == row_image
    empty = change(write(), row_image)
    assert (empty.after, empty.attributes["row_image"], empty.op) == ({}, "keys", "upsert")
    assert "row_image" not in change(delete(), row_image).attributes


def test_attributes_are_what_only_aerospike_has() -> None:
    """Set, user key and metadata are attributes; what the message lacks is absent."""
    assert change(write(gen=None)).attributes == {
        "set": "set",
        "user_key": 7,
        "gen": None,
        "exp": 0,
        "lut": 1617167159548,
        "row_image": "keys",
    }
    assert change(delete()).attributes == {"set": None, "user_key": None}
    assert change(delete(durable=False, exp=-1)).attributes == {
        "set": None,
        "user_key": None,
        "exp": -1,
        "durable": False,
    }


def test_types_that_values_do_not_show() -> None:
    """The attributes name the types that values do not show, and the order of collections."""
    bins: list[aero.Bin] = [
        aero.BlobBin(name="blob", value=b"\x00"),
        aero.GeojsonBin(name="geo", value={}),
        aero.ListBin(name="list", value=[]),
        aero.ListBin(name="ordered", value=[], ordered=False),
        aero.MapBin(name="map", value={}),
        aero.MapBin(name="sorted", value={}, order="key"),
        aero.StrBin(name="str", value=""),
    ]
    found = change(write(*bins))
    assert found.attributes["bins"] == {
        "blob": {"type": "blob"},
        "geo": {"type": "geojson"},
        "ordered": {"type": "list", "ordered": False},
        "sorted": {"type": "map", "order": "key"},
    }
    assert found.after is not None
    assert found.after["blob"] == b"\x00"
    wire = b'{"name":"u","type":"hll","value":"AAEC"}'
    hll = cw.decode(dumps_write(wire), format="aerospike-json")
    assert change(hll).attributes["bins"] == {"u": {"type": "hll"}}
    assert type(change(hll).attributes["bins"]["u"]["type"]) is str
    assert "bins" not in change(write(aero.IntBin(name="a", value=1))).attributes


def dumps_write(*bins: bytes) -> bytes:
    """Return the bytes of a write with bins."""
    head = b'{"msg":"write","key":["ns",null,"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",null],'
    return head + b'"gen":1,"exp":0,"lut":5,"bins":[' + b",".join(bins) + b"]}"


def test_floats_that_json_does_not_have_stay_text() -> None:
    """NaN and the infinities keep their text: a row in JSON text has no number for them."""
    found = change(write(aero.FloatBin(name="f", value="NaN"), aero.FloatBin(name="g", value=1.5)))
    assert found.after == {"f": "NaN", "g": 1.5}


def test_unknown_properties_are_an_attribute() -> None:
    """Properties that the schema does not name go along, by their pointers."""
    message = write(extra=cw.Extra({"/srcId": "dc-1"}))
    assert change(message).attributes["extra"] == {"/srcId": "dc-1"}


def test_duplicate_bins_are_refused() -> None:
    """Two bins of one name are two values for one column: the second is where it is refused."""
    bins = [aero.IntBin(name=name, value=i) for i, name in enumerate("abcb")]
    with pytest.raises(cw.DecodeError) as caught:
        cw.changes(write(*bins))
    assert (caught.value.code, caught.value.pointer) == ("duplicate-column", "/bins/3/name")


@thorough
@given(
    wire=strategies.write() | strategies.delete(),
    row_image=st.sampled_from(["full", "patch", "keys"]),
)
def test_every_message_is_one_change(wire: Any, row_image: Any) -> None:
    """A write or a delete has exactly one change, unless two of its bins have one name."""
    message = cw.decode(dumps(wire), format="aerospike-json")
    names = [item["name"] for item in wire.get("bins", ())]
    if len(set(names)) == len(names):
        found = change(message, row_image)
        assert (found.op == "delete") == (found.after is None) == (wire["msg"] == "delete")
        assert list(found.after or ()) == names
    else:
        with pytest.raises(cw.DecodeError, match="duplicate-column"):
            change(message, row_image)


def test_changes_share_nothing_with_the_message() -> None:
    """Adding a column or an attribute to a change leaves its message alone."""
    message = write(aero.IntBin(name="a", value=1), extra=cw.Extra({"/x": 1}))
    found = change(message)
    assert found.after is not None
    found.after["b"] = 2
    found.attributes["extra"]["/y"] = 2
    assert change(message).after == {"a": 1}
    assert change(message).attributes["extra"] == {"/x": 1}


def test_what_cannot_be_asked() -> None:
    """An unknown image, key columns and what is no message are refused."""
    with pytest.raises(ValueError, match="no row_image 'half'; there are: full, patch, keys"):
        change(write(), "half")
    with pytest.raises(ValueError, match="named by their digest"):
        cw.changes(write(), key_columns=["a"])
    for wrong in (None, [write()], aero.Key("ns", None, DIGEST, None), object()):
        with pytest.raises(TypeError, match="is not a model of a message"):
            cw.changes(wrong)
