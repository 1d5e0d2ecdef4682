"""`detect`: which format a message says that it has."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from tests.runtime.codec.formats import (
    Format,
    golden,
    modest,
    name_of,
    role_of,
    wire_of,
)
from tests.runtime.codec.shown import shown

import changewire as cw


def single(kind: str) -> list[tuple[str, Path]]:
    """Return the messages and the batches of the corpus that have an element."""
    found = [(name, path) for name, path in golden(kind) if role_of(path) in {"message", "batch"}]
    return [(name, path) for name, path in found if not path.stem.endswith("-empty")]


@pytest.mark.parametrize(("name", "path"), single("valid"), ids=name_of)
def test_valid_messages_are_recognised(name: str, path: Path) -> None:
    """Every valid message says what it is."""
    assert cw.detect(wire_of(path)) == name


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b" ", b"{", b"{}", b"[]", b"[[]]", b"null", b'"write"', b"1", b'{"msg":null}'),
        *(b'{"msg":["write"]}', b'{"msg":{"a":1}}', b'{"msg":"upsert"}', b'[1,{"msg":"write"}]'),
        *(b"\x93\x01\x02\x03", b'{"payload":{"op":"c"}}', b"[" * 10**5, '{"msg":"\ud800"}'),
    ],
)
def test_other_things_are_not(data: bytes | str) -> None:
    """What no format claims is of none; asking never raises."""
    assert cw.detect(data) is None


def test_invalid_messages_are_recognised_by_their_tag() -> None:
    """A message that says what it is keeps its format, though it is refused."""
    assert cw.detect(b'{"msg":"write"}') == "aerospike-json"
    assert cw.detect(b'[{"msg":"delete"},5]') == "aerospike-json"


@pytest.mark.parametrize(("name", "path"), single("valid"), ids=name_of)
def test_a_mixed_topic_needs_no_format(name: str, path: Path) -> None:
    """Without a format a message is decoded as what it says that it is."""
    data = wire_of(path)
    assert shown(cw.decode_all(data)) == shown(cw.decode_all(data, format=name))


@modest
@given(data=st.data())
def test_no_message_is_read_at_once_by_two_formats(form: Format, data: st.DataObject) -> None:
    """What one format reads at once is of that format, whatever is in it: no order decides."""
    obj: Any = data.draw(form.strategy("message"))
    message = form.encoding.dumps(obj)
    at_once = [f for f in cw.formats() if cw.codec(f).read_at_once(message) is not UNSET]
    assert at_once in ([form.name], [])
    assert cw.detect(message) == form.name
    assert shown(cw.decode(message)) == shown(form.codec.decode(message))


def test_a_message_that_says_nothing_is_refused() -> None:
    """Without a format, what no format claims is refused, with the formats that there are."""
    with pytest.raises(cw.DecodeError) as caught:
        cw.decode(b'{"a": 1}')
    assert caught.value.code == "unknown-variant"
    assert "dataworks-json" in str(caught.value)
