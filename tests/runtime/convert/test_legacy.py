"""The version of MessagePack that connectors before 4.0.0 wrote."""

from __future__ import annotations

from typing import Any, cast

import pytest
from tests.runtime.convert.messages import JSON, MSGPACK, packed, packed_delete, text

import changewire as cw


def decoded(data: bytes) -> Any:
    """Return the model of a message in MessagePack."""
    return cw.decode(data, format=MSGPACK)


def test_deletes_have_two_parts() -> None:
    """A delete without generation and times is written as an old connector did."""
    model = decoded(packed_delete(3, None, None, None))
    assert cw.encode(model, version="legacy") == packed_delete(3)


@pytest.mark.parametrize("position", [0, 1, 2])
def test_deletes_with_times_are_refused(position: int) -> None:
    """The old delete has no place for gen, exp and lut, not even for 0."""
    times: list[int | None] = [None, None, None]
    times[position] = 0
    with pytest.raises(cw.EncodeError) as caught:
        cw.encode(decoded(packed_delete(1, *times)), version="legacy")
    assert (caught.value.code, caught.value.pointer) == ("not-encodable", f"/2/{position + 2}")


def test_writes_without_nil_are_the_same() -> None:
    """A write that has its generation and times is the same in both versions."""
    data = packed(["b", 3, 0, "x"])
    assert cw.encode(decoded(data), version="legacy") == data


def test_writes_with_nil_are_refused() -> None:
    """An old write has no nil; every one of them is named."""
    model = decoded(packed())
    payload = cw.aerospike_msgpack.WritePayload(model.payload.key, None, 0, None, [])
    with pytest.raises(cw.EncodeError) as caught:
        cw.encode([model, cw.aerospike_msgpack.Write(payload=payload)], version="legacy")
    assert [issue.pointer for issue in caught.value.issues] == ["/1/2/1", "/1/2/3"]


def test_batches_and_keys() -> None:
    """Each element of a batch is written in the old version; keys are the same in both."""
    delete = decoded(packed_delete(1, None, None, None))
    assert cw.encode([delete, delete], version="legacy") == b"\x92" + packed_delete(1) * 2
    key = delete.payload.key
    assert cw.encode(key, version="legacy") == cw.encode(key)


def test_the_current_version_keeps_what_is_legacy() -> None:
    """A delete that was read in two parts is written in two parts, so that it comes back."""
    data = packed_delete(1)
    assert cw.encode(decoded(data)) == cw.encode(decoded(data), version="current") == data


def test_other_formats_and_versions_are_refused() -> None:
    """Only MessagePack has an old version, and there is one."""
    model = cw.decode(text(), format=JSON)
    with pytest.raises(ValueError, match="aerospike-json has no legacy version"):
        cw.encode(model, version="legacy")
    with pytest.raises(ValueError, match="no version 'old'"):
        cw.encode(model, version=cast("Any", "old"))
