"""Errors: they say where and what, and never show what the message held."""

import copy
import pickle
import traceback
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.runtime.codec.encodings import dumps
from tests.runtime.codec.formats import Format, JsonFormat, modest, wire_of

import changewire as cw
from changewire_messages import aerospike_json as aero

SECRET = "s3cr3t"  # noqa: S105 - of nobody


def _salted(value: Any) -> Any:
    """Return a JSON value in which every text that is no word of the format holds the secret."""
    if isinstance(value, dict):
        # A pointer names its place, so names are no secrets where an object is a map.
        salted = {k: item if k == "parameters" else _salted(item) for k, item in value.items()}
        return {**salted, SECRET: [SECRET, {SECRET: SECRET}]}
    if isinstance(value, list):
        return [_salted(item) for item in value]
    return value if value in ("write", "delete") else SECRET if isinstance(value, str) else value


def _texts(error: cw.CodecError) -> Iterator[str]:
    """Yield every text that is made of an error unless values are asked for."""
    yield str(error)
    yield repr(error)
    yield from map(str, error.args)
    yield from map(str, error.issues)
    yield repr(error.issues)
    yield repr([issue.__rich_repr__() for issue in error.issues])
    yield "".join(traceback.format_exception(error))
    yield repr(pickle.dumps(error))


@modest
@given(data=st.data())
def test_no_text_holds_a_value(json_format: JsonFormat, data: st.DataObject) -> None:
    """A secret in every value of a message is in no error text, traceback, pickle or rejection."""
    form = json_format
    broken = data.draw(form.strategy("message", broken=True).map(_salted))
    # An operation of another name is an unknown one, which some formats take.
    assume(form.errors(broken, "message"))
    with pytest.raises(cw.DecodeError) as caught:
        form.codec.decode(dumps([broken] if isinstance(broken, list) else broken))
    # From the error on: the frames of this test hold the message, the lines of its code do not.
    assert [text for text in _texts(caught.value) if SECRET in text] == []
    rejections = form.codec.decode_all(dumps([broken, broken]))
    assert SECRET not in repr(rejections)
    assert SECRET.encode() not in msgspec.json.encode(rejections)


def test_values_are_shown_when_asked_for() -> None:
    """The error holds what is there, and `sentence` shows it on request, shortened."""
    with pytest.raises(cw.DecodeError) as caught:
        cw.decode(dumps({"msg": SECRET * 50}), format="aerospike-json")
    assert caught.value.actual == SECRET * 50
    (issue,) = caught.value.issues
    assert SECRET in issue.sentence(show_values=True)
    assert len(issue.sentence(show_values=True)) < 200
    assert SECRET not in issue.sentence()


def test_values_nested_deep_are_shown_shortened() -> None:
    """A value nested as deep as the parser goes is shown without going down all the way."""
    deep = b"[" * 900 + b"]" * 900
    (issue,) = cw.validate(b'{"msg":%s}' % deep, format="aerospike-json")
    assert "[[[" in issue.sentence(show_values=True)
    assert len(issue.sentence(show_values=True)) < 200


def test_integers_of_more_digits_than_python_writes_are_shown_shortened() -> None:
    """Their start is shown in hexadecimal, also within another value."""
    for value in (16**5000, [16**5000]):
        (issue,) = cw.validate({"msg": value}, format="aerospike-json")
        assert "0x1000" in issue.sentence(show_values=True)
        assert len(issue.sentence(show_values=True)) < 200


def pickled(error: cw.CodecError) -> cw.CodecError:
    """Return what comes out of a pickled error."""
    again: cw.CodecError = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    return again


def test_errors_can_be_pickled_and_copied(form: Format) -> None:
    """An error survives the way between processes, whatever its message held, but for values."""
    for path in form.golden("invalid"):
        data = wire_of(path)
        for issues in (
            form.codec.validate(data),
            form.codec.validate(data.replace(b"1", b"[" * 900)),
        ):
            error = cw.DecodeError(form.name, issues or [cw.Issue("", "empty", "json", "x")], 7)
            for again in (pickled(error), copy.copy(error)):
                assert type(again) is cw.DecodeError
                assert (str(again), repr(again)) == (str(error), repr(error))
                assert (again.format, again.code, again.byte_offset) == (form.name, error.code, 7)
                assert again.issues[0].actual_type == error.issues[0].actual_type
                assert again.actual is msgspec.UNSET


def test_errors_of_encode_can_be_pickled() -> None:
    """An error about an object that cannot be pickled can be."""
    model = aero.Write(
        key=aero.Key("ns", None, b"x" * 20, None),
        gen=1,
        exp=0,
        lut=1,
        bins=[aero.ListBin(name="a", value=[lambda: None])],
    )
    with pytest.raises(cw.EncodeError) as caught:
        cw.encode(model)
    assert "found function" in str(pickled(caught.value))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "/plain"),
        ("two words é 漢", "/two words é 漢"),
        ("\x1b[31mred\x07", r"/\x1b[31mred\x07"),
        ("line\nbreak\r", r"/line\nbreak\r"),
        ("right\u202eleft", r"/right\u202eleft"),
        ("half \ud800", r"/half \ud800"),
        ("a/b~c", "/a~1b~0c"),
    ],
)
def test_pointers_are_escaped(name: str, shown: str) -> None:
    """A name from a message stands in a text so that no terminal and no log obeys it."""
    issues = cw.validate(
        {"msg": "delete", "key": ["n", None, "A" * 26 + "A=", 1], name: 1},
        format="aerospike-json",
        strict=True,
    )
    (issue,) = issues
    assert (
        str(issue)
        == f"at {shown}: expected no property of this name, found integer (unknown-property)"
    )
    assert str(issue).isprintable()
    assert repr(issue).isprintable()
    error = cw.DecodeError("aerospike-json", issues)
    assert str(error).isprintable()


def test_pointers_are_bounded() -> None:
    """A long name is cut in its midst, so that beginning and end remain."""
    issue = cw.Issue("/" + "x" * 10**6 + "/end", "wrong-type", "type", "string", 1)
    assert len(str(issue)) < 300
    assert str(issue).startswith("at /xxx")
    assert "/end:" in str(issue)
    assert issue.pointer.endswith("/end")


def test_the_error_of_a_batch_has_no_past(form: Format) -> None:
    """A refusal shows no exception of a parser behind it."""
    for path in form.golden("invalid"):
        for attempt in (form.codec.decode, form.codec.decode_key):
            with pytest.raises(cw.DecodeError) as caught:
                attempt(wire_of(path) + b"\xc1")
            assert "During handling" not in "".join(traceback.format_exception(caught.value))


def test_what_is_no_format() -> None:
    """An unknown format is refused by name, with the names that there are."""
    with pytest.raises(ValueError, match="no format 'nosuch'; there are: aerospike-flat-json"):
        cw.decode(b"{}", format="nosuch")
