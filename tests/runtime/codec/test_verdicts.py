"""Four judges agree on every message: two JSON Schema libraries, ``errors()`` and the decoder."""

import json
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
    Refused,
    dumps,
    golden,
    modest,
    name_of,
    role_of,
    thorough,
)
from tests.runtime.codec.oracles import jsonschema_of, jsonschema_rs_of

import changewire as cw
from changewire_messages import drawing

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
        "jsonschema": jsonschema_of(name, role)(value),
        "errors": not form.errors(value, role),
        "jsonschema-rs": jsonschema_rs_of(name, role)(value),
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
        form.read(dumps(value), role)
    except (cw.DecodeError, Refused):
        return False
    return True


def _key_decodes(form: Format, value: Any) -> bool:
    try:
        return not isinstance(form.codec.decode_key(dumps(value)), list)
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
def swapped(draw: st.DrawFn, valid: Any) -> Any:
    """Draw a valid value, with any JSON value put at some place of it."""
    value = draw(valid)
    places = list(_places(value))
    if places:
        holder, step = draw(st.sampled_from(places))
        holder[step] = draw(
            drawing.json_values() | st.integers() | st.sampled_from(["QQ==", "key"])
        )
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
    value = data.draw(swapped(FORMATS[name].strategy(role)))
    found = verdicts(name, role, value)
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize(("name", "path"), golden("valid") + golden("invalid"), ids=name_of)
def test_the_corpus(name: str, path: Path) -> None:
    """The judges agree on every file of the corpus that is JSON, and with the folder it is in."""
    role, form = role_of(path), FORMATS[name]
    issues = form.codec.validate(path.read_bytes())
    if issues and issues[0].rule == "json":
        assert path.parent.name == "invalid"
        return
    value = json.loads(path.read_bytes())
    found = verdicts(name, role, value)
    assert set(found.values()) == {path.parent.name == "valid"}, found


@modest
@given(data=st.data())
def test_validate_agrees_with_decode(form: Format, data: st.DataObject) -> None:
    """`validate` finds nothing in bytes exactly where `decode` accepts them, and says the same."""
    valid = form.strategy("message")
    value = data.draw(st.one_of(valid, swapped(valid), form.strategy("message", broken=True)))
    issues = form.codec.validate(dumps(value))
    try:
        form.codec.decode(dumps(value))
    except cw.DecodeError as error:
        refused = error.issues
    else:
        refused = []
    if not isinstance(value, list):
        assert issues == refused


@modest
@given(data=st.data())
def test_closed_checks_name_unknown_properties(form: Format, data: st.DataObject) -> None:
    """A closed check reports each property that the schema does not name, and nothing else."""
    value = data.draw(form.strategy("message"))
    objects = form.objects(value)
    for obj in objects:
        obj["no such name"] = 1
    issues = form.codec.validate(value, closed=True)
    assert {issue.code for issue in issues} == {"unknown-property"}
    assert len(issues) == len(objects)
    assert form.codec.validate(value) == []
