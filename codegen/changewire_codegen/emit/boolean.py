"""Tests as Python expressions that are combined and negated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_OPPOSITES = {"is": "is not", "in": "not in", "==": "!="}
"""An order has no opposite: NaN is neither less than a number nor at least as large."""


@dataclass(frozen=True)
class Test:
    """An expression, the words that join its parts if it has several, and the same of its opposite.

    Attributes:
        word: ``and`` or ``or``; empty if it need not be in parentheses.
    """

    text: str
    word: Literal["", "and", "or"]
    opposite: str
    opposite_word: Literal["", "and", "or"] = ""


ALWAYS = Test("True", "", "False")
NEVER = Test("False", "", "True")


def compare(left: str, operator: str, right: str) -> Test:
    """Return the test that compares two expressions."""
    text = f"{left} {operator} {right}"
    opposites = {**_OPPOSITES, **{other: word for word, other in _OPPOSITES.items()}}
    if operator in opposites:
        return Test(text, "", f"{left} {opposites[operator]} {right}")
    return Test(text, "", f"not ({text})")


def every(*tests: Test) -> Test:
    """Return the test that all tests are true, without those that always are."""
    return NEVER if NEVER in tests else _joined("and", [test for test in tests if test != ALWAYS])


def some(*tests: Test) -> Test:
    """Return the test that one of several tests is true, without those that never are."""
    return ALWAYS if ALWAYS in tests else _joined("or", [test for test in tests if test != NEVER])


def _joined(word: Literal["and", "or"], tests: list[Test]) -> Test:
    if len(tests) < 2:  # noqa: PLR2004 - what is joined
        return tests[0] if tests else {"and": ALWAYS, "or": NEVER}[word]
    parts = (f"({test.text})" if test.word not in {"", word} else test.text for test in tests)
    text = f" {word} ".join(parts)
    return Test(text, word, f"not ({text})")


def negated(test: Test) -> Test:
    """Return the test that is true exactly if ``test`` is false."""
    return Test(test.opposite, test.opposite_word, test.text, test.word)


def where(guard: Test, test: Test) -> Test:
    """Return a test that says nothing unless the guard is true."""
    return some(negated(guard), test)
