"""All judges agree on every message: JSON Schema libraries, ``errors()`` and the decoder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.codec.formats import (
    FORMATS,
    ROLES,
    Format,
    JsonFormat,
    Refused,
    golden,
    modest,
    name_of,
    role_of,
    thorough,
    wire_of,
)
from tests.runtime.codec.oracles import judges_of

import changewire as cw

roles = pytest.mark.parametrize(("name", "role"), ROLES)


def scalars(value: Any) -> Iterator[Any]:
    """Yield every scalar in a JSON value."""
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from scalars(item)
    else:
        yield value


def has_integral_float(value: Any) -> bool:
    """Tell whether a JSON value holds a number such as 1.0."""
    return any(isinstance(item, float) and item.is_integer() for item in scalars(value))


def has_huge_integer(value: Any) -> bool:
    """Tell whether a JSON value holds an integer beyond what binary64 reaches."""
    return any(isinstance(item, int) and abs(item) >= 2**1024 for item in scalars(value))


EXCLUDED: dict[str, Callable[[Any], bool]] = {
    # To JSON Schema 1.0 is an integer; to us it is none. jsonschema can be taught, this one cannot.
    "jsonschema-rs": has_integral_float,
    # JSON Schema knows no largest number; a float bin of 10**400 has no binary64.
    "decode": has_huge_integer,
}
"""On which values a judge is not heard, and why."""


def verdicts(name: str, role: str, value: Any) -> dict[str, bool]:
    """Return what each judge says of a value."""
    form = FORMATS[name]
    found = {
        **{judge: is_valid(value) for judge, is_valid in judges_of(name, role).items()},
        "errors": not form.errors(value, role),
        "decode": _decodes(form, role, value),
    }
    return {judge: verdict for judge, verdict in found.items() if not _is_excluded(judge, value)}


def _is_excluded(judge: str, value: Any) -> bool:
    return judge in EXCLUDED and EXCLUDED[judge](value)


def _decodes(form: Format, role: str, value: Any) -> bool:
    if role == "key":
        return _key_decodes(form, value)
    if role == "batch" and not isinstance(value, list):
        return False
    try:
        form.read(form.encoding.dumps(value), role)
    except (cw.DecodeError, Refused):
        return False
    return True


def _key_decodes(form: Format, value: Any) -> bool:
    try:
        return not isinstance(form.codec.decode_key(form.encoding.dumps(value)), list)
    except cw.DecodeError:
        return False


@roles
@modest
@given(data=st.data())
def test_valid_messages(name: str, role: str, data: st.DataObject) -> None:
    """Every judge accepts what is valid by construction."""
    value = data.draw(FORMATS[name].strategy(role))
    assert set(verdicts(name, role, value).values()) == {True}


@roles
@thorough
@given(data=st.data())
def test_broken_messages(name: str, role: str, data: st.DataObject) -> None:
    """Every judge refuses a message in which one place was spoilt."""
    value = data.draw(FORMATS[name].strategy(role, broken=True))
    assert set(verdicts(name, role, value).values()) == {False}


@st.composite
def swapped(draw: st.DrawFn, form: Format, valid: Any) -> Any:
    """Draw a valid value, with any value put at some place of it."""
    value = draw(valid)
    places = list(_places(value))
    if places:
        holder, step = draw(st.sampled_from(places))
        holder[step] = draw(form.encoding.values())
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, (dict, list)):
        for step in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, step
            yield from _places(value[step])


@roles
@thorough
@given(data=st.data())
def test_messages_with_anything_anywhere(name: str, role: str, data: st.DataObject) -> None:
    """The judges agree on a message in which any value stands at any place."""
    value = data.draw(swapped(FORMATS[name], FORMATS[name].strategy(role)))
    found = verdicts(name, role, value)
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize(("name", "path"), golden("valid") + golden("invalid"), ids=name_of)
def test_the_corpus(name: str, path: Path) -> None:
    """The judges agree on every file that can be parsed, and with the folder it is in."""
    role, form = role_of(path), FORMATS[name]
    issues = form.codec.validate(wire_of(path))
    if issues and issues[0].rule == form.encoding.rule:
        assert path.parent.name == "invalid"
        return
    value = form.encoding.loads(wire_of(path))
    found = verdicts(name, role, value)
    assert set(found.values()) == {path.parent.name == "valid"}, found


@modest
@given(data=st.data())
def test_validate_agrees_with_decode(form: Format, data: st.DataObject) -> None:
    """`validate` finds nothing in bytes exactly where `decode` accepts them, and says the same."""
    valid = form.strategy("message")
    value = data.draw(st.one_of(valid, swapped(form, valid), form.strategy("message", broken=True)))
    wire = form.encoding.dumps(value)
    issues = form.codec.validate(wire)
    try:
        form.codec.decode(wire)
    except cw.DecodeError as error:
        refused = error.issues
    else:
        refused = []
    if "batch" not in {issue.code for issue in refused}:
        assert issues == refused


@modest
@given(data=st.data())
def test_closed_checks_name_unknown_properties(
    json_format: JsonFormat, data: st.DataObject
) -> None:
    """A strict check reports each property that the schema does not name, and nothing else."""
    form = json_format
    value = data.draw(form.strategy("message"))
    objects = form.objects(value)
    for obj in objects:
        obj["no such name"] = 1
    issues = form.codec.validate(value, strict=True)
    assert {issue.code for issue in issues} == {"unknown-property"}
    assert len(issues) == len(objects)
    assert form.codec.validate(value) == []
