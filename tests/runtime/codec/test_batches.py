"""`decode_all`: each element of a batch is a model, or one rejection with its index."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.runtime.codec.encodings import dumps
from tests.runtime.codec.formats import Format, JsonFormat, modest, role_of, wire_of
from tests.runtime.codec.shown import shown

import changewire as cw


@modest
@given(data=st.data())
def test_good_elements_survive_bad_ones(batched: Format, data: st.DataObject) -> None:
    """A bad element costs itself only, and its rejection names its place in the batch."""
    good, bad = batched.strategy("message"), batched.strategy("message", broken=True)
    pairs = st.tuples(good, st.just(True)) | st.tuples(bad, st.just(False))  # noqa: FBT003
    elements = data.draw(st.lists(pairs, max_size=6))
    values = [value for value, _ in elements]
    assume(batched.encoding.is_batch(values))
    found = batched.codec.decode_all(batched.encoding.dumps(values))
    assert len(found) == len(elements)
    for i, (result, (value, is_good)) in enumerate(zip(found, elements, strict=True)):
        if is_good:
            assert result == batched.codec.decode(batched.encoding.dumps(value))
        else:
            assert (result.element, result.format) == (i, batched.name)
            assert result.code == result.reasons[0].code


def test_empty_batches(batched: Format) -> None:
    """A batch without elements gives no element."""
    assert batched.codec.decode_all(batched.encoding.dumps([])) == []


def test_batches_in_batches(batched: Format) -> None:
    """A batch is no element of a batch, not even an empty one."""
    inner: list[Any] = [[], [[]]]
    found = batched.codec.decode_all(batched.encoding.dumps(inner))
    assert [(item.element, item.code) for item in found] == [(0, "batch"), (1, "batch")]


def test_single_messages(form: Format) -> None:
    """What is no batch gives one element: its model, or the rejection with index 0."""
    for path in form.golden("valid"):
        if role_of(path) == "message":
            model = form.codec.decode(wire_of(path))
            assert shown(form.codec.decode_all(wire_of(path))) == shown([model])
    (refused,) = form.codec.decode_all(form.encoding.dumps({}))
    assert (refused.element, refused.byte_offset) == (0, None)


def test_batches_that_are_cut(json_format: JsonFormat) -> None:
    """A batch that cannot be parsed to its end gives one rejection, with the place of the end."""
    (cut,) = json_format.codec.decode_all(b"[{}, ")
    assert (cut.element, cut.byte_offset, cut.code) == (0, 5, "truncated")


def test_elements_that_are_no_text(json_batched: JsonFormat) -> None:
    """Only the element with the broken bytes is refused; an offset inside it is not passed on."""
    found = json_batched.codec.decode_all(b'[{"msg":"\xff"},1e999,{}]')
    assert [item.code for item in found][:2] == ["invalid-unicode", "out-of-range"]
    assert [item.byte_offset for item in found] == [None] * 3
    assert "at byte" not in found[0].message


def test_reasons_are_bounded() -> None:
    """A rejection names at most a hundred reasons, however many its message has."""
    message = {"msg": "write", "bins": [1] * 500}
    (refused,) = cw.decode_all(dumps(message), format="aerospike-json")
    assert len(refused.reasons) == 100
    assert "and 500 more issues" in refused.message


@pytest.mark.parametrize("wire", [b"[]", b"[[]]", b'["x"]', b"[null]"])
def test_keys_are_told_from_batches_of_keys(wire: bytes) -> None:
    """An array of arrays is a batch of keys, any other is one key."""
    if wire == b"[]":
        assert cw.decode_key(wire, format="aerospike-json") == []
        return
    with pytest.raises(cw.DecodeError) as caught:
        cw.decode_key(wire, format="aerospike-json")
    assert caught.value.pointer == ("/0" if wire == b"[[]]" else "")


def test_a_format_may_have_no_record_keys() -> None:
    """Then every key is refused, and the error says that none is expected."""
    with pytest.raises(cw.DecodeError) as caught:
        cw.decode_key(b"[]", format="dataworks-json")
    assert caught.value.issues == [cw.Issue("", "unknown-variant", "key", "no record key")]
