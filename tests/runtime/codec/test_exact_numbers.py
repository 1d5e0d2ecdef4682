"""Where numbers are exact, those of typed properties are binary64: one verdict on each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.codegen.made import family_with, imported

import changewire as cw
from changewire.codec.codec import Codec
from changewire.codec.family import GeneratedFamily

LARGEST = 1.7976931348623157e308

SCHEMA: dict[str, Any] = {
    "title": "Sample",
    "description": "A sample.",
    "type": "object",
    "properties": {
        "any": {"description": "A number."},
        "bounded": {"description": "A number.", "type": "number", "minimum": 0.1, "maximum": 5},
        "either": {"description": "A number.", "type": ["integer", "number", "string"]},
        "list": {"description": "Some.", "type": "array", "items": {"type": "number"}},
    },
    "x-leniency": {
        "large": {"properties": {"any": {"type": "number", "minimum": 2}}, "required": ["any"]}
    },
    "examples": [{}],
}


@pytest.fixture(scope="module")
def codec() -> Iterator[Codec]:
    """Return the codec of a family with exact numbers."""
    family = family_with(SCHEMA, numbers="exact")
    modules = ("models", "validators", "extras", "leniencies", "__init__")
    with imported(family, *modules) as (*_, package):
        yield Codec(GeneratedFamily(package, "Sample"))


def places(issues: list[cw.Issue]) -> list[tuple[str, str]]:
    """Return place and rule of each issue."""
    return [(issue.pointer, issue.rule) for issue in issues]


def refusal(codec: Codec, text: str) -> list[cw.Issue]:
    """Return the issues for which a message is not decoded."""
    try:
        codec.decode(text)
    except cw.DecodeError as error:
        return error.issues
    return []


def broken(codec: Codec, text: str) -> list[tuple[str, str]]:
    """Return place and rule of each issue of a message, on which all that judge it agree."""
    issues = places(codec.validate(text))
    assert places(refusal(codec, text)) == issues
    more = text.replace("{", '{"unknown": 1, ', 1)
    assert places(codec.validate(more)) == issues
    assert places(refusal(codec, more)) == issues
    if not issues:
        model = codec.decode(text)
        assert codec.decode(codec.encode(model)) == model
    return issues


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"bounded": 0.12345678901234567890}', []),
        ('{"bounded": 0.09999999999999999999999}', []),
        ('{"bounded": 0.0999999999999}', [("/bounded", "minimum")]),
        ('{"bounded": 5.00000000000000000000001}', []),
        ('{"bounded": 5.1}', [("/bounded", "maximum")]),
        ('{"bounded": 1e400}', [("/bounded", "maximum")]),
        ('{"either": 0.12345678901234567890}', []),
        ('{"either": -1e400}', [("/either", "minimum")]),
        ('{"list": [0.12345678901234567890, 12345678901234567890.5]}', []),
        ('{"list": [1, 1e309]}', [("/list/1", "maximum")]),
        ('{"list": [1.7976931348623157e308, 1.79769313486231570001e308]}', []),
        ('{"any": 1e400}', []),
    ],
)
def test_a_number_has_one_verdict(codec: Codec, text: str, expected: list[tuple[str, str]]) -> None:
    """A number that binary64 rounds is judged as the number that the model holds."""
    assert broken(codec, text) == expected


NUMBERS = st.builds(
    "{}{}.{}e{}".format,
    st.sampled_from(["", "-"]),
    st.integers(0, 10**20),
    st.integers(0, 10**25),
    st.integers(-340, 340) | st.just(0),
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(name=st.sampled_from(["any", "bounded", "either"]), number=NUMBERS)
def test_any_number_has_one_verdict(codec: Codec, name: str, number: str) -> None:
    """Decoding, validation and encoding agree on a number of any size and precision."""
    broken(codec, f'{{"{name}": {number}}}')


def test_a_condition_sees_decimals(codec: Codec) -> None:
    """A number that is kept as a decimal is a number to a leniency."""
    texts = ['{"any": 2.00000000000000000000001}', '{"any": 1.00000000000000000000001}']
    assert [codec.leniencies(codec.decode(text)) for text in texts] == [["large"], []]
