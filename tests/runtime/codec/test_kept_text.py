"""Schemas in messages are kept as text, which is JSON to its end, also where no model reads it."""

from importlib import import_module

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.runtime.codec.formats import modest

import changewire as cw

BEFORE = {
    "lindorm-json": b'{"schema":{"zz":',
    "dataworks-json": b'{"schema":{"zz":',
}
AFTER = {
    "lindorm-json": b'},"payload":{"op":"c","ts_ms":1,"after":{"a":1},'
    b'"source":{"namespace":"n","table":"t","ts_ms":1}}}',
    "dataworks-json": b'},"payload":{"op":"INSERT","after":{"dataColumn":{"a":1}},'
    b'"timestamp":{"eventTime":1}},"version":"0.0.1"}',
}
formats = pytest.mark.parametrize("format", BEFORE)

REFUSED = {
    "a byte that is no UTF-8": (b'"\x80"', "invalid-unicode"),
    "such a byte in a name": (b'{"\x80":1}', "invalid-unicode"),
    "a surrogate as UTF-8": (b'"\xed\xa0\x80"', "invalid-unicode"),
    "overlong UTF-8": (b'"\xc0\x80"', "invalid-unicode"),
    "half of a surrogate pair": (rb'"\ud800"', "invalid-unicode"),
    "an exponent of 20 digits": (b"1e99999999999999999999", "out-of-range"),
    "an integer of 5000 digits": (b"9" * 5000, "out-of-range"),
}
KEPT = [b"1e400", b"1e99999999999", b"-1e-400", b"0.1000000000000000000001", b'"\xc3\xa9"', b"{}"]


def message(format: str, value: bytes) -> bytes:
    """Return a message whose schema has a property that no model names."""
    return BEFORE[format] + value + AFTER[format]


@formats
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_json_is_refused(format: str, name: str) -> None:
    """Below a name that the model does not have, text is held to the same rules as elsewhere."""
    value, code = REFUSED[name]
    data = message(format, value)
    with pytest.raises(cw.DecodeError) as refused:
        cw.decode(data, format=format)
    assert refused.value.code == code
    assert [issue.code for issue in cw.validate(data, format=format)] == [code]
    assert cw.explain(data, format).issues == refused.value.issues


@formats
@pytest.mark.parametrize("value", KEPT)
def test_what_is_json_is_written_as_it_came(format: str, value: bytes) -> None:
    """A number of any size, and text of any language, stays what it was."""
    data = message(format, value)
    model = cw.decode(data, format=format)
    assert cw.codec(format).validate(data) == []
    assert value in cw.encode(model)


TWICE = {
    "lindorm-json": (
        b'0.1000000000000000000001,"name":5,"name":"s"',
        b'{"zz":0.1000000000000000000001,"name":"s"}',
    ),
    "dataworks-json": (
        b'0.1000000000000000000001,"dataColumn":[{"name":5,"name":"id","type":"LONG"}]',
        b'{"zz":0.1000000000000000000001,"dataColumn":[{"name":"id","type":"LONG"}]}',
    ),
}


@formats
def test_of_a_name_that_is_twice_the_last_value_counts(format: str) -> None:
    """As elsewhere in a message, also if no model takes the first one: the text lacks it then."""
    value, text = TWICE[format]
    data = message(format, value)
    model = cw.decode(data, format=format)
    assert cw.codec(format).validate(data) == []
    assert cw.decode(cw.encode(model)) == model
    assert bytes(model.schema_text) == text
    package = import_module(f"changewire_messages.{format.replace('-', '_')}")
    assert package.decode(data) == model


@formats
@modest
@given(
    value=st.binary(max_size=20)
    | st.text('{}[]",:0123456789.eE+-\\ud8tfn', max_size=20).map(str.encode)
    | st.integers(0, 10**21).map(lambda power: b"1e%d" % power)
    | st.binary(max_size=6).map(lambda inside: b'"' + inside + b'"')
)
@example(b'"\x80"')
@example(b"1e99999999999999999999")
def test_decode_and_validate_agree_on_it(format: str, value: bytes) -> None:
    """Whatever stands there, both accept it, or both refuse it with the same issues."""
    data = message(format, value)
    issues = cw.codec(format).validate(data)
    if issues:
        with pytest.raises(cw.DecodeError) as refused:
            cw.decode(data, format=format)
        assert refused.value.issues == issues
    else:
        model = cw.decode(data, format=format)
        assert cw.decode(cw.encode(model), format=format) == model
