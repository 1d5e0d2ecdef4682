"""The matrix: every format has every property, for each of its variants."""

from functools import cache
from typing import Any

import pytest
from tests.matrix.checks import CHECKS
from tests.matrix.flaws import flawed
from tests.matrix.subject import Subject

import changewire as cw
from changewire_messages import FORMATS

CELLS = [
    pytest.param(name, check, id=f"{name}-{check}") for name in sorted(FORMATS) for check in CHECKS
]


@cache
def subject_of(name: str) -> Subject:
    """Return a format, whose messages are read once for all checks."""
    return Subject(name)


@pytest.mark.parametrize(("name", "check"), CELLS)
def test_cell(name: str, check: str, request: pytest.FixtureRequest) -> None:
    """The format has the property, as the docstring of its check says."""
    session: tuple[Any, ...] = (request.getfixturevalue("spark"),) if check == "spark" else ()
    CHECKS[check](subject_of(name), *session)


def test_the_matrix_has_every_format() -> None:
    """The formats of the matrix are those that users see."""
    assert sorted(FORMATS) == cw.formats()


@pytest.mark.parametrize("check", CHECKS)
def test_a_flawed_format_fails(check: str, request: pytest.FixtureRequest) -> None:
    """Each check can fail: a format with one flaw does not have the property."""
    session: tuple[Any, ...] = (request.getfixturevalue("spark"),) if check == "spark" else ()
    with pytest.raises(AssertionError):
        CHECKS[check](flawed(check), *session)
